/* SPDX-License-Identifier: MIT */
/* roadvision-gst.h: annotations, the results that ride on a picture's GstBuffer. Attach and read
 * them from C; nothing to link but GStreamer.
 *
 * An annotation is an untagged GstCustomMeta: a GstStructure with scalars and named GstBuffers
 * (fields of type GstBuffer). It survives copies, conversion, scaling, cudaupload, cudadownload and
 * encoders. Every annotation carries `version`, and `width` and `height` in px of the picture that
 * it refers to: multiply coordinates by (present size / that size) after scaling.
 *
 * Rasters carry a GstVideoMeta: rows are `stride` bytes apart, which is not width x bytes. Buffers
 * may live on the GPU; mapping them for reading downloads them. docs/annotations.md has every name.
 *
 *   RvMetaMap map;
 *   if (rv_meta_map(&map, rv_meta_find(buffer, RV_META_DISPARITY), "payload")) {
 *     const uint16_t *row = (const uint16_t *)((const char *)map.plane.data + y *
 * map.plane.stride); const double disparity = row[x] / 16.0; // px, 0 = none rv_meta_unmap(&map);
 *   }
 */
#ifndef ROADVISION_GST_H
#define ROADVISION_GST_H

#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

#include "rv.h"
#include "rv_records.h"

G_BEGIN_DECLS

#define RV_META_CAMERA "RvCameraMeta"
#define RV_META_DISPARITY "RvDisparityMeta"
#define RV_META_STIXELS "RvStixelsMeta"
#define RV_META_SEGMENTS "RvSegmentsMeta"
#define RV_META_ROAD "RvRoadMeta"
#define RV_META_LINES "RvLinesMeta"
#define RV_META_SEMANTICS "RvSemanticsMeta"
#define RV_META_TRUTH "RvTruthMeta"

/* Scalar `version` of every annotation that these functions write. */
#define RV_META_VERSION RV_RECORDS_VERSION

/* --- Any annotation -------------------------------------------------------------------------- */

/* Registers all names; may be called any number of times, from any thread. The functions below call
 * it where they need it. */
static inline void rv_meta_register_all(void) {
  static const char *const names[] = {RV_META_CAMERA,    RV_META_DISPARITY, RV_META_STIXELS,
                                      RV_META_SEGMENTS,  RV_META_ROAD,      RV_META_LINES,
                                      RV_META_SEMANTICS, RV_META_TRUTH};
  static gsize done = 0;
  if (!g_once_init_enter(&done))
    return;
  static const char *no_tags[] = {NULL};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (!gst_meta_get_info(names[i]))
      gst_meta_register_custom(names[i], no_tags, NULL, NULL, NULL);
  g_once_init_leave(&done, 1);
}

/* Scalars and buffers of the annotation `name`, or NULL. Owned by the buffer. */
static inline const GstStructure *rv_meta_find(GstBuffer *buffer, const char *name) {
  if (!gst_meta_get_info(name))
    return NULL;
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, name);
  return meta ? gst_custom_meta_get_structure(meta) : NULL;
}

/* Takes the annotation off a writable buffer; FALSE when there was none. */
static inline gboolean rv_meta_remove(GstBuffer *buffer, const char *name) {
  if (!gst_meta_get_info(name))
    return FALSE;
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, name);
  return meta && gst_buffer_remove_meta(buffer, &meta->meta);
}

/* Attaches an annotation to a writable buffer, in place of an older one of the same name, and
 * returns its structure for the other fields. width, height: px of the picture it refers to. */
static inline GstStructure *rv_meta_add(GstBuffer *buffer, const char *name, int width,
                                        int height) {
  rv_meta_register_all();
  rv_meta_remove(buffer, name);
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, name);
  if (!meta)
    return NULL;
  GstStructure *fields = gst_custom_meta_get_structure(meta);
  gst_structure_set(fields, "version", G_TYPE_INT, RV_META_VERSION, "width", G_TYPE_INT, width,
                    "height", G_TYPE_INT, height, NULL);
  return fields;
}

/* Picture size the annotation refers to; FALSE when it has none, none that a picture can have
 * (1..RV_MAX_SIDE), or was written by a later, unknown version. */
