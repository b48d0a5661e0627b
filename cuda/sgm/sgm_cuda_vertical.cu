/* SPDX-License-Identifier: MIT */
/* sgm_cuda_vertical.cu: the vertical directions alone, for 2 and 4 paths: down, and up at the same
 * time (benchmark sgm/1242x375-d128-p4 with packed partial sums, -p2 and -d96-p4 without).
 *
 * A group of lanes takes a column from one end of the image to the other, the path's state in
 * registers. Nothing is shared and no column waits for another: descriptors and sums are loaded
 * some rows before use into a ring of registers. The warps of both sweeps of a column are in one
 * block: each sets the sums of its half, and after the only barrier adds to those of the other. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_cost.cuh"

namespace {

struct VerticalArgs {
  SgmScene scene;
  uint32_t *sums;
  uint32_t *states; /* [sweep][x][words] */
  int sweeps;       /* 1: down alone */
  int row, rows;    /* of this launch, counted in the direction of the sweep */
  int set[2];       /* rows of these, the first ones, whose sums are set; by sweep */
  int skipped[2];   /* image row of row 0 of the descriptors, by sweep */
};

/* Columns of a block; neighbors read nearly the same descriptors. With more of them the load of the
 * SMs is uneven. */
enum { COLUMNS = 4 };

/* Rows loaded before use, as far as the registers suffice. */
template <typename Census> constexpr int vertical_ahead(int k) {
  const int of_census = (int)(sizeof(Census) / sizeof(uint32_t)), row = (2 * k + 1) * of_census + k;
  return row > 25 ? 1 : row > 16 ? 2 : row > 13 ? 3 : 4;
}

/* Prefetches cache lines to the L2 cache, one line per lane. */
struct VerticalPrefetch {
  const char *line;
  ptrdiff_t pitch;
  int row; /* this lane's row */

  __device__ __forceinline__ void prefetch(int from, int count) {
    if (from + row < count)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
    line += pitch;
  }
};

template <bool NARROW> struct VerticalSum { typedef uint32_t Type; };
template <> struct VerticalSum<true> { typedef uint16_t Type; };

/* Sums of a lane's words as they are in memory, see sgm_cuda.cuh: words, or with NARROW two bytes
 * per word, those of two words in one register. */
template <int K, bool NARROW> struct VerticalSums {
  enum { REGISTERS = NARROW ? (K + 1) / 2 : K };
  typedef typename VerticalSum<NARROW>::Type Type;
  uint32_t r[REGISTERS];

  __device__ __forceinline__ void load(const Type *at) {
    if constexpr (NARROW && K == 1)
      r[0] = *at;
    else
      sgm_load<REGISTERS>(r, (const uint32_t *)at);
  }
  __device__ __forceinline__ void store(Type *at) const {
    if constexpr (NARROW && K == 1)
      *at = (uint16_t)r[0];
    else
      sgm_store<REGISTERS>((uint32_t *)at, r);
  }
  /* Costs l of a path and their excess over the costs of the pixel. No half or byte carries. */
  __device__ __forceinline__ void add(const uint32_t (&l)[K], const uint32_t (&beyond)[K]) {
#pragma unroll
    for (int i = 0; i < REGISTERS; i++)
      if constexpr (!NARROW)
        r[i] += l[i];
      else if constexpr (K == 1)
        r[i] += __byte_perm(beyond[i], 0, 0x4420);
      else
        r[i] += __byte_perm(beyond[2 * i], beyond[2 * i + 1], 0x6420);
  }
};

/* One row of a column, from memory. */
template <int K, bool NARROW, typename Census> struct VerticalRow {
  Census left, low[K], high[K];
  VerticalSums<K, NARROW> sum;
  uint32_t gray;
};

/* Position of a row. PLAIN: no candidate lies left of the right view, and P2 is constant. */
template <bool PLAIN, typename Census, typename Sum> struct VerticalPlace {
  const Census *left, *low, *high; /* low, high: of the lane's first candidates, or of column 0 */
  Sum *sums;
  const uint8_t *gray;
  ptrdiff_t census_pitch, sums_pitch, gray_pitch; /* from row to row of the sweep */

  __device__ __forceinline__ void advance() {
    left += census_pitch, low += census_pitch, sums += sums_pitch;
    if (PLAIN) {
      high += census_pitch;
    } else {
      gray += gray_pitch;
      asm("" : "+l"(low)); /* else the compiler keeps one pointer per candidate */
    }
  }
};

/* A column in one sweep. Lanes without words do the same as lane 0, so that all contain words of
 * the path and the minimum needs no selection. */
