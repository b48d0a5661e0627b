/* vote_contract.c: voting as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "vote/vote.h"

#define LIST(...)                                                                                  \
  { __VA_ARGS__ }
#define AT(field) offsetof(RvVoteConfig, field)

static const RvContractField fields[] = {
    {"kind", AT(kind), 0, 2, 1, LIST(-1, RV_VOTE_KINDS), LIST(RV_VOTE_SUBSAMPLE)},
    {"width", AT(width), 0, 4, 2, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(1, RV_MAX_SIDE)},
    {"height", AT(height), 0, 4, 2, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(1, RV_MAX_SIDE)},
    {"format", AT(format), 0, 4, 2, LIST(-1, RV_U32, RV_F32, 4), LIST(RV_U8, RV_U16)},
    {"bins", AT(bins), 0, 3, 2, LIST(0, -1, RV_VOTE_BINS_MAX + 1), LIST(1, RV_VOTE_BINS_MAX)},
    {"factor", AT(factor), 0, 3, 2, LIST(1, -1, RV_VOTE_FACTOR_MAX + 1),
     LIST(2, RV_VOTE_FACTOR_MAX)},
    {"stretch", AT(stretch), 0, 2, 2, LIST(-1, 65), LIST(0, 64)},
    {"threads", AT(threads), 0, 1, 2, LIST(-1), LIST(0, 1)},
};

static void init(void *config) {
  RvVoteConfig *c = config;
  rv_vote_config_init(c);
  c->width = 103;
  c->height = 61;
  c->threads = 2;
}

static RvStatus check(const void *config) {
  return rv_vote_config_check(config);
}

static size_t workspace(const void *config, RvEngine engine) {
  return rv_vote_workspace(config, engine);
}

static RvStatus create(void **out, const void *config, RvEngine engine) {
  if (!out)
    return rv_vote_new(NULL, config, engine);
  RvVote *vote = *out;
  const RvStatus status = rv_vote_new(&vote, config, engine);
  *out = vote;
  return status;
}

static void destroy(void **object) {
  RvVote *vote = object ? *object : NULL;
  rv_vote_free(object ? &vote : NULL);
  if (object)
    *object = vote;
}

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
    .name = "vote",
    .config_size = sizeof(RvVoteConfig),
    .log_offset = offsetof(RvVoteConfig, log),
    .init = init,
    .check = check,
    .workspace = workspace,
    .create = create,
    .destroy = destroy,
    .planes = planes,
    .run = run,
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
};
