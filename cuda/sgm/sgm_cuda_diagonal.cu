/* SPDX-License-Identifier: MIT */
/* sgm_cuda_diagonal.cu: the vertical directions and their diagonals of 8 paths, all rows in one
 * cooperative launch whose blocks are on the GPU at the same time (benchmark sgm/1242x375-d128-p8
 * and the other rows with 8 paths; sgm_cuda_bands.cu does those that it cannot).
 *
 * A block owns a strip of columns of one sweep, down or up; a warp takes one column, or two. The
 * vertical path stays in the warp's registers; the diagonal ones move by one column per row, so
 * their states go through shared memory. There is no barrier of the block: a warp waits until its
 * two neighbors have finished the previous row. Two warps copy descriptors; two more work for the
 * halo, the columns of the neighboring strips next to the own one: from strip to strip states go
 * through global memory, every HALO rows those of the HALO columns at each edge, and in between the
 * incoming path is recomputed.
 *
 * This exchange needs no fence: states of 8 paths need 13 bits per half (paths * (bits + p2) <=
 * 65535), so that each word contains a tag in its upper bits. A receiver reads until all words have
 * the tag of this exchange. Two buffers are used alternately: a block that sends the exchange after
 * the next has received words that the neighbor sent after it had received this one. Receivers
 * clear the buffers at the end.
 *
 * Down and up run at the same time: each sets the sums of the half of the image that it reaches
 * first, then warps of the same columns synchronize and add to the other's half.
 * Where both do not fit the GPU, down sets all sums in a first launch, up adds in a second one.
 *
 * The warps of the columns wait for each other much of the time. Three or four more per block fill that time
 * with the first part of sgm_cuda_rows.cu: they walk along rows, from the ends to the middles. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_diagonal.cuh"

#include <cuda_pipeline_primitives.h>

namespace {

#ifdef SGM_HAS_BARRIERS
/* Waits for the descriptors of a pair; releases them. */
template <int K, int G, typename Census>
__device__ __forceinline__ void enter_pair(uint32_t shared, const DiagonalPair &pair) {
  barrier_wait(shared + pair.stage + 2 * DiagonalShared<K, G, Census>::ROW, pair.round);
}
template <int K, int G, typename Census>
__device__ __forceinline__ void leave_pair(uint32_t shared, const DiagonalPair &pair) {
  barrier_arrive(shared + pair.stage + 2 * DiagonalShared<K, G, Census>::ROW + 8);
}

/* A row of the strip's columns: sets or adds three paths; `sends` after an odd row only. The
 * vertical path needs no neighbor, so it does the row after this one, whose descriptors are at
 * `after`: its reduction and exchanges pass beside those of the diagonal ones. After the last row
 * that is a step without a use. */