static inline gboolean rv_meta_size(const GstStructure *fields, int *width, int *height) {
  int version = 0;
  return fields && gst_structure_get_int(fields, "version", &version) && version >= 1 &&
         version <= RV_META_VERSION && gst_structure_get_int(fields, "width", width) &&
         gst_structure_get_int(fields, "height", height) && *width > 0 && *height > 0 &&
         *width <= RV_MAX_SIDE && *height <= RV_MAX_SIDE;
}

/* --- Buffers of an annotation ---------------------------------------------------------------- */

/* Stores `payload` (taken over; NULL does nothing) under `field`. */
static inline void rv_meta_set_buffer(GstStructure *fields, const char *field, GstBuffer *payload) {
  if (!payload)
    return;
  gst_structure_set(fields, field, GST_TYPE_BUFFER, payload, NULL);
  gst_buffer_unref(payload);
}

/* The buffer stored under `field`, or NULL; owned by the annotation. */
static inline GstBuffer *rv_meta_get_buffer(const GstStructure *fields, const char *field) {
  const GValue *value = fields ? gst_structure_get_value(fields, field) : NULL;
  return value && G_VALUE_HOLDS(value, GST_TYPE_BUFFER) ? gst_value_get_buffer(value) : NULL;
}

/* Format of the GstVideoMeta of a raster. GStreamer has no name for 4-byte numbers: RGBA stands for
 * their size there. */
static inline GstVideoFormat rv_meta_video_format(RvFormat format) {
  return format == RV_U8    ? GST_VIDEO_FORMAT_GRAY8
         : format == RV_U16 ? GST_VIDEO_FORMAT_GRAY16_LE
                            : GST_VIDEO_FORMAT_RGBA;
}

/* Says that `buffer` holds a raster whose rows are `stride` bytes apart. */
static inline void rv_meta_describe_raster(GstBuffer *buffer, RvFormat format, int width,
                                           int height, int stride) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {0};
  strides[0] = stride;
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, rv_meta_video_format(format),
                                 (guint)width, (guint)height, 1, offset, strides);
}

/* A raster in host memory, not cleared; NULL when memory is exhausted. */
static inline GstBuffer *rv_meta_raster_new(RvFormat format, int width, int height) {
  const gsize bytes_per_pixel = format == RV_U8 ? 1 : format == RV_U16 ? 2 : 4;
  const gsize stride = ((gsize)width * bytes_per_pixel + 63) / 64 * 64;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 63;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, stride * (gsize)height, &params);
  if (buffer)
    rv_meta_describe_raster(buffer, format, width, height, (int)stride);
  return buffer;
}

/* A mapped raster or array. */
typedef struct RvMetaMap {
  RvPlane plane; /* a raster; an array of records has height 1 and width in bytes */
  gsize size;    /* bytes */
  GstBuffer *buffer;
  GstMapInfo info;
} RvMetaMap;

/* Maps a buffer of an annotation; GST_MAP_READ downloads a payload of the GPU. FALSE when it cannot
 * be mapped, holds fewer bytes than its GstVideoMeta says, or has pixels that are not aligned. */
static inline gboolean rv_meta_map_buffer(RvMetaMap *map, GstBuffer *buffer, GstMapFlags flags) {
  if (!buffer || !gst_buffer_map(buffer, &map->info, flags))
    return FALSE;
  const GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  map->buffer = buffer;
  map->size = map->info.size;
  map->plane.data = map->info.data;
  if (!video) {
    map->plane.format = RV_U8;
    map->plane.width = (int)MIN(map->info.size, (gsize)G_MAXINT);
    map->plane.height = 1;
    map->plane.stride = map->plane.width;
    return TRUE;
  }
  map->plane.format = video->format == GST_VIDEO_FORMAT_GRAY8       ? RV_U8
                      : video->format == GST_VIDEO_FORMAT_GRAY16_LE ? RV_U16
                                                                    : RV_F32;
  map->plane.width = (int)video->width;
  map->plane.height = (int)video->height;
  map->plane.stride = video->stride[0];
  const gsize pixel = map->plane.format == RV_U8 ? 1 : map->plane.format == RV_U16 ? 2 : 4;
  const gsize row = (gsize)video->width * pixel;
  if (video->stride[0] < 0 || (gsize)video->stride[0] < row || row == 0 || video->height == 0 ||
      video->offset[0] > map->size ||
      map->size - video->offset[0] < (gsize)video->stride[0] * (video->height - 1) + row ||
      (gsize)video->stride[0] % pixel != 0 ||
      ((gsize)map->info.data + video->offset[0]) % pixel != 0) {
    gst_buffer_unmap(buffer, &map->info);
    return FALSE;
  }
  map->plane.data = map->info.data + video->offset[0];
  return TRUE;
}

