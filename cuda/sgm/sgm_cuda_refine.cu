/* SPDX-License-Identifier: MIT */
/* sgm_cuda_refine.cu: the refine stage: sky and dense filling, in the planes of the job.
 *
 * Sky: candidates are bits of words of 32 columns. The runs of the words form a union-find forest: the
 * first pixel of a run has the number of another one of its region, smaller or its own; a region that
 * touches the top row has number 0. Blocks of 32 rows begin with runs joined to those above.
 *
 * Fill: a warp takes a row, once to the right and once to the left, and finds the ends of each hole;
 * then a warp takes a filled pixel at a time and finds the weighted median of its window. */
#include <string.h>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"

namespace {

enum { WARPS = 8, THREADS = 32 * WARPS };
enum { RX = RV_SGM_RADIUS_X, RY = RV_SGM_RADIUS_Y };
/* Rows of a warp and of a block that marks candidates, and columns and rows of their windows. */
enum { MARK_ROWS = 4, MARK_Y = MARK_ROWS * WARPS, SPAN_X = 32 + 2 * RX, SPAN_Y = MARK_Y + 2 * RY };

struct RefineArgs {
  SgmRaster<const uint8_t> gray; /* left view */
  SgmRaster<uint16_t> disparity; /* of the job */
  SgmRaster<uint8_t> confidence; /* data is NULL when not asked for */
  SgmRaster<uint16_t> winner;    /* RV_SGM_NO_MATCH in the sky */
  int width, height, min_disparity;
  const uint32_t *totals;                   /* of the gray levels of the rows */
  uint32_t *masks;                          /* [y][word of 32 columns]: candidates */
  uint32_t *labels;                         /* [y][x]: of the first pixel of a run, a number */
  int words;                                /* of a row of masks */
  SgmRaster<uint16_t> values, ends, filled; /* fill: disparities, ends of holes, result */
  uint32_t *before; /* fill: [y][x]: value of the end to the left, its column + 1 above 16 bits */
  uint8_t weight_of[256];
};

/* --- Sky ------------------------------------------------------------------------------------- */

/* Columns of a warp of row y; a block takes WARPS rows. */
struct Place {
  int lane, x, y;
  bool inside;

  __device__ __forceinline__ Place(const RefineArgs &a) {
    lane = (int)threadIdx.x % 32;
    x = (int)blockIdx.x * 32 + lane, y = (int)(blockIdx.y * WARPS + threadIdx.x / 32);
    inside = x < a.width && y < a.height;
  }
};

/* A block's pixels with their windows. A pixel's word has its gray level and above 16 bits its
 * gradient; so have sums of words, which fit: 63 windows of 255 and of 510. */
struct Windows {
  uint8_t gray[SPAN_Y + 1][SPAN_X + 4]; /* and one more to the right and below */
  uint32_t word[WARPS][SPAN_X];         /* of the row that a warp works on */
  uint32_t across[SPAN_Y][32];          /* sums of 9 columns */
  uint32_t masks[MARK_Y];               /* candidates */
  uint64_t totals[WARPS];
};

/* Beyond an end the pixel at the end is repeated, which has that gradient too. */
__device__ __forceinline__ void word_of(Windows &w, const RefineArgs &a, int x0, int y0, int i,
                                        int j) {
  const int x = rv_clamp(i, -x0, a.width - 1 - x0), y = rv_clamp(j, -y0, a.height - 1 - y0);
  const int here = w.gray[y][x];
  w.word[threadIdx.x / 32][i] =
      (uint32_t)(here | rv_sgm_sky_gradient(here, w.gray[y][x + 1], w.gray[y + 1][x]) << 16);
}

__device__ __forceinline__ void sum_windows(const RefineArgs &a, Windows &w) {
  const int x0 = (int)blockIdx.x * 32 - RX, y0 = (int)blockIdx.y * MARK_Y - RY;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  for (int j = warp; j <= SPAN_Y; j += WARPS) {
    const uint8_t *const row = a.gray.row(rv_clamp(y0 + j, 0, a.height - 1));
    w.gray[j][lane] = row[rv_clamp(x0 + lane, 0, a.width - 1)];
    if (lane <= SPAN_X - 32)
      w.gray[j][32 + lane] = row[rv_clamp(x0 + 32 + lane, 0, a.width - 1)];
  }
  __syncthreads();
  for (int j = warp; j < SPAN_Y; j += WARPS) {
    word_of(w, a, x0, y0, lane, j);
    if (lane < SPAN_X - 32)
      word_of(w, a, x0, y0, 32 + lane, j);
    __syncwarp();
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i <= 2 * RX; i++)
      sum += w.word[warp][lane + i];
    w.across[j][lane] = sum;
    __syncwarp();
  }
  __syncthreads();
}

