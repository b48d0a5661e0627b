/* stixels_cuda_constant.cu: the columns of `constant` without semantics, CUDA engine. As in
 * stixels_cuda_columns.cu, but in integers, and only objects are tried pair by pair: what a stixel
 * of ground or sky costs is a difference of two sums, one of its lowest row and one of its top row,
 * so that the best lowest row so far serves all tops. */
#include "stixels_cuda_list.cuh"

#define GROUND RV_STIXEL_GROUND
#define OBJECT RV_STIXEL_OBJECT
#define SKY RV_STIXEL_SKY

/* What an object that begins in a row reads. */
struct __align__(16) Begin {
  int32_t from[RV_STIXELS_CLASSES]; /* cost of what ends below, with the transition */
  int32_t mu[2];                    /* 1/256 px, here: the ground plane, the object below */
  uint32_t w, d;                    /* sums of the cells below: weight, weight x disparity */
  int32_t reserved;
};

/* Shared memory of the block; the arrays by row follow. */
struct Desk {
  union {
    int32_t table[RV_STIXELS_TABLE]; /* of objects, [index % 256][index / 256]: no bank conflicts */
    struct {
      int32_t parts[WARPS][3][32]; /* the warps' best objects by top row: cost, link, mu */
      int32_t own[32][2][32];      /* [bottom][cost, mu][top]: the objects within the tile */
    };
  };
};

/* A column at work. */
struct Plain {
  Begin *begin;               /* rows + 1 */
  int32_t *ground, *sky;      /* rows + 1: costs of the cells below as ground and sky */
  const RvStixelsCell *cells; /* a copy */
  const int32_t *steps;
  int pitch;
};

/* The best lowest row of ground or sky so far: its cost but for the sum up to the top. */
struct Running {
  int32_t cost;
  uint32_t link;
};

static size_t shared_bytes(int rows) {
  const size_t n = rows;
  return sizeof(Desk) + (n + 1) * (sizeof(Begin) + 2 * sizeof(int32_t)) + n * sizeof(Ending) +
         n * sizeof(uint32_t) + rv_stixels_pitch(rows) * sizeof(RvStixelsCell);
}

