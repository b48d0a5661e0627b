/* SPDX-License-Identifier: MIT */
/* mux_test.c: a cudastereomux with a harness per camera. */
#include "mux_test.h"

Mux mux_new(const char *properties) {
  /* A pad may take one frame only until it is known to be live: a test must not push two to one
   * pad before the other has one. */
  Mux mux = {NULL, NULL, NULL, NULL, NULL};
  char *line = g_strdup_printf("cudastereomux %s", properties);
  mux.element = gst_parse_launch(line, NULL);
  gst_object_ref_sink(mux.element);
  mux.left = gst_harness_new_with_element(mux.element, "left", "src");
  mux.right = gst_harness_new_with_element(mux.element, "right", NULL);
  gst_harness_use_testclock(mux.left); /* stands still: no pair is late */
  mux.bus = gst_bus_new();
  gst_element_set_bus(mux.element, mux.bus);
  gst_harness_play(mux.left);
  gst_harness_play(mux.right);
  g_free(line);
  return mux;
}

Mux mux_open(const char *properties, const char *format, int width, int height) {
  Mux mux = mux_new(properties);
  mux.caps = test_caps(format, width, height, NULL);
  mux_caps(&mux, format, width, height, NULL);
  return mux;
}

void mux_free(Mux *mux) {
  gst_clear_caps(&mux->caps);
  test_bus_free(mux->bus);
  gst_harness_teardown(mux->right);
  gst_harness_teardown(mux->left);
  gst_object_unref(mux->element);
}

void mux_caps(Mux *mux, const char *format, int width, int height, const char *more) {
  gst_harness_set_src_caps(mux->left, test_caps(format, width, height, more));
  gst_harness_set_src_caps(mux->right, test_caps(format, width, height, more));
}

/* A frame of noise whose planes have padding after each row. */
GstBuffer *mux_noise(const GstVideoInfo *info, guint32 seed, GstClockTime pts) {
  GstVideoInfo padded = *info;
  GstVideoAlignment align;
  gst_video_alignment_reset(&align);
  align.padding_right = 24;
  fail_unless(gst_video_info_align(&padded, &align));
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&padded), NULL);
  test_randomize(buffer, seed);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
                                 (guint)GST_VIDEO_INFO_WIDTH(info),
                                 (guint)GST_VIDEO_INFO_HEIGHT(info), GST_VIDEO_INFO_N_PLANES(info),
                                 padded.offset, padded.stride);
  GST_BUFFER_PTS(buffer) = pts;
  GST_BUFFER_DURATION(buffer) = FRAME;
  return buffer;
}

GstBuffer *mux_frame(const GstCaps *caps, guint32 seed, GstClockTime pts) {
  GstVideoInfo info;
  test_info(&info, caps);
  return mux_noise(&info, seed, pts);
}

guint64 mux_counter(Mux *mux, const char *name) {
  guint64 value = G_MAXUINT64;
  test_stat(mux->element, name, G_TYPE_UINT64, &value);
  return value;
}

void mux_push_pair(Mux *mux, const GstCaps *left, const GstCaps *right, GstClockTime pts) {
  fail_unless(gst_harness_push(mux->left, mux_frame(left, 1, pts)) == GST_FLOW_OK);
  fail_unless(gst_harness_push(mux->right, mux_frame(right, 2, pts)) == GST_FLOW_OK);
}
