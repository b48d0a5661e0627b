/* rdp_cuda_block.cuh: the state of one thread block of the segmentation kernel, and the search for
 * cuts in it. */
#ifndef RV_RDP_CUDA_BLOCK_CUH
#define RV_RDP_CUDA_BLOCK_CUH

#include "rdp_cuda.h"

constexpr int THREADS = 1024;
constexpr int WARPS = THREADS / 32;
constexpr int COLUMNS_MAX = 16;
constexpr unsigned ALL = 0xffffffffu;

/* Segments of more than shape.small_rows rows are searched by a warp each; those up to it wait, and
 * are cut to the end by a thread each. */
constexpr int SMALL_ROWS_MAX = 32;

/* Groups of 32 words in a column. */
constexpr int GROUPS_MAX = RV_MAX_SIDE / 1024;

/* Pieces of at least three rows that can begin in one word. */
constexpr int PIECES_PER_WORD = 8;

struct Shared {
  int open[2]; /* segments in each list of long ones */
  int small;
  unsigned block;                   /* of the picture */
  unsigned run;                     /* its number, from 1, modulo 2^32 */
  unsigned before;                  /* segments of all blocks before this one */
  unsigned counts[COLUMNS_MAX + 1]; /* segments; then those of the block's columns to the left */
  unsigned points[COLUMNS_MAX];
  unsigned error_sum[COLUMNS_MAX];
  int error_max[COLUMNS_MAX];
  int levels[COLUMNS_MAX];
  uint32_t ends[COLUMNS_MAX][GROUPS_MAX]; /* a bit for each word in which segments end */
};

/* A segment that may be cut: x = first | last << 16, y = column | depth << 8. */
typedef uint2 Item;

/* The block's view of its shared memory. */
struct Block {
  Shared *s;
  Item *open; /* two lists of open_room */
  Item *small;
  uint32_t *cut, *first, *last; /* a bit for each row: [column][word_pitch] */
  uint32_t *words;              /* valid rows; later segments above each word */
  uint16_t *values;             /* [column][pitch] */
};

static __device__ __forceinline__ Block block_of(Shared *s, void *pool, const RdpShape &shape) {
  Block b;
  b.s = s;
  b.open = (Item *)pool;
  b.small = b.open + 2 * shape.open_room;
  b.cut = (uint32_t *)(b.small + shape.small_room);
  const int bits = shape.columns * shape.word_pitch;
  b.first = b.cut + bits;
  b.last = b.first + bits;
  b.words = b.last + bits;
  b.values = (uint16_t *)(b.words + bits);
  return b;
}

static __device__ __forceinline__ unsigned warp_max(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(ALL, v);
#else
  for (int step = 16; step; step /= 2)
    v = max(v, __shfl_xor_sync(ALL, v, step));
  return v;
#endif
}

static __device__ __forceinline__ unsigned warp_min(unsigned v) {
  return ~warp_max(~v);
}

static __device__ __forceinline__ unsigned warp_sum(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, v);
#else
  for (int step = 16; step; step /= 2)
    v += __shfl_xor_sync(ALL, v, step);
  return v;
#endif
}

/* Puts first..last where it will be looked at; not when it can never be cut. Room: long segments of
 * a column share no row but their ends, so there are at most (height - 1) / (small_rows + 1). */
static __device__ __forceinline__ void push(const Block &b, const RdpArgs &a, int list, int first,
                                            int last, int column, int depth) {
  const int length = last - first;
  if (length < 2 || depth >= a.limit.depth)
    return;
  const Item item = make_uint2(first | (unsigned)last << 16, column | (unsigned)depth << 8);
  if (length > a.shape.small_rows)
    b.open[list * a.shape.open_room + atomicAdd(&b.s->open[list], 1)] = item;
  else
    b.small[atomicAdd(&b.s->small, 1)] = item;
}

static __device__ __forceinline__ void mark_cut(const Block &b, const RdpArgs &a, int column,
                                                int row) {
  atomicOr(&b.cut[column * a.shape.word_pitch + (row >> 5)], 1u << (row & 31));
}

