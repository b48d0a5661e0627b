/* SPDX-License-Identifier: MIT */
/* road_sequence_inputs.h: a synthetic sequence on a dirt track, frame by frame, for the tests. */
#ifndef RV_ROAD_SEQUENCE_H
#define RV_ROAD_SEQUENCE_H

#include "road/road.h"

#define RV_ROAD_SEQUENCE_FRAMES 64

/* Defaults, the size, and the camera of paint(). */
void rv_road_sequence_config(RvRoadConfig *config, int width, int height);

/* Frame 0, 1, ...: width x height pixels each, without gaps between the rows. */
void rv_road_sequence_paint(const RvRoadConfig *config, int frame, uint32_t *color,
                            uint16_t *disparity);

#endif
