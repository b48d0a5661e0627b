/* SPDX-License-Identifier: MIT */
/* road_stages.h: plan, job and stages of road detection. Not installed. */
#ifndef RV_ROAD_STAGES_H
#define RV_ROAD_STAGES_H

#include "road/road_rules.h"
#include "rv_object.h"
#include "vote/vote.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of an object. rv_road_set_config may replace the config between two runs: the fields
 * that decide about memory and tables stay the same. */
typedef struct RvRoadPlan {
  RvRoadConfig config;
  int columns, rows, patches;
  int area;   /* px per patch */
  int cells;  /* of a patch's histogram */
  int models; /* maximum number of models made per frame */
  int rate;   /* of rv_road_persist */
} RvRoadPlan;

/* Clusters of exemplars, [cluster][cluster]: sums over all pairs of members, symmetric. */
typedef struct RvRoadClusters {
  uint32_t distance[RV_ROAD_EXEMPLARS * RV_ROAD_EXEMPLARS];
  uint32_t squared[RV_ROAD_EXEMPLARS * RV_ROAD_EXEMPLARS];
  uint64_t within[RV_ROAD_EXEMPLARS]; /* squared distances of all pairs of a cluster */
  int size[RV_ROAD_EXEMPLARS];        /* exemplars; 0 = merged into another cluster */
} RvRoadClusters;

/* Models and pending samples in host memory: for save, load and set_config. */
typedef struct RvRoadLearned {
  int bins, patch_size;
  int slots; /* of the library that contained them */
  int count, pending;
  double *mean, *variance; /* [model][cell], in px per patch */
  double *weight;          /* [model] */
  uint8_t *features;       /* [pending sample][cell] */
} RvRoadLearned;

/* One call of run(), reset(), save(), load() or set_config(). */
typedef struct RvRoadJob {
  const RvRoadPlan *plan;
  RvPlane color, disparity;      /* disparity.data NULL: unknown */
  const RvGroundSurface *ground; /* NULL: fitted */
  RvRoadOutput output;
  RvRoadLearned *learned; /* of take and give */
  RvPlane votes;          /* set by the stage locate */
  RvStream color_stream;  /* of the votes; `stream`, or set by locate, and joined by learn */
  RvStream stream;
} RvRoadJob;

/* The stages of a frame up to publish, in the order in which run() calls them; locate sets
 * job->votes, the memory of the histograms, with equalize, and job->color_stream where color and
 * disparity are evaluated side by side.
 *   reset  clears models and pending samples
 *   take   copies models and samples to job->learned, with capacity for library_size models and
 *          min_samples samples
 *   give   replaces them by job->learned
 * take and give wait for the stream. */
RV_STAGES(RvRoad, road, RvRoadJob, *locate, *features, *ground, *seeds, *learn, *classify, *publish,
          *reset, *take, *give);

struct RvRoad {
  RvObject object;
  RvRoadPlan plan;
  RvVote *vote; /* histograms of the three channels; NULL without equalize */
};

/* Sets the fields of a plan after its config, which is valid. */
void rv_road_make_plan(void *plan);

/* Calls rv_road_stages_*.take or .give of an object. */
RvStatus rv_road_take(const RvRoad *road, RvRoadLearned *learned, RvStream stream);
RvStatus rv_road_give(RvRoad *road, RvRoadLearned *learned, RvStream stream);

/* One block of host memory with this capacity; free it with rv_memory_free(…, RV_CPU). NULL, after
 * logging, when there is none. */
RvRoadLearned *rv_road_learned_new(const RvLog *log, int bins, int models, int pending);

/* Adapts models and samples to `config`, which has the same bins. */
void rv_road_learned_fit(RvRoadLearned *learned, const RvRoadConfig *config);

/* The tables of both engines: RV_ROAD_INVERSE_SIZE, RV_ROAD_EXP_SIZE, RV_ROAD_LOG_SIZE entries. */
void rv_road_inverse_table(const RvRoadConfig *config, uint32_t *table);
void rv_road_exp_table(uint32_t *table);
void rv_road_log_table(uint32_t *table);

#ifdef __cplusplus
}
#endif
#endif
