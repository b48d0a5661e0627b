/* road_cuda_patches.cu: what is read off the picture and the disparity, patch by patch. A block
 * takes a segment of a row of patches, a thread columns of its pixels. */
#include "road/road_cuda_label.cuh"

#define AT_ONCE 5 /* pixels of a column that are read at a time */
#define SEGMENT_WIDTH (ROAD_SEGMENT * RV_ROAD_PATCH_MAX) /* px, at most */

static __device__ __forceinline__ const char *row_of(const RvPlane &plane, int y) {
  return (const char *)plane.data + y * plane.stride;
}

/* --- Features -------------------------------------------------------------------------------- */

/* Number of pixels up to and with the value of this thread, 256 of them. */
static __device__ unsigned scan_256(unsigned value, unsigned *sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, value, step);
    value += lane >= step ? below : 0;
  }
  if (lane == 31)
    sums[warp] = value;
  __syncthreads();
  for (int k = 0; k < warp; k++)
    value += sums[k];
  __syncthreads();
  return value;
}

/* The tables of histogram equalisation, the thread's value of each channel. */
static __device__ void equalize(const RoadCuda &w, uint8_t *equal) {
  __shared__ unsigned sums[ROAD_THREADS / 32], first[3];
  const int v = threadIdx.x;
  const unsigned total = (unsigned)w.shape.width * (unsigned)w.shape.height;
  for (int channel = 0; channel < 3; channel++) {
    if (!w.config.equalize) {
      equal[256 * channel + v] = (uint8_t)v;
      continue;
    }
    const unsigned votes = w.histogram[256 * channel + v];
    const unsigned below = scan_256(votes, sums);
    if (votes && below == votes)
      first[channel] = votes;
    __syncthreads();
    equal[256 * channel + v] =
        (uint8_t)(below ? rv_road_equalized(below, first[channel], total, v) : v);
  }
}

static __device__ __forceinline__ void count_cell(uint32_t *counts, int at, unsigned number) {
  atomicAdd(&counts[at / 4], number << (at % 4 * 8));
}

/* Counts of the column of pixels u of patch p of the segment; equal cells one below the other are
 * added at once. */
static __device__ __forceinline__ void count_column(const RoadCuda &w, const RvPlane &color, int u,
                                                    int p, const uint8_t *equal, uint32_t *counts) {
  const RoadShape &s = w.shape;
  int held = -1;
  unsigned number = 0;
  for (int y0 = 0; y0 < s.n; y0 += AT_ONCE) {
    uint32_t colors[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      colors[k] =
          y0 + k < s.n ? __ldg((const uint32_t *)row_of(color, blockIdx.y * s.n + y0 + k) + u) : 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const uint32_t c = colors[k];
      if (y0 + k >= s.n)
        break;
      const int cell =
          rv_road_cell(equal[c & 255], equal[256 + (c >> 8 & 255)], equal[512 + (c >> 16 & 255)],
                       s.bins, w.config.min_saturation, w.config.min_value);
      if (cell != held && number) {
        count_cell(counts, p * s.pitch + held, number);
        number = 0;
      }
      held = cell;
      number++;
    }
  }
  count_cell(counts, p * s.pitch + held, number);
}

/* Sums of the disparities of a column of pixels: valid << 24 would not hold the depth, so two. */
static __device__ __forceinline__ void sum_column(const RoadCuda &w, const RvPlane &disparity,
                                                  int u, int doffs, uint32_t *depth,
                                                  uint32_t *valid) {
  uint32_t sum = 0, number = 0;
#pragma unroll 5
  for (int y = 0; y < w.shape.n; y++) {
    const int d = __ldg((const uint16_t *)row_of(disparity, blockIdx.y * w.shape.n + y) + u);
    const int is_known = rv_road_known(d, doffs);
    number += is_known;
    sum += is_known ? (uint32_t)(d + doffs) : 0;
  }
  if (number == 0)
    return;
  atomicAdd(depth, sum);
  atomicAdd(valid, number);
}

/* Publishes the depth of the patch in column px and, when it lies ahead, its mean and its vote. */
static __device__ void end_depth(const RoadCuda &w, int patch, int px, uint32_t depth,
                                 uint32_t valid) {
  w.depth[patch] = depth;
  w.valid[patch] = (uint8_t)valid;
  const bool is_known =
      2 * (int)valid >= w.shape.area &&
      rv_road_ahead(&w.config.camera, px, w.shape.n, depth, (int)valid, w.config.near_width);
  w.mean[patch] = is_known ? (uint32_t)(((uint64_t)depth * 16 + valid / 2) / valid) : 0xffffffffu;
  if (!is_known)
    return;
  const uint32_t bin = depth / 16 / valid;
  if (bin < RV_ROAD_DEPTHS)
    atomicAdd(&w.lines[(size_t)blockIdx.y * RV_ROAD_DEPTHS + bin], 1u);
}

