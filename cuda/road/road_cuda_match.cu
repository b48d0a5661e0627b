/* road_cuda_match.cu: distances to the models of the library: of samples, for its update, and of
 * all patches, for their class. `lanes` threads share a patch, each with a model of its own, so
 * that the time hardly depends on their number; only the cells in use are looked up. */
#include "road/road_cuda_label.cuh"

#define NONE 0xffffffffffffffffull /* no model */

/* Where a sample's counts are: those that wait come first, then the patches. */
static __device__ __forceinline__ const uint8_t *row_of(const RoadCuda &w, int item, int waiting,
                                                        int side) {
  const size_t pitch = w.shape.pitch;
  return item < waiting ? w.waiting + ((size_t)side * w.shape.min_samples + item) * pitch
                        : w.counts + (size_t)(item - waiting) * pitch;
}

/* Cost of a patch against a model: a sum, or for Chebyshev the largest. */
template <bool IS_MAX>
static __device__ __forceinline__ uint32_t whole_of(const RoadShape &s, const RoadTable &table,
                                                    const uint8_t *row, int model) {
  const uint32_t *cost = table.cost + model;
  const size_t step = (size_t)(s.area + 1) * s.model_pitch;
  if (IS_MAX) {
    uint32_t most = 0;
    for (int cell = 0; cell < s.cells; cell++)
      most = max(most, cost[cell * step + row[cell] * s.model_pitch]);
    return most;
  }
  uint32_t sum = table.base[model];
  for (int q = 0; q < s.pitch / 16; q++) {
    const uint4 v = ((const uint4 *)row)[q];
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++)
      for (uint32_t word = words[k]; word;) {
        const int byte = (__ffs((int)word) - 1) / 8;
        const uint32_t count = word >> (8 * byte) & 255;
        word &= ~(255u << (8 * byte));
        sum += cost[(16 * q + 4 * k + byte) * step + count * s.model_pitch];
      }
  }
  return sum;
}

/* Distance << 32 | model of the nearest, the first of equal ones; for all lanes of a group, which
 * all have the same row. */
template <bool IS_MAX>
static __device__ unsigned long long nearest_of(const RoadCuda &w, const RoadTable &table,
                                                const uint8_t *row, int models,
                                                RvRoadDistance distance) {
  unsigned long long key = NONE;
  if (row)
    for (int j = threadIdx.x % w.shape.lanes; j < models; j += w.shape.lanes) {
      const uint32_t sum = whole_of<IS_MAX>(w.shape, table, row, j);
      const unsigned long long own =
          (unsigned long long)rv_road_whole(distance, sum) << 32 | (unsigned)j;
      key = own < key ? own : key;
    }
  for (int step = w.shape.lanes / 2; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, key, step);
    key = other < key ? other : key;
  }
  return key;
}

/* --- Samples --------------------------------------------------------------------------------- */

/* What the samples of a block add up to, in shared memory where it fits. */
struct Sums {
  uint32_t *counts, *squares,
      *matched;      /* [model][cell], [model]; NULL: straight to global memory */
  uint32_t *strange; /* [cell][count] of samples near no model; NULL as well */
};

static __device__ __forceinline__ void add_near(const RoadCuda &w, const Sums &sums,
                                                const uint8_t *row, int model) {
  const RoadShape &s = w.shape;
  for (int cell = threadIdx.x % s.lanes; cell < s.cells; cell += s.lanes) {
    const uint32_t count = row[cell];
    const size_t at = (size_t)model * s.cells + cell;
    if (count == 0)
      continue;
    if (sums.counts) {
      atomicAdd(&sums.counts[at], count);
      atomicAdd(&sums.squares[at], count * count);
    } else {
      atomicAdd(&w.sums[at], (unsigned long long)count);
      atomicAdd(&w.squares[at], (unsigned long long)(count * count));
    }
  }
  if (threadIdx.x % s.lanes != 0)
    return;
  if (sums.counts)
    atomicAdd(&sums.matched[model], 1u);
  else
    atomicAdd(&w.matched[model], 1ull);
}

