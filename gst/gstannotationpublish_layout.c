/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_layout.c: fields of records. */
#include "gstannotationpublish_layout.h"

static const struct {
  const char *name;
  gsize size;
} numbers[] = {
    [GST_PUBLISH_U8] = {"u8", 1},   [GST_PUBLISH_I8] = {"i8", 1},   [GST_PUBLISH_U16] = {"u16", 2},
    [GST_PUBLISH_I16] = {"i16", 2}, [GST_PUBLISH_F16] = {"f16", 2}, [GST_PUBLISH_U32] = {"u32", 4},
    [GST_PUBLISH_I32] = {"i32", 4}, [GST_PUBLISH_F32] = {"f32", 4}};

static gboolean parse_number(const char *name, GstPublishNumber *number) {
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    if (strcmp(numbers[i].name, name) == 0) {
      *number = (GstPublishNumber)i;
      return TRUE;
    }
  }
  return FALSE;
}

/* Adds "name:format" or "format" at the next aligned offset. */
static gboolean add_field(GstPublishLayout *layout, char *word, gsize *align) {
  char *colon = strchr(word, ':');
  GstPublishNumber number;
  if (colon)
    *colon = 0;
  if (!parse_number(colon ? colon + 1 : word, &number))
    return FALSE;
  const gsize size = numbers[number].size;
  layout->size = (layout->size + size - 1) / size * size;
  *align = MAX(*align, size);
  if (!colon || !g_str_has_prefix(word, "reserved")) {
    if (layout->count == GST_PUBLISH_FIELDS_MAX)
      return FALSE;
    GstPublishField *field = &layout->fields[layout->count++];
    g_strlcpy(field->name, colon ? word : "", sizeof field->name);
    field->number = number;
    field->offset = (guint)layout->size;
  }
  layout->size += size;
  layout->single = !colon;
  return TRUE;
}

gboolean gst_publish_layout_parse(GstPublishLayout *layout, const char *format) {
  memset(layout, 0, sizeof *layout);
  char **words = g_strsplit(format, " ", -1);
  gsize align = 1;
  gboolean good = TRUE;
  for (char **word = words; good && *word; word++)
    good = !**word || add_field(layout, *word, &align);
  layout->size = (layout->size + align - 1) / align * align;
  layout->single &= layout->count == 1;
  g_strfreev(words);
  return good && layout->count > 0;
}

const GstPublishLayout *gst_publish_layout(const char *name, const char *field) {
  static GMutex lock;
  static GHashTable *layouts = NULL; /* by the static string that describes them */
  const char *format = rv_meta_get_format(name, field);
  if (!format)
    return NULL;
  g_mutex_lock(&lock);
  if (!layouts)
    layouts = g_hash_table_new(g_direct_hash, g_direct_equal);
  GstPublishLayout *layout = g_hash_table_lookup(layouts, format);
  if (!layout) {
    layout = g_new0(GstPublishLayout, 1);
    if (!gst_publish_layout_parse(layout, format))
      layout->count = 0;
    g_hash_table_insert(layouts, (gpointer)format, layout);
  }
  g_mutex_unlock(&lock);
  return layout->count ? layout : NULL;
}

int gst_publish_layout_find(const GstPublishLayout *layout, const char *name) {
  for (guint i = 0; layout && i < layout->count; i++)
    if (strcmp(layout->fields[i].name, name) == 0)
      return (int)i;
  return -1;
}

/* --- Values ---------------------------------------------------------------------------------- */

static float half_to_float(guint16 bits) {
  const guint exponent = bits >> 10 & 31, mantissa = bits & 1023;
  union {
    guint32 bits;
    float value;
  } number;
  if (exponent == 31)
    number.bits = 0x7f800000u | mantissa << 13;
  else if (exponent > 0)
    number.bits = (exponent + 112) << 23 | mantissa << 13;
  else
    number.value = (float)mantissa / 16777216.0f; /* 2^-24 each */
  number.bits |= (guint32)(bits & 0x8000) << 16;
  return number.value;
}

/* The records are not aligned. */
#define CASE_READ(number, type)                                                                    \
  case GST_PUBLISH_##number: {                                                                     \
    type value;                                                                                    \
    memcpy(&value, at, sizeof value);                                                              \
    return (double)value;                                                                          \
  }

double gst_publish_field_value(const GstPublishField *field, const guint8 *record) {
  const guint8 *at = record + field->offset;
  guint16 half;
  switch (field->number) {
    CASE_READ(U8, guint8)
    CASE_READ(I8, gint8)
    CASE_READ(U16, guint16)
    CASE_READ(I16, gint16)
    CASE_READ(U32, guint32)
    CASE_READ(I32, gint32)
    CASE_READ(F32, float)
  case GST_PUBLISH_F16:
    break;
  }
  memcpy(&half, at, sizeof half);
  return half_to_float(half);
}

gboolean gst_publish_field_text(GstPublishText *text, const GstPublishField *field,
                                const guint8 *record) {
  const double value = gst_publish_field_value(field, record);
  if (field->number == GST_PUBLISH_F32 || field->number == GST_PUBLISH_F16)
    return gst_publish_text_float(text, (float)value);
  gst_publish_text_int(text, (gint64)value);
  return TRUE;
}

gsize gst_publish_layout_records(const GstPublishLayout *layout, const GstStructure *fields,
                                 const char *field, gsize bytes) {
  const gsize fit = bytes / layout->size;
  const int count = rv_meta_count_records(fields, field);
  return count < 0 ? fit : MIN(fit, (gsize)count);
}

void gst_publish_annotation_key(GstPublishText *text, const char *name) {
  const char *start = g_str_has_prefix(name, "Rv") ? name + 2 : name;
  const char *end = g_str_has_suffix(name, "Meta") ? name + strlen(name) - 4 : name + strlen(name);
  for (const char *s = start; s < end; s++) {
    if (g_ascii_isupper(*s) && s > start)
      gst_publish_text_char(text, '_');
    gst_publish_text_char(text, g_ascii_tolower(*s));
  }
}
