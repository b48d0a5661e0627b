/* SPDX-License-Identifier: MIT */
/* draw_cuda_quads.cu: many quadrilaterals, as lines are, in one launch: they are kernel arguments, and
 * each tile of the box that holds them goes through those that touch it, in registers. */
#include "draw/draw_cuda.cuh"

/* As many shapes as fit into 4 KiB of arguments, which every driver takes. */
static const int CHUNK = 80;

/* A warp draws a tile, a lane two pixels HALF rows apart: the pixels of a cell are in one warp. A
 * block has up to COLUMNS_MAX tiles of a row. */
static const int TILE = 8, HALF = TILE / 2, COLUMNS_MAX = 64, THREADS = 256;
static const int BANDS = 4; /* that a lane computes together, at most */

namespace {
struct Range {
  int begin, end; /* tiles of the block */
};

/* Where a shape touches tiles of the block's row. On tiles of `band` a quadrilateral is what lies
 * between its edges 0 and 2: both others and its box are beyond them. Four bytes. */
struct alignas(4) Span {
  uint8_t begin, end, band_begin, band_end;
};

/* Coverage of edge i: (a X + b Y + c) >> 7 at X = 2 x + 1, Y alike, cut to 0..256. */
struct alignas(16) Band {
  uint32_t a0, b0, c0, a2;
  uint32_t b2, c2;
  RvInk ink;
  uint32_t reserved;
};

struct alignas(16) Chunk {
  RvShape shapes[CHUNK];
  RvCanvas canvas;
  int count;
  int left, top; /* px: corner of the tiles */
  int columns;   /* tiles of a block */
};

/* The shapes of a block, in shared memory. */
struct Tile {
  const RvShape *shapes;
  const Band *bands;
  const Span *spans;
};
} // namespace
static_assert(sizeof(Chunk) <= 4096, "kernel arguments are limited to 4 KiB");
static_assert(sizeof(RvShape) == 48 && 3 * CHUNK <= THREADS, "a thread for each piece");
static_assert(sizeof(Span) == 4 && COLUMNS_MAX <= 64, "tiles of a block are bits of two words");

/* --- Which tiles a shape touches -----------------------------------------------------------------
 */

/* Keeps the tiles with a pixel where a X + rest >= 0, or those where all pixels are, at X = 2 (x -
 * origin) + 1 in px from the first tile. One pixel more, or less, covers the division's error:
 * pixels decide by themselves. */
static __device__ __forceinline__ void cut_range(Range *r, int a, int rest, int origin,
                                                 bool is_whole) {
  if (a == 0) {
    r->end = rest < 0 ? r->begin : r->end;
    return;
  }
  const float far = 65536.0f; /* px: beyond any image */
  const float bound = 0.5f * (__fdividef(-(float)rest, (float)a) - 1.0f) + (float)origin;
  const float x = fminf(fmaxf(bound, -far), far), margin = is_whole ? 1.0f : -1.0f;
  if (a > 0)
    r->begin = max(r->begin, (int)floorf((x + margin) / TILE) + is_whole);
  else
    r->end = min(r->end, (int)floorf((x - margin - is_whole * (TILE - 1)) / TILE) + 1);
}

