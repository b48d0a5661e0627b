/* SPDX-License-Identifier: MIT */
/* hough_cuda.cu: the CUDA engine of the Hough transform: its memory, and the order of its stages.
 */
#include "hough/hough_cuda.cuh"

static void layout(void *memory, const RvHoughConfig *c, const RvHoughPlan *p, RvArena *arena) {
  HoughCuda *work = (HoughCuda *)memory;
  const size_t pixels = (size_t)p->width * p->height;
  if (c->edges != RV_HOUGH_BINARY) {
    work->gradients = (uint32_t *)rv_arena_take(arena, pixels * sizeof(uint32_t));
    work->classes = (uint8_t *)rv_arena_take(arena, pixels);
  }
  if (c->edges == RV_HOUGH_CANNY) {
    work->labels = (int *)rv_arena_take(arena, pixels * sizeof(int));
    work->alive = (uint8_t *)rv_arena_take(arena, pixels);
  }
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

static RvStatus open(void *memory, const RvHoughConfig *c, const RvHoughPlan *p,
                     const RvHoughAngle *angles) {
  HoughCuda *work = (HoughCuda *)memory;
  const size_t bins = (size_t)p->angles * work->stride * sizeof(uint32_t);
  RV_CU(&c->log, cudaMemset(work->counters, 0, sizeof *work->counters));
  RV_CU(&c->log, cudaMemset(work->bins, 0, bins));
  RV_TRY(rv_copy_to_device(work->angles, angles, (size_t)p->angles * sizeof *angles, NULL));
  RV_TRY(rv_stream_wait(NULL));
  return hough_cuda_votes_open(work, c, p);
}

static RvStatus run(void *memory, const RvHoughConfig *c, const RvHoughPlan *p,
                    const RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  HoughMap edges = {(const uint8_t *)job->input.data, job->input.stride};
  if (c->edges != RV_HOUGH_BINARY) {
    RV_TRY(hough_cuda_edges(work, c, p, job));
    edges.data = work->classes;
    edges.stride = p->width;
  }
  RV_TRY(hough_cuda_votes(work, c, p, job, edges));
  if (job->out.accumulator.data)
    RV_CU(&c->log, cudaMemcpy2DAsync(job->out.accumulator.data, (size_t)job->out.accumulator.stride,
                                     work->bins, (size_t)work->stride * 4, (size_t)p->bins * 4,
                                     (size_t)p->angles, cudaMemcpyDeviceToDevice, job->stream));
  RV_TRY(hough_cuda_peaks(work, c, p, job));
  return p->min_length >= 0 ? hough_cuda_segments(work, c, p, job, edges) : RV_OK;
}

static void shape(const void *memory, RvHoughShape *out) {
  const HoughCuda *work = (const HoughCuda *)memory;
  *out = {work->shape.group, work->shape.parts, work->shape.passes, work->processors};
}

extern "C" void rv_hough_cuda_emulate_pre_sm90(void *memory) {
  HoughCuda *work = (HoughCuda *)memory;
  work->is_early = work->shape.is_cluster = 0;
}

extern "C" const RvHoughStages rv_hough_stages_cuda = {sizeof(HoughCuda), layout, open, run, shape};
