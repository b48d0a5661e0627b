/* SPDX-License-Identifier: MIT */
/* stixels_cuda_constant.cu: the columns of `constant` without semantics, CUDA engine. As in
 * stixels_cuda_columns.cu, but in integers, and only objects are tried pair by pair: the cost of a
 * ground or sky stixel is a difference of two sums, one of its lowest row and one of its top row,
 * so that the best lowest row so far is the best for all top rows. While one warp resolves 32 top
 * rows, alone of its block on its scheduler, others try stixels that end above them. */
#include "stixels/stixels_cuda_constant.cuh"

/* --- Size ------------------------------------------------------------------------------------ */

static int table_pitch(const RvStixelsPlan *plan, bool is_resident) {
  return is_resident ? (plan->rows + 1) | 1 : rv_stixels_pitch(plan->rows);
}

/* Entries of the arrays by row: one more for the row above, and one for what is read ahead. */
RV_HD int padded(int rows) {
  return rv_div_up(rows, CHUNK) * CHUNK + 1;
}

static size_t shared_bytes(const RvStixelsPlan *plan, bool is_resident, bool is_paired) {
  const size_t px = plan->config.max_disparity + 1;
  return (is_paired ? sizeof(ConstantShared<SM_WARPS / 2>) : sizeof(ConstantShared<SM_WARPS>)) +
         padded(plan->rows) * (sizeof(Begin) + sizeof(int2)) +
         (is_resident ? px * table_pitch(plan, true) * sizeof(int32_t) : 0);
}

/* Whether sums fit in 32 bits and a column in shared memory. */
bool rv_stixels_cuda_is_constant(const RvStixelsPlan *plan) {
  const double most = 255.0 * (256.0 * plan->config.max_disparity + FAR + 1) * plan->rows;
  return plan->config.model == RV_STIXELS_CONSTANT && plan->config.cuts == RV_STIXELS_CUTS_ALL &&
         most < 4294967296.0 && plan->rows <= 32 * TILES &&
         shared_bytes(plan, false, false) <= 63488;
}

bool rv_stixels_cuda_is_resident(const RvStixelsPlan *plan, int shared) {
  return shared_bytes(plan, true, false) + STATIC_SHARED <= (size_t)shared;
}

bool rv_stixels_cuda_is_paired(const RvStixelsPlan *plan, int shared) {
  return 2 * (shared_bytes(plan, true, true) + STATIC_SHARED) <= (size_t)shared;
}

/* --- Column as the list sees it -------------------------------------------------------------- */

namespace { /* of its type, so that the templates of the list find them */
__device__ __forceinline__ int32_t cost_of(const ConstantColumn &p, int row, int structure) {
  return p.begin[row + 1].below.from[structure] - (structure == GROUND   ? p.bias[0]
                                                   : structure == OBJECT ? p.bias[1]
                                                                         : p.bias[2]);
}

__device__ __forceinline__ uint32_t link_of(const ConstantColumn &p, int row, int structure) {
  const uint32_t link = p.ending[row].at[structure];
  return (link & 0x3fff) | link >> 14 << 16;
}

__device__ __forceinline__ uint32_t semantic_key(const RvStixelsPlan &, const ConstantColumn &, int,
                                                 int, int) {
  return 0xffffffffu;
}
} // namespace

/* --- Objects --------------------------------------------------------------------------------- */

static __device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* -FAR - rv_stixels_mean of the cells between two sums. With x = d + w / 2 below 2^32 and a mean
 * below 2^19, x / w is rounded to nearest by a float with an error below 1/2, then down. The sums
 * of weights are bits of floats, so that w is known as a float too. Without valid cells x / w is
 * not a number, which the minimum replaces. */