template <int G, int K, bool NARROW, typename Census> struct VerticalColumn {
  enum { AHEAD = vertical_ahead<Census>(K), FAR = 9 }; /* rows loaded, prefetched before use */
  typedef VerticalRow<K, NARROW, Census> Row;
  typedef typename VerticalSum<NARROW>::Type Sum;

  const VerticalArgs &a;
  int x, sweep, dy, first_word, below, above;
  uint32_t below_edge, above_edge; /* selectors of bytes, see step() */
  bool keeps;
  uint32_t l[K], beyond[K]; /* costs L of the previous row; their excess over the pixel's costs */
  uint32_t less;            /* minus the smallest of them, in both halves */
  uint32_t p2, gray_before;
  SgmP1 p1;

  __device__ __forceinline__ VerticalColumn(const VerticalArgs &args) : a(args) {
    /* Uniform for the compiler where that makes branches simple; positions are kept in the lanes'
     * registers. */
    const int warp = (int)threadIdx.x / 32;
    sweep = __shfl_sync(SGM_WARP, warp, 0) % a.sweeps;
    dy = warp % a.sweeps ? -1 : 1;
    const int lane = (int)threadIdx.x % G, lanes = a.scene.words / K, own = lane < lanes ? lane : 0;
    const int column =
        (int)blockIdx.x * COLUMNS + warp / a.sweeps * (32 / G) + (int)threadIdx.x % 32 / G;
    x = rv_min(column, a.scene.width - 1);
    keeps = lane < lanes && column < a.scene.width;
    first_word = own * K;
    below = own == 0 ? lanes - 1 : own - 1, above = own == lanes - 1 ? 0 : own + 1;
    below_edge = own == 0 ? 0x1054 : 0x3210, above_edge = own == lanes - 1 ? 0x5432 : 0x3210;
    p1 = sgm_p1(a.scene, sweep), p2 = (uint32_t)a.scene.p2 * 0x10001u;
#pragma unroll
    for (int j = 0; j < K; j++)
      l[j] = 0; /* a path that starts */
    if (a.row > 0)
      sgm_load<K>(l, state());
    find_smallest();
  }

  __device__ __forceinline__ uint32_t *state() const {
    return a.states + (sweep * (size_t)a.scene.width + x) * a.scene.words + first_word;
  }

  __device__ __forceinline__ bool all_inside() const {
    return __all_sync(SGM_WARP, x - a.scene.min_disparity - 2 * a.scene.words + 1 >= 0);
  }

  __device__ __forceinline__ void find_smallest() {
    uint32_t smallest = l[0];
#pragma unroll
    for (int j = 1; j < K; j++)
      smallest = sgm_min2(smallest, l[j]);
    smallest = sgm_group_min_u32<G>(sgm_min2(smallest, sgm_swap2(smallest)));
    less = __viaddmin_u16x2(~smallest, 0x10001u, 0xffffffffu);
  }

  /* Eq. 2.3. The minimum of the previous row has the longest latency: it is subtracted last,
   * L - C = min(min(L(k), L(k +- 1) + P1) - minimum, P2). */
  __device__ __forceinline__ void step(const uint32_t (&cost)[K]) {
    const uint32_t from_below = __shfl_sync(SGM_WARP, l[K - 1], below, G);
    const uint32_t from_above = __shfl_sync(SGM_WARP, l[0], above, G);
    /* There is no candidate -1; the low half's last one precedes the high half's first. */
    uint32_t before = __byte_perm(from_below, SGM_FAR, below_edge);
    const uint32_t end = __byte_perm(from_above, SGM_FAR, above_edge);
#pragma unroll
    for (int j = 0; j < K; j++) {
      uint32_t best = __viaddmin_u16x2(before, p1.below, l[j]);
      best = __viaddmin_u16x2(j + 1 < K ? l[j + 1] : end, p1.above, best);
      before = l[j];
      beyond[j] = __viaddmin_u16x2(best, less, p2);
      l[j] = cost[j] + beyond[j];
    }
    find_smallest();
  }

  template <bool PLAIN>
  __device__ __forceinline__ VerticalPlace<PLAIN, Census, Sum> place(int row) const {
    const SgmScene &s = a.scene;
    const int y = sweep ? s.height - 1 - row : row;
    const size_t among = (size_t)(y - a.skipped[sweep]) * s.width;
    VerticalPlace<PLAIN, Census, Sum> at;
    at.left = (const Census *)s.left + among + x;
    at.low = (const Census *)s.right + among + (PLAIN ? x - s.min_disparity - first_word : 0);
    at.high = at.low - s.words;
    at.sums = (Sum *)a.sums + ((size_t)y * s.width + x) * s.words + first_word;
    at.gray = s.gray.row(y) + x;
    at.census_pitch = dy * (ptrdiff_t)s.width, at.sums_pitch = at.census_pitch * s.words;
    at.gray_pitch = dy * s.gray.stride;
    return at;
  }

  template <bool PLAIN>
  __device__ __forceinline__ void load(Row &to,
                                       const VerticalPlace<PLAIN, Census, Sum> &from) const {
    const SgmScene &s = a.scene;
    to.left = sgm_ldg(from.left);
#pragma unroll
    for (int j = 0; j < K; j++) {
      const int column = x - s.min_disparity - first_word - j;
      to.low[j] = sgm_ldg(PLAIN ? from.low - j : from.low + (uint32_t)rv_max(column, 0));
      to.high[j] =
          sgm_ldg(PLAIN ? from.high - j : from.low + (uint32_t)rv_max(column - s.words, 0));
    }
    if (!PLAIN && s.adaptive)
      to.gray = *from.gray;
  }

  /* A row; its place in the ring is filled again, from `next`, when there are more. */
  template <bool PLAIN, bool ADD>
  __device__ __forceinline__ void work(Row &row, Sum *&sums, bool more,
                                       VerticalPlace<PLAIN, Census, Sum> &next) {
    const SgmScene &s = a.scene;
    uint32_t cost[K];
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] = sgm_limit(__byte_perm(sgm_hamming(row.left, row.low[j]),
                                      sgm_hamming(row.left, row.high[j]), 0x5410),
                          s.limit, row.left);
    if (!PLAIN && s.adaptive) {
      p2 = 0x10001u * (uint32_t)rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient, (int)row.gray,
                                                  (int)gray_before);
      gray_before = row.gray;
    }
    if (more)
      load<PLAIN>(row, next);
    step(cost);
    row.sum.add(l, beyond);
    if (keeps)
      row.sum.store(sums);
    sums += next.sums_pitch;
    if (!ADD)
      row.sum = {};
    else if (more)
      row.sum.load(next.sums);
    if (more)
      next.advance();
  }

  /* Of AHEAD rows FAR after row `first`: the warp's sums, left pixels and candidates. */
  template <bool ADD> __device__ __forceinline__ VerticalPrefetch prefetcher(int first) const {
    enum { LINE = 128, BYTES = 32 * K * (int)sizeof(Sum), SUMS = (BYTES + LINE - 1) / LINE };
    enum { LEFT = AHEAD * SUMS, RIGHT = LEFT + AHEAD, PIECES = (32 - RIGHT) / AHEAD };
    const SgmScene &s = a.scene;
    const int lane = (int)threadIdx.x % 32, left_x = __shfl_sync(SGM_WARP, x, 0);
    const bool sum = lane < LEFT, left = !sum && lane < RIGHT;
    const int n = sum ? lane : left ? (lane - LEFT) * PIECES : lane - RIGHT;
    const int row = n / (sum ? SUMS : PIECES), piece = n % (sum ? SUMS : PIECES);
    const ptrdiff_t y = (sweep ? s.height - 1 - first : first) + dy * (FAR + row);
    const ptrdiff_t among = (y - a.skipped[sweep]) * s.width;
    const int last = left_x - s.min_disparity - 2 * s.words + 1;
    const int column = rv_clamp(last + piece * (LINE / (int)sizeof(Census)), 0, s.width - 1);
    VerticalPrefetch lines;
    const size_t pixel = sum ? s.words * sizeof(Sum) : sizeof(Census);
    const bool inside = !sum || (ADD && piece * LINE < (s.width - left_x) * (int)pixel);
    lines.row = inside && row < AHEAD ? FAR + row : RV_MAX_SIDE; /* or never */
    if (sum)
      lines.line = (const char *)((Sum *)a.sums + (y * s.width + left_x) * s.words) + piece * LINE;
    else
      lines.line = (const char *)(left ? (const Census *)s.left + among + left_x
                                       : (const Census *)s.right + among + column);
    lines.pitch = dy * AHEAD * (ptrdiff_t)(s.width * pixel);
    return lines;
  }

  /* Rows `first` to first + count - 1 of the sweep; ADD: to the sums that are there. */
  template <bool PLAIN, bool ADD> __device__ __forceinline__ void walk(int first, int count) {
    VerticalPlace<PLAIN, Census, Sum> next = place<PLAIN>(first);
    Sum *sums = next.sums;
    Row ring[AHEAD];
    if (!PLAIN && a.scene.adaptive && count > 0)
      gray_before = first > 0 ? *(next.gray - next.gray_pitch) : 0;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      ring[u].sum = {};
      if (u < count) {
        load<PLAIN>(ring[u], next);
        if (ADD)
          ring[u].sum.load(next.sums);
        next.advance();
      }
    }
    VerticalPrefetch lines = prefetcher<ADD>(first);
    int r = 0;
