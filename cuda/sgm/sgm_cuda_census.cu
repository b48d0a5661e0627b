/* SPDX-License-Identifier: MIT */
/* sgm_cuda_census.cu: step 1, the descriptors of both views. */
#include <cuda_fp16.h>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"

namespace {

enum { COLUMNS = 4, ROWS = 4, WARPS = 2 }; /* of a thread, of a thread, of a block */
enum { TILE_X = 32 * COLUMNS, TILE_Y = WARPS * ROWS };
enum { RX = RV_SGM_RADIUS_X, RY = RV_SGM_RADIUS_Y };
enum { SPAN = COLUMNS + 2 * RX, SPAN_WORDS = SPAN / 4, PAIRS = SPAN - 1, SPAN_Y = ROWS + 2 * RY };

struct CensusArgs {
  SgmRaster<const uint8_t> left, right;
  void *census_left, *census_right;
  SgmRows piece[2];
  int width, height, pitch;
  uint4 *p2;          /* see SgmCuda, in fours of columns; NULL: not needed */
  uint32_t *totals;   /* likewise; grid layers beyond those of the pieces compute it */
  uint32_t *finished; /* SgmCuda.finished, set to 0; NULL: no row counts */
  int layers;         /* of the pieces */
  int p2_most, p2_min, p2_gradient;
};

/* Input of one thread: of every row the gray levels of each two neighboring pixels, as halves of
 * 1024 + gray: exact, and compared two at a time. */
typedef __half2 CensusWindow[SPAN_Y][PAIRS];

/* Gray levels of columns x - RX on, four per word, in a row that ends far enough after them: words
 * at multiples of four bytes, shifted. */
__device__ __forceinline__ void load_inside(const uint8_t *row, int x, uint32_t *word) {
  const uintptr_t at = (uintptr_t)(row + x - RX);
  const uint32_t *from = (const uint32_t *)(at & ~(uintptr_t)3);
  const uint32_t shift = 8 * (uint32_t)(at & 3);
  uint32_t raw[SPAN_WORDS + 1];
#pragma unroll
  for (int i = 0; i <= SPAN_WORDS; i++)
    raw[i] = __ldg(from + (i < SPAN_WORDS || shift ? i : 0));
#pragma unroll
  for (int i = 0; i < SPAN_WORDS; i++)
    word[i] = __funnelshift_r(raw[i], raw[i + 1], shift);
}

/* The same where columns are outside the image. */
__device__ __forceinline__ void load_clamped(const uint8_t *row, int x, int width, uint32_t *word) {
#pragma unroll
  for (int i = 0; i < SPAN_WORDS; i++) {
    word[i] = 0;
#pragma unroll
    for (int b = 0; b < 4; b++)
      word[i] |= (uint32_t)row[rv_clamp(x - RX + 4 * i + b, 0, width - 1)] << 8 * b;
  }
}

template <bool INSIDE>
__device__ __forceinline__ void load_rows(const SgmRaster<const uint8_t> &view, int x, int y,
                                          const CensusArgs &a,
                                          uint32_t (&word)[SPAN_Y][SPAN_WORDS]) {
#pragma unroll
  for (int j = 0; j < SPAN_Y; j++) {
    const uint8_t *row = view.row(rv_clamp(y + j, 0, a.height - 1));
    if (INSIDE)
      load_inside(row, x, word[j]);
    else
      load_clamped(row, x, a.width, word[j]);
  }
}

__device__ __forceinline__ void split(const uint32_t *word, __half2 *pair) {
  const uint32_t high = 0x64646464u; /* upper byte of the halves 1024 .. 2047 */
#pragma unroll
  for (int i = 0; i < PAIRS; i++) {
    const int w = i / 4, b = i % 4;
    const uint32_t bits =
        b < 3 ? __byte_perm(word[w], high, 0x4040u + (uint32_t)((b + 1) * 0x100 + b))
              : __byte_perm(__funnelshift_r(word[w], word[rv_min(w + 1, SPAN_WORDS - 1)], 24), high,
                            0x4140u);
    pair[i] = *(const __half2 *)&bits;
  }
}

/* In both halves, bit n of 16 where a >= b. */
__device__ __forceinline__ uint32_t compare(__half2 a, __half2 b, int n) {
  return __hge2_mask(a, b) & 0x00010001u << n % 16;
}

/* A descriptor of a cost: its type, and its bits as sgm_rules.h numbers them, of the pixels in
 * columns c and c + 1; y: their row in the window. */
template <RvSgmCost COST> struct Descriptor;

template <> struct Descriptor<RV_SGM_CSCT> {
  typedef uint32_t Type;
  static __device__ __forceinline__ void describe(const CensusWindow &w, int c, int y, Type *out) {
    uint32_t part[2] = {};
#pragma unroll
    for (int i = 1; i <= RX; i++)
#pragma unroll
      for (int j = -RY; j <= RY; j++) {
        const int n = 7 * (i - 1) + j + RY;
        part[n / 16] |= compare(w[y + j][c + RX + i], w[y - j][c + RX - i], n);
      }
#pragma unroll
    for (int j = 1; j <= RY; j++)
      part[1] |= compare(w[y + j][c + RX], w[y - j][c + RX], 28 + j - 1);
    out[0] = __byte_perm(part[0], part[1], 0x5410);
    out[1] = __byte_perm(part[0], part[1], 0x7632);
  }
};

template <> struct Descriptor<RV_SGM_CENSUS> {
  typedef uint64_t Type;
  static __device__ __forceinline__ void describe(const CensusWindow &w, int c, int y, Type *out) {
    uint32_t part[4] = {};
    int n = 0;
#pragma unroll
    for (int j = -RY; j <= RY; j++)
#pragma unroll
      for (int i = -RX; i <= RX; i++)
        if (i || j) {
          part[n / 16] |= compare(w[y + j][c + RX + i], w[y][c + RX], n);
          n++;
        }
    out[0] = __byte_perm(part[0], part[1], 0x5410) | (uint64_t)__byte_perm(part[2], part[3], 0x5410)
                                                         << 32;
    out[1] = __byte_perm(part[0], part[1], 0x7632) | (uint64_t)__byte_perm(part[2], part[3], 0x7632)
                                                         << 32;
  }
};

/* Sums of three columns around c and c + 1 in a row, each half with three times the bits of 1024. */
__device__ __forceinline__ uint32_t sum_three(const __half2 (&row)[PAIRS], int c) {
  uint32_t sum = 0;
#pragma unroll
  for (int i = -1; i <= 1; i++)
    sum += *(const uint32_t *)&row[c + RX + i];
  return sum;
}

/* Means of the 3x3 blocks around the pixels in columns c and c + 1, rounded up, in the form of the
 * window. */
__device__ __forceinline__ __half2 mean_up(const CensusWindow &w, int c, int y) {
  const uint32_t bits_of_1024 = 0x64006400u;
  const uint32_t above = sum_three(w[y - 1], c), own = sum_three(w[y], c);
  const uint32_t below = sum_three(w[y + 1], c);
  const uint32_t sum = above + own + below - 9 * bits_of_1024; /* what halves carry is taken back */
  const uint32_t low = (uint32_t)rv_sgm_mean_up((int)(sum & 0xffffu));
  const uint32_t high = (uint32_t)rv_sgm_mean_up((int)(sum >> 16));
  const uint32_t bits = bits_of_1024 | low | high << 16;
  return *(const __half2 *)&bits;
}

template <> struct Descriptor<RV_SGM_MIXED> {
  typedef uint32_t Type;
  static __device__ __forceinline__ void describe(const CensusWindow &w, int c, int y, Type *out) {
    const __half2 mean = mean_up(w, c, y);
    uint32_t part[2] = {};
#pragma unroll
    for (int n = 0; n < 16; n++) {
      const RvSgmOffset p = rv_sgm_mixed_pair(n), q = rv_sgm_mixed_center(n);
      part[0] |= compare(w[y + p.y][c + RX + p.x], w[y - p.y][c + RX - p.x], n);
      part[1] |= compare(w[y + q.y][c + RX + q.x], mean, n);
    }
    out[0] = __byte_perm(part[0], part[1], 0x5410);
    out[1] = __byte_perm(part[0], part[1], 0x7632);
  }
};

/* Four descriptors at a multiple of 16 bytes. */
__device__ __forceinline__ void store(uint32_t *to, const uint32_t (&from)[COLUMNS]) {
  *(uint4 *)to = make_uint4(from[0], from[1], from[2], from[3]);
}
__device__ __forceinline__ void store(uint64_t *to, const uint64_t (&from)[COLUMNS]) {
  ((ulonglong2 *)to)[0] = make_ulonglong2(from[0], from[1]);
  ((ulonglong2 *)to)[1] = make_ulonglong2(from[2], from[3]);
}

/* P2 between the rows of two words of four gray levels. */
__device__ __forceinline__ uint4 penalties(const CensusArgs &a, uint32_t here, uint32_t above) {
  uint32_t p2[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; c++)
    p2[c] = 0x10001u * (uint32_t)rv_sgm_adapted_p2(a.p2_most, a.p2_min, a.p2_gradient,
                                                   (int)(here >> 8 * c & 0xff),
                                                   (int)(above >> 8 * c & 0xff));
  return make_uint4(p2[0], p2[1], p2[2], p2[3]);
}

/* Sums of the gray levels of rows, a row per warp at a time: at most 2^14 columns. The blocks in a
 * row of the grid share its rows. */
__device__ __forceinline__ void add_rows(const CensusArgs &a, const SgmRows &piece) {
  const int first = (int)blockIdx.y * TILE_Y, rows = rv_min(TILE_Y, piece.count - first);
  for (int r = (int)(blockIdx.x * WARPS + threadIdx.y); r < rows; r += (int)gridDim.x * WARPS) {
    const uint8_t *const row = a.left.row(piece.first + first + r);
    uint32_t sum = 0;
#pragma unroll 16
    for (int x = (int)threadIdx.x; x < a.width; x += 32)
      sum += row[x];
    sum = sgm_warp_sum(sum);
    if (threadIdx.x == 0)
      a.totals[piece.first + first + r] = sum;
  }
}

/* MORE: P2 or totals are needed, too. */
template <RvSgmCost COST, bool MORE>
__global__ void __launch_bounds__(32 * WARPS) census_kernel(const __grid_constant__ CensusArgs a) {
  rv_launch_wait();
  rv_launch_next();
  if (a.finished && blockIdx.x + blockIdx.y + blockIdx.z == 0)
    for (int y = (int)(threadIdx.y * 32 + threadIdx.x); y < a.height; y += 32 * WARPS)
      a.finished[y] = 0;
  typedef typename Descriptor<COST>::Type Census;
  const SgmRaster<const uint8_t> view = blockIdx.z % 2 ? a.right : a.left;
  Census *const out = (Census *)(blockIdx.z % 2 ? a.census_right : a.census_left);
  if (MORE && (int)blockIdx.z >= a.layers) {
    add_rows(a, (int)blockIdx.z > a.layers ? a.piece[1] : a.piece[0]);
    return;
  }
  const SgmRows piece = blockIdx.z < 2 ? a.piece[0] : a.piece[1];
  const int x = (int)blockIdx.x * TILE_X + (int)threadIdx.x * COLUMNS;
  const int first = (int)blockIdx.y * TILE_Y + (int)threadIdx.y * ROWS;
  const int rows = rv_min(ROWS, piece.count - first), y = piece.first + first;
  if (x >= a.width || rows <= 0)
    return;
  /* load_inside may read three more bytes after its columns. */
  const bool inside = x >= RX && x - RX + SPAN + 3 <= a.width;
  /* All rows are loaded before the first is used. */
  uint32_t word[SPAN_Y][SPAN_WORDS];
  if (inside)
    load_rows<true>(view, x, y - RY, a, word);
  else
    load_rows<false>(view, x, y - RY, a, word);
  CensusWindow window;
#pragma unroll
  for (int j = 0; j < SPAN_Y; j++)
    split(word[j], window[j]);
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    Census found[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 2)
      Descriptor<COST>::describe(window, c, r + RY, found + c);
    if (r >= rows)
      continue;
    Census *const to = out + (size_t)(piece.to + first + r) * a.pitch + x;
    store(to, found); /* there is room for columns beyond the image */
    if (x == 0) {
      const Census pad[COLUMNS] = {found[0], found[0], found[0], found[0]};
      store(to - SGM_PAD, pad);
    }
    if (!MORE || !a.p2 || blockIdx.z % 2)
      continue;
    uint4 *const p2 = a.p2 + ((size_t)(y + r) * a.pitch + x) / COLUMNS;
    *p2 = penalties(a, word[r + RY][RX / 4], word[r + RY - 1][RX / 4]);
    if (y + r + 1 == a.height)
      p2[a.pitch / COLUMNS] = *p2; /* below the last row */
  }
}