static __device__ __forceinline__ int far_of(const Begin &low, uint32_t w_high, uint32_t d_high) {
  const uint32_t w = w_high - low.w, x = d_high - low.d + w / 2;
  const float over = __uint_as_float(w_high) - __uint_as_float(low.w), magic = 12582912.0f;
  const float guess =
      fminf(__fmaf_rn(-__uint2float_rn(x), reciprocal(over), magic), magic - (float)FAR);
  const uint32_t q = __float_as_uint(guess) - MAGIC; /* negative */
  return (int)(q + ((x + q * w) >> 31));
}

namespace {
struct Object {
  int32_t cost, far;
};
} // namespace

/* The object from row `bottom` + i to `top`; low, w, d: sums below both. */
static __device__ __forceinline__ Object object_of(const ConstantColumn &p, const Begin &low,
                                                   uint32_t w, uint32_t d, int bottom, int i,
                                                   int top) {
  const int far = far_of(low, w, d), at = (far >> 8) * p.fall;
  const int32_t *begin = (const int32_t *)((const char *)(p.steps + bottom) + at);
  const int32_t *end = (const int32_t *)((const char *)(p.steps + top) + at);
  return {end[1] - begin[i], far};
}

namespace {
/* What tries need beside the column, in registers. IS_NEAR: differences stay below 1024 px. */
struct Tries {
  Rates gravity, ordering;
  int rows, tiles;
};
} // namespace

template <bool IS_NEAR>
static __device__ __forceinline__ Tries tries_of(const RvStixelsPlan &plan) {
  const int rows = held(plan.rows);
  return {rates_of<IS_NEAR>(plan.gravity[0], plan.gravity[1]),
          rates_of<IS_NEAR>({0, 0}, plan.ordering), rows, rv_div_up(rows, 32)};
}

/* Tries the objects that end in row `top` with COUNT lowest rows from `bottom` on; w, d: sums below
 * top + 1. Rows that are tried again do not change the result. Costs are without what an object
 * above sky costs beside its cells. */
template <bool IS_NEAR, int COUNT>
static __device__ __forceinline__ void try_rows(const ConstantColumn &p, const Tries &t, int bottom,
                                                int top, uint32_t w, uint32_t d, Best *best) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const Begin begin = p.begin[bottom + i];
    const Below from = begin.below;
    const Object own = object_of(p, begin, w, d, bottom, i, top);
    const int32_t a =
        from.from[GROUND] + gravity_of<IS_NEAR, false>(t.gravity, begin.ground - own.far);
    const int32_t b =
        from.from[OBJECT] + ordering_of<IS_NEAR, false>(t.ordering, from.far - own.far);
    const int32_t cost = rv_min(rv_min(b, from.from[SKY]), a) + own.cost;
    best->bottom = cost < best->cost ? bottom + i : best->bottom;
    best->cost = rv_min(cost, best->cost);
  }
}

/* Computes the objects within rows first .. first + 31 in 17 rows of pairs: row j contains those
 * with lowest row j from lane j on, and before it those with lowest row 32 - j. Of the last one,
 * which has each object twice, the first half is kept. */
template <bool IS_NEAR>
static __device__ __forceinline__ void compute_tile(const ConstantColumn &p, const Tries &t,
                                                    Tile *tile, int first, int warp, int warps) {
  const int lane = threadIdx.x % 32;
  for (int j = warp; j < 17; j += warps) {
    const int low = lane >= j ? j : 32 - j, high = lane >= j ? lane : low + lane;
    const int top = rv_min(first + high, t.rows - 1), bottom = rv_min(first + low, top);
    const Begin begin = p.begin[bottom];
    const Object own = object_of(p, begin, p.begin[top + 1].w, p.begin[top + 1].d, bottom, 0, top);
    const int32_t cost = own.cost + p.own[OBJECT];
    if (j < 16 || lane < 16)
      tile->at[32 * j + lane] = {
          cost, cost + gravity_of<IS_NEAR, false>(t.gravity, begin.ground - own.far), own.far,
          t.ordering.alpha[1] - (int32_t)t.ordering.beta[1] * own.far};
  }
}

