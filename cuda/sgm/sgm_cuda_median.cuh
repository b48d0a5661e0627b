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
 * the lower median of the valid ones. */
template <int N> static __device__ __forceinline__ void sgm_pad(uint32_t (&v)[N]) {
  uint32_t high = 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const uint32_t invalid = sgm_invalid(v[i]);
    v[i] |= invalid & high;
    high ^= invalid;
  }
}

/* Low, middle and high of three. */
static __device__ __forceinline__ void sgm_sort3(uint32_t &a, uint32_t &b, uint32_t &c) {
  sgm_order(a, b), sgm_order(b, c), sgm_order(a, b);
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

/* Of 14 of 25 neither the lowest nor the highest is the middle of all: drop both, add the next one,
 * and so on. */
static __device__ __forceinline__ uint32_t sgm_middle(uint32_t (&v)[25]) {
#pragma unroll
  for (int first = 0; first <= 11; first++) {
    const int last = 13; /* candidates: first .. 13, the next value goes to 13 */
#pragma unroll
    for (int n = first + 1; n <= last; n++)
      sgm_order(v[first], v[n]);
#pragma unroll
    for (int n = first + 1; n < last; n++)
      sgm_order(v[n], v[last]);
    if (first < 11)
      v[last] = v[14 + first];
  }
  return v[12];
}

#endif
