/* SPDX-License-Identifier: MIT */
/* ground_cuda_profile.cu: the profile of the ground: row offsets, dynamic programming, state. */
#include "ground/ground_cuda.cuh"

#define OFFSET_THREADS 256
#define PROFILE_THREADS 512
#define EACH 3 /* offsets per lane */
#define LANES (RV_GROUND_OFFSETS / EACH)
#define UNREACHED (1 << 27) /* cost of an offset that does not exist */

static_assert(LANES * EACH == RV_GROUND_OFFSETS && LANES <= 32, "one warp holds all offsets");
static_assert(RV_GROUND_STEPS == EACH, "steps reach the next lane only");

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

struct ProfileShared {
  int16_t score[RV_GROUND_BINS][RV_GROUND_OFFSETS];
  uint8_t step[RV_GROUND_BINS][RV_GROUND_OFFSETS]; /* rank */
  uint8_t path[RV_GROUND_BINS];                    /* offset */
  int first, last, change;
};

/* Scores of a bin, one warp. */
static __device__ void score_bin(ProfileShared &s, const uint32_t *cells, int bin) {
  const int lane = threadIdx.x % 32;
  int here[EACH], sum = 0;
  for (int k = 0; k < EACH; k++) {
    here[k] = lane < LANES ? (int)cells[bin * RV_GROUND_OFFSETS + lane * EACH + k] : 0;
    sum += here[k];
  }
  const int upto = rv_warp_scan(sum); /* of this lane and all before */
  const int votes = __shfl_sync(RV_WARP, upto, 31);
  int before = __shfl_up_sync(RV_WARP, here[EACH - 1], 1);
  int after = __shfl_down_sync(RV_WARP, here[0], 1);
  before = lane == 0 ? 0 : before;
  after = lane >= LANES - 1 ? 0 : after;
  int below = upto - sum - before; /* of the offsets up to two before the lane's first */
  for (int k = 0; k < EACH; k++) {
    const int low = k == 0 ? before : here[k - 1], high = k == EACH - 1 ? after : here[k + 1];
    if (lane < LANES)
      s.score[bin][lane * EACH + k] =
          (int16_t)rv_ground_score(votes, low + here[k] + high, below, lane * EACH + k);
    below += low;
  }
  if (lane == 0 && votes >= RV_GROUND_VOTES_MIN) {
    atomicMin(&s.first, bin);
    atomicMax(&s.last, bin);
  }
}

/* Dynamic programming from bin `last` to bin `first`, and the path back, one warp. */
static __device__ void find_path(ProfileShared &s) {
  const int lane = threadIdx.x, at = lane * EACH;
  int cost[EACH] = {}; /* times 8 */
  for (int bin = s.last; bin >= s.first; bin--) {
    int around[3 * EACH];
    for (int k = 0; k < EACH; k++) {
      const int left = __shfl_up_sync(RV_WARP, cost[k], 1);
      const int right = __shfl_down_sync(RV_WARP, cost[k], 1);
      around[k] = lane == 0 ? 8 * UNREACHED : left;
      around[EACH + k] = cost[k];
      around[2 * EACH + k] = lane >= LANES - 1 ? 8 * UNREACHED : right;
    }
    for (int k = 0; k < EACH; k++) {
      int best = rv_ground_start(at + k);
      if (bin < s.last) {
        best = around[EACH + k];
#pragma unroll
        for (int rank = 1; rank <= 2 * RV_GROUND_STEPS; rank++)
          best = min(best, around[EACH + k + rv_ground_step(rank)] + rv_ground_reached(0, rank));
      }
      if (lane < LANES) {
        s.step[bin][at + k] = (uint8_t)rv_ground_rank_of(best);
        cost[k] = 8 * (rv_ground_cost_of(best) - s.score[bin][at + k]);
      }
    }
  }
  int best = INT32_MAX;
  for (int k = 0; k < EACH && lane < LANES; k++)
    best = min(best, rv_ground_end(cost[k] / 8, at + k));
  best = rv_warp_min(best);
  int offset = rv_ground_step(best & 127) + RV_GROUND_REACH;
  __syncwarp();
  for (int bin = s.first; lane == 0 && bin <= s.last; bin++) {
    s.path[bin] = (uint8_t)offset;
    offset += rv_ground_step(s.step[bin][offset]);
  }
}

static __device__ int smooth(const ProfileShared &s, const RvGroundPlan &g, const uint32_t *cells,
                             int bin) {
  int sum = 0, count = 0;
  for (int k = rv_max(bin - RV_GROUND_SMOOTH, s.first); k <= rv_min(bin + RV_GROUND_SMOOTH, s.last);
       k++) {
    const int path = s.path[k], before = count;
    for (int o = rv_max(path - 1, 0); o <= rv_min(path + 1, RV_GROUND_OFFSETS - 1); o++) {
      const int n = (int)cells[k * RV_GROUND_OFFSETS + o];
      sum += n * (o - RV_GROUND_REACH);
      count += n;
    }
    if (count == before) {
      sum += path - RV_GROUND_REACH;
      count++;
    }
  }
  return rv_ground_mean(&g, sum, count);
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
    s.change = follow(w, g);
  }
  __syncthreads();
  RvGroundSurface *last = &w.state->last;
  if (s.change > 0) {
    for (int bin = threadIdx.x / 32; bin < RV_GROUND_BINS; bin += PROFILE_THREADS / 32)
      score_bin(s, w.histogram, bin);
    __syncthreads();
    if (threadIdx.x < 32 && s.last >= 0)
      find_path(s);
    __syncthreads();
  }
  const bool has_cells = s.change > 0 && s.last >= 0;
  for (int bin = threadIdx.x; s.change != 0 && bin < RV_GROUND_BINS; bin += PROFILE_THREADS)
    last->profile[bin] =
        (int16_t)(has_cells ? smooth(s, g, w.histogram, rv_clamp(bin, s.first, s.last)) : 0);
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
  const bool is_estimated = g->config.mode == RV_GROUND_ESTIMATE;
  if (is_estimated && g->config.profile) {
    const unsigned blocks = (unsigned)rv_min(rv_div_up(g->cells, OFFSET_THREADS), 256);
    RV_TRY(ground_launch(w, false, offsets_kernel, dim3(blocks), OFFSET_THREADS, 0, job, *g, *w));
  }
  return ground_launch(w, !is_estimated, profile_kernel, dim3(1), PROFILE_THREADS,
                       sizeof(ProfileShared), job, *g, *w, job->out);
}
