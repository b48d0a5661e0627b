/* SPDX-License-Identifier: MIT */
/* lanes_cuda.cu: the CUDA engine of the lane lines: memory, rows, votes. */
#include "lanes/lanes_cuda.cuh"

#define ROW_THREADS 256
#define SCORE_THREADS 256
#define GROUP 8 /* spaces of a block of votes */

static_assert(ROW_THREADS == RV_GROUND_BINS, "one thread per bin of the profile");

/* --- Votes of a mark ------------------------------------------------------------------------- */

namespace {
struct LanesVotes {
  static constexpr bool UNITY = false, VALUED = true, WHOLE = false;
  typedef RvLanesSpace Space;
  int kappas;
  int32_t psi[RV_LANES_PSIS], kappa[RV_LANES_KAPPAS];

  __device__ __forceinline__ Space space(int i) const {
    return {psi[i / kappas], kappa[i % kappas]};
  }
  __device__ __forceinline__ bool skips(const Space &, uint32_t value) const { return value == 0; }
  __device__ __forceinline__ bool test(const Space &, uint32_t) const { return true; }
  __device__ __forceinline__ int bin(const Space &s, uint32_t point) const {
    return rv_lanes_bin(s, point);
  }
  __device__ __forceinline__ uint32_t value(const Space &, uint32_t value) const { return value; }
  __device__ __forceinline__ void sums(uint32_t, uint4) const {}
};
} // namespace

/* --- Memory ---------------------------------------------------------------------------------- */

static void layout(void *memory, const void *plan, RvArena *arena) {
  LanesCuda *w = (LanesCuda *)memory;
  const RvLanesPlan *p = (const RvLanesPlan *)plan;
  const size_t listed = (size_t)p->horizons * (size_t)p->hits;
  const size_t stride = (size_t)rv_vote_list_stride(RV_LANES_BINS);
  w->frame = (LanesFrame *)rv_arena_take(arena, sizeof *w->frame);
  w->state = (RvLanesState *)rv_arena_take(arena, sizeof *w->state);
  w->rows = (RvLanesRow *)rv_arena_take(arena, (size_t)p->rows * sizeof *w->rows);
  w->place = (uint32_t *)rv_arena_take(arena, (size_t)p->hits * sizeof *w->place);
  w->points = (uint32_t *)rv_arena_take(arena, listed * sizeof *w->points);
  w->values = (uint32_t *)rv_arena_take(arena, listed * sizeof *w->values);
  w->votes = (uint32_t *)rv_arena_take(arena, (size_t)p->spaces * stride * sizeof *w->votes);
}

static RvStatus open(void *memory, const void *plan) {
  LanesCuda *w = (LanesCuda *)memory;
  const RvLanesPlan *p = (const RvLanesPlan *)plan;
  const RvLog *log = &p->config.log;
  const size_t listed = (size_t)p->horizons * (size_t)p->hits * sizeof *w->points;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  w->overlaps = device.overlaps;
  const int stride = rv_vote_list_stride(RV_LANES_BINS);
  w->shape = {RV_LANES_PSIS * p->kappas, RV_LANES_BINS, stride, GROUP, 1, 1, stride, 1, 0, 0};
  RV_TRY((rv_vote_list_open<LanesVotes, GROUP>(&w->shape, device.shared, log)));
  RV_CU(log, cudaMemset(w->frame, 0, sizeof *w->frame));
  RV_CU(log, cudaMemset(w->state, 0, sizeof *w->state));
  RV_CU(log, cudaMemset(w->points, 0, listed)); /* votes are read ahead of the list's end */
  RV_CU(log, cudaMemset(w->values, 0, listed));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* work of later streams is ordered after this */
  return RV_OK;
}

static RvStatus reset(void *memory, const RvLanesJob *job) {
  const LanesCuda *w = (LanesCuda *)memory;
  RV_CU(&job->plan->config.log, cudaMemsetAsync(w->state, 0, sizeof *w->state, job->stream));
  return RV_OK;
}

/* --- Rows ------------------------------------------------------------------------------------ */

/* q of three rows in 1/256 px at the axis, `half` apart and the middle one at `at`, one warp: lane 0
 * gets that of the middle one, lanes 1 and 2 those of the others. */
static __device__ int q_of(const RvLanesPlan &p, const RvLanesView &view, const int32_t *bin_rows,
                           int bin, int at, int half) {
  const int lane = rv_lane(), row = at + (lane == 1 ? -half : lane == 2 ? half : 0);
  if (p.is_camera)
    return rv_lanes_below(view.horizon, row);
  int k[3] = {-1, -1, -1};
#pragma unroll
  for (int i = lane; i < RV_GROUND_BINS; i += 32) {
    const int bin_row = bin_rows[i];
    k[0] = bin_row <= at ? i : k[0];
    k[1] = bin_row <= at - half ? i : k[1];
    k[2] = bin_row <= at + half ? i : k[2];
  }
#pragma unroll
  for (int i = 0; i < 3; i++)
    k[i] = rv_warp_max(k[i]);
  return rv_lanes_cross(&view, bin_rows, bin, lane == 1 ? k[1] : lane == 2 ? k[2] : k[0], row);
}

