/* SPDX-License-Identifier: MIT */
/* sgm.h: stereo depth by semi-global matching. A rectified pair of 8-bit gray views becomes the
 * disparity of the left view, in 1/16 px, and optionally its confidence.
 *
 * Source: Hernandez-Juarez, thesis "Embedded Real-time Stereo Estimation ... Stixels", chapter 2
 * (eq. 2.1-2.4), which follows Hirschmueller 2008. What the thesis does not specify is stated here
 * and in docs/elements/cudasgm.md. Both engines give the same bits.
 *
 * Steps, in this order:
 *  1. census      mixed (32 bits: 16 pairs of the center-symmetric census, and 16 neighbors
 *                 compared with the mean of the 3x3 block around the center), or, as in the thesis,
 *                 center-symmetric 9x7 (31 bits, eq. 2.1), or full 9x7 (62 bits: each neighbor
 *                 compared with the center); windows are clamped at every edge.
 *  2. cost        Hamming distance (eq. 2.2) of left (x, y) and right (max(x - d, 0), y), with
 *                 d = min_disparity + k, k = 0 .. disparities - 1; at most max_cost.
 *  3. aggregate   eq. 2.3 along `paths` directions; a path starts with L = cost. 2: left to right
 *                 and top to bottom; 4: with their opposites; 8: with the diagonals. S = sum of L.
 *                 On a vertical or diagonal step a change by 1 px as on the ground, whose disparity
 *                 grows downwards, costs p1_ground instead of p1.
 *  4. winner      smallest S, ties: smallest d (eq. 2.4 is an arg min). The disparity of the right
 *                 view comes from the same S: smallest S(x + d, y, d), ties: smallest d.
 *  5. uniqueness  invalid if S[k] * (100 - u) < 100 * S[best] for some |k - best| > 1.
 *  6. left-right  invalid if the match lies outside the right view, or the two disparities differ
 *                 by more than max_lr_diff; omitted when max_lr_diff is -1.
 *  7. subpixel    lowest point of a curve through a = S[best-1], b = S[best], c = S[best+1]: of two
 *                 lines of equal and opposite slope, (a - c) / (2 (max(a, c) - b)), or of a
 *                 parabola, (a - c) / (2 (a - 2 b + c)); rounded half up to 1/16 px in integers;
 *                 none at either end of the range or where it is flat.
 *  8. median      of the valid values in the 3x3 or 5x5 window (the lower one of an even number);
 *                 the window is clipped at the edges; an invalid center stays invalid.
 *  9. speckle     4-connected regions whose neighbors differ by at most speckle_range become
 *                 invalid when they have fewer than speckle_size pixels.
 * 10. sky         with reject_sky: 4-connected regions of pixels without texture that touch the top
 *                 row become invalid. A pixel belongs to them if it is invalid or at most 8 px, the
 *                 sum of |I(x+1,y) - I(x,y)| + |I(x,y+1) - I(x,y)| over the 9x7 window is below
 *                 384, and the mean of the window is not below that of the view. Windows and
 *                 differences are clamped at the edges.
 * 11. fill        with RV_SGM_FILL_DENSE: every other invalid pixel gets a value. Ends of a run are
 *                 the nearest pixels to the left and right in regions (as in 9) of at least 200 px.
 *                 With both ends l and r: the winner of step 4, if it is at most 1 px outside
 *                 min(l, r) .. max(l, r) and |l - r| is at most half a px per px of the run, else
 *                 min(l, r), the background. With one end: that end. With none: the winner. Then
 *                 each filled pixel becomes the weighted median of the 11x11 window without the
 *                 sky: the smallest value at which the weights round(64 exp(-|I(p) - I(q)| / 16))
 *                 of the values up to it reach half of all.
 *
 * The engines run them as three stages: match (1 to 7), filter (8 and 9), refine (10 and 11). */
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
#define RV_SGM_STAGES 3            /* of rv_sgm_stage_times () */
#define RV_SGM_FILLED 1            /* confidence of a filled pixel */
#define RV_SGM_MEASURED 2          /* lowest confidence of a matched pixel */

typedef enum RvSgmCost {
  RV_SGM_CSCT = 0, /* center-symmetric census 9x7, 31 bits */
  RV_SGM_CENSUS,   /* full census 9x7, 62 bits */
  RV_SGM_MIXED,    /* pairs of the center-symmetric census and a smoothed center, 32 bits */
} RvSgmCost;

