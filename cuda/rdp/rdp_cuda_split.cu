/* SPDX-License-Identifier: MIT */
/* rdp_cuda_split.cu: the segmentation kernel: columns into shared memory, pieces, cuts, output, in
 * one launch. */
#include "rdp/rdp_cuda_block.cuh"
#include "rdp/rdp_cuda_output.cuh"

/* Zeros one mask value, or two next to each other. */
template <typename VALUE>
static __device__ __forceinline__ void clear_mask(const RdpArgs &a, uint8_t *to) {
  if (sizeof(VALUE) == 2) {
    *to = 0;
  } else if (a.mask_pairs) {
    *(uint16_t *)to = 0;
  } else {
    to[0] = 0;
    to[1] = 0;
  }
}

/* Whether warps that have nothing to search at first zero the mask. */
static __device__ __forceinline__ bool is_cleared_later(const RdpArgs &a) {
  return !a.breaks && a.shape.parts > 1;
}

/* Zeros the mask of this block's columns; by `threads` threads. */
template <typename VALUE>
static __device__ __forceinline__ void clear_rows(const RdpArgs &a, int x0, int columns, int thread,
                                                  int threads) {
  constexpr int EACH = sizeof(VALUE) / sizeof(uint16_t);
  const int begin = divide(thread, a.across_inverse), down = divide(threads, a.across_inverse);
  const int column = (thread - begin * a.across) * EACH;
  if (begin >= down || column >= columns)
    return;
  const ptrdiff_t step = down * a.output.mask.stride;
  uint8_t *mask = (uint8_t *)a.output.mask.data + begin * a.output.mask.stride + x0 + column;
#pragma unroll 4
  for (int row = begin; row < a.height; row += down, mask += step)
    clear_mask<VALUE>(a, mask);
}

/* Values of this block's columns, transposed, and zeros in the mask of short ones. VALUE: what one
 * load takes, one column or two. */
template <typename VALUE>
static __device__ __forceinline__ void load(const Block &b, const RdpArgs &a, int x0, int columns) {
  constexpr int FLIGHT = 12 / sizeof(VALUE) * 2; /* loads on their way at once */
  constexpr int EACH = sizeof(VALUE) / sizeof(uint16_t);
  const int down = a.down, begin = divide(threadIdx.x, a.across_inverse);
  const int column = ((int)threadIdx.x - begin * a.across) * EACH;
  if (begin >= down || column >= columns)
    return;
  const bool clears = a.output.mask.data && !a.shape.long_columns && !is_cleared_later(a);
  const ptrdiff_t step = down * a.stride, mask_step = down * a.output.mask.stride;
  const uint16_t *source = a.source + x0 + column + begin * a.stride;
  uint8_t *mask = (uint8_t *)a.output.mask.data + begin * a.output.mask.stride + x0 + column;
  uint16_t *to = b.values + column * a.shape.pitch + begin;
  for (int left = a.height - begin; left > 0; left -= FLIGHT * down) {
    VALUE value[FLIGHT];
#pragma unroll
    for (int k = 0; k < FLIGHT; k++, source += step)
      if (k * down < left)
        value[k] = *(const VALUE *)source;
#pragma unroll
    for (int k = 0; k < FLIGHT; k++, mask += mask_step)
      if (clears && k * down < left)
        clear_mask<VALUE>(a, mask);
#pragma unroll
    for (int k = 0; k < FLIGHT; k++, to += down)
      if (k * down < left) {
        to[0] = (uint16_t)value[k];
        if (EACH == 2)
          to[a.shape.pitch] = (uint16_t)((uint32_t)value[k] >> 16);
      }
  }
}

