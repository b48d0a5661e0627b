/* SPDX-License-Identifier: MIT */
/* cudarectify.c: the element against the library called directly, on each engine there is: formats,
 * layouts, sizes, changes while playing, rectified input, and the errors of calibration files. */
#include "element_test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "rectify/rectify.h"

enum { W = 64, H = 48 }; /* one view */

static const char *const engines[] = {"cpu", "cuda"};
static const char *const formats[] = {TEST_FORMATS, "GRAY16_LE"};

static int format_of(guint index) {
  return index + 1 < G_N_ELEMENTS(formats) ? (int)index : RV_PIXEL_GRAY16;
}

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

/* A file of calibration_files_tool.py; to be freed. */
static char *file_of(const char *name) {
  const char *folder = g_getenv("RV_CALIBRATION_FILES");
  fail_unless(folder != NULL, "RV_CALIBRATION_FILES is not set");
  return g_build_filename(folder, name, NULL);
}

/* A new file with that text; to be removed and freed. */
static char *write_file(const char *text) {
  char *name = NULL;
  const int handle = g_file_open_tmp("rvcalXXXXXX", &name, NULL);
  fail_unless(handle >= 0);
  g_close(handle, NULL);
  fail_unless(g_file_set_contents(name, text, -1, NULL));
  return name;
}

static GstHarness *harness_new(const char *engine, const char *file, const char *more) {
  char *path = file_of(file);
  GstHarness *harness = test_harness("cudarectify engine=%s calibration=%s %s", engine, path, more);
  g_free(path);
  return harness;
}

/* Chroma samples lie on the columns of luma samples, also when the caps do not say it. */
static gboolean is_cosited(const GstVideoInfo *info) {
  const GstVideoChromaSite site = GST_VIDEO_INFO_CHROMA_SITE(info);
  return !site || (site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
}

/* The library's config for opencv.yml. */
static RvRectifyConfig config_of(const GstVideoInfo *info, RvRectifyLayout layout, int format) {
  RvRectifyConfig config;
  RvCalibrationOptions options;
  rv_rectify_config_init(&config);
  rv_calibration_options_init(&options);
  char *path = file_of("opencv.yml");
  fail_unless(rv_calibration_read(&config.calibration, path, NULL, &options) == RV_OK);
  g_free(path);
  const gboolean top_bottom = layout >= RV_RECTIFY_TOP_BOTTOM;
  config.in_width = GST_VIDEO_INFO_WIDTH(info) / (top_bottom ? 1 : 2);
  config.in_height = GST_VIDEO_INFO_HEIGHT(info) / (top_bottom ? 2 : 1);
  config.layout = layout;
  config.format = (RvPixelFormat)format;
  return config;
}

/* `out` must be what the library makes of `in`. */
static void check_pixels(const RvRectifyConfig *config, GstBuffer *in, const GstVideoInfo *in_info,
                         GstBuffer *out, const GstVideoInfo *out_info) {
  GstVideoFrame from, got, want;
  RvRectify *rectify = NULL;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(out_info), NULL);
  fail_unless(rv_rectify_new(&rectify, config, RV_CPU) == RV_OK);
  fail_unless(gst_video_frame_map(&from, in_info, in, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&got, out_info, out, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&want, out_info, buffer, GST_MAP_WRITE));
  const RvPicture source = test_picture(&from);
  const RvPicture target = test_picture(&want);
  fail_unless(rv_rectify_run(rectify, &source, &target, NULL) == RV_OK);
  for (int p = 0; p < rv_pixel_planes(config->format); p++)
    for (int y = 0; y < rv_pixel_rows(config->format, p, target.height); y++)
      fail_unless(memcmp((guint8 *)target.data[p] + y * target.stride[p],
                         (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&got, p) +
                             y * GST_VIDEO_FRAME_PLANE_STRIDE(&got, p),
                         rv_pixel_row_bytes(config->format, p, target.width)) == 0,
                  "plane %d row %d differs", p, y);
  gst_video_frame_unmap(&from);
  gst_video_frame_unmap(&got);
  gst_video_frame_unmap(&want);
  gst_buffer_unref(buffer);
  rv_rectify_free(&rectify);
}

