/* SPDX-License-Identifier: MIT */
/* publish_test.c: frames, files and numbers for the tests of annotationpublish. */
#include "publish_test.h"

#include <glib/gstdio.h>

GstHarness *publish_harness(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *properties = g_strdup_vprintf(format, args);
  va_end(args);
  GstHarness *harness = publish_harness_caps(
      "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1", properties);
  g_free(properties);
  return harness;
}

GstHarness *publish_harness_caps(const char *caps, const char *properties) {
  char *line = g_strconcat("annotationpublish ", properties, NULL);
  GstHarness *harness = gst_harness_new_parse(line);
  fail_unless(harness != NULL, "%s", line);
  gst_harness_set_src_caps_str(harness, caps);
  g_free(line);
  return harness;
}

PublishTest publish_start(const char *properties) {
  PublishTest test = {NULL, test_folder_new(), NULL};
  test.harness = publish_harness("location=%s/a.jsonl %s", test.folder, properties);
  return test;
}

const char *publish_text(PublishTest *test) {
  publish_end(test->harness);
  test->text = publish_read(test->folder, "a.jsonl");
  return test->text;
}

void publish_free(PublishTest *test) {
  g_free(test->text);
  test_folder_free(test->folder);
}

GstBuffer *publish_frame(guint index, int count) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, 64 * 48, NULL);
  gst_buffer_memset(buffer, 0, 128, 64 * 48);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(index, GST_SECOND, 30);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  if (count == 0)
    return buffer;
  RvMetaStixels meta = {.width = 64,
                        .height = 48,
                        .count = count,
                        .stixel_width = 8,
                        .vertical_step = 8,
                        .ground_slope = 0.25,
                        .ground_intercept = -3.5};
  meta.payload = gst_buffer_new_allocate(NULL, (gsize)count * sizeof(RvStixel), NULL);
  GstMapInfo map;
  fail_unless(gst_buffer_map(meta.payload, &map, GST_MAP_WRITE));
  for (int i = 0; i < count; i++) {
    const RvStixel stixel = {
        (guint16)(8 * (i % 8)), 47,           (guint16)(i % 40), RV_STIXEL_OBJECT, RV_SEMANTIC_NONE,
        0.125f * (float)i,      -1.0f / 3.0f, 3.4e-5f * (float)i};
    memcpy(map.data + (gsize)i * sizeof stixel, &stixel, sizeof stixel);
  }
  gst_buffer_unmap(meta.payload, &map);
  fail_unless(rv_meta_add_stixels(buffer, &meta) != NULL);
  return buffer;
}

GstFlowReturn publish_push(GstHarness *harness, guint first, guint count, int stixels) {
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; i < count && flow == GST_FLOW_OK; i++) {
    flow = gst_harness_push(harness, publish_frame(first + i, stixels));
    if (flow == GST_FLOW_OK)
      gst_buffer_unref(gst_harness_pull(harness));
  }
  return flow;
}

void publish_end(GstHarness *harness) {
  gst_harness_push_event(harness, gst_event_new_eos());
  gst_harness_teardown(harness);
}

void publish_close(GstHarness *harness, GstBus *bus) {
  publish_end(harness);
  test_bus_free(bus);
}

guint64 publish_stat(GstHarness *harness, const char *name) {
  GstStructure *stats = NULL;
  guint64 value = 0;
  guint number = 0;
  gboolean yes = FALSE;
  GstElement *element = gst_harness_find_element(harness, "annotationpublish");
  g_object_get(element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, name, &value) ||
              gst_structure_get_uint(stats, name, &number) ||
              gst_structure_get_boolean(stats, name, &yes));
  gst_structure_free(stats);
  gst_object_unref(element);
  return value + number + (guint64)yes;
}

char *publish_read(const char *folder, const char *name) {
  char *path = g_build_filename(folder, name, NULL), *text = NULL;
  fail_unless(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
  g_free(path);
  return text;
}

guint publish_lines(const char *text) {
  guint lines = 0;
  for (const char *s = text; (s = strchr(s, '\n')) != NULL; s++)
    lines++;
  return lines;
}

void publish_expect_lines(const char *folder, const char *name, guint lines) {
  char *text = publish_read(folder, name);
  fail_unless_equals_int(publish_lines(text), lines);
  g_free(text);
}
