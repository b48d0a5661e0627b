/* SPDX-License-Identifier: MIT */
/* road_cuda_learn.cu: the library after a frame, by one group of blocks: updates, new models,
 * replacement, pending samples, cost tables. Frames without seeds change nothing. */
#include "road/road_cuda_clusters.cuh"

#define FEW 8   /* models that each block updates and compares by itself */
#define MANY 16 /* models in a library whose tables are made by the whole GPU */

namespace {

/* (4), (5), (6) for all samples of a model at once, relative to the model before the frame. */
struct RoadGain {
  double weight, gain, total, matched;

  __device__ __forceinline__ RoadGain(const RoadCuda &w, int model, int samples, int64_t count)
      : weight(__ldcg(&w.library.weight[model])), gain(1.0 / (w.plan.config.memory * samples)),
        total(weight + gain * (double)count), matched((double)count) {}

  __device__ __forceinline__ RvRoadMoments of(RvRoadMoments m, int64_t sum, int64_t squares,
                                              double floor) const {
    const double spread = (double)squares - 2 * m.mean * (double)sum + m.mean * m.mean * matched;
    const double next = (weight * m.variance + gain * spread) / total;
    return {(weight * m.mean + gain * (double)sum) / total, next > floor ? next : floor};
  }
};

} // namespace

static __device__ __forceinline__ int64_t matched_of(const RoadCuda &w, int model) {
  return (int64_t)__ldcg(&w.matched[model]);
}

static __device__ __forceinline__ RvRoadMoments moments_of(const RoadCuda &w, size_t at) {
  return {__ldcg(&w.library.mean[at]), __ldcg(&w.library.variance[at])};
}

/* The same in memory, by one block. Clears the sums. */
static __device__ void update(const RoadCuda &w, int model, int samples, double floor) {
  const int64_t matched = matched_of(w, model);
  if (matched == 0)
    return;
  const RoadGain gain(w, model, samples, matched);
  for (int cell = threadIdx.x; cell < w.plan.cells; cell += ROAD_GROUP_THREADS) {
    const size_t at = (size_t)model * w.plan.cells + cell;
    const RvRoadMoments next =
        gain.of(moments_of(w, at), (int64_t)w.sums[at], (int64_t)w.squares[at], floor);
    w.library.mean[at] = next.mean;
    w.library.variance[at] = next.variance;
    w.sums[at] = 0;
    w.squares[at] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    w.library.weight[model] = gain.total;
    w.matched[model] = 0;
  }
}

/* --- The library of a block ------------------------------------------------------------------ */

namespace {

/* Every block has all models after the frame, in shared memory if they fit. */
struct Known {
  double *mean, *variance, *scale; /* [model][cell]; scale: 256 / variance, or NULL */
  double *weight;
};

} // namespace

static __device__ Known known_of(const RoadCuda &w, char *memory, double *weight) {
  const size_t values = (size_t)w.plan.config.library_size * w.plan.cells;
  double *at = w.known ? w.known + 3 * values * group_rank() : (double *)memory;
  return {at, at + values, at + 2 * values, weight};
}

/* Loads the models when no sums wait. */
static __device__ void load_updated(const RoadCuda &w, const Known &k, int models) {
#pragma unroll 4
  for (int i = threadIdx.x; i < models * w.plan.cells; i += ROAD_GROUP_THREADS) {
    const RvRoadMoments m = moments_of(w, i);
    k.mean[i] = m.mean;
    k.variance[i] = m.variance;
    k.scale[i] = 256 / m.variance;
  }
  if (threadIdx.x < models)
    k.weight[threadIdx.x] = __ldcg(&w.library.weight[threadIdx.x]);
  __syncthreads();
}

