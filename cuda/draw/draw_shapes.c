/* SPDX-License-Identifier: MIT */
/* draw_shapes.c: shapes and text become entries of the list, in the form that draw_rules.h reads.
 * Doubles are used here on the host only: the entries hold integers, the same for both engines. */
#include "draw/draw_object.h"

#include <math.h>
#include <string.h>

/* Half the width of a stroke at size 48, 1/256 px, and the least at any size. */
#define STROKE_HALF 480
#define STROKE_HALF_MIN 132

/* The outline around letters, in the same way. */
#define OUTLINE_WIDTH 640
#define OUTLINE_WIDTH_MIN 250

#define FIXED 16 /* 1/16 px */
#define RADIUS_MAX 1024
#define THICKNESS_MAX 4096

static int in_reach(int v, int scale) {
  return v >= -RV_DRAW_COORD_MAX * scale && v <= RV_DRAW_COORD_MAX * scale;
}

/* Places the shape's box, cut to the image. 0 when nothing remains. */
static int place(const RvDraw *draw, RvShape *shape, int64_t x0, int64_t y0, int64_t x1,
                 int64_t y1) {
  const int width = draw->plan.config.width, height = draw->plan.config.height;
  if (x0 >= width || y0 >= height || x1 <= 0 || y1 <= 0 || x0 >= x1 || y0 >= y1)
    return 0;
  shape->x0 = (int16_t)(x0 < 0 ? 0 : x0);
  shape->y0 = (int16_t)(y0 < 0 ? 0 : y0);
  shape->x1 = (int16_t)(x1 > width ? width : x1);
  shape->y1 = (int16_t)(y1 > height ? height : y1);
  return 1;
}

static RvStatus append(RvDraw *draw, const RvShape *shape) {
  if (draw->count == RV_DRAW_SHAPES) {
    if (!draw->full_logged)
      rv_log(&draw->plan.config.log, "draw: more than %d shapes in one frame; the rest is omitted",
             RV_DRAW_SHAPES);
    draw->full_logged = 1;
    return RV_ERR_ARG;
  }
  draw->shapes[draw->count++] = *shape;
  return RV_OK;
}

static RvStatus check_box(const RvDraw *draw, int x, int y, int width, int height) {
  RV_REQUIRE(&draw->plan.config.log,
             in_reach(x, 1) && in_reach(y, 1) && width >= 0 && width <= RV_DRAW_COORD_MAX &&
                 height >= 0 && height <= RV_DRAW_COORD_MAX,
             "draw: the box %dx%d at (%d, %d) lies more than %d px away or has a negative size",
             width, height, x, y, RV_DRAW_COORD_MAX);
  return RV_OK;
}

RvStatus rv_draw_rounded_rect(RvDraw *draw, int x, int y, int width, int height, int radius,
                              RvColor color) {
  if (!draw)
    return RV_ERR_ARG;
  RV_TRY(check_box(draw, x, y, width, height));
  RV_REQUIRE(&draw->plan.config.log, radius >= 0, "draw: the radius of a plate is %d", radius);
  RvShape shape = {.kind = RV_SHAPE_PLATE, .ink = rv_draw_ink(&draw->plan.config, color)};
  shape.as.plate.left = x;
  shape.as.plate.top = y;
  shape.as.plate.right = x + width;
  shape.as.plate.bottom = y + height;
  shape.as.plate.radius = rv_min(rv_min(radius, RADIUS_MAX), rv_min(width, height) / 2);
  return place(draw, &shape, x, y, x + width, y + height) ? append(draw, &shape) : RV_OK;
}

RvStatus rv_draw_rect(RvDraw *draw, int x, int y, int width, int height, RvColor color) {
  return rv_draw_rounded_rect(draw, x, y, width, height, 0, color);
}

/* `corner` in px. A turn in the other direction is reversed, so that normals point inward; an edge
 * without length bounds nothing, which makes a triangle of the quadrilateral. */
