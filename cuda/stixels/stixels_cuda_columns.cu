/* stixels_cuda_columns.cu: dynamic programming, backtracking and list, CUDA engine. One thread
 * block takes one column, a thread the stixels that end in its rows. The block goes through the
 * lowest rows in order: when all stixels that begin in a row have been offered, the best that ends
 * there is known, and the next row may read it after one barrier. */
#include "stixels_cuda.h"

#define TERMS 10 /* of RvStixelsSums, all int64_t */
static_assert(sizeof(RvStixelsSums) == TERMS * sizeof(int64_t), "the sums are scanned as an array");

/* A column's scratch and what it reads. */
struct Column {
  RvStixelsSums *sums;                       /* rows + 1 */
  RvStixelsBest (*best)[RV_STIXELS_CLASSES]; /* rows */
  int32_t *flat[2]; /* rows + 1: costs of ground and sky cells summed; `constant` */
  uint32_t *links;  /* rows: bottom | class << 16, from the top down */
  uint32_t *keys;   /* [place][rows + 1]: 32 x costs of semantic classes summed; NULL: none */
  uint8_t *cuts;    /* rows + 1: a stixel may begin here, end below */
  const RvStixelsCell *cells;
  const uint16_t *semantics; /* [place][row] */
  const int32_t *table;
  int32_t *steps; /* [rows + 1][whole px] */
  RvStixelsPlane ground;
};

size_t rv_stixels_cuda_scratch(int rows, int semantics) {
  const size_t n = (size_t)rows;
  return (n + 1) * sizeof(RvStixelsSums) + n * RV_STIXELS_CLASSES * sizeof(RvStixelsBest) +
         2 * (n + 1) * sizeof(int32_t) + n * sizeof(uint32_t) +
         (n + 1) * semantics * sizeof(uint32_t) + n + 1;
}

static __device__ __forceinline__ int32_t cell_cost(const Column &c, int structure, int v, int mu) {
  const RvStixelsCell cell = c.cells[v];
  return cell.weight ? c.table[structure * RV_STIXELS_TABLE + rv_stixels_index(cell, mu)] : 0;
}

/* Sums of all cells below each row: every thread fills in its rows, then one thread a term adds. */
static __device__ void sum_cells(const RvStixelsModel &m, const Column &c) {
  const RvStixelsCell none = {0, 0, 0};
  for (int v = threadIdx.x; v <= m.rows; v += blockDim.x)
    c.sums[v] =
        v == 0 ? rv_stixels_of_cell(none, 0, 0)
               : rv_stixels_of_cell(c.cells[v - 1], v - 1, rv_stixels_sixteenth(&c.ground, v - 1));
  __syncthreads();
  if (threadIdx.x < TERMS) {
    int64_t *term = (int64_t *)c.sums + threadIdx.x;
    int64_t sum = 0;
#pragma unroll 8
    for (int v = 0; v <= m.rows; v++) {
      sum += term[v * TERMS];
      term[v * TERMS] = sum;
    }
  }
}

/* A warp sums the costs of a semantic class. */
static __device__ void sum_semantics(const RvStixelsModel &m, const Column &c) {
  const int lane = threadIdx.x % 32;
  for (int place = threadIdx.x / 32; place < m.semantics; place += blockDim.x / 32) {
    const uint16_t *cost = c.semantics + (size_t)place * m.rows;
    uint32_t *key = c.keys + (size_t)place * (m.rows + 1), before = 0;
    if (lane == 0)
      key[0] = 0;
    for (int first = 0; first < m.rows; first += 32) {
      const int v = first + lane;
      uint32_t sum = v < m.rows ? 32u * cost[v] : 0;
      for (int step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, sum, step);
        sum += lane >= step ? other : 0;
      }
      if (v < m.rows)
        key[v + 1] = before + sum;
      before += __shfl_sync(0xffffffffu, sum, 31);
    }
  }
}

/* Least key of a structural class's semantic classes; all bits set without any. */
static __device__ __forceinline__ uint32_t least_key(const RvStixelsModel &m, const Column &c,
                                                     int structure, int bottom, int top) {
  const int first = m.semantic_first[structure], end = m.semantic_first[structure + 1];
  const uint32_t *sum = c.keys + (size_t)first * (m.rows + 1);
  uint32_t least = 0xffffffffu;
#pragma unroll 4
  for (int place = 0; place < end - first; place++, sum += m.rows + 1)
    least = min(least, rv_stixels_key(sum[bottom], sum[top + 1], place));
  return least;
}

