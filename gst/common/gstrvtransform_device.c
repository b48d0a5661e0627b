/* SPDX-License-Identifier: MIT */
/* gstrvtransform_device.c: resolving the engine, finding and sharing the CUDA context, leaving it.
 */
#include "gstrvcontext.h"
#include "gstrvtransform_private.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(self)

static int device_id(GstRvTransform *self) {
  GST_OBJECT_LOCK(self);
  const int id = self->priv->device_id;
  GST_OBJECT_UNLOCK(self);
  return id;
}

#if HAVE_GSTCUDA
/* CONTEXT queries come from any thread, and libgstcuda writes to priv->context without a lock:
 * they are answered from a reference of their own. */
static void publish_context(GstRvTransform *self) {
  GST_OBJECT_LOCK(self);
  gst_object_replace((GstObject **)&self->priv->answer, GST_OBJECT_CAST(self->priv->context));
  GST_OBJECT_UNLOCK(self);
}
#endif

/* The pipeline's context of the wanted device, made when there is none. */
static gboolean find_device(GstRvTransform *self, int id) {
  GstRvTransformPrivate *priv = self->priv;
  if (priv->device)
    return TRUE;
#if HAVE_GSTCUDA
  if (!gst_rv_context_ensure(GST_ELEMENT_CAST(self), id, &priv->context))
    return FALSE;
  priv->device = gst_rv_device_new(priv->context);
  publish_context(self);
#else
  priv->device = gst_rv_device_new(id < 0 ? 0 : id);
#endif
  return TRUE;
}

/* TRUE when the machine has the device that the user named; posts the error otherwise. */
static gboolean check_id(GstRvTransform *self, int id, int devices) {
  if (id < devices)
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                    ("There is no CUDA device %d: this machine has %d.", id, devices),
                    ("Devices count from 0; cuda-device-id=-1 takes any."));
  return FALSE;
}

/* engine=cuda without a device: what to do depends on whether this build has a CUDA engine. */
static void post_no_cuda(GstRvTransform *self, const char *reason) {
  if (rv_has_cuda())
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("engine=cuda cannot be used: %s.", reason),
                      ("Set engine=auto or engine=cpu to work without a GPU, or install the NVIDIA "
                       "driver (nvidia-smi shows whether it works)."));
  else
    GST_ELEMENT_ERROR(
        self, RESOURCE, NOT_FOUND, ("engine=cuda cannot be used: %s.", reason),
        ("Set engine=auto or engine=cpu; or build the plugin again where nvcc of the CUDA toolkit "
         "is found and without -Dcuda=disabled. A driver alone does not help."));
}

gboolean gst_rv_transform_open(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  GST_OBJECT_LOCK(self);
  const GstRvEngineChoice choice = priv->choice;
  const int id = priv->device_id;
  GST_OBJECT_UNLOCK(self);
  priv->engine = RV_CPU;
  if (choice == GST_RV_ENGINE_CPU) {
    GST_INFO_OBJECT(self, "engine cpu, as asked");
    return TRUE;
  }
  char reason[256] = "";
  const int devices = gst_rv_engine_devices(reason, sizeof reason);
  if (devices == 0 && choice == GST_RV_ENGINE_AUTO) {
    GST_INFO_OBJECT(self, "engine cpu: %s", reason);
    return TRUE;
  }
  if (devices == 0) {
    post_no_cuda(self, reason);
    return FALSE;
  }
  if (!check_id(self, id, devices))
    return FALSE;
  if (!find_device(self, id)) {
    if (choice == GST_RV_ENGINE_AUTO) {
      GST_WARNING_OBJECT(self, "engine cpu: no CUDA context could be made");
      return TRUE;
    }
    GST_ELEMENT_ERROR(
        self, RESOURCE, NOT_FOUND, ("No CUDA context could be made on device %d.", id),
        ("The GPU may be out of memory or in exclusive use; engine=cpu works without."));
    return FALSE;
  }
  priv->engine = RV_CUDA;
  GST_INFO_OBJECT(self, "engine cuda (%d devices, cuda-device-id %d)", devices, id);
  return TRUE;
}

gboolean gst_rv_transform_need_device(GstRvTransform *self) {
  if (self->priv->device)
    return TRUE;
  char reason[256] = "no CUDA context could be made";
  const int id = device_id(self);
  const int devices = gst_rv_engine_devices(reason, sizeof reason);
  if (devices > 0 && !check_id(self, id, devices))
    return FALSE;
  if (devices > 0 && find_device(self, id))
    return TRUE;
  GST_ELEMENT_ERROR(
      self, RESOURCE, NOT_FOUND,
      ("The caps specify CUDA memory, but it cannot be used: %s.", reason),
      ("Leave (memory:CUDAMemory) out of the caps: the element works on system memory."));
  return FALSE;
}

