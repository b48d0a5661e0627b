/* rdp_cuda_split.cu: the segmentation kernel: columns into shared memory, pieces, cuts, output, in
 * one launch. */
#include "rdp_cuda_block.cuh"
#include "rdp_cuda_output.cuh"

/* Values of this block's columns, transposed. */
static __device__ __forceinline__ void load(const Block &b, const RdpArgs &a, int x0, int columns) {
  constexpr int FLIGHT = 10; /* loads on their way at once */
  const int step_row = THREADS / a.shape.columns, step_column = THREADS % a.shape.columns;
  int row = threadIdx.x / a.shape.columns, column = threadIdx.x % a.shape.columns;
  const uint16_t *source = a.source + x0;
  while (row < a.height) {
    uint16_t value[FLIGHT];
    int to[FLIGHT];
#pragma unroll
    for (int k = 0; k < FLIGHT; k++) {
      to[k] = row < a.height && column < columns ? column * a.shape.pitch + row : -1;
      value[k] = to[k] >= 0 ? __ldg(source + row * a.stride + column) : 0;
      row += step_row;
      column += step_column;
      if (column >= a.shape.columns) {
        column -= a.shape.columns;
        row++;
      }
    }
#pragma unroll
    for (int k = 0; k < FLIGHT; k++)
      if (to[k] >= 0)
        b.values[to[k]] = value[k];
  }
}

/* A bit for each valid row; the word behind the last one is 0. */
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

/* RV_RDP_SKIP: one piece from the first to the last valid row; a warp for each column. */
static __device__ __forceinline__ void seed_whole(const Block &b, const RdpArgs &a, int columns) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int column = warp; column < columns; column += WARPS) {
    const int at = column * a.shape.word_pitch;
    unsigned top = ALL, bottom = 0, points = 0; /* bottom: last row + 1 */
    for (int word = lane; word < a.shape.words; word += 32) {
      const unsigned valid = b.words[at + word];
      points += __popc(valid);
      if (valid && top == ALL)
        top = word * 32 + __ffs((int)valid) - 1;
      if (valid)
        bottom = word * 32 + 32 - __clz((int)valid);
    }
    top = warp_min(top);
    bottom = warp_max(bottom);
    points = warp_sum(points);
    if (lane == 0 && points > 0) {
      const int first = (int)top, last = (int)bottom - 1;
      b.first[at + (first >> 5)] = 1u << (first & 31);
      b.last[at + (last >> 5)] = 1u << (last & 31);
      b.s->points[column] = points;
      b.s->levels[column] = 1;
      push(b, a, 0, first, last, column, 1);
    }
  }
}

/* RV_RDP_BREAK: one piece for each run of valid rows. Short ones are cut now and then, since they
 * may be more than can wait. */
