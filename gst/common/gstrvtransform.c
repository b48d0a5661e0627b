/* SPDX-License-Identifier: MIT */
/* gstrvtransform.c: the base class: properties, life cycle, processing of a frame. */
#include "gstrvtransform_private.h"

#include <string.h>

#include "gstrvcaps.h"

GST_DEBUG_CATEGORY(gst_rv_transform_debug);
#define GST_CAT_DEFAULT gst_rv_transform_category(self)

#define parent_class gst_rv_transform_parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(GstRvTransform, gst_rv_transform, GST_TYPE_BASE_TRANSFORM)

enum {
  PROP_0,
  PROP_ENGINE,
  PROP_THREADS,
  PROP_DEVICE,
  PROP_POST_MESSAGES,
  PROP_LATENCY_REPORT,
  PROP_STATS
};

#define THREADS_MAX 1024

GstDebugCategory *gst_rv_transform_category(GstRvTransform *self) {
  GstDebugCategory *category = GST_RV_TRANSFORM_GET_CLASS(self)->debug;
  return category ? category : gst_rv_transform_debug;
}

/* --- Properties ------------------------------------------------------------------------------ */

static GstStructure *stats(GstRvTransform *self) {
  const GstRvTransformPrivate *priv = self->priv;
  const double mean = priv->frames ? (double)priv->total_us / (double)priv->frames : 0.0;
  return gst_structure_new(
      "stats", "engine", G_TYPE_STRING, priv->running ? gst_rv_engine_name(priv->engine) : "none",
      "frames", G_TYPE_UINT64, priv->frames, "repeated", G_TYPE_UINT64, priv->repeated, "mean-us",
      G_TYPE_DOUBLE, mean, "last-us", G_TYPE_DOUBLE, (double)priv->last_us, "latency-us",
      G_TYPE_DOUBLE, (double)priv->latency.reported / GST_USECOND, NULL);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  GstRvTransform *self = GST_RV_TRANSFORM(object);
  GstRvTransformPrivate *priv = self->priv;
  gboolean changed = FALSE; /* of the latency */
  GST_OBJECT_LOCK(self);
  switch (id) {
  case PROP_ENGINE:
    priv->choice = (GstRvEngineChoice)g_value_get_enum(value);
    break;
  case PROP_THREADS:
    priv->threads = g_value_get_int(value);
    gst_rv_transform_rebuild(self);
    break;
  case PROP_DEVICE:
    priv->device_id = g_value_get_int(value);
    break;
  case PROP_POST_MESSAGES:
    priv->post_messages = g_value_get_boolean(value);
    break;
  case PROP_LATENCY_REPORT:
    priv->latency_report = g_value_get_boolean(value);
    changed = priv->live;
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
  if (changed)
    gst_rv_transform_post_latency(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  GstRvTransform *self = GST_RV_TRANSFORM(object);
  const GstRvTransformPrivate *priv = self->priv;
  GST_OBJECT_LOCK(self);
  switch (id) {
  case PROP_ENGINE:
    g_value_set_enum(value, priv->choice);
    break;
  case PROP_THREADS:
    g_value_set_int(value, priv->threads);
    break;
  case PROP_DEVICE:
    g_value_set_int(value, priv->device_id);
    break;
  case PROP_POST_MESSAGES:
    g_value_set_boolean(value, priv->post_messages);
    break;
  case PROP_LATENCY_REPORT:
    g_value_set_boolean(value, priv->latency_report);
    break;
  case PROP_STATS:
    g_value_take_boxed(value, stats(self));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void install_properties(GObjectClass *object) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  g_object_class_install_property(object, PROP_ENGINE,
                                  g_param_spec_enum("engine", "Engine",
                                                    "Compute engine; both give the same bits",
                                                    GST_TYPE_RV_ENGINE_CHOICE, GST_RV_ENGINE_AUTO,
                                                    flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property(
      object, PROP_THREADS,
      g_param_spec_int("threads", "Threads", "Threads of the CPU engine; 0 = all processors", 0,
                       THREADS_MAX, 0, flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      object, PROP_DEVICE,
      g_param_spec_int("cuda-device-id", "CUDA device",
                       "Index of the CUDA device; -1 = device of the input, else any", -1, G_MAXINT,
                       -1, flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property(
      object, PROP_POST_MESSAGES,
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post an element message per frame: scalars of the annotation and the "
                           "processing time in µs",
                           FALSE, flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      object, PROP_LATENCY_REPORT,
      g_param_spec_boolean("latency-report", "Latency report",
                           "Report the measured processing time as latency of live pipelines", TRUE,
                           flags | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      object, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Engine in use; numbers of frames and of repeated (GAP) frames; mean-us and last-us: "
          "processing time per frame in µs; latency-us: reported latency",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

void gst_rv_transform_rebuild(GstRvTransform *self) {
  if (g_atomic_pointer_get(&self->priv->restores) == g_thread_self())
    return;
  g_atomic_int_inc(&self->priv->changes);
  g_atomic_int_set(&self->priv->rebuild, 1);
}

void gst_rv_transform_changed(GObject *object, const char *name) {
  (void)name;
  gst_rv_transform_rebuild(GST_RV_TRANSFORM(object));
}

void gst_rv_transform_set_bypass(GstRvTransform *self, gboolean bypass) {
  self->priv->bypass = bypass;
}

gboolean gst_rv_transform_once(GstRvTransform *self, guint bit) {
  const guint mask = 1u << bit;
  const gboolean first = !(self->priv->once & mask);
  self->priv->once |= mask;
  return first;
}

GstRvLog *gst_rv_transform_log(GstRvTransform *self) {
  return &self->priv->log;
}

/* --- Life cycle ------------------------------------------------------------------------------ */

static gboolean start(GstBaseTransform *trans) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  GstRvTransformPrivate *priv = self->priv;
  priv->once = 0;
  priv->foreign = FALSE;
  priv->configured = FALSE;
  priv->last_time = GST_CLOCK_TIME_NONE;
  gst_rv_transform_interrupt(self);
  if (!gst_rv_transform_open(self))
    return FALSE;
  GST_OBJECT_LOCK(self);
  priv->running = TRUE;
  priv->frames = priv->repeated = 0;
  priv->total_us = priv->last_us = 0;
  priv->live = FALSE;
  memset(&priv->latency, 0, sizeof priv->latency);
  gst_rv_latency_restart(&priv->latency);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans) {
  gst_rv_transform_forget_results(GST_RV_TRANSFORM(trans));
  gst_rv_transform_accept(GST_RV_TRANSFORM(trans), NULL);
  gst_clear_caps(&GST_RV_TRANSFORM(trans)->priv->invalid_caps);
  gst_rv_transform_close(GST_RV_TRANSFORM(trans));
  return TRUE;
}

/* Calls configure with the device current. */
static RvStatus configure(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  g_atomic_int_set(&priv->rebuild, 0);
  gst_rv_transform_forget_results(self);
  if (!gst_rv_device_push(priv->device))
    return RV_ERR_CUDA;
  RvStatus status = RV_ERR_CUDA;
  if (gst_rv_transform_ready_stream(self)) {
    const GstRvExecContext work = gst_rv_transform_get_work(self);
    status = gst_rv_transform_configure(self, &work);
  }
  gst_rv_device_pop(priv->device);
  GST_OBJECT_LOCK(self);
  if (!priv->animated)
    gst_rv_latency_restart(&priv->latency);
  GST_OBJECT_UNLOCK(self);
  priv->animated = FALSE;
  return status;
}

/* Configures, and remembers the settings that were accepted. */
static RvStatus configure_settings(GstRvTransform *self) {
  GArray *snapshot = gst_rv_transform_snapshot(self);
  const RvStatus status = configure(self);
  if (status == RV_OK)
    gst_rv_transform_accept(self, snapshot);
  else
    g_array_unref(snapshot);
  return status;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  GstRvTransformPrivate *priv = self->priv;
  priv->configured = FALSE;
  priv->explained = TRUE;
  if (!gst_video_info_from_caps(&self->in_info, in) ||
      !gst_video_info_from_caps(&self->out_info, out)) {
    GST_ERROR_OBJECT(self, "no video: %" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT, in, out);
    return FALSE;
  }
  const gboolean cuda = gst_rv_caps_are_cuda(in) || gst_rv_caps_are_cuda(out);
  if (cuda && !gst_rv_transform_need_device(self))
    return FALSE;
  gst_rv_payload_pool_free(&priv->copies);
  gst_rv_transform_set_memory(self, in, out);
  RvStatus status = configure_settings(self);
  if (status == RV_ERR_ARG && gst_rv_transform_reject(self))
    status = configure_settings(self);
  priv->invalid = status == RV_ERR_ARG;
  if (status != RV_OK) {
    gst_rv_error_post(&priv->log, status, "configure for these caps");
    return FALSE;
  }
  priv->configured = TRUE;
  GST_DEBUG_OBJECT(self, "engine %s, %" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT,
                   gst_rv_engine_name(priv->engine), in, out);
  return TRUE;
}

/* The end of the stream for the element, after its last frame. */
static void drain(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  if (!klass->drain || !priv->configured || !gst_rv_device_push(priv->device))
    return;
  const GstRvExecContext work = gst_rv_transform_get_work(self);
  const RvStatus status = klass->drain(self, &work);
  gst_rv_device_pop(priv->device);
  if (status != RV_OK)
    gst_rv_error_post(&priv->log, status, "save the models");
}

/* Caps that can never be processed are rejected here, where an error can state the cause. */
static gboolean check_caps(GstRvTransform *self, GstCaps *caps) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps))
    return !klass->check_caps;
  return gst_rv_caps_check_scan(GST_ELEMENT_CAST(self), &info, NULL) &&
         (!klass->check_caps || klass->check_caps(self, caps, &info));
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(parent_class);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    drain(self);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP ||
      GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START)
    gst_rv_transform_interrupt(self);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return base->sink_event(trans, event);
  GstCaps *caps = NULL;
  gst_event_parse_caps(event, &caps);
  GST_DEBUG_OBJECT(self, "received %" GST_PTR_FORMAT, caps);
  GstRvTransformPrivate *priv = self->priv;
  /* Pads send caps that were rejected again and again: the error is posted once. */
  const gint changes = g_atomic_int_get(&priv->changes);
  const gboolean again = priv->invalid_caps && gst_caps_is_equal(priv->invalid_caps, caps) &&
                         priv->invalid_changes == changes;
  if (again) {
    gst_event_unref(event);
    return FALSE;
  }
  gst_clear_caps(&priv->invalid_caps);
  gst_caps_ref(caps);
  priv->explained = FALSE;
  priv->invalid = !check_caps(self, caps);
  gboolean taken = FALSE;
  gst_rv_transform_negotiation_begin(self);
  if (priv->invalid)
    gst_event_unref(event);
  else
    taken = base->sink_event(trans, event);
  gst_rv_transform_negotiation_end(self);
  if (!taken && !priv->invalid && !priv->explained)
    gst_rv_transform_explain_rejection(self, caps);
  if (!taken && priv->invalid) {
    priv->invalid_caps = gst_caps_ref(caps);
    priv->invalid_changes = changes;
  }
  gst_caps_unref(caps);
  return taken;
}

/* Where changed properties are negotiated. */
static GstFlowReturn submit_input_buffer(GstBaseTransform *trans, gboolean is_discont,
                                         GstBuffer *input) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  self->priv->explained = FALSE;
  gst_rv_transform_follow(self, input, is_discont);
  gst_rv_transform_negotiation_begin(self);
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(parent_class)->submit_input_buffer(trans, is_discont, input);
  gst_rv_transform_negotiation_end(self);
  GstCaps *caps = flow == GST_FLOW_NOT_NEGOTIATED && !self->priv->explained
                      ? gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans))
                      : NULL;
  if (caps)
    gst_rv_transform_explain_rejection(self, caps);
  gst_clear_caps(&caps);
  return flow;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Configures for changed properties; an invalid combination leaves the previous one in use. */
static gboolean rebuild_if_asked(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  if (priv->configured && !g_atomic_int_get(&priv->rebuild))
    return TRUE;
  const gboolean first = !priv->configured;
  const RvStatus status = configure_settings(self);
  if (status == RV_ERR_ARG && !first && gst_rv_transform_reject(self))
    return TRUE;
  if (status != RV_OK)
    gst_rv_error_post(&priv->log, status, "configure for these caps");
  priv->configured = status == RV_OK;
  return priv->configured;
}

/* A frame that repeats the previous one: its annotations are attached again. */
static RvStatus repeat_job(GstRvTransform *self, GstBuffer *in, GstBuffer *out) {
  gst_rv_transform_attach_results(self, out);
  const RvStatus status =
      GST_RV_TRANSFORM_GET_CLASS(self)->repeat ? gst_rv_transform_run(self, in, out, TRUE) : RV_OK;
  GST_OBJECT_LOCK(self);
  self->priv->repeated += status == RV_OK;
  GST_OBJECT_UNLOCK(self);
  return status;
}

/* Counts a frame; reports a latency that has changed. */
static void count_frame(GstRvTransform *self, gint64 us, gboolean repeats) {
  GstRvTransformPrivate *priv = self->priv;
  GST_OBJECT_LOCK(self);
  priv->frames++;
  priv->total_us += us;
  priv->last_us = us;
  const gboolean changed =
      !repeats && gst_rv_latency_add(&priv->latency, us, g_get_monotonic_time());
  const gboolean report = changed && priv->live && priv->latency_report;
  GST_OBJECT_UNLOCK(self);
  if (report)
    gst_rv_transform_post_latency(self);
}

static GstFlowReturn work_on(GstRvTransform *self, GstBuffer *in, GstBuffer *out) {
  GstRvTransformPrivate *priv = self->priv;
  if (priv->foreign)
    return GST_FLOW_ERROR;
  if (gst_rv_transform_is_empty(in))
    return GST_FLOW_OK;
  if (!gst_rv_caps_check_scan(GST_ELEMENT_CAST(self), &self->in_info, in) ||
      (!priv->configured && !rebuild_if_asked(self)))
    return GST_FLOW_ERROR;
  const gint64 begin = g_get_monotonic_time();
  RvStatus status = RV_ERR_CUDA;
  gboolean repeats = FALSE;
  if (gst_rv_device_push(priv->device)) {
    const GstRvExecContext work = gst_rv_transform_get_work(self);
    status = gst_rv_transform_resume(self, &work);
    repeats = gst_rv_transform_repeats(self, in);
    if (status == RV_OK)
      status = repeats ? repeat_job(self, in, out) : gst_rv_transform_run(self, in, out, FALSE);
    gst_rv_device_pop(priv->device);
  }
  if (status != RV_OK) {
    gst_rv_error_post(&priv->log, status, "process a frame");
    return GST_FLOW_ERROR;
  }
  if (!repeats)
    gst_rv_transform_keep_results(self, out);
  const gint64 us = g_get_monotonic_time() - begin;
  count_frame(self, us, repeats);
  GST_TRACE_OBJECT(self, "frame %" GST_TIME_FORMAT ": %" G_GINT64_FORMAT " µs%s",
                   GST_TIME_ARGS(GST_BUFFER_PTS(in)), us, repeats ? ", repeated" : "");
  if (gst_rv_transform_posts_messages(self))
    gst_rv_transform_post_message(self, out, us);
  return GST_FLOW_OK;
}

static GstFlowReturn transform(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out) {
  return work_on(GST_RV_TRANSFORM(trans), in, out);
}

static GstFlowReturn transform_ip(GstBaseTransform *trans, GstBuffer *buffer) {
  return work_on(GST_RV_TRANSFORM(trans), buffer, buffer);
}

/* Sets controlled properties (RV_PARAM_LIVE) to their values at the time of the frame. */
static void sync_controlled(GstBaseTransform *trans, GstBuffer *buffer) {
  const GstClockTime time =
      GST_BUFFER_PTS_IS_VALID(buffer) && trans->segment.format == GST_FORMAT_TIME
          ? gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  GstRvTransformPrivate *priv = GST_RV_TRANSFORM(trans)->priv;
  const gboolean asked = g_atomic_int_get(&priv->rebuild);
  if (GST_CLOCK_TIME_IS_VALID(time))
    gst_object_sync_values(GST_OBJECT_CAST(trans), time);
  priv->animated = !asked && g_atomic_int_get(&priv->rebuild);
}

static void before_transform(GstBaseTransform *trans, GstBuffer *buffer) {
  sync_controlled(trans, buffer);
  gst_rv_transform_adopt(GST_RV_TRANSFORM(trans), buffer);
}

static GstFlowReturn prepare_output_buffer(GstBaseTransform *trans, GstBuffer *in,
                                           GstBuffer **out) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(parent_class);
  if (gst_rv_transform_is_empty(in)) {
    *out = in;
    return GST_FLOW_OK;
  }
  /* Before the buffer is chosen: new settings may start or end a bypass. */
  if (!rebuild_if_asked(self))
    return GST_FLOW_ERROR;
  self->priv->bypass_frame = self->priv->bypass;
  if (self->priv->bypass_frame && !g_atomic_int_get(&self->priv->uploads)) {
    *out = gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
    return GST_FLOW_OK;
  }
  const gboolean draws = klass->in_place && (klass->picture & GST_MAP_WRITE);
  const GstFlowReturn flow = draws && !self->priv->redraws
                                 ? gst_rv_transform_own_picture(self, in, out, base)
                                 : base->prepare_output_buffer(trans, in, out);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("No buffer for the output frame (%s %dx%d) could be acquired from its pool.",
                       GST_VIDEO_INFO_NAME(&self->out_info), GST_VIDEO_INFO_WIDTH(&self->out_info),
                       GST_VIDEO_INFO_HEIGHT(&self->out_info)),
                      ("Memory may be exhausted: use smaller frames or shorter queues, or close "
                       "other programs that use the GPU."));
  return flow;
}

static gboolean transform_meta(GstBaseTransform *trans, GstBuffer *out, GstMeta *meta,
                               GstBuffer *in) {
  return gst_rv_annotation_is_portable(meta->info) ||
         GST_BASE_TRANSFORM_CLASS(parent_class)->transform_meta(trans, out, meta, in);
}

/* --- Class ----------------------------------------------------------------------------------- */

static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  return gst_rv_transform_query_vfunc(trans, direction, query,
                                      GST_BASE_TRANSFORM_CLASS(parent_class));
}

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query) {
  return gst_rv_transform_propose_vfunc(trans, decide, query,
                                        GST_BASE_TRANSFORM_CLASS(parent_class));
}

