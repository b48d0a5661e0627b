/* SPDX-License-Identifier: MIT */
/* rv_event.h: order between streams, and host memory that copies need not wait for. For programs
 * that keep several streams of RV_CUDA busy. In builds without CUDA all functions of events return
 * RV_ERR_NO_DEVICE. */
#ifndef RV_EVENT_H
#define RV_EVENT_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A point in the work of a stream (CUevent and cudaEvent_t are this type): what was enqueued on it
 * before rv_event_record. Made on the current device; NULL after a failure. */
typedef struct CUevent_st *RvEvent;

RV_API RvStatus rv_event_new(RvEvent *out);
RV_API void rv_event_free(RvEvent *event);
RV_API RvStatus rv_event_record(RvEvent event, RvStream stream);

/* Waits for it on the host; returns at once when nothing was recorded. */
RV_API RvStatus rv_event_wait(RvEvent event);

/* What is enqueued on `stream` from now on starts after it. */
RV_API RvStatus rv_event_follow(RvEvent event, RvStream stream);

/* Creates a stream that does not wait for the default stream (NULL), nor the default stream for it,
 * unlike those of rv_stream_new: for copies of complete data. Freed by rv_stream_free. */
RV_API RvStatus rv_stream_new_apart(RvStream *out);

/* Host memory for results of `engine`, not cleared: copies between it and RV_CUDA are only
 * enqueued, where rv_copy_* with other host memory may wait until they are complete. Freed by
 * rv_host_free, which accepts NULL and sets *memory to NULL. */
RV_API RvStatus rv_host_new(void **out, size_t bytes, RvEngine engine);
RV_API void rv_host_free(void **memory, RvEngine engine);

#ifdef __cplusplus
}
#endif
#endif
