/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_limits.cuh: limits of strips, a warp each, found beside the components of runs;
 * all but their boxes, which come later. Internal. */
#ifndef RV_OBSTACLES_CUDA_LIMITS_CUH
#define RV_OBSTACLES_CUDA_LIMITS_CUH

#include <stddef.h>

#include "obstacles/obstacles_cuda.cuh"

namespace {
/* The lanes of a warp on the pixels of a strip: the first ones take a row, the next ones the next
 * row, as many rows as fit; a lane stays in a column. */
struct StripLane {
  int x;              /* column of the image */
  int first, at_once; /* row, from the first one on; rows of the warp */
  bool is_used;
};
} // namespace

static_assert(RV_OBSTACLES_STRIP_MAX <= 32, "a lane per column");

static __device__ StripLane strip_lane(const RvObstaclesPlan &p, int strip) {
  const int row = rv_lane() / p.n, at_once = 32 / p.n;
  return {strip * p.n + rv_lane() - row * p.n, row, at_once, row < at_once};
}

/* The CPU engine's. */
static __device__ int has_holes(const ObstaclesCuda &w, const RvPlane &disparity, int strip,
                                int q) {
  const RvObstaclesPlan &p = w.plan;
  const StripLane lane = strip_lane(p, strip);
  const RvObstaclesRows rows = rv_obstacles_rows_at(&p, &w.depth[rv_obstacles_center(&p, 2 * q)],
                                                    w.column[strip * p.n + p.n / 2]);
  int holes = 0;
#pragma unroll 4
  for (int y = rows.first + lane.first; y <= rows.last; y += lane.at_once)
    holes += lane.is_used && rv_row<const uint16_t>(disparity, y)[lane.x] == 0;
  return rv_obstacles_has_holes(rv_warp_sum(holes), rv_max(rows.last - rows.first + 1, 0) * p.n);
}

/* The CPU engine's. */
static __device__ void look(const ObstaclesCuda &w, const ObstaclesArgs &a, int strip,
                            RvObstaclesLimit &limit) {
  const RvObstaclesPlan &p = w.plan;
  const int q = limit.q;
  if (!a.gray.data || !rv_obstacles_is_faint(&p, q, RV_OBSTACLES_FAINT_HANG))
    return;
  const StripLane lane = strip_lane(p, strip);
  const RvObstaclesRows rows =
      rv_obstacles_rows_near(&p, w.depth, w.column[strip * p.n + p.n / 2], q);
  int contrast = 0, votes = 0;
#pragma unroll 2
  for (int y = rows.first + lane.first; y <= rows.last; y += lane.at_once) {
    const int is_vote =
        lane.is_used &&
        rv_obstacles_votes_for(&p, w.depth, rv_row<const uint16_t>(a.disparity, y)[lane.x],
                               256 * y + w.column[lane.x], q);
    contrast += is_vote ? rv_obstacles_contrast(&a.gray, lane.x, y) : 0;
    votes += is_vote;
  }
  const int part = rv_obstacles_excess(contrast, votes, RV_OBSTACLES_COLUMN);
  int of_column = part;
  for (int k = 1; k < lane.at_once; k++)
    of_column += __shfl_sync(RV_WARP, part, (rv_lane() + k * p.n) % (lane.at_once * p.n));
  const int flat = __popc(__ballot_sync(RV_WARP, rv_lane() < p.n && of_column < 0));
  const int excess = rv_obstacles_excess(contrast, votes, RV_OBSTACLES_CONTRAST);
  rv_obstacles_look(&p, flat, rv_warp_sum(excess), &limit);
}

/* The CPU engine's, eight bins per lane: the nearest bin of ground with a gap behind it, which ends
 * before the next farther bin of ground and before q; the same without q. */
static __device__ void known_until(const ObstaclesCuda &w, int strip, int q, int *known,
                                   int *through) {
  static_assert(RV_OBSTACLES_COARSE == 8 * 32, "eight bins per lane");
  static_assert(offsetof(RvObstaclesTables, gap_at) % sizeof(uint4) == 0, "read as uint4");
  const int lane = rv_lane();
  const uint4 gaps = ((const uint4 *)w.tables->gap_at)[lane]; /* eight int16 */
  uint32_t word = 0;
  if (lane < RV_OBSTACLES_COARSE / 32)
#pragma unroll
    for (int k = strip - 2; k <= strip + 2; k++)
      if (k >= 0 && k < w.plan.strips)
        word |= w.ground[k * RV_OBSTACLES_COARSE / 32 + lane];
  uint32_t mine = __shfl_sync(RV_WARP, word, lane / 4) >> (8 * (lane % 4)) & 255;
  int below = mine ? 8 * lane + 31 - __clz((int)mine) : -1; /* ground of lower lanes */
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(RV_WARP, below, step);
    below = lane >= step ? rv_max(below, other) : below;
  }
  below = __shfl_up_sync(RV_WARP, below, 1);
  below = lane == 0 ? -1 : below;
  mine |= lane == 31 ? 128u : 0; /* the nearest bin counts as ground */
  int until = -1, open = -1;
  const int farthest = rv_obstacles_farthest(&w.plan), end = rv_max(q, farthest);
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const uint32_t pair = k < 2 ? gaps.x : k < 4 ? gaps.y : k < 6 ? gaps.z : gaps.w;
    const int gap = (int16_t)(k % 2 ? pair >> 16 : pair), at = 8 * lane + k;
    if (mine >> k & 1) {
      until = gap > rv_max(below, end) ? at : until;
      open = gap > rv_max(below, farthest) ? at : open;
      below = at;
    }
  }
  until = rv_warp_max(until);
  open = rv_warp_max(open);
  *known = until < 0 ? q : until;
  *through = rv_max(open, 0);
}

/* All of the limit of a strip but its box, and the bin up to which ground is known without it; one
 * warp. */
static __device__ void find_limit(const ObstaclesCuda &w, const ObstaclesArgs &a, int strip) {
  const RvObstaclesPlan &p = w.plan;
  const int q = w.path[strip], k = rv_max(2 * q - 2, 0) + rv_lane();
  ObstaclesLimit found = {};
  RvObstaclesLimit &limit = found.limit;
  limit.q = q;
  known_until(w, strip, q, &limit.known, &found.through);
  if (q && k <= rv_min(2 * q + 3, RV_OBSTACLES_FINE - 1)) {
    const uint32_t votes = w.votes[(size_t)strip * RV_OBSTACLES_FINE + k];
    limit.count = votes & 65535;
    limit.sum = rv_obstacles_sum(&p, votes, k);
  }
  limit.count = rv_warp_sum(limit.count);
  limit.sum = rv_warp_sum(limit.sum);
  limit.valid = w.valid[strip];
  limit.evidence = q ? w.evidence[strip * RV_OBSTACLES_COARSE + q] : 0;
  limit.holes = q ? has_holes(w, a.disparity, strip, q) : 0;
  limit.obstacle = RV_OBSTACLE_NONE;
  look(w, a, strip, limit);
  if (rv_lane() == 0)
    w.limits[strip] = found;
}

#endif
