/* SPDX-License-Identifier: MIT */
/* lanes_cuda_lines.cu: maxima of the best space, fits, measurements: one block per line. */
#include "lanes/lanes_cuda.cuh"

#define LINE_THREADS 256
#define LINE_WARPS (LINE_THREADS / 32)
#define MARK_INTS ((int)(sizeof(RvLanesMark) / sizeof(uint32_t)))

namespace {
struct LineShared {
  uint32_t votes[RV_LANES_BINS + 1];
  int peaks[RV_LANES_MAX], count;
  int64_t parts[LINE_WARPS][RV_LANES_TERMS];
  RvLanesCurve about, curve;
  RvLanesTerms terms;
  int is_line;
  RvLanesMark mark;
};

/* Shared by all threads of a block. */
struct LineFrame {
  const uint32_t *points, *values;
  RvLanesView view;
  RvPlane disparity, color;
  int hits, index, horizon;
};
} // namespace

/* Maxima of the best space, RV_LANES_APART bins apart; one warp. */
static __device__ void find_peaks(LineShared &s) {
  int count = 0;
  while (count < RV_LANES_MAX) {
    unsigned long long best = 0;
    for (int b = rv_lane(); b < RV_LANES_BINS; b += 32) {
      const unsigned long long sum = s.votes[b] + s.votes[b + 1];
      bool is_free = sum >= RV_LANES_LEAST;
      for (int i = 0; i < count; i++)
        is_free = is_free && rv_abs(b - s.peaks[i]) >= RV_LANES_APART;
      const unsigned long long key = is_free ? sum << 8 | (255 - b) : 0;
      best = key > best ? key : best;
    }
    best = rv_warp_max(best);
    if (!best)
      break;
    if (rv_lane() == 0)
      s.peaks[count] = 255 - (int)(best & 255);
    count++;
    __syncwarp();
  }
  if (rv_lane() == 0)
    s.count = count;
}

/* --- Fit ------------------------------------------------------------------------------------- */

