/* SPDX-License-Identifier: MIT */
/* rectify_geometry.h: the rectified cameras of a checked config. Internal. */
#ifndef RV_RECTIFY_GEOMETRY_H
#define RV_RECTIFY_GEOMETRY_H

#include "rectify/rectify.h"

RvStatus rv_rectify_make_geometry(const RvRectifyConfig *config, RvRectifyGeometry *out);

#endif
