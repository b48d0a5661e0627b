/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_objects.c: obstacles for readers of other collections. */
#include "gstannotationpublish_objects.h"

#include "gstannotationpublish_layout.h"

#define LITERAL(text, string) gst_publish_text_bytes(text, string, sizeof(string) - 1)

/* The obstacles of a frame; `count` 0 when there are none. */
typedef struct Obstacles {
  RvMetaObstacles meta;
  RvMetaMap map;
  const RvObstacle *records;
} Obstacles;

static gboolean open_obstacles(Obstacles *obstacles, const GstPublishFrame *frame) {
  if (!rv_meta_get_obstacles(frame->metas, &obstacles->meta) ||
      !rv_meta_map_buffer(&obstacles->map, obstacles->meta.payload, GST_MAP_READ))
    return FALSE;
  obstacles->records = (const RvObstacle *)(const void *)obstacles->map.info.data;
  return TRUE;
}

static const char *kind_name(guint8 kind) {
  static const char *const names[] = {"object", "pole", "wall", "low", "overhang"};
  return kind < G_N_ELEMENTS(names) ? names[kind] : "object";
}

static void append_int(GstPublishText *text, const char *key, gint64 value) {
  gst_publish_text_string(text, key);
  gst_publish_text_int(text, value);
}

static void append_float(GstPublishText *text, const char *key, float value) {
  gst_publish_text_string(text, key);
  if (!gst_publish_text_float(text, value))
    LITERAL(text, "null");
}

/* --- DL Streamer ----------------------------------------------------------------------------- */

static void append_object(GstPublishText *text, const RvObstacle *o, const RvMetaObstacles *meta) {
  append_int(text, "{\"x\":", o->x);
  append_int(text, ",\"y\":", o->y);
  append_int(text, ",\"w\":", o->w);
  append_int(text, ",\"h\":", o->h);
  append_int(text, ",\"roi_type\":\"obstacle\",\"region_id\":", o->id);
  append_float(text,
               ",\"detection\":{\"bounding_box\":{\"x_min\":", (float)o->x / (float)meta->width);
  append_float(text, ",\"y_min\":", (float)o->y / (float)meta->height);
  append_float(text, ",\"x_max\":", (float)(o->x + o->w) / (float)meta->width);
  append_float(text, ",\"y_max\":", (float)(o->y + o->h) / (float)meta->height);
  append_float(text, "},\"confidence\":", (float)o->confidence / 255.0f);
  LITERAL(text, ",\"label\":\"");
  gst_publish_text_string(text, kind_name(o->kind));
  append_float(text, "\"},\"extra\":{\"distance_m\":", o->distance);
  append_float(text, ",\"lateral_m\":", o->lateral);
  append_float(text, ",\"velocity_z_m_s\":", o->velocity_z);
  append_float(text, ",\"ttc_s\":", o->ttc);
  LITERAL(text, "}}");
}

void gst_publish_objects_dlstreamer(const GstPublishFrame *frame, GstPublishText *text) {
  Obstacles obstacles;
  if (!open_obstacles(&obstacles, frame))
    return;
  LITERAL(text, ",\"objects\":[");
  for (int i = 0; i < obstacles.meta.count; i++) {
    if (i > 0)
      gst_publish_text_char(text, ',');
    append_object(text, &obstacles.records[i], &obstacles.meta);
  }
  gst_publish_text_char(text, ']');
  rv_meta_unmap(&obstacles.map);
}

/* --- DeepStream ------------------------------------------------------------------------------ */

/* "id|left|top|right|bottom|type|#|distance in m" */
static void append_words(GstPublishText *text, const RvObstacle *o) {
  append_int(text, "\"", o->id);
  append_int(text, "|", o->x);
  append_int(text, "|", o->y);
  append_int(text, "|", o->x + o->w);
  append_int(text, "|", o->y + o->h);
  gst_publish_text_char(text, '|');
  gst_publish_text_string(text, kind_name(o->kind));
  append_float(text, "|#|", o->distance);
  gst_publish_text_char(text, '"');
}

void gst_publish_objects_deepstream(const GstPublishFrame *frame, const char *source,
                                    GstPublishText *text) {
  Obstacles obstacles;
  LITERAL(text, "{\"version\":\"4.0\",\"id\":\"");
  gst_publish_text_uint(text, frame->seq);
  if (frame->utc_source != GST_PUBLISH_UTC_NONE) {
    LITERAL(text, "\",\"@timestamp\":\"");
    gst_publish_text_utc(text, frame->utc);
    text->length -= strlen("000Z"); /* ms */
    gst_publish_text_char(text, 'Z');
  }
  LITERAL(text, "\",\"sensorId\":");
  gst_publish_text_string(text, source);
  LITERAL(text, ",\"objects\":[");
  if (open_obstacles(&obstacles, frame)) {
    for (int i = 0; i < obstacles.meta.count; i++) {
      if (i > 0)
        gst_publish_text_char(text, ',');
      append_words(text, &obstacles.records[i]);
    }
    rv_meta_unmap(&obstacles.map);
  }
  LITERAL(text, "]}");
}
