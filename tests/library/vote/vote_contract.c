/* SPDX-License-Identifier: MIT */
/* vote_contract.c: voting as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "vote/vote.h"

RV_CONTRACT_OBJECT(RvVote, vote);

static const RvContractField fields[] = {
    INT_FIELD(kind, LIST(-1, RV_VOTE_KINDS),
              LIST(RV_VOTE_HISTOGRAM, RV_VOTE_SUM, RV_VOTE_SUBSAMPLE)),
    INT_FIELD(format, LIST(-1, RV_U32, RV_F32, 4), LIST(RV_U8, RV_U16)),
};

RV_CONTRACT_INIT(vote, "width=103 height=61 threads=2");

static int planes(const void *config, RvContractPlane *out) {
  const RvVoteConfig *c = config;
  int columns, rows;
  rv_vote_size(c, &columns, &rows);
  out[0] = (RvContractPlane){"input", c->format, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"votes", RV_U32, columns, rows, 0, 0, RV_RULES};
  return 2;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  return rv_vote_run(object, p ? &p[0] : NULL, p ? &p[1] : NULL, stream);
}

const RvContract rv_vote_contract = {
    RV_CONTRACT_TABLE(vote),
    RV_CONTRACT_FIELDS,
    .workspace = workspace,
};
