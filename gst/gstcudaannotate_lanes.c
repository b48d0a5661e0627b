/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_lanes.c: the layer of RvLanesMeta: the own lane as an area, lines with their
 * kind, offset and width as text. */
#include <math.h>

#include "gstcudaannotate_layer.h"

#define LINES_MAX 32
#define POINTS_MAX 64 /* of a polyline */

static const RvColor WHITE = {255, 255, 255, 235}, YELLOW = {255, 210, 40, 235};
static const RvColor CURB = {255, 130, 40, 235}, RAIL = {150, 150, 160, 200};
static const RvColor EDGE = {60, 170, 255, 235};
static const RvColor LANE = {40, 220, 120, 255}, TEXT = {255, 255, 255, 255};

/* A frame's annotation, mapped. */
typedef struct Lanes {
  RvMetaLanes meta;
  const RvLaneLine *lines;
  const float *points;
  int values; /* of a line */
  double sx, sy;
} Lanes;

/* Point k of line i in 1/16 px of the image; FALSE: too far outside to be drawn. */
static gboolean point_at(const Lanes *lanes, int i, int k, int *x, int *y) {
  const float *point = lanes->points + (gsize)i * (gsize)lanes->values + 2 * k;
  const double u = ((double)point[0] + 0.5) * lanes->sx, v = ((double)point[1] + 0.5) * lanes->sy;
  const double limit = RV_DRAW_COORD_MAX / 2.0;
  if (!(u > -limit && u < limit && v > -limit && v < limit))
    return FALSE;
  *x = (int)floor(u * 16 + 0.5);
  *y = (int)floor(v * 16 + 0.5);
  return TRUE;
}

static RvColor color_of(const RvLaneLine *line) {
  RvColor color = line->color == RV_LANE_COLOR_YELLOW ? YELLOW : WHITE;
  if (line->kind == RV_LANE_LINE_CURB)
    color = CURB;
  if (line->kind == RV_LANE_LINE_RAIL)
    color = RAIL;
  if (line->kind == RV_LANE_LINE_EDGE)
    color = EDGE;
  if (line->missed > 0) /* of an earlier frame */
    color.a /= 2;
  return color;
}

/* Strip between both borders. */
static RvStatus draw_area(const Lanes *lanes, const GstCudaAnnotateView *view) {
  const int left = lanes->meta.left, right = lanes->meta.right;
  RvColor color = LANE;
  RvStatus status = RV_OK;
  color.a = (guint8)(view->opacity * 2 / 5);
  for (int k = 0; left >= 0 && right >= 0 && status == RV_OK && 2 * k + 3 < lanes->values; k++) {
    int c[8];
    if (point_at(lanes, left, k, &c[0], &c[1]) && point_at(lanes, left, k + 1, &c[2], &c[3]) &&
        point_at(lanes, right, k + 1, &c[4], &c[5]) && point_at(lanes, right, k, &c[6], &c[7]))
      status = rv_draw_quad(view->draw, c, color);
  }
  return status;
}

/* A line; every second piece of a dashed one. */
static RvStatus draw_line(const Lanes *lanes, int i, const GstCudaAnnotateView *view) {
  const RvLaneLine *line = &lanes->lines[i];
  const gboolean has_gaps = line->kind == RV_LANE_LINE_DASHED || line->kind == RV_LANE_LINE_DOTS;
  const gboolean is_border = i == lanes->meta.left || i == lanes->meta.right;
  const int thickness = is_border ? view->thickness_fx : MAX(view->thickness_fx * 2 / 3, 16);
  RvStatus status = RV_OK;
  for (int k = 0; status == RV_OK && 2 * k + 3 < lanes->values; k++) {
    int x0, y0, x1, y1;
    if ((has_gaps && k % 2 == 1) || !point_at(lanes, i, k, &x0, &y0) ||
        !point_at(lanes, i, k + 1, &x1, &y1))
      continue;
    status = rv_draw_line(view->draw, x0, y0, x1, y1, thickness, color_of(line));
  }
  return status;
}

/* "0.32 m right of center", "lane 3.48 m", below one another at the bottom. */
static RvStatus draw_text(const Lanes *lanes, const GstCudaAnnotateView *view) {
  const RvMetaLanes *meta = &lanes->meta;
  const int width = view->picture->width, height = view->picture->height;
  const int size = CLAMP(MIN(height / 16, width / 32), RV_DRAW_TEXT_MIN * 2, 64);
  char texts[2][RV_DRAW_TEXT];
  if (meta->left < 0 && meta->right < 0)
    return RV_OK;
  g_snprintf(texts[0], sizeof texts[0], "%.2f m %s of center", fabs(meta->offset),
             meta->offset < 0 ? "left" : "right");
  g_snprintf(texts[1], sizeof texts[1], "lane %.2f m%s", meta->lane_width,
             meta->left < 0    ? ", no left border"
             : meta->right < 0 ? ", no right border"
                               : "");
  RvStatus status = RV_OK;
  for (int i = 0; i < 2 && status == RV_OK; i++)
    status = rv_draw_text(view->draw, (width - rv_draw_text_width(size, texts[i])) / 2,
                          height - (5 - 2 * i) * size * 5 / 8 + size / 4, size, TEXT,
                          GST_CUDA_ANNOTATE_OUTLINE, texts[i]);
  return status;
}

static RvStatus draw_lanes(const Lanes *lanes, const GstCudaAnnotateView *view) {
  RvStatus status = draw_area(lanes, view);
  for (int i = 0; i < MIN(lanes->meta.count, LINES_MAX) && status == RV_OK; i++)
    status = draw_line(lanes, i, view);
  return status == RV_OK ? draw_text(lanes, view) : status;
}

static RvStatus draw(GstRvInput *input, const GstCudaAnnotateView *view) {
  Lanes lanes = {.values = 0};
  RvMetaMap records, points;
  (void)input;
  if (!rv_meta_get_lanes(view->buffer, &lanes.meta) || lanes.meta.count == 0 ||
      !lanes.meta.polylines)
    return RV_OK;
  lanes.values = MIN(lanes.meta.polyline_values / lanes.meta.count, 2 * POINTS_MAX);
  if (lanes.values * lanes.meta.count != lanes.meta.polyline_values)
    return RV_OK;
  lanes.sx = (double)view->picture->width / lanes.meta.width;
  lanes.sy = (double)view->picture->height / lanes.meta.height;
  if (!rv_meta_map_buffer(&records, lanes.meta.payload, GST_MAP_READ)) {
    gst_rv_log_line(&view->work->log, "failed to map the lanes of the frame");
    return RV_ERR_IO;
  }
  lanes.lines = (const RvLaneLine *)(const void *)records.info.data;
  RvStatus status = RV_ERR_IO;
  if (rv_meta_map_buffer(&points, lanes.meta.polylines, GST_MAP_READ)) {
    lanes.points = (const float *)(const void *)points.info.data;
    status = draw_lanes(&lanes, view);
    rv_meta_unmap(&points);
  } else {
    gst_rv_log_line(&view->work->log, "failed to map the polylines of the frame");
  }
  rv_meta_unmap(&records);
  return status;
}

const GstCudaAnnotateLayer gst_cuda_annotate_lanes_layer = {
    .annotation = RV_META_LANES,
    .draw = draw,
};
