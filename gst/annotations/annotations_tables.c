/* SPDX-License-Identifier: MIT */
/* annotations_tables.c: one table per annotation, in the order in which fields are written, sizes
 * before the buffers that depend on them; and the public functions of each. */
#include <stddef.h>
#include <string.h>

#include "annotations_private.h"

#define RECORD_STIXEL                                                                              \
  "column:u16 v_bottom:u16 v_top:u16 structure:u8 semantic:u8 slope:f32 intercept:f32 cost:f32"
#define RECORD_SEGMENT                                                                             \
  "column:u16 first:u16 last:u16 reserved:u16 disparity_first:u16 disparity_last:u16"
#define RECORD_LINE "rho:f32 theta:f32 votes:u32 x0:i16 y0:i16 x1:i16 y1:i16"
#define RECORD_OBSTACLE                                                                            \
  "id:u32 x:u16 y:u16 w:u16 h:u16 distance:f32 lateral:f32 width:f32 height:f32 bottom:f32 "       \
  "length:f32 velocity_z:f32 velocity_x:f32 ttc:f32 distance_sigma:f32 age:u16 missed:u16 "        \
  "kind:u8 confidence:u8 state:u8 flags:u8 reserved:u32"
#define RECORD_FREE_COLUMN "row:u16 disparity:u16 kind:u8 confidence:u8 obstacle:u16"
#define RECORD_LANE_LINE                                                                           \
  "id:u32 offset:f32 heading:f32 curvature:f32 offset_near:f32 z_min:f32 z_max:f32 sigma:f32 "     \
  "support:f32 kind:u8 color:u8 position:i8 confidence:u8 age:u16 missed:u16 reserved:u32"
#define RECORD_DETECTION                                                                           \
  "id:i32 distance:f32 lateral:f32 velocity_z:f32 ttc:f32 obstacle:u32 valid:u8 confidence:u8 "    \
  "source:u8 reserved:u8 width:f32 height:f32"
#define RECORD_SCENE_OBJECT                                                                        \
  "id:u16 label:u8 reserved:u8 x:u16 y:u16 w:u16 h:u16 pixels:u32 distance:f32 lateral:f32 "       \
  "width:f32 bottom:f32 top:f32 velocity_z:f32 velocity_x:f32 reserved2:u32"
#define RECORD_SCENE_LINE                                                                          \
  "x0:f32 x1:f32 x2:f32 x3:f32 x4:f32 x5:f32 x6:f32 x7:f32 x8:f32 x9:f32 x10:f32 x11:f32 "         \
  "x12:f32 x13:f32 x14:f32 x15:f32 x16:f32 x17:f32 x18:f32 x19:f32 x20:f32 x21:f32 x22:f32 "       \
  "x23:f32 offset:f32 heading:f32 curvature:f32 width:f32 position:i8 kind:u8 color:u8 "           \
  "reserved:u8"

