/* SPDX-License-Identifier: MIT */
/* gstcudasgm_layout.h: position of the two views in a frame-packed pair, and the caps that follow
 * from it. */
#ifndef GST_CUDA_SGM_LAYOUT_H
#define GST_CUDA_SGM_LAYOUT_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "rv_params.h"

G_BEGIN_DECLS

/* Value of the property `layout`. */
typedef enum GstCudaSgmLayout {
  GST_CUDA_SGM_LAYOUT_AUTO = 0,
  GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE,
  GST_CUDA_SGM_LAYOUT_TOP_BOTTOM,
  GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE_RIGHT_FIRST,
  GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST,
  GST_CUDA_SGM_LAYOUTS /* their number */
} GstCudaSgmLayout;

extern const RvParamValue gst_cuda_sgm_layouts[GST_CUDA_SGM_LAYOUTS];

/* Value of the property `output`. */
typedef enum GstCudaSgmOutput {
  GST_CUDA_SGM_OUTPUT_PICTURE = 0,
  GST_CUDA_SGM_OUTPUT_DISPARITY,
  GST_CUDA_SGM_OUTPUT_DEPTH,
} GstCudaSgmOutput;

/* Size and positions of the two views, px. */
typedef struct GstCudaSgmViews {
  int width, height;
  int left_x, left_y;
  int right_x, right_y;
  gboolean top_bottom;
} GstCudaSgmViews;

/* Locates the views in a frame of `info`. On failure sets `cause` and `remedy` (to be freed). */
gboolean gst_cuda_sgm_locate_views(GstCudaSgmLayout layout, const GstVideoInfo *info,
                                   GstCudaSgmViews *views, char **cause, char **remedy);

/* Appends the structures of the other pad for one structure of caps; takes ownership of structure
 * and features. */
void gst_cuda_sgm_transform_structure(GstCudaSgmLayout layout, GstCudaSgmOutput output,
                                      GstPadDirection direction, GstStructure *structure,
                                      GstCapsFeatures *features, GstCaps *result);

/* `out`, which it takes, or NV12 alone where `in` is a gray pair and `out` has NV12. */
GstCaps *gst_cuda_sgm_prefer_color(GstCaps *in, GstCaps *out);

/* Doubles or halves a field of caps, if there; odd values cannot be halved. FALSE when invalid is
 * left. */
gboolean gst_cuda_sgm_scale_field(GstStructure *structure, const char *field, gboolean twice);

G_END_DECLS
#endif
