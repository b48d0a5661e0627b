/* SPDX-License-Identifier: MIT */
/* lanes_host.h: used by measurement and tracks of lane lines. Internal. */
#ifndef RV_LANES_HOST_H
#define RV_LANES_HOST_H

#include "lanes/lanes_stages.h"

/* Symmetric 3 x 3 matrix: offset, heading, curvature. */
typedef struct RvLanesMatrix {
  double a[3][3];
} RvLanesMatrix;

/* Inverse of a symmetric positive definite matrix; 0 when it is not one. */
int rv_lanes_invert(const RvLanesMatrix *m, RvLanesMatrix *inverse);

/* Covariance of a line of a frame: of its marks and of the ground. */
RvLanesMatrix rv_lanes_covariance(const RvLanesMark *mark);

/* q of a row in 1/256 px at the axis; bin_rows: rv_lanes_bin_row() of each bin of the profile. */
static inline int rv_lanes_row_at(const RvLanesPlan *p, const RvLanesView *view,
                                  const RvGroundSurface *ground, const int32_t *bin_rows, int row) {
  if (p->is_camera)
    return rv_lanes_below(view->horizon, row);
  int k = RV_GROUND_BINS - 1;
  while (k >= 0 && bin_rows[k] > row)
    k--;
  return rv_lanes_cross(view, bin_rows, ground->bin, k, row);
}

/* 1 when the lines of a frame have a common direction. */
int rv_lanes_has_direction(const RvLanesFound *found);

/* 1 when a line is as long and straight as paint, and covers its rows. */
int rv_lanes_is_paint(const RvLanesMark *mark);

#define RV_LANES_ALL (RV_LANES_MAX + 2) /* lines of a frame with both edges */

/* Lines as rv_lanes_measure() makes them, and edges (may be NULL); marks[i]: of line i, in `found`
 * or `edges`. */
int rv_lanes_lines(const RvLanesConfig *config, const RvLanesFound *found,
                   const RvLanesEdges *edges, RvLaneLine lines[RV_LANES_ALL],
                   const RvLanesMark *marks[RV_LANES_ALL]);

/* Borders, neighbors and numbers of the lane of lane->lines, which are sorted left to right;
 * `width` is the expected one. Sets `position` of the lines, but not width. */
void rv_lanes_assign(double width, RvLanesLane *lane);

/* Sorts left to right at the reference distance; swaps marks (may be NULL) along. */
void rv_lanes_sort(RvLaneLine *lines, const RvLanesMark **marks, int count);

#endif
