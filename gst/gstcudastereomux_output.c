/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_output.c: one pair becomes one frame-packed buffer. */
#include "gstcudastereomux_private.h"

#include "common/gstrvannotation.h"
#include "common/gstrvcaps.h"
#include "common/gstrvpool.h"

GST_DEBUG_CATEGORY_EXTERN(gst_cuda_stereo_mux_debug);
#define GST_CAT_DEFAULT gst_cuda_stereo_mux_debug

#define LEFT GST_CUDA_STEREO_MUX_LEFT
#define RIGHT GST_CUDA_STEREO_MUX_RIGHT

void gst_cuda_stereo_mux_pair_clear(GstCudaStereoMuxPair *pair) {
  gst_clear_buffer(&pair->frame[LEFT].buffer);
  gst_clear_buffer(&pair->frame[RIGHT].buffer);
}

/* --- Device and caps ------------------------------------------------------------------------- */

void gst_cuda_stereo_mux_close(GstCudaStereoMux *self) {
  const gboolean current = gst_rv_device_push(self->device);
  rv_stream_free(&self->stream);
  if (current)
    gst_rv_device_pop(self->device);
  for (int i = 0; i < 2; i++)
    gst_rv_frame_clear(&self->frames.views[i]);
  gst_rv_frame_clear(&self->frames.packed);
  gst_rv_device_unref(self->device);
  self->device = NULL;
}

#if HAVE_GSTCUDA
static GstCudaContext *context_of(GstBuffer *buffer) {
  return gst_rv_buffer_is_cuda(buffer)
             ? GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context
             : NULL;
}

static guint device_of(GstCudaContext *context) {
  guint id = 0;
  if (context)
    g_object_get(context, "cuda-device-id", &id, NULL);
  return id;
}

/* Selects the device of the views; TRUE in `changed` when it is another than before. */
static gboolean use_device(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair,
                           gboolean *changed) {
  const gboolean cuda = self->side[LEFT].view.cuda;
  GstCudaContext *left = context_of(pair->frame[LEFT].buffer);
  GstCudaContext *right = context_of(pair->frame[RIGHT].buffer);
  if (cuda && (!left || left != right)) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS,
                      ("The two views are in different CUDA contexts (left on device %u, right on "
                       "device %u).",
                       device_of(left), device_of(right)),
                      ("Set the same cuda-device-id on both cudaupload elements."));
    return FALSE;
  }
  *changed = gst_rv_device_context(self->device) != (cuda ? left : NULL);
  if (!*changed)
    return TRUE;
  gst_cuda_stereo_mux_close(self);
  if (!cuda)
    return TRUE;
  self->device = gst_rv_device_new(left);
  if (!gst_rv_device_push(self->device))
    return FALSE;
  const RvStatus status = rv_stream_new(&self->stream);
  gst_rv_device_pop(self->device);
  if (status != RV_OK)
    gst_rv_error_post(&self->log, status, "create a CUDA stream");
  return status == RV_OK;
}
#else
static gboolean use_device(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair,
                           gboolean *changed) {
  *changed = FALSE;
  return TRUE;
}
#endif

GstFlowReturn gst_cuda_stereo_mux_update_src_caps(GstAggregator *agg, GstCaps *downstream,
                                                  GstCaps **caps) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(agg);
  if (!self->packed_caps)
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  /* `downstream` answers a query that contains CUDA memory, by CUDA memory alone: ask again. */
  (void)downstream;
  GstCaps *accepted = gst_pad_peer_query_caps(GST_AGGREGATOR_SRC_PAD(agg), self->packed_caps);
  const gboolean fits = gst_caps_can_intersect(self->packed_caps, accepted);
  gst_caps_unref(accepted);
  if (!fits)
    return GST_FLOW_NOT_NEGOTIATED;
  *caps = gst_caps_ref(self->packed_caps);
  return GST_FLOW_OK;
}

gboolean gst_cuda_stereo_mux_decide_allocation(GstAggregator *agg, GstQuery *query) {
  return gst_rv_pool_decide(GST_ELEMENT_CAST(agg), GST_CUDA_STEREO_MUX(agg)->device, query);
}

