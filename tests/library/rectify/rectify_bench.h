/* SPDX-License-Identifier: MIT */
/* rectify_bench.h: benchmark cases of rectification. */
#ifndef RV_RECTIFY_BENCH_H
#define RV_RECTIFY_BENCH_H

#include "rvcheck.h"

void rectify_bench(RvCheck *check);

#endif
