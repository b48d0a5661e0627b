/* SPDX-License-Identifier: MIT */
/* annotations_raster.c: rasters and arrays of records in GstBuffers. */
#include <string.h>

#include "annotations_private.h"

#define ROW_ALIGN 64 /* bytes */

/* --- Formats ------------------------------------------------------------------------------------ */

/* Bytes of one number format of `length` characters. */
static gsize number_bytes(const char *format, gsize length) {
  static const struct {
    const char *format;
    gsize bytes;
  } numbers[] = {{"u8", 1},  {"i8", 1},  {"u16", 2}, {"i16", 2},
                 {"f16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4}};
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (strlen(numbers[i].format) == length && memcmp(numbers[i].format, format, length) == 0)
      return numbers[i].bytes;
  return 0;
}

gsize rv_meta_format_bytes(const char *format) {
  gsize sum = 0;
  while (*format) {
    const gsize item = strcspn(format, " ");
    const char *colon = memchr(format, ':', item);
    const char *number = colon ? colon + 1 : format;
    const gsize bytes = number_bytes(number, (gsize)(format + item - number));
    if (bytes == 0)
      return 0;
    sum += bytes;
    format += item + (format[item] == ' ');
  }
  return sum;
}

GstVideoFormat rv_meta_format_video(const char *format) {
  const gsize bytes = rv_meta_format_bytes(format);
  return bytes == 1   ? GST_VIDEO_FORMAT_GRAY8
         : bytes == 2 ? GST_VIDEO_FORMAT_GRAY16_LE
                      : GST_VIDEO_FORMAT_RGBA;
}

GstVideoFormat rv_meta_video_format(RvFormat format) {
  return format == RV_U8    ? GST_VIDEO_FORMAT_GRAY8
         : format == RV_U16 ? GST_VIDEO_FORMAT_GRAY16_LE
                            : GST_VIDEO_FORMAT_RGBA;
}

static RvFormat format_of(gsize bytes) {
  return bytes == 1 ? RV_U8 : bytes == 2 ? RV_U16 : RV_F32;
}

static gsize video_bytes(GstVideoFormat format) {
  return format == GST_VIDEO_FORMAT_GRAY8 ? 1 : format == GST_VIDEO_FORMAT_GRAY16_LE ? 2 : 4;
}

/* --- Layout of a raster ------------------------------------------------------------------------- */

static void describe(GstBuffer *buffer, GstVideoFormat format, int width, int height, int stride) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {0};
  strides[0] = stride;
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, (guint)width,
                                 (guint)height, 1, offset, strides);
}

void rv_meta_describe_raster(GstBuffer *buffer, RvFormat format, int width, int height,
                             int stride) {
  describe(buffer, rv_meta_video_format(format), width, height, stride);
}

static GstBuffer *raster_new(GstVideoFormat format, int width, int height) {
  const gsize stride = ((gsize)width * video_bytes(format) + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = ROW_ALIGN - 1;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, stride * (gsize)height, &params);
  if (buffer)
    describe(buffer, format, width, height, (int)stride);
  return buffer;
}

GstBuffer *rv_meta_raster_new(RvFormat format, int width, int height) {
  return raster_new(rv_meta_video_format(format), width, height);
}

/* Names of the two scalars: stride and format, those of other buffers than the payload after the
 * name of the field. */
static void layout_names(const char *field, char *stride, char *format, gulong size) {
  const gboolean is_payload = strcmp(field, "payload") == 0;
  g_snprintf(stride, size, "%s%sstride", is_payload ? "" : field, is_payload ? "" : "-");
  g_snprintf(format, size, "%s%sformat", is_payload ? "" : field, is_payload ? "" : "-");
}

void rv_meta_set_layout(GstStructure *fields, const char *field, GstBuffer *raster,
                        const char *format) {
  const GstVideoMeta *video = gst_buffer_get_video_meta(raster);
  char stride_name[64], format_name[64];
  if (!video)
    return;
  layout_names(field, stride_name, format_name, sizeof stride_name);
  const gsize bytes = video_bytes(video->format);
  if (!format || rv_meta_format_bytes(format) != bytes) /* of an unknown field */
    format = bytes == 1 ? "u8" : bytes == 2 ? "u16" : "u32";
  gst_structure_set(fields, stride_name, G_TYPE_INT, video->stride[0], format_name, G_TYPE_STRING,
                    format, NULL);
}

