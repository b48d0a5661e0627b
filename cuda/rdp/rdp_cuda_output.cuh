/* SPDX-License-Identifier: MIT */
/* rdp_cuda_output.cuh: what a thread block of the segmentation kernel writes. */
#ifndef RV_RDP_CUDA_OUTPUT_CUH
#define RV_RDP_CUDA_OUTPUT_CUH

#include "rdp/rdp_cuda_block.cuh"

/* Segments of each column, and for each word those that begin in the words above it; also which
 * words hold ends. */
static __device__ __forceinline__ void count_segments(const Block &b, const RdpArgs &a,
                                                      int columns) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int column = warp; column < columns; column += WARPS) {
    const int at = column * a.shape.word_pitch;
    unsigned sum = 0;
    for (int base = 0; base < a.shape.words; base += 32) {
      const int word = base + lane;
      const unsigned own = word < a.shape.words ? __popc(b.cut[at + word] | b.first[at + word]) : 0;
      unsigned up_to = own;
      for (int step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(ALL, up_to, step);
        up_to += lane >= step ? other : 0;
      }
      const bool ends = word < a.shape.words && (b.cut[at + word] | b.last[at + word]) != 0;
      const unsigned group = __ballot_sync(ALL, ends);
      if (lane == 0)
        b.s->ends[column][base / 32] = group;
      if (word < a.shape.words)
        b.words[at + word] = sum + up_to - own;
      sum += __shfl_sync(ALL, up_to, 31);
    }
    if (lane == 0)
      b.s->counts[column] = sum;
  }
}

/* Turns counts into places, and tells the other blocks; by one warp. */
static __device__ __forceinline__ void publish(const Block &b, const RdpArgs &a, int block,
                                               int columns, int lane) {
  const unsigned own = lane < columns ? b.s->counts[lane] : 0;
  unsigned up_to = own;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(ALL, up_to, step);
    up_to += lane >= step ? other : 0;
  }
  if (lane == 31)
    *(volatile unsigned long long *)&a.totals[block] = (unsigned long long)b.s->run << 32 | up_to;
  if (lane <= columns)
    b.s->starts[lane] = up_to - own;
}

/* Adds up the blocks to the left, by warps that have listed nothing. Each of these blocks holds an
 * earlier ticket, so it is running or done, and it publishes before it waits. */
static __device__ __forceinline__ void wait_for_others(const Block &b, const RdpArgs &a,
                                                       int block) {
  constexpr int FIRST = 32 * (COLUMNS_MAX + 1);
  unsigned sum = 0;
  for (int i = (int)threadIdx.x - FIRST; i >= 0 && i < block; i += RDP_THREADS - FIRST) {
    unsigned long long total;
    do {
      total = *(volatile const unsigned long long *)&a.totals[i];
    } while (total >> 32 != b.s->run);
    sum += (unsigned)total;
  }
  sum = rv_warp_sum(sum);
  if (threadIdx.x % 32 == 0 && sum > 0)
    atomicAdd(&b.s->before, sum);
}

/* Last row of the segment that begins at `row`, without walking over empty words. */
static __device__ __forceinline__ int find_end(const Block &b, const RdpArgs &a, int column,
                                               int row) {
  const int at = column * a.shape.word_pitch;
  int word = row >> 5;
  if (b.last[at + word] >> (row & 31) & 1)
    return row;
  uint32_t bits = (b.cut[at + word] | b.last[at + word]) & rv_rdp_after(row & 31);
  if (bits == 0) {
    int group = word >> 5;
    uint32_t words = b.s->ends[column][group] & rv_rdp_after(word & 31);
    while (words == 0)
      words = b.s->ends[column][++group];
    word = group * 32 + __ffs((int)words) - 1;
    bits = b.cut[at + word] | b.last[at + word];
  }
  return word * 32 + __ffs((int)bits) - 1;
}

/* Value of the polyline at `row`, 0 where there is none. */
static __device__ __forceinline__ int polyline(const Block &b, const RdpArgs &a, int column,
                                               int row) {
  const int at = column * a.shape.word_pitch;
  int word = row >> 5;
  uint32_t bits = (b.cut[at + word] | b.first[at + word]) & rv_rdp_up_to(row & 31);
  while (bits == 0 && word > 0) {
    word--;
    bits = b.cut[at + word] | b.first[at + word];
  }
  if (bits == 0)
    return 0;
  const int first = word * 32 + 31 - __clz((int)bits), last = find_end(b, a, column, first);
  const uint16_t *d = b.values + column * a.shape.pitch;
  return row > last ? 0 : rv_rdp_between(d[first], d[last], row - first, max(last - first, 1));
}

