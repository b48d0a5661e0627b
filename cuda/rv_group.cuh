/* SPDX-License-Identifier: MIT */
/* rv_group.cuh: reductions and scans of warps and blocks, and rows of planes, for all kernels. Only
 * .cu files include it.
 *
 * Every thread of the warp or block must take part. The operators are associative and commutative
 * on integers, so the order does not show in the result; do not use them for floats whose sum must
 * be the same on both engines. */
#ifndef RV_GROUP_CUH
#define RV_GROUP_CUH

#include "rv_cuda.cuh"

#define RV_WARP 0xffffffffu

static __device__ __forceinline__ int rv_lane(void) {
  return (int)(threadIdx.x & 31u);
}

/* Whether a warp reduces values of the type of v in one operation. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#  define RV_REDUCES(v) (sizeof(v) == 4)
#else
#  define RV_REDUCES(v) false
#endif

/* The values of the warp joined two by two, in all lanes. */
template <class T, class Join>
static __device__ __forceinline__ T rv_warp_join(T v, const Join &join) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    v = join(v, __shfl_xor_sync(RV_WARP, v, step));
  return v;
}

/* Sum, minimum, maximum of the warp, in all lanes. */
template <class T> static __device__ __forceinline__ T rv_warp_sum(T v) {
  if constexpr (RV_REDUCES(v))
    return __reduce_add_sync(RV_WARP, v);
  else
    return rv_warp_join(v, [](T a, T b) { return a + b; });
}

template <class T> static __device__ __forceinline__ T rv_warp_min(T v) {
  if constexpr (RV_REDUCES(v))
    return __reduce_min_sync(RV_WARP, v);
  else
    return rv_warp_join(v, [](T a, T b) { return b < a ? b : a; });
}

template <class T> static __device__ __forceinline__ T rv_warp_max(T v) {
  if constexpr (RV_REDUCES(v))
    return __reduce_max_sync(RV_WARP, v);
  else
    return rv_warp_join(v, [](T a, T b) { return b > a ? b : a; });
}

/* Sums of eight values of the warp: each step halves lanes and values. Lanes 4 k to 4 k + 3 return
 * that of value k. */
template <class T> static __device__ __forceinline__ T rv_warp_sums8(const T *values) {
  T v[8];
#pragma unroll
  for (int k = 0; k < 8; k++)
    v[k] = values[k];
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {
    const bool is_upper = rv_lane() & (4 * half);
#pragma unroll
    for (int k = 0; k < half; k++) {
      const T kept = is_upper ? v[k + half] : v[k], sent = is_upper ? v[k] : v[k + half];
      v[k] = kept + __shfl_xor_sync(RV_WARP, sent, 4 * half);
    }
  }
  v[0] += __shfl_xor_sync(RV_WARP, v[0], 2);
  return v[0] + __shfl_xor_sync(RV_WARP, v[0], 1);
}

/* The cluster of this block, from compute capability 9.0 on: rank of the block, number of blocks,
 * barrier, and the same variable of shared memory in another block. The intrinsics that
 * cooperative_groups.h calls: that header is two thirds of what a file with it compiles. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static __device__ __forceinline__ unsigned rv_cluster_rank(void) {
  return __clusterRelativeBlockRank();
}

static __device__ __forceinline__ unsigned rv_cluster_blocks(void) {
  return __clusterSizeInBlocks();
}

static __device__ __forceinline__ void rv_cluster_sync(void) {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

template <class T> static __device__ __forceinline__ T *rv_cluster_shared(T *mine, int rank) {
  return static_cast<T *>(__cluster_map_shared_rank(mine, rank));
}
#endif

/* Sum of this lane and those below it. */
template <class T> static __device__ __forceinline__ T rv_warp_scan(T v) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T other = __shfl_up_sync(RV_WARP, v, step);
    if (rv_lane() >= step)
      v += other;
  }
  return v;
}

/* Sum of this thread and those below it in a block of `threads` (a multiple of 32, at most 1024);
 * *total is that of the block. `shared` has 33 entries and may be reused after __syncthreads. */
template <class T>
static __device__ __forceinline__ T rv_block_scan(T v, int threads, T *shared, T *total) {
  const int warp = (int)threadIdx.x / 32, warps = threads / 32;
  const T mine = rv_warp_scan(v);
  if (rv_lane() == 31)
    shared[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    const T sum = rv_warp_scan(rv_lane() < warps ? shared[rv_lane()] : T(0));
    shared[rv_lane()] = sum;
    if (rv_lane() == 31)
      shared[32] = sum;
  }
  __syncthreads();
  *total = shared[32];
  return mine + (warp > 0 ? shared[warp - 1] : T(0));
}

/* Row y of a plane. */
template <class T> static __host__ __device__ __forceinline__ T *rv_row(const RvPlane &p, int y) {
  return (T *)((char *)p.data + (ptrdiff_t)y * p.stride);
}

#endif
