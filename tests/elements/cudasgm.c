/* SPDX-License-Identifier: MIT */
/* cudasgm.c: what the element computes against the library called by hand; properties, statistics
 * and life cycle. */
#include "element_test.h"

#include <string.h>

#include "sgm/sgm.h"

enum { DISPARITIES = 64, SHIFT = 9 };

/* Disparity of a pair by the library alone, width x height values, to be freed. */
static guint16 *expected_disparity(GstBuffer *pair, const GstVideoInfo *info, int left_x,
                                   int left_y, int right_x, int right_y, int width, int height) {
  guint8 *left = test_gray(pair, info, left_x, left_y, width, height);
  guint8 *right = test_gray(pair, info, right_x, right_y, width, height);
  guint16 *disparity = g_new0(guint16, (gsize)width * (gsize)height);
  RvSgmConfig config;
  rv_sgm_config_init(&config);
  config.width = width;
  config.height = height;
  config.disparities = DISPARITIES;
  RvSgm *sgm = NULL;
  fail_unless(rv_sgm_new(&sgm, &config, RV_CPU) == RV_OK);
  const RvPlane l = {left, width, width, height, RV_U8}, r = {right, width, width, height, RV_U8};
  const RvPlane d = {disparity, 2 * width, width, height, RV_U16};
  fail_unless(rv_sgm_run(sgm, &l, &r, &d, NULL, NULL) == RV_OK);
  rv_sgm_free(&sgm);
  g_free(left);
  g_free(right);
  return disparity;
}

static void check_payload(GstBuffer *buffer, const guint16 *expected, int width, int height,
                          const char *what) {
  RvMetaDisparity meta;
  RvMetaMap map;
  fail_unless(rv_meta_get_disparity(buffer, &meta), "%s", what);
  fail_unless(meta.width == width && meta.height == height && meta.scale == 16, "%s", what);
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ), "%s", what);
  for (int y = 0; y < height; y++)
    fail_unless(memcmp((char *)map.plane.data + y * map.plane.stride, expected + y * width,
                       (gsize)width * 2) == 0,
                "%s: row %d differs", what, y);
  rv_meta_unmap(&map);
}

/* One pair through the element; the left view and the disparity must be correct. */
static void check_pair(const char *properties, const char *format, int view_w, int view_h,
                       gboolean top_bottom, gboolean right_first, const char *more) {
  char *line = g_strdup_printf("cudasgm engine=cpu disparities=%d %s", DISPARITIES, properties);
  char *what = g_strdup_printf("%s, %s %dx%d", line, format, view_w, view_h);
  GstHarness *harness = gst_harness_new_parse(line);
  const int w = top_bottom ? view_w : 2 * view_w, h = top_bottom ? 2 * view_h : view_h;
  GstCaps *caps = test_caps(format, w, h, more);
  GstVideoInfo in, out;
  test_info(&in, caps);
  gst_harness_set_src_caps(harness, caps);
  GstBuffer *pair = test_pair_new(&in, top_bottom, right_first, SHIFT, 7);
  GST_BUFFER_PTS(pair) = 12345;
  GstBuffer *kept = gst_buffer_ref(pair);
  GstBuffer *result = gst_harness_push_and_pull(harness, pair);
  fail_unless(result != NULL, "%s", what);
  fail_unless(GST_BUFFER_PTS(result) == 12345);
  GstCaps *out_caps = gst_pad_get_current_caps(harness->sinkpad);
  test_info(&out, out_caps);
  fail_unless(out.width == view_w && out.height == view_h, "%s: %dx%d", what, out.width,
              out.height);
  const int second_x = top_bottom ? 0 : view_w, second_y = top_bottom ? view_h : 0;
  const int lx = right_first ? second_x : 0, ly = right_first ? second_y : 0;
  const int rx = right_first ? 0 : second_x, ry = right_first ? 0 : second_y;
  guint8 *left = test_gray(kept, &in, lx, ly, view_w, view_h);
  guint8 *picture = test_gray(result, &out, 0, 0, view_w, view_h);
  fail_unless(memcmp(left, picture, (gsize)view_w * (gsize)view_h) == 0, "%s: picture", what);
  guint16 *expected = expected_disparity(kept, &in, lx, ly, rx, ry, view_w, view_h);
  check_payload(result, expected, view_w, view_h, what);
  /* The texture is random, so the middle must have found the shift. */
  fail_unless_equals_int(expected[(view_h / 2) * view_w + view_w / 2], SHIFT * 16);
  g_free(expected);
  g_free(left);
  g_free(picture);
  gst_caps_unref(out_caps);
  gst_buffer_unref(kept);
  gst_buffer_unref(result);
  gst_harness_teardown(harness);
  g_free(what);
  g_free(line);
}

