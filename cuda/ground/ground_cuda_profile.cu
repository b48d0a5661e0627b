/* SPDX-License-Identifier: MIT */
/* ground_cuda_profile.cu: the profile of the ground: row offsets, dynamic programming, state. */
#include <stddef.h>

#include "ground/ground_cuda.cuh"

#define OFFSET_THREADS 256
#define PROFILE_THREADS 1024
#define WARPS (PROFILE_THREADS / 32)
#define EACH 5  /* offsets per lane in the scores of a bin */
#define CHUNK 8 /* bins that the path goes through at once */
#define CHUNKS (RV_GROUND_BINS / CHUNK)
#define KEY 8 /* of a cost of 1, see rv_ground_reached() */
#define NO_PLACE (-16384)

static_assert(EACH * 32 >= RV_GROUND_OFFSETS, "one warp holds all offsets");
static_assert(EACH >= RV_GROUND_BEND_REACH && RV_GROUND_BEND_REACH == 2,
              "neighbors are one lane on");
static_assert(RV_GROUND_PLACES + RV_GROUND_STEPS <= 32,
              "one lane per place of the path, and what is beside them is none");
static_assert(WARPS > 1, "one warp follows the state, the others score");

/* --- Histograms ------------------------------------------------------------------------------ */

static __global__ void __launch_bounds__(OFFSET_THREADS)
    offsets_kernel(const __grid_constant__ RvGroundPlan g, const __grid_constant__ GroundCuda w) {
  __shared__ RvGroundPlane plane;
  __shared__ bool has_plane;
  rv_launch_wait();
  rv_launch_next();
  if (threadIdx.x == 0)
    has_plane = ground_result(w, g, &plane);
  __syncthreads();
  if (!has_plane)
    return;
  for (int i = blockIdx.x * OFFSET_THREADS + threadIdx.x; i < g.cells;
       i += gridDim.x * OFFSET_THREADS) {
    const int y = i / g.columns, x = i - y * g.columns;
    const uint32_t mean = w.mean[i];
    const double u = rv_ground_center(x, g.n), v = rv_ground_center(y, g.n);
    const int bin = rv_ground_bin(&g, mean);
    if (bin < 0 || !rv_ground_within(&g, u, mean, g.far))
      continue;
    const int offset = rv_ground_offset(&g, &plane, u, v, mean);
    if (offset >= 0)
      atomicAdd(&w.histogram[bin * RV_GROUND_OFFSETS + offset], 1u);
  }
}

/* --- Profile --------------------------------------------------------------------------------- */

namespace {
struct ProfileShared {
  int16_t places[RV_GROUND_BINS][32];                  /* of the path, see place_score() */
  int16_t far[RV_GROUND_BEND_BINS][RV_GROUND_OFFSETS]; /* scores */
  union {
    /* the best of the scores near an offset, less that of offset 0 */
    int16_t gain[RV_GROUND_BEND_BINS][RV_GROUND_OFFSETS];
    struct {                            /* from the path on */
      uint8_t step[RV_GROUND_BINS][32]; /* rank in the low bits */
      uint8_t leave[CHUNKS][32];        /* place behind a chunk, by that of its first bin */
      int sum[RV_GROUND_BINS], count[RV_GROUND_BINS]; /* of the cells on the path */
    };
  };
  int first, last, change, end;
  unsigned long long bend; /* gain << 32 | complement of the index */
};
} // namespace

/* Scores of places are those of the keys that costs are compared by. Lanes behind the last place
 * have one that no path can make up for. */
static __device__ __forceinline__ int16_t place_score(int score, int place) {
  return (int16_t)(place < RV_GROUND_PLACES ? KEY * rv_ground_pulled(score, place) : NO_PLACE);
}

/* Scores of the offsets of a lane from their cells, one warp; returns the cells of the bin. */
static __device__ int score_cells(const int *here, int sum, int *score) {
  const int lane = rv_lane(), upto = rv_warp_scan(sum); /* of this lane and all before */
  int on[EACH], most = 0;
  int before = __shfl_up_sync(RV_WARP, here[EACH - 1], 1);
  int after = __shfl_down_sync(RV_WARP, here[0], 1);
  before = lane == 0 ? 0 : before;
  after = lane == 31 ? 0 : after;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    on[k] = (k == 0 ? before : here[k - 1]) + here[k] + (k == EACH - 1 ? after : here[k + 1]);
    most = lane * EACH + k < RV_GROUND_OFFSETS ? rv_max(most, on[k]) : most;
  }
  const RvGroundFull full = rv_ground_full(rv_warp_max(most));
  int below = upto - sum - before; /* of the offsets up to two before the lane's first */
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    score[k] = rv_ground_score(&full, on[k], below);
    below += k == 0 ? before : here[k - 1];
  }
  return __shfl_sync(RV_WARP, upto, 31);
}

