/* SPDX-License-Identifier: MIT */
/* cudastereomux.c: packing, annotations and life cycle of cudastereomux, frame by frame; caps are in
 * cudastereomux_caps.c, pairs over time in cudastereomux_live.c. */
#include "mux_test.h"

#include <string.h>

/* --- Packing --------------------------------------------------------------------------------- */

/* Component samples of a view are those at (x, y) of the packed frame. */
static void check_view(GstBuffer *view_buffer, const GstVideoInfo *view_info, GstBuffer *packed,
                       const GstVideoInfo *packed_info, int x0, int y0, const char *what) {
  GstVideoFrame view, all;
  fail_unless(gst_video_frame_map(&view, view_info, view_buffer, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&all, packed_info, packed, GST_MAP_READ));
  const GstVideoFormatInfo *format = view_info->finfo;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++) {
    const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&view, c);
    const int x1 = x0 >> GST_VIDEO_FORMAT_INFO_W_SUB(format, c);
    const int y1 = y0 >> GST_VIDEO_FORMAT_INFO_H_SUB(format, c);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&view, c); y++) {
      const guint8 *a = (const guint8 *)GST_VIDEO_FRAME_COMP_DATA(&view, c) +
                        y * GST_VIDEO_FRAME_COMP_STRIDE(&view, c);
      const guint8 *b = (const guint8 *)GST_VIDEO_FRAME_COMP_DATA(&all, c) +
                        (y1 + y) * GST_VIDEO_FRAME_COMP_STRIDE(&all, c) + x1 * step;
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&view, c); x++)
        fail_unless(a[x * step] == b[x * step], "%s: component %u at %d, %d", what, c, x, y);
    }
  }
  gst_video_frame_unmap(&view);
  gst_video_frame_unmap(&all);
}

static void check_packing(const char *format, int width, int height, gboolean below) {
  Mux mux = mux_new(below ? "layout=top-bottom" : "");
  char *what = g_strdup_printf("%s %dx%d %d", format, width, height, below);
  GstCaps *caps = test_caps(format, width, height, NULL);
  GstVideoInfo view, packed;
  test_info(&view, caps);
  mux_caps(&mux, format, width, height, NULL);
  GstBuffer *left = mux_noise(&view, 1, 0), *right = mux_noise(&view, 2, 0);
  gst_harness_push(mux.left, gst_buffer_ref(left));
  gst_harness_push(mux.right, gst_buffer_ref(right));
  GstBuffer *out = gst_harness_pull(mux.left);
  fail_unless(out != NULL, "%s", what);
  GstCaps *out_caps = gst_pad_get_current_caps(mux.left->sinkpad);
  test_info(&packed, out_caps);
  fail_unless(packed.width == (below ? 1 : 2) * width && packed.height == (below ? 2 : 1) * height);
  fail_unless(
      GST_VIDEO_INFO_MULTIVIEW_MODE(&packed) ==
      (below ? GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM : GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE));
  fail_unless(GST_VIDEO_INFO_FPS_N(&packed) == 30 && GST_VIDEO_INFO_FPS_D(&packed) == 1);
  check_view(left, &view, out, &packed, 0, 0, what);
  check_view(right, &view, out, &packed, below ? 0 : width, below ? height : 0, what);
  gst_caps_unref(out_caps);
  gst_buffer_unref(out);
  gst_buffer_unref(left);
  gst_buffer_unref(right);
  gst_caps_unref(caps);
  g_free(what);
  mux_free(&mux);
}

GST_START_TEST(test_packing) {
  static const char *const formats[] = {TEST_FORMATS, "GRAY16_LE"};
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    check_packing(formats[i], 34, 14, FALSE);
    check_packing(formats[i], 34, 14, TRUE);
  }
  check_packing("BGRx", 33, 15, FALSE);
  check_packing("GRAY8", 1, 1, FALSE);
  check_packing("I420", 34, 15, FALSE); /* odd sides that no chroma sample crosses */
  check_packing("NV12", 33, 14, TRUE);
  check_packing("YUY2", 33, 15, TRUE);
}
GST_END_TEST

