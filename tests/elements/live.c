/* SPDX-License-Identifier: MIT */
/* live.c: what the base class does about time: repeated frames (GAP), interruptions of the stream,
 * times in messages; and what it says about caps. */
#include "element_test.h"

#include <string.h>

#define FRAME (GST_SECOND / 30)

static guint64 counter(GstHarness *harness, const char *element, const char *name) {
  GstStructure *stats = NULL;
  guint64 value = 0;
  gst_harness_get(harness, element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, name, &value), "%s", name);
  gst_structure_free(stats);
  return value;
}

/* --- Repeated frames ------------------------------------------------------------------------- */

static GstBuffer *pair_at(const GstVideoInfo *info, int shift, guint32 seed, GstClockTime pts) {
  GstBuffer *pair = test_pair_new(info, FALSE, FALSE, shift, seed);
  GST_BUFFER_PTS(pair) = pts;
  GST_BUFFER_DURATION(pair) = FRAME;
  return pair;
}

static GstBuffer *payload_of(GstBuffer *buffer) {
  RvMetaDisparity meta;
  fail_unless(rv_meta_get_disparity(buffer, &meta));
  return meta.payload;
}

/* A copy, as videorate makes it, is not matched again; its pixels are its own. */
GST_START_TEST(test_gap) {
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu disparities=32");
  GstCaps *caps = test_caps("GRAY8", 128, 32, NULL);
  GstVideoInfo in, out;
  test_info(&in, caps);
  gst_harness_set_sink_caps_str(harness, "video/x-raw,format=GRAY8");
  gst_harness_set_src_caps(harness, caps);
  GstBuffer *one = gst_harness_push_and_pull(harness, pair_at(&in, 5, 1, 0));
  GstBuffer *other = pair_at(&in, 9, 2, FRAME); /* would match elsewhere */
  GST_BUFFER_FLAG_SET(other, GST_BUFFER_FLAG_GAP);
  GstBuffer *kept = gst_buffer_ref(other);
  GstBuffer *two = gst_harness_push_and_pull(harness, other);
  fail_unless(payload_of(two) == payload_of(one));
  fail_unless(GST_BUFFER_FLAG_IS_SET(two, GST_BUFFER_FLAG_GAP));
  fail_unless(GST_BUFFER_PTS(two) == FRAME);
  GstCaps *out_caps = gst_pad_get_current_caps(harness->sinkpad);
  test_info(&out, out_caps);
  guint8 *left = test_gray(kept, &in, 0, 0, 64, 32), *view = test_gray(two, &out, 0, 0, 64, 32);
  fail_unless(memcmp(left, view, 64 * 32) == 0);
  GstBuffer *three = gst_harness_push_and_pull(harness, pair_at(&in, 9, 2, 2 * FRAME));
  fail_unless(payload_of(three) != payload_of(one));
  fail_unless_equals_uint64(counter(harness, "cudasgm", "repeated"), 1);
  fail_unless_equals_uint64(counter(harness, "cudasgm", "frames"), 3);
  g_free(left);
  g_free(view);
  gst_caps_unref(out_caps);
  gst_buffer_unref(kept);
  gst_buffer_unref(one);
  gst_buffer_unref(two);
  gst_buffer_unref(three);
  gst_harness_teardown(harness);
}
GST_END_TEST

static GBytes *bytes_of(GstBuffer *buffer) {
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  GBytes *bytes = g_bytes_new(map.data, map.size);
  gst_buffer_unmap(buffer, &map);
  return bytes;
}

/* The frame itself is the result: a repeated one has the same map. */
GST_START_TEST(test_gap_map) {
  TestElement test =
      test_start("cudasgm engine=cpu disparities=32 output=depth focal-length=700 baseline=0.5",
                 "GRAY8", 128, 32, NULL);
  GstBuffer *one = gst_harness_push_and_pull(test.harness, pair_at(&test.info, 5, 1, 0));
  GstBuffer *other = pair_at(&test.info, 9, 2, FRAME);
  GST_BUFFER_FLAG_SET(other, GST_BUFFER_FLAG_GAP);
  GstBuffer *two = gst_harness_push_and_pull(test.harness, other);
  GBytes *a = bytes_of(one), *b = bytes_of(two);
  fail_unless(g_bytes_equal(a, b));
  g_bytes_unref(a);
  g_bytes_unref(b);
  gst_buffer_unref(one);
  gst_buffer_unref(two);
  test_end(&test);
}
GST_END_TEST

