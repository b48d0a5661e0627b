/* SPDX-License-Identifier: MIT */
/* hough_stages.h: the stages of the Hough transform that each engine fills in. Internal. */
#ifndef RV_HOUGH_STAGES_H
#define RV_HOUGH_STAGES_H

#include "hough/hough_rules.h"
#include "rv_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RvHoughJob {
  RvPlane input;
  RvHoughOutput out;
  RvStream stream;
} RvHoughJob;

/* How the votes are cut on a GPU, for the time model. */
typedef struct RvHoughShape {
  int group; /* angles of a block */
  int parts, passes;
  int processors;
} RvHoughShape;

/* An engine. `work` is its own struct of work_bytes in host memory, cleared before the first
 * layout. */
typedef struct RvHoughStages {
  size_t work_bytes;
  /* Takes the same pieces each time: first from a counting arena, then from the open one. */
  void (*layout)(void *work, const RvHoughConfig *config, const RvHoughPlan *plan, RvArena *arena);
  /* After the arena is open; copies the `angles` to where the engine wants them. May wait. */
  RvStatus (*open)(void *work, const RvHoughConfig *config, const RvHoughPlan *plan,
                   const RvHoughAngle *angles);
  RvStatus (*run)(void *work, const RvHoughConfig *config, const RvHoughPlan *plan,
                  const RvHoughJob *job);
  void (*shape)(const void *work, RvHoughShape *shape); /* NULL: not cut */
} RvHoughStages;

extern const RvHoughStages rv_hough_stages_cpu, rv_hough_stages_cuda;

/* For tests: `work` of the CUDA engine then does what it would do on a GPU before compute
 * capability 9.0. Absent without CUDA. */
void rv_hough_cuda_emulate_pre_sm90(void *work);

/* The object, open to the tests. */
struct RvHough {
  RvHoughConfig config;
  RvHoughPlan plan;
  RvEngine engine;
  const RvHoughStages *stages;
  RvArena arena;
  void *work;
};

/* Plan of a legal config. */
void rv_hough_plan(const RvHoughConfig *config, RvHoughPlan *plan);

/* Table of plan->angles entries, the same for every engine and for tests that count. */
void rv_hough_angles(const RvHoughConfig *config, const RvHoughPlan *plan, RvHoughAngle *angles);

/* Most peaks there can be: no two are neighbours. */
size_t rv_hough_peaks_max(const RvHoughPlan *plan);

#ifdef __cplusplus
}
#endif
#endif
