/* SPDX-License-Identifier: MIT */
/* gstsemanticsattach_images.c: label images in files.
 *
 * The PNG reader takes what label images are: values of at most 8 bits, without conversion. (GLib
 * decompresses; decoders for images scale small values and turn palettes into colors.) */
#include "gstsemanticsattach_images.h"

#include <gio/gio.h>
#include <string.h>

#define FILE_MAX (256u << 20) /* bytes */
#define DIGITS_MAX 9

/* --- Classes --------------------------------------------------------------------------------- */

/* Label ids to the 19 classes that are evaluated, in the order of GST_CUDA_STIXELS_CLASSES. */
#define CITYSCAPES                                                                                 \
  "7:0,8:1,11:2,12:3,13:4,17:5,19:6,20:7,21:8,22:9,23:10,24:11,25:12,26:13,27:14,28:15,31:16,"     \
  "32:17,33:18"

static gboolean parse_number(const char **s, guint most, guint *number) {
  char *end = NULL;
  if (!g_ascii_isdigit(**s))
    return FALSE;
  const guint64 value = g_ascii_strtoull(*s, &end, 10);
  *s = end;
  *number = (guint)MIN(value, G_MAXUINT);
  return value <= most;
}

static gboolean parse_item(const char *s, GstSemanticsAttachClasses *classes) {
  guint first = 0, last, class = 0;
  gboolean valid = parse_number(&s, 255, &first);
  last = first;
  if (valid && *s == '-') {
    s++;
    valid = parse_number(&s, 255, &last) && last >= first;
  }
  if (!valid || *s++ != ':' || !parse_number(&s, RV_SEMANTIC_NONE - 1, &class) || *s)
    return FALSE;
  memset(classes->of + first, (int)class, last - first + 1);
  classes->count = MAX(classes->count, (int)class + 1);
  return TRUE;
}

gboolean gst_semantics_attach_classes_parse(const char *text, GstSemanticsAttachClasses *classes,
                                            GError **error) {
  GstSemanticsAttachClasses parsed = {.count = 0};
  if (!text || !*text) {
    for (int value = 0; value < 256; value++)
      classes->of[value] = (guint8)value;
    classes->count = 256;
    return TRUE;
  }
  memset(parsed.of, RV_SEMANTIC_NONE, sizeof parsed.of);
  char **items = g_strsplit(strcmp(text, "cityscapes") == 0 ? CITYSCAPES : text, ",", -1);
  gboolean valid = TRUE;
  for (guint i = 0; valid && items[i]; i++) {
    valid = parse_item(g_strstrip(items[i]), &parsed);
    if (!valid)
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                  "Invalid item \"%s\" in classes: it must be VALUE:CLASS or FIRST-LAST:CLASS with "
                  "values 0 to 255 and classes 0 to 254, for example 7:0,8:1,11-13:2.",
                  items[i]);
  }
  g_strfreev(items);
  if (valid)
    *classes = parsed;
  return valid;
}

/* --- Names ----------------------------------------------------------------------------------- */

char *gst_semantics_attach_path(const char *location, guint64 number, GError **error) {
  GString *path = g_string_new(NULL);
  for (const char *s = location; *s; s++) {
    int width = 0;
    if (*s != '%') {
      g_string_append_c(path, *s);
      continue;
    }
    for (s++; g_ascii_isdigit(*s) && width <= DIGITS_MAX; s++)
      width = width * 10 + (*s - '0');
    if (*s == 'd' && width <= DIGITS_MAX) {
      g_string_append_printf(path, "%0*" G_GUINT64_FORMAT, width, number);
    } else if (*s == '%' && s[-1] == '%') {
      g_string_append_c(path, '%');
    } else {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                  "Invalid location \"%s\": only %%d and %%06d (number of the image) and %%%% are "
                  "known.",
                  location);
      g_string_free(path, TRUE);
      return NULL;
    }
  }
  return g_string_free(path, FALSE);
}

/* --- PNG ------------------------------------------------------------------------------------- */

typedef struct Png {
  int width, height, depth;
  GByteArray *compressed;
} Png;

