/* SPDX-License-Identifier: MIT */
/* road_cuda_em.cuh: expectation maximization by a group of blocks. Each block has a run of the
 * samples and a copy of the models; once per iteration the blocks exchange their integer sums.
 * Only .cu files include it. */
#ifndef RV_ROAD_CUDA_EM_CUH
#define RV_ROAD_CUDA_EM_CUH

#include "road/road_cuda_group.cuh"

#define EM_COLUMNS 256 /* sums and squares of 128 cells, summed by a block at once */

namespace {

/* Shared memory of a block; the cost table follows it. */
struct RoadEm {
  int64_t parts[ROAD_GROUP_WARPS][EM_COLUMNS]; /* or of one model, all in one: sums() */
  int64_t three[ROAD_GROUP_WARPS][3];
  double mean[RV_ROAD_BINS_MAX * RV_ROAD_BINS_MAX], scale[RV_ROAD_BINS_MAX * RV_ROAD_BINS_MAX];
  int64_t prior[RV_ROAD_LIBRARY_MAX], total[RV_ROAD_LIBRARY_MAX];
  unsigned long long keys[ROAD_GROUP_WARPS];
  int64_t one;
  uint32_t base[RV_ROAD_LIBRARY_MAX];

  __device__ int64_t *sums() {
    static_assert(2 * RV_ROAD_BINS_MAX * RV_ROAD_BINS_MAX <= ROAD_GROUP_WARPS * EM_COLUMNS,
                  "two sums per cell");
    return &parts[0][0];
  }
};

/* One run of expectation maximization, as seen by a block. */
struct EmRun {
  RoadEm *shared;
  uint32_t *table; /* cost minus that of an empty cell, [model][cell][count]; NULL = does not fit */
  RoadGaussians models; /* of this block */
  int k;                /* models */
  int first, last;      /* samples of this block */
  int samples, pending, side;
  double floor_of_variance;
  int turn; /* half of the exchange that is written next */
};

} // namespace

static __device__ __forceinline__ const uint8_t *em_row(const RoadCuda &w, const EmRun &r,
                                                        uint32_t item) {
  const size_t pitch = w.plan.pitch;
  return (int)item < r.pending
             ? w.pending + ((size_t)r.side * w.plan.config.min_samples + item) * pitch
             : w.counts + (item - r.pending) * pitch;
}

/* Counts of a sample of this block, after em_gather(). */
static __device__ __forceinline__ const uint8_t *gathered(const RoadCuda &w, int sample) {
  return w.rows + (size_t)sample * w.plan.pitch;
}

/* Copies the block's samples to contiguous memory, for the cache. */
static __device__ void em_gather(const RoadCuda &w, const EmRun &r) {
  const int quads = w.plan.pitch / 16, all = (r.last - r.first) * quads;
  for (int i = threadIdx.x; i < all; i += ROAD_GROUP_THREADS) {
    const int sample = r.first + i / quads, q = i % quads;
    ((uint4 *)gathered(w, sample))[q] = ((const uint4 *)em_row(w, r, w.left[sample]))[q];
  }
  __syncthreads();
}

static __device__ __forceinline__ int64_t *exchange_of(const RoadCuda &w, const EmRun &r,
                                                       int block) {
  const size_t values = (size_t)w.plan.models * (2 * w.plan.cells + 1) + 1;
  return w.exchange + ((size_t)r.turn * ROAD_GROUP_MAX + block) * values;
}

/* Maximum of a value over the threads of the group, for all of them. */
static __device__ unsigned long long group_max(const RoadCuda &w, EmRun &r,
                                               unsigned long long value) {
  const unsigned long long of_warp = rv_warp_max(value);
  if (threadIdx.x % 32 == 0)
    r.shared->keys[threadIdx.x / 32] = of_warp;
  __syncthreads();
  unsigned long long maximum = 0;
  for (int k = 0; k < ROAD_GROUP_WARPS; k++)
    maximum = max(maximum, r.shared->keys[k]);
  if (threadIdx.x == 0)
    *exchange_of(w, r, group_rank()) = (int64_t)maximum;
  group_sync();
  for (int block = 0; block < group_blocks(); block++)
    maximum = max(maximum, (unsigned long long)load(exchange_of(w, r, block)));
  r.turn ^= 1;
  return maximum;
}

