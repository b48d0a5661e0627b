/* SPDX-License-Identifier: MIT */
/* obstacles_cpu.h: memory of the CPU engine of obstacles and free space. Internal. */
#ifndef RV_OBSTACLES_CPU_H
#define RV_OBSTACLES_CPU_H

#include "obstacles/obstacles_stages.h"

#define RV_OBSTACLES_GROUP 8 /* strips that one thread works on at once: a cache line of pixels */

/* A pixel that may belong to a run: fine bin, column in the strip << 9, class >= OVER << 14,
 * sampled row << 15. */
typedef uint32_t RvObstaclesPixel;

/* What one thread needs for a group of strips. */
typedef struct RvObstaclesGroup {
  uint32_t *over;           /* [strip of the group][fine]: votes above the clearance */
  RvObstaclesPixel *pixels; /* [strip of the group][rows * n] */
  uint32_t *mask;           /* [run][rows / 32] */
} RvObstaclesGroup;

typedef struct RvObstaclesComponent {
  int32_t label, first, count; /* of its runs in `order` */
  RvObstacleBox box;
} RvObstaclesComponent;

typedef struct RvObstaclesCpu {
  int threads, words;         /* words: of a mask of rows */
  uint16_t *raster;           /* of records */
  RvObstaclesDepthRow *depth; /* [D in 1/16 px] */
  uint16_t *fine;             /* [D in 1/16 px]: bin */
  int32_t *column;            /* [px] */
  RvObstaclesGroup *group;    /* [thread] */
  uint32_t *votes;            /* [strip][fine] */
  uint8_t *evidence;          /* [strip][coarse] */
  uint32_t *ground;           /* [strip][coarse / 32]: bits of bins in which ground was seen */
  uint8_t *valid;             /* [strip]: fraction of pixels below the horizon that are valid */
  RvObstaclesRun *runs;       /* [strip][RV_OBSTACLES_RUNS] */
  uint8_t *run_count;         /* [strip] */
  int32_t *cost;              /* [2][coarse] */
  uint8_t *from;              /* [strip][coarse] */
  uint8_t *path;              /* [strip] */
  int32_t *label;             /* [strip][RV_OBSTACLES_RUNS]: union-find; the root is the least */
  int32_t *order;             /* [run]: runs sorted by label */
  int32_t *rank;              /* [run]: of the box that the root's component became, -1: none */
  RvObstaclesComponent *components;
} RvObstaclesCpu;

/* Runs of a strip from its votes and pixels. */
void rv_obstacles_cpu_runs(const RvObstaclesCpu *cpu, const RvObstaclesPlan *plan, int strip,
                           const uint32_t *over, const RvObstaclesPixel *pixels, int count,
                           uint32_t *mask);
void rv_obstacles_cpu_boxes(const RvObstaclesCpu *cpu, const RvObstaclesJob *job);

#endif
