/* SPDX-License-Identifier: MIT */
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
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_cost.cuh"

#include <cuda_pipeline_primitives.h>

enum { AHEAD = 3, STAGES = AHEAD + 1 }; /* rows that are copied ahead of use */

/* Threads a block may have, so that the registers suffice. */
static constexpr int sweep_threads(int k, bool slanted) {
  return k <= 8 ? (slanted ? 512 : 128) : (slanted ? 256 : 64);
}

struct SweepArgs {
  SgmScene scene;
  uint32_t *sums;
  uint32_t *straight;          /* [state][x][words] */
  const uint32_t *diagonal_in; /* [state][side][x][words] */
  uint32_t *diagonal_out;
  int row, rows;    /* of the band, counted in the direction of the sweep */
  int skipped[2];   /* row of the picture that row 0 of the descriptors is, by sweep */
  int sweep, state; /* of blockIdx.y 0: 0 down, 1 up; place of its states */
  int add;          /* 0: the sums are set */
  int strip, halo;
};

/* The block's shared memory: what a row needs from global memory, copied AHEAD rows before, and the
 * states of the slanted paths, [turn][side][slot][words], with their minima; one turn is read while
 * the next one is written. Slot c + 1 is that of column c of the block; side 0 comes from the left,
 * 1 from the right. Words of a state lie in pieces, see SweepLane. */
template <typename Census> struct SweepShared {
  uint32_t *l, *floor2;
  uint32_t *sums; /* [stage][own column][words], in pieces */
  Census *right;  /* [stage][c - k + 2 * words - 1] */
  Census *left;   /* [stage][c] */
  int columns, strip, slots, words;

  static __host__ __device__ size_t place(SweepShared *m, char *base, int strip, int halo,
                                          int words, bool slanted) {
    const size_t columns = strip + 2 * halo, states = slanted ? 4 * (columns + 2) : 0;
    m->columns = (int)columns, m->strip = strip, m->slots = (int)columns + 2, m->words = words;
    m->l = (uint32_t *)base;
    m->sums = m->l + states * words;
    m->right = (Census *)(m->sums + (size_t)STAGES * strip * words);
    m->left = m->right + STAGES * (columns + 2 * words);
    m->floor2 = (uint32_t *)(m->left + STAGES * columns);
    return (size_t)((char *)(m->floor2 + states) - base);
  }
  __device__ __forceinline__ int at(int turn, int side, int slot) const {
    return ((turn & 1) * 2 + side) * slots + slot;
  }
  __device__ __forceinline__ Census *right_row(int turn) const {
    return right + turn % STAGES * (columns + 2 * words);
  }
  __device__ __forceinline__ Census *left_row(int turn) const {
    return left + turn % STAGES * columns;
  }
  __device__ __forceinline__ uint32_t *sum(int turn, int own) const {
    return sums + (size_t)(turn % STAGES * strip + own) * words;
  }
  /* Starts to copy row y of the descriptors; x0 is the block's first column. */
  __device__ __forceinline__ void fetch(const SgmScene &s, int x0, int y, int turn) const {
    const Census *from = (const Census *)s.right + (size_t)y * s.width;
    const Census *beside = (const Census *)s.left + (size_t)y * s.width;
    Census *to = right_row(turn), *to_left = left_row(turn);
    const int first = x0 - (2 * words - 1) - s.min_disparity;
    for (int t = (int)threadIdx.x; t < columns + 2 * words - 1; t += (int)blockDim.x)
      __pipeline_memcpy_async(&to[t], &from[rv_clamp(first + t, 0, s.width - 1)], sizeof(Census));
    for (int t = (int)threadIdx.x; t < columns; t += (int)blockDim.x)
      __pipeline_memcpy_async(&to_left[t], &beside[rv_clamp(x0 + t, 0, s.width - 1)],
                              sizeof(Census));
  }
};

/* A lane's words in shared memory: pieces of four words, a piece of all lanes before the next one,
 * so that the lanes' accesses lie side by side. */
