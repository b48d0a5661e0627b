/* SPDX-License-Identifier: MIT */
/* road_cuda_learn.cu: the library after a frame, by one group of blocks: updates, new models,
 * replacement, samples that wait, cost tables. Nothing happens in frames without seeds. */
#include "road/road_cuda_clusters.cuh"

/* (4), (5), (6) for all samples of a model at once, against the model as it was; a model at a time,
 * by one block. Clears the sums. */
static __device__ void update(const RoadCuda &w, int model, int samples, double least) {
  const int cells = w.shape.cells;
  const int64_t matched = (int64_t)__ldcg(&w.matched[model]);
  if (matched == 0)
    return;
  const double weight = w.library.weight[model], gain = 1.0 / samples;
  const double whole = weight + gain * (double)matched;
  for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
    const size_t at = (size_t)model * cells + cell;
    const int64_t sum = (int64_t)w.sums[at], squares = (int64_t)w.squares[at];
    const double mean = w.library.mean[at];
    const double spread = (double)squares - 2 * mean * (double)sum + mean * mean * (double)matched;
    const double next = (weight * w.library.variance[at] + gain * spread) / whole;
    w.library.variance[at] = next > least ? next : least;
    w.library.mean[at] = (weight * mean + gain * (double)sum) / whole;
    w.sums[at] = 0;
    w.squares[at] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    w.library.weight[model] = whole;
    w.matched[model] = 0;
  }
}

/* An empty place, or that of the lightest of the models that are older than this frame. */
static __device__ int place_of(const double *weight, int models, int size, const uint8_t *taken) {
  if (models < size)
    return models;
  int lightest = -1;
  for (int j = 0; j < models; j++)
    if (!taken[j] && (lightest < 0 || weight[j] < weight[lightest]))
      lightest = j;
  return lightest;
}

/* By the first block, which has all weights in shared memory: the fresh models take their places;
 * returns how many models there are. */
static __device__ int insert(const RoadCuda &w, const EmRun &r, double *weight, int models,
                             double part) {
  __shared__ uint8_t taken[RV_ROAD_LIBRARY_MAX];
  __shared__ int place, count;
  const int cells = w.shape.cells;
  if (threadIdx.x < RV_ROAD_LIBRARY_MAX)
    taken[threadIdx.x] = 0;
  __syncthreads();
  for (int j = 0; j < r.k; j++) {
    if (threadIdx.x == 0) {
      place = place_of(weight, models, w.shape.library, taken);
      taken[place] = 1;
      weight[place] = r.models.weight[j] * part;
      count = max(models, place + 1);
    }
    __syncthreads();
    models = count;
    for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
      const size_t to = (size_t)place * cells + cell, from = (size_t)j * cells + cell;
      w.library.mean[to] = r.models.mean[from];
      w.library.variance[to] = r.models.variance[from];
    }
    __syncthreads();
  }
  return models;
}

/* The samples that are left wait, in their order, in the other half of the buffer. */
static __device__ void keep(const RoadCuda &w, const EmRun &r) {
  const int pitch = w.shape.pitch, lane = threadIdx.x % 32;
  const int warp = group_rank() * ROAD_GROUP_WARPS + threadIdx.x / 32;
  for (int i = warp; i < r.samples; i += group_blocks() * ROAD_GROUP_WARPS) {
    const uint32_t item = w.left[i];
    int before = 0;
    for (int k = lane; k < r.samples; k += 32)
      before += w.left[k] < item;
    before = (int)warp_sum(before);
    const uint32_t *from = (const uint32_t *)em_row(w, r, item);
    uint32_t *to =
        (uint32_t *)(w.waiting + ((size_t)(1 - r.side) * w.shape.min_samples + before) * pitch);
    for (int q = lane; q < pitch / 4; q += 32)
      to[q] = from[q];
  }
}

#define COUNTS_AT_ONCE 8 /* entries of a table that a thread makes */

/* Costs of all models for a distance, by the whole group. */
static __device__ void tabulate(const RoadCuda &w, const RoadTable &table, int models,
                                RvRoadDistance distance) {
  const RoadShape &s = w.shape;
  const int thread = group_rank() * ROAD_GROUP_THREADS + threadIdx.x;
  const int threads = group_blocks() * ROAD_GROUP_THREADS;
  const int runs = rv_div_up(s.area + 1, COUNTS_AT_ONCE);
  for (int i = thread; i < models * s.cells * runs; i += threads) {
    const int j = i % models, cell = i / models % s.cells, first = i / models / s.cells;
    const size_t at = (size_t)j * s.cells + cell;
    const double mean = __ldcg(&w.library.mean[at]), variance = __ldcg(&w.library.variance[at]);
    const uint32_t empty =
        distance == RV_ROAD_CHEBYSHEV ? 0 : rv_road_cost(distance, 0, s.area, mean, variance);
    uint32_t *cost = table.cost + (size_t)cell * (s.area + 1) * s.model_pitch + j;
    const int end = min(s.area + 1, (first + 1) * COUNTS_AT_ONCE);
    for (int count = first * COUNTS_AT_ONCE; count < end; count++)
      cost[(size_t)count * s.model_pitch] =
          rv_road_cost(distance, count, s.area, mean, variance) - empty;
  }
  /* By the last warps: where there are few models, the first ones are busy with the table. */
  for (int j = (threads - 1 - thread) / 32; j < models; j += threads / 32) {
    uint32_t base = 0;
    for (int cell = thread % 32; cell < s.cells; cell += 32) {
      const size_t at = (size_t)j * s.cells + cell;
      base += rv_road_cost(distance, 0, s.area, __ldcg(&w.library.mean[at]),
                           __ldcg(&w.library.variance[at]));
    }
    base = (uint32_t)warp_sum(base);
    if (thread % 32 == 0)
      table.base[j] = base;
  }
}

