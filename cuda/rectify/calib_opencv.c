/* SPDX-License-Identifier: MIT */
/* calib_opencv.c: OpenCV FileStorage with both cameras, in one file or in two that complete each
 * other (intrinsics.yml, extrinsics.yml), and the same names in plain YAML. */
#include <string.h>

#include "rectify/calib_fields.h"
#include "rectify/rectify_math.h"

/* Names in use for one thing, first match wins; left and right. */
#define NAMES_MAX 7
typedef const char *Names[NAMES_MAX];

static const Names matrix_names[2] = {
    {"M1", "K1", "cameraMatrix1", "CM1", "left_camera_matrix", "LEFT.K"},
    {"M2", "K2", "cameraMatrix2", "CM2", "right_camera_matrix", "RIGHT.K"}};
static const Names distortion_names[2] = {
    {"D1", "dist1", "distCoeffs1", "left_distortion_coefficients", "LEFT.D"},
    {"D2", "dist2", "distCoeffs2", "right_distortion_coefficients", "RIGHT.D"}};
static const Names rotation_names[2] = {{"R1", "LEFT.R"}, {"R2", "RIGHT.R"}};
static const Names projection_names[2] = {{"P1", "LEFT.P"}, {"P2", "RIGHT.P"}};
static const Names pose_names[2] = {{"R", "rvec"}, {"T", "tvec"}};
static const Names width_names = {"image_width", "imageWidth", "LEFT.width", "width"};
static const Names height_names = {"image_height", "imageHeight", "LEFT.height", "height"};
static const Names size_names = {"image_size", "imageSize", "size"};

/* The file that has one of the names, and the name; NULL when none has. */
static const CalibDocument *find(const CalibInput *input, const Names names, const char **key) {
  for (int n = 0; n < NAMES_MAX && names[n]; n++) {
    char data[CALIB_KEY_MAX];
    const size_t length = strlen(names[n]);
    memcpy(data, names[n], length);
    memcpy(data + length, ".data", 6);
    for (int i = 0; i < input->count; i++)
      if (rv_calib_find(input->docs[i], names[n]) || rv_calib_find(input->docs[i], data)) {
        *key = names[n];
        return input->docs[i];
      }
  }
  return NULL;
}

/* Up to `capacity` numbers under one of the names; *count is 0 without. */
static RvStatus numbers(const CalibInput *input, const Names names, double *out, int capacity,
                        int *count, const CalibDocument **doc, const char **key) {
  *count = 0;
  *doc = find(input, names, key);
  return *doc ? rv_calib_numbers(*doc, *key, out, capacity, count) : RV_OK;
}

static RvStatus missing(const CalibInput *input, const Names names, const char *what) {
  const CalibDocument *doc = input->docs[0];
  if (rv_calib_find(doc, "camera_matrix.data"))
    return rv_calib_error(doc, 0,
                          "holds one camera (camera_matrix) and no pose between two: calibrate "
                          "both cameras together, see roadvision calibrate");
  return rv_calib_error(doc, 0, "%s is missing: expected %s (also named %s, %s, ...)", names[0],
                        what, names[1], names[2] ? names[2] : names[0]);
}

/* Exactly `count` numbers; *found tells whether they are there. */
static RvStatus exact(const CalibInput *input, const Names names, double *out, int count,
                      int *found) {
  double values[16];
  const CalibDocument *doc;
  const char *key = NULL;
  RV_TRY(numbers(input, names, values, 16, found, &doc, &key));
  if (*found && *found != count)
    return rv_calib_error(doc, rv_calib_line(doc, key), "%s has %d numbers, %d are expected", key,
                          *found, count);
  memcpy(out, values, (size_t)*found * sizeof *out);
  return RV_OK;
}

