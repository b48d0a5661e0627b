/* SPDX-License-Identifier: MIT */
/* hough_cuda_segments.cu: the longest run of edges along each line, a warp a line. */
#include "hough/hough_cuda.cuh"

#define SEGMENT_WARPS 4

/* 1 when the line passes through an edge at `major`, or next to one across it. */
static __device__ __forceinline__ bool is_hit(const HoughMap edges, const RvHoughSpace &p,
                                              const RvHoughAngle &a, int offset, int major) {
  const int middle = rv_hough_minor(&a, offset, major), minors = a.is_steep ? p.width : p.height;
  bool hit = false;
  for (int m = max(middle - 1, 0); m <= min(middle + 1, minors - 1); m++)
    hit |= edges.data[a.is_steep ? major * edges.stride + m : m * edges.stride + major] != 0;
  return hit;
}

/* All lanes follow the same run; 32 places are looked at together. */
static __device__ bool segment(const HoughMap edges, const RvHoughSpace &p,
                               const RvHoughAngle *angles, uint64_t key, RvLine *line) {
  const uint32_t index = 0xffffffffu - (uint32_t)key;
  const RvHoughAngle a = angles[index / (uint32_t)p.bins];
  const int offset = (int)(index % (uint32_t)p.bins) - p.rho_zero;
  const int majors = a.is_steep ? p.height : p.width, lane = (int)threadIdx.x % 32;
  RvHoughRun run = {0, -1, 0, 0, 0};
  for (int base = 0; base < majors; base += 32) {
    const bool hit = base + lane < majors && is_hit(edges, p, a, offset, base + lane);
    for (unsigned bits = __ballot_sync(0xffffffffu, hit); bits; bits &= bits - 1)
      rv_hough_run_hit(&run, base + __ffs((int)bits) - 1, p.max_gap);
  }
  rv_hough_run_close(&run);
  return rv_hough_run_end(&run, &a, &p, offset, line);
}

/* One warp: lines that are long enough move up, in order. */
static __device__ void compact(const RvLine *found, const uint8_t *is_long, unsigned count,
                               unsigned most, RvLine *lines, uint32_t *line_count) {
  const unsigned lane = threadIdx.x % 32;
  unsigned kept = 0;
  for (unsigned base = 0; base < count; base += 32) {
    const bool keep = base + lane < count && __ldcg(&is_long[base + lane]);
    const unsigned bits = __ballot_sync(0xffffffffu, keep);
    if (keep)
      lines[kept + __popc(bits & ((1u << lane) - 1))] = found[base + lane];
    kept += __popc(bits);
  }
  const RvLine none = {};
  for (unsigned i = kept + lane; i < most; i += 32)
    lines[i] = none;
  if (lane == 0)
    *line_count = kept;
}

static __global__ void __launch_bounds__(32 * SEGMENT_WARPS)
    segment_kernel(const HoughMap edges, const RvHoughSpace p, const RvHoughAngle *angles,
                   const uint64_t *top, RvLine *found, uint8_t *is_long, RvLine *lines,
                   uint32_t *line_count, HoughCounters *counters) {
  __shared__ int is_last;
  const unsigned count = counters->lines;
  const unsigned i = blockIdx.x * SEGMENT_WARPS + threadIdx.x / 32;
  if (i < count) {
    RvLine line = rv_hough_line(&p, top[i]);
    const bool keep = segment(edges, p, angles, top[i], &line);
    if (threadIdx.x % 32 == 0) {
      found[i] = line;
      is_long[i] = keep;
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicAdd(&counters->segment_blocks, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last || threadIdx.x >= 32)
    return;
  __threadfence();
  compact(found, is_long, count, (unsigned)p.max_lines, lines, line_count);
  if (threadIdx.x == 0)
    counters->segment_blocks = 0;
}

RvStatus hough_cuda_segments(void *memory, RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughSpace *p = &job->plan->space;
  const HoughMap edges = hough_cuda_map(work, job);
  segment_kernel<<<(unsigned)rv_div_up(p->max_lines, SEGMENT_WARPS), 32 * SEGMENT_WARPS, 0,
                   job->stream>>>(edges, *p, work->angles, work->top, work->found, work->is_long,
                                  job->out.lines, job->out.count, work->counters);
  RV_LAUNCHED(&job->plan->config.log);
  return RV_OK;
}