static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query) {
  return gst_rv_transform_decide_vfunc(trans, query, GST_BASE_TRANSFORM_CLASS(parent_class));
}

static void set_context(GstElement *element, GstContext *context) {
  gst_rv_transform_set_context(element, context);
  GST_ELEMENT_CLASS(parent_class)->set_context(element, context);
}

/* Before any property of the element is set: none is G_PARAM_CONSTRUCT. The class decides once whether
 * it works in place. */
static void constructed(GObject *object) {
  G_OBJECT_CLASS(parent_class)->constructed(object);
  gst_rv_settings_init(object, GST_RV_TRANSFORM_GET_CLASS(object)->settings);
  GstBaseTransform *trans = GST_BASE_TRANSFORM(object);
  gst_base_transform_set_in_place(trans, GST_RV_TRANSFORM_GET_CLASS(trans)->in_place);
  gst_base_transform_set_passthrough(trans, FALSE);
  gst_base_transform_set_gap_aware(trans, TRUE); /* later elements repeat their results too */
}

static void finalize(GObject *object) {
  gst_rv_transform_forget_context(GST_RV_TRANSFORM(object)); /* set, but never started */
  gst_rv_log_clear(&GST_RV_TRANSFORM(object)->priv->log);
  gst_rv_settings_clear(object, GST_RV_TRANSFORM_GET_CLASS(object)->settings);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_rv_transform_class_init(GstRvTransformClass *klass) {
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_rv_transform_debug, "rvtransform", 0, "roadvision base class");
  gst_rv_object_class_set(object, set_property, get_property, finalize);
  object->constructed = constructed;
  install_properties(object);
  GST_ELEMENT_CLASS(klass)->set_context = set_context;
  trans->start = start;
  trans->stop = stop;
  trans->set_caps = set_caps;
  trans->sink_event = sink_event;
  trans->submit_input_buffer = submit_input_buffer;
  trans->query = query;
  trans->accept_caps = gst_rv_transform_accept_vfunc;
  trans->transform_caps = gst_rv_transform_caps_vfunc;
  trans->propose_allocation = propose_allocation;
  trans->decide_allocation = decide_allocation;
  trans->before_transform = before_transform;
  trans->prepare_output_buffer = prepare_output_buffer;
  trans->transform_meta = transform_meta;
  trans->transform = transform;
  trans->transform_ip = transform_ip;
  trans->passthrough_on_same_caps = FALSE;
  gst_type_mark_as_plugin_api(GST_TYPE_RV_TRANSFORM, 0);
  gst_type_mark_as_plugin_api(GST_TYPE_RV_ENGINE_CHOICE, 0);
}

static void gst_rv_transform_init(GstRvTransform *self) {
  self->priv = gst_rv_transform_get_instance_private(self);
  self->priv->choice = GST_RV_ENGINE_AUTO;
  self->priv->device_id = -1;
  self->priv->latency_report = TRUE;
  gst_rv_log_init(&self->priv->log, GST_ELEMENT_CAST(self));
}
