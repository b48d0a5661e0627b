/* SPDX-License-Identifier: MIT */
/* road_save_cases.h: save, load, change of parameters: for road_cases.c, and the fuzz target. */
#ifndef RV_ROAD_SAVE_CASES_H
#define RV_ROAD_SAVE_CASES_H

#include "rvcheck.h"

void rv_road_save_cases(RvCheck *check);
void rv_road_library_cases(RvCheck *check);

/* Border and drivable distance; in road_border_cases.c. */
void rv_road_border_cases(RvCheck *check);

/* What the library remembers over frames; in road_memory_cases.c. */
void rv_road_memory_cases(RvCheck *check);

/* Frames without seeds after one with seeds; in road_kept_cases.c. */
void rv_road_kept_cases(RvCheck *check);

/* Input without training patches. */
void rv_road_bad_cases(RvCheck *check);

/* Arbitrary bytes as a library. */
void rv_road_fuzz_library(const uint8_t *bytes, size_t size);

#endif
