/* SPDX-License-Identifier: MIT */
/* sgm_cuda_diagonal.cuh: a row of a column in sgm_cuda_diagonal.cu: position of its states and
 * descriptors, and one step of its three paths. Device code only. */
#ifndef RV_SGM_CUDA_DIAGONAL_CUH
#define RV_SGM_CUDA_DIAGONAL_CUH

#include "sgm/sgm_cuda_cost.cuh"
#include "sgm/sgm_cuda_row_walk.cuh"
#include "sgm/sgm_cuda_signal.cuh"

enum {
  HALO = 4,   /* columns on each side of a strip, and rows from exchange to exchange; even */
  HELPERS = 4 /* warps for the halo of a side, for copies of even and of odd rows */
};

/* K: words per lane when 32 lanes store a column, as in the halo. In the strip G lanes do: 32, or
 * 16 where there are more columns than warps. */

/* Maximum warps of a block, so that registers suffice. */
static __host__ __device__ constexpr int diagonal_warps(int k, int g) {
  return k > 4 ? 20 : g == 32 ? (k <= 2 ? 32 : 24) : (k <= 2 ? 24 : 16);
}

struct DiagonalArgs {
  SgmScene scene;
  uint32_t *sums;
  uint32_t *exchange; /* [turn][sweep][side][block][distance - 1][words] */
  uint32_t *met;      /* [sweep][x]: 1 when the first half of the rows is finished */
  int strip;
  int up;             /* one sweep: whether it goes up */
  uint32_t p2;        /* in both halves */
  int exchange_words; /* of a turn */
  int half_bytes;     /* of the descriptors of half the candidates */
  int walkers;        /* warps that walk along rows, the last ones of a block */
  int walk_bytes;     /* shared memory of each, after that of the columns */
};

/* ONE: a launch is one sweep, else both. */
template <bool ONE_> struct DiagonalRun : DiagonalArgs {
  enum { ONE = ONE_ };

  /* 0 down, 1 up. */
  __device__ __forceinline__ int sweep() const { return ONE ? up : (int)blockIdx.y; }
};

/* The block's shared memory. States lie as [slot][turn][side][words]; slot 0 belongs to the left
 * halo, c + 1 to column c of the strip, the last one to the right halo. Where a lane has more than
 * four words in the halo as well, they are in chunks of four, a chunk of all lanes before the next
 * one. Descriptors lie as [pair][row][copy], each copy shifted by one more, so that any lane can
 * load several neighbors at an aligned address from one of them; those of the left view come last.
 * After each pair: the barriers "copied" and "consumed". Last come the barriers between warps, of
 * slot 0, of the strip's warps, and of the last slot. Addresses are in bytes, in the shared
 * window. */
template <int K, int G, typename Census> struct DiagonalShared {
  enum {
    SIDE_BY_SIDE = 32 / G,  /* columns of a warp */
    PAIRS = K <= 4 ? 8 : 6, /* of rows whose descriptors are stored */
    STATE = 32 * K * 4,     /* bytes */
    SLOT = 4 * STATE,
    PIECES = K > 4 ? 32 * 16 : 16, /* from one to the next */
    SIZE = (int)sizeof(Census),
    COPIES = SIZE == 4 && K * 32 / G >= 4 ? 4 : 2,
    MAX_COLUMNS = (diagonal_warps(K, G) - HELPERS) * SIDE_BY_SIDE + 2 * HALO,
    COPY = (MAX_COLUMNS + 64 * K + 6) / 4 * 4 * SIZE,
    ROW = (COPIES * COPY + MAX_COLUMNS * SIZE + 15) / 16 * 16,
    PAIR = 2 * ROW + 16
  };

  static __host__ __device__ int links(int strip) { return strip / SIDE_BY_SIDE + 2; }
  static __host__ __device__ int warps(int strip) { return strip / SIDE_BY_SIDE + HELPERS; }
  static __host__ __device__ size_t bytes(int strip) {
    return (size_t)PAIRS * PAIR + (size_t)(strip + 2) * SLOT + 16 * links(strip);
  }
  static __device__ __forceinline__ int state(int turn, int side) {
    return ((turn & 1) * 2 + side) * STATE;
  }
  template <typename T> static __device__ __forceinline__ T *at(uint32_t address) {
    return (T *)__cvta_shared_to_generic(address);
  }
  /* Offset of a lane's words in a state. */
  template <int W> static __device__ __forceinline__ int words_of(int lane) {
    return lane * (K > 4 ? 16 : 4 * W);
  }
  template <int W> static __device__ __forceinline__ void load(uint32_t (&w)[W], uint32_t from) {
    if constexpr (W == 1)
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[0]) : "r"(from) : "memory");
    else if constexpr (W == 2)
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                   : "=r"(w[0]), "=r"(w[1])
                   : "r"(from)
                   : "memory");
    else