/* The mark of row `bit` of a word; own: rows in which a segment begins or ends. */
static __device__ __forceinline__ unsigned mark_of(uint32_t cuts, uint32_t own, int bit) {
  const unsigned mark = cuts >> bit & 1 ? RV_RDP_CUT : RV_RDP_END;
  return own >> bit & 1 ? mark : RV_RDP_NONE;
}

/* Marks of 32 rows in the mask, which load() has zeroed. */
static __device__ __forceinline__ void mark_rows(const RdpArgs &a, int x, int word, uint32_t cuts,
                                                 uint32_t marks) {
  uint8_t *mask = (uint8_t *)a.output.mask.data + x + word * 32 * a.output.mask.stride;
  for (; marks; marks &= marks - 1) {
    const int bit = __ffs((int)marks) - 1;
    mask[bit * a.output.mask.stride] = (uint8_t)mark_of(cuts, ALL, bit);
  }
}

/* Where the block has few segments: lists them in their order, and marks their ends in the mask of
 * short columns, each with a warp per column and a lane per word of rows. The warp that publishes
 * lists nothing, and as a rule the others do one of both. Returns whether they are few. */
static __device__ __forceinline__ bool list_few(const Block &b, const RdpArgs &a, int x0,
                                                int columns) {
  const int lane = threadIdx.x % 32, column = (int)threadIdx.x / 32 - 1;
  const unsigned count = lane < columns ? b.s->counts[lane] : 0;
  if (rv_warp_sum(count) > RDP_THREADS)
    return false;
  if (column >= 0 && column < columns) {
    const unsigned start = rv_warp_sum(lane < column ? count : 0);
    for (int word = lane; word < a.shape.words; word += 32) {
      const int at = column * a.shape.word_pitch + word;
      Item *to = b.s->small_items + start + b.words[at];
      for (uint32_t bits = b.cut[at] | b.first[at]; bits; bits &= bits - 1)
        *to++ = item_of(word * 32 + __ffs((int)bits) - 1, 0, column, 0);
    }
  }
  const int marked = WARPS - 1 - (int)threadIdx.x / 32;
  if (marked < columns && a.output.mask.data && !a.shape.long_columns)
    for (int word = lane; word < a.shape.words; word += 32) {
      const int at = marked * a.shape.word_pitch + word;
      const uint32_t cuts = b.cut[at];
      mark_rows(a, x0 + marked, word, cuts, cuts | b.first[at] | b.last[at]);
    }
  return true;
}

/* The mask where there are many, and that of long columns, zeros too: a warp per word of rows,
 * which takes several rows at once. VALUE as in load(). */
template <typename VALUE>
static __device__ __forceinline__ void write_mask(const Block &b, const RdpArgs &a, int x0,
                                                  int columns) {
  constexpr int EACH = sizeof(VALUE) / sizeof(uint16_t);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = divide(lane, a.across_inverse), down = divide(32, a.across_inverse);
  const int column = (lane - begin * a.across) * EACH;
  if (begin >= down || column >= columns)
    return;
  for (int word = warp; word < a.shape.words; word += WARPS) {
    const int rows = min(32, a.height - word * 32);
    uint32_t cuts[EACH], own[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      const int at = (column + k) * a.shape.word_pitch + word;
      cuts[k] = b.cut[at];
      own[k] = cuts[k] | b.first[at] | b.last[at];
    }
    uint8_t *mask =
        (uint8_t *)a.output.mask.data + x0 + column + (word * 32 + begin) * a.output.mask.stride;
    for (int bit = begin; bit < rows; bit += down, mask += down * a.output.mask.stride) {
      const unsigned mark = mark_of(cuts[0], own[0], bit);
      const unsigned right = mark_of(cuts[EACH - 1], own[EACH - 1], bit);
      if (EACH == 2 && a.mask_pairs) {
        *(uint16_t *)mask = (uint16_t)(mark | right << 8);
      } else {
        mask[0] = (uint8_t)mark;
        if (EACH == 2)
          mask[1] = (uint8_t)right;
      }
    }
  }
}

