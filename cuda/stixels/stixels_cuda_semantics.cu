/* SPDX-License-Identifier: MIT */
/* stixels_cuda_semantics.cu: costs of the semantic classes in the cells, CUDA engine. The kernels of
 * labels and scores read no results of the preceding ones. Their blocks still wait for those at
 * their end, so that a kernel that waits for one of these has waited for those. */
#include "stixels/stixels_cuda_semantics.cuh"

static __global__ void __launch_bounds__(WIDE_THREADS)
    wide_kernel(const __grid_constant__ RvStixelsPlan plan,
                const __grid_constant__ RvStixelsCuda work, const RvPlane scores) {
  rv_launch_next();
  wide_costs(plan, work, scores, blockIdx.x);
  rv_launch_wait();
}

/* Labels or scores of any size. */
static __global__ void __launch_bounds__(128)
    any_kernel(const __grid_constant__ RvStixelsPlan plan, RvPlane map, int is_labels,
               const uint16_t *table, uint16_t *costs) {
  const int x = blockIdx.x * 128 + threadIdx.x, v = blockIdx.y, index = blockIdx.z;
  rv_launch_next();
  if (x >= plan.columns)
    return;
  const Cell cell = cell_at(plan, x, v);
  const int semantic = plan.semantic_class[index];
  const int height = is_labels ? map.height : map.height / plan.semantics;
  const int base = is_labels ? 0 : semantic * height;
  uint64_t sum = 0;
  for (int y = cell.high; y < cell.low; y++) {
    const char *row =
        (const char *)map.data + (base + y * height / plan.config.height) * map.stride;
    uint32_t part = 0;
    for (int u = cell.left; u < cell.right; u++) {
      const int at = u * map.width / plan.config.width;
      part += is_labels ? rv_stixels_label(&plan, ((const uint8_t *)row)[at], semantic)
                        : lifted(__half2float(((const __half *)row)[at])) - ONE;
    }
    sum += part;
  }
  costs[((size_t)x * plan.semantics + index) * plan.rows + v] = cost_of(cell, sum, table);
  rv_launch_wait();
}

RvStatus rv_stixels_cuda_semantics(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const RvLog *log = &plan->config.log;
  const RvPlane *scores = &job->input.scores;
  const bool is_early = work->is_chained;
  if (is_wide(plan, scores)) {
    if (plan->estimate) /* the ground kernel has computed them */
      return RV_OK;
    return rv_launch(log, wide_kernel, dim3(wide_blocks(plan)), dim3(WIDE_THREADS), 0, job->stream,
                     is_early, *plan, *work, *scores);
  }
  const dim3 grid(rv_div_up(plan->columns, 128), plan->rows, plan->semantics);
  return rv_launch(log, any_kernel, grid, dim3(128), 0, job->stream, is_early, *plan,
                   scores->data ? *scores : job->input.labels, !scores->data, work->scores,
                   work->own);
}

/* --- Repair ---------------------------------------------------------------------------------- */

#define REPAIR_THREADS 128
#define JUDGE_ROWS 32 /* of a block, which has one warp per column */
#define JUDGE_COLUMNS (REPAIR_THREADS / JUDGE_ROWS)

/* The expected ground of the frame, as expect_ground of the columns. */
static __device__ RvStixelsPlane ground_of(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                           const RvGroundSurface *surface) {
  const unsigned frame = __ldcg(&work.vote->frame);
  RvStixelsState before = rv_stixels_state_of(work, frame - 1);
  if (surface)
    rv_stixels_take(&plan, surface, &before);
  else if (plan.estimate && before.found == 0)
    return rv_stixels_state_of(work, frame).ground;
  return before.ground;
}

/* One thread per cell, lanes up the column. */
static __global__ void __launch_bounds__(REPAIR_THREADS)
    spot_kernel(const __grid_constant__ RvStixelsPlan plan,
                const __grid_constant__ RvStixelsCuda work, const RvGroundSurface *surface) {
  __shared__ RvStixelsPlane ground;
  const int i = blockIdx.x * REPAIR_THREADS + threadIdx.x, rows = plan.rows;
  const int x = i / rows, v = i % rows;
  rv_launch_wait();
  rv_launch_next();
  if (threadIdx.x == 0)
    ground = ground_of(plan, work, surface);
  if (i < 2)
    work.judged[i] = 0;
  __syncthreads();
  if (x < plan.columns)
    work.spots[i] =
        rv_stixels_spot(work.cells[i], rv_stixels_expected(&ground, v),
                        work.own + (size_t)x * plan.semantics * rows + v, rows, plan.semantics);
}

