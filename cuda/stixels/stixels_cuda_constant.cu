/* stixels_cuda_constant.cu: the columns of `constant` without semantics, CUDA engine. As in
 * stixels_cuda_columns.cu, but in integers, and only objects are tried pair by pair: what a stixel
 * of ground or sky costs is a difference of two sums, one of its lowest row and one of its top row,
 * so that the best lowest row so far serves all tops. While one warp goes through 32 top rows, the
 * others try what ends in the next 32. */
#include "stixels_cuda_list.cuh"

#define GROUND RV_STIXEL_GROUND
#define OBJECT RV_STIXEL_OBJECT
#define SKY RV_STIXEL_SKY
#define WARPS 16 /* of a column's block */
#define THREADS (32 * WARPS)
#define PAIRS (17 * 32)    /* of lowest and top row in a tile, see place_of */
#define STATIC_SHARED 2048 /* bytes of the kernel's own, at most */
#define NEAR 512           /* px: up to here differences of planes stay below 1024 px */

/* What an object that begins in a row reads. */
struct __align__(16) Begin {
  int32_t from[RV_STIXELS_CLASSES]; /* cost of what ends below, the transition, an object's own */
  int32_t mu[2];                    /* 1/256 px, here: the ground plane, the object below */
  uint32_t w, d;                    /* sums of the cells below: weight, 16 x weight x disparity */
  int32_t reserved;
};

/* The objects within a tile, but for their predecessors. */
struct Tile {
  int32_t cost[PAIRS];
  int32_t on_ground[PAIRS]; /* the same with the gravity of the ground below */
  int32_t mu[PAIRS];
};

/* Shared memory of the block; the arrays by row follow. */
struct Desk {
  union {
    int32_t table[RV_STIXELS_TABLE + RV_STIXELS_TABLE / 256]; /* of objects, by entry_of */
    struct {
      Tile tiles[2];
      int32_t parts[WARPS][2][32]; /* the warps' best objects by top row: cost, lowest row */
    };
    uint32_t list[(2 * sizeof(Tile) + WARPS * 256) / sizeof(uint32_t)]; /* Column.links */
  };
};

/* Lowest row | class of the predecessor << 14, by class. */
struct __align__(8) Links {
  uint16_t at[4];
};

/* A column at work. */
struct Plain {
  Begin *begin; /* rows + 1 */
  int2 *flat;   /* rows + 1: costs of the cells below as ground and sky */
  Links *ending;
  uint32_t *links;            /* rows: bottom | class << 16, from the top down */
  const RvStixelsCell *cells; /* a copy, which ends when `ending` begins */
  const int32_t *steps;
  int pitch;
  int32_t own[RV_STIXELS_CLASSES]; /* transition to an object and what it costs by itself */
  RvStixelsPlane ground;
};

/* A lowest row, and the cost with it. */
struct Best {
  int32_t cost;
  int32_t bottom;
};

static int table_pitch(const RvStixelsModel *m, bool is_resident) {
  return is_resident ? (m->rows + 1) | 1 : rv_stixels_pitch(m->rows);
}

static size_t shared_bytes(const RvStixelsModel *m, bool is_resident) {
  const size_t n = m->rows, px = m->disparity_max + 1;
  return sizeof(Desk) + (n + 1) * (sizeof(Begin) + sizeof(int2)) +
         rv_stixels_pitch(m->rows) * sizeof(Links) +
         (is_resident ? px * table_pitch(m, true) * sizeof(int32_t) : 0);
}

/* Sums fit in 32 bits and a column in shared memory. */
bool rv_stixels_cuda_is_plain(const RvStixelsModel *m) {
  const double most = 255.0 * 256 * m->disparity_max * m->rows + 255.0 * m->rows;
  return m->kind == RV_STIXELS_CONSTANT && m->cuts == RV_STIXELS_CUTS_ALL && most < 4294967296.0 &&
         shared_bytes(m, false) <= 63488;
}

bool rv_stixels_cuda_is_resident(const RvStixelsModel *m, int shared) {
  return shared_bytes(m, true) + STATIC_SHARED <= (size_t)shared;
}

/* --- Column as the list sees it -------------------------------------------------------------- */

static __device__ __forceinline__ int32_t cost_of(const Plain &p, int row, int structure) {
  return p.begin[row + 1].from[structure] - (structure == GROUND   ? p.own[0]
                                             : structure == OBJECT ? p.own[1]
                                                                   : p.own[2]);
}