/* What the bend is found from, one warp. */
static __device__ void keep_far(ProfileShared &s, int bin, const int *score) {
  const int first = rv_lane() * EACH;
  int wide[EACH + 2 * RV_GROUND_BEND_REACH], best[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++)
    wide[k + 2] = first + k < RV_GROUND_OFFSETS ? score[k] : INT16_MIN;
  for (int k = 0; k < RV_GROUND_BEND_REACH; k++) {
    const int before = __shfl_up_sync(RV_WARP, wide[EACH + k], 1);
    const int after = __shfl_down_sync(RV_WARP, wide[2 + k], 1);
    wide[k] = rv_lane() == 0 ? INT16_MIN : before;
    wide[EACH + 2 + k] = rv_lane() == 31 ? INT16_MIN : after;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    best[k] = wide[k];
    for (int i = 1; i <= 2 * RV_GROUND_BEND_REACH; i++)
      best[k] = rv_max(best[k], wide[k + i]);
  }
  const int middle = __shfl_sync(RV_WARP, best[RV_GROUND_REACH % EACH], RV_GROUND_REACH / EACH);
#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (first + k < RV_GROUND_OFFSETS) {
      s.far[bin][first + k] = (int16_t)score[k];
      s.gain[bin][first + k] = (int16_t)(best[k] - middle);
    }
}

/* Scores of a bin, one warp. */
static __device__ void score_bin(ProfileShared &s, const uint32_t *cells, int bin) {
  const int lane = rv_lane(), first = lane * EACH;
  int here[EACH], score[EACH] = {}, sum = 0, votes = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++)
    here[k] = first + k < RV_GROUND_OFFSETS ? (int)cells[bin * RV_GROUND_OFFSETS + first + k] : 0;
#pragma unroll
  for (int k = 0; k < EACH; k++)
    sum += here[k];
  if (__any_sync(RV_WARP, sum))
    votes = score_cells(here, sum, score);
  if (bin < RV_GROUND_BEND_BINS) {
    keep_far(s, bin, score);
  } else {
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      const int place = first + k - RV_GROUND_REACH + RV_GROUND_WINDOW;
      if (place >= 0 && place < 32)
        s.places[bin][place] = place_score(score[k], place);
    }
  }
  if (lane == 0 && votes >= RV_GROUND_VOTES_MIN) {
    atomicMin(&s.first, bin);
    atomicMax(&s.last, bin);
  }
}

/* The best bend, all threads; the result is complete after the next barrier. A thread has both
 * bends of one knee with slopes of one amount, a warp 32 knees in a row: their scores are in
 * different banks. */
static __device__ void find_bend(ProfileShared &s) {
  const int knees = rv_min(s.last, RV_GROUND_BEND_BINS) - s.first;
  unsigned long long best = 0;
  for (int i = threadIdx.x; i < RV_GROUND_BEND_SLOPES * RV_GROUND_BEND_BINS; i += PROFILE_THREADS) {
    const int slope = i / RV_GROUND_BEND_BINS + 1, bins = i % RV_GROUND_BEND_BINS + 1;
    if (bins > knees)
      continue;
    const int16_t *score = s.gain[s.first + bins - 1] + RV_GROUND_REACH;
    int up = -RV_GROUND_BEND_COST * slope, down = up;
    int twice = 1; /* the offset, rounded as by rv_ground_bend_at() */
    for (int k = 0; k < bins; k++, score -= RV_GROUND_OFFSETS) {
      twice += slope;
      const int offset = rv_min(twice / 2, RV_GROUND_REACH);
      up += score[offset];
      down += score[-offset];
    }
    /* rv_ground_bend(): slopes from -RV_GROUND_BEND_SLOPES on, without 0 */
    const int gain = rv_max(up, down), first = 1 + (bins - 1) * 2 * RV_GROUND_BEND_SLOPES;
    const int index = first + RV_GROUND_BEND_SLOPES + (down == gain ? -slope : slope - 1);
    const unsigned long long key =
        gain > 0 ? (unsigned long long)gain << 32 | (0xffffffffu - (unsigned)index) : 0;
    best = key > best ? key : best;
  }
  best = rv_warp_max(best);
  if (rv_lane() == 0 && best)
    atomicMax(&s.bend, best);
}

static __device__ RvGroundBend bend_of(const ProfileShared &s) {
  return rv_ground_bend(s.bend ? (int)(0xffffffffu - (unsigned)s.bend) : 0, s.first);
}

