/* SPDX-License-Identifier: MIT */
/* cudastereomux_caps.c: caps of cudastereomux: queries, errors, changes in the PLAYING state. */
#include "mux_test.h"

#include <string.h>

/* The caps that the right pad accepts when `downstream` is downstream and `left` (may be NULL) are
 * the caps of the left pad. */
static GstCaps *accepted(const char *properties, const char *downstream, const char *left) {
  Mux mux = mux_new(properties);
  gst_harness_set_sink_caps_str(mux.left, downstream);
  if (left) {
    GstCaps *caps = gst_caps_from_string(left);
    gst_harness_set_src_caps(mux.left, caps);
    gst_harness_push(mux.left, mux_frame(caps, 1, 0));
  }
  GstCaps *caps = gst_pad_peer_query_caps(mux.right->srcpad, NULL);
  mux_free(&mux);
  return caps;
}

GST_START_TEST(test_caps_query) {
  GstCaps *caps = accepted("", "video/x-raw,format=NV12,width=640,height=240", NULL);
  GstCaps *good = gst_caps_from_string("video/x-raw,format=NV12,width=320,height=240,"
                                       "framerate=30/1");
  GstCaps *bad = gst_caps_from_string("video/x-raw,format=NV12,width=640,height=240");
  fail_unless(gst_caps_can_intersect(caps, good) && !gst_caps_can_intersect(caps, bad));
  gst_caps_unref(caps);
  caps = accepted("layout=top-bottom", "video/x-raw,format=NV12,width=320,height=480", NULL);
  fail_unless(gst_caps_can_intersect(caps, good) && !gst_caps_can_intersect(caps, bad));
  gst_caps_unref(caps);
  /* The other camera's format comes first, others follow: both may change. */
  caps = accepted("", "video/x-raw", "video/x-raw,format=UYVY,width=48,height=32,framerate=15/1");
  GstStructure *best = gst_caps_get_structure(caps, 0);
  int width = 0;
  fail_unless_equals_string(gst_structure_get_string(best, "format"), "UYVY");
  fail_unless(gst_structure_get_int(best, "width", &width) && width == 48);
  fail_unless(gst_caps_can_intersect(caps, good) && gst_caps_can_intersect(caps, bad));
  gst_caps_unref(caps);
  gst_caps_unref(good);
  gst_caps_unref(bad);
}
GST_END_TEST

/* Every rejection states the cause and the remedy. */
GST_START_TEST(test_bad_caps) {
  static const struct {
    const char *properties, *left, *right, *cause, *remedy;
  } cases[] = {
      {"", "format=NV12,width=32,height=16", "format=NV12,width=64,height=16", "32x16",
       "videoscale"},
      {"", "format=NV12,width=32,height=16", "format=NV12,width=64,height=16", "64x16",
       "videoscale"},
      {"", "format=NV12,width=32,height=16", "format=I420,width=32,height=16", "I420",
       "videoconvert"},
      {"", "format=NV12,width=32,height=16,colorimetry=bt601",
       "format=NV12,width=32,height=16,colorimetry=bt709", "bt709", "videoconvert"},
      {"", "format=NV12,width=33,height=16", "format=NV12,width=33,height=16", "odd width (33)",
       "layout=top-bottom"},
      {"", "format=YUY2,width=33,height=16", "format=YUY2,width=33,height=16", "odd width (33)",
       "layout=top-bottom"},
      {"layout=top-bottom", "format=I420,width=32,height=15", "format=I420,width=32,height=15",
       "odd height (15)", "layout=side-by-side"},
      {"", "format=GRAY8,width=10000,height=16", "format=GRAY8,width=10000,height=16", "16384",
       "smaller"},
      {"", "format=NV12,width=32,height=16,interlace-mode=interleaved",
       "format=NV12,width=32,height=16", "Interlaced", "deinterlace"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Mux mux = mux_new(cases[i].properties);
    GstHarness *pads[] = {mux.left, mux.right};
    for (int k = 0; k < 2; k++) {
      char *text =
          g_strdup_printf("video/x-raw,framerate=30/1,%s", k ? cases[i].right : cases[i].left);
      GstCaps *caps = gst_caps_from_string(text);
      gst_harness_set_src_caps(pads[k], gst_caps_ref(caps));
      gst_harness_push(pads[k], mux_frame(caps, 1, 0));
      gst_caps_unref(caps);
      g_free(text);
    }
    GstMessage *message = gst_bus_timed_pop_filtered(mux.bus, 5 * GST_SECOND, GST_MESSAGE_ERROR);
    fail_unless(message != NULL, "case %u", i);
    char *debug = NULL;
    GError *error = NULL;
    gst_message_parse_error(message, &error, &debug);
    fail_unless(strstr(error->message, cases[i].cause) && strstr(debug, cases[i].remedy),
                "case %u: %s | %s", i, error->message, debug);
    g_error_free(error);
    g_free(debug);
    gst_message_unref(message);
    fail_unless(gst_bus_timed_pop_filtered(mux.bus, 0, GST_MESSAGE_ERROR) == NULL, "said twice");
    mux_free(&mux);
  }
}
GST_END_TEST

/* Cameras change size one after the other: pairs of different sizes are dropped, then it continues
 * with new caps. */
GST_START_TEST(test_renegotiation) {
  Mux mux = mux_new("");
  GstCaps *small = test_caps("NV12", 32, 16, NULL), *large = test_caps("YUY2", 64, 32, NULL);
  gst_harness_set_src_caps(mux.left, gst_caps_ref(small));
  gst_harness_set_src_caps(mux.right, gst_caps_ref(small));
  mux_push_pair(&mux, small, small, 0);
  gst_buffer_unref(gst_harness_pull(mux.left));
  gst_harness_set_src_caps(mux.left, gst_caps_ref(large));
  mux_push_pair(&mux, large, small, FRAME);
  mux_push_pair(&mux, large, small, 2 * FRAME);
  gst_harness_set_src_caps(mux.right, gst_caps_ref(large));
  mux_push_pair(&mux, large, large, 3 * FRAME);
  GstBuffer *out = gst_harness_pull(mux.left);
  fail_unless(GST_BUFFER_PTS(out) == 3 * FRAME);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_DISCONT));
  GstCaps *caps = gst_pad_get_current_caps(mux.left->sinkpad);
  GstVideoInfo info;
  test_info(&info, caps);
  fail_unless(info.width == 128 && info.height == 32);
  fail_unless_equals_string(GST_VIDEO_INFO_NAME(&info), "YUY2");
  fail_unless_equals_uint64(mux_counter(&mux, "mismatched"), 2);
  fail_unless_equals_uint64(mux_counter(&mux, "pairs"), 2);
  gst_caps_unref(caps);
  gst_buffer_unref(out);
  /* A pair that stays different is an error. */
  gst_harness_set_src_caps(mux.left, gst_caps_ref(small));
  GstFlowReturn flow = GST_FLOW_OK;
  for (int i = 4; i < 100 && flow == GST_FLOW_OK; i++) {
    gst_harness_push(mux.left, mux_frame(small, 1, (GstClockTime)i * FRAME));
    flow = gst_harness_push(mux.right, mux_frame(large, 1, (GstClockTime)i * FRAME));
  }
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED, "%s", gst_flow_get_name(flow));
  GstMessage *message = gst_bus_timed_pop_filtered(mux.bus, 5 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless(message != NULL);
  gst_message_unref(message);
  gst_caps_unref(small);
  gst_caps_unref(large);
  mux_free(&mux);
}
GST_END_TEST

