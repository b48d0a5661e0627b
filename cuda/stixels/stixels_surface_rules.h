/* SPDX-License-Identifier: MIT */
/* stixels_surface_rules.h: what the surface around a cell says of its semantics, for sharing and
 * for the repair of labels: rules of one cell, its classes and its neighbors, that both engines
 * share. As in stixels_rules.h. */
#ifndef RV_STIXELS_SURFACE_RULES_H
#define RV_STIXELS_SURFACE_RULES_H

#include "stixels/stixels_rules.h"

#define RV_STIXELS_LIKE 8        /* 1/16 px: cells that differ by as much share no semantics */
#define RV_STIXELS_SURFACE 48    /* px, across and up: the part of a surface that judges a cell */
#define RV_STIXELS_ON_GROUND 24  /* 1/16 px from the expected ground: nearer cells are on it */
#define RV_STIXELS_NOWHERE 32767 /* height of a cell that is not */
#define RV_STIXELS_RIM 2         /* cells: what is as near to a contradicted one of its class */
#define RV_STIXELS_NO_LABEL 255  /* of a cell whose classes all cost the same */

/* Weight of a cell for the semantics of another, by their disparities. Sums over 129 x 129 cells of
 * weight times cost are below 2^30. */
RV_HD uint32_t rv_stixels_likeness(int a, int b) {
  const int off = a < b ? b - a : a - b;
  return (uint32_t)(off < RV_STIXELS_LIKE ? RV_STIXELS_LIKE - off : 0);
}

/* A cell as its surface sees it. */
typedef struct RvStixelsSpot {
  uint16_t disparity; /* 1/16 px */
  int16_t height;     /* above the expected ground, 1/16 px of disparity; RV_STIXELS_NOWHERE */
  uint16_t label;     /* index of its class; RV_STIXELS_NO_LABEL */
  uint16_t unused;
} RvStixelsSpot;

/* The class of least cost; ties: the lowest index. costs: [index], `step` apart. */
RV_HD RvStixelsSpot rv_stixels_spot(RvStixelsCell cell, int ground, const uint16_t *costs,
                                    size_t step, int classes) {
  RvStixelsSpot spot = {cell.disparity, RV_STIXELS_NOWHERE, 0, 0};
  const int height = cell.disparity - ground;
  if (cell.weight && height > -RV_STIXELS_ON_GROUND && height < RV_STIXELS_ON_GROUND)
    spot.height = (int16_t)height;
  int least = costs[0], most = least;
  for (int k = 1; k < classes; k++) {
    const int cost = costs[(size_t)k * step];
    if (cost < least)
      spot.label = (uint16_t)k;
    least = cost < least ? cost : least;
    most = cost > most ? cost : most;
  }
  if (least == most)
    spot.label = RV_STIXELS_NO_LABEL;
  return spot;
}

/* Whether two cells belong to one surface, 0 to RV_STIXELS_LIKE: of one depth, or both on the
 * ground. */
RV_HD uint32_t rv_stixels_alike(RvStixelsSpot a, RvStixelsSpot b) {
  const int height = a.height == RV_STIXELS_NOWHERE ? -RV_STIXELS_NOWHERE : a.height;
  const uint32_t depth = rv_stixels_likeness(a.disparity, b.disparity);
  const uint32_t ground = rv_stixels_likeness(height, b.height);
  return depth > ground ? depth : ground;
}

/* What a surface says of a cell, of whose class `own` of `total` are: less than 3 in 10 contradict
 * it if it is inside, less than half make it a minority. */
enum { RV_STIXELS_AGREED, RV_STIXELS_MINORITY, RV_STIXELS_CONTRADICTED };

RV_HD uint8_t rv_stixels_verdict(uint32_t own, uint32_t total, int is_inside) {
  return is_inside && 10 * own < 3 * total ? RV_STIXELS_CONTRADICTED
         : 2 * own < total                 ? RV_STIXELS_MINORITY
                                           : RV_STIXELS_AGREED;
}

/* Whether the cell of column x, row v gets another class: it is contradicted, or a minority and
 * near a contradicted one of its class. */
RV_HD int rv_stixels_is_wrong(const RvStixelsPlan *plan, const RvStixelsSpot *spots,
                              const uint8_t *verdicts, int x, int v) {
  const size_t rows = (size_t)plan->rows, at = (size_t)x * rows + (size_t)v;
  if (verdicts[at] != RV_STIXELS_MINORITY)
    return verdicts[at] == RV_STIXELS_CONTRADICTED;
  const int right = rv_min(x + RV_STIXELS_RIM, plan->columns - 1);
  const int high = rv_min(v + RV_STIXELS_RIM, plan->rows - 1);
  for (int u = rv_max(x - RV_STIXELS_RIM, 0); u <= right; u++)
    for (int t = rv_max(v - RV_STIXELS_RIM, 0); t <= high; t++) {
      const size_t near = (size_t)u * rows + (size_t)t;
      if (verdicts[near] == RV_STIXELS_CONTRADICTED && spots[near].label == spots[at].label)
        return 1;
    }
  return 0;
}

/* Whether so many cells within surfaces, of `inside`, are errors of the labels: 1 in 20. */
RV_HD int rv_stixels_is_doubtful(uint32_t contradicted, uint32_t inside) {
  return 20 * contradicted > inside;
}

/* A mean cost. The cell itself counts, so `weights` is not 0. */
RV_HD uint16_t rv_stixels_shared(uint32_t sum, uint32_t weights) {
  return (uint16_t)((sum + weights / 2) / weights);
}

#endif