/* A bit for each valid row; the word after the last one is 0. */
static __device__ __forceinline__ void find_valid(const Block &b, const RdpArgs &a, int columns) {
  constexpr int FLIGHT = 4; /* columns looked at at once */
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int word = warp; word <= a.shape.words; word += WARPS) {
    const int row = word * 32 + lane;
    for (int begin = 0; begin < columns; begin += FLIGHT) {
      bool valid[FLIGHT];
#pragma unroll
      for (int k = 0; k < FLIGHT; k++)
        valid[k] = row < a.height && begin + k < columns &&
                   b.values[(begin + k) * a.shape.pitch + row] != 0;
#pragma unroll
      for (int k = 0; k < FLIGHT; k++) {
        const unsigned bits = __ballot_sync(ALL, valid[k]);
        if (lane == 0 && begin + k < columns)
          b.words[(begin + k) * a.shape.word_pitch + word] = bits;
      }
    }
  }
}

/* First valid row of a column, its height where none is, and the last one, -1; by a warp. */
static __device__ __forceinline__ int find_first(const RdpArgs &a, const uint16_t *d, int lane) {
  unsigned valid = d[0] != 0;
  for (int row = 0; !valid; row += 32) {
    if (row >= a.height)
      return a.height;
    valid = __ballot_sync(ALL, row + lane < a.height && d[row + lane] != 0);
    if (valid)
      return row + __ffs((int)valid) - 1;
  }
  return 0;
}
static __device__ __forceinline__ int find_last(const RdpArgs &a, const uint16_t *d, int lane) {
  unsigned valid = d[a.height - 1] != 0;
  for (int row = a.height - 1; !valid; row -= 32) {
    if (row < 0)
      return -1;
    valid = __ballot_sync(ALL, row - lane >= 0 && d[row - lane] != 0);
    if (valid)
      return row - __ffs((int)valid) + 1;
  }
  return a.height - 1;
}

/* The piece first..last of a column is there: its ends, and that it may be cut. */
static __device__ __forceinline__ void begin_piece(const Block &b, const RdpArgs &a, int column,
                                                   int first, int last) {
  const int at = column * a.shape.word_pitch;
  b.first[at + (first >> 5)] = 1u << (first & 31);
  b.last[at + (last >> 5)] = 1u << (last & 31);
  atomicAdd(&b.s->points[column], 1u + (last > first));
  b.s->levels[column] = 1;
  if (last - first >= 2)
    atomicAdd(&b.s->pending, 1);
}

/* RV_RDP_SKIP: one piece from the first to the last valid row. All warps search the columns,
 * several warps per column, every one 32 rows at a time; then one continues. */
static __device__ __forceinline__ void split_whole(const Block &b, const RdpArgs &a, int x0,
                                                   int columns, ShortSegments *shorts) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, parts = a.shape.parts;
  const int column = divide(warp, a.shape.part_inverse), part = warp - column * parts;
  const uint16_t *d = b.values + column * a.shape.pitch;
  int first = 0, last = -1;
  if (column < columns) {
    first = find_first(a, d, lane);
    last = find_last(a, d, lane);
    const int length = last - first;
    if (length >= 2) {
      const int rise = d[last] - d[first], start = 1 + part * 32, step = parts * 32;
      unsigned valid = 0;
      const Farthest f = a.output.columns
                             ? search<true>(d + first, length, rise, start, step, lane, &valid)
                             : search<false>(d + first, length, rise, start, step, lane);
      if (lane == 0) {
        b.s->best[warp] = f;
        atomicAdd(&b.s->points[column], valid);
      }
    }
    if (part == 0 && lane == 0 && first <= last)
      begin_piece(b, a, column, first, last);
  }
  __syncthreads();
  if (part == parts - 1 && column < a.shape.columns && a.output.mask.data &&
      !a.shape.long_columns && is_cleared_later(a)) {
    const int thread = column * 32 + lane, threads = a.shape.columns * 32;
    if (a.pairs)
      clear_rows<uint32_t>(a, x0, columns, thread, threads);
    else
      clear_rows<uint16_t>(a, x0, columns, thread, threads);
  }
  if (column >= columns || part > 0 || last - first < 2)
    return;
  Farthest farthest = {0, 0};
  for (int i = warp; i < warp + parts; i++) { /* ties: the smaller row */
    const Farthest f = b.s->best[i];
    if (f.e > farthest.e || (f.e == farthest.e && f.k < farthest.k))
      farthest = f;
  }
  follow(b, a, first, last, column, 1, farthest, shorts, lane);
}

