/* SPDX-License-Identifier: MIT */
/* gstsemanticsattach_labels.c: labels from a second stream. */
#include "gstsemanticsattach_labels.h"

#include <string.h>

GST_DEBUG_CATEGORY_EXTERN(gst_semantics_attach_debug);
#define GST_CAT_DEFAULT gst_semantics_attach_debug

typedef struct Label {
  GstClockTime time; /* running time, ns */
  RvMetaSemantics meta;
  gboolean used;
} Label;

static void label_free(Label *label) {
  gst_clear_buffer(&label->meta.payload);
  g_free(label);
}

/* All of these: under the lock. */
static void drop_first(GstSemanticsAttachLabels *labels) {
  Label *label = g_queue_pop_head(&labels->queue);
  labels->dropped += !label->used;
  label_free(label);
}

static void drop_all(GstSemanticsAttachLabels *labels) {
  while (labels->queue.length > 0)
    drop_first(labels);
  labels->reached = GST_CLOCK_TIME_NONE;
}

void gst_semantics_attach_labels_init(GstSemanticsAttachLabels *labels) {
  g_mutex_init(&labels->lock);
  g_cond_init(&labels->changed);
  g_queue_init(&labels->queue);
  labels->stopped = TRUE;
  labels->reached = GST_CLOCK_TIME_NONE;
  gst_segment_init(&labels->segment, GST_FORMAT_UNDEFINED);
}

void gst_semantics_attach_labels_clear(GstSemanticsAttachLabels *labels) {
  drop_all(labels);
  g_cond_clear(&labels->changed);
  g_mutex_clear(&labels->lock);
}

GstPad *gst_semantics_attach_labels_add_pad(GstSemanticsAttachLabels *labels, GstElement *element,
                                            GstPadTemplate *template, GstPadChainFunction chain,
                                            GstPadEventFunction event) {
  GstPad *pad = gst_pad_new_from_template(template, "labels");
  gst_pad_set_chain_function(pad, chain);
  gst_pad_set_event_function(pad, event);
  g_mutex_lock(&labels->lock);
  const gboolean is_taken = labels->pad != NULL, is_active = !labels->stopped;
  if (!is_taken)
    labels->pad = pad;
  g_mutex_unlock(&labels->lock);
  if (is_taken) {
    gst_object_unref(gst_object_ref_sink(pad));
    return NULL;
  }
  if (is_active)
    gst_pad_set_active(pad, TRUE);
  gst_element_add_pad(element, pad);
  return pad;
}

void gst_semantics_attach_labels_remove_pad(GstSemanticsAttachLabels *labels, GstElement *element,
                                            GstPad *pad) {
  g_mutex_lock(&labels->lock);
  labels->pad = NULL;
  labels->flushing = TRUE; /* the thread of the labels may wait */
  g_cond_broadcast(&labels->changed);
  g_mutex_unlock(&labels->lock);
  gst_pad_set_active(pad, FALSE);
  g_mutex_lock(&labels->lock);
  drop_all(labels);
  labels->flushing = labels->ended = FALSE;
  g_mutex_unlock(&labels->lock);
  gst_element_remove_pad(element, pad);
}

void gst_semantics_attach_labels_set_stopped(GstSemanticsAttachLabels *labels, gboolean stopped) {
  g_mutex_lock(&labels->lock);
  labels->stopped = stopped;
  drop_all(labels);
  if (!stopped) {
    labels->flushing = labels->frames_flushing = labels->frames_ended = labels->ended = FALSE;
    labels->received = labels->dropped = 0;
  }
  g_cond_broadcast(&labels->changed);
  g_mutex_unlock(&labels->lock);
}

void gst_semantics_attach_labels_flush_frames(GstSemanticsAttachLabels *labels, gboolean flushing) {
  g_mutex_lock(&labels->lock);
  labels->frames_flushing = flushing;
  labels->frames_ended = FALSE;
  g_cond_broadcast(&labels->changed);
  g_mutex_unlock(&labels->lock);
}

void gst_semantics_attach_labels_end_frames(GstSemanticsAttachLabels *labels, gboolean ended) {
  g_mutex_lock(&labels->lock);
  labels->frames_ended = ended;
  g_cond_broadcast(&labels->changed);
  g_mutex_unlock(&labels->lock);
}

/* --- Frames ---------------------------------------------------------------------------------- */

static GstClockTime distance(const Label *label, GstClockTime time) {
  return label->time > time ? label->time - time : time - label->time;
}

