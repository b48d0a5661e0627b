/* SPDX-License-Identifier: MIT */
/* stixels_cuda_ground.cu: the vote for the ground, CUDA engine. One block per disparity at row 0;
 * each thread evaluates one horizon in a part of the rows. The last block fits the plane to the best
 * line, for the next frame; the columns run beside it while a road is known. */
#include "stixels/stixels_cuda_semantics.cuh"

#define LINES RV_STIXELS_HORIZONS /* of a block: neighbors, so that they read neighboring bins */
#define PARTS 8                   /* of the rows, at most: a block has LINES threads for each */
#define THREADS (LINES * PARTS)
#define BATCH 16 /* rows whose votes are loaded together */

/* Score of a line in rows begin .. end - 1. Its px in each row follows from that of the row below
 * by a running division, as in the CPU engine. */
static __device__ __forceinline__ int score_of(const RvStixelsPlan &plan, const uint16_t *votes,
                                               int bins, int bottom, int horizon, int begin,
                                               int end) {
  const int fall = 64 * bottom / horizon, rest = 64 * bottom - fall * horizon;
  const int numerator = rv_max(bottom * (horizon - 64 * begin) + horizon / 2, 0); /* below 2^31 */
  int px = numerator / horizon, left = numerator - px * horizon, score = 0;
#pragma unroll 1
  for (int v = begin; v < end; v += BATCH) {
    uint16_t found[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      found[i] = px >= 2 && v + i < end ? votes[(v + i) * bins + px] : 0;
      left -= rest;
      px = rv_max(px - fall - (left < 0), 0);
      left += left < 0 ? horizon : 0;
    }
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      score += found[i];
  }
  return score;
}

/* The state after the frame, by all threads of a block: the plane fitted to the cells on the best
 * line. */
static __device__ void follow_road(const RvStixelsPlan &plan, const RvStixelsCuda &work) {
  __shared__ long long parts[5][THREADS / 32];
  const unsigned long long winner = __ldcg(&work.vote->winner);
  const int line = (int)(0xffffffffu - (unsigned)winner), lane = threadIdx.x % 32;
  const RvStixelsPlane plane = rv_stixels_line_plane(&plan, line);
  long long sums[5] = {0, 0, 0, 0, 0};
  for (int v = threadIdx.x; v < plan.rows; v += blockDim.x) {
    const RvStixelsBins on = rv_stixels_on_line(&plane, v, work.bins);
    const uint2 *below = (const uint2 *)(work.below + (size_t)v * (work.bins + 1));
    const uint2 low = __ldcg(below + on.low), high = __ldcg(below + on.high + 1);
    const long long n = high.x - low.x, d = high.y - low.y, row = v;
    sums[0] += n;
    sums[1] += row * n;
    sums[2] += row * row * n;
    sums[3] += d;
    sums[4] += row * d;
  }
  for (int k = 0; k < 5; k++) {
    sums[k] = (int)threadIdx.x - lane < plan.rows ? rv_warp_sum(sums[k]) : 0;
    if (lane == 0)
      parts[k][threadIdx.x / 32] = sums[k];
  }
  __syncthreads();
  if (threadIdx.x >= 32)
    return;
  for (int k = 0; k < 5; k++)
    sums[k] = rv_warp_sum(lane < (int)blockDim.x / 32 ? parts[k][lane] : 0ll);
  const RvStixelsRoad road = {sums[0], sums[1], sums[2], sums[3], sums[4]};
  const unsigned frame = __ldcg(&work.vote->frame);
  RvStixelsState state = rv_stixels_state_of(work, frame - 1);
  rv_stixels_follow(&plan, line, (int)(winner >> 32), &road, &state);
  if (lane == 0)
    work.state[frame % 2] = state;
}

/* The blocks after those of the vote compute costs of semantic classes, which depend on no other
 * kernel. */
template <bool IS_SEMANTIC>
static __global__ void __launch_bounds__(IS_SEMANTIC ? WIDE_THREADS : THREADS)
    ground_kernel(const __grid_constant__ RvStixelsPlan plan,
                  const __grid_constant__ RvStixelsCuda work, const RvPlane semantics) {
  if (IS_SEMANTIC && blockIdx.x >= RV_STIXELS_BOTTOMS) {
    rv_launch_next();
    wide_costs(plan, work, semantics, blockIdx.x - RV_STIXELS_BOTTOMS);
    return;
  }
  __shared__ int scores[PARTS][LINES];
  __shared__ bool is_last;
  const int line = threadIdx.x % LINES, part = threadIdx.x / LINES;
  const int bottom = ((int)blockIdx.x + 1) * plan.bottom_step;
  const int horizon = plan.rows * (RV_STIXELS_HORIZON_FIRST + line);
  const int parts = (int)blockDim.x / LINES, each = rv_div_up(plan.rows, parts);
  rv_launch_wait();
  rv_launch_next(); /* cells are known when the next kernel starts */
  scores[part][line] = score_of(plan, work.votes, work.bins, bottom, horizon, part * each,
                                rv_min(part * each + each, plan.rows));
  __syncthreads();
  unsigned long long best = 0;
  for (int k = threadIdx.x; k < LINES && threadIdx.x < 32; k += 32) {
    int score = 0;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
      score += i < parts ? scores[i][k] : 0;
    const unsigned at = blockIdx.x * LINES + k;
    const unsigned long long key = (unsigned long long)score << 32 | (0xffffffffu - at);
    best = key > best ? key : best;
  }
  best = rv_warp_max(best);
  if (threadIdx.x == 0) {
    atomicMax(&work.vote->winner, best);
    __threadfence();
    is_last = atomicAdd(&work.vote->blocks, 1u) == RV_STIXELS_BOTTOMS - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last)
    follow_road(plan, work);
}

RvStatus rv_stixels_cuda_ground(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const RvPlane *scores = &job->input.scores;
  static_assert(WIDE_THREADS == LINES * PARTS / 2, "both in one kernel");
  const bool is_semantic = is_wide(plan, scores);
  const int threads = is_semantic || plan->rows <= 64 ? WIDE_THREADS : THREADS;
  return rv_launch(&plan->config.log, is_semantic ? ground_kernel<true> : ground_kernel<false>,
                   dim3(RV_STIXELS_BOTTOMS + (is_semantic ? wide_blocks(plan) : 0)), dim3(threads),
                   0, job->stream, work->is_chained, *plan, *work, *scores);
}
