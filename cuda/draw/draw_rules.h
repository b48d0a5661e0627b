/* SPDX-License-Identifier: MIT */
/* draw_rules.h: what a drawn pixel is: number formats, coverage of shapes, blending. Scalar rules
 * that both engines follow. Internal.
 *
 * An ink is a color in the channels of the frame (R G B, Y U V, or Y) with an opacity a, 0..255.
 * Coverage runs from 0 to 256. */
#ifndef RV_DRAW_RULES_H
#define RV_DRAW_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "rv_hd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_DRAW_COLORS 1024 /* entries of a color map */
#define RV_COVER_FULL 256

typedef struct RvInk {
  uint8_t c[3];
  uint8_t a;
} RvInk;

/* A frame as channels of cells: a cell is the block of pixels that share a chroma sample, one
 * pixel in RGB. Channel 0 has a sample per pixel; 1 and 2 one per cell. */
typedef struct RvCanvas {
  uint8_t *channel[3];
  uint8_t *alpha; /* NULL without alpha channel; same step and stride as channel 0 */
  ptrdiff_t stride[2];
  int step[2]; /* bytes from sample to sample: channel 0, channels 1 and 2 */
  int cell_x, cell_y;
  int color; /* 0: channel 0 only */
  int width, height;
} RvCanvas;

/* --- Blending ----------------------------------------------------------------------------------
 */

/* 255 times the blend of a sample with an ink. */
RV_HD int rv_blend_255(int sample, int ink, int a) {
  return sample * (255 - a) + ink * a;
}

RV_HD int rv_blend(int sample, int ink, int a) {
  return rv_div255(rv_blend_255(sample, ink, a));
}

/* Chroma sample from the sum of rv_blend_255 over the n = 1, 2 or 4 pixels of its cell. */
RV_HD int rv_blend_mean(int sum, int n) {
  return n == 4 ? (sum + 510) / 1020 : (n == 2 ? (sum + 255) / 510 : rv_div255(sum));
}

/* Opacity of an ink under coverage. */
RV_HD int rv_cover_alpha(int a, int cover) {
  return (a * cover + 128) >> 8;
}

/* --- Layers ------------------------------------------------------------------------------------
 */

/* Column (row) of a raster of `samples` under the center of pixel x of `pixels`. */
RV_HD int rv_nearest(int x, int samples, int pixels) {
  return samples == pixels ? x : (2 * x + 1) * samples / (2 * pixels);
}

/* Color index of a value: 0 at low, RV_DRAW_COLORS - 1 at high. `scale` from rv_ramp_scale. */
RV_HD uint32_t rv_ramp_scale(int low, int high) {
  return (((uint32_t)(RV_DRAW_COLORS - 1) << 20) + (uint32_t)(high - low) - 1) /
         (uint32_t)(high - low);
}

RV_HD int rv_ramp_index(int value, int low, int high, uint32_t scale) {
  return (int)(((uint32_t)(rv_clamp(value, low, high) - low) * scale) >> 20);
}

/* A grid of cells over a frame of width x height px; see RvDrawGrid. */
typedef struct RvGrid {
  const uint8_t *mask, *marks; /* marks NULL: none */
  ptrdiff_t mask_stride, marks_stride;
  int columns, rows;
  uint64_t per_cell;           /* rv_grid_per_cell of the cells' side */
  int made_width, made_height; /* px of the frame of the grid */
  int width, height;           /* px of the one that is drawn on */
  int edge_width;
  RvInk tint, mark, edge;
} RvGrid;

/* x / cell = (x * rv_grid_per_cell(cell)) >> 32, exactly while x * cell < 2^32: the factor is at
 * most cell / 2^32 too large. */
RV_HD uint64_t rv_grid_per_cell(int cell) {
  return ((UINT64_C(1) << 32) + (uint64_t)cell - 1) / (uint64_t)cell;
}

/* Cell, along one side, under the center of pixel x. */
RV_HD int rv_grid_cell(const RvGrid *g, int x, int made, int pixels) {
  return (int)((uint64_t)rv_nearest(x, made, pixels) * g->per_cell >> 32);
}

