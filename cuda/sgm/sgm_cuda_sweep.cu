/* sgm_cuda_sweep.cu: the vertical direction and its two diagonals in one sweep over the rows, with
 * one evaluation of the costs and one addition to the sums; both sweeps, down and up, at once.
 *
 * A launch takes a band of rows. A block owns a strip of columns, a group of lanes a column. The
 * straight path stays in the lanes' registers; the slanted ones move one column a row, so their
 * states go through shared memory. What would come in from the neighbours' columns during the band
 * is worked out once more from the states at the band's start: a halo of columns on each side, of
 * which one is lost with every row. States pass from band to band in global memory.
 *
 * Down and up work in the same launch: while they are in different halves of the picture each sets
 * the sums it comes to first, in the second half it adds to what the other has left. */
#include "sgm_cuda.h"
#include "sgm_cuda_cost.cuh"

#include <cuda_pipeline_primitives.h>

enum { GROUP = 16 };

struct SweepArgs {
  SgmScene scene;
  uint32_t *sums;
  uint32_t *straight;         /* [state][x][words] */
  const uint32_t *slanted_in; /* [state][side][x][words] */
  uint32_t *slanted_out;
  int row, rows;    /* of the band, counted in the direction of the sweep */
  int sweep, state; /* of blockIdx.y 0: 0 down, 1 up; place of its states */
  int add;          /* 0: the sums are set */
  int strip, halo;
};

/* The block's shared memory: the right descriptors that its columns need in a row, and the states
 * of the slanted paths, [turn][side][slot][words], with their minima. What belongs to a row comes
 * by turns, so that one is read while the next one is written. Slot c + 1 is that of column c of
 * the block; side 0 comes from the left, 1 from the right. */
template <typename Census> struct SweepShared {
  uint32_t *l, *floor2;
  Census *right; /* [turn][c - k + 2 * words - 1] */
  int columns, slots, words;

  static __host__ __device__ size_t place(SweepShared *m, char *base, int columns, int words,
                                          bool slanted) {
    const size_t states = slanted ? 4 * (size_t)(columns + 2) : 0;
    m->columns = columns, m->slots = columns + 2, m->words = words;
    m->l = (uint32_t *)base;
    m->right = (Census *)(base + sizeof(uint32_t) * states * words);
    m->floor2 = (uint32_t *)(m->right + 2 * (columns + 2 * words));
    return (size_t)((char *)(m->floor2 + states) - base);
  }
  __device__ __forceinline__ int at(int turn, int side, int slot) const {
    return ((turn & 1) * 2 + side) * slots + slot;
  }
  __device__ __forceinline__ Census *row(int turn) const {
    return right + (turn & 1) * (columns + 2 * words);
  }
  /* Starts to copy the descriptors of a row; x0 is the block's first column. */
  __device__ __forceinline__ void fetch(const SgmScene &s, int x0, int y, int turn) const {
    const Census *from = (const Census *)s.right + (size_t)y * s.width;
    Census *to = row(turn);
    const int first = x0 - (2 * words - 1) - s.min_disparity;
    for (int t = (int)threadIdx.x; t < columns + 2 * words - 1; t += (int)blockDim.x)
      __pipeline_memcpy_async(&to[t], &from[rv_clamp(first + t, 0, s.width - 1)], sizeof(Census));
    __pipeline_commit();
  }
};

template <int K>
static __device__ __forceinline__ uint32_t floor_of(const uint32_t (&l)[K], const SgmLane &self) {
  uint32_t smallest = 0xffffffffu;
#pragma unroll
  for (int j = 0; j < K; j++)
    smallest = sgm_min2(smallest, l[j]);
  return sgm_group_min<GROUP>(self.active ? smallest : 0xffffffffu);
}

/* State of the slanted path that stands in column x before the band, into its slot. A path that
 * starts has l = 0 and minimum 0. The whole warp takes part. */
