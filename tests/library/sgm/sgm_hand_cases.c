/* SPDX-License-Identifier: MIT */
/* sgm_hand_cases.c: semi-global matching compared with hand-computed numbers. */
#include "sgm/sgm_hand_cases.h"

#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_probe.h"
#include "sgm/sgm_rules.h"

#define WIDTH_MAX 64

/* --- Scalar rules ---------------------------------------------------------------------------- */

/* Costs below, at and above the winner, whether the match is close, and the offset in 1/16 px:
 * 16 * 2 / 64 = 0.5 is rounded up, -0.5 is 0, 16 * 2 / (2 * 4) = 4; half a pixel is the most; flat;
 * 16 * 2 / (2 * 3) = 5.33, 16 / 64 = 0.25, 16 / 32 = 0.5 up, -0.5 is 0. */
static const int offsets[][5] = {
    {17, 0, 15, 0, 1}, {15, 0, 17, 0, 0},  {13, 10, 11, 0, 4}, {5, 0, 0, 0, 8},   {0, 0, 5, 0, -8},
    {7, 7, 7, 0, 0},   {13, 10, 11, 1, 5}, {32, 0, 31, 1, 0},  {31, 0, 32, 1, 0}, {16, 0, 15, 1, 1},
    {15, 0, 16, 1, 0}, {9, 4, 4, 1, 8},    {4, 4, 9, 1, -8},   {7, 7, 7, 1, 0}};

/* Values left and right of a gap, the raw value, the length of the gap, and what it is filled with:
 * 200 and 160 are 10 px in a gap of 20 and 19 px, 336 is 1 px outside. */
static const int fills[][5] = {{160, 320, 200, 20, 200}, {160, 320, 200, 19, 160},
                               {320, 160, 336, 40, 336}, {320, 160, 337, 40, 160},
                               {0, 160, 337, 40, 160},   {160, 0, 337, 40, 160},
                               {0, 0, 337, 40, 337}};

static void check_rules(RvCheck *check, const char *name, RvRandom *random) {
  int good = 1;
#define EQUAL(call, want)                                                                          \
  good = rvc_true(check, name, (call) == (want), "%s is %d, by hand it is %d", #call, (call),      \
                  (want)) &&                                                                       \
         good
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    const int *row = offsets[i];
    EQUAL(rv_sgm_offset(row[0], row[1], row[2], row[3]), row[4]);
  }
  for (int sum = 0; sum <= 9 * 255; sum++)
    EQUAL(rv_sgm_mean_up(sum), (sum + 8) / 9);
  EQUAL(rv_sgm_value(0, 0, 0), 1); /* a true 0 */
  EQUAL(rv_sgm_value(0, 1, -8), 8);
  EQUAL(rv_sgm_value(3584, 511, 8), 65528);
  EQUAL(rv_sgm_unique(97, 100, 3), 1); /* 9700 >= 9700 */
  EQUAL(rv_sgm_unique(97, 99, 3), 0);  /* 9603 < 9700 */
  EQUAL(rv_sgm_unique(0, 0, 99), 1);
  EQUAL(rv_sgm_margin(50, 150, 256), 100);
  EQUAL(rv_sgm_margin(50, 151, 128), 50);
  EQUAL(rv_sgm_margin(0, 65535, 7168), 255);
  for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
    const int *row = fills[i];
    EQUAL(rv_sgm_fill_value(row[0], row[1], row[2], row[3]), row[4]);
  }
  EQUAL(rv_sgm_sky_brightness(1000, 10), 6300);
  EQUAL(rv_sgm_sky_brightness(1001, 10), 6307); /* 6306.3 */
  EQUAL(rv_sgm_passes_lr_check(10, 0, 10, 11, 1), 1);
  EQUAL(rv_sgm_passes_lr_check(10, 0, 11, 11, 1), 0); /* the match is at column -1 */
  EQUAL(rv_sgm_passes_lr_check(10, 3, 5, 7, 1), 0);
  EQUAL(rv_sgm_adapted_p2(120, 60, 1, 200, 100), 60);
  EQUAL(rv_sgm_adapted_p2(120, 60, 2, 100, 110), 100);
  EQUAL(rv_sgm_same_region(16, 32, 1), 1);
  EQUAL(rv_sgm_same_region(16, 33, 1), 0);
  EQUAL(rv_sgm_same_region(0, 0, 64), 0);
#undef EQUAL
}

