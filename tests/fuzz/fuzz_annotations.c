/* SPDX-License-Identifier: MIT */
/* fuzz_annotations.c: any bytes as annotations of an image: hostile scalars of any type, sizes,
 * rasters whose GstVideoMeta lies, truncated payloads. They are read by the functions of
 * libroadvision-gst-0, by elements that publish them, draw them and learn from them. No crash, no
 * critical, no leak. */
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_bytes.h"
#include "roadvision-gst.h"

#define PAYLOAD_MAX 8192 /* bytes */

/* Mostly small numbers, and those at which arithmetic goes wrong. */
static gint next_int(FuzzBytes *in) {
  static const gint hostile[] = {0,      1,     -1,    2,        15,       16,         17,
                                 255,    4095,  16384, 16385,    32767,    65535,      65536,
                                 -32768, 46341, 99999, G_MAXINT, G_MININT, 0x7fffff00, 1 << 30};
  const uint8_t kind = fuzz_next(in);
  if (kind < 128)
    return kind;
  if (kind < 192)
    return hostile[fuzz_next(in) % G_N_ELEMENTS(hostile)];
  guint32 value = 0;
  for (int i = 0; i < 4; i++)
    value = value << 8 | fuzz_next(in);
  return (gint)value;
}

static double next_double(FuzzBytes *in) {
  static const double hostile[] = {0.0,  -0.0,    1e-310,        1e-300, 1e300, -1e300,
                                   16.0, 65536.0, -2147483649.0, 1e19,   0.001, 700.0};
  const uint8_t kind = fuzz_next(in);
  return kind < 192   ? next_int(in)
         : kind < 240 ? hostile[fuzz_next(in) % G_N_ELEMENTS(hostile)]
         : kind < 248 ? G_MAXDOUBLE * 2.0 /* infinite */
                      : G_MAXDOUBLE * 2.0 * 0.0;
}

/* A buffer of one or two memories; half of them say that they are rasters, rightly or not. */
static GstBuffer *next_buffer(FuzzBytes *in, int width, int height) {
  const uint8_t kind = fuzz_next(in);
  static const GstVideoFormat formats[] = {GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY8,
                                           GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_NV12};
  if (kind < 96) { /* as it should be */
    GstBuffer *raster = rv_meta_raster_new(kind < 64 ? RV_U16 : RV_U8, width, height);
    gst_buffer_memset(raster, 0, fuzz_next(in), G_MAXSIZE);
    return raster;
  }
  const gsize bytes = (gsize)fuzz_next(in) * fuzz_next(in) % PAYLOAD_MAX;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, bytes, NULL);
  for (gsize i = 0; i < bytes && in->left > 0; i++) {
    const uint8_t byte = fuzz_next(in);
    gst_buffer_fill(buffer, i, &byte, 1);
  }
  if (kind & 1) {
    const GstVideoFormat format = formats[fuzz_next(in) % G_N_ELEMENTS(formats)];
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
    gst_buffer_append_memory(buffer, gst_allocator_alloc(NULL, fuzz_next(in), NULL));
  return buffer;
}

/* Fields of the annotations. */
/* clang-format off */
static const char *const names[] = {
    "version", "width", "height", "scale", "min-disparity", "disparities", "count", "epsilon",
    "focal", "levels-max", "cx", "cy", "doffs", "baseline", "pitch", "view", "payload",
    "disparity", "labels", "camera-height", "confidence", "classes", "road", "visible", "type",
    "map-width", "map-height", "patch-size", "columns", "rows", "seed-mask", "distance", "stride",
    "format", "model", "stixel-width", "bins", "profile", "source", "left", "nearest",
    "column-width", "skew", "z-max", "ground-slope-y", "ground-intercept", "bin",
    "ground-slope-x",
};
/* clang-format on */