/* --- Order ----------------------------------------------------------------------------------- */

/* Index of the minimum of three; ties: the first. */
static __device__ __forceinline__ uint32_t least_of(int32_t a, int32_t b, int32_t c) {
  const int32_t least = rv_min(rv_min(a, b), c);
  return least == a ? 0 : least == b ? 1 : 2;
}

/* Ground and sky: the predecessor that begin_of selected. */
static __device__ __forceinline__ uint16_t flat_link(const RvStixelsPlan &plan,
                                                     const ConstantColumn &p, int structure,
                                                     int bottom) {
  int32_t last[RV_STIXELS_CLASSES];
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    last[k] = p.begin[bottom].below.from[k] - p.bias[k] + plan.transition[structure][k];
  return (uint16_t)(bottom | least_of(last[0], last[1], last[2]) << 14);
}

template <bool IS_NEAR>
static __device__ __forceinline__ uint16_t object_link(const ConstantColumn &p, const Tries &t,
                                                       int bottom, int far) {
  const Below from = p.begin[bottom].below;
  const int32_t a =
      from.from[GROUND] + gravity_of<IS_NEAR, false>(t.gravity, p.begin[bottom].ground - far);
  const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR, false>(t.ordering, from.far - far);
  return (uint16_t)(bottom | least_of(a, b, from.from[SKY]) << 14);
}

static __device__ __forceinline__ Best less_of(Best a, Best b) {
  return b.cost < a.cost || (b.cost == a.cost && b.bottom < a.bottom) ? b : a;
}

/* The best of COUNT warps for the top row of a lane, by a tree reduction. */
template <int COUNT> static __device__ __forceinline__ Best gather(const int32_t (*parts)[2][32]) {
  return less_of(gather<COUNT / 2>(parts), gather<COUNT - COUNT / 2>(parts + COUNT / 2));
}

template <> __device__ __forceinline__ Best gather<1>(const int32_t (*parts)[2][32]) {
  return {parts[0][0][threadIdx.x % 32], parts[0][1][threadIdx.x % 32]};
}

/* ordering_of the object of a step, with few instructions that depend on the object below. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t ordering_at(const RvStixelsPlan &plan, const Step &step,
                                                      int beta, int last_far) {
  if (!IS_NEAR)
    return rv_stixels_ordering(&plan, last_far - step.far);
  const int32_t penalty = (step.rise + beta * last_far) >> 8;
  return step.far < last_far ? penalty : 0;
}

/* Cost of the object of a step above the best stixels below, with their bias. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t cost_up_to(const RvStixelsPlan &plan, const Step &step,
                                                     int beta, const Below &last) {
  const int32_t above_object = last.from[OBJECT] + ordering_at<IS_NEAR>(plan, step, beta, last.far);
  return rv_min(rv_min(above_object, last.from[SKY]) + step.cost,
                last.from[GROUND] + step.on_ground);
}

namespace {
/* What is the same in all lanes while tiles are resolved. Costs with their bias. */
struct Chain {
  Below last;                /* after the rows so far */
  int32_t on[2][3];          /* transition and fixed cost of ground and sky above each class */
  int32_t beta;              /* of the ordering */
  int ground_from, sky_from; /* lowest rows, after the tiles so far */
};

/* What a lane knows: the best object that ends in its row. */
struct Front {
  int32_t cost;
  int far;
  int from[RV_STIXELS_CLASSES]; /* lowest rows in the tile, from 1 on, by class; 0: below it */
  int32_t before; /* those of the row to be resolved, without the object of this row alone */
  int before_far;
};
} // namespace

static __device__ __forceinline__ Chain chain_of(const RvStixelsPlan &plan,
                                                 const ConstantColumn &p) {
  Chain chain;
  chain.last = p.begin[0].below;
  chain.beta = held((int32_t)(plan.ordering.beta >> 12));
  chain.ground_from = chain.sky_from = 0;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    chain.on[0][k] =
        held(plan.transition[GROUND][k] + plan.fixed_cost[GROUND] + p.bias[GROUND] - p.bias[k]);
    chain.on[1][k] = held(plan.transition[SKY][k] + plan.fixed_cost[SKY] - p.bias[k]);
  }
  return chain;
}