static __device__ __forceinline__ int32_t semantic_cost(const RvStixelsModel &m, const Column &c,
                                                        int structure, int bottom, int top) {
  const uint32_t key = least_key(m, c, structure, bottom, top);
  const uint32_t sum =
      key != 0xffffffffu ? key / 32 : RV_STIXELS_SCORE_WORST * (uint32_t)(top + 1 - bottom);
  return rv_stixels_semantic_cost(&m, sum);
}

/* The tables of `constant`, one thread a disparity, the next two for ground and sky. */
static __device__ void sum_costs(const RvStixelsModel &m, const Column &c) {
  const int px = m.disparity_max + 1;
  for (int k = threadIdx.x; k < px + 2; k += blockDim.x) {
    int32_t sum = 0;
    int32_t *out = k < px ? c.steps + k : c.flat[k - px];
    const int pitch = k < px ? px : 1;
    const int structure = k < px ? RV_STIXEL_OBJECT : k == px ? RV_STIXEL_GROUND : RV_STIXEL_SKY;
    out[0] = 0;
    for (int v = 0; v < m.rows; v++) {
      const int mu = k < px ? 256 * k : k == px ? rv_stixels_value(&c.ground, v) : 0;
      sum += cell_cost(c, structure, v, mu);
      out[(size_t)(v + 1) * pitch] = sum;
    }
  }
}

/* Costs of the valid cells by (3.9). */
template <int KIND>
static __device__ __forceinline__ int64_t sum_of(const RvStixelsModel &m, const Column &c,
                                                 int structure, int bottom, int top,
                                                 const RvStixelsPlane *plane) {
  if (KIND == RV_STIXELS_CONSTANT) {
    if (structure == RV_STIXEL_GROUND)
      return c.flat[0][top + 1] - c.flat[0][bottom];
    if (structure == RV_STIXEL_SKY)
      return c.flat[1][top + 1] - c.flat[1][bottom];
    const int px = m.disparity_max + 1;
    const int32_t *sum = c.steps + rv_stixels_nearest(&m, plane);
    return sum[(size_t)(top + 1) * px] - sum[(size_t)bottom * px];
  }
  int64_t sum = 0;
  for (int v = bottom; v <= top; v++)
    sum += cell_cost(c, structure, v, rv_stixels_value(plane, v - bottom));
  return sum;
}

/* Offers the stixel bottom..top of a class to the best that ends in `top` (3.25, 4.9). */
template <int KIND>
static __device__ __forceinline__ void offer(const RvStixelsModel &m, const Column &c,
                                             const RvStixelsSums &s, int structure, int bottom,
                                             int top) {
  const RvStixelsFit fit = rv_stixels_fit(&m, &c.ground, structure, &s, bottom);
  const int length = top + 1 - bottom;
  int32_t own =
      KIND == RV_STIXELS_SLANTED_FAST
          ? rv_stixels_cost_fast(&m, structure, &s, length, fit.error)
          : rv_stixels_cost_sum(&m, structure, &s, length,
                                sum_of<KIND>(m, c, structure, bottom, top, &fit.plane), fit.prior);
  if (c.keys)
    own = rv_stixels_add(own, semantic_cost(m, c, structure, bottom, top));
  const int32_t next = rv_stixels_value(&fit.plane, length);
  RvStixelsBest best = c.best[top][structure];
  if (bottom == 0) {
    best.cost = own;
    best.next = next;
  } else {
    const int mu = rv_stixels_value(&fit.plane, 0);
#pragma unroll
    for (int below = 0; below < RV_STIXELS_CLASSES; below++) {
      const RvStixelsBest last = c.best[bottom - 1][below];
      if (last.cost >= RV_STIXELS_INFINITE)
        continue;
      const int32_t pair = rv_stixels_pair(&m, structure, below, mu, last.next);
      const int32_t cost = rv_stixels_add(rv_stixels_add(own, pair), last.cost);
      if (cost >= best.cost)
        continue;
      best.cost = cost;
      best.next = next;
      best.bottom = (uint16_t)bottom;
      best.below = (uint16_t)below;
    }
  }
  c.best[top][structure] = best;
}