#pragma unroll
      for (int j = 0; j < W; j += 4)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[j]), "=r"(w[j + 1]), "=r"(w[j + 2]), "=r"(w[j + 3])
                     : "r"(from + j / 4 * PIECES)
                     : "memory");
  }
  template <int W>
  static __device__ __forceinline__ void store(uint32_t to, const uint32_t (&w)[W]) {
    if constexpr (W == 1)
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(w[0]) : "memory");
    else if constexpr (W == 2)
      asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(w[0]), "r"(w[1]) : "memory");
    else
#pragma unroll
      for (int j = 0; j < W; j += 4)
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to + j / 4 * PIECES),
                     "r"(w[j]), "r"(w[j + 1]), "r"(w[j + 2]), "r"(w[j + 3])
                     : "memory");
  }
  static __device__ __forceinline__ void get(uint32_t (&d)[1], uint32_t from) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(d[0]) : "r"(from) : "memory");
  }
  static __device__ __forceinline__ void get(uint32_t (&d)[2], uint32_t from) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(from)
                 : "memory");
  }
  static __device__ __forceinline__ void get(uint32_t (&d)[4], uint32_t from) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(from)
                 : "memory");
  }
  template <int N> static __device__ __forceinline__ void get(SgmLimited (&d)[N], uint32_t from) {
    uint32_t v[N];
    get(v, from);
#pragma unroll
    for (int i = 0; i < N; i++)
      d[i] = (SgmLimited)v[i];
  }
  static __device__ __forceinline__ void get(uint64_t (&d)[1], uint32_t from) {
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(d[0]) : "r"(from) : "memory");
  }
  static __device__ __forceinline__ void get(uint64_t (&d)[2], uint32_t from) {
    asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];"
                 : "=l"(d[0]), "=l"(d[1])
                 : "r"(from)
                 : "memory");
  }
  template <int N> static __device__ __forceinline__ void get(SgmLimited64 (&d)[N], uint32_t from) {
    uint64_t v[N];
    get(v, from);
#pragma unroll
    for (int i = 0; i < N; i++)
      d[i] = (SgmLimited64)v[i];
  }
};

/* Position of a lane, K words in each of G lanes per column. Lanes without words do the same as
 * lane 0, so that all contain words of the path and the minimum needs no selection. */
struct DiagonalLane {
  int lane, column;                     /* in the warp; of its columns */
  int number, first_word, below, above; /* in its group */
  uint32_t scale, offset; /* put SGM_FAR before the first word, by the pipe that has less to do, */
  uint32_t above_bytes;   /* and after the last one, a selector */
  uint32_t top;           /* 0x10000, see RowPath */
  bool active;
};

/* Keeps the compiler from recomputing a value in every row. */
static __device__ __forceinline__ void keep(uint32_t &v) {
  asm volatile("" : "+r"(v));
}
static __device__ __forceinline__ void keep(int &v) {
  asm volatile("" : "+r"(v));
}

