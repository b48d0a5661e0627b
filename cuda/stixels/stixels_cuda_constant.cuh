/* SPDX-License-Identifier: MIT */
/* stixels_cuda_constant.cuh: a column of `constant` without semantics on the GPU: its shared
 * memory, its sums, and the table of costs of objects of every integer px. Not installed. */
#ifndef RV_STIXELS_CUDA_CONSTANT_CUH
#define RV_STIXELS_CUDA_CONSTANT_CUH

#include "stixels/stixels_cuda_list.cuh"

#define GROUND RV_STIXEL_GROUND
#define OBJECT RV_STIXEL_OBJECT
#define SKY RV_STIXEL_SKY
#define WARPS 16 /* per block */
#define THREADS (32 * WARPS)
#define SCHEDULERS 4 /* per SM: warps are assigned to them in turn */
#define BESIDE 0     /* workers on the scheduler of the warp that resolves */
#define WORKERS (WARPS - WARPS / SCHEDULERS + BESIDE)
#define TILES 32           /* maximum, of 32 rows each */
#define STATIC_SHARED 1536 /* bytes of static shared memory, with those of the system, at most */
#define CHUNK 8            /* rows that are resolved without a jump */
#define PAIRS                                                                                      \
  (33 * 16 + 4)  /* of lowest and top row in a tile, and what is read ahead of the last */
#define NEAR 512 /* px: up to here differences of planes stay below 1024 px */

namespace {
/* The best stixels below a row, by what an object above them costs more than an object above sky:
 * ConstantColumn.bias. */
struct __align__(16) Below {
  int32_t from[RV_STIXELS_CLASSES]; /* cost plus bias */
  int32_t mu;                       /* 1/256 px, in this row: the object below */
};

/* The input of an object that starts in a row. */
struct __align__(16) Begin {
  Below below;
  int32_t ground; /* 1/256 px, in this row */
  uint32_t w, d;  /* sums of the cells below: weight, 16 x weight x disparity */
  RvStixelsCell cell;
};

/* An object within a tile, without its predecessor. Both costs contain what an object above an
 * object costs beside its cells. */
struct __align__(16) Step {
  int32_t cost, on_ground; /* on_ground: with gravity above ground */
  int32_t mu;
  int32_t rise; /* its ordering penalty above an object of 0 px, times 256; IS_NEAR only */
};

/* The objects within a tile. */
struct Tile {
  Step at[PAIRS];
};

/* Shared memory layout of a block; the arrays by row follow. */
struct ConstantShared {
  union {
    int32_t table[RV_STIXELS_TABLE + RV_STIXELS_TABLE / 256]; /* of objects, by entry_of */
    struct {
      Tile tiles[2];
      int32_t parts[WORKERS][2]
                   [32]; /* the best object of each worker by top row: cost, lowest row */
    };
    uint32_t list[(2 * sizeof(Tile) + WORKERS * 256) / sizeof(uint32_t)]; /* ConstantColumn.links */
  };
};

/* Lowest row | class of the predecessor << 14, by class; before link_all without the class. */
struct __align__(8) Links {
  uint16_t at[4];
};

/* The column of a block. */
struct ConstantColumn {
  Begin *begin; /* rows + 1 */
  union {
    int2 *flat;    /* rows: costs of the cell as ground and sky, until the row is resolved */
    Links *ending; /* then this */
  };
  uint32_t *links; /* rows: bottom | class << 16, from the top down */
  const int32_t *steps;
  int pitch;
  int32_t own[RV_STIXELS_CLASSES];  /* transition to an object and its fixed cost */
  int32_t bias[RV_STIXELS_CLASSES]; /* the same, less that above sky */
  RvStixelsPlane ground;
};

/* The best lowest row, and the cost with it. */
struct Best {
  int32_t cost;
  int32_t bottom;
};
} // namespace

/* --- Sums ------------------------------------------------------------------------------------ */

/* Writes the contributions of the cells, those that sum_rows replaces by prefix sums. */
static __device__ void set_rows(const RvStixelsPlan &plan, const ConstantColumn &p,
                                const int32_t *table) {
  for (int v = threadIdx.x; v <= plan.rows; v += THREADS) {
    const RvStixelsCell cell = v > 0 ? p.begin[v - 1].cell : RvStixelsCell{0, 0, 0};
    p.begin[v].w = cell.weight;
    p.begin[v].d = 16u * cell.weight * cell.disparity;
    p.begin[v].ground = rv_stixels_value(&p.ground, v);
    const int mu = rv_stixels_value(&p.ground, v - 1);
    if (v > 0)
      p.flat[v - 1] =
          make_int2(rv_stixels_cost_cell(&plan, table + GROUND * RV_STIXELS_TABLE, cell, mu),
                    rv_stixels_cell_sky(&plan, table + SKY * RV_STIXELS_TABLE, cell));
  }
}

