/* SPDX-License-Identifier: MIT */
/* hough_cuda_canny.cu: edges as Canny has them, in three kernels. One block per tile computes
 * gradients, thins them and finds the components of thin pixels inside its tile. What a strong pixel
 * or the end of a component decides is decided there; only weak components that reach the border of
 * their tile are left. A second kernel unites these across borders, a third one settles them.
 *
 * Components are trees of labels: the label of a pixel is a pixel of the same component with a
 * smaller number, and a root is its own label. In the picture's labels, number 0 stands for "holds a
 * strong pixel" and i + 1 for pixel i. */
#include "hough/hough_cuda.cuh"

#define TILE_W 64
#define TILE_H 32
#define TILE (TILE_W * TILE_H)
#define THREADS 256
#define WARPS (THREADS / 32)
#define UNITS (TILE / THREADS)   /* pixels of a thread */
#define PAD 4                    /* columns left and right of the tile that are loaded: a word */
#define PITCH (TILE_W + 2 * PAD) /* px */
#define WORDS (PITCH / 4)        /* of a row */
#define WEAK 1
#define EDGE 255

namespace {

struct Canny {
  const uint8_t *in;
  ptrdiff_t stride;
  int width, height;
  int low, high;
  uint32_t *gradients; /* NULL: not needed */
  uint8_t *classes;    /* 0, EDGE, or WEAK until it is settled */
  int *labels;         /* of WEAK pixels */
};

struct Tile {
  uint32_t picture[TILE_H + 4][WORDS];   /* 4 px a word; from 2 rows above the tile */
  uint4 gradient[TILE_H + 2][WORDS];     /* from 1 row above */
  uint64_t thin[TILE_H], strong[TILE_H]; /* bit x: column x */
  int labels[TILE];                      /* of thin pixels */
  uint32_t alive[TILE / 32];             /* roots of components with a strong pixel */
  uint32_t open[TILE / 32];              /* roots of those that reach another tile */
};

/* Coordinates beyond the picture repeat its border. */
__device__ void load_picture(const Canny &c, Tile *tile, int x0, int y0) {
  const bool whole = x0 >= PAD && x0 + TILE_W + PAD <= c.width &&
                     (((uintptr_t)c.in | (uintptr_t)c.stride) & 3) == 0;
  for (int i = (int)threadIdx.x; i < (TILE_H + 4) * WORDS; i += THREADS) {
    const int row = i / WORDS, word = i % WORDS;
    const uint8_t *from = c.in + rv_clamp(y0 - 2 + row, 0, c.height - 1) * c.stride;
    const int x = x0 - PAD + 4 * word;
    uint32_t v = 0;
    if (whole)
      v = *(const uint32_t *)(from + x);
    else
#pragma unroll
      for (int k = 0; k < 4; k++)
        v |= (uint32_t)from[rv_clamp(x + k, 0, c.width - 1)] << 8 * k;
    tile->picture[row][word] = v;
  }
}

/* Six columns of a row of the picture: the last one of the word before, the word, and the first one
 * of the word after. */
struct Strip {
  int v[6];
  __device__ Strip(const uint32_t *words, int word) {
    const uint32_t at = words[word];
    v[0] = (int)(words[max(word - 1, 0)] >> 24);
    v[1] = (int)(at & 255), v[2] = (int)(at >> 8 & 255);
    v[3] = (int)(at >> 16 & 255), v[4] = (int)(at >> 24);
    v[5] = (int)(words[min(word + 1, WORDS - 1)] & 255);
  }
};

/* Gradients of the tile and one pixel around it; 0 outside the picture. */
__device__ void find_gradients(const Canny &c, Tile *tile, int x0, int y0) {
  for (int i = (int)threadIdx.x; i < (TILE_H + 2) * WORDS; i += THREADS) {
    const int row = i / WORDS, word = i % WORDS;
    const Strip up(tile->picture[row], word), at(tile->picture[row + 1], word);
    const Strip down(tile->picture[row + 2], word);
    const int y = y0 - 1 + row;
    uint32_t out[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int x = x0 - PAD + 4 * word + k;
      const bool is_inside = x >= 0 && x < c.width && y >= 0 && y < c.height;
      out[k] = is_inside ? rv_hough_sobel(up.v[k], up.v[k + 1], up.v[k + 2], at.v[k], at.v[k + 2],
                                          down.v[k], down.v[k + 1], down.v[k + 2])
                         : rv_hough_pack(0, 0);
    }
    tile->gradient[row][word] = make_uint4(out[0], out[1], out[2], out[3]);
  }
}

/* Column and row of pixel `unit` of this thread: a warp has the halves of its rows in turn. */
__device__ __forceinline__ int unit_x(int unit) {
  return unit % 2 * 32 + rv_lane();
}
__device__ __forceinline__ int unit_y(int unit) {
  return unit / 2 * WARPS + (int)threadIdx.x / 32;
}

__device__ __forceinline__ uint32_t gradient_at(const Tile *tile, int x, int y) {
  return ((const uint32_t *)tile->gradient[y + 1])[x + PAD];
}

__device__ __forceinline__ int magnitude_at(const Tile *tile, int x, int y) {
  return rv_hough_magnitude(gradient_at(tile, x, y));
}

/* Pixels above `low` whose magnitude is a maximum across the edge. A thin pixel's first label is the
 * start of its run of 32 columns. */
__device__ void make_thin(const Canny &c, Tile *tile, int x0, int y0) {
#pragma unroll
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = unit_x(unit), y = unit_y(unit);
    const uint32_t gradient = gradient_at(tile, x, y);
    const int m = rv_hough_magnitude(gradient);
    bool is_thin = m > c.low;
    if (is_thin) {
      const int sector = rv_hough_sector(gradient);
      const int dx = rv_hough_sector_x(sector), dy = rv_hough_sector_y(sector);
      is_thin = m > magnitude_at(tile, x - dx, y - dy) && m >= magnitude_at(tile, x + dx, y + dy);
    }
    if (c.gradients && x0 + x < c.width && y0 + y < c.height)
      c.gradients[(size_t)(y0 + y) * c.width + x0 + x] = gradient;
    const uint32_t thin = __ballot_sync(RV_WARP, is_thin);
    const uint32_t strong = __ballot_sync(RV_WARP, is_thin && m > c.high);
    if (rv_lane() == 0) {
      ((uint32_t *)&tile->thin[y])[unit % 2] = thin;
      ((uint32_t *)&tile->strong[y])[unit % 2] = strong;
    }
    const uint32_t gaps = ~thin & ((1u << rv_lane()) - 1);
    tile->labels[y * TILE_W + x] = y * TILE_W + unit % 2 * 32 + (gaps ? 32 - __clz(gaps) : 0);
  }
}

