/* SPDX-License-Identifier: MIT */
/* road_cuda_ground.cu: the ground plane: lines of the v-disparity, then least squares over the
 * patches. */
#include "road/road_cuda_group.cuh"

/* --- Line ------------------------------------------------------------------------------------ */

#define TAKE_THREADS 256
#define BOTTOMS 64 /* lines per block, all of one horizon: adjacent lines read adjacent votes */
#define PHASES 16  /* threads per line: every sixteenth row each */

static __device__ RvRoadPlane line_plane(const RoadPlan &plan, int index) {
  const int horizon = rv_road_horizon(index / RV_ROAD_BOTTOMS, plan.config.height);
  RvRoadPlane plane = {};
  plane.b =
      (double)rv_line_bottom(index % RV_ROAD_BOTTOMS) / rv_max(plan.config.height - 1 - horizon, 1);
  plane.c = -plane.b * horizon;
  return plane;
}

static __device__ unsigned votes_of(const RoadCuda &w, int horizon, int bottom, int phase) {
  const RoadPlan &plan = w.plan;
  unsigned votes = 0;
#pragma unroll 4
  for (int py = phase; py < plan.rows; py += PHASES) {
    const int d = rv_road_line(py * plan.config.patch_size + plan.config.patch_size / 2, horizon,
                               bottom, plan.config.height);
    if (d < 0)
      continue;
    const uint32_t *line = w.lines + (size_t)py * RV_ROAD_DEPTHS;
    votes += line[d - 1] + line[d] + (d + 1 < RV_ROAD_DEPTHS ? line[d + 1] : 0);
  }
  return votes;
}

static __global__ void __launch_bounds__(BOTTOMS *PHASES)
    lines_kernel(const __grid_constant__ RoadCuda w) {
  __shared__ unsigned parts[PHASES][BOTTOMS];
  road_begin();
  const int x = threadIdx.x % BOTTOMS, phase = threadIdx.x / BOTTOMS;
  const int bottom = blockIdx.y * BOTTOMS + x, index = blockIdx.x * RV_ROAD_BOTTOMS + bottom;
  const RvRoadPlane line = line_plane(w.plan, index);
  const bool is_valid = bottom < RV_ROAD_BOTTOMS && rv_road_plausible(&line, &w.plan.config.camera);
  const int horizon = rv_road_horizon(blockIdx.x, w.plan.config.height);
  parts[phase][x] = is_valid ? votes_of(w, horizon, rv_line_bottom(bottom), phase) : 0;
  __syncthreads();
  if (phase != 0)
    return;
  unsigned long long votes = 0;
  for (int k = 0; k < PHASES; k++)
    votes += parts[k][x];
  const unsigned long long key = rv_warp_max(votes << 32 | (0xffffffffu - (unsigned)index));
  if (x % 32 == 0 && key >> 32)
    atomicMax(&w.frame->line, key);
}

/* --- Least squares --------------------------------------------------------------------------- */

namespace {

struct Fit {
  int64_t v[ROAD_FIT_VALUES]; /* as RvPlaneSums */
};

/* Sums over the patches of a row that do not depend on the row. */
struct RowSums {
  int n, x, d; /* d below 2^22, at most 2^8 patches per lane */
  int64_t xx, xd;
};

/* Sums of all blocks per iteration, in the shared memory of each block. */
struct Inbox {
  int64_t sums[2][ROAD_FIT_BLOCKS][ROAD_FIT_VALUES];
};

} // namespace

namespace {

/* Where the means of a warp's rows are: all rows of the frame, or a copy in shared memory. */
struct Means {
  const uint32_t *first; /* of the warp */
  size_t step;           /* from one of its rows to the next */
};

} // namespace

/* Copies the means of a warp's rows to shared memory, many on their way at once. */
static __device__ Means load_means(const RoadCuda &w, uint32_t *memory, bool is_copied) {
  const RoadPlan &plan = w.plan;
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32;
  const int warp = group_rank() * ROAD_GROUP_WARPS + own, warps = group_blocks() * ROAD_GROUP_WARPS;
  if (!is_copied)
    return {w.mean + (size_t)warp * plan.columns, (size_t)warps * plan.columns};
  uint32_t *to = memory + (size_t)own * plan.columns;
  const size_t step = (size_t)ROAD_GROUP_WARPS * plan.columns;
  for (int y = warp, k = 0; y < plan.rows; y += warps, k++) {
    const uint32_t *from = w.mean + (size_t)y * plan.columns;
#pragma unroll 12
    for (int x = lane; x < plan.columns; x += 32)
      to[k * step + x] = __ldg(from + x);
  }
  __syncwarp();
  return {to, step};
}

