/* SPDX-License-Identifier: MIT */
/* sgm_cuda_refine.cu: the refine stage: sky and dense filling, in the planes of the job.
 *
 * Sky: candidates are bits of words of 32 columns. The runs of the words form a union-find forest: the
 * first pixel of a run has the number of another one of its region, smaller or its own; a region that
 * touches the top row has number 0. A block that finds candidates joins their runs in its shared
 * memory; then runs are joined across the boundaries of these blocks.
 *
 * Fill: a warp takes a row, once to the right and once to the left, and finds the ends of each hole;
 * then a warp takes a filled pixel at a time and finds the weighted median of its window. */
#include <string.h>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"
#include "sgm/sgm_cuda_regions.cuh"

namespace {

enum { WARPS = 8, THREADS = 32 * WARPS };
enum { RX = RV_SGM_RADIUS_X, RY = RV_SGM_RADIUS_Y };
/* What marks candidates: pixels of a lane side by side, its rows; columns, rows and words of a block;
 * what its windows have: words of a row with one more column to the right, and rows. */
enum { MARK_COLUMNS = 4, MARK_ROWS = 4, MARK_X = 32 * MARK_COLUMNS, MARK_Y = MARK_ROWS * WARPS };
enum { MARK_WORDS = MARK_X / 32, SPAN_X = MARK_X / 4 + 3, SPAN_Y = MARK_Y + 2 * RY };
static_assert(RX == 4 && MARK_COLUMNS == 4, "a window begins one word before the lane's own");

struct RefineArgs {
  SgmRaster<const uint8_t> gray; /* left view */
  SgmRaster<uint16_t> disparity; /* of the job */
  SgmRaster<uint8_t> confidence; /* data is NULL when not asked for */
  SgmRaster<uint16_t> winner;    /* RV_SGM_NO_MATCH in the sky */
  int width, height, min_disparity;
  const uint32_t *totals;                   /* of the gray levels of the rows */
  uint32_t *masks;                          /* [y][word of 32 columns]: candidates */
  uint32_t *labels;                         /* [y][x]: of the first pixel of a run, a number */
  int words;                                /* of a row of masks */
  SgmRaster<uint16_t> values, ends, filled; /* fill: disparities, ends of holes, result */
  uint32_t *before; /* fill: [y][x]: value of the end to the left, its column + 1 above 16 bits */
  uint8_t weight_of[256];
};

/* --- Sky ------------------------------------------------------------------------------------- */

/* Columns of a warp of row y; a block takes WARPS rows. */
struct Place {
  int lane, x, y;
  bool inside;

