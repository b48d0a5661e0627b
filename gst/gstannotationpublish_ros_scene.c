/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_ros_scene.c: markers in space, outlines over the image, and the position of
 * the camera. */
#include "gstannotationpublish_ros.h"

#include "gstannotationpublish_layout.h"

#include <math.h>

#define TRIANGLE_LIST 11 /* visualization_msgs/Marker */
#define CUBE 1
#define LINE_LIST 4            /* foxglove_msgs/PointsAnnotation */
#define LIFETIME_NS 500000000u /* of markers, after the last frame */
#define NEAR_M 5.0             /* distances of the ends of the color scale */
#define FAR_M 80.0
#define TEXT_PX 16.0

typedef struct Color {
  float r, g, b, a;
} Color;

/* Red near, yellow, green, blue far; on the scale of 1 / distance, as disparity is. */
static Color distance_color(double distance, float alpha) {
  const double near = 1.0 / NEAR_M, far = 1.0 / FAR_M;
  const double t = CLAMP((1.0 / MAX(distance, 0.1) - far) / (near - far), 0.0, 1.0) * 3.0;
  const Color color = {(float)CLAMP(t - 1.0, 0.0, 1.0),
                       (float)(t < 1.0 ? t : CLAMP(3.0 - t, 0.0, 1.0)),
                       (float)CLAMP(1.0 - t, 0.0, 1.0), alpha};
  return color;
}

static const Color line_color = {1.0f, 1.0f, 0.0f, 1.0f};
static const Color road_color = {0.0f, 1.0f, 0.3f, 1.0f};
static const Color obstacle_color = {1.0f, 0.3f, 0.1f, 1.0f};

/* --- Sequences whose length is known at the end ---------------------------------------------- */

static gsize begin_count(const GstPublishCdr *cdr) {
  gst_publish_cdr_u32(cdr, 0);
  return cdr->text->length - sizeof(guint32);
}

static void end_count(const GstPublishCdr *cdr, gsize at, guint32 count) {
  count = GUINT32_TO_LE(count);
  memcpy(cdr->text->data + at, &count, sizeof count);
}

/* --- Records --------------------------------------------------------------------------------- */

/* The mapped records of an annotation. */
typedef struct Records {
  const GstPublishLayout *layout;
  RvMetaMap map;
  gsize count;
  int width, height; /* px that they refer to */
} Records;

static gboolean open_records(Records *records, const GstPublishScene *scene, const char *name) {
  const GstStructure *fields = gst_publish_frame_find(scene->frame, name);
  records->layout = fields ? gst_publish_layout(name, "payload") : NULL;
  if (!records->layout || !rv_meta_size(fields, &records->width, &records->height) ||
      !rv_meta_map(&records->map, fields, "payload"))
    return FALSE;
  records->count =
      gst_publish_layout_records(records->layout, fields, "payload", records->map.info.size);
  return TRUE;
}

static void close_records(Records *records) {
  rv_meta_unmap(&records->map);
}

/* A field of record i by its name; 0 when there is none. */
static double value_of(const Records *records, gsize i, const char *name) {
  const int field = gst_publish_layout_find(records->layout, name);
  return field < 0 ? 0.0
                   : gst_publish_field_value(&records->layout->fields[field],
                                             records->map.info.data + i * records->layout->size);
}

/* --- Markers --------------------------------------------------------------------------------- */

static void put_color(const GstPublishCdr *cdr, Color color) {
  gst_publish_cdr_f32(cdr, color.r);
  gst_publish_cdr_f32(cdr, color.g);
  gst_publish_cdr_f32(cdr, color.b);
  gst_publish_cdr_f32(cdr, color.a);
}

static void put_vector(const GstPublishCdr *cdr, double x, double y, double z) {
  gst_publish_cdr_f64(cdr, x);
  gst_publish_cdr_f64(cdr, y);
  gst_publish_cdr_f64(cdr, z);
}

/* A marker up to its points. */
static void put_marker(const GstPublishCdr *cdr, guint64 time, const char *frame, const char *ns,
                       guint32 id, guint32 type, const double position[3], const double scale[3],
                       Color color) {
  gst_publish_cdr_header(cdr, time, frame);
  gst_publish_cdr_text(cdr, ns);
  gst_publish_cdr_u32(cdr, id);
  gst_publish_cdr_u32(cdr, type);
  gst_publish_cdr_u32(cdr, 0); /* add or modify */
  put_vector(cdr, position[0], position[1], position[2]);
  put_vector(cdr, 0, 0, 0);
  gst_publish_cdr_f64(cdr, 1); /* no rotation */
  put_vector(cdr, scale[0], scale[1], scale[2]);
  put_color(cdr, color);
  gst_publish_cdr_u32(cdr, 0);
  gst_publish_cdr_u32(cdr, LIFETIME_NS);
  gst_publish_cdr_u8(cdr, 0);
}

