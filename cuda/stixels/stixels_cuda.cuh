/* SPDX-License-Identifier: MIT */
/* stixels_cuda.cuh: declarations shared by the .cu files of stixels. Not installed. */
#ifndef RV_STIXELS_CUDA_CUH
#define RV_STIXELS_CUDA_CUH

#include "rv_cuda.cuh"
#include "rv_group.cuh"
#include "rv_launch.cuh"
#include "stixels/stixels_stages.h"

/* Dynamic shared memory for the scratch of a column, which every GPU since compute capability 7.5
 * provides. The block takes 36 KiB more, its static variables 1.5 KiB. */
#define RV_STIXELS_SHARED 26624

/* Cells of a row of the histogram in lower bins: their number and the sum of their disparities. */
struct RvStixelsBelow {
  uint32_t n, d;
};

/* The vote of a frame. The cells clear it. */
struct RvStixelsVote {
  unsigned long long winner; /* score << 32 | ~line: the maximum is the first of the best lines */
  unsigned blocks;           /* that have voted */
  unsigned frame;
};

/* Static shared memory of the column kernels and what the system reserves, at most. */
#define RV_STIXELS_SHARED_RESERVED 3072

struct RvStixelsCuda {
  int bins;                  /* integer px of a row of votes */
  int is_constant;           /* frames without semantics use the kernel of `constant` */
  int is_resident;           /* its table of steps fits in shared memory */
  int is_paired;             /* two blocks of half the warps share an SM, with their tables */
  int has_columns;           /* some frames need the kernel of all models */
  int is_small;              /* the scratch of a column fits in shared memory */
  int is_across;             /* the scratch has stixels across two tiles */
  int is_narrow;             /* three blocks per SM hold all columns at once, two do not */
  int has_plain_penalties;   /* none above 4 nats per px, gravity without a constant part */
  int is_chained;            /* the GPU starts kernels before their predecessors have ended */
  size_t scratch;            /* bytes per column */
  int32_t *table;            /* RvStixelsTables.costs */
  RvStixelsState *state;     /* 2: that of frame f is f % 2 */
  RvStixelsCell *cells;      /* [column][row] */
  uint16_t *scores;          /* RvStixelsTables.scores */
  int32_t *cuts;             /* RvStixelsTables.cuts */
  RvStixelsNetwork *network; /* NULL without it */
  uint16_t *semantics;       /* [column][index][row] */
  uint16_t *own;             /* the same of each cell alone; `semantics` where nothing is shared */
  RvStixelsSpot *spots;      /* [column][row]; NULL without repair */
  uint8_t *verdicts;         /* [column][row] */
  uint32_t *judged;          /* 2: cells inside surfaces, contradicted ones */
  RvStixelsBelow *below;     /* [row][bin], and one more */
  RvStixelsVote *vote;
  uint16_t *votes; /* [row][bin]: cells with those of the neighboring bins, at most cap */
  char *columns;   /* [column][scratch], when not in shared memory; else NULL */
  int32_t *steps;  /* [column][integer px][rv_stixels_pitch]: summed costs of objects; NULL: in
                   * shared memory, or not `constant` */
  RvStixelsKinds *kinds;      /* NULL without semantic priors */
  char *kinds_columns;        /* [column][kinds_scratch] */
  size_t kinds_scratch;       /* bytes per column */
  unsigned long long *queue;  /* frame << 32 | columns that have started */
  unsigned long long *counts; /* [column]: frame << 32 | stixels */
};

/* Stages with a file of their own. */
RvStatus rv_stixels_cuda_ground(void *work, RvStixelsJob *job);
RvStatus rv_stixels_cuda_semantics(void *work, RvStixelsJob *job);
RvStatus rv_stixels_cuda_repair(void *work, RvStixelsJob *job);
RvStatus rv_stixels_cuda_share(void *work, RvStixelsJob *job);
RvStatus rv_stixels_cuda_columns(void *work, RvStixelsJob *job);
RvStatus rv_stixels_cuda_refine(void *work, RvStixelsJob *job);

/* Whether the column kernels move the boundaries themselves, which needs one record and one link
 * per row in shared memory. */
RV_HD bool rv_stixels_has_records(const RvStixelsPlan *plan) {
  return plan->reach > 0 && plan->rows * (sizeof(RvStixel) + sizeof(uint32_t)) <= 16384;
}

/* The kernel of all models: bytes of scratch per column (sums, best stixels, links, keys of
 * semantic classes), of shared memory per block beside it, and its attributes. */
size_t rv_stixels_cuda_scratch(const RvStixelsPlan *plan);
size_t rv_stixels_cuda_across(const RvStixelsPlan *plan); /* further bytes, of use where they fit */
size_t rv_stixels_cuda_columns_shared(void);
RvStatus rv_stixels_cuda_open_columns(const RvStixelsCuda *work, const RvStixelsPlan *plan);

/* The kernel of `constant`: whether it supports this plan, whether its table fits in `shared` bytes
 * of shared memory per block, whether those of two blocks fit in `shared` bytes per SM, its
 * attributes, and the columns stage of frames without semantics. */
bool rv_stixels_cuda_is_constant(const RvStixelsPlan *plan);
bool rv_stixels_cuda_is_resident(const RvStixelsPlan *plan, int shared);
bool rv_stixels_cuda_is_paired(const RvStixelsPlan *plan, int shared);
RvStatus rv_stixels_cuda_open_constant(const RvStixelsCuda *work, const RvStixelsPlan *plan);
RvStatus rv_stixels_cuda_constant(void *work, RvStixelsJob *job);

/* The kernel with priors of semantic classes: bytes of scratch per column, its tables, and the
 * columns stage of frames with semantics. */
size_t rv_stixels_cuda_kinds_scratch(const RvStixelsPlan *plan);
RvStatus rv_stixels_cuda_open_kinds(const RvStixelsCuda *work, const RvStixelsPlan *plan);
RvStatus rv_stixels_cuda_kinds(void *work, RvStixelsJob *job);

/* Entries of a table by row + 1: complete sectors. */
RV_HD int rv_stixels_pitch(int rows) {
  return (rows + 8) / 8 * 8;
}

/* The state after a frame, past the cache of the SM. */
static __device__ __forceinline__ RvStixelsState rv_stixels_state_of(const RvStixelsCuda &work,
                                                                     unsigned frame) {
  const RvStixelsState *at = work.state + frame % 2;
  RvStixelsState state;
  state.ground.at = (int64_t)__ldcg((const unsigned long long *)&at->ground.at);
  state.ground.slope = (int64_t)__ldcg((const unsigned long long *)&at->ground.slope);
  state.found = __ldcg(&at->found);
  state.score = __ldcg(&at->score);
  return state;
}

/* Index of the nearest set bit below bit x, -1 if there is none. */
static __device__ __forceinline__ int rv_stixels_set_below(const uint32_t *bits, int x) {
  uint32_t word = bits[x / 32] & ((1u << x % 32) - 1);
  int at = x / 32;
  while (!word && at > 0)
    word = bits[--at];
  return word ? 32 * at + 31 - __clz((int)word) : -1;
}

/* Index of the nearest of `count` bits above bit x that is set, `count` if there is none. */
static __device__ __forceinline__ int rv_stixels_set_above(const uint32_t *bits, int x, int count) {
  uint32_t word = bits[x / 32] & (0xfffffffeu << x % 32);
  int at = x / 32;
  while (!word && 32 * (at + 1) < count)
    word = bits[++at];
  return word ? 32 * at + __ffs((int)word) - 1 : count;
}

#endif