/* RV_RDP_BREAK: one piece for each run of valid rows; the short ones are cut at once. */
static __device__ __forceinline__ void split_runs(const Block &b, const RdpArgs &a, int columns) {
  const int words = a.shape.words;
  find_valid(b, a, columns);
  __syncthreads();
  for (int i = threadIdx.x; i < columns * words; i += RDP_THREADS) {
    const int column = i / words, word = i % words;
    const int at = column * a.shape.word_pitch + word;
    const unsigned valid = b.words[at];
    const unsigned above = word > 0 ? b.words[at - 1] >> 31 : 0, below = b.words[at + 1] & 1;
    b.first[at] = valid & ~(valid << 1 | above);
    b.last[at] = valid & ~(valid >> 1 | below << 31);
    if (valid) {
      atomicAdd(&b.s->points[column], (unsigned)__popc(valid));
      atomicMax(&b.s->levels[column], 1);
    }
  }
  __syncthreads();
  for (int base = 0; base < columns * words; base += RDP_THREADS) {
    const int i = base + (int)threadIdx.x, column = i / words, word = i % words;
    uint32_t bits = i < columns * words ? b.first[column * a.shape.word_pitch + word] : 0;
    while (__any_sync(ALL, bits != 0)) {
      Item item = 0;
      if (bits) {
        const int row = word * 32 + __ffs((int)bits) - 1, end = run_end(b, a, column, row);
        bits &= bits - 1;
        if (end - row >= 2)
          item = item_of(row, end, column, 1);
        if (end - row > a.shape.small_rows) {
          push(b, item);
          item = 0;
        }
      }
      split_short(b, a, item);
    }
  }
  __syncthreads();
}

static __device__ __forceinline__ void clear(const Block &b, const RdpArgs &a, Shared *s) {
  const int t = threadIdx.x;
  for (int i = t; i < a.shape.zeros; i += RDP_THREADS) /* cut, first and last follow the queue */
    ((uint4 *)b.queue)[i] = {0, 0, 0, 0};
  if (t < COLUMNS_MAX) {
    s->counts[t] = s->points[t] = s->error_sum[t] = 0;
    s->error_max[t] = s->levels[t] = 0;
  }
  if (t == COLUMNS_MAX) {
    s->claimed = s->pushed = s->pending = s->small = 0;
    s->before = 0;
  }
}

/* By one thread: takes the next columns from the left, so that those of blocks that are waited for
 * have begun, in whatever order blocks start. The counter holds run << 32 | blocks that have begun;
 * the last one readies it for the next run, whose blocks begin after rv_launch_next. */
static __device__ __forceinline__ void take_place(const RdpArgs &a, Shared *s) {
  const unsigned long long ticket = atomicAdd(a.tickets, 1ull);
  const unsigned blocks = (unsigned)a.shape.blocks;
  if ((unsigned)ticket == blocks - 1) {
    atomicAdd(a.tickets, (1ull << 32) - blocks);
    __threadfence();
  }
  s->run = (unsigned)(ticket >> 32) + 1;
  s->block = (unsigned)ticket;
}

