/* SPDX-License-Identifier: MIT */
/* rv_pixels.c: the table of pixel formats and the sizes that follow from it. */
#include "rv_pixels.h"

static const RvPixelLayout layouts[RV_PIXEL_FORMATS] = {
    /* kind, planes, step, cell, chroma step, planes of the channels, their offsets, alpha, wide,
     * shift */
    [RV_PIXEL_NV12] = {RV_KIND_PLANAR, 2, 1, 2, 2, 2, {0, 1, 1}, {0, 0, 1}, -1, 0, 0},
    [RV_PIXEL_I420] = {RV_KIND_PLANAR, 3, 1, 2, 2, 1, {0, 1, 2}, {0, 0, 0}, -1, 0, 0},
    [RV_PIXEL_YUY2] = {RV_KIND_PACKED, 1, 2, 2, 1, 4, {0, 0, 0}, {0, 1, 3}, -1, 0, 0},
    [RV_PIXEL_UYVY] = {RV_KIND_PACKED, 1, 2, 2, 1, 4, {0, 0, 0}, {1, 0, 2}, -1, 0, 0},
    [RV_PIXEL_BGRX] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {2, 1, 0}, -1, 0, 0},
    [RV_PIXEL_BGRA] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {2, 1, 0}, 3, 0, 0},
    [RV_PIXEL_RGBX] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {0, 1, 2}, -1, 0, 0},
    [RV_PIXEL_RGBA] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {0, 1, 2}, 3, 0, 0},
    [RV_PIXEL_RGB] = {RV_KIND_RGB, 1, 3, 1, 1, 3, {0, 0, 0}, {0, 1, 2}, -1, 0, 0},
    [RV_PIXEL_BGR] = {RV_KIND_RGB, 1, 3, 1, 1, 3, {0, 0, 0}, {2, 1, 0}, -1, 0, 0},
    [RV_PIXEL_GRAY8] = {RV_KIND_PLANAR, 1, 1, 1, 1, 0, {0, -1, -1}, {0, 0, 0}, -1, 0, 0},
    [RV_PIXEL_YV12] = {RV_KIND_PLANAR, 3, 1, 2, 2, 1, {0, 2, 1}, {0, 0, 0}, -1, 0, 0},
    [RV_PIXEL_NV21] = {RV_KIND_PLANAR, 2, 1, 2, 2, 2, {0, 1, 1}, {0, 1, 0}, -1, 0, 0},
    [RV_PIXEL_Y42B] = {RV_KIND_PLANAR, 3, 1, 2, 1, 1, {0, 1, 2}, {0, 0, 0}, -1, 0, 0},
    [RV_PIXEL_ARGB] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {1, 2, 3}, 0, 0, 0},
    [RV_PIXEL_ABGR] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {3, 2, 1}, 0, 0, 0},
    [RV_PIXEL_XRGB] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {1, 2, 3}, -1, 0, 0},
    [RV_PIXEL_XBGR] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {3, 2, 1}, -1, 0, 0},
    [RV_PIXEL_P010] = {RV_KIND_PLANAR, 2, 2, 2, 2, 4, {0, 1, 1}, {1, 1, 3}, -1, 1, 8},
    [RV_PIXEL_GRAY10] = {RV_KIND_PLANAR, 1, 2, 1, 1, 0, {0, -1, -1}, {1, 0, 0}, -1, 1, 2},
    [RV_PIXEL_GRAY12] = {RV_KIND_PLANAR, 1, 2, 1, 1, 0, {0, -1, -1}, {1, 0, 0}, -1, 1, 4},
    [RV_PIXEL_GRAY14] = {RV_KIND_PLANAR, 1, 2, 1, 1, 0, {0, -1, -1}, {1, 0, 0}, -1, 1, 6},
    [RV_PIXEL_GRAY16] = {RV_KIND_PLANAR, 1, 2, 1, 1, 0, {0, -1, -1}, {1, 0, 0}, -1, 1, 8},
};

const RvPixelLayout *rv_pixel_layout(RvPixelFormat format) {
  return (unsigned)format < RV_PIXEL_FORMATS ? &layouts[format] : NULL;
}

int rv_pixel_planes(RvPixelFormat format) {
  const RvPixelLayout *layout = rv_pixel_layout(format);
  return layout ? layout->planes : 0;
}

size_t rv_pixel_row_bytes(RvPixelFormat format, int plane, int width) {
  const RvPixelLayout *layout = rv_pixel_layout(format);
  if (!layout || plane < 0 || plane >= layout->planes || width < 1)
    return 0;
  const size_t cells = (size_t)rv_div_up(width, layout->cell_x);
  if (plane > 0)
    return cells * (size_t)layout->chroma_step;
  return layout->kind == RV_KIND_PACKED ? cells * RV_PACKED_PAIR
                                        : (size_t)width * (size_t)layout->step;
}

int rv_pixel_rows(RvPixelFormat format, int plane, int height) {
  const RvPixelLayout *layout = rv_pixel_layout(format);
  if (!layout || plane < 0 || plane >= layout->planes || height < 1)
    return 0;
  return plane > 0 ? rv_div_up(height, layout->cell_y) : height;
}

int rv_picture_fits(const RvPicture *picture) {
  if (!picture || !rv_pixel_layout(picture->format))
    return 0;
  if (picture->width < 1 || picture->width > RV_MAX_SIDE || picture->height < 1 ||
      picture->height > RV_MAX_SIDE)
    return 0;
  for (int p = 0; p < rv_pixel_planes(picture->format); p++)
    if (!picture->data[p] ||
        picture->stride[p] < (ptrdiff_t)rv_pixel_row_bytes(picture->format, p, picture->width))
      return 0;
  return 1;
}
