/* SPDX-License-Identifier: MIT */
/* stixels_cuda_column.cuh: one column on the GPU: its scratch, the sums of its cells, and the cost
 * of a stixel by each model. Not installed. */
#ifndef RV_STIXELS_CUDA_COLUMN_CUH
#define RV_STIXELS_CUDA_COLUMN_CUH

#include "stixels/stixels_cuda.cuh"

/* Template parameter USUAL: 0 for any plan, 1 where is_usual holds, WITH_CLASSES where frames have
 * semantics too. The latter still look at `keys`: without that branch the kernel spills. */
#define WITH_CLASSES 2

#define TERMS 10 /* of RvStixelsSums, all double */
static_assert(sizeof(RvStixelsSums) == TERMS * sizeof(double), "the sums are scanned as an array");

/* Cost of an invalid stixel, or where there is none; larger than any best after additions. */
#define OUT_OF_REACH (RV_STIXELS_INFINITE + (1 << 28))

namespace {
/* The best stixels that end in a row, by class. */
struct __align__(16) Ending {
  int32_t cost[RV_STIXELS_CLASSES];  /* of the column up to here, or OUT_OF_REACH */
  int32_t next[2];                   /* 1/256 px: plane in the row above, ground and object */
  uint32_t link[RV_STIXELS_CLASSES]; /* lowest row | class of the predecessor << 16 */
};

/* A stixel without its predecessor. */
struct Own {
  int32_t cost;
  int32_t mu, next; /* 1/256 px: its plane in its lowest row and in the row above its top */
};

/* Slots of the semantic classes in a row of keys: those of a structural class start at a multiple
 * of 4, padded with classes of maximum cost. */
struct KeyLayout {
  int first[RV_STIXELS_CLASSES + 1]; /* in units of 4 slots */
  int pitch;                         /* odd in units of 4 slots, which avoids bank conflicts */
};
} // namespace

RV_HD KeyLayout key_layout_of(const RvStixelsPlan *plan) {
  KeyLayout p;
  p.first[0] = 0;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    p.first[k + 1] =
        p.first[k] + rv_div_up(plan->semantic_first[k + 1] - plan->semantic_first[k], 4);
  p.pitch = plan->semantics ? 4 * (p.first[RV_STIXELS_CLASSES] | 1) : 0;
  return p;
}

namespace {
/* The scratch of a column, and its input. */
struct Column {
  RvStixelsSums *sums; /* rows + 1 */
  Ending *ending;      /* rows */
  struct Begin *begin; /* rows + 1 */
  int4 *past;          /* rows: costs by class from here to the end of the tile being resolved */
  struct Across
      *across;     /* stixels across two tiles; NULL: they are tried when the first is resolved */
  int32_t *sky;    /* rows + 1: summed costs of cells as sky */
  int32_t *flat;   /* rows + 1: summed costs of ground cells; `constant` */
  uint32_t *links; /* rows: bottom | class << 16, from the top down */
  uint32_t *keys;  /* [row][layout.pitch]: 32 x summed costs of semantic classes; NULL: none */
  KeyLayout layout;
  uint32_t *packed;        /* rows + EXCESS_GROUP: see pack_cells; `slanted` */
  uint16_t *at;            /* portions + 1: their first rows; with few cuts */
  int portions;            /* of the column, between cuts; with few cuts */
  uint8_t *cuts;           /* rows + 1: a stixel may start here, end below; rv_stixels_cut_code */
  const int32_t *cut_cost; /* by code */
  const RvStixelsCell *cells;
  const uint16_t *semantics; /* [index][row] */
  const int32_t *table;
  int32_t *steps; /* [integer px][rv_stixels_pitch]: by row + 1 */
  RvStixelsPlane ground;
};
} // namespace

/* Cost of a stixel that starts in row v (3.24). */
static __device__ __forceinline__ int32_t cut_cost(const RvStixelsPlan &plan, const Column &c,
                                                   int v) {
  return plan.has_cut_costs ? c.cut_cost[c.cuts[v]] : 0;
}

static __device__ __forceinline__ int32_t cell_cost(const RvStixelsPlan &plan, const Column &c,
                                                    int structure, int v, int mu) {
  return rv_stixels_cost_cell(&plan, c.table + structure * RV_STIXELS_TABLE, c.cells[v], mu);
}