/* The rest of a marker after its colors: no texture, text or mesh. */
static void put_marker_end(const GstPublishCdr *cdr, guint64 time) {
  gst_publish_cdr_text(cdr, "");
  gst_publish_cdr_header(cdr, time, "");
  gst_publish_cdr_text(cdr, "");
  gst_publish_cdr_u32(cdr, 0);
  gst_publish_cdr_u32(cdr, 0);
  gst_publish_cdr_text(cdr, "");
  gst_publish_cdr_text(cdr, "");
  gst_publish_cdr_text(cdr, "");
  gst_publish_cdr_u32(cdr, 0);
  gst_publish_cdr_u8(cdr, 0);
}

/* Corners of a stixel in space: left top, right top, left bottom, right bottom. FALSE when it is no
 * object or its depth is unknown. */
static gboolean stixel_corners(const RvCamera *camera, const RvStixel *stixel, int stixel_width,
                               double corners[4][3]) {
  if (stixel->structure != RV_STIXEL_OBJECT)
    return FALSE;
  for (int i = 0; i < 4; i++) {
    const double x = stixel->column + (i & 1 ? stixel_width : 0) - 0.5;
    const double y = (i & 2 ? stixel->v_bottom + 1 : stixel->v_top) - 0.5;
    const double d = (double)stixel->slope * y + (double)stixel->intercept + camera->doffs;
    if (!(d > 0.1))
      return FALSE;
    const double z = camera->focal * camera->baseline / d;
    corners[i][0] = (x - camera->cx) * z / camera->focal;
    corners[i][1] = (y - camera->cy) * z / camera->focal;
    corners[i][2] = z;
  }
  return TRUE;
}

/* The stixels of the frame, to be unmapped; FALSE when there are none. */
static gboolean map_stixels(const GstPublishScene *scene, RvMetaStixels *meta, RvMetaMap *map) {
  return rv_meta_get_stixels(scene->frame->metas, meta) &&
         rv_meta_map_buffer(map, meta->payload, GST_MAP_READ);
}

void gst_publish_ros_stixels(GstPublishRos *ros, const GstPublishScene *scene) {
  static const int triangles[6] = {0, 2, 1, 1, 2, 3};
  static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
  RvMetaStixels meta;
  RvMetaMap map;
  if (scene->camera.focal <= 0.0 || scene->camera.baseline <= 0.0 ||
      !map_stixels(scene, &meta, &map))
    return;
  const RvStixel *stixels = (const RvStixel *)(const void *)map.info.data;
  double corners[4][3];
  const Color white = {1, 1, 1, 1};
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_STIXELS, scene->time);
  gst_publish_cdr_u32(&cdr, 1);
  put_marker(&cdr, scene->time, GST_PUBLISH_OPTICAL_FRAME, "stixels", 0, TRIANGLE_LIST, zero, one,
             white);
  const gsize points = begin_count(&cdr);
  guint32 count = 0;
  for (int i = 0; i < meta.count; i++) {
    if (!stixel_corners(&scene->camera, &stixels[i], meta.stixel_width, corners))
      continue;
    for (int t = 0; t < 6; t++)
      put_vector(&cdr, corners[triangles[t]][0], corners[triangles[t]][1],
                 corners[triangles[t]][2]);
    count += 6;
  }
  end_count(&cdr, points, count);
  gst_publish_cdr_u32(&cdr, count);
  for (int i = 0; i < meta.count; i++)
    if (stixel_corners(&scene->camera, &stixels[i], meta.stixel_width, corners))
      for (int t = 0; t < 6; t++)
        put_color(&cdr, distance_color(corners[2][2], 0.9f));
  put_marker_end(&cdr, scene->time);
  gst_publish_ros_end(ros);
  rv_meta_unmap(&map);
}

void gst_publish_ros_obstacles(GstPublishRos *ros, const GstPublishScene *scene) {
  Records records;
  if (!open_records(&records, scene, "RvObstaclesMeta"))
    return;
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_OBSTACLES, scene->time);
  gst_publish_cdr_u32(&cdr, (guint32)records.count);
  for (gsize i = 0; i < records.count; i++) {
    const double scale[3] = {MAX(value_of(&records, i, "length"), 0.1),
                             MAX(value_of(&records, i, "width"), 0.1),
                             MAX(value_of(&records, i, "height"), 0.1)};
    const double position[3] = {value_of(&records, i, "distance") + scale[0] / 2,
                                -value_of(&records, i, "lateral"),
                                value_of(&records, i, "bottom") + scale[2] / 2};
    put_marker(&cdr, scene->time, GST_PUBLISH_ROAD_FRAME, "obstacles", (guint32)i, CUBE, position,
               scale, distance_color(position[0], 0.6f));
    gst_publish_cdr_u32(&cdr, 0);
    gst_publish_cdr_u32(&cdr, 0);
    put_marker_end(&cdr, scene->time);
  }
  gst_publish_ros_end(ros);
  close_records(&records);
}

