/* SPDX-License-Identifier: MIT */
/* ground.h: the ground in front of a stereo camera, from its disparity: a plane, and the deviation
 * of the real ground from that plane by distance (the profile). One estimate serves stixels, road
 * detection, obstacles and lanes.
 *
 * With D = disparity + doffs in px, u to the right and v downwards in px from the center of the
 * top-left pixel, the ground plane is
 *   D = slope_x u + slope_y v + intercept + doffs,
 * and the row of the ground where the disparity is d in column u is
 *   row(d, u) = (d - intercept - slope_x u) / slope_y - profile[d / bin] / 16.
 *
 * Stages; every sum is an integer, so that both engines return the same bits:
 *  1. cells    the image is reduced to cells of n x n px, n = width / 320 rounded, 3 to 16; pixels
 *              right of and below the last complete cell are ignored. A cell is valid when at least
 *              half of its pixels are; its value is the mean of D in 1/256 px.
 *  2. lines    v-disparity of the cells within near_width of the camera's axis: histograms of D in
 *              bins of 1 px, one per row band. 64 horizons x 127 disparities of the last row are
 *              the candidate lines; a cell votes for a line within 1 px, from 4 px up. Candidates
 *              whose camera height is outside of min_camera_height to max_camera_height are
 *              ignored, and, once a height is known, those outside of 3/4 to 4/3 of it; each
 *              of up to 4 frames with the plane of memory widens these limits as much. The line
 *              with the most votes wins; ties: lowest index.
 *  3. plane    four rounds of least squares over the cells near the plane and within near_width:
 *              1 px + D / 16 in the first round; then 1/2 px + D / 64, where D is at least a third
 *              of that in the last row, so that a hill ahead does not tilt the plane.
 *  4. profile  in bins of `bin` px of D, histograms of the row offset of the cells within
 *              profile_width from the plane, in steps of 1 row (of width / 1280 rows in larger
 *              images), 79 steps to each side. The score of an offset is the number of cells within
 *              one step relative to the fullest offset of the bin, less a cost of the cells farther
 *              below: nothing is seen below the ground. First, the bend of the ground is found: the
 *              bin from which on towards the far end it leaves the plane, and its slope there.
 *              Then, dynamic programming from the nearest to the farthest bin finds the path with
 *              the highest score within 12 steps of the bend, with costs for steps between
 *              neighboring bins. Each value of the profile is the mean offset of the cells on the
 *              path in seven bins. Outside of the bins that have cells the nearest value is
 *              repeated.
 *  5. track    without a plausible plane the last one is kept for `memory` frames; then the plane
 *              of the camera's height and pitch is returned when they are known, else none. The
 *              known height follows the estimates by 1/8 per frame, from the first estimate after
 *              frames of memory on. Nothing else is smoothed over time: filters of plane and
 *              profile increased the error on hills and did not reduce it on flat streets
 *              (docs/notes/ground.md).
 *
 * Source of stages 2 and 3: Labayrade, Aubert, Tarel, "Real time obstacle detection in stereovision
 * on non flat road geometry through v-disparity representation", 2002 (voting instead of a Hough
 * transform); stage 4: dynamic programming over v-disparity as in Badino, Franke, Mester 2007 for
 * free space. */
#ifndef RV_GROUND_H
#define RV_GROUND_H

#include "rv.h"
#include "rv_params.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_GROUND_SIDE_MIN 32
#define RV_GROUND_BINS 256 /* of the profile */

typedef enum RvGroundMode {
  RV_GROUND_MODE_ESTIMATE = 0, /* from the disparity */
  RV_GROUND_MODE_CAMERA        /* from camera.height and camera.pitch; the profile is 0 */
} RvGroundMode;

/* px of disparity per px: readers of a surface ignore planes with slopes of this and more. */
#define RV_GROUND_SLOPE_MAX 64.0

#define RV_GROUND_NONE (-1) /* RvGroundSurface.source: no plane, its other fields are 0 */

/* The ground of one frame; the same bytes on both engines. */
typedef struct RvGroundSurface {
  double slope_x;   /* px of disparity per px to the right */
  double slope_y;   /* px of disparity per px downwards, > 0; 0 without a plane */
  double intercept; /* px of disparity at the center of the top-left pixel, without doffs */
  double height;    /* of the camera above the plane, m; 0 when it is not known */
  int32_t source;   /* RvGroundSource */
  int32_t age;      /* frames since the plane was estimated */
  int32_t cells;    /* on the plane, at its last estimate */
  int32_t first;    /* first and last bin of the profile that have cells; -1: none */
  int32_t last;
  int32_t bin;                     /* width of the bins, 1/16 px of D */
  int16_t profile[RV_GROUND_BINS]; /* 1/16 row, positive: the ground is higher than the plane */
} RvGroundSurface;

/* Fields: unit, range; default. rv_ground_params () states the same as a table. */
typedef struct RvGroundConfig {
  int width, height; /* px, 32..RV_MAX_SIDE; no default */
  RvCamera camera;   /* focal length or baseline 0 = unknown: then the camera height is neither
                      * limited nor returned, and 3 m are assumed to be 8 baselines */
  RvGroundMode mode; /* RV_GROUND_MODE_ESTIMATE; the other one requires focal length, baseline and
                      * height of the camera */
  int max_disparity; /* px of D that the profile covers, 16..4096; 128. The bins are 1/256 of it
                      * and at least 1/2 px wide */
  double min_camera_height; /* m, 0..100; 0.5 */
  double max_camera_height; /* m, at least min_camera_height, 0..100; 3 */
  double near_width;        /* m to the left and right of the camera's axis, above 0..1000; 3 */
  double profile_width;     /* m to both sides, for the profile, above 0..1000; 5 */
  int profile;              /* 0 or 1; 1. 0: the profile is 0 */
  int memory;               /* frames, 0..1000; 10 */
  int threads;              /* CPU engine, 0 = all; 0 */
  RvLog log;                /* silent */
} RvGroundConfig;

/* rv_ground_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h.
 * The table has no camera: elements take it from RvCameraMeta. A new object has no ground of
 * earlier frames. */
RV_ALGORITHM_API(RvGround, ground);

/* disparity: RV_U16, 1/16 px, 0 = invalid, width x height. out: one RvGroundSurface in the engine's
 * memory, aligned to 8 bytes. */
RV_API RvStatus rv_ground_run(RvGround *ground, const RvPlane *disparity, RvGroundSurface *out,
                              RvStream stream);

/* Clears what is kept between frames: after a seek or a cut. Enqueued on `stream`. */
RV_API RvStatus rv_ground_reset(RvGround *ground, RvStream stream);

/* --- Use of a ground in host memory ----------------------------------------------------------- */

/* The plane of a camera of known focal length, baseline, height and pitch; source RV_GROUND_NONE
 * when one of the first three is not above 0. */
RV_API RvGroundSurface rv_ground_of_camera(const RvCamera *camera);

/* Row of the ground in column u where the disparity is d px (without doffs); 0 without a plane. */
RV_API double rv_ground_row(const RvGroundSurface *ground, const RvCamera *camera, double d,
                            double u);

/* Height in m of the point of disparity d px at pixel (u, v) above the ground; 0 without a plane,
 * baseline or depth. */
RV_API double rv_ground_height(const RvGroundSurface *ground, const RvCamera *camera, double d,
                               double u, double v);

#ifdef __cplusplus
}
#endif
#endif