/* Sums fit in 32 bits and a column in shared memory. */
bool rv_stixels_cuda_is_plain(const RvStixelsModel *m) {
  const double most = 255.0 * 256 * m->disparity_max * m->rows + 255.0 * m->rows;
  return m->kind == RV_STIXELS_CONSTANT && m->cuts == RV_STIXELS_CUTS_ALL && most < 4294967296.0 &&
         shared_bytes(m->rows) <= 65024;
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

/* Weights, disparities, costs as ground and as sky: a warp each. */
static __device__ void sum_rows(const RvStixelsModel &m, const Column &c, const Plain &p) {
  const int lane = threadIdx.x % 32, term = threadIdx.x / 32;
  int32_t before = 0;
  for (int first = 0; term < 4 && first <= m.rows; first += 32) {
    const int v = first + lane;
    int32_t x = 0;
    if (v < m.rows) {
      const RvStixelsCell cell = p.cells[v];
      x = term == 0   ? cell.weight
          : term == 1 ? cell.weight * cell.disparity
          : term == 2 ? cell_cost(m, c, GROUND, v, rv_stixels_value(&c.ground, v))
                      : cell_cost(m, c, SKY, v, 0);
    }
    const int32_t sum = before + scanned(x), below = sum - x;
    if (v <= m.rows) {
      if (term == 0)
        p.begin[v].w = (uint32_t)below;
      else if (term == 1)
        p.begin[v].d = (uint32_t)below;
      else
        (term == 2 ? p.ground : p.sky)[v] = below;
    }
    before = __shfl_sync(0xffffffffu, sum, 31);
  }
}

#define BATCH 8 /* rows, written together: whole sectors */

/* Costs of the cells below each row as objects of every whole px, one thread a px. */
static __device__ void sum_steps(const RvStixelsModel &m, const Desk *desk, const Plain &p,
                                 int32_t *steps) {
  for (int px = threadIdx.x; px <= m.disparity_max; px += THREADS) {
    int4 *out = (int4 *)(steps + (size_t)px * p.pitch);
    int32_t sum = 0;
    for (int first = 0; first <= m.rows; first += BATCH) {
      int32_t sums[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sums[i] = sum;
        const RvStixelsCell cell = p.cells[first + i];
        const int at = rv_stixels_index(cell, 256 * px);
        sum += cell.weight ? desk->table[at % 256 * 16 + at / 256] : m.invalid_cost;
      }
      out[first / 4] = make_int4(sums[0], sums[1], sums[2], sums[3]);
      out[first / 4 + 1] = make_int4(sums[4], sums[5], sums[6], sums[7]);
    }
  }
}

/* --- Objects --------------------------------------------------------------------------------- */

/* (16 d + w / 2) / w, which is rv_stixels_mean: a float's guess is off by at most 1. */
static __device__ __forceinline__ int mean_of(uint32_t d, uint32_t w) {
  const uint32_t over = max(w, 1u), x = 16 * d + w / 2;
  uint32_t q = (uint32_t)__fdividef(__uint2float_rn(x), __uint2float_rn(over));
  const int32_t rest = (int32_t)(x - q * over);
  q -= rest < 0;
  q += rest >= (int32_t)over;
  return (int)q;
}

struct Object {
  int32_t cost, mu;
};

static __device__ __forceinline__ Object object_of(const RvStixelsModel &m, const Plain &p,
                                                   const Begin &begin, uint32_t w, uint32_t d,
                                                   int bottom, int top) {
  const int mu = mean_of(d - begin.d, w - begin.w);
  const int32_t *sum = p.steps + (unsigned)(rv_stixels_nearest(mu) * p.pitch);
  return {sum[top + 1] - sum[bottom] + m.fixed_cost[OBJECT], mu};
}

/* The best of one lane's top row among objects. */
struct Best {
  int32_t cost;
  uint32_t link;
  int32_t mu;
};

static __device__ __forceinline__ void offer(const RvStixelsModel &m, Best *best, const Object &own,
                                             int bottom, const int32_t from[3], int mu_ground,
                                             int mu_object) {
  const int up = own.mu - mu_ground, over = own.mu - mu_object;
  const bool is_up = up > 0;
  const int32_t gravity = rv_stixels_penalty(is_up ? m.gravity[1].alpha : m.gravity[0].alpha,
                                             is_up ? m.gravity[1].beta : m.gravity[0].beta, up);
  const int32_t ordering = rv_stixels_penalty(m.ordering.alpha, m.ordering.beta, over);
  const int32_t a = from[GROUND] + (up == 0 ? 0 : gravity);
  const int32_t b = from[OBJECT] + (over > 0 ? ordering : 0), c = from[SKY];
  const int32_t least = rv_min(rv_min(a, b), c), cost = least + own.cost;
  if (cost >= best->cost)
    return;
  best->cost = cost;
  best->link = (uint32_t)bottom | (least == a ? 0u : least == b ? 1u << 16 : 2u << 16);
  best->mu = own.mu;
}

/* Objects that end in row `first` + lane and begin below `first`: a warp tries a range of lowest
 * rows, so that of equal costs that of the first warp wins. */
static __device__ void try_below(const RvStixelsModel &m, const Plain &p, Desk *desk, int first) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int top = rv_min(first + lane, m.rows - 1), end = first * (warp + 1) / WARPS;
  const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
  Best best = {RV_STIXELS_INFINITE, 0, 0};
#pragma unroll 4
  for (int bottom = first * warp / WARPS; bottom < end; bottom++) {
    const Begin begin = p.begin[bottom];
    const Object own = object_of(m, p, begin, w, d, bottom, top);
    offer(m, &best, own, bottom, begin.from, begin.mu[0], begin.mu[1]);
  }
  desk->parts[warp][0][lane] = best.cost;
  desk->parts[warp][1][lane] = (int32_t)best.link;
  desk->parts[warp][2][lane] = best.mu;
}

