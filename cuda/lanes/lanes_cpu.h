/* SPDX-License-Identifier: MIT */
/* lanes_cpu.h: memory of the CPU engine of the lane lines. Internal. */
#ifndef RV_LANES_CPU_H
#define RV_LANES_CPU_H

#include "lanes/lanes_stages.h"

typedef struct RvLanesCpu {
  int threads;
  RvLanesState *state;
  RvLanesView view;
  RvLanesRow *rows;                  /* [row] */
  uint32_t *upto;                    /* [thread][column + 1]: sums of the columns before it */
  int32_t *response;                 /* [thread][column] */
  uint8_t *gray;                     /* [thread][column]: of averaged columns */
  uint32_t *place;                   /* [row][RV_LANES_ROW_HITS], then [hit] */
  int32_t *strength;                 /* [row][RV_LANES_ROW_HITS], then [hit]: y */
  int32_t *found;                    /* [row]: marks */
  uint32_t *points, *values;         /* [horizon][plan->hits] */
  int hits;                          /* of all rows */
  uint64_t *scores;                  /* [space] */
  uint32_t votes[RV_LANES_BINS + 1]; /* of the best space */
  uint64_t key, sum;                 /* of the best space; of all scores */
} RvLanesCpu;

RvStatus rv_lanes_cpu_lines(void *work, const RvLanesJob *job);

#endif
