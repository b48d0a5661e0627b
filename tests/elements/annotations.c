/* SPDX-License-Identifier: MIT */
/* annotations.c: attaching and reading, through copies, stock elements and the pool of payloads. */
#include "element_test.h"

#include <math.h>

GST_START_TEST(test_camera) {
  GstBuffer *buffer = gst_buffer_new();
  const RvCamera camera = {721.5, 609.5, 172.8, 3.25, 0.54, 1.65, 2.5};
  RvCamera got;
  int w = 0, h = 0;
  fail_if(rv_meta_get_camera(buffer, &got, &w, &h));
  rv_meta_add_camera(buffer, 1242, 375, &camera);
  fail_unless(rv_meta_get_camera(buffer, &got, &w, &h));
  fail_unless(w == 1242 && h == 375);
  fail_unless(got.focal == 721.5 && got.cx == 609.5 && got.cy == 172.8 && got.doffs == 3.25 &&
              got.baseline == 0.54 && got.height == 1.65 && got.pitch == 2.5);
  const RvCamera unknown = {0, 0, 0, 0, 0.2, 0, 0};
  rv_meta_add_camera(buffer, 64, 48, &unknown); /* in place of the first */
  const GstStructure *fields = rv_meta_find(buffer, RV_META_CAMERA);
  fail_if(gst_structure_has_field(fields, "focal") || gst_structure_has_field(fields, "pitch"));
  fail_unless(rv_meta_get_camera(buffer, &got, &w, &h) && got.baseline == 0.2 && got.focal == 0 &&
              w == 64);
  fail_unless(rv_meta_remove(buffer, RV_META_CAMERA));
  fail_if(rv_meta_remove(buffer, RV_META_CAMERA));
  gst_buffer_unref(buffer);
}
GST_END_TEST

/* What networks and other languages attach may be anything. */
GST_START_TEST(test_hostile) {
  GstBuffer *buffer = gst_buffer_new();
  const RvCamera camera = {700.0, 1.0, 1.0, 0.0, 0.5, 0.0, 0.0};
  RvCamera got;
  int w = 0, h = 0;
  GstStructure *fields = rv_meta_add_camera(buffer, 64, 48, &camera);
  gst_structure_set(fields, "focal", G_TYPE_DOUBLE, HUGE_VAL, "doffs", G_TYPE_DOUBLE,
                    HUGE_VAL - HUGE_VAL, NULL);
  fail_unless(rv_meta_get_camera(buffer, &got, &w, &h));
  fail_unless(got.focal == 0.0 && got.doffs == 0.0 && got.baseline == 0.5);
  gst_structure_set(fields, "width", G_TYPE_INT, G_MAXINT, NULL);
  fail_if(rv_meta_get_camera(buffer, &got, &w, &h));
  /* An array of records that says it is a raster could begin anywhere in the buffer. */
  RvMetaSegments segments = {64, 48, 4, 1.0, 2, rv_meta_raster_new(RV_U8, 64, 16)};
  rv_meta_add_segments(buffer, &segments);
  fail_if(rv_meta_get_segments(buffer, &segments));
  gst_buffer_unref(buffer);
}
GST_END_TEST

