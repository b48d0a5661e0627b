/* SPDX-License-Identifier: MIT */
/* cudardp.c: the element against the library called by hand, on each engine there is; what it says
 * when it cannot work. */
#include "element_test.h"
#include "rdp/rdp.h"

enum { W = 37, H = 101 };

typedef struct Known {
  guint32 count;
  int levels;
  RvSegment *segments;
} Known;

static void fill(RvPlane *plane, int seed, gboolean smooth) {
  guint32 state = (guint32)seed * 2654435761u + 1;
  for (int y = 0; y < plane->height; y++) {
    guint16 *row = (guint16 *)(void *)((char *)plane->data + y * plane->stride);
    for (int x = 0; x < plane->width; x++) {
      state = state * 1664525u + 1013904223u;
      const guint32 dice = state >> 16;
      row[x] = dice % 9 == 0 ? 0 : smooth ? (guint16)(100 + 9 * y + dice % 40) : (guint16)dice;
    }
  }
}

/* What the library makes of it. */
static Known by_hand(const RvPlane *plane, const RvRdpConfig *wanted) {
  RvRdpConfig config = *wanted;
  config.width = plane->width;
  config.height = plane->height;
  const guint32 room = rv_rdp_segments_max(&config);
  RvRdpColumn *columns = g_new(RvRdpColumn, plane->width);
  guint32 *offsets = g_new(guint32, plane->width + 1);
  Known known = {0, 0, g_new0(RvSegment, room)};
  const RvRdpOutput output = {
      .segments = known.segments, .capacity = room, .offsets = offsets, .columns = columns};
  RvRdp *rdp = NULL;
  fail_unless(rv_rdp_new(&rdp, &config, RV_CPU) == RV_OK);
  fail_unless(rv_rdp_run(rdp, plane, &output, NULL) == RV_OK);
  rv_rdp_free(&rdp);
  known.count = offsets[plane->width];
  for (int x = 0; x < plane->width; x++)
    known.levels = MAX(known.levels, columns[x].levels);
  g_free(columns);
  g_free(offsets);
  return known;
}

static void check_segments(GstBuffer *buffer, const RvPlane *plane, const RvRdpConfig *config) {
  Known known = by_hand(plane, config);
  RvMetaSegments meta;
  RvMetaMap map;
  fail_unless(rv_meta_get_segments(buffer, &meta));
  fail_unless(meta.width == plane->width && meta.height == plane->height);
  fail_unless_equals_int(meta.count, known.count);
  fail_unless_equals_int(meta.levels_max, known.levels);
  fail_unless(meta.epsilon == config->epsilon);
  fail_unless_equals_uint64(gst_buffer_get_size(meta.payload), known.count * sizeof(RvSegment));
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  fail_unless(known.count == 0 ||
              memcmp(map.info.data, known.segments, known.count * sizeof(RvSegment)) == 0);
  rv_meta_unmap(&map);
  g_free(known.segments);
}

/* An image with a disparity of w x h. */
static GstBuffer *picture(const GstVideoInfo *info, int w, int h, int seed, gboolean smooth,
                          RvPlane *plane) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  gst_buffer_memset(buffer, 0, 90, GST_VIDEO_INFO_SIZE(info));
  GstBuffer *raster = rv_meta_raster_new(RV_U16, w, h);
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  fill(&map.plane, seed, smooth);
  *plane = map.plane;
  plane->data = g_memdup2(map.plane.data, (gsize)(map.plane.stride * h));
  rv_meta_unmap(&map);
  const RvMetaDisparity meta = {w, h, 16, 0, 128, raster, NULL};
  rv_meta_add_disparity(buffer, &meta);
  return buffer;
}

static GstHarness *harness_new(const char *engine, const char *format, int w, int h) {
  GstHarness *harness = test_harness("cudardp engine=%s", engine);
  gst_harness_set_caps(harness, test_caps(format, w, h, NULL), test_caps(format, w, h, NULL));
  return harness;
}

static const char *const engines[] = {"cpu", "cuda"};

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

