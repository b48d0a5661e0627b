/* SPDX-License-Identifier: MIT */
/* road_test.h: frames of a road with a disparity, and the expected results from the library. */
#ifndef ROAD_TEST_H
#define ROAD_TEST_H

#include "element_test.h"
#include "road/road.h"

enum { ROAD_W = 131, ROAD_H = 75 };

/* Annotations of road_image. */
enum { ROAD_DISPARITY = 1, ROAD_CAMERA = 2, ROAD_ALL = 3, ROAD_FLAT = 4 /* all invalid */ };

int road_engine_count(void); /* 1, or 2 where there is a GPU */
const char *road_engine(int index);

/* A road of one color between verges of others on flat ground below row 25, noise that depends on
 * `seed`. */
GstBuffer *road_image(const GstVideoInfo *info, int seed, int attached);

/* The library called by hand, frame after frame. */
typedef struct RoadReference {
  RvRoadConfig config;
  RvRoad *road;
  int columns, rows;
  guint8 *mask, *seeds, *score;
  gfloat *distance;
  RvRoadReport report;
  RvRoadBorder border;
} RoadReference;

/* `config` NULL: defaults. Size and camera are those of road_image. */
void road_reference_new(RoadReference *reference, const GstVideoInfo *info,
                        const RvRoadConfig *config);
void road_reference_config(RoadReference *reference,
                           const RvRoadConfig *config); /* from the next frame on */
void road_reference_free(RoadReference *reference);

/* Runs the buffer's image and, when it has one, disparity. */
void road_reference_run(RoadReference *reference, GstBuffer *buffer, const GstVideoInfo *info);

/* Runs it, and holds the annotation to it. */
void road_reference_check(RoadReference *reference, GstBuffer *buffer, const GstVideoInfo *info);

/* Camera of road_image for an image of this size. */
RvCamera road_camera(const GstVideoInfo *info);

GstHarness *road_harness(const char *rest, const char *engine, const char *format, int w, int h,
                         GstVideoInfo *info);

#endif