  __device__ __forceinline__ Place(const RefineArgs &a) {
    lane = (int)threadIdx.x % 32;
    x = (int)blockIdx.x * 32 + lane, y = (int)(blockIdx.y * WARPS + threadIdx.x / 32);
    inside = x < a.width && y < a.height;
  }
};

/* A block's pixels with their windows. Sums have the gray levels and above 16 bits the gradients,
 * and fit: 63 windows of 255 and of 510. */
struct Windows {
  uint32_t gray[SPAN_Y + 1][SPAN_X]; /* four columns per word; and one more row below */
  union {
    uint4 across[SPAN_Y][32];         /* sums of 9 columns, of a lane's pixels */
    uint32_t forest[MARK_Y * MARK_X]; /* then: of the first pixel of a run, one of its region */
  };
  uint32_t masks[MARK_Y][MARK_WORDS]; /* candidates */
  uint64_t totals[WARPS];
  uint32_t bright[THREADS]; /* see find_bright */
  int brightness;
};

/* Sums of the gray levels of rows, a part by each warp: 64 rows of 2^14 columns fit 32 bits. */
__device__ __forceinline__ void add_totals(const RefineArgs &a, Windows &w) {
  uint32_t sum = 0;
  for (int y = (int)threadIdx.x; y < a.height; y += THREADS)
    sum += a.totals[y];
  const uint64_t of_warp = sgm_warp_sum(sum & 0xffffu) + ((uint64_t)sgm_warp_sum(sum >> 16) << 16);
  if (threadIdx.x % 32 == 0)
    w.totals[threadIdx.x / 32] = of_warp;
}

__device__ __forceinline__ int brightness_of(const RefineArgs &a, const Windows &w) {
  uint64_t total = 0;
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    total += w.totals[i];
  return rv_sgm_sky_brightness((int64_t)total, (int64_t)a.width * (int64_t)a.height);
}

/* Loads the gray levels from column x0 and row y0 on; beyond an end that of the pixel at the end. */
__device__ __forceinline__ void load_gray(const RefineArgs &a, Windows &w, int x0, int y0) {
  enum { BYTES = 4 * SPAN_X, EACH = (BYTES + 31) / 32, ROUNDS = (SPAN_Y + WARPS) / WARPS };
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
  for (int n = 0; n < ROUNDS; n++) {
    const int j = warp + n * WARPS;
    if (j > SPAN_Y)
      break;
    const uint8_t *const row = a.gray.row(rv_clamp(y0 + j, 0, a.height - 1));
    uint8_t *const to = (uint8_t *)w.gray[j];
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (i + 1 < EACH || lane < BYTES - 32 * (EACH - 1))
        to[lane + 32 * i] = row[rv_clamp(x0 + lane + 32 * i, 0, a.width - 1)];
  }
}

/* Adds the bytes of the 9 columns around each of a lane's pixels, in the words before, of and after
 * these. */
__device__ __forceinline__ void add_columns(uint32_t (&sum)[MARK_COLUMNS],
                                            const uint32_t (&word)[3]) {
  const uint32_t all = 0x01010101u;
  const uint32_t own = __dp4a(word[1], all, 0u);
#pragma unroll
  for (int c = 0; c < MARK_COLUMNS; c++)
    sum[c] += __dp4a(word[2], all >> 8 * (3 - c), __dp4a(word[0], all << 8 * c, own));
}

/* Sums of the 9 columns around a lane's pixels in a row of the block; edges: selects the gradients to
 * the right of the word before a lane's own, see sum_windows. */
__device__ __forceinline__ uint4 sum_across(const uint32_t *row, const uint32_t *next,
                                            uint32_t edges) {
  uint32_t here[4], right[3], below[3], gray[MARK_COLUMNS] = {}, gradient[MARK_COLUMNS] = {};
#pragma unroll
  for (int i = 0; i < 4; i++)
    here[i] = row[i];
#pragma unroll
  for (int i = 0; i < 3; i++) {
    right[i] = __vabsdiffu4(here[i], __byte_perm(here[i], here[i + 1], 0x4321));
    below[i] = __vabsdiffu4(here[i], next[i]);
  }
  right[0] = __byte_perm(right[0], right[1], edges);
  add_columns(gray, {here[0], here[1], here[2]});
  add_columns(gradient, right), add_columns(gradient, below);
  return make_uint4(gray[0] + (gradient[0] << 16), gray[1] + (gradient[1] << 16),
                    gray[2] + (gradient[2] << 16), gray[3] + (gradient[3] << 16));
}

/* Beyond an end the pixel at the end is repeated, which has that gradient too: to the right of the
 * image it is 0 in gray levels that are repeated, to its left it is that of column 0, and rows above
 * the image are row 0. */
__device__ __forceinline__ void sum_windows(const RefineArgs &a, Windows &w) {
  const int x0 = (int)blockIdx.x * MARK_X - RX, y0 = (int)blockIdx.y * MARK_Y - RY;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  load_gray(a, w, x0, y0);
  add_totals(a, w);
  __syncthreads();
  if (warp == WARPS - 1) /* it has one row less */
    w.brightness = brightness_of(a, w);
  const uint32_t edges = x0 < 0 && lane == 0 ? 0x4444 : 0x3210;
#pragma unroll
  for (int n = 0; n < (SPAN_Y + WARPS - 1) / WARPS; n++) {
    const int j = warp + n * WARPS;
    if (j >= SPAN_Y)
      break;
    const uint32_t *const row = w.gray[rv_max(j, -y0)] + lane;
    w.across[j][lane] = sum_across(row, row + SPAN_X, edges);
  }
  __syncthreads();
}

/* Bit 4 r + c: the window of a lane's pixel in its row r and column c is one of the sky. */
__device__ __forceinline__ uint32_t find_bright(const Windows &w) {
  const int lane = (int)threadIdx.x % 32, first = (int)threadIdx.x / 32 * MARK_ROWS;
  uint32_t sum[MARK_COLUMNS] = {}, found = 0;
  const auto add = [&](int row, bool is_more) {
    const uint4 v = w.across[row][lane];
    const uint32_t word[MARK_COLUMNS] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int c = 0; c < MARK_COLUMNS; c++)
      sum[c] += is_more ? word[c] : 0u - word[c];
  };
#pragma unroll
  for (int j = 0; j < 2 * RY; j++)
    add(first + j, true);
#pragma unroll
  for (int r = 0; r < MARK_ROWS; r++) {
    add(first + r + 2 * RY, true);
    if (r > 0)
      add(first + r - 1, false);
#pragma unroll
    for (int c = 0; c < MARK_COLUMNS; c++)
      if (rv_sgm_is_sky_like(RV_SGM_INVALID, (int)(sum[c] >> 16), (int)(sum[c] & 0xffffu),
                             w.brightness))
        found |= 1u << (MARK_COLUMNS * r + c);
  }
  return found;
}

