/* SPDX-License-Identifier: MIT */
/* draw.h: drawing on frames of every pixel format, on both engines, bit-identical.
 *
 * An object contains the colors, the font and a list of shapes for one frame size and format.
 * Every function blends with integer arithmetic: luma (or R, G, B) per pixel, chroma per chroma
 * sample as the mean over its pixels; an opacity of 255 gives the color itself, 0 leaves the frame
 * unchanged. An alpha channel becomes more opaque where something is drawn. With RV_CUDA the
 * functions enqueue their work, with RV_CPU they have finished on return; none allocates or waits.
 *
 * Order of use for one frame: rv_draw_disparity and the other overlay functions blend immediately.
 * Shapes and text are collected by rv_draw_rect, rv_draw_line, rv_draw_text, ... and blended by
 * rv_draw_flush, in the order in which they were added. The list is copied to the GPU as kernel
 * arguments, so it can be filled again as soon as rv_draw_flush has returned.
 *
 * With RV_CUDA all flushes of one object use the same scratch memory on the GPU. One stream must
 * order them: enqueue all of them on one stream, or make the next stream wait for the previous
 * flush. For flushes that run concurrently use an object each. */
#ifndef RV_DRAW_H
#define RV_DRAW_H

#include "convert/convert.h"
#include "rv.h"
#include "rv_params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvColormap {
  RV_COLORMAP_TURBO = 0, /* low blue, high red, even steps */
  RV_COLORMAP_JET,       /* low blue, high red */
  RV_COLORMAP_GRAY,      /* low black, high white */
  RV_COLORMAPS           /* their number */
} RvColormap;

/* 8 bit each, not premultiplied; a = 255 is opaque. */
typedef struct RvColor {
  uint8_t r, g, b, a;
} RvColor;

typedef struct RvDrawConfig {
  int width, height;    /* px, 1..RV_MAX_SIDE; no default */
  RvPixelFormat format; /* RV_PIXEL_BGRX */
  RvColormap colormap;  /* RV_COLORMAP_TURBO */
  int bt709;            /* YUV frames: BT.601 (0) or BT.709 (else); 0 */
  int full_range;       /* YUV frames: limited (0) or full range (else); 0 */
  int threads;          /* CPU engine, 0 = all; 0 */
  RvLog log;            /* silent */
} RvDrawConfig;

/* rv_draw_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h. */
RV_ALGORITHM_API(RvDraw, draw);

/* Color of `value` between 0 and `limit` (> 0) in the object's color map, opaque: that of
 * overlays, ramps and shades. Values outside are clamped. */
RV_API RvColor rv_draw_color(const RvDraw *draw, int value, int limit);

/* --- Overlays: blended immediately --------------------------------------------------------------
 * `picture` has the size and format of the config. Planes may have another size: they cover the
 * complete frame, and each pixel uses the sample under its center. */

/* Blends every valid pixel (RV_U16, 0 = invalid) with its color; the others are unchanged. low,
 * high: values of the ends of the color map, 0 <= low < high <= 65535; values outside are clamped.
 * opacity: 0..255. */
RV_API RvStatus rv_draw_disparity(RvDraw *draw, const RvPicture *picture, const RvPlane *disparity,
                                  int low, int high, int opacity, RvStream stream);

/* Blends `color` where the mask sample (RV_U8) is not 0. */
RV_API RvStatus rv_draw_mask(RvDraw *draw, const RvPicture *picture, const RvPlane *mask,
                             RvColor color, RvStream stream);

/* Blends colors[k - 1] where the sample of `labels` (RV_U8) is k, 1..count; other pixels are
 * unchanged. count: 1..RV_DRAW_LABELS. `colors` may change after the call. */
#define RV_DRAW_LABELS 128
RV_API RvStatus rv_draw_labels(RvDraw *draw, const RvPicture *picture, const RvPlane *labels,
                               const RvColor *colors, int count, RvStream stream);

/* A grid of square classified cells of a frame of width x height px, from its top left corner on.
 * Pixels outside of the cells are unchanged. */
typedef struct RvDrawGrid {
  RvPlane mask;      /* RV_U8: cells that are not 0 are blended with `tint` */
  RvPlane marks;     /* RV_U8, same size: cells not 0 get `mark` instead; data NULL: none */
  int width, height; /* px, 1..RV_MAX_SIDE */
  int cell;          /* px of a cell's side there, 1..RV_MAX_SIDE; inside the frame */
  RvColor tint, mark;
  RvColor edge;   /* of the overlaid region, drawn inside it, not along the border of the frame */
  int edge_width; /* px of the frame that is drawn on, 0 (none)..RV_MAX_SIDE */
} RvDrawGrid;

RV_API RvStatus rv_draw_grid(RvDraw *draw, const RvPicture *picture, const RvDrawGrid *grid,
                             RvStream stream);

