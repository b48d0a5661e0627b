/* SPDX-License-Identifier: MIT */
/* stixels_cuda_refine.cuh: a border between two stixels moves to the best row of pixels, on the
 * GPU: a lane a row, 8 or 32 lanes a border. Not installed. */
#ifndef RV_STIXELS_CUDA_REFINE_CUH
#define RV_STIXELS_CUDA_REFINE_CUH

#include "stixels/stixels_cuda.cuh"

/* By how much worse row y fits the lower than the upper stixel, 1/16 px. */
static __device__ int worse_below(const RvStixelsPlan &plan, const RvPlane &disparity,
                                  const RvStixel &lower, const RvStixel &upper, int y) {
  const uint16_t *d = (const uint16_t *)((const char *)disparity.data + y * disparity.stride);
  const int right = rv_min(lower.column + plan.config.stixel_width, plan.config.width);
  int sum = 0;
#pragma unroll 8
  for (int x = lower.column; x < right; x++)
    sum += rv_stixels_residual(&lower, y, d[x]) - rv_stixels_residual(&upper, y, d[x]);
  return sum;
}

/* Orders places of a border: more that the upper stixel wins, the nearer, the upper one. */
static __device__ __forceinline__ int key_of(int won, int place, int border) {
  return ((won + (1 << 18)) * 32 + 31 - rv_abs(place - border)) * 2 + (place <= border);
}

/* `won` by the upper stixel: rows that move from the lower to it, summed from the highest down. */
template <int LANES>
static __device__ int place_of(const RvStixelsPlan &plan, const RvPlane &disparity,
                               const RvStixel &lower, const RvStixel &upper, int first, int rows) {
  const int lane = threadIdx.x % LANES, border = lower.v_top;
  int best = key_of(0, first, border), before = 0;
  for (int from = 0; from < 2 * plan.reach; from += LANES) {
    const int row = from + lane;
    int sum = row < rows ? worse_below(plan, disparity, lower, upper, first + row) : 0;
    for (int step = 1; step < LANES; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, step, LANES);
      sum += lane >= step ? other : 0;
    }
    if (row < rows)
      best = rv_max(best, key_of(before + sum, first + row + 1, border));
    before += __shfl_sync(0xffffffffu, sum, LANES - 1, LANES);
  }
  for (int step = LANES / 2; step > 0; step /= 2)
    best = rv_max(best, __shfl_xor_sync(0xffffffffu, best, step));
  const int away = 31 - (best / 2) % 32;
  return best % 2 ? border - away : border + away;
}

/* All lanes of the warp, each LANES of them with a border. is_last: nothing is above `above`;
 * is_one: else nothing is written. */
template <int LANES>
static __device__ __forceinline__ void move_border(const RvStixelsPlan &plan,
                                                   const RvPlane &disparity, RvStixel *below,
                                                   RvStixel *above, bool is_last, bool is_one) {
  RvStixel lower, upper;
  lower.column = above->column;
  lower.v_top = below->v_top;
  lower.slope = below->slope;
  lower.intercept = below->intercept;
  upper.slope = above->slope;
  upper.intercept = above->intercept;
  const int border = lower.v_top, up = is_last ? rv_min(plan.reach, border - 1) : plan.reach;
  const int place = place_of<LANES>(plan, disparity, lower, upper, border - up, up + plan.reach);
  __syncwarp();
  if (is_one && threadIdx.x % LANES == 0) {
    below->v_top = (uint16_t)place;
    above->v_bottom = (uint16_t)(place - 1);
  }
}

#endif