/* Loads the models, with the update of those whose sums are not added yet. */
static __device__ void load(const RoadCuda &w, const Known &k, int models, int samples,
                            double floor) {
  const int cells = w.plan.cells;
#pragma unroll 2
  for (int i = threadIdx.x; i < models * cells; i += ROAD_GROUP_THREADS) {
    const int64_t sum = (int64_t)__ldcg(&w.sums[i]), squares = (int64_t)__ldcg(&w.squares[i]);
    const int64_t matched = matched_of(w, i / cells);
    RvRoadMoments m = moments_of(w, i);
    if (matched)
      m = RoadGain(w, i / cells, samples, matched).of(m, sum, squares, floor);
    k.mean[i] = m.mean;
    k.variance[i] = m.variance;
    k.scale[i] = 256 / m.variance;
  }
  if (threadIdx.x < models) {
    const int64_t matched = matched_of(w, threadIdx.x);
    const RoadGain gain(w, threadIdx.x, samples, matched);
    k.weight[threadIdx.x] = matched ? gain.total : gain.weight;
  }
  __syncthreads();
}

/* By the group, when all blocks have loaded the models: stores them, and clears the sums of the
 * `before` models of the library before. */
static __device__ void store(const RoadCuda &w, const Known &k, int models, int before) {
  const int thread = group_rank() * ROAD_GROUP_THREADS + threadIdx.x, cells = w.plan.cells;
  for (int i = thread; i < before * cells; i += group_blocks() * ROAD_GROUP_THREADS) {
    w.sums[i] = 0;
    w.squares[i] = 0;
  }
  for (int i = thread; i < models * cells; i += group_blocks() * ROAD_GROUP_THREADS) {
    w.library.mean[i] = k.mean[i];
    w.library.variance[i] = k.variance[i];
  }
  if (thread < before)
    w.matched[thread] = 0;
}

/* --- New models ------------------------------------------------------------------------------ */

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

/* --- Tables ---------------------------------------------------------------------------------- */

#define COUNTS_AT_ONCE 8 /* entries of a table per thread */

namespace {

/* Of a cell of a model. */
struct Cell {
  double mean, variance, scale;

  __device__ __forceinline__ Cell(const Known &k, int at)
      : mean(k.mean[at]), variance(k.variance[at]), scale(k.scale ? k.scale[at] : 256 / variance) {}

  __device__ __forceinline__ uint32_t cost(const RoadPlan &plan, RvRoadDistance distance,
                                           int count) const {
    return distance == RV_ROAD_MAHALANOBIS
               ? rv_road_scaled_cost(count, mean, scale)
               : rv_road_cost(distance, count, plan.area, mean, variance);
  }
};

} // namespace

/* Costs of all models for a distance, by `threads` threads, this one the number `thread`. */
static __device__ void tabulate(const RoadCuda &w, const Known &k, const RoadTable &table,
                                int models, RvRoadDistance distance, int thread, int threads) {
  const RoadPlan &plan = w.plan;
  const int runs = rv_div_up(plan.area + 1, COUNTS_AT_ONCE);
  for (int i = thread; i < models * plan.cells * runs; i += threads) {
    const int j = i % models, cell = i / models % plan.cells, first = i / models / plan.cells;
    const Cell model(k, j * plan.cells + cell);
    const uint32_t empty = distance == RV_ROAD_CHEBYSHEV ? 0 : model.cost(plan, distance, 0);
    uint32_t *cost = table.cost + (size_t)cell * (plan.area + 1) * plan.model_pitch + j;
    const int end = min(plan.area + 1, (first + 1) * COUNTS_AT_ONCE);
    for (int count = first * COUNTS_AT_ONCE; count < end; count++)
      cost[(size_t)count * plan.model_pitch] = model.cost(plan, distance, count) - empty;
  }
  /* By the last warps: with few models, the first ones are busy with the table. */
  for (int j = (threads - 1 - thread) / 32; j < models; j += threads / 32) {
    uint32_t base = 0;
    for (int cell = thread % 32; cell < plan.cells; cell += 32)
      base += Cell(k, j * plan.cells + cell).cost(plan, distance, 0);
    base = (uint32_t)rv_warp_sum(base);
    if (thread % 32 == 0)
      table.base[j] = base;
  }
}

static __device__ __forceinline__ double floor_of_variance(const RoadPlan &plan) {
  return plan.config.variance_floor * plan.area * plan.area;
}

