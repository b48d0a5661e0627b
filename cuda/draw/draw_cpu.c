/* SPDX-License-Identifier: MIT */
/* draw_cpu.c: layers and shapes over rows of cells, rows on threads. The walk over cells is written
 * once and compiled per cell shape and kind of layer. */
#include "draw/draw_stages.h"

/* Color of an overlay at pixel (x, y); opacity 0 leaves the pixel unchanged. */
typedef RvInk (*InkOf)(const void *layer, int x, int y);

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Rows of cells that a thread draws at a time: shapes of one band go in order, bands in any. */
#define BAND_CELLS 16

/* Below this many pixels (a legend) a parallel region costs more than it saves. */
#define PARALLEL_PIXELS 200000

/* One cell: `x1` and `y1` bound the pixels that may change. */
ALWAYS_INLINE void blend_cell(const RvCanvas *canvas, int cell, int row, int x0, int y0, int x1,
                              int y1, int cell_x, int cell_y, int color, InkOf ink_of,
                              const void *layer) {
  uint8_t *chroma[2] = {NULL, NULL};
  int sum[2] = {0, 0}, old[2] = {0, 0}, pixels = 0, changed = 0;
  if (color) {
    for (int c = 0; c < 2; c++) {
      chroma[c] =
          canvas->channel[c + 1] + row * canvas->stride[1] + (ptrdiff_t)cell * canvas->step[1];
      old[c] = *chroma[c];
    }
  }
  for (int j = 0; j < cell_y; j++) {
    const int y = row * cell_y + j;
    if (cell_y > 1 && y >= canvas->height)
      continue;
    for (int i = 0; i < cell_x; i++) {
      const int x = cell * cell_x + i;
      if (cell_x > 1 && x >= canvas->width)
        continue;
      pixels++;
      RvInk ink = {{0, 0, 0}, 0};
      if (x >= x0 && x < x1 && y >= y0 && y < y1)
        ink = ink_of(layer, x, y);
      for (int c = 0; c < 2; c++)
        sum[c] += rv_blend_255(old[c], ink.c[c + 1], ink.a);
      if (ink.a == 0)
        continue;
      changed = 1;
      const ptrdiff_t at = y * canvas->stride[0] + (ptrdiff_t)x * canvas->step[0];
      canvas->channel[0][at] = (uint8_t)rv_blend(canvas->channel[0][at], ink.c[0], ink.a);
      if (canvas->alpha)
        canvas->alpha[at] = (uint8_t)rv_blend(canvas->alpha[at], 255, ink.a);
    }
  }
  if (color && changed)
    for (int c = 0; c < 2; c++)
      *chroma[c] = (uint8_t)rv_blend_mean(sum[c], pixels);
}

/* Copies of canvas and layer on the stack, here and below, tell the compiler that writing pixels
 * does not change them. */
ALWAYS_INLINE void blend_row(const RvCanvas *shared, int row, int x0, int y0, int x1, int y1,
                             InkOf ink_of, const void *layer) {
  const RvCanvas own = *shared, *canvas = &own;
  if (canvas->cell_x == 2 && canvas->cell_y == 2) {
    for (int cell = x0 / 2; cell <= (x1 - 1) / 2; cell++)
      blend_cell(canvas, cell, row, x0, y0, x1, y1, 2, 2, 1, ink_of, layer);
  } else if (canvas->cell_x == 2) {
    for (int cell = x0 / 2; cell <= (x1 - 1) / 2; cell++)
      blend_cell(canvas, cell, row, x0, y0, x1, y1, 2, 1, 1, ink_of, layer);
  } else if (canvas->color) {
    for (int cell = x0; cell < x1; cell++)
      blend_cell(canvas, cell, row, x0, y0, x1, y1, 1, 1, 1, ink_of, layer);
  } else {
    for (int cell = x0; cell < x1; cell++)
      blend_cell(canvas, cell, row, x0, y0, x1, y1, 1, 1, 0, ink_of, layer);
  }
}

typedef struct Disparity {
  const RvPlane *plane;
  const RvInk *colors;
  int width, height; /* of the image, px */
  int low, high, opacity;
  uint32_t scale;
} Disparity;

