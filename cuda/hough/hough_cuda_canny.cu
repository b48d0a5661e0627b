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
  uint32_t picture[TILE_H + 4][WORDS]; /* 4 px a word; from 2 rows above the tile */
  uint4 gradient[TILE_H + 2][WORDS];   /* from 1 row above */
  /* Bit x: column x. Thin pixels; among them the strong ones, those whose component holds a strong
   * one, and the others whose component reaches another tile. */
  uint64_t thin[TILE_H], strong[TILE_H], alive[TILE_H], open[TILE_H];
  int labels[TILE]; /* of open pixels */
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

/* Six columns of three rows of the picture, from the last one of the word before to the first one of
 * the word after: up + 2 at + down, and down - up. Both parts of the Sobel gradient are sums of
 * these. */
struct Columns {
  int sum[6], difference[6];

  __device__ static int column(const uint32_t *words, int word, int i) {
    const int from = i == 0 ? max(word - 1, 0) : i == 5 ? min(word + 1, WORDS - 1) : word;
    return (int)(words[from] >> (i + 3) % 4 * 8 & 255);
  }
  __device__ Columns(const Tile *tile, int row, int word) {
#pragma unroll
    for (int i = 0; i < 6; i++) {
      const int up = column(tile->picture[row], word, i);
      const int at = column(tile->picture[row + 1], word, i);
      const int down = column(tile->picture[row + 2], word, i);
      sum[i] = up + 2 * at + down;
      difference[i] = down - up;
    }
  }
  /* rv_hough_sobel of column k, 1 to 4. */
  __device__ uint32_t sobel(int k) const {
    return rv_hough_pack(sum[k + 1] - sum[k - 1],
                         difference[k - 1] + 2 * difference[k] + difference[k + 1]);
  }
};

/* Gradients of the tile and one pixel around it; 0 outside the picture. */
__device__ void find_gradients(const Canny &c, Tile *tile, int x0, int y0) {
  const bool is_inner =
      x0 >= PAD && y0 > 0 && x0 + TILE_W + PAD <= c.width && y0 + TILE_H < c.height;
  for (int i = (int)threadIdx.x; i < (TILE_H + 2) * WORDS; i += THREADS) {
    const int row = i / WORDS, word = i % WORDS, y = y0 - 1 + row;
    const Columns columns(tile, row, word);
    uint32_t out[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int x = x0 - PAD + 4 * word + k;
      const bool is_inside = is_inner || (x >= 0 && x < c.width && y >= 0 && y < c.height);
      out[k] = is_inside ? columns.sobel(k + 1) : rv_hough_pack(0, 0);
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

/* Pixels above `low` whose magnitude is a maximum across the edge. */
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
  }
}

/* All pixels of `through` that a run of its pixels joins with one of `from`, in a row. */
__device__ __forceinline__ uint64_t fill_row(uint64_t from, uint64_t through) {
  uint64_t right = from, left = from, to_right = through, to_left = through;
#pragma unroll
  for (int step = 1; step < TILE_W; step *= 2) {
    right |= to_right & right << step;
    to_right &= to_right << step;
    left |= to_left & left >> step;
    to_left &= to_left >> step;
  }
  return right | left;
}

/* Lane y has row y: grows `from` through the pixels of `through` that touch it, corners too. */
__device__ uint64_t flood(uint64_t from, uint64_t through) {
  static_assert(TILE_H == 32, "a lane for each row");
  uint64_t reached = from & through;
  for (bool is_grown = true; __any_sync(RV_WARP, is_grown);) {
    uint64_t near = reached;
    const uint64_t up = __shfl_up_sync(RV_WARP, reached, 1);
    const uint64_t down = __shfl_down_sync(RV_WARP, reached, 1);
    near |= (rv_lane() > 0 ? up : 0) | (rv_lane() < 31 ? down : 0);
    near |= near << 1 | near >> 1;
    const uint64_t next = fill_row(near & through, through);
    is_grown = next != reached;
    reached = next;
  }
  return reached;
}

/* What the tile alone decides, by its first warp. A component is open when it has no strong pixel
 * and reaches a side of the tile that is not one of the picture. */
__device__ void find_components(const Canny &c, Tile *tile, int x0, int y0) {
  if (threadIdx.x >= 32)
    return;
  const int y = rv_lane();
  const uint64_t thin = tile->thin[y];
  const uint64_t alive = flood(tile->strong[y], thin);
  uint64_t sides = (x0 > 0) | (uint64_t)(x0 + TILE_W < c.width) << (TILE_W - 1);
  if ((y == 0 && y0 > 0) || (y == TILE_H - 1 && y0 + TILE_H < c.height))
    sides = ~(uint64_t)0;
  tile->alive[y] = alive;
  tile->open[y] = flood(sides, thin & ~alive);
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

/* First label of an open pixel: the start of its run. */
__device__ void label_runs(Tile *tile) {
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = unit_x(unit), y = unit_y(unit);
    const uint64_t gaps = ~tile->open[y] & (((uint64_t)1 << x) - 1);
    tile->labels[y * TILE_W + x] = y * TILE_W + (gaps ? 64 - __clzll((long long)gaps) : 0);
  }
}

/* Unites runs of open pixels with those of the row above; a pair that touches in several columns is
 * united once. */
__device__ void unite_runs(Tile *tile) {
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = unit_x(unit), y = unit_y(unit), i = y * TILE_W + x;
    const uint64_t row = tile->open[y];
    if (y == 0 || !bit_at(row, x))
      continue;
    const bool left = bit_at(row, x - 1), right = bit_at(row, x + 1);
    const uint64_t above = tile->open[y - 1];
    const bool up = bit_at(above, x), up_left = bit_at(above, x - 1);
    if (up && !(left && up_left))
      tile_unite(tile->labels, i, i - TILE_W);
    if (!up && up_left && !left)
      tile_unite(tile->labels, i, i - TILE_W - 1);
    if (!up && bit_at(above, x + 1) && !right)
      tile_unite(tile->labels, i, i - TILE_W + 1);
  }
}

/* Labels in the picture of open pixels. */
__device__ void store_labels(const Canny &c, const Tile *tile, int x0, int y0) {
  for (int unit = 0; unit < UNITS; unit++) {
    const int x = unit_x(unit), y = unit_y(unit);
    if (!bit_at(tile->open[y], x))
      continue;
    const int r = tile_root(tile->labels, y * TILE_W + x);
    c.labels[(size_t)(y0 + y) * c.width + x0 + x] =
        1 + (y0 + r / TILE_W) * c.width + x0 + r % TILE_W;
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
  const uint32_t first = bytes_of(alive) * EDGE | bytes_of(open) * WEAK;
  const uint32_t second = bytes_of(alive >> 4) * EDGE | bytes_of(open >> 4) * WEAK;
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

__global__ void __launch_bounds__(THREADS) tile_kernel(const Canny c) {
  __shared__ Tile tile;
  rv_launch_wait();
  rv_launch_next();
  const int x0 = (int)blockIdx.x * TILE_W, y0 = (int)blockIdx.y * TILE_H;
  load_picture(c, &tile, x0, y0);
  __syncthreads();
  find_gradients(c, &tile, x0, y0);
  __syncthreads();
  make_thin(c, &tile, x0, y0);
  __syncthreads();
  find_components(c, &tile, x0, y0);
  __syncthreads();
  store_classes(c, &tile, x0, y0);
  if (!__syncthreads_or(tile.open[threadIdx.x % TILE_H] != 0))
    return;
  label_runs(&tile);
  __syncthreads();
  unite_runs(&tile);
  __syncthreads();
  store_labels(c, &tile, x0, y0);
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
