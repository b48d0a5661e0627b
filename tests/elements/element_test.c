/* SPDX-License-Identifier: MIT */
/* element_test.c: frames, caps, and messages for the tests of the elements. */
#include "element_test.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static guint32 hash(guint32 v) {
  v ^= v >> 16;
  v *= 0x7feb352du;
  v ^= v >> 15;
  v *= 0x846ca68bu;
  return v ^ (v >> 16);
}

GstHarness *test_harness(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *line = g_strdup_vprintf(format, args);
  va_end(args);
  GstHarness *harness = gst_harness_new_parse(line);
  fail_unless(harness != NULL, "%s", line);
  g_free(line);
  return harness;
}

GstCaps *test_caps(const char *format, int width, int height, const char *more) {
  g_type_ensure(GST_TYPE_VIDEO_MULTIVIEW_FLAGSET); /* `more` may name it */
  char *text = g_strdup_printf("video/x-raw, format=%s, width=%d, height=%d, framerate=30/1%s%s",
                               format, width, height, more ? ", " : "", more ? more : "");
  GstCaps *caps = gst_caps_from_string(text);
  fail_unless(caps != NULL, "%s", text);
  g_free(text);
  return caps;
}

GstHarness *test_gray_harness(const char *element, const char *engine, const char *more, int width,
                              int height) {
  GstHarness *harness = test_harness("%s engine=%s %s", element, engine, more);
  gst_harness_set_caps(harness, test_caps("GRAY8", width, height, NULL),
                       test_caps("GRAY8", width, height, NULL));
  return harness;
}

void test_info(GstVideoInfo *info, const GstCaps *caps) {
  fail_unless(gst_video_info_from_caps(info, caps));
}

void test_set_caps(GstHarness *harness, const char *format, int width, int height, const char *more,
                   GstVideoInfo *info) {
  GstCaps *caps = test_caps(format, width, height, more);
  test_info(info, caps);
  gst_harness_set_src_caps(harness, caps);
}

/* Texture of the point (x, y) of the left view. */
static guint8 texture(int x, int y, guint32 seed) {
  return (guint8)hash((guint32)x * 7919u + (guint32)y * 104729u + seed * 15485863u);
}

/* Value at (x, y) of a plane whose samples cover `step_x` x `step_y` px. */
static guint8 sample(const GstVideoInfo *info, gboolean top_bottom, gboolean right_first, int shift,
                     int rows, guint32 seed, int x, int y) {
  const int ew = top_bottom ? GST_VIDEO_INFO_WIDTH(info) : GST_VIDEO_INFO_WIDTH(info) / 2;
  const int eh = top_bottom ? GST_VIDEO_INFO_HEIGHT(info) / 2 : GST_VIDEO_INFO_HEIGHT(info);
  const gboolean second = top_bottom ? y >= eh : x >= ew;
  const int u = second && !top_bottom ? x - ew : x;
  const int v = second && top_bottom ? y - eh : y;
  const gboolean right = second != right_first;
  return right ? texture(u + shift, v - rows, seed) : texture(u, v, seed);
}

int test_upper_byte(const GstVideoFormatInfo *format, guint component) {
  return GST_VIDEO_FORMAT_INFO_DEPTH(format, component) > 8;
}

GstBuffer *test_pair_new_rows(const GstVideoInfo *info, gboolean top_bottom, gboolean right_first,
                              int shift, int rows, guint32 seed) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
  memset(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0), 128, GST_VIDEO_INFO_SIZE(info));
  const GstVideoFormatInfo *format = frame.info.finfo;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++) {
    const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
    const int cells = GST_VIDEO_FRAME_COMP_WIDTH(&frame, c);
    const int lines = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c);
    const int sx = 1 << GST_VIDEO_FORMAT_INFO_W_SUB(format, c);
    const int sy = 1 << GST_VIDEO_FORMAT_INFO_H_SUB(format, c);
    for (int y = 0; y < lines; y++)
      for (int x = 0; x < cells; x++)
        ((guint8 *)GST_VIDEO_FRAME_COMP_DATA(&frame,
                                             c))[y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
                                                 x * step + test_upper_byte(format, c)] =
            sample(info, top_bottom, right_first, shift, rows, seed + c, x * sx, y * sy);
  }
  gst_video_frame_unmap(&frame);
  return buffer;
}

