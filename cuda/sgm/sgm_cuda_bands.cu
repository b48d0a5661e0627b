/* SPDX-License-Identifier: MIT */
/* sgm_cuda_bands.cu: the vertical direction and its two diagonals of 8 paths in one sweep over the
 * rows, with one evaluation of the costs and one addition to the sums; both sweeps, down and up, at
 * the same time. Used where sgm_cuda_diagonal.cu cannot be: images too wide for all blocks to be on
 * the GPU at once (benchmark sgm/3840x2160-d128-p8), descriptors in windows
 * (sgm/1242x375-d32-p8 and -d64-p8-census), GPUs before compute capability 8.0.
 *
 * A launch takes a band of rows. A block owns a strip of columns, a group of lanes a column. The
 * vertical path stays in the lanes' registers; the diagonal ones move by one column per row, so
 * their states go through shared memory. States that would come from columns of the neighboring
 * blocks during the band are recomputed from the states at the start of the band: a halo of columns
 * on each side, of which one is lost with every row. States pass from band to band in global
 * memory.
 *
 * Down and up run in the same launch: while they are in different halves of the image each sets the
 * sums that it reaches first, in the second half it adds to those of the other. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_cost.cuh"

#include <cuda_pipeline_primitives.h>

namespace {

enum { AHEAD = 3, STAGES = AHEAD + 1 }; /* rows whose copies are in flight */

/* Maximum threads of a block, so that the registers suffice. */
constexpr int band_threads(int k) {
  return k <= 8 ? 512 : 256;
}

struct BandArgs {
  SgmScene scene;
  uint32_t *sums;
  uint32_t *vertical;          /* [state][x][words] */
  const uint32_t *diagonal_in; /* [state][side][x][words] */
  uint32_t *diagonal_out;
  int row, rows;    /* of the band, counted in the direction of the sweep */
  int skipped[2];   /* image row of row 0 of the descriptors, by sweep */
  int sweep, state; /* of blockIdx.y 0: 0 down, 1 up; index of its states */
  int add;          /* 0: the sums are set */
  int strip, halo;
};

/* The block's shared memory: input of a row, copied from global memory AHEAD rows earlier, and the
 * states of the diagonal paths, [turn][side][slot][words], with their minima; one turn is read
 * while the next one is written. Slot c + 1 is that of column c of the block; side 0 comes from the
 * left, 1 from the right. Words of a state lie in pieces, see BandLane. */
template <typename Census> struct BandShared {
  uint32_t *l, *floor2;
  uint32_t *sums; /* [stage][own column][words], in pieces */
  Census *right;  /* [stage][c - k + 2 * words - 1] */
  Census *left;   /* [stage][c] */
  int columns, strip, slots, words;

  static __host__ __device__ size_t place(BandShared *m, char *base, int strip, int halo,
                                          int words) {
    const size_t columns = strip + 2 * halo, states = 4 * (columns + 2);
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
    const Census *from = (const Census *)s.right + (size_t)y * s.pitch;
    const Census *from_left = (const Census *)s.left + (size_t)y * s.pitch;
    Census *to = right_row(turn), *to_left = left_row(turn);
    const int first = x0 - (2 * words - 1) - s.min_disparity;
    for (int t = (int)threadIdx.x; t < columns + 2 * words - 1; t += (int)blockDim.x)
      __pipeline_memcpy_async(&to[t], &from[rv_clamp(first + t, 0, s.width - 1)], sizeof(Census));
    for (int t = (int)threadIdx.x; t < columns; t += (int)blockDim.x)
      __pipeline_memcpy_async(&to_left[t], &from_left[rv_clamp(x0 + t, 0, s.width - 1)],
                              sizeof(Census));
  }
};

/* A lane's words in shared memory: pieces of four words, one piece of all lanes before the next
 * one, so that the accesses of the lanes are contiguous. */
