/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_rasters.h: records as rasters before they are drawn: segments and stixels. */
#ifndef GST_CUDA_ANNOTATE_RASTERS_H
#define GST_CUDA_ANNOTATE_RASTERS_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

/* Records and two rasters of one size in the engine's memory. Zeroed at first. */
typedef struct GstCudaAnnotateRasters {
  GstRvInput list;   /* the records, mapped while a frame is worked on */
  RvPlane disparity; /* RV_U16 */
  RvPlane edges;     /* RV_U8 */
  RvEngine engine;
} GstCudaAnnotateRasters;

/* The colors of disparities. */
typedef struct GstCudaAnnotateStyle {
  int low, high; /* 1/16 px, the ends of the colors */
  int opacity;   /* 0..255 */
} GstCudaAnnotateStyle;

/* Allocates them unless they have that size. */
RvStatus gst_cuda_annotate_rasters_ready(GstCudaAnnotateRasters *rasters,
                                         const GstRvExecContext *work, int width, int height);
void gst_cuda_annotate_rasters_unmap(
    GstCudaAnnotateRasters *rasters); /* after the synchronization */
void gst_cuda_annotate_rasters_clear(GstCudaAnnotateRasters *rasters);

G_END_DECLS
#endif
