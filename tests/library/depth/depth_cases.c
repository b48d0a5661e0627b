/* SPDX-License-Identifier: MIT */
/* depth_cases.c: hand-computed values, and pairs with a known fault. */
#include "depth/depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvcheck.h"

enum { W = 320, H = 96 };

static void check_rescale(RvCheck *check, const char *name, RvRandom *random) {
  /* 1/16 px: none, a true 0, half a px, 1 px, 100.25 px, the largest */
  uint16_t values[6] = {0, 1, 8, 16, 1604, 65535};
  static const struct {
    int scale;
    uint16_t expected[6];
  } known[] = {
      {16, {0, 1, 8, 16, 1604, 65535}},
      {1, {0, 1, 1, 1, 100, 4096}},
      {256, {0, 16, 128, 256, 25664, 65535}},
  };
  const RvLog log = rvc_log(check);
  const RvPlane in = {values, sizeof values, 6, 1, RV_U16};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    uint16_t got[6];
    const RvPlane out = {got, sizeof got, 6, 1, RV_U16};
    rvc_true(check, name, rv_depth_rescale(&in, known[k].scale, &out, &log) == RV_OK, "status");
    for (int i = 0; i < 6; i++)
      rvc_true(check, name, got[i] == known[k].expected[i],
               "scale %d, value %d: expected %d, got %d", known[k].scale, values[i],
               known[k].expected[i], got[i]);
  }
  /* back: at 256 per px 8 is half of 1/16 px, up; at 1 per px 4096 px leave the range */
  uint16_t foreign[6] = {0, 1, 8, 256, 4000, 65535}, got[6];
  static const uint16_t from_256[6] = {0, 1, 1, 16, 250, 4096};
  static const uint16_t from_1[6] = {0, 16, 128, 4096, 64000, 65535};
  const RvPlane other = {foreign, sizeof foreign, 6, 1, RV_U16};
  const RvPlane back = {got, sizeof got, 6, 1, RV_U16};
  rvc_true(check, name,
           rv_depth_from_scale(&other, 256, &back, &log) == RV_OK &&
               memcmp(got, from_256, sizeof got) == 0,
           "back from 256 per px");
  rvc_true(check, name,
           rv_depth_from_scale(&other, 1, &back, &log) == RV_OK &&
               memcmp(got, from_1, sizeof got) == 0,
           "back from 1 per px");
  rvc_true(check, name, rv_depth_from_scale(&other, 0, &back, NULL) == RV_ERR_ARG, "back, scale 0");
  const RvPlane narrow = {values, sizeof values, 5, 1, RV_U16};
  rvc_true(check, name, rv_depth_rescale(&in, 16, &narrow, NULL) == RV_ERR_ARG, "another size");
  rvc_true(check, name, rv_depth_rescale(&in, 0, &in, NULL) == RV_ERR_ARG, "scale 0");
}

static void check_depth(RvCheck *check, const char *name, RvRandom *random) {
  /* focal 700 px, baseline 0.5 m: 350 px m. 1/16 px: none; 70 px = 5 m; 7 px = 50 m; 5.375 px =
   * 65.116 m; 5.3125 px = 65.882 m: too far for 16 bits; 0.0625 px = 5.6 km: too far. */
  uint16_t values[6] = {0, 70 * 16, 7 * 16, 86, 85, 1};
  static const uint16_t plain[6] = {0, 5000, 50000, 65116, 0, 0};
  RvCamera camera = {700, 0, 0, 0, 0.5, 0, 0};
  uint16_t got[6];
  const RvLog log = rvc_log(check);
  const RvPlane in = {values, sizeof values, 6, 1, RV_U16};
  const RvPlane out = {got, sizeof got, 6, 1, RV_U16};
  rvc_true(check, name, rv_depth_mm(&in, &camera, &out, &log) == RV_OK, "status");
  for (int i = 0; i < 6; i++)
    rvc_true(check, name, got[i] == plain[i], "value %d: expected %d mm, got %d", values[i],
             plain[i], got[i]);
  /* doffs 30 px: 350 / 100 px = 3.5 m; doffs -8 px puts 7 px behind the camera. */
  camera.doffs = 30;
  rvc_true(check, name, rv_depth_mm(&in, &camera, &out, &log) == RV_OK && got[1] == 3500,
           "doffs 30: got %d mm", got[1]);
  camera.doffs = -8;
  rvc_true(check, name, rv_depth_mm(&in, &camera, &out, &log) == RV_OK && got[2] == 0,
           "doffs -8: got %d mm", got[2]);
  camera.baseline = 0;
  rvc_true(check, name, rv_depth_mm(&in, &camera, &out, NULL) == RV_ERR_ARG, "unknown baseline");
}