/* --- Overlay --------------------------------------------------------------------------------- */

/* Segments of lines over the image, collected before they are written. */
typedef struct Outline {
  GstPublishText points; /* pairs of x, y; double */
  GstPublishText colors; /* r, g, b, a per segment; double */
} Outline;

static void add_segment(Outline *outline, double x0, double y0, double x1, double y1, Color color) {
  const double points[4] = {x0, y0, x1, y1};
  const double colors[4] = {color.r, color.g, color.b, color.a};
  gst_publish_text_bytes(&outline->points, points, sizeof points);
  gst_publish_text_bytes(&outline->colors, colors, sizeof colors);
}

static void add_box(Outline *outline, double x0, double y0, double x1, double y1, Color color) {
  add_segment(outline, x0, y0, x1, y0, color);
  add_segment(outline, x1, y0, x1, y1, color);
  add_segment(outline, x1, y1, x0, y1, color);
  add_segment(outline, x0, y1, x0, y0, color);
}

static void outline_stixels(Outline *outline, const GstPublishScene *scene) {
  RvMetaStixels meta;
  RvMetaMap map;
  if (!map_stixels(scene, &meta, &map))
    return;
  const double sx = (double)scene->width / meta.width, sy = (double)scene->height / meta.height;
  const double fb = scene->camera.focal * scene->camera.baseline;
  const RvStixel *stixel = (const RvStixel *)(const void *)map.info.data;
  for (int i = 0; i < meta.count; i++, stixel++) {
    if (stixel->structure != RV_STIXEL_OBJECT)
      continue;
    const double d =
        (double)stixel->slope * stixel->v_bottom + (double)stixel->intercept + scene->camera.doffs;
    /* The origin is the corner of the first pixel. */
    add_box(outline, sx * stixel->column, sy * stixel->v_top,
            sx * (stixel->column + meta.stixel_width), sy * (stixel->v_bottom + 1),
            fb > 0.0 && d > 0.0 ? distance_color(fb / d, 1.0f) : line_color);
  }
  rv_meta_unmap(&map);
}

static void outline_lines(Outline *outline, const GstPublishScene *scene) {
  Records records;
  if (!open_records(&records, scene, "RvLinesMeta"))
    return;
  const double sx = (double)scene->width / records.width;
  const double sy = (double)scene->height / records.height;
  for (gsize i = 0; i < records.count; i++) {
    const double x0 = value_of(&records, i, "x0"), y0 = value_of(&records, i, "y0");
    const double x1 = value_of(&records, i, "x1"), y1 = value_of(&records, i, "y1");
    if (x0 != x1 || y0 != y1) /* lines without end points are not drawn */
      add_segment(outline, sx * (x0 + 0.5), sy * (y0 + 0.5), sx * (x1 + 0.5), sy * (y1 + 0.5),
                  line_color);
  }
  close_records(&records);
}

/* Edges between patches of the road and others. */
static void outline_road(Outline *outline, const GstPublishScene *scene) {
  RvMetaRoad meta;
  RvMetaMap map;
  if (!rv_meta_get_road(scene->frame->metas, &meta) ||
      !rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ))
    return;
  const double px = (double)meta.patch_size * scene->width / meta.width;
  const double py = (double)meta.patch_size * scene->height / meta.height;
  for (int y = 0; y < meta.rows; y++) {
    const guint8 *row = (const guint8 *)map.plane.data + y * map.plane.stride;
    const guint8 *next = y + 1 < meta.rows ? row + map.plane.stride : NULL;
    for (int x = 0; x < meta.columns; x++) {
      if (x + 1 < meta.columns && (row[x] != 0) != (row[x + 1] != 0))
        add_segment(outline, (x + 1) * px, y * py, (x + 1) * px, (y + 1) * py, road_color);
      if (next && (row[x] != 0) != (next[x] != 0))
        add_segment(outline, x * px, (y + 1) * py, (x + 1) * px, (y + 1) * py, road_color);
    }
  }
  rv_meta_unmap(&map);
}

static void put_color64(const GstPublishCdr *cdr, Color color) {
  const double values[4] = {color.r, color.g, color.b, color.a};
  gst_publish_cdr_f64s(cdr, values, 4);
}