template <int G, int K> static __device__ __forceinline__ DiagonalLane diagonal_lane(int words) {
  const int lane = (int)threadIdx.x % G, lanes = words / K;
  DiagonalLane self;
  self.active = lane < lanes;
  self.lane = (int)threadIdx.x % 32, self.column = self.lane / G;
  self.number = self.active ? lane : 0;
  self.first_word = self.number * K;
  self.below = self.number == 0 ? lanes - 1 : self.number - 1;
  self.above = self.number == lanes - 1 ? 0 : self.number + 1;
  self.scale = self.number == 0 ? 0x10000 : 1, self.offset = self.number == 0 ? SGM_FAR : 0;
  self.above_bytes = self.number == lanes - 1 ? 0x5432 : 0x3210;
  self.top = blockDim.z << 16;
  keep(self.below), keep(self.above), keep(self.scale), keep(self.offset), keep(self.above_bytes);
  keep(self.top), keep(self.lane);
  return self;
}

enum { DIAGONAL_ONE = 0x10001 }; /* in both halves */

/* What a lane needs of the others for a step: the words next to its own, and 0x10000 minus the
 * smallest. The latter is found here and not by who computed them: states that another warp waits
 * for leave without the time of a reduction, and here that passes beside the exchange with other
 * lanes. */
struct DiagonalAround {
  uint32_t below, last, drop;
};
template <int G, int K>
static __device__ __forceinline__ DiagonalAround diagonal_around(const uint32_t (&l)[K],
                                                                 const DiagonalLane &self) {
  DiagonalAround around;
  around.below = __shfl_sync(SGM_WARP, l[K - 1], self.below, G);
  around.last = __shfl_sync(SGM_WARP, l[0], self.above, G);
  uint32_t smallest = l[0];
#pragma unroll
  for (int j = 1; j < K; j++)
    smallest = sgm_min2(smallest, l[j]);
  around.drop = self.top - sgm_group_min<G>(smallest);
  return around;
}

/* One step of a path; l: L + 1 of the previous row, afterwards of this one, see
 * sgm_cuda_row_path.cuh; cost: costs + 1. */
template <int K>
static __device__ __forceinline__ void diagonal_step(uint32_t (&l)[K], const DiagonalAround &around,
                                                     const uint32_t (&cost)[K], const SgmP1 &p1,
                                                     uint32_t p2, const DiagonalLane &self) {
  uint32_t below = around.below * self.scale + self.offset;
  const uint32_t last = __byte_perm(around.last, SGM_FAR * 0x10001u, self.above_bytes);
#pragma unroll
  for (int j = 0; j < K; j++) {
    const uint32_t above = j + 1 < K ? l[j + 1] : last;
    uint32_t best = __viaddmin_u16x2(below, p1.below, l[j]);
    best = __viaddmin_u16x2(above, p1.above, best);
    below = l[j];
    l[j] = __viaddmin_u16x2(best, around.drop, p2) + cost[j];
  }
}
template <int G, int K>
static __device__ __forceinline__ void diagonal_step(uint32_t (&l)[K], const uint32_t (&cost)[K],
                                                     const SgmP1 &p1, uint32_t p2,
                                                     const DiagonalLane &self) {
  diagonal_step(l, diagonal_around<G>(l, self), cost, p1, p2, self);
}

#ifdef SGM_HAS_BARRIERS
/* --- Columns --------------------------------------------------------------------------------- */

/* Index of the first word sent to `block`, in the first turn. */
static __device__ __forceinline__ int exchange_at(const DiagonalArgs &a, int side, int block,
                                                  int distance) {
  const int place = (((int)blockIdx.y * 2 + side) * (int)gridDim.x + block) * HALO + distance - 1;
  return place * a.scene.words;
}

/* Positions of a warp in shared memory. */
struct DiagonalPlace {
  uint32_t link; /* its barriers: the neighbors have finished a row, even and odd */
  uint32_t slot; /* the lane's words of its slot's first state */
};

/* Of warp number `link` from the left, with W words per lane. */
template <int K, int G, int W, typename Census>
static __device__ __forceinline__ DiagonalPlace diagonal_place(const DiagonalArgs &a,
                                                               uint32_t memory, int link, int slot,
                                                               const DiagonalLane &self) {
  using Shared = DiagonalShared<K, G, Census>;
  DiagonalPlace at;
  at.slot = memory + Shared::PAIRS * Shared::PAIR + slot * Shared::SLOT +
            Shared::template words_of<W>(self.number);
  at.link = memory + Shared::PAIRS * Shared::PAIR + (a.strip + 2) * Shared::SLOT + link * 16;
  keep(at.slot), keep(at.link);
  return at;
}

