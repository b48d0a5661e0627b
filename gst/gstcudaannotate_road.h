/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_road.h: the layer of RvRoadMeta. */
#ifndef GST_CUDA_ANNOTATE_ROAD_H
#define GST_CUDA_ANNOTATE_ROAD_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"

G_BEGIN_DECLS

/* Zeroed at first. */
typedef struct GstCudaAnnotateRoad {
  GstRvInput mask, seeds; /* mapped while a frame is worked on */
} GstCudaAnnotateRoad;

/* Draws the road, with an edge `thickness` px wide, and the training patches in another color.
 * opacity 0..255. */
RvStatus gst_cuda_annotate_road_draw(GstCudaAnnotateRoad *self, const GstRvExecContext *work,
                                     RvDraw *draw, const RvPicture *picture, const RvMetaRoad *meta,
                                     int thickness, int opacity);

/* Says what the colors mean. */
RvStatus gst_cuda_annotate_road_keys(RvDraw *draw, int opacity);

void gst_cuda_annotate_road_unmap(GstCudaAnnotateRoad *self); /* after the wait */
void gst_cuda_annotate_road_clear(GstCudaAnnotateRoad *self);

G_END_DECLS
#endif