static inline gboolean rv_meta_map(RvMetaMap *map, const GstStructure *fields, const char *field) {
  return rv_meta_map_buffer(map, rv_meta_get_buffer(fields, field), GST_MAP_READ);
}

static inline void rv_meta_unmap(RvMetaMap *map) {
  gst_buffer_unmap(map->buffer, &map->info);
}

/* --- RvCameraMeta ---------------------------------------------------------------------------- */

/* Fields focal, cx, cy, doffs (px), baseline, camera-height (m), pitch (degrees, down positive);
 * those that are unknown are left out. width, height: px of the left picture. */
static inline GstStructure *rv_meta_add_camera(GstBuffer *buffer, int width, int height,
                                               const RvCamera *camera) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_CAMERA, width, height);
  if (fields && camera->focal > 0)
    gst_structure_set(fields, "focal", G_TYPE_DOUBLE, camera->focal, "cx", G_TYPE_DOUBLE,
                      camera->cx, "cy", G_TYPE_DOUBLE, camera->cy, "doffs", G_TYPE_DOUBLE,
                      camera->doffs, NULL);
  if (fields && camera->baseline > 0)
    gst_structure_set(fields, "baseline", G_TYPE_DOUBLE, camera->baseline, NULL);
  if (fields && camera->height > 0)
    gst_structure_set(fields, "camera-height", G_TYPE_DOUBLE, camera->height, "pitch",
                      G_TYPE_DOUBLE, camera->pitch, NULL);
  return fields;
}

/* The field as a finite number; 0 when it is not there or is none. */
static inline double rv_meta_get_number(const GstStructure *fields, const char *field) {
  double value = 0.0;
  if (!gst_structure_get_double(fields, field, &value))
    return 0.0;
  return value >= -G_MAXDOUBLE && value <= G_MAXDOUBLE ? value : 0.0;
}

/* FALSE without annotation; values it does not have become 0. */
static inline gboolean rv_meta_get_camera(GstBuffer *buffer, RvCamera *camera, int *width,
                                          int *height) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_CAMERA);
  const RvCamera unknown = {0, 0, 0, 0, 0, 0, 0};
  *camera = unknown;
  if (!rv_meta_size(fields, width, height))
    return FALSE;
  camera->focal = rv_meta_get_number(fields, "focal");
  camera->cx = rv_meta_get_number(fields, "cx");
  camera->cy = rv_meta_get_number(fields, "cy");
  camera->doffs = rv_meta_get_number(fields, "doffs");
  camera->baseline = rv_meta_get_number(fields, "baseline");
  camera->height = rv_meta_get_number(fields, "camera-height");
  camera->pitch = rv_meta_get_number(fields, "pitch");
  return TRUE;
}

/* --- RvDisparityMeta ------------------------------------------------------------------------- */

typedef struct RvMetaDisparity {
  int width, height;     /* px */
  int scale;             /* values of the payload per px of disparity: 16 */
  int min_disparity;     /* px, start of the searched range */
  int disparities;       /* px, its length */
  GstBuffer *payload;    /* raster u16, 0 = no value; owned by the annotation */
  GstBuffer *confidence; /* raster u8, or NULL; owned by the annotation */
} RvMetaDisparity;

/* Takes over payload and confidence (NULL when there is none). */
static inline GstStructure *rv_meta_add_disparity(GstBuffer *buffer, const RvMetaDisparity *meta) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_DISPARITY, meta->width, meta->height);
  if (!fields)
    return NULL;
  gst_structure_set(fields, "scale", G_TYPE_INT, meta->scale, "min-disparity", G_TYPE_INT,
                    meta->min_disparity, "disparities", G_TYPE_INT, meta->disparities, "view",
                    G_TYPE_STRING, "left", NULL);
  rv_meta_set_buffer(fields, "payload", meta->payload);
  rv_meta_set_buffer(fields, "confidence", meta->confidence);
  return fields;
}