static __device__ __forceinline__ uint32_t link_of(const Plain &p, int row, int structure) {
  const uint32_t link = p.ending[row].at[structure];
  return (link & 0x3fff) | link >> 14 << 16;
}

static __device__ __forceinline__ uint32_t semantic_key(const RvStixelsModel &, const Plain &, int,
                                                        int, int) {
  return 0xffffffffu;
}

/* --- Sums ------------------------------------------------------------------------------------ */

static __device__ __forceinline__ int32_t scanned(int32_t x) {
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const int32_t other = __shfl_up_sync(0xffffffffu, x, step);
    x += lane >= step ? other : 0;
  }
  return x;
}

/* What the cells add, where the sums below the row above will be. */
static __device__ void place_rows(const RvStixelsModel &m, const Plain &p, const int32_t *table) {
  for (int v = threadIdx.x; v <= m.rows; v += THREADS) {
    const RvStixelsCell cell = v > 0 ? p.cells[v - 1] : RvStixelsCell{0, 0, 0};
    p.begin[v].w = cell.weight;
    p.begin[v].d = 16u * cell.weight * cell.disparity;
    p.begin[v].mu[0] = rv_stixels_value(&p.ground, v);
    const int mu = rv_stixels_value(&p.ground, v - 1);
    p.flat[v] =
        v == 0 ? make_int2(0, 0)
               : make_int2(rv_stixels_cost_cell(&m, table + GROUND * RV_STIXELS_TABLE, cell, mu),
                           rv_stixels_cost_cell(&m, table + SKY * RV_STIXELS_TABLE, cell, 0));
  }
}

/* Weights, disparities, costs as ground and as sky: one of the last warps each. */
static __device__ void sum_rows(const RvStixelsModel &m, const Plain &p) {
  const int lane = threadIdx.x % 32, term = threadIdx.x / 32 - (WARPS - 4);
  int32_t before = 0;
  for (int first = 0; term >= 0 && first <= m.rows; first += 32) {
    const int v = rv_min(first + lane, m.rows);
    int32_t *at = term == 0   ? (int32_t *)&p.begin[v].w
                  : term == 1 ? (int32_t *)&p.begin[v].d
                  : term == 2 ? &p.flat[v].x
                              : &p.flat[v].y;
    const int32_t sum = before + scanned(*at);
    before = __shfl_sync(0xffffffffu, sum, 31);
    if (first + lane <= m.rows)
      *at = sum;
  }
}

/* Where an entry of the table of objects is: neighbouring px read neighbouring words. */
static __device__ __forceinline__ int entry_of(int index) {
  return index + index / 256;
}

/* FULL: confidence is 255 or weight is 0, in all cells. */
template <bool FULL>
static __device__ __forceinline__ int32_t object_cost(const RvStixelsModel &m, const int32_t *table,
                                                      RvStixelsCell cell, int px) {
  const int index = FULL ? rv_min(rv_abs(16 * cell.disparity - 256 * px), RV_STIXELS_TABLE - 1)
                         : rv_stixels_index(cell, 256 * px);
  const int32_t cost = table[entry_of(index)];
  return cell.weight ? cost : m.invalid_cost;
}

#define BATCH 8 /* rows, written together: whole sectors */

/* Costs of the cells below each row as objects of every whole px, in global memory: a thread a px.
 */
static __device__ void sum_steps_far(const RvStixelsModel &m, const int32_t *table, const Plain &p,
                                     int32_t *steps) {
  for (int px = threadIdx.x; px <= m.disparity_max; px += THREADS) {
    int4 *out = (int4 *)(steps + (size_t)px * p.pitch);
    int32_t sum = 0;
    for (int first = 0; first <= m.rows; first += BATCH) {
      int32_t sums[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sums[i] = sum;
        sum += object_cost<false>(m, table, p.cells[first + i], px);
      }
      out[first / 4] = make_int4(sums[0], sums[1], sums[2], sums[3]);
      out[first / 4 + 1] = make_int4(sums[4], sums[5], sums[6], sums[7]);
    }
  }
}

/* The same in shared memory: a thread a px and a part of the rows, then what lies below the part is
 * added. */
