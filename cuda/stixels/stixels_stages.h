/* SPDX-License-Identifier: MIT */
/* stixels_stages.h: the stages of stixels that each engine fills in. Not installed. */
#ifndef RV_STIXELS_STAGES_H
#define RV_STIXELS_STAGES_H

#include "rv_internal.h"
#include "stixels/stixels.h"
#include "stixels/stixels_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers that only the host makes. */
typedef struct RvStixelsSetup {
  RvStixelsModel model;
  RvStixelsState start;                    /* before the first frame */
  int32_t table[3][RV_STIXELS_TABLE];      /* -log(p_val (3.9)) by class */
  uint16_t scores[RV_STIXELS_SCORE_STEPS]; /* -log(score) in 1/256 nat */
} RvStixelsSetup;

/* The config must be legal. */
void rv_stixels_setup(const RvStixelsConfig *config, RvStixelsSetup *setup);
RvStixelsModel rv_stixels_model(const RvStixelsConfig *config);

/* One call of run(). */
typedef struct RvStixelsJob {
  RvPlane disparity, confidence; /* confidence.data may be NULL */
  RvPlane labels, scores;        /* one or both data NULL */
  RvStixelsOutput output;
  RvStream stream;
} RvStixelsJob;

/* One call of render(). */
typedef struct RvStixelsDrawing {
  const RvStixel *list;
  uint32_t capacity;
  const uint32_t *offsets;
  RvPlane disparity, classes;
  RvStream stream;
} RvStixelsDrawing;

/* An engine. `work` is its own struct of work_bytes in host memory, cleared before the first
 * layout. */
typedef struct RvStixelsStages {
  size_t work_bytes;
  /* Takes the same pieces each time: first from a counting arena, then from the open one. */
  void (*layout)(void *work, const RvStixelsModel *model, int threads, RvArena *arena);
  /* After the arena is open. */
  RvStatus (*open)(void *work, const RvStixelsSetup *setup, const RvLog *log);
  RvStatus (*cells)(void *work, const RvStixelsModel *model, const RvStixelsJob *job,
                    const RvLog *log);
  /* Costs of the semantic classes in the cells; only with labels or scores. */
  RvStatus (*semantics)(void *work, const RvStixelsModel *model, const RvStixelsJob *job,
                        const RvLog *log);
  RvStatus (*ground)(void *work, const RvStixelsModel *model, const RvStixelsJob *job,
                     const RvLog *log);
  /* Dynamic programming and backtracking, then the list. */
  RvStatus (*columns)(void *work, const RvStixelsModel *model, const RvStixelsJob *job,
                      const RvLog *log);
  /* Moves the borders in the list. */
  RvStatus (*refine)(void *work, const RvStixelsModel *model, const RvStixelsJob *job,
                     const RvLog *log);
  RvStatus (*render)(void *work, const RvStixelsModel *model, const RvStixelsDrawing *drawing,
                     const RvLog *log);
} RvStixelsStages;

static inline int rv_stixels_has_semantics(const RvStixelsJob *job) {
  return job->labels.data || job->scores.data;
}

extern const RvStixelsStages rv_stixels_stages_cpu;
extern const RvStixelsStages rv_stixels_stages_cuda;

#ifdef __cplusplus
}
#endif
#endif
