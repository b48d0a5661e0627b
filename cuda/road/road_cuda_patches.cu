/* SPDX-License-Identifier: MIT */
/* road_cuda_patches.cu: features and samples, per patch. One block per segment of a row of patches,
 * one thread per column of pixels at a time. */
#include "road/road_cuda_label.cuh"

#define AT_ONCE 5 /* pixels of a column that are loaded at a time */
#define SEGMENT_WIDTH (ROAD_SEGMENT * RV_ROAD_PATCH_MAX) /* px, maximum */

/* --- Features -------------------------------------------------------------------------------- */

#define FEATURE_THREADS (5 * ROAD_SEGMENT) /* one per column, with the default patch size */
#define VALUE_WARPS (256 / 32)             /* of a block: one thread per value of a channel */

/* The tables of histogram equalization, three values per thread. */
static __device__ void equalize(const RoadCuda &w, uint8_t *equal) {
  __shared__ unsigned sums[3][VALUE_WARPS], first[3];
  const int v = threadIdx.x, lane = v % 32, warp = v / 32;
  const unsigned total = (unsigned)w.plan.config.width * (unsigned)w.plan.config.height;
  unsigned votes[3] = {0, 0, 0}, below[3];
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (w.plan.config.equalize && v < 256)
      votes[k] = w.histogram[256 * k + v];
#pragma unroll
  for (int k = 0; k < 3; k++) {
    below[k] = rv_warp_scan(votes[k]);
    if (lane == 31 && warp < VALUE_WARPS)
      sums[k][warp] = below[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < VALUE_WARPS; i++)
      below[k] += i < warp ? sums[k][i] : 0;
    if (votes[k] && below[k] == votes[k])
      first[k] = votes[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (v < 256)
      equal[256 * k + v] =
          (uint8_t)(below[k] ? rv_road_equalized(below[k], first[k], total, v) : v);
}

static __device__ __forceinline__ void count_cell(uint32_t *counts, int at, unsigned number) {
  atomicAdd(&counts[at / 4], number << (at % 4 * 8));
}

namespace {

/* Counts of a column of pixels. Consecutive pixels of the same cell are added at once. */
struct Column {
  int cell;        /* that is being counted, -1 = none yet */
  unsigned number; /* of pixels in it */
};

/* Sums of the disparities of a column of pixels. */
struct Depths {
  uint32_t sum, valid;
};

/* Sums of the relative heights of a column of pixels. */
struct Heights {
  int64_t sum, squares;
};

} // namespace

static __device__ __forceinline__ void count_color(const RoadCuda &w, uint32_t c, int at,
                                                   const uint8_t *equal, uint32_t *counts,
                                                   Column *column) {
  const int cell =
      rv_road_cell(equal[c & 255], equal[256 + (c >> 8 & 255)], equal[512 + (c >> 16 & 255)],
                   w.plan.config.bins, w.plan.config.min_saturation, w.plan.config.min_value);
  if (cell != column->cell && column->number) {
    count_cell(counts, at + column->cell, column->number);
    column->number = 0;
  }
  column->cell = cell;
  column->number++;
}

/* Adds the column of pixels u to the counts. */
static __device__ __forceinline__ void count_column(const RoadCuda &w, const RvPlane &color, int u,
                                                    int at, const uint8_t *equal,
                                                    uint32_t *counts) {
  const int n = w.plan.config.patch_size;
  Column column = {-1, 0};
  for (int y0 = 0; y0 < n; y0 += AT_ONCE) {
    uint32_t colors[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      colors[k] =
          y0 + k < n ? __ldg(rv_row<const uint32_t>(color, blockIdx.y * n + y0 + k) + u) : 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      if (y0 + k < n)
        count_color(w, colors[k], at, equal, counts, &column);
  }
  count_cell(counts, at + column.cell, column.number);
}

static __device__ __forceinline__ Depths sum_column(const RoadCuda &w, const RvPlane &disparity,
                                                    int u) {
  const int n = w.plan.config.patch_size, doffs = rv_road_doffs(&w.plan.config.camera);
  Depths depths = {0, 0};
  for (int y0 = 0; y0 < n; y0 += AT_ONCE) {
    int disparities[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      disparities[k] =
          y0 + k < n ? __ldg(rv_row<const uint16_t>(disparity, blockIdx.y * n + y0 + k) + u) : 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const int is_known = rv_road_known(disparities[k], doffs);
      depths.valid += is_known;
      depths.sum += is_known ? (uint32_t)(disparities[k] + doffs) : 0;
    }
  }
  return depths;
}

/* Writes the depth of the patch in column px and, when it is ahead, its mean and its vote. */
static __device__ void end_depth(const RoadCuda &w, int patch, int px, uint32_t depth,
                                 uint32_t valid) {
  w.depth[patch] = depth;
  w.valid[patch] = (uint8_t)valid;
  const bool is_known = 2 * (int)valid >= w.plan.area &&
                        rv_road_ahead(&w.plan.config.camera, px, w.plan.config.patch_size, depth,
                                      (int)valid, w.plan.config.near_width);
  w.mean[patch] = is_known ? (uint32_t)(((uint64_t)depth * 16 + valid / 2) / valid) : 0xffffffffu;
  if (!is_known)
    return;
  const uint32_t bin = depth / 16 / valid;
  if (bin < RV_ROAD_DEPTHS)
    atomicAdd(&w.lines[(size_t)blockIdx.y * RV_ROAD_DEPTHS + bin], 1u);
}

static __device__ __forceinline__ void clear_frame(const RoadCuda &w) {
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
    const RoadFrame none = {};
    *w.frame = none;
  }
}

/* The lateral profile with the votes of the last frame, and the scales of this one; by a block. */
static __device__ void update_profile(const RoadCuda &w) {
  __shared__ RvRoadStrip strips[RV_ROAD_STRIPS];
  RoadProfile *profile = w.profile;
  const int k = threadIdx.x;
  if (k < RV_ROAD_STRIPS) {
    strips[k] = rv_road_strip_next(profile->strips[k], profile->votes[k]);
    profile->strips[k] = strips[k];
    profile->votes[k] = 0;
  }
  __syncthreads();
  if (k < RV_ROAD_STRIPS)
    profile->scale[k] = rv_road_strip_scale(strips, k, w.plan.config.lateral_scale);
}

/* is_alone: no depth_kernel clears the frame. */
static __global__ void __launch_bounds__(FEATURE_THREADS)
    color_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvPlane color,
                 int is_alone) {
  extern __shared__ __align__(16) uint32_t counts[]; /* [patch of the segment][pitch] */
  __shared__ uint8_t equal[768];
  road_begin();
  const RoadPlan &plan = w.plan;
  const int first = blockIdx.x * ROAD_SEGMENT, patches = min(ROAD_SEGMENT, plan.columns - first);
  const int words = patches * plan.pitch / 4;
  if (is_alone)
    clear_frame(w);
  if (blockIdx.x == 0 && blockIdx.y == 0)
    update_profile(w);
  for (int i = threadIdx.x; i < words; i += FEATURE_THREADS)
    counts[i] = 0;
  equalize(w, equal);
  __syncthreads();
  for (int x = threadIdx.x; x < patches * plan.config.patch_size; x += FEATURE_THREADS)
    count_column(w, color, first * plan.config.patch_size + x,
                 x / plan.config.patch_size * plan.pitch, equal, counts);
  __syncthreads();
  const int patch = blockIdx.y * plan.columns + first;
  uint32_t *out = (uint32_t *)(w.counts + (size_t)patch * plan.pitch);
  for (int i = threadIdx.x; i < words; i += FEATURE_THREADS)
    out[i] = counts[i];
}

static __global__ void __launch_bounds__(FEATURE_THREADS)
    depth_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvPlane disparity) {
  __shared__ uint32_t depth[ROAD_SEGMENT], valid[ROAD_SEGMENT];
  road_begin();
  const RoadPlan &plan = w.plan;
  const int first = blockIdx.x * ROAD_SEGMENT, patches = min(ROAD_SEGMENT, plan.columns - first);
  clear_frame(w);
  if (threadIdx.x < ROAD_SEGMENT)
    depth[threadIdx.x] = valid[threadIdx.x] = 0;
  __syncthreads();
  for (int x = threadIdx.x; x < patches * plan.config.patch_size; x += FEATURE_THREADS) {
    const int p = x / plan.config.patch_size;
    const Depths depths = sum_column(w, disparity, first * plan.config.patch_size + x);
    if (depths.valid) {
      atomicAdd(&depth[p], depths.sum);
      atomicAdd(&valid[p], depths.valid);
    }
  }
  __syncthreads();
  if (threadIdx.x < patches)
    end_depth(w, blockIdx.y * plan.columns + first + threadIdx.x, first + threadIdx.x,
              depth[threadIdx.x], valid[threadIdx.x]);
}

