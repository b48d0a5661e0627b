/* SPDX-License-Identifier: MIT */
/* ground_stages.h: job and stages of the ground estimation. Not installed. */
#ifndef RV_GROUND_STAGES_H
#define RV_GROUND_STAGES_H

#include "ground/ground_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(). */
typedef struct RvGroundJob {
  const RvGroundPlan *plan;
  RvPlane disparity;
  RvGroundSurface *out;
  RvStream stream;
} RvGroundJob;

/* An engine, in the order in which run() calls the stages; the first three in frames whose ground
 * is estimated. */
typedef struct RvGroundStages {
  RvEngineBase base;
  RvStatus (*cells)(void *work, const RvGroundJob *job);
  RvStatus (*lines)(void *work, const RvGroundJob *job);
  RvStatus (*plane)(void *work, const RvGroundJob *job);
  /* Profile, state and result. */
  RvStatus (*profile)(void *work, const RvGroundJob *job);
  /* Clears the state. */
  RvStatus (*reset)(void *work, const RvGroundJob *job);
} RvGroundStages;

/* Fills an RvGroundPlan behind its valid config. */
void rv_ground_make_plan(void *plan);

extern const RvGroundStages rv_ground_stages_cpu, rv_ground_stages_cuda;

#ifdef __cplusplus
}
#endif
#endif
