/* SPDX-License-Identifier: MIT */
/* sgm_bench.h: rows of sgm_bench.c. */
#ifndef RV_SGM_BENCH_H
#define RV_SGM_BENCH_H

#include "rvcheck.h"

void rv_sgm_bench(RvCheck *check);

#endif
