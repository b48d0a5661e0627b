/* SPDX-License-Identifier: MIT */
/* rectify_maps.h: makes the maps on the host. Internal. */
#ifndef RV_RECTIFY_MAPS_H
#define RV_RECTIFY_MAPS_H

#include "rectify/rectify_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills the plan behind its config. RV_ERR_ARG only when the config is invalid. */
RvStatus rv_rectify_make_plan(RvRectifyPlan *plan);

/* Bytes of the map of a grid. */
size_t rv_rectify_map_bytes(const RvRectifyGrid *grid);

/* Fills the map of grid g, row after row. `spans` (NULL: none) has two per row of the plane, of the
 * first and the second view: columns whose source samples i, i + 1, ... i + RV_RECTIFY_MARGIN of
 * two rows are inside of the view. */
#define RV_RECTIFY_MARGIN 3

void rv_rectify_make_map(const RvRectifyPlan *plan, int g, void *map, RvRectifySpan *spans);

#ifdef __cplusplus
}
#endif
#endif