/* Places of the bins in which the ground may bend. */
static __device__ void place_far(ProfileShared &s, const RvGroundBend &bend) {
  for (int i = threadIdx.x; i < RV_GROUND_BEND_BINS * 32; i += PROFILE_THREADS) {
    const int bin = i / 32, place = i % 32;
    s.places[bin][place] =
        place_score(s.far[bin][rv_ground_place(rv_ground_bend_at(&bend, bin), place)], place);
  }
}

/* Dynamic programming from bin `last` to bin `first`, one warp: one lane per place. Costs are kept
 * as rv_ground_reached() has them, without the rank. */
static __device__ void find_path(ProfileShared &s) {
  const int place = rv_lane(), first = s.first, last = s.last;
  const int16_t *places = &s.places[last][place];
  uint8_t *step = &s.step[last][place];
  int cost = rv_ground_start(place) - *places;
  *step = 0;
  int score = last > first ? places[-32] : 0; /* of the next bin */
#pragma unroll 4
  for (int left = last - first; left > 0; left--) {
    int best[2] = {cost, INT32_MAX};
#pragma unroll
    for (int rank = 1; rank <= 2 * RV_GROUND_STEPS; rank++) {
      const int other = __shfl_sync(RV_WARP, cost, (place + rv_ground_step(rank)) & 31);
      best[rank % 2] = min(best[rank % 2], other + rv_ground_reached(0, rank));
    }
    best[0] = min(best[0], best[1]);
    cost = (best[0] & ~(KEY - 1)) - score;
    places -= 32, step -= 32;
    score = left > 1 ? places[-32] : 0;
    *step = (uint8_t)best[0];
  }
  const bool is_place = place < RV_GROUND_PLACES;
  const int end = is_place ? rv_ground_end(rv_ground_cost_of(cost), place) : INT32_MAX;
  s.end = rv_ground_step(rv_warp_min(end) & 127) + RV_GROUND_WINDOW;
}

/* The place in the next bin. */
static __device__ __forceinline__ int next_place(const ProfileShared &s, int bin, int at) {
  return at + rv_ground_step(rv_ground_rank_of(s.step[bin][at]));
}

/* Where each way through a chunk of bins leads, a warp per chunk and a lane per place. */
static __device__ void cross_chunk(ProfileShared &s, int chunk) {
  const int from = rv_max(chunk * CHUNK, s.first), to = rv_min(chunk * CHUNK + CHUNK, s.last);
  int at = rv_lane();
  if (at >= RV_GROUND_PLACES)
    return;
  for (int bin = from; bin < to; bin++)
    at = next_place(s, bin, at);
  s.leave[chunk][rv_lane()] = (uint8_t)at;
}

/* The cells on the path in a chunk of bins, a warp per chunk and a lane per bin. */
static __device__ void add_chunk(ProfileShared &s, const uint32_t *cells, const RvGroundBend &bend,
                                 int chunk) {
  int at = s.end;
  for (int k = s.first / CHUNK; k < chunk; k++)
    at = s.leave[k][at];
  const int from = rv_max(chunk * CHUNK, s.first), bin = from + rv_lane();
  if (bin >= chunk * CHUNK + CHUNK || bin > s.last)
    return;
  for (int k = from; k < bin; k++)
    at = next_place(s, k, at);
  const int turn = rv_ground_bend_at(&bend, bin), base = turn + RV_GROUND_REACH;
  const int path = rv_ground_place(turn, at);
  int sum = 0, count = 0;
#pragma unroll
  for (int o = path - 1; o <= path + 1; o++) {
    const bool is_offset = o >= 0 && o < RV_GROUND_OFFSETS;
    const int n = is_offset ? (int)cells[bin * RV_GROUND_OFFSETS + o] : 0;
    sum += n * (o - base);
    count += n;
  }
  s.sum[bin] = count ? sum : path - base;
  s.count[bin] = count ? count : 1;
}

/* The profile at a bin. */
static __device__ int smooth(const ProfileShared &s, const RvGroundPlan &g,
                             const RvGroundBend &bend, int bin) {
  int sum = 0, count = 0;
#pragma unroll
  for (int k = bin - RV_GROUND_SMOOTH; k <= bin + RV_GROUND_SMOOTH; k++)
    if (k >= s.first && k <= s.last) {
      sum += s.sum[k];
      count += s.count[k];
    }
  return rv_ground_mean(&g, rv_ground_bend_at(&bend, bin), sum, count);
}