/* Whether rows fit into `size` bytes from `offset` on. */
static gboolean rows_fit(gsize size, gsize offset, gint stride, gsize pixel, guint width,
                         guint height) {
  const gsize row = (gsize)width * pixel;
  return width > 0 && height > 0 && stride > 0 && (gsize)stride >= row &&
         (gsize)stride % pixel == 0 && offset % pixel == 0 && offset <= size &&
         size - offset >= (gsize)stride * (height - 1) + row;
}

/* A buffer is restored once and then lives as long as the raster, for readers in any thread. */
GstBuffer *rv_meta_restore_layout(const GstStructure *fields, const char *field, GstBuffer *raster,
                                  const RvMetaShape *shape) {
  static GMutex lock;
  char stride_name[64], format_name[64];
  int stride = 0;
  if (gst_buffer_get_video_meta(raster))
    return raster;
  layout_names(field, stride_name, format_name, sizeof stride_name);
  if (g_strcmp0(gst_structure_get_string(fields, format_name), shape->format) != 0 ||
      !gst_structure_get_int(fields, stride_name, &stride) || shape->width < 1 ||
      shape->height < 1 ||
      !rows_fit(gst_buffer_get_size(raster), 0, stride, rv_meta_format_bytes(shape->format),
                (guint)shape->width, (guint)shape->height))
    return raster;
  const GQuark key = g_quark_from_static_string("rv-meta-restored");
  g_mutex_lock(&lock);
  GstBuffer *restored = gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(raster), key);
  if (!restored) {
    restored = gst_buffer_copy_region(raster, GST_BUFFER_COPY_MEMORY, 0, (gsize)-1);
    describe(restored, rv_meta_format_video(shape->format), shape->width, shape->height, stride);
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(raster), key, restored,
                              (GDestroyNotify)gst_buffer_unref);
  }
  g_mutex_unlock(&lock);
  return restored;
}

const char *rv_meta_raster_problem(GstBuffer *buffer, const RvMetaShape *shape) {
  const GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  if (!video)
    return "is not a raster: it has neither a GstVideoMeta nor a valid stride and format";
  if (video->format != rv_meta_format_video(shape->format))
    return "is a raster of another format";
  if ((gint64)video->width != shape->width || (gint64)video->height != shape->height)
    return "is a raster of another size";
  return rows_fit(gst_buffer_get_size(buffer), video->offset[0], video->stride[0],
                  video_bytes(video->format), video->width, video->height)
             ? NULL
             : "has fewer bytes than its GstVideoMeta states";
}

const char *rv_meta_records_problem(GstBuffer *buffer, const char *format, int count) {
  if (gst_buffer_get_video_meta(buffer))
    return "is a raster instead of an array of records";
  return gst_buffer_get_size(buffer) / rv_meta_format_bytes(format) < (gsize)MAX(count, 0)
             ? "has fewer bytes than its records need"
             : NULL;
}

/* --- Mapping ------------------------------------------------------------------------------------ */

gboolean rv_meta_plane(GstBuffer *buffer, void *data, RvPlane *plane) {
  const GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  const gsize size = gst_buffer_get_size(buffer);
  if (!video) {
    const int bytes = (int)MIN(size, (gsize)G_MAXINT);
    *plane = (RvPlane){data, bytes, bytes, 1, RV_U8};
    return TRUE;
  }
  const gsize pixel = video_bytes(video->format), offset = video->offset[0];
  if (!rows_fit(size, offset, video->stride[0], pixel, video->width, video->height) ||
      (gsize)data % pixel != 0)
    return FALSE;
  *plane = (RvPlane){(char *)data + offset, video->stride[0], (int)video->width, (int)video->height,
                     format_of(pixel)};
  return TRUE;
}

