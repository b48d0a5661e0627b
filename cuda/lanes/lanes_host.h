/* SPDX-License-Identifier: MIT */
/* lanes_host.h: used by measurement and tracks of lane lines. Internal. */
#ifndef RV_LANES_HOST_H
#define RV_LANES_HOST_H

#include "lanes/lanes.h"

/* Symmetric 3 x 3 matrix: offset, heading, curvature. */
typedef struct RvLanesMatrix {
  double a[3][3];
} RvLanesMatrix;

/* Inverse of a symmetric positive definite matrix; 0 when it is not one. */
int rv_lanes_invert(const RvLanesMatrix *m, RvLanesMatrix *inverse);

/* Covariance of a line of a frame: of its marks and of the ground. */
RvLanesMatrix rv_lanes_covariance(const RvLanesMark *mark);

/* Lines as rv_lanes_measure() makes them; marks[i]: index of line i in `found`. */
int rv_lanes_lines(const RvLanesConfig *config, const RvLanesFound *found,
                   RvLaneLine lines[RV_LANES_MAX], int marks[RV_LANES_MAX]);

/* Borders, neighbors and numbers of the lane of lane->lines, which are sorted left to right;
 * `width` is the expected one. Sets `position` of the lines, but not width. */
void rv_lanes_assign(double width, RvLanesLane *lane);

/* Sorts left to right at the reference distance; swaps marks (may be NULL) along. */
void rv_lanes_sort(RvLaneLine *lines, int *marks, int count);

#endif
