/* SPDX-License-Identifier: MIT */
/* roadvision-gst.h: annotations, the results that gst-roadvision attaches to a GstBuffer.
 * Library libroadvision-gst-0, pkg-config package roadvision-gst-0; from Python and other languages
 * the same functions as RoadVision-0 (GObject introspection).
 *
 * An annotation is an untagged GstCustomMeta: a GstStructure of scalars and of GstBuffers (rasters
 * and arrays of records, see rv_records.h). It survives copies, conversion, scaling, cudaupload,
 * cudadownload and encoders. Each one has a name and a struct RvMetaX here; docs/annotations.md has
 * the names of the fields in the GstStructure.
 *
 * Common rules
 *   Sizes      `width` and `height` are those of the image that the annotation refers to, px. After
 *              scaling, multiply coordinates by (size of the frame / that size).
 *   Units      px, m, s, radians in records, degrees in scalars where stated.
 *   Rasters    have a GstVideoMeta: rows are `stride` bytes apart, at least width x bytes per
 *              value. For structures that lost it (serialized as text) the stride and the format
 *              are scalars too, and the readers below use them.
 *   Memory     a buffer may be on the GPU; mapping it for reading downloads it once.
 *   Ownership  stated at each function. "Borrowed" is valid as long as the GstBuffer.
 *   Threads    all functions may be called from any thread; one struct by one thread at a time.
 *   Errors     every annotation is checked when it is read: missing fields, fields of another type,
 *              values out of range, rasters of another size or format and short buffers make it
 *              invalid; optional fields that are invalid are read as 0 or NULL.
 *
 * Read the disparity in C (nothing to free), for example in a pad probe:
 *
 *     RvMetaDisparity meta;
 *     RvMetaMap map;
 *     if (rv_meta_get_disparity(buffer, &meta) &&
 *         rv_meta_map_buffer(&map, meta.payload, GST_MAP_READ)) {
 *       const uint16_t *row = rv_meta_map_row(&map, meta.height / 2);
 *       const double disparity = row[meta.width / 2] / (double)meta.scale;
 *       g_print("%g px, 0 = invalid\n", disparity);
 *       rv_meta_unmap(&map);
 *     }
 */
#ifndef ROADVISION_GST_H
#define ROADVISION_GST_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "rv.h"
#include "rv_records.h"

G_BEGIN_DECLS

#define RV_META_CAMERA "RvCameraMeta"
#define RV_META_DISPARITY "RvDisparityMeta"
#define RV_META_SEMANTICS "RvSemanticsMeta"
#define RV_META_STIXELS "RvStixelsMeta"
#define RV_META_SEGMENTS "RvSegmentsMeta"
#define RV_META_ROAD "RvRoadMeta"
#define RV_META_LINES "RvLinesMeta"
#define RV_META_GROUND "RvGroundMeta"
#define RV_META_OBSTACLES "RvObstaclesMeta"
#define RV_META_FREE_SPACE "RvFreeSpaceMeta"
#define RV_META_LANES "RvLanesMeta"
#define RV_META_DETECTIONS "RvDetectionsMeta"
#define RV_META_PAIR "RvPairMeta"
#define RV_META_TRUTH "RvTruthMeta"

/* Scalar `version` of every annotation that these functions write. Readers ignore later ones. */
#define RV_META_VERSION RV_RECORDS_VERSION

/* --- Errors ----------------------------------------------------------------------------------- */

typedef enum RvMetaError {
  RV_META_ERROR_INVALID = 0, /* a field is missing, or its type, value or size is invalid */
  RV_META_ERROR_SHARED,      /* the buffer is not writable, since others have references to it */
  RV_META_ERROR_FIELD,       /* the annotation has no such field, or it is absent */
  RV_META_ERROR_MAP          /* a buffer could not be mapped */
} RvMetaError;

#define RV_META_ERROR (rv_meta_error_quark())
RV_API GQuark rv_meta_error_quark(void);

/* --- Any annotation --------------------------------------------------------------------------- */

/* Registers the names with GStreamer, unless they are registered. The other functions call it where
 * they need it. */
RV_API void rv_meta_register_all(void);

/* Returns the names of all annotations, ended by NULL; static. */
RV_API const char *const *rv_meta_get_names(void);

