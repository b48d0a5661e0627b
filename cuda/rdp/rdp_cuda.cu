/* SPDX-License-Identifier: MIT */
/* rdp_cuda.cu: the CUDA engine of column segmentation: its memory, the median, and the order of its
 * stages. */
#include "rdp/rdp_cuda.cuh"

namespace {
struct RdpCuda {
  RdpShape shape;
  unsigned long long *totals; /* one for each column: no block takes less */
  unsigned long long *tickets;
  uint16_t *filtered;
  int overlaps; /* the kernel may start before the preceding one ends */
};
} // namespace

static void layout(void *memory, const void *plan, RvArena *arena) {
  RdpCuda *work = (RdpCuda *)memory;
  const RvRdpConfig *config = &((const RvRdpPlan *)plan)->config;
  const size_t width = (size_t)config->width, height = (size_t)config->height;
  work->totals = (unsigned long long *)rv_arena_take(arena, width * sizeof *work->totals);
  work->tickets = (unsigned long long *)rv_arena_take(arena, sizeof *work->tickets);
  if (config->median)
    work->filtered = (uint16_t *)rv_arena_take(arena, width * height * sizeof *work->filtered);
}

static RvStatus open(void *memory, const void *plan) {
  RdpCuda *work = (RdpCuda *)memory;
  const RvRdpConfig *config = &((const RvRdpPlan *)plan)->config;
  const RvLog *log = &config->log;
  RV_CU(log, cudaMemset(work->totals, 0, config->width * sizeof *work->totals));
  RV_CU(log, cudaMemset(work->tickets, 0, sizeof *work->tickets));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* whichever stream run gets comes after */
  RV_TRY(rv_cuda_overlaps(log, &work->overlaps));
  return rdp_cuda_shape(config, &work->shape);
}

/* The value of the median's rank is found bit by bit: how many are not above a bound. */
template <int REACH>
static __global__ void __launch_bounds__(256)
    median_kernel(const uint16_t *source, ptrdiff_t stride, uint16_t *out, int width, int height) {
  constexpr int SIDE = 2 * REACH + 1;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height)
    return;
  unsigned values[SIDE * SIDE];
  int count = 0;
#pragma unroll
  for (int k = 0; k < SIDE * SIDE; k++) {
    const int u = x + k % SIDE - REACH, v = y + k / SIDE - REACH;
    const bool inside = u >= 0 && u < width && v >= 0 && v < height;
    values[k] = inside ? source[v * stride + u] : 0;
    count += values[k] != 0;
  }
  const size_t at = (size_t)y * width + x;
  if (values[SIDE * SIDE / 2] == 0) {
    out[at] = 0;
    return;
  }
  const int rank = rv_rdp_median_rank(count);
  unsigned found = 0;
  for (int bit = 15; bit >= 0; bit--) {
    const unsigned bound = found + (1u << bit) - 1;
    int below = 0; /* 0 (invalid) wraps and is never counted */
#pragma unroll
    for (int k = 0; k < SIDE * SIDE; k++)
      below += values[k] - 1 < bound;
    if (below <= rank)
      found += 1u << bit;
  }
  out[at] = (uint16_t)found;
}

static RvStatus median(void *memory, RvRdpJob *job) {
  const RdpCuda *work = (RdpCuda *)memory;
  const RvRdpConfig *config = &job->plan->config;
  const RvPlane *from = &job->disparity;
  const int width = config->width, height = config->height;
  const dim3 grid(rv_div_up(width, 32), rv_div_up(height, 8)), block(32, 8);
  const uint16_t *source = (const uint16_t *)from->data;
  RV_TRY(rv_launch(&config->log, config->median == 3 ? median_kernel<1> : median_kernel<2>, grid,
                   block, 0, job->stream, false, source, from->stride / 2, work->filtered, width,
                   height));
  job->disparity = {work->filtered, (ptrdiff_t)width * 2, width, height, RV_U16};
  return RV_OK;
}

static RvStatus segment(void *memory, RvRdpJob *job) {
  const RdpCuda *work = (const RdpCuda *)memory;
  const RvRdpConfig *config = &job->plan->config;
  RdpArgs args = {};
  args.source = (const uint16_t *)job->disparity.data;
  args.stride = job->disparity.stride / 2;
  args.width = config->width;
  args.height = config->height;
  args.pairs = (config->width | work->shape.columns | args.stride) % 2 == 0 &&
               (uintptr_t)args.source % 4 == 0;
  args.across = work->shape.columns / (args.pairs ? 2 : 1);
  args.across_inverse = rdp_inverse(args.across);
  args.down = RDP_THREADS / args.across;
  args.mask_pairs = (((uintptr_t)job->output.mask.data | (size_t)job->output.mask.stride) & 1) == 0;
  args.breaks = config->invalid == RV_RDP_BREAK;
  args.limit = job->plan->limit;
  args.shape = work->shape;
  args.output = job->output;
  args.totals = work->totals;
  args.tickets = work->tickets;
  return rdp_cuda_split(&args, &config->log, job->stream, work->overlaps);
}

RV_ENGINE(RvRdp, rdp, cuda, RdpCuda, layout, open, nullptr, median, segment);
