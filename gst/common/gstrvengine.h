/* SPDX-License-Identifier: MIT */
/* gstrvengine.h: which engine does the work, and the CUDA context it works in. */
#ifndef GST_RV_ENGINE_H
#define GST_RV_ENGINE_H

#include <gst/gst.h>

#include "gstrvconfig.h"
#include "rv.h"

#if HAVE_GSTCUDA
#  define GST_USE_UNSTABLE_API
#  include <gst/cuda/gstcudabufferpool.h>
#  include <gst/cuda/gstcudacontext.h>
#  include <gst/cuda/gstcudamemory.h>
#  include <gst/cuda/gstcudautils.h>
#endif

G_BEGIN_DECLS

/* Value of the property `engine`. */
typedef enum GstRvEngineChoice {
  GST_RV_ENGINE_AUTO = 0, /* CUDA when a usable device is found, else CPU */
  GST_RV_ENGINE_CPU,
  GST_RV_ENGINE_CUDA,
} GstRvEngineChoice;

#define GST_TYPE_RV_ENGINE_CHOICE (gst_rv_engine_choice_get_type())
GType gst_rv_engine_choice_get_type(void);

/* "cpu" or "cuda" */
const char *gst_rv_engine_name(RvEngine engine);

/* Number of CUDA devices that this plugin can work on; when 0, `reason` states why in one line. */
int gst_rv_engine_devices(char *reason, size_t size);

/* A CUDA context, counted: the pipeline's GstCudaContext, or in builds without libgstcuda the
 * runtime's own context of a device. Every object made on it keeps it alive. */
typedef struct GstRvDevice GstRvDevice;

#if HAVE_GSTCUDA
/* The new device holds its own reference to `context`. */
GstRvDevice *gst_rv_device_new(GstCudaContext *context);
GstCudaContext *gst_rv_device_context(const GstRvDevice *device);
#else
GstRvDevice *gst_rv_device_new(int id);
#endif

GstRvDevice *gst_rv_device_ref(GstRvDevice *device);
void gst_rv_device_unref(GstRvDevice *device);

/* TRUE when pointers of one are valid on the other. NULL equals NULL only. */
gboolean gst_rv_device_equal(const GstRvDevice *a, const GstRvDevice *b);

/* Makes the device current for this thread until _pop; with NULL both do nothing and _push is TRUE.
 * After a failed _push there must be no _pop. */
gboolean gst_rv_device_push(const GstRvDevice *device);
void gst_rv_device_pop(const GstRvDevice *device);

G_END_DECLS
#endif
