/* SPDX-License-Identifier: MIT */
/* road_cuda_match.cu: distances to the models of the library: of samples, for its update, and of
 * all patches, for their class. A warp lists the cells in use of eight patches, then takes one
 * after the other, each lane with a model of its own (or two), so that the time hardly depends on
 * the number of models. */
#include "road/road_cuda_label.cuh"

#define NONE 0xffffffffffffffffull /* no model */
#define MATCH_THREADS 512

/* Where a sample's counts are: those that wait come first, then the patches. */
static __device__ __forceinline__ const uint8_t *row_of(const RoadCuda &w, int item, int waiting,
                                                        int side) {
  const size_t pitch = w.shape.pitch;
  return item < waiting ? w.waiting + ((size_t)side * w.shape.min_samples + item) * pitch
                        : w.counts + (size_t)(item - waiting) * pitch;
}

/* --- Nearest model -----------------------------------------------------------------------------
 */

#define TILE 8     /* patches that a warp takes at once: four lanes read each */
#define LANES_OF 4 /* lanes that read a patch */

/* Entries of a patch's list: at most one for each cell and for each pixel; a multiple of 4. */
static __host__ __device__ __forceinline__ int list_size(const RoadShape &s) {
  return rv_div_up(rv_min(s.area, s.cells), 4) * 4;
}

static __device__ __forceinline__ int used_of(uint4 v) {
  return __popc(__vsetne4(v.x, 0)) + __popc(__vsetne4(v.y, 0)) + __popc(__vsetne4(v.z, 0)) +
         __popc(__vsetne4(v.w, 0));
}

/* Which rows of a cost table a patch adds up: cell * (area + 1) + count for each count above 0,
 * then row 0, which costs nothing, to a multiple of 4. By four lanes, each on its own quads of the
 * counts; row NULL: none. Returns the number of fours. */
static __device__ int make_list(const RoadShape &s, const uint8_t *row, uint16_t *list) {
  const int lane = threadIdx.x % LANES_OF, quads = row ? s.pitch / 16 : 0;
  int used = 0;
  for (int q = lane; q < quads; q += LANES_OF)
    used += used_of(((const uint4 *)row)[q]);
  int end = used;
  for (int step = 1; step < LANES_OF; step *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, end, step, LANES_OF);
    end += lane >= step ? below : 0;
  }
  const int all = __shfl_sync(0xffffffffu, end, LANES_OF - 1, LANES_OF);
  uint16_t *at = list + end - used;
  for (int q = lane; q < quads; q += LANES_OF) {
    const uint4 v = ((const uint4 *)row)[q];
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++)
      for (uint32_t word = words[k]; word;) {
        const int byte = (__ffs((int)word) - 1) / 8;
        const uint32_t count = word >> (8 * byte) & 255;
        word &= ~(255u << (8 * byte));
        *at++ = (uint16_t)((16 * q + 4 * k + byte) * (s.area + 1) + count);
      }
  }
  if (lane < rv_div_up(all, 4) * 4 - all)
    list[all + lane] = 0;
  return rv_div_up(all, 4);
}

/* Sum of the rows of a list, one model. */
static __device__ __forceinline__ uint32_t add_list(const uint32_t *cost, int pitch,
                                                    const uint16_t *list, int fours) {
  uint32_t sum = 0;
#pragma unroll 2
  for (int i = 0; i < fours; i++) {
    const uint2 four = ((const uint2 *)list)[i];
    const uint32_t a = cost[(four.x & 65535) * pitch], b = cost[(four.x >> 16) * pitch];
    const uint32_t c = cost[(four.y & 65535) * pitch], d = cost[(four.y >> 16) * pitch];
    sum += a + b + (c + d);
  }
  return sum;
}

/* Of a table of Chebyshev's distance: the largest over all cells. */
static __device__ uint32_t most_of(const RoadShape &s, const uint32_t *cost, const uint8_t *row) {
  const size_t step = (size_t)(s.area + 1) * s.model_pitch;
  uint32_t most = 0;
  for (int cell = 0; cell < s.cells; cell++)
    most = max(most, cost[cell * step + row[cell] * s.model_pitch]);
  return most;
}

static __device__ __forceinline__ uint32_t warp_least(uint32_t v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, v);
#else
  for (int step = 16; step > 0; step /= 2)
    v = min(v, __shfl_xor_sync(0xffffffffu, v, step));
  return v;
#endif
}

