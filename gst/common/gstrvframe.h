/* SPDX-License-Identifier: MIT */
/* gstrvframe.h: images and payloads of GstBuffers, mapped or copied to the engine's memory. */
#ifndef GST_RV_FRAME_H
#define GST_RV_FRAME_H

#include <gst/video/video.h>

#include "convert/convert.h"
#include "gstrvengine.h"
#include "roadvision-gst.h"

G_BEGIN_DECLS

/* Where one element's work is done. */
typedef struct GstRvExecContext {
  RvEngine engine;
  GstRvDevice *device; /* current while an element works; may be NULL with RV_CPU */
  RvStream stream;     /* NULL with RV_CPU */
  int threads;         /* of the CPU engine, 0 = all */
  RvLog log;
} GstRvExecContext;

/* FALSE for formats that the library does not support as images, and for GRAY16_LE, which is a
 * disparity map to most elements. */
gboolean gst_rv_pixel_format(GstVideoFormat format, RvPixelFormat *pixel);

/* The image of a mapped frame; FALSE for formats that the library does not support. */
gboolean gst_rv_picture_of_video(const GstVideoFrame *video, RvPicture *picture);

/* The gray of a picture: its luma plane if it has one of 8 bits, else a copy in `own`, which has
 * its size. */
RvStatus gst_rv_picture_gray(const RvPicture *picture, const GstRvExecContext *work,
                             const RvPlane *own, RvPlane *gray);

/* TRUE when these bytes are CUDA memory of libgstcuda. */
gboolean gst_rv_buffer_is_cuda(GstBuffer *buffer);

/* Waits until the work that other elements of GStreamer 1.24 or newer left running on CUDA memory
 * is done; older versions complete it before they push. */
void gst_rv_buffer_sync(GstBuffer *buffer);

/* The image of a buffer. Initially zeroed; it keeps its device copy from frame to frame. */
typedef struct GstRvFrame {
  RvPicture picture; /* in the engine's memory */
  GstVideoFrame video;
  gboolean mapped;
  GstMapFlags flags;
  gboolean staged;  /* `picture` is the device copy of system memory */
  gboolean by_host; /* copies go through `host`: the frame's own memory is not page-locked */
  gboolean fetched; /* `host` has what is to be written back */
  void *staging;
  gsize staging_bytes;
  GstRvDevice *staging_device;
  void *host; /* page-locked, of the layout of `staging` */
  gsize host_bytes;
  gsize bytes; /* of the layout of the current frame */
} GstRvFrame;

/* Maps `buffer` for the engine, GRAY16_LE as RV_PIXEL_GRAY16, whichever memory it has:
 *   CPU  on system memory: as it is; on CUDA memory: libgstcuda downloads, and uploads what was
 *        written;
 *   CUDA on CUDA memory of the same context: as it is; on system memory: a device copy.
 * Copies are enqueued on the work's stream. Failures are logged in one line. */
RvStatus gst_rv_frame_map(GstRvFrame *frame, const GstRvExecContext *work, const GstVideoInfo *info,
                          GstBuffer *buffer, GstMapFlags flags);

/* Enqueues what brings written pixels back; before the wait. */
RvStatus gst_rv_frame_store(GstRvFrame *frame, const GstRvExecContext *work);

/* After the wait. Does nothing when not mapped. */
void gst_rv_frame_unmap(GstRvFrame *frame);

/* Frees the device copy. */
void gst_rv_frame_clear(GstRvFrame *frame);

/* A payload of an annotation (raster or array), for reading. Zeroed at first, kept like a frame:
 *   CPU  on device memory: downloaded; CUDA on host memory or another context: a device copy. */
typedef struct GstRvInput {
  RvPlane plane; /* in the engine's memory */
  gsize size;    /* bytes */
  RvMetaMap map;
  gboolean mapped;
  void *staging;
  gsize staging_bytes;
  GstRvDevice *staging_device;
} GstRvInput;

RvStatus gst_rv_input_map(GstRvInput *input, const GstRvExecContext *work, GstBuffer *payload);

/* The same for a raster in host memory, which must stay until the wait. */
RvStatus gst_rv_input_map_host(GstRvInput *input, const GstRvExecContext *work,
                               const RvPlane *raster);

void gst_rv_input_unmap(GstRvInput *input); /* after the wait */
void gst_rv_input_clear(GstRvInput *input);

G_END_DECLS
#endif
