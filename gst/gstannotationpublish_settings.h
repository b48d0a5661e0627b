/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_settings.h: the properties of annotationpublish. */
#ifndef GST_ANNOTATION_PUBLISH_SETTINGS_H
#define GST_ANNOTATION_PUBLISH_SETTINGS_H

#include "common/gstrvsettings.h"
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

/* Topics of MCAP, as flags: constant, value of the property topics, text. */
#define GST_PUBLISH_TOPICS(X)                                                                      \
  X(IMAGE, "image", "Image that passes through")                                                   \
  X(CAMERA, "camera", "Camera of both views")                                                      \
  X(DISPARITY, "disparity", "Disparity, px as float")                                              \
  X(DEPTH, "depth", "Depth, mm in 16 bits")                                                        \
  X(POINTS, "points", "Colored point cloud")                                                       \
  X(MARKERS, "markers", "Stixels and obstacles as markers")                                        \
  X(OVERLAY, "overlay", "Outlines over the image")                                                 \
  X(TF, "tf", "Position of the camera above the road")                                             \
  X(FRAME, "frame", "The JSON object of the frame")
enum {
#define GST_PUBLISH_BIT(topic, name, text) GST_PUBLISH_TOPIC_BIT_##topic,
  GST_PUBLISH_TOPICS(GST_PUBLISH_BIT)
#undef GST_PUBLISH_BIT
};
typedef enum GstPublishTopics {
#define GST_PUBLISH_FLAG(topic, name, text)                                                        \
  GST_PUBLISH_TOPIC_##topic = 1 << GST_PUBLISH_TOPIC_BIT_##topic,
  GST_PUBLISH_TOPICS(GST_PUBLISH_FLAG)
#undef GST_PUBLISH_FLAG
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

/* Rows of all properties but tags, for GstRvSettings. */
#define GST_PUBLISH_ROWS 29
extern const RvParam gst_publish_rows[GST_PUBLISH_ROWS];

G_END_DECLS
#endif