/* Distance to one model. Lanes beyond the last model repeat it: that changes no minimum. */
template <bool IS_MAX>
static __device__ __forceinline__ uint32_t whole_of(const RoadShape &s, const RoadTable &table,
                                                    const uint8_t *row, const uint16_t *list,
                                                    int fours, int model, RvRoadDistance distance) {
  const uint32_t *cost = table.cost + model;
  const uint32_t sum = IS_MAX ? most_of(s, cost, row)
                              : table.base[model] + add_list(cost, s.model_pitch, list, fours);
  return rv_road_combined_cost(distance, sum);
}

/* A tile as its lanes see it, each the patch that it reads: counts or NULL, list, its fours. */
struct Tile {
  const uint8_t *row;
  const uint16_t *lists; /* of the whole tile, `entries` apart */
  int entries, fours;
};

static __device__ __forceinline__ const uint8_t *row_in(const Tile &t, int patch) {
  return (const uint8_t *)__shfl_sync(0xffffffffu, (unsigned long long)t.row, LANES_OF * patch);
}

/* Up to 8 models: four patches at once. Distance << 32 | model of the nearest. */
template <bool IS_MAX>
static __device__ __forceinline__ unsigned long long
nearest_of_few(const RoadShape &s, const RoadTable &table, const Tile &t, int models,
               RvRoadDistance distance) {
  const int lane = threadIdx.x % 32, model = min(lane % 8, models - 1), patch = lane / LANES_OF;
  unsigned long long result = 0;
  for (int half = 0; half < 2; half++) {
    const int p = 4 * half + lane / 8, fours = __shfl_sync(0xffffffffu, t.fours, LANES_OF * p);
    const uint8_t *row = row_in(t, p);
    const uint32_t whole = IS_MAX && !row ? 0
                                          : whole_of<IS_MAX>(s, table, row, t.lists + p * t.entries,
                                                             fours, model, distance);
    unsigned long long key = (unsigned long long)whole << 32 | (unsigned)model;
    for (int step = 4; step > 0; step /= 2)
      key = min(key, __shfl_xor_sync(0xffffffffu, key, step));
    key = __shfl_sync(0xffffffffu, key, 8 * (patch % 4));
    result = patch / 4 == half ? key : result;
  }
  return result;
}

/* Any number: one patch after the other, one or two models a lane. */
template <bool IS_MAX>
static __device__ __forceinline__ unsigned long long
nearest_of_many(const RoadShape &s, const RoadTable &table, const Tile &t, int models,
                RvRoadDistance distance) {
  const int lane = threadIdx.x % 32, low = min(lane, models - 1), high = min(lane + 32, models - 1);
  const unsigned exist = __ballot_sync(0xffffffffu, t.row != NULL);
  unsigned long long result = 0;
  for (int p = 0; p < TILE; p++) {
    if (!(exist >> (LANES_OF * p) & 1))
      continue;
    const uint8_t *row = row_in(t, p);
    const uint16_t *list = t.lists + p * t.entries;
    const int fours = __shfl_sync(0xffffffffu, t.fours, LANES_OF * p);
    const uint32_t a = whole_of<IS_MAX>(s, table, row, list, fours, low, distance);
    const uint32_t b =
        models > 32 ? whole_of<IS_MAX>(s, table, row, list, fours, high, distance) : a;
    const uint32_t least = warp_least(min(a, b));
    const unsigned first = __ballot_sync(0xffffffffu, a == least);
    const unsigned second = __ballot_sync(0xffffffffu, b == least);
    const int model = first ? __ffs((int)first) - 1 : 31 + __ffs((int)second);
    if (lane / LANES_OF == p)
      result = (unsigned long long)least << 32 | (unsigned)model;
  }
  return result;
}

/* Distance << 32 | model of the nearest, the first of equal ones, of the patch that a lane reads;
 * NONE without models. */
template <bool IS_MAX>
static __device__ __forceinline__ unsigned long long
nearest_of(const RoadShape &s, const RoadTable &table, const Tile &t, int models,
           RvRoadDistance distance) {
  if (models == 0)
    return NONE;
  return models <= 8 ? nearest_of_few<IS_MAX>(s, table, t, models, distance)
                     : nearest_of_many<IS_MAX>(s, table, t, models, distance);
}

/* --- Samples --------------------------------------------------------------------------------- */

/* What the samples of a block add up to, in shared memory where it fits. */
struct Sums {
  uint32_t *counts, *squares,
      *matched;        /* [model][cell], [model]; NULL: straight to global memory */
  uint32_t *unmatched; /* [cell][count] of samples near no model; NULL as well */
};