template <int K, int G, typename Census, bool ADAPTIVE, int ODD, DiagonalSums SUMS, class Args>
__device__ __forceinline__ void own_row(const Args &a, const DiagonalPlace &at,
                                        const DiagonalDescriptors &from, const DiagonalPair &pair,
                                        uint32_t after, const DiagonalLane &self,
                                        DiagonalOwn<K * 32 / G> &own, const SgmP1 &p1,
                                        const DiagonalExchange &exchange, bool sends) {
  using Shared = DiagonalShared<K, G, Census>;
  enum { W = K * 32 / G };
  const int s = pair.s + ODD, rows = a.scene.height, dy = a.sweep() ? -1 : 1;
  if (SUMS == CHANGE && s == own.setting) {
    if constexpr (!Args::ONE)
      meet(a.met, __shfl_sync(SGM_WARP, own.x, 0), a.scene.width);
    load_sums(own.before, own.sums);
  }
  const DiagonalPenalty<ADAPTIVE> p2(a, own.x, dy < 0 ? rows - 1 - s : s, dy, s > 0);
  const uint32_t p2_after =
      vertical_p2<ADAPTIVE>(a, own.x, dy < 0 ? rows - 2 - s : s + 1, dy, s + 1 < rows);
  uint32_t cost[W], sum[W], left[W], right[W];
  enter_row<ODD>(at, pair);
  Shared::load(left, at.slot + Shared::state(ODD, 0) - Shared::SLOT);
  Shared::load(right, at.slot + Shared::state(ODD, 1) + Shared::SLOT);
  const DiagonalAround near = diagonal_around<G>(own.vertical, self);
  const DiagonalAround near_left = diagonal_around<G>(left, self);
  const DiagonalAround near_right = diagonal_around<G>(right, self);
  costs_of<K, G, W, Census>(cost, a, from, after); /* while the reductions take place */
#  pragma unroll
  for (int j = 0; j < W; j++)
    sum[j] = own.vertical[j];
  diagonal_step(own.vertical, near, cost, p1, p2_after, self);
  diagonal_step(left, near_left, own.cost, p1, p2.side[0], self);
  diagonal_step(right, near_right, own.cost, p1, p2.side[1], self);
  if (own.keeps) {
    Shared::store(at.slot + Shared::state(1 - ODD, 0), left);
    Shared::store(at.slot + Shared::state(1 - ODD, 1), right);
  }
  if constexpr (Shared::SIDE_BY_SIDE > 1)
    __syncwarp(); /* the next row reads the state of the warp's other column */
  leave_row<ODD>(at, true, true);
#  pragma unroll
  for (int j = 0; j < W; j++) {
    sum[j] += left[j] + right[j] - 3 * DIAGONAL_ONE + (SUMS == SET ? 0 : own.before[j]);
    own.cost[j] = cost[j];
  }
  if (ODD && sends && own.to >= 0) {
#  pragma unroll
    for (int j = 0; j < W; j++)
      left[j] = own.to_left ? right[j] : left[j];
    send_state(a.exchange + exchange.turn + own.to, left, exchange.tag);
  }
  if (own.keeps)
    sgm_store<W>(own.sums, sum);
  own.sums = sums_after(own.sums, own.pitch);
  asm volatile("" : "+l"(own.pitch)); /* else the compiler keeps a pointer per use */
  if (SUMS == ADD || (SUMS == CHANGE && s >= own.setting && s + 1 < rows)) {
    load_sums(own.before, own.sums); /* after the use: into the same registers */
    if (SUMS == ADD || s + 1 + PREFETCH < rows)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(sums_after(own.sums, own.ahead)));
  }
}

/* Two rows of the strip's columns, or the last one. */
template <int K, int G, typename Census, bool ADAPTIVE, DiagonalSums SUMS, class Args>
__device__ __forceinline__ void own_pair(const Args &a, uint32_t shared, const DiagonalPlace &at,
                                         const DiagonalDescriptors &from, const DiagonalLane &self,
                                         DiagonalOwn<K * 32 / G> &own, const SgmP1 &p1,
                                         DiagonalPair &pair, DiagonalExchange &exchange) {
  enum { ROW = DiagonalShared<K, G, Census>::ROW };
  const int rows = a.scene.height;
  const bool sends = pair.s % HALO == HALO - 2 && pair.s + 2 < rows;
  own_row<K, G, Census, ADAPTIVE, 0, SUMS>(a, at, from, pair, pair.stage + ROW, self, own, p1,
                                           exchange, false);
  leave_pair<K, G, Census>(shared, pair);
  DiagonalPair next = pair;
  next.next<K, G, Census>();
  if (SUMS != CHANGE || next.s < rows)
    enter_pair<K, G, Census>(shared, next);
  if (SUMS != CHANGE || pair.s + 1 < rows)
    own_row<K, G, Census, ADAPTIVE, 1, SUMS>(a, at, from, pair, next.stage, self, own, p1, exchange,
                                             sends);
  pair = next;
  if (sends)
    exchange.next(a);
}