/* Sums over the block's samples for the cells c of words `word` to `word` + 31 (four cells each):
 * out[2 c] of share x count, out[2 c + 1] of share x count^2. Several threads per sample, one word
 * each. */
static __device__ void sum_words(const RoadCuda &w, const EmRun &r, int model, int word,
                                 int64_t *out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, words = w.plan.pitch / 4 - word;
  int wide = 4; /* threads per sample; a row has a multiple of four words */
  while (wide < words && wide < 32)
    wide *= 2;
  const int mine = lane % wide, each = ROAD_GROUP_THREADS / wide;
  int64_t sums[4] = {0, 0, 0, 0}, squares[4] = {0, 0, 0, 0};
#pragma unroll 4
  for (int i = mine < words ? r.first + threadIdx.x / wide : r.last; i < r.last; i += each) {
    const uint32_t share = model < 0 ? 1 : w.share[(size_t)i * r.k + model];
    const uint32_t four = ((const uint32_t *)gathered(w, i))[word + mine];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const uint32_t count = four >> (8 * k) & 255;
      const uint32_t part = share * count; /* at most 65536 x 225 */
      sums[k] += part;
      squares[k] += (uint64_t)part * count;
    }
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    for (int step = wide; step < 32; step *= 2) {
      sums[k] += __shfl_xor_sync(RV_WARP, sums[k], step);
      squares[k] += __shfl_xor_sync(RV_WARP, squares[k], step);
    }
    if (lane < wide) {
      r.shared->parts[warp][2 * (4 * lane + k)] = sums[k];
      r.shared->parts[warp][2 * (4 * lane + k) + 1] = squares[k];
    }
  }
  __syncthreads();
  const int columns = 2 * min(4 * wide, w.plan.cells - 4 * word);
  for (int c = threadIdx.x; c < columns; c += ROAD_GROUP_THREADS) {
    int64_t sum = 0;
    for (int k = 0; k < ROAD_GROUP_WARPS; k++)
      sum += r.shared->parts[k][c];
    out[8 * word + c] = sum;
  }
  __syncthreads();
}

/* The same for every cell of a model; model -1: share 1. */
static __device__ void sum_cells(const RoadCuda &w, const EmRun &r, int model, int64_t *out) {
  for (int word = 0; 4 * word < w.plan.cells; word += 32)
    sum_words(w, r, model, word, out);
}

/* Sum of a value over the block, for thread 0. */
static __device__ int64_t block_sum(const EmRun &r, int64_t value) {
  const int64_t of_warp = rv_warp_sum(value);
  if (threadIdx.x % 32 == 0)
    r.shared->keys[threadIdx.x / 32] = (unsigned long long)of_warp;
  __syncthreads();
  int64_t sum = 0;
  for (int k = 0; k < ROAD_GROUP_WARPS && threadIdx.x == 0; k++)
    sum += (int64_t)r.shared->keys[k];
  __syncthreads();
  return sum;
}

static __device__ __forceinline__ int64_t over_blocks(const RoadCuda &w, const EmRun &r,
                                                      size_t at) {
  int64_t sum = 0;
  for (int block = 0; block < group_blocks(); block++)
    sum += load(exchange_of(w, r, block) + at);
  return sum;
}

/* --- Start ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t squared_between(const uint8_t *a, const uint8_t *b,
                                                           int pitch) {
  uint32_t sum = 0;
  for (int q = 0; q < pitch / 16; q++) {
    const uint4 x = ((const uint4 *)a)[q], y = ((const uint4 *)b)[q];
    const uint32_t off[4] = {__vabsdiffu4(x.x, y.x), __vabsdiffu4(x.y, y.y), __vabsdiffu4(x.z, y.z),
                             __vabsdiffu4(x.w, y.w)};
#pragma unroll
    for (int k = 0; k < 4; k++)
      sum = __dp4a(off[k], off[k], sum);
  }
  return sum;
}

/* Chooses the initial means; share[] of a sample's first model is its squared distance to the
 * nearest chosen one. */
