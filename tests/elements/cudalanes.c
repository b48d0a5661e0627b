/* SPDX-License-Identifier: MIT */
/* cudalanes.c: the element on painted roads of known lines, on each engine there is: results
 * against the library called by hand, one camera, tracks over time, invalid input. */
#include <math.h>

#include "element_test.h"
#include "lanes/lanes.h"

enum { W = 320, H = 240 };

/* Level ground from row 100 down: D = 0.2 (v - 100) px. */
static const RvCamera camera = {300, 160, 100, 0, 0.3, 1.5, 0};

static const char *const engines[] = {"cpu", "cuda"};

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

/* Lines 3.6 m apart, 0.15 m wide, on gray 90; the lane's center lies `center` m to the right. */
static guint8 gray_at(int x, int y, double center) {
  if (y <= 100)
    return 200;
  double sum = 0;
  for (int k = 0; k < 4; k++) {
    const double across = (x - 0.375 + 0.25 * k - camera.cx) * camera.height / (y - camera.cy);
    const double off = fabs(fabs(across - center) - 1.8);
    sum += off <= 0.075 ? 190 : 90;
  }
  return (guint8)(sum / 4);
}

static GstBuffer *picture(GstClockTime time, double center) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, W * H, NULL);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      map.data[y * W + x] = isnan(center) ? 90 : gray_at(x, y, center);
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = time;
  return buffer;
}

static void add_disparity(GstBuffer *buffer, int width, gboolean has_ground) {
  GstBuffer *raster = rv_meta_raster_new(RV_U16, width, H);
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  for (int y = 0; y < H; y++)
    for (int x = 0; x < width; x++)
      ((guint16 *)(void *)((char *)map.plane.data + y * map.plane.stride))[x] =
          (guint16)(y <= 105 || !has_ground ? 0 : 16 * 0.2 * (y - 100) + 0.5);
  rv_meta_unmap(&map);
  const RvMetaDisparity meta = {width, H, 16, 0, 64, raster, NULL};
  rv_meta_add_disparity(buffer, &meta);
}

static GstBuffer *road(GstClockTime time, double center) {
  GstBuffer *buffer = picture(time, center);
  rv_meta_add_camera(buffer, W, H, &camera);
  add_disparity(buffer, W, TRUE);
  return buffer;
}

static GstHarness *harness_new(const char *engine, const char *more) {
  return test_gray_harness("cudalanes", engine, more, W, H);
}

/* Copies the lines of a frame; their number. */
static int lanes_of(GstBuffer *buffer, RvMetaLanes *meta, RvLaneLine *list) {
  fail_unless(rv_meta_get_lanes(buffer, meta));
  fail_unless(meta->width == W && meta->height == H && meta->count <= RV_LANES_TRACKS);
  fail_unless_equals_int(meta->polyline_values, meta->count * 2 * RV_LANES_POINTS);
  test_copy_payload(meta->payload, list, (gsize)meta->count * sizeof *list);
  return meta->count;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* What the library makes of a frame. */
static void by_hand(GstBuffer *frame, RvLanesLane *lane) {
  RvMetaMap map;
  GstMapInfo gray;
  RvLanesConfig config;
  RvLanes *object = NULL;
  RvGroundSurface surface;
  RvLanesFound found;
  RvCamera unplaced = camera;
  unplaced.height = 0; /* the element estimates it */
  rv_lanes_config_init(&config);
  config.width = W;
  config.height = H;
  config.camera = camera;
  test_estimate_ground(frame, W, H, &unplaced, &map, &surface);
  fail_unless(gst_buffer_map(frame, &gray, GST_MAP_READ));
  fail_unless(rv_lanes_new(&object, &config, RV_CPU) == RV_OK);
  const RvLanesSource source = {
      .gray = {gray.data, W, W, H, RV_U8}, .disparity = map.plane, .ground = &surface};
  fail_unless(rv_lanes_run(object, &source, &found, NULL) == RV_OK);
  fail_unless(rv_lanes_lane(&config, &found, NULL, lane) == RV_OK);
  gst_buffer_unmap(frame, &gray);
  rv_meta_unmap(&map);
  rv_lanes_free(&object);
}

/* Each point of the polylines lies on its painted line. */
static void expect_polylines(const RvMetaLanes *meta, double center) {
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, meta->polylines, GST_MAP_READ));
  const float *points = (const float *)(const void *)map.info.data;
  for (int i = 0; i < meta->polyline_values; i += 2) {
    const double x =
        ((double)points[i] - camera.cx) * camera.height / ((double)points[i + 1] - camera.cy);
    const double wanted = center + (i < 2 * RV_LANES_POINTS ? -1.8 : 1.8);
    fail_unless(test_near(x, wanted, 0.1), "value %d: %g m, not %g", i, x, wanted);
  }
  rv_meta_unmap(&map);
}