/* All rows of the strip's columns from c on. */
template <int K, int G, typename Census, bool ADAPTIVE, class Args>
__device__ __forceinline__ void own_warp(const Args &a, uint32_t shared, int c) {
  enum { W = K * 32 / G, SIDE_BY_SIDE = DiagonalShared<K, G, Census>::SIDE_BY_SIDE };
  const int rows = a.scene.height, block = (int)blockIdx.x, sweep = a.sweep();
  const DiagonalLane self = diagonal_lane<G, W>(a.scene.words);
  const int link = c / SIDE_BY_SIDE + 1;
  c += self.column;
  const DiagonalPlace at = diagonal_place<K, G, W, Census>(a, shared, link, c + 1, self);
  const DiagonalDescriptors from = diagonal_descriptors<K, G, W, Census>(a, shared, c, self);
  const int x = block * a.strip + c;
  DiagonalOwn<W> own = {};
#  pragma unroll
  for (int j = 0; j < W; j++)
    own.vertical[j] = DIAGONAL_ONE;
  own.x = rv_min(x, a.scene.width - 1);
  own.keeps = self.active && x < a.scene.width;
  /* An odd height's middle row is set by the sweep that goes down; all are where up comes after it. */
  own.setting = !Args::ONE ? rows / 2 + (sweep ? 0 : rows % 2) : sweep ? 0 : rows;
  own.to = -1;
  if (own.keeps && a.strip - c <= HALO && block + 1 < (int)gridDim.x)
    own.to = exchange_at(a, 0, block + 1, a.strip - c) + self.first_word;
  own.to_left =
      own.keeps && c < HALO && block > 0; /* not both: strips have 2 HALO columns or more */
  if (own.to_left)
    own.to = exchange_at(a, 1, block - 1, c + 1) + self.first_word;
  own.sums = a.sums + ((size_t)(sweep ? rows - 1 : 0) * a.scene.width + own.x) * a.scene.words +
             self.first_word;
  own.pitch = (ptrdiff_t)(sweep ? -4 : 4) * a.scene.width * a.scene.words;
  SgmP1 p1 = sgm_p1(a.scene, sweep);
  own.ahead = PREFETCH * own.pitch;
  asm volatile("" : "+l"(own.pitch), "+l"(own.ahead));
  keep(own.to), keep(p1.below), keep(p1.above);
  DiagonalPair pair = {};
  DiagonalExchange exchange = {0, 1u << TAG_BIT};
  leave_row<1>(at, true, true); /* row -1 needs no wait */
  enter_pair<K, G, Census>(shared, pair);
  costs_of<K, G, W, Census>(own.cost, a, from, pair.stage);
  diagonal_step<G>(own.vertical, own.cost, p1, a.p2, self);
  while (pair.s < rows)
    if constexpr (
        Args::
            ONE) /* code for all rows: for large images and small GPUs alone, and a third of the size */
      own_pair<K, G, Census, ADAPTIVE, CHANGE>(a, shared, at, from, self, own, p1, pair, exchange);
    else if (pair.s + 1 < own.setting)
      own_pair<K, G, Census, ADAPTIVE, SET>(a, shared, at, from, self, own, p1, pair, exchange);
    else if (pair.s > own.setting && pair.s + 2 + PREFETCH < rows)
      own_pair<K, G, Census, ADAPTIVE, ADD>(a, shared, at, from, self, own, p1, pair, exchange);
    else
      own_pair<K, G, Census, ADAPTIVE, CHANGE>(a, shared, at, from, self, own, p1, pair, exchange);
}

/* Columns of the strip outside the image: only arrives at the neighbors' barriers. */
template <int K, int G, typename Census>
__device__ void idle_warp(const DiagonalArgs &a, uint32_t shared, int c) {
  enum { W = K * 32 / G, SIDE_BY_SIDE = DiagonalShared<K, G, Census>::SIDE_BY_SIDE };
  const DiagonalLane self = diagonal_lane<G, W>(a.scene.words);
  const DiagonalPlace at =
      diagonal_place<K, G, W, Census>(a, shared, c / SIDE_BY_SIDE + 1, c + 1, self);
  DiagonalPair pair = {};
  leave_row<1>(at, true, true);
  for (; pair.s < a.scene.height; pair.next<K, G, Census>()) {
    enter_pair<K, G, Census>(shared, pair); /* else it could release a pair not copied yet */
    enter_row<0>(at, pair);
    leave_row<0>(at, true, true);
    enter_row<1>(at, pair);
    leave_row<1>(at, true, true);
    leave_pair<K, G, Census>(shared, pair);
  }
}

/* Of the rows finished before a pair whose stage is free again, eight count for sgm_cuda_rows, if
 * they are added to. The columns go on without a fence. */
