/* SPDX-License-Identifier: MIT */
/* convert_color_cases.h: cases of rv_convert_color. Tests only. */
#ifndef RV_CONVERT_COLOR_CASES_H
#define RV_CONVERT_COLOR_CASES_H

#include "rvcheck.h"

void convert_color_parity(RvCheck *check);
void convert_color_bench(RvCheck *check);

#endif
