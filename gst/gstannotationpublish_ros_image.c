/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_ros_image.c: images, camera, disparity, depth and points. */
#include "gstannotationpublish_ros.h"

#include "common/gstrvframe.h"
#include "depth/depth.h"

#define POINT_BYTES 16
#define FLOAT32 7 /* sensor_msgs/PointField */

/* --- Image ----------------------------------------------------------------------------------- */

/* Fills `ros->colors` with the colors of the image. */
static gboolean convert_colors(GstPublishRos *ros, const RvPicture *picture, RvPlane *colors) {
  const gsize bytes = (gsize)picture->width * (gsize)picture->height * sizeof(guint32);
  if (ros->colors_bytes < bytes) {
    g_free(ros->colors);
    ros->colors = g_malloc(bytes);
    ros->colors_bytes = bytes;
  }
  const RvPlane plane = {ros->colors, (ptrdiff_t)(picture->width * (int)sizeof(guint32)),
                         picture->width, picture->height, RV_U32};
  const GstVideoColorMatrix matrix = ros->info.colorimetry.matrix;
  *colors = plane;
  return rv_convert_color(picture,
                          matrix == GST_VIDEO_COLOR_MATRIX_BT709 ||
                              matrix == GST_VIDEO_COLOR_MATRIX_BT2020,
                          ros->info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255, &plane, 1,
                          RV_CPU, NULL, NULL) == RV_OK;
}

/* Header of sensor_msgs/Image; returns where its rows go, without padding. */
static guint8 *put_image(const GstPublishCdr *cdr, guint64 time, int width, int height,
                         const char *encoding, int pixel_bytes) {
  gst_publish_cdr_header(cdr, time, GST_PUBLISH_OPTICAL_FRAME);
  gst_publish_cdr_u32(cdr, (guint32)height);
  gst_publish_cdr_u32(cdr, (guint32)width);
  gst_publish_cdr_text(cdr, encoding);
  gst_publish_cdr_u8(cdr, 0);
  gst_publish_cdr_u32(cdr, (guint32)(width * pixel_bytes));
  return gst_publish_cdr_bytes(cdr, (gsize)width * (gsize)height * (gsize)pixel_bytes);
}

static void put_gray(const RvPicture *picture, guint8 *to) {
  for (int y = 0; y < picture->height; y++)
    memcpy(to + (gsize)y * (gsize)picture->width,
           (const guint8 *)picture->data[0] + y * picture->stride[0], (gsize)picture->width);
}

/* Three of four bytes: R, G, B. */
static void put_rgb(const RvPlane *colors, guint8 *to) {
  const gsize count = (gsize)colors->width * (gsize)colors->height;
  const guint8 *from = colors->data;
  for (gsize i = 0; i < count; i++, from += 4, to += 3) {
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
  }
}

static void publish_raw(GstPublishRos *ros, const GstPublishScene *scene) {
  const GstPublishMessage message =
      ros->is_pair ? GST_PUBLISH_MESSAGE_PAIR : GST_PUBLISH_MESSAGE_IMAGE;
  GstVideoFrame video;
  RvPicture picture;
  RvPlane colors;
  if (!gst_video_frame_map(&video, &ros->info, scene->frame->picture, GST_MAP_READ))
    return;
  const gboolean known = gst_rv_picture_of_video(&video, &picture);
  const gboolean gray = known && picture.format == RV_PIXEL_GRAY8;
  if (gray || (known && convert_colors(ros, &picture, &colors))) {
    const GstPublishCdr cdr = gst_publish_ros_begin(ros, message, scene->time);
    guint8 *to = put_image(&cdr, scene->time, picture.width, picture.height,
                           gray ? "mono8" : "rgb8", gray ? 1 : 3);
    if (gray)
      put_gray(&picture, to);
    else
      put_rgb(&colors, to);
    gst_publish_ros_end(ros);
  } else if (!ros->has_warned) {
    ros->has_warned = TRUE;
    GST_ELEMENT_WARNING(ros->host->element, STREAM, FORMAT,
                        ("The MCAP file has no images: %s is unsupported.",
                         gst_video_format_to_string(GST_VIDEO_FRAME_FORMAT(&video))),
                        ("Insert videoconvert before this element, or unset the topic image."));
  }
  gst_video_frame_unmap(&video);
}

