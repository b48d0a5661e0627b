/* SPDX-License-Identifier: MIT */
/* gstsemanticsattach.c: element semanticsattach: properties, frames, latency. */

/**
 * SECTION:element-semanticsattach
 * @title: semanticsattach
 * @short_description: Attaches semantic labels from images or a second stream
 *
 * Attaches the semantic class of each pixel to a frame (RvSemanticsMeta), as cudastixels reads it:
 * from numbered label images (`location`), or from a second stream on the request pad `labels`.
 * Both are matched by time, so lost frames and seeks do not shift them. Frames pass through
 * unchanged, in any memory.
 *
 * The pad `labels` takes GRAY8 frames whose values are labels, and frames of any format with
 * RvSemanticsMeta, such as those of a network that works on a copy of the stream.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 multifilesrc location=pair_%06d.png caps=image/png,framerate=10/1 ! pngdec !
 *   cudasgm ! semanticsattach location=labels_%06d.png classes=cityscapes ! cudastixels ! fakesink
 * ]| Stixels with the labels of a data set.
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! tee name=t
 *   t. ! queue ! semanticsattach name=s ! cudastixels ! cudaannotate ! autovideosink
 *   t. ! queue ! mynetwork ! video/x-raw,format=GRAY8 ! s.labels
 * ]| Labels of a network in another branch.
 *
 * Since: 0.1
 */
#include "gstsemanticsattach.h"

#include <string.h>

#include "common/gstrvlatency.h"
#include "common/gstrvfilter.h"
#include "common/gstrvsettings.h"
#include "gstsemanticsattach_images.h"
#include "gstsemanticsattach_labels.h"

GST_DEBUG_CATEGORY(gst_semantics_attach_debug);
#define GST_CAT_DEFAULT gst_semantics_attach_debug

#define ASPECT_TOLERANCE 0.02

typedef struct Settings {
  char *location, *classes;
  guint start_index;
  double rate;                /* label images per second */
  guint64 max_skew, max_wait; /* ns */
} Settings;

typedef struct Counts {
  guint64 frames, attached, unmatched, late, images;
} Counts;

/* Warnings that are posted once per start. */
enum {
  WARNED_MISSING = 1,
  WARNED_NO_SOURCE = 2,
  WARNED_ENDED = 4,
  WARNED_ASPECT = 8,
  WARNED_LATE = 16
};

struct _GstSemanticsAttach {
  GstBaseTransform parent;

  /* guarded by the object lock */
  Settings settings;
  Counts counts;
  GstRvLatency latency;
  gboolean live; /* what upstream answered to the last LATENCY query */

  gint changed; /* atomic: settings that are not in use yet */
  GstSemanticsAttachLabels labels;

  /* thread of the frames */
  Settings used;
  GstSemanticsAttachClasses classes;
  GstVideoInfo info;
  guint warned;
  gboolean knows_live, is_live;
  GstSemanticsAttachImage image;
};

G_DEFINE_TYPE(GstSemanticsAttach, gst_semantics_attach, GST_TYPE_BASE_TRANSFORM)
#define parent_class gst_semantics_attach_parent_class
GST_ELEMENT_REGISTER_DEFINE(semanticsattach, "semanticsattach", GST_RANK_NONE,
                            GST_TYPE_SEMANTICS_ATTACH)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw(ANY)"));
static GstStaticPadTemplate labels_template =
    GST_STATIC_PAD_TEMPLATE("labels", GST_PAD_SINK, GST_PAD_REQUEST,
                            GST_STATIC_CAPS("video/x-raw, format=GRAY8; video/x-raw(ANY)"));

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParam own[] = {
    GST_RV_TEXT("location", location, "empty = the pad labels",
                "Pattern of label images (labels/%06d.png: PNG, gray or palette, at most 8 bits)"),
    GST_RV_UINT("start-index", start_index, 0, G_MAXINT32, 0, 0, NULL, NULL,
                "Number of the label image of stream time 0"),
    GST_RV_DOUBLE("image-rate", rate, 0, 1000, 0, 0, "1/s", "0 = frame rate of the caps",
                  "Label images per second of stream time"),
    GST_RV_TEXT("classes", classes, "empty = values are classes",
                "Class of each label value: VALUE:CLASS,FIRST-LAST:CLASS,..., or cityscapes (label "
                "ids of Cityscapes and KITTI); other values have no class"),
    GST_RV_UINT64("max-skew", max_skew, 0, G_MAXINT64, 0, 0, "ns", "0 = half a frame",
                  "Maximum time difference of a frame and its labels, of the pad labels"),
    GST_RV_UINT64("max-wait", max_wait, 0, G_MAXINT64, 500 * GST_MSECOND, 0, "ns", NULL,
                  "Maximum time that a live frame waits for its labels"),
};

