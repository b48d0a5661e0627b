/* SPDX-License-Identifier: MIT */
/* stixels_cuda_constant.cuh: a column of `constant` without semantics on the GPU: its shared
 * memory, its sums, and the table of costs of objects of every integer px. Not installed. */
#ifndef RV_STIXELS_CUDA_CONSTANT_CUH
#define RV_STIXELS_CUDA_CONSTANT_CUH

#include "stixels/stixels_cuda_list.cuh"
#include "stixels/stixels_cuda_penalties.cuh"

#define GROUND RV_STIXEL_GROUND
#define OBJECT RV_STIXEL_OBJECT
#define SKY RV_STIXEL_SKY
#define SM_WARPS 16        /* at once on an SM: one block of them, or two of half of them */
#define SCHEDULERS 4       /* per SM: warps are assigned to them in turn */
#define BESIDE 0           /* workers on the scheduler of the warp that resolves */
#define TILES 32           /* maximum, of 32 rows each */
#define STATIC_SHARED 1536 /* bytes of static shared memory, with those of the system, at most */
#define CHUNK 8            /* rows that are resolved without a jump */
#define GROUP 3            /* lowest rows that a worker tries at once */
#define PAIRS (33 * 16)    /* of lowest and top row in a tile */
#define NEAR_PX 512        /* px: up to here differences of planes stay below 1024 px */
#define MAGIC 0x4b400000u  /* bits of 1.5 x 2^23 as a float: those after it count by 1 */

/* Disparities of mu/256 px are kept as `far`, -FAR - mu: its bits from 8 on are -1 -
 * rv_stixels_nearest(mu), without an addition. */
#define FAR 129

