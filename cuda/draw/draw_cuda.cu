/* SPDX-License-Identifier: MIT */
/* draw_cuda.cu: the CUDA engine of drawing: its memory, and overlays, which cover the frame: a thread
 * per cell, or per four pixels of a row. */
#include "draw/draw_cuda.cuh"

static const int BLOCK_X = 32, BLOCK_Y = 8; /* cells */

namespace {
/* A plane of any size, spread over the frame. */
template <typename T> struct Spread {
  const T *values;
  ptrdiff_t stride; /* values */
  int columns, rows;
  int width, height; /* of the image, px */
  int has_quads;     /* of the image's size, and four values can be read at once */

  Spread(const RvPlane &plane, const RvCanvas &canvas)
      : values((const T *)plane.data), stride(plane.stride / (ptrdiff_t)sizeof(T)),
        columns(plane.width), rows(plane.height), width(canvas.width), height(canvas.height),
        has_quads(columns == width && rows == height &&
                  ((uintptr_t)plane.data | (uintptr_t)plane.stride) % (4 * sizeof(T)) == 0) {}

  __device__ int at(int x, int y) const {
    return values[rv_nearest(y, rows, height) * stride + rv_nearest(x, columns, width)];
  }

  /* Of four pixels; x is a multiple of 4. */
  __device__ void quad(int x, int y, int *of) const {
    if (has_quads && sizeof(T) == 2) {
      const uint2 v = *(const uint2 *)(values + y * stride + x);
      of[0] = v.x & 0xffff, of[1] = v.x >> 16, of[2] = v.y & 0xffff, of[3] = v.y >> 16;
    } else if (has_quads) {
      const uint32_t v = *(const uint32_t *)(values + y * stride + x);
      of[0] = v & 255, of[1] = v >> 8 & 255, of[2] = v >> 16 & 255, of[3] = v >> 24;
    } else {
      for (int i = 0; i < 4; i++)
        of[i] = at(x + i, y);
    }
  }
};

struct DisparityLayer {
  Spread<uint16_t> plane;
  const RvInk *colors;
  int low, high, opacity;
  uint32_t scale;

  __device__ RvInk of(int value) const {
    RvInk ink = colors[rv_ramp_index(value, low, high, scale)];
    ink.a = (uint8_t)(value ? opacity : 0);
    return ink;
  }
};

struct MaskLayer {
  Spread<uint8_t> plane;
  RvInk color;

  __device__ RvInk of(int value) const {
    RvInk ink = color;
    if (value == 0)
      ink.a = 0;
    return ink;
  }
};

struct LabelLayer {
  Spread<uint8_t> plane;
  RvLabelInks inks;

  __device__ RvInk of(int label) const { return inks.of[label <= RV_DRAW_LABELS ? label : 0]; }
};

template <typename Layer>
__device__ __forceinline__ RvInk ink_at(const Layer &layer, int x, int y) {
  return layer.of(layer.plane.at(x, y));
}

/* Of four pixels; x is a multiple of 4. */
template <typename Layer>
__device__ __forceinline__ void inks_at(const Layer &layer, int x, int y, RvInk *inks) {
  int values[4];
  layer.plane.quad(x, y, values);
#pragma unroll
  for (int i = 0; i < 4; i++)
    inks[i] = layer.of(values[i]);
}

struct GridLayer {
  RvGrid grid;
};

__device__ __forceinline__ RvInk ink_at(const GridLayer &layer, int x, int y) {
  return rv_grid_ink(&layer.grid, x, y);
}

} // namespace