/* Values in a plane of the frame's size, and in any other. */
ALWAYS_INLINE RvInk disparity_ink_at(const Disparity *d, int column, int row) {
  const int value =
      ((const uint16_t *)((const char *)d->plane->data + row * d->plane->stride))[column];
  if (value == 0)
    return (RvInk){{0, 0, 0}, 0};
  RvInk ink = d->colors[rv_ramp_index(value, d->low, d->high, d->scale)];
  ink.a = (uint8_t)d->opacity;
  return ink;
}

ALWAYS_INLINE RvInk disparity_ink(const void *layer, int x, int y) {
  return disparity_ink_at(layer, x, y);
}

ALWAYS_INLINE RvInk scaled_disparity_ink(const void *layer, int x, int y) {
  const Disparity *d = layer;
  return disparity_ink_at(d, rv_nearest(x, d->plane->width, d->width),
                          rv_nearest(y, d->plane->height, d->height));
}

static RvStatus disparity(void *work, const RvDrawJob *job) {
  const RvDrawWork *tables = work;
  const RvCanvas *canvas = &job->canvas;
  const RvPlane *plane = job->plane;
  const RvDrawScale *scale = &job->scale;
  const int width = canvas->width, height = canvas->height;
  const Disparity layer = {.plane = plane,
                           .colors = tables->colors,
                           .width = width,
                           .height = height,
                           .low = scale->low,
                           .high = scale->high,
                           .opacity = scale->opacity,
                           .scale = rv_ramp_scale(scale->low, scale->high)};
  const int same_size = plane->width == width && plane->height == height;
  const int threads = rv_threads(job->threads), rows = rv_div_up(height, canvas->cell_y);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int row = 0; row < rows; row++) {
    const RvPlane own_plane = *plane;
    Disparity own = layer;
    own.plane = &own_plane;
    if (same_size)
      blend_row(canvas, row, 0, 0, width, height, disparity_ink, &own);
    else
      blend_row(canvas, row, 0, 0, width, height, scaled_disparity_ink, &own);
  }
  return RV_OK;
}

/* Byte of the plane for pixel x, y of an image of that size. */
ALWAYS_INLINE int byte_at(const RvPlane *plane, int x, int y, int width, int height) {
  const int row = rv_nearest(y, plane->height, height);
  const int column = rv_nearest(x, plane->width, width);
  return ((const uint8_t *)plane->data)[row * plane->stride + column];
}

typedef struct Mask {
  const RvPlane *plane;
  RvInk ink;
  int width, height; /* of the image, px */
} Mask;

ALWAYS_INLINE RvInk mask_ink(const void *layer, int x, int y) {
  const Mask *m = layer;
  RvInk ink = m->ink;
  if (byte_at(m->plane, x, y, m->width, m->height) == 0)
    ink.a = 0;
  return ink;
}

static RvStatus mask(void *work, const RvDrawJob *job) {
  (void)work;
  const RvCanvas *canvas = &job->canvas;
  const RvPlane *plane = job->plane;
  const Mask layer = {plane, job->ink, canvas->width, canvas->height};
  const int threads = rv_threads(job->threads), rows = rv_div_up(canvas->height, canvas->cell_y);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int row = 0; row < rows; row++) {
    const RvPlane own_plane = *plane;
    Mask own = layer;
    own.plane = &own_plane;
    blend_row(canvas, row, 0, 0, canvas->width, canvas->height, mask_ink, &own);
  }
  return RV_OK;
}

typedef struct Labels {
  const RvPlane *plane;
  const RvLabelInks *inks;
  int width, height; /* of the image, px */
} Labels;

ALWAYS_INLINE RvInk label_ink(const void *layer, int x, int y) {
  const Labels *l = layer;
  const int label = byte_at(l->plane, x, y, l->width, l->height);
  return l->inks->of[label <= RV_DRAW_LABELS ? label : 0];
}

