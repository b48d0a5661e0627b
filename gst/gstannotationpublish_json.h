/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_json.h: a frame as one JSON object or as rows of CSV. docs/annotations.md
 * has the keys, the JSON Schema in gst/schema the types. */
#ifndef GST_ANNOTATION_PUBLISH_JSON_H
#define GST_ANNOTATION_PUBLISH_JSON_H

#include "gstannotationpublish_frame.h"
#include "gstannotationpublish_sink.h"
#include "gstannotationpublish_text.h"

G_BEGIN_DECLS

#define GST_PUBLISH_SCHEMA "roadvision.frame/1"

typedef struct GstPublishJson {
  char *source; /* JSON string */
  char *tags;   /* JSON object, or NULL */
  GstPublishPayload payload;
  GstPublishProfile profile;
  gboolean objects; /* append obstacles as DL Streamer writes them */
} GstPublishJson;

/* source: any text; tags: a structure of scalars, or NULL. The profile is native. */
void gst_publish_json_init(GstPublishJson *json, const char *source, const GstStructure *tags,
                           GstPublishPayload payload);
void gst_publish_json_clear(GstPublishJson *json);

/* Appends the object, without a line end. */
void gst_publish_json_frame(const GstPublishJson *json, const GstPublishFrame *frame,
                            GstPublishText *text);

/* Appends one annotation of a frame as an object, without its key. */
void gst_publish_json_annotation(const GstPublishJson *json, const GstStructure *fields,
                                 GstPublishText *text);

G_END_DECLS
#endif