/* The last frame of two rendered views, each going through `upload` to the mux, then `download`. */
static GstSample *packed_views(const char *upload, const char *download, char **memory) {
  char *line = g_strdup_printf(
      "cudastereomux name=m %s ! fakesink name=out sync=false stereotestsrc seed=1 num-buffers=3 ! "
      "video/x-raw,format=NV12,width=320,height=120 %s ! m.left stereotestsrc seed=2 num-buffers=3 "
      "! video/x-raw,format=NV12,width=320,height=120 %s ! m.right",
      download, upload, upload);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  GstElement *mux = gst_bin_get_by_name(GST_BIN(pipeline), "m");
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "%s", line);
  GstSample *sample = NULL;
  GstStructure *stats = NULL;
  g_object_get(sink, "last-sample", &sample, NULL);
  g_object_get(mux, "stats", &stats, NULL);
  *memory = g_strdup(gst_structure_get_string(stats, "memory"));
  gst_structure_free(stats);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(sink);
  gst_object_unref(mux);
  gst_object_unref(pipeline);
  g_free(line);
  return sample;
}

/* Frames in CUDA memory stay there, and give the same bytes. */
GST_START_TEST(test_cuda) {
  GstElementFactory *upload = gst_element_factory_find("cudaupload");
  if (rv_cuda_devices(NULL, 0) == 0 || !upload)
    return;
  gst_object_unref(upload);
  char *memory[2] = {NULL, NULL};
  GstSample *host = packed_views("", "", &memory[0]);
  GstSample *device = packed_views("! cudaupload", "! cudadownload", &memory[1]);
  fail_unless_equals_string(memory[0], "system");
  fail_unless_equals_string(memory[1], "cuda");
  GstVideoInfo info;
  test_info(&info, gst_sample_get_caps(host));
  check_view(gst_sample_get_buffer(host), &info, gst_sample_get_buffer(device), &info, 0, 0,
             "cuda");
  gst_sample_unref(host);
  gst_sample_unref(device);
  g_free(memory[0]);
  g_free(memory[1]);
}
GST_END_TEST

/* --- Annotations and times ------------------------------------------------------------------- */

GST_START_TEST(test_annotations) {
  Mux mux = mux_open("post-messages=true", "NV12", 32, 16);
  GstBuffer *left = mux_frame(mux.caps, 1, 5 * FRAME),
            *right = mux_frame(mux.caps, 2, 5 * FRAME + 3000000);
  const RvCamera camera = {700, 31, 15, 1, 0.5, 1.2, 3};
  rv_meta_add_camera(left, 32, 16, &camera);
  gst_buffer_add_video_region_of_interest_meta(left, "car", 3, 4, 5, 6);
  gst_buffer_add_video_region_of_interest_meta(right, "bus", 1, 1, 1, 1);
  GstCaps *clock = gst_caps_new_empty_simple("timestamp/x-ntp");
  gst_buffer_add_reference_timestamp_meta(left, clock, 77, GST_CLOCK_TIME_NONE);
  GST_BUFFER_FLAG_SET(left, GST_BUFFER_FLAG_CORRUPTED);
  gst_harness_push(mux.left, left);
  gst_harness_push(mux.right, right);
  GstBuffer *out = gst_harness_pull(mux.left);
  fail_unless(GST_BUFFER_PTS(out) == 5 * FRAME && GST_BUFFER_DURATION(out) == FRAME);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_DISCONT));
  fail_unless(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_CORRUPTED));
  RvMetaPair pair;
  fail_unless(rv_meta_get_pair(out, &pair));
  fail_unless(pair.width == 32 && pair.height == 16 && pair.skew == 3000000);
  fail_unless(pair.left_time == 5 * FRAME && pair.right_time == 5 * FRAME + 3000000);
  RvCamera got;
  int w = 0, h = 0;
  fail_unless(rv_meta_get_camera(out, &got, &w, &h) && got.focal == 700 && w == 32 && h == 16);
  gpointer state = NULL;
  guint regions = 0;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered(out, &state,
                                                  GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *roi = (const GstVideoRegionOfInterestMeta *)meta;
    fail_unless(roi->x == 3 && roi->y == 4 && roi->w == 5 && roi->h == 6);
    regions++;
  }
  fail_unless_equals_int(regions, 1);
  GstReferenceTimestampMeta *reference = gst_buffer_get_reference_timestamp_meta(out, clock);
  fail_unless(reference && reference->timestamp == 77);
  GstMessage *message = gst_bus_pop_filtered(mux.bus, GST_MESSAGE_ELEMENT);
  gint64 skew = 0;
  fail_unless(message &&
              gst_structure_get_int64(gst_message_get_structure(message), "skew", &skew) &&
              skew == 3000000);
  gst_message_unref(message);
  gst_caps_unref(clock);
  gst_buffer_unref(out);
  mux_free(&mux);
}
GST_END_TEST