static void publish_encoded(GstPublishRos *ros, const GstPublishScene *scene) {
  const GstStructure *caps = gst_caps_get_structure(scene->frame->caps, 0);
  const gboolean jpeg = gst_structure_has_name(caps, "image/jpeg");
  const char *packing = gst_structure_get_string(caps, "stream-format");
  GstMapInfo map;
  if (!jpeg && g_strcmp0(packing, "byte-stream") != 0) {
    if (!ros->has_warned)
      GST_ELEMENT_WARNING(ros->host->element, STREAM, FORMAT,
                          ("The MCAP file has no video: its stream-format is not byte-stream."),
                          ("Insert h264parse config-interval=-1 ! "
                           "video/x-h264,stream-format=byte-stream,alignment=au."));
    ros->has_warned = TRUE;
    return;
  }
  if (!gst_buffer_map(scene->frame->picture, &map, GST_MAP_READ))
    return;
  const GstPublishCdr cdr = gst_publish_ros_begin(
      ros, jpeg ? GST_PUBLISH_MESSAGE_JPEG : GST_PUBLISH_MESSAGE_VIDEO, scene->time);
  gst_publish_cdr_header(&cdr, scene->time, GST_PUBLISH_OPTICAL_FRAME);
  if (jpeg)
    gst_publish_cdr_text(&cdr, "jpeg");
  memcpy(gst_publish_cdr_bytes(&cdr, map.size), map.data, map.size);
  if (!jpeg)
    gst_publish_cdr_text(&cdr, "h264");
  gst_publish_ros_end(ros);
  gst_buffer_unmap(scene->frame->picture, &map);
}

void gst_publish_ros_image(GstPublishRos *ros, const GstPublishScene *scene) {
  if (!scene->frame->picture)
    return;
  if (ros->is_raw)
    publish_raw(ros, scene);
  else if (scene->frame->caps &&
           !gst_structure_has_name(gst_caps_get_structure(scene->frame->caps, 0), "video/x-raw"))
    publish_encoded(ros, scene);
}

/* --- Camera ---------------------------------------------------------------------------------- */

static void put_roi(const GstPublishCdr *cdr, int width, int height) {
  gst_publish_cdr_u32(cdr, 0);
  gst_publish_cdr_u32(cdr, 0);
  gst_publish_cdr_u32(cdr, (guint32)height);
  gst_publish_cdr_u32(cdr, (guint32)width);
  gst_publish_cdr_u8(cdr, 0);
}

/* A rectified camera: no distortion, no rotation; the right one has -focal * baseline in P. */
static void publish_camera(GstPublishRos *ros, const GstPublishScene *scene, gboolean right) {
  const RvCamera *camera = &scene->camera;
  const double f = camera->focal, cx = camera->cx + (right ? camera->doffs : 0.0);
  const double d[5] = {0, 0, 0, 0, 0};
  const double k[9] = {f, 0, cx, 0, f, camera->cy, 0, 0, 1};
  const double r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double p[12] = {f, 0, cx, right ? -f * camera->baseline : 0.0, 0, f, camera->cy, 0, 0,
                        0, 1, 0};
  const GstPublishCdr cdr = gst_publish_ros_begin(
      ros, right ? GST_PUBLISH_MESSAGE_RIGHT : GST_PUBLISH_MESSAGE_LEFT, scene->time);
  gst_publish_cdr_header(&cdr, scene->time, GST_PUBLISH_OPTICAL_FRAME);
  gst_publish_cdr_u32(&cdr, (guint32)scene->camera_height);
  gst_publish_cdr_u32(&cdr, (guint32)scene->camera_width);
  gst_publish_cdr_text(&cdr, "plumb_bob");
  gst_publish_cdr_u32(&cdr, G_N_ELEMENTS(d));
  gst_publish_cdr_f64s(&cdr, d, G_N_ELEMENTS(d));
  gst_publish_cdr_f64s(&cdr, k, G_N_ELEMENTS(k));
  gst_publish_cdr_f64s(&cdr, r, G_N_ELEMENTS(r));
  gst_publish_cdr_f64s(&cdr, p, G_N_ELEMENTS(p));
  gst_publish_cdr_u32(&cdr, 0); /* binning: none */
  gst_publish_cdr_u32(&cdr, 0);
  put_roi(&cdr, 0, 0); /* the full image */
  gst_publish_ros_end(ros);
}

void gst_publish_ros_camera(GstPublishRos *ros, const GstPublishScene *scene) {
  if (scene->camera_width <= 0 || scene->camera.focal <= 0.0)
    return;
  publish_camera(ros, scene, FALSE);
  if (scene->camera.baseline > 0.0)
    publish_camera(ros, scene, TRUE);
}

/* --- Disparity, depth, points ---------------------------------------------------------------- */

/* Space for a raster that the library writes; messages are not aligned in memory. */
static void *scratch(GstPublishRos *ros, gsize bytes) {
  ros->scratch.length = 0;
  return gst_publish_text_reserve(&ros->scratch, bytes);
}

