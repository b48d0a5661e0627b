/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_segments.h: the layer of RvSegmentsMeta. */
#ifndef GST_CUDA_ANNOTATE_SEGMENTS_H
#define GST_CUDA_ANNOTATE_SEGMENTS_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"
#include "gstcudaannotate_rasters.h"

G_BEGIN_DECLS

/* Draws each segment in the colors of its disparities and darkens its ends. */
RvStatus gst_cuda_annotate_segments_draw(GstCudaAnnotateRasters *self, const GstRvExecContext *work,
                                         RvDraw *draw, const RvPicture *picture,
                                         const RvMetaSegments *meta,
                                         const GstCudaAnnotateStyle *style);

G_END_DECLS
#endif
