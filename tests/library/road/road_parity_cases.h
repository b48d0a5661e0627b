/* SPDX-License-Identifier: MIT */
/* road_parity_cases.h: for road_cases.c alone. */
#ifndef RV_ROAD_PARITY_CASES_H
#define RV_ROAD_PARITY_CASES_H

#include "rvcheck.h"

void rv_road_parity_cases(RvCheck *check);

/* The estimated number of models. */
void rv_road_clusters_cases(RvCheck *check);

/* The benchmark cases. */
void rv_road_bench_cases(RvCheck *check);

#endif
