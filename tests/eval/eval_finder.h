/* SPDX-License-Identifier: MIT */
/* eval_finder.h: obstacles, tracks and free space of frames, as cudaobstacles finds them with its default
 * parameters, on the CPU engine. */
#ifndef EVAL_FINDER_H
#define EVAL_FINDER_H

#include "eval_scene.h"
#include "obstacles/obstacles.h"

#define EVAL_STRIPS 1024

typedef struct EvalFinder {
  RvObstaclesConfig config;
  RvObstacles *obstacles;
  RvObstaclesTracks *tracks;
  RvGround *ground;
  int columns, column_width;
  RvFreeColumn column[EVAL_STRIPS];
  RvObstacle list[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
  int count;
} EvalFinder;

/* Ends the program when it fails. */
void eval_finder_open(EvalFinder *f, const EvalFrame *frame);
void eval_find(EvalFinder *f, const EvalFrame *frame);
void eval_finder_close(EvalFinder *f);

#endif
