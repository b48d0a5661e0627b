/* SPDX-License-Identifier: MIT */
/* draw_cuda.cu: overlays cover the frame, one thread per cell. Shapes come as kernel arguments
 * and are listed in device memory; then each pixel of the box that holds them is read once, goes
 * through the shapes that touch its warp in a register, and is written once. */
#include "draw/draw_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"

static const int BLOCK_X = 32, BLOCK_Y = 8; /* cells */

namespace {
struct DrawCuda {
  RvDrawWork tables; /* of both engines */
  uint4 *list;       /* of RvShape */
  int overlaps;      /* kernels may start before the preceding one ends */
};
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
  int width, height; /* of the image, px */

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

} // namespace

template <int CX, int CY, typename Layer>
__global__ void layer_kernel(const RvCanvas canvas, const __grid_constant__ Layer layer) {
  const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (cell * CX < canvas.width && row * CY < canvas.height)
    blend_cell<CX, CY>(canvas, cell, row, layer);
}

/* --- Shapes --------------------------------------------------------------------------------------
 */

/* As many shapes as fit into 4 KiB of arguments, which every driver takes. */
static const int CHUNK = 80;

/* A block has TILE_X x TILE_Y px, a thread one of them, a warp WARP_X x WARP_Y: the pixels of a
 * cell are in one warp. */
static const int TILE_X = 16, TILE_Y = 16, WARP_X = 8, WARP_Y = 4, SHAPE_THREADS = 256;
static const int QUADS = 4; /* quadrilaterals that a thread computes together */

namespace {
struct alignas(16) Chunk {
  RvShape shapes[CHUNK];
};

struct Shapes {
  RvCanvas canvas;
  const RvInk *colors;
  const uint8_t *field;
  const uint4 *list; /* of RvShape */
  int count;
  int left, top; /* px: corner of the tiles */
};

struct Box {
  int x0, y0, x1, y1; /* px */
};

/* A pixel, and the chroma of its cell, which all threads of the cell keep. */
struct Pixel {
  int x, y;
  int pixels; /* of the cell, in the image; 0: none */
  bool is_inside;
  int luma, alpha, chroma[2];
};
} // namespace
static_assert(sizeof(Chunk) <= 4000, "kernel arguments are limited to 4 KiB");
static_assert(sizeof(RvShape) == 48, "a shape is copied in three pieces");
static_assert(TILE_X * TILE_Y == SHAPE_THREADS && WARP_X * WARP_Y == 32, "a thread for each pixel");

/* Shapes from the arguments to the list. */
static __global__ void upload_kernel(const __grid_constant__ Chunk chunk, uint4 *list, int pieces) {
  rv_launch_wait();
  rv_launch_next();
  if ((int)threadIdx.x < pieces)
    list[threadIdx.x] = reinterpret_cast<const uint4 *>(chunk.shapes)[threadIdx.x];
}

static __device__ __forceinline__ bool touches(const RvShape &s, const Box &box) {
  return s.x0 < box.x1 && s.x1 > box.x0 && s.y0 < box.y1 && s.y1 > box.y0 &&
         (s.kind != RV_SHAPE_QUAD || rv_quad_reaches(&s, box.x0, box.y0, box.x1, box.y1));
}

/* Of up to SHAPE_THREADS shapes those that touch the block, in order, into shared memory; returns
 * their number. */
static __device__ int gather(const Shapes &job, int first, const Box &block, RvShape *shapes) {
  __shared__ int warps[SHAPE_THREADS / 32];
  const int k = first + (int)threadIdx.x, warp = (int)threadIdx.x / 32;
  union {
    uint4 pieces[3];
    RvShape shape;
  } mine;
  bool is_here = false;
  if (k < job.count) {
    for (int i = 0; i < 3; i++)
      mine.pieces[i] = job.list[3 * k + i];
    is_here = touches(mine.shape, block);
  }
  const uint32_t here = __ballot_sync(RV_WARP, is_here);
  if (rv_lane() == 0)
    warps[warp] = __popc(here);
  __syncthreads();
  int at = __popc(here & ((1u << rv_lane()) - 1)), count = 0;
  for (int i = 0; i < SHAPE_THREADS / 32; i++) {
    at += i < warp ? warps[i] : 0;
    count += warps[i];
  }
  if (is_here)
    for (int i = 0; i < 3; i++)
      reinterpret_cast<uint4 *>(shapes)[3 * at + i] = mine.pieces[i];
  __syncthreads();
  return count;
}

