/* SPDX-License-Identifier: MIT */
/* rv_event.c: builds without CUDA have no streams to order, and host memory is just that. */
#include "rv_event.h"
#include "rv_config.h"

#if !RV_HAVE_CUDA

RvStatus rv_event_new(RvEvent *out) {
  if (out)
    *out = NULL;
  return RV_ERR_NO_DEVICE;
}

void rv_event_free(RvEvent *event) {
  if (event)
    *event = NULL;
}

RvStatus rv_event_record(RvEvent event, RvStream stream) {
  (void)event, (void)stream;
  return RV_ERR_NO_DEVICE;
}

RvStatus rv_event_wait(RvEvent event) {
  (void)event;
  return RV_ERR_NO_DEVICE;
}

RvStatus rv_event_follow(RvEvent event, RvStream stream) {
  (void)event, (void)stream;
  return RV_ERR_NO_DEVICE;
}

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
