/* SPDX-License-Identifier: MIT */
/* ground_cuda.cu: the CUDA engine of the ground estimation: memory, cells, lines, plane. */
#include "ground/ground_cuda.cuh"

#define CELL_THREADS 128
#define LINE_BOTTOMS 64 /* lines of a block, all of one horizon: neighbors read neighboring bins */
#define LINE_PHASES 16  /* threads that share a line: every sixteenth band each */
#define LINE_BANDS (RV_GROUND_BANDS_MAX / LINE_PHASES) /* of a thread at most */
#define FIT_THREADS 256
#define FIT_BLOCKS 64
#define FIT_HELD 4 /* cells of a thread that are read before the plane is known */

/* --- Memory ---------------------------------------------------------------------------------- */

static void layout(void *memory, const void *plan, RvArena *arena) {
  GroundCuda *w = (GroundCuda *)memory;
  const RvGroundPlan *g = (const RvGroundPlan *)plan;
  w->frame = (GroundFrame *)rv_arena_take(arena, sizeof *w->frame);
  w->state = (RvGroundState *)rv_arena_take(arena, sizeof *w->state);
  w->mean = (uint32_t *)rv_arena_take(arena, (size_t)g->cells * sizeof *w->mean);
  w->votes =
      (uint32_t *)rv_arena_take(arena, (size_t)g->bands * RV_GROUND_DEPTHS * sizeof *w->votes);
  w->histogram = (uint32_t *)rv_arena_take(arena, (size_t)RV_GROUND_BINS * RV_GROUND_OFFSETS *
                                                      sizeof *w->histogram);
}

static RvStatus open(void *memory, const void *plan) {
  GroundCuda *w = (GroundCuda *)memory;
  const RvGroundPlan *g = (const RvGroundPlan *)plan;
  const RvLog *log = &g->config.log;
  RV_TRY(rv_cuda_overlaps(log, &w->overlaps));
  RV_CU(log, cudaMemset(w->votes, 0, (size_t)g->bands * RV_GROUND_DEPTHS * sizeof *w->votes));
  RV_CU(log, cudaMemset(w->state, 0, sizeof *w->state));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* work of later streams is ordered after this */
  return ground_cuda_open_profile(log);
}

static RvStatus reset(void *memory, const RvGroundJob *job) {
  const GroundCuda *w = (GroundCuda *)memory;
  RV_CU(&job->plan->config.log, cudaMemsetAsync(w->state, 0, sizeof *w->state, job->stream));
  return RV_OK;
}

/* --- Cells ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t mean_of(const RvGroundPlan &g, const RvPlane &disparity,
                                                   int x, int y) {
  uint32_t sum = 0;
  int valid = 0;
  for (int v = y * g.n; v < y * g.n + g.n; v++) {
    const uint16_t *row = rv_row<const uint16_t>(disparity, v);
#pragma unroll 4
    for (int u = x * g.n; u < x * g.n + g.n; u++) {
      const int d = row[u], depth = d + g.doffs;
      const bool is_valid = d != 0 && depth > 0;
      sum += is_valid ? (uint32_t)depth : 0;
      valid += is_valid;
    }
  }
  return rv_ground_cell(sum, valid, g.n * g.n);
}

static __global__ void __launch_bounds__(CELL_THREADS)
    cells_kernel(const __grid_constant__ RvGroundPlan g, const __grid_constant__ GroundCuda w,
                 const RvPlane disparity) {
  rv_launch_wait();
  rv_launch_next();
  const int x = blockIdx.x * CELL_THREADS + threadIdx.x, y = blockIdx.y;
  const int thread = (blockIdx.y * gridDim.x + blockIdx.x) * CELL_THREADS + threadIdx.x;
  const int threads = gridDim.x * gridDim.y * CELL_THREADS;
  for (int i = thread; i < RV_GROUND_BINS * RV_GROUND_OFFSETS; i += threads)
    w.histogram[i] = 0;
  unsigned long long *frame = (unsigned long long *)w.frame;
  for (int i = thread; i < (int)(sizeof *w.frame / sizeof *frame); i += threads)
    frame[i] = 0;
  if (x >= g.columns)
    return;
  const uint32_t mean = mean_of(g, disparity, x, y);
  w.mean[(size_t)y * g.columns + x] = mean;
  if (y < g.bands * g.band && mean / 256 < RV_GROUND_DEPTHS &&
      rv_ground_within(&g, rv_ground_center(x, g.n), mean, g.near))
    atomicAdd(&w.votes[(y / g.band) * RV_GROUND_DEPTHS + mean / 256], 1u);
}

static RvStatus cells(void *memory, const RvGroundJob *job) {
  const GroundCuda *w = (GroundCuda *)memory;
  const RvGroundPlan *g = job->plan;
  const dim3 grid((unsigned)rv_div_up(g->columns, CELL_THREADS), (unsigned)g->rows);
  return rv_launch_stage(w, cells_kernel, grid, CELL_THREADS, 0, job, *g, *w, job->disparity);
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* All loads of a thread are on their way at once: what does not count is read at the first bin that
 * can, and added as 0. */
