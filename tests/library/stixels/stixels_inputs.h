/* SPDX-License-Identifier: MIT */
/* stixels_inputs.h: inputs and results of the stixels cases. */
#ifndef STIXELS_INPUTS_H
#define STIXELS_INPUTS_H

#include "rvcheck.h"
#include "stixels/stixels.h"

#define STIXELS_SIDE 200 /* px of an image, maximum */

typedef struct StixelsInput {
  uint16_t disparity[STIXELS_SIDE * STIXELS_SIDE];
  uint8_t confidence[STIXELS_SIDE * STIXELS_SIDE];
  uint8_t labels[STIXELS_SIDE * STIXELS_SIDE];
  uint16_t scores[RV_STIXELS_SEMANTICS_MAX * STIXELS_SIDE * STIXELS_SIDE];
  RvPlane d, c;
  RvPlane l, s; /* data NULL: none */
  RvGroundSurface surface;
  int has_surface;
} StixelsInput;

StixelsInput *stixels_input_new(int width, int height);

/* The input of run(). */
RvStixelsInput stixels_input_of(const StixelsInput *input, int trusted);

/* No semantics, labels or scores, of the size of the image or another. */
/* Two walls and the ground before them, with a class each, and patches of any class. */
void stixels_fill_patches(RvRandom *random, StixelsInput *input, int semantics);
void stixels_fill_semantics(RvRandom *random, StixelsInput *input, int semantics);

/* Streets: ground, walls, sky, slanted surfaces, noise, outliers, holes; sometimes with a surface of
 * the ground, which may have no plane. */
void stixels_fill_street(RvRandom *random, StixelsInput *input);

/* Any weights; valid until the next call. */
const RvStixelsNetwork *stixels_random_network(RvRandom *random);

/* Default config of that size and of square cells of `cell` px. */
RvStixelsConfig stixels_config(RvCheck *check, int width, int height, int cell);

/* Everything but the sizes. coupled: with priors that depend on the plane of the predecessor. */
RvStixelsConfig stixels_random_config(RvCheck *check, RvRandom *random, int model, int coupled);

/* Of all semantic classes; a third are those of the structural class. */
void stixels_random_priors(RvRandom *random, RvStixelsSemanticPriors *priors);

/* Everything run() can write, in host memory, filled with a pattern before. */
typedef struct StixelsResult {
  int columns, rows;
  uint32_t room;
  RvStixel *stixels;
  uint32_t *offsets;
  int32_t *energies;
  uint8_t *cuts;
  RvStixelsGround *ground;
} StixelsResult;

StixelsResult stixels_result_new(const RvStixelsConfig *config, uint32_t room);
void stixels_result_free(StixelsResult *result);
RvStixelsOutput stixels_result_output(const StixelsResult *result);

/* One frame by a new object of the CPU engine; checks that it succeeds and returns whether. */
int stixels_run_cpu(RvCheck *check, const char *name, const RvStixelsConfig *config,
                    const StixelsInput *input, int trusted, const StixelsResult *result);

void stixels_parity(RvCheck *check); /* compares CPU and CUDA engine */
void stixels_check_semantics(RvCheck *check);
void stixels_check_kinds(RvCheck *check);
void stixels_check_network(RvCheck *check);

/* Any bytes as a file of the network. */
void stixels_fuzz_network(const uint8_t *bytes, size_t size);

void stixels_bench(RvCheck *check);

#endif
