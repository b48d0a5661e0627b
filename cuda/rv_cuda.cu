/* SPDX-License-Identifier: MIT */
/* rv_cuda.cu: devices, memory, copies and streams of the CUDA engine. */
#include "rv_cuda.cuh"
#include "rv_timer.h"

#include <stdio.h>
#include <string.h>
#if CUDART_VERSION >= 12050
#  include <cuda.h>
#endif

RvStatus rv_cuda_failed(const RvLog *log, cudaError_t error, const char *call, const char *file,
                        int line) {
  const char *name = strrchr(file, '/');
  rv_log(log, "%s:%d: %s: %s (%s)", name ? name + 1 : file, line, call, cudaGetErrorString(error),
         cudaGetErrorName(error));
  (void)cudaGetLastError(); /* a launch error must not be found again by the next call */
  switch (error) {
  case cudaErrorMemoryAllocation:
    return RV_ERR_NO_MEMORY;
  case cudaErrorNoDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorNoKernelImageForDevice:
    return RV_ERR_NO_DEVICE;
  default:
    return RV_ERR_CUDA;
  }
}

#if CUDART_VERSION >= 12050
/* A function of the driver by its ABI of CUDA `version`; NULL when the driver is older. */
template <typename Function> static Function driver_function(const char *name, unsigned version) {
  void *function = NULL;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &result) ==
          cudaSuccess &&
      result == cudaDriverEntryPointSuccess)
    return (Function)function;
  (void)cudaGetLastError();
  return NULL;
}

/* 0: there is no context yet, or a driver before CUDA 12.4. */
static int context_processors(void) {
  const auto current = driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent", 4000);
  const auto resource =
      driver_function<decltype(&cuCtxGetDevResource)>("cuCtxGetDevResource", 12040);
  CUcontext context = NULL;
  CUdevResource sm = {};
  if (!current || !resource || current(&context) != CUDA_SUCCESS || !context ||
      resource(context, &sm, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS)
    return 0;
  return (int)sm.sm.smCount;
}
#else
static int context_processors(void) {
  return 0;
}
#endif

/* Compiled like every other kernel: tells which architecture the code was made for. */
static __global__ void any_kernel(void) {}

RvStatus rv_cuda_device(const RvLog *log, RvCudaDevice *out) {
  int device = 0, major = 0;
  cudaFuncAttributes code = {};
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&out->processors, cudaDevAttrMultiProcessorCount, device));
  RV_CU(log, cudaDeviceGetAttribute(&out->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  RV_CU(log, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  RV_CU(log, cudaFuncGetAttributes(&code, any_kernel));
  out->shared -= 1024; /* the system's */
  const int some = context_processors();
  out->processors = some > 0 ? some : out->processors;
  out->overlaps = major >= 9 && code.ptxVersion >= 90;
  return RV_OK;
}

RvStatus rv_cuda_overlaps(const RvLog *log, int *overlaps) {
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  *overlaps = device.overlaps;
  return RV_OK;
}

extern "C" int rv_cuda_devices(char *reason, size_t size) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0)
    return count;
  (void)cudaGetLastError();
  if (reason && size) {
    const char *text = cudaGetErrorString(error);
    if (error == cudaErrorInsufficientDriver)
      text = "no NVIDIA driver, or one older than this build's CUDA runtime";
    else if (error == cudaSuccess || error == cudaErrorNoDevice)
      text = "a driver but no CUDA device";
    snprintf(reason, size, "%s", text);
  }
  return 0;
}

extern "C" RvStatus rv_cuda_use_device(int device) {
  RV_CU(NULL, cudaSetDevice(device));
  return RV_OK;
}

extern "C" void *rv_cuda_alloc(size_t bytes) {
  void *memory = NULL;
  if (cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess)
    return memory;
  (void)cudaGetLastError();
  return NULL;
}

extern "C" void rv_cuda_free(void *memory) {
  if (memory && cudaFree(memory) != cudaSuccess)
    (void)cudaGetLastError();
}

