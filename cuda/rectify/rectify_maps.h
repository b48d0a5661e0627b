/* SPDX-License-Identifier: MIT */
/* rectify_maps.h: makes the maps on the host. Internal. */
#ifndef RV_RECTIFY_MAPS_H
#define RV_RECTIFY_MAPS_H

#include "rectify/rectify.h"
#include "rectify/rectify_rules.h"

enum { RV_RECTIFY_LUMA = 0, RV_RECTIFY_CHROMA, RV_RECTIFY_GRIDS };

/* Everything that follows from the config. */
typedef struct RvRectifyPlan {
  RvRectifyGeometry geometry;
  int grids;           /* 1, or 2 with chroma of its own */
  int cell_x, cell_y;  /* luma samples per chroma sample */
  RvRectifyGrid grid[RV_RECTIFY_GRIDS]; /* `wide` is set by rv_rectify_measure */
  int views[2];        /* of the first and the second view in the frame: 0 left, 1 right */
  int border[2];       /* value outside, luma (or RGB) and chroma */
  int is_identity;     /* set by rv_rectify_measure */
  RvRectifyRect valid; /* likewise */
} RvRectifyPlan;

/* Columns of one row of a view whose four source samples are all inside: first .. last - 1. */
typedef struct RvRectifySpan {
  int32_t first, last;
} RvRectifySpan;

/* Geometry and grids. */
RvStatus rv_rectify_plan(const RvRectifyConfig *config, RvRectifyPlan *plan);

/* Goes through the maps once without storing them: whether they need wide entries, whether they
 * change nothing, and the valid rectangle. */
RvStatus rv_rectify_measure(const RvRectifyConfig *config, RvRectifyPlan *plan);

/* Bytes of the map of a grid. */
size_t rv_rectify_map_bytes(const RvRectifyGrid *grid);

/* Fills the map of grid g, row after row, and, unless NULL, two spans per row. */
void rv_rectify_make_map(const RvRectifyConfig *config, const RvRectifyPlan *plan, int g, void *map,
                         RvRectifySpan *spans);

#endif
