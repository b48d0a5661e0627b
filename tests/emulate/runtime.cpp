/* SPDX-License-Identifier: MIT */
/* runtime.cpp: the CUDA runtime of the emulated device: attributes, memory, streams, launches. */
#include <map>
#include <mutex>
#include <stdlib.h>
#include <time.h>

#include "cuda_runtime.h"

static thread_local cudaError_t last_error;

static cudaError_t set_error(cudaError_t error) {
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

/* --- The device ------------------------------------------------------------------------------ */

namespace emulate {

static long long setting(const char *name, long long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 0) : otherwise;
}

/* Shared memory of real devices of that compute capability. */
static Device device_from_environment() {
  Device d = {};
  const int capability = (int)setting("RV_EMULATE_CAPABILITY", RV_EMULATE_ARCH / 10);
  d.major = capability / 10;
  d.minor = capability % 10;
  d.processors = (int)setting("RV_EMULATE_PROCESSORS", 16);
  d.seed = (unsigned long long)setting("RV_EMULATE_SEED", 1);
  const size_t kib = d.major >= 9                   ? 228
                     : d.major == 8 && d.minor == 0 ? 164
                     : d.major >= 8                 ? 100
                                                    : 64;
  d.shared_processor = kib * 1024;
  d.shared_block = (kib == 64 ? kib : kib - 1) * 1024;
  return d;
}

const Device &device() {
  static const Device d = device_from_environment();
  return d;
}

int occupancy(unsigned threads, size_t shared) {
  const Device &d = device();
  const unsigned most = d.major < 8 ? 1024 : d.major == 8 && d.minor ? 1536 : 2048;
  const size_t by_threads = threads ? most / ((threads + 31) / 32 * 32) : 0;
  const size_t by_shared = d.shared_processor / (shared + 1024);
  return (int)std::min(std::min(by_threads, by_shared), (size_t)(d.major < 8 ? 16 : 32));
}

/* --- Launches -------------------------------------------------------------------------------- */

static std::mutex lock;
static std::map<const void *, int> shared_allowed; /* cudaFuncAttributeMaxDynamicSharedMemorySize */
/* cudaFuncAttributeNonPortableClusterSizeAllowed */
static std::map<const void *, int> large_clusters;

cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    const std::lock_guard<std::mutex> guard(lock);
    large_clusters[kernel] = value;
    return cudaSuccess;
  }
  if (value < 0 || (size_t)value > device().shared_block)
    return set_error(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> guard(lock);
  shared_allowed[kernel] = value;
  return cudaSuccess;
}

cudaError_t get_attributes(cudaFuncAttributes *attributes) {
  *attributes = {0, device().major * 10 + device().minor, device().major * 10 + device().minor,
                 1024, 32};
  return cudaSuccess;
}

static void read_attributes(const cudaLaunchConfig_t &config, Launch *launch) {
  for (unsigned i = 0; i < config.numAttrs; i++) {
    const cudaLaunchAttribute &a = config.attrs[i];
    if (a.id == cudaLaunchAttributeCooperative)
      launch->is_cooperative = a.val.cooperative;
    else if (a.id == cudaLaunchAttributeClusterDimension)
      launch->cluster = a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z;
  }
}

cudaError_t clusters_at_once(int *count, const cudaLaunchConfig_t &config) {
  Launch launch = {config.gridDim, config.blockDim, 0, false, 1, NULL, NULL, NULL};
  read_attributes(config, &launch);
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  *count = occupancy(threads, config.dynamicSmemBytes) * device().processors / (int)launch.cluster;
  return cudaSuccess;
}

