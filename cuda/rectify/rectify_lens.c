/* SPDX-License-Identifier: MIT */
/* rectify_lens.c: lens models. Only + - * / decide about pinhole pixels, so that maps are the same on
 * every machine (the compiler must not fuse them: -ffp-contract=off). */
#include "rectify/rectify_lens.h"

#include <math.h>
#include <string.h>

#include "rectify/rectify_math.h"

#define HALF_PI 1.57079632679489662

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

static double theta_slope(const double *k, double t) {
  const double t2 = t * t, t4 = t2 * t2, t6 = t4 * t2, t8 = t4 * t4;
  return 1 + 3 * k[0] * t2 + 5 * k[1] * t4 + 7 * k[2] * t6 + 9 * k[3] * t8;
}

static void project_pinhole(const RectifyLens *l, double x, double y, double *u, double *v) {
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

void rv_lens_project(const RectifyLens *l, double x, double y, double *u, double *v) {
  (l->lens == RV_LENS_FISHEYE ? project_fisheye : project_pinhole)(l, x, y, u, v);
}

/* Newton's method on t (1 + k1 t^2 + ...) = r, from t = r. */
static void unproject_fisheye(const RectifyLens *l, double u, double v, double *x, double *y) {
  const double xd = (u - l->cx) / l->fx, yd = (v - l->cy) / l->fy;
  const double r = fmin(sqrt(xd * xd + yd * yd), HALF_PI);
  double t = r;
  for (int i = 0; i < 10 && r > 0; i++) {
    const double slope = theta_slope(l->k, t);
    if (!(fabs(slope) > 1e-9))
      break;
    t -= (theta_distorted(l->k, t) - r) / slope;
  }
  const double scale = r > 1e-8 ? tan(t) / r : 1;
  *x = xd * scale;
  *y = yd * scale;
}

#define ROUNDS 5

static void unproject_pinhole(const RectifyLens *l, double u, double v, double *x, double *y) {
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

void rv_lens_unproject(const RectifyLens *l, double u, double v, double *x, double *y) {
  (l->lens == RV_LENS_FISHEYE ? unproject_fisheye : unproject_pinhole)(l, u, v, x, y);
}

/* --- Exact inverse --------------------------------------------------------------------------- */

#define ANGLE_STEPS 64 /* of the search for the first angle, 1.4 degrees each */
#define BISECTIONS 60  /* of an interval of that length: to the last bit */
#define NEWTON_STEPS 8 /* per position on the way */
#define WAY_STEPS 400  /* positions on the way from the principal point */
#define WAY_STEP 0.125 /* first and longest, of the whole way */
#define WAY_STEP_MIN 1e-5
#define RESIDUAL 1e-12 /* of a position, in focal lengths */

/* Where f crosses 0 between a and b: f (a) and f (b) have different signs. */
static double bisect(double (*f)(const double *, double), const double *k, double offset, double a,
                     double b) {
  const int rises = f(k, b) > offset;
  for (int i = 0; i < BISECTIONS; i++) {
    const double middle = (a + b) / 2;
    if ((f(k, middle) > offset) == rises)
      b = middle;
    else
      a = middle;
  }
  return (a + b) / 2;
}

/* The smallest angle with that distorted angle, before the distorted angle falls for the first time and
 * below 90 degrees. */
static int invert_fisheye(const RectifyLens *l, double xd, double yd, double *x, double *y) {
  const double r = sqrt(xd * xd + yd * yd);
  double from = 0;
  for (int i = 1; i <= ANGLE_STEPS; i++) {
    double to = i * (HALF_PI / ANGLE_STEPS);
    const int falls = !(theta_slope(l->k, to) > 0);
    if (falls)
      to = bisect(theta_slope, l->k, 0, from, to);
    if (theta_distorted(l->k, to) >= r) {
      const double t = bisect(theta_distorted, l->k, r, from, to);
      const double scale = r > 1e-8 ? tan(t) / r : 1;
      *x = xd * scale;
      *y = yd * scale;
      return t < HALF_PI - 1e-9;
    }
    if (falls)
      return 0;
    from = to;
  }
  return 0;
}

/* Distorted point and its derivatives j = {dx'/dx, dx'/dy, dy'/dx, dy'/dy}; without tilt. 0 at and
 * beyond the poles of the rational model. */
static int distort(const double *k, double x, double y, double *xd, double *yd, double j[4]) {
  const double r2 = x * x + y * y, r4 = r2 * r2;
  const double over = 1 + ((k[K3] * r2 + k[K2]) * r2 + k[K1]) * r2;
  const double under = 1 + ((k[K6] * r2 + k[K5]) * r2 + k[K4]) * r2;
  const double over_slope = (3 * k[K3] * r2 + 2 * k[K2]) * r2 + k[K1];
  const double under_slope = (3 * k[K6] * r2 + 2 * k[K5]) * r2 + k[K4];
  const double radial = over / under;
  const double slope = 2 * (over_slope * under - over * under_slope) / (under * under);
  const double sx = k[S1] + 2 * k[S2] * r2, sy = k[S3] + 2 * k[S4] * r2;
  *xd = x * radial + 2 * k[P1] * x * y + k[P2] * (r2 + 2 * x * x) + k[S1] * r2 + k[S2] * r4;
  *yd = y * radial + k[P1] * (r2 + 2 * y * y) + 2 * k[P2] * x * y + k[S3] * r2 + k[S4] * r4;
  j[0] = radial + x * x * slope + 2 * k[P1] * y + 6 * k[P2] * x + 2 * x * sx;
  j[1] = x * y * slope + 2 * k[P1] * x + 2 * k[P2] * y + 2 * y * sx;
  j[2] = x * y * slope + 2 * k[P1] * x + 2 * k[P2] * y + 2 * x * sy;
  j[3] = radial + y * y * slope + 6 * k[P1] * y + 2 * k[P2] * x + 2 * y * sy;
  return under > 0;
}

/* Newton's method towards the distorted point (xd, yd). Each correction must be at most half of the one
 * before (Deuflhard's monotonicity test): else the start was too far away. The mapping must keep its
 * orientation everywhere on the way. */
static int newton(const double *k, double xd, double yd, double *x, double *y) {
  double before = HUGE_VAL;
  for (int i = 0; i < NEWTON_STEPS; i++) {
    double at_x, at_y, j[4];
    if (!distort(k, *x, *y, &at_x, &at_y, j))
      return 0;
    const double ex = xd - at_x, ey = yd - at_y, determinant = j[0] * j[3] - j[1] * j[2];
    if (!(determinant > 0 && j[0] + j[3] > 0))
      return 0;
    if (fabs(ex) <= RESIDUAL && fabs(ey) <= RESIDUAL)
      return 1;
    const double dx = (j[3] * ex - j[1] * ey) / determinant;
    const double dy = (j[0] * ey - j[2] * ex) / determinant;
    const double length = sqrt(dx * dx + dy * dy);
    if (!(length <= before / 2))
      return 0;
    before = length;
    *x += dx;
    *y += dy;
  }
  return 0;
}

/* Follows the straight line from the principal point to the pixel, so that the ray found is the one
 * that continues the center of the image; past a fold of the model there are others. */
static int invert_pinhole(const RectifyLens *l, double xd, double yd, double *x, double *y) {
  double at = 0, step = WAY_STEP;
  *x = *y = 0;
  for (int i = 0; i < WAY_STEPS && step >= WAY_STEP_MIN; i++) {
    const double to = fmin(at + step, 1);
    double next_x = *x, next_y = *y;
    if (newton(l->k, to * xd, to * yd, &next_x, &next_y)) {
      *x = next_x;
      *y = next_y;
      at = to;
      step = fmin(2 * step, WAY_STEP);
      if (at >= 1)
        return 1;
    } else {
      step /= 2;
    }
  }
  return 0;
}

int rv_lens_invert(const RectifyLens *l, double u, double v, double *x, double *y) {
  double xd = (u - l->cx) / l->fx, yd = (v - l->cy) / l->fy;
  double found_x, found_y;
  if (!(fabs(xd) < 1e6 && fabs(yd) < 1e6))
    return 0;
  if (l->is_tilted)
    apply_homography(l->untilt, &xd, &yd);
  const int found = l->lens == RV_LENS_FISHEYE ? invert_fisheye(l, xd, yd, &found_x, &found_y)
                                               : invert_pinhole(l, xd, yd, &found_x, &found_y);
  if (found) {
    *x = found_x;
    *y = found_y;
  }
  return found;
}