GST_START_TEST(test_rasters) {
  static const struct {
    RvFormat format;
    int pixel;
  } formats[] = {{RV_U8, 1}, {RV_U16, 2}, {RV_F32, 4}};
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    GstBuffer *raster = rv_meta_raster_new(formats[i].format, 641, 7);
    RvMetaMap map;
    fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
    fail_unless(map.plane.format == formats[i].format && map.plane.width == 641 &&
                map.plane.height == 7);
    fail_unless(map.plane.stride >= 641 * formats[i].pixel);
    ((guint8 *)map.plane.data)[6 * map.plane.stride + 641 * formats[i].pixel - 1] = 99;
    rv_meta_unmap(&map);
    gst_buffer_unref(raster);
  }
  /* A raster that is shorter than its meta says must not be mapped. */
  GstBuffer *shorter = gst_buffer_new_allocate(NULL, 100, NULL);
  rv_meta_describe_raster(shorter, RV_U16, 10, 10, 20);
  RvMetaMap map;
  fail_if(rv_meta_map_buffer(&map, shorter, GST_MAP_READ));
  gst_buffer_unref(shorter);
  /* A raster may begin behind other bytes; one that ends behind its buffer must not be mapped. */
  for (gsize offset = 0; offset < 120; offset += 60) {
    GstBuffer *behind = gst_buffer_new_allocate(NULL, 260, NULL);
    gsize offsets[GST_VIDEO_MAX_PLANES] = {60 + offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {20};
    gst_buffer_memset(behind, 0, 0, 260);
    gst_buffer_memset(behind, 60, 7, 1);
    gst_buffer_add_video_meta_full(behind, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 20,
                                   10, 1, offsets, strides);
    fail_unless(rv_meta_map_buffer(&map, behind, GST_MAP_READ) == (offset == 0));
    if (offset == 0) {
      fail_unless_equals_int(*(const guint8 *)map.plane.data, 7);
      rv_meta_unmap(&map);
    }
    gst_buffer_unref(behind);
  }
  /* Without a GstVideoMeta it is an array. */
  GstBuffer *array = gst_buffer_new_allocate(NULL, 240, NULL);
  fail_unless(rv_meta_map_buffer(&map, array, GST_MAP_READ));
  fail_unless(map.size == 240 && map.plane.height == 1 && map.plane.width == 240);
  rv_meta_unmap(&map);
  gst_buffer_unref(array);
}
GST_END_TEST

/* No pixels, or pixels between the addresses of theirs: no raster either. */
GST_START_TEST(test_odd_rasters) {
  static const struct {
    gsize offset;
    gint stride;
    guint width;
  } odd[] = {{0, 20, 0}, {1, 20, 10}, {0, 21, 10}};
  for (guint i = 0; i < G_N_ELEMENTS(odd); i++) {
    GstBuffer *buffer = rv_meta_raster_new(RV_U16, 32, 16);
    GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
    video->offset[0] = odd[i].offset;
    video->stride[0] = odd[i].stride;
    video->width = odd[i].width;
    video->height = 4;
    RvMetaMap map;
    fail_if(rv_meta_map_buffer(&map, buffer, GST_MAP_READ));
    gst_buffer_unref(buffer);
  }
}
GST_END_TEST

GST_START_TEST(test_version) {
  GstBuffer *buffer = gst_buffer_new();
  RvMetaDisparity meta = {8, 4, 16, 0, 64, rv_meta_raster_new(RV_U16, 8, 4), NULL};
  GstStructure *fields = rv_meta_add_disparity(buffer, &meta);
  RvMetaDisparity got;
  fail_unless(rv_meta_get_disparity(buffer, &got) && got.payload && !got.confidence);
  /* A later version may mean anything: it is not read. */
  gst_structure_set(fields, "version", G_TYPE_INT, RV_META_VERSION + 1, NULL);
  fail_if(rv_meta_get_disparity(buffer, &got));
  gst_buffer_unref(buffer);
}
GST_END_TEST

GST_START_TEST(test_semantics) {
  GstBuffer *buffer = gst_buffer_new();
  rv_meta_add_labels(buffer, 640, 480, 19, rv_meta_raster_new(RV_U8, 80, 60));
  const GstStructure *fields = rv_meta_find(buffer, RV_META_SEMANTICS);
  int classes = 0, w = 0, h = 0;
  fail_unless(gst_structure_get(fields, "classes", G_TYPE_INT, &classes, "map-width", G_TYPE_INT,
                                &w, "map-height", G_TYPE_INT, &h, NULL));
  fail_unless(classes == 19 && w == 80 && h == 60);
  fail_unless_equals_string(gst_structure_get_string(fields, "type"), "labels");
  rv_meta_add_scores(buffer, 640, 480, 3, 80, 60, rv_meta_raster_new(RV_U16, 80, 180));
  fields = rv_meta_find(buffer, RV_META_SEMANTICS);
  fail_unless_equals_string(gst_structure_get_string(fields, "type"), "scores");
  gst_buffer_unref(buffer);
}
GST_END_TEST

