/* SPDX-License-Identifier: MIT */
/* gstrvannotation.c: registration, copying and listing of annotations. */
#include "gstrvannotation.h"

void gst_rv_annotations_register(void) {
  rv_meta_register_all();
}

gboolean gst_rv_annotation_is_portable(const GstMetaInfo *info) {
  if (gst_meta_info_is_custom(info)) {
    const gchar *const *tags = gst_meta_api_type_get_tags(info->api);
    return tags == NULL || tags[0] == NULL;
  }
  /* GstBaseTransform decides about untagged metas of other programs. */
  const gchar *const *tags = gst_meta_api_type_get_tags(info->api);
  if (tags == NULL || tags[0] == NULL)
    return FALSE;
  for (; *tags; tags++)
    if (g_strcmp0(*tags, GST_META_TAG_VIDEO_STR) != 0)
      return FALSE;
  return TRUE;
}

void gst_rv_annotation_copy_fields(const GstStructure *from, GstStructure *to,
                                   gboolean scalars_only) {
  const gint count = gst_structure_n_fields(from);
  for (gint i = 0; i < count; i++) {
    const char *name = gst_structure_nth_field_name(from, (guint)i);
    const GValue *value = gst_structure_get_value(from, name);
    if (!scalars_only || !G_VALUE_HOLDS(value, GST_TYPE_BUFFER))
      gst_structure_set_value(to, name, value);
  }
}
void gst_rv_annotation_copy_scalars(GstBuffer *buffer, const char *name, GstStructure *message) {
  const GstStructure *fields = rv_meta_find(buffer, name);
  if (fields)
    gst_rv_annotation_copy_fields(fields, message, TRUE);
}

void gst_rv_annotation_add_times(GstStructure *message, const GstSegment *segment,
                                 GstBuffer *buffer) {
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const gboolean known = segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(pts);
  gst_structure_set(
      message, "timestamp", G_TYPE_UINT64, pts, "running-time", G_TYPE_UINT64,
      known ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE,
      "stream-time", G_TYPE_UINT64,
      known ? gst_segment_to_stream_time(segment, GST_FORMAT_TIME, pts) : GST_CLOCK_TIME_NONE,
      "duration", G_TYPE_UINT64, GST_BUFFER_DURATION(buffer), NULL);
}
