/* SPDX-License-Identifier: MIT */
/* convert_rules.h: R, G and B of one pixel, for both engines. Internal. */
#ifndef RV_CONVERT_RULES_H
#define RV_CONVERT_RULES_H

#include "rv_pixels.h"

/* Coefficients in 1/65536 of Y' = luma - offset and of chroma - 128. */
typedef struct RvConvertMatrix {
  int offset, luma, red_v, green_u, green_v, blue_u;
} RvConvertMatrix;

/* Positions of an image's samples. */
typedef struct RvConvertSource {
  const uint8_t *data[3]; /* of the three channels, at their offset in the first pixel */
  ptrdiff_t stride[3];
  int step[3]; /* bytes from one sample of a channel to the next */
  int cell_x, cell_y;
  int is_yuv, is_gray;
  RvConvertMatrix matrix;
} RvConvertSource;

RV_HD uint32_t rv_convert_pack(int r, int g, int b) {
  return (uint32_t)r | (uint32_t)g << 8 | (uint32_t)b << 16 | 0xff000000u;
}

RV_HD uint32_t rv_convert_yuv(const RvConvertMatrix *m, int y, int u, int v) {
  const int luma = m->luma * (y - m->offset) + 32768;
  const int r = (luma + m->red_v * (v - 128)) >> 16;
  const int g = (luma - m->green_u * (u - 128) - m->green_v * (v - 128)) >> 16;
  const int b = (luma + m->blue_u * (u - 128)) >> 16;
  return rv_convert_pack(rv_clamp(r, 0, 255), rv_clamp(g, 0, 255), rv_clamp(b, 0, 255));
}

/* Pixel (x, y): R in bits 0..7, G in 8..15, B in 16..23, 255 above. */
RV_HD uint32_t rv_convert_color_at(const RvConvertSource *s, int x, int y) {
  const int first = s->data[0][y * s->stride[0] + (ptrdiff_t)x * s->step[0]];
  if (s->is_gray)
    return rv_convert_pack(first, first, first);
  const int cx = s->cell_x == 2 ? x >> 1 : x, cy = s->cell_y == 2 ? y >> 1 : y;
  const int second = s->data[1][cy * s->stride[1] + (ptrdiff_t)cx * s->step[1]];
  const int third = s->data[2][cy * s->stride[2] + (ptrdiff_t)cx * s->step[2]];
  return s->is_yuv ? rv_convert_yuv(&s->matrix, first, second, third)
                   : rv_convert_pack(first, second, third);
}

#endif
