/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_lines.c: the shapes of RvLinesMeta: ends by cuda/hough, drawn by cuda/draw. */
#include "gstcudaannotate_lines.h"

#include "hough/hough.h"

#define LINES_MAX 1024 /* shapes are limited; the lines with the most votes come first */

static const RvColor LINE_COLOR = {255, 64, 160, 230};

RvStatus gst_cuda_annotate_lines_draw(RvDraw *draw, const RvPicture *picture,
                                      const RvMetaLines *meta, int thickness_fx, const RvLog *log) {
  RvMetaMap map;
  if (!rv_meta_map_buffer(&map, meta->payload, GST_MAP_READ)) {
    gst_rv_log_line(log, "the lines of the picture cannot be read");
    return RV_ERR_IO;
  }
  const RvLine *lines = (const RvLine *)(const void *)map.info.data;
  RvStatus status = RV_OK;
  /* The strongest is drawn last, over the others. */
  for (int i = MIN(meta->count, LINES_MAX); status == RV_OK && i-- > 0;) {
    int ends[4];
    if (rv_hough_ends(&lines[i], meta->segments, meta->width, meta->height, picture->width,
                      picture->height, ends))
      status = rv_draw_line(draw, ends[0], ends[1], ends[2], ends[3], thickness_fx, LINE_COLOR);
  }
  rv_meta_unmap(&map);
  return status;
}