GST_START_TEST(test_frame) {
  RvLaneLine list[RV_LANES_TRACKS];
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "track=false color=false");
    GstBuffer *in = road(0, -0.3);
    RvLanesLane lane;
    RvMetaLanes meta;
    RvMetaGround ground;
    by_hand(in, &lane);
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    fail_unless_equals_int(lanes_of(out, &meta, list), 2);
    fail_unless(lane.count == 2 && memcmp(list, lane.lines, 2 * sizeof *list) == 0);
    fail_unless(meta.left == 0 && meta.right == 1);
    fail_unless(test_near(meta.offset, 0.3, 0.04) && meta.offset == lane.offset);
    fail_unless(test_near(meta.lane_width, 3.6, 0.05) && test_near(meta.heading, 0, 0.01));
    fail_unless(test_near(meta.curvature, 0, 0.001) && meta.confidence > 0.8);
    fail_unless(meta.z_min >= 4 && meta.z_max > 20 && meta.z_max <= 45);
    fail_unless(list[0].kind == RV_LANE_LINE_SOLID && list[1].position == 1);
    expect_polylines(&meta, -0.3);
    fail_unless(rv_meta_get_ground(out, &ground));
    fail_unless(test_near(ground.camera_height, 1.5, 0.03) && ground.source == RV_GROUND_ESTIMATE);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* Pushes a road with the ground of another element, at which a camera looks from 1.2 m; two
 * lines are found. */
static GstBuffer *push_on_ground(GstHarness *harness, double slope_x, double slope_y,
                                 RvMetaLanes *meta) {
  RvLaneLine list[RV_LANES_TRACKS];
  GstBuffer *in = road(0, 0);
  const RvMetaGround ground = {.width = W,
                               .height = H,
                               .ground_slope_x = slope_x,
                               .ground_slope_y = slope_y,
                               .ground_intercept = -25,
                               .camera_height = 1.2};
  rv_meta_add_ground(in, &ground);
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  fail_unless_equals_int(lanes_of(out, meta, list), 2);
  return out;
}

/* The ground of another element is taken and stays: half the height makes half the lane. */
GST_START_TEST(test_ground) {
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "track=false");
    RvMetaLanes meta;
    RvMetaGround ground;
    GstBuffer *out = push_on_ground(harness, 0, 0.25, &meta);
    fail_unless(test_near(meta.lane_width, 3.6 * 1.2 / 1.5, 0.05));
    fail_unless(rv_meta_get_ground(out, &ground) && ground.ground_slope_y == 0.25);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* A plane that is too steep for a ground counts as none: the ground is estimated. */
