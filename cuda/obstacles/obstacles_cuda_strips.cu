/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_strips.cu: tables of the frame; votes, evidence and runs, one block per strip. */
#include "obstacles/obstacles_cuda.cuh"

#define TABLE_THREADS 256
#define THREADS 256
#define MASK_WORDS 26 /* of 32 rows: fewer than 810 are sampled */
#define WORDS RV_OBSTACLES_WORDS
#define EACH (RV_OBSTACLES_FINE / THREADS) /* bins per thread */

static_assert(EACH == 2 && RV_OBSTACLES_COARSE == THREADS, "one coarse bin per thread");

/* --- Tables ---------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(TABLE_THREADS)
    tables_kernel(const __grid_constant__ ObstaclesCuda w,
                  const __grid_constant__ ObstaclesArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const RvObstaclesPlan &p = w.plan;
  const int i = blockIdx.x * TABLE_THREADS + threadIdx.x;
  if (!obstacles_has_ground(a))
    return;
  if (i > 0 && i < p.depths)
    w.depth[i] = rv_obstacles_depth_row(&p, a.ground, i);
  if (i < p.width)
    w.column[i] = rv_obstacles_column(a.ground, i);
}

/* --- Strip ----------------------------------------------------------------------------------- */

namespace {
/* One set of bins: the votes on the ground, or those above the clearance. */
struct Bits {
  uint32_t full[WORDS]; /* bins with enough votes */
  uint32_t set[WORDS];  /* the same with single gaps filled */
};

struct Strip {
  uint32_t votes[2][RV_OBSTACLES_FINE];
  uint32_t below[RV_OBSTACLES_FINE + 1]; /* votes of the bins below: ground, above << 16 */
  uint32_t scan[33], scan_total;
  Bits bits[2];
  uint32_t ground[RV_OBSTACLES_COARSE / 32];
  uint8_t map[RV_OBSTACLES_FINE]; /* run of each bin, 255: none */
  RvObstaclesRun runs[RV_OBSTACLES_RUNS];
  uint32_t mask[RV_OBSTACLES_RUNS][MASK_WORDS];                /* rows */
  unsigned columns[RV_OBSTACLES_RUNS][RV_OBSTACLES_STRIP_MAX]; /* rows of each px column */
  int count;                                                   /* runs */
  int valid, total;
};
} // namespace

/* A pixel for the second pass: bin, class << 9. */
static __device__ __forceinline__ uint16_t code_of(int bin, int pixel_class) {
  return (uint16_t)(bin | pixel_class << 9);
}

static __device__ void clear(Strip &s) {
  uint32_t *words = (uint32_t *)&s;
  for (int i = threadIdx.x; i < (int)(sizeof s / 4); i += THREADS)
    words[i] = 0;
}

/* Votes of the strip; `codes` keeps what the second pass needs. */
static __device__ void vote(Strip &s, uint16_t *codes, const ObstaclesCuda &w, const RvPlane &plane,
                            int strip) {
  const RvObstaclesPlan &p = w.plan;
  const int left = strip * p.n, pixels = p.rows * p.n;
  const int horizon = w.depth[p.least].row - w.column[left + p.n / 2];
  int valid = 0, total = 0;
  for (int i = threadIdx.x; i < pixels; i += THREADS) {
    const int row = i / p.n, x = left + i - row * p.n, y = row * p.stride;
    const int depth = rv_obstacles_depth_of(&p, rv_row<const uint16_t>(plane, y)[x]);
    int bin = 0, pixel_class = RV_OBSTACLES_NOTHING;
    total += 256 * y >= horizon;
    if (depth) {
      const RvObstaclesDepthRow r = w.depth[depth];
      pixel_class = rv_obstacles_class(&r, 256 * y + w.column[x]);
      bin = depth / p.bin;
      valid += 256 * y >= horizon;
      if (pixel_class == RV_OBSTACLES_GROUND)
        atomicOr(&s.ground[bin / 64], 1u << (bin / 2 % 32));
      else if (pixel_class >= RV_OBSTACLES_BODY_PX)
        atomicAdd(&s.votes[pixel_class == RV_OBSTACLES_OVER_PX][bin], rv_obstacles_vote(&p, depth));
    }
    codes[i] = code_of(bin, pixel_class);
  }
  valid = rv_warp_sum(valid);
  total = rv_warp_sum(total);
  if (rv_lane() == 0) {
    atomicAdd(&s.valid, valid);
    atomicAdd(&s.total, total);
  }
}