/* Returns the element format of a raster or of a record array: a number format (u8, u16, i16, u32,
 * f16, f32), or for records "field:format" separated by blanks. NULL for other fields; static. */
RV_API const char *rv_meta_get_format(const char *name, const char *field);

/* Returns the name of scalar `index` (0, 1, …) of an annotation in the order of its table, without
 * version, width and height; NULL after the last one; static. */
RV_API const char *rv_meta_get_scalar(const char *name, guint index);

/* Returns TRUE if the buffer has the annotation and it is valid. FALSE without error: there is
 * none; with error: why it is invalid. */
RV_API gboolean rv_meta_check(GstBuffer *buffer, const char *name, GError **error);

/* Removes the annotation from a writable buffer; FALSE if there is none. */
RV_API gboolean rv_meta_remove(GstBuffer *buffer, const char *name);

/* --- Content of buffers, for languages without pointers --------------------------------------- */

/* A copy of a raster, without padding, or of an array of records (height 1). */
typedef struct RvMetaArray {
  const char *format; /* as rv_meta_get_format */
  int width;          /* px, or records */
  int height;         /* px */
  /*< private >*/
  GBytes *bytes;
} RvMetaArray;

RV_API GType rv_meta_array_get_type(void);

/* Returns a new array with a reference to `bytes`, which must be width x height x the bytes of
 * `format`; else NULL and error. Free it with rv_meta_array_free. */
RV_API RvMetaArray *rv_meta_array_new(const char *format, int width, int height, GBytes *bytes,
                                      GError **error);
RV_API RvMetaArray *rv_meta_array_copy(const RvMetaArray *array);
RV_API void rv_meta_array_free(RvMetaArray *array);

/* Returns a reference to the bytes, rows from the top. */
RV_API GBytes *rv_meta_array_get_bytes(const RvMetaArray *array);

/* A GstBuffer in a struct. Other languages, whose bindings would not count the references, see a
 * number that they cannot set; they have _get_array and _set_array instead. */
#ifdef __GI_SCANNER__
typedef gsize RvMetaBuffer;
#else
typedef GstBuffer *RvMetaBuffer;
#endif

/* --- Functions of every annotation ------------------------------------------------------------ */

/* For RvMetaDisparity (type disparity), and so on for the others:
 *
 *   RvMetaDisparity *rv_meta_disparity_new(void);
 *     Returns a zeroed struct; free it with rv_meta_disparity_free. _copy references the buffers.
 *   gboolean rv_meta_disparity_read(RvMetaDisparity *meta, GstBuffer *buffer, GError **error);
 *     Fills a struct of _new, with references to the buffers. FALSE without error: `buffer` has no
 *     such annotation; with error: it is invalid. Then `meta` is zeroed.
 *   gboolean rv_meta_disparity_attach(const RvMetaDisparity *meta, GstBuffer *buffer,
 *                                     GError **error);
 *     Checks the fields and attaches them to a writable buffer, in place of an annotation of the
 *     same name. `meta` is unchanged.
 *   gboolean rv_meta_disparity_attach_in_probe(const RvMetaDisparity *meta, GstPadProbeInfo *info,
 *                                              GError **error);
 *     The same to the buffer of a pad probe, which becomes writable first (a shared one is copied
 *     without its memory). Only this form works in languages that have a reference to the buffer
 *     themselves.
 *   RvMetaArray *rv_meta_disparity_get_array(const RvMetaDisparity *meta, const char *field,
 *                                            GError **error);
 *     Returns a copy of a buffer ("payload", …) in host memory. NULL with error if it is absent.
 *   gboolean rv_meta_disparity_set_array(RvMetaDisparity *meta, const char *field,
 *                                        const RvMetaArray *array, GError **error);
 *     Stores a copy in a struct of _new and sets the number of records that belongs to it.
 *
 * C only, for structs on the stack:
 *
 *   gboolean rv_meta_get_disparity(GstBuffer *buffer, RvMetaDisparity *meta);
 *     As _read, with borrowed buffers: nothing to free. FALSE if absent or invalid.
 *   GstStructure *rv_meta_add_disparity(GstBuffer *buffer, const RvMetaDisparity *meta);
 *     As _attach, without the checks; takes over the buffers (also when it fails). Returns the
 *     structure of the annotation, borrowed, for further fields; NULL if `buffer` is not writable.
 */