static guint32 read_u32(const guint8 *data) {
  return (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
}

/* NULL when the header is accepted, else why not. */
static const char *read_header(Png *png, const guint8 *data, guint32 size) {
  static const guint8 kinds[] = {0, 3}; /* gray, palette */
  if (size != 13)
    return "its header is damaged";
  const guint32 width = read_u32(data), height = read_u32(data + 4);
  const int depth = data[8];
  if (!memchr(kinds, data[9], sizeof kinds))
    return "it is a color image; label images are gray or have a palette";
  if (depth != 1 && depth != 2 && depth != 4 && depth != 8)
    return "its values do not have 1, 2, 4 or 8 bits";
  if (data[12])
    return "it is interlaced";
  if (width < 1 || height < 1 || width > GST_SEMANTICS_ATTACH_SIZE_MAX ||
      height > GST_SEMANTICS_ATTACH_SIZE_MAX)
    return "its size is not 1 to 16384 px";
  *png = (Png){(int)width, (int)height, depth, png->compressed};
  return NULL;
}

/* Collects the compressed data of all chunks. */
static const char *read_chunks(Png *png, const guint8 *data, gsize size) {
  static const guint8 signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  if (size < sizeof signature || memcmp(data, signature, sizeof signature) != 0)
    return "it is no PNG file";
  gsize at = sizeof signature;
  const char *why = NULL;
  while (!why && size - at >= 12) { /* size, name, CRC */
    const guint32 bytes = read_u32(data + at);
    const guint8 *name = data + at + 4, *content = data + at + 8;
    if (bytes > size - at - 12)
      break;
    if (memcmp(name, "IHDR", 4) == 0)
      why = read_header(png, content, bytes);
    else if (memcmp(name, "IDAT", 4) == 0)
      g_byte_array_append(png->compressed, content, bytes);
    else if (memcmp(name, "IEND", 4) == 0)
      return png->width ? NULL : "its header is missing";
    at += 12 + (gsize)bytes;
  }
  return why ? why : "it is truncated";
}

/* Decompresses exactly `size` bytes. */
static gboolean decompress(const GByteArray *compressed, guint8 *out, gsize size) {
  GConverter *converter = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
  gsize in = 0, done = 0;
  GConverterResult result = G_CONVERTER_CONVERTED;
  while (result == G_CONVERTER_CONVERTED && done <= size) {
    gsize read = 0, written = 0;
    /* One byte more than expected, so that the end and its checksum are read. */
    result = g_converter_convert(converter, in ? compressed->data + in : compressed->data,
                                 compressed->len - in, out + done, size + 1 - done,
                                 G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
    in += read;
    done += written;
  }
  g_object_unref(converter);
  return result == G_CONVERTER_FINISHED && done == size;
}

static guint8 paeth(int left, int up, int corner) {
  const int p = left + up - corner;
  const int a = ABS(p - left), b = ABS(p - up), c = ABS(p - corner);
  return (guint8)(a <= b && a <= c ? left : b <= c ? up : corner);
}

/* Undoes the filter of one row in place; `above` is the row above, zeros for the first one. */
static gboolean unfilter(guint8 *row, const guint8 *above, gsize bytes, int filter) {
  for (gsize i = 0; filter && i < bytes; i++) {
    const int left = i ? row[i - 1] : 0, corner = i ? above[i - 1] : 0;
    switch (filter) {
    case 1:
      row[i] = (guint8)(row[i] + left);
      break;
    case 2:
      row[i] = (guint8)(row[i] + above[i]);
      break;
    case 3:
      row[i] = (guint8)(row[i] + (left + above[i]) / 2);
      break;
    case 4:
      row[i] = (guint8)(row[i] + paeth(left, above[i], corner));
      break;
    default:
      return FALSE;
    }
  }
  return TRUE;
}

/* Values of 1, 2 or 4 bits to bytes. */
static void unpack(const Png *png, const guint8 *row, guint8 *values) {
  const int mask = (1 << png->depth) - 1;
  for (int x = 0; x < png->width; x++) {
    const int bit = x * png->depth;
    values[x] = (guint8)(row[bit / 8] >> (8 - png->depth - bit % 8) & mask);
  }
}

static const char *decode(const Png *png, guint8 *values) {
  const gsize bytes = ((gsize)png->width * (gsize)png->depth + 7) / 8;
  const gsize size = (bytes + 1) * (gsize)png->height;
  guint8 *filtered = g_try_malloc(size + 1), *zeros = g_malloc0(bytes);
  const char *why = filtered ? NULL : "memory is exhausted";
  if (!why && !decompress(png->compressed, filtered, size))
    why = "its compressed data is damaged";
  for (int y = 0; !why && y < png->height; y++) {
    guint8 *row = filtered + (gsize)y * (bytes + 1) + 1;
    if (unfilter(row, y ? row - (bytes + 1) : zeros, bytes, row[-1]))
      unpack(png, row, values + (gsize)y * (gsize)png->width);
    else
      why = "its compressed data is damaged";
  }
  g_free(zeros);
  g_free(filtered);
  return why;
}

GstBuffer *gst_semantics_attach_raster(const guint8 *rows, gssize stride, int width, int height,
                                       const GstSemanticsAttachClasses *classes) {
  GstBuffer *raster = rv_meta_raster_new(RV_U8, width, height);
  RvMetaMap map;
  if (!raster || !rv_meta_map_buffer(&map, raster, GST_MAP_WRITE)) {
    gst_clear_buffer(&raster);
    return NULL;
  }
  for (int y = 0; y < height; y++) {
    const guint8 *from = rows + y * stride;
    guint8 *to = (guint8 *)map.plane.data + y * map.plane.stride;
    for (int x = 0; x < width; x++)
      to[x] = classes->of[from[x]];
  }
  rv_meta_unmap(&map);
  return raster;
}

GstBuffer *gst_semantics_attach_read(const char *path, const GstSemanticsAttachClasses *classes,
                                     int *width, int *height, GError **error) {
  Png png = {.compressed = NULL};
  GMappedFile *file = g_mapped_file_new(path, FALSE, error);
  if (!file) {
    g_prefix_error(error, "The label image cannot be read: ");
    return NULL;
  }
  png.compressed = g_byte_array_new();
  GstBuffer *raster = NULL;
  guint8 *values = NULL;
  const gsize size = g_mapped_file_get_length(file);
  const char *why = size == 0 || size > FILE_MAX
                        ? "it is empty or larger than 256 MiB"
                        : read_chunks(&png, (guint8 *)g_mapped_file_get_contents(file), size);
  if (!why && !(values = g_try_malloc((gsize)png.width * (gsize)png.height)))
    why = "memory is exhausted";
  if (!why)
    why = decode(&png, values);
  if (!why &&
      !(raster = gst_semantics_attach_raster(values, png.width, png.width, png.height, classes)))
    why = "memory is exhausted";
  if (why)
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                "The label image %s cannot be used: %s.", path, why);
  *width = png.width;
  *height = png.height;
  g_free(values);
  g_byte_array_unref(png.compressed);
  g_mapped_file_unref(file);
  return raster;
}

/* --- The last image -------------------------------------------------------------------------- */

void gst_semantics_attach_image_forget(GstSemanticsAttachImage *image) {
  gst_clear_buffer(&image->meta.payload);
  image->known = FALSE;
}

gboolean gst_semantics_attach_image_get(GstSemanticsAttachImage *image, const char *location,
                                        guint64 number, const GstSemanticsAttachClasses *classes,
                                        RvMetaSemantics *meta, gboolean *fresh, GError **error) {
  *fresh = FALSE;
  if (!image->known || image->number != number) {
    gst_semantics_attach_image_forget(image);
    int width = 0, height = 0;
    char *path = gst_semantics_attach_path(location, number, error);
    GstBuffer *labels =
        path ? gst_semantics_attach_read(path, classes, &width, &height, error) : NULL;
    g_free(path);
    *image = (GstSemanticsAttachImage){
        TRUE, number, {width, height, classes->count, width, height, RV_SEMANTICS_LABELS, labels}};
    *fresh = labels != NULL;
  }
  if (!image->meta.payload)
    return FALSE;
  *meta = image->meta;
  gst_buffer_ref(meta->payload);
  return TRUE;
}
