/* SPDX-License-Identifier: MIT */
/* semanticsattach_stream.c: labels from a second stream, by time, and what is wrong with it. */
#include <stdlib.h>

#include "labels_test.h"

typedef struct Two {
  GstElement *element;
  GstHarness *frames, *labels;
  GstBus *bus;
} Two;

static void two_open_caps(Two *two, const char *more, GstCaps *caps) {
  char *line = g_strconcat("semanticsattach name=s ", more, NULL);
  two->element = gst_parse_launch(line, NULL);
  two->frames = gst_harness_new_with_element(two->element, "sink", "src");
  two->labels = gst_harness_new_with_element(two->element, "labels", NULL);
  two->bus = gst_bus_new();
  gst_element_set_bus(two->element, two->bus);
  gst_harness_set_src_caps(two->frames, test_caps("GRAY8", W, H, NULL));
  gst_harness_set_src_caps(two->labels, caps);
  g_free(line);
}

static void two_open(Two *two, const char *more) {
  two_open_caps(two, more, test_caps("GRAY8", W, H, NULL));
}

static void two_close(Two *two) {
  gst_element_set_bus(two->element, NULL);
  test_bus_free(two->bus);
  gst_harness_teardown(two->labels);
  gst_harness_teardown(two->frames);
  gst_object_unref(two->element);
}

static void push_label(Two *two, int value, GstClockTime pts) {
  fail_unless_equals_int(gst_harness_push(two->labels, labels_frame(W, H, value, pts)),
                         GST_FLOW_OK);
}

static int push_frame(Two *two, GstClockTime pts) {
  int last;
  return labels_first(gst_harness_push_and_pull(two->frames, labels_frame(W, H, 128, pts)), &last);
}

/* Each frame gets the nearest labels within max-skew, half a frame unless set. */
GST_START_TEST(test_nearest) {
  Two two;
  two_open(&two, "");
  push_label(&two, 1, 0);
  push_label(&two, 2, FRAME);
  push_label(&two, 3, 2 * FRAME + FRAME / 4);
  push_label(&two, 5, 4 * FRAME);
  fail_unless_equals_int(push_frame(&two, 0), 1);
  fail_unless_equals_int(push_frame(&two, FRAME), 2);
  fail_unless_equals_int(push_frame(&two, 2 * FRAME), 3);
  fail_unless_equals_int(push_frame(&two, 3 * FRAME), -1);
  fail_unless_equals_int(push_frame(&two, 4 * FRAME), 5);
  fail_unless_equals_int(push_frame(&two, 4 * FRAME + FRAME / 3), 5); /* used twice */
  two_close(&two);

  two_open(&two, "max-skew=100000000 classes=1:7"); /* labels of every third frame */
  push_label(&two, 1, 0);
  push_label(&two, 2, 3 * FRAME);
  fail_unless_equals_int(push_frame(&two, 0), 7);
  fail_unless_equals_int(push_frame(&two, FRAME), 7);
  fail_unless_equals_int(push_frame(&two, 2 * FRAME), RV_SEMANTIC_NONE);
  fail_unless_equals_int(push_frame(&two, 3 * FRAME), RV_SEMANTIC_NONE);
  two_close(&two);
}
GST_END_TEST

static gpointer push_late(gpointer user) {
  g_usleep(50000);
  push_label(user, 9, FRAME);
  return NULL;
}

/* A frame waits for labels that are still being computed; GAP events say that there are none. */
GST_START_TEST(test_waits) {
  Two two;
  two_open(&two, "");
  push_label(&two, 1, 0);
  GThread *thread = g_thread_new("late", push_late, &two);
  fail_unless_equals_int(push_frame(&two, FRAME), 9);
  g_thread_join(thread);
  gst_harness_push_event(two.labels, gst_event_new_gap(2 * FRAME, FRAME));
  fail_unless_equals_int(push_frame(&two, 2 * FRAME), -1);
  fail_unless_equals_int(push_frame(&two, 3 * FRAME), -1); /* the GAP ends there */
  two_close(&two);
}
GST_END_TEST