#define RV_META_DECLARE_TYPE(Type, type)                                                           \
  RV_API GType rv_meta_##type##_get_type(void);                                                    \
  RV_API RvMeta##Type *rv_meta_##type##_new(void);                                                 \
  RV_API RvMeta##Type *rv_meta_##type##_copy(const RvMeta##Type *meta);                            \
  RV_API void rv_meta_##type##_free(RvMeta##Type *meta);                                           \
  RV_API gboolean rv_meta_##type##_read(RvMeta##Type *meta, GstBuffer *buffer, GError **error);    \
  RV_API gboolean rv_meta_##type##_attach(const RvMeta##Type *meta, GstBuffer *buffer,             \
                                          GError **error);                                         \
  RV_API gboolean rv_meta_##type##_attach_in_probe(const RvMeta##Type *meta,                       \
                                                   GstPadProbeInfo *info, GError **error);         \
  RV_API RvMetaArray *rv_meta_##type##_get_array(const RvMeta##Type *meta, const char *field,      \
                                                 GError **error);                                  \
  RV_API gboolean rv_meta_##type##_set_array(RvMeta##Type *meta, const char *field,                \
                                             const RvMetaArray *array, GError **error);

#ifdef __GI_SCANNER__
#  define RV_META_DECLARE(Type, type) RV_META_DECLARE_TYPE(Type, type)
#else
#  define RV_META_DECLARE(Type, type)                                                              \
    RV_META_DECLARE_TYPE(Type, type)                                                               \
    RV_API gboolean rv_meta_get_##type(GstBuffer *buffer, RvMeta##Type *meta);                     \
    RV_API GstStructure *rv_meta_add_##type(GstBuffer *buffer, const RvMeta##Type *meta);
#endif

/* --- RvCameraMeta: the left camera of a rectified pair ---------------------------------------- */

/* Depth of a pixel with disparity d: Z = focal * baseline / (d + doffs), m. 0 = unknown; cx, cy and
 * doffs are valid only with `focal`, pitch only with `camera_height`. */
typedef struct RvMetaCamera {
  int width, height;    /* px of the left image */
  double focal;         /* px */
  double cx, cy;        /* principal point, px */
  double doffs;         /* difference of the principal points, px; 0 for a plain rig */
  double baseline;      /* m */
  double camera_height; /* above the ground, m */
  double pitch;         /* degrees, positive = looking down */
  int valid_x, valid_y; /* rectangle without border in both views, px; valid_width 0 = unknown */
  int valid_width, valid_height;
} RvMetaCamera;

RV_META_DECLARE_TYPE(Camera, camera)

/* Returns the depth of a disparity in px, m; 0 if it is not known. */
RV_API double rv_meta_camera_depth(const RvMetaCamera *meta, double disparity);

#ifndef __GI_SCANNER__
/* As rv_meta_get_disparity and rv_meta_add_disparity, with the struct of the library. */
RV_API gboolean rv_meta_get_camera(GstBuffer *buffer, RvCamera *camera, int *width, int *height);
RV_API GstStructure *rv_meta_add_camera(GstBuffer *buffer, int width, int height,
                                        const RvCamera *camera);
#endif

/* --- RvDisparityMeta: from cudasgm ------------------------------------------------------------ */

typedef struct RvMetaDisparity {
  int width, height; /* px of the left image and of both rasters */
  int scale;         /* values of the payload per px of disparity: 16 */
  int min_disparity; /* start of the search range, px */
  int disparities;   /* its length, px */
  /*< private >*/
  RvMetaBuffer payload;    /* raster u16, 0 = invalid */
  RvMetaBuffer confidence; /* raster u8, 255 x probability, or NULL: 255 everywhere */
} RvMetaDisparity;

RV_META_DECLARE(Disparity, disparity)

/* --- RvSemanticsMeta: classes of a network, input of cudastixels ------------------------------ */

typedef struct RvMetaSemantics {
  int width, height;         /* px of the image */
  int classes;               /* 0..65535 */
  int map_width, map_height; /* cells over the image */
  RvSemanticsKind type;
  /*< private >*/
  RvMetaBuffer payload; /* labels: raster u8, the class of each cell; scores: raster f16 of
                         * map_width x (classes * map_height), one plane per class from the top */
} RvMetaSemantics;

RV_META_DECLARE(Semantics, semantics)

