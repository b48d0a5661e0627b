/* SPDX-License-Identifier: MIT */
/* gstcudasgm_metas.c: cameras, ground truth and regions of a packed frame, brought to the left view.
 */
#include "gstcudasgm_metas.h"

#include <string.h>

#include "roadvision-gst.h"

/* --- Sizes ----------------------------------------------------------------------------------- */

/* TRUE when a / b is the same ratio as c / d, sizes being rounded to integers. */
static gboolean same_ratio(gint64 a, gint64 b, gint64 c, gint64 d) {
  return ABS(a * d - c * b) <= MAX(b, d);
}

GstCudaSgmFit gst_cuda_sgm_fit(const GstCudaSgmViews *views, const GstVideoInfo *info, int width,
                               int height) {
  const int w = views->width, h = views->height;
  const gint64 n = MAX(GST_VIDEO_INFO_PAR_N(info), 1), d = MAX(GST_VIDEO_INFO_PAR_D(info), 1);
  if (w == width && h == height)
    return GST_CUDA_SGM_FIT_SCALED;
  if (n != d && same_ratio(w * n, width * d, h, height))
    return GST_CUDA_SGM_FIT_SCALED;
  if (w != width && h != height && same_ratio(w, width, h, height))
    return GST_CUDA_SGM_FIT_SCALED;
  const gboolean across = views->top_bottom ? h == height && w < width : w == width && h < height;
  return across ? GST_CUDA_SGM_FIT_CROPPED : GST_CUDA_SGM_FIT_UNKNOWN;
}

/* --- Camera ---------------------------------------------------------------------------------- */

/* Brings a camera to a view that was scaled from an image of width x height px. */
static void scale_camera(RvCamera *camera, const GstCudaSgmViews *views, int width, int height) {
  const double sx = (double)views->width / width, sy = (double)views->height / height;
  camera->focal *= sx;
  camera->cx *= sx;
  camera->doffs *= sx;
  camera->cy *= sy;
}

gboolean gst_cuda_sgm_find_camera(GstBuffer *in, const GstCudaSgmViews *views,
                                  const GstVideoInfo *info, const RvCamera *set,
                                  GstCudaSgmCamera *found) {
  static const RvCamera unknown = {0, 0, 0, 0, 0, 0, 0};
  RvCamera *camera = &found->camera;
  int w = 0, h = 0;
  GstCudaSgmFit fit = GST_CUDA_SGM_FIT_UNKNOWN;
  if (rv_meta_get_camera(in, camera, &w, &h))
    fit = gst_cuda_sgm_fit(views, info, w, h);
  if (fit == GST_CUDA_SGM_FIT_SCALED)
    scale_camera(camera, views, w, h);
  if (fit == GST_CUDA_SGM_FIT_UNKNOWN)
    *camera = unknown;
  if (fit == GST_CUDA_SGM_FIT_UNKNOWN && set->focal == 0 && set->baseline == 0)
    return FALSE;
  if (camera->focal == 0) { /* then the principal point is unknown, too */
    camera->cx = (views->width - 1) / 2.0;
    camera->cy = (views->height - 1) / 2.0;
  }
  camera->focal = set->focal > 0 ? set->focal : camera->focal;
  camera->baseline = set->baseline > 0 ? set->baseline : camera->baseline;
  camera->cx = set->cx > 0 ? set->cx : camera->cx;
  camera->cy = set->cy > 0 ? set->cy : camera->cy;
  /* A crop leaves one coordinate of the principal point. */
  found->has_principal =
      fit != GST_CUDA_SGM_FIT_CROPPED || (views->top_bottom ? set->cx > 0 : set->cy > 0);
  return TRUE;
}

/* --- Annotations ----------------------------------------------------------------------------- */

