/* SPDX-License-Identifier: MIT */
/* sgm_cuda_sky.cu: the refine stage: sky, in the planes of the job.
 *
 * Candidates are bits of words of 32 columns. The runs of the words form a union-find forest: the
 * first pixel of a run has the number of another one of its region, smaller or its own; a region
 * that touches the top row has number 0. A block that finds candidates joins their runs in its
 * shared memory; of two neighboring blocks the one that is finished last joins those across their
 * boundary.
 *
 * The first kernel also removes the pixels that the filter stage leaves to it
 * (sgm_cuda_sky_removes): one launch less, and it sums its windows while the filter stage ends. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"
#include "sgm/sgm_cuda_regions.cuh"

namespace {

enum { WARPS = 8, THREADS = 32 * WARPS };
enum { RX = RV_SGM_RADIUS_X, RY = RV_SGM_RADIUS_Y };
/* What marks candidates: pixels of a lane side by side, its rows; columns, rows and words of a
 * block; what its windows have: words of a row with one more column to the right, and rows. */
enum { MARK_COLUMNS = 4, MARK_ROWS = 4, MARK_X = SGM_SKY_X, MARK_Y = SGM_SKY_Y };
enum { MARK_WORDS = MARK_X / 32, SPAN_X = MARK_X / 4 + 3, SPAN_Y = MARK_Y + 2 * RY };
static_assert(RX == 4 && MARK_COLUMNS == 4, "a window begins one word before the lane's own");
static_assert((int)MARK_Y == 32 && SGM_EDGE_RIGHT < (int)WARPS,
              "a lane per row, a warp per boundary");
static_assert((int)MARK_X == 32 * (int)MARK_COLUMNS && (int)MARK_Y == (int)WARPS * (int)MARK_ROWS,
              "a block has the pixels of its lanes");

struct SkyArgs {
  SgmRaster<const uint8_t> gray; /* left view */
  SgmRaster<uint16_t> disparity; /* of the job */
  SgmRaster<uint8_t> confidence; /* data is NULL when not asked for */
  SgmRaster<uint16_t> winner;    /* RV_SGM_NO_MATCH in the sky */
  int width, height, words;      /* words: of a row of masks */
  const uint32_t *totals;        /* of the gray levels of the rows */
  uint32_t *edges;               /* SgmCuda.sky_edges */
  SgmRegions regions;            /* labels: of the first pixel of a run, a number */
  int speckle_size;              /* of the pending pixels; 0: there are none */
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
  uint32_t second; /* see sgm_meet */
};

/* Sums of the gray levels of rows, a part by each warp: 64 rows of 2^14 columns fit 32 bits. */
__device__ __forceinline__ void add_totals(const SkyArgs &a, Windows &w) {
  uint32_t sum = 0;
  for (int y = (int)threadIdx.x; y < a.height; y += THREADS)
    sum += a.totals[y];
  const uint64_t of_warp = sgm_warp_sum(sum & 0xffffu) + ((uint64_t)sgm_warp_sum(sum >> 16) << 16);
  if (threadIdx.x % 32 == 0)
    w.totals[threadIdx.x / 32] = of_warp;
}

__device__ __forceinline__ int brightness_of(const SkyArgs &a, const Windows &w) {
  uint64_t total = 0;
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    total += w.totals[i];
  return rv_sgm_sky_brightness((int64_t)total, (int64_t)a.width * (int64_t)a.height);
}

