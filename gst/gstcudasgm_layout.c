/* SPDX-License-Identifier: MIT */
/* gstcudasgm_layout.c: packing of a stereo pair, and caps of the pair <-> caps of the result. */
#include "gstcudasgm_layout.h"

#include "common/gstrvengine.h"
#include "common/gstrvtransform.h"

const RvParamValue gst_cuda_sgm_layouts[GST_CUDA_SGM_LAYOUTS] = {
    {GST_CUDA_SGM_LAYOUT_AUTO, "auto",
     "multiview-mode of the caps; without it side by side if width >= 2 x height, top-bottom if "
     "height >= width"},
    {GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE, "side-by-side", "left view, right view"},
    {GST_CUDA_SGM_LAYOUT_TOP_BOTTOM, "top-bottom", "left view above right view"},
    {GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE_RIGHT_FIRST, "side-by-side-right-first",
     "right view, left view"},
    {GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST, "top-bottom-right-first",
     "right view above left view"},
};

#define SIDE_MAX RV_MAX_SIDE

/* --- Layout of fixed caps -------------------------------------------------------------------- */

static gboolean is_top_bottom(GstCudaSgmLayout layout) {
  return layout == GST_CUDA_SGM_LAYOUT_TOP_BOTTOM ||
         layout == GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST;
}

/* The packing that the caps specify; AUTO when they specify none. FALSE for packings that are not
 * two rectangles. Decoders set `mono` on everything, so it is ignored. */
static gboolean packing_of(GstVideoMultiviewMode mode, gboolean right_first,
                           GstCudaSgmLayout *layout) {
  switch (mode) {
  case GST_VIDEO_MULTIVIEW_MODE_NONE:
  case GST_VIDEO_MULTIVIEW_MODE_MONO:
    *layout = GST_CUDA_SGM_LAYOUT_AUTO;
    return TRUE;
  case GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE:
    *layout = right_first ? GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE_RIGHT_FIRST
                          : GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE;
    return TRUE;
  case GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM:
    *layout =
        right_first ? GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST : GST_CUDA_SGM_LAYOUT_TOP_BOTTOM;
    return TRUE;
  default:
    return FALSE;
  }
}

static GstCudaSgmLayout layout_of_shape(int width, int height) {
  if (width >= 2 * height)
    return GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE;
  return height >= width ? GST_CUDA_SGM_LAYOUT_TOP_BOTTOM : GST_CUDA_SGM_LAYOUT_AUTO;
}

static gboolean reject(char **cause, char **remedy, char *cause_text, const char *remedy_text) {
  *cause = cause_text;
  *remedy = g_strdup(remedy_text);
  return FALSE;
}

/* The layout of a frame, AUTO resolved. */
static gboolean find_layout(GstCudaSgmLayout asked, const GstVideoInfo *info,
                            GstCudaSgmLayout *layout, char **cause, char **remedy) {
  const int w = GST_VIDEO_INFO_WIDTH(info), h = GST_VIDEO_INFO_HEIGHT(info);
  const GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE(info);
  const GstVideoMultiviewFlags flags = GST_VIDEO_INFO_MULTIVIEW_FLAGS(info);
  if (flags & GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT)
    return reject(
        cause, remedy,
        g_strdup("The pair is packed with half aspect: each view is scaled to half its size"),
        "Provide both views at full size, or scale and clear the flag: videoscale ! "
        "capssetter.");
  if (asked != GST_CUDA_SGM_LAYOUT_AUTO) {
    *layout = asked;
    return TRUE;
  }
  const gboolean right_first = (flags & GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST) != 0;
  if (!packing_of(mode, right_first, layout))
    return reject(
        cause, remedy,
        g_strdup_printf("The caps specify multiview-mode=%s, which is not side-by-side or "
                        "top-bottom",
                        gst_video_multiview_mode_to_caps_string(mode)),
        "Repack the pair (glviewconvert can), or set layout if the caps are wrong.");
  if (*layout == GST_CUDA_SGM_LAYOUT_AUTO)
    *layout = layout_of_shape(w, h);
  if (*layout == GST_CUDA_SGM_LAYOUT_AUTO)
    return reject(
        cause, remedy,
        g_strdup_printf("The packing of the two views in %dx%d px is not detected: neither "
                        "width >= 2 x height nor height >= width",
                        w, h),
        "Set layout=side-by-side or layout=top-bottom (or their -right-first), or provide a "
        "stereo pair: this may be a single view.");
  return TRUE;
}