#pragma unroll 1
    for (; r + 2 * AHEAD <= count; r += AHEAD) {
      lines.prefetch(r, count);
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
        work<PLAIN, ADD>(ring[u], sums, true, next);
    }
#pragma unroll 1
    for (; r < count; r += AHEAD)
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
        if (r + u < count)
          work<PLAIN, ADD>(ring[u], sums, r + u + AHEAD < count, next);
  }

  /* Stores the state after these rows for the next ones. */
  __device__ __forceinline__ void leave() const {
    if (keeps && a.row + a.rows < a.scene.height)
      sgm_store<K>(state(), l);
  }
};

template <int G, int K, bool NARROW, typename Census>
__global__ void __launch_bounds__(2 * COLUMNS * G, 256 / (COLUMNS * G))
    vertical_kernel(const __grid_constant__ VerticalArgs a) {
  VerticalColumn<G, K, NARROW, Census> column(a);
  const bool plain = column.all_inside() && !a.scene.adaptive;
  const int set = a.set[column.sweep];
  if (plain)
    column.template walk<true, false>(a.row, set);
  else
    column.template walk<false, false>(a.row, set);
  __syncthreads(); /* the sums of the other sweep are stored */
  if (plain)
    column.template walk<true, true>(a.row + set, a.rows - set);
  else
    column.template walk<false, true>(a.row + set, a.rows - set);
  column.leave();
}