/* Labels only ever fall, and a label that atomicMin did not change from its root value was moved by
 * another thread, with which the pair is then united. */
__device__ int tile_root(const volatile int *labels, int i) {
  for (int next; (next = labels[i]) != i;)
    i = next;
  return i;
}

__device__ void tile_unite(int *labels, int a, int b) {
  for (;;) {
    a = tile_root(labels, a);
    b = tile_root(labels, b);
    if (a == b)
      return;
    const int low = min(a, b), high = max(a, b);
    const int before = atomicMin(&labels[high], low);
    if (before == high)
      return;
    a = before;
    b = low;
  }
}

__device__ __forceinline__ bool bit_at(uint64_t row, int x) {
  return x >= 0 && x < TILE_W && (row >> x & 1);
}

/* Unites the runs of a row with each other and with those of the row above; a pair of runs that
 * touch in several columns is united once. */
__device__ void unite_tile(Tile *tile) {
#pragma unroll 1
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = unit_x(unit), y = unit_y(unit), i = y * TILE_W + x;
    const uint64_t row = tile->thin[y];
    if (!bit_at(row, x))
      continue;
    const bool left = bit_at(row, x - 1), right = bit_at(row, x + 1);
    if (x == 32 && left)
      tile_unite(tile->labels, i, i - 1);
    if (y == 0)
      continue;
    const uint64_t above = tile->thin[y - 1];
    const bool up = bit_at(above, x), up_left = bit_at(above, x - 1);
    if (up && !(left && up_left))
      tile_unite(tile->labels, i, i - TILE_W);
    if (!up && up_left && !left)
      tile_unite(tile->labels, i, i - TILE_W - 1);
    if (!up && bit_at(above, x + 1) && !right)
      tile_unite(tile->labels, i, i - TILE_W + 1);
  }
}

