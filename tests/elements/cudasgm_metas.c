/* SPDX-License-Identifier: MIT */
/* cudasgm_metas.c: cameras, ground truth and regions that cudasgm receives with a pair: what stays
 * valid for the left view, and what is said about the rest; the order of the views in caps. */
#include "element_test.h"

#include <string.h>

typedef struct Sgm {
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info;
} Sgm;

/* `more`: further fields of the caps, or NULL. */
static Sgm sgm_new(const char *properties, int width, int height, const char *more) {
  Sgm sgm;
  char *line = g_strdup_printf("cudasgm engine=cpu disparities=32 %s", properties);
  sgm.harness = gst_harness_new_parse(line);
  sgm.bus = test_bus(sgm.harness);
  GstCaps *caps = test_caps("GRAY8", width, height, more);
  test_info(&sgm.info, caps);
  gst_harness_set_src_caps(sgm.harness, caps);
  g_free(line);
  return sgm;
}

static void sgm_free(Sgm *sgm) {
  test_bus_free(sgm->bus);
  gst_harness_teardown(sgm->harness);
}

static GstBuffer *sgm_run(Sgm *sgm, GstBuffer *pair) {
  GstBuffer *out = gst_harness_push_and_pull(sgm->harness, pair);
  fail_unless(out != NULL);
  return out;
}

/* --- Crops and scales ------------------------------------------------------------------------ */

/* Camera, ground truth and skew of views of 128 x 64 px. */
static GstBuffer *annotated(const GstVideoInfo *info, gboolean top_bottom) {
  GstBuffer *pair = test_pair_new(info, top_bottom, FALSE, 5, 1);
  const RvCamera camera = {100, 60, 30, 2, 0.5, 1.2, 3};
  rv_meta_add_camera(pair, 128, 64, &camera);
  const RvMetaTruth truth = {
      .width = 128, .height = 64, .disparity = rv_meta_raster_new(RV_U16, 128, 64)};
  rv_meta_add_truth(pair, &truth);
  const RvMetaPair times = {128, 64, 1000, 0, 1000};
  rv_meta_add_pair(pair, &times);
  return pair;
}

typedef struct Crop {
  const char *properties;
  int width, height; /* of the packed frame */
  gboolean top_bottom;
  const char *more;
  gboolean camera, truth; /* attached to the output */
  RvCamera expected;
} Crop;

#define NO_CAMERA                                                                                  \
  { 0, 0, 0, 0, 0, 0, 0 }

static const Crop crops[] = {
    {"", 256, 64, FALSE, NULL, TRUE, TRUE, {100, 60, 30, 2, 0.5, 1.2, 3}},
    /* Scaled: everything follows. */
    {"", 128, 32, FALSE, NULL, TRUE, TRUE, {50, 30, 15, 1, 0.5, 1.2, 3}},
    {"", 384, 96, FALSE, NULL, TRUE, TRUE, {150, 90, 45, 3, 0.5, 1.2, 3}},
    {"",
     86,
     21,
     FALSE,
     NULL,
     TRUE,
     TRUE,
     {100 * 43 / 128.0, 60 * 43 / 128.0, 30 * 21 / 64.0, 2 * 43 / 128.0, 0.5, 1.2, 3}},
    {"", 128, 64, FALSE, "pixel-aspect-ratio=2/1", TRUE, TRUE, {50, 30, 30, 1, 0.5, 1.2, 3}},
    /* Rows cropped: cy is lost, unless it is given. */
    {"", 256, 48, FALSE, NULL, FALSE, FALSE, NO_CAMERA},
    {"cy=22", 256, 48, FALSE, NULL, TRUE, FALSE, {100, 60, 22, 2, 0.5, 1.2, 3}},
    /* Columns of a side-by-side pair cropped: views and doffs are shifted by an unknown amount. */
    {"", 192, 64, FALSE, NULL, FALSE, FALSE, NO_CAMERA},
    {"cx=40", 192, 64, FALSE, NULL, FALSE, FALSE, NO_CAMERA},
    {"focal-length=90 baseline=0.4 cx=40 cy=31",
     192,
     64,
     FALSE,
     NULL,
     TRUE,
     FALSE,
     {90, 40, 31, 0, 0.4, 0, 0}},
    {"layout=side-by-side", 192, 48, FALSE, NULL, TRUE, TRUE, {75, 45, 22.5, 1.5, 0.5, 1.2, 3}},
    /* Top-bottom: the other way round. */
    {"layout=top-bottom", 128, 128, TRUE, NULL, TRUE, TRUE, {100, 60, 30, 2, 0.5, 1.2, 3}},
    {"layout=top-bottom", 96, 128, TRUE, NULL, FALSE, FALSE, NO_CAMERA},
    {"layout=top-bottom cx=44", 96, 128, TRUE, NULL, TRUE, FALSE, {100, 44, 30, 2, 0.5, 1.2, 3}},
    {"layout=top-bottom cy=20", 128, 96, TRUE, NULL, FALSE, FALSE, NO_CAMERA},
};

