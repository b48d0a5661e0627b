/* SPDX-License-Identifier: MIT */
/* sgm.h: stereo depth by semi-global matching. A rectified pair of 8-bit gray views becomes the
 * disparity of the left view, in 1/16 px, and optionally its confidence.
 *
 * Source: Hernandez-Juarez, thesis "Embedded Real-time Stereo Estimation ... Stixels", chapter 2
 * (eq. 2.1-2.4), which follows Hirschmueller 2008. What the thesis does not specify is stated here
 * and in docs/elements/cudasgm.md. Both engines give the same bits.
 *
 * Steps, in this order:
 *  1. census      center-symmetric 9x7 (31 bits, eq. 2.1) or full 9x7 (62 bits: each neighbor
 *                 compared with the center); windows are clamped at every edge.
 *  2. cost        Hamming distance (eq. 2.2) of left (x, y) and right (max(x - d, 0), y), with
 *                 d = min_disparity + k, k = 0 .. disparities - 1.
 *  3. aggregate   eq. 2.3 along `paths` directions; a path starts with L = cost. 2: left to right
 *                 and top to bottom; 4: with their opposites; 8: with the diagonals. S = sum of L.
 *  4. winner      smallest S, ties: smallest d (eq. 2.4 is an arg min). The disparity of the right
 *                 view comes from the same S: smallest S(x + d, y, d), ties: smallest d.
 *  5. uniqueness  invalid if S[k] * (100 - u) < 100 * S[best] for some |k - best| > 1.
 *  6. left-right  invalid if the match lies outside the right view, or the two disparities differ
 *                 by more than max_lr_diff; omitted when max_lr_diff is -1.
 *  7. subpixel    parabola through S[best-1], S[best], S[best+1], offset rounded half up to
 *                 1/16 px in integers; none at either end of the range or where it is flat.
 *  8. median      of the valid values in the 3x3 or 5x5 window (the lower one of an even number);
 *                 the window is cut at the edges; an invalid center stays invalid.
 *  9. speckle     4-connected regions whose neighbors differ by at most speckle_range become
 *                 invalid when they have fewer than speckle_size pixels.
 *
 * The engines run them as two stages: match (1 to 7) and filter (8 and 9). */
#ifndef RV_SGM_H
#define RV_SGM_H

#include "rv.h"
#include "rv_params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_SGM_SCALE 16            /* disparity values per px */
#define RV_SGM_INVALID 0           /* invalid pixel; a true disparity of 0 is stored as 1 */
#define RV_SGM_DISPARITIES_MAX 512 /* largest RvSgmConfig.disparities */

typedef enum RvSgmCost {
  RV_SGM_CSCT = 0, /* center-symmetric census 9x7, 31 bits */
  RV_SGM_CENSUS,   /* full census 9x7, 62 bits */
} RvSgmCost;

/* Fields: unit, range; default. rv_sgm_params () states the same as a table. */
typedef struct RvSgmConfig {
  int width, height; /* fixed for the life of the object; px, 1..RV_MAX_SIDE; no default */
  int disparities;   /* candidates, 32..512 in steps of 32; 128. May exceed the width */
  int min_disparity; /* px, 0..3584; 0 */
  int paths;         /* 2, 4 or 8; 8 */
  RvSgmCost cost;    /* RV_SGM_CSCT */
  int p1;            /* cost, at most p2, 0..8000; 10 */
  int p2;            /* cost, 0..8000; 120. Invalid when S could exceed 16 bits:
                      * paths * (bits + p2) > 65535, bits = 31 or 62 */
  int adaptive_p2;   /* 0 or 1; 0. P2 along a path becomes
                      * max(p2_min, p2 - p2_gradient * |I(x) - I(x - r)|) */
  int p2_min;        /* cost, 0..8000; 60. Read only with adaptive_p2, then p1..p2 */
  int p2_gradient;   /* cost per gray level, 0..255; 1; read only with adaptive_p2 */
  int uniqueness;    /* percent, 0..99; 3; 0 = off */
  int max_lr_diff;   /* px, -1..512; 1; -1 = off */
  int subpixel;      /* 0 or 1; 1 */
  int median;        /* side length of the window in px, 0, 3 or 5; 3. 0 = off */
  int speckle_size;  /* px, 0..100000; 100; 0 = off */
  int speckle_range; /* px, 0..64; 1 */
  int confidence;    /* 0 or 1; 0: whether run() fills the confidence plane */
  int threads;       /* CPU engine, 0 = all; 0 */
  RvLog log;         /* silent */
} RvSgmConfig;

typedef struct RvSgm RvSgm;

/* The parameters: names, ranges, units, defaults and texts. Never NULL. */
RV_API const RvParams *rv_sgm_params(void);

/* Sets the defaults; width and height become 0. */
RV_API void rv_sgm_config_init(RvSgmConfig *config);

/* RV_OK, or RV_ERR_ARG after logging which rule is broken. */
RV_API RvStatus rv_sgm_config_check(const RvSgmConfig *config);

/* Bytes that _new takes on the engine's memory, 0 if the config is invalid. From 64 columns and 240
 * rows on at most 2.2 * width * height * disparities, on both engines and with every cost. */
RV_API size_t rv_sgm_workspace(const RvSgmConfig *config, RvEngine engine);

/* *out is NULL after a failure. RV_CUDA takes its memory on the current device. */
RV_API RvStatus rv_sgm_new(RvSgm **out, const RvSgmConfig *config, RvEngine engine);

/* left, right: RV_U8. disparity: RV_U16, 1/16 px, absolute (min_disparity included), 0 = invalid.
 * confidence: RV_U8, or NULL; required with config.confidence. It is 255 * (S2 - S1) / S2 rounded
 * down, S1 the smallest S and S2 the smallest one at |k - best| > 1 (0 where S2 = 0 and where the
 * disparity is invalid after all stages).
 * All of width x height, in the memory of the engine, not overlapping. Neither allocates nor
 * waits: on RV_CUDA the work is enqueued on `stream`. */
RV_API RvStatus rv_sgm_run(RvSgm *sgm, const RvPlane *left, const RvPlane *right,
                           const RvPlane *disparity, const RvPlane *confidence, RvStream stream);

/* Does not wait: the caller has made sure that the stream has passed. */
RV_API void rv_sgm_free(RvSgm **sgm);

#ifdef __cplusplus
}
#endif
#endif
