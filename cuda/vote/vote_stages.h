/* SPDX-License-Identifier: MIT */
/* vote_stages.h: what an engine does for vote.c, after all checks. Internal. */
#ifndef RV_VOTE_STAGES_H
#define RV_VOTE_STAGES_H

#include "rv_internal.h"
#include "vote/vote_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RvVoteJob {
  RvVotePlan plan;
  RvVoteInstance instance;
  RvPlane input, votes;
  int stretch; /* of the config */
  int threads;
  int processors, shared; /* CUDA: SMs, and bytes of shared memory that a block may have */
  int is_early;           /* CUDA: kernels may start before the one ahead ends */
  void *work;             /* memory of the engine */
  RvStream stream;
  const RvLog *log;
} RvVoteJob;

typedef struct RvVoteStages {
  /* Bytes of `work`. */
  size_t (*bytes)(const RvVotePlan *plan, RvVoteInstance instance, int threads);
  /* Once, after `work` was taken; may be NULL. May wait. */
  RvStatus (*open)(RvVoteJob *job);
  RvStatus (*run)(const RvVoteJob *job);
} RvVoteStages;

extern const RvVoteStages rv_vote_stages_cpu, rv_vote_stages_cuda;

/* What `config`, which must be legal, comes down to. */
void rv_vote_plan(const RvVoteConfig *config, RvVotePlan *plan, RvVoteInstance *instance);

#ifdef __cplusplus
}
#endif
#endif
