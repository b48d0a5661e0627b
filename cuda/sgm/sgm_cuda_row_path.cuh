/* SPDX-License-Identifier: MIT */
/* sgm_cuda_row_path.cuh: a path along a row on one warp, and its costs. Device code only.
 *
 * States here are L + 1 (eq. 2.3), so that their minimum is never 0 and its negative, in both
 * halves, is one subtraction that never borrows between the halves. A step is L' + 1 = min(min(L,
 * L- + p1, L+ + p1) - floor, p2) + C + 1, four instructions per word, two of them after the
 * reduction. */
#ifndef RV_SGM_CUDA_ROW_PATH_CUH
#define RV_SGM_CUDA_ROW_PATH_CUH

#include "sgm/sgm_cuda_cost.cuh"

/* N elements by the widest accesses; `at` is aligned to N elements or 16 bytes. */
template <int N>
static __device__ __forceinline__ void sgm_row_load(uint32_t *to, const uint32_t *at) {
  uint32_t v[N];
  sgm_load<N>(v, at);
#pragma unroll
  for (int i = 0; i < N; i++)
    to[i] = v[i];
}

template <int N>
static __device__ __forceinline__ void sgm_row_load(SgmLimited *to, const SgmLimited *at) {
  uint32_t v[N];
  sgm_load<N>(v, (const uint32_t *)at);
#pragma unroll
  for (int i = 0; i < N; i++)
    to[i] = (SgmLimited)v[i];
}

template <int N>
static __device__ __forceinline__ void sgm_row_load(uint64_t *to, const uint64_t *at) {
  if constexpr (N == 1) {
    to[0] = at[0];
  } else {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const ulonglong2 v = *(const ulonglong2 *)(at + i);
      to[i] = v.x, to[i + 1] = v.y;
    }
  }
}

template <int N>
static __device__ __forceinline__ void sgm_row_load(SgmLimited64 *to, const SgmLimited64 *at) {
  uint64_t v[N];
  sgm_row_load<N>(v, (const uint64_t *)at);
#pragma unroll
  for (int i = 0; i < N; i++)
    to[i] = (SgmLimited64)v[i];
}

template <int N>
static __device__ __forceinline__ void sgm_copy(uint32_t (&to)[N], const uint32_t (&from)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++)
    to[i] = from[i];
}

/* Costs of K words, one byte per candidate: pairs of words interleaved. */
template <int K>
static __device__ __forceinline__ void sgm_pack_bytes(uint32_t (&v)[(K + 1) / 2],
                                                      const uint32_t (&cost)[K]) {
  if constexpr (K == 1) {
    v[0] = __byte_perm(cost[0], 0, 0x4420);
  } else {
#pragma unroll
    for (int j = 0; j < K / 2; j++)
      v[j] = sgm_shift_add<8>(cost[2 * j + 1], cost[2 * j]);
  }
}

template <int K>
static __device__ __forceinline__ void sgm_store_bytes(uint16_t *at, const uint32_t (&cost)[K]) {
  uint32_t v[(K + 1) / 2];
  sgm_pack_bytes<K>(v, cost);
  if constexpr (K == 1)
    *at = (uint16_t)v[0];
  else
    sgm_store<K / 2>((uint32_t *)at, v);
}

/* The same for bytes that nobody reads soon: they leave the L2 cache first. */
template <int K>
static __device__ __forceinline__ void sgm_stream_bytes(uint16_t *at, const uint32_t (&cost)[K]) {
  uint32_t v[(K + 1) / 2];
  sgm_pack_bytes<K>(v, cost);
  if constexpr (K == 1)
    __stcs(at, (uint16_t)v[0]);
  else if constexpr (K == 2)
    __stcs((uint32_t *)at, v[0]);
  else if constexpr (K == 4)
    __stcs((uint2 *)at, make_uint2(v[0], v[1]));
  else
#pragma unroll
    for (int j = 0; j < K / 2; j += 4)
      __stcs((uint4 *)at + j / 4, make_uint4(v[j], v[j + 1], v[j + 2], v[j + 3]));
}

