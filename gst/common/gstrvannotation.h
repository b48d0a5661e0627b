/* SPDX-License-Identifier: MIT */
/* gstrvannotation.h: annotations inside the plugin; roadvision-gst.h has the functions that attach
 * and read them. */
#ifndef GST_RV_ANNOTATION_H
#define GST_RV_ANNOTATION_H

#include "roadvision-gst.h"

G_BEGIN_DECLS

/* Registers every annotation; called once by the plugin, before any element exists. */
void gst_rv_annotations_register(void);

/* TRUE for metas that are copied to a new output buffer: those without tags, and those whose only
 * tag is "video", which are valid for any size and memory of the frame. */
gboolean gst_rv_annotation_is_portable(const GstMetaInfo *info);

/* Copies the fields of a structure, all or those that are no buffers. By name, since GStreamer 1.26
 * deprecates the functions by quark. */
void gst_rv_annotation_copy_fields(const GstStructure *from, GstStructure *to,
                                   gboolean scalars_only);

/* Appends the scalars of the annotation `name` of `buffer`, without buffers, to `message`. */
void gst_rv_annotation_copy_scalars(GstBuffer *buffer, const char *name, GstStructure *message);

/* Adds the times of `buffer` in `segment` to an element message, ns: timestamp, running-time,
 * stream-time, duration; G_MAXUINT64 = unknown. */
void gst_rv_annotation_add_times(GstStructure *message, const GstSegment *segment,
                                 GstBuffer *buffer);

G_END_DECLS
#endif