/* Visits row `bottom`, the (k + i)-th of its tile. Ground and sky are the same in all lanes; where
 * they continue, they cost those of the row below plus those of its cell. An object is final after
 * its own row was its lowest row; all lanes compute this last candidate for the lane of that row,
 * because the earlier best can be broadcast one step ahead. Lanes below keep what they have. Ground
 * and objects that start in row 0 are always valid, so only sky may be out of reach. */
template <bool IS_NEAR, bool IS_FIRST>
static __device__ __forceinline__ void
visit(const RvStixelsPlan &plan, const ConstantColumn &p, int bottom, int k, int i, bool is_sky_row,
      const Step &step, const Step &alone, int2 cell, Chain *chain, Front *front) {
  const Below last = chain->last;
  const int32_t *above_ground = chain->on[0], *above_sky = chain->on[1];
  int32_t ground = rv_min(rv_min(last.from[0] + above_ground[0], last.from[1] + above_ground[1]),
                          last.from[2] + above_ground[2]);
  int32_t sky = rv_min(rv_min(last.from[0] + above_sky[0], last.from[1] + above_sky[1]),
                       last.from[2] + above_sky[2]);
  int32_t sky_before = last.from[SKY];
  if (IS_FIRST) {
    ground = plan.at_bottom[GROUND] + plan.fixed_cost[GROUND] + p.bias[GROUND];
    sky = plan.at_bottom[SKY] + plan.fixed_cost[SKY];
    sky_before = OUT_OF_REACH;
  }
  const bool is_ground = ground < last.from[GROUND], is_sky = is_sky_row && sky < sky_before;
  const int32_t cost = cost_up_to<IS_NEAR>(plan, step, chain->beta, last);
  const int32_t cost_alone = cost_up_to<IS_NEAR>(plan, alone, chain->beta, last);
  const int next = k + i + 1;
  const bool is_below = k + i <= (int)threadIdx.x % 32, is_better = is_below && cost < front->cost;
  const bool is_alone = cost_alone < front->before;
  front->from[GROUND] = is_below && is_ground ? next : front->from[GROUND];
  front->from[OBJECT] = is_better ? next : front->from[OBJECT];
  front->from[SKY] = is_below && is_sky ? next : front->from[SKY];
  front->far = is_better ? step.far : front->far;
  front->cost = is_better ? cost : front->cost;
  chain->last = {{rv_min(ground, last.from[GROUND]) + cell.x, rv_min(cost_alone, front->before),
                  (is_sky ? sky : sky_before) + cell.y},
                 is_alone ? alone.far : front->before_far};
  front->before = __shfl_sync(RV_WARP, front->cost, next);
  front->before_far = __shfl_sync(RV_WARP, front->far, next);
  p.begin[bottom + 1].below = chain->last; /* the same in all lanes */
}

/* One instruction instead of the three into which the compiler turns the expression. */
static __device__ __forceinline__ bool has_bit(unsigned bits, int i) {
  unsigned bit = bits & 1u << i;
  asm("" : "+r"(bit));
  return bit != 0;
}

namespace {
/* What is loaded of a tile, one row ahead to hide its latency. */
struct Ahead {
  const char *at, *alone_at; /* of the row of pairs of the current row */
  Step step, alone;
  int2 cell;
};
} // namespace

/* Visits CHUNK rows from the k-th of the tile at `first` on. UPPER: k >= 16, where the rows of
 * pairs are visited in reverse. */
