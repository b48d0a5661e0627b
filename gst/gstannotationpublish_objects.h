/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_objects.h: obstacles in the notations of other collections, for readers that
 * exist: the array "objects" of DL Streamer, and the minimal schema of DeepStream. */
#ifndef GST_ANNOTATION_PUBLISH_OBJECTS_H
#define GST_ANNOTATION_PUBLISH_OBJECTS_H

#include "gstannotationpublish_frame.h"
#include "gstannotationpublish_text.h"

G_BEGIN_DECLS

/* Appends "objects":[…], as DL Streamer's gvametaconvert writes it; nothing without obstacles. */
void gst_publish_objects_dlstreamer(const GstPublishFrame *frame, GstPublishText *text);

/* Appends an object of DeepStream's minimal schema. `source`: a JSON string. */
void gst_publish_objects_deepstream(const GstPublishFrame *frame, const char *source,
                                    GstPublishText *text);

G_END_DECLS
#endif
