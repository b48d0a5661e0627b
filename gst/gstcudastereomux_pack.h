/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_pack.h: the frame-packed format of cudastereomux: its caps, and copying two
 * views into one frame. */
#ifndef GST_CUDA_STEREO_MUX_PACK_H
#define GST_CUDA_STEREO_MUX_PACK_H

#include <gst/video/video.h>

#include "common/gstrvframe.h"

G_BEGIN_DECLS

/* Value of the property `layout`. */
typedef enum GstCudaStereoMuxLayout {
  GST_CUDA_STEREO_MUX_SIDE_BY_SIDE = 0,
  GST_CUDA_STEREO_MUX_TOP_BOTTOM,
} GstCudaStereoMuxLayout;

/* Caps of one pad. Zeroed at first. */
typedef struct GstCudaStereoMuxView {
  GstVideoInfo info;
  gboolean cuda;
  GstCaps *caps; /* NULL: none received yet */
} GstCudaStereoMuxView;

/* Checks the caps of one view. On failure `cause` and `remedy` (static) are set; `cause` is to be
 * freed. */
gboolean gst_cuda_stereo_mux_check_view(const GstVideoInfo *info, GstCudaStereoMuxLayout layout,
                                        char **cause, const char **remedy);

/* TRUE when two views can be packed: equal size, format, memory and colorimetry. */
gboolean gst_cuda_stereo_mux_views_agree(const GstCudaStereoMuxView *left,
                                         const GstCudaStereoMuxView *right);

/* "640x480 NV12 in system memory, bt709", to be freed. */
char *gst_cuda_stereo_mux_describe(const GstCudaStereoMuxView *view);

/* Returns the caps of the packed frames of two views that agree. */
GstCaps *gst_cuda_stereo_mux_packed_caps(const GstCudaStereoMuxView *left,
                                         const GstCudaStereoMuxView *right,
                                         GstCudaStereoMuxLayout layout);

/* Returns what one sink pad accepts, best first: `template` reduced to what the downstream caps
 * `packed` leave, and what the other view has or may have (NULL: unknown) before all else. */
GstCaps *gst_cuda_stereo_mux_view_caps(GstCaps *template, GstCaps *packed, GstCaps *other,
                                       GstCudaStereoMuxLayout layout);

/* The mapped frames, kept from pair to pair. Zeroed at first. */
typedef struct GstCudaStereoMuxFrames {
  GstRvFrame views[2], packed;
} GstCudaStereoMuxFrames;

/* Copies two views into `out`, whose format is `packed`, and waits until this is done. With RV_CUDA
 * all buffers are in CUDA memory of the current device. */
RvStatus gst_cuda_stereo_mux_pack(GstCudaStereoMuxFrames *frames, const GstRvExecContext *work,
                                  const GstVideoInfo *view, GstBuffer *const in[2],
                                  const GstVideoInfo *packed, GstBuffer *out,
                                  GstCudaStereoMuxLayout layout);

G_END_DECLS
#endif
