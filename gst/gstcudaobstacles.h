/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles.h: element cudaobstacles. */
#ifndef GST_CUDA_OBSTACLES_H
#define GST_CUDA_OBSTACLES_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_OBSTACLES (gst_cuda_obstacles_get_type())
G_DECLARE_FINAL_TYPE(GstCudaObstacles, gst_cuda_obstacles, GST, CUDA_OBSTACLES, GstRvTransform)
GST_ELEMENT_REGISTER_DECLARE(cudaobstacles)

G_END_DECLS
#endif