/* Is the cell under the pixel masked? Outside of cells and frame the nearest cell applies. */
RV_HD int rv_grid_masked(const RvGrid *g, int x, int y) {
  const int column = rv_grid_cell(g, rv_clamp(x, 0, g->width - 1), g->made_width, g->width);
  const int row = rv_grid_cell(g, rv_clamp(y, 0, g->height - 1), g->made_height, g->height);
  return g->mask[rv_min(row, g->rows - 1) * g->mask_stride + rv_min(column, g->columns - 1)] != 0;
}

RV_HD RvInk rv_grid_ink(const RvGrid *g, int x, int y) {
  const RvInk none = {{0, 0, 0}, 0};
  const int column = rv_grid_cell(g, x, g->made_width, g->width);
  const int row = rv_grid_cell(g, y, g->made_height, g->height);
  if (column >= g->columns || row >= g->rows)
    return none;
  const int masked = g->mask[row * g->mask_stride + column] != 0, e = g->edge_width;
  if (masked && e > 0 &&
      !(rv_grid_masked(g, x - e, y) && rv_grid_masked(g, x + e, y) && rv_grid_masked(g, x, y - e) &&
        rv_grid_masked(g, x, y + e)))
    return g->edge;
  if (g->marks && g->marks[row * g->marks_stride + column])
    return g->mark;
  return masked ? g->tint : none;
}

/* --- Shapes ------------------------------------------------------------------------------------
 */

enum { RV_SHAPE_PLATE = 0, RV_SHAPE_QUAD, RV_SHAPE_SHADE, RV_SHAPE_GLYPH };

/* A shape changes only pixels of its box [x0, x1) x [y0, y1), which lies in the image. */
typedef struct RvShape {
  int16_t x0, y0, x1, y1; /* px */
  RvInk ink;
  uint8_t kind;
  uint8_t reserved;
  uint16_t glyph;
  union {
    struct {
      int32_t left, top, right, bottom; /* px, uncut */
      int32_t radius;
    } plate;
    struct { /* signed distance = (a X + b Y + c) / 2^15 px at X = 2 (x - x0) + 1, Y alike */
      int16_t a[4], b[4]; /* inward unit normals in 1/2^14 */
      int32_t c[4];
    } quad;
    struct { /* color index in 1/2^16 */
      int32_t base, by_column, by_row;
    } shade;
    struct {
      int32_t x, y; /* top left corner of the cell, 1/256 px */
      int32_t size; /* px */
      int32_t half; /* half the width of a stroke, 1/256 px */
    } glyph_at;
  } as;
} RvShape;

/* Rounded corners by (R^2 - d^2) / 2R, which is the distance from the arc near the arc. */
RV_HD int rv_cover_rounded_rect(const RvShape *s, int x, int y) {
  const int r = 2 * s->as.plate.radius; /* half px, as all here */
  const int column = 2 * x + 1, row = 2 * y + 1;
  const int ex = rv_max(2 * s->as.plate.left + r - column, column - 2 * s->as.plate.right + r);
  const int ey = rv_max(2 * s->as.plate.top + r - row, row - 2 * s->as.plate.bottom + r);
  if (ex <= 0 || ey <= 0)
    return RV_COVER_FULL;
  return rv_clamp(128 + (r * r - ex * ex - ey * ey) * 64 / r, 0, RV_COVER_FULL);
}

/* Coverage of the half plane inside edge i. */
RV_HD int rv_cover_edge(const RvShape *s, int i, int x, int y) {
  const int e = s->as.quad.a[i] * (2 * (x - s->x0) + 1) + s->as.quad.b[i] * (2 * (y - s->y0) + 1) +
                s->as.quad.c[i];
  return rv_clamp((e >> 7) + 128, 0, RV_COVER_FULL);
}

/* Coverage begins half a pixel outside the edge, in units of the distance. */
#define RV_EDGE_HALF 16384

/* 0 when the pixels [x0, x1) x [y0, y1) all lie beyond one edge. */
RV_HD int rv_quad_reaches(const RvShape *s, int x0, int y0, int x1, int y1) {
  for (int i = 0; i < 4; i++) {
    const int column = 2 * ((s->as.quad.a[i] > 0 ? x1 - 1 : x0) - s->x0) + 1;
    const int row = 2 * ((s->as.quad.b[i] > 0 ? y1 - 1 : y0) - s->y0) + 1;
    if (s->as.quad.a[i] * column + s->as.quad.b[i] * row + s->as.quad.c[i] + RV_EDGE_HALF < 0)
      return 0;
  }
  return 1;
}

