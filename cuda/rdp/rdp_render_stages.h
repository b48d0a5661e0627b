/* SPDX-License-Identifier: MIT */
/* rdp_render_stages.h: the CUDA side of rdp_render.h, and the rule that both share. Not installed.
 */
#ifndef RV_RDP_RENDER_STAGES_H
#define RV_RDP_RENDER_STAGES_H

#include "rdp/rdp_render.h"
#include "rv_hd.h"

#ifdef __cplusplus
extern "C" {
#endif

RvStatus rv_rdp_render_cuda(const RvSegment *segments, uint32_t count, const RvPlane *disparity,
                            const RvPlane *ends, RvStream stream, const RvLog *log);

RV_HD int rv_rdp_is_inside(const RvSegment *s, int width, int height) {
  return s->column < width && s->first <= s->last && s->last < height;
}

#ifdef __cplusplus
}
#endif
#endif
