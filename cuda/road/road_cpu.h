/* SPDX-License-Identifier: MIT */
/* road_cpu.h: memory and functions of the CPU engine. Not installed. */
#ifndef RV_ROAD_CPU_H
#define RV_ROAD_CPU_H

#include "road/road_stages.h"

/* Gaussians with a diagonal covariance over the cells, in counts. */
typedef struct RvRoadModels {
  int count;
  double *mean, *variance; /* [model][cell] */
  double *weight;          /* [model] */
} RvRoadModels;

typedef struct RvRoadCpu {
  const RvRoadPlan *plan; /* of the current call */
  int threads;

  uint32_t *histogram; /* [channel][256] */
  uint8_t *equal;      /* [channel][256] */
  uint8_t *counts;     /* [patch][cell] */
  uint32_t *inverse;   /* [disparity in 1/16 px]: 2^32 / (disparity + doffs), 0 = invalid */
  uint32_t *depth;     /* [patch]: sum of disparity + doffs in 1/16 px */
  uint8_t *valid;      /* [patch]: px with a disparity */
  uint32_t *lines;     /* [row of patches][RV_ROAD_DEPTHS]: v-disparity */
  uint8_t *sample;     /* [patch]: 1 = near and smooth; after seeds: 1 = seed */
  uint32_t *budget;    /* [patch]: see rv_road_color_budget */
  uint8_t *lately;     /* [patch]: see rv_road_persist; kept between frames */
  uint8_t *like;       /* [patch]: score by color and height, or with persistence `lately` */
  uint8_t *road;       /* [patch]: 1 = majority is road-like; after classify: 1 = road */
  uint8_t *kept;       /* [patch]: see rv_road_kept; kept between frames */
  int32_t *parent;     /* [patch]: union-find; the root is the smallest patch */
  int32_t *size;       /* [patch]: of a root's component */
  RvRoadStrip *strips; /* [RV_ROAD_STRIPS]: lateral profile; kept between frames, like the votes */
  uint64_t *votes;     /* [strip]: of a frame, see rv_road_strip_vote */
  uint32_t *lateral;   /* [strip]: see rv_road_strip_scale */
  uint8_t *least;      /* [column]: of the median, like the next */
  uint8_t *count;      /* [column] */
  uint8_t *features;   /* [sample][cell]: pending samples, then the seeds */
  uint32_t *key;       /* [sample]: see rv_road_bucket */
  int32_t *rest;       /* [sample]: nearest model, then the unmatched samples */
  uint32_t *share;     /* [sample][model]: responsibility in 1/65536 */
  uint32_t *cost;      /* [model][cell][count] */
  uint32_t *nearest;   /* [patch]: see rv_road_combined_cost */
  uint32_t *exp, *log; /* tables of RV_ROAD_EXP_SIZE, RV_ROAD_LOG_SIZE */
  int64_t *prior;      /* [model] */
  RvRoadModels library, fresh;
  RvRoadClusters *clusters;
  int pending; /* samples */
  RvRoadPlane plane;
  RvRoadReport report;
} RvRoadCpu;

/* Features of the patches; sums of their disparities. */
void rv_road_features(RvRoadCpu *work, const RvPlane *color);
void rv_road_depths(RvRoadCpu *work, const RvPlane *disparity);
/* Fits the plane; plane.height is 0 without one. */
void rv_road_ground(RvRoadCpu *work);
/* Samples and their largest component. */
void rv_road_seeds(RvRoadCpu *work, const RvPlane *disparity);
/* Library and pending samples. */
void rv_road_learn(RvRoadCpu *work);
/* Returns the number of models for the samples in rest[], 1 to library_size. */
int rv_road_clusters(RvRoadCpu *work, int samples);
/* Expectation maximization: makes at most k models in `fresh` of the `samples` rows of `features`
 * in rest[]; returns the number of iterations. */
int rv_road_em(RvRoadCpu *work, int samples, int k);
/* Majority filter: road[] from like[]. */
void rv_road_smooth_patches(RvRoadCpu *work);
/* Median of the scores of the same windows in a row of patches: where the number of patches is
 * even, the lower one of the two in the middle, so that it is at least RV_ROAD_LIKE exactly where
 * road[] of the majority filter is 1. */
void rv_road_median_row(const RvRoadCpu *work, int y, uint8_t *row);
/* The road of road[], where it is connected: kept[] of a frame with seeds. */
void rv_road_keep_components(RvRoadCpu *work);
/* Distances to the library, and the road. */
void rv_road_classify(RvRoadCpu *work);

/* Cost table of `models`; smallest combined cost of one feature vector, *model is its model. */
void rv_road_tabulate(RvRoadCpu *work, const RvRoadModels *models, RvRoadDistance distance);
uint32_t rv_road_nearest(const RvRoadCpu *work, const uint8_t *feature, int models,
                         RvRoadDistance distance, int *model);
/* 4-connected components of the patches in `set`: parent (root, or -1) and size of roots. */
void rv_road_components(RvRoadCpu *work, const uint8_t *set);
/* Returns the root of the largest; on a tie, the smallest root; -1 = none. */
int rv_road_largest(const RvRoadCpu *work);

#endif
