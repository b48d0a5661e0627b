/* SPDX-License-Identifier: MIT */
/* sgm_cuda.cuh: what the .cu files of semi-global matching share on the host. Only they include it.
 *
 * Memory of one object: the aggregated costs S of 2 bytes per cell, two planes of census
 * descriptors, and the states of paths at the boundaries of bands. The maps between the steps
 * reuse the memory of the descriptors, those of the filter stage the memory of S, each once these
 * are not needed anymore.
 *
 * Where descriptors of the complete image would exceed the limit stated in sgm.h (no config today),
 * the planes are a window: descriptors are recomputed for the rows that come next, by the sweeps
 * and by the finishing kernels. The maps then lie at the start of S, in rows that are finished.
 *
 * Five kernels aggregate: three sweeps for the vertical and diagonal directions, and two ways to
 * finish a row with its horizontal directions. Each supports configs that no other one supports, or
 * is the fastest one for them; docs/notes/sgm-cuda.md lists the benchmark case that shows it. */
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

/* Descriptors whose matching costs are limited: types of their own, so that kernels without a limit
 * have no instruction for it. */
enum SgmLimited : uint32_t {};
enum SgmLimited64 : uint64_t {};

typedef unsigned long long SgmNode;
enum { SGM_TILE_X = 64, SGM_TILE_Y = 16 }; /* columns and rows of a tile of the filter stage */
enum { SGM_SKY_X = 128, SGM_SKY_Y = 32 };  /* of a block that looks for the sky */
/* Columns left of the image in a row of descriptors; they contain that of column 0. Rows start and
 * end at multiples of these, so at multiples of 16 bytes. */
enum { SGM_PAD = 4 };
/* Columns left of the image in the first row of packed sums, which sgm_cuda_rows copies with the
 * first columns, and ignores; those of other rows are the ends of the rows before. */
enum { SGM_BEFORE = 16 };
static inline int sgm_cuda_pitch(int width) {
  return rv_div_up(width, SGM_PAD) * SGM_PAD + SGM_PAD;
}

/* Input of the paths. */
struct SgmScene {
  const void *left, *right;                /* descriptors of column 0 */
  int pitch;                               /* of them, elements: see SGM_PAD */
  SgmRaster<const uint8_t> gray;           /* left view */
  int width, height, words, min_disparity; /* words: disparities / 2 */
  int p1, p1_ground, p2, adaptive, p2_min, p2_gradient;
  uint32_t limit; /* largest matching cost, in both halves */
};

/* Result of the match stage. */
struct SgmMaps {
  SgmRaster<uint16_t> winner;        /* k of the smallest S */
  SgmRaster<uint16_t> right;         /* k of the pixels of the right view */
  SgmRaster<uint16_t> values;        /* stored disparities */
  SgmRaster<uint8_t> raw_confidence; /* before the filter stage */
};

/* Rows of the image and the position of the first one in the window. */
struct SgmRows {
  int first, count, to;
};

/* Consecutive rows whose descriptors start the window: what the finishing kernels work on. */
struct SgmSlice {
  SgmScene scene; /* of these rows alone */
  uint32_t *sums;
  SgmMaps maps;
};

/* Regions of the filter stage and of the sky. Nodes and labels are numbered as they lie in memory:
 * a row `pitch` after the other. */
struct SgmRegions {
  SgmNode *nodes; /* speckle: [y][x], forest of regions (sgm_cuda_regions.cuh) */
  uint2 *pending; /* speckle: [y][tile], 64 pixels whose region size is not known yet: those in even
                     * columns, in odd columns */
  uint32_t *labels; /* sky: [y][x], see sgm_cuda_sky.cu */
  uint32_t *masks;  /* sky: [y][word of 32 columns], candidates */
  uint32_t node_pitch, pending_pitch, label_pitch, mask_pitch; /* elements */
};

struct SgmCuda;

/* The horizontal directions, winners and left-right check of a slice. */
typedef RvStatus SgmFinish(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice);

