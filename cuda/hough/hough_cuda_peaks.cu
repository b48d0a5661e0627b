/* hough_cuda_peaks.cu: local maxima of the accumulator, and the best of them in order. The block
 * that ends last sorts, so that no host and no further kernel is needed. */
#include "hough/hough_cuda.h"

#define PEAK_THREADS 512
#define SORT_MOST RV_HOUGH_LINES_MAX /* keys that are sorted in shared memory */

/* 1 when the neighbour comes after `key` in the order of lines. */
static __device__ __forceinline__ bool is_behind(const uint32_t *bins, const RvHoughPlan &p,
                                                 int row, int bin, uint64_t key) {
  const uint32_t index = (uint32_t)row * (uint32_t)p.bins + (uint32_t)bin;
  return rv_hough_key(bins[index], index) < key;
}

static __device__ void look(const uint32_t *bins, const RvHoughPlan &p, uint32_t index,
                            uint32_t votes, uint64_t *keys, HoughCounters *counters) {
  const int row = (int)(index / (uint32_t)p.bins), bin = (int)(index % (uint32_t)p.bins);
  const uint64_t key = rv_hough_key(votes, index);
  if (bin > 0 && !is_behind(bins, p, row, bin - 1, key))
    return;
  if (bin + 1 < p.bins && !is_behind(bins, p, row, bin + 1, key))
    return;
  for (int step = -1; step <= 1; step += 2) {
    int to_row, to_bin;
    if (rv_hough_beside(&p, row, bin, step, &to_row, &to_bin) &&
        !is_behind(bins, p, to_row, to_bin, key))
      return;
  }
  keys[atomicAdd(&counters->peaks, 1u)] = key;
}

/* The key of rank `wanted` (from 1) among more than that many: digits of 8 bits from the top, each
 * chosen from a histogram of the keys that agree so far. */
static __device__ uint64_t select_key(const uint64_t *keys, unsigned count, unsigned wanted) {
  __shared__ unsigned bins[256];
  __shared__ uint64_t shared_prefix;
  __shared__ unsigned shared_wanted;
  uint64_t prefix = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
      bins[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      const uint64_t key = __ldcg((const unsigned long long *)&keys[i]);
      if (shift == 56 || key >> (shift + 8) == prefix)
        atomicAdd(&bins[key >> shift & 255], 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = 255;
      for (; bins[digit] < wanted; digit--)
        wanted -= bins[digit];
      shared_prefix = prefix << 8 | (unsigned)digit;
      shared_wanted = wanted;
    }
    __syncthreads();
    prefix = shared_prefix;
    wanted = shared_wanted;
    __syncthreads();
  }
  return prefix;
}

/* Largest first; `size` is a power of two, the places behind the keys hold 0. */
static __device__ void sort_keys(uint64_t *keys, unsigned size) {
  for (unsigned k = 2; k <= size; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      for (unsigned t = threadIdx.x; t < size / 2; t += blockDim.x) {
        const unsigned a = 2 * t - (t & (j - 1)), b = a + j;
        const uint64_t x = keys[a], y = keys[b];
        if ((x < y) == ((a & k) == 0)) {
          keys[a] = y;
          keys[b] = x;
        }
      }
      __syncthreads();
    }
}

/* Brings the best keys into shared memory; returns their number. */
static __device__ unsigned gather(const uint64_t *keys, unsigned count, unsigned wanted,
                                  uint64_t *sorted) {
  __shared__ unsigned place;
  if (count <= SORT_MOST) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
      sorted[i] = __ldcg((const unsigned long long *)&keys[i]);
    return count;
  }
  const uint64_t least = select_key(keys, count, wanted);
  if (threadIdx.x == 0)
    place = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const uint64_t key = __ldcg((const unsigned long long *)&keys[i]);
    if (key >= least)
      sorted[atomicAdd(&place, 1u)] = key;
  }
  return wanted;
}

/* One block: sorts, writes the lines, and leaves the counters as the next run wants them. */
static __device__ void finish(const RvHoughPlan &p, const uint64_t *keys, uint64_t *top,
                              RvLine *lines, uint32_t *line_count, HoughCounters *counters,
                              uint64_t *sorted) {
  const unsigned peaks = *(volatile unsigned *)&counters->peaks;
  const unsigned most = (unsigned)p.max_lines, count = gather(keys, peaks, most, sorted);
  unsigned size = 1;
  while (size < count)
    size *= 2;
  for (unsigned i = count + threadIdx.x; i < size; i += blockDim.x)
    sorted[i] = 0;
  __syncthreads();
  sort_keys(sorted, size);
  const unsigned found = min(count, most);
  for (unsigned i = threadIdx.x; i < most; i += blockDim.x) {
    RvLine line = {};
    if (i < found) {
      line = rv_hough_line(&p, sorted[i]);
      top[i] = sorted[i];
    }
    lines[i] = line;
  }
  if (threadIdx.x == 0) {
    *line_count = found;
    counters->lines = found;
    counters->points = counters->peaks = counters->peak_blocks = 0;
  }
}

static __global__ void __launch_bounds__(PEAK_THREADS)
    peak_kernel(const uint32_t *bins, const RvHoughPlan p, uint64_t *keys, uint64_t *top,
                RvLine *lines, uint32_t *line_count, HoughCounters *counters) {
  __shared__ uint64_t sorted[SORT_MOST];
  __shared__ int is_last;
  const uint32_t total = (uint32_t)p.angles * (uint32_t)p.bins, quads = (total + 3) / 4;
  const uint32_t threshold = (uint32_t)p.threshold;
  for (uint32_t q = blockIdx.x * PEAK_THREADS + threadIdx.x; q < quads;
       q += gridDim.x * PEAK_THREADS) {
    const uint4 v = ((const uint4 *)bins)[q];
    const uint32_t votes[4] = {v.x, v.y, v.z, v.w};
    if (max(max(v.x, v.y), max(v.z, v.w)) <= threshold)
      continue;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
      if (votes[i] > threshold && 4 * q + i < total)
        look(bins, p, 4 * q + i, votes[i], keys, counters);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicAdd(&counters->peak_blocks, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  finish(p, keys, top, lines, line_count, counters, sorted);
}

RvStatus hough_cuda_peaks(HoughCuda *work, const RvHoughConfig *c, const RvHoughPlan *p,
                          const RvHoughJob *job) {
  const long long quads = ((long long)p->angles * p->bins + 3) / 4;
  const long long needed = (quads + PEAK_THREADS - 1) / PEAK_THREADS;
  const int blocks = (int)(needed < 2 * work->processors ? needed : 2 * work->processors);
  peak_kernel<<<(unsigned)blocks, PEAK_THREADS, 0, job->stream>>>(
      work->bins, *p, work->keys, work->top, job->out.lines, job->out.count, work->counters);
  RV_LAUNCHED(&c->log);
  return RV_OK;
}
