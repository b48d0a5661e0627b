/* SPDX-License-Identifier: MIT */
/* eval_finder.h: obstacles, tracks and free space of frames, as cudaobstacles finds them with its default
 * parameters except the path's width, on the CPU engine. */
#ifndef EVAL_FINDER_H
#define EVAL_FINDER_H

#include "eval_scene.h"
#include "obstacles/obstacles.h"

#define EVAL_STRIPS 1024
#define EVAL_PATH 10.0 /* m: width of the path; that of times to collision */

typedef struct EvalFinder {
  RvObstaclesConfig config;
  RvObstacles *obstacles;
  RvObstaclesTracks *tracks;
  RvGround *ground;
  RvGroundSurface surface; /* of the frame */
  int columns, column_width;
  RvFreeColumn column[EVAL_STRIPS];
  RvObstacle list[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
  int count;
} EvalFinder;

/* Calls `judge` with what is found in the first `frames` frames of a scene of which each `step`th is
 * taken; `data` is the caller's. Ends the program when it fails. */
typedef void EvalJudge(const EvalFinder *f, const EvalFrame *frame, void *data);
void eval_find(EvalScene *scene, uint64_t frames, uint64_t step, EvalJudge *judge, void *data);

#endif
