/* SPDX-License-Identifier: MIT */
/* lanes_cuda_lines.cu: maxima of the best space, fits, measurements: one block per line, and
 * one for what they have in common. */
#include "lanes/lanes_cuda.cuh"

#define LINE_THREADS 512
#define LINE_WARPS (LINE_THREADS / 32)
#define HIT_THREADS (LINE_THREADS / 2) /* that measure the marks, while the others measure rows */
#define HELD 2048                      /* marks that a block keeps in shared memory */
#define EACH (RV_LANES_BINS / 32)      /* bins per lane of the warp that finds the maxima */
#define SLICE_WORDS (RV_LANES_SLICES / 32)
#define MARK_INTS ((int)(sizeof(RvLanesMark) / sizeof(uint32_t)))

static_assert(EACH * 32 == RV_LANES_BINS, "one warp holds all bins");

namespace {
struct LineShared {
  uint32_t votes[RV_LANES_BINS + 1];
  int peaks[RV_LANES_MAX], count;
  int64_t parts[LINE_WARPS][RV_LANES_TERMS];
  RvLanesCurve about, curve;
  RvLanesTerms terms;
  int is_line;
  RvLanesMark mark;
  int64_t squares[HIT_THREADS / 32];                /* parts of mark.squares */
  uint32_t weight;                                  /* mark.weight */
  uint32_t points[HELD], values[HELD], place[HELD]; /* the first marks */
  int listed;
  uint16_t list[HELD]; /* marks on the line, from the first of a round of HELD on */
};

/* What a thread has seen of a line. Weights of all marks of a frame fit into 32 bits. */
struct LineHits {
  int64_t squares;
  uint32_t weight, length, covered[SLICE_WORDS];
  int hits, z_min, z_max, tint, tints;
};

struct LineRows {
  uint32_t seen[SLICE_WORDS];
  int left_height, right_height, lefts, rights;
};

struct LineHit {
  uint32_t point, value, place;
};

/* Shared by all threads of a block. */
struct LineFrame {
  const uint32_t *points, *values, *place;
  RvLanesView view;
  RvPlane disparity, color;
  int hits, index, horizon;
};
} // namespace

/* Maxima of the best space, RV_LANES_APART bins apart, up to `limit` of them; one warp. Each lane
 * holds EACH bins in a row: the lowest of equal bins is in the lowest lane. */
static __device__ void find_peaks(LineShared &s, int limit) {
  uint32_t sums[EACH];
  int count = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++)
    sums[k] = s.votes[rv_lane() * EACH + k] + s.votes[rv_lane() * EACH + k + 1];
  while (count < limit) {
    uint32_t best = 0;
    int at = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      at = sums[k] > best ? rv_lane() * EACH + k : at;
      best = rv_max(best, sums[k]);
    }
    const uint32_t most = rv_warp_max(best);
    if (most < RV_LANES_LEAST)
      break;
    at = __shfl_sync(RV_WARP, at, __ffs((int)__ballot_sync(RV_WARP, best == most)) - 1);
#pragma unroll
    for (int k = 0; k < EACH; k++)
      sums[k] = rv_abs(rv_lane() * EACH + k - at) < RV_LANES_APART ? 0 : sums[k];
    if (rv_lane() == 0)
      s.peaks[count] = at;
    count++;
  }
  if (rv_lane() == 0)
    s.count = count;
}

/* --- Marks ----------------------------------------------------------------------------------- */

/* The first marks to shared memory; complete after the next barrier. */
static __device__ void hold_hits(const LineFrame &f, LineShared &s) {
#pragma unroll
  for (int i = threadIdx.x; i < HELD; i += LINE_THREADS)
    if (i < f.hits) {
      s.points[i] = __ldcg(&f.points[i]);
      s.values[i] = __ldcg(&f.values[i]);
      s.place[i] = __ldcg(&f.place[i]);
    }
}

static __device__ __forceinline__ LineHit hit_at(const LineFrame &f, const LineShared &s, int i) {
  if (i < HELD)
    return {s.points[i], s.values[i], s.place[i]};
  return {f.points[i], f.values[i], f.place[i]};
}

/* --- Fit ------------------------------------------------------------------------------------- */

