/* SPDX-License-Identifier: MIT */
/* ground_bench.h: the timed rows of the ground estimation. */
#ifndef RV_GROUND_BENCH_H
#define RV_GROUND_BENCH_H

#include "rvcheck.h"

void ground_bench(RvCheck *check);

#endif