GstBuffer *test_pair_new(const GstVideoInfo *info, gboolean top_bottom, gboolean right_first,
                         int shift, guint32 seed) {
  return test_pair_new_rows(info, top_bottom, right_first, shift, 0, seed);
}

static RvPixelFormat pixel_format(const char *name) {
  static const char *const names[] = {TEST_FORMATS};
  if (strcmp(name, "GRAY16_LE") == 0)
    return RV_PIXEL_GRAY16;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(names[i], name) == 0)
      return (RvPixelFormat)i;
  return RV_PIXEL_FORMATS;
}

RvPicture test_picture(const GstVideoFrame *frame) {
  RvPicture picture = {pixel_format(GST_VIDEO_INFO_NAME(&frame->info)),
                       GST_VIDEO_FRAME_WIDTH(frame),
                       GST_VIDEO_FRAME_HEIGHT(frame),
                       {NULL},
                       {0}};
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(frame); p++) {
    picture.data[p] = GST_VIDEO_FRAME_PLANE_DATA(frame, p);
    picture.stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE(frame, p);
  }
  return picture;
}

guint8 *test_gray(GstBuffer *buffer, const GstVideoInfo *info, int x, int y, int width,
                  int height) {
  guint8 *gray = g_malloc((gsize)width * (gsize)height);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_READ));
  const RvPicture picture = test_picture(&frame);
  const RvPlane plane = {gray, width, width, height, RV_U8};
  fail_unless(rv_convert_gray(&picture, x, y, &plane, 1, RV_CPU, NULL, NULL) == RV_OK);
  gst_video_frame_unmap(&frame);
  return gray;
}

const RvGroundSurface *test_surface(GstBuffer *buffer, int width, int height,
                                    RvGroundSurface *surface) {
  RvMetaGround meta;
  if (MIN(width, height) < RV_GROUND_SIDE_MIN)
    return NULL;
  *surface = (RvGroundSurface){.source = RV_GROUND_NONE};
  if (!rv_meta_get_ground(buffer, &meta))
    return surface;
  fail_unless(meta.width == width && meta.height == height);
  surface->slope_x = meta.ground_slope_x;
  surface->slope_y = meta.ground_slope_y;
  surface->intercept = meta.ground_intercept;
  surface->height = meta.camera_height;
  surface->source = (gint32)meta.source;
  return surface;
}

GstBus *test_bus(GstHarness *harness) {
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(harness->element, bus);
  return bus;
}

/* Messages that nobody read hold the element. */
void test_bus_free(GstBus *bus) {
  gst_bus_set_flushing(bus, TRUE);
  gst_object_unref(bus);
}

void test_estimate_ground(GstBuffer *frame, int width, int height, const RvCamera *camera,
                          RvMetaMap *map, RvGroundSurface *surface) {
  RvMetaDisparity meta;
  RvGroundConfig config;
  RvGround *ground = NULL;
  rv_ground_config_init(&config);
  config.width = width;
  config.height = height;
  config.camera = *camera;
  config.max_disparity = 64;
  fail_unless(rv_meta_get_disparity(frame, &meta));
  fail_unless(rv_meta_map_buffer(map, meta.payload, GST_MAP_READ));
  fail_unless(rv_ground_new(&ground, &config, RV_CPU) == RV_OK);
  fail_unless(rv_ground_run(ground, &map->plane, surface, NULL) == RV_OK);
  rv_ground_free(&ground);
}

void test_copy_payload(GstBuffer *payload, gpointer to, gsize bytes) {
  RvMetaMap map;
  fail_unless_equals_uint64(gst_buffer_get_size(payload), bytes);
  if (bytes == 0)
    return;
  fail_unless(rv_meta_map_buffer(&map, payload, GST_MAP_READ));
  memcpy(to, map.info.data, bytes);
  rv_meta_unmap(&map);
}

gboolean test_is_gstreamer(guint minor) {
  guint major, got, micro, nano;
  gst_version(&major, &got, &micro, &nano);
  return major > 1 || got >= minor;
}

void test_same_bytes(GstBuffer *a, GstBuffer *b) {
  GstMapInfo in_a, in_b;
  fail_unless(gst_buffer_map(a, &in_a, GST_MAP_READ));
  fail_unless(gst_buffer_map(b, &in_b, GST_MAP_READ));
  fail_unless(in_a.size == in_b.size && memcmp(in_a.data, in_b.data, in_a.size) == 0);
  gst_buffer_unmap(a, &in_a);
  gst_buffer_unmap(b, &in_b);
}

