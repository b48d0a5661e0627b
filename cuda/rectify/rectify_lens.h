/* SPDX-License-Identifier: MIT */
/* rectify_lens.h: from viewing rays to pixels of a real camera and back; rectify.h has the
 * formulas. Internal. */
#ifndef RV_RECTIFY_LENS_H
#define RV_RECTIFY_LENS_H

#include "rectify/calibration.h"

typedef struct RectifyLens {
  RvLens lens;
  double fx, fy, cx, cy;
  double k[14];
  int is_tilted;
  double tilt[9], untilt[9];
} RectifyLens;

void rv_lens_init(RectifyLens *lens, const RvCalibrationView *view);

/* Pixel of the ray (x, y, 1). */
void rv_lens_project(const RectifyLens *lens, double x, double y, double *u, double *v);

/* Ray of a pixel by fixed-point iteration, 5 rounds (pinhole) or Newton's (fisheye): the values of
 * OpenCV's stereoRectify, which only approximates strong distortion. */
void rv_lens_unproject(const RectifyLens *lens, double u, double v, double *x, double *y);

/* Ray of a pixel on the branch of the lens model that contains the optical axis: it is projected to
 * (u, v) within 1e-9 focal lengths, for pixels within 10 focal lengths of the principal point.
 * Pinhole: Newton's method in at most 400 steps along the line from the principal point, each of at
 * most 8 iterations; fisheye: bisection between the axis and the first fold. 0, and x and y
 * unchanged, when no ray of that branch has this pixel (the model folds before), its ray is 90
 * degrees or more off the axis (fisheye), or the search does not converge: closer to the fold than
 * about 1e-5 of the pixel's distance from the principal point. */
int rv_lens_invert(const RectifyLens *lens, double u, double v, double *x, double *y);

#endif