/* --- Shapes and text: collected, then blended by rv_draw_flush ----------------------------------
 * Coordinates in px, or in 1/16 px where named fx, from the frame's top left corner; pixel (x, y)
 * covers [x, x + 1). Each coordinate lies within RV_DRAW_COORD_MAX px of the corner; parts outside
 * the frame are clipped. The list has a capacity of RV_DRAW_SHAPES shapes; further ones are
 * rejected with RV_ERR_ARG, logged once until the next flush, and the collected ones are kept. */
#define RV_DRAW_SHAPES 4096
#define RV_DRAW_COORD_MAX 32767

/* Filled rectangle. Nothing is drawn when width or height is 0. */
RV_API RvStatus rv_draw_rect(RvDraw *draw, int x, int y, int width, int height, RvColor color);

/* Filled rectangle with round corners of `radius` px (limited to half of the shorter side). */
RV_API RvStatus rv_draw_rounded_rect(RvDraw *draw, int x, int y, int width, int height, int radius,
                                     RvColor color);

/* Anti-aliased line with square ends that reach half a thickness beyond the points. thickness_fx:
 * 1..4096. */
RV_API RvStatus rv_draw_line(RvDraw *draw, int x0_fx, int y0_fx, int x1_fx, int y1_fx,
                             int thickness_fx, RvColor color);

/* Anti-aliased filled convex quadrilateral: x0 y0 x1 y1 x2 y2 x3 y3 in clockwise or
 * counterclockwise order. */
RV_API RvStatus rv_draw_quad(RvDraw *draw, const int corners_fx[8], RvColor color);

/* Rectangle with the colors of the color map, from low at its left (or, when higher than wide, at
 * its bottom) to high. opacity: 0..255. */
RV_API RvStatus rv_draw_ramp(RvDraw *draw, int x, int y, int width, int height, int opacity);

/* Rectangle whose rows run from the color of value `top` to that of `bottom`, of `limit` (> 0):
 * a run of rows of a depth column. opacity: 0..255. */
RV_API RvStatus rv_draw_shade(RvDraw *draw, int x, int y, int width, int height, int top,
                              int bottom, int limit, int opacity);

/* Text in cells of `size` px height with their top left corner at (x, y): capitals reach from
 * size / 6 down to 3 size / 4, where the base line is. `outline` (a = 0: none) is drawn under
 * and around the letters. ASCII 32..126; any other character is drawn as a box. A text has
 * RV_DRAW_TEXT characters at most, the rest is omitted; it needs one shape per character, two with
 * an outline. */
#define RV_DRAW_TEXT 96
#define RV_DRAW_TEXT_MIN 6
#define RV_DRAW_TEXT_MAX 512
RV_API RvStatus rv_draw_text(RvDraw *draw, int x, int y, int size, RvColor color, RvColor outline,
                             const char *text);

/* Width of the text in px, without its outline; 0 for an invalid size. */
RV_API int rv_draw_text_width(int size, const char *text);

/* Content of a legend. Its lengths scale with the frame height. */
typedef struct RvDrawLegend {
  double low, high; /* px of disparity at the ends of the color map; low < high */
  double depth;     /* focal x baseline, px m: depth scale in m; 0 = unknown: omitted */
  double doffs;     /* px: depth = focal x baseline / (disparity + doffs) */
  int thickness_fx; /* of ticks and frame, 1/16 px: 1..4096 */
} RvDrawLegend;

/* Color bar with ticks in px of disparity below it and, where the camera is known, at round depths
 * above it, on a dark rounded box in the lower left corner. Nothing is drawn in frames that are too
 * small. */
RV_API RvStatus rv_draw_legend(RvDraw *draw, const RvDrawLegend *legend);

/* A legend entry: a color and its meaning. */
typedef struct RvDrawLegendEntry {
  RvColor color; /* blended over gray by its opacity */
  const char *text;
} RvDrawLegendEntry;

/* One line per entry, a patch of its color and its text, on a dark rounded box in the lower right
 * corner; RV_DRAW_LINES at most. Nothing is drawn in frames that are too small. */
RV_API RvStatus rv_draw_legend_entries(RvDraw *draw, const RvDrawLegendEntry *entries, int count);

/* Text on a dark rounded box in the upper left corner; '\n' starts a new line, RV_DRAW_LINES at
 * most. An empty text draws nothing. */
#define RV_DRAW_LINES 16
RV_API RvStatus rv_draw_caption(RvDraw *draw, const char *text);

/* Blends the collected shapes and empties the list. Uses the scratch memory of the object: see the
 * order of flushes at the top. */
RV_API RvStatus rv_draw_flush(RvDraw *draw, const RvPicture *picture, RvStream stream);

#ifdef __cplusplus
}
#endif
#endif