static RvStatus read_camera(const CalibInput *input, RvCalibration *out, int view) {
  static const char *const whose[2] = {"the camera matrix of the left camera",
                                       "the camera matrix of the right camera"};
  static const char *const distortion[2] = {"the distortion coefficients of the left camera",
                                            "the distortion coefficients of the right camera"};
  static const Names model_names = {"distortion_model", "camera_model"};
  double values[16];
  const CalibDocument *doc;
  const char *key = NULL;
  int count;
  RV_TRY(numbers(input, matrix_names[view], values, 16, &count, &doc, &key));
  if (!count)
    return missing(input, matrix_names[view], whose[view]);
  if (count != 9)
    return rv_calib_error(doc, rv_calib_line(doc, key), "%s has %d numbers, 9 are expected", key,
                          count);
  RV_TRY(rv_calib_set_matrix(doc, rv_calib_line(doc, key), key, values, &out->view[view]));
  RV_TRY(numbers(input, distortion_names[view], values, 14, &count, &doc, &key));
  if (!doc)
    return missing(input, distortion_names[view], distortion[view]);
  const char *model_key = NULL;
  const CalibDocument *model_doc = find(input, model_names, &model_key);
  return rv_calib_set_distortion(input, doc, key, values, count,
                                 model_doc ? rv_calib_find(model_doc, model_key) : NULL, out, view);
}

/* R as a matrix or a rotation vector, and T. */
static RvStatus read_pose(const CalibInput *input, RvCalibration *out) {
  double rotation[16];
  const CalibDocument *doc;
  const char *key = NULL;
  int count, found;
  RV_TRY(numbers(input, pose_names[0], rotation, 9, &count, &doc, &key));
  RV_TRY(exact(input, pose_names[1], out->translation, 3, &found));
  if (!count || !found)
    return RV_OK;
  if (count != 9 && count != 3)
    return rv_calib_error(doc, rv_calib_line(doc, key),
                          "%s has %d numbers, 9 (matrix) or 3 (rotation vector) are expected", key,
                          count);
  if (count == 3)
    rv_mat3_from_rodrigues(rotation, out->rotation);
  else
    memcpy(out->rotation, rotation, sizeof out->rotation);
  out->has_pose = 1;
  return RV_OK;
}

static RvStatus read_size(const CalibInput *input, RvCalibration *out) {
  int width = 0, height = 0, found;
  double size[2];
  const char *key;
  const CalibDocument *doc = find(input, width_names, &key);
  if (doc)
    RV_TRY(rv_calib_side(doc, key, &width));
  doc = find(input, height_names, &key);
  if (doc)
    RV_TRY(rv_calib_side(doc, key, &height));
  RV_TRY(exact(input, size_names, size, 2, &found));
  if (found && !(size[0] >= 1 && size[0] <= RV_MAX_SIDE && size[1] >= 1 && size[1] <= RV_MAX_SIDE))
    return rv_calib_error(input->docs[0], 0, "the image size is %g x %g, must be 1 to %d", size[0],
                          size[1], RV_MAX_SIDE);
  if (found) {
    width = (int)size[0];
    height = (int)size[1];
  }
  for (int v = 0; v < 2 && width && height; v++) {
    out->view[v].width = width;
    out->view[v].height = height;
  }
  return RV_OK;
}

RvStatus rv_calib_read_opencv(const CalibInput *input, RvCalibration *out) {
  int rotations = 0, projections = 0;
  for (int v = 0; v < 2; v++) {
    int found;
    RV_TRY(read_camera(input, out, v));
    RV_TRY(exact(input, rotation_names[v], out->view[v].rotation, 9, &found));
    rotations += found > 0;
    RV_TRY(exact(input, projection_names[v], out->view[v].projection, 12, &found));
    projections += found > 0;
  }
  out->has_rectification = rotations == 2 && projections == 2;
  RV_TRY(read_pose(input, out));
  RV_TRY(read_size(input, out));
  if (!out->has_pose && !out->has_rectification)
    return rv_calib_error(input->docs[0], 0,
                          "R and T are missing: expected the pose of the right camera, or R1, R2, "
                          "P1 and P2%s",
                          input->count == 1 ? "; extrinsics in a second file go into "
                                              "calibration-right"
                                            : "");
  return RV_OK;
}
