/* SPDX-License-Identifier: MIT */
/* rdp_rules.h: constants and scalar rules that both engines share; never loops. */
#ifndef RV_RDP_RULES_H
#define RV_RDP_RULES_H

#include <stdint.h>

#include "rv_hd.h"

#define RV_RDP_EPSILON_STEPS 4096 /* of epsilon per px */

/* When a segment is cut. */
typedef struct RvRdpLimit {
  uint32_t epsilon; /* 1/4096 px, at most 2^24 */
  int perpendicular;
  int depth; /* segments of this depth are not split; the first segment of a piece has depth 1 */
} RvRdpLimit;

/* e of row i = f + k of a segment of `length` rows whose disparities rise by `rise`: `over` is
 * d_i - d_f. The terms wrap, their difference does not: |e| <= 65535 * 16383 < 2^30. */
RV_HD uint32_t rv_rdp_deviation(int rise, int k, int over, int length) {
  const int32_t e = (int32_t)((uint32_t)rise * (uint32_t)k - (uint32_t)over * (uint32_t)length);
  return e < 0 ? 0u - (uint32_t)e : (uint32_t)e;
}

/* e / length > epsilon: e is in 1/16 px times rows. */
RV_HD int rv_rdp_above_vertical(uint32_t e, int length, uint32_t epsilon) {
  return ((uint64_t)e << 8) > (uint64_t)epsilon * (uint32_t)length;
}

/* e^2 / (256 length^2 + rise^2) > (epsilon / 4096)^2, that is e^2 2^24 > epsilon^2 (256 length^2 +
 * rise^2): up to 2^84 against 2^86, in two words each. */
RV_HD int rv_rdp_above_perpendicular(uint32_t e, int length, int rise, uint32_t epsilon) {
  const uint64_t square = (uint64_t)e * e;
  const uint64_t left_high = square >> 40, left_low = square << 24;
  const uint64_t slant =
      256u * ((uint64_t)(uint32_t)length * (uint32_t)length) + (uint64_t)((int64_t)rise * rise);
  const uint64_t limit = (uint64_t)epsilon * epsilon;
  const uint64_t a = limit >> 32, b = limit & 0xffffffffu;
  const uint64_t c = slant >> 32, d = slant & 0xffffffffu;
  const uint64_t middle = a * d + b * c; /* below 2^49 */
  const uint64_t right_low = b * d + (middle << 32);
  const uint64_t right_high = a * c + (middle >> 32) + (right_low < b * d);
  return left_high > right_high || (left_high == right_high && left_low > right_low);
}

RV_HD int rv_rdp_above(uint32_t e, int length, int rise, const RvRdpLimit *limit) {
  return limit->perpendicular ? rv_rdp_above_perpendicular(e, length, rise, limit->epsilon)
                              : rv_rdp_above_vertical(e, length, limit->epsilon);
}

/* Row first + k of the segment from `from` to `to`, `length` > 0 rows further: rounded to nearest,
 * halves away from `from`. 2 * 65535 * 16383 + 16383 < 2^32. */
RV_HD int rv_rdp_between(int from, int to, int k, int length) {
  const uint32_t rise = (uint32_t)rv_abs(to - from);
  const int step = (int)((2u * rise * (uint32_t)k + (uint32_t)length) / (2u * (uint32_t)length));
  return to < from ? from - step : from + step;
}

/* Rank of the median among `count` > 0 values: the lower one of an even number. */
RV_HD int rv_rdp_median_rank(int count) {
  return (count - 1) / 2;
}

/* Bits of the rows above, and from `bit` of a word of 32 rows on: 0 <= bit <= 31. */
RV_HD uint32_t rv_rdp_from(int bit) {
  return 0xffffffffu << bit;
}
RV_HD uint32_t rv_rdp_after(int bit) {
  return 0xfffffffeu << bit;
}
RV_HD uint32_t rv_rdp_up_to(int bit) {
  return 0xffffffffu >> (31 - bit);
}

#endif