/* The tiles of a row that begins at (left, top); by four lanes, one for each edge. */
static __device__ Span span_of(const RvShape &s, int edge, int left, int top, int columns) {
  static_assert(TILE == 8, "shifts divide by the side of a tile");
  const int origin = s.x0 - left, end = s.x1 - left;
  Range tiles = {max(origin >> 3, 0), min((end + TILE - 1) >> 3, columns)};
  Range band = {max((origin + TILE - 1) >> 3, 0), min(end >> 3, columns)};
  if (s.y0 >= top + TILE || s.y1 <= top)
    tiles.end = 0;
  if (s.y0 > top || s.y1 < top + TILE)
    band.end = 0;
  const int a = s.as.quad.a[edge], b = s.as.quad.b[edge], c = s.as.quad.c[edge];
  const int first = 2 * (top - s.y0) + 1, last = first + 2 * (TILE - 1);
  cut_range(&tiles, a, b * (b > 0 ? last : first) + c + RV_EDGE_HALF, origin, false);
  if (edge % 2 == 1)
    cut_range(&band, a, b * (b > 0 ? first : last) + c - RV_EDGE_HALF, origin, true);
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    tiles.begin = max(tiles.begin, __shfl_xor_sync(RV_WARP, tiles.begin, step));
    tiles.end = min(tiles.end, __shfl_xor_sync(RV_WARP, tiles.end, step));
    band.begin = max(band.begin, __shfl_xor_sync(RV_WARP, band.begin, step));
    band.end = min(band.end, __shfl_xor_sync(RV_WARP, band.end, step));
  }
  band = {max(band.begin, tiles.begin), min(band.end, tiles.end)};
  Span span = {0, 0, 0, 0};
  if (tiles.begin < tiles.end)
    span.begin = (uint8_t)tiles.begin, span.end = (uint8_t)tiles.end;
  if (band.begin < band.end)
    span.band_begin = (uint8_t)band.begin, span.band_end = (uint8_t)band.end;
  return span;
}

/* Sums wrap; what they add up to does not. */
static __device__ Band band_of(const RvShape &s) {
  const uint32_t x = 2 * (uint32_t)s.x0, y = 2 * (uint32_t)s.y0;
  Band band = {};
  band.a0 = (uint32_t)s.as.quad.a[0], band.b0 = (uint32_t)s.as.quad.b[0];
  band.a2 = (uint32_t)s.as.quad.a[2], band.b2 = (uint32_t)s.as.quad.b[2];
  band.c0 = (uint32_t)s.as.quad.c[0] + RV_EDGE_HALF - band.a0 * x - band.b0 * y;
  band.c2 = (uint32_t)s.as.quad.c[2] + RV_EDGE_HALF - band.a2 * x - band.b2 * y;
  band.ink = s.ink;
  return band;
}

/* --- Pixels --------------------------------------------------------------------------------------
 */

/* One ink on all pixels of a cell, with opacity a here; `sum` of it in the cell. The sum that
 * rv_blend_mean() divides is old (255 n - sum) + ink sum, times 4 / n here. */
template <int CX, int CY>
static __device__ __forceinline__ void blend_even(const RvCanvas &c, Pixel *p, const RvInk &ink,
                                                  int a, int sum) {
  p->luma = rv_blend(p->luma, ink.c[0], a);
  p->alpha = rv_blend(p->alpha, 255, a);
  if (!c.color)
    return;
  const int of_four = CX * CY == 1 ? 0 : sum * (p->pixels == 1 ? 4 : p->pixels == 2 ? 2 : 1);
#pragma unroll
  for (int k = 0; k < 2; k++)
    p->chroma[k] = CX * CY == 1
                       ? rv_blend(p->chroma[k], ink.c[k + 1], a)
                       : rv_blend_mean(p->chroma[k] * (1020 - of_four) + ink.c[k + 1] * of_four, 4);
}

/* --- Drawing -------------------------------------------------------------------------------------
 */

static __device__ __forceinline__ int band_alpha(const Band &b, uint32_t e0, uint32_t e2) {
  const int cover = rv_clamp((int)e0 >> 7, 0, RV_COVER_FULL) +
                    rv_clamp((int)e2 >> 7, 0, RV_COVER_FULL) - RV_COVER_FULL;
  return rv_cover_alpha(b.ink.a, max(cover, 0));
}

/* The first COUNT bands, in order. What depends on no other band comes first. Returns whether the
 * pixels changed. */
