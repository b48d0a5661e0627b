/* SPDX-License-Identifier: MIT */
/* lanes_bench.h: timed rows of the lane lines. */
#ifndef RV_LANES_BENCH_H
#define RV_LANES_BENCH_H

#include "rvcheck.h"

void lanes_bench(RvCheck *check);

#endif