template <bool IS_NEAR, bool UPPER>
static __device__ __forceinline__ void
visit_chunk(const RvStixelsPlan &plan, const ConstantColumn &p, int first, int k, unsigned sky_rows,
            Ahead *ahead, Chain *chain, Front *front) {
  const int bytes = sizeof(Step), by = UPPER ? -33 * bytes : 32 * bytes;
  const int turn = !UPPER && k + CHUNK == 16 ? -16 * bytes : 0; /* from row 15 to the half row 16 */
#pragma unroll
  for (int i = 0; i < CHUNK; i++) {
    if (i == CHUNK - 1) {
      ahead->at += CHUNK * by + turn;
      ahead->alone_at += CHUNK * (by + bytes) + turn;
    }
    const int rows = i < CHUNK - 1 ? i + 1 : 0;
    const Step next = *(const Step *)(ahead->at + rows * by);
    const Step next_alone = *(const Step *)(ahead->alone_at + rows * (by + bytes));
    const int2 next_cell = p.flat[first + k + i + 1];
    if (i > 0 || k > 0 || first > 0)
      visit<IS_NEAR, false>(plan, p, first + k + i, k, i, has_bit(sky_rows, i), ahead->step,
                            ahead->alone, ahead->cell, chain, front);
    ahead->step = next;
    ahead->alone = next_alone;
    ahead->cell = next_cell;
  }
}

/* One warp visits the lowest rows first .. first + 31 in order. */
template <bool IS_NEAR, int WARPS>
static __device__ void resolve(const RvStixelsPlan &plan, const ConstantColumn &p,
                               const ConstantShared<WARPS> *shared, int first, Chain *chain) {
  const int lane = threadIdx.x, top = rv_min(first + lane, plan.rows - 1);
  const int count = rv_min(plan.rows - first, 32);
  const Step *tile = shared->tiles[first / 32 % 2].at;
  Front front = {RV_STIXELS_INFINITE + p.bias[OBJECT], 0, {0, 0, 0}, 0, 0};
  int below = 0;
  if (first > 0) {
    const Best best = gather<WARPS>(shared->parts);
    front.cost = best.cost + p.own[OBJECT];
    front.far = far_of(p.begin[best.bottom], p.begin[top + 1].w, p.begin[top + 1].d);
    below = best.bottom;
  }
  unsigned sky_rows = __ballot_sync(RV_WARP, rv_stixels_is_sky_row(&p.ground, first + lane));
  front.before = __shfl_sync(RV_WARP, front.cost, 0);
  front.before_far = __shfl_sync(RV_WARP, front.far, 0);
  Ahead ahead = {(const char *)(tile + lane), (const char *)tile, tile[lane], tile[0],
                 p.flat[first]};
  if (first == 0)
    visit<IS_NEAR, true>(plan, p, 0, 0, 0, sky_rows & 1, ahead.step, ahead.alone, ahead.cell, chain,
                         &front);
#pragma unroll 1
  for (int k = 0; k < count; k += CHUNK) {
    if (k < 16)
      visit_chunk<IS_NEAR, false>(plan, p, first, k, sky_rows, &ahead, chain, &front);
    else
      visit_chunk<IS_NEAR, true>(plan, p, first, k, sky_rows, &ahead, chain, &front);
    sky_rows >>= CHUNK;
  }
  const int *from = front.from;
  const int ground_from = from[GROUND] ? first + from[GROUND] - 1 : chain->ground_from;
  const int sky_from = from[SKY] ? first + from[SKY] - 1 : chain->sky_from;
  __syncwarp();
  if (lane < count) /* instead of the cells */
    p.ending[first + lane] = {{(uint16_t)ground_from,
                               (uint16_t)(from[OBJECT] ? first + from[OBJECT] - 1 : below),
                               (uint16_t)sky_from, 0}};
  chain->ground_from = __shfl_sync(RV_WARP, ground_from, 31);
  chain->sky_from = __shfl_sync(RV_WARP, sky_from, 31);
}

