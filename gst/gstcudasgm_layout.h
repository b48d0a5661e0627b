/* SPDX-License-Identifier: MIT */
/* gstcudasgm_layout.h: where the two pictures of a frame-packed pair lie, and what that makes of
 * the caps. */
#ifndef GST_CUDA_SGM_LAYOUT_H
#define GST_CUDA_SGM_LAYOUT_H

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Value of the property `layout`. */
typedef enum GstCudaSgmLayout {
  GST_CUDA_SGM_LAYOUT_AUTO = 0,
  GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE,
  GST_CUDA_SGM_LAYOUT_TOP_BOTTOM,
  GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE_RIGHT_FIRST,
  GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST,
} GstCudaSgmLayout;

/* Value of the property `output`. */
typedef enum GstCudaSgmOutput {
  GST_CUDA_SGM_OUTPUT_PICTURE = 0,
  GST_CUDA_SGM_OUTPUT_DISPARITY,
  GST_CUDA_SGM_OUTPUT_DEPTH,
} GstCudaSgmOutput;

GType gst_cuda_sgm_layout_get_type(void);
GType gst_cuda_sgm_output_get_type(void);

/* Size and places of the two pictures, px. */
typedef struct GstCudaSgmViews {
  int width, height;
  int left_x, left_y;
  int right_x, right_y;
  gboolean top_bottom;
} GstCudaSgmViews;

/* Places the eyes in a frame of `info`. On failure `cause` and `remedy` (to be freed) say why. */
gboolean gst_cuda_sgm_locate_views(GstCudaSgmLayout layout, const GstVideoInfo *info,
                                   GstCudaSgmViews *eyes, char **cause, char **remedy);

/* Appends what one structure of caps becomes on the other pad; takes structure and features. */
void gst_cuda_sgm_transform_structure(GstCudaSgmLayout layout, GstCudaSgmOutput output,
                                      GstPadDirection direction, GstStructure *structure,
                                      GstCapsFeatures *features, GstCaps *result);

G_END_DECLS
#endif
