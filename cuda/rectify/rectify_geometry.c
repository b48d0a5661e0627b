/* SPDX-License-Identifier: MIT */
/* rectify_geometry.c: rotations and projections of the rectified cameras (Bouguet's method; the
 * choices of OpenCV's stereoRectify with zero disparity, whose alpha is that of version 5: the grid
 * spans pixel centers 0 .. width - 1). */
#include "rectify/rectify_geometry.h"

#include <math.h>
#include <string.h>

#include "rectify/calib_check.h"
#include "rectify/rectify_lens.h"
#include "rectify/rectify_math.h"
#include "rv_internal.h"

#define PI 3.14159265358979323846
#define GRID 9 /* points along a side of the view that alpha considers */

/* Each camera turns by half of R; then both turn so that T lies on the x axis. */
static void rotate_cameras(const RvCalibration *c, double r1[9], double r2[9]) {
  double om[3], half[9], t[3], to_axis[9], half_back[9];
  rv_mat3_to_rodrigues(c->rotation, om);
  for (int i = 0; i < 3; i++)
    om[i] /= -2;
  rv_mat3_from_rodrigues(om, half);
  rv_mat3_apply(half, c->translation, t);
  /* t x e for e = (+-1, 0, 0), the direction of t along x. */
  const double e = t[0] > 0 ? 1 : -1;
  double axis[3] = {0, t[2] * e, -t[1] * e};
  const double length = rv_vec3_norm(axis), norm = rv_vec3_norm(t);
  if (length > 0) {
    const double scale = acos(fmin(fabs(t[0]) / norm, 1)) / length;
    for (int i = 0; i < 3; i++)
      axis[i] *= scale;
  }
  rv_mat3_from_rodrigues(axis, to_axis);
  rv_mat3_transpose(half, half_back);
  rv_mat3_multiply(to_axis, half_back, r1);
  rv_mat3_multiply(to_axis, half, r2);
}

/* Where pixel (u, v) of the camera lands: x / z and y / z of its rotated ray. */
static void rotated(const RectifyLens *lens, const double r[9], double u, double v, double *x,
                    double *y) {
  double ray[3] = {0, 0, 1}, out[3];
  rv_lens_unproject(lens, u, v, &ray[0], &ray[1]);
  rv_mat3_apply(r, ray, out);
  *x = out[0] / out[2];
  *y = out[1] / out[2];
}

/* The principal point that centers the four corners (pinhole) or the middle (fisheye) of the
 * view. */
static void center_view(const RectifyLens *lens, const double r[9], double f, int w, int h,
                        double center[2]) {
  double sum[2] = {0, 0};
  const int points = lens->lens == RV_LENS_FISHEYE ? 1 : 4;
  for (int i = 0; i < points; i++) {
    double x, y;
    const double u = points == 1 ? (w - 1) / 2.0 : i % 2 * (w - 1);
    const double v = points == 1 ? (h - 1) / 2.0 : i / 2 * (h - 1);
    rotated(lens, r, u, v, &x, &y);
    sum[0] += x * f;
    sum[1] += y * f;
  }
  center[0] = (w - 1) / 2.0 - sum[0] / points;
  center[1] = (h - 1) / 2.0 - sum[1] / points;
}

/* Limits of the view in the rectified image, relative to the principal point: of the largest
 * rectangle inside and the smallest around. */
typedef struct Extent {
  double inner_x0, inner_x1, inner_y0, inner_y1;
  double outer_x0, outer_x1, outer_y0, outer_y1;
} Extent;

