/* stixels_semantics_cuda.cu: costs of the semantic classes in the cells, CUDA engine. One thread
 * takes one cell of one class: neighbouring threads read neighbouring pixels of a plane. Nothing
 * here reads what the kernels before have made: blocks wait for these last, so that whoever waits
 * for this kernel has waited for those. */
#include <cuda_fp16.h>

#include "stixels_cuda.h"

#define ONE 0x3f800000u /* bits of 1.0f */

/* rv_stixels_score + ONE: adding 1 leaves 23 bits behind the point, rounded as they have to be. */
static __device__ __forceinline__ uint32_t lifted(float score) {
  return __float_as_uint(__fadd_rn(__saturatef(score), 1.0f));
}

static __device__ __forceinline__ uint32_t lifted_pair(uint32_t halves) {
  const float2 score = __half22float2(*reinterpret_cast<const __half2 *>(&halves));
  return lifted(score.x) + lifted(score.y);
}

/* A cell's pixels. */
struct Cell {
  int left, right, low, high;
};

static __device__ __forceinline__ Cell cell_at(const RvStixelsModel &m, int x, int v) {
  const int left = x * m.cell_width, low = m.height - v * m.step;
  return {left, rv_min(left + m.cell_width, m.width), low, rv_max(low - m.step, 0)};
}

static __device__ __forceinline__ uint16_t cost_of(const Cell &cell, uint64_t sum,
                                                   const uint16_t *table) {
  const int pixels = (cell.right - cell.left) * (cell.low - cell.high);
  return table[rv_stixels_score_index(rv_stixels_score_mean(sum, pixels))];
}

/* Cells of 8 px aligned to 16 bytes in a map of the picture's size, at most 32 rows: every row of a
 * cell is one load. */
static __global__ void __launch_bounds__(128)
    wide_kernel(const __grid_constant__ RvStixelsModel m, RvPlane scores, const uint16_t *table,
                uint16_t *costs) {
  const int x = blockIdx.x * 128 + threadIdx.x, v = blockIdx.y, place = blockIdx.z;
  rv_stixels_let_others_start();
  if (x >= m.columns)
    return;
  const Cell cell = cell_at(m, x, v);
  const char *first = (const char *)scores.data +
                      ((ptrdiff_t)m.semantic_class[place] * m.height + cell.high) * scores.stride;
  const uint4 *at = (const uint4 *)first + x;
  const ptrdiff_t stride = scores.stride / 16;
  const int rows = cell.low - cell.high;
  uint32_t sum = 0;
#pragma unroll 8
  for (int y = 0; y < rows; y++) {
    const uint4 eight = __ldcs(at + y * stride);
    sum +=
        lifted_pair(eight.x) + lifted_pair(eight.y) + lifted_pair(eight.z) + lifted_pair(eight.w);
  }
  costs[((size_t)x * m.semantics + place) * m.rows + v] =
      cost_of(cell, sum - 8u * (uint32_t)rows * ONE, table);
  rv_stixels_wait_for_others();
}

/* Labels or scores of any size. */
static __global__ void __launch_bounds__(128)
    any_kernel(const __grid_constant__ RvStixelsModel m, RvPlane map, int is_labels,
               const uint16_t *table, uint16_t *costs) {
  const int x = blockIdx.x * 128 + threadIdx.x, v = blockIdx.y, place = blockIdx.z;
  rv_stixels_let_others_start();
  if (x >= m.columns)
    return;
  const Cell cell = cell_at(m, x, v);
  const int semantic = m.semantic_class[place];
  const int height = is_labels ? map.height : map.height / m.semantics;
  const int base = is_labels ? 0 : semantic * height;
  uint64_t sum = 0;
  for (int y = cell.high; y < cell.low; y++) {
    const char *row = (const char *)map.data + (base + y * height / m.height) * map.stride;
    uint32_t part = 0;
    for (int u = cell.left; u < cell.right; u++) {
      const int at = u * map.width / m.width;
      part += is_labels ? rv_stixels_label(&m, ((const uint8_t *)row)[at], semantic)
                        : lifted(__half2float(((const __half *)row)[at])) - ONE;
    }
    sum += part;
  }
  costs[((size_t)x * m.semantics + place) * m.rows + v] = cost_of(cell, sum, table);
  rv_stixels_wait_for_others();
}

RvStatus rv_stixels_cuda_semantics(const RvStixelsCuda *work, const RvStixelsModel *m,
                                   const RvStixelsJob *job, const RvLog *log) {
  const RvPlane *scores = &job->scores;
  const dim3 grid(rv_div_up(m->columns, 128), m->rows, m->semantics);
  const bool is_wide = scores->data && scores->width == m->width &&
                       scores->height == m->height * m->semantics && m->cell_width == 8 &&
                       m->width % 8 == 0 && m->step <= 32 && scores->stride % 16 == 0 &&
                       (uintptr_t)scores->data % 16 == 0;
  if (is_wide)
    return rv_stixels_launch(work, wide_kernel, grid, 128, 0, job->stream, log, *m, *scores,
                             work->scores, work->semantics);
  return rv_stixels_launch(work, any_kernel, grid, 128, 0, job->stream, log, *m,
                           scores->data ? *scores : job->labels, !scores->data, work->scores,
                           work->semantics);
}