namespace {
/* The cells that judge one. */
struct Window {
  int left, right, low, high;
};
} // namespace

static __device__ __forceinline__ Window window_of(const RvStixelsPlan &plan, int x, int v) {
  return {rv_max(x - plan.judge_columns, 0), rv_min(x + plan.judge_columns, plan.columns - 1),
          rv_max(v - plan.judge_rows, 0), rv_min(v + plan.judge_rows, plan.rows - 1)};
}

static __device__ __forceinline__ RvStixelsSpot spot_at(const RvStixelsCuda &work, size_t at) {
  const uint2 words = *(const uint2 *)(work.spots + at);
  return {(uint16_t)words.x, (int16_t)(words.x >> 16), (uint16_t)words.y, 0};
}

static __device__ bool is_inside(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                 const RvStixelsSpot &spot, int x, int v) {
  const size_t at = (size_t)x * plan.rows + v;
  return (x == 0 || rv_stixels_alike(spot, spot_at(work, at - plan.rows)) > 0) &&
         (x == plan.columns - 1 || rv_stixels_alike(spot, spot_at(work, at + plan.rows)) > 0) &&
         (v == 0 || rv_stixels_alike(spot, spot_at(work, at - 1)) > 0) &&
         (v == plan.rows - 1 || rv_stixels_alike(spot, spot_at(work, at + 1)) > 0);
}

/* Weight of the cells of its class in the surface of a cell; *total: of all. */
static __device__ uint32_t judge(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                 const RvStixelsSpot &spot, const Window &w, uint32_t *total) {
  uint32_t own = 0, all = 0;
  for (int u = w.left; u <= w.right; u++)
#pragma unroll 4
    for (int t = w.low; t <= w.high; t++) {
      const RvStixelsSpot other = spot_at(work, (size_t)u * plan.rows + t);
      const uint32_t like = rv_stixels_alike(spot, other);
      all += other.label == RV_STIXELS_NO_LABEL ? 0 : like;
      own += other.label == spot.label ? like : 0;
    }
  *total = all;
  return own;
}

/* The class with most weight in the surface of a cell; weights: [class][thread]. */
static __device__ int class_around(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                   const RvStixelsSpot &spot, const Window &w,
                                   uint32_t weights[][REPAIR_THREADS], int thread) {
  for (int k = 0; k < plan.semantics; k++)
    weights[k][thread] = 0;
  for (int u = w.left; u <= w.right; u++)
    for (int t = w.low; t <= w.high; t++) {
      const RvStixelsSpot other = spot_at(work, (size_t)u * plan.rows + t);
      if (other.label != RV_STIXELS_NO_LABEL)
        weights[other.label][thread] += rv_stixels_alike(spot, other);
    }
  int best = 0;
  for (int k = 1; k < plan.semantics; k++)
    if (weights[k][thread] > weights[best][thread])
      best = k;
  return best;
}

static __global__ void __launch_bounds__(REPAIR_THREADS)
    judge_kernel(const __grid_constant__ RvStixelsPlan plan,
                 const __grid_constant__ RvStixelsCuda work) {
  const int v = blockIdx.x * JUDGE_ROWS + threadIdx.x;
  const int x = blockIdx.y * JUDGE_COLUMNS + threadIdx.y;
  const bool is_cell = v < plan.rows && x < plan.columns;
  const size_t at = (size_t)x * plan.rows + v;
  rv_launch_wait();
  rv_launch_next();
  RvStixelsSpot spot = {0, 0, RV_STIXELS_NO_LABEL, 0};
  if (is_cell)
    spot = spot_at(work, at);
  const bool has_label = spot.label != RV_STIXELS_NO_LABEL;
  const bool is_in = has_label && is_inside(plan, work, spot, x, v);
  uint32_t total = 0;
  const uint32_t own = has_label ? judge(plan, work, spot, window_of(plan, x, v), &total) : 0;
  const uint8_t verdict =
      has_label ? rv_stixels_verdict(own, total, is_in) : (uint8_t)RV_STIXELS_AGREED;
  if (is_cell)
    work.verdicts[at] = verdict;
  const unsigned inside = __ballot_sync(RV_WARP, is_in),
                 wrong = __ballot_sync(RV_WARP, verdict == RV_STIXELS_CONTRADICTED);
  if (threadIdx.x == 0 && inside)
    atomicAdd(work.judged, (uint32_t)__popc(inside));
  if (threadIdx.x == 0 && wrong)
    atomicAdd(work.judged + 1, (uint32_t)__popc(wrong));
}

