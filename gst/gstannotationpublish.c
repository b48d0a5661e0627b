/* SPDX-License-Identifier: MIT */
/* gstannotationpublish.c: element annotationpublish: times, settings and the life of the writer. */

/**
 * SECTION:element-annotationpublish
 * @title: annotationpublish
 * @short_description: Writes annotations as JSON lines, CSV, MQTT messages or MCAP
 *
 * Writes one object per frame with all annotations of the buffer: to a file, a pipe or standard
 * output (JSON lines, CSV), to an MQTT broker, or to an MCAP file with ROS 2 messages. Buffers pass
 * through unchanged, raw or encoded, in any memory. No GPU is needed.
 *
 * A thread writes; a bounded queue is before it. A destination that does not accept data never
 * stops the stream: the oldest frames are dropped and counted.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -q stereotestsrc num-buffers=30 ! cudasgm ! cudastixels !
 *   annotationpublish location=- ! fakesink
 * ]| Stixels of every frame as JSON lines on standard output.
 * |[
 * gst-launch-1.0 stereotestsrc is-live=true ! cudasgm ! cudastixels !
 *   annotationpublish broker=localhost source=front ! cudaannotate ! videoconvert ! autovideosink
 * ]| The same to an MQTT broker, topic roadvision/front/frame.
 *
 * Since: 0.1
 */
#include "gstannotationpublish.h"

#include "common/gstrvfilter.h"
#include "common/gstrvsettings.h"
#include "gstannotationpublish_frame.h"
#include "gstannotationpublish_lines.h"
#include "gstannotationpublish_mqtt.h"
#include "gstannotationpublish_record.h"
#include "gstannotationpublish_settings.h"
#include "gstannotationpublish_writer.h"

GST_DEBUG_CATEGORY_STATIC(gst_annotation_publish_debug);
#define GST_CAT_DEFAULT gst_annotation_publish_debug

#define EOS_PATIENCE (3 * GST_SECOND)  /* without progress, at the end of the stream */
#define STOP_PATIENCE (1 * GST_SECOND) /* without progress, when the element stops */
#define OFFSET_TOLERANCE (1000 * 1000) /* ns, of the mapping to the wall clock */
#define CLOCK_LOOKS 4                  /* at both clocks, at most, to map one to the other */

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

enum { PROP_TAGS = GST_PUBLISH_ROWS + 1, PROP_STATS };

struct _GstAnnotationPublish {
  GstBaseTransform parent;

  /* Guarded by the object lock. */
  GstPublishSettings settings;
  GstPublishWriter *writer; /* between start and stop */
  GstPublishCounts last;    /* of the writer that was */

  /* Of the streaming thread. */
  GstPublishHost host;
  guint wants; /* GstPublishWants */
  gboolean strip, block;
  GstPublishOverflow overflow;
  gboolean has_utc_start;
  gint64 utc_start; /* ns since 1970 */
  GstCaps *caps;
  int width, height;
  gboolean has_picture;
  gboolean is_live, knows_live;
  gboolean has_offset;
  gint64 offset; /* ns: wall-clock time of running time 0 */
  guint64 seq, segments;
};

