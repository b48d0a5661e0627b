/* SPDX-License-Identifier: MIT */
/* gstrvtransform_pool.c: pools of frames on both pads, and copies for drawing. */
#include "gstrvcaps.h"
#include "gstrvpool.h"
#include "gstrvtransform_private.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(self)

gboolean gst_rv_transform_propose_vfunc(GstBaseTransform *trans, GstQuery *decide, GstQuery *query,
                                        GstBaseTransformClass *parent) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  if (!parent->propose_allocation(trans, decide, query))
    return FALSE;
  if (!decide) /* in place: downstream has answered */
    return TRUE;
  GstCaps *caps = NULL;
  gboolean need_pool = FALSE;
  GstVideoInfo info;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (!caps || !gst_video_info_from_caps(&info, caps))
    return FALSE;
  const gboolean cuda = gst_rv_caps_are_cuda(caps);
  guint size = (guint)GST_VIDEO_INFO_SIZE(&info);
  GstBufferPool *pool = need_pool || cuda ? gst_rv_pool_new(self->priv->device, cuda) : NULL;
  if (pool && gst_rv_pool_set_up(pool, caps, &size, 0, 0, TRUE))
    gst_query_add_allocation_pool(query, pool, size, 0, 0);
  gst_clear_object(&pool);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

gboolean gst_rv_transform_decide_vfunc(GstBaseTransform *trans, GstQuery *query,
                                       GstBaseTransformClass *parent) {
  GstRvDevice *device = GST_RV_TRANSFORM(trans)->priv->device;
  return gst_rv_pool_decide(GST_ELEMENT_CAST(trans), device, query) &&
         parent->decide_allocation(trans, query);
}

/* The pool of copies, made when the first copy is needed. */
static GstFlowReturn acquire_copy(GstRvTransform *self, GstBuffer *inbuf, GstBuffer **copy) {
  GstRvTransformPrivate *priv = self->priv;
  if (!priv->copies) {
    GstCaps *caps = gst_video_info_to_caps(&self->in_info);
    guint size = (guint)GST_VIDEO_INFO_SIZE(&self->in_info);
    priv->copies = gst_rv_pool_new(self->priv->device, gst_rv_buffer_is_cuda(inbuf));
    const gboolean ready = priv->copies &&
                           gst_rv_pool_set_up(priv->copies, caps, &size, 0, 0, TRUE) &&
                           gst_buffer_pool_set_active(priv->copies, TRUE);
    gst_caps_unref(caps);
    if (!ready) {
      gst_clear_object(&priv->copies);
      return GST_FLOW_ERROR;
    }
  }
  return gst_buffer_pool_acquire_buffer(priv->copies, copy, NULL);
}

/* Copies the frame in its memory, on the stream of the element: copies on the default stream wait for
 * all work of the process. */
static gboolean copy_picture(GstRvTransform *self, GstBuffer *from, GstBuffer *to) {
  GstRvExecContext work = gst_rv_transform_get_work(self);
  work.engine = gst_rv_buffer_is_cuda(from) ? RV_CUDA : RV_CPU;
  if (!gst_rv_device_push(self->priv->device))
    return FALSE;
  GstRvFrame source = {0}, target = {0};
  RvStatus status = gst_rv_frame_map(&source, &work, &self->in_info, from, GST_MAP_READ);
  if (status == RV_OK)
    status = gst_rv_frame_map(&target, &work, &self->in_info, to, GST_MAP_WRITE);
  if (status == RV_OK)
    status = gst_rv_transform_copy_pixels(&work, &source.picture, &target.picture);
  if (work.engine == RV_CUDA) {
    const RvStatus waited = rv_stream_wait(work.stream);
    status = status == RV_OK ? waited : status;
  }
  gst_rv_frame_unmap(&source);
  gst_rv_frame_unmap(&target);
  gst_rv_device_pop(self->priv->device);
  return status == RV_OK;
}

GstFlowReturn gst_rv_transform_own_picture(GstRvTransform *self, GstBuffer *inbuf,
                                           GstBuffer **outbuf, GstBaseTransformClass *parent) {
  GstBaseTransform *trans = GST_BASE_TRANSFORM_CAST(self);
  if (gst_buffer_is_writable(inbuf) && gst_buffer_is_all_memory_writable(inbuf)) {
    *outbuf = inbuf;
    return GST_FLOW_OK;
  }
  const GstFlowReturn flow = acquire_copy(self, inbuf, outbuf);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!copy_picture(self, inbuf, *outbuf)) {
    gst_rv_error_post(&self->priv->log, RV_ERR_IO, "copy a shared frame");
    gst_clear_buffer(outbuf);
    return GST_FLOW_ERROR;
  }
  if (parent->copy_metadata(trans, inbuf, *outbuf))
    return GST_FLOW_OK;
  gst_clear_buffer(outbuf);
  return GST_FLOW_ERROR;
}
