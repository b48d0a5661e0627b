/* SPDX-License-Identifier: MIT */
/* labels_test.c: frames of semanticsattach, and their labels. */
#include "labels_test.h"

GstBuffer *labels_frame(int width, int height, int value, GstClockTime pts) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, (gsize)(GST_ROUND_UP_4(width) * height), NULL);
  gst_buffer_memset(buffer, 0, (guint8)value, gst_buffer_get_size(buffer));
  GST_BUFFER_PTS(buffer) = pts;
  GST_BUFFER_DURATION(buffer) = FRAME;
  return buffer;
}

int labels_first(GstBuffer *buffer, int *last) {
  RvMetaSemantics meta;
  RvMetaMap map;
  int first = -1;
  *last = -1;
  if (rv_meta_get_semantics(buffer, &meta)) {
    fail_unless(meta.width == W && meta.height == H && meta.type == RV_SEMANTICS_LABELS);
    fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
    const guint8 *rows = map.plane.data;
    first = rows[0];
    *last = rows[(map.plane.height - 1) * map.plane.stride + map.plane.width - 1];
    rv_meta_unmap(&map);
  }
  gst_buffer_unref(buffer);
  return first;
}

guint64 labels_stat(GstHarness *harness, const char *name) {
  GstElement *element = gst_harness_find_element(harness, "semanticsattach");
  GstStructure *stats = NULL;
  guint64 value = G_MAXUINT64;
  g_object_get(element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, name, &value), "%s", name);
  gst_structure_free(stats);
  gst_object_unref(element);
  return value;
}