static inline gboolean rv_meta_get_disparity(GstBuffer *buffer, RvMetaDisparity *meta) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_DISPARITY);
  if (!rv_meta_size(fields, &meta->width, &meta->height) ||
      !gst_structure_get_int(fields, "scale", &meta->scale) || meta->scale <= 0 ||
      !gst_structure_get_int(fields, "min-disparity", &meta->min_disparity) ||
      !gst_structure_get_int(fields, "disparities", &meta->disparities))
    return FALSE;
  meta->payload = rv_meta_get_buffer(fields, "payload");
  meta->confidence = rv_meta_get_buffer(fields, "confidence");
  return meta->payload != NULL;
}

/* --- RvSemanticsMeta: what a network says about the picture, input to cudastixels ------------- */

/* Label map: one byte per cell, the class. `labels` (taken over) is a RV_U8 raster that covers the
 * picture of width x height px. */
static inline GstStructure *rv_meta_add_labels(GstBuffer *buffer, int width, int height,
                                               int classes, GstBuffer *labels) {
  const GstVideoMeta *video = gst_buffer_get_video_meta(labels);
  GstStructure *fields = video ? rv_meta_add(buffer, RV_META_SEMANTICS, width, height) : NULL;
  if (!fields)
    return NULL;
  gst_structure_set(fields, "classes", G_TYPE_INT, classes, "map-width", G_TYPE_INT,
                    (int)video->width, "map-height", G_TYPE_INT, (int)video->height, "type",
                    G_TYPE_STRING, "labels", NULL);
  rv_meta_set_buffer(fields, "payload", labels);
  return fields;
}

/* Scores: one f16 plane per class, the planes below each other without gaps. `scores` (taken over)
 * is a RV_U16 raster (the bits of f16) of map_width x (classes x map_height). */
static inline GstStructure *rv_meta_add_scores(GstBuffer *buffer, int width, int height,
                                               int classes, int map_width, int map_height,
                                               GstBuffer *scores) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_SEMANTICS, width, height);
  if (!fields)
    return NULL;
  gst_structure_set(fields, "classes", G_TYPE_INT, classes, "map-width", G_TYPE_INT, map_width,
                    "map-height", G_TYPE_INT, map_height, "type", G_TYPE_STRING, "scores", NULL);
  rv_meta_set_buffer(fields, "payload", scores);
  return fields;
}

/* --- RvStixelsMeta: the street as stixels -------------------------------------------------------
 */

typedef struct RvMetaStixels {
  int width, height;       /* px of the disparity they were made from */
  int count;               /* stixels */
  int stixel_width;        /* px */
  int vertical_step;       /* px */
  const char *model;       /* slanted-fast, slanted or constant; lives as long as the buffer */
  double ground_slope;     /* expected ground: disparity = ground_slope * y + */
  double ground_intercept; /* ground_intercept, px, in row y from the top */
  int ground_frames;       /* frames a road was found in; 0: plane of the camera or assumed */
  GstBuffer *payload;      /* array of RvStixel; owned by the annotation */
} RvMetaStixels;

/* Takes over the payload. */
static inline GstStructure *rv_meta_add_stixels(GstBuffer *buffer, const RvMetaStixels *meta) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_STIXELS, meta->width, meta->height);
  if (!fields)
    return NULL;
  gst_structure_set(fields, "count", G_TYPE_INT, meta->count, "stixel-width", G_TYPE_INT,
                    meta->stixel_width, "vertical-step", G_TYPE_INT, meta->vertical_step, "model",
                    G_TYPE_STRING, meta->model, "ground-slope", G_TYPE_DOUBLE, meta->ground_slope,
                    "ground-intercept", G_TYPE_DOUBLE, meta->ground_intercept, "ground-frames",
                    G_TYPE_INT, meta->ground_frames, NULL);
  rv_meta_set_buffer(fields, "payload", meta->payload);
  return fields;
}