char *gst_cuda_sgm_drop_misfits(GstBuffer *out, const GstCudaSgmViews *views,
                                const GstVideoInfo *info) {
  GString *dropped = NULL;
  for (const char *const *name = rv_meta_get_names(); *name; name++) {
    const GstStructure *fields = rv_meta_find(out, *name);
    int w = 0, h = 0;
    /* The time of the views does not depend on their size; the camera is attached again. */
    if (!fields || strcmp(*name, RV_META_PAIR) == 0 || !rv_meta_size(fields, &w, &h) ||
        gst_cuda_sgm_fit(views, info, w, h) == GST_CUDA_SGM_FIT_SCALED)
      continue;
    if (!dropped)
      dropped = g_string_new(NULL);
    g_string_append_printf(dropped, "%s%s (%dx%d px)", dropped->len ? ", " : "", *name, w, h);
    rv_meta_remove(out, *name);
  }
  return dropped ? g_string_free(dropped, FALSE) : NULL;
}

/* --- Regions --------------------------------------------------------------------------------- */

static gboolean is_analytics(const GstMeta *meta) {
  return strcmp(g_type_name(meta->info->api), "GstAnalyticsRelationMetaAPI") == 0;
}

gboolean gst_cuda_sgm_is_region(const GstMeta *meta) {
  return meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || is_analytics(meta);
}

static void copy_parameter(gpointer data, gpointer user) {
  gst_video_region_of_interest_meta_add_param(user, gst_structure_copy(data));
}

void gst_cuda_sgm_copy_interest(GstBuffer *out, const GstVideoRegionOfInterestMeta *from,
                                const GstVideoRectangle *box) {
  GstVideoRegionOfInterestMeta *to = gst_buffer_add_video_region_of_interest_meta_id(
      out, from->roi_type, (guint)box->x, (guint)box->y, (guint)box->w, (guint)box->h);
  to->id = from->id;
  to->parent_id = from->parent_id;
  g_list_foreach(from->params, copy_parameter, to);
}

/* Regions with at least half of their area in the left view are clipped to it. */
static void copy_interest(GstBuffer *out, const GstVideoRegionOfInterestMeta *from,
                          const GstCudaSgmViews *views) {
  const gint64 x = (gint64)from->x - views->left_x, y = (gint64)from->y - views->left_y;
  const gint64 x0 = MAX(x, 0), x1 = MIN(x + from->w, views->width);
  const gint64 y0 = MAX(y, 0), y1 = MIN(y + from->h, views->height);
  if (x1 < x0 || y1 < y0 || 2 * (x1 - x0) * (y1 - y0) < (gint64)from->w * from->h)
    return;
  const GstVideoRectangle box = {(int)x0, (int)y0, (int)(x1 - x0), (int)(y1 - y0)};
  gst_cuda_sgm_copy_interest(out, from, &box);
}

void gst_cuda_sgm_copy_region(GstBuffer *out, const GstVideoInfo *out_info, GstMeta *meta,
                              GstBuffer *in, const GstVideoInfo *in_info,
                              const GstCudaSgmViews *views) {
  const GstMetaInfo *info = meta->info;
  if (!is_analytics(meta)) {
    copy_interest(out, (const GstVideoRegionOfInterestMeta *)meta, views);
    return;
  }
  if (!info->transform_func)
    return;
#if GST_CHECK_VERSION(1, 28, 0)
  const GstVideoRectangle view = {views->left_x, views->left_y, views->width, views->height};
  const GstVideoRectangle all = {0, 0, views->width, views->height};
  GstVideoMetaTransformMatrix matrix;
  gst_video_meta_transform_matrix_init(&matrix, in_info, &view, out_info, &all);
  if (info->transform_func(out, meta, in, gst_video_meta_transform_matrix_get_quark(), &matrix))
    return;
#endif
  /* Copied as it is where the left view is at the origin. */
  GstMetaTransformCopy copy = {FALSE, 0, (gsize)-1};
  if (views->left_x == 0 && views->left_y == 0)
    info->transform_func(out, meta, in, _gst_meta_transform_copy, &copy);
}
