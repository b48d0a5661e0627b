/* SPDX-License-Identifier: MIT */
/* stixels_vote_rules.h: scalar rules of the ground plane that both engines share: the vote for its
 * line, and the plane of a surface. As in stixels_rules.h. */
#ifndef RV_STIXELS_VOTE_RULES_H
#define RV_STIXELS_VOTE_RULES_H

#include "stixels/stixels_rules.h"

/* Line `line` (bottom major) as a plane. */
RV_HD RvStixelsPlane rv_stixels_line_plane(const RvStixelsPlan *plan, int line) {
  const int bottom = (line / RV_STIXELS_HORIZONS + 1) * plan->bottom_step;
  const int64_t horizon =
      (int64_t)plan->rows * (RV_STIXELS_HORIZON_FIRST + line % RV_STIXELS_HORIZONS);
  RvStixelsPlane plane;
  plane.at = (int64_t)bottom << 24;
  plane.slope = -(int64_t)((double)((int64_t)bottom << 30) / (double)horizon); /* exact: < 2^52 */
  return plane;
}

/* Integer px of a cell: its bin in the histogram. */
RV_HD int rv_stixels_bin(int disparity) {
  return (disparity + 8) >> 4;
}

/* The bins of the cells on the line in a row: within 1 px + 1/16 of its integer px. Empty: high is
 * below low. */
typedef struct RvStixelsBins {
  int low, high;
} RvStixelsBins;

RV_HD RvStixelsBins rv_stixels_on_line(const RvStixelsPlane *line, int row, int bins) {
  const int mu = rv_stixels_sixteenth(line, row), px = rv_stixels_bin(mu);
  const RvStixelsBins on = {rv_max(px - 1 - px / 16, 0), rv_min(px + 1 + px / 16, bins - 1)};
  const RvStixelsBins none = {0, -1};
  return mu > 0 ? on : none;
}

/* Sums over the cells on the line. */
typedef struct RvStixelsRoad {
  int64_t n, v, vv, d, vd;
} RvStixelsRoad;

/* Rows of cells in which a line is 2 px or more. */
RV_HD int rv_stixels_line_rows(const RvStixelsPlan *plan, int line) {
  const uint32_t bottom = (uint32_t)((line / RV_STIXELS_HORIZONS + 1) * plan->bottom_step);
  const uint32_t horizon =
      (uint32_t)(plan->rows * (RV_STIXELS_HORIZON_FIRST + line % RV_STIXELS_HORIZONS));
  const uint32_t rows = bottom < 2 ? 0 : horizon * (2 * bottom - 3) / (128 * bottom);
  return rv_min((int)rows, plan->rows);
}

/* The state after a frame whose best line has `score` votes. */
RV_HD void rv_stixels_follow(const RvStixelsPlan *plan, int line, int score, const RvStixelsRoad *r,
                             RvStixelsState *state) {
  state->score = score;
  if ((int64_t)score * 8 < (int64_t)plan->cap * plan->rows ||
      (int64_t)score * 2 < (int64_t)plan->cap * rv_stixels_line_rows(plan, line))
    return;
  RvStixelsPlane seen = rv_stixels_line_plane(plan, line);
  const double n = (double)r->n, v = (double)r->v, vv = (double)r->vv;
  const double d = (double)r->d, vd = (double)r->vd, det = n * vv - v * v;
  if (det > 0) {
    const double a = (vv * d - v * vd) / det, b = (n * vd - v * d) / det;
    if (b < 0) {
      seen.at = rv_stixels_fixed(a);
      seen.slope = rv_stixels_fixed(b);
    }
  }
  if (state->found == 0) {
    state->ground = seen;
  } else {
    state->ground.at += (seen.at - state->ground.at + 2) >> 2;
    state->ground.slope += (seen.slope - state->ground.slope + 2) >> 2;
  }
  state->found = rv_min(state->found + 1, RV_STIXELS_INFINITE);
}

/* The plane of a frame with a vote: while a road is known that of the frames before, for which
 * nothing has to wait, else that after the vote. */
RV_HD RvStixelsPlane rv_stixels_voted(const RvStixelsState *before, const RvStixelsState *after) {
  return before->found > 0 ? before->ground : after->ground;
}

/* The state with the plane of a surface, at the center column; unchanged without one. */
RV_HD void rv_stixels_take(const RvStixelsPlan *plan, const RvGroundSurface *surface,
                           RvStixelsState *state) {
  const RvStixelsConfig *c = &plan->config;
  const double row = c->height - (c->vertical_step + 1) / 2.0, column = (c->width - 1) / 2.0;
  const double at = surface->slope_y * row + surface->slope_x * column + surface->intercept;
  state->score = 0;
  if (surface->slope_y > 0 && surface->slope_y < RV_GROUND_SLOPE_MAX &&
      surface->slope_x > -RV_GROUND_SLOPE_MAX && surface->slope_x < RV_GROUND_SLOPE_MAX &&
      at > -65536 && at < 65536) {
    state->ground.at = rv_stixels_fixed(at * 16);
    state->ground.slope = rv_stixels_fixed(-surface->slope_y * c->vertical_step * 16);
    state->found = rv_min(state->found + 1, RV_STIXELS_INFINITE);
  }
}

#endif