template <int PAIRS, class Args>
__device__ __forceinline__ void count_rows(const Args &a, const RowArgs &rows, int pair) {
  enum { AT_ONCE = 8 };
  static_assert(2 * PAIRS + AT_ONCE <= FINISH_TAIL, "rows for which no stage becomes free");
  const int s = pair - 2 * PAIRS + 1 - AT_ONCE + (int)threadIdx.x % 32;
  const int height = a.scene.height,
            setting = Args::ONE ? 0 : height / 2 + (a.sweep() ? 0 : height % 2);
  if (pair % AT_ONCE != AT_ONCE - 2 || (int)threadIdx.x % 32 >= AT_ONCE || s < setting)
    return;
  const int y = a.sweep() ? height - 1 - s : s;
  if (rows.counts(y))
    rows.finish(y);
}

/* Copies the descriptors of the even rows, or of the odd ones. */
template <int K, int G, typename Census, class Args>
__device__ __forceinline__ void copy_warp(const Args &a, const RowArgs &rows, uint32_t shared,
                                          int odd) {
  using Shared = DiagonalShared<K, G, Census>;
  enum { PIECES = (Shared::MAX_COLUMNS + 64 * K + 30) / 32 };
  const SgmScene &s = a.scene;
  const int columns = a.strip + 2 * HALO, lane = (int)threadIdx.x % 32;
  const int x0 = (int)blockIdx.x * a.strip - HALO;
  int right[PIECES], left[2]; /* columns that the lane copies */
#  pragma unroll
  for (int i = 0; i < PIECES; i++)
    right[i] = rv_clamp(x0 - (2 * s.words - 1) - s.min_disparity + i * 32 + lane, 0, s.width - 1);
#  pragma unroll
  for (int i = 0; i < 2; i++)
    left[i] = rv_clamp(x0 + i * 32 + lane, 0, s.width - 1);
  DiagonalPair pair = {};
  for (; pair.s < s.height; pair.next<K, G, Census>()) {
    const uint32_t stage = shared + pair.stage;
    if (pair.s >= 2 * Shared::PAIRS)
      barrier_wait(stage + 2 * Shared::ROW + 8, pair.round ^ 1);
    if constexpr (sgm_cuda_counts(32 * K, sizeof(Census)))
      if (!odd && rows.finished && pair.s >= 2 * Shared::PAIRS)
        count_rows<Shared::PAIRS>(a, rows, pair.s);
    if (pair.s + odd < s.height) {
      const int y = a.sweep() ? s.height - 1 - pair.s - odd : pair.s + odd;
      const Census *const right_row = (const Census *)s.right + (size_t)y * s.pitch;
      const Census *const left_row = (const Census *)s.left + (size_t)y * s.pitch;
      const uint32_t to = stage + odd * Shared::ROW + lane * Shared::SIZE;
#  pragma unroll
      for (int i = 0; i < PIECES; i++)
        if (i * 32 + lane < columns + 2 * s.words - 1)
#  pragma unroll
          for (int copy = 0; copy < Shared::COPIES; copy++)
            __pipeline_memcpy_async(
                Shared::template at<Census>(to + copy * (Shared::COPY + Shared::SIZE) +
                                            i * 32 * Shared::SIZE),
                right_row + right[i], sizeof(Census));
#  pragma unroll
      for (int i = 0; i < 2; i++)
        if (i * 32 + lane < columns)
          __pipeline_memcpy_async(Shared::template at<Census>(to + Shared::COPIES * Shared::COPY +
                                                              i * 32 * Shared::SIZE),
                                  left_row + left[i], sizeof(Census));
    }
    barrier_copied(stage + 2 * Shared::ROW);
  }
}

/* State of a warp with the halo of a side. */
template <int K> struct DiagonalHalo {
  int side, count; /* columns inside the image */
  int x;           /* of the first one, next to the strip; the others follow outwards */
  int exchange;    /* the lane's words of the first state that is received, in turn 0 */
  uint32_t l[HALO][K];
  DiagonalDescriptors from[HALO - 1];
};

/* A row of the halo: the incoming path, in all columns from which it can still reach the strip
 * before the next exchange; at the end of the band the states received from the neighbor. Columns
 * outside the image do the same, but keep L = 0: without a branch the steps of all columns take
 * little longer than one. */
