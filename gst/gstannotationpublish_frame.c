/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_frame.c: copies of a buffer's annotations. */
#include "gstannotationpublish_frame.h"

#include <gst/video/video.h>

#define FRAME_BYTES 2048                            /* of structures, about */
#define NTP_TO_UNIX (G_GINT64_CONSTANT(2208988800)) /* s from 1900 to 1970 */
#define TAI_MINUS_UTC 37                            /* s, since 2017 */

gboolean gst_publish_is_annotation(const GstMeta *meta) {
  if (!gst_meta_info_is_custom(meta->info))
    return FALSE;
  const GstStructure *fields = gst_custom_meta_get_structure((GstCustomMeta *)meta);
  const char *name = gst_structure_get_name(fields);
  return g_str_has_prefix(name, "Rv") && g_str_has_suffix(name, "Meta");
}

/* Copies the fields of an annotation; returns the bytes of its buffers, which are shared. By name,
 * since GStreamer 1.26 deprecates the functions by quark. */
static gsize copy_fields(const GstStructure *from, GstStructure *to, guint wants) {
  gsize bytes = 0;
  const gint count = gst_structure_n_fields(from);
  for (gint i = 0; i < count; i++) {
    const char *name = gst_structure_nth_field_name(from, (guint)i);
    const GValue *value = gst_structure_get_value(from, name);
    if (G_VALUE_HOLDS(value, GST_TYPE_BUFFER)) {
      GstBuffer *buffer = gst_value_get_buffer(value);
      if (!buffer || (!(wants & GST_PUBLISH_WANTS_RASTERS) && gst_buffer_get_video_meta(buffer)))
        continue;
      bytes += gst_buffer_get_size(buffer);
    }
    gst_structure_set_value(to, name, value);
  }
  return bytes;
}

static void take_annotations(GstPublishFrame *frame, GstBuffer *buffer, guint wants) {
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta(buffer, &state)) != NULL) {
    if (!gst_publish_is_annotation(meta) || frame->count == GST_PUBLISH_ANNOTATIONS_MAX)
      continue;
    const GstStructure *fields = gst_custom_meta_get_structure((GstCustomMeta *)meta);
    const char *name = gst_structure_get_name(fields); /* its owner may have renamed it */
    /* Of several, gst_buffer_get_custom_meta returns the first: a frame that was split into RTP packets
     * and assembled again has one copy per packet. */
    if (gst_publish_frame_find(frame, name))
      continue;
    GstCustomMeta *own =
        gst_meta_get_info(name) ? gst_buffer_add_custom_meta(frame->metas, name) : NULL;
    if (!own)
      continue;
    GstStructure *copy = gst_custom_meta_get_structure(own);
    frame->bytes += copy_fields(fields, copy, wants);
    frame->annotations[frame->count++] = copy;
  }
}

GstPublishFrame *gst_publish_frame_new(GstBuffer *buffer, GstCaps *caps, guint wants) {
  GstPublishFrame *frame = g_new0(GstPublishFrame, 1);
  frame->bytes = FRAME_BYTES;
  frame->metas = gst_buffer_new();
  take_annotations(frame, buffer, wants);
  if (wants & GST_PUBLISH_WANTS_PICTURE) {
    frame->picture = gst_buffer_copy_deep(buffer);
    frame->caps = caps ? gst_caps_ref(caps) : NULL;
    frame->bytes += gst_buffer_get_size(buffer);
  }
  return frame;
}

void gst_publish_frame_free(GstPublishFrame *frame) {
  gst_clear_buffer(&frame->metas);
  gst_clear_buffer(&frame->picture);
  gst_clear_caps(&frame->caps);
  g_free(frame);
}

const GstStructure *gst_publish_frame_find(const GstPublishFrame *frame, const char *name) {
  for (guint i = 0; i < frame->count; i++)
    if (gst_structure_has_name(frame->annotations[i], name))
      return frame->annotations[i];
  return NULL;
}

/* --- Wall-clock time ------------------------------------------------------------------------- */

GstPublishUtcSource gst_publish_reference_utc(GstBuffer *buffer, gint64 *utc) {
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                  GST_REFERENCE_TIMESTAMP_META_API_TYPE)) != NULL) {
    const GstReferenceTimestampMeta *stamp = (const GstReferenceTimestampMeta *)meta;
    const GstStructure *kind = gst_caps_get_structure(stamp->reference, 0);
    const gint64 time = (gint64)stamp->timestamp;
    if (gst_structure_has_name(kind, "timestamp/x-unix")) {
      *utc = time;
      return GST_PUBLISH_UTC_UNIX;
    }
    if (gst_structure_has_name(kind, "timestamp/x-ntp")) {
      *utc = time - NTP_TO_UNIX * GST_SECOND;
      return GST_PUBLISH_UTC_NTP;
    }
    if (gst_structure_has_name(kind, "timestamp/x-ptp")) {
      *utc = time - TAI_MINUS_UTC * GST_SECOND;
      return GST_PUBLISH_UTC_PTP;
    }
  }
  return GST_PUBLISH_UTC_NONE;
}

const char *gst_publish_utc_source_name(GstPublishUtcSource source) {
  static const char *const names[] = {"none", "clock", "start", "unix", "ntp", "ptp"};
  return names[source];
}
