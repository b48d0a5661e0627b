/* SPDX-License-Identifier: MIT */
/* rv_launch.cuh: how kernels are launched, and how they start before the preceding kernel ends
 * (programmatic dependent launch). Only .cu files include it. A launch that is not possible is
 * reported here; faults inside a kernel show at the next wait.
 *
 * A kernel launched with `RvLaunch.early` may do what needs no result of the preceding kernel, then
 * calls rv_launch_wait(), which returns when that kernel has ended and its memory is visible. Every
 * kernel of such a chain calls rv_launch_wait() before rv_launch_next(): what lies two kernels back
 * has then ended too. Blocks that learn otherwise that what they need is there
 * (sgm_cuda_finished.cuh) may omit it, as long as one block of the kernel calls it. GPUs before
 * compute capability 9.0 know neither: there both do nothing, and the host omits `early`. */
#ifndef RV_LAUNCH_CUH
#define RV_LAUNCH_CUH

#include "rv_cuda.cuh"

/* Blocks of `threads` per multiprocessor that __launch_bounds__ may ask for: `blocks`, or as many
 * as this GPU can hold: 1024 threads with compute capability 7.5, 1536 with 8.6 to 8.9, 11.0,
 * 12.x. */
static constexpr int rv_launch_blocks(int threads, int blocks) {
#ifndef __CUDA_ARCH__
  const int held = 2048;
#else
  const int held = __CUDA_ARCH__ < 800                                                     ? 1024
                   : (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100 ? 1536
                                                                                           : 2048;
#endif
  return blocks < held / threads ? blocks : held / threads;
}

/* Allows a kernel all dynamic shared memory of a block that its static variables leave. The limit
 * belongs to the kernel, and each call replaces it: with what one object needs, another one of
 * another size could not launch it anymore. */
template <class... Params>
static inline RvStatus rv_launch_allow_shared(const RvLog *log, void (*kernel)(Params...)) {
  int device = 0, most = 0;
  cudaFuncAttributes code = {};
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  RV_CU(log, cudaFuncGetAttributes(&code, kernel));
  RV_CU(log, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  most - (int)code.sharedSizeBytes));
  return RV_OK;
}

/* Waits for the preceding kernel. */
static __device__ __forceinline__ void rv_launch_wait(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel start as soon as all blocks are here. */
static __device__ __forceinline__ void rv_launch_next(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Attributes of one launch. */
struct RvLaunch {
  cudaLaunchConfig_t config;
  cudaLaunchAttribute attributes[4];

  RvLaunch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) : config(), attributes() {
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
  }
  RvLaunch(const RvLaunch &) = delete;
  RvLaunch &operator=(const RvLaunch &) = delete;

  /* Blocks (x, 0..) form clusters of `blocks`. */
  void cluster(int blocks) {
    cudaLaunchAttribute *a = &attributes[config.numAttrs++];
    a->id = cudaLaunchAttributeClusterDimension;
    a->val.clusterDim.x = (unsigned)blocks;
    a->val.clusterDim.y = a->val.clusterDim.z = 1;
  }
  /* The preceding kernel in the stream must belong to the same chain. */
  void early() {
    cudaLaunchAttribute *a = &attributes[config.numAttrs++];
    a->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a->val.programmaticStreamSerializationAllowed = 1;
  }

  /* All blocks are on the GPU at the same time, or the launch fails: they may wait for each
   * other. */
  void cooperative() {
    cudaLaunchAttribute *a = &attributes[config.numAttrs++];
    a->id = cudaLaunchAttributeCooperative;
    a->val.cooperative = 1;
  }

  /* As much shared memory as there is, so that blocks of other kernels have room beside. A
   * multiprocessor must be empty to change this: kernels that overlap should agree. Older toolkits
   * cannot state it for a launch. */
  void prefer_shared() {
#if CUDART_VERSION >= 12080
    cudaLaunchAttribute *a = &attributes[config.numAttrs++];
    a->id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    a->val.sharedMemCarveout = cudaSharedmemCarveoutMaxShared;
#endif
  }

  /* Enqueues `kernel`; the arguments are converted to the kernel's types. */
  template <class... Params, class... Args>
  RvStatus run(const RvLog *log, void (*kernel)(Params...), const Args &...args) {
    RV_CU(log, cudaLaunchKernelEx(&config, kernel, Params(args)...));
    return RV_OK;
  }
};

/* Launches a kernel of a chain in which each may start early when `is_early`. */
template <class... Params, class... Args>
static inline RvStatus rv_launch(const RvLog *log, void (*kernel)(Params...), dim3 grid, dim3 block,
                                 size_t shared, RvStream stream, bool is_early,
                                 const Args &...args) {
  RvLaunch launch(grid, block, shared, stream);
  if (is_early)
    launch.early();
  return launch.run(log, kernel, args...);
}

/* The same for a kernel of a stage: a Work has `overlaps`, a Job plan and stream. */
template <class Work, class Job, class... Params, class... Args>
static inline RvStatus rv_launch_stage(const Work *w, void (*kernel)(Params...), dim3 grid,
                                       unsigned threads, size_t shared, const Job *job,
                                       const Args &...args) {
  return rv_launch(&job->plan->config.log, kernel, grid, dim3(threads), shared, job->stream,
                   w->overlaps != 0, args...);
}

#endif