static void check_points(RvCheck *check, const char *name, RvRandom *random) {
  /* focal 700 px, baseline 0.5 m: 70 px = 5 m, 7 px = 50 m, 0.0625 px = 5.6 km */
  uint16_t values[4] = {0, 70 * 16, 7 * 16, 1};
  uint32_t colors[4] = {0xff332211u, 0xff0000ffu, 0xff00ff00u, 0xffff0000u};
  RvCamera camera = {700, 2, 4, 0, 0.5, 0, 0};
  float got[16], px[4];
  int count = 0;
  const RvLog log = rvc_log(check);
  const RvPlane in = {values, sizeof values, 4, 1, RV_U16};
  const RvPlane color = {colors, sizeof colors, 4, 1, RV_U32};
  const RvPlane out = {got, sizeof got, 16, 1, RV_F32};
  const RvPlane flat = {px, sizeof px, 4, 1, RV_F32};
  rvc_true(check, name,
           rv_depth_points(&in, &color, &camera, 100, &out, &count, &log) == RV_OK && count == 2,
           "status, or %d points", count);
  rvc_true(check, name, isnan(got[0]) && isnan(got[2]) && isnan(got[14]), "invalid and too far");
  rvc_true(check, name,
           got[4] == (float)(-1 * 5.0 / 700) && got[5] == (float)(-4 * 5.0 / 700) && got[6] == 5.0f,
           "5 m: got %g %g %g", got[4], got[5], got[6]);
  rvc_true(check, name, got[8] == 0.0f && got[10] == 50.0f, "50 m: got %g %g", got[8], got[10]);
  uint32_t bits[4];
  for (int i = 0; i < 4; i++)
    memcpy(&bits[i], &got[4 * i + 3], sizeof bits[i]);
  rvc_true(check, name, bits[0] == 0x112233u && bits[1] == 0xff0000u && bits[2] == 0xff00u,
           "colors: %06x %06x %06x", bits[0], bits[1], bits[2]);
  rvc_true(check, name,
           rv_depth_points(&in, NULL, &camera, 0, &out, &count, &log) == RV_OK && count == 3,
           "no limit: %d points", count);
  camera.doffs = 30; /* 350 / 100 px = 3.5 m */
  rvc_true(check, name,
           rv_depth_points(&in, NULL, &camera, 0, &out, NULL, &log) == RV_OK && got[6] == 3.5f,
           "doffs 30: got %g m", got[6]);
  rvc_true(check, name,
           rv_depth_disparity_px(&in, &camera, -1.0f, &flat, &log) == RV_OK && px[0] == -1.0f &&
               px[1] == 100.0f && px[3] == 30.0625f,
           "px: %g %g %g", px[0], px[1], px[3]);
  rvc_true(check, name,
           rv_depth_disparity_px(&in, NULL, 0.0f, &flat, &log) == RV_OK && px[0] == 0.0f &&
               px[2] == 7.0f,
           "px without camera: %g", px[2]);
  camera.focal = 0;
  rvc_true(check, name, rv_depth_points(&in, NULL, &camera, 0, &out, NULL, NULL) == RV_ERR_ARG,
           "unknown focal length");
  rvc_true(check, name, rv_depth_points(&in, NULL, &camera, 0, &flat, NULL, NULL) == RV_ERR_ARG,
           "another size");
}

