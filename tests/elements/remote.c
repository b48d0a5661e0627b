/* SPDX-License-Identifier: MIT */
/* remote.c: annotations that another process receives through a Unix socket (unixfdsink, GStreamer 1.24):
 * equal scalars, records and rasters. Skipped (77) without that element. The images are small: their
 * annotations must fit into the send buffer of the socket (docs/annotations.md). */
#include "element_test.h"

#include <stdio.h>

#include <glib/gstdio.h>

enum { FRAMES = 5 };

#define CHAIN                                                                                      \
  "stereotestsrc num-buffers=5 truth=false ! "                                                     \
  "video/x-raw,format=NV12,width=320,height=96,framerate=30/1 ! "                                  \
  "cudasgm engine=cpu disparities=64 confidence=true ! cudastixels engine=cpu ! "                  \
  "cudaobstacles engine=cpu ! "

/* The names of all annotations of the chain. */
static const char *const names[] = {RV_META_CAMERA, RV_META_DISPARITY, RV_META_STIXELS,
                                    RV_META_GROUND, RV_META_OBSTACLES, RV_META_FREE_SPACE};

static gboolean has_socket(void) {
  GstElementFactory *factory = gst_element_factory_find("unixfdsink");
  const gboolean found = factory != NULL;
  gst_clear_object(&factory);
  return found;
}

static GstPadProbeReturn keep(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  (void)pad;
  g_ptr_array_add(user, gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
  return GST_PAD_PROBE_OK;
}

/* Buffers that arrive at the element "keep" of a pipeline; to be freed. */
static GPtrArray *keep_buffers(GstElement *pipeline) {
  GPtrArray *kept = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), "keep");
  GstPad *pad = gst_element_get_static_pad(element, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, keep, kept, NULL);
  gst_object_unref(pad);
  gst_object_unref(element);
  return kept;
}

static GstElement *launch(const char *line) {
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  fail_unless(pipeline && !error, "%s", error ? error->message : line);
  return pipeline;
}

static void wait_for_end(GstElement *pipeline) {
  GstMessage *message = gst_bus_timed_pop_filtered(GST_ELEMENT_BUS(pipeline), 60 * GST_SECOND,
                                                   GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless(message != NULL, "did not end");
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    fail("%s", error->message);
  }
  gst_message_unref(message);
}

/* --- Comparison ---------------------------------------------------------------------------------- */

/* The values of a raster without the padding of its rows, as bytes. */
static GBytes *values_of(GstBuffer *buffer, const char *field) {
  RvMetaDisparity *meta = rv_meta_disparity_new();
  GError *error = NULL;
  RvMetaArray *array = NULL;
  if (rv_meta_disparity_read(meta, buffer, &error))
    array = rv_meta_disparity_get_array(meta, field, &error);
  fail_unless(array != NULL, "%s: %s", field, error ? error->message : "");
  GBytes *bytes = rv_meta_array_get_bytes(array);
  rv_meta_array_free(array);
  rv_meta_disparity_free(meta);
  return bytes;
}

/* Records have no padding. */
static void compare_records(GstBuffer *sent, GstBuffer *received, const char *name,
                            const char *field) {
  GstMapInfo a, b;
  fail_unless(gst_buffer_map(sent, &a, GST_MAP_READ));
  fail_unless(gst_buffer_map(received, &b, GST_MAP_READ));
  fail_unless(a.size == b.size && memcmp(a.data, b.data, a.size) == 0, "%s.%s differs", name,
              field);
  gst_buffer_unmap(sent, &a);
  gst_buffer_unmap(received, &b);
}

