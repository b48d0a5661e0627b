/* SPDX-License-Identifier: MIT */
/* sgm_rules.h: constants and scalar rules of semi-global matching that both engines share. Loops
 * are never shared: each engine has its own.
 *
 * What holds everywhere:
 *  - A cell is (x, y, k) with k = 0 .. disparities - 1; its disparity is d = min_disparity + k.
 *  - Its cost compares left (x, y) with right (max(x - d, 0), y): beyond the right picture's left
 *    edge stands the descriptor of column 0, for every d.
 *  - A path starts with L = cost on its first pixel inside the picture; that is every pixel whose
 *    predecessor (x - rx, y - ry) lies outside.
 *  - P2 belongs to one step of one path: adaptive P2 reads the left picture at the pixel and at its
 *    predecessor along that path.
 *  - The right disparity of (xr, y) looks at the cells (xr + d, y, k) whose left pixel is inside
 *    the picture; where none is, it is RV_SGM_NO_MATCH. No left pixel ever asks for that place.
 *  - Left-right, median and speckle work on stored values and on the winner k, which is kept apart:
 *    a stored value with an offset of +-8/16 does not tell which k it came from. */
#ifndef RV_SGM_RULES_H
#define RV_SGM_RULES_H

#include "rv_hd.h"
#include "sgm/sgm.h"

/* The census window is 9 wide and 7 high; coordinates outside are clamped to the picture.
 *
 * Bits of a descriptor, s(u, v) = u >= v:
 *   csct    bit 7 (i - 1) + (j + 3) = s(I(x+i, y+j), I(x-i, y-j)), i = 1..4, j = -3..3;
 *           bit 28 + (j - 1)        = s(I(x, y+j), I(x, y-j)),     j = 1..3   (eq. 2.1)
 *   census  bit n = s(I(x+i, y+j), I(x, y)), n counting (j, i) row by row from (-3, -4), without
 *           the centre. */
#define RV_SGM_RADIUS_X 4
#define RV_SGM_RADIUS_Y 3
#define RV_SGM_CSCT_BITS 31
#define RV_SGM_CENSUS_BITS 62

/* Right disparity where no left pixel can match. */
#define RV_SGM_NO_MATCH 0xFFFF

/* Largest matching cost. */
RV_HD int rv_sgm_bits(RvSgmCost cost) {
  return cost == RV_SGM_CENSUS ? RV_SGM_CENSUS_BITS : RV_SGM_CSCT_BITS;
}

/* Largest L on any path: the cost plus what is left after the minimum of the pixel before has been
 * taken off. Every sum inside a step (L + p1 included) is at most this plus p1. */
RV_HD int rv_sgm_path_max(RvSgmCost cost, int p2) {
  return rv_sgm_bits(cost) + p2;
}

/* P2 of the step from a pixel with grey `before` to one with grey `here`. */
RV_HD int rv_sgm_adapted_p2(int p2, int p2_min, int gradient, int here, int before) {
  return rv_max(p2_min, p2 - gradient * rv_abs(here - before));
}

/* 1 when the best sum stands out; `second` is the smallest sum at |k - best k| > 1. Testing that
 * one is enough: if it passes, every larger one does. */
RV_HD int rv_sgm_unique(int best, int second, int uniqueness) {
  return second * (100 - uniqueness) >= 100 * best;
}

/* Offset of the parabola's lowest point in 1/16 px, -8..8, rounded half up; a, b, c are the sums at
 * k - 1, k, k + 1 with b the smallest. 16 (a - c) / (2 (a - 2 b + c)), 0 where it is flat. */
RV_HD int rv_sgm_offset(int a, int b, int c) {
  const int curve = a - 2 * b + c;
  return curve > 0 ? rv_div_floor(16 * (a - c) + curve, 2 * curve) : 0;
}

/* What is stored for winner k with that offset: 0 means no value, so a true 0 becomes 1. At most
 * 16 * (3584 + 511) + 8. Offsets exist only for 1 <= k <= disparities - 2. */
RV_HD int rv_sgm_value(int min_disparity, int k, int offset) {
  return rv_max(1, RV_SGM_SCALE * (min_disparity + k) + offset);
}

/* 0..255; 0 as well where the disparity does not survive all stages. */
RV_HD int rv_sgm_confidence(int best, int second) {
  return second > 0 ? 255 * (second - best) / second : 0;
}

/* Left-right check of the left pixel in column x with winner k. The caller passes the right
 * disparity at column x - (min_disparity + k), anything where that is negative. */
RV_HD int rv_sgm_passes_lr_check(int x, int min_disparity, int k, int right_k, int max_lr_diff) {
  return x - (min_disparity + k) >= 0 && rv_abs(k - right_k) <= max_lr_diff;
}

/* Median: the valid values of the window inside the picture, sorted; the one of this rank. */
RV_HD int rv_sgm_median_rank(int valid) {
  return (valid - 1) / 2;
}

/* Speckle: whether two stored values of 4-neighbours belong to one region. */
RV_HD int rv_sgm_same_region(int a, int b, int speckle_range) {
  return a != RV_SGM_INVALID && b != RV_SGM_INVALID &&
         rv_abs(a - b) <= RV_SGM_SCALE * speckle_range;
}

#endif
