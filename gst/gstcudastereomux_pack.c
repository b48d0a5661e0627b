/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_pack.c: caps of views and packed frames, and the copies. */
#include "gstcudastereomux_pack.h"

#include "gstcudasgm_layout.h"

/* --- Caps ------------------------------------------------------------------------------------ */

gboolean gst_cuda_stereo_mux_check_view(const GstVideoInfo *info, GstCudaStereoMuxLayout layout,
                                        char **cause, const char **remedy) {
  const int w = GST_VIDEO_INFO_WIDTH(info), h = GST_VIDEO_INFO_HEIGHT(info);
  const gboolean below = layout == GST_CUDA_STEREO_MUX_TOP_BOTTOM;
  const gboolean shares_columns = GST_VIDEO_FORMAT_INFO_W_SUB(info->finfo, 1) > 0; /* of chroma */
  const gboolean shares_rows = GST_VIDEO_FORMAT_INFO_H_SUB(info->finfo, 1) > 0;
  if (!below && shares_columns && w % 2) {
    *cause = g_strdup_printf("Views of odd width (%d) in %s cannot be packed side by side: a "
                             "chroma sample would belong to both",
                             w, GST_VIDEO_INFO_NAME(info));
    *remedy = "Set layout=top-bottom, crop a column (videocrop), or use BGRx or GRAY8.";
  } else if (below && shares_rows && h % 2) {
    *cause = g_strdup_printf("Views of odd height (%d) in %s cannot be packed top-bottom: a "
                             "chroma sample would belong to both",
                             h, GST_VIDEO_INFO_NAME(info));
    *remedy = "Set layout=side-by-side, crop a row (videocrop), or use BGRx or GRAY8.";
  } else if (below ? h > RV_MAX_SIDE / 2 : w > RV_MAX_SIDE / 2) {
    *cause = g_strdup_printf("Two views of %dx%d px exceed the maximum of %d px per side", w, h,
                             RV_MAX_SIDE);
    *remedy = "Use a smaller frame size, or the other layout.";
  } else {
    return TRUE;
  }
  return FALSE;
}

gboolean gst_cuda_stereo_mux_views_agree(const GstCudaStereoMuxView *left,
                                         const GstCudaStereoMuxView *right) {
  const GstVideoInfo *l = &left->info, *r = &right->info;
  return left->cuda == right->cuda && GST_VIDEO_INFO_FORMAT(l) == GST_VIDEO_INFO_FORMAT(r) &&
         GST_VIDEO_INFO_WIDTH(l) == GST_VIDEO_INFO_WIDTH(r) &&
         GST_VIDEO_INFO_HEIGHT(l) == GST_VIDEO_INFO_HEIGHT(r) &&
         gst_video_colorimetry_is_equal(&l->colorimetry, &r->colorimetry);
}

char *gst_cuda_stereo_mux_describe(const GstCudaStereoMuxView *view) {
  char *colors = gst_video_colorimetry_to_string(&view->info.colorimetry);
  char *text =
      g_strdup_printf("%dx%d %s in %s memory%s%s", GST_VIDEO_INFO_WIDTH(&view->info),
                      GST_VIDEO_INFO_HEIGHT(&view->info), GST_VIDEO_INFO_NAME(&view->info),
                      view->cuda ? "CUDA" : "system", colors ? ", " : "", colors ? colors : "");
  g_free(colors);
  return text;
}

GstCaps *gst_cuda_stereo_mux_packed_caps(const GstCudaStereoMuxView *left,
                                         const GstCudaStereoMuxView *right,
                                         GstCudaStereoMuxLayout layout) {
  const GstVideoInfo *l = &left->info, *r = &right->info;
  const gboolean below = layout == GST_CUDA_STEREO_MUX_TOP_BOTTOM;
  GstCaps *caps = gst_caps_copy(left->caps);
  GstStructure *s = gst_caps_get_structure(caps, 0);
  int n = GST_VIDEO_INFO_FPS_N(l), d = GST_VIDEO_INFO_FPS_D(l);
  if (n > 0 &&
      gst_util_fraction_compare(n, d, GST_VIDEO_INFO_FPS_N(r), GST_VIDEO_INFO_FPS_D(r)) > 0) {
    n = GST_VIDEO_INFO_FPS_N(r);
    d = GST_VIDEO_INFO_FPS_D(r);
  }
  const GstVideoMultiviewMode mode =
      below ? GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM : GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE;
  gst_structure_remove_fields(s, "multiview-mode", "multiview-flags", "views", NULL);
  gst_structure_set(s, "width", G_TYPE_INT, GST_VIDEO_INFO_WIDTH(l) * (below ? 1 : 2), "height",
                    G_TYPE_INT, GST_VIDEO_INFO_HEIGHT(l) * (below ? 2 : 1), "framerate",
                    GST_TYPE_FRACTION, n, d, "multiview-mode", G_TYPE_STRING,
                    gst_video_multiview_mode_to_caps_string(mode), NULL);
  return caps;
}

