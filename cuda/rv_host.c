/* SPDX-License-Identifier: MIT */
/* rv_host.c: builds without CUDA have no streams, and host memory is just that. */
#include "rv_host.h"
#include "rv_config.h"

#if !RV_HAVE_CUDA

RvStatus rv_stream_new_apart(RvStream *out) {
  return rv_stream_new(out);
}

RvStatus rv_host_new(void **out, size_t bytes, RvEngine engine) {
  return rv_buffer_new(out, bytes, engine);
}

void rv_host_free(void **memory, RvEngine engine) {
  rv_buffer_free(memory, engine);
}
#endif
