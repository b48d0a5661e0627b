/* SPDX-License-Identifier: MIT */
/* convert_cpu.c: rows are copied; gray and colors are vectorized loops per row; rows are distributed to
 * threads. */
#include "convert/convert_stages.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Below this many bytes a parallel region costs more than it gives. */
#define PARALLEL_BYTES (256 * 1024)

static int team(const RvConvertJob *job, size_t bytes) {
  return bytes < PARALLEL_BYTES ? 1 : rv_threads(job->threads);
}

static RvStatus rows(const RvConvertJob *job, void *to, ptrdiff_t to_stride, const void *from,
                     ptrdiff_t from_stride, size_t bytes, int count) {
  const int threads = team(job, bytes * (size_t)count);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int y = 0; y < count; y++)
    memcpy((char *)to + y * to_stride, (const char *)from + y * from_stride, bytes);
  return RV_OK;
}

static RvStatus fill(const RvConvertJob *job, void *to, ptrdiff_t to_stride, int byte, size_t bytes,
                     int count) {
  (void)job;
  for (int y = 0; y < count; y++)
    memset((char *)to + y * to_stride, byte, bytes);
  return RV_OK;
}

RV_ROW_LOOP static void luma_row(uint8_t *restrict to, const uint8_t *restrict from, int width) {
#pragma omp simd
  for (int x = 0; x < width; x++)
    to[x] = from[2 * x];
}

/* Samples of 16 bits at any address. */
typedef uint16_t HalfWord __attribute__((aligned(1), may_alias));

RV_ROW_LOOP static void gray16_row(uint8_t *restrict to, const uint8_t *restrict from, int width,
                                   int shift) {
  const HalfWord *samples = (const HalfWord *)from;
#pragma omp simd
  for (int x = 0; x < width; x++)
    to[x] = (uint8_t)rv_gray16(samples[x], shift);
}

ALWAYS_INLINE void gray_pixels(uint8_t *restrict to, const uint8_t *restrict from, int width,
                               int step, int red, int blue) {
#pragma omp simd
  for (int x = 0; x < width; x++)
    to[x] = (uint8_t)rv_gray(from[step * x + red], from[step * x + 1], from[step * x + blue]);
}

/* Pixels of 4 or 3 bytes, blue first or red first. */
#define RGB_ROW(name, step, red, blue)                                                             \
  RV_ROW_LOOP static void name(uint8_t *to, const uint8_t *from, int width) {                      \
    gray_pixels(to, from, width, step, red, blue);                                                 \
  }
RGB_ROW(bgrx_row, 4, 2, 0)
RGB_ROW(rgbx_row, 4, 0, 2)
RGB_ROW(bgr_row, 3, 2, 0)
RGB_ROW(rgb_row, 3, 0, 2)

static RvStatus gray(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                     const RvPlane *out) {
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  const int blue_first = layout->offset_of[2] < layout->offset_of[0];
  const uint8_t *base = (const uint8_t *)picture->data[0] + x * layout->step;
  if (layout->kind == RV_KIND_PACKED)
    base += layout->offset_of[0];
  if (layout->kind == RV_KIND_RGB)
    base += layout->offset_of[blue_first ? 2 : 0];

  const int threads = team(job, (size_t)out->width * (size_t)out->height);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int r = 0; r < out->height; r++) {
    const uint8_t *from = base + (y + r) * picture->stride[0];
    uint8_t *to = (uint8_t *)out->data + r * out->stride;
    if (layout->wide)
      gray16_row(to, from, out->width, layout->shift);
    else if (layout->kind == RV_KIND_PACKED)
      luma_row(to, from, out->width);
    else if (layout->step == 4)
      (blue_first ? bgrx_row : rgbx_row)(to, from, out->width);
    else
      (blue_first ? bgr_row : rgb_row)(to, from, out->width);
  }
  return RV_OK;
}

/* Pair c of the output: luma of columns x + 2 c and the next, chroma of the pair that holds the
 * first of them. */
static void repack_row(uint8_t *to, const uint8_t *from, int x, int width,
                       const RvPixelLayout *layout) {
  const int luma = layout->offset_of[0];
  for (int c = 0; 2 * c < width; c++) {
    const int second = rv_min(2 * c + 1, width - 1);
    const uint8_t *pair = from + (x + 2 * c) / 2 * RV_PACKED_PAIR;
    uint8_t *out = to + c * RV_PACKED_PAIR;
    out[luma] = from[2 * (x + 2 * c) + luma];
    out[luma + 2] = from[2 * (x + second) + luma];
    out[layout->offset_of[1]] = pair[layout->offset_of[1]];
    out[layout->offset_of[2]] = pair[layout->offset_of[2]];
  }
}