static __global__ void __launch_bounds__(ROAD_THREADS)
    features_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvPlane color,
                    const __grid_constant__ RvPlane disparity) {
  extern __shared__ __align__(16) uint32_t counts[]; /* [patch of the segment][pitch] */
  __shared__ uint8_t equal[768];
  __shared__ uint32_t depth[ROAD_SEGMENT], valid[ROAD_SEGMENT];
  road_begin();
  const RoadShape &s = w.shape;
  const int first = blockIdx.x * ROAD_SEGMENT, patches = min(ROAD_SEGMENT, s.columns - first);
  const int words = patches * s.pitch / 4, doffs = rv_road_doffs(&w.config.camera);
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
    const RoadFrame none = {};
    *w.frame = none;
  }
  for (int i = threadIdx.x; i < words; i += ROAD_THREADS)
    counts[i] = 0;
  if (threadIdx.x < ROAD_SEGMENT)
    depth[threadIdx.x] = valid[threadIdx.x] = 0;
  equalize(w, equal);
  __syncthreads();
  for (int x = threadIdx.x; x < patches * s.n; x += ROAD_THREADS) {
    const int p = x / s.n, u = first * s.n + x;
    count_column(w, color, u, p, equal, counts);
    if (disparity.data)
      sum_column(w, disparity, u, doffs, &depth[p], &valid[p]);
  }
  __syncthreads();
  const int patch = blockIdx.y * s.columns + first;
  uint32_t *out = (uint32_t *)(w.counts + (size_t)patch * s.pitch);
  for (int i = threadIdx.x; i < words; i += ROAD_THREADS)
    out[i] = counts[i];
  if (disparity.data && threadIdx.x < patches)
    end_depth(w, patch + threadIdx.x, first + threadIdx.x, depth[threadIdx.x], valid[threadIdx.x]);
}

static dim3 segments(const RoadShape &s) {
  return dim3(rv_div_up(s.columns, ROAD_SEGMENT), s.rows);
}

RvStatus road_cuda_features(const RoadCuda *w, const RvRoadJob *job) {
  const size_t shared = (size_t)ROAD_SEGMENT * w->shape.pitch;
  return road_launch(w, features_kernel, segments(w->shape), dim3(ROAD_THREADS), shared,
                     job->stream, *w, job->color, job->disparity);
}

/* --- Samples --------------------------------------------------------------------------------- */

struct Rises {
  int64_t sum, squares;
};

/* Heights above the plane of the column of pixels u, in patch column px. */
static __device__ __forceinline__ Rises rise_column(const RoadCuda &w, const RvPlane &disparity,
                                                    const RvRoadPlane &plane, int u, int px) {
  const int n = w.shape.n;
  const double one = 1048576;
  const int64_t step = (int64_t)floor(plane.a * one + 0.5) * (u - px * n);
  Rises r = {0, 0};
#pragma unroll 5
  for (int y = blockIdx.y * n; y < (int)(blockIdx.y + 1) * n; y++) {
    const uint32_t inverse = w.inverse[((const uint16_t *)row_of(disparity, y))[u]];
    if (inverse == 0)
      continue;
    const int64_t ground =
        (int64_t)floor((plane.a * (px * n) + plane.b * y + plane.c) * one + 0.5) + step;
    const int64_t rise = rv_road_rise(ground, inverse);
    r.sum += rise;
    r.squares += rise * rise;
  }
  return r;
}

/* 1 when the patch in column px is near, ahead, and close enough to the plane. */
static __device__ bool may_be_sample(const RoadCuda &w, int patch, int px, uint32_t room) {
  const RvRoadConfig &c = w.config;
  const int valid = w.valid[patch];
  const uint32_t depth = w.depth[patch];
  const double focal = c.camera.focal * c.camera.baseline;
  return 2 * valid >= w.shape.area && valid >= 2 && room != 0 &&
         (double)depth * c.near_range > focal * 16 * (double)valid &&
         rv_road_ahead(&c.camera, px, w.shape.n, depth, valid, c.near_width / 2);
}

/* 1 when a patch whose columns of pixels gave rises[] is smooth. */
static __device__ int is_smooth(const RoadCuda &w, int patch, const Rises *rises, double height) {
  const RvRoadConfig &c = w.config;
  Rises r = {0, 0};
  for (int k = 0; k < w.shape.n; k++) {
    r.sum += rises[k].sum;
    r.squares += rises[k].squares;
  }
  const double square = height * height;
  return rv_road_smooth(w.valid[patch], r.sum, r.squares, w.depth[patch], c.roughness / square,
                        c.disparity_noise, c.max_roughness / square);
}

static __global__ void __launch_bounds__(ROAD_THREADS)
    samples_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvPlane disparity) {
  __shared__ Rises rises[SEGMENT_WIDTH];
  __shared__ uint8_t candidate[ROAD_SEGMENT];
  road_begin();
  const RoadShape &s = w.shape;
  const int first = blockIdx.x * ROAD_SEGMENT, patches = min(ROAD_SEGMENT, s.columns - first);
  const RvRoadPlane plane = w.frame->plane;
  const bool has_plane = plane.height > 0;
  const int p = threadIdx.x, patch = blockIdx.y * s.columns + first + p;
  if (p < ROAD_SEGMENT)
    candidate[p] = 0;
  if (has_plane && p < patches) {
    const uint32_t room =
        rv_road_room(&w.config, &plane, first + p, blockIdx.y, w.valid[patch], w.depth[patch]);
    w.room[patch] = room;
    candidate[p] = may_be_sample(w, patch, first + p, room);
  }
  __syncthreads();
  for (int x = threadIdx.x; x < patches * s.n && has_plane; x += ROAD_THREADS)
    if (candidate[x / s.n])
      rises[x] = rise_column(w, disparity, plane, first * s.n + x, first + x / s.n);
  __syncthreads();
  if (p >= ROAD_SEGMENT)
    return;
  const int found = candidate[p] && is_smooth(w, patch, rises + p * s.n, plane.height);
  road_label_start(w, patch, found, p < patches);
  const unsigned samples = __ballot_sync(0xffffffffu, found);
  if (samples && p % 32 == 0)
    atomicAdd(&w.frame->samples, __popc(samples));
}

RvStatus road_cuda_samples(const RoadCuda *w, const RvRoadJob *job) {
  return road_launch(w, samples_kernel, segments(w->shape), dim3(ROAD_THREADS), 0, job->stream, *w,
                     job->disparity);
}
