/* SPDX-License-Identifier: MIT */
/* cudaroaddetect.c: the element against the library called by hand, on each engine there is: every
 * format, changes of properties and sizes, frames without training patches and their messages. */
#include "road_test.h"

#include <string.h>

/* Three frames of a sequence; the frame is unchanged. */
GST_START_TEST(test_formats) {
  static const char *const formats[] = {TEST_FORMATS};
  for (int e = 0; e < road_engine_count(); e++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      GstVideoInfo info;
      RoadReference reference;
      GstHarness *harness = road_harness("", road_engine(e), formats[f], ROAD_W, ROAD_H, &info);
      road_reference_new(&reference, &info, NULL);
      for (int frame = 0; frame < 3; frame++) {
        GstBuffer *in = road_image(&info, frame + 1, ROAD_ALL), *copy = gst_buffer_copy_deep(in);
        GstBuffer *out = gst_harness_push_and_pull(harness, in);
        GstMapInfo was, is;
        road_reference_check(&reference, out, &info);
        fail_unless(reference.report.seeds > 20 && reference.report.road > 20 &&
                        reference.report.models > 0,
                    "%s: %d seeds, %d road", formats[f], reference.report.seeds,
                    reference.report.road);
        fail_unless(gst_buffer_map(copy, &was, GST_MAP_READ));
        fail_unless(gst_buffer_map(out, &is, GST_MAP_READ));
        fail_unless(was.size == is.size && memcmp(was.data, is.data, is.size) == 0);
        gst_buffer_unmap(copy, &was);
        gst_buffer_unmap(out, &is);
        gst_buffer_unref(copy);
        gst_buffer_unref(out);
      }
      road_reference_free(&reference);
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* The colorimetry of the caps defines the colors. */
GST_START_TEST(test_colorimetry) {
  static const char *const more[] = {"colorimetry=bt601", "colorimetry=bt709",
                                     "colorimetry=1:4:5:1"};
  for (guint i = 0; i < G_N_ELEMENTS(more); i++) {
    GstHarness *harness = gst_harness_new_parse("cudaroaddetect engine=cpu");
    GstCaps *caps = test_caps("NV12", ROAD_W, ROAD_H, more[i]);
    GstVideoInfo info;
    RoadReference reference;
    test_info(&info, caps);
    gst_harness_set_caps(harness, gst_caps_copy(caps), caps);
    road_reference_new(&reference, &info, NULL);
    GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, 9, ROAD_ALL));
    road_reference_check(&reference, out, &info);
    gst_buffer_unref(out);
    road_reference_free(&reference);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

static void set_all(GstHarness *harness, const RvRoadConfig *c) {
  gst_harness_set(
      harness, "cudaroaddetect", "patch-size", c->patch_size, "bins", c->bins, "equalize",
      c->equalize, "roughness", c->roughness, "disparity-noise", c->disparity_noise,
      "max-roughness", c->max_roughness, "near-range", c->near_range, "near-width", c->near_width,
      "max-height", c->max_height, "ground-threshold-scale", c->ground_threshold_scale, "smoothing",
      c->smoothing, "min-saturation", c->min_saturation, "min-value", c->min_value,
      "initial-models", c->initial_models, "new-models", c->new_models, "estimate-models",
      c->estimate_models, "library-size", c->library_size, "min-samples", c->min_samples,
      "update-threshold", c->update_threshold, "classify-threshold", c->classify_threshold,
      "distance", c->distance, "variance-floor", c->variance_floor, NULL);
}

static void check_properties(GstHarness *harness, const RvRoadConfig *c) {
  GstElement *element = gst_harness_find_element(harness, "cudaroaddetect");
  double roughness, trust;
  int patch, smoothing, distance;
  gboolean equalize;
  g_object_get(element, "roughness", &roughness, "ground-threshold-scale", &trust, "patch-size",
               &patch, "smoothing", &smoothing, "distance", &distance, "equalize", &equalize, NULL);
  fail_unless(roughness == c->roughness && trust == c->ground_threshold_scale &&
              patch == c->patch_size && smoothing == c->smoothing && distance == (int)c->distance &&
              equalize == c->equalize);
  gst_object_unref(element);
}

/* Every property, changed in PLAYING; models are kept as specified by rv_road_set_config. */
GST_START_TEST(test_properties) {
  RvRoadConfig wanted[5];
  for (int k = 0; k < 5; k++)
    rv_road_config_init(&wanted[k]);
  wanted[1].classify_threshold = 2, wanted[1].ground_threshold_scale = 2, wanted[1].smoothing = 3;
  wanted[1].roughness = 2e-4, wanted[1].max_height = 0.2, wanted[1].update_threshold = 5;
  wanted[2].patch_size = 7, wanted[2].distance = RV_ROAD_HELLINGER;
  wanted[2].classify_threshold = 0.4, wanted[2].library_size = 3, wanted[2].near_width = 0;
  wanted[2].equalize = 0, wanted[2].min_saturation = 20, wanted[2].min_value = 30;
  wanted[3].bins = 5, wanted[3].initial_models = 3, wanted[3].new_models = 2;
  wanted[3].estimate_models = 1, wanted[3].min_samples = 60, wanted[3].variance_floor = 1e-2,
  wanted[3].near_range = 6;
  wanted[4].distance = RV_ROAD_CHI_SQUARE, wanted[4].disparity_noise = 0.3;
  wanted[4].max_roughness = 1e-3, wanted[4].smoothing = 0, wanted[4].max_height = 0;
  for (int e = 0; e < road_engine_count(); e++) {
    GstVideoInfo info;
    RoadReference reference;
    GstHarness *harness = road_harness("", road_engine(e), "BGRx", ROAD_W, ROAD_H, &info);
    road_reference_new(&reference, &info, &wanted[0]);
    for (int k = 0; k < 10; k++) {
      set_all(harness, &wanted[k % 5]);
      check_properties(harness, &wanted[k % 5]);
      road_reference_config(&reference, &wanted[k % 5]);
      GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, k, ROAD_ALL));
      road_reference_check(&reference, out, &info);
      gst_buffer_unref(out);
    }
    road_reference_free(&reference);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* The camera of the properties is over that of the annotation. */
GST_START_TEST(test_camera) {
  GstVideoInfo info;
  RoadReference reference;
  RvRoadConfig config;
  GstHarness *harness = road_harness("focal-length=120 baseline=0.4 cx=60 cy=24", "cpu", "RGB",
                                     ROAD_W, ROAD_H, &info);
  rv_road_config_init(&config);
  road_reference_new(&reference, &info, &config);
  reference.config.camera = (RvCamera){.focal = 120, .cx = 60, .cy = 24, .baseline = 0.4};
  fail_unless(rv_road_set_config(reference.road, &reference.config, NULL) == RV_OK);
  for (int k = 0; k < 2; k++) {
    const int what = k ? ROAD_DISPARITY : ROAD_ALL;
    GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, k, what));
    road_reference_check(&reference, out, &info);
    fail_unless(reference.report.height > 0);
    gst_buffer_unref(out);
  }
  road_reference_free(&reference);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* Another size keeps the models; format and memory of the frame do not matter. */
GST_START_TEST(test_caps_change) {
  static const struct {
    const char *format;
    int w, h;
  } caps_of[] = {{"NV12", ROAD_W, ROAD_H}, {"BGRx", 200, 90}, {"I420", 101, 60}};
  for (int e = 0; e < road_engine_count(); e++) {
    GstVideoInfo info;
    RoadReference reference;
    RvRoadConfig config;
    GstHarness *harness = road_harness("", road_engine(e), "RGB", ROAD_W, ROAD_H, &info);
    rv_road_config_init(&config);
    road_reference_new(&reference, &info, &config);
    for (guint i = 0; i < G_N_ELEMENTS(caps_of); i++) {
      GstCaps *caps = test_caps(caps_of[i].format, caps_of[i].w, caps_of[i].h, NULL);
      test_info(&info, caps);
      gst_harness_set_caps(harness, gst_caps_copy(caps), caps);
      reference.config.width = caps_of[i].w;
      reference.config.height = caps_of[i].h;
      reference.config.camera = road_camera(&info);
      const RvRoadConfig whole = reference.config;
      road_reference_config(&reference, &whole);
      for (int k = 0; k < 2; k++) {
        GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, k, ROAD_ALL));
        road_reference_check(&reference, out, &info);
        gst_buffer_unref(out);
      }
    }
    fail_unless(reference.report.models > 2, "%d models", reference.report.models);
    road_reference_free(&reference);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* One warning, no more. */
static void expect_warning(GstBus *bus, const char *cause, const char *remedy) {
  test_expect_warning(bus, cause, remedy);
  test_expect_warning(bus, NULL, NULL);
}

/* Frames that cannot be used for training pass through, with one warning per cause; with models
 * they are classified. */
GST_START_TEST(test_nothing_to_learn) {
  for (int e = 0; e < road_engine_count(); e++) {
    GstVideoInfo info;
    RoadReference reference;
    GstHarness *harness = road_harness("", road_engine(e), "BGRx", ROAD_W, ROAD_H, &info);
    GstBus *bus = test_bus(harness);
    RvMetaRoad meta;
    road_reference_new(&reference, &info, NULL);
    static const int attached[] = {ROAD_CAMERA, ROAD_DISPARITY, 0, ROAD_CAMERA, ROAD_DISPARITY};
    for (guint k = 0; k < G_N_ELEMENTS(attached); k++) {
      GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, 1, attached[k]));
      fail_if(rv_meta_get_road(out, &meta));
      gst_buffer_unref(out);
      if (k == 0)
        expect_warning(bus, "no disparity", "cudasgm");
      if (k == 1)
        expect_warning(bus, "camera is not known", "focal-length");
    }
    test_expect_warning(bus, NULL, NULL);
    GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, 2, ROAD_ALL));
    road_reference_check(&reference, out, &info);
    gst_buffer_unref(out);
    out = gst_harness_push_and_pull(harness, road_image(&info, 3, 0)); /* classified */
    road_reference_check(&reference, out, &info);
    fail_unless(reference.report.models > 0 && reference.report.seeds == 0 &&
                reference.report.road > 0);
    gst_buffer_unref(out);
    /* Black, without a valid disparity: defined, and the models are kept. */
    const int models = reference.report.models;
    out = gst_harness_push_and_pull(harness, road_image(&info, 4, ROAD_ALL | ROAD_FLAT));
    road_reference_check(&reference, out, &info);
    fail_unless(reference.report.models == models && reference.report.seeds == 0);
    gst_buffer_unref(out);
    test_expect_warning(bus, NULL, NULL);
    road_reference_free(&reference);
    test_close(harness, bus);
  }
}
GST_END_TEST

