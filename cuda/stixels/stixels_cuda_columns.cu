/* SPDX-License-Identifier: MIT */
/* stixels_cuda_columns.cu: dynamic programming, backtracking and list, CUDA engine. One block per
 * column, which processes tiles of up to 32 top rows. Warp 0 resolves a tile: it visits its lowest
 * rows in order, one lane per top row. Meanwhile the other warps compute the stixels within the
 * next tile, without their predecessors, and try those that end there and start below both tiles.
 * Then all warps try those that start in the resolved tile. With few cuts, tiles are of the portions
 * of the column between two cuts instead of its rows: template parameter SPARSE. */
#include "stixels/stixels_cuda_list.cuh"
#include "stixels/stixels_cuda_network.cuh"

#define WARPS 8                  /* per block */
#define BOUNDED_TILES 6          /* minimum number of tiles for which bounds are faster */
#define BOUNDED_TILES_SEMANTIC 4 /* the same with semantics, where a stixel takes longer */
#define THREADS (32 * WARPS)
#define PAIRS (17 * 32) /* of lowest and top row in a tile, see pair_of */
#define GROUND RV_STIXEL_GROUND
#define OBJECT RV_STIXEL_OBJECT
#define SKY RV_STIXEL_SKY

namespace {
/* The stixels within a tile, without their predecessors. */
struct Tile {
  int32_t cost[RV_STIXELS_CLASSES][PAIRS]; /* OUT_OF_REACH where invalid */
  int32_t mu[2][PAIRS], next[2][PAIRS];    /* of ground and object */
};

/* Shared memory layout of a block; the scratch of the column follows. */
struct ColumnsShared {
  Tile tiles[2];
  int32_t parts[WARPS][2 * RV_STIXELS_CLASSES]
               [32];                     /* the best stixels of each warp by top row: Best */
  int32_t ahead[RV_STIXELS_CLASSES][32]; /* see compute_ahead */
  int32_t limit[RV_STIXELS_CLASSES][32]; /* upper limit of the best cost by top row */
};

/* The cost below a stixel that starts in a row, including the transition: by class below where
 * planes are compared, else the minimum. */
struct __align__(16) Begin {
  int32_t ground_ground, ground;                /* ground on ground, on another */
  int32_t object_ground, object_object, object; /* object on ground, on object, on sky */
  int32_t sky;
  int32_t next[2]; /* 1/256 px, in this row: planes of ground and object below */
};

/* The lowest rows of the best stixels that end in a row. */
struct Best {
  int32_t cost[RV_STIXELS_CLASSES];
  int32_t bottom[RV_STIXELS_CLASSES];
};
} // namespace

static bool is_sparse(const RvStixelsPlan *plan) {
  return plan->config.cuts != RV_STIXELS_CUTS_ALL;
}

size_t rv_stixels_cuda_scratch(const RvStixelsPlan *plan) {
  const size_t n = plan->rows;
  const size_t past = rv_stixels_is_bounded(plan) ? n * sizeof(int4) : 0;
  const size_t sums = sizeof(int32_t) * (plan->config.model == RV_STIXELS_CONSTANT ? 2 : 1);
  return past + (n + 1) * (sizeof(RvStixelsSums) + sizeof(Begin) + sums) + n * sizeof(Ending) +
         (n + 1) * key_layout_of(plan).pitch * sizeof(uint32_t) + n * sizeof(uint32_t) +
         (is_sparse(plan) ? (n + 1) * sizeof(uint16_t) : 0) + n + 1;
}

static_assert(sizeof(ColumnsShared::tiles) >= RV_STIXELS_NETWORK_WORDS * sizeof(uint32_t),
              "the network works in the memory of the tiles");

size_t rv_stixels_cuda_columns_shared(void) {
  return sizeof(ColumnsShared);
}

static __device__ __forceinline__ Best nothing() {
  return {{RV_STIXELS_INFINITE, RV_STIXELS_INFINITE, RV_STIXELS_INFINITE}, {0, 0, 0}};
}

