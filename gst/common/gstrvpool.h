/* SPDX-License-Identifier: MIT */
/* gstrvpool.h: buffer pools for video frames, in system or CUDA memory. */
#ifndef GST_RV_POOL_H
#define GST_RV_POOL_H

#include <gst/video/video.h>

#include "gstrvengine.h"

G_BEGIN_DECLS

/* Returns a pool for video frames: in the context of `device` for CUDA caps (NULL without one),
 * else in system memory, with a device page-locked memory. */
GstBufferPool *gst_rv_pool_new(GstRvDevice *device, gboolean cuda);

/* Answers the ALLOCATION query `query` of a src pad: keeps the pool of the downstream element when
 * it provides usable buffers, else adds a new one. Posts an error and returns FALSE when no pool
 * can be made. */
gboolean gst_rv_pool_decide(GstElement *element, GstRvDevice *device, GstQuery *query);

G_END_DECLS
#endif