template <int K>
static __device__ __forceinline__ void sgm_load_bytes(uint32_t (&v)[(K + 1) / 2],
                                                      const uint16_t *at) {
  if constexpr (K == 1)
    v[0] = *at;
  else
    sgm_load<K / 2>(v, (const uint32_t *)at);
}

template <int K>
static __device__ __forceinline__ void sgm_unpack_bytes(uint32_t (&cost)[K],
                                                        const uint32_t (&v)[(K + 1) / 2]) {
#pragma unroll
  for (int j = 0; j < K; j++)
    cost[j] = __byte_perm(v[j / 2], 0, K == 1 ? 0x4140 : j % 2 ? 0x4341 : 0x4240);
}

/* A path along the row; words as in sgm_cuda_path.cuh, K per lane. FULL: no lane is idle. */
template <int K, bool FULL> struct RowPath {
  enum { ONE = 0x10001 }; /* in both halves */
  uint32_t l[K];          /* L + 1 */
  uint32_t drop;          /* minus the smallest l, in both halves */
  int first_word;         /* of this lane; idle lanes have that of lane 0 */
  bool active;            /* idle lanes take part, but are ignored */
  int below, above;       /* lanes with the neighboring words, in a ring */
  uint32_t scale, offset; /* turn the word below into a neighbor at the start of the range, */
  uint32_t from_above;    /* and the one above at its end */
  uint32_t p1;
  uint32_t top; /* 0x10000; the compiler does not know it, so that the subtraction is a
                 * multiplication: that pipe has less to do */

  /* At a pixel without predecessor: L = 0 makes the next L its cost. */
  __device__ __forceinline__ RowPath(const SgmScene &scene) {
    const int lane = (int)threadIdx.x % 32, lanes = FULL ? 32 : scene.words / K;
    active = FULL || lane < lanes;
    first_word = active ? lane * K : 0;
    below = lane == 0 ? lanes - 1 : lane - 1;
    above = lane >= lanes - 1 ? 0 : lane + 1;
    /* There is no candidate -1; the low half's last one precedes the high half's first. */
    scale = lane == 0 ? 0x10000 : 1;
    offset = lane == 0 ? SGM_FAR : 0;
    from_above = lane == lanes - 1 ? 0x5432 : 0x3210;
    p1 = (uint32_t)scene.p1 * ONE;
    top = blockDim.z << 16;
    drop = 0u - ONE + 0x10000u;
#pragma unroll
    for (int j = 0; j < K; j++)
      l[j] = ONE;
  }

  __device__ __forceinline__ void find_floor() {
    uint32_t smallest = l[0];
#pragma unroll
    for (int j = 1; j < K; j++)
      smallest = sgm_min2(smallest, l[j]);
    smallest = sgm_min2(smallest, sgm_swap2(smallest));
    drop = top - sgm_warp_min(FULL || active ? smallest : 0xffffffffu);
  }

  /* To the next pixel; cost: costs + 1; p2 in both halves. beyond: excess of L over the costs. */
  __device__ __forceinline__ void step(const uint32_t (&cost)[K], uint32_t p2) {
    uint32_t beyond[K];
    step(cost, p2, beyond);
  }
  __device__ __forceinline__ void step(const uint32_t (&cost)[K], uint32_t p2,
                                       uint32_t (&beyond)[K]) {
    uint32_t low = __shfl_sync(SGM_WARP, l[K - 1], below);
    uint32_t high = __shfl_sync(SGM_WARP, l[0], above);
    low = low * scale + offset;
    high = __byte_perm(high, SGM_FAR * ONE, from_above);
    uint32_t best[K];
#pragma unroll
    for (int j = 0; j < K; j++) {
      best[j] = l[j];
      if (j > 0)
        best[j] = __viaddmin_u16x2(l[j - 1], p1, best[j]);
      if (j < K - 1)
        best[j] = __viaddmin_u16x2(l[j + 1], p1, best[j]);
      if (j == 0)
        best[j] = __viaddmin_u16x2(low, p1, best[j]);
      if (j == K - 1)
        best[j] = __viaddmin_u16x2(high, p1, best[j]);
    }
#pragma unroll
    for (int j = 0; j < K; j++) {
      beyond[j] = __viaddmin_u16x2(best[j], drop, p2);
      l[j] = beyond[j] + cost[j];
    }
    find_floor();
  }

  /* States in shared memory, one word or (narrow, all at most 255) half a word each. */
  __device__ __forceinline__ void note(void *to, int narrow) const {
#pragma unroll
    for (int j = 0; j < K && active; j++)
      if (narrow)
        ((uint16_t *)to)[first_word + j] = (uint16_t)__byte_perm(l[j], 0, 0x4420);
      else
        ((uint32_t *)to)[first_word + j] = l[j];
  }
  __device__ __forceinline__ void resume(const void *from, int narrow) {
#pragma unroll
    for (int j = 0; j < K; j++)
      l[j] = narrow ? __byte_perm(((const uint16_t *)from)[first_word + j], 0, 0x4140)
                    : ((const uint32_t *)from)[first_word + j];
    find_floor();
  }
};

