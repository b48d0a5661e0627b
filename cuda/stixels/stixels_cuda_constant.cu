/* SPDX-License-Identifier: MIT */
/* stixels_cuda_constant.cu: the columns of `constant` without semantics, CUDA engine. As in
 * stixels_cuda_columns.cu, but in integers, and only objects are tried pair by pair: the cost of a
 * ground or sky stixel is a difference of two sums, one of its lowest row and one of its top row,
 * so that the best lowest row so far is the best for all top rows. While one warp resolves 32 top
 * rows, alone on its scheduler, others try stixels that end above them. */
#include "stixels/stixels_cuda_constant.cuh"

/* --- Size ------------------------------------------------------------------------------------ */

static int table_pitch(const RvStixelsPlan *plan, bool is_resident) {
  return is_resident ? (plan->rows + 1) | 1 : rv_stixels_pitch(plan->rows);
}

/* Entries of the arrays by row: one more for the row above, and one for what is read ahead. */
RV_HD int padded(int rows) {
  return rv_div_up(rows, CHUNK) * CHUNK + 1;
}

static size_t shared_bytes(const RvStixelsPlan *plan, bool is_resident) {
  const size_t px = plan->config.max_disparity + 1;
  return sizeof(ConstantShared) + padded(plan->rows) * (sizeof(Begin) + sizeof(int2)) +
         (is_resident ? px * table_pitch(plan, true) * sizeof(int32_t) : 0);
}

/* Whether sums fit in 32 bits and a column in shared memory. */
bool rv_stixels_cuda_is_constant(const RvStixelsPlan *plan) {
  const double most = 255.0 * 256 * plan->config.max_disparity * plan->rows + 255.0 * plan->rows;
  return plan->config.model == RV_STIXELS_CONSTANT && plan->config.cuts == RV_STIXELS_CUTS_ALL &&
         most < 4294967296.0 && plan->rows <= 32 * TILES && shared_bytes(plan, false) <= 63488;
}