/* A disparity of another size, or of another kind. */
GST_START_TEST(test_bad_disparity) {
  GstVideoInfo info, other;
  GstHarness *harness = road_harness("", "cpu", "BGRx", ROAD_W, ROAD_H, &info);
  GstBus *bus = test_bus(harness);
  RvMetaRoad meta;
  GstCaps *caps = test_caps("BGRx", 60, 40, NULL);
  test_info(&other, caps);
  gst_caps_unref(caps);
  for (int k = 0; k < 2; k++) {
    GstBuffer *in = road_image(&info, 1, ROAD_CAMERA), *small = road_image(&other, 1, ROAD_ALL);
    RvMetaDisparity disparity;
    fail_unless(rv_meta_get_disparity(small, &disparity));
    gst_buffer_ref(disparity.payload);
    disparity.scale = k ? 256 : 16;
    rv_meta_add_disparity(in, &disparity);
    gst_buffer_unref(small);
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    fail_if(rv_meta_get_road(out, &meta));
    gst_buffer_unref(out);
    expect_warning(bus, k ? "1/16 px" : "60x40", k ? "scale=16" : "Scale and crop");
  }
  test_close(harness, bus);
}
GST_END_TEST

GST_START_TEST(test_gray_frames) {
  GstHarness *harness = gst_harness_new_parse("cudaroaddetect engine=cpu");
  GstBus *bus = test_bus(harness);
  GstCaps *caps = test_caps("GRAY8", ROAD_W, ROAD_H, NULL);
  gst_harness_set_caps(harness, gst_caps_copy(caps), caps);
  expect_warning(bus, "GRAY8", "in color");
  test_close(harness, bus);
}
GST_END_TEST

