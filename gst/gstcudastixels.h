/* SPDX-License-Identifier: MIT */
/* gstcudastixels.h: element cudastixels, the street as stixels. */
#ifndef GST_CUDA_STIXELS_H
#define GST_CUDA_STIXELS_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_STIXELS (gst_cuda_stixels_get_type())
G_DECLARE_FINAL_TYPE(GstCudaStixels, gst_cuda_stixels, GST, CUDA_STIXELS, GstRvTransform)

GST_ELEMENT_REGISTER_DECLARE(cudastixels)

G_END_DECLS
#endif
