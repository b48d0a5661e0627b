/* SPDX-License-Identifier: MIT */
/* draw_object.h: the object, for draw.c and draw_shapes.c. Internal. */
#ifndef RV_DRAW_OBJECT_H
#define RV_DRAW_OBJECT_H

#include "draw/draw_stages.h"

struct RvDraw {
  RvObject object;
  RvDrawPlan plan;
  int full_logged;
  int count;
  RvShape shapes[RV_DRAW_SHAPES];
};

#endif