/* A row of a table; STRUCT is its struct. */
#define AT(member) offsetof(STRUCT, member)
#define FIELD(type, text, member, ...)                                                             \
  { .name = text, .kind = RV_META_##type, .at = AT(member), __VA_ARGS__ }
#define REQUIRED .optional = FALSE
#define OPTIONAL .optional = TRUE
#define WITH(member) .optional = TRUE, .with = AT(member)
#define RANGE(least, most) .low = least, .high = most
#define ANY .low = G_MININT, .high = G_MAXINT
#define NICKS(list) .format = list
#define PIXELS(number, across, down) .format = number, .columns = AT(across), .rows = AT(down)
#define ARRAY(record, number) .format = record, .columns = AT(number)
#define COUNT RANGE(0, G_MAXINT)
#define SIDE RANGE(1, RV_MAX_SIDE)

#define STRUCT RvMetaCamera
static const RvMetaField camera_fields[] = {
    FIELD(DOUBLE, "focal", focal, WITH(focal)),
    FIELD(DOUBLE, "cx", cx, WITH(focal)),
    FIELD(DOUBLE, "cy", cy, WITH(focal)),
    FIELD(DOUBLE, "doffs", doffs, WITH(focal)),
    FIELD(DOUBLE, "baseline", baseline, WITH(baseline)),
    FIELD(DOUBLE, "camera-height", camera_height, WITH(camera_height)),
    FIELD(DOUBLE, "pitch", pitch, WITH(camera_height)),
    FIELD(INT, "valid-x", valid_x, ANY, WITH(valid_width)),
    FIELD(INT, "valid-y", valid_y, ANY, WITH(valid_width)),
    FIELD(INT, "valid-width", valid_width, ANY, WITH(valid_width)),
    FIELD(INT, "valid-height", valid_height, ANY, WITH(valid_width)),
};
#undef STRUCT

#define STRUCT RvMetaDisparity
static const RvMetaField disparity_fields[] = {
    FIELD(INT, "scale", scale, RANGE(1, G_MAXINT)),
    FIELD(INT, "min-disparity", min_disparity, ANY),
    FIELD(INT, "disparities", disparities, ANY),
    {.name = "view", .kind = RV_META_TEXT, .format = "left"},
    FIELD(RASTER, "payload", payload, PIXELS("u16", width, height)),
    FIELD(RASTER, "confidence", confidence, OPTIONAL, PIXELS("u8", width, height)),
};
#undef STRUCT

#define STRUCT RvMetaSemantics
static const RvMetaField semantics_fields[] = {
    FIELD(INT, "classes", classes, RANGE(0, G_MAXUINT16)),
    FIELD(INT, "map-width", map_width, SIDE),
    FIELD(INT, "map-height", map_height, SIDE),
    FIELD(ENUM, "type", type, NICKS("labels scores")),
    FIELD(RASTER, "payload", payload, PIXELS("u8", map_width, map_height)), /* and f16, below */
};
#undef STRUCT

#define STRUCT RvMetaStixels
static const RvMetaField stixels_fields[] = {
    FIELD(INT, "count", count, COUNT),
    FIELD(INT, "stixel-width", stixel_width, RANGE(1, G_MAXINT)),
    FIELD(INT, "vertical-step", vertical_step, RANGE(1, G_MAXINT)),
    FIELD(ENUM, "model", model, NICKS("slanted-fast slanted constant")),
    FIELD(DOUBLE, "ground-slope", ground_slope, REQUIRED),
    FIELD(DOUBLE, "ground-intercept", ground_intercept, REQUIRED),
    FIELD(INT, "ground-frames", ground_frames, ANY),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_STIXEL, count)),
};
#undef STRUCT

#define STRUCT RvMetaSegments
static const RvMetaField segments_fields[] = {
    FIELD(INT, "count", count, COUNT),
    FIELD(DOUBLE, "epsilon", epsilon, REQUIRED),
    FIELD(INT, "levels-max", levels_max, ANY),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_SEGMENT, count)),
};
#undef STRUCT

#define STRUCT RvMetaRoad
static const RvMetaField road_fields[] = {
    FIELD(INT, "patch-size", patch_size, SIDE),
    FIELD(INT, "columns", columns, SIDE),
    FIELD(INT, "rows", rows, SIDE),
    FIELD(INT, "models", models, ANY, OPTIONAL),
    FIELD(INT, "samples", samples, ANY, OPTIONAL),
    FIELD(INT, "seeds", seeds, ANY, OPTIONAL),
    FIELD(INT, "samples-matched", samples_matched, ANY, OPTIONAL),
    FIELD(INT, "models-added", models_added, ANY, OPTIONAL),
    FIELD(INT, "samples-pending", samples_pending, ANY, OPTIONAL),
    FIELD(INT, "iterations", iterations, ANY, OPTIONAL),
    FIELD(DOUBLE, "road-share", road_share, OPTIONAL),
    FIELD(DOUBLE, "classify-threshold", classify_threshold, OPTIONAL),
    FIELD(DOUBLE, "ground-slope-x", ground_slope_x, WITH(camera_height)),
    FIELD(DOUBLE, "ground-slope-y", ground_slope_y, WITH(camera_height)),
    FIELD(DOUBLE, "ground-intercept", ground_intercept, WITH(camera_height)),
    FIELD(DOUBLE, "camera-height", camera_height, WITH(camera_height)),
    FIELD(DOUBLE, "drivable-distance", drivable_distance, WITH(camera_height)),
    FIELD(INT, "border-values", border_values, COUNT, WITH(border)),
    FIELD(RASTER, "payload", payload, PIXELS("u8", columns, rows)),
    FIELD(RASTER, "score", score, OPTIONAL, PIXELS("u8", columns, rows)),
    FIELD(RASTER, "distance", distance, OPTIONAL, PIXELS("f32", columns, rows)),
    FIELD(RASTER, "seed-mask", seed_mask, OPTIONAL, PIXELS("u8", columns, rows)),
    FIELD(RECORDS, "border", border, OPTIONAL, ARRAY("f32", border_values)),
};
#undef STRUCT

