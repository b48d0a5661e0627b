/* SPDX-License-Identifier: MIT */
/* rectify_reference.h: rectification as rectify.h states it, sample by sample, from the rectified
 * cameras on; shares nothing with the engines. */
#ifndef RV_RECTIFY_REFERENCE_H
#define RV_RECTIFY_REFERENCE_H

#include "convert/convert_picture_cases.h"
#include "rectify/rectify.h"

/* Fills `out`; the fourth byte of 4-byte formats too. */
void rectify_reference(const RvRectifyConfig *config, const CasePicture *in, CasePicture *out);

/* Source of the point (x, y) of an output view, px of the input view; 0 behind the camera. */
int rectify_reference_source(const RvRectifyGeometry *g, int view, double x, double y, double *u,
                             double *v);

#endif
