/* SPDX-License-Identifier: MIT */
/* sgm_cuda.cuh: what the .cu files of semi-global matching share on the host. Not installed.
 *
 * Memory of one object: the sums S of 2 bytes a cell, two planes of census descriptors, and the
 * states of paths at the seams of bands. The maps between the stages take the place of the
 * descriptors, those of the cleaning stages the place of the sums, each once these are done with.
 *
 * Where descriptors of the whole picture would break the promise of sgm.h (few disparities), the
 * planes are a window: descriptors are worked out again for the rows that come next, by the sweeps
 * and by the row stages. The maps then lie at the start of the sums, in rows that are done with. */
#ifndef RV_SGM_CUDA_H
#define RV_SGM_CUDA_H

#include "rv_cuda.cuh"
#include "sgm/sgm_rules.h"
#include "sgm/sgm_stages.h"

/* A dense or strided raster in GPU memory; stride in elements. */
template <typename T> struct SgmRaster {
  T *data;
  ptrdiff_t stride;
  __host__ __device__ T *row(int y) const { return data + y * stride; }
};

typedef unsigned long long SgmNode;
enum { SGM_TILE_X = 64 }; /* columns of the tiles in which the maps are cleaned */

/* What the paths read. */
struct SgmScene {
  const void *left, *right;                /* descriptors, dense */
  SgmRaster<const uint8_t> grey;           /* left picture */
  int width, height, words, min_disparity; /* words: disparities / 2 */
  int p1, p2, adaptive, p2_min, p2_gradient;
};

struct SgmCuda {
  uint32_t *sums;                    /* [y][x][disparities / 2], see sgm_cuda_path.cuh; or narrow */
  void *census[2];                   /* left, right: u32 (csct) or u64 (census), [window][x] */
  int window;                        /* rows there; all of the picture, or some at a time */
  SgmRaster<uint16_t> winner;        /* k of the smallest sum */
  SgmRaster<uint16_t> right;         /* k of the right picture's pixels */
  SgmRaster<uint16_t> found;         /* values from match and check */
  SgmRaster<uint8_t> raw_confidence; /* confidence from match */
  SgmRaster<uint16_t> median;        /* values after the median */
  SgmRaster<uint16_t> current;       /* found or median: where the last stage left its values */
  SgmNode *nodes;                    /* speckle: forest of regions, dense (sgm_cuda_regions.cuh) */
  uint2 *pending; /* speckle: [y][tile], 64 pixels that await their regions' sizes */

  /* Sweeps (sgm_cuda_sweep.cu): states of the paths at the seams of bands. */
  uint32_t *straight;   /* [sweep][x][words] */
  uint32_t *slanted[2]; /* [sweep][side][x][words], read and written by turns */
  int strip, halo;      /* columns of a block's own and on each side */
  int resident;         /* sgm_cuda_diagonal can be used, with so many lanes a column; 0: not */

  int rows_fit;    /* sgm_cuda_rows can be used */
  int early;       /* kernels may start before the one ahead ends */
  int narrow_sums; /* see sgm_cuda_narrow_sums; only where rows_fit */
};

/* Whether the sums may be narrow: two bytes a word, one for each of its candidates, with what the
 * costs L of both vertical paths together are beyond 2 C, C the pixel's cost, which who reads them
 * adds. Each path is at most p2 beyond. */
static inline int sgm_cuda_narrow_sums(const RvSgmConfig *config) {
  const int words = config->disparities / 2;
  return config->paths == 4 && 2 * config->p2 <= 255 && words >= 32 && !(words & (words - 1));
}

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
      constexpr int K = (G) == 32 ? 8 : 16;                                                        \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  } while (0)

SgmScene sgm_cuda_scene(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);

/* Rows of the picture and where the first of them goes in the window. */
struct SgmRows {
  int first, count, to;
};

/* Descriptors of one or two pieces of both pictures. */
RvStatus sgm_cuda_census(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                         const SgmRows *pieces, int count);
/* For the tests: copies config->height rows from the start of the window. */
RvStatus sgm_cuda_census_show(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);

/* Vertical and diagonal directions: sets the sums. */
RvStatus sgm_cuda_sweeps(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_sweeps_open(SgmCuda *work, const RvSgmConfig *config);
void sgm_cuda_sweeps_layout(SgmCuda *work, const RvSgmConfig *config, RvArena *arena);
size_t sgm_cuda_sweeps_states(const RvSgmConfig *config); /* bytes for a column of the picture */

/* The same without diagonals (sgm_cuda_vertical.cu). */
RvStatus sgm_cuda_vertical(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);

/* The same for 8 paths in one launch, where all its blocks can be on the GPU at once. Takes the
 * place of the states. open: after that of the sweeps; replaces their strip. */
RvStatus sgm_cuda_diagonal(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_slanted_open(SgmCuda *work, const RvSgmConfig *config);

/* Horizontal directions and winners, a block a row; with `check` the left-right check as well. */
RvStatus sgm_cuda_rows(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                       int check);
RvStatus sgm_cuda_rows_open(const RvSgmConfig *config);
size_t sgm_cuda_rows_shared(const RvSgmConfig *config); /* bytes a block */

/* The same in two steps for rows too long for the former: adds to the sums, finds the winners. */
RvStatus sgm_cuda_lines(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_winner(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_winner_open(const RvSgmConfig *config);

RvStatus sgm_cuda_check(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_median(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_speckle(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus sgm_cuda_output(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);

/* Median, speckle and output with as few launches as they take. */
RvStatus sgm_cuda_clean(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job);

#endif
