/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_json.c: frames as JSON. */
#include "gstannotationpublish_json.h"

#include "gstannotationpublish_layout.h"
#include "gstannotationpublish_objects.h"

#define LITERAL(text, string) gst_publish_text_bytes(text, string, sizeof(string) - 1)

static void append_null(GstPublishText *text) {
  LITERAL(text, "null");
}

static void append_key(GstPublishText *text, const char *name) {
  gst_publish_text_char(text, '"');
  gst_publish_text_key(text, name);
  LITERAL(text, "\":");
}

/* --- Scalars --------------------------------------------------------------------------------- */

static void append_scalar(GstPublishText *text, const GValue *value) {
  if (G_VALUE_HOLDS_INT(value)) {
    gst_publish_text_int(text, g_value_get_int(value));
  } else if (G_VALUE_HOLDS_UINT(value)) {
    gst_publish_text_uint(text, g_value_get_uint(value));
  } else if (G_VALUE_HOLDS_INT64(value)) {
    gst_publish_text_int(text, g_value_get_int64(value));
  } else if (G_VALUE_HOLDS_UINT64(value)) {
    gst_publish_text_uint(text, g_value_get_uint64(value));
  } else if (G_VALUE_HOLDS_DOUBLE(value)) {
    if (!gst_publish_text_double(text, g_value_get_double(value)))
      append_null(text);
  } else if (G_VALUE_HOLDS_FLOAT(value)) {
    if (!gst_publish_text_float(text, g_value_get_float(value)))
      append_null(text);
  } else if (G_VALUE_HOLDS_BOOLEAN(value)) {
    gst_publish_text_string(text, g_value_get_boolean(value) ? "true" : "false");
  } else if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value)) {
    gst_publish_text_json(text, g_value_get_string(value));
  } else {
    char *string = gst_value_serialize(value);
    if (string)
      gst_publish_text_json(text, string);
    else
      append_null(text);
    g_free(string);
  }
}

/* --- Buffers --------------------------------------------------------------------------------- */

static void append_records(GstPublishText *text, const GstPublishLayout *layout,
                           const guint8 *record, gsize count) {
  gst_publish_text_char(text, '[');
  for (gsize i = 0; i < count; i++, record += layout->size) {
    if (i > 0)
      gst_publish_text_char(text, ',');
    if (!layout->single)
      gst_publish_text_char(text, '[');
    for (guint f = 0; f < layout->count; f++) {
      if (f > 0)
        gst_publish_text_char(text, ',');
      if (!gst_publish_field_text(text, &layout->fields[f], record))
        append_null(text);
    }
    if (!layout->single)
      gst_publish_text_char(text, ']');
  }
  gst_publish_text_char(text, ']');
}

/* "fields":[…],"records":[[…],…] of the payload; other arrays of records by their own name. */
static void append_array(GstPublishText *text, const GstStructure *fields, const char *field,
                         const GstPublishLayout *layout, const RvMetaMap *map) {
  const gsize count = gst_publish_layout_records(layout, fields, field, map->size);
  if (layout->single) {
    append_key(text, field);
    append_records(text, layout, map->info.data, count);
    return;
  }
  const gboolean is_payload = strcmp(field, "payload") == 0;
  if (!is_payload) {
    append_key(text, field);
    gst_publish_text_char(text, '{');
  }
  LITERAL(text, "\"fields\":[");
  for (guint f = 0; f < layout->count; f++) {
    if (f > 0)
      gst_publish_text_char(text, ',');
    gst_publish_text_json(text, layout->fields[f].name);
  }
  LITERAL(text, "],\"records\":");
  append_records(text, layout, map->info.data, count);
  if (!is_payload)
    gst_publish_text_char(text, '}');
}

/* Format of a raster with pixels of `bytes`: that of its format scalar, since one field may have
 * several, else that of the library, else a guess by the size. */
static const char *raster_format(const GstStructure *fields, const char *field, gsize bytes) {
  char name[80];
  GstPublishLayout layout;
  g_snprintf(name, sizeof name, "%s-format", field);
  const char *formats[] = {
      gst_structure_get_string(fields, strcmp(field, "payload") == 0 ? "format" : name),
      rv_meta_get_format(gst_structure_get_name(fields), field)};
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    if (formats[i] && gst_publish_layout_parse(&layout, formats[i]) && layout.single &&
        layout.size == bytes)
      return formats[i];
  return bytes == 1 ? "u8" : bytes == 2 ? "u16" : "f32";
}

