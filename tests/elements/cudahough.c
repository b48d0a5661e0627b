/* SPDX-License-Identifier: MIT */
/* cudahough.c: the element against the library called by hand, on each engine there is; drawing of
 * lines; what it says when it cannot work. */
#include "element_test.h"
#include "hough/hough.h"

enum { W = 131, H = 75 };

static const char *const engines[] = {"cpu", "cuda"};

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

/* Bars at a slant that depends on `seed`, on noise. */
static GstBuffer *picture(const GstVideoInfo *info, int seed) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
  guint32 state = (guint32)seed * 2654435761u + 1;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    const int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
    const int rows = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p);
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < stride; x++) {
        state = state * 1664525u + 1013904223u;
        const int bar = (x + y * seed / 3) / 19 % 2;
        ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, p))[y * stride + x] =
            (guint8)(40 + 150 * bar + (int)(state >> 27));
      }
  }
  gst_video_frame_unmap(&frame);
  return buffer;
}

/* What the library makes of the buffer's gray must be attached to it. */
static int check_lines(GstBuffer *buffer, const GstVideoInfo *info, const RvHoughConfig *wanted,
                       gboolean accumulator) {
  RvHoughConfig config = *wanted;
  config.width = info->width;
  config.height = info->height;
  RvHough *hough = NULL;
  RvLine *lines = g_new(RvLine, config.max_lines);
  guint8 *gray = test_gray(buffer, info, 0, 0, info->width, info->height);
  int bins, angles, zero, first;
  rv_hough_size(&config, &bins, &angles, &zero, &first);
  guint32 count = 0, *votes = g_new(guint32, bins * angles);
  const RvPlane input = {gray, info->width, info->width, info->height, RV_U8};
  guint32 *hits = g_new(guint32, rv_hough_hit_words(&config) * config.max_lines);
  const RvHoughOutput out = {
      lines, &count, {0}, {votes, 4 * (ptrdiff_t)bins, bins, angles, RV_U32}, hits};
  fail_unless(rv_hough_new(&hough, &config, RV_CPU) == RV_OK);
  fail_unless(rv_hough_run(hough, &input, &out, NULL) == RV_OK);
  rv_hough_free(&hough);
  RvLine *thin = g_new(RvLine, config.max_lines);
  void *memory = g_malloc(rv_hough_thin_bytes(&config));
  count = (guint32)rv_hough_thin(&config, lines, (int)count, hits, memory, thin);
  g_free(memory);
  g_free(hits);

  RvMetaLines meta;
  RvMetaMap map;
  fail_unless(rv_meta_get_lines(buffer, &meta));
  fail_unless(meta.width == info->width && meta.height == info->height);
  fail_unless_equals_int(meta.count, count);
  fail_unless(meta.rho_step == config.rho_step && meta.segments == config.segments);
  fail_unless(fabs(meta.theta_step * config.theta_steps - G_PI) < 1e-12);
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  fail_unless_equals_int(map.info.size, count * sizeof(RvLine));
  fail_unless(memcmp(map.info.data, thin, count * sizeof(RvLine)) == 0);
  rv_meta_unmap(&map);
  fail_unless((meta.accumulator != NULL) == accumulator);
  if (accumulator) {
    fail_unless(meta.rho_zero == zero && meta.first_angle == first);
    fail_unless(rv_meta_map_buffer(&map, meta.accumulator, GST_MAP_READ));
    fail_unless(map.plane.width == bins && map.plane.height == angles);
    for (int y = 0; y < angles; y++)
      fail_unless(memcmp((char *)map.plane.data + y * map.plane.stride, votes + y * bins,
                         4 * (gsize)bins) == 0);
    rv_meta_unmap(&map);
  }
  g_free(thin);
  g_free(votes);
  g_free(gray);
  g_free(lines);
  return (int)count;
}

static GstHarness *harness_new(const char *rest, const char *engine, const char *format, int w,
                               int h, GstVideoInfo *info) {
  GstHarness *harness = test_harness("cudahough engine=%s %s", engine, rest);
  GstCaps *caps = test_caps(format, w, h, NULL);
  test_info(info, caps);
  gst_caps_unref(caps);
  gst_harness_set_caps(harness, test_caps(format, w, h, NULL), test_caps(format, w, h, NULL));
  return harness;
}

