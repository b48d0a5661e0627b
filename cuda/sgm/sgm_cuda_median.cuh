/* SPDX-License-Identifier: MIT */
/* sgm_cuda_median.cuh: medians of two neighboring pixels at once. Device code only. A word has
 * the values of columns x and x + 1. */
#ifndef RV_SGM_CUDA_MEDIAN_CUH
#define RV_SGM_CUDA_MEDIAN_CUH

#include "sgm/sgm_cuda.cuh"

static __device__ __forceinline__ void sgm_order(uint32_t &low, uint32_t &high) {
  const uint32_t a = low;
  low = __vminu2(a, high), high = __vmaxu2(a, high);
}

/* All bits of a half that is invalid. */
static __device__ __forceinline__ uint32_t sgm_invalid(uint32_t v) {
  return ~(__vminu2(v, 0x00010001u) * 0xffffu);
}

/* Invalid values become 0 and 65535 alternately, the first one 0: then the middle of all values is
 * the lower median of the valid ones. high: bits of what the next one becomes. */
template <int N> static __device__ __forceinline__ void sgm_pad(uint32_t (&v)[N], uint32_t &high) {
#pragma unroll
  for (int i = 0; i < N; i++) {
    const uint32_t invalid = sgm_invalid(v[i]);
    v[i] |= invalid & high;
    high ^= invalid;
  }
}

/* Low, middle and high of three; the middle is what the other two leave. */
static __device__ __forceinline__ void sgm_sort3(uint32_t &a, uint32_t &b, uint32_t &c) {
  const uint32_t low = __vminu2(__vminu2(a, b), c), high = __vmaxu2(__vmaxu2(a, b), c);
  b = a ^ b ^ c ^ low ^ high;
  a = low, c = high;
}

/* The middle of nine: of the lows the highest, of the highs the lowest, of the middles the middle
 * are the only candidates. */
static __device__ __forceinline__ uint32_t sgm_middle(uint32_t (&v)[9]) {
  sgm_sort3(v[0], v[1], v[2]), sgm_sort3(v[3], v[4], v[5]), sgm_sort3(v[6], v[7], v[8]);
  uint32_t a = __vmaxu2(__vmaxu2(v[0], v[3]), v[6]);
  uint32_t c = __vminu2(__vminu2(v[2], v[5]), v[8]);
  uint32_t b = __vmaxu2(__vminu2(v[1], v[4]), __vminu2(__vmaxu2(v[1], v[4]), v[7]));
  sgm_sort3(a, b, c);
  return b;
}

/* Of v[FIRST] .. v[LAST], the lowest to v[FIRST] and the highest to v[LAST]: of three at a time,
 * and of a pair that remains, the lows and the highs; one that remains is among both. */
template <int FIRST, int LAST, int N>
static __device__ __forceinline__ void sgm_extremes(uint32_t (&v)[N]) {
  enum { COUNT = LAST - FIRST + 1, THREES = COUNT / 3, REST = COUNT % 3 };
  enum { LOWS = THREES + (REST > 0), HIGHS = THREES + (REST == 2) };
#pragma unroll
  for (int i = 0; i < THREES; i++)
    sgm_sort3(v[FIRST + i], v[FIRST + LOWS + i], v[LAST - i]);
  if constexpr (REST == 2)
    sgm_order(v[FIRST + THREES], v[LAST - THREES]);
#pragma unroll
  for (int i = 1; i < LOWS; i++)
    sgm_order(v[FIRST], v[FIRST + i]);
#pragma unroll
  for (int i = 1; i < HIGHS; i++)
    sgm_order(v[LAST - i], v[LAST]);
  if constexpr (REST == 1)
    sgm_order(v[FIRST + THREES], v[LAST]);
}

/* Of v[FIRST] .. v[LAST] drops the lowest and the highest TIMES times; each time but the last the
 * next value, from v[LAST + 1] on, joins. What remains starts at v[FIRST + TIMES]. */
template <int FIRST, int LAST, int TIMES, int NEXT = LAST + 1, int N>
static __device__ __forceinline__ void sgm_drop(uint32_t (&v)[N]) {
  sgm_extremes<FIRST, LAST>(v);
  if constexpr (TIMES > 1) {
    v[LAST] = v[NEXT];
    sgm_drop<FIRST + 1, LAST, TIMES - 1, NEXT + 1>(v);
  }
}

/* The middles of two sets of 25, 20 of which are in both. Of 14 of these neither the lowest nor the
 * highest is a middle: drop both, add the next one, and so on. 6 remain; to these come the 5 that
 * only one set has. */
static __device__ __forceinline__ void
sgm_middles(uint32_t (&both)[20], const uint32_t (&own)[2][5], uint32_t (&middle)[2]) {
  sgm_drop<0, 13, 7>(both);
#pragma unroll
  for (int n = 0; n < 2; n++) {
    uint32_t v[11];
#pragma unroll
    for (int i = 0; i < 11; i++)
      v[i] = i < 6 ? both[7 + i] : own[n][i - 6];
    sgm_drop<0, 6, 5>(v);
    middle[n] = v[5];
  }
}

#endif
