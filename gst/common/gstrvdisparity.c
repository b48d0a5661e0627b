/* SPDX-License-Identifier: MIT */
/* gstrvdisparity.c: disparity from an annotation or from GRAY16_LE frames. */
#include "gstrvdisparity.h"

#include "depth/depth.h"

static const char *name_of(GstRvTransform *element) {
  GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT(element));
  return factory ? GST_OBJECT_NAME(factory) : GST_OBJECT_NAME(element);
}

static void warn_invalid(GstRvTransform *element, GstBuffer *buffer, guint once) {
  GError *error = NULL;
  if (!gst_rv_transform_once(element, once))
    return;
  rv_meta_check(buffer, RV_META_DISPARITY, &error);
  GST_ELEMENT_WARNING(
      element, STREAM, FORMAT,
      ("The disparity annotation is ignored: %s.", error ? error->message : "it is not in 1/16 px"),
      ("RvDisparityMeta needs scale=16 and a payload of GRAY16_LE with "
       "GstVideoMeta."));
  g_clear_error(&error);
}

static RvStatus map_annotation(GstRvDisparity *disparity, GstRvTransform *element,
                               const GstRvExecContext *work, GstBuffer *buffer, guint once) {
  RvMetaDisparity meta;
  if (!rv_meta_find(buffer, RV_META_DISPARITY)) {
    if (gst_rv_transform_once(element, once))
      GST_ELEMENT_WARNING(
          element, STREAM, FORMAT, ("The frame has no disparity annotation."),
          ("Put cudasgm before %s, or feed it GRAY16_LE disparity maps.", name_of(element)));
    return RV_OK;
  }
  if (!rv_meta_get_disparity(buffer, &meta) || meta.scale != GST_RV_DISPARITY_SCALE) {
    warn_invalid(element, buffer, once + 1);
    return RV_OK;
  }
  const RvStatus status = gst_rv_input_map(&disparity->input, work, meta.payload);
  if (status == RV_OK) {
    disparity->plane = disparity->input.plane;
    disparity->confidence = meta.confidence;
    disparity->range = CLAMP(meta.min_disparity, 0, 4096) + CLAMP(meta.disparities, 0, 4096);
  }
  return status;
}

/* Brought to 1/16 px on the host, then to the engine. */
static RvStatus map_frame(GstRvDisparity *disparity, const GstVideoInfo *info,
                          const GstRvExecContext *work, GstBuffer *buffer, int scale) {
  const int width = GST_VIDEO_INFO_WIDTH(info), height = GST_VIDEO_INFO_HEIGHT(info);
  disparity->frame_mapped = gst_video_frame_map(
      &disparity->frame, info, buffer,
      (GstMapFlags)(GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)); /* it stays writable */
  if (!disparity->frame_mapped) {
    gst_rv_log_line(&work->log,
                    "a buffer of %" G_GSIZE_FORMAT " bytes cannot be read as GRAY16_LE %dx%d",
                    gst_buffer_get_size(buffer), width, height);
    return RV_ERR_IO;
  }
  RvPlane plane = {GST_VIDEO_FRAME_PLANE_DATA(&disparity->frame, 0),
                   GST_VIDEO_FRAME_PLANE_STRIDE(&disparity->frame, 0), width, height, RV_U16};
  RvStatus status = RV_OK;
  if (scale != GST_RV_DISPARITY_SCALE) {
    const gsize row = 2 * (gsize)width, bytes = row * (gsize)height;
    if (disparity->rescaled_bytes < bytes) {
      g_free(disparity->rescaled);
      disparity->rescaled = g_malloc(bytes);
      disparity->rescaled_bytes = bytes;
    }
    const RvPlane values = plane;
    plane.data = disparity->rescaled;
    plane.stride = (ptrdiff_t)row;
    status = rv_depth_from_scale(&values, scale, &plane, &work->log);
  }
  if (status == RV_OK)
    status = gst_rv_input_map_host(&disparity->input, work, &plane);
  if (status == RV_OK)
    disparity->plane = disparity->input.plane;
  return status;
}

RvStatus gst_rv_disparity_map(GstRvDisparity *disparity, GstRvTransform *element,
                              const GstRvExecContext *work, GstBuffer *buffer, int scale,
                              guint once) {
  const GstVideoInfo *info = &element->in_info;
  disparity->plane.data = NULL;
  disparity->confidence = NULL;
  disparity->range = 0;
  return GST_VIDEO_INFO_FORMAT(info) == GST_VIDEO_FORMAT_GRAY16_LE
             ? map_frame(disparity, info, work, buffer, scale)
             : map_annotation(disparity, element, work, buffer, once);
}

void gst_rv_disparity_unmap(GstRvDisparity *disparity) {
  gst_rv_input_unmap(&disparity->input);
  if (disparity->frame_mapped)
    gst_video_frame_unmap(&disparity->frame);
  disparity->frame_mapped = FALSE;
  disparity->plane.data = NULL;
  disparity->confidence = NULL;
}

void gst_rv_disparity_clear(GstRvDisparity *disparity) {
  gst_rv_disparity_unmap(disparity);
  gst_rv_input_clear(&disparity->input);
  g_clear_pointer(&disparity->rescaled, g_free);
  disparity->rescaled_bytes = 0;
}
