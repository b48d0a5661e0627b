/* SPDX-License-Identifier: MIT */
/* cudaobstacles.c: the element on drawn scenes of known distances, on each engine there is: results
 * against the library called by hand, tracks over time, boxes of others, invalid input. */
#include <math.h>

#include "element_test.h"
#include "obstacles/obstacles.h"

enum { W = 320, H = 240 };

/* Level ground from row 100 down: D = 0.2 (v - 100) px. */
static const RvCamera camera = {300, 160, 100, 0, 0.3, 1.5, 0};
#define DISPARITY(z) (300 * 0.3 / (z))

/* An upright object. */
typedef struct Thing {
  double z;           /* m */
  int left, right;    /* px, right not included */
  double bottom, top; /* m above the ground */
} Thing;

static const char *const engines[] = {"cpu", "cuda"};

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

static guint16 *row_of(const RvPlane *plane, int y) {
  return (guint16 *)(void *)((char *)plane->data + y * plane->stride);
}

static void draw(const RvPlane *plane, const Thing *things, int count) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      row_of(plane, y)[x] = (guint16)(y <= 105 ? 0 : 16 * 0.2 * (y - 100) + 0.5);
  for (int k = 0; k < count; k++) {
    const Thing *t = &things[k];
    const double d = DISPARITY(t->z);
    const int low = (int)(100 + (1.5 - t->bottom) * d / 0.3);
    const int high = (int)(100 + (1.5 - t->top) * d / 0.3);
    for (int y = MAX(high, 0); y < MIN(low, H); y++)
      for (int x = t->left; x < t->right; x++)
        row_of(plane, y)[x] = (guint16)MAX(row_of(plane, y)[x], 16 * d + 0.5);
  }
}

/* A frame with a disparity, which `raster` describes until it is unmapped. */
static GstBuffer *frame_new(GstClockTime time, gboolean with_camera) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, W * H, NULL);
  gst_buffer_memset(buffer, 0, 90, W * H);
  GST_BUFFER_PTS(buffer) = time;
  if (with_camera)
    rv_meta_add_camera(buffer, W, H, &camera);
  return buffer;
}

static void add_disparity(GstBuffer *buffer, GstBuffer *raster) {
  const RvMetaDisparity meta = {W, H, 16, 0, 64, raster, NULL};
  rv_meta_add_disparity(buffer, &meta);
}

static GstBuffer *scene(GstClockTime time, const Thing *things, int count) {
  GstBuffer *buffer = frame_new(time, TRUE), *raster = rv_meta_raster_new(RV_U16, W, H);
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  draw(&map.plane, things, count);
  rv_meta_unmap(&map);
  add_disparity(buffer, raster);
  return buffer;
}

/* A frame in which every pixel is made by a function. */
static GstBuffer *drawn(guint16 (*value)(int x, int y), gboolean knows_height) {
  GstBuffer *buffer = frame_new(0, FALSE), *raster = rv_meta_raster_new(RV_U16, W, H);
  RvCamera rig = camera;
  rig.height = knows_height ? camera.height : 0;
  rv_meta_add_camera(buffer, W, H, &rig);
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      row_of(&map.plane, y)[x] = value(x, y);
  rv_meta_unmap(&map);
  add_disparity(buffer, raster);
  return buffer;
}

static GstHarness *harness_new(const char *engine, const char *more) {
  return test_gray_harness("cudaobstacles", engine, more, W, H);
}

static RvObstacle results[RV_OBSTACLES_MAX]; /* of a frame, for obstacles_of */

