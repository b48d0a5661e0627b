/* SPDX-License-Identifier: MIT */
/* calib_fields.h: typed access to the entries of a calibration file, and the readers of the
 * formats. A function that finds an entry of the wrong kind logs an error with its line.
 * Internal. */
#ifndef RV_CALIB_FIELDS_H
#define RV_CALIB_FIELDS_H

#include "rectify/calib_document.h"
#include "rectify/calibration.h"

/* What a reader is given: the files as documents. */
typedef struct CalibInput {
  CalibDocument *docs[2];
  int count;
  const RvCalibrationOptions *options;
} CalibInput;

/* A format. `read` fills views and rectification or pose, all else is done by calibration.c. */
typedef struct CalibFormat {
  const char *name;
  const char *title; /* for messages: "a ROS camera_info file" */
  RvStatus (*parse)(CalibDocument *doc);
  RvStatus (*read)(const CalibInput *input, RvCalibration *out);
  int cameras; /* per file: 1, or 2 and more */
} CalibFormat;

RvStatus rv_calib_read_opencv(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_ros(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_ros_ini(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_kalibr(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_euroc(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_kitti(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_kitti_raw(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_middlebury(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_zed(const CalibInput *input, RvCalibration *out);
RvStatus rv_calib_read_depthai(const CalibInput *input, RvCalibration *out);

/* "key" or "key.data" with its rows, cols and dt. Stores up to `capacity` finite numbers; *count is
 * 0 when there is no such entry. */
RvStatus rv_calib_numbers(const CalibDocument *doc, const char *key, double *out, int capacity,
                          int *count);

/* The same for exactly `count` numbers; a missing entry is an error that states what it is. */
RvStatus rv_calib_required(const CalibDocument *doc, const char *key, double *out, int count,
                           const char *meaning);

/* An integer 1..RV_MAX_SIDE; *out stays as it is when there is no such entry. */
RvStatus rv_calib_side(const CalibDocument *doc, const char *key, int *out);

/* fx, fy, cx, cy of a 3 x 3 camera matrix from entry `key`. */
RvStatus rv_calib_set_matrix(const CalibDocument *doc, int line, const char *key, const double k[9],
                             RvCalibrationView *view);

/* Coefficients in OpenCV's order: 0, 4, 5, 8, 12 or 14. `model` is the name of the distortion
 * model, NULL when the file has none. */
RvStatus rv_calib_set_distortion(const CalibInput *input, const CalibDocument *doc, const char *key,
                                 const double *values, int count, const CalibEntry *model,
                                 RvCalibration *out, int view);

/* Projection and camera matrix of a camera whose images are rectified. */
void rv_calib_set_rectified(RvCalibrationView *view, const double p[12]);

/* Adds a sentence to out->warning. */
void rv_calib_warn(RvCalibration *out, const char *format, ...) RV_PRINTF(2, 3);

/* Line of an entry, 0 without. */
int rv_calib_line(const CalibDocument *doc, const char *key);

#endif
