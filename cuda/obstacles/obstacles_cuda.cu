/* SPDX-License-Identifier: MIT */
/* obstacles_cuda.cu: the CUDA engine of obstacles and free space: memory, rasters of records,
 * distances of foreign boxes. */
#include "obstacles/obstacles_cuda.cuh"

#define RASTER_THREADS 256
#define RECT_THREADS 256

/* --- Memory ---------------------------------------------------------------------------------- */

static void layout(void *memory, const void *plan, RvArena *arena) {
  ObstaclesCuda *w = (ObstaclesCuda *)memory;
  const RvObstaclesPlan *p = (const RvObstaclesPlan *)plan;
  const size_t strips = (size_t)p->strips, runs = strips * RV_OBSTACLES_RUNS;
  const size_t coarse = strips * RV_OBSTACLES_COARSE;
  w->tables = (RvObstaclesTables *)rv_arena_take(arena, sizeof *w->tables);
  w->frame = (ObstaclesFrame *)rv_arena_take(arena, sizeof *w->frame);
  w->raster = p->config.input == RV_OBSTACLES_DISPARITY
                  ? NULL
                  : (uint16_t *)rv_arena_take(arena, (size_t)p->width * (size_t)p->height * 2);
  w->depth = (RvObstaclesDepthRow *)rv_arena_take(arena, (size_t)p->depths * sizeof *w->depth);
  w->column = (int32_t *)rv_arena_take(arena, (size_t)p->width * sizeof *w->column);
  w->votes = (uint32_t *)rv_arena_take(arena, strips * RV_OBSTACLES_FINE * sizeof *w->votes);
  w->data = (int16_t *)rv_arena_take(arena, coarse * sizeof *w->data);
  w->evidence = (uint8_t *)rv_arena_take(arena, coarse);
  w->ground = (uint32_t *)rv_arena_take(arena, coarse / 8);
  w->valid = (uint8_t *)rv_arena_take(arena, strips);
  w->runs = (RvObstaclesRun *)rv_arena_take(arena, runs * sizeof *w->runs);
  w->run_count = (int32_t *)rv_arena_take(arena, strips * sizeof *w->run_count);
  w->from = (uint8_t *)rv_arena_take(arena, coarse);
  w->path = (uint8_t *)rv_arena_take(arena, strips);
  w->limits = (ObstaclesLimit *)rv_arena_take(arena, strips * sizeof *w->limits);
  w->label = (int32_t *)rv_arena_take(arena, runs * sizeof *w->label);
  w->order = (int32_t *)rv_arena_take(arena, runs * sizeof *w->order);
  w->rank = (int32_t *)rv_arena_take(arena, runs * sizeof *w->rank);
  w->components = (ObstaclesComponent *)rv_arena_take(arena, runs * sizeof *w->components);
  w->boxes = (RvObstacleBox *)rv_arena_take(arena, runs * sizeof *w->boxes);
  w->keys = (uint64_t *)rv_arena_take(arena, runs * sizeof *w->keys);
}

static RvStatus open(void *memory, const void *plan) {
  ObstaclesCuda *w = (ObstaclesCuda *)memory;
  const RvObstaclesPlan *p = (const RvObstaclesPlan *)plan;
  const RvLog *log = &p->config.log;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  w->overlaps = device.overlaps;
  w->plan = *p;
  w->plan.tables = w->tables;
  RV_CU(log, cudaMemcpy(w->tables, p->tables, sizeof *w->tables, cudaMemcpyHostToDevice));
  RV_CU(log, cudaMemset(w->frame, 0, sizeof *w->frame));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* work of later streams is ordered after this */
  RV_TRY(obstacles_cuda_open_boxes(log));
  return obstacles_cuda_open_space(w, device.shared);
}

/* --- Raster ---------------------------------------------------------------------------------- */

static __device__ void draw(const RvObstaclesPlan &p, const RvPlane &raster, const RvStixel &s) {
  const int right = rv_min(s.column + p.config.stixel_width, p.width);
  for (int y = s.v_top; y <= rv_min(s.v_bottom, p.height - 1); y++) {
    const uint16_t value = rv_obstacles_stixel(&s, y);
    for (int x = s.column; x < right; x++)
      rv_row<uint16_t>(raster, y)[x] = value;
  }
}

static __device__ void draw(const RvObstaclesPlan &p, const RvPlane &raster, const RvSegment &s) {
  for (int y = s.first; s.column < p.width && y <= rv_min(s.last, p.height - 1); y++)
    rv_row<uint16_t>(raster, y)[s.column] = rv_obstacles_segment(&s, y);
}

template <class Record>
static __global__ void __launch_bounds__(RASTER_THREADS)
    raster_kernel(const __grid_constant__ RvObstaclesPlan p, RvPlane raster, const Record *records,
                  int count) {
  rv_launch_wait();
  rv_launch_next();
  const int k = blockIdx.x * RASTER_THREADS + threadIdx.x;
  if (k < count) {
    const Record record = records[k];
    draw(p, raster, record);
  }
}

