/* SPDX-License-Identifier: MIT */
/* hough_rules.h: scalar rules of the Hough transform, compiled into both engines. Internal. */
#ifndef RV_HOUGH_RULES_H
#define RV_HOUGH_RULES_H

#include "hough/hough.h"
#include "rv_hd.h"

/* One angle. bin = (x * c + y * s + k) >> shift: below 2^32, or in 64 bits in a wide plan.
 * ux, uy: the normal's direction in 1 / 2^14, for the gradient's direction.
 * Along a line: minor coordinate = (bin - rho_zero) * per_bin + major coordinate * slope, in
 * 1 / 2^20 px; the major coordinate is y where the line is steep, else x. */
typedef struct RvHoughAngle {
  int64_t k;
  int64_t per_bin;
  int32_t c, s;
  int32_t slope;
  int16_t ux, uy;
  int32_t is_steep;
  int32_t reserved;
} RvHoughAngle;

#define RV_HOUGH_LINE_LOG 20

#define RV_HOUGH_UNIT_LOG 14

/* What the config comes down to. */
typedef struct RvHoughSpace {
  int width, height; /* px */
  int angles, first; /* accumulator row r is angle k = first + r */
  int bins;          /* of an angle */
  int rho_zero;      /* bin of rho = 0 */
  int shift;
  int is_wide;   /* bins are found in 64 bits */
  int wraps;     /* the angles cover the half circle */
  int threshold; /* a line has more votes */
  int max_lines;
  int tangent; /* of `direction` in 1 / 2^14; -1: every angle */
  int weighted;
  int min_length, max_gap; /* px; min_length -1: no segments */
  float rho_step;          /* px */
  float theta_step;        /* radians */
} RvHoughSpace;

/* A pixel of the list: x in bits 0..15, y in 16..31. */
RV_HD uint32_t rv_hough_point(int x, int y) {
  return (uint32_t)x | (uint32_t)y << 16;
}

RV_HD int rv_hough_bin_wide(const RvHoughAngle *a, uint32_t x, uint32_t y, int shift) {
  return (int)(((int64_t)x * a->c + (int64_t)y * a->s + a->k) >> shift);
}

/* A gradient in one word: gx in the low half, gy in the high half, two's complement. */
RV_HD uint32_t rv_hough_pack(int gx, int gy) {
  return ((uint32_t)gx & 0xffff) | (uint32_t)gy << 16;
}
RV_HD int rv_hough_gx(uint32_t gradient) {
  return (int16_t)(gradient & 0xffff);
}
RV_HD int rv_hough_gy(uint32_t gradient) {
  return (int16_t)(gradient >> 16);
}

/* Sobel of the 3x3 window a b c / d . f / g h i. */
RV_HD uint32_t rv_hough_sobel(int a, int b, int c, int d, int f, int g, int h, int i) {
  return rv_hough_pack(c + 2 * f + i - a - 2 * d - g, g + 2 * h + i - a - 2 * b - c);
}

RV_HD int rv_hough_magnitude(uint32_t gradient) {
  return rv_abs(rv_hough_gx(gradient)) + rv_abs(rv_hough_gy(gradient));
}

/* Neighbor across the edge: 0 (1, 0), 1 (1, 1), 2 (0, 1), 3 (-1, 1); its opposite is the other
 * one. Sectors of 45 degrees: tan(22.5 degrees) = 13573 / 2^15. */
RV_HD int rv_hough_sector(uint32_t gradient) {
  const int gx = rv_hough_gx(gradient), gy = rv_hough_gy(gradient);
  const int ax = rv_abs(gx), ay = rv_abs(gy);
  if (ay * 32768 <= ax * 13573)
    return 0;
  if (ax * 32768 < ay * 13573)
    return 2;
  return (gx ^ gy) < 0 ? 3 : 1;
}
RV_HD int rv_hough_sector_x(int sector) {
  return sector == 2 ? 0 : (sector == 3 ? -1 : 1);
}
RV_HD int rv_hough_sector_y(int sector) {
  return sector == 0 ? 0 : 1;
}

/* 1 when a pixel of this gradient votes at this angle: the angle between normal and gradient, as
 * lines, is at most the limit. */
