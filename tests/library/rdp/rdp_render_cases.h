/* SPDX-License-Identifier: MIT */
/* rdp_render_cases.h: cases of rdp_render.h. */
#ifndef RDP_RENDER_CASES_H
#define RDP_RENDER_CASES_H

#include "rvcheck.h"

void rdp_render_parity(RvCheck *check);

#endif