/* cudasgm takes the pair as it is, and keeps the skew. */
GST_START_TEST(test_cudasgm) {
  GstElement *pipeline = gst_parse_launch(
      "cudastereomux name=m ! cudasgm engine=cpu disparities=32 ! fakesink name=out "
      "videotestsrc pattern=snow num-buffers=2 ! video/x-raw,format=GRAY8,width=64,height=32 ! "
      "m.left videotestsrc pattern=snow num-buffers=2 timestamp-offset=1000 ! m.right",
      NULL);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  GstSample *sample = NULL;
  g_object_get(sink, "last-sample", &sample, NULL);
  GstBuffer *out = gst_sample_get_buffer(sample);
  RvMetaPair pair;
  RvMetaDisparity disparity;
  fail_unless(rv_meta_get_pair(out, &pair) && pair.skew == 1000);
  fail_unless(rv_meta_get_disparity(out, &disparity) && disparity.width == 64);
  gst_sample_unref(sample);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
}
GST_END_TEST

/* --- Time stamps ----------------------------------------------------------------------------- */

static void push_reference(GstHarness *harness, const GstCaps *caps, GstClockTime pts,
                           GstClockTime reference) {
  GstCaps *clock = gst_caps_new_empty_simple("timestamp/x-ntp");
  GstBuffer *buffer = mux_frame(caps, 1, pts);
  if (reference)
    gst_buffer_add_reference_timestamp_meta(buffer, clock, reference, GST_CLOCK_TIME_NONE);
  gst_harness_push(harness, buffer);
  gst_caps_unref(clock);
}

/* The cameras' own clocks say which frames belong together; time stamps of the jitter buffer do
 * not. */
GST_START_TEST(test_reference) {
  static const struct {
    const char *properties;
    gint64 skew;
  } cases[] = {{"", 1000},
               {"pair-by=reference", 1000},
               {"pair-by=running-time", 9000000},
               {"right-offset=-400", 600}};
  GstCaps *caps = test_caps("GRAY8", 16, 8, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Mux mux = mux_new(cases[i].properties);
    mux_caps(&mux, "GRAY8", 16, 8, NULL);
    push_reference(mux.left, caps, FRAME, 1000 * GST_SECOND);
    push_reference(mux.right, caps, FRAME + 9000000, 1000 * GST_SECOND + 1000);
    GstBuffer *out = gst_harness_pull(mux.left);
    RvMetaPair pair;
    fail_unless(rv_meta_get_pair(out, &pair));
    fail_unless(pair.skew == cases[i].skew, "%s: %" G_GINT64_FORMAT, cases[i].properties,
                pair.skew);
    fail_unless(pair.right_time - pair.left_time == 9000000);
    gst_buffer_unref(out);
    mux_free(&mux);
  }
  gst_caps_unref(caps);
}
GST_END_TEST

