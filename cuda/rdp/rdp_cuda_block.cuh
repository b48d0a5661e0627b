/* SPDX-License-Identifier: MIT */
/* rdp_cuda_block.cuh: the state of one thread block of the segmentation kernel, and the search for
 * cuts in it. */
#ifndef RV_RDP_CUDA_BLOCK_CUH
#define RV_RDP_CUDA_BLOCK_CUH

#include "rdp/rdp_cuda.cuh"
#include "rv_group.cuh"

constexpr int WARPS = RDP_THREADS / 32;
constexpr int COLUMNS_MAX = 16;
constexpr unsigned ALL = 0xffffffffu;
#ifndef RDP_BACKOFF_NS
#  define RDP_BACKOFF_NS 60
#endif

/* Segments of more than shape.small_rows rows are searched by one warp each. A warp gathers the
 * shorter ones and splits them to the end in step, each lane one segment at a time. */
constexpr int SMALL_ROWS = 8, SMALL_ROWS_MAX = 15; /* as a rule, and where memory is short */
/* Warps that split the short segments left at the end: few of them, so that these rarely wait for
 * each other, but not so few that the lanes of one do. */
constexpr int SHORT_WARPS = 16;
/* Where there are few, each has as many lanes as it may have inner rows: its levels are waited for
 * then, not the work of its lanes. With more of them that is slower. */
constexpr int FEW_LANES = 8, FEW_SHORT = 256;
/* Columns of more rows than that have work for all warps: segments of up to 12 rows are gathered,
 * and no time while loading is left to write the mask in. */
constexpr int LONG_COLUMN = 3072, LONG_COLUMN_SMALL_ROWS = 12;

/* Groups of 32 words in a column. */
constexpr int GROUPS_MAX = RV_MAX_SIDE / 1024;

/* A segment that may be cut: first | last << 16 | column << 32 | depth << 40; never 0. */
typedef unsigned long long Item;

static __device__ __forceinline__ Item item_of(int first, int last, int column, int depth) {
  return (unsigned)first | (unsigned)last << 16 |
         (Item)((unsigned)column | (unsigned)depth << 8) << 32;
}

namespace {
struct Farthest {
  unsigned e;
  int k; /* rows below the segment's first */
};

struct Shared {
  int claimed, pushed;              /* places in the queue that are taken, and filled */
  int pending;                      /* long segments not cut to the end yet */
  int small;                        /* short ones that wait */
  unsigned run;                     /* its number, from 1, modulo 2^32 */
  unsigned block;                   /* its place from the left */
  unsigned before;                  /* segments of all blocks before this one */
  unsigned counts[COLUMNS_MAX];     /* segments */
  unsigned starts[COLUMNS_MAX + 1]; /* those of the block's columns to the left */
  unsigned points[COLUMNS_MAX];
  unsigned error_sum[COLUMNS_MAX];
  int error_max[COLUMNS_MAX];
  int levels[COLUMNS_MAX];
  Farthest best[WARPS]; /* of the part of a column that a warp has searched first */
  /* In the end few segments in their order, by first row and column. */
  Item small_items[RDP_THREADS];
  uint32_t ends[COLUMNS_MAX][GROUPS_MAX]; /* a bit for each word in which segments end */
};

/* The block's view of its shared memory. */
struct Block {
  Shared *s;
  Item *queue;                  /* long segments, 0: not filled yet */
  uint32_t *cut, *first, *last; /* a bit for each row: [column][word_pitch] */
  uint32_t *words;              /* valid rows; later segments above each word */
  uint16_t *values;             /* [column][pitch] */
};
} // namespace

static __device__ __forceinline__ Block block_of(Shared *s, void *pool, const RdpShape &shape) {
  Block b;
  b.s = s;
  b.queue = (Item *)pool;
  b.cut = (uint32_t *)(b.queue + shape.room);
  const int bits = shape.columns * shape.word_pitch;
  b.first = b.cut + bits;
  b.last = b.first + bits;
  b.words = b.last + bits;
  b.values = (uint16_t *)(b.words + bits);
  return b;
}

/* t / divisor for t < RDP_THREADS and divisors up to COLUMNS_MAX or WARPS; inverse: that of
 * rdp_inverse (). */
static __device__ __forceinline__ int divide(int t, int inverse) {
  return t * inverse >> 16;
}