/* The same for disparities that are not too near, in `columns` columns and `rows` rows of the lane. */
__device__ __forceinline__ uint32_t find_far(const uint16_t *at, ptrdiff_t stride, int columns,
                                             int rows) {
  uint32_t found = 0;
  if (columns < MARK_COLUMNS || rows < MARK_ROWS) {
#pragma unroll 1
    for (int n = 0; n < MARK_ROWS * MARK_COLUMNS; n++) {
      const int r = n / MARK_COLUMNS, c = n % MARK_COLUMNS;
      if (r < rows && c < columns && at[r * stride + c] <= RV_SGM_SKY_NEAREST)
        found |= 1u << n;
    }
    return found;
  }
  uint16_t disparity[MARK_ROWS][MARK_COLUMNS];
#pragma unroll
  for (int r = 0; r < MARK_ROWS; r++, at += stride)
#pragma unroll
    for (int c = 0; c < MARK_COLUMNS; c++)
      disparity[r][c] = at[c];
#pragma unroll
  for (int r = 0; r < MARK_ROWS; r++)
#pragma unroll
    for (int c = 0; c < MARK_COLUMNS; c++)
      if (disparity[r][c] <= RV_SGM_SKY_NEAREST)
        found |= 1u << (MARK_COLUMNS * r + c);
  return found;
}

/* Candidates of a lane's pixels, as above, to the masks: two lanes have a byte of each row. */
__device__ __forceinline__ void store_masks(Windows &w, uint32_t found) {
  const int lane = (int)threadIdx.x % 32, odd = lane % 2;
  const int first = (int)threadIdx.x / 32 * MARK_ROWS + 2 * odd;
  const uint32_t other = __shfl_xor_sync(SGM_WARP, found, 1);
  const uint32_t left = (odd ? other : found) >> 8 * odd, right = (odd ? found : other) >> 8 * odd;
#pragma unroll
  for (int r = 0; r < 2; r++)
    ((uint8_t *)w.masks[first + r])[lane / 2] =
        (uint8_t)((left >> 4 * r & 0xfu) | (right >> 4 * r & 0xfu) << 4);
}

/* First column of the run of candidates that column i is in. */
__device__ __forceinline__ int start_of(uint32_t mask, int i) {
  const uint32_t others = ~mask & ((1u << i) - 1);
  return others ? 32 - __clz((int)others) : 0;
}

/* The run that begins in the lowest column of `mask`, which is not empty. */
__device__ __forceinline__ uint32_t first_run(uint32_t mask) {
  return mask & ~(mask + (mask & (0u - mask)));
}

/* Number of the run of candidates in word w of row y that column i of the word is in: that of its
 * first pixel. */
__device__ __forceinline__ uint32_t number_of(const RefineArgs &a, int y, int w, uint32_t mask,
                                              int i) {
  return y == 0 ? 0 : (uint32_t)(y * a.width + 32 * w + start_of(mask, i)) + 1;
}

/* A thread's word of a block, or the part of it whose runs the thread takes. */
struct Cell {
  enum { EACH = THREADS / (MARK_Y * MARK_WORDS), BITS = 32 / EACH }; /* threads of a word */
  int row, q, part;
  uint32_t mask, bits; /* candidates, columns of the part */

  __device__ __forceinline__ Cell(const Windows &w) {
    const int n = (int)threadIdx.x / EACH;
    part = (int)threadIdx.x % EACH, row = n / MARK_WORDS, q = n % MARK_WORDS;
    mask = w.masks[row][q], bits = (0xffffffffu >> (32 - BITS)) << BITS * part;
  }
  /* Those to the left, above, and above these. */
  __device__ __forceinline__ uint32_t neighbor(const Windows &w, int left, int up) const {
    return q >= left && row >= up ? w.masks[row - up][q - left] : 0;
  }
};

