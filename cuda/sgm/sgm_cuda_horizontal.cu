/* SPDX-License-Identifier: MIT */
/* sgm_cuda_horizontal.cu: the horizontal directions of rows that sgm_cuda_rows.cu cannot keep in
 * shared memory (benchmark sgm/2560x1440-d512-p8): a group of lanes walks along one row and adds
 * its costs to the sums in memory. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_cost.cuh"

namespace {

enum { GROUP = 16, BLOCK = 128 };

struct HorizontalArgs {
  SgmScene scene;
  uint32_t *sums;
  int dx;
};

/* Input of one step, loaded some steps before use. */
template <int K, typename Census> struct HorizontalFetch {
  SgmFetch<K, Census> in;
  uint32_t sum[K], p2;

  __device__ __forceinline__ void load(const HorizontalArgs &a, int x, int y, const SgmLane &self) {
    in.load(a.scene, x, y, self);
    p2 = sgm_p2(a.scene, x, y, a.dx, 0, x - a.dx >= 0 && x - a.dx < a.scene.width);
    if (self.active)
      sgm_load<K>(sum, a.sums + ((size_t)y * a.scene.width + x) * a.scene.words + self.first_word);
  }
};

template <int K, typename Census>
__global__ void __launch_bounds__(BLOCK) horizontal_kernel(const HorizontalArgs a) {
  constexpr int AHEAD = K <= 4 ? 4 : K <= 8 ? 2 : 1;
  const SgmLane self = sgm_lane<GROUP, K>(a.scene.words);
  const int steps = a.scene.width;
  const int line = (int)((blockIdx.x * BLOCK + threadIdx.x) / GROUP);
  const bool live = line < a.scene.height && self.active;
  const int y = rv_min(line, a.scene.height - 1); /* complete warps take part in every exchange */
  const int x0 = a.dx > 0 ? 0 : steps - 1;
  HorizontalFetch<K, Census> in[AHEAD];
#pragma unroll
  for (int u = 0; u < AHEAD; u++)
    if (u < steps)
      in[u].load(a, x0 + u * a.dx, y, self);
  uint32_t l[K] = {}, floor2 = 0;
  SgmP1 p1;
  p1.below = p1.above = (uint32_t)a.scene.p1 * 0x10001u;
  for (int s = 0; s < steps; s += AHEAD) {
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (s + u >= steps)
        break;
      const int x = x0 + (s + u) * a.dx;
      uint32_t cost[K], out[K];
      in[u].in.costs(cost, a.scene.limit);
      sgm_path_step<GROUP, K>(l, floor2, cost, p1, in[u].p2, self);
#pragma unroll
      for (int j = 0; j < K; j++)
        out[j] = in[u].sum[j] + l[j];
      if (live)
        sgm_store<K>(a.sums + ((size_t)y * a.scene.width + x) * a.scene.words + self.first_word,
                     out);
      if (s + u + AHEAD < steps)
        in[u].load(a, x + AHEAD * a.dx, y, self);
    }
  }
}

template <int K, typename Census> RvStatus launch(const RvSgmJob *job, const HorizontalArgs &a) {
  const int blocks = rv_div_up(a.scene.height * GROUP, BLOCK);
  return rv_launch(&job->plan->config.log, horizontal_kernel<K, Census>, blocks, BLOCK, 0,
                   job->stream, false, a);
}

RvStatus launch_any(const RvSgmJob *job, const HorizontalArgs &a) {
  SGM_FOR_DESCRIPTOR(job->plan, Census, {
    SGM_FOR_WORDS(a.scene.words, GROUP, K, return (launch<K, Census>(job, a)));
  });
}

} // namespace

RvStatus sgm_cuda_horizontal(const RvSgmJob *job, const SgmSlice *slice) {
  HorizontalArgs a = {};
  a.scene = slice->scene;
  a.sums = slice->sums;
  a.dx = 1;
  RV_TRY(launch_any(job, a));
  a.dx = -1;
  return job->plan->config.paths == 2 ? RV_OK : launch_any(job, a);
}