GST_START_TEST(test_road) {
  GstBuffer *buffer = gst_buffer_new();
  RvMetaRoad meta = {.width = 64,
                     .height = 48,
                     .patch_size = 5,
                     .columns = 12,
                     .rows = 9,
                     .models = 3,
                     .seeds = 17,
                     .road_share = 0.25,
                     .classify_threshold = 4,
                     .payload = rv_meta_raster_new(RV_U8, 12, 9),
                     .distance = rv_meta_raster_new(RV_F32, 12, 9)};
  RvMetaRoad got;
  fail_if(rv_meta_get_road(buffer, &got));
  GstStructure *fields = rv_meta_add_road(buffer, &meta);
  fail_unless(rv_meta_get_road(buffer, &got));
  fail_unless(got.width == 64 && got.height == 48 && got.patch_size == 5 && got.columns == 12 &&
              got.rows == 9 && got.models == 3 && got.seeds == 17 && got.road_share == 0.25 &&
              got.classify_threshold == 4 && got.camera_height == 0);
  fail_unless(got.payload && got.distance && !got.seed_mask);
  fail_if(gst_structure_has_field(fields, "ground-slope-x"));
  /* A seed mask of another size or kind is none. */
  rv_meta_set_buffer(fields, "seed-mask", rv_meta_raster_new(RV_U8, 13, 9));
  fail_unless(rv_meta_get_road(buffer, &got) && !got.seed_mask);
  rv_meta_set_buffer(fields, "seed-mask", rv_meta_raster_new(RV_U16, 12, 9));
  fail_unless(rv_meta_get_road(buffer, &got) && !got.seed_mask);
  rv_meta_set_buffer(fields, "seed-mask", rv_meta_raster_new(RV_U8, 12, 9));
  fail_unless(rv_meta_get_road(buffer, &got) && got.seed_mask);
  /* More patches than the image has room for; a mask that is not one. */
  gst_structure_set(fields, "patch-size", G_TYPE_INT, 6, NULL);
  fail_if(rv_meta_get_road(buffer, &got));
  gst_structure_set(fields, "patch-size", G_TYPE_INT, G_MAXINT, NULL);
  fail_if(rv_meta_get_road(buffer, &got));
  gst_structure_set(fields, "patch-size", G_TYPE_INT, 5, NULL);
  rv_meta_set_buffer(fields, "payload", gst_buffer_new_allocate(NULL, 108, NULL));
  fail_if(rv_meta_get_road(buffer, &got));
  gst_buffer_unref(buffer);
}
GST_END_TEST

/* Scalars and payloads survive elements that make new buffers. */
GST_START_TEST(test_stock_elements) {
  static const char *const lines[] = {"videoconvert ! capsfilter caps=video/x-raw,format=I420",
                                      "videoscale ! capsfilter caps=video/x-raw,width=32,height=24",
                                      "identity ! queue", "jpegenc"};
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    TestElement test = test_start(lines[i], "BGRx", 64, 48, NULL);
    GstBuffer *buffer = test_pair_new(&test.info, FALSE, FALSE, 4, 1);
    RvMetaDisparity meta = {64, 48, 16, 3, 96, rv_meta_raster_new(RV_U16, 64, 48), NULL};
    rv_meta_add_disparity(buffer, &meta);
    GST_BUFFER_PTS(buffer) = 0;
    buffer = gst_harness_push_and_pull(test.harness, buffer);
    fail_unless(buffer != NULL, "%s", lines[i]);
    RvMetaDisparity got;
    fail_unless(rv_meta_get_disparity(buffer, &got), "%s", lines[i]);
    fail_unless(got.width == 64 && got.min_disparity == 3 && got.disparities == 96, "%s", lines[i]);
    fail_unless(got.payload == meta.payload, "%s", lines[i]);
    gst_buffer_unref(buffer);
    test_end(&test);
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_camera) TEST(test_hostile) TEST(test_rasters) TEST(test_odd_rasters) \
  TEST(test_version) TEST(test_semantics) TEST(test_road) TEST(test_stock_elements)
/* clang-format on */

ELEMENT_TESTS(annotations, TESTS)