/* Returns the annotation of a label map (array u8) or of scores (array f16 of map_width x
 * (classes * map_height)) that covers an image of width x height px. Free it with
 * rv_meta_semantics_free. NULL and error if the size or the format of the array is another one. */
RV_API RvMetaSemantics *rv_meta_semantics_new_labels(int width, int height, int classes,
                                                     const RvMetaArray *labels, GError **error);
RV_API RvMetaSemantics *rv_meta_semantics_new_scores(int width, int height, int classes,
                                                     const RvMetaArray *scores, GError **error);

#ifndef __GI_SCANNER__
/* The same from rasters (taken over): labels RV_U8; scores RV_U16, the bits of f16. */
RV_API GstStructure *rv_meta_add_labels(GstBuffer *buffer, int width, int height, int classes,
                                        GstBuffer *labels);
RV_API GstStructure *rv_meta_add_scores(GstBuffer *buffer, int width, int height, int classes,
                                        int map_width, int map_height, GstBuffer *scores);
#endif

/* --- RvStixelsMeta: from cudastixels ---------------------------------------------------------- */

typedef struct RvMetaStixels {
  int width, height; /* px of the disparity they were computed from */
  int count;
  int stixel_width;  /* px */
  int vertical_step; /* px */
  RvStixelsModelKind model;
  double ground_slope;     /* expected ground: disparity = ground_slope * y + ground_intercept, */
  double ground_intercept; /* px, in row y from the top */
  int ground_frames;       /* frames with an estimated ground; 0: plane of the camera or assumed */
  /*< private >*/
  RvMetaBuffer payload; /* RvStixel: columns from left to right, from the bottom up */
} RvMetaStixels;

RV_META_DECLARE(Stixels, stixels)

/* --- RvSegmentsMeta: from cudardp ------------------------------------------------------------- */

typedef struct RvMetaSegments {
  int width, height; /* px of the disparity they were computed from */
  int count;
  double epsilon; /* maximum allowed distance, px */
  int levels_max; /* largest recursion depth of a column */
  /*< private >*/
  RvMetaBuffer payload; /* RvSegment: columns from left to right, rows from the top */
} RvMetaSegments;

RV_META_DECLARE(Segments, segments)

/* --- RvRoadMeta: from cudaroaddetect ---------------------------------------------------------- */

/* Patch (column, row) covers the pixels from (column, row) * patch_size on; pixels to the right of
 * and below the last patch belong to none. */
typedef struct RvMetaRoad {
  int width, height;         /* px of the image */
  int patch_size;            /* px */
  int columns, rows;         /* patches, of all rasters */
  int models;                /* color models after this frame */
  int samples, seeds;        /* patches that are near and smooth; connected ones of them */
  int samples_matched;       /* samples that updated a model */
  int models_added;          /* new models */
  int samples_pending;       /* samples kept for the next frame */
  int iterations;            /* of expectation maximization; 0: it did not run */
  double road_share;         /* road patches / all patches, 0..1 */
  double classify_threshold; /* in the unit of `distance` */
  double ground_slope_x; /* ground plane: disparity = ground_slope_x * x + ground_slope_y * y + */
  double ground_slope_y; /* ground_intercept, px */
  double ground_intercept;
  double camera_height;     /* above that plane, m; 0: no plane was found, the three are 0 */
  double drivable_distance; /* m of road straight ahead; with a plane */
  int border_values;        /* in `border`, 4 per vertex; 0: no border */
  /*< private >*/
  RvMetaBuffer payload;   /* raster u8, 255 = road */
  RvMetaBuffer score;     /* raster u8, what decides: road from 128 on; or NULL */
  RvMetaBuffer distance;  /* raster f32, to the nearest model, 3.4e38 = no model; or NULL */
  RvMetaBuffer seed_mask; /* raster u8, 255 = seed; or NULL */
  RvMetaBuffer border;    /* f32: x, y (px), lateral, distance (m) of each vertex of the outline of
                           * the largest area, clockwise; meters 0 = unknown; or NULL */
} RvMetaRoad;

RV_META_DECLARE(Road, road)

/* --- RvLinesMeta: from cudahough -------------------------------------------------------------- */