/* When all rows are resolved: finds the predecessors of the best stixels of each row. */
template <bool IS_NEAR, int WARPS>
static __device__ __forceinline__ void link_all(const RvStixelsPlan &plan, const ConstantColumn &p,
                                                const Tries &t) {
  for (int v = threadIdx.x; v < plan.rows; v += 32 * WARPS) {
    const Links ends = p.ending[v];
    p.ending[v] = {{flat_link(plan, p, GROUND, ends.at[0]),
                    object_link<IS_NEAR>(p, t, ends.at[1], p.begin[v + 1].below.far),
                    flat_link(plan, p, SKY, ends.at[2]), 0}};
  }
  __syncthreads();
}

/* Number of warps that work while warp 0 resolves. */
RV_HD int workers_of(int warps) {
  return warps - warps / SCHEDULERS + BESIDE;
}

/* Number among those workers, BESIDE of them on the scheduler of warp 0; -1: none of them. */
template <int WARPS> static __device__ __forceinline__ int worker_of(int warp) {
  const int turn = warp / SCHEDULERS;
  return warp % SCHEDULERS            ? warp - turn - 1
         : turn > 0 && turn <= BESIDE ? workers_of(WARPS) - turn
                                      : -1;
}

/* Tries objects that end above the tile that is being resolved and start below it. The tries are
 * distributed equally over all tiles, nearest top rows first, because the first tiles have few of
 * their own and the last ones many; and over the workers, in groups of GROUP lowest rows, of which
 * a worker has those of one or two tiles in a row. The best of each tile so far are in local
 * memory; `tried` of a tile is in the lane of its number. */
template <bool IS_NEAR, int WARPS>
static __device__ __forceinline__ void try_ahead(const ConstantColumn &p, const Tries &t, int tile,
                                                 int worker, Best *best, int *tried) {
  const int lane = threadIdx.x % 32, below = 32 * tile;
  const int own = lane > tile && lane < t.tiles ? rv_div_up(below - *tried, GROUP) : 0;
  const int most =
      rv_max(rv_div_up(16 * (t.tiles - 1), GROUP), __shfl_sync(RV_WARP, own, tile + 1));
  const int upto = rv_warp_scan(own), end = rv_min(upto, most), begin = rv_min(upto - own, most);
  const int count = __shfl_sync(RV_WARP, end, 31);
  const int workers = workers_of(WARPS);
  const int from = worker * count / workers, to = (worker + 1) * count / workers;
  const int base = *tried - GROUP * begin; /* its lowest row for group 0 */
  unsigned left = __ballot_sync(RV_WARP, rv_max(begin, from) < rv_min(end, to));
#pragma unroll 1
  for (; left; left &= left - 1) {
    const int at = __ffs((int)left) - 1, top = rv_min(32 * at + lane, t.rows - 1);
    const int low = __shfl_sync(RV_WARP, base + GROUP * rv_max(begin, from), at);
    const int high = __shfl_sync(RV_WARP, base + GROUP * rv_min(end, to), at);
    const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
    const int32_t before = best[at].cost;
    Best found = {RV_STIXELS_INFINITE - p.own[SKY], 0};
#pragma unroll 1
    for (int bottom = low; bottom < high; bottom += GROUP)
      try_rows<IS_NEAR, GROUP>(p, t, rv_min(bottom, below - GROUP), top, w, d, &found);
    if (found.cost < before)
      best[at] = found;
  }
  *tried = rv_min(*tried + GROUP * (end - begin), below);
}

/* Tries the objects that start in the tile at `first` and end in the next one, by all warps, which
 * leave what they have found. */
template <bool IS_NEAR, int WARPS>
static __device__ __forceinline__ void try_resolved(const ConstantColumn &p, const Tries &t,
                                                    ConstantShared<WARPS> *shared, int first,
                                                    int warp, Best best) {
  const int lane = threadIdx.x % 32, top = rv_min(first + 32 + lane, t.rows - 1);
  const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
  try_rows<IS_NEAR, 32 / WARPS>(p, t, first + 32 / WARPS * warp, top, w, d, &best);
  shared->parts[warp][0][lane] = best.cost;
  shared->parts[warp][1][lane] = best.bottom;
}