static RvStatus add_quad(RvDraw *draw, double corner[4][2], RvColor color) {
  double area = 0.0, low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  for (int i = 0; i < 4; i++) {
    const int next = (i + 1) % 4;
    area += corner[i][0] * corner[next][1] - corner[next][0] * corner[i][1];
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], corner[i][k]);
      high[k] = fmax(high[k], corner[i][k]);
    }
  }
  RvShape shape = {.kind = RV_SHAPE_QUAD, .ink = rv_draw_ink(&draw->plan.config, color)};
  if (area == 0.0 ||
      !place(draw, &shape, (int64_t)floor(low[0] - 0.5), (int64_t)floor(low[1] - 0.5),
             (int64_t)ceil(high[0] + 0.5), (int64_t)ceil(high[1] + 0.5)))
    return RV_OK;
  const double turn = area > 0.0 ? 1.0 : -1.0;
  const double far = 1073741824.0; /* beyond any distance in the image; the sum does not overflow */
  for (int i = 0; i < 4; i++) {
    const double *from = corner[i], *to = corner[(i + 1) % 4];
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = sqrt(dx * dx + dy * dy);
    shape.as.quad.c[i] = (int32_t)far;
    if (length == 0.0)
      continue;
    const double nx = -dy / length * turn, ny = dx / length * turn;
    const double distance =
        nx * (shape.x0 - (from[0] + to[0]) / 2.0) + ny * (shape.y0 - (from[1] + to[1]) / 2.0);
    shape.as.quad.a[i] = (int16_t)lrint(nx * 16384.0);
    shape.as.quad.b[i] = (int16_t)lrint(ny * 16384.0);
    shape.as.quad.c[i] = (int32_t)fmax(-far, fmin(far, rint(distance * 32768.0)));
  }
  return append(draw, &shape);
}

RvStatus rv_draw_quad(RvDraw *draw, const int corners_fx[8], RvColor color) {
  if (!draw)
    return RV_ERR_ARG;
  RV_REQUIRE(&draw->plan.config.log, corners_fx, "draw: a quadrilateral without corners");
  double corner[4][2];
  for (int i = 0; i < 8; i++) {
    RV_REQUIRE(&draw->plan.config.log, in_reach(corners_fx[i], FIXED),
               "draw: a corner lies more than %d px away", RV_DRAW_COORD_MAX);
    corner[i / 2][i % 2] = (double)corners_fx[i] / FIXED;
  }
  return add_quad(draw, corner, color);
}

RvStatus rv_draw_line(RvDraw *draw, int x0_fx, int y0_fx, int x1_fx, int y1_fx, int thickness_fx,
                      RvColor color) {
  if (!draw)
    return RV_ERR_ARG;
  RV_REQUIRE(&draw->plan.config.log,
             in_reach(x0_fx, FIXED) && in_reach(y0_fx, FIXED) && in_reach(x1_fx, FIXED) &&
                 in_reach(y1_fx, FIXED),
             "draw: an end of a line lies more than %d px away", RV_DRAW_COORD_MAX);
  RV_REQUIRE(&draw->plan.config.log, thickness_fx >= 1 && thickness_fx <= THICKNESS_MAX,
             "draw: a line of %d/16 px; it must be 1..%d", thickness_fx, THICKNESS_MAX);
  const double x0 = (double)x0_fx / FIXED, y0 = (double)y0_fx / FIXED;
  const double x1 = (double)x1_fx / FIXED, y1 = (double)y1_fx / FIXED;
  const double half = (double)thickness_fx / FIXED / 2.0;
  const double dx = x1 - x0, dy = y1 - y0, length = sqrt(dx * dx + dy * dy);
  /* Half a thickness along the line and across it; a point becomes a square. */
  const double ax = length > 0.0 ? dx / length * half : half;
  const double ay = length > 0.0 ? dy / length * half : 0.0;
  double corner[4][2] = {{x0 - ax + ay, y0 - ay - ax},
                         {x1 + ax + ay, y1 + ay - ax},
                         {x1 + ax - ay, y1 + ay + ax},
                         {x0 - ax - ay, y0 - ay + ax}};
  return add_quad(draw, corner, color);
}

/* Color index in 1/2^16 from `first` to `last` over `count` px, the middle of the first and of the
 * last pixel; by_pixel is clamped so that no sum in the frame exceeds int32. */
static void run_of_colors(int64_t first, int64_t last, int count, int64_t *base,
                          int64_t *by_pixel) {
  *base = first;
  *by_pixel = count > 1 ? (last - first) / (count - 1) : 0;
}

static RvStatus add_shade(RvDraw *draw, int x, int y, int width, int height, int64_t first,
                          int64_t last, int across, int opacity) {
  RvShape shape = {.kind = RV_SHAPE_SHADE};
  if (!place(draw, &shape, x, y, x + width, y + height))
    return RV_OK;
  int64_t base, step;
  run_of_colors(first, last, across ? width : height, &base, &step);
  base += step * (across ? shape.x0 - x : shape.y0 - y);
  shape.ink.a = (uint8_t)opacity;
  shape.as.shade.base = (int32_t)base;
  shape.as.shade.by_column = across ? (int32_t)step : 0;
  shape.as.shade.by_row = across ? 0 : (int32_t)step;
  return append(draw, &shape);
}

#define INDEX_ONE 65536

