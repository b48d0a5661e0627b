/* SPDX-License-Identifier: MIT */
/* road_cuda.cuh: memory and kernels of the CUDA engine. Not installed.
 *
 * The kernels of a frame, in order, without host synchronization:
 *
 *   features   road_cuda_patches.cu  per patch: sum of disparities; v-disparity
 *                                    on the side: equalization; per patch: counts
 *   ground     road_cuda_ground.cu   line with the most votes; four iterations of least squares
 *   seeds      road_cuda_patches.cu  samples
 *              road_cuda_label.cu    their components, the largest one
 *   learn      road_cuda_match.cu    nearest model of each sample
 *              road_cuda_learn.cu    updates, expectation maximization, replacement, cost tables
 *   classify   road_cuda_match.cu    nearest model of each patch, majority filter
 *              road_cuda_label.cu    components
 *   publish    road_cuda.cu          mask, distance, seeds, report
 *
 * Histograms and counts of colors are made on a stream of their own, next to the kernels up to the
 * components of the samples; the nearest models are the first to need them. Without a disparity all
 * is on the stream of the caller.
 *
 * Ground and learn run in a group of blocks (a cluster) that synchronize on the device; on GPUs
 * without clusters the group is one block. The blocks of a group exchange values through global
 * memory, each block writing its own part, so that the order of sums is fixed. */
#ifndef RV_ROAD_CUDA_CUH
#define RV_ROAD_CUDA_CUH

#include "road/road_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"

#define ROAD_SEGMENT 64 /* patches of a row per block: a multiple of 32 */
#define ROAD_THREADS 256
#define ROAD_GROUP_MAX 8 /* blocks of a group: supported by all GPUs with clusters */
#define ROAD_GROUP_THREADS 512
#define ROAD_GROUP_WARPS (ROAD_GROUP_THREADS / 32)
#define ROAD_FIT_VALUES 9
/* Blocks of the group of the least squares where there are rows for them; not all GPUs can. */
#define ROAD_FIT_BLOCKS 16

/* The plan, and sizes of the engine's arrays. */
struct RoadPlan : RvRoadPlan {
  int pitch;       /* bytes of a patch's counts: cells, then 0, to a multiple of 16 */
  int model_pitch; /* models per row of a cost table */
};

/* Results of a frame. Cleared by its first kernel. */
struct RoadFrame {
  unsigned long long line;    /* votes << 32 | ~index of the best line */
  unsigned long long largest; /* size << 32 | ~root: component of samples; 0 = none */
  unsigned long long largest_road;
  unsigned long long alike; /* ~ of the least rv_road_gap_key of two models; 0 = no pair */
  RvRoadPlane plane;
  unsigned first; /* ~ of the first unmatched sample */
  int samples, strip, left, road;
  int clusters; /* number of models to make, with estimate_models */
  int models_added, iterations, samples_matched;
  unsigned done; /* blocks of the last kernel */
};

/* State between frames. All 0: an empty library. */
struct RoadState {
  int models, pending;
  int side; /* half of RoadCuda.pending that contains the pending samples */
};

/* The lateral profile, kept between frames. */
struct RoadProfile {
  unsigned long long votes[RV_ROAD_STRIPS]; /* of the last frame, see rv_road_strip_vote */
  RvRoadStrip strips[RV_ROAD_STRIPS];
  uint32_t scale[RV_ROAD_STRIPS]; /* of this frame, see rv_road_strip_scale */
};

/* Cost of a count minus that of an empty cell, [cell][count][model], modulo 2^32, and the cost
 * of an all empty patch, [model]. For Chebyshev, whose costs are not summed: the cost itself. */
struct RoadTable {
  uint32_t *cost, *base;
};

struct RoadGaussians {
  double *mean, *variance, *weight; /* [model][cell], [model] */
};

/* Parameter of all kernels. */
struct RoadCuda {
  RoadPlan plan;
  int blocks;       /* of a group */
  int fit_blocks;   /* of that of the least squares */
  int shared_table; /* bytes of the cost table that expectation maximization has in shared memory */
  int shared_known; /* bytes of the library that a block of learning has there; 0: it has w.known */
  int shared_means; /* bytes that the least squares have for the means of patches */
  int processors;   /* SMs */
  int overlaps;     /* kernels may start before the preceding one ends */
  RvStream side;    /* of the kernels that need only colors */
  cudaEvent_t forked, joined;

