/* SPDX-License-Identifier: MIT */
/* rdp_stages.h: plan, job and stages of column segmentation. Not installed. */
#ifndef RV_RDP_STAGES_H
#define RV_RDP_STAGES_H

#include "rdp/rdp.h"
#include "rdp/rdp_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of an object. */
typedef struct RvRdpPlan {
  RvRdpConfig config;
  RvRdpLimit limit;
} RvRdpPlan;

/* One call of run(). */
typedef struct RvRdpJob {
  const RvRdpPlan *plan;
  RvPlane disparity; /* the median stage replaces it by the filtered one, in the workspace */
  RvRdpOutput output;
  RvStream stream;
} RvRdpJob;

/* An engine, in the order in which run() calls the stages. */
typedef struct RvRdpStages {
  RvEngineBase base;
  /* Filters job->disparity; when config.median is not 0. */
  RvStatus (*median)(void *work, RvRdpJob *job);
  /* Pieces, cuts and output. */
  RvStatus (*segment)(void *work, RvRdpJob *job);
} RvRdpStages;

extern const RvRdpStages rv_rdp_stages_cpu, rv_rdp_stages_cuda;

#ifdef __cplusplus
}
#endif
#endif
