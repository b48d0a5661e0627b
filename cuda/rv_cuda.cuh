/* SPDX-License-Identifier: MIT */
/* rv_cuda.cuh: the error idiom of the .cu files. Only they include it. */
#ifndef RV_CUDA_H
#define RV_CUDA_H

#include <cuda_runtime.h>

#include "rv_internal.h"

/* Checks a CUDA call: on failure logs call and reason once and returns the status. */
#define RV_CU(log, call)                                                                           \
  do {                                                                                             \
    const cudaError_t rv_cu_error_ = (call);                                                       \
    if (rv_cu_error_ != cudaSuccess)                                                               \
      return rv_cuda_failed((log), rv_cu_error_, #call, __FILE__, __LINE__);                       \
  } while (0)

/* What kernels may use of the current device. */
typedef struct RvCudaDevice {
  int processors; /* SMs of the current context, which may be a part of the device */
  int shared;     /* bytes of shared memory that a block may have, less those of the system */
  int overlaps;   /* 1: kernels may start before the preceding one ends (rv_launch.cuh); depends on
                   * the code that was loaded too: PTX for an older architecture cannot */
} RvCudaDevice;
RvStatus rv_cuda_device(const RvLog *log, RvCudaDevice *out);

/* `overlaps` of that alone. */
RvStatus rv_cuda_overlaps(const RvLog *log, int *overlaps);

/* Logs and translates: no device, out of memory, or RV_ERR_CUDA. */
RvStatus rv_cuda_failed(const RvLog *log, cudaError_t error, const char *call, const char *file,
                        int line);

#endif