/* What the inks of a cell's pixels make of the cell. CX x CY pixels; `x1`, `y1` end the image. */
template <int CX, int CY, typename Layer>
__device__ void blend_cell(const RvCanvas &canvas, int cell, int row, const Layer &layer) {
  RvInk ink[CY][CX];
  int pixels = 0, changed = 0;
#pragma unroll
  for (int j = 0; j < CY; j++) {
#pragma unroll
    for (int i = 0; i < CX; i++) {
      const int x = cell * CX + i, y = row * CY + j;
      ink[j][i].a = 0;
      ink[j][i].c[0] = ink[j][i].c[1] = ink[j][i].c[2] = 0;
      if (x >= canvas.width || y >= canvas.height)
        continue;
      pixels++;
      ink[j][i] = ink_at(layer, x, y);
      changed |= ink[j][i].a;
    }
  }
  if (!changed)
    return;
#pragma unroll
  for (int j = 0; j < CY; j++) {
#pragma unroll
    for (int i = 0; i < CX; i++) {
      const int a = ink[j][i].a;
      if (a == 0)
        continue;
      const ptrdiff_t at =
          (row * CY + j) * canvas.stride[0] + (ptrdiff_t)(cell * CX + i) * canvas.step[0];
      canvas.channel[0][at] = (uint8_t)rv_blend(canvas.channel[0][at], ink[j][i].c[0], a);
      if (canvas.alpha)
        canvas.alpha[at] = (uint8_t)rv_blend(canvas.alpha[at], 255, a);
    }
  }
  if (!canvas.color)
    return;
  const ptrdiff_t at = row * canvas.stride[1] + (ptrdiff_t)cell * canvas.step[1];
#pragma unroll
  for (int c = 1; c < 3; c++) {
    const int old = canvas.channel[c][at];
    int sum = old * 255 * (pixels - CX * CY); /* pixels beyond the border have opacity 0 below */
#pragma unroll
    for (int j = 0; j < CY; j++)
#pragma unroll
      for (int i = 0; i < CX; i++)
        sum += rv_blend_255(old, ink[j][i].c[c], ink[j][i].a);
    canvas.channel[c][at] = (uint8_t)rv_blend_mean(sum, pixels);
  }
}

template <int CX, int CY, typename Layer>
__global__ void layer_kernel(const RvCanvas canvas, const __grid_constant__ Layer layer) {
  const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (cell * CX < canvas.width && row * CY < canvas.height)
    blend_cell<CX, CY>(canvas, cell, row, layer);
}

/* Two cells of 2x2 px next to each other, with luma in words. */
template <typename Layer>
__device__ __forceinline__ void blend_planar(const RvCanvas &canvas, int x, int row,
                                             const Layer &layer) {
  uint32_t *to[2];
  uint32_t luma[2], any = 0;
  int chroma[2][2];
  RvInk ink[2][4];
  const ptrdiff_t at = row * canvas.stride[1] + (ptrdiff_t)(x / 2) * canvas.step[1];
#pragma unroll
  for (int j = 0; j < 2; j++) {
    to[j] = (uint32_t *)(canvas.channel[0] + (2 * row + j) * canvas.stride[0] + x);
    luma[j] = *to[j];
    for (int c = 0; c < 2; c++)
      chroma[c][j] = canvas.channel[c + 1][at + j * canvas.step[1]];
    inks_at(layer, x, 2 * row + j, ink[j]);
  }
#pragma unroll
  for (int j = 0; j < 2; j++) {
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      word |= (uint32_t)rv_blend(luma[j] >> 8 * i & 255, ink[j][i].c[0], ink[j][i].a) << 8 * i;
      any |= ink[j][i].a;
    }
    if (word != luma[j])
      *to[j] = word;
  }
  if (!any)
    return;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int c = 0; c < 2; c++) {
      int sum = 0;
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const RvInk &of = ink[k / 2][2 * i + k % 2];
        sum += rv_blend_255(chroma[c][i], of.c[c + 1], of.a);
      }
      canvas.channel[c + 1][at + i * canvas.step[1]] = (uint8_t)rv_blend_mean(sum, 4);
    }
}

/* Four pixels of four bytes. */
template <typename Layer>
__device__ __forceinline__ void blend_packed(const RvCanvas &canvas, int x, int y,
                                             const Layer &layer) {
  uint8_t *lowest = canvas.channel[0];
  for (int c = 1; c < 3; c++)
    lowest = canvas.channel[c] < lowest ? canvas.channel[c] : lowest;
  lowest -= (uintptr_t)lowest % 4;
  uint4 *to = (uint4 *)(lowest + y * canvas.stride[0] + (ptrdiff_t)4 * x);
  const uint4 old = *to;
  const uint32_t words[4] = {old.x, old.y, old.z, old.w};
  uint32_t result[4], changed = 0;
  RvInk ink[4];
  inks_at(layer, x, y, ink);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    result[i] = words[i];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const uint8_t *channel = c < 3 ? canvas.channel[c] : canvas.alpha;
      const int shift = 8 * (int)(channel - lowest), color = c < 3 ? ink[i].c[c] : 255;
      if (channel) {
        const uint32_t value = rv_blend(words[i] >> shift & 255, color, ink[i].a);
        result[i] = (result[i] & ~(255u << shift)) | value << shift;
      }
    }
    changed |= result[i] ^ words[i];
  }
  if (changed)
    *to = make_uint4(result[0], result[1], result[2], result[3]);
}

/* Pixels of a thread: a word of luma in two rows, or four of four bytes. Cells at the border that
 * are not whole are done one by one. */
