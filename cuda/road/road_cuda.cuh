/* SPDX-License-Identifier: MIT */
/* road_cuda.cuh: what the .cu files of road detection share. Not installed.
 *
 * Frame by frame, kernel by kernel, without the host:
 *   features   road_cuda_patches.cu  equalisation, counts of each patch, its disparities,
 * v-disparity ground     road_cuda_ground.cu   the line of most votes; four rounds of least squares
 *   seeds      road_cuda_patches.cu  samples; road_cuda_label.cu: their components, the largest
 *   learn      road_cuda_match.cu    nearest model of each sample; road_cuda_learn.cu: updates,
 *                                    expectation maximisation, replacement, cost tables
 *   classify   road_cuda_match.cu    nearest model of each patch, majority; road_cuda_label.cu:
 *                                    components
 *   publish    road_cuda.cu          mask, distance, seeds, report
 *
 * Ground and learn run in a group of blocks (a cluster) that wait for one another on the device; on
 * GPUs without clusters the group is one block. What a group exchanges goes through global memory,
 * each block writing its own part, so that sums are taken in a fixed order. */
#ifndef RV_ROAD_CUDA_H
#define RV_ROAD_CUDA_H

#include "road/road_stages.h"
#include "rv_cuda.cuh"

#define ROAD_SEGMENT 64 /* patches of a row that one block takes: a multiple of 32 */
#define ROAD_THREADS 256
#define ROAD_GROUP_MAX 8 /* blocks of a group: what every GPU with clusters takes */
#define ROAD_GROUP_THREADS 512
#define ROAD_GROUP_WARPS (ROAD_GROUP_THREADS / 32)
#define ROAD_FIT_VALUES 9

/* Sizes, the same for every frame. */
struct RoadShape {
  int width, height, columns, rows, patches;
  int n, area, bins, cells;
  int pitch;       /* bytes of a patch's counts: cells, then 0, to a multiple of 16 */
  int library;     /* places */
  int model_pitch; /* models of a row of a cost table */
  int models_em, min_samples;
};

/* What a frame finds out. Cleared by its first kernel. */
struct RoadFrame {
  unsigned long long line;    /* votes << 32 | ~index of the best line */
  unsigned long long largest; /* size << 32 | ~root: component of samples; 0 without any */
  unsigned long long largest_road;
  RvRoadPlane plane;
  unsigned first; /* ~ of the first sample that is left */
  int samples, left, road;
  int clusters; /* models to make, when they are estimated */
  int learnt, iterations, updated;
  unsigned done; /* blocks of the last kernel */
};

/* What is kept from frame to frame. All 0: an empty library. */
struct RoadState {
  int models, waiting;
  int side; /* which half of `waiting` holds the samples that wait */
};

/* Cost of a count against an empty cell's, [cell][count][model], modulo 2^32, and the cost of an
 * all empty patch, [model]. For Chebyshev, whose costs do not add up: the cost itself. */
struct RoadTable {
  uint32_t *cost, *base;
};

struct RoadGaussians {
  double *mean, *variance, *weight; /* [model][cell], [model] */
};

struct RoadCuda {
  RvRoadConfig config;
  RoadShape shape;
  int blocks;       /* of a group */
  int shared_table; /* bytes of a cost table that expectation maximisation keeps in shared memory */
  int processors;
  int overlaps; /* a kernel may be set up while the one before it runs */
  uint32_t *histogram, *inverse, *exp, *log;
  RoadFrame *frame;
  RoadState *state;
  uint8_t *counts;        /* [patch][pitch] */
  uint32_t *depth;        /* [patch]: sum of disparity + doffs in 1/16 px */
  uint32_t *mean;         /* [patch]: mean of them in 1/256 px; ~0: less than half are known,
                      * or it lies beside the ground ahead */
  uint32_t *room;         /* [patch]: see rv_road_color_budget; of frames with a plane */
  uint8_t *like;          /* [patch]: 1 road-like */
  uint8_t *valid;         /* [patch] */
  uint32_t *lines;        /* [row][RV_ROAD_DEPTHS]; all 0 between frames */
  uint8_t *seed;          /* [patch] */
  int32_t *parent;        /* [patch]: union-find, -1 outside; the root is the smallest patch */
  int32_t *size;          /* [patch]: of a root's component */
  uint8_t *contains_seed; /* [patch]: of a root: its component holds a seed */
  uint32_t *nearest;      /* [patch] */
  uint8_t *waiting;       /* [2][min_samples][pitch] */
  uint32_t *left;  /* samples near no model: their number, those that wait before the seeds */
  uint8_t *rows;   /* [left][pitch]: their counts, side by side */
  uint32_t *share; /* [left][model] */
  RoadTable update, classify; /* the same memory when `distance` is Mahalanobis */
  RoadGaussians library;
  RoadGaussians fresh; /* [block of the group] of models_em models: each block keeps its own */
  unsigned long long *matched; /* [model]: samples; all 0 between frames, as the next two */
  unsigned long long *sums;    /* [model][cell]: of the counts */
  unsigned long long *squares;
  RvRoadClusters *clusters; /* with estimate_models */
  uint32_t *link;           /* [cluster][cluster], the second the later one: mean distance, or ~0 */
  uint32_t *unmatched;      /* [cell][count]: samples near no model; all 0 between frames */
  int64_t *exchange;        /* [2][block][values]: of a group */
};

/* Values that a block of the group hands to the others at once. */
static inline size_t road_exchange_values(const RoadShape *s) {
  return (size_t)s->models_em * (2 * (size_t)s->cells + 1) + 1;
}

RvStatus road_cuda_features(const RoadCuda *work, const RvRoadJob *job);
RvStatus road_cuda_samples(const RoadCuda *work, const RvRoadJob *job);
RvStatus road_cuda_ground(const RoadCuda *work, const RvRoadJob *job);
RvStatus road_cuda_label_seeds(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_label_road(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_match(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_classify(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_smooth(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_open_match(const RoadCuda *work);
/* Chooses blocks and shared_table; before the first run. */
RvStatus road_cuda_open_learn(RoadCuda *work);
RvStatus road_cuda_learn(const RoadCuda *work, RvStream stream);
/* Cost tables of the library as it is; learning makes them too. */
RvStatus road_cuda_tabulate(const RoadCuda *work, RvStream stream);

#endif
