/* SPDX-License-Identifier: MIT */
/* road_cuda_group.cuh: a group of blocks that synchronize: a cluster if the GPU supports it,
 * else one block. Only .cu files include it. */
#ifndef RV_ROAD_CUDA_GROUP_CUH
#define RV_ROAD_CUDA_GROUP_CUH

#include "road/road_cuda.cuh"
#include "rv_group.cuh"

static __device__ __forceinline__ int group_rank() {
#if __CUDA_ARCH__ >= 900
  return (int)rv_cluster_rank();
#else
  return 0;
#endif
}

static __device__ __forceinline__ int group_blocks() {
#if __CUDA_ARCH__ >= 900
  return (int)rv_cluster_blocks();
#else
  return 1;
#endif
}

/* Barrier. Writes of the group to global memory before it are visible to all its threads after it,
 * through __ldcg: arriving releases, waiting acquires, both for the cluster. */
static __device__ __forceinline__ void group_sync() {
#if __CUDA_ARCH__ >= 900
  rv_cluster_sync();
#else
  __syncthreads();
#endif
}

/* The same variable of shared memory in another block of the group. */
template <class T> static __device__ __forceinline__ T *group_shared(T *mine, int block) {
#if __CUDA_ARCH__ >= 900
  return rv_cluster_shared(mine, (unsigned)block);
#else
  (void)block;
  return mine;
#endif
}

static __device__ __forceinline__ int64_t load(const int64_t *at) {
  return (int64_t)__ldcg((const long long *)at);
}

/* Launches a kernel as one group of `blocks`. */
template <class... Params, class... Args>
static inline RvStatus group_launch(const RoadCuda *w, int blocks,
                                    void (*kernel)(const RoadCuda, Params...), size_t shared,
                                    RvStream stream, const Args &...args) {
  RvLaunch launch(dim3((unsigned)blocks), dim3(ROAD_GROUP_THREADS), shared, stream);
  if (w->overlaps)
    launch.early();
  if (blocks > 1)
    launch.cluster(blocks);
  return launch.run(&w->plan.config.log, kernel, *w, args...);
}

#endif
