/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_settings.c: one table of properties. */
#include "gstannotationpublish_settings.h"

#define TOPICS_DEFAULT                                                                             \
  (GST_PUBLISH_TOPIC_IMAGE | GST_PUBLISH_TOPIC_CAMERA | GST_PUBLISH_TOPIC_DISPARITY |              \
   GST_PUBLISH_TOPIC_DEPTH | GST_PUBLISH_TOPIC_MARKERS | GST_PUBLISH_TOPIC_OVERLAY |               \
   GST_PUBLISH_TOPIC_TF | GST_PUBLISH_TOPIC_FRAME)

static const RvParamValue topics[] = {
#define VALUE(topic, name, text) {GST_PUBLISH_TOPIC_##topic, name, text},
    GST_PUBLISH_TOPICS(VALUE)
#undef VALUE
};

typedef GstPublishSettings Settings; /* of the rows */

const RvParam gst_publish_rows[] = {
    GST_RV_TEXT("location", location, "%s: kind of records (CSV), %05d: file number",
                "File, pipe, or - for standard output"),
    GST_RV_ENUM("format", format,
                GST_RV_VALUES({GST_PUBLISH_JSON, "json", "JSON lines: one object per frame"},
                              {GST_PUBLISH_CSV, "csv",
                               "CSV: one row per frame, and with %s in location one per record"},
                              {GST_PUBLISH_MCAP, "mcap", "MCAP file with ROS 2 messages"}),
                GST_PUBLISH_JSON, 0, NULL, NULL, "Format of the output"),
    GST_RV_LISTED(RV_PARAM_TEXT, "source", source, GST_RV_VALUES({.name = "camera"}), 0, 0, NULL,
                  NULL, "Name of the camera in every object"),
    GST_RV_ENUM("payload", payload,
                GST_RV_VALUES({GST_PUBLISH_PAYLOAD_NONE, "none", "Scalars and records, no rasters"},
                              {GST_PUBLISH_PAYLOAD_BASE64, "base64", "Rasters too, as base64"}),
                GST_PUBLISH_PAYLOAD_NONE, 0, NULL, NULL, "Rasters (disparity, masks) in JSON"),
    GST_RV_ENUM("profile", profile,
                GST_RV_VALUES({GST_PUBLISH_PROFILE_NATIVE, "native",
                               "Schema roadvision.frame/1, with every annotation"},
                              {GST_PUBLISH_PROFILE_DEEPSTREAM_MINIMAL, "deepstream-minimal",
                               "Minimal schema of DeepStream: obstacles alone"}),
                GST_PUBLISH_PROFILE_NATIVE, 0, NULL, NULL, "Schema of the JSON objects"),
    GST_RV_BOOL("objects", objects, 0, 0, NULL, NULL,
                "Append obstacles as the array objects of DL Streamer"),
    GST_RV_TEXT("utc-start", utc_start, "empty: from the clock",
                "Wall-clock time of running time 0, RFC 3339"),
    GST_RV_UINT("queue-size", queue_size, 1, 65536, 256, 0, NULL, NULL,
                "Maximum number of frames that wait to be written"),
    GST_RV_UINT64("queue-bytes", queue_bytes, 1, G_MAXINT64, 128 * 1024 * 1024, 0, "bytes", NULL,
                  "Maximum memory of the waiting frames"),
    GST_RV_ENUM("overflow", overflow,
                GST_RV_VALUES(
                    {GST_PUBLISH_OVERFLOW_AUTO, "auto", "Drop in live pipelines, block in others"},
                    {GST_PUBLISH_OVERFLOW_DROP, "drop", "Drop the oldest frame"},
                    {GST_PUBLISH_OVERFLOW_BLOCK, "block",
                     "Wait while the destination accepts data, else drop"}),
                GST_PUBLISH_OVERFLOW_AUTO, 0, NULL, NULL, "Behavior when the queue is full"),
    GST_RV_ENUM(
        "on-error", on_error,
        GST_RV_VALUES(
            {GST_PUBLISH_ON_ERROR_WARN, "warn", "Post a warning, continue, try again every second"},
            {GST_PUBLISH_ON_ERROR_STOP, "stop", "Post an error and stop the stream"}),
        GST_PUBLISH_ON_ERROR_WARN, 0, NULL, NULL,
        "Behavior when the destination does not accept data"),
    GST_RV_BOOL("append", append, 0, 0, NULL, NULL,
                "Append to an existing file; with numbered files, start after the existing ones"),
    GST_RV_UINT64("rotate-size", rotate_size, 0, G_MAXINT64, 0, 0, "bytes", "0 = off",
                  "Maximum size of a file; the next one is started before"),
    GST_RV_UINT64("rotate-time", rotate_time, 0, G_MAXINT64, 0, 0, "ns", "0 = off",
                  "Running time after which the next file is started"),
    GST_RV_UINT("max-files", max_files, 0, G_MAXINT, 0, 0, NULL, "0 = all",
                "Number of rotated files that are kept, the oldest is removed"),
    GST_RV_BOOL("strip", strip, 0, 0, NULL, NULL,
                "Remove the annotations from the buffers after reading them"),
    GST_RV_TEXT("broker", broker, NULL, "MQTT broker as host or host:port, instead of location"),
    GST_RV_TEXT("topic", topic, "empty: roadvision/SOURCE", "Prefix of the MQTT topics"),
    GST_RV_INT("qos", qos, 0, 1, 0, 0, NULL, NULL,
               "MQTT quality of service of the frames: 0 at most once, 1 at least once"),
    GST_RV_TEXT("client-id", client_id, "empty: generated", "MQTT client identifier"),
    GST_RV_UINT("keep-alive", keep_alive, 5, 65535, 20, 0, "s", NULL, "MQTT keep-alive interval"),
    GST_RV_BOOL("split", split, 0, 0, NULL, NULL,
                "Publish each annotation on an MQTT topic of its own instead of one object per "
                "frame"),
    GST_RV_TEXT("tls-ca", tls_ca, NULL,
                "File with the certificates of authorities (PEM); enables TLS"),
    GST_RV_TEXT("tls-cert", tls_cert, NULL, "File with the certificate of this client (PEM)"),
    GST_RV_TEXT("tls-key", tls_key, NULL,
                "File with the private key of this client (PEM, not encrypted)"),
    GST_RV_TEXT("credentials-location", credentials_location, NULL,
                "File with the MQTT user name in line 1 and the password in line 2"),
    GST_RV_FLAGS("topics", topics, topics, TOPICS_DEFAULT, 0, NULL, NULL,
                 "Messages in the MCAP file"),
    GST_RV_ENUM("compression", compression,
                GST_RV_VALUES({GST_PUBLISH_COMPRESSION_NONE, "none", "No compression"},
                              {GST_PUBLISH_COMPRESSION_ZSTD, "zstd", "Zstandard, level 1"}),
                GST_PUBLISH_COMPRESSION_NONE, 0, NULL, NULL, "Compression of the MCAP file"),
    GST_RV_TEXT("attachment", attachment, NULL,
                "File to attach to the MCAP file, such as the calibration"),
};