/* Patches larger than the image are rejected with the caps; combinations that are rejected while
 * playing leave the previous in use. */
GST_START_TEST(test_refused) {
  TestElement test = test_start("cudaroaddetect engine=cpu patch-size=15", "NV12", 40, 12, NULL);
  test_expect_error(test.bus, "patch-size is 15", "40x12");
  test_end(&test);

  GstVideoInfo info;
  RoadReference reference;
  test.harness = road_harness("", "cpu", "NV12", ROAD_W, ROAD_H, &info);
  test.bus = test_bus(test.harness);
  road_reference_new(&reference, &info, NULL);
  for (int k = 0; k < 3; k++) {
    if (k == 1)
      gst_harness_set(test.harness, "cudaroaddetect", "initial-models", 9, "library-size", 4, NULL);
    GstBuffer *out = gst_harness_push_and_pull(test.harness, road_image(&info, k, ROAD_ALL));
    road_reference_check(&reference, out, &info);
    gst_buffer_unref(out);
    if (k == 1)
      expect_warning(test.bus, "initial-models is 9", "previous settings");
  }
  road_reference_free(&reference);
  test_end(&test);
}
GST_END_TEST

/* Stock elements carry it, and messages have its scalars. */
GST_START_TEST(test_carried) {
  GstVideoInfo info;
  GstHarness *harness = road_harness(
      "post-messages=true ! tee ! queue ! videoconvert ! "
      "video/x-raw,format=I420 ! videoscale ! capsfilter caps=video/x-raw,width=80,height=60",
      "cpu", "BGRx", ROAD_W, ROAD_H, &info);
  GstBus *bus = test_bus(harness);
  gst_harness_set_sink_caps(harness, test_caps("I420", 80, 60, NULL));
  GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, 1, ROAD_ALL));
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  RvMetaRoad meta;
  int seeds = -1;
  fail_unless(message && rv_meta_get_road(out, &meta));
  fail_unless(meta.width == ROAD_W && meta.height == ROAD_H && meta.seeds > 0);
  const GstStructure *fields = gst_message_get_structure(message);
  fail_unless(gst_structure_has_name(fields, "cudaroaddetect"));
  fail_unless(gst_structure_get_int(fields, "seeds", &seeds) && seeds == meta.seeds);
  fail_if(gst_structure_has_field(fields, "payload") ||
          gst_structure_has_field(fields, "distance"));
  gst_message_unref(message);
  gst_buffer_unref(out);
  test_close(harness, bus);
}
GST_END_TEST

