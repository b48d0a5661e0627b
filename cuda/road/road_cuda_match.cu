/* SPDX-License-Identifier: MIT */
/* road_cuda_match.cu: distances to the models of the library: of samples, for its update, and of
 * all patches, for their class. A warp lists the nonempty cells of eight patches, then processes
 * one patch after the other, with one model (or two) per lane, so that the time hardly depends
 * on the number of models. */
#include "road/road_cuda_label.cuh"

#define NONE 0xffffffffffffffffull /* no model */
#define MATCH_THREADS 512

/* Counts of a sample: the pending ones first, then the patches. */
static __device__ __forceinline__ const uint8_t *row_of(const RoadCuda &w, int item, int pending,
                                                        int side) {
  const size_t pitch = w.plan.pitch;
  return item < pending ? w.pending + ((size_t)side * w.plan.config.min_samples + item) * pitch
                        : w.counts + (size_t)(item - pending) * pitch;
}

/* --- Nearest model --------------------------------------------------------------------------- */

#define TILE 8     /* patches per warp at a time */
#define LANES_OF 4 /* lanes that read a patch */

/* Capacity of a patch's list: one entry per cell or per pixel; a multiple of 4. */
static __host__ __device__ __forceinline__ int list_size(const RoadPlan &plan) {
  return rv_div_up(rv_min(plan.area, plan.cells), 4) * 4;
}

static __device__ __forceinline__ int used_of(uint4 v) {
  return __popc(__vsetne4(v.x, 0)) + __popc(__vsetne4(v.y, 0)) + __popc(__vsetne4(v.z, 0)) +
         __popc(__vsetne4(v.w, 0));
}

/* Lists the rows of a cost table that are summed for a patch: cell * (area + 1) + count for each
 * count above 0, then row 0, whose cost is 0, to a multiple of 4. By four lanes, each on its own
 * quads of the counts; row NULL: empty. Returns the number of fours. */
static __device__ int make_list(const RoadPlan &plan, const uint8_t *row, uint16_t *list) {
  const int lane = threadIdx.x % LANES_OF, quads = row ? plan.pitch / 16 : 0;
  int used = 0;
  for (int q = lane; q < quads; q += LANES_OF)
    used += used_of(((const uint4 *)row)[q]);
  int end = used;
  for (int step = 1; step < LANES_OF; step *= 2) {
    const int below = __shfl_up_sync(RV_WARP, end, step, LANES_OF);
    end += lane >= step ? below : 0;
  }
  const int all = __shfl_sync(RV_WARP, end, LANES_OF - 1, LANES_OF);
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
        *at++ = (uint16_t)((16 * q + 4 * k + byte) * (plan.area + 1) + count);
      }
  }
  if (lane < rv_div_up(all, 4) * 4 - all)
    list[all + lane] = 0;
  return rv_div_up(all, 4);
}

/* Sum of the rows of a list, for one model. */
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

/* For Chebyshev: the maximum over all cells. */
static __device__ uint32_t maximum_of(const RoadPlan &plan, const uint32_t *cost,
                                      const uint8_t *row) {
  const size_t step = (size_t)(plan.area + 1) * plan.model_pitch;
  uint32_t maximum = 0;
  for (int cell = 0; cell < plan.cells; cell++)
    maximum = max(maximum, cost[cell * step + row[cell] * plan.model_pitch]);
  return maximum;
}

/* Combined cost of one model. Lanes beyond the last model repeat it: the minimum is the same. */
template <bool IS_MAX>
static __device__ __forceinline__ uint32_t cost_of(const RoadPlan &plan, const RoadTable &table,
                                                   const uint8_t *row, const uint16_t *list,
                                                   int fours, int model, RvRoadDistance distance) {
  const uint32_t *cost = table.cost + model;
  const uint32_t sum = IS_MAX ? maximum_of(plan, cost, row)
                              : table.base[model] + add_list(cost, plan.model_pitch, list, fours);
  return rv_road_combined_cost(distance, sum);
}

