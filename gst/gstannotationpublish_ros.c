/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_ros.c: channels, and the messages of a frame in order. */
#include "gstannotationpublish_ros.h"

/* Late subscribers of a player get the last transform: history keep last, depth 1, reliable,
 * transient local, in the notation of rosbag2. */
#define FOREVER "    sec: 9223372036\n    nsec: 854775807\n"
#define LATCHED                                                                                    \
  "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n  deadline:\n" FOREVER             \
  "  lifespan:\n" FOREVER "  liveliness: 1\n  liveliness_lease_duration:\n" FOREVER                \
  "  avoid_ros_namespace_conventions: false"

static const struct {
  const char *topic, *schema, *qos;
} messages[] = {
    [GST_PUBLISH_MESSAGE_IMAGE] = {"/stereo/left/image_rect", "sensor_msgs/msg/Image", ""},
    [GST_PUBLISH_MESSAGE_PAIR] = {"/stereo/pair/image", "sensor_msgs/msg/Image", ""},
    [GST_PUBLISH_MESSAGE_JPEG] = {"/stereo/left/image_rect/compressed",
                                  "sensor_msgs/msg/CompressedImage", ""},
    [GST_PUBLISH_MESSAGE_VIDEO] = {"/stereo/left/video", "foxglove_msgs/msg/CompressedVideo", ""},
    [GST_PUBLISH_MESSAGE_LEFT] = {"/stereo/left/camera_info", "sensor_msgs/msg/CameraInfo", ""},
    [GST_PUBLISH_MESSAGE_RIGHT] = {"/stereo/right/camera_info", "sensor_msgs/msg/CameraInfo", ""},
    [GST_PUBLISH_MESSAGE_DISPARITY] = {"/stereo/disparity", "stereo_msgs/msg/DisparityImage", ""},
    [GST_PUBLISH_MESSAGE_DEPTH] = {"/stereo/depth", "sensor_msgs/msg/Image", ""},
    [GST_PUBLISH_MESSAGE_POINTS] = {"/stereo/points", "sensor_msgs/msg/PointCloud2", ""},
    [GST_PUBLISH_MESSAGE_STIXELS] = {"/road/stixels", "visualization_msgs/msg/MarkerArray", ""},
    [GST_PUBLISH_MESSAGE_OBSTACLES] = {"/road/obstacles", "visualization_msgs/msg/MarkerArray", ""},
    [GST_PUBLISH_MESSAGE_OVERLAY] = {"/road/overlay", "foxglove_msgs/msg/ImageAnnotations", ""},
    [GST_PUBLISH_MESSAGE_TF] = {"/tf_static", "tf2_msgs/msg/TFMessage", LATCHED},
    [GST_PUBLISH_MESSAGE_FRAME] = {"/roadvision/frame", "std_msgs/msg/String", ""},
};

void gst_publish_ros_init(GstPublishRos *ros, GstPublishMcap *mcap, GstPublishHost *host,
                          guint topics, const GstPublishJson *json) {
  memset(ros, 0, sizeof *ros);
  ros->mcap = mcap;
  ros->host = host;
  ros->topics = topics;
  ros->json = *json;
  for (guint i = 0; i < GST_PUBLISH_MESSAGES; i++) {
    const GstPublishChannel channel = {messages[i].topic, messages[i].schema, "ros2msg",
                                       messages[i].qos,
                                       gst_publish_ros_definition(messages[i].schema)};
    ros->channels[i] = gst_publish_mcap_add_channel(mcap, &channel);
  }
}

void gst_publish_ros_clear(GstPublishRos *ros) {
  gst_publish_json_clear(&ros->json);
  gst_publish_text_clear(&ros->scratch);
  gst_clear_caps(&ros->caps);
  g_clear_pointer(&ros->colors, g_free);
}

GstPublishCdr gst_publish_ros_begin(GstPublishRos *ros, GstPublishMessage message, guint64 time) {
  return gst_publish_cdr_begin(gst_publish_mcap_begin(ros->mcap, ros->channels[message], time));
}

void gst_publish_ros_end(GstPublishRos *ros) {
  gst_publish_mcap_end(ros->mcap);
}

/* --- Frames ---------------------------------------------------------------------------------- */

static void follow_caps(GstPublishRos *ros, const GstPublishFrame *frame) {
  if (!frame->caps || frame->caps == ros->caps)
    return;
  gst_caps_replace(&ros->caps, frame->caps);
  const GstStructure *structure = gst_caps_get_structure(frame->caps, 0);
  const char *packing = gst_structure_get_string(structure, "multiview-mode");
  ros->is_raw = gst_structure_has_name(structure, "video/x-raw") &&
                gst_video_info_from_caps(&ros->info, frame->caps);
  ros->is_pair = packing && strcmp(packing, "mono") != 0 && strcmp(packing, "left") != 0;
}

static void publish_json(GstPublishRos *ros, const GstPublishScene *scene) {
  ros->scratch.length = 0;
  gst_publish_json_frame(&ros->json, scene->frame, &ros->scratch);
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_FRAME, scene->time);
  gst_publish_cdr_string(&cdr, ros->scratch.data, ros->scratch.length);
  gst_publish_ros_end(ros);
}

static void read_scene(GstPublishScene *scene, const GstPublishFrame *frame) {
  memset(scene, 0, sizeof *scene);
  scene->frame = frame;
  scene->time = frame->utc_source == GST_PUBLISH_UTC_NONE ? 0 : (guint64)MAX(frame->utc, 0);
  scene->width = frame->width;
  scene->height = frame->height;
  if (!rv_meta_get_camera(frame->metas, &scene->camera, &scene->camera_width,
                          &scene->camera_height))
    scene->camera_width = scene->camera_height = 0;
  if (!rv_meta_get_disparity(frame->metas, &scene->disparity) ||
      !rv_meta_map_buffer(&scene->disparity_map, scene->disparity.payload, GST_MAP_READ))
    scene->disparity.payload = NULL;
  if (scene->width <= 0 || scene->height <= 0) {
    scene->width = scene->camera_width;
    scene->height = scene->camera_height;
  }
}

void gst_publish_ros_frame(GstPublishRos *ros, const GstPublishFrame *frame) {
  static const struct {
    GstPublishTopics topic;
    void (*publish)(GstPublishRos *ros, const GstPublishScene *scene);
  } parts[] = {
      {GST_PUBLISH_TOPIC_TF, gst_publish_ros_tf},
      {GST_PUBLISH_TOPIC_CAMERA, gst_publish_ros_camera},
      {GST_PUBLISH_TOPIC_IMAGE, gst_publish_ros_image},
      {GST_PUBLISH_TOPIC_DISPARITY, gst_publish_ros_disparity},
      {GST_PUBLISH_TOPIC_DEPTH, gst_publish_ros_depth},
      {GST_PUBLISH_TOPIC_POINTS, gst_publish_ros_points},
      {GST_PUBLISH_TOPIC_MARKERS, gst_publish_ros_stixels},
      {GST_PUBLISH_TOPIC_MARKERS, gst_publish_ros_obstacles},
      {GST_PUBLISH_TOPIC_OVERLAY, gst_publish_ros_overlay},
      {GST_PUBLISH_TOPIC_FRAME, publish_json},
  };
  GstPublishScene scene;
  follow_caps(ros, frame);
  read_scene(&scene, frame);
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    if (ros->topics & parts[i].topic)
      parts[i].publish(ros, &scene);
  if (scene.disparity.payload)
    rv_meta_unmap(&scene.disparity_map);
}