/* Prefix sums of weights and disparities, by one of the last warps each. A lane has an odd number
 * of rows, which avoids bank conflicts. */
static __device__ void sum_rows(const RvStixelsPlan &plan, const ConstantColumn &p) {
  const int term = threadIdx.x / 32 - (WARPS - 2), each = rv_div_up(plan.rows + 1, 32) | 1;
  if (term < 0)
    return;
  uint32_t *at = term == 0 ? &p.begin->w : &p.begin->d;
  const int pitch = sizeof(Begin) / sizeof(uint32_t);
  const int begin = threadIdx.x % 32 * each, end = rv_min(begin + each, plan.rows + 1);
  uint32_t own = 0;
#pragma unroll 4
  for (int v = begin; v < end; v++)
    own += at[v * pitch];
  uint32_t sum = rv_warp_scan(own) - own;
#pragma unroll 4
  for (int v = begin; v < end; v++) {
    sum += at[v * pitch];
    at[v * pitch] = sum;
  }
}

/* Index of an entry in the table of objects: neighboring px read neighboring words. */
static __device__ __forceinline__ int entry_of(int index) {
  return index + index / 256;
}

/* FULL: confidence is 255 or weight is 0, in all cells. */
template <bool FULL>
static __device__ __forceinline__ int32_t object_cost(const RvStixelsPlan &plan,
                                                      const int32_t *table, RvStixelsCell cell,
                                                      int px) {
  const int index = FULL ? rv_min(rv_abs(16 * cell.disparity - 256 * px), RV_STIXELS_TABLE - 1)
                         : rv_stixels_index(cell, 256 * px);
  const int32_t cost = table[entry_of(index)];
  return cell.weight ? cost : plan.invalid_cost;
}

#define BATCH 8 /* rows, written together: complete sectors */

namespace {
/* The integer px that objects of a column may have: the range of its cells, and 0 for objects
 * without valid cells. */
struct Range {
  int low, high;
};
} // namespace

static __device__ __forceinline__ int px_count(Range range) {
  return rv_max(range.high - range.low + 2, 1);
}

static __device__ __forceinline__ int px_at(Range range, int k) {
  return k == 0 ? 0 : range.low + k - 1;
}

/* Costs of the cells below each row as objects of every integer px, in global memory: one thread
 * per px. */
static __device__ void sum_steps_far(const RvStixelsPlan &plan, const int32_t *table,
                                     const ConstantColumn &p, Range range, int32_t *steps) {
  for (int k = threadIdx.x; k < px_count(range); k += THREADS) {
    const int px = px_at(range, k);
    int4 *out = (int4 *)(steps + (size_t)px * p.pitch);
    int32_t sum = 0;
    for (int first = 0; first <= plan.rows; first += BATCH) {
      int32_t sums[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sums[i] = sum;
        sum += object_cost<false>(plan, table, p.begin[rv_min(first + i, plan.rows)].cell, px);
      }
      out[first / 4] = make_int4(sums[0], sums[1], sums[2], sums[3]);
      out[first / 4 + 1] = make_int4(sums[4], sums[5], sums[6], sums[7]);
    }
  }
}

/* The same in shared memory: one thread per px and part of the rows; then the sum below each part
 * is added. */
template <bool FULL>
static __device__ void sum_steps_near(const RvStixelsPlan &plan, const int32_t *table,
                                      const ConstantColumn &p, Range range, int32_t *steps) {
  const int count = px_count(range), parts = rv_max(THREADS / count, 1);
  const int each = rv_div_up(plan.rows, parts), part = threadIdx.x / count;
  const int begin = part * each, end = part < parts ? rv_min(begin + each, plan.rows) : 0;
  for (int k = threadIdx.x % count; k < count && begin < end; k += THREADS) {
    const int px = px_at(range, k);
    int32_t *out = steps + px * p.pitch, sum = 0;
    if (part == 0)
      out[0] = 0;
    for (int from = begin; from < end; from += BATCH) {
      int32_t costs[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        costs[i] = object_cost<FULL>(plan, table, p.begin[rv_min(from + i, plan.rows)].cell, px);
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sum += costs[i];
        if (from + i < end)
          out[from + i + 1] = sum;
      }
    }
  }
  __syncthreads();
  int32_t *out = steps + px_at(range, threadIdx.x % count) * p.pitch, below = 0;
  for (int k = 1; k <= part && begin < end; k++)
    below += out[k * each];
  __syncthreads();
#pragma unroll 8
  for (int v = begin; v < end && part > 0; v++)
    out[v + 1] += below;
}

#endif
