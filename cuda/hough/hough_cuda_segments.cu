/* SPDX-License-Identifier: MIT */
/* hough_cuda_segments.cu: the longest run of edges along each line, a block a line. */
#include "hough/hough_cuda.cuh"

#define SEGMENT_WARPS 8
#define SEGMENT_THREADS (32 * SEGMENT_WARPS)
#define SEGMENT_BLOCKS 4 /* of a multiprocessor */
#define AHEAD 8          /* places of a lane whose edges are loaded together */

/* Not 0 when the line passes through an edge at `major` < majors, or next to one across it. Without
 * branches, so that several are on their way together. */
static __device__ __forceinline__ int hit_at(const HoughMap edges, const RvHoughSpace &p,
                                             const RvHoughAngle &a, int offset, int major,
                                             int majors) {
  const int middle = rv_hough_minor(&a, offset, major), minors = a.is_steep ? p.width : p.height;
  const int least = major < majors ? 0 : minors + 1; /* of `middle` */
  const ptrdiff_t by_minor = a.is_steep ? 1 : edges.stride;
  const uint8_t *at = edges.data + (a.is_steep ? major * edges.stride : major) + middle * by_minor;
  const int before = middle > least && middle <= minors ? __ldg(at - by_minor) : 0;
  const int here = middle >= least && middle < minors ? __ldg(at) : 0;
  const int after = middle >= least - 1 && middle < minors - 1 ? __ldg(at + by_minor) : 0;
  return before | here | after;
}

/* Maximum over the lanes before this one, and `from`; *all: over all lanes, too. */
static __device__ __forceinline__ int maximum_before(int value, int from, int *all) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(RV_WARP, value, d);
    value = rv_lane() >= d ? max(value, other) : value;
  }
  const int before = __shfl_up_sync(RV_WARP, value, 1);
  *all = max(__shfl_sync(RV_WARP, value, 31), from);
  return rv_lane() > 0 ? max(before, from) : from;
}

/* Bits that are 1 to `reach` places above one of `bits`. */
static __device__ __forceinline__ uint32_t smear(uint32_t bits, int reach) {
  bits <<= 1;
  int done = 1;
  for (; 2 * done <= reach; done *= 2)
    bits |= bits << done;
  return bits | bits << (reach - done);
}

/* The longer run, of two alike the first: the larger number. */
static __device__ __forceinline__ uint32_t run_key(int first, int last) {
  return (uint32_t)(last - first) << 16 | (0xffffu - (uint32_t)first);
}

static __device__ __forceinline__ int top_bit(uint32_t bits) {
  return 31 - __clz((int)bits);
}

/* Hits along a line, 1024 places at a time: lane k has places 32 k and on. last, first: of the run so
 * far, -1: none. Returns the largest key of the runs that end in or pass through the lane's places. */
static __device__ uint32_t longest_run(uint32_t word, int base, int max_gap, int *first,
                                       int *last) {
  const int at = base + 32 * rv_lane();
  const int before = maximum_before(word ? at + top_bit(word) : -1, *last, last);
  uint32_t joined = smear(word, min(max_gap, 30) + 1); /* to a hit that is at most max_gap + 1 on */
  const int reach = before < 0 ? 0 : max_gap + 2 + before - at;
  if (reach > 0)
    joined |= reach >= 32 ? ~0u : (1u << reach) - 1;
  uint32_t starts = word & ~joined;
  int start = maximum_before(starts ? at + top_bit(starts) : -1, *first, first);
  uint32_t best = 0;
  for (uint32_t left = word; left;) {
    const uint32_t part = left & (starts ? (starts & -starts) - 1 : ~0u); /* to the next start */
    if (part)
      best = max(best, run_key(start, at + top_bit(part)));
    left &= ~part;
    start = at + __ffs((int)starts) - 1;
    starts &= starts - 1;
  }
  return best;
}

/* Hits along a line, a bit each, by the block. */
static __device__ void find_hits(const HoughMap edges, const RvHoughSpace &p, const RvHoughAngle &a,
                                 int offset, uint32_t *words) {
  const int majors = a.is_steep ? p.height : p.width;
  for (int k = (int)threadIdx.x / 32; 32 * k < majors; k += AHEAD * SEGMENT_WARPS) {
    int hit[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
      hit[i] = hit_at(edges, p, a, offset, 32 * (k + i * SEGMENT_WARPS) + rv_lane(), majors);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      const uint32_t hits = __ballot_sync(RV_WARP, hit[i] != 0);
      if (rv_lane() == 0 && 32 * (k + i * SEGMENT_WARPS) < majors)
        words[k + i * SEGMENT_WARPS] = hits;
    }
  }
}

/* The end points of a line by a block; the result in its first warp. hits: its places with edges,
 * all words of a row; or NULL. */
