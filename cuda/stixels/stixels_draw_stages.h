/* stixels_draw_stages.h: what both engines of drawing share. Not installed. */
#ifndef RV_STIXELS_DRAW_STAGES_H
#define RV_STIXELS_DRAW_STAGES_H

#include "rv_internal.h"
#include "stixels_draw.h"
#include "stixels_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The stixel is drawn in rasters of this size. */
RV_HD int rv_stixels_is_drawn(const RvStixel *s, int width, int height) {
  return s->structure != RV_STIXEL_SKY && s->column < width && s->v_bottom < height &&
         s->v_top <= s->v_bottom;
}

/* Only with checked arguments; outline->data may be NULL. */
RvStatus rv_stixels_draw_cuda(const RvStixel *list, uint32_t count, int stixel_width,
                              const RvPlane *disparity, const RvPlane *outline, RvStream stream,
                              const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
