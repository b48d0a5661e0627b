/* SPDX-License-Identifier: MIT */
/* hough_cuda_canny.cu: edges as Canny has them, in two kernels. One block per tile computes
 * gradients, thins them and finds the components of thin pixels inside its tile. What a strong
 * pixel or the end of a component decides is decided there; only weak components that reach the
 * border of their tile are left. A second kernel unites these across borders; who lists the
 * edges settles them.
 *
 * Components are trees of labels: the label of a pixel is a pixel of the same component with a
 * smaller number, and a root is its own label. In the image's labels, number 0 stands for "holds
 * a strong pixel" and i + 1 for pixel i. */
#include "hough/hough_cuda.cuh"

#define TILE_W 64
#define TILE_H 16
#define TILE (TILE_W * TILE_H)
#define THREADS 128
#define WARPS (THREADS / 32)
#define PAD 4                    /* columns left and right of the tile that are loaded: a word */
#define PITCH (TILE_W + 2 * PAD) /* px */
#define WORDS (PITCH / 4)        /* of a row */
#define ROWS 3                   /* of gradients of a thread */
#define LOADS 3                  /* words of a thread */

namespace {

struct Canny {
  const uint8_t *in;
  ptrdiff_t stride;
  int width, height;
  int low, high;
  uint32_t *gradients; /* NULL: not needed */
  uint8_t *classes;    /* 0, HOUGH_EDGE, or HOUGH_WEAK until it is settled */
  int *labels;         /* of HOUGH_WEAK pixels */
};

/* Places in a tile are row * TILE_W + column. */
struct Tile {
  uint32_t picture[TILE_H + 4][WORDS]; /* 4 px a word; from 2 rows above the tile */
  union {
    uint4 gradient[TILE_H + 2][WORDS]; /* from 1 row above */
    int parent[TILE];                  /* afterwards: of the place where a run of a row begins */
  };
  uint16_t strength[TILE]; /* places whose magnitude is above `low`, in any order */
  uint16_t runs[TILE / 2]; /* places where runs of thin pixels of a row start, in any order */
  int count, run_count;    /* of both */
  /* Bit x: column x. Thin pixels; among them the strong ones, those whose component holds a strong
   * one, and the others whose component reaches another tile. */
  uint64_t thin[TILE_H], strong[TILE_H], alive[TILE_H], open[TILE_H];
  /* Bit of a place that is a root: its component holds a strong pixel, or reaches another tile. */
  uint32_t has_strong[TILE / 32], is_open[TILE / 32];
};

/* Coordinates beyond the image repeat its border. */
__device__ uint32_t load_word(const Canny &c, const uint8_t *row, int x) {
  uint32_t v = 0;
#pragma unroll
  for (int k = 0; k < 4; k++)
    v |= (uint32_t)row[rv_clamp(x + k, 0, c.width - 1)] << 8 * k;
  return v;
}

__device__ void load_picture(const Canny &c, Tile *tile, int x0, int y0) {
  static_assert((TILE_H + 4) * WORDS <= LOADS * THREADS, "every word has a thread");
  const bool whole = x0 >= PAD && x0 + TILE_W + PAD <= c.width &&
                     (((uintptr_t)c.in | (uintptr_t)c.stride) & 3) == 0;
  uint32_t *const to = &tile->picture[0][0]; /* rows are back to back */
  uint32_t v[LOADS];
#pragma unroll
  for (int k = 0; k < LOADS; k++) {
    const int i = (int)threadIdx.x + k * THREADS, row = i / WORDS, word = i % WORDS;
    const uint8_t *from = c.in + rv_clamp(y0 - 2 + row, 0, c.height - 1) * c.stride;
    const int x = x0 - PAD + 4 * word;
    if (row < TILE_H + 4)
      v[k] = whole ? __ldg((const uint32_t *)(from + x)) : load_word(c, from, x);
  }
#pragma unroll
  for (int k = 0; k < LOADS; k++) {
    const int i = (int)threadIdx.x + k * THREADS;
    if (i < (TILE_H + 4) * WORDS)
      to[i] = v[k];
  }
}

/* A word of a row and what is next to it, two pixels in the halves of each number: no sum of the
 * Sobel operator leaves 16 bits. */
struct Pairs {
  uint32_t even, odd;               /* columns 0 and 2, 1 and 3 */
  uint32_t left, right;             /* -1 and 1, 2 and 4 */
  uint32_t across_even, across_odd; /* left + 2 at + right of each column */

