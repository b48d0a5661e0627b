/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_segments.h: the layer of RvSegmentsMeta. */
#ifndef GST_CUDA_ANNOTATE_SEGMENTS_H
#define GST_CUDA_ANNOTATE_SEGMENTS_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"
#include "gstcudaannotate_rasters.h"

G_BEGIN_DECLS

/* Draws each segment in the colors of its disparities and darkens its ends. low, high: 1/16 px,
 * the ends of the colors; opacity 0..255. */
RvStatus gst_cuda_annotate_segments_draw(GstCudaAnnotateRasters *self, const GstRvExecContext *work,
                                         RvDraw *draw, const RvPicture *picture,
                                         const RvMetaSegments *meta, int low, int high,
                                         int opacity);

G_END_DECLS
#endif