static RvStatus repack(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                       const RvPicture *out) {
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  const int threads = team(job, 2 * (size_t)out->width * (size_t)out->height);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int r = 0; r < out->height; r++)
    repack_row((uint8_t *)out->data[0] + r * out->stride[0],
               (const uint8_t *)picture->data[0] + (y + r) * picture->stride[0], x, out->width,
               layout);
  return RV_OK;
}

/* Two pixels share a chroma sample; written once, compiled for the steps of each layout. */
ALWAYS_INLINE void yuv_cells(uint32_t *restrict to, const uint8_t *restrict y,
                             const uint8_t *restrict u, const uint8_t *restrict v, int cells,
                             int step, int chroma_step, RvConvertMatrix matrix) {
#pragma omp simd
  for (int c = 0; c < cells; c++) {
    const int cb = u[c * chroma_step], cr = v[c * chroma_step];
    to[2 * c] = rv_convert_yuv(&matrix, y[2 * c * step], cb, cr);
    to[2 * c + 1] = rv_convert_yuv(&matrix, y[(2 * c + 1) * step], cb, cr);
  }
}

RV_ROW_LOOP static void nv12_cells(uint32_t *to, const uint8_t *y, const uint8_t *u,
                                   const uint8_t *v, int cells, RvConvertMatrix matrix) {
  yuv_cells(to, y, u, v, cells, 1, 2, matrix);
}

RV_ROW_LOOP static void i420_cells(uint32_t *to, const uint8_t *y, const uint8_t *u,
                                   const uint8_t *v, int cells, RvConvertMatrix matrix) {
  yuv_cells(to, y, u, v, cells, 1, 1, matrix);
}

RV_ROW_LOOP static void packed_cells(uint32_t *to, const uint8_t *y, const uint8_t *u,
                                     const uint8_t *v, int cells, RvConvertMatrix matrix) {
  yuv_cells(to, y, u, v, cells, 2, 4, matrix);
}

ALWAYS_INLINE void rgb_pixels(uint32_t *restrict to, const uint8_t *restrict r,
                              const uint8_t *restrict g, const uint8_t *restrict b, int width,
                              int step) {
#pragma omp simd
  for (int x = 0; x < width; x++)
    to[x] = rv_convert_pack(r[x * step], g[x * step], b[x * step]);
}

RV_ROW_LOOP static void rgb4_row(uint32_t *to, const uint8_t *r, const uint8_t *g, const uint8_t *b,
                                 int width) {
  rgb_pixels(to, r, g, b, width, 4);
}

RV_ROW_LOOP static void rgb3_row(uint32_t *to, const uint8_t *r, const uint8_t *g, const uint8_t *b,
                                 int width) {
  rgb_pixels(to, r, g, b, width, 3);
}

RV_ROW_LOOP static void gray_row(uint32_t *to, const uint8_t *gray, int width) {
  rgb_pixels(to, gray, gray, gray, width, 1);
}

static void color_row(const RvConvertSource *s, uint32_t *to, int y, int width) {
  const uint8_t *from[3] = {s->data[0] + y * s->stride[0], NULL, NULL};
  if (s->is_gray) {
    gray_row(to, from[0], width);
    return;
  }
  for (int c = 1; c < 3; c++)
    from[c] = s->data[c] + (s->cell_y == 2 ? y >> 1 : y) * s->stride[c];
  if (!s->is_yuv) {
    (s->step[0] == 4 ? rgb4_row : rgb3_row)(to, from[0], from[1], from[2], width);
    return;
  }
  (s->step[1] == 4   ? packed_cells
   : s->step[1] == 2 ? nv12_cells
                     : i420_cells)(to, from[0], from[1], from[2], width / 2, s->matrix);
  if (width % 2)
    to[width - 1] = rv_convert_color_at(s, width - 1, y);
}

static RvStatus color(const RvConvertJob *job, const RvConvertSource *source, const RvPlane *out) {
  const int threads = team(job, 4 * (size_t)out->width * (size_t)out->height);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int y = 0; y < out->height; y++)
    color_row(source, (uint32_t *)((char *)out->data + y * out->stride), y, out->width);
  return RV_OK;
}

const RvConvertStages rv_convert_stages_cpu = {rows, fill, gray, repack, color};
