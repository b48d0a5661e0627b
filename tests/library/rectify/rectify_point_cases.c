/* SPDX-License-Identifier: MIT */
/* rectify_point_cases.c: rv_rectify_point for strong lenses of every model: known folds, points
 * projected by the reference, and an exhaustive search. */
#include <math.h>
#include <string.h>

#include "rectify/rectify_inputs.h"
#include "rectify/rectify_point_cases.h"
#include "rectify/rectify_reference.h"

#define FOCAL 500.0
#define CX 320.0
#define CY 240.0
#define PI 3.14159265358979323846
#define SEARCH_END (PI / 3) /* largest angle of points, pinhole */
#define FAR (4 * FOCAL)     /* px from the principal point */
#define PATH 120            /* samples between the axis and a ray */
#define STEEP 0.05 /* smallest growth of a lens, in focal lengths, that counts as before the fold */

static const char name[] = "rectify/strong-lenses";
static const char *const kind_names[] = {"radtan", "rational", "thin prism", "tilted", "fisheye"};

static double real(RvRandom *random, double low, double high) {
  return low + (high - low) * (rvc_range(random, 0, 1000000) / 1e6);
}

static void set_camera(RvRectifyGeometry *g, RvLens lens) {
  memset(g, 0, sizeof *g);
  for (int v = 0; v < 2; v++) {
    g->calibration.view[v] = (RvCalibrationView){
        .width = 640, .height = 480, .lens = lens, .fx = FOCAL, .fy = FOCAL, .cx = CX, .cy = CY};
    const double p[12] = {FOCAL, 0, CX, 0, 0, FOCAL, CY, 0, 0, 0, 1, 0};
    memcpy(g->projection[v], p, sizeof p);
    for (int i = 0; i < 9; i += 4)
      g->rotation[v][i] = 1;
  }
}

/* Lenses of which many fold inside of the image or close to its border. */
static void draw_strong_lens(RvRandom *random, int kind, RvRectifyGeometry *g) {
  static const double low[14] = {-0.5, -0.2,  -0.005, -0.005, -0.1,   -0.4,  -0.3,
                                 -0.1, -0.01, -0.005, -0.01,  -0.005, -0.05, -0.05};
  static const double high[14] = {0.4, 0.3,  0.005, 0.005, 0.1,   0.8,  0.4,
                                  0.1, 0.01, 0.005, 0.01,  0.005, 0.05, 0.05};
  static const int count[] = {5, 8, 12, 14, 4};
  set_camera(g, kind == RECTIFY_FISHEYE ? RV_LENS_FISHEYE : RV_LENS_PINHOLE);
  double *d = g->calibration.view[0].distortion;
  for (int i = 0; i < count[kind]; i++)
    d[i] = kind == RECTIFY_FISHEYE ? real(random, -0.2, 0.15) / (1 + i)
                                   : real(random, low[i], high[i]);
}

/* Ray of an output point: its distance from the axis is limited by the model, not by the image. */
static int source(const RvRectifyGeometry *g, double x, double y, double *u, double *v) {
  return rectify_reference_source(g, 0, x, y, u, v);
}

static double angle(double x, double y) {
  return atan(hypot(x - CX, y - CY) / FOCAL);
}

/* Derivatives of the source at an output point: du/dx, du/dy, dv/dx, dv/dy. */
static void derive(const RvRectifyGeometry *g, double x, double y, double j[4]) {
  const double h = 1e-3;
  double u[4], v[4];
  for (int n = 0; n < 4; n++)
    source(g, x + (n == 0 ? h : n == 1 ? -h : 0), y + (n == 2 ? h : n == 3 ? -h : 0), &u[n], &v[n]);
  j[0] = (u[0] - u[1]) / (2 * h);
  j[1] = (u[2] - u[3]) / (2 * h);
  j[2] = (v[0] - v[1]) / (2 * h);
  j[3] = (v[2] - v[3]) / (2 * h);
}

/* Smallest growth in any direction, in that direction. Where it is positive no two neighbors have one
 * source. Of a fisheye lens that of the angle, since the area shrinks with the cosine. */
static double growth_at(const RvRectifyGeometry *g, double x, double y) {
  const RvCalibrationView *view = &g->calibration.view[0];
  const double *k = view->distortion, t = angle(x, y);
  double j[4];
  if (view->lens == RV_LENS_FISHEYE)
    return 1 + 3 * k[0] * pow(t, 2) + 5 * k[1] * pow(t, 4) + 7 * k[2] * pow(t, 6) +
           9 * k[3] * pow(t, 8);
  const double r2 = tan(t) * tan(t);
  if (!(1 + k[5] * r2 + k[6] * r2 * r2 + k[7] * r2 * r2 * r2 > STEEP))
    return 0; /* a pole */
  derive(g, x, y, j);
  return (j[0] + j[3]) / 2 - hypot((j[0] - j[3]) / 2, (j[1] + j[2]) / 2);
}

