/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_ros_types.c: fields of the ROS 2 messages that are written. They are part of
 * the MCAP file, so that readers need no installed packages. */
#include "gstannotationpublish_ros.h"

#include <string.h>

#define RULE "================================================================================"

/* The fields alone: constants are omitted, readers do not need them. */
static const struct {
  const char *name, *fields;
} types[] = {
    {"builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"},
    {"builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n"},
    {"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"},
    {"std_msgs/String", "string data\n"},
    {"std_msgs/ColorRGBA", "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n"},
    {"geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"},
    {"geometry_msgs/Pose", "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n"},
    {"geometry_msgs/Transform",
     "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n"},
    {"geometry_msgs/TransformStamped",
     "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n"},
    {"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"},
    {"sensor_msgs/Image", "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n"
                          "uint8 is_bigendian\nuint32 step\nuint8[] data\n"},
    {"sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n"},
    {"sensor_msgs/RegionOfInterest",
     "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n"},
    {"sensor_msgs/CameraInfo",
     "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\n"
     "float64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\n"
     "sensor_msgs/RegionOfInterest roi\n"},
    {"sensor_msgs/PointField", "string name\nuint32 offset\nuint8 datatype\nuint32 count\n"},
    {"sensor_msgs/PointCloud2",
     "std_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\n"
     "bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n"},
    {"stereo_msgs/DisparityImage",
     "std_msgs/Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 t\n"
     "sensor_msgs/RegionOfInterest valid_window\nfloat32 min_disparity\nfloat32 max_disparity\n"
     "float32 delta_d\n"},
    {"visualization_msgs/UVCoordinate", "float32 u\nfloat32 v\n"},
    {"visualization_msgs/MeshFile", "string filename\nuint8[] data\n"},
    {"visualization_msgs/Marker",
     "std_msgs/Header header\nstring ns\nint32 id\nint32 type\nint32 action\n"
     "geometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\n"
     "builtin_interfaces/Duration lifetime\nbool frame_locked\ngeometry_msgs/Point[] points\n"
     "std_msgs/ColorRGBA[] colors\nstring texture_resource\nsensor_msgs/CompressedImage texture\n"
     "visualization_msgs/UVCoordinate[] uv_coordinates\nstring text\nstring mesh_resource\n"
     "visualization_msgs/MeshFile mesh_file\nbool mesh_use_embedded_materials\n"},
    {"visualization_msgs/MarkerArray", "visualization_msgs/Marker[] markers\n"},
    {"foxglove_msgs/Color", "float64 r\nfloat64 g\nfloat64 b\nfloat64 a\n"},
    {"foxglove_msgs/Point2", "float64 x\nfloat64 y\n"},
    {"foxglove_msgs/CircleAnnotation",
     "builtin_interfaces/Time timestamp\nfoxglove_msgs/Point2 position\nfloat64 diameter\n"
     "float64 thickness\nfoxglove_msgs/Color fill_color\nfoxglove_msgs/Color outline_color\n"},
    {"foxglove_msgs/PointsAnnotation",
     "builtin_interfaces/Time timestamp\nuint8 type\nfoxglove_msgs/Point2[] points\n"
     "foxglove_msgs/Color outline_color\nfoxglove_msgs/Color[] outline_colors\n"
     "foxglove_msgs/Color fill_color\nfloat64 thickness\n"},
    {"foxglove_msgs/TextAnnotation",
     "builtin_interfaces/Time timestamp\nfoxglove_msgs/Point2 position\nstring text\n"
     "float64 font_size\nfoxglove_msgs/Color text_color\nfoxglove_msgs/Color background_color\n"},
    {"foxglove_msgs/ImageAnnotations",
     "foxglove_msgs/CircleAnnotation[] circles\nfoxglove_msgs/PointsAnnotation[] points\n"
     "foxglove_msgs/TextAnnotation[] texts\n"},
    {"foxglove_msgs/CompressedVideo",
     "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format\n"},
};

static int find_type(const char *name, gsize length) {
  for (guint i = 0; i < G_N_ELEMENTS(types); i++)
    if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
      return (int)i;
  return -1;
}

/* Adds the types that the fields of type `at` have, and theirs. */
static void add_dependencies(GString *text, int at, gboolean *added) {
  for (const char *line = types[at].fields; *line; line = strchr(line, '\n') + 1) {
    const gsize length = strcspn(line, " [");
    const int type = find_type(line, length);
    if (type < 0 || added[type])
      continue;
    added[type] = TRUE;
    g_string_append_printf(text, RULE "\nMSG: %s\n%s", types[type].name, types[type].fields);
    add_dependencies(text, type, added);
  }
}

char *gst_publish_ros_definition(const char *schema) {
  gboolean added[G_N_ELEMENTS(types)] = {FALSE};
  const char *slash = strchr(schema, '/'); /* pkg/msg/Type is pkg/Type in definitions */
  char *name = g_strdup_printf("%.*s%s", (int)(slash - schema), schema, slash + strlen("/msg"));
  const int type = find_type(name, strlen(name));
  g_free(name);
  g_return_val_if_fail(type >= 0, NULL);
  GString *text = g_string_new(types[type].fields);
  added[type] = TRUE;
  add_dependencies(text, type, added);
  return g_string_free(text, FALSE);
}