/* Picks lanes and words per lane. */
#define SGM_FOR_VERTICAL(words, G, K, ...)                                                         \
  do {                                                                                             \
    if ((words) <= 16) {                                                                           \
      constexpr int G = 16, K = 1;                                                                 \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 32) {                                                                    \
      constexpr int G = 16, K = 2;                                                                 \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 64) {                                                                    \
      constexpr int G = 16, K = 4;                                                                 \
      __VA_ARGS__;                                                                                 \
    } else if ((words) <= 128) {                                                                   \
      constexpr int G = 16, K = 8;                                                                 \
      __VA_ARGS__;                                                                                 \
    } else {                                                                                       \
      constexpr int G = 32, K = 8;                                                                 \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  } while (0)

template <int G, int K, bool NARROW, typename Census>
RvStatus launch(const RvSgmJob *job, const VerticalArgs &a) {
  const int blocks = rv_div_up(a.scene.width, COLUMNS), threads = a.sweeps * COLUMNS * G;
  return rv_launch(&job->plan->config.log, vertical_kernel<G, K, NARROW, Census>, blocks, threads,
                   0, job->stream, false, a);
}

template <bool NARROW> RvStatus launch_any(const RvSgmJob *job, const VerticalArgs &a) {
  SGM_FOR_DESCRIPTOR(job->plan, Census, {
    SGM_FOR_VERTICAL(a.scene.words, G, K, return (launch<G, K, NARROW, Census>(job, a)));
  });
}

} // namespace

/* Down and up at the same time; where the window does not hold all descriptors, window by
 * window. */
RvStatus sgm_cuda_vertical(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const int height = config->height, all = work->window >= height;
  VerticalArgs a = {};
  a.scene = sgm_cuda_scene(work, job);
  a.sums = work->sums, a.states = work->vertical_states;
  a.sweeps = config->paths == 2 ? 1 : 2;
  const int most = all ? height : work->window / a.sweeps;
  /* The middle row of an odd height is set on the way down. */
  const int set[2] = {a.sweeps == 2 ? rv_div_up(height, 2) : height, height / 2};
  for (a.row = 0; a.row < height; a.row += a.rows) {
    a.rows = rv_min(most, height - a.row);
    const SgmRows down = {a.row, a.rows, 0};
    const SgmRows up = {height - a.row - a.rows, a.rows, a.rows};
    const SgmRows pieces[2] = {down, up};
    if (!all) {
      RV_TRY(sgm_cuda_census(work, job, pieces, a.sweeps));
      a.skipped[0] = down.first - down.to, a.skipped[1] = up.first - up.to;
    }
    for (int i = 0; i < 2; i++)
      a.set[i] = rv_clamp(set[i] - a.row, 0, a.rows);
    RV_TRY(work->narrow_sums ? launch_any<true>(job, a) : launch_any<false>(job, a));
  }
  return RV_OK;
}
