/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_mcap.h: writer of MCAP files (mcap.dev, version 0): messages in chunks with
 * indexes, a summary at the end. Chunks are written completely or not at all, so that a file
 * without a summary, after a crash, is readable up to its last chunk. After finish the file is
 * complete; further messages overwrite the summary. */
#ifndef GST_ANNOTATION_PUBLISH_MCAP_H
#define GST_ANNOTATION_PUBLISH_MCAP_H

#include "gstannotationpublish_file.h"
#include "gstannotationpublish_text.h"

G_BEGIN_DECLS

#define GST_PUBLISH_CHANNELS_MAX 24

typedef struct GstPublishMcap GstPublishMcap;

/* What does not change between files. Strings are static. */
typedef struct GstPublishChannel {
  const char *topic;
  const char *schema;   /* sensor_msgs/msg/Image */
  const char *encoding; /* of the schema: ros2msg */
  const char *qos;      /* YAML of ROS 2, "" for the defaults */
  char *definition;     /* owned */
} GstPublishChannel;

/* `sink` receives counts and reasons. With `zstd` chunks are compressed; NULL with error when this
 * build cannot. attachment: a file that is copied into every MCAP file, or NULL. Opens the file. */
GstPublishMcap *gst_publish_mcap_new(GstPublishSink *sink, const GstPublishFileConfig *config,
                                     gboolean zstd, const char *attachment, GError **error);

/* Adds a channel to all files; returns its number. */
guint gst_publish_mcap_add_channel(GstPublishMcap *mcap, const GstPublishChannel *channel);

/* Starts a message: the caller appends its data to the returned text and ends it. `time`: ns since
 * 1970; it becomes that of the message before where it is earlier. */
GstPublishText *gst_publish_mcap_begin(GstPublishMcap *mcap, guint channel, guint64 time);
void gst_publish_mcap_end(GstPublishMcap *mcap);

/* Returns the number of the current file: 0, 1, … */
guint gst_publish_mcap_file(const GstPublishMcap *mcap);

/* Before the messages of a frame: writes a full chunk, and starts the next file where it is due.
 * With WAIT nothing is lost, and no message may be added. */
GstPublishStatus gst_publish_mcap_prepare(GstPublishMcap *mcap, GstClockTime running_time);

/* After the messages of a frame, and from time to time: writes the chunk when it is large or one
 * second old. */
GstPublishStatus gst_publish_mcap_flush(GstPublishMcap *mcap);

/* Writes the last chunk and the summary. */
GstPublishStatus gst_publish_mcap_finish(GstPublishMcap *mcap);

/* Does not finish. */
void gst_publish_mcap_free(GstPublishMcap *mcap);

/* Returns the CRC-32 (IEEE 802.3) of data that follow data with the CRC `crc`; 0 for no data. */
guint32 gst_publish_crc32(guint32 crc, const void *data, gsize size);

G_END_DECLS
#endif
