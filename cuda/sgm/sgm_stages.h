/* SPDX-License-Identifier: MIT */
/* sgm_stages.h: plan, job and stages of semi-global matching. Not installed. */
#ifndef RV_SGM_STAGES_H
#define RV_SGM_STAGES_H

#include "rv_object.h"
#include "rv_timer.h"
#include "sgm/sgm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of an object. */
typedef struct RvSgmPlan {
  RvSgmConfig config;
  int descriptor_bytes;       /* of a census descriptor: 4 or 8 */
  int cost_max;               /* largest matching cost */
  int limits_costs;           /* 1: descriptors with limited costs; else each has a bit to spare */
  int path_max;               /* largest L of a path */
  int p1_ground;              /* P1 of a vertical or diagonal step as on the ground */
  int equiangular;            /* subpixel fit: 1, or 0 for the parabola */
  int margin_scale;           /* of rv_sgm_margin () */
  uint16_t p2_of[256];        /* P2 of a step by gray difference */
  uint8_t confidence_of[256]; /* by rv_sgm_margin () */
  uint8_t weight_of[256];     /* of the weighted median, by gray difference */
} RvSgmPlan;

/* Sets everything but the config of a plan from it. */
void rv_sgm_make_plan(void *plan);

/* One call of run(). */
typedef struct RvSgmJob {
  const RvSgmPlan *plan;
  RvPlane left, right, disparity;
  RvPlane confidence; /* data is NULL unless config.confidence */
  RvStream stream;
} RvSgmJob;

/* A stage ends where its result is complete in memory (in stream order); an engine may fuse the
 * steps inside a stage.
 *   match   census, cost, paths, winner, uniqueness, left-right check, subpixel, confidence: the
 *           maps of both views
 *   filter  median and speckle filter of the disparity map, and output to the planes of the job;
 *           with reject_sky a speckle may be left to the next stage
 *   refine  sky and fill, in the planes of the job */
RV_STAGES(RvSgm, sgm, RvSgmJob, *match, *filter, *refine);

struct RvSgm {
  RvObject object;
  RvSgmPlan plan;
  RvTimer *timer; /* config.stage_times; else NULL */
};

#ifdef __cplusplus
}
#endif
#endif
