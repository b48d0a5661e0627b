/* SPDX-License-Identifier: MIT */
/* calib_check.c: rules that a calibration must keep, each with its own sentence, and its conversion
 * to the size of the frames. */
#include "rectify/calib_check.h"

#include <math.h>
#include <string.h>

#include "rectify/rectify_math.h"

#define FOCAL_MIN 0.1 /* of the width of a view */
#define FOCAL_MAX 20.0
#define CENTER_MAX 0.25    /* distance of the principal point from the center, of the width */
#define ORTHOGONALITY 1e-3 /* largest deviation of R R^T from the identity */
#define BASELINE_MIN 0.01  /* m */
#define BASELINE_MAX 2.0
#define ASPECT_TOLERANCE 0.005
#define CENTER_LOW 0.35 /* a calibration without size is believed when cx is 0.35 to 0.65 widths */
#define CENTER_HIGH 0.65

static const char *const sides[2] = {"left", "right"};

double rv_calib_baseline(const RvCalibration *c) {
  if (c->has_rectification && c->view[1].projection[0] != 0)
    return (c->view[0].projection[3] - c->view[1].projection[3]) / c->view[1].projection[0];
  return c->translation[0] < 0 ? rv_vec3_norm(c->translation) : -rv_vec3_norm(c->translation);
}

/* --- After reading --------------------------------------------------------------------------- */

static RvStatus check_rotation(const CalibDocument *doc, const char *name, const double r[9]) {
  const double deviation = rv_mat3_orthogonality(r);
  if (!(deviation <= ORTHOGONALITY))
    return rv_calib_error(doc, 0, "%s is not a rotation: R R^T differs from 1 by %.2g, at most %g",
                          name, deviation, ORTHOGONALITY);
  if (!(rv_mat3_determinant(r) > 0))
    return rv_calib_error(doc, 0, "%s is not a rotation but a reflection (determinant -1)", name);
  return RV_OK;
}

static RvStatus check_view(const CalibDocument *doc, const RvCalibrationView *view, int v) {
  const double *values = &view->fx;
  if (view->lens != RV_LENS_PINHOLE && view->lens != RV_LENS_FISHEYE)
    return rv_calib_error(doc, 0, "the lens of the %s camera is %d, must be 0 or 1", sides[v],
                          (int)view->lens);
  if (view->width < 0 || view->width > RV_MAX_SIDE || view->height < 0 ||
      view->height > RV_MAX_SIDE)
    return rv_calib_error(doc, 0, "the size of the %s view is %d x %d px, must be 0 to %d",
                          sides[v], view->width, view->height, RV_MAX_SIDE);
  for (int i = 0; i < 4; i++)
    if (!isfinite(values[i]))
      return rv_calib_error(doc, 0, "the camera matrix of the %s camera is not finite", sides[v]);
  if (!(view->fx > 0 && view->fy > 0))
    return rv_calib_error(doc, 0,
                          "the focal lengths of the %s camera are %g and %g px, must be "
                          "positive",
                          sides[v], view->fx, view->fy);
  for (int i = 0; i < 14; i++)
    if (!isfinite(view->distortion[i]))
      return rv_calib_error(doc, 0, "a distortion coefficient of the %s camera is not finite",
                            sides[v]);
  return RV_OK;
}

static RvStatus check_projection(const CalibDocument *doc, const double p[12], int v) {
  if (!(p[0] > 0 && p[5] > 0) || p[1] != 0 || p[4] != 0 || p[8] != 0 || p[9] != 0 || p[10] != 1)
    return rv_calib_error(doc, 0,
                          "the projection of the rectified %s camera must be f 0 cx Tx, 0 f cy 0, "
                          "0 0 1 0 with f > 0",
                          sides[v]);
  return RV_OK;
}