GST_START_TEST(test_formats) {
  static const char *const formats[] = {TEST_FORMATS};
  for (int e = 0; e < engine_count(); e++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      GstHarness *harness = harness_new(engines[e], formats[f], W, H);
      RvRdpConfig config;
      rv_rdp_config_init(&config);
      GstVideoInfo info;
      GstCaps *caps = test_caps(formats[f], W, H, NULL);
      test_info(&info, caps);
      gst_caps_unref(caps);
      for (int frame = 0; frame < 3; frame++) { /* the third disparity has another size */
        RvPlane plane;
        GstBuffer *in = picture(&info, frame == 2 ? 20 : W, frame == 2 ? 300 : H, frame + 1,
                                frame != 1, &plane);
        GstBuffer *out = gst_harness_push_and_pull(harness, in);
        check_segments(out, &plane, &config);
        fail_unless(rv_meta_find(out, RV_META_DISPARITY) != NULL);
        fail_unless_equals_uint64(gst_buffer_get_size(out), GST_VIDEO_INFO_SIZE(&info));
        g_free(plane.data);
        gst_buffer_unref(out);
      }
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* Every property, changed while playing; more segments than there is room for at first. */
GST_START_TEST(test_properties) {
  static const RvRdpConfig wanted[] = {
      {.epsilon = 0, .invalid = RV_RDP_BREAK},
      {.epsilon = 4.25, .distance = RV_RDP_PERPENDICULAR},
      {.epsilon = 1, .median = 5, .max_levels = 3},
      {.epsilon = 0},
  };
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "GRAY8", W, 400);
    GstVideoInfo info;
    GstCaps *caps = test_caps("GRAY8", W, 400, NULL);
    test_info(&info, caps);
    gst_caps_unref(caps);
    for (guint k = 0; k < G_N_ELEMENTS(wanted); k++) {
      gst_harness_set(harness, "cudardp", "epsilon", wanted[k].epsilon, "distance",
                      wanted[k].distance, "invalid", wanted[k].invalid, "median", wanted[k].median,
                      "max-levels", wanted[k].max_levels, NULL);
      RvPlane plane;
      GstBuffer *out =
          gst_harness_push_and_pull(harness, picture(&info, W, 400, (int)k, FALSE, &plane));
      check_segments(out, &plane, &wanted[k]);
      g_free(plane.data);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* Frames that are disparity maps, of two scales. */
GST_START_TEST(test_maps) {
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "GRAY16_LE", W, H);
    RvRdpConfig config;
    rv_rdp_config_init(&config);
    GstVideoInfo info;
    GstCaps *caps = test_caps("GRAY16_LE", W, H, NULL);
    test_info(&info, caps);
    gst_caps_unref(caps);
    for (int frame = 0; frame < 2; frame++) {
      const int scale = frame ? 256 : 16;
      gst_harness_set(harness, "cudardp", "disparity-scale", scale, NULL);
      GstBuffer *in = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
      GstVideoFrame map;
      fail_unless(gst_video_frame_map(&map, &info, in, GST_MAP_WRITE));
      RvPlane plane = {GST_VIDEO_FRAME_PLANE_DATA(&map, 0), GST_VIDEO_FRAME_PLANE_STRIDE(&map, 0),
                       W, H, RV_U16};
      fill(&plane, 5 + frame, TRUE);
      guint16 *dense = g_new(guint16, W * H);
      for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
          const int v = ((const guint16 *)(const void *)((char *)plane.data + y * plane.stride))[x];
          dense[y * W + x] = (guint16)(v == 0 ? 0 : MAX(1, (v * 16 + scale / 2) / scale));
        }
      gst_video_frame_unmap(&map);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      const RvPlane rescaled = {dense, 2 * W, W, H, RV_U16};
      check_segments(out, &rescaled, &config);
      g_free(dense);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

GST_START_TEST(test_nothing_to_do) {
  GstHarness *harness = harness_new("cpu", "GRAY8", W, H);
  GstBus *bus = test_bus(harness);
  GstVideoInfo info;
  GstCaps *caps = test_caps("GRAY8", W, H, NULL);
  test_info(&info, caps);
  gst_caps_unref(caps);
  /* No disparity: one warning, and the frame continues. */
  for (int frame = 0; frame < 2; frame++) {
    test_push_without(harness, gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL),
                      RV_META_SEGMENTS, NULL);
    test_expect_warning(bus, frame == 0 ? "cudasgm" : NULL, NULL);
  }
  /* Nothing valid: no segments. */
  RvPlane plane;
  GstBuffer *in = picture(&info, W, H, 1, TRUE, &plane);
  memset(plane.data, 0, (gsize)(plane.stride * H));
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(
      &map, rv_meta_get_buffer(rv_meta_find(in, RV_META_DISPARITY), "payload"), GST_MAP_WRITE));
  memset(map.plane.data, 0, (gsize)(map.plane.stride * H));
  rv_meta_unmap(&map);
  RvRdpConfig config;
  rv_rdp_config_init(&config);
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  check_segments(out, &plane, &config);
  gst_buffer_unref(out);
  g_free(plane.data);
  /* A median that does not exist: a warning, and the previous settings. */
  gst_harness_set(harness, "cudardp", "median", 4, NULL);
  in = picture(&info, W, H, 2, TRUE, &plane);
  out = gst_harness_push_and_pull(harness, in);
  check_segments(out, &plane, &config);
  char *text = test_message(bus, GST_MESSAGE_WARNING);
  fail_unless(text && strstr(text, "median is 4"));
  g_free(text);
  g_free(plane.data);
  gst_buffer_unref(out);
  test_close(harness, bus);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_formats) TEST(test_properties) TEST(test_maps) TEST(test_nothing_to_do)
/* clang-format on */

ELEMENT_TESTS(cudardp, TESTS)
