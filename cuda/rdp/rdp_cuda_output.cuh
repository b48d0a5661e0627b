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

/* The mark of row `bit` of a word in which a segment begins or ends. */
static __device__ __forceinline__ uint8_t mark_of(uint32_t cuts, int bit) {
  return cuts >> bit & 1 ? RV_RDP_CUT : RV_RDP_END;
}

/* Marks of 32 rows in the mask, which load() has zeroed. */
static __device__ __forceinline__ void mark_rows(const RdpArgs &a, int x, int word, uint32_t cuts,
                                                 uint32_t marks) {
  uint8_t *mask = (uint8_t *)a.output.mask.data + x + word * 32 * a.output.mask.stride;
  for (; marks; marks &= marks - 1) {
    const int bit = __ffs((int)marks) - 1;
    mask[bit * a.output.mask.stride] = mark_of(cuts, bit);
  }
}

/* Where the block has few segments: lists them in their order, and marks their ends in the mask of
 * short columns. A warp per column after the one that publishes, a lane per word of rows. Returns
 * whether they are few. */
static __device__ __forceinline__ bool list_few(const Block &b, const RdpArgs &a, int x0,
                                                int columns) {
  const int lane = threadIdx.x % 32, column = (int)threadIdx.x / 32 - 1;
  const unsigned count = lane < columns ? b.s->counts[lane] : 0;
  if (rv_warp_sum(count) > RDP_THREADS)
    return false;
  const unsigned start = rv_warp_sum(lane < column ? count : 0);
  const bool marks = a.output.mask.data && !a.shape.long_columns;
  for (int word = lane; column >= 0 && column < columns && word < a.shape.words; word += 32) {
    const int at = column * a.shape.word_pitch + word;
    const uint32_t cuts = b.cut[at], begins = cuts | b.first[at];
    Item *to = b.s->small_items + start + b.words[at];
    for (uint32_t bits = begins; bits; bits &= bits - 1)
      *to++ = item_of(word * 32 + __ffs((int)bits) - 1, 0, column, 0);
    if (marks)
      mark_rows(a, x0 + column, word, cuts, begins | b.last[at]);
  }
  return true;
}

/* The mask where there are many: a warp per word of rows, a lane per column; mark by mark where
 * these are few, else row by row, so that neighbors leave together. */
static __device__ __forceinline__ void write_mask(const Block &b, const RdpArgs &a, int x0,
                                                  int columns) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint8_t *mask = (uint8_t *)a.output.mask.data + x0 + lane;
  for (int word = warp; word < a.shape.words; word += WARPS) {
    const int at = min(lane, columns - 1) * a.shape.word_pitch + word;
    const uint32_t cuts = b.cut[at];
    const uint32_t own = lane < columns ? cuts | b.first[at] | b.last[at] : 0;
    const bool are_few = rv_warp_sum((unsigned)__popc(own)) <= 4u * columns;
    for (uint32_t bits = are_few ? own : ALL; bits; bits &= bits - 1) {
      const int bit = __ffs((int)bits) - 1;
      if (own >> bit & 1)
        mask[(word * 32 + bit) * a.output.mask.stride] = mark_of(cuts, bit);
    }
  }
}

/* The mask of long columns, zeros too. */
static __device__ __forceinline__ void write_whole_mask(const Block &b, const RdpArgs &a, int x0,
                                                        int columns) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane >= columns)
    return;
  uint8_t *mask = (uint8_t *)a.output.mask.data + x0 + lane;
  for (int word = warp; word < a.shape.words; word += WARPS) {
    const int at = lane * a.shape.word_pitch + word, rows = min(32, a.height - word * 32);
    const uint32_t cuts = b.cut[at], own = cuts | b.first[at] | b.last[at];
#pragma unroll 4
    for (int bit = 0; bit < rows; bit++)
      mask[(word * 32 + bit) * a.output.mask.stride] =
          own >> bit & 1 ? mark_of(cuts, bit) : (uint8_t)RV_RDP_NONE;
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

/* The segment of a column that begins in a row. */
static __device__ __forceinline__ void write_segment(const Block &b, const RdpArgs &a, int x0,
                                                     unsigned index, int column, int first) {
  if (index >= a.output.capacity)
    return;
  const uint16_t *d = b.values + column * a.shape.pitch;
  const int last = find_end(b, a, column, first);
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
  write_segment(b, a, x0, b.s->before + threadIdx.x, item >> 32 & 0xff, item & 0xffff);
}

/* The one that begins in row `bit` of a word. */
static __device__ __forceinline__ void write_begin(const Block &b, const RdpArgs &a, int x0,
                                                   int column, int word, int bit) {
  const int at = column * a.shape.word_pitch + word;
  const unsigned above = (b.cut[at] | b.first[at]) & ((1u << bit) - 1);
  write_segment(b, a, x0, b.s->before + b.s->starts[column] + b.words[at] + __popc(above), column,
                word * 32 + bit);
}

/* Many: a warp takes the segments that begin in one word of all columns, collected first so
 * that no lane idles, and in order so that neighbors in the list are written together. */
static __device__ __forceinline__ void write_segments(const Block &b, const RdpArgs &a, int x0,
                                                      int columns) {
  constexpr int ROOM = sizeof b.s->small_items / sizeof(uint16_t) / WARPS;
  static_assert(ROOM >= 32, "the segments of a word");
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint16_t *begin = (uint16_t *)b.s->small_items + warp * ROOM; /* column << 5 | bit */
  for (int word = warp; word < a.shape.words; word += WARPS) {
    const int at = min(lane, columns - 1) * a.shape.word_pitch + word;
    const unsigned own = b.cut[at] | b.first[at];
    int count = 0;
    for (int column = 0; column <= columns; column++) {
      const unsigned begins = column < columns ? __shfl_sync(ALL, own, column) : 0;
      if (column == columns || count + __popc(begins) > ROOM) {
        __syncwarp();
        for (int i = lane; i < count; i += 32)
          write_begin(b, a, x0, begin[i] >> 5, word, begin[i] & 31);
        __syncwarp();
        count = 0;
      }
      if (begins >> lane & 1)
        begin[count + __popc(begins & ((1u << lane) - 1))] = (uint16_t)(column << 5 | lane);
      count += __popc(begins);
    }
  }
}

#endif