/* The likeliest semantic class of a cell, as a place. */
static __device__ int likeliest(const RvStixelsModel &m, const Column &c, int v) {
  uint32_t least = 0xffffffffu;
  for (int place = 0; place < m.semantics; place++)
    least = min(least, c.semantics[(size_t)place * m.rows + v] * 32u + place);
  return least % 32;
}

/* The plateau that begins (step 1) or ends (step -1) in row v is an extreme: the series comes from
 * and goes to the same side. */
static __device__ bool is_extreme(const RvStixelsModel &m, const Column &c, int v, int step) {
  const int value = rv_stixels_series(c.cells[v]), from = rv_stixels_series(c.cells[v - step]);
  int end = v, to = value;
  while (to == value) {
    end += step;
    if (end < 0 || end >= m.rows)
      return false;
    to = rv_stixels_series(c.cells[end]);
  }
  return (from > value && to > value) || (from < value && to < value);
}

static __device__ void find_cuts(const RvStixelsModel &m, const Column &c) {
  for (int v = threadIdx.x; v <= m.rows; v += blockDim.x)
    c.cuts[v] = m.cuts == RV_STIXELS_CUTS_ALL || v == 0 || v == m.rows ||
                rv_stixels_is_step(c.cells[v - 1], c.cells[v]) || is_extreme(m, c, v, 1) ||
                is_extreme(m, c, v - 1, -1) ||
                (c.keys && likeliest(m, c, v) != likeliest(m, c, v - 1));
}

template <int KIND> static __device__ void solve(const RvStixelsModel &m, const Column &c) {
  for (int top = threadIdx.x; top < m.rows; top += blockDim.x)
    for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
      const RvStixelsBest none = {RV_STIXELS_INFINITE, 0, 0, 0};
      c.best[top][k] = none;
    }
  __syncthreads();
  for (int bottom = 0; bottom < m.rows; bottom++) {
    if (!c.cuts[bottom])
      continue;
    __syncthreads();
    const bool is_sky_row = rv_stixels_is_sky_row(&c.ground, bottom);
    for (int top = threadIdx.x; top < m.rows; top += blockDim.x) {
      if (top < bottom || !c.cuts[top + 1])
        continue;
      const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
      offer<KIND>(m, c, s, RV_STIXEL_GROUND, bottom, top);
      offer<KIND>(m, c, s, RV_STIXEL_OBJECT, bottom, top);
      if (is_sky_row)
        offer<KIND>(m, c, s, RV_STIXEL_SKY, bottom, top);
    }
  }
  __syncthreads();
}

/* One thread follows the stored cuts down; all threads make the records. */
static __device__ void follow(const RvStixelsModel &m, const Column &c, RvStixel *made,
                              uint32_t *count, int32_t *energy) {
  __shared__ int found;
  const int x = blockIdx.x;
  if (threadIdx.x == 0) {
    int structure = 0, n = 0;
    const RvStixelsBest *last = c.best[m.rows - 1];
    for (int k = 1; k < RV_STIXELS_CLASSES; k++)
      if (last[k].cost < last[structure].cost)
        structure = k;
    if (energy)
      energy[x] = last[structure].cost;
    for (int top = m.rows - 1; top >= 0; n++) {
      const RvStixelsBest best = c.best[top][structure];
      c.links[n] = best.bottom | (uint32_t)structure << 16;
      top = (int)best.bottom - 1;
      structure = best.below;
    }
    found = n;
    *count = (uint32_t)n;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < found; k += blockDim.x) {
    const int bottom = (int)(c.links[k] & 0xffff), structure = (int)(c.links[k] >> 16);
    const int top = k == 0 ? m.rows - 1 : (int)(c.links[k - 1] & 0xffff) - 1;
    const RvStixelsBest best = c.best[top][structure];
    const int32_t under = bottom > 0 ? c.best[bottom - 1][best.below].cost : 0;
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
    const RvStixelsFit fit = rv_stixels_fit(&m, &c.ground, structure, &s, bottom);
    RvStixel record =
        rv_stixels_record(&m, x, bottom, top, structure, &fit.plane, best.cost - under);
    const uint32_t key = c.keys ? least_key(m, c, structure, bottom, top) : 0xffffffffu;
    if (key != 0xffffffffu)
      record.semantic = m.semantic_class[m.semantic_first[structure] + key % 32];
    made[found - 1 - k] = record;
  }
}