/* The objects within rows first .. first + 31, but for their predecessors. */
static __device__ void work_out(const RvStixelsModel &m, const Plain &p, Desk *desk, int first) {
  const int lane = threadIdx.x % 32, top = rv_min(first + lane, m.rows - 1);
  const uint32_t w = p.begin[top + 1].w, d = p.begin[top + 1].d;
#pragma unroll 2
  for (int k = threadIdx.x / 32; k < 32; k += WARPS) {
    const int bottom = rv_min(first + k, top);
    const Object own = object_of(m, p, p.begin[bottom], w, d, bottom, top);
    desk->own[k][0][lane] = own.cost;
    desk->own[k][1][lane] = own.mu;
  }
}

/* --- Order ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ int32_t reachable(int32_t cost) {
  return cost < RV_STIXELS_INFINITE ? cost : OUT_OF_REACH;
}

/* Ground or sky may begin in `bottom`: `last` ends below, `sum` is that of the cells below. */
static __device__ __forceinline__ void run_on(const RvStixelsModel &m, Running *running,
                                              int structure, int bottom, const int32_t last[3],
                                              int32_t sum) {
  const int32_t a = last[0] + m.transition[structure][0], b = last[1] + m.transition[structure][1];
  const int32_t c = last[2] + m.transition[structure][2], least = rv_min(rv_min(a, b), c);
  const int32_t cost = (bottom > 0 ? least : 0) + m.fixed_cost[structure] - sum;
  if (cost >= running->cost)
    return;
  running->cost = cost;
  running->link = (uint32_t)bottom | (least == a ? 0u : least == b ? 1u << 16 : 2u << 16);
}

/* One warp goes through the lowest rows first .. first + 31 in order. Ground and sky are the same
 * in all lanes; an object is final when its own row has been its lowest. */
static __device__ void settle(const RvStixelsModel &m, const Column &c, const Plain &p,
                              const Desk *desk, int first, Running running[2]) {
  const int lane = threadIdx.x, top = first + lane, count = rv_min(m.rows - first, 32);
  Best best = {RV_STIXELS_INFINITE, 0, 0};
  for (int warp = 0; first > 0 && warp < WARPS; warp++)
    if (desk->parts[warp][0][lane] < best.cost)
      best = {desk->parts[warp][0][lane], (uint32_t)desk->parts[warp][1][lane],
              desk->parts[warp][2][lane]};
  const unsigned sky_rows = __ballot_sync(0xffffffffu, rv_stixels_is_sky_row(&c.ground, top));
  int32_t last[3] = {0, 0, 0}, last_mu = p.begin[first].mu[1];
  for (int k = 0; first > 0 && k < 3; k++)
    last[k] = c.ending[first - 1].cost[k];
  Ending mine;
  for (int k = 0; k < count; k++) {
    const int bottom = first + k;
    run_on(m, &running[0], GROUND, bottom, last, p.ground[bottom]);
    if (sky_rows >> k & 1)
      run_on(m, &running[1], SKY, bottom, last, p.sky[bottom]);
    const int32_t from[3] = {bottom > 0 ? last[0] + m.transition[OBJECT][0] : OUT_OF_REACH,
                             bottom > 0 ? last[1] + m.transition[OBJECT][1] : OUT_OF_REACH,
                             bottom > 0 ? last[2] + m.transition[OBJECT][2] : 0};
    const Object own = {desk->own[k][0][lane], desk->own[k][1][lane]};
    if (k <= lane)
      offer(m, &best, own, bottom, from, p.begin[bottom].mu[0], last_mu);
    last[GROUND] = reachable(running[0].cost + p.ground[bottom + 1]);
    last[SKY] = reachable(running[1].cost + p.sky[bottom + 1]);
    last[OBJECT] = reachable(__shfl_sync(0xffffffffu, best.cost, k));
    last_mu = __shfl_sync(0xffffffffu, best.mu, k);
    if (k == lane) {
      mine.cost[GROUND] = last[GROUND];
      mine.cost[SKY] = last[SKY];
      mine.link[GROUND] = running[0].link;
      mine.link[SKY] = running[1].link;
    }
  }
  if (lane < count) {
    mine.cost[OBJECT] = reachable(best.cost);
    mine.link[OBJECT] = best.link;
    mine.next[0] = p.begin[top + 1].mu[0];
    mine.next[1] = best.mu;
    c.ending[top] = mine;
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      p.begin[top + 1].from[k] = mine.cost[k] + m.transition[OBJECT][k];
    p.begin[top + 1].mu[1] = best.mu;
  }
  __syncwarp();
}