struct SgmCuda {
  uint32_t *sums;  /* S, [y][x][disparities / 2], see sgm_cuda_path.cuh; or packed partial sums */
  void *census[2]; /* left, right: u32 or u64 descriptors, [window][x], rows: see SGM_PAD */
  int window;      /* rows there: all of the image, or some at a time */
  SgmMaps maps;
  SgmRegions regions; /* where rows do not count (sgm_cuda_regions) */
  uint32_t *edges;    /* speckle: [tile][below, right], see sgm_edge of sgm_cuda_regions.cuh */
  uint32_t *refine;   /* refine stage: memory of sgm_cuda_refine.cu, 4 words per pixel */
  uint32_t *totals;   /* sky: sums of the gray levels of the left view's rows; NULL: not needed */

  /* Sweeps: states of the paths at the boundaries of bands, and shape of a block. */
  uint32_t *vertical_states;    /* [sweep][x][words] */
  uint32_t *diagonal_states[2]; /* [sweep][side][x][words], read and written alternately */
  int strip, halo;              /* columns of a block's own and on each side */
  int resident; /* lanes per column of sgm_cuda_diagonal; 0: that kernel cannot be used */

  SgmFinish *finish; /* sgm_cuda_rows or sgm_cuda_long_rows */
  int early;         /* 1: kernels may start before the preceding one ends */
  int early_rows;    /* 1: so may sgm_cuda_rows */
  /* [y]: how many of the blocks and walks that sgm_cuda_rows needs have finished the row, so that
   * it need not wait for the end of the sweeps; then whether its maps are complete, so that the
   * filter stage need not wait for the last rows. sgm_cuda_census starts at 0. */
  uint32_t *finished;
  int counts;          /* 1: sweeps that can are to count them */
  uint32_t needed;     /* how many there are; 0: they do not count */
  int counts_maps;     /* 1: rows say when their maps are complete */
  uint32_t *sky_edges; /* sky: [block][below, right], likewise */
  int rows_shared;     /* bytes of shared memory of one of its blocks */
  int narrow_sums;     /* 1: packed partial sums, see sgm_cuda_narrow_sums */
  /* 1: the kernel of the sweeps also walks from both ends of the rows to their middles, while it
   * waits for other things: sgm_cuda_vertical stores these paths as sgm_cuda_rows would,
   * sgm_cuda_diagonal (`walkers` warps per block) saves states of them. */
  int approached;
  uint16_t *notes; /* saved states, bytes: [y][segments + 2][words], as in RowShared; or NULL */
  int walkers;
  uint32_t *p2;  /* packed partial sums and adaptive P2: [y][x], rows: see SGM_PAD, one more than
                      * the image has: P2 between rows y - 1 and y in both halves; or NULL */
  int one_sweep; /* 1: sgm_cuda_diagonal sweeps down, then up: both do not fit the GPU at once */
};

/* Whether the sweeps leave packed 8-bit partial sums: two bytes per word, one for each of its
 * candidates, those of two words interleaved, that contain the amount by which L of both vertical
 * paths together exceeds 2 C, C the cost of the pixel, which sgm_cuda_rows adds. Each path exceeds
 * it by at most p2. */
static inline int sgm_cuda_narrow_sums(const RvSgmConfig *config) {
  const int words = config->disparities / 2;
  return config->paths == 4 && 2 * config->p2 <= 255 && words >= 32 && !(words & (words - 1));
}

/* Whether rows with so many words and 8 paths may count (SgmCuda.finished): where one fits beside a
 * block of sgm_cuda_diagonal. Others were slower, see docs/notes/sgm-cuda.md. */
static inline __host__ __device__ constexpr bool sgm_cuda_counts(int words, size_t descriptor) {
  return words == 64 && descriptor == 4;
}

/* Whether sgm_cuda_diagonal may walk along the rows: not where the walk needs more registers than
 * its lanes have, or where a state does not fit bytes. */