/* Resolves all tiles: one warp resolves a tile while the others try ahead. */
template <bool IS_NEAR, int WARPS>
static __device__ __forceinline__ void
resolve_all(const RvStixelsPlan &plan, const ConstantColumn &p, ConstantShared<WARPS> *shared) {
  const int warp = threadIdx.x / 32, worker = worker_of<WARPS>(warp);
  const Tries t = tries_of<IS_NEAR>(plan);
  const Best none = {RV_STIXELS_INFINITE - p.own[SKY], 0};
  Chain chain = chain_of(plan, p);
  Best ahead[TILES];
  int tried = 0;
#pragma unroll 1
  for (int k = 0; k < t.tiles; k++)
    ahead[k] = none;
  compute_tile<IS_NEAR>(p, t, &shared->tiles[0], 0, warp, WARPS);
  __syncthreads();
#pragma unroll 1
  for (int tile = 0; tile < t.tiles; tile++) {
    const int first = 32 * tile, next = first + 32;
    Best best = none;
    if (warp == 0) {
      resolve<IS_NEAR>(plan, p, shared, first, &chain);
    } else if (worker >= 0 && next < t.rows) {
      compute_tile<IS_NEAR>(p, t, &shared->tiles[(tile + 1) % 2], next, worker, workers_of(WARPS));
      try_ahead<IS_NEAR, WARPS>(p, t, tile, worker, ahead, &tried);
      best = ahead[tile + 1];
    }
    __syncthreads();
    if (next < t.rows)
      try_resolved<IS_NEAR>(p, t, shared, first, warp, best);
    __syncthreads();
  }
  link_all<IS_NEAR, WARPS>(plan, p, t);
}

/* --- Kernel ---------------------------------------------------------------------------------- */

/* RESIDENT: the table of steps is in shared memory. WARPS: of a block, SM_WARPS if it has an SM for
 * itself, half of them if two share one. */
