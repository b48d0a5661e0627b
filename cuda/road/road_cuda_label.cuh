/* SPDX-License-Identifier: MIT */
/* road_cuda_label.cuh: first step of the labeling, by the kernel that decides which patches are
 * in the set. Only .cu files include it. */
#ifndef RV_ROAD_CUDA_LABEL_CUH
#define RV_ROAD_CUDA_LABEL_CUH

#include "road/road_cuda.cuh"

/* Called by full warps, the lanes on 32 adjacent patches of a row, the first in a column that is a
 * multiple of 32: the parent of each run of the set is its first patch. */
static __device__ __forceinline__ void road_label_start(const RoadCuda &w, int patch, int is_in,
                                                        int exists) {
  const int lane = threadIdx.x % 32;
  const unsigned set = __ballot_sync(RV_WARP, is_in);
  if (!exists)
    return;
  const unsigned gaps = ~set & ((1u << lane) - 1);
  const int start = gaps ? 32 - __clz((int)gaps) : 0; /* lane after the last gap below this one */
  w.parent[patch] = is_in ? patch - lane + start : -1;
  w.size[patch] = 0;
  w.contains_seed[patch] = 0;
}

#endif
