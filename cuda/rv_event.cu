/* SPDX-License-Identifier: MIT */
/* rv_event.cu: events and page-locked memory of the CUDA engine. */
#include "rv_event.h"
#include "rv_cuda.cuh"

extern "C" RvStatus rv_event_new(RvEvent *out) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_CU(NULL, cudaEventCreateWithFlags(out, cudaEventDisableTiming));
  return RV_OK;
}

extern "C" void rv_event_free(RvEvent *event) {
  if (event && *event) {
    if (cudaEventDestroy(*event) != cudaSuccess)
      (void)cudaGetLastError();
    *event = NULL;
  }
}

extern "C" RvStatus rv_event_record(RvEvent event, RvStream stream) {
  RV_CU(NULL, cudaEventRecord(event, stream));
  return RV_OK;
}

extern "C" RvStatus rv_event_wait(RvEvent event) {
  RV_CU(NULL, cudaEventSynchronize(event));
  return RV_OK;
}

extern "C" RvStatus rv_event_follow(RvEvent event, RvStream stream) {
  RV_CU(NULL, cudaStreamWaitEvent(stream, event, 0));
  return RV_OK;
}

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
