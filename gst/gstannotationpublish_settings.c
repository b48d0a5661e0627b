/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_settings.c: one table of properties. */
#include "gstannotationpublish_settings.h"

#include <stddef.h>
#include <string.h>

#define QUEUE_SIZE_DEFAULT 256
#define QUEUE_SIZE_MAX 65536
#define QUEUE_BYTES_DEFAULT (128 * 1024 * 1024)
#define KEEP_ALIVE_DEFAULT 20
#define TOPICS_DEFAULT                                                                             \
  (GST_PUBLISH_TOPIC_IMAGE | GST_PUBLISH_TOPIC_CAMERA | GST_PUBLISH_TOPIC_DISPARITY |              \
   GST_PUBLISH_TOPIC_DEPTH | GST_PUBLISH_TOPIC_MARKERS | GST_PUBLISH_TOPIC_OVERLAY |               \
   GST_PUBLISH_TOPIC_TF | GST_PUBLISH_TOPIC_FRAME)

/* --- Types ----------------------------------------------------------------------------------- */

static GType register_enum(gsize *type, const char *name, const GEnumValue *values) {
  if (g_once_init_enter(type)) {
    const GType made = g_enum_register_static(name, values);
    gst_type_mark_as_plugin_api(made, (GstPluginAPIFlags)0);
    g_once_init_leave(type, made);
  }
  return (GType)*type;
}

static GType format_get_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_PUBLISH_JSON, "JSON lines: one object per frame", "json"},
      {GST_PUBLISH_CSV, "CSV: one row per frame, and with %s in location one per record", "csv"},
      {GST_PUBLISH_MCAP, "MCAP file with ROS 2 messages", "mcap"},
      {0, NULL, NULL}};
  return register_enum(&type, "GstAnnotationPublishFormat", values);
}

static GType payload_get_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_PUBLISH_PAYLOAD_NONE, "Scalars and records, no rasters", "none"},
      {GST_PUBLISH_PAYLOAD_BASE64, "Rasters too, as base64", "base64"},
      {0, NULL, NULL}};
  return register_enum(&type, "GstAnnotationPublishPayload", values);
}

static GType profile_get_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_PUBLISH_PROFILE_NATIVE, "Schema roadvision.frame/1, with every annotation", "native"},
      {GST_PUBLISH_PROFILE_DEEPSTREAM_MINIMAL, "Minimal schema of DeepStream: obstacles alone",
       "deepstream-minimal"},
      {0, NULL, NULL}};
  return register_enum(&type, "GstAnnotationPublishProfile", values);
}

static GType overflow_get_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_PUBLISH_OVERFLOW_AUTO, "Drop in live pipelines, block in others", "auto"},
      {GST_PUBLISH_OVERFLOW_DROP, "Drop the oldest frame", "drop"},
      {GST_PUBLISH_OVERFLOW_BLOCK, "Wait while the destination accepts data, else drop", "block"},
      {0, NULL, NULL}};
  return register_enum(&type, "GstAnnotationPublishOverflow", values);
}

static GType on_error_get_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {
      {GST_PUBLISH_ON_ERROR_WARN, "Post a warning, continue, try again every second", "warn"},
      {GST_PUBLISH_ON_ERROR_STOP, "Post an error and stop the stream", "stop"},
      {0, NULL, NULL}};
  return register_enum(&type, "GstAnnotationPublishOnError", values);
}

static GType compression_get_type(void) {
  static gsize type = 0;
  static const GEnumValue values[] = {{GST_PUBLISH_COMPRESSION_NONE, "No compression", "none"},
                                      {GST_PUBLISH_COMPRESSION_ZSTD, "Zstandard, level 1", "zstd"},
                                      {0, NULL, NULL}};
  return register_enum(&type, "GstAnnotationPublishCompression", values);
}