static void on_changed(GObject *object, const char *name) {
  g_atomic_int_set(&GST_SEMANTICS_ATTACH(object)->changed, 1);
}

static const GstRvSettings settings =
    GST_RV_SETTINGS_OWN(GstSemanticsAttach, Settings, own, on_changed);

enum { PROP_STATS = G_N_ELEMENTS(own) + 1 };

static GstStructure *get_stats(GstSemanticsAttach *self) {
  g_mutex_lock(&self->labels.lock);
  const guint64 received = self->labels.received, dropped = self->labels.dropped;
  g_mutex_unlock(&self->labels.lock);
  GST_OBJECT_LOCK(self);
  const Counts counts = self->counts;
  const double latency = (double)self->latency.reported / GST_USECOND;
  GST_OBJECT_UNLOCK(self);
  return gst_structure_new(
      "stats", "frames", G_TYPE_UINT64, counts.frames, "attached", G_TYPE_UINT64, counts.attached,
      "unmatched", G_TYPE_UINT64, counts.unmatched, "late", G_TYPE_UINT64, counts.late, "images",
      G_TYPE_UINT64, counts.images, "labels", G_TYPE_UINT64, received, "labels-dropped",
      G_TYPE_UINT64, dropped, "latency-us", G_TYPE_DOUBLE, latency, NULL);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  if (id == PROP_STATS)
    g_value_take_boxed(value, get_stats(GST_SEMANTICS_ATTACH(object)));
  else
    gst_rv_settings_get_property(object, id, value, spec);
}

static gboolean is_set(const char *text) {
  return text && *text;
}

static void settings_copy(Settings *to, const Settings *from) {
  g_free(to->location);
  g_free(to->classes);
  *to = *from;
  to->location = g_strdup(from->location);
  to->classes = g_strdup(from->classes);
}

/* Puts new settings to use; FALSE and error when they are invalid. */
static gboolean use_settings(GstSemanticsAttach *self, GError **error) {
  Settings tried = {.location = NULL};
  g_atomic_int_set(&self->changed, 0);
  GST_OBJECT_LOCK(self);
  settings_copy(&tried, &self->settings);
  GST_OBJECT_UNLOCK(self);
  GstSemanticsAttachClasses classes;
  char *path = NULL;
  const gboolean valid =
      gst_semantics_attach_classes_parse(tried.classes, &classes, error) &&
      (!is_set(tried.location) ||
       (path = gst_semantics_attach_path(tried.location, tried.start_index, error)));
  if (valid) {
    settings_copy(&self->used, &tried);
    self->classes = classes;
    gst_semantics_attach_image_forget(&self->image);
    g_mutex_lock(&self->labels.lock);
    self->labels.classes = classes;
    g_mutex_unlock(&self->labels.lock);
  }
  g_free(path);
  g_free(tried.location);
  g_free(tried.classes);
  return valid;
}

/* Settings that are invalid while PLAYING do not stay. */
static void follow_settings(GstSemanticsAttach *self) {
  GError *error = NULL;
  if (!g_atomic_int_get(&self->changed) || use_settings(self, &error))
    return;
  GST_OBJECT_LOCK(self);
  settings_copy(&self->settings, &self->used);
  GST_OBJECT_UNLOCK(self);
  GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("%s", error->message),
                      ("The previous settings remain in use."));
  g_clear_error(&error);
}

static gboolean warn_once(GstSemanticsAttach *self, guint bit) {
  const gboolean first = !(self->warned & bit);
  self->warned |= bit;
  return first;
}

/* --- Label images ---------------------------------------------------------------------------- */

/* The number of the image at the time of a frame; FALSE when it is unknown. */
static gboolean image_number(GstSemanticsAttach *self, GstBuffer *buffer, guint64 *number) {
  const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
  const GstClockTime time =
      segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer)
          ? gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  double rate = self->used.rate;
  if (rate == 0 && GST_VIDEO_INFO_FPS_D(&self->info) > 0)
    rate = (double)GST_VIDEO_INFO_FPS_N(&self->info) / GST_VIDEO_INFO_FPS_D(&self->info);
  if (!GST_CLOCK_TIME_IS_VALID(time) || rate == 0)
    return FALSE;
  *number = self->used.start_index + (guint64)((double)time / GST_SECOND * rate + 0.5);
  return TRUE;
}