/* Brings the src pad to what the views have now. */
static gboolean negotiate(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair) {
  gboolean changed = FALSE;
  if (!use_device(self, pair, &changed))
    return FALSE;
  GstCaps *caps = gst_cuda_stereo_mux_packed_caps(&self->side[LEFT].view, &self->side[RIGHT].view,
                                                  self->used.layout);
  if (self->packed_caps && !changed && gst_caps_is_equal(caps, self->packed_caps)) {
    gst_caps_unref(caps);
    return TRUE;
  }
  char *cause = NULL;
  const char *remedy = NULL;
  if (!gst_cuda_stereo_mux_check_view(&self->side[LEFT].view.info, self->used.layout, &cause,
                                      &remedy)) { /* layout was changed */
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s.", cause), ("%s", remedy));
    g_free(cause);
    gst_caps_unref(caps);
    return FALSE;
  }
  GST_INFO_OBJECT(self, "packed frames: %" GST_PTR_FORMAT, caps);
  gst_caps_replace(&self->packed_caps, caps);
  gst_caps_unref(caps);
  if (gst_video_info_from_caps(&self->packed, self->packed_caps) &&
      gst_aggregator_negotiate(GST_AGGREGATOR_CAST(self)))
    return TRUE;
  gst_rv_caps_explain_rejection(
      GST_ELEMENT_CAST(self), GST_AGGREGATOR_SRC_PAD(self), self->packed_caps,
      "Change the caps of both cameras or layout, or insert videoconvert or videoscale.");
  gst_clear_caps(&self->packed_caps);
  return FALSE;
}

/* --- One frame ------------------------------------------------------------------------------- */

static GstBuffer *new_frame(GstCudaStereoMux *self) {
  GstBufferPool *pool = gst_aggregator_get_buffer_pool(GST_AGGREGATOR_CAST(self));
  GstBuffer *buffer = NULL;
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (pool && gst_buffer_pool_set_active(pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer(pool, &buffer, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("No buffer for a frame of %dx%d px could be allocated.",
                       GST_VIDEO_INFO_WIDTH(&self->packed), GST_VIDEO_INFO_HEIGHT(&self->packed)),
                      ("Memory may be exhausted: use smaller frames or shorter queues."));
  gst_clear_object(&pool);
  return buffer;
}

/* Annotations of the left view stay valid: it lies at the origin of the packed frame. */
static gboolean copy_meta(GstBuffer *left, GstMeta **meta, gpointer user) {
  GstBuffer *out = user;
  const GstMetaInfo *info = (*meta)->info;
  const gboolean regions = info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE ||
                           g_strcmp0(g_type_name(info->api), "GstAnalyticsRelationMetaAPI") == 0;
  GstMetaTransformCopy all = {FALSE, 0, (gsize)-1};
  if (info->transform_func && (regions || info->api == GST_REFERENCE_TIMESTAMP_META_API_TYPE ||
                               gst_rv_annotation_is_portable(info)))
    info->transform_func(out, *meta, left, _gst_meta_transform_copy, &all);
  return TRUE;
}

static void post_message(GstCudaStereoMux *self, GstBuffer *out) {
  GstStructure *message = gst_structure_new_empty("cudastereomux");
  gst_rv_annotation_copy_scalars(out, RV_META_PAIR, message);
  GstAggregatorPad *pad = GST_AGGREGATOR_PAD(GST_AGGREGATOR_SRC_PAD(self));
  gst_rv_annotation_add_times(message, &pad->segment, out);
  gst_element_post_message(GST_ELEMENT_CAST(self),
                           gst_message_new_element(GST_OBJECT_CAST(self), message));
}

/* Times, flags and annotations of the packed frame. */
static void describe(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair, GstBuffer *out) {
  const GstCudaStereoMuxFrame *l = &pair->frame[LEFT], *r = &pair->frame[RIGHT];
  GstClockTime duration = GST_BUFFER_DURATION(l->buffer);
  if (GST_VIDEO_INFO_FPS_N(&self->packed) > 0)
    duration = gst_util_uint64_scale(GST_SECOND, (guint64)GST_VIDEO_INFO_FPS_D(&self->packed),
                                     (guint64)GST_VIDEO_INFO_FPS_N(&self->packed));
  GST_BUFFER_PTS(out) = l->running;
  GST_BUFFER_DTS(out) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(out) = duration;
  GST_OBJECT_LOCK(self);
  GST_BUFFER_OFFSET(out) = self->stats.pairs;
  GST_BUFFER_OFFSET_END(out) = self->stats.pairs + 1;
  GST_OBJECT_UNLOCK(self);
  if (self->discont)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
  if ((GST_BUFFER_FLAGS(l->buffer) | GST_BUFFER_FLAGS(r->buffer)) & GST_BUFFER_FLAG_CORRUPTED)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_CORRUPTED);
  if (GST_BUFFER_FLAGS(l->buffer) & GST_BUFFER_FLAGS(r->buffer) & GST_BUFFER_FLAG_GAP)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  gst_buffer_foreach_meta(l->buffer, copy_meta, out);
  const GstVideoInfo *view = &self->side[LEFT].view.info;
  const RvMetaPair meta = {GST_VIDEO_INFO_WIDTH(view), GST_VIDEO_INFO_HEIGHT(view), pair->skew,
                           l->running, r->running};
  rv_meta_add_pair(out, &meta);
}

/* Copies both views into a new buffer; posts an error and returns NULL when that fails. */
static GstBuffer *pack(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair) {
  GstBuffer *out = new_frame(self);
  if (!out)
    return NULL;
  const GstRvExecContext work = {self->side[LEFT].view.cuda ? RV_CUDA : RV_CPU, self->device,
                                 self->stream, 1, gst_rv_log_sink(&self->log)};
  GstBuffer *const in[2] = {pair->frame[LEFT].buffer, pair->frame[RIGHT].buffer};
  RvStatus status = RV_ERR_CUDA;
  if (gst_rv_device_push(self->device)) {
    status = gst_cuda_stereo_mux_pack(&self->frames, &work, &self->side[LEFT].view.info, in,
                                      &self->packed, out, self->used.layout);
    gst_rv_device_pop(self->device);
  }
  if (status == RV_OK)
    return out;
  gst_rv_error_post(&self->log, status, "copy the views");
  gst_buffer_unref(out);
  return NULL;
}

/* Counts the pair, when it is complete. */
static void count(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair) {
  const gint64 l = pair->frame[LEFT].arrival, r = pair->frame[RIGHT].arrival;
  GST_OBJECT_LOCK(self);
  self->stats.pairs++;
  gst_cuda_stereo_mux_ring_add(&self->stats.skew, pair->skew);
  if (l > 0 && r > 0)
    gst_cuda_stereo_mux_ring_add(&self->stats.latency,
                                 (g_get_monotonic_time() - MIN(l, r)) * GST_USECOND);
  GST_OBJECT_UNLOCK(self);
}

/* FALSE for a pair that is not later than the previous one: a camera's clock was set back. */
static gboolean advances(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair) {
  const GstClockTime now = pair->frame[LEFT].running;
  if (!GST_CLOCK_TIME_IS_VALID(self->last_pts) || now > self->last_pts) {
    self->warned &= ~(guint)GST_CUDA_STEREO_MUX_WARNED_BACKWARDS;
    return TRUE;
  }
  self->discont = TRUE;
  GST_OBJECT_LOCK(self);
  self->stats.backwards++;
  GST_OBJECT_UNLOCK(self);
  if (gst_cuda_stereo_mux_warn_once(self, GST_CUDA_STEREO_MUX_WARNED_BACKWARDS))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("Time went back by %.3f s; pairs are dropped until it has caught up.",
                         (double)(self->last_pts - now) / GST_SECOND),
                        ("Check the clocks of the cameras; set do-timestamp=true to use the "
                         "pipeline's clock instead."));
  return FALSE;
}