gboolean rv_meta_map_buffer(RvMetaMap *map, GstBuffer *buffer, GstMapFlags flags) {
  if (!buffer || !gst_buffer_map(buffer, &map->info, flags))
    return FALSE;
  map->buffer = buffer;
  map->size = map->info.size;
  if (rv_meta_plane(buffer, map->info.data, &map->plane))
    return TRUE;
  gst_buffer_unmap(buffer, &map->info);
  return FALSE;
}

gboolean rv_meta_map(RvMetaMap *map, const GstStructure *fields, const char *field) {
  return rv_meta_map_buffer(map, rv_meta_get_buffer(fields, field), GST_MAP_READ);
}

void rv_meta_unmap(RvMetaMap *map) {
  gst_buffer_unmap(map->buffer, &map->info);
}

/* --- Arrays ------------------------------------------------------------------------------------- */

G_DEFINE_BOXED_TYPE(RvMetaArray, rv_meta_array, rv_meta_array_copy, rv_meta_array_free)

/* Takes over `bytes`. */
static RvMetaArray *array_new(const char *format, int width, int height, GBytes *bytes) {
  RvMetaArray *array = g_new0(RvMetaArray, 1);
  array->format = g_intern_string(format);
  array->width = width;
  array->height = height;
  array->bytes = bytes;
  return array;
}

RvMetaArray *rv_meta_array_new(const char *format, int width, int height, GBytes *bytes,
                               GError **error) {
  const gsize item = rv_meta_format_bytes(format), size = g_bytes_get_size(bytes);
  if (item > 0 && width >= 0 && height >= 0 &&
      (guint64)width * (guint64)height <= G_MAXSIZE / item &&
      size == (gsize)width * (gsize)height * item)
    return array_new(format, width, height, g_bytes_ref(bytes));
  g_set_error(error, RV_META_ERROR, RV_META_ERROR_INVALID,
              "%" G_GSIZE_FORMAT " bytes are not an array of %d x %d %s (%" G_GSIZE_FORMAT
              " bytes each)",
              size, width, height, format, item);
  return NULL;
}

RvMetaArray *rv_meta_array_copy(const RvMetaArray *array) {
  return array_new(array->format, array->width, array->height, g_bytes_ref(array->bytes));
}

void rv_meta_array_free(RvMetaArray *array) {
  g_bytes_unref(array->bytes);
  g_free(array);
}

GBytes *rv_meta_array_get_bytes(const RvMetaArray *array) {
  return g_bytes_ref(array->bytes);
}

RvMetaArray *rv_meta_array_from_buffer(GstBuffer *buffer, const char *format, int width, int height,
                                       GError **error) {
  const gsize row = (gsize)width * rv_meta_format_bytes(format);
  RvMetaMap map;
  if (!rv_meta_map_buffer(&map, buffer, GST_MAP_READ)) {
    g_set_error(error, RV_META_ERROR, RV_META_ERROR_MAP,
                "failed to map a buffer of %" G_GSIZE_FORMAT " bytes", gst_buffer_get_size(buffer));
    return NULL;
  }
  guint8 *copy = g_malloc(MAX(row * (gsize)height, 1));
  for (int y = 0; row > 0 && y < height; y++)
    memcpy(copy + (gsize)y * row, rv_meta_map_row(&map, y), row);
  rv_meta_unmap(&map);
  return array_new(format, width, height, g_bytes_new_take(copy, row * (gsize)height));
}

GstBuffer *rv_meta_array_to_buffer(const RvMetaArray *array, gboolean is_raster) {
  gsize size = 0;
  const guint8 *data = g_bytes_get_data(array->bytes, &size);
  if (!is_raster)
    return size ? gst_buffer_new_memdup(data, size) : gst_buffer_new();
  GstBuffer *raster = raster_new(rv_meta_format_video(array->format), array->width, array->height);
  const GstVideoMeta *video = gst_buffer_get_video_meta(raster);
  const gsize row = (gsize)array->width * rv_meta_format_bytes(array->format);
  for (int y = 0; y < array->height; y++)
    gst_buffer_fill(raster, (gsize)y * (gsize)video->stride[0], data + (gsize)y * row, row);
  return raster;
}
