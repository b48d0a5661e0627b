/* SPDX-License-Identifier: MIT */
/* road_test.c: frames of a road, and the library called directly. */
#include "road_test.h"

#include <string.h>

#define HORIZON 25 /* row */

int road_engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

const char *road_engine(int index) {
  return index == 0 ? "cpu" : "cuda";
}

RvCamera road_camera(const GstVideoInfo *info) {
  return (RvCamera){
      .focal = 100, .cx = (GST_VIDEO_INFO_WIDTH(info) - 1) / 2.0, .cy = HORIZON, .baseline = 0.5};
}

/* Samples of channel `c` at pixel (x, y): the road is the middle third, wider below. */
static guint8 sample(int c, int x, int y, int width, guint32 noise) {
  static const guint8 colors[3][3] = {{120, 110, 100}, {60, 130, 50}, {90, 160, 210}};
  const int middle = ABS(2 * x - width), half = width / 4 + 2 * (y - HORIZON);
  const int kind = y < HORIZON ? 2 : middle < half ? 0 : 1;
  return (guint8)(colors[kind][c] + (int)(noise >> 28));
}

static void paint(GstBuffer *buffer, const GstVideoInfo *info, int seed) {
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
  const GstVideoFormatInfo *format = frame.info.finfo;
  guint32 state = (guint32)seed * 2654435761u + 1;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++) {
    const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
    const int stride = GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
    const int sx = 1 << GST_VIDEO_FORMAT_INFO_W_SUB(format, c);
    const int sy = 1 << GST_VIDEO_FORMAT_INFO_H_SUB(format, c);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); y++)
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); x++) {
        state = state * 1664525u + 1013904223u;
        ((guint8 *)GST_VIDEO_FRAME_COMP_DATA(&frame, c))[y * stride + x * step] =
            sample((int)MIN(c, 2), x * sx, y * sy, GST_VIDEO_INFO_WIDTH(info), state);
      }
  }
  gst_video_frame_unmap(&frame);
}

static GstBuffer *ground(int width, int height, int seed, gboolean is_empty) {
  GstBuffer *raster = rv_meta_raster_new(RV_U16, width, height);
  RvMetaMap map;
  guint32 state = (guint32)seed * 747796405u + 3;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      state = state * 1664525u + 1013904223u;
      const int value = 6 * (y - HORIZON) + (int)(state >> 31);
      ((guint16 *)((char *)map.plane.data + y * map.plane.stride))[x] =
          (guint16)(is_empty || state >> 24 < 20 ? 0 : MAX(value, 1));
    }
  rv_meta_unmap(&map);
  return raster;
}

GstBuffer *road_image(const GstVideoInfo *info, int seed, int attached) {
  const int width = GST_VIDEO_INFO_WIDTH(info), height = GST_VIDEO_INFO_HEIGHT(info);
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  gst_buffer_memset(buffer, 0, 77, GST_VIDEO_INFO_SIZE(info));
  if (!(attached & ROAD_FLAT))
    paint(buffer, info, seed);
  if (attached & ROAD_DISPARITY) {
    const RvMetaDisparity meta = {
        width, height, 16, 0, 64, ground(width, height, seed, (attached & ROAD_FLAT) != 0), NULL};
    rv_meta_add_disparity(buffer, &meta);
  }
  if (attached & ROAD_CAMERA) {
    const RvCamera camera = road_camera(info);
    rv_meta_add_camera(buffer, width, height, &camera);
  }
  return buffer;
}

/* --- By hand --------------------------------------------------------------------------------- */

static void take_memory(RoadReference *reference) {
  g_free(reference->mask);
  g_free(reference->seeds);
  g_free(reference->score);
  g_free(reference->distance);
  rv_road_size(&reference->config, &reference->columns, &reference->rows);
  const gsize patches = (gsize)reference->columns * (gsize)reference->rows;
  reference->mask = g_malloc(patches);
  reference->seeds = g_malloc(patches);
  reference->score = g_malloc(patches);
  reference->distance = g_new(gfloat, patches);
}

static RvRoadConfig of_picture(const RvRoadConfig *config, const GstVideoInfo *info) {
  RvRoadConfig whole = *config;
  whole.width = GST_VIDEO_INFO_WIDTH(info);
  whole.height = GST_VIDEO_INFO_HEIGHT(info);
  whole.camera = road_camera(info);
  return whole;
}

void road_reference_new(RoadReference *reference, const GstVideoInfo *info,
                        const RvRoadConfig *config) {
  memset(reference, 0, sizeof *reference);
  RvRoadConfig defaults;
  rv_road_config_init(&defaults);
  reference->config = of_picture(config ? config : &defaults, info);
  fail_unless(rv_road_new(&reference->road, &reference->config, RV_CPU) == RV_OK);
  take_memory(reference);
}

void road_reference_config(RoadReference *reference, const RvRoadConfig *config) {
  const RvRoadConfig was = reference->config;
  reference->config = *config;
  reference->config.width = was.width;
  reference->config.height = was.height;
  reference->config.camera = was.camera;
  fail_unless(rv_road_set_config(reference->road, &reference->config, NULL) == RV_OK);
  take_memory(reference);
}

void road_reference_free(RoadReference *reference) {
  rv_road_free(&reference->road);
  g_free(reference->mask);
  g_free(reference->seeds);
  g_free(reference->score);
  g_free(reference->distance);
}