/* One long segment, by a warp. */
static __device__ __forceinline__ void split_long(const Block &b, const RdpArgs &a, Item item,
                                                  int next, int lane) {
  const int first = item.x & 0xffff, last = item.x >> 16;
  const int column = item.y & 0xff, depth = item.y >> 8;
  const uint16_t *d = b.values + column * a.shape.pitch + first;
  const int length = last - first, from = d[0], rise = d[length] - from;
  unsigned best = 0;
  int best_k = 0;
#pragma unroll 4
  for (int k = 1 + lane; k < length; k += 32) {
    const int value = d[k];
    const unsigned e = rv_rdp_deviation(rise, k, value - from, length);
    if (value != 0 && e > best) {
      best = e;
      best_k = k;
    }
  }
  const unsigned most = warp_max(best);
  if (!rv_rdp_above(most, length, rise, &a.limit))
    return;
  const int at = first + (int)warp_min(best == most ? (unsigned)best_k : ALL);
  if (lane == 0) {
    mark_cut(b, a, column, at);
    atomicMax(&b.s->levels[column], depth + 1);
  }
  if (lane < 2)
    push(b, a, next, lane ? at : first, lane ? last : at, column, depth + 1);
}

/* One short segment and everything it is cut into, by a thread. What waits is at most 32 rows
 * and levels away from the segment, so that an entry fits 16 bits. */
static __device__ __forceinline__ void split_short(const Block &b, const RdpArgs &a, Item item) {
  const int begin = item.x & 0xffff, column = item.y & 0xff, top = item.y >> 8;
  const uint16_t *d = b.values + column * a.shape.pitch + begin;
  uint16_t pending[SMALL_ROWS_MAX];
  int waiting = 0, first = 0, last = (int)(item.x >> 16) - begin, depth = top, deepest = top;
  for (;;) {
    const int length = last - first, from = d[first], rise = d[last] - from;
    unsigned best = 0;
    int at = first;
    if (depth < a.limit.depth) {
#pragma unroll 4
      for (int k = 1; k < length; k++) {
        const int value = d[first + k];
        const unsigned e = rv_rdp_deviation(rise, k, value - from, length);
        if (value != 0 && e > best) {
          best = e;
          at = first + k;
        }
      }
    }
    if (best > 0 && rv_rdp_above(best, length, rise, &a.limit)) {
      mark_cut(b, a, column, begin + at);
      depth++;
      deepest = max(deepest, depth);
      pending[waiting++] = (uint16_t)(last | (depth - top) << 8);
      last = at;
    } else {
      if (waiting == 0)
        break;
      const int next = pending[--waiting];
      first = last;
      last = next & 0xff;
      depth = top + (next >> 8);
    }
  }
  if (deepest > top)
    atomicMax(&b.s->levels[column], deepest);
}

/* Cuts the `count` short segments that wait, by the whole block; nothing waits afterwards. */
static __device__ __forceinline__ void split_small(const Block &b, const RdpArgs &a, int count) {
  for (int i = threadIdx.x; i < count; i += THREADS)
    split_short(b, a, b.small[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    b.s->small = 0;
  __syncthreads();
}

/* Cuts everything in the lists. Each round looks at all long segments of one level of the
 * recursion. */
static __device__ __forceinline__ void split_all(const Block &b, const RdpArgs &a) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int list = 0;; list ^= 1) {
    __syncthreads(); /* everything pushed is seen */
    const int open = b.s->open[list], small = b.s->small;
    if (threadIdx.x == 0)
      b.s->open[list ^ 1] = 0; /* the former round is done with it */
    __syncthreads();           /* everybody has read: the same way for all */
    if (open == 0 || small + 2 * open > a.shape.small_room)
      split_small(b, a, small);
    if (open == 0)
      return;
    for (int i = warp; i < open; i += WARPS)
      split_long(b, a, b.open[list * a.shape.open_room + i], list ^ 1, lane);
  }
}

/* Last row of the segment that begins at `row`. */
static __device__ __forceinline__ int segment_end(const Block &b, const RdpArgs &a, int column,
                                                  int row) {
  const uint32_t *cut = b.cut + column * a.shape.word_pitch;
  const uint32_t *last = b.last + column * a.shape.word_pitch;
  int word = row >> 5;
  if (last[word] >> (row & 31) & 1)
    return row;
  uint32_t bits = (cut[word] | last[word]) & rv_rdp_after(row & 31);
  while (bits == 0) {
    word++;
    bits = cut[word] | last[word];
  }
  return word * 32 + __ffs((int)bits) - 1;
}

#endif
