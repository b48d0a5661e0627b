/* SPDX-License-Identifier: MIT */
/* ground_reference.h: slow reference implementation of the ground estimation. It shares the plan and
 * the scalar rules with the engines, no loop and no intermediate array. */
#ifndef RV_GROUND_REFERENCE_H
#define RV_GROUND_REFERENCE_H

#include "ground/ground_stages.h"

/* Estimates the ground of one frame; `state` is all 0 before the first one. `plan` is that of an
 * object of the same config. */
void ground_reference(const RvGroundPlan *plan, const RvPlane *disparity, RvGroundState *state,
                      RvGroundSurface *out);

#endif