/* --- A step edge with a disparity of 2 --------------------------------------------------------
 *
 * One row. Left: 100 up to column 5, then 0; right: 100 up to column 3, then 0. So d = 2.
 * All rows of the window are the same, so a csct bit differs only with i: I(x + i) < I(x - i) holds
 * for i >= m with m = 1 next to the step, one more for each pixel away. Number z of such i in 1..4:
 *
 *   x           0 1 2 3 4 5 6 7 8 9 10 11
 *   left   z    0 0 1 2 3 4 4 3 2 1 0  0
 *   right  z    1 2 3 4 4 3 2 1 0 0 0  0
 *
 * Each i stands for 7 bits: C(x, k) = 7 |z_left(x) - z_right(max(x - k, 0))|, k = 0, 1, 2, ...
 *
 *   x = 0:  7  7  7  7  7  7      x = 3: 14  7  0  7  7  7
 *   x = 1: 14  7  7  7  7  7      x = 4:  7  7  0  7 14 14
 *   x = 2: 14  7  0  0  0  0
 *
 * Left to right, P1 = 10, P2 = 120 (eq. 2.3):
 *   L(0) = C.  L(1): all of L(0) are 7, so L(1) = C.
 *   L(2): least 7; k = 0 comes from 14 (17 through P1): 14 + 14 - 7 = 21; k = 1: 7; then 0.
 *   L(3): least 0; k = 0 from 7 + 10 = 17: 31; k = 1: 7 + 7 = 14; k = 2: 0; then 7.
 *   L(4): k = 0 from 14 + 10: 31; k = 1 from 0 + 10: 17; k = 2: 0; k = 3: 7 + 7 = 14; then 14 + 7.
 * Top to bottom starts everywhere: L = C. With 2 paths S = L + C:
 */
static const uint16_t step_sums[5][6] = {{14, 14, 14, 14, 14, 14},
                                         {28, 14, 14, 14, 14, 14},
                                         {35, 14, 0, 0, 0, 0},
                                         {45, 21, 0, 14, 14, 14},
                                         {38, 24, 0, 21, 35, 35}};
/* Winners: 0 (tie), 1 (tie), 2 (tie), 2, 2. Subpixel: x = 2: 16 * 14 / 28 = 8; x = 3:
 * 16 * 7 / 70 = 1.6, so 2; x = 4: 16 * 3 / 90 = 0.53, so 1; k = 0 has none, x = 1: 16 * 14 / 28
 * = 8. Right view: column 0 has 14, 14, 0, ...: k = 2; columns 1 and 2 as well. So x = 0
 * differs by 2 from its match, x = 1 by 1. Uniqueness 3 %: x = 0 and x = 1 have 14 against 14. */
static const struct {
  int uniqueness, max_lr_diff, subpixel;
  uint16_t disparity[5];
} step_rows[] = {{0, -1, 0, {1, 16, 32, 32, 32}}, {0, -1, 1, {1, 24, 40, 34, 33}},
                 {3, -1, 1, {0, 0, 40, 34, 33}},  {0, 1, 0, {0, 16, 32, 32, 32}},
                 {0, 0, 0, {0, 0, 32, 32, 32}},   {0, 2, 0, {1, 16, 32, 32, 32}}};

static int step_row(RvCheck *check, const char *name, size_t row) {
  uint8_t left[12], right[12];
  memset(left, 100, 6), memset(left + 6, 0, 6);
  memset(right, 100, 4), memset(right + 4, 0, 8);
  RvSgmConfig c;
  rv_sgm_config_init(&c);
  rvc_set(rv_sgm_params(), &c,
          "width=12 height=1 disparities=32 paths=2 cost=csct p1=10 p2=120 adaptive-p2=0 "
          "reject-sky=0 median=0 speckle-size=0");
  c.uniqueness = step_rows[row].uniqueness;
  c.max_lr_diff = step_rows[row].max_lr_diff;
  c.subpixel = step_rows[row].subpixel;
  RvSgm *sgm = NULL;
  RvSgmResults got = {0};
  int good =
      rvc_true(check, name, rv_sgm_new(&sgm, &c, RV_CPU) == RV_OK && rv_sgm_results_new(&got, &c),
               "no object") &&
      rv_sgm_read_stages(check, name, sgm, left, right, &got);
  for (int x = 0; good && x < 5; x++) {
    for (int k = 0; k < 6; k++)
      good =
          rvc_true(check, name, got.volume[x * 32 + k] == step_sums[x][k],
                   "S(%d, %d) is %d, by hand %d", x, k, got.volume[x * 32 + k], step_sums[x][k]) &&
          good;
    good = rvc_true(check, name, got.disparity[x] == step_rows[row].disparity[x],
                    "row %zu, x = %d: disparity %d, by hand %d", row, x, got.disparity[x],
                    step_rows[row].disparity[x]) &&
           good;
  }
  rv_sgm_results_free(&got);
  rv_sgm_free(&sgm);
  return good;
}

static void check_step(RvCheck *check, const char *name, RvRandom *random) {
  int good = 1;
  for (size_t row = 0; row < sizeof step_rows / sizeof step_rows[0]; row++)
    good = step_row(check, name, row) && good;
}

