/* SPDX-License-Identifier: MIT */
/* fuzz_annotations.c: any bytes as annotations of a picture: hostile scalars of any type, sizes,
 * rasters whose GstVideoMeta lies, truncated payloads. They are read by the functions of
 * roadvision-gst.h, by an element that draws them, and by one that learns from them. No crash, no
 * critical, no leak. */
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

#include "roadvision-gst.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define PAYLOAD_MAX 8192 /* bytes */

typedef struct Input {
  const uint8_t *at;
  size_t left;
} Input;

/* The next byte, 0 behind the end. */
static uint8_t next(Input *in) {
  if (in->left == 0)
    return 0;
  in->left--;
  return *in->at++;
}

/* Mostly small numbers, and those at which arithmetic goes wrong. */
static gint next_int(Input *in) {
  static const gint hostile[] = {0,      1,     -1,    2,        15,       16,         17,
                                 255,    4095,  16384, 16385,    32767,    65535,      65536,
                                 -32768, 46341, 99999, G_MAXINT, G_MININT, 0x7fffff00, 1 << 30};
  const uint8_t kind = next(in);
  if (kind < 128)
    return kind;
  if (kind < 192)
    return hostile[next(in) % G_N_ELEMENTS(hostile)];
  guint32 value = 0;
  for (int i = 0; i < 4; i++)
    value = value << 8 | next(in);
  return (gint)value;
}

static double next_double(Input *in) {
  static const double hostile[] = {0.0,  -0.0,    1e-310,        1e-300, 1e300, -1e300,
                                   16.0, 65536.0, -2147483649.0, 1e19,   0.001, 700.0};
  const uint8_t kind = next(in);
  return kind < 192   ? next_int(in)
         : kind < 240 ? hostile[next(in) % G_N_ELEMENTS(hostile)]
         : kind < 248 ? G_MAXDOUBLE * 2.0 /* infinite */
                      : G_MAXDOUBLE * 2.0 * 0.0;
}

/* A buffer of one or two memories; half of them say that they are rasters, rightly or not. */
static GstBuffer *next_buffer(Input *in, int width, int height) {
  const uint8_t kind = next(in);
  static const GstVideoFormat formats[] = {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY8,
                                           GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_NV12};
  if (kind < 96) { /* as it should be */
    GstBuffer *raster = rv_meta_raster_new(kind < 64 ? RV_U16 : RV_U8, width, height);
    gst_buffer_memset(raster, 0, next(in), G_MAXSIZE);
    return raster;
  }
  const gsize bytes = (gsize)next(in) * next(in) % PAYLOAD_MAX;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, bytes, NULL);
  for (gsize i = 0; i < bytes && in->left > 0; i++) {
    const uint8_t byte = next(in);
    gst_buffer_fill(buffer, i, &byte, 1);
  }
  if (kind & 1) {
    const GstVideoFormat format = formats[next(in) % G_N_ELEMENTS(formats)];
    gsize offset[GST_VIDEO_MAX_PLANES] = {0};
    gint stride[GST_VIDEO_MAX_PLANES] = {0};
    GstVideoMeta *meta = gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format,
                                                        1, 1, 1, offset, stride);
    meta->width = (guint)next_int(in);
    meta->height = (guint)next_int(in);
    meta->stride[0] = next_int(in);
    meta->offset[0] = (gsize)next_int(in);
  }
  if (kind & 2)
    gst_buffer_append_memory(buffer, gst_allocator_alloc(NULL, next(in), NULL));
  return buffer;
}

static void set_field(Input *in, GstStructure *fields, int width, int height) {
  static const char *const names[] = {"version",       "width",       "height",     "scale",
                                      "min-disparity", "disparities", "count",      "epsilon",
                                      "focal",         "levels-max",  "cx",         "cy",
                                      "doffs",         "baseline",    "pitch",      "view",
                                      "payload",       "disparity",   "labels",     "camera-height",
                                      "confidence",    "classes",     "road",       "visible",
                                      "type",          "map-width",   "map-height", "patch-size",
                                      "columns",       "rows",        "seed-mask",  "distance"};
  const char *name = names[next(in) % G_N_ELEMENTS(names)];
  GstBuffer *buffer = NULL;
  switch (next(in) % 8) {
  case 0:
    gst_structure_remove_field(fields, name);
    break;
  case 1:
    gst_structure_set(fields, name, G_TYPE_STRING, "left", NULL);
    break;
  case 2:
    gst_structure_set(fields, name, G_TYPE_INT64, (gint64)next_int(in) * 4294967296, NULL);
    break;
  case 3:
  case 4:
    gst_structure_set(fields, name, G_TYPE_DOUBLE, next_double(in), NULL);
    break;
  case 5:
    buffer = next_buffer(in, width, height);
    rv_meta_set_buffer(fields, name, buffer);
    break;
  default:
    gst_structure_set(fields, name, G_TYPE_INT, next_int(in), NULL);
  }
}

