/* SPDX-License-Identifier: MIT */
/* hough_cuda_peaks.cu: which candidates are peaks of the accumulator, and the best of them in
 * order. One block does it all when candidates are few; when they are many, the block that ends
 * last sorts. No host and no further kernel is needed. */
#include "hough/hough_cuda_candidates.cuh"
#include "hough/hough_cuda.cuh"

#define PEAK_THREADS 1024
#define PEAK_BLOCKS 64              /* at most */
#define BLOCK_MAX 8192              /* candidates of a block, before there is another */
#define AHEAD 4                     /* candidates that a thread looks at together */
#define SORT_MAX RV_HOUGH_LINES_MAX /* keys that are sorted in shared memory */
#define BUCKETS PEAK_THREADS        /* of votes */
#define BUCKET_MAX 64               /* keys in one that are put in order by counting */
#define FEW 64                      /* keys that are put in order by counting */

namespace {
struct PeakJob {
  const uint32_t *bins;
  int stride;
  const uint32_t *candidates;
  uint64_t *keys, *top;
  RvLine *lines;
  uint32_t *line_count;
  HoughCounters *counters;
};
} // namespace

/* --- Candidates where the votes did not find them ------------------------------------------------
 */

#define SCAN_THREADS 256

/* Of all bins, complete warps at a time. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_kernel(const HoughCandidates c, const uint4 *bins, unsigned quads) {
  const unsigned step = gridDim.x * SCAN_THREADS;
  for (unsigned at = blockIdx.x * SCAN_THREADS; at < quads; at += step) {
    const unsigned q = at + threadIdx.x;
    hough_candidates(c, 4 * q, q < quads ? bins[q] : make_uint4(0, 0, 0, 0), true);
  }
}

/* --- Peaks ---------------------------------------------------------------------------------------
 */

/* The key of a bin when it is a peak, else 0. Without branches, so that the votes of several
 * candidates are on their way together. */
static __device__ __forceinline__ uint64_t peak_key(const PeakJob &j, const RvHoughSpace &p,
                                                    uint32_t word) {
  const int row = (int)(word / (uint32_t)j.stride), bin = (int)(word % (uint32_t)j.stride);
  const uint32_t votes = __ldcg(&j.bins[word]);
  const uint32_t left = bin > 0 ? __ldcg(&j.bins[word - 1]) : 0;
  const uint32_t right = __ldcg(&j.bins[word + 1]); /* a bin of 0 ends the row */
  bool is_peak = left < votes && right <= votes;
#pragma unroll
  for (int step = -1; step <= 1; step += 2) {
    int to_row, to_bin;
    const bool has = rv_hough_beside(&p, row, bin, step, &to_row, &to_bin);
    const uint32_t other =
        has ? __ldcg(&j.bins[(uint32_t)to_row * (uint32_t)j.stride + (uint32_t)to_bin]) : 0;
    is_peak = is_peak && (to_row < row ? other < votes : other <= votes || !has);
  }
  const uint32_t index = (uint32_t)row * (uint32_t)p.bins + (uint32_t)bin;
  return is_peak ? rv_hough_key(votes, index) : 0;
}

/* This block's share of the candidates. Peaks go to keys[], numbered by *place; those of the first
 * SORT_MAX to `sorted` too, if it is there. */
static __device__ void find_peaks(const PeakJob &j, const RvHoughSpace &p, unsigned count,
                                  unsigned blocks, unsigned *place, uint64_t *sorted) {
  const unsigned all = 0xffffffffu, step = blocks * PEAK_THREADS, lane = threadIdx.x % 32;
  const unsigned first = blockIdx.x * PEAK_THREADS + threadIdx.x - lane; /* of the warp */
  for (unsigned i = first; i < count; i += AHEAD * step) {
    uint64_t found[AHEAD];
#pragma unroll
    for (unsigned n = 0; n < AHEAD; n++) {
      const unsigned at = i + n * step + lane;
      found[n] = at < count ? peak_key(j, p, __ldcg(&j.candidates[at])) : 0;
    }
#pragma unroll
    for (unsigned n = 0; n < AHEAD; n++) {
      const unsigned bits = __ballot_sync(all, found[n] != 0);
      unsigned at = 0;
      if (lane == 0 && bits)
        at = atomicAdd(place, (unsigned)__popc(bits));
      at = __shfl_sync(all, at, 0) + __popc(bits & ((1u << lane) - 1));
      if (!found[n])
        continue;
      j.keys[at] = found[n];
      if (sorted && at < SORT_MAX)
        sorted[at] = found[n];
    }
  }
}