GST_START_TEST(test_reference_missing) {
  Mux mux = mux_open("pair-by=reference", "GRAY8", 16, 8);
  push_reference(mux.left, mux.caps, 0, 0);
  push_reference(mux.right, mux.caps, 0, 0);
  push_reference(mux.right, mux.caps, FRAME, 500 * GST_SECOND);
  push_reference(mux.left, mux.caps, FRAME, 500 * GST_SECOND);
  GstBuffer *out = gst_harness_pull(mux.left);
  fail_unless(GST_BUFFER_PTS(out) == FRAME);
  char *warning = test_message(mux.bus, GST_MESSAGE_WARNING);
  fail_unless(warning && strstr(warning, "reference time stamp") &&
                  strstr(warning, "add-reference-timestamp-meta"),
              "%s", warning);
  test_expect_warning(mux.bus, NULL, NULL);
  g_free(warning);
  gst_buffer_unref(out);
  mux_free(&mux);
}
GST_END_TEST

GST_START_TEST(test_no_time_stamp) {
  Mux mux = mux_open("", "GRAY8", 16, 8);
  gst_harness_push(mux.left, mux_frame(mux.caps, 1, 0));
  gst_harness_push(mux.right, mux_frame(mux.caps, 1, GST_CLOCK_TIME_NONE));
  GstMessage *message = gst_bus_timed_pop_filtered(mux.bus, 5 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless(message != NULL);
  char *debug = NULL;
  GError *error = NULL;
  gst_message_parse_error(message, &error, &debug);
  fail_unless(strstr(error->message, "right") && strstr(debug, "do-timestamp"), "%s", debug);
  g_error_free(error);
  g_free(debug);
  gst_message_unref(message);
  mux_free(&mux);
}
GST_END_TEST

/* --- Life cycle ------------------------------------------------------------------------------ */

GST_START_TEST(test_flush) {
  Mux mux = mux_open("", "GRAY8", 16, 8);
  mux_push_pair(&mux, mux.caps, mux.caps, 100 * FRAME);
  gst_buffer_unref(gst_harness_pull(mux.left));
  gst_harness_push(mux.left, mux_frame(mux.caps, 1, 101 * FRAME)); /* waits for its partner */
  GstEvent *begin = gst_event_new_flush_start(), *end = gst_event_new_flush_stop(TRUE);
  gst_harness_push_event(mux.left, gst_event_ref(begin));
  gst_harness_push_event(mux.right, begin);
  gst_harness_push_event(mux.left, gst_event_ref(end));
  gst_harness_push_event(mux.right, end);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(mux.left, gst_event_new_segment(&segment));
  gst_harness_push_event(mux.right, gst_event_new_segment(&segment));
  /* Time may start again, and nothing from before is left. */
  mux_push_pair(&mux, mux.caps, mux.caps, FRAME);
  GstBuffer *out = gst_harness_pull(mux.left);
  fail_unless(GST_BUFFER_PTS(out) == FRAME);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_DISCONT));
  fail_unless_equals_uint64(mux_counter(&mux, "pairs"), 2);
  fail_unless_equals_uint64(mux_counter(&mux, "dropped-left"), 0);
  gst_buffer_unref(out);
  mux_free(&mux);
}
GST_END_TEST

/* Running time, not the time stamps, is compared and is the output's time. */
GST_START_TEST(test_segments) {
  Mux mux = mux_open("", "GRAY8", 16, 8);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 1000 * GST_SECOND;
  segment.base = 2 * GST_SECOND;
  gst_harness_push_event(mux.left, gst_event_new_segment(&segment));
  gst_harness_push(mux.left, mux_frame(mux.caps, 1, 999 * GST_SECOND)); /* outside */
  gst_harness_push(mux.right, mux_frame(mux.caps, 1, 2 * GST_SECOND + FRAME));
  gst_harness_push(mux.left, mux_frame(mux.caps, 1, 1000 * GST_SECOND + FRAME));
  GstBuffer *out = gst_harness_pull(mux.left);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), 2 * GST_SECOND + FRAME);
  fail_unless_equals_uint64(mux_counter(&mux, "invalid"), 1);
  gst_buffer_unref(out);
  mux_free(&mux);
}
GST_END_TEST