/* The first row of a portion; of the one above the last: the number of rows. */
template <bool SPARSE> static __device__ __forceinline__ int row_of(const Column &c, int portion) {
  return SPARSE ? c.at[portion] : portion;
}

template <bool SPARSE>
static __device__ __forceinline__ int portions_of(const RvStixelsPlan &plan, const Column &c) {
  return SPARSE ? c.portions : plan.rows;
}

/* A start above the best stixels below; cut: its cost. */
static __device__ __forceinline__ Begin begin_after(const RvStixelsPlan &plan,
                                                    const int32_t best[3], const int32_t next[2],
                                                    int32_t cut) {
  const int32_t(*t)[RV_STIXELS_CLASSES] = plan.transition;
  const int32_t cost[] = {best[0] + cut, best[1] + cut, best[2] + cut};
  return {cost[0] + t[GROUND][0],
          rv_min(cost[1] + t[GROUND][1], cost[2] + t[GROUND][2]),
          cost[0] + t[OBJECT][0],
          cost[1] + t[OBJECT][1],
          cost[2] + t[OBJECT][2],
          rv_min(rv_min(cost[0] + t[SKY][0], cost[1] + t[SKY][1]), cost[2] + t[SKY][2]),
          {next[0], next[1]}};
}

/* A start in row 0. */
static __device__ __forceinline__ Begin begin_first(const RvStixelsPlan &plan) {
  return {OUT_OF_REACH,           plan.at_bottom[GROUND], OUT_OF_REACH, OUT_OF_REACH,
          plan.at_bottom[OBJECT], plan.at_bottom[SKY],    {0, 0}};
}

/* Minimum cost below a stixel of a class (3.25, 4.9); mu: its plane at its lowest row. */
template <int STRUCTURE>
static __device__ __forceinline__ int32_t cost_up_to(const RvStixelsPlan &plan, const Begin &begin,
                                                     int mu) {
  if (STRUCTURE == GROUND)
    return rv_min(begin.ground_ground + rv_stixels_gap(&plan, mu - begin.next[0]), begin.ground);
  if (STRUCTURE == OBJECT)
    return rv_min(rv_min(begin.object_ground + rv_stixels_gravity(&plan, mu - begin.next[0]),
                         begin.object_object + rv_stixels_ordering(&plan, mu - begin.next[1])),
                  begin.object);
  return begin.sky;
}

/* Lowest row and the class of the predecessor with the minimum cost; ties: the first class. */
static __device__ __forceinline__ uint32_t link_to(const RvStixelsPlan &plan, const Column &c,
                                                   int structure, int bottom, int mu) {
  if (bottom == 0)
    return 0;
  const Ending last = c.ending[bottom - 1];
  int32_t from[RV_STIXELS_CLASSES];
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    from[k] = last.cost[k] + rv_stixels_pair(&plan, structure, k, mu, k < SKY ? last.next[k] : 0);
  const int32_t least = rv_min(rv_min(from[0], from[1]), from[2]);
  return (uint32_t)bottom | (least == from[0] ? 0u : least == from[1] ? 1u << 16 : 2u << 16);
}

static __device__ __forceinline__ void offer(Best *best, int structure, int bottom, int32_t cost) {
  const bool is_better = cost < best->cost[structure] ||
                         (cost == best->cost[structure] && bottom < best->bottom[structure]);
  best->bottom[structure] = is_better ? bottom : best->bottom[structure];
  best->cost[structure] = rv_min(cost, best->cost[structure]);
}

/* --- Bounds ---------------------------------------------------------------------------------- */