static __device__ int choose(const RoadCuda &w, EmRun &r, int k) {
  unsigned long long first = 0;
  for (int i = r.first + threadIdx.x; i < r.last; i += ROAD_GROUP_THREADS)
    first = max(first, (unsigned long long)~w.left[i]);
  uint32_t chosen = ~(uint32_t)group_max(w, r, first);
  for (int j = 0; j < k; j++) {
    const uint8_t *row = em_row(w, r, chosen);
    for (int cell = threadIdx.x; cell < w.plan.cells; cell += ROAD_GROUP_THREADS)
      r.models.mean[(size_t)j * w.plan.cells + cell] = row[cell];
    unsigned long long farthest = 0;
    for (int i = r.first + threadIdx.x; i < r.last; i += ROAD_GROUP_THREADS) {
      uint32_t *stored = &w.share[(size_t)i * w.plan.models];
      const uint32_t d = squared_between(row, gathered(w, i), w.plan.pitch);
      const uint32_t nearest = j == 0 ? d : min(d, *stored);
      *stored = nearest;
      farthest = max(farthest, (unsigned long long)nearest << 32 | (uint32_t)~w.left[i]);
    }
    const unsigned long long best = group_max(w, r, farthest);
    if (best >> 32 == 0)
      return j + 1;
    chosen = ~(uint32_t)best;
  }
  return k;
}

static __device__ __forceinline__ double floored(double variance, double floor) {
  return variance > floor ? variance : floor;
}

/* Initial means, variance of all samples, equal weights. */
static __device__ void em_start(const RoadCuda &w, EmRun &r, int k) {
  const int cells = w.plan.cells;
  r.k = choose(w, r, k);
  sum_cells(w, r, -1, exchange_of(w, r, group_rank()));
  group_sync();
  for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
    const double mean = (double)over_blocks(w, r, 2 * cell) / r.samples;
    const double variance = (double)over_blocks(w, r, 2 * cell + 1) / r.samples - mean * mean;
    for (int j = 0; j < r.k; j++)
      r.models.variance[(size_t)j * cells + cell] = floored(variance, r.floor_of_variance);
  }
  if (threadIdx.x < r.k)
    r.models.weight[threadIdx.x] = 1.0 / r.k;
  r.turn ^= 1;
  __syncthreads();
}

/* --- Expectation ----------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t em_cost(const RoadCuda &w, const EmRun &r, int at,
                                                   int count) {
  return rv_road_cost(RV_ROAD_MAHALANOBIS, count, w.plan.area, r.models.mean[at],
                      r.models.variance[at]);
}

/* Priors, the cost of an empty patch, and the table if it fits. */
static __device__ void set_costs(const RoadCuda &w, const EmRun &r) {
  const int cells = w.plan.cells, lane = threadIdx.x % 32, entries = w.plan.area + 1;
  for (int j = threadIdx.x / 32; j < r.k; j += ROAD_GROUP_WARPS) {
    int64_t log_det = 0;
    uint32_t base = 0;
    for (int cell = lane; cell < cells; cell += 32) {
      log_det += rv_road_log_part(r.models.variance[(size_t)j * cells + cell]);
      base += em_cost(w, r, j * cells + cell, 0);
    }
    log_det = rv_warp_sum(log_det);
    base = (uint32_t)rv_warp_sum(base);
    if (lane == 0) {
      r.shared->prior[j] = rv_road_prior(r.models.weight[j], log_det);
      r.shared->base[j] = base;
    }
  }
  if (r.table)
    for (int i = threadIdx.x; i < r.k * cells * entries; i += ROAD_GROUP_THREADS)
      r.table[i] = em_cost(w, r, i / entries, i % entries) - em_cost(w, r, i / entries, 0);
  __syncthreads();
}

static __device__ uint32_t em_sum(const RoadCuda &w, const EmRun &r, const uint8_t *row, int j) {
  const int cells = w.plan.cells, entries = w.plan.area + 1;
  uint32_t sum = r.shared->base[j];
  for (int q = 0; q < w.plan.pitch / 16; q++) {
    const uint4 v = ((const uint4 *)row)[q];
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++)
      for (uint32_t word = words[k]; word;) {
        const int byte = (__ffs((int)word) - 1) / 8;
        const int count = (int)(word >> (8 * byte) & 255);
        const int at = j * cells + 16 * q + 4 * k + byte;
        word &= ~(255u << (8 * byte));
        sum += r.table ? r.table[at * entries + count]
                       : em_cost(w, r, at, count) - em_cost(w, r, at, 0);
      }
  }
  return sum;
}

