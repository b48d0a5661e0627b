/* SPDX-License-Identifier: MIT */
/* rv_host.cu: streams apart from the default one and page-locked memory of the CUDA engine. */
#include "rv_host.h"
#include "rv_cuda.cuh"

extern "C" RvStatus rv_stream_new_apart(RvStream *out) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_CU(NULL, cudaStreamCreateWithFlags(out, cudaStreamNonBlocking));
  return RV_OK;
}

extern "C" RvStatus rv_host_new(void **out, size_t bytes, RvEngine engine) {
  if (engine != RV_CUDA || !out || bytes == 0)
    return rv_buffer_new(out, bytes, engine);
  *out = NULL;
  RV_CU(NULL, cudaHostAlloc(out, bytes, cudaHostAllocPortable));
  return RV_OK;
}

extern "C" void rv_host_free(void **memory, RvEngine engine) {
  if (engine != RV_CUDA) {
    rv_buffer_free(memory, engine);
    return;
  }
  if (memory && *memory) {
    if (cudaFreeHost(*memory) != cudaSuccess)
      (void)cudaGetLastError();
    *memory = NULL;
  }
}
