/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_ros.h: a frame as messages of ROS 2 in an MCAP file. Coordinates: frame
 * stereo_left_optical (x to the right, y down, z forward) and road (x forward, y left, z up; below
 * the left camera). */
#ifndef GST_ANNOTATION_PUBLISH_ROS_H
#define GST_ANNOTATION_PUBLISH_ROS_H

#include <gst/video/video.h>

#include "gstannotationpublish_cdr.h"
#include "gstannotationpublish_json.h"
#include "gstannotationpublish_mcap.h"
#include "gstannotationpublish_settings.h"
#include "roadvision-gst.h"

G_BEGIN_DECLS

#define GST_PUBLISH_OPTICAL_FRAME "stereo_left_optical"
#define GST_PUBLISH_ROAD_FRAME "road"

typedef enum GstPublishMessage {
  GST_PUBLISH_MESSAGE_IMAGE,
  GST_PUBLISH_MESSAGE_PAIR,  /* a frame-packed pair instead */
  GST_PUBLISH_MESSAGE_JPEG,  /* the same, encoded */
  GST_PUBLISH_MESSAGE_VIDEO, /* H.264 */
  GST_PUBLISH_MESSAGE_LEFT,
  GST_PUBLISH_MESSAGE_RIGHT,
  GST_PUBLISH_MESSAGE_DISPARITY,
  GST_PUBLISH_MESSAGE_DEPTH,
  GST_PUBLISH_MESSAGE_POINTS,
  GST_PUBLISH_MESSAGE_STIXELS,
  GST_PUBLISH_MESSAGE_OBSTACLES,
  GST_PUBLISH_MESSAGE_OVERLAY,
  GST_PUBLISH_MESSAGE_TF,
  GST_PUBLISH_MESSAGE_FRAME,
  GST_PUBLISH_MESSAGES /* their number */
} GstPublishMessage;

/* What is known of the frame whose messages are written. */
typedef struct GstPublishScene {
  const GstPublishFrame *frame;
  guint64 time; /* ns since 1970 */
  RvCamera camera;
  int camera_width, camera_height; /* px, 0: no camera */
  RvMetaDisparity disparity;       /* payload NULL: none */
  RvMetaMap disparity_map;
  int width, height; /* px of the image, else of the annotations */
} GstPublishScene;

typedef struct GstPublishRos {
  GstPublishMcap *mcap;
  GstPublishHost *host;
  guint topics; /* GstPublishTopics */
  guint channels[GST_PUBLISH_MESSAGES];
  GstPublishJson json; /* owned */
  GstPublishText scratch;
  /* Colors of the image, RV_U32, for points. */
  guint32 *colors;
  gsize colors_bytes;
  GstCaps *caps; /* that `info` is of; owned */
  GstVideoInfo info;
  gboolean is_raw, is_pair, has_warned;
  RvCamera tf_camera; /* of the last transform */
  guint tf_file;      /* file it is in + 1 */
} GstPublishRos;

/* Adds the channels to `mcap`, which must outlive it. Takes ownership of `json`. */
void gst_publish_ros_init(GstPublishRos *ros, GstPublishMcap *mcap, GstPublishHost *host,
                          guint topics, const GstPublishJson *json);
void gst_publish_ros_clear(GstPublishRos *ros);

/* Adds the messages of a frame. */
void gst_publish_ros_frame(GstPublishRos *ros, const GstPublishFrame *frame);

/* Definition of a schema such as sensor_msgs/msg/Image with all that it consists of; to be
 * freed. */
char *gst_publish_ros_definition(const char *schema);

/* --- Parts ----------------------------------------------------------------------------------- */

/* Starts and ends a message with CDR data. */
GstPublishCdr gst_publish_ros_begin(GstPublishRos *ros, GstPublishMessage message, guint64 time);
void gst_publish_ros_end(GstPublishRos *ros);

/* gstannotationpublish_ros_image.c: images, camera, disparity, depth, points. */
void gst_publish_ros_image(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_camera(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_disparity(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_depth(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_points(GstPublishRos *ros, const GstPublishScene *scene);

/* gstannotationpublish_ros_scene.c: markers, overlay, transform. */
void gst_publish_ros_stixels(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_obstacles(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_overlay(GstPublishRos *ros, const GstPublishScene *scene);
void gst_publish_ros_tf(GstPublishRos *ros, const GstPublishScene *scene);

G_END_DECLS
#endif