/* Prefix sums over the rows, one warp per term. */
static __device__ __forceinline__ void scan_terms(const Column &c, int rows) {
  const int lane = threadIdx.x % 32;
  for (int k = threadIdx.x / 32; k < TERMS; k += blockDim.x / 32) {
    double *term = (double *)c.sums + k;
    double before = 0;
    for (int v = lane; v - lane <= rows; v += 32) {
      const double sum = rv_warp_scan(v <= rows ? term[v * TERMS] : 0.0) + before; /* integers */
      if (v <= rows)
        term[v * TERMS] = sum;
      before = __shfl_sync(RV_WARP, sum, 31);
    }
  }
}

/* Summed costs of cells as sky, by one warp. */
static __device__ __forceinline__ void sum_sky(const RvStixelsPlan &plan, const Column &c) {
  const int lane = threadIdx.x % 32;
  int32_t before = 0;
  for (int v = lane; v - lane <= plan.rows; v += 32) {
    const int32_t own =
        v > 0 && v <= plan.rows
            ? rv_stixels_cell_sky(&plan, c.table + RV_STIXEL_SKY * RV_STIXELS_TABLE, c.cells[v - 1])
            : 0;
    const int32_t sum = rv_warp_scan(own) + before;
    if (v <= plan.rows)
      c.sky[v] = sum;
    before = __shfl_sync(RV_WARP, sum, 31);
  }
}

/* Sums of all cells below each row. */
static __device__ void sum_cells(const RvStixelsPlan &plan, const Column &c) {
  const RvStixelsCell none = {0, 0, 0};
  for (int v = threadIdx.x; v <= plan.rows; v += blockDim.x)
    c.sums[v] =
        v == 0 ? rv_stixels_of_cell(none, 0, 0)
               : rv_stixels_of_cell(c.cells[v - 1], v - 1, rv_stixels_expected(&c.ground, v - 1));
  __syncthreads();
  if (threadIdx.x / 32 == blockDim.x / 32 - 1) /* the warp that has the fewest terms */
    sum_sky(plan, c);
  scan_terms(c, plan.rows);
}

/* Index of the semantic class in slot `slot` of a row of keys; -1: padding. */
static __device__ __forceinline__ int class_in(const RvStixelsPlan &plan, const KeyLayout &p,
                                               int slot) {
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    if (slot < 4 * p.first[k + 1]) {
      const int index = plan.semantic_first[k] + slot - 4 * p.first[k];
      return index < plan.semantic_first[k + 1] ? index : -1;
    }
  return -1;
}

#define CHUNKS 4 /* of 32 rows of a semantic class that a warp loads together */

/* Costs of the class in slot `slot`, times 32, in the rows of a lane from `first` on; 0 above the
 * column. */
static __device__ __forceinline__ void load_costs(const RvStixelsPlan &plan, const Column &c,
                                                  int slot, int first, uint32_t costs[CHUNKS]) {
  const int index = class_in(plan, c.layout, slot), lane = threadIdx.x % 32;
  const uint16_t *cost = c.semantics + (size_t)rv_max(index, 0) * plan.rows;
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const int v = first + 32 * i + lane;
    costs[i] = v < plan.rows ? 32u * (index < 0 ? RV_STIXELS_SCORE_WORST : cost[v]) : 0u;
  }
}

/* Prefix sums of the costs, one warp per semantic class. What comes next is loaded first: a warp
 * waits for memory once. */
static __device__ void sum_semantics(const RvStixelsPlan &plan, const Column &c) {
  const int lane = threadIdx.x % 32, slots = 4 * c.layout.first[RV_STIXELS_CLASSES];
  int slot = threadIdx.x / 32, first = 0;
  uint32_t sums[CHUNKS], next[CHUNKS], before = 0;
  load_costs(plan, c, slot, first, sums);
  while (slot < slots) {
    const bool is_last = first + 32 * CHUNKS >= plan.rows;
    const int next_slot = is_last ? slot + (int)blockDim.x / 32 : slot;
    const int next_first = is_last ? 0 : first + 32 * CHUNKS;
    load_costs(plan, c, next_slot, next_first, next); /* padding after the last slot */
    uint32_t *key = c.keys + slot;
    if (first == 0 && lane == 0)
      key[0] = 0;
#pragma unroll
    for (int i = 0; i < CHUNKS; i++)
      sums[i] = rv_warp_scan(sums[i]);
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
      const int v = first + 32 * i + lane;
      if (v < plan.rows)
        key[(v + 1) * c.layout.pitch] = before + sums[i];
      before += __shfl_sync(RV_WARP, sums[i], 31);
      sums[i] = next[i];
    }
    before = is_last ? 0 : before;
    slot = next_slot;
    first = next_first;
  }
}

