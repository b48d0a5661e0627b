/* SPDX-License-Identifier: MIT */
/* stixels_cuda_semantics.cu: costs of the semantic classes in the cells, CUDA engine. Nothing here
 * reads what the kernels before have made: blocks wait for these last, so that whoever waits for
 * this kernel has waited for those. */
#include "stixels/stixels_cuda_semantics.cuh"

static __global__ void __launch_bounds__(WIDE_THREADS)
    wide_kernel(const __grid_constant__ RvStixelsModel m,
                const __grid_constant__ RvStixelsCuda work, const RvPlane scores) {
  rv_launch_next();
  wide_costs(m, work, scores, blockIdx.x);
  rv_launch_wait();
}

/* Labels or scores of any size. */
static __global__ void __launch_bounds__(128)
    any_kernel(const __grid_constant__ RvStixelsModel m, RvPlane map, int is_labels,
               const uint16_t *table, uint16_t *costs) {
  const int x = blockIdx.x * 128 + threadIdx.x, v = blockIdx.y, place = blockIdx.z;
  rv_launch_next();
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
  rv_launch_wait();
}

RvStatus rv_stixels_cuda_semantics(const RvStixelsCuda *work, const RvStixelsModel *m,
                                   const RvStixelsJob *job, const RvLog *log) {
  const RvPlane *scores = &job->scores;
  if (is_wide(m, scores)) /* beside the ground */
    return m->estimate ? RV_OK
                       : rv_stixels_launch(work, wide_kernel, dim3(wide_blocks(m)), WIDE_THREADS, 0,
                                           job->stream, log, *m, *work, *scores);
  const dim3 grid(rv_div_up(m->columns, 128), m->rows, m->semantics);
  return rv_stixels_launch(work, any_kernel, grid, 128, 0, job->stream, log, *m,
                           scores->data ? *scores : job->labels, !scores->data, work->scores,
                           work->semantics);
}