/* Copies the obstacles of a frame; their number. */
static int obstacles_of(GstBuffer *buffer, RvMetaObstacles *meta, RvObstacle *list, int capacity) {
  fail_unless(rv_meta_get_obstacles(buffer, meta));
  fail_unless(meta->width == W && meta->height == H && meta->count <= capacity);
  test_copy_payload(meta->payload, list, (gsize)meta->count * sizeof *list);
  return meta->count;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* What the library makes of the disparity of a frame. */
static int by_hand(GstBuffer *frame, RvObstacle *list, RvFreeColumn *columns, int *column_count) {
  RvMetaMap map;
  GstMapInfo pixels;
  RvObstaclesConfig config;
  RvObstacles *object = NULL;
  static RvObstacleBox boxes[RV_OBSTACLES_MAX];
  RvGroundSurface surface;
  guint32 counts[2];
  int width;
  rv_obstacles_config_init(&config);
  config.width = W;
  config.height = H;
  config.camera = camera;
  config.max_disparity = 64;
  rv_obstacles_size(&config, column_count, &width);
  test_estimate_ground(frame, W, H, &camera, &map, &surface);
  fail_unless(rv_obstacles_new(&object, &config, RV_CPU) == RV_OK);
  fail_unless(gst_buffer_map(frame, &pixels, GST_MAP_READ));
  const RvPlane gray = {pixels.data, GST_ROUND_UP_4(W), W, H, RV_U8};
  const RvObstaclesSource source = {.disparity = map.plane, .ground = &surface, .gray = gray};
  const RvObstaclesOutput output = {.boxes = boxes, .counts = counts, .columns = columns};
  fail_unless(rv_obstacles_run(object, &source, &output, NULL) == RV_OK);
  for (guint i = 0; i < counts[0]; i++)
    rv_obstacles_measure(&config, &surface, &boxes[i], &list[i]);
  rv_meta_unmap(&map);
  gst_buffer_unmap(frame, &pixels);
  rv_obstacles_free(&object);
  return (int)counts[0];
}

GST_START_TEST(test_frame) {
  static const Thing things[] = {
      {10, 140, 180, 0, 1.5}, {15, 220, 270, 0, 1.8}, {20, 20, 60, 2.6, 3.4}};
  static RvObstacle list[RV_OBSTACLES_MAX], known[RV_OBSTACLES_MAX];
  static RvFreeColumn columns[W];
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "track=false");
    GstBuffer *in = scene(0, things, G_N_ELEMENTS(things));
    RvMetaObstacles meta;
    RvMetaFreeSpace space;
    RvMetaGround ground;
    RvMetaMap map;
    int width;
    const int wanted = by_hand(in, known, columns, &width);
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    fail_unless_equals_int(obstacles_of(out, &meta, list, RV_OBSTACLES_MAX), wanted);
    fail_unless(memcmp(list, known, (gsize)wanted * sizeof *list) == 0);
    fail_unless_equals_int(wanted, 3);
    fail_unless(test_near(list[0].distance, 10, 0.2) && test_near(list[1].distance, 15, 0.4));
    fail_unless(test_near(list[0].lateral, 0, 0.1) &&
                test_near(list[0].width, 40 * 10 / 300.0, 0.2));
    fail_unless(test_near(list[0].height, 1.5, 0.15));
    fail_unless_equals_int(list[2].kind, RV_OBSTACLE_OVERHANG);
    fail_unless_equals_int(meta.nearest, 0); /* straight ahead */
    fail_unless_equals_int(meta.tracked, 0);
    fail_unless(test_near(meta.max_range, 45, 1e-9));
    fail_unless(rv_meta_get_free_space(out, &space));
    fail_unless_equals_int(space.columns, width);
    fail_unless(space.area > 50);
    fail_unless(rv_meta_map_buffer(&map, space.payload, GST_MAP_READ));
    fail_unless(memcmp(map.info.data, columns, (gsize)width * sizeof *columns) == 0);
    const RvFreeColumn *column = (const RvFreeColumn *)(const void *)map.info.data;
    fail_unless(test_near(column[160 / space.column_width].disparity / 16.0, 9, 0.5));
    fail_unless_equals_int(column[160 / space.column_width].obstacle, 0);
    rv_meta_unmap(&map);
    fail_unless(rv_meta_get_ground(out, &ground));
    fail_unless(test_near(ground.camera_height, 1.5, 0.03));
    fail_unless(test_near(ground.ground_slope_y, 0.2, 0.004));
    fail_unless(ground.source == RV_GROUND_ESTIMATE && ground.bins == RV_GROUND_BINS);
    test_drop(harness, out);
  }
}
GST_END_TEST

