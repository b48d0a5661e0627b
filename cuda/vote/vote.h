/* SPDX-License-Identifier: MIT */
/* vote.h: voting algorithms over a raster: histograms, sums, subsampling. The Hough transform
 * (hough/hough.h) uses the same layer; docs/studies/vote.md adds further algorithms to it.
 *
 * Source: van den Braak, Nugteren, Mesman, Corporaal, "GPU-vote: A Framework for Accelerating
 * Voting Algorithms on GPU". An element of the input (a pixel) that passes the element test adds a
 * value to a bin. Votes are one (unity) or a number; the bin follows from the element's value or
 * position. All votes are integers, so their order does not change the result, and both engines
 * give the same bits. */
#ifndef RV_VOTE_H
#define RV_VOTE_H

#include "rv.h"
#include "rv_params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvVoteKind {
  /* By value, unity. Input RV_U8 or RV_U16, range R = 256 or 65536; bin = value * bins / R rounded
   * down. */
  RV_VOTE_HISTOGRAM = 0,
  /* By value, unity, three votes per element. Input RV_U32: R in bits 0..7, G in 8..15, B in
   * 16..23; bins 0..255 are R's, 256..511 G's, 512..767 B's. */
  RV_VOTE_COLOR,
  /* By value, unity. Input as above; 30 x 30 bins of normalized red and green: with s = R + G + B
   * bin = 30 * min(30 R / s, 29) + min(30 G / s, 29), rounded down. Black does not vote. */
  RV_VOTE_CHROMA,
  /* By value, number: one bin of 64 bits, given as two (low, high). Input RV_U8, RV_U16, RV_U32, or
   * RV_F32 in fixed point: each value times 65536, rounded to the nearest (ties to even), values
   * beyond +-2^31 clamped; NaN does not vote. */
  RV_VOTE_SUM,
  /* By position, number. Input RV_U8; bin (x / factor, y / factor) gets the pixel: sums for a
   * reduced image; those of the last column and row may contain fewer pixels. */
  RV_VOTE_SUBSAMPLE,
  RV_VOTE_KINDS /* their number */
} RvVoteKind;

#define RV_VOTE_CHROMA_SIDE 30
#define RV_VOTE_FIXED_ONE 65536 /* of RV_F32 sums */

/* Fields: unit, range; default. rv_vote_params () states the same as a table. */
typedef struct RvVoteConfig {
  RvVoteKind kind;   /* RV_VOTE_HISTOGRAM */
  int width, height; /* px, 1..16384; no default */
  RvFormat format;   /* of the input; RV_U8 */
  int bins;          /* of a histogram, 1..65536; 256 */
  int factor;        /* of subsampling, px, 2..64; 4 */
  int stretch;       /* CUDA engine: copies of each bin in shared memory (bin stretching, eq. 3-6),
                      * 0..64; 0 = as the kind needs; others as far as they fit */
  int threads;       /* CPU engine, 0 = all; 0 */
  RvLog log;         /* silent */
} RvVoteConfig;

/* rv_vote_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h.
 * _workspace of RV_CUDA is 0. */
RV_ALGORITHM_API(RvVote, vote);

/* Size of the result: bins per row and rows; 0 x 0 for an invalid config. */
RV_API void rv_vote_size(const RvVoteConfig *config, int *columns, int *rows);
/* votes: RV_U32 of rv_vote_size, written completely. */
RV_API RvStatus rv_vote_run(RvVote *vote, const RvPlane *input, const RvPlane *votes,
                            RvStream stream);

#ifdef __cplusplus
}
#endif
#endif