template <bool FULL>
static __device__ void sum_steps_near(const RvStixelsModel &m, const int32_t *table, const Plain &p,
                                      int32_t *steps) {
  const int count = m.disparity_max + 1, parts = rv_max(THREADS / count, 1);
  const int each = rv_div_up(m.rows, parts), part = threadIdx.x / count;
  const int begin = part * each, end = part < parts ? rv_min(begin + each, m.rows) : 0;
  for (int px = threadIdx.x % count; px < count && begin < end; px += THREADS) {
    int32_t *out = steps + px * p.pitch, sum = 0;
    if (part == 0)
      out[0] = 0;
    for (int from = begin; from < end; from += BATCH) {
      int32_t costs[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        costs[i] = object_cost<FULL>(m, table, p.cells[rv_min(from + i, m.rows)], px);
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sum += costs[i];
        if (from + i < end)
          out[from + i + 1] = sum;
      }
    }
  }
  __syncthreads();
  int32_t *out = steps + threadIdx.x % count * p.pitch, below = 0;
  for (int k = 1; k <= part && begin < end; k++)
    below += out[k * each];
  __syncthreads();
#pragma unroll 8
  for (int v = begin; v < end && part > 0; v++)
    out[v + 1] += below;
}

/* --- Objects --------------------------------------------------------------------------------- */

static __device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* (d + w / 2) / w, which is rv_stixels_mean, for d = 16 x weight x disparity, below 2^32, w below
 * 2^23 and a mean below 2^19: to the nearest by a float, off by less than 1/2, then down. */
static __device__ __forceinline__ int mean_of(uint32_t d, uint32_t w) {
  const uint32_t x = d + w / 2, magic = 0x4b000000; /* bits of 2^23 as a float */
  const float over = fmaxf(__uint_as_float(magic + w) - 8388608.0f, 1.0f);
  const float guess = __fmul_rn(__uint2float_rn(x), reciprocal(over));
  const int q = (int)(__float_as_uint(__fadd_rn(guess, 8388608.0f)) - magic);
  return q + ((int32_t)(x - (uint32_t)q * w) >> 31);
}

struct Object {
  int32_t cost, mu;
};

static __device__ __forceinline__ Object object_of(const Plain &p, uint32_t w, uint32_t d,
                                                   int bottom, int top) {
  const int mu = mean_of(d, w);
  const int32_t *sum = p.steps + rv_stixels_nearest(mu) * p.pitch;
  return {sum[top + 1] - sum[bottom], mu};
}

/* Penalties of an object on ground and on an object. IS_NEAR: differences stay below 1024 px and
 * the products below 2^31, so that neither needs a limit. */
template <bool IS_NEAR>
static __device__ __forceinline__ int32_t gravity_of(const RvStixelsModel &m, int up) {
  const bool is_up = up > 0;
  if (!IS_NEAR)
    return rv_stixels_gravity(&m, up);
  const int32_t rate =
      is_up ? (int32_t)(m.gravity[1].beta >> 12) : -(int32_t)(m.gravity[0].beta >> 12);
  const int32_t alpha = is_up ? m.gravity[1].alpha << 8 : m.gravity[0].alpha << 8;
  return up == 0 ? 0 : (rate * up + alpha) >> 8;
}

template <bool IS_NEAR>
static __device__ __forceinline__ int32_t ordering_of(const RvStixelsModel &m, int over) {
  if (!IS_NEAR)
    return rv_stixels_ordering(&m, over);
  const int32_t penalty = ((int32_t)(m.ordering.beta >> 12) * over + (m.ordering.alpha << 8)) >> 8;
  return over > 0 ? penalty : 0;
}

/* Objects that end in row `first` + lane, of every `step`-th lowest row begin .. end - 1. */
template <bool IS_NEAR>
static __device__ __forceinline__ void try_below(const RvStixelsModel &m, const Plain &p, int first,
                                                 int begin, int end, int step, Best *best) {
  const int top = rv_min(first + (int)threadIdx.x % 32, m.rows - 1);
  const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
#pragma unroll 4
  for (int bottom = begin; bottom < end; bottom += step) {
    const Begin from = p.begin[bottom];
    const Object own = object_of(p, w - from.w, d - from.d, bottom, top);
    const int32_t a = from.from[GROUND] + gravity_of<IS_NEAR>(m, own.mu - from.mu[0]);
    const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR>(m, own.mu - from.mu[1]);
    const int32_t cost = rv_min(rv_min(a, b), from.from[SKY]) + own.cost;
    best->bottom = cost < best->cost ? bottom : best->bottom;
    best->cost = rv_min(cost, best->cost);
  }
}

/* The objects within rows first .. first + 31 by 17 rows of pairs: row j holds those with lowest
 * row j from lane j on, and before it those with lowest row 32 - j. */