static void compare_annotation(GstBuffer *sent, GstBuffer *received, const char *name,
                               int *arrays) {
  const GstStructure *want = rv_meta_find(sent, name), *got = rv_meta_find(received, name);
  GError *error = NULL;
  fail_unless(want != NULL && got != NULL, "%s: sent %d, received %d", name, want != NULL,
              got != NULL);
  fail_unless(rv_meta_check(received, name, &error), "%s: %s", name, error ? error->message : "");
  fail_unless_equals_int(gst_structure_n_fields(want), gst_structure_n_fields(got));
  for (int i = 0; i < gst_structure_n_fields(want); i++) {
    const char *field = gst_structure_nth_field_name(want, (guint)i);
    const GValue *a = gst_structure_get_value(want, field),
                 *b = gst_structure_get_value(got, field);
    fail_unless(b != NULL, "%s.%s is missing", name, field);
    if (!G_VALUE_HOLDS(a, GST_TYPE_BUFFER)) {
      fail_unless(gst_value_compare(a, b) == GST_VALUE_EQUAL, "%s.%s differs", name, field);
      continue;
    }
    (*arrays)++;
    fail_unless(G_VALUE_HOLDS(b, GST_TYPE_BUFFER), "%s.%s is no buffer", name, field);
    if (strcmp(name, RV_META_DISPARITY) != 0) {
      compare_records(gst_value_get_buffer(a), gst_value_get_buffer(b), name, field);
      continue;
    }
    GBytes *x = values_of(sent, field), *y = values_of(received, field);
    fail_unless(g_bytes_equal(x, y), "%s.%s differs", name, field);
    g_bytes_unref(x);
    g_bytes_unref(y);
  }
}

static void compare(GPtrArray *sent, GPtrArray *received) {
  fail_unless_equals_int((int)sent->len, FRAMES);
  fail_unless_equals_int((int)received->len, FRAMES);
  for (guint i = 0; i < sent->len; i++) {
    int arrays = 0;
    for (guint n = 0; n < G_N_ELEMENTS(names); n++)
      compare_annotation(sent->pdata[i], received->pdata[i], names[n], &arrays);
    fail_unless(arrays >= 5, "%d arrays", arrays);
  }
  g_ptr_array_unref(sent);
  g_ptr_array_unref(received);
}

static void end(GstElement *pipeline) {
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

/* --- Tests ---------------------------------------------------------------------------------------- */

GST_START_TEST(test_socket) {
  char *folder = g_dir_make_tmp("remoteXXXXXX", NULL);
  char *path = g_build_filename(folder, "socket", NULL);
  /* The source plays when the receiver is there. */
  char *line = g_strdup_printf(CHAIN "unixfdsink name=keep sync=false socket-path=%s", path);
  GstElement *sender = launch(line);
  g_free(line);
  line = g_strdup_printf("unixfdsrc socket-path=%s ! fakesink name=keep sync=false", path);
  GstElement *receiver = launch(line);
  g_free(line);
  GPtrArray *sent = keep_buffers(sender), *received = keep_buffers(receiver);
  gst_element_set_state(sender, GST_STATE_PAUSED);
  for (int i = 0; i < 3000 && !g_file_test(path, G_FILE_TEST_EXISTS); i++)
    g_usleep(10000);
  gst_element_set_state(receiver, GST_STATE_PLAYING);
  g_usleep(200000);
  gst_element_set_state(sender, GST_STATE_PLAYING);
  wait_for_end(receiver);
  wait_for_end(sender);
  end(receiver);
  end(sender);
  compare(sent, received);
  g_rmdir(folder);
  g_free(path);
  g_free(folder);
}
GST_END_TEST

static Suite *remote_suite(void) {
  Suite *suite = suite_create("remote");
  TCase *all_tests = tcase_create("general");
  suite_add_tcase(suite, all_tests);
  tcase_add_test(all_tests, test_socket);
  return suite;
}

int main(int argc, char **argv) {
  gst_check_init(&argc, &argv);
  if (!has_socket()) {
    printf("skip: no unixfdsink here (GStreamer 1.24)\n");
    return 77;
  }
  return gst_check_run_suite(remote_suite(), "remote", __FILE__);
}