static Extent extent_of(const RectifyLens *lens, const double r[9], double f, int w, int h) {
  Extent e = {-HUGE_VAL, HUGE_VAL, -HUGE_VAL, HUGE_VAL, HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
  for (int i = 0; i < GRID * GRID; i++) {
    const int gx = i % GRID, gy = i / GRID;
    double x, y;
    rotated(lens, r, gx * (double)(w - 1) / (GRID - 1), gy * (double)(h - 1) / (GRID - 1), &x, &y);
    x *= f;
    y *= f;
    e.outer_x0 = fmin(e.outer_x0, x);
    e.outer_x1 = fmax(e.outer_x1, x);
    e.outer_y0 = fmin(e.outer_y0, y);
    e.outer_y1 = fmax(e.outer_y1, y);
    if (gx == 0)
      e.inner_x0 = fmax(e.inner_x0, x);
    if (gx == GRID - 1)
      e.inner_x1 = fmin(e.inner_x1, x);
    if (gy == 0)
      e.inner_y0 = fmax(e.inner_y0, y);
    if (gy == GRID - 1)
      e.inner_y1 = fmin(e.inner_y1, y);
  }
  return e;
}

/* Factor on the focal length for that alpha. */
static double zoom_of(const RectifyLens lens[2], double const r[2][9], double f,
                      const double center[2], int w, int h, double alpha) {
  double inner = -HUGE_VAL, outer = HUGE_VAL;
  const double left = center[0], right = w - 1 - center[0];
  const double top = center[1], bottom = h - 1 - center[1];
  for (int v = 0; v < 2; v++) {
    const Extent e = extent_of(&lens[v], r[v], f, w, h);
    inner = fmax(inner, fmax(fmax(left / -e.inner_x0, right / e.inner_x1),
                             fmax(top / -e.inner_y0, bottom / e.inner_y1)));
    outer = fmin(outer, fmin(fmin(left / -e.outer_x0, right / e.outer_x1),
                             fmin(top / -e.outer_y0, bottom / e.outer_y1)));
  }
  return inner * (1 - alpha) + outer * alpha;
}

static void set_projection(double p[12], double f, const double center[2], double tx) {
  const double values[12] = {f, 0, center[0], tx * f, 0, f, center[1], 0, 0, 0, 1, 0};
  memcpy(p, values, sizeof values);
}

/* P1, P2 for views of w x h px from R1, R2. */
static RvStatus make_projections(const RvRectifyConfig *config, RvRectifyGeometry *g, int w,
                                 int h) {
  const RvCalibration *c = &g->calibration;
  RectifyLens lens[2];
  double f = 0, center[2] = {0, 0};
  for (int v = 0; v < 2; v++) {
    rv_lens_init(&lens[v], &c->view[v]);
    f += c->view[v].fy / 2;
  }
  const int is_fisheye = c->view[0].lens == RV_LENS_FISHEYE;
  if (is_fisheye)
    f /= config->fov_scale;
  for (int v = 0; v < 2; v++) {
    double own[2];
    center_view(&lens[v], g->rotation[v], f, w, h, own);
    center[0] += own[0] / 2;
    center[1] += own[1] / 2;
  }
  if (config->alpha >= 0 && !is_fisheye)
    f *= zoom_of(lens, (double const(*)[9])g->rotation, f, center, w, h, config->alpha);
  RV_REQUIRE(
      &config->log, f > 1e-3 && f < 1e7 && fabs(center[0]) < 1e6 && fabs(center[1]) < 1e6,
      "rectify: no rectified view exists (focal length %g px, principal point %g, %g): check "
      "the calibration's distortion coefficients and rotation",
      f, center[0], center[1]);
  set_projection(g->projection[0], f, center, 0);
  set_projection(g->projection[1], f, center, -rv_calib_baseline(c));
  return RV_OK;
}

/* From images of w x h px to those of the output: scaled by the width, centered vertically. */
static void fit_output(RvRectifyGeometry *g, int w, int h) {
  const double s = (double)g->width / w, top = (g->height - h * s) / 2;
  for (int v = 0; v < 2; v++) {
    double *p = g->projection[v];
    p[0] *= s;
    p[3] *= s;
    p[5] *= s;
    p[7] *= s;
    p[2] = (p[2] + 0.5) * s - 0.5;
    p[6] = (p[6] + 0.5) * s - 0.5 + top;
  }
}

RvStatus rv_rectify_make_geometry(const RvRectifyConfig *config, RvRectifyGeometry *g) {
  const CalibDocument doc = {.name = "config", .log = &config->log};
  memset(g, 0, sizeof *g);
  g->calibration = config->calibration;
  if (rv_calib_check(&doc, &g->calibration) != RV_OK)
    return RV_ERR_ARG;
  RV_TRY(rv_calibration_fit(&g->calibration, config->in_width, config->in_height, &config->log));
  RvCalibration *c = &g->calibration;
  RV_REQUIRE(&config->log, config->alpha < 0 || c->view[0].lens == RV_LENS_PINHOLE,
             "rectify: alpha is for pinhole lenses; use fov_scale with a fisheye lens");
  const int from_file = c->has_rectification && config->alpha < 0;
  const int w = from_file && c->rectified_width ? c->rectified_width : config->in_width;
  const int h = from_file && c->rectified_height ? c->rectified_height : config->in_height;
  g->width = config->width ? config->width : w;
  g->height = config->height ? config->height : (int)lround((double)h * g->width / w);
  g->height = g->height < 1 ? 1 : g->height;
  RV_REQUIRE(&config->log, g->height <= RV_MAX_SIDE,
             "rectify: the output views have %d x %d px, at most %d each are possible", g->width,
             g->height, RV_MAX_SIDE);
  if (c->has_rectification)
    for (int v = 0; v < 2; v++)
      memcpy(g->rotation[v], c->view[v].rotation, sizeof g->rotation[v]);
  else
    rotate_cameras(c, g->rotation[0], g->rotation[1]);
  if (from_file)
    for (int v = 0; v < 2; v++)
      memcpy(g->projection[v], c->view[v].projection, sizeof g->projection[v]);
  else
    RV_TRY(make_projections(config, g, w, h));
  fit_output(g, w, h);
  const double *p1 = g->projection[0], *p2 = g->projection[1];
  g->camera = (RvCamera){.focal = p1[0],
                         .cx = p1[2],
                         .cy = p1[6],
                         .doffs = p2[2] - p1[2],
                         .baseline = fabs(rv_calib_baseline(c))};
  g->field_of_view =
      (atan((p1[2] + 0.5) / p1[0]) + atan((g->width - 0.5 - p1[2]) / p1[0])) * 180 / PI;
  return RV_OK;
}

int rv_rectify_point(const RvRectifyGeometry *geometry, int view, double u, double v, double *x,
                     double *y) {
  RectifyLens lens;
  if (!geometry || view < 0 || view > 1 || !x || !y)
    return 0;
  const double *p = geometry->projection[view];
  double ray[3] = {0, 0, 1}, out[3];
  rv_lens_init(&lens, &geometry->calibration.view[view]);
  if (!rv_lens_invert(&lens, u, v, &ray[0], &ray[1]))
    return 0;
  rv_mat3_apply(geometry->rotation[view], ray, out);
  if (!(out[2] > 0))
    return 0;
  *x = p[0] * out[0] / out[2] + p[2];
  *y = p[5] * out[1] / out[2] + p[6];
  return 1;
}
