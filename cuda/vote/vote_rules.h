/* SPDX-License-Identifier: MIT */
/* vote_rules.h: what one element votes for, compiled into both engines. Internal.
 *
 * A voting algorithm is three functions of an element e at (x, y), k = 0 .. its votes - 1:
 *   test    0: this element does not vote; rv_vote_all where all do
 *   bin     the bin of its k-th vote, 0 .. bins of a vote space - 1
 *   value   what it adds; rv_vote_one where every vote is one
 * and one line of RV_VOTE_ALGORITHMS. docs/studies/vote.md goes through it. */
#ifndef RV_VOTE_RULES_H
#define RV_VOTE_RULES_H

#include "rv_hd.h"
#include "vote/vote.h"

/* How an input is voted on. The raster is cut into vote spaces of `space_rows` rows each, which
 * have `bins` bins of their own. */
typedef struct RvVoteGeometry {
  int width, height; /* px */
  int space_rows;    /* px; the height: one space */
  int spaces;
  int bins;            /* of a space */
  int range_log;       /* histogram: log2 of the number of values */
  uint32_t per_factor; /* subsampling: 2^32 / px of a bin, rounded up */
} RvVoteGeometry;

/* Every element votes. */
RV_HD int rv_vote_all(const RvVoteGeometry *p, int x, int y, uint32_t e) {
  return 1;
}
/* Every vote is one. */
RV_HD uint32_t rv_vote_one(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return 1;
}

/* 256-bin histogram and its like. */
RV_HD int rv_vote_histogram_bin(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return (int)((e * (uint32_t)p->bins) >> p->range_log); /* 65535 * 65536 fits */
}

/* Three histograms of 256 bins from one reading of the image. */
RV_HD int rv_vote_color_bin(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return 256 * k + (int)((e >> (8 * k)) & 255);
}

/* 30 x 30 histogram of normalized red and green. */
RV_HD int rv_vote_chroma_test(const RvVoteGeometry *p, int x, int y, uint32_t e) {
  return (e & 0xffffff) != 0;
}
RV_HD int rv_vote_chroma_bin(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  const uint32_t r = e & 255, g = (e >> 8) & 255, s = r + g + ((e >> 16) & 255);
  const uint32_t side = RV_VOTE_CHROMA_SIDE;
  return (int)side * rv_min((int)(side * r / s), (int)side - 1) +
         rv_min((int)(side * g / s), (int)side - 1);
}

/* Sum of integers. */
RV_HD int rv_vote_sum_bin(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return 0;
}
RV_HD uint64_t rv_vote_sum_value(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return e;
}

/* Sum of floats, in fixed point: the order of summing does not show. */
RV_HD int rv_vote_sumf_test(const RvVoteGeometry *p, int x, int y, float e) {
  return e == e;
}
RV_HD int rv_vote_sumf_bin(const RvVoteGeometry *p, int k, int x, int y, float e) {
  return 0;
}
RV_HD uint64_t rv_vote_sumf_value(const RvVoteGeometry *p, int k, int x, int y, float e) {
  const double most = 2147483648.0;
  const double v = (e < -most ? -most : (e > most ? most : (double)e)) * RV_VOTE_FIXED_ONE;
  /* |v| <= 2^47: the sum with 1.5 * 2^52 rounds to an integer, ties to even, exactly. */
  const double magic = 6755399441055744.0;
  return (uint64_t)(int64_t)((v + magic) - magic);
}

/* Subsampling: a vote space is one row of bins. x / factor by multiplication is exact,
 * since x * factor stays below 2^32. */
RV_HD int rv_vote_subsample_bin(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return (int)((uint64_t)(uint32_t)x * p->per_factor >> 32);
}
RV_HD uint32_t rv_vote_subsample_value(const RvVoteGeometry *p, int k, int x, int y, uint32_t e) {
  return e;
}

/* RV_VOTE(name, its test, bin and value, type of an element in memory, type of a bin, votes of an
 * element, 1 when every vote is one) */
#define RV_VOTE_ALGORITHMS                                                                         \
  RV_VOTE(histogram8, rv_vote_all, rv_vote_histogram_bin, rv_vote_one, uint8_t, uint32_t, 1, 1)    \
  RV_VOTE(histogram16, rv_vote_all, rv_vote_histogram_bin, rv_vote_one, uint16_t, uint32_t, 1, 1)  \
  RV_VOTE(color, rv_vote_all, rv_vote_color_bin, rv_vote_one, uint32_t, uint32_t, 3, 1)            \
  RV_VOTE(chroma, rv_vote_chroma_test, rv_vote_chroma_bin, rv_vote_one, uint32_t, uint32_t, 1, 1)  \
  RV_VOTE(sum8, rv_vote_all, rv_vote_sum_bin, rv_vote_sum_value, uint8_t, uint64_t, 1, 0)          \
  RV_VOTE(sum16, rv_vote_all, rv_vote_sum_bin, rv_vote_sum_value, uint16_t, uint64_t, 1, 0)        \
  RV_VOTE(sum32, rv_vote_all, rv_vote_sum_bin, rv_vote_sum_value, uint32_t, uint64_t, 1, 0)        \
  RV_VOTE(sumf, rv_vote_sumf_test, rv_vote_sumf_bin, rv_vote_sumf_value, float, uint64_t, 1, 0)    \
  RV_VOTE(subsample, rv_vote_all, rv_vote_subsample_bin, rv_vote_subsample_value, uint8_t,         \
          uint32_t, 1, 0)

typedef enum RvVoteInstance {
#define RV_VOTE(name, test, bin, value, element, sum, votes, unity) RV_VOTE_INSTANCE_##name,
  RV_VOTE_ALGORITHMS
#undef RV_VOTE
      RV_VOTE_INSTANCES
} RvVoteInstance;

#endif
