/* SPDX-License-Identifier: MIT */
/* gstrvmemory.h: memory of results that ride on buffers, rasters and arrays alike. On the CUDA
 * engine it lives on the device; mapping it for reading downloads it once and keeps the copy. It
 * needs no libgstcuda, remembers its context, and may be mapped and freed from any thread, also
 * after the element that made it is gone. */
#ifndef GST_RV_MEMORY_H
#define GST_RV_MEMORY_H

#include <gst/gst.h>

#include "gstrvengine.h"

G_BEGIN_DECLS

/* Device address of a payload when it lives on `device`, else NULL (host memory, foreign memory,
 * another context). */
void *gst_rv_payload_device_data(GstBuffer *payload, const GstRvDevice *device);

/* Data of a pool: the GstAllocator that gst_rv_pool_set_up configures, if not the default one. */
#define GST_RV_POOL_ALLOCATOR "GstRvAllocator"

/* Configures a pool of frames and reads back the size of a buffer, which pools of padded memory
 * change. FALSE when the pool rejects the configuration, or substitutes buffers that are too
 * small. */
gboolean gst_rv_pool_set_up(GstBufferPool *pool, GstCaps *caps, guint *size, guint least,
                            guint most, gboolean with_video_meta);

/* A pool of payloads of `bytes` each, on the device, or in host memory when `device` is NULL. It
 * grows without limit, since encoders hold frames, and hands returned payloads out again. NULL when
 * it cannot be made. */
GstBufferPool *gst_rv_payload_pool_new(GstRvDevice *device, gsize bytes);

/* Payloads still held elsewhere are freed when they come back. NULL and a NULL pool are fine. */
void gst_rv_payload_pool_free(GstBufferPool **pool);

/* Bytes of one row of a raster, and of the raster. */
int gst_rv_raster_stride(RvFormat format, int width);
gsize gst_rv_raster_bytes(RvFormat format, int width, int height);

/* A payload while the engine writes it. */
typedef struct GstRvPayload {
  GstBuffer *buffer; /* NULL: none */
  RvPlane plane;     /* where to write: on the pool's device or in host memory */
  GstMapInfo map;
  gboolean mapped;
} GstRvPayload;

/* Takes a payload from the pool: a raster with a GstVideoMeta, or an array of `bytes`. */
RvStatus gst_rv_payload_begin(GstRvPayload *payload, GstBufferPool *pool, RvFormat format,
                              int width, int height);
RvStatus gst_rv_payload_begin_array(GstRvPayload *payload, GstBufferPool *pool, gsize bytes);

/* Ends writing (enqueued work may still run) and gives the buffer away; NULL when there was none.
 */
GstBuffer *gst_rv_payload_end(GstRvPayload *payload);

/* Ends writing and drops the buffer. */
void gst_rv_payload_drop(GstRvPayload *payload);

/* A payload with these bytes of host memory. */
GstBuffer *gst_rv_payload_of(GstBufferPool *pool, const void *data, gsize bytes);

G_END_DECLS
#endif
