/* SPDX-License-Identifier: MIT */
/* obstacles_reference.h: slow reference implementation of obstacles and free space. It shares plan
 * and scalar rules with the engines, no loop and no intermediate array. */
#ifndef RV_OBSTACLES_REFERENCE_H
#define RV_OBSTACLES_REFERENCE_H

#include "obstacles/obstacles_stages.h"

/* Results of one frame: boxes of RV_OBSTACLES_MAX, columns of all strips. */
typedef struct ObstaclesResult {
  RvObstacleBox boxes[RV_OBSTACLES_MAX];
  uint32_t counts[2];
  RvFreeColumn columns[RV_MAX_SIDE / 2];
} ObstaclesResult;

/* `plan` as rv_obstacles_make_plan leaves it. Clears what it does not write. */
void obstacles_reference(const RvObstaclesPlan *plan, const RvObstaclesSource *source,
                         ObstaclesResult *result);

/* Quantile and valid fraction of box k of `boxes` by sorting all its values. */
RvObstaclesDepth obstacles_reference_depth(const RvPlane *disparity, const RvObstaclesRect *rects,
                                           int boxes, int k);

#endif