/* Notes of the component with root r whether this pixel makes it alive or open. */
__device__ __forceinline__ void mark(const Canny &c, Tile *tile, int r, int x, int y, int x0,
                                     int y0) {
  if (tile->strong[y] >> x & 1)
    atomicOr(&tile->alive[r / 32], 1u << r % 32);
  if ((x == 0 && x0 > 0) || (x == TILE_W - 1 && x0 + TILE_W < c.width) || (y == 0 && y0 > 0) ||
      (y == TILE_H - 1 && y0 + TILE_H < c.height))
    atomicOr(&tile->open[r / 32], 1u << r % 32);
}

/* Classes of the tile's pixels, and the labels of those that are not decided yet. */
__device__ void store_classes(const Canny &c, const Tile *tile, const int *roots, int x0, int y0) {
#pragma unroll
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = x0 + unit_x(unit), y = y0 + unit_y(unit), r = roots[unit];
    if (x >= c.width || y >= c.height)
      continue;
    const size_t i = (size_t)y * c.width + x;
    uint8_t kind = 0;
    if (r >= 0 && (tile->alive[r / 32] >> r % 32 & 1)) {
      kind = EDGE;
    } else if (r >= 0 && (tile->open[r / 32] >> r % 32 & 1)) {
      kind = WEAK;
      c.labels[i] = 1 + (y0 + r / TILE_W) * c.width + x0 + r % TILE_W;
    }
    c.classes[i] = kind;
  }
}

__global__ void __launch_bounds__(THREADS) tile_kernel(const Canny c) {
  __shared__ Tile tile;
  rv_launch_wait();
  rv_launch_next();
  const int x0 = (int)blockIdx.x * TILE_W, y0 = (int)blockIdx.y * TILE_H;
  load_picture(c, &tile, x0, y0);
  for (int i = (int)threadIdx.x; i < TILE / 32; i += THREADS)
    tile.alive[i] = tile.open[i] = 0;
  __syncthreads();
  find_gradients(c, &tile, x0, y0);
  __syncthreads();
  make_thin(c, &tile, x0, y0);
  __syncthreads();
  unite_tile(&tile);
  __syncthreads();
  int roots[UNITS];
#pragma unroll
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = unit_x(unit), y = unit_y(unit);
    roots[unit] = -1;
    if (tile.thin[y] >> x & 1) {
      roots[unit] = tile_root(tile.labels, y * TILE_W + x);
      mark(c, &tile, roots[unit], x, y, x0, y0);
    }
  }
  __syncthreads();
  store_classes(c, &tile, roots, x0, y0);
}

/* As above, over the picture; loads go past L1, which is not kept coherent. */
__device__ __forceinline__ int root_of(const int *labels, int n) {
  for (int next; n && (next = __ldcg(&labels[n - 1])) != n;)
    n = next;
  return n;
}

__device__ void unite(int *labels, int a, int b) {
  for (;;) {
    a = root_of(labels, a);
    b = root_of(labels, b);
    if (a == b)
      return;
    const int low = min(a, b), high = max(a, b);
    const int before = atomicMin(&labels[high - 1], low);
    if (before == high)
      return;
    a = before;
    b = low;
  }
}

