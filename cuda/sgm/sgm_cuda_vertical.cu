/* SPDX-License-Identifier: MIT */
/* sgm_cuda_vertical.cu: the vertical directions alone, for 2 and 4 paths: down, and up at the same
 * time (benchmark sgm/1242x375-d128-p4 with packed partial sums, -p2 and -d96-p4 without).
 *
 * A group of lanes takes a column from one end of the image to the other, the path's state in
 * registers. A block has four columns, both sweeps. What the warps of a sweep read of a row, they
 * copy to shared memory some rows before use: the descriptors of the four columns and of all their
 * candidates, P2, and the sums. Each sweep sets the sums of its half of the rows, and after the
 * only barrier of both adds to those of the other.
 *
 * Blocks of columns do not fill the GPU. With packed sums blocks of rows run beside them, which do the
 * first part of sgm_cuda_rows.cu: they walk along rows, from the ends to the middles. */
#include <cuda_pipeline.h>

#include <algorithm>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_cost.cuh"
#include "sgm/sgm_cuda_row_walk.cuh"

namespace {

struct VerticalArgs {
  SgmScene scene;
  uint32_t *sums;
  const uint32_t *p2; /* SgmCuda.p2 */
  uint32_t *states;   /* [sweep][x][words] */
  int sweeps;         /* 1: down alone */
  int row, rows;      /* of this launch, counted in the direction of the sweep */
  int set[2];         /* rows of these, the first ones, whose sums are set; by sweep */
  int skipped[2];     /* image row of row 0 of the descriptors, by sweep */
  int blocks;         /* that have columns; the others have rows */
};

/* Columns of a block: with more of them the load of the SMs is uneven. */
enum { COLUMNS = 4 };
static_assert((int)COLUMNS == (int)SGM_PAD, "blocks start at multiples of 16 bytes");

template <bool NARROW> struct VerticalSum { typedef uint32_t Type; };
template <> struct VerticalSum<true> { typedef uint16_t Type; };

/* Sums of a lane's words as they are in memory, see sgm_cuda.cuh: words, or with NARROW two bytes
 * per word, those of two words interleaved in one register. */
template <int K, bool NARROW> struct VerticalSums {
  enum { REGISTERS = NARROW ? (K + 1) / 2 : K };
  static_assert(!NARROW || K != 1, "pairs of words");
  uint32_t r[REGISTERS];

  __device__ __forceinline__ void load(const char *at) {
    sgm_load<REGISTERS>(r, (const uint32_t *)at);
  }
  __device__ __forceinline__ void store(char *at) const { sgm_store<REGISTERS>((uint32_t *)at, r); }
  /* Costs L + 1 of a path and their excess over the costs of the pixel. No half or byte carries. */
  __device__ __forceinline__ void add(const uint32_t (&l)[K], const uint32_t (&beyond)[K]) {
#pragma unroll
    for (int i = 0; i < REGISTERS; i++)
      if constexpr (!NARROW)
        r[i] += l[i] - 0x10001u;
      else
        r[i] += sgm_shift_add<8>(beyond[2 * i + 1], beyond[2 * i]);
  }
};

/* What is copied of a row, in pieces of 16 bytes: candidates of all columns, the columns, P2, and to
 * add to them the sums. The first candidate is at a multiple of four columns, so up to three more
 * are copied. */
template <int G, int K, bool NARROW, typename Census> struct VerticalShape {
  typedef typename VerticalSum<NARROW>::Type Sum;
  enum { PIECE = 16, WORDS = G * K, SUMS = COLUMNS * WORDS * (int)sizeof(Sum) / PIECE };
  enum { RIGHT = (2 * WORDS + 2 * SGM_PAD) * (int)sizeof(Census) / PIECE };
  enum { LEFT = COLUMNS * (int)sizeof(Census) / PIECE, P2 = NARROW ? 1 : 0 };
  enum { SET = RIGHT + LEFT + P2, ADD = SET + SUMS };
  enum { IS_FULL = NARROW }; /* all words exist */
  /* Rows copied together, and stages of them; all but one are on their way. With packed sums more
   * of them are slower: see docs/notes/sgm-cuda.md. */
  enum { LIMIT = 48 << 10, STAGES = !NARROW && 6 * ADD * PIECE <= LIMIT ? 3 : 2 };
  enum { MOST = LIMIT / (2 * STAGES * ADD * PIECE), ROWS = MOST >= 4 ? 4 : MOST >= 2 ? 2 : 1 };
  enum { BYTES = STAGES * ROWS * ADD * PIECE }; /* of a sweep */
  static_assert(2 * (int)BYTES <= (int)LIMIT, "shared memory");
};

/* The copies of a thread: every THREADS-th piece of a stage, whose rows are back to back. */
template <class Shape, int THREADS, bool IS_ADD> struct VerticalCopy {
  enum { PIECE = Shape::PIECE, PIECES = IS_ADD ? Shape::ADD : Shape::SET, ROWS = Shape::ROWS };
  enum { ALL = PIECES * ROWS, EACH = (ALL + THREADS - 1) / THREADS };
  const char *at[EACH];
  int step[EACH];  /* bytes to the next stage */
  uint32_t wanted; /* bit i: piece i has something that is read */
  uint32_t to;     /* address in shared memory */
  int thread;

  /* The next stage, of which `rows` rows exist, to stage n of the ring. */
  __device__ __forceinline__ void stage(int n, int rows) {
    const uint32_t out = to + n * (ALL * PIECE);
    const int pieces = rv_min(rows, ROWS) * PIECES;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      if (thread + i * THREADS < pieces && (Shape::IS_FULL || wanted >> i & 1))
        __pipeline_memcpy_async(__cvta_shared_to_generic(out + i * THREADS * PIECE), at[i], PIECE);
      at[i] += step[i];
    }
    __pipeline_commit();
  }
};