static dim3 segments(const RoadPlan &plan) {
  return dim3(rv_div_up(plan.columns, ROAD_SEGMENT), plan.rows);
}

RvStatus road_cuda_features(const RoadCuda *w, const RvRoadJob *job) {
  const RvLog *log = &w->plan.config.log;
  const size_t shared = (size_t)ROAD_SEGMENT * w->plan.pitch;
  const dim3 grid = segments(w->plan), block(FEATURE_THREADS);
  const bool is_first = !w->plan.config.equalize; /* else the kernels of the histogram are */
  RV_TRY(rv_launch(log, color_kernel, grid, block, shared, job->color_stream,
                   w->overlaps && !is_first, *w, job->color, job->disparity.data == NULL));
  if (road_is_forked(job))
    RV_CU(log, cudaEventRecord(w->joined, w->side));
  return job->disparity.data
             ? road_launch(w, depth_kernel, grid, block, 0, job->stream, *w, job->disparity)
             : RV_OK;
}

/* --- Samples --------------------------------------------------------------------------------- */

/* Heights above the plane of the column of pixels u, in patch column px. */
static __device__ __forceinline__ Heights column_heights(const RoadCuda &w,
                                                         const RvPlane &disparity,
                                                         const RvRoadPlane &plane, int u, int px) {
  const int n = w.plan.config.patch_size;
  const double one = 1048576;
  const int64_t step = (int64_t)floor(plane.a * one + 0.5) * (u - px * n);
  Heights r = {0, 0};
#pragma unroll 5
  for (int y = blockIdx.y * n; y < (int)(blockIdx.y + 1) * n; y++) {
    const uint32_t inverse = w.inverse[rv_row<const uint16_t>(disparity, y)[u]];
    if (inverse == 0)
      continue;
    const int64_t ground =
        (int64_t)floor((plane.a * (px * n) + plane.b * y + plane.c) * one + 0.5) + step;
    const int64_t height = rv_road_relative_height(ground, inverse);
    r.sum += height;
    r.squares += height * height;
  }
  return r;
}