G_DEFINE_TYPE(GstAnnotationPublish, gst_annotation_publish, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(annotationpublish, "annotationpublish", GST_RANK_NONE,
                            GST_TYPE_ANNOTATION_PUBLISH)

/* --- Properties ------------------------------------------------------------------------------ */

static GstStructure *make_stats(GstAnnotationPublish *self) {
  GstPublishCounts counts;
  GST_OBJECT_LOCK(self);
  counts = self->last;
  if (self->writer)
    gst_publish_writer_counts(self->writer, &counts);
  GST_OBJECT_UNLOCK(self);
  return gst_structure_new(
      "application/x-annotationpublish-stats", "frames", G_TYPE_UINT64, counts.frames, "published",
      G_TYPE_UINT64, counts.published, "dropped", G_TYPE_UINT64, counts.dropped, "bytes",
      G_TYPE_UINT64, counts.bytes, "files", G_TYPE_UINT64, counts.files, "reconnects",
      G_TYPE_UINT64, counts.reconnects, "queued", G_TYPE_UINT, counts.queued, "queued-max",
      G_TYPE_UINT, counts.queued_max, "waiting", G_TYPE_BOOLEAN, counts.waiting, NULL);
}

static const GstRvSettings settings_table = {
    .type = "GstAnnotationPublish",
    .own = gst_publish_rows,
    .own_count = GST_PUBLISH_ROWS,
    .place = G_STRUCT_OFFSET(GstAnnotationPublish, settings),
    .size = sizeof(GstPublishSettings),
    .fixed = TRUE,
};

/* To be freed; NULL: none. */
static GstStructure *copy_tags(GstAnnotationPublish *self) {
  GST_OBJECT_LOCK(self);
  GstStructure *tags = self->settings.tags ? gst_structure_copy(self->settings.tags) : NULL;
  GST_OBJECT_UNLOCK(self);
  return tags;
}

static void set_tags(GstAnnotationPublish *self, const GValue *value) {
  GST_OBJECT_LOCK(self);
  gst_clear_structure(&self->settings.tags);
  self->settings.tags = g_value_dup_boxed(value);
  GST_OBJECT_UNLOCK(self);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  if (id == PROP_TAGS)
    set_tags(GST_ANNOTATION_PUBLISH(object), value);
  else
    gst_rv_settings_set_property(object, id, value, spec);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(object);
  if (id == PROP_TAGS)
    g_value_take_boxed(value, copy_tags(self));
  else if (id == PROP_STATS)
    g_value_take_boxed(value, make_stats(self));
  else
    gst_rv_settings_get_property(object, id, value, spec);
}

static void install_properties(GObjectClass *object) {
  gst_rv_settings_install(&settings_table, object);
  g_object_class_install_property(
      object, PROP_TAGS,
      g_param_spec_boxed(
          "tags", "Tags",
          "Fields of your own in every object, such as tags,vehicle=7,route=\\\"A 8\\\"",
          GST_TYPE_STRUCTURE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames received, published and dropped, bytes, files, reconnects, queue",
                         GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* --- Start and stop -------------------------------------------------------------------------- */

static gboolean is_set(const char *string) {
  return string && *string;
}

static gboolean settings_error(GError **error, const char *text) {
  g_set_error_literal(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
  return FALSE;
}

/* Rules that join several properties. */
static gboolean check_settings(GstAnnotationPublish *self, const GstPublishSettings *settings,
                               GError **error) {
  if (!is_set(settings->location) && !is_set(settings->broker))
    return settings_error(error, "No destination: set location (a file, a pipe, or - for standard "
                                 "output) or broker.");
  if (is_set(settings->location) && is_set(settings->broker))
    return settings_error(error, "Two destinations: location and broker are both set. Use an "
                                 "annotationpublish for each.");
  if (is_set(settings->broker) && settings->format != GST_PUBLISH_JSON)
    return settings_error(error, "MQTT messages are JSON: unset format, or use location.");
  self->has_utc_start = is_set(settings->utc_start);
  if (self->has_utc_start && !gst_publish_parse_utc(settings->utc_start, &self->utc_start))
    return settings_error(error, "Invalid utc-start: it must be RFC 3339 with a zone, such as "
                                 "2026-11-22T08:30:00Z.");
  return TRUE;
}

static GstPublishSink *open_sink(GstAnnotationPublish *self, const GstPublishSettings *settings,
                                 GError **error) {
  const gboolean is_text = settings->format != GST_PUBLISH_MCAP;
  const GstPublishFileConfig file = {.location = settings->location,
                                     .append = settings->append,
                                     .text = is_text,
                                     .rotate_size = settings->rotate_size,
                                     .rotate_time = settings->rotate_time,
                                     .max_files = settings->max_files};
  GstPublishJson json;
  gst_publish_json_init(&json, settings->source ? settings->source : "", settings->tags,
                        (GstPublishPayload)settings->payload);
  json.profile = (GstPublishProfile)settings->profile;
  json.objects = settings->objects;
  if (is_set(settings->broker))
    return gst_publish_mqtt_new(&self->host, settings, &json, error);
  if (!is_text)
    return gst_publish_record_new(&self->host, &file, settings, &json, error);
  return gst_publish_lines_new(&self->host, &file, settings->format == GST_PUBLISH_CSV, &json,
                               error);
}

static void reset(GstAnnotationPublish *self) {
  self->host.element = GST_ELEMENT(self);
  g_atomic_int_set(&self->host.cancelled, 0);
  g_atomic_pointer_set(&self->host.writer, NULL);
  self->knows_live = self->is_live = self->has_offset = FALSE;
  self->seq = self->segments = 0;
  self->width = self->height = 0;
}

static gboolean start(GstBaseTransform *transform) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(transform);
  GError *error = NULL;
  GstPublishSettings settings;
  gst_rv_settings_copy(self, &settings_table, &settings);
  settings.tags = copy_tags(self);
  reset(self);
  GstPublishSink *sink =
      check_settings(self, &settings, &error) ? open_sink(self, &settings, &error) : NULL;
  if (sink) {
    self->wants = sink->wants;
    self->strip = settings.strip;
    self->overflow = (GstPublishOverflow)settings.overflow;
    gst_base_transform_set_passthrough(transform, !self->strip);
    GstPublishWriter *writer =
        gst_publish_writer_new(sink, settings.queue_size, (gsize)settings.queue_bytes,
                               settings.on_error == GST_PUBLISH_ON_ERROR_STOP);
    GST_OBJECT_LOCK(self);
    self->writer = writer;
    GST_OBJECT_UNLOCK(self);
  } else {
    gst_element_message_full(GST_ELEMENT(self), GST_MESSAGE_ERROR, error->domain, error->code,
                             g_strdup(error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_clear_error(&error);
  }
  gst_rv_settings_clear_copy(&settings, &settings_table);
  gst_clear_structure(&settings.tags);
  return sink != NULL;
}

static gboolean stop(GstBaseTransform *transform) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(transform);
  GST_OBJECT_LOCK(self);
  GstPublishWriter *writer = self->writer;
  self->writer = NULL;
  GST_OBJECT_UNLOCK(self);
  GstPublishCounts counts = {0};
  if (writer)
    gst_publish_writer_free(writer, STOP_PATIENCE, &counts);
  GST_OBJECT_LOCK(self);
  self->last = counts;
  GST_OBJECT_UNLOCK(self);
  gst_clear_caps(&self->caps);
  return TRUE;
}

/* Before the pads are deactivated: the streaming thread may wait for the writer. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(element);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY && self->writer)
    gst_publish_writer_set_flushing(self->writer, TRUE);
  return GST_ELEMENT_CLASS(gst_annotation_publish_parent_class)->change_state(element, transition);
}

/* --- Caps and events ------------------------------------------------------------------------- */

static gboolean set_caps(GstBaseTransform *transform, GstCaps *caps, GstCaps *out) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(transform);
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  gst_caps_replace(&self->caps, caps);
  self->width = self->height = 0;
  gst_structure_get_int(structure, "width", &self->width);
  gst_structure_get_int(structure, "height", &self->height);
  self->has_picture = gst_structure_has_name(structure, "video/x-raw") ||
                      gst_structure_has_name(structure, "image/jpeg") ||
                      gst_structure_has_name(structure, "video/x-h264");
  return TRUE;
}

static gboolean sink_event(GstBaseTransform *transform, GstEvent *event) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(transform);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_SEGMENT:
    self->segments++;
    break;
  case GST_EVENT_EOS: /* what was published is complete when the pipeline reports the end */
    gst_publish_writer_drain(self->writer, EOS_PATIENCE);
    break;
  case GST_EVENT_FLUSH_START:
    gst_publish_writer_set_flushing(self->writer, TRUE);
    break;
  case GST_EVENT_FLUSH_STOP:
    gst_publish_writer_set_flushing(self->writer, FALSE);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_annotation_publish_parent_class)
      ->sink_event(transform, event);
}

/* With strip the element is no passthrough; upstream still gets downstream's pools and metas. */
static gboolean propose_allocation(GstBaseTransform *transform, GstQuery *decide, GstQuery *query) {
  if (decide)
    return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(transform), query);
  return GST_BASE_TRANSFORM_CLASS(gst_annotation_publish_parent_class)
      ->propose_allocation(transform, decide, query);
}

/* --- Times ----------------------------------------------------------------------------------- */

static void ask_live(GstAnnotationPublish *self) {
  GstQuery *query = gst_query_new_latency();
  if (gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query))
    gst_query_parse_latency(query, &self->is_live, NULL, NULL);
  gst_query_unref(query);
  self->knows_live = TRUE;
  self->block = self->overflow == GST_PUBLISH_OVERFLOW_BLOCK ||
                (self->overflow == GST_PUBLISH_OVERFLOW_AUTO && !self->is_live);
  GST_DEBUG_OBJECT(self, "%s pipeline, a full queue %s", self->is_live ? "live" : "not live",
                   self->block ? "blocks" : "drops");
}

