/* SPDX-License-Identifier: MIT */
/* rdp_cpu_column.c: Algorithm 1 of the paper on one column, with a stack of its own, for the
 * instruction set this file is compiled for (RV_RDP_KERNELS names it). */
#include "rdp/rdp_cpu_column.h"

#include <string.h>

#if defined(__AVX512F__)
#  define LANES 16
#  define IOTA                                                                                     \
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }
#elif defined(__AVX2__)
#  define LANES 8
#  define IOTA                                                                                     \
    { 0, 1, 2, 3, 4, 5, 6, 7 }
#else
#  define LANES 4
#  define IOTA                                                                                     \
    { 0, 1, 2, 3 }
#endif
#define FEW 10 /* inner rows up to which a plain loop is faster than a vector and its reduction */

typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t Words __attribute__((vector_size(4 * LANES)));
typedef uint16_t Halves __attribute__((vector_size(2 * LANES)));

static uint32_t farthest_of_few(const uint16_t *d, int first, int length, int rise, int *at) {
  uint32_t best = 0;
  int best_k = 0;
  for (int k = 1; k < length; k++) {
    const int value = d[first + k];
    uint32_t e = rv_rdp_deviation(rise, k, value - d[first], length);
    e = value ? e : 0;
    best_k = e > best ? k : best_k;
    best = e > best ? e : best;
  }
  *at = first + best_k;
  return best;
}

static inline Ints choose(Ints mask, Ints yes, Ints no) {
  return (mask & yes) | (~mask & no);
}

/* Largest deviation of the inner rows and its smallest row. Each lane keeps its own best; a lane's
 * first is its smallest, so of equal lanes the smallest row wins. */
static uint32_t farthest(const uint16_t *d, int first, int length, int rise, int *at) {
  if (length - 1 <= FEW)
    return farthest_of_few(d, first, length, rise, at);
  static const Ints iota = IOTA;
  Ints best = {0}, best_k = {0}, k = iota + 1;
  /* e = rise k - (d_i - d_f) length, the first term carried along */
  Words ahead = (Words)k * (uint32_t)rise + (uint32_t)d[first] * (uint32_t)length;
  for (int block = 1; block < length; block += LANES) {
    Halves values;
    memcpy(&values, d + first + block, sizeof values);
    const Words wide = __builtin_convertvector(values, Words);
    const Ints e = (Ints)(ahead - wide * (uint32_t)length);
    const Ints size = (e ^ (e >> 31)) - (e >> 31);
    const Ints better = (size > best) & (wide != 0) & (k < length);
    best = choose(better, size, best);
    best_k = choose(better, k, best_k);
    k += LANES;
    ahead += (uint32_t)rise * LANES;
  }
  int32_t most = 0, row = 0;
  for (int lane = 0; lane < LANES; lane++)
    most = best[lane] > most ? best[lane] : most;
  const Ints far = (Ints){0} + INT32_MAX;
  const Ints rows = choose(best == most, best_k, far);
  row = rows[0];
  for (int lane = 1; lane < LANES; lane++)
    row = rows[lane] < row ? rows[lane] : row;
  *at = first + row;
  return (uint32_t)most;
}

static int split(const uint16_t *d, int first, int last, const RvRdpLimit *limit,
                 RvRdpPending *pending, uint32_t *cuts) {
  int depth = 1, deepest = 1, waiting = 0;
  for (;;) {
    const int length = last - first;
    if (length > 1 && depth < limit->depth) {
      const int rise = d[last] - d[first];
      int at = first;
      const uint32_t e = farthest(d, first, length, rise, &at);
      if (rv_rdp_above(e, length, rise, limit)) {
        cuts[at >> 5] |= 1u << (at & 31);
        depth++;
        deepest = rv_max(deepest, depth);
        pending[waiting++] = (RvRdpPending){(uint16_t)last, (uint16_t)depth};
        last = at;
        continue;
      }
    }
    if (waiting == 0)
      return deepest;
    first = last;
    waiting--;
    last = pending[waiting].last;
    depth = pending[waiting].depth;
  }
}

#define NAME_OF(set) rv_rdp_kernels_##set
#define NAME(set) NAME_OF(set)
#define TEXT_OF(set) #set
#define TEXT(set) TEXT_OF(set)
const RvRdpKernels NAME(RV_RDP_KERNELS) = {TEXT(RV_RDP_KERNELS), split};