/* Responsibilities of a sample, which replace its costs in share[]; returns its likelihood. */
static __device__ int64_t expect(const RoadCuda &w, const EmRun &r, const uint8_t *row,
                                 uint32_t *share) {
  int64_t maximum = INT64_MIN;
  for (int j = 0; j < r.k; j++) {
    share[j] = em_sum(w, r, row, j);
    const int64_t likelihood = r.shared->prior[j] - share[j];
    maximum = likelihood > maximum ? likelihood : maximum;
  }
  uint32_t sum = 0;
  for (int j = 0; j < r.k; j++) {
    const int64_t below = maximum - (r.shared->prior[j] - share[j]);
    share[j] = below < RV_ROAD_EXP_SIZE ? w.exp[below] : 0;
    sum += share[j];
  }
  for (int j = 0; j < r.k; j++)
    share[j] = (uint32_t)(((uint64_t)share[j] << 16) / sum);
  return maximum + w.log[sum / RV_ROAD_LOG_STEP];
}

/* --- Maximization ---------------------------------------------------------------------------- */

/* From the sums of all blocks: [model][cell][2], then [model] of shares. */
static __device__ void maximize(const RoadCuda &w, const EmRun &r) {
  const int cells = w.plan.cells;
  const size_t totals = (size_t)2 * r.k * cells;
  if (threadIdx.x < r.k)
    r.shared->total[threadIdx.x] = over_blocks(w, r, totals + threadIdx.x);
  __syncthreads();
  for (int i = threadIdx.x; i < r.k * cells; i += ROAD_GROUP_THREADS) {
    const int64_t total = r.shared->total[i / cells];
    if (total == 0)
      continue;
    const double mean = (double)over_blocks(w, r, 2 * (size_t)i) / (double)total;
    const double variance =
        (double)over_blocks(w, r, 2 * (size_t)i + 1) / (double)total - mean * mean;
    r.models.mean[i] = mean;
    r.models.variance[i] = floored(variance, r.floor_of_variance);
  }
  int64_t all = 0;
  for (int j = 0; j < r.k; j++)
    all += r.shared->total[j];
  if (threadIdx.x < r.k)
    r.models.weight[threadIdx.x] = (double)r.shared->total[threadIdx.x] / (double)all;
  __syncthreads();
}

/* One iteration; returns the likelihood of all samples. */
static __device__ int64_t em_iterate(const RoadCuda &w, EmRun &r) {
  const int cells = w.plan.cells;
  const size_t totals = (size_t)2 * r.k * cells;
  int64_t *out = exchange_of(w, r, group_rank());
  int64_t likelihood = 0;
  set_costs(w, r);
  for (int i = r.first + threadIdx.x; i < r.last; i += ROAD_GROUP_THREADS)
    likelihood += expect(w, r, gathered(w, i), w.share + (size_t)i * r.k);
  likelihood = block_sum(r, likelihood); /* and a barrier: share[] is complete */
  for (int j = 0; j < r.k; j++) {
    int64_t total = 0;
    for (int i = r.first + threadIdx.x; i < r.last; i += ROAD_GROUP_THREADS)
      total += w.share[(size_t)i * r.k + j];
    total = block_sum(r, total);
    if (threadIdx.x == 0)
      out[totals + j] = total;
    sum_cells(w, r, j, out + (size_t)2 * j * cells);
  }
  if (threadIdx.x == 0)
    out[totals + r.k] = likelihood;
  group_sync();
  maximize(w, r);
  likelihood = over_blocks(w, r, totals + r.k);
  r.turn ^= 1;
  return likelihood;
}

/* Iterates until the likelihood has converged; returns the number of iterations, the same in all
 * blocks. */
static __device__ int em_run(const RoadCuda &w, EmRun &r, int k) {
  em_gather(w, r);
  em_start(w, r, k);
  int64_t before = 0;
  int iteration = 0;
  while (iteration < RV_ROAD_EM_ITERATIONS) {
    const int64_t likelihood = em_iterate(w, r);
    iteration++;
    if (iteration > 1 && rv_road_em_converged(before, likelihood))
      break;
    before = likelihood;
  }
  return iteration;
}

/* --- One model ------------------------------------------------------------------------------- */

/* Sums of the counts and of their squares for each cell over all samples: sums()[2 cell], + 1.
 * Eight lanes per cell. */
