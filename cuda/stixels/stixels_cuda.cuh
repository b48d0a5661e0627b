/* SPDX-License-Identifier: MIT */
/* stixels_cuda.cuh: what the .cu files of stixels share. Not installed. */
#ifndef RV_STIXELS_CUDA_H
#define RV_STIXELS_CUDA_H

#include "rv_cuda.cuh"
#include "rv_launch.cuh"
#include "stixels/stixels_stages.h"

/* Dynamic shared memory that every GPU since compute capability 7.5 gives a block that asks. */
#define RV_STIXELS_SHARED                                                                          \
  26624 /* for a column; a desk of 36 KiB is beside it, and 1.5 KiB more                           \
         */

/* Cells of a row of the histogram that lie in lower bins: their number and their disparities. */
struct RvStixelsBelow {
  uint32_t n, d;
};

/* Static shared memory of the kernels of columns and what the system takes, at most. */
#define RV_STIXELS_SHARED_RESERVED 3072

struct RvStixelsCuda {
  int bins;                   /* whole px of a row of votes */
  int is_plain;               /* the kernel of `constant` alone takes frames without semantics */
  int is_resident;            /* its table of steps fits in shared memory */
  int has_columns;            /* there are frames for the kernel of all models */
  int is_small;               /* a column's scratch fits in shared memory */
  int has_small_penalties;    /* no penalty above 4 nat a px */
  int is_chained;             /* the GPU starts kernels before their predecessors have ended */
  size_t scratch;             /* bytes of one column */
  int32_t *table;             /* [class][RV_STIXELS_TABLE] */
  RvStixelsState *state;      /* 2: that of frame f is f % 2 */
  RvStixelsCell *cells;       /* [column][row] */
  uint16_t *scores;           /* RvStixelsSetup.scores */
  uint16_t *semantics;        /* [column][place][row] */
  RvStixelsBelow *below;      /* [row][bin], and one more */
  unsigned long long *winner; /* score << 32 | ~line: the largest is the first of the best lines */
  uint16_t *votes;            /* [row][bin]: cells within a bin, at most cap */
  char *columns;              /* [column][scratch], when not in shared memory; else NULL */
  int32_t *steps; /* [column][whole px][rv_stixels_pitch]: costs of objects summed; NULL: in shared
                     memory, or not `constant` */
  unsigned long long *queue;  /* frame << 32 | columns that have begun */
  unsigned long long *counts; /* [column]: frame << 32 | stixels */
};

RvStatus rv_stixels_cuda_semantics(const RvStixelsCuda *work, const RvStixelsModel *model,
                                   const RvStixelsJob *job, const RvLog *log);
/* Scratch of one column: sums, best, links, keys of semantic classes. */
size_t rv_stixels_cuda_scratch(const RvStixelsModel *model);
/* Shared memory of a column's block beside that. */
size_t rv_stixels_cuda_columns_shared(void);

RvStatus rv_stixels_cuda_ground(const RvStixelsCuda *work, const RvStixelsModel *model,
                                const RvStixelsJob *job, const RvLog *log);

/* What the kernels of columns write, and the pixels that borders are moved by. */
struct Output {
  RvStixelsOutput list;
  RvPlane disparity;
};

/* Whether the kernels of columns move the borders themselves, which takes a record a row in shared
 * memory, beside a link. */
RV_HD bool rv_stixels_has_records(const RvStixelsModel *m) {
  return m->reach > 0 && m->rows * (sizeof(RvStixel) + sizeof(uint32_t)) <= 16384;
}

RvStatus rv_stixels_cuda_refine(const RvStixelsModel *model, const RvStixelsJob *job,
                                const RvLog *log);

/* Asks for the shared memory that the kernel of a model needs; before the first run. */
RvStatus rv_stixels_cuda_open_columns(const RvStixelsCuda *work, const RvStixelsModel *model,
                                      const RvLog *log);
RvStatus rv_stixels_cuda_columns(const RvStixelsCuda *work, const RvStixelsModel *model,
                                 const RvStixelsJob *job, const RvLog *log);

/* The kernel of `constant` alone: whether it takes this model, whether its table is in shared
 * memory where a block may have so many bytes, what it needs, and the launch. */
bool rv_stixels_cuda_is_constant(const RvStixelsModel *model);
bool rv_stixels_cuda_is_resident(const RvStixelsModel *model, int shared);
RvStatus rv_stixels_cuda_open_constant(const RvStixelsCuda *work, const RvStixelsModel *model,
                                       const RvLog *log);
RvStatus rv_stixels_cuda_constant(const RvStixelsCuda *work, const RvStixelsModel *model,
                                  const RvStixelsJob *job, const RvLog *log);

/* Entries of a table by row + 1: whole sectors. */
RV_HD int rv_stixels_pitch(int rows) {
  return (rows + 8) / 8 * 8;
}

/* Launches a kernel that may start before its predecessor on the stream has ended: it calls
 * rv_launch_wait before it touches what others write. */
template <typename... P, typename... A>
static RvStatus rv_stixels_launch(const RvStixelsCuda *work, void (*kernel)(P...), dim3 grid,
                                  int threads, size_t shared, RvStream stream, const RvLog *log,
                                  A... args) {
  cudaLaunchAttribute chained = {};
  chained.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  chained.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &chained;
  config.numAttrs = work->is_chained ? 1 : 0;
  RV_CU(log, cudaLaunchKernelEx(&config, kernel, P(args)...));
  return RV_OK;
}

#endif