/* --- Gray images without texture: every cost is 0, so the smallest disparity wins ------------- */

static void check_flat(RvCheck *check, const char *name, RvRandom *random) {
  enum { W = 40, H = 3 };
  /* Without a match inside the right view (x < 5) a pixel is invalid; the remaining 35 x 3 are one
   * region of 105 px. Every margin is 0. */
  static const struct {
    int min_disparity, max_lr_diff, speckle_size, left, rest;
  } rows[] = {{0, 1, 0, 1, 1},    {5, -1, 0, 80, 80}, {5, 1, 0, 0, 80},
              {5, 1, 105, 0, 80}, {5, 1, 106, 0, 0},  {0, 1, 120, 1, 1}};
  int good = 1;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint8_t gray[W * H], confidences[W * H];
    uint16_t d[W * H];
    memset(gray, 77, sizeof gray);
    memset(confidences, 9, sizeof confidences);
    RvSgmConfig c;
    rv_sgm_config_init(&c);
    c.width = W;
    c.height = H;
    c.disparities = 64;
    c.confidence = 1;
    c.reject_sky = 0;
    c.min_disparity = rows[i].min_disparity;
    c.max_lr_diff = rows[i].max_lr_diff;
    c.speckle_size = rows[i].speckle_size;
    const RvPlane in = {gray, W, W, H, RV_U8}, out = {d, 2 * W, W, H, RV_U16};
    const RvPlane confidence = {confidences, W, W, H, RV_U8};
    RvSgm *sgm = NULL;
    RvSgmPlan plan = {.config = c};
    rv_sgm_make_plan(&plan);
    good = rvc_true(check, name,
                    rv_sgm_new(&sgm, &c, RV_CPU) == RV_OK &&
                        rv_sgm_run(sgm, &in, &in, &out, &confidence, NULL) == RV_OK,
                    "run") &&
           good;
    for (int n = 0; good && n < W * H; n++)
      good = rvc_true(check, name,
                      d[n] == (n % W < 5 ? rows[i].left : rows[i].rest) &&
                          confidences[n] == (d[n] ? plan.confidence_of[0] : 0),
                      "row %zu, x = %d: %d, confidence %d", i, n % W, d[n], confidences[n]);
    rv_sgm_free(&sgm);
  }
}

/* --- Filters on given maps ------------------------------------------------------------------- */

/* Puts a map into the CPU engine and runs its filter stage with one step alone. */
static int filter(RvCheck *check, const char *name, const RvSgmConfig *config, int speckle,
                  const uint16_t *in, uint16_t *out) {
  RvSgmConfig c = *config;
  RvSgm *sgm = NULL;
  if (speckle)
    c.median = 0;
  else
    c.speckle_size = 0;
  if (!rvc_true(check, name, rv_sgm_new(&sgm, &c, RV_CPU) == RV_OK, "no object"))
    return 0;
  const RvSgmCpu *cpu = sgm->object.work;
  const size_t row = (size_t)c.width;
  for (int y = 0; y < c.height; y++)
    memcpy(rv_sgm_disparities(cpu, y), in + (size_t)y * row, row * sizeof *in);
  const RvPlane plane = {out, 2 * c.width, c.width, c.height, RV_U16};
  RvSgmJob job = {.plan = &sgm->plan, .disparity = plane};
  const RvStatus status = rv_sgm_stages_cpu.filter(sgm->object.work, &job);
  rv_sgm_free(&sgm);
  return rvc_true(check, name, status == RV_OK, "stage failed");
}

static int filter_gives(RvCheck *check, const char *name, const RvSgmConfig *c, int speckle,
                        const uint16_t *in, const uint16_t *want, const char *what) {
  uint16_t got[WIDTH_MAX];
  const RvPlane a = {(void *)(uintptr_t)want, 2 * c->width, c->width, c->height, RV_U16};
  const RvPlane b = {got, 2 * c->width, c->width, c->height, RV_U16};
  return filter(check, name, c, speckle, in, got) && rvc_same(check, name, &a, &b, what);
}

