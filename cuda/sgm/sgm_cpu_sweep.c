/* SPDX-License-Identifier: MIT */
/* sgm_cpu_sweep.c: census, path steps and winners of the CPU engine for one instruction set.
 * Compiled as several static libraries; RV_SGM_KERNELS names the table. */
#include "sgm/sgm_cpu_sweep.h"

#include "sgm/sgm_cpu_vec.h"
#include "sgm/sgm_rules.h"

#define INLINE static inline __attribute__((always_inline))

#ifdef RV_SGM_PROBE
/* The tests compile it again to read S of every pixel. */
void RV_SGM_PROBE(const RvSgmRow *row, int x, const uint16_t *sums);
#else
#  define RV_SGM_PROBE(row, x, sums)
#endif

/* --- Census: one byte of the descriptor at a time, so that the loops over x are vectorized. --- */

INLINE void csct_byte(const uint8_t *const *rows, int width, int byte, uint8_t *restrict out) {
  const uint8_t *a[8], *b[8];
  for (int n = 0; n < 8; n++) {
    const int bit = rv_min(8 * byte + n, RV_SGM_CSCT_BITS - 1);
    const int i = bit < 28 ? bit / 7 + 1 : 0, j = bit < 28 ? bit % 7 - 3 : bit - 27;
    a[n] = rows[3 + j] + RV_SGM_RADIUS_X + i;
    b[n] = rows[3 - j] + RV_SGM_RADIUS_X - i;
  }
  const uint8_t mask = byte == 3 ? 0x7F : 0xFF;
  for (int x = 0; x < width; x++) {
    uint8_t bits = 0;
    for (int n = 0; n < 8; n++)
      bits = (uint8_t)(bits | (a[n][x] >= b[n][x]) << n);
    out[x] = bits & mask;
  }
}

INLINE void census_byte(const uint8_t *const *rows, int width, int byte, uint8_t *restrict out) {
  const uint8_t *center = rows[3] + RV_SGM_RADIUS_X, *a[8];
  for (int n = 0; n < 8; n++) {
    const int bit = rv_min(8 * byte + n, RV_SGM_CENSUS_BITS - 1);
    const int at = bit + (bit >= RV_SGM_CENSUS_BITS / 2); /* the center has no bit */
    a[n] = rows[at / 9] + at % 9;
  }
  const uint8_t mask = byte == 7 ? 0x3F : 0xFF;
  for (int x = 0; x < width; x++) {
    uint8_t bits = 0;
    for (int n = 0; n < 8; n++)
      bits = (uint8_t)(bits | (a[n][x] >= center[x]) << n);
    out[x] = bits & mask;
  }
}

/* Means of the 3x3 blocks, rounded up. */
INLINE void means(const uint8_t *const *rows, int width, uint8_t *restrict out) {
  const uint8_t *above = rows[2] + RV_SGM_RADIUS_X, *here = rows[3] + RV_SGM_RADIUS_X,
                *below = rows[4] + RV_SGM_RADIUS_X;
  for (int x = 0; x < width; x++) {
    const int sum = above[x - 1] + above[x] + above[x + 1] + here[x - 1] + here[x] + here[x + 1] +
                    below[x - 1] + below[x] + below[x + 1];
    out[x] = (uint8_t)rv_sgm_mean_up(sum);
  }
}

INLINE void mixed_byte(const uint8_t *const *rows, int width, int byte, const uint8_t *mean,
                       uint8_t *restrict out) {
  const uint8_t *a[8], *b[8];
  for (int n = 0; n < 8; n++) {
    const int bit = 8 * byte + n;
    const RvSgmOffset at = bit < 16 ? rv_sgm_mixed_pair(bit) : rv_sgm_mixed_center(bit - 16);
    a[n] = rows[3 + at.y] + RV_SGM_RADIUS_X + at.x;
    b[n] = bit < 16 ? rows[3 - at.y] + RV_SGM_RADIUS_X - at.x : mean;
  }
  for (int x = 0; x < width; x++) {
    uint8_t bits = 0;
    for (int n = 0; n < 8; n++)
      bits = (uint8_t)(bits | (a[n][x] >= b[n][x]) << n);
    out[x] = bits;
  }
}

