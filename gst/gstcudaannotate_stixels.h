/* gstcudaannotate_stixels.h: the layer of RvStixelsMeta. */
#ifndef GST_CUDA_ANNOTATE_STIXELS_H
#define GST_CUDA_ANNOTATE_STIXELS_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"

G_BEGIN_DECLS

/* Zeroed at first. */
typedef struct GstCudaAnnotateStixels {
  GstRvInput list;   /* mapped while a frame is worked on */
  RvPlane disparity; /* the stixels as rasters, in the engine's memory */
  RvPlane outline;
  RvEngine engine;
} GstCudaAnnotateStixels;

/* Draws ground and objects in the colours of their planes and darkens their upper and left edges.
 * low, high: 1/16 px, the ends of the colours; opacity 0..255. */
RvStatus gst_cuda_annotate_stixels_draw(GstCudaAnnotateStixels *self, const GstRvWork *work,
                                        RvDraw *draw, const RvPicture *picture,
                                        const RvMetaStixels *meta, int low, int high, int opacity);
void gst_cuda_annotate_stixels_unmap(GstCudaAnnotateStixels *self); /* after the wait */
void gst_cuda_annotate_stixels_clear(GstCudaAnnotateStixels *self);

G_END_DECLS
#endif