/* Upper parts of the bounds by top row: from `first` on. */
template <int KIND, bool USUAL>
static __device__ __forceinline__ void compute_ahead(const RvStixelsPlan &plan, const Column &c,
                                                     ColumnsShared *shared, int first) {
  const int lane = threadIdx.x % 32, top = rv_min(first + lane, plan.rows - 1);
  const RvStixelsSums s = rv_stixels_between(&c.sums[first], &c.sums[top + 1]);
  assume_planes<KIND, USUAL>(plan);
  const double error = rv_stixels_free_error(&plan, &s, first);
  int32_t ground = rv_stixels_cost_fast(&plan, GROUND, &s, top + 1 - first, 0);
  int32_t object = rv_stixels_cost_fast(&plan, OBJECT, &s, top + 1 - first, error);
  if (c.keys) {
    ground = rv_stixels_add(ground, semantic_cost(plan, c, GROUND, first, top));
    object = rv_stixels_add(object, semantic_cost(plan, c, OBJECT, first, top));
  }
  const int32_t sky = sky_cost(plan, c, first, top);
  shared->ahead[GROUND][lane] = rv_stixels_upper_part(&plan, GROUND, ground);
  shared->ahead[OBJECT][lane] = rv_stixels_upper_part(&plan, OBJECT, object);
  shared->ahead[SKY][lane] = rv_stixels_upper_part(&plan, SKY, sky);
}

/* Upper limits by top row of the tile at `first`: the cost of the stixels that start in
 * `bottom`. */
template <int KIND, bool USUAL>
static __device__ __forceinline__ void compute_limit(const RvStixelsPlan &plan, const Column &c,
                                                     ColumnsShared *shared, int bottom, int first) {
  const int lane = threadIdx.x % 32, top = rv_min(first + lane, plan.rows - 1);
  const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
  const Begin from = c.begin[bottom];
  const bool is_valid = c.cuts[bottom];
  const Own ground = own_of<KIND, USUAL>(plan, c, GROUND, bottom, top, s);
  const Own object = own_of<KIND, USUAL>(plan, c, OBJECT, bottom, top, s);
  shared->limit[GROUND][lane] =
      is_valid ? ground.cost + cost_up_to<GROUND>(plan, from, ground.mu) : RV_STIXELS_INFINITE;
  shared->limit[OBJECT][lane] =
      is_valid ? object.cost + cost_up_to<OBJECT>(plan, from, object.mu) : RV_STIXELS_INFINITE;
  shared->limit[SKY][lane] = is_valid && rv_stixels_is_sky_row(&c.ground, bottom)
                                 ? own_of<KIND, USUAL>(plan, c, SKY, bottom, top, s).cost + from.sky
                                 : RV_STIXELS_INFINITE;
}

/* Lower parts of the bounds by lowest row: below `first`. */
template <int KIND, bool USUAL>
static __device__ __forceinline__ void compute_past(const RvStixelsPlan &plan, const Column &c,
                                                    int first, int warp, int warps) {
  for (int v = 32 * warp + (int)threadIdx.x % 32; v < first; v += 32 * warps) {
    const RvStixelsSums s = rv_stixels_between(&c.sums[v], &c.sums[first]);
    c.past[v] = make_int4(own_of<KIND, USUAL>(plan, c, GROUND, v, first - 1, s).cost,
                          own_of<KIND, USUAL>(plan, c, OBJECT, v, first - 1, s).cost,
                          own_of<KIND, USUAL>(plan, c, SKY, v, first - 1, s).cost, 0);
  }
}

/* As try_below, but skips stixels that no lane can use. The nearest lowest rows come first; they
 * are the most likely. tile: the one at `first` if its first row is resolved below, else NULL. All
 * lanes of the warp call it. */