static __device__ unsigned votes_of(const RvGroundPlan &g, const uint32_t *votes, int horizon,
                                    int bottom, int phase) {
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < LINE_BANDS; k++) {
    const int y = phase + k * LINE_PHASES, band = rv_min(y, g.bands - 1);
    const int d = rv_ground_line(rv_ground_band_row(&g, band), horizon, bottom, g.height);
    const uint32_t *at = votes + band * RV_GROUND_DEPTHS + rv_max(d, RV_GROUND_DEPTH_MIN);
    const unsigned two = at[-1] + at[0], next = d + 1 < RV_GROUND_DEPTHS ? at[1] : 0;
    sum += y < g.bands && d >= 0 ? two + next : 0;
  }
  return sum;
}

static __global__ void __launch_bounds__(LINE_BOTTOMS *LINE_PHASES)
    lines_kernel(const __grid_constant__ RvGroundPlan g, const __grid_constant__ GroundCuda w) {
  __shared__ unsigned parts[LINE_PHASES][LINE_BOTTOMS];
  rv_launch_wait();
  rv_launch_next();
  const int x = threadIdx.x % LINE_BOTTOMS, phase = threadIdx.x / LINE_BOTTOMS;
  const int bottom = blockIdx.y * LINE_BOTTOMS + x;
  const int index = blockIdx.x * RV_GROUND_BOTTOMS + bottom;
  const int horizon = rv_ground_horizon(blockIdx.x, g.height);
  parts[phase][x] = votes_of(g, w.votes, horizon, rv_line_bottom(bottom), phase);
  /* one phase for all: these are doubles */
  const RvGroundLimits limits = rv_ground_limits(&g, w.state);
  const RvGroundPlane line = rv_ground_line_plane(index, g.height);
  const bool counts =
      phase == 0 && bottom < RV_GROUND_BOTTOMS && rv_ground_plausible(&g, &limits, &line);
  __syncthreads();
  if (phase != 0)
    return;
  unsigned votes = 0;
#pragma unroll
  for (int k = 0; k < LINE_PHASES; k++)
    votes += parts[k][x];
  unsigned long long key = counts ? rv_ground_key(votes, index) : 0;
  key = rv_warp_max(key);
  if (x % 32 == 0 && key)
    atomicMax(&w.frame->line, key);
}

static RvStatus lines(void *memory, const RvGroundJob *job) {
  const GroundCuda *w = (GroundCuda *)memory;
  const RvGroundPlan *g = job->plan;
  const dim3 grid(RV_GROUND_HORIZONS, (unsigned)rv_div_up(RV_GROUND_BOTTOMS, LINE_BOTTOMS));
  return rv_launch_stage(w, lines_kernel, grid, LINE_BOTTOMS * LINE_PHASES, 0, job, *g, *w);
}

