/* SPDX-License-Identifier: MIT */
/* lanes.h: lane markings on the ground, from the gray frame and the ground of cuda/ground, or from
 * one camera of known height: lines in meters, the own lane, its neighbors, tracks.
 *
 * Coordinates of the vehicle: Z forward, X to the right, m, both from the left camera. A line is
 * X(Z) = offset + heading Z + curvature Z^2 / 2. There is no bird's-eye image: markings are found
 * in image rows, at full resolution.
 *
 * Stages; every sum is an integer, and real numbers are formed from them in one order, so that both
 * engines return the same bits:
 *  1. rows     each row (of images above 540 rows: every second one, and so on) gets the disparity
 *              of the ground at the camera's axis from plane and profile, the width k of a marking
 *              and the gap g = 0.3 k, in columns, and the length of ground dz that it covers, at
 *              most 0.5 m. Rows from 4 m to max_distance are used. Images wider than 4096 px are
 *              averaged over 2, 3 or 4 columns.
 *  2. marks    dark, bright, dark: with C the sum of k columns, L and R the sums of the k columns
 *              next to it at distance g, y = C - max(L, R). A column is a mark when y exceeds
 *              min_contrast per column and twice the mean of |C - L| of the row, |L - R| is below
 *              max(y, 8 k), and y is the maximum within k columns. Its position is the center of
 *              the part that is brighter than both sides, in 1/16 px. Marks whose disparity is
 *              nearer than the ground by more than 1 px + 5 % lie on objects and are dropped; of
 *              more than 48 in a row, the leftmost are kept.
 *  3. votes    each mark votes with min(contrast, 40) dz for a bin of
 *              X - heading Z - curvature Z^2 / 2, 0.1 m wide, from -8 to 8 m, in each of 41
 *              headings (-0.15 to 0.15 rad) times 25 curvatures (-0.006 to 0.006 1/m). The score of
 *              such a space is the sum of f(v_b + v_b+1) over its bins, f being quadratic up to
 *              20 m of contrast 20 and linear from there, times a prior on the curvature. With
 *              ground=camera, there are 13 curvatures and 9 horizons: within 2.4 degrees of that of
 *              the camera's pitch at first, then within 0.6 degrees of the last one, which follows
 *              by a quarter per frame. A pitch that is not 0 counts as known: a prior with a
 *              standard deviation of two steps prefers horizons near the expected one.
 *  4. lines    the maxima of the best space that are 0.8 m apart are fitted by least squares
 *              (offset, heading, curvature) in three rounds within 0.3, 0.2 and 0.15 m
 *              (1 + Z / 40 m), with priors of 0.01 rad and 0.0005 1/m about the best space. For
 *              each line it is counted where it is covered by marks, where it could be seen, how
 *              the marks spread across it, their color, and the height of the ground next to it.
 *
 * Kinds, lane and tracks are made of this on the host (second half of this header), and the edges
 * of the road, from the patches of cuda/road.
 *
 * Sources: voting over a common heading and curvature as in a Hough transform, with the voting
 * layer of cuda/vote; marking detection by width as in Bertozzi, Broggi, "GOLD", 1998, in image
 * rows with a width per row; docs/notes/lanes.md has decisions and measurements. */
#ifndef RV_LANES_H
#define RV_LANES_H

#include "ground/ground.h"
#include "rv.h"
#include "rv_params.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_LANES_SIDE_MIN 32
#define RV_LANES_MAX 8     /* lines that run() finds in a frame */
#define RV_LANES_TRACKS 12 /* lines that rv_lanes_track() returns at most */
#define RV_LANES_SLICES 128
#define RV_LANES_SLICE 0.5 /* m */
#define RV_LANES_SPREAD 24 /* bins of 5 cm from -0.6 m */
#define RV_LANES_POINTS 16 /* of the polyline of a line */

/* Source of the ground. */
typedef enum RvLanesGround {
  RV_LANES_GROUND_ESTIMATE = 0, /* RvGroundSurface passed to run() */
  RV_LANES_GROUND_CAMERA /* a plane below a camera of known height; the horizon is estimated */
} RvLanesGround;

/* Fields: unit, range; default. rv_lanes_params () states the same as a table. */
typedef struct RvLanesConfig {
  int width, height; /* px, 32..RV_MAX_SIDE; no default */
  RvCamera camera;   /* focal length required; baseline with RV_LANES_GROUND_ESTIMATE; height with
                      * RV_LANES_GROUND_CAMERA, and pitch where it is known */
  RvLanesGround ground; /* RV_LANES_GROUND_ESTIMATE */
  double max_distance;  /* m, 10..60; 45 */
  double mark_width;    /* m, 0.05..0.5; 0.15 */
  int min_contrast;     /* gray levels, 1..255; 10 */
  double lane_width;    /* m, 2..6; 3.5: of the lane, until it has been measured */
  int threads;          /* CPU engine, 0 = all; 0 */
  RvLog log;            /* silent */
} RvLanesConfig;