/* A thread's portion of the patches near the plane. */
static __device__ Fit sums_near(const RoadCuda &w, const Means &means, const RvRoadPlane &plane,
                                int round) {
  const RoadPlan &plan = w.plan;
  const int warp = group_rank() * ROAD_GROUP_WARPS + threadIdx.x / 32;
  const uint32_t *row = means.first;
  Fit f = {};
  for (int y = warp; y < plan.rows; y += group_blocks() * ROAD_GROUP_WARPS, row += means.step) {
    RowSums r = {};
#pragma unroll 4
    for (int x = threadIdx.x % 32; x < plan.columns; x += 32) {
      const uint32_t mean = row[x];
      const double ground = rv_road_plane_at(&plane, x, y, plan.config.patch_size);
      const double off = (double)mean / 256 - ground;
      if (mean == 0xffffffffu || ground < RV_ROAD_DEPTH_MIN ||
          (off < 0 ? -off : off) > rv_plane_reach(round, ground))
        continue;
      const int d = (int)mean;
      r.n++, r.x += x, r.d += d, r.xx += (int64_t)x * x, r.xd += (int64_t)x * d;
    }
    f.v[0] += r.n, f.v[1] += r.x, f.v[2] += (int64_t)y * r.n;
    f.v[3] += r.xx, f.v[4] += (int64_t)y * r.x, f.v[5] += (int64_t)y * y * r.n;
    f.v[6] += r.d, f.v[7] += r.xd, f.v[8] += (int64_t)y * r.d;
  }
  return f;
}

/* Sums over the group: each block writes its own to all blocks. The half of the inbox of an
 * iteration is written again two iterations later, when all blocks have read it. */
static __device__ RvPlaneSums sum_group(const Fit &mine, Inbox *inbox, int half) {
  __shared__ int64_t parts[ROAD_GROUP_WARPS][ROAD_FIT_VALUES];
  __shared__ int64_t total[ROAD_FIT_VALUES];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t eight = rv_warp_sums8(mine.v), ninth = rv_warp_sum(mine.v[8]);
  if (lane % 4 == 0)
    parts[warp][lane / 4] = eight;
  if (lane == 0)
    parts[warp][8] = ninth;
  __syncthreads();
  const int k = threadIdx.x % ROAD_FIT_VALUES, block = threadIdx.x / ROAD_FIT_VALUES;
  if (block < group_blocks()) {
    int64_t sum = 0;
#pragma unroll
    for (int i = 0; i < ROAD_GROUP_WARPS; i++)
      sum += parts[i][k];
    *group_shared(&inbox->sums[half][group_rank()][k], block) = sum;
  }
  group_sync();
  if (threadIdx.x < ROAD_FIT_VALUES) {
    int64_t sum = 0;
#pragma unroll
    for (int i = 0; i < ROAD_FIT_BLOCKS; i++)
      sum += i < group_blocks() ? inbox->sums[half][i][threadIdx.x] : 0;
    total[threadIdx.x] = sum;
  }
  __syncthreads();
  return {total[0], total[1], total[2], total[3], total[4], total[5], total[6], total[7], total[8]};
}

