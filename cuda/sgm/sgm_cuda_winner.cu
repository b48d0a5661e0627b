/* SPDX-License-Identifier: MIT */
/* sgm_cuda_winner.cu: steps 4 to 7 after sgm_cuda_horizontal.cu: one block per row reads S once and
 * finds the winners of both views, uniqueness, subpixel position and confidence, then does the
 * left-right check. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_winner.cuh"

namespace {

enum { GROUP = 16, BLOCK = 256 };

struct WinnerArgs {
  const uint32_t *sums;
  SgmMaps maps;
  int width, words, min_disparity, uniqueness, subpixel, equiangular, confidence;
  int margin_scale;
  int max_lr_diff; /* -1: no left-right check */
};

/* second, far: smallest S at more than one and at more than RV_SGM_GAP steps. */
__device__ void write_pixel(const WinnerArgs &a, int x, int y, uint32_t key, int second, int far) {
  const int k = (int)(key & 0xffffu), best = (int)(key >> 16);
  const uint16_t *halves = (const uint16_t *)(a.sums + ((size_t)y * a.width + x) * a.words);
  int offset = 0;
  if (a.subpixel && k > 0 && k < 2 * a.words - 1) {
    const int before = k - 1, after = k + 1;
    offset = rv_sgm_offset(halves[2 * (before % a.words) + before / a.words], best,
                           halves[2 * (after % a.words) + after / a.words], a.equiangular);
  }
  const bool valid = rv_sgm_unique(best, second, a.uniqueness);
  a.maps.winner.row(y)[x] = (uint16_t)k;
  a.maps.values.row(y)[x] =
      (uint16_t)(valid ? rv_sgm_value(a.min_disparity, k, offset) : RV_SGM_INVALID);
  if (a.confidence)
    a.maps.raw_confidence.row(y)[x] = (uint8_t)rv_sgm_margin(best, far, a.margin_scale);
}

/* Offers S of the pixel to those right pixels that are inside the image. */
template <int K>
__device__ __forceinline__ void offer_inside(const uint32_t (&w)[K], const SgmLane &self, int words,
                                             int column, uint32_t *keys) {
#pragma unroll
  for (int j = 0; j < K; j++) {
    const int i = self.first_word + j;
    if (column - i >= 0)
      atomicMin(&keys[column - i], sgm_low_key(w[j], i));
    if (column - i - words >= 0)
      atomicMin(&keys[column - i - words], sgm_high_key(w[j], i + words));
  }
}

/* Right disparity, RV_SGM_NO_MATCH where nothing was offered; left-right check. */
__device__ __forceinline__ void end_pixel(const WinnerArgs &a, int x, int y, const uint32_t *keys) {
  a.maps.right.row(y)[x] = (uint16_t)keys[x];
  if (a.max_lr_diff < 0)
    return;
  const int k = a.maps.winner.row(y)[x], match = rv_max(x - (a.min_disparity + k), 0);
  if (!rv_sgm_passes_lr_check(x, a.min_disparity, k, (int)(keys[match] & 0xffffu), a.max_lr_diff))
    a.maps.values.row(y)[x] = RV_SGM_INVALID;
}

template <int K> __global__ void __launch_bounds__(BLOCK) winner_kernel(const WinnerArgs a) {
  extern __shared__ uint32_t keys[]; /* of the row of the right view */
  const int y = (int)blockIdx.x;
  for (int x = (int)threadIdx.x; x < a.width; x += BLOCK)
    keys[x] = 0xffffffffu;
  __syncthreads();
  const SgmLane self = sgm_lane<GROUP, K>(a.words);
  for (int x0 = 0; x0 < a.width; x0 += BLOCK / GROUP) {
    const int x = x0 + (int)threadIdx.x / GROUP;
    const bool live = x < a.width;
    uint32_t w[K] = {};
    if (live && self.active)
      sgm_load<K>(w, a.sums + ((size_t)y * a.width + x) * a.words + self.first_word);
    const uint32_t key = sgm_best_key<GROUP, K>(w, self, a.words);
    const int k = (int)(key & 0xffffu);
    const int second = sgm_second_sum<GROUP, K>(w, self, a.words, k, 1);
    const int far = a.confidence ? sgm_second_sum<GROUP, K>(w, self, a.words, k, RV_SGM_GAP) : 0;
    if (live && self.active)
      offer_inside<K>(w, self, a.words, x - a.min_disparity, keys);
    if (live && self.first)
      write_pixel(a, x, y, key, second, far);
  }
  __syncthreads();
  for (int x = (int)threadIdx.x; x < a.width; x += BLOCK)
    end_pixel(a, x, y, keys);
}

size_t key_bytes(int width) {
  return width * sizeof(uint32_t);
}

template <int K> RvStatus launch(const RvSgmJob *job, const WinnerArgs &a, int rows) {
  return rv_launch(&job->plan->config.log, winner_kernel<K>, rows, BLOCK, key_bytes(a.width),
                   job->stream, false, a);
}

} // namespace

RvStatus sgm_cuda_winner_open(const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  SGM_FOR_WORDS(config->disparities / 2, GROUP, K,
                return rv_launch_allow_shared(&config->log, winner_kernel<K>));
}

RvStatus sgm_cuda_winner(const RvSgmJob *job, const SgmSlice *slice) {
  const RvSgmConfig *config = &job->plan->config;
  WinnerArgs a = {};
  a.sums = slice->sums;
  a.maps = slice->maps;
  a.width = config->width, a.words = config->disparities / 2;
  a.min_disparity = config->min_disparity, a.uniqueness = config->uniqueness;
  a.subpixel = config->subpixel, a.equiangular = job->plan->equiangular;
  a.confidence = config->confidence, a.margin_scale = job->plan->margin_scale;
  a.max_lr_diff = config->max_lr_diff;
  SGM_FOR_WORDS(a.words, GROUP, K, return launch<K>(job, a, slice->scene.height));
}