gboolean gst_cuda_sgm_locate_views(GstCudaSgmLayout asked, const GstVideoInfo *info,
                                   GstCudaSgmViews *views, char **cause, char **remedy) {
  const int w = GST_VIDEO_INFO_WIDTH(info), h = GST_VIDEO_INFO_HEIGHT(info);
  GstCudaSgmLayout layout;
  if (!find_layout(asked, info, &layout, cause, remedy))
    return FALSE;
  const gboolean top_bottom = is_top_bottom(layout);
  if ((top_bottom ? h : w) % 2)
    return reject(
        cause, remedy,
        top_bottom ? g_strdup_printf("The height %d is odd and cannot be halved for "
                                     "layout top-bottom",
                                     h)
                   : g_strdup_printf("The width %d is odd and cannot be halved for "
                                     "layout side-by-side",
                                     w),
        "Crop one column or row (videocrop), or set layout if the views are packed the other "
        "way.");
  const gboolean right_first = layout == GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE_RIGHT_FIRST ||
                               layout == GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST;
  views->top_bottom = top_bottom;
  views->width = top_bottom ? w : w / 2;
  views->height = top_bottom ? h / 2 : h;
  const int second_x = top_bottom ? 0 : views->width, second_y = top_bottom ? views->height : 0;
  views->left_x = right_first ? second_x : 0;
  views->left_y = right_first ? second_y : 0;
  views->right_x = right_first ? 0 : second_x;
  views->right_y = right_first ? 0 : second_y;
  return TRUE;
}

/* --- Caps that need not be fixed ------------------------------------------------------------- */

/* value x 2, or value / 2 without odd numbers; FALSE when invalid remains. */
static gboolean scale_value(const GValue *from, gboolean twice, GValue *to) {
  if (G_VALUE_HOLDS_INT(from)) {
    const int v = g_value_get_int(from);
    if (twice ? v > SIDE_MAX / 2 : v % 2 != 0 || v < 2)
      return FALSE;
    g_value_init(to, G_TYPE_INT);
    g_value_set_int(to, twice ? 2 * v : v / 2);
    return TRUE;
  }
  if (GST_VALUE_HOLDS_INT_RANGE(from)) {
    const int low = gst_value_get_int_range_min(from), high = gst_value_get_int_range_max(from);
    const int lo = twice ? 2 * MIN(low, SIDE_MAX / 2) : MAX(1, low / 2 + low % 2);
    const int hi = twice ? 2 * MIN(high, SIDE_MAX / 2) : high / 2;
    if (lo > hi)
      return FALSE;
    g_value_init(to, lo == hi ? G_TYPE_INT : GST_TYPE_INT_RANGE);
    if (lo == hi)
      g_value_set_int(to, lo);
    else
      gst_value_set_int_range(to, lo, hi);
    return TRUE;
  }
  if (!GST_VALUE_HOLDS_LIST(from))
    return FALSE;
  g_value_init(to, GST_TYPE_LIST);
  for (guint i = 0; i < gst_value_list_get_size(from); i++) {
    GValue item = G_VALUE_INIT;
    if (scale_value(gst_value_list_get_value(from, i), twice, &item))
      gst_value_list_append_and_take_value(to, &item);
  }
  if (gst_value_list_get_size(to) > 0)
    return TRUE;
  g_value_unset(to);
  return FALSE;
}

