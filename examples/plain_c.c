/* SPDX-License-Identifier: MIT */
/* plain_c.c: libroadvision without GStreamer. Matches a rectified pair and writes the disparity.
 *
 *   plain_c LEFT.pgm RIGHT.pgm DISPARITY.pgm    8-bit gray in; out 16 bit, 1/16 px, 0 = no value
 *   plain_c DISPARITY.pgm                       makes a pair itself and evaluates the result
 *
 * Build it against an installed library:
 *   cc plain_c.c $(pkg-config --cflags --libs roadvision-0) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rv.h"
#include "sgm/sgm.h"

enum { WIDTH = 320, HEIGHT = 200, FAR = 8, NEAR = 24 }; /* px: the pair made here */

static void print_line(void *user, const char *text) {
  fprintf(stderr, "%s: %s\n", (const char *)user, text);
}

/* Next number of a PGM header; comments run from # to the end of the line. */
static int header_number(FILE *file) {
  int c = fgetc(file);
  while (c == '#' || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
    while (c == '#' && (c = fgetc(file)) != '\n' && c != EOF)
      c = '#';
    c = fgetc(file);
  }
  int number = 0;
  for (; c >= '0' && c <= '9' && number < RV_MAX_SIDE; c = fgetc(file))
    number = number * 10 + (c - '0');
  return number;
}

static int read_pgm(const char *path, RvPlane *plane) {
  FILE *const file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "plain_c: cannot open %s\n", path);
    return 0;
  }
  int done = 0;
  if (fgetc(file) == 'P' && fgetc(file) == '5') {
    const int width = header_number(file), height = header_number(file);
    const int highest = header_number(file);
    const size_t size = (size_t)width * (size_t)height;
    if (size > 0 && highest == 255 && (plane->data = malloc(size))) {
      *plane = (RvPlane){plane->data, width, width, height, RV_U8};
      done = fread(plane->data, 1, size, file) == size;
    }
  }
  fclose(file);
  if (!done)
    fprintf(stderr, "plain_c: %s is not a whole 8-bit binary PGM (P5, 255)\n", path);
  return done;
}

/* PGM has its 16 bits high byte first. */
static int write_pgm16(const char *path, const RvPlane *plane) {
  FILE *const file = fopen(path, "wb");
  if (!file) {
    fprintf(stderr, "plain_c: cannot write %s\n", path);
    return 0;
  }
  fprintf(file, "P5\n%d %d\n65535\n", plane->width, plane->height);
  for (int y = 0; y < plane->height; y++) {
    const uint16_t *const row = (const uint16_t *)((const char *)plane->data + y * plane->stride);
    for (int x = 0; x < plane->width; x++) {
      fputc(row[x] >> 8, file);
      fputc(row[x] & 255, file);
    }
  }
  const int bad = ferror(file);
  return fclose(file) == 0 && !bad;
}

static int new_plane(RvPlane *plane, int width, int height, RvFormat format) {
  const size_t stride = (size_t)width * rv_format_bytes(format);
  *plane = (RvPlane){calloc((size_t)height, stride), (ptrdiff_t)stride, width, height, format};
  return plane->data != NULL;
}

/* True disparity of the pair made here: a near square before a far wall. */
static int truth(int x, int y) {
  const int inside = x >= WIDTH / 2 && x < WIDTH * 3 / 4 && y >= HEIGHT / 4 && y < HEIGHT * 3 / 4;
  return inside ? NEAR : FAR;
}

/* The right image is random; each left pixel copies the right pixel that its disparity names. */
static int make_pair(RvPlane *left, RvPlane *right) {
  if (!new_plane(left, WIDTH, HEIGHT, RV_U8) || !new_plane(right, WIDTH, HEIGHT, RV_U8))
    return 0;
  uint8_t *const l = left->data, *const r = right->data;
  uint32_t state = 1;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    state = state * 1664525u + 1013904223u;
    r[i] = (uint8_t)(state >> 24);
  }
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      const int d = truth(x, y);
      l[y * WIDTH + x] = x >= d ? r[y * WIDTH + x - d] : 0;
    }
  return 1;
}

/* Percent of all pixels right of the disparity range whose value is within half a pixel. */
static int percent_right(const RvPlane *disparity) {
  int right = 0, all = 0;
  for (int y = 0; y < disparity->height; y++) {
    const uint16_t *const row =
        (const uint16_t *)((const char *)disparity->data + y * disparity->stride);
    for (int x = NEAR; x < disparity->width; x++, all++)
      right += row[x] != RV_SGM_INVALID &&
               abs((int)row[x] - truth(x, y) * RV_SGM_SCALE) <= RV_SGM_SCALE / 2;
  }
  return 100 * right / all;
}

static RvStatus match(const RvPlane *left, const RvPlane *right, const RvPlane *disparity) {
  RvSgmConfig config;
  rv_sgm_config_init(&config);
  config.width = left->width;
  config.height = left->height;
  config.log = (RvLog){print_line, (void *)"plain_c"};

  RvSgm *sgm = NULL;
  RvStatus status = rv_sgm_new(&sgm, &config, RV_CPU);
  if (status == RV_OK)
    status = rv_sgm_run(sgm, left, right, disparity, NULL, NULL);
  rv_sgm_free(&sgm);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 4) {
    fprintf(stderr, "usage: plain_c [LEFT.pgm RIGHT.pgm] DISPARITY.pgm\n");
    return 2;
  }
  RvPlane left = {0}, right = {0}, disparity = {0};
  int good =
      argc == 4 ? read_pgm(argv[1], &left) && read_pgm(argv[2], &right) : make_pair(&left, &right);
  if (good && (left.width != right.width || left.height != right.height)) {
    fprintf(stderr, "plain_c: the pictures differ in size\n");
    good = 0;
  }
  if (good && new_plane(&disparity, left.width, left.height, RV_U16)) {
    const RvStatus status = match(&left, &right, &disparity);
    if (status != RV_OK)
      fprintf(stderr, "plain_c: %s\n", rv_status_text(status));
    good = status == RV_OK && write_pgm16(argv[argc - 1], &disparity);
    if (good && argc == 2) {
      const int percent = percent_right(&disparity);
      printf("%d %% of the pixels are right to half a pixel\n", percent);
      good = percent >= 90;
    }
  }
  free(disparity.data);
  free(right.data);
  free(left.data);
  return good ? 0 : 1;
}
