/* SPDX-License-Identifier: MIT */
/* road_inputs.h: frames of the made-up drive through objects of either engine, for the tests. */
#ifndef RV_ROAD_DRIVE_H
#define RV_ROAD_DRIVE_H

#include "road/road_stages.h"
#include "rvcheck.h"

/* Frames in host memory, and for whom. */
typedef struct RvRoadDrive {
  RvCheck *check;
  const char *name;
  RvRoadConfig config;
  RvPlane color, disparity;
} RvRoadDrive;

/* What an object makes of a frame, in host memory. */
typedef struct RvRoadResult {
  RvPlane mask, distance, seeds;
  RvRoadReport report;
} RvRoadResult;

/* What rv_road_save() wrote, for free(). */
typedef struct RvRoadSaved {
  uint8_t *bytes;
  size_t size;
} RvRoadSaved;

void rv_road_drive_open(RvCheck *check, const char *name, RvRoadDrive *d, int width, int height);
void rv_road_drive_close(RvRoadDrive *d);
void rv_road_result_open(const RvRoadConfig *config, RvRoadResult *r);
void rv_road_result_close(RvRoadResult *r);
void rv_road_result_same(const RvRoadDrive *d, const RvRoadResult *a, const RvRoadResult *b,
                         const char *what);

/* NULL after counting the failure. */
RvRoad *rv_road_drive_new(const RvRoadDrive *d, const RvRoadConfig *config, RvEngine engine);

/* The frame, painted, through an object; several from an object's first one on. */
void rv_road_drive_paint(const RvRoadDrive *d, int frame);
void rv_road_drive_run(const RvRoadDrive *d, RvRoad *road, int has_disparity, RvRoadResult *r);
void rv_road_drive_frames(const RvRoadDrive *d, RvRoad *road, int first, int last);

/* Empty after counting a failure. */
RvRoadSaved rv_road_drive_save(const RvRoadDrive *d, RvRoad *road);
/* Saves again: the bytes must be the same. */
void rv_road_drive_same(const RvRoadDrive *d, RvRoad *road, const RvRoadSaved *wanted,
                        const char *what);

/* A log that keeps the last line, in `text` of RV_ROAD_NOTE bytes. */
#define RV_ROAD_NOTE 200
RvLog rv_road_drive_note(char *text);

#endif
