/* SPDX-License-Identifier: MIT */
/* sgm_cuda_row_winner.cuh: the winner warps of the horizontal-path kernel. Device code only. */
#ifndef RV_SGM_CUDA_ROW_WINNER_CUH
#define RV_SGM_CUDA_ROW_WINNER_CUH

#include "sgm/sgm_cuda_row_block.cuh"
#include "sgm/sgm_cuda_winner.cuh"

/* Best candidate of a pixel; the same in all of its lanes. */
struct PixelWinner {
  uint32_t key, neighbors; /* sums below and above the winner in the low and high half */
  uint32_t second;         /* smallest sum of those that were not taken out of the slot */
  uint32_t near;           /* with confidence: smallest sum at 2 to RV_SGM_GAP steps */
};

/* Finds the winners of segments. Probe: shows the sums of a batch to the tests, see RowNoProbe. */
template <int K, bool FULL, bool NARROW, typename Census, class Probe> struct RowWinner {
  typedef RowBlock<K, FULL, NARROW, Census> Row;
  enum { BATCH = K <= 4 ? 2 : 1 }; /* times WINNER_PIXELS pixels at a time */
  const Row &row;
  const Probe &probe;

  /* Winners of the segments whose horizontal paths are finished: of the turn before. */
  __device__ void select_winner(int pair) const {
    const int lane = (int)threadIdx.x % 32, part = lane % WINNER_LANES;
#pragma unroll
    for (int i = 1; i < Row::Roles::ALL; i++)
      row.end_turn(pair);
    PixelWinner kept = {};
    for (int i = 0; i < row.turns(pair); i++) {
      if (NARROW && i + 3 < row.turns(pair))
        prefetch(row.turn(pair, i + 3));
      int x = row.turn(pair, i) * SEGMENT + lane / WINNER_LANES, to = i % TOGETHER * GROUPS;
      uint32_t *at = row.slot(pair, i) + lane / WINNER_LANES * row.pitch();
#pragma unroll 1
      for (int g = 0; g < GROUPS; g += BATCH) {
        PixelWinner v[BATCH];
        uint4 sums[BATCH][K];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          take(sums[b], at + b * WINNER_PIXELS * row.pitch());
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          v[b].key = offer(sums[b], x + b * WINNER_PIXELS);
        find_keys(v);
        __syncwarp();
        probe.show(row, BATCH, x, at);
        if (row.a.confidence)
          take_near(v, (uint16_t *)at);
        else
          take_neighbours(v, (uint16_t *)at);
        __syncwarp();
        find_seconds(v, at);
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          if (part == to + b)
            kept = v[b];
        x += BATCH * WINNER_PIXELS, at += BATCH * WINNER_PIXELS * row.pitch(), to += BATCH;
      }
      if (i % TOGETHER == TOGETHER - 1 || i + 1 == row.turns(pair))
        write(pair, i, kept);
      row.end_turn(pair);
    }
  }

  /* Prefetches the packed sums and paths of a segment to the L2 cache. */
  __device__ void prefetch(int segment) const {
    enum { LINE = 128 };
    const int pixel = 2 * row.words(), end = SEGMENT * pixel;
    const int skip = (segment * SEGMENT - row.shift) * pixel;
    const char *const from[2] = {(const char *)row.row_sums() + skip,
                                 (const char *)row.row_paths() + skip};
#pragma unroll
    for (int i = 0; i < 2; i++)
      for (int b = LINE * ((int)threadIdx.x % 32); b < end; b += 32 * LINE)
        if (skip + b >= 0)
          asm volatile("prefetch.global.L2 [%0];" ::"l"(from[i] + b));
  }

  /* Writes the results of the last turns, one pixel per lane. */
  __device__ void write(int pair, int i, const PixelWinner &v) const {
    const int lane = (int)threadIdx.x % 32, part = lane % WINNER_LANES;
    const int of = i - i % TOGETHER + part / GROUPS; /* turn */
    const int x = row.turn(pair, of) * SEGMENT + part % GROUPS * WINNER_PIXELS +
                  lane / WINNER_LANES - row.shift;
    if (of <= i && x >= 0)
      write_pixel(x, v);
  }

  __device__ __forceinline__ bool has_piece(int p) const {
    return FULL || 4 * ((int)threadIdx.x % WINNER_LANES) + 32 * p < row.words();
  }

  /* The lane's pieces of four words of a pixel's sums. */
  __device__ __forceinline__ void take(uint4 (&sums)[K], const uint32_t *at) const {
#pragma unroll
    for (int p = 0; p < K; p++)
      if (has_piece(p))
        sums[p] = ((const uint4 *)at)[(int)threadIdx.x % WINNER_LANES + 8 * p];
  }

  /* Offers the pixel's sums to the right pixels, finds this lane's best key. Pixels of the padding
   * offer to right pixels that do not exist. */
  __device__ __forceinline__ uint32_t offer(const uint4 (&sums)[K], int x) const {
    const int words = row.words(), q = 4 * ((int)threadIdx.x % WINNER_LANES);
    uint32_t *low = row.m.keys + x + 2 * words - 1 - q, *high = low - words;
    uint32_t key = 0xffffffffu;
#pragma unroll
    for (int p = 0; p < K; p++) {
      if (!has_piece(p))
        continue;
      const uint32_t w[4] = {sums[p].x, sums[p].y, sums[p].z, sums[p].w};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int n = 32 * p + j;
        const uint32_t low_key = sgm_low_key(w[j], q + n);
        const uint32_t high_key = sgm_high_key(w[j], q + words + n);
        atomicMin(&low[-n], low_key);
        atomicMin(&high[-n], high_key);
        key = __vimin3_u32(key, low_key, high_key);
      }
    }
    return key;
  }

  /* Best keys of the pixels from those of the lanes. */
  static __device__ __forceinline__ void find_keys(PixelWinner (&v)[BATCH]) {
#pragma unroll
    for (int o = WINNER_LANES / 2; o > 0; o /= 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        v[b].key = min(v[b].key, __shfl_xor_sync(SGM_WARP, v[b].key, o));
  }

  /* Takes the winner's sum and its two neighbors out of the slot. */
  __device__ __forceinline__ void take_neighbours(PixelWinner (&v)[BATCH], uint16_t *halves) const {
    const int words = row.words(), part = (int)threadIdx.x % WINNER_LANES;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int k = (int)(v[b].key & 0xffffu) + part - 1;
      uint16_t *at =
          halves + b * WINNER_PIXELS * 2 * row.pitch() + (k < words ? 2 * k : 2 * (k - words) + 1);
      uint32_t sum = 0;
      if (part < 3 && (unsigned)k < 2u * words)
        sum = *at, *at = 0xffff;
      v[b].neighbors = __byte_perm(__shfl_sync(SGM_WARP, sum, 0, WINNER_LANES),
                                   __shfl_sync(SGM_WARP, sum, 2, WINNER_LANES), 0x5410);
    }
  }

  /* With confidence: takes the sums at up to RV_SGM_GAP steps out of the slot. */
  __device__ __forceinline__ void take_near(PixelWinner (&v)[BATCH], uint16_t *halves) const {
    enum { GAP_LANES = 2 * RV_SGM_GAP };
    static_assert(GAP_LANES == WINNER_LANES, "one lane per step");
    const int words = row.words(), part = (int)threadIdx.x % WINNER_LANES;
    const int step = part < RV_SGM_GAP ? part - RV_SGM_GAP : part - RV_SGM_GAP + 1;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int best = (int)(v[b].key & 0xffffu), k = best + step;
      uint16_t *const from = halves + b * WINNER_PIXELS * 2 * row.pitch();
      uint32_t sum = 0xffffu;
      if ((unsigned)k < 2u * words) {
        uint16_t *const at = from + (k < words ? 2 * k : 2 * (k - words) + 1);
        sum = *at, *at = 0xffff;
      }
      if (part == 0)
        from[best < words ? 2 * best : 2 * (best - words) + 1] = 0xffff;
      v[b].neighbors = __byte_perm(__shfl_sync(SGM_WARP, sum, RV_SGM_GAP - 1, WINNER_LANES),
                                   __shfl_sync(SGM_WARP, sum, RV_SGM_GAP, WINNER_LANES), 0x5410);
      uint32_t near = step == -1 || step == 1 ? 0xffffu : sum;
#pragma unroll
      for (int o = WINNER_LANES / 2; o > 0; o /= 2)
        near = min(near, __shfl_xor_sync(SGM_WARP, near, o));
      v[b].near = near;
    }
  }

  /* Smallest sums of the remaining candidates. */
  __device__ __forceinline__ void find_seconds(PixelWinner (&v)[BATCH],
                                               const uint32_t *sums) const {
    uint32_t smallest[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++)
      v[b].second = 0xffffu;
    if (!row.a.uniqueness && !row.a.confidence)
      return; /* not used */
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      smallest[b] = 0xffffffffu;
      uint4 w[K];
      take(w, sums + b * WINNER_PIXELS * row.pitch());
#pragma unroll
      for (int p = 0; p < K; p++) {
        if (!has_piece(p))
          continue;
        smallest[b] = __vimin3_u16x2(smallest[b], w[p].x, w[p].y);
        smallest[b] = __vimin3_u16x2(smallest[b], w[p].z, w[p].w);
      }
      smallest[b] = sgm_min2(smallest[b], sgm_swap2(smallest[b]));
    }