#define STRUCT RvMetaLines
static const RvMetaField lines_fields[] = {
    FIELD(INT, "count", count, COUNT),
    FIELD(DOUBLE, "theta-step", theta_step, REQUIRED),
    FIELD(DOUBLE, "rho-step", rho_step, REQUIRED),
    FIELD(BOOLEAN, "segments", segments, OPTIONAL),
    FIELD(INT, "rho-zero", rho_zero, ANY, WITH(accumulator)),
    FIELD(INT, "first-angle", first_angle, ANY, WITH(accumulator)),
    FIELD(INT, "accumulator-width", accumulator_width, ANY, WITH(accumulator)),
    FIELD(INT, "accumulator-height", accumulator_height, ANY, WITH(accumulator)),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_LINE, count)),
    FIELD(RASTER, "accumulator", accumulator, OPTIONAL,
          PIXELS("u32", accumulator_width, accumulator_height)),
};
#undef STRUCT

#define STRUCT RvMetaGround
static const RvMetaField ground_fields[] = {
    FIELD(DOUBLE, "ground-slope-x", ground_slope_x, REQUIRED),
    FIELD(DOUBLE, "ground-slope-y", ground_slope_y, REQUIRED),
    FIELD(DOUBLE, "ground-intercept", ground_intercept, REQUIRED),
    FIELD(DOUBLE, "camera-height", camera_height, OPTIONAL),
    FIELD(INT, "bins", bins, COUNT),
    FIELD(DOUBLE, "bin", bin, REQUIRED),
    FIELD(ENUM, "source", source, NICKS("road estimate camera memory")),
    FIELD(RECORDS, "profile", profile, OPTIONAL, ARRAY("i16", bins)),
};
#undef STRUCT

#define STRUCT RvMetaObstacles
static const RvMetaField obstacles_fields[] = {
    FIELD(INT, "count", count, COUNT),
    FIELD(INT, "tracked", tracked, COUNT),
    FIELD(INT, "nearest", nearest, RANGE(-1, G_MAXINT)),
    FIELD(DOUBLE, "min-height", min_height, REQUIRED),
    FIELD(DOUBLE, "clearance", clearance, REQUIRED),
    FIELD(DOUBLE, "max-range", max_range, REQUIRED),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_OBSTACLE, count)),
};
#undef STRUCT

#define STRUCT RvMetaFreeSpace
static const RvMetaField free_space_fields[] = {
    FIELD(INT, "columns", columns, COUNT),
    FIELD(INT, "column-width", column_width, SIDE),
    FIELD(DOUBLE, "area", area, REQUIRED),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_FREE_COLUMN, columns)),
};
#undef STRUCT

#define STRUCT RvMetaLanes
static const RvMetaField lanes_fields[] = {
    FIELD(INT, "count", count, COUNT),
    FIELD(INT, "left", left, RANGE(-1, G_MAXINT)),
    FIELD(INT, "right", right, RANGE(-1, G_MAXINT)),
    FIELD(DOUBLE, "offset", offset, REQUIRED),
    FIELD(DOUBLE, "heading", heading, REQUIRED),
    FIELD(DOUBLE, "curvature", curvature, REQUIRED),
    FIELD(DOUBLE, "lane-width", lane_width, REQUIRED),
    FIELD(DOUBLE, "confidence", confidence, REQUIRED),
    FIELD(DOUBLE, "z-min", z_min, REQUIRED),
    FIELD(DOUBLE, "z-max", z_max, REQUIRED),
    FIELD(INT, "polyline-values", polyline_values, COUNT, WITH(polylines)),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_LANE_LINE, count)),
    FIELD(RECORDS, "polylines", polylines, OPTIONAL, ARRAY("f32", polyline_values)),
};
#undef STRUCT