/* Records do not overlap, or agree where they do. */
static RvStatus raster(void *memory, RvObstaclesJob *job) {
  const ObstaclesCuda *w = (ObstaclesCuda *)memory;
  const RvObstaclesPlan *p = &w->plan;
  const ptrdiff_t stride = 2 * (ptrdiff_t)p->width;
  const int count = (int)job->source.count;
  const int blocks = rv_max(rv_div_up(count, RASTER_THREADS), 1);
  job->disparity = {w->raster, stride, p->width, p->height, RV_U16};
  RV_CU(&p->config.log,
        cudaMemsetAsync(w->raster, 0, (size_t)stride * (size_t)p->height, job->stream));
  if (p->config.input == RV_OBSTACLES_STIXELS)
    return obstacles_launch(w, raster_kernel<RvStixel>, blocks, RASTER_THREADS, 0, job->stream, *p,
                            job->disparity, job->source.stixels, count);
  return obstacles_launch(w, raster_kernel<RvSegment>, blocks, RASTER_THREADS, 0, job->stream, *p,
                          job->disparity, job->source.segments, count);
}

/* --- Distances ------------------------------------------------------------------------------- */

namespace {
/* The boxes that hide parts of another one. */
struct Hiding {
  RvObstaclesRect list[RV_OBSTACLES_BOXES];
  int count;
};
} // namespace

static __device__ bool is_hidden(const Hiding &hiding, int x, int y) {
  for (int k = 0; k < hiding.count; k++)
    if (rv_obstacles_contains(&hiding.list[k], x, y))
      return true;
  return false;
}

/* Counts as the CPU engine has them, of all pixels and of those that are not hidden, NULL: not wanted; the
 * histograms are complete after the next barrier. */
static __device__ void count_values(const RvPlane &plane, const RvObstaclesRect &part,
                                    const Hiding &hiding, int high, unsigned *all,
                                    unsigned *clear) {
  for (int i = threadIdx.x; i < part.w * part.h; i += RECT_THREADS) {
    const int y = part.y + i / part.w, x = part.x + i % part.w,
              value = rv_row<const uint16_t>(plane, y)[x];
    if (!value || (high >= 0 && value >> 8 != high))
      continue;
    const int k = high < 0 ? value >> 8 : value & 255;
    if (all)
      atomicAdd(&all[k], 1u);
    if (clear && !is_hidden(hiding, x, y))
      atomicAdd(&clear[k], 1u);
  }
}

static __device__ unsigned sum_of(const unsigned *histogram) {
  unsigned count = 0;
  for (int k = 0; k < 256; k++)
    count += histogram[k];
  return count;
}

static __device__ int find_rank(const unsigned *histogram, unsigned *rank) {
  int k = 0;
  for (; k < 255 && histogram[k] <= *rank; k++)
    *rank -= histogram[k];
  return k;
}

static __global__ void __launch_bounds__(RECT_THREADS)
    distances_kernel(const RvPlane plane, const RvObstaclesRect *rects, int boxes,
                     RvObstaclesDepth *depths) {
  __shared__ Hiding hiding;
  __shared__ unsigned histogram[3][256]; /* of all upper halves, those not hidden, lower halves */
  __shared__ unsigned rank, count;
  __shared__ int high, first; /* `first`: 0 when all count, 1 when what is hidden does not */
  rv_launch_wait();
  rv_launch_next();
  const RvObstaclesRect box = rects[blockIdx.x], part = rv_obstacles_inner(&box, &plane);
  for (int k = 0; k < 3; k++)
    histogram[k][threadIdx.x] = 0;
  if (threadIdx.x == 0)
    hiding.count = 0;
  __syncthreads();
  if (threadIdx.x < boxes && rv_obstacles_hides(&rects[threadIdx.x], &box, &part))
    hiding.list[atomicAdd(&hiding.count, 1)] = rects[threadIdx.x];
  __syncthreads();
  count_values(plane, part, hiding, -1, histogram[0], histogram[1]);
  __syncthreads();
  if (threadIdx.x == 0) {
    count = sum_of(histogram[0]);
    const unsigned clear = sum_of(histogram[1]);
    first = !rv_obstacles_is_hidden(clear, count);
    rank = rv_obstacles_rank(first ? clear : count);
    high = count ? find_rank(histogram[first], &rank) : 0;
  }
  __syncthreads();
  count_values(plane, part, hiding, high, first ? NULL : histogram[2], first ? histogram[2] : NULL);
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  RvObstaclesDepth depth = {0, 0, 0};
  if (count) {
    unsigned left = rank;
    depth.disparity = (uint16_t)(high << 8 | find_rank(histogram[2], &left));
    depth.valid = rv_obstacles_fraction(count, part.w, part.h);
  }
  depths[blockIdx.x] = depth;
}

static RvStatus distances(void *memory, RvObstaclesJob *job) {
  const ObstaclesCuda *w = (ObstaclesCuda *)memory;
  static_assert(RECT_THREADS == 256 && RV_OBSTACLES_BOXES <= RECT_THREADS,
                "one thread per entry of a histogram, and per box");
  return obstacles_launch(w, distances_kernel, job->rects.count, RECT_THREADS, 0, job->stream,
                          job->disparity, job->rects.list, job->rects.count, job->rects.depths);
}

/* --- Stages ---------------------------------------------------------------------------------- */

static RvStatus strips(void *memory, RvObstaclesJob *job) {
  return obstacles_cuda_strips((ObstaclesCuda *)memory, job);
}

static RvStatus space(void *memory, RvObstaclesJob *job) {
  return obstacles_cuda_space((ObstaclesCuda *)memory, job);
}

static RvStatus boxes(void *memory, RvObstaclesJob *job) {
  return obstacles_cuda_boxes((ObstaclesCuda *)memory, job);
}

RV_ENGINE(RvObstacles, obstacles, cuda, ObstaclesCuda, layout, open, nullptr, raster, strips, space,
          boxes, distances);
