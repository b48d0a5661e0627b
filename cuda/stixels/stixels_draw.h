/* SPDX-License-Identifier: MIT */
/* stixels_draw.h: renders a list of stixels to rasters, for drawing; needs no object. */
#ifndef RV_STIXELS_DRAW_H
#define RV_STIXELS_DRAW_H

#include "rv.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the raster of classes: 1 + RvStixelClass of sky and of stixels without a semantic
 * class, else RV_STIXELS_DRAWN_SEMANTIC + the semantic class (0..31); and RV_STIXELS_DRAWN_BAND
 * more where the disparity of the plane is in an odd band of RV_STIXELS_BAND px, which shows
 * slanted planes as stripes. */
#define RV_STIXELS_DRAWN_SEMANTIC 4
#define RV_STIXELS_DRAWN_BAND 36
#define RV_STIXELS_DRAWN (2 * RV_STIXELS_DRAWN_BAND) /* number of values */
#define RV_STIXELS_BAND 4                            /* px */

/* All of one size, in the memory of the engine. Rasters with data NULL are not computed; disparity
 * or classes is required. */
typedef struct RvStixelsRasters {
  RvPlane disparity; /* RV_U16, 1/16 px of the stixels' planes, at least 1 on ground and objects, 0
                      * on sky and outside */
  RvPlane classes;   /* RV_U8, as above; 0 outside */
  RvPlane outline;   /* RV_U8, 255 in the top row and the left column of every ground and object
                      * stixel, 0 elsewhere */
} RvStixelsRasters;

/* Draws `count` records, aligned to 4 bytes, in the memory of the engine. Stixels outside the
 * rasters and invalid classes are ignored; where stixels overlap the result is one of them.
 * stixel_width: px, 1..64. Neither allocates nor waits. The CPU engine uses one thread. RV_ERR_ARG
 * after logging which argument is invalid. */
RV_API RvStatus rv_stixels_draw(const RvStixel *list, uint32_t count, int stixel_width,
                                const RvStixelsRasters *rasters, RvEngine engine, RvStream stream,
                                const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
