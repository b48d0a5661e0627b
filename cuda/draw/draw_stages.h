/* SPDX-License-Identifier: MIT */
/* draw_stages.h: what an engine does for draw.c after all checks, and the tables that the host
 * makes for both. Internal. */
#ifndef RV_DRAW_STAGES_H
#define RV_DRAW_STAGES_H

#include "draw/draw.h"
#include "draw/draw_rules.h"
#include "rv_internal.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The work of both engines: tables where the engine works. */
typedef struct RvDrawWork {
  RvInk *colors;  /* RV_DRAW_COLORS */
  uint8_t *field; /* the font, RV_FONT_BYTES */
} RvDrawWork;

/* Constants of an object: nothing is derived from the config. */
typedef struct RvDrawPlan {
  RvDrawConfig config;
} RvDrawPlan;

/* By label; opacity 0 leaves pixels unchanged. */
typedef struct RvLabelInks {
  RvInk of[RV_DRAW_LABELS + 1];
} RvLabelInks;

/* Parameters of rv_draw_disparity: values at the ends of the color map, opacity 0..255. */
typedef struct RvDrawScale {
  int low, high, opacity;
} RvDrawScale;

/* One call: where it draws, and the layer. Host memory that may change after the call. */
typedef struct RvDrawJob {
  RvCanvas canvas;
  int threads;
  RvStream stream;
  const RvLog *log;
  const RvPlane *plane;    /* of disparity, mask and labels */
  RvDrawScale scale;       /* of disparity */
  RvInk ink;               /* of mask */
  const RvLabelInks *inks; /* of labels */
  const RvGrid *grid;
  const RvShape *shapes; /* `count`, blended in this order */
  int count;
} RvDrawJob;

/* One stage per kind of layer, and the shapes of rv_draw_flush(). */
RV_STAGES(RvDraw, draw, const RvDrawJob, *disparity, *mask, *labels, *grid, *shapes);

/* The layout of RvDrawWork. */
void rv_draw_layout(void *work, const void *plan, RvArena *arena);

/* Color `index` of a map of RV_DRAW_COLORS. */
RvColor rv_colormap_color(RvColormap colormap, int index);

/* The color in the channels of the configured frames. */
RvInk rv_draw_ink(const RvDrawConfig *config, RvColor color);

#define RV_FONT_BYTES (RV_FONT_GLYPHS * RV_FONT_ROWS * RV_FONT_COLUMNS)

/* Fills the RV_FONT_BYTES of the font's distance field. */
void rv_font_field(uint8_t *field);

/* Units from the left edge of glyph 0..RV_FONT_GLYPHS - 1 to that of the next. */
int rv_font_advance(int glyph);

/* Next glyph of a text, -1 at its end; a character outside ASCII (one or more bytes) is the box. */
int rv_font_next(const char **text);

#ifdef __cplusplus
}
#endif
#endif
