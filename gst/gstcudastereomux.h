/* SPDX-License-Identifier: MIT */
/* gstcudastereomux.h: element cudastereomux, two cameras into one frame-packed stream. */
#ifndef GST_CUDA_STEREO_MUX_H
#define GST_CUDA_STEREO_MUX_H

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_STEREO_MUX (gst_cuda_stereo_mux_get_type())
G_DECLARE_FINAL_TYPE(GstCudaStereoMux, gst_cuda_stereo_mux, GST, CUDA_STEREO_MUX, GstAggregator)

GST_ELEMENT_REGISTER_DECLARE(cudastereomux)

G_END_DECLS
#endif
