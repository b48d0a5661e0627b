/* SPDX-License-Identifier: MIT */
/* road_events.h: changes rendered pairs of road_eval so that a frame alone does not show what road
 * looks like. */
#ifndef ROAD_EVENTS_H
#define ROAD_EVENTS_H

#include "rv.h"

/* The window of an event: the frames from 2/5 to 4/5 of a drive. Stretches of mud and shadow lie on
 * the ground, 20 m apart, all along the drive. */
typedef enum RoadEvent {
  ROAD_EVENT_NONE = 0,
  ROAD_EVENT_VEHICLE, /* the rear of a van at the lower edge hides the ground behind it: window */
  ROAD_EVENT_DUST,    /* dust hides it, and thins out behind it: window */
  ROAD_EVENT_LIGHT,   /* exposure and white balance jump every 12 frames */
  ROAD_EVENT_MUD,     /* stretches of mud, 12 m long, on the road */
  ROAD_EVENT_SHADOW,  /* stretches of shadow, 12 m long, on road and verge */
  ROAD_EVENTS
} RoadEvent;

/* NONE for an unknown name. */
RoadEvent road_event_of(const char *name);

/* Frame `index` of `count` as rendered. Pixels are R, G, B, x in memory; all planes have the same
 * size and no padding. */
typedef struct RoadEventFrame {
  int index, count;
  double travel; /* of the camera since the first frame, m */
  const RvCamera *camera;
  uint32_t *left, *right; /* changed */
  RvPlane road;           /* RV_U8: ground truth; 0 where the event hides the road */
  RvPlane disparity;      /* RV_U16: ground truth */
} RoadEventFrame;

/* 0 when there is no memory. */
int road_event_apply(RoadEvent event, const RoadEventFrame *frame);

#endif
