/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_lines.h: the shapes of RvLinesMeta. */
#ifndef GST_CUDA_ANNOTATE_LINES_H
#define GST_CUDA_ANNOTATE_LINES_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"

G_BEGIN_DECLS

/* Adds every line to what `draw` will flush: its segment where there is one, else all of it.
 * thickness_fx: 1/16 px. */
RvStatus gst_cuda_annotate_lines_draw(RvDraw *draw, const RvPicture *picture,
                                      const RvMetaLines *meta, int thickness_fx, const RvLog *log);

G_END_DECLS
#endif