extern "C" RvStatus rv_cuda_fill(void *memory, int byte, size_t bytes, RvStream stream) {
  RV_CU(NULL, cudaMemsetAsync(memory, byte, bytes, stream));
  return RV_OK;
}

static RvStatus copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                     RvStream stream) {
  RV_CU(NULL, cudaMemcpyAsync(to, from, bytes, kind, stream));
  if (!stream)
    RV_CU(NULL, cudaStreamSynchronize(stream));
  return RV_OK;
}

extern "C" RvStatus rv_copy_to_device(void *device, const void *host, size_t bytes,
                                      RvStream stream) {
  return copy(device, host, bytes, cudaMemcpyHostToDevice, stream);
}

extern "C" RvStatus rv_copy_to_host(void *host, const void *device, size_t bytes, RvStream stream) {
  return copy(host, device, bytes, cudaMemcpyDeviceToHost, stream);
}

extern "C" RvStatus rv_copy_device(void *to, const void *from, size_t bytes, RvStream stream) {
  return copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

extern "C" RvStatus rv_copy_rows(void *to, ptrdiff_t to_stride, RvEngine to_engine,
                                 const void *from, ptrdiff_t from_stride, RvEngine from_engine,
                                 size_t row_bytes, int rows, RvStream stream) {
  if (to_engine == RV_CPU && from_engine == RV_CPU) {
    for (int y = 0; y < rows; y++)
      memcpy((char *)to + y * to_stride, (const char *)from + y * from_stride, row_bytes);
    return RV_OK;
  }
  const cudaMemcpyKind kind = to_engine == RV_CPU     ? cudaMemcpyDeviceToHost
                              : from_engine == RV_CPU ? cudaMemcpyHostToDevice
                                                      : cudaMemcpyDeviceToDevice;
  RV_CU(NULL, cudaMemcpy2DAsync(to, (size_t)to_stride, from, (size_t)from_stride, row_bytes,
                                (size_t)rows, kind, stream));
  if (!stream)
    RV_CU(NULL, cudaStreamSynchronize(stream));
  return RV_OK;
}

extern "C" RvStatus rv_stream_new(RvStream *out) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  /* Default flags: a non-blocking stream would lose its order against legacy-stream copies, on
   * which GStreamer's stream-less CUDA memory relies. */
  RV_CU(NULL, cudaStreamCreate(out));
  return RV_OK;
}

extern "C" void rv_stream_free(RvStream *stream) {
  if (stream && *stream) {
    if (cudaStreamDestroy(*stream) != cudaSuccess)
      (void)cudaGetLastError();
    *stream = NULL;
  }
}

extern "C" RvStatus rv_stream_wait(RvStream stream) {
  RV_CU(NULL, cudaStreamSynchronize(stream));
  return RV_OK;
}

/* --- Events of timers ------------------------------------------------------------------------ */

extern "C" RvStatus rv_cuda_event_new(RvCudaEvent *out) {
  *out = NULL;
  cudaEvent_t event;
  RV_CU(NULL, cudaEventCreate(&event));
  *out = event;
  return RV_OK;
}

extern "C" void rv_cuda_event_free(RvCudaEvent *event) {
  if (*event && cudaEventDestroy((cudaEvent_t)*event) != cudaSuccess)
    (void)cudaGetLastError();
  *event = NULL;
}

extern "C" RvStatus rv_cuda_event_record(RvCudaEvent event, RvStream stream) {
  RV_CU(NULL, cudaEventRecord((cudaEvent_t)event, stream));
  return RV_OK;
}

extern "C" RvStatus rv_cuda_event_span(RvCudaEvent from, RvCudaEvent to, double *us) {
  float ms = 0.0f;
  RV_CU(NULL, cudaEventElapsedTime(&ms, (cudaEvent_t)from, (cudaEvent_t)to));
  *us = 1e3 * (double)ms;
  return RV_OK;
}
