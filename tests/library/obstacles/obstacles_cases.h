/* SPDX-License-Identifier: MIT */
/* obstacles_cases.h: cases of the functions that have no engine, and the timed rows. */
#ifndef RV_OBSTACLES_CASES_H
#define RV_OBSTACLES_CASES_H

#include "rvcheck.h"

void obstacles_host_parity(RvCheck *check);
void obstacles_bench(RvCheck *check);

#endif