namespace {
/* The best stixels below a row, by what an object above them costs more than an object above sky:
 * ConstantColumn.bias. */
struct __align__(16) Below {
  int32_t from[RV_STIXELS_CLASSES]; /* cost plus bias */
  int32_t far;                      /* the object below, in this row: see FAR */
};

/* The input of an object that starts in a row. */
struct __align__(16) Begin {
  Below below;
  int32_t ground; /* in this row: see FAR */
  uint32_t w, d;  /* sums of the cells below: MAGIC + weight, weight x (16 x disparity + FAR) */
  RvStixelsCell cell;
};

/* An object within a tile, without its predecessor. Both costs contain what an object above an
 * object costs beside its cells. */
struct __align__(16) Step {
  int32_t cost, on_ground; /* on_ground: with gravity above ground */
  int32_t far;
  int32_t rise; /* its ordering penalty above an object whose `far` is 0, times 256; IS_NEAR only */
};

/* The objects within a tile, in rows of pairs: compute_tile. */
struct Tile {
  Step at[PAIRS];
};

/* Shared memory layout of a block of WARPS warps; the arrays by row follow. */
template <int WARPS> struct ConstantShared {
  union {
    int32_t table[RV_STIXELS_TABLE + RV_STIXELS_TABLE / 256 + 1]; /* of objects, by entry_of */
    struct {
      int32_t parts[WARPS][2][32]; /* the best object of each warp by top row: cost, lowest row */
      Tile tiles[2];               /* after them, since up to 32 objects are read before a tile */
    };
    uint32_t list[(2 * sizeof(Tile) + WARPS * 256) / sizeof(uint32_t)]; /* ConstantColumn.links */
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
  uint32_t *links;                  /* rows: bottom | class << 16, from the top down */
  const int32_t *steps;             /* where the costs of -1 px would be */
  int fall;                         /* bytes from the costs of a px to those of the px before */
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
template <int WARPS>
static __device__ void set_rows(const RvStixelsPlan &plan, const ConstantColumn &p,
                                const int32_t *table) {
  for (int v = threadIdx.x; v <= plan.rows; v += 32 * WARPS) {
    const RvStixelsCell cell = v > 0 ? p.begin[v - 1].cell : RvStixelsCell{0, 0, 0};
    p.begin[v].w = cell.weight;
    p.begin[v].d = cell.weight * (16u * cell.disparity + FAR);
    p.begin[v].ground = -FAR - rv_stixels_value(&p.ground, v);
    const int mu = rv_stixels_value(&p.ground, v - 1);
    if (v > 0)
      p.flat[v - 1] =
          make_int2(rv_stixels_cost_cell(&plan, table + GROUND * RV_STIXELS_TABLE, cell, mu),
                    rv_stixels_cell_sky(&plan, table + SKY * RV_STIXELS_TABLE, cell));
  }
}

/* Prefix sums of weights and disparities, by one of the last warps each. A lane has an odd number
 * of rows, which avoids bank conflicts. */
template <int WARPS>
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
  uint32_t sum = rv_warp_scan(own) - own + (term == 0 ? MAGIC : 0);
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

/* Before sums are known, `ground` and `w` of a row are what full_cost needs of its cell: 16 times
 * the disparity, and the last entry that it may have. An invalid cell is far away, and has an entry
 * of its own after those of the others. */
static __device__ __forceinline__ void set_cell(Begin *begin, RvStixelsCell cell) {
  begin->cell = cell;
  begin->ground = cell.weight ? 16 * cell.disparity : 1 << 24;
  begin->w = cell.weight ? RV_STIXELS_TABLE - 1 : RV_STIXELS_TABLE;
}

/* Of cells whose confidence is 255 or whose weight is 0. */
static __device__ __forceinline__ int32_t full_cost(const int32_t *table, const Begin &begin,
                                                    int mu) {
  return table[entry_of(rv_min(rv_abs(begin.ground - mu), (int)begin.w))];
}

static __device__ __forceinline__ int32_t object_cost(const RvStixelsPlan &plan,
                                                      const int32_t *table, RvStixelsCell cell,
                                                      int px) {
  const int32_t cost = table[entry_of(rv_stixels_index(cell, 256 * px))];
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
template <int WARPS>
static __device__ void sum_steps_far(const RvStixelsPlan &plan, const int32_t *table,
                                     const ConstantColumn &p, Range range, int pitch,
                                     int32_t *steps) {
  for (int k = threadIdx.x; k < px_count(range); k += 32 * WARPS) {
    const int px = px_at(range, k);
    int4 *out = (int4 *)(steps + (size_t)px * pitch);
    int32_t sum = 0;
    for (int first = 0; first <= plan.rows; first += BATCH) {
      int32_t sums[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sums[i] = sum;
        sum += object_cost(plan, table, p.begin[rv_min(first + i, plan.rows)].cell, px);
      }
      out[first / 4] = make_int4(sums[0], sums[1], sums[2], sums[3]);
      out[first / 4 + 1] = make_int4(sums[4], sums[5], sums[6], sums[7]);
    }
  }
}

/* BATCH rows of a px from `first` on, or those of them below `end`. FULL: confidence is 255 or
 * weight is 0, in all cells. Returns the sum with them. */
template <bool FULL, bool WHOLE>
static __device__ __forceinline__ int32_t sum_batch(const RvStixelsPlan &plan, const int32_t *table,
                                                    const ConstantColumn &p, int px, int first,
                                                    int end, int32_t sum, int32_t *out) {
  int32_t costs[BATCH];
#pragma unroll
  for (int i = 0; i < BATCH; i++) {
    const Begin &begin = p.begin[WHOLE ? first + i : rv_min(first + i, end - 1)];
    costs[i] = FULL ? full_cost(table, begin, 256 * px) : object_cost(plan, table, begin.cell, px);
  }
#pragma unroll
  for (int i = 0; i < BATCH; i++) {
    sum += costs[i];
    if (WHOLE || first + i < end)
      out[first + i + 1] = sum;
  }
  return sum;
}

/* The same in shared memory: one thread per px and part of the rows; then the sum below each part
 * is added. */
template <bool FULL, int WARPS>
static __device__ void sum_steps_near(const RvStixelsPlan &plan, const int32_t *table,
                                      const ConstantColumn &p, Range range, int pitch,
                                      int32_t *steps) {
  const int count = px_count(range), parts = rv_max(32 * WARPS / count, 1);
  const int each = rv_div_up(plan.rows, parts), part = threadIdx.x / count;
  const int begin = part * each, end = part < parts ? rv_min(begin + each, plan.rows) : 0;
  for (int k = threadIdx.x % count; k < count && begin < end; k += 32 * WARPS) {
    const int px = px_at(range, k);
    int32_t *out = steps + px * pitch, sum = 0;
    if (part == 0)
      out[0] = 0;
    int from = begin;
#pragma unroll 1
    for (; from + BATCH <= end; from += BATCH)
      sum = sum_batch<FULL, true>(plan, table, p, px, from, end, sum, out);
    if (from < end)
      sum_batch<FULL, false>(plan, table, p, px, from, end, sum, out);
  }
  __syncthreads();
  int32_t *out = steps + px_at(range, threadIdx.x % count) * pitch, below = 0;
  for (int k = 1; k <= part && begin < end; k++)
    below += out[k * each];
  __syncthreads();
  int v = begin;
#pragma unroll 1
  for (; v + BATCH <= end && part > 0; v += BATCH)
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      out[v + i + 1] += below;
#pragma unroll 1
  for (; v < end && part > 0; v++)
    out[v + 1] += below;
}

#endif
