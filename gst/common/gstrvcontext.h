/* SPDX-License-Identifier: MIT */
/* gstrvcontext.h: the CUDA context of an element: that of its pipeline or application, else one for
 * all pipelines of the process. Kernels of different contexts never run at the same time: with a
 * context per pipeline, as libgstcuda creates them, several streams on one GPU are no faster than
 * one. */
#ifndef GST_RV_CONTEXT_H
#define GST_RV_CONTEXT_H

#include "gstrvengine.h"

#if HAVE_GSTCUDA
G_BEGIN_DECLS

/* Sets *context, the element's own (what its set_context writes), if it is NULL: asks the
 * neighbors, then the application, then takes the process's context of device `id` (-1: any).
 * FALSE when there is none. */
gboolean gst_rv_context_ensure(GstElement *element, int id, GstCudaContext **context);

/* The parts of it, for the answer to a CONTEXT query by an element that has none yet: whether the
 * query is about a CUDA context of device `id` (-1: any); the chance for bins and application to
 * set one; the process's own (a new reference), or NULL. */
gboolean gst_rv_context_is_wanted(GstQuery *query, int id);
void gst_rv_context_ask_application(GstElement *element);
GstCudaContext *gst_rv_context_shared(int id);

G_END_DECLS
#endif
#endif