/* Minimum key of the semantic classes of a structural class; all bits set without any. Padding
 * costs no less than any class, and comes after them. */
static __device__ __forceinline__ uint32_t least_key(const RvStixelsPlan &plan, const Column &c,
                                                     int structure, int bottom, int top) {
  const int *at = c.layout.first; /* not indexed: it stays in registers */
  const int first = structure == 0 ? at[0] : structure == 1 ? at[1] : at[2];
  const int end = structure == 0 ? at[1] : structure == 1 ? at[2] : at[3];
  const uint4 *below = (const uint4 *)(c.keys + bottom * c.layout.pitch);
  const uint4 *upto = (const uint4 *)(c.keys + (top + 1) * c.layout.pitch);
  uint32_t least = 0xffffffffu;
#pragma unroll 2
  for (int four = first; four < end; four++) {
    const uint4 a = below[four], b = upto[four];
    const int index = 4 * (four - first);
    least = min(least, min(rv_stixels_key(a.x, b.x, index), rv_stixels_key(a.y, b.y, index + 1)));
    least =
        min(least, min(rv_stixels_key(a.z, b.z, index + 2), rv_stixels_key(a.w, b.w, index + 3)));
  }
  return least;
}

static __device__ __forceinline__ int32_t semantic_cost(const RvStixelsPlan &plan, const Column &c,
                                                        int structure, int bottom, int top) {
  const uint32_t key = least_key(plan, c, structure, bottom, top);
  const uint32_t sum =
      key != 0xffffffffu ? key / 32 : RV_STIXELS_SCORE_WORST * (uint32_t)(top + 1 - bottom);
  return rv_stixels_semantic_cost(&plan, sum);
}

/* Energy of the minimum of the summed costs, times 32; all bits set: no semantic classes. */
static __device__ __forceinline__ int32_t semantic_energy(const RvStixelsPlan &plan, uint32_t least,
                                                          int bottom, int top) {
  const uint32_t sum =
      least != 0xffffffffu ? least / 32 : RV_STIXELS_SCORE_WORST * (uint32_t)(top + 1 - bottom);
  return rv_stixels_semantic_cost(&plan, sum);
}

/* Minimum of the costs of four classes, without the index of the class: subtraction and minimum are
 * one instruction. */
static __device__ __forceinline__ uint32_t least_of(const uint4 &below, const uint4 &upto) {
  const uint32_t least = min(upto.x - below.x, upto.y - below.y);
  return min(min(least, upto.z - below.z), upto.w - below.w);
}

/* As semantic_cost, for kernels of frames with classes. */
static __device__ __forceinline__ int32_t classes_cost(const RvStixelsPlan &plan, const Column &c,
                                                       int structure, int bottom, int top) {
  const int *at = c.layout.first; /* not indexed: it stays in registers */
  const int first = structure == 0 ? at[0] : structure == 1 ? at[1] : at[2];
  const int end = structure == 0 ? at[1] : structure == 1 ? at[2] : at[3];
  const uint4 *below = (const uint4 *)(c.keys + bottom * c.layout.pitch);
  const uint4 *upto = (const uint4 *)(c.keys + (top + 1) * c.layout.pitch);
  uint32_t least = 0xffffffffu;
#pragma unroll 2
  for (int four = first; four < end; four++)
    least = min(least, least_of(below[four], upto[four]));
  return semantic_energy(plan, least, bottom, top);
}

template <int USUAL>
static __device__ __forceinline__ int32_t cost_of_classes(const RvStixelsPlan &plan,
                                                          const Column &c, int structure,
                                                          int bottom, int top) {
  return USUAL == WITH_CLASSES ? classes_cost(plan, c, structure, bottom, top)
                               : semantic_cost(plan, c, structure, bottom, top);
}

