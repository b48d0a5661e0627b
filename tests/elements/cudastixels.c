/* SPDX-License-Identifier: MIT */
/* cudastixels.c: the element compared with direct calls of the library, on each available engine;
 * its messages when it cannot work. */
#include "element_test.h"
#include "stixels/stixels.h"

enum { W = 93, H = 121 };

static const char *const engines[] = {"cpu", "cuda"};

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

/* A road below row 50, walls in every third stripe, sky above; noise and holes. */
static void fill(RvPlane *plane, int seed) {
  guint32 state = (guint32)seed * 2654435761u + 1;
  for (int y = 0; y < plane->height; y++) {
    guint16 *row = (guint16 *)(void *)((char *)plane->data + y * plane->stride);
    for (int x = 0; x < plane->width; x++) {
      state = state * 1664525u + 1013904223u;
      const int dice = (int)(state >> 16), road = 10 * (y - 50);
      const int wall = x / 16 % 3 == 0 && y > 20 && y < 90 ? 300 : 1;
      row[x] = dice % 9 == 0 ? 0 : (guint16)(MAX(road, wall) + dice % 12);
    }
  }
}

static GstBuffer *frame_new(const GstVideoInfo *info, int w, int h, int seed, gboolean trust,
                            RvPlane *plane) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  gst_buffer_memset(buffer, 0, 90, GST_VIDEO_INFO_SIZE(info));
  GstBuffer *raster = rv_meta_raster_new(RV_U16, w, h), *confidence = NULL;
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
  fill(&map.plane, seed);
  *plane = map.plane;
  plane->data = g_memdup2(map.plane.data, (gsize)(map.plane.stride * h));
  rv_meta_unmap(&map);
  if (trust) {
    confidence = rv_meta_raster_new(RV_U8, w, h);
    fail_unless(rv_meta_map_buffer(&map, confidence, GST_MAP_WRITE));
    memset(map.plane.data, 77, (gsize)(map.plane.stride * h));
    rv_meta_unmap(&map);
  }
  const RvMetaDisparity meta = {w, h, 16, 0, 128, raster, confidence};
  rv_meta_add_disparity(buffer, &meta);
  return buffer;
}

/* The result of the library, with an object that lives as long as that of the element. */
static void check_stixels(GstBuffer *buffer, RvStixels *stixels, const RvStixelsConfig *config,
                          const RvPlane *plane, gboolean trust) {
  const guint32 room = rv_stixels_count_max(config);
  RvStixel *list = g_new0(RvStixel, room);
  guint32 *offsets = g_new(guint32, rv_stixels_columns(config) + 1);
  guint8 *trusted = g_malloc(W * H * 4);
  memset(trusted, 77, W * H * 4);
  const RvPlane confidence = {trusted, plane->width, plane->width, plane->height, RV_U8};
  RvStixelsInput input = {.disparity = *plane};
  if (trust)
    input.confidence = confidence;
  RvGroundSurface surface;
  input.surface = test_surface(buffer, plane->width, plane->height, &surface);
  RvStixelsGround ground;
  const RvStixelsOutput output = {
      .stixels = list, .capacity = room, .offsets = offsets, .ground = &ground};
  fail_unless(rv_stixels_run(stixels, &input, &output, NULL) == RV_OK);
  const guint32 count = offsets[rv_stixels_columns(config)];
  RvMetaStixels meta;
  RvMetaMap map;
  fail_unless(rv_meta_get_stixels(buffer, &meta));
  fail_unless(meta.width == plane->width && meta.height == plane->height);
  fail_unless_equals_int(meta.count, count);
  fail_unless_equals_int(meta.stixel_width, config->stixel_width);
  fail_unless_equals_int(meta.vertical_step, config->vertical_step);
  fail_unless_equals_int(meta.ground_frames, ground.found);
  /* The plane at the center of the lowest row of cells. */
  const double row = config->height - (config->vertical_step + 1) / 2.0;
  const double at = meta.ground_slope * row + meta.ground_intercept;
  fail_unless(ABS(at - (double)ground.at / (1 << 24)) < 1e-6);
  fail_unless_equals_uint64(gst_buffer_get_size(meta.payload), count * sizeof(RvStixel));
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  fail_unless(memcmp(map.info.data, list, count * sizeof(RvStixel)) == 0);
  rv_meta_unmap(&map);
  g_free(list);
  g_free(offsets);
  g_free(trusted);
}