/* Hides a value from the compiler, so that it keeps it in a register. */
template <typename T> __device__ __forceinline__ void keep(T &value) {
  asm volatile("" : "+r"(value));
}

/* A column in one sweep. Lanes without words do the same as lane 0, so that all contain words of
 * the path and the minimum needs no selection. States are L + 1, as in sgm_cuda_row_path.cuh. The
 * pipe of minima and byte permutations is the busiest one: what can be a multiplication is one. */
template <int G, int K, bool NARROW, typename Census, bool COUNTS> struct VerticalColumn {
  typedef VerticalShape<G, K, NARROW, Census> Shape;
  typedef typename Shape::Sum Sum;
  enum { PIECE = Shape::PIECE, ROWS = Shape::ROWS, STAGES = Shape::STAGES, THREADS = COLUMNS * G };
  enum { ONE = 0x10001 }; /* in both halves */

  const VerticalArgs &a;
  char *ring;
  int x, sweep, dy, first_word, below, above, own;
  uint32_t scale, offset; /* turn the word below into a neighbor at the start of the range, */
  uint32_t from_above;    /* and the one above at its end */
  uint32_t half[2];       /* 1 in the lanes of the warp's first column, of its second one */
  uint32_t minus[2], top; /* minus these, and 0x10000: see find_smallest */
  bool keeps;
  uint32_t l[K], beyond[K]; /* L + 1 of the previous row; excess of L over the pixel's costs */
  uint32_t drop;            /* minus the smallest l, in both halves */
  uint32_t p2, gray_before, limit, mapped; /* mapped: P2 is in the rows */
  SgmP1 p1;

  __device__ __forceinline__ VerticalColumn(const VerticalArgs &args, int sweep_, char *ring_)
      : a(args), ring(ring_), sweep(sweep_), dy(sweep_ ? -1 : 1) {
    const int lane = (int)threadIdx.x % G, lanes = a.scene.words / K,
              first = lane < lanes ? lane : 0;
    const int column = first_column() + thread() / G;
    x = rv_min(column, a.scene.width - 1), own = x - first_column();
    keeps = lane < lanes && column < a.scene.width;
    first_word = first * K;
    below = first == 0 ? lanes - 1 : first - 1, above = first == lanes - 1 ? 0 : first + 1;
    /* There is no candidate -1; the low half's last one precedes the high half's first. */
    scale = first == 0 ? 0x10000 : 1, offset = first == 0 ? SGM_FAR : 0;
    from_above = first == lanes - 1 ? 0x5432 : 0x3210;
    half[1] = G == 16 && threadIdx.x % 32 >= 16, half[0] = 1 - half[1];
    p1 = sgm_p1(a.scene, sweep), p2 = (uint32_t)a.scene.p2 * ONE, limit = a.scene.limit + ONE;
    minus[0] = 0u - half[0], minus[1] = 0u - half[1], top = blockDim.z << 16;
    keep(scale), keep(offset), keep(from_above), keep(half[0]), keep(half[1]);
    keep(minus[0]), keep(minus[1]), keep(top);
    mapped = a.p2 != nullptr;
    keep(p1.below), keep(p1.above), keep(limit), keep(mapped);
#pragma unroll
    for (int j = 0; j < K; j++)
      l[j] = ONE; /* a path that starts */
    if (a.row > 0)
      sgm_load<K>(l, state());
    find_smallest();
  }

  /* Of the sweep. */
  __device__ __forceinline__ int thread() const {
    return (int)threadIdx.x / 32 / a.sweeps * 32 + (int)threadIdx.x % 32;
  }
  __device__ __forceinline__ int first_column() const {
    return (int)blockIdx.x * COLUMNS;
  }
  /* Of the candidates that are copied. */
  __device__ __forceinline__ int first_candidate() const {
    const int beyond_pad = rv_div_up(a.scene.min_disparity - 1, SGM_PAD);
    return first_column() - 2 * a.scene.words - beyond_pad * SGM_PAD;
  }

  __device__ __forceinline__ uint32_t *state() const {
    return a.states + (sweep * (size_t)a.scene.width + x) * a.scene.words + first_word;
  }

  __device__ __forceinline__ void find_smallest() {
    uint32_t smallest = l[0];
#pragma unroll
    for (int j = 1; j < K; j++)
      smallest = sgm_min2(smallest, l[j]);
    smallest = sgm_min2(smallest, sgm_swap2(smallest));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (G == 16) { /* two reductions are faster than four exchanges */
      const uint32_t first = __reduce_min_sync(SGM_WARP, smallest * half[0] + minus[1]);
      const uint32_t second = __reduce_min_sync(SGM_WARP, smallest * half[1] + minus[0]);
      drop = first * minus[0] + (second * minus[1] + top);
      return;
    }
#endif
    drop = 0x10000u - sgm_group_min_u32<G>(smallest);
  }

  /* Eq. 2.3; cost: costs + 1. The minimum of the previous row has the longest latency: it is
   * subtracted last, L - C = min(min(L(k), L(k +- 1) + P1) - minimum, P2). */
  __device__ __forceinline__ void step(const uint32_t (&cost)[K]) {
    const uint32_t from_below = __shfl_sync(SGM_WARP, l[K - 1], below, G);
    const uint32_t end = __shfl_sync(SGM_WARP, l[0], above, G);
    uint32_t before = from_below * scale + offset;
#pragma unroll
    for (int j = 0; j < K; j++) {
      const uint32_t after = j + 1 < K ? l[j + 1] : __byte_perm(end, SGM_FAR * ONE, from_above);
      uint32_t best = __viaddmin_u16x2(before, p1.below, l[j]);
      best = __viaddmin_u16x2(after, p1.above, best);
      before = l[j];
      beyond[j] = __viaddmin_u16x2(best, drop, p2);
      l[j] = cost[j] + beyond[j];
    }
    find_smallest();
  }

  /* Image row of row `row` of the sweep. */
  __device__ __forceinline__ int image_row(int row) const {
    return sweep ? a.scene.height - 1 - row : row;
  }
  __device__ __forceinline__ Sum *sums_at(int row, int column) const {
    return (Sum *)a.sums + ((ptrdiff_t)image_row(row) * a.scene.width + column) * a.scene.words;
  }

  /* Where piece n of row `row` is in memory, and the bytes to the next row. */
  __device__ __forceinline__ const char *piece(int n, int row, int *pitch) const {
    const SgmScene &s = a.scene;
    const int y = image_row(row), across = PIECE / (int)sizeof(Census);
    const ptrdiff_t among = (ptrdiff_t)(y - a.skipped[sweep]) * s.pitch;
    *pitch = dy * s.pitch * (int)sizeof(Census);
    if (n < Shape::RIGHT) { /* columns beyond an end: any that exist, or the padding */
      const int column = first_candidate() + n * across;
      return (const char *)((const Census *)s.right + among +
                            rv_clamp(column, -SGM_PAD, s.pitch - SGM_PAD - across));
    }
    if (n < Shape::RIGHT + Shape::LEFT || (n < Shape::SET && !a.p2))
      return (const char *)((const Census *)s.left + among + first_column() +
                            (n - Shape::RIGHT) % Shape::LEFT * across);
    if (n < Shape::SET) { /* of the step from the previous row of the sweep */
      *pitch = dy * s.pitch * (int)sizeof(uint32_t);
      return (const char *)(a.p2 + (ptrdiff_t)(y + sweep) * s.pitch + first_column());
    }
    *pitch = dy * s.width * s.words * (int)sizeof(Sum);
    const int bytes = (n - Shape::SET) * PIECE;
    const int most = rv_min(COLUMNS, s.width - first_column()) * s.words * (int)sizeof(Sum);
    return (const char *)sums_at(row, first_column()) + (bytes < most ? bytes : 0);
  }

  __device__ __forceinline__ bool is_read(int n) const {
    const int words = a.scene.words, row = COLUMNS * words * (int)sizeof(Sum);
    return n < Shape::RIGHT ? n * PIECE < (2 * words + 2 * SGM_PAD) * (int)sizeof(Census)
                            : n < Shape::SET || (n - Shape::SET) * PIECE < row;
  }

  template <class Copy> __device__ __forceinline__ Copy copy_from(int first) const {
    Copy copy;
    copy.wanted = 0, copy.thread = thread();
    copy.to = (uint32_t)__cvta_generic_to_shared(ring) + copy.thread * PIECE;
    keep(copy.to);
#pragma unroll
    for (int i = 0; i < Copy::EACH; i++) {
      const int n = rv_min(copy.thread + THREADS * i, Copy::ALL - 1);
      int pitch = 0;
      copy.at[i] = piece(n % Copy::PIECES, first + n / Copy::PIECES, &pitch);
      copy.step[i] = pitch * ROWS;
      keep(copy.step[i]);
      copy.wanted |= (uint32_t)is_read(n % Copy::PIECES) << i;
    }
    return copy;
  }

  /* Ends a stage of the sweep's warps. */
  __device__ __forceinline__ void meet() const {
    if (sweep)
      asm volatile("barrier.sync 2, %0;" ::"n"((int)COLUMNS * G) : "memory");
    else
      asm volatile("barrier.sync 1, %0;" ::"n"((int)COLUMNS * G) : "memory");
  }

  /* Penalty of the step to a row without a map of them. */
  __device__ __forceinline__ void find_p2(int row) {
    const SgmScene &s = a.scene;
    const uint32_t gray = s.gray.row(image_row(row))[x];
    p2 = ONE *
         (uint32_t)rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient, (int)gray, (int)gray_before);
    gray_before = gray;
  }

  /* Costs + 1 of the pixel in a row that is in shared memory. */
  __device__ __forceinline__ void find_costs(uint32_t (&cost)[K], Census left, const Census *low,
                                             const Census *high) const {
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] = sgm_cost_and_one(left, low[-j], high[-j], limit);
  }

  /* Where this lane reads in a row of the ring, bytes. */
  struct Place {
    int low, high, left, p2, sums;
  };
  __device__ __forceinline__ Place place() const {
    const int first = x - a.scene.min_disparity - first_word - first_candidate();
    Place at;
    at.low = first * (int)sizeof(Census), at.high = at.low - a.scene.words * (int)sizeof(Census);
    at.left = Shape::RIGHT * PIECE + own * (int)sizeof(Census);
    at.p2 = (Shape::RIGHT + Shape::LEFT) * PIECE + own * (int)sizeof(uint32_t);
    at.sums = Shape::SET * PIECE + (own * a.scene.words + first_word) * (int)sizeof(Sum);
    keep(at.low), keep(at.high), keep(at.left), keep(at.p2), keep(at.sums);
    return at;
  }

  /* A row, in shared memory at `from`. */
  template <bool ADD>
  __device__ __forceinline__ void work(const char *from, const Place &at, char *sums, int row) {
    uint32_t cost[K];
    find_costs(cost, *(const Census *)(from + at.left), (const Census *)(from + at.low),
               (const Census *)(from + at.high));
    if (NARROW && mapped)
      p2 = *(const uint32_t *)(from + at.p2);
    if (!NARROW && a.scene.adaptive)
      find_p2(row);
    step(cost);
    VerticalSums<K, NARROW> sum = {};
    if (ADD)
      sum.load(from + at.sums);
    sum.add(l, beyond);
    if (keeps)
      sum.store(sums);
  }

  /* Thirty-two rows that end before row `row` of the sweep, in which the block has added to `added` rows,
   * are finished. */
  __device__ __forceinline__ void count_rows(int row, int added, const RowArgs &finishing) const {
    enum { AT_ONCE = 32 };
    static_assert((int)AT_ONCE <= (int)FINISH_TAIL, "those of the last stages do not count");
    if (added % AT_ONCE || added == 0 || thread() >= AT_ONCE)
      return;
    const int y = image_row(row - AT_ONCE + thread());
    if (finishing.counts(y))
      finishing.finish(y);
  }

  /* Rows `first` to first + count - 1 of the sweep; ADD: to the sums that are there. */
  template <bool ADD>
  __device__ __forceinline__ void walk(int first, int count, const RowArgs &finishing) {
    typedef VerticalCopy<Shape, THREADS, ADD> Copy;
    enum { PITCH = Copy::PIECES * PIECE };
    Copy copy = copy_from<Copy>(first);
    char *sums = (char *)(sums_at(first, x) + first_word);
    int pitch = dy * a.scene.width * a.scene.words * (int)sizeof(Sum);
    keep(pitch);
    const Place at = place();
    if (!NARROW && a.scene.adaptive && count > 0)
      gray_before = first > 0 ? a.scene.gray.row(image_row(first - 1))[x] : 0;
#pragma unroll
    for (int n = 0; n < STAGES - 1; n++)
      copy.stage(n, count - n * ROWS);
    int stage = 0;
#pragma unroll 1
    for (int r = 0; r < count; r += ROWS) {
      const char *const from = ring + stage * (ROWS * PITCH);
      __pipeline_wait_prior(STAGES - 2);
      meet(); /* the stage has arrived; the one before is finished */
      if (COUNTS && ADD)
        count_rows(first + r, r, finishing);
      copy.stage(stage == 0 ? STAGES - 1 : stage - 1, count - r - (STAGES - 1) * ROWS);
      stage = stage == STAGES - 1 ? 0 : stage + 1;
      if (r + ROWS <= count) {
#pragma unroll
        for (int u = 0; u < ROWS; u++, sums += pitch)
          work<ADD>(from + u * PITCH, at, sums, first + r + u);
      } else {
#pragma unroll 1
        for (int u = 0; u < count - r; u++, sums += pitch)
          work<ADD>(from + u * PITCH, at, sums, first + r + u);
      }
    }
    __pipeline_wait_prior(0);
  }

  /* Stores the state after these rows for the next ones. */
  __device__ __forceinline__ void leave() const {
    if (keeps && a.row + a.rows < a.scene.height)
      sgm_store<K>(state(), l);
  }
};