GST_START_TEST(test_restart) {
  GstCaps *caps = test_caps("NV12", 32, 16, NULL);
  GstElement *pipeline = gst_parse_launch(
      "cudastereomux name=m ! fakesink sync=false videotestsrc num-buffers=3 ! "
      "video/x-raw,format=NV12,width=32,height=16 ! m.left videotestsrc num-buffers=3 ! m.right",
      NULL);
  GstElement *m = gst_bin_get_by_name(GST_BIN(pipeline), "m");
  GstBus *bus = gst_element_get_bus(pipeline);
  for (int i = 0; i < 50; i++) {
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "run %d", i);
    gst_message_unref(message);
    GstStructure *stats = NULL;
    guint64 pairs = 0;
    g_object_get(m, "stats", &stats, NULL);
    fail_unless(gst_structure_get_uint64(stats, "pairs", &pairs) && pairs == 3);
    gst_structure_free(stats);
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
  gst_object_unref(bus);
  gst_object_unref(m);
  gst_object_unref(pipeline);
  gst_caps_unref(caps);
}
GST_END_TEST

/* Half a frame + 1 ms is reported, one frame more at most. */
GST_START_TEST(test_latency) {
  Mux mux = mux_new("");
  GstCaps *caps = test_caps("GRAY8", 16, 8, NULL);
  gst_harness_set_upstream_latency(mux.left, 0);
  mux_caps(&mux, "GRAY8", 16, 8, NULL);
  mux_push_pair(&mux, caps, caps, 0);
  gst_buffer_unref(gst_harness_pull(mux.left));
  fail_unless_equals_uint64(gst_harness_query_latency(mux.left), FRAME / 2 + GST_MSECOND);
  g_object_set(mux.element, "max-skew", 2 * GST_MSECOND, NULL);
  mux_push_pair(&mux, caps, caps, FRAME);
  gst_buffer_unref(gst_harness_pull(mux.left));
  fail_unless_equals_uint64(gst_harness_query_latency(mux.left), 2 * GST_MSECOND);
  g_object_set(mux.element, "max-skew", GST_SECOND, NULL); /* more than can be decided */
  mux_push_pair(&mux, caps, caps, 2 * FRAME);
  gst_buffer_unref(gst_harness_pull(mux.left));
  fail_unless_equals_uint64(gst_harness_query_latency(mux.left), FRAME / 2 + GST_MSECOND);
  gst_caps_unref(caps);
  mux_free(&mux);
}
GST_END_TEST

/* Input that has no meaning is ignored, or an error; never a critical warning. */
GST_START_TEST(test_odd_events) {
  Mux mux = mux_new("");
  gst_harness_push_event(mux.left, gst_event_new_stream_start("s"));
  gst_harness_push_event(mux.left, gst_event_new_gap(0, FRAME));
  GstCaps *caps = test_caps("GRAY8", 16, 8, NULL);
  mux_caps(&mux, "GRAY8", 16, 8, NULL);
  gst_harness_push_event(mux.left, gst_event_new_gap(0, FRAME));
  /* The gap takes the place of the left frame until the right pad has one too. */
  fail_unless(gst_harness_push(mux.right, mux_frame(caps, 2, FRAME)) == GST_FLOW_OK);
  fail_unless(gst_harness_push(mux.left, mux_frame(caps, 1, FRAME)) == GST_FLOW_OK);
  gst_buffer_unref(gst_harness_pull(mux.left));
  fail_unless_equals_uint64(mux_counter(&mux, "gaps"), 1);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  gst_harness_push_event(mux.right, gst_event_new_segment(&segment));
  gst_harness_push(mux.left, mux_frame(caps, 1, 2 * FRAME));
  gst_harness_push(mux.right, mux_frame(caps, 1, 2 * FRAME));
  GstMessage *message = gst_bus_timed_pop_filtered(mux.bus, 5 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless(message != NULL);
  gst_message_unref(message);
  gst_caps_unref(caps);
  mux_free(&mux);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_packing) TEST(test_cuda) TEST(test_annotations) TEST(test_cudasgm) \
  TEST(test_reference) TEST(test_reference_missing) TEST(test_no_time_stamp) TEST(test_flush) \
  TEST(test_segments) TEST(test_restart) TEST(test_latency) TEST(test_odd_events)
/* clang-format on */

ELEMENT_TESTS(cudastereomux, TESTS)
