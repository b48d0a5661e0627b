/* SPDX-License-Identifier: MIT */
/* controlled.c: properties that follow a GstController: the value of the stream time of each frame,
 * and the result that the library gives with it. */
#include <gst/controller/controller.h>

#include <math.h>

#include "road_test.h"

/* A straight line from `first` at 0 s to `last` at 4 s. The property has to be controllable. */
static void control(GstElement *element, const char *name, double first, double last) {
  GstControlSource *source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE(source);
  fail_unless(gst_timed_value_control_source_set(values, 0, first));
  fail_unless(gst_timed_value_control_source_set(values, 4 * GST_SECOND, last));
  fail_unless(gst_object_add_control_binding(
                  GST_OBJECT(element),
                  gst_direct_control_binding_new_absolute(GST_OBJECT(element), name, source)),
              "%s", name);
  gst_object_unref(source);
}

static GstBuffer *at_time(GstBuffer *buffer, GstClockTime time) {
  GST_BUFFER_PTS(buffer) = time;
  GST_BUFFER_DURATION(buffer) = GST_SECOND;
  return buffer;
}

/* The segment starts at 10 s with stream time 0: time stamps are not what controllers count in. */
static void start_at_10_s(GstHarness *harness) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.position = 10 * GST_SECOND;
  segment.time = 0;
  fail_unless(gst_harness_push_event(harness, gst_event_new_segment(&segment)));
}

GST_START_TEST(test_road_threshold) {
  for (int e = 0; e < road_engine_count(); e++) {
    GstVideoInfo info;
    RvRoadConfig config;
    RoadReference reference;
    GstHarness *harness = road_harness("", road_engine(e), "RGBx", ROAD_W, ROAD_H, &info);
    GstElement *element = gst_harness_find_element(harness, "cudaroaddetect");
    control(element, "classify-threshold", 0.25, 8.25);
    start_at_10_s(harness);
    rv_road_config_init(&config);
    road_reference_new(&reference, &info, &config);
    int road[5];
    for (int frame = 0; frame < 5; frame++) {
      config.classify_threshold = 0.25 + 2 * frame;
      road_reference_config(&reference, &config);
      GstBuffer *in =
          at_time(road_image(&info, frame + 1, ROAD_ALL), (10 + (GstClockTime)frame) * GST_SECOND);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      double value;
      g_object_get(element, "classify-threshold", &value, NULL);
      fail_unless(fabs(value - config.classify_threshold) < 1e-9, "frame %d: %g", frame, value);
      road_reference_check(&reference, out, &info);
      road[frame] = reference.report.road;
      gst_buffer_unref(out);
    }
    fail_unless(road[4] > road[0], "%d, then %d patches of road", road[0], road[4]);
    road_reference_free(&reference);
    gst_object_unref(element);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

static guint8 pixel_of(GstHarness *harness, const GstVideoInfo *info, GstClockTime time) {
  GstBuffer *in = road_image(info, 1, ROAD_ALL);
  GstMapInfo map;
  GstBuffer *out = gst_harness_push_and_pull(harness, at_time(in, time));
  fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
  const guint8 red = map.data[(gsize)60 * (gsize)GST_VIDEO_INFO_PLANE_STRIDE(info, 0) + 4 * 70];
  gst_buffer_unmap(out, &map);
  gst_buffer_unref(out);
  return red;
}

/* The opacity rises from frame to frame, without new objects. */
GST_START_TEST(test_opacity) {
  GstVideoInfo info;
  GstHarness *harness = gst_harness_new_parse("cudaannotate engine=cpu show=disparity");
  GstElement *element = gst_harness_find_element(harness, "cudaannotate");
  GstCaps *caps = test_caps("RGBx", ROAD_W, ROAD_H, NULL);
  test_info(&info, caps);
  gst_harness_set_caps(harness, gst_caps_copy(caps), caps);
  control(element, "opacity", 0, 1);
  guint8 seen[5];
  for (guint frame = 0; frame < 5; frame++)
    seen[frame] = pixel_of(harness, &info, frame * GST_SECOND);
  const int all = seen[4] - seen[0];
  fail_unless(abs(all) >= 8, "%d, then %d", seen[0], seen[4]);
  for (int frame = 0; frame < 5; frame++)
    fail_unless(abs(seen[frame] - (seen[0] + all * frame / 4)) <= 2,
                "frame %d: %d, first %d, last %d", frame, seen[frame], seen[0], seen[4]);
  /* Values without a time stamp stay as they are. */
  g_object_set(element, "opacity", 0.0, NULL);
  fail_unless(abs(pixel_of(harness, &info, GST_CLOCK_TIME_NONE) - seen[0]) <= 1);
  gst_object_unref(element);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* Properties whose values need new memory are not controllable. */
GST_START_TEST(test_flags) {
  static const struct {
    const char *element, *name;
    gboolean controllable;
  } cases[] = {{"cudaroaddetect", "roughness", TRUE}, {"cudaroaddetect", "bins", FALSE},
               {"cudaannotate", "thickness", TRUE},   {"cudaannotate", "colormap", FALSE},
               {"cudasgm", "disparities", FALSE},     {"cudasgm", "p2", FALSE}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstElement *element = gst_element_factory_make(cases[i].element, NULL);
    const GParamSpec *spec =
        g_object_class_find_property(G_OBJECT_GET_CLASS(element), cases[i].name);
    fail_unless(spec && spec->flags & GST_PARAM_MUTABLE_PLAYING, "%s", cases[i].name);
    fail_unless(!!(spec->flags & GST_PARAM_CONTROLLABLE) == cases[i].controllable, "%s",
                cases[i].name);
    gst_object_unref(element);
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_road_threshold) TEST(test_opacity) TEST(test_flags)
/* clang-format on */

ELEMENT_TESTS(controlled, TESTS)