static void check_camera(GstBuffer *buffer, const RvRectifyConfig *config) {
  RvMetaCamera meta;
  RvRectifyGeometry geometry;
  fail_unless(rv_rectify_geometry(config, &geometry) == RV_OK);
  fail_unless(rv_meta_camera_read(&meta, buffer, NULL));
  fail_unless(meta.width == geometry.width && meta.height == geometry.height);
  fail_unless(meta.focal == geometry.camera.focal && meta.cx == geometry.camera.cx &&
              meta.cy == geometry.camera.cy && meta.doffs == geometry.camera.doffs);
  fail_unless(ABS(meta.baseline - 0.12) < 1e-3);
  fail_unless(meta.valid_width > 0 && meta.valid_width <= geometry.width);
}

/* Checks both of a frame, and frees the frames. */
static void check_frame(const RvRectifyConfig *config, GstBuffer *in, const GstVideoInfo *in_info,
                        GstBuffer *out, const GstVideoInfo *out_info) {
  check_pixels(config, in, in_info, out, out_info);
  check_camera(out, config);
  gst_buffer_unref(in);
  gst_buffer_unref(out);
}

/* Pushes a frame, of which the caller keeps a reference, and returns its rectified one. */
static GstBuffer *rectified(GstHarness *harness, GstBuffer *in) {
  gst_buffer_ref(in);
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  fail_unless(out != NULL && out != in);
  return out;
}

