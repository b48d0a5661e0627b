/* SPDX-License-Identifier: MIT */
/* gstsemanticsattach_labels.h: the pad `labels` of semanticsattach: a bounded queue of labels with
 * their times, filled by the thread of the labels and searched by that of the frames. */
#ifndef GST_SEMANTICS_ATTACH_LABELS_H
#define GST_SEMANTICS_ATTACH_LABELS_H

#include <gst/video/video.h>

#include "gstsemanticsattach_images.h"

G_BEGIN_DECLS

#define GST_SEMANTICS_ATTACH_QUEUE 8 /* labels that wait at most */

/* Why the labels of a frame are not there. */
typedef enum GstSemanticsAttachMatch {
  GST_SEMANTICS_ATTACH_FOUND = 0,
  GST_SEMANTICS_ATTACH_NONE,    /* none at that time */
  GST_SEMANTICS_ATTACH_ENDED,   /* the labels have ended before */
  GST_SEMANTICS_ATTACH_LATE,    /* they have not come in time */
  GST_SEMANTICS_ATTACH_FLUSHING /* the frame is dropped */
} GstSemanticsAttachMatch;

typedef struct GstSemanticsAttachLabels {
  GMutex lock;
  GCond changed;
  /* guarded by the lock */
  GQueue queue;         /* of Label, times rise */
  GstPad *pad;          /* owned by the element; NULL: not requested */
  GstClockTime reached; /* labels up to this running time have come */
  gboolean stopped;     /* the element stops: nobody waits */
  gboolean flushing;    /* the labels are being flushed */
  gboolean frames_flushing, frames_ended;
  gboolean ended; /* EOS of the labels */
  GstSemanticsAttachClasses classes;
  guint64 received, dropped; /* dropped: labels that no frame used */
  /* thread of the labels only */
  GstSegment segment;
  GstVideoInfo info;
  gboolean is_gray; /* caps are GRAY8 in system memory */
  gboolean warned;  /* of frames without labels */
} GstSemanticsAttachLabels;

void gst_semantics_attach_labels_init(GstSemanticsAttachLabels *labels);
void gst_semantics_attach_labels_clear(GstSemanticsAttachLabels *labels);

/* Adds the pad to `element`; NULL when it has one already. */
GstPad *gst_semantics_attach_labels_add_pad(GstSemanticsAttachLabels *labels, GstElement *element,
                                            GstPadTemplate *template, GstPadChainFunction chain,
                                            GstPadEventFunction event);
void gst_semantics_attach_labels_remove_pad(GstSemanticsAttachLabels *labels, GstElement *element,
                                            GstPad *pad);

/* Empties the queue and starts again (stopped FALSE), or wakes all who wait (TRUE). */
void gst_semantics_attach_labels_set_stopped(GstSemanticsAttachLabels *labels, gboolean stopped);

/* FLUSH_START (TRUE) and FLUSH_STOP of the frames; their EOS: labels are not needed any more. */
void gst_semantics_attach_labels_flush_frames(GstSemanticsAttachLabels *labels, gboolean flushing);
void gst_semantics_attach_labels_end_frames(GstSemanticsAttachLabels *labels, gboolean ended);

/* The labels that are nearest to `time`, at most `skew` ns away, with a reference to the payload.
 * Waits until the labels have reached that time, at most for `patience` ns (NONE: for ever). */
GstSemanticsAttachMatch gst_semantics_attach_labels_find(GstSemanticsAttachLabels *labels,
                                                         GstClockTime time, GstClockTime skew,
                                                         GstClockTime patience,
                                                         RvMetaSemantics *meta);

/* Chain and event functions of the pad; `element` gets the messages. The event is taken over. */
GstFlowReturn gst_semantics_attach_labels_chain(GstSemanticsAttachLabels *labels,
                                                GstElement *element, GstBuffer *buffer);
gboolean gst_semantics_attach_labels_event(GstSemanticsAttachLabels *labels, GstElement *element,
                                           GstEvent *event);

G_END_DECLS
#endif
