/* SPDX-License-Identifier: MIT */
/* stixels_cuda_penalties.cuh: penalties of a stixel above its predecessor, from registers. Not
 * installed. */
#ifndef RV_STIXELS_CUDA_PENALTIES_CUH
#define RV_STIXELS_CUDA_PENALTIES_CUH

#include "stixels/stixels_cuda.cuh"

namespace {
/* A penalty by the sign of a difference. NEAR: none is above 4 nats per px, and gravity has no
 * constant part (RvStixelsCuda.has_plain_penalties), so that 32 bits are enough. */
struct Rates {
  int32_t alpha[2]; /* [difference > 0]; NEAR: times 256 */
  uint32_t beta[2]; /* NEAR: per 1/256 px, times 256, with the sign of the difference */
};
} // namespace

/* The same in all lanes, which the compiler does not know: it keeps the value in a register. */
template <class T> static __device__ __forceinline__ T held(T value) {
  return __shfl_sync(RV_WARP, value, 0);
}

template <bool NEAR>
static __device__ __forceinline__ Rates rates_of(const RvStixelsStep &down,
                                                 const RvStixelsStep &up) {
  if (NEAR)
    return {{held(down.alpha << 8), held(up.alpha << 8)},
            {held(0u - (down.beta >> 12)), held(up.beta >> 12)}};
  return {{held(down.alpha), held(up.alpha)}, {held(down.beta), held(up.beta)}};
}

/* rv_stixels_gap, _gravity or _ordering. NEAR: products with differences of 1024 px are below
 * 2^31. */
template <bool NEAR>
static __device__ __forceinline__ int32_t penalty_of(const Rates &r, int difference) {
  if (!NEAR) {
    const bool is_up = difference > 0;
    const int32_t alpha = is_up ? r.alpha[1] : difference < 0 ? r.alpha[0] : 0;
    return rv_stixels_penalty(alpha, is_up ? r.beta[1] : r.beta[0], difference);
  }
  const int delta = rv_max(rv_min(difference, 1 << 18), -(1 << 18));
  const bool is_up = delta > 0;
  const int32_t penalty =
      ((int32_t)(is_up ? r.beta[1] : r.beta[0]) * delta + (is_up ? r.alpha[1] : r.alpha[0])) >> 8;
  return delta == 0 ? 0 : penalty;
}

/* rv_stixels_gravity. IS_FAR: differences may be above 1024 px. */
template <bool NEAR, bool IS_FAR = true>
static __device__ __forceinline__ int32_t gravity_of(const Rates &r, int difference) {
  if (!NEAR)
    return penalty_of<false>(r, difference);
  const int delta = IS_FAR ? rv_max(rv_min(difference, 1 << 18), -(1 << 18)) : difference;
  return rv_max((int32_t)r.beta[0] * delta, (int32_t)r.beta[1] * delta) >> 8;
}

/* rv_stixels_ordering. */
template <bool NEAR, bool IS_FAR = true>
static __device__ __forceinline__ int32_t ordering_of(const Rates &r, int difference) {
  if (!NEAR)
    return penalty_of<false>(r, difference);
  const int delta = IS_FAR ? rv_min(difference, 1 << 18) : difference;
  /* far below 0 the product is not used */
  const int32_t penalty = (int32_t)(r.beta[1] * (uint32_t)delta + (uint32_t)r.alpha[1]) >> 8;
  return delta > 0 ? penalty : 0;
}

#endif