RvStatus rv_draw_ramp(RvDraw *draw, int x, int y, int width, int height, int opacity) {
  if (!draw)
    return RV_ERR_ARG;
  RV_TRY(check_box(draw, x, y, width, height));
  RV_REQUIRE(&draw->plan.config.log, opacity >= 0 && opacity <= 255,
             "draw: opacity is %d; it must be 0..255", opacity);
  const int64_t half = INDEX_ONE / 2, top = (int64_t)(RV_DRAW_COLORS - 1) * INDEX_ONE + half;
  const int across = width >= height;
  return add_shade(draw, x, y, width, height, across ? half : top, across ? top : half, across,
                   opacity);
}

RvStatus rv_draw_shade(RvDraw *draw, int x, int y, int width, int height, int top, int bottom,
                       int limit, int opacity) {
  if (!draw)
    return RV_ERR_ARG;
  RV_TRY(check_box(draw, x, y, width, height));
  RV_REQUIRE(&draw->plan.config.log, opacity >= 0 && opacity <= 255,
             "draw: opacity is %d; it must be 0..255", opacity);
  RV_REQUIRE(&draw->plan.config.log, limit >= 1, "draw: the limit of a shade is %d", limit);
  /* Ends far outside the map are cut to +-8 maps, which keeps sums within int32. */
  const int64_t most = (int64_t)8 * RV_DRAW_COLORS * INDEX_ONE;
  int64_t end[2] = {top, bottom};
  for (int i = 0; i < 2; i++) {
    end[i] = end[i] * (RV_DRAW_COLORS - 1) * INDEX_ONE / limit;
    end[i] = end[i] < -most ? -most : (end[i] > most ? most : end[i]);
  }
  return add_shade(draw, x, y, width, height, end[0], end[1], 0, opacity);
}

static int is_size(int size) {
  return size >= RV_DRAW_TEXT_MIN && size <= RV_DRAW_TEXT_MAX;
}

/* The letters once, with strokes of twice `half`/256 px. */
static RvStatus add_letters(RvDraw *draw, int x, int y, int size, int half, RvInk ink,
                            const char *text) {
  int units = 0;
  for (int i = 0; i < RV_DRAW_TEXT; i++) {
    const int glyph = rv_font_next(&text);
    if (glyph < 0)
      break;
    RvShape shape = {.kind = RV_SHAPE_GLYPH, .ink = ink, .glyph = (uint16_t)glyph};
    const int left = 256 * units * size / RV_FONT_UNITS; /* 1/256 px */
    shape.as.glyph_at.x = 256 * x + left;
    shape.as.glyph_at.y = 256 * y;
    shape.as.glyph_at.size = size;
    shape.as.glyph_at.half = half;
    const int margin = half / 256 + 2;
    const int from = x + left / 256 - margin;
    const int width = rv_font_advance(glyph) * size / RV_FONT_UNITS + 2 * margin + 2;
    if (glyph > 0 && place(draw, &shape, from, y - margin, from + width, y + size + margin))
      RV_TRY(append(draw, &shape));
    units += rv_font_advance(glyph);
  }
  return RV_OK;
}

RvStatus rv_draw_text(RvDraw *draw, int x, int y, int size, RvColor color, RvColor outline,
                      const char *text) {
  if (!draw)
    return RV_ERR_ARG;
  const RvLog *log = &draw->plan.config.log;
  RV_REQUIRE(log, text, "draw: no text");
  RV_REQUIRE(log, is_size(size), "draw: text of %d px; it must be %d..%d", size, RV_DRAW_TEXT_MIN,
             RV_DRAW_TEXT_MAX);
  RV_REQUIRE(log, in_reach(x, 1) && in_reach(y, 1), "draw: a text starts more than %d px away",
             RV_DRAW_COORD_MAX);
  const int half = rv_max(STROKE_HALF * size / RV_FONT_UNITS, STROKE_HALF_MIN);
  const int around = rv_max(OUTLINE_WIDTH * size / RV_FONT_UNITS, OUTLINE_WIDTH_MIN);
  if (outline.a)
    RV_TRY(add_letters(draw, x, y, size, half + around, rv_draw_ink(&draw->plan.config, outline),
                       text));
  return add_letters(draw, x, y, size, half, rv_draw_ink(&draw->plan.config, color), text);
}

int rv_draw_text_width(int size, const char *text) {
  if (!is_size(size) || !text)
    return 0;
  int units = 0;
  for (int i = 0; i < RV_DRAW_TEXT; i++) {
    const int glyph = rv_font_next(&text);
    if (glyph < 0)
      break;
    units += rv_font_advance(glyph);
  }
  return rv_div_up(units * size, RV_FONT_UNITS);
}
