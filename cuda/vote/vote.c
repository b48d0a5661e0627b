/* SPDX-License-Identifier: MIT */
/* vote.c: host side of voting: parameters, plan, run. */
#include "vote/vote.h"

#include <stdio.h>

#include "vote/vote_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvVote);

static const RvParam params[] = {
    RV_CHOICE("kind", kind, RV_VOTE_HISTOGRAM, 0, NULL, NULL, "Voting algorithm",
              {RV_VOTE_HISTOGRAM, "histogram", "histogram of one channel"},
              {RV_VOTE_COLOR, "color", "three histograms, of R, G and B"},
              {RV_VOTE_CHROMA, "chroma", "histogram of normalized red and green"},
              {RV_VOTE_SUM, "sum", "sum of all values"},
              {RV_VOTE_SUBSAMPLE, "subsample", "sums of square blocks"}),
    RV_PARAM_SIZE,
    RV_CHOICE("format", format, RV_U8, 0, NULL, NULL, "Format of the input",
              {RV_U8, "u8", "8 bits"}, {RV_U16, "u16", "16 bits"},
              {RV_U32, "u32", "32 bits, or R, G and B in bits 0 to 23"}, {RV_F32, "f32", "float"}),
    RV_INT("bins", bins, 1, 65536, 256, 0, NULL, NULL, "Number of bins of a histogram"),
    RV_INT("factor", factor, 2, 64, 4, 0, "px", NULL, "Side length of the blocks of subsampling"),
    RV_INT("stretch", stretch, 0, 64, 0, 0, NULL, "0 = as the kind needs",
           "Copies of each bin in shared memory, CUDA engine"),
    RV_PARAM_THREADS,
};
RV_PARAMS(vote)

static int is_accepted(RvVoteKind kind, RvFormat format) {
  switch (kind) {
  case RV_VOTE_HISTOGRAM:
    return format == RV_U8 || format == RV_U16;
  case RV_VOTE_COLOR:
  case RV_VOTE_CHROMA:
    return format == RV_U32;
  case RV_VOTE_SUM:
    return 1;
  default:
    return format == RV_U8;
  }
}

static RvStatus check_rules(const void *config) {
  const RvVoteConfig *c = config;
  RV_REQUIRE(&c->log, is_accepted(c->kind, c->format),
             "vote: kind %d does not accept format %d: histograms accept RV_U8 or RV_U16, colors "
             "RV_U32, sums any, subsampling RV_U8",
             (int)c->kind, (int)c->format);
  return RV_OK;
}

/* --- Object ---------------------------------------------------------------------------------- */

static void make_plan(void *memory) {
  static const RvVoteInstance sums[] = {RV_VOTE_INSTANCE_sum8, RV_VOTE_INSTANCE_sum16,
                                        RV_VOTE_INSTANCE_sum32, RV_VOTE_INSTANCE_sumf};
  RvVotePlan *plan = memory;
  const RvVoteConfig *c = &plan->config;
  RvVoteGeometry *g = &plan->geometry;
  plan->threads = rv_threads(c->threads);
  *g = (RvVoteGeometry){.width = c->width,
                        .height = c->height,
                        .space_rows = c->height,
                        .spaces = 1,
                        .bins = 1,
                        .range_log = c->format == RV_U16 ? 16 : 8,
                        .per_factor = 0xffffffffu / (uint32_t)c->factor + 1};
  switch (c->kind) {
  case RV_VOTE_HISTOGRAM:
    g->bins = c->bins;
    plan->instance =
        c->format == RV_U16 ? RV_VOTE_INSTANCE_histogram16 : RV_VOTE_INSTANCE_histogram8;
    break;
  case RV_VOTE_COLOR:
    g->bins = 3 * 256;
    plan->instance = RV_VOTE_INSTANCE_color;
    break;
  case RV_VOTE_CHROMA:
    g->bins = RV_VOTE_CHROMA_SIDE * RV_VOTE_CHROMA_SIDE;
    plan->instance = RV_VOTE_INSTANCE_chroma;
    break;
  case RV_VOTE_SUM:
    plan->instance = sums[c->format];
    break;
  default:
    g->space_rows = c->factor;
    g->spaces = rv_div_up(c->height, c->factor);
    g->bins = rv_div_up(c->width, c->factor);
    plan->instance = RV_VOTE_INSTANCE_subsample;
  }
}

static void describe(const void *plan, char *text, size_t size) {
  const RvVoteConfig *c = plan;
  snprintf(text, size, "%d x %d values", c->width, c->height);
}

RV_CLASS(RvVote, vote, .rules = check_rules, .plan = make_plan, .describe = describe);

static void size_of(const RvVotePlan *plan, int *columns, int *rows) {
  *columns = plan->config.kind == RV_VOTE_SUM ? 2 : plan->geometry.bins;
  *rows = plan->geometry.spaces;
}

void rv_vote_size(const RvVoteConfig *config, int *columns, int *rows) {
  *columns = *rows = 0;
  if (rv_vote_config_check(config) != RV_OK)
    return;
  RvVotePlan plan = {.config = *config};
  make_plan(&plan);
  size_of(&plan, columns, rows);
}

RvStatus rv_vote_run(RvVote *vote, const RvPlane *input, const RvPlane *votes, RvStream stream) {
  if (!vote)
    return RV_ERR_ARG;
  const RvVoteConfig *c = &vote->plan.config;
  int columns, rows;
  size_of(&vote->plan, &columns, &rows);
  RV_TRY(rv_check_plane(&c->log, "vote", "input", input, c->width, c->height, c->format));
  RV_TRY(rv_check_plane(&c->log, "vote", "votes", votes, columns, rows, RV_U32));
  RvVoteJob job = {&vote->plan, *input, *votes, stream};
  return ((const RvVoteStages *)vote->object.base)->vote(vote->object.work, &job);
}
