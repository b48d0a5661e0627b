/* SPDX-License-Identifier: MIT */
/* gstrvtransform_live.c: what depends on time: interruptions of the stream, repeated frames (GAP),
 * element messages. */
#include "gstrvtransform_private.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(self)

#define INTERRUPTION GST_SECOND /* a longer pause interrupts the stream */

/* --- Interruptions --------------------------------------------------------------------------- */

void gst_rv_transform_interrupt(GstRvTransform *self) {
  g_atomic_int_set(&self->priv->interrupted, 1);
}

static GstClockTime running_time(GstRvTransform *self, GstBuffer *buffer) {
  const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
  return segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer)
             ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
             : GST_CLOCK_TIME_NONE;
}

void gst_rv_transform_follow(GstRvTransform *self, GstBuffer *buffer, gboolean is_discont) {
  GstRvTransformPrivate *priv = self->priv;
  const GstClockTime last = priv->last_time, now = running_time(self, buffer);
  priv->last_time = now;
  if (!is_discont)
    return;
  /* A queue that drops frames also marks the next one: without a jump of the time it is no
   * interruption. */
  if (!GST_CLOCK_TIME_IS_VALID(last) || !GST_CLOCK_TIME_IS_VALID(now) || now < last ||
      now - last > INTERRUPTION)
    gst_rv_transform_interrupt(self);
}

RvStatus gst_rv_transform_resume(GstRvTransform *self, const GstRvExecContext *work) {
  GstRvTransformPrivate *priv = self->priv;
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  if (!g_atomic_int_compare_and_exchange(&priv->interrupted, 1, 0))
    return RV_OK;
  GST_DEBUG_OBJECT(self, "the stream was interrupted: state that depends on time is cleared");
  gst_rv_transform_forget_results(self);
  return klass->reset ? klass->reset(self, work) : RV_OK;
}

double gst_rv_transform_seconds(GstRvTransform *self, GstBuffer *buffer, double before) {
  const int n = GST_VIDEO_INFO_FPS_N(&self->in_info), d = GST_VIDEO_INFO_FPS_D(&self->in_info);
  if (GST_BUFFER_PTS_IS_VALID(buffer))
    return (double)GST_BUFFER_PTS(buffer) / GST_SECOND;
  return before + (n > 0 ? (double)d / n : 0);
}

/* --- Repeated frames ------------------------------------------------------------------------- */

gboolean gst_rv_transform_is_empty(GstBuffer *buffer) {
  return gst_buffer_get_size(buffer) == 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
}

/* The annotation at position `i` of those that the element attaches, or NULL. */
static const char *result_name(const GstRvTransformClass *klass, guint i) {
  if (klass->annotations[0])
    return klass->annotations[i];
  return i == 0 ? klass->annotation : NULL;
}

void gst_rv_transform_forget_results(GstRvTransform *self) {
  for (guint i = 0; i < GST_RV_RESULTS; i++)
    g_clear_pointer(&self->priv->results[i], gst_structure_free);
}

void gst_rv_transform_keep_results(GstRvTransform *self, GstBuffer *out) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  gst_rv_transform_forget_results(self);
  for (guint i = 0; i < GST_RV_RESULTS && result_name(klass, i); i++) {
    const GstStructure *fields = rv_meta_find(out, result_name(klass, i));
    if (fields)
      self->priv->results[i] = gst_structure_copy(fields);
  }
}

gboolean gst_rv_transform_repeats(GstRvTransform *self, GstBuffer *in) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  const gboolean writes = !klass->in_place || (klass->picture & GST_MAP_WRITE);
  if ((writes && !klass->repeat) || !GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP))
    return FALSE;
  for (guint i = 0; i < GST_RV_RESULTS; i++)
    if (self->priv->results[i])
      return TRUE;
  return FALSE;
}

void gst_rv_transform_attach_results(GstRvTransform *self, GstBuffer *out) {
  for (guint i = 0; i < GST_RV_RESULTS; i++) {
    const GstStructure *result = self->priv->results[i];
    GstStructure *fields = result ? rv_meta_add(out, gst_structure_get_name(result), 1, 1) : NULL;
    if (fields)
      gst_rv_annotation_copy_fields(result, fields, FALSE);
  }
}

/* --- Messages -------------------------------------------------------------------------------- */

gboolean gst_rv_transform_posts_messages(GstRvTransform *self) {
  GST_OBJECT_LOCK(self);
  const gboolean posts = self->priv->post_messages;
  GST_OBJECT_UNLOCK(self);
  return posts;
}

void gst_rv_transform_post_message(GstRvTransform *self, GstBuffer *out, gint64 us) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT_CAST(self));
  GstStructure *message =
      gst_structure_new_empty(factory ? GST_OBJECT_NAME(factory) : "roadvision");
  if (klass->annotation)
    gst_rv_annotation_copy_scalars(out, klass->annotation, message);
  gst_rv_annotation_add_times(message, &GST_BASE_TRANSFORM(self)->segment, out);
  gst_structure_set(message, "engine", G_TYPE_STRING, gst_rv_engine_name(self->priv->engine),
                    "time-us", G_TYPE_DOUBLE, (double)us, NULL);
  if (klass->describe)
    klass->describe(self, message);
  gst_element_post_message(GST_ELEMENT_CAST(self),
                           gst_message_new_element(GST_OBJECT_CAST(self), message));
}