/* All blocks compute the same plane, the first one stores it. Clears the votes. */
static __global__ void __launch_bounds__(ROAD_GROUP_THREADS, 1)
    fit_kernel(const __grid_constant__ RoadCuda w, int is_copied) {
  extern __shared__ __align__(16) uint32_t memory[];
  __shared__ Inbox inbox;
  group_sync(); /* a block's shared memory is accessible once the block has started */
  /* The means are older than the kernel before, which finds the line. */
  const Means means = load_means(w, memory, is_copied);
  road_begin();
  const RoadPlan &plan = w.plan;
  const int thread = group_rank() * ROAD_GROUP_THREADS + threadIdx.x;
  const int votes = plan.rows * RV_ROAD_DEPTHS;
  for (int i = thread; i < votes; i += group_blocks() * ROAD_GROUP_THREADS)
    w.lines[i] = 0;
  const unsigned long long line = w.frame->line;
  if (line >> 32 == 0)
    return;
  RvRoadPlane plane = line_plane(plan, (int)(0xffffffffu - (unsigned)line));
  for (int round = 0; round < RV_ROAD_FIT_ROUNDS; round++) {
    const Fit mine = sums_near(w, means, plane, round);
    const RvPlaneSums sums = sum_group(mine, &inbox, round % 2);
    if (!rv_road_solve(&sums, plan.patches, plan.config.patch_size, &plane))
      return;
  }
  if (thread != 0 || !rv_road_plausible(&plane, &w.plan.config.camera))
    return;
  plane.height = sqrt(rv_road_height_squared(&plane, &w.plan.config.camera));
  w.frame->plane = plane;
}

/* The plane of a surface; clears the votes. */
static __global__ void __launch_bounds__(TAKE_THREADS)
    take_kernel(const __grid_constant__ RoadCuda w, const RvGroundSurface *ground) {
  road_begin();
  const int i = blockIdx.x * TAKE_THREADS + threadIdx.x;
  if (i < w.plan.rows * RV_ROAD_DEPTHS)
    w.lines[i] = 0;
  if (i == 0)
    w.frame->plane = rv_road_plane_of(ground, &w.plan.config.camera);
}

/* Of the means of the rows of a block. */
static size_t fit_bytes(const RoadCuda *w) {
  const int rows = rv_div_up(w->plan.rows, w->fit_blocks * ROAD_GROUP_WARPS) * ROAD_GROUP_WARPS;
  return (size_t)rows * w->plan.columns * sizeof(uint32_t);
}

RvStatus road_cuda_ground(const RoadCuda *w, const RvGroundSurface *ground, RvStream stream) {
  if (ground)
    return road_launch(w, take_kernel, dim3(rv_div_up(w->plan.rows * RV_ROAD_DEPTHS, TAKE_THREADS)),
                       dim3(TAKE_THREADS), 0, stream, *w, ground);
  const dim3 grid(RV_ROAD_HORIZONS, rv_div_up(RV_ROAD_BOTTOMS, BOTTOMS));
  RV_TRY(road_launch(w, lines_kernel, grid, dim3(BOTTOMS * PHASES), 0, stream, *w));
  const size_t bytes = fit_bytes(w);
  const bool is_copied = bytes <= (size_t)w->shared_means;
  return group_launch(w, w->fit_blocks, fit_kernel, is_copied ? bytes : 0, stream, (int)is_copied);
}

/* Where a warp would have several rows, more blocks than all GPUs with clusters support, if this one
 * can: they must have neighboring processors, of which a part of a GPU may have too few. */
static RvStatus choose_fit_blocks(RoadCuda *w) {
  const RvLog *log = &w->plan.config.log;
  w->fit_blocks = w->blocks;
  if (w->blocks == 1 || w->plan.rows <= w->blocks * ROAD_GROUP_WARPS ||
      w->processors < 4 * ROAD_FIT_BLOCKS)
    return RV_OK;
  w->fit_blocks = ROAD_FIT_BLOCKS;
  const size_t bytes = fit_bytes(w);
  RvLaunch launch(dim3(ROAD_FIT_BLOCKS), dim3(ROAD_GROUP_THREADS),
                  bytes <= (size_t)w->shared_means ? bytes : 0, NULL);
  launch.cluster(ROAD_FIT_BLOCKS);
  int clusters = 0;
  RV_CU(log, cudaFuncSetAttribute(fit_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  if (cudaOccupancyMaxActiveClusters(&clusters, fit_kernel, &launch.config) != cudaSuccess)
    (void)cudaGetLastError();
  if (clusters == 0)
    w->fit_blocks = w->blocks;
  return RV_OK;
}

RvStatus road_cuda_open_ground(RoadCuda *w) {
  const RvLog *log = &w->plan.config.log;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  w->shared_means = device.shared - 4096; /* less than the kernel's static variables take */
  RV_CU(log, cudaFuncSetAttribute(fit_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  w->shared_means));
  return choose_fit_blocks(w);
}
