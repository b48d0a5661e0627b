/* SPDX-License-Identifier: MIT */
/* rectify_rules.h: maps and the arithmetic of one sample, for both engines. Internal. */
#ifndef RV_RECTIFY_RULES_H
#define RV_RECTIFY_RULES_H

#include "rv_hd.h"

#define RV_RECTIFY_BITS 5 /* fraction of a source position */
#define RV_RECTIFY_ONE (1 << RV_RECTIFY_BITS)
#define RV_RECTIFY_STEP_BITS 5 /* further fraction of RvRectifyGrid.step_x */

/* Largest stride of a plane in bytes: offsets in an image fit into int32_t. */
#define RV_RECTIFY_STRIDE_MAX (1 << 17)

/* Entry of a map whose four source samples are all outside. */
#define RV_RECTIFY_OUTSIDE INT16_MIN
#define RV_RECTIFY_OUTSIDE_WIDE INT32_MIN

/* One sample of a map: source position minus the predicted one, in 1/32 sample. */
typedef struct RvRectifyEntry {
  int16_t x, y;
} RvRectifyEntry;
typedef struct RvRectifyWideEntry {
  int32_t x, y;
} RvRectifyWideEntry;

/* Rows of a map begin at multiples of this many entries. */
#define RV_RECTIFY_PITCH 4

/* One view in a plane, in samples. */
typedef struct RvRectifyWindow {
  int x, y, width, height;
} RvRectifyWindow;

/* The samples of a plane of the packed output frame (luma, chroma, or pixels) and where they come
 * from. Column i, row j of a view is predicted at (i step_x, j step_y) of the view's source. */
typedef struct RvRectifyGrid {
  int width, height;      /* samples of the output plane */
  int pitch;              /* entries from one row of the map to the next; those beyond width */
                          /* are 0 */
  RvRectifyWindow out[2]; /* first and second view of the frame */
  RvRectifyWindow in[2];
  int split_x, split_y; /* samples from here on belong to the second view; the other one is */
                        /* beyond the plane */
  int step_x, step_y;   /* 1/1024 sample */
  int wide;             /* 1: the map has RvRectifyWideEntry */
} RvRectifyGrid;

/* Predicted source of a column or row of a view, 1/32 sample. At most 1024 * RV_MAX_SIDE before the
 * shift, for a step is in over out. */
RV_HD int rv_rectify_predict(int index, int step) {
  return (index * step) >> RV_RECTIFY_STEP_BITS;
}

/* 1 when this sample of the plane is of the second view. */
RV_HD int rv_rectify_view(const RvRectifyGrid *grid, int x, int y) {
  return x >= grid->split_x || y >= grid->split_y;
}

/* Bilinear value of four samples, a and b in 1/32: at most 65535 * 1024 before the shift. */
RV_HD uint32_t rv_rectify_blend(uint32_t s00, uint32_t s01, uint32_t s10, uint32_t s11, uint32_t a,
                                uint32_t b) {
  const uint32_t top = s00 * (RV_RECTIFY_ONE - a) + s01 * a;
  const uint32_t bottom = s10 * (RV_RECTIFY_ONE - a) + s11 * a;
  return (top * (RV_RECTIFY_ONE - b) + bottom * b + 512) >> (2 * RV_RECTIFY_BITS);
}

#endif