/* Blocks per SM: with packed sums that of the rows, too. */
template <int G, bool NARROW> constexpr int vertical_blocks() {
  return G == 32 ? 2 : NARROW ? 5 : 4;
}

template <int G, int K, bool NARROW, typename Census, bool COUNTS>
__global__ void __launch_bounds__(2 * COLUMNS * G, vertical_blocks<G, NARROW>())
    vertical_kernel(const __grid_constant__ VerticalArgs a, const __grid_constant__ RowArgs rows) {
  typedef VerticalColumn<G, K, NARROW, Census, COUNTS> Column;
  extern __shared__ __align__(16) char memory[];
  rv_launch_wait();
  rv_launch_next();
  if constexpr (NARROW)
    if ((int)blockIdx.x >= a.blocks) {
      row_approach<G * K / 32, Census, COUNTS>(rows, memory, (int)blockIdx.x - a.blocks);
      return;
    }
  /* Uniform for the compiler. */
  const int sweep = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0) % a.sweeps;
  Column column(a, sweep, memory + sweep * Column::Shape::BYTES);
  const int set = a.set[sweep];
  column.template walk<false>(a.row, set, rows);
  __syncthreads(); /* the sums of the other sweep are stored */
  column.template walk<true>(a.row + set, a.rows - set, rows);
  column.leave();
}

