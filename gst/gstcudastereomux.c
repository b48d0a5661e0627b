/* SPDX-License-Identifier: MIT */
/* gstcudastereomux.c: element cudastereomux: properties, pads, events and queries. */

/**
 * SECTION:element-cudastereomux
 * @title: cudastereomux
 * @short_description: Pairs two cameras into one frame-packed stereo stream
 *
 * Pairs the frames of two cameras by their time stamps and packs them side by side (or top-bottom)
 * into one buffer, as cudarectify and cudasgm accept it. Frames in CUDA memory stay on the GPU.
 *
 * A frame waits until the other camera has sent a frame too. Two frames that are at most `max-skew`
 * apart become a pair; otherwise the older one is dropped and counted. No frame is dropped by a
 * deadline, so a camera that delivers late loses nothing. Every pair has an RvPairMeta with the
 * skew and both time stamps; the time stamp of the pair is that of the left frame.
 *
 * Both pads need the same size, format, memory and colorimetry.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 cudastereomux name=m ! cudarectify calibration=camera.yml ! cudasgm !
 *   cudaannotate ! videoconvert ! autovideosink
 *   v4l2src device=/dev/video0 ! video/x-raw,width=640,height=480,framerate=30/1 !
 *   queue leaky=downstream max-size-buffers=2 ! m.left
 *   v4l2src device=/dev/video2 ! video/x-raw,width=640,height=480,framerate=30/1 !
 *   queue leaky=downstream max-size-buffers=2 ! m.right
 * ]| Two calibrated UVC cameras.
 * |[
 * gst-launch-1.0 cudastereomux name=m pair-by=reference ! cudasgm ! fakesink
 *   rtspsrc location=rtsp://left add-reference-timestamp-meta=true ! decodebin ! m.left
 *   rtspsrc location=rtsp://right add-reference-timestamp-meta=true ! decodebin ! m.right
 * ]| Two network cameras, paired by their own clocks (NTP).
 *
 * Since: 0.1
 */
#include "gstcudastereomux_private.h"

#include "common/gstrvcaps.h"
#include "common/gstrvsettings.h"
#include "common/gstrvtransform.h"

GST_DEBUG_CATEGORY(gst_cuda_stereo_mux_debug);
#define GST_CAT_DEFAULT gst_cuda_stereo_mux_debug

#define LEFT GST_CUDA_STEREO_MUX_LEFT
#define RIGHT GST_CUDA_STEREO_MUX_RIGHT

#define parent_class gst_cuda_stereo_mux_parent_class
G_DEFINE_TYPE(GstCudaStereoMux, gst_cuda_stereo_mux, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(cudastereomux, "cudastereomux", GST_RANK_NONE, GST_TYPE_CUDA_STEREO_MUX)

/* --- Properties ------------------------------------------------------------------------------ */

typedef GstCudaStereoMuxSettings Settings; /* of the rows */

static const RvParam own[] = {
    GST_RV_UINT64("max-skew", max_skew, 0, G_MAXINT64, 0, 0, "ns", "0 = half a frame + 1 ms",
                  "Maximum time difference of a pair; at most half a frame + 1 ms is used"),
    GST_RV_UINT64("stall-time", stall_time, 0, G_MAXINT64, GST_SECOND, 0, "ns", "0 = never",
                  "Time without frames of one live camera after which it counts as stalled"),
    GST_RV_ENUM(
        "pair-by", pair_by,
        GST_RV_VALUES(
            {GST_CUDA_STEREO_MUX_PAIR_BY_AUTO, "auto",
             "reference time stamps if both frames have one of the same clock, else running time"},
            {GST_CUDA_STEREO_MUX_PAIR_BY_RUNNING_TIME, "running-time",
             "running time of the pipeline"},
            {GST_CUDA_STEREO_MUX_PAIR_BY_REFERENCE, "reference",
             "reference time stamps (GstReferenceTimestampMeta); frames without one are dropped"}),
        GST_CUDA_STEREO_MUX_PAIR_BY_AUTO, 0, NULL, NULL, "Time stamps that are compared"),
    GST_RV_ENUM("layout", layout,
                GST_RV_VALUES({GST_CUDA_STEREO_MUX_SIDE_BY_SIDE, "side-by-side", "left | right"},
                              {GST_CUDA_STEREO_MUX_TOP_BOTTOM, "top-bottom", "left above right"}),
                GST_CUDA_STEREO_MUX_SIDE_BY_SIDE, 0, NULL, NULL, "Packing of the two views"),
    GST_RV_ENUM("eos", eos,
                GST_RV_VALUES({GST_CUDA_STEREO_MUX_EOS_ANY, "any", "when one camera has ended"},
                              {GST_CUDA_STEREO_MUX_EOS_ALL, "all",
                               "when both have ended; one may come back"}),
                GST_CUDA_STEREO_MUX_EOS_ANY, 0, NULL, NULL, "When the output ends"),
    GST_RV_BOOL("post-messages", post_messages, 0, 0, NULL, NULL,
                "Post an element message per pair: skew and both time stamps"),
};
static const GstRvSettings settings =
    GST_RV_SETTINGS_OWN(GstCudaStereoMux, GstCudaStereoMuxSettings, own, NULL);

/* Behind those of the table. */
enum { PROP_RIGHT_OFFSET = G_N_ELEMENTS(own) + 1, PROP_STATS };

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  if (id != PROP_RIGHT_OFFSET) {
    gst_rv_settings_set_property(object, id, value, spec);
    return;
  }
  GST_OBJECT_LOCK(object);
  GST_CUDA_STEREO_MUX(object)->settings.right_offset = g_value_get_int64(value);
  GST_OBJECT_UNLOCK(object);
}

