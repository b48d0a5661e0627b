/* SPDX-License-Identifier: MIT */
/* stixels_cuda_tries.cuh: what the threads of a block of stixels_cuda_columns.cu share, and the
 * stixels that they try: those within a tile, and those that start below it. Not installed. */
#ifndef RV_STIXELS_CUDA_TRIES_CUH
#define RV_STIXELS_CUDA_TRIES_CUH

#include "stixels/stixels_cuda_list.cuh"

#define WARPS 8         /* per block */
#define BOUNDED_TILES 9 /* minimum number of tiles for which bounds are used */
#define FAR_TILES 3     /* the same for stixels that start below the tile resolved last */
#define THREADS (32 * WARPS)
#define SCHEDULERS 4    /* per SM: warps are assigned to them in turn */
#define PAIRS (33 * 16) /* of lowest and top row in a tile, see pair_of */
#define GROUND RV_STIXEL_GROUND
#define OBJECT RV_STIXEL_OBJECT
#define SKY RV_STIXEL_SKY

namespace {
/* The stixels of a pair of lowest and top row, without their predecessors. */
struct __align__(16) Costs {
  int32_t cost[2], mu[2]; /* of ground and object; OUT_OF_REACH where invalid */
};
struct __align__(8) Planes {
  int32_t next[2];
};

/* The stixels within a tile. */
struct Tile {
  Costs costs[PAIRS];
  Planes planes[PAIRS];
  int32_t sky[PAIRS]; /* cost */
};

/* Those that start in the first of two tiles and end in the second: [lowest row][top row], in
 * tiles. */
struct Across {
  Costs costs[32 * 32];
  Planes planes[32 * 32];
  int32_t sky[32 * 32];
};

/* Shared memory layout of a block; the scratch of the column follows. */
struct __align__(16) ColumnsShared {
  Tile tiles[2];
  int32_t parts[WARPS][2 * RV_STIXELS_CLASSES]
               [32];                     /* the best stixels of each warp by top row: Best */
  int32_t ahead[RV_STIXELS_CLASSES][32]; /* see compute_ahead */
  int32_t limit[RV_STIXELS_CLASSES][32]; /* upper limit of the best cost by top row */
  int32_t least[2][2][32]; /* [tile % 2][class][top row]: best cost of any warp so far; `slanted` */
  unsigned taken;          /* rows of Across that a warp computes or has computed */
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

/* A start above the best stixels below; t: costs of transitions; cut: that of the start. */
static __device__ __forceinline__ Begin begin_after(const int32_t t[][RV_STIXELS_CLASSES],
                                                    const int32_t best[3], const int32_t next[2],
                                                    int32_t cut) {
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

/* Index of the stixel from the k-th to the `last`-th row of a tile. */
static __device__ __forceinline__ int pair_of(int k, int last, int tile) {
  return k * (tile - 1) - k * (k - 1) / 2 + last;
}

/* --- Bounds ---------------------------------------------------------------------------------- */

/* Upper parts of the bounds by top row: from `first` on. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void compute_ahead(const RvStixelsPlan &plan, const Column &c,
                                                     ColumnsShared *shared, int first) {
  const int lane = threadIdx.x % 32, top = rv_min(first + lane, plan.rows - 1);
  const RvStixelsSums s = rv_stixels_between(&c.sums[first], &c.sums[top + 1]);
  assume_planes<KIND, USUAL>(plan);
  const double error = rv_stixels_free_error(&plan, &s, first);
  int32_t ground = rv_stixels_cost_fast(&plan, GROUND, &s, top + 1 - first, 0);
  int32_t object = rv_stixels_cost_fast(&plan, OBJECT, &s, top + 1 - first, error);
  if (c.keys) {
    ground = rv_stixels_add(ground, cost_of_classes<USUAL>(plan, c, GROUND, first, top));
    object = rv_stixels_add(object, cost_of_classes<USUAL>(plan, c, OBJECT, first, top));
  }
  const int32_t sky = sky_cost<USUAL>(plan, c, first, top);
  shared->ahead[GROUND][lane] = rv_stixels_upper_part(&plan, GROUND, ground);
  shared->ahead[OBJECT][lane] = rv_stixels_upper_part(&plan, OBJECT, object);
  shared->ahead[SKY][lane] = rv_stixels_upper_part(&plan, SKY, sky);
}

/* Upper limits by top row of the tile at `first`: the cost of the stixels that start in
 * `bottom`. */
template <int KIND, int USUAL>
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

/* Lower parts of the bounds by lowest row, of 0 .. end - 1: below `first`. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void compute_past(const RvStixelsPlan &plan, const Column &c,
                                                    int first, int end, int warp, int warps) {
  for (int v = 32 * warp + (int)threadIdx.x % 32; v < end; v += 32 * warps) {
    const RvStixelsSums s = rv_stixels_between(&c.sums[v], &c.sums[first]);
    Own own[2];
    own_both<KIND, USUAL>(plan, c, v, first - 1, s, own);
    c.past[v] = make_int4(own[0].cost, own[1].cost,
                          own_of<KIND, USUAL>(plan, c, SKY, v, first - 1, s).cost, 0);
  }
}

/* The same of the stixels within a tile that end with it. */
static __device__ __forceinline__ void copy_past(const Column &c, const Tile *own, int first,
                                                 int tile) {
  const int lane = threadIdx.x % 32, at = pair_of(lane, tile - 1, tile);
  if (lane < tile)
    c.past[first + lane] = make_int4(own->costs[at].cost[0], own->costs[at].cost[1],
                                     rv_min(own->sky[at], RV_STIXELS_INFINITE), 0);
}

/* As try_below, but skips stixels that no lane can use. The nearest lowest rows come first; they
 * are the most likely. tile: the one at `first` if its first row is resolved below, else NULL.
 * has_limits: whether those of ColumnsShared are known. All lanes of the warp call it. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void try_bounded(const RvStixelsPlan &plan, const Column &c,
                                                   const ColumnsShared *shared, const Tile *tile,
                                                   int first, int size, int begin, int end,
                                                   int step, Best *best, bool has_limits = true) {
  const int lane = threadIdx.x % 32;
  const int32_t ahead[] = {shared->ahead[0][lane], shared->ahead[1][lane], shared->ahead[2][lane]};
  int32_t limit[] = {RV_STIXELS_INFINITE, RV_STIXELS_INFINITE, RV_STIXELS_INFINITE};
  if (has_limits)
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      limit[k] = shared->limit[k][lane];
  if (tile && c.cuts[first]) {
    const Begin from = c.begin[first];
    const Costs own = tile->costs[lane];
    limit[GROUND] =
        rv_min(limit[GROUND], own.cost[GROUND] + cost_up_to<GROUND>(plan, from, own.mu[GROUND]));
    limit[OBJECT] =
        rv_min(limit[OBJECT], own.cost[OBJECT] + cost_up_to<OBJECT>(plan, from, own.mu[OBJECT]));
    limit[SKY] = rv_min(limit[SKY], tile->sky[lane] + from.sky);
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

/* Tries the stixels that end in portion `first` + lane, with every `step`-th lowest portion
 * of begin .. end - 1. */
template <int KIND, int USUAL, bool SPARSE>
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
    Own own[2];
    own_both<KIND, USUAL>(plan, c, bottom, top, s, own);
    offer(best, GROUND, bottom, own[0].cost + cost_up_to<GROUND>(plan, from, own[0].mu));
    offer(best, OBJECT, bottom, own[1].cost + cost_up_to<OBJECT>(plan, from, own[1].mu));
    if (rv_stixels_is_sky_row(&c.ground, bottom))
      offer(best, SKY, bottom, own_of<KIND, USUAL>(plan, c, SKY, bottom, top, s).cost + from.sky);
  }
}

/* What a stixel above `from` may cost to be the best where the best so far costs `best`; no limit
 * for saturated costs. */
template <int STRUCTURE>
static __device__ __forceinline__ int64_t limit_above(const Begin &from, int32_t best) {
  const int32_t least = STRUCTURE == GROUND
                            ? rv_min(from.ground_ground, from.ground)
                            : rv_min(rv_min(from.object_ground, from.object_object), from.object);
  return rv_stixels_can_improve(INT32_MAX, best) ? NO_LIMIT : (int64_t)best - least;
}

/* As try_below, for `slanted`: sums stop once a stixel cannot be the best. What all warps have
 * found so far is the limit: `least`. The nearest lowest portions come first; they are the most
 * likely. tile: the one at `first` if its first row is resolved below, else NULL. */
template <int USUAL, bool SPARSE>
static __device__ __forceinline__ void
try_within(const RvStixelsPlan &plan, const Column &c, int32_t (*least)[32], const Tile *tile,
           int first, int size, int begin, int end, int step, Best *best) {
  const int count = rv_min(size, portions_of<SPARSE>(plan, c) - first);
  const int lane = rv_min((int)threadIdx.x % 32, count - 1);
  const int top = row_of<SPARSE>(c, first + lane + 1) - 1;
  const RvStixelsSums upto = c.sums[top + 1];
  int32_t limit[] = {RV_STIXELS_INFINITE, RV_STIXELS_INFINITE};
  if (tile) {
    const Begin from = c.begin[first];
    const Costs own = tile->costs[lane];
    limit[GROUND] = own.cost[GROUND] + cost_up_to<GROUND>(plan, from, own.mu[GROUND]);
    limit[OBJECT] = own.cost[OBJECT] + cost_up_to<OBJECT>(plan, from, own.mu[OBJECT]);
  }
  for (int k = begin + (end - 1 - begin) / step * step; k >= begin; k -= step) {
    const int bottom = row_of<SPARSE>(c, k);
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &upto);
    const Begin from = c.begin[k];
    limit[GROUND] = rv_min(limit[GROUND], atomicMin(&least[GROUND][lane], limit[GROUND]));
    const Own ground = own_within<USUAL>(plan, c, GROUND, bottom, top, s,
                                         limit_above<GROUND>(from, limit[GROUND]));
    offer(best, GROUND, bottom, ground.cost + cost_up_to<GROUND>(plan, from, ground.mu));
    limit[OBJECT] = rv_min(limit[OBJECT], atomicMin(&least[OBJECT][lane], limit[OBJECT]));
    const Own object = own_within<USUAL>(plan, c, OBJECT, bottom, top, s,
                                         limit_above<OBJECT>(from, limit[OBJECT]));
    offer(best, OBJECT, bottom, object.cost + cost_up_to<OBJECT>(plan, from, object.mu));
    if (rv_stixels_is_sky_row(&c.ground, bottom))
      offer(best, SKY, bottom, sky_cost<USUAL>(plan, c, bottom, top) + from.sky);
    limit[GROUND] = rv_min(limit[GROUND], best->cost[GROUND]);
    limit[OBJECT] = rv_min(limit[OBJECT], best->cost[OBJECT]);
  }
}

