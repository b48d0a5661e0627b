/* SPDX-License-Identifier: MIT */
/* gstcudastixels_semantics.h: semantics of a frame, from its annotation or from label pictures. */
#ifndef GST_CUDA_STIXELS_SEMANTICS_H
#define GST_CUDA_STIXELS_SEMANTICS_H

#include "common/gstrvtransform.h"
#include "stixels/stixels.h"

G_BEGIN_DECLS

/* Cityscapes: road, sidewalk, building, wall, fence, pole, traffic light, traffic sign, vegetation,
 * terrain, sky, person, rider, car, truck, bus, train, motorcycle, bicycle. */
#define GST_CUDA_STIXELS_CLASSES "ggooooooogsoooooooo"

/* Zeroed at first. */
typedef struct GstCudaStixelsSemantics {
  char *location;       /* of the label pictures being read; NULL: none */
  GstElement *pipeline; /* reads them; NULL: not yet, or at their end */
  GstElement *sink;
  gboolean at_end;
  GstSample *sample; /* the present one, mapped */
  GstVideoFrame frame;
  gboolean mapped;
  GstRvInput input;
} GstCudaStixelsSemantics;

/* Classes from one letter each, g(round), o(bject) or s(ky); FALSE when there is another letter or
 * more than 32. */
gboolean gst_cuda_stixels_semantics_parse(const char *classes, RvStixelsConfig *config);

/* Fills in labels or scores of `input`, or neither. `location`: pattern of label pictures, the next
 * one is read; empty or NULL: the annotation RvSemanticsMeta. What cannot be used is warned of once
 * per stream (bits `once` and `once` + 1) and left alone. */
RvStatus gst_cuda_stixels_semantics_map(GstCudaStixelsSemantics *semantics, GstRvTransform *element,
                                        const GstRvExecContext *work, GstBuffer *buffer,
                                        const char *location, int classes, guint once,
                                        RvStixelsInput *input);
void gst_cuda_stixels_semantics_unmap(GstCudaStixelsSemantics *semantics); /* after the wait */
void gst_cuda_stixels_semantics_clear(GstCudaStixelsSemantics *semantics);

G_END_DECLS
#endif