/* {"encoding":"u16le","width":…,"height":…,"data":"…"}, rows without padding. */
static void append_raster(GstPublishText *text, const GstStructure *fields, const char *field,
                          const RvMetaMap *map) {
  const RvPlane *plane = &map->plane;
  const gsize pixel = plane->format == RV_U8 ? 1 : plane->format == RV_U16 ? 2 : 4;
  const char *format = raster_format(fields, field, pixel);
  append_key(text, field);
  LITERAL(text, "{\"encoding\":\"");
  gst_publish_text_string(text, format);
  if (pixel > 1)
    LITERAL(text, "le");
  LITERAL(text, "\",\"width\":");
  gst_publish_text_int(text, plane->width);
  LITERAL(text, ",\"height\":");
  gst_publish_text_int(text, plane->height);
  LITERAL(text, ",\"data\":\"");
  const gsize row = (gsize)plane->width * pixel;
  gst_publish_text_base64(text, plane->data, row, plane->stride, plane->height);
  LITERAL(text, "\"}");
}

static void append_buffer(const GstPublishJson *json, GstPublishText *text,
                          const GstStructure *fields, const char *field, GstBuffer *buffer) {
  const char *name = gst_structure_get_name(fields);
  const gboolean is_raster = gst_buffer_get_video_meta(buffer) != NULL;
  const GstPublishLayout *layout = is_raster ? NULL : gst_publish_layout(name, field);
  RvMetaMap map;
  if ((!layout && json->payload == GST_PUBLISH_PAYLOAD_NONE) ||
      !rv_meta_map_buffer(&map, buffer, GST_MAP_READ))
    return;
  if (text->data[text->length - 1] != '{')
    gst_publish_text_char(text, ',');
  if (layout) {
    append_array(text, fields, field, layout, &map);
  } else if (is_raster) {
    append_raster(text, fields, field, &map);
  } else {
    append_key(text, field);
    LITERAL(text, "{\"encoding\":\"bytes\",\"data\":\"");
    gst_publish_text_base64(text, map.info.data, map.size, 0, 1);
    LITERAL(text, "\"}");
  }
  rv_meta_unmap(&map);
}

/* --- Annotations ----------------------------------------------------------------------------- */

/* TRUE for the scalars that describe the memory of a raster, which is published without padding. */
static gboolean describes_memory(const GstStructure *fields, const char *field) {
  static const char *const suffixes[] = {"stride", "format"};
  for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
    if (strcmp(field, suffixes[i]) == 0)
      return TRUE;
    const gsize length = strlen(field), tail = strlen(suffixes[i]) + 1;
    if (length <= tail || field[length - tail] != '-' || !g_str_has_suffix(field, suffixes[i]))
      continue;
    char owner[64];
    g_snprintf(owner, sizeof owner, "%.*s", (int)MIN(length - tail, sizeof owner - 1), field);
    /* The raster itself may have been omitted, its format scalar stays. */
    if (gst_structure_has_field(fields, owner) ||
        rv_meta_get_format(gst_structure_get_name(fields), owner))
      return TRUE;
  }
  return FALSE;
}

void gst_publish_json_annotation(const GstPublishJson *json, const GstStructure *fields,
                                 GstPublishText *text) {
  const gint count = gst_structure_n_fields(fields);
  gboolean first = TRUE;
  gst_publish_text_char(text, '{');
  for (gint i = 0; i < count; i++) {
    const char *field = gst_structure_nth_field_name(fields, (guint)i);
    const GValue *value = gst_structure_get_value(fields, field);
    if (G_VALUE_HOLDS(value, GST_TYPE_BUFFER) || describes_memory(fields, field))
      continue;
    if (!first)
      gst_publish_text_char(text, ',');
    first = FALSE;
    append_key(text, field);
    append_scalar(text, value);
  }
  for (gint i = 0; i < count; i++) {
    const char *field = gst_structure_nth_field_name(fields, (guint)i);
    const GValue *value = gst_structure_get_value(fields, field);
    if (G_VALUE_HOLDS(value, GST_TYPE_BUFFER) && gst_value_get_buffer(value))
      append_buffer(json, text, fields, field, gst_value_get_buffer(value));
  }
  gst_publish_text_char(text, '}');
}