/* --- Order ---------------------------------------------------------------------------------------
 */

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

/* Largest first; `size` is a power of two, the slots after the keys contain 0. */
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

/* Line number `rank` from 0, if it is wanted. */
static __device__ __forceinline__ void put(const PeakJob &j, const RvHoughSpace &p, uint64_t key,
                                           unsigned rank) {
  if (rank >= (unsigned)p.max_lines)
    return;
  j.lines[rank] = rv_hough_line(&p, key);
  j.top[rank] = key;
}

/* At most FEW keys: a warp counts how many are larger. */
static __device__ void order_few(const PeakJob &j, const RvHoughSpace &p, const uint64_t *keys,
                                 unsigned count) {
  const unsigned lane = threadIdx.x % 32;
  const uint64_t low = lane < count ? keys[lane] : 0,
                 high = lane + 32 < count ? keys[lane + 32] : 0;
  for (unsigned i = threadIdx.x / 32; i < count; i += PEAK_THREADS / 32) {
    const uint64_t key = keys[i];
    const unsigned rank = __popc(__ballot_sync(0xffffffffu, low > key)) +
                          __popc(__ballot_sync(0xffffffffu, high > key));
    if (lane == 0)
      put(j, p, key, rank);
  }
}

/* Largest votes among the keys. */
static __device__ uint32_t most_votes(const uint64_t *keys, unsigned count) {
  __shared__ uint32_t most;
  uint32_t mine = 0;
  if (threadIdx.x == 0)
    most = 0;
  for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS)
    mine = max(mine, (uint32_t)(keys[i] >> 32));
#pragma unroll
  for (int d = 16; d > 0; d /= 2)
    mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, d));
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    atomicMax(&most, mine);
  __syncthreads();
  return most;
}

/* Numbers in start[] become the sums before them; 1 when one of them is above BUCKET_MAX. */
static __device__ int sum_buckets(unsigned *start) {
  __shared__ unsigned warps[PEAK_THREADS / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned mine = start[threadIdx.x];
  unsigned sum = mine;
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
    sum += lane >= d ? other : 0;
  }
  if (lane == 31)
    warps[warp] = sum;
  const int is_full = __syncthreads_or(mine > BUCKET_MAX);
  unsigned before = lane < warp ? warps[lane] : 0;
#pragma unroll
  for (int d = 16; d > 0; d /= 2)
    before += __shfl_xor_sync(0xffffffffu, before, d);
  start[threadIdx.x] = before + sum - mine;
  __syncthreads();
  return is_full;
}

/* Buckets of votes, the most first, and counting inside each. 0 when too many keys have about as
 * many votes: nothing is done then. */
static __device__ int order_by_buckets(const PeakJob &j, const RvHoughSpace &p,
                                       const uint64_t *keys, unsigned count) {
  __shared__ unsigned start[BUCKETS];
  __shared__ uint16_t order[SORT_MAX];
  start[threadIdx.x] = 0;
  const uint32_t most = most_votes(keys, count);
  int shift = 0;
  while ((most - (uint32_t)p.threshold - 1) >> shift >= BUCKETS)
    shift++;
  for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS)
    atomicAdd(&start[(most - (uint32_t)(keys[i] >> 32)) >> shift], 1u);
  __syncthreads();
  if (sum_buckets(start))
    return 0;
  for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS)
    order[atomicAdd(&start[(most - (uint32_t)(keys[i] >> 32)) >> shift], 1u)] = (uint16_t)i;
  __syncthreads(); /* start[] are the ends now */
  for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS) {
    const uint64_t key = keys[order[i]];
    const unsigned bucket = (most - (uint32_t)(key >> 32)) >> shift;
    const unsigned first = bucket ? start[bucket - 1] : 0, end = start[bucket];
    unsigned rank = first;
#pragma unroll 4
    for (unsigned k = first; k < end; k++)
      rank += keys[order[k]] > key;
    put(j, p, key, rank);
  }
  return 1;
}

static __device__ void order_lines(const PeakJob &j, const RvHoughSpace &p, uint64_t *keys,
                                   unsigned count) {
  if (count <= FEW) {
    order_few(j, p, keys, count);
    return;
  }
  if (order_by_buckets(j, p, keys, count))
    return;
  unsigned size = FEW;
  while (size < count)
    size *= 2;
  for (unsigned i = count + threadIdx.x; i < size; i += PEAK_THREADS)
    keys[i] = 0;
  __syncthreads();
  sort_keys(keys, size);
  for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS)
    put(j, p, keys[i], i);
}

