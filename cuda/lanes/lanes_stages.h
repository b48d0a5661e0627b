/* SPDX-License-Identifier: MIT */
/* lanes_stages.h: job and stages of the lane lines. Not installed. */
#ifndef RV_LANES_STAGES_H
#define RV_LANES_STAGES_H

#include "lanes/lanes_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(). */
typedef struct RvLanesJob {
  const RvLanesPlan *plan;
  RvLanesSource source;
  RvLanesFound *out;
  RvStream stream;
} RvLanesJob;

/* An engine, in the order in which run() calls the stages. */
typedef struct RvLanesStages {
  RvEngineBase base;
  RvStatus (*rows)(void *work, const RvLanesJob *job);
  RvStatus (*marks)(void *work, const RvLanesJob *job);
  RvStatus (*votes)(void *work, const RvLanesJob *job);
  RvStatus (*lines)(void *work, const RvLanesJob *job);
  RvStatus (*reset)(void *work, const RvLanesJob *job);
} RvLanesStages;

/* Fills an RvLanesPlan behind its valid config. */
void rv_lanes_make_plan(void *plan);

extern const RvLanesStages rv_lanes_stages_cpu, rv_lanes_stages_cuda;

#ifdef __cplusplus
}
#endif
#endif
