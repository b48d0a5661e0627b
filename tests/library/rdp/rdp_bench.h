/* SPDX-License-Identifier: MIT */
/* rdp_bench.h: the timed rows of column segmentation. */
#ifndef RDP_BENCH_CASES_H
#define RDP_BENCH_CASES_H

#include "rvcheck.h"

void rdp_bench(RvCheck *check);

#endif
