/* stixels_cuda_column.cuh: one column on the GPU: its scratch, the sums of its cells, and what a
 * stixel costs by each model. Not installed. */
#ifndef RV_STIXELS_CUDA_COLUMN_CUH
#define RV_STIXELS_CUDA_COLUMN_CUH

#include "stixels_cuda.h"

#define TERMS 10 /* of RvStixelsSums, all double */
static_assert(sizeof(RvStixelsSums) == TERMS * sizeof(double), "the sums are scanned as an array");

/* A cost that stays out of reach whatever is added: what is not allowed, or has no best. */
#define OUT_OF_REACH (RV_STIXELS_INFINITE + (1 << 28))

/* The best stixels that end in a row, by class. */
struct __align__(16) Ending {
  int32_t cost[RV_STIXELS_CLASSES];  /* of the column up to here, or OUT_OF_REACH */
  int32_t next[2];                   /* 1/256 px: plane one row further up, ground and object */
  uint32_t link[RV_STIXELS_CLASSES]; /* lowest row | class of the predecessor << 16 */
};

/* A stixel but for its predecessor. */
struct Own {
  int32_t cost;
  int32_t mu, next; /* 1/256 px: its plane in its lowest row and one row above its top */
};

/* A column's scratch and what it reads. */
struct Column {
  RvStixelsSums *sums; /* rows + 1 */
  Ending *ending;      /* rows */
  int32_t *flat;       /* 2 x (rows + 1): costs of ground and sky cells summed; `constant` */
  uint32_t *links;     /* rows: bottom | class << 16, from the top down */
  uint32_t *keys;      /* [place][rows + 1]: 32 x costs of semantic classes summed; NULL: none */
  uint8_t *cuts;       /* rows + 1: a stixel may begin here, end below */
  const RvStixelsCell *cells;
  const uint16_t *semantics; /* [place][row] */
  const int32_t *table;
  int32_t *steps; /* [whole px][rv_stixels_pitch]: by row + 1 */
  RvStixelsPlane ground;
};

static __device__ __forceinline__ int32_t cell_cost(const RvStixelsModel &m, const Column &c,
                                                    int structure, int v, int mu) {
  return rv_stixels_cost_cell(&m, c.table + structure * RV_STIXELS_TABLE, c.cells[v], mu);
}

/* Sums of all cells below each row: every thread fills in its rows, then a warp scans a term. */
static __device__ void sum_cells(const RvStixelsModel &m, const Column &c) {
  const RvStixelsCell none = {0, 0, 0};
  for (int v = threadIdx.x; v <= m.rows; v += blockDim.x)
    c.sums[v] =
        v == 0 ? rv_stixels_of_cell(none, 0, 0)
               : rv_stixels_of_cell(c.cells[v - 1], v - 1, rv_stixels_expected(&c.ground, v - 1));
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int k = threadIdx.x / 32; k < TERMS; k += blockDim.x / 32) {
    double *term = (double *)c.sums + k;
    double before = 0;
    for (int v = lane; v - lane <= m.rows; v += 32) {
      double sum = v <= m.rows ? term[v * TERMS] : 0;
      for (int step = 1; step < 32; step *= 2) {
        const double other = __shfl_up_sync(0xffffffffu, sum, step);
        sum += lane >= step ? other : 0;
      }
      sum += before;
      if (v <= m.rows)
        term[v * TERMS] = sum;
      before = __shfl_sync(0xffffffffu, sum, 31);
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

#define BATCH 8 /* rows, written together: whole sectors */

/* The tables of `constant`, one thread a disparity, the next two for ground and sky. */
static __device__ void sum_costs(const RvStixelsModel &m, const Column &c) {
  const int px = m.disparity_max + 1;
  for (int k = threadIdx.x; k < px + 2; k += blockDim.x) {
    int32_t *out =
        k < px ? c.steps + (size_t)k * rv_stixels_pitch(m.rows) : c.flat + (k - px) * (m.rows + 1);
    const int structure = k < px ? RV_STIXEL_OBJECT : k == px ? RV_STIXEL_GROUND : RV_STIXEL_SKY;
    int32_t sum = 0;
    for (int from = 0; from <= m.rows; from += BATCH) {
      int32_t sums[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sums[i] = sum;
        const int v = from + i;
        const int mu = k < px ? 256 * k : k == px ? rv_stixels_value(&c.ground, v) : 0;
        sum += v < m.rows ? cell_cost(m, c, structure, v, mu) : 0;
      }
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if (from + i <= m.rows)
          out[from + i] = sums[i];
    }
  }
}

/* Costs of the cells by (3.9). */
template <int KIND>
static __device__ __forceinline__ int64_t sum_of(const RvStixelsModel &m, const Column &c,
                                                 int structure, int bottom, int top,
                                                 const RvStixelsPlane *plane) {
  if (KIND == RV_STIXELS_CONSTANT) {
    const int32_t *sum = structure == RV_STIXEL_GROUND ? c.flat
                         : structure == RV_STIXEL_SKY
                             ? c.flat + m.rows + 1
                             : c.steps + (size_t)rv_stixels_nearest(rv_stixels_value(plane, 0)) *
                                             rv_stixels_pitch(m.rows);
    return sum[top + 1] - sum[bottom];
  }
  int64_t sum = 0;
  for (int v = bottom; v <= top; v++)
    sum += cell_cost(m, c, structure, v, rv_stixels_value(plane, v - bottom));
  return sum;
}

/* The stixel bottom..top of a class; `upto`: the sums below top + 1. */
template <int KIND>
static __device__ __forceinline__ Own own_of(const RvStixelsModel &m, const Column &c,
                                             int structure, int bottom, int top,
                                             const RvStixelsSums &s) {
  const RvStixelsFit fit = rv_stixels_fit(&m, &c.ground, structure, &s, bottom);
  const int length = top + 1 - bottom;
  Own own;
  own.cost =
      KIND == RV_STIXELS_SLANTED_FAST
          ? rv_stixels_cost_fast(&m, structure, &s, length, fit.error)
          : rv_stixels_cost_sum(&m, structure,
                                sum_of<KIND>(m, c, structure, bottom, top, &fit.plane), fit.prior);
  if (c.keys)
    own.cost = rv_stixels_add(own.cost, semantic_cost(m, c, structure, bottom, top));
  own.mu = rv_stixels_value(&fit.plane, 0);
  own.next = rv_stixels_value(&fit.plane, length);
  return own;
}

#endif