static RvStatus labels(void *work, const RvDrawJob *job) {
  (void)work;
  const RvCanvas *canvas = &job->canvas;
  const Labels layer = {job->plane, job->inks, canvas->width, canvas->height};
  const int threads = rv_threads(job->threads), rows = rv_div_up(canvas->height, canvas->cell_y);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int row = 0; row < rows; row++)
    blend_row(canvas, row, 0, 0, canvas->width, canvas->height, label_ink, &layer);
  return RV_OK;
}

ALWAYS_INLINE RvInk grid_ink(const void *layer, int x, int y) {
  return rv_grid_ink(layer, x, y);
}

static RvStatus grid(void *work, const RvDrawJob *job) {
  (void)work;
  const RvGrid *shared = job->grid;
  const RvCanvas *canvas = &job->canvas;
  const int threads = rv_threads(job->threads), rows = rv_div_up(canvas->height, canvas->cell_y);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int row = 0; row < rows; row++) {
    const RvGrid own = *shared;
    blend_row(canvas, row, 0, 0, canvas->width, canvas->height, grid_ink, &own);
  }
  return RV_OK;
}

typedef struct ShapeLayer {
  const RvShape *shape;
  const RvInk *colors;
  const uint8_t *field;
} ShapeLayer;

static RvInk shape_ink(const void *layer, int x, int y) {
  const ShapeLayer *l = layer;
  return rv_shape_ink(l->shape, l->colors, l->field, x, y);
}

/* Columns of the rows y0..y1 - 1 in which a quadrilateral can cover anything: for each edge
 * a X + k >= 0, with k at the row that lies deepest inside, and half a pixel to spare. */
static void quad_span(const RvShape *s, int y0, int y1, int *from, int *to) {
  *from = s->x0;
  *to = s->x1;
  for (int i = 0; i < 4; i++) {
    const int a = s->as.quad.a[i], b = s->as.quad.b[i];
    const int row = 2 * ((b > 0 ? y1 - 1 : y0) - s->y0) + 1;
    const int k = b * row + s->as.quad.c[i] + RV_EDGE_HALF;
    if (a > 0)
      *from = rv_max(*from, s->x0 + rv_div_floor(-k, a) / 2 - 1);
    else if (a < 0)
      *to = rv_min(*to, s->x0 + rv_div_floor(k, -a) / 2 + 2);
    else if (k < 0)
      *to = *from;
  }
}

static void shapes_of_band(const RvDrawWork *tables, const RvDrawJob *job, int first, int last) {
  const RvCanvas *canvas = &job->canvas;
  for (int i = 0; i < job->count; i++) {
    const RvShape *s = &job->shapes[i];
    const ShapeLayer layer = {s, tables->colors, tables->field};
    const int top = rv_max(first, s->y0 / canvas->cell_y);
    const int bottom = rv_min(last, (s->y1 - 1) / canvas->cell_y);
    for (int row = top; row <= bottom; row++) {
      int from = s->x0, to = s->x1;
      if (s->kind == RV_SHAPE_QUAD)
        quad_span(s, row * canvas->cell_y, (row + 1) * canvas->cell_y, &from, &to);
      if (from < to)
        blend_row(canvas, row, from, s->y0, to, s->y1, shape_ink, &layer);
    }
  }
}

static RvStatus shapes(void *work, const RvDrawJob *job) {
  const RvShape *list = job->shapes;
  int64_t area = 0;
  for (int i = 0; i < job->count; i++)
    area += (int64_t)(list[i].x1 - list[i].x0) * (list[i].y1 - list[i].y0);
  const int threads = area < PARALLEL_PIXELS ? 1 : rv_threads(job->threads);
  const int rows = rv_div_up(job->canvas.height, job->canvas.cell_y);
  const int bands = rv_div_up(rows, BAND_CELLS);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int band = 0; band < bands; band++)
    shapes_of_band(work, job, band * BAND_CELLS, rv_min((band + 1) * BAND_CELLS, rows) - 1);
  return RV_OK;
}

RV_ENGINE(RvDraw, draw, cpu, RvDrawWork, rv_draw_layout, NULL, NULL, .disparity = disparity,
          .mask = mask, .labels = labels, .grid = grid, .shapes = shapes);
