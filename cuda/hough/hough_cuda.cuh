/* SPDX-License-Identifier: MIT */
/* hough_cuda.cuh: memory of the CUDA engine of the Hough transform, and its stages. Internal. */
#ifndef RV_HOUGH_CUDA_H
#define RV_HOUGH_CUDA_H

#include "hough/hough_stages.h"
#include "rv_group.cuh"
#include "rv_launch.cuh"
#include "vote/vote_kernels.cuh"

/* Numbers that kernels hand on; all 0 between runs but `lines`. */
struct HoughCounters {
  unsigned points;         /* of the list */
  unsigned candidates;     /* bins that may be peaks */
  unsigned peaks;          /* counted by several blocks */
  unsigned peak_blocks;    /* blocks of the peak kernel that are done */
  unsigned segment_blocks; /* the same, of the segment kernel */
  unsigned lines;          /* found by the peak kernel */
};

struct HoughCuda {
  uint32_t *gradients; /* of every pixel, packed; when votes need them; not with binary edges */
  uint8_t *classes;    /* 255 on edges; not with binary edges */
  int *labels;         /* canny: of weak pixels that reach another tile, by hough_cuda_canny.cu */
  uint32_t *points, *values;
  uint32_t *bins; /* rows of `stride` */
  int stride;
  uint32_t *candidates;
  uint64_t *keys; /* of peaks */
  uint64_t *top;  /* of the lines, in order */
  RvLine *found;  /* lines with end points, before the short ones leave */
  uint8_t *is_long;
  HoughCounters *counters;
  RvHoughAngle *angles;
  int processors;
  int is_early; /* kernels may start before the preceding one ends */
  int is_fast;  /* 32-bit bins in one pass, every vote is one */
  RvVoteListShape shape;
};

/* Classes of pixels: 0, an edge, or what Canny's labels settle when the list is made. */
#define HOUGH_WEAK 1
#define HOUGH_EDGE 255

/* Root of a label of Canny's: 0 when the component holds a strong pixel. Loads go past L1, which is
 * not kept coherent. */
static __device__ __forceinline__ int hough_root(const int *labels, int n) {
  for (int next; n && (next = __ldcg(&labels[n - 1])) != n;)
    n = next;
  return n;
}

/* The edge map that the list and segments read: the input itself when it is one. */
struct HoughMap {
  const uint8_t *data;
  ptrdiff_t stride;
};

static inline HoughMap hough_cuda_map(const HoughCuda *work, const RvHoughJob *job) {
  if (job->plan->config.edges == RV_HOUGH_BINARY)
    return {(const uint8_t *)job->input.data, job->input.stride};
  return {work->classes, job->plan->space.width};
}

/* The stages, and what the votes need once. */
RvStatus hough_cuda_edges(void *work, RvHoughJob *job);
RvStatus hough_cuda_canny(HoughCuda *work, RvHoughJob *job);
RvStatus hough_cuda_votes_open(HoughCuda *work, const RvHoughPlan *plan);
RvStatus hough_cuda_votes(void *work, RvHoughJob *job);
RvStatus hough_cuda_peaks(void *work, RvHoughJob *job);
RvStatus hough_cuda_segments(void *work, RvHoughJob *job);

#endif