/* --- Frames ---------------------------------------------------------------------------------- */

void gst_publish_json_init(GstPublishJson *json, const char *source, const GstStructure *tags,
                           GstPublishPayload payload) {
  GstPublishText text = {NULL, 0, 0};
  gst_publish_text_json(&text, source);
  json->source = g_strndup(text.data, text.length);
  text.length = 0;
  json->tags = NULL;
  json->payload = payload;
  json->profile = GST_PUBLISH_PROFILE_NATIVE;
  json->objects = FALSE;
  const gint count = tags ? gst_structure_n_fields(tags) : 0;
  for (gint i = 0; i < count; i++) {
    const char *name = gst_structure_nth_field_name(tags, (guint)i);
    gst_publish_text_char(&text, i == 0 ? '{' : ',');
    gst_publish_text_json(&text, name);
    gst_publish_text_char(&text, ':');
    append_scalar(&text, gst_structure_get_value(tags, name));
  }
  if (count > 0) {
    gst_publish_text_char(&text, '}');
    json->tags = g_strndup(text.data, text.length);
  }
  gst_publish_text_clear(&text);
}

void gst_publish_json_clear(GstPublishJson *json) {
  g_clear_pointer(&json->source, g_free);
  g_clear_pointer(&json->tags, g_free);
}

static void append_time(GstPublishText *text, const char *key, GstClockTime time) {
  if (!GST_CLOCK_TIME_IS_VALID(time))
    return;
  gst_publish_text_string(text, key);
  gst_publish_text_uint(text, time);
}

static void append_times(GstPublishText *text, const GstPublishFrame *frame) {
  append_time(text, ",\"timestamp\":", frame->timestamp);
  append_time(text, ",\"running_time\":", frame->running_time);
  append_time(text, ",\"pts\":", frame->pts);
  append_time(text, ",\"duration\":", frame->duration);
  if (frame->utc_source != GST_PUBLISH_UTC_NONE) {
    LITERAL(text, ",\"utc\":\"");
    gst_publish_text_utc(text, frame->utc);
    LITERAL(text, "\",\"utc_ns\":");
    gst_publish_text_int(text, frame->utc);
    LITERAL(text, ",\"utc_source\":\"");
    gst_publish_text_string(text, gst_publish_utc_source_name(frame->utc_source));
    gst_publish_text_char(text, '"');
  }
  if (frame->latency != G_MININT64) {
    LITERAL(text, ",\"latency_ns\":");
    gst_publish_text_int(text, frame->latency);
  }
}

void gst_publish_json_frame(const GstPublishJson *json, const GstPublishFrame *frame,
                            GstPublishText *text) {
  if (json->profile == GST_PUBLISH_PROFILE_DEEPSTREAM_MINIMAL) {
    gst_publish_objects_deepstream(frame, json->source, text);
    return;
  }
  LITERAL(text, "{\"schema\":\"" GST_PUBLISH_SCHEMA "\",\"seq\":");
  gst_publish_text_uint(text, frame->seq);
  LITERAL(text, ",\"segment\":");
  gst_publish_text_uint(text, frame->segment);
  append_times(text, frame);
  if (frame->discont)
    LITERAL(text, ",\"discont\":true");
  LITERAL(text, ",\"dropped\":");
  gst_publish_text_uint(text, frame->dropped);
  LITERAL(text, ",\"source\":");
  gst_publish_text_string(text, json->source);
  if (json->tags) {
    LITERAL(text, ",\"tags\":");
    gst_publish_text_string(text, json->tags);
  }
  if (frame->width > 0) {
    LITERAL(text, ",\"resolution\":{\"width\":");
    gst_publish_text_int(text, frame->width);
    LITERAL(text, ",\"height\":");
    gst_publish_text_int(text, frame->height);
    gst_publish_text_char(text, '}');
  }
  for (guint i = 0; i < frame->count; i++) {
    LITERAL(text, ",\"");
    gst_publish_annotation_key(text, gst_structure_get_name(frame->annotations[i]));
    LITERAL(text, "\":");
    gst_publish_json_annotation(json, frame->annotations[i], text);
  }
  if (json->objects)
    gst_publish_objects_dlstreamer(frame, text);
  gst_publish_text_char(text, '}');
}