/* The path, and the cells on it; all threads. */
static __device__ void follow_path(ProfileShared &s, const uint32_t *cells,
                                   const RvGroundBend &bend) {
  const int warp = threadIdx.x / 32;
  place_far(s, bend);
  __syncthreads();
  if (warp == 0)
    find_path(s);
  __syncthreads();
  for (int chunk = warp; chunk < CHUNKS; chunk += WARPS)
    cross_chunk(s, chunk);
  __syncthreads();
  for (int chunk = warp; chunk < CHUNKS; chunk += WARPS)
    if (chunk >= s.first / CHUNK)
      add_chunk(s, cells, bend, chunk);
}

/* One thread: everything but the profile. */
static __device__ int follow(const GroundCuda &w, const RvGroundPlan &g) {
  RvGroundPlane plane;
  const bool has_plane = ground_result(w, g, &plane);
  const int cells = has_plane ? (int)w.frame->sums[RV_GROUND_FIT_ROUNDS - 1][0] : 0;
  const int change = rv_ground_follow(&g, has_plane ? &plane : nullptr, cells, w.state);
  w.state->last.bin = g.bin;
  return change;
}

/* All of `out` but the profile, one warp; `last` is complete. */
static __device__ void write_surface(const RvGroundPlan &g, const RvGroundSurface *last,
                                     RvGroundSurface *out) {
  const int first = (int)offsetof(RvGroundSurface, profile) / 4;
  const int end = first + (int)sizeof out->profile / 4;
  for (int i = rv_lane(); i < (int)(sizeof *out / 4); i += 32)
    if (i < first || i >= end)
      ((uint32_t *)out)[i] = ((const uint32_t *)last)[i];
  __syncwarp();
  if (rv_lane() == 0)
    out->intercept = rv_ground_intercept(&g, last);
}

static __global__ void __launch_bounds__(PROFILE_THREADS)
    profile_kernel(const __grid_constant__ RvGroundPlan g, const __grid_constant__ GroundCuda w,
                   RvGroundSurface *out) {
  extern __shared__ __align__(8) char memory[];
  ProfileShared &s = *(ProfileShared *)memory;
  const int thread = threadIdx.x, warp = thread / 32;
  if (thread == 0) {
    s.first = RV_GROUND_BINS;
    s.last = -1;
    s.bend = 0;
  }
  __syncthreads();
  rv_launch_wait();
  rv_launch_next();
  RvGroundSurface *last = &w.state->last;
  if (thread == 0)
    s.change = follow(w, g);
  /* the histogram is that of this frame, or empty; the first warp is late */
  if (warp > 0 && g.config.mode == RV_GROUND_MODE_ESTIMATE && g.config.profile)
    for (int bin = warp - 1; bin < RV_GROUND_BINS; bin += WARPS - 1)
      score_bin(s, w.histogram, bin);
  __syncthreads();
  const bool has_cells = s.change > 0 && s.last >= 0;
  if (has_cells)
    find_bend(s);
  __syncthreads();
  const RvGroundBend bend = bend_of(s);
  if (has_cells)
    follow_path(s, w.histogram, bend);
  if (thread == 0 && s.change != 0) {
    last->first = has_cells ? s.first : -1;
    last->last = has_cells ? s.last : -1;
  }
  __syncthreads();
  for (int bin = thread; bin < RV_GROUND_BINS; bin += PROFILE_THREADS) {
    int value = s.change != 0 ? 0 : last->profile[bin];
    if (has_cells)
      value = smooth(s, g, bend, rv_clamp(bin, s.first, s.last));
    last->profile[bin] = (int16_t)value;
    out->profile[bin] = (int16_t)value;
  }
  if (warp == WARPS - 1)
    write_surface(g, last, out);
}

RvStatus ground_cuda_open_profile(const RvLog *log) {
  RV_CU(log, cudaFuncSetAttribute(profile_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)sizeof(ProfileShared)));
  return RV_OK;
}

RvStatus ground_cuda_profile(const GroundCuda *w, const RvGroundJob *job) {
  const RvGroundPlan *g = job->plan;
  const bool is_estimated = g->config.mode == RV_GROUND_MODE_ESTIMATE;
  if (is_estimated && g->config.profile) {
    const unsigned blocks = (unsigned)rv_min(rv_div_up(g->cells, OFFSET_THREADS), 256);
    RV_TRY(rv_launch_stage(w, offsets_kernel, dim3(blocks), OFFSET_THREADS, 0, job, *g, *w));
  }
  return rv_launch_stage(w, profile_kernel, dim3(1), PROFILE_THREADS, sizeof(ProfileShared), job,
                         *g, *w, job->out);
}
