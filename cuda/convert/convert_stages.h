/* SPDX-License-Identifier: MIT */
/* convert_stages.h: what an engine does for convert.c, after all checks. Internal. */
#ifndef RV_CONVERT_STAGES_H
#define RV_CONVERT_STAGES_H

#include "convert/convert_rules.h"
#include "rv_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RvConvertJob {
  int threads;
  RvStream stream;
  const RvLog *log;
} RvConvertJob;

typedef struct RvConvertStages {
  /* `rows` rows of `bytes` each. */
  RvStatus (*rows)(const RvConvertJob *job, void *to, ptrdiff_t to_stride, const void *from,
                   ptrdiff_t from_stride, size_t bytes, int rows);

  /* `rows` rows of one byte value. */
  RvStatus (*fill)(const RvConvertJob *job, void *to, ptrdiff_t to_stride, int byte, size_t bytes,
                   int rows);

  /* Luma of packed YUV and of 16-bit samples, or gray of RGB, of the rectangle of the size of
   * `gray` at (x, y). */
  RvStatus (*gray)(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                   const RvPlane *gray);

  /* Crop of packed YUV where x or the width is odd, so that pixel pairs are recombined. */
  RvStatus (*repack)(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                     const RvPicture *out);

  /* All pixels of the size of `color`. */
  RvStatus (*color)(const RvConvertJob *job, const RvConvertSource *source, const RvPlane *color);
} RvConvertStages;

extern const RvConvertStages rv_convert_stages_cpu, rv_convert_stages_cuda;

#ifdef __cplusplus
}
#endif
#endif