/* One round; all threads. */
static __device__ void fit(const LineFrame &f, LineShared &s, int round) {
  static_assert(RV_LANES_TERMS == 8, "four lanes per sum");
  const RvLanesCurve curve = s.curve;
  RvLanesTerms mine = {};
#pragma unroll 2
  for (int i = threadIdx.x; i < f.hits; i += LINE_THREADS) {
    const LineHit hit = hit_at(f, s, i);
    if (hit.value &&
        rv_lanes_takes(rv_lanes_residual(&curve, hit.point), rv_lanes_point_z(hit.point), round))
      rv_lanes_add(&mine, hit.point, hit.value);
  }
  const int64_t sum = rv_warp_sums8(mine.s);
  if (rv_lane() % 4 == 0)
    s.parts[threadIdx.x / 32][rv_lane() / 4] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x < RV_LANES_TERMS) {
      int64_t all = 0;
#pragma unroll
      for (int i = 0; i < LINE_WARPS; i++)
        all += s.parts[i][threadIdx.x];
      s.terms.s[threadIdx.x] = all;
    }
    __syncwarp();
    if (threadIdx.x == 0)
      s.is_line = s.is_line && rv_lanes_solve(&s.terms, &s.about, &s.curve);
  }
  __syncthreads();
}

/* --- Measurement ----------------------------------------------------------------------------- */

static __device__ int dz_of(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f, int y) {
  if (!p.is_camera)
    return w.rows[y].dz;
  const int at = 256 * y * p.stride, half = 128 * p.stride;
  return rv_lanes_dz(&p, rv_lanes_below(f.horizon, at - half),
                     rv_lanes_below(f.horizon, at + half));
}

static __device__ __forceinline__ int tint_at(const RvPlane &color, int y, int u) {
  return rv_lanes_tint(rv_row<const uint32_t>(color, y)[rv_clamp(u, 0, color.width - 1)]);
}

static __device__ void add_tint(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                uint32_t place, LineHits *sums) {
  const RvLanesRow row = w.rows[rv_lanes_place_row(place)];
  const int y = rv_lanes_place_row(place) * p.stride, u = rv_lanes_place_u(place) / 16;
  const int beside = (row.k + row.g) * p.n;
  sums->tint += tint_at(f.color, y, u) -
                (tint_at(f.color, y, u - beside) + tint_at(f.color, y, u + beside)) / 2;
  sums->tints++;
}

static __device__ void add_slices(uint32_t *bits, int z, int dz) {
  const int first = rv_lanes_slice_first(z, dz), last = rv_lanes_slice_last(z, dz);
#pragma unroll
  for (int k = 0; k < SLICE_WORDS; k++)
    bits[k] |= rv_lanes_bits(k, first, last);
}

/* The bits of the warp, to those of the block. */
static __device__ void join_slices(const uint32_t *bits, uint32_t *joined) {
#pragma unroll
  for (int k = 0; k < SLICE_WORDS; k++) {
    uint32_t all = bits[k];
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
      all |= __shfl_xor_sync(RV_WARP, all, step);
    if (rv_lane() == 0)
      atomicOr(&joined[k], all);
  }
}

/* The sums of the warp: 64-bit atomics on one place of shared memory would be a loop over the
 * threads of the block. */
static __device__ void join_hits(const LineHits &mine, LineShared &s) {
  const int64_t squares = rv_warp_sum(mine.squares);
  const uint32_t weight = rv_warp_sum(mine.weight), length = rv_warp_sum(mine.length);
  const int hits = rv_warp_sum(mine.hits), tint = rv_warp_sum(mine.tint);
  const int tints = rv_warp_sum(mine.tints);
  const int z_min = rv_warp_min(mine.z_min), z_max = rv_warp_max(mine.z_max);
  join_slices(mine.covered, s.mark.covered);
  if (rv_lane() != 0)
    return;
  s.squares[threadIdx.x / 32] = squares;
  atomicAdd(&s.weight, weight);
  atomicAdd(&s.mark.length, length);
  atomicAdd(&s.mark.hits, hits);
  atomicAdd(&s.mark.tint, tint);
  atomicAdd(&s.mark.tints, tints);
  atomicMin(&s.mark.z_min, z_min);
  atomicMax(&s.mark.z_max, z_max);
}

/* The spread of HELD marks from number `base` on, and a list of those on the line; complete after
 * the next barrier. Those are few: measured as they come, one of them would hold up a warp. */
static __device__ void list_hits(const LineFrame &f, LineShared &s, int base) {
  const RvLanesCurve curve = s.curve;
  for (int i = base + threadIdx.x; i < rv_min(base + HELD, f.hits); i += LINE_THREADS) {
    const LineHit hit = hit_at(f, s, i);
    if (!hit.value)
      continue;
    const double residual = rv_lanes_residual(&curve, hit.point);
    const int bin = rv_lanes_spread_bin(residual);
    if (bin >= 0)
      atomicAdd(&s.mark.spread[bin], hit.value >> RV_LANES_VALUE_SHIFT);
    if (rv_lanes_takes(residual, rv_lanes_point_z(hit.point), RV_LANES_ROUNDS))
      s.list[atomicAdd(&s.listed, 1)] = (uint16_t)(i - base);
  }
}

