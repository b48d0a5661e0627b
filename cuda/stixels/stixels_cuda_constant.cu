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

static size_t shared_bytes(const RvStixelsPlan *plan, bool is_resident) {
  const size_t n = plan->rows, px = plan->config.max_disparity + 1;
  return sizeof(ConstantShared) + (n + 1) * (sizeof(Begin) + sizeof(int2)) +
         rv_stixels_pitch(plan->rows) * sizeof(Links) +
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
  return p.begin[row + 1].from[structure] - (structure == GROUND   ? p.own[0]
                                             : structure == OBJECT ? p.own[1]
                                                                   : p.own[2]);
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
  const float guess = __fmul_rn(__uint2float_rn(x), reciprocal(over));
  const int q = (int)(__float_as_uint(__fadd_rn(guess, 8388608.0f)) - magic);
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

/* Penalties of an object above ground and above an object. IS_NEAR: differences stay below 1024 px
 * and products below 2^31, so that neither is clamped. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t gravity_of(const RvStixelsPlan &plan, int up) {
  const bool is_up = up > 0;
  if (!IS_NEAR)
    return rv_stixels_gravity(&plan, up);
  const int32_t rate =
      is_up ? (int32_t)(plan.gravity[1].beta >> 12) : -(int32_t)(plan.gravity[0].beta >> 12);
  const int32_t alpha = is_up ? plan.gravity[1].alpha << 8 : plan.gravity[0].alpha << 8;
  return up == 0 ? 0 : (rate * up + alpha) >> 8;
}

template <bool IS_NEAR>
static __device__ __forceinline__ int32_t ordering_of(const RvStixelsPlan &plan, int over) {
  if (!IS_NEAR)
    return rv_stixels_ordering(&plan, over);
  const int32_t penalty =
      ((int32_t)(plan.ordering.beta >> 12) * over + (plan.ordering.alpha << 8)) >> 8;
  return over > 0 ? penalty : 0;
}

/* Tries the object bottom..top; w, d: sums below top + 1. */
template <bool IS_NEAR>
static __device__ __forceinline__ void try_one(const RvStixelsPlan &plan, const ConstantColumn &p,
                                               int bottom, int top, uint32_t w, uint32_t d,
                                               Best *best) {
  const Begin from = p.begin[bottom];
  const Object own = object_of(p, w - from.w, d - from.d, bottom, top);
  const int32_t a = from.from[GROUND] + gravity_of<IS_NEAR>(plan, own.mu - from.mu[0]);
  const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR>(plan, own.mu - from.mu[1]);
  const int32_t cost = rv_min(rv_min(a, b), from.from[SKY]) + own.cost;
  best->bottom = cost < best->cost ? bottom : best->bottom;
  best->cost = rv_min(cost, best->cost);
}

/* Tries the objects that end in row `first` + lane, with every `step`-th lowest row of begin .. end
 * - 1, SIDE of them interleaved. The last may be tried more than once, which does not change the
 * result. */
template <bool IS_NEAR, int SIDE>
static __device__ __forceinline__ void try_below(const RvStixelsPlan &plan, const ConstantColumn &p,
                                                 int first, int begin, int end, int step,
                                                 Best *best) {
  const int top = rv_min(first + (int)threadIdx.x % 32, plan.rows - 1);
  const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
#pragma unroll 1
  for (int from = begin; from < end; from += SIDE * step)
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      try_one<IS_NEAR>(plan, p, rv_min(from + i * step, end - 1), top, w, d, best);
}

/* Computes the objects within rows first .. first + 31 in 17 rows of pairs: row j contains those
 * with lowest row j from lane j on, and before it those with lowest row 32 - j. */
template <bool IS_NEAR>
static __device__ __forceinline__ void compute_tile(const RvStixelsPlan &plan,
                                                    const ConstantColumn &p, Tile *tile, int first,
                                                    int warp, int warps) {
  const int lane = threadIdx.x % 32;
  for (int j = warp; j < 17; j += warps) {
    const int top = rv_min(first + (lane >= j ? lane : 32 - j + lane), plan.rows - 1);
    const int bottom = rv_min(first + (lane >= j ? j : 32 - j), top);
    const uint32_t w = p.begin[top + 1].w - p.begin[bottom].w;
    const uint32_t d = p.begin[top + 1].d - p.begin[bottom].d;
    const Object own = object_of(p, w, d, bottom, top);
    tile->cost[32 * j + lane] = own.cost;
    tile->on_ground[32 * j + lane] =
        own.cost + gravity_of<IS_NEAR>(plan, own.mu - p.begin[bottom].mu[0]);
    tile->mu[32 * j + lane] = own.mu;
  }
}

/* Index of the object from the k-th row to the row of the lane; an unused index when the lane is
 * below k. */
static __device__ __forceinline__ int slot_of(int k) {
  const int lane = threadIdx.x % 32;
  return k <= 16 ? 32 * k + lane : 32 * (32 - k) + lane - k;
}

/* --- Order ----------------------------------------------------------------------------------- */

/* Cost of ground or sky that starts in `bottom` above `last`, without its cells; `start` in row
 * 0. */
static __device__ __forceinline__ int32_t begin_of(const RvStixelsPlan &plan, int structure,
                                                   int bottom, const int32_t last[3],
                                                   int32_t start) {
  const int32_t a = last[0] + plan.transition[structure][0],
                b = last[1] + plan.transition[structure][1];
  const int32_t c = last[2] + plan.transition[structure][2];
  return (bottom > 0 ? rv_min(rv_min(a, b), c) : start) + plan.fixed_cost[structure];
}

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
    last[k] = p.begin[bottom].from[k] - p.own[k] + plan.transition[structure][k];
  return (uint16_t)(bottom | least_of(last[0], last[1], last[2]) << 14);
}