static inline int sgm_cuda_takes_notes(const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  return config->paths == 8 && plan->path_max < 255 &&
         (config->disparities == 32 || config->disparities == 64 || config->disparities == 128);
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

/* Picks the type of the descriptors. */
#define SGM_FOR_DESCRIPTOR(plan, Descriptor, ...)                                                  \
  do {                                                                                             \
    if ((plan)->descriptor_bytes == 8 && (plan)->limits_costs) {                                   \
      using Descriptor = SgmLimited64;                                                             \
      __VA_ARGS__;                                                                                 \
    } else if ((plan)->descriptor_bytes == 8) {                                                    \
      using Descriptor = uint64_t;                                                                 \
      __VA_ARGS__;                                                                                 \
    } else if ((plan)->limits_costs) {                                                             \
      using Descriptor = SgmLimited;                                                               \
      __VA_ARGS__;                                                                                 \
    } else {                                                                                       \
      using Descriptor = uint32_t;                                                                 \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  } while (0)

/* Whether the pending pixels of the speckle filter are left to the first kernel of the sky. */
static inline int sgm_cuda_sky_removes(const RvSgmConfig *config) {
  return config->reject_sky && config->speckle_size > 1;
}

/* Memory for regions: where rows count, in the rows of sums that are finished. */
SgmRegions sgm_cuda_regions(const SgmCuda *work, const RvSgmConfig *config);

SgmScene sgm_cuda_scene(const SgmCuda *work, const RvSgmJob *job);

/* Descriptors of one or two ranges of rows of both views. */
RvStatus sgm_cuda_census(const SgmCuda *work, const RvSgmJob *job, const SgmRows *ranges,
                         int count);

/* --- Sweeps: vertical and diagonal directions, set the sums ---------------------------------- */

/* 2 and 4 paths: no diagonals. */
RvStatus sgm_cuda_vertical(const SgmCuda *work, const RvSgmJob *job);
void sgm_cuda_vertical_open(SgmCuda *work, const RvSgmPlan *plan); /* after narrow_sums */

/* 8 paths in one launch, when all its blocks fit on the GPU at once and the window holds all rows.
 * open: after that of the bands, whose strip it replaces when the kernel can be used. */
RvStatus sgm_cuda_diagonal(const SgmCuda *work, const RvSgmJob *job);
RvStatus sgm_cuda_diagonal_open(SgmCuda *work, const RvSgmPlan *plan);

/* 8 paths otherwise: one launch per band of rows. */
RvStatus sgm_cuda_bands(const SgmCuda *work, const RvSgmJob *job);
RvStatus sgm_cuda_bands_open(SgmCuda *work, const RvSgmPlan *plan);

/* --- Finishing a row: horizontal directions and everything up to the maps -------------------- */

/* One block per row; S of a row never leaves the chip. Needs the shared memory for a row. */
SgmFinish sgm_cuda_rows;
RvStatus sgm_cuda_rows_open(const RvSgmPlan *plan);
size_t sgm_cuda_rows_shared(const RvSgmPlan *plan);    /* bytes that a block needs */
size_t sgm_cuda_rows_notes(const RvSgmConfig *config); /* u16 of the notes of a row */

/* Longer rows, in two steps: add the horizontal directions to S in memory, then find the
 * winners. */
SgmFinish sgm_cuda_long_rows;
RvStatus sgm_cuda_horizontal(const RvSgmJob *job, const SgmSlice *slice);
RvStatus sgm_cuda_winner(const RvSgmJob *job, const SgmSlice *slice);
RvStatus sgm_cuda_winner_open(const RvSgmPlan *plan);

/* --- Filter stage ---------------------------------------------------------------------------- */

RvStatus sgm_cuda_filter(const SgmCuda *work, const RvSgmJob *job);

/* Values of `in` in regions of at least `size` > 1 pixels; in: at multiples of four bytes, its
 * stride even. */
RvStatus sgm_cuda_large_regions(const SgmCuda *work, const RvSgmJob *job,
                                const SgmRaster<uint16_t> &in, const SgmRaster<uint16_t> &out,
                                int size);

/* --- Refine stage ---------------------------------------------------------------------------- */

RvStatus sgm_cuda_sky(const SgmCuda *work, const RvSgmJob *job);

RvStatus sgm_cuda_refine(const SgmCuda *work, const RvSgmJob *job);

#endif