/* The ground of another element is taken and stays; that of the camera is used when asked for. */
GST_START_TEST(test_ground) {
  static const Thing thing = {10, 140, 180, 0, 1.5};
  for (int e = 0; e < engine_count(); e++)
    for (int from_camera = 0; from_camera < 2; from_camera++) {
      GstHarness *harness = harness_new(engines[e], from_camera ? "ground=camera" : "");
      GstBuffer *in = scene(0, &thing, 1);
      RvMetaGround ground = {.width = W,
                             .height = H,
                             .ground_slope_y = 0.15,
                             .ground_intercept = -12,
                             .camera_height = 2};
      rv_meta_add_ground(in, &ground);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      RvMetaObstacles meta;
      fail_unless(obstacles_of(out, &meta, results, RV_OBSTACLES_MAX) > 0);
      fail_unless(rv_meta_get_ground(out, &ground));
      fail_unless(from_camera || (ground.ground_slope_y == 0.15 && ground.camera_height == 2));
      fail_unless(!from_camera || test_near(ground.camera_height, 1.5, 1e-9));
      fail_unless(!from_camera || ground.source == RV_GROUND_CAMERA);
      test_drop(harness, out);
    }
}
GST_END_TEST

/* Frames that are disparity maps, with the camera from properties. */
GST_START_TEST(test_maps) {
  static const Thing thing = {10, 140, 180, 0, 1.5};
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness =
        test_harness("cudaobstacles engine=%s focal-length=300 baseline=0.3 cx=160 "
                     "cy=100 disparity-scale=16",
                     engines[e]);
    GstCaps *caps = test_caps("GRAY16_LE", W, H, NULL);
    gst_harness_set_caps(harness, gst_caps_ref(caps), caps);
    GstBuffer *in = gst_buffer_new_allocate(NULL, 2 * W * H, NULL);
    GstMapInfo map;
    fail_unless(gst_buffer_map(in, &map, GST_MAP_WRITE));
    const RvPlane plane = {map.data, 2 * W, W, H, RV_U16};
    draw(&plane, &thing, 1);
    gst_buffer_unmap(in, &map);
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    RvMetaObstacles meta;
    fail_unless_equals_int(obstacles_of(out, &meta, results, RV_OBSTACLES_MAX), 1);
    fail_unless(test_near(results[0].distance, 10, 0.2));
    test_drop(harness, out);
  }
}
GST_END_TEST

/* Stixels and segments in place of the disparity find the same object. */
GST_START_TEST(test_inputs) {
  static const Thing thing = {10, 136, 184, 0, 1.5};
  for (int e = 0; e < engine_count(); e++)
    for (guint k = 0; k < 2; k++) {
      GstHarness *harness =
          test_harness(k ? "cudardp engine=%s ! cudaobstacles input=segments engine=%s"
                         : "cudastixels engine=%s ! cudaobstacles input=stixels "
                           "engine=%s",
                       engines[e], engines[e]);
      gst_harness_set_caps(harness, test_caps("GRAY8", W, H, NULL), test_caps("GRAY8", W, H, NULL));
      GstBuffer *out = gst_harness_push_and_pull(harness, scene(0, &thing, 1));
      RvMetaObstacles meta;
      fail_unless(obstacles_of(out, &meta, results, RV_OBSTACLES_MAX) >= 1);
      fail_unless(meta.nearest >= 0);
      fail_unless(test_near(results[meta.nearest].distance, 10, 0.5));
      test_drop(harness, out);
    }
}
GST_END_TEST

/* --- Time ------------------------------------------------------------------------------------ */

/* The only obstacle of a frame at `time` ms with an object at `z` m. */
static RvObstacle follow(GstHarness *harness, guint64 time, double z) {
  const Thing thing = {z, 160 - (int)(200 / z), 160 + (int)(200 / z), 0, 1.5};
  RvObstacle list[8];
  RvMetaObstacles meta;
  GstBuffer *out = gst_harness_push_and_pull(harness, scene(time * GST_MSECOND, &thing, 1));
  fail_unless_equals_int(obstacles_of(out, &meta, list, 8), 1);
  gst_buffer_unref(out);
  return list[0];
}