static gint64 wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (gint64)now.tv_sec * GST_SECOND + now.tv_nsec;
}

/* Running time of now by the pipeline's clock; FALSE while there is none. */
static gboolean running_time_now(GstAnnotationPublish *self, gint64 *now) {
  const GstClockTime time = gst_element_get_current_running_time(GST_ELEMENT(self));
  *now = (gint64)time;
  return GST_CLOCK_TIME_IS_VALID(time);
}

/* Running time of now, and the wall-clock time of running time 0 with its error. The thread may be
 * interrupted between its looks at the two clocks: of a few, that between the closest looks at the
 * pipeline's clock. FALSE while there is none. */
static gboolean compare_clocks(GstAnnotationPublish *self, gint64 *now, gint64 *offset,
                               gint64 *error) {
  gint64 before = 0;
  *error = G_MAXINT64;
  for (int i = 0; i<CLOCK_LOOKS && * error> OFFSET_TOLERANCE / 4; i++) {
    if (!running_time_now(self, &before))
      return FALSE;
    const gint64 wall = wall_clock();
    if (!running_time_now(self, now))
      return FALSE;
    const gint64 between = *now - before;
    if (between < *error) {
      *error = between;
      *offset = wall - before - between / 2;
    }
  }
  return TRUE;
}

/* Wall-clock time of a live frame follows both clocks; that of others counts from the first frame,
 * since they are not processed at the rate of the clock. */