/* Prefix sums of both sets of votes at once: each stays below 2^15. */
static __device__ void sum_votes(Strip &s) {
  const int k = EACH * threadIdx.x;
  uint32_t mine[EACH], sum = 0;
  for (int i = 0; i < EACH; i++) {
    mine[i] = (s.votes[0][k + i] & 65535) | (s.votes[1][k + i] & 65535) << 16;
    sum += mine[i];
  }
  uint32_t total;
  uint32_t below = rv_block_scan(sum, THREADS, s.scan, &total) - sum;
  for (int i = 0; i < EACH; i++) {
    s.below[k + i] = below;
    below += mine[i];
  }
  if (threadIdx.x == THREADS - 1)
    s.below[RV_OBSTACLES_FINE] = below;
}

static __device__ __forceinline__ int below_of(const Strip &s, int over, int k) {
  return (int)(over ? s.below[k] >> 16 : s.below[k] & 65535);
}

/* One coarse bin per thread: evidence, and what it adds to the cost of the path. */
static __device__ void find_evidence(Strip &s, const ObstaclesCuda &w, int strip) {
  const int q = RV_OBSTACLES_COARSE - 1 - threadIdx.x; /* from near to far, for the sum */
  const int spread = w.tables->spread[q];
  const int sum = below_of(s, 0, rv_min(2 * q + 2 + spread, RV_OBSTACLES_FINE)) -
                  below_of(s, 0, rv_max(2 * q - spread, 0));
  const int evidence = rv_obstacles_evidence(sum, w.tables->full[q]);
  uint32_t total;
  __syncthreads(); /* the scan's memory is used again */
  const int upto = (int)rv_block_scan((uint32_t)evidence, THREADS, s.scan, &total);
  const size_t at = (size_t)strip * RV_OBSTACLES_COARSE + q;
  w.evidence[at] = (uint8_t)evidence;
  w.data[at] = (int16_t)(upto - evidence - (q ? evidence : 0));
}

static __device__ int most_votes(const uint32_t *votes, int first, int last) {
  int most = 0;
  for (int k = rv_max(first, 0); k <= rv_min(last, RV_OBSTACLES_FINE - 1); k++)
    most = rv_max(most, (int)(votes[k] & 65535));
  return most;
}

/* Bins with enough votes, one warp per word. */
static __device__ void find_full(Strip &s, const ObstaclesCuda &w) {
  const RvObstaclesTables *t = w.tables;
  for (int i = threadIdx.x; i < 2 * RV_OBSTACLES_FINE; i += THREADS) {
    const int over = i / RV_OBSTACLES_FINE, k = i - over * RV_OBSTACLES_FINE;
    const uint32_t *votes = s.votes[over];
    const int here = (int)(votes[k] & 65535);
    const int sum = below_of(s, over, rv_min(k + t->window[k] + 1, RV_OBSTACLES_FINE)) -
                    below_of(s, over, rv_max(k - t->window[k], 0));
    bool is_full = here != 0 && sum >= t->need[k];
    if (is_full && k < w.plan.split)
      is_full = !rv_obstacles_is_valley(here, most_votes(votes, k - RV_OBSTACLES_VALLEY, k - 1),
                                        most_votes(votes, k + 1, k + RV_OBSTACLES_VALLEY));
    const unsigned bits = __ballot_sync(RV_WARP, is_full);
    if (rv_lane() == 0)
      s.bits[over].full[k / 32] = bits;
  }
}