template <bool IS_NEAR>
static __device__ __forceinline__ void work_out(const RvStixelsModel &m, const Plain &p, Tile *tile,
                                                int first, int warp, int warps) {
  const int lane = threadIdx.x % 32;
  for (int j = warp; j < 17; j += warps) {
    const int top = rv_min(first + (lane >= j ? lane : 32 - j + lane), m.rows - 1);
    const int bottom = rv_min(first + (lane >= j ? j : 32 - j), top);
    const uint32_t w = p.begin[top + 1].w - p.begin[bottom].w;
    const uint32_t d = p.begin[top + 1].d - p.begin[bottom].d;
    const Object own = object_of(p, w, d, bottom, top);
    tile->cost[32 * j + lane] = own.cost;
    tile->on_ground[32 * j + lane] =
        own.cost + gravity_of<IS_NEAR>(m, own.mu - p.begin[bottom].mu[0]);
    tile->mu[32 * j + lane] = own.mu;
  }
}

/* Where the object lies whose lowest row is the k-th and whose top row is the lane's; something
 * that is not used when the lane is below k. */
static __device__ __forceinline__ int place_of(int k) {
  const int lane = threadIdx.x % 32;
  return k <= 16 ? 32 * k + lane : 32 * (32 - k) + lane - k;
}

/* --- Order ----------------------------------------------------------------------------------- */

/* Cost of ground or sky that begins in `bottom`, where `last` ends below, but for its cells. */
static __device__ __forceinline__ int32_t begin_of(const RvStixelsModel &m, int structure,
                                                   int bottom, const int32_t last[3]) {
  const int32_t a = last[0] + m.transition[structure][0], b = last[1] + m.transition[structure][1];
  const int32_t c = last[2] + m.transition[structure][2];
  return (bottom > 0 ? rv_min(rv_min(a, b), c) : m.first[structure]) + m.fixed_cost[structure];
}

/* The least of three, of equals the first. */
static __device__ __forceinline__ uint32_t least_of(int32_t a, int32_t b, int32_t c) {
  const int32_t least = rv_min(rv_min(a, b), c);
  return least == a ? 0 : least == b ? 1 : 2;
}

/* Ground and sky: the predecessor that begin_of has found. */
static __device__ __forceinline__ uint16_t flat_link(const RvStixelsModel &m, const Plain &p,
                                                     int structure, int bottom) {
  int32_t last[RV_STIXELS_CLASSES];
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    last[k] = p.begin[bottom].from[k] - p.own[k] + m.transition[structure][k];
  return (uint16_t)(bottom | least_of(last[0], last[1], last[2]) << 14);
}

template <bool IS_NEAR>
static __device__ __forceinline__ uint16_t object_link(const RvStixelsModel &m, const Plain &p,
                                                       int bottom, int mu) {
  const Begin from = p.begin[bottom];
  const int32_t a = from.from[GROUND] + gravity_of<IS_NEAR>(m, mu - from.mu[0]);
  const int32_t b = from.from[OBJECT] + ordering_of<IS_NEAR>(m, mu - from.mu[1]);
  return (uint16_t)(bottom | least_of(a, b, from.from[SKY]) << 14);
}

/* The best of all warps for a lane's top row. */
static __device__ __forceinline__ Best gather(const Desk *desk) {
  const int lane = threadIdx.x % 32;
  Best best = {desk->parts[0][0][lane], desk->parts[0][1][lane]};
#pragma unroll
  for (int warp = 1; warp < WARPS; warp++) {
    const Best other = {desk->parts[warp][0][lane], desk->parts[warp][1][lane]};
    if (other.cost < best.cost || (other.cost == best.cost && other.bottom < best.bottom))
      best = other;
  }
  return best;
}

/* What the k-th lowest row of a tile brings along. */
struct Step {
  int2 below;
  int32_t cost, on_ground;
  int mu;
};

static __device__ __forceinline__ Step step_at(const Plain &p, const Tile *tile, int first, int k) {
  const int at = place_of(rv_min(k, 31)); /* beyond the tile only the sums count */
  return {p.flat[first + k], tile->cost[at], tile->on_ground[at], tile->mu[at]};
}

/* One warp goes through the lowest rows first .. first + 31 in order. Ground and sky are the same
 * in all lanes; an object is final when its own row has been its lowest. Ground and objects that
 * begin in row 0 are always legal, so that only sky may be out of reach. */