static __device__ bool segment(const HoughMap edges, const RvHoughSpace &p,
                               const RvHoughAngle *angles, uint64_t key, uint32_t *hits,
                               RvLine *line) {
  __shared__ uint32_t words[RV_MAX_SIDE / 32];
  const uint32_t index = 0xffffffffu - (uint32_t)key;
  const RvHoughAngle a = angles[index / (uint32_t)p.bins];
  const int offset = (int)(index % (uint32_t)p.bins) - p.rho_zero;
  const int count = rv_div_up(a.is_steep ? p.height : p.width, 32), lane = rv_lane();
  find_hits(edges, p, a, offset, words);
  __syncthreads();
  for (int k = (int)threadIdx.x; hits && k < rv_div_up(rv_max(p.width, p.height), 32);
       k += SEGMENT_THREADS)
    hits[k] = k < count ? words[k] : 0;
  if (threadIdx.x >= 32)
    return false;
  int first = -1, last = -1;
  uint32_t best = 0;
  for (int k = 0; k < count; k += 32)
    best = max(best, longest_run(k + lane < count ? words[k + lane] : 0, 32 * k, p.max_gap, &first,
                                 &last));
  best = rv_warp_max(best);
  const int begin = 0xffff - (int)(best & 0xffff);
  const RvHoughRun run = {0, 0, begin, begin + (int)(best >> 16), best != 0};
  return rv_hough_run_end(&run, &a, &p, offset, line);
}

/* One block: lines that are long enough move up, in order; a thread has some in a row. What is after
 * `count` has been cleared. */
static __device__ void compact(const RvLine *found, const uint8_t *is_long, int count,
                               RvLine *lines, uint32_t *line_count) {
  __shared__ int warps[SEGMENT_WARPS];
  const int each = (count + SEGMENT_THREADS - 1) / SEGMENT_THREADS;
  const int first = min((int)threadIdx.x * each, count), end = min(first + each, count);
  uint32_t keep = 0; /* bit i: line first + i */
#pragma unroll 4
  for (int i = first; i < end; i++)
    keep |= (uint32_t)__ldcg(&is_long[i]) << (i - first);
  const int sum = rv_warp_scan(__popc(keep));
  if (rv_lane() == 31)
    warps[threadIdx.x / 32] = sum;
  __syncthreads();
  int place = sum - __popc(keep), kept = 0;
  for (int w = 0; w < SEGMENT_WARPS; w++) {
    place += w < (int)threadIdx.x / 32 ? warps[w] : 0;
    kept += warps[w];
  }
  for (; keep; keep &= keep - 1)
    lines[place++] = found[first + __ffs((int)keep) - 1];
  const RvLine none = {};
  for (int i = kept + (int)threadIdx.x; i < count; i += SEGMENT_THREADS)
    lines[i] = none;
  if (threadIdx.x == 0)
    *line_count = (uint32_t)kept;
}

static __global__ void __launch_bounds__(SEGMENT_THREADS, SEGMENT_BLOCKS)
    segment_kernel(const HoughMap edges, const RvHoughSpace p, const RvHoughAngle *angles,
                   const uint64_t *top, RvLine *found, uint8_t *is_long, RvLine *lines,
                   uint32_t *line_count, uint32_t *hits, HoughCounters *counters) {
  static_assert(RV_HOUGH_LINES_MAX <= 32 * SEGMENT_THREADS, "a thread keeps 32 lines at most");
  static_assert(RV_MAX_SIDE < 0xffff, "a place along a line fits a key");
  __shared__ int is_last;
  rv_launch_wait();
  const unsigned count = __ldcg(&counters->lines);
  const unsigned blocks = min(max(count, 1u), gridDim.x);
  const int words = 1 + rv_div_up(rv_max(p.width, p.height), 32);
  for (unsigned i = count + blockIdx.x; hits && i < (unsigned)p.max_lines; i += gridDim.x)
    for (int k = (int)threadIdx.x; k < words; k += SEGMENT_THREADS)
      hits[(size_t)i * words + k] = 0;
  if (blockIdx.x >= blocks)
    return;
  for (unsigned i = blockIdx.x; i < count; i += blocks) {
    const uint64_t key = __ldcg((const unsigned long long *)&top[i]);
    RvLine line = rv_hough_line(&p, key);
    uint32_t *row = hits ? hits + (size_t)i * words : NULL;
    const bool keep = segment(edges, p, angles, key, row ? row + 1 : NULL, &line);
    if (threadIdx.x == 0) {
      if (row)
        row[0] = keep;
      found[i] = line;
      is_long[i] = keep;
    }
    __syncthreads(); /* the hits are read */
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicAdd(&counters->segment_blocks, 1u) == blocks - 1;
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  compact(found, is_long, (int)count, lines, line_count);
  if (threadIdx.x == 0)
    counters->segment_blocks = 0;
}

RvStatus hough_cuda_segments(void *memory, RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughSpace *p = &job->plan->space;
  const HoughMap edges = hough_cuda_map(work, job);
  const unsigned blocks = (unsigned)rv_min(p->max_lines, SEGMENT_BLOCKS * work->processors);
  return rv_launch(&job->plan->config.log, segment_kernel, dim3(blocks), dim3(SEGMENT_THREADS), 0,
                   job->stream, work->is_early, edges, *p, work->angles, work->top, work->found,
                   work->is_long, job->out.lines, job->out.count, job->out.hits, work->counters);
}