RV_HD int rv_hough_is_near(const RvHoughAngle *a, uint32_t gradient, int tangent) {
  const int gx = rv_hough_gx(gradient), gy = rv_hough_gy(gradient);
  const int cross = rv_abs(gx * a->uy - gy * a->ux), dot = rv_abs(gx * a->ux + gy * a->uy);
  return ((int64_t)cross << RV_HOUGH_UNIT_LOG) <= (int64_t)dot * tangent;
}

/* Row and bin of the neighbor one step of theta on or back (step = 1 or -1); 0: there is none. */
RV_HD int rv_hough_beside(const RvHoughSpace *p, int row, int bin, int step, int *to_row,
                          int *to_bin) {
  *to_row = row + step;
  *to_bin = bin;
  if (*to_row >= 0 && *to_row < p->angles)
    return 1;
  *to_row = step < 0 ? p->angles - 1 : 0;
  *to_bin = 2 * p->rho_zero - bin;
  return p->wraps && *to_bin >= 0 && *to_bin < p->bins;
}

/* Order of lines: the larger key comes first. */
RV_HD uint64_t rv_hough_key(uint32_t votes, uint32_t index) {
  return (uint64_t)votes << 32 | (0xffffffffu - index);
}

RV_HD RvLine rv_hough_line(const RvHoughSpace *p, uint64_t key) {
  const uint32_t index = 0xffffffffu - (uint32_t)key;
  const int row = (int)(index / (uint32_t)p->bins), bin = (int)(index % (uint32_t)p->bins);
  RvLine line;
  line.rho = (float)(bin - p->rho_zero) * p->rho_step;
  line.theta = (float)(p->first + row) * p->theta_step;
  line.votes = (uint32_t)(key >> 32);
  line.x0 = line.y0 = line.x1 = line.y1 = 0;
  return line;
}

/* --- Segments ------------------------------------------------------------------------------------
 */

/* Minor coordinate of the line at `major`, px, half up. */
RV_HD int rv_hough_minor(const RvHoughAngle *a, int offset, int major) {
  const int64_t at = (int64_t)offset * a->per_bin + (int64_t)major * a->slope;
  return (int)((at + (1 << (RV_HOUGH_LINE_LOG - 1))) >> RV_HOUGH_LINE_LOG);
}

/* Runs of hits along a line, hit after hit. Zeroed at first, with last = -1. */
typedef struct RvHoughRun {
  int first, last;           /* the current run; last -1: none yet */
  int best_first, best_last; /* the longest so far, the first of several */
  int has_best;
} RvHoughRun;

RV_HD void rv_hough_run_close(RvHoughRun *r) {
  if (r->last >= 0 && (!r->has_best || r->last - r->first > r->best_last - r->best_first)) {
    r->best_first = r->first;
    r->best_last = r->last;
    r->has_best = 1;
  }
}
RV_HD void rv_hough_run_hit(RvHoughRun *r, int major, int max_gap) {
  if (r->last < 0 || major - r->last - 1 > max_gap) {
    rv_hough_run_close(r);
    r->first = major;
  }
  r->last = major;
}

/* End points of the best run, inside the image; 0 when it is shorter than min_length. */
RV_HD int rv_hough_run_end(const RvHoughRun *r, const RvHoughAngle *a, const RvHoughSpace *p,
                           int offset, RvLine *line) {
  if (!r->has_best)
    return 0;
  const int most = (a->is_steep ? p->width : p->height) - 1;
  const int m0 = rv_clamp(rv_hough_minor(a, offset, r->best_first), 0, most);
  const int m1 = rv_clamp(rv_hough_minor(a, offset, r->best_last), 0, most);
  line->x0 = (int16_t)(a->is_steep ? m0 : r->best_first);
  line->y0 = (int16_t)(a->is_steep ? r->best_first : m0);
  line->x1 = (int16_t)(a->is_steep ? m1 : r->best_last);
  line->y1 = (int16_t)(a->is_steep ? r->best_last : m1);
  const int64_t dx = line->x1 - line->x0, dy = line->y1 - line->y0;
  return dx * dx + dy * dy >= (int64_t)p->min_length * p->min_length;
}

#endif