/* Formats that carry the same gray values give the same disparity and the same left view, bit for
 * bit: all luma, all RGB, and gray of any depth. */
static guint8 *disparity_of(const char *format, const char *more, int bits, guint8 **left) {
  enum { VIEW_W = 62, VIEW_H = 30 };
  GstHarness *harness = test_harness("cudasgm engine=cpu disparities=32 %s", more);
  GstCaps *caps = test_caps(format, 2 * VIEW_W, VIEW_H, NULL);
  GstVideoInfo in, out;
  test_info(&in, caps);
  gst_harness_set_src_caps(harness, caps);
  GstBuffer *pair = test_pair_new(&in, FALSE, FALSE, SHIFT, 11);
  if (bits < 16) { /* values of a sensor: in the lowest bits */
    GstMapInfo map;
    fail_unless(gst_buffer_map(pair, &map, GST_MAP_READWRITE));
    for (gsize i = 0; i < map.size; i += 2)
      GST_WRITE_UINT16_LE(map.data + i, GST_READ_UINT16_LE(map.data + i) >> (16 - bits));
    gst_buffer_unmap(pair, &map);
  }
  GstBuffer *result = gst_harness_push_and_pull(harness, pair);
  GstCaps *out_caps = gst_pad_get_current_caps(harness->sinkpad);
  test_info(&out, out_caps);
  RvMetaDisparity meta;
  RvMetaMap map;
  fail_unless(rv_meta_get_disparity(result, &meta), "%s", format);
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  guint8 *disparity = g_malloc(2 * VIEW_W * VIEW_H);
  for (int y = 0; y < VIEW_H; y++)
    memcpy(disparity + 2 * VIEW_W * y, (char *)map.plane.data + y * map.plane.stride, 2 * VIEW_W);
  rv_meta_unmap(&map);
  *left = test_gray(result, &out, 0, 0, VIEW_W, VIEW_H);
  gst_caps_unref(out_caps);
  gst_buffer_unref(result);
  gst_harness_teardown(harness);
  return disparity;
}

GST_START_TEST(test_equal_formats) {
  static const struct {
    const char *format, *more;
    int bits;
    gboolean is_rgb;
  } cases[] = {{"NV12", "", 16, FALSE},
               {"I420", "", 16, FALSE},
               {"YV12", "", 16, FALSE},
               {"NV21", "", 16, FALSE},
               {"Y42B", "", 16, FALSE},
               {"YUY2", "", 16, FALSE},
               {"UYVY", "", 16, FALSE},
               {"P010_10LE", "", 16, FALSE},
               {"GRAY8", "", 16, FALSE},
               {"GRAY16_LE", "", 16, FALSE},
               {"GRAY16_LE", "bit-depth=12", 12, FALSE},
               {"GRAY16_LE", "bit-depth=10", 10, FALSE},
               {"GRAY16_LE", "bit-depth=14", 14, FALSE},
               {"RGB", "", 16, TRUE},
               {"BGR", "", 16, TRUE},
               {"RGBx", "", 16, TRUE},
               {"BGRA", "", 16, TRUE},
               {"ARGB", "", 16, TRUE},
               {"ABGR", "", 16, TRUE},
               {"xRGB", "", 16, TRUE},
               {"xBGR", "", 16, TRUE}};
  guint8 *first[2] = {NULL, NULL}, *first_left[2] = {NULL, NULL};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint8 *left;
    guint8 *disparity = disparity_of(cases[i].format, cases[i].more, cases[i].bits, &left);
    const int k = cases[i].is_rgb;
    if (!first[k]) {
      first[k] = disparity;
      first_left[k] = left;
      continue;
    }
    fail_unless(memcmp(disparity, first[k], 2 * 62 * 30) == 0, "%s %s", cases[i].format,
                cases[i].more);
    fail_unless(memcmp(left, first_left[k], 62 * 30) == 0, "%s %s", cases[i].format, cases[i].more);
    g_free(disparity);
    g_free(left);
  }
  for (int k = 0; k < 2; k++) {
    g_free(first[k]);
    g_free(first_left[k]);
  }
}
GST_END_TEST

