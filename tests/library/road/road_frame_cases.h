/* SPDX-License-Identifier: MIT */
/* road_frame_cases.h: whole frames through rv_road_run: see road_cases.c. */
#ifndef RV_ROAD_FRAME_CASES_H
#define RV_ROAD_FRAME_CASES_H

#include "rvcheck.h"

void rv_road_frame_cases(RvCheck *check);
void rv_road_fuzz(const uint8_t *bytes, size_t size);

#endif
