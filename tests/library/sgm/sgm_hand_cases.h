/* SPDX-License-Identifier: MIT */
/* sgm_hand_cases.h: cases of sgm_hand_cases.c. */
#ifndef RV_SGM_HAND_CASES_H
#define RV_SGM_HAND_CASES_H

#include "rvcheck.h"

void rv_sgm_hand_cases(RvCheck *check);

#endif