/* A copy, so that sorting needs no lock. */
static GstStructure *get_stats(GstCudaStereoMux *self) {
  GstCudaStereoMuxStats *stats = g_new(GstCudaStereoMuxStats, 1);
  GST_OBJECT_LOCK(self);
  *stats = self->stats;
  const GstCudaStereoMuxView *view = &self->side[LEFT].view;
  const char *memory = !view->caps ? "none" : view->cuda ? "cuda" : "system";
  GST_OBJECT_UNLOCK(self);
  GstStructure *result = gst_cuda_stereo_mux_stats_new(stats, memory);
  g_free(stats);
  return result;
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  if (id == PROP_STATS) {
    g_value_take_boxed(value, get_stats(GST_CUDA_STEREO_MUX(object)));
  } else if (id == PROP_RIGHT_OFFSET) {
    GST_OBJECT_LOCK(object);
    g_value_set_int64(value, GST_CUDA_STEREO_MUX(object)->settings.right_offset);
    GST_OBJECT_UNLOCK(object);
  } else {
    gst_rv_settings_get_property(object, id, value, spec);
  }
}

static void install_properties(GObjectClass *object) {
  gst_rv_settings_install(&settings, object);
  g_object_class_install_property(
      object, PROP_RIGHT_OFFSET,
      g_param_spec_int64("right-offset", "Right offset",
                         "Constant added to the time stamps of the right camera (ns)", G_MININT64,
                         G_MAXINT64, 0,
                         G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Counts of pairs and dropped frames; skew and added latency (µs) over the "
                         "last 512 pairs; measured rates (frames/s)",
                         GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* --- Pads ------------------------------------------------------------------------------------ */

static GstCudaStereoMuxSide *side_of(GstCudaStereoMux *self, const GstAggregatorPad *pad) {
  return &self->side[pad == self->side[LEFT].pad ? LEFT : RIGHT];
}

/* Notes when each frame arrives, in the thread of the camera. */
static GstPadProbeReturn on_arrival(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  GstCudaStereoMux *self = user;
  GstCudaStereoMuxSide *side = side_of(self, GST_AGGREGATOR_PAD_CAST(pad));
  const GstCudaStereoMuxArrival arrival = {GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)),
                                           g_get_monotonic_time()};
  GST_OBJECT_LOCK(self);
  side->arrivals[side->arrived++ % GST_CUDA_STEREO_MUX_ARRIVALS] = arrival;
  GST_OBJECT_UNLOCK(self);
  return GST_PAD_PROBE_OK;
}

static void add_pad(GstCudaStereoMux *self, int index, const char *name) {
  GstElementClass *klass = GST_ELEMENT_GET_CLASS(self);
  GstCudaStereoMuxSide *side = &self->side[index];
  side->name = name;
  side->pad = g_object_new(GST_TYPE_AGGREGATOR_PAD, "name", name, "direction", GST_PAD_SINK,
                           "template", gst_element_class_get_pad_template(klass, name), NULL);
  gst_pad_add_probe(GST_PAD_CAST(side->pad), GST_PAD_PROBE_TYPE_BUFFER, on_arrival, self, NULL);
  gst_element_add_pad(GST_ELEMENT_CAST(self), GST_PAD_CAST(side->pad));
}

/* Stores the caps of one camera; they are used when a pair of that format is complete. */
static gboolean set_caps(GstCudaStereoMux *self, GstCudaStereoMuxSide *side, GstCaps *caps) {
  GstVideoInfo info;
  char *cause = NULL;
  const char *remedy = NULL;
  if (!gst_video_info_from_caps(&info, caps)) {
    GST_ERROR_OBJECT(side->pad, "no video: %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  if (self->failed || !gst_rv_caps_check_scan(GST_ELEMENT_CAST(self), &info, NULL)) {
    self->failed = TRUE; /* both cameras may have the same fault: it is posted once */
    return FALSE;
  }
  GST_OBJECT_LOCK(self);
  const GstCudaStereoMuxLayout layout = self->settings.layout;
  GST_OBJECT_UNLOCK(self);
  if (!gst_cuda_stereo_mux_check_view(&info, layout, &cause, &remedy)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: %s.", side->name, cause), ("%s", remedy));
    g_free(cause);
    self->failed = TRUE;
    return FALSE;
  }
  GST_OBJECT_LOCK(self);
  side->view.info = info;
  side->view.cuda = gst_rv_caps_are_cuda(caps);
  gst_caps_replace(&side->view.caps, caps);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean sink_event(GstAggregator *agg, GstAggregatorPad *pad, GstEvent *event) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(agg);
  GstCudaStereoMuxSide *side = side_of(self, pad);
  GstCaps *caps = NULL;
  const GstSegment *segment = NULL;
  gboolean done;
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps(event, &caps);
    done = set_caps(self, side, caps);
    gst_event_unref(event);
    return done;
  case GST_EVENT_SEGMENT:
    gst_event_parse_segment(event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      break;
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("The segment of %s is in %s, not in time.", side->name,
                       gst_format_get_name(segment->format)),
                      ("Set format=time on appsrc, or insert a parser or decoder upstream."));
    self->failed = TRUE;
    break;
  case GST_EVENT_GAP:
    if (pad->segment.format == GST_FORMAT_TIME)
      break;
    gst_event_unref(event); /* before the segment it has no meaning */
    return TRUE;
  case GST_EVENT_FLUSH_STOP:
    GST_OBJECT_LOCK(self);
    side->taken = side->arrived;
    GST_OBJECT_UNLOCK(self);
    break;
  default:
    break;
  }
  return GST_AGGREGATOR_CLASS(parent_class)->sink_event(agg, pad, event);
}

static gboolean src_event(GstAggregator *agg, GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_LATENCY) {
    GST_OBJECT_LOCK(agg);
    gst_event_parse_latency(event, &GST_CUDA_STEREO_MUX(agg)->latency);
    GST_OBJECT_UNLOCK(agg);
  }
  return GST_AGGREGATOR_CLASS(parent_class)->src_event(agg, event);
}