/* Unites pixel (x, y) with (u, v) when both are thin and at least one is not decided. */
__device__ void unite_pixels(const Canny &c, int x, int y, int u, int v) {
  if (u < 0 || v < 0 || u >= c.width || v >= c.height)
    return;
  const size_t i = (size_t)y * c.width + x, k = (size_t)v * c.width + u;
  const int a = c.classes[i], b = c.classes[k];
  if (!a || !b || (a == EDGE && b == EDGE))
    return;
  unite(c.labels, a == EDGE ? 0 : (int)i + 1, b == EDGE ? 0 : (int)k + 1);
}

/* First the pixels in the top rows of tiles, then those in the left columns. */
__global__ void __launch_bounds__(THREADS) border_kernel(const Canny c) {
  rv_launch_wait();
  rv_launch_next();
  const int rows = (c.height - 1) / TILE_H * c.width, columns = (c.width - 1) / TILE_W * c.height;
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (i < rows) {
    const int x = i % c.width, y = (i / c.width + 1) * TILE_H;
    for (int d = -1; d <= 1; d++)
      unite_pixels(c, x, y, x + d, y - 1);
  } else if (i < rows + columns) {
    const int y = (i - rows) % c.height, x = ((i - rows) / c.height + 1) * TILE_W;
    for (int d = -1; d <= 1; d++)
      unite_pixels(c, x, y, x - 1, y + d);
  }
}

/* A thread has four pixels; those that wait become an edge or nothing. Neighbors often have the same
 * label. */
__global__ void __launch_bounds__(THREADS) settle_kernel(const Canny c) {
  rv_launch_wait();
  rv_launch_next();
  const size_t pixels = (size_t)c.width * c.height;
  const size_t i = 4 * (blockIdx.x * (size_t)THREADS + threadIdx.x);
  if (i >= pixels)
    return;
  const int count = (int)min(pixels - i, (size_t)4);
  uint8_t *at = c.classes + i;
  uint32_t kinds = 0;
  if (count == 4)
    kinds = *(const uint32_t *)at;
  else
    for (int k = 0; k < count; k++)
      kinds |= (uint32_t)at[k] << 8 * k;
  const uint32_t weak = __vcmpeq4(kinds, WEAK * 0x01010101u) & 0x01010101u;
  int label = -1, is_alive = 0;
  for (uint32_t left = weak; left; left &= left - 1) {
    const int shift = __ffs((int)left) - 1;
    const int next = __ldcg(&c.labels[i + shift / 8]);
    if (next != label)
      is_alive = root_of(c.labels, next) == 0;
    label = next;
    kinds = (kinds & ~(255u << shift)) | (is_alive ? (uint32_t)EDGE << shift : 0);
  }
  if (weak && count == 4)
    *(uint32_t *)at = kinds;
  else if (weak)
    for (int k = 0; k < count; k++)
      at[k] = (uint8_t)(kinds >> 8 * k);
}

} // namespace

RvStatus hough_cuda_canny(HoughCuda *work, RvHoughJob *job) {
  const RvHoughSpace *p = &job->plan->space;
  const RvHoughConfig *config = &job->plan->config;
  const RvLog *log = &config->log;
  const Canny c = {(const uint8_t *)job->input.data,
                   job->input.stride,
                   p->width,
                   p->height,
                   config->edge_low,
                   config->edge_high,
                   work->values ? work->gradients : NULL,
                   work->classes,
                   work->labels};
  const dim3 tiles((unsigned)rv_div_up(p->width, TILE_W), (unsigned)rv_div_up(p->height, TILE_H));
  RV_TRY(rv_launch(log, tile_kernel, tiles, dim3(THREADS), 0, job->stream, false, c));
  const int border = (p->height - 1) / TILE_H * p->width + (p->width - 1) / TILE_W * p->height;
  if (border > 0)
    RV_TRY(rv_launch(log, border_kernel, dim3((unsigned)rv_div_up(border, THREADS)), dim3(THREADS),
                     0, job->stream, work->is_early, c));
  const size_t units = ((size_t)p->width * p->height + 3) / 4;
  return rv_launch(log, settle_kernel, dim3((unsigned)((units + THREADS - 1) / THREADS)),
                   dim3(THREADS), 0, job->stream, work->is_early, c);
}
