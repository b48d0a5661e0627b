/* SPDX-License-Identifier: MIT */
/* cuda_pipeline_primitives.h: asynchronous copies to shared memory. */
#ifndef RV_EMULATE_CUDA_PIPELINE_PRIMITIVES_H
#define RV_EMULATE_CUDA_PIPELINE_PRIMITIVES_H

#include "emulate_machine.h"

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                           size_t zeros = 0) {
  const emulate::Place at = emulate::Place::here();
  if (bytes != 4 && bytes != 8 && bytes != 16)
    emulate::fail(at, "an asynchronous copy of %zu bytes", bytes);
  if (((uintptr_t)to | (uintptr_t)from) % bytes)
    emulate::fail(at, "an asynchronous copy of %zu bytes from %p to %p is not aligned", bytes, from,
                  to);
  (void)emulate::shared_address(to);
  emulate::copy_later(to, from, bytes, zeros);
}
static inline void __pipeline_commit() {
  emulate::copies_commit();
}
static inline void __pipeline_wait_prior(int groups) {
  emulate::copies_wait(groups);
}

#endif