template <int KIND, bool USUAL>
static __device__ __forceinline__ void
try_bounded(const RvStixelsPlan &plan, const Column &c, const ColumnsShared *shared,
            const Tile *tile, int first, int size, int begin, int end, int step, Best *best) {
  const int lane = threadIdx.x % 32;
  const int32_t ahead[] = {shared->ahead[0][lane], shared->ahead[1][lane], shared->ahead[2][lane]};
  int32_t limit[] = {shared->limit[0][lane], shared->limit[1][lane], shared->limit[2][lane]};
  if (tile && c.cuts[first]) {
    const Begin from = c.begin[first];
    limit[GROUND] =
        rv_min(limit[GROUND],
               tile->cost[GROUND][lane] + cost_up_to<GROUND>(plan, from, tile->mu[GROUND][lane]));
    limit[OBJECT] =
        rv_min(limit[OBJECT],
               tile->cost[OBJECT][lane] + cost_up_to<OBJECT>(plan, from, tile->mu[OBJECT][lane]));
    limit[SKY] = rv_min(limit[SKY], tile->cost[SKY][lane] + from.sky);
  }
  const int top = rv_min(first + (int)threadIdx.x % 32, plan.rows - 1);
  const RvStixelsSums upto = c.sums[top + 1];
  const bool is_top = lane < size && c.cuts[top + 1];
  for (int bottom = begin + (end - 1 - begin) / step * step; bottom >= begin; bottom -= step) {
    if (!c.cuts[bottom])
      continue;
    const Begin from = c.begin[bottom];
    const int4 past = c.past[bottom];
    const int32_t ground = rv_min(from.ground_ground, from.ground) + past.x + ahead[GROUND];
    const int32_t object = rv_min(rv_min(from.object_ground, from.object_object), from.object) +
                           past.y + ahead[OBJECT];
    const int32_t sky = from.sky + past.z + ahead[SKY];
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &upto);
    if (__any_sync(RV_WARP, is_top && rv_stixels_can_improve(
                                          ground, rv_min(best->cost[GROUND], limit[GROUND])))) {
      const Own own = own_of<KIND, USUAL>(plan, c, GROUND, bottom, top, s);
      if (is_top)
        offer(best, GROUND, bottom, own.cost + cost_up_to<GROUND>(plan, from, own.mu));
    }
    if (__any_sync(RV_WARP, is_top && rv_stixels_can_improve(
                                          object, rv_min(best->cost[OBJECT], limit[OBJECT])))) {
      const Own own = own_of<KIND, USUAL>(plan, c, OBJECT, bottom, top, s);
      if (is_top)
        offer(best, OBJECT, bottom, own.cost + cost_up_to<OBJECT>(plan, from, own.mu));
    }
    if (rv_stixels_is_sky_row(&c.ground, bottom) &&
        __any_sync(RV_WARP,
                   is_top && rv_stixels_can_improve(sky, rv_min(best->cost[SKY], limit[SKY]))) &&
        is_top)
      offer(best, SKY, bottom, own_of<KIND, USUAL>(plan, c, SKY, bottom, top, s).cost + from.sky);
  }
}

/* Barrier of all warps except the first. */
static __device__ __forceinline__ void sync_workers() {
  asm volatile("bar.sync 1, %0;" ::"n"(THREADS - 32) : "memory");
}

/* Tries the stixels that end in portion `first` + lane, with every `step`-th lowest portion of begin
 * .. end - 1. */
template <int KIND, bool USUAL, bool SPARSE>
static __device__ __forceinline__ void try_below(const RvStixelsPlan &plan, const Column &c,
                                                 int first, int begin, int end, int step,
                                                 Best *best) {
  const int last = rv_min(first + (int)threadIdx.x % 32, portions_of<SPARSE>(plan, c) - 1);
  const int top = row_of<SPARSE>(c, last + 1) - 1;
  const RvStixelsSums upto = c.sums[top + 1];
  for (int lowest = begin; lowest < end; lowest += step) {
    const int bottom = row_of<SPARSE>(c, lowest);
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &upto);
    const Begin from = c.begin[lowest];
    const Own ground = own_of<KIND, USUAL>(plan, c, GROUND, bottom, top, s);
    offer(best, GROUND, bottom, ground.cost + cost_up_to<GROUND>(plan, from, ground.mu));
    const Own object = own_of<KIND, USUAL>(plan, c, OBJECT, bottom, top, s);
    offer(best, OBJECT, bottom, object.cost + cost_up_to<OBJECT>(plan, from, object.mu));
    if (rv_stixels_is_sky_row(&c.ground, bottom))
      offer(best, SKY, bottom, own_of<KIND, USUAL>(plan, c, SKY, bottom, top, s).cost + from.sky);
  }
}

