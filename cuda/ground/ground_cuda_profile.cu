/* SPDX-License-Identifier: MIT */
/* ground_cuda_profile.cu: the profile of the ground: row offsets, dynamic programming, state. */
#include "ground/ground_cuda.cuh"

#define OFFSET_THREADS 256
#define PROFILE_THREADS 512
#define EACH 5 /* offsets per lane in the scores of a bin */

static_assert(EACH * 32 >= RV_GROUND_OFFSETS, "one warp holds all offsets");
static_assert(RV_GROUND_PLACES <= 32, "one lane per place of the path");

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
  int16_t near[RV_GROUND_BINS - RV_GROUND_BEND_BINS][RV_GROUND_PLACES]; /* scores about offset 0 */
  int16_t far[RV_GROUND_BEND_BINS][RV_GROUND_OFFSETS];                  /* scores */
  int16_t best[RV_GROUND_BEND_BINS][RV_GROUND_OFFSETS]; /* of the scores near an offset */
  uint8_t step[RV_GROUND_BINS][RV_GROUND_PLACES];       /* rank */
  uint8_t path[RV_GROUND_BINS];                         /* index of the offset */
  int first, last, change;
  unsigned long long bend; /* gain << 32 | complement of the index */
};
} // namespace

static __device__ __forceinline__ int score_at(const ProfileShared &s, int bin, int base,
                                               int place) {
  return bin < RV_GROUND_BEND_BINS ? s.far[bin][rv_ground_place(base, place)]
                                   : s.near[bin - RV_GROUND_BEND_BINS][place];
}

/* Scores of a bin, one warp. */
static __device__ void score_bin(ProfileShared &s, const uint32_t *cells, int bin) {
  const int lane = rv_lane();
  int here[EACH], on[EACH], sum = 0, most = 0;
  for (int k = 0; k < EACH; k++) {
    const int o = lane * EACH + k;
    here[k] = o < RV_GROUND_OFFSETS ? (int)cells[bin * RV_GROUND_OFFSETS + o] : 0;
    sum += here[k];
  }
  const int upto = rv_warp_scan(sum); /* of this lane and all before */
  const int votes = __shfl_sync(RV_WARP, upto, 31);
  int before = __shfl_up_sync(RV_WARP, here[EACH - 1], 1);
  int after = __shfl_down_sync(RV_WARP, here[0], 1);
  before = lane == 0 ? 0 : before;
  after = lane == 31 ? 0 : after;
  for (int k = 0; k < EACH; k++) {
    on[k] = (k == 0 ? before : here[k - 1]) + here[k] + (k == EACH - 1 ? after : here[k + 1]);
    most = lane * EACH + k < RV_GROUND_OFFSETS ? rv_max(most, on[k]) : most;
  }
  most = rv_warp_max(most);
  int below = upto - sum - before; /* of the offsets up to two before the lane's first */
  for (int k = 0; k < EACH; k++) {
    const int o = lane * EACH + k, place = o - RV_GROUND_REACH + RV_GROUND_WINDOW;
    const int16_t score = (int16_t)rv_ground_score(most, on[k], below);
    below += k == 0 ? before : here[k - 1];
    if (bin < RV_GROUND_BEND_BINS && o < RV_GROUND_OFFSETS)
      s.far[bin][o] = score;
    if (bin >= RV_GROUND_BEND_BINS && place >= 0 && place < RV_GROUND_PLACES)
      s.near[bin - RV_GROUND_BEND_BINS][place] = score;
  }
  if (lane == 0 && votes >= RV_GROUND_VOTES_MIN) {
    atomicMin(&s.first, bin);
    atomicMax(&s.last, bin);
  }
}

static __device__ void spread_scores(ProfileShared &s) {
  for (int i = threadIdx.x; i < RV_GROUND_BEND_BINS * RV_GROUND_OFFSETS; i += PROFILE_THREADS) {
    const int bin = i / RV_GROUND_OFFSETS, o = i - bin * RV_GROUND_OFFSETS;
    int best = s.far[bin][o];
    for (int k = rv_max(o - RV_GROUND_BEND_REACH, 0);
         k <= rv_min(o + RV_GROUND_BEND_REACH, RV_GROUND_OFFSETS - 1); k++)
      best = rv_max(best, s.far[bin][k]);
    s.best[bin][o] = (int16_t)best;
  }
}

