/* SPDX-License-Identifier: MIT */
/* gstrvhost.h: frames in system memory that the GPU copies without waiting (page-locked). */
#ifndef GST_RV_HOST_H
#define GST_RV_HOST_H

#include "gstrvengine.h"

G_BEGIN_DECLS

/* An allocator of such memory, plain system memory to everyone who maps it. Each memory keeps the
 * device alive. */
GstAllocator *gst_rv_host_allocator_new(GstRvDevice *device);

/* TRUE when all of the buffer is such memory. */
gboolean gst_rv_host_is_locked(GstBuffer *buffer);

G_END_DECLS
#endif
