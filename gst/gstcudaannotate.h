/* SPDX-License-Identifier: MIT */
/* gstcudaannotate.h: element cudaannotate, draws annotations on the image. */
#ifndef GST_CUDA_ANNOTATE_H
#define GST_CUDA_ANNOTATE_H

#include "common/gstrvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_ANNOTATE (gst_cuda_annotate_get_type())
G_DECLARE_FINAL_TYPE(GstCudaAnnotate, gst_cuda_annotate, GST, CUDA_ANNOTATE, GstRvTransform)

GST_ELEMENT_REGISTER_DECLARE(cudaannotate)

G_END_DECLS
#endif