/* Boxes into the outline, distances as texts. */
static void put_obstacle_texts(const GstPublishCdr *cdr, const GstPublishScene *scene,
                               const Records *records, double sx, double sy) {
  const Color black = {0, 0, 0, 0.6f};
  gst_publish_cdr_u32(cdr, (guint32)records->count);
  for (gsize i = 0; i < records->count; i++) {
    char text[G_ASCII_DTOSTR_BUF_SIZE + 4];
    g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.1f", value_of(records, i, "distance"));
    g_strlcat(text, " m", sizeof text);
    gst_publish_cdr_time(cdr, scene->time);
    gst_publish_cdr_f64(cdr, sx * value_of(records, i, "x"));
    gst_publish_cdr_f64(cdr, sy * value_of(records, i, "y"));
    gst_publish_cdr_text(cdr, text);
    gst_publish_cdr_f64(cdr, TEXT_PX);
    put_color64(cdr, obstacle_color);
    put_color64(cdr, black);
  }
}

static void put_outline(const GstPublishCdr *cdr, guint64 time, const Outline *outline) {
  const gsize points = outline->points.length / 16, segments = outline->colors.length / 32;
  gst_publish_cdr_u32(cdr, 1);
  gst_publish_cdr_time(cdr, time);
  gst_publish_cdr_u8(cdr, LINE_LIST);
  gst_publish_cdr_u32(cdr, (guint32)points);
  if (points > 0)
    memcpy(gst_publish_cdr_space(cdr, 8, outline->points.length), outline->points.data,
           outline->points.length);
  put_color64(cdr, line_color);
  gst_publish_cdr_u32(cdr, (guint32)segments);
  if (segments > 0)
    memcpy(gst_publish_cdr_space(cdr, 8, outline->colors.length), outline->colors.data,
           outline->colors.length);
  put_color64(cdr, (Color){0, 0, 0, 0});
  gst_publish_cdr_f64(cdr, 1.0);
}

void gst_publish_ros_overlay(GstPublishRos *ros, const GstPublishScene *scene) {
  Outline outline = {{NULL, 0, 0}, {NULL, 0, 0}};
  Records records;
  outline_stixels(&outline, scene);
  outline_lines(&outline, scene);
  outline_road(&outline, scene);
  const gboolean has_obstacles = open_records(&records, scene, "RvObstaclesMeta");
  const double sx = has_obstacles ? (double)scene->width / records.width : 1.0;
  const double sy = has_obstacles ? (double)scene->height / records.height : 1.0;
  for (gsize i = 0; has_obstacles && i < records.count; i++) {
    const double x = sx * value_of(&records, i, "x"), y = sy * value_of(&records, i, "y");
    add_box(&outline, x, y, x + sx * value_of(&records, i, "w"),
            y + sy * value_of(&records, i, "h"), obstacle_color);
  }
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_OVERLAY, scene->time);
  gst_publish_cdr_u32(&cdr, 0); /* circles */
  put_outline(&cdr, scene->time, &outline);
  if (has_obstacles)
    put_obstacle_texts(&cdr, scene, &records, sx, sy);
  else
    gst_publish_cdr_u32(&cdr, 0);
  gst_publish_ros_end(ros);
  if (has_obstacles)
    close_records(&records);
  gst_publish_text_clear(&outline.points);
  gst_publish_text_clear(&outline.colors);
}

/* --- Transform ------------------------------------------------------------------------------- */

/* Rotation of the optical frame (x right, y down, z forward) in the road frame (x forward, y left,
 * z up): half a turn and two quarter turns, then `pitch` about y, positive = down. */
static void camera_rotation(double pitch, double q[4]) {
  const double s = sin(pitch * G_PI / 360.0), c = cos(pitch * G_PI / 360.0);
  const double x = -0.5, y = 0.5, z = -0.5, w = 0.5;
  q[0] = c * x + s * z; /* (0, s, 0, c) times (x, y, z, w) */
  q[1] = c * y + s * w;
  q[2] = c * z - s * x;
  q[3] = c * w - s * y;
}

/* Once per file, and when the camera changed. */
void gst_publish_ros_tf(GstPublishRos *ros, const GstPublishScene *scene) {
  const RvCamera *camera = &scene->camera;
  const guint file = gst_publish_mcap_file(ros->mcap) + 1;
  if (camera->height <= 0.0 || (file == ros->tf_file && camera->height == ros->tf_camera.height &&
                                camera->pitch == ros->tf_camera.pitch))
    return;
  double rotation[4];
  ros->tf_camera = *camera;
  ros->tf_file = file;
  camera_rotation(camera->pitch, rotation);
  const GstPublishCdr cdr = gst_publish_ros_begin(ros, GST_PUBLISH_MESSAGE_TF, scene->time);
  gst_publish_cdr_u32(&cdr, 1);
  gst_publish_cdr_header(&cdr, scene->time, GST_PUBLISH_ROAD_FRAME);
  gst_publish_cdr_text(&cdr, GST_PUBLISH_OPTICAL_FRAME);
  put_vector(&cdr, 0, 0, camera->height);
  gst_publish_cdr_f64s(&cdr, rotation, 4);
  gst_publish_ros_end(ros);
}