/* Position in a block of the run of candidates in word q of a row that column i is in. */
__device__ __forceinline__ uint32_t position_of(int row, int q, uint32_t mask, int i) {
  return (uint32_t)(row * MARK_X + 32 * q + start_of(mask, i));
}

/* Joins the runs of a block, each at first to the first one above it. */
__device__ __forceinline__ void join_block(Windows &w, const Cell &c) {
  const uint32_t above = c.neighbor(w, 0, 1), both = c.mask & above;
  for (uint32_t begins = c.mask & ~(c.mask << 1) & c.bits; begins; begins &= begins - 1) {
    const int i = __ffs((int)begins) - 1;
    const uint32_t common = above & first_run(c.mask >> i << i);
    w.forest[position_of(c.row, c.q, c.mask, i)] =
        common ? position_of(c.row - 1, c.q, above, __ffs((int)common) - 1)
               : position_of(c.row, c.q, c.mask, i);
  }
  __syncthreads();
  const uint32_t left = c.neighbor(w, 1, 0), above_left = c.neighbor(w, 1, 1);
  /* Where the row above has the same pair of columns, both runs are joined to its runs. */
  if (c.part == 0 && (c.mask & left >> 31 & ~(above & above_left >> 31)))
    sgm_merge_labels(w.forest, position_of(c.row, c.q, c.mask, 0),
                     position_of(c.row, c.q - 1, left, 31));
  for (uint32_t begins = both & ~(both << 1) & c.bits; begins; begins &= begins - 1) {
    const int i = __ffs((int)begins) - 1, start = start_of(c.mask, i);
    if ((both & ((1u << i) - 1)) >> start != 0) /* not the first one above */
      sgm_merge_labels(w.forest, position_of(c.row, c.q, c.mask, i),
                       position_of(c.row - 1, c.q, above, i));
  }
  __syncthreads();
}

/* Finds candidates, and the numbers of their runs. */
__global__ void __launch_bounds__(THREADS) mark_kernel(const __grid_constant__ RefineArgs a) {
  __shared__ Windows w;
  /* The preceding kernels change nothing of this; the totals are older than they. */
  sum_windows(a, w);
  w.bright[threadIdx.x] = find_bright(w); /* what is not stored would be done after the wait */
  const int x0 = (int)blockIdx.x * MARK_X, y0 = (int)blockIdx.y * MARK_Y;
  const int x = x0 + (int)threadIdx.x % 32 * MARK_COLUMNS;
  const int y = y0 + (int)threadIdx.x / 32 * MARK_ROWS;
  const uint16_t *const disparity = a.disparity.row(y) + x;
  rv_launch_wait();
  rv_launch_next();
  uint32_t found = w.bright[threadIdx.x];
  if (found)
    found &= find_far(disparity, a.disparity.stride, a.width - x, a.height - y);
  store_masks(w, found);
  const bool is_empty = !__syncthreads_or(found != 0);
  const Cell c(w);
  const int word = (int)blockIdx.x * MARK_WORDS + c.q;
  if (c.part == 0 && y0 + c.row < a.height && word < a.words)
    a.masks[(size_t)(y0 + c.row) * a.words + word] = c.mask;
  if (is_empty)
    return;
  join_block(w, c);
  for (uint32_t begins = c.mask & ~(c.mask << 1) & c.bits; begins; begins &= begins - 1) {
    const int i = 32 * c.q + __ffs((int)begins) - 1;
    uint32_t root = (uint32_t)(c.row * MARK_X + i);
    for (uint32_t up = w.forest[root]; up != root; up = w.forest[root])
      root = up;
    const int root_y = y0 + (int)(root / MARK_X), root_x = x0 + (int)(root % MARK_X);
    a.labels[(size_t)(y0 + c.row) * a.width + x0 + i] =
        root_y == 0 ? 0 : (uint32_t)(root_y * a.width + root_x) + 1;
  }
}

__device__ __forceinline__ uint32_t root_of(const uint32_t *labels, uint32_t number) {
  while (number) {
    const uint32_t up = *(const volatile uint32_t *)&labels[number - 1];
    if (up == number)
      break;
    number = up;
  }
  return number;
}