static __device__ __forceinline__ void add_strange(const RoadCuda &w, const Sums &sums,
                                                   const uint8_t *row) {
  const RoadShape &s = w.shape;
  uint32_t *strange = sums.strange ? sums.strange : w.strange;
  for (int q = threadIdx.x % s.lanes; q < s.pitch / 4; q += s.lanes)
    for (uint32_t word = ((const uint32_t *)row)[q]; word;) {
      const int byte = (__ffs((int)word) - 1) / 8;
      const uint32_t count = word >> (8 * byte) & 255;
      word &= ~(255u << (8 * byte));
      atomicAdd(&strange[(4 * q + byte) * (s.area + 1) + count], 1u);
    }
}

static __device__ void flush(const RoadCuda &w, const Sums &sums, int models) {
  const int values = models * w.shape.cells, entries = w.shape.cells * (w.shape.area + 1);
  for (int i = threadIdx.x; i < values && sums.counts; i += ROAD_THREADS)
    if (sums.counts[i]) {
      atomicAdd(&w.sums[i], (unsigned long long)sums.counts[i]);
      atomicAdd(&w.squares[i], (unsigned long long)sums.squares[i]);
    }
  for (int j = threadIdx.x; j < models && sums.counts; j += ROAD_THREADS)
    if (sums.matched[j])
      atomicAdd(&w.matched[j], (unsigned long long)sums.matched[j]);
  for (int i = threadIdx.x; i < entries && sums.strange; i += ROAD_THREADS)
    if (sums.strange[i])
      atomicAdd(&w.strange[i], sums.strange[i]);
}

/* Keeps a sample that is near no model, one for each group of lanes, in any order; notes the first.
 */
static __device__ __forceinline__ void keep_left(const RoadCuda &w, int item, bool is_left) {
  const unsigned all = __ballot_sync(0xffffffffu, is_left);
  const int lane = threadIdx.x % 32;
  if (!all)
    return;
  int first = 0;
  if (lane == 0)
    first = atomicAdd(&w.frame->left, __popc(all));
  first = __shfl_sync(0xffffffffu, first, 0);
  if (is_left)
    w.left[first + __popc(all & ((1u << lane) - 1))] = (uint32_t)item;
  if (lane == __ffs((int)all) - 1)
    atomicMax(&w.frame->first, ~(unsigned)item); /* items grow with the lanes */
}

/* Seeds, the nearest model of each and of the samples that wait, sums for the update. A block sees
 * less than 2^16 samples, so that squares of counts fit 32 bits. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    match_kernel(const __grid_constant__ RoadCuda w, int sums_at, int strange_at, int words) {
  extern __shared__ uint32_t shared[];
  road_begin();
  const RoadShape &s = w.shape;
  const unsigned long long largest = w.frame->largest;
  const bool has_seeds = largest >> 32 != 0;
  const int root = (int)~(unsigned)largest, models = w.state->models;
  const int waiting = has_seeds ? w.state->waiting : 0, side = w.state->side;
  const double limit = rv_road_limit(RV_ROAD_MAHALANOBIS, w.config.update_threshold);
  const size_t values = (size_t)s.library * s.cells;
  Sums sums = {};
  if (sums_at >= 0)
    sums.counts = shared + sums_at, sums.squares = sums.counts + values,
    sums.matched = sums.squares + values;
  if (strange_at >= 0)
    sums.strange = shared + strange_at;
  for (int i = threadIdx.x; i < words; i += ROAD_THREADS)
    shared[i] = 0;
  __syncthreads();
  const int each = 32 / s.lanes, group = threadIdx.x % 32 / s.lanes;
  const int warp = (blockIdx.x * ROAD_THREADS + threadIdx.x) / 32;
  const int step = gridDim.x * (ROAD_THREADS / 32) * each;
  for (int base = warp * each; base < waiting + s.patches; base += step) {
    const int item = base + group, patch = item - waiting;
    bool is_sample = item < waiting;
    if (patch >= 0 && patch < s.patches) {
      is_sample = has_seeds && w.parent[patch] == root;
      if (threadIdx.x % s.lanes == 0)
        w.seed[patch] = is_sample;
    }
    if (!__any_sync(0xffffffffu, is_sample))
      continue;
    const uint8_t *row = is_sample ? row_of(w, item, waiting, side) : NULL;
    const unsigned long long key = nearest_of<false>(w, w.update, row, models, RV_ROAD_MAHALANOBIS);
    const bool is_near = key != NONE && (double)(key >> 32) < limit;
    if (is_near)
      add_near(w, sums, row, (int)(unsigned)key);
    else if (is_sample)
      add_strange(w, sums, row);
    keep_left(w, item, is_sample && !is_near && threadIdx.x % s.lanes == 0);
  }
  __syncthreads();
  if (has_seeds)
    flush(w, sums, models);
}

RvStatus road_cuda_match(const RoadCuda *w, RvStream stream) {
  const RoadShape &s = w->shape;
  const size_t room = 48 * 1024 / sizeof(uint32_t);
  const size_t sums = ((size_t)2 * s.cells + 1) * s.library;
  const size_t strange = (size_t)s.cells * (s.area + 1);
  size_t words = 0;
  int sums_at = -1, strange_at = -1;
  if (sums <= room) {
    sums_at = 0;
    words += sums;
  }
  if (words + strange <= room) {
    strange_at = (int)words;
    words += strange;
  }
  const int each = ROAD_THREADS / s.lanes; /* samples of a block at a time */
  const int items = s.patches + s.min_samples;
  const int most = rv_max(2 * w->processors, rv_div_up(items, 32768));
  const int blocks = rv_min(rv_div_up(items, each), most);
  return road_launch(w, match_kernel, dim3(blocks), dim3(ROAD_THREADS), words * sizeof(uint32_t),
                     stream, *w, sums_at, strange_at, (int)words);
}