static void warn_missing(GstSemanticsAttach *self, const char *message) {
  if (warn_once(self, WARNED_MISSING))
    GST_ELEMENT_WARNING(
        self, RESOURCE, NOT_FOUND, ("%s", message),
        ("The frame passes without labels. The first image is number start-index, "
         "and image-rate images belong to each second: check these, and location."));
}

/* Reads the image of a frame, unless it is that of the previous frame. */
static gboolean find_image(GstSemanticsAttach *self, GstBuffer *buffer, RvMetaSemantics *meta) {
  guint64 number = 0;
  if (!image_number(self, buffer, &number)) {
    warn_missing(self, "The label image of a frame is unknown: it has no time, or the caps have no "
                       "frame rate and image-rate is not set.");
    return FALSE;
  }
  GError *error = NULL;
  gboolean fresh = FALSE;
  const gboolean found = gst_semantics_attach_image_get(&self->image, self->used.location, number,
                                                        &self->classes, meta, &fresh, &error);
  if (error)
    warn_missing(self, error->message);
  g_clear_error(&error);
  GST_OBJECT_LOCK(self);
  self->counts.images += fresh;
  GST_OBJECT_UNLOCK(self);
  return found;
}

/* --- The pad labels -------------------------------------------------------------------------- */

static GstClockTime half_a_frame(const GstSemanticsAttach *self) {
  const guint64 n = (guint64)GST_VIDEO_INFO_FPS_N(&self->info);
  return n ? gst_util_uint64_scale(GST_SECOND, (guint64)GST_VIDEO_INFO_FPS_D(&self->info), 2 * n)
           : GST_SECOND / 60;
}

static void ask_live(GstSemanticsAttach *self) {
  GstQuery *query = gst_query_new_latency();
  self->is_live = FALSE;
  if (gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query))
    gst_query_parse_latency(query, &self->is_live, NULL, NULL);
  gst_query_unref(query);
  self->knows_live = TRUE;
}

/* Frames wait for their labels; what that takes is reported as latency. */
static void add_wait(GstSemanticsAttach *self, gint64 us) {
  GST_OBJECT_LOCK(self);
  const gboolean changed =
      gst_rv_latency_add(&self->latency, us, g_get_monotonic_time()) && self->live;
  GST_OBJECT_UNLOCK(self);
  if (changed)
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static void explain(GstSemanticsAttach *self, GstSemanticsAttachMatch match) {
  if (match == GST_SEMANTICS_ATTACH_ENDED && warn_once(self, WARNED_ENDED))
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("The labels have ended; frames after them have none."), (NULL));
  if (match == GST_SEMANTICS_ATTACH_LATE && warn_once(self, WARNED_LATE))
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("The labels of a frame did not come within %.0f ms; it has none.",
                         (double)self->used.max_wait / GST_MSECOND),
                        ("Raise max-wait, or use a faster network. The queue of the frames must "
                         "hold all frames that wait."));
}

static GstSemanticsAttachMatch find_labels(GstSemanticsAttach *self, GstBuffer *buffer,
                                           RvMetaSemantics *meta) {
  const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
  const GstClockTime time =
      segment->format == GST_FORMAT_TIME
          ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  if (!GST_CLOCK_TIME_IS_VALID(time))
    return GST_SEMANTICS_ATTACH_NONE;
  if (!self->knows_live)
    ask_live(self);
  const gint64 begin = g_get_monotonic_time();
  const GstSemanticsAttachMatch match = gst_semantics_attach_labels_find(
      &self->labels, time, self->used.max_skew ? self->used.max_skew : half_a_frame(self),
      self->is_live ? self->used.max_wait : GST_CLOCK_TIME_NONE, meta);
  add_wait(self, g_get_monotonic_time() - begin);
  explain(self, match);
  GST_OBJECT_LOCK(self);
  self->counts.late += match == GST_SEMANTICS_ATTACH_LATE;
  GST_OBJECT_UNLOCK(self);
  return match;
}

static GstFlowReturn labels_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer) {
  return gst_semantics_attach_labels_chain(&GST_SEMANTICS_ATTACH(parent)->labels,
                                           GST_ELEMENT(parent), buffer);
}

