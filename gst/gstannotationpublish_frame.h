/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_frame.h: what is published of one buffer: its times and its annotations,
 * taken in the streaming thread and written in another. */
#ifndef GST_ANNOTATION_PUBLISH_FRAME_H
#define GST_ANNOTATION_PUBLISH_FRAME_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_PUBLISH_ANNOTATIONS_MAX 32 /* per buffer; further ones are ignored */

/* Where the wall-clock time of a frame comes from. */
typedef enum GstPublishUtcSource {
  GST_PUBLISH_UTC_NONE,
  GST_PUBLISH_UTC_CLOCK, /* the computer's clock, mapped through the pipeline's clock */
  GST_PUBLISH_UTC_START, /* the property utc-start plus the running time */
  GST_PUBLISH_UTC_UNIX,  /* GstReferenceTimestampMeta of the source, by its caps */
  GST_PUBLISH_UTC_NTP,
  GST_PUBLISH_UTC_PTP
} GstPublishUtcSource;

typedef struct GstPublishFrame {
  guint64 seq;            /* frames since the start, dropped ones included */
  guint64 segment;        /* segments before this frame's: rises with every seek */
  guint64 dropped;        /* frames that were dropped so far; set when the frame is written */
  GstClockTime timestamp; /* stream time, ns, or GST_CLOCK_TIME_NONE like the next three */
  GstClockTime running_time;
  GstClockTime pts;
  GstClockTime duration;
  gint64 utc; /* ns since 1970, meaningful unless utc_source is NONE */
  GstPublishUtcSource utc_source;
  gint64 latency; /* ns from the time stamp to this element, of live streams; else G_MININT64 */
  gboolean discont;
  int width, height; /* px, of the caps; 0 when they have no size */
  guint count;
  const GstStructure *annotations[GST_PUBLISH_ANNOTATIONS_MAX]; /* of `metas` */
  GstBuffer *metas; /* owned, without memory: copies of the annotations, their buffers are shared */
  GstBuffer *picture; /* owned, or NULL */
  GstCaps *caps;      /* of `picture`, owned, or NULL */
  gsize bytes;        /* held by this frame */
} GstPublishFrame;

typedef enum GstPublishWants {
  GST_PUBLISH_WANTS_RASTERS = 1 << 0, /* buffers with a GstVideoMeta */
  GST_PUBLISH_WANTS_PICTURE = 1 << 1  /* a deep copy: sources may have few buffers */
} GstPublishWants;

/* Copies the annotations of `buffer`; `caps` only with WANTS_PICTURE. The caller sets the times. */
GstPublishFrame *gst_publish_frame_new(GstBuffer *buffer, GstCaps *caps, guint wants);
void gst_publish_frame_free(GstPublishFrame *frame);

/* TRUE for annotations: custom metas whose name is Rv...Meta. */
gboolean gst_publish_is_annotation(const GstMeta *meta);

/* The annotation of that name, or NULL. */
const GstStructure *gst_publish_frame_find(const GstPublishFrame *frame, const char *name);

/* Wall-clock time of the buffer's GstReferenceTimestampMeta; NONE when it has none that is
 * known. */
GstPublishUtcSource gst_publish_reference_utc(GstBuffer *buffer, gint64 *utc);

/* clock, start, unix, ntp or ptp. */
const char *gst_publish_utc_source_name(GstPublishUtcSource source);

G_END_DECLS
#endif