template <bool IS_NEAR>
static __device__ __forceinline__ uint16_t object_link(const RvStixelsPlan &plan,
                                                       const ConstantColumn &p, int bottom,
                                                       int mu) {
  const Begin from = p.begin[bottom];
  const int32_t a = from.from[GROUND] + gravity_of<IS_NEAR>(plan, mu - from.mu[0]);
  const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR>(plan, mu - from.mu[1]);
  return (uint16_t)(bottom | least_of(a, b, from.from[SKY]) << 14);
}

static __device__ __forceinline__ Best less_of(Best a, Best b) {
  return b.cost < a.cost || (b.cost == a.cost && b.bottom < a.bottom) ? b : a;
}

/* The best of COUNT warps for the top row of a lane, by a tree reduction. */
template <int COUNT>
static __device__ __forceinline__ Best gather(const ConstantShared *shared, int warp) {
  return less_of(gather<COUNT / 2>(shared, warp), gather<COUNT / 2>(shared, warp + COUNT / 2));
}

template <> __device__ __forceinline__ Best gather<1>(const ConstantShared *shared, int warp) {
  return {shared->parts[warp][0][threadIdx.x % 32], shared->parts[warp][1][threadIdx.x % 32]};
}

namespace {
/* An object within a tile. */
struct Step {
  int32_t cost, on_ground;
  int mu;
  int32_t rise; /* its ordering penalty above an object of 0 px, times 256; IS_NEAR only */
};
} // namespace

static __device__ __forceinline__ Step step_at(const RvStixelsPlan &plan, const Tile *tile,
                                               int at) {
  const int mu = tile->mu[at];
  return {tile->cost[at], tile->on_ground[at], mu,
          (int32_t)(plan.ordering.beta >> 12) * mu + (plan.ordering.alpha << 8)};
}

/* Index of the object that is the k-th row alone. */
static __device__ __forceinline__ int slot_alone(int k) {
  return k <= 16 ? 33 * k : 32 * (32 - k);
}

/* ordering_of the object of a step, with few instructions that depend on the object below. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t ordering_at(const RvStixelsPlan &plan, const Step &step,
                                                      int last_mu) {
  if (!IS_NEAR)
    return rv_stixels_ordering(&plan, step.mu - last_mu);
  const int32_t penalty = (step.rise - (int32_t)(plan.ordering.beta >> 12) * last_mu) >> 8;
  return step.mu > last_mu ? penalty : 0;
}

/* Minimum cost up to the object of a step above `last`. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t cost_up_to(const RvStixelsPlan &plan,
                                                     const ConstantColumn &p, const Step &step,
                                                     const int32_t last[3], int last_mu) {
  const int32_t b = last[OBJECT] + p.own[OBJECT] + ordering_at<IS_NEAR>(plan, step, last_mu);
  const int32_t a = last[GROUND] + p.own[GROUND] + step.on_ground;
  return rv_min(a, rv_min(b, last[SKY] + p.own[SKY]) + step.cost);
}

/* One warp visits the lowest rows first .. first + 31 in order. Ground and sky are the same in all
 * lanes. An object is final after its own row was its lowest row; all lanes compute this last
 * candidate for the lane of that row, because the earlier best can be broadcast one step ahead.
 * Ground and objects that start in row 0 are always valid, so only sky may be out of reach. */