template <int K, typename Census>
static __device__ void take_state(const SweepArgs &a, const SweepShared<Census> &m,
                                  const SgmLane &self, int state, int side, int x, int slot,
                                  bool wanted) {
  uint32_t l[K] = {};
  if (a.row > 0 && wanted && x >= 0 && x < a.scene.width && self.active)
    sgm_load<K>(l, a.slanted_in + ((size_t)(2 * state + side) * a.scene.width + x) * m.words +
                       self.first_word);
  const uint32_t floor2 = floor_of<K>(l, self);
  if (!wanted)
    return;
  const int at = m.at(0, side, slot);
  if (self.active)
    sgm_store<K>(m.l + (size_t)at * m.words + self.first_word, l);
  if (self.first)
    m.floor2[at] = floor2;
}

/* A column's place, and what none of its warp's columns needs is left out. */
struct SweepColumn {
  int c, x, sweep, state;
  bool inside, own, any_own;
  int last_row[2]; /* of the band, in which the slanted path of a side is wanted; -1: in none */
};

/* One row of the slanted path of a side: from the neighbour's slot to the own one. */
template <int K, typename Census>
static __device__ __forceinline__ void
slanted_step(const SweepArgs &a, const SweepShared<Census> &m, const SgmLane &self,
             const SweepColumn &col, int side, int turn, int y, int dy, const uint32_t (&cost)[K],
             uint32_t (&sum)[K]) {
  const int before = col.x + (side ? 1 : -1);
  const bool path = before >= 0 && before < a.scene.width;
  const int from = m.at(turn, side, col.c + (side ? 2 : 0)), to = m.at(turn + 1, side, col.c + 1);
  uint32_t l[K] = {}, floor2 = 0;
  if (path && self.active)
    sgm_load<K>(l, m.l + (size_t)from * m.words + self.first_word);
  if (path)
    floor2 = m.floor2[from];
  const uint32_t p2 = sgm_p2(a.scene, col.inside ? col.x : 0, y, side ? -1 : 1, dy,
                             path && col.inside && a.row + turn > 0);
  sgm_path_step<GROUP, K>(l, floor2, cost, (uint32_t)a.scene.p1 * 0x10001u, p2, self);
  if (self.active)
    sgm_store<K>(m.l + (size_t)to * m.words + self.first_word, l);
  if (self.first)
    m.floor2[to] = floor2;
#pragma unroll
  for (int j = 0; j < K; j++)
    sum[j] += l[j];
}

/* States after the band, for the next one. */
template <int K, typename Census>
static __device__ void leave_states(const SweepArgs &a, const SweepShared<Census> &m,
                                    const SgmLane &self, const SweepColumn &col,
                                    const uint32_t (&straight)[K], bool slanted) {
  if (!col.own || !self.active)
    return;
  const size_t x = (size_t)col.x;
  sgm_store<K>(a.straight + (col.state * (size_t)a.scene.width + x) * m.words + self.first_word,
               straight);
  for (int side = 0; slanted && side < 2; side++) {
    uint32_t l[K];
    sgm_load<K>(l, m.l + (size_t)m.at(a.rows, side, col.c + 1) * m.words + self.first_word);
    sgm_store<K>(a.slanted_out + ((size_t)(2 * col.state + side) * a.scene.width + x) * m.words +
                     self.first_word,
                 l);
  }
}

/* Column c of the left halo is right up to row c of the band, and not wanted afterwards. */
static __device__ SweepColumn sweep_column(const SweepArgs &a) {
  const int columns = a.strip + 2 * a.halo;
  SweepColumn col;
  col.c = (int)threadIdx.x / GROUP;
  col.x = (int)blockIdx.x * a.strip - a.halo + col.c;
  col.sweep = a.sweep + (int)blockIdx.y;
  col.state = a.state + (int)blockIdx.y;
  col.inside = col.x >= 0 && col.x < a.scene.width;
  col.own = col.inside && col.c >= a.halo && col.c < a.halo + a.strip;
  col.any_own = __any_sync(SGM_WARP, col.own);
  const bool left = col.inside && col.c < a.halo + a.strip, right = col.inside && col.c >= a.halo;
  const int odd = col.c | 1, even = col.c & ~1; /* columns of this warp */
  col.last_row[0] = __any_sync(SGM_WARP, left) ? odd : -1;
  col.last_row[1] = __any_sync(SGM_WARP, right) ? columns - 1 - even : -1;
  return col;
}