/* A sound annotation first, so that one wrong field is not hidden by ten others. */
static void attach(Input *in, GstBuffer *picture, int width, int height) {
  static const char *const others[] = {RV_META_STIXELS, RV_META_LINES, RV_META_SEMANTICS};
  const uint8_t kind = next(in);
  const RvMetaDisparity disparity = {width, height, 16, 0, 64, next_buffer(in, width, height),
                                     NULL};
  const RvCamera camera = {700.0, width / 2.0, height / 2.0, 0.0, 0.5, 1.6, 0.0};
  const RvMetaSegments segments = {width, height, 1 + kind / 8, 1.0, 3, disparity.payload};
  const int cell = MIN(1 + kind / 32, MIN(width, height));
  RvMetaRoad road = {.width = width,
                     .height = height,
                     .patch_size = cell,
                     .columns = width / cell,
                     .rows = height / cell};
  const RvMetaTruth truth = {width, height, disparity.payload, NULL, NULL, NULL};
  GstStructure *fields = NULL;
  switch (kind % 8) {
  case 0:
    fields = rv_meta_add_camera(picture, width, height, &camera);
    gst_buffer_unref(disparity.payload);
    break;
  case 1:
    fields = rv_meta_add_truth(picture, &truth);
    break;
  case 2:
    fields = rv_meta_add(picture, others[kind / 8 % G_N_ELEMENTS(others)], width, height);
    rv_meta_set_buffer(fields, "payload", disparity.payload);
    break;
  case 5:
    gst_buffer_unref(disparity.payload);
    road.payload = next_buffer(in, road.columns, road.rows);
    road.seed_mask = next_buffer(in, road.columns, road.rows);
    fields = rv_meta_add_road(picture, &road);
    break;
  case 3:
  case 4:
    fields = rv_meta_add_segments(picture, &segments);
    break;
  default:
    fields = rv_meta_add_disparity(picture, &disparity);
  }
  for (int i = next(in) % 8; i > 0 && fields; i--)
    set_field(in, fields, width, height);
}

/* What a map promises: `height` rows of `width` pixels, each within the buffer. */
static guint read_map(const RvMetaMap *map) {
  const gsize pixel = map->plane.format == RV_U8 ? 1 : map->plane.format == RV_U16 ? 2 : 4;
  const gsize row = (gsize)map->plane.width * pixel;
  const guint8 *data = map->plane.data;
  guint sum = 0;
  for (int y = 0; row > 0 && y < map->plane.height; y++)
    sum += data[y * map->plane.stride] + data[y * map->plane.stride + (ptrdiff_t)row - 1];
  return sum;
}

static gboolean read_field(GQuark field, const GValue *value, gpointer user) {
  const GstStructure *fields = user;
  RvMetaMap map;
  if (rv_meta_map(&map, fields, g_quark_to_string(field))) {
    volatile guint sum = read_map(&map);
    (void)sum;
    rv_meta_unmap(&map);
  }
  return TRUE;
}

static void read_all(GstBuffer *picture) {
  static const char *const names[] = {RV_META_CAMERA,    RV_META_DISPARITY, RV_META_STIXELS,
                                      RV_META_SEGMENTS,  RV_META_ROAD,      RV_META_LINES,
                                      RV_META_SEMANTICS, RV_META_TRUTH};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    const GstStructure *fields = rv_meta_find(picture, names[i]);
    if (fields)
      gst_structure_foreach(fields, read_field, (gpointer)fields);
  }
  int width, height;
  RvCamera camera;
  RvMetaDisparity disparity;
  RvMetaTruth truth;
  RvMetaRoad road;
  RvMetaSegments segments;
  rv_meta_get_camera(picture, &camera, &width, &height);
  rv_meta_get_disparity(picture, &disparity);
  rv_meta_get_truth(picture, &truth);
  rv_meta_get_road(picture, &road);
  RvMetaMap map;
  if (!rv_meta_get_segments(picture, &segments) ||
      !rv_meta_map_buffer(&map, segments.payload, GST_MAP_READ))
    return;
  volatile guint sum = 0;                 /* so that the reads stay */
  const RvSegment *list = map.plane.data; /* `count` records, the reader says */
  for (int i = 0; i < segments.count; i++)
    sum += ((const guint8 *)&list[i])[0] + ((const guint8 *)&list[i])[sizeof *list - 1];
  (void)sum;
  rv_meta_unmap(&map);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  gst_registry_fork_set_enabled(FALSE);
  g_setenv("GST_REGISTRY_UPDATE", "no", TRUE);
  g_setenv("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  g_setenv("GST_REGISTRY", "/dev/null", TRUE);
  g_setenv("GST_DEBUG", "0", TRUE);
  gst_init(NULL, NULL);
  g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
  GError *error = NULL;
  GstPlugin *plugin = gst_plugin_load_file(RV_PLUGIN, &error);
  if (!plugin)
    g_error("%s: %s", RV_PLUGIN, error->message);
  gst_object_unref(plugin);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const char *const formats[] = {"NV12", "I420", "YUY2", "BGRx", "RGB", "GRAY8"};
  Input in = {bytes, size};
  const uint8_t kind = next(&in);
  const char *format = formats[kind % G_N_ELEMENTS(formats)];
  const int width = 1 + next(&in) % 160, height = 1 + next(&in) % 96;
  GstHarness *h = gst_harness_new_parse(
      kind < 128 ? "cudaannotate engine=cpu threads=1"
                 : "cudaroaddetect engine=cpu threads=1 ! cudaannotate engine=cpu threads=1");
  char *caps = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format,
                               width, height);
  gst_harness_set_src_caps_str(h, caps);
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), (guint)width,
                            (guint)height);
  GstBuffer *picture = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
  gst_buffer_memset(picture, 0, 128, G_MAXSIZE);
  for (int i = 1 + next(&in) % 3; i > 0; i--)
    attach(&in, picture, width, height);
  read_all(picture);
  gst_harness_push(h, picture);
  gst_harness_teardown(h);
  g_free(caps);
  return 0;
}
