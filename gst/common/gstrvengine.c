/* SPDX-License-Identifier: MIT */
/* gstrvengine.c: engine names, the search for devices, and contexts. */
#include "gstrvengine.h"

GType gst_rv_engine_choice_get_type(void) {
  static const GEnumValue values[] = {
      {GST_RV_ENGINE_AUTO, "CUDA when a usable device is found, else CPU", "auto"},
      {GST_RV_ENGINE_CPU, "CPU: threads and vector instructions", "cpu"},
      {GST_RV_ENGINE_CUDA, "CUDA: an NVIDIA GPU, or an error without one", "cuda"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, g_enum_register_static("GstRvEngineChoice", values));
  return (GType)type;
}

const char *gst_rv_engine_name(RvEngine engine) {
  return engine == RV_CUDA ? "cuda" : "cpu";
}

int gst_rv_engine_devices(char *reason, size_t size) {
  const int devices = rv_cuda_devices(reason, size);
#if HAVE_GSTCUDA
  /* Without this check libgstcuda aborts the process when the driver is missing. */
  if (devices > 0 && !gst_cuda_load_library()) {
    g_snprintf(reason, size, "libcuda.so.1 could not be loaded by GStreamer");
    return 0;
  }
#endif
  return devices;
}

struct GstRvDevice {
  gint refs;
#if HAVE_GSTCUDA
  GstCudaContext *context;
#else
  int id;
#endif
};

#if HAVE_GSTCUDA
GstRvDevice *gst_rv_device_new(GstCudaContext *context) {
  GstRvDevice *device = g_new0(GstRvDevice, 1);
  device->refs = 1;
  device->context = gst_object_ref(context);
  return device;
}

GstCudaContext *gst_rv_device_context(const GstRvDevice *device) {
  return device ? device->context : NULL;
}
#else
GstRvDevice *gst_rv_device_new(int id) {
  GstRvDevice *device = g_new0(GstRvDevice, 1);
  device->refs = 1;
  device->id = id;
  return device;
}
#endif

GstRvDevice *gst_rv_device_ref(GstRvDevice *device) {
  g_atomic_int_inc(&device->refs);
  return device;
}

void gst_rv_device_unref(GstRvDevice *device) {
  if (!device || !g_atomic_int_dec_and_test(&device->refs))
    return;
#if HAVE_GSTCUDA
  gst_object_unref(device->context);
#endif
  g_free(device);
}

gboolean gst_rv_device_equal(const GstRvDevice *a, const GstRvDevice *b) {
  if (!a || !b)
    return a == b;
#if HAVE_GSTCUDA
  return a->context == b->context;
#else
  return a->id == b->id;
#endif
}

gboolean gst_rv_device_push(const GstRvDevice *device) {
  if (!device)
    return TRUE;
#if HAVE_GSTCUDA
  return gst_cuda_context_push(device->context);
#else
  return rv_cuda_use_device(device->id) == RV_OK;
#endif
}

void gst_rv_device_pop(const GstRvDevice *device) {
#if HAVE_GSTCUDA
  if (device)
    gst_cuda_context_pop(NULL);
#endif
}