static GstHarness *harness_new(const char *engine, const char *format, GstVideoInfo *info) {
  GstHarness *harness = test_harness("cudastixels engine=%s", engine);
  gst_harness_set_caps(harness, test_caps(format, W, H, NULL), test_caps(format, W, H, NULL));
  GstCaps *caps = test_caps(format, W, H, NULL);
  test_info(info, caps);
  gst_caps_unref(caps);
  return harness;
}

static void config_for(RvStixelsConfig *config, int width, int height) {
  rv_stixels_config_init(config);
  config->width = width;
  config->height = height;
}

GST_START_TEST(test_frames) {
  static const char *const formats[] = {"NV12", "YUY2", "BGRx", "RGB", "GRAY8"};
  for (int e = 0; e < engine_count(); e++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
      GstVideoInfo info;
      GstHarness *harness = harness_new(engines[e], formats[f], &info);
      RvStixels *stixels = NULL;
      RvStixelsConfig config;
      for (int frame = 0; frame < 4; frame++) { /* the last two disparities have another size */
        const int w = frame < 2 ? W : 30, h = frame < 2 ? H : 200;
        if (frame % 2 == 0) {
          rv_stixels_free(&stixels);
          config_for(&config, w, h);
          fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
        }
        RvPlane plane;
        GstBuffer *out =
            gst_harness_push_and_pull(harness, frame_new(&info, w, h, frame, frame == 1, &plane));
        check_stixels(out, stixels, &config, &plane, frame == 1);
        fail_unless(rv_meta_find(out, RV_META_DISPARITY) != NULL);
        g_free(plane.data);
        gst_buffer_unref(out);
      }
      rv_stixels_free(&stixels);
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* What the three frames of a test set, and check of their output in addition. */
typedef struct Frames {
  void (*set)(GstHarness *harness, RvStixelsConfig *config, int frame, const void *data);
  void (*check)(GstBuffer *out, const RvStixelsConfig *config, int frame); /* may be NULL */
  const void *data;
} Frames;

/* Three frames of every engine, with settings made while PLAYING, give the stixels of the library. */
static void check_frames(const Frames *frames) {
  for (int e = 0; e < engine_count(); e++) {
    GstVideoInfo info;
    GstHarness *harness = harness_new(engines[e], "GRAY8", &info);
    for (int frame = 0; frame < 3; frame++) {
      RvStixelsConfig config;
      config_for(&config, W, H);
      frames->set(harness, &config, frame, frames->data);
      RvStixels *stixels = NULL;
      fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
      RvPlane plane;
      GstBuffer *out =
          gst_harness_push_and_pull(harness, frame_new(&info, W, H, frame, FALSE, &plane));
      check_stixels(out, stixels, &config, &plane, FALSE);
      if (frames->check)
        frames->check(out, &config, frame);
      rv_stixels_free(&stixels);
      g_free(plane.data);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(harness);
  }
}

static void set_model(GstHarness *harness, RvStixelsConfig *config, int frame, const void *data) {
  config->model = (RvStixelsModelKind)frame;
  config->stixel_width = 5;
  config->vertical_step = 3 + frame;
  config->max_disparity = 90;
  config->sigma[RV_STIXEL_OBJECT] = 0.5;
  config->complexity = 3;
  config->ordering.beta = 2;
  config->transition[1][2] = 7;
  gst_harness_set(harness, "cudastixels", "model", frame, "stixel-width", 5, "vertical-step",
                  3 + frame, "max-disparity", 90, "sigma-object", 0.5, "complexity", 3.0,
                  "ordering-beta", 2.0, "object-on-sky", 7.0, NULL);
}

/* Properties reach the library when set in the PLAYING state. */
GST_START_TEST(test_properties) {
  check_frames(&(Frames){.set = set_model});
}
GST_END_TEST

static void put(GByteArray *bytes, guint32 value) {
  const guint32 stored = GUINT32_TO_LE(value);
  g_byte_array_append(bytes, (const guint8 *)&stored, sizeof stored);
}

/* A network whose weights are all 0, so that all rows have the same score: more than can be cuts. */
static GByteArray *network_new(void) {
  static const guint32 shapes[][4] = {{5, 1, 8, 16},  {1, 1, 16, 16}, {5, 2, 16, 16},
                                      {1, 1, 16, 16}, {5, 3, 16, 16}, {1, 1, 16, 16},
                                      {1, 1, 16, 1}};
  static const guint8 zeros[16 * 5 * 16 + 16 * 4];
  GByteArray *bytes = g_byte_array_new();
  g_byte_array_append(bytes, (const guint8 *)"RVCUTNET", 8);
  put(bytes, 1);
  put(bytes, 8);
  put(bytes, G_N_ELEMENTS(shapes));
  for (guint k = 0; k < G_N_ELEMENTS(shapes); k++) {
    const guint32 *s = shapes[k];
    for (int i = 0; i < 4; i++)
      put(bytes, s[i]);
    put(bytes, 0);
    g_byte_array_append(bytes, zeros, s[3] * (s[0] * s[2] + 4));
  }
  put(bytes, 0);
  put(bytes, 20);
  return bytes;
}

typedef struct NetworkFile {
  const char *path;
  const RvStixelsNetwork *network;
} NetworkFile;

static void set_network(GstHarness *harness, RvStixelsConfig *config, int frame, const void *data) {
  const NetworkFile *file = data;
  config->cuts = RV_STIXELS_CUTS_NETWORK;
  config->cut_penalty = 0.5;
  config->network = frame == 1 ? file->network : NULL;
  gst_harness_set(harness, "cudastixels", "cuts", RV_STIXELS_CUTS_NETWORK, "cut-penalty", 0.5,
                  "cuts-location", frame == 1 ? file->path : "", NULL);
}

static void check_network(GstBuffer *out, const RvStixelsConfig *config, int frame) {
  RvMetaStixels meta;
  fail_unless(rv_meta_get_stixels(out, &meta));
  fail_unless((meta.count == rv_stixels_columns(config)) == (frame == 1));
}

/* The network of the library with costs of cuts, then that of a file, which leaves one stixel per
 * column, then the first again. */
GST_START_TEST(test_network) {
  char *folder = test_folder_new(), *path = g_build_filename(folder, "none.rvcuts", NULL);
  GByteArray *bytes = network_new();
  RvStixelsNetwork network;
  fail_unless(rv_stixels_network_read(&network, bytes->data, bytes->len, NULL) == RV_OK);
  fail_unless(g_file_set_contents(path, (const char *)bytes->data, bytes->len, NULL));
  const NetworkFile file = {path, &network};
  check_frames(&(Frames){set_network, check_network, &file});
  g_byte_array_unref(bytes);
  test_folder_free(folder);
  g_free(path);
}
GST_END_TEST

/* The defaults of the element are those of the library. */
GST_START_TEST(test_defaults) {
  GstElement *element = gst_element_factory_make("cudastixels", NULL);
  guint count;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  int seen = 0;
  for (guint i = 0; i < count; i++) {
    if (specs[i]->owner_type != G_OBJECT_TYPE(element))
      continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
    fail_unless(g_param_value_defaults(specs[i], &value), "%s", specs[i]->name);
    g_value_unset(&value);
    seen++;
  }
  fail_unless(seen > 30);
  g_free(specs);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_camera) {
  GstVideoInfo info;
  GstHarness *harness = harness_new("cpu", "GRAY8", &info);
  GstBus *bus = test_bus(harness);
  gst_harness_set(harness, "cudastixels", "ground", RV_STIXELS_GROUND_CAMERA, NULL);
  RvPlane plane;
  GstBuffer *out = gst_harness_push_and_pull(harness, frame_new(&info, W, H, 1, FALSE, &plane));
  fail_unless(rv_meta_find(out, RV_META_STIXELS) != NULL);
  char *text = test_message(bus, GST_MESSAGE_WARNING);
  fail_unless(text && strstr(text, "camera"));
  g_free(text);
  g_free(plane.data);
  gst_buffer_unref(out);
  gst_harness_set(harness, "cudastixels", "camera-height", 1.6, "camera-pitch", 2.0, NULL);
  GstBuffer *in = frame_new(&info, W, H, 1, FALSE, &plane);
  const RvCamera camera = {.focal = 100, .cy = 50, .baseline = 1, .height = 9, .pitch = 9};
  rv_meta_add_camera(in, W, H, &camera);
  out = gst_harness_push_and_pull(harness, in);
  RvStixelsConfig config;
  config_for(&config, W, H);
  config.ground = RV_STIXELS_GROUND_CAMERA;
  config.camera = camera;
  config.camera.height = 1.6;
  config.camera.pitch = 2;
  RvStixels *stixels = NULL;
  fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
  check_stixels(out, stixels, &config, &plane, FALSE);
  rv_stixels_free(&stixels);
  g_free(plane.data);
  gst_buffer_unref(out);
  test_close(harness, bus);
}
GST_END_TEST

/* No disparity: one warning, and the frame passes through. */
GST_START_TEST(test_nothing_to_do) {
  GstVideoInfo info;
  GstHarness *harness = harness_new("cpu", "GRAY8", &info);
  GstBus *bus = test_bus(harness);
  for (int frame = 0; frame < 2; frame++) {
    test_push_without(harness, gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL),
                      RV_META_STIXELS, NULL);
    test_expect_warning(bus, frame == 0 ? "cudasgm" : NULL, NULL);
  }
  test_close(harness, bus);
}
GST_END_TEST

/* An object of 200 px keeps its disparity if the annotated search range contains it; a property below
 * limits it. */
GST_START_TEST(test_range) {
  static const struct {
    int range, property, most;
  } rows[] = {{256, 0, 200}, {128, 0, 128}, {256, 150, 150}};
  for (int e = 0; e < engine_count(); e++)
    for (gsize k = 0; k < G_N_ELEMENTS(rows); k++) {
      GstVideoInfo info;
      GstHarness *harness = harness_new(engines[e], "GRAY8", &info);
      gst_harness_set(harness, "cudastixels", "max-disparity", rows[k].property, NULL);
      GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
      GstBuffer *raster = rv_meta_raster_new(RV_U16, W, H);
      RvMetaMap map;
      fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_WRITE));
      for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
          ((guint16 *)(void *)((char *)map.plane.data + y * map.plane.stride))[x] = 16 * 200;
      rv_meta_unmap(&map);
      const RvMetaDisparity meta = {W, H, 16, 0, rows[k].range, raster, NULL};
      rv_meta_add_disparity(buffer, &meta);
      GstBuffer *out = gst_harness_push_and_pull(harness, buffer);
      RvMetaStixels found;
      fail_unless(rv_meta_get_stixels(out, &found));
      fail_unless(rv_meta_map_buffer(&map, found.payload, GST_MAP_READ));
      const RvStixel *s = (const RvStixel *)(const void *)map.info.data;
      double most = 0;
      for (int i = 0; i < found.count; i++)
        most = MAX(most, s[i].slope * (s[i].v_top + s[i].v_bottom) / 2.0 + s[i].intercept);
      rv_meta_unmap(&map);
      fail_unless(ABS(most - rows[k].most) < 0.5, "%g px, not %d", most, rows[k].most);
      gst_buffer_unref(out);
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* Pixels of a row of BGRx that differ from those of `frame_new`. */
static int colored(const guint8 *pixels, int row) {
  int count = 0;
  for (int x = 0; x < W; x++) {
    const guint8 *p = pixels + 4 * (row * W + x);
    count += p[0] != 90 || p[1] != 90 || p[2] != 90;
  }
  return count;
}

/* cudaannotate overlays ground and objects, by distance or by class, and the sky by class only;
 * both engines give the same. */
GST_START_TEST(test_drawing) {
  static const char *const colors[] = {"distance", "class"};
  guint8 *first = NULL;
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness =
        test_harness("cudastixels engine=%s ! cudaannotate show=stixels stixel-colors=%s engine=%s",
                     engines[e], colors[__i__], engines[e]);
    gst_harness_set_caps(harness, test_caps("BGRx", W, H, NULL), test_caps("BGRx", W, H, NULL));
    GstVideoInfo info;
    GstCaps *caps = test_caps("BGRx", W, H, NULL);
    test_info(&info, caps);
    gst_caps_unref(caps);
    RvPlane plane;
    GstBuffer *out = gst_harness_push_and_pull(harness, frame_new(&info, W, H, 5, FALSE, &plane));
    GstMapInfo map;
    fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
    fail_unless_equals_int(colored(map.data, H - 4), W);
    fail_unless_equals_int(colored(map.data, 3), __i__ ? W : 0);
    if (e == 0)
      first = g_memdup2(map.data, map.size);
    else
      fail_unless(memcmp(first, map.data, map.size) == 0);
    gst_buffer_unmap(out, &map);
    gst_buffer_unref(out);
    g_free(plane.data);
    gst_harness_teardown(harness);
  }
  g_free(first);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_frames) TEST(test_properties) TEST(test_network) TEST(test_defaults) TEST(test_camera) \
  TEST(test_nothing_to_do) TEST(test_range) LOOP(test_drawing, 2)
/* clang-format on */

ELEMENT_TESTS(cudastixels, TESTS)
