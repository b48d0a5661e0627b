/* stixels_draw_cuda.cu: stixels to rasters on the GPU. */
#include "rv_cuda.h"
#include "stixels_draw_stages.h"

#define BLOCKS_MAX 16384

/* One block a stixel, a thread its pixels. */
static __global__ void __launch_bounds__(128)
    draw_kernel(const RvStixel *list, uint32_t count, int stixel_width, RvPlane disparity,
                RvPlane outline) {
  for (uint32_t k = blockIdx.x; k < count; k += gridDim.x) {
    const RvStixel s = list[k];
    if (!rv_stixels_is_drawn(&s, disparity.width, disparity.height))
      continue;
    const int wide = rv_min(s.column + stixel_width, disparity.width) - s.column;
    const int pixels = wide * (s.v_bottom - s.v_top + 1);
    for (int i = threadIdx.x; i < pixels; i += 128) {
      const int x = s.column + i % wide, y = s.v_top + i / wide;
      ((uint16_t *)((char *)disparity.data + y * disparity.stride))[x] = rv_stixels_rendered(&s, y);
      if (outline.data)
        ((uint8_t *)outline.data)[y * outline.stride + x] = x == s.column || y == s.v_top ? 255 : 0;
    }
  }
}

extern "C" RvStatus rv_stixels_draw_cuda(const RvStixel *list, uint32_t count, int stixel_width,
                                         const RvPlane *disparity, const RvPlane *outline,
                                         RvStream stream, const RvLog *log) {
  const size_t width = (size_t)disparity->width, height = (size_t)disparity->height;
  RV_CU(log, cudaMemset2DAsync(disparity->data, (size_t)disparity->stride, 0, 2 * width, height,
                               stream));
  if (outline->data)
    RV_CU(log, cudaMemset2DAsync(outline->data, (size_t)outline->stride, 0, width, height, stream));
  if (count == 0)
    return RV_OK;
  const uint32_t blocks = count < BLOCKS_MAX ? count : BLOCKS_MAX;
  draw_kernel<<<blocks, 128, 0, stream>>>(list, count, stixel_width, *disparity, *outline);
  RV_LAUNCHED(log);
  return RV_OK;
}
