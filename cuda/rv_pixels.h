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

/* NULL for a value that is no format. */
const RvPixelLayout *rv_pixel_layout(RvPixelFormat format);

/* 1 when format, size, planes and strides are legal. */
int rv_picture_fits(const RvPicture *picture);

/* Gray of a color (the weights of BT.601 in 1/256), rounded to nearest. */
RV_HD int rv_gray(int r, int g, int b) {
  return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

/* 8-bit value of a 16-bit sample: its bits from `shift` on, at most 255. */
RV_HD int rv_gray16(int sample, int shift) {
  return rv_min(sample >> shift, 255);
}

/* Bytes that hold two pixels of YUY2 and UYVY. */
#define RV_PACKED_PAIR 4

/* Chroma of pictures without colors. */
#define RV_CHROMA_GRAY 128

#ifdef __cplusplus
}
#endif
#endif