/* FALSE without annotation, or when the payload holds fewer than `count` records. */
static inline gboolean rv_meta_get_stixels(GstBuffer *buffer, RvMetaStixels *meta) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_STIXELS);
  if (!rv_meta_size(fields, &meta->width, &meta->height) ||
      !gst_structure_get_int(fields, "count", &meta->count) || meta->count < 0 ||
      !gst_structure_get_int(fields, "stixel-width", &meta->stixel_width) ||
      meta->stixel_width < 1 ||
      !gst_structure_get_int(fields, "vertical-step", &meta->vertical_step) ||
      meta->vertical_step < 1 ||
      !gst_structure_get_double(fields, "ground-slope", &meta->ground_slope) ||
      !gst_structure_get_double(fields, "ground-intercept", &meta->ground_intercept) ||
      !gst_structure_get_int(fields, "ground-frames", &meta->ground_frames))
    return FALSE;
  meta->model = gst_structure_get_string(fields, "model");
  meta->payload = rv_meta_get_buffer(fields, "payload");
  return meta->model && meta->payload &&
         gst_buffer_get_size(meta->payload) / sizeof(RvStixel) >= (gsize)meta->count;
}

/* --- RvSegmentsMeta: depth columns as line segments ------------------------------------------- */

typedef struct RvMetaSegments {
  int width, height;  /* px of the disparity they were made from */
  int count;          /* segments */
  double epsilon;     /* px, largest distance that was allowed */
  int levels_max;     /* depth of the deepest recursion of a column */
  GstBuffer *payload; /* array of RvSegment; owned by the annotation */
} RvMetaSegments;

/* Takes over the payload. */
static inline GstStructure *rv_meta_add_segments(GstBuffer *buffer, const RvMetaSegments *meta) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_SEGMENTS, meta->width, meta->height);
  if (!fields)
    return NULL;
  gst_structure_set(fields, "count", G_TYPE_INT, meta->count, "epsilon", G_TYPE_DOUBLE,
                    meta->epsilon, "levels-max", G_TYPE_INT, meta->levels_max, NULL);
  rv_meta_set_buffer(fields, "payload", meta->payload);
  return fields;
}

/* FALSE without annotation, or when the payload holds fewer than `count` records or is a raster. */
static inline gboolean rv_meta_get_segments(GstBuffer *buffer, RvMetaSegments *meta) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_SEGMENTS);
  if (!rv_meta_size(fields, &meta->width, &meta->height) ||
      !gst_structure_get_int(fields, "count", &meta->count) || meta->count < 0 ||
      !gst_structure_get_double(fields, "epsilon", &meta->epsilon) ||
      !gst_structure_get_int(fields, "levels-max", &meta->levels_max))
    return FALSE;
  meta->payload = rv_meta_get_buffer(fields, "payload");
  return meta->payload && !gst_buffer_get_video_meta(meta->payload) &&
         gst_buffer_get_size(meta->payload) / sizeof(RvSegment) >= (gsize)meta->count;
}

/* --- RvRoadMeta: road as a mask of patches --------------------------------------------------- */

/* Patch (column, row) covers the pixels from (column, row) * patch_size on; pixels right of and
 * below the last patch belong to none. */
typedef struct RvMetaRoad {
  int width, height;         /* px of the picture */
  int patch_size;            /* px */
  int columns, rows;         /* patches, of all rasters */
  int models;                /* in the library after this frame */
  int samples, seeds;        /* patches that are near and smooth; those that hang together */
  int updated, learnt;       /* samples that updated a model; new models */
  int waiting;               /* samples kept for the next frame */
  int iterations;            /* of expectation maximisation; 0: it did not run */
  double road_share;         /* patches of the mask / all patches */
  double classify_threshold; /* in the unit of `distance` */
  double ground_slope_x;     /* fitted ground: disparity = ground_slope_x x + ground_slope_y y + */
  double ground_slope_y;     /* ground_intercept, px */
  double ground_intercept;
  double camera_height; /* of the camera above it, m; 0: no ground was found, the three are 0 */
  GstBuffer *payload;   /* raster u8, 255 = road; this and the others owned by the annotation */
  GstBuffer *distance;  /* raster f32, to the nearest model, 3.4e38 while there is none; or NULL */
  GstBuffer *seed_mask; /* raster u8, 255 = seed; or NULL */
} RvMetaRoad;

