/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_segments.c: the layer of RvSegmentsMeta: rasters by cuda/rdp, blended by
 * cuda/draw.
 */
#include "gstcudaannotate_segments.h"

#include "rdp/rdp_render.h"

static const RvColor END_COLOR = {0, 0, 0, 150};

RvStatus gst_cuda_annotate_segments_draw(GstCudaAnnotateRasters *self, const GstRvExecContext *work,
                                         RvDraw *draw, const RvPicture *picture,
                                         const RvMetaSegments *meta,
                                         const GstCudaAnnotateStyle *style) {
  RvStatus status = gst_cuda_annotate_rasters_ready(self, work, meta->width, meta->height);
  if (status == RV_OK)
    status = gst_rv_input_map(&self->list, work, meta->payload);
  if (status == RV_OK)
    status = rv_rdp_render(self->list.plane.data, (uint32_t)meta->count, &self->disparity,
                           &self->edges, work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = rv_draw_disparity(draw, picture, &self->disparity, style->low, style->high,
                               style->opacity, work->stream);
  return status == RV_OK ? rv_draw_mask(draw, picture, &self->edges, END_COLOR, work->stream)
                         : status;
}