/* Only atomic steps change labels, and only to smaller numbers. */
__device__ void join(uint32_t *labels, uint32_t a, uint32_t b) {
  for (;;) {
    a = root_of(labels, a), b = root_of(labels, b);
    if (a == b)
      return;
    const uint32_t above = min(a, b), below = max(a, b);
    const uint32_t old = atomicMin(&labels[below - 1], above);
    if (old == below)
      return;
    a = old, b = above; /* `below` had another parent: those two belong together as well */
  }
}

/* Joins the runs of a word at the top of a block of mark_kernel with those above. */
__device__ __forceinline__ void join_up(const RefineArgs &a, int y, int w) {
  const uint32_t *const at = a.masks + (size_t)y * a.words + w;
  const uint32_t mask = at[0], above = at[-a.words], both = mask & above;
  for (uint32_t begins = both & ~(both << 1); begins; begins &= begins - 1) {
    const int i = __ffs((int)begins) - 1;
    join(a.labels, number_of(a, y, w, mask, i), number_of(a, y - 1, w, above, i));
  }
}

/* Joins a run at the left of a block of mark_kernel with that to the left; where the row above has
 * the same pair of columns, both are joined to its runs. */
__device__ __forceinline__ void join_left(const RefineArgs &a, int y, int w) {
  const uint32_t *const at = a.masks + (size_t)y * a.words + w;
  const uint32_t mask = at[0], left = at[-1];
  const uint32_t above = y > 0 ? at[-a.words] : 0, above_left = y > 0 ? at[-a.words - 1] : 0;
  if (mask & left >> 31 & ~(above & above_left >> 31))
    join(a.labels, number_of(a, y, w, mask, 0), number_of(a, y, w - 1, left, 31));
}

/* Words at the tops of blocks of mark_kernel with others above, and boundaries in a row of words. */
__host__ __device__ inline int words_below(const RefineArgs &a) {
  return (rv_div_up(a.height, MARK_Y) - 1) * a.words;
}
__host__ __device__ inline int boundaries(const RefineArgs &a) {
  return rv_div_up(a.words, MARK_WORDS) - 1;
}

/* Joins runs across the boundaries of blocks, a word per thread. */
__global__ void __launch_bounds__(THREADS) join_kernel(const __grid_constant__ RefineArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const int n = (int)(blockIdx.x * THREADS + threadIdx.x), across = n - words_below(a);
  const int upright = boundaries(a);
  if (across < 0)
    join_up(a, (n / a.words + 1) * MARK_Y, n % a.words);
  else if (upright > 0 && across / upright < a.height)
    join_left(a, across / upright, (across % upright + 1) * MARK_WORDS);
}

/* A word per thread, a row of words after the other. */
struct Word {
  int y, w;
  uint32_t mask; /* candidates */

  __device__ __forceinline__ Word(const RefineArgs &a) {
    const int n = (int)(blockIdx.x * THREADS + threadIdx.x);
    y = n / a.words, w = n % a.words;
    mask = y < a.height ? a.masks[n] : 0;
  }
};

/* A thread finds the sky in a word; its warp writes it. */
__global__ void __launch_bounds__(THREADS) sky_kernel(const __grid_constant__ RefineArgs a) {
  rv_launch_wait();
  const Word word(a);
  uint32_t sky = 0;
  for (uint32_t rest = word.mask; rest;) {
    const uint32_t run = first_run(rest);
    if (root_of(a.labels, number_of(a, word.y, word.w, word.mask, __ffs((int)run) - 1)) == 0)
      sky |= run;
    rest &= ~run;
  }
  for (uint32_t lanes = __ballot_sync(SGM_WARP, sky != 0); lanes; lanes &= lanes - 1) {
    const int from = __ffs((int)lanes) - 1, lane = (int)threadIdx.x % 32;
    const uint32_t mask = __shfl_sync(SGM_WARP, sky, from);
    const int y = __shfl_sync(SGM_WARP, word.y, from);
    const int x = 32 * __shfl_sync(SGM_WARP, word.w, from) + lane;
    if (!(mask >> lane & 1))
      continue;
    a.disparity.row(y)[x] = RV_SGM_INVALID;
    a.winner.row(y)[x] = RV_SGM_NO_MATCH;
    if (a.confidence.data)
      a.confidence.row(y)[x] = 0;
  }
}

