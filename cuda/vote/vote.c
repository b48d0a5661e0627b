/* SPDX-License-Identifier: MIT */
/* vote.c: host side of voting: defaults, checks, memory. */
#include "vote/vote.h"

#include "rv_object.h"
#include "vote/vote_stages.h"

struct RvVote {
  RvVoteConfig config;
  RvEngine engine;
  const RvVoteStages *stages;
  RvArena arena;
  RvVoteJob job; /* all but the planes and the stream of a run */
};

void rv_vote_config_init(RvVoteConfig *config) {
  if (!config)
    return;
  *config = (RvVoteConfig){.kind = RV_VOTE_HISTOGRAM,
                           .format = RV_U8,
                           .bins = RV_VOTE_BINS_DEFAULT,
                           .factor = RV_VOTE_FACTOR_DEFAULT};
}

static int takes(RvVoteKind kind, RvFormat format) {
  switch (kind) {
  case RV_VOTE_HISTOGRAM:
    return format == RV_U8 || format == RV_U16;
  case RV_VOTE_COLOR:
  case RV_VOTE_CHROMA:
    return format == RV_U32;
  case RV_VOTE_SUM:
    return format >= RV_U8 && format <= RV_F32;
  default:
    return format == RV_U8;
  }
}

RvStatus rv_vote_config_check(const RvVoteConfig *config) {
  if (!config)
    return RV_ERR_ARG;
  const RvLog *log = &config->log;
  RV_TRY(rv_in_range(log, "vote: kind", (int)config->kind, 0, RV_VOTE_KINDS - 1));
  RV_TRY(rv_in_range(log, "vote: width", config->width, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "vote: height", config->height, 1, RV_MAX_SIDE));
  RV_REQUIRE(log, takes(config->kind, config->format),
             "vote: kind %d does not take format %d: histograms take RV_U8 or RV_U16, colours "
             "RV_U32, sums any, subsampling RV_U8",
             (int)config->kind, (int)config->format);
  RV_TRY(rv_in_range(log, "vote: bins", config->bins, 1, RV_VOTE_BINS_MAX));
  RV_TRY(rv_in_range(log, "vote: factor", config->factor, 2, RV_VOTE_FACTOR_MAX));
  RV_TRY(rv_in_range(log, "vote: stretch", config->stretch, 0, 64));
  RV_REQUIRE(log, config->threads >= 0, "vote: threads is %d, must be 0 (all) or more",
             config->threads);
  return RV_OK;
}

void rv_vote_plan(const RvVoteConfig *c, RvVotePlan *plan, RvVoteInstance *instance) {
  static const RvVoteInstance sums[] = {RV_VOTE_INSTANCE_sum8, RV_VOTE_INSTANCE_sum16,
                                        RV_VOTE_INSTANCE_sum32, RV_VOTE_INSTANCE_sumf};
  *plan = (RvVotePlan){.width = c->width,
                       .height = c->height,
                       .space_rows = c->height,
                       .spaces = 1,
                       .bins = 1,
                       .range_log = c->format == RV_U16 ? 16 : 8,
                       .per_factor = 0xffffffffu / (uint32_t)c->factor + 1};
  switch (c->kind) {
  case RV_VOTE_HISTOGRAM:
    plan->bins = c->bins;
    *instance = c->format == RV_U16 ? RV_VOTE_INSTANCE_histogram16 : RV_VOTE_INSTANCE_histogram8;
    break;
  case RV_VOTE_COLOR:
    plan->bins = 3 * 256;
    *instance = RV_VOTE_INSTANCE_color;
    break;
  case RV_VOTE_CHROMA:
    plan->bins = RV_VOTE_CHROMA_SIDE * RV_VOTE_CHROMA_SIDE;
    *instance = RV_VOTE_INSTANCE_chroma;
    break;
  case RV_VOTE_SUM:
    *instance = sums[c->format];
    break;
  default:
    plan->space_rows = c->factor;
    plan->spaces = rv_div_up(c->height, c->factor);
    plan->bins = rv_div_up(c->width, c->factor);
    *instance = RV_VOTE_INSTANCE_subsample;
  }
}

void rv_vote_size(const RvVoteConfig *config, int *columns, int *rows) {
  *columns = *rows = 0;
  if (rv_vote_config_check(config) != RV_OK)
    return;
  RvVotePlan plan;
  RvVoteInstance instance;
  rv_vote_plan(config, &plan, &instance);
  *columns = config->kind == RV_VOTE_SUM ? 2 : plan.bins;
  *rows = plan.spaces;
}

size_t rv_vote_workspace(const RvVoteConfig *config, RvEngine engine) {
  const RvVoteStages *stages = RV_STAGES_OF(vote, engine);
  if (rv_vote_config_check(config) != RV_OK || !stages)
    return 0;
  RvVotePlan plan;
  RvVoteInstance instance;
  rv_vote_plan(config, &plan, &instance);
  RvArena counted = {0};
  (void)rv_arena_take(&counted, stages->bytes(&plan, instance, rv_threads(config->threads)));
  return rv_arena_size(&counted);
}

static RvStatus open_object(RvVote *vote) {
  RvVoteJob *job = &vote->job;
  job->stretch = vote->config.stretch;
  job->threads = rv_threads(vote->config.threads);
  job->log = &vote->config.log;
  rv_vote_plan(&vote->config, &job->plan, &job->instance);
  const size_t bytes = vote->stages->bytes(&job->plan, job->instance, job->threads);
  (void)rv_arena_take(&vote->arena, bytes);
  const RvStatus status = rv_arena_open(&vote->arena, vote->engine);
  if (status != RV_OK) {
    rv_log(&vote->config.log, "vote: cannot take %zu bytes of %s memory", bytes,
           vote->engine == RV_CUDA ? "GPU" : "host");
    return status;
  }
  job->work = rv_arena_take(&vote->arena, bytes);
  return vote->stages->open ? vote->stages->open(job) : RV_OK;
}

RvStatus rv_vote_new(RvVote **out, const RvVoteConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_vote_config_check(config));
  RV_TRY(rv_check_engine(&config->log, "vote", engine));
  RvVote *vote = rv_memory_object(sizeof *vote);
  if (!vote) {
    rv_log(&config->log, "vote: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  vote->config = *config;
  vote->engine = engine;
  vote->stages = RV_STAGES_OF(vote, engine);
  const RvStatus status = open_object(vote);
  if (status != RV_OK) {
    rv_vote_free(&vote);
    return status;
  }
  *out = vote;
  return RV_OK;
}

void rv_vote_free(RvVote **vote) {
  if (!vote || !*vote)
    return;
  rv_arena_close(&(*vote)->arena);
  rv_memory_free(*vote, RV_CPU);
  *vote = NULL;
}

RvStatus rv_vote_run(RvVote *vote, const RvPlane *input, const RvPlane *votes, RvStream stream) {
  if (!vote)
    return RV_ERR_ARG;
  const RvVoteConfig *c = &vote->config;
  int columns, rows;
  rv_vote_size(c, &columns, &rows);
  RV_REQUIRE(&c->log, rv_plane_fits(input, c->width, c->height, c->format),
             "vote: plane input must be of %d x %d values of format %d with a stride that holds a "
             "row",
             c->width, c->height, (int)c->format);
  RV_REQUIRE(&c->log, rv_plane_fits(votes, columns, rows, RV_U32),
             "vote: plane votes must be RV_U32 of %d x %d bins with a stride that holds a row",
             columns, rows);
  RvVoteJob job = vote->job;
  job.input = *input;
  job.votes = *votes;
  job.stream = stream;
  return vote->stages->run(&job);
}
