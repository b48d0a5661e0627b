/* SPDX-License-Identifier: MIT */
/* gstcudahough.h: element cudahough. */
#ifndef GST_CUDA_HOUGH_H
#define GST_CUDA_HOUGH_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_HOUGH (gst_cuda_hough_get_type())
G_DECLARE_FINAL_TYPE(GstCudaHough, gst_cuda_hough, GST, CUDA_HOUGH, GstRvTransform)
GST_ELEMENT_REGISTER_DECLARE(cudahough)

G_END_DECLS
#endif