/* --- Kernel ---------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(THREADS, 2)
    constant_kernel(const __grid_constant__ RvStixelsModel m,
                    const __grid_constant__ RvStixelsCuda work,
                    const __grid_constant__ RvStixelsOutput out) {
  extern __shared__ __align__(16) char shared[];
  __shared__ Turn turn;
  Desk *desk = (Desk *)shared;
  rv_stixels_let_others_start();
  rv_stixels_wait_for_others();
  if (threadIdx.x == 0)
    turn = take_turn(work);
  __syncthreads();
  const RvStixelsState state = follow_road(m, work, turn.column, turn.frame);
  const size_t x = turn.column, rows = m.rows;
  Column c = {};
  Plain p;
  c.ending = (Ending *)(desk + 1);
  p.begin = (Begin *)(c.ending + rows);
  p.ground = (int32_t *)(p.begin + rows + 1);
  p.sky = p.ground + rows + 1;
  c.links = (uint32_t *)(p.sky + rows + 1);
  RvStixelsCell *copy = (RvStixelsCell *)(c.links + rows);
  p.cells = c.cells = copy;
  p.pitch = rv_stixels_pitch(m.rows);
  int32_t *steps = work.steps + x * p.pitch * (m.disparity_max + 1);
  p.steps = steps;
  c.table = work.table;
  c.ground = state.ground;
  for (int v = threadIdx.x; v < p.pitch; v += THREADS)
    copy[v] = v < m.rows ? work.cells[x * rows + v] : RvStixelsCell{0, 0, 0};
  for (int i = threadIdx.x; i < RV_STIXELS_TABLE; i += THREADS)
    desk->table[i % 256 * 16 + i / 256] = work.table[OBJECT * RV_STIXELS_TABLE + i];
  for (int v = threadIdx.x; v <= m.rows; v += THREADS)
    p.begin[v].mu[0] = rv_stixels_value(&c.ground, v);
  if (threadIdx.x == 0) {
    p.begin[0].from[0] = p.begin[0].from[1] = OUT_OF_REACH;
    p.begin[0].from[2] = p.begin[0].mu[1] = 0;
  }
  __syncthreads();
  sum_rows(m, c, p);
  sum_steps(m, desk, p, steps);
  Running running[2] = {{OUT_OF_REACH, 0}, {OUT_OF_REACH, 0}};
  for (int first = 0; first < m.rows; first += 32) {
    __syncthreads();
    if (first > 0)
      try_below(m, p, desk, first);
    work_out(m, p, desk, first);
    __syncthreads();
    if (threadIdx.x < 32)
      settle(m, c, p, desk, first, running);
  }
  finish(m, work, c, out, turn, state, [&](int structure, int bottom, int top) {
    const Begin *low = p.begin + bottom, *high = p.begin + top + 1;
    return structure == GROUND
               ? RvStixelsPlane{c.ground.at + c.ground.slope * bottom, c.ground.slope}
           : structure == SKY
               ? RvStixelsPlane{0, 0}
               : RvStixelsPlane{(int64_t)mean_of(high->d - low->d, high->w - low->w) << 16, 0};
  });
}

RvStatus rv_stixels_cuda_open_constant(const RvStixelsModel *m, const RvLog *log) {
  RV_CU(log, cudaFuncSetAttribute(constant_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)shared_bytes(m->rows)));
  return RV_OK;
}

RvStatus rv_stixels_cuda_constant(const RvStixelsCuda *work, const RvStixelsModel *m,
                                  const RvStixelsJob *job, const RvLog *log) {
  return rv_stixels_launch(work, constant_kernel, dim3(m->columns), THREADS, shared_bytes(m->rows),
                           job->stream, log, *m, *work, job->output);
}
