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

/* What is to be left out of a copy, and the bytes of the buffers that stay, which are shared. */
typedef struct Sift {
  guint wants;
  const char *unwanted[16]; /* names of rasters */
  guint count;
  gsize bytes;
} Sift;

static gboolean sift(Sift *s, const char *name, const GValue *value) {
  if (!G_VALUE_HOLDS(value, GST_TYPE_BUFFER))
    return TRUE;
  GstBuffer *buffer = gst_value_get_buffer(value);
  if (buffer && ((s->wants & GST_PUBLISH_WANTS_RASTERS) || !gst_buffer_get_video_meta(buffer)))
    s->bytes += gst_buffer_get_size(buffer);
  else if (s->count < G_N_ELEMENTS(s->unwanted))
    s->unwanted[s->count++] =
        g_intern_string(name); /* the field's own name moves with its removal */
  return TRUE;
}

/* GStreamer 1.26 deprecates the functions by quark. */
#if GST_CHECK_VERSION(1, 26, 0)
static gboolean sift_field(const GstIdStr *name, const GValue *value, gpointer user) {
  return sift(user, gst_id_str_as_str(name), value);
}
#  define sift_fields(fields, s) gst_structure_foreach_id_str(fields, sift_field, s)
#else
static gboolean sift_field(GQuark name, const GValue *value, gpointer user) {
  return sift(user, g_quark_to_string(name), value);
}
#  define sift_fields(fields, s) gst_structure_foreach(fields, sift_field, s)
#endif

/* Adds an annotation to `frame`; NULL if it cannot be copied. As a whole where its owner has not
 * renamed it: field by field takes twice as long. */
static GstStructure *copy_annotation(GstPublishFrame *frame, GstMeta *meta, GstBuffer *buffer,
                                     const GstStructure *fields, guint wants) {
  const char *name = gst_structure_get_name(fields);
  GstMetaTransformCopy whole = {FALSE, 0, (gsize)-1};
  GstCustomMeta *own = NULL;
  if (gst_custom_meta_has_name((GstCustomMeta *)meta, name) && meta->info->transform_func &&
      meta->info->transform_func(frame->metas, meta, buffer, _gst_meta_transform_copy, &whole))
    own = gst_buffer_get_custom_meta(frame->metas, name);
  const gboolean is_whole = own != NULL;
  if (!own && gst_meta_get_info(name))
    own = gst_buffer_add_custom_meta(frame->metas, name);
  if (!own)
    return NULL;
  GstStructure *copy = gst_custom_meta_get_structure(own);
  if (!is_whole)
    for (gint i = 0; i < gst_structure_n_fields(fields); i++) {
      const char *field = gst_structure_nth_field_name(fields, (guint)i);
      gst_structure_set_value(copy, field, gst_structure_get_value(fields, field));
    }
  Sift s = {.wants = wants};
  sift_fields(copy, &s);
  for (guint i = 0; i < s.count; i++)
    gst_structure_remove_field(copy, s.unwanted[i]);
  frame->bytes += s.bytes;
  return copy;
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
    GstStructure *copy = copy_annotation(frame, meta, buffer, fields, wants);
    if (copy)
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