template <int K, int G, typename Census, bool ADAPTIVE, int ROW, class Args>
__device__ __forceinline__ void halo_row(const Args &a, uint32_t shared, const DiagonalPlace &at,
                                         const DiagonalPair &pair, const DiagonalLane &self,
                                         DiagonalHalo<K> &halo, const DiagonalExchange &exchange) {
  using Shared = DiagonalShared<K, G, Census>;
  enum { COLUMNS = HALO - 1 - ROW };
  const int s = pair.s + ROW % 2, dy = a.sweep() ? -1 : 1, width = a.scene.width;
  const bool has_step = s > 0 && s < a.scene.height; /* the second row of a pair may be none */
  if constexpr (COLUMNS > 0) {
    DiagonalAround around[COLUMNS];
    uint32_t cost[COLUMNS][K];
#  pragma unroll
    for (int d = 0; d < COLUMNS; d++)
      around[d] = diagonal_around<32>(halo.l[d + 1], self);
#  pragma unroll
    for (int d = 0; d < COLUMNS; d++)
      costs_of<K, G, K, Census>(cost[d], a, halo.from[d], pair.stage + ROW % 2 * Shared::ROW);
#  pragma unroll
    for (int d = 0; d < COLUMNS; d++) {
      const int x = rv_clamp(halo.side ? halo.x + d : halo.x - d, 0, width - 1);
      const DiagonalPenalty<ADAPTIVE> p2(a, x, dy < 0 ? a.scene.height - 1 - s : s, dy, has_step);
#  pragma unroll
      for (int j = 0; j < K; j++)
        halo.l[d][j] = halo.l[d + 1][j];
      diagonal_step(halo.l[d], around[d], cost[d], sgm_p1(a.scene, dy < 0),
                    halo.side ? p2.side[1] : p2.side[0], self);
#  pragma unroll
      for (int j = 0; j < K; j++)
        halo.l[d][j] = d < halo.count ? halo.l[d][j] : (uint32_t)DIAGONAL_ONE;
    }
  }
  if (ROW == HALO - 1 && s + 1 < a.scene.height) {
    receive<K>(halo.l, a.exchange + exchange.turn + halo.exchange, a.scene.words, halo.count,
               exchange.tag);
#  pragma unroll
    for (int i = 0; i < HALO * K; i++)
      halo.l[i / K][i % K] += i / K < halo.count ? (uint32_t)DIAGONAL_ONE : 0;
  }
  enter_row<ROW % 2>(at, pair);
  if (self.active)
    Shared::store(at.slot + Shared::state(1 - ROW % 2, halo.side), halo.l[0]);
  leave_row<ROW % 2>(at, halo.side, !halo.side);
}

/* All rows of the halo of a side. */
template <int K, int G, typename Census, bool ADAPTIVE, class Args>
__device__ __forceinline__ void halo_warp(const Args &a, uint32_t shared, int side) {
  const DiagonalLane self = diagonal_lane<32, K>(a.scene.words);
  const int last = DiagonalShared<K, G, Census>::links(a.strip) - 1;
  const int block = (int)blockIdx.x, rows = a.scene.height;
  const DiagonalPlace at =
      diagonal_place<K, G, K, Census>(a, shared, side ? last : 0, side ? a.strip + 1 : 0, self);
  DiagonalHalo<K> halo = {};
#  pragma unroll
  for (int i = 0; i < HALO * K; i++)
    halo.l[i / K][i % K] = DIAGONAL_ONE;
  halo.side = side;
  halo.x = side ? (block + 1) * a.strip : block * a.strip - 1;
  halo.count = side ? rv_clamp(a.scene.width - halo.x, 0, HALO) : (block > 0 ? HALO : 0);
  halo.exchange = exchange_at(a, side, block, 1) + self.first_word;
#  pragma unroll
  for (int d = 0; d < HALO - 1; d++)
    halo.from[d] =
        diagonal_descriptors<K, G, K, Census>(a, shared, side ? a.strip + d : -1 - d, self);
  leave_row<1>(at, side, !side);
  DiagonalPair pair = {};
  DiagonalExchange exchange = {0, 1u << TAG_BIT};
  while (pair.s < rows) {
#  pragma unroll
    for (int row = 0; row < HALO; row += 2) {
      if (pair.s >= rows)
        break;
      enter_pair<K, G, Census>(shared, pair);
      if (row == 0) {
        halo_row<K, G, Census, ADAPTIVE, 0>(a, shared, at, pair, self, halo, exchange);
        halo_row<K, G, Census, ADAPTIVE, 1>(a, shared, at, pair, self, halo, exchange);
      } else {
        halo_row<K, G, Census, ADAPTIVE, HALO - 2>(a, shared, at, pair, self, halo, exchange);
        halo_row<K, G, Census, ADAPTIVE, HALO - 1>(a, shared, at, pair, self, halo, exchange);
      }
      leave_pair<K, G, Census>(shared, pair);
      pair.next<K, G, Census>();
    }
    exchange.next(a);
  }
  for (int turn = 0; turn < 2 && self.active; turn++) /* for the next launch */
    for (int d = 0; d < halo.count; d++)
#  pragma unroll
      for (int j = 0; j < K; j++)
        a.exchange[turn * a.exchange_words + halo.exchange + d * a.scene.words + j] = 0;
}

