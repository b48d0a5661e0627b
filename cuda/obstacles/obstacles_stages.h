/* SPDX-License-Identifier: MIT */
/* obstacles_stages.h: jobs and stages of obstacles and free space. Not installed. */
#ifndef RV_OBSTACLES_STAGES_H
#define RV_OBSTACLES_STAGES_H

#include "obstacles/obstacles_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What rv_obstacles_distances() reads and writes. */
typedef struct RvObstaclesRects {
  const RvObstaclesRect *list;
  RvObstaclesDepth *depths;
  int count;
} RvObstaclesRects;

/* One call of run() or rv_obstacles_distances(). */
typedef struct RvObstaclesJob {
  const RvObstaclesPlan *plan;
  RvPlane disparity;        /* the raster stage fills it in for records */
  RvObstaclesSource source; /* run() */
  RvObstaclesOutput output; /* run() */
  RvObstaclesRects rects;   /* rv_obstacles_distances() */
  RvStream stream;
} RvObstaclesJob;

/*   raster     draws the records of job->source into the workspace
 *   strips     tables of the frame, votes, evidence, runs
 *   space      the path of the free space
 *   boxes      components, boxes, columns
 *   distances  the one stage of rv_obstacles_distances() */
RV_STAGES(RvObstacles, obstacles, RvObstaclesJob, *raster, *strips, *space, *boxes, *distances);

/* Fills an RvObstaclesPlan behind its valid config, and the tables that it is to point to. */
void rv_obstacles_make_plan(RvObstaclesPlan *plan, RvObstaclesTables *tables);

#ifdef __cplusplus
}
#endif
#endif
