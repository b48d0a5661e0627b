/* gstrvdisparity.h: the disparity that an element works on: the one that rides on its picture
 * (RvDisparityMeta), or, when its frames are GRAY16_LE, the frame itself. */
#ifndef GST_RV_DISPARITY_H
#define GST_RV_DISPARITY_H

#include "gstrvtransform.h"

G_BEGIN_DECLS

#define GST_RV_DISPARITY_SCALE 16 /* values per px of `plane`, whatever the frame has */
#define GST_RV_DISPARITY_SCALE_MAX 2048

/* Caps of frames that are disparity maps; for gst_rv_transform_class_add_templates. */
#define GST_RV_DISPARITY_CAPS                                                                      \
  "video/x-raw, format=GRAY16_LE, width=[1,16384], height=[1,16384], "                             \
  "framerate=[0/1,2147483647/1]"

/* Zeroed at first; used frame after frame it keeps its memory. */
typedef struct GstRvDisparity {
  RvPlane plane;         /* RV_U16, 1/16 px, in the engine's memory; data NULL: none of use */
  GstBuffer *confidence; /* of the annotation, for gst_rv_input_map; NULL: none */
  GstRvInput input;
  GstVideoFrame frame;
  gboolean frame_mapped;
  guint16 *rescaled; /* a frame brought to 1/16 px, on the host */
  gsize rescaled_bytes;
} GstRvDisparity;

/* Maps the disparity of `buffer`. `scale`: values per px of GRAY16_LE frames. A picture without
 * disparity, or with one of another kind, is no failure: `plane.data` is NULL, and a warning is
 * posted once per stream (bits `once` and `once` + 1 of gst_rv_transform_once). */
RvStatus gst_rv_disparity_map(GstRvDisparity *disparity, GstRvTransform *element,
                              const GstRvWork *work, GstBuffer *buffer, int scale, guint once);

/* After the wait. Does nothing when not mapped. */
void gst_rv_disparity_unmap(GstRvDisparity *disparity);

/* Frees the copies. */
void gst_rv_disparity_clear(GstRvDisparity *disparity);

G_END_DECLS
#endif