  __device__ Pairs() {}
  __device__ Pairs(const uint32_t *words, int word) {
    const uint32_t at = words[word];
    even = at & 0x00ff00ffu;
    odd = at >> 8 & 0x00ff00ffu;
    left = odd << 16 | words[max(word - 1, 0)] >> 24;
    right = even >> 16 | (words[min(word + 1, WORDS - 1)] & 255) << 16;
    across_even = left + 2 * even + odd;
    across_odd = even + 2 * odd + right;
  }
};

/* a - b in both halves, two's complement; both are below 2^15. */
__device__ __forceinline__ uint32_t minus(uint32_t a, uint32_t b) {
  return (a - b + 0x80008000u) ^ 0x80008000u;
}

/* rv_hough_sobel of the four columns. */
__device__ uint4 sobel(const Pairs &up, const Pairs &at, const Pairs &down) {
  const uint32_t x_even = minus(up.odd + 2 * at.odd + down.odd, up.left + 2 * at.left + down.left);
  const uint32_t x_odd =
      minus(up.right + 2 * at.right + down.right, up.even + 2 * at.even + down.even);
  const uint32_t y_even = minus(down.across_even, up.across_even);
  const uint32_t y_odd = minus(down.across_odd, up.across_odd);
  return make_uint4(__byte_perm(x_even, y_even, 0x5410), __byte_perm(x_odd, y_odd, 0x5410),
                    __byte_perm(x_even, y_even, 0x7632), __byte_perm(x_odd, y_odd, 0x7632));
}

/* Lists the pixels of a word above `low`, in columns x and on of row y. */
__device__ __forceinline__ void list_strength(const Canny &c, Tile *tile, int x, int y, uint4 g) {
  const bool is_in[4] = {rv_hough_magnitude(g.x) > c.low, rv_hough_magnitude(g.y) > c.low,
                         rv_hough_magnitude(g.z) > c.low, rv_hough_magnitude(g.w) > c.low};
  const int count = is_in[0] + is_in[1] + is_in[2] + is_in[3];
  if (!count)
    return;
  int at = atomicAdd(&tile->count, count);
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (is_in[k])
      tile->strength[at++] = (uint16_t)(y * TILE_W + x + k);
}

/* 0 outside the image. */
__device__ uint4 cut(const Canny &c, uint4 g, int x, int y) {
  const bool has_row = y >= 0 && y < c.height;
  g.x = has_row && x >= 0 && x < c.width ? g.x : 0;
  g.y = has_row && x + 1 >= 0 && x + 1 < c.width ? g.y : 0;
  g.z = has_row && x + 2 >= 0 && x + 2 < c.width ? g.z : 0;
  g.w = has_row && x + 3 >= 0 && x + 3 < c.width ? g.w : 0;
  return g;
}

__device__ void store_gradients(const Canny &c, uint4 g, int x, int y) {
  const uint32_t values[4] = {g.x, g.y, g.z, g.w};
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (x + k < c.width && y < c.height)
      c.gradients[(size_t)y * c.width + x + k] = values[k];
}

/* Gradients of the tile and one pixel around it; a thread has ROWS rows of a word. */
__device__ void find_gradients(const Canny &c, Tile *tile, int x0, int y0) {
  static_assert((TILE_H + 2 + ROWS - 1) / ROWS * WORDS <= THREADS, "every row has a thread");
  const bool is_inner =
      x0 >= PAD && y0 > 0 && x0 + TILE_W + PAD <= c.width && y0 + TILE_H < c.height;
  const int word = (int)threadIdx.x % WORDS, first = (int)threadIdx.x / WORDS * ROWS;
  if (first >= TILE_H + 2)
    return;
  Pairs up(tile->picture[first], word), at(tile->picture[first + 1], word);
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const int row = first + i, x = 4 * word - PAD, y = row - 1;
    if (row >= TILE_H + 2)
      return;
    const Pairs down(tile->picture[row + 2], word);
    uint4 g = sobel(up, at, down);
    if (!is_inner)
      g = cut(c, g, x0 + x, y0 + y);
    tile->gradient[row][word] = g;
    if (x >= 0 && x < TILE_W && y >= 0 && y < TILE_H) {
      list_strength(c, tile, x, y, g);
      if (c.gradients)
        store_gradients(c, g, x0 + x, y0 + y);
    }
    up = at;
    at = down;
  }
}

