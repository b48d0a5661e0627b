/* SPDX-License-Identifier: MIT */
/* cudastixels_semantics.c: cudastixels with semantics and with frames that are disparity maps,
 * compared with direct calls of the library, on each available engine. */
#include "element_test.h"
#include "stixels/stixels.h"

enum { W = 88, H = 96, CLASSES = 4 };

static const char letters[] = "goos";
static const char *const engines[] = {"cpu", "cuda"};

static int engine_count(void) {
  return rv_cuda_devices(NULL, 0) > 0 ? 2 : 1;
}

static guint32 next(guint32 *state) {
  return (*state = *state * 1664525u + 1013904223u) >> 16;
}

/* Road, a wall, sky; `unit` values per px. */
static void fill_disparity(const RvPlane *plane, int seed, int unit) {
  guint32 state = (guint32)seed * 77 + 5;
  for (int y = 0; y < plane->height; y++)
    for (int x = 0; x < plane->width; x++) {
      const int d = y > 60 ? (y - 40) * unit / 2 : y > 20 ? 10 * unit : 1;
      ((guint16 *)(void *)((char *)plane->data + y * plane->stride))[x] =
          next(&state) % 11 == 0 ? 0 : (guint16)(d + (int)(next(&state) % (guint)unit));
    }
}

static GstBuffer *raster(RvFormat format, int width, int height, RvMetaMap *map) {
  GstBuffer *buffer = rv_meta_raster_new(format, width, height);
  fail_unless(rv_meta_map_buffer(map, buffer, GST_MAP_READWRITE));
  return buffer;
}

/* A frame with disparity; `map` stays mapped. */
static GstBuffer *frame_new(int seed, RvMetaMap *map) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, W * H, NULL);
  GstBuffer *payload = raster(RV_U16, W, H, map);
  fill_disparity(&map->plane, seed, 16);
  const RvMetaDisparity meta = {W, H, 16, 0, 128, payload, NULL};
  rv_meta_add_disparity(buffer, &meta);
  return buffer;
}

static void config_for(RvStixelsConfig *config, int classes) {
  rv_stixels_config_init(config);
  config->width = W;
  config->height = H;
  config->semantics = classes;
  for (int k = 0; k < classes; k++)
    config->semantic_structure[k] = letters[k] == 'g'   ? RV_STIXEL_GROUND
                                    : letters[k] == 'o' ? RV_STIXEL_OBJECT
                                                        : RV_STIXEL_SKY;
}

/* Compares the annotation of `out` with the result of the library; returns the number of stixels
 * with a class. */
static int check(GstBuffer *out, RvStixels *stixels, const RvStixelsConfig *config,
                 const RvStixelsInput *input) {
  const guint32 room = rv_stixels_count_max(config);
  RvStixel *list = g_new0(RvStixel, room);
  guint32 *offsets = g_new(guint32, rv_stixels_columns(config) + 1);
  const RvStixelsOutput output = {.stixels = list, .capacity = room, .offsets = offsets};
  RvGroundSurface surface;
  RvStixelsInput with_ground = *input;
  with_ground.surface =
      test_surface(out, input->disparity.width, input->disparity.height, &surface);
  fail_unless(rv_stixels_run(stixels, &with_ground, &output, NULL) == RV_OK);
  const guint32 count = offsets[rv_stixels_columns(config)];
  RvMetaStixels meta;
  RvMetaMap map;
  fail_unless(rv_meta_get_stixels(out, &meta));
  fail_unless_equals_int(meta.count, count);
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ));
  fail_unless(memcmp(map.info.data, list, count * sizeof(RvStixel)) == 0);
  rv_meta_unmap(&map);
  int known = 0;
  for (guint32 k = 0; k < count; k++)
    known += list[k].semantic != RV_SEMANTIC_NONE;
  g_free(list);
  g_free(offsets);
  return known;
}

static GstHarness *harness_new(const char *engine, const char *format, const char *more) {
  GstHarness *harness = test_harness("cudastixels engine=%s %s", engine, more);
  gst_harness_set_caps(harness, test_caps(format, W, H, NULL), test_caps(format, W, H, NULL));
  return harness;
}

