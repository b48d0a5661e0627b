/* SPDX-License-Identifier: MIT */
/* road_cuda_learn.cu: the library after a frame, by one group of blocks: updates, new models,
 * replacement, pending samples, cost tables. Frames without seeds change nothing. */
#include "road/road_cuda_clusters.cuh"

/* (4), (5), (6) for all samples of a model at once, relative to the model before the frame; by one
 * block. Clears the sums. */
static __device__ void update(const RoadCuda &w, int model, int samples, double floor) {
  const int cells = w.plan.cells;
  const int64_t matched = (int64_t)__ldcg(&w.matched[model]);
  if (matched == 0)
    return;
  const double weight = w.library.weight[model];
  const double gain = 1.0 / (w.plan.config.memory * samples);
  const double total = weight + gain * (double)matched;
  for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
    const size_t at = (size_t)model * cells + cell;
    const int64_t sum = (int64_t)w.sums[at], squares = (int64_t)w.squares[at];
    const double mean = w.library.mean[at];
    const double spread = (double)squares - 2 * mean * (double)sum + mean * mean * (double)matched;
    const double next = (weight * w.library.variance[at] + gain * spread) / total;
    w.library.variance[at] = next > floor ? next : floor;
    w.library.mean[at] = (weight * mean + gain * (double)sum) / total;
    w.sums[at] = 0;
    w.squares[at] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    w.library.weight[model] = total;
    w.matched[model] = 0;
  }
}

/* An empty slot, or that of the model with the lowest weight, except those made in this frame. */
static __device__ int slot_of(const double *weight, int models, int size, const uint8_t *taken) {
  if (models < size)
    return models;
  int lowest = -1;
  for (int j = 0; j < models; j++)
    if (!taken[j] && (lowest < 0 || weight[j] < weight[lowest]))
      lowest = j;
  return lowest;
}

/* By the first block, with all weights in shared memory: inserts the fresh models; returns the
 * number of models. */
static __device__ int insert(const RoadCuda &w, const EmRun &r, double *weight, int models,
                             double fraction) {
  __shared__ uint8_t taken[RV_ROAD_LIBRARY_MAX];
  __shared__ int slot, count;
  const int cells = w.plan.cells;
  if (threadIdx.x < RV_ROAD_LIBRARY_MAX)
    taken[threadIdx.x] = 0;
  __syncthreads();
  for (int j = 0; j < r.k; j++) {
    if (threadIdx.x == 0) {
      slot = slot_of(weight, models, w.plan.config.library_size, taken);
      taken[slot] = 1;
      weight[slot] = r.models.weight[j] * fraction / w.plan.config.memory;
      count = max(models, slot + 1);
    }
    __syncthreads();
    models = count;
    for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
      const size_t to = (size_t)slot * cells + cell, from = (size_t)j * cells + cell;
      w.library.mean[to] = r.models.mean[from];
      w.library.variance[to] = r.models.variance[from];
    }
    __syncthreads();
  }
  return models;
}

/* Copies the unmatched samples, in their order, to the other half of the buffer. */
static __device__ void keep(const RoadCuda &w, const EmRun &r) {
  const int pitch = w.plan.pitch, lane = threadIdx.x % 32;
  const int warp = group_rank() * ROAD_GROUP_WARPS + threadIdx.x / 32;
  for (int i = warp; i < r.samples; i += group_blocks() * ROAD_GROUP_WARPS) {
    const uint32_t item = w.left[i];
    int before = 0;
    for (int k = lane; k < r.samples; k += 32)
      before += w.left[k] < item;
    before = (int)rv_warp_sum(before);
    const uint32_t *from = (const uint32_t *)em_row(w, r, item);
    uint32_t *to =
        (uint32_t *)(w.pending +
                     ((size_t)(1 - r.side) * w.plan.config.min_samples + before) * pitch);
    for (int q = lane; q < pitch / 4; q += 32)
      to[q] = from[q];
  }
}

#define COUNTS_AT_ONCE 8 /* entries of a table per thread */