GST_START_TEST(test_tracks) {
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "");
    RvObstacle o = {0};
    guint32 id = 0;
    for (int k = 0; k < 20; k++) { /* 5 m/s nearer */
      o = follow(harness, (guint64)k * 100, 20 - 0.5 * k);
      fail_unless(k < 1 ? !o.id : k < 5 || o.id); /* far ones after six frames */
      fail_unless(!id || o.id == id);
      id = o.id;
    }
    fail_unless(test_near(o.velocity_z, -5, 0.8));
    fail_unless(test_near(o.ttc, o.distance / 5, 0.6));
    fail_if(o.flags & RV_OBSTACLE_MOVING); /* the speed of the vehicle is unknown */
    /* Settings change: the track continues. */
    gst_harness_set(harness, "cudaobstacles", "min-height", 0.4, "ego-speed", 0.0, NULL);
    o = follow(harness, 2000, 10);
    fail_unless_equals_int(o.id, id);
    fail_unless(o.flags & RV_OBSTACLE_MOVING);
    /* A pause of a minute, and a time that goes back: new tracks with new ids. */
    for (int k = 0; k < 3; k++)
      o = follow(harness, 62000 + (guint64)k * 100, 10);
    fail_unless(o.id != 0 && o.id != id);
    id = o.id;
    for (int k = 0; k < 3; k++) {
      o = follow(harness, 1000 + (guint64)k * 100, 10);
      fail_unless((o.id != 0) == (k >= 1));
    }
    fail_unless(o.id != id);
    id = o.id;
    /* A flush ends the tracks too. */
    fail_unless(gst_harness_push_event(harness, gst_event_new_flush_start()));
    fail_unless(gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE)));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    fail_unless(gst_harness_push_event(harness, gst_event_new_segment(&segment)));
    o = follow(harness, 1300, 10);
    fail_unless_equals_int(o.id, 0);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* Frames without time stamps are tracked at the frame rate of the caps. */
GST_START_TEST(test_no_time) {
  const Thing thing = {10, 140, 180, 0, 1.5};
  GstHarness *harness = harness_new("cpu", "");
  RvObstacle list[8];
  RvMetaObstacles meta;
  for (int k = 0; k < 12; k++) {
    GstBuffer *out = gst_harness_push_and_pull(harness, scene(GST_CLOCK_TIME_NONE, &thing, 1));
    fail_unless_equals_int(obstacles_of(out, &meta, list, 8), 1);
    gst_buffer_unref(out);
  }
  fail_unless(list[0].id == 1 && test_near(list[0].velocity_z, 0, 0.3));
  gst_harness_teardown(harness);
}
GST_END_TEST

/* --- Boxes of others ------------------------------------------------------------------------- */

static double number(GstBuffer *buffer, gint id, const char *name, const char *field) {
  gpointer state = NULL;
  GstMeta *meta;
  double value = -1;
  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                  GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *)meta;
    GstStructure *fields = gst_video_region_of_interest_meta_get_param(region, name);
    if (region->id == id && fields)
      fail_unless(gst_structure_get_double(fields, field, &value));
  }
  return value;
}

static void add_region(GstBuffer *buffer, gint id, guint x, guint y, guint w, guint h) {
  gst_buffer_add_video_region_of_interest_meta(buffer, "car", x, y, w, h)->id = id;
}

