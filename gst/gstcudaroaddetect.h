/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect.h: element cudaroaddetect. */
#ifndef GST_CUDA_ROAD_DETECT_H
#define GST_CUDA_ROAD_DETECT_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_ROAD_DETECT (gst_cuda_road_detect_get_type())
G_DECLARE_FINAL_TYPE(GstCudaRoadDetect, gst_cuda_road_detect, GST, CUDA_ROAD_DETECT, GstRvTransform)
GST_ELEMENT_REGISTER_DECLARE(cudaroaddetect)

G_END_DECLS
#endif
