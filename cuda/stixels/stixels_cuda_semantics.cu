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