/* Sum of the gray levels of the view, from those of its rows: 64 rows of 2^14 columns fit 32 bits. */
__device__ __forceinline__ uint64_t total_of(const RefineArgs &a, Windows &w) {
  uint32_t sum = 0;
  for (int y = (int)threadIdx.x; y < a.height; y += THREADS)
    sum += a.totals[y];
  const uint64_t of_warp = sgm_warp_sum(sum & 0xffffu) + ((uint64_t)sgm_warp_sum(sum >> 16) << 16);
  if (threadIdx.x % 32 == 0)
    w.totals[threadIdx.x / 32] = of_warp;
  __syncthreads();
  uint64_t total = 0;
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    total += w.totals[i];
  return total;
}

/* First column of the run of candidates that column i is in. */
__device__ __forceinline__ int start_of(uint32_t mask, int i) {
  const uint32_t others = ~mask & ((1u << i) - 1);
  return others ? 32 - __clz((int)others) : 0;
}

/* The run that begins in the lowest column of `mask`, which is not empty. */
__device__ __forceinline__ uint32_t first_run(uint32_t mask) {
  return mask & ~(mask + (mask & (0u - mask)));
}

/* Number of the run of candidates in word w of row y that column i of the word is in: that of its
 * first pixel. */
__device__ __forceinline__ uint32_t number_of(const RefineArgs &a, int y, int w, uint32_t mask,
                                              int i) {
  return y == 0 ? 0 : (uint32_t)(y * a.width + 32 * w + start_of(mask, i)) + 1;
}

/* First number of the run that begins in column i of a block's row: that of the highest run that is
 * reached in the block by always taking the first run above, so that chains of numbers are short. */
__device__ __forceinline__ uint32_t top_number(const RefineArgs &a, const Windows &w, int row,
                                               int i) {
  uint32_t mask = w.masks[row];
  while (row > 0) {
    const uint32_t up = w.masks[row - 1], common = up & first_run(mask >> i << i);
    if (!common)
      break;
    i = start_of(up, __ffs((int)common) - 1), mask = up, row--;
  }
  return number_of(a, (int)blockIdx.y * MARK_Y + row, (int)blockIdx.x, mask, i);
}

/* Finds candidates, and the numbers of their runs. */
__global__ void __launch_bounds__(THREADS) mark_kernel(const __grid_constant__ RefineArgs a) {
  __shared__ Windows w;
  sum_windows(a, w); /* needs nothing of the preceding kernels */
  rv_launch_wait();
  rv_launch_next();
  const int brightness =
      rv_sgm_sky_brightness((int64_t)total_of(a, w), (int64_t)a.width * (int64_t)a.height);
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int x = (int)blockIdx.x * 32 + lane;
  uint32_t sum = 0;
#pragma unroll
  for (int j = 0; j < 2 * RY; j++)
    sum += w.across[warp * MARK_ROWS + j][lane];
#pragma unroll
  for (int r = 0; r < MARK_ROWS; r++) {
    const int row = warp * MARK_ROWS + r, y = (int)blockIdx.y * MARK_Y + row;
    const bool inside = x < a.width && y < a.height;
    sum += w.across[row + 2 * RY][lane] - (r > 0 ? w.across[row - 1][lane] : 0);
    const bool candidate = inside && rv_sgm_is_sky_like(a.disparity.row(y)[x], (int)(sum >> 16),
                                                        (int)(sum & 0xffffu), brightness);
    const uint32_t mask = __ballot_sync(SGM_WARP, candidate);
    if (lane == 0)
      w.masks[row] = mask;
    if (lane == 0 && y < a.height)
      a.masks[(size_t)y * a.words + blockIdx.x] = mask;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < MARK_ROWS; r++) {
    const int row = warp * MARK_ROWS + r, y = (int)blockIdx.y * MARK_Y + row;
    const uint32_t mask = w.masks[row];
    if ((mask & ~(mask << 1)) >> lane & 1)
      a.labels[(size_t)y * a.width + x] = top_number(a, w, row, lane);
  }
}

