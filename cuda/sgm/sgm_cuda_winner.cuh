/* SPDX-License-Identifier: MIT */
/* sgm_cuda_winner.cuh: winner of a pixel whose S a group of lanes stores. Device code only. */
#ifndef RV_SGM_CUDA_WINNER_CUH
#define RV_SGM_CUDA_WINNER_CUH

#include "rv_hd.h"
#include "sgm/sgm_cuda_path.cuh"

/* Keys are ordered by S, then by candidate. */
static __device__ __forceinline__ uint32_t sgm_low_key(uint32_t w, int i) {
  return (w << 16) + (uint32_t)i;
}
static __device__ __forceinline__ uint32_t sgm_high_key(uint32_t w, int i) {
  return (w & 0xffff0000u) | (uint32_t)i;
}

/* Smallest key of the pixel, in all lanes of the group. */
template <int G, int K>
static __device__ __forceinline__ uint32_t sgm_best_key(const uint32_t (&w)[K], const SgmLane &self,
                                                        int words) {
  uint32_t key = 0xffffffffu;
#pragma unroll
  for (int j = 0; j < K; j++) {
    const int i = self.first_word + j;
    key = min(key, min(sgm_low_key(w[j], i), sgm_high_key(w[j], i + words)));
  }
  return sgm_group_min_u32<G>(self.active ? key : 0xffffffffu);
}

/* Smallest S at more than `gap` steps from `k`. */
template <int G, int K>
static __device__ __forceinline__ int sgm_second_sum(const uint32_t (&w)[K], const SgmLane &self,
                                                     int words, int k, int gap) {
  uint32_t second = 0xffffu;
#pragma unroll
  for (int j = 0; j < K; j++) {
    const int i = self.first_word + j;
    if ((unsigned)(i - k + gap) > 2u * gap)
      second = min(second, w[j] & 0xffffu);
    if ((unsigned)(i + words - k + gap) > 2u * gap)
      second = min(second, w[j] >> 16);
  }
  return (int)sgm_group_min_u32<G>(self.active ? second : 0xffffu);
}

#endif