/* The smallest one between the axis and that output point. */
static double growth(const RvRectifyGeometry *g, double x, double y) {
  double least = HUGE_VAL;
  for (int i = 0; i <= PATH; i++)
    least = fmin(least, growth_at(g, CX + (x - CX) * i / PATH, CY + (y - CY) * i / PATH));
  return least;
}

/* 1 where the lens does not turn the image over. */
static int is_upright(const RvRectifyGeometry *g, double x, double y) {
  double j[4];
  derive(g, x, y, j);
  return j[0] * j[3] - j[1] * j[2] > 0;
}

/* An output point of angle up to 88 (fisheye) or 60 degrees. */
static void point_at(const RvRectifyGeometry *g, double part, double direction, double *x,
                     double *y) {
  const int is_fisheye = g->calibration.view[0].lens == RV_LENS_FISHEYE;
  const double r = FOCAL * tan(part * (is_fisheye ? 88 * PI / 180 : SEARCH_END));
  *x = CX + r * cos(direction);
  *y = CY + r * sin(direction);
}

/* --- Cases ----------------------------------------------------------------------------------- */

static void check_fold(RvCheck *check, const RvRectifyGeometry *g, double radius,
                       const char *what) {
  double x, y, u, v;
  for (int i = 0; i < 16; i++) {
    const double c = FOCAL * cos(i * PI / 8), s = FOCAL * sin(i * PI / 8);
    x = y = -7;
    rvc_true(check, name,
             !rv_rectify_point(g, 0, CX + c * radius * 1.0001, CY + s * radius * 1.0001, &x, &y) &&
                 x == -7 && y == -7,
             "%s: a pixel beyond the fold became (%g, %g)", what, x, y);
    u = CX + c * radius * 0.9999;
    v = CY + s * radius * 0.9999;
    if (rvc_true(check, name, rv_rectify_point(g, 0, u, v, &x, &y), "%s: before the fold", what)) {
      double back_u, back_v;
      rvc_true(check, name,
               source(g, x, y, &back_u, &back_v) && hypot(back_u - u, back_v - v) < 1e-6,
               "%s: (%g, %g) became (%g, %g), whose source is (%g, %g)", what, u, v, x, y, back_u,
               back_v);
    }
  }
}

/* x' = x (1 + k r^2) is largest at r^2 = -1 / (3 k), the angle's polynomial likewise. */
static void check_known(RvCheck *check) {
  RvRectifyGeometry g;
  double x, y;
  set_camera(&g, RV_LENS_PINHOLE);
  g.calibration.view[0].distortion[0] = -0.36;
  check_fold(check, &g, sqrt(1 / 1.08) * 2 / 3, "k1 = -0.36");
  /* 0.75 (1 - 0.36 * 0.5625) = 0.598125 */
  rvc_true(check, name,
           rv_rectify_point(&g, 0, CX + FOCAL * 0.598125, CY, &x, &y) &&
               fabs(x - (CX + FOCAL * 0.75)) < 1e-6 && fabs(y - CY) < 1e-6,
           "k1 = -0.36: 0.598125 became %.9g, %.9g", (x - CX) / FOCAL, (y - CY) / FOCAL);
  set_camera(&g, RV_LENS_FISHEYE);
  g.calibration.view[0].distortion[0] = -0.2;
  check_fold(check, &g, sqrt(1 / 0.6) * 2 / 3, "fisheye, k1 = -0.2");
  set_camera(&g, RV_LENS_FISHEYE); /* without a fold: rays up to 90 degrees */
  check_fold(check, &g, PI / 2, "fisheye without distortion");
  set_camera(&g, RV_LENS_PINHOLE);
  rvc_true(check, name,
           !rv_rectify_point(&g, 0, (double)NAN, 1, &x, &y) &&
               !rv_rectify_point(&g, 0, 1, (double)INFINITY, &x, &y),
           "not a number");
}