template <bool PLANAR, typename Layer>
__global__ void quad_kernel(const RvCanvas canvas, const __grid_constant__ Layer layer) {
  const int x = 4 * (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int rows = PLANAR ? 2 : 1;
  if (x >= canvas.width || row * rows >= canvas.height)
    return;
  if (x + 4 <= canvas.width && (row + 1) * rows <= canvas.height) {
    if (PLANAR)
      blend_planar(canvas, x, row, layer);
    else
      blend_packed(canvas, x, row, layer);
    return;
  }
  for (int i = x / rows; i < (x + 4) / rows && i * rows < canvas.width; i++)
    blend_cell<rows, rows>(canvas, i, row, layer);
}

/* --- Launch ---------------------------------------------------------------------------------- */

/* 1: as blend_planar() has it, 2: blend_packed(), 0: neither. */
static int quads_of(const RvCanvas &c) {
  const uintptr_t at = (uintptr_t)c.channel[0] | (uintptr_t)c.stride[0];
  if (c.cell_y == 2)
    return c.color && !c.alpha && c.step[0] == 1 && at % 4 == 0;
  const uintptr_t first = (uintptr_t)c.channel[0] & ~(uintptr_t)3;
  return c.cell_x == 1 && c.color && c.step[0] == 4 && c.step[1] == 4 &&
                 c.stride[0] == c.stride[1] && first % 16 == 0 && c.stride[0] % 16 == 0
             ? 2
             : 0;
}

template <typename Layer>
static RvStatus launch(const RvDrawJob *job, const Layer &layer, void (*kernel)(RvCanvas, Layer),
                       int across) {
  const RvCanvas &canvas = job->canvas;
  const dim3 grid((unsigned)rv_div_up(rv_div_up(canvas.width, across), BLOCK_X),
                  (unsigned)rv_div_up(rv_div_up(canvas.height, canvas.cell_y), BLOCK_Y));
  return rv_launch(job->log, kernel, grid, dim3(BLOCK_X, BLOCK_Y), 0, job->stream, false, canvas,
                   layer);
}

/* A thread for each cell. */
template <typename Layer> static RvStatus launch_cells(const RvDrawJob *job, const Layer &layer) {
  const RvCanvas &canvas = job->canvas;
  return launch(job, layer,
                canvas.cell_y == 2   ? layer_kernel<2, 2, Layer>
                : canvas.cell_x == 2 ? layer_kernel<2, 1, Layer>
                                     : layer_kernel<1, 1, Layer>,
                canvas.cell_x);
}

/* Four bytes a pixel: a plane of another size takes as long as a pixel takes. */
template <typename Layer> static RvStatus launch_layer(const RvDrawJob *job, const Layer &layer) {
  const int quads = quads_of(job->canvas);
  return quads == 1                            ? launch(job, layer, quad_kernel<true, Layer>, 4)
         : quads == 2 && layer.plane.has_quads ? launch(job, layer, quad_kernel<false, Layer>, 4)
                                               : launch_cells(job, layer);
}

static RvStatus disparity(void *work, const RvDrawJob *job) {
  const RvDrawWork *tables = (const RvDrawWork *)work;
  const RvDrawScale &scale = job->scale;
  const DisparityLayer layer = {
      {*job->plane, job->canvas},          tables->colors, scale.low, scale.high, scale.opacity,
      rv_ramp_scale(scale.low, scale.high)};
  return launch_layer(job, layer);
}

static RvStatus mask(void *, const RvDrawJob *job) {
  const MaskLayer layer = {{*job->plane, job->canvas}, job->ink};
  return launch_layer(job, layer);
}

static RvStatus labels(void *, const RvDrawJob *job) {
  const LabelLayer layer = {{*job->plane, job->canvas}, *job->inks};
  return launch_layer(job, layer);
}

static RvStatus grid(void *, const RvDrawJob *job) {
  const GridLayer layer = {*job->grid};
  return launch_cells(job, layer);
}

static void layout(void *memory, const void *plan, RvArena *arena) {
  DrawCuda *work = (DrawCuda *)memory;
  rv_draw_layout(&work->tables, plan, arena);
  work->list = (uint4 *)rv_arena_take(arena, RV_DRAW_SHAPES * sizeof(RvShape));
}

static RvStatus open(void *memory, const void *plan) {
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(&((const RvDrawPlan *)plan)->config.log, &device));
  ((DrawCuda *)memory)->overlaps = device.overlaps;
  return RV_OK;
}

RV_ENGINE(RvDraw, draw, cuda, DrawCuda, layout, open, NULL, disparity, mask, labels, grid,
          draw_cuda_shapes);
