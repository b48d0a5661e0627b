/* SPDX-License-Identifier: MIT */
/* sgm_cpu_sweep.h: the inner loops of the CPU engine, compiled once per instruction set. Not
 * installed.
 *
 * Two sweeps over the rows compute everything, one from the top and one from the bottom, at the
 * same time when there are two threads. Each steps the vertical path and both diagonals of its
 * direction. A cell of a path has 8 bits where largest cost + p1 + p2 fits, else 16.
 *
 *   partial  the first of the two sweeps to reach a row: left-to-right path into the row's slot;
 *            then, from the right edge to the left, right-to-left, vertical and diagonals; their
 *            sum stays in the slot
 *   final    the second one: the slot's sum, vertical and diagonals make S, and at once winner,
 *            uniqueness, subpixel, confidence and the minimum of the right view
 *
 * The state of a diagonal path stays in the same slot while the path lasts, so one array serves all
 * rows: (x - row) or (x + row) modulo the number of slots. A state of zeros starts a path: it gives
 * L = cost. */
#ifndef RV_SGM_SWEEP_H
#define RV_SGM_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "sgm/sgm.h"

#define RV_SGM_PLANES 8 /* maximum bytes of a descriptor */
#define RV_SGM_LANES                                                                               \
  64 /* cells of the widest vector; rows of descriptors have as many spare bytes */

/* States of all paths of one direction: `disparities` cells each, and the minimum of each. */
typedef struct RvSgmPaths {
  void *cells;
  void *minima;
} RvSgmPaths;

/* Input, state and output of one row of one sweep. */
typedef struct RvSgmRow {
  const RvSgmConfig *config;
  int row;                            /* counted in the direction of the sweep */
  int planes;                         /* bytes of a descriptor: 4 or 8 */
  int cost_max;                       /* largest matching cost */
  int p1_below, p1_above;             /* P1 of k - 1 -> k and k + 1 -> k on all steps to this row */
  int equiangular;                    /* subpixel fit */
  int margin_scale;                   /* of the confidence */
  const uint16_t *p2_of;              /* by |gray difference|, NULL when P2 is constant */
  const uint8_t *gray, *gray_before;  /* left view: this row and the row swept before it */
  const uint8_t *left[RV_SGM_PLANES]; /* descriptor bytes, by x */
  const uint8_t *right[RV_SGM_PLANES]; /* by width - 1 - x; column 0 is repeated */
  void *slot;
  RvSgmPaths chain;                 /* one state: the horizontal path */
  RvSgmPaths vertical, diagonal[2]; /* predecessors at x; at x - 1 and x + 1 */
  int diagonals;                    /* slots of each diagonal */
  int diagonal_at[2];               /* slot of column 0 in this row, 0 .. diagonals - 1 */
  /* Winners: maps of the row by x, and the minimum of the right view by width - 1 - x. */
  uint16_t *winner, *disparity, *right_sum, *right_k;
  uint8_t *confidence;
} RvSgmRow;

typedef enum RvSgmPass {
  RV_SGM_PARTIAL8 = 0, /* slot: first path in, partial S out */
  RV_SGM_PARTIAL4,
  RV_SGM_FINAL8, /* slot: partial S in; winner out */
  RV_SGM_FINAL4,
  RV_SGM_ONLY2, /* two paths, one sweep: first path in, winner out */
} RvSgmPass;

typedef struct RvSgmKernels {
  const char *name;
  int vector_bytes; /* a state must be a multiple of this */
  /* rows: 7 rows, each with 4 spare columns at both ends; out: the descriptor's bytes, and with
   * RV_SGM_MIXED a plane of scratch after them. */
  void (*census)(const uint8_t *const *rows, int width, RvSgmCost cost, uint8_t *const *out);
  /* By cell size: [0] 8 bit, [1] 16 bit. */
  void (*first[2])(const RvSgmRow *row);
  void (*columns[2])(const RvSgmRow *row, RvSgmPass pass, int from, int to);
} RvSgmKernels;

extern const RvSgmKernels rv_sgm_kernels_base;
#if defined(__x86_64__)
extern const RvSgmKernels rv_sgm_kernels_avx2;
extern const RvSgmKernels rv_sgm_kernels_avx512;
#endif

#endif
