/* SPDX-License-Identifier: MIT */
/* hough_probe.h: access of the tests to the CUDA engine of the Hough transform. Without
 * CUDA there is no such object. */
#ifndef HOUGH_PROBE_H
#define HOUGH_PROBE_H

#include "hough/hough_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the votes are split on a GPU, for the time model. */
typedef struct HoughShape {
  int group; /* angles of a block */
  int parts, passes;
  int processors;
} HoughShape;

#if RV_HAVE_CUDA
void hough_probe_shape(const RvHough *hough, HoughShape *shape);

/* The object then does what it would do on a GPU before compute capability 9.0. */
void hough_probe_emulate_pre_sm90(RvHough *hough);
#else
static inline void hough_probe_shape(const RvHough *hough, HoughShape *shape) {
  (void)hough;
  *shape = (HoughShape){0};
}
static inline void hough_probe_emulate_pre_sm90(RvHough *hough) {
  (void)hough;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