template <bool IS_NEAR>
static __device__ void resolve(const RvStixelsPlan &plan, const ConstantColumn &p,
                               const ConstantShared *shared, int first, Best running[2]) {
  const int lane = threadIdx.x, top = rv_min(first + lane, plan.rows - 1);
  const int count = rv_min(plan.rows - first, 32);
  const Tile *tile = &shared->tiles[first / 32 % 2];
  Best best = {RV_STIXELS_INFINITE, 0};
  int mu = 0, last_mu = p.begin[first].mu[1];
  int32_t last[RV_STIXELS_CLASSES], mine[2] = {0, 0};
  int bottoms[2] = {0, 0};
  if (first > 0) {
    best = gather<WARPS>(shared, 0);
    mu = mean_of(p.begin[top + 1].d - p.begin[best.bottom].d,
                 p.begin[top + 1].w - p.begin[best.bottom].w);
  }
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    last[k] = p.begin[first].from[k] - p.own[k];
  const unsigned sky_rows = __ballot_sync(RV_WARP, rv_stixels_is_sky_row(&p.ground, first + lane));
  Step step = step_at(plan, tile, slot_of(0)), alone = step_at(plan, tile, slot_alone(0));
  Step next = step_at(plan, tile, slot_of(1)), next_alone = step_at(plan, tile, slot_alone(1));
  int2 below = p.flat[first], upto = p.flat[first + 1];
  int32_t before = __shfl_sync(RV_WARP, best.cost, 0);
  int before_mu = __shfl_sync(RV_WARP, mu, 0);
  /* In registers: the compiler would load them again in each step. */
  const int32_t start[2] = {__shfl_sync(RV_WARP, plan.at_bottom[GROUND], 0),
                            __shfl_sync(RV_WARP, plan.at_bottom[SKY], 0)};
#pragma unroll 2
  for (int k = 0; k < count; k++) {
    const int bottom = first + k, ahead = rv_min(k + 2, 31); /* early, to hide its latency */
    const Step later = step_at(plan, tile, slot_of(ahead));
    const Step later_alone = step_at(plan, tile, slot_alone(ahead));
    const int2 later_upto = p.flat[rv_min(bottom + 2, plan.rows)];
    const int32_t limit = k <= lane ? best.cost : INT32_MIN;
    const int32_t ground = begin_of(plan, GROUND, bottom, last, start[0]) - below.x;
    const int32_t sky = begin_of(plan, SKY, bottom, last, start[1]) - below.y;
    const bool is_ground = ground < running[0].cost;
    const bool is_sky = (sky_rows >> k & 1) && sky < running[1].cost;
    running[0] = is_ground ? Best{ground, bottom} : running[0];
    running[1] = is_sky ? Best{sky, bottom} : running[1];
    const int32_t cost = cost_up_to<IS_NEAR>(plan, p, step, last, last_mu);
    const int32_t cost_alone = cost_up_to<IS_NEAR>(plan, p, alone, last, last_mu);
    const bool is_better = cost < limit, is_alone = cost_alone < before;
    best = is_better ? Best{cost, bottom} : best;
    mu = is_better ? step.mu : mu;
    last[GROUND] = running[0].cost + upto.x;
    last[SKY] = running[1].cost + upto.y;
    last[OBJECT] = is_alone ? cost_alone : before;
    last_mu = is_alone ? alone.mu : before_mu;
    before = __shfl_sync(RV_WARP, best.cost, k + 1);
    before_mu = __shfl_sync(RV_WARP, mu, k + 1);
    if (k == lane) {
      mine[0] = last[GROUND];
      mine[1] = last[SKY];
      bottoms[0] = running[0].bottom;
      bottoms[1] = running[1].bottom;
    }
    step = next;
    alone = next_alone;
    below = upto;
    next = later;
    next_alone = later_alone;
    upto = later_upto;
  }
  Begin *above = &p.begin[top + 1];
  if (lane < count) {
    above->from[GROUND] = mine[0] + p.own[GROUND];
    above->from[OBJECT] = best.cost + p.own[OBJECT];
    above->from[SKY] = mine[1] + p.own[SKY];
    above->mu[1] = mu;
  }
  if (lane < count)
    p.ending[top] = {{(uint16_t)bottoms[0], (uint16_t)best.bottom, (uint16_t)bottoms[1], 0}};
  __syncwarp();
}

/* When all rows are resolved: finds the predecessors of the best stixels of each row. */
template <bool IS_NEAR>
static __device__ __forceinline__ void link_all(const RvStixelsPlan &plan,
                                                const ConstantColumn &p) {
  for (int v = threadIdx.x; v < plan.rows; v += THREADS) {
    const Links ends = p.ending[v];
    p.ending[v] = {{flat_link(plan, p, GROUND, ends.at[0]),
                    object_link<IS_NEAR>(plan, p, ends.at[1], p.begin[v + 1].mu[1]),
                    flat_link(plan, p, SKY, ends.at[2]), 0}};
  }
  __syncthreads();
}

/* Tries objects that end above the tile that is being resolved and start below it. The tries are
 * distributed equally over all tiles, nearest top rows first, because the first tiles have few of
 * their own and the last ones many. The best of each tile so far are in local memory. */