gboolean gst_cuda_sgm_scale_field(GstStructure *structure, const char *field, gboolean twice) {
  const GValue *from = gst_structure_get_value(structure, field);
  GValue to = G_VALUE_INIT;
  if (!from)
    return TRUE;
  if (!scale_value(from, twice, &to))
    return FALSE;
  gst_structure_take_value(structure, field, &to);
  return TRUE;
}

static gboolean has_format(const GstStructure *structure, const char *name) {
  GValue wanted = G_VALUE_INIT;
  g_value_init(&wanted, G_TYPE_STRING);
  g_value_set_string(&wanted, name);
  const GValue *formats = gst_structure_get_value(structure, "format");
  const gboolean has = !formats || gst_value_intersect(NULL, formats, &wanted);
  g_value_unset(&wanted);
  return has;
}

static gboolean is_cuda(const GstCapsFeatures *features) {
  return gst_caps_features_contains(features, "memory:CUDAMemory");
}

static void append(GstCaps *result, const GstStructure *structure, const GstCapsFeatures *features,
                   const char *format) {
  GstStructure *copy = gst_structure_copy(structure);
  if (format) {
    gst_structure_set(copy, "format", G_TYPE_STRING, format, NULL);
    /* Another color model: the fields of the old one are not valid anymore. */
    gst_structure_remove_fields(copy, "colorimetry", "chroma-site", NULL);
  }
  gst_caps_append_structure_full(result, copy, features ? gst_caps_features_copy(features) : NULL);
}

/* Appends the structure without the format GRAY16_LE, which is a pair of cameras on the sink pad and a
 * map on the src pad. */
static void append_pictures(GstCaps *result, const GstStructure *structure,
                            const GstCapsFeatures *features) {
  GstStructure *copy = gst_structure_copy(structure);
  GValue map = G_VALUE_INIT, rest = G_VALUE_INIT;
  g_value_init(&map, G_TYPE_STRING);
  g_value_set_static_string(&map, "GRAY16_LE");
  const GValue *formats = gst_structure_get_value(copy, "format");
  gboolean any = TRUE;
  if (formats && gst_value_can_intersect(formats, &map)) {
    any = gst_value_subtract(&rest, formats, &map);
    if (any)
      gst_structure_take_value(copy, "format", &rest);
  }
  g_value_unset(&map);
  if (any)
    append(result, copy, features, NULL);
  gst_structure_free(copy);
}

/* Pair -> result, sizes converted. GRAY8 and GRAY16_LE become NV12 unless downstream accepts GRAY8
 * only. */
static void append_results(GstCudaSgmOutput output, const GstStructure *structure,
                           const GstCapsFeatures *features, GstCaps *result) {
  if (output != GST_CUDA_SGM_OUTPUT_PICTURE) {
    append(result, structure, NULL, "GRAY16_LE");
    return;
  }
  const gboolean gray = !is_cuda(features) && has_format(structure, "GRAY8");
  const gboolean only_gray = g_strcmp0(gst_structure_get_string(structure, "format"), "GRAY8") == 0;
  const gboolean gray16 = !is_cuda(features) && has_format(structure, "GRAY16_LE");
  if (gray && only_gray)
    append(result, structure, features, "NV12");
  append_pictures(result, structure, features);
  if ((gray && !only_gray) || gray16)
    append(result, structure, features, "NV12");
  if (gray16)
    append(result, structure, features, "GRAY8");
}

