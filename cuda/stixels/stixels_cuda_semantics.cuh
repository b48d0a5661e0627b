/* SPDX-License-Identifier: MIT */
/* stixels_cuda_semantics.cuh: costs of the semantic classes in the cells of 8 px, on the GPU. Not
 * installed. */
#ifndef RV_STIXELS_CUDA_SEMANTICS_CUH
#define RV_STIXELS_CUDA_SEMANTICS_CUH

#include <cuda_fp16.h>

#include "stixels/stixels_cuda.cuh"

#define ONE 0x3f800000u /* bits of 1.0f */

/* rv_stixels_score + ONE: adding 1 leaves 23 fractional bits, rounded to nearest, halves to
 * even. */
static __device__ __forceinline__ uint32_t lifted(float score) {
  return __float_as_uint(__fadd_rn(__saturatef(score), 1.0f));
}

/* Of both halves. They are limited first, by one instruction; NaN gives 0. */
static __device__ __forceinline__ uint32_t lifted_pair(uint32_t halves) {
  const uint32_t zeros = 0;
  const float2 score = __half22float2(__hadd2_sat(*reinterpret_cast<const __half2 *>(&halves),
                                                  *reinterpret_cast<const __half2 *>(&zeros)));
  return __float_as_uint(__fadd_rn(score.x, 1.0f)) + __float_as_uint(__fadd_rn(score.y, 1.0f));
}

namespace {
/* The pixels of a cell. */
struct Cell {
  int left, right, low, high;
};
} // namespace

static __device__ __forceinline__ Cell cell_at(const RvStixelsPlan &plan, int x, int v) {
  const int left = x * plan.config.stixel_width,
            low = plan.config.height - v * plan.config.vertical_step;
  return {left, rv_min(left + plan.config.stixel_width, plan.config.width), low,
          rv_max(low - plan.config.vertical_step, 0)};
}

static __device__ __forceinline__ uint16_t cost_of(const Cell &cell, uint64_t sum,
                                                   const uint16_t *table) {
  const int pixels = (cell.right - cell.left) * (cell.low - cell.high);
  return table[rv_stixels_score_index(rv_stixels_score_mean(sum, pixels))];
}

#define WIDE_COLUMNS 32 /* cells per block of wide_costs */
#define WIDE_ROWS 8
#define WIDE_THREADS (WIDE_COLUMNS * WIDE_ROWS)

/* Whether the map has the size of the frame, cells are 8 px wide and at most 32 rows high, and rows
 * are aligned to 16 bytes. */
static inline bool is_wide(const RvStixelsPlan *plan, const RvPlane *scores) {
  return scores->data && scores->width == plan->config.width &&
         scores->height == plan->config.height * plan->semantics &&
         plan->config.stixel_width == 8 && plan->config.width % 8 == 0 &&
         plan->config.vertical_step <= 32 && scores->stride % 16 == 0 &&
         (uintptr_t)scores->data % 16 == 0;
}

static inline unsigned wide_blocks(const RvStixelsPlan *plan) {
  return (unsigned)(rv_div_up(plan->columns, WIDE_COLUMNS) * rv_div_up(plan->rows, WIDE_ROWS) *
                    plan->semantics);
}

/* WIDE_COLUMNS x WIDE_ROWS cells of one class: one thread per cell, one load per row of a cell;
 * neighboring threads read neighboring pixels and write neighboring rows. */
static __device__ __forceinline__ void wide_costs(const RvStixelsPlan &plan,
                                                  const RvStixelsCuda &work, const RvPlane &scores,
                                                  unsigned block) {
  __shared__ uint16_t costs[WIDE_COLUMNS][WIDE_ROWS + 2];
  const unsigned across = rv_div_up(plan.columns, WIDE_COLUMNS),
                 up = rv_div_up(plan.rows, WIDE_ROWS);
  const int left = (int)(block % across) * WIDE_COLUMNS;
  const int low = (int)(block / across % up) * WIDE_ROWS, index = (int)(block / across / up);
  const int u = threadIdx.x % WIDE_COLUMNS, x = left + u;
  const int y = threadIdx.x / WIDE_COLUMNS, v = low + y;
  if (x < plan.columns && v < plan.rows) {
    const Cell cell = cell_at(plan, x, v);
    const char *first =
        (const char *)scores.data +
        ((ptrdiff_t)plan.semantic_class[index] * plan.config.height + cell.high) * scores.stride;
    const uint4 *at = (const uint4 *)first + x;
    const ptrdiff_t stride = scores.stride / 16;
    const int rows = cell.low - cell.high;
    uint32_t sum = 0;
#pragma unroll 8
    for (int k = 0; k < rows; k++) {
      const uint4 eight = __ldcs(at + k * stride);
      sum +=
          lifted_pair(eight.x) + lifted_pair(eight.y) + lifted_pair(eight.z) + lifted_pair(eight.w);
    }
    costs[u][y] = cost_of(cell, sum - 8u * (uint32_t)rows * ONE, work.scores);
  }
  __syncthreads();
  const int out_x = left + (int)threadIdx.x / WIDE_ROWS, out_v = low + (int)threadIdx.x % WIDE_ROWS;
  if (out_x < plan.columns && out_v < plan.rows)
    work.own[((size_t)out_x * plan.semantics + index) * plan.rows + out_v] =
        costs[threadIdx.x / WIDE_ROWS][threadIdx.x % WIDE_ROWS];
}

#endif
