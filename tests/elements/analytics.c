/* SPDX-License-Identifier: MIT */
/* analytics.c: object detections of GstAnalytics (GStreamer 1.24): through cudasgm and cudarectify, into
 * and out of cudaobstacles. Skipped (77) in builds without that library. */
#include "element_test.h"

#include <stdio.h>

#include "gstrvconfig.h"

#if HAVE_GST_ANALYTICS

#  include <gst/analytics/analytics.h>

#  include "gstcudaobstacles_boxes.h"

enum { W = 320, H = 240, FRAMES = 8 };

static GstAnalyticsRelationMeta *add_box(GstBuffer *buffer, const char *type, int x, int y, int w,
                                         int h, guint *id) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  GstAnalyticsODMtd detection;
  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta(buffer);
  fail_unless(gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string(type), x, y, w,
                                                     h, 0.75f, &detection));
  if (id)
    *id = detection.id;
  return relations;
}

/* Box of the detection of that type, FALSE without one. */
static gboolean find_box(GstBuffer *buffer, const char *type, GstVideoRectangle *box,
                         GstAnalyticsODMtd *detection) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = NULL;
  while (relations && gst_analytics_relation_meta_iterate(
                          relations, &state, gst_analytics_od_mtd_get_mtd_type(), detection)) {
    gfloat confidence;
    if (gst_analytics_od_mtd_get_obj_type(detection) == g_quark_from_string(type)) {
      fail_unless(gst_analytics_od_mtd_get_location(detection, &box->x, &box->y, &box->w, &box->h,
                                                    &confidence));
      fail_unless(confidence == 0.75f);
      return TRUE;
    }
  }
  return FALSE;
}

/* --- cudasgm and cudarectify --------------------------------------------------------------------- */

/* Detections of the left view are kept; from 1.28 on wherever that view is. */
GST_START_TEST(test_sgm) {
  for (int right_first = 0; right_first < 2; right_first++) {
    GstHarness *harness = gst_harness_new_parse(
        right_first ? "cudasgm engine=cpu disparities=32 layout=side-by-side-right-first"
                    : "cudasgm engine=cpu disparities=32");
    GstCaps *caps = test_caps("GRAY8", 2 * W, H, NULL);
    GstVideoInfo info;
    test_info(&info, caps);
    gst_harness_set_src_caps(harness, caps);
    GstBuffer *in = test_pair_new(&info, FALSE, right_first, 3, 1);
    const int left = right_first ? W : 0;
    add_box(in, "car", left + 40, 50, 60, 30, NULL);
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    GstVideoRectangle box = {0, 0, 0, 0};
    GstAnalyticsODMtd detection;
    const gboolean found = find_box(out, "car", &box, &detection);
    fail_unless(found == (!right_first || test_is_gstreamer(28)), "right_first %d: found %d",
                right_first, found);
    if (found)
      fail_unless(box.x == 40 && box.y == 50 && box.w == 60 && box.h == 30, "%d, %d, %dx%d", box.x,
                  box.y, box.w, box.h);
    gst_buffer_unref(out);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* A detection moves like the region of interest with the same box, in either view. */
GST_START_TEST(test_rectify) {
  char *path = g_build_filename(g_getenv("RV_CALIBRATION_FILES"), "opencv.yml", NULL);
  char *line = g_strdup_printf("cudarectify engine=cpu calibration=%s", path);
  GstHarness *harness = gst_harness_new_parse(line);
  GstCaps *caps = test_caps("GRAY8", 1280, 480, NULL);
  GstVideoInfo info;
  test_info(&info, caps);
  gst_harness_set_src_caps(harness, caps);
  GstBuffer *in = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
  gst_buffer_memset(in, 0, 90, GST_VIDEO_INFO_SIZE(&info));
  static const char *const types[] = {"left", "right", "both"};
  static const int at[3][2] = {{60, 50}, {640 + 480, 330}, {600, 100}};
  for (int k = 0; k < 3; k++) {
    add_box(in, types[k], at[k][0], at[k][1], 90, 60, NULL);
    gst_buffer_add_video_region_of_interest_meta(in, types[k], (guint)at[k][0], (guint)at[k][1], 90,
                                                 60);
  }
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  gpointer state = NULL;
  const GstVideoRegionOfInterestMeta *region;
  int found = 0;
  while ((region = test_next_region(out, &state))) {
    GstVideoRectangle box;
    GstAnalyticsODMtd detection;
    fail_unless(find_box(out, g_quark_to_string(region->roi_type), &box, &detection));
    fail_unless((guint)box.x == region->x && (guint)box.y == region->y &&
                (guint)box.w == region->w && (guint)box.h == region->h);
    fail_unless(region->roi_type != g_quark_from_string("left") || box.x != 60 || box.y != 50);
    found++;
  }
  fail_unless(found >= 2);
  gst_buffer_unref(out);
  gst_harness_teardown(harness);
  g_free(line);
  g_free(path);
}
GST_END_TEST

/* --- cudaobstacles -------------------------------------------------------------------------------- */

typedef struct Seen {
  int frames, obstacles, tracks, cars;
} Seen;

static GstPadProbeReturn add_car(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  (void)pad, (void)user;
  GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  add_box(buffer, "car", 100, 130, 120, 60, NULL);
  return GST_PAD_PROBE_OK;
}

/* The distance that relates to a detection. */
static const GstCudaObstaclesDepth *depth_of(const GstAnalyticsODMtd *detection) {
  gpointer state = NULL;
  GstAnalyticsMtd mtd;
  while (gst_analytics_relation_meta_get_direct_related(detection->meta, detection->id,
                                                        GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                                        GST_ANALYTICS_MTD_TYPE_ANY, &state, &mtd)) {
    const char *name = gst_analytics_mtd_type_get_name(gst_analytics_mtd_get_mtd_type(&mtd));
    if (g_strcmp0(name, "rv-depth") == 0)
      return gst_analytics_relation_meta_get_mtd_data(detection->meta, mtd.id);
  }
  return NULL;
}

/* The track that relates to a detection, 0 without. */
static guint64 track_of(GstAnalyticsRelationMeta *relations, guint id) {
  gpointer state = NULL;
  GstAnalyticsMtd mtd;
  while (gst_analytics_relation_meta_iterate(relations, &state,
                                             gst_analytics_tracking_mtd_get_mtd_type(), &mtd)) {
    guint64 track;
    GstClockTime first, last;
    gboolean lost;
    if (gst_analytics_relation_meta_get_relation(relations, mtd.id, id) !=
        GST_ANALYTICS_REL_TYPE_RELATE_TO)
      continue;
    fail_unless(gst_analytics_tracking_mtd_get_info((GstAnalyticsTrackingMtd *)&mtd, &track, &first,
                                                    &last, &lost));
    return track;
  }
  return 0;
}

/* Detections of the type obstacle, in the order of RvObstaclesMeta. */
static void check_obstacles(GstBuffer *buffer, Seen *seen) {
  RvMetaObstacles meta;
  GstMapInfo map;
  fail_unless(rv_meta_get_obstacles(buffer, &meta));
  fail_unless(gst_buffer_map(meta.payload, &map, GST_MAP_READ));
  const RvObstacle *records = (const RvObstacle *)(const void *)map.data;
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = NULL;
  GstAnalyticsODMtd detection;
  int count = 0;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &detection)) {
    gint x, y, w, h;
    gfloat confidence;
    if (gst_analytics_od_mtd_get_obj_type(&detection) != g_quark_from_string("obstacle"))
      continue;
    const RvObstacle *o = &records[count++];
    fail_unless(count <= meta.count);
    gst_analytics_od_mtd_get_location(&detection, &x, &y, &w, &h, &confidence);
    fail_unless(test_near(x, o->x, 1) && test_near(y, o->y, 1) && test_near(w, o->w, 1) &&
                test_near(h, o->h, 1) && test_near(confidence, o->confidence / 255.0, 1e-6));
    const GstCudaObstaclesDepth *depth = depth_of(&detection);
    fail_unless(depth && depth->record.distance == o->distance && depth->record.obstacle == o->id);
    fail_unless_equals_uint64(track_of(relations, detection.id), o->id);
    seen->tracks += o->id != 0;
  }
  fail_unless_equals_int(count, meta.count);
  seen->obstacles += count;
  gst_buffer_unmap(meta.payload, &map);
}

