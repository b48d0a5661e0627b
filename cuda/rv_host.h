/* SPDX-License-Identifier: MIT */
/* rv_host.h: copies that neither wait nor are waited for: host memory and streams for them. For
 * programs that keep several streams of RV_CUDA busy. */
#ifndef RV_HOST_H
#define RV_HOST_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a stream that does not wait for the default stream (NULL), nor the default stream for it,
 * unlike those of rv_stream_new: for copies of complete data. Freed by rv_stream_free. In builds
 * without CUDA it returns RV_ERR_NO_DEVICE and *out is NULL. */
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