/* The marks of the list, HIT_THREADS threads. */
static __device__ void add_hits(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                const LineShared &s, int base, LineHits *mine) {
  const RvLanesCurve curve = s.curve;
  for (int k = threadIdx.x; k < s.listed; k += HIT_THREADS) {
    const LineHit hit = hit_at(f, s, base + s.list[k]);
    const int z = rv_lanes_point_z(hit.point), weight = (int)(hit.value >> RV_LANES_VALUE_SHIFT);
    const int64_t off = (int)rv_lanes_residual(&curve, hit.point);
    const int dz = dz_of(p, w, f, rv_lanes_place_row(hit.place));
    mine->squares += weight * off * off;
    mine->weight += (uint32_t)weight;
    mine->length += (uint32_t)dz;
    mine->hits++;
    mine->z_min = rv_min(mine->z_min, z);
    mine->z_max = rv_max(mine->z_max, z);
    add_slices(mine->covered, z, dz);
    if (f.color.data)
      add_tint(p, w, f, hit.place, mine);
  }
}

/* Height beside a line in row y at column u (1/16 px). */
static __device__ void add_side(const RvLanesPlan &p, const LineFrame &f, const uint16_t *row,
                                int u, int q, int *sum, int *count) {
  int is_valid;
  if (u < 0 || u / 16 >= p.width)
    return;
  *sum += rv_lanes_side(&p, &f.view, row[u / 16], q, &is_valid); /* 0 when it is not valid */
  *count += is_valid;
}

static __device__ void join_rows(const LineRows &mine, RvLanesMark *mark) {
  const int left_height = rv_warp_sum(mine.left_height), lefts = rv_warp_sum(mine.lefts);
  const int right_height = rv_warp_sum(mine.right_height), rights = rv_warp_sum(mine.rights);
  join_slices(mine.seen, mark->seen);
  if (rv_lane() != 0)
    return;
  atomicAdd(&mark->left_height, left_height);
  atomicAdd(&mark->lefts, lefts);
  atomicAdd(&mark->right_height, right_height);
  atomicAdd(&mark->rights, rights);
}

/* The threads that do not measure the marks. */
static __device__ void measure_rows(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                    LineShared &s) {
  const RvLanesCurve curve = s.curve;
  LineRows mine = {};
  for (int y = threadIdx.x - HIT_THREADS; y < p.rows; y += LINE_THREADS - HIT_THREADS) {
    const RvLanesRow table = w.rows[y];
    const RvLanesMeet meet =
        rv_lanes_meet(&p, &f.view, &curve, rv_lanes_row_q(&p, &table, y, f.horizon));
    if (meet.u < 0)
      continue;
    const uint16_t *row =
        f.disparity.data ? rv_row<const uint16_t>(f.disparity, y * p.stride) : NULL;
    if (row && rv_lanes_is_near(&p, row[meet.u / 16], meet.q))
      continue;
    add_slices(mine.seen, meet.z, dz_of(p, w, f, y));
    if (!row || meet.z > RV_LANES_SIDE_FAR)
      continue;
    const int aside = rv_lanes_u(&p, RV_LANES_SIDE, meet.q) - p.cx;
    add_side(p, f, row, meet.u - aside, meet.q, &mine.left_height, &mine.lefts);
    add_side(p, f, row, meet.u + aside, meet.q, &mine.right_height, &mine.rights);
  }
  join_rows(mine, &s.mark);
}

/* All threads. */
static __device__ void measure(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                               LineShared &s) {
  const bool is_for_hits = threadIdx.x < HIT_THREADS;
  LineHits mine = {};
  mine.z_min = INT32_MAX;
  for (int base = 0; base < f.hits; base += HELD) {
    list_hits(f, s, base);
    __syncthreads();
    if (is_for_hits)
      add_hits(p, w, f, s, base, &mine);
    else if (base == 0)
      measure_rows(p, w, f, s);
    __syncthreads();
    if (threadIdx.x == 0)
      s.listed = 0;
    __syncthreads();
  }
  if (is_for_hits)
    join_hits(mine, s);
}

/* --- Kernel ---------------------------------------------------------------------------------- */