namespace {

/* A tile. `row` and `fours` are those of the patch that the lane reads. */
struct Tile {
  const uint8_t *row;    /* counts, or NULL */
  const uint16_t *lists; /* of all patches, with a stride of `entries` */
  int entries, fours;
};

/* Sums over the samples of a block, in shared memory where they fit, else NULL: in global
 * memory. */
struct Sums {
  uint32_t *counts, *squares, *matched; /* [model][cell], [model] */
  uint32_t *unmatched;                  /* [cell][count] of unmatched samples */
};

/* Unmatched samples of a tile, with their reserved slots. */
struct Kept {
  unsigned lanes;
  int first, item;
};

} // namespace

static __device__ __forceinline__ const uint8_t *row_in(const Tile &t, int patch) {
  return (const uint8_t *)__shfl_sync(RV_WARP, (unsigned long long)t.row, LANES_OF * patch);
}

/* Up to 8 models: four patches at once. Cost << 32 | model of the nearest. */
template <bool IS_MAX>
static __device__ __forceinline__ unsigned long long
nearest_of_few(const RoadPlan &plan, const RoadTable &table, const Tile &t, int models,
               RvRoadDistance distance) {
  const int lane = threadIdx.x % 32, model = min(lane % 8, models - 1), patch = lane / LANES_OF;
  unsigned long long result = 0;
  for (int half = 0; half < 2; half++) {
    const int p = 4 * half + lane / 8, fours = __shfl_sync(RV_WARP, t.fours, LANES_OF * p);
    const uint8_t *row = row_in(t, p);
    const uint32_t cost =
        IS_MAX && !row
            ? 0
            : cost_of<IS_MAX>(plan, table, row, t.lists + p * t.entries, fours, model, distance);
    unsigned long long key = (unsigned long long)cost << 32 | (unsigned)model;
    for (int step = 4; step > 0; step /= 2)
      key = min(key, __shfl_xor_sync(RV_WARP, key, step));
    key = __shfl_sync(RV_WARP, key, 8 * (patch % 4));
    result = patch / 4 == half ? key : result;
  }
  return result;
}

/* Any number: one patch after the other, one or two models per lane. */
template <bool IS_MAX>
static __device__ __forceinline__ unsigned long long
nearest_of_many(const RoadPlan &plan, const RoadTable &table, const Tile &t, int models,
                RvRoadDistance distance) {
  const int lane = threadIdx.x % 32, low = min(lane, models - 1), high = min(lane + 32, models - 1);
  const unsigned exist = __ballot_sync(RV_WARP, t.row != NULL);
  unsigned long long result = 0;
  for (int p = 0; p < TILE; p++) {
    if (!(exist >> (LANES_OF * p) & 1))
      continue;
    const uint8_t *row = row_in(t, p);
    const uint16_t *list = t.lists + p * t.entries;
    const int fours = __shfl_sync(RV_WARP, t.fours, LANES_OF * p);
    const uint32_t a = cost_of<IS_MAX>(plan, table, row, list, fours, low, distance);
    const uint32_t b =
        models > 32 ? cost_of<IS_MAX>(plan, table, row, list, fours, high, distance) : a;
    const uint32_t lowest = rv_warp_min(min(a, b));
    const unsigned first = __ballot_sync(RV_WARP, a == lowest);
    const unsigned second = __ballot_sync(RV_WARP, b == lowest);
    const int model = first ? __ffs((int)first) - 1 : 31 + __ffs((int)second);
    if (lane / LANES_OF == p)
      result = (unsigned long long)lowest << 32 | (unsigned)model;
  }
  return result;
}

/* Cost << 32 | model of the nearest model (on a tie, the first) of the patch that the lane
 * reads; NONE without models. */
template <bool IS_MAX>
static __device__ __forceinline__ unsigned long long
nearest_of(const RoadPlan &plan, const RoadTable &table, const Tile &t, int models,
           RvRoadDistance distance) {
  if (models == 0)
    return NONE;
  return models <= 8 ? nearest_of_few<IS_MAX>(plan, table, t, models, distance)
                     : nearest_of_many<IS_MAX>(plan, table, t, models, distance);
}