/* Nothing is repeated across a flush, new settings, or from the start. */
GST_START_TEST(test_gap_after_change) {
  TestElement test = test_start("cudasgm engine=cpu disparities=32", "GRAY8", 128, 32, NULL);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *pair = pair_at(&test.info, 5, i, i * FRAME);
    GST_BUFFER_FLAG_SET(pair, GST_BUFFER_FLAG_GAP);
    gst_buffer_unref(gst_harness_push_and_pull(test.harness, pair));
    if (i == 1) {
      gst_harness_push_event(test.harness, gst_event_new_flush_start());
      gst_harness_push_event(test.harness, gst_event_new_flush_stop(TRUE));
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      gst_harness_push_event(test.harness, gst_event_new_segment(&segment));
    } else if (i == 2) {
      gst_harness_set(test.harness, "cudasgm", "median", 0, NULL);
    }
  }
  fail_unless_equals_uint64(counter(test.harness, "cudasgm", "repeated"), 1); /* the second frame */
  test_end(&test);
}
GST_END_TEST

/* A GAP event that became an empty buffer passes every element as it is. */
GST_START_TEST(test_empty_gap) {
  static const char *const lines[] = {"cudasgm engine=cpu",      "cudaannotate engine=cpu",
                                      "cudastixels engine=cpu",  "cudardp engine=cpu",
                                      "cudahough engine=cpu",    "cudaroaddetect engine=cpu",
                                      "cudaobstacles engine=cpu"};
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    TestElement test = test_start(lines[i], "NV12", 128, 32, NULL);
    GstBuffer *empty = gst_buffer_new();
    GST_BUFFER_PTS(empty) = FRAME;
    GST_BUFFER_FLAG_SET(empty, GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DROPPABLE);
    GstBuffer *out = gst_harness_push_and_pull(test.harness, empty);
    fail_unless(out != NULL, "%s", lines[i]);
    fail_unless(gst_buffer_get_size(out) == 0 && GST_BUFFER_PTS(out) == FRAME, "%s", lines[i]);
    fail_unless(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_GAP), "%s", lines[i]);
    fail_unless(test_message(test.bus, GST_MESSAGE_ERROR) == NULL, "%s", lines[i]);
    gst_buffer_unref(out);
    test_end(&test);
  }
}
GST_END_TEST

/* --- Interruptions --------------------------------------------------------------------------- */

/* A road that rises to the horizon, as a GRAY16_LE disparity map. */
static GstBuffer *road_at(const GstVideoInfo *info, GstClockTime pts) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
  for (int y = 0; y < GST_VIDEO_INFO_HEIGHT(info); y++)
    for (int x = 0; x < GST_VIDEO_INFO_WIDTH(info); x++)
      ((guint16 *)((char *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                   y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)))[x] =
          (guint16)(y > 60 ? (y - 60) * 6 : 0);
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) = pts;
  return buffer;
}

/* Frames with an estimated ground that the stixels of this frame have behind them. */
static int ground_frames(GstHarness *harness, GstBuffer *buffer) {
  GstBuffer *out = gst_harness_push_and_pull(harness, buffer);
  RvMetaStixels meta;
  fail_unless(out && rv_meta_get_stixels(out, &meta));
  gst_buffer_unref(out);
  return meta.ground_frames;
}

GST_START_TEST(test_interruptions) {
  TestElement test = test_start("cudastixels engine=cpu", "GRAY16_LE", 160, 160, NULL);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, 0)), 1);
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, FRAME)), 2);
  /* What a leaky queue leaves is no interruption. */
  GstBuffer *buffer = road_at(&test.info, 10 * FRAME);
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int(ground_frames(test.harness, buffer), 3);
  /* A jump of the time is one, forwards and backwards. */
  buffer = road_at(&test.info, 100 * FRAME);
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int(ground_frames(test.harness, buffer), 1);
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, 101 * FRAME)), 2);
  buffer = road_at(&test.info, 50 * FRAME);
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int(ground_frames(test.harness, buffer), 1);
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, 51 * FRAME)), 2);
  /* So is a flush, and a new stream. */
  gst_harness_push_event(test.harness, gst_event_new_flush_start());
  gst_harness_push_event(test.harness, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(test.harness, gst_event_new_segment(&segment));
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, 52 * FRAME)), 1);
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, 53 * FRAME)), 2);
  gst_harness_push_event(test.harness, gst_event_new_stream_start("next"));
  gst_harness_set_src_caps(test.harness, test_caps("GRAY16_LE", 160, 160, NULL));
  fail_unless_equals_int(ground_frames(test.harness, road_at(&test.info, 54 * FRAME)), 1);
  test_end(&test);
}
GST_END_TEST

