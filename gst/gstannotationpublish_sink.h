/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_sink.h: where frames are written to: lines in files or pipes, a broker, an
 * MCAP file. A destination is used from the writer thread alone, except open and free. */
#ifndef GST_ANNOTATION_PUBLISH_SINK_H
#define GST_ANNOTATION_PUBLISH_SINK_H

#include "gstannotationpublish_frame.h"

G_BEGIN_DECLS

typedef enum GstPublishStatus {
  GST_PUBLISH_DONE,
  GST_PUBLISH_WAIT /* not now (full disk, no reader, no broker): the same frame is given again */
} GstPublishStatus;

typedef enum GstPublishFormat {
  GST_PUBLISH_JSON,
  GST_PUBLISH_CSV,
  GST_PUBLISH_MCAP
} GstPublishFormat;

typedef enum GstPublishPayload {
  GST_PUBLISH_PAYLOAD_NONE,
  GST_PUBLISH_PAYLOAD_BASE64
} GstPublishPayload;

typedef enum GstPublishProfile {
  GST_PUBLISH_PROFILE_NATIVE,
  GST_PUBLISH_PROFILE_DEEPSTREAM_MINIMAL
} GstPublishProfile;

/* What every destination knows of its element. */
typedef struct GstPublishHost {
  GstElement *element;             /* not owned; receives warnings */
  gint cancelled;                  /* atomic: give up waiting for readers */
  struct GstPublishWriter *writer; /* atomic; NULL before the writer exists */
} GstPublishHost;

/* From any thread: the destination accepts data again. */
void gst_publish_host_wake(GstPublishHost *host);

typedef struct GstPublishSink GstPublishSink;

typedef struct GstPublishSinkClass {
  /* Writes one frame. With WAIT, `reason` of the sink is set. */
  GstPublishStatus (*write)(GstPublishSink *sink, const GstPublishFrame *frame);
  /* Called about five times per second while there is nothing to write; or NULL. */
  void (*idle)(GstPublishSink *sink);
  /* Completes what was written: end of stream, and before free. More frames may follow. WAIT when
   * that failed. */
  GstPublishStatus (*finish)(GstPublishSink *sink);
  void (*free)(GstPublishSink *sink);
} GstPublishSinkClass;

struct GstPublishSink {
  const GstPublishSinkClass *klass;
  GstPublishHost *host;
  guint wants;        /* GstPublishWants */
  char reason[256];   /* one sentence without a full stop; set with WAIT */
  guint64 bytes;      /* written so far */
  guint64 files;      /* opened so far */
  guint64 reconnects; /* connections, or readers of a pipe, after the first one */
};

G_END_DECLS
#endif