GST_START_TEST(test_boxes) {
  static const Thing things[] = {{10, 140, 180, 0, 1.5}, {15, 220, 270, 0, 1.8}};
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "attach=roi");
    RvDetection list[8];
    for (int k = 0; k < 4; k++) {
      GstBuffer *in = scene((guint64)k * 100 * GST_MSECOND, things, 2);
      add_region(in, 7, 140, 100, 40, 45); /* the first object */
      add_region(in, 8, 300, 0, 40, 20);   /* partly outside, in the sky */
      add_region(in, 9, 5000, 5000, 10, 10);
      add_region(in, 10, 10, 10, 0, 0);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      RvMetaDetections meta;
      RvMetaMap map;
      fail_unless(rv_meta_get_detections(out, &meta));
      fail_unless(meta.count == 4 && meta.unmatched == 3);
      fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
      memcpy(list, map.info.data, 4 * sizeof *list);
      rv_meta_unmap(&map);
      fail_unless(list[0].id == 7 && test_near(list[0].distance, 10, 0.2) && list[0].valid == 255);
      fail_unless((list[0].obstacle != 0) == (k >= 1));
      fail_unless(list[1].distance == 0 && list[2].distance == 0 && list[3].distance == 0);
      fail_unless(list[2].id == 9 && list[2].valid == 0);
      fail_unless(test_near(number(out, 7, "rv-depth", "distance"), 10, 0.2));
      fail_unless(test_near(number(out, 7, "rv-depth", "width"), 40 * 10 / 300.0, 0.05));
      fail_unless(test_near(list[0].width, 40 * 10 / 300.0, 0.05));
      fail_unless(test_near(list[0].height, 45 * 10 / 300.0, 0.05) && list[1].height == 0);
      fail_unless(k < 2 || fabsf(list[0].velocity_z) < 0.5f);
      fail_unless(number(out, 9, "rv-depth", "distance") == 0);
      if (k >= 1) /* the obstacles are regions themselves, and are not measured again */
        fail_unless(
            test_near(number(out, (gint)list[0].obstacle, "rv-obstacle", "distance"), 10, 0.2));
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* A box that is twice as large as the object in it belongs to no obstacle of ours: it is followed
 * itself, with another id or none in each frame, and not without `track`. */
GST_START_TEST(test_unmatched_boxes) {
  for (int e = 0; e < engine_count(); e++)
    for (int tracked = 0; tracked < 2; tracked++) {
      GstHarness *harness = harness_new(engines[e], tracked ? "" : "track=false");
      RvDetection box = {0};
      double z = 20;
      for (int k = 0; k < 20; k++, z -= 0.5) { /* 5 m/s nearer */
        const int half = (int)(200 / z);
        const Thing thing = {z, 160 - half, 160 + half, 0, 1.5};
        GstBuffer *in = scene((guint64)k * 100 * GST_MSECOND, &thing, 1);
        add_region(in, 100 + k, (guint)(160 - 2 * half), (guint)MAX(100 - 225 / z, 0),
                   (guint)(4 * half), (guint)(900 / z));
        GstBuffer *out = gst_harness_push_and_pull(harness, in);
        RvMetaDetections meta;
        fail_unless(rv_meta_get_detections(out, &meta));
        fail_unless(meta.count == 1 && meta.unmatched == 1);
        test_copy_payload(meta.payload, &box, sizeof box);
        fail_unless(box.id == 100 + k && box.obstacle == 0 && test_near(box.distance, z, 0.5));
        fail_unless(k > 0 || (box.velocity_z == 0 && box.ttc == 0));
        fail_unless(test_near(number(out, 100 + k, "rv-depth", "velocity-z"),
                              (double)box.velocity_z, 1e-6));
        gst_buffer_unref(out);
      }
      fail_unless(test_near(box.velocity_z, tracked ? -5 : 0, tracked ? 0.6 : 0));
      fail_unless(test_near(box.ttc, tracked ? box.distance / 5 : 0, tracked ? 0.4 : 0));
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* --- Drawing --------------------------------------------------------------------------------- */

/* Pixels of rows y0..y1 - 1 and columns x0..x1 - 1 that differ from the frame, which is gray 90. */
static int drawn_pixels(GstBuffer *buffer, int x0, int y0, int x1, int y1) {
  GstMapInfo map;
  int count = 0;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  for (int y = y0; y < y1; y++)
    for (int x = x0; x < x1; x++)
      count += map.data[y * W + x] != 90;
  gst_buffer_unmap(buffer, &map);
  return count;
}

/* Each layer changes its part of the frame, and no other. */
GST_START_TEST(test_drawing) {
  static const Thing thing = {10, 140, 180, 0, 1.5};
  static const char *const layers[] = {"obstacles", "space", "bird", "segments"};
  for (int e = 0; e < engine_count(); e++)
    for (guint k = 0; k < G_N_ELEMENTS(layers); k++) {
      GstHarness *harness = test_harness("cudaobstacles engine=%s ! cudaannotate engine=%s show=%s",
                                         engines[e], engines[e], layers[k]);
      gst_harness_set_caps(harness, test_caps("GRAY8", W, H, NULL), test_caps("GRAY8", W, H, NULL));
      GstBuffer *out = gst_harness_push_and_pull(harness, scene(0, &thing, 1));
      fail_unless((drawn_pixels(out, 150, 95, 170, 125) > 10) == (k == 0), "%s", layers[k]);
      fail_unless((drawn_pixels(out, 150, 200, 250, 230) > 2000) == (k == 1), "%s", layers[k]);
      fail_unless((drawn_pixels(out, 260, 20, 310, 100) > 2000) == (k == 2), "%s", layers[k]);
      test_drop(harness, out);
    }
}
GST_END_TEST

/* --- Invalid input --------------------------------------------------------------------------- */

static guint16 sky(int x, int y) {
  return 0;
}

static guint16 wall(int x, int y) {
  return 20 * 16;
}

static guint16 upside_down(int x, int y) {
  return (guint16)(y >= 135 ? 0 : 16 * 0.2 * (140 - y));
}

static guint16 noise(int x, int y) {
  const guint32 v = ((guint32)x * 2654435761u) ^ ((guint32)y * 40503u * 65537u);
  return (guint16)((v ^ v >> 13) % 1024);
}

/* Ground with objects of 4 px on 4 px in every row and column. */
static guint16 crowd(int x, int y) {
  const double ground = 0.2 * (y - 100);
  return (guint16)(y <= 105 ? 0 : 16 * (x / 4 % 2 && y / 4 % 2 ? ground + 6 + x % 32 : ground));
}

/* Obstacles of a frame, and the fraction of its free space that is of a kind. */
static int count_of(GstHarness *harness, GstBuffer *in, gboolean *has_ground, int kind,
                    double *share) {
  static RvFreeColumn columns[W];
  RvMetaObstacles meta;
  RvMetaFreeSpace space;
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  const int count = obstacles_of(out, &meta, results, RV_OBSTACLES_MAX);
  fail_unless(meta.nearest >= -1 && meta.nearest < MAX(count, 1));
  fail_unless(rv_meta_get_free_space(out, &space) && isfinite(space.area));
  test_copy_payload(space.payload, columns, (gsize)space.columns * sizeof *columns);
  *has_ground = rv_meta_find(out, RV_META_GROUND) != NULL;
  for (int i = 0; i < count; i++)
    fail_unless(isfinite(results[i].distance) && isfinite(results[i].height) &&
                results[i].x + results[i].w <= W && results[i].y + results[i].h <= H);
  *share = 0;
  for (int k = 0; k < space.columns; k++)
    *share += (columns[k].kind == kind) / (double)space.columns;
  gst_buffer_unref(out);
  return count;
}

/* Without any ground there are no obstacles, and the free space is unknown; with the camera's height
 * known, its plane is what the frame is compared with, and a wall or a world upside down is an obstacle. */
GST_START_TEST(test_odd_scenes) {
  guint16 (*const worlds[])(int, int) = {sky, wall, upside_down, noise, crowd};
  for (int e = 0; e < engine_count(); e++)
    for (int k = 0; k < 10; k++) {
      GstHarness *harness = harness_new(engines[e], "");
      gboolean has_ground;
      double share;
      const int knows = k % 2, is_blocked = knows && k > 2;
      const int kind = is_blocked ? RV_FREE_SPACE_OBJECT : RV_FREE_SPACE_UNKNOWN;
      const int count = count_of(harness, drawn(worlds[k / 2], knows), &has_ground, kind, &share);
      fail_unless(k > 5 || has_ground == knows);
      fail_unless(k < 8 || has_ground);
      fail_unless(k > 5 || (count > 0) == is_blocked, "world %d: %d", k, count);
      fail_unless(k > 5 || share > 0.9, "world %d: %g", k, share);
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* No stixel at all, then one, 10 m away: an obstacle as wide as it. Then one that lies far outside. */
GST_START_TEST(test_one_stixel) {
  static const struct {
    RvStixel stixel;
    int count, found;
  } cases[] = {{{0}, 0, 0},
               {{.column = 160, .v_bottom = 144, .v_top = 100, .intercept = 9}, 1, 1},
               {{.column = 65535, .v_bottom = 65535, .v_top = 0, .intercept = 9}, 1, 0},
               {{.column = 160, .v_bottom = 144, .v_top = 100, .intercept = NAN}, 1, 0}};
  for (int e = 0; e < engine_count(); e++)
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
      GstHarness *harness = harness_new(engines[e], "input=stixels");
      GstBuffer *in = scene(0, NULL, 0),
                *payload = gst_buffer_new_memdup(&cases[k].stixel, sizeof(RvStixel));
      const RvMetaStixels stixels = {.width = W,
                                     .height = H,
                                     .count = cases[k].count,
                                     .stixel_width = 8,
                                     .vertical_step = 8,
                                     .payload = payload};
      rv_meta_add_stixels(in, &stixels);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      RvMetaObstacles meta;
      fail_unless_equals_int(obstacles_of(out, &meta, results, RV_OBSTACLES_MAX), cases[k].found);
      if (cases[k].found)
        fail_unless(results[0].x == 160 && results[0].w == 8 &&
                        test_near(results[0].distance, 10, 0.2),
                    "%d px at %d, %g m", results[0].w, results[0].x, (double)results[0].distance);
      test_drop(harness, out);
    }
}
GST_END_TEST

/* What is missing is said once, and the frame continues without results. */
GST_START_TEST(test_missing) {
  const Thing thing = {10, 140, 180, 0, 1.5};
  static const char *const texts[] = {"no disparity", "camera is not known", "no stixels"};
  for (int k = 0; k < 3; k++) {
    GstHarness *harness = harness_new("cpu", k == 2 ? "input=stixels" : "");
    GstBus *bus = test_bus(harness);
    for (int frame = 0; frame < 2; frame++) {
      GstBuffer *in = scene(0, &thing, 1);
      fail_unless(k != 0 || rv_meta_remove(in, RV_META_DISPARITY));
      fail_unless(k != 1 || rv_meta_remove(in, RV_META_CAMERA));
      test_push_without(harness, in, RV_META_OBSTACLES, RV_META_FREE_SPACE);
      test_expect_warning(bus, frame == 0 ? texts[k] : NULL, NULL);
    }
    test_close(harness, bus);
  }
}
GST_END_TEST

GST_START_TEST(test_settings) {
  GstHarness *harness = harness_new("cpu", "free-space=false boxes=false");
  GstBus *bus = test_bus(harness);
  const Thing thing = {10, 140, 180, 0, 1.5};
  GstBuffer *in = scene(0, &thing, 1);
  add_region(in, 7, 140, 100, 40, 45);
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  fail_unless(rv_meta_find(out, RV_META_OBSTACLES) != NULL);
  fail_if(rv_meta_find(out, RV_META_FREE_SPACE) || rv_meta_find(out, RV_META_DETECTIONS));
  fail_unless(number(out, 7, "rv-depth", "distance") == -1);
  gst_buffer_unref(out);
  /* A height above the clearance is rejected, and the previous settings stay. */
  gst_harness_set(harness, "cudaobstacles", "clearance", 0.5, "min-height", 1.0, NULL);
  out = gst_harness_push_and_pull(harness, scene(0, &thing, 1));
  RvMetaObstacles meta;
  fail_unless(rv_meta_get_obstacles(out, &meta));
  fail_unless(meta.min_height == 0.3 && meta.clearance == 2.2);
  gst_buffer_unref(out);
  test_expect_warning(bus, "min-height is 1 m", NULL);
  test_close(harness, bus);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_frame) TEST(test_ground) TEST(test_maps) TEST(test_inputs) TEST(test_tracks) \
  TEST(test_no_time) TEST(test_boxes) TEST(test_unmatched_boxes) TEST(test_drawing) \
  TEST(test_odd_scenes) TEST(test_one_stixel) TEST(test_missing) \
  TEST(test_settings)
/* clang-format on */

ELEMENT_TESTS(cudaobstacles, TESTS)