/* --- Messages -------------------------------------------------------------------------------- */

static guint64 time_field(const GstStructure *fields, const char *name) {
  guint64 value = 0;
  fail_unless(gst_structure_get_uint64(fields, name, &value), "%s", name);
  return value;
}

GST_START_TEST(test_message_times) {
  TestElement test =
      test_start("cudasgm engine=cpu disparities=32 post-messages=true stage-times=true", "GRAY8",
                 256, 64, NULL);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * GST_SECOND;
  segment.time = 70 * GST_SECOND;
  segment.base = 2 * GST_SECOND;
  gst_harness_push_event(test.harness, gst_event_new_segment(&segment));
  gst_buffer_unref(
      gst_harness_push_and_pull(test.harness, pair_at(&test.info, 5, 1, 6 * GST_SECOND)));
  GstMessage *message = gst_bus_pop_filtered(test.bus, GST_MESSAGE_ELEMENT);
  const GstStructure *fields = gst_message_get_structure(message);
  fail_unless_equals_uint64(time_field(fields, "timestamp"), 6 * GST_SECOND);
  fail_unless_equals_uint64(time_field(fields, "running-time"), 3 * GST_SECOND);
  fail_unless_equals_uint64(time_field(fields, "stream-time"), 71 * GST_SECOND);
  fail_unless_equals_uint64(time_field(fields, "duration"), FRAME);
  double share = -1;
  fail_unless(gst_structure_get_double(fields, "valid-share", &share));
  fail_unless(share > 0.7 && share <= 1, "%g", share); /* the left border has no match */
  static const char *const stages[] = {"match-us", "filter-us", "refine-us"};
  double total = 0, time = 0;
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++) {
    double us = -1;
    fail_unless(gst_structure_get_double(fields, stages[i], &us), "%s", stages[i]);
    fail_unless(us >= 0, "%s: %g", stages[i], us);
    total += us;
  }
  fail_unless(gst_structure_get_double(fields, "time-us", &time));
  fail_unless(total > 0 && total <= time + 1, "%g of %g us", total, time); /* time-us is whole */
  gst_message_unref(message);
  /* Views that do not match: hardly anything is valid. */
  GstBuffer *pair = pair_at(&test.info, 5, 1, 7 * GST_SECOND);
  test_randomize(pair, 1);
  gst_buffer_unref(gst_harness_push_and_pull(test.harness, pair));
  message = gst_bus_pop_filtered(test.bus, GST_MESSAGE_ELEMENT);
  fail_unless(gst_structure_get_double(gst_message_get_structure(message), "valid-share", &share));
  fail_unless(share < 0.3, "%g", share);
  gst_message_unref(message);
  test_end(&test);
}
GST_END_TEST

/* --- Caps ------------------------------------------------------------------------------------ */

GST_START_TEST(test_interlaced) {
  static const char *const lines[] = {"cudasgm engine=cpu", "cudaannotate engine=cpu"};
  for (guint i = 0; i < 2 * G_N_ELEMENTS(lines); i++) {
    GstHarness *harness = gst_harness_new_parse(lines[i / 2]);
    GstBus *bus = test_bus(harness);
    const gboolean mixed = i % 2;
    GstCaps *caps =
        test_caps("NV12", 128, 32, mixed ? "interlace-mode=mixed" : "interlace-mode=interleaved");
    GstVideoInfo info;
    test_info(&info, caps);
    gst_harness_set_src_caps(harness, caps);
    if (mixed) { /* progressive frames are fine */
      fail_unless(test_message(bus, GST_MESSAGE_ERROR) == NULL, "%s", lines[i / 2]);
      gst_buffer_unref(gst_harness_push_and_pull(harness, pair_at(&info, 5, 1, 0)));
      GstBuffer *buffer = pair_at(&info, 5, 1, FRAME);
      GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
      fail_unless(gst_harness_push(harness, buffer) == GST_FLOW_ERROR);
    }
    char *error = test_message(bus, GST_MESSAGE_ERROR);
    fail_unless(error && strstr(error, "Interlaced") && strstr(error, "deinterlace"), "%s: %s",
                lines[i / 2], error);
    g_free(error);
    test_close(harness, bus);
  }
}
GST_END_TEST