#define STRUCT RvMetaDetections
static const RvMetaField detections_fields[] = {
    FIELD(INT, "count", count, COUNT),
    FIELD(INT, "unmatched", unmatched, COUNT),
    FIELD(RECORDS, "payload", payload, ARRAY(RECORD_DETECTION, count)),
};
#undef STRUCT

#define STRUCT RvMetaPair
static const RvMetaField pair_fields[] = {
    FIELD(INT64, "skew", skew, REQUIRED),
    FIELD(UINT64, "left-time", left_time, REQUIRED),
    FIELD(UINT64, "right-time", right_time, REQUIRED),
};
#undef STRUCT

#define STRUCT RvMetaTruth
static const RvMetaField truth_fields[] = {
    FIELD(RASTER, "disparity", disparity, OPTIONAL, PIXELS("u16", width, height)),
    FIELD(RASTER, "labels", labels, OPTIONAL, PIXELS("u8", width, height)),
    FIELD(RASTER, "road", road, OPTIONAL, PIXELS("u8", width, height)),
    FIELD(RASTER, "visible", visible, OPTIONAL, PIXELS("u8", width, height)),
    FIELD(RASTER, "objects", objects, OPTIONAL, PIXELS("u16", width, height)),
    FIELD(RASTER, "heights", heights, OPTIONAL, PIXELS("u16", width, height)),
    FIELD(INT, "free-columns", free_columns, COUNT, WITH(free_space)),
    FIELD(INT, "object-count", object_count, COUNT, WITH(object_list)),
    FIELD(INT, "line-count", line_count, COUNT, WITH(line_list)),
    FIELD(RECORDS, "free-space", free_space, OPTIONAL, ARRAY("f32", free_columns)),
    FIELD(RECORDS, "object-list", object_list, OPTIONAL, ARRAY(RECORD_SCENE_OBJECT, object_count)),
    FIELD(RECORDS, "line-list", line_list, OPTIONAL, ARRAY(RECORD_SCENE_LINE, line_count)),
};
#undef STRUCT

/* --- Rules across fields ------------------------------------------------------------------------ */

static void reshape_semantics(const void *meta, RvMetaShape *shape) {
  const RvMetaSemantics *semantics = meta;
  if (semantics->type == RV_SEMANTICS_SCORES) {
    shape->format = "f16";
    shape->height *= semantics->classes; /* at most 16384 * 65535 */
  }
}

static const char *check_road(const void *meta) {
  const RvMetaRoad *road = meta;
  return road->columns > road->width / road->patch_size ||
                 road->rows > road->height / road->patch_size
             ? "more patches than the image has space for"
             : NULL;
}

/* Indices of records: -1 .. count - 1. */
static const char *check_obstacles(const void *meta) {
  const RvMetaObstacles *obstacles = meta;
  return obstacles->nearest >= obstacles->count ? "nearest is not an index" : NULL;
}

static const char *check_lanes(const void *meta) {
  const RvMetaLanes *lanes = meta;
  return lanes->left >= lanes->count || lanes->right >= lanes->count
             ? "left or right is not an index"
             : NULL;
}

/* --- All annotations ---------------------------------------------------------------------------- */

