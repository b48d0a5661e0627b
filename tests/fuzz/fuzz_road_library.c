/* SPDX-License-Identifier: MIT */
/* fuzz_road_library.c: any bytes as a saved library of road models. */
#include "fuzz.h"
#include "road/road_save_cases.h"

FUZZ_TARGET(rv_road_fuzz_library);
