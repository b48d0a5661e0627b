/* SPDX-License-Identifier: MIT */
/* calib_ros.c: formats of robotics: ROS camera_info (YAML and INI), Kalibr camchain, EuRoC sensor. */
#include <stdio.h>
#include <string.h>

#include "rectify/calib_fields.h"
#include "rectify/rectify_math.h"

/* --- ROS ------------------------------------------------------------------------------------- */

/* Images are of a part of the sensor or binned: the size in the file is not that of the images. */
static RvStatus check_ros_window(const CalibDocument *doc) {
  static const char *const keys[] = {"binning_x",  "binning_y",    "roi.width",
                                     "roi.height", "roi.x_offset", "roi.y_offset"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    double value;
    int count;
    RV_TRY(rv_calib_numbers(doc, keys[i], &value, 1, &count));
    if (count && value > (i < 2))
      return rv_calib_error(doc, rv_calib_line(doc, keys[i]),
                            "%s is %g: binning and regions of interest are not supported, "
                            "calibrate with the images that are used",
                            keys[i], value);
  }
  return RV_OK;
}

RvStatus rv_calib_read_ros(const CalibInput *input, RvCalibration *out) {
  for (int v = 0; v < 2; v++) {
    const CalibDocument *doc = input->docs[v];
    RvCalibrationView *view = &out->view[v];
    double k[9], d[14];
    int count;
    RV_TRY(rv_calib_side(doc, "image_width", &view->width));
    RV_TRY(rv_calib_side(doc, "image_height", &view->height));
    RV_TRY(check_ros_window(doc));
    RV_TRY(rv_calib_required(doc, "camera_matrix", k, 9, "the camera matrix K"));
    RV_TRY(rv_calib_set_matrix(doc, rv_calib_line(doc, "camera_matrix.data"), "camera_matrix", k,
                               view));
    RV_TRY(rv_calib_numbers(doc, "distortion_coefficients", d, 14, &count));
    const CalibEntry *model = rv_calib_find(doc, "distortion_model");
    const CalibEntry plumb_bob = {.text = "plumb_bob", .length = 9};
    RV_TRY(rv_calib_set_distortion(input, doc, "distortion_coefficients.data", d, count,
                                   model ? model : &plumb_bob, out, v));
    RV_TRY(rv_calib_required(doc, "rectification_matrix", view->rotation, 9,
                             "the rectifying rotation R"));
    RV_TRY(rv_calib_required(doc, "projection_matrix", view->projection, 12, "the projection P"));
  }
  out->has_rectification = 1;
  return RV_OK;
}

/* Section of the n-th camera of all files: its "[name]" and the file. */
static const CalibDocument *ini_camera(const CalibInput *input, int n, char *section) {
  static const char title[] = ".camera matrix";
  for (int i = 0; i < input->count; i++)
    for (size_t e = 0; e < input->docs[i]->entry_count; e++) {
      const char *key = input->docs[i]->entries[e].key;
      const size_t length = strlen(key), tail = sizeof title - 1;
      if (length <= tail || strcmp(key + length - tail, title) != 0 || n-- > 0)
        continue;
      memcpy(section, key, length - tail);
      section[length - tail] = 0;
      return input->docs[i];
    }
  return NULL;
}

RvStatus rv_calib_read_ros_ini(const CalibInput *input, RvCalibration *out) {
  char names[2][CALIB_KEY_MAX];
  const CalibDocument *docs[2];
  for (int v = 0; v < 2; v++) {
    docs[v] = ini_camera(input, v, names[v]);
    if (!docs[v])
      return rv_calib_error(input->docs[0], 0,
                            "holds one camera: give the file of the right camera as "
                            "calibration-right");
  }
  const int swap = strstr(names[0], "right") && strstr(names[1], "left");
  for (int v = 0; v < 2; v++) {
    const CalibDocument *doc = docs[v ^ swap];
    RvCalibrationView *view = &out->view[v];
    char key[4][CALIB_KEY_MAX + 16];
    static const char *const titles[4] = {"camera matrix", "distortion", "rectification",
                                          "projection"};
    for (int i = 0; i < 4; i++)
      snprintf(key[i], sizeof key[i], "%s.%s", names[v ^ swap], titles[i]);
    double k[9], d[14];
    int count;
    RV_TRY(rv_calib_side(doc, "image.width", &view->width));
    RV_TRY(rv_calib_side(doc, "image.height", &view->height));
    RV_TRY(rv_calib_required(doc, key[0], k, 9, "the camera matrix K"));
    RV_TRY(rv_calib_set_matrix(doc, rv_calib_line(doc, key[0]), key[0], k, view));
    RV_TRY(rv_calib_numbers(doc, key[1], d, 14, &count));
    const CalibEntry pinhole = {.text = "plumb_bob", .length = 9};
    RV_TRY(rv_calib_set_distortion(input, doc, key[1], d, count, &pinhole, out, v));
    RV_TRY(rv_calib_required(doc, key[2], view->rotation, 9, "the rectifying rotation R"));
    RV_TRY(rv_calib_required(doc, key[3], view->projection, 12, "the projection P"));
  }
  out->has_rectification = 1;
  return RV_OK;
}