/* Initializes the barriers. */
template <int K, int G, typename Census>
__device__ void open_barriers(const DiagonalArgs &a, uint32_t shared) {
  using Shared = DiagonalShared<K, G, Census>;
  const int warps = Shared::links(a.strip);
  const uint32_t links = shared + Shared::PAIRS * Shared::PAIR + (a.strip + 2) * Shared::SLOT;
  for (int t = (int)threadIdx.x; t < 2 * warps; t += (int)blockDim.x)
    barrier_init(links + 8 * t, t / 2 == 0 || t / 2 == warps - 1 ? 32 : 64);
  if (threadIdx.x < Shared::PAIRS) {
    const uint32_t pair = shared + threadIdx.x * Shared::PAIR + 2 * Shared::ROW;
    barrier_init(pair, 64); /* lanes that copy */
    barrier_init(pair + 8, 32 * warps);
  }
}
#endif

/* Warps take turns on the four schedulers of a multiprocessor. Those of the halo are on two of them: with
 * 32 lanes per column roles are such that these two have fewer columns: copy, copy, halo, halo, walk,
 * column, walk, walk, columns; else halo, halo, copy, copy, columns, walks. */
__host__ __device__ constexpr bool diagonal_spreads(int g) {
  return g == 32;
}
/* Warps that walk along rows, where these fit: they should be done before the columns are. */
constexpr int diagonal_walkers(int g) {
  return diagonal_spreads(g) ? 3 : 4;
}

template <int K, int G, typename Census, bool ONE>
__global__ void __launch_bounds__(32 * diagonal_warps(K, G), 1)
    diagonal_kernel(const __grid_constant__ DiagonalRun<ONE> a,
                    const __grid_constant__ RowArgs rows) {
#ifdef SGM_HAS_BARRIERS
  using Shared = DiagonalShared<K, G, Census>;
  extern __shared__ __align__(16) char memory[];
  const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
  const int warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0);
  /* Paths that start have L = 0; so have, permanently, the columns outside the image. */
  for (int t = (int)threadIdx.x; t < (a.strip + 2) * Shared::SLOT / 4; t += (int)blockDim.x)
    ((uint32_t *)(memory + Shared::PAIRS * Shared::PAIR))[t] = DIAGONAL_ONE;
  open_barriers<K, G, Census>(a, shared);
  rv_launch_wait();
  rv_launch_next(); /* the rows, which have no room yet */
  __syncthreads();
  if (warp < HELPERS) {
    const int helper = diagonal_spreads(G) ? warp ^ 2 : warp;
    if (helper >= 2)
      copy_warp<K, G, Census>(a, rows, shared, helper - 2);
    else if (a.scene.adaptive)
      halo_warp<K, G, Census, true>(a, shared, helper);
    else
      halo_warp<K, G, Census, false>(a, shared, helper);
    return;
  }
  /* Columns alternately from both edges: states to be sent should be ready first. */
  const int own = Shared::warps(a.strip) - HELPERS;
  int w = warp - HELPERS; /* of own */
  if constexpr (K <= 2)   /* see sgm_cuda_takes_notes */
    if (a.walkers) {
      const int walker = !diagonal_spreads(G) ? w - own : w == 1 || w > 3 ? -1 : rv_max(w - 1, 0);
      if (walker >= 0) {
        const int first = (int)(blockIdx.y * gridDim.x + blockIdx.x) * a.walkers + walker;
        const int walkers = (int)(gridDim.x * gridDim.y) * a.walkers;
        char *const at = memory + (Shared::bytes(a.strip) + 15) / 16 * 16 + walker * a.walk_bytes;
        if (a.scene.words == 32 * K)
          row_note_paths<K, true, Census>(rows, at, first, walkers);
        else if constexpr (K == 1)
          row_note_paths<K, false, Census>(rows, at, first, walkers);
        return;
      }
      if (diagonal_spreads(G))
        w = w == 1 ? 0 : w - 3;
    }
  const int c = (w % 2 ? own - 1 - w / 2 : w / 2) * Shared::SIDE_BY_SIDE;
  if ((int)blockIdx.x * a.strip + c >= a.scene.width)
    idle_warp<K, G, Census>(a, shared, c);
  else if (a.scene.adaptive)
    own_warp<K, G, Census, true>(a, shared, c);
  else
    own_warp<K, G, Census, false>(a, shared, c);
