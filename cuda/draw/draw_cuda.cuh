/* SPDX-License-Identifier: MIT */
/* draw_cuda.cuh: what the .cu files of drawing share. Not installed. */
#ifndef RV_DRAW_CUDA_H
#define RV_DRAW_CUDA_H

#include "draw/draw_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"

struct DrawCuda {
  RvDrawWork tables; /* of both engines */
  uint4 *list;       /* of RvShape */
  int overlaps;      /* kernels may start before the preceding one ends */
};

/* The shapes of rv_draw_flush(); and `count` quadrilaterals from `first` on, where these are
 * many. */
RvStatus draw_cuda_shapes(void *work, const RvDrawJob *job);
RvStatus draw_cuda_quads(const DrawCuda *work, const RvDrawJob *job, int first, int count);

/* --- Pixels of shapes ----------------------------------------------------------------------------
 */

/* The lanes of a warp have rows of DRAW_WARP_X px: the pixels of a cell are in one warp. */
static const int DRAW_WARP_X = 8, DRAW_WARP_Y = 4;

namespace {
/* A pixel, and the chroma of its cell, which all lanes of the cell keep. */
struct Pixel {
  int x, y;
  int pixels; /* of the cell, in the image; 0: none */
  bool is_inside;
  int luma, alpha, chroma[2];
};

} // namespace

template <int CX, int CY> static __device__ Pixel load_pixel(const RvCanvas &c, int x, int y) {
  Pixel p = {x, y, 0, x < c.width && y < c.height, 0, 0, {0, 0}};
  const int column = x / CX, row = y / CY;
  if (column * CX >= c.width || row * CY >= c.height)
    return p;
  p.pixels = rv_min(CX, c.width - column * CX) * rv_min(CY, c.height - row * CY);
  if (p.is_inside) {
    const ptrdiff_t at = y * c.stride[0] + (ptrdiff_t)x * c.step[0];
    p.luma = c.channel[0][at];
    p.alpha = c.alpha ? c.alpha[at] : 0;
  }
  if (c.color)
    for (int k = 0; k < 2; k++)
      p.chroma[k] = c.channel[k + 1][row * c.stride[1] + (ptrdiff_t)column * c.step[1]];
  return p;
}

template <int CX, int CY> static __device__ void store_pixel(const RvCanvas &c, const Pixel &p) {
  if (p.is_inside) {
    const ptrdiff_t at = p.y * c.stride[0] + (ptrdiff_t)p.x * c.step[0];
    c.channel[0][at] = (uint8_t)p.luma;
    if (c.alpha)
      c.alpha[at] = (uint8_t)p.alpha;
    if (c.color && p.x % CX == 0 && p.y % CY == 0)
      for (int k = 0; k < 2; k++)
        c.channel[k + 1][p.y / CY * c.stride[1] + (ptrdiff_t)(p.x / CX) * c.step[1]] =
            (uint8_t)p.chroma[k];
  }
}

/* Sum over the pixels of a cell, by all lanes. */
template <int CX, int CY, typename T> static __device__ __forceinline__ T cell_sum(T v) {
  if (CX == 2)
    v += __shfl_xor_sync(RV_WARP, v, 1);
  if (CY == 2)
    v += __shfl_xor_sync(RV_WARP, v, DRAW_WARP_X);
  return v;
}

/* By all lanes: what the inks of a cell's pixels make of it. */
template <int CX, int CY>
static __device__ __forceinline__ void blend_pixel(const RvCanvas &c, Pixel *p, const RvInk &ink) {
  p->luma = rv_blend(p->luma, ink.c[0], ink.a);
  p->alpha = rv_blend(p->alpha, 255, ink.a);
  if (!c.color)
    return;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    int sum = cell_sum<CX, CY>(rv_blend_255(p->chroma[k], ink.c[k + 1], ink.a));
    sum += p->chroma[k] * 255 * (p->pixels - CX * CY); /* pixels beyond the border */
    p->chroma[k] = rv_blend_mean(sum, p->pixels);
  }
}

#endif