/* The labels end early: one warning, and no frame waits. */
GST_START_TEST(test_end_of_labels) {
  Two two;
  two_open(&two, "");
  push_label(&two, 1, 0);
  fail_unless_equals_int(push_frame(&two, 0), 1);
  gst_harness_push_event(two.labels, gst_event_new_eos());
  for (int k = 1; k < 4; k++)
    fail_unless_equals_int(push_frame(&two, (GstClockTime)k * FRAME), -1);
  test_expect_warning(two.bus, "ended", NULL);
  test_expect_warning(two.bus, NULL, NULL);
  two_close(&two);
}
GST_END_TEST

/* Times of the labels jump back: what waits is dropped, and pairs come again. */
GST_START_TEST(test_back) {
  Two two;
  two_open(&two, "");
  for (int k = 0; k < 4; k++)
    push_label(&two, k, (GstClockTime)(k + 30) * FRAME);
  fail_unless_equals_int(push_frame(&two, 30 * FRAME), 0);
  push_label(&two, 50, 0);
  push_label(&two, 51, FRAME);
  fail_unless_equals_int(push_frame(&two, 0), 50);
  fail_unless_equals_int(push_frame(&two, FRAME), 51);
  two_close(&two);
}
GST_END_TEST

static gpointer push_many(gpointer user) {
  Two *two = user;
  GstFlowReturn flow = GST_FLOW_OK;
  for (int k = 0; k < 100 && flow == GST_FLOW_OK; k++)
    flow = gst_harness_push(two->labels, labels_frame(W, H, k, (GstClockTime)k * FRAME));
  return GINT_TO_POINTER(flow);
}

/* The queue is bounded; the end of the frames, a flush or the end of the element release it. */
GST_START_TEST(test_full) {
  for (int how = 0; how < 3; how++) {
    Two two;
    two_open(&two, "");
    GThread *thread = g_thread_new("many", push_many, &two);
    while (labels_stat(two.frames, "labels") < 9)
      g_usleep(1000);
    g_usleep(20000);
    fail_unless_equals_int(labels_stat(two.frames, "labels"), 9); /* 8 wait, one is blocked */
    fail_unless_equals_int(push_frame(&two, 3 * FRAME), 3);
    if (how == 0)
      gst_harness_push_event(two.frames, gst_event_new_eos());
    else if (how == 1)
      gst_harness_push_event(two.labels, gst_event_new_flush_start());
    else
      gst_element_set_state(two.element, GST_STATE_NULL);
    const int flow = GPOINTER_TO_INT(g_thread_join(thread));
    fail_unless_equals_int(flow, how == 0 ? GST_FLOW_EOS : GST_FLOW_FLUSHING);
    if (how == 1)
      gst_harness_push_event(two.labels, gst_event_new_flush_stop(TRUE));
    two_close(&two);
  }
}
GST_END_TEST

/* Scores of a network on frames of any format; frames of the pad without either. */
GST_START_TEST(test_annotated) {
  Two two;
  two_open_caps(&two, "", test_caps("RGB", 4, 4, NULL));
  GstBuffer *label = gst_buffer_new_allocate(NULL, 4 * 12, NULL);
  GST_BUFFER_PTS(label) = 0;
  fail_unless(rv_meta_add_scores(label, 4, 4, 2, 3, 2, rv_meta_raster_new(RV_U16, 3, 4)) != NULL);
  fail_unless_equals_int(gst_harness_push(two.labels, label), GST_FLOW_OK);
  GstBuffer *out = gst_harness_push_and_pull(two.frames, labels_frame(W, H, 0, 0));
  RvMetaSemantics meta;
  fail_unless(rv_meta_get_semantics(out, &meta));
  fail_unless(meta.type == RV_SEMANTICS_SCORES && meta.classes == 2 && meta.map_width == 3 &&
              meta.map_height == 2 && meta.width == W && meta.height == H);
  gst_buffer_unref(out);
  for (int k = 1; k < 3; k++) {
    label = gst_buffer_new_allocate(NULL, 4 * 12, NULL);
    GST_BUFFER_PTS(label) = (GstClockTime)k * FRAME;
    fail_unless_equals_int(gst_harness_push(two.labels, label), GST_FLOW_OK);
    fail_unless_equals_int(push_frame(&two, (GstClockTime)k * FRAME), -1);
    char *text = test_message(two.bus, GST_MESSAGE_WARNING);
    fail_unless((text != NULL) == (k == 1));
    fail_unless(!text || (strstr(text, "GRAY8") && strstr(text, "RvSemanticsMeta")), "%s", text);
    g_free(text);
  }
  two_close(&two);
}
GST_END_TEST