template <int KIND>
static __global__ void __launch_bounds__(512)
    columns_kernel(const __grid_constant__ RvStixelsModel m,
                   const __grid_constant__ RvStixelsCuda work, int is_semantic, int32_t *energies) {
  extern __shared__ __align__(16) char shared[];
  const size_t x = blockIdx.x, rows = m.rows;
  Column c;
  char *scratch = work.is_small ? shared : work.columns + x * work.scratch;
  c.sums = (RvStixelsSums *)scratch;
  c.best = (RvStixelsBest(*)[RV_STIXELS_CLASSES])(c.sums + rows + 1);
  c.flat[0] = (int32_t *)(c.best + rows);
  c.flat[1] = c.flat[0] + rows + 1;
  c.links = (uint32_t *)(c.flat[1] + rows + 1);
  c.keys = is_semantic ? c.links + rows : NULL;
  c.cuts = (uint8_t *)(c.links + rows + (rows + 1) * m.semantics);
  c.cells = work.cells + x * rows;
  c.semantics = work.semantics + x * rows * m.semantics;
  c.table = work.table;
  c.steps = work.steps + x * (rows + 1) * (m.disparity_max + 1);
  c.ground = work.state->ground;
  sum_cells(m, c);
  if (c.keys)
    sum_semantics(m, c);
  find_cuts(m, c);
  if (KIND == RV_STIXELS_CONSTANT)
    sum_costs(m, c);
  solve<KIND>(m, c);
  follow(m, c, work.made + x * rows, &work.counts[x], energies);
}

/* A block copies one column; its place is the sum of the counts to its left. */
static __global__ void __launch_bounds__(128)
    list_kernel(const __grid_constant__ RvStixelsModel m,
                const __grid_constant__ RvStixelsCuda work, RvStixelsOutput out) {
  __shared__ uint32_t parts[4];
  const int x = blockIdx.x;
  uint32_t sum = 0;
  for (int k = threadIdx.x; k < x; k += 128)
    sum += work.counts[k];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sum;
  __syncthreads();
  const uint32_t first = parts[0] + parts[1] + parts[2] + parts[3], count = work.counts[x];
  if (threadIdx.x == 0 && out.offsets) {
    out.offsets[x] = first;
    if (x == m.columns - 1)
      out.offsets[x + 1] = first + count;
  }
  if (threadIdx.x == 0 && x == 0 && out.ground) {
    const RvStixelsState state = *work.state;
    out.ground->at = state.ground.at;
    out.ground->slope = state.ground.slope;
    out.ground->found = state.found;
    out.ground->score = state.score;
  }
  const RvStixel *made = work.made + (size_t)x * m.rows;
  for (uint32_t k = threadIdx.x; out.stixels && k < count && first + k < out.capacity; k += 128)
    out.stixels[first + k] = made[k];
}

static const void *kernel_of(int kind) {
  return kind == RV_STIXELS_SLANTED_FAST ? (const void *)columns_kernel<RV_STIXELS_SLANTED_FAST>
         : kind == RV_STIXELS_SLANTED    ? (const void *)columns_kernel<RV_STIXELS_SLANTED>
                                         : (const void *)columns_kernel<RV_STIXELS_CONSTANT>;
}

RvStatus rv_stixels_cuda_open_columns(const RvStixelsCuda *work, const RvStixelsModel *m,
                                      const RvLog *log) {
  if (work->is_small)
    RV_CU(log, cudaFuncSetAttribute(kernel_of(m->kind), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    RV_STIXELS_SHARED));
  return RV_OK;
}

RvStatus rv_stixels_cuda_columns(const RvStixelsCuda *work, const RvStixelsModel *m,
                                 const RvStixelsJob *job, const RvLog *log) {
  const size_t shared = work->is_small ? work->scratch : 0;
  const int threads = rv_min(rv_div_up(m->rows, 32) * 32, 512);
  int32_t *energies = job->output.energies;
  int is_semantic = rv_stixels_has_semantics(job);
  void *args[] = {(void *)m, (void *)work, (void *)&is_semantic, (void *)&energies};
  RV_CU(log, cudaLaunchKernel(kernel_of(m->kind), dim3(m->columns), dim3(threads), args, shared,
                              job->stream));
  list_kernel<<<m->columns, 128, 0, job->stream>>>(*m, *work, job->output);
  RV_LAUNCHED(log);
  return RV_OK;
}
