/* SPDX-License-Identifier: MIT */
/* vote_baselines.h: what others would use for the six users of voting, to be timed with them:
 * CUB, which comes with nvcc, and for subsampling, which CUB does not have, a kernel written by
 * hand for this one image size. Tests only. */
#ifndef RV_VOTE_PEERS_H
#define RV_VOTE_PEERS_H

#include "vote/vote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RvVoteBaseline RvVoteBaseline;

/* Takes a dense copy of the input, which is on the device. NULL when there is no peer for this
 * config or memory is exhausted. */
RvVoteBaseline *rv_vote_baseline_new(const RvVoteConfig *config, const RvPlane *input);
void rv_vote_baseline_free(RvVoteBaseline *peer);
const char *rv_vote_baseline_name(const RvVoteBaseline *peer); /* "cub" or "hand" */

/* `user` is the peer. */
RvStatus rv_vote_baseline_run(void *user, RvStream stream);

/* Votes of the last run, dense rows of rv_vote_size, to the host. Waits. */
RvStatus rv_vote_baseline_votes(const RvVoteBaseline *peer, uint32_t *votes);

#ifdef __cplusplus
}
#endif
#endif