static gboolean near(double a, double b) {
  return ABS(a - b) < 1e-9;
}

GST_START_TEST(test_crops) {
  const Crop *crop = &crops[__i__];
  Sgm sgm = sgm_new(crop->properties, crop->width, crop->height, crop->more);
  for (int i = 0; i < 2; i++) {
    GstBuffer *out = sgm_run(&sgm, annotated(&sgm.info, crop->top_bottom));
    RvCamera got;
    RvMetaTruth truth;
    RvMetaPair times;
    int w = 0, h = 0;
    const gboolean has_camera = rv_meta_get_camera(out, &got, &w, &h);
    fail_unless(has_camera == crop->camera, "case %d", __i__);
    if (has_camera)
      fail_unless(
          near(got.focal, crop->expected.focal) && near(got.cx, crop->expected.cx) &&
              near(got.cy, crop->expected.cy) && near(got.doffs, crop->expected.doffs) &&
              near(got.baseline, crop->expected.baseline) &&
              near(got.height, crop->expected.height) && near(got.pitch, crop->expected.pitch),
          "case %d: %g %g %g %g %g", __i__, got.focal, got.cx, got.cy, got.doffs, got.baseline);
    fail_unless(rv_meta_get_truth(out, &truth) == crop->truth, "case %d", __i__);
    fail_unless(rv_meta_get_pair(out, &times) && times.skew == 1000, "case %d", __i__);
    gst_buffer_unref(out);
  }
  char *warning = test_message(sgm.bus, GST_MESSAGE_WARNING);
  if (crop->truth)
    fail_unless(warning == NULL, "case %d: %s", __i__, warning);
  else
    fail_unless(warning && strstr(warning, "cropped") && strstr(warning, "RvTruthMeta") &&
                    (crop->camera || strstr(warning, "RvCameraMeta")),
                "case %d: %s", __i__, warning);
  g_free(warning);
  test_expect_warning(sgm.bus, NULL, NULL);
  sgm_free(&sgm);
}
GST_END_TEST

/* A crop of rows changes neither focal length nor baseline: depth is still known. */
GST_START_TEST(test_depth_of_cropped) {
  Sgm sgm = sgm_new("output=depth", 256, 48, NULL);
  GstBuffer *out = sgm_run(&sgm, annotated(&sgm.info, FALSE));
  GstMapInfo map;
  fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
  const GstVideoMeta *video = gst_buffer_get_video_meta(out);
  const gsize stride = video ? (gsize)video->stride[0] : 256;
  fail_unless_equals_int(((const guint16 *)(map.data + 24 * stride))[80],
                         7143); /* 50 / (5 + 2) m */
  gst_buffer_unmap(out, &map);
  gst_buffer_unref(out);
  sgm_free(&sgm);
}
GST_END_TEST

/* --- Regions --------------------------------------------------------------------------------- */

