/* SPDX-License-Identifier: MIT */
/* rectify_inputs.h: synthetic stereo cameras for the tests of cuda/rectify. */
#ifndef RV_RECTIFY_INPUTS_H
#define RV_RECTIFY_INPUTS_H

#include "convert/convert_picture_cases.h"
#include "rectify/rectify.h"
#include "rvcheck.h"

/* Defaults with a pinhole camera whose views have that size; pose only. */
void rectify_input_config(RvRectifyConfig *config, int width, int height);

enum {
  RECTIFY_RADTAN,   /* 4 or 5 coefficients */
  RECTIFY_RATIONAL, /* 8 */
  RECTIFY_PRISM,    /* 12 */
  RECTIFY_TILTED,   /* 14 */
  RECTIFY_FISHEYE,
  RECTIFY_RECTIFIED, /* nothing to do */
  RECTIFY_KINDS
};

/* Random camera of that kind. */
void rectify_input_random(RvRectifyConfig *config, RvRandom *random, int kind, int width,
                          int height);

/* Image over dense memory, cleared, for free(). */
RvPicture rectify_input_picture(RvPixelFormat format, int width, int height, void **memory,
                                size_t *bytes);

/* Packed frame of two views. */
RvPicture rectify_input_frame(const RvRectifyConfig *config, int view_width, int view_height,
                              void **memory, size_t *bytes);

/* Input with random content and padded rows, and two outputs of different content. 0 when the
 * geometry is not valid or there is no memory. */
typedef struct RectifyFrames {
  CasePicture in, expected, got;
} RectifyFrames;

int rectify_frames_new(RvCheck *check, RectifyFrames *frames, const RvRectifyConfig *config,
                       RvRandom *random, int fill);
void rectify_frames_free(RectifyFrames *frames);

#endif
