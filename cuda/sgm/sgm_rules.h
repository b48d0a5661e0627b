/* SPDX-License-Identifier: MIT */
/* sgm_rules.h: constants and scalar rules of semi-global matching that both engines share. Loops
 * are never shared: each engine has its own.
 *
 * Valid everywhere:
 *  - A cell is (x, y, k) with k = 0 .. disparities - 1; its disparity is d = min_disparity + k.
 *  - Its cost compares left (x, y) with right (max(x - d, 0), y): left of the right view, the
 *    descriptor of column 0 is used for every d. It is at most rv_sgm_cost_max ().
 *  - A path starts with L = cost on its first pixel inside the image; that is every pixel whose
 *    predecessor (x - rx, y - ry) lies outside.
 *  - P2 belongs to one step of one path: adaptive P2 reads the left view at the pixel and at its
 *    predecessor along that path.
 *  - P1 of a step along a row is p1. On a vertical or diagonal step, k - 1 -> k going down and
 *    k + 1 -> k going up cost rv_sgm_p1_ground (), the other change p1.
 *  - The right disparity of (xr, y) is chosen among the cells (xr + d, y, k) whose left pixel is
 *    inside the image; where there is none, it is RV_SGM_NO_MATCH. No left pixel ever reads it
 *    there.
 *  - Left-right check, median and speckle filter work on stored values and on the winner k, which
 *    is kept separately: a stored value with an offset of +-8/16 does not tell which k it came
 *    from.
 *
 * A further matching cost needs: a value of RvSgmCost with its row in sgm.c, its size and largest
 * cost below, one function per engine that computes its descriptor (sgm_cpu_sweep.c,
 * sgm_cuda_census.cu), and the same in the reference implementation of the tests. Descriptors have
 * 4 or 8 bytes; everything after them depends on that number and on the largest cost alone. */
#ifndef RV_SGM_RULES_H
#define RV_SGM_RULES_H

#include "rv_hd.h"
#include "sgm/sgm.h"

/* The census window is 9 wide and 7 high; coordinates outside are clamped to the image.
 *
 * Bits of a descriptor, s(u, v) = u >= v:
 *   csct    bit 7 (i - 1) + (j + 3) = s(I(x+i, y+j), I(x-i, y-j)), i = 1..4, j = -3..3;
 *           bit 28 + (j - 1)        = s(I(x, y+j), I(x, y-j)),     j = 1..3   (eq. 2.1)
 *   census  bit n = s(I(x+i, y+j), I(x, y)), n counting (j, i) row by row from (-3, -4), without
 *           the center.
 *   mixed   bits 0 to 15: s(I(x+i, y+j), I(x-i, y-j)) for rv_sgm_mixed_pair (n);
 *           bits 16 to 31: s(I(x+i, y+j), t) for rv_sgm_mixed_center (n - 16), t the mean of the
 *           3x3 block around the center rounded up: 9 I >= sum is the same as I >= t. */
#define RV_SGM_RADIUS_X 4
#define RV_SGM_RADIUS_Y 3
#define RV_SGM_CSCT_BITS 31
#define RV_SGM_CENSUS_BITS 62
#define RV_SGM_MIXED_BITS 32
#define RV_SGM_MIXED_COST_MAX 14 /* default limit */

/* Right disparity where no left pixel can match. */
#define RV_SGM_NO_MATCH 0xFFFF

/* Largest S: 16 bits. */
#define RV_SGM_SUM_MAX 65535

/* Offset of pair n = 0..15 of the mixed descriptor: i = 1..4, j = -3..3 with i + j odd, i first,
 * then (0, 1) and (0, 3). */