/* Struct, name in functions, name in macros, and the functions of rules across fields. */
#define ALL_BUT_CAMERA(X)                                                                          \
  X(Disparity, disparity, DISPARITY, NULL, NULL)                                                   \
  X(Semantics, semantics, SEMANTICS, reshape_semantics, NULL)                                      \
  X(Stixels, stixels, STIXELS, NULL, NULL)                                                         \
  X(Segments, segments, SEGMENTS, NULL, NULL)                                                      \
  X(Road, road, ROAD, NULL, check_road)                                                            \
  X(Lines, lines, LINES, NULL, NULL)                                                               \
  X(Ground, ground, GROUND, NULL, NULL)                                                            \
  X(Obstacles, obstacles, OBSTACLES, NULL, check_obstacles)                                        \
  X(FreeSpace, free_space, FREE_SPACE, NULL, NULL)                                                 \
  X(Lanes, lanes, LANES, NULL, check_lanes)                                                        \
  X(Detections, detections, DETECTIONS, NULL, NULL)                                                \
  X(Pair, pair, PAIR, NULL, NULL)                                                                  \
  X(Truth, truth, TRUTH, NULL, NULL)
#define ALL(X) X(Camera, camera, CAMERA, NULL, NULL) ALL_BUT_CAMERA(X)

#define NUMBER(Type, type, NAME, reshape, check) NUMBER_##NAME,
enum { ALL(NUMBER) NUMBER_OF_TYPES };

#define TYPE(Type, type, NAME, reshape, check)                                                     \
  {RV_META_##NAME, sizeof(RvMeta##Type), type##_fields, G_N_ELEMENTS(type##_fields), reshape,      \
   check},
const RvMetaType rv_meta_types[] = {ALL(TYPE){0}};

/**
 * rv_meta_get_names:
 * Returns: (transfer none) (array zero-terminated=1):
 */
const char *const *rv_meta_get_names(void) {
  static const char *names[NUMBER_OF_TYPES + 1];
  static gsize done = 0;
  if (g_once_init_enter(&done)) {
    for (int i = 0; i < NUMBER_OF_TYPES; i++)
      names[i] = rv_meta_types[i].name;
    g_once_init_leave(&done, 1);
  }
  return names;
}

/* --- Functions of each annotation --------------------------------------------------------------- */