/* --- Plane ----------------------------------------------------------------------------------- */

/* Adds the sums of the block to `total`. */
static __device__ __forceinline__ void add_sums(const int64_t *mine, unsigned long long *total) {
  static_assert(GROUND_SUMS == 9, "eight and one");
  __shared__ int64_t parts[FIT_THREADS / 32][GROUND_SUMS];
  const int64_t eight = rv_warp_sums8(mine), ninth = rv_warp_sum(mine[8]);
  if (rv_lane() % 4 == 0)
    parts[threadIdx.x / 32][rv_lane() / 4] = eight;
  if (rv_lane() == 0)
    parts[threadIdx.x / 32][8] = ninth;
  __syncthreads();
  if (threadIdx.x >= GROUND_SUMS)
    return;
  int64_t sum = 0;
#pragma unroll
  for (int i = 0; i < FIT_THREADS / 32; i++)
    sum += parts[i][threadIdx.x];
  if (sum)
    atomicAdd(&total[threadIdx.x], (unsigned long long)sum);
}

static __device__ __forceinline__ void take_cell(const RvGroundPlan &g, const RvGroundPlane &plane,
                                                 int round, int i, uint32_t mean, int64_t *s) {
  const int y = i / g.columns, x = i - y * g.columns;
  if (!rv_ground_takes(&g, &plane, rv_ground_center(x, g.n), rv_ground_center(y, g.n), mean, round))
    return;
  const int64_t d = mean;
  s[0] += 1, s[1] += x, s[2] += y;
  s[3] += (int64_t)x * x, s[4] += (int64_t)x * y, s[5] += (int64_t)y * y;
  s[6] += d, s[7] += x * d, s[8] += y * d;
}

static __global__ void __launch_bounds__(FIT_THREADS)
    fit_kernel(const __grid_constant__ RvGroundPlan g, const __grid_constant__ GroundCuda w,
               int round) {
  __shared__ RvGroundPlane shared;
  __shared__ bool has_plane;
  const int thread = blockIdx.x * FIT_THREADS + threadIdx.x, threads = gridDim.x * FIT_THREADS;
  uint32_t held[FIT_HELD]; /* the cells are from at least two kernels ago */
#pragma unroll
  for (int k = 0; k < FIT_HELD; k++)
    held[k] = __ldcg(&w.mean[rv_min(thread + k * threads, g.cells - 1)]);
  rv_launch_wait();
  rv_launch_next();
  for (int i = thread; round == 0 && i < g.bands * RV_GROUND_DEPTHS; i += threads)
    w.votes[i] = 0;
  if (threadIdx.x == 0)
    has_plane = ground_plane(w, g, round, &shared);
  __syncthreads();
  if (!has_plane)
    return;
  const RvGroundPlane plane = shared;
  int64_t s[GROUND_SUMS] = {};
#pragma unroll
  for (int k = 0; k < FIT_HELD; k++)
    if (thread + k * threads < g.cells)
      take_cell(g, plane, round, thread + k * threads, held[k], s);
  for (int i = thread + FIT_HELD * threads; i < g.cells; i += threads)
    take_cell(g, plane, round, i, w.mean[i], s);
  add_sums(s, w.frame->sums[round]);
}

static RvStatus plane(void *memory, const RvGroundJob *job) {
  const GroundCuda *w = (GroundCuda *)memory;
  const RvGroundPlan *g = job->plan;
  for (int round = 0; round < RV_GROUND_FIT_ROUNDS; round++)
    RV_TRY(rv_launch_stage(w, fit_kernel, dim3(FIT_BLOCKS), FIT_THREADS, 0, job, *g, *w, round));
  return RV_OK;
}

static RvStatus profile(void *memory, const RvGroundJob *job) {
  return ground_cuda_profile((GroundCuda *)memory, job);
}

RV_ENGINE(RvGround, ground, cuda, GroundCuda, layout, open, nullptr, cells, lines, plane, profile,
          reset);