#endif
}

/* --- Shape and launch ------------------------------------------------------------------------ */

/* Picks the instantiation: words per lane, type of descriptors. */
#define SGM_FOR_DIAGONAL(plan, K, Census, ...)                                                     \
  SGM_FOR_DESCRIPTOR(plan, Census,                                                                 \
                     { SGM_FOR_WORDS((plan)->config.disparities / 2, 32, K, __VA_ARGS__); })

/* 16 lanes per column, but 32 where a lane would have too many words. */
constexpr int diagonal_fewer(int k) {
  return k <= 4 ? 16 : 32;
}

/* Shared memory of each. */
template <typename Census> size_t walk_bytes(const RvSgmConfig *config) {
  SgmScene scene = {};
  scene.width = config->width, scene.words = config->disparities / 2;
  scene.adaptive = config->adaptive_p2;
  RowShared<Census> unused;
  return RowShared<Census>::place_row(&unused, NULL, scene, 0);
}

/* Bytes of a block. */
template <int K, int G, typename Census>
size_t shared_of(const RvSgmConfig *config, int strip, int walkers) {
  const size_t columns = DiagonalShared<K, G, Census>::bytes(strip);
  return walkers ? (columns + 15) / 16 * 16 + walkers * walk_bytes<Census>(config) : columns;
}

/* Whether the kernel can be used: whether all blocks of a launch can be on the GPU at once, and the
 * exchange fits half of the memory that the bands use for states. */
template <int K, int G, typename Census, bool ONE>
RvStatus try_strip(SgmCuda *work, const RvSgmConfig *config, int sms, int walkers) {
  using Shared = DiagonalShared<K, G, Census>;
  const auto kernel = diagonal_kernel<K, G, Census, ONE>;
  const RvLog *log = &config->log;
  const int sweeps = ONE ? 1 : 2;
  int strip = rv_div_up(config->width, rv_max(sms / sweeps, 1)); /* one block per SM */
  strip = rv_max(strip, rv_min(2 * HALO, config->width));
  strip = rv_div_up(strip, Shared::SIDE_BY_SIDE) * Shared::SIDE_BY_SIDE;
  const int columns = rv_div_up(config->width, strip), warps = Shared::warps(strip) + walkers;
  const size_t shared = shared_of<K, G, Census>(config, strip, walkers);
  int device = 0, most = 0, blocks = 0;
  cudaFuncAttributes code;
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  RV_CU(log, cudaFuncGetAttributes(&code, kernel));
  if (code.ptxVersion < 80 /* see SGM_HAS_BARRIERS */ || strip < HALO ||
      warps > diagonal_warps(K, G) || columns * HALO > config->width / 2 || shared > (size_t)most)
    return RV_OK;
  RV_CU(log, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  RV_CU(log, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, shared));
  if (blocks * sms >= sweeps * columns)
    work->resident = G, work->strip = strip, work->walkers = walkers, work->one_sweep = ONE;
  return RV_OK;
}

/* If nothing was found so far: with warps that walk along rows, if these fit, else without. */
template <int K, int G, typename Census, bool ONE>
RvStatus try_strips(SgmCuda *work, const RvSgmConfig *config, int sms) {
  if (!work->resident && work->notes)
    RV_TRY((try_strip<K, G, Census, ONE>(work, config, sms, diagonal_walkers(G))));
  if (!work->resident)
    RV_TRY((try_strip<K, G, Census, ONE>(work, config, sms, 0)));
  return RV_OK;
}