template <bool IS_NEAR>
static __device__ void settle(const RvStixelsModel &m, const Plain &p, const Desk *desk, int first,
                              Best running[2]) {
  const int lane = threadIdx.x, top = rv_min(first + lane, m.rows - 1);
  const int count = rv_min(m.rows - first, 32);
  const Tile *tile = &desk->tiles[first / 32 % 2];
  Best best = {RV_STIXELS_INFINITE, 0};
  int mu = 0, last_mu = p.begin[first].mu[1];
  int32_t last[RV_STIXELS_CLASSES], mine[2] = {0, 0};
  int bottoms[2] = {0, 0};
  if (first > 0) {
    best = gather(desk);
    mu = mean_of(p.begin[top + 1].d - p.begin[best.bottom].d,
                 p.begin[top + 1].w - p.begin[best.bottom].w);
  }
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    last[k] = p.begin[first].from[k] - p.own[k];
  const unsigned sky_rows =
      __ballot_sync(0xffffffffu, rv_stixels_is_sky_row(&p.ground, first + lane));
  Step step = step_at(p, tile, first, 0);
  for (int k = 0; k < count; k++) {
    const int bottom = first + k;
    const Step next = step_at(p, tile, first, k + 1); /* early: it takes a while */
    const int32_t ground = begin_of(m, GROUND, bottom, last) - step.below.x;
    const int32_t sky = begin_of(m, SKY, bottom, last) - step.below.y;
    const bool is_ground = ground < running[0].cost;
    const bool is_sky = (sky_rows >> k & 1) && sky < running[1].cost;
    running[0] = is_ground ? Best{ground, bottom} : running[0];
    running[1] = is_sky ? Best{sky, bottom} : running[1];
    const int32_t b = last[OBJECT] + p.own[OBJECT] + ordering_of<IS_NEAR>(m, step.mu - last_mu);
    const int32_t a = last[GROUND] + p.own[GROUND] + step.on_ground;
    const int32_t cost = rv_min(a, rv_min(b, last[SKY] + p.own[SKY]) + step.cost);
    const bool is_better = k <= lane && cost < best.cost;
    best = is_better ? Best{cost, bottom} : best;
    mu = is_better ? step.mu : mu;
    const int2 upto = next.below;
    last[GROUND] = running[0].cost + upto.x;
    last[SKY] = running[1].cost + upto.y;
    last[OBJECT] = __shfl_sync(0xffffffffu, best.cost, k);
    last_mu = __shfl_sync(0xffffffffu, mu, k);
    if (k == lane) {
      mine[0] = last[GROUND];
      mine[1] = last[SKY];
      bottoms[0] = running[0].bottom;
      bottoms[1] = running[1].bottom;
    }
    step = next;
  }
  Begin *next = &p.begin[top + 1];
  if (lane < count) {
    next->from[GROUND] = mine[0] + p.own[GROUND];
    next->from[OBJECT] = best.cost + p.own[OBJECT];
    next->from[SKY] = mine[1] + p.own[SKY];
    next->mu[1] = mu;
  }
  __syncwarp();
  if (lane < count)
    p.ending[top] = {{flat_link(m, p, GROUND, bottoms[0]),
                      object_link<IS_NEAR>(m, p, best.bottom, mu), flat_link(m, p, SKY, bottoms[1]),
                      0}};
  __syncwarp();
}

/* All tiles: one warp settles a tile while the others work on the next one. */
template <bool IS_NEAR>
static __device__ __forceinline__ void settle_all(const RvStixelsModel &m, const Plain &p,
                                                  Desk *desk) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Best running[2] = {{OUT_OF_REACH, 0}, {OUT_OF_REACH, 0}};
  work_out<IS_NEAR>(m, p, &desk->tiles[0], 0, warp, WARPS);
  __syncthreads();
  for (int first = 0; first < m.rows; first += 32) {
    const int next = first + 32;
    Best best = {RV_STIXELS_INFINITE, 0};
    if (warp == 0) {
      settle<IS_NEAR>(m, p, desk, first, running);
    } else if (next < m.rows) {
      work_out<IS_NEAR>(m, p, &desk->tiles[next / 32 % 2], next, warp - 1, WARPS - 1);
      try_below<IS_NEAR>(m, p, next, warp - 1, first, WARPS - 1, &best);
    }
    __syncthreads();
    if (next < m.rows) {
      try_below<IS_NEAR>(m, p, next, first + warp, next, WARPS, &best);
      desk->parts[warp][0][lane] = best.cost;
      desk->parts[warp][1][lane] = best.bottom;
    }
    __syncthreads();
  }
}

/* --- Kernel ---------------------------------------------------------------------------------- */

