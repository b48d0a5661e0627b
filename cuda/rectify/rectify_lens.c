/* SPDX-License-Identifier: MIT */
/* rectify_lens.c: lens models. Only + - * / decide about pinhole pixels, so that maps are the same on
 * every machine (the compiler must not fuse them: -ffp-contract=off). */
#include "rectify/rectify_lens.h"

#include <math.h>
#include <string.h>

#include "rectify/rectify_math.h"

enum { K1, K2, P1, P2, K3, K4, K5, K6, S1, S2, S3, S4, TX, TY };

/* Tilted sensor (Scheimpflug): rotation by tx around x, then by ty around y, projected back along
 * the optical axis. */
static void set_tilt(RectifyLens *lens) {
  const double cx = cos(lens->k[TX]), sx = sin(lens->k[TX]);
  const double cy = cos(lens->k[TY]), sy = sin(lens->k[TY]);
  const double around_x[9] = {1, 0, 0, 0, cx, sx, 0, -sx, cx};
  const double around_y[9] = {cy, 0, -sy, 0, 1, 0, sy, 0, cy};
  double rotation[9];
  rv_mat3_multiply(around_y, around_x, rotation);
  const double back[9] = {rotation[8], 0, -rotation[2], 0, rotation[8], -rotation[5], 0, 0, 1};
  rv_mat3_multiply(back, rotation, lens->tilt);
  lens->is_tilted = rv_mat3_invert(lens->tilt, lens->untilt);
}

void rv_lens_init(RectifyLens *lens, const RvCalibrationView *view) {
  memset(lens, 0, sizeof *lens);
  lens->lens = view->lens;
  lens->fx = view->fx;
  lens->fy = view->fy;
  lens->cx = view->cx;
  lens->cy = view->cy;
  memcpy(lens->k, view->distortion, sizeof lens->k);
  if (lens->lens == RV_LENS_PINHOLE && (lens->k[TX] != 0 || lens->k[TY] != 0))
    set_tilt(lens);
}

static double theta_distorted(const double *k, double t) {
  const double t2 = t * t, t4 = t2 * t2, t6 = t4 * t2, t8 = t4 * t4;
  return t * (1 + k[0] * t2 + k[1] * t4 + k[2] * t6 + k[3] * t8);
}

static void project_fisheye(const RectifyLens *l, double x, double y, double *u, double *v) {
  const double r = sqrt(x * x + y * y);
  const double scale = r > 0 ? theta_distorted(l->k, atan(r)) / r : 1;
  *u = l->fx * x * scale + l->cx;
  *v = l->fy * y * scale + l->cy;
}

static void apply_homography(const double m[9], double *x, double *y) {
  const double v[3] = {*x, *y, 1};
  double out[3];
  rv_mat3_apply(m, v, out);
  const double scale = out[2] != 0 ? 1 / out[2] : 1;
  *x = scale * out[0];
  *y = scale * out[1];
}

void rv_lens_project(const RectifyLens *l, double x, double y, double *u, double *v) {
  if (l->lens == RV_LENS_FISHEYE) {
    project_fisheye(l, x, y, u, v);
    return;
  }
  const double *k = l->k;
  const double x2 = x * x, y2 = y * y, r2 = x2 + y2, xy2 = 2 * x * y;
  const double radial = (1 + ((k[K3] * r2 + k[K2]) * r2 + k[K1]) * r2) /
                        (1 + ((k[K6] * r2 + k[K5]) * r2 + k[K4]) * r2);
  double xd = x * radial + k[P1] * xy2 + k[P2] * (r2 + 2 * x2) + k[S1] * r2 + k[S2] * r2 * r2;
  double yd = y * radial + k[P1] * (r2 + 2 * y2) + k[P2] * xy2 + k[S3] * r2 + k[S4] * r2 * r2;
  if (l->is_tilted)
    apply_homography(l->tilt, &xd, &yd);
  *u = l->fx * xd + l->cx;
  *v = l->fy * yd + l->cy;
}

/* Newton's method on t (1 + k1 t^2 + ...) = r, from t = r. */
static void unproject_fisheye(const RectifyLens *l, double u, double v, double *x, double *y) {
  const double xd = (u - l->cx) / l->fx, yd = (v - l->cy) / l->fy;
  const double r = fmin(sqrt(xd * xd + yd * yd), 1.57079632679489662);
  double t = r;
  for (int i = 0; i < 10 && r > 0; i++) {
    const double *k = l->k, t2 = t * t, t4 = t2 * t2, t6 = t4 * t2, t8 = t4 * t4;
    const double slope = 1 + 3 * k[0] * t2 + 5 * k[1] * t4 + 7 * k[2] * t6 + 9 * k[3] * t8;
    if (!(fabs(slope) > 1e-9))
      break;
    t -= (theta_distorted(k, t) - r) / slope;
  }
  const double scale = r > 1e-8 ? tan(t) / r : 1;
  *x = xd * scale;
  *y = yd * scale;
}

#define ROUNDS 5

void rv_lens_unproject(const RectifyLens *l, double u, double v, double *x, double *y) {
  if (l->lens == RV_LENS_FISHEYE) {
    unproject_fisheye(l, u, v, x, y);
    return;
  }
  const double *k = l->k;
  double x0 = (u - l->cx) / l->fx, y0 = (v - l->cy) / l->fy;
  if (l->is_tilted)
    apply_homography(l->untilt, &x0, &y0);
  *x = x0;
  *y = y0;
  for (int i = 0; i < ROUNDS; i++) {
    const double r2 = *x * *x + *y * *y;
    const double inverse = (1 + ((k[K6] * r2 + k[K5]) * r2 + k[K4]) * r2) /
                           (1 + ((k[K3] * r2 + k[K2]) * r2 + k[K1]) * r2);
    if (inverse < 0) {
      *x = x0;
      *y = y0;
      return;
    }
    const double dx =
        2 * k[P1] * *x * *y + k[P2] * (r2 + 2 * *x * *x) + k[S1] * r2 + k[S2] * r2 * r2;
    const double dy =
        k[P1] * (r2 + 2 * *y * *y) + 2 * k[P2] * *x * *y + k[S3] * r2 + k[S4] * r2 * r2;
    *x = (x0 - dx) * inverse;
    *y = (y0 - dy) * inverse;
  }
}
