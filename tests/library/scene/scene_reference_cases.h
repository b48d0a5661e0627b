/* SPDX-License-Identifier: MIT */
/* scene_reference_cases.h: the renderer compared with the reference implementation. */
#ifndef RV_SCENE_REFERENCE_CASES_H
#define RV_SCENE_REFERENCE_CASES_H

#include "rvcheck.h"

void rv_scene_reference_cases(RvCheck *check);

#endif
