/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_csv.c: tables of frames and records. */
#include "gstannotationpublish_csv.h"

#include "gstannotationpublish_layout.h"

#define FRAMES "frames"
#define FRAME_COLUMNS                                                                              \
  "seq,timestamp,running_time,pts,duration,utc_ns,latency_ns,dropped,width,height"
#define RECORD_COLUMNS "seq,utc_ns"

char **gst_publish_csv_tables(void) {
  GPtrArray *tables = g_ptr_array_new();
  g_ptr_array_add(tables, g_strdup(FRAMES));
  for (const char *const *name = rv_meta_get_names(); *name; name++) {
    const char *format = rv_meta_get_format(*name, "payload");
    if (!format || !strchr(format, ':') || tables->len == GST_PUBLISH_TABLES_MAX)
      continue;
    GstPublishText key = {NULL, 0, 0};
    gst_publish_annotation_key(&key, *name);
    g_ptr_array_add(tables, g_strndup(key.data, key.length));
    gst_publish_text_clear(&key);
  }
  g_ptr_array_add(tables, NULL);
  return (char **)g_ptr_array_free(tables, FALSE);
}

/* Name of the annotation of a table; NULL for frames. */
static const char *annotation_of(const char *table) {
  for (const char *const *name = rv_meta_get_names(); *name; name++) {
    GstPublishText key = {NULL, 0, 0};
    gst_publish_annotation_key(&key, *name);
    const gboolean same = key.length == strlen(table) && memcmp(key.data, table, key.length) == 0;
    gst_publish_text_clear(&key);
    if (same)
      return *name;
  }
  return NULL;
}

/* Calls `each` with every scalar that annotations can have, in the order of the library. */
static void for_each_scalar(void (*each)(const char *name, const char *scalar, gpointer user),
                            gpointer user) {
  for (const char *const *name = rv_meta_get_names(); *name; name++) {
    const char *scalar;
    for (guint i = 0; (scalar = rv_meta_get_scalar(*name, i)) != NULL; i++)
      each(*name, scalar, user);
  }
}

static void append_column(const char *name, const char *scalar, gpointer user) {
  GstPublishText *text = user;
  gst_publish_text_char(text, ',');
  gst_publish_annotation_key(text, name);
  gst_publish_text_char(text, '.');
  gst_publish_text_key(text, scalar);
}

void gst_publish_csv_header(const char *table, GstPublishText *text) {
  const char *name = annotation_of(table);
  if (!name) {
    gst_publish_text_string(text, FRAME_COLUMNS);
    for_each_scalar(append_column, text);
  } else {
    const GstPublishLayout *layout = gst_publish_layout(name, "payload");
    gst_publish_text_string(text, RECORD_COLUMNS);
    for (guint i = 0; layout && i < layout->count; i++) {
      gst_publish_text_char(text, ',');
      gst_publish_text_csv(text, layout->fields[i].name);
    }
  }
  gst_publish_text_char(text, '\n');
}

/* --- Rows ------------------------------------------------------------------------------------ */

typedef struct Row {
  const GstPublishFrame *frame;
  GstPublishText *text;
} Row;

static void append_value(GstPublishText *text, const GValue *value) {
  if (G_VALUE_HOLDS_INT(value))
    gst_publish_text_int(text, g_value_get_int(value));
  else if (G_VALUE_HOLDS_DOUBLE(value))
    gst_publish_text_double(text, g_value_get_double(value));
  else if (G_VALUE_HOLDS_BOOLEAN(value))
    gst_publish_text_string(text, g_value_get_boolean(value) ? "true" : "false");
  else if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value))
    gst_publish_text_csv(text, g_value_get_string(value));
  else if (G_VALUE_HOLDS_UINT(value))
    gst_publish_text_uint(text, g_value_get_uint(value));
  else if (G_VALUE_HOLDS_INT64(value))
    gst_publish_text_int(text, g_value_get_int64(value));
  else if (G_VALUE_HOLDS_UINT64(value))
    gst_publish_text_uint(text, g_value_get_uint64(value));
}

static void append_cell(const char *name, const char *scalar, gpointer user) {
  const Row *row = user;
  gst_publish_text_char(row->text, ',');
  const GstStructure *fields = gst_publish_frame_find(row->frame, name);
  const GValue *value = fields ? gst_structure_get_value(fields, scalar) : NULL;
  if (value)
    append_value(row->text, value);
}

static void append_time(GstPublishText *text, GstClockTime time) {
  gst_publish_text_char(text, ',');
  if (GST_CLOCK_TIME_IS_VALID(time))
    gst_publish_text_uint(text, time);
}

static void append_utc(GstPublishText *text, const GstPublishFrame *frame) {
  gst_publish_text_char(text, ',');
  if (frame->utc_source != GST_PUBLISH_UTC_NONE)
    gst_publish_text_int(text, frame->utc);
}

static void append_frame(const GstPublishFrame *frame, GstPublishText *text) {
  gst_publish_text_uint(text, frame->seq);
  append_time(text, frame->timestamp);
  append_time(text, frame->running_time);
  append_time(text, frame->pts);
  append_time(text, frame->duration);
  append_utc(text, frame);
  gst_publish_text_char(text, ',');
  if (frame->latency != G_MININT64)
    gst_publish_text_int(text, frame->latency);
  gst_publish_text_char(text, ',');
  gst_publish_text_uint(text, frame->dropped);
  gst_publish_text_char(text, ',');
  gst_publish_text_int(text, frame->width);
  gst_publish_text_char(text, ',');
  gst_publish_text_int(text, frame->height);
  Row row = {frame, text};
  for_each_scalar(append_cell, &row);
  gst_publish_text_char(text, '\n');
}

static void append_records(const GstPublishFrame *frame, const GstStructure *fields,
                           const GstPublishLayout *layout, const RvMetaMap *map,
                           GstPublishText *text) {
  GstPublishText start = {NULL, 0, 0}; /* the same in every row */
  gst_publish_text_uint(&start, frame->seq);
  append_utc(&start, frame);
  const gsize count = gst_publish_layout_records(layout, fields, "payload", map->size);
  const guint8 *record = map->info.data;
  for (gsize i = 0; i < count; i++, record += layout->size) {
    gst_publish_text_bytes(text, start.data, start.length);
    for (guint f = 0; f < layout->count; f++) {
      gst_publish_text_char(text, ',');
      gst_publish_field_text(text, &layout->fields[f], record);
    }
    gst_publish_text_char(text, '\n');
  }
  gst_publish_text_clear(&start);
}

void gst_publish_csv_rows(const char *table, const GstPublishFrame *frame, GstPublishText *text) {
  const char *name = annotation_of(table);
  if (!name) {
    append_frame(frame, text);
    return;
  }
  const GstStructure *fields = gst_publish_frame_find(frame, name);
  const GstPublishLayout *layout = gst_publish_layout(name, "payload");
  RvMetaMap map;
  if (!fields || !layout || !rv_meta_map(&map, fields, "payload"))
    return;
  if (!gst_buffer_get_video_meta(map.buffer))
    append_records(frame, fields, layout, &map, text);
  rv_meta_unmap(&map);
}