/* RESIDENT: the table of steps is in shared memory. */
template <bool RESIDENT>
static __global__ void __launch_bounds__(THREADS, 1)
    constant_kernel(const __grid_constant__ RvStixelsModel m,
                    const __grid_constant__ RvStixelsCuda work,
                    const __grid_constant__ Output out) {
  extern __shared__ __align__(16) char shared[];
  Desk *desk = (Desk *)shared;
  const Turn turn = begin_turn(m, work);
  const size_t x = turn.column, rows = m.rows;
  Plain p;
  p.begin = (Begin *)(desk + 1);
  p.flat = (int2 *)(p.begin + rows + 1);
  p.ending = (Links *)(p.flat + rows + 1);
  p.links = desk->list;
  RvStixelsCell *copy = (RvStixelsCell *)p.ending;
  p.cells = copy;
  p.pitch = RESIDENT ? (m.rows + 1) | 1 : rv_stixels_pitch(m.rows);
  int32_t *steps = RESIDENT ? (int32_t *)(p.ending + rv_stixels_pitch(m.rows))
                            : work.steps + x * p.pitch * (m.disparity_max + 1);
  p.steps = steps;
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.own[k] = m.transition[OBJECT][k] + m.fixed_cost[OBJECT];
  int is_full = 1;
  for (int v = threadIdx.x; v < rv_stixels_pitch(m.rows); v += THREADS) {
    copy[v] = v < m.rows ? work.cells[x * rows + v] : RvStixelsCell{0, 0, 0};
    is_full = is_full && (copy[v].weight == 0 || copy[v].confidence == 255);
  }
#pragma unroll
  for (int i = threadIdx.x; i < RV_STIXELS_TABLE; i += THREADS)
    desk->table[entry_of(i)] = work.table[OBJECT * RV_STIXELS_TABLE + i];
  is_full = __syncthreads_and(is_full);
  if (!RESIDENT)
    sum_steps_far(m, desk->table, p, steps);
  else if (is_full)
    sum_steps_near<true>(m, desk->table, p, steps);
  else
    sum_steps_near<false>(m, desk->table, p, steps);
  if (m.estimate)
    rv_stixels_wait_for_others();
  const RvStixelsState state = follow_road<WARPS>(m, work, turn.column, turn.frame);
  p.ground = state.ground;
  place_rows(m, p, work.table);
  if (threadIdx.x == 0) {
    p.begin[0].from[0] = p.begin[0].from[1] = OUT_OF_REACH;
    p.begin[0].from[2] = m.fixed_cost[OBJECT] + m.first[OBJECT];
    p.begin[0].mu[1] = 0;
  }
  __syncthreads();
  sum_rows(m, p);
  __syncthreads();
  const bool is_near = m.disparity_max <= NEAR && work.is_gentle &&
                       rv_abs(rv_stixels_value(&p.ground, 0)) <= 256 * NEAR &&
                       rv_abs(rv_stixels_value(&p.ground, m.rows)) <= 256 * NEAR;
  if (is_near)
    settle_all<true>(m, p, desk);
  else
    settle_all<false>(m, p, desk);
  RvStixel *records =
      rv_stixels_has_records(&m) && out.list.stixels ? (RvStixel *)(desk->list + rows) : NULL;
  finish<WARPS>(m, work, p, out, turn, state, records, [&](int structure, int bottom, int top) {
    const Begin *low = p.begin + bottom, *high = p.begin + top + 1;
    return structure == GROUND
               ? RvStixelsPlane{p.ground.at + p.ground.slope * bottom, p.ground.slope}
           : structure == SKY
               ? RvStixelsPlane{0, 0}
               : RvStixelsPlane{(int64_t)mean_of(high->d - low->d, high->w - low->w) << 16, 0};
  });
}

RvStatus rv_stixels_cuda_open_constant(const RvStixelsCuda *work, const RvStixelsModel *m,
                                       const RvLog *log) {
  RV_CU(log,
        cudaFuncSetAttribute(work->is_resident ? constant_kernel<true> : constant_kernel<false>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_bytes(m, work->is_resident)));
  return RV_OK;
}

RvStatus rv_stixels_cuda_constant(const RvStixelsCuda *work, const RvStixelsModel *m,
                                  const RvStixelsJob *job, const RvLog *log) {
  return rv_stixels_launch(work, work->is_resident ? constant_kernel<true> : constant_kernel<false>,
                           dim3(m->columns), THREADS, shared_bytes(m, work->is_resident),
                           job->stream, log, *m, *work, Output{job->output, job->disparity});
}