/* Effective dimensions of all models, one warp each. */
static __device__ void count_dimensions(const RoadCuda &w, const Known &k, int models, int thread,
                                        int threads) {
  const int lane = threadIdx.x % 32;
  for (int j = thread / 32; j < models; j += threads / 32) {
    int dimensions = 0;
    for (int cell = lane; cell < w.plan.cells; cell += 32)
      dimensions +=
          rv_road_is_dimension(k.variance[j * w.plan.cells + cell], floor_of_variance(w.plan));
    dimensions = (int)rv_warp_sum(dimensions);
    if (lane == 0)
      w.dimensions[j] = (uint32_t)dimensions;
  }
}

static __device__ void tabulate_all(const RoadCuda &w, const Known &k, int models, int thread,
                                    int threads) {
  count_dimensions(w, k, models, thread, threads);
  tabulate(w, k, w.update, models, RV_ROAD_MAHALANOBIS, thread, threads);
  if (w.plan.config.distance != RV_ROAD_MAHALANOBIS)
    tabulate(w, k, w.classify, models, w.plan.config.distance, thread, threads);
}

/* --- Models that are alike ------------------------------------------------------------------- */

/* ~ of the least key of this warp's share of the pairs of models, by `warps` from `warp` on; 0:
 * none. */
static __device__ unsigned long long find_alike(const RoadCuda &w, const Known &k, int models,
                                                int warp, int warps) {
  const int lane = threadIdx.x % 32, cells = w.plan.cells;
  unsigned long long best = 0;
  const int round = models | 1; /* of an odd number each pair once, by its distance in a circle */
  for (int p = warp; p < round * (round / 2); p += warps) {
    const int one = p % round, sum_of = one + p / round + 1;
    const int other = sum_of < round ? sum_of : sum_of - round;
    const int i = min(one, other), j = max(one, other);
    if (j >= models)
      continue;
    uint32_t sum = 0;
    int dimensions = 0;
#pragma unroll 2
    for (int cell = lane; cell < cells; cell += 32) {
      const int a = i * cells + cell, b = j * cells + cell;
      /* Division is monotone: this is 256 / the larger variance. */
      sum += rv_road_gap_scaled(k.mean[a], k.mean[b],
                                k.scale[a] < k.scale[b] ? k.scale[a] : k.scale[b]);
      const double one = k.variance[a], two = k.variance[b];
      dimensions += rv_road_is_dimension(one > two ? one : two, floor_of_variance(w.plan));
    }
    sum = (uint32_t)rv_warp_sum(sum);
    dimensions = (int)rv_warp_sum(dimensions);
    best = max(best, ~(unsigned long long)rv_road_gap_key(sum, dimensions, i, j));
  }
  return best;
}

/* ~ of the key of the pair of models that is to be merged, for all blocks; 0: none. Then all blocks
 * have loaded the models. */
static __device__ unsigned long long pair_to_merge(const RoadCuda &w, const Known &k, int models) {
  __shared__ unsigned long long keys[ROAD_GROUP_WARPS];
  const int warp = threadIdx.x / 32;
  unsigned long long alike = 0;
  if (w.plan.config.merge_threshold > 0 && models > FEW) {
    alike = find_alike(w, k, models, group_rank() * ROAD_GROUP_WARPS + warp,
                       group_blocks() * ROAD_GROUP_WARPS);
    if (threadIdx.x % 32 == 0 && alike)
      atomicMax(&w.frame->alike, alike);
    group_sync();
    alike = __ldcg(&w.frame->alike);
  } else {
    if (w.plan.config.merge_threshold > 0)
      alike = find_alike(w, k, models, warp, ROAD_GROUP_WARPS);
    if (threadIdx.x % 32 == 0)
      keys[warp] = alike;
    group_sync();
    for (int i = 0; i < ROAD_GROUP_WARPS; i++)
      alike = max(alike, keys[i]);
  }
  return alike && rv_road_is_alike(~alike, w.plan.config.merge_threshold) ? alike : 0;
}

static __device__ __forceinline__ void put(const Known &k, int at, RvRoadMoments m) {
  k.mean[at] = m.mean;
  k.variance[at] = m.variance;
  k.scale[at] = 256 / m.variance;
}

