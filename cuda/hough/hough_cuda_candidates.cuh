/* SPDX-License-Identifier: MIT */
/* hough_cuda_candidates.cuh: bins that may be peaks, found while the sums are on their way to
 * memory. Only .cu files include it. */
#ifndef RV_HOUGH_CANDIDATES_CUH
#define RV_HOUGH_CANDIDATES_CUH

#include <stdint.h>

struct HoughCandidates {
  uint32_t *words; /* places in the accumulator */
  unsigned *count;
  uint32_t threshold;
};

/* Four sums from `word` on; all 32 lanes of the warp call it. Those above the threshold that no
 * neighbor along rho in sight rules out join the list. in_row: the lanes' quads follow one another
 * in memory, where a bin of 0 ends each row. */
static __device__ __forceinline__ void hough_candidates(const HoughCandidates &c, uint32_t word,
                                                        uint4 v, bool in_row) {
  const unsigned all = 0xffffffffu, lane = threadIdx.x % 32;
  const uint32_t most = max(max(v.x, v.y), max(v.z, v.w));
  if (!__any_sync(all, most > c.threshold))
    return;
  uint32_t before = __shfl_up_sync(all, v.w, 1), after = __shfl_down_sync(all, v.x, 1);
  if (!in_row || lane == 0)
    before = 0;
  if (!in_row || lane == 31)
    after = 0;
  const unsigned bits = (unsigned)(v.x > c.threshold && before < v.x && v.y <= v.x) |
                        (unsigned)(v.y > c.threshold && v.x < v.y && v.z <= v.y) << 1 |
                        (unsigned)(v.z > c.threshold && v.y < v.z && v.w <= v.z) << 2 |
                        (unsigned)(v.w > c.threshold && v.z < v.w && after <= v.w) << 3;
  unsigned sum = __popc(bits);
  const unsigned mine = sum;
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(all, sum, d);
    sum += lane >= d ? other : 0;
  }
  unsigned at = 0;
  if (lane == 31 && sum)
    at = atomicAdd(c.count, sum);
  at = __shfl_sync(all, at, 31) + sum - mine;
  for (unsigned left = bits; left; left &= left - 1)
    c.words[at++] = word + (unsigned)__ffs((int)left) - 1;
}

#endif