static void on_log(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                   const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                   gpointer user) {
  const char *text = gst_debug_message_get(message);
  gint *found = user;
  if (strcmp(gst_debug_category_get_name(category), "cudasgm") == 0 && strstr(text, "received") &&
      strstr(text, "width=(int)128"))
    g_atomic_int_inc(found);
}

/* GST_DEBUG=cudasgm:5 shows the caps that are received. */
GST_START_TEST(test_debug) {
  gint found = 0;
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu");
  gst_debug_set_threshold_for_name("cudasgm", GST_LEVEL_DEBUG);
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(on_log, &found, NULL);
  gst_harness_set_src_caps(harness, test_caps("NV12", 128, 32, NULL));
  gst_debug_remove_log_function(on_log);
  gst_debug_unset_threshold_for_name("cudasgm");
  fail_unless(g_atomic_int_get(&found) > 0);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* --- A live source --------------------------------------------------------------------------- */

typedef struct Source {
  guint buffers, disconts;
  guint64 lost, next; /* frames, by their offsets */
  gint64 delay;       /* time stamp of frame 0, ns */
} Source;

static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  Source *source = user;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const guint64 offset = GST_BUFFER_OFFSET(buffer);
  fail_unless(offset >= source->next);
  const GstClockTime time = offset * GST_SECOND / 100;
  if (source->buffers == 0)
    source->delay = GST_CLOCK_DIFF(time, GST_BUFFER_PTS(buffer));
  fail_unless(GST_CLOCK_DIFF(time, GST_BUFFER_PTS(buffer)) == source->delay);
  if (source->buffers > 0 && offset > source->next)
    fail_unless(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT));
  source->disconts += GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) != 0;
  source->lost += offset - source->next;
  source->next = offset + 1;
  source->buffers++;
  return GST_PAD_PROBE_OK;
}

/* 12 frames at 100 frames/s, each of which the pipeline needs 30 ms for. */
static guint64 run_source(const char *properties, Source *source) {
  char *line = g_strdup_printf(
      "stereotestsrc name=s pattern=noise truth=false num-buffers=12 %s ! "
      "video/x-raw,format=GRAY8,width=64,height=16,framerate=100/1 ! identity sleep-time=30000 ! "
      "fakesink sync=false",
      properties);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  GstElement *s = gst_bin_get_by_name(GST_BIN(pipeline), "s");
  GstPad *pad = gst_element_get_static_pad(s, "src");
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, source, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  guint64 dropped = 0;
  for (gboolean ended = FALSE; !ended;) {
    GstMessage *message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_QOS);
    fail_unless(message && GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR, "%s", line);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (!ended)
      gst_message_parse_qos_stats(message, NULL, NULL, &dropped);
    gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pad);
  gst_object_unref(s);
  gst_object_unref(pipeline);
  g_free(line);
  return dropped;
}

/* Frames that a live source is too late for are lost, and this is visible; others never. */
GST_START_TEST(test_source) {
  Source live = {0}, file = {0};
  const guint64 dropped = run_source("is-live=true", &live);
  fail_unless(live.buffers == 12 && live.lost >= 15, "%" G_GUINT64_FORMAT " lost", live.lost);
  fail_unless_equals_uint64(dropped, live.lost);
  fail_unless_equals_uint64(run_source("", &file), 0);
  fail_unless(file.buffers == 12 && file.lost == 0 && file.disconts == 1);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_gap) TEST(test_gap_map) TEST(test_gap_after_change) TEST(test_empty_gap) \
  TEST(test_interruptions) TEST(test_message_times) TEST(test_interlaced) TEST(test_debug) \
  TEST(test_source)
/* clang-format on */

ELEMENT_TESTS(live, TESTS)
