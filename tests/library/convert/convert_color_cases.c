/* SPDX-License-Identifier: MIT */
/* convert_color_cases.c: known colors of both standards, every format against the standards'
 * formulas in floating point, CPU = CUDA, rejections, benchmark rows. */
#include "convert/convert_color_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert_picture_cases.h"

#define AHEAD 3 /* rows of canaries above the plane, and below it */

/* Raster of u32 whose rows are followed by `padding` values, in a canvas of canaries. */
typedef struct Raster {
  uint32_t *memory;
  size_t count;
  RvPlane plane;
} Raster;

static const uint32_t canary = 0x5B5B5B5Bu;

static int raster_new(RvCheck *check, Raster *out, int width, int height, int padding) {
  const size_t row = (size_t)width + (size_t)padding;
  out->count = row * ((size_t)height + 2 * AHEAD);
  out->memory = malloc(out->count * sizeof *out->memory);
  if (!rvc_true(check, "raster", out->memory != NULL, "no memory for a test raster"))
    return 0;
  for (size_t i = 0; i < out->count; i++)
    out->memory[i] = canary;
  out->plane = (RvPlane){out->memory + AHEAD * row, (ptrdiff_t)(4 * row), width, height, RV_U32};
  return 1;
}

static uint32_t *raster_at(const RvPlane *plane, int x, int y) {
  return (uint32_t *)(void *)((char *)plane->data + y * plane->stride) + x;
}

/* What lies around the plane was not written. */
static void raster_whole(RvCheck *check, const char *name, const Raster *raster, const char *what) {
  const size_t row = (size_t)raster->plane.stride / 4;
  size_t written = 0;
  for (size_t i = 0; i < raster->count; i++) {
    const size_t y = i / row;
    const int inside = y >= AHEAD && y < AHEAD + (size_t)raster->plane.height &&
                       i % row < (size_t)raster->plane.width;
    written += !inside && raster->memory[i] != canary;
  }
  rvc_true(check, name, written == 0, "%s: %zu values around the plane were written", what,
           written);
}

/* Colors of images of one pixel, from the tables of the standards. */
static void check_known(RvCheck *check, const char *name, RvRandom *random) {
  static const struct {
    int bt709, full, y, u, v, r, g, b;
  } known[] = {
      {0, 0, 16, 128, 128, 0, 0, 0},        {0, 0, 235, 128, 128, 255, 255, 255},
      {0, 0, 126, 128, 128, 128, 128, 128}, {0, 0, 82, 90, 240, 255, 1, 0},
      {0, 0, 145, 54, 34, 0, 255, 1},       {0, 0, 41, 240, 110, 0, 0, 255},
      {1, 0, 63, 102, 240, 255, 1, 0},      {1, 0, 173, 42, 26, 0, 255, 1},
      {1, 0, 32, 240, 118, 1, 0, 255},      {0, 1, 0, 128, 128, 0, 0, 0},
      {0, 1, 255, 128, 128, 255, 255, 255}, {0, 1, 76, 85, 255, 254, 0, 0},
      {1, 1, 54, 99, 255, 254, 0, 0},       {0, 0, 0, 128, 128, 0, 0, 0},
      {0, 0, 255, 128, 128, 255, 255, 255}, {0, 0, 255, 255, 255, 255, 125, 255},
  };
  const RvLog log = rvc_log(check);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint8_t luma = (uint8_t)known[i].y, chroma[2] = {(uint8_t)known[i].u, (uint8_t)known[i].v};
    uint32_t out = 0;
    const RvPicture picture = {RV_PIXEL_NV12, 1, 1, {&luma, chroma}, {1, 2}};
    const RvPlane color = {&out, 4, 1, 1, RV_U32};
    const RvStatus status =
        rv_convert_color(&picture, known[i].bt709, known[i].full, &color, 1, RV_CPU, NULL, &log);
    const uint32_t want =
        (uint32_t)known[i].r | (uint32_t)known[i].g << 8 | (uint32_t)known[i].b << 16 | 0xff000000u;
    rvc_true(check, name, status == RV_OK && out == want,
             "%s %s (%d, %d, %d): expected %08x, got %08x", known[i].bt709 ? "BT.709" : "BT.601",
             known[i].full ? "full" : "limited", known[i].y, known[i].u, known[i].v, want, out);
  }
}

