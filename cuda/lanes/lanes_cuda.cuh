/* SPDX-License-Identifier: MIT */
/* lanes_cuda.cuh: memory of the CUDA engine of the lane lines, and its stages. Internal.
 *
 * Kernels of a frame, without host synchronization:
 *   rows    one warp per sampled row; clears what the frame accumulates
 *   marks   one block per sampled row: sums, responses, marks appended to one list. Their order
 *           differs from run to run and does not show: everything after it is sums of integers
 *   votes   the list votes into all spaces of a horizon (cuda/vote), one launch per horizon
 *   scores  one warp per space
 *   lines   one block per line: maxima of the best space, fit, measurement */
#ifndef RV_LANES_CUDA_CUH
#define RV_LANES_CUDA_CUH

#include "lanes/lanes_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"
#include "vote/vote_kernels.cuh"

/* What a frame accumulates; cleared by its first kernel. */
struct LanesFrame {
  unsigned long long key, sum; /* of the best space; of all scores */
  unsigned hits, rows;
  RvLanesView view;
};

struct LanesCuda {
  LanesFrame *frame;
  RvLanesState *state;
  RvLanesRow *rows;          /* [row] */
  uint32_t *place;           /* [hit] */
  uint32_t *points, *values; /* [horizon][plan->hits] */
  uint32_t *votes;           /* [space][stride] */
  RvVoteListShape shape;     /* of the spaces of one horizon */
  int overlaps;              /* a kernel may start before its predecessor has ended */
};

RvStatus lanes_cuda_marks(void *memory, const RvLanesJob *job);
RvStatus lanes_cuda_lines(void *memory, const RvLanesJob *job);

#endif
