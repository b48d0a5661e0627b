/* SPDX-License-Identifier: MIT */
/* ground_cuda.cuh: memory of the CUDA engine of the ground estimation, and its stages. Internal.
 *
 * Kernels of a frame, without host synchronization:
 *   cells    one thread per cell: mean, v-disparity; clears what the frame accumulates
 *   lines    votes of the candidate lines
 *   fit      one kernel per round: its first step solves the sums of the previous round
 *   offsets  histograms of the row offsets
 *   profile  one block: state, dynamic programming by one warp, smoothing */
#ifndef RV_GROUND_CUDA_CUH
#define RV_GROUND_CUDA_CUH

#include "ground/ground_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"

#define GROUND_SUMS 9 /* of RvPlaneSums */

/* What a frame accumulates; cleared by its first kernel. */
struct GroundFrame {
  unsigned long long line; /* rv_ground_key */
  unsigned long long sums[RV_GROUND_FIT_ROUNDS][GROUND_SUMS];
};

struct GroundCuda {
  GroundFrame *frame;
  RvGroundState *state;
  uint32_t *mean;      /* [cell] */
  uint32_t *votes;     /* [band][RV_GROUND_DEPTHS]; all 0 between frames */
  uint32_t *histogram; /* [bin][RV_GROUND_OFFSETS]; cleared by the first kernel */
  int overlaps;        /* a kernel may start before its predecessor has ended */
};

/* Sums of a round as ground_rules.h defines them. */
static __device__ __forceinline__ RvPlaneSums ground_sums(const GroundFrame *frame, int round) {
  const unsigned long long *s = frame->sums[round];
  return {(int64_t)s[0], (int64_t)s[1], (int64_t)s[2], (int64_t)s[3], (int64_t)s[4],
          (int64_t)s[5], (int64_t)s[6], (int64_t)s[7], (int64_t)s[8]};
}

/* The plane that `round` starts with; false without one. */
static __device__ __forceinline__ bool ground_plane(const GroundCuda &w, const RvGroundPlan &g,
                                                    int round, RvGroundPlane *plane) {
  if (round == 0) {
    if (!rv_ground_votes(w.frame->line))
      return false;
    *plane = rv_ground_line_plane(rv_ground_index(w.frame->line), g.height);
    return true;
  }
  const RvPlaneSums sums = ground_sums(w.frame, round - 1);
  return rv_ground_solve(&g, &sums, plane);
}

/* The final plane; false without a plausible one. */
static __device__ __forceinline__ bool ground_result(const GroundCuda &w, const RvGroundPlan &g,
                                                     RvGroundPlane *plane) {
  const RvGroundLimits limits = rv_ground_limits(&g, w.state);
  return g.config.mode != RV_GROUND_MODE_CAMERA &&
         ground_plane(w, g, RV_GROUND_FIT_ROUNDS, plane) && rv_ground_plausible(&g, &limits, plane);
}

/* Requests the shared memory of the profile kernel; before the first run. */
RvStatus ground_cuda_open_profile(const RvLog *log);
RvStatus ground_cuda_profile(const GroundCuda *w, const RvGroundJob *job);

#endif