/* One round; all threads. */
static __device__ void fit(const LineFrame &f, LineShared &s, int round) {
  const RvLanesCurve curve = s.curve;
  RvLanesTerms mine = {};
  for (int i = threadIdx.x; i < f.hits; i += LINE_THREADS) {
    const uint32_t point = f.points[i], value = f.values[i];
    if (value && rv_lanes_takes(rv_lanes_residual(&curve, point), rv_lanes_point_z(point), round))
      rv_lanes_add(&mine, point, value);
  }
#pragma unroll
  for (int k = 0; k < RV_LANES_TERMS; k++) {
    const int64_t sum = rv_warp_sum(mine.s[k]);
    if (rv_lane() == 0)
      s.parts[threadIdx.x / 32][k] = sum;
  }
  __syncthreads();
  if (threadIdx.x < RV_LANES_TERMS) {
    int64_t sum = 0;
    for (int i = 0; i < LINE_WARPS; i++)
      sum += s.parts[i][threadIdx.x];
    s.terms.s[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0)
    s.is_line = s.is_line && rv_lanes_solve(&s.terms, &s.about, &s.curve);
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
                                uint32_t place, RvLanesMark *mark) {
  const RvLanesRow row = w.rows[rv_lanes_place_row(place)];
  const int y = rv_lanes_place_row(place) * p.stride, u = rv_lanes_place_u(place) / 16;
  const int beside = (row.k + row.g) * p.n;
  atomicAdd(&mark->tint,
            tint_at(f.color, y, u) -
                (tint_at(f.color, y, u - beside) + tint_at(f.color, y, u + beside)) / 2);
  atomicAdd(&mark->tints, 1);
}

static __device__ void add_slices(uint32_t *bits, int z, int dz) {
  const int first = rv_lanes_slice_first(z, dz), last = rv_lanes_slice_last(z, dz);
  for (int k = first / 32; k <= last / 32; k++)
    atomicOr(&bits[k], rv_lanes_bits(k, first, last));
}

static __device__ void measure_hits(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                    LineShared &s) {
  const RvLanesCurve curve = s.curve;
  RvLanesMark *mark = &s.mark;
  for (int i = threadIdx.x; i < f.hits; i += LINE_THREADS) {
    const uint32_t point = f.points[i], value = f.values[i];
    if (!value)
      continue;
    const int z = rv_lanes_point_z(point), weight = (int)(value >> RV_LANES_VALUE_SHIFT);
    const double residual = rv_lanes_residual(&curve, point);
    const int bin = rv_lanes_spread_bin(residual);
    if (bin >= 0)
      atomicAdd(&mark->spread[bin], (uint32_t)weight);
    if (!rv_lanes_takes(residual, z, RV_LANES_ROUNDS))
      continue;
    const int64_t off = (int)residual;
    atomicAdd((unsigned long long *)&mark->squares, (unsigned long long)(weight * off * off));
    atomicAdd((unsigned long long *)&mark->weight, (unsigned long long)weight);
    atomicAdd(&mark->hits, 1);
    atomicMin(&mark->z_min, z);
    atomicMax(&mark->z_max, z);
    const uint32_t place = w.place[i];
    const int dz = dz_of(p, w, f, rv_lanes_place_row(place));
    atomicAdd(&mark->length, (uint32_t)dz);
    add_slices(mark->covered, z, dz);
    if (f.color.data)
      add_tint(p, w, f, place, mark);
  }
}

/* Height beside a line in row y at column u (1/16 px). */
static __device__ void add_side(const RvLanesPlan &p, const LineFrame &f, const uint16_t *row,
                                int u, int q, int32_t *sum, int32_t *count) {
  int is_valid;
  if (u < 0 || u / 16 >= p.width)
    return;
  const int height = rv_lanes_side(&p, &f.view, row[u / 16], q, &is_valid);
  if (!is_valid)
    return;
  atomicAdd(sum, height);
  atomicAdd(count, 1);
}

static __device__ void measure_rows(const RvLanesPlan &p, const LanesCuda &w, const LineFrame &f,
                                    LineShared &s) {
  const RvLanesCurve curve = s.curve;
  RvLanesMark *mark = &s.mark;
  for (int y = threadIdx.x; y < p.rows; y += LINE_THREADS) {
    const RvLanesRow table = w.rows[y];
    const RvLanesMeet meet =
        rv_lanes_meet(&p, &f.view, &curve, rv_lanes_row_q(&p, &table, y, f.horizon));
    if (meet.u < 0)
      continue;
    const uint16_t *row =
        f.disparity.data ? rv_row<const uint16_t>(f.disparity, y * p.stride) : NULL;
    if (row && rv_lanes_is_near(&p, row[meet.u / 16], meet.q))
      continue;
    add_slices(mark->seen, meet.z, dz_of(p, w, f, y));
    if (!row || meet.z > RV_LANES_SIDE_FAR)
      continue;
    const int aside = rv_lanes_u(&p, RV_LANES_SIDE, meet.q) - p.cx;
    add_side(p, f, row, meet.u - aside, meet.q, &mark->left_height, &mark->lefts);
    add_side(p, f, row, meet.u + aside, meet.q, &mark->right_height, &mark->rights);
  }
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

static __device__ LineFrame frame_of(const RvLanesPlan &p, const LanesCuda &w,
                                     const RvPlane &disparity, const RvPlane &color) {
  LineFrame f = {NULL, NULL, w.frame->view, disparity, color, (int)w.frame->hits, 0, 0};
  f.index = rv_lanes_key_index(&p, w.frame->key);
  const int j = rv_lanes_space_horizon(&p, f.index);
  f.points = w.points + (size_t)j * p.hits;
  f.values = w.values + (size_t)j * p.hits;
  f.horizon = p.is_camera ? rv_lanes_horizon(&f.view, j) : 0;
  return f;
}

static __global__ void __launch_bounds__(LINE_THREADS)
    lines_kernel(const __grid_constant__ RvLanesPlan p, const __grid_constant__ LanesCuda w,
                 const __grid_constant__ RvPlane disparity, const __grid_constant__ RvPlane color,
                 RvLanesFound *out) {
  __shared__ LineShared s;
  rv_launch_wait();
  rv_launch_next();
  const LineFrame f = frame_of(p, w, disparity, color);
  const uint32_t *votes = w.votes + (size_t)f.index * w.shape.stride;
  for (int b = threadIdx.x; b <= RV_LANES_BINS; b += LINE_THREADS)
    s.votes[b] = votes[b];
  for (int i = threadIdx.x; i < MARK_INTS; i += LINE_THREADS)
    ((uint32_t *)&s.mark)[i] = 0;
  __syncthreads();
  if (threadIdx.x < 32)
    find_peaks(s);
  __syncthreads();
  const int line = blockIdx.x;
  if (line == 0 && threadIdx.x == 0)
    write_header(p, w, f, s.count, out);
  if (threadIdx.x == 0 && line < s.count) {
    s.about = rv_lanes_start(&p, f.index, s.peaks[line]);
    s.curve = s.about;
    s.mark.z_min = INT32_MAX;
  }
  if (threadIdx.x == 0)
    s.is_line = line < s.count;
  __syncthreads();
  for (int round = 0; round < RV_LANES_ROUNDS && s.is_line; round++)
    fit(f, s, round);
  if (s.is_line) {
    measure_hits(p, w, f, s);
    measure_rows(p, w, f, s);
  }
  __syncthreads();
  if (threadIdx.x == 0 && line < s.count) {
    if (s.mark.z_min == INT32_MAX)
      s.mark.z_min = 0;
    if (s.is_line)
      rv_lanes_describe(&s.curve, &s.terms, &s.mark);
  }
  __syncthreads();
  uint32_t *to = (uint32_t *)&out->lines[line];
  for (int i = threadIdx.x; i < MARK_INTS; i += LINE_THREADS)
    to[i] = ((const uint32_t *)&s.mark)[i];
}

RvStatus lanes_cuda_lines(void *memory, const RvLanesJob *job) {
  const LanesCuda *w = (LanesCuda *)memory;
  return rv_launch_stage(w, lines_kernel, dim3(RV_LANES_MAX), LINE_THREADS, 0, job, *job->plan, *w,
                         job->source.disparity, job->source.color, job->out);
}
