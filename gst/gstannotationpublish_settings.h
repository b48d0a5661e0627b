/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_settings.h: the properties of annotationpublish. */
#ifndef GST_ANNOTATION_PUBLISH_SETTINGS_H
#define GST_ANNOTATION_PUBLISH_SETTINGS_H

#include "gstannotationpublish_sink.h"

G_BEGIN_DECLS

typedef enum GstPublishOverflow {
  GST_PUBLISH_OVERFLOW_AUTO, /* drop in live pipelines, block in others */
  GST_PUBLISH_OVERFLOW_DROP,
  GST_PUBLISH_OVERFLOW_BLOCK
} GstPublishOverflow;

typedef enum GstPublishOnError {
  GST_PUBLISH_ON_ERROR_WARN,
  GST_PUBLISH_ON_ERROR_STOP
} GstPublishOnError;

/* Topics of MCAP. */
typedef enum GstPublishTopics {
  GST_PUBLISH_TOPIC_IMAGE = 1 << 0,
  GST_PUBLISH_TOPIC_CAMERA = 1 << 1,
  GST_PUBLISH_TOPIC_DISPARITY = 1 << 2,
  GST_PUBLISH_TOPIC_DEPTH = 1 << 3,
  GST_PUBLISH_TOPIC_POINTS = 1 << 4,
  GST_PUBLISH_TOPIC_MARKERS = 1 << 5,
  GST_PUBLISH_TOPIC_OVERLAY = 1 << 6,
  GST_PUBLISH_TOPIC_TF = 1 << 7,
  GST_PUBLISH_TOPIC_FRAME = 1 << 8
} GstPublishTopics;

typedef enum GstPublishCompression {
  GST_PUBLISH_COMPRESSION_NONE,
  GST_PUBLISH_COMPRESSION_ZSTD
} GstPublishCompression;

/* Strings are owned. Enums and flags are stored as int and guint. */
typedef struct GstPublishSettings {
  char *location, *source, *utc_start;
  GstStructure *tags;
  gint format, payload, profile, overflow, on_error;
  guint queue_size;
  guint64 queue_bytes;
  guint64 rotate_size, rotate_time;
  guint max_files;
  gboolean append, strip, objects;

  char *broker, *topic, *client_id, *tls_ca, *tls_cert, *tls_key, *credentials_location;
  gint qos;
  guint keep_alive;
  gboolean split;

  guint topics;
  gint compression;
  char *attachment;
} GstPublishSettings;

/* Installs the properties with ids from `first` on; all can be set in the READY state. */
void gst_publish_settings_install(GObjectClass *klass, guint first);

void gst_publish_settings_init(GstPublishSettings *settings);
void gst_publish_settings_clear(GstPublishSettings *settings);
GstPublishSettings *gst_publish_settings_copy(const GstPublishSettings *settings);

/* FALSE when the id is of none of them. */
gboolean gst_publish_settings_set(GstPublishSettings *settings, guint id, guint first,
                                  const GValue *value);
gboolean gst_publish_settings_get(const GstPublishSettings *settings, guint id, guint first,
                                  GValue *value);

G_END_DECLS
#endif
