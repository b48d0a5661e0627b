/* SPDX-License-Identifier: MIT */
/* stixels_refine_reference.c: reference implementation of boundaries at rows of pixels. */
#include <math.h>

#include "stixels_reference.h"

static int pixel(const RvPlane *plane, int x, int y) {
  const char *at = (const char *)plane->data + y * plane->stride;
  return plane->format == RV_U8 ? ((const uint8_t *)at)[x]
                                : ((const uint16_t *)(const void *)at)[x];
}

/* Whether the label of a pixel says that it is not of the stixel. */
static int is_other_label(const RvStixelsConfig *c, const RvPlane *labels, const RvStixel *s, int x,
                          int y) {
  if (!labels->data)
    return 0;
  const int u = (int)floor((double)x * labels->width / c->width);
  const int v = (int)floor((double)y * labels->height / c->height);
  const int label = pixel(labels, u, v);
  return label < c->semantics && label != s->semantic;
}

/* Sum of the differences in 1/16 px when the boundary is at row p. */
static double boundary_cost(const RvStixelsConfig *c, const RvStixelsInput *input,
                            const RvStixel *lower, const RvStixel *upper, int p, int reach) {
  const RvPlane *disparity = &input->disparity;
  double sum = 0;
  for (int y = lower->v_top - reach; y < lower->v_top + reach; y++)
    for (int x = lower->column; x < c->width && x < lower->column + c->stixel_width; x++) {
      if (y < 0 || y >= c->height)
        continue;
      const RvStixel *s = y >= p ? lower : upper;
      sum += is_other_label(c, &input->labels, s, x, y) ? 48 : 0;
      if (pixel(disparity, x, y) == 0) {
        sum += s->structure == RV_STIXEL_SKY ? 0 : 24;
        continue;
      }
      const double mu = floor(((double)s->slope * y + (double)s->intercept) * 16 + 0.5);
      sum += fmin(fabs(pixel(disparity, x, y) - fmax(mu, 1)), 48);
    }
  return sum;
}

void stixels_reference_refine(const RvStixelsConfig *c, const RvStixelsInput *input, RvStixel *list,
                              int count) {
  const int reach = c->refine ? (c->vertical_step - 1) / 2 : 0;
  for (int k = 1; k < count; k++) {
    RvStixel *lower = &list[k - 1], *upper = &list[k];
    int best = lower->v_top;
    double least = boundary_cost(c, input, lower, upper, best, reach);
    for (int away = 1; away <= reach; away++)
      for (int side = -1; side <= 1; side += 2) {
        const int p = lower->v_top + side * away;
        const double cost = p > 0 ? boundary_cost(c, input, lower, upper, p, reach) : INFINITY;
        if (cost < least) {
          least = cost;
          best = p;
        }
      }
    lower->v_top = (uint16_t)best;
    upper->v_bottom = (uint16_t)(best - 1);
  }
}
