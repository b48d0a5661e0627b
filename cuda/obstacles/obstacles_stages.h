/* SPDX-License-Identifier: MIT */
/* obstacles_stages.h: jobs and stages of obstacles and free space. Not installed. */
#ifndef RV_OBSTACLES_STAGES_H
#define RV_OBSTACLES_STAGES_H

#include "obstacles/obstacles_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(). */
typedef struct RvObstaclesJob {
  const RvObstaclesPlan *plan;
  RvPlane disparity; /* the raster stage fills it in for records */
  RvObstaclesSource source;
  RvObstaclesOutput output;
  RvStream stream;
} RvObstaclesJob;

/* One call of rv_obstacles_distances(). */
typedef struct RvObstaclesRectJob {
  const RvObstaclesPlan *plan;
  RvPlane disparity;
  const RvObstaclesRect *rects;
  RvObstaclesDepth *depths;
  int count;
  RvStream stream;
} RvObstaclesRectJob;

/* An engine, in the order in which run() calls the stages. */
typedef struct RvObstaclesStages {
  RvEngineBase base;
  /* Draws the records of job->source into the workspace. */
  RvStatus (*raster)(void *work, RvObstaclesJob *job);
  /* Tables of the frame, votes, evidence, runs. */
  RvStatus (*strips)(void *work, const RvObstaclesJob *job);
  /* The path of the free space. */
  RvStatus (*space)(void *work, const RvObstaclesJob *job);
  /* Components, boxes, columns. */
  RvStatus (*boxes)(void *work, const RvObstaclesJob *job);
  RvStatus (*distances)(void *work, const RvObstaclesRectJob *job);
} RvObstaclesStages;

extern const RvObstaclesStages rv_obstacles_stages_cpu, rv_obstacles_stages_cuda;

/* Fills an RvObstaclesPlan behind its valid config, and the tables that it is to point to. */
void rv_obstacles_make_plan(RvObstaclesPlan *plan, RvObstaclesTables *tables);

#ifdef __cplusplus
}
#endif
#endif