static __device__ __forceinline__ void seed_runs(const Block &b, const RdpArgs &a, int columns) {
  const int words = a.shape.words;
  for (int i = threadIdx.x; i < columns * words; i += THREADS) {
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
  const int step = min(THREADS, a.shape.small_room / PIECES_PER_WORD);
  for (int begin = 0; begin < columns * words; begin += step) {
    __syncthreads();
    const int i = begin + threadIdx.x;
    if (threadIdx.x < step && i < columns * words) {
      const int column = i / words, word = i % words;
      unsigned bits = b.first[column * a.shape.word_pitch + word];
      for (; bits; bits &= bits - 1) {
        const int row = word * 32 + __ffs((int)bits) - 1;
        push(b, a, 0, row, segment_end(b, a, column, row), column, 1);
      }
    }
    __syncthreads();
    const int small = b.s->small;
    __syncthreads();
    split_small(b, a, small);
  }
}

static __device__ __forceinline__ void clear(const Block &b, const RdpArgs &a, Shared *s) {
  const int t = threadIdx.x;
  for (int i = t; i < 3 * a.shape.columns * a.shape.word_pitch; i += THREADS)
    b.cut[i] = 0; /* first and last follow it */
  if (t < COLUMNS_MAX) {
    s->counts[t] = s->points[t] = s->error_sum[t] = 0;
    s->error_max[t] = s->levels[t] = 0;
  }
  if (t == COLUMNS_MAX) {
    s->open[0] = s->open[1] = s->small = 0;
    s->before = 0;
  }
}

/* The counter holds run << 32 | blocks that have begun; the last one readies it for the next run,
 * which does not begin before this one has ended. */
static __device__ __forceinline__ void take_ticket(const RdpArgs &a, Shared *s) {
  const unsigned long long ticket = atomicAdd(a.tickets, 1ull);
  const unsigned blocks = (unsigned)a.shape.blocks;
  s->block = (unsigned)ticket;
  s->run = (unsigned)(ticket >> 32) + 1;
  if (s->block == blocks - 1)
    atomicAdd(a.tickets, (1ull << 32) - blocks);
}

static __global__ void __launch_bounds__(THREADS) split_kernel(const RdpArgs a) {
  extern __shared__ uint4 pool[];
  __shared__ Shared shared;
  const Block b = block_of(&shared, pool, a.shape);
  if (threadIdx.x == 0)
    take_ticket(a, &shared);
  clear(b, a, &shared);
  __syncthreads();
  const int block = (int)shared.block;
  const int x0 = block * a.shape.columns, columns = min(a.shape.columns, a.width - x0);

  load(b, a, x0, columns);
  __syncthreads();
  find_valid(b, a, columns);
  __syncthreads();
  if (a.breaks)
    seed_runs(b, a, columns);
  else
    seed_whole(b, a, columns);
  split_all(b, a);

  count_segments(b, a, columns);
  __syncthreads();
  if (threadIdx.x < 32)
    publish(b, a, block, columns, threadIdx.x);
  write_rasters(b, a, x0, columns);
  if (a.output.offsets || a.output.segments)
    wait_for_others(b, a, block);
  __syncthreads();
  write_columns(b, a, x0, columns);
  if (a.output.segments)
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
  shape->open_room = columns * ((height - 1) / (small_rows + 1) + 1);
  shape->small_room = 2 * shape->open_room + 512;
  shape->bytes = (2 * shape->open_room + shape->small_room) * (int)sizeof(Item) +
                 4 * columns * shape->word_pitch * (int)sizeof(uint32_t) +
                 columns * shape->pitch * (int)sizeof(uint16_t);
}

RvStatus rdp_cuda_shape(const RvRdpConfig *config, RdpShape *shape) {
  const RvLog *log = &config->log;
  int device = 0, processors = 1, most = 0;
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  RV_CU(log, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  cudaFuncAttributes attributes;
  RV_CU(log, cudaFuncGetAttributes(&attributes, split_kernel));
  /* What the kernel holds beside the pool, which begins at a multiple of 128 bytes. */
  most -= rv_div_up((int)attributes.sharedSizeBytes, 128) * 128;
  /* Every processor gets the same number of columns, in as few rounds as they need. */
  const int rounds = rv_div_up(config->width, processors * COLUMNS_MAX);
  int columns = rv_div_up(config->width, processors * rounds);
  shape_of(config, columns, SMALL_ROWS_MAX / 2, shape);
  while (columns > 1 && shape->bytes > most)
    shape_of(config, --columns, SMALL_ROWS_MAX / 2, shape);
  if (shape->bytes > most) /* shorter lists */
    shape_of(config, columns, SMALL_ROWS_MAX, shape);
  RV_REQUIRE(log, shape->bytes <= most,
             "rdp: columns of %d rows need %d bytes of shared memory, the GPU has %d; use RV_CPU",
             config->height, shape->bytes, most);
  RV_CU(log, cudaFuncSetAttribute(split_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  return RV_OK;
}

RvStatus rdp_cuda_split(const RdpArgs *args, const RvLog *log, RvStream stream) {
  split_kernel<<<args->shape.blocks, THREADS, args->shape.bytes, stream>>>(*args);
  RV_LAUNCHED(log);
  return RV_OK;
}
