/* SPDX-License-Identifier: MIT */
/* gstcudasgm_metas.h: metas of the packed frame that stay valid for the left view. */
#ifndef GST_CUDA_SGM_METAS_H
#define GST_CUDA_SGM_METAS_H

#include "gstcudasgm_layout.h"
#include "rv.h"

G_BEGIN_DECLS

/* How a view was made from the image that an annotation refers to. */
typedef enum GstCudaSgmFit {
  GST_CUDA_SGM_FIT_SCALED = 0, /* scaled, or the same */
  GST_CUDA_SGM_FIT_CROPPED,    /* cropped across the direction of packing: both views alike */
  GST_CUDA_SGM_FIT_UNKNOWN,    /* anything else: the views may have been shifted differently */
} GstCudaSgmFit;

/* Compares sizes: equal factors in both directions (or factors that the pixel aspect ratio of the
 * frame explains) mean scaling. */
GstCudaSgmFit gst_cuda_sgm_fit(const GstCudaSgmViews *views, const GstVideoInfo *info, int width,
                               int height);

/* The camera of the left view. */
typedef struct GstCudaSgmCamera {
  RvCamera camera;
  gboolean has_principal; /* FALSE: cx and cy are not those of the view */
} GstCudaSgmCamera;

/* Brings the RvCameraMeta of `in` to the view; `set` are values that override it (focal, baseline,
 * cx, cy; 0 = not set). FALSE when nothing is known. */
gboolean gst_cuda_sgm_find_camera(GstBuffer *in, const GstCudaSgmViews *views,
                                  const GstVideoInfo *info, const RvCamera *set,
                                  GstCudaSgmCamera *found);

/* Removes the annotations of `out` that the view does not fit. Returns their names, to be freed, or
 * NULL when there were none. */
char *gst_cuda_sgm_drop_misfits(GstBuffer *out, const GstCudaSgmViews *views,
                                const GstVideoInfo *info);

/* TRUE for metas with regions of the frame: regions of interest, GstAnalyticsRelationMeta. */
gboolean gst_cuda_sgm_is_region(const GstMeta *meta);

/* Adds a region of interest with another box and the rest of `from`. */
void gst_cuda_sgm_copy_interest(GstBuffer *out, const GstVideoRegionOfInterestMeta *from,
                                const GstVideoRectangle *box);

/* Adds the part of `meta` that lies in the left view to `out`, shifted to its origin. */
void gst_cuda_sgm_copy_region(GstBuffer *out, const GstVideoInfo *out_info, GstMeta *meta,
                              GstBuffer *in, const GstVideoInfo *in_info,
                              const GstCudaSgmViews *views);

G_END_DECLS
#endif