/* Brings what the band adds to into the L2 cache: every lane of the group asks for some lines. */
static __device__ void ask_for_sums(const SweepArgs &a, const uint32_t *at, ptrdiff_t pitch) {
  enum { LINE = 128 / sizeof(uint32_t) };
  const int lines = rv_div_up(a.scene.words, LINE);
  for (int i = (int)threadIdx.x % GROUP; i < rv_min(a.rows, 64) * lines; i += GROUP)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at + (i / lines) * pitch + (i % lines) * LINE));
}

/* Fills the slots of the block's columns and of their two neighbours. */
template <int K, typename Census>
static __device__ void take_states(const SweepArgs &a, const SweepShared<Census> &m,
                                   const SgmLane &self, const SweepColumn &col) {
  const int rim = col.c == 0 ? -1 : 1;
  for (int side = 0; side < 2; side++) {
    take_state<K>(a, m, self, col.state, side, col.x, col.c + 1, true);
    take_state<K>(a, m, self, col.state, side, col.x + rim, col.c + 1 + rim,
                  col.c == 0 || col.c == m.columns - 1);
  }
}

template <int K, typename Census, bool SLANTED, int THREADS>
static __global__ void __launch_bounds__(THREADS) sweep_kernel(const SweepArgs a) {
  extern __shared__ __align__(16) char memory[];
  const SgmScene &scene = a.scene;
  const int words = scene.words;
  const SgmLane self = sgm_lane<GROUP, K>(words);
  const SweepColumn col = sweep_column(a);
  SweepShared<Census> m;
  SweepShared<Census>::place(&m, memory, a.strip + 2 * a.halo, words, SLANTED);
  const int dy = col.sweep ? -1 : 1, y0 = col.sweep ? scene.height - 1 - a.row : a.row;
  const int x = rv_clamp(col.x, 0, scene.width - 1);
  m.fetch(scene, col.x - col.c, y0, 0);
  uint32_t straight[K] = {};
  if (a.row > 0 && col.own && self.active)
    sgm_load<K>(straight,
                a.straight + (col.state * (size_t)scene.width + x) * words + self.first_word);
  uint32_t floor2 = floor_of<K>(straight, self);
  if (SLANTED)
    take_states<K>(a, m, self, col);
  uint32_t *at = a.sums + ((size_t)y0 * scene.width + x) * words + self.first_word;
  const ptrdiff_t pitch = (ptrdiff_t)dy * scene.width * words;
  const Census *left = (const Census *)scene.left + (size_t)y0 * scene.width + x;
  const bool keeps = col.own && self.active;
  if (a.add && col.own)
    ask_for_sums(a, at - self.first_word, pitch);
  Census here = *left;
  uint32_t sum[K] = {}, next_sum[K] = {};
  if (a.add && keeps)
    sgm_load<K>(next_sum, at);
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int s = 0; s < a.rows; s++, at += pitch) {
    const int y = y0 + s * dy;
    const Census *low = m.row(s) + col.c + 2 * words - 1 - self.first_word;
    uint32_t cost[K];
#pragma unroll
    for (int j = 0; j < K; j++) {
      cost[j] = sgm_hamming(here, low[-j]) + (sgm_hamming(here, low[-j - words]) << 16);
      sum[j] = next_sum[j];
    }
    if (s + 1 < a.rows) {
      m.fetch(scene, col.x - col.c, y + dy, s + 1);
      left += (ptrdiff_t)dy * scene.width;
      here = *left;
      if (a.add && keeps)
        sgm_load<K>(next_sum, at + pitch);
    }
    if (col.any_own) {
      const uint32_t p2 = sgm_p2(scene, x, y, 0, dy, a.row + s > 0);
      sgm_path_step<GROUP, K>(straight, floor2, cost, (uint32_t)scene.p1 * 0x10001u, p2, self);
#pragma unroll
      for (int j = 0; j < K; j++)
        sum[j] += straight[j];
    }
    if (SLANTED) {
      if (col.last_row[0] >= s)
        slanted_step<K>(a, m, self, col, 0, s, y, dy, cost, sum);
      if (col.last_row[1] >= s)
        slanted_step<K>(a, m, self, col, 1, s, y, dy, cost, sum);
    }
    if (keeps)
      sgm_store<K>(at, sum);
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  leave_states<K>(a, m, self, col, straight, SLANTED);
}

