/* SPDX-License-Identifier: MIT */
/* draw_cuda.cu: one thread per cell. Overlays cover the frame; shapes are kernel arguments, a
 * chunk at a time, over the box that holds the chunk. */
#include "draw/draw_stages.h"
#include "rv_cuda.cuh"

static const int BLOCK_X = 32, BLOCK_Y = 8; /* cells */

/* What the inks of a cell's pixels make of the cell. CX x CY pixels; `x1`, `y1` end the picture. */
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
      ink[j][i] = layer(x, y);
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

namespace {
/* A plane of any size, spread over the frame. */
template <typename T> struct Spread {
  const T *values;
  ptrdiff_t stride; /* values */
  int columns, rows;
  int width, height; /* of the picture, px */

  Spread(const RvPlane &plane, const RvCanvas &canvas)
      : values((const T *)plane.data), stride(plane.stride / (ptrdiff_t)sizeof(T)),
        columns(plane.width), rows(plane.height), width(canvas.width), height(canvas.height) {}

  __device__ int at(int x, int y) const {
    return values[rv_nearest(y, rows, height) * stride + rv_nearest(x, columns, width)];
  }
};

struct DisparityLayer {
  Spread<uint16_t> plane;
  const RvInk *colors;
  int low, high, opacity;
  uint32_t scale;

  __device__ RvInk operator()(int x, int y) const {
    const int value = plane.at(x, y);
    RvInk ink = colors[rv_ramp_index(value, low, high, scale)];
    ink.a = (uint8_t)(value ? opacity : 0);
    return ink;
  }
};

struct MaskLayer {
  Spread<uint8_t> plane;
  RvInk color;

  __device__ RvInk operator()(int x, int y) const {
    RvInk ink = color;
    if (plane.at(x, y) == 0)
      ink.a = 0;
    return ink;
  }
};

struct LabelLayer {
  Spread<uint8_t> plane;
  RvLabelInks inks;

  __device__ RvInk operator()(int x, int y) const {
    const int label = plane.at(x, y);
    return inks.of[label <= RV_DRAW_LABELS ? label : 0];
  }
};

struct GridLayer {
  RvGrid grid;

  __device__ RvInk operator()(int x, int y) const { return rv_grid_ink(&grid, x, y); }
};

struct ShapeLayer {
  const RvShape &shape;
  const RvInk *colors;
  const uint8_t *field;

  __device__ RvInk operator()(int x, int y) const {
    if (x >= shape.x0 && x < shape.x1 && y >= shape.y0 && y < shape.y1)
      return rv_shape_ink(&shape, colors, field, x, y);
    RvInk none = {{0, 0, 0}, 0};
    return none;
  }
};
} // namespace

template <int CX, int CY, typename Layer>
__global__ void layer_kernel(const RvCanvas canvas, const __grid_constant__ Layer layer) {
  const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (cell * CX < canvas.width && row * CY < canvas.height)
    blend_cell<CX, CY>(canvas, cell, row, layer);
}

/* As many shapes as fit into 4 KiB of arguments, which every driver takes. */
static const int CHUNK = 80;
static const int CHUNK_WORDS = (CHUNK + 31) / 32;

namespace {
struct Chunk {
  RvCanvas canvas;
  const RvInk *colors;
  const uint8_t *field;
  int first_cell, first_row; /* cells: corner of the box that holds the chunk */
  int count;
  RvShape shapes[CHUNK];
};
} // namespace
static_assert(sizeof(Chunk) <= 4096, "kernel arguments are limited to 4 KiB");

