/* SPDX-License-Identifier: MIT */
/* road_stages.h: the stages of road detection that each engine fills in, and the
 * memory of the CPU engine. Internal. */
#ifndef RV_ROAD_STAGES_H
#define RV_ROAD_STAGES_H

#include "road/road_rules.h"
#include "rv_internal.h"
#include "vote/vote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of run(). */
typedef struct RvRoadJob {
  RvPlane color, disparity; /* disparity.data NULL: none is known */
  RvRoadOutput output;
  RvStream stream;
} RvRoadJob;

/* What has been learnt, in host memory: how it leaves an object and enters another. */
typedef struct RvRoadLearnt {
  int bins, patch_size;
  int places; /* of the library that it was part of */
  int count, waiting;
  double *mean, *variance; /* [model][cell], in px of a patch */
  double *weight;          /* [model] */
  uint8_t *features;       /* [waiting sample][cell] */
} RvRoadLearnt;

/* An engine. `work` is its own struct of work_bytes in host memory, cleared before the first
 * layout. */
typedef struct RvRoadStages {
  size_t work_bytes;
  /* Takes the same pieces each time: first from a counting arena, then from the open one. Does not
   * ask the device. */
  void (*layout)(void *work, const RvRoadConfig *config, RvArena *arena);
  /* After the arena is open: tables, an empty library. May wait. */
  RvStatus (*open)(void *work, const RvRoadConfig *config);
  /* Where the votes of the picture go: [channel][256]. */
  uint32_t *(*histogram)(void *work);
  /* In this order, every frame. */
  RvStatus (*features)(void *work, const RvRoadJob *job);
  RvStatus (*ground)(void *work, const RvRoadJob *job);
  RvStatus (*seeds)(void *work, const RvRoadJob *job);
  RvStatus (*learn)(void *work, const RvRoadJob *job);
  RvStatus (*classify)(void *work, const RvRoadJob *job);
  RvStatus (*publish)(void *work, const RvRoadJob *job);
  RvStatus (*reset)(void *work, RvStream stream);
  /* Fills arrays that have room for library_size models and min_samples samples; replaces what was
   * learnt. Both wait for the stream. */
  RvStatus (*take)(void *work, RvRoadLearnt *learnt, RvStream stream);
  RvStatus (*give)(void *work, const RvRoadLearnt *learnt, RvStream stream);
  /* Parameters that change no memory. */
  void (*configure)(void *work, const RvRoadConfig *config);
} RvRoadStages;

struct RvRoad {
  RvRoadConfig config;
  RvEngine engine;
  const RvRoadStages *stages;
  void *work; /* the engine's own struct, in host memory */
  RvArena arena;
  RvVote *vote; /* histograms of the three channels; NULL when nothing is equalised */
};

extern const RvRoadStages rv_road_stages_cpu, rv_road_stages_cuda;

/* One block of host memory with room for these; free it with rv_memory_free(…, RV_CPU). NULL when
 * exhausted. */
RvRoadLearnt *rv_road_learnt_new(int bins, int models, int waiting);

/* Makes it what an object of `config` could have learnt; the same bins. */
void rv_road_learnt_fit(RvRoadLearnt *learnt, const RvRoadConfig *config);

/* Most models that one learning makes. */
static inline int rv_road_models_max(const RvRoadConfig *c) {
  const int given = c->initial_models > c->new_models ? c->initial_models : c->new_models;
  return c->estimate_models ? c->library_size : given;
}

/* The tables of both engines: RV_ROAD_INVERSE_SIZE, RV_ROAD_EXP_SIZE, RV_ROAD_LOG_SIZE entries. */
void rv_road_inverse_table(const RvRoadConfig *config, uint32_t *table);
void rv_road_exp_table(uint32_t *table);
void rv_road_log_table(uint32_t *table);

/* --- The CPU engine -------------------------------------------------------------------------- */

/* Gaussians with a diagonal covariance over the cells, in counts. */
typedef struct RvRoadModels {
  int count;
  double *mean, *variance; /* [model][cell] */
  double *weight;          /* [model] */
} RvRoadModels;

