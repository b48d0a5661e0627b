/* SPDX-License-Identifier: MIT */
/* gstcudardp.h: element cudardp, depth columns into line segments. */
#ifndef GST_CUDA_RDP_H
#define GST_CUDA_RDP_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_RDP (gst_cuda_rdp_get_type())
G_DECLARE_FINAL_TYPE(GstCudaRdp, gst_cuda_rdp, GST, CUDA_RDP, GstRvTransform)

GST_ELEMENT_REGISTER_DECLARE(cudardp)

G_END_DECLS
#endif