static gboolean labels_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  return gst_semantics_attach_labels_event(&GST_SEMANTICS_ATTACH(parent)->labels,
                                           GST_ELEMENT(parent), event);
}

static GstPad *request_pad(GstElement *element, GstPadTemplate *template, const char *name,
                           const GstCaps *caps) {
  return gst_semantics_attach_labels_add_pad(&GST_SEMANTICS_ATTACH(element)->labels, element,
                                             template, labels_chain, labels_event);
}

static void release_pad(GstElement *element, GstPad *pad) {
  gst_semantics_attach_labels_remove_pad(&GST_SEMANTICS_ATTACH(element)->labels, element, pad);
}

/* --- Frames ---------------------------------------------------------------------------------- */

static gboolean has_pad(GstSemanticsAttach *self) {
  g_mutex_lock(&self->labels.lock);
  const gboolean has = self->labels.pad != NULL;
  g_mutex_unlock(&self->labels.lock);
  return has;
}

/* A map of another size is read at the nearest pixel, but one of another shape fits nowhere. */
static void check_aspect(GstSemanticsAttach *self, const RvMetaSemantics *meta) {
  const double w = GST_VIDEO_INFO_WIDTH(&self->info), h = GST_VIDEO_INFO_HEIGHT(&self->info);
  const double ratio = meta->map_width * h / (meta->map_height * w);
  if (ABS(ratio - 1) > ASPECT_TOLERANCE && warn_once(self, WARNED_ASPECT))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The labels have another shape (%dx%d) than the frames (%.0fx%.0f); they "
                         "are stretched.",
                         meta->map_width, meta->map_height, w, h),
                        ("Use labels of the complete left image, downstream of cudasgm."));
}

static GstFlowReturn transform_ip(GstBaseTransform *transform, GstBuffer *buffer) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(transform);
  if (gst_buffer_get_size(buffer) == 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP))
    return GST_FLOW_OK; /* no frame */
  follow_settings(self);
  RvMetaSemantics meta = {0};
  gboolean found = FALSE;
  if (is_set(self->used.location)) {
    found = find_image(self, buffer, &meta);
  } else if (has_pad(self)) {
    const GstSemanticsAttachMatch match = find_labels(self, buffer, &meta);
    if (match == GST_SEMANTICS_ATTACH_FLUSHING)
      return GST_FLOW_FLUSHING;
    found = match == GST_SEMANTICS_ATTACH_FOUND;
  } else if (warn_once(self, WARNED_NO_SOURCE)) {
    GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("There are no labels to attach."),
                        ("Set location to label images, or link labels to the pad labels."));
  }
  if (found) {
    check_aspect(self, &meta);
    meta.width = GST_VIDEO_INFO_WIDTH(&self->info);
    meta.height = GST_VIDEO_INFO_HEIGHT(&self->info);
    found = rv_meta_add_semantics(buffer, &meta) != NULL;
  }
  GST_OBJECT_LOCK(self);
  self->counts.frames++;
  *(found ? &self->counts.attached : &self->counts.unmatched) += 1;
  GST_OBJECT_UNLOCK(self);
  return GST_FLOW_OK;
}

/* The memory of a buffer that others hold too is shared: only the annotation is new. */
static GstFlowReturn prepare_output_buffer(GstBaseTransform *transform, GstBuffer *in,
                                           GstBuffer **out) {
  *out = gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
  return GST_FLOW_OK;
}

static gboolean set_caps(GstBaseTransform *transform, GstCaps *in, GstCaps *out) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(transform);
  return gst_video_info_from_caps(&self->info, in);
}

/* Upstream gets downstream's pools: the frames are not touched. */
static gboolean propose_allocation(GstBaseTransform *transform, GstQuery *decide, GstQuery *query) {
  return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(transform), query);
}

/* No pool: output buffers are input buffers. */
static gboolean decide_allocation(GstBaseTransform *transform, GstQuery *query) {
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  return TRUE;
}

static gboolean sink_event(GstBaseTransform *transform, GstEvent *event) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(transform);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_EOS:
    gst_semantics_attach_labels_end_frames(&self->labels, TRUE);
    break;
  case GST_EVENT_STREAM_START:
    gst_semantics_attach_labels_end_frames(&self->labels, FALSE);
    self->knows_live = FALSE;
    break;
  case GST_EVENT_FLUSH_START:
    gst_semantics_attach_labels_flush_frames(&self->labels, TRUE);
    break;
  case GST_EVENT_FLUSH_STOP:
    gst_semantics_attach_labels_flush_frames(&self->labels, FALSE);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(transform, event);
}

