/* SPDX-License-Identifier: MIT */
/* stixels_cuda_refine.cuh: moves a boundary between two stixels to the best row of pixels, on the
 * GPU: one lane per row, 8 or 32 lanes per boundary. Not installed. */
#ifndef RV_STIXELS_CUDA_REFINE_CUH
#define RV_STIXELS_CUDA_REFINE_CUH

#include "stixels/stixels_cuda.cuh"

namespace {
/* What boundaries move by. labels.data NULL: none. */
struct Pixels {
  RvPlane disparity, labels;
};
} // namespace

/* Misfit of row y to the lower minus the upper stixel, 1/16 px. */
static __device__ int lower_misfit(const RvStixelsPlan &plan, const Pixels &pixels,
                                   const RvStixel &lower, const RvStixel &upper, int y) {
  const RvPlane &disparity = pixels.disparity, &map = pixels.labels;
  const uint16_t *d = (const uint16_t *)((const char *)disparity.data + y * disparity.stride);
  const int right = rv_min(lower.column + plan.config.stixel_width, plan.config.width);
  const int low = rv_stixels_rendered(&lower, y), high = rv_stixels_rendered(&upper, y);
  int sum = 0;
#pragma unroll 8
  for (int x = lower.column; x < right; x++)
    sum += rv_stixels_residual(lower.structure, low, d[x]) -
           rv_stixels_residual(upper.structure, high, d[x]);
  if (!map.data)
    return sum;
  const uint8_t *labels =
      (const uint8_t *)map.data + y * map.height / plan.config.height * map.stride;
#pragma unroll 8
  for (int x = lower.column; x < right; x++) {
    const int label = labels[x * map.width / plan.config.width];
    sum += rv_stixels_label_residual(&plan, &lower, label);
    sum -= rv_stixels_label_residual(&plan, &upper, label);
  }
  return sum;
}

/* Sort key of rows for a boundary: larger gain of the upper stixel, then nearer, then upper row. */
static __device__ __forceinline__ int key_of(int gain, int row, int boundary) {
  return ((gain + (1 << 19)) * 32 + 31 - rv_abs(row - boundary)) * 2 + (row <= boundary);
}

/* The best row of a boundary: gains of rows that move from the lower to the upper stixel, summed
 * from the highest down. */
template <int LANES>
static __device__ int best_row(const RvStixelsPlan &plan, const Pixels &pixels,
                               const RvStixel &lower, const RvStixel &upper, int first, int rows) {
  const int lane = threadIdx.x % LANES, boundary = lower.v_top;
  int best = key_of(0, first, boundary), before = 0;
  for (int from = 0; from < 2 * plan.reach; from += LANES) {
    const int row = from + lane;
    int sum = row < rows ? lower_misfit(plan, pixels, lower, upper, first + row) : 0;
    for (int step = 1; step < LANES; step *= 2) {
      const int other = __shfl_up_sync(RV_WARP, sum, step, LANES);
      sum += lane >= step ? other : 0;
    }
    if (row < rows)
      best = rv_max(best, key_of(before + sum, first + row + 1, boundary));
    before += __shfl_sync(RV_WARP, sum, LANES - 1, LANES);
  }
  for (int step = LANES / 2; step > 0; step /= 2)
    best = rv_max(best, __shfl_xor_sync(RV_WARP, best, step));
  const int away = 31 - (best / 2) % 32;
  return best % 2 ? boundary - away : boundary + away;
}

/* Called by all lanes of the warp, LANES per boundary. is_last: no stixel is above `above`; is_one:
 * the result is written. */
template <int LANES>
static __device__ __forceinline__ void move_boundary(const RvStixelsPlan &plan,
                                                     const Pixels &pixels, RvStixel *below,
                                                     RvStixel *above, bool is_last, bool is_one) {
  RvStixel lower, upper;
  lower.column = above->column;
  lower.v_top = below->v_top;
  lower.structure = below->structure;
  upper.structure = above->structure;
  lower.semantic = below->semantic;
  upper.semantic = above->semantic;
  lower.slope = below->slope;
  lower.intercept = below->intercept;
  upper.slope = above->slope;
  upper.intercept = above->intercept;
  const int boundary = lower.v_top, up = is_last ? rv_min(plan.reach, boundary - 1) : plan.reach;
  const int row = best_row<LANES>(plan, pixels, lower, upper, boundary - up, up + plan.reach);
  __syncwarp();
  if (is_one && threadIdx.x % LANES == 0) {
    below->v_top = (uint16_t)row;
    above->v_bottom = (uint16_t)(row - 1);
  }
}

#endif
