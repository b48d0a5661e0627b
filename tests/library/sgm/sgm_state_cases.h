/* SPDX-License-Identifier: MIT */
/* sgm_state_cases.h: cases of what an object is made of and what it measures. */
#ifndef RV_SGM_STATE_CASES_H
#define RV_SGM_STATE_CASES_H

#include "rvcheck.h"

void rv_sgm_state_cases(RvCheck *check);

#endif
