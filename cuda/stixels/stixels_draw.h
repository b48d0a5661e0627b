/* stixels_draw.h: a list of stixels turned into rasters, for drawing; needs no object. */
#ifndef RV_STIXELS_DRAW_H
#define RV_STIXELS_DRAW_H

#include "rv.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* disparity: RV_U16, 1/16 px of the stixels' planes, at least 1 on ground and objects, 0 on sky and
 * outside. outline: RV_U8 of the same size, 255 in the top row and the left column of every ground
 * and object stixel, 0 elsewhere; or data NULL. The list may come from anywhere: stixels that do
 * not begin inside the rasters are left out, where some overlap the result is one of them.
 * stixel_width: px, 1..64. `count` records, aligned to 4 bytes, in the memory of the engine, as are
 * the rasters. Neither allocates nor waits. The CPU engine uses one thread. */
RV_API RvStatus rv_stixels_draw(const RvStixel *list, uint32_t count, int stixel_width,
                                const RvPlane *disparity, const RvPlane *outline, RvEngine engine,
                                RvStream stream, const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
