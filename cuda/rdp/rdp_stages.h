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

/*   median   filters job->disparity; when config.median is not 0
 *   segment  runs of valid rows, split points and output */
RV_STAGES(RvRdp, rdp, RvRdpJob, *median, *segment);

#ifdef __cplusplus
}
#endif
#endif
