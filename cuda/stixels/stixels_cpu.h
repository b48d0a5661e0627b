/* SPDX-License-Identifier: MIT */
/* stixels_cpu.h: what the files of the CPU engine share. */
#ifndef RV_STIXELS_CPU_H
#define RV_STIXELS_CPU_H

#include "stixels/stixels_stages.h"

/* One column at work; a thread has one. */
typedef struct RvStixelsColumn {
  const RvStixelsPlan *plan;
  const int32_t (*costs)[RV_STIXELS_TABLE]; /* by class */
  RvStixelsPlane ground;
  const RvStixelsCell *cells;
  const uint16_t *semantics;                 /* [place][row], 1/256 nat; NULL: none in this frame */
  RvStixelsSums *sums;                       /* rows + 1 */
  RvStixelsBest (*best)[RV_STIXELS_CLASSES]; /* rows */
  uint8_t *cuts;                             /* rows + 1: a stixel may begin here, end below */
  int32_t (
      *least)[RV_STIXELS_CLASSES];     /* rows: up to what begins here, but for planes' penalties */
  int32_t (*past)[RV_STIXELS_CLASSES]; /* rows: of what begins here and ends below the block */
  uint32_t *keys;                      /* [place][rows + 1]: 32 x costs summed */
  int32_t *flat[2]; /* rows + 1: costs of ground and sky cells summed; `constant` */
  int32_t *steps;   /* [whole px][rows + 1]: those of objects; `constant` */
} RvStixelsColumn;

/* Dynamic programming. Returns the energy; made: the stixels from the bottom up, at most rows. */
int32_t rv_stixels_solve(RvStixelsColumn *column, int x, RvStixel *made, uint32_t *count);

/* Fills in c->cuts. */
void rv_stixels_cpu_cuts(RvStixelsColumn *column);

/* costs: [column][slot][row]; table: RvStixelsTables.scores. */
void rv_stixels_cpu_semantics(const RvStixelsJob *job, const uint16_t *table, uint16_t *costs,
                              int threads);

void rv_stixels_cpu_refine(const RvStixelsJob *job, int threads);

#endif