template <int G, int K> struct SweepLane {
  enum { PIECE = K < 4 ? K : 4 };

  static __device__ __forceinline__ int place(int piece, int words) {
    return piece * (words / K) * PIECE + (int)threadIdx.x % G * PIECE;
  }
  static __device__ __forceinline__ void load(uint32_t (&w)[K], const uint32_t *at, int words) {
#pragma unroll
    for (int q = 0; q < K / PIECE; q++) {
      uint32_t piece[PIECE];
      sgm_load<PIECE>(piece, at + place(q, words));
#pragma unroll
      for (int j = 0; j < PIECE; j++)
        w[q * PIECE + j] = piece[j];
    }
  }
  static __device__ __forceinline__ void store(uint32_t *at, const uint32_t (&w)[K], int words) {
#pragma unroll
    for (int q = 0; q < K / PIECE; q++) {
      uint32_t piece[PIECE];
#pragma unroll
      for (int j = 0; j < PIECE; j++)
        piece[j] = w[q * PIECE + j];
      sgm_store<PIECE>(at + place(q, words), piece);
    }
  }
  /* Starts to copy a lane's words, given where they start in global memory. */
  static __device__ __forceinline__ void copy(uint32_t *at, const uint32_t *from, int words) {
#pragma unroll
    for (int q = 0; q < K / PIECE; q++)
      __pipeline_memcpy_async(at + place(q, words), from + q * PIECE, PIECE * sizeof(uint32_t));
  }
};

template <int G, int K>
static __device__ __forceinline__ uint32_t floor_of(const uint32_t (&l)[K], const SgmLane &self) {
  uint32_t smallest = 0xffffffffu;
#pragma unroll
  for (int j = 0; j < K; j++)
    smallest = sgm_min2(smallest, l[j]);
  return sgm_group_min<G>(self.active ? smallest : 0xffffffffu);
}

/* State of the slanted path that stands in column x before the band, into its slot. A path that
 * starts has l = 0 and minimum 0: that is what the slots of columns outside the picture hold in
 * both turns, for good. The whole warp takes part. */
template <int G, int K, typename Census>
static __device__ void take_state(const SweepArgs &a, const SweepShared<Census> &m,
                                  const SgmLane &self, int state, int side, int x, int slot,
                                  bool wanted) {
  const bool inside = x >= 0 && x < a.scene.width;
  uint32_t l[K] = {};
  if (a.row > 0 && wanted && inside && self.active)
    sgm_load<K>(l, a.diagonal_in + ((size_t)(2 * state + side) * a.scene.width + x) * m.words +
                       self.first_word);
  const uint32_t floor2 = floor_of<G, K>(l, self);
  if (!wanted)
    return;
  for (int turn = 0; turn < (inside ? 1 : 2); turn++) {
    const int at = m.at(turn, side, slot);
    if (self.active)
      SweepLane<G, K>::store(m.l + (size_t)at * m.words, l, m.words);
    if (self.first)
      m.floor2[at] = inside ? floor2 : 0;
  }
}

/* A column's place. What none of its warp's columns needs is left out. */
struct SweepColumn {
  int c, x, sweep, state;
  bool inside, own, any_own;
  int last_row[2]; /* outside the strip: until when the path of a side is wanted; -1: never */
};

/* Column c of the left halo is right up to row c of the band, and not wanted afterwards. */
template <int G> static __device__ SweepColumn sweep_column(const SweepArgs &a) {
  enum { SIDE_BY_SIDE = 32 / G }; /* columns of a warp */
  const int columns = a.strip + 2 * a.halo;
  SweepColumn col;
  col.c = (int)threadIdx.x / G;
  col.x = (int)blockIdx.x * a.strip - a.halo + col.c;
  col.sweep = a.sweep + (int)blockIdx.y;
  col.state = a.state + (int)blockIdx.y;
  col.inside = col.x >= 0 && col.x < a.scene.width;
  col.own = col.inside && col.c >= a.halo && col.c < a.halo + a.strip;
  col.any_own = __any_sync(SGM_WARP, col.own);
  const bool left = col.inside && col.c < a.halo + a.strip, right = col.inside && col.c >= a.halo;
  const int first = col.c - col.c % SIDE_BY_SIDE;
  col.last_row[0] = __any_sync(SGM_WARP, left) ? first + SIDE_BY_SIDE - 1 : -1;
  col.last_row[1] = __any_sync(SGM_WARP, right) ? columns - 1 - first : -1;
  return col;
}

/* Fills the slots of the block's columns and of their two neighbours. */
template <int G, int K, typename Census>
static __device__ void take_states(const SweepArgs &a, const SweepShared<Census> &m,
                                   const SgmLane &self, const SweepColumn &col) {
  const int rim = col.c == 0 ? -1 : 1;
  for (int side = 0; side < 2; side++) {
    take_state<G, K>(a, m, self, col.state, side, col.x, col.c + 1, true);
    take_state<G, K>(a, m, self, col.state, side, col.x + rim, col.c + 1 + rim,
                     col.c == 0 || col.c == m.columns - 1);
  }
}