static void check_car(GstBuffer *buffer, Seen *seen) {
  RvMetaDetections meta;
  GstMapInfo map;
  GstVideoRectangle box;
  GstAnalyticsODMtd detection;
  fail_unless(rv_meta_get_detections(buffer, &meta) && meta.count == 1);
  fail_unless(gst_buffer_map(meta.payload, &map, GST_MAP_READ));
  const RvDetection *record = (const RvDetection *)(const void *)map.data;
  fail_unless(find_box(buffer, "car", &box, &detection));
  fail_unless(record->id == (gint)detection.id && record->source == RV_DETECTION_ANALYTICS);
  const GstCudaObstaclesDepth *depth = depth_of(&detection);
  fail_unless(depth && depth->record.distance == record->distance);
  seen->cars += record->distance > 0;
  gst_buffer_unmap(meta.payload, &map);
}

static GstPadProbeReturn check_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  Seen *seen = user;
  (void)pad;
  check_obstacles(GST_PAD_PROBE_INFO_BUFFER(info), seen);
  check_car(GST_PAD_PROBE_INFO_BUFFER(info), seen);
  seen->frames++;
  return GST_PAD_PROBE_OK;
}

GST_START_TEST(test_obstacles) {
  GstElement *pipeline = gst_parse_launch(
      "stereotestsrc num-buffers=8 ! video/x-raw,width=640,height=240 ! "
      "cudasgm name=sgm engine=cpu disparities=64 ! cudaobstacles engine=cpu attach=analytics ! "
      "fakesink name=sink",
      NULL);
  Seen seen = {0, 0, 0, 0};
  GstElement *sgm = gst_bin_get_by_name(GST_BIN(pipeline), "sgm");
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstPad *from = gst_element_get_static_pad(sgm, "src"),
         *to = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(from, GST_PAD_PROBE_TYPE_BUFFER, add_car, NULL, NULL);
  gst_pad_add_probe(to, GST_PAD_PROBE_TYPE_BUFFER, check_frame, &seen, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered(GST_ELEMENT_BUS(pipeline), 60 * GST_SECOND,
                                                   GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless(seen.frames == FRAMES && seen.cars == FRAMES && seen.obstacles > FRAMES &&
                  seen.tracks > 0,
              "%d frames, %d obstacles, %d with a track, %d cars", seen.frames, seen.obstacles,
              seen.tracks, seen.cars);
  gst_object_unref(from);
  gst_object_unref(to);
  gst_object_unref(sgm);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
}
GST_END_TEST

#  define TESTS(TEST, LOOP) TEST(test_sgm) TEST(test_rectify) TEST(test_obstacles)

ELEMENT_TESTS(analytics, TESTS)

#else

int main(void) {
  printf("skip: this build has no GstAnalytics (GStreamer 1.24 or newer)\n");
  return 77;
}

#endif
