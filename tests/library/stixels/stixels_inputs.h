/* SPDX-License-Identifier: MIT */
/* stixels_inputs.h: what the cases of stixels are run on. */
#ifndef STIXELS_INPUT_CASES_H
#define STIXELS_INPUT_CASES_H

#include "rvcheck.h"
#include "stixels/stixels.h"

#define STIXELS_SIDE 200 /* px of a case's picture, at most */

typedef struct StixelsInput {
  uint16_t disparity[STIXELS_SIDE * STIXELS_SIDE];
  uint8_t confidence[STIXELS_SIDE * STIXELS_SIDE];
  uint8_t labels[STIXELS_SIDE * STIXELS_SIDE];
  uint16_t scores[RV_STIXELS_SEMANTICS_MAX * STIXELS_SIDE * STIXELS_SIDE];
  RvPlane d, c;
  RvPlane l, s; /* data NULL: not there */
} StixelsInput;

StixelsInput *stixels_input_new(int width, int height);

/* What run() reads of it. */
RvStixelsInput stixels_input_of(const StixelsInput *input, int trusted);

/* No semantics, labels or scores, of the picture's size or another. */
void stixels_fill_semantics(RvRandom *random, StixelsInput *input, int semantics);

/* Streets of pieces: ground, walls, sky, slanted things, noise, outliers, holes. */
void stixels_fill_street(RvRandom *random, StixelsInput *input);

/* Everything but the sizes. coupled: with priors that read the predecessor's plane. */
RvStixelsConfig stixels_random_config(RvCheck *check, RvRandom *random, int model, int coupled);

void stixels_parity(RvCheck *check); /* CPU = CUDA */
void stixels_check_semantics(RvCheck *check);
void stixels_bench(RvCheck *check);

#endif