static void stamp_utc(GstAnnotationPublish *self, GstPublishFrame *frame, GstBuffer *buffer) {
  gint64 now = 0, offset = 0, error = 0;
  frame->utc_source = gst_publish_reference_utc(buffer, &frame->utc);
  if (frame->utc_source != GST_PUBLISH_UTC_NONE || !GST_CLOCK_TIME_IS_VALID(frame->running_time))
    return;
  if (self->has_utc_start) {
    frame->utc = self->utc_start + (gint64)frame->running_time;
    frame->utc_source = GST_PUBLISH_UTC_START;
    return;
  }
  if (self->is_live && compare_clocks(self, &now, &offset, &error)) {
    if (!self->has_offset ||
        (error <= OFFSET_TOLERANCE && ABS(offset - self->offset) > OFFSET_TOLERANCE))
      self->offset = offset;
    self->has_offset = TRUE;
    frame->latency = now - (gint64)frame->running_time;
  } else if (!self->has_offset) {
    self->offset = wall_clock() - (gint64)frame->running_time;
    self->has_offset = TRUE;
  }
  frame->utc = self->offset + (gint64)frame->running_time;
  frame->utc_source = GST_PUBLISH_UTC_CLOCK;
}

static void stamp(GstAnnotationPublish *self, GstPublishFrame *frame, GstBuffer *buffer) {
  const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
  frame->seq = self->seq++;
  frame->segment = MAX(self->segments, 1) - 1;
  frame->pts = GST_BUFFER_PTS(buffer);
  frame->duration = GST_BUFFER_DURATION(buffer);
  frame->timestamp = frame->running_time = GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID(frame->pts) && segment->format == GST_FORMAT_TIME) {
    frame->timestamp = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, frame->pts);
    frame->running_time = gst_segment_to_running_time(segment, GST_FORMAT_TIME, frame->pts);
  }
  frame->latency = G_MININT64;
  frame->discont = GST_BUFFER_IS_DISCONT(buffer);
  frame->width = self->width;
  frame->height = self->height;
  stamp_utc(self, frame, buffer);
}

/* --- Frames ---------------------------------------------------------------------------------- */

static gboolean remove_annotation(GstBuffer *buffer, GstMeta **meta, gpointer user) {
  if (gst_publish_is_annotation(*meta))
    *meta = NULL;
  return TRUE;
}

static GstFlowReturn transform_ip(GstBaseTransform *transform, GstBuffer *buffer) {
  GstAnnotationPublish *self = GST_ANNOTATION_PUBLISH(transform);
  if (gst_buffer_get_size(buffer) == 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP))
    return GST_FLOW_OK; /* no frame */
  if (!self->knows_live)
    ask_live(self);
  const guint wants = self->wants & ~(guint)(self->has_picture ? 0 : GST_PUBLISH_WANTS_PICTURE);
  GstPublishFrame *frame = gst_publish_frame_new(buffer, self->caps, wants);
  stamp(self, frame, buffer);
  if (!gst_publish_writer_push(self->writer, frame, self->block))
    return GST_FLOW_ERROR;
  if (self->strip)
    gst_buffer_foreach_meta(buffer, remove_annotation, NULL);
  return GST_FLOW_OK;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void finalize(GObject *object) {
  gst_rv_settings_clear(object, &settings_table);
  gst_clear_structure(&GST_ANNOTATION_PUBLISH(object)->settings.tags);
  G_OBJECT_CLASS(gst_annotation_publish_parent_class)->finalize(object);
}

static void gst_annotation_publish_class_init(GstAnnotationPublishClass *class) {
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GST_DEBUG_CATEGORY_INIT(gst_annotation_publish_debug, "annotationpublish", 0,
                          "annotations as text and messages");
  gst_rv_object_class_set(object, set_property, get_property, finalize);
  install_properties(object);
  gst_rv_describe(element, "annotationpublish");
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &src_template);
  element->change_state = change_state;
  gst_rv_filter_class_set(GST_BASE_TRANSFORM_CLASS(class), start, stop, set_caps, sink_event,
                          propose_allocation, transform_ip);
}

static void gst_annotation_publish_init(GstAnnotationPublish *self) {
  gst_rv_settings_init(self, &settings_table);
  gst_rv_filter_init(GST_BASE_TRANSFORM(self));
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}
