/* SPDX-License-Identifier: MIT */
/* draw_legend.c: where the parts of legend and caption lie. Doubles place shapes on the host; what
 * engines see is integers. */
#include "draw/draw_object.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Height of a text cell: a fraction of the frame height, legible in small frames too. */
#define TEXT_PART 34
#define TEXT_MIN 13

/* Of a cell's height: capitals begin here and stand here (draw.h). */
#define CAP_TOP (1.0 / 6.0)
#define CAP_HEIGHT (7.0 / 12.0)

#define LABEL_BYTES 24
#define LABELS_MAX 40

static const RvColor plate_color = {14, 17, 22, 178};
static const RvColor text_color = {246, 247, 249, 255};
static const RvColor tick_color = {246, 247, 249, 220};
static const RvColor frame_color = {246, 247, 249, 70};
static const RvColor no_outline = {0, 0, 0, 0};

static int text_size(const RvDraw *draw) {
  return rv_clamp(draw->plan.config.height / TEXT_PART, TEXT_MIN, RV_DRAW_TEXT_MAX);
}

static int part(int size, double share) {
  return rv_max((int)(share * size + 0.5), 1);
}

/* Lengths of a legend, px. */
typedef struct Layout {
  int size;           /* of the text */
  int pad, tick, gap; /* to the plate's edge; of a tick; between tick and label */
  int cap;            /* height of capitals */
  int x, width;       /* of the bar */
  int y, height;
  int unit_x; /* where the units are written */
  int line;   /* width of ticks */
} Layout;

typedef struct Label {
  double disparity; /* px */
  char text[LABEL_BYTES];
} Label;

static double place_of(const Layout *l, const RvDrawLegend *legend, double disparity) {
  return l->x + (disparity - legend->low) / (legend->high - legend->low) * l->width;
}

/* 1 when the label keeps `spare` px from all others and stays above the bar, except for one digit. */
static int has_room(const Layout *l, const RvDrawLegend *legend, const Label *labels, int count,
                    const Label *label, double spare) {
  const double at = place_of(l, legend, label->disparity);
  const double half = rv_draw_text_width(l->size, label->text) / 2.0;
  const double over = half - 0.3 * l->size;
  if (at - over < l->x || at + over > l->x + l->width)
    return 0;
  for (int i = 0; i < count; i++) {
    const double other = place_of(l, legend, labels[i].disparity);
    const double other_half = rv_draw_text_width(l->size, labels[i].text) / 2.0;
    if (fabs(at - other) < half + other_half + spare)
      return 0;
  }
  return 1;
}

/* Disparities: multiples of the smallest power of two that leaves space between labels. */
static int disparity_labels(const Layout *l, const RvDrawLegend *legend, Label *labels) {
  char widest[LABEL_BYTES];
  snprintf(widest, sizeof widest, "%d", (int)legend->high);
  const double room = rv_draw_text_width(l->size, widest) + 1.1 * l->size;
  int step = 1;
  while (step < 65536 && step * l->width / (legend->high - legend->low) < room)
    step *= 2;
  int count = 0;
  for (double d = ceil(legend->low / step) * step; d <= legend->high + 1e-9 && count < LABELS_MAX;
       d += step) {
    labels[count].disparity = d;
    snprintf(labels[count].text, LABEL_BYTES, "%d", (int)d);
    count++;
  }
  return count;
}

static void add_depth(const Layout *l, const RvDrawLegend *legend, Label *labels, int *count,
                      double meters, double spare) {
  Label label = {legend->depth / meters - legend->doffs, ""};
  snprintf(label.text, sizeof label.text, "%.4g", meters);
  if (*count < LABELS_MAX && has_room(l, legend, labels, *count, &label, spare))
    labels[(*count)++] = label;
}

/* Depths 1, 2, 5 x 10^n first, from near to far; others where there is enough space. */
static int depth_labels(const Layout *l, const RvDrawLegend *legend, Label *labels) {
  static const double decades[] = {0.01, 0.1, 1.0, 10.0, 100.0, 1000.0};
  static const double round[] = {1.0, 2.0, 5.0}, between[] = {3.0, 4.0, 7.0, 1.5};
  int count = 0;
  if (legend->depth <= 0.0)
    return 0;
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++)
      add_depth(l, legend, labels, &count, decades[i] * round[k], 0.34 * l->size);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 4; k++)
      add_depth(l, legend, labels, &count, decades[i] * between[k], 1.6 * l->size);
  return count;
}