template <int G, int K> struct BandLane {
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
__device__ __forceinline__ uint32_t floor_of(const uint32_t (&l)[K], const SgmLane &self) {
  uint32_t smallest = 0xffffffffu;
#pragma unroll
  for (int j = 0; j < K; j++)
    smallest = sgm_min2(smallest, l[j]);
  return sgm_group_min<G>(self.active ? smallest : 0xffffffffu);
}

/* State of the diagonal path that is in column x before the band, into its slot. A path that starts
 * has l = 0 and minimum 0: the permanent content of the slots of columns outside the image, in both
 * turns. All lanes of the warp must take part. */
template <int G, int K, typename Census>
__device__ void take_state(const BandArgs &a, const BandShared<Census> &m, const SgmLane &self,
                           int state, int side, int x, int slot, bool wanted) {
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
      BandLane<G, K>::store(m.l + (size_t)at * m.words, l, m.words);
    if (self.first)
      m.floor2[at] = inside ? floor2 : 0;
  }
}

/* Position of a column. Paths that no column of its warp needs are omitted. */
struct BandColumn {
  int c, x, sweep, state;
  bool inside, own, any_own;
  int last_row[2]; /* outside the strip: last row in which the path of a side is needed; -1: none */
};

/* Column c of the left halo is correct up to row c of the band, and not needed afterwards. */
template <int G> __device__ BandColumn band_column(const BandArgs &a) {
  enum { SIDE_BY_SIDE = 32 / G }; /* columns of a warp */
  const int columns = a.strip + 2 * a.halo;
  BandColumn col;
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

/* Fills the slots of the block's columns and of their two neighbors. */
template <int G, int K, typename Census>
__device__ void take_states(const BandArgs &a, const BandShared<Census> &m, const SgmLane &self,
                            const BandColumn &col) {
  const int rim = col.c == 0 ? -1 : 1;
  for (int side = 0; side < 2; side++) {
    take_state<G, K>(a, m, self, col.state, side, col.x, col.c + 1, true);
    take_state<G, K>(a, m, self, col.state, side, col.x + rim, col.c + 1 + rim,
                     col.c == 0 || col.c == m.columns - 1);
  }
}

/* P2 of the steps of a row: vertical, and of the two sides. */
struct BandPenalty {
  uint32_t vertical, side[2];

  __device__ __forceinline__ BandPenalty(const BandArgs &a, int sweep, int x, int row, int dy,
                                         bool started) {
    const SgmScene &s = a.scene;
    vertical = side[0] = side[1] = (uint32_t)s.p2 * 0x10001u;
    if (!s.adaptive || !started)
      return;
    const int y = row + a.skipped[sweep];
    vertical = sgm_p2(s, x, y, 0, dy, true);
    side[0] = sgm_p2(s, x, y, 1, dy, x > 0);
    side[1] = sgm_p2(s, x, y, -1, dy, x < s.width - 1);
  }
};

/* One row of the diagonal path of a side: from the neighbor's slot to the own one. */
template <int G, int K, typename Census>
__device__ __forceinline__ void diagonal_step(const BandArgs &a, const BandShared<Census> &m,
                                              const SgmLane &self, const BandColumn &col, int side,
                                              int turn, uint32_t p2, const uint32_t (&cost)[K],
                                              uint32_t (&sum)[K]) {
  const int from = m.at(turn, side, col.c + (side ? 2 : 0)), to = m.at(turn + 1, side, col.c + 1);
  uint32_t l[K] = {}, floor2 = m.floor2[from];
  if (self.active)
    BandLane<G, K>::load(l, m.l + (size_t)from * m.words, m.words);
  sgm_path_step<G, K>(l, floor2, cost, sgm_p1(a.scene, col.sweep), p2, self);
  if (self.active && col.inside)
    BandLane<G, K>::store(m.l + (size_t)to * m.words, l, m.words);
  if (self.first && col.inside)
    m.floor2[to] = floor2;
#pragma unroll
  for (int j = 0; j < K; j++)
    sum[j] += l[j];
}

/* States after the band, for the next one. */
template <int G, int K, typename Census>
__device__ void leave_states(const BandArgs &a, const BandShared<Census> &m, const SgmLane &self,
                             const BandColumn &col, const uint32_t (&vertical)[K]) {
  if (!col.own || !self.active)
    return;
  const size_t x = (size_t)col.x;
  sgm_store<K>(a.vertical + (col.state * (size_t)a.scene.width + x) * m.words + self.first_word,
               vertical);
  for (int side = 0; side < 2; side++) {
    uint32_t l[K];
    BandLane<G, K>::load(l, m.l + (size_t)m.at(a.rows, side, col.c + 1) * m.words, m.words);
    sgm_store<K>(a.diagonal_out + ((size_t)(2 * col.state + side) * a.scene.width + x) * m.words +
                     self.first_word,
                 l);
  }
}

template <int G, int K, typename Census>
__global__ void __launch_bounds__(band_threads(K)) band_kernel(const BandArgs a) {
  extern __shared__ __align__(16) char memory[];
  const SgmScene &scene = a.scene;
  const int words = scene.words;
  const SgmLane self = sgm_lane<G, K>(words);
  const BandColumn col = band_column<G>(a);
  BandShared<Census> m;
  BandShared<Census>::place(&m, memory, a.strip, a.halo, words);
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
        BandLane<G, K>::copy(m.sum(s, own), sums + s * pitch, words);
    }
    __pipeline_commit();
  };
  for (int s = 0; s < AHEAD; s++)
    fetch(s);
  uint32_t vertical[K] = {};
  if (a.row > 0 && keeps)
    sgm_load<K>(vertical,
                a.vertical + (col.state * (size_t)scene.width + x) * words + self.first_word);
  uint32_t floor2 = floor_of<G, K>(vertical, self);
  take_states<G, K>(a, m, self, col);
  for (int s = 0; s < a.rows; s++) {
    __pipeline_wait_prior(AHEAD - 1);
    __syncthreads(); /* row s has arrived; row s - 1 is finished */
    fetch(s + AHEAD);
    const Census here = m.left_row(s)[col.c];
    const Census *low = m.right_row(s) + col.c + 2 * words - 1 - self.first_word;
    uint32_t cost[K], sum[K] = {};
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] = sgm_limit<Census>(
          sgm_hamming(here, low[-j]) + (sgm_hamming(here, low[-j - words]) << 16), scene.limit);
    if (a.add && keeps)
      BandLane<G, K>::load(sum, m.sum(s, own), words);
    const BandPenalty p2(a, col.sweep, x, row0 + s * dy, dy, a.row + s > 0);
    if (col.any_own) {
      sgm_path_step<G, K>(vertical, floor2, cost, sgm_p1(scene, col.sweep), p2.vertical, self);
#pragma unroll
      for (int j = 0; j < K; j++)
        sum[j] += vertical[j];
      diagonal_step<G, K>(a, m, self, col, 0, s, p2.side[0], cost, sum);
      diagonal_step<G, K>(a, m, self, col, 1, s, p2.side[1], cost, sum);
    } else {
      for (int side = 0; side < 2; side++)
        if (col.last_row[side] >= s)
          diagonal_step<G, K>(a, m, self, col, side, s, p2.side[side], cost, sum);
    }
    if (keeps)
      sgm_store<K>(sums + s * pitch, sum);
  }
  __syncthreads();
  leave_states<G, K>(a, m, self, col, vertical);
}