/* Model i becomes both, the last one takes the place of j. Returns the number of models. */
static __device__ int unite(const RoadCuda &w, const Known &k, int models, int i, int j) {
  const int cells = w.plan.cells, last = models - 1;
  const double u = k.weight[i], v = k.weight[j], moved = k.weight[last];
  for (int cell = threadIdx.x; cell < cells; cell += ROAD_GROUP_THREADS) {
    const int a = i * cells + cell, b = j * cells + cell, c = last * cells + cell;
    const RvRoadMoments one = {k.mean[a], k.variance[a]}, two = {k.mean[b], k.variance[b]};
    const RvRoadMoments other = {k.mean[c], k.variance[c]};
    put(k, a, u + v > 0 ? rv_road_unite(one, u, two, v, w.plan.area) : one);
    if (last != j)
      put(k, b, other);
  }
  __syncthreads(); /* u and v are read */
  if (threadIdx.x == 0) {
    k.weight[i] = u + v;
    if (last != j)
      k.weight[j] = moved;
  }
  __syncthreads();
  return last;
}

/* By the first block: normalizes the weights, updates state and report. `kept` samples are
 * pending. */
static __device__ void finish(const RoadCuda &w, const EmRun &r, const Known &k, int models,
                              int iterations, int kept, int samples) {
  if (threadIdx.x >= 32)
    return;
  double sum = 0;
#pragma unroll 8
  for (int j = 0; j < models; j++)
    sum = sum + k.weight[j];
  for (int j = threadIdx.x; j < models; j += 32)
    w.library.weight[j] = sum > 0 ? k.weight[j] / sum : k.weight[j];
  if (threadIdx.x > 0)
    return;
  w.state->models = models;
  w.state->pending = kept;
  w.state->side = kept ? 1 - r.side : r.side;
  w.frame->samples_matched = samples - r.samples;
  w.frame->models_added = iterations ? r.k : 0;
  w.frame->iterations = iterations;
}

