/* SPDX-License-Identifier: MIT */
/* draw_colormap.c: color maps, and colors in the channels of an image. */
#include "draw/draw_stages.h"

#include "rv_pixels.h"

static int to_byte(double v) {
  const int rounded = (int)(v * 255.0 + 0.5);
  return v <= 0.0 ? 0 : rv_min(rounded, 255);
}

/* Turbo (A. Mikhailov, 2019) by its published polynomial of degree 5 (R. Du), t in 0..1. Products
 * and sums only, so that every machine makes the same table. */
static RvColor turbo(int index) {
  static const double red[6] = {0.13572138,   4.61539260,    -42.66032258,
                                132.13108234, -152.94239396, 59.28637943};
  static const double green[6] = {0.09140261,   2.19418839, 4.84296658,
                                  -14.18503333, 4.27729857, 2.82956604};
  static const double blue[6] = {0.10667330,   12.64194608,  -60.58204836,
                                 110.36276771, -89.90310912, 27.34824973};
  const double t = (double)index / (RV_DRAW_COLORS - 1);
  double r = 0.0, g = 0.0, b = 0.0;
  for (int i = 5; i >= 0; i--) {
    r = r * t + red[i];
    g = g * t + green[i];
    b = b * t + blue[i];
  }
  return (RvColor){(uint8_t)to_byte(r), (uint8_t)to_byte(g), (uint8_t)to_byte(b), 255};
}

/* Trapezium of width 3/4 and flank 1/4 of the map around `center` (in eighths). */
static uint8_t trapezium(int index, int center) {
  const int limit = RV_DRAW_COLORS - 1;
  const int distance = rv_abs(8 * index - center * limit); /* in 1/8 of limit */
  return (uint8_t)rv_clamp((3 * limit - distance) * 255 / (2 * limit), 0, 255);
}

RvColor rv_colormap_color(RvColormap colormap, int index) {
  const uint8_t gray = (uint8_t)(index * 255 / (RV_DRAW_COLORS - 1));
  switch (colormap) {
  case RV_COLORMAP_TURBO:
    return turbo(index);
  case RV_COLORMAP_JET:
    return (RvColor){trapezium(index, 6), trapezium(index, 4), trapezium(index, 2), 255};
  default:
    return (RvColor){gray, gray, gray, 255};
  }
}

/* v / d rounded to nearest, halves away from zero; d > 0. */
static int64_t round_div(int64_t v, int64_t d) {
  return (v < 0 ? v - d / 2 : v + d / 2) / d;
}

/* ITU-R BT.601 and BT.709: luma weights of red and blue in 1/10000; chroma = (B - Y) / (2 - 2 Kb),
 * (R - Y) / (2 - 2 Kr). Limited range: luma 16..235, chroma 16..240. */
RvInk rv_draw_ink(const RvDrawConfig *config, RvColor color) {
  const RvPixelLayout *layout = rv_pixel_layout(config->format);
  if (layout->kind == RV_KIND_RGB)
    return (RvInk){{color.r, color.g, color.b}, color.a};
  if (layout->planes == 1 && layout->kind == RV_KIND_PLANAR)
    return (RvInk){{(uint8_t)rv_gray(color.r, color.g, color.b), 0, 0}, color.a};

  const int64_t kr = config->bt709 ? 2126 : 2990, kb = config->bt709 ? 722 : 1140;
  const int64_t kg = 10000 - kr - kb;
  const int64_t luma = kr * color.r + kg * color.g + kb * color.b; /* 0..2550000 */
  const int64_t luma_span = config->full_range ? 255 : 219;
  const int64_t chroma_span = config->full_range ? 255 : 224;
  const int64_t black = config->full_range ? 0 : 16;
  const int64_t y = black + round_div(luma * luma_span, 2550000);
  const int64_t u = 128 + round_div((10000 * color.b - luma) * chroma_span, 255 * 2 * (10000 - kb));
  const int64_t v = 128 + round_div((10000 * color.r - luma) * chroma_span, 255 * 2 * (10000 - kr));
  return (RvInk){{(uint8_t)y, (uint8_t)rv_clamp((int)u, 0, 255), (uint8_t)rv_clamp((int)v, 0, 255)},
                 color.a};
}