/* Brings the best keys into shared memory; returns their number. */
static __device__ unsigned gather(const uint64_t *keys, unsigned count, unsigned wanted,
                                  uint64_t *sorted) {
  __shared__ unsigned place;
  if (count <= SORT_MAX) {
    for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS)
      sorted[i] = __ldcg((const unsigned long long *)&keys[i]);
    __syncthreads();
    return count;
  }
  const uint64_t least = select_key(keys, count, wanted);
  if (threadIdx.x == 0)
    place = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += PEAK_THREADS) {
    const uint64_t key = __ldcg((const unsigned long long *)&keys[i]);
    if (key >= least)
      sorted[atomicAdd(&place, 1u)] = key;
  }
  __syncthreads();
  return wanted;
}

/* Several blocks: 1 in the one that ends last, with the number of peaks. */
static __device__ int is_last_block(HoughCounters *counters, unsigned blocks, unsigned *peaks) {
  __shared__ int is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicAdd(&counters->peak_blocks, 1u) == blocks - 1;
  __syncthreads();
  if (is_last) {
    __threadfence();
    *peaks = __ldcg(&counters->peaks);
  }
  return is_last;
}

static __global__ void __launch_bounds__(PEAK_THREADS)
    peak_kernel(const PeakJob j, const RvHoughSpace p) {
  __shared__ uint64_t sorted[SORT_MAX];
  __shared__ unsigned found;
  if (threadIdx.x == 0)
    found = 0;
  if (blockIdx.x == 0) /* nobody reads the lines of the last run any more */
    for (int i = threadIdx.x; i < 5 * p.max_lines; i += PEAK_THREADS)
      ((uint32_t *)j.lines)[i] = 0;
  rv_launch_wait();
  rv_launch_next();
  const unsigned count = __ldcg(&j.counters->candidates);
  const unsigned blocks = min(max((count + BLOCK_MAX - 1) / BLOCK_MAX, 1u), gridDim.x);
  if (blockIdx.x >= blocks)
    return;
  __syncthreads();
  unsigned peaks;
  if (blocks == 1) {
    find_peaks(j, p, count, 1, &found, sorted);
    __syncthreads();
    peaks = found;
    if (peaks > SORT_MAX)
      peaks = gather(j.keys, peaks, (unsigned)p.max_lines, sorted);
  } else {
    find_peaks(j, p, count, blocks, &j.counters->peaks, NULL);
    if (!is_last_block(j.counters, blocks, &peaks))
      return;
    peaks = gather(j.keys, peaks, (unsigned)p.max_lines, sorted);
  }
  order_lines(j, p, sorted, peaks);
  if (threadIdx.x == 0) {
    HoughCounters *c = j.counters;
    *j.line_count = c->lines = min(peaks, (unsigned)p.max_lines);
    c->points = c->candidates = c->peaks = c->peak_blocks = 0;
  }
}

RvStatus hough_cuda_peaks(void *memory, RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughSpace *p = &job->plan->space;
  const RvLog *log = &job->plan->config.log;
  const long long quads = (long long)p->angles * work->stride / 4;
  const int is_whole = rv_vote_list_is_whole(work->shape);
  if (!is_whole) {
    const HoughCandidates candidates = {work->candidates, &work->counters->candidates,
                                        (uint32_t)p->threshold};
    const long long needed = (quads + SCAN_THREADS - 1) / SCAN_THREADS;
    const unsigned blocks = (unsigned)(needed < 4096 ? needed : 4096);
    RV_TRY(rv_launch(log, scan_kernel, dim3(blocks), dim3(SCAN_THREADS), 0, job->stream, false,
                     candidates, (const uint4 *)work->bins, (unsigned)quads));
  }
  const PeakJob j = {work->bins, work->stride,   work->candidates, work->keys,
                     work->top,  job->out.lines, job->out.count,   work->counters};
  const long long needed = (2 * quads + BLOCK_MAX - 1) / BLOCK_MAX;
  RvLaunch launch(dim3((unsigned)(needed < PEAK_BLOCKS ? needed : PEAK_BLOCKS)), PEAK_THREADS, 0,
                  job->stream);
  if (work->is_early && is_whole && !job->out.accumulator.data) /* directly after the votes */
    launch.early();
  return launch.run(log, peak_kernel, j, *p);
}