/* The layout may change from one pair to the next. */
GST_START_TEST(test_layout_while_playing) {
  Mux mux = mux_open("", "GRAY8", 32, 16);
  for (int i = 0; i < 4; i++) {
    gst_util_set_object_arg(G_OBJECT(mux.element), "layout", i % 2 ? "top-bottom" : "side-by-side");
    mux_push_pair(&mux, mux.caps, mux.caps, i * FRAME);
    gst_buffer_unref(gst_harness_pull(mux.left));
    GstCaps *packed = gst_pad_get_current_caps(mux.left->sinkpad);
    GstVideoInfo info;
    test_info(&info, packed);
    fail_unless(info.width == (i % 2 ? 32 : 64) && info.height == (i % 2 ? 32 : 16), "pair %d", i);
    gst_caps_unref(packed);
  }
  mux_free(&mux);
}
GST_END_TEST

/* The downstream element does not accept the packed frames: both mux.caps are in the error. */
GST_START_TEST(test_refused_downstream) {
  Mux mux = mux_new("");
  GstCaps *caps = test_caps("NV12", 32, 16, NULL);
  gst_harness_set_sink_caps_str(mux.left, "video/x-raw,width=100");
  mux_caps(&mux, "NV12", 32, 16, NULL);
  gst_harness_push(mux.left, mux_frame(caps, 1, 0));
  gst_harness_push(mux.right, mux_frame(caps, 1, 0));
  GstMessage *message = gst_bus_timed_pop_filtered(mux.bus, 5 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless(message != NULL);
  char *debug = NULL;
  GError *error = NULL;
  gst_message_parse_error(message, &error, &debug);
  fail_unless(strstr(error->message, "64") && strstr(debug, "100"), "%s | %s", error->message,
              debug);
  g_error_free(error);
  g_free(debug);
  gst_message_unref(message);
  gst_caps_unref(caps);
  mux_free(&mux);
}
GST_END_TEST

/* The lower frame rate is that of the pairs; an unknown one stays unknown. */
GST_START_TEST(test_frame_rate) {
  static const int rates[][3] = {{30, 30, 30}, {30, 15, 15}, {15, 60, 15}, {0, 30, 0}, {30, 0, 0}};
  for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
    Mux mux = mux_new("");
    GstHarness *pads[] = {mux.left, mux.right};
    for (int k = 0; k < 2; k++) {
      GstCaps *caps = test_caps("GRAY8", 16, 8, NULL);
      gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, rates[i][k], 1, NULL);
      gst_harness_set_src_caps(pads[k], gst_caps_ref(caps));
      gst_harness_push(pads[k], mux_frame(caps, 1, 0));
      gst_caps_unref(caps);
    }
    gst_buffer_unref(gst_harness_pull(mux.left));
    GstCaps *caps = gst_pad_get_current_caps(mux.left->sinkpad);
    int n = -1, d = 0;
    fail_unless(gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &n, &d));
    fail_unless_equals_int(n, rates[i][2]);
    gst_caps_unref(caps);
    mux_free(&mux);
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_caps_query) TEST(test_bad_caps) TEST(test_renegotiation) \
  TEST(test_layout_while_playing) TEST(test_refused_downstream) TEST(test_frame_rate)
/* clang-format on */

ELEMENT_TESTS(cudastereomux_caps, TESTS)
