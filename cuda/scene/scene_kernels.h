/* SPDX-License-Identifier: MIT */
/* scene_kernels.h: what a pixel costs, compiled once per instruction set with the same bits. */
#ifndef RV_SCENE_KERNELS_H
#define RV_SCENE_KERNELS_H

#include "scene/scene.h"

typedef struct SceneKernels {
  const char *name; /* "avx512", "avx2", "base" */
  /* Row y of one view: `ids` and `depths` of SceneWork, and the truth (may be NULL) of the left
   * one. */
  void (*trace)(const RvScene *scene, int view, int y, const RvSceneTruth *truth);
  /* Its colors, from `ids` and `depths` of it and its neighbors. */
  void (*shade)(const RvScene *scene, uint64_t frame, int view, int y);
  /* What the sensor makes of a row of gray light. */
  void (*sense_gray)(const RvScene *scene, uint64_t frame, int view, int y, const float *gray);
} SceneKernels;

extern const SceneKernels scene_kernels_base, scene_kernels_avx2, scene_kernels_avx512;

/* Those that this processor can run, fastest first; NULL after the last. */
const SceneKernels *scene_kernels(int index);

#endif
