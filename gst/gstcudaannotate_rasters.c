/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_rasters.c: memory for the rasters of segments and stixels. */
#include "gstcudaannotate_rasters.h"

static void free_planes(GstCudaAnnotateRasters *rasters) {
  rv_buffer_free(&rasters->disparity.data, rasters->engine);
  rv_buffer_free(&rasters->edges.data, rasters->engine);
}

RvStatus gst_cuda_annotate_rasters_ready(GstCudaAnnotateRasters *rasters,
                                         const GstRvExecContext *work, int width, int height) {
  RvPlane *disparity = &rasters->disparity, *edges = &rasters->edges;
  if (disparity->data && disparity->width == width && disparity->height == height)
    return RV_OK;
  free_planes(rasters);
  rasters->engine = work->engine;
  *disparity = (RvPlane){NULL, gst_rv_raster_stride(RV_U16, width), width, height, RV_U16};
  *edges = (RvPlane){NULL, gst_rv_raster_stride(RV_U8, width), width, height, RV_U8};
  const RvStatus status =
      rv_buffer_new(&disparity->data, gst_rv_raster_bytes(RV_U16, width, height), work->engine);
  return status == RV_OK
             ? rv_buffer_new(&edges->data, gst_rv_raster_bytes(RV_U8, width, height), work->engine)
             : status;
}

void gst_cuda_annotate_rasters_unmap(GstCudaAnnotateRasters *rasters) {
  gst_rv_input_unmap(&rasters->list);
}

void gst_cuda_annotate_rasters_clear(GstCudaAnnotateRasters *rasters) {
  gst_rv_input_clear(&rasters->list);
  free_planes(rasters);
}