  uint32_t *histogram, *inverse, *exp, *log;
  RoadFrame *frame;
  RoadState *state;
  RoadProfile *profile;
  uint8_t *counts;  /* [patch][pitch] */
  uint32_t *depth;  /* [patch]: sum of disparity + doffs in 1/16 px */
  uint32_t *mean;   /* [patch]: their mean in 1/256 px; ~0: less than half of the px are valid,
                     * or the patch is not ahead */
  uint32_t *budget; /* [patch]: see rv_road_color_budget; of frames with a plane */
  uint8_t *like;    /* [patch]: score by color and height, or with persistence `lately` */
  uint8_t *lately;  /* [patch]: see rv_road_persist; kept between frames */
  uint8_t *valid;   /* [patch] */
  uint32_t *lines;  /* [row][RV_ROAD_DEPTHS]; all 0 between frames */
  uint8_t *seed;    /* [patch]: 1 = seed; in frames without seeds that of `kept` */
  uint8_t *kept;    /* [patch]: see rv_road_kept; kept between frames */
  int32_t *parent;  /* [patch]: union-find, -1 outside; the root is the smallest patch */
  int32_t *size;    /* [patch]: of a root's component */
  uint8_t *contains_seed; /* [patch]: of a root: its component contains a mark (road_is_mark) */
  uint32_t *nearest;      /* [patch] */
  uint8_t *pending;       /* [2][min_samples][pitch] */
  uint32_t *left;         /* unmatched samples: index of a pending one, else their number + patch */
  uint8_t *rows;          /* [left][pitch]: their counts, contiguous */
  uint32_t *share;        /* [left][model] */
  RoadTable update, classify; /* the same memory when `distance` is Mahalanobis */
  uint32_t *dimensions;       /* [model]: effective dimensions */
  RoadGaussians library;
  double *known;       /* [block of the group] of all models; NULL: they fit shared memory */
  RoadGaussians fresh; /* [block of the group] of plan.models models: each block has its own */
  unsigned long long *matched; /* [model]: samples; all 0 between frames, like the next two */
  unsigned long long *sums;    /* [model][cell]: of the counts */
  unsigned long long *squares;
  RvRoadClusters *clusters; /* with estimate_models */
  uint32_t *link;           /* [cluster][cluster], the second the later one: mean distance, or ~0 */
  uint32_t *unmatched;      /* [cell][count]: unmatched samples; all 0 between frames */
  int64_t *exchange;        /* [2][block][values]: of a group */
};

/* Values that a block of the group sends to the others at once. */
static inline size_t road_exchange_values(const RoadPlan *plan) {
  return (size_t)plan->models * (2 * (size_t)plan->cells + 1) + 1;
}

/* Means, variances and scales of the whole library, and how many of them every GPU has shared
 * memory for. */
#define ROAD_KNOWN_SHARED (32 * 1024)
static inline size_t road_known_bytes(const RoadPlan *plan) {
  return (size_t)3 * plan->config.library_size * plan->cells * sizeof(double);
}

/* First statement of every kernel, by all of its threads. */
static __device__ __forceinline__ void road_begin() {
  rv_launch_wait();
  rv_launch_next();
}

/* Seeds of a frame; 0 when there are too few to learn from. After the components of the samples. */
static inline __device__ int road_seeds(const RoadCuda &w) {
  const int seeds = (int)(w.frame->largest >> 32);
  return rv_road_has_seeds(seeds, w.frame->strip, w.plan.config.min_seeds) ? seeds : 0;
}

/* Whether a value of RoadCuda.seed is a seed; or marks a component as road. */
static __device__ __forceinline__ bool road_is_seed(int seed) {
  return (seed & 1) != 0;
}
static __device__ __forceinline__ bool road_is_mark(int seed) {
  return (seed & (1 | RV_ROAD_KEPT_ROAD)) != 0;
}

/* Launches a kernel of a frame. */
template <class... Params, class... Args>
static RvStatus road_launch(const RoadCuda *w, void (*kernel)(Params...), dim3 grid, dim3 block,
                            size_t shared, RvStream stream, const Args &...args) {
  return rv_launch(&w->plan.config.log, kernel, grid, block, shared, stream, w->overlaps != 0,
                   args...);
}

/* Whether colors are evaluated on the stream `side`. */
static inline bool road_is_forked(const RvRoadJob *job) {
  return job->color_stream != job->stream;
}

RvStatus road_cuda_features(const RoadCuda *work, const RvRoadJob *job);
RvStatus road_cuda_samples(const RoadCuda *work, const RvRoadJob *job);
RvStatus road_cuda_ground(const RoadCuda *work, const RvGroundSurface *ground, RvStream stream);
RvStatus road_cuda_label_seeds(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_label_road(const RoadCuda *work, RvStream stream);
/* Of all samples; waits for the counts when they are made on the side. */
RvStatus road_cuda_match(const RoadCuda *work, const RvRoadJob *job);
RvStatus road_cuda_classify(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_smooth(const RoadCuda *work, RvStream stream);
RvStatus road_cuda_open_match(const RoadCuda *work);
RvStatus road_cuda_open_ground(RoadCuda *w);
/* Chooses blocks and shared_table; before the first run. */
RvStatus road_cuda_open_learn(RoadCuda *work);
RvStatus road_cuda_learn(const RoadCuda *work, RvStream stream);
/* Cost tables of the library; learning makes them as well. */
RvStatus road_cuda_tabulate(const RoadCuda *work, RvStream stream);

#endif