/* Adds those of ground and objects to the costs of two stixels, in one pass. */
static __device__ __forceinline__ void add_classes(const RvStixelsPlan &plan, const Column &c,
                                                   int bottom, int top, Own own[2]) {
  const int middle = c.layout.first[1], end = c.layout.first[2];
  const uint4 *below = (const uint4 *)(c.keys + bottom * c.layout.pitch);
  const uint4 *upto = (const uint4 *)(c.keys + (top + 1) * c.layout.pitch);
  uint32_t ground = 0xffffffffu, object = 0xffffffffu;
#pragma unroll 2
  for (int four = 0; four < end; four++) {
    const uint32_t least = least_of(below[four], upto[four]);
    ground = four < middle ? min(ground, least) : ground;
    object = four < middle ? object : min(object, least);
  }
  own[0].cost = rv_stixels_add(own[0].cost, semantic_energy(plan, ground, bottom, top));
  own[1].cost = rv_stixels_add(own[1].cost, semantic_energy(plan, object, bottom, top));
}

/* Index of the most likely semantic class of a cell. */
static __device__ int likeliest(const RvStixelsPlan &plan, const Column &c, int v) {
  uint32_t least = 0xffffffffu;
  for (int index = 0; index < plan.semantics; index++)
    least = min(least, c.semantics[(size_t)index * plan.rows + v] * 32u + index);
  return least % 32;
}

/* Whether the plateau that starts (step 1) or ends (step -1) in row v is a local extremum. */
static __device__ bool is_extreme(const RvStixelsPlan &plan, const Column &c, int v, int step) {
  const int value = rv_stixels_series(c.cells[v]), from = rv_stixels_series(c.cells[v - step]);
  int end = v, to = value;
  while (to == value) {
    end += step;
    if (end < 0 || end >= plan.rows)
      return false;
    to = rv_stixels_series(c.cells[end]);
  }
  return (from > value && to > value) || (from < value && to < value);
}

#define BATCH 8 /* rows, written together: complete sectors */

/* The tables of `constant`, one thread per disparity, one more for ground. */
static __device__ void sum_costs(const RvStixelsPlan &plan, const Column &c) {
  const int px = plan.config.max_disparity + 1;
  for (int k = threadIdx.x; k <= px; k += blockDim.x) {
    int32_t *out = k < px ? c.steps + (size_t)k * rv_stixels_pitch(plan.rows) : c.flat;
    const int structure = k < px ? RV_STIXEL_OBJECT : RV_STIXEL_GROUND;
    int32_t sum = 0;
    for (int from = 0; from <= plan.rows; from += BATCH) {
      int32_t sums[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        sums[i] = sum;
        const int v = from + i;
        const int mu = k < px ? 256 * k : rv_stixels_value(&c.ground, v);
        sum += v < plan.rows ? cell_cost(plan, c, structure, v, mu) : 0;
      }
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if (from + i <= plan.rows)
          out[from + i] = sums[i];
    }
  }
}

#define EXCESS_GROUP 8 /* cells between two looks at the limit */
#define NO_LIMIT (1ll << 40)

/* 16 x disparity, and from bit 24 on the confidence; 0 for invalid cells, whose entry in the table
 * of costs is then the first one. */
static __device__ void pack_cells(const RvStixelsPlan &plan, const Column &c) {
  for (int v = threadIdx.x; v < plan.rows + EXCESS_GROUP; v += blockDim.x) {
    const RvStixelsCell cell = v < plan.rows ? c.cells[v] : RvStixelsCell{0, 0, 0};
    c.packed[v] = cell.weight ? 16u * cell.disparity | (uint32_t)cell.confidence << 24 : 0;
  }
}

/* What the cells cost by (3.9) if all valid ones were on the plane: the least they can cost. */
static __device__ __forceinline__ int64_t least_sum(const RvStixelsPlan &plan, const Column &c,
                                                    int structure, const RvStixelsSums &s,
                                                    int length) {
  const int valid = (int)s.n;
  return (int64_t)valid * c.table[structure * RV_STIXELS_TABLE] +
         (int64_t)(length - valid) * plan.invalid_cost;
}