static __device__ __forceinline__ void add_near(const RoadCuda &w, const Sums &sums,
                                                const uint8_t *row, int model) {
  const RoadShape &s = w.shape;
  for (int cell = threadIdx.x % 32; cell < s.cells; cell += 32) {
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
  if (threadIdx.x % 32 != 0)
    return;
  if (sums.counts)
    atomicAdd(&sums.matched[model], 1u);
  else
    atomicAdd(&w.matched[model], 1ull);
}

/* Of the patch that a lane reads: its list says where. */
static __device__ __forceinline__ void add_unmatched(const RoadCuda &w, const Sums &sums,
                                                     const uint16_t *list, int fours) {
  uint32_t *unmatched = sums.unmatched ? sums.unmatched : w.unmatched;
  for (int e = threadIdx.x % LANES_OF; e < 4 * fours; e += LANES_OF)
    if (list[e])
      atomicAdd(&unmatched[list[e]], 1u);
}

static __device__ void flush(const RoadCuda &w, const Sums &sums, int models) {
  const int values = models * w.shape.cells, entries = w.shape.cells * (w.shape.area + 1);
  for (int i = threadIdx.x; i < values && sums.counts; i += MATCH_THREADS)
    if (sums.counts[i]) {
      atomicAdd(&w.sums[i], (unsigned long long)sums.counts[i]);
      atomicAdd(&w.squares[i], (unsigned long long)sums.squares[i]);
    }
  for (int j = threadIdx.x; j < models && sums.counts; j += MATCH_THREADS)
    if (sums.matched[j])
      atomicAdd(&w.matched[j], (unsigned long long)sums.matched[j]);
  for (int i = threadIdx.x; i < entries && sums.unmatched; i += MATCH_THREADS)
    if (sums.unmatched[i])
      atomicAdd(&w.unmatched[i], sums.unmatched[i]);
}

/* A tile's samples that are near no model, whose places have been asked for. */
struct Kept {
  unsigned lanes;
  int first, item;
};

/* Puts them down, one for each group of lanes. */
static __device__ __forceinline__ void put_kept(const RoadCuda &w, const Kept &kept) {
  const int lane = threadIdx.x % 32;
  const int first = __shfl_sync(0xffffffffu, kept.first, 0);
  if (kept.lanes >> lane & 1)
    w.left[first + __popc(kept.lanes & ((1u << lane) - 1))] = (uint32_t)kept.item;
}

/* Asks for places, in any order; notes the first sample. */
static __device__ __forceinline__ Kept keep_left(const RoadCuda &w, int item, bool is_left) {
  const int lane = threadIdx.x % 32;
  Kept kept = {__ballot_sync(0xffffffffu, is_left), 0, item};
  if (kept.lanes && lane == 0)
    kept.first = atomicAdd(&w.frame->left, __popc(kept.lanes));
  if (lane == __ffs((int)kept.lanes) - 1)
    atomicMax(&w.frame->first, ~(unsigned)item); /* items grow with the lanes */
  return kept;
}

/* Seeds, the nearest model of each and of the samples that wait, sums for the update. A block sees
 * less than 2^16 samples, so that squares of counts fit 32 bits. */
static __global__ void __launch_bounds__(MATCH_THREADS)
    match_kernel(const __grid_constant__ RoadCuda w, int sums_at, int unmatched_at, int words) {
  extern __shared__ __align__(16) uint32_t shared[];
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
  if (unmatched_at >= 0)
    sums.unmatched = shared + unmatched_at;
  for (int i = threadIdx.x; i < words; i += MATCH_THREADS)
    shared[i] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, entries = list_size(s);
  uint16_t *lists = (uint16_t *)(shared + words) + warp * TILE * entries;
  uint16_t *list = lists + lane / LANES_OF * entries;
  const int step = gridDim.x * (MATCH_THREADS / 32) * TILE;
  Kept kept = {};
  for (int base = (blockIdx.x * (MATCH_THREADS / 32) + warp) * TILE; base < waiting + s.patches;
       base += step) {
    const int item = base + lane / LANES_OF, patch = item - waiting;
    bool is_sample = item < waiting;
    if (patch >= 0 && patch < s.patches) {
      is_sample = has_seeds && w.parent[patch] == root;
      if (lane % LANES_OF == 0)
        w.seed[patch] = is_sample;
    }
    if (!__any_sync(0xffffffffu, is_sample))
      continue;
    const uint8_t *row = is_sample ? row_of(w, item, waiting, side) : NULL;
    const Tile tile = {row, lists, entries, make_list(s, row, list)};
    __syncwarp();
    const unsigned long long key =
        nearest_of<false>(s, w.update, tile, models, RV_ROAD_MAHALANOBIS);
    const bool is_near = is_sample && key != NONE && (double)(key >> 32) < limit;
    for (unsigned near = __ballot_sync(0xffffffffu, is_near); near;
         near &= ~(15u << (__ffs((int)near) - 1))) {
      const int p = (__ffs((int)near) - 1) / LANES_OF;
      const int model = (int)__shfl_sync(0xffffffffu, (unsigned)key, LANES_OF * p);
      add_near(w, sums, row_in(tile, p), model);
    }
    if (is_sample && !is_near)
      add_unmatched(w, sums, list, tile.fours);
    put_kept(w, kept);
    kept = keep_left(w, item, is_sample && !is_near && lane % LANES_OF == 0);
    __syncwarp();
  }
  put_kept(w, kept);
  __syncthreads();
  if (has_seeds)
    flush(w, sums, models);
}

RvStatus road_cuda_open_match(const RoadCuda *w) {
  RV_CU(&w->config.log,
        cudaFuncSetAttribute(match_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  return RV_OK;
}

/* As many sums as fit 48 KiB beside the lists, which take 58 368 bytes at most. */
RvStatus road_cuda_match(const RoadCuda *w, RvStream stream) {
  const RoadShape &s = w->shape;
  const int each = MATCH_THREADS / 32 * TILE; /* samples of a block at a time */
  const size_t lists = (size_t)each * list_size(s) * sizeof(uint16_t);
  const size_t room = lists < 48 * 1024 ? (48 * 1024 - lists) / sizeof(uint32_t) : 0;
  const size_t sums = ((size_t)2 * s.cells + 1) * s.library;
  const size_t unmatched = (size_t)s.cells * (s.area + 1);
  size_t words = 0;
  int sums_at = -1, unmatched_at = -1;
  if (sums <= room) {
    sums_at = 0;
    words += sums;
  }
  if (words + unmatched <= room) {
    unmatched_at = (int)words;
    words += unmatched;
  }
  words = (words + 1) / 2 * 2; /* lists are read eight bytes at a time */
  const int items = s.patches + s.min_samples;
  const int most = rv_max(2 * w->processors, rv_div_up(items, 32768));
  const int blocks = rv_min(rv_div_up(items, each), most);
  return road_launch(w, match_kernel, dim3(blocks), dim3(MATCH_THREADS),
                     words * sizeof(uint32_t) + lists, stream, *w, sums_at, unmatched_at,
                     (int)words);
}

/* --- Classes --------------------------------------------------------------------------------- */

#define CLASSIFY_PATCHES (ROAD_THREADS / 32 * TILE) /* of a block */

template <bool IS_MAX>
static __global__ void __launch_bounds__(ROAD_THREADS)
    classify_kernel(const __grid_constant__ RoadCuda w) {
  extern __shared__ __align__(16) uint32_t shared[];
  __shared__ uint32_t nearest[CLASSIFY_PATCHES];
  road_begin();
  const RoadShape &s = w.shape;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, entries = list_size(s);
  const int start = blockIdx.x * CLASSIFY_PATCHES, models = w.state->models;
  const int patches = min(CLASSIFY_PATCHES, s.patches - start);
  const RvRoadDistance distance = w.config.distance;
  uint16_t *lists = (uint16_t *)shared + warp * TILE * entries;
  const uint8_t *rows = w.counts + (size_t)(start + warp * TILE) * s.pitch;
  const int mine = min(patches - warp * TILE, TILE); /* may be negative */
  const uint8_t *row = lane / LANES_OF < mine ? rows + (lane / LANES_OF) * s.pitch : NULL;
  const int fours = IS_MAX ? 0 : make_list(s, row, lists + lane / LANES_OF * entries);
  __syncwarp();
  const unsigned long long key =
      nearest_of<IS_MAX>(s, w.classify, {row, lists, entries, fours}, models, distance);
  if (lane % LANES_OF == 0)
    nearest[warp * TILE + lane / LANES_OF] = (uint32_t)(key >> 32);
  __syncthreads();
  const int p = threadIdx.x;
  if (p >= patches)
    return;
  const double limit = rv_road_limit(distance, w.config.classify_threshold);
  const uint32_t room = w.frame->plane.height > 0 ? w.room[start + p] : RV_ROAD_BUDGET_ONE;
  w.nearest[start + p] = nearest[p];
  w.like[start + p] =
      w.seed[start + p] || (models && rv_road_is_road_like(distance, nearest[p], limit, room));
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
  const RoadShape &s = w->shape;
  const size_t lists = (size_t)CLASSIFY_PATCHES * list_size(s) * sizeof(uint16_t);
  return road_launch(
      w, w->config.distance == RV_ROAD_CHEBYSHEV ? classify_kernel<true> : classify_kernel<false>,
      dim3(rv_div_up(s.patches, CLASSIFY_PATCHES)), dim3(ROAD_THREADS), lists, stream, *w);
}