static __device__ __forceinline__ void mark_cut(const Block &b, const RdpArgs &a, int column,
                                                int row) {
  atomicOr(&b.cut[column * a.shape.word_pitch + (row >> 5)], 1u << (row & 31));
}

/* --- Short segments -------------------------------------------------------------------------- */

/* The row farthest from the short segment of `length` rows at d: its deviation times 16, plus 15
 * less its rows below the first, so that the topmost of equal ones is the largest. No deviation is
 * above 65535 * SMALL_ROWS_MAX. */
static __device__ __forceinline__ unsigned search_short(const uint16_t *d, int length, int rise) {
  constexpr int FLIGHT = 4; /* rows loaded at once */
  const int from = d[0];
  unsigned best = 0;
#pragma unroll 1
  for (int begin = 1; begin < length; begin += FLIGHT) {
#pragma unroll
    for (int j = 0; j < FLIGHT; j++) {
      const int k = begin + j, value = k < length ? d[k] : 0;
      const unsigned e = rv_rdp_deviation(rise * 16, k, value - from, length * 16);
      if (value != 0)
        best = max(e + (unsigned)(15 - k), best);
    }
  }
  return best;
}

/* The cuts of a short segment, counted from its first row, and the depth of its deepest parts. */
static __device__ __forceinline__ void mark_short(const Block &b, const RdpArgs &a, int column,
                                                  int begin, uint32_t cuts, int deepest) {
  const int bit = begin & 31;
  uint32_t *cut = b.cut + column * a.shape.word_pitch + (begin >> 5);
  atomicOr(cut, cuts << bit);
  if (cuts >> (31 - bit) > 1)
    atomicOr(cut + 1, cuts >> (31 - bit) >> 1);
  atomicMax(&b.s->levels[column], deepest);
}

/* A short segment of each lane, or 0, and everything they are cut into, by a warp in step: each
 * lane takes one segment at a time. Rows count from the item's first; what a lane still has to look
 * at lies between neighboring bits of `ends` from the first of `open` on, and its depth below the
 * item's is kept in four bits of its last row. */
static __device__ __forceinline__ void split_short(const Block &b, const RdpArgs &a, Item item) {
  const int begin = item & 0xffff, rows = (int)(item >> 16 & 0xffff) - begin;
  const int column = item >> 32 & 0xff, top = (int)(item >> 40);
  const uint16_t *values = b.values + column * a.shape.pitch + begin;
  uint32_t ends = 1u | 1u << rows, open = (1u << rows) - 1;
  unsigned long long depths = 0;
  int deepest = top;
  for (;;) {
    const uint32_t begins = ends & ~(ends >> 1) & open; /* of segments with inner rows */
    if (!__any_sync(ALL, begins != 0))
      break;
    if (begins != 0) {
      const int first = __ffs((int)begins) - 1;
      const int last = __ffs((int)(ends & rv_rdp_after(first))) - 1;
      const int length = last - first, rise = values[last] - values[first];
      const int depth = (int)(depths >> 4 * last & 15);
      const unsigned farthest = search_short(values + first, length, rise);
      if (top + depth < a.limit.depth && rv_rdp_above(farthest >> 4, length, rise, &a.limit)) {
        const int at = first + 15 - (int)(farthest & 15);
        ends |= 1u << at;
        depths += (unsigned long long)(depth + 1) << 4 * at | 1ull << 4 * last;
        deepest = max(deepest, top + depth + 1);
      } else {
        open &= rv_rdp_from(last);
      }
    }
    __syncwarp();
  }
  if (deepest > top)
    mark_short(b, a, column, begin, ends & ((1u << rows) - 2), deepest);
}

namespace {
/* The short segments that a warp has come across, one in each of its first lanes. */
struct ShortSegments {
  Item item;
  int count;
};
} // namespace

static __device__ __forceinline__ void keep_short(const Block &b, const RdpArgs &a,
                                                  ShortSegments *shorts, Item item, int lane) {
  if (lane == shorts->count)
    shorts->item = item;
  if (++shorts->count == 32) { /* no lane idles */
    split_short(b, a, shorts->item);
    shorts->count = 0;
  }
}

/* Short segments, one for each FEW_LANES lanes of a warp, or 0, and everything they are cut into:
 * all rows of all parts at once, level by level, so that a warp has as many steps as levels, not as
 * parts. Lane i has row i + 1 of the item. */