/* Addresses of a column's descriptors in the first row. */
struct DiagonalDescriptors {
  uint32_t low, left; /* the lane's last right one, the left one */
};

/* Right descriptors that a lane with W words reads at once. */
template <typename Census> static __host__ __device__ constexpr int diagonal_at_once(int w) {
  return sizeof(Census) == 4 && w >= 4 ? 4 : w >= 2 ? 2 : 1;
}

template <int K, int G, int W, typename Census>
static __device__ __forceinline__ DiagonalDescriptors
diagonal_descriptors(const DiagonalArgs &a, uint32_t memory, int c, const DiagonalLane &self) {
  using Shared = DiagonalShared<K, G, Census>;
  enum { N = diagonal_at_once<Census>(W) };
  const int entry = c + HALO + 2 * a.scene.words - 1 - self.first_word; /* of the first word */
  const int copy = (N - 1 - entry) & (N - 1);
  DiagonalDescriptors at;
  at.low = memory + copy * Shared::COPY + (entry + copy) * Shared::SIZE;
  at.left = memory + Shared::COPIES * Shared::COPY + (c + HALO) * Shared::SIZE;
  keep(at.low), keep(at.left);
  return at;
}

/* P2 of the vertical step of a row. */
template <bool ADAPTIVE>
static __device__ __forceinline__ uint32_t vertical_p2(const DiagonalArgs &a, int x, int y, int dy,
                                                       bool started) {
  return ADAPTIVE && started ? sgm_p2(a.scene, x, y, 0, dy, true) : a.p2;
}

/* P2 of the diagonal steps of a row. */
template <bool ADAPTIVE> struct DiagonalPenalty {
  uint32_t side[2];

  __device__ __forceinline__ DiagonalPenalty(const DiagonalArgs &a, int x, int y, int dy,
                                             bool started) {
    const SgmScene &s = a.scene;
    side[0] = side[1] = a.p2;
    if (!ADAPTIVE || !started)
      return;
    side[0] = sgm_p2(s, x, y, 1, dy, x > 0);
    side[1] = sgm_p2(s, x, y, -1, dy, x < s.width - 1);
  }
};

/* Progress of a warp: a pair of rows. */
struct DiagonalPair {
  int s;          /* first row, in the sweep's order */
  uint32_t stage; /* of its descriptors, in bytes */
  uint32_t round; /* parity of the times that this stage has been used */
  uint32_t phase; /* parity of the pair: of the columns' barriers */

  template <int K, int G, typename Census> __device__ __forceinline__ void next() {
    using Shared = DiagonalShared<K, G, Census>;
    s += 2, phase ^= 1, stage += Shared::PAIR;
    if (stage == Shared::PAIRS * Shared::PAIR)
      stage = 0, round ^= 1;
  }
};

/* Costs + 1. */
template <int K, int G, int W, typename Census>
static __device__ __forceinline__ void costs_of(uint32_t (&cost)[W], const DiagonalArgs &a,
                                                const DiagonalDescriptors &at, uint32_t row) {
  using Shared = DiagonalShared<K, G, Census>;
  enum { N = diagonal_at_once<Census>(W) };
  Census here[1];
  Shared::get(here, at.left + row);
  const uint32_t low = at.low + row, high = low - a.half_bytes;
#  pragma unroll
  for (int j = 0; j < W; j += N) {
    Census first[N], second[N];
    Shared::get(first, low - (j + N - 1) * Shared::SIZE);
    Shared::get(second, high - (j + N - 1) * Shared::SIZE);
#  pragma unroll
    for (int i = 0; i < N; i++)
      cost[j + i] = sgm_cost_and_one(here[0], first[N - 1 - i], second[N - 1 - i],
                                     a.scene.limit + DIAGONAL_ONE);
  }
}

/* Waits until the neighbors have finished the previous row; this one is ODD or not. */
template <int ODD>
static __device__ __forceinline__ void enter_row(const DiagonalPlace &at,
                                                 const DiagonalPair &pair) {
  barrier_wait(at.link + (1 - ODD) * 8, pair.phase);
}

