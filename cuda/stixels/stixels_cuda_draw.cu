/* SPDX-License-Identifier: MIT */
/* stixels_cuda_draw.cu: rendering of a list to rasters, CUDA engine. */
#include "rv_launch.cuh"
#include "stixels/stixels_draw_stages.h"

#define BLOCKS_MAX 16384
#define THREADS 128

static __host__ __device__ bool has(const RvPlane &plane) {
  return plane.data != nullptr;
}

static __device__ bool is_aligned(const RvPlane &plane, int bytes) {
  return (((uintptr_t)plane.data | (uintptr_t)plane.stride) & (uintptr_t)(bytes - 1)) == 0;
}

static __device__ __forceinline__ void clear_row(const RvPlane &plane, int y, int bytes) {
  char *row = (char *)plane.data + y * plane.stride;
  const int pieces = is_aligned(plane, 16) ? bytes / 16 : 0;
  for (int i = threadIdx.x; i < pieces; i += THREADS)
    ((uint4 *)row)[i] = make_uint4(0, 0, 0, 0);
  for (int i = 16 * pieces + threadIdx.x; i < bytes; i += THREADS)
    row[i] = 0;
}

/* One block per row. */
static __global__ void __launch_bounds__(THREADS) clear_kernel(const RvStixelsRasters rasters) {
  const int y = blockIdx.x;
  rv_launch_wait();
  rv_launch_next();
  if (has(rasters.disparity))
    clear_row(rasters.disparity, y, 2 * rasters.disparity.width);
  if (has(rasters.classes))
    clear_row(rasters.classes, y, rasters.classes.width);
  if (has(rasters.outline))
    clear_row(rasters.outline, y, rasters.outline.width);
}

/* Pixels x and, when `two`, x + 1 of row y, which then are stored together. */
template <class T>
static __device__ __forceinline__ void store(const RvPlane &plane, int x, int y, unsigned first,
                                             unsigned second, bool two) {
  T *to = (T *)((char *)plane.data + y * plane.stride) + x;
  if (!two)
    *to = (T)first;
  else if (sizeof(T) == 2)
    *(uint32_t *)to = first | second << 16;
  else
    *(uint16_t *)to = (uint16_t)(first | second << 8);
}

/* One block per stixel; a thread has every `step`th row of two columns, or of one column where a
 * stixel begins in an odd one. */
static __global__ void __launch_bounds__(THREADS)
    draw_kernel(const RvStixel *list, uint32_t count, int stixel_width,
                const RvStixelsRasters rasters) {
  const RvPlane &disparity = rasters.disparity, &classes = rasters.classes;
  const RvPlane &outline = rasters.outline;
  const int width = has(disparity) ? disparity.width : classes.width;
  const int height = has(disparity) ? disparity.height : classes.height;
  const bool pairs = is_aligned(disparity, 4) && is_aligned(classes, 2) && is_aligned(outline, 2);
  RvStixel s = list[min(blockIdx.x, count - 1)];
  rv_launch_wait(); /* the rasters are clear, and what made the list ended before that */
  rv_launch_next();
  for (uint32_t k = blockIdx.x; k < count; k += gridDim.x) {
    if (k != blockIdx.x)
      s = list[k];
    if (!rv_stixels_is_drawn(&s, width, height))
      continue;
    const int end = rv_min(s.column + stixel_width, width);
    const int each = pairs && s.column % 2 == 0 ? 2 : 1;
    const int across = rv_div_up(stixel_width, each), step = THREADS / across;
    const int x = s.column + (int)threadIdx.x % across * each, row = (int)threadIdx.x / across;
    if (row >= step || x >= end)
      continue;
    const bool two = each == 2 && x + 1 < end;
    for (int y = s.v_top + row; y <= s.v_bottom; y += step) {
      if (has(disparity)) {
        const unsigned value = rv_stixels_drawn_disparity(&s, y);
        store<uint16_t>(disparity, x, y, value, value, two);
      }
      if (has(classes)) {
        const unsigned value = rv_stixels_drawn_class(&s, y);
        store<uint8_t>(classes, x, y, value, value, two);
      }
      if (has(outline))
        store<uint8_t>(outline, x, y, rv_stixels_drawn_outline(&s, x == s.column || y == s.v_top),
                       rv_stixels_drawn_outline(&s, y == s.v_top), two);
    }
  }
}

extern "C" RvStatus rv_stixels_draw_cuda(const RvStixel *list, uint32_t count, int stixel_width,
                                         const RvStixelsRasters *rasters, RvStream stream,
                                         const RvLog *log) {
  const RvPlane *any = has(rasters->disparity) ? &rasters->disparity : &rasters->classes;
  int overlaps = 0;
  RV_TRY(rv_cuda_overlaps(log, &overlaps));
  RV_TRY(rv_launch(log, clear_kernel, dim3((unsigned)any->height), dim3(THREADS), 0, stream, false,
                   *rasters));
  if (count == 0)
    return RV_OK;
  const uint32_t blocks = count < BLOCKS_MAX ? count : BLOCKS_MAX;
  return rv_launch(log, draw_kernel, dim3(blocks), dim3(THREADS), 0, stream, overlaps != 0, list,
                   count, stixel_width, *rasters);
}
