/* SPDX-License-Identifier: MIT */
/* gstcudarectify.h: element cudarectify. */
#ifndef GST_CUDA_RECTIFY_H
#define GST_CUDA_RECTIFY_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_RECTIFY (gst_cuda_rectify_get_type())
G_DECLARE_FINAL_TYPE(GstCudaRectify, gst_cuda_rectify, GST, CUDA_RECTIFY, GstRvTransform)
GST_ELEMENT_REGISTER_DECLARE(cudarectify)

G_END_DECLS
#endif
