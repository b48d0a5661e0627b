/* SPDX-License-Identifier: MIT */
/* gstrvfilter.h: elements that read or attach annotations on the host, and neither compute on an
 * engine nor touch pixels: a GstBaseTransform that passes its frames through. */
#ifndef GST_RV_FILTER_H
#define GST_RV_FILTER_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Sets the functions that every such element has; class_init may set more. */
static inline void gst_rv_filter_class_set(
    GstBaseTransformClass *klass, gboolean (*start)(GstBaseTransform *transform),
    gboolean (*stop)(GstBaseTransform *transform),
    gboolean (*set_caps)(GstBaseTransform *transform, GstCaps *in, GstCaps *out),
    gboolean (*sink_event)(GstBaseTransform *transform, GstEvent *event),
    gboolean (*propose_allocation)(GstBaseTransform *transform, GstQuery *decide, GstQuery *query),
    GstFlowReturn (*transform_ip)(GstBaseTransform *transform, GstBuffer *buffer)) {
  klass->start = start;
  klass->stop = stop;
  klass->set_caps = set_caps;
  klass->sink_event = sink_event;
  klass->propose_allocation = propose_allocation;
  klass->transform_ip = transform_ip;
}

/* For the init of an instance: works in place, and sees GAP buffers as others. */
static inline void gst_rv_filter_init(GstBaseTransform *transform) {
  gst_base_transform_set_in_place(transform, TRUE);
  gst_base_transform_set_gap_aware(transform, TRUE);
}

G_END_DECLS
#endif