/* Single gaps, one thread per word. */
static __device__ void fill_gaps(Strip &s) {
  if (threadIdx.x >= 2 * WORDS)
    return;
  Bits &b = s.bits[threadIdx.x / WORDS];
  const int i = threadIdx.x % WORDS;
  const uint32_t before = i > 0 ? b.full[i - 1] >> 31 : 0;
  const uint32_t after = i + 1 < WORDS ? b.full[i + 1] << 31 : 0;
  b.set[i] = b.full[i] | ((b.full[i] << 1 | before) & (b.full[i] >> 1 | after));
}

/* The last set (or clear) bit at or before bin k; -1: none. */
static __device__ int last_bit(const uint32_t *words, int k, bool is_set) {
  for (int i = k / 32; i >= 0; i--) {
    uint32_t word = is_set ? words[i] : ~words[i];
    if (i == k / 32)
      word &= 0xffffffffu >> (31 - k % 32);
    if (word)
      return 32 * i + 31 - __clz((int)word);
  }
  return -1;
}

static __device__ bool is_covered(const Strip &s, int low, int high) {
  const int last = rv_min(high + RV_OBSTACLES_COVER, RV_OBSTACLES_FINE - 1);
  return last_bit(s.bits[0].set, last, true) >= rv_max(low - RV_OBSTACLES_COVER, 0);
}

/* Bins of the runs from near to far, first those on the ground: one thread. */
static __device__ void list_runs(Strip &s) {
  int count = 0;
  for (int over = 0; over < 2; over++)
    for (int k = RV_OBSTACLES_FINE - 1; k >= 0 && count < RV_OBSTACLES_RUNS; k--) {
      const int high = last_bit(s.bits[over].set, k, true);
      if (high < 0)
        break;
      const int low = last_bit(s.bits[over].set, high, false) + 1;
      k = low;
      if (over && is_covered(s, low, high))
        continue;
      s.runs[count].low = (uint16_t)low;
      s.runs[count].high = (uint16_t)high;
      s.runs[count++].over = over;
    }
  s.count = count;
}

/* Votes and quantiles, one warp per run. */
static __device__ void measure_run(const Strip &s, const RvObstaclesPlan &p, RvObstaclesRun &run) {
  const int low = run.low, high = run.high, over = run.over, first = below_of(s, over, low);
  const int votes = below_of(s, over, high + 1) - first;
  const int near = rv_obstacles_share(votes, RV_OBSTACLES_NEAR);
  const int far = rv_obstacles_share(votes, 100 - RV_OBSTACLES_NEAR);
  for (int k = low + rv_lane(); k <= high; k += 32) {
    const int below = below_of(s, over, k) - first, upto = below_of(s, over, k + 1) - first;
    if (below < near && upto >= near)
      run.near_d = rv_obstacles_quantile(&p, k, near - below, upto - below);
    if (below < far && upto >= far)
      run.far_d = rv_obstacles_quantile(&p, k, far - below, upto - below);
  }
  if (rv_lane() == 0)
    run.votes = votes;
}

static __device__ void make_map(Strip &s) {
  for (int k = threadIdx.x; k < RV_OBSTACLES_FINE; k += THREADS) {
    int m = 0;
    while (m < s.count && (k < s.runs[m].low - 1 || k > s.runs[m].high + 1))
      m++;
    s.map[k] = (uint8_t)(m < s.count ? m : 255);
  }
}

/* Rows and columns of the runs. */
static __device__ void mark(Strip &s, const uint16_t *codes, const RvObstaclesPlan &p) {
  for (int i = threadIdx.x; i < p.rows * p.n; i += THREADS) {
    const int pixel_class = codes[i] >> 9, m = s.map[codes[i] & 511], row = i / p.n;
    if (pixel_class < RV_OBSTACLES_FOOT || m == 255 ||
        (s.runs[m].over && pixel_class != RV_OBSTACLES_OVER_PX))
      continue;
    atomicOr(&s.mask[m][row / 32], 1u << (row % 32));
    atomicAdd(&s.columns[m][i - row * p.n], 1u);
  }
}