static __device__ void sum_unmatched(const RoadCuda &w, const EmRun &r) {
  const int entries = w.plan.area + 1, lane = threadIdx.x % 8, cells = w.plan.cells;
  for (int base = threadIdx.x / 8; base < rv_div_up(cells, 4) * 4; base += ROAD_GROUP_THREADS / 8) {
    const uint32_t *unmatched = w.unmatched + min(base, cells - 1) * entries;
    int64_t sum = 0, squares = 0;
#pragma unroll 4
    for (int count = lane; count < entries; count += 8) {
      const int64_t part = (int64_t)unmatched[count] * count;
      sum += part;
      squares += part * count;
    }
    for (int step = 4; step > 0; step /= 2) {
      sum += __shfl_xor_sync(RV_WARP, sum, step);
      squares += __shfl_xor_sync(RV_WARP, squares, step);
    }
    if (lane == 0 && base < cells) {
      r.shared->sums()[2 * base] = sum;
      r.shared->sums()[2 * base + 1] = squares;
    }
  }
  __syncthreads();
}

/* Sums of three values over the block, for thread 0. */
static __device__ void block_sums(const EmRun &r, int64_t *values) {
#pragma unroll
  for (int k = 0; k < 3; k++) {
    const int64_t of_warp = rv_warp_sum(values[k]);
    if (threadIdx.x % 32 == 0)
      r.shared->three[threadIdx.x / 32][k] = of_warp;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 3; k++) {
    int64_t sum = 0;
#pragma unroll
    for (int i = 0; i < ROAD_GROUP_WARPS; i++)
      sum += r.shared->three[i][k];
    values[k] = sum;
  }
}

/* Likelihood of all samples under the one model, for all threads; mean and scale of its cells
 * are in shared memory. log_part is the thread's portion of the logarithm of the determinant. */
static __device__ int64_t single_likelihood(const RoadCuda &w, const EmRun &r, const double *mean,
                                            const double *scale, int64_t log_part) {
  const int entries = w.plan.area + 1, all = w.plan.cells * entries;
  int64_t values[3] = {0, 0,
                       log_part}; /* costs minus those of empty cells, costs of these, logarithms */
  for (int i = threadIdx.x; i < all; i += ROAD_GROUP_THREADS) {
    const int64_t samples = w.unmatched[i];
    const int cell = i / entries, count = i - cell * entries;
    const uint32_t empty = rv_road_scaled_cost(0, mean[cell], scale[cell]);
    if (samples) /* a difference: below 2^31, either sign */
      values[0] += samples * (int32_t)(rv_road_scaled_cost(count, mean[cell], scale[cell]) - empty);
    if (count == 0)
      values[1] += empty;
  }
  block_sums(r, values);
  if (threadIdx.x == 0)
    r.shared->one =
        r.samples * (rv_road_prior(1, values[2]) - (int64_t)(uint32_t)values[1]) - values[0];
  __syncthreads();
  return r.shared->one;
}

/* The same iterations for one model, by one block. Every responsibility is one, so that the
 * numbers of occurrences of each count in each cell suffice, and nothing changes after the first
 * maximization. */
static __device__ int em_single(const RoadCuda &w, EmRun &r) {
  const uint8_t *first = em_row(w, r, ~w.frame->first);
  double *means = r.shared->mean, *scales = r.shared->scale;
  int64_t before = 0;
  r.k = 1;
  sum_unmatched(w, r);
  for (int iteration = 1;; iteration++) {
    int64_t log_part = 0;
    for (int cell = threadIdx.x; cell < w.plan.cells && iteration <= 2;
         cell += ROAD_GROUP_THREADS) {
      const double mean = (double)r.shared->sums()[2 * cell] / r.samples;
      const double spread = (double)r.shared->sums()[2 * cell + 1] / r.samples - mean * mean;
      const double variance = floored(spread, r.floor_of_variance);
      r.models.mean[cell] = means[cell] = iteration == 1 ? first[cell] : mean;
      r.models.variance[cell] = variance;
      scales[cell] = 256 / variance;
      log_part += rv_road_log_part(variance);
    }
    if (threadIdx.x == 0)
      r.models.weight[0] = 1;
    __syncthreads();
    const int64_t likelihood =
        iteration <= 2 ? single_likelihood(w, r, means, scales, log_part) : before;
    if ((iteration > 1 && rv_road_em_converged(before, likelihood)) ||
        iteration == RV_ROAD_EM_ITERATIONS)
      return iteration;
    before = likelihood;
    __syncthreads();
  }
}

#endif
