/* SPDX-License-Identifier: MIT */
/* calib_check.h: what is done with every calibration, whatever file it came from. Internal. */
#ifndef RV_CALIB_CHECK_H
#define RV_CALIB_CHECK_H

#include "rectify/calib_fields.h"

/* Applies baseline_scale, makes rotations orthonormal, derives the pose where there is only a
 * rectification, and checks the result. */
RvStatus rv_calib_finish(const CalibInput *input, RvCalibration *out);

/* The rules for any calibration; `doc` only gives name and log. RV_ERR_IO after logging. */
RvStatus rv_calib_check(const CalibDocument *doc, const RvCalibration *calibration);

/* m: distance of the cameras as the rectified images see it. Negative: the right camera comes
 * first. */
double rv_calib_baseline(const RvCalibration *calibration);

#endif