/* Everything but the lines; one thread of one block. */
static __device__ void write_header(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                    int count, RvLanesFound *out) {
  out->score = rv_lanes_key_score(w.frame->key);
  out->mean = w.frame->sum / (uint64_t)p.spaces;
  out->heading = p.psi_step * (f.index / p.kappas % RV_LANES_PSIS - RV_LANES_PSIS / 2);
  out->curvature = p.kappa_step * (f.index % p.kappas - p.kappas / 2);
  out->horizon = f.horizon;
  out->hits = w.frame->hits;
  out->rows = w.frame->rows;
  out->count = (uint32_t)count;
  if (p.is_camera)
    rv_lanes_follow(&f.view, f.horizon, count, w.state);
}

/* Of horizon j. */
static __device__ void hits_of(const RvLanesPlan &p, const LanesCuda &w, int j, LineFrame *f) {
  f->points = w.points + (size_t)j * p.hits;
  f->values = w.values + (size_t)j * p.hits;
  f->place = w.place;
  f->hits = (int)__ldcg(&w.frame->hits);
}

/* A line that was found: fit and measurement. */
static __device__ void find_line(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                 LineShared &s) {
  if (threadIdx.x == 0) {
    s.about = rv_lanes_start(&p, f.index, s.peaks[blockIdx.x]);
    s.curve = s.about;
    s.is_line = true;
    s.mark.z_min = INT32_MAX;
  }
  __syncthreads();
  for (int round = 0; round < RV_LANES_ROUNDS && s.is_line; round++)
    fit(f, s, round);
  if (s.is_line)
    measure(p, w, f, s);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (s.mark.z_min == INT32_MAX)
      s.mark.z_min = 0;
    if (s.is_line) {
      rv_lanes_describe(&s.curve, &s.terms, &s.mark);
      s.mark.weight = s.weight;
      for (int i = 0; i < HIT_THREADS / 32; i++)
        s.mark.squares += s.squares[i];
    }
  }
  __syncthreads();
}

static __global__ void __launch_bounds__(LINE_THREADS, 1)
    lines_kernel(const __grid_constant__ RvLanesPlan p, const __grid_constant__ LanesCuda w,
                 const __grid_constant__ RvPlane disparity, const __grid_constant__ RvPlane color,
                 RvLanesFound *out) {
  __shared__ LineShared s;
  const int line = blockIdx.x;
  const bool is_line = line < RV_LANES_MAX; /* the last block writes the header */
  LineFrame f = {};
  f.disparity = disparity;
  f.color = color;
  for (int i = threadIdx.x; i < MARK_INTS; i += LINE_THREADS)
    ((uint32_t *)&s.mark)[i] = 0;
  if (threadIdx.x == 0)
    s.listed = s.weight = 0;
  hits_of(p, w, 0, &f); /* the marks are from three kernels ago, only the space is new */
  if (is_line && p.horizons == 1)
    hold_hits(f, s);
  rv_launch_wait();
  rv_launch_next();
  f.view = w.frame->view;
  f.index = rv_lanes_key_index(&p, w.frame->key);
  const int j = rv_lanes_space_horizon(&p, f.index);
  f.horizon = p.is_camera ? rv_lanes_horizon(&f.view, j) : 0;
  const uint32_t *votes = w.votes + (size_t)f.index * w.shape.stride;
  for (int b = threadIdx.x; b <= RV_LANES_BINS; b += LINE_THREADS)
    s.votes[b] = votes[b];
  hits_of(p, w, j, &f);
  if (is_line && p.horizons > 1)
    hold_hits(f, s);
  __syncthreads();
  if (threadIdx.x < 32)
    find_peaks(s, is_line ? line + 1 : RV_LANES_MAX);
  __syncthreads();
  if (!is_line) {
    if (threadIdx.x == 0)
      write_header(p, w, f, s.count, out);
    return;
  }
  if (line < s.count)
    find_line(p, w, f, s);
  uint32_t *to = (uint32_t *)&out->lines[line];
  for (int i = threadIdx.x; i < MARK_INTS; i += LINE_THREADS)
    to[i] = ((const uint32_t *)&s.mark)[i];
}

RvStatus lanes_cuda_lines(void *memory, const RvLanesJob *job) {
  const LanesCuda *w = (LanesCuda *)memory;
  return rv_launch_stage(w, lines_kernel, dim3(RV_LANES_MAX + 1), LINE_THREADS, 0, job, *job->plan,
                         *w, job->source.disparity, job->source.color, job->out);
}
