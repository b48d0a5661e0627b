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
  uint32_t ink; /* as packed() has it */
  uint32_t reserved;
};

/* Two pixels, HALF rows apart, and what the lane keeps of the chroma of their cells: where four lanes
 * share both cells, each of them has one channel of one cell. */
template <int CX, int CY> struct Spot {
  static constexpr bool IS_SHARED = CX == 2 && CY == 2;
  int x, y;
  bool is_inside[2];
  int luma[2], alpha[2];
  int chroma[2][2]; /* [pixel][channel]; [0][0] alone when shared */
  int scale[2];     /* log2 of 4 / pixels of the cell in the image; [0] alone when shared */

  __device__ __forceinline__ int own_pixel() const { return y & 1; }
  __device__ __forceinline__ int own_channel() const { return x & 1; }
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

static __device__ __forceinline__ uint32_t packed(const RvInk &ink) {
  return (uint32_t)ink.c[0] | (uint32_t)ink.c[1] << 8 | (uint32_t)ink.c[2] << 16 |
         (uint32_t)ink.a << 24;
}

/* Sums wrap; what they add up to does not. */
static __device__ Band band_of(const RvShape &s) {
  const uint32_t x = 2 * (uint32_t)s.x0, y = 2 * (uint32_t)s.y0;
  Band band = {};
  band.a0 = (uint32_t)s.as.quad.a[0], band.b0 = (uint32_t)s.as.quad.b[0];
  band.a2 = (uint32_t)s.as.quad.a[2], band.b2 = (uint32_t)s.as.quad.b[2];
  band.c0 = (uint32_t)s.as.quad.c[0] + RV_EDGE_HALF - band.a0 * x - band.b0 * y;
  band.c2 = (uint32_t)s.as.quad.c[2] + RV_EDGE_HALF - band.a2 * x - band.b2 * y;
  band.ink = packed(s.ink);
  return band;
}

/* --- Pixels --------------------------------------------------------------------------------------
 */

/* Chroma sample k of the cell of pixel (x, y). */
template <int CX, int CY>
static __device__ __forceinline__ uint8_t *sample_at(const RvCanvas &c, int x, int y, int k) {
  return c.channel[k + 1] + y / CY * c.stride[1] + (ptrdiff_t)(x / CX) * c.step[1];
}

/* The same, or NULL where the image has none. */
template <int CX, int CY>
static __device__ __forceinline__ uint8_t *chroma_at(const RvCanvas &c, int x, int y, int k) {
  return c.color && x / CX * CX < c.width && y / CY * CY < c.height ? sample_at<CX, CY>(c, x, y, k)
                                                                    : NULL;
}

template <int CX, int CY>
static __device__ __forceinline__ int scale_of(const RvCanvas &c, int x, int y) {
  const int wide = CX == 2 && x / CX * CX + 1 < c.width,
            high = CY == 2 && y / CY * CY + 1 < c.height;
  return 2 - wide - high;
}

template <int CX, int CY>
static __device__ __forceinline__ Spot<CX, CY> load_spot(const RvCanvas &c, int x, int y) {
  Spot<CX, CY> s = {};
  s.x = x, s.y = y;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int v = y + i * HALF;
    const ptrdiff_t at = v * c.stride[0] + (ptrdiff_t)x * c.step[0];
    s.is_inside[i] = x < c.width && v < c.height;
    if (s.is_inside[i]) {
      s.luma[i] = c.channel[0][at];
      s.alpha[i] = c.alpha ? c.alpha[at] : 0;
      for (int k = 0; k < 2 && !s.IS_SHARED && c.color; k++)
        s.chroma[i][k] = *sample_at<CX, CY>(c, x, v, k);
    }
    s.scale[i] = scale_of<CX, CY>(c, x, v);
  }
  if (!s.IS_SHARED)
    return s;
  const int row = y + s.own_pixel() * HALF;
  const uint8_t *from = chroma_at<CX, CY>(c, x, row, s.own_channel());
  s.chroma[0][0] = from ? *from : 0;
  s.scale[0] = scale_of<CX, CY>(c, x, row);
  return s;
}

/* changed: of one pixel and, in the high half, the other; a cell changes with one of its pixels. */
template <int CX, int CY>
static __device__ __forceinline__ void store_spot(const RvCanvas &c, const Spot<CX, CY> &s,
                                                  uint32_t changed) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int v = s.y + i * HALF;
    const ptrdiff_t at = v * c.stride[0] + (ptrdiff_t)s.x * c.step[0];
    const bool is_new = i ? changed >> 16 : changed & 0xffff;
    if (!s.is_inside[i] || !is_new)
      continue;
    c.channel[0][at] = (uint8_t)s.luma[i];
    if (c.alpha)
      c.alpha[at] = (uint8_t)s.alpha[i];
    for (int k = 0; k < 2 && !s.IS_SHARED && c.color && s.x % CX == 0; k++)
      *sample_at<CX, CY>(c, s.x, v, k) = (uint8_t)s.chroma[i][k];
  }
  if (!s.IS_SHARED || !(s.own_pixel() ? changed >> 16 : changed & 0xffff))
    return;
  const int row = s.y + s.own_pixel() * HALF;
  if (uint8_t *to = chroma_at<CX, CY>(c, s.x, row, s.own_channel()))
    *to = (uint8_t)s.chroma[0][0];
}

