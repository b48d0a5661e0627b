/* SPDX-License-Identifier: MIT */
/* lanes_inputs.h: synthetic frames of a road with lane lines, for the tests of lanes. */
#ifndef RV_LANES_INPUTS_H
#define RV_LANES_INPUTS_H

#include "ground/ground_inputs.h"
#include "lanes/lanes.h"

/* A painted line; lengths in m. on = 0: without gaps. */
typedef struct LanesLine {
  double offset, heading, curvature;
  double width;
  double on, off, phase; /* dashes */
  int gray;
  uint32_t color; /* 0: as gray */
} LanesLine;

typedef struct LanesInput {
  RvCamera camera;
  int noise; /* gray levels to both sides */
  int count;
  LanesLine lines[8];
} LanesInput;

/* Paints gray (RV_U8) and, unless NULL, color (RV_U32). The road has gray 90, the sky 200. */
void lanes_input_paint(const LanesInput *input, RvRandom *random, const RvPlane *gray,
                       const RvPlane *color);

/* Three lines of a lane 3.6 m wide and its right neighbor: solid yellow, dashed, solid. */
LanesInput lanes_input_road(const RvCamera *camera);

#endif