/* right(x - disparity, y + rows) = left(x, y), the rest noise. */
static int diagnose(RvCheck *check, int disparity, int rows, RvPairReport *report) {
  static uint8_t left[W * H], right[W * H];
  RvRandom random = rvc_random(check, "depth/pair");
  rvc_fill_u8(&random, RVC_SMOOTH, left, W, H, W);
  for (int i = 0; i < W * H; i++)
    left[i] = (uint8_t)(left[i] / 2 + rvc_range(&random, 0, 127));
  rvc_fill_u8(&random, RVC_RANDOM, right, W, H, W);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      if (x - disparity >= 0 && x - disparity < W && y + rows >= 0 && y + rows < H)
        right[(y + rows) * W + x - disparity] = left[y * W + x];
  const RvPlane l = {left, W, W, H, RV_U8}, r = {right, W, W, H, RV_U8};
  return rv_pair_diagnose(&l, &r, 0, 64, report, NULL) == RV_OK;
}

/* --- Order of the views ---------------------------------------------------------------------- */

enum { OW = 320, OH = 128 };

/* Blocks of 8 x 8 px lose the cosines below `step`, as in JPEG and H.264. */
static void compress(uint8_t *pixels, double step) {
  static double basis[8][8];
  double in[8][8], out[8][8];
  for (int k = 0; k < 8; k++)
    for (int n = 0; n < 8; n++)
      basis[k][n] = (k ? 0.5 : 0.35355339059327373) * cos((2 * n + 1) * k * 3.14159265358979 / 16);
  for (int block = 0; block < OW / 8 * (OH / 8); block++) {
    uint8_t *at = pixels + block / (OW / 8) * 8 * OW + block % (OW / 8) * 8;
    for (int k = 0; k < 64; k++) {
      double sum = 0;
      for (int n = 0; n < 64; n++)
        sum += basis[k / 8][n / 8] * basis[k % 8][n % 8] * at[n / 8 * OW + n % 8];
      in[k / 8][k % 8] = rint(sum / step) * step;
    }
    for (int n = 0; n < 64; n++) {
      double sum = 0;
      for (int k = 0; k < 64; k++)
        sum += basis[k / 8][n / 8] * basis[k % 8][n % 8] * in[k / 8][k % 8];
      out[n / 8][n % 8] = sum;
    }
    for (int n = 0; n < 64; n++)
      at[n / 8 * OW + n % 8] = (uint8_t)fmin(fmax(rint(out[n / 8][n % 8]), 0), 255);
  }
}

/* Texture of several scales on a plane of 2 to 34 px, the right view `rows` further down. */
static void draw_pair(RvRandom *random, uint8_t *left, uint8_t *right, int rows, int noise,
                      double step) {
  static uint8_t texture[OH][2 * OW];
  static int cell[OH][2 * OW];
  for (int i = 0; i < OH * 2 * OW; i++)
    (&cell[0][0])[i] = rvc_range(random, -40, 40);
  for (int y = 0; y < OH; y++)
    for (int x = 0; x < 2 * OW; x++)
      texture[y][x] =
          (uint8_t)(128 + cell[y / 16][x / 16] + cell[OH / 2 + y / 4][x / 4] / 2 + cell[y][x] / 4);
  for (int y = 0; y < OH; y++)
    for (int x = 0; x < OW; x++) {
      const int from = y >= rows ? y - rows : 0, d = 2 + 32 * from / OH;
      left[y * OW + x] = (uint8_t)(texture[y][x + OW / 2] + rvc_range(random, -noise, noise));
      right[y * OW + x] =
          (uint8_t)(texture[from][x + d + OW / 2] + rvc_range(random, -noise, noise));
    }
  if (step > 0) {
    compress(left, step);
    compress(right, step);
  }
}

