/* SPDX-License-Identifier: MIT */
/* gstcudasgm.h: element cudasgm, stereo depth by semi-global matching. */
#ifndef GST_CUDA_SGM_H
#define GST_CUDA_SGM_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_SGM (gst_cuda_sgm_get_type())
G_DECLARE_FINAL_TYPE(GstCudaSgm, gst_cuda_sgm, GST, CUDA_SGM, GstRvTransform)

GST_ELEMENT_REGISTER_DECLARE(cudasgm)

G_END_DECLS
#endif
