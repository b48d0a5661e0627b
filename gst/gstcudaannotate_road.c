/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_road.c: the layer of RvRoadMeta, drawn by cuda/draw. */
#include "gstcudaannotate_road.h"

/* Fraction of the configured opacity: the texture of the road remains visible. */
#define TINT_SHARE 0.6
#define MARK_SHARE 0.45

static RvColor tint_of(int opacity) {
  return (RvColor){0, 208, 92, (guint8)(opacity * TINT_SHARE + 0.5)};
}

static RvColor mark_of(int opacity) {
  return (RvColor){255, 196, 0, (guint8)(opacity * MARK_SHARE + 0.5)};
}

static RvColor edge_of(int opacity) {
  return (RvColor){92, 255, 160, (guint8)opacity};
}

RvStatus gst_cuda_annotate_road_draw(GstCudaAnnotateRoad *self, const GstRvExecContext *work,
                                     RvDraw *draw, const RvPicture *picture, const RvMetaRoad *meta,
                                     int thickness, int opacity) {
  RvDrawGrid grid = {.width = meta->width,
                     .height = meta->height,
                     .cell = meta->patch_size,
                     .tint = tint_of(opacity),
                     .mark = mark_of(opacity),
                     .edge = edge_of(opacity),
                     .edge_width = thickness};
  RvStatus status = gst_rv_input_map(&self->mask, work, meta->payload);
  grid.mask = self->mask.plane;
  if (status == RV_OK && meta->seed_mask) {
    status = gst_rv_input_map(&self->seeds, work, meta->seed_mask);
    grid.marks = self->seeds.plane;
  }
  return status == RV_OK ? rv_draw_grid(draw, picture, &grid, work->stream) : status;
}

RvStatus gst_cuda_annotate_road_keys(RvDraw *draw, int opacity) {
  const RvDrawLegendEntry keys[] = {{tint_of(opacity), "road"}, {mark_of(opacity), "seeds"}};
  return rv_draw_legend_entries(draw, keys, G_N_ELEMENTS(keys));
}

void gst_cuda_annotate_road_unmap(GstCudaAnnotateRoad *self) {
  gst_rv_input_unmap(&self->mask);
  gst_rv_input_unmap(&self->seeds);
}

void gst_cuda_annotate_road_clear(GstCudaAnnotateRoad *self) {
  gst_rv_input_clear(&self->mask);
  gst_rv_input_clear(&self->seeds);
}