__device__ __forceinline__ uint32_t gradient_at(const Tile *tile, int x, int y) {
  return ((const uint32_t *)tile->gradient[y + 1])[x + PAD];
}

__device__ __forceinline__ int magnitude_at(const Tile *tile, int x, int y) {
  return rv_hough_magnitude(gradient_at(tile, x, y));
}

__device__ __forceinline__ void add_bit(uint64_t *row, int x) {
  atomicOr((uint32_t *)row + x / 32, 1u << x % 32);
}

/* Pixels above `low` whose magnitude is a maximum across the edge. */
__device__ void make_thin(const Canny &c, Tile *tile) {
  for (int i = (int)threadIdx.x; i < tile->count; i += THREADS) {
    const int x = tile->strength[i] % TILE_W, y = tile->strength[i] / TILE_W;
    const uint32_t gradient = gradient_at(tile, x, y);
    const int m = rv_hough_magnitude(gradient), sector = rv_hough_sector(gradient);
    const int dx = rv_hough_sector_x(sector), dy = rv_hough_sector_y(sector);
    if (m <= magnitude_at(tile, x - dx, y - dy) || m < magnitude_at(tile, x + dx, y + dy))
      continue;
    add_bit(&tile->thin[y], x);
    if (m > c.high)
      add_bit(&tile->strong[y], x);
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

/* Pixels where runs of a row start. */
__device__ __forceinline__ uint64_t starts_of(uint64_t row) {
  return row & ~(row << 1);
}

/* Place where the run that holds column x of row y starts. */
__device__ __forceinline__ int start_at(const Tile *tile, int x, int y) {
  const uint64_t gaps = ~tile->thin[y] & (((uint64_t)1 << x) - 1);
  return y * TILE_W + (gaps ? 64 - __clzll((long long)gaps) : 0);
}

/* A run of thin pixels in a row, and the pixels of the row above that touch it. */
struct Run {
  int place, x, y;
  uint64_t pixels, above; /* pixels 0: no run starts here */

  __device__ Run(const Tile *tile, int place) : place(place) {
    x = place % TILE_W, y = place / TILE_W;
    const uint64_t row = tile->thin[y], first = (uint64_t)1 << x;
    pixels = starts_of(row) & first ? row & ~(row + first) : 0; /* a sum carries through a run */
    above = y ? (pixels | pixels << 1 | pixels >> 1) & tile->thin[y - 1] : 0;
  }
};

/* Columns through which a component of row y leaves the tile for another one. */
__device__ __forceinline__ uint64_t sides_of(const Canny &c, int x0, int y0, int y) {
  if ((y == 0 && y0 > 0) || (y == TILE_H - 1 && y0 + TILE_H < c.height))
    return ~(uint64_t)0;
  return (x0 > 0) | (uint64_t)(x0 + TILE_W < c.width) << (TILE_W - 1);
}

__device__ __forceinline__ void add_bits(uint64_t *row, uint64_t bits) {
  uint32_t *halves = (uint32_t *)row;
  if ((uint32_t)bits)
    atomicOr(&halves[0], (uint32_t)bits);
  if (bits >> 32)
    atomicOr(&halves[1], (uint32_t)(bits >> 32));
}

/* Labels in the image of the pixels of an open run. */
__device__ void store_labels(const Canny &c, const Run &run, int root, int x0, int y0) {
  int *labels = c.labels + (size_t)(y0 + run.y) * c.width + x0;
  const int label = 1 + (y0 + root / TILE_W) * c.width + x0 + root % TILE_W;
  for (uint64_t left = run.pixels; left; left &= left - 1)
    labels[__ffsll((long long)left) - 1] = label;
}

/* Lists the runs, each of which hangs on one that touches it in the row above. */
__device__ void list_runs(Tile *tile) {
  for (int i = (int)threadIdx.x; i < tile->count; i += THREADS) {
    const Run run(tile, tile->strength[i]);
    if (!run.pixels)
      continue;
    tile->parent[run.place] =
        run.above ? start_at(tile, __ffsll((long long)run.above) - 1, run.y - 1) : run.place;
    tile->runs[atomicAdd(&tile->run_count, 1)] = (uint16_t)run.place;
  }
}

/* Unites runs with the others that touch them. */
__device__ void unite_runs(Tile *tile) {
  for (int i = (int)threadIdx.x; i < tile->run_count; i += THREADS) {
    const Run run(tile, tile->runs[i]);
    uint64_t others = starts_of(run.above);
    for (others &= others - 1; others; others &= others - 1)
      tile_unite(tile->parent, run.place,
                 start_at(tile, __ffsll((long long)others) - 1, run.y - 1));
  }
}

/* What the tile alone decides. A component is open when it has no strong pixel and reaches a
 * side of the tile that is not one of the image. */
__device__ void find_components(const Canny &c, Tile *tile, int x0, int y0) {
  list_runs(tile);
  __syncthreads();
  unite_runs(tile);
  __syncthreads();
  for (int i = (int)threadIdx.x; i < tile->run_count; i += THREADS) {
    const Run run(tile, tile->runs[i]);
    const bool is_strong = (run.pixels & tile->strong[run.y]) != 0;
    if (!is_strong && !(run.pixels & sides_of(c, x0, y0, run.y)))
      continue;
    const int root = tile_root(tile->parent, run.place);
    atomicOr(is_strong ? &tile->has_strong[root / 32] : &tile->is_open[root / 32], 1u << root % 32);
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < tile->run_count; i += THREADS) {
    const Run run(tile, tile->runs[i]);
    const int root = tile_root(tile->parent, run.place);
    if (tile->has_strong[root / 32] >> root % 32 & 1) {
      add_bits(&tile->alive[run.y], run.pixels);
    } else if (tile->is_open[root / 32] >> root % 32 & 1) {
      add_bits(&tile->open[run.y], run.pixels);
      store_labels(c, run, root, x0, y0);
    }
  }
}

/* Bit i of the lowest four becomes bit 0 of byte i. */
__device__ __forceinline__ uint32_t bytes_of(uint32_t bits) {
  return (bits & 15) * 0x00204081u & 0x01010101u;
}

/* Classes of the tile's pixels, eight a thread. */
__device__ void store_classes(const Canny &c, const Tile *tile, int x0, int y0) {
  static_assert(TILE == 8 * THREADS, "eight pixels a thread");
  const int row = (int)threadIdx.x / (TILE_W / 8), column = (int)threadIdx.x % (TILE_W / 8) * 8;
  const uint32_t alive = (uint32_t)(tile->alive[row] >> column);
  const uint32_t open = (uint32_t)(tile->open[row] >> column);
  const int x = x0 + column, y = y0 + row;
  const uint32_t first = bytes_of(alive) * HOUGH_EDGE | bytes_of(open) * HOUGH_WEAK;
  const uint32_t second = bytes_of(alive >> 4) * HOUGH_EDGE | bytes_of(open >> 4) * HOUGH_WEAK;
  if (y >= c.height)
    return;
  uint8_t *to = c.classes + (size_t)y * c.width + x;
  if (x + 8 <= c.width && c.width % 8 == 0) {
    *(uint2 *)to = make_uint2(first, second);
    return;
  }
  for (int i = 0; i < 8 && x + i < c.width; i++)
    to[i] = (uint8_t)((i < 4 ? first : second) >> i % 4 * 8);
}

__global__ void __launch_bounds__(THREADS, rv_launch_blocks(THREADS, 16))
    tile_kernel(const Canny c) {
  __shared__ Tile tile;
  rv_launch_wait();
  rv_launch_next();
  const int x0 = (int)blockIdx.x * TILE_W, y0 = (int)blockIdx.y * TILE_H, t = (int)threadIdx.x;
  if (t < TILE_H)
    tile.thin[t] = tile.strong[t] = tile.alive[t] = tile.open[t] = 0;
  if (t < TILE / 32)
    tile.has_strong[t] = tile.is_open[t] = 0;
  if (t == 0)
    tile.count = tile.run_count = 0;
  load_picture(c, &tile, x0, y0);
  __syncthreads();
  find_gradients(c, &tile, x0, y0);
  __syncthreads();
  if (tile.count) {
    make_thin(c, &tile);
    __syncthreads();
    find_components(c, &tile, x0, y0);
    __syncthreads();
  }
  store_classes(c, &tile, x0, y0);
}

/* As above, over the image. */
__device__ void unite(int *labels, int a, int b) {
  for (;;) {
    a = hough_root(labels, a);
    b = hough_root(labels, b);
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

/* Unites the pixels i and k, of classes a and b, when at least one is not decided. */
__device__ void unite_pixels(const Canny &c, size_t i, int a, size_t k, int b) {
  if (a != HOUGH_EDGE || b != HOUGH_EDGE)
    unite(c.labels, a == HOUGH_EDGE ? 0 : (int)i + 1, b == HOUGH_EDGE ? 0 : (int)k + 1);
}

/* Unites pixel i with the three neighbors in the tile before, `step` from one to the next; the
 * middle one is of one component with the others. */
__device__ void unite_across(const Canny &c, size_t i, ptrdiff_t middle, ptrdiff_t step,
                             bool has_first, bool has_last) {
  const size_t k = i + middle;
  const int a = c.classes[i], at = c.classes[k];
  const int first = has_first ? c.classes[k - step] : 0, last = has_last ? c.classes[k + step] : 0;
  if (!a)
    return;
  if (at)
    unite_pixels(c, i, a, k, at);
  if (!at && first)
    unite_pixels(c, i, a, k - step, first);
  if (!at && last)
    unite_pixels(c, i, a, k + step, last);
}

/* First the pixels in the top rows of tiles, then those in the left columns. */
__global__ void __launch_bounds__(THREADS) border_kernel(const Canny c) {
  rv_launch_wait();
  rv_launch_next();
  const int rows = (c.height - 1) / TILE_H * c.width, columns = (c.width - 1) / TILE_W * c.height;
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (i < rows) {
    const int x = i % c.width, y = (i / c.width + 1) * TILE_H;
    unite_across(c, (size_t)y * c.width + x, -(ptrdiff_t)c.width, 1, x > 0, x + 1 < c.width);
  } else if (i < rows + columns) {
    const int y = (i - rows) % c.height, x = ((i - rows) / c.height + 1) * TILE_W;
    unite_across(c, (size_t)y * c.width + x, -1, c.width, y > 0, y + 1 < c.height);
  }
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
  RV_TRY(rv_launch(log, tile_kernel, tiles, dim3(THREADS), 0, job->stream, work->is_early, c));
  const int border = (p->height - 1) / TILE_H * p->width + (p->width - 1) / TILE_W * p->height;
  if (border > 0)
    RV_TRY(rv_launch(log, border_kernel, dim3((unsigned)rv_div_up(border, THREADS)), dim3(THREADS),
                     0, job->stream, work->is_early, c));
  return RV_OK;
}
