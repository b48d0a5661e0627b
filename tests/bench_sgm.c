/* SPDX-License-Identifier: MIT */
/* bench_sgm.c: times the CPU engine's semi-global matching on one pair, for tests/bench-cpu.
 *
 *   bench_sgm LEFT.pgm RIGHT.pgm RUNS     prints least and median of RUNS runs in ms, and the per
 *                                         cent of pixels with a disparity
 *
 * Default properties: 128 disparities, 8 paths, all checks on. Images are binary PGM, 8 bit. */
#include <stdio.h>
#include <stdlib.h>

#include "rv.h"
#include "sgm/sgm.h"
#include "bench_time.h"

#define RUNS_MAX 1000

/* data is NULL when the file is not such an image. */
static RvPlane read_pgm(const char *path) {
  RvPlane plane = {.format = RV_U8};
  FILE *file = fopen(path, "rb");
  int width = 0, height = 0, most = 0;
  if (!file || fscanf(file, "P5 %d %d %d", &width, &height, &most) != 3 || most != 255 ||
      fgetc(file) == EOF || width < 1 || height < 1 || width > RV_MAX_SIDE ||
      height > RV_MAX_SIDE) {
    fprintf(stderr, "bench_sgm: %s is not a binary 8-bit PGM\n", path);
    if (file)
      fclose(file);
    return plane;
  }
  const size_t bytes = (size_t)width * (size_t)height;
  plane.data = malloc(bytes);
  plane.width = width;
  plane.height = height;
  plane.stride = width;
  if (plane.data && fread(plane.data, 1, bytes, file) != bytes) {
    fprintf(stderr, "bench_sgm: %s is shorter than its header says\n", path);
    free(plane.data);
    plane.data = NULL;
  }
  fclose(file);
  return plane;
}

static void print_line(void *user, const char *text) {
  (void)user;
  fprintf(stderr, "%s\n", text);
}

/* Times the runs and prints; 0 after a failure. */
static int measure(RvSgm *sgm, const RvPlane *left, const RvPlane *right, const RvPlane *out,
                   int runs) {
  static double ms[RUNS_MAX];
  if (rv_sgm_run(sgm, left, right, out, NULL, NULL) != RV_OK) /* touches all memory */
    return 0;
  for (int i = 0; i < runs; i++) {
    const double start = bench_now_us();
    if (rv_sgm_run(sgm, left, right, out, NULL, NULL) != RV_OK)
      return 0;
    ms[i] = (bench_now_us() - start) * 1e-3;
  }
  qsort(ms, (size_t)runs, sizeof *ms, bench_by_value);
  const size_t pixels = (size_t)out->width * (size_t)out->height;
  size_t valid = 0;
  for (size_t i = 0; i < pixels; i++)
    valid += ((const uint16_t *)out->data)[i] != RV_SGM_INVALID;
  printf("%.3f %.3f %.2f\n", ms[0], ms[runs / 2], 100.0 * (double)valid / (double)pixels);
  return 1;
}

int main(int argc, char **argv) {
  const int runs = argc == 4 ? atoi(argv[3]) : 0;
  if (runs < 1 || runs > RUNS_MAX) {
    fprintf(stderr, "usage: bench_sgm LEFT.pgm RIGHT.pgm RUNS (1 to %d)\n", RUNS_MAX);
    return 1;
  }
  RvPlane left = read_pgm(argv[1]), right = read_pgm(argv[2]);
  RvPlane out = {.width = left.width, .height = left.height, .format = RV_U16};
  out.stride = 2 * (ptrdiff_t)left.width;
  out.data = malloc((size_t)out.stride * (size_t)out.height + 1);
  RvSgmConfig config;
  rv_sgm_config_init(&config);
  config.width = left.width;
  config.height = left.height;
  config.paths = 8; /* as many as OpenCV's MODE_HH, and its kind of cost and penalties */
  config.cost = RV_SGM_CSCT;
  config.p1 = 10;
  config.p2 = 120;
  config.adaptive_p2 = 0;
  config.median = 3;
  config.reject_sky = 0;
  config.log.line = print_line;
  RvSgm *sgm = NULL;
  const int good = left.data && right.data && out.data &&
                   rv_sgm_new(&sgm, &config, RV_CPU) == RV_OK &&
                   measure(sgm, &left, &right, &out, runs);
  rv_sgm_free(&sgm);
  free(left.data);
  free(right.data);
  free(out.data);
  return good ? 0 : 1;
}