GST_START_TEST(test_formats) {
  static const struct {
    const char *name;
    RvRectifyLayout layout;
  } layouts[] = {{"side-by-side", RV_RECTIFY_SIDE_BY_SIDE},
                 {"side-by-side-right-first", RV_RECTIFY_SIDE_BY_SIDE_RIGHT_FIRST},
                 {"top-bottom", RV_RECTIFY_TOP_BOTTOM},
                 {"top-bottom-right-first", RV_RECTIFY_TOP_BOTTOM_RIGHT_FIRST}};
  for (int e = 0; e < engine_count(); e++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (guint l = 0; l < G_N_ELEMENTS(layouts); l++) {
        char *more = g_strdup_printf("layout=%s", layouts[l].name);
        GstHarness *harness = harness_new(engines[e], "opencv.yml", more);
        const gboolean top_bottom = layouts[l].layout >= RV_RECTIFY_TOP_BOTTOM;
        GstVideoInfo info;
        /* odd view sizes: 4:2:x chroma is shared between the views */
        test_set_caps(harness, formats[f], top_bottom ? 127 : 2 * 127, top_bottom ? 2 * 95 : 95,
                      NULL, &info);
        RvRectifyConfig config = config_of(&info, layouts[l].layout, format_of(f));
        config.chroma_cosited_x = is_cosited(&info);
        config.chroma_cosited_y =
            (GST_VIDEO_INFO_CHROMA_SITE(&info) & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0;
        for (int frame = 0; frame < 3; frame++) {
          GstBuffer *in = test_pair_new(&info, top_bottom, FALSE, 3, (guint32)frame + f);
          if (frame == 2) /* a copy, says its flag: it has pixels all the same */
            GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_GAP);
          GstBuffer *out = rectified(harness, in);
          check_frame(&config, in, &info, out, &info);
        }
        g_free(more);
        gst_harness_teardown(harness);
      }
}
GST_END_TEST

/* Box of the bright pixels of a view. */
static void bright_box(const GstVideoFrame *frame, int left, int top, int w, int h, int *x0,
                       int *y0, int *x1, int *y1) {
  *x0 = *y0 = G_MAXINT;
  *x1 = *y1 = -1;
  for (int y = top; y < top + h; y++)
    for (int x = left; x < left + w; x++)
      if (((const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(
              frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0) + x] > 127) {
        *x0 = MIN(*x0, x);
        *y0 = MIN(*y0, y);
        *x1 = MAX(*x1, x + 1);
        *y1 = MAX(*y1, y + 1);
      }
}

/* Where the marked pixels of a view go, its region goes. */
GST_START_TEST(test_regions) {
  for (int below = 0; below < 2; below++) {
    GstHarness *harness = harness_new("cpu", "opencv.yml", below ? "layout=top-bottom" : "");
    GstVideoInfo info;
    const int w = 640, h = 480, sx = below ? 0 : w, sy = below ? h : 0;
    test_set_caps(harness, "GRAY8", w + sx, h + sy, NULL, &info);
    GstBuffer *in = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
    gst_buffer_memset(in, 0, 0, GST_VIDEO_INFO_SIZE(&info));
    GstVideoFrame frame;
    fail_unless(gst_video_frame_map(&frame, &info, in, GST_MAP_WRITE));
    const int at[2][2] = {{60, 50},
                          {sx + 480, sy + 330}}; /* one in each view, far from the center */
    for (int k = 0; k < 2; k++) {
      for (int y = 0; y < 60; y++)
        memset((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                   (at[k][1] + y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + at[k][0],
               255, 80);
    }
    gst_video_frame_unmap(&frame);
    for (int k = 0; k < 2; k++) {
      GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
          in, "car", (guint)at[k][0], (guint)at[k][1], 80, 60);
      region->id = 5 + k;
      gst_video_region_of_interest_meta_add_param(
          region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.5, NULL));
    }
    gst_buffer_add_video_region_of_interest_meta(in, "both", (guint)(sx ? sx - 30 : 9),
                                                 (guint)(sy ? sy - 30 : 9), 60, 60);
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    fail_unless(gst_video_frame_map(&frame, &info, out, GST_MAP_READ));
    gpointer state = NULL;
    GstMeta *meta;
    int found = 0;
    while ((meta = gst_buffer_iterate_meta_filtered(out, &state,
                                                    GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
      const GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *)meta;
      if (region->roi_type == g_quark_from_static_string("both"))
        continue; /* half of it lies in its view: it may stay */
      const int second = region->id == 6;
      fail_unless(gst_video_region_of_interest_meta_get_param((gpointer)region, "detection"));
      int x0, y0, x1, y1;
      bright_box(&frame, second ? sx : 0, second ? sy : 0, w, h, &x0, &y0, &x1, &y1);
      fail_unless(ABS((int)region->x - x0) <= 1 && ABS((int)region->y - y0) <= 1 &&
                      ABS((int)(region->x + region->w) - x1) <= 1 &&
                      ABS((int)(region->y + region->h) - y1) <= 1,
                  "region %d: %u, %u, %ux%u, pixels %d, %d, %dx%d", region->id, region->x,
                  region->y, region->w, region->h, x0, y0, x1 - x0, y1 - y0);
      found++;
    }
    fail_unless_equals_int(found, 2);
    gst_video_frame_unmap(&frame);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* A lens that folds the image 205 px from the center (k1 = -0.36, focal length 320 px): regions before
 * the fold move, one whose center lies beyond it is dropped. */
GST_START_TEST(test_fold) {
  static const char text[] =
      "M1: [320, 0, 319.5, 0, 320, 239.5, 0, 0, 1]\nD1: [-0.36, 0, 0, 0, 0]\n"
      "M2: [320, 0, 319.5, 0, 320, 239.5, 0, 0, 1]\nD2: [-0.36, 0, 0, 0, 0]\n"
      "R1: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nR2: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
      "P1: [200, 0, 319.5, 0, 0, 200, 239.5, 0, 0, 0, 1, 0]\n"
      "P2: [200, 0, 319.5, -20, 0, 200, 239.5, 0, 0, 0, 1, 0]\n"
      "image_width: 640\nimage_height: 480\n";
  static const int at[3][2] = {{315, 230}, {20, 10}, {110, 220}}; /* the third one on the fold */
  GstVideoInfo info;
  char *path = write_file(text);
  GstHarness *harness = test_harness("cudarectify engine=cpu calibration=%s", path);
  test_set_caps(harness, "GRAY8", 1280, 480, NULL, &info);
  GstBuffer *in = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
  gst_buffer_memset(in, 0, 0, GST_VIDEO_INFO_SIZE(&info));
  for (int k = 0; k < 3; k++)
    gst_buffer_add_video_region_of_interest_meta(in, "car", (guint)at[k][0], (guint)at[k][1], 20,
                                                 20)
        ->id = 5 + k;
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  gpointer state = NULL;
  const GstVideoRegionOfInterestMeta *region;
  int found = 0;
  while ((region = test_next_region(out, &state))) {
    fail_unless(region->id != 6, "beyond the fold: %u, %u", region->x, region->y);
    fail_unless(region->x < 640 && region->y > 200 && region->y < 260);
    found++;
  }
  fail_unless_equals_int(found, 2);
  test_drop(harness, out);
  g_remove(path);
  g_free(path);
}
GST_END_TEST

/* Chroma siting and range of the caps decide about chroma and the border. */
GST_START_TEST(test_colorimetry) {
  static const struct {
    const char *more;
    int x, y, full;
  } kinds[] = {{"chroma-site=jpeg, colorimetry=1:4:0:0", 0, 0, 1},
               {"chroma-site=mpeg2, colorimetry=bt709", 1, 0, 0},
               {"chroma-site=cosited, colorimetry=bt601", 1, 1, 0}};
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
    GstHarness *harness = harness_new("cpu", "opencv.yml", "alpha=1");
    GstVideoInfo info;
    test_set_caps(harness, "NV12", 2 * W, H, kinds[k].more, &info);
    RvRectifyConfig config = config_of(&info, RV_RECTIFY_SIDE_BY_SIDE, RV_PIXEL_NV12);
    config.alpha = 1;
    config.chroma_cosited_x = kinds[k].x;
    config.chroma_cosited_y = kinds[k].y;
    config.full_range = kinds[k].full;
    GstBuffer *in = test_pair_new(&info, FALSE, FALSE, 3, k);
    GstBuffer *out = rectified(harness, in);
    check_pixels(&config, in, &info, out, &info);
    gst_buffer_unref(in);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* Output size, alpha and interpolation; changed while playing. */
GST_START_TEST(test_properties) {
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "opencv.yml", "");
    GstElement *element = gst_harness_find_element(harness, "cudarectify");
    GstVideoInfo info;
    test_set_caps(harness, "I420", 2 * W, H, NULL, &info);
    RvRectifyConfig config = config_of(&info, RV_RECTIFY_SIDE_BY_SIDE, RV_PIXEL_I420);
    config.chroma_cosited_x = is_cosited(&info);
    for (int step = 0; step < 5; step++) {
      if (step == 1)
        g_object_set(element, "alpha", config.alpha = 1.0, NULL);
      if (step == 2)
        g_object_set(element, "interpolation", config.interpolation = RV_RECTIFY_NEAREST, NULL);
      if (step == 3)
        g_object_set(element, "width", config.width = 40, NULL);
      if (step == 4)
        g_object_set(element, "width", config.width = 0, "height", config.height = 20, NULL);
      GstBuffer *in = test_pair_new(&info, FALSE, FALSE, 3, (guint32)step);
      GstBuffer *out = rectified(harness, in);
      GstCaps *caps = gst_pad_get_current_caps(harness->sinkpad);
      GstVideoInfo out_info;
      test_info(&out_info, caps);
      gst_caps_unref(caps);
      fail_unless_equals_int(GST_VIDEO_INFO_WIDTH(&out_info), step == 3 ? 80 : 2 * W);
      fail_unless_equals_int(GST_VIDEO_INFO_HEIGHT(&out_info), step == 3 ? 30 : step == 4 ? 20 : H);
      check_frame(&config, in, &info, out, &out_info);
    }
    gst_object_unref(element);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* A pair that the file describes as rectified keeps its memory and gets the camera. */
GST_START_TEST(test_rectified) {
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "kitti.txt", "");
    GstVideoInfo info;
    test_set_caps(harness, "NV12", 1280, 480, NULL, &info);
    GstBuffer *in = test_pair_new(&info, FALSE, FALSE, 3, 1);
    GstMemory *memory = gst_memory_ref(gst_buffer_peek_memory(in, 0));
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    fail_unless(gst_buffer_peek_memory(out, 0) == memory, "the frame was copied");
    gst_memory_unref(memory);
    RvMetaCamera meta;
    fail_unless(rv_meta_camera_read(&meta, out, NULL));
    fail_unless(meta.width == 640 && meta.valid_width == 640 && meta.valid_height == 480);
    fail_unless(ABS(meta.baseline - 0.12) < 1e-3);
    gst_buffer_unref(out);

    /* to a camera that needs rectification, and back */
    for (int step = 0; step < 4; step++) {
      const gboolean raw = step % 2 == 0;
      char *path = file_of(raw ? "opencv.yml" : "kitti.txt");
      gst_harness_set(harness, "cudarectify", "calibration", path, NULL);
      g_free(path);
      in = test_pair_new(&info, FALSE, FALSE, 3, 2);
      gst_buffer_ref(in);
      out = gst_harness_push_and_pull(harness, in);
      if (raw) {
        RvRectifyConfig config = config_of(&info, RV_RECTIFY_SIDE_BY_SIDE, RV_PIXEL_NV12);
        config.chroma_cosited_x = is_cosited(&info);
        check_pixels(&config, in, &info, out, &info);
      } else {
        fail_unless(gst_buffer_peek_memory(out, 0) == gst_buffer_peek_memory(in, 0));
      }
      gst_buffer_unref(in);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* Ground truth is that of the unrectified image; height and pitch of the camera remain. */
GST_START_TEST(test_annotations) {
  GstHarness *harness = harness_new("cpu", "opencv.yml", "");
  GstVideoInfo info;
  test_set_caps(harness, "GRAY8", 2 * W, H, NULL, &info);
  GstBuffer *in = test_pair_new(&info, FALSE, FALSE, 3, 1);
  const RvCamera camera = {.focal = 1, .baseline = 1, .height = 1.5, .pitch = 2};
  rv_meta_add_camera(in, W, H, &camera);
  RvMetaTruth truth = {.width = W, .height = H, .road = rv_meta_raster_new(RV_U8, W, H)};
  rv_meta_add_truth(in, &truth);
  fail_unless(rv_meta_find(in, RV_META_TRUTH) != NULL);
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  RvMetaCamera meta;
  fail_unless(rv_meta_camera_read(&meta, out, NULL));
  fail_unless(meta.focal > 40 && meta.camera_height == 1.5 && meta.pitch == 2);
  fail_if(rv_meta_find(out, RV_META_TRUTH));
  test_drop(harness, out);
}
GST_END_TEST

/* --- Errors ---------------------------------------------------------------------------------- */

/* The error for a file and caps contains `words`. */
static void expect_error(const char *properties, int width, int height, const char *words) {
  char *line = g_strdup_printf("cudarectify engine=cpu %s", properties);
  TestElement test = test_start(line, "NV12", width, height, NULL);
  char *text = test_message(test.bus, GST_MESSAGE_ERROR);
  fail_unless(text && strstr(text, words), "%s: \"%s\" is not in: %s", properties, words,
              text ? text : "no error");
  g_free(text);
  test_end(&test);
  g_free(line);
}

static void expect_file_error(const char *content, const char *words) {
  char *path = write_file(content);
  char *properties = g_strdup_printf("calibration=%s", path);
  expect_error(properties, 1280, 480, words);
  expect_error(properties, 1280, 480, path);
  g_free(properties);
  g_unlink(path);
  g_free(path);
}

GST_START_TEST(test_errors) {
  char *opencv = file_of("opencv.yml"), *ros = file_of("ros_left.yaml");
  char *properties = g_strdup_printf("calibration=%s", opencv);
  expect_error("", 1280, 480, "No calibration file is set");
  expect_error("calibration=/no/such/file.yml", 1280, 480, "/no/such/file.yml cannot be opened");
  expect_error(properties, 1280, 360,
               "made for views of 640 x 480 px, the frames have views of 640 "
               "x 360 px");
  expect_error(properties, 640, 480, "is not detected");
  expect_error(properties, 1281, 480, "odd");
  g_free(properties);
  properties = g_strdup_printf("calibration=%s", ros);
  expect_error(properties, 1280, 480, "calibration-right");
  g_free(properties);
  properties = g_strdup_printf("calibration=%s calibration-right=%s", ros, ros);
  expect_error(properties, 1280, 480, "the baseline is 0");
  g_free(properties);
  properties = g_strdup_printf("calibration=%s alpha=0 lens=fisheye", ros);
  expect_error(properties, 1280, 480, "calibration-right");
  g_free(properties);
  g_free(opencv);
  g_free(ros);
  expect_file_error("", "the file is empty");
  expect_file_error("not a calibration", "not a known calibration format");
  expect_file_error("M1: [1, 2\n", ":2: expected ',' or ']'");
  expect_file_error("M1: &a [1]\nD1: [*a, *a, *a, *a, *a, *a, *a, *a]\n", ":1: YAML anchors");
  expect_file_error("M1: [500, 0, .nan, 0, 500, 240, 0, 0, 1]\n", ":1: M1: number 3 is not finite");
  expect_file_error("M1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0, 0, 0, 0, 0]\n",
                    "M2 is missing");
}
GST_END_TEST

/* A file that is not usable while playing: a warning, the previous camera remains. */
GST_START_TEST(test_bad_change) {
  GstHarness *harness = harness_new("cpu", "opencv.yml", "");
  GstElement *element = gst_harness_find_element(harness, "cudarectify");
  GstBus *bus = test_bus(harness);
  GstVideoInfo info;
  test_set_caps(harness, "GRAY8", 2 * W, H, NULL, &info);
  const RvRectifyConfig config = config_of(&info, RV_RECTIFY_SIDE_BY_SIDE, RV_PIXEL_GRAY8);
  for (int step = 0; step < 3; step++) {
    if (step == 1)
      g_object_set(element, "calibration", "/no/such/file.yml", NULL);
    GstBuffer *in = test_pair_new(&info, FALSE, FALSE, 3, (guint32)step);
    GstBuffer *out = rectified(harness, in);
    check_pixels(&config, in, &info, out, &info);
    gst_buffer_unref(in);
    gst_buffer_unref(out);
  }
  char *text = test_message(bus, GST_MESSAGE_WARNING);
  fail_unless(text && strstr(text, "/no/such/file.yml"), "%s", text ? text : "no warning");
  g_free(text);
  gst_object_unref(element);
  test_close(harness, bus);
}
GST_END_TEST

/* A baseline in mm is used, with one warning. */
GST_START_TEST(test_warning) {
  GstHarness *harness = harness_new("cpu", "opencv.yml", "baseline-scale=1000");
  GstBus *bus = test_bus(harness);
  GstVideoInfo info;
  test_set_caps(harness, "GRAY8", 2 * W, H, NULL, &info);
  gst_buffer_unref(gst_harness_push_and_pull(harness, test_pair_new(&info, FALSE, FALSE, 3, 1)));
  char *text = test_message(bus, GST_MESSAGE_WARNING);
  fail_unless(text && strstr(text, "baseline-scale"), "%s", text ? text : "no warning");
  g_free(text);
  test_expect_warning(bus, NULL, NULL);
  test_close(harness, bus);
}
GST_END_TEST

/* --- Negotiation ----------------------------------------------------------------------------- */

static void expect_size(const char *line, const char *caps, int width, int height) {
  char *path = file_of(strstr(line, "raw") ? "kitti_raw.txt" : "opencv.yml");
  char **parts = g_strsplit(line, "FILE", 2), *full = g_strjoin(path, parts[0], parts[1], NULL);
  GstHarness *harness = gst_harness_new_parse(full);
  gst_harness_set_src_caps_str(harness, caps);
  GstCaps *out = gst_pad_get_current_caps(harness->sinkpad);
  GstVideoInfo info;
  fail_unless(out != NULL, "%s: not negotiated", line);
  test_info(&info, out);
  fail_unless(GST_VIDEO_INFO_WIDTH(&info) == width && GST_VIDEO_INFO_HEIGHT(&info) == height,
              "%s: %dx%d", line, GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
  gst_caps_unref(out);
  gst_harness_teardown(harness);
  g_strfreev(parts);
  g_free(full);
  g_free(path);
}

GST_START_TEST(test_sizes) {
  static const char caps[] = "video/x-raw,format=NV12,width=1280,height=480,framerate=30/1";
  expect_size("cudarectify calibration=FILE", caps, 1280, 480);
  expect_size("cudarectify calibration=FILE width=320", caps, 640, 240);
  expect_size("cudarectify calibration=FILE width=320 height=200", caps, 640, 200);
  expect_size("cudarectify calibration=FILE layout=top-bottom",
              "video/x-raw,format=NV12,width=640,height=960,framerate=30/1", 640, 960);
  expect_size("cudarectify name=raw calibration=FILE", caps, 2 * 622, 466);
  /* multiview fields pass: the output is a pair too */
  GstHarness *harness = harness_new("cpu", "opencv.yml", "");
  gst_harness_set_src_caps_str(harness, "video/x-raw,format=NV12,width=1280,height=480,"
                                        "framerate=30/1,multiview-mode=side-by-side,views=2");
  GstCaps *out = gst_pad_get_current_caps(harness->sinkpad);
  fail_unless(out && gst_structure_has_field(gst_caps_get_structure(out, 0), "multiview-mode"));
  gst_caps_unref(out);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_formats) TEST(test_regions) TEST(test_fold) TEST(test_colorimetry) TEST(test_properties) TEST(test_rectified) \
  TEST(test_annotations) TEST(test_errors) TEST(test_bad_change) TEST(test_warning) \
  TEST(test_sizes)
/* clang-format on */

ELEMENT_TESTS(cudarectify, TESTS)