template <bool IS_NEAR>
static __device__ __forceinline__ void try_ahead(const RvStixelsPlan &plan, const ConstantColumn &p,
                                                 int tile, int worker, Best *best,
                                                 uint16_t *tried) {
  const int tiles = rv_div_up(plan.rows, 32);
  int left = 16 * (tiles - 1);
#pragma unroll 1
  for (int at = tile + 1; at < tiles; at++) {
    const int begin = tried[at], end = at == tile + 1 ? 32 * tile : rv_min(32 * tile, begin + left);
    if (begin < end) {
      Best found = {RV_STIXELS_INFINITE, 0};
      const Best before = best[at];
      try_below<IS_NEAR, 3>(plan, p, 32 * at, begin + worker, end, WORKERS, &found);
      best[at] = found.cost < before.cost ? found : before;
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

/* Resolves all tiles: one warp resolves a tile, alone on its scheduler, while the others try
 * ahead. */
template <bool IS_NEAR>
static __device__ __forceinline__ void
resolve_all(const RvStixelsPlan &plan, const ConstantColumn &p, ConstantShared *shared) {
  __shared__ uint16_t tried[TILES];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int worker = warp - warp / SCHEDULERS - 1, tiles = rv_div_up(plan.rows, 32);
  Best running[2] = {{OUT_OF_REACH, 0}, {OUT_OF_REACH, 0}};
  Best ahead[TILES];
#pragma unroll 1
  for (int k = 0; k < tiles; k++)
    ahead[k] = {RV_STIXELS_INFINITE, 0};
  if (threadIdx.x < TILES)
    tried[threadIdx.x] = 0;
  compute_tile<IS_NEAR>(plan, p, &shared->tiles[0], 0, warp, WARPS);
  __syncthreads();
#pragma unroll 1
  for (int tile = 0; tile < tiles; tile++) {
    const int first = 32 * tile, next = first + 32;
    if (warp == 0) {
      resolve<IS_NEAR>(plan, p, shared, first, running);
    } else if (next < plan.rows && warp % SCHEDULERS != 0) {
      compute_tile<IS_NEAR>(plan, p, &shared->tiles[(tile + 1) % 2], next, worker, WORKERS);
      try_ahead<IS_NEAR>(plan, p, tile, worker, ahead, tried);
    }
    __syncthreads();
    if (next < plan.rows) {
      if (threadIdx.x == THREADS - 1)
        note_tried(plan, tile, tried);
      Best best = ahead[tile + 1];
      try_below<IS_NEAR, 32 / WARPS>(plan, p, next, first + warp, next, WARPS, &best);
      shared->parts[warp][0][lane] = best.cost;
      shared->parts[warp][1][lane] = best.bottom;
    }
    __syncthreads();
  }
  link_all<IS_NEAR>(plan, p);
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
  p.flat = (int2 *)(p.begin + rows + 1);
  p.ending = (Links *)(p.flat + rows + 1);
  p.links = shared->list;
  RvStixelsCell *copy = (RvStixelsCell *)p.ending;
  p.cells = copy;
  p.pitch = RESIDENT ? (plan.rows + 1) | 1 : rv_stixels_pitch(plan.rows);
  int32_t *steps = RESIDENT ? (int32_t *)(p.ending + rv_stixels_pitch(plan.rows))
                            : work.steps + x * p.pitch * (plan.config.max_disparity + 1);
  p.steps = steps;
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.own[k] = plan.transition[OBJECT][k] + plan.fixed_cost[OBJECT];
  for (int v = threadIdx.x; v < plan.rows && out.list.cuts; v += THREADS)
    out.list.cuts[x * rows + v] = RV_STIXELS_CUT_SURE;
  int is_full = 1;
  for (int v = threadIdx.x; v < rv_stixels_pitch(plan.rows); v += THREADS) {
    copy[v] = v < plan.rows ? work.cells[x * rows + v] : RvStixelsCell{0, 0, 0};
    is_full = is_full && (copy[v].weight == 0 || copy[v].confidence == 255);
    if (copy[v].weight) {
      const int px = rv_max(rv_stixels_nearest(16 * copy[v].disparity), 1);
      atomicMin(&range.low, px);
      atomicMax(&range.high, px);
    }
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
    p.begin[0].from[0] = p.begin[0].from[1] = OUT_OF_REACH;
    p.begin[0].from[2] = plan.fixed_cost[OBJECT] + plan.at_bottom[OBJECT];
    p.begin[0].mu[1] = 0;
  }
  __syncthreads();
  sum_rows(plan, p);
  __syncthreads();
  const bool is_near = plan.config.max_disparity <= NEAR && work.has_small_penalties &&
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