static RvStatus check_rectification(const CalibDocument *doc, const RvCalibration *out) {
  static const char *const names[2] = {"the rectifying rotation R1 of the left camera",
                                       "the rectifying rotation R2 of the right camera"};
  for (int v = 0; v < 2; v++) {
    RV_TRY(check_rotation(doc, names[v], out->view[v].rotation));
    RV_TRY(check_projection(doc, out->view[v].projection, v));
  }
  const double *l = out->view[0].projection, *r = out->view[1].projection;
  if (fabs(l[0] - r[0]) > 1e-3 * l[0] || fabs(l[5] - r[5]) > 1e-3 * l[5] ||
      fabs(l[6] - r[6]) > 1e-3 * l[5])
    return rv_calib_error(doc, 0,
                          "the projections do not belong together: focal lengths %g and %g px, cy "
                          "%g and %g px; rows cannot match",
                          l[0], r[0], l[6], r[6]);
  return RV_OK;
}

/* Pose from R1, R2 and the baseline: X_rect = R1 X_left, and R2 X_right = X_rect - (B, 0, 0). */
static void derive_pose(RvCalibration *out) {
  double inverse[9];
  rv_mat3_transpose(out->view[1].rotation, inverse);
  rv_mat3_multiply(inverse, out->view[0].rotation, out->rotation);
  const double shift[3] = {-rv_calib_baseline(out), 0, 0};
  rv_mat3_apply(inverse, shift, out->translation);
  out->has_pose = 1;
}

static RvStatus check_pose(const CalibDocument *doc, const RvCalibration *c) {
  const double *t = c->translation, norm = rv_vec3_norm(t);
  RV_TRY(check_rotation(doc, "R (pose of the right camera)", c->rotation));
  if (!(norm > 0) || !isfinite(norm))
    return rv_calib_error(doc, 0,
                          "the baseline is 0: both cameras have the same position (is Tx of the "
                          "right projection 0, or is it the left camera's file?)");
  if (!(fabs(t[0]) > fabs(t[1])))
    return rv_calib_error(doc, 0,
                          "the cameras stand above each other (T = %g, %g, %g): only horizontal "
                          "rigs are supported, rotate the frames with videoflip and calibrate them",
                          t[0], t[1], t[2]);
  return RV_OK;
}

RvStatus rv_calib_check(const CalibDocument *doc, const RvCalibration *c) {
  for (int v = 0; v < 2; v++)
    RV_TRY(check_view(doc, &c->view[v], v));
  if (c->view[0].width != c->view[1].width || c->view[0].height != c->view[1].height)
    return rv_calib_error(doc, 0,
                          "the cameras were calibrated at different sizes, %d x %d and %d x %d px",
                          c->view[0].width, c->view[0].height, c->view[1].width, c->view[1].height);
  if (c->view[0].lens != c->view[1].lens)
    return rv_calib_error(doc, 0, "one camera has a fisheye lens and the other does not");
  if (!c->has_rectification && !c->has_pose)
    return rv_calib_error(doc, 0, "has neither a pose nor a rectification");
  if (c->has_rectification)
    RV_TRY(check_rectification(doc, c));
  return c->has_pose ? check_pose(doc, c) : RV_OK;
}

static void warn_of_baseline(RvCalibration *c) {
  const double norm = rv_vec3_norm(c->translation);
  if (rv_calib_baseline(c) < 0)
    rv_calib_warn(c,
                  "The file lists the right camera first (T.x = %g): swap the views or the cameras "
                  "in the file.",
                  c->translation[0]);
  if (norm < BASELINE_MIN || norm > BASELINE_MAX)
    rv_calib_warn(c, "The baseline is %g m: the file is probably in %s, set baseline-scale.", norm,
                  norm > BASELINE_MAX ? "mm (0.001) or in squares of the board (their side in m)"
                                      : "another unit");
}

RvStatus rv_calib_finish(const CalibInput *input, RvCalibration *out) {
  const CalibDocument *doc = input->docs[0];
  const double scale = input->options->baseline_scale;
  for (int v = 0; v < 2; v++)
    for (int i = 3; i < 12; i += 4)
      out->view[v].projection[i] *= scale;
  for (int i = 0; i < 3; i++)
    out->translation[i] *= scale;
  RV_TRY(rv_calib_check(doc, out));
  if (out->has_pose) {
    rv_mat3_orthonormalize(out->rotation);
  } else {
    derive_pose(out);
    RV_TRY(check_pose(doc, out));
  }
  warn_of_baseline(out);
  return RV_OK;
}