/* Picks lanes and words per lane. */
#define SGM_FOR_VERTICAL(words, G, K, ...)                                                         \
  do {                                                                                             \
    if ((words) <= 16) {                                                                           \
      constexpr int G = 16, K = NARROW ? 2 : 1; /* packed sums have more words */                  \
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

/* Bytes of shared memory that a kernel has without asking. */
enum { SHARED = 48 << 10 };

template <int G, int K, bool NARROW, typename Census>
RvStatus launch(const SgmCuda *work, const RvSgmJob *job, VerticalArgs a) {
  const RvSgmPlan *plan = job->plan;
  const RowArgs rows = row_args(work, plan, a.scene, a.sums);
  const int threads = a.sweeps * COLUMNS * G;
  size_t shared = a.sweeps * VerticalShape<G, K, NARROW, Census>::BYTES;
  a.blocks = rv_div_up(a.scene.width, COLUMNS);
  int blocks = a.blocks;
  if (work->approached) {
    blocks += rv_div_up(a.scene.height, APPROACH_ROWS);
    shared = std::max(shared, row_approach_bytes<Census>(a.scene));
  }
  RvLaunch launch(blocks, threads, shared, job->stream);
  if constexpr (NARROW)
    if (work->needed) {
      launch.prefer_shared();
      return launch.run(&plan->config.log, vertical_kernel<G, K, NARROW, Census, true>, a, rows);
    }
  return launch.run(&plan->config.log, vertical_kernel<G, K, NARROW, Census, false>, a, rows);
}

template <bool NARROW>
RvStatus launch_any(const SgmCuda *work, const RvSgmJob *job, const VerticalArgs &a) {
  SGM_FOR_DESCRIPTOR(job->plan, Census, {
    SGM_FOR_VERTICAL(a.scene.words, G, K, return (launch<G, K, NARROW, Census>(work, job, a)));
  });
}

} // namespace

/* Rows too long for the shared memory of a block of columns are left to sgm_cuda_rows. */
void sgm_cuda_vertical_open(SgmCuda *work, const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  SgmScene scene = {};
  scene.width = config->width, scene.words = config->disparities / 2;
  scene.adaptive = config->adaptive_p2;
  size_t bytes = 0;
  SGM_FOR_DESCRIPTOR(plan, Census, bytes = row_approach_bytes<Census>(scene));
  work->approached = work->narrow_sums && work->window >= config->height && bytes <= SHARED;
  if (work->counts && work->approached)
    work->needed = rv_div_up(config->width, COLUMNS) + 2;
}

/* Down and up at the same time; where the window does not hold all descriptors, window by
 * window. */
RvStatus sgm_cuda_vertical(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  const int height = config->height, all = work->window >= height;
  VerticalArgs a = {};
  a.scene = sgm_cuda_scene(work, job);
  a.sums = work->sums, a.states = work->vertical_states, a.p2 = work->p2;
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
    RV_TRY(work->narrow_sums ? launch_any<true>(work, job, a) : launch_any<false>(work, job, a));
  }
  return RV_OK;
}