/* A swapped pair is found, the right order and a pair that is not rectified are not called swapped. */
static void check_order(RvCheck *check, const char *name, RvRandom *random) {
  static uint8_t left[OW * OH], right[OW * OH];
  static const struct {
    int noise;
    double step;
  } levels[] = {{0, 0}, {5, 0}, {10, 0}, {20, 0}, {0, 20}, {0, 40}, {5, 60}, {0, 80}};
  const RvPlane l = {left, OW, OW, OH, RV_U8}, r = {right, OW, OW, OH, RV_U8};
  for (unsigned i = 0; i < sizeof levels / sizeof levels[0]; i++)
    for (int rows = 0; rows < 8; rows += 7) {
      RvPairOrder good, bad;
      draw_pair(random, left, right, rows, levels[i].noise, levels[i].step);
      rvc_true(check, name,
               rv_pair_order(&l, &r, 0, 64, &good, NULL) == RV_OK && !good.is_swapped &&
                   rv_pair_order(&r, &l, 0, 64, &bad, NULL) == RV_OK &&
                   (rows != 0 || bad.is_swapped),
               "noise %d, step %g, %d rows: %d to %d of %d points; swapped %d to %d of %d",
               levels[i].noise, levels[i].step, rows, good.straight, good.swapped, good.points,
               bad.straight, bad.swapped, bad.points);
    }
  RvPairOrder order;
  const RvPlane tiny = {left, 4, 4, 2, RV_U8};
  rvc_true(check, name,
           rv_pair_order(&tiny, &tiny, 0, 64, &order, NULL) == RV_OK && order.points == 0,
           "smaller than a window");
  rvc_true(check, name, rv_pair_order(&l, &tiny, 0, 64, &order, NULL) == RV_ERR_ARG, "two sizes");
}

static void check_pair(RvCheck *check, const char *name, RvRandom *random) {
  RvPairReport report = {0};
  rvc_true(check, name, diagnose(check, 20, 0, &report) && report.fault == RV_PAIR_UNKNOWN,
           "a good pair: fault %d", report.fault);
  rvc_true(check, name,
           diagnose(check, 20, 3, &report) && report.fault == RV_PAIR_ROWS &&
               report.row_offset == 3,
           "3 rows down: fault %d, offset %d", report.fault, report.row_offset);
  rvc_true(check, name,
           diagnose(check, 20, -9, &report) && report.fault == RV_PAIR_ROWS &&
               report.row_offset == -9,
           "9 rows up: fault %d, offset %d", report.fault, report.row_offset);
  rvc_true(check, name, diagnose(check, -20, 0, &report) && report.fault == RV_PAIR_SWAPPED,
           "swapped: fault %d", report.fault);
  rvc_true(check, name,
           diagnose(check, 90, 0, &report) && report.fault == RV_PAIR_RANGE &&
               report.disparity == 90,
           "90 px: fault %d, disparity %d", report.fault, report.disparity);
  uint8_t flat[W * H];
  memset(flat, 77, sizeof flat);
  const RvPlane plane = {flat, W, W, H, RV_U8};
  rvc_true(check, name,
           rv_pair_diagnose(&plane, &plane, 0, 64, &report, NULL) == RV_OK &&
               report.fault == RV_PAIR_UNKNOWN && report.points == 0,
           "no texture: fault %d, %d points", report.fault, report.points);
  const RvPlane tiny = {flat, 4, 4, 2, RV_U8};
  rvc_true(check, name, rv_pair_diagnose(&tiny, &tiny, 0, 64, &report, NULL) == RV_OK,
           "smaller than a window");
}

RVC_PARITY(RVC_CASE("depth/rescale", check_rescale, 0), RVC_CASE("depth/mm", check_depth, 0),
           RVC_CASE("depth/points", check_points, 0), RVC_CASE("depth/pair", check_pair, 0),
           RVC_CASE("depth/order", check_order, 0));

const RvCases rv_depth_cases = {"depth", parity, NULL, NULL};
