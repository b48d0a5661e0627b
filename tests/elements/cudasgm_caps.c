/* SPDX-License-Identifier: MIT */
/* cudasgm_caps.c: negotiation, and what the element says to input that it cannot take. */
#include "element_test.h"

#include <string.h>

static GstCaps *negotiated(const char *line, const char *caps) {
  GstHarness *harness = gst_harness_new_parse(line);
  gst_harness_set_src_caps_str(harness, caps);
  GstCaps *out = gst_pad_get_current_caps(harness->sinkpad);
  gst_harness_teardown(harness);
  return out;
}

static void check_negotiated(const char *line, const char *caps, const char *expected) {
  GstCaps *out = negotiated(line, caps);
  GstCaps *want = gst_caps_from_string(expected);
  char *text = out ? gst_caps_to_string(out) : g_strdup("nothing");
  fail_unless(out && gst_caps_is_equal(out, want), "%s, %s: %s", line, caps, text);
  g_free(text);
  gst_caps_unref(out);
  gst_caps_unref(want);
}

GST_START_TEST(test_caps_out) {
  check_negotiated("cudasgm",
                   "video/x-raw,format=NV12,width=640,height=240,framerate=30/1,"
                   "multiview-mode=side-by-side,views=2,colorimetry=bt709",
                   "video/x-raw,format=NV12,width=320,height=240,framerate=30/1,colorimetry=bt709");
  check_negotiated("cudasgm", "video/x-raw,format=GRAY8,width=640,height=240,framerate=30/1",
                   "video/x-raw,format=NV12,width=320,height=240,framerate=30/1");
  check_negotiated("cudasgm ! capsfilter caps=video/x-raw,format=GRAY8",
                   "video/x-raw,format=GRAY8,width=640,height=240,framerate=30/1",
                   "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1");
  check_negotiated("cudasgm ! capsfilter caps=video/x-raw,format={GRAY8,NV12}",
                   "video/x-raw,format=GRAY8,width=640,height=240,framerate=30/1",
                   "video/x-raw,format=NV12,width=320,height=240,framerate=30/1");
  check_negotiated("cudasgm ! videoconvert ! capsfilter caps=video/x-raw,format={RGB,GRAY8}",
                   "video/x-raw,format=GRAY8,width=640,height=240,framerate=30/1",
                   "video/x-raw,format=RGB,width=320,height=240,framerate=30/1");
  check_negotiated("cudasgm ! videoconvert ! capsfilter caps=video/x-raw,format={GRAY8,I420}",
                   "video/x-raw,format=GRAY16_LE,width=640,height=240,framerate=30/1",
                   "video/x-raw,format=I420,width=320,height=240,framerate=30/1");
  check_negotiated("cudasgm output=disparity",
                   "video/x-raw,format=I420,width=640,height=240,framerate=30/1,"
                   "colorimetry=bt601,chroma-site=jpeg",
                   "video/x-raw,format=GRAY16_LE,width=320,height=240,framerate=30/1");
  check_negotiated("cudasgm layout=top-bottom",
                   "video/x-raw,format=I420,width=640,height=240,framerate=30/1",
                   "video/x-raw,format=I420,width=640,height=120,framerate=30/1");
  /* GRAY16_LE is never what negotiation picks by itself. */
  GError *error = NULL;
  GstElement *line = gst_parse_launch("cudasgm ! video/x-raw,format=GRAY16_LE ! fakesink", &error);
  fail_unless(error != NULL);
  g_clear_error(&error);
  gst_clear_object(&line);
}
GST_END_TEST