/* Reconstruction and its errors, in the order of the rows. */
static __device__ __forceinline__ void write_drawn(const Block &b, const RdpArgs &a, int x0,
                                                   int columns) {
  char *drawn = (char *)a.output.reconstruction.data;
  const int step_row = RDP_THREADS / a.shape.columns, step_column = RDP_THREADS % a.shape.columns;
  int row = threadIdx.x / a.shape.columns, column = threadIdx.x % a.shape.columns;
  while (drawn && row < a.height) {
    if (column < columns) {
      const int value = polyline(b, a, column, row);
      const int given = b.values[column * a.shape.pitch + row];
      const int error = given ? abs(value - given) : 0;
      ((uint16_t *)(drawn + row * a.output.reconstruction.stride))[x0 + column] = (uint16_t)value;
      if (error) {
        atomicAdd(&b.s->error_sum[column], (unsigned)error);
        atomicMax(&b.s->error_max[column], error);
      }
    }
    row += step_row;
    column += step_column;
    if (column >= a.shape.columns) {
      column -= a.shape.columns;
      row++;
    }
  }
}

/* Offsets and records of the columns; starts and before are final. */
static __device__ __forceinline__ void write_columns(const Block &b, const RdpArgs &a, int x0,
                                                     int columns) {
  const int k = threadIdx.x;
  if (k > columns)
    return;
  const unsigned begin = b.s->starts[k];
  if (a.output.offsets && (k < columns || x0 + columns == a.width))
    a.output.offsets[x0 + k] = b.s->before + begin;
  if (k < columns && a.output.columns) {
    RvRdpColumn *out = &a.output.columns[x0 + k];
    out->segments = b.s->starts[k + 1] - begin;
    out->points = b.s->points[k];
    out->error_sum = b.s->error_sum[k];
    out->error_max = (uint16_t)b.s->error_max[k];
    out->levels = (uint16_t)b.s->levels[k];
  }
}

/* The segment of a column from one row to another. */
static __device__ __forceinline__ void write_segment(const Block &b, const RdpArgs &a, int x0,
                                                     unsigned index, int column, int first,
                                                     int last) {
  if (index >= a.output.capacity)
    return;
  const uint16_t *d = b.values + column * a.shape.pitch;
  uint32_t *out = (uint32_t *)(a.output.segments + index);
  out[0] = (uint32_t)(x0 + column) | (uint32_t)first << 16;
  out[1] = (uint32_t)last;
  out[2] = d[first] | (uint32_t)d[last] << 16;
}

/* Those that list_few has listed, a thread each. */
static __device__ __forceinline__ void write_few(const Block &b, const RdpArgs &a, int x0,
                                                 int columns) {
  if (threadIdx.x >= b.s->starts[columns])
    return;
  const Item item = b.s->small_items[threadIdx.x];
  const int column = item >> 32 & 0xff, first = item & 0xffff;
  write_segment(b, a, x0, b.s->before + threadIdx.x, column, first, find_end(b, a, column, first));
}

/* Many: a warp takes the segments that begin in one word of all columns, one column after the
 * other, a lane per row, so that neighbors in the list are written together. */
static __device__ __forceinline__ void write_segments(const Block &b, const RdpArgs &a, int x0,
                                                      int columns) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned before = b.s->before;
  for (int word = warp; word < a.shape.words; word += WARPS) {
    /* By a lane per column: the end of the last segment, which may lie in another word. */
    const int own_at = lane * a.shape.word_pitch + word;
    const uint32_t own = lane < columns ? b.cut[own_at] | b.first[own_at] : 0;
    const int end = own ? find_end(b, a, lane, word * 32 + 31 - __clz((int)own)) : 0;
#pragma unroll 2
    for (int column = 0; column < columns; column++) {
      const int at = column * a.shape.word_pitch + word, row = word * 32 + lane;
      const uint32_t cuts = b.cut[at], begins = cuts | b.first[at], lasts = b.last[at];
      const uint32_t ends = (cuts | lasts) & rv_rdp_after(lane);
      int last = __shfl_sync(ALL, end, column);
      last = ends ? word * 32 + __ffs((int)ends) - 1 : last;
      last = lasts >> lane & 1 ? row : last;
      if (begins >> lane & 1)
        write_segment(b, a, x0,
                      before + b.s->starts[column] + b.words[at] +
                          __popc(begins & ~rv_rdp_from(lane)),
                      column, row, last);
    }
  }
}

#endif