/* Stores the stixel bottom..top of all classes. */
template <int KIND, int USUAL, class T>
static __device__ __forceinline__ void compute_own(const RvStixelsPlan &plan, const Column &c,
                                                   T *out, int at, int bottom, int top) {
  const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
  Own own[2];
  own_both<KIND, USUAL>(plan, c, bottom, top, s, own);
  const int32_t sky = rv_stixels_is_sky_row(&c.ground, bottom)
                          ? own_of<KIND, USUAL>(plan, c, SKY, bottom, top, s).cost
                          : OUT_OF_REACH;
  out->costs[at] = {{own[0].cost, own[1].cost}, {own[0].mu, own[1].mu}};
  out->planes[at] = {{own[0].next, own[1].next}};
  out->sky[at] = sky;
}

/* Computes the stixels from the first tile to the one at `first`, by as many warps as call it. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void compute_across(const RvStixelsPlan &plan, const Column &c,
                                                      ColumnsShared *shared, int first) {
  const int lane = threadIdx.x % 32, top = rv_min(first + lane, plan.rows - 1);
  for (;;) {
    const unsigned taken = lane == 0 ? atomicAdd(&shared->taken, 1u) : 0;
    const int bottom = (int)__shfl_sync(RV_WARP, taken, 0);
    if (bottom >= first)
      break;
    compute_own<KIND, USUAL>(plan, c, c.across, 32 * bottom + lane, bottom, top);
  }
}

/* As try_below, for the stixels of compute_across. */
static __device__ __forceinline__ void try_across(const RvStixelsPlan &plan, const Column &c,
                                                  int begin, int end, int step, Best *best) {
  for (int bottom = begin; bottom < end; bottom += step) {
    const int at = 32 * bottom + (int)threadIdx.x % 32;
    const Costs own = c.across->costs[at];
    const Begin from = c.begin[bottom];
    offer(best, GROUND, bottom, own.cost[GROUND] + cost_up_to<GROUND>(plan, from, own.mu[GROUND]));
    offer(best, OBJECT, bottom, own.cost[OBJECT] + cost_up_to<OBJECT>(plan, from, own.mu[OBJECT]));
    offer(best, SKY, bottom, c.across->sky[at] + from.sky);
  }
}

/* Computes the stixels within the `tile` portions from `first` on in up to 17 rows of pairs: row j
 * contains those with lowest portion j from lane j on, and before it those with lowest portion
 * tile - j. */
template <int KIND, int USUAL, bool SPARSE>
static __device__ __forceinline__ void compute_tile(const RvStixelsPlan &plan, const Column &c,
                                                    Tile *out, int first, int tile, int warp,
                                                    int warps) {
  const int lane = threadIdx.x % 32;
  const int end = rv_min(first + tile, portions_of<SPARSE>(plan, c));
  for (int j = warp; 2 * j <= tile; j += warps) {
    const int from = lane >= j ? j : tile - j, last = first + (lane >= j ? lane : from + lane);
    if (last >= end)
      continue;
    const int bottom = row_of<SPARSE>(c, first + from), top = row_of<SPARSE>(c, last + 1) - 1;
    compute_own<KIND, USUAL>(plan, c, out, pair_of(from, last - first, tile), bottom, top);
  }
}

#endif