/* --- Fill ------------------------------------------------------------------------------------ */

/* The end in this warp's columns that is nearest to a lane among `mask`, which is not empty. */
__device__ __forceinline__ int nearest(uint32_t mask, bool to_left) {
  return to_left ? 31 - __clz((int)mask) : __ffs((int)mask) - 1;
}

/* Ends to the left of every pixel of a row. */
__device__ void walk_right(const RefineArgs &a, int y, int lane) {
  uint32_t carried = 0; /* as in `before` */
  for (int x0 = 0; x0 < a.width; x0 += 32) {
    const int x = x0 + lane;
    const uint32_t end = x < a.width ? a.ends.row(y)[x] : 0;
    const uint32_t mask = __ballot_sync(SGM_WARP, end != 0), below = mask & ((1u << lane) - 1);
    const int from = below ? nearest(below, true) : lane;
    const uint32_t value = __shfl_sync(SGM_WARP, end, from);
    if (x < a.width)
      a.before[(size_t)y * a.width + x] = below ? value | (uint32_t)(x0 + from + 1) << 16 : carried;
    if (mask) {
      const int last = nearest(mask, true);
      carried = __shfl_sync(SGM_WARP, end, last) | (uint32_t)(x0 + last + 1) << 16;
    }
  }
}

/* Value of a pixel with these ends; right_x: column of the right one. */
__device__ __forceinline__ int value_of(const RefineArgs &a, int x, int y, int right, int right_x) {
  const int value = a.values.row(y)[x], winner = a.winner.row(y)[x];
  if (value != RV_SGM_INVALID || winner == RV_SGM_NO_MATCH)
    return value;
  const uint32_t left = a.before[(size_t)y * a.width + x];
  return rv_sgm_fill_value((int)(left & 0xffffu), right, rv_sgm_value(a.min_disparity, winner, 0),
                           right_x - (int)(left >> 16));
}

__device__ void walk_left(const RefineArgs &a, int y, int lane) {
  uint32_t carried = 0;
  int carried_x = a.width;
  for (int x0 = (a.width - 1) / 32 * 32; x0 >= 0; x0 -= 32) {
    const int x = x0 + lane;
    const uint32_t end = x < a.width ? a.ends.row(y)[x] : 0;
    const uint32_t mask = __ballot_sync(SGM_WARP, end != 0), above = mask & (0u - (2u << lane));
    const int from = above ? nearest(above, false) : lane;
    const uint32_t value = __shfl_sync(SGM_WARP, end, from);
    if (x < a.width)
      a.filled.row(y)[x] = (uint16_t)value_of(a, x, y, (int)(above ? value : carried),
                                              above ? x0 + from : carried_x);
    if (mask) {
      const int first = nearest(mask, false);
      carried = __shfl_sync(SGM_WARP, end, first), carried_x = x0 + first;
    }
  }
}

__global__ void __launch_bounds__(THREADS) fill_kernel(const __grid_constant__ RefineArgs a) {
  const int y = (int)(blockIdx.x * WARPS + threadIdx.x / 32), lane = (int)threadIdx.x % 32;
  if (y >= a.height)
    return;
  walk_right(a, y, lane);
  __syncwarp();
  walk_left(a, y, lane);
}

/* Weighted median of the window around a pixel, by all lanes of a warp. */
__device__ uint32_t weighted_median(const RefineArgs &a, int x, int y, int lane) {
  enum { R = RV_SGM_FILL_RADIUS, SIDE = 2 * R + 1, TAPS = SIDE * SIDE, EACH = (TAPS + 31) / 32 };
  const int center = a.gray.row(y)[x];
  uint32_t value[EACH], weight[EACH], sum = 0;
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    const int tap = lane + 32 * n, u = x + tap % SIDE - R, v = y + tap / SIDE - R;
    const bool inside =
        tap < TAPS && (unsigned)u < (unsigned)a.width && (unsigned)v < (unsigned)a.height;
    value[n] = inside ? a.filled.row(v)[u] : RV_SGM_INVALID;
    weight[n] = value[n] == RV_SGM_INVALID ? 0 : a.weight_of[rv_abs(a.gray.row(v)[u] - center)];
    sum += weight[n];
  }
  const uint32_t total = sgm_warp_sum(sum);
  uint32_t low = 0, high = 65535; /* the result is in low + 1 .. high */
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    sum = 0;
#pragma unroll
    for (int n = 0; n < EACH; n++)
      sum += value[n] <= middle ? weight[n] : 0;
    if (2 * sgm_warp_sum(sum) >= total)
      high = middle;
    else
      low = middle;
  }
  return high;
}