static void set_field(FuzzBytes *in, GstStructure *fields, int width, int height) {
  const char *name = names[fuzz_next(in) % G_N_ELEMENTS(names)];
  GstBuffer *buffer = NULL;
  switch (fuzz_next(in) % 8) {
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
static void attach(FuzzBytes *in, GstBuffer *picture, int width, int height) {
  const char *const *others = rv_meta_get_names();
  const uint8_t kind = fuzz_next(in);
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
  const RvMetaTruth truth = {.width = width, .height = height, .disparity = disparity.payload};
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
    fields = rv_meta_add(picture, others[kind / 8 % g_strv_length((char **)others)], width, height);
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
  for (int i = fuzz_next(in) % 8; i > 0 && fields; i--)
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

static void read_fields(const GstStructure *fields) {
  for (gint i = 0; i < gst_structure_n_fields(fields); i++) {
    RvMetaMap map;
    if (rv_meta_map(&map, fields, gst_structure_nth_field_name(fields, (guint)i))) {
      volatile guint sum = read_map(&map);
      (void)sum;
      rv_meta_unmap(&map);
    }
  }
}

/* What is valid can be copied in full: every byte that a reader promises is there. */
#define READ(Type, type)                                                                           \
  static void read_##type(GstBuffer *picture) {                                                    \
    RvMeta##Type *meta = rv_meta_##type##_new();                                                   \
    if (rv_meta_##type##_read(meta, picture, NULL))                                                \
      for (guint i = 0; i < G_N_ELEMENTS(buffers); i++) {                                          \
        RvMetaArray *array = rv_meta_##type##_get_array(meta, buffers[i], NULL);                   \
        g_clear_pointer(&array, rv_meta_array_free);                                               \
      }                                                                                            \
    rv_meta_##type##_free(meta);                                                                   \
  }
static const char *const buffers[] = {"payload", "confidence",  "distance",  "seed-mask",
                                      "profile", "accumulator", "disparity", "labels",
                                      "road",    "visible"};
READ(Camera, camera)
READ(Disparity, disparity)
READ(Semantics, semantics)
READ(Stixels, stixels)
READ(Segments, segments)
READ(Road, road)
READ(Lines, lines)
READ(Ground, ground)
READ(Obstacles, obstacles)
READ(FreeSpace, free_space)
READ(Lanes, lanes)
READ(Detections, detections)
READ(Pair, pair)
READ(Truth, truth)

static void read_all(GstBuffer *picture) {
  void (*const readers[])(GstBuffer *) = {
      read_camera, read_disparity,  read_semantics, read_stixels,   read_segments,
      read_road,   read_lines,      read_ground,    read_obstacles, read_free_space,
      read_lanes,  read_detections, read_pair,      read_truth};
  for (const char *const *name = rv_meta_get_names(); *name; name++) {
    const GstStructure *fields = rv_meta_find(picture, *name);
    if (fields)
      read_fields(fields);
  }
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++)
    readers[i](picture);
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
  FuzzBytes in = {bytes, size};
  const uint8_t kind = fuzz_next(&in);
  const char *format = formats[kind % G_N_ELEMENTS(formats)];
  const int width = 1 + fuzz_next(&in) % 160, height = 1 + fuzz_next(&in) % 96;
  char *line = g_strconcat(
      "annotationpublish payload=base64 objects=true location=/dev/null ! ",
      kind % 4 ? ""
               : "annotationpublish format=mcap topics=image+camera+disparity+depth+points+markers+"
                 "overlay+tf+frame location=" RV_MCAP " ! ",
      kind < 128 ? "" : "cudaroaddetect engine=cpu threads=1 ! ",
      kind % 3 ? "" : "cudaobstacles engine=cpu threads=1 attach=roi ! ",
      "cudaannotate engine=cpu threads=1", NULL);
  GstHarness *h = gst_harness_new_parse(line);
  g_free(line);
  char *caps = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format,
                               width, height);
  gst_harness_set_src_caps_str(h, caps);
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), (guint)width,
                            (guint)height);
  GstBuffer *picture = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
  gst_buffer_memset(picture, 0, 128, G_MAXSIZE);
  for (int i = 1 + fuzz_next(&in) % 3; i > 0; i--)
    attach(&in, picture, width, height);
  read_all(picture);
  gst_harness_push(h, picture);
  gst_harness_teardown(h);
  g_free(caps);
  return 0;
}