static GstVideoRegionOfInterestMeta *region(GstBuffer *buffer, guint i) {
  gpointer state = NULL;
  GstMeta *meta = NULL;
  for (guint k = 0; k <= i; k++)
    meta = gst_buffer_iterate_meta_filtered(buffer, &state,
                                            GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  return (GstVideoRegionOfInterestMeta *)meta;
}

/* Regions of the packed frame; the left view is at (x, y). */
static void check_regions(const char *properties, gboolean top_bottom, gboolean right_first,
                          guint x, guint y) {
  Sgm sgm = sgm_new(properties, top_bottom ? 128 : 256, top_bottom ? 128 : 64, NULL);
  GstBuffer *pair = test_pair_new(&sgm.info, top_bottom, right_first, 5, 1);
  GstVideoRegionOfInterestMeta *car =
      gst_buffer_add_video_region_of_interest_meta(pair, "car", x + 10, y + 20, 30, 12);
  gst_video_region_of_interest_meta_add_param(
      car, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, NULL));
  car->id = 7;
  /* In the other view, mostly there, mostly here. */
  const guint ox = x > 0 ? 0 : top_bottom ? 0 : 128, oy = y > 0 ? 0 : top_bottom ? 64 : 0;
  gst_buffer_add_video_region_of_interest_meta(pair, "other", ox + 10, oy + 20, 30, 12);
  if (x == 0 && !top_bottom) {
    gst_buffer_add_video_region_of_interest_meta(pair, "beyond", 120, 5, 40, 8);
    gst_buffer_add_video_region_of_interest_meta(pair, "edge", 108, 5, 30, 8);
  }
  GstBuffer *out = sgm_run(&sgm, pair);
  GstVideoRegionOfInterestMeta *got = region(out, 0);
  fail_unless(got != NULL, "%s", properties);
  fail_unless(got->x == 10 && got->y == 20 && got->w == 30 && got->h == 12 && got->id == 7,
              "%s: %u %u", properties, got->x, got->y);
  fail_unless_equals_string(g_quark_to_string(got->roi_type), "car");
  GstStructure *detection = gst_video_region_of_interest_meta_get_param(got, "detection");
  double confidence = 0;
  fail_unless(detection && gst_structure_get_double(detection, "confidence", &confidence) &&
              confidence == 0.75);
  GstVideoRegionOfInterestMeta *edge = region(out, 1);
  if (x == 0 && !top_bottom)
    fail_unless(edge && edge->x == 108 && edge->w == 20 && !region(out, 2), "%s", properties);
  else
    fail_unless(edge == NULL, "%s", properties);
  gst_buffer_unref(out);
  sgm_free(&sgm);
}

GST_START_TEST(test_regions) {
  check_regions("", FALSE, FALSE, 0, 0);
  check_regions("layout=side-by-side-right-first", FALSE, TRUE, 128, 0);
  check_regions("layout=top-bottom", TRUE, FALSE, 0, 0);
  check_regions("layout=top-bottom-right-first", TRUE, TRUE, 0, 64);
}
GST_END_TEST

/* --- Order of the views ---------------------------------------------------------------------- */

#define RIGHT_FIRST                                                                                \
  "multiview-mode=side-by-side, multiview-flags=(GstVideoMultiviewFlagsSet)00000001:ffffffff"

/* Caps that are wrong about the order are reported with the first frame; right ones never. */
GST_START_TEST(test_right_first) {
  for (int wrong = 0; wrong < 2; wrong++) {
    Sgm sgm = sgm_new("", 480, 64, RIGHT_FIRST);
    char *warning = NULL;
    for (guint i = 0; i < 40; i++) {
      gst_buffer_unref(sgm_run(&sgm, test_pair_new(&sgm.info, FALSE, !wrong, 12, i)));
      char *text = test_message(sgm.bus, GST_MESSAGE_WARNING);
      fail_unless((text != NULL) == (wrong && i == 0), "frame %u: %s", i, text);
      if (text)
        warning = text;
    }
    if (wrong)
      fail_unless(strstr(warning, "right-view-first") && strstr(warning, "layout=side-by-side") &&
                      strstr(warning, "matroskamux"),
                  "%s", warning);
    g_free(warning);
    sgm_free(&sgm);
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  LOOP(test_crops, (int)G_N_ELEMENTS(crops)) TEST(test_depth_of_cropped) TEST(test_regions) \
  TEST(test_right_first)
/* clang-format on */

ELEMENT_TESTS(cudasgm_metas, TESTS)
