/* SPDX-License-Identifier: MIT */
/* rectify_stages.h: plan, job and the stage of rectification. Not installed. */
#ifndef RV_RECTIFY_STAGES_H
#define RV_RECTIFY_STAGES_H

#include "rectify/rectify.h"
#include "rectify/rectify_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RV_RECTIFY_LUMA = 0, RV_RECTIFY_CHROMA, RV_RECTIFY_GRIDS };

/* Columns first .. last - 1 of one row of a view. */
typedef struct RvRectifySpan {
  int32_t first, last;
} RvRectifySpan;

/* Constants of an object. */
typedef struct RvRectifyPlan {
  RvRectifyConfig config;
  RvRectifyGeometry geometry;
  int views[2];       /* 0 left, 1 right: of the first and second in the frame */
  int grids;          /* 1, or 2 with chroma of its own */
  int cell_x, cell_y; /* luma samples per chroma sample */
  RvRectifyGrid grid[RV_RECTIFY_GRIDS];
  int border[RV_RECTIFY_GRIDS];    /* value outside of luma or RGB, and of chroma */
  int is_identity;                 /* run() copies the frame */
  RvRectifySpan runs[RV_MAX_SIDE]; /* of each row of an output view: no border in either view */
} RvRectifyPlan;

/* One call of run(). */
typedef struct RvRectifyJob {
  const RvRectifyPlan *plan;
  RvPicture in, out;
  RvStream stream;
} RvRectifyJob;

/* remap: all planes of both views. */
RV_STAGES(RvRectify, rectify, const RvRectifyJob, *remap);

/* Samples of one kind in an image: where a channel of sample i of a row is. */
typedef struct RvRectifySamples {
  int grid; /* RV_RECTIFY_LUMA or RV_RECTIFY_CHROMA */
  int plane;
  int channels; /* 1..4 */
  int step;     /* bytes from one sample to the next */
  int offset;   /* bytes of the first channel */
  int distance; /* bytes from one channel to the next */
  int wide;     /* 1: values of 2 bytes, little endian */
  int repeats;  /* 1: a row of odd width has one sample more, which repeats the last */
} RvRectifySamples;

#define RV_RECTIFY_SAMPLES_MAX 3

/* The samples of a format; returns how many kinds there are. */
int rv_rectify_samples(RvPixelFormat format, RvRectifySamples samples[RV_RECTIFY_SAMPLES_MAX]);

#ifdef __cplusplus
}
#endif
#endif
