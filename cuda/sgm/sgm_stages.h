/* SPDX-License-Identifier: MIT */
/* sgm_stages.h: the stages of semi-global matching that each engine fills in. Not installed. */
#ifndef RV_SGM_STAGES_H
#define RV_SGM_STAGES_H

#include "rv_internal.h"
#include "sgm/sgm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(): the planes and what tests want to see. */
typedef struct RvSgmJob {
  RvPlane left, right, disparity;
  RvPlane confidence; /* data is NULL unless config.confidence */
  RvStream stream;
  /* Tests only, NULL otherwise; memory of the engine, dense, filled by match in the canonical
   * form: descriptors [y][x] with the bits of sgm_rules.h, sums [y][x][k]. */
  uint64_t *census_left, *census_right;
  uint16_t *volume;
} RvSgmJob;

/* Maps that live between the stages, of width x height. */
typedef enum RvSgmMap {
  RV_SGM_MAP_WINNER = 0, /* u16: k of the smallest sum, kept for invalid pixels too */
  RV_SGM_MAP_RIGHT,      /* u16: k of the right picture's pixels, or RV_SGM_NO_MATCH */
  RV_SGM_MAP_DISPARITY,  /* u16: stored values; each stage from match on leaves its result here */
  RV_SGM_MAP_CONFIDENCE, /* u8: as match found it; only when config.confidence */
} RvSgmMap;

/* An engine. `work` is its own struct of work_bytes in host memory, cleared before the first
 * layout. Every stage ends where its result is complete in memory (in stream order); an engine is
 * free inside a stage. */
typedef struct RvSgmStages {
  size_t work_bytes;
  /* Takes the same pieces each time: first from a counting arena, then from the open one. */
  void (*layout)(void *work, const RvSgmConfig *config, RvArena *arena);
  /* After the arena is open: what is not memory (streams, attributes). Either may be NULL; close is
   * called for a half-opened work too. */
  RvStatus (*open)(void *work, const RvSgmConfig *config);
  void (*close)(void *work);

  /* Census, cost, paths, winner, uniqueness, subpixel, confidence, right disparity: fills all
   * maps. */
  RvStatus (*match)(void *work, const RvSgmConfig *config, const RvSgmJob *job);
  /* Left-right; called when max_lr_diff is not -1. */
  RvStatus (*check)(void *work, const RvSgmConfig *config, const RvSgmJob *job);
  /* Called when config.median is 3 or 5. */
  RvStatus (*median)(void *work, const RvSgmConfig *config, const RvSgmJob *job);
  /* Called when speckle_size > 1: no region has fewer pixels than one. */
  RvStatus (*speckle)(void *work, const RvSgmConfig *config, const RvSgmJob *job);
  /* Map to the planes of the job; confidence becomes 0 where the disparity is invalid. */
  RvStatus (*output)(void *work, const RvSgmConfig *config, const RvSgmJob *job);

  /* NULL: rv_sgm_run calls the stages above one after the other. Otherwise this does the whole,
   * with the same bits (fused, or as a graph). */
  RvStatus (*whole)(void *work, const RvSgmConfig *config, const RvSgmJob *job);

  /* Tests: copies a map, dense, to memory of the engine. */
  RvStatus (*read)(void *work, const RvSgmConfig *config, RvSgmMap map, void *out, RvStream stream);
} RvSgmStages;

extern const RvSgmStages rv_sgm_stages_cpu;
extern const RvSgmStages rv_sgm_stages_cuda;

/* The object, open to the tests so that they can call single stages. */
struct RvSgm {
  RvSgmConfig config;
  RvEngine engine;
  const RvSgmStages *stages;
  RvArena arena;
  void *work;
};

/* The stages that config asks for, in order. */
RvStatus rv_sgm_run_stages(const RvSgmStages *stages, void *work, const RvSgmConfig *config,
                           const RvSgmJob *job);

#ifdef __cplusplus
}
#endif
#endif