/* --- Kalibr, EuRoC: intrinsics as a list -------------------------------------------------------- */

static RvStatus check_pinhole(const CalibDocument *doc, const char *key) {
  const CalibEntry *model = rv_calib_find(doc, key);
  if (!rv_calib_is(model, "pinhole"))
    return rv_calib_error(doc, model ? model->line : 0, "%s is \"%.*s\": only pinhole is supported",
                          key,
                          model && model->text ? (int)(model->length < 40 ? model->length : 40) : 0,
                          model && model->text ? model->text : "");
  return RV_OK;
}

/* Fields below `prefix`; `coefficients` is the name of the list of distortion coefficients. */
static RvStatus read_listed(const CalibInput *input, const CalibDocument *doc, const char *prefix,
                            const char *coefficients, RvCalibration *out, int v) {
  char key[5][CALIB_KEY_MAX];
  const char *const names[5] = {"camera_model", "intrinsics", "distortion_model", coefficients,
                                "resolution"};
  for (int i = 0; i < 5; i++)
    snprintf(key[i], sizeof key[i], "%s%s", prefix, names[i]);
  RvCalibrationView *view = &out->view[v];
  double k[4], d[14], size[2];
  int count;
  RV_TRY(check_pinhole(doc, key[0]));
  RV_TRY(rv_calib_required(doc, key[1], k, 4, "fx, fy, cx, cy"));
  view->fx = k[0];
  view->fy = k[1];
  view->cx = k[2];
  view->cy = k[3];
  RV_TRY(rv_calib_numbers(doc, key[3], d, 14, &count));
  RV_TRY(rv_calib_set_distortion(input, doc, key[3], d, count, rv_calib_find(doc, key[2]), out, v));
  RV_TRY(rv_calib_required(doc, key[4], size, 2, "width and height"));
  if (!(size[0] >= 1 && size[0] <= RV_MAX_SIDE && size[1] >= 1 && size[1] <= RV_MAX_SIDE))
    return rv_calib_error(doc, rv_calib_line(doc, key[4]), "%s must be 1 to %d", key[4],
                          RV_MAX_SIDE);
  view->width = (int)size[0];
  view->height = (int)size[1];
  return RV_OK;
}

static void split_pose(const double pose[16], double rotation[9], double translation[3]) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++)
      rotation[3 * r + c] = pose[4 * r + c];
    translation[r] = pose[4 * r + 3];
  }
}

RvStatus rv_calib_read_kalibr(const CalibInput *input, RvCalibration *out) {
  const CalibDocument *doc = input->docs[0];
  const int first = input->options->pair < 0 ? 0 : input->options->pair;
  char key[32];
  double pose[16];
  for (int v = 0; v < 2; v++) {
    snprintf(key, sizeof key, "cam%d.", first + v);
    char model[48];
    snprintf(model, sizeof model, "%scamera_model", key);
    if (!rv_calib_find(doc, model))
      return rv_calib_error(doc, 0, "cam%d is missing: expected cameras cam%d and cam%d", first + v,
                            first, first + 1);
    RV_TRY(read_listed(input, doc, key, "distortion_coeffs", out, v));
  }
  snprintf(key, sizeof key, "cam%d.T_cn_cnm1", first + 1);
  RV_TRY(rv_calib_required(doc, key, pose, 16, "the transform from the camera before it, 4 x 4"));
  split_pose(pose, out->rotation, out->translation);
  out->has_pose = 1;
  return RV_OK;
}

/* T_BS is the pose of the camera in the body: X_right = inv(T_right) T_left X_left. */
RvStatus rv_calib_read_euroc(const CalibInput *input, RvCalibration *out) {
  double rotation[2][9], translation[2][3];
  for (int v = 0; v < 2; v++) {
    double pose[16];
    RV_TRY(read_listed(input, input->docs[v], "", "distortion_coefficients", out, v));
    RV_TRY(rv_calib_required(input->docs[v], "T_BS", pose, 16, "the pose of the camera, 4 x 4"));
    split_pose(pose, rotation[v], translation[v]);
  }
  double inverse[9];
  rv_mat3_transpose(rotation[1], inverse);
  rv_mat3_multiply(inverse, rotation[0], out->rotation);
  const double between[3] = {translation[0][0] - translation[1][0],
                             translation[0][1] - translation[1][1],
                             translation[0][2] - translation[1][2]};
  rv_mat3_apply(inverse, between, out->translation);
  out->has_pose = 1;
  return RV_OK;
}