static GType topics_get_type(void) {
  static gsize type = 0;
  static const GFlagsValue values[] = {
      {GST_PUBLISH_TOPIC_IMAGE, "Image that passes through", "image"},
      {GST_PUBLISH_TOPIC_CAMERA, "Camera of both views", "camera"},
      {GST_PUBLISH_TOPIC_DISPARITY, "Disparity, px as float", "disparity"},
      {GST_PUBLISH_TOPIC_DEPTH, "Depth, mm in 16 bits", "depth"},
      {GST_PUBLISH_TOPIC_POINTS, "Colored point cloud", "points"},
      {GST_PUBLISH_TOPIC_MARKERS, "Stixels and obstacles as markers", "markers"},
      {GST_PUBLISH_TOPIC_OVERLAY, "Outlines over the image", "overlay"},
      {GST_PUBLISH_TOPIC_TF, "Position of the camera above the road", "tf"},
      {GST_PUBLISH_TOPIC_FRAME, "The JSON object of the frame", "frame"},
      {0, NULL, NULL}};
  if (g_once_init_enter(&type)) {
    const GType made = g_flags_register_static("GstAnnotationPublishTopics", values);
    gst_type_mark_as_plugin_api(made, (GstPluginAPIFlags)0);
    g_once_init_leave(&type, made);
  }
  return (GType)type;
}

/* --- Table ----------------------------------------------------------------------------------- */

typedef enum Kind { STRING, STRUCTURE, BOOLEAN, INT, UINT, UINT64, ENUM, FLAGS } Kind;

typedef struct Row {
  const char *name, *blurb;
  Kind kind;
  gsize offset;
  guint64 low, high, value; /* of numbers; default of all but strings */
  GType (*type)(void);      /* of ENUM and FLAGS */
  const char *string;       /* default of STRING */
} Row;

#define AT(field) offsetof(GstPublishSettings, field)