/* Costs of all models for a distance, by the group. */
static __device__ void tabulate(const RoadCuda &w, const RoadTable &table, int models,
                                RvRoadDistance distance) {
  const RoadPlan &plan = w.plan;
  const int thread = group_rank() * ROAD_GROUP_THREADS + threadIdx.x;
  const int threads = group_blocks() * ROAD_GROUP_THREADS;
  const int runs = rv_div_up(plan.area + 1, COUNTS_AT_ONCE);
  for (int i = thread; i < models * plan.cells * runs; i += threads) {
    const int j = i % models, cell = i / models % plan.cells, first = i / models / plan.cells;
    const size_t at = (size_t)j * plan.cells + cell;
    const double mean = __ldcg(&w.library.mean[at]), variance = __ldcg(&w.library.variance[at]);
    const uint32_t empty =
        distance == RV_ROAD_CHEBYSHEV ? 0 : rv_road_cost(distance, 0, plan.area, mean, variance);
    uint32_t *cost = table.cost + (size_t)cell * (plan.area + 1) * plan.model_pitch + j;
    const int end = min(plan.area + 1, (first + 1) * COUNTS_AT_ONCE);
    for (int count = first * COUNTS_AT_ONCE; count < end; count++)
      cost[(size_t)count * plan.model_pitch] =
          rv_road_cost(distance, count, plan.area, mean, variance) - empty;
  }
  /* By the last warps: with few models, the first ones are busy with the table. */
  for (int j = (threads - 1 - thread) / 32; j < models; j += threads / 32) {
    uint32_t base = 0;
    for (int cell = thread % 32; cell < plan.cells; cell += 32) {
      const size_t at = (size_t)j * plan.cells + cell;
      base += rv_road_cost(distance, 0, plan.area, __ldcg(&w.library.mean[at]),
                           __ldcg(&w.library.variance[at]));
    }
    base = (uint32_t)rv_warp_sum(base);
    if (thread % 32 == 0)
      table.base[j] = base;
  }
}

static __device__ __forceinline__ double floor_of_variance(const RoadPlan &plan) {
  return plan.config.variance_floor * plan.area * plan.area;
}

/* Effective dimensions of all models, one warp each, by the group. */
static __device__ void count_dimensions(const RoadCuda &w, int models) {
  const int lane = threadIdx.x % 32, warps = group_blocks() * ROAD_GROUP_WARPS;
  for (int j = group_rank() * ROAD_GROUP_WARPS + threadIdx.x / 32; j < models; j += warps) {
    int dimensions = 0;
    for (int cell = lane; cell < w.plan.cells; cell += 32)
      dimensions += rv_road_is_dimension(
          __ldcg(&w.library.variance[(size_t)j * w.plan.cells + cell]), floor_of_variance(w.plan));
    dimensions = (int)rv_warp_sum(dimensions);
    if (lane == 0)
      w.dimensions[j] = (uint32_t)dimensions;
  }
}

static __device__ void tabulate_all(const RoadCuda &w, int models) {
  count_dimensions(w, models);
  tabulate(w, w.update, models, RV_ROAD_MAHALANOBIS);
  if (w.plan.config.distance != RV_ROAD_MAHALANOBIS)
    tabulate(w, w.classify, models, w.plan.config.distance);
}

/* The two models that are most alike, by the group, one warp per pair; result in frame->alike. */
static __device__ void find_alike(const RoadCuda &w, int models) {
  const int lane = threadIdx.x % 32, cells = w.plan.cells;
  const int warps = group_blocks() * ROAD_GROUP_WARPS;
  const double *mean = w.library.mean, *variance = w.library.variance;
  unsigned long long best = 0;
  for (int p = group_rank() * ROAD_GROUP_WARPS + threadIdx.x / 32; p < models * models;
       p += warps) {
    const int i = p % models, j = p / models;
    if (i >= j)
      continue;
    uint32_t sum = 0;
    int dimensions = 0;
    for (int cell = lane; cell < cells; cell += 32) {
      const size_t a = (size_t)i * cells + cell, b = (size_t)j * cells + cell;
      const double one = __ldcg(&variance[a]), two = __ldcg(&variance[b]);
      const double larger = one > two ? one : two;
      sum += rv_road_gap_part(__ldcg(&mean[a]), __ldcg(&mean[b]), larger);
      dimensions += rv_road_is_dimension(larger, floor_of_variance(w.plan));
    }
    sum = (uint32_t)rv_warp_sum(sum);
    dimensions = (int)rv_warp_sum(dimensions);
    best = max(best, ~(unsigned long long)rv_road_gap_key(sum, dimensions, i, j));
  }
  if (lane == 0 && best)
    atomicMax(&w.frame->alike, best);
}

