/* SPDX-License-Identifier: MIT */
/* ground_stages.h: the stages of the ground estimation that each engine implements. Internal. */
#ifndef RV_GROUND_STAGES_H
#define RV_GROUND_STAGES_H

#include "ground/ground_rules.h"
#include "rv_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(). */
typedef struct RvGroundJob {
  RvPlane disparity;
  RvGroundSurface *out;
  RvStream stream;
} RvGroundJob;

/* An engine. `work` is its own struct of work_bytes in host memory, cleared before the first
 * layout. */
typedef struct RvGroundStages {
  size_t work_bytes;
  /* Requests the same pieces each time: first from a counting arena, then from the open one. */
  void (*layout)(void *work, const RvGroundPlan *plan, int threads, RvArena *arena);
  /* After the arena is open; clears the state. May wait. */
  RvStatus (*open)(void *work, const RvGroundPlan *plan, const RvLog *log);
  /* Clears the state; enqueued on `stream`. */
  RvStatus (*reset)(void *work, const RvGroundPlan *plan, const RvLog *log, RvStream stream);
  /* In this order, every frame. */
  RvStatus (*cells)(void *work, const RvGroundPlan *plan, const RvGroundJob *job, const RvLog *log);
  RvStatus (*lines)(void *work, const RvGroundPlan *plan, const RvGroundJob *job, const RvLog *log);
  RvStatus (*plane)(void *work, const RvGroundPlan *plan, const RvGroundJob *job, const RvLog *log);
  RvStatus (*profile)(void *work, const RvGroundPlan *plan, const RvGroundJob *job,
                      const RvLog *log);
} RvGroundStages;

extern const RvGroundStages rv_ground_stages_cpu, rv_ground_stages_cuda;

/* Both engines' numbers of a valid config. */
RvGroundPlan rv_ground_plan(const RvGroundConfig *config);

#ifdef __cplusplus
}
#endif

#endif
