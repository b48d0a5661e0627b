/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_record.c: frames as messages in MCAP files. */
#include "gstannotationpublish_record.h"

#include "gstannotationpublish_ros.h"

typedef struct Record {
  GstPublishSink sink;
  GstPublishMcap *mcap;
  GstPublishRos ros;
} Record;

static GstPublishStatus record_write(GstPublishSink *sink, const GstPublishFrame *frame) {
  Record *record = (Record *)sink;
  if (gst_publish_mcap_prepare(record->mcap, frame->running_time) == GST_PUBLISH_WAIT)
    return GST_PUBLISH_WAIT;
  gst_publish_ros_frame(&record->ros, frame);
  /* Where this fails the chunk stays in memory, and the next frame waits. */
  gst_publish_mcap_flush(record->mcap);
  return GST_PUBLISH_DONE;
}

static void record_idle(GstPublishSink *sink) {
  gst_publish_mcap_flush(((Record *)sink)->mcap);
}

static GstPublishStatus record_finish(GstPublishSink *sink) {
  return gst_publish_mcap_finish(((Record *)sink)->mcap);
}

static void record_free(GstPublishSink *sink) {
  Record *record = (Record *)sink;
  gst_publish_ros_clear(&record->ros);
  gst_publish_mcap_free(record->mcap);
  g_free(record);
}

static const GstPublishSinkClass record_class = {record_write, record_idle, record_finish,
                                                 record_free};

GstPublishSink *gst_publish_record_new(GstPublishHost *host, const GstPublishFileConfig *config,
                                       const GstPublishSettings *settings, GstPublishJson *json,
                                       GError **error) {
  Record *record = g_new0(Record, 1);
  record->sink.klass = &record_class;
  record->sink.host = host;
  record->sink.wants = GST_PUBLISH_WANTS_RASTERS;
  if (settings->topics & (GST_PUBLISH_TOPIC_IMAGE | GST_PUBLISH_TOPIC_POINTS))
    record->sink.wants |= GST_PUBLISH_WANTS_PICTURE;
  record->mcap = gst_publish_mcap_new(&record->sink, config,
                                      settings->compression == GST_PUBLISH_COMPRESSION_ZSTD,
                                      settings->attachment, error);
  if (!record->mcap) {
    gst_publish_json_clear(json);
    g_free(record);
    return NULL;
  }
  gst_publish_ros_init(&record->ros, record->mcap, host, settings->topics, json);
  return &record->sink;
}