/* P2 of a row's steps: straight, and of the two sides. */
struct SweepPenalty {
  uint32_t straight, side[2];

  __device__ __forceinline__ SweepPenalty(const SweepArgs &a, int sweep, int x, int row, int dy,
                                          bool started) {
    const SgmScene &s = a.scene;
    straight = side[0] = side[1] = (uint32_t)s.p2 * 0x10001u;
    if (!s.adaptive || !started)
      return;
    const int y = row + a.skipped[sweep];
    straight = sgm_p2(s, x, y, 0, dy, true);
    side[0] = sgm_p2(s, x, y, 1, dy, x > 0);
    side[1] = sgm_p2(s, x, y, -1, dy, x < s.width - 1);
  }
};

/* One row of the slanted path of a side: from the neighbour's slot to the own one. */
template <int G, int K, typename Census>
static __device__ __forceinline__ void
diagonal_step(const SweepArgs &a, const SweepShared<Census> &m, const SgmLane &self,
              const SweepColumn &col, int side, int turn, uint32_t p2, const uint32_t (&cost)[K],
              uint32_t (&sum)[K]) {
  const int from = m.at(turn, side, col.c + (side ? 2 : 0)), to = m.at(turn + 1, side, col.c + 1);
  uint32_t l[K] = {}, floor2 = m.floor2[from];
  if (self.active)
    SweepLane<G, K>::load(l, m.l + (size_t)from * m.words, m.words);
  sgm_path_step<G, K>(l, floor2, cost, (uint32_t)a.scene.p1 * 0x10001u, p2, self);
  if (self.active && col.inside)
    SweepLane<G, K>::store(m.l + (size_t)to * m.words, l, m.words);
  if (self.first && col.inside)
    m.floor2[to] = floor2;
#pragma unroll
  for (int j = 0; j < K; j++)
    sum[j] += l[j];
}

/* States after the band, for the next one. */
template <int G, int K, typename Census>
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
    SweepLane<G, K>::load(l, m.l + (size_t)m.at(a.rows, side, col.c + 1) * m.words, m.words);
    sgm_store<K>(a.diagonal_out + ((size_t)(2 * col.state + side) * a.scene.width + x) * m.words +
                     self.first_word,
                 l);
  }
}

template <int G, int K, typename Census, bool SLANTED>
static __global__ void __launch_bounds__(sweep_threads(K, SLANTED))
    sweep_kernel(const SweepArgs a) {
  extern __shared__ __align__(16) char memory[];
  const SgmScene &scene = a.scene;
  const int words = scene.words;
  const SgmLane self = sgm_lane<G, K>(words);
  const SweepColumn col = sweep_column<G>(a);
  SweepShared<Census> m;
  SweepShared<Census>::place(&m, memory, a.strip, a.halo, words, SLANTED);
  const int dy = col.sweep ? -1 : 1, first = col.sweep ? scene.height - 1 - a.row : a.row;
  const int x = rv_clamp(col.x, 0, scene.width - 1), own = col.c - a.halo;
  uint32_t *const sums = a.sums + ((size_t)first * scene.width + x) * words + self.first_word;
  const ptrdiff_t pitch = (ptrdiff_t)dy * scene.width * words;
  const bool keeps = col.own && self.active;
  const int row0 = first - a.skipped[col.sweep]; /* among the descriptors */
  const auto fetch = [&](int s) {
    if (s < a.rows) {
      m.fetch(scene, col.x - col.c, row0 + s * dy, s);
      if (a.add && keeps)
        SweepLane<G, K>::copy(m.sum(s, own), sums + s * pitch, words);
    }
    __pipeline_commit();
  };
  for (int s = 0; s < AHEAD; s++)
    fetch(s);
  uint32_t straight[K] = {};
  if (a.row > 0 && keeps)
    sgm_load<K>(straight,
                a.straight + (col.state * (size_t)scene.width + x) * words + self.first_word);
  uint32_t floor2 = floor_of<G, K>(straight, self);
  if (SLANTED)
    take_states<G, K>(a, m, self, col);
  for (int s = 0; s < a.rows; s++) {
    __pipeline_wait_prior(AHEAD - 1);
    __syncthreads(); /* row s is there; row s - 1 is done with */
    fetch(s + AHEAD);
    const Census here = m.left_row(s)[col.c];
    const Census *low = m.right_row(s) + col.c + 2 * words - 1 - self.first_word;
    uint32_t cost[K], sum[K] = {};
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] = sgm_hamming(here, low[-j]) + (sgm_hamming(here, low[-j - words]) << 16);
    if (a.add && keeps)
      SweepLane<G, K>::load(sum, m.sum(s, own), words);
    const SweepPenalty p2(a, col.sweep, x, row0 + s * dy, dy, a.row + s > 0);
    if (col.any_own) {
      sgm_path_step<G, K>(straight, floor2, cost, (uint32_t)scene.p1 * 0x10001u, p2.straight, self);
#pragma unroll
      for (int j = 0; j < K; j++)
        sum[j] += straight[j];
      if (SLANTED) {
        diagonal_step<G, K>(a, m, self, col, 0, s, p2.side[0], cost, sum);
        diagonal_step<G, K>(a, m, self, col, 1, s, p2.side[1], cost, sum);
      }
    } else if (SLANTED) {
      for (int side = 0; side < 2; side++)
        if (col.last_row[side] >= s)
          diagonal_step<G, K>(a, m, self, col, side, s, p2.side[side], cost, sum);
    }
    if (keeps)
      sgm_store<K>(sums + s * pitch, sum);
  }
  __syncthreads();
  leave_states<G, K>(a, m, self, col, straight, SLANTED);
}

