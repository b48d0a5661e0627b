/* SPDX-License-Identifier: MIT */
/* stixels_stages.h: plan, tables, job and stages of stixels. Not installed. */
#ifndef RV_STIXELS_STAGES_H
#define RV_STIXELS_STAGES_H

#include "rv_object.h"
#include "stixels/stixels.h"
#include "stixels/stixels_network_rules.h"
#include "stixels/stixels_record_rules.h"
#include "stixels/stixels_rules.h"
#include "stixels/stixels_surface_rules.h"
#include "stixels/stixels_vote_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills the plan (RvStixelsPlan) behind its config, which is set and valid. */
void rv_stixels_make_plan(void *plan);

/* Tables that need logarithms; each engine fills its own when it is opened. */
typedef struct RvStixelsTables {
  int32_t costs[RV_STIXELS_CLASSES][RV_STIXELS_TABLE]; /* -log(p_val (3.9)) by class, 1/1024 nat */
  uint16_t scores[RV_STIXELS_SCORE_STEPS];             /* -log(score), 1/256 nat */
  int32_t cuts[RV_STIXELS_CUT_CODES];                  /* of a cut by its code, 1/1024 nat */
} RvStixelsTables;

void rv_stixels_make_tables(const RvStixelsPlan *plan, RvStixelsTables *tables);

/* Those of the recursion with semantic priors, when plan->kinds > 0. Reads
 * config.semantic_priors. */
void rv_stixels_make_kinds(const RvStixelsPlan *plan, RvStixelsKinds *kinds);

/* The network of a config: a copy of its own, or that of the library. */
RvStatus rv_stixels_make_network(const RvStixelsConfig *config, RvStixelsNetwork *network);

/* What render() reads and writes. */
typedef struct RvStixelsMaps {
  const RvStixel *list;
  uint32_t capacity;
  const uint32_t *offsets;
  RvPlane disparity, classes; /* data NULL: not written */
} RvStixelsMaps;

/* One call of run() or render(). */
typedef struct RvStixelsJob {
  const RvStixelsPlan *plan;
  RvStixelsInput input;   /* run() */
  RvStixelsOutput output; /* run() */
  RvStixelsMaps maps;     /* render() */
  RvStream stream;
} RvStixelsJob;

/*   cells      mean disparity of each cell
 *   ground     vote and plane; when plan->estimate
 *   semantics  costs of the semantic classes in the cells; with labels or scores
 *   repair     costs of cells that their surface contradicts; after semantics, with semantic_repair
 *   share      mean costs of cells of like disparity; after semantics, with a semantic_radius
 *   columns    dynamic programming and backtracking, then the list
 *   refine     moves the boundaries in the list; when plan->reach > 0
 *   render     the one stage of render()
 * On CUDA a stage may have been computed by the kernel of the preceding stage, which saves a
 * launch; it then enqueues nothing:
 *   semantics  scores of the size of the frame are summed by further blocks of the ground kernel
 *   refine     columns whose records fit in shared memory move their boundaries themselves */
RV_STAGES(RvStixels, stixels, RvStixelsJob, *cells, *ground, *semantics, *repair, *share, *columns,
          *refine, *render);

static inline int rv_stixels_has_semantics(const RvStixelsJob *job) {
  return job->input.labels.data || job->input.scores.data;
}

/* Whether cells share their semantics in this plan, and in this frame. */
static inline int rv_stixels_shares(const RvStixelsPlan *plan) {
  return plan->semantics > 0 && (plan->share_columns > 0 || plan->share_rows > 0);
}

static inline int rv_stixels_is_shared(const RvStixelsJob *job) {
  return rv_stixels_has_semantics(job) && rv_stixels_shares(job->plan);
}

/* The same of repaired labels. */
static inline int rv_stixels_repairs(const RvStixelsPlan *plan) {
  return plan->semantics > 1 && (plan->judge_columns > 0 || plan->judge_rows > 0);
}

static inline int rv_stixels_is_repaired(const RvStixelsJob *job) {
  return rv_stixels_has_semantics(job) && rv_stixels_repairs(job->plan);
}

static inline int rv_stixels_has_kinds(const RvStixelsJob *job) {
  return job->plan->kinds > 0 && rv_stixels_has_semantics(job);
}

#ifdef __cplusplus
}
#endif
#endif