/* Picks lanes and words per lane: few lanes, since few exchanges matter most, as long as the
 * registers suffice. */
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
RvStatus launch(const RvSgmJob *job, const BandArgs &a, int sweeps) {
  const dim3 grid(rv_div_up(a.scene.width, a.strip), sweeps);
  BandShared<Census> unused;
  const size_t shared = BandShared<Census>::place(&unused, NULL, a.strip, a.halo, a.scene.words);
  const int threads = (a.strip + 2 * a.halo) * G; /* complete warps */
  return rv_launch(&job->plan->config.log, band_kernel<G, K, Census>, grid, threads, shared,
                   job->stream, false, a);
}

RvStatus launch_any(const RvSgmJob *job, const BandArgs &a, int sweeps) {
  SGM_FOR_DESCRIPTOR(job->plan, Census, {
    SGM_FOR_SWEEP(a.scene.words, G, K, return (launch<G, K, Census>(job, a, sweeps)));
  });
}

/* Rows from .. to - 1 of `sweeps` sweeps, band by band. */
RvStatus run_bands(const RvSgmJob *job, BandArgs *a, int sweeps, int from, int to) {
  const int band = a->halo + 1;
  for (a->row = from; a->row < to; a->row += a->rows) {
    a->rows = rv_min(band, to - a->row);
    RV_TRY(launch_any(job, *a, sweeps));
    uint32_t *const read = a->diagonal_out;
    a->diagonal_out = (uint32_t *)a->diagonal_in;
    a->diagonal_in = read;
  }
  return RV_OK;
}