static __device__ __forceinline__ void split_few_short(const Block &b, const RdpArgs &a,
                                                       Item item) {
  const int row = (int)threadIdx.x % FEW_LANES + 1, from_lane = (int)threadIdx.x % 32 - row + 1;
  const int begin = item & 0xffff, rows = (int)(item >> 16 & 0xffff) - begin;
  const int column = item >> 32 & 0xff, top = (int)(item >> 40);
  const uint16_t *values = b.values + column * a.shape.pitch + begin;
  const int value = row < rows ? values[row] : 0;
  uint32_t ends = 1u | 1u << rows;
  int deepest = top;
  for (int depth = top;; depth++) {
    const bool is_inner = value != 0 && !(ends >> row & 1);
    const int first = 31 - __clz((int)(ends & rv_rdp_up_to(row - 1)));
    const int last = is_inner ? __ffs((int)(ends & rv_rdp_after(row))) - 1 : rows;
    const int length = last - first, rise = values[last] - values[first];
    const unsigned e = rv_rdp_deviation(rise, row - first, value - values[first], length);
    const unsigned own = is_inner ? e << 4 | (unsigned)(15 - row) : 0; /* as in search_short */
    unsigned most = own; /* of the rows of the part up to this one, then of all */
#pragma unroll
    for (int step = 1; step < FEW_LANES; step *= 2) {
      const unsigned other = __shfl_up_sync(ALL, most, step, FEW_LANES);
      most = row - step > first ? max(most, other) : most;
    }
    most = __shfl_sync(ALL, most, last - 2, FEW_LANES);
    const bool cuts =
        own != 0 && own == most && depth < a.limit.depth && rv_rdp_above(e, length, rise, &a.limit);
    const unsigned all = __ballot_sync(ALL, cuts);
    if (all == 0)
      break;
    const uint32_t found = all >> from_lane & ((1u << FEW_LANES) - 1);
    ends |= found << 1;
    deepest = found ? depth + 1 : deepest;
  }
  if (row == 1 && deepest > top)
    mark_short(b, a, column, begin, ends & ((1u << rows) - 2), deepest);
}

/* Those left in all warps, spread over the block. */
static __device__ __forceinline__ void split_shorts(const Block &b, const RdpArgs &a,
                                                    const ShortSegments &shorts) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int at = 0;
  if (lane == 0 && shorts.count > 0)
    at = atomicAdd(&b.s->small, shorts.count);
  at = __shfl_sync(ALL, at, 0);
  if (lane < shorts.count)
    b.s->small_items[at + lane] = shorts.item;
  __syncthreads();
  const int count = b.s->small;
  if (count <= FEW_SHORT && a.shape.small_rows <= FEW_LANES) {
    for (int first = warp * (32 / FEW_LANES); first < count; first += RDP_THREADS / FEW_LANES) {
      const int own = first + lane / FEW_LANES;
      split_few_short(b, a, own < count ? b.s->small_items[own] : 0);
    }
    return;
  }
  for (int first = warp; warp < SHORT_WARPS && first < count; first += 32 * SHORT_WARPS) {
    const int own = first + lane * SHORT_WARPS;
    split_short(b, a, own < count ? b.s->small_items[own] : 0);
  }
}

/* --- Long segments --------------------------------------------------------------------------- */

/* The row farthest from the segment of `length` rows that begins at d, among the lanes' rows from
 * `start` on, `step` rows from one to the next; and with COUNT how many of them are valid. */
template <bool COUNT>
static __device__ __forceinline__ Farthest search(const uint16_t *d, int length, int rise,
                                                  int start, int step, int lane,
                                                  unsigned *valid = nullptr) {
  /* Minus the chord's height times the length; the terms wrap, see rv_rdp_deviation. */
  uint32_t at = 0u - (uint32_t)rise * (uint32_t)(start + lane) - (uint32_t)d[0] * (uint32_t)length;
  unsigned best = 0, count = 0;
  int best_k = 0;
#pragma unroll 4
  for (int k = start + lane; k < length; k += step) {
    const int value = d[k];
    const unsigned e = (unsigned)abs((int)((uint32_t)value * (uint32_t)length + at));
    const bool is_farther = value != 0 && e > best;
    best = is_farther ? e : best;
    best_k = is_farther ? k : best_k;
    at -= (uint32_t)(rise * step);
    count += COUNT && value != 0;
  }
  if (COUNT)
    *valid = rv_warp_sum(count);
  const unsigned most = rv_warp_max(best);
  return {most, (int)rv_warp_min(best == most ? (unsigned)best_k : ALL)};
}