/* --- Queries --------------------------------------------------------------------------------- */

static void answer_caps(GstCudaStereoMux *self, GstAggregatorPad *pad, GstQuery *query) {
  GstCudaStereoMuxSide *other = &self->side[pad == self->side[LEFT].pad ? RIGHT : LEFT];
  GstCaps *filter = NULL;
  gst_query_parse_caps(query, &filter);
  GST_OBJECT_LOCK(self);
  GstCaps *known = other->view.caps ? gst_caps_ref(other->view.caps) : NULL;
  const GstCudaStereoMuxLayout layout = self->settings.layout;
  GST_OBJECT_UNLOCK(self);
  if (!known)
    known = gst_pad_peer_query_caps(GST_PAD_CAST(other->pad), NULL);
  GstCaps *template = gst_pad_get_pad_template_caps(GST_PAD_CAST(pad));
  GstCaps *packed = gst_pad_peer_query_caps(GST_AGGREGATOR_SRC_PAD(self), NULL);
  GstCaps *caps = gst_cuda_stereo_mux_view_caps(template, packed, known, layout);
  if (filter) {
    GstCaps *both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    caps = both;
  }
  gst_query_set_caps_result(query, caps);
  gst_rv_caps_prefer_cuda(GST_OBJECT_CAST(pad), query);
  gst_caps_unref(caps);
  gst_caps_unref(packed);
  gst_caps_unref(template);
  gst_caps_unref(known);
}

