/* SPDX-License-Identifier: MIT */
/* gstrvfilter.c: class and instance of elements that pass their frames through. */
#include "gstrvfilter.h"

void gst_rv_filter_class_set(
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

void gst_rv_filter_init(GstBaseTransform *transform) {
  gst_base_transform_set_in_place(transform, TRUE);
  gst_base_transform_set_gap_aware(transform, TRUE);
}
