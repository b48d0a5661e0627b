/* SPDX-License-Identifier: MIT */
/* rectify_point_cases.h: cases of rv_rectify_point for strong lenses. */
#ifndef RV_RECTIFY_POINT_CASES_H
#define RV_RECTIFY_POINT_CASES_H

#include "rvcheck.h"

void rectify_point_cases(RvCheck *check);

#endif