/* Opposite edges make a strip, whose coverage is also right where it is thinner than a pixel. */
RV_HD int rv_cover_quad(const RvShape *s, int x, int y) {
  const int p = rv_cover_edge(s, 0, x, y) + rv_cover_edge(s, 2, x, y) - RV_COVER_FULL;
  const int q = rv_cover_edge(s, 1, x, y) + rv_cover_edge(s, 3, x, y) - RV_COVER_FULL;
  return p <= 0 || q <= 0 ? 0 : (p * q + 128) >> 8;
}

/* The font is a field of distances from the strokes' center lines, sampled on a grid of
 * RV_FONT_UNITS units per cell height with a margin all around. */
#define RV_FONT_UNITS 48
#define RV_FONT_MARGIN 8
#define RV_FONT_COLUMNS 52
#define RV_FONT_ROWS (RV_FONT_UNITS + 2 * RV_FONT_MARGIN)
#define RV_FONT_GLYPHS 96 /* ASCII 32..126 and the box */
#define RV_FONT_FAR 255   /* distances are in 1/16 unit, cut here */

RV_HD int rv_font_tap(const uint8_t *field, int glyph, int column, int row) {
  if (column < 0 || row < 0 || column >= RV_FONT_COLUMNS || row >= RV_FONT_ROWS)
    return RV_FONT_FAR;
  return field[(glyph * RV_FONT_ROWS + row) * RV_FONT_COLUMNS + column];
}

/* Position in 1/256 sample of the field from a distance in 1/256 px from the cell's corner. */
RV_HD int rv_font_at(int distance, int size) {
  return rv_div_floor(distance * RV_FONT_UNITS, size) + 256 * RV_FONT_MARGIN - 128;
}

RV_HD int rv_cover_glyph(const RvShape *s, const uint8_t *field, int x, int y) {
  const int u = rv_font_at(256 * x + 128 - s->as.glyph_at.x, s->as.glyph_at.size);
  const int v = rv_font_at(256 * y + 128 - s->as.glyph_at.y, s->as.glyph_at.size);
  const int column = u >> 8, row = v >> 8, fu = u & 255, fv = v & 255;
  const int top = rv_font_tap(field, s->glyph, column, row) * (256 - fu) +
                  rv_font_tap(field, s->glyph, column + 1, row) * fu;
  const int bottom = rv_font_tap(field, s->glyph, column, row + 1) * (256 - fu) +
                     rv_font_tap(field, s->glyph, column + 1, row + 1) * fu;
  const int d = (top * (256 - fv) + bottom * fv) >> 8;           /* unit / 4096 */
  const int px = d * s->as.glyph_at.size / (16 * RV_FONT_UNITS); /* 1/256 px */
  return rv_clamp(128 + s->as.glyph_at.half - px, 0, RV_COVER_FULL);
}

/* What the shape puts on a pixel of its box: ink and opacity. */
RV_HD RvInk rv_shape_ink(const RvShape *s, const RvInk *colors, const uint8_t *field, int x,
                         int y) {
  RvInk ink = s->ink;
  int cover = RV_COVER_FULL;
  switch (s->kind) {
  case RV_SHAPE_PLATE:
    cover = rv_cover_rounded_rect(s, x, y);
    break;
  case RV_SHAPE_QUAD:
    cover = rv_cover_quad(s, x, y);
    break;
  case RV_SHAPE_GLYPH:
    cover = rv_cover_glyph(s, field, x, y);
    break;
  default: {
    const int at =
        s->as.shade.base + s->as.shade.by_column * (x - s->x0) + s->as.shade.by_row * (y - s->y0);
    ink = colors[rv_clamp(at >> 16, 0, RV_DRAW_COLORS - 1)];
    ink.a = s->ink.a;
  }
  }
  ink.a = (uint8_t)rv_cover_alpha(ink.a, cover);
  return ink;
}

#ifdef __cplusplus
}
#endif
#endif