__device__ __forceinline__ uint32_t root_of(const uint32_t *labels, uint32_t number) {
  while (number) {
    const uint32_t up = *(const volatile uint32_t *)&labels[number - 1];
    if (up == number)
      break;
    number = up;
  }
  return number;
}

/* Only atomic steps change labels, and only to smaller numbers. */
__device__ void join(uint32_t *labels, uint32_t a, uint32_t b) {
  for (;;) {
    a = root_of(labels, a), b = root_of(labels, b);
    if (a == b)
      return;
    const uint32_t above = min(a, b), below = max(a, b);
    const uint32_t old = atomicMin(&labels[below - 1], above);
    if (old == below)
      return;
    a = old, b = above; /* `below` had another parent: those two belong together as well */
  }
}

/* The word of a thread of join_kernel and sky_kernel; a row of words after the other. */
struct Word {
  int y, w;
  uint32_t mask; /* candidates */

  __device__ __forceinline__ Word(const RefineArgs &a) {
    const int n = (int)(blockIdx.x * THREADS + threadIdx.x);
    y = n / a.words, w = n % a.words;
    mask = y < a.height ? a.masks[n] : 0;
  }
};

/* Joins each run with those to the left and above, each pair once; the first one above in the same
 * block of mark_kernel is joined already. */
__global__ void __launch_bounds__(THREADS) join_kernel(const __grid_constant__ RefineArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const Word word(a);
  const int y = word.y, w = word.w;
  if (!word.mask)
    return;
  const uint32_t *const at = a.masks + (size_t)y * a.words + w;
  const uint32_t left = w > 0 ? at[-1] : 0, above = y > 0 ? at[-a.words] : 0;
  const uint32_t above_left = w > 0 && y > 0 ? at[-a.words - 1] : 0;
  /* Where the row above has the same pair of columns, both runs are joined to its runs. */
  if (word.mask & left >> 31 & ~(above & above_left >> 31))
    join(a.labels, number_of(a, y, w, word.mask, 0), number_of(a, y, w - 1, left, 31));
  const uint32_t both = word.mask & above;
  for (uint32_t begins = both & ~(both << 1); begins; begins &= begins - 1) {
    const int i = __ffs((int)begins) - 1, start = start_of(word.mask, i);
    const bool is_first = (both & ((1u << i) - 1)) >> start == 0;
    if (is_first && y % MARK_Y != 0)
      continue;
    join(a.labels, number_of(a, y, w, word.mask, i), number_of(a, y - 1, w, above, i));
  }
}

/* A thread finds the sky in a word; its warp writes it. */
__global__ void __launch_bounds__(THREADS) sky_kernel(const __grid_constant__ RefineArgs a) {
  rv_launch_wait();
  const Word word(a);
  uint32_t sky = 0;
  for (uint32_t rest = word.mask; rest;) {
    const uint32_t run = first_run(rest);
    if (root_of(a.labels, number_of(a, word.y, word.w, word.mask, __ffs((int)run) - 1)) == 0)
      sky |= run;
    rest &= ~run;
  }
  for (uint32_t lanes = __ballot_sync(SGM_WARP, sky != 0); lanes; lanes &= lanes - 1) {
    const int from = __ffs((int)lanes) - 1, lane = (int)threadIdx.x % 32;
    const uint32_t mask = __shfl_sync(SGM_WARP, sky, from);
    const int y = __shfl_sync(SGM_WARP, word.y, from);
    const int x = 32 * __shfl_sync(SGM_WARP, word.w, from) + lane;
    if (!(mask >> lane & 1))
      continue;
    a.disparity.row(y)[x] = RV_SGM_INVALID;
    a.winner.row(y)[x] = RV_SGM_NO_MATCH;
    if (a.confidence.data)
      a.confidence.row(y)[x] = 0;
  }
}