/* Picks lanes and words a lane: few lanes, since few exchanges count most, as long as the registers
 * suffice. */
#define SGM_FOR_SWEEP(words, G, K, ...)                                                            \
  do {                                                                                             \
    if ((words) <= 16) {                                                                           \
      constexpr int G = 8, K = 2;                                                                  \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 32) {                                                                    \
      constexpr int G = 8, K = 4;                                                                  \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 64) {                                                                    \
      constexpr int G = 8, K = 8;                                                                  \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 128) {                                                                   \
      constexpr int G = 16, K = 8;                                                                 \
      __VA_ARGS__;                                                                                 \
    } else {                                                                                       \
      constexpr int G = 16, K = 16;                                                                \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  } while (0)

template <int G, int K, typename Census>
static RvStatus launch(const RvSgmConfig *config, const SweepArgs &a, int sweeps, RvStream stream) {
  const dim3 grid(rv_div_up(a.scene.width, a.strip), sweeps);
  SweepShared<Census> unused;
  const size_t shared =
      SweepShared<Census>::place(&unused, NULL, a.strip, a.halo, a.scene.words, true);
  const int threads = (a.strip + 2 * a.halo) * G; /* whole warps */
  sweep_kernel<G, K, Census, true><<<grid, threads, shared, stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

static RvStatus launch_any(const RvSgmConfig *config, const SweepArgs &a, int sweeps,
                           RvStream stream) {
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_SWEEP(a.scene.words, G, K, return (launch<G, K, uint64_t>(config, a, sweeps, stream)));
  else
    SGM_FOR_SWEEP(a.scene.words, G, K, return (launch<G, K, uint32_t>(config, a, sweeps, stream)));
}

/* Rows from .. to - 1 of `sweeps` sweeps, band by band. */
static RvStatus run_bands(const RvSgmConfig *config, SweepArgs *a, int sweeps, int from, int to,
                          RvStream stream) {
  const int band = a->halo + 1;
  for (a->row = from; a->row < to; a->row += a->rows) {
    a->rows = rv_min(band, to - a->row);
    RV_TRY(launch_any(config, *a, sweeps, stream));
    uint32_t *const read = a->diagonal_out;
    a->diagonal_out = (uint32_t *)a->diagonal_in;
    a->diagonal_in = read;
  }
  return RV_OK;
}

/* The same with the descriptors of these rows: they are there, or are worked out window by window,
 * whole bands at a time where the window has room for one. */
static RvStatus run_rows(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                         SweepArgs *a, int sweeps, int from, int to) {
  if (work->window >= config->height)
    return run_bands(config, a, sweeps, from, to, job->stream);
  const int band = work->halo + 1;
  int most = work->window / sweeps;
  most -= most > band ? most % band : 0;
  for (int first = from; first < to; first += most) {
    const int end = rv_min(first + most, to), count = end - first;
    const SgmRows down = {first, count, 0};
    const SgmRows up = {config->height - end, count, sweeps == 2 ? count : 0};
    const SgmRows pieces[2] = {a->sweep ? up : down, up};
    RV_TRY(sgm_cuda_census(work, config, job, pieces, sweeps));
    a->skipped[0] = down.first - down.to, a->skipped[1] = up.first - up.to;
    RV_TRY(run_bands(config, a, sweeps, first, end, job->stream));
  }
  return RV_OK;
}

RvStatus sgm_cuda_sweeps(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  if (config->paths != 8)
    return sgm_cuda_vertical(work, config, job);
  if (work->resident)
    return sgm_cuda_diagonal(work, config, job);
  SweepArgs a = {};
  a.scene = sgm_cuda_scene(work, config, job);
  a.sums = work->sums, a.straight = work->straight;
  a.diagonal_in = work->slanted[0], a.diagonal_out = work->slanted[1];
  a.strip = work->strip, a.halo = work->halo;
  const int height = config->height, half = height / 2;
  RV_TRY(run_rows(work, config, job, &a, 2, 0, half));
  if (height % 2) { /* both come to the middle row: one after the other */
    SweepArgs middle = a;
    RV_TRY(run_rows(work, config, job, &middle, 1, half, half + 1));
    middle = a;
    middle.sweep = 1, middle.state = 1, middle.add = 1;
    RV_TRY(run_rows(work, config, job, &middle, 1, half, half + 1));
    a.diagonal_in = middle.diagonal_in, a.diagonal_out = middle.diagonal_out;
  }
  a.add = 1;
  return run_rows(work, config, job, &a, 2, half + height % 2, height);
}

/* --- Memory and shape ------------------------------------------------------------------------ */

/* Down and up at once need states each. */
static int sweeps_of(const RvSgmConfig *config) {
  return config->paths == 2 ? 1 : 2;
}

size_t sgm_cuda_sweeps_states(const RvSgmConfig *config) {
  const size_t state = config->disparities / 2 * sizeof(uint32_t);
  return state * sweeps_of(config) * (config->paths == 8 ? 5 : 1);
}

void sgm_cuda_sweeps_layout(SgmCuda *work, const RvSgmConfig *config, RvArena *arena) {
  const size_t state = config->disparities / 2 * sizeof(uint32_t);
  const size_t bytes = state * sweeps_of(config) * config->width;
  work->straight = (uint32_t *)rv_arena_take(arena, bytes);
  for (int i = 0; i < 2 && config->paths == 8; i++)
    work->slanted[i] = (uint32_t *)rv_arena_take(arena, 2 * bytes);
}

/* Strip and halo that make the slanted sweeps shortest: launches against repeated columns against
 * multiprocessors without work. Times in µs, fitted on an H200. */
static void choose_strip(SgmCuda *work, const RvSgmConfig *config, int columns, int unit,
                         int processors) {
  const double launch_us = 6, row_us = 0.2, column_us = 0.016 * config->disparities / 128;
  double best = 0;
  for (int strip = unit; strip <= columns; strip += unit) {
    const int blocks = sweeps_of(config) * rv_div_up(config->width, strip);
    const int waves = rv_div_up(blocks, processors);
    for (int halo = 0; strip + 2 * halo <= columns; halo += unit) {
      const double busy = waves * column_us * (strip + 0.8 * halo);
      const double row = busy > row_us ? busy : row_us;
      const double launches = (double)config->height / (halo + 1);
      const double time = launches * launch_us + config->height * row;
      if (best == 0 || time < best) {
        best = time;
        work->strip = strip, work->halo = halo;
      }
    }
  }
}

template <int G, int K, typename Census>
static RvStatus open_diagonal(SgmCuda *work, const RvSgmConfig *config) {
  const int words = config->disparities / 2;
  int device = 0, processors = 1, shared = 48 * 1024;
  RV_CU(&config->log, cudaGetDevice(&device));
  RV_CU(&config->log, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  RV_CU(&config->log,
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int unit = 32 / G; /* columns of a warp */
  int columns = sweep_threads(K, true) / G;
  SweepShared<Census> unused;
  while (columns > unit && /* all columns own: what takes the most */
         SweepShared<Census>::place(&unused, NULL, columns, 0, words, true) > (size_t)shared)
    columns -= unit;
  choose_strip(work, config, columns, unit, processors);
  RV_CU(&config->log, cudaFuncSetAttribute(sweep_kernel<G, K, Census, true>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  return RV_OK;
}

RvStatus sgm_cuda_sweeps_open(SgmCuda *work, const RvSgmConfig *config) {
  const int words = config->disparities / 2;
  if (config->paths != 8)
    return RV_OK;
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_SWEEP(words, G, K, return (open_diagonal<G, K, uint64_t>(work, config)));
  else
    SGM_FOR_SWEEP(words, G, K, return (open_diagonal<G, K, uint32_t>(work, config)));
}