/* By the first block: all weights to shared memory. */
static __device__ void load_weights(const RoadCuda &w, double *weight, int models) {
  if (threadIdx.x < models)
    weight[threadIdx.x] = __ldcg(&w.library.weight[threadIdx.x]);
  __syncthreads();
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

/* New models from the unmatched samples, into the library; by the group. Returns the number of
 * iterations. */
static __device__ int learn(const RoadCuda &w, EmRun &r, char *memory, double *weight, int *models,
                            int samples) {
  const RoadPlan &plan = w.plan;
  const int rank = group_rank();
  int iterations = 0;
  const int given = *models ? plan.config.new_models : plan.config.initial_models;
  const int k = plan.config.estimate_models ? estimate(w, r) : given;
  const size_t bytes = (size_t)k * plan.cells * (plan.area + 1) * sizeof(uint32_t);
  r.table = bytes <= (size_t)w.shared_table ? (uint32_t *)(memory + sizeof(RoadEm)) : NULL;
  if (k > 1)
    iterations = em_run(w, r, k);
  else if (rank == 0)
    iterations = em_single(w, r);
  group_sync();
  if (rank == 0) {
    load_weights(w, weight, *models);
    *models = insert(w, r, weight, *models, (double)r.samples / samples);
    if (threadIdx.x < *models)
      w.library.weight[threadIdx.x] = weight[threadIdx.x];
    if (threadIdx.x == 0)
      w.state->models = *models;
  }
  group_sync();
  *models = __ldcg(&w.state->models);
  return iterations;
}

static __global__ void __launch_bounds__(ROAD_GROUP_THREADS, 1)
    learn_kernel(const __grid_constant__ RoadCuda w) {
  extern __shared__ __align__(16) char memory[];
  __shared__ double weight[RV_ROAD_LIBRARY_MAX];
  road_begin();
  const RoadPlan &plan = w.plan;
  const int seeds = road_seeds(w), rank = group_rank();
  if (seeds == 0)
    return;
  int models = w.state->models;
  EmRun r = {};
  r.shared = (RoadEm *)memory;
  r.pending = w.state->pending;
  r.side = w.state->side;
  r.samples = w.frame->left;
  r.floor_of_variance = floor_of_variance(plan);
  const int samples = r.pending + seeds, each = rv_div_up(r.samples, group_blocks());
  r.first = min(rank * each, r.samples);
  r.last = min(r.first + each, r.samples);
  const size_t mine = (size_t)rank * plan.models;
  r.models = {w.fresh.mean + mine * plan.cells, w.fresh.variance + mine * plan.cells,
              w.fresh.weight + mine};
  int iterations = 0, kept = 0;
  const bool is_enough = r.samples >= plan.config.min_samples;
  const bool learns = is_enough && (models == 0 || !rv_road_are_outliers(r.samples, samples,
                                                                         plan.config.min_share));
  /* Few models are updated by every block by itself, while it loads them. */
  for (int j = rank; j < models && (learns || models > FEW); j += group_blocks())
    update(w, j, samples, r.floor_of_variance);
  if (models > FEW && !learns)
    group_sync();
  if (learns) {
    iterations = learn(w, r, memory, weight, &models, samples);
  } else if (!is_enough) {
    keep(w, r);
    kept = r.samples;
  }
  const Known k = known_of(w, memory, weight);
  if (learns || models > FEW)
    load_updated(w, k, models);
  else
    load(w, k, models, samples, r.floor_of_variance);
  const unsigned long long pair = pair_to_merge(w, k, models);
  const int before = models;
  if (pair)
    models = unite(w, k, models, (int)(~pair & 255), (int)(~pair >> 8 & 255));
  if (rank == 0)
    finish(w, r, k, models, iterations, kept, samples);
  if (plan.config.library_size < MANY)
    tabulate_all(w, k, models, rank * ROAD_GROUP_THREADS + threadIdx.x,
                 group_blocks() * ROAD_GROUP_THREADS);
  store(w, k, models, before);
  const int thread = rank * ROAD_GROUP_THREADS + threadIdx.x;
  for (int i = thread; i < plan.cells * (plan.area + 1); i += group_blocks() * ROAD_GROUP_THREADS)
    w.unmatched[i] = 0; /* all blocks have finished reading */
}

/* Tables of a library of many models, by the whole GPU, after learning. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    tables_kernel(const __grid_constant__ RoadCuda w) {
  road_begin();
  if (road_seeds(w) == 0)
    return;
  const Known k = {w.library.mean, w.library.variance, NULL, NULL};
  tabulate_all(w, k, w.state->models, (int)(blockIdx.x * ROAD_THREADS + threadIdx.x),
               (int)gridDim.x * ROAD_THREADS);
}

static __global__ void __launch_bounds__(ROAD_GROUP_THREADS, 1)
    tabulate_kernel(const __grid_constant__ RoadCuda w) {
  extern __shared__ __align__(16) char memory[];
  __shared__ double weight[RV_ROAD_LIBRARY_MAX];
  road_begin();
  const int models = w.state->models;
  const Known k = known_of(w, memory, weight);
  load_updated(w, k, models);
  tabulate_all(w, k, models, group_rank() * ROAD_GROUP_THREADS + threadIdx.x,
               group_blocks() * ROAD_GROUP_THREADS);
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
  const int most = (int)(sizeof(RoadEm) + space);
  if (road_known_bytes(&plan) <= (size_t)most)
    w->known = NULL;
  w->shared_known = w->known ? 0 : (int)road_known_bytes(&plan);
  RV_CU(log, cudaFuncSetAttribute(learn_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  RV_CU(log,
        cudaFuncSetAttribute(tabulate_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  return RV_OK;
}

RvStatus road_cuda_learn(const RoadCuda *w, RvStream stream) {
  const int learning = (int)sizeof(RoadEm) + w->shared_table;
  RV_TRY(group_launch(w, w->blocks, learn_kernel, rv_max(learning, w->shared_known), stream));
  return w->plan.config.library_size < MANY ? RV_OK
                                            : road_launch(w, tables_kernel, dim3(w->processors),
                                                          dim3(ROAD_THREADS), 0, stream, *w);
}

RvStatus road_cuda_tabulate(const RoadCuda *w, RvStream stream) {
  return group_launch(w, w->blocks, tabulate_kernel, w->shared_known, stream);
}
