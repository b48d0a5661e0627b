/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_lines.c: the layer of RvLinesMeta: ends by cuda/hough, drawn by cuda/draw. */
#include "gstcudaannotate_layer.h"
#include "hough/hough.h"

#define LINES_MAX                                                                                  \
  1024 /* the number of shapes is limited; the lines with the most votes come first */

static const RvColor LINE_COLOR = {255, 64, 160, 230};

static RvStatus draw(GstRvInput *input, const GstCudaAnnotateView *view) {
  RvMetaLines meta;
  RvMetaMap map;
  (void)input;
  if (!rv_meta_get_lines(view->buffer, &meta))
    return RV_OK;
  if (!rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ)) {
    gst_rv_log_line(&view->work->log, "failed to map the lines of the frame");
    return RV_ERR_IO;
  }
  const RvLine *lines = (const RvLine *)(const void *)map.info.data;
  RvStatus status = RV_OK;
  /* The line with the most votes is drawn last, over the others. */
  for (int i = MIN(meta.count, LINES_MAX); status == RV_OK && i-- > 0;) {
    int ends[4];
    if (rv_hough_ends(&lines[i], meta.segments, meta.width, meta.height, view->picture->width,
                      view->picture->height, ends))
      status = rv_draw_line(view->draw, ends[0], ends[1], ends[2], ends[3], view->thickness_fx,
                            LINE_COLOR);
  }
  rv_meta_unmap(&map);
  return status;
}

const GstCudaAnnotateLayer gst_cuda_annotate_lines_layer = {
    .annotation = RV_META_LINES,
    .draw = draw,
};
