/* SPDX-License-Identifier: MIT */
/* sgm_cuda_path.cuh: one step of a path (eq. 2.3) on a group of lanes. Device code only.
 *
 * Two candidates share a 32-bit word: word i holds candidate i in its low and i + disparities / 2
 * in its high half. So the neighbors i - 1 and i + 1 of both halves are complete other words, and
 * all arithmetic is on u16 pairs. Plain 32-bit additions are used where no half can carry or
 * borrow: every term is bounded by the rule paths * (bits + p2) <= 65535 of sgm.h.
 *
 * A group of G lanes (16 or 32) stores a path, K words per lane; the last lanes of a group are idle
 * when disparities / 2 is not G * K. Word K * lane + j is register j of its lane. */
#ifndef RV_SGM_CUDA_PATH_CUH
#define RV_SGM_CUDA_PATH_CUH

#include <stdint.h>

#define SGM_WARP 0xffffffffu
#define SGM_FAR 0x7fffu /* above every cost of a path, and SGM_FAR + p1 fits 16 bits */

/* Smaller half by half. */
static __device__ __forceinline__ uint32_t sgm_min2(uint32_t a, uint32_t b) {
  return __vminu2(a, b);
}

static __device__ __forceinline__ uint32_t sgm_swap2(uint32_t a) {
  return __byte_perm(a, a, 0x1032);
}

/* a + (b << SHIFT) as a multiplication: that pipe is idle here. */
template <int SHIFT>
static __device__ __forceinline__ uint32_t sgm_shift_add(uint32_t b, uint32_t a) {
  uint32_t sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(b), "n"(1 << SHIFT), "r"(a));
  return sum;
}

/* P1 of a change from candidate k - 1 to k and from k + 1 to k, in both halves. */
struct SgmP1 {
  uint32_t below, above;
};

/* Position of a lane in its group. */
struct SgmLane {
  int first_word;   /* K * lane */
  int below, above; /* lanes with the neighboring words, in a ring */
  bool active, first, last;
};

template <int G, int K> static __device__ __forceinline__ SgmLane sgm_lane(int words) {
  const int lane = (int)threadIdx.x % G;
  const int lanes = words / K;
  SgmLane self;
  self.active = lane < lanes;
  self.first_word = self.active ? lane * K : 0; /* idle lanes read what lane 0 reads */
  self.first = lane == 0;
  self.last = lane == lanes - 1;
  self.below = lane == 0 ? lanes - 1 : lane - 1;
  self.above = lane >= lanes - 1 ? 0 : lane + 1;
  return self;
}

/* Smallest over the lanes of a group, in all of them. */
static __device__ __forceinline__ uint32_t sgm_warp_min(uint32_t v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(SGM_WARP, v);
#else
#  pragma unroll
  for (int o = 16; o > 0; o /= 2)
    v = min(v, __shfl_xor_sync(SGM_WARP, v, o));
  return v;
#endif
}

static __device__ __forceinline__ uint32_t sgm_warp_sum(uint32_t v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(SGM_WARP, v);
#else
#  pragma unroll
  for (int o = 16; o > 0; o /= 2)
    v += __shfl_xor_sync(SGM_WARP, v, o);
  return v;
#endif
}

template <int G> static __device__ __forceinline__ uint32_t sgm_group_min_u32(uint32_t v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (G == 16) { /* two reductions are faster than four exchanges */
    const bool second = threadIdx.x % 32 >= 16;
    const uint32_t a = __reduce_min_sync(SGM_WARP, second ? SGM_WARP : v);
    const uint32_t b = __reduce_min_sync(SGM_WARP, second ? v : SGM_WARP);
    return second ? b : a;
  }
#endif
  if constexpr (G == 32) {
    return sgm_warp_min(v);
  } else {
#pragma unroll
    for (int o = G / 2; o > 0; o /= 2)
      v = min(v, __shfl_xor_sync(SGM_WARP, v, o, G));
    return v;
  }
}

/* Smallest half of `smallest` over the lanes of a group, in both halves of the result. */
template <int G> static __device__ __forceinline__ uint32_t sgm_group_min(uint32_t smallest) {
  smallest = sgm_min2(smallest, sgm_swap2(smallest));
  return sgm_group_min_u32<G>(smallest); /* halves are equal, so this is the smallest */
}

/* l: the path's costs L of the previous pixel, becomes those of this one. floor2: the smallest of
 * them in both halves, likewise. A path that starts here has l = 0 and floor2 = 0, which gives
 * L = cost. p2: penalty in both halves. All lanes of the warp must take part. */
template <int G, int K>
static __device__ __forceinline__ void sgm_path_step(uint32_t (&l)[K], uint32_t &floor2,
                                                     const uint32_t (&cost)[K], const SgmP1 &p1,
                                                     uint32_t p2, const SgmLane &self) {
  uint32_t below = __shfl_sync(SGM_WARP, l[K - 1], self.below, G);
  uint32_t above_last = __shfl_sync(SGM_WARP, l[0], self.above, G);
  if (self.first) /* there is no candidate -1; the low half's last is the high half's predecessor */
    below = (below << 16) | SGM_FAR;
  if (self.last)
    above_last = (above_last >> 16) | (SGM_FAR << 16);
  const uint32_t jump = floor2 + p2;
  uint32_t smallest = 0xffffffffu;
#pragma unroll
  for (int j = 0; j < K; j++) {
    const uint32_t above = j + 1 < K ? l[j + 1] : above_last;
    uint32_t best = __viaddmin_u16x2(below, p1.below, l[j]);
    best = __viaddmin_u16x2(above, p1.above, best);
    best = sgm_min2(best, jump);
    below = l[j];
    l[j] = best - floor2 + cost[j];
    smallest = sgm_min2(smallest, l[j]);
  }
  floor2 = sgm_group_min<G>(self.active ? smallest : 0xffffffffu);
}

/* K words of S or L in memory, by the widest accesses. `at` is aligned to K words (K <= 4) or 16
 * bytes. */
template <int K>
static __device__ __forceinline__ void sgm_load(uint32_t (&w)[K], const uint32_t *at) {
  if constexpr (K == 1) {
    w[0] = at[0];
  } else if constexpr (K == 2) {
    const uint2 v = *(const uint2 *)at;
    w[0] = v.x, w[1] = v.y;
  } else {
#pragma unroll
    for (int j = 0; j < K; j += 4) {
      const uint4 v = *(const uint4 *)(at + j);
      w[j] = v.x, w[j + 1] = v.y, w[j + 2] = v.z, w[j + 3] = v.w;
    }
  }
}

template <int K>
static __device__ __forceinline__ void sgm_store(uint32_t *at, const uint32_t (&w)[K]) {
  if constexpr (K == 1) {
    at[0] = w[0];
  } else if constexpr (K == 2) {
    *(uint2 *)at = make_uint2(w[0], w[1]);
  } else {
#pragma unroll
    for (int j = 0; j < K; j += 4)
      *(uint4 *)(at + j) = make_uint4(w[j], w[j + 1], w[j + 2], w[j + 3]);
  }
}

#endif
