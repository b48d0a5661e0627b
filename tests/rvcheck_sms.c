/* SPDX-License-Identifier: MIT */
/* rvcheck_sms.c: a part of the GPU as if it were a smaller one, by a green context of the driver. */
#include "rvcheck_run.h"

#include "rv_config.h"

#include <stdio.h>
#if RV_HAVE_CUDA
#  include <cuda_runtime_api.h>
#  if defined(CUDART_VERSION) && CUDART_VERSION >= 12050 /* the emulator has none */
#    define HAVE_GREEN_CONTEXTS 1
#  endif
#endif

#ifdef HAVE_GREEN_CONTEXTS
#  include <cuda.h>

/* The driver's functions by their ABI of CUDA 12.4, so that nothing is linked with libcuda. */
typedef struct Driver {
  CUresult(CUDAAPI *device_resource)(CUdevice, CUdevResource *, CUdevResourceType);
  CUresult(CUDAAPI *split)(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *,
                           unsigned, unsigned);
  CUresult(CUDAAPI *describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
  CUresult(CUDAAPI *create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
  CUresult(CUDAAPI *context_of)(CUcontext *, CUgreenCtx);
  CUresult(CUDAAPI *use)(CUcontext);
} Driver;

static int find(void *function, const char *name) {
  enum cudaDriverEntryPointQueryResult result;
  return cudaGetDriverEntryPointByVersion(name, function, 12040, cudaEnableDefault, &result) ==
             cudaSuccess &&
         result == cudaDriverEntryPointSuccess;
}

static int find_all(Driver *d) {
  return find(&d->device_resource, "cuDeviceGetDevResource") &&
         find(&d->split, "cuDevSmResourceSplitByCount") &&
         find(&d->describe, "cuDevResourceGenerateDesc") && find(&d->create, "cuGreenCtxCreate") &&
         find(&d->context_of, "cuCtxFromGreenCtx") && find(&d->use, "cuCtxSetCurrent");
}

int rvc_cuda_limit(int *sms, char *reason, size_t size) {
  Driver driver = {0};
  CUdevResource all, part;
  CUdevResourceDesc text;
  CUgreenCtx green;
  CUcontext context;
  unsigned groups = 1;
  if (cudaFree(NULL) != cudaSuccess || !find_all(&driver)) {
    snprintf(reason, size, "the driver has no green contexts (CUDA 12.4)");
    return 0;
  }
  if (driver.device_resource(0, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
      driver.split(&part, &groups, &all, NULL, 0, (unsigned)*sms) != CUDA_SUCCESS || groups < 1) {
    snprintf(reason, size, "the GPU cannot give %d multiprocessors", *sms);
    return 0;
  }
  if (driver.describe(&text, &part, 1) != CUDA_SUCCESS ||
      driver.create(&green, text, 0, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS ||
      driver.context_of(&context, green) != CUDA_SUCCESS || driver.use(context) != CUDA_SUCCESS) {
    snprintf(reason, size, "no green context of %d multiprocessors", *sms);
    return 0;
  }
  *sms = (int)part.sm.smCount;
  return 1;
}
#else
int rvc_cuda_limit(int *sms, char *reason, size_t size) {
  (void)sms;
  snprintf(reason, size, "built without CUDA 12.5 or later");
  return 0;
}
#endif