/* Computes the stixels within the `tile` portions from `first` on in up to 17 rows of pairs: row j
 * contains those with lowest portion j from lane j on, and before it those with lowest portion
 * tile - j. */
template <int KIND, bool USUAL, bool SPARSE>
static __device__ __forceinline__ void compute_tile(const RvStixelsPlan &plan, const Column &c,
                                                    Tile *out, int first, int tile, int warp,
                                                    int warps) {
  const int lane = threadIdx.x % 32;
  const int end = rv_min(first + tile, portions_of<SPARSE>(plan, c));
  for (int j = warp; 2 * j <= tile; j += warps) {
    const int from = lane >= j ? j : tile - j, last = first + (lane >= j ? lane : from + lane);
    const int at = 32 * j + lane;
    if (last >= end)
      continue;
    const int bottom = row_of<SPARSE>(c, first + from), top = row_of<SPARSE>(c, last + 1) - 1;
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
#pragma unroll
    for (int structure = 0; structure < RV_STIXELS_CLASSES; structure++) {
      const Own own = own_of<KIND, USUAL>(plan, c, structure, bottom, top, s);
      if (structure < SKY) {
        out->mu[structure][at] = own.mu;
        out->next[structure][at] = own.next;
      }
      out->cost[structure][at] =
          structure < SKY || rv_stixels_is_sky_row(&c.ground, bottom) ? own.cost : OUT_OF_REACH;
    }
  }
}

/* Index of the stixel from the k-th row to the row of the lane; an unused index when the lane is
 * below k. */
static __device__ __forceinline__ int pair_of(int k, int tile) {
  const int lane = threadIdx.x % 32;
  return 2 * k <= tile ? 32 * k + lane : 32 * (tile - k) + lane - k;
}

/* The best of all warps for the top row of a lane; ties: the lower start row. */
static __device__ __forceinline__ Best gather(const ColumnsShared *shared) {
  const int lane = threadIdx.x % 32;
  Best best = nothing();
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
#pragma unroll
    for (int warp = 0; warp < WARPS; warp++) {
      const int32_t cost = shared->parts[warp][k][lane];
      const int32_t bottom = shared->parts[warp][RV_STIXELS_CLASSES + k][lane];
      if (cost > best.cost[k] || (cost == best.cost[k] && bottom >= best.bottom[k]))
        continue;
      best.cost[k] = cost;
      best.bottom[k] = bottom;
    }
  return best;
}

static __device__ __forceinline__ int32_t reachable(int32_t cost) {
  return cost < RV_STIXELS_INFINITE ? cost : OUT_OF_REACH;
}

namespace {
/* The stixels of a tile that start in its k-th row. */
struct Step {
  int32_t cost[RV_STIXELS_CLASSES];
  int mu[2], next[2];
};
} // namespace

static __device__ __forceinline__ Step step_at(const Tile *tile, int k, int rows) {
  const int at = pair_of(rv_min(k, rows - 1), rows);
  return {{tile->cost[0][at], tile->cost[1][at], tile->cost[2][at]},
          {tile->mu[0][at], tile->mu[1][at]},
          {tile->next[0][at], tile->next[1][at]}};
}

/* One warp visits the lowest portions of a tile in order. The result of a lane is final after its
 * own portion was the lowest. */