/* Rows of a run and its height, one thread. */
static __device__ void find_rows(const Strip &s, const ObstaclesCuda &w, int strip, int m,
                                 RvObstaclesRun &run) {
  const RvObstaclesPlan &p = w.plan;
  const int middle = rv_obstacles_middle(&run), gap = w.tables->gap[middle];
  int top = rv_max(last_bit(s.mask[m], p.rows - 1, true), 0);
  run.bottom = (uint16_t)rv_obstacles_last_row(&p, top);
  for (;;) {
    const int end = last_bit(s.mask[m], top, false); /* the first row without a pixel above */
    top = end + 1;
    const int next = end < 0 ? -1 : last_bit(s.mask[m], end, true);
    if (next < 0 || end - next > gap)
      break;
    top = next;
  }
  run.top = (uint16_t)(top * p.stride);
  const int32_t ground =
      w.depth[rv_obstacles_center(&p, middle)].row - w.column[strip * p.n + p.n / 2];
  run.height = rv_obstacles_mm(w.tables->mm[middle], ground - 256 * run.top);
  run.columns = 0;
  for (int i = 0; i < p.n; i++)
    run.columns |= (uint32_t)(s.columns[m][i] >= 2) << i;
}

static __global__ void __launch_bounds__(THREADS)
    strips_kernel(const __grid_constant__ ObstaclesCuda w,
                  const __grid_constant__ ObstaclesArgs a) {
  extern __shared__ __align__(8) char memory[];
  __shared__ Strip s;
  uint16_t *codes = (uint16_t *)memory;
  const int strip = blockIdx.x, thread = threadIdx.x;
  clear(s);
  rv_launch_wait();
  rv_launch_next();
  if (!obstacles_has_ground(a))
    return;
  __syncthreads();
  vote(s, codes, w, a.disparity, strip);
  __syncthreads();
  sum_votes(s);
  __syncthreads();
  find_evidence(s, w, strip);
  find_full(s, w);
  __syncthreads();
  fill_gaps(s);
  __syncthreads();
  if (thread == 0)
    list_runs(s);
  __syncthreads();
  for (int m = thread / 32; m < s.count; m += THREADS / 32)
    measure_run(s, w.plan, s.runs[m]);
  make_map(s);
  __syncthreads();
  if (s.count)
    mark(s, codes, w.plan);
  __syncthreads();
  if (thread < s.count) {
    find_rows(s, w, strip, thread, s.runs[thread]);
    w.runs[strip * RV_OBSTACLES_RUNS + thread] = s.runs[thread];
  }
  if (thread < RV_OBSTACLES_RUNS)
    w.label[strip * RV_OBSTACLES_RUNS + thread] = strip * RV_OBSTACLES_RUNS + thread;
  for (int k = thread; k < RV_OBSTACLES_FINE; k += THREADS)
    w.votes[(size_t)strip * RV_OBSTACLES_FINE + k] = s.votes[0][k];
  if (thread < RV_OBSTACLES_COARSE / 32)
    w.ground[strip * RV_OBSTACLES_COARSE / 32 + thread] = s.ground[thread];
  if (thread == 0) {
    w.run_count[strip] = s.count;
    w.valid[strip] = (uint8_t)(s.total ? 255 * s.valid / s.total : 0);
  }
}

RvStatus obstacles_cuda_strips(const ObstaclesCuda *w, const RvObstaclesJob *job) {
  const RvObstaclesPlan *p = &w->plan;
  const ObstaclesArgs args = obstacles_args(job);
  const int entries = rv_max(p->depths, p->width);
  RV_TRY(obstacles_launch(w, tables_kernel, rv_div_up(entries, TABLE_THREADS), TABLE_THREADS, 0,
                          job->stream, *w, args));
  const size_t codes = (size_t)p->rows * (size_t)p->n * sizeof(uint16_t);
  return obstacles_launch(w, strips_kernel, p->strips, THREADS, codes, job->stream, *w, args);
}