/* Hands a long segment on to any warp; by one lane. Places are never used twice: long segments of
 * a column share no row but their ends, so there are at most (height - 1) / (small_rows + 1), and
 * each push adds one. */
static __device__ __forceinline__ void push(const Block &b, Item item) {
  atomicAdd(&b.s->pending, 1);
  /* 1: no depth reaches the top bit. Where the compiler knows what is added, it first counts the
   * lanes that add, which the warp waits for. */
  const int one = 1 + (int)(item >> 63);
  atomicExch(&b.queue[atomicAdd(&b.s->pushed, one)], item);
}

/* Splits the searched long segment first..last, continues with the longer part while that is long,
 * and hands the other on. */
static __device__ __forceinline__ void follow(const Block &b, const RdpArgs &a, int first, int last,
                                              int column, int depth, Farthest farthest,
                                              ShortSegments *shorts, int lane) {
  const int top = depth;
  const uint16_t *column_values = b.values + column * a.shape.pitch;
  int rise = column_values[last] - column_values[first];
  while (depth < a.limit.depth && rv_rdp_above(farthest.e, last - first, rise, &a.limit)) {
    const int at = first + farthest.k, small = a.shape.small_rows;
    depth++;
    const bool upper = at - first > last - at; /* it is the longer one */
    const int other_first = upper ? at : first, other_last = upper ? last : at;
    const int other = other_last - other_first;
    if (lane == 0) {
      mark_cut(b, a, column, at);
      if (other > small)
        push(b, item_of(other_first, other_last, column, depth));
    }
    if (other >= 2 && other <= small)
      keep_short(b, a, shorts, item_of(other_first, other_last, column, depth), lane);
    first = upper ? first : at;
    last = upper ? at : last;
    const int length = last - first;
    if (length <= small) {
      if (length >= 2)
        keep_short(b, a, shorts, item_of(first, last, column, depth), lane);
      break;
    }
    const uint16_t *d = column_values + first;
    rise = d[length] - d[0];
    farthest = search<false>(d, length, rise, 1, 32, lane);
  }
  if (lane == 0) {
    if (depth > top)
      atomicMax(&b.s->levels[column], depth);
    __threadfence_block(); /* what was pushed is counted before this one ends */
    atomicSub(&b.s->pending, 1);
  }
}

/* Waits for a segment that another warp hands on; 0 when none will come. */
static __device__ __forceinline__ Item claim(const Block &b, int lane) {
  Item item = 0;
  if (lane == 0) {
    Item *place = &b.queue[atomicAdd(&b.s->claimed, 1)];
    for (;;) {
      item = atomicExch(place, (Item)0);
      if (item != 0 || atomicOr(&b.s->pending, 0) == 0)
        break;
      __nanosleep(RDP_BACKOFF_NS);
    }
  }
  return __shfl_sync(ALL, item, 0);
}

/* Cuts what is handed on until nothing is left. */
static __device__ __forceinline__ void split_long(const Block &b, const RdpArgs &a,
                                                  ShortSegments *shorts, int lane) {
  for (Item item; (item = claim(b, lane)) != 0;) {
    const int first = item & 0xffff, last = item >> 16 & 0xffff;
    const int column = item >> 32 & 0xff, depth = (int)(item >> 40);
    const uint16_t *d = b.values + column * a.shape.pitch + first;
    const int length = last - first;
    const Farthest farthest = search<false>(d, length, d[length] - d[0], 1, 32, lane);
    follow(b, a, first, last, column, depth, farthest, shorts, lane);
  }
}

/* Last row of the run of valid rows that begins at `row`. */
static __device__ __forceinline__ int run_end(const Block &b, const RdpArgs &a, int column,
                                              int row) {
  const uint32_t *last = b.last + column * a.shape.word_pitch;
  int word = row >> 5;
  uint32_t bits = last[word] & rv_rdp_from(row & 31);
  while (bits == 0)
    bits = last[++word];
  return word * 32 + __ffs((int)bits) - 1;
}

#endif