/* The same with the descriptors of these rows: they are there, or are computed window by window,
 * complete bands at a time where one fits the window. */
RvStatus run_rows(const SgmCuda *work, const RvSgmJob *job, BandArgs *a, int sweeps, int from,
                  int to) {
  const int height = job->plan->config.height;
  if (work->window >= height)
    return run_bands(job, a, sweeps, from, to);
  const int band = work->halo + 1;
  int most = work->window / sweeps;
  most -= most > band ? most % band : 0;
  for (int first = from; first < to; first += most) {
    const int end = rv_min(first + most, to), count = end - first;
    const SgmRows down = {first, count, 0};
    const SgmRows up = {height - end, count, sweeps == 2 ? count : 0};
    const SgmRows pieces[2] = {a->sweep ? up : down, up};
    RV_TRY(sgm_cuda_census(work, job, pieces, sweeps));
    a->skipped[0] = down.first - down.to, a->skipped[1] = up.first - up.to;
    RV_TRY(run_bands(job, a, sweeps, first, end));
  }
  return RV_OK;
}

/* Strip and halo of the shortest time: launches against repeated columns against idle SMs. Times in
 * µs, fitted on an H200 at 128 disparities. */
void choose_strip(SgmCuda *work, const RvSgmConfig *config, int columns, int unit, int sms) {
  const double launch_us = 6, row_us = 0.2, column_us = 0.016 * config->disparities / 128;
  double best = 0;
  for (int strip = unit; strip <= columns; strip += unit) {
    const int waves = rv_div_up(2 * rv_div_up(config->width, strip), sms);
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
RvStatus open_bands(SgmCuda *work, const RvSgmConfig *config) {
  const RvLog *log = &config->log;
  const int words = config->disparities / 2;
  int device = 0, shared = 48 * 1024;
  RvCudaDevice limits;
  RV_CU(log, cudaGetDevice(&device));
  RV_TRY(rv_cuda_device(log, &limits));
  RV_CU(log, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int unit = 32 / G; /* columns of a warp */
  int columns = band_threads(K) / G;
  BandShared<Census> unused;
  while (columns > unit && /* without a halo: the maximum */
         BandShared<Census>::place(&unused, NULL, columns, 0, words) > (size_t)shared)
    columns -= unit;
  choose_strip(work, config, columns, unit, limits.processors);
  RV_CU(log, cudaFuncSetAttribute(band_kernel<G, K, Census>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  return RV_OK;
}

} // namespace

RvStatus sgm_cuda_bands(const SgmCuda *work, const RvSgmJob *job) {
  BandArgs a = {};
  a.scene = sgm_cuda_scene(work, job);
  a.sums = work->sums, a.vertical = work->vertical_states;
  a.diagonal_in = work->diagonal_states[0], a.diagonal_out = work->diagonal_states[1];
  a.strip = work->strip, a.halo = work->halo;
  const int height = a.scene.height, half = height / 2;
  RV_TRY(run_rows(work, job, &a, 2, 0, half));
  if (height % 2) { /* both reach the middle row: one after the other */
    BandArgs middle = a;
    RV_TRY(run_rows(work, job, &middle, 1, half, half + 1));
    middle = a;
    middle.sweep = 1, middle.state = 1, middle.add = 1;
    RV_TRY(run_rows(work, job, &middle, 1, half, half + 1));
    a.diagonal_in = middle.diagonal_in, a.diagonal_out = middle.diagonal_out;
  }
  a.add = 1;
  return run_rows(work, job, &a, 2, half + height % 2, height);
}

RvStatus sgm_cuda_bands_open(SgmCuda *work, const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  SGM_FOR_DESCRIPTOR(plan, Census, {
    SGM_FOR_SWEEP(config->disparities / 2, G, K, return (open_bands<G, K, Census>(work, config)));
  });
}