/* Loads the gray levels from column x0 and row y0 on; beyond an end that of the pixel at the end. */
__device__ __forceinline__ void load_gray(const SkyArgs &a, Windows &w, int x0, int y0) {
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
__device__ __forceinline__ void sum_windows(const SkyArgs &a, Windows &w) {
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

/* The pending pixels among a lane's, now that their regions are complete: removes those of regions
 * that are too small. */
__device__ __forceinline__ void remove_pending(const SkyArgs &a, int x, int y) {
  static_assert((int)SGM_TILE_X == 16 * (int)MARK_COLUMNS, "half a warp has the columns of a tile");
  if (x >= a.width)
    return;
  const int lane = (int)threadIdx.x % 16;
  const SgmRegions &s = a.regions;
  const uint2 *const from = s.pending + (size_t)y * s.pending_pitch + x / SGM_TILE_X;
  uint32_t pending = 0; /* by rows; of the lane's columns: 0, 2, 1, 3 */
#pragma unroll
  for (int r = 0; r < MARK_ROWS; r++) {
    const uint2 of = y + r < a.height ? from[(size_t)r * s.pending_pitch] : make_uint2(0, 0);
    pending |= ((of.x >> 2 * lane & 3) | (of.y >> 2 * lane & 3) << 2) << 4 * r;
  }
#pragma unroll 1
  for (int r = 0; pending; r++, pending >>= 4) {
    if (!(pending & 15))
      continue;
    const size_t first = (size_t)(y + r) * s.node_pitch + x;
    const size_t pixel[MARK_COLUMNS] = {first, first + 1, first + 2, first + 3};
    bool small[MARK_COLUMNS] = {(pending & 1) != 0, (pending & 4) != 0, (pending & 2) != 0,
                                (pending & 8) != 0};
    sgm_find_small(s.nodes, pixel, (uint32_t)a.speckle_size, small);
#pragma unroll
    for (int c = 0; c < MARK_COLUMNS; c++)
      if (small[c]) {
        a.disparity.row(y + r)[x + c] = RV_SGM_INVALID;
        if (a.confidence.data)
          a.confidence.row(y + r)[x + c] = 0;
      }
  }
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
__device__ __forceinline__ uint32_t number_of(const SkyArgs &a, int y, int w, uint32_t mask,
                                              int i) {
  return y == 0 ? 0 : y * a.regions.label_pitch + (uint32_t)(32 * w + start_of(mask, i)) + 1;
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
__device__ __forceinline__ void join_up(const SkyArgs &a, int y, int w) {
  const volatile uint32_t *const at = a.regions.masks + (size_t)y * a.regions.mask_pitch + w;
  const uint32_t mask = at[0], above = *(at - a.regions.mask_pitch), both = mask & above;
  for (uint32_t begins = both & ~(both << 1); begins; begins &= begins - 1) {
    const int i = __ffs((int)begins) - 1;
    join(a.regions.labels, number_of(a, y, w, mask, i), number_of(a, y - 1, w, above, i));
  }
}

/* Joins a run at the left of a block of mark_kernel with that to the left; where the row above has
 * the same pair of columns, both are joined to its runs. */
__device__ __forceinline__ void join_left(const SkyArgs &a, int y, int w) {
  const volatile uint32_t *const at = a.regions.masks + (size_t)y * a.regions.mask_pitch + w;
  const volatile uint32_t *const up = at - a.regions.mask_pitch;
  const bool has_above = y % MARK_Y > 0; /* within the same blocks */
  const uint32_t mask = at[0], left = at[-1];
  const uint32_t above = has_above ? up[0] : 0, above_left = has_above ? up[-1] : 0;
  if (mask & left >> 31 & ~(above & above_left >> 31))
    join(a.regions.labels, number_of(a, y, w, mask, 0), number_of(a, y, w - 1, left, 31));
}

/* Writes the numbers of the runs of a block's pixels, from column x0 and row y0 on. */
__device__ __forceinline__ void number_runs(const SkyArgs &a, const Windows &w, const Cell &c,
                                            int x0, int y0) {
  const uint32_t pitch = a.regions.label_pitch;
  for (uint32_t begins = c.mask & ~(c.mask << 1) & c.bits; begins; begins &= begins - 1) {
    const int i = 32 * c.q + __ffs((int)begins) - 1;
    uint32_t root = (uint32_t)(c.row * MARK_X + i);
    for (uint32_t up = w.forest[root]; up != root; up = w.forest[root])
      root = up;
    const int root_y = y0 + (int)(root / MARK_X), root_x = x0 + (int)(root % MARK_X);
    a.regions.labels[(size_t)(y0 + c.row) * pitch + x0 + i] =
        root_y == 0 ? 0 : root_y * pitch + (uint32_t)root_x + 1;
  }
}

/* Joins runs across the boundaries of a block beyond which the neighbor is finished, too, a warp
 * for each. */
__device__ __forceinline__ void join_across(const SkyArgs &a, const Windows &w, int y0) {
  const int edge = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  const int first = (int)blockIdx.x * MARK_WORDS;
  if (edge > SGM_EDGE_RIGHT || !(w.second >> edge & 1))
    return;
  if (edge == SGM_EDGE_ABOVE || edge == SGM_EDGE_BELOW) {
    if (lane < rv_min(MARK_WORDS, a.words - first))
      join_up(a, y0 + (edge == SGM_EDGE_BELOW ? MARK_Y : 0), first + lane);
  } else if (y0 + lane < a.height) {
    join_left(a, y0 + lane, first + (edge == SGM_EDGE_RIGHT ? MARK_WORDS : 0));
  }
}

/* Finds candidates, and the numbers of their runs. */
__global__ void __launch_bounds__(THREADS) mark_kernel(const __grid_constant__ SkyArgs a) {
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
  if (a.speckle_size)
    remove_pending(a, x, y);
  if (found)
    found &= find_far(disparity, a.disparity.stride, a.width - x, a.height - y);
  store_masks(w, found);
  const bool is_empty = !__syncthreads_or(found != 0);
  const Cell c(w);
  const int word = (int)blockIdx.x * MARK_WORDS + c.q;
  if (c.part == 0 && y0 + c.row < a.height && word < a.words)
    a.regions.masks[(size_t)(y0 + c.row) * a.regions.mask_pitch + word] = c.mask;
  if (is_empty) {
    sgm_pass(a.edges, (int)blockIdx.y);
    return;
  }
  join_block(w, c);
  number_runs(a, w, c, x0, y0);
  sgm_meet(a.edges, (int)blockIdx.y, &w.second);
  join_across(a, w, y0);
}

/* A word per thread, a row of words after the other. */
struct Word {
  int y, w;
  uint32_t mask; /* candidates */

  __device__ __forceinline__ Word(const SkyArgs &a) {
    const int n = (int)(blockIdx.x * THREADS + threadIdx.x);
    y = n / a.words, w = n % a.words;
    mask = y < a.height ? a.regions.masks[(size_t)y * a.regions.mask_pitch + w] : 0;
  }
};

/* A thread finds the sky in a word; its warp writes it. */
__global__ void __launch_bounds__(THREADS) sky_kernel(const __grid_constant__ SkyArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const Word word(a);
  uint32_t sky = 0;
  for (uint32_t rest = word.mask; rest;) {
    const uint32_t run = first_run(rest);
    if (root_of(a.regions.labels, number_of(a, word.y, word.w, word.mask, __ffs((int)run) - 1)) ==
        0)
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

} // namespace

/* Each kernel may start before the preceding one ends, the first before those of the filter, the
 * one after the last before it ends. */
RvStatus sgm_cuda_sky(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const RvLog *log = &config->log;
  SkyArgs a = {};
  a.gray = {(const uint8_t *)job->left.data, job->left.stride};
  a.disparity = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  a.confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
  a.winner = work->maps.winner;
  a.width = config->width, a.height = config->height, a.words = rv_div_up(config->width, 32);
  a.totals = work->totals, a.edges = work->sky_edges;
  a.regions = sgm_cuda_regions(work, config);
  a.speckle_size = sgm_cuda_sky_removes(config) ? config->speckle_size : 0;
  const dim3 tiles(rv_div_up(a.width, MARK_X), rv_div_up(a.height, MARK_Y));
  const int blocks = rv_div_up(a.words * a.height, THREADS);
  const bool early = work->early;
  RV_TRY(rv_launch(log, mark_kernel, tiles, THREADS, 0, job->stream, early, a));
  return rv_launch(log, sky_kernel, blocks, THREADS, 0, job->stream, early, a);
}
