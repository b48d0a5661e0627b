/* SPDX-License-Identifier: MIT */
/* sgm_cuda_refine.cu: the refine stage: sky (sgm_cuda_sky.cu), then dense filling, in the planes of
 * the job. A warp takes a row, once to the right and once to the left, and finds the ends of each
 * hole; then a warp takes a filled pixel at a time and finds the weighted median of its window. */
#include <string.h>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"

namespace {

enum { WARPS = 8, THREADS = 32 * WARPS };

struct FillArgs {
  SgmRaster<const uint8_t> gray; /* left view */
  SgmRaster<uint16_t> disparity; /* of the job */
  SgmRaster<uint8_t> confidence; /* data is NULL when not asked for */
  SgmRaster<uint16_t> winner;    /* RV_SGM_NO_MATCH in the sky */
  int width, height, min_disparity;
  SgmRaster<uint16_t> values, ends, filled; /* disparities, ends of holes, result */
  uint32_t *before; /* [y][x]: value of the end to the left, its column + 1 above 16 bits */
  uint8_t weight_of[256];
};

/* Columns of a warp of row y; a block takes WARPS rows. */
struct Place {
  int lane, x, y;
  bool inside;

  __device__ __forceinline__ Place(const FillArgs &a) {
    lane = (int)threadIdx.x % 32;
    x = (int)blockIdx.x * 32 + lane, y = (int)(blockIdx.y * WARPS + threadIdx.x / 32);
    inside = x < a.width && y < a.height;
  }
};

/* The end in this warp's columns that is nearest to a lane among `mask`, which is not empty. */
__device__ __forceinline__ int nearest(uint32_t mask, bool to_left) {
  return to_left ? 31 - __clz((int)mask) : __ffs((int)mask) - 1;
}

/* Ends to the left of every pixel of a row. */
__device__ void walk_right(const FillArgs &a, int y, int lane) {
  uint32_t carried = 0; /* as in `before` */
  for (int x0 = 0; x0 < a.width; x0 += 32) {
    const int x = x0 + lane;
    const uint32_t end = x < a.width ? a.ends.row(y)[x] : 0;
    const uint32_t mask = __ballot_sync(SGM_WARP, end != 0), below = mask & ((1u << lane) - 1);
    const int from = below ? nearest(below, true) : lane;
    const uint32_t value = __shfl_sync(SGM_WARP, end, from);
    if (x < a.width)
      a.before[(size_t)y * a.width + x] = below ? value | (uint32_t)(x0 + from + 1) << 16 : carried;
    if (mask) {
      const int last = nearest(mask, true);
      carried = __shfl_sync(SGM_WARP, end, last) | (uint32_t)(x0 + last + 1) << 16;
    }
  }
}

/* Value of a pixel with these ends; right_x: column of the right one. */
__device__ __forceinline__ int value_of(const FillArgs &a, int x, int y, int right, int right_x) {
  const int value = a.values.row(y)[x], winner = a.winner.row(y)[x];
  if (value != RV_SGM_INVALID || winner == RV_SGM_NO_MATCH)
    return value;
  const uint32_t left = a.before[(size_t)y * a.width + x];
  return rv_sgm_fill_value((int)(left & 0xffffu), right, rv_sgm_value(a.min_disparity, winner, 0),
                           right_x - (int)(left >> 16));
}

__device__ void walk_left(const FillArgs &a, int y, int lane) {
  uint32_t carried = 0;
  int carried_x = a.width;
  for (int x0 = (a.width - 1) / 32 * 32; x0 >= 0; x0 -= 32) {
    const int x = x0 + lane;
    const uint32_t end = x < a.width ? a.ends.row(y)[x] : 0;
    const uint32_t mask = __ballot_sync(SGM_WARP, end != 0), above = mask & (0u - (2u << lane));
    const int from = above ? nearest(above, false) : lane;
    const uint32_t value = __shfl_sync(SGM_WARP, end, from);
    if (x < a.width)
      a.filled.row(y)[x] = (uint16_t)value_of(a, x, y, (int)(above ? value : carried),
                                              above ? x0 + from : carried_x);
    if (mask) {
      const int first = nearest(mask, false);
      carried = __shfl_sync(SGM_WARP, end, first), carried_x = x0 + first;
    }
  }
}

__global__ void __launch_bounds__(THREADS) fill_kernel(const __grid_constant__ FillArgs a) {
  const int y = (int)(blockIdx.x * WARPS + threadIdx.x / 32), lane = (int)threadIdx.x % 32;
  if (y >= a.height)
    return;
  walk_right(a, y, lane);
  __syncwarp();
  walk_left(a, y, lane);
}

/* Weighted median of the window around a pixel, by all lanes of a warp. */
__device__ uint32_t weighted_median(const FillArgs &a, int x, int y, int lane) {
  enum { R = RV_SGM_FILL_RADIUS, SIDE = 2 * R + 1, TAPS = SIDE * SIDE, EACH = (TAPS + 31) / 32 };
  const int center = a.gray.row(y)[x];
  uint32_t value[EACH], weight[EACH], sum = 0;
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    const int tap = lane + 32 * n, u = x + tap % SIDE - R, v = y + tap / SIDE - R;
    const bool inside =
        tap < TAPS && (unsigned)u < (unsigned)a.width && (unsigned)v < (unsigned)a.height;
    value[n] = inside ? a.filled.row(v)[u] : RV_SGM_INVALID;
    weight[n] = value[n] == RV_SGM_INVALID ? 0 : a.weight_of[rv_abs(a.gray.row(v)[u] - center)];
    sum += weight[n];
  }
  const uint32_t total = sgm_warp_sum(sum);
  uint32_t low = 0, high = 65535; /* the result is in low + 1 .. high */
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    sum = 0;
#pragma unroll
    for (int n = 0; n < EACH; n++)
      sum += value[n] <= middle ? weight[n] : 0;
    if (2 * sgm_warp_sum(sum) >= total)
      high = middle;
    else
      low = middle;
  }
  return high;
}

