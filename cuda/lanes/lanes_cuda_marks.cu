/* SPDX-License-Identifier: MIT */
/* lanes_cuda_marks.cu: marks of a row: sums, responses, maxima. */
#include "lanes/lanes_cuda.cuh"

#define MARK_THREADS 256
#define MARK_WARPS (MARK_THREADS / 32)
#define WORDS (RV_LANES_COLUMNS / 32)
#define HELD 8 /* columns of a thread that are read at once */
#define PEAK 4 /* columns to either side that are compared at once */
#define REACH (RV_LANES_WIDTH_MAX + 2 * ((3 * RV_LANES_WIDTH_MAX + 5) / 10)) /* of a center */

static_assert(WORDS <= 128, "one warp scans the words of a row, four per lane");
static_assert(16LL * (RV_MAX_SIDE / RV_LANES_COLUMNS) * 255 * REACH * REACH / 2 < INT32_MAX,
              "rv_lanes_shift() has 32 bits");

namespace {
/* Shared memory of a row; columns are counted from the first one that is read. */
struct MarkShared {
  uint32_t scan[33];
  uint32_t noise, total, base;
  uint32_t words[WORDS];             /* bits of the columns that are marks */
  uint32_t before[WORDS];            /* marks ahead of a word */
  uint16_t marks[RV_LANES_ROW_HITS]; /* columns */
};

/* A row, as the threads of its block see it. */
struct MarkRow {
  RvLanesRow row; /* lo and hi counted from `first` */
  int y, first;
  uint32_t *upto;
  int32_t *response;
  int16_t *shift; /* of a mark: its center less its column, 1/16 px */
  const RvPlane *disparity;
};
} // namespace

static __device__ __forceinline__ uint32_t column_at(const RvLanesPlan &p, const uint8_t *from,
                                                     int i) {
  return p.n == 1 ? from[i] : rv_lanes_mean(from + i * p.n, p.n);
}

/* Sums of the columns before each of `count` columns, each thread some in a row. */
static __device__ void sum_up(const RvLanesPlan &p, const RvPlane &gray, const MarkRow &m,
                              MarkShared &s, int count) {
  const uint8_t *from = rv_row<const uint8_t>(gray, m.y * p.stride) + (size_t)m.first * p.n;
  const int each = rv_div_up(count, MARK_THREADS), begin = threadIdx.x * each;
  const int end = rv_min(begin + each, count);
  uint32_t held[HELD], sum = 0, total;
#pragma unroll
  for (int k = 0; k < HELD; k++)
    held[k] = begin + k < end ? column_at(p, from, begin + k) : 0;
#pragma unroll
  for (int k = 0; k < HELD; k++)
    sum += held[k];
  for (int i = begin + HELD; i < end; i++)
    sum += column_at(p, from, i);
  uint32_t at = rv_block_scan(sum, MARK_THREADS, s.scan, &total) - sum;
#pragma unroll
  for (int k = 0; k < HELD; k++)
    if (begin + k < end) {
      m.upto[begin + k] = at;
      at += held[k];
    }
  for (int i = begin + HELD; i < end; i++) {
    m.upto[i] = at;
    at += column_at(p, from, i);
  }
  if (threadIdx.x == 0)
    m.upto[count] = total;
}

static __device__ void respond(const MarkRow &m, MarkShared &s) {
  uint32_t noise = 0;
  for (int u = m.row.lo + threadIdx.x; u <= m.row.hi; u += MARK_THREADS) {
    const RvLanesSums sums = rv_lanes_sums(m.upto, &m.row, u);
    m.response[u] = rv_lanes_response(&sums);
    noise += (uint32_t)rv_abs(sums.c - sums.l);
  }
  noise = rv_warp_sum(noise);
  if (rv_lane() == 0 && noise)
    atomicAdd(&s.noise, noise);
}

/* From the nearest columns on, which most columns that are no peak lose against. */
static __device__ bool is_peak(const MarkRow &m, int u) {
  const int y = m.response[u], left = rv_min(m.row.k, u - m.row.lo);
  const int right = rv_min(m.row.k, m.row.hi - u);
  for (int first = 1; first <= m.row.k; first += PEAK) {
    bool is_below = true;
#pragma unroll
    for (int i = first; i < first + PEAK; i++) {
      const int before = m.response[u - rv_min(i, left)], after = m.response[u + rv_min(i, right)];
      is_below &= (i > left || before < y) & (i > right || after <= y);
    }
    if (!is_below)
      return false;
  }
  return true;
}

/* Center of the mark at column u, less that column, in 1/16 px. */
static __device__ int shift_of(const RvLanesPlan &p, const MarkRow &m, const RvLanesSums &sums,
                               int u) {
  const int count = m.row.k + 2 * m.row.g;
  const uint32_t *upto = m.upto + u - m.row.k / 2 - m.row.g;
  const int base = rv_max(sums.l, sums.r) / m.row.k;
  int sum = 0, moment = 0;
#pragma unroll 8
  for (int i = 0; i < count; i++) {
    const int over = rv_max((int)(upto[i + 1] - upto[i]) - base, 0);
    sum += over;
    moment += over * i;
  }
  return rv_lanes_shift(&p, &m.row, sum, moment);
}

/* Position of column u and of what is `shift` from it, 1/16 px. */
static __device__ __forceinline__ int center_of(const RvLanesPlan &p, const MarkRow &m, int u,
                                                int shift) {
  return 16 * p.n * (m.first + u) + shift;
}

