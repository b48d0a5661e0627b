/* SPDX-License-Identifier: MIT */
#ifndef RV_SCENE_FACTS_CASES_H
#define RV_SCENE_FACTS_CASES_H

#include "rvcheck.h"

/* Truth beyond single pixels: things, heights, free space, lines. */
void rv_scene_facts_cases(RvCheck *check);

#endif
