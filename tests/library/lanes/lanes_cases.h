/* SPDX-License-Identifier: MIT */
/* lanes_cases.h: parts of the cases of lanes. */
#ifndef RV_LANES_CASES_H
#define RV_LANES_CASES_H

#include "rvcheck.h"

/* Measurement, lane and tracks. */
void lanes_host_parity(RvCheck *check);

#endif
