/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_space.c: the layer of RvFreeSpaceMeta: a carpet from the bottom of the frame up to
 * where the free space ends, and its edge. */
#include <math.h>

#include "gstcudaannotate_objects.h"

#define PIECES 160 /* of the carpet, at most; each takes two shapes */

static const RvColor CARPET = {48, 220, 120, 255};

/* Of the edge, by what ends the free space. */
static RvColor edge_color(const RvFreeColumn *column) {
  static const RvColor open = {150, 255, 190, 255}, object = {255, 96, 48, 255};
  static const RvColor unknown = {170, 170, 170, 200};
  return column->kind == RV_FREE_SPACE_UNKNOWN ? unknown
         : column->kind == RV_FREE_SPACE_RANGE ? open
                                               : object;
}

static RvStatus draw_columns(const void *records, int count, const void *annotation,
                             const GstCudaAnnotateView *view) {
  const RvFreeColumn *list = records;
  const RvMetaFreeSpace *meta = annotation;
  const GstCudaAnnotateFit fit = gst_cuda_annotate_fit(view, meta->width, meta->height);
  const int step = (count + PIECES - 1) / PIECES;
  RvColor carpet = CARPET;
  RvStatus status = RV_OK;
  carpet.a = (guint8)(view->opacity * 2 / 5);
  for (int k = 0; k + 1 < count && status == RV_OK; k += step) {
    const int next = MIN(k + step, count - 1);
    const double left = k == 0 ? 0 : (k + 0.5) * meta->column_width * fit.sx;
    const double right =
        next == count - 1 ? fit.width : MIN((next + 0.5) * meta->column_width * fit.sx, fit.width);
    const int x0 = (int)(16 * MIN(left, fit.width)), x1 = (int)(16 * right);
    const int y0 = (int)(16 * MIN(list[k].row * fit.sy, fit.height));
    const int y1 = (int)(16 * MIN(list[next].row * fit.sy, fit.height));
    const int corners[8] = {x0, y0, x1, y1, x1, 16 * fit.height, x0, 16 * fit.height};
    status = rv_draw_quad(view->draw, corners, carpet);
    if (status == RV_OK)
      status = rv_draw_line(view->draw, x0, y0, x1, y1, view->thickness_fx, edge_color(&list[k]));
  }
  return status;
}

static RvStatus draw(GstRvInput *input, const GstCudaAnnotateView *view) {
  RvMetaFreeSpace meta;
  (void)input;
  if (!rv_meta_get_free_space(view->buffer, &meta))
    return RV_OK;
  return gst_cuda_annotate_records_draw(view, meta.payload, meta.columns, &meta, draw_columns);
}

const GstCudaAnnotateLayer gst_cuda_annotate_space_layer = {
    .annotation = RV_META_FREE_SPACE,
    .draw = draw,
};