/* The standards' formulas: E'y and E'c in 0..1 and -0.5..0.5 to R, G, B in 0..255. */
static void formula(int bt709, int full, int y, int u, int v, double rgb[3]) {
  const double kr = bt709 ? 0.2126 : 0.299, kb = bt709 ? 0.0722 : 0.114;
  const double luma = full ? y / 255.0 : (y - 16) / 219.0;
  const double cb = (u - 128) / (full ? 255.0 : 224.0), cr = (v - 128) / (full ? 255.0 : 224.0);
  rgb[0] = luma + 2 * (1 - kr) * cr;
  rgb[2] = luma + 2 * (1 - kb) * cb;
  rgb[1] = (luma - kr * rgb[0] - kb * rgb[2]) / (1 - kr - kb);
  for (int c = 0; c < 3; c++)
    rgb[c] = fmin(fmax(255 * rgb[c], 0), 255);
}

/* Every pixel is within rounding (and the 1/65536 of the coefficients) of the formula. */
static void check_formula(RvCheck *check, const char *name, const CasePicture *picture, int bt709,
                          int full, const RvPlane *got, const char *what) {
  const RvPixelFormat format = picture->view.format;
  const int shift_x = case_chroma_shift_x(format), shift_y = case_chroma_shift_y(format);
  for (int y = 0; y < got->height; y++)
    for (int x = 0; x < got->width; x++) {
      const int first = *case_sample(picture, 0, x, y);
      double rgb[3] = {first, first, first};
      if (case_channels(format) == 3) {
        const int second = *case_sample(picture, 1, x >> shift_x, y >> shift_y);
        const int third = *case_sample(picture, 2, x >> shift_x, y >> shift_y);
        rgb[1] = second;
        rgb[2] = third;
        if (shift_x)
          formula(bt709, full, first, second, third, rgb);
      }
      const uint32_t value = *raster_at(got, x, y);
      for (int c = 0; c < 3; c++)
        if (fabs((double)(value >> 8 * c & 255) - rgb[c]) > 0.51) {
          rvc_true(check, name, 0, "%s: pixel (%d, %d) is %08x, channel %d should be %.3f", what, x,
                   y, value, c, rgb[c]);
          return;
        }
      if (value >> 24 != 255) {
        rvc_true(check, name, 0, "%s: pixel (%d, %d) is %08x without 255 on top", what, x, y,
                 value);
        return;
      }
    }
  rvc_true(check, name, 1, "%s", what);
}

static void check_cuda(RvCheck *check, const char *name, const CasePicture *picture, int bt709,
                       int full, const Raster *want, const char *what) {
  Raster got;
  CasePicture source;
  RvPlane device;
  const RvLog log = rvc_log(check);
  const RvPlane *plane = &want->plane;
  if (!raster_new(check, &got, plane->width, plane->height,
                  (int)(plane->stride / 4) - plane->width))
    return;
  if (case_picture_upload(check, &source, picture)) {
    if (rvc_upload(check, &device, &got.plane)) {
      rvc_true(check, name,
               rv_convert_color(&source.view, bt709, full, &device, 0, RV_CUDA, NULL, &log) ==
                   RV_OK,
               "%s: rejected by CUDA", what);
      if (rvc_download(check, &got.plane, &device))
        rvc_same(check, name, plane, &got.plane, what);
      rvc_device_free(&device);
    }
    case_picture_device_free(&source);
  }
  free(got.memory);
}

static void check_picture(RvCheck *check, const char *name, const CasePicture *picture,
                          RvRandom *random) {
  const RvLog log = rvc_log(check);
  const int padding = rvc_range(random, 0, 5), threads = rvc_range(random, 0, 3);
  for (int kind = 0; kind < 4; kind++) {
    const int bt709 = kind & 1, full = kind >> 1;
    char what[120];
    Raster got;
    snprintf(what, sizeof what, "%s %dx%d, %s, %s range", case_format_name(picture->view.format),
             picture->view.width, picture->view.height, bt709 ? "BT.709" : "BT.601",
             full ? "full" : "limited");
    if (!raster_new(check, &got, picture->view.width, picture->view.height, padding))
      return;
    rvc_true(check, name,
             rv_convert_color(&picture->view, bt709, full, &got.plane, threads, RV_CPU, NULL,
                              &log) == RV_OK,
             "%s: refused", what);
    check_formula(check, name, picture, bt709, full, &got.plane, what);
    raster_whole(check, name, &got, what);
    if (rvc_cuda(check))
      check_cuda(check, name, picture, bt709, full, &got, what);
    free(got.memory);
  }
}

