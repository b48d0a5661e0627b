/* SPDX-License-Identifier: MIT */
/* gstcudastixels_semantics.h: semantics of a frame, from its annotation. */
#ifndef GST_CUDA_STIXELS_SEMANTICS_H
#define GST_CUDA_STIXELS_SEMANTICS_H

#include "common/gstrvtransform.h"
#include "stixels/stixels.h"

G_BEGIN_DECLS

/* Cityscapes: road, sidewalk, building, wall, fence, pole, traffic light, traffic sign, vegetation,
 * terrain, sky, person, rider, car, truck, bus, train, motorcycle, bicycle. */
#define GST_CUDA_STIXELS_CLASSES "ggooooooogsoooooooo"

/* Initially zero. */
typedef struct GstCudaStixelsSemantics {
  GstRvInput input;
} GstCudaStixelsSemantics;

/* Sets the semantic classes of `config` from one letter each: g (ground), o (object) or s (sky).
 * FALSE for another letter or more than 32. */
gboolean gst_cuda_stixels_semantics_parse(const char *classes, RvStixelsConfig *config);

/* Sets labels or scores of `input` from RvSemanticsMeta, or neither. Invalid semantics are ignored,
 * with one warning per stream (bit `once`). */
RvStatus gst_cuda_stixels_semantics_map(GstCudaStixelsSemantics *semantics, GstRvTransform *element,
                                        const GstRvExecContext *work, GstBuffer *buffer,
                                        int classes, guint once, RvStixelsInput *input);
void gst_cuda_stixels_semantics_unmap(
    GstCudaStixelsSemantics *semantics); /* after stream synchronization */
void gst_cuda_stixels_semantics_clear(GstCudaStixelsSemantics *semantics);

G_END_DECLS
#endif
