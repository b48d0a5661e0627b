/* sgm_cuda.h: what the .cu files of semi-global matching share on the host. Not installed.
 *
 * Memory of one object: the sums S of 2 bytes a cell, two planes of census descriptors, and the
 * states of paths at the seams of bands. The maps between the stages take the place of the
 * descriptors, those of the cleaning stages the place of the sums, each once these are done with.
 */
#ifndef RV_SGM_CUDA_H
#define RV_SGM_CUDA_H

#include "rv_cuda.h"
#include "sgm_rules.h"
#include "sgm_stages.h"

/* A dense or strided raster in GPU memory; stride in elements. */
template <typename T> struct SgmRaster {
  T *data;
  ptrdiff_t stride;
  __host__ __device__ T *row(int y) const { return data + y * stride; }
};

struct SgmCuda {
  uint32_t *sums;              /* [y][x][disparities / 2], see sgm_cuda_path.cuh */
  void *census[2];             /* left, right: u32 (csct) or u64 (census), dense */
  SgmRaster<uint16_t> winner;  /* k of the smallest sum */
  SgmRaster<uint16_t> right;   /* k of the right picture's pixels */
  SgmRaster<uint16_t> found;   /* values from match and check */
  SgmRaster<uint8_t> sureness; /* confidence from match */
  SgmRaster<uint16_t> median;  /* values after the median */
  SgmRaster<uint16_t> current; /* found or median: where the last stage left its values */
  uint32_t *labels, *sizes;    /* speckle: region of a pixel, pixels of a region, dense */
};

/* Picks the instantiation for a number of words and a group of G lanes: K is the smallest power of
 * two with words <= G * K, and always divides words. */
#define SGM_FOR_WORDS(words, G, K, ...)                                                            \
  do {                                                                                             \
    if ((words) <= (G)) {                                                                          \
      constexpr int K = 1;                                                                         \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 2 * (G)) {                                                               \
      constexpr int K = 2;                                                                         \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 4 * (G)) {                                                               \
      constexpr int K = 4;                                                                         \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 8 * (G)) {                                                               \
      constexpr int K = 8;                                                                         \
      __VA_ARGS__;                                                                                 \
    } else {                                                                                       \
      constexpr int K = 16;                                                                        \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  } while (0)

RvStatus sgm_cuda_census(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_aggregate(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_winner(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_winner_open(const RvSgmConfig *config);

RvStatus sgm_cuda_check(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_median(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_speckle(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_output(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);

#endif