/* Threads a block may have, so that the registers suffice. */
static constexpr int sweep_threads(int k, bool slanted) {
  return !slanted ? 256 : k <= 4 ? 1024 : k == 8 ? 512 : 256;
}

template <int K, typename Census, bool SLANTED>
static RvStatus launch(const RvSgmConfig *config, const SweepArgs &a, int sweeps, RvStream stream) {
  constexpr int THREADS = sweep_threads(K, SLANTED);
  const int columns = a.strip + 2 * a.halo; /* even: whole warps */
  const dim3 grid(rv_div_up(a.scene.width, a.strip), sweeps);
  SweepShared<Census> unused;
  const size_t shared = SweepShared<Census>::place(&unused, NULL, columns, a.scene.words, SLANTED);
  sweep_kernel<K, Census, SLANTED, THREADS><<<grid, columns * GROUP, shared, stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

template <bool SLANTED>
static RvStatus launch_any(const RvSgmConfig *config, const SweepArgs &a, int sweeps,
                           RvStream stream) {
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_WORDS(a.scene.words, GROUP, K,
                  return (launch<K, uint64_t, SLANTED>(config, a, sweeps, stream)));
  else
    SGM_FOR_WORDS(a.scene.words, GROUP, K,
                  return (launch<K, uint32_t, SLANTED>(config, a, sweeps, stream)));
}

/* Rows from .. to - 1 of `sweeps` sweeps, band by band. */
static RvStatus run_bands(const RvSgmConfig *config, SweepArgs *a, int sweeps, int from, int to,
                          RvStream stream) {
  const bool slanted = config->paths == 8;
  const int band = slanted ? a->halo + 1 : RV_MAX_SIDE;
  for (a->row = from; a->row < to; a->row += a->rows) {
    a->rows = rv_min(band, to - a->row);
    RV_TRY(slanted ? launch_any<true>(config, *a, sweeps, stream)
                   : launch_any<false>(config, *a, sweeps, stream));
    if (slanted) {
      uint32_t *const read = a->slanted_out;
      a->slanted_out = (uint32_t *)a->slanted_in;
      a->slanted_in = read;
    }
  }
  return RV_OK;
}

RvStatus sgm_cuda_sweeps(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  SweepArgs a = {};
  a.scene = sgm_cuda_scene(work, config, job);
  a.sums = work->sums, a.straight = work->straight;
  a.slanted_in = work->slanted[0], a.slanted_out = work->slanted[1];
  a.strip = work->strip, a.halo = work->halo;
  const int height = config->height, half = height / 2;
  if (config->paths == 2)
    return run_bands(config, &a, 1, 0, height, job->stream);
  if (work->sweeps == 1) {
    RV_TRY(run_bands(config, &a, 1, 0, height, job->stream));
    a.sweep = 1, a.add = 1;
    return run_bands(config, &a, 1, 0, height, job->stream);
  }
  RV_TRY(run_bands(config, &a, 2, 0, half, job->stream));
  if (height % 2) { /* both come to the middle row: one after the other */
    SweepArgs middle = a;
    RV_TRY(run_bands(config, &middle, 1, half, half + 1, job->stream));
    middle = a;
    middle.sweep = 1, middle.state = 1, middle.add = 1;
    RV_TRY(run_bands(config, &middle, 1, half, half + 1, job->stream));
    a.slanted_in = middle.slanted_in, a.slanted_out = middle.slanted_out;
  }
  a.add = 1;
  return run_bands(config, &a, 2, half + height % 2, height, job->stream);
}

/* --- Memory and shape ------------------------------------------------------------------------ */

static size_t state_words(const RvSgmConfig *config, int sweeps) {
  return (size_t)sweeps * config->width * (config->disparities / 2);
}

/* Both sweeps at once, unless their states would break the promise of sgm.h. */
static int sweeps_at_once(const RvSgmConfig *config, const RvArena *arena) {
  if (config->paths == 2)
    return 1;
  if (config->paths == 4 || config->disparities < 64 || config->height < 240)
    return 2;
  const size_t states = 5 * state_words(config, 2) * sizeof(uint32_t);
  const size_t allowed = (size_t)config->width * config->height * config->disparities * 22 / 10;
  return rv_arena_size(arena) + states + 8 * RV_ARENA_GUARD <= allowed ? 2 : 1;
}

void sgm_cuda_sweeps_layout(SgmCuda *work, const RvSgmConfig *config, RvArena *arena) {
  work->sweeps = sweeps_at_once(config, arena);
  const size_t bytes = state_words(config, work->sweeps) * sizeof(uint32_t);
  work->straight = (uint32_t *)rv_arena_take(arena, bytes);
  for (int i = 0; i < 2 && config->paths == 8; i++)
    work->slanted[i] = (uint32_t *)rv_arena_take(arena, 2 * bytes);
}

/* Strip and halo that make the slanted sweeps shortest: launches against repeated columns against
 * multiprocessors without work. Times in µs, fitted on an H200. */
static void choose_strip(SgmCuda *work, const RvSgmConfig *config, int columns, int processors) {
  const double launch_us = 4, row_us = 0.25, column_us = 0.0126 * config->disparities / 128;
  double best = 0;
  work->strip = 2, work->halo = 0;
  for (int strip = 2; strip <= columns; strip += 2) {
    const int blocks = work->sweeps * rv_div_up(config->width, strip);
    const int waves = rv_div_up(blocks, processors);
    for (int halo = 0; strip + 2 * halo <= columns; halo++) {
      const double busy = waves * column_us * (strip + 0.6 * halo);
      const double row = busy > row_us ? busy : row_us;
      const double rows = config->height, launches = rows / (halo + 1);
      const double time = launches * launch_us + rows * row;
      if (best == 0 || time < best) {
        best = time;
        work->strip = strip, work->halo = halo;
      }
    }
  }
}

template <int K, typename Census>
static RvStatus open_slanted(SgmCuda *work, const RvSgmConfig *config) {
  constexpr int THREADS = sweep_threads(K, true);
  int device = 0, processors = 1, shared = 48 * 1024;
  RV_CU(&config->log, cudaGetDevice(&device));
  RV_CU(&config->log, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  RV_CU(&config->log,
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int words = config->disparities / 2;
  int columns = THREADS / GROUP;
  SweepShared<Census> unused;
  while (columns > 2 &&
         SweepShared<Census>::place(&unused, NULL, columns, words, true) > (size_t)shared)
    columns -= 2;
  choose_strip(work, config, columns, processors);
  const size_t bytes =
      SweepShared<Census>::place(&unused, NULL, work->strip + 2 * work->halo, words, true);
  RV_CU(&config->log,
        cudaFuncSetAttribute(sweep_kernel<K, Census, true, THREADS>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return RV_OK;
}

RvStatus sgm_cuda_sweeps_open(SgmCuda *work, const RvSgmConfig *config) {
  work->strip = sweep_threads(1, false) / GROUP, work->halo = 0;
  if (config->paths != 8)
    return RV_OK;
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_WORDS(config->disparities / 2, GROUP, K,
                  return (open_slanted<K, uint64_t>(work, config)));
  else
    SGM_FOR_WORDS(config->disparities / 2, GROUP, K,
                  return (open_slanted<K, uint32_t>(work, config)));
}