/* Takes over the buffers. */
static inline GstStructure *rv_meta_add_road(GstBuffer *buffer, const RvMetaRoad *meta) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_ROAD, meta->width, meta->height);
  if (!fields)
    return NULL;
  gst_structure_set(fields, "patch-size", G_TYPE_INT, meta->patch_size, "columns", G_TYPE_INT,
                    meta->columns, "rows", G_TYPE_INT, meta->rows, "models", G_TYPE_INT,
                    meta->models, "samples", G_TYPE_INT, meta->samples, "seeds", G_TYPE_INT,
                    meta->seeds, "updated", G_TYPE_INT, meta->updated, "learnt", G_TYPE_INT,
                    meta->learnt, "waiting", G_TYPE_INT, meta->waiting, "iterations", G_TYPE_INT,
                    meta->iterations, "road-share", G_TYPE_DOUBLE, meta->road_share,
                    "classify-threshold", G_TYPE_DOUBLE, meta->classify_threshold, NULL);
  if (meta->camera_height > 0)
    gst_structure_set(fields, "ground-slope-x", G_TYPE_DOUBLE, meta->ground_slope_x,
                      "ground-slope-y", G_TYPE_DOUBLE, meta->ground_slope_y, "ground-intercept",
                      G_TYPE_DOUBLE, meta->ground_intercept, "camera-height", G_TYPE_DOUBLE,
                      meta->camera_height, NULL);
  rv_meta_set_buffer(fields, "payload", meta->payload);
  rv_meta_set_buffer(fields, "distance", meta->distance);
  rv_meta_set_buffer(fields, "seed-mask", meta->seed_mask);
  return fields;
}

/* FALSE without annotation, or when mask, patches and picture do not agree; numbers it does not
 * have become 0, a seed mask or distances of another size NULL. */
static inline gboolean rv_meta_get_road(GstBuffer *buffer, RvMetaRoad *meta) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_ROAD);
  memset(meta, 0, sizeof *meta);
  if (!rv_meta_size(fields, &meta->width, &meta->height) ||
      !gst_structure_get_int(fields, "patch-size", &meta->patch_size) || meta->patch_size < 1 ||
      !gst_structure_get_int(fields, "columns", &meta->columns) || meta->columns < 1 ||
      meta->columns > meta->width / meta->patch_size ||
      !gst_structure_get_int(fields, "rows", &meta->rows) || meta->rows < 1 ||
      meta->rows > meta->height / meta->patch_size)
    return FALSE;
  gst_structure_get_int(fields, "models", &meta->models);
  gst_structure_get_int(fields, "samples", &meta->samples);
  gst_structure_get_int(fields, "seeds", &meta->seeds);
  gst_structure_get_int(fields, "updated", &meta->updated);
  gst_structure_get_int(fields, "learnt", &meta->learnt);
  gst_structure_get_int(fields, "waiting", &meta->waiting);
  gst_structure_get_int(fields, "iterations", &meta->iterations);
  meta->road_share = rv_meta_get_number(fields, "road-share");
  meta->classify_threshold = rv_meta_get_number(fields, "classify-threshold");
  meta->ground_slope_x = rv_meta_get_number(fields, "ground-slope-x");
  meta->ground_slope_y = rv_meta_get_number(fields, "ground-slope-y");
  meta->ground_intercept = rv_meta_get_number(fields, "ground-intercept");
  meta->camera_height = rv_meta_get_number(fields, "camera-height");
  const struct {
    const char *field;
    GstVideoFormat format;
    GstBuffer **to;
  } rasters[] = {{"payload", rv_meta_video_format(RV_U8), &meta->payload},
                 {"distance", rv_meta_video_format(RV_F32), &meta->distance},
                 {"seed-mask", rv_meta_video_format(RV_U8), &meta->seed_mask}};
  for (guint i = 0; i < G_N_ELEMENTS(rasters); i++) {
    GstBuffer *raster = rv_meta_get_buffer(fields, rasters[i].field);
    const GstVideoMeta *video = raster ? gst_buffer_get_video_meta(raster) : NULL;
    if (video && video->format == rasters[i].format && video->width == (guint)meta->columns &&
        video->height == (guint)meta->rows)
      *rasters[i].to = raster;
  }
  return meta->payload != NULL;
}

/* --- RvLinesMeta: straight lines, most votes first ----------------------------------------------
 */