/* Clusters of exemplars, [cluster][cluster]: sums over all pairs of members, symmetric. */
typedef struct RvRoadClusters {
  uint32_t apart[RV_ROAD_EXEMPLARS * RV_ROAD_EXEMPLARS];
  uint32_t squared[RV_ROAD_EXEMPLARS * RV_ROAD_EXEMPLARS];
  uint64_t within[RV_ROAD_EXEMPLARS]; /* squared distances of all pairs of a cluster */
  int size[RV_ROAD_EXEMPLARS];        /* exemplars; 0: merged into another */
} RvRoadClusters;

typedef struct RvRoadWork {
  RvRoadConfig config;
  int columns, rows, patches, cells, area; /* area: px of a patch */
  int threads;
  int models_em; /* most models that one learning makes */

  uint32_t *histogram; /* [channel][256] */
  uint8_t *equal;      /* [channel][256] */
  uint8_t *counts;     /* [patch][cell] */
  uint32_t *inverse;   /* [disparity in 1/16 px]: 2^32 / (disparity + doffs), 0: no value */
  uint32_t *depth;     /* [patch]: sum of disparity + doffs in 1/16 px */
  uint8_t *valid;      /* [patch]: px with a disparity */
  uint32_t *lines;     /* [row of patches][RV_ROAD_DEPTHS]: v-disparity */
  uint8_t *sample;     /* [patch]: 1 near and smooth; later 1 seed */
  uint32_t *room;      /* [patch]: see rv_road_color_budget */
  uint8_t *like;       /* [patch]: 1 road-like */
  uint8_t *road;       /* [patch]: 1 when most round it are road-like; later 1 road */
  int32_t *parent;     /* [patch]: union-find; the root is the smallest patch */
  int32_t *size;       /* [patch]: of a root's component */
  uint8_t *features;   /* [sample][cell]: those that wait, then the seeds */
  uint32_t *key;       /* [sample]: see rv_road_bucket */
  int32_t *rest;       /* [sample]: nearest model, then those that are left */
  uint32_t *share;     /* [sample][model]: responsibility in 1/65536 */
  uint32_t *cost;      /* [model][cell][count] */
  uint32_t *nearest;   /* [patch]: see rv_road_combined_cost */
  uint32_t *exp, *log; /* tables of RV_ROAD_EXP_SIZE, RV_ROAD_LOG_SIZE */
  int64_t *prior;      /* [model] */
  RvRoadModels library, fresh;
  RvRoadClusters *clusters;
  int waiting;
  RvRoadPlane plane;
  RvRoadReport report;
} RvRoadWork;

/* Takes the pieces of `config` (may be work->config itself), as rv_arena_take wants it, twice. */
void rv_road_layout(RvRoadWork *work, const RvRoadConfig *config, RvArena *arena);
void rv_road_tables(RvRoadWork *work);

/* Patches: features, and sums of disparity (NULL: none). */
void rv_road_features(RvRoadWork *work, const RvPlane *color);
void rv_road_depths(RvRoadWork *work, const RvPlane *disparity);
/* Fits the plane; plane.height is 0 without one. */
void rv_road_ground(RvRoadWork *work);
/* Samples and the largest component of them. */
void rv_road_seeds(RvRoadWork *work, const RvPlane *disparity);
/* Library and waiting samples. */
void rv_road_learn(RvRoadWork *work);
/* How many models the samples named by rest[] are made into, 1 .. library_size. */
int rv_road_clusters(RvRoadWork *work, int samples);
/* Expectation maximisation: `samples` rows of `features` named by rest[] become at most k models in
 * `fresh`; returns the iterations. */
int rv_road_em(RvRoadWork *work, int samples, int k);
/* road[] from like[]: the majority of the patches round each. */
void rv_road_smooth_patches(RvRoadWork *work);
/* Distances to the library, and the road. */
void rv_road_classify(RvRoadWork *work);

/* Table of costs of `models`, and the smallest whole distance of one feature vector; *model says
 * whose. */
void rv_road_tabulate(RvRoadWork *work, const RvRoadModels *models, RvRoadDistance distance);
uint32_t rv_road_nearest(const RvRoadWork *work, const uint8_t *feature, int models,
                         RvRoadDistance distance, int *model);
/* Components of equal non-zero patches of `set`: parent (root, or -1) and size of roots. */
void rv_road_components(RvRoadWork *work, const uint8_t *set);
/* Root of the largest, of equal ones the smallest; -1 without any. */
int rv_road_largest(const RvRoadWork *work);

#ifdef __cplusplus
}
#endif

#endif