static __global__ void __launch_bounds__(REPAIR_THREADS)
    exchange_kernel(const __grid_constant__ RvStixelsPlan plan,
                    const __grid_constant__ RvStixelsCuda work) {
  __shared__ uint32_t weights[RV_STIXELS_SEMANTICS_MAX][REPAIR_THREADS];
  const int i = blockIdx.x * REPAIR_THREADS + threadIdx.x, rows = plan.rows;
  const int x = i / rows, v = i % rows;
  rv_launch_wait();
  rv_launch_next();
  if (x >= plan.columns || !rv_stixels_is_doubtful(work.judged[1], work.judged[0]) ||
      !rv_stixels_is_wrong(&plan, work.spots, work.verdicts, x, v))
    return;
  const RvStixelsSpot spot = spot_at(work, i);
  const int around = class_around(plan, work, spot, window_of(plan, x, v), weights, threadIdx.x);
  uint16_t *costs = work.own + (size_t)x * plan.semantics * rows + v;
  uint16_t *one = costs + (size_t)around * rows;
  uint16_t *other = costs + (size_t)spot.label * rows;
  const uint16_t cost = *one;
  *one = *other;
  *other = cost;
}

RvStatus rv_stixels_cuda_repair(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const RvLog *log = &plan->config.log;
  const dim3 flat(rv_div_up(plan->columns * plan->rows, REPAIR_THREADS));
  const dim3 grid(rv_div_up(plan->rows, JUDGE_ROWS), rv_div_up(plan->columns, JUDGE_COLUMNS));
  RV_TRY(rv_launch(log, spot_kernel, flat, dim3(REPAIR_THREADS), 0, job->stream, work->is_chained,
                   *plan, *work, job->input.surface));
  RV_TRY(rv_launch(log, judge_kernel, grid, dim3(JUDGE_ROWS, JUDGE_COLUMNS), 0, job->stream,
                   work->is_chained, *plan, *work));
  return rv_launch(log, exchange_kernel, flat, dim3(REPAIR_THREADS), 0, job->stream,
                   work->is_chained, *plan, *work);
}

/* --- Sharing --------------------------------------------------------------------------------- */

#define SHARE_ROWS 32 /* of a block, which has one warp per column */
#define SHARE_COLUMNS 4
#define SHARE_CLASSES 4 /* of a thread */

/* One thread per cell and SHARE_CLASSES classes, lanes up the column. Unlike the kernels above it
 * reads results of its predecessors: the cells, filled, and their costs. */
static __global__ void __launch_bounds__(SHARE_ROWS *SHARE_COLUMNS)
    share_kernel(const __grid_constant__ RvStixelsPlan plan,
                 const __grid_constant__ RvStixelsCuda work) {
  const int v = blockIdx.x * SHARE_ROWS + threadIdx.x;
  const int x = blockIdx.y * SHARE_COLUMNS + threadIdx.y;
  const int first = blockIdx.z * SHARE_CLASSES, rows = plan.rows, classes = plan.semantics;
  rv_launch_wait();
  rv_launch_next();
  if (v >= rows || x >= plan.columns)
    return;
  const int disparity = work.cells[(size_t)x * rows + v].disparity;
  const int left = rv_max(x - plan.share_columns, 0), low = rv_max(v - plan.share_rows, 0);
  const int right = rv_min(x + plan.share_columns, plan.columns - 1),
            high = rv_min(v + plan.share_rows, rows - 1);
  uint32_t weights = 0, sums[SHARE_CLASSES] = {};
  for (int u = left; u <= right; u++)
    for (int t = low; t <= high; t++) {
      const uint32_t weight =
          rv_stixels_likeness(disparity, work.cells[(size_t)u * rows + t].disparity);
      weights += weight;
      if (weight == 0)
        continue;
#pragma unroll
      for (int k = 0; k < SHARE_CLASSES; k++)
        if (first + k < classes)
          sums[k] += weight * work.own[((size_t)u * classes + first + k) * rows + t];
    }
#pragma unroll
  for (int k = 0; k < SHARE_CLASSES; k++)
    if (first + k < classes)
      work.semantics[((size_t)x * classes + first + k) * rows + v] =
          rv_stixels_shared(sums[k], weights);
}

RvStatus rv_stixels_cuda_share(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const dim3 grid(rv_div_up(plan->rows, SHARE_ROWS), rv_div_up(plan->columns, SHARE_COLUMNS),
                  rv_div_up(plan->semantics, SHARE_CLASSES));
  return rv_launch(&plan->config.log, share_kernel, grid, dim3(SHARE_ROWS, SHARE_COLUMNS), 0,
                   job->stream, work->is_chained, *plan, *work);
}