template <int KIND, bool USUAL, bool SPARSE>
static __device__ void resolve(const RvStixelsPlan &plan, const Column &c,
                               const ColumnsShared *shared, int first, int tile) {
  const int lane = threadIdx.x, count = rv_min(portions_of<SPARSE>(plan, c) - first, tile);
  const int top = row_of<SPARSE>(c, first + rv_min(lane, count - 1) + 1) - 1;
  const Tile *own = &shared->tiles[first / tile % 2];
  const bool is_top = lane < count;
  Best best = nothing();
  int mu[2] = {0, 0}, next[2] = {0, 0};
  if (first > 0 && is_top) {
    best = gather(shared);
#pragma unroll
    for (int k = 0; k < SKY; k++) {
      const int bottom = best.bottom[k];
      const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
      assume_planes<KIND, USUAL>(plan);
      const RvStixelsPlane plane = rv_stixels_fit(&plan, &c.ground, k, &s, bottom).plane;
      mu[k] = rv_stixels_value(&plane, 0);
      next[k] = rv_stixels_value(&plane, top + 1 - bottom);
    }
  }
  __syncwarp();
  Begin begin = c.begin[first];
  int32_t last[RV_STIXELS_CLASSES], last_next[2];
  Step step = step_at(own, 0, tile);
  for (int k = 0; k < count; k++) {
    const int bottom = row_of<SPARSE>(c, first + k);
    const Step after = step_at(own, k + 1, tile); /* early, to hide its latency */
    const bool is_valid = is_top && k <= lane;
    const int32_t ground = step.cost[GROUND] + cost_up_to<GROUND>(plan, begin, step.mu[0]);
    const int32_t object = step.cost[OBJECT] + cost_up_to<OBJECT>(plan, begin, step.mu[1]);
    const int32_t sky = step.cost[SKY] + begin.sky;
    const bool is_ground = is_valid && ground < best.cost[GROUND];
    const bool is_object = is_valid && object < best.cost[OBJECT];
    const bool is_sky = is_valid && sky < best.cost[SKY];
    best.cost[GROUND] = is_ground ? ground : best.cost[GROUND];
    best.cost[OBJECT] = is_object ? object : best.cost[OBJECT];
    best.cost[SKY] = is_sky ? sky : best.cost[SKY];
    best.bottom[GROUND] = is_ground ? bottom : best.bottom[GROUND];
    best.bottom[OBJECT] = is_object ? bottom : best.bottom[OBJECT];
    best.bottom[SKY] = is_sky ? bottom : best.bottom[SKY];
    mu[0] = is_ground ? step.mu[0] : mu[0];
    mu[1] = is_object ? step.mu[1] : mu[1];
    next[0] = is_ground ? step.next[0] : next[0];
    next[1] = is_object ? step.next[1] : next[1];
    step = after;
#pragma unroll
    for (int i = 0; i < RV_STIXELS_CLASSES; i++)
      last[i] = reachable(__shfl_sync(RV_WARP, best.cost[i], k));
    last_next[0] = __shfl_sync(RV_WARP, next[0], k);
    last_next[1] = __shfl_sync(RV_WARP, next[1], k);
    begin = begin_after(plan, last, last_next, cut_cost(plan, c, row_of<SPARSE>(c, first + k + 1)));
    if (lane == 0)
      c.begin[first + k + 1] = begin;
  }
  Ending ending = {{reachable(best.cost[0]), reachable(best.cost[1]), reachable(best.cost[2])},
                   {next[0], next[1]},
                   {0, 0, 0}};
  if (is_top)
    c.ending[top] = ending;
  __syncwarp();
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    ending.link[k] = link_to(plan, c, k, best.bottom[k], k < SKY ? mu[k] : 0);
  if (is_top)
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      c.ending[top].link[k] = ending.link[k];
  __syncwarp();
}