/* A depth that is none is rejected by name; a disparity map is no pair for the elements behind. */
GST_START_TEST(test_bit_depth) {
  TestElement test =
      test_start("cudasgm engine=cpu disparities=32 bit-depth=11", "GRAY16_LE", 128, 32, NULL);
  test_expect_error(test.bus, "bit-depth is 11", NULL);
  test_end(&test);
  static const char *const outputs[][2] = {{"picture", "NV12"}, {"depth", "GRAY16_LE"}};
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    char *line = g_strdup_printf("cudasgm engine=cpu disparities=32 output=%s focal-length=100 "
                                 "baseline=0.1",
                                 outputs[i][0]);
    test.harness = gst_harness_new_parse(line);
    gst_harness_set_src_caps(test.harness, test_caps("GRAY16_LE", 128, 32, NULL));
    GstCaps *caps = gst_pad_get_current_caps(test.harness->sinkpad);
    fail_unless_equals_string(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"),
                              outputs[i][1]);
    gst_caps_unref(caps);
    gst_harness_teardown(test.harness);
    g_free(line);
  }
}
GST_END_TEST

GST_START_TEST(test_formats) {
  static const char *const formats[] = {TEST_FORMATS};
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    check_pair("", formats[i], 64, 32, FALSE, FALSE, NULL);
    check_pair("", formats[i], 61, 31, FALSE, FALSE, NULL);
  }
}
GST_END_TEST

GST_START_TEST(test_layouts) {
  check_pair("", "I420", 61, 61, TRUE, FALSE, NULL);
  check_pair("layout=side-by-side", "BGRx", 40, 33, FALSE, FALSE, NULL);
  check_pair("layout=top-bottom", "NV12", 80, 33, TRUE, FALSE, NULL);
  check_pair("layout=side-by-side-right-first", "YUY2", 61, 31, FALSE, TRUE, NULL);
  check_pair("layout=top-bottom-right-first", "GRAY8", 61, 31, TRUE, TRUE, NULL);
  /* What the caps say comes before the shape, and mono says nothing. */
  check_pair("", "GRAY8", 80, 33, TRUE, FALSE, "multiview-mode=top-bottom");
  check_pair("", "GRAY8", 40, 33, FALSE, FALSE, "multiview-mode=side-by-side");
  check_pair("", "GRAY8", 80, 33, FALSE, FALSE, "multiview-mode=mono");
  check_pair("", "GRAY8", 61, 31, FALSE, TRUE,
             "multiview-mode=side-by-side, "
             "multiview-flags=(GstVideoMultiviewFlagsSet)00000001:ffffffff");
}
GST_END_TEST