static gboolean is_progressive(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair) {
  for (int i = 0; i < 2; i++)
    if (!gst_rv_caps_check_scan(GST_ELEMENT_CAST(self), &self->side[i].view.info,
                                pair->frame[i].buffer))
      return FALSE;
  return TRUE;
}

GstFlowReturn gst_cuda_stereo_mux_push(GstCudaStereoMux *self, GstCudaStereoMuxPair *pair) {
  GstAggregator *agg = GST_AGGREGATOR_CAST(self);
  GstBuffer *out = NULL;
  GstFlowReturn flow = GST_FLOW_OK;
  if (!advances(self, pair)) {
    gst_cuda_stereo_mux_pair_clear(pair);
    return GST_FLOW_OK;
  }
  if (!is_progressive(self, pair))
    flow = GST_FLOW_ERROR;
  else if (!negotiate(self, pair))
    flow = GST_PAD_IS_FLUSHING(GST_AGGREGATOR_SRC_PAD(agg)) ? GST_FLOW_FLUSHING
                                                            : GST_FLOW_NOT_NEGOTIATED;
  else if (!(out = pack(self, pair)))
    flow = GST_PAD_IS_FLUSHING(GST_AGGREGATOR_SRC_PAD(agg)) ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
  if (flow == GST_FLOW_OK) {
    describe(self, pair, out);
    count(self, pair);
    self->discont = FALSE;
    self->last_pts = GST_BUFFER_PTS(out);
    GST_OBJECT_LOCK(self);
    GstSegment *segment = &GST_AGGREGATOR_PAD(GST_AGGREGATOR_SRC_PAD(agg))->segment;
    segment->position = GST_BUFFER_PTS(out);
    if (GST_BUFFER_DURATION_IS_VALID(out))
      segment->position += GST_BUFFER_DURATION(out);
    GST_OBJECT_UNLOCK(self);
    if (self->used.post_messages)
      post_message(self, out);
    gst_aggregator_selected_samples(agg, GST_BUFFER_PTS(out), GST_CLOCK_TIME_NONE,
                                    GST_BUFFER_DURATION(out), NULL);
  }
  gst_cuda_stereo_mux_pair_clear(pair);
  return flow == GST_FLOW_OK ? gst_aggregator_finish_buffer(agg, out) : flow;
}