static void check_format(RvCheck *check, const char *name, RvPixelFormat format, int round,
                         RvRandom *random) {
  static const int kinds[] = {RVC_RANDOM, RVC_RANDOM, RVC_ONES, RVC_ZERO};
  const int small = round % 4 || rvc_small(check);
  const int width = rvc_range(random, 1, small ? 40 : 500);
  const int height = rvc_range(random, 1, small ? 12 : 300);
  CasePicture picture;
  if (!case_picture_new(check, &picture, format, width, height, rvc_range(random, 0, 9), random,
                        kinds[round % 4]))
    return;
  check_picture(check, name, &picture, random);
  case_picture_free(&picture);
}

static void check_every_format(RvCheck *check) {
  case_formats(check, "convert/color-", RV_PIXEL_GRAY10, 12, check_format);
}

static void check_arguments(RvCheck *check, const char *name, RvRandom *random) {
  const RvLog log = rvc_log(check);
  uint8_t from[64] = {0};
  uint32_t to[16] = {0};
  const RvPlane good = {to, 16, 4, 4, RV_U32};
  const RvPicture picture = {RV_PIXEL_GRAY8, 4, 4, {from}, {8}};
#define REFUSED(condition) rvc_true(check, name, (condition) == RV_ERR_ARG, "accepted: " #condition)
  rvc_true(check, name,
           rv_convert_color(&picture, 0, 0, &good, 0, RV_CPU, NULL, &log) == RV_OK && to[15] != 0,
           "a good image was rejected");
  RvPlane bad = good;
  REFUSED(rv_convert_color(NULL, 0, 0, &good, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_color(&picture, 0, 0, NULL, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_color(&picture, 0, 0, &good, -1, RV_CPU, NULL, &log));
  REFUSED(rv_convert_color(&picture, 0, 0, &good, 0, (RvEngine)7, NULL, &log));
  bad.format = RV_F32;
  REFUSED(rv_convert_color(&picture, 0, 0, &bad, 0, RV_CPU, NULL, &log));
  bad = good;
  bad.stride = 12;
  REFUSED(rv_convert_color(&picture, 0, 0, &bad, 0, RV_CPU, NULL, &log));
  bad = good;
  bad.width = 3;
  REFUSED(rv_convert_color(&picture, 0, 0, &bad, 0, RV_CPU, NULL, &log));
  bad.width = 5;
  REFUSED(rv_convert_color(&picture, 0, 0, &bad, 0, RV_CPU, NULL, &log));
  bad = good;
  bad.height = 3;
  REFUSED(rv_convert_color(&picture, 0, 0, &bad, 0, RV_CPU, NULL, &log));
  RvPicture short_image = picture;
  short_image.data[0] = NULL;
  REFUSED(rv_convert_color(&short_image, 0, 0, &good, 0, RV_CPU, NULL, &log));
#undef REFUSED
}

RVC_CASES(convert_color_parity, RVC_CASE("convert/color-known", check_known, 0),
          {.group = check_every_format}, RVC_CASE("convert/color-arguments", check_arguments, 0));

/* --- Benchmark ------------------------------------------------------------------------------- */

typedef struct Bench {
  RvPicture picture;
  RvPlane color;
  RvEngine engine;
} Bench;

static RvStatus run(void *user, RvStream stream) {
  const Bench *bench = user;
  return rv_convert_color(&bench->picture, 1, 0, &bench->color, 0, bench->engine, stream, NULL);
}

static void bench_format(RvCheck *check, const char *label, RvPixelFormat format) {
  char name[64];
  snprintf(name, sizeof name, "convert/color-1080p-%s", label);
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, name);
  CasePicture picture, device;
  Raster color;
  RvPlane device_color;
  if (!case_picture_new(check, &picture, format, 1920, 1080, 0, &random, RVC_RANDOM))
    return;
  if (raster_new(check, &color, 1920, 1080, 0)) {
    Bench bench = {picture.view, color.plane, RV_CPU};
    if (rvc_cpu(check))
      rvc_bench(check, name, RV_CPU, run, &bench);
    if (rvc_cuda(check) && case_picture_upload(check, &device, &picture)) {
      if (rvc_upload(check, &device_color, &color.plane)) {
        bench = (Bench){device.view, device_color, RV_CUDA};
        rvc_bench(check, name, RV_CUDA, run, &bench);
        rvc_device_free(&device_color);
      }
      case_picture_device_free(&device);
    }
    free(color.memory);
  }
  case_picture_free(&picture);
}

void convert_color_bench(RvCheck *check) {
  bench_format(check, "nv12", RV_PIXEL_NV12);
  bench_format(check, "yuy2", RV_PIXEL_YUY2);
  bench_format(check, "bgrx", RV_PIXEL_BGRX);
}
