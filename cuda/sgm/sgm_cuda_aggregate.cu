/* sgm_cuda_aggregate.cu: stage 3, one direction a launch: every group of lanes walks along one path
 * and adds its costs to the sums. */
#include "sgm_cuda.h"
#include "sgm_cuda_path.cuh"

enum { GROUP = 16, BLOCK = 128 };

struct PathArgs {
  const void *left, *right; /* descriptors, dense */
  SgmRaster<const uint8_t> grey;
  uint32_t *sums;
  int width, height, words, min_disparity;
  int dx, dy;
  int p1, p2, adaptive, p2_min, gradient;
  int add; /* 0: the first direction, which sets the sums */
};

/* A place on a line of paths: it leaves the picture on one side and enters on the other, where the
 * next path starts. */
struct Place {
  int x, y;
  bool start;
  __device__ void advance(const PathArgs &a) {
    y += a.dy;
    x += a.dx;
    start = x < 0 || x >= a.width;
    x = x < 0 ? a.width - 1 : x >= a.width ? 0 : x;
  }
};

/* What one step needs from memory, loaded some steps ahead. */
template <int K, typename Census> struct Fetched {
  Census left, low[K], high[K];
  uint32_t sum[K];
  uint32_t p2;

  __device__ __forceinline__ void fetch(const PathArgs &a, const Place &at, const SgmLane &self) {
    const size_t pixel = (size_t)at.y * a.width + at.x;
    left = ((const Census *)a.left)[pixel];
    const Census *row = (const Census *)a.right + (size_t)at.y * a.width;
    const int column = at.x - a.min_disparity - self.first_word;
#pragma unroll
    for (int j = 0; j < K; j++) {
      low[j] = row[rv_max(column - j, 0)];
      high[j] = row[rv_max(column - j - a.words, 0)];
    }
    if (a.add && self.active)
      sgm_load<K>(sum, a.sums + pixel * a.words + self.first_word);
    int penalty = a.p2;
    if (a.adaptive && !at.start)
      penalty = rv_sgm_adapted_p2(a.p2, a.p2_min, a.gradient, a.grey.row(at.y)[at.x],
                                  a.grey.row(at.y - a.dy)[at.x - a.dx]);
    p2 = (uint32_t)penalty * 0x10001u;
  }
};

template <int K, typename Census>
static __device__ __forceinline__ void step(const PathArgs &a, const Fetched<K, Census> &in,
                                            const Place &at, const SgmLane &self, bool live,
                                            uint32_t (&l)[K], uint32_t &floor2) {
  uint32_t cost[K];
#pragma unroll
  for (int j = 0; j < K; j++)
    cost[j] = sgm_hamming(in.left, in.low[j]) + (sgm_hamming(in.left, in.high[j]) << 16);
  if (at.start) {
#pragma unroll
    for (int j = 0; j < K; j++)
      l[j] = 0;
    floor2 = 0;
  }
  sgm_path_step<GROUP, K>(l, floor2, cost, (uint32_t)a.p1 * 0x10001u, in.p2, self);
  if (!live)
    return;
  uint32_t out[K];
#pragma unroll
  for (int j = 0; j < K; j++)
    out[j] = a.add ? in.sum[j] + l[j] : l[j];
  sgm_store<K>(a.sums + ((size_t)at.y * a.width + at.x) * a.words + self.first_word, out);
}

template <int K, typename Census>
static __global__ void __launch_bounds__(BLOCK) path_kernel(const PathArgs a) {
  constexpr int AHEAD = K <= 4 ? 4 : K <= 8 ? 2 : 1;
  const SgmLane self = sgm_lane<GROUP, K>(a.words);
  const int lines = a.dy ? a.width : a.height, steps = a.dy ? a.height : a.width;
  const int wanted = (int)((blockIdx.x * BLOCK + threadIdx.x) / GROUP);
  const bool live = wanted < lines && self.active;
  const int line = rv_min(wanted, lines - 1); /* whole warps take part in every exchange */
  Place at;
  at.x = a.dy ? line : a.dx > 0 ? 0 : a.width - 1;
  at.y = a.dy > 0 ? 0 : a.dy < 0 ? a.height - 1 : line;
  at.start = true;
  Place ahead = at;
  Fetched<K, Census> in[AHEAD];
#pragma unroll
  for (int u = 0; u < AHEAD; u++)
    if (u < steps) {
      in[u].fetch(a, ahead, self);
      ahead.advance(a);
    }
  uint32_t l[K], floor2 = 0;
  for (int s = 0; s < steps; s += AHEAD) {
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (s + u >= steps)
        break;
      step<K, Census>(a, in[u], at, self, live, l, floor2);
      at.advance(a);
      if (s + u + AHEAD < steps) {
        in[u].fetch(a, ahead, self);
        ahead.advance(a);
      }
    }
  }
}

template <typename Census>
static RvStatus aggregate(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  static const int directions[8][2] = {{1, 0}, {0, 1},  {-1, 0}, {0, -1},
                                       {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
  PathArgs a = {};
  a.left = work->census[0], a.right = work->census[1];
  a.grey = {(const uint8_t *)job->left.data, job->left.stride};
  a.sums = work->sums;
  a.width = config->width, a.height = config->height;
  a.words = config->disparities / 2, a.min_disparity = config->min_disparity;
  a.p1 = config->p1, a.p2 = config->p2, a.adaptive = config->adaptive_p2;
  a.p2_min = config->p2_min, a.gradient = config->p2_gradient;
  for (int i = 0; i < config->paths; i++) {
    a.dx = directions[i][0], a.dy = directions[i][1], a.add = i > 0;
    const int blocks = rv_div_up((a.dy ? a.width : a.height) * GROUP, BLOCK);
    SGM_FOR_WORDS(a.words, GROUP, K, path_kernel<K, Census><<<blocks, BLOCK, 0, job->stream>>>(a));
    RV_LAUNCHED(&config->log);
  }
  return RV_OK;
}

RvStatus sgm_cuda_aggregate(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return config->cost == RV_SGM_CENSUS ? aggregate<uint64_t>(work, config, job)
                                       : aggregate<uint32_t>(work, config, job);
}
