/* SPDX-License-Identifier: MIT */
/* stixels_cuda_draw.cu: rendering of a list to rasters, CUDA engine. */
#include "rv_launch.cuh"
#include "stixels/stixels_draw_stages.h"

#define BLOCKS_MAX 16384

static __device__ bool has(const RvPlane &plane) {
  return plane.data != nullptr;
}

/* One block per stixel, one thread per pixel. */
static __global__ void __launch_bounds__(128)
    draw_kernel(const RvStixel *list, uint32_t count, int stixel_width,
                const RvStixelsRasters rasters) {
  const RvPlane &disparity = rasters.disparity, &classes = rasters.classes;
  const RvPlane &outline = rasters.outline, &any = has(disparity) ? disparity : classes;
  for (uint32_t k = blockIdx.x; k < count; k += gridDim.x) {
    const RvStixel s = list[k];
    if (!rv_stixels_is_drawn(&s, any.width, any.height))
      continue;
    const int wide = rv_min(s.column + stixel_width, any.width) - s.column;
    const int pixels = wide * (s.v_bottom - s.v_top + 1);
    for (int i = threadIdx.x; i < pixels; i += 128) {
      const int x = s.column + i % wide, y = s.v_top + i / wide;
      if (has(disparity))
        ((uint16_t *)((char *)disparity.data + y * disparity.stride))[x] =
            rv_stixels_drawn_disparity(&s, y);
      if (has(classes))
        ((uint8_t *)classes.data)[y * classes.stride + x] = rv_stixels_drawn_class(&s, y);
      if (has(outline))
        ((uint8_t *)outline.data)[y * outline.stride + x] =
            rv_stixels_drawn_outline(&s, x == s.column || y == s.v_top);
    }
  }
}

static RvStatus clear(const RvPlane *plane, RvStream stream, const RvLog *log) {
  if (plane->data)
    RV_CU(log, cudaMemset2DAsync(plane->data, (size_t)plane->stride, 0,
                                 (size_t)plane->width * rv_format_bytes(plane->format),
                                 (size_t)plane->height, stream));
  return RV_OK;
}

extern "C" RvStatus rv_stixels_draw_cuda(const RvStixel *list, uint32_t count, int stixel_width,
                                         const RvStixelsRasters *rasters, RvStream stream,
                                         const RvLog *log) {
  RV_TRY(clear(&rasters->disparity, stream, log));
  RV_TRY(clear(&rasters->classes, stream, log));
  RV_TRY(clear(&rasters->outline, stream, log));
  if (count == 0)
    return RV_OK;
  const uint32_t blocks = count < BLOCKS_MAX ? count : BLOCKS_MAX;
  return rv_launch(log, draw_kernel, dim3(blocks), dim3(128), 0, stream, false, list, count,
                   stixel_width, *rasters);
}