void gst_publish_ros_disparity(GstPublishRos *ros, const GstPublishScene *scene) {
  if (!scene->disparity.payload)
    return;
  const int width = scene->disparity.width, height = scene->disparity.height;
  const double doffs = scene->camera.doffs;
  const double least = scene->disparity.min_disparity + doffs;
  const gsize bytes = (gsize)width * (gsize)height * sizeof(float);
  const RvPlane pixels = {scratch(ros, bytes), (ptrdiff_t)(width * (int)sizeof(float)), width,
                          height, RV_F32};
  if (rv_depth_disparity_px(&scene->disparity_map.plane, &scene->camera, (float)(least - 1.0),
                            &pixels, NULL) != RV_OK)
    return;
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_DISPARITY, scene->time);
  gst_publish_cdr_header(&cdr, scene->time, GST_PUBLISH_OPTICAL_FRAME);
  memcpy(put_image(&cdr, scene->time, width, height, "32FC1", sizeof(float)), pixels.data, bytes);
  gst_publish_cdr_f32(&cdr, (float)scene->camera.focal);
  gst_publish_cdr_f32(&cdr, (float)scene->camera.baseline);
  put_roi(&cdr, width, height);
  gst_publish_cdr_f32(&cdr, (float)least);
  gst_publish_cdr_f32(&cdr, (float)(least + scene->disparity.disparities));
  gst_publish_cdr_f32(&cdr, 1.0f / (float)scene->disparity.scale);
  gst_publish_ros_end(ros);
}

static gboolean has_depth(const GstPublishScene *scene) {
  return scene->disparity.payload && scene->camera.focal > 0.0 && scene->camera.baseline > 0.0;
}

void gst_publish_ros_depth(GstPublishRos *ros, const GstPublishScene *scene) {
  if (!has_depth(scene))
    return;
  const int width = scene->disparity.width, height = scene->disparity.height;
  const gsize bytes = (gsize)width * (gsize)height * sizeof(guint16);
  const RvPlane mm = {scratch(ros, bytes), (ptrdiff_t)(width * (int)sizeof(guint16)), width, height,
                      RV_U16};
  if (rv_depth_mm(&scene->disparity_map.plane, &scene->camera, &mm, NULL) != RV_OK)
    return;
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_DEPTH, scene->time);
  memcpy(put_image(&cdr, scene->time, width, height, "16UC1", sizeof(guint16)), mm.data, bytes);
  gst_publish_ros_end(ros);
}

/* Colors of the image, where it is raw and has the size of the disparity. */
static gboolean image_colors(GstPublishRos *ros, const GstPublishScene *scene, RvPlane *colors) {
  GstVideoFrame video;
  RvPicture picture;
  if (!ros->is_raw || ros->is_pair || !scene->frame->picture ||
      GST_VIDEO_INFO_WIDTH(&ros->info) != scene->disparity.width ||
      GST_VIDEO_INFO_HEIGHT(&ros->info) != scene->disparity.height ||
      !gst_video_frame_map(&video, &ros->info, scene->frame->picture, GST_MAP_READ))
    return FALSE;
  const gboolean good =
      gst_rv_picture_of_video(&video, &picture) && convert_colors(ros, &picture, colors);
  gst_video_frame_unmap(&video);
  return good;
}

void gst_publish_ros_points(GstPublishRos *ros, const GstPublishScene *scene) {
  static const char *const names[] = {"x", "y", "z", "rgb"};
  if (!has_depth(scene))
    return;
  const int width = scene->disparity.width, height = scene->disparity.height;
  const gsize bytes = (gsize)width * (gsize)height * POINT_BYTES;
  const RvPlane points = {scratch(ros, bytes), (ptrdiff_t)width * POINT_BYTES, 4 * width, height,
                          RV_F32};
  RvPlane colors;
  const gboolean colored = image_colors(ros, scene, &colors);
  if (rv_depth_points(&scene->disparity_map.plane, colored ? &colors : NULL, &scene->camera, 0.0,
                      &points, NULL, NULL) != RV_OK)
    return;
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_POINTS, scene->time);
  gst_publish_cdr_header(&cdr, scene->time, GST_PUBLISH_OPTICAL_FRAME);
  gst_publish_cdr_u32(&cdr, (guint32)height);
  gst_publish_cdr_u32(&cdr, (guint32)width);
  gst_publish_cdr_u32(&cdr, G_N_ELEMENTS(names));
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    gst_publish_cdr_text(&cdr, names[i]);
    gst_publish_cdr_u32(&cdr, i * (guint32)sizeof(float));
    gst_publish_cdr_u8(&cdr, FLOAT32);
    gst_publish_cdr_u32(&cdr, 1);
  }
  gst_publish_cdr_u8(&cdr, 0); /* little endian */
  gst_publish_cdr_u32(&cdr, POINT_BYTES);
  gst_publish_cdr_u32(&cdr, (guint32)width * POINT_BYTES);
  memcpy(gst_publish_cdr_bytes(&cdr, bytes), points.data, bytes);
  gst_publish_cdr_u8(&cdr, 0); /* is_dense: invalid points are NaN */
  gst_publish_ros_end(ros);
}