/* By the first block: model i becomes both, the last one takes the place of j; weights in shared
 * memory. Returns the number of models. */
static __device__ int unite(const RoadCuda &w, double *weight, int models, int i, int j) {
  const int cells = w.plan.cells, last = models - 1;
  const double u = weight[i], v = weight[j];
  for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
    const size_t a = (size_t)i * cells + cell, b = (size_t)j * cells + cell;
    const size_t c = (size_t)last * cells + cell;
    const RvRoadMoments one = {__ldcg(&w.library.mean[a]), __ldcg(&w.library.variance[a])};
    const RvRoadMoments two = {__ldcg(&w.library.mean[b]), __ldcg(&w.library.variance[b])};
    const RvRoadMoments moved = {__ldcg(&w.library.mean[c]), __ldcg(&w.library.variance[c])};
    const RvRoadMoments both = u + v > 0 ? rv_road_unite(one, u, two, v, w.plan.area) : one;
    w.library.mean[a] = both.mean;
    w.library.variance[a] = both.variance;
    if (last != j) {
      w.library.mean[b] = moved.mean;
      w.library.variance[b] = moved.variance;
    }
  }
  __syncthreads(); /* u and v are read */
  if (threadIdx.x == 0) {
    const double moved = weight[last];
    weight[i] = u + v;
    if (last != j)
      weight[j] = moved;
  }
  __syncthreads();
  return last;
}

/* By the first block: all weights to shared memory. */
static __device__ void load_weights(const RoadCuda &w, double *weight, int models) {
  if (threadIdx.x < models)
    weight[threadIdx.x] = __ldcg(&w.library.weight[threadIdx.x]);
  __syncthreads();
}

/* The pair of models that is to be merged, for all blocks, after all of them have finished the
 * models; 0: none. */
static __device__ unsigned long long pair_to_merge(const RoadCuda &w, int models) {
  if (w.plan.config.merge_threshold <= 0)
    return 0;
  find_alike(w, models);
  group_sync();
  const unsigned long long alike = __ldcg(&w.frame->alike);
  return alike && rv_road_is_alike(~alike, w.plan.config.merge_threshold) ? alike : 0;
}

/* By the first block, with all weights in shared memory: merges a pair, normalizes the weights,
 * updates state and report. `kept` samples are pending. */
static __device__ void finish(const RoadCuda &w, const EmRun &r, double *weight, int models,
                              unsigned long long pair, int iterations, int kept, int samples) {
  __shared__ double sum;
  if (pair)
    models = unite(w, weight, models, (int)(~pair & 255), (int)(~pair >> 8 & 255));
  if (threadIdx.x == 0) {
    sum = 0;
    for (int j = 0; j < models; j++)
      sum = sum + weight[j];
    w.state->models = models;
    w.state->pending = kept;
    w.state->side = kept ? 1 - r.side : r.side;
    w.frame->samples_matched = samples - r.samples;
    w.frame->models_added = iterations ? r.k : 0;
    w.frame->iterations = iterations;
  }
  __syncthreads();
  if (threadIdx.x < models)
    w.library.weight[threadIdx.x] = sum > 0 ? weight[threadIdx.x] / sum : weight[threadIdx.x];
}