/* A live frame waits no longer than max-wait, and the wait is answered as latency. */
GST_START_TEST(test_live) {
  Two two;
  two_open(&two, "max-wait=60000000");
  gst_harness_set_upstream_latency(two.frames, 10 * GST_MSECOND);
  gst_harness_set_live(two.frames, TRUE);
  for (int k = 0; k < 6; k++) {
    const gint64 begin = g_get_monotonic_time();
    fail_unless_equals_int(push_frame(&two, (GstClockTime)k * FRAME), -1);
    fail_unless(g_get_monotonic_time() - begin >= 59000);
  }
  test_expect_warning(two.bus, "60 ms", "max-wait");
  fail_unless_equals_int(labels_stat(two.frames, "late"), 6);
  fail_unless(gst_harness_query_latency(two.frames) >= 70 * GST_MSECOND);
  two_close(&two);
}
GST_END_TEST

/* Two sources of labels, and frames of the pad without time. */
GST_START_TEST(test_refused) {
  GstElement *element = gst_parse_launch("semanticsattach location=a.png", NULL);
  GstPad *pad = gst_element_request_pad_simple(element, "labels");
  fail_unless(pad != NULL);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
  test_expect_error(bus, "two sources", NULL);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_release_request_pad(element, pad);
  gst_object_unref(pad);
  gst_element_set_bus(element, NULL);
  test_bus_free(bus);
  gst_object_unref(element);

  Two two;
  two_open(&two, "");
  fail_unless_equals_int(gst_harness_push(two.labels, labels_frame(W, H, 1, GST_CLOCK_TIME_NONE)),
                         GST_FLOW_ERROR);
  test_expect_error(two.bus, "do-timestamp", NULL);
  two_close(&two);
}
GST_END_TEST

/* A flush of the frames wakes a frame that waits; empty GAP buffers pass. */
static gpointer flush_soon(gpointer user) {
  g_usleep(50000);
  gst_harness_push_event(user, gst_event_new_flush_start());
  return NULL;
}

GST_START_TEST(test_flush) {
  Two two;
  two_open(&two, "");
  GThread *thread = g_thread_new("flush", flush_soon, two.frames);
  fail_unless_equals_int(gst_harness_push(two.frames, labels_frame(W, H, 0, 0)), GST_FLOW_FLUSHING);
  g_thread_join(thread);
  gst_harness_push_event(two.frames, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(two.frames, gst_event_new_segment(&segment));
  GstBuffer *gap = gst_buffer_new();
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS(gap) = 0;
  gst_buffer_unref(gst_harness_push_and_pull(two.frames, gap));
  push_label(&two, 4, FRAME);
  fail_unless_equals_int(push_frame(&two, FRAME), 4);
  two_close(&two);
}
GST_END_TEST

/* A tee, as users write it: labels of the scene itself reach cudastixels. */
GST_START_TEST(test_pipeline) {
  GstElement *pipeline = gst_parse_launch(
      "stereotestsrc num-buffers=12 ! video/x-raw,format=GRAY8,width=256,height=64 ! "
      "cudasgm engine=cpu disparities=32 ! tee name=t "
      "t. ! queue ! semanticsattach name=s classes=128-255:1,0-127:0 ! "
      "cudastixels name=stixels engine=cpu semantic-classes=go ! fakesink "
      "t. ! queue ! video/x-raw,format=GRAY8 ! s.labels",
      NULL);
  fail_unless(pipeline != NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_message_unref(message);
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), "s");
  GstStructure *stats = NULL;
  guint64 attached = 0;
  g_object_get(element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, "attached", &attached) && attached == 12);
  gst_structure_free(stats);
  gst_object_unref(element);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_nearest) TEST(test_waits) TEST(test_end_of_labels) TEST(test_back) TEST(test_full) \
  TEST(test_annotated) TEST(test_live) TEST(test_refused) TEST(test_flush) TEST(test_pipeline)
/* clang-format on */

ELEMENT_TESTS(semanticsattach_stream, TESTS)