/* What the cells cost above that; more than `limit` as soon as it is certain. */
static __device__ __forceinline__ int64_t excess_of(const Column &c, int structure, int bottom,
                                                    int length, const RvStixelsPlane &plane,
                                                    int64_t limit) {
  const int32_t *table = c.table + structure * RV_STIXELS_TABLE;
  const int32_t least = table[0];
  const uint32_t *cells = c.packed + bottom;
  const int64_t reach = 1ll << 40; /* up to here rv_stixels_value limits nothing */
  const int64_t end = plane.at + plane.slope * (length - 1);
  int64_t at = plane.at + (1 << 15), sum = 0;
  if (plane.at < -reach || plane.at >= reach || end < -reach || end >= reach) {
    for (int v = 0; v < length && sum <= limit; v++)
      if (cells[v])
        sum += table[rv_stixels_index(c.cells[bottom + v], rv_stixels_value(&plane, v))] - least;
    return sum;
  }
  for (int from = 0; from < length && sum <= limit; from += EXCESS_GROUP) {
    int32_t part = -EXCESS_GROUP * least;
#pragma unroll
    for (int k = 0; k < EXCESS_GROUP; k++) {
      const uint32_t cell = cells[from + k];
      const unsigned off = rv_min(rv_abs((int)(cell & 0xfffff) - (int)(at >> 16)), 1 << 20);
      const int32_t cost = table[rv_min((off * (cell >> 24) + 127u) / 255u, RV_STIXELS_TABLE - 1u)];
      part += from + k < length ? cost : least;
      at += plane.slope;
    }
    sum += part;
  }
  return sum;
}

/* Costs of the cells by (3.9), `constant`. */
static __device__ __forceinline__ int64_t sum_of(const RvStixelsPlan &plan, const Column &c,
                                                 int structure, int bottom, int top,
                                                 const RvStixelsPlane *plane) {
  const int32_t *sum = structure == RV_STIXEL_GROUND
                           ? c.flat
                           : c.steps + (size_t)rv_stixels_nearest(rv_stixels_value(plane, 0)) *
                                           rv_stixels_pitch(plan.rows);
  return sum[top + 1] - sum[bottom];
}

/* What the host has checked when it selected the kernel: which plane parameters are free. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void assume_planes(const RvStixelsPlan &plan) {
  if (KIND == RV_STIXELS_CONSTANT) {
    __builtin_assume(plan.free_a == 0);
    __builtin_assume(plan.free_b == 0);
  } else if (USUAL) {
    __builtin_assume(plan.free_a != 0);
    __builtin_assume(plan.free_b != 0);
    __builtin_assume(plan.free_object != 0);
    __builtin_assume(plan.ridge_a > 0);
    __builtin_assume(plan.ridge_b > 0);
    __builtin_assume(plan.ridge_object > 0);
  }
  if (KIND != RV_STIXELS_CONSTANT)
    __builtin_assume(plan.config.model != RV_STIXELS_CONSTANT);
}

RV_HD bool is_usual(const RvStixelsPlan *plan) {
  return plan->free_a && plan->free_b && plan->free_object && plan->ridge_a > 0 &&
         plan->ridge_b > 0 && plan->ridge_object > 0;
}

/* A sky stixel without its predecessor. */
template <int USUAL>
static __device__ __forceinline__ int32_t sky_cost(const RvStixelsPlan &plan, const Column &c,
                                                   int bottom, int top) {
  const int32_t cost = rv_stixels_cost_sky(&plan, c.sky[top + 1] - c.sky[bottom]);
  return c.keys ? rv_stixels_add(cost, cost_of_classes<USUAL>(plan, c, RV_STIXEL_SKY, bottom, top))
                : cost;
}

/* Ground or an object bottom..top of `slanted`; s: sums over its cells. Its cost is out of reach
 * when it is above `limit`. */
template <int USUAL>
static __device__ __forceinline__ Own own_within(const RvStixelsPlan &plan, const Column &c,
                                                 int structure, int bottom, int top,
                                                 const RvStixelsSums &s, int64_t limit) {
  const int length = top + 1 - bottom;
  const int64_t least = least_sum(plan, c, structure, s, length);
  Own own = {OUT_OF_REACH, 0, 0};
  if (least + plan.fixed_cost[structure] > limit)
    return own;
  assume_planes<RV_STIXELS_SLANTED, USUAL>(plan);
  const RvStixelsFit fit = rv_stixels_fit(&plan, &c.ground, structure, &s, bottom);
  const int32_t rest = rv_stixels_cost_sum(&plan, structure, 0, fit.prior);
  const int64_t excess = excess_of(c, structure, bottom, length, fit.plane, limit - least - rest);
  if (least + excess > limit - rest)
    return own;
  own.cost = rv_stixels_cost_sum(&plan, structure, least + excess, fit.prior);
  if (c.keys)
    own.cost = rv_stixels_add(own.cost, semantic_cost(plan, c, structure, bottom, top));
  own.mu = rv_stixels_value(&fit.plane, 0);
  own.next = rv_stixels_value(&fit.plane, length);
  return own;
}