#define DEFINE_TYPE(Type, type, NAME, reshape, check)                                              \
  RvMeta##Type *rv_meta_##type##_new(void) {                                                       \
    return g_new0(RvMeta##Type, 1);                                                                \
  }                                                                                                \
  RvMeta##Type *rv_meta_##type##_copy(const RvMeta##Type *meta) {                                  \
    return rv_meta_type_copy(&rv_meta_types[NUMBER_##NAME], meta);                                 \
  }                                                                                                \
  void rv_meta_##type##_free(RvMeta##Type *meta) {                                                 \
    rv_meta_type_clear(&rv_meta_types[NUMBER_##NAME], meta);                                       \
    g_free(meta);                                                                                  \
  }                                                                                                \
  G_DEFINE_BOXED_TYPE(RvMeta##Type, rv_meta_##type, rv_meta_##type##_copy, rv_meta_##type##_free)  \
  gboolean rv_meta_##type##_read(RvMeta##Type *meta, GstBuffer *buffer, GError **error) {          \
    return rv_meta_type_read(&rv_meta_types[NUMBER_##NAME], buffer, meta, error);                  \
  }                                                                                                \
  gboolean rv_meta_##type##_attach(const RvMeta##Type *meta, GstBuffer *buffer, GError **error) {  \
    return rv_meta_type_attach(&rv_meta_types[NUMBER_##NAME], buffer, meta, error);                \
  }                                                                                                \
  gboolean rv_meta_##type##_attach_in_probe(const RvMeta##Type *meta, GstPadProbeInfo *info,       \
                                            GError **error) {                                      \
    return rv_meta_type_attach_in_probe(&rv_meta_types[NUMBER_##NAME], info, meta, error);         \
  }                                                                                                \
  RvMetaArray *rv_meta_##type##_get_array(const RvMeta##Type *meta, const char *field,             \
                                          GError **error) {                                        \
    return rv_meta_type_get_array(&rv_meta_types[NUMBER_##NAME], meta, field, error);              \
  }                                                                                                \
  gboolean rv_meta_##type##_set_array(RvMeta##Type *meta, const char *field,                       \
                                      const RvMetaArray *array, GError **error) {                  \
    return rv_meta_type_set_array(&rv_meta_types[NUMBER_##NAME], meta, field, array, error);       \
  }

#define DEFINE_C(Type, type, NAME, reshape, check)                                                 \
  gboolean rv_meta_get_##type(GstBuffer *buffer, RvMeta##Type *meta) {                             \
    return rv_meta_type_get(&rv_meta_types[NUMBER_##NAME], buffer, meta, NULL);                    \
  }                                                                                                \
  GstStructure *rv_meta_add_##type(GstBuffer *buffer, const RvMeta##Type *meta) {                  \
    return rv_meta_type_add(&rv_meta_types[NUMBER_##NAME], buffer, meta);                          \
  }

ALL(DEFINE_TYPE)
ALL_BUT_CAMERA(DEFINE_C)

/* --- Functions of one annotation ---------------------------------------------------------------- */

double rv_meta_camera_depth(const RvMetaCamera *meta, double disparity) {
  const double shifted = disparity + meta->doffs;
  return meta->focal > 0 && meta->baseline > 0 && shifted > 0
             ? meta->focal * meta->baseline / shifted
             : 0.0;
}

gboolean rv_meta_get_camera(GstBuffer *buffer, RvCamera *camera, int *width, int *height) {
  RvMetaCamera meta;
  const gboolean found = rv_meta_type_get(&rv_meta_types[NUMBER_CAMERA], buffer, &meta, NULL);
  *camera = (RvCamera){meta.focal,         meta.cx,   meta.cy, meta.doffs, meta.baseline,
                       meta.camera_height, meta.pitch};
  *width = meta.width;
  *height = meta.height;
  return found;
}

GstStructure *rv_meta_add_camera(GstBuffer *buffer, int width, int height, const RvCamera *camera) {
  const RvMetaCamera meta = {.width = width,
                             .height = height,
                             .focal = camera->focal,
                             .cx = camera->cx,
                             .cy = camera->cy,
                             .doffs = camera->doffs,
                             .baseline = camera->baseline,
                             .camera_height = camera->height,
                             .pitch = camera->pitch};
  return rv_meta_type_add(&rv_meta_types[NUMBER_CAMERA], buffer, &meta);
}

GstStructure *rv_meta_add_scores(GstBuffer *buffer, int width, int height, int classes,
                                 int map_width, int map_height, GstBuffer *scores) {
  const RvMetaSemantics meta = {width, height, classes, map_width, map_height, RV_SEMANTICS_SCORES,
                                scores};
  return rv_meta_add_semantics(buffer, &meta);
}

GstStructure *rv_meta_add_labels(GstBuffer *buffer, int width, int height, int classes,
                                 GstBuffer *labels) {
  const GstVideoMeta *video = gst_buffer_get_video_meta(labels);
  const RvMetaSemantics meta = {width,
                                height,
                                classes,
                                video ? (int)video->width : 0,
                                video ? (int)video->height : 0,
                                RV_SEMANTICS_LABELS,
                                labels};
  return rv_meta_add_semantics(buffer, &meta);
}

static RvMetaSemantics *new_semantics(const RvMetaSemantics *values, const RvMetaArray *array,
                                      GError **error) {
  RvMetaSemantics *meta = g_memdup2(values, sizeof *values);
  if (rv_meta_semantics_set_array(meta, "payload", array, error))
    return meta;
  rv_meta_semantics_free(meta);
  return NULL;
}

RvMetaSemantics *rv_meta_semantics_new_labels(int width, int height, int classes,
                                              const RvMetaArray *labels, GError **error) {
  const RvMetaSemantics meta = {
      width, height, classes, labels->width, labels->height, RV_SEMANTICS_LABELS, NULL};
  return new_semantics(&meta, labels, error);
}

RvMetaSemantics *rv_meta_semantics_new_scores(int width, int height, int classes,
                                              const RvMetaArray *scores, GError **error) {
  const RvMetaSemantics meta = {
      width, height, classes, scores->width, scores->height / MAX(classes, 1), RV_SEMANTICS_SCORES,
      NULL};
  return new_semantics(&meta, scores, error);
}