template <int CX, int CY> static __device__ Pixel load_pixel(const RvCanvas &c, int x, int y) {
  Pixel p = {x, y, 0, x < c.width && y < c.height, 0, 0, {0, 0}};
  const int column = x / CX, row = y / CY;
  if (column * CX >= c.width || row * CY >= c.height)
    return p;
  p.pixels = rv_min(CX, c.width - column * CX) * rv_min(CY, c.height - row * CY);
  if (p.is_inside) {
    const ptrdiff_t at = y * c.stride[0] + (ptrdiff_t)x * c.step[0];
    p.luma = c.channel[0][at];
    p.alpha = c.alpha ? c.alpha[at] : 0;
  }
  if (c.color)
    for (int k = 0; k < 2; k++)
      p.chroma[k] = c.channel[k + 1][row * c.stride[1] + (ptrdiff_t)column * c.step[1]];
  return p;
}

template <int CX, int CY> static __device__ void store_pixel(const RvCanvas &c, const Pixel &p) {
  if (p.is_inside) {
    const ptrdiff_t at = p.y * c.stride[0] + (ptrdiff_t)p.x * c.step[0];
    c.channel[0][at] = (uint8_t)p.luma;
    if (c.alpha)
      c.alpha[at] = (uint8_t)p.alpha;
    if (c.color && p.x % CX == 0 && p.y % CY == 0)
      for (int k = 0; k < 2; k++)
        c.channel[k + 1][p.y / CY * c.stride[1] + (ptrdiff_t)(p.x / CX) * c.step[1]] =
            (uint8_t)p.chroma[k];
  }
}

/* By all lanes: what the inks of a cell's pixels make of it. */
template <int CX, int CY>
static __device__ __forceinline__ void blend_pixel(const RvCanvas &c, Pixel *p, const RvInk &ink) {
  p->luma = rv_blend(p->luma, ink.c[0], ink.a);
  p->alpha = rv_blend(p->alpha, 255, ink.a);
  if (!c.color)
    return;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    int sum = rv_blend_255(p->chroma[k], ink.c[k + 1], ink.a);
    if (CX == 2)
      sum += __shfl_xor_sync(RV_WARP, sum, 1);
    if (CY == 2)
      sum += __shfl_xor_sync(RV_WARP, sum, WARP_X);
    sum += p->chroma[k] * 255 * (p->pixels - CX * CY); /* pixels beyond the border */
    p->chroma[k] = rv_blend_mean(sum, p->pixels);
  }
}

static __device__ __forceinline__ bool is_in_box(const RvShape &s, const Pixel &p) {
  return p.is_inside && p.x >= s.x0 && p.x < s.x1 && p.y >= s.y0 && p.y < s.y1;
}

/* Shapes of shared memory that touch the warp, in order; COUNT quadrilaterals, or one of any kind.
 * Returns 1 when the pixel changed. */
template <int CX, int CY, int COUNT>
static __device__ __forceinline__ int draw_some(const Shapes &job, const RvShape *shapes,
                                                uint32_t *bits, Pixel *p) {
  RvInk ink[COUNT];
  int changed = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const RvShape &s = shapes[__ffs((int)*bits) - 1];
    *bits &= *bits - 1;
    ink[i] = s.ink;
    if (COUNT > 1)
      ink[i].a = (uint8_t)rv_cover_alpha(s.ink.a, rv_cover_quad(&s, p->x, p->y));
    else if (is_in_box(s, *p))
      ink[i] = rv_shape_ink(&s, job.colors, job.field, p->x, p->y);
    if (!is_in_box(s, *p))
      ink[i].a = 0;
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    changed |= ink[i].a;
    if (__any_sync(RV_WARP, ink[i].a))
      blend_pixel<CX, CY>(job.canvas, p, ink[i]);
  }
  return changed;
}

