/* SPDX-License-Identifier: MIT */
/* depth.h: functions for a disparity raster in host memory: other scales, metric depth, points, and
 * the likely cause when the views of a pair do not match. They run on the CPU only. */
#ifndef RV_DEPTH_H
#define RV_DEPTH_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* disparity: RV_U16, 1/16 px, 0 = invalid. out: RV_U16 of the same size, which may be the same
 * memory.
 *
 * Values per px become `scale` (1..65535): rounded to nearest, at least 1 for valid pixels,
 * at most 65535. */
RV_API RvStatus rv_depth_rescale(const RvPlane *disparity, int scale, const RvPlane *out,
                                 const RvLog *log);

/* The inverse: values of `scale` per px become 1/16 px, with the same rounding. */
RV_API RvStatus rv_depth_from_scale(const RvPlane *values, int scale, const RvPlane *out,
                                    const RvLog *log);

/* Depth Z = focal * baseline / (d + doffs) in mm, rounded to nearest. 0 = invalid: no disparity,
 * not in front of the camera, or 65.5355 m and farther, beyond 16 bits. Focal length and
 * baseline must be known. */
RV_API RvStatus rv_depth_mm(const RvPlane *disparity, const RvCamera *camera, const RvPlane *out,
                            const RvLog *log);

/* Disparity in px as float: d + doffs of the camera (NULL: d), `invalid` for invalid pixels. out:
 * RV_F32 of the size of `disparity`. */
RV_API RvStatus rv_depth_disparity_px(const RvPlane *disparity, const RvCamera *camera,
                                      float invalid, const RvPlane *out, const RvLog *log);

/* One point per pixel in coordinates of the left camera (x to the right, y down, z forward, m):
 * Z = focal * baseline / (d + doffs), X = (x - cx) * Z / focal, Y = (y - cy) * Z / focal, computed
 * in double and rounded once. `points`: RV_F32, four times as wide as `disparity`: X, Y, Z, and the
 * bits 0x00RRGGBB of `color` (RV_U32 of rv_convert_color and of the size of `disparity`; NULL:
 * white). Pixels without a disparity, not in front of the camera, or farther than `max_distance` m
 * (0 = no limit) are NaN in X, Y and Z. `count` (may be NULL) becomes the number of valid points.
 * Focal length and baseline must be known. */
RV_API RvStatus rv_depth_points(const RvPlane *disparity, const RvPlane *color,
                                const RvCamera *camera, double max_distance, const RvPlane *points,
                                int *count, const RvLog *log);

/* The likely cause when few pixels of a pair match. */
typedef enum RvPairFault {
  RV_PAIR_UNKNOWN = 0, /* none of the others: no texture, different exposure, dirt, fog, ... */
  RV_PAIR_ROWS,        /* not rectified: matches lie row_offset rows lower in the right view */
  RV_PAIR_SWAPPED,     /* matches lie on the other side: left and right are swapped */
  RV_PAIR_RANGE,       /* matches lie beyond the search range, near `disparity` */
} RvPairFault;

typedef struct RvPairReport {
  RvPairFault fault;
  int row_offset; /* px, RV_PAIR_ROWS: right row - left row */
  int disparity;  /* px, RV_PAIR_RANGE: median of the matches */
  int points;     /* textured points that were searched for */
  int votes;      /* points that support the fault */
} RvPairReport;

#define RV_PAIR_ROWS_MAX 16 /* px, largest row offset that is searched */

/* Searches a few hundred textured points of `left` in `right` (RV_U8, same size): in the range
 * min_disparity .. min_disparity + disparities - 1 on the same row and up to RV_PAIR_ROWS_MAX rows
 * away, on the other side, and beyond the range. It lasts about 0.2 s: call it once, for a message
 * to the user. */
RV_API RvStatus rv_pair_diagnose(const RvPlane *left, const RvPlane *right, int min_disparity,
                                 int disparities, RvPairReport *report, const RvLog *log);

typedef struct RvPairOrder {
  int points;     /* textured points that were searched for, at most 1024 */
  int straight;   /* points with a clearly better match in the range, on the same row */
  int swapped;    /* points with a clearly better match on the other side */
  int is_swapped; /* 1: swapped leads by a quarter and by five standard deviations of chance */
} RvPairOrder;

/* Decides whether two views are swapped. Only the two directions along the row are compared, so
 * that noise and compression cost points of both sides: it is reliable for images that match too
 * badly for rv_pair_diagnose. Arguments as there; it lasts about 0.1 s. */
RV_API RvStatus rv_pair_order(const RvPlane *left, const RvPlane *right, int min_disparity,
                              int disparities, RvPairOrder *order, const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
