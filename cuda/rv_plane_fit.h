/* SPDX-License-Identifier: MIT */
/* rv_plane_fit.h: least squares of a plane in the disparity image, D = a u + b v + c, over cells of
 * n x n px: what the ground and road detection share. Not installed. */
#ifndef RV_PLANE_FIT_H
#define RV_PLANE_FIT_H

#include "rv_hd.h"

/* Candidate lines of the v-disparity through (horizon, 0) and (height - 1, bottom), row and px:
 * their horizons are `count` rows from a quarter of the height above the image to three quarters
 * below its top. */
RV_HD int rv_line_horizon(int index, int count, int height) {
  return -(height / 4) + index * height / count;
}
RV_HD int rv_line_bottom(int index) {
  return 2 + 2 * index;
}

/* Disparity of a line at row v, px rounded down; -1 at and above the horizon. */
RV_HD int rv_line_at(int v, int horizon, int bottom, int height) {
  if (v <= horizon || height - 1 <= horizon)
    return -1;
  return (v - horizon) * bottom / (height - 1 - horizon);
}

/* Sums over the cells that are fitted: x, y of a cell in columns and rows, d in 1/256 px. */
typedef struct RvPlaneSums {
  int64_t n, x, y, xx, xy, yy, d, xd, yd;
} RvPlaneSums;

/* Maximum distance of a cell from the plane in a round of the fit, px. */
RV_HD double rv_plane_reach(int round, double disparity) {
  return round == 0 ? 1 + disparity / 16 : 0.5 + disparity / 64;
}

/* Least squares by Cramer's rule about the means, in px of the image; 0, and the plane unchanged,
 * when the cells are collinear. s->n is at least 3. */
RV_HD int rv_plane_solve(const RvPlaneSums *s, int n, double *a, double *b, double *c) {
  const double count = (double)s->n;
  const double mx = (double)s->x / count, my = (double)s->y / count, md = (double)s->d / count;
  const double xx = (double)s->xx - mx * (double)s->x, xy = (double)s->xy - mx * (double)s->y;
  const double yy = (double)s->yy - my * (double)s->y;
  const double xd = (double)s->xd - mx * (double)s->d, yd = (double)s->yd - my * (double)s->d;
  const double det = xx * yy - xy * xy;
  if (!(det > 1e-6 * xx * yy) || !(xx > 0) || !(yy > 0))
    return 0;
  const double slope_x = (xd * yy - yd * xy) / det, slope_y = (yd * xx - xd * xy) / det;
  const double scale = 256.0 * n, shift = 0.5 * (n - 1);
  *a = slope_x / scale;
  *b = slope_y / scale;
  *c = (md - slope_x * mx - slope_y * my) / 256 - (*a + *b) * shift;
  return 1;
}

/* Squared height of the camera above the plane: with n X = h, D = baseline / h (n_x (u - cx) +
 * n_y (v - cy) + n_z focal), so that (baseline / h)^2 is the sum of three squares. `center` is the
 * plane at (cx, cy). */
RV_HD double rv_plane_height_squared(double a, double b, double center, double focal,
                                     double baseline) {
  const double forward = center / focal;
  return baseline * baseline / (a * a + b * b + forward * forward);
}

#endif
