/* SPDX-License-Identifier: MIT */
/* sgm_cuda_cost.cuh: input of the steps of all paths: costs (eq. 2.2) from descriptors, P1 and P2.
 * Device code only. */
#ifndef RV_SGM_CUDA_COST_CUH
#define RV_SGM_CUDA_COST_CUH

#include <type_traits>

#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"

static __device__ __forceinline__ uint32_t sgm_hamming(uint32_t a, uint32_t b) {
  return (uint32_t)__popc(a ^ b);
}
static __device__ __forceinline__ uint32_t sgm_hamming(uint64_t a, uint64_t b) {
  return (uint32_t)__popcll(a ^ b);
}

/* Costs of two candidates, limited if their descriptors are of a limited type. */
template <typename Census>
static __device__ __forceinline__ uint32_t sgm_limit(uint32_t costs, uint32_t limit) {
  return std::is_enum<Census>::value ? sgm_min2(costs, limit) : costs;
}

/* A bit that no descriptor without a limit has. */
static __device__ __forceinline__ constexpr uint32_t sgm_spare(uint32_t) {
  return 1u << 31;
}
static __device__ __forceinline__ constexpr uint64_t sgm_spare(uint64_t) {
  return (uint64_t)1 << 63;
}
static_assert(RV_SGM_CSCT_BITS < 32 && RV_SGM_CENSUS_BITS < 64, "the spare bits");

/* Costs + 1 of two candidates, low and high, of a pixel; limit: of these. Without a limit the 1 is
 * a bit that differs, else it is added with the limit: none takes an instruction. */
template <typename Census>
static __device__ __forceinline__ uint32_t sgm_cost_and_one(Census pixel, Census low, Census high,
                                                            uint32_t limit) {
  if constexpr (std::is_enum<Census>::value) {
    const uint32_t both = sgm_shift_add<16>(sgm_hamming(pixel, high), sgm_hamming(pixel, low));
    return __viaddmin_u16x2(both, 0x10001u, limit);
  } else {
    const Census spare = sgm_spare(pixel);
    return sgm_shift_add<16>(sgm_hamming(pixel, high ^ spare), sgm_hamming(pixel, low ^ spare));
  }
}

static __device__ __forceinline__ uint32_t sgm_ldg(const uint32_t *at) {
  return __ldg(at);
}
static __device__ __forceinline__ uint64_t sgm_ldg(const uint64_t *at) {
  return __ldg(at);
}
static __device__ __forceinline__ SgmLimited sgm_ldg(const SgmLimited *at) {
  return (SgmLimited)__ldg((const uint32_t *)at);
}
static __device__ __forceinline__ SgmLimited64 sgm_ldg(const SgmLimited64 *at) {
  return (SgmLimited64)__ldg((const uint64_t *)at);
}

/* P1 of the steps of a sweep, down or up. */
static __device__ __forceinline__ SgmP1 sgm_p1(const SgmScene &s, bool up) {
  const uint32_t any = (uint32_t)s.p1 * 0x10001u, ground = (uint32_t)s.p1_ground * 0x10001u;
  SgmP1 p1;
  p1.below = up ? any : ground, p1.above = up ? ground : any;
  return p1;
}

/* P2 in both halves for the step from (x - dx, y - dy) to (x, y); inside: whether that step has a
 * predecessor; without one the value is irrelevant. */
static __device__ __forceinline__ uint32_t sgm_p2(const SgmScene &s, int x, int y, int dx, int dy,
                                                  bool inside) {
  int penalty = s.p2;
  if (s.adaptive && inside)
    penalty = rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient, s.gray.row(y)[x],
                                s.gray.row(y - dy)[x - dx]);
  return (uint32_t)penalty * 0x10001u;
}

/* Descriptors of a left pixel and of a lane's 2 K candidates, loaded some steps before use. */
template <int K, typename Census> struct SgmFetch {
  Census left, low[K], high[K];

  __device__ __forceinline__ void load(const SgmScene &s, int x, int y, const SgmLane &self) {
    const size_t row = (size_t)y * s.pitch;
    const Census *right = (const Census *)s.right + row;
    const int column = x - s.min_disparity - self.first_word;
    left = ((const Census *)s.left)[row + x];
#pragma unroll
    for (int j = 0; j < K; j++) {
      low[j] = right[rv_max(column - j, 0)];
      high[j] = right[rv_max(column - j - s.words, 0)];
    }
  }

  __device__ __forceinline__ void costs(uint32_t (&cost)[K], uint32_t limit) const {
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] =
          sgm_limit<Census>(sgm_hamming(left, low[j]) + (sgm_hamming(left, high[j]) << 16), limit);
  }
};

#endif
