/* SPDX-License-Identifier: MIT */
/* scene_light_cases.h: the light of `offroad` from frame to frame: see scene_cases.c. */
#ifndef RV_SCENE_LIGHT_CASES_H
#define RV_SCENE_LIGHT_CASES_H

#include "rvcheck.h"

void rv_scene_light_cases(RvCheck *check);

#endif