GST_START_TEST(test_output_disparity) {
  static const struct {
    const char *properties;
    int scale;
  } cases[] = {{"", 16}, {"disparity-scale=256", 256}, {"disparity-scale=1", 1}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    char *line = g_strdup_printf("cudasgm engine=cpu disparities=64 output=disparity %s",
                                 cases[i].properties);
    GstHarness *harness = gst_harness_new_parse(line);
    GstCaps *caps = test_caps("BGRx", 122, 31, NULL);
    GstVideoInfo in, out;
    test_info(&in, caps);
    gst_harness_set_src_caps(harness, caps);
    GstBuffer *pair = test_pair_new(&in, FALSE, FALSE, SHIFT, 3);
    guint16 *expected = expected_disparity(pair, &in, 0, 0, 61, 0, 61, 31);
    GstBuffer *result = gst_harness_push_and_pull(harness, pair);
    GstCaps *out_caps = gst_pad_get_current_caps(harness->sinkpad);
    test_info(&out, out_caps);
    fail_unless_equals_string(GST_VIDEO_INFO_NAME(&out), "GRAY16_LE");
    check_payload(result, expected, 61, 31, line);
    GstVideoFrame frame;
    fail_unless(gst_video_frame_map(&frame, &out, result, GST_MAP_READ));
    for (int k = 0; k < 61 * 31; k++) {
      const guint16 *row = (const guint16 *)((const char *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                                             (k / 61) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
      const int want = expected[k] ? MAX(1, (expected[k] * cases[i].scale + 8) / 16) : 0;
      fail_unless_equals_int(row[k % 61], want);
    }
    gst_video_frame_unmap(&frame);
    g_free(expected);
    gst_caps_unref(out_caps);
    gst_buffer_unref(result);
    gst_harness_teardown(harness);
    g_free(line);
  }
}
GST_END_TEST

GST_START_TEST(test_output_depth_and_camera) {
  GstHarness *harness = gst_harness_new_parse(
      "cudasgm engine=cpu disparities=64 output=depth focal-length=900 baseline=0.1");
  GstCaps *caps = test_caps("GRAY8", 128, 32, NULL);
  GstVideoInfo in, out;
  test_info(&in, caps);
  gst_harness_set_src_caps(harness, caps);
  GstBuffer *pair = test_pair_new(&in, FALSE, FALSE, SHIFT, 3);
  const RvCamera camera = {700, 31, 15, 1, 0.5, 1.2, 3};
  rv_meta_add_camera(pair, 64, 32, &camera);
  GstBuffer *result = gst_harness_push_and_pull(harness, pair);
  RvCamera got;
  int w = 0, h = 0;
  fail_unless(rv_meta_get_camera(result, &got, &w, &h) && w == 64 && h == 32);
  /* Properties override what they set, and nothing else. */
  fail_unless(got.focal == 900 && got.baseline == 0.1 && got.cx == 31 && got.cy == 15 &&
              got.doffs == 1 && got.height == 1.2 && got.pitch == 3);
  GstCaps *out_caps = gst_pad_get_current_caps(harness->sinkpad);
  test_info(&out, out_caps);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &out, result, GST_MAP_READ));
  const guint16 *row = (const guint16 *)((const char *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                                         16 * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
  fail_unless_equals_int(row[40], 9000); /* 900 px * 0.1 m / (9 + 1 px) */
  gst_video_frame_unmap(&frame);
  gst_caps_unref(out_caps);
  gst_buffer_unref(result);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* Ground truth and foreign annotations are passed through; the confidence is attached on request. */
GST_START_TEST(test_annotations) {
  TestElement test = test_start(
      "cudasgm engine=cpu disparities=64 confidence=true min-disparity=2 post-messages=true",
      "I420", 128, 32, NULL);
  GstBuffer *pair = test_pair_new(&test.info, FALSE, FALSE, SHIFT, 3);
  RvMetaTruth truth = {.width = 64, .height = 32, .disparity = rv_meta_raster_new(RV_U16, 64, 32)};
  rv_meta_add_truth(pair, &truth);
  GstBuffer *result = gst_harness_push_and_pull(test.harness, pair);
  RvMetaTruth got_truth;
  fail_unless(rv_meta_get_truth(result, &got_truth) && got_truth.disparity == truth.disparity);
  RvMetaDisparity meta;
  fail_unless(rv_meta_get_disparity(result, &meta) && meta.confidence);
  fail_unless(meta.min_disparity == 2 && meta.disparities == 64);
  fail_unless_equals_string(
      gst_structure_get_string(rv_meta_find(result, RV_META_DISPARITY), "view"), "left");
  GstMessage *message = gst_bus_pop_filtered(test.bus, GST_MESSAGE_ELEMENT);
  fail_unless(message != NULL);
  const GstStructure *fields = gst_message_get_structure(message);
  int value = 0;
  double time = -1;
  fail_unless_equals_string(gst_structure_get_name(fields), "cudasgm");
  fail_unless(gst_structure_get_int(fields, "disparities", &value) && value == 64);
  fail_unless(gst_structure_get_double(fields, "time-us", &time) && time >= 0);
  fail_if(gst_structure_has_field(fields, "payload"));
  gst_message_unref(message);
  GstStructure *stats = NULL;
  guint64 frames = 0;
  gst_harness_get(test.harness, "cudasgm", "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, "frames", &frames) && frames == 1);
  fail_unless_equals_string(gst_structure_get_string(stats, "engine"), "cpu");
  gst_structure_free(stats);
  /* The payload outlives the element. */
  test_end(&test);
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  fail_unless_equals_int(
      ((const guint16 *)((const char *)map.plane.data + 16 * map.plane.stride))[40], SHIFT * 16);
  rv_meta_unmap(&map);
  gst_buffer_unref(result);
}
GST_END_TEST

/* Every property while frames flow; rejected combinations leave the previous settings in use. */
GST_START_TEST(test_changes_while_playing) {
  static const char changes[] =
      "paths=4 paths=2 paths=8 cost=census cost=csct max-cost=20 p1-ground=4 "
      "subpixel-fit=parabola reject-sky=0 fill=dense p2=100 p1=5 adaptive-p2=1 median=5 "
      "median=0 uniqueness=0 subpixel=0 max-lr-diff=-1 confidence=1 disparities=96 threads=1 "
      "output=depth "
      "output=picture output=disparity layout=side-by-side output=picture min-disparity=1 "
      "speckle-size=0 "
      "speckle-range=2 baseline=0.3 focal-length=500 confidence=0";
  char **texts = g_strsplit(changes, " ", -1);
  TestElement test = test_start("cudasgm engine=cpu disparities=64 focal-length=700 baseline=0.5",
                                "GRAY8", 128, 32, NULL);
  GstElement *element = gst_harness_find_element(test.harness, "cudasgm");
  for (guint i = 0; texts[i]; i++) {
    char **pair = g_strsplit(texts[i], "=", 2);
    gst_util_set_object_arg(G_OBJECT(element), pair[0], pair[1]);
    g_strfreev(pair);
    GstBuffer *result =
        gst_harness_push_and_pull(test.harness, test_pair_new(&test.info, FALSE, FALSE, SHIFT, i));
    RvMetaDisparity meta;
    fail_unless(result && rv_meta_get_disparity(result, &meta), "%s", texts[i]);
    gst_buffer_unref(result);
  }
  g_strfreev(texts);
  test_expect_error(test.bus, NULL, NULL);
  test_expect_warning(test.bus, NULL, NULL);
  g_object_set(element, "paths", 3, NULL);
  GstBuffer *result =
      gst_harness_push_and_pull(test.harness, test_pair_new(&test.info, FALSE, FALSE, SHIFT, 1));
  fail_unless(result != NULL);
  gst_buffer_unref(result);
  test_expect_warning(test.bus, "paths", "previous settings");
  gst_object_unref(element);
  test_end(&test);
}
GST_END_TEST

GST_START_TEST(test_caps_change_flush_eos) {
  static const int sizes[][2] = {{128, 32}, {66, 33}, {130, 20}, {128, 32}};
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu disparities=64");
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstVideoInfo in;
    test_set_caps(harness, i % 2 ? "I420" : "BGRx", sizes[i][0], sizes[i][1], NULL, &in);
    GstBuffer *result =
        gst_harness_push_and_pull(harness, test_pair_new(&in, FALSE, FALSE, SHIFT, i));
    RvMetaDisparity meta;
    fail_unless(result && rv_meta_get_disparity(result, &meta));
    fail_unless(meta.width == sizes[i][0] / 2 && meta.height == sizes[i][1]);
    gst_buffer_unref(result);
    if (i == 1) {
      fail_unless(gst_harness_push_event(harness, gst_event_new_flush_start()));
      fail_unless(gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE)));
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      fail_unless(gst_harness_push_event(harness, gst_event_new_segment(&segment)));
    }
  }
  fail_unless(gst_harness_push_event(harness, gst_event_new_eos()));
  gst_harness_teardown(harness);
}
GST_END_TEST

GST_START_TEST(test_start_stop) {
  GstElement *pipeline = gst_parse_launch(
      "videotestsrc num-buffers=2 pattern=snow ! video/x-raw,format=I420,width=128,height=32 ! "
      "cudasgm engine=cpu disparities=32 ! tee name=t ! queue ! fakesink t. ! queue ! fakesink",
      NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  for (int i = 0; i < 50; i++) {
    fail_if(gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "round %d", i);
    gst_message_unref(message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_formats) TEST(test_equal_formats) TEST(test_bit_depth) TEST(test_layouts) TEST(test_output_disparity) \
  TEST(test_output_depth_and_camera) TEST(test_annotations) TEST(test_changes_while_playing) \
  TEST(test_caps_change_flush_eos) TEST(test_start_stop)
/* clang-format on */

ELEMENT_TESTS(cudasgm, TESTS)
