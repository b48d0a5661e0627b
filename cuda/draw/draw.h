/* draw.h: drawing on pictures of every pixel format, on both engines, bit-identical.
 *
 * An object holds what drawing needs (colour tables, the glyph table, a list of shapes) for one
 * picture size and format. Every function blends with integer arithmetic: luma per pixel, chroma
 * per chroma sample as the mean over its pixels. Functions enqueue with RV_CUDA and are done on
 * return with RV_CPU; none allocates.
 *
 * Order of use for one frame: rv_draw_disparity and its like blend a layer at once; shapes and text
 * are collected by rv_draw_rect, rv_draw_line, rv_draw_text, ... and blended together by
 * rv_draw_flush, in the order in which they were added. */
#ifndef RV_DRAW_H
#define RV_DRAW_H

#include "convert/convert.h"
#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvColormap { RV_COLORMAP_TURBO = 0, RV_COLORMAP_JET, RV_COLORMAP_GREY, RV_COLORMAPS } RvColormap;

/* 8 bit each, not premultiplied. */
typedef struct RvColor {
  uint8_t r, g, b, a;
} RvColor;

typedef struct RvDrawConfig {
  int width, height;    /* px, 1..RV_MAX_SIDE; no default */
  RvPixelFormat format; /* RV_PIXEL_BGRX */
  RvColormap colormap;  /* RV_COLORMAP_TURBO */
  int bt709;            /* 1: YUV colours by BT.709, 0: by BT.601 (limited range both); 0 */
  int full_range;       /* 1: YUV is full range; 0 */
  int threads;          /* CPU engine, 0 = all; 0 */
  RvLog log;
} RvDrawConfig;

typedef struct RvDraw RvDraw;

RV_API void rv_draw_config_init(RvDrawConfig *config);
RV_API RvStatus rv_draw_config_check(const RvDrawConfig *config);
RV_API size_t rv_draw_workspace(const RvDrawConfig *config, RvEngine engine);
RV_API RvStatus rv_draw_new(RvDraw **out, const RvDrawConfig *config, RvEngine engine);
RV_API void rv_draw_free(RvDraw **draw);

/* Colour of `value` between 0 and `limit` in the object's colour map: what the disparity layer
 * uses, for legends and for records. Host function. */
RV_API RvColor rv_draw_color(const RvDraw *draw, int value, int limit);

/* Disparity layer: every pixel with a value (u16, 0 = none) is blended with its colour; pixels
 * without keep the picture. `disparity` may have another size than the picture: nearest sample.
 * low, high: values (same unit as the plane) of the ends of the colour map, low < high; outside
 * they clamp. opacity: 0..255. */
RV_API RvStatus rv_draw_disparity(RvDraw *draw, const RvPicture *picture, const RvPlane *disparity,
                                  int low, int high, int opacity, RvStream stream);

/* Tints every pixel whose mask cell is not 0. The mask covers the picture, nearest sample. */
RV_API RvStatus rv_draw_mask(RvDraw *draw, const RvPicture *picture, const RvPlane *mask,
                             RvColor color, RvStream stream);

/* --- Shapes and text: collected on the host, blended by rv_draw_flush ---------------------------
 * Coordinates in px, 28.4 fixed point where named fx; parts outside the picture are cut. The list
 * holds RV_DRAW_SHAPES shapes; more are refused with RV_ERR_ARG and logged once. */
#define RV_DRAW_SHAPES 4096
#define RV_DRAW_TEXT 64 /* glyphs of one text at most; longer texts are cut */

RV_API RvStatus rv_draw_rect(RvDraw *draw, int x, int y, int width, int height, RvColor color);

/* Anti-aliased line between two points, `thickness` in 1/16 px. */
RV_API RvStatus rv_draw_line(RvDraw *draw, int x0_fx, int y0_fx, int x1_fx, int y1_fx,
                             int thickness_fx, RvColor color);

/* Bar filled with the colour map from low (left or bottom) to high. */
RV_API RvStatus rv_draw_ramp(RvDraw *draw, int x, int y, int width, int height, int opacity);

/* Text with its top left corner at (x, y), glyph cells of `size` px height (6..512), anti-aliased;
 * ASCII 32..126, others are drawn as a box. The width is rv_draw_text_width. */
RV_API RvStatus rv_draw_text(RvDraw *draw, int x, int y, int size, RvColor color, const char *text);
RV_API int rv_draw_text_width(int size, const char *text);

/* Blends the collected shapes and empties the list. */
RV_API RvStatus rv_draw_flush(RvDraw *draw, const RvPicture *picture, RvStream stream);

#ifdef __cplusplus
}
#endif
#endif
