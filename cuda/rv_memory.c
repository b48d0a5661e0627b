/* SPDX-License-Identifier: MIT */
/* rv_memory.c: where every byte of the library comes from. A file of its own, so that every call is
 * one between objects and the tests can stand in between (linked with --wrap). */
#include "rv_internal.h"
#include "rv_config.h"

#include <stdlib.h>

void *rv_memory_alloc(size_t bytes, RvEngine engine) {
#if RV_HAVE_CUDA
  if (engine == RV_CUDA)
    return rv_cuda_alloc(bytes);
#endif
  if (engine != RV_CPU)
    return NULL;
  void *memory = NULL;
  return posix_memalign(&memory, RV_ARENA_ALIGN, bytes ? bytes : 1) ? NULL : memory;
}

void rv_memory_free(void *memory, RvEngine engine) {
#if RV_HAVE_CUDA
  if (engine == RV_CUDA) {
    rv_cuda_free(memory);
    return;
  }
#endif
  if (engine == RV_CPU)
    free(memory);
}