static __global__ void __launch_bounds__(RDP_THREADS) split_kernel(const RdpArgs a) {
  extern __shared__ uint4 pool[];
  __shared__ Shared shared;
  const Block b = block_of(&shared, pool, a.shape);
  if (threadIdx.x == RDP_THREADS - 1)
    take_place(a, &shared);
  clear(b, a, &shared);
  __syncthreads();
  rv_launch_wait();
  rv_launch_next(); /* all blocks of this run have their place */
  const int block = (int)shared.block, x0 = block * a.shape.columns;
  const int columns = min(a.shape.columns, a.width - x0);
  if (a.pairs)
    load<uint32_t>(b, a, x0, columns);
  else
    load<uint16_t>(b, a, x0, columns);
  __syncthreads();

  ShortSegments shorts = {0, 0};
  if (a.breaks)
    split_runs(b, a, columns);
  else
    split_whole(b, a, x0, columns, &shorts);
  split_long(b, a, &shorts, threadIdx.x % 32);
  split_shorts(b, a, shorts);
  __syncthreads();

  count_segments(b, a, columns);
  __syncthreads();
  if (threadIdx.x < 32)
    publish(b, a, block, columns, threadIdx.x);
  const bool are_few = list_few(b, a, x0, columns);
  if (a.output.mask.data && (a.shape.long_columns || !are_few)) {
    if (a.pairs)
      write_mask<uint32_t>(b, a, x0, columns);
    else
      write_mask<uint16_t>(b, a, x0, columns);
  }
  write_drawn(b, a, x0, columns);
  if (a.output.offsets || a.output.segments)
    wait_for_others(b, a, block);
  __syncthreads();
  write_columns(b, a, x0, columns);
  if (a.output.segments && are_few)
    write_few(b, a, x0, columns);
  else if (a.output.segments)
    write_segments(b, a, x0, columns);
}

/* --- Launch ---------------------------------------------------------------------------------- */

static void shape_of(const RvRdpConfig *config, int columns, int small_rows, RdpShape *shape) {
  const int height = config->height;
  shape->columns = columns;
  shape->blocks = rv_div_up(config->width, columns);
  shape->pitch = rv_div_up(height, 32) * 32 + 6;
  shape->words = rv_div_up(height, 32);
  shape->word_pitch = (shape->words + 1) | 1;
  shape->small_rows = small_rows;
  shape->parts = WARPS / columns;
  shape->part_inverse = rdp_inverse(shape->parts);
  shape->room = columns * ((height - 1) / (small_rows + 1) + 1) + WARPS;
  shape->zeros = rv_div_up(shape->room * (int)sizeof(Item) +
                               3 * columns * shape->word_pitch * (int)sizeof(uint32_t),
                           (int)sizeof(uint4));
  shape->bytes = shape->room * (int)sizeof(Item) +
                 4 * columns * shape->word_pitch * (int)sizeof(uint32_t) +
                 columns * shape->pitch * (int)sizeof(uint16_t);
}

RvStatus rdp_cuda_shape(const RvRdpConfig *config, RdpShape *shape) {
  const RvLog *log = &config->log;
  int device = 0, most = 0;
  RvCudaDevice limits;
  RV_CU(log, cudaGetDevice(&device));
  RV_TRY(rv_cuda_device(log, &limits));
  RV_CU(log, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  cudaFuncAttributes attributes;
  RV_CU(log, cudaFuncGetAttributes(&attributes, split_kernel));
  /* Memory of the kernel in addition to the pool, which starts at a multiple of 128 bytes. */
  most -= rv_div_up((int)attributes.sharedSizeBytes, 128) * 128;
  /* Every processor gets the same number of columns, in as few rounds as they need. */
  const int processors = limits.processors;
  const int rounds = rv_div_up(config->width, processors * COLUMNS_MAX);
  int columns = rv_div_up(config->width, processors * rounds);
  shape->long_columns = config->height > LONG_COLUMN;
  const int small = shape->long_columns ? LONG_COLUMN_SMALL_ROWS : SMALL_ROWS;
  shape_of(config, columns, small, shape);
  while (columns > 1 && shape->bytes > most)
    shape_of(config, --columns, small, shape);
  if (shape->bytes > most) /* shorter lists */
    shape_of(config, columns, SMALL_ROWS_MAX, shape);
  RV_REQUIRE(log, shape->bytes <= most,
             "rdp: columns of %d rows need %d bytes of shared memory, the GPU has %d; use RV_CPU",
             config->height, shape->bytes, most);
  RV_CU(log, cudaFuncSetAttribute(split_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  return RV_OK;
}

RvStatus rdp_cuda_split(const RdpArgs *args, const RvLog *log, RvStream stream, int overlaps) {
  return rv_launch(log, split_kernel, dim3((unsigned)args->shape.blocks), dim3(RDP_THREADS),
                   args->shape.bytes, stream, overlaps != 0, *args);
}
