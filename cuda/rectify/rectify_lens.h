/* SPDX-License-Identifier: MIT */
/* rectify_lens.h: from viewing rays to pixels of a real camera and back; rectify.h has the formulas.
 * Internal. */
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

/* Ray of a pixel by fixed-point iteration, 5 rounds (pinhole) or Newton's (fisheye). */
void rv_lens_unproject(const RectifyLens *lens, double u, double v, double *x, double *y);

#endif