static __device__ void tabulate_all(const RoadCuda &w) {
  const int models = __ldcg(&w.state->models);
  tabulate(w, w.update, models, RV_ROAD_MAHALANOBIS);
  if (w.config.distance != RV_ROAD_MAHALANOBIS)
    tabulate(w, w.classify, models, w.config.distance);
}

/* By the first block: new models in their places, weights that sum to 1, and what is kept. */
static __device__ void settle(const RoadCuda &w, const EmRun &r, int models, int iterations,
                              int samples) {
  __shared__ double weight[RV_ROAD_LIBRARY_MAX], sum;
  if (threadIdx.x < models)
    weight[threadIdx.x] = __ldcg(&w.library.weight[threadIdx.x]);
  __syncthreads();
  if (iterations)
    models = insert(w, r, weight, models, (double)r.samples / samples);
  if (threadIdx.x == 0) {
    sum = 0;
    for (int j = 0; j < models; j++)
      sum = sum + weight[j];
    w.state->models = models;
    w.state->waiting = iterations ? 0 : r.samples;
    w.state->side = iterations ? r.side : 1 - r.side;
    w.frame->updated = samples - r.samples;
    w.frame->learnt = iterations ? r.k : 0;
    w.frame->iterations = iterations;
  }
  __syncthreads();
  if (threadIdx.x < models)
    w.library.weight[threadIdx.x] = sum > 0 ? weight[threadIdx.x] / sum : weight[threadIdx.x];
}

/* The first block finds out, all blocks learn it. */
static __device__ int estimate(const RoadCuda &w, const EmRun &r) {
  if (group_rank() == 0) {
    const int k = clusters(w, r);
    if (threadIdx.x == 0)
      w.frame->clusters = k;
  }
  group_sync();
  return __ldcg(&w.frame->clusters);
}

static __global__ void __launch_bounds__(ROAD_GROUP_THREADS, 1)
    learn_kernel(const __grid_constant__ RoadCuda w) {
  extern __shared__ __align__(16) char memory[];
  road_begin();
  const RoadShape &s = w.shape;
  const int seeds = (int)(w.frame->largest >> 32), rank = group_rank();
  if (seeds == 0)
    return;
  const int models = w.state->models;
  EmRun r = {};
  r.shared = (RoadEm *)memory;
  r.waiting = w.state->waiting;
  r.side = w.state->side;
  r.samples = w.frame->left;
  r.floor_of_variance = w.config.variance_floor * s.area * s.area;
  const int samples = r.waiting + seeds, each = rv_div_up(r.samples, group_blocks());
  r.first = min(rank * each, r.samples);
  r.last = min(r.first + each, r.samples);
  const size_t mine = (size_t)rank * s.models_em;
  r.models = {w.fresh.mean + mine * s.cells, w.fresh.variance + mine * s.cells,
              w.fresh.weight + mine};
  for (int j = rank; j < models; j += group_blocks())
    update(w, j, samples, r.floor_of_variance);
  int iterations = 0;
  if (r.samples >= s.min_samples) {
    const int given = models ? w.config.new_models : w.config.initial_models;
    const int k = w.config.estimate_models ? estimate(w, r) : given;
    const size_t bytes = (size_t)k * s.cells * (s.area + 1) * sizeof(uint32_t);
    r.table = bytes <= (size_t)w.shared_table ? (uint32_t *)(memory + sizeof(RoadEm)) : NULL;
    if (k > 1)
      iterations = em_run(w, r, k);
    else if (rank == 0)
      iterations = em_single(w, r);
  } else {
    keep(w, r);
  }
  group_sync();
  if (rank == 0)
    settle(w, r, models, iterations, samples);
  const int thread = rank * ROAD_GROUP_THREADS + threadIdx.x;
  for (int i = thread; i < s.cells * (s.area + 1); i += group_blocks() * ROAD_GROUP_THREADS)
    w.unmatched[i] = 0; /* all blocks have passed the last reader */
  group_sync();
  tabulate_all(w);
}

static __global__ void __launch_bounds__(ROAD_GROUP_THREADS, 1)
    tabulate_kernel(const __grid_constant__ RoadCuda w) {
  road_begin();
  tabulate_all(w);
}

RvStatus road_cuda_open_learn(RoadCuda *w) {
  const RvLog *log = &w->config.log;
  const RoadShape &s = w->shape;
  int device = 0, has_clusters = 0, shared = 0;
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device));
  RV_CU(log, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  w->blocks = has_clusters ? ROAD_GROUP_MAX : 1;
  const size_t room = shared - sizeof(RoadEm) - 2048; /* static variables of the kernel */
  const size_t model = (size_t)s.cells * (s.area + 1) * sizeof(uint32_t);
  const size_t all = model * s.models_em;
  w->shared_table = (int)(all <= room ? all : model <= room ? room / model * model : 0);
  /* The limit belongs to the kernel, not to the object: the same for all of them. */
  RV_CU(log, cudaFuncSetAttribute(learn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)(sizeof(RoadEm) + room)));
  return RV_OK;
}

RvStatus road_cuda_learn(const RoadCuda *w, RvStream stream) {
  return group_launch(w, learn_kernel, sizeof(RoadEm) + w->shared_table, stream);
}

RvStatus road_cuda_tabulate(const RoadCuda *w, RvStream stream) {
  return group_launch(w, tabulate_kernel, 0, stream);
}