/* 1 when the patch in column px is near, ahead, and close enough to the plane. */
static __device__ bool may_be_sample(const RoadCuda &w, int px, uint32_t budget, int valid,
                                     uint32_t depth) {
  const RvRoadConfig &c = w.plan.config;
  const double focal = c.camera.focal * c.camera.baseline;
  return 2 * valid >= w.plan.area && valid >= 2 && budget != 0 &&
         (double)depth * c.near_range > focal * 16 * (double)valid &&
         rv_road_ahead(&c.camera, px, w.plan.config.patch_size, depth, valid, c.near_width / 2);
}

/* 1 when a patch is smooth; heights[] are those of its columns of pixels. */
static __device__ int is_smooth(const RoadCuda &w, int patch, const Heights *heights,
                                double height) {
  const RvRoadConfig &c = w.plan.config;
  Heights r = {0, 0};
  for (int k = 0; k < w.plan.config.patch_size; k++) {
    r.sum += heights[k].sum;
    r.squares += heights[k].squares;
  }
  const double square = height * height;
  return rv_road_smooth(w.valid[patch], r.sum, r.squares, w.depth[patch], c.roughness / square,
                        c.disparity_noise, c.max_roughness / square);
}

static __global__ void __launch_bounds__(ROAD_THREADS)
    samples_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvPlane disparity) {
  __shared__ Heights heights[SEGMENT_WIDTH];
  __shared__ uint8_t candidate[ROAD_SEGMENT];
  const RoadPlan &plan = w.plan;
  const int first = blockIdx.x * ROAD_SEGMENT, patches = min(ROAD_SEGMENT, plan.columns - first);
  const int p = threadIdx.x, patch = blockIdx.y * plan.columns + first + p;
  /* These are older than the kernel before, which fits the plane. */
  const int valid = p < patches ? w.valid[patch] : 0;
  const uint32_t depth = p < patches ? w.depth[patch] : 0;
  if (p < ROAD_SEGMENT)
    candidate[p] = 0;
  road_begin();
  const RvRoadPlane plane = w.frame->plane;
  const bool has_plane = plane.height > 0;
  if (has_plane && p < patches) {
    const uint32_t budget =
        rv_road_color_budget(&w.plan.config, &plane, first + p, blockIdx.y, valid, depth);
    w.budget[patch] = budget;
    candidate[p] = may_be_sample(w, first + p, budget, valid, depth);
  }
  __syncthreads();
  for (int x = threadIdx.x; x < patches * plan.config.patch_size && has_plane; x += ROAD_THREADS)
    if (candidate[x / plan.config.patch_size])
      heights[x] = column_heights(w, disparity, plane, first * plan.config.patch_size + x,
                                  first + x / plan.config.patch_size);
  __syncthreads();
  if (p >= ROAD_SEGMENT)
    return;
  const int found =
      candidate[p] && is_smooth(w, patch, heights + p * plan.config.patch_size, plane.height);
  road_label_start(w, patch, found, p < patches);
  const unsigned samples = __ballot_sync(RV_WARP, found);
  const int is_strip =
      has_plane && p < patches && rv_road_is_strip(&w.plan.config, &plane, first + p, blockIdx.y);
  const unsigned strip = __ballot_sync(RV_WARP, is_strip);
  if (samples && p % 32 == 0)
    atomicAdd(&w.frame->samples, __popc(samples));
  if (strip && p % 32 == 0)
    atomicAdd(&w.frame->strip, __popc(strip));
}

RvStatus road_cuda_samples(const RoadCuda *w, const RvRoadJob *job) {
  return road_launch(w, samples_kernel, segments(w->plan), dim3(ROAD_THREADS), 0, job->stream, *w,
                     job->disparity);
}