void test_push_without(GstHarness *harness, GstBuffer *in, const char *annotation,
                       const char *other) {
  GstBuffer *out = gst_harness_push_and_pull(harness, in);
  fail_if(rv_meta_find(out, annotation) || (other && rv_meta_find(out, other)));
  gst_buffer_unref(out);
}

const GstVideoRegionOfInterestMeta *test_next_region(GstBuffer *buffer, gpointer *state) {
  return (const GstVideoRegionOfInterestMeta *)gst_buffer_iterate_meta_filtered(
      buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

void test_stat(GstElement *element, const char *name, GType type, gpointer value) {
  GstStructure *stats = NULL;
  g_object_get(element, "stats", &stats, NULL);
  fail_unless(gst_structure_get(stats, name, type, value, NULL), "%s", name);
  gst_structure_free(stats);
}

void test_randomize(GstBuffer *buffer, guint32 seed) {
  GRand *random = g_rand_new_with_seed(seed);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8)g_rand_int(random);
  gst_buffer_unmap(buffer, &map);
  g_rand_free(random);
}

gboolean test_near(double value, double wanted, double tolerance) {
  return fabs(value - wanted) <= tolerance;
}

void test_element_free(GstElement *element, GstBus *bus) {
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, NULL);
  test_bus_free(bus);
  gst_object_unref(element);
}

void test_drop(GstHarness *harness, GstBuffer *out) {
  gst_buffer_unref(out);
  gst_harness_teardown(harness);
}

void test_close(GstHarness *harness, GstBus *bus) {
  test_bus_free(bus);
  gst_harness_teardown(harness);
}

TestElement test_start(const char *line, const char *format, int width, int height,
                       const char *more) {
  TestElement test;
  test.harness = gst_harness_new_parse(line);
  test.bus = test_bus(test.harness);
  test_set_caps(test.harness, format, width, height, more, &test.info);
  return test;
}

void test_end(TestElement *test) {
  test_close(test->harness, test->bus);
}

char *test_message(GstBus *bus, GstMessageType type) {
  GstMessage *message = gst_bus_pop_filtered(bus, type);
  if (!message)
    return NULL;
  GError *error = NULL;
  char *debug = NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  char *text = g_strdup_printf("%s | %s", error->message, debug ? debug : "");
  g_error_free(error);
  g_free(debug);
  gst_message_unref(message);
  return text;
}

static void expect(GstBus *bus, GstMessageType type, const char *text, const char *more) {
  char *message = test_message(bus, type);
  if (text)
    fail_unless(message && strstr(message, text) && (!more || strstr(message, more)), "%s",
                message);
  else
    fail_unless(message == NULL, "%s", message);
  g_free(message);
}

void test_expect_warning(GstBus *bus, const char *text, const char *more) {
  expect(bus, GST_MESSAGE_WARNING, text, more);
}

void test_expect_error(GstBus *bus, const char *text, const char *more) {
  expect(bus, GST_MESSAGE_ERROR, text, more);
}

/* --- Files and sources ----------------------------------------------------------------------- */

char *test_folder_new(void) {
  char *folder = g_dir_make_tmp("gst-roadvision-XXXXXX", NULL);
  fail_unless(folder != NULL);
  return folder;
}

void test_folder_free(char *folder) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
    char *path = g_build_filename(folder, name, NULL);
    fail_unless(g_unlink(path) == 0);
    g_free(path);
  }
  g_dir_close(dir);
  fail_unless(g_rmdir(folder) == 0);
  g_free(folder);
}

TestFile test_file_new(const char *name) {
  char *folder = test_folder_new();
  return (TestFile){folder, g_build_filename(folder, name, NULL)};
}

void test_file_free(TestFile *file) {
  g_free(file->path);
  test_folder_free(file->folder);
}

GstHarness *test_source_new(const char *caps, GstPadProbeCallback probe, gpointer data) {
  GstElement *source = gst_element_factory_make("stereotestsrc", NULL);
  GstHarness *harness = gst_harness_new_with_element(source, NULL, "src");
  gst_harness_set_sink_caps_str(harness, caps);
  if (probe)
    gst_pad_add_probe(harness->sinkpad,
                      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH, probe, data,
                      NULL);
  gst_harness_play(harness);
  gst_object_unref(source);
  return harness;
}
