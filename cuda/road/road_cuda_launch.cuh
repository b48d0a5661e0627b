/* SPDX-License-Identifier: MIT */
/* road_cuda_launch.cuh: how the kernels of road detection follow one another. On GPUs that can, a
 * kernel is set up while the one before it still runs, and waits on the device until all its
 * results are there. Only .cu files include it. */
#ifndef RV_ROAD_CUDA_LAUNCH_CUH
#define RV_ROAD_CUDA_LAUNCH_CUH

#include "road/road_cuda.cuh"

/* The first thing that every kernel does, all threads of it. */
static __device__ __forceinline__ void road_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* cluster: blocks that wait for one another; 1: none. */
template <class... Params, class... Args>
static RvStatus road_launch_group(const RoadCuda *w, void (*kernel)(Params...), dim3 grid,
                                  dim3 block, size_t shared, int cluster, RvStream stream,
                                  Args... args) {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = attributes;
  if (w->overlaps) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs].val.clusterDim.x = (unsigned)cluster;
    attributes[config.numAttrs].val.clusterDim.y = 1;
    attributes[config.numAttrs++].val.clusterDim.z = 1;
  }
  RV_CU(&w->config.log, cudaLaunchKernelEx(&config, kernel, args...));
  return RV_OK;
}

template <class... Params, class... Args>
static RvStatus road_launch(const RoadCuda *w, void (*kernel)(Params...), dim3 grid, dim3 block,
                            size_t shared, RvStream stream, Args... args) {
  return road_launch_group(w, kernel, grid, block, shared, 1, stream, args...);
}

#endif