/* Points that the reference projects come back. */
static int check_projected(RvCheck *check, RvRandom *random, const RvRectifyGeometry *g,
                           const char *what) {
  int count = 0;
  for (int k = 0; k < 40; k++) {
    double x, y, u, v, back_x = -1e9, back_y = -1e9;
    point_at(g, real(random, 0, 1), real(random, 0, 2 * PI), &x, &y);
    if (!source(g, x, y, &u, &v) || hypot(u - CX, v - CY) > FAR || growth(g, x, y) < STEEP)
      continue;
    count++;
    rvc_true(check, name, rv_rectify_point(g, 0, u, v, &back_x, &back_y),
             "%s: (%.2f, %.2f) not found", what, u, v);
    rvc_true(check, name, hypot(back_x - x, back_y - y) < 1e-6 * hypot(x - CX, FOCAL),
             "%s: (%.4f, %.4f) became (%.4f, %.4f)", what, x, y, back_x, back_y);
  }
  return count;
}

/* 1 and *best smaller when that output point lies before the fold and its source is nearer. */
static int is_nearer(const RvRectifyGeometry *g, double u, double v, double x, double y,
                     double *best) {
  double at_u, at_v;
  if (!source(g, x, y, &at_u, &at_v) || hypot(at_u - u, at_v - v) >= *best ||
      growth(g, x, y) < STEEP)
    return 0;
  *best = hypot(at_u - u, at_v - v);
  return 1;
}

/* The output point before the fold whose source is nearest to the pixel: every direction and distance,
 * then ever smaller steps. Returns the distance of the source, px. */
static double search(const RvRectifyGeometry *g, double u, double v, double *x, double *y) {
  double best = HUGE_VAL, at_x, at_y;
  *x = *y = 0;
  for (int i = 0; i < 72 * 41; i++) {
    point_at(g, i % 41 / 40.0, i / 41 * PI / 36, &at_x, &at_y);
    if (is_nearer(g, u, v, at_x, at_y, &best)) {
      *x = at_x;
      *y = at_y;
    }
  }
  for (double step = 0.1 * hypot(*x - CX, FOCAL); step > 1e-4; step /= 2)
    for (int n = 0, quiet = 0; n < 256 && quiet < 4; n++, quiet++) {
      at_x = *x + (n % 4 == 0 ? step : n % 4 == 1 ? -step : 0);
      at_y = *y + (n % 4 == 2 ? step : n % 4 == 3 ? -step : 0);
      if (is_nearer(g, u, v, at_x, at_y, &best)) {
        *x = at_x;
        *y = at_y;
        quiet = -1;
      }
    }
  return best;
}

/* Any pixel of the image and around it: as the search says. */
static void check_pixels(RvCheck *check, RvRandom *random, const RvRectifyGeometry *g,
                         const char *what, int found[2]) {
  for (int k = 0; k < 8; k++) {
    const double u = real(random, -100, 740), v = real(random, -100, 580);
    double x = 0, y = 0, near_x, near_y, back_u, back_v;
    const int is_found = rv_rectify_point(g, 0, u, v, &x, &y);
    const double distance = search(g, u, v, &near_x, &near_y);
    found[is_found]++;
    if (is_found)
      rvc_true(check, name,
               source(g, x, y, &back_u, &back_v) && hypot(back_u - u, back_v - v) < 1e-6,
               "%s: (%.3f, %.3f) became (%.3f, %.3f), whose source is (%.3f, %.3f)", what, u, v, x,
               y, back_u, back_v);
    if (distance < 1e-3)
      rvc_true(check, name, is_found && hypot(x - near_x, y - near_y) < 0.01 * hypot(x - CX, FOCAL),
               "%s: (%.3f, %.3f) became (%.3f, %.3f), the search finds (%.3f, %.3f)", what, u, v, x,
               y, near_x, near_y);
    else if (is_found &&
             distance > 0.1) /* near a fold or at a larger angle, where the search does not go */
      rvc_true(check, name,
               is_upright(g, x, y) && (growth(g, x, y) < STEEP || angle(x, y) > 0.99 * SEARCH_END),
               "%s: (%.3f, %.3f) became (%.3f, %.3f); the search stays %.3f px away", what, u, v, x,
               y, distance);
  }
}

void rectify_point_cases(RvCheck *check) {
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, name);
  check_known(check);
  for (int kind = 0; kind <= RECTIFY_FISHEYE; kind++) {
    int projected = 0, found[2] = {0};
    for (int round = 0; round < 25; round++) {
      RvRectifyGeometry g;
      draw_strong_lens(&random, kind, &g);
      projected += check_projected(check, &random, &g, kind_names[kind]);
      if (round < 10)
        check_pixels(check, &random, &g, kind_names[kind], found);
    }
    rvc_true(check, name, projected > 200 && found[1] > 20, "%s: %d points, %d of %d pixels found",
             kind_names[kind], projected, found[1], found[0] + found[1]);
  }
}