/* Result -> pair, sizes converted. */
static void append_pairs(GstCudaSgmOutput output, const GstStructure *structure,
                         const GstCapsFeatures *features, GstCaps *result) {
  if (output == GST_CUDA_SGM_OUTPUT_PICTURE) {
    append_pictures(result, structure, features);
    const gboolean takes_nv12 = !is_cuda(features) && has_format(structure, "NV12");
    if (takes_nv12)
      append(result, structure, features, "GRAY8");
    if (takes_nv12 || (!is_cuda(features) && has_format(structure, "GRAY8")))
      append(result, structure, features, "GRAY16_LE");
    return;
  }
  if (is_cuda(features) || !has_format(structure, "GRAY16_LE"))
    return;
  GstStructure *any = gst_structure_copy(structure);
  gst_structure_remove_fields(any, "format", "colorimetry", "chroma-site", NULL);
#if HAVE_GSTCUDA
  GstCapsFeatures *cuda = gst_caps_features_new("memory:CUDAMemory", NULL);
  append(result, any, cuda, NULL);
  gst_caps_features_free(cuda);
#endif
  append(result, any, NULL, NULL);
  gst_structure_free(any);
}

/* The packings that the structure may have: both when it specifies none. */
static void packings(GstCudaSgmLayout layout, GstPadDirection direction,
                     const GstStructure *structure, gboolean *side_by_side, gboolean *top_bottom) {
  int w = 0, h = 0;
  if (layout == GST_CUDA_SGM_LAYOUT_AUTO && direction == GST_PAD_SINK) {
    const char *name = gst_structure_get_string(structure, "multiview-mode");
    const GstVideoMultiviewMode mode =
        name ? gst_video_multiview_mode_from_caps_string(name) : GST_VIDEO_MULTIVIEW_MODE_NONE;
    *side_by_side = *top_bottom = FALSE;
    if (!packing_of(mode, FALSE, &layout))
      return;
    if (layout == GST_CUDA_SGM_LAYOUT_AUTO && gst_structure_get_int(structure, "width", &w) &&
        gst_structure_get_int(structure, "height", &h)) {
      layout = layout_of_shape(w, h);
      if (layout == GST_CUDA_SGM_LAYOUT_AUTO)
        return;
    }
  }
  *side_by_side = layout == GST_CUDA_SGM_LAYOUT_AUTO || !is_top_bottom(layout);
  *top_bottom = layout == GST_CUDA_SGM_LAYOUT_AUTO || is_top_bottom(layout);
}

void gst_cuda_sgm_transform_structure(GstCudaSgmLayout layout, GstCudaSgmOutput output,
                                      GstPadDirection direction, GstStructure *structure,
                                      GstCapsFeatures *features, GstCaps *result) {
  gboolean possible[2]; /* side by side, top-bottom */
  const guint before = gst_caps_get_size(result);
  packings(layout, direction, structure, &possible[0], &possible[1]);
  gst_structure_remove_fields(structure, "multiview-mode", "multiview-flags", "views", NULL);
  for (int i = 0; i < 2; i++) {
    if (!possible[i])
      continue;
    GstStructure *sized = gst_structure_copy(structure);
    if (gst_cuda_sgm_scale_field(sized, i == 0 ? "width" : "height", direction == GST_PAD_SRC)) {
      if (direction == GST_PAD_SINK)
        append_results(output, sized, features, result);
      else
        append_pairs(output, sized, features, result);
    }
    gst_structure_free(sized);
  }
  /* A frame that can never be a pair still gets an answer, so that the caps event follows, in which
   * the element reports the cause: a failed link has no message. */
  if (before == gst_caps_get_size(result) && direction == GST_PAD_SINK) {
    gst_structure_remove_fields(structure, "width", "height", NULL);
    append_results(output, structure, features, result);
  }
  gst_structure_free(structure);
  gst_caps_features_free(features);
}

GstCaps *gst_cuda_sgm_prefer_color(GstCaps *in, GstCaps *out) {
  const GstStructure *pair = gst_caps_get_structure(in, 0);
  if (!has_format(pair, "GRAY8") && !has_format(pair, "GRAY16_LE"))
    return out;
  GstCaps *nv12 = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "NV12", NULL);
  GstCaps *colored = gst_caps_intersect_full(out, nv12, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(nv12);
  if (gst_caps_is_empty(colored))
    gst_caps_unref(colored);
  else
    gst_caps_take(&out, colored);
  return out;
}
