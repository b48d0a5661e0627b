/* SPDX-License-Identifier: MIT */
/* stixels_draw_stages.h: declarations shared by both engines of drawing. Not installed. */
#ifndef RV_STIXELS_DRAW_STAGES_H
#define RV_STIXELS_DRAW_STAGES_H

#include "rv_internal.h"
#include "stixels/stixels_draw.h"
#include "stixels/stixels_record_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a stixel is drawn in rasters of this size. */
RV_HD int rv_stixels_is_drawn(const RvStixel *s, int width, int height) {
  return s->column < width && s->v_bottom < height && s->v_top <= s->v_bottom;
}

/* 1/16 px; 0 on sky. */
RV_HD uint16_t rv_stixels_drawn_disparity(const RvStixel *s, int y) {
  return s->structure == RV_STIXEL_SKY ? 0 : rv_stixels_rendered(s, y);
}

RV_HD uint8_t rv_stixels_drawn_class(const RvStixel *s, int y) {
  const int is_named = s->structure != RV_STIXEL_SKY && s->semantic < RV_STIXELS_SEMANTICS_MAX;
  const int value = is_named ? RV_STIXELS_DRAWN_SEMANTIC + s->semantic : 1 + s->structure;
  if (!is_named && s->structure >= RV_STIXELS_CLASSES)
    return 0;
  const int band = rv_stixels_drawn_disparity(s, y) / (16 * RV_STIXELS_BAND);
  return (uint8_t)(band & 1 ? RV_STIXELS_DRAWN_BAND + value : value);
}

/* is_edge: in the top row or the left column. */
RV_HD uint8_t rv_stixels_drawn_outline(const RvStixel *s, int is_edge) {
  return is_edge && s->structure != RV_STIXEL_SKY ? 255 : 0;
}

/* The arguments must be valid. */
RvStatus rv_stixels_draw_cuda(const RvStixel *list, uint32_t count, int stixel_width,
                              const RvStixelsRasters *rasters, RvStream stream, const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
