/* SPDX-License-Identifier: MIT */
/* gstcudarectify_metas.c: regions of interest and detections under rectification. */
#include "gstcudarectify_metas.h"

#include <math.h>

#include "gstcudasgm_metas.h"
#include "gstrvconfig.h"
#if HAVE_GST_ANALYTICS
#  include <gst/analytics/analytics.h>
#endif

typedef struct Box {
  double x0, y0, x1, y1; /* px; x1 and y1 are behind the last pixel */
} Box;

static double area(const Box *box) {
  return MAX(box->x1 - box->x0, 0) * MAX(box->y1 - box->y0, 0);
}

static Box clipped(const Box *box, double width, double height) {
  return (Box){MAX(box->x0, 0), MAX(box->y0, 0), MIN(box->x1, width), MIN(box->y1, height)};
}

/* The box of the outline's image: lines become curves, so the middles of the edges count too. Points
 * that no output pixel shows (beyond the fold of a strong lens) are outside; FALSE when the center of
 * the box is one. */
static gboolean map_outline(const RvRectifyGeometry *geometry, int view, const Box *from, Box *to) {
  *to = (Box){HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int k = 0; k < 9; k++) {
    /* Edges are between pixels, whose centers have whole numbers. */
    const double u = from->x0 + (from->x1 - from->x0) * (k % 3) / 2.0 - 0.5;
    const double v = from->y0 + (from->y1 - from->y0) * (k / 3) / 2.0 - 0.5;
    double x, y;
    if (!rv_rectify_point(geometry, view, u, v, &x, &y)) {
      if (k == 4)
        return FALSE;
      continue;
    }
    to->x0 = MIN(to->x0, x + 0.5);
    to->y0 = MIN(to->y0, y + 0.5);
    to->x1 = MAX(to->x1, x + 0.5);
    to->y1 = MAX(to->y1, y + 0.5);
  }
  return TRUE;
}

/* Moves a box of the packed frame; FALSE when it is to be dropped. */
static gboolean move_box(const GstCudaRectifyViews *v, Box *box) {
  const gboolean top_bottom = v->layout >= RV_RECTIFY_TOP_BOTTOM;
  const gboolean right_first = v->layout == RV_RECTIFY_SIDE_BY_SIDE_RIGHT_FIRST ||
                               v->layout == RV_RECTIFY_TOP_BOTTOM_RIGHT_FIRST;
  const int second =
      top_bottom ? (box->y0 + box->y1) / 2 >= v->in_height : (box->x0 + box->x1) / 2 >= v->in_width;
  const double in_x = second && !top_bottom ? v->in_width : 0;
  const double in_y = second && top_bottom ? v->in_height : 0;
  const double out_x = second && !top_bottom ? v->geometry.width : 0;
  const double out_y = second && top_bottom ? v->geometry.height : 0;
  const Box all = {box->x0 - in_x, box->y0 - in_y, box->x1 - in_x, box->y1 - in_y};
  const Box from = clipped(&all, v->in_width, v->in_height);
  Box mapped;
  if (2 * area(&from) < area(&all) ||
      !map_outline(&v->geometry, second != right_first, &from, &mapped))
    return FALSE;
  const Box to = clipped(&mapped, v->geometry.width, v->geometry.height);
  if (area(&to) < 1 || 2 * area(&to) < area(&mapped))
    return FALSE;
  *box = (Box){floor(to.x0 + out_x + 0.5), floor(to.y0 + out_y + 0.5), floor(to.x1 + out_x + 0.5),
               floor(to.y1 + out_y + 0.5)};
  return area(box) >= 1;
}

static void copy_interest(GstBuffer *out, const GstVideoRegionOfInterestMeta *from,
                          const GstCudaRectifyViews *views) {
  Box box = {from->x, from->y, (double)from->x + from->w, (double)from->y + from->h};
  if (!move_box(views, &box))
    return;
  const GstVideoRectangle to = {(int)box.x0, (int)box.y0, (int)(box.x1 - box.x0),
                                (int)(box.y1 - box.y0)};
  gst_cuda_sgm_copy_interest(out, from, &to);
}

#if HAVE_GST_ANALYTICS
/* Detections only: boxes cannot be changed in place, and relations refer to the old numbers. */
static void copy_detections(GstBuffer *out, GstAnalyticsRelationMeta *from,
                            const GstCudaRectifyViews *views) {
  GstAnalyticsRelationMeta *to = NULL;
  gpointer state = NULL;
  GstAnalyticsODMtd detection, moved;
  while (gst_analytics_relation_meta_iterate(from, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &detection)) {
    gint x, y, w, h;
    gfloat confidence;
    if (!gst_analytics_od_mtd_get_location(&detection, &x, &y, &w, &h, &confidence))
      continue;
    Box box = {x, y, (double)x + w, (double)y + h};
    if (!move_box(views, &box))
      continue;
    if (!to)
      to = gst_buffer_add_analytics_relation_meta(out);
    gst_analytics_relation_meta_add_od_mtd(to, gst_analytics_od_mtd_get_obj_type(&detection),
                                           (gint)box.x0, (gint)box.y0, (gint)(box.x1 - box.x0),
                                           (gint)(box.y1 - box.y0), confidence, &moved);
  }
}
#endif

void gst_cuda_rectify_copy_region(GstBuffer *out, GstMeta *meta, const GstCudaRectifyViews *views) {
  if (meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    copy_interest(out, (const GstVideoRegionOfInterestMeta *)meta, views);
#if HAVE_GST_ANALYTICS
  else
    copy_detections(out, (GstAnalyticsRelationMeta *)meta, views);
#endif
}
