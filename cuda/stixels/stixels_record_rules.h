/* SPDX-License-Identifier: MIT */
/* stixels_record_rules.h: scalar rules of records that both engines share: their planes in image
 * rows, and how well pixels fit them. As in stixels_rules.h. */
#ifndef RV_STIXELS_RECORD_RULES_H
#define RV_STIXELS_RECORD_RULES_H

#include "stixels/stixels_rules.h"

/* The record of rows of cells bottom..top; v of image row y is (height - (step + 1) / 2 - y) /
 * step. */
RV_HD RvStixel rv_stixels_record(const RvStixelsPlan *plan, int column, int bottom, int top,
                                 int structure, const RvStixelsPlane *plane, int32_t cost) {
  RvStixel s;
  const double unit = 1.0 / 16777216.0, step = (double)plan->config.vertical_step;
  const double slope = (double)plane->slope * unit;
  const double at = (double)plane->at * unit;
  const double row =
      ((double)(2 * plan->config.height - plan->config.vertical_step - 1) / 2.0) / step -
      (double)bottom;
  s.column = (uint16_t)(column * plan->config.stixel_width);
  s.v_bottom = (uint16_t)(plan->config.height - 1 - bottom * plan->config.vertical_step);
  s.v_top = (uint16_t)rv_max(plan->config.height - (top + 1) * plan->config.vertical_step, 0);
  s.structure = (uint8_t)structure;
  s.semantic = RV_SEMANTIC_NONE;
  s.slope = (float)((0.0 - slope) / step);
  s.intercept = (float)(at + slope * row);
  s.cost = (float)((double)cost / 1024.0);
  return s;
}

/* 1/16 px of a stixel in image row y. */
RV_HD uint16_t rv_stixels_rendered(const RvStixel *s, int y) {
  const double x = floor(((double)s->slope * (double)y + (double)s->intercept) * 16.0 + 0.5);
  return (uint16_t)(x > 65535.0 ? 65535.0 : x >= 1.0 ? x : 1.0);
}

#define RV_STIXELS_MISFIT 48 /* 1/16 px, of a pixel, at most */

/* Difference between a pixel and the plane of a stixel in its row (rv_stixels_rendered), 1/16 px,
 * at most 3 px. An invalid pixel is half of that away from ground and objects, and fits sky. */
RV_HD int rv_stixels_residual(int structure, int rendered, int disparity) {
  const int off = rv_min(rv_abs(disparity - rendered), RV_STIXELS_MISFIT);
  const int empty = structure == RV_STIXEL_SKY ? 0 : RV_STIXELS_MISFIT / 2;
  return disparity == 0 ? empty : off;
}

/* A label of another class counts as much as a wrong disparity; an unknown one fits all. */
RV_HD int rv_stixels_label_residual(const RvStixelsPlan *plan, const RvStixel *s, int label) {
  return label < plan->semantics && label != s->semantic ? RV_STIXELS_MISFIT : 0;
}

#endif