/* Labels with ticks that stand on the bar's lower (below) or upper edge. */
static RvStatus add_labels(RvDraw *draw, const Layout *l, const RvDrawLegend *legend,
                           const Label *labels, int count, int below) {
  const int tick_y = below ? l->y + l->height : l->y - l->tick;
  const int cap_y = below ? tick_y + l->tick + l->gap : tick_y - l->gap - l->cap;
  const int text_y = cap_y - part(l->size, CAP_TOP);
  for (int i = 0; i < count; i++) {
    const double at = place_of(l, legend, labels[i].disparity);
    const int width = rv_draw_text_width(l->size, labels[i].text);
    RV_TRY(rv_draw_rect(draw, (int)floor(at - l->line / 2.0 + 0.5), tick_y, l->line, l->tick,
                        tick_color));
    RV_TRY(rv_draw_text(draw, (int)floor(at - width / 2.0 + 0.5), text_y, l->size, text_color,
                        no_outline, labels[i].text));
  }
  return rv_draw_text(draw, l->unit_x, text_y, l->size, text_color, no_outline, below ? "px" : "m");
}

static int half_width(const Layout *l, double number) {
  char text[LABEL_BYTES];
  snprintf(text, sizeof text, "%d", (int)number);
  return rv_draw_text_width(l->size, text) / 2;
}

/* 0 when the frame is too small for a legend. */
static int lay_out(const RvDraw *draw, const RvDrawLegend *legend, Layout *l, int box[4]) {
  const int size = text_size(draw), rows = legend->depth > 0.0 ? 2 : 1;
  const int margin = part(size, 0.6);
  l->size = size;
  l->pad = part(size, 0.5);
  l->tick = part(size, 0.16);
  l->gap = part(size, 0.16);
  l->cap = part(size, CAP_HEIGHT);
  l->height = part(size, 0.42);
  l->line = rv_max((legend->thickness_fx + 8) / 16, 1);
  const int left = l->pad + half_width(l, legend->low);
  const int right =
      half_width(l, legend->high) + part(size, 0.45) + rv_draw_text_width(size, "px") + l->pad;
  l->width = rv_min(15 * size, draw->plan.config.width - 2 * margin - left - right);
  box[2] = left + l->width + right;
  box[3] = 2 * l->pad + l->height + rows * (l->tick + l->gap + l->cap);
  box[0] = margin;
  box[1] = draw->plan.config.height - margin - box[3];
  l->x = box[0] + left;
  l->y = box[1] + l->pad + (rows == 2 ? l->tick + l->gap + l->cap : 0);
  l->unit_x = box[0] + box[2] - l->pad - rv_draw_text_width(size, "px");
  return l->width >= 5 * size && box[1] >= margin;
}

RvStatus rv_draw_legend(RvDraw *draw, const RvDrawLegend *legend) {
  if (!draw)
    return RV_ERR_ARG;
  const RvLog *log = &draw->plan.config.log;
  RV_REQUIRE(log, legend, "draw: no legend");
  RV_REQUIRE(log, legend->low >= 0.0 && legend->low < legend->high && legend->high <= 65535.0,
             "draw: a legend from %g to %g px; 0 <= low < high <= 65535", legend->low,
             legend->high);
  RV_REQUIRE(log, legend->thickness_fx >= 1 && legend->thickness_fx <= 4096,
             "draw: legend lines of %d/16 px; they must be 1..4096", legend->thickness_fx);
  RV_REQUIRE(log, legend->depth >= 0.0 && isfinite(legend->depth) && isfinite(legend->doffs),
             "draw: focal x baseline of a legend is %g", legend->depth);
  Layout l;
  int box[4];
  if (!lay_out(draw, legend, &l, box))
    return RV_OK;
  Label labels[LABELS_MAX];
  RV_TRY(
      rv_draw_rounded_rect(draw, box[0], box[1], box[2], box[3], part(l.size, 0.4), plate_color));
  RV_TRY(rv_draw_rect(draw, l.x - l.line, l.y - l.line, l.width + 2 * l.line, l.height + 2 * l.line,
                      frame_color));
  RV_TRY(rv_draw_ramp(draw, l.x, l.y, l.width, l.height, 255));
  RV_TRY(add_labels(draw, &l, legend, labels, disparity_labels(&l, legend, labels), 1));
  if (legend->depth <= 0.0)
    return RV_OK;
  return add_labels(draw, &l, legend, labels, depth_labels(&l, legend, labels), 0);
}