/* Sizes downstream reach a source that can choose. */
GST_START_TEST(test_caps_in) {
  GstHarness *harness = gst_harness_new_parse("cudasgm layout=side-by-side");
  gst_harness_set_sink_caps_str(harness,
                                "video/x-raw,format={NV12,GRAY8},width=[100,200],height=77,"
                                "framerate=30/1");
  GstCaps *caps = gst_pad_peer_query_caps(harness->srcpad, NULL);
  GstCaps *fits =
      gst_caps_from_string("video/x-raw,format=NV12,width=200,height=77,framerate=30/1");
  GstCaps *gray =
      gst_caps_from_string("video/x-raw,format=GRAY8,width=400,height=77,framerate=30/1");
  GstCaps *wide =
      gst_caps_from_string("video/x-raw,format=NV12,width=402,height=77,framerate=30/1");
  fail_unless(gst_caps_can_intersect(caps, fits));
  fail_unless(gst_caps_can_intersect(caps, gray));
  fail_if(gst_caps_can_intersect(caps, wide));
  gst_caps_unref(caps);
  gst_caps_unref(fits);
  gst_caps_unref(gray);
  gst_caps_unref(wide);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* An element that could give either memory is told to give CUDA memory; one that cannot, is not. */
GST_START_TEST(test_cuda_preference) {
  GstHarness *harness = gst_harness_new("cudasgm");
  GstPad *pad = gst_element_get_static_pad(harness->element, "sink");
  GstCaps *both = gst_caps_from_string("video/x-raw,format=NV12; "
                                       "video/x-raw(memory:CUDAMemory),format=NV12");
  GstCaps *answer = gst_pad_query_caps(pad, both);
  GstCaps *template = gst_pad_get_pad_template_caps(pad);
  const gboolean can_cuda =
      strstr(gst_caps_features_to_string(gst_caps_get_features(template, 0)), "CUDAMemory") != NULL;
  fail_unless(!gst_caps_is_empty(answer));
  for (guint i = 0; i < gst_caps_get_size(answer); i++)
    fail_unless(gst_caps_features_contains(gst_caps_get_features(answer, i), "memory:CUDAMemory") ==
                can_cuda);
  gst_caps_unref(answer);
  gst_caps_unref(both);
  GstCaps *system = gst_caps_from_string("video/x-raw,format=NV12");
  answer = gst_pad_query_caps(pad, system);
  fail_unless(!gst_caps_is_empty(answer));
  gst_caps_unref(answer);
  gst_caps_unref(system);
  gst_caps_unref(template);
  gst_object_unref(pad);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* Each must end in an error that contains both texts, and a valid pair must work afterwards. */
GST_START_TEST(test_bad_input) {
  static const struct {
    const char *properties, *caps, *cause, *remedy;
  } cases[] = {
      {"", "format=I420,width=640,height=480", "is not detected", "layout="},
      {"", "format=I420,width=641,height=240", "641 is odd", "videocrop"},
      {"layout=top-bottom", "format=I420,width=640,height=241", "241 is odd", "videocrop"},
      {"",
       "format=I420,width=640,height=240,multiview-mode=side-by-side,"
       "multiview-flags=(GstVideoMultiviewFlagsSet)00004000:ffffffff",
       "half aspect", "full size"},
      {"", "format=I420,width=640,height=240,multiview-mode=row-interleaved", "row-interleaved",
       "layout"},
      {"disparities=100", "format=I420,width=640,height=240", "disparities", "gst-inspect"},
      {"paths=5", "format=I420,width=640,height=240", "paths", "gst-inspect"},
      {"p1=200 p2=100", "format=I420,width=640,height=240", "p1", "gst-inspect"},
      {"median=4", "format=I420,width=640,height=240", "median", "gst-inspect"},
      {"output=disparity disparity-scale=1024", "format=I420,width=640,height=240",
       "disparity-scale", "511"},
  };
  g_type_ensure(GST_TYPE_VIDEO_MULTIVIEW_FLAGSET); /* caps below name it */
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    char *line = g_strdup_printf("cudasgm engine=cpu %s", cases[i].properties);
    char *caps = g_strdup_printf("video/x-raw,framerate=30/1,%s", cases[i].caps);
    GstHarness *harness = gst_harness_new_parse(line);
    GstBus *bus = test_bus(harness);
    gst_harness_set_src_caps_str(harness, caps);
    char *error = test_message(bus, GST_MESSAGE_ERROR);
    fail_unless(error && strstr(error, cases[i].cause) && strstr(error, cases[i].remedy),
                "%s, %s: %s", line, caps, error);
    g_free(error);
    test_close(harness, bus);
    g_free(caps);
    g_free(line);
  }
}
GST_END_TEST

/* Other orders of 16-bit gray are rejected; GRAY16_LE is a pair of cameras. */
GST_START_TEST(test_gray16) {
  static const char *const formats[] = {"GRAY16_LE", "GRAY16_BE"};
  for (int i = 0; i < 2; i++) {
    GstHarness *harness = gst_harness_new_parse("cudasgm");
    GstCaps *caps = test_caps(formats[i], 64, 32, NULL);
    fail_unless(gst_pad_peer_query_accept_caps(harness->srcpad, caps) == (i == 0));
    gst_caps_unref(caps);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* A pair gives a frame. */
static void expect_result(TestElement *test) {
  GstBuffer *pair = test_pair_new(&test->info, FALSE, FALSE, 5, 1);
  GstBuffer *result = gst_harness_push_and_pull(test->harness, pair);
  fail_unless(result != NULL);
  gst_buffer_unref(result);
}

GST_START_TEST(test_truncated_buffers) {
  TestElement test = test_start("cudasgm engine=cpu disparities=32", "I420", 128, 32, NULL);
  fail_unless(gst_harness_push(test.harness, gst_buffer_new_allocate(NULL, 100, NULL)) ==
              GST_FLOW_ERROR);
  test_expect_error(test.bus, "100 bytes", NULL);
  fail_unless(gst_harness_push(test.harness, gst_buffer_new()) == GST_FLOW_ERROR);
  test_expect_error(test.bus, "0 bytes", NULL);
  /* The next good one works. */
  expect_result(&test);
  test_end(&test);
}
GST_END_TEST

GST_START_TEST(test_small_images) {
  static const int sizes[][2] = {{2, 1}, {4, 2}, {20, 9}, {32, 1}, {62, 16}};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    TestElement test =
        test_start("cudasgm engine=cpu disparities=512", "GRAY8", sizes[i][0], sizes[i][1], NULL);
    expect_result(&test);
    test_end(&test);
  }
}
GST_END_TEST

GST_START_TEST(test_depth_without_camera) {
  TestElement test =
      test_start("cudasgm engine=cpu disparities=32 output=depth", "I420", 128, 32, NULL);
  fail_unless(gst_harness_push(test.harness, test_pair_new(&test.info, FALSE, FALSE, 5, 1)) ==
              GST_FLOW_ERROR);
  test_expect_error(test.bus, "focal-length", NULL);
  test_end(&test);
}
GST_END_TEST

/* A low match rate is reported once, with its likely cause. */
GST_START_TEST(test_poor_match) {
  static const struct {
    int shift, rows;
    const char *cause, *remedy;
  } cases[] = {{5, 3, "3 rows too low", "Rectify the views upstream"},
               {5, -4, "4 rows too high", "cudarectify calibration="},
               {-12, 0, "swapped", "right-first"},
               {45, 0, "near 45 px", "min-disparity"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestElement test = test_start("cudasgm engine=cpu disparities=32", "GRAY8", 480, 64, NULL);
    for (int k = 0; k < 70; k++) {
      GstBuffer *pair =
          test_pair_new_rows(&test.info, FALSE, FALSE, cases[i].shift, cases[i].rows, (guint32)k);
      gst_buffer_unref(gst_harness_push_and_pull(test.harness, pair));
      char *early = k < 29 ? test_message(test.bus, GST_MESSAGE_WARNING) : NULL;
      fail_unless(early == NULL, "frame %d: %s", k, early);
    }
    test_expect_warning(test.bus, cases[i].cause, cases[i].remedy);
    test_expect_warning(test.bus, NULL, NULL);
    test_end(&test);
  }
}
GST_END_TEST

GST_START_TEST(test_no_device) {
  char reason[256] = "";
  if (rv_cuda_devices(reason, sizeof reason) > 0)
    return; /* tests/gpu-run.sh looks at what happens with one */
  GstElement *element = gst_element_factory_make("cudasgm", NULL);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  g_object_set(element, "engine", 2, NULL);
  fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
  test_expect_error(bus, reason, "engine=cpu");
  gst_element_set_state(element, GST_STATE_NULL);
  /* auto continues without. */
  g_object_set(element, "engine", 0, NULL);
  fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  GstStructure *stats = NULL;
  g_object_get(element, "stats", &stats, NULL);
  fail_unless_equals_string(gst_structure_get_string(stats, "engine"), "cpu");
  gst_structure_free(stats);
  test_element_free(element, bus);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_caps_out) TEST(test_caps_in) TEST(test_cuda_preference) TEST(test_bad_input) \
  TEST(test_gray16) TEST(test_truncated_buffers) TEST(test_small_images) \
  TEST(test_depth_without_camera) TEST(test_poor_match) TEST(test_no_device)
/* clang-format on */

ELEMENT_TESTS(cudasgm_caps, TESTS)
