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

/* The stages of ground.h, the first three in frames whose ground is estimated; profile ends with
 * the state and the result. reset clears the state. */
RV_STAGES(RvGround, ground, const RvGroundJob, *cells, *lines, *plane, *profile, *reset);

/* Fills an RvGroundPlan behind its valid config. */
void rv_ground_make_plan(void *plan);

#ifdef __cplusplus
}
#endif
#endif