/* Warp 0 resolves the tile at `first`, if any, while the others compute the next. */
template <int KIND, bool USUAL, bool SPARSE>
static __device__ __forceinline__ void resolve_all(const RvStixelsPlan &plan, const Column &c,
                                                   ColumnsShared *shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int portions = portions_of<SPARSE>(plan, c);
  const int tiles = rv_div_up(portions, 32), tile = rv_div_up(portions, tiles);
  const bool has_bounds = KIND == RV_STIXELS_SLANTED_FAST && USUAL && !SPARSE &&
                          tiles >= (c.keys ? BOUNDED_TILES_SEMANTIC : BOUNDED_TILES);
  for (int first = -tile; first < portions; first += tile) {
    const int next = first + tile, busy = first >= 0; /* warps that resolve */
    Best best = nothing();
    if (warp < busy)
      resolve<KIND, USUAL, SPARSE>(plan, c, shared, first, tile);
    else if (next < portions)
      compute_tile<KIND, USUAL, SPARSE>(plan, c, &shared->tiles[next / tile % 2], next, tile,
                                        warp - busy, WARPS - busy);
    __syncwarp();
    if (has_bounds && warp > 0 && busy && next < portions) {
      if (warp == WARPS - 1)
        compute_ahead<KIND, USUAL>(plan, c, shared, next);
      else if (warp == WARPS - 2)
        compute_limit<KIND, USUAL>(plan, c, shared, first, next);
      else
        compute_past<KIND, USUAL>(plan, c, next, WARPS - 3 - warp, WARPS - 3);
      sync_workers();
    }
#pragma unroll 1
    for (int pass = 0; pass < 2 && busy; pass++) {
      const int begin = pass ? first + warp : warp - 1, end = pass ? next : first;
      if (has_bounds && next < portions && begin >= 0 && begin < end)
        try_bounded<KIND, USUAL>(plan, c, shared, pass ? &shared->tiles[next / tile % 2] : NULL,
                                 next, tile, begin, end, pass ? WARPS : WARPS - 1, &best);
      else if (!has_bounds && next < portions && begin >= 0)
        try_below<KIND, USUAL, SPARSE>(plan, c, next, begin, end, pass ? WARPS : WARPS - 1, &best);
      if (pass == 0)
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
      shared->parts[warp][k][lane] = best.cost[k];
      shared->parts[warp][RV_STIXELS_CLASSES + k][lane] = best.bottom[k];
    }
    __syncthreads();
  }
}

/* --- Kernel ---------------------------------------------------------------------------------- */

/* The scratch of a column, in shared or global memory. */
template <int KIND, bool USUAL, bool SPARSE>
static __device__ __forceinline__ Column column_at(const RvStixelsPlan &plan,
                                                   const RvStixelsCuda &work, char *scratch,
                                                   size_t x, int is_semantic) {
  const size_t rows = plan.rows;
  Column c;
  c.layout = key_layout_of(&plan);
  c.ending = (Ending *)scratch;
  c.begin = (Begin *)(c.ending + rows);
  c.past = (int4 *)(c.begin + rows + 1);
  c.sums = (RvStixelsSums *)(c.past + (KIND == RV_STIXELS_SLANTED_FAST && USUAL ? rows : 0));
  uint32_t *keys = (uint32_t *)(c.sums + rows + 1);
  c.keys = is_semantic ? keys : NULL;
  c.links = keys + (rows + 1) * c.layout.pitch;
  c.sky = (int32_t *)(c.links + rows);
  c.flat = c.sky + rows + 1;
  c.at = (uint16_t *)(c.flat + (KIND == RV_STIXELS_CONSTANT ? rows + 1 : 0));
  c.cuts = (uint8_t *)(c.at + (SPARSE ? rows + 1 : 0));
  c.cells = work.cells + x * rows;
  c.semantics = work.semantics + x * rows * plan.semantics;
  c.table = work.table;
  c.cut_cost = work.cuts;
  c.steps = work.steps + x * rv_stixels_pitch(plan.rows) * (plan.config.max_disparity + 1);
  return c;
}

/* The portions between cuts: their first rows in c.at. Returns their number, in all threads. */
static __device__ int find_portions(const RvStixelsPlan &plan, const Column &c) {
  const int lane = threadIdx.x % 32;
  int count = 0;
  for (int from = 0; from <= plan.rows; from += 32) {
    const int v = from + lane;
    const bool is_cut = v <= plan.rows && c.cuts[v];
    const unsigned cuts = __ballot_sync(RV_WARP, is_cut);
    if (threadIdx.x < 32 && is_cut)
      c.at[count + __popc(cuts & ((1u << lane) - 1))] = (uint16_t)v;
    count += __popc(cuts);
  }
  return count - 1;
}

