/* SPDX-License-Identifier: MIT */
/* draw_stages.h: what an engine does for draw.c after all checks, and the tables that the host
 * makes for both. Internal. */
#ifndef RV_DRAW_STAGES_H
#define RV_DRAW_STAGES_H

#include "draw/draw.h"
#include "draw/draw_rules.h"
#include "rv_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RvDrawJob {
  RvCanvas canvas;
  const RvInk *colors;  /* RV_DRAW_COLORS, where the engine works */
  const uint8_t *field; /* the font, likewise */
  int threads;
  RvStream stream;
  const RvLog *log;
} RvDrawJob;

/* By label; those that keep the picture have opacity 0. */
typedef struct RvLabelInks {
  RvInk of[RV_DRAW_LABELS + 1];
} RvLabelInks;

typedef struct RvDrawStages {
  RvStatus (*disparity)(const RvDrawJob *job, const RvPlane *disparity, int low, int high,
                        int opacity);
  RvStatus (*mask)(const RvDrawJob *job, const RvPlane *mask, RvInk ink);
  RvStatus (*labels)(const RvDrawJob *job, const RvPlane *labels, const RvLabelInks *inks);
  RvStatus (*grid)(const RvDrawJob *job, const RvGrid *grid);
  /* In the order of the list. `shapes` is host memory that may change after the call. */
  RvStatus (*shapes)(const RvDrawJob *job, const RvShape *shapes, int count);
} RvDrawStages;

extern const RvDrawStages rv_draw_stages_cpu, rv_draw_stages_cuda;

/* Color `index` of a map of RV_DRAW_COLORS. */
RvColor rv_colormap_color(RvColormap colormap, int index);

/* The color in the channels of the configured pictures. */
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