/* Drops labels that later ones are nearer than: what stays first is the nearest so far. */
static void approach(GstSemanticsAttachLabels *labels, GstClockTime time) {
  while (labels->queue.length > 1 && distance(g_queue_peek_nth(&labels->queue, 1), time) <=
                                         distance(g_queue_peek_head(&labels->queue), time)) {
    drop_first(labels);
    g_cond_broadcast(&labels->changed);
  }
}

/* TRUE when no nearer labels are to come. */
static gboolean is_decided(const GstSemanticsAttachLabels *labels, GstClockTime time) {
  return labels->stopped || labels->frames_flushing || labels->ended || !labels->pad ||
         !gst_pad_is_linked(labels->pad) ||
         (GST_CLOCK_TIME_IS_VALID(labels->reached) && labels->reached >= time);
}

GstSemanticsAttachMatch gst_semantics_attach_labels_find(GstSemanticsAttachLabels *labels,
                                                         GstClockTime time, GstClockTime skew,
                                                         GstClockTime patience,
                                                         RvMetaSemantics *meta) {
  GstSemanticsAttachMatch match = GST_SEMANTICS_ATTACH_NONE;
  const gint64 until = GST_CLOCK_TIME_IS_VALID(patience)
                           ? g_get_monotonic_time() + (gint64)(patience / GST_USECOND)
                           : G_MAXINT64;
  gboolean late = FALSE;
  g_mutex_lock(&labels->lock);
  approach(labels, time);
  while (!is_decided(labels, time) && !late) {
    if (until == G_MAXINT64)
      g_cond_wait(&labels->changed, &labels->lock);
    else
      late = !g_cond_wait_until(&labels->changed, &labels->lock, until);
    approach(labels, time);
  }
  Label *first = g_queue_peek_head(&labels->queue);
  if (labels->stopped || labels->frames_flushing) {
    match = GST_SEMANTICS_ATTACH_FLUSHING;
  } else if (first && distance(first, time) <= skew) {
    *meta = first->meta;
    gst_buffer_ref(meta->payload);
    first->used = TRUE;
    match = GST_SEMANTICS_ATTACH_FOUND;
  } else if (late || labels->ended) {
    match = late ? GST_SEMANTICS_ATTACH_LATE : GST_SEMANTICS_ATTACH_ENDED;
  }
  g_mutex_unlock(&labels->lock);
  return match;
}

/* --- Labels ---------------------------------------------------------------------------------- */

/* Labels of a GRAY8 frame. */
static gboolean read_gray(GstSemanticsAttachLabels *labels, GstBuffer *buffer,
                          RvMetaSemantics *meta) {
  GstVideoFrame frame;
  g_mutex_lock(&labels->lock);
  const GstSemanticsAttachClasses classes = labels->classes;
  g_mutex_unlock(&labels->lock);
  if (!gst_video_frame_map(&frame, &labels->info, buffer, GST_MAP_READ))
    return FALSE;
  const int width = GST_VIDEO_FRAME_WIDTH(&frame), height = GST_VIDEO_FRAME_HEIGHT(&frame);
  *meta = (RvMetaSemantics){width,
                            height,
                            classes.count,
                            width,
                            height,
                            RV_SEMANTICS_LABELS,
                            gst_semantics_attach_raster(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                                                        GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
                                                        width, height, &classes)};
  gst_video_frame_unmap(&frame);
  return meta->payload != NULL;
}

/* Labels of a frame of the pad; its annotation takes precedence over its values. */
static gboolean read_labels(GstSemanticsAttachLabels *labels, GstElement *element,
                            GstBuffer *buffer, RvMetaSemantics *meta) {
  GError *error = NULL;
  if (rv_meta_get_semantics(buffer, meta)) {
    gst_buffer_ref(meta->payload);
    return TRUE;
  }
  rv_meta_check(buffer, RV_META_SEMANTICS, &error);
  if (!error && labels->is_gray && read_gray(labels, buffer, meta))
    return TRUE;
  if (!labels->warned)
    GST_ELEMENT_WARNING(element, STREAM, FORMAT,
                        ("A frame of the pad labels has no labels%s%s.", error ? ": " : "",
                         error ? error->message : ""),
                        ("Send GRAY8 frames in system memory whose values are labels, or frames "
                         "with RvSemanticsMeta."));
  labels->warned = TRUE;
  g_clear_error(&error);
  return FALSE;
}

/* Notes that labels up to `time` have come; frames wait for that. Under the lock. */
static void reach(GstSemanticsAttachLabels *labels, GstClockTime time) {
  if (!GST_CLOCK_TIME_IS_VALID(labels->reached) || time > labels->reached)
    labels->reached = time;
  g_cond_broadcast(&labels->changed);
}