/* By the first block, for all blocks. */
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
  const RoadPlan &plan = w.plan;
  __shared__ double weight[RV_ROAD_LIBRARY_MAX]; /* of the first block */
  const int seeds = road_seeds(w), rank = group_rank();
  if (seeds == 0)
    return;
  int models = w.state->models;
  EmRun r = {};
  r.shared = (RoadEm *)memory;
  r.pending = w.state->pending;
  r.side = w.state->side;
  r.samples = w.frame->left;
  r.floor_of_variance = w.plan.config.variance_floor * plan.area * plan.area;
  const int samples = r.pending + seeds, each = rv_div_up(r.samples, group_blocks());
  r.first = min(rank * each, r.samples);
  r.last = min(r.first + each, r.samples);
  const size_t mine = (size_t)rank * plan.models;
  r.models = {w.fresh.mean + mine * plan.cells, w.fresh.variance + mine * plan.cells,
              w.fresh.weight + mine};
  for (int j = rank; j < models; j += group_blocks())
    update(w, j, samples, r.floor_of_variance);
  int iterations = 0, kept = 0;
  const bool is_enough = r.samples >= plan.config.min_samples;
  const bool learns = is_enough && (models == 0 || !rv_road_are_outliers(r.samples, samples,
                                                                         w.plan.config.min_share));
  if (learns) {
    const int given = models ? w.plan.config.new_models : w.plan.config.initial_models;
    const int k = w.plan.config.estimate_models ? estimate(w, r) : given;
    const size_t bytes = (size_t)k * plan.cells * (plan.area + 1) * sizeof(uint32_t);
    r.table = bytes <= (size_t)w.shared_table ? (uint32_t *)(memory + sizeof(RoadEm)) : NULL;
    if (k > 1)
      iterations = em_run(w, r, k);
    else if (rank == 0)
      iterations = em_single(w, r);
  } else if (!is_enough) {
    keep(w, r);
    kept = r.samples;
  }
  group_sync();
  if (rank == 0)
    load_weights(w, weight, models);
  if (learns) {
    if (rank == 0)
      models = insert(w, r, weight, models, (double)r.samples / samples);
    if (rank == 0 && threadIdx.x == 0)
      w.state->models = models;
    group_sync();
    models = __ldcg(&w.state->models);
  }
  const unsigned long long pair = pair_to_merge(w, models);
  if (rank == 0)
    finish(w, r, weight, models, pair, iterations, kept, samples);
  const int thread = rank * ROAD_GROUP_THREADS + threadIdx.x;
  for (int i = thread; i < plan.cells * (plan.area + 1); i += group_blocks() * ROAD_GROUP_THREADS)
    w.unmatched[i] = 0; /* all blocks have finished reading */
  if (pair)             /* else the models are as all blocks have seen them */
    group_sync();
  tabulate_all(w, models - (pair != 0));
}

static __global__ void __launch_bounds__(ROAD_GROUP_THREADS, 1)
    tabulate_kernel(const __grid_constant__ RoadCuda w) {
  road_begin();
  tabulate_all(w, w.state->models);
}

RvStatus road_cuda_open_learn(RoadCuda *w) {
  const RvLog *log = &w->plan.config.log;
  const RoadPlan &plan = w->plan;
  int id = 0, has_clusters = 0;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  RV_CU(log, cudaGetDevice(&id));
  RV_CU(log, cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, id));
  w->blocks = has_clusters ? ROAD_GROUP_MAX : 1;
  /* The kernel's static variables, less than 2048 bytes, use these 1024 and those that
   * rv_cuda_device leaves free. */
  const size_t space = device.shared - sizeof(RoadEm) - 1024;
  const size_t model = (size_t)plan.cells * (plan.area + 1) * sizeof(uint32_t);
  const size_t all = model * plan.models;
  w->shared_table = (int)(all <= space ? all : model <= space ? space / model * model : 0);
  /* The limit belongs to the kernel, not to the object: it is the same for all objects. */
  RV_CU(log, cudaFuncSetAttribute(learn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)(sizeof(RoadEm) + space)));
  return RV_OK;
}

RvStatus road_cuda_learn(const RoadCuda *w, RvStream stream) {
  return group_launch(w, learn_kernel, sizeof(RoadEm) + w->shared_table, stream);
}

RvStatus road_cuda_tabulate(const RoadCuda *w, RvStream stream) {
  return group_launch(w, tabulate_kernel, 0, stream);
}