/* Lets the neighbors on these sides continue with the next row. All lanes arrive: each has
 * written. */
template <int ODD>
static __device__ __forceinline__ void leave_row(const DiagonalPlace &at, bool left, bool right) {
  if (left)
    barrier_arrive(at.link - 16 + ODD * 8);
  if (right)
    barrier_arrive(at.link + 16 + ODD * 8);
}

/* Sends a state to another strip, L itself: L + 1 can need 14 bits. */
template <int W>
static __device__ __forceinline__ void send_state(uint32_t *to, const uint32_t (&l)[W],
                                                  uint32_t tag) {
  uint32_t v[W];
#  pragma unroll
  for (int j = 0; j < W; j++)
    v[j] = l[j] - DIAGONAL_ONE;
  send(to, v, tag);
}

/* --- Sums and progress of the warp of a column ---------------------------------------------- */

template <int K>
static __device__ __forceinline__ void load_sums(uint32_t (&sum)[K], const uint32_t *from) {
  if constexpr (K == 1) {
    sum[0] = __ldcg(from);
  } else if constexpr (K == 2) {
    const uint2 v = __ldcg((const uint2 *)from);
    sum[0] = v.x, sum[1] = v.y;
  } else {
#  pragma unroll
    for (int j = 0; j < K; j += 4) {
      const uint4 v = __ldcg((const uint4 *)(from + j));
      sum[j] = v.x, sum[j + 1] = v.y, sum[j + 2] = v.z, sum[j + 3] = v.w;
    }
  }
}

/* Waits until the other sweep's warp of these columns, from x on, has set its half of the sums. All
 * lanes read: after a branch for one of them, or a call, the compiler would take the warp for
 * divergent, and test before all exchanges in all rows whether it is. */
static __device__ __forceinline__ void meet(uint32_t *met, int x, int width) {
  uint32_t *const mine = met + blockIdx.y * width + x;
  uint32_t *const other = met + (1 - blockIdx.y) * width + x;
  const bool first = threadIdx.x % 32 == 0;
  __threadfence();
  __syncwarp();
  if (first)
    send_words(mine, 1);
  for (bool missing = true; missing;) {
    uint32_t done[1];
    load_relaxed(other, done);
    missing = __any_sync(SGM_WARP, !done[0]);
    if (missing)
      __nanosleep(20);
  }
  if (first)
    *other = 0; /* for the next launch */
  __syncwarp();
  __threadfence();
}

/* Pitches are in bytes. */
static __device__ __forceinline__ uint32_t *sums_after(uint32_t *sums, ptrdiff_t pitch) {
  return (uint32_t *)((char *)sums + pitch);
}

/* A scoreboard counts all loads of a warp, so that waiting for one also waits for those after it:
 * sums are loaded one row before use, and prefetched to the L2 cache earlier. */
enum { PREFETCH = 4 };

/* Update of the sums of a row: set, add, or one of them depending on the row. */
enum DiagonalSums { SET, ADD, CHANGE };

/* State of a warp with columns of the strip, W words per lane. */
template <int W> struct DiagonalOwn {
  int x, setting;                /* rows before `setting` are set, the others added to */
  bool keeps;                    /* the lane has words of a column inside the image */
  int to;                        /* the lane's words of the exchange in turn 0; -1: none to send */
  bool to_left;                  /* of the path to the left, else of that to the right */
  uint32_t *sums;                /* the lane's, of the row */
  ptrdiff_t pitch, ahead;        /* bytes to the next row, and PREFETCH rows */
  uint32_t before[W];            /* previous sums of the row, when adding */
  uint32_t cost[W], vertical[W]; /* of the row: these are computed one row ahead */
};

/* The next exchange. */
struct DiagonalExchange {
  int turn;     /* 0 or exchange_words */
  uint32_t tag; /* at its bits */

  __device__ __forceinline__ void next(const DiagonalArgs &a) {
    turn = a.exchange_words - turn;
    tag += 1u << TAG_BIT;
    tag += tag == 0 ? 1u << TAG_BIT : 0;
  }
};

#endif

#endif