static GstFlowReturn enqueue(GstSemanticsAttachLabels *labels, Label *label) {
  GstFlowReturn flow = GST_FLOW_OK;
  g_mutex_lock(&labels->lock);
  labels->received++;
  const Label *last = g_queue_peek_tail(&labels->queue);
  if ((last && label->time < last->time) ||
      (GST_CLOCK_TIME_IS_VALID(labels->reached) && label->time < labels->reached))
    drop_all(labels); /* time went back: what waits belongs to another time line */
  while (labels->queue.length >= GST_SEMANTICS_ATTACH_QUEUE && !labels->stopped &&
         !labels->flushing && !labels->frames_ended)
    g_cond_wait(&labels->changed, &labels->lock);
  if (labels->stopped || labels->flushing)
    flow = GST_FLOW_FLUSHING;
  else if (labels->frames_ended)
    flow = GST_FLOW_EOS;
  if (flow == GST_FLOW_OK) {
    g_queue_push_tail(&labels->queue, label);
    reach(labels, label->time);
  } else {
    label_free(label);
  }
  g_mutex_unlock(&labels->lock);
  return flow;
}

GstFlowReturn gst_semantics_attach_labels_chain(GstSemanticsAttachLabels *labels,
                                                GstElement *element, GstBuffer *buffer) {
  const GstClockTime time =
      labels->segment.format == GST_FORMAT_TIME
          ? gst_segment_to_running_time(&labels->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  const gboolean empty = gst_buffer_get_size(buffer) == 0;
  GstFlowReturn flow = GST_FLOW_OK;
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) {
    GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("A frame of the pad labels has no time stamp."),
                      ("Labels are matched by time: set do-timestamp=true on their source."));
    flow = GST_FLOW_ERROR;
  } else if (GST_CLOCK_TIME_IS_VALID(time)) {
    Label *label = g_new0(Label, 1);
    label->time = time;
    if (!empty && read_labels(labels, element, buffer, &label->meta)) {
      flow = enqueue(labels, label);
    } else {
      g_free(label);
      g_mutex_lock(&labels->lock);
      labels->received += !empty;
      labels->dropped += !empty;
      reach(labels, time);
      g_mutex_unlock(&labels->lock);
    }
  }
  gst_buffer_unref(buffer);
  return flow;
}

static void set_caps(GstSemanticsAttachLabels *labels, GstCaps *caps) {
  const GstCapsFeatures *features = gst_caps_get_features(caps, 0);
  labels->is_gray = gst_video_info_from_caps(&labels->info, caps) &&
                    GST_VIDEO_INFO_FORMAT(&labels->info) == GST_VIDEO_FORMAT_GRAY8 &&
                    gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

/* Labels before the end of a GAP event have come. */
static void pass_gap(GstSemanticsAttachLabels *labels, GstEvent *event) {
  GstClockTime begin, duration;
  gst_event_parse_gap(event, &begin, &duration);
  if (labels->segment.format != GST_FORMAT_TIME)
    return;
  const GstClockTime end = GST_CLOCK_TIME_IS_VALID(duration) ? begin + duration : begin;
  const GstClockTime time = gst_segment_to_running_time(&labels->segment, GST_FORMAT_TIME, end);
  if (GST_CLOCK_TIME_IS_VALID(time))
    reach(labels, time);
}

gboolean gst_semantics_attach_labels_event(GstSemanticsAttachLabels *labels, GstElement *element,
                                           GstEvent *event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  GstCaps *caps = NULL;
  g_mutex_lock(&labels->lock);
  switch (type) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps(event, &caps);
    set_caps(labels, caps);
    break;
  case GST_EVENT_SEGMENT:
    gst_event_copy_segment(event, &labels->segment);
    break;
  case GST_EVENT_STREAM_START:
    labels->ended = labels->warned = FALSE;
    break;
  case GST_EVENT_GAP:
    pass_gap(labels, event);
    break;
  case GST_EVENT_EOS:
    labels->ended = TRUE;
    break;
  case GST_EVENT_FLUSH_START:
    labels->flushing = TRUE;
    break;
  case GST_EVENT_FLUSH_STOP:
    drop_all(labels);
    labels->flushing = labels->ended = FALSE;
    gst_segment_init(&labels->segment, GST_FORMAT_UNDEFINED);
    break;
  default:
    break;
  }
  g_cond_broadcast(&labels->changed);
  const gboolean timed = type != GST_EVENT_SEGMENT || labels->segment.format == GST_FORMAT_TIME;
  g_mutex_unlock(&labels->lock);
  if (!timed)
    GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("The segment of the pad labels is not in time."),
                      ("Set format=time on appsrc, or insert a parser or decoder upstream."));
  gst_event_unref(event);
  return timed;
}