/* Pixels of a BGRx frame with the green of the road and the amber of the seeds. */
static void count_colors(GstBuffer *buffer, int *green, int *amber) {
  GstMapInfo map;
  *green = *amber = 0;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  for (gsize i = 0; i + 3 < map.size; i += 4) {
    const int b = map.data[i], g = map.data[i + 1], r = map.data[i + 2];
    *green += g > r + 50 && g > b + 30 && b > 85;
    *amber += r > b + 60 && g > b + 40 && r >= g;
  }
  gst_buffer_unmap(buffer, &map);
}

/* cudaannotate draws it, also on an image made larger since, in place of the disparity; both
 * engines the same bits. */
GST_START_TEST(test_drawing) {
  GstBuffer *first = NULL;
  for (int e = 0; e < road_engine_count(); e++) {
    GstVideoInfo info;
    char *line = g_strdup_printf("! videoscale ! video/x-raw,width=262,height=150 ! "
                                 "cudaannotate name=draw engine=%s",
                                 road_engine(e));
    GstHarness *harness = road_harness(line, road_engine(e), "BGRx", ROAD_W, ROAD_H, &info);
    gst_harness_set_sink_caps(harness, test_caps("BGRx", 262, 150, NULL));
    GstBus *bus = test_bus(harness);
    int green, amber, plain;
    GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, 1, ROAD_ALL));
    char *words = test_message(bus, GST_MESSAGE_WARNING);
    fail_unless(words == NULL, "%s", words);
    count_colors(out, &green, &amber);
    fail_unless(amber > 1000, "%d amber px", amber);
    if (first) {
      GstMapInfo map;
      fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
      fail_unless(gst_buffer_memcmp(first, 0, map.data, map.size) == 0);
      gst_buffer_unmap(out, &map);
    } else {
      first = gst_buffer_ref(out);
    }
    gst_buffer_unref(out);
    gst_harness_set(harness, "cudaannotate", "show", 0, NULL);
    out = gst_harness_push_and_pull(harness, road_image(&info, 1, ROAD_ALL));
    count_colors(out, &plain, &amber);
    fail_unless(green > plain + 300 && amber < 100, "%d green px, %d and %d amber undrawn", green,
                plain, amber);
    gst_buffer_unref(out);
    test_close(harness, bus);
    g_free(line);
  }
  gst_buffer_unref(first);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_formats) TEST(test_colorimetry) TEST(test_properties) TEST(test_camera) \
  TEST(test_caps_change) TEST(test_nothing_to_learn) TEST(test_bad_disparity) \
  TEST(test_gray_frames) TEST(test_refused) TEST(test_carried) TEST(test_drawing)
/* clang-format on */

ELEMENT_TESTS(cudaroaddetect, TESTS)