/* The best bend, all threads; the result is complete after the next barrier. */
static __device__ void find_bend(ProfileShared &s) {
  const int count = rv_ground_bends(s.first, s.last);
  unsigned long long best = 0;
  for (int index = threadIdx.x + 1; index < count; index += PROFILE_THREADS) {
    const RvGroundBend bend = rv_ground_bend(index, s.first);
    int gain = -RV_GROUND_BEND_COST * rv_abs(bend.slope);
    for (int bin = s.first; bin < bend.knee; bin++) {
      const int16_t *score = s.best[bin] + RV_GROUND_REACH;
      gain += score[rv_ground_bend_at(&bend, bin)] - score[0];
    }
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

/* Dynamic programming from bin `last` to bin `first`, and the path back, one warp: one lane per
 * place. */
static __device__ void find_path(ProfileShared &s, const RvGroundBend &bend) {
  const int place = rv_lane();
  const bool is_place = place < RV_GROUND_PLACES;
  int cost = 0;
  for (int bin = s.last; bin >= s.first; bin--) {
    int best = rv_ground_reached(cost, 0);
#pragma unroll
    for (int rank = 1; rank <= 2 * RV_GROUND_STEPS; rank++) {
      const int step = rv_ground_step(rank), from = place + step;
      const int other = __shfl_sync(RV_WARP, cost, from & 31);
      const int sum = rv_ground_reached(other, rank);
      best = from >= 0 && from < RV_GROUND_PLACES ? min(best, sum) : best;
    }
    best = bin == s.last ? rv_ground_start(place) : best;
    if (is_place) {
      const int score = score_at(s, bin, rv_ground_bend_at(&bend, bin), place);
      s.step[bin][place] = (uint8_t)rv_ground_rank_of(best);
      cost = rv_ground_cost_of(best) - rv_ground_pulled(score, place);
    }
  }
  const int end = rv_warp_min(is_place ? rv_ground_end(cost, place) : INT32_MAX);
  int at = rv_ground_step(end & 127) + RV_GROUND_WINDOW;
  __syncwarp();
  for (int bin = s.first; place == 0 && bin <= s.last; bin++) {
    s.path[bin] = (uint8_t)rv_ground_place(rv_ground_bend_at(&bend, bin), at);
    at += rv_ground_step(s.step[bin][at]);
  }
}

static __device__ int smooth(const ProfileShared &s, const RvGroundPlan &g, const uint32_t *cells,
                             const RvGroundBend &bend, int bin) {
  int sum = 0, count = 0;
  for (int k = rv_max(bin - RV_GROUND_SMOOTH, s.first); k <= rv_min(bin + RV_GROUND_SMOOTH, s.last);
       k++) {
    const int path = s.path[k], before = count;
    const int base = rv_ground_bend_at(&bend, k) + RV_GROUND_REACH;
    for (int o = rv_max(path - 1, 0); o <= rv_min(path + 1, RV_GROUND_OFFSETS - 1); o++) {
      const int n = (int)cells[k * RV_GROUND_OFFSETS + o];
      sum += n * (o - base);
      count += n;
    }
    if (count == before) {
      sum += path - base;
      count++;
    }
  }
  return rv_ground_mean(&g, rv_ground_bend_at(&bend, bin), sum, count);
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

static __global__ void __launch_bounds__(PROFILE_THREADS)
    profile_kernel(const __grid_constant__ RvGroundPlan g, const __grid_constant__ GroundCuda w,
                   RvGroundSurface *out) {
  extern __shared__ __align__(8) char memory[];
  ProfileShared &s = *(ProfileShared *)memory;
  rv_launch_wait();
  rv_launch_next();
  if (threadIdx.x == 0) {
    s.first = RV_GROUND_BINS;
    s.last = -1;
    s.bend = 0;
    s.change = follow(w, g);
  }
  __syncthreads();
  RvGroundSurface *last = &w.state->last;
  if (s.change > 0) {
    for (int bin = threadIdx.x / 32; bin < RV_GROUND_BINS; bin += PROFILE_THREADS / 32)
      score_bin(s, w.histogram, bin);
    __syncthreads();
    spread_scores(s);
    __syncthreads();
    if (s.last >= 0)
      find_bend(s);
    __syncthreads();
  }
  const bool has_cells = s.change > 0 && s.last >= 0;
  const RvGroundBend bend = bend_of(s);
  if (has_cells && threadIdx.x < 32)
    find_path(s, bend);
  __syncthreads();
  for (int bin = threadIdx.x; s.change != 0 && bin < RV_GROUND_BINS; bin += PROFILE_THREADS)
    last->profile[bin] =
        (int16_t)(has_cells ? smooth(s, g, w.histogram, bend, rv_clamp(bin, s.first, s.last)) : 0);
  if (threadIdx.x == 0 && s.change != 0) {
    last->first = has_cells ? s.first : -1;
    last->last = has_cells ? s.last : -1;
  }
  __syncthreads();
  const uint32_t *from = (const uint32_t *)last;
  for (int i = threadIdx.x; i < (int)(sizeof *out / 4); i += PROFILE_THREADS)
    ((uint32_t *)out)[i] = from[i];
  __syncthreads();
  if (threadIdx.x == 0)
    out->intercept = rv_ground_intercept(&g, last);
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