static const Row rows[] = {
    {"location",
     "File, pipe, or - for standard output; %s: kind of records (CSV), %05d: file number", STRING,
     AT(location), 0, 0, 0, NULL, NULL},
    {"format", "Format of the output", ENUM, AT(format), 0, 0, GST_PUBLISH_JSON, format_get_type,
     NULL},
    {"source", "Name of the camera in every object", STRING, AT(source), 0, 0, 0, NULL, "camera"},
    {"tags", "Fields of your own in every object, such as tags,vehicle=7,route=\\\"A 8\\\"",
     STRUCTURE, AT(tags), 0, 0, 0, NULL, NULL},
    {"payload", "Rasters (disparity, masks) in JSON", ENUM, AT(payload), 0, 0,
     GST_PUBLISH_PAYLOAD_NONE, payload_get_type, NULL},
    {"profile", "Schema of the JSON objects", ENUM, AT(profile), 0, 0, GST_PUBLISH_PROFILE_NATIVE,
     profile_get_type, NULL},
    {"objects", "Append obstacles as the array objects of DL Streamer", BOOLEAN, AT(objects), 0, 0,
     FALSE, NULL, NULL},
    {"utc-start", "Wall-clock time of running time 0, RFC 3339; empty: from the clock", STRING,
     AT(utc_start), 0, 0, 0, NULL, NULL},
    {"queue-size", "Maximum number of frames that wait to be written", UINT, AT(queue_size), 1,
     QUEUE_SIZE_MAX, QUEUE_SIZE_DEFAULT, NULL, NULL},
    {"queue-bytes", "Maximum memory of the waiting frames (bytes)", UINT64, AT(queue_bytes), 1,
     G_MAXINT64, QUEUE_BYTES_DEFAULT, NULL, NULL},
    {"overflow", "Behavior when the queue is full", ENUM, AT(overflow), 0, 0,
     GST_PUBLISH_OVERFLOW_AUTO, overflow_get_type, NULL},
    {"on-error", "Behavior when the destination does not accept data", ENUM, AT(on_error), 0, 0,
     GST_PUBLISH_ON_ERROR_WARN, on_error_get_type, NULL},
    {"append", "Append to an existing file; with numbered files, start after the existing ones",
     BOOLEAN, AT(append), 0, 0, FALSE, NULL, NULL},
    {"rotate-size", "Maximum size of a file; the next one is started before (bytes); 0 = off",
     UINT64, AT(rotate_size), 0, G_MAXINT64, 0, NULL, NULL},
    {"rotate-time", "Running time after which the next file is started (ns); 0 = off", UINT64,
     AT(rotate_time), 0, G_MAXINT64, 0, NULL, NULL},
    {"max-files", "Number of rotated files that are kept, the oldest is removed; 0 = all", UINT,
     AT(max_files), 0, G_MAXINT, 0, NULL, NULL},
    {"strip", "Remove the annotations from the buffers after reading them", BOOLEAN, AT(strip), 0,
     0, FALSE, NULL, NULL},
    {"broker", "MQTT broker as host or host:port, instead of location", STRING, AT(broker), 0, 0, 0,
     NULL, NULL},
    {"topic", "Prefix of the MQTT topics; empty: roadvision/SOURCE", STRING, AT(topic), 0, 0, 0,
     NULL, NULL},
    {"qos", "MQTT quality of service of the frames: 0 at most once, 1 at least once", INT, AT(qos),
     0, 1, 0, NULL, NULL},
    {"client-id", "MQTT client identifier; empty: generated", STRING, AT(client_id), 0, 0, 0, NULL,
     NULL},
    {"keep-alive", "MQTT keep-alive interval (s)", UINT, AT(keep_alive), 5, 65535,
     KEEP_ALIVE_DEFAULT, NULL, NULL},
    {"split", "Publish each annotation on an MQTT topic of its own instead of one object per frame",
     BOOLEAN, AT(split), 0, 0, FALSE, NULL, NULL},
    {"tls-ca", "File with the certificates of authorities (PEM); enables TLS", STRING, AT(tls_ca),
     0, 0, 0, NULL, NULL},
    {"tls-cert", "File with the certificate of this client (PEM)", STRING, AT(tls_cert), 0, 0, 0,
     NULL, NULL},
    {"tls-key", "File with the private key of this client (PEM, not encrypted)", STRING,
     AT(tls_key), 0, 0, 0, NULL, NULL},
    {"credentials-location", "File with the MQTT user name in line 1 and the password in line 2",
     STRING, AT(credentials_location), 0, 0, 0, NULL, NULL},
    {"topics", "Messages in the MCAP file", FLAGS, AT(topics), 0, 0, TOPICS_DEFAULT,
     topics_get_type, NULL},
    {"compression", "Compression of the MCAP file", ENUM, AT(compression), 0, 0,
     GST_PUBLISH_COMPRESSION_NONE, compression_get_type, NULL},
    {"attachment", "File to attach to the MCAP file, such as the calibration", STRING,
     AT(attachment), 0, 0, 0, NULL, NULL},
};

#define FLAGS_OF_ALL (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

static GParamSpec *make_spec(const Row *row) {
  const GParamFlags flags = FLAGS_OF_ALL;
  switch (row->kind) {
  case STRING:
    return g_param_spec_string(row->name, row->name, row->blurb, row->string, flags);
  case STRUCTURE:
    return g_param_spec_boxed(row->name, row->name, row->blurb, GST_TYPE_STRUCTURE, flags);
  case BOOLEAN:
    return g_param_spec_boolean(row->name, row->name, row->blurb, row->value != 0, flags);
  case INT:
    return g_param_spec_int(row->name, row->name, row->blurb, (gint)row->low, (gint)row->high,
                            (gint)row->value, flags);
  case UINT:
    return g_param_spec_uint(row->name, row->name, row->blurb, (guint)row->low, (guint)row->high,
                             (guint)row->value, flags);
  case UINT64:
    return g_param_spec_uint64(row->name, row->name, row->blurb, row->low, row->high, row->value,
                               flags);
  case ENUM:
    return g_param_spec_enum(row->name, row->name, row->blurb, row->type(), (gint)row->value,
                             flags);
  case FLAGS:
    break;
  }
  return g_param_spec_flags(row->name, row->name, row->blurb, row->type(), (guint)row->value,
                            flags);
}