typedef struct RvMetaLines {
  int width, height; /* px of the image */
  int count;
  double theta_step;      /* radians */
  double rho_step;        /* px */
  gboolean segments;      /* TRUE: lines have end points */
  int rho_zero;           /* of the accumulator: column of rho = 0 */
  int first_angle;        /* of the accumulator: row r is theta = (first_angle + r) * theta_step */
  int accumulator_width;  /* bins of rho; 0: no accumulator */
  int accumulator_height; /* angles */
  /*< private >*/
  RvMetaBuffer payload;     /* RvLine, most votes first */
  RvMetaBuffer accumulator; /* raster u32, votes of every bin; or NULL */
} RvMetaLines;

RV_META_DECLARE(Lines, lines)

/* --- RvGroundMeta: the surface of the road ---------------------------------------------------- */

/* Row of the ground in column u for disparity d, px:
 * (d - ground_intercept - ground_slope_x * u) / ground_slope_y - profile(d) / 16. */
typedef struct RvMetaGround {
  int width, height;     /* px of the image */
  double ground_slope_x; /* plane as in RvMetaRoad */
  double ground_slope_y;
  double ground_intercept;
  double camera_height; /* above the plane, m */
  int bins;             /* of the profile, from disparity 0 on */
  double bin;           /* width of one bin, px of disparity */
  RvGroundSource source;
  /*< private >*/
  RvMetaBuffer profile; /* i16 per bin: height of the ground above the plane, 1/16 row; or NULL */
} RvMetaGround;

RV_META_DECLARE(Ground, ground)

/* --- RvObstaclesMeta -------------------------------------------------------------------------- */

typedef struct RvMetaObstacles {
  int width, height; /* px of the image */
  int count;
  int tracked;       /* of them with an id */
  int nearest;       /* index of the nearest one in the path of the vehicle; -1 = none */
  double min_height; /* lower objects are ignored, m */
  double clearance;  /* higher objects are not in the way, m */
  double max_range;  /* m */
  /*< private >*/
  RvMetaBuffer payload; /* RvObstacle, nearest first */
} RvMetaObstacles;

RV_META_DECLARE(Obstacles, obstacles)

/* --- RvFreeSpaceMeta -------------------------------------------------------------------------- */

/* Polygon of the free space: the bottom corners of the image and (column center, row) of each
 * column. */
typedef struct RvMetaFreeSpace {
  int width, height; /* px of the image */
  int columns;
  int column_width; /* px */
  double area;      /* m^2 */
  /*< private >*/
  RvMetaBuffer payload; /* RvFreeColumn, from left to right */
} RvMetaFreeSpace;

RV_META_DECLARE(FreeSpace, free_space)

/* --- RvLanesMeta ------------------------------------------------------------------------------ */

typedef struct RvMetaLanes {
  int width, height; /* px of the image */
  int count;
  int left, right;     /* indices of the lines of the own lane; -1 = none */
  double offset;       /* camera to the right of the lane center, m */
  double heading;      /* of the vehicle in the lane, radians, positive to the right */
  double curvature;    /* 1/m, positive to the right */
  double lane_width;   /* m */
  double confidence;   /* 0..1 */
  double z_min, z_max; /* range of the observations, m */
  int polyline_values; /* in polylines; as many per line */
  /*< private >*/
  RvMetaBuffer payload;   /* RvLaneLine, from left to right */
  RvMetaBuffer polylines; /* f32: x, y in px of points from near to far, line by line; or NULL */
} RvMetaLanes;

RV_META_DECLARE(Lanes, lanes)

/* --- RvDetectionsMeta: distances of the boxes that other elements attached -------------------- */

typedef struct RvMetaDetections {
  int width, height; /* px of the image */
  int count;
  int unmatched; /* boxes without an obstacle */
  /*< private >*/
  RvMetaBuffer payload; /* RvDetection, in the order of the boxes on the buffer */
} RvMetaDetections;

RV_META_DECLARE(Detections, detections)

/* --- RvPairMeta: from cudastereomux ----------------------------------------------------------- */

typedef struct RvMetaPair {
  int width, height;  /* px of one view */
  gint64 skew;        /* right minus left running time, ns */
  guint64 left_time;  /* running time of the left frame, ns */
  guint64 right_time; /* of the right frame, ns */
} RvMetaPair;

RV_META_DECLARE(Pair, pair)

/* --- RvTruthMeta: ground truth of a rendered image -------------------------------------------- */

