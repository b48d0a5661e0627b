/* SPDX-License-Identifier: MIT */
/* calib_kitti.c: calibrations of data sets: KITTI (rectified and raw), Middlebury. */
#include <stdio.h>
#include <string.h>

#include "rectify/calib_fields.h"
#include "rectify/rectify_math.h"

/* Number of the left camera: an even one. -1 (the pair of color cameras) is 2 when there is one. */
static RvStatus left_camera(const CalibInput *input, const char *last_key, int *left) {
  const CalibDocument *doc = input->docs[0];
  const int pair = input->options->pair, has_color = rv_calib_find(doc, last_key) != NULL;
  *left = pair < 0 ? 2 * has_color : 2 * pair;
  if (*left > 2 * has_color)
    return rv_calib_error(doc, 0, "pair %d does not exist: the file has %d", pair, 1 + has_color);
  return RV_OK;
}

RvStatus rv_calib_read_kitti(const CalibInput *input, RvCalibration *out) {
  int left;
  RV_TRY(left_camera(input, "P3", &left));
  for (int v = 0; v < 2; v++) {
    const char key[3] = {'P', (char)('0' + left + v), 0};
    double p[12];
    RV_TRY(rv_calib_required(input->docs[0], key, p, 12, "the projection of a rectified camera"));
    rv_calib_set_rectified(&out->view[v], p);
  }
  out->has_rectification = 1;
  return RV_OK;
}

/* --- KITTI raw ------------------------------------------------------------------------------- */

typedef struct RawCamera {
  double s[2], k[9], d[5], r[9], t[3], s_rect[2], r_rect[9], p_rect[12];
} RawCamera;

static RvStatus read_raw(const CalibDocument *doc, int camera, RawCamera *out) {
  const struct {
    const char *name, *meaning;
    double *to;
    int count;
  } fields[] = {{"S", "width and height of the raw images", out->s, 2},
                {"K", "the camera matrix", out->k, 9},
                {"D", "the distortion coefficients", out->d, 5},
                {"R", "the rotation from camera 0", out->r, 9},
                {"T", "the translation from camera 0", out->t, 3},
                {"S_rect", "width and height of the rectified images", out->s_rect, 2},
                {"R_rect", "the rectifying rotation", out->r_rect, 9},
                {"P_rect", "the projection of the rectified camera", out->p_rect, 12}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    char key[16];
    snprintf(key, sizeof key, "%s_%02d", fields[i].name, camera);
    RV_TRY(rv_calib_required(doc, key, fields[i].to, fields[i].count, fields[i].meaning));
  }
  for (int i = 0; i < 2; i++)
    if (!(out->s[i] >= 1 && out->s[i] <= RV_MAX_SIDE && out->s_rect[i] >= 1 &&
          out->s_rect[i] <= RV_MAX_SIDE))
      return rv_calib_error(doc, 0, "S_%02d and S_rect_%02d must be 1 to %d", camera, camera,
                            RV_MAX_SIDE);
  return RV_OK;
}

RvStatus rv_calib_read_kitti_raw(const CalibInput *input, RvCalibration *out) {
  const CalibDocument *doc = input->docs[0];
  RawCamera cameras[2];
  int left;
  RV_TRY(left_camera(input, "P_rect_03", &left));
  for (int v = 0; v < 2; v++)
    RV_TRY(read_raw(doc, left + v, &cameras[v]));
  const RawCamera *c = cameras;
  const int w = (int)c->s_rect[0], h = (int)c->s_rect[1];
  const int is_rectified = input->options->width == w && input->options->height == h;
  for (int v = 0; v < 2; v++) {
    RvCalibrationView *view = &out->view[v];
    if (is_rectified) {
      rv_calib_set_rectified(view, cameras[v].p_rect);
      view->width = w;
      view->height = h;
      continue;
    }
    char key[16];
    snprintf(key, sizeof key, "K_%02d", left + v);
    RV_TRY(rv_calib_set_matrix(doc, rv_calib_line(doc, key), key, cameras[v].k, view));
    view->width = (int)cameras[v].s[0];
    view->height = (int)cameras[v].s[1];
    memcpy(view->distortion, cameras[v].d, sizeof cameras[v].d);
    memcpy(view->rotation, cameras[v].r_rect, sizeof view->rotation);
    memcpy(view->projection, cameras[v].p_rect, sizeof view->projection);
  }
  out->has_rectification = 1;
  if (is_rectified)
    return RV_OK;
  out->rectified_width = w;
  out->rectified_height = h;
  double inverse[9], moved[3];
  rv_mat3_transpose(cameras[0].r, inverse);
  rv_mat3_multiply(cameras[1].r, inverse, out->rotation);
  rv_mat3_apply(out->rotation, cameras[0].t, moved);
  for (int i = 0; i < 3; i++)
    out->translation[i] = cameras[1].t[i] - moved[i];
  out->has_pose = 1;
  return RV_OK;
}

/* --- Middlebury ------------------------------------------------------------------------------ */

RvStatus rv_calib_read_middlebury(const CalibInput *input, RvCalibration *out) {
  const CalibDocument *doc = input->docs[0];
  static const char *const keys[2] = {"cam0", "cam1"};
  double baseline;
  RV_TRY(rv_calib_required(doc, "baseline", &baseline, 1, "the baseline in mm"));
  for (int v = 0; v < 2; v++) {
    double k[9];
    RV_TRY(rv_calib_required(doc, keys[v], k, 9, "the camera matrix"));
    RV_TRY(rv_calib_set_matrix(doc, rv_calib_line(doc, keys[v]), keys[v], k, &out->view[v]));
    const double p[12] = {k[0], 0, k[2], v ? -k[0] * baseline / 1000 : 0, 0, k[4], k[5], 0, 0,
                          0,    1, 0};
    rv_calib_set_rectified(&out->view[v], p);
    RV_TRY(rv_calib_side(doc, "width", &out->view[v].width));
    RV_TRY(rv_calib_side(doc, "height", &out->view[v].height));
  }
  out->has_rectification = 1;
  return RV_OK;
}