/* --- Samples --------------------------------------------------------------------------------- */

static __device__ __forceinline__ void add_matched(const RoadCuda &w, const Sums &sums,
                                                   const uint8_t *row, int model) {
  const RoadPlan &plan = w.plan;
  for (int cell = threadIdx.x % 32; cell < plan.cells; cell += 32) {
    const uint32_t count = row[cell];
    const size_t at = (size_t)model * plan.cells + cell;
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

/* Adds the patch that the lane reads, by its list. */
static __device__ __forceinline__ void add_unmatched(const RoadCuda &w, const Sums &sums,
                                                     const uint16_t *list, int fours) {
  uint32_t *unmatched = sums.unmatched ? sums.unmatched : w.unmatched;
  for (int e = threadIdx.x % LANES_OF; e < 4 * fours; e += LANES_OF)
    if (list[e])
      atomicAdd(&unmatched[list[e]], 1u);
}

static __device__ void flush(const RoadCuda &w, const Sums &sums, int models) {
  const int values = models * w.plan.cells, entries = w.plan.cells * (w.plan.area + 1);
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

/* Writes them, one per group of lanes. */
static __device__ __forceinline__ void write_kept(const RoadCuda &w, const Kept &kept) {
  const int lane = threadIdx.x % 32;
  const int first = __shfl_sync(RV_WARP, kept.first, 0);
  if (kept.lanes >> lane & 1)
    w.left[first + __popc(kept.lanes & ((1u << lane) - 1))] = (uint32_t)kept.item;
}

/* Reserves slots, in any order; updates the first sample. */
static __device__ __forceinline__ Kept reserve(const RoadCuda &w, int item, bool is_left) {
  const int lane = threadIdx.x % 32;
  Kept kept = {__ballot_sync(RV_WARP, is_left), 0, item};
  if (kept.lanes && lane == 0)
    kept.first = atomicAdd(&w.frame->left, __popc(kept.lanes));
  if (lane == __ffs((int)kept.lanes) - 1)
    atomicMax(&w.frame->first, ~(unsigned)item); /* items increase with the lanes */
  return kept;
}

/* Seeds, the nearest model of each and of the pending samples, sums for the update. A block has
 * less than 2^16 samples, so that sums of squared counts fit 32 bits. */
static __global__ void __launch_bounds__(MATCH_THREADS)
    match_kernel(const __grid_constant__ RoadCuda w, int sums_at, int unmatched_at, int words) {
  extern __shared__ __align__(16) uint32_t shared[];
  road_begin();
  const RoadPlan &plan = w.plan;
  const unsigned long long largest = w.frame->largest;
  const bool has_seeds = road_seeds(w) != 0;
  const int root = (int)~(unsigned)largest, models = w.state->models;
  const int pending = has_seeds ? w.state->pending : 0, side = w.state->side;
  const double limit = rv_road_limit(RV_ROAD_MAHALANOBIS, w.plan.config.update_threshold);
  const size_t values = (size_t)plan.config.library_size * plan.cells;
  Sums sums = {};
  if (sums_at >= 0)
    sums.counts = shared + sums_at, sums.squares = sums.counts + values,
    sums.matched = sums.squares + values;
  if (unmatched_at >= 0)
    sums.unmatched = shared + unmatched_at;
  for (int i = threadIdx.x; i < words; i += MATCH_THREADS)
    shared[i] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, entries = list_size(plan);
  uint16_t *lists = (uint16_t *)(shared + words) + warp * TILE * entries;
  uint16_t *list = lists + lane / LANES_OF * entries;
  const int step = gridDim.x * (MATCH_THREADS / 32) * TILE;
  Kept kept = {};
  for (int base = (blockIdx.x * (MATCH_THREADS / 32) + warp) * TILE; base < pending + plan.patches;
       base += step) {
    const int item = base + lane / LANES_OF, patch = item - pending;
    bool is_sample = item < pending;
    if (patch >= 0 && patch < plan.patches) {
      is_sample = has_seeds && w.parent[patch] == root;
      if (lane % LANES_OF == 0)
        w.seed[patch] = has_seeds ? (uint8_t)is_sample : w.kept[patch];
    }
    if (!__any_sync(RV_WARP, is_sample))
      continue;
    const uint8_t *row = is_sample ? row_of(w, item, pending, side) : NULL;
    const Tile tile = {row, lists, entries, make_list(plan, row, list)};
    __syncwarp();
    const unsigned long long key =
        nearest_of<false>(plan, w.update, tile, models, RV_ROAD_MAHALANOBIS);
    const bool is_near =
        is_sample && key != NONE &&
        (double)(key >> 32) < rv_road_update_limit(limit, (int)w.dimensions[(unsigned)key]);
    for (unsigned near = __ballot_sync(RV_WARP, is_near); near;
         near &= ~(15u << (__ffs((int)near) - 1))) {
      const int p = (__ffs((int)near) - 1) / LANES_OF;
      const int model = (int)__shfl_sync(RV_WARP, (unsigned)key, LANES_OF * p);
      add_matched(w, sums, row_in(tile, p), model);
    }
    if (is_sample && !is_near)
      add_unmatched(w, sums, list, tile.fours);
    write_kept(w, kept);
    kept = reserve(w, item, is_sample && !is_near && lane % LANES_OF == 0);
    __syncwarp();
  }
  write_kept(w, kept);
  __syncthreads();
  if (has_seeds)
    flush(w, sums, models);
}

RvStatus road_cuda_open_match(const RoadCuda *w) {
  RV_CU(&w->plan.config.log,
        cudaFuncSetAttribute(match_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  return RV_OK;
}

/* As many sums as fit 48 KiB together with the lists, which have at most 58 368 bytes. */
RvStatus road_cuda_match(const RoadCuda *w, const RvRoadJob *job) {
  const RoadPlan &plan = w->plan;
  const int each = MATCH_THREADS / 32 * TILE; /* samples per block at a time */
  const size_t lists = (size_t)each * list_size(plan) * sizeof(uint16_t);
  const size_t space = lists < 48 * 1024 ? (48 * 1024 - lists) / sizeof(uint32_t) : 0;
  const size_t sums = ((size_t)2 * plan.cells + 1) * plan.config.library_size;
  const size_t unmatched = (size_t)plan.cells * (plan.area + 1);
  size_t words = 0;
  int sums_at = -1, unmatched_at = -1;
  if (sums <= space) {
    sums_at = 0;
    words += sums;
  }
  if (words + unmatched <= space) {
    unmatched_at = (int)words;
    words += unmatched;
  }
  words = (words + 1) / 2 * 2; /* lists are loaded eight bytes at a time */
  const int items = plan.patches + plan.config.min_samples;
  const int limit = rv_max(2 * w->processors, rv_div_up(items, 32768));
  const int blocks = rv_min(rv_div_up(items, each), limit);
  const bool is_forked = road_is_forked(job);
  if (is_forked)
    RV_CU(&plan.config.log, cudaStreamWaitEvent(job->stream, w->joined, 0));
  return rv_launch(&plan.config.log, match_kernel, dim3(blocks), dim3(MATCH_THREADS),
                   words * sizeof(uint32_t) + lists, job->stream, w->overlaps && !is_forked, *w,
                   sums_at, unmatched_at, (int)words);
}

/* --- Classes --------------------------------------------------------------------------------- */

#define CLASSIFY_PATCHES (ROAD_THREADS / 32 * TILE) /* of a block */

/* Adds the votes of a warp, those for the same strip at once. strip -1: none. */
static __device__ __forceinline__ void add_votes(const RoadCuda &w, int strip, uint64_t vote) {
  const unsigned same = __match_any_sync(RV_WARP, vote ? strip : -1);
  const unsigned road = __ballot_sync(RV_WARP, vote >> 32 != 0) & same;
  if (vote && __ffs((int)same) - 1 == (int)threadIdx.x % 32)
    atomicAdd(&w.profile->votes[strip],
              (unsigned long long)__popc(road) << 32 | (unsigned)__popc(same));
}

/* Of a patch with a nearest model, by a whole warp; adds the votes for the strips. */
static __device__ __forceinline__ int score_of(const RoadCuda &w, int patch, uint32_t nearest,
                                               bool exists) {
  const RvRoadConfig &c = w.plan.config;
  const RvRoadPlane plane = w.frame->plane;
  const int x = patch % w.plan.columns, y = patch / w.plan.columns;
  const int is_seed = road_is_seed(w.seed[patch]);
  const int strip = rv_road_strip_of(&c, &plane, x, y);
  const double color =
      rv_road_color(c.distance, nearest, rv_road_limit(c.distance, c.classify_threshold));
  uint32_t budget = plane.height > 0 ? w.budget[patch] : RV_ROAD_BUDGET_ONE;
  const bool votes = exists && strip >= 0 && road_seeds(w);
  add_votes(w, strip, votes ? rv_road_strip_vote(&c, &plane, x, y, color, budget, is_seed) : 0);
  if (strip >= 0)
    budget = rv_road_strip_budget(budget, w.profile->scale[strip]);
  return is_seed ? 255 : rv_road_score(color, budget, rv_road_budget_scale(&c, plane.height));
}

template <bool IS_MAX>
static __global__ void __launch_bounds__(ROAD_THREADS)
    classify_kernel(const __grid_constant__ RoadCuda w) {
  extern __shared__ __align__(16) uint32_t shared[];
  __shared__ uint32_t nearest[CLASSIFY_PATCHES];
  const RoadPlan &plan = w.plan;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, entries = list_size(plan);
  const int start = blockIdx.x * CLASSIFY_PATCHES;
  const int patches = min(CLASSIFY_PATCHES, plan.patches - start);
  const RvRoadDistance distance = w.plan.config.distance;
  uint16_t *lists = (uint16_t *)shared + warp * TILE * entries;
  const uint8_t *rows = w.counts + (size_t)(start + warp * TILE) * plan.pitch;
  const int mine = min(patches - warp * TILE, TILE); /* may be negative */
  const uint8_t *row = lane / LANES_OF < mine ? rows + (lane / LANES_OF) * plan.pitch : NULL;
  /* The kernel before, which learns, leaves most of the GPU idle. Counts are older than that: they are
   * listed next to it. */
  const int fours = IS_MAX ? 0 : make_list(plan, row, lists + lane / LANES_OF * entries);
  road_begin();
  const int models = w.state->models;
  __syncwarp();
  const unsigned long long key =
      nearest_of<IS_MAX>(plan, w.classify, {row, lists, entries, fours}, models, distance);
  if (lane % LANES_OF == 0)
    nearest[warp * TILE + lane / LANES_OF] = (uint32_t)(key >> 32);
  __syncthreads();
  const int p = min((int)threadIdx.x, patches - 1), patch = start + p;
  if (threadIdx.x >= CLASSIFY_PATCHES)
    return;
  const bool exists = (int)threadIdx.x < patches;
  const int score = models                        ? score_of(w, patch, nearest[p], exists)
                    : road_is_seed(w.seed[patch]) ? 255
                                                  : 0;
  if (!exists)
    return;
  w.nearest[patch] = nearest[p];
  const int lately = rv_road_persist(w.lately[patch], score >= RV_ROAD_LIKE, plan.rate);
  w.lately[patch] = (uint8_t)lately;
  w.like[patch] = (uint8_t)(plan.rate < 256 ? lately : score);
}

#define WINDOW 5 /* rows of the largest majority filter */

/* In a frame without seeds: 1 when patch (x, y) is near and no patch within RV_ROAD_KEPT_REACH of it
 * was road. */
static __device__ bool is_dropped(const RoadCuda &w, int x, int y) {
  const RvRoadPlane plane = w.frame->plane;
  if (!rv_road_is_near(&w.plan.config, &plane, x, y))
    return false;
  const int reach = RV_ROAD_KEPT_REACH;
  const int left = max(x - reach, 0), right = min(x + reach, w.plan.columns - 1);
  const int top = max(y - reach, 0), bottom = min(y + reach, w.plan.rows - 1);
  int found = 0;
  for (int v = top; v <= bottom; v++)
    for (int u = left; u <= right; u++)
      found |= w.seed[v * w.plan.columns + u];
  return !(found & RV_ROAD_KEPT_ROAD);
}

/* Patches of the majority filter's window that are road-like: bit k of a row is column x0 + k, by a warp
 * whose lanes are on columns x0 + radius and following ones of row y. */
static __device__ __forceinline__ int likes_around(const RoadCuda &w, int x0, int y, int radius) {
  const int lane = threadIdx.x % 32, columns = w.plan.columns;
  const int low = x0 + lane, high = low + 32;
  const bool is_low = low >= 0 && low < columns, is_high = lane < 2 * radius && high < columns;
  bool likes[WINDOW][2];
#pragma unroll
  for (int k = 0; k < WINDOW; k++) { /* all loads at once */
    const int v = y - radius + k;
    const bool is_row = k <= 2 * radius && v >= 0 && v < w.plan.rows;
    const uint8_t *row = w.like + (ptrdiff_t)v * columns;
    likes[k][0] = is_row && is_low && row[low] >= RV_ROAD_LIKE;
    likes[k][1] = is_row && is_high && row[high] >= RV_ROAD_LIKE;
  }
  const unsigned window = (2u << (2 * radius)) - 1;
  int count = 0;
#pragma unroll
  for (int k = 0; k < WINDOW; k++) {
    const unsigned first = __ballot_sync(RV_WARP, likes[k][0]);
    const unsigned next = __ballot_sync(RV_WARP, likes[k][1]);
    count += __popc(__funnelshift_r(first, next, lane) & window);
  }
  return count;
}

/* Majority of the window around each patch inside the frame. One warp per run of 32 patches of a
 * row. What only frames without seeds need is decided by what is read next to the kernel before. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    smooth_kernel(const __grid_constant__ RoadCuda w) {
  const RoadPlan &plan = w.plan;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int exists = x < plan.columns && y < plan.rows;
  const bool is_known = exists && (w.seed[y * plan.columns + x] & RV_ROAD_KEPT);
  const int radius = w.plan.config.smoothing / 2;
  const int left = max(x - radius, 0), right = min(x + radius, plan.columns - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, plan.rows - 1);
  const int area = (right - left + 1) * (bottom - top + 1);
  road_begin();
  const int votes = likes_around(w, blockIdx.x * 32 - radius, y, radius);
  int is_in = exists && 2 * votes > area;
  if (is_in && is_known)
    is_in = !is_dropped(w, x, y);
  road_label_start(w, y * plan.columns + x, is_in, exists);
}

RvStatus road_cuda_smooth(const RoadCuda *w, RvStream stream) {
  const dim3 grid(rv_div_up(w->plan.columns, 32), rv_div_up(w->plan.rows, 8)), block(32, 8);
  return road_launch(w, smooth_kernel, grid, block, 0, stream, *w);
}

RvStatus road_cuda_classify(const RoadCuda *w, RvStream stream) {
  const RoadPlan &plan = w->plan;
  const size_t lists = (size_t)CLASSIFY_PATCHES * list_size(plan) * sizeof(uint16_t);
  return road_launch(
      w,
      w->plan.config.distance == RV_ROAD_CHEBYSHEV ? classify_kernel<true> : classify_kernel<false>,
      dim3(rv_div_up(plan.patches, CLASSIFY_PATCHES)), dim3(ROAD_THREADS), lists, stream, *w);
}
