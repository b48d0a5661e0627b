/* SPDX-License-Identifier: MIT */
/* hough_cpu.h: memory of the CPU engine of the Hough transform, and its stages. Internal. */
#ifndef RV_HOUGH_CPU_H
#define RV_HOUGH_CPU_H

#include "hough/hough_stages.h"

#define RV_HOUGH_CHUNK 512 /* points whose bins are found before they are counted */

typedef struct RvHoughCpu {
  int threads;
  uint32_t *gradients; /* of every pixel, packed; not with binary edges */
  uint8_t *classes;    /* 255 on edges; the same size */
  size_t point_count;
  uint32_t *points;   /* the list */
  uint32_t *values;   /* gradient of each point; only when votes need it */
  uint32_t *bins;     /* the accumulator */
  uint16_t *counters; /* of one angle, two copies, for each thread */
  uint64_t *keys;     /* a heap of peaks; then the strongest, in order, from the end backwards */
  size_t key_count;   /* of all peaks */
  RvHoughAngle *angles;
} RvHoughCpu;

/* The stage. */
RvStatus rv_hough_cpu_edges(void *work, RvHoughJob *job);

#endif
