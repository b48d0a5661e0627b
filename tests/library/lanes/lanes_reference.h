/* SPDX-License-Identifier: MIT */
/* lanes_reference.h: the reference implementation of the lane lines. */
#ifndef RV_LANES_REFERENCE_H
#define RV_LANES_REFERENCE_H

#include "lanes/lanes_stages.h"

/* One frame; `state` is that of the frames before and becomes that of this one. */
void lanes_reference(const RvLanesPlan *plan, const RvLanesSource *source, RvLanesState *state,
                     RvLanesFound *out);

#endif