template <RvSgmCost COST>
RvStatus launch(const SgmCuda *work, const RvSgmJob *job, const CensusArgs &a, int rows,
                int count) {
  const dim3 grid(rv_div_up(a.width, TILE_X), rv_div_up(rows, TILE_Y), (a.totals ? 3 : 2) * count);
  const bool more = a.p2 || a.totals;
  return rv_launch(&job->plan->config.log,
                   more ? census_kernel<COST, true> : census_kernel<COST, false>, grid,
                   dim3(32, WARPS), 0, job->stream, work->early, a);
}

} // namespace

RvStatus sgm_cuda_census(const SgmCuda *work, const RvSgmJob *job, const SgmRows *pieces,
                         int count) {
  const RvSgmConfig *config = &job->plan->config;
  CensusArgs a = {};
  a.left = {(const uint8_t *)job->left.data, job->left.stride};
  a.right = {(const uint8_t *)job->right.data, job->right.stride};
  a.census_left = work->census[0], a.census_right = work->census[1];
  a.width = config->width, a.height = config->height, a.pitch = sgm_cuda_pitch(a.width);
  a.finished = work->needed || work->counts_maps ? work->finished : NULL;
  a.p2 = (uint4 *)work->p2, a.totals = work->totals, a.layers = 2 * count;
  a.p2_most = config->p2, a.p2_min = config->p2_min, a.p2_gradient = config->p2_gradient;
  int rows = 0;
  for (int i = 0; i < count; i++) {
    a.piece[i] = pieces[i];
    rows = rv_max(rows, pieces[i].count);
  }
  switch (config->cost) {
  case RV_SGM_CENSUS:
    return launch<RV_SGM_CENSUS>(work, job, a, rows, count);
  case RV_SGM_MIXED:
    return launch<RV_SGM_MIXED>(work, job, a, rows, count);
  default:
    return launch<RV_SGM_CSCT>(work, job, a, rows, count);
  }
}
