/* SPDX-License-Identifier: MIT */
/* hough_cuda.cu: the CUDA engine of the Hough transform: its memory, and the order of its stages.
 */
#include "hough/hough_cuda.cuh"

static void layout(void *memory, const void *plan, RvArena *arena) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughConfig *c = &((const RvHoughPlan *)plan)->config;
  const RvHoughSpace *p = &((const RvHoughPlan *)plan)->space;
  const size_t pixels = (size_t)p->width * p->height;
  if (c->edges != RV_HOUGH_BINARY) {
    if (p->weighted || p->tangent >= 0)
      work->gradients = (uint32_t *)rv_arena_take(arena, pixels * sizeof(uint32_t));
    work->classes = (uint8_t *)rv_arena_take(arena, pixels);
  }
  if (c->edges == RV_HOUGH_CANNY)
    work->labels = (int *)rv_arena_take(arena, pixels * sizeof(int));
  work->points = (uint32_t *)rv_arena_take(arena, pixels * sizeof(uint32_t));
  if (p->weighted || p->tangent >= 0)
    work->values = (uint32_t *)rv_arena_take(arena, pixels * sizeof(uint32_t));
  work->stride = rv_vote_list_stride(p->bins);
  const size_t bins = (size_t)p->angles * work->stride * sizeof(uint32_t);
  work->bins = (uint32_t *)rv_arena_take(arena, bins);
  work->candidates = (uint32_t *)rv_arena_take(arena, bins / 2); /* no two in a row touch */
  work->keys = (uint64_t *)rv_arena_take(arena, rv_hough_peaks_max(p) * sizeof(uint64_t));
  work->top = (uint64_t *)rv_arena_take(arena, (size_t)p->max_lines * sizeof(uint64_t));
  if (p->min_length >= 0) {
    work->found = (RvLine *)rv_arena_take(arena, (size_t)p->max_lines * sizeof(RvLine));
    work->is_long = (uint8_t *)rv_arena_take(arena, (size_t)p->max_lines);
  }
  work->counters = (HoughCounters *)rv_arena_take(arena, sizeof(HoughCounters));
  work->angles = (RvHoughAngle *)rv_arena_take(arena, (size_t)p->angles * sizeof(RvHoughAngle));
}

static RvStatus copy_angles(const HoughCuda *work, const RvHoughPlan *plan) {
  RvHoughAngle *angles = rv_hough_angles_new(plan);
  if (!angles)
    return RV_ERR_NO_MEMORY;
  const size_t bytes = (size_t)plan->space.angles * sizeof *angles;
  const RvStatus status = rv_copy_to_device(work->angles, angles, bytes, NULL);
  rv_memory_free(angles, RV_CPU);
  return status;
}

static RvStatus open(void *memory, const void *plan_memory) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughPlan *plan = (const RvHoughPlan *)plan_memory;
  const RvLog *log = &plan->config.log;
  const size_t bins = (size_t)plan->space.angles * work->stride * sizeof(uint32_t);
  RV_CU(log, cudaMemset(work->counters, 0, sizeof *work->counters));
  RV_CU(log, cudaMemset(work->bins, 0, bins));
  RV_TRY(copy_angles(work, plan));
  RV_TRY(rv_stream_wait(NULL));
  return hough_cuda_votes_open(work, plan);
}

RV_ENGINE(RvHough, hough, cuda, HoughCuda, layout, open, nullptr, hough_cuda_edges,
          hough_cuda_votes, hough_cuda_peaks, hough_cuda_segments);