#pragma unroll
    for (int o = WINNER_LANES / 2; o > 0; o /= 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        smallest[b] = sgm_min2(smallest[b], __shfl_xor_sync(SGM_WARP, smallest[b], o));
#pragma unroll
    for (int b = 0; b < BATCH; b++)
      v[b].second = smallest[b] & 0xffffu;
  }

  /* rv_sgm_offset. Increased by 8 its quotient is 0 to 16 and both its terms are below 2^24, so an
   * approximate division is off by one at most. */
  static __device__ __forceinline__ int offset(int below, int best, int above, int equiangular) {
    const int curve = rv_sgm_curve(below, best, above, equiangular),
              up = 16 * (below - above) + 17 * curve;
    const int q = (int)__fdividef((float)up, (float)(2 * curve)), rest = up - 2 * curve * q;
    return curve > 0 ? q - 8 + (rest >= 2 * curve) - (rest < 0) : 0;
  }

  __device__ void write_pixel(int x, const PixelWinner &v) const {
    const int k = (int)(v.key & 0xffffu), best = (int)(v.key >> 16);
    int shifted = 0;
    if (row.a.subpixel && k > 0 && k < 2 * row.words() - 1)
      shifted =
          offset((int)(v.neighbors & 0xffffu), best, (int)(v.neighbors >> 16), row.a.equiangular);
    const int far = (int)v.second, near = row.a.confidence ? (int)v.near : far;
    enum { BIAS = Row::Roles::BIAS };
    const bool valid = rv_sgm_unique(best - BIAS, rv_min(near, far) - BIAS, row.a.uniqueness);
    row.keep_winner(row.shift + x, k);
    row.a.maps.winner.row(row.y)[x] = (uint16_t)k;
    row.a.maps.values.row(row.y)[x] =
        (uint16_t)(valid ? rv_sgm_value(row.a.scene.min_disparity, k, shifted) : RV_SGM_INVALID);
    if (row.a.confidence)
      row.a.maps.raw_confidence.row(row.y)[x] =
          (uint8_t)rv_sgm_margin(best, far, row.a.margin_scale);
  }
};

#endif