GST_START_TEST(test_formats) {
  static const char *const formats[] = {TEST_FORMATS};
  for (int e = 0; e < engine_count(); e++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      GstVideoInfo info;
      GstHarness *harness = harness_new("threshold=40", engines[e], formats[f], W, H, &info);
      RvHoughConfig config;
      rv_hough_config_init(&config);
      config.threshold = 40;
      for (int frame = 0; frame < 2; frame++) {
        GstBuffer *in = picture(&info, frame + 1), *copy = gst_buffer_copy_deep(in);
        GstBuffer *out = gst_harness_push_and_pull(harness, in);
        fail_unless(check_lines(out, &info, &config, FALSE) > 0);
        test_same_bytes(copy, out);
        gst_buffer_unref(copy);
        gst_buffer_unref(out);
      }
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* Every property, changed while playing. */
GST_START_TEST(test_properties) {
  RvHoughConfig wanted[4];
  for (int k = 0; k < 4; k++)
    rv_hough_config_init(&wanted[k]);
  wanted[0].edges = RV_HOUGH_SOBEL, wanted[0].edge_low = 200, wanted[0].weighted = 1;
  wanted[0].threshold = 9000, wanted[0].max_lines = 7;
  wanted[1].threshold = 30, wanted[1].segments = 1, wanted[1].min_length = 20;
  wanted[1].max_gap = 2, wanted[1].theta_steps = 360, wanted[1].rho_step = 2.0;
  wanted[2].direction = 12, wanted[2].threshold = 20, wanted[2].min_theta = 30.0;
  wanted[2].max_theta = 150.0, wanted[2].edge_high = 500;
  wanted[3].edges = RV_HOUGH_BINARY, wanted[3].threshold = 60, wanted[3].segments = 1;
  wanted[0].min_distance = 0, wanted[2].min_distance = 20, wanted[2].min_angle = 8;
  wanted[1].dashes = 0;
  for (int e = 0; e < engine_count(); e++) {
    GstVideoInfo info;
    GstHarness *harness = harness_new("", engines[e], "BGRx", W, H, &info);
    for (int k = 0; k < 8; k++) {
      const RvHoughConfig *c = &wanted[k % 4];
      gst_harness_set(harness, "cudahough", "edges", c->edges, "edge-low", c->edge_low, "edge-high",
                      c->edge_high, "weighted", c->weighted, "threshold", c->threshold, "max-lines",
                      c->max_lines, "segments", c->segments, "min-length", c->min_length, "max-gap",
                      c->max_gap, "theta-steps", c->theta_steps, "rho-step", c->rho_step,
                      "direction", c->direction, "min-theta", c->min_theta, "max-theta",
                      c->max_theta, "dashes", c->dashes, "min-distance", c->min_distance,
                      "min-angle", c->min_angle, "accumulator", k % 3 == 0, NULL);
      GstBuffer *out = gst_harness_push_and_pull(harness, picture(&info, k));
      check_lines(out, &info, c, k % 3 == 0);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* A rejected combination is warned of and the previous one stays; sizes change; one pixel works. */
GST_START_TEST(test_refused_and_sizes) {
  static const int sizes[][2] = {{1, 1}, {640, 3}, {2, 400}};
  GstVideoInfo info;
  GstHarness *harness = harness_new("threshold=40", "cpu", "GRAY8", W, H, &info);
  GstBus *bus = test_bus(harness);
  RvHoughConfig config;
  rv_hough_config_init(&config);
  config.threshold = 40;
  gst_buffer_unref(gst_harness_push_and_pull(harness, picture(&info, 1)));
  gst_harness_set(harness, "cudahough", "min-theta", 100.0, "max-theta", 20.0, NULL);
  GstBuffer *out = gst_harness_push_and_pull(harness, picture(&info, 2));
  test_expect_warning(bus, "max-theta", NULL);
  check_lines(out, &info, &config, FALSE);
  gst_buffer_unref(out);
  gst_harness_set(harness, "cudahough", "min-theta", 0.0, "max-theta", 180.0, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstCaps *caps = test_caps("GRAY8", sizes[i][0], sizes[i][1], NULL);
    test_info(&info, caps);
    gst_harness_set_caps(harness, gst_caps_copy(caps), caps);
    out = gst_harness_push_and_pull(harness, picture(&info, 3));
    check_lines(out, &info, &config, FALSE);
    gst_buffer_unref(out);
  }
  test_close(harness, bus);
}
GST_END_TEST

/* cudaannotate draws them, also on an image made larger since, and says nothing of a disparity. */
GST_START_TEST(test_drawing) {
  for (int e = 0; e < engine_count(); e++)
    for (int segments = 0; segments < 2; segments++) {
      GstVideoInfo info, large;
      char *line = g_strdup_printf("segments=%d threshold=40 ! videoscale ! "
                                   "video/x-raw,width=262,height=150 ! cudaannotate engine=%s",
                                   segments, engines[e]);
      GstHarness *harness = harness_new(line, engines[e], "BGRx", W, H, &info);
      GstCaps *caps = test_caps("BGRx", 262, 150, NULL);
      test_info(&large, caps);
      gst_harness_set_sink_caps(harness, caps);
      GstBus *bus = test_bus(harness);
      GstBuffer *out = gst_harness_push_and_pull(harness, picture(&info, 1));
      char *words = test_message(bus, GST_MESSAGE_WARNING);
      fail_unless(words == NULL, "%s", words);
      RvMetaLines meta;
      fail_unless(rv_meta_get_lines(out, &meta) && meta.count > 0);
      GstMapInfo map;
      int colored = 0;
      fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
      for (gsize i = 0; i + 3 < map.size; i += 4) /* lines are red and blue, hardly green */
        colored += map.data[i + 2] > 150 && map.data[i + 1] < 130 && map.data[i] > 100;
      gst_buffer_unmap(out, &map);
      fail_unless(colored > 100, "%d px", colored);
      gst_buffer_unref(out);
      test_close(harness, bus);
      g_free(line);
    }
}
GST_END_TEST

GST_START_TEST(test_message_scalars) {
  GstVideoInfo info;
  GstHarness *harness = harness_new("post-messages=true", "cpu", "GRAY8", W, H, &info);
  GstBus *bus = test_bus(harness);
  GstBuffer *out = gst_harness_push_and_pull(harness, picture(&info, 1));
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  RvMetaLines meta;
  int count = -1;
  fail_unless(message && rv_meta_get_lines(out, &meta));
  const GstStructure *fields = gst_message_get_structure(message);
  fail_unless(gst_structure_has_name(fields, "cudahough"));
  fail_unless(gst_structure_get_int(fields, "count", &count) && count == meta.count);
  fail_unless(!gst_structure_has_field(fields, "payload"));
  gst_message_unref(message);
  gst_buffer_unref(out);
  test_close(harness, bus);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_formats) TEST(test_properties) TEST(test_refused_and_sizes) TEST(test_drawing) \
  TEST(test_message_scalars)
/* clang-format on */

ELEMENT_TESTS(cudahough, TESTS)