typedef struct RvSgmOffset {
  int x, y;
} RvSgmOffset;
RV_HD RvSgmOffset rv_sgm_mixed_pair(int n) {
  /* i = 1 and 3 have j = -2, 0, 2; i = 2 and 4 have j = -3, -1, 1, 3. */
  const int odd = n % 7 < 3, i = n / 7 * 2 + (odd ? 1 : 2);
  const RvSgmOffset side = {i, odd ? 2 * (n % 7) - 2 : 2 * (n % 7 - 3) - 3};
  const RvSgmOffset above = {0, n == 14 ? 1 : 3};
  return n < 14 ? side : above;
}

/* Offset of neighbor n = 0..15 of the mixed descriptor: |i|, |j| <= 2 with i + j even, row by row,
 * without the center; then (4, 0), (-4, 0), (0, 3), (0, -3). */
RV_HD RvSgmOffset rv_sgm_mixed_center(int n) {
  /* The 13 positions of the checkerboard are every other one of 25; the center is number 6. */
  const int at = 2 * (n < 6 ? n : n + 1), far = n % 2 ? -1 : 1;
  const RvSgmOffset near = {at % 5 - 2, at / 5 - 2};
  const RvSgmOffset wide = {n < 14 ? 4 * far : 0, n < 14 ? 0 : 3 * far};
  return n < 12 ? near : wide;
}

/* Mean of 9 gray levels, rounded up, from their sum. */
RV_HD int rv_sgm_mean_up(int sum) {
  return (sum + 8) * 7282 >> 16; /* exact up to 9 * 255 */
}

/* Bits of a descriptor. */
RV_HD int rv_sgm_bits(RvSgmCost cost) {
  return cost == RV_SGM_CENSUS  ? RV_SGM_CENSUS_BITS
         : cost == RV_SGM_MIXED ? RV_SGM_MIXED_BITS
                                : RV_SGM_CSCT_BITS;
}

/* Largest matching cost. */
RV_HD int rv_sgm_cost_max(const RvSgmConfig *config) {
  const int bits = rv_sgm_bits(config->cost);
  const int automatic = config->cost == RV_SGM_MIXED ? RV_SGM_MIXED_COST_MAX : bits;
  return rv_min(bits, config->max_cost ? config->max_cost : automatic);
}

/* P1 of a change as on the ground. */
RV_HD int rv_sgm_p1_ground(const RvSgmConfig *config) {
  const int automatic = config->cost == RV_SGM_MIXED ? config->p1 / 2 : config->p1;
  return config->p1_ground < 0 ? automatic : config->p1_ground;
}

/* 1: equiangular fit, 0: parabola. */
RV_HD int rv_sgm_is_equiangular(const RvSgmConfig *config) {
  return config->subpixel_fit == RV_SGM_FIT_EQUIANGULAR ||
         (config->subpixel_fit == RV_SGM_FIT_AUTO && config->cost == RV_SGM_MIXED);
}

/* Bytes of a descriptor: 4 or 8. */
RV_HD int rv_sgm_descriptor_bytes(RvSgmCost cost) {
  return cost == RV_SGM_CENSUS ? 8 : 4;
}

/* Largest L on any path: the cost plus the remainder after the minimum of the previous pixel has
 * been subtracted. Every value inside a step (L + p1 included) is at most this plus p1. */
RV_HD int rv_sgm_path_max(const RvSgmConfig *config) {
  return rv_sgm_cost_max(config) + config->p2;
}

/* P2 of the step from a pixel with gray level `before` to one with `here`. */
RV_HD int rv_sgm_adapted_p2(int p2, int p2_min, int gradient, int here, int before) {
  return rv_max(p2_min, p2 - gradient * rv_abs(here - before));
}

/* 1 when the best S is unique; `second` is the smallest S at |k - best k| > 1. Testing that one is
 * enough: if it passes, every larger one does. */
RV_HD int rv_sgm_unique(int best, int second, int uniqueness) {
  return second * (100 - uniqueness) >= 100 * best;
}

/* Offset of the curve's lowest point in 1/16 px, -8..8, rounded half up; a, b, c are S at k - 1, k,
 * k + 1 with b the smallest. 16 (a - c) / (2 curve), 0 where it is flat. */
