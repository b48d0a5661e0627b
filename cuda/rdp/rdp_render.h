/* SPDX-License-Identifier: MIT */
/* rdp_render.h: a list of segments turned back into rasters, for drawing. */
#ifndef RV_RDP_RENDER_H
#define RV_RDP_RENDER_H

#include "rv.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* disparity: RV_U16, 1/16 px along the segments (rounded as in rdp.h), 0 elsewhere. ends: RV_U8 of
 * the same size, 255 at both ends of every segment, 0 elsewhere; or data NULL. The list may come
 * from anywhere: segments that are not inside the rasters are ignored; where segments overlap
 * by more than an end, the result is one of them. `count` records, aligned to 4 bytes, in the
 * memory of the engine, as are the rasters. Neither allocates nor waits; threads as in rdp.h. */
RV_API RvStatus rv_rdp_render(const RvSegment *segments, uint32_t count, const RvPlane *disparity,
                              const RvPlane *ends, int threads, RvEngine engine, RvStream stream,
                              const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
