/* SPDX-License-Identifier: MIT */
/* stixels_reference.h: three reference implementations that share no loop with the library. */
#ifndef STIXELS_REFERENCE_H
#define STIXELS_REFERENCE_H

#include "rvcheck.h"
#include "stixels/stixels_inputs.h"
#include "stixels/stixels_stages.h"

#define REFERENCE_ROWS 64 /* maximum of a column */

/* The constants of an object of that config, which must be valid. */
RvStixelsPlan stixels_plan_of(const RvStixelsConfig *config);

/* One column of the reference implementations: cells by plain loops over the pixels, and the cost
 * of every stixel without its predecessor, by plain sums over its cells. */
typedef struct StixelsReference {
  RvStixelsPlan plan;
  RvStixelsTables tables;
  RvStixelsPlane ground;
  int rows;
  RvStixelsCell cells[REFERENCE_ROWS];
  int is_semantic;
  uint16_t semantic_cost[RV_STIXELS_SEMANTICS_MAX][REFERENCE_ROWS]; /* 1/256 nat */
  double score[RV_STIXELS_SEMANTICS_MAX][REFERENCE_ROWS];           /* mean over the cell */
  int32_t own[REFERENCE_ROWS][REFERENCE_ROWS][RV_STIXELS_CLASSES];  /* [bottom][top] */
  RvStixelsPlane plane[REFERENCE_ROWS][REFERENCE_ROWS][RV_STIXELS_CLASSES];
  uint8_t semantic[REFERENCE_ROWS][REFERENCE_ROWS][RV_STIXELS_CLASSES];
  RvStixelsNetwork network;
  uint8_t codes[REFERENCE_ROWS]; /* of RvStixelsOutput.cuts */
} StixelsReference;

void stixels_reference_column(StixelsReference *reference, const RvStixelsConfig *config,
                              const RvStixelsGround *ground, const RvStixelsInput *input,
                              int column);

/* Codes of the cuts of the network in a column, with plain sums over all rows; in
 * stixels_network_reference.c. */
void stixels_reference_network(const RvStixelsNetwork *network, const RvStixelsPlane *ground,
                               const RvStixelsCell *cells, int rows, uint8_t *codes);

/* Cost of a stixel that starts in row v, nat (3.24). */
double stixels_reference_cut_energy(const StixelsReference *reference,
                                    const RvStixelsConfig *config, int v);

/* A half float from its sign, exponent and mantissa, clamped to 0..1. */
double stixels_half_value(int half);

/* Minimum energy of all segmentations, each tried; for up to about 8 rows. */
int32_t stixels_reference_minimum(const StixelsReference *reference);

/* (4.9) on the call stack. Returns the energy; list: rows, from the bottom up. */
int32_t stixels_reference_recursion(const StixelsReference *reference, int column, RvStixel *list,
                                    int *count);

/* Boundaries by trying all rows. */
void stixels_reference_refine(const RvStixelsConfig *config, const RvStixelsInput *input,
                              RvStixel *list, int count);

/* The energy of a list by the formulas of the header, in double, from the config and the records
 * alone; nat. `slack`: maximum difference from the energy of the library, which rounds costs to
 * 1/1024 nat, planes and differences to 1/256 px, and stores records as floats. */
double stixels_reference_energy(const StixelsReference *reference, const RvStixelsConfig *config,
                                const RvStixel *list, uint32_t count, double *slack);

#endif