/* --- Fill ------------------------------------------------------------------------------------ */

/* The end in this warp's columns that is nearest to a lane among `mask`, which is not empty. */
__device__ __forceinline__ int nearest(uint32_t mask, bool to_left) {
  return to_left ? 31 - __clz((int)mask) : __ffs((int)mask) - 1;
}

/* Ends to the left of every pixel of a row. */
__device__ void walk_right(const RefineArgs &a, int y, int lane) {
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
__device__ __forceinline__ int value_of(const RefineArgs &a, int x, int y, int right, int right_x) {
  const int value = a.values.row(y)[x], winner = a.winner.row(y)[x];
  if (value != RV_SGM_INVALID || winner == RV_SGM_NO_MATCH)
    return value;
  const uint32_t left = a.before[(size_t)y * a.width + x];
  return rv_sgm_fill_value((int)(left & 0xffffu), right, rv_sgm_value(a.min_disparity, winner, 0),
                           right_x - (int)(left >> 16));
}

__device__ void walk_left(const RefineArgs &a, int y, int lane) {
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

__global__ void __launch_bounds__(THREADS) fill_kernel(const __grid_constant__ RefineArgs a) {
  const int y = (int)(blockIdx.x * WARPS + threadIdx.x / 32), lane = (int)threadIdx.x % 32;
  if (y >= a.height)
    return;
  walk_right(a, y, lane);
  __syncwarp();
  walk_left(a, y, lane);
}

/* Weighted median of the window around a pixel, by all lanes of a warp. */
__device__ uint32_t weighted_median(const RefineArgs &a, int x, int y, int lane) {
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

__global__ void __launch_bounds__(THREADS) smooth_kernel(const __grid_constant__ RefineArgs a) {
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

RefineArgs arguments(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const size_t pixels = (size_t)config->width * config->height;
  const ptrdiff_t pitch = (config->width + 1) / 2 * 2; /* rows start at multiples of four bytes */
  uint16_t *const maps = (uint16_t *)(work->refine + pixels);
  RefineArgs a = {};
  a.gray = {(const uint8_t *)job->left.data, job->left.stride};
  a.disparity = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  a.confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
  a.winner = work->maps.winner;
  a.width = config->width, a.height = config->height, a.min_disparity = config->min_disparity;
  a.totals = work->totals;
  a.words = rv_div_up(config->width, 32), a.masks = work->refine + 3 * pixels;
  a.labels = a.before = work->refine; /* one after the other */
  a.values = {maps, pitch};
  a.ends = {maps + pitch * a.height, pitch};
  a.filled = {maps + 2 * pitch * a.height, pitch};
  memcpy(a.weight_of, job->plan->weight_of, sizeof a.weight_of);
  return a;
}

/* Each kernel may start before the preceding one ends, the first before those of the filter. */
RvStatus reject_sky(const SgmCuda *work, const RvSgmJob *job, const RefineArgs &a) {
  const RvLog *log = &job->plan->config.log;
  const dim3 tiles(rv_div_up(a.width, 32), rv_div_up(a.height, MARK_Y));
  const int blocks = rv_div_up(a.words * a.height, THREADS);
  const bool early = work->early;
  RV_TRY(rv_launch(log, mark_kernel, tiles, THREADS, 0, job->stream, early, a));
  RV_TRY(rv_launch(log, join_kernel, blocks, THREADS, 0, job->stream, early, a));
  return rv_launch(log, sky_kernel, blocks, THREADS, 0, job->stream, early, a);
}

RvStatus fill(const SgmCuda *work, const RvSgmJob *job, const RefineArgs &a) {
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
  const RefineArgs a = arguments(work, job);
  if (config->reject_sky)
    RV_TRY(reject_sky(work, job, a));
  return config->fill == RV_SGM_FILL_DENSE ? fill(work, job, a) : RV_OK;
}