/* The block first finds the shapes that touch it, then each thread takes them in order. */
template <int CX, int CY> __global__ void shapes_kernel(const __grid_constant__ Chunk chunk) {
  __shared__ uint32_t touching[CHUNK_WORDS];
  const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
  const int left = (chunk.first_cell + (int)(blockIdx.x * blockDim.x)) * CX;
  const int top = (chunk.first_row + (int)(blockIdx.y * blockDim.y)) * CY;
  if (thread < CHUNK_WORDS)
    touching[thread] = 0;
  __syncthreads();
  if (thread < chunk.count) {
    const RvShape &s = chunk.shapes[thread];
    const int right = left + (int)blockDim.x * CX, bottom = top + (int)blockDim.y * CY;
    if (s.x0 < right && s.x1 > left && s.y0 < bottom && s.y1 > top &&
        (s.kind != RV_SHAPE_QUAD || rv_quad_reaches(&s, left, top, right, bottom)))
      atomicOr(&touching[thread / 32], 1u << (thread % 32));
  }
  __syncthreads();
  const int cell = left / CX + (int)threadIdx.x, row = top / CY + (int)threadIdx.y;
  if (cell * CX >= chunk.canvas.width || row * CY >= chunk.canvas.height)
    return;
  for (int word = 0; word < CHUNK_WORDS; word++) {
    for (uint32_t bits = touching[word]; bits; bits &= bits - 1) {
      const ShapeLayer layer = {chunk.shapes[32 * word + __ffs((int)bits) - 1], chunk.colors,
                                chunk.field};
      blend_cell<CX, CY>(chunk.canvas, cell, row, layer);
    }
  }
}

static dim3 grid_of(int cells, int rows) {
  return dim3((unsigned)rv_div_up(cells, BLOCK_X), (unsigned)rv_div_up(rows, BLOCK_Y));
}

template <typename Layer> static RvStatus launch_layer(const RvDrawJob *job, const Layer &layer) {
  const RvCanvas &canvas = job->canvas;
  const dim3 block(BLOCK_X, BLOCK_Y);
  const dim3 grid =
      grid_of(rv_div_up(canvas.width, canvas.cell_x), rv_div_up(canvas.height, canvas.cell_y));
  if (canvas.cell_y == 2)
    layer_kernel<2, 2><<<grid, block, 0, job->stream>>>(canvas, layer);
  else if (canvas.cell_x == 2)
    layer_kernel<2, 1><<<grid, block, 0, job->stream>>>(canvas, layer);
  else
    layer_kernel<1, 1><<<grid, block, 0, job->stream>>>(canvas, layer);
  RV_LAUNCHED(job->log);
  return RV_OK;
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
  return launch_layer(job, layer);
}

static RvStatus launch_chunk(const RvDrawWork *tables, const RvDrawJob *job, const RvShape *shapes,
                             int count) {
  const RvCanvas &canvas = job->canvas;
  Chunk chunk;
  chunk.canvas = canvas;
  chunk.colors = tables->colors;
  chunk.field = tables->field;
  chunk.count = count;
  int x0 = canvas.width, y0 = canvas.height, x1 = 0, y1 = 0;
  for (int i = 0; i < count; i++) {
    chunk.shapes[i] = shapes[i];
    x0 = rv_min(x0, shapes[i].x0);
    y0 = rv_min(y0, shapes[i].y0);
    x1 = rv_max(x1, shapes[i].x1);
    y1 = rv_max(y1, shapes[i].y1);
  }
  chunk.first_cell = x0 / canvas.cell_x;
  chunk.first_row = y0 / canvas.cell_y;
  const dim3 block(BLOCK_X, BLOCK_Y);
  const dim3 grid = grid_of(rv_div_up(x1, canvas.cell_x) - chunk.first_cell,
                            rv_div_up(y1, canvas.cell_y) - chunk.first_row);
  if (canvas.cell_y == 2)
    shapes_kernel<2, 2><<<grid, block, 0, job->stream>>>(chunk);
  else if (canvas.cell_x == 2)
    shapes_kernel<2, 1><<<grid, block, 0, job->stream>>>(chunk);
  else
    shapes_kernel<1, 1><<<grid, block, 0, job->stream>>>(chunk);
  RV_LAUNCHED(job->log);
  return RV_OK;
}

static RvStatus shapes(void *work, const RvDrawJob *job) {
  const RvDrawWork *tables = (const RvDrawWork *)work;
  for (int i = 0; i < job->count; i += CHUNK)
    RV_TRY(launch_chunk(tables, job, job->shapes + i, rv_min(CHUNK, job->count - i)));
  return RV_OK;
}

RV_ENGINE(RvDraw, draw, cuda, RvDrawWork, rv_draw_layout, NULL, NULL, disparity, mask, labels, grid,
          shapes);
