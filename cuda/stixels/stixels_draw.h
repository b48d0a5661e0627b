/* SPDX-License-Identifier: MIT */
/* stixels_draw.h: a list of stixels turned into rasters, for drawing; needs no object. */
#ifndef RV_STIXELS_DRAW_H
#define RV_STIXELS_DRAW_H

#include "rv.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the raster of classes: 1 + RvStixelClass of sky and of stixels without a semantic
 * class, else RV_STIXELS_DRAWN_SEMANTIC + the semantic class (0..31); and RV_STIXELS_DRAWN_BAND
 * more where the plane's disparity lies in an odd band of RV_STIXELS_BAND px, which shows a slant
 * as stripes. */
#define RV_STIXELS_DRAWN_SEMANTIC 4
#define RV_STIXELS_DRAWN_BAND 36
#define RV_STIXELS_DRAWN (2 * RV_STIXELS_DRAWN_BAND) /* no value is larger than this - 1 */
#define RV_STIXELS_BAND 4                            /* px */

/* All of one size, in the memory of the engine; what has no data is not made, but one of disparity
 * and classes must be. */
typedef struct RvStixelsRasters {
  RvPlane disparity; /* RV_U16, 1/16 px of the stixels' planes, at least 1 on ground and objects, 0
                      * on sky and outside */
  RvPlane classes;   /* RV_U8, as above; 0 outside */
  RvPlane outline;   /* RV_U8, 255 in the top row and the left column of every ground and object
                      * stixel, 0 elsewhere */
} RvStixelsRasters;

/* The list may come from anywhere: stixels that do not begin inside the rasters are left out, and
 * so are classes that no value is for; where some overlap the result is one of them.
 * stixel_width: px, 1..64. `count` records, aligned to 4 bytes, in the memory of the engine.
 * Neither allocates nor waits. The CPU engine uses one thread. */
RV_API RvStatus rv_stixels_draw(const RvStixel *list, uint32_t count, int stixel_width,
                                const RvStixelsRasters *rasters, RvEngine engine, RvStream stream,
                                const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
