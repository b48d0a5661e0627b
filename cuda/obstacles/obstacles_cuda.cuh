/* SPDX-License-Identifier: MIT */
/* obstacles_cuda.cuh: memory of the CUDA engine of obstacles and free space, and its stages.
 * Internal.
 *
 * Kernels of a frame, without host synchronization:
 *   tables      rows of the ground by D and by column
 *   strips      one block per strip: votes, evidence, runs
 *   space       block 0: the path of the free space; the others: joins of runs, a block per strip
 *   components  block 0: roots, runs by component; the others: limits of strips, a warp per strip
 *   boxes       one warp per component
 *   sort        one block: order, indices
 *   columns     one block per box: valid pixels; and the columns of the free space */
#ifndef RV_OBSTACLES_CUDA_CUH
#define RV_OBSTACLES_CUDA_CUH

#include "obstacles/obstacles_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"

/* Results of a frame. */
struct ObstaclesFrame {
  int components;
  int boxes; /* at most RV_OBSTACLES_MAX */
};

struct ObstaclesComponent {
  int label, first, count; /* first and count: of its runs in `order` */
};

struct ObstaclesLimit {
  RvObstaclesLimit limit; /* without its box */
  int through;            /* bin up to which ground is known where the limit is none */
};

struct ObstaclesCuda {
  RvObstaclesPlan plan; /* tables: device memory */
  int overlaps;         /* a kernel may start before its predecessor has ended */
  int is_shared;        /* `from` is in shared memory */
  RvObstaclesTables *tables;
  ObstaclesFrame *frame;
  uint16_t *raster;
  RvObstaclesDepthRow *depth; /* [D in 1/16 px] */
  int32_t *column;            /* [px] */
  uint32_t *votes;            /* [strip][fine] */
  int16_t *data;              /* [strip][coarse]: nearer evidence less that of the bin */
  uint8_t *evidence;          /* [strip][coarse] */
  uint32_t *ground;           /* [strip][coarse / 32] */
  uint8_t *valid;             /* [strip] */
  RvObstaclesRun *runs;       /* [strip][RV_OBSTACLES_RUNS] */
  int32_t *run_count;         /* [strip] */
  uint8_t *from;              /* [strip][coarse] */
  uint8_t *path;              /* [strip] */
  ObstaclesLimit *limits;     /* [strip] */
  int32_t *label;             /* [strip][RV_OBSTACLES_RUNS]: union-find; the root is the least */
  int32_t *order;             /* [run], by component: 2 x run + 1 for the first of a strip */
  int32_t *rank;              /* [run]: of a root: its box or -1 */
  ObstaclesComponent *components;
  RvObstacleBox *boxes; /* [component] */
  uint64_t *keys;       /* [component]: order; 0: no obstacle */
};

/* Arguments of the kernels of a frame. */
struct ObstaclesArgs {
  RvPlane disparity, gray;
  const RvGroundSurface *ground;
  RvObstaclesOutput output;
};

static __device__ __forceinline__ bool obstacles_has_ground(const ObstaclesArgs &args) {
  return args.ground->slope_y > 0;
}

/* Runs of a strip; only of frames with a ground. */
static __device__ __forceinline__ int obstacles_slots(const ObstaclesCuda &w) {
  return w.plan.strips * RV_OBSTACLES_RUNS;
}

static inline ObstaclesArgs obstacles_args(const RvObstaclesJob *job) {
  return {job->disparity, job->source.gray, job->source.ground, job->output};
}

/* Launches a kernel of the chain of a frame. */
template <class... Params, class... Args>
static RvStatus obstacles_launch(const ObstaclesCuda *w, void (*kernel)(Params...), int blocks,
                                 unsigned threads, size_t shared, RvStream stream,
                                 const Args &...args) {
  return rv_launch(&w->plan.config.log, kernel, dim3((unsigned)blocks), dim3(threads), shared,
                   stream, w->overlaps != 0, args...);
}

/* Allow the shared memory of kernels, for objects of any size. */
RvStatus obstacles_cuda_open_boxes(const RvLog *log);
RvStatus obstacles_cuda_open_space(ObstaclesCuda *w, int device);

RvStatus obstacles_cuda_strips(const ObstaclesCuda *w, const RvObstaclesJob *job);
RvStatus obstacles_cuda_space(const ObstaclesCuda *w, const RvObstaclesJob *job);
RvStatus obstacles_cuda_boxes(const ObstaclesCuda *w, const RvObstaclesJob *job);

#endif
