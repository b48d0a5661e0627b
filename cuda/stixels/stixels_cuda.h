/* stixels_cuda.h: what the .cu files of stixels share. Not installed. */
#ifndef RV_STIXELS_CUDA_H
#define RV_STIXELS_CUDA_H

#include "rv_cuda.h"
#include "stixels_stages.h"

/* Shared memory that every GPU since compute capability 7.5 gives a block that asks for it. */
#define RV_STIXELS_SHARED 65024 /* of 64 KiB; the rest is for the kernel's own variables */

/* What the ground vote fills anew each frame, followed by the votes. */
struct RvStixelsPoll {
  unsigned long long winner; /* score << 32 | ~line: the largest is the first of the best lines */
};

struct RvStixelsCuda {
  int bins;       /* whole px of a row of votes */
  int is_small;   /* a column's scratch fits in shared memory */
  size_t scratch; /* bytes of one column */
  int32_t *table; /* [class][RV_STIXELS_TABLE] */
  RvStixelsState *state;
  RvStixelsCell *cells; /* [column][row] */
  uint16_t *scores;     /* RvStixelsSetup.scores */
  uint16_t *semantics;  /* [column][place][row] */
  RvStixelsPoll *poll;
  int32_t *votes;   /* [row][bin] */
  char *columns;    /* [column][scratch], when not in shared memory */
  int32_t *steps;   /* [column][row + 1][whole px]: costs of objects summed; `constant` */
  RvStixel *made;   /* [column][row] */
  uint32_t *counts; /* [column] */
};

/* Scratch of one column: sums, best, flat costs, links, keys of semantic classes. */
size_t rv_stixels_cuda_scratch(int rows, int semantics);

RvStatus rv_stixels_cuda_semantics(const RvStixelsCuda *work, const RvStixelsModel *model,
                                   const RvStixelsJob *job, const RvLog *log);

RvStatus rv_stixels_cuda_refine(const RvStixelsModel *model, const RvStixelsJob *job,
                                const RvLog *log);

/* Asks for the shared memory that the kernel of a model needs; before the first run. */
RvStatus rv_stixels_cuda_open_columns(const RvStixelsCuda *work, const RvStixelsModel *model,
                                      const RvLog *log);
RvStatus rv_stixels_cuda_columns(const RvStixelsCuda *work, const RvStixelsModel *model,
                                 const RvStixelsJob *job, const RvLog *log);

#endif