static const RvColor key_ground = {128, 128, 128, 255};

RvStatus rv_draw_legend_entries(RvDraw *draw, const RvDrawLegendEntry *entries, int count) {
  if (!draw)
    return RV_ERR_ARG;
  RV_REQUIRE(&draw->plan.config.log,
             count >= 0 && count <= RV_DRAW_LINES && (entries || count == 0),
             "draw: %d legend entries, must be 0..%d", count, RV_DRAW_LINES);
  const int size = text_size(draw), margin = part(size, 0.6), pad = part(size, 0.5);
  const int row = part(size, 1.15), cap = part(size, CAP_HEIGHT), swatch = part(size, 0.9);
  int text = 0;
  for (int i = 0; i < count; i++) {
    RV_REQUIRE(&draw->plan.config.log, entries[i].text, "draw: legend entry %d has no text", i);
    text = rv_max(text, rv_draw_text_width(size, entries[i].text));
  }
  const int width = 2 * pad + swatch + part(size, 0.5) + text;
  const int height = 2 * pad + (count - 1) * row + cap;
  const int x = draw->plan.config.width - margin - width,
            y = draw->plan.config.height - margin - height;
  if (count == 0 || x < margin || y < margin)
    return RV_OK;
  RV_TRY(rv_draw_rounded_rect(draw, x, y, width, height, part(size, 0.4), plate_color));
  for (int i = 0; i < count; i++) {
    const int top = y + pad + i * row;
    RV_TRY(rv_draw_rect(draw, x + pad, top, swatch, cap, key_ground));
    RV_TRY(rv_draw_rect(draw, x + pad, top, swatch, cap, entries[i].color));
    RV_TRY(rv_draw_text(draw, x + width - pad - text, top - part(size, CAP_TOP), size, text_color,
                        no_outline, entries[i].text));
  }
  return RV_OK;
}

/* Lines of a text, each ended by a zero; their number. */
static int split(const char *text, char lines[RV_DRAW_LINES][4 * RV_DRAW_TEXT + 1]) {
  int count = 0;
  for (const char *at = text; count < RV_DRAW_LINES && *at; count++) {
    const size_t length = strcspn(at, "\n");
    const size_t kept = length < 4 * RV_DRAW_TEXT ? length : 4 * RV_DRAW_TEXT;
    memcpy(lines[count], at, kept);
    lines[count][kept] = '\0';
    at += length + (at[length] == '\n');
  }
  return count;
}

RvStatus rv_draw_caption(RvDraw *draw, const char *text) {
  if (!draw)
    return RV_ERR_ARG;
  RV_REQUIRE(&draw->plan.config.log, text, "draw: no caption");
  char lines[RV_DRAW_LINES][4 * RV_DRAW_TEXT + 1];
  const int count = split(text, lines), size = text_size(draw);
  int width = 0;
  for (int i = 0; i < count; i++)
    width = rv_max(width, rv_draw_text_width(size, lines[i]));
  if (width == 0)
    return RV_OK;
  const int margin = part(size, 0.6), pad = part(size, 0.5), row = part(size, 1.15);
  const int height = 2 * pad + (count - 1) * row + part(size, CAP_HEIGHT);
  RV_TRY(rv_draw_rounded_rect(draw, margin, margin, width + 2 * pad, height, part(size, 0.4),
                              plate_color));
  for (int i = 0; i < count; i++)
    RV_TRY(rv_draw_text(draw, margin + pad, margin + pad + i * row - part(size, CAP_TOP), size,
                        text_color, no_outline, lines[i]));
  return RV_OK;
}