RV_HD int rv_sgm_curve(int a, int b, int c, int equiangular) {
  return equiangular ? rv_max(a, c) - b : a - 2 * b + c;
}
RV_HD int rv_sgm_offset(int a, int b, int c, int equiangular) {
  const int curve = rv_sgm_curve(a, b, c, equiangular);
  return curve > 0 ? rv_div_floor(16 * (a - c) + curve, 2 * curve) : 0;
}

/* Stored value of winner k with that offset: 0 means invalid, so a true 0 becomes 1. At most
 * 16 * (3584 + 511) + 8. Offsets exist only for 1 <= k <= disparities - 2. */
RV_HD int rv_sgm_value(int min_disparity, int k, int offset) {
  return rv_max(1, RV_SGM_SCALE * (min_disparity + k) + offset);
}

/* Index of a confidence by the margin between the best S and the smallest one farther away than
 * RV_SGM_GAP; scale is that of the plan, which makes margins of all numbers of paths and limits of
 * the cost alike. */
#define RV_SGM_GAP 4
RV_HD int rv_sgm_margin(int best, int second, int scale) {
  return rv_min(255, (second - best) * scale >> 8);
}
RV_HD int rv_sgm_margin_scale(const RvSgmConfig *config) {
  return 256 * 4 * RV_SGM_MIXED_COST_MAX / (config->paths * rv_sgm_cost_max(config));
}

/* Left-right check of the left pixel in column x with winner k. The caller passes the right
 * disparity at column x - (min_disparity + k), anything where that is negative. */
RV_HD int rv_sgm_passes_lr_check(int x, int min_disparity, int k, int right_k, int max_lr_diff) {
  return x - (min_disparity + k) >= 0 && rv_abs(k - right_k) <= max_lr_diff;
}

/* Sky: a candidate, and the minimum sum of a window that is bright enough. */
#define RV_SGM_SKY_NEAREST (8 * RV_SGM_SCALE)
#define RV_SGM_SKY_TEXTURE 384
#define RV_SGM_SKY_WINDOW 63 /* px */
RV_HD int rv_sgm_sky_gradient(int here, int right, int below) {
  return rv_abs(right - here) + rv_abs(below - here);
}
RV_HD int rv_sgm_sky_brightness(int64_t total, int64_t pixels) {
  return (int)((RV_SGM_SKY_WINDOW * total + pixels - 1) / pixels);
}
RV_HD int rv_sgm_is_sky_like(int disparity, int texture, int sum, int brightness) {
  return disparity <= RV_SGM_SKY_NEAREST && texture < RV_SGM_SKY_TEXTURE && sum >= brightness;
}

/* Fill: stored value of a pixel between ends l and r, RV_SGM_INVALID where there is none, in a run
 * of `length` px; raw: that of the winner. */
#define RV_SGM_FILL_REGION 200 /* px, of the regions that ends are in */
#define RV_SGM_FILL_RADIUS 5   /* of the weighted median */
RV_HD int rv_sgm_fill_value(int l, int r, int raw, int length) {
  if (l == RV_SGM_INVALID || r == RV_SGM_INVALID)
    return l != RV_SGM_INVALID ? l : r != RV_SGM_INVALID ? r : raw;
  const int low = rv_min(l, r), high = rv_max(l, r);
  const int inside = raw >= low - RV_SGM_SCALE && raw <= high + RV_SGM_SCALE;
  return inside && 2 * (high - low) <= RV_SGM_SCALE * length ? raw : low;
}

/* Speckle: whether two stored values of 4-neighbors belong to the same region. */
RV_HD int rv_sgm_same_region(int a, int b, int speckle_range) {
  return a != RV_SGM_INVALID && b != RV_SGM_INVALID &&
         rv_abs(a - b) <= RV_SGM_SCALE * speckle_range;
}

#endif
