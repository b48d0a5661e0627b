/* SPDX-License-Identifier: MIT */
/* gstcudalanes.h: element cudalanes. */
#ifndef GST_CUDA_LANES_H
#define GST_CUDA_LANES_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_LANES (gst_cuda_lanes_get_type())
G_DECLARE_FINAL_TYPE(GstCudaLanes, gst_cuda_lanes, GST, CUDA_LANES, GstRvTransform)
GST_ELEMENT_REGISTER_DECLARE(cudalanes)

G_END_DECLS
#endif