__global__ void __launch_bounds__(THREADS) smooth_kernel(const __grid_constant__ FillArgs a) {
  const Place p(a);
  const bool hole = p.inside && a.values.row(p.y)[p.x] == RV_SGM_INVALID &&
                    a.filled.row(p.y)[p.x] != RV_SGM_INVALID;
  for (uint32_t left = __ballot_sync(SGM_WARP, hole); left; left &= left - 1) {
    const int x = p.x - p.lane + __ffs((int)left) - 1;
    const uint32_t value = weighted_median(a, x, p.y, p.lane);
    if (p.lane > 0)
      continue;
    a.disparity.row(p.y)[x] = (uint16_t)value;
    if (a.confidence.data)
      a.confidence.row(p.y)[x] = RV_SGM_FILLED;
  }
}

/* --- Launches -------------------------------------------------------------------------------- */

FillArgs arguments(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const size_t pixels = (size_t)config->width * config->height;
  const ptrdiff_t pitch = (config->width + 1) / 2 * 2; /* rows start at multiples of four bytes */
  uint16_t *const maps = (uint16_t *)(work->refine + pixels);
  FillArgs a = {};
  a.gray = {(const uint8_t *)job->left.data, job->left.stride};
  a.disparity = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  a.confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
  a.winner = work->maps.winner;
  a.width = config->width, a.height = config->height, a.min_disparity = config->min_disparity;
  a.before = work->refine; /* after the labels of the sky */
  a.values = {maps, pitch};
  a.ends = {maps + pitch * a.height, pitch};
  a.filled = {maps + 2 * pitch * a.height, pitch};
  memcpy(a.weight_of, job->plan->weight_of, sizeof a.weight_of);
  return a;
}

RvStatus fill(const SgmCuda *work, const RvSgmJob *job, const FillArgs &a) {
  const RvLog *log = &job->plan->config.log;
  const dim3 blocks(rv_div_up(a.width, 32), rv_div_up(a.height, WARPS));
  RV_CU(log, cudaMemcpy2DAsync(a.values.data, 2 * (size_t)a.values.stride, a.disparity.data,
                               2 * (size_t)a.disparity.stride, 2 * (size_t)a.width,
                               (size_t)a.height, cudaMemcpyDeviceToDevice, job->stream));
  RV_TRY(sgm_cuda_large_regions(work, job, a.values, a.ends, RV_SGM_FILL_REGION));
  RV_TRY(
      rv_launch(log, fill_kernel, rv_div_up(a.height, WARPS), THREADS, 0, job->stream, false, a));
  return rv_launch(log, smooth_kernel, blocks, THREADS, 0, job->stream, false, a);
}

} // namespace

RvStatus sgm_cuda_refine(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  if (config->reject_sky)
    RV_TRY(sgm_cuda_sky(work, job));
  return config->fill == RV_SGM_FILL_DENSE ? fill(work, job, arguments(work, job)) : RV_OK;
}
