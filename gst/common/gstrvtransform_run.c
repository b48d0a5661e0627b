/* SPDX-License-Identifier: MIT */
/* gstrvtransform_run.c: one frame: its images for the engine, the work of the class, the wait. */
#include "gstrvtransform_private.h"

/* TRUE when the output has pixels of its own. */
static gboolean writes_out(const GstRvTransform *self) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  const GstRvTransformPrivate *priv = self->priv;
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&self->out_info);
  RvPixelFormat unused;
  return (!klass->in_place || priv->redraws) && !priv->bypass_frame &&
         (gst_rv_pixel_format(format, &unused) ||
          (klass->gray16 && format == GST_VIDEO_FORMAT_GRAY16_LE));
}

/* A bypass to other memory: the base class copies, process sees no images. */
static RvStatus map_copy(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job) {
  GstRvTransformPrivate *priv = self->priv;
  RvStatus status = gst_rv_frame_map(&priv->in, work, &self->in_info, job->in, GST_MAP_READ);
  if (status == RV_OK)
    status = gst_rv_frame_map(&priv->out, work, &self->out_info, job->out, GST_MAP_WRITE);
  return status == RV_OK ? gst_rv_transform_copy_pixels(work, &priv->in.picture, &priv->out.picture)
                         : status;
}

/* Maps the images that the class needs. */
static RvStatus map_job(GstRvTransform *self, const GstRvExecContext *work, GstRvJob *job) {
  GstRvTransformPrivate *priv = self->priv;
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  const gboolean writes = writes_out(self);
  GstMapFlags reads = priv->bypass_frame ? 0 : klass->picture;
  if (priv->redraws)
    reads &= GST_MAP_READ;
  RvStatus status = RV_OK;
  if (priv->bypass_frame && g_atomic_int_get(&priv->uploads))
    return map_copy(self, work, job);
  if (reads)
    status = gst_rv_frame_map(&priv->in, work, &self->in_info, job->in, reads);
  if (status == RV_OK && reads)
    job->in_picture = &priv->in.picture;
  if (status == RV_OK && writes)
    status = gst_rv_frame_map(&priv->out, work, &self->out_info, job->out, GST_MAP_WRITE);
  if (status == RV_OK && (klass->in_place || writes))
    job->out_picture = writes ? &priv->out.picture : job->in_picture;
  if (status == RV_OK && priv->redraws && writes) {
    status = gst_rv_transform_copy_pixels(work, job->in_picture, job->out_picture);
    job->in_picture = job->out_picture;
  }
  return status;
}

RvStatus gst_rv_transform_run(GstRvTransform *self, GstBuffer *in, GstBuffer *out,
                              gboolean repeats) {
  GstRvTransformPrivate *priv = self->priv;
  GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  const GstRvExecContext work = gst_rv_transform_get_work(self);
  GstRvJob job = {.in = in, .out = out};
  RvStatus status = map_job(self, &work, &job);
  if (status == RV_OK)
    status = repeats ? klass->repeat(self, &work, &job) : klass->process(self, &work, &job);
  if (status == RV_OK)
    status = gst_rv_frame_store(&priv->in, &work);
  if (status == RV_OK)
    status = gst_rv_frame_store(&priv->out, &work);
  /* Also after a failure: buffers must not go while the GPU may still read them. */
  if (work.engine == RV_CUDA) {
    const RvStatus waited = rv_stream_wait(work.stream);
    status = status == RV_OK ? waited : status;
  }
  gst_rv_frame_unmap(&priv->out);
  gst_rv_frame_unmap(&priv->in);
  if (klass->finish && !repeats) {
    job.ok = status == RV_OK;
    const RvStatus finished = klass->finish(self, &work, &job);
    status = status == RV_OK ? finished : status;
  }
  return status;
}
