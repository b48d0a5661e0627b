/* SPDX-License-Identifier: MIT */
/* gstannotationpublish.h: element annotationpublish. */
#ifndef GST_ANNOTATION_PUBLISH_H
#define GST_ANNOTATION_PUBLISH_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_ANNOTATION_PUBLISH (gst_annotation_publish_get_type())
G_DECLARE_FINAL_TYPE(GstAnnotationPublish, gst_annotation_publish, GST, ANNOTATION_PUBLISH,
                     GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(annotationpublish)

G_END_DECLS
#endif