static gboolean sink_query(GstAggregator *agg, GstAggregatorPad *pad, GstQuery *query) {
  GstCaps *caps = NULL, *template;
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_CAPS:
    answer_caps(GST_CUDA_STEREO_MUX(agg), pad, query);
    return TRUE;
  case GST_QUERY_ACCEPT_CAPS: /* the rest is checked where an error can state the cause */
    gst_query_parse_accept_caps(query, &caps);
    template = gst_pad_get_pad_template_caps(GST_PAD_CAST(pad));
    gst_query_set_accept_caps_result(query, gst_caps_can_intersect(caps, template));
    gst_caps_unref(template);
    return TRUE;
  default:
    return GST_AGGREGATOR_CLASS(parent_class)->sink_query(agg, pad, query);
  }
}

static gboolean propose_allocation(GstAggregator *agg, GstAggregatorPad *pad, GstQuery *decide,
                                   GstQuery *query) {
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* --- Life cycle ------------------------------------------------------------------------------ */

static gboolean start(GstAggregator *agg) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(agg);
  GST_OBJECT_LOCK(self);
  memset(&self->stats, 0, sizeof self->stats);
  self->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK(self);
  self->failed = self->paired = FALSE;
  self->frame_time = self->max_skew = 0;
  gst_cuda_stereo_mux_reset(self);
  return TRUE;
}

static gboolean stop(GstAggregator *agg) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(agg);
  gst_cuda_stereo_mux_drop_pending(self);
  gst_cuda_stereo_mux_close(self);
  gst_clear_caps(&self->packed_caps);
  GST_OBJECT_LOCK(self);
  for (int i = 0; i < 2; i++)
    gst_clear_caps(&self->side[i].view.caps);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

/* Both pads were flushed; the task stands still. */
static GstFlowReturn flush(GstAggregator *agg) {
  gst_cuda_stereo_mux_reset(GST_CUDA_STEREO_MUX(agg));
  return GST_FLOW_OK;
}

static void finalize(GObject *object) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(object);
  gst_rv_log_clear(&self->log);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void add_templates(GstElementClass *klass) {
  static const struct {
    const char *name;
    GstPadDirection direction;
  } pads[] = {{"left", GST_PAD_SINK}, {"right", GST_PAD_SINK}, {"src", GST_PAD_SRC}};
  char *text = gst_rv_transform_caps_string(TRUE, ", GRAY16_LE");
  GstCaps *caps = gst_caps_from_string(text);
  for (guint i = 0; i < G_N_ELEMENTS(pads); i++)
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new_with_gtype(pads[i].name, pads[i].direction, GST_PAD_ALWAYS,
                                               caps, GST_TYPE_AGGREGATOR_PAD));
  gst_caps_unref(caps);
  g_free(text);
}

static void gst_cuda_stereo_mux_class_init(GstCudaStereoMuxClass *klass) {
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstAggregatorClass *agg = GST_AGGREGATOR_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_stereo_mux_debug, "cudastereomux", 0, "pairing of two cameras");
  gst_rv_object_class_set(object, set_property, get_property, finalize);
  install_properties(object);
  add_templates(element);
  gst_rv_describe(element, "cudastereomux");
  agg->sink_event = sink_event;
  agg->src_event = src_event;
  agg->sink_query = sink_query;
  agg->propose_allocation = propose_allocation;
  agg->decide_allocation = gst_cuda_stereo_mux_decide_allocation;
  agg->update_src_caps = gst_cuda_stereo_mux_update_src_caps;
  agg->get_next_time = gst_cuda_stereo_mux_next_time;
  agg->aggregate = gst_cuda_stereo_mux_aggregate;
  agg->flush = flush;
  agg->start = start;
  agg->stop = stop;
}

static void gst_cuda_stereo_mux_init(GstCudaStereoMux *self) {
  gst_rv_settings_init(self, &settings);
  gst_rv_log_init(&self->log, GST_ELEMENT_CAST(self));
  add_pad(self, LEFT, "left");
  add_pad(self, RIGHT, "right");
}