/* --- Classes --------------------------------------------------------------------------------- */

/* A block takes a segment of a row of patches. */
template <bool IS_MAX>
static __global__ void __launch_bounds__(ROAD_THREADS)
    classify_kernel(const __grid_constant__ RoadCuda w) {
  __shared__ uint32_t nearest[ROAD_SEGMENT];
  road_begin();
  const RoadShape &s = w.shape;
  const int first = blockIdx.x * ROAD_SEGMENT, patches = min(ROAD_SEGMENT, s.columns - first);
  const int start = blockIdx.y * s.columns + first, models = w.state->models;
  const RvRoadDistance distance = w.config.distance;
  const int each = ROAD_THREADS / s.lanes;
  for (int base = 0; base < patches; base += each) {
    const int p = base + threadIdx.x / s.lanes;
    const uint8_t *row = p < patches ? w.counts + (size_t)(start + p) * s.pitch : NULL;
    const unsigned long long key = nearest_of<IS_MAX>(w, w.classify, row, models, distance);
    if (row && threadIdx.x % s.lanes == 0)
      nearest[p] = (uint32_t)(key >> 32);
  }
  __syncthreads();
  const int p = threadIdx.x;
  if (p >= patches)
    return;
  const double limit = rv_road_limit(distance, w.config.classify_threshold);
  const uint32_t room = w.frame->plane.height > 0 ? w.room[start + p] : RV_ROAD_ROOM;
  w.nearest[start + p] = nearest[p];
  w.like[start + p] =
      w.seed[start + p] || (models && rv_road_like(distance, nearest[p], limit, room));
}

/* The majority of the window round each patch, as far as the picture goes. Whole warps take rows of
 * 32 patches. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    smooth_kernel(const __grid_constant__ RoadCuda w) {
  road_begin();
  const RoadShape &s = w.shape;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int radius = w.config.smoothing / 2;
  const int left = max(x - radius, 0), right = min(x + radius, s.columns - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, s.rows - 1);
  int votes = 0;
  for (int v = top; v <= bottom; v++)
    for (int u = left; u <= right; u++)
      votes += w.like[v * s.columns + u];
  const int exists = x < s.columns && y < s.rows;
  const int is_in = exists && 2 * votes > (right - left + 1) * (bottom - top + 1);
  road_label_start(w, y * s.columns + x, is_in, exists);
}

RvStatus road_cuda_smooth(const RoadCuda *w, RvStream stream) {
  const dim3 grid(rv_div_up(w->shape.columns, 32), rv_div_up(w->shape.rows, 8)), block(32, 8);
  return road_launch(w, smooth_kernel, grid, block, 0, stream, *w);
}

RvStatus road_cuda_classify(const RoadCuda *w, RvStream stream) {
  const dim3 grid(rv_div_up(w->shape.columns, ROAD_SEGMENT), w->shape.rows);
  return road_launch(
      w, w->config.distance == RV_ROAD_CHEBYSHEV ? classify_kernel<true> : classify_kernel<false>,
      grid, dim3(ROAD_THREADS), 0, stream, *w);
}