void gst_publish_settings_install(GObjectClass *klass, guint first) {
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    g_object_class_install_property(klass, first + i, make_spec(&rows[i]));
}

/* --- Values ---------------------------------------------------------------------------------- */

#define MEMBER(type, settings, row) (*(type *)((char *)(settings) + (row)->offset))

void gst_publish_settings_init(GstPublishSettings *settings) {
  memset(settings, 0, sizeof *settings);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const Row *row = &rows[i];
    if (row->kind == STRING)
      MEMBER(char *, settings, row) = g_strdup(row->string);
    else if (row->kind == UINT64)
      MEMBER(guint64, settings, row) = row->value;
    else if (row->kind != STRUCTURE)
      MEMBER(guint, settings, row) = (guint)row->value;
  }
}

void gst_publish_settings_clear(GstPublishSettings *settings) {
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    if (rows[i].kind == STRING)
      g_clear_pointer(&MEMBER(char *, settings, &rows[i]), g_free);
    else if (rows[i].kind == STRUCTURE)
      gst_clear_structure(&MEMBER(GstStructure *, settings, &rows[i]));
  }
}

GstPublishSettings *gst_publish_settings_copy(const GstPublishSettings *settings) {
  GstPublishSettings *copy = g_new(GstPublishSettings, 1);
  *copy = *settings;
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    if (rows[i].kind == STRING)
      MEMBER(char *, copy, &rows[i]) = g_strdup(MEMBER(char *, copy, &rows[i]));
    else if (rows[i].kind == STRUCTURE && copy->tags)
      MEMBER(GstStructure *, copy, &rows[i]) = gst_structure_copy(copy->tags);
  }
  return copy;
}

gboolean gst_publish_settings_set(GstPublishSettings *settings, guint id, guint first,
                                  const GValue *value) {
  if (id < first || id - first >= G_N_ELEMENTS(rows))
    return FALSE;
  const Row *row = &rows[id - first];
  switch (row->kind) {
  case STRING:
    g_free(MEMBER(char *, settings, row));
    MEMBER(char *, settings, row) = g_value_dup_string(value);
    break;
  case STRUCTURE:
    gst_clear_structure(&MEMBER(GstStructure *, settings, row));
    MEMBER(GstStructure *, settings, row) = g_value_dup_boxed(value);
    break;
  case BOOLEAN:
    MEMBER(gboolean, settings, row) = g_value_get_boolean(value);
    break;
  case INT:
    MEMBER(gint, settings, row) = g_value_get_int(value);
    break;
  case UINT:
    MEMBER(guint, settings, row) = g_value_get_uint(value);
    break;
  case UINT64:
    MEMBER(guint64, settings, row) = g_value_get_uint64(value);
    break;
  case ENUM:
    MEMBER(gint, settings, row) = g_value_get_enum(value);
    break;
  case FLAGS:
    MEMBER(guint, settings, row) = g_value_get_flags(value);
    break;
  }
  return TRUE;
}

gboolean gst_publish_settings_get(const GstPublishSettings *settings, guint id, guint first,
                                  GValue *value) {
  if (id < first || id - first >= G_N_ELEMENTS(rows))
    return FALSE;
  const Row *row = &rows[id - first];
  switch (row->kind) {
  case STRING:
    g_value_set_string(value, MEMBER(char *const, settings, row));
    break;
  case STRUCTURE:
    g_value_set_boxed(value, MEMBER(GstStructure *const, settings, row));
    break;
  case BOOLEAN:
    g_value_set_boolean(value, MEMBER(const gboolean, settings, row));
    break;
  case INT:
    g_value_set_int(value, MEMBER(const gint, settings, row));
    break;
  case UINT:
    g_value_set_uint(value, MEMBER(const guint, settings, row));
    break;
  case UINT64:
    g_value_set_uint64(value, MEMBER(const guint64, settings, row));
    break;
  case ENUM:
    g_value_set_enum(value, MEMBER(const gint, settings, row));
    break;
  case FLAGS:
    g_value_set_flags(value, MEMBER(const guint, settings, row));
    break;
  }
  return TRUE;
}
