/* SPDX-License-Identifier: MIT */
/* gstsemanticsattach.h: element semanticsattach, labels as an annotation of each frame. */
#ifndef GST_SEMANTICS_ATTACH_H
#define GST_SEMANTICS_ATTACH_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_SEMANTICS_ATTACH (gst_semantics_attach_get_type())
G_DECLARE_FINAL_TYPE(GstSemanticsAttach, gst_semantics_attach, GST, SEMANTICS_ATTACH,
                     GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(semanticsattach)

G_END_DECLS
#endif