static void census(const uint8_t *const *rows, int width, RvSgmCost cost, uint8_t *const *out) {
  if (cost == RV_SGM_MIXED) {
    means(rows, width, out[4]);
    for (int byte = 0; byte < 4; byte++)
      mixed_byte(rows, width, byte, out[4], out[byte]);
  } else if (cost == RV_SGM_CENSUS)
    for (int byte = 0; byte < 8; byte++)
      census_byte(rows, width, byte, out[byte]);
  else
    for (int byte = 0; byte < 4; byte++)
      csct_byte(rows, width, byte, out[byte]);
}

/* --- Cost and penalty ------------------------------------------------------------------------ */

INLINE V cost_bytes(const RvSgmRow *r, int x, int at) {
  V bits = v_popcount8(v_xor(v_set8(r->left[0][x]), v_load(r->right[0] + at)));
  for (int p = 1; p < 4; p++)
    bits = v_add8(bits, v_popcount8(v_xor(v_set8(r->left[p][x]), v_load(r->right[p] + at))));
  if (r->planes > 4)
    for (int p = 4; p < 8; p++)
      bits = v_add8(bits, v_popcount8(v_xor(v_set8(r->left[p][x]), v_load(r->right[p] + at))));
  return v_min8(bits, v_set8(r->cost_max));
}

/* P2 of the step to column x from column `at` of the row `before`; row NULL: the path starts. */
INLINE int penalty(const RvSgmRow *r, int x, const uint8_t *before, int at) {
  return r->p2_of && before ? r->p2_of[rv_abs(r->gray[x] - before[at])] : r->config->p2;
}

/* --- Winner ---------------------------------------------------------------------------------- */

/* Smallest S at more than `gap` steps from k. */
INLINE int second_of(const V *sums, int count, int k, int gap) {
  V rest = v_ones();
  for (int j = 0; j < count; j++)
    rest = v_min16(rest, v_mute(sums[j], v_iota16(j * (V_BYTES / 2)), v_set16(k - gap), 2 * gap));
  return v_min_of16(rest);
}

/* S in the order of k: smallest S, ties: smallest k, and everything that follows from it. */
INLINE void pick(const RvSgmRow *r, int x, const V *sums, int count) {
  enum { LANES = V_BYTES / 2 };
  const RvSgmConfig *c = r->config;
  uint16_t s[RV_SGM_DISPARITIES_MAX];
  V lowest = sums[0];
  for (int j = 0; j < count; j++) {
    v_store(s + j * LANES, sums[j]);
    lowest = v_min16(lowest, sums[j]);
  }
  const int best = v_min_of16(lowest);
  int k = -1;
  for (int j = count - 1; j >= 0; j--) {
    const uint64_t same = v_equal(sums[j], v_set16(best));
    if (same)
      k = j * LANES + __builtin_ctzll(same) / V_BIT;
  }
  /* From the right edge to the left, a later cell of the same right pixel has the smaller d, so it
   * wins ties. Nothing to do where every match lies outside the right view. */
  const int base = c->width - 1 - x + c->min_disparity;
  if (base < c->width)
    for (int j = 0; j < count; j++)
      v_keep(sums[j], v_iota16(j * LANES), r->right_sum + base + j * LANES,
             r->right_k + base + j * LANES);
  const int second = c->uniqueness ? second_of(sums, count, k, 1) : 65535;
  const int inner = c->subpixel && k > 0 && k < c->disparities - 1;
  const int offset = inner ? rv_sgm_offset(s[k - 1], best, s[k + 1], r->equiangular) : 0;
  r->winner[x] = (uint16_t)k;
  r->disparity[x] = rv_sgm_unique(best, second, c->uniqueness)
                        ? (uint16_t)rv_sgm_value(c->min_disparity, k, offset)
                        : RV_SGM_INVALID;
  if (c->confidence)
    r->confidence[x] =
        (uint8_t)rv_sgm_margin(best, second_of(sums, count, k, RV_SGM_GAP), r->margin_scale);
  RV_SGM_PROBE(r, x, s);
}

#define BITS 8
#include "sgm/sgm_cpu_sweep_cells.h"
#define BITS 16
#include "sgm/sgm_cpu_sweep_cells.h"

#ifndef RV_SGM_KERNELS
#  error "RV_SGM_KERNELS names the table and its instruction set"
#endif
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define NAME_(a) rv_sgm_kernels_##a
#define NAME(a) NAME_(a)

const RvSgmKernels NAME(RV_SGM_KERNELS) = {
    .name = TEXT(RV_SGM_KERNELS),
    .vector_bytes = V_BYTES,
    .census = census,
    .first = {first_8, first_16},
    .columns = {columns_8, columns_16},
};