/* A line as the engines find it. */
typedef struct RvLanesMark {
  double offset, heading, curvature; /* m, rad, 1/m */
  double information[6];             /* normal equations of the last round, (1/m)^2: offset squared,
                                      * offset heading, offset curvature, heading squared, heading
                                      * curvature, curvature squared */
  int64_t squares;                   /* sum of weight times squared residual in mm */
  int64_t weight;                    /* of the marks on the line, contrast x mm / 16 */
  int32_t hits;                      /* marks on the line */
  int32_t z_min, z_max;              /* of them, cm */
  int32_t tint;                      /* sum over the marks of 4 (B - (R + G) / 2), less the same
                                      * next to them */
  int32_t tints;                     /* marks in this sum */
  int32_t left_height; /* sum of heights 0.5 m left of the line above the ground, mm */
  int32_t right_height;
  int32_t lefts, rights;                  /* pixels in these sums */
  uint32_t covered[RV_LANES_SLICES / 32]; /* bit k: marks from k to k + 1 slices */
  uint32_t seen[RV_LANES_SLICES / 32];    /* bit k: in the image and not behind an object */
  uint32_t spread[RV_LANES_SPREAD];       /* weight by distance from the line */
  uint32_t length;                        /* sum of the ground that their rows cover, mm */
} RvLanesMark;

/* What run() finds in a frame. */
typedef struct RvLanesFound {
  uint64_t score;   /* of the best space */
  uint64_t mean;    /* of all spaces */
  double heading;   /* of the best space, rad */
  double curvature; /* likewise, 1/m */
  int32_t horizon;  /* ground=camera: row of the horizon of the best space, 1/16 px; else 0 */
  uint32_t hits;    /* marks in all */
  uint32_t rows;    /* rows that show ground; 0: no ground */
  uint32_t count;   /* lines, by decreasing weight of their bin */
  RvLanesMark lines[RV_LANES_MAX];
} RvLanesFound;

/* What run() reads, in the memory of the engine. */
typedef struct RvLanesSource {
  RvPlane gray;                  /* RV_U8 */
  RvPlane disparity;             /* RV_U16, 1/16 px, 0 = invalid; data NULL: none */
  RvPlane color;                 /* RV_U32 as of rv_convert_color(); data NULL: none */
  const RvGroundSurface *ground; /* RV_LANES_GROUND_ESTIMATE: required; without a plane nothing is
                                  * found. Else not read */
} RvLanesSource;

/* rv_lanes_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h. */
RV_ALGORITHM_API(RvLanes, lanes);

/* out: one RvLanesFound in the engine's memory, aligned to 8 bytes. */
RV_API RvStatus rv_lanes_run(RvLanes *lanes, const RvLanesSource *source, RvLanesFound *out,
                             RvStream stream);

/* Clears the horizon that ground=camera follows: after a seek or a cut. Enqueued on `stream`. */
RV_API RvStatus rv_lanes_reset(RvLanes *lanes, RvStream stream);

/* --- On the host, after the result has been copied there ----------------------------------------
 *
 * Pure functions and an object without an engine: the same results for both engines. Doubles in a
 * fixed order from + - x / sqrt only. */

/* Origin of a border of the own lane. */
typedef enum RvLanesBorder {
  RV_LANES_BORDER_NONE = 0,
  RV_LANES_BORDER_SEEN,  /* a line of this frame */
  RV_LANES_BORDER_MEMORY /* a line of an earlier frame, predicted */
} RvLanesBorder;

/* The lane of a frame. A border that was not found is -1: it is not extrapolated from the other. An
 * edge of the road is a border only where no two lines are. */
typedef struct RvLanesLane {
  int count;                         /* lines */
  RvLaneLine lines[RV_LANES_TRACKS]; /* left to right at the reference distance */
  int left, right;                   /* indices of the borders of the own lane, -1: none */
  int left_source, right_source;     /* RvLanesBorder */
  double offset;                     /* m: camera from the center of the lane, right positive */
  double heading;                    /* rad: vehicle against the lane, right positive */
  double curvature;                  /* 1/m: of the lane, right positive */
  double width;                      /* m; of the lane, or the last one known */
  double confidence;                 /* 0..1; 0: no border */
} RvLanesLane;

/* Lines of a frame without tracking, and without edges: every field but id, position, age and
 * missed. Returns their number; 0 when the frame has no common direction: the best score is below
 * 2.4 x the mean. Lines that 0.5 m slices cover by less than 3 m, lines of less than a fifth of
 * full confidence, and lines more than 1.75 lane widths from the camera (at the reference distance)
 * are omitted, and lines that are not paint: the rows with marks make up less than 55 % of the
 * covered slices, or the marks scatter by more than 45 mm, unless 70 % of them lie on two lines
 * 0.15 to 0.5 m apart. Sorted left to right. */
