/* SPDX-License-Identifier: MIT */
/* sgm_rules.h: constants and scalar rules of semi-global matching that both engines share. Loops
 * are never shared: each engine has its own.
 *
 * Valid everywhere:
 *  - A cell is (x, y, k) with k = 0 .. disparities - 1; its disparity is d = min_disparity + k.
 *  - Its cost compares left (x, y) with right (max(x - d, 0), y): left of the right view, the
 *    descriptor of column 0 is used for every d.
 *  - A path starts with L = cost on its first pixel inside the image; that is every pixel whose
 *    predecessor (x - rx, y - ry) lies outside.
 *  - P2 belongs to one step of one path: adaptive P2 reads the left view at the pixel and at its
 *    predecessor along that path.
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
 *           the center. */
#define RV_SGM_RADIUS_X 4
#define RV_SGM_RADIUS_Y 3
#define RV_SGM_CSCT_BITS 31
#define RV_SGM_CENSUS_BITS 62

/* Right disparity where no left pixel can match. */
#define RV_SGM_NO_MATCH 0xFFFF

/* Largest S: 16 bits. */
#define RV_SGM_SUM_MAX 65535

/* Largest matching cost. */
RV_HD int rv_sgm_cost_max(RvSgmCost cost) {
  return cost == RV_SGM_CENSUS ? RV_SGM_CENSUS_BITS : RV_SGM_CSCT_BITS;
}

/* Bytes of a descriptor: 4 or 8. */
RV_HD int rv_sgm_descriptor_bytes(RvSgmCost cost) {
  return cost == RV_SGM_CENSUS ? 8 : 4;
}

/* Largest L on any path: the cost plus the remainder after the minimum of the previous pixel has
 * been subtracted. Every value inside a step (L + p1 included) is at most this plus p1. */
RV_HD int rv_sgm_path_max(RvSgmCost cost, int p2) {
  return rv_sgm_cost_max(cost) + p2;
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

/* Offset of the parabola's lowest point in 1/16 px, -8..8, rounded half up; a, b, c are S at
 * k - 1, k, k + 1 with b the smallest. 16 (a - c) / (2 (a - 2 b + c)), 0 where it is flat. */
RV_HD int rv_sgm_offset(int a, int b, int c) {
  const int curve = a - 2 * b + c;
  return curve > 0 ? rv_div_floor(16 * (a - c) + curve, 2 * curve) : 0;
}

/* Stored value of winner k with that offset: 0 means invalid, so a true 0 becomes 1. At most
 * 16 * (3584 + 511) + 8. Offsets exist only for 1 <= k <= disparities - 2. */
RV_HD int rv_sgm_value(int min_disparity, int k, int offset) {
  return rv_max(1, RV_SGM_SCALE * (min_disparity + k) + offset);
}

/* 0..255; also 0 where the disparity is invalid after all stages. */
RV_HD int rv_sgm_confidence(int best, int second) {
  return second > 0 ? 255 * (second - best) / second : 0;
}

/* Left-right check of the left pixel in column x with winner k. The caller passes the right
 * disparity at column x - (min_disparity + k), anything where that is negative. */
RV_HD int rv_sgm_passes_lr_check(int x, int min_disparity, int k, int right_k, int max_lr_diff) {
  return x - (min_disparity + k) >= 0 && rv_abs(k - right_k) <= max_lr_diff;
}

/* Speckle: whether two stored values of 4-neighbours belong to the same region. */
RV_HD int rv_sgm_same_region(int a, int b, int speckle_range) {
  return a != RV_SGM_INVALID && b != RV_SGM_INVALID &&
         rv_abs(a - b) <= RV_SGM_SCALE * speckle_range;
}

#endif