typedef struct RvMetaLines {
  int width, height;      /* px of the picture they were found in */
  int count;              /* lines */
  double theta_step;      /* radians */
  double rho_step;        /* px */
  int segments;           /* 1: lines have end points */
  int rho_zero;           /* of the accumulator: column of rho = 0 */
  int first_angle;        /* of the accumulator: row r is theta = (first_angle + r) theta_step */
  GstBuffer *payload;     /* array of RvLine; owned by the annotation */
  GstBuffer *accumulator; /* raster u32, votes of every bin; NULL when not asked for */
} RvMetaLines;

/* Takes over payload and accumulator. */
static inline GstStructure *rv_meta_add_lines(GstBuffer *buffer, const RvMetaLines *meta) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_LINES, meta->width, meta->height);
  if (!fields)
    return NULL;
  gst_structure_set(fields, "count", G_TYPE_INT, meta->count, "theta-step", G_TYPE_DOUBLE,
                    meta->theta_step, "rho-step", G_TYPE_DOUBLE, meta->rho_step, "segments",
                    G_TYPE_BOOLEAN, meta->segments != 0, NULL);
  rv_meta_set_buffer(fields, "payload", meta->payload);
  if (meta->accumulator)
    gst_structure_set(fields, "rho-zero", G_TYPE_INT, meta->rho_zero, "first-angle", G_TYPE_INT,
                      meta->first_angle, NULL);
  rv_meta_set_buffer(fields, "accumulator", meta->accumulator);
  return fields;
}

/* FALSE without annotation, or when the payload holds fewer than `count` records. */
static inline gboolean rv_meta_get_lines(GstBuffer *buffer, RvMetaLines *meta) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_LINES);
  gboolean segments = FALSE;
  if (!rv_meta_size(fields, &meta->width, &meta->height) ||
      !gst_structure_get_int(fields, "count", &meta->count) || meta->count < 0 ||
      !gst_structure_get_double(fields, "theta-step", &meta->theta_step) ||
      !gst_structure_get_double(fields, "rho-step", &meta->rho_step))
    return FALSE;
  gst_structure_get_boolean(fields, "segments", &segments);
  meta->segments = segments;
  meta->rho_zero = meta->first_angle = 0;
  gst_structure_get_int(fields, "rho-zero", &meta->rho_zero);
  gst_structure_get_int(fields, "first-angle", &meta->first_angle);
  meta->payload = rv_meta_get_buffer(fields, "payload");
  meta->accumulator = rv_meta_get_buffer(fields, "accumulator");
  return meta->payload && gst_buffer_get_size(meta->payload) / sizeof(RvLine) >= (gsize)meta->count;
}

/* --- RvTruthMeta: what is known about a rendered picture ---------------------------------------
 */

typedef struct RvMetaTruth {
  int width, height;    /* px of the left picture */
  GstBuffer *disparity; /* raster u16, 1/16 px, 0 = none */
  GstBuffer *labels;    /* raster u8, RvSceneLabel */
  GstBuffer *road;      /* raster u8, 255 = drivable */
  GstBuffer *visible;   /* raster u8, 255 = seen by the right camera too */
} RvMetaTruth;

/* Takes over the buffers; any may be NULL. */
static inline GstStructure *rv_meta_add_truth(GstBuffer *buffer, const RvMetaTruth *meta) {
  GstStructure *fields = rv_meta_add(buffer, RV_META_TRUTH, meta->width, meta->height);
  if (!fields)
    return NULL;
  rv_meta_set_buffer(fields, "disparity", meta->disparity);
  rv_meta_set_buffer(fields, "labels", meta->labels);
  rv_meta_set_buffer(fields, "road", meta->road);
  rv_meta_set_buffer(fields, "visible", meta->visible);
  return fields;
}

/* FALSE without annotation; buffers it does not have become NULL. */
static inline gboolean rv_meta_get_truth(GstBuffer *buffer, RvMetaTruth *meta) {
  const GstStructure *fields = rv_meta_find(buffer, RV_META_TRUTH);
  if (!rv_meta_size(fields, &meta->width, &meta->height))
    return FALSE;
  meta->disparity = rv_meta_get_buffer(fields, "disparity");
  meta->labels = rv_meta_get_buffer(fields, "labels");
  meta->road = rv_meta_get_buffer(fields, "road");
  meta->visible = rv_meta_get_buffer(fields, "visible");
  return TRUE;
}

G_END_DECLS
#endif