void road_reference_run(RoadReference *reference, GstBuffer *buffer, const GstVideoInfo *info) {
  const int width = reference->config.width, height = reference->config.height;
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_READ));
  const RvPicture picture = test_picture(&frame);
  guint32 *pixels = g_new(guint32, width * height);
  const RvPlane color = {pixels, 4 * (ptrdiff_t)width, width, height, RV_U32};
  fail_unless(rv_convert_color(&picture, info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709,
                               info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255, &color, 1,
                               RV_CPU, NULL, NULL) == RV_OK);
  gst_video_frame_unmap(&frame);
  RvMetaDisparity meta;
  RvMetaMap map;
  const gboolean has = rv_meta_get_disparity(buffer, &meta);
  fail_unless(!has || rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  const RvRoadOutput output = {
      {reference->mask, reference->columns, reference->columns, reference->rows, RV_U8},
      {reference->distance, 4 * (ptrdiff_t)reference->columns, reference->columns, reference->rows,
       RV_F32},
      {reference->seeds, reference->columns, reference->columns, reference->rows, RV_U8},
      &reference->report,
      {reference->score, reference->columns, reference->columns, reference->rows, RV_U8}};
  RvGroundSurface surface;
  const RvGroundSurface *ground =
      has ? test_surface(buffer, meta.width, meta.height, &surface) : NULL;
  fail_unless(rv_road_run_on(reference->road, &color, has ? &map.plane : NULL, ground, &output,
                             NULL) == RV_OK);
  void *memory = g_malloc(rv_road_border_bytes(&reference->config));
  fail_unless(rv_road_border(&reference->config, &output.mask, &reference->report, ground, memory,
                             &reference->border) == RV_OK);
  g_free(memory);
  if (has)
    rv_meta_unmap(&map);
  g_free(pixels);
}

static void check_raster(GstBuffer *raster, const void *wanted, RvFormat format, int columns,
                         int rows) {
  RvMetaMap map;
  const gsize row = (gsize)columns * (format == RV_U8 ? 1 : 4);
  fail_unless(raster && rv_meta_map_buffer(&map, raster, GST_MAP_READ));
  fail_unless(map.plane.format == format && map.plane.width == columns && map.plane.height == rows);
  for (int y = 0; y < rows; y++)
    fail_unless(memcmp((const char *)map.plane.data + y * map.plane.stride,
                       (const char *)wanted + (gsize)y * row, row) == 0,
                "row %d", y);
  rv_meta_unmap(&map);
}

static void check_border(const RvMetaRoad *meta, const RvRoadBorder *wanted) {
  fail_unless_equals_int(meta->border_values, 4 * wanted->count);
  fail_unless(meta->drivable_distance == (double)wanted->drivable);
  fail_unless((meta->border != NULL) == (wanted->count > 0));
  if (meta->border)
    fail_unless(gst_buffer_memcmp(meta->border, 0, wanted->point,
                                  (gsize)wanted->count * sizeof *wanted->point) == 0);
}

void road_reference_check(RoadReference *reference, GstBuffer *buffer, const GstVideoInfo *info) {
  road_reference_run(reference, buffer, info);
  const RvRoadReport *want = &reference->report;
  RvMetaRoad meta;
  fail_unless(rv_meta_get_road(buffer, &meta));
  fail_unless(meta.width == reference->config.width && meta.height == reference->config.height);
  fail_unless_equals_int(meta.patch_size, reference->config.patch_size);
  fail_unless(meta.columns == reference->columns && meta.rows == reference->rows);
  fail_unless_equals_int(meta.models, want->models);
  fail_unless_equals_int(meta.samples, want->samples);
  fail_unless_equals_int(meta.seeds, want->seeds);
  fail_unless_equals_int(meta.samples_matched, want->samples_matched);
  fail_unless_equals_int(meta.models_added, want->models_added);
  fail_unless_equals_int(meta.samples_pending, want->samples_pending);
  fail_unless_equals_int(meta.iterations, want->iterations);
  fail_unless(meta.road_share == (double)want->road / (reference->columns * reference->rows));
  fail_unless(meta.classify_threshold == reference->config.classify_threshold);
  fail_unless(meta.camera_height == (double)want->height);
  fail_unless(want->height == 0 || (meta.ground_slope_x == (double)want->slope_x &&
                                    meta.ground_slope_y == (double)want->slope_y &&
                                    meta.ground_intercept == (double)want->intercept));
  check_raster(meta.payload, reference->mask, RV_U8, reference->columns, reference->rows);
  check_raster(meta.seed_mask, reference->seeds, RV_U8, reference->columns, reference->rows);
  check_raster(meta.score, reference->score, RV_U8, reference->columns, reference->rows);
  check_border(&meta, &reference->border);
  check_raster(meta.distance, reference->distance, RV_F32, reference->columns, reference->rows);
}

GstHarness *road_harness(const char *rest, const char *engine, const char *format, int w, int h,
                         GstVideoInfo *info) {
  GstHarness *harness = test_harness("cudaroaddetect engine=%s %s", engine, rest);
  GstCaps *caps = test_caps(format, w, h, NULL);
  test_info(info, caps);
  gst_harness_set_caps(harness, gst_caps_copy(caps), caps);
  return harness;
}