GST_START_TEST(test_steep_ground) {
  for (int k = 0; k < 2; k++) {
    GstHarness *harness = harness_new("cpu", "track=false");
    RvMetaLanes meta;
    GstBuffer *out = push_on_ground(harness, k ? -64 : 0, k ? 0.25 : 64, &meta);
    fail_unless(test_near(meta.lane_width, 3.6, 0.05), "%g", meta.lane_width);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* One camera, from properties alone; its pitch is wrong by 0.4 degrees. */
GST_START_TEST(test_camera) {
  RvLaneLine list[RV_LANES_TRACKS];
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "ground=camera focal-length=300 cx=160 cy=100 "
                                                  "camera-height=1.5 camera-pitch=0.4");
    RvMetaLanes meta;
    for (int i = 0; i < 10; i++) {
      GstBuffer *out = gst_harness_push_and_pull(harness, picture(i * 50 * GST_MSECOND, 0.2));
      fail_unless_equals_int(lanes_of(out, &meta, list), 2);
      fail_if(rv_meta_find(out, RV_META_GROUND));
      if (i == 9) {
        fail_unless(test_near(meta.lane_width, 3.6, 0.15), "%g", meta.lane_width);
        fail_unless(test_near(meta.offset, -0.2, 0.1), "%g", meta.offset);
        expect_polylines(&meta, 0.2);
      }
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* --- Over time ------------------------------------------------------------------------------- */

/* Ids appear with the third frame, lines outlive frames without marks, and a time that goes back
 * ends them; a property that changes does not. */
GST_START_TEST(test_tracks) {
  RvLaneLine list[RV_LANES_TRACKS];
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "");
    RvMetaLanes meta;
    guint32 id = 0;
    for (int i = 0; i < 40; i++) {
      const gboolean is_empty = i >= 10 && i < 15;
      if (i == 20)
        gst_harness_set(harness, "cudalanes", "min-contrast", 12, NULL);
      GstBuffer *out =
          gst_harness_push_and_pull(harness, road(i * 50 * GST_MSECOND, is_empty ? NAN : 0));
      const int count = lanes_of(out, &meta, list);
      if (i < 30) {
        fail_unless_equals_int(count, 2);
        fail_unless((list[0].id != 0) == (i >= 2), "frame %d: id %u", i, list[0].id);
        fail_unless(list[0].missed == (is_empty ? i - 9 : 0));
        fail_unless(i != 14 || meta.confidence < 0.9);
        id = i == 5 ? list[0].id : id;
        fail_unless(i <= 5 || list[0].id == id);
      }
      gst_buffer_unref(out);
    }
    GstBuffer *out = gst_harness_push_and_pull(harness, road(0, 0));
    fail_unless(lanes_of(out, &meta, list) == 2 && list[0].id == 0 && list[0].age == 0);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* --- Edges of the road ----------------------------------------------------------------------- */

enum { PATCH = 5 };

/* Road from 3 m left to 2.6 m right of the camera, up to 30 m, in patches of an image of that
 * width. */
static void add_road(GstBuffer *buffer, int width) {
  const int columns = width / PATCH, rows = H / PATCH;
  GstBuffer *raster = rv_meta_raster_new(RV_U8, columns, rows);
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      const double below = PATCH * (r + 0.5) - camera.cy, scale = camera.height / below;
      const double x = (PATCH * (c + 0.5) - camera.cx) * scale;
      const gboolean is_road = below > 0 && 300 * scale < 30 && x > -3 && x < 2.6;
      ((guint8 *)rv_meta_map_row(&map, r))[c] = is_road ? 255 : 0;
    }
  rv_meta_unmap(&map);
  const RvMetaRoad meta = {.width = width,
                           .height = H,
                           .patch_size = PATCH,
                           .columns = columns,
                           .rows = rows,
                           .payload = raster};
  rv_meta_add_road(buffer, &meta);
}

/* Both edges are lines of their own and no borders beside paint; without paint one is, for they are
 * farther apart than a lane is wide. A road of another size is none. */
GST_START_TEST(test_edges) {
  static const char *const more[] = {"", "", "road-edges=false", ""};
  static const int counts[] = {4, 2, 2, 2};
  RvLaneLine list[RV_LANES_TRACKS];
  for (int e = 0; e < engine_count(); e++)
    for (int k = 0; k < 4; k++) {
      char *options = g_strdup_printf("track=false color=false %s", more[k]);
      GstHarness *harness = harness_new(engines[e], options);
      GstBuffer *in = road(0, k == 1 ? NAN : 0);
      RvMetaLanes meta;
      add_road(in, k == 3 ? W / 2 : W);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      fail_unless_equals_int(lanes_of(out, &meta, list), counts[k]);
      const RvLaneLine *left = &list[0], *right = &list[meta.count - 1];
      const gboolean has_edges = k < 2;
      fail_unless((left->kind == RV_LANE_LINE_EDGE) == has_edges);
      fail_unless((right->kind == RV_LANE_LINE_EDGE) == has_edges);
      fail_unless(!has_edges || test_near(rv_lanes_line_x(left, 10), -3, 0.15));
      fail_unless(!has_edges || test_near(rv_lanes_line_x(right, 10), 2.6, 0.15));
      fail_unless(k != 0 || (meta.left == 1 && meta.right == 2));
      fail_unless(k != 1 || (meta.left == 0) != (meta.right == 1));
      g_free(options);
      test_drop(harness, out);
    }
}
GST_END_TEST

/* --- Unusual input --------------------------------------------------------------------------- */

/* What is missing is said once, and the frame continues without results. */
GST_START_TEST(test_missing) {
  static const char *const texts[] = {"no disparity", "camera is not known", "frame 320x240",
                                      "height of the camera"};
  for (int k = 0; k < 4; k++) {
    GstHarness *harness = harness_new("cpu", k == 3 ? "ground=camera focal-length=300" : "");
    GstBus *bus = test_bus(harness);
    for (int frame = 0; frame < 2; frame++) {
      GstBuffer *in = k == 0 || k == 3 ? picture(0, 0) : road(0, 0);
      fail_unless(k != 1 || rv_meta_remove(in, RV_META_CAMERA));
      if (k == 2) {
        fail_unless(rv_meta_remove(in, RV_META_DISPARITY));
        add_disparity(in, W / 2, TRUE);
      }
      test_push_without(harness, in, RV_META_LANES, RV_META_GROUND);
      test_expect_warning(bus, frame == 0 ? texts[k] : NULL, NULL);
    }
    test_close(harness, bus);
  }
}
GST_END_TEST

/* No ground and no marks: lanes without lines, and no warning. */
GST_START_TEST(test_nothing) {
  RvLaneLine list[RV_LANES_TRACKS];
  for (int e = 0; e < engine_count(); e++)
    for (int k = 0; k < 3; k++) {
      GstHarness *harness =
          harness_new(engines[e], k == 2 ? "ground=camera camera-height=1.5" : "");
      GstBus *bus = test_bus(harness);
      RvMetaLanes meta;
      GstBuffer *in = picture(0, k == 0 ? 0 : NAN);
      RvCamera rig = camera;
      rig.height = 0;
      rv_meta_add_camera(in, W, H, &rig);
      add_disparity(in, W, k == 1);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      fail_unless_equals_int(lanes_of(out, &meta, list), 0);
      fail_unless(meta.left == -1 && meta.right == -1 && meta.confidence == 0);
      fail_unless((rv_meta_find(out, RV_META_GROUND) != NULL) == (k == 1));
      gst_buffer_unref(out);
      test_expect_warning(bus, NULL, NULL);
      test_close(harness, bus);
    }
}
GST_END_TEST

/* Drawn over the frame: the layer changes the image where the borders are. */
GST_START_TEST(test_drawn) {
  GstHarness *harness =
      gst_harness_new_parse("cudalanes engine=cpu ! cudaannotate engine=cpu show=lanes");
  gst_harness_set_caps(harness, test_caps("BGRx", W, H, NULL), test_caps("BGRx", W, H, NULL));
  GstBuffer *in = gst_buffer_new_allocate(NULL, 4 * W * H, NULL);
  GstMapInfo map;
  fail_unless(gst_buffer_map(in, &map, GST_MAP_WRITE));
  for (int i = 0; i < 4 * W * H; i++)
    map.data[i] = gray_at(i / 4 % W, i / 4 / W, 0);
  guint8 *before = g_memdup2(map.data, 4 * W * H);
  gst_buffer_unmap(in, &map);
  GST_BUFFER_PTS(in) = 0;
  rv_meta_add_camera(in, W, H, &camera);
  add_disparity(in, W, TRUE);
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
  const int inside = 4 * (180 * W + 160), outside = 4 * (180 * W + 300);
  fail_unless(memcmp(map.data + inside, before + inside, 3) != 0);   /* the own lane */
  fail_unless(memcmp(map.data + outside, before + outside, 3) == 0); /* next to it */
  gst_buffer_unmap(out, &map);
  gst_buffer_unref(out);
  g_free(before);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_frame) TEST(test_ground) TEST(test_steep_ground) TEST(test_camera) TEST(test_tracks) \
  TEST(test_edges)   TEST(test_missing) TEST(test_nothing) TEST(test_drawn)
/* clang-format on */

ELEMENT_TESTS(cudalanes, TESTS)
