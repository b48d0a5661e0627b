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

/* The stages of lanes.h; lines ends with the result. reset clears the horizon that is tracked. */
RV_STAGES(RvLanes, lanes, const RvLanesJob, *rows, *marks, *votes, *lines, *reset);

/* Fills an RvLanesPlan behind its valid config. */
void rv_lanes_make_plan(void *plan);

#ifdef __cplusplus
}
#endif
#endif