bool rv_stixels_cuda_is_resident(const RvStixelsPlan *plan, int shared) {
  return shared_bytes(plan, true) + STATIC_SHARED <= (size_t)shared;
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

/* (d + w / 2) / w, which is rv_stixels_mean, for d = 16 x weight x disparity below 2^32, w below
 * 2^23 and a mean below 2^19: rounded to nearest by a float with an error below 1/2, then down. */
static __device__ __forceinline__ int mean_of(uint32_t d, uint32_t w) {
  const uint32_t x = d + w / 2, magic = 0x4b000000; /* bits of 2^23 as a float */
  const float over = fmaxf(__uint_as_float(magic + w) - 8388608.0f, 1.0f);
  const float guess = __fmaf_rn(__uint2float_rn(x), reciprocal(over), 8388608.0f);
  const int q = (int)(__float_as_uint(guess) - magic);
  return q + ((int32_t)(x - (uint32_t)q * w) >> 31);
}

namespace {
struct Object {
  int32_t cost, mu;
};
} // namespace

static __device__ __forceinline__ Object object_of(const ConstantColumn &p, uint32_t w, uint32_t d,
                                                   int bottom, int top) {
  const int mu = mean_of(d, w), at = rv_stixels_nearest(mu) * (p.pitch * (int)sizeof(int32_t));
  const char *low = (const char *)(p.steps + bottom), *high = (const char *)(p.steps + top + 1);
  return {*(const int32_t *)(high + at) - *(const int32_t *)(low + at), mu};
}

/* The same in all lanes, which the compiler does not know: it keeps the value in a register. */
static __device__ __forceinline__ int32_t held(int32_t value) {
  return __shfl_sync(RV_WARP, value, 0);
}

namespace {
/* Of the penalties with IS_NEAR, in registers: by 1/256 px, times 256. */
struct Near {
  int32_t up, down;    /* gravity above and, negative, below ground */
  int32_t alpha, beta; /* ordering */
};
} // namespace

static __device__ __forceinline__ Near near_of(const RvStixelsPlan &plan) {
  return {held((int32_t)(plan.gravity[1].beta >> 12)), held(-(int32_t)(plan.gravity[0].beta >> 12)),
          held(plan.ordering.alpha << 8), held((int32_t)(plan.ordering.beta >> 12))};
}

/* Penalties of an object above ground and above an object. IS_NEAR: differences stay below 1024 px
 * and products below 2^31, so that neither is clamped, and gravity is proportional to them. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t gravity_of(const RvStixelsPlan &plan, const Near &near,
                                                     int up) {
  return IS_NEAR ? rv_max(near.up * up, near.down * up) >> 8 : rv_stixels_gravity(&plan, up);
}

template <bool IS_NEAR>
static __device__ __forceinline__ int32_t ordering_of(const RvStixelsPlan &plan, const Near &near,
                                                      int over) {
  if (!IS_NEAR)
    return rv_stixels_ordering(&plan, over);
  const int32_t penalty = (near.beta * over + near.alpha) >> 8;
  return over > 0 ? penalty : 0;
}

/* Tries the object bottom..top; w, d: sums below top + 1. Costs are without what an object above
 * sky costs beside its cells. */
template <bool IS_NEAR>
static __device__ __forceinline__ void try_one(const RvStixelsPlan &plan, const ConstantColumn &p,
                                               const Near &near, int bottom, int top, uint32_t w,
                                               uint32_t d, Best *best) {
  const Begin begin = p.begin[bottom];
  const Below from = begin.below;
  const Object own = object_of(p, w - begin.w, d - begin.d, bottom, top);
  const int32_t a = from.from[GROUND] + gravity_of<IS_NEAR>(plan, near, own.mu - begin.ground);
  const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR>(plan, near, own.mu - from.mu);
  const int32_t cost = rv_min(rv_min(b, from.from[SKY]), a) + own.cost;
  best->bottom = cost < best->cost ? bottom : best->bottom;
  best->cost = rv_min(cost, best->cost);
}

/* Tries the objects that end in row `first` + lane, with every `step`-th lowest row of begin .. end
 * - 1, SIDE of them interleaved. The last may be tried more than once, which does not change the
 * result. */
template <bool IS_NEAR, int SIDE>
static __device__ __forceinline__ void try_below(const RvStixelsPlan &plan, const ConstantColumn &p,
                                                 const Near &near, int rows, int first, int begin,
                                                 int end, int step, Best *best) {
  const int top = rv_min(first + (int)threadIdx.x % 32, rows - 1);
  const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
#pragma unroll 1
  for (int from = begin; from < end; from += SIDE * step)
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      try_one<IS_NEAR>(plan, p, near, rv_min(from + i * step, end - 1), top, w, d, best);
}

/* Index of the object from the k-th row to the row of a lane, at least k, in a tile. */
static __device__ __forceinline__ int slot_of(int k, int lane) {
  return 31 * k - k * (k - 1) / 2 + lane;
}

/* Computes the objects within rows first .. first + 31 in 17 rows of pairs: row j contains those
 * with lowest row j from lane j on, and before it those with lowest row 32 - j. */
template <bool IS_NEAR>
static __device__ __forceinline__ void compute_tile(const RvStixelsPlan &plan,
                                                    const ConstantColumn &p, const Near &near,
                                                    Tile *tile, int first, int warp, int warps) {
  const int lane = threadIdx.x % 32;
  for (int j = warp; j < 17; j += warps) {
    const int low = lane >= j ? j : 32 - j, high = lane >= j ? lane : low + lane;
    const int top = rv_min(first + high, plan.rows - 1), bottom = rv_min(first + low, top);
    const uint32_t w = p.begin[top + 1].w - p.begin[bottom].w;
    const uint32_t d = p.begin[top + 1].d - p.begin[bottom].d;
    const Object own = object_of(p, w, d, bottom, top);
    const int32_t cost = own.cost + p.own[OBJECT];
    if (high < 32)
      tile->at[slot_of(low, high)] = {
          cost, cost + gravity_of<IS_NEAR>(plan, near, own.mu - p.begin[bottom].ground), own.mu,
          near.beta * own.mu + near.alpha};
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
static __device__ __forceinline__ uint16_t object_link(const RvStixelsPlan &plan,
                                                       const ConstantColumn &p, const Near &near,
                                                       int bottom, int mu) {
  const Below from = p.begin[bottom].below;
  const int32_t a =
      from.from[GROUND] + gravity_of<IS_NEAR>(plan, near, mu - p.begin[bottom].ground);
  const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR>(plan, near, mu - from.mu);
  return (uint16_t)(bottom | least_of(a, b, from.from[SKY]) << 14);
}

static __device__ __forceinline__ Best less_of(Best a, Best b) {
  return b.cost < a.cost || (b.cost == a.cost && b.bottom < a.bottom) ? b : a;
}

/* The best of COUNT workers for the top row of a lane, by a tree reduction. */
template <int COUNT>
static __device__ __forceinline__ Best gather(const ConstantShared *shared, int worker) {
  return less_of(gather<COUNT / 2>(shared, worker),
                 gather<COUNT - COUNT / 2>(shared, worker + COUNT / 2));
}

template <> __device__ __forceinline__ Best gather<1>(const ConstantShared *shared, int worker) {
  return {shared->parts[worker][0][threadIdx.x % 32], shared->parts[worker][1][threadIdx.x % 32]};
}

/* ordering_of the object of a step, with few instructions that depend on the object below. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t ordering_at(const RvStixelsPlan &plan, const Step &step,
                                                      int beta, int last_mu) {
  if (!IS_NEAR)
    return rv_stixels_ordering(&plan, step.mu - last_mu);
  const int32_t penalty = (step.rise - beta * last_mu) >> 8;
  return step.mu > last_mu ? penalty : 0;
}

/* Cost of the object of a step above the best stixels below, with their bias. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t cost_up_to(const RvStixelsPlan &plan, const Step &step,
                                                     int beta, const Below &last) {
  const int32_t above_object = last.from[OBJECT] + ordering_at<IS_NEAR>(plan, step, beta, last.mu);
  return rv_min(rv_min(above_object, last.from[SKY]) + step.cost,
                last.from[GROUND] + step.on_ground);
}

namespace {
/* What is the same in all lanes while tiles are resolved. Costs with their bias. */
struct Chain {
  Below last;                /* after the rows so far */
  int32_t on[2][3];          /* transition and fixed cost of ground and sky above each class */
  int32_t beta;              /* of the ordering */
  int ground_from, sky_from; /* lowest rows */
};

/* What a lane knows: the best object that ends in its row. */
struct Front {
  int32_t cost;
  int bottom, mu;
  int32_t before; /* those of the row to be resolved, without the object of this row alone */
  int before_mu;
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

/* Visits row `bottom`, the k-th of its tile. Ground and sky are the same in all lanes; where they
 * continue, they cost those of the row below plus those of its cell. An object is final after its
 * own row was its lowest row; all lanes compute this last candidate for the lane of that row,
 * because the earlier best can be broadcast one step ahead. What lanes below k do is not used.
 * Ground and objects that start in row 0 are always valid, so only sky may be out of reach. */
template <bool IS_NEAR, bool IS_FIRST>
static __device__ __forceinline__ void
visit(const RvStixelsPlan &plan, const ConstantColumn &p, int bottom, int k, bool is_sky_row,
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
  chain->ground_from = is_ground ? bottom : chain->ground_from;
  chain->sky_from = is_sky ? bottom : chain->sky_from;
  const int32_t cost = cost_up_to<IS_NEAR>(plan, step, chain->beta, last);
  const int32_t cost_alone = cost_up_to<IS_NEAR>(plan, alone, chain->beta, last);
  const bool is_better = cost < front->cost, is_alone = cost_alone < front->before;
  front->bottom = is_better ? bottom : front->bottom;
  front->mu = is_better ? step.mu : front->mu;
  front->cost = is_better ? cost : front->cost;
  chain->last = {{rv_min(ground, last.from[GROUND]) + cell.x, rv_min(cost_alone, front->before),
                  (is_sky ? sky : sky_before) + cell.y},
                 is_alone ? alone.mu : front->before_mu};
  front->before = __shfl_sync(RV_WARP, front->cost, k + 1);
  front->before_mu = __shfl_sync(RV_WARP, front->mu, k + 1);
  p.begin[bottom + 1].below = chain->last; /* the same in all lanes */
  if (k == (int)threadIdx.x % 32)
    p.ending[bottom] = {
        {(uint16_t)chain->ground_from, (uint16_t)front->bottom, (uint16_t)chain->sky_from, 0}};
}

/* One warp visits the lowest rows first .. first + 31 in order. */
template <bool IS_NEAR>
static __device__ void resolve(const RvStixelsPlan &plan, const ConstantColumn &p,
                               const ConstantShared *shared, int first, Chain *chain) {
  const int lane = threadIdx.x, top = rv_min(first + lane, plan.rows - 1);
  const int count = rv_min(plan.rows - first, 32);
  const Step *tile = shared->tiles[first / 32 % 2].at;
  Front front = {RV_STIXELS_INFINITE + p.bias[OBJECT], 0, 0, 0, 0};
  if (first > 0) {
    const Best best = gather<WORKERS>(shared, 0);
    front.cost = best.cost + p.own[OBJECT];
    front.bottom = best.bottom;
    front.mu = mean_of(p.begin[top + 1].d - p.begin[best.bottom].d,
                       p.begin[top + 1].w - p.begin[best.bottom].w);
  }
  unsigned sky_rows = __ballot_sync(RV_WARP, rv_stixels_is_sky_row(&p.ground, first + lane));
  front.before = __shfl_sync(RV_WARP, front.cost, 0);
  front.before_mu = __shfl_sync(RV_WARP, front.mu, 0);
  const char *at = (const char *)(tile + lane), *alone_at = (const char *)tile;
  int step_bytes = 31 * (int)sizeof(Step); /* from a row of pairs to the next, for a lane */
  Step step = tile[lane], alone = tile[0];
  int2 cell = p.flat[first];
  if (first == 0)
    visit<IS_NEAR, true>(plan, p, 0, 0, sky_rows & 1, step, alone, cell, chain, &front);
#pragma unroll 1
  for (int k = 0; k < count; k += CHUNK) {
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
      at += step_bytes - i * (int)sizeof(Step); /* early, to hide its latency */
      alone_at += step_bytes + (1 - i) * (int)sizeof(Step);
      const Step next = *(const Step *)at, next_alone = *(const Step *)alone_at;
      const int2 next_cell = p.flat[first + k + i + 1];
      if (i > 0 || k > 0 || first > 0)
        visit<IS_NEAR, false>(plan, p, first + k + i, k + i, (sky_rows & 1u << i) != 0, step, alone,
                              cell, chain, &front);
      step = next;
      alone = next_alone;
      cell = next_cell;
    }
    sky_rows >>= CHUNK;
    step_bytes -= CHUNK * (int)sizeof(Step);
    asm volatile("" : "+r"(step_bytes)); /* a register: not computed from k in each row */
  }
  __syncwarp();
}

/* When all rows are resolved: finds the predecessors of the best stixels of each row. */
template <bool IS_NEAR>
static __device__ __forceinline__ void link_all(const RvStixelsPlan &plan, const ConstantColumn &p,
                                                const Near &near) {
  for (int v = threadIdx.x; v < plan.rows; v += THREADS) {
    const Links ends = p.ending[v];
    p.ending[v] = {{flat_link(plan, p, GROUND, ends.at[0]),
                    object_link<IS_NEAR>(plan, p, near, ends.at[1], p.begin[v + 1].below.mu),
                    flat_link(plan, p, SKY, ends.at[2]), 0}};
  }
  __syncthreads();
}

/* Tries objects that end above the tile that is being resolved and start below it. The tries are
 * distributed equally over all tiles, nearest top rows first, because the first tiles have few of
 * their own and the last ones many. The best of each tile so far are in local memory; `tried` of a
 * tile is in the lane of its number. */
template <bool IS_NEAR>
static __device__ __forceinline__ void try_ahead(const RvStixelsPlan &plan, const ConstantColumn &p,
                                                 const Near &near, int rows, int tiles, int tile,
                                                 int worker, Best *best, int tried) {
  const int below = 32 * tile;
  int left = 16 * (tiles - 1);
#pragma unroll 1
  for (int at = tile + 1; at < tiles; at++) {
    const int begin = __shfl_sync(RV_WARP, tried, at);
    const int end = at == tile + 1 ? below : rv_min(below, begin + left);
    if (begin < end) {
      Best found = {RV_STIXELS_INFINITE - p.own[SKY], 0};
      const Best before = best[at];
      try_below<IS_NEAR, 3>(plan, p, near, rows, 32 * at, begin + worker, end, WORKERS, &found);
      if (found.cost < before.cost)
        best[at] = found;
    }
    left -= end - begin;
    if (left <= 0)
      break;
  }
}

/* Advances `tried` by the same amounts as try_ahead. */
static __device__ __forceinline__ void note_tried(const RvStixelsPlan &plan, int tile,
                                                  uint16_t *tried) {
  const int tiles = rv_div_up(plan.rows, 32);
  int left = 16 * (tiles - 1);
  for (int at = tile + 1; at < tiles && left > 0; at++) {
    const int begin = tried[at], end = at == tile + 1 ? 32 * tile : rv_min(32 * tile, begin + left);
    tried[at] = (uint16_t)end;
    left -= end - begin;
  }
}

/* Number among those that work while warp 0 resolves, BESIDE of them on its scheduler; -1: none of
 * them. */
static __device__ __forceinline__ int worker_of(int warp) {
  const int turn = warp / SCHEDULERS;
  return warp % SCHEDULERS ? warp - turn - 1 : turn > 0 && turn <= BESIDE ? WORKERS - turn : -1;
}

/* Resolves all tiles: one warp resolves a tile while the others try ahead. */
template <bool IS_NEAR>
static __device__ __forceinline__ void
resolve_all(const RvStixelsPlan &plan, const ConstantColumn &p, ConstantShared *shared) {
  __shared__ uint16_t tried[TILES];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int worker = worker_of(warp), rows = held(plan.rows), tiles = rv_div_up(rows, 32);
  const Near near = near_of(plan);
  Chain chain = chain_of(plan, p);
  Best ahead[TILES];
#pragma unroll 1
  for (int k = 0; k < tiles; k++)
    ahead[k] = {RV_STIXELS_INFINITE - p.own[SKY], 0};
  if (threadIdx.x < TILES)
    tried[threadIdx.x] = 0;
  compute_tile<IS_NEAR>(plan, p, near, &shared->tiles[0], 0, warp, WARPS);
  __syncthreads();
#pragma unroll 1
  for (int tile = 0; tile < tiles; tile++) {
    const int first = 32 * tile, next = first + 32;
    const bool is_worker = next < rows && worker >= 0;
    Best best = {0, 0};
    if (warp == 0) {
      resolve<IS_NEAR>(plan, p, shared, first, &chain);
    } else if (is_worker) {
      compute_tile<IS_NEAR>(plan, p, near, &shared->tiles[(tile + 1) % 2], next, worker, WORKERS);
      try_ahead<IS_NEAR>(plan, p, near, rows, tiles, tile, worker, ahead, tried[lane]);
      best = ahead[tile + 1];
    }
    __syncthreads();
    if (is_worker) {
      if (threadIdx.x == THREADS - 1)
        note_tried(plan, tile, tried);
      try_below<IS_NEAR, 3>(plan, p, near, rows, next, first + worker, next, WORKERS, &best);
      shared->parts[worker][0][lane] = best.cost;
      shared->parts[worker][1][lane] = best.bottom;
    }
    __syncthreads();
  }
  link_all<IS_NEAR>(plan, p, near);
}

/* --- Kernel ---------------------------------------------------------------------------------- */

/* RESIDENT: the table of steps is in shared memory. */
template <bool RESIDENT>
static __global__ void __launch_bounds__(THREADS, 1)
    constant_kernel(const __grid_constant__ RvStixelsPlan plan,
                    const __grid_constant__ RvStixelsCuda work,
                    const __grid_constant__ Output out) {
  extern __shared__ __align__(16) char memory[];
  __shared__ Range range;
  ConstantShared *shared = (ConstantShared *)memory;
  if (threadIdx.x == 0)
    range = {RV_STIXELS_INFINITE, 0};
  const Turn turn = begin_turn(plan, work);
  const size_t x = turn.column, rows = plan.rows;
  ConstantColumn p;
  p.begin = (Begin *)(shared + 1);
  p.flat = (int2 *)(p.begin + padded(plan.rows));
  p.links = shared->list;
  p.pitch = held(RESIDENT ? (plan.rows + 1) | 1 : rv_stixels_pitch(plan.rows));
  int32_t *steps = RESIDENT ? (int32_t *)(p.flat + padded(plan.rows))
                            : work.steps + x * p.pitch * (plan.config.max_disparity + 1);
  p.steps = steps;
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.own[k] = plan.transition[OBJECT][k] + plan.fixed_cost[OBJECT];
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.bias[k] = p.own[k] - p.own[SKY];
  for (int v = threadIdx.x; v < plan.rows && out.list.cuts; v += THREADS)
    out.list.cuts[x * rows + v] = RV_STIXELS_CUT_SURE;
  int is_full = 1, low = RV_STIXELS_INFINITE, high = 0;
  for (int v = threadIdx.x; v <= plan.rows; v += THREADS) {
    const RvStixelsCell cell = v < plan.rows ? work.cells[x * rows + v] : RvStixelsCell{0, 0, 0};
    p.begin[v].cell = cell;
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
  for (int i = threadIdx.x; i < RV_STIXELS_TABLE; i += THREADS)
    shared->table[entry_of(i)] = work.table[OBJECT * RV_STIXELS_TABLE + i];
  is_full = __syncthreads_and(is_full);
  if (!RESIDENT)
    sum_steps_far(plan, shared->table, p, range, steps);
  else if (is_full)
    sum_steps_near<true>(plan, shared->table, p, range, steps);
  else
    sum_steps_near<false>(plan, shared->table, p, range, steps);
  const RvStixelsState state = expect_ground(plan, work, out.surface, turn);
  p.ground = state.ground;
  set_rows(plan, p, work.table);
  if (threadIdx.x == 0) {
    const int32_t none = OUT_OF_REACH - p.own[SKY];
    p.begin[0].below = {{none, none, plan.fixed_cost[OBJECT] + plan.at_bottom[OBJECT] - p.own[SKY]},
                        0};
  }
  __syncthreads();
  sum_rows(plan, p);
  __syncthreads();
  const bool is_near = plan.config.max_disparity <= NEAR && work.has_plain_penalties &&
                       rv_abs(rv_stixels_value(&p.ground, 0)) <= 256 * NEAR &&
                       rv_abs(rv_stixels_value(&p.ground, plan.rows)) <= 256 * NEAR;
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
               : RvStixelsPlane{(int64_t)mean_of(high->d - low->d, high->w - low->w) << 16, 0};
  });
}

RvStatus rv_stixels_cuda_open_constant(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  RV_CU(&plan->config.log,
        cudaFuncSetAttribute(work->is_resident ? constant_kernel<true> : constant_kernel<false>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_bytes(plan, work->is_resident)));
  return RV_OK;
}

RvStatus rv_stixels_cuda_constant(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  return rv_launch(
      &plan->config.log, work->is_resident ? constant_kernel<true> : constant_kernel<false>,
      dim3(plan->columns), dim3(THREADS), shared_bytes(plan, work->is_resident), job->stream,
      work->is_chained, *plan, *work,
      Output{job->output, {job->input.disparity, job->input.labels}, job->input.surface});
}