template <int CX, int CY, int COUNT>
static __device__ __forceinline__ uint32_t draw_bands(const RvCanvas &canvas, const Band *bands,
                                                      uint32_t *bits, Pixel *p) {
  const uint32_t x = 2 * (uint32_t)p[0].x + 1, y = 2 * (uint32_t)p[0].y + 1;
  RvInk ink[COUNT];
  uint32_t alpha[COUNT], sum[COUNT]; /* of one pixel and, in the high half, the other */
  uint32_t changed = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const Band b = bands[__ffs((int)*bits) - 1];
    *bits &= *bits - 1;
    const uint32_t e0 = b.a0 * x + (b.b0 * y + b.c0), e2 = b.a2 * x + (b.b2 * y + b.c2);
    const int one = p[0].is_inside ? band_alpha(b, e0, e2) : 0;
    const int two = p[1].is_inside ? band_alpha(b, e0 + 2 * HALF * b.b0, e2 + 2 * HALF * b.b2) : 0;
    ink[i] = b.ink;
    alpha[i] = (uint32_t)one | (uint32_t)two << 16;
    changed |= alpha[i];
    sum[i] = CX * CY == 1 ? 0 : cell_sum<CX, CY>(alpha[i]);
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    blend_even<CX, CY>(canvas, &p[0], ink[i], alpha[i] & 0xffff, sum[i] & 0xffff);
    blend_even<CX, CY>(canvas, &p[1], ink[i], alpha[i] >> 16, sum[i] >> 16);
  }
  return changed;
}

/* A quadrilateral with all its edges. */
template <int CX, int CY>
static __device__ __forceinline__ uint32_t draw_quad(const RvCanvas &canvas, const RvShape &s,
                                                     Pixel *p) {
  RvInk ink[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const bool is_in =
        p[i].is_inside && p[i].x >= s.x0 && p[i].x < s.x1 && p[i].y >= s.y0 && p[i].y < s.y1;
    ink[i] = s.ink;
    ink[i].a = (uint8_t)rv_cover_alpha(is_in ? s.ink.a : 0, rv_cover_quad(&s, p[i].x, p[i].y));
    blend_pixel<CX, CY>(canvas, &p[i], ink[i]);
  }
  return (uint32_t)ink[0].a | (uint32_t)ink[1].a << 16;
}

/* The shapes that touch a tile, in order; by a warp. */
template <int CX, int CY>
static __device__ __forceinline__ void draw_tile(const Chunk &job, const Tile &t, int tile,
                                                 int left, int top) {
  const int lane = rv_lane(), x = left + tile * TILE + lane % TILE, y = top + lane / TILE;
  Pixel p[2] = {load_pixel<CX, CY>(job.canvas, x, y), load_pixel<CX, CY>(job.canvas, x, y + HALF)};
  uint32_t changed = 0;
  for (int first = 0; first < job.count; first += 32) {
    const Span span = t.spans[first + lane];
    uint32_t bits = __ballot_sync(RV_WARP, tile >= span.begin && tile < span.end);
    const uint32_t others =
        bits & ~__ballot_sync(RV_WARP, tile >= span.band_begin && tile < span.band_end);
    while (bits) { /* bands before the next other shape */
      const uint32_t bands = bits & ((bits & others & -(bits & others)) - 1);
      const int many = __popc(bands);
      if (many >= BANDS) {
        changed |= draw_bands<CX, CY, BANDS>(job.canvas, t.bands + first, &bits, p);
      } else if (many >= 2) {
        changed |= draw_bands<CX, CY, 2>(job.canvas, t.bands + first, &bits, p);
      } else if (many) {
        changed |= draw_bands<CX, CY, 1>(job.canvas, t.bands + first, &bits, p);
      } else {
        changed |= draw_quad<CX, CY>(job.canvas, t.shapes[first + __ffs((int)bits) - 1], p);
        bits &= bits - 1;
      }
    }
  }
  /* A cell is stored when one of its pixels changed. */
  changed = CX * CY == 1 ? changed : cell_sum<CX, CY>(changed);
  if (changed & 0xffff)
    store_pixel<CX, CY>(job.canvas, p[0]);
  if (changed >> 16)
    store_pixel<CX, CY>(job.canvas, p[1]);
}

/* The address of arguments, hidden from the compiler, which would otherwise load them as constants,
 * one address after the other. */
static __device__ __forceinline__ const uint4 *arguments(const void *at) {
  asm volatile("" : "+l"(at));
  return (const uint4 *)at;
}

