/* SPDX-License-Identifier: MIT */
/* gstrvdisparity.h: the disparity that an element reads: the annotation of its frame
 * (RvDisparityMeta), or, when its frames are GRAY16_LE, the frame itself. */
#ifndef GST_RV_DISPARITY_H
#define GST_RV_DISPARITY_H

#include "gstrvsettings.h"
#include "gstrvtransform.h"

G_BEGIN_DECLS

#define GST_RV_DISPARITY_SCALE 16 /* values per px of `plane`, whatever the frame has */
#define GST_RV_DISPARITY_SCALE_MAX 2048

/* Row of the property disparity-scale, for gst_rv_disparity_map. */
#define GST_RV_DISPARITY_SCALE_ROW(place)                                                          \
  {                                                                                                \
    .name = "disparity-scale", .text = "Values per px of disparity in GRAY16_LE frames",           \
    .note = "KITTI: 256", .type = RV_PARAM_INT, .low = 1, .high = GST_RV_DISPARITY_SCALE_MAX,      \
    .value = GST_RV_DISPARITY_SCALE, .offset = (place)                                             \
  }

/* Zeroed at first; used frame after frame it keeps its memory. */
typedef struct GstRvDisparity {
  RvPlane plane;         /* RV_U16, 1/16 px, in the engine's memory; data NULL: none of use */
  int range;             /* px: end of the search range; 0: unknown */
  GstBuffer *confidence; /* of the annotation, for gst_rv_input_map; NULL: none */
  GstRvInput input;
  GstVideoFrame frame;
  gboolean frame_mapped;
  guint16 *rescaled; /* a frame brought to 1/16 px, on the host */
  gsize rescaled_bytes;
} GstRvDisparity;

/* Maps the disparity of `buffer`. `scale`: values per px of GRAY16_LE frames. A frame without
 * disparity, or with one of another kind, is no failure: `plane.data` is NULL, and a warning is
 * posted once per stream (bits `once` and `once` + 1 of gst_rv_transform_once). */
RvStatus gst_rv_disparity_map(GstRvDisparity *disparity, GstRvTransform *element,
                              const GstRvExecContext *work, GstBuffer *buffer, int scale,
                              guint once);

/* After the wait. Does nothing when not mapped. */
void gst_rv_disparity_unmap(GstRvDisparity *disparity);

/* Frees the copies. */
void gst_rv_disparity_clear(GstRvDisparity *disparity);

G_END_DECLS
#endif