/* Both sweeps in one launch, or one after the other. */
template <int K, int G, typename Census, bool ONE>
RvStatus launch(const SgmCuda *work, const RvSgmJob *job, const DiagonalArgs &args) {
  using Shared = DiagonalShared<K, G, Census>;
  const RvSgmConfig *config = &job->plan->config;
  DiagonalRun<ONE> a = {args};
  RowArgs rows = row_args(work, job->plan, a.scene, a.sums);
  rows.noted = work->notes, rows.narrow_notes = 1;
  uint32_t *const finished = rows.finished;
  a.walkers = work->walkers, a.walk_bytes = (int)walk_bytes<Census>(config);
  for (a.up = 0; a.up <= (ONE ? 1 : 0); a.up++) {
    rows.finished = !ONE || a.up ? finished : NULL; /* by the last sweep */
    RvLaunch launch(dim3(rv_div_up(a.scene.width, a.strip), ONE ? 1 : 2),
                    32 * (Shared::warps(a.strip) + a.walkers),
                    shared_of<K, G, Census>(config, a.strip, a.walkers), job->stream);
    launch.cooperative();
    /* After the descriptors. A block has a multiprocessor to itself, so none lie unevenly. */
    if (work->early && a.up == 0)
      launch.early();
    if (work->needed)
      launch.prefer_shared(); /* rows need theirs beside a block's */
    RV_TRY(launch.run(&config->log, diagonal_kernel<K, G, Census, ONE>, a, rows));
    a.walkers = 0; /* done */
  }
  return RV_OK;
}

} // namespace

RvStatus sgm_cuda_diagonal_open(SgmCuda *work, const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  const RvLog *log = &config->log;
  int device = 0, cooperative = 0;
  RvCudaDevice limits;
  work->resident = 0;
  RV_CU(log, cudaGetDevice(&device));
  RV_TRY(rv_cuda_device(log, &limits));
  RV_CU(log, cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  if (!cooperative || work->window < config->height || config->height < 2)
    return RV_OK;
  const int sms = limits.processors;
  SGM_FOR_DIAGONAL(plan, K, Census, {
    RV_TRY((try_strips<K, 32, Census, false>(work, config, sms)));
    RV_TRY((try_strips<K, diagonal_fewer(K), Census, false>(work, config, sms)));
    RV_TRY((try_strips<K, diagonal_fewer(K), Census, true>(work, config, sms)));
  });
  if (!work->resident)
    return RV_OK;
  work->approached = work->walkers > 0 && work->finish == sgm_cuda_rows;
  work->walkers = work->approached ? work->walkers : 0;
  /* Where down comes first, its launch has ended before up starts, and so have the walks. */
  const int walks = work->approached && !work->one_sweep ? 2 : 0;
  if (work->counts)
    work->needed = rv_div_up(config->width, work->strip) + walks;
  const size_t bytes = (size_t)4 * config->width * config->disparities / 2 * sizeof(uint32_t);
  RV_CU(log, cudaMemset(work->diagonal_states[0], 0, bytes));
  RV_CU(log, cudaMemset(work->diagonal_states[1], 0, bytes));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* before the stream of any run */
  return RV_OK;
}

RvStatus sgm_cuda_diagonal(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmPlan *plan = job->plan;
  const RvSgmConfig *config = &plan->config;
  DiagonalArgs a = {};
  a.scene = sgm_cuda_scene(work, job);
  a.sums = work->sums, a.exchange = work->diagonal_states[0], a.met = work->diagonal_states[1];
  a.strip = work->strip;
  a.p2 = (uint32_t)config->p2 * 0x10001u;
  a.half_bytes = config->disparities / 2 * plan->descriptor_bytes;
  a.exchange_words = 4 * rv_div_up(config->width, work->strip) * HALO * (config->disparities / 2);
  SGM_FOR_DIAGONAL(plan, K, Census, {
    if (work->one_sweep)
      return (launch<K, diagonal_fewer(K), Census, true>(work, job, a));
    if (work->resident == 32)
      return (launch<K, 32, Census, false>(work, job, a));
    return (launch<K, diagonal_fewer(K), Census, false>(work, job, a));
  });
}