/* A chroma sample of a cell whose opacities add up to `sum` times four over its pixels: what
 * rv_blend_mean() divides is old (255 n - sum) + ink sum, times 4 / n here. */
static __device__ __forceinline__ int blend_cell(int old, int ink, int sum) {
  return rv_blend_mean(old * (1020 - sum) + ink * sum, 4);
}

/* One ink, with the opacities of one pixel and, in the high half, the other; sum: of their cells. */
template <int CX, int CY>
static __device__ __forceinline__ void blend(const RvCanvas &c, Spot<CX, CY> *s, uint32_t ink,
                                             uint32_t alpha, uint32_t sum) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int a = i ? alpha >> 16 : alpha & 0xffff;
    s->luma[i] = rv_blend(s->luma[i], ink & 255, a);
    if (CX * CY == 1)
      s->alpha[i] = rv_blend(s->alpha[i], 255, a);
  }
  if (!c.color)
    return;
  if constexpr (Spot<CX, CY>::IS_SHARED) {
    const int own = s->own_pixel() ? sum >> 16 : sum & 0xffff;
    s->chroma[0][0] =
        blend_cell(s->chroma[0][0], ink >> (8 * s->own_channel() + 8) & 255, own << s->scale[0]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      int *at = &s->chroma[i / 2][i % 2];
      const int from = ink >> (8 * (i % 2) + 8) & 255, high = i / 2 * 16;
      *at = CX * CY == 1 ? rv_blend(*at, from, alpha >> high & 0xffff)
                         : blend_cell(*at, from, (int)(sum >> high & 0xffff) << s->scale[i / 2]);
    }
  }
}

/* --- Drawing -------------------------------------------------------------------------------------
 */

static __device__ __forceinline__ int band_alpha(const Band &b, uint32_t e0, uint32_t e2) {
  const int cover = rv_clamp((int)e0 >> 7, 0, RV_COVER_FULL) +
                    rv_clamp((int)e2 >> 7, 0, RV_COVER_FULL) - RV_COVER_FULL;
  return rv_cover_alpha(b.ink >> 24, max(cover, 0));
}

/* The first COUNT bands, in order. What depends on no other band comes first. Returns whether the
 * pixels changed. */
template <int CX, int CY, int COUNT>
static __device__ __forceinline__ uint32_t draw_bands(const RvCanvas &canvas, const Band *bands,
                                                      uint32_t *bits, Spot<CX, CY> *s) {
  const uint32_t x = 2 * (uint32_t)s->x + 1, y = 2 * (uint32_t)s->y + 1;
  uint32_t ink[COUNT], alpha[COUNT], sum[COUNT]; /* of one pixel and, in the high half, the other */
  uint32_t changed = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const Band b = bands[__ffs((int)*bits) - 1];
    *bits &= *bits - 1;
    const uint32_t e0 = b.a0 * x + (b.b0 * y + b.c0), e2 = b.a2 * x + (b.b2 * y + b.c2);
    const int one = s->is_inside[0] ? band_alpha(b, e0, e2) : 0;
    const int two = s->is_inside[1] ? band_alpha(b, e0 + 2 * HALF * b.b0, e2 + 2 * HALF * b.b2) : 0;
    ink[i] = b.ink;
    alpha[i] = (uint32_t)one | (uint32_t)two << 16;
    changed |= alpha[i];
    sum[i] = CX * CY == 1 ? 0 : cell_sum<CX, CY>(alpha[i]);
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++)
    blend(canvas, s, ink[i], alpha[i], sum[i]);
  return changed;
}

/* A quadrilateral with all its edges. */
template <int CX, int CY>
static __device__ __forceinline__ uint32_t draw_quad(const RvCanvas &canvas, const RvShape &q,
                                                     Spot<CX, CY> *s) {
  uint32_t alpha = 0;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int v = s->y + i * HALF;
    const bool is_in = s->is_inside[i] && s->x >= q.x0 && s->x < q.x1 && v >= q.y0 && v < q.y1;
    const int a = rv_cover_alpha(is_in ? q.ink.a : 0, rv_cover_quad(&q, s->x, v));
    alpha |= (uint32_t)a << 16 * i;
  }
  blend(canvas, s, packed(q.ink), alpha, CX * CY == 1 ? 0 : cell_sum<CX, CY>(alpha));
  return alpha;
}

/* The shapes that touch a tile, in order; by a warp. */
template <int CX, int CY>
static __device__ __forceinline__ void draw_tile(const Chunk &job, const Tile &t, int tile,
                                                 int left, int top) {
  const int lane = rv_lane(), x = left + tile * TILE + lane % TILE, y = top + lane / TILE;
  Spot<CX, CY> s = load_spot<CX, CY>(job.canvas, x, y);
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
        changed |= draw_bands<CX, CY, BANDS>(job.canvas, t.bands + first, &bits, &s);
      } else if (many >= 2) {
        changed |= draw_bands<CX, CY, 2>(job.canvas, t.bands + first, &bits, &s);
      } else if (many) {
        changed |= draw_bands<CX, CY, 1>(job.canvas, t.bands + first, &bits, &s);
      } else {
        changed |= draw_quad<CX, CY>(job.canvas, t.shapes[first + __ffs((int)bits) - 1], &s);
        bits &= bits - 1;
      }
    }
  }
  store_spot(job.canvas, s, CX * CY == 1 ? changed : cell_sum<CX, CY>(changed));
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