template <int CX, int CY>
static __global__ void __launch_bounds__(SHAPE_THREADS)
    shapes_kernel(const __grid_constant__ Shapes job) {
  __shared__ __align__(16) RvShape shapes[SHAPE_THREADS];
  rv_launch_wait();
  const int warp = (int)threadIdx.x / 32, lane = rv_lane();
  const Box block = {job.left + (int)blockIdx.x * TILE_X, job.top + (int)blockIdx.y * TILE_Y,
                     job.left + (int)blockIdx.x * TILE_X + TILE_X,
                     job.top + (int)blockIdx.y * TILE_Y + TILE_Y};
  const int x0 = block.x0 + warp % (TILE_X / WARP_X) * WARP_X;
  const int y0 = block.y0 + warp / (TILE_X / WARP_X) * WARP_Y;
  const Box box = {x0, y0, x0 + WARP_X, y0 + WARP_Y};
  Pixel pixel;
  bool is_loaded = false;
  int changed = 0;
  for (int first = 0; first < job.count; first += SHAPE_THREADS) {
    const int count = gather(job, first, block, shapes);
    for (int k = 0; k < count; k += 32) {
      const bool is_here = k + lane < count && touches(shapes[k + lane], box);
      uint32_t bits = __ballot_sync(RV_WARP, is_here);
      const uint32_t others =
          __ballot_sync(RV_WARP, is_here && shapes[k + lane].kind != RV_SHAPE_QUAD);
      if (bits && !is_loaded) {
        pixel = load_pixel<CX, CY>(job.canvas, x0 + lane % WARP_X, y0 + lane / WARP_X);
        is_loaded = true;
      }
      while (bits) { /* quadrilaterals before the next other shape */
        const uint32_t quads = bits & ((bits & others & -(bits & others)) - 1);
        if (__popc(quads) >= QUADS)
          changed |= draw_some<CX, CY, QUADS>(job, shapes + k, &bits, &pixel);
        else
          changed |= draw_some<CX, CY, 1>(job, shapes + k, &bits, &pixel);
      }
    }
    __syncthreads(); /* the shapes are read */
  }
  /* A cell is stored when one of its pixels changed. */
  if (CX == 2)
    changed |= __shfl_xor_sync(RV_WARP, changed, 1);
  if (CY == 2)
    changed |= __shfl_xor_sync(RV_WARP, changed, WARP_X);
  if (changed)
    store_pixel<CX, CY>(job.canvas, pixel);
}

static dim3 grid_of(int cells, int rows) {
  return dim3((unsigned)rv_div_up(cells, BLOCK_X), (unsigned)rv_div_up(rows, BLOCK_Y));
}

template <typename Layer> static RvStatus launch_layer(const RvDrawJob *job, const Layer &layer) {
  const RvCanvas &canvas = job->canvas;
  const dim3 block(BLOCK_X, BLOCK_Y);
  const dim3 grid =
      grid_of(rv_div_up(canvas.width, canvas.cell_x), rv_div_up(canvas.height, canvas.cell_y));
  const auto kernel = canvas.cell_y == 2   ? layer_kernel<2, 2, Layer>
                      : canvas.cell_x == 2 ? layer_kernel<2, 1, Layer>
                                           : layer_kernel<1, 1, Layer>;
  return rv_launch(job->log, kernel, grid, block, 0, job->stream, false, canvas, layer);
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

static RvStatus upload(const DrawCuda *work, const RvDrawJob *job) {
  for (int i = 0; i < job->count; i += CHUNK) {
    const int count = rv_min(CHUNK, job->count - i);
    Chunk chunk;
    for (int k = 0; k < count; k++)
      chunk.shapes[k] = job->shapes[i + k];
    RV_TRY(rv_launch(job->log, upload_kernel, dim3(1), dim3(3 * CHUNK), 0, job->stream,
                     i > 0 && work->overlaps, chunk, work->list + 3 * i, 3 * count));
  }
  return RV_OK;
}

static RvStatus shapes(void *memory, const RvDrawJob *job) {
  const DrawCuda *work = (const DrawCuda *)memory;
  const RvCanvas &canvas = job->canvas;
  Box box = {canvas.width, canvas.height, 0, 0};
  for (int i = 0; i < job->count; i++) {
    const RvShape &s = job->shapes[i];
    box = {rv_min(box.x0, s.x0), rv_min(box.y0, s.y0), rv_max(box.x1, s.x1), rv_max(box.y1, s.y1)};
  }
  const int left = box.x0 / WARP_X * WARP_X, top = box.y0 / WARP_Y * WARP_Y;
  const Shapes args = {
      canvas, work->tables.colors, work->tables.field, work->list, job->count, left, top};
  RV_TRY(upload(work, job));
  const dim3 tiles((unsigned)rv_div_up(box.x1 - left, TILE_X),
                   (unsigned)rv_div_up(box.y1 - top, TILE_Y));
  void (*kernel)(Shapes) = canvas.cell_y == 2   ? shapes_kernel<2, 2>
                           : canvas.cell_x == 2 ? shapes_kernel<2, 1>
                                                : shapes_kernel<1, 1>;
  return rv_launch(job->log, kernel, tiles, dim3(SHAPE_THREADS), 0, job->stream,
                   work->overlaps != 0, args);
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

RV_ENGINE(RvDraw, draw, cuda, DrawCuda, layout, open, NULL, disparity, mask, labels, grid, shapes);