/* Ground and object of `slanted-fast` with all parameters free and priors, without semantics. No
 * branches, around which no instruction would move: the latencies of both overlap. */
template <int STRUCTURE>
static __device__ __forceinline__ Own own_usual(const RvStixelsPlan &plan, const Column &c,
                                                int bottom, int top, const RvStixelsSums &s,
                                                bool *is_rare) {
  const int length = top + 1 - bottom;
  const bool is_empty = s.n == 0;
  RvStixelsFit fit;
  if (STRUCTURE == RV_STIXEL_GROUND) {
    const double w = s.w + plan.ridge_a, v = s.wv, vv = s.wvv + plan.ridge_b;
    const double det = w * vv - v * v, unit = rv_stixels_inverse(det);
    const double a = (vv * s.wg - v * s.wvg) * unit, b = (w * s.wvg - v * s.wg) * unit;
    fit =
        rv_stixels_fit_around(&plan, &c.ground, &s, bottom, is_empty ? 0.0 : a, is_empty ? 0.0 : b);
    *is_rare = !is_empty && !(det > 0);
  } else {
    fit = rv_stixels_fit_sloped(&plan, &s, bottom);
    fit.plane.at = is_empty ? 0 : fit.plane.at;
    fit.plane.slope = is_empty ? 0 : fit.plane.slope;
    fit.error = is_empty ? 0.0 : fit.error;
  }
  return {rv_stixels_cost_fast(&plan, STRUCTURE, &s, length, fit.error),
          rv_stixels_value(&fit.plane, 0), rv_stixels_value(&fit.plane, length)};
}

/* The stixel bottom..top of a class; s: sums over its cells. */
template <int KIND, int USUAL>
static __device__ __forceinline__ Own own_of(const RvStixelsPlan &plan, const Column &c,
                                             int structure, int bottom, int top,
                                             const RvStixelsSums &s) {
  assume_planes<KIND, USUAL>(plan);
  if (structure == RV_STIXEL_SKY)
    return {sky_cost<USUAL>(plan, c, bottom, top), 0, 0};
  if (KIND == RV_STIXELS_SLANTED)
    return own_within<USUAL>(plan, c, structure, bottom, top, s, NO_LIMIT);
  const RvStixelsFit fit = rv_stixels_fit(&plan, &c.ground, structure, &s, bottom);
  const int length = top + 1 - bottom;
  Own own;
  own.cost =
      KIND == RV_STIXELS_SLANTED_FAST
          ? rv_stixels_cost_fast(&plan, structure, &s, length, fit.error)
          : rv_stixels_cost_sum(&plan, structure,
                                sum_of(plan, c, structure, bottom, top, &fit.plane), fit.prior);
  if (c.keys)
    own.cost = rv_stixels_add(own.cost, cost_of_classes<USUAL>(plan, c, structure, bottom, top));
  own.mu = rv_stixels_value(&fit.plane, 0);
  own.next = rv_stixels_value(&fit.plane, length);
  return own;
}

/* The same of ground and object. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void own_both(const RvStixelsPlan &plan, const Column &c,
                                                int bottom, int top, const RvStixelsSums &s,
                                                Own own[2]) {
  bool is_rare = true;
  if (KIND == RV_STIXELS_SLANTED_FAST && USUAL) {
    own[0] = own_usual<RV_STIXEL_GROUND>(plan, c, bottom, top, s, &is_rare);
    own[1] = own_usual<RV_STIXEL_OBJECT>(plan, c, bottom, top, s, NULL);
    if (USUAL == WITH_CLASSES && c.keys)
      add_classes(plan, c, bottom, top, own);
    else if (c.keys)
      for (int k = 0; k < 2; k++)
        own[k].cost = rv_stixels_add(own[k].cost, semantic_cost(plan, c, k, bottom, top));
  } else {
    own[1] = own_of<KIND, USUAL>(plan, c, RV_STIXEL_OBJECT, bottom, top, s);
  }
  if (is_rare)
    own[0] = own_of<KIND, USUAL>(plan, c, RV_STIXEL_GROUND, bottom, top, s);
}

#endif
