/* SPDX-License-Identifier: MIT */
/* convert.h: images in the pixel formats of GStreamer elements: conversion to gray and to RGB, and
 * cropping of one view of a frame-packed pair.
 *
 * These are plain functions without an object: they allocate nothing. With RV_CUDA the work is
 * enqueued on `stream` and images and planes must stay valid until it has finished there; with
 * RV_CPU it has finished on return. Both engines give the same bytes. Functions may be called from
 * several threads at once. */
#ifndef RV_CONVERT_H
#define RV_CONVERT_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory layouts are those of GStreamer's video formats of the same name. */
typedef enum RvPixelFormat {
  RV_PIXEL_NV12 = 0, /* planes Y, UV; chroma halved in both directions, rounded up */
  RV_PIXEL_I420,     /* planes Y, U, V; the same */
  RV_PIXEL_YUY2,     /* Y0 U Y1 V; chroma halved horizontally, rounded up */
  RV_PIXEL_UYVY,     /* U Y0 V Y1 */
  RV_PIXEL_BGRX,
  RV_PIXEL_BGRA,
  RV_PIXEL_RGBX,
  RV_PIXEL_RGBA,
  RV_PIXEL_RGB,
  RV_PIXEL_BGR,
  RV_PIXEL_GRAY8,
  RV_PIXEL_YV12, /* planes Y, V, U; as I420 */
  RV_PIXEL_NV21, /* planes Y, VU; as NV12 */
  RV_PIXEL_Y42B, /* planes Y, U, V; chroma halved horizontally, rounded up */
  RV_PIXEL_ARGB,
  RV_PIXEL_ABGR,
  RV_PIXEL_XRGB,
  RV_PIXEL_XBGR,
  RV_PIXEL_P010,   /* as NV12, 16-bit little-endian samples with the value in the upper 10 bits */
  RV_PIXEL_GRAY10, /* 16-bit little-endian samples with the value in the lower 10 bits; larger */
  RV_PIXEL_GRAY12, /* values are clamped to the maximum of that many bits */
  RV_PIXEL_GRAY14,
  RV_PIXEL_GRAY16,
  RV_PIXEL_FORMATS /* their number */
} RvPixelFormat;

/* A view of an image; the caller owns the memory, which the engine can access. */
typedef struct RvPicture {
  RvPixelFormat format;
  int width, height;   /* px */
  void *data[3];       /* as many planes as the format has */
  ptrdiff_t stride[3]; /* bytes */
} RvPicture;

/* Number of planes, and the bytes and rows of plane `plane` of an image of width x height px
 * (row bytes without padding). */
RV_API int rv_pixel_planes(RvPixelFormat format);
RV_API size_t rv_pixel_row_bytes(RvPixelFormat format, int plane, int width);
RV_API int rv_pixel_rows(RvPixelFormat format, int plane, int height);

/* Gray of the rectangle at (x, y) of the size of `gray` (RV_U8), which must lie in the image.
 * YUV and GRAY8: the luma as it is; P010 and GRAY10 to GRAY16: the upper 8 bits of the value, the
 * others are discarded. RGB: (77 R + 150 G + 29 B + 128) >> 8. */
RV_API RvStatus rv_convert_gray(const RvPicture *picture, int x, int y, const RvPlane *gray,
                                int threads, RvEngine engine, RvStream stream, const RvLog *log);

/* Colors of the complete image as `color` (RV_U32, of its size): R in bits 0..7, G in 8..15, B in
 * 16..23, 255 in 24..31. A chroma sample applies to all of its pixels. YUV: bt709 1 BT.709, 0
 * BT.601; full_range 1 full, 0 limited range; coefficients in 1/65536, rounded to nearest, clamped
 * to 0..255. P010: of the upper 8 bits. GRAY8: R = G = B, as it is. GRAY10 to GRAY16 are
 * invalid. */
RV_API RvStatus rv_convert_color(const RvPicture *picture, int bt709, int full_range,
                                 const RvPlane *color, int threads, RvEngine engine,
                                 RvStream stream, const RvLog *log);

/* Copies the rectangle at (x, y) of the size of `out`. `out` has the format of `picture`, or
 * RV_PIXEL_NV12 where `picture` is gray (chroma 128), or GRAY8 where it is GRAY10 to GRAY16, with
 * the values of rv_convert_gray. Where x, y or a size is odd, luma is exact and the chroma sample
 * of output column c is that of input column x + 2 c rounded down; rows likewise. In YUY2 and UYVY
 * of odd width the luma beyond the last column repeats it. */
RV_API RvStatus rv_convert_crop(const RvPicture *picture, int x, int y, const RvPicture *out,
                                int threads, RvEngine engine, RvStream stream, const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