/* Of a mark, its center is kept. */
static __device__ bool is_mark(const RvLanesPlan &p, const RvLanesView &view, const MarkRow &m,
                               uint32_t noise, int u) {
  if (!rv_lanes_is_mark(&p, &m.row, m.response[u], noise) || !is_peak(m, u))
    return false;
  const RvLanesSums sums = rv_lanes_sums(m.upto, &m.row, u);
  if (!rv_lanes_is_balanced(&m.row, &sums))
    return false;
  const int shift = shift_of(p, m, sums, u), center = center_of(p, m, u, shift);
  m.shift[u] = (int16_t)shift;
  if (!m.disparity->data)
    return true;
  const int q = rv_lanes_q_at(&p, &view, m.row.q, center);
  const uint16_t *d = rv_row<const uint16_t>(*m.disparity, m.y * p.stride);
  return !rv_lanes_is_near(&p, d[center / 16], q);
}

/* Marks ahead of each word, one warp; reserves space in the list. */
static __device__ void count_marks(MarkShared &s, unsigned *hits) {
  uint32_t here[WORDS / 32], sum = 0;
  for (int i = 0; i < WORDS / 32; i++) {
    here[i] = (uint32_t)__popc(s.words[rv_lane() * (WORDS / 32) + i]);
    sum += here[i];
  }
  const uint32_t upto = rv_warp_scan(sum);
  uint32_t before = upto - sum;
  for (int i = 0; i < WORDS / 32; i++) {
    s.before[rv_lane() * (WORDS / 32) + i] = before;
    before += here[i];
  }
  if (rv_lane() == 31) {
    s.total = upto;
    s.base = upto ? atomicAdd(hits, (unsigned)rv_min((int)upto, RV_LANES_ROW_HITS)) : 0;
  }
}

/* The marks of the row to the list, a thread per mark and horizon. */
static __device__ void write_marks(const RvLanesPlan &p, const LanesCuda &w,
                                   const RvLanesView &view, const MarkRow &m, const MarkShared &s) {
  const int count = rv_min((int)s.total, RV_LANES_ROW_HITS);
  for (int i = threadIdx.x; i < count * p.horizons; i += MARK_THREADS) {
    const int j = i / count, k = i - j * count, u = s.marks[k];
    const int center = center_of(p, m, u, m.shift[u]);
    const RvLanesHit hit = rv_lanes_hit_at(&p, &view, &m.row, m.y, m.response[u], center, j);
    const size_t at = (size_t)j * p.hits + s.base + k;
    w.points[at] = hit.point;
    w.values[at] = hit.value;
    if (j == 0)
      w.place[s.base + k] = rv_lanes_place(m.y, center);
  }
}

static __global__ void __launch_bounds__(MARK_THREADS)
    marks_kernel(const __grid_constant__ RvLanesPlan p, const __grid_constant__ LanesCuda w,
                 const __grid_constant__ RvPlane gray, const __grid_constant__ RvPlane disparity) {
  extern __shared__ __align__(8) uint32_t columns[];
  __shared__ MarkShared s;
  rv_launch_wait();
  rv_launch_next();
  MarkRow m = {w.rows[blockIdx.x], (int)blockIdx.x, 0, columns, NULL, NULL, &disparity};
  if (threadIdx.x == 0 && m.row.q > 0)
    atomicAdd(&w.frame->rows, 1u);
  if (m.row.hi < m.row.lo)
    return;
  const int k = m.row.k, half = k / 2;
  m.first = m.row.lo - half - m.row.g - k;
  const int count = m.row.hi - half + 2 * k + m.row.g - m.first;
  m.row.lo -= m.first;
  m.row.hi -= m.first;
  m.response = (int32_t *)(columns + count + 1);
  m.shift = (int16_t *)(m.response + count);
  for (int i = threadIdx.x; i < WORDS; i += MARK_THREADS)
    s.words[i] = 0;
  if (threadIdx.x == 0)
    s.noise = 0;
  sum_up(p, gray, m, s, count);
  __syncthreads();
  respond(m, s);
  __syncthreads();
  const RvLanesView view = w.frame->view;
  const int words = rv_div_up(m.row.hi - m.row.lo + 1, 32);
  for (int i = threadIdx.x / 32; i < words; i += MARK_WARPS) {
    const int u = m.row.lo + 32 * i + rv_lane();
    const uint32_t bits = __ballot_sync(RV_WARP, u <= m.row.hi && is_mark(p, view, m, s.noise, u));
    if (rv_lane() == 0)
      s.words[i] = bits;
  }
  __syncthreads();
  if (threadIdx.x < 32)
    count_marks(s, &w.frame->hits);
  __syncthreads();
  for (int i = threadIdx.x / 32; i < words; i += MARK_WARPS) {
    const uint32_t bits = s.words[i];
    const uint32_t rank = s.before[i] + (uint32_t)__popc(bits & ((1u << rv_lane()) - 1));
    if ((bits >> rv_lane() & 1) && rank < RV_LANES_ROW_HITS)
      s.marks[rank] = (uint16_t)(m.row.lo + 32 * i + rv_lane());
  }
  __syncthreads();
  write_marks(p, w, view, m, s);
}

RvStatus lanes_cuda_marks(void *memory, const RvLanesJob *job) {
  const LanesCuda *w = (LanesCuda *)memory;
  const RvLanesPlan *p = job->plan;
  const size_t columns = (size_t)p->columns;
  const size_t shared = (2 * columns + 1) * sizeof(uint32_t) + columns * sizeof(int16_t);
  return rv_launch_stage(w, marks_kernel, dim3((unsigned)p->rows), MARK_THREADS, shared, job, *p,
                         *w, job->source.gray, job->source.disparity);
}
