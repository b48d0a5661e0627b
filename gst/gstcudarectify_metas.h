/* SPDX-License-Identifier: MIT */
/* gstcudarectify_metas.h: regions of the frame, moved to where rectification moves their pixels. */
#ifndef GST_CUDA_RECTIFY_METAS_H
#define GST_CUDA_RECTIFY_METAS_H

#include <gst/video/video.h>

#include "rectify/rectify.h"

G_BEGIN_DECLS

/* The views of the frames. */
typedef struct GstCudaRectifyViews {
  int in_width, in_height; /* px of one view */
  RvRectifyLayout layout;
  RvRectifyGeometry geometry;
} GstCudaRectifyViews;

/* Adds the regions of `meta` (a region of interest, or the detections of GstAnalytics) to `out`:
 * the box of a region's mapped outline, clipped to its view. Regions that lie in both views, or of
 * which less than half remains visible, are dropped. */
void gst_cuda_rectify_copy_region(GstBuffer *out, GstMeta *meta, const GstCudaRectifyViews *views);

G_END_DECLS
#endif