RV_API int rv_lanes_measure(const RvLanesConfig *config, const RvLanesFound *found,
                            RvLaneLine lines[RV_LANES_MAX]);

/* Road of a frame by patches of patch x patch px, in host memory: the mask of cuda/road. Patch
 * (c, r) covers px from (c, r) * patch on. */
typedef struct RvLanesRoad {
  const uint8_t *mask; /* one byte per patch, not 0 = road */
  ptrdiff_t stride;    /* bytes from one row to the next */
  int columns, rows;
  int patch; /* px, at least 1 */
} RvLanesRoad;

/* Edges of the road: where it ends to the left and to the right, painted or not. */
typedef struct RvLanesEdges {
  int count;           /* 0..2 */
  RvLanesMark line[2]; /* of the left edge, then of the right one: no height, tint and spread */
} RvLanesEdges;

/* Edges of a frame. In each row of patches from 4 m to max_distance, the road is what begins at
 * the camera's axis and continues to the next row, with gaps of up to 0.4 m and what stands on it;
 * where it ends inside the image, the row has an end. The ends of a side vote for an offset in the
 * direction of the lines at 15 m, or where these have none, with those of the other side for a
 * heading of all; three rounds of least squares follow, within 0.6, 0.4 and 0.3 m (1 + Z / 40 m),
 * with priors of 0.02 rad and 0.001 1/m. In the last one, the nearest line of `found` within 0.6 m
 * that is no paint (a curbstone, a gutter) counts as well. Of an edge, a length of 6 m and 65 % of
 * that of all ends in its range is within 0.3 m (1 + Z / 40 m), with an rms of 0.2 m, and it begins
 * nearer than 10 m. Where cars are parked along the road, the edge is along them. `ground` as for
 * rv_lanes_points(). */
RV_API RvStatus rv_lanes_edges(const RvLanesConfig *config, const RvGroundSurface *ground,
                               const RvLanesFound *found, const RvLanesRoad *road,
                               RvLanesEdges *edges);

/* Reference distance of the lane, m: borders are compared there, not below the camera. */
RV_API double rv_lanes_reference_distance(void);

/* X of a line at distance z, m. */
RV_API double rv_lanes_line_x(const RvLaneLine *line, double z);

/* RV_LANES_POINTS points (x, y in px) along a line from z_min to z_max, from near to far, in equal
 * steps of 1 / Z. `ground` is that of the frame; with RV_LANES_GROUND_CAMERA it may be NULL and
 * found->horizon is used. Returns the number of points, 0 without a plane. */
RV_API int rv_lanes_points(const RvLanesConfig *config, const RvGroundSurface *ground,
                           const RvLanesFound *found, const RvLaneLine *line,
                           float points[2 * RV_LANES_POINTS]);

/* Tracks of lines: one Kalman filter per line over offset, heading and curvature; tracks and lines
 * are paired by distance at the reference distance. Three hits confirm a track and give it an id; a
 * new one ends after 3 misses, a confirmed one after 1 s or 20 m traveled. */
typedef struct RvLanesTracks RvLanesTracks;

/* *out is NULL after a failure; `config` as of the object whose lines are tracked. */
RV_API RvStatus rv_lanes_tracks_new(RvLanesTracks **out, const RvLanesConfig *config);

/* Applies a config from the next frame on. The tracks continue; those of another camera end. */
RV_API RvStatus rv_lanes_tracks_set_config(RvLanesTracks *tracks, const RvLanesConfig *config);

/* Updates the tracks with a frame at `time` s and computes the lane. edges may be NULL: none. A
 * time that goes back or leaps by more than 1 s ends all tracks; ids continue. The width of the
 * lane and the last kinds of the lines are kept over time. */
RV_API RvStatus rv_lanes_track(RvLanesTracks *tracks, double time, const RvLanesFound *found,
                               const RvLanesEdges *edges, RvLanesLane *lane);

/* As rv_lanes_track for a single frame: nothing is kept. */
RV_API RvStatus rv_lanes_lane(const RvLanesConfig *config, const RvLanesFound *found,
                              const RvLanesEdges *edges, RvLanesLane *lane);

/* Speed in m/s and yaw rate in rad/s (right positive) of the vehicle, from the next frame on;
 * is_known 0 (as after _new): the vehicle may move at up to 40 m/s. */
RV_API void rv_lanes_tracks_set_motion(RvLanesTracks *tracks, double speed, double yaw_rate,
                                       int is_known);

/* Ends all tracks: after a seek. Ids continue. */
RV_API void rv_lanes_tracks_reset(RvLanesTracks *tracks);
RV_API void rv_lanes_tracks_free(RvLanesTracks **tracks);

#ifdef __cplusplus
}
#endif
#endif
