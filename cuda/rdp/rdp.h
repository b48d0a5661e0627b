/* SPDX-License-Identifier: MIT */
/* rdp.h: depth columns into line segments. Every column of a disparity raster becomes a polyline
 * whose vertices are pixels of the column and which stays within epsilon of all of them: a few
 * segments instead of a thousand values.
 *
 * Source: Cebrian and Moure, "GPU-accelerated RDP Algorithm for Data Segmentation" (after Ramer,
 * Douglas, Peucker). The result is that of the paper's Algorithm 1, the plain recursion; its
 * Algorithm 3 is not followed (docs/elements/cudardp.md lists its errors). Both engines give the
 * same bits.
 *
 * What is computed, column by column:
 *  1. median      optional: of the valid values in the 3x3 or 5x5 window (the lower one of an even
 *                 number); the window is clipped at the edges; an invalid center stays invalid.
 *  2. runs        RV_RDP_SKIP: one run from the first to the last valid row; invalid rows between
 *                 are bridged. RV_RDP_BREAK: one run per sequence of valid rows.
 *  3. split       a run starts as one segment f..l. With d in 1/16 px the deviation of row i is
 *                   e_i = |(d_l - d_f)(i - f) - (d_i - d_f)(l - f)|,
 *                 an integer below 2^31. The valid row with the largest e_i (ties: the topmost)
 *                 becomes a split point when its distance exceeds epsilon, and both parts are
 *                 split in the same way. The distance is
 *                   vertical       e / (l - f)                       in 1/16 px of disparity
 *                   perpendicular  e / sqrt(256 (l - f)^2 + (d_l - d_f)^2)    in px, rows and
 *                                  disparities taken as the two axes of a plane
 *                 compared exactly, in integers.
 *  4. output      mask of vertices, list of segments, and the other requested outputs.
 *
 * Neighboring segments of a run share their vertex. A run of one row is one segment with
 * first = last. A column without any valid row has no segment. */
#ifndef RV_RDP_H
#define RV_RDP_H

#include "rv.h"
#include "rv_params.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_RDP_SCALE 16 /* disparity values per px */

/* Values of the mask. */
#define RV_RDP_NONE 0  /* no vertex */
#define RV_RDP_END 128 /* first or last row of a run */
#define RV_RDP_CUT 255 /* row where two segments meet */

typedef enum RvRdpDistance { RV_RDP_VERTICAL = 0, RV_RDP_PERPENDICULAR } RvRdpDistance;
typedef enum RvRdpInvalid { RV_RDP_SKIP = 0, RV_RDP_BREAK } RvRdpInvalid;

/* Fields: unit, range; default. rv_rdp_params () states the same as a table. */
typedef struct RvRdpConfig {
  int width, height; /* fixed for the life of the object; px, 1..16384; no default */
  double epsilon;    /* px of disparity, in steps of 1/4096 px, 0..4095; 1. 0 keeps every bend */
  RvRdpDistance distance; /* RV_RDP_VERTICAL */
  RvRdpInvalid invalid;   /* RV_RDP_SKIP */
  int median;             /* side length of the window in px, 0, 3 or 5; 0 = off */
  int max_levels;         /* levels of the recursion, 0..16384; 0 = no limit. With n a run becomes
                           * at most 2^(n-1) segments */
  int threads;            /* CPU engine, 0 = all; 0 */
  RvLog log;              /* silent */
} RvRdpConfig;

/* Statistics of a column. Errors compare the polyline, rounded to 1/16 px, with the valid values
 * (after the median); they are 0 unless the reconstruction is requested too. */
typedef struct RvRdpColumn {
  uint32_t segments;
  uint32_t points;    /* valid rows */
  uint32_t error_sum; /* 1/16 px, over the valid rows */
  uint16_t error_max; /* 1/16 px */
  uint16_t levels;    /* depth of the recursion: 0 without valid rows, 1 without splits */
} RvRdpColumn;

/* Where run() writes, all in the memory of the engine, not overlapping. Outputs that are NULL
 * (planes: data is NULL) are not computed. */
typedef struct RvRdpOutput {
  RvPlane mask;           /* RV_U8, width x height */
  RvPlane reconstruction; /* RV_U16, width x height: the polylines in 1/16 px, halves away from the
                           * segment's first value; 0 where there is no segment */
  RvSegment *segments;    /* columns from left to right, rows from the top; aligned to 4 bytes */
  uint32_t capacity;      /* of `segments`; those beyond are counted but not written */
  uint32_t *offsets;      /* width + 1: number of segments of all columns to the left, whatever the
                           * capacity; the last is that of all columns */
  RvRdpColumn *columns;   /* width */
} RvRdpOutput;

/* rv_rdp_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h. */
RV_ALGORITHM_API(RvRdp, rdp);

/* Capacity that holds every segment of every input: width * max(1, height - 1). */
RV_API uint32_t rv_rdp_segments_max(const RvRdpConfig *config);

/* disparity: RV_U16, 1/16 px, 0 = invalid, width x height. */
RV_API RvStatus rv_rdp_run(RvRdp *rdp, const RvPlane *disparity, const RvRdpOutput *output,
                           RvStream stream);

#ifdef __cplusplus
}
#endif
#endif