/* Costs of the pixels along a row from descriptors in shared memory. From pixel to pixel the
 * candidates of a lane move by one descriptor, so STEPS pixels need STEPS + K of them, K of which
 * are already loaded. */
template <int K, typename Census> struct RowFeed {
  enum { STEPS = K < 4 ? 4 : K };
  const Census *left_at, *low_at; /* of the current unit's first pixel */
  int words;
  uint32_t limit;                                      /* of costs + 1 */
  Census left[STEPS], low[STEPS + K], high[STEPS + K]; /* from K before the first pixel on */

  template <int DX>
  __device__ __forceinline__ void start(const Census *left_from, const Census *right_from,
                                        int words_, uint32_t limit_, uint32_t (&cost)[K]) {
    left_at = left_from, low_at = right_from, words = words_, limit = limit_ + 0x10001u;
    sgm_row_load<STEPS>(left, left_at);
#pragma unroll
    for (int i = 0; i < STEPS + K; i += K) {
      sgm_row_load<K>(low + i, low_at + i - K);
      sgm_row_load<K>(high + i, low_at - words + i - K);
    }
    costs(DX > 0 ? 0 : STEPS - 1, cost);
  }

  /* Costs + 1. */
  __device__ __forceinline__ void costs(int u, uint32_t (&cost)[K]) const {
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] = sgm_cost_and_one(left[u], low[K + u - j], high[K + u - j], limit);
  }

  /* Costs of the pixel after the v-th of the unit in direction DX. */
  template <int DX> __device__ __forceinline__ void next(int v, uint32_t (&cost)[K]) {
    if (v < STEPS - 1) {
      costs(DX > 0 ? v + 1 : STEPS - 2 - v, cost);
      return;
    }
    constexpr int KEPT = DX > 0 ? 0 : STEPS, FROM = DX > 0 ? STEPS : 0, NEW = DX > 0 ? K : 0;
#pragma unroll
    for (int j = 0; j < K; j++)
      low[KEPT + j] = low[FROM + j], high[KEPT + j] = high[FROM + j];
    left_at += DX * STEPS, low_at += DX * STEPS;
    sgm_row_load<STEPS>(left, left_at);
#pragma unroll
    for (int i = NEW; i < NEW + STEPS; i += K) {
      sgm_row_load<K>(low + i, low_at + i - K);
      sgm_row_load<K>(high + i, low_at - words + i - K);
    }
    costs(DX > 0 ? 0 : STEPS - 1, cost);
  }
};

#endif