__global__ void __launch_bounds__(THREADS) smooth_kernel(const __grid_constant__ RefineArgs a) {
  const Place p(a);
  const bool hole = p.inside && a.values.row(p.y)[p.x] == RV_SGM_INVALID &&
                    a.filled.row(p.y)[p.x] != RV_SGM_INVALID;
  for (uint32_t left = __ballot_sync(SGM_WARP, hole); left; left &= left - 1) {
    const int x = p.x - p.lane + __ffs((int)left) - 1;
    const uint32_t value = weighted_median(a, x, p.y, p.lane);
    if (p.lane > 0)
      continue;
    a.disparity.row(p.y)[x] = (uint16_t)value;
    if (a.confidence.data)
      a.confidence.row(p.y)[x] = RV_SGM_FILLED;
  }
}

/* --- Launches -------------------------------------------------------------------------------- */

RefineArgs arguments(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const size_t pixels = (size_t)config->width * config->height;
  const ptrdiff_t pitch = (config->width + 1) / 2 * 2; /* rows start at multiples of four bytes */
  uint16_t *const maps = (uint16_t *)(work->refine + pixels);
  RefineArgs a = {};
  a.gray = {(const uint8_t *)job->left.data, job->left.stride};
  a.disparity = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  a.confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
  a.winner = work->maps.winner;
  a.width = config->width, a.height = config->height, a.min_disparity = config->min_disparity;
  a.totals = work->totals;
  a.words = rv_div_up(config->width, 32), a.masks = work->refine + 3 * pixels;
  a.labels = a.before = work->refine; /* one after the other */
  a.values = {maps, pitch};
  a.ends = {maps + pitch * a.height, pitch};
  a.filled = {maps + 2 * pitch * a.height, pitch};
  memcpy(a.weight_of, job->plan->weight_of, sizeof a.weight_of);
  return a;
}

/* Each kernel may start before the preceding one ends, the first before those of the filter. */
RvStatus reject_sky(const SgmCuda *work, const RvSgmJob *job, const RefineArgs &a) {
  const RvLog *log = &job->plan->config.log;
  const dim3 tiles(rv_div_up(a.width, MARK_X), rv_div_up(a.height, MARK_Y));
  const int blocks = rv_div_up(a.words * a.height, THREADS);
  const int joins = words_below(a) + boundaries(a) * a.height;
  const bool early = work->early;
  RV_TRY(rv_launch(log, mark_kernel, tiles, THREADS, 0, job->stream, early, a));
  if (joins > 0)
    RV_TRY(
        rv_launch(log, join_kernel, rv_div_up(joins, THREADS), THREADS, 0, job->stream, early, a));
  return rv_launch(log, sky_kernel, blocks, THREADS, 0, job->stream, early, a);
}

RvStatus fill(const SgmCuda *work, const RvSgmJob *job, const RefineArgs &a) {
  const RvLog *log = &job->plan->config.log;
  const dim3 blocks(rv_div_up(a.width, 32), rv_div_up(a.height, WARPS));
  RV_CU(log, cudaMemcpy2DAsync(a.values.data, 2 * (size_t)a.values.stride, a.disparity.data,
                               2 * (size_t)a.disparity.stride, 2 * (size_t)a.width,
                               (size_t)a.height, cudaMemcpyDeviceToDevice, job->stream));
  RV_TRY(sgm_cuda_large_regions(work, job, a.values, a.ends, RV_SGM_FILL_REGION));
  RV_TRY(
      rv_launch(log, fill_kernel, rv_div_up(a.height, WARPS), THREADS, 0, job->stream, false, a));
  return rv_launch(log, smooth_kernel, blocks, THREADS, 0, job->stream, false, a);
}

} // namespace

RvStatus sgm_cuda_refine(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const RefineArgs a = arguments(work, job);
  if (config->reject_sky)
    RV_TRY(reject_sky(work, job, a));
  return config->fill == RV_SGM_FILL_DENSE ? fill(work, job, a) : RV_OK;
}
