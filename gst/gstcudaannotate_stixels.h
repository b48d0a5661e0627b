/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_stixels.h: the layer of RvStixelsMeta. */
#ifndef GST_CUDA_ANNOTATE_STIXELS_H
#define GST_CUDA_ANNOTATE_STIXELS_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"
#include "gstcudaannotate_rasters.h"

G_BEGIN_DECLS

/* Values of the property `stixel-colors`. */
typedef enum GstCudaAnnotateStixelColors {
  GST_CUDA_ANNOTATE_STIXELS_DISTANCE,
  GST_CUDA_ANNOTATE_STIXELS_CLASS
} GstCudaAnnotateStixelColors;

/* Draws stixels in the colors of their planes or of their classes, and darkens the upper and left
 * edges of ground and objects. */
RvStatus gst_cuda_annotate_stixels_draw(GstCudaAnnotateRasters *self, const GstRvExecContext *work,
                                        RvDraw *draw, const RvPicture *picture,
                                        const RvMetaStixels *meta,
                                        GstCudaAnnotateStixelColors colors,
                                        const GstCudaAnnotateStyle *style);

G_END_DECLS
#endif