template <bool RESIDENT, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS, SM_WARPS / WARPS)
    constant_kernel(const __grid_constant__ RvStixelsPlan plan,
                    const __grid_constant__ RvStixelsCuda work,
                    const __grid_constant__ Output out) {
  extern __shared__ __align__(16) char memory[];
  __shared__ Range range;
  ConstantShared<WARPS> *shared = (ConstantShared<WARPS> *)memory;
  if (threadIdx.x == 0)
    range = {RV_STIXELS_INFINITE, 0};
  const Turn turn = begin_turn(plan, work);
  const size_t x = turn.column, rows = plan.rows;
  ConstantColumn p;
  p.begin = (Begin *)(shared + 1);
  p.flat = (int2 *)(p.begin + padded(plan.rows));
  p.links = shared->list;
  const int pitch = RESIDENT ? (plan.rows + 1) | 1 : rv_stixels_pitch(plan.rows);
  p.fall = held(-pitch * (int)sizeof(int32_t));
  int32_t *steps = RESIDENT ? (int32_t *)(p.flat + padded(plan.rows))
                            : work.steps + x * pitch * (plan.config.max_disparity + 1);
  p.steps = steps - pitch;
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.own[k] = plan.transition[OBJECT][k] + plan.fixed_cost[OBJECT];
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.bias[k] = p.own[k] - p.own[SKY];
  for (int v = threadIdx.x; v < plan.rows && out.list.cuts; v += 32 * WARPS)
    out.list.cuts[x * rows + v] = RV_STIXELS_CUT_SURE;
  int is_full = 1, low = RV_STIXELS_INFINITE, high = 0;
  for (int v = threadIdx.x; v <= plan.rows; v += 32 * WARPS) {
    const RvStixelsCell cell = v < plan.rows ? work.cells[x * rows + v] : RvStixelsCell{0, 0, 0};
    set_cell(&p.begin[v], cell);
    is_full = is_full && (cell.weight == 0 || cell.confidence == 255);
    if (cell.weight) {
      const int px = rv_max(rv_stixels_nearest(16 * cell.disparity), 1);
      low = rv_min(low, px), high = rv_max(high, px);
    }
  }
  low = rv_warp_min(low), high = rv_warp_max(high);
  if (threadIdx.x % 32 == 0 && high > 0) {
    atomicMin(&range.low, low);
    atomicMax(&range.high, high);
  }
#pragma unroll
  for (int i = threadIdx.x; i < RV_STIXELS_TABLE; i += 32 * WARPS)
    shared->table[entry_of(i)] = work.table[OBJECT * RV_STIXELS_TABLE + i];
  if (threadIdx.x == 0)
    shared->table[entry_of(RV_STIXELS_TABLE)] = plan.invalid_cost;
  is_full = __syncthreads_and(is_full);
  if (!RESIDENT)
    sum_steps_far<WARPS>(plan, shared->table, p, range, pitch, steps);
  else if (is_full)
    sum_steps_near<true, WARPS>(plan, shared->table, p, range, pitch, steps);
  else
    sum_steps_near<false, WARPS>(plan, shared->table, p, range, pitch, steps);
  const RvStixelsState state = expect_ground(plan, work, out.surface, turn);
  p.ground = state.ground;
  set_rows<WARPS>(plan, p, work.table);
  if (threadIdx.x == 0) {
    const int32_t none = OUT_OF_REACH - p.own[SKY];
    p.begin[0].below = {{none, none, plan.fixed_cost[OBJECT] + plan.at_bottom[OBJECT] - p.own[SKY]},
                        0};
  }
  __syncthreads();
  sum_rows<WARPS>(plan, p);
  __syncthreads();
  const bool is_near = plan.config.max_disparity <= NEAR_PX && work.has_plain_penalties &&
                       rv_abs(rv_stixels_value(&p.ground, 0)) <= 256 * NEAR_PX &&
                       rv_abs(rv_stixels_value(&p.ground, plan.rows)) <= 256 * NEAR_PX;
  if (is_near)
    resolve_all<true>(plan, p, shared);
  else
    resolve_all<false>(plan, p, shared);
  RvStixel *records =
      rv_stixels_has_records(&plan) && out.list.stixels ? (RvStixel *)(shared->list + rows) : NULL;
  finish<WARPS>(plan, work, p, out, turn, state, records, [&](int structure, int bottom, int top) {
    const Begin *low = p.begin + bottom, *high = p.begin + top + 1;
    return structure == GROUND
               ? RvStixelsPlane{p.ground.at + p.ground.slope * bottom, p.ground.slope}
           : structure == SKY
               ? RvStixelsPlane{0, 0}
               : RvStixelsPlane{(int64_t)(-FAR - far_of(*low, high->w, high->d)) << 16, 0};
  });
}

typedef void (*ConstantKernel)(RvStixelsPlan, RvStixelsCuda, Output);

static ConstantKernel kernel_of(const RvStixelsCuda *work) {
  return work->is_paired     ? constant_kernel<true, SM_WARPS / 2>
         : work->is_resident ? constant_kernel<true, SM_WARPS>
                             : constant_kernel<false, SM_WARPS>;
}

RvStatus rv_stixels_cuda_open_constant(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  return rv_launch_allow_shared(&plan->config.log, kernel_of(work));
}

RvStatus rv_stixels_cuda_constant(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const int threads = 32 * (work->is_paired ? SM_WARPS / 2 : SM_WARPS);
  return rv_launch(
      &plan->config.log, kernel_of(work), dim3(plan->columns), dim3(threads),
      shared_bytes(plan, work->is_resident, work->is_paired), job->stream, work->is_chained, *plan,
      *work, Output{job->output, {job->input.disparity, job->input.labels}, job->input.surface});
}