/* Caps of a view for the downstream caps `packed`, with or without their frame rate. */
static GstCaps *views_of(GstCaps *packed, GstCudaStereoMuxLayout layout, gboolean with_rate) {
  GstCaps *views = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(packed); i++) {
    GstStructure *s = gst_structure_copy(gst_caps_get_structure(packed, i));
    GstCapsFeatures *features = gst_caps_get_features(packed, i);
    gst_structure_remove_fields(s, "multiview-mode", "multiview-flags", "views", NULL);
    if (!with_rate)
      gst_structure_remove_field(s, "framerate");
    const char *side = layout == GST_CUDA_STEREO_MUX_TOP_BOTTOM ? "height" : "width";
    if (gst_cuda_sgm_scale_field(s, side, FALSE))
      gst_caps_append_structure_full(views, s, features ? gst_caps_features_copy(features) : NULL);
    else
      gst_structure_free(s);
  }
  return views;
}

/* Adds what `template` has in common with `views` (taken over). */
static GstCaps *merge(GstCaps *result, GstCaps *template, GstCaps *views) {
  GstCaps *both = gst_caps_intersect_full(views, template, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(views);
  return gst_caps_merge(result, both);
}

/* The fields in which both views must agree, and their frame rate. */
static GstCaps *format_of(GstCaps *views) {
  static const char *const fields[] = {"format", "width", "height", "framerate", "colorimetry"};
  GstCaps *caps = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(views); i++) {
    const GstStructure *from = gst_caps_get_structure(views, i);
    GstStructure *s = gst_structure_new_empty("video/x-raw");
    for (guint k = 0; k < G_N_ELEMENTS(fields); k++)
      if (gst_structure_has_field(from, fields[k]))
        gst_structure_set_value(s, fields[k], gst_structure_get_value(from, fields[k]));
    GstCapsFeatures *features = gst_caps_get_features(views, i);
    gst_caps_append_structure_full(caps, s, features ? gst_caps_features_copy(features) : NULL);
  }
  return caps;
}

GstCaps *gst_cuda_stereo_mux_view_caps(GstCaps *template, GstCaps *packed, GstCaps *other,
                                       GstCudaStereoMuxLayout layout) {
  if (gst_caps_is_any(packed))
    packed = template;
  GstCaps *views = views_of(packed, layout, TRUE);
  GstCaps *result = gst_caps_new_empty();
  if (other && !gst_caps_is_any(other))
    result = merge(result, views, format_of(other));
  result = merge(result, template, views);
  /* A faster camera is fine: the frame rate of the pairs is the lower of the two. */
  return merge(result, template, views_of(packed, layout, FALSE));
}

/* --- Copies ---------------------------------------------------------------------------------- */

/* Copies the planes of `view` to the position of view `index` in `packed`. */
static RvStatus copy_view(const RvPicture *view, const RvPicture *packed, int index,
                          GstCudaStereoMuxLayout layout, const GstRvExecContext *work) {
  RvStatus status = RV_OK;
  for (int p = 0; status == RV_OK && p < rv_pixel_planes(view->format); p++) {
    const size_t row = rv_pixel_row_bytes(view->format, p, view->width);
    const int rows = rv_pixel_rows(view->format, p, view->height);
    char *to = packed->data[p];
    if (index == 1)
      to += layout == GST_CUDA_STEREO_MUX_TOP_BOTTOM ? rows * packed->stride[p] : (ptrdiff_t)row;
    status = rv_copy_rows(to, packed->stride[p], work->engine, view->data[p], view->stride[p],
                          work->engine, row, rows, work->stream);
  }
  return status;
}

RvStatus gst_cuda_stereo_mux_pack(GstCudaStereoMuxFrames *frames, const GstRvExecContext *work,
                                  const GstVideoInfo *view, GstBuffer *const in[2],
                                  const GstVideoInfo *packed, GstBuffer *out,
                                  GstCudaStereoMuxLayout layout) {
  RvStatus status = gst_rv_frame_map(&frames->packed, work, packed, out, GST_MAP_WRITE);
  for (int i = 0; status == RV_OK && i < 2; i++) {
    status = gst_rv_frame_map(&frames->views[i], work, view, in[i], GST_MAP_READ);
    if (status == RV_OK)
      status = copy_view(&frames->views[i].picture, &frames->packed.picture, i, layout, work);
  }
  /* Also after a failure: buffers must not be returned while the GPU may still use them. */
  if (work->engine == RV_CUDA) {
    const RvStatus waited = rv_stream_wait(work->stream);
    status = status == RV_OK ? waited : status;
  }
  for (int i = 0; i < 2; i++)
    gst_rv_frame_unmap(&frames->views[i]);
  gst_rv_frame_unmap(&frames->packed);
  return status;
}
