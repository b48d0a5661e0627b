/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_layer.h: a layer that cudaannotate draws from one annotation: see layers.def. */
#ifndef GST_CUDA_ANNOTATE_LAYER_H
#define GST_CUDA_ANNOTATE_LAYER_H

#include "common/gstrvtransform.h"
#include "draw/draw.h"

G_BEGIN_DECLS

/* Behind thin lines and texts, so that they show on any frame. */
#define GST_CUDA_ANNOTATE_OUTLINE ((RvColor){0, 0, 0, 200})

/* One frame, as a layer sees it. */
typedef struct GstCudaAnnotateView {
  const GstRvExecContext *work;
  RvDraw *draw;
  const RvPicture *picture; /* the frame that is drawn on */
  GstBuffer *buffer;        /* has the annotations */
  int opacity;              /* of areas, 0..255 */
  int thickness_fx;         /* of lines, 1/16 px */
} GstCudaAnnotateView;

/* The image, and its px per px of an annotation of width x height px. */
typedef struct GstCudaAnnotateFit {
  int width, height;
  double sx, sy;
} GstCudaAnnotateFit;

static inline GstCudaAnnotateFit gst_cuda_annotate_fit(const GstCudaAnnotateView *view, int width,
                                                       int height) {
  const RvPicture *picture = view->picture;
  return (GstCudaAnnotateFit){picture->width, picture->height, (double)picture->width / width,
                              (double)picture->height / height};
}

typedef struct GstCudaAnnotateLayer {
  const char *annotation; /* a frame that has it needs no disparity; NULL: every frame may */
  /* Draws the annotation of view->buffer; RV_OK if there is none. `input` may map one payload;
   * it is unmapped after the synchronization. Layers are blended at once, shapes with the rest. */
  RvStatus (*draw)(GstRvInput *input, const GstCudaAnnotateView *view);
} GstCudaAnnotateLayer;

G_END_DECLS
#endif
