/* SPDX-License-Identifier: MIT */
/* vote_stages.h: plan, job and stage of voting. Not installed. */
#ifndef RV_VOTE_STAGES_H
#define RV_VOTE_STAGES_H

#include "rv_object.h"
#include "vote/vote_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of an object. */
typedef struct RvVotePlan {
  RvVoteConfig config;
  RvVoteGeometry geometry;
  RvVoteInstance instance; /* which algorithm of vote_rules.h */
  int threads;
} RvVotePlan;

/* One call of run(). */
typedef struct RvVoteJob {
  const RvVotePlan *plan;
  RvPlane input, votes;
  RvStream stream;
} RvVoteJob;

RV_STAGES(RvVote, vote, RvVoteJob, *vote);

#ifdef __cplusplus
}
#endif
#endif