/* Bits of a range of at most 64 tiles. */
static __device__ __forceinline__ uint64_t bits_of(int begin, int end) {
  return end > begin ? ~(uint64_t)0 >> (64 - (end - begin)) << begin : 0;
}

template <int CX, int CY>
static __global__ void __launch_bounds__(THREADS, rv_launch_blocks(THREADS, 4))
    quads_kernel(const __grid_constant__ Chunk job) {
  __shared__ __align__(16) RvShape shapes[CHUNK];
  __shared__ Band bands[CHUNK];
  __shared__ Span spans[(CHUNK + 31) / 32 * 32];
  __shared__ uint32_t touched[2];
  const int t = (int)threadIdx.x;
  const int left = job.left + (int)blockIdx.x * job.columns * TILE;
  const int top = job.top + (int)blockIdx.y * TILE;
  if (t < 3 * job.count)
    ((uint4 *)shapes)[t] = arguments(job.shapes)[t];
  if (t < (CHUNK + 31) / 32 * 32)
    spans[t] = {0, 0, 0, 0};
  if (t < 2)
    touched[t] = 0;
  __syncthreads();
  for (int first = 0; first < job.count; first += THREADS / 4) {
    const int k = first + t / 4;
    const RvShape &s = shapes[min(k, job.count - 1)];
    const Span span = span_of(s, t % 4, left, top, job.columns);
    if (k < job.count && t % 4 == 0) {
      const uint64_t tiles = bits_of(span.begin, span.end);
      spans[k] = span;
      bands[k] = band_of(s);
      atomicOr(&touched[0], (uint32_t)tiles);
      atomicOr(&touched[1], (uint32_t)(tiles >> 32));
    }
  }
  __syncthreads();
  rv_launch_wait();
  rv_launch_next();
  static_assert(THREADS == 8 * 32, "every eighth tile is a warp's");
  uint64_t tiles = (uint64_t)touched[1] << 32 | touched[0];
  tiles &= UINT64_C(0x0101010101010101) << t / 32;
  for (; tiles; tiles &= tiles - 1)
    draw_tile<CX, CY>(job, {shapes, bands, spans}, __ffsll((long long)tiles) - 1, left, top);
}

/* Blocks that a launch should have, when that takes no less than a tile for each warp. */
static const int BLOCKS_BUSY = 512;

static RvStatus draw_chunk(const DrawCuda *work, const RvDrawJob *job, int first, int count) {
  Chunk chunk = {};
  chunk.canvas = job->canvas;
  chunk.count = count;
  int x0 = chunk.canvas.width, y0 = chunk.canvas.height, x1 = 0, y1 = 0;
  for (int i = 0; i < count; i++) {
    const RvShape &s = chunk.shapes[i] = job->shapes[first + i];
    x0 = rv_min(x0, s.x0), y0 = rv_min(y0, s.y0);
    x1 = rv_max(x1, s.x1), y1 = rv_max(y1, s.y1);
  }
  chunk.left = x0 / TILE * TILE;
  chunk.top = y0 / TILE * TILE;
  const int tiles = rv_div_up(x1 - chunk.left, TILE), rows = rv_div_up(y1 - chunk.top, TILE);
  const int columns = rv_clamp(tiles * rows / BLOCKS_BUSY, THREADS / 32, COLUMNS_MAX);
  const int across = rv_div_up(tiles, columns);
  chunk.columns = rv_div_up(tiles, across);
  const int cell = chunk.canvas.cell_x + chunk.canvas.cell_y;
  void (*kernel)(Chunk) = cell == 4   ? quads_kernel<2, 2>
                          : cell == 3 ? quads_kernel<2, 1>
                                      : quads_kernel<1, 1>;
  return rv_launch(job->log, kernel, dim3((unsigned)across, (unsigned)rows), dim3(THREADS), 0,
                   job->stream, first > 0 && work->overlaps, chunk);
}

RvStatus draw_cuda_quads(const DrawCuda *work, const RvDrawJob *job, int first, int count) {
  for (int i = 0; i < count; i += CHUNK)
    RV_TRY(draw_chunk(work, job, first + i, rv_min(CHUNK, count - i)));
  return RV_OK;
}