/* --- Size of the frames ---------------------------------------------------------------------- */

static void scale_view(RvCalibrationView *view, double sx, double sy) {
  view->fx *= sx;
  view->fy *= sy;
  view->cx = (view->cx + 0.5) * sx - 0.5;
  view->cy = (view->cy + 0.5) * sy - 0.5;
}

static void scale_projection(double p[12], double sx, double sy) {
  p[0] *= sx;
  p[3] *= sx;
  p[2] = (p[2] + 0.5) * sx - 0.5;
  p[5] *= sy;
  p[7] *= sy;
  p[6] = (p[6] + 0.5) * sy - 0.5;
}

static RvStatus check_fit(const RvCalibration *c, const RvLog *log) {
  for (int v = 0; v < 2; v++) {
    const RvCalibrationView *view = &c->view[v];
    const double w = view->width;
    RV_REQUIRE(log,
               view->fx >= FOCAL_MIN * w && view->fx <= FOCAL_MAX * w &&
                   view->fy >= FOCAL_MIN * w && view->fy <= FOCAL_MAX * w,
               "calibration: the focal lengths of the %s camera are %g and %g px, must be %g to %g "
               "times the width of the views, %d px",
               sides[v], view->fx, view->fy, FOCAL_MIN, FOCAL_MAX, view->width);
    RV_REQUIRE(log,
               fabs(view->cx - w / 2) < CENTER_MAX * w &&
                   fabs(view->cy - view->height / 2.0) < CENTER_MAX * w,
               "calibration: the principal point of the %s camera is (%g, %g), too far from the "
               "center of views of %d x %d px: was it calibrated at another size?",
               sides[v], view->cx, view->cy, view->width, view->height);
  }
  return RV_OK;
}

/* A calibration without sizes: believed when the principal points look like those of this size. */
static void take_size(RvCalibration *c, int width, int height) {
  for (int v = 0; v < 2; v++) {
    c->view[v].width = width;
    c->view[v].height = height;
    const double cx = c->view[v].cx;
    if (v == 0 && (cx < CENTER_LOW * width || cx > CENTER_HIGH * width))
      rv_calib_warn(
          c,
          "The file does not contain the image size and its principal point is at x = %.0f "
          "px: was it calibrated for about %.0f px instead of %d px?",
          cx, 2 * cx, width);
  }
}

RvStatus rv_calibration_fit(RvCalibration *c, int width, int height, const RvLog *log) {
  if (!c)
    return RV_ERR_ARG;
  RV_REQUIRE(log, width >= 1 && width <= RV_MAX_SIDE && height >= 1 && height <= RV_MAX_SIDE,
             "calibration: the view size is %d x %d px, must be 1 to %d each", width, height,
             RV_MAX_SIDE);
  const int w = c->view[0].width, h = c->view[0].height;
  if (w == 0 || h == 0) {
    RvCalibration sized = *c;
    take_size(&sized, width, height);
    RV_TRY(check_fit(&sized, log));
    *c = sized;
    return RV_OK;
  }
  const double sx = (double)width / w, sy = (double)height / h;
  RV_REQUIRE(log, fabs(sx / sy - 1) <= ASPECT_TOLERANCE,
             "calibration: made for views of %d x %d px, the frames have views of %d x %d px, "
             "another aspect ratio: calibrate at this size or scale the frames",
             w, h, width, height);
  RvCalibration scaled = *c;
  for (int v = 0; v < 2; v++) {
    scaled.view[v].width = width;
    scaled.view[v].height = height;
    scale_view(&scaled.view[v], sx, sy);
    scale_projection(scaled.view[v].projection, sx, sy);
  }
  scaled.rectified_width = (int)lround(c->rectified_width * sx);
  scaled.rectified_height = (int)lround(c->rectified_height * sy);
  RV_TRY(check_fit(&scaled, log));
  *c = scaled;
  return RV_OK;
}
