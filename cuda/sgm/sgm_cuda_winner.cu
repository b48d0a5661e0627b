/* SPDX-License-Identifier: MIT */
/* sgm_cuda_winner.cu: stages 4, 5 and 7: one block a row reads the sums once and finds both
 * pictures' winners, uniqueness, subpixel place and confidence. */
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_winner.cuh"

enum { GROUP = 16, BLOCK = 256 };

struct WinnerArgs {
  const uint32_t *sums;
  SgmRaster<uint16_t> winner, right, found;
  SgmRaster<uint8_t> raw_confidence;
  int width, words, min_disparity, uniqueness, subpixel, confidence;
};

static __device__ void write_pixel(const WinnerArgs &a, int x, int y, uint32_t key, int second) {
  const int k = (int)(key & 0xffffu), best = (int)(key >> 16);
  const uint16_t *halves = (const uint16_t *)(a.sums + ((size_t)y * a.width + x) * a.words);
  int offset = 0;
  if (a.subpixel && k > 0 && k < 2 * a.words - 1) {
    const int before = k - 1, after = k + 1;
    offset = rv_sgm_offset(halves[2 * (before % a.words) + before / a.words], best,
                           halves[2 * (after % a.words) + after / a.words]);
  }
  const bool valid = rv_sgm_unique(best, second, a.uniqueness);
  a.winner.row(y)[x] = (uint16_t)k;
  a.found.row(y)[x] = (uint16_t)(valid ? rv_sgm_value(a.min_disparity, k, offset) : RV_SGM_INVALID);
  if (a.confidence)
    a.raw_confidence.row(y)[x] = (uint8_t)rv_sgm_confidence(best, second);
}

/* Offers the pixel's sums to those right pixels that are inside the picture. */
template <int K>
static __device__ __forceinline__ void offer_inside(const uint32_t (&w)[K], const SgmLane &self,
                                                    int words, int column, uint32_t *keys) {
#pragma unroll
  for (int j = 0; j < K; j++) {
    const int i = self.first_word + j;
    if (column - i >= 0)
      atomicMin(&keys[column - i], sgm_low_key(w[j], i));
    if (column - i - words >= 0)
      atomicMin(&keys[column - i - words], sgm_high_key(w[j], i + words));
  }
}

template <int K> static __global__ void __launch_bounds__(BLOCK) winner_kernel(const WinnerArgs a) {
  extern __shared__ uint32_t keys[]; /* of the right picture's row */
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
    const int second = sgm_second_sum<GROUP, K>(w, self, a.words, (int)(key & 0xffffu));
    if (live && self.active)
      offer_inside<K>(w, self, a.words, x - a.min_disparity, keys);
    if (live && self.first)
      write_pixel(a, x, y, key, second);
  }
  __syncthreads();
  for (int x = (int)threadIdx.x; x < a.width; x += BLOCK)
    a.right.row(y)[x] = (uint16_t)keys[x]; /* RV_SGM_NO_MATCH where nothing was offered */
}

static size_t key_bytes(const RvSgmConfig *config) {
  return config->width * sizeof(uint32_t);
}

template <int K> static RvStatus allow_shared(const RvSgmConfig *config) {
  if (key_bytes(config) > 48 * 1024)
    RV_CU(&config->log,
          cudaFuncSetAttribute(winner_kernel<K>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)key_bytes(config)));
  return RV_OK;
}

RvStatus sgm_cuda_winner_open(const RvSgmConfig *config) {
  SGM_FOR_WORDS(config->disparities / 2, GROUP, K, return allow_shared<K>(config));
}

RvStatus sgm_cuda_winner(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  WinnerArgs a = {};
  a.sums = work->sums;
  a.winner = work->winner, a.right = work->right;
  a.found = work->found, a.raw_confidence = work->raw_confidence;
  a.width = config->width, a.words = config->disparities / 2;
  a.min_disparity = config->min_disparity, a.uniqueness = config->uniqueness;
  a.subpixel = config->subpixel, a.confidence = config->confidence;
  SGM_FOR_WORDS(a.words, GROUP, K,
                winner_kernel<K><<<config->height, BLOCK, key_bytes(config), job->stream>>>(a));
  RV_LAUNCHED(&config->log);
  return RV_OK;
}