/* All rasters have width x height px; each may be NULL. */
typedef struct RvMetaTruth {
  int width, height; /* px of the left image */
  int free_columns;  /* in free_space */
  int object_count;  /* in object_list */
  int line_count;    /* in line_list */
  /*< private >*/
  RvMetaBuffer disparity;   /* raster u16, 1/16 px, 0 = invalid */
  RvMetaBuffer labels;      /* raster u8, RvSceneLabel */
  RvMetaBuffer road;        /* raster u8, 255 = drivable */
  RvMetaBuffer visible;     /* raster u8, 255 = visible in the right view too */
  RvMetaBuffer objects;     /* raster u16, id of the object, 0 = none */
  RvMetaBuffer heights;     /* raster u16, mm above the ground + 1000, 0 = sky */
  RvMetaBuffer free_space;  /* f32 per column, m: Z of the nearest thing in the way, 0 = none */
  RvMetaBuffer object_list; /* RvSceneObject */
  RvMetaBuffer line_list;   /* RvSceneLine */
} RvMetaTruth;

RV_META_DECLARE(Truth, truth)

#ifndef __GI_SCANNER__

/* --- C only: structures and buffers ----------------------------------------------------------- */

/* Returns the structure of the annotation, borrowed, unchecked; or NULL. */
RV_API const GstStructure *rv_meta_find(GstBuffer *buffer, const char *name);

/* Returns the number of records that the structure of an annotation states for the array `field`;
 * -1 if it states none. The buffer is not read. */
RV_API int rv_meta_count_records(const GstStructure *fields, const char *field);

/* Attaches an annotation with nothing but version, width and height to a writable buffer, in place
 * of one of the same name. Returns its structure, borrowed, for the other fields; NULL if the
 * buffer is not writable. For annotations without a struct here too: any name will do. */
RV_API GstStructure *rv_meta_add(GstBuffer *buffer, const char *name, int width, int height);

/* Reads the size of the image. FALSE if it is missing, out of 1..RV_MAX_SIDE, or written by a later
 * version. */
RV_API gboolean rv_meta_size(const GstStructure *fields, int *width, int *height);

/* Stores `payload` (taken over; NULL does nothing) under `field`, and the stride and the format of
 * a raster as scalars. With `fields` NULL it only releases the payload. */
RV_API void rv_meta_set_buffer(GstStructure *fields, const char *field, GstBuffer *payload);

/* Returns the buffer under `field`, borrowed, or NULL. */
RV_API GstBuffer *rv_meta_get_buffer(const GstStructure *fields, const char *field);

/* Returns the format of the GstVideoMeta of a raster. GStreamer has no format for 4-byte numbers:
 * RGBA has their size. */
RV_API GstVideoFormat rv_meta_video_format(RvFormat format);

/* Adds the GstVideoMeta of a raster with rows `stride` bytes apart. */
RV_API void rv_meta_describe_raster(GstBuffer *buffer, RvFormat format, int width, int height,
                                    int stride);

/* Returns a new raster in host memory, not cleared; NULL if memory is exhausted. */
RV_API GstBuffer *rv_meta_raster_new(RvFormat format, int width, int height);

/* Describes the memory of a buffer, at `data` in the host or on the GPU, by its GstVideoMeta;
 * without one as an array of height 1 with its bytes as width. FALSE if the buffer is shorter than
 * its GstVideoMeta states, or its pixels are not aligned. */
RV_API gboolean rv_meta_plane(GstBuffer *buffer, void *data, RvPlane *plane);

/* A mapped raster or array. */
typedef struct RvMetaMap {
  RvPlane plane; /* as rv_meta_plane */
  gsize size;    /* bytes */
  GstBuffer *buffer;
  GstMapInfo info;
} RvMetaMap;

/* Maps a buffer of an annotation; GST_MAP_READ downloads one that is on the GPU. FALSE if it cannot
 * be mapped or described; then there is nothing to unmap. */
RV_API gboolean rv_meta_map_buffer(RvMetaMap *map, GstBuffer *buffer, GstMapFlags flags);
RV_API gboolean rv_meta_map(RvMetaMap *map, const GstStructure *fields, const char *field);
RV_API void rv_meta_unmap(RvMetaMap *map);

/* Returns the start of row y, 0..height - 1. */
static inline void *rv_meta_map_row(const RvMetaMap *map, int y) {
  return (char *)map->plane.data + y * map->plane.stride;
}

#endif

G_END_DECLS
#endif
