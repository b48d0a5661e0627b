/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_writer.h: the bounded queue of frames and the thread that writes them. The
 * streaming thread never waits for a destination that does not accept data: the oldest frames are
 * dropped and counted. */
#ifndef GST_ANNOTATION_PUBLISH_WRITER_H
#define GST_ANNOTATION_PUBLISH_WRITER_H

#include "gstannotationpublish_sink.h"

G_BEGIN_DECLS

typedef struct GstPublishWriter GstPublishWriter;

typedef struct GstPublishCounts {
  guint64 frames;    /* given to the writer */
  guint64 published; /* written */
  guint64 dropped;   /* neither: the queue was full, or the destination failed to the end */
  guint64 bytes, files, reconnects;
  guint queued;     /* frames waiting now */
  guint queued_max; /* most frames that were ever waiting */
  gboolean waiting; /* the destination does not accept data now */
} GstPublishCounts;

/* Starts the thread. Takes ownership of `sink`. frames_max: 1 or more; bytes_max: of waiting
 * frames. With `stop_on_error` a destination that does not accept data is an element error. */
GstPublishWriter *gst_publish_writer_new(GstPublishSink *sink, guint frames_max, gsize bytes_max,
                                         gboolean stop_on_error);

/* Takes ownership of `frame`. If the queue is full: with `block`, waits while frames are written;
 * otherwise, and while the destination does not accept data, drops the oldest frame. FALSE after an
 * element error. */
gboolean gst_publish_writer_push(GstPublishWriter *writer, GstPublishFrame *frame, gboolean block);

/* Waits until all frames are written and complete on disk; gives up on a destination that accepts
 * nothing for `patience`. */
void gst_publish_writer_drain(GstPublishWriter *writer, GstClockTime patience);

/* Ends waiting in push and drain, from any thread, until it is set back. */
void gst_publish_writer_set_flushing(GstPublishWriter *writer, gboolean flushing);

/* Wakes a waiting thread for the next attempt: the destination accepts data again. */
void gst_publish_writer_wake(GstPublishWriter *writer);

void gst_publish_writer_counts(GstPublishWriter *writer, GstPublishCounts *counts);

/* Writes what waits (at most `patience` without progress), ends the thread, frees the sink, and
 * returns the last counts. */
void gst_publish_writer_free(GstPublishWriter *writer, GstClockTime patience,
                             GstPublishCounts *counts);

G_END_DECLS
#endif