static __global__ void __launch_bounds__(ROW_THREADS)
    rows_kernel(const __grid_constant__ RvLanesPlan p, const __grid_constant__ LanesCuda w,
                const RvGroundSurface *ground) {
  __shared__ int32_t bin_rows[RV_GROUND_BINS];
  rv_launch_wait();
  rv_launch_next();
  const RvLanesView view = rv_lanes_view(&p, ground, w.state);
  const bool has_bins = !p.is_camera && view.height;
  const int bin = has_bins ? ground->bin : 0;
  if (has_bins)
    bin_rows[threadIdx.x] = rv_lanes_bin_row(&p, ground, threadIdx.x);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *w.frame = {0, 0, 0, 0, view};
  const int y = (blockIdx.x * ROW_THREADS + threadIdx.x) / 32;
  if (y >= p.rows)
    return;
  const int q = view.height ? q_of(p, view, bin_rows, bin, 256 * y * p.stride, 128 * p.stride) : 0;
  const int above = __shfl_sync(RV_WARP, q, 1), below = __shfl_sync(RV_WARP, q, 2);
  if (rv_lane() == 0)
    w.rows[y] = rv_lanes_row(&p, q, above, below);
}

static RvStatus rows(void *memory, const RvLanesJob *job) {
  const LanesCuda *w = (LanesCuda *)memory;
  const dim3 grid((unsigned)rv_div_up(job->plan->rows, ROW_THREADS / 32));
  return rv_launch_stage(w, rows_kernel, grid, ROW_THREADS, 0, job, *job->plan, *w,
                         job->source.ground);
}

/* --- Scores ---------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(SCORE_THREADS)
    scores_kernel(const __grid_constant__ RvLanesPlan p, const __grid_constant__ LanesCuda w) {
  __shared__ unsigned long long keys[SCORE_THREADS / 32], sums[SCORE_THREADS / 32];
  rv_launch_wait();
  rv_launch_next();
  const int warp = threadIdx.x / 32, space = blockIdx.x * (SCORE_THREADS / 32) + warp;
  unsigned long long parts = 0, score = 0, key = 0;
  if (space < p.spaces) {
    const uint32_t *votes = w.votes + (size_t)space * w.shape.stride;
    for (int b = rv_lane(); b < RV_LANES_BINS; b += 32) /* bin RV_LANES_BINS is 0 */
      parts += rv_lanes_part(__ldcg(&votes[b]), __ldcg(&votes[b + 1]));
    score = rv_lanes_score(&p, space, rv_warp_sum(parts));
    key = rv_lanes_key(&p, space, score);
  }
  if (rv_lane() == 0) {
    keys[warp] = key;
    sums[warp] = score;
  }
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  for (int i = 1; i < SCORE_THREADS / 32; i++) {
    key = keys[i] > key ? keys[i] : key;
    score += sums[i];
  }
  atomicMax(&w.frame->key, key);
  atomicAdd(&w.frame->sum, score);
}

static RvStatus votes(void *memory, const RvLanesJob *job) {
  const LanesCuda *w = (LanesCuda *)memory;
  const RvLanesPlan *p = job->plan;
  LanesVotes f;
  f.kappas = p->kappas;
  for (int i = 0; i < RV_LANES_PSIS; i++)
    f.psi[i] = p->psi[i];
  for (int i = 0; i < RV_LANES_KAPPAS; i++)
    f.kappa[i] = p->kappa[i];
  for (int j = 0; j < p->horizons; j++) {
    const size_t at = (size_t)j * (size_t)p->hits;
    const RvVoteList list = {w->points + at, w->values + at, &w->frame->hits, (unsigned)p->hits};
    uint32_t *out = w->votes + (size_t)j * (size_t)w->shape.spaces * (size_t)w->shape.stride;
    RV_TRY((rv_vote_list_launch<LanesVotes, GROUP>(f, list, w->shape, out, job->stream, w->overlaps,
                                                   &p->config.log)));
  }
  const dim3 grid((unsigned)rv_div_up(p->spaces, SCORE_THREADS / 32));
  return rv_launch_stage(w, scores_kernel, grid, SCORE_THREADS, 0, job, *p, *w);
}

RV_ENGINE(RvLanes, lanes, cuda, LanesCuda, layout, open, nullptr, rows, lanes_cuda_marks, votes,
          lanes_cuda_lines, reset);