static void check_median(RvCheck *check, const char *name, RvRandom *random) {
  RvSgmConfig c;
  rv_sgm_config_init(&c);
  c.width = 4;
  c.height = 3;
  /* Corner (0,0): 10 20 50 60, the lower middle one is 20. (1,0): 10 20 30 50 60, so 30: the cell
   * below at (2,1) is invalid. (1,1): 10 20 30 50 60 80 90 -> 50. (3,1): 30 40 70 90 -> 40 of
   * 30 40 70 90. (2,1) stays invalid. */
  static const uint16_t in[12] = {10, 20, 30, 40, 50, 60, 0, 70, 80, 0, 90, 0};
  static const uint16_t want3[12] = {20, 30, 40, 40, 50, 50, 0, 40, 60, 0, 70, 0};
  /* 5x5 over 4x3: columns 0 and 1 see columns 0..2 and 0..3, all three rows. Values sorted:
   * columns 0..2: 10 20 30 50 60 80 90 -> 50; all: 10 20 30 40 50 60 70 80 90 -> 50;
   * columns 1..3: 20 30 40 60 70 90 -> 40. */
  static const uint16_t want5[12] = {50, 50, 50, 40, 50, 50, 0, 40, 50, 0, 50, 0};
  c.median = 3;
  int good = filter_gives(check, name, &c, 0, in, want3, "3x3 by hand");
  c.median = 5;
  good = filter_gives(check, name, &c, 0, in, want5, "5x5 by hand") && good;
  /* A lone pixel keeps its value, 65528 is a valid value. */
  static const uint16_t lone[12] = {0, 0, 0, 0, 0, 65528, 0, 0, 0, 0, 0, 0};
  good = filter_gives(check, name, &c, 0, lone, lone, "lone pixel") && good;
}

static void check_speckle(RvCheck *check, const char *name, RvRandom *random) {
  RvSgmConfig c;
  rv_sgm_config_init(&c);
  c.width = 6;
  c.height = 4;
  c.speckle_size = 4;
  c.speckle_range = 1;
  /* A hook of four pixels is kept, whichever thread has each row; three pixels are removed; two
   * that only touch at a corner are not connected; 16 joins, 17 does not. */
  static const uint16_t in[24] = {100, 0, 90, 0,   300, 317, /**/
                                  100, 0, 0,  100, 300, 317, /**/
                                  116, 0, 0,  0,   316, 317, /**/
                                  132, 0, 50, 50,  50,  317};
  static const uint16_t want[24] = {100, 0, 0, 0, 300, 317, /**/
                                    100, 0, 0, 0, 300, 317, /**/
                                    116, 0, 0, 0, 316, 317, /**/
                                    132, 0, 0, 0, 0,   317};
  int good = 1;
  for (c.threads = 1; c.threads <= 4; c.threads++)
    good = filter_gives(check, name, &c, 1, in, want, "regions by hand") && good;
  /* 300 300 316 reach 317 through 316: seven pixels. */
  c.speckle_size = 7;
  static const uint16_t want7[24] = {0, 0, 0, 0, 300, 317, 0, 0, 0, 0, 300, 317,
                                     0, 0, 0, 0, 316, 317, 0, 0, 0, 0, 0,   317};
  good = filter_gives(check, name, &c, 1, in, want7, "seven pixels") && good;
  c.speckle_size = 8;
  static const uint16_t none[24] = {0};
  good = filter_gives(check, name, &c, 1, in, none, "eight pixels") && good;
}

/* Larger random maps compared with the reference: long winding regions, all band boundaries. */
static void check_filters(RvCheck *check, const char *name, RvRandom *random) {
  enum { W = 61, H = 47 };
  int good = 1;
  for (int n = 0; good && n < 40; n++) {
    static uint16_t in[W * H], want[W * H], got[W * H];
    RvSgmConfig c;
    rv_sgm_config_init(&c);
    c.width = W;
    c.height = H;
    c.threads = 1 + n % 7;
    c.median = n % 4 < 2 ? 3 : 5;
    c.speckle_size = rvc_range(random, 2, 60);
    c.speckle_range = rvc_range(random, 0, 2);
    const int holes = rvc_range(random, 0, 60), levels = rvc_range(random, 1, 6);
    for (int i = 0; i < W * H; i++)
      in[i] = (uint16_t)(rvc_range(random, 0, 99) < holes
                             ? 0
                             : 1 + 16 * rvc_range(random, 0, levels) + rvc_range(random, 0, 3));
    const int speckle = n % 2;
    if (speckle)
      rv_sgm_reference_speckle(W, H, c.speckle_size, c.speckle_range, in, want);
    else
      rv_sgm_reference_median(W, H, c.median, in, want);
    const RvPlane a = {want, 2 * W, W, H, RV_U16}, b = {got, 2 * W, W, H, RV_U16};
    good = filter(check, name, &c, speckle, in, got) &&
           rvc_same(check, name, &a, &b, speckle ? "speckle" : "median");
  }
}

RVC_CASES(rv_sgm_hand_cases, RVC_CASE("sgm/rules", check_rules, 0),
          RVC_CASE("sgm/step", check_step, 0), RVC_CASE("sgm/flat", check_flat, 0),
          RVC_CASE("sgm/median", check_median, 0), RVC_CASE("sgm/speckle", check_speckle, 0),
          RVC_CASE("sgm/filters", check_filters, 0));
