/* SPDX-License-Identifier: MIT */
/* rdp_stages.h: the stages of column segmentation that each engine fills in. Not installed. */
#ifndef RV_RDP_STAGES_H
#define RV_RDP_STAGES_H

#include "rdp/rdp.h"
#include "rdp/rdp_rules.h"
#include "rv_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(). */
typedef struct RvRdpJob {
  RvPlane disparity;
  RvRdpOutput output;
  RvStream stream;
} RvRdpJob;

/* An engine. `work` is its own struct of work_bytes in host memory, cleared before the first
 * layout. */
typedef struct RvRdpStages {
  size_t work_bytes;
  /* Takes the same pieces each time: first from a counting arena, then from the open one. */
  void (*layout)(void *work, const RvRdpConfig *config, RvArena *arena);
  /* After the arena is open. */
  RvStatus (*open)(void *work, const RvRdpConfig *config);
  /* Filters job->disparity; *filtered (in the workspace) replaces it. Only when config.median. */
  RvStatus (*median)(void *work, const RvRdpConfig *config, const RvRdpJob *job, RvPlane *filtered);
  /* Pieces, cuts and output. */
  RvStatus (*segment)(void *work, const RvRdpConfig *config, const RvRdpLimit *limit,
                      const RvRdpJob *job);
} RvRdpStages;

extern const RvRdpStages rv_rdp_stages_cpu;
extern const RvRdpStages rv_rdp_stages_cuda;

#ifdef __cplusplus
}
#endif
#endif
