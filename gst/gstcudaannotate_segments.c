/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_segments.c: the layer of RvSegmentsMeta: rasters by cuda/rdp, blended by
 * cuda/draw.
 */
#include "gstcudaannotate_segments.h"

#include "rdp/rdp_render.h"

static const RvColor END_COLOR = {0, 0, 0, 150};

static RvStatus ready_rasters(GstCudaAnnotateSegments *self, const GstRvExecContext *work,
                              int width, int height) {
  if (self->disparity.data && self->disparity.width == width && self->disparity.height == height)
    return RV_OK;
  rv_buffer_free(&self->disparity.data, self->engine);
  rv_buffer_free(&self->ends.data, self->engine);
  self->engine = work->engine;
  self->disparity = (RvPlane){NULL, gst_rv_raster_stride(RV_U16, width), width, height, RV_U16};
  self->ends = (RvPlane){NULL, gst_rv_raster_stride(RV_U8, width), width, height, RV_U8};
  const RvStatus status = rv_buffer_new(&self->disparity.data,
                                        gst_rv_raster_bytes(RV_U16, width, height), work->engine);
  return status == RV_OK ? rv_buffer_new(&self->ends.data,
                                         gst_rv_raster_bytes(RV_U8, width, height), work->engine)
                         : status;
}

RvStatus gst_cuda_annotate_segments_draw(GstCudaAnnotateSegments *self,
                                         const GstRvExecContext *work, RvDraw *draw,
                                         const RvPicture *picture, const RvMetaSegments *meta,
                                         int low, int high, int opacity) {
  RvStatus status = ready_rasters(self, work, meta->width, meta->height);
  if (status == RV_OK)
    status = gst_rv_input_map(&self->list, work, meta->payload);
  if (status == RV_OK)
    status = rv_rdp_render(self->list.plane.data, (uint32_t)meta->count, &self->disparity,
                           &self->ends, work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = rv_draw_disparity(draw, picture, &self->disparity, low, high, opacity, work->stream);
  return status == RV_OK ? rv_draw_mask(draw, picture, &self->ends, END_COLOR, work->stream)
                         : status;
}

void gst_cuda_annotate_segments_unmap(GstCudaAnnotateSegments *self) {
  gst_rv_input_unmap(&self->list);
}

void gst_cuda_annotate_segments_clear(GstCudaAnnotateSegments *self) {
  gst_rv_input_clear(&self->list);
  rv_buffer_free(&self->disparity.data, self->engine);
  rv_buffer_free(&self->ends.data, self->engine);
}