static cudaError_t check(const Launch &launch) {
  const dim3 &g = launch.grid, &b = launch.block;
  const unsigned long long threads = (unsigned long long)b.x * b.y * b.z;
  if (threads == 0 || threads > 1024 || b.z > 64 || !g.x || !g.y || !g.z || g.x > 0x7fffffffu ||
      g.y > 65535 || g.z > 65535 || g.x % launch.cluster || launch.cluster > 16 ||
      (launch.cluster > 1 && device().major < 9))
    return cudaErrorInvalidConfiguration;
  const std::lock_guard<std::mutex> guard(lock);
  if (launch.cluster > 8 && !large_clusters[launch.kernel])
    return cudaErrorInvalidConfiguration;
  const auto allowed = shared_allowed.find(launch.kernel);
  const size_t most = allowed == shared_allowed.end() ? 0 : (size_t)allowed->second;
  if (launch.shared > std::max(most, (size_t)48 * 1024))
    return cudaErrorInvalidValue;
  const int resident = occupancy((unsigned)threads, launch.shared) * device().processors;
  if (launch.is_cooperative && (unsigned long long)g.x * g.y * g.z > (unsigned long long)resident)
    return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

cudaError_t launch_checked(const cudaLaunchConfig_t &config, const void *kernel,
                           void (*call)(const void *), const void *arguments) {
  Launch launch = {config.gridDim, config.blockDim, config.dynamicSmemBytes, false, 1, kernel,
                   call,           arguments};
  read_attributes(config, &launch);
  const cudaError_t error = check(launch);
  return set_error(error != cudaSuccess ? error : (cudaError_t)run(launch));
}

} // namespace emulate

/* --- Errors and attributes ------------------------------------------------------------------- */

extern "C" {

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "cudaSuccess";
  case cudaErrorInvalidValue:
    return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation:
    return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration:
    return "cudaErrorInvalidConfiguration";
  case cudaErrorCooperativeLaunchTooLarge:
    return "cudaErrorCooperativeLaunchTooLarge";
  case cudaErrorLaunchFailure:
    return "cudaErrorLaunchFailure";
  case cudaErrorNotSupported:
    return "cudaErrorNotSupported";
  default:
    return "cudaErrorUnknown";
  }
}

const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure ? emulate::last_report() : cudaGetErrorName(error);
}

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return set_error(device == 0 ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int) {
  const emulate::Device &d = emulate::device();
  memset(prop, 0, sizeof *prop);
  prop->major = d.major, prop->minor = d.minor, prop->multiProcessorCount = d.processors;
  snprintf(prop->name, sizeof prop->name, "emulated, %d multiprocessors, seed %llu", d.processors,
           d.seed);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int) {
  const emulate::Device &d = emulate::device();
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = d.processors;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    *value = d.major;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = d.minor;
    return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = (int)d.shared_processor;
    return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = (int)d.shared_block;
    return cudaSuccess;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = d.major >= 8 ? 1024 : 0;
    return cudaSuccess;
  case cudaDevAttrCooperativeLaunch:
    *value = 1;
    return cudaSuccess;
  case cudaDevAttrClusterLaunch:
    *value = d.major >= 9;
    return cudaSuccess;
  }
  return set_error(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize(void) {
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* New memory holds no zeros: what a kernel forgets to write is seen. */
cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = NULL;
  if (bytes > ((size_t)1 << 40) || posix_memalign(memory, 256, bytes ? bytes : 1))
    return set_error(cudaErrorMemoryAllocation);
  memset(*memory, 0xa7, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
  free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
  *free_bytes = *total = (size_t)1 << 33;
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind) {
  if (bytes)
    memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind) {
  if (width > to_pitch || width > from_pitch)
    return set_error(cudaErrorInvalidValue);
  for (size_t y = 0; y < height; y++)
    memmove((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
  memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(memory, value, bytes);
}

cudaError_t cudaMemset2DAsync(void *memory, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t) {
  if (width > pitch)
    return set_error(cudaErrorInvalidValue);
  for (size_t y = 0; y < height; y++)
    memset((char *)memory + y * pitch, value, width);
  return cudaSuccess;
}

/* --- Streams, events ------------------------------------------------------------------------- */

struct CUstream_st {
  int unused;
};
struct CUevent_st {
  struct timespec time;
};

/* All memory is the host's; the kernels do not reach this one. */
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
  *memory = malloc(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory) {
  free(memory);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = new CUstream_st();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  return cudaStreamCreate(stream);
}

/* Kernels run when they are launched. */
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new CUevent_st();
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  clock_gettime(CLOCK_MONOTONIC, &event->time);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = (float)((double)(to->time.tv_sec - from->time.tv_sec) * 1e3 +
                (double)(to->time.tv_nsec - from->time.tv_nsec) * 1e-6);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode) {
  return set_error(cudaErrorNotSupported);
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  *graph = NULL;
  return set_error(cudaErrorNotSupported);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long) {
  return set_error(cudaErrorNotSupported);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return set_error(cudaErrorNotSupported);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return cudaSuccess;
}

} // extern "C"