typedef enum RvSgmFill {
  RV_SGM_FILL_NONE = 0,
  RV_SGM_FILL_DENSE, /* a value for every pixel but rejected sky */
} RvSgmFill;

typedef enum RvSgmFit {
  RV_SGM_FIT_AUTO = 0,    /* equiangular with RV_SGM_MIXED, else parabola */
  RV_SGM_FIT_PARABOLA,    /* thesis */
  RV_SGM_FIT_EQUIANGULAR, /* two lines of equal and opposite slope */
} RvSgmFit;

/* Fields: unit, range; default. rv_sgm_params () states the same as a table. */
typedef struct RvSgmConfig {
  int width, height; /* fixed for the life of the object; px, 1..RV_MAX_SIDE; no default */
  int disparities;   /* candidates, 32..512 in steps of 32; 128. May exceed the width */
  int min_disparity; /* px, 0..3584; 0 */
  int paths;         /* 2, 4 or 8; 4 */
  RvSgmCost cost;    /* RV_SGM_MIXED */
  int max_cost;      /* bits, 0..62; 0 = 14 with RV_SGM_MIXED, else no limit. Larger matching costs
                      * become this; a value above the bits of the cost has no effect */
  int p1;            /* cost, at most p2, 0..8000; 12 */
  int p2;            /* cost, 0..8000; 127. Invalid when S could exceed 16 bits:
                      * paths * (highest cost + p2) > 65535 */
  int p1_ground;   /* cost, at most p1, -1..8000; -1 = half of p1 with RV_SGM_MIXED, else p1. P1 of
                    * a vertical or diagonal step whose disparity grows by 1 px downwards */
  int adaptive_p2; /* 0 or 1; 1. P2 along a path becomes
                    * max(p2_min, p2 - p2_gradient * |I(x) - I(x - r)|) */
  int p2_min;      /* cost, 0..8000; 40. Read only with adaptive_p2, then p1..p2 */
  int p2_gradient; /* cost per gray level, 0..255; 4; read only with adaptive_p2 */
  int uniqueness;  /* percent, 0..99; 3; 0 = off */
  int max_lr_diff; /* px, -1..512; 1; -1 = off */
  int subpixel;    /* 0 or 1; 1 */
  RvSgmFit subpixel_fit; /* RV_SGM_FIT_AUTO; read only with subpixel */
  int median;            /* side length of the window in px, 0, 3 or 5; 5. 0 = off */
  int speckle_size;      /* px, 0..100000; 100; 0 = off */
  int speckle_range;     /* px, 0..64; 1 */
  int reject_sky;        /* 0 or 1; 1 */
  RvSgmFill fill;        /* RV_SGM_FILL_NONE */
  int confidence;        /* 0 or 1; 0: whether run() fills the confidence plane */
  int stage_times;       /* 0 or 1; 0: whether run() measures its stages */
  int threads;           /* CPU engine, 0 = all; 0 */
  RvLog log;             /* silent */
} RvSgmConfig;

/* rv_sgm_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h.
 * _workspace: from 64 columns and 240 rows on at most (2.2 * disparities + 16) * width * height, on
 * both engines and with every cost. */
RV_ALGORITHM_API(RvSgm, sgm);

/* left, right: RV_U8. disparity: RV_U16, 1/16 px, absolute (min_disparity included), 0 = invalid.
 * confidence: RV_U8, or NULL; required with config.confidence. 255 times the probability that the
 * disparity is right (not wrong by more than 3 px and 5 %), from a table by the margin S2 - S1, S1
 * the smallest S and S2 the smallest one at |k - best| > 4; at least RV_SGM_MEASURED, but
 * RV_SGM_FILLED where step 11 gave the value, and 0 where the disparity is invalid.
 * All of width x height, in the memory of the engine, not overlapping. Neither allocates nor
 * waits: on RV_CUDA the work is enqueued on `stream`. */
RV_API RvStatus rv_sgm_run(RvSgm *sgm, const RvPlane *left, const RvPlane *right,
                           const RvPlane *disparity, const RvPlane *confidence, RvStream stream);

/* Time of each stage of the last run(), us: match (costs, paths, winner, checks), filter (median,
 * speckle), refine (sky, fill). RV_ERR_ARG without config.stage_times or before the first run. On
 * RV_CUDA, call it after the stream has been synchronized and with the device current; time in
 * which the stream waits for other work is included. */
RV_API RvStatus rv_sgm_stage_times(const RvSgm *sgm, double us[RV_SGM_STAGES]);

#ifdef __cplusplus
}
#endif
#endif
