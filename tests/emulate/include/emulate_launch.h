/* SPDX-License-Identifier: MIT */
/* emulate_launch.h: launches of kernels, and what their host code asks about them. */
#ifndef RV_EMULATE_LAUNCH_H
#define RV_EMULATE_LAUNCH_H

#include "cuda_runtime_api.h"
#include "emulate_machine.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  union {
    struct {
      unsigned x, y, z;
    } clusterDim;
    int cooperative, programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  int ptxVersion, binaryVersion, maxThreadsPerBlock, numRegs;
};

namespace emulate {
cudaError_t launch_checked(const cudaLaunchConfig_t &config, const void *kernel,
                           void (*call)(const void *), const void *arguments);
cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes *attributes);
cudaError_t clusters_at_once(int *count, const cudaLaunchConfig_t &config);

/* Every thread gets copies of the arguments, as on a GPU. */
template <class... Params> struct Call {
  void (*kernel)(Params...);
  std::tuple<Params...> arguments;
  static void call(const void *self) {
    const Call *c = (const Call *)self;
    std::apply(c->kernel, c->arguments);
  }
};

/* Of a launch with <<<grid, block, shared, stream>>>. */
struct Configured {
  cudaLaunchConfig_t config;
  Configured(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = NULL)
      : config{grid, block, shared, stream, NULL, 0} {}
  template <class... Params, class... Args>
  void operator()(void (*kernel)(Params...), const Args &...args) const {
    const Call<Params...> call = {kernel, std::tuple<Params...>(Params(args)...)};
    (void)launch_checked(config, (const void *)kernel, call.call, &call);
  }
};
} // namespace emulate

template <class... Params, class... Args>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(Params...), const Args &...args) {
  const emulate::Call<Params...> call = {kernel, std::tuple<Params...>(Params(args)...)};
  return emulate::launch_checked(*config, (const void *)kernel, call.call, &call);
}
template <class Kernel>
static inline cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute attribute,
                                               int value) {
  return emulate::set_attribute((const void *)kernel, attribute, value);
}
template <class Kernel>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *) {
  return emulate::get_attributes(attributes);
}
template <class Kernel>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int *count, Kernel *,
                                                         const cudaLaunchConfig_t *config) {
  return emulate::clusters_at_once(count, *config);
}
template <class Kernel>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int threads, size_t shared) {
  *blocks = emulate::occupancy((unsigned)threads, shared);
  return cudaSuccess;
}
template <class T> static inline cudaError_t cudaMalloc(T **memory, size_t bytes) {
  return cudaMalloc((void **)memory, bytes);
}

#endif