/* Seeks concern both streams. (Sources that both come from ignore the second of two equal ones.) */
static gboolean src_event(GstBaseTransform *transform, GstEvent *event) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(transform);
  g_mutex_lock(&self->labels.lock);
  GstPad *pad = GST_EVENT_TYPE(event) == GST_EVENT_SEEK && self->labels.pad
                    ? gst_object_ref(self->labels.pad)
                    : NULL;
  g_mutex_unlock(&self->labels.lock);
  if (pad) {
    gst_pad_push_event(pad, gst_event_ref(event));
    gst_object_unref(pad);
  }
  return GST_BASE_TRANSFORM_CLASS(parent_class)->src_event(transform, event);
}

static gboolean answer_query(GstBaseTransform *transform, GstPadDirection direction,
                             GstQuery *query) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(transform);
  if (!GST_BASE_TRANSFORM_CLASS(parent_class)->query(transform, direction, query))
    return FALSE;
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY || direction != GST_PAD_SRC)
    return TRUE;
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  GST_OBJECT_LOCK(self);
  self->live = live;
  const GstClockTime wait = live ? self->latency.reported : 0;
  GST_OBJECT_UNLOCK(self);
  gst_query_set_latency(query, live, min + wait,
                        GST_CLOCK_TIME_IS_VALID(max) ? max + wait : GST_CLOCK_TIME_NONE);
  return TRUE;
}

/* --- Life cycle ------------------------------------------------------------------------------ */

static gboolean start(GstBaseTransform *transform) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(transform);
  GError *error = NULL;
  self->warned = 0;
  self->knows_live = FALSE;
  GST_OBJECT_LOCK(self);
  memset(&self->counts, 0, sizeof self->counts);
  memset(&self->latency, 0, sizeof self->latency);
  gst_rv_latency_restart(&self->latency);
  const gboolean two = is_set(self->settings.location);
  GST_OBJECT_UNLOCK(self);
  gboolean valid = use_settings(self, &error);
  if (valid && two && has_pad(self)) {
    g_set_error_literal(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                        "There are two sources of labels: location is set and the pad labels is "
                        "requested.");
    valid = FALSE;
  }
  if (!valid)
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  g_clear_error(&error);
  return valid;
}

static gboolean stop(GstBaseTransform *transform) {
  gst_semantics_attach_image_forget(&GST_SEMANTICS_ATTACH(transform)->image);
  return TRUE;
}

/* Before the pads are deactivated: both threads may wait. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    gst_semantics_attach_labels_set_stopped(&self->labels, FALSE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_semantics_attach_labels_set_stopped(&self->labels, TRUE);
  return GST_ELEMENT_CLASS(parent_class)->change_state(element, transition);
}

static void finalize(GObject *object) {
  GstSemanticsAttach *self = GST_SEMANTICS_ATTACH(object);
  gst_rv_settings_clear(self, &settings);
  gst_semantics_attach_labels_clear(&self->labels);
  g_free(self->used.location);
  g_free(self->used.classes);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_semantics_attach_class_init(GstSemanticsAttachClass *klass) {
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_semantics_attach_debug, "semanticsattach", 0, "semantic labels");
  object->finalize = finalize;
  object->get_property = get_property;
  gst_rv_settings_install(&settings, object);
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames, those with and without labels, images read, labels received and "
                         "never used, reported latency (µs)",
                         GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_rv_describe(element, "semanticsattach");
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &src_template);
  gst_element_class_add_static_pad_template(element, &labels_template);
  element->change_state = change_state;
  element->request_new_pad = request_pad;
  element->release_pad = release_pad;
  base->src_event = src_event;
  base->query = answer_query;
  base->decide_allocation = decide_allocation;
  base->prepare_output_buffer = prepare_output_buffer;
  gst_rv_filter_class_set(base, start, stop, set_caps, sink_event, propose_allocation,
                          transform_ip);
}

static void gst_semantics_attach_init(GstSemanticsAttach *self) {
  gst_rv_settings_init(self, &settings);
  gst_semantics_attach_labels_init(&self->labels);
  gst_rv_filter_init(GST_BASE_TRANSFORM(self));
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), FALSE);
}
