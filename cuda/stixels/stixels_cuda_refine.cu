/* SPDX-License-Identifier: MIT */
/* stixels_cuda_refine.cu: boundaries at rows of pixels, CUDA engine. One block per column, one warp
 * per boundary, one lane per row. No boundary reads what another one writes. */
#include "stixels/stixels_cuda_refine.cuh"

static __global__ void __launch_bounds__(128)
    refine_kernel(const __grid_constant__ RvStixelsPlan plan, Pixels pixels, RvStixel *list,
                  uint32_t capacity, const uint32_t *offsets) {
  const uint32_t begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
  for (uint32_t k = begin + 1 + threadIdx.x / 32; k < end && k < capacity; k += 4)
    move_boundary<32>(plan, pixels, &list[k - 1], &list[k], k + 1 == end, true);
}

RvStatus rv_stixels_cuda_refine(void *, RvStixelsJob *job) {
  const RvStixelsPlan *plan = job->plan;
  const RvStixelsOutput *output = &job->output;
  if (rv_stixels_has_records(plan)) /* the column kernel has moved them */
    return RV_OK;
  const Pixels pixels = {job->input.disparity, job->input.labels};
  return rv_launch(&plan->config.log, refine_kernel, dim3((unsigned)plan->columns), dim3(128), 0,
                   job->stream, false, *plan, pixels, output->stixels, output->capacity,
                   output->offsets);
}
