/* SPDX-License-Identifier: MIT */
/* rdp_cuda_render.cu: segments to rasters on the GPU. */
#include "rdp/rdp_render_stages.h"
#include "rdp/rdp_rules.h"
#include "rv_launch.cuh"

#define SEGMENTS_PER_BLOCK 8 /* one warp per segment */
#define BLOCKS_MAX 16384

static __global__ void __launch_bounds__(32 * SEGMENTS_PER_BLOCK)
    render_kernel(const RvSegment *segments, uint32_t count, RvPlane disparity, RvPlane ends) {
  const int lane = threadIdx.x;
  for (size_t k = (size_t)blockIdx.x * SEGMENTS_PER_BLOCK + threadIdx.y; k < count;
       k += (size_t)gridDim.x * SEGMENTS_PER_BLOCK) {
    const RvSegment s = segments[k];
    if (!rv_rdp_is_inside(&s, disparity.width, disparity.height))
      continue;
    const int length = max(s.last - s.first, 1);
    for (int y = s.first + lane; y <= s.last; y += 32) {
      uint16_t *row = (uint16_t *)((char *)disparity.data + y * disparity.stride);
      row[s.column] =
          (uint16_t)rv_rdp_between(s.disparity_first, s.disparity_last, y - s.first, length);
    }
    if (ends.data && lane < 2)
      ((uint8_t *)ends.data)[(lane ? s.last : s.first) * ends.stride + s.column] = 255;
  }
}

extern "C" RvStatus rv_rdp_render_cuda(const RvSegment *segments, uint32_t count,
                                       const RvPlane *disparity, const RvPlane *ends,
                                       RvStream stream, const RvLog *log) {
  const int width = disparity->width, height = disparity->height;
  RV_CU(log, cudaMemset2DAsync(disparity->data, (size_t)disparity->stride, 0, 2 * (size_t)width,
                               (size_t)height, stream));
  if (ends->data)
    RV_CU(log, cudaMemset2DAsync(ends->data, (size_t)ends->stride, 0, (size_t)width, (size_t)height,
                                 stream));
  if (count == 0)
    return RV_OK;
  const size_t blocks = ((size_t)count + SEGMENTS_PER_BLOCK - 1) / SEGMENTS_PER_BLOCK;
  return rv_launch(log, render_kernel, dim3((unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX)),
                   dim3(32, SEGMENTS_PER_BLOCK), 0, stream, false, segments, count, *disparity,
                   *ends);
}