template <int KIND, bool USUAL, bool SPARSE, bool SMALL>
static __global__ void __launch_bounds__(THREADS, 2)
    columns_kernel(const __grid_constant__ RvStixelsPlan plan,
                   const __grid_constant__ RvStixelsCuda work, const __grid_constant__ Output out,
                   int is_semantic) {
  extern __shared__ __align__(16) char memory[];
  ColumnsShared *shared = (ColumnsShared *)memory;
  const Turn turn = begin_turn(plan, work);
  const size_t x = turn.column;
  Column c = column_at<KIND, USUAL, SPARSE>(
      plan, work, SMALL ? memory + sizeof(ColumnsShared) : work.columns + x * work.scratch, x,
      is_semantic);
  sum_cells(plan, c);
  if (plan.estimate)
    rv_launch_wait();
  const RvStixelsState state = follow_road<WARPS>(plan, work, out.surface, turn.column, turn.frame);
  c.ground = state.ground;
  sum_ground(plan, c);
  if (c.keys)
    sum_semantics(plan, c);
  uint8_t *codes = out.list.cuts ? out.list.cuts + x * plan.rows : NULL;
  if (SPARSE)
    find_cuts(plan, work.network, c, (uint32_t *)shared->tiles, codes);
  else
    allow_all(plan, c, codes);
  if (KIND == RV_STIXELS_CONSTANT)
    sum_costs(plan, c);
  if (threadIdx.x == 0)
    c.begin[0] = begin_first(plan);
  __syncthreads();
  if (SPARSE) {
    c.portions = find_portions(plan, c);
    __syncthreads();
  }
  resolve_all<KIND, USUAL, SPARSE>(plan, c, shared);
  RvStixel *records = rv_stixels_has_records(&plan) && out.list.stixels ? (RvStixel *)shared : NULL;
  finish<WARPS>(plan, work, c, out, turn, state, records, [&](int structure, int bottom, int top) {
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
    assume_planes<KIND, USUAL>(plan);
    return rv_stixels_fit(&plan, &c.ground, structure, &s, bottom).plane;
  });
}

typedef void (*Kernel)(const RvStixelsPlan, const RvStixelsCuda, const Output, int);

template <bool USUAL, bool SPARSE, bool SMALL> static Kernel kernel_for(int kind) {
  return kind == RV_STIXELS_SLANTED_FAST
             ? columns_kernel<RV_STIXELS_SLANTED_FAST, USUAL, SPARSE, SMALL>
         : kind == RV_STIXELS_SLANTED ? columns_kernel<RV_STIXELS_SLANTED, USUAL, SPARSE, SMALL>
                                      : columns_kernel<RV_STIXELS_CONSTANT, !SPARSE, SPARSE, SMALL>;
}

static Kernel kernel_of(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  const RvStixelsModelKind kind = plan->config.model;
  if (is_sparse(plan))
    return work->is_small ? kernel_for<false, true, true>(kind)
                          : kernel_for<false, true, false>(kind);
  return is_usual(plan)   ? work->is_small ? kernel_for<true, false, true>(kind)
                                           : kernel_for<true, false, false>(kind)
           : work->is_small ? kernel_for<false, false, true>(kind)
                          : kernel_for<false, false, false>(kind);
}

static size_t shared_of(const RvStixelsCuda *work) {
  return sizeof(ColumnsShared) + (work->is_small ? work->scratch : 0);
}

RvStatus rv_stixels_cuda_open_columns(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  RV_CU(&plan->config.log,
        cudaFuncSetAttribute(kernel_of(work, plan), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_of(work)));
  return RV_OK;
}

RvStatus rv_stixels_cuda_columns(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const int is_semantic = rv_stixels_has_semantics(job);
  if (rv_stixels_has_kinds(job))
    return rv_stixels_cuda_kinds(memory, job);
  if (work->is_constant && !is_semantic)
    return rv_stixels_cuda_constant(memory, job);
  return rv_launch(&plan->config.log, kernel_of(work, plan), dim3(plan->columns), dim3(THREADS),
                   shared_of(work), job->stream, work->is_chained, *plan, *work,
                   Output{job->output, job->input.disparity, job->input.surface}, is_semantic);
}
