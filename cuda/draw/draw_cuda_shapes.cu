/* SPDX-License-Identifier: MIT */
/* draw_cuda_shapes.cu: shapes come as kernel arguments and are listed in device memory; then each
 * pixel of the box that holds them is read once, goes through the shapes that touch its warp in a
 * register, and is written once. */
#include "draw/draw_cuda.cuh"

/* As many shapes as fit into 4 KiB of arguments, which every driver takes. */
static const int CHUNK = 80;

/* A block has TILE_X x TILE_Y px, a thread one of them, a warp WARP_X x WARP_Y. */
static const int TILE_X = 16, TILE_Y = 16, WARP_X = DRAW_WARP_X, WARP_Y = DRAW_WARP_Y;
static const int SHAPE_THREADS = TILE_X * TILE_Y;
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

} // namespace
static_assert(sizeof(Chunk) <= 4000, "kernel arguments are limited to 4 KiB");
static_assert(sizeof(RvShape) == 48, "a shape is copied in three pieces");
static_assert(WARP_X * WARP_Y == 32, "a thread for each pixel");

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
  if (CX * CY > 1)
    changed = cell_sum<CX, CY>(changed);
  if (changed)
    store_pixel<CX, CY>(job.canvas, pixel);
}

/* Shapes first..first + count - 1 to the list. */
static RvStatus upload(const DrawCuda *work, const RvDrawJob *job, int first, int count) {
  for (int i = 0; i < count; i += CHUNK) {
    const int part = rv_min(CHUNK, count - i);
    Chunk chunk;
    for (int k = 0; k < part; k++)
      chunk.shapes[k] = job->shapes[first + i + k];
    RV_TRY(rv_launch(job->log, upload_kernel, dim3(1), dim3(3 * CHUNK), 0, job->stream,
                     first + i > 0 && work->overlaps, chunk, work->list + 3 * i, 3 * part));
  }
  return RV_OK;
}

static RvStatus draw_list(const DrawCuda *work, const RvDrawJob *job, int first, int count) {
  const RvCanvas &canvas = job->canvas;
  Box box = {canvas.width, canvas.height, 0, 0};
  for (int i = first; i < first + count; i++) {
    const RvShape &s = job->shapes[i];
    box = {rv_min(box.x0, s.x0), rv_min(box.y0, s.y0), rv_max(box.x1, s.x1), rv_max(box.y1, s.y1)};
  }
  const int left = box.x0 / WARP_X * WARP_X, top = box.y0 / WARP_Y * WARP_Y;
  const Shapes args = {canvas, work->tables.colors, work->tables.field, work->list, count, left,
                       top};
  RV_TRY(upload(work, job, first, count));
  const dim3 tiles((unsigned)rv_div_up(box.x1 - left, TILE_X),
                   (unsigned)rv_div_up(box.y1 - top, TILE_Y));
  void (*kernel)(Shapes) = canvas.cell_y == 2   ? shapes_kernel<2, 2>
                           : canvas.cell_x == 2 ? shapes_kernel<2, 1>
                                                : shapes_kernel<1, 1>;
  return rv_launch(job->log, kernel, tiles, dim3(SHAPE_THREADS), 0, job->stream,
                   work->overlaps != 0, args);
}

/* Quadrilaterals in a row that are drawn apart: few are faster with what surrounds them. */
static const int QUADS_MANY = 32;

static int quads_from(const RvDrawJob *job, int first) {
  int end = first;
  while (end < job->count && job->shapes[end].kind == RV_SHAPE_QUAD)
    end++;
  return end - first;
}

RvStatus draw_cuda_shapes(void *memory, const RvDrawJob *job) {
  const DrawCuda *work = (const DrawCuda *)memory;
  int first = 0, end = 0; /* of those that go into a list */
  while (end < job->count) {
    const int quads = quads_from(job, end);
    if (quads < QUADS_MANY) {
      end += rv_max(quads, 1);
      continue;
    }
    if (first < end)
      RV_TRY(draw_list(work, job, first, end - first));
    RV_TRY(draw_cuda_quads(work, job, end, quads));
    first = end += quads;
  }
  return first < end ? draw_list(work, job, first, end - first) : RV_OK;
}