/* Labels of another size, then scores, then a frame without. */
GST_START_TEST(test_annotation) {
  for (int e = 0; e < engine_count(); e++) {
    GstHarness *harness = harness_new(engines[e], "GRAY8", "semantic-classes=goos");
    RvStixelsConfig config;
    config_for(&config, CLASSES);
    RvStixels *stixels = NULL;
    fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
    for (int frame = 0; frame < 3; frame++) {
      RvMetaMap disparity, map;
      GstBuffer *in = frame_new(frame, &disparity), *payload = NULL;
      RvStixelsInput input = {.disparity = disparity.plane};
      guint32 state = (guint32)frame;
      if (frame == 0) {
        payload = raster(RV_U8, W / 2, H / 3, &map);
        for (int y = 0; y < H / 3; y++)
          for (int x = 0; x < W / 2; x++)
            ((guint8 *)map.plane.data + y * map.plane.stride)[x] =
                (guint8)(y > 20   ? 0
                         : y > 12 ? 2
                                  : next(&state) % 5);
        input.labels = map.plane;
        rv_meta_add_labels(in, W, H, CLASSES, gst_buffer_ref(payload));
      } else if (frame == 1) {
        payload = raster(RV_U16, W, H * CLASSES, &map);
        for (int y = 0; y < H * CLASSES; y++)
          for (int x = 0; x < W; x++)
            ((guint16 *)(void *)((char *)map.plane.data + y * map.plane.stride))[x] =
                (guint16)(next(&state) % 0x3c01);
        input.scores = map.plane;
        rv_meta_add_scores(in, W, H, CLASSES, W, H, gst_buffer_ref(payload));
      }
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      fail_unless((check(out, stixels, &config, &input) > 0) == (frame < 2));
      fail_unless((rv_meta_find(out, RV_META_SEMANTICS) != NULL) == (frame < 2));
      rv_meta_unmap(&disparity);
      gst_buffer_unref(out);
      if (payload) {
        rv_meta_unmap(&map);
        gst_buffer_unref(payload);
      }
    }
    rv_stixels_free(&stixels);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* Invalid semantics give one warning, and the stixels of the disparity alone. */
GST_START_TEST(test_refused) {
  for (int kind = 0; kind < 3; kind++) {
    GstHarness *harness = harness_new("cpu", "GRAY8", "semantic-classes=goos");
    GstBus *bus = test_bus(harness);
    RvStixelsConfig config;
    config_for(&config, 0);
    RvStixels *stixels = NULL;
    fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
    for (int frame = 0; frame < 2; frame++) {
      RvMetaMap disparity;
      GstBuffer *in = frame_new(frame, &disparity);
      const RvStixelsInput input = {.disparity = disparity.plane};
      if (kind == 0)
        rv_meta_add_scores(in, W, H, 3, 8, 8, rv_meta_raster_new(RV_U16, 8, 24));
      else if (kind == 1)
        rv_meta_add_scores(in, W, H, CLASSES, 8, 9, rv_meta_raster_new(RV_U16, 8, 32));
      else
        rv_meta_add_labels(in, W, H, CLASSES, rv_meta_raster_new(RV_U16, 8, 8));
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      fail_unless_equals_int(check(out, stixels, &config, &input), 0);
      rv_meta_unmap(&disparity);
      gst_buffer_unref(out);
      char *text = test_message(bus, GST_MESSAGE_WARNING);
      fail_unless((text != NULL) == (frame == 0));
      fail_unless(!text || strstr(text, "semantics"));
      g_free(text);
    }
    rv_stixels_free(&stixels);
    test_close(harness, bus);
  }
}
GST_END_TEST

/* Frames that are disparity maps, of two scales. */
GST_START_TEST(test_maps) {
  for (int e = 0; e < engine_count(); e++)
    for (int scale = 16; scale <= 64; scale *= 4) {
      char *more = g_strdup_printf("disparity-scale=%d", scale);
      GstHarness *harness = harness_new(engines[e], "GRAY16_LE", more);
      g_free(more);
      GstBuffer *in = gst_buffer_new_allocate(NULL, 2 * W * H, NULL);
      GstMapInfo map;
      fail_unless(gst_buffer_map(in, &map, GST_MAP_WRITE));
      const RvPlane plane = {map.data, 2 * W, W, H, RV_U16};
      fill_disparity(&plane, 3, scale);
      guint16 *values = g_memdup2(map.data, 2 * W * H);
      gst_buffer_unmap(in, &map);
      for (int i = 0; i < W * H; i++)
        values[i] = values[i] ? (guint16)MAX(1, (values[i] * 16 + scale / 2) / scale) : 0;
      const RvStixelsInput input = {.disparity = {values, 2 * W, W, H, RV_U16}};
      RvStixelsConfig config;
      config_for(&config, 0);
      RvStixels *stixels = NULL;
      fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
      GstBuffer *out = gst_harness_push_and_pull(harness, in);
      check(out, stixels, &config, &input);
      gst_buffer_unref(out);
      g_free(values);
      rv_stixels_free(&stixels);
      gst_harness_teardown(harness);
    }
}
GST_END_TEST

/* Invalid letters: an error that names the property. */
GST_START_TEST(test_letters) {
  GstHarness *harness = gst_harness_new_parse("cudastixels semantic-classes=gox");
  GstBus *bus = test_bus(harness);
  gst_harness_set_caps(harness, test_caps("GRAY8", W, H, NULL), test_caps("GRAY8", W, H, NULL));
  RvMetaMap disparity;
  GstBuffer *in = frame_new(0, &disparity);
  rv_meta_unmap(&disparity);
  gst_harness_push(harness, in);
  test_expect_error(bus, "semantic-classes", NULL);
  test_close(harness, bus);
}
GST_END_TEST

/* The priors of this file, and the same in properties. */
static const char model[] = "# a street\r\n"
                            "classes = goos\n"
                            "names = road, car wall sky # in order\n"
                            "sigmas = *:0.5 car:2\n"
                            "transitions = road>sky:20\n\n"
                            "transitions = sky>*:4.5 car>0:1e1\n";
static const char properties[] =
    "semantic-classes=goos semantic-names=\"road car wall sky\" semantic-sigmas=\"*:0.5,car:2\" "
    "semantic-transitions=\"road>sky:20 sky>*:4.5 1>road:10\"";

static char *file_of(const char *folder, const char *name, const char *text, gssize size) {
  char *path = g_build_filename(folder, name, NULL);
  fail_unless(g_file_set_contents(path, text, size, NULL));
  return path;
}

/* Priors of properties and of a file are those of the library. */
GST_START_TEST(test_priors) {
  char *folder = test_folder_new(), *path = file_of(folder, "street.txt", model, -1);
  char *located = g_strdup_printf("semantic-location=%s", path);
  const char *const ways[] = {properties, located};
  for (int way = 0; way < 2 * engine_count(); way++) {
    GstHarness *harness = harness_new(engines[way / 2], "GRAY8", ways[way % 2]);
    RvStixelsSemanticPriors priors = {.sigma = {0.5, 2, 0.5, 0.5}};
    RvStixelsConfig config;
    config_for(&config, CLASSES);
    priors.transition[3][0] = 20;
    for (int k = 0; k < CLASSES; k++)
      priors.transition[k][3] = 4.5;
    priors.transition[0][1] = 10;
    config.semantic_priors = &priors;
    RvStixels *stixels = NULL;
    fail_unless(rv_stixels_new(&stixels, &config, RV_CPU) == RV_OK);
    RvMetaMap disparity, map;
    GstBuffer *in = frame_new(way, &disparity), *payload = raster(RV_U8, W, H, &map);
    guint32 state = 9;
    for (int y = 0; y < H; y++)
      memset((char *)map.plane.data + y * map.plane.stride,
             y > 60             ? 0
             : next(&state) % 3 ? 2
                                : 3,
             W);
    const RvStixelsInput input = {.disparity = disparity.plane, .labels = map.plane};
    rv_meta_add_labels(in, W, H, CLASSES, gst_buffer_ref(payload));
    GstBuffer *out = gst_harness_push_and_pull(harness, in);
    fail_unless(check(out, stixels, &config, &input) > 0);
    rv_meta_unmap(&disparity);
    rv_meta_unmap(&map);
    gst_buffer_unref(out);
    gst_buffer_unref(payload);
    rv_stixels_free(&stixels);
    gst_harness_teardown(harness);
  }
  test_folder_free(folder);
  g_free(path);
  g_free(located);
}
GST_END_TEST

/* Sets a text and expects an error that contains `cause`. */
static void expect_refusal(const char *name, const char *text, const char *cause) {
  GstHarness *harness =
      gst_harness_new_parse("cudastixels engine=cpu semantic-classes=gos semantic-names=\"a b c\"");
  GstElement *element = gst_harness_find_element(harness, "cudastixels");
  GstBus *bus = test_bus(harness);
  g_object_set(element, name, text, NULL);
  gst_harness_set_caps(harness, test_caps("GRAY8", W, H, NULL), test_caps("GRAY8", W, H, NULL));
  RvMetaMap disparity;
  GstBuffer *in = frame_new(0, &disparity);
  rv_meta_unmap(&disparity);
  gst_harness_push(harness, in);
  test_expect_error(bus, cause, NULL);
  gst_object_unref(element);
  test_close(harness, bus);
}

/* Texts that are none: an error that names the property, or the file and the line. */
GST_START_TEST(test_hostile) {
  static const struct {
    const char *name, *text;
  } texts[] = {
      {"semantic-names", "a b c d"},
      {"semantic-names", "a a"},
      {"semantic-names", "1st"},
      {"semantic-names", "a>b"},
      {"semantic-names", "\xff\xfe"},
      {"semantic-sigmas", "a"},
      {"semantic-sigmas", "a:"},
      {"semantic-sigmas", "a:0.05"},
      {"semantic-sigmas", "a:nan"},
      {"semantic-sigmas", "a:1e999"},
      {"semantic-sigmas", "a:-1"},
      {"semantic-sigmas", "a:1px"},
      {"semantic-sigmas", "3:1"},
      {"semantic-sigmas", "99999999999:1"},
      {"semantic-sigmas", "d:1"},
      {"semantic-transitions", "a>b"},
      {"semantic-transitions", "a:1>b"},
      {"semantic-transitions", "a>b>c:1"},
      {"semantic-transitions", "a>b:1001"},
      {"semantic-transitions", ">:1"},
      {"semantic-transitions", "a>b:inf"},
      {"semantic-classes", "gggggggggggggggggggggggggggggggggg"},
      {"semantic-location", "/nonexistent/file"},
      {"semantic-location", "/dev/zero"},
      {"semantic-location", "/"},
  };
  static const struct {
    const char *text;
    gssize size;
    const char *cause;
  } files[] = {
      {"classes = gox\n", -1, "line 1"},
      {"classes = go\nnames = a b c\n", -1, "more than"},
      {"\n\nsigma = a:1\n", -1, "line 3"},
      {"names\n", -1, "line 1"},
      {"transitions = a>b:1\0x", 21, "not a text"},
  };
  for (gsize k = 0; k < G_N_ELEMENTS(texts); k++)
    expect_refusal(texts[k].name, texts[k].text, texts[k].name);
  char *folder = test_folder_new();
  for (gsize k = 0; k < G_N_ELEMENTS(files); k++) {
    char *path = file_of(folder, "bad.txt", files[k].text, files[k].size);
    expect_refusal("semantic-location", path, files[k].cause);
    g_free(path);
  }
  char *large = g_strnfill(70000, ' '), *path = file_of(folder, "bad.txt", large, -1);
  expect_refusal("semantic-location", path, "at most 65536 bytes");
  test_folder_free(folder);
  g_free(path);
  g_free(large);
}
GST_END_TEST

/* Files that are no network of cuts. */
GST_START_TEST(test_hostile_network) {
  static const struct {
    const char *text;
    gssize size;
    const char *cause;
  } files[] = {{"", 0, "RVCUTNET"}, {"RVCUTNET\1", 9, "9 bytes"}};
  static const char *const paths[] = {"/nonexistent/file", "/dev/zero", "/"};
  char *folder = test_folder_new();
  for (gsize k = 0; k < G_N_ELEMENTS(paths); k++)
    expect_refusal("cuts-location", paths[k], "cuts-location");
  for (gsize k = 0; k < G_N_ELEMENTS(files); k++) {
    char *path = file_of(folder, "bad.rvcuts", files[k].text, files[k].size);
    expect_refusal("cuts-location", path, files[k].cause);
    g_free(path);
  }
  test_folder_free(folder);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_annotation) TEST(test_refused) TEST(test_maps) TEST(test_letters) TEST(test_priors) \
  TEST(test_hostile) TEST(test_hostile_network)
/* clang-format on */

ELEMENT_TESTS(cudastixels_semantics, TESTS)
