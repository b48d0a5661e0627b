/* SPDX-License-Identifier: MIT */
/* rv_pixels.h: memory layouts of the pixel formats and the gray value of a color, for every
 * algorithm that reads or writes frames. Not installed. */
#ifndef RV_PIXELS_H
#define RV_PIXELS_H

#include "convert/convert.h"
#include "rv_hd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvPixelKind {
  RV_KIND_PLANAR = 0, /* luma plane first, chroma in planes of its own (or none) */
  RV_KIND_PACKED,     /* two pixels share four bytes */
  RV_KIND_RGB,        /* one pixel is 3 or 4 bytes */
} RvPixelKind;

/* Values of a parameter `format` (RV_CHOICE): GStreamer's names; the formats of 8 bits, and all. */
#define RV_PIXEL_VALUES_8BIT                                                                       \
  {RV_PIXEL_NV12, "NV12", "Y, interleaved UV"}, {RV_PIXEL_I420, "I420", "Y, U, V"},                \
      {RV_PIXEL_YUY2, "YUY2", "packed Y U Y V"}, {RV_PIXEL_UYVY, "UYVY", "packed U Y V Y"},        \
      {RV_PIXEL_BGRX, "BGRx", "4 bytes"}, {RV_PIXEL_BGRA, "BGRA", "4 bytes"},                      \
      {RV_PIXEL_RGBX, "RGBx", "4 bytes"}, {RV_PIXEL_RGBA, "RGBA", "4 bytes"},                      \
      {RV_PIXEL_RGB, "RGB", "3 bytes"}, {RV_PIXEL_BGR, "BGR", "3 bytes"},                          \
      {RV_PIXEL_GRAY8, "GRAY8", "1 byte"}, {RV_PIXEL_YV12, "YV12", "Y, V, U"},                     \
      {RV_PIXEL_NV21, "NV21", "Y, interleaved VU"},                                                \
      {RV_PIXEL_Y42B, "Y42B", "Y, U, V, chroma halved horizontally"},                              \
      {RV_PIXEL_ARGB, "ARGB", "4 bytes"}, {RV_PIXEL_ABGR, "ABGR", "4 bytes"},                      \
      {RV_PIXEL_XRGB, "xRGB", "4 bytes"}, {                                                        \
    RV_PIXEL_XBGR, "xBGR", "4 bytes"                                                               \
  }
#define RV_PIXEL_VALUES                                                                            \
  RV_PIXEL_VALUES_8BIT, {RV_PIXEL_P010, "P010_10LE", "Y, interleaved UV, 16 bits each"},           \
      {RV_PIXEL_GRAY10, "GRAY10", "10 of 16 bits"}, {RV_PIXEL_GRAY12, "GRAY12", "12 of 16 bits"},  \
      {RV_PIXEL_GRAY14, "GRAY14", "14 of 16 bits"}, {                                              \
    RV_PIXEL_GRAY16, "GRAY16_LE", "16 bits"                                                        \
  }

/* Layout of one format. A cell is the block of pixels that share one chroma sample. */
typedef struct RvPixelLayout {
  RvPixelKind kind;
  int planes;
  int step;           /* bytes from one pixel to the next in plane 0 */
  int cell_x, cell_y; /* px of a cell, each 1 or 2 */
  int chroma_step;    /* bytes from one chroma sample to the next */
  int plane_of[3];    /* plane and byte offset of Y U V or R G B ... */
  int offset_of[3];   /* ... channels the format lacks are in plane -1 */
  int alpha;          /* byte offset of a real alpha channel, -1 without */
  int wide;           /* 1: samples of 2 bytes; offset_of is that of their upper byte */
  int shift;          /* bits below the upper 8 of a value; of samples of 2 bytes */
} RvPixelLayout;

/* NULL for a value that is not a format. */
const RvPixelLayout *rv_pixel_layout(RvPixelFormat format);

/* 1 when format, size, planes and strides are valid. */
int rv_picture_fits(const RvPicture *picture);

/* Gray of a color (the weights of BT.601 in 1/256), rounded to nearest. */
RV_HD int rv_gray(int r, int g, int b) {
  return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

/* 8-bit value of a 16-bit sample: its bits from `shift` on, at most 255. */
RV_HD int rv_gray16(int sample, int shift) {
  return rv_min(sample >> shift, 255);
}

/* Bytes of two pixels of YUY2 and UYVY. */
#define RV_PACKED_PAIR 4

/* Chroma of images without color. */
#define RV_CHROMA_GRAY 128

#ifdef __cplusplus
}
#endif
#endif