gboolean gst_rv_transform_ready_stream(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  return priv->engine == RV_CPU || priv->stream || rv_stream_new(&priv->stream) == RV_OK;
}

GstRvExecContext gst_rv_transform_get_work(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  GST_OBJECT_LOCK(self);
  const int threads = priv->threads;
  GST_OBJECT_UNLOCK(self);
  const GstRvExecContext work = {priv->engine, priv->device, priv->stream, threads,
                                 gst_rv_log_sink(&priv->log)};
  return work;
}

/* Frees everything on the current device, and the device. */
static void leave_device(GstRvTransform *self) {
  GstRvTransformPrivate *priv = self->priv;
  const gboolean current = gst_rv_device_push(priv->device);
  if (current && priv->stream)
    rv_stream_wait(priv->stream);
  GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  if (klass->release)
    klass->release(self);
  rv_stream_free(&priv->stream);
  if (current)
    gst_rv_device_pop(priv->device);
  gst_rv_frame_clear(&priv->in);
  gst_rv_frame_clear(&priv->out);
  gst_rv_payload_pool_free(&priv->copies);
  gst_rv_device_unref(priv->device);
  priv->device = NULL;
  priv->configured = FALSE;
  gst_rv_transform_forget_context(self);
}

void gst_rv_transform_close(GstRvTransform *self) {
  leave_device(self);
}

#if HAVE_GSTCUDA
void gst_rv_transform_adopt(GstRvTransform *self, GstBuffer *buffer) {
  GstRvTransformPrivate *priv = self->priv;
  priv->foreign = FALSE;
  if (!gst_rv_buffer_is_cuda(buffer))
    return;
  GstCudaContext *context = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context;
  if (gst_rv_device_context(priv->device) == context)
    return;
  const int wanted = device_id(self);
  guint theirs = 0;
  g_object_get(context, "cuda-device-id", &theirs, NULL);
  if (wanted >= 0 && (guint)wanted != theirs) {
    priv->foreign = TRUE;
    GST_ELEMENT_ERROR(
        self, RESOURCE, NOT_FOUND,
        ("The frame is in memory of CUDA device %u, but cuda-device-id is %d.", theirs, wanted),
        ("Set the same cuda-device-id on every element of the pipeline."));
    return;
  }
  GST_INFO_OBJECT(self, "adopting the context of the input, device %u", theirs);
  gst_object_ref(context);
  leave_device(self);
  priv->context = context;
  priv->device = gst_rv_device_new(context);
  publish_context(self);
  g_atomic_int_set(&priv->rebuild, 1);
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM_CAST(self)); /* pools of that context */
}

void gst_rv_transform_set_context(GstElement *element, GstContext *context) {
  GstRvTransform *self = GST_RV_TRANSFORM(element);
  if (gst_cuda_handle_set_context(element, context, device_id(self), &self->priv->context))
    publish_context(self);
}

void gst_rv_transform_forget_context(GstRvTransform *self) {
  gst_clear_object(&self->priv->context);
  publish_context(self);
}

static GstCudaContext *answer(GstRvTransform *self) {
  GST_OBJECT_LOCK(self);
  GstCudaContext *context = self->priv->answer ? gst_object_ref(self->priv->answer) : NULL;
  GST_OBJECT_UNLOCK(self);
  return context;
}

gboolean gst_rv_transform_context_query(GstRvTransform *self, GstQuery *query) {
  GstCudaContext *context = answer(self);
  const gboolean answered = gst_cuda_handle_context_query(GST_ELEMENT_CAST(self), query, context);
  gst_clear_object(&context);
  return answered;
}

gboolean gst_rv_transform_context_offer(GstRvTransform *self, GstQuery *query) {
  char reason[256] = "";
  GST_OBJECT_LOCK(self);
  const gboolean is_cpu = self->priv->choice == GST_RV_ENGINE_CPU;
  GST_OBJECT_UNLOCK(self);
  if (is_cpu || !gst_rv_context_is_wanted(query, device_id(self)) ||
      gst_rv_engine_devices(reason, sizeof reason) == 0)
    return FALSE;
  gst_rv_context_ask_application(GST_ELEMENT_CAST(self));
  GstCudaContext *context = answer(self);
  if (!context)
    context = gst_rv_context_shared(device_id(self));
  const gboolean answered = gst_cuda_handle_context_query(GST_ELEMENT_CAST(self), query, context);
  gst_clear_object(&context);
  return answered;
}
#else
void gst_rv_transform_adopt(GstRvTransform *self, GstBuffer *buffer) {}

void gst_rv_transform_set_context(GstElement *element, GstContext *context) {}

void gst_rv_transform_forget_context(GstRvTransform *self) {}

gboolean gst_rv_transform_context_query(GstRvTransform *self, GstQuery *query) {
  return FALSE;
}

gboolean gst_rv_transform_context_offer(GstRvTransform *self, GstQuery *query) {
  return FALSE;
}
#endif
