/* SPDX-License-Identifier: MIT */
/* stixels_cpu.h: declarations shared by the files of the CPU engine. */
#ifndef RV_STIXELS_CPU_H
#define RV_STIXELS_CPU_H

#include "stixels/stixels_stages.h"

/* The column that a thread computes; one per thread. */
typedef struct RvStixelsColumn {
  const RvStixelsPlan *plan;
  const int32_t (*costs)[RV_STIXELS_TABLE]; /* by class */
  RvStixelsPlane ground;
  const RvStixelsCell *cells;
  const uint16_t *semantics;                 /* [index][row], 1/256 nat; NULL: none in this frame */
  RvStixelsSums *sums;                       /* rows + 1 */
  RvStixelsBest (*best)[RV_STIXELS_CLASSES]; /* rows */
  uint8_t *cuts;           /* rows + 1: a stixel may start here, end below; rv_stixels_cut_code */
  const int32_t *cut_cost; /* by code, 1/1024 nat */
  const RvStixelsNetworkKernel *kernel; /* of the network; NULL: none is used */
  const RvStixelsNetwork *network;
  uint32_t *channels; /* rv_stixels_network_cpu's buffers */
  int32_t (*least)
      [RV_STIXELS_CLASSES]; /* rows: minimum cost below a start here, without plane penalties */
  int32_t (*past)[RV_STIXELS_CLASSES]; /* rows: cost from here to the start of the block */
  uint32_t *keys;                      /* [rows + 1][index]: 32 x summed costs */
  int32_t *sky;                        /* rows + 1: summed costs of cells as sky */
  int32_t *flat;                       /* rows + 1: summed costs of ground cells; `constant` */
  int32_t *steps;                      /* [integer px][rows + 1]: those of objects; `constant` */
  const RvStixelsKinds *kinds; /* with semantic priors, in frames with semantics; else NULL */
  RvStixelsBest *endings;      /* [row][kind]: the best stixels by class */
  int32_t *under;              /* [row][kind]: minimum cost below a start here */
} RvStixelsColumn;

/* Dynamic programming. Returns the energy; made: stixels from the bottom up, at most `rows`. */
int32_t rv_stixels_solve(RvStixelsColumn *column, int x, RvStixel *made, uint32_t *count);

/* The same with column->kinds, after the sums and cuts. */
int32_t rv_stixels_solve_kinds(RvStixelsColumn *column, int x, RvStixel *made, uint32_t *count);

/* Reverses the list of a column. */
void rv_stixels_reverse(RvStixel *made, uint32_t count);

/* The first with the least cost. */
int rv_stixels_cheapest(const RvStixelsBest *best, int count);

/* Sets column->cuts. */
void rv_stixels_cpu_cuts(RvStixelsColumn *column);

/* costs: [column][index][row]; table: RvStixelsTables.scores. */
void rv_stixels_cpu_semantics(const RvStixelsJob *job, const uint16_t *table, uint16_t *costs,
                              int threads);

/* What repair keeps of each cell, [column][row]. */
typedef struct RvStixelsRepair {
  RvStixelsSpot *spots;
  uint8_t *verdicts;
} RvStixelsRepair;

/* Repairs costs in place; ground: the expected one of this frame. */
void rv_stixels_cpu_repair(const RvStixelsPlan *plan, const RvStixelsPlane *ground,
                           const RvStixelsCell *cells, const RvStixelsRepair *repair,
                           uint16_t *costs, int threads);

/* The same after sharing them; own: those of each cell. */
void rv_stixels_cpu_share(const RvStixelsPlan *plan, const RvStixelsCell *cells,
                          const uint16_t *own, uint16_t *costs, int threads);

void rv_stixels_cpu_refine(const RvStixelsJob *job, int threads);

#endif
