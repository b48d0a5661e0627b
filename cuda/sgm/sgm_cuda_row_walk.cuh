/* SPDX-License-Identifier: MIT */
/* sgm_cuda_row_walk.cuh: the horizontal paths of the horizontal-path kernel: the warp that walks
 * along its half and back (RowWalk), and the one that computes the opposite direction (RowFill).
 * Device code only. */
#ifndef RV_SGM_CUDA_ROW_WALK_CUH
#define RV_SGM_CUDA_ROW_WALK_CUH

#include "sgm/sgm_cuda_row_block.cuh"

#include <cuda_pipeline_primitives.h>

/* P2 of the steps into the units from x on in direction DX, in both halves. */
template <class Row, int DX> struct RowPenalties {
  enum { STEPS = Row::STEPS, BYTES = sizeof(typename Row::Penalty) };
  enum { WORDS = STEPS * BYTES / 4 }; /* in shared memory, of a unit */
  const uint32_t *at;
  int step;
  uint32_t beyond; /* leftward: the word to the right of the unit */
  uint32_t p2[STEPS];

  __device__ __forceinline__ RowPenalties(const Row &row, int x)
      : at((const uint32_t *)row.m.p2 + (row.a.scene.adaptive ? x * BYTES / 4 : 0)),
        step(row.a.scene.adaptive ? DX * WORDS : 0), beyond(at[WORDS]) {
    if (!step)
      expand();
  }
  __device__ __forceinline__ void expand() {
    uint32_t word[WORDS + 1];
    sgm_row_load<WORDS>(word, at);
    word[WORDS] = beyond, beyond = word[0];
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
      const int n = (DX > 0 ? i : i + 1) * BYTES;
      p2[i] = __byte_perm(word[n / 4], 0,
                          BYTES == 1 ? 0x4040 + n % 4 * 0x101
                          : n % 4    ? 0x3232
                                     : 0x1010);
    }
  }
  __device__ __forceinline__ void load() {
    if (step)
      expand();
    at += step;
  }
  __device__ __forceinline__ uint32_t of(int v) const {
    return p2[DX > 0 ? v : STEPS - 1 - v];
  }
};

/* A path in direction DX: the start of a unit of STEPS pixels. */
template <int K, bool FULL, bool NARROW, typename Census, int DX> struct RowPathStart {
  typedef RowBlock<K, FULL, NARROW, Census> Row;
  typedef typename Row::Path Path;
  typedef typename Row::Feed Feed;
  enum { STEPS = Row::STEPS };

  static __device__ int first_unit(int segment) {
    return segment * SEGMENT + (DX > 0 ? 0 : SEGMENT - STEPS);
  }
  /* Feed and costs of the first pixel of the unit at x. */
  static __device__ __forceinline__ void start(const Row &row, Feed &feed, int x, const Path &path,
                                               uint32_t (&cost)[K]) {
    const int words = row.words();
    feed.template start<DX>(row.m.left + x, row.m.right + x + 2 * words - path.first_word, words,
                            row.a.scene.limit, cost);
  }
};

/* Walks from an end of the row to the middle, then through the other half. */
template <int K, bool FULL, bool NARROW, typename Census, int DX> struct RowWalk {
  typedef RowBlock<K, FULL, NARROW, Census> Row;
  typedef RowPathStart<K, FULL, NARROW, Census, DX> Start;
  typedef RowPenalties<Row, DX> Penalties;
  typedef typename Row::Path Path;
  enum { STEPS = Row::STEPS };
  const Row &row;

  /* Packed bytes of K words, as those of the sums. */
  template <bool STREAM>
  static __device__ __forceinline__ void store_packed(uint16_t *at, const uint32_t (&beyond)[K]) {
    if (STREAM)
      sgm_stream_bytes<K>(at, beyond);
    else
      sgm_store_bytes<K>(at, beyond);
  }

  /* Number of the saved state in the middle. */
  __device__ int middle_note() const { return row.segments + (DX > 0 ? 0 : 1); }

  /* First half: saves the state before every segment, or stores the path. STREAM: for another
   * kernel, while the L2 cache is wanted for other things. */
  template <bool STREAM> __device__ void approach(Path &path) const {
    const int from = DX > 0 ? 0 : row.segments - 1, to = DX > 0 ? row.middle : row.middle - 1;
    if (from == to)
      return;
    const int x = Start::first_unit(from);
    Penalties penalties(row, x);
    typename Row::Feed feed;
    uint32_t cost[K];
    Start::start(row, feed, x, path, cost);
    uint16_t *out = nullptr;
    int left = x - row.shift; /* columns of the image before the unit */
    if constexpr (NARROW)
      out = row.row_paths() + left * row.words() + path.first_word;
    for (int s = from; s != to; s += DX) {
      if constexpr (!NARROW)
        path.note(row.note_at(s), row.a.narrow_notes);
#pragma unroll 1
      for (int i = 0; i < SEGMENT; i += STEPS) {
        penalties.load();
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          uint32_t next[K];
          feed.template next<DX>(v, next);
          uint32_t beyond[K];
          path.step(cost, penalties.of(v), beyond);
          if constexpr (NARROW) {
            const int u = DX > 0 ? v : STEPS - 1 - v;
            if (left >= -u)
              store_packed<STREAM>(out + u * row.words(), beyond);
          }
          sgm_copy<K>(cost, next);
        }
        if constexpr (NARROW)
          out += DX * STEPS * row.words(), left += DX * STEPS;
      }
    }
  }

  /* The column of the last pixel before the middle. */
  __device__ __forceinline__ int last_column() const {
    return row.middle * SEGMENT - (DX > 0 ? 1 : 0);
  }
  /* Loads what the start in the middle needs and does not depend on the shared memory of the row:
   * the path in the last pixel, and what starts the first slot. */
  __device__ __forceinline__ void load_stored(int pair, const Path &path,
                                              uint32_t (&bytes)[(K + 1) / 2]) const {
    const int words = row.words();
    if (row.middle > 0)
      sgm_load_bytes<K>(bytes,
                        row.row_paths() + (last_column() - row.shift) * words + path.first_word);
    if (row.turns(pair) > 0)
      copy_ahead<STEPS>(row.m.ahead + pair * STEPS * words, words, first_pieces(pair));
  }

  /* The state in the middle when the path from the end is in memory: its excess over the costs of
   * the last pixel, and these. */
  __device__ void resume_stored(Path &path, const uint32_t (&bytes)[(K + 1) / 2]) const {
    if (row.middle == 0)
      return; /* the path starts there, or is not needed */
    const int x = last_column(), words = row.words();
    const auto left = row.m.left[x];
    const auto *const low = row.m.right + x + 2 * words - path.first_word, *const high =
                                                                               low - words;
    uint32_t beyond[K];
    sgm_unpack_bytes<K>(beyond, bytes);
#pragma unroll
    for (int j = 0; j < K; j++)
      path.l[j] =
          beyond[j] + sgm_cost_and_one(left, low[-j], high[-j], row.a.scene.limit + Path::ONE);
    path.find_floor();
  }

  /* Packed sums: bytes of two words interleaved. With one word per lane two lanes load both. */
  static __device__ __forceinline__ void load_packed(uint32_t (&to)[(K + 1) / 2],
                                                     const uint16_t *at) {
    if constexpr (K == 1)
      to[0] = *(const uint32_t *)((uintptr_t)at & ~(uintptr_t)3);
    else
      sgm_load_bytes<K>(to, at);
  }
  /* Adds packed bytes of the other directions and of the other path. Of a pair of words the odd one
   * is unpacked; the even one is what it leaves of the bytes, whatever carries: a multiplication
   * instead of two permutations, whose pipe is the busier one. */
  static __device__ __forceinline__ void add_packed(uint32_t (&sum)[K],
                                                    const uint32_t (&others)[(K + 1) / 2],
                                                    const uint32_t (&path)[(K + 1) / 2], int word) {
    if constexpr (K == 1) {
      sum[0] +=
          __byte_perm(others[0], 0, word % 2 ? 0x4341 : 0x4240) + __byte_perm(path[0], 0, 0x4140);
    } else {
#pragma unroll
      for (int j = 0; j < K / 2; j++) {
        const uint32_t odd = __byte_perm(others[j], 0, 0x4341) + __byte_perm(path[j], 0, 0x4341);
        sum[2 * j] = (sum[2 * j] + others[j] + path[j]) - odd * 256;
        sum[2 * j + 1] += odd;
      }
    }
  }

  /* What copy_ahead copies of a pixel: its packed sums, then its path, in pieces of 16 bytes. */
  enum { PIECES = 8 * K, AT_ONCE = PIECES < 32 ? 32 / PIECES : 1 /* pixels */ };
  /* A lane's first piece in the pixel in the image's column 0. */
  __device__ __forceinline__ const uint16_t *first_piece() const {
    const int piece = (int)threadIdx.x % PIECES, words = row.words();
    const uint16_t *const from = piece < PIECES / 2 ? row.row_sums() : row.row_paths();
    return from + ((int)threadIdx.x % 32 / PIECES * words + piece % (PIECES / 2) * 8);
  }
  __device__ __forceinline__ const uint16_t *first_pieces(int pair) const {
    return first_piece() +
           (ptrdiff_t)(Start::first_unit(row.turn(pair, 0)) - row.shift) * row.words();
  }
  /* Copies COUNT pixels; from: a lane's first piece. Left of the image that is what precedes the
   * row in memory, which has no effect: see SGM_BEFORE. */
  template <int COUNT>
  __device__ __forceinline__ void copy_ahead(uint32_t *to, int pitch, const uint16_t *from) const {
    static_assert(COUNT * PIECES % 32 == 0 && PIECES <= 64, "all lanes copy");
    const int lane = (int)threadIdx.x % 32, words = row.words();
    const ptrdiff_t other = row.row_paths() - row.row_sums(); /* to a lane's second piece */
    uint32_t *const out = to + lane / PIECES * pitch + lane % PIECES * 4;
#pragma unroll
    for (int n = 0; n < COUNT * PIECES / 32; n++) {
      const int p = n * 32 / PIECES, half = n * 32 % PIECES;
      __pipeline_memcpy_async(out + p * pitch + half * 4, from + p * words + (half ? other : 0),
                              16);
    }
    __pipeline_commit();
  }

  /* Second half with packed sums: adds the costs of both paths and the sums of the other
   * directions, in the slot. These sums and the other path are copied there when the slot is free,
   * those of its first unit before, the very first ones by load_stored where the path is there.
   * Turns follow each other along the row, and so do penalties and pieces. */
  __device__ void consume_stored(int pair, Path &path) const {
    enum { PAIR = (K + 1) / 2, REST = SEGMENT - STEPS };
    const int words = row.words(), pitch = row.pitch(), turns = row.turns(pair);
    if (turns > 0) {
      const int x = Start::first_unit(row.turn(pair, 0));
      Penalties penalties(row, x);
      typename Row::Feed feed;
      uint32_t cost[K], others[STEPS][PAIR], paths[STEPS][PAIR];
      Start::start(row, feed, x, path, cost);
      uint32_t *const ahead = row.m.ahead + pair * STEPS * words;
      const uint16_t *pieces = first_pieces(pair);
      if (!row.a.approached)
        copy_ahead<STEPS>(ahead, words, pieces);
      const auto load = [&](const uint32_t *from, int step) {
        __pipeline_wait_prior(1);
        __syncwarp();
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          const uint16_t *const at =
              (const uint16_t *)(from + (DX > 0 ? v : STEPS - 1 - v) * step) + path.first_word;
          load_packed(others[v], at);
          sgm_load_bytes<K>(paths[v], at + words);
        }
        __syncwarp();
      };
      for (int i = 0; i < turns; i++) {
        uint32_t *const slot = row.slot(pair, i);
        copy_ahead<REST>(slot + (DX > 0 ? STEPS * pitch : 0), pitch,
                         pieces + (DX > 0 ? STEPS : -REST) * words);
        load(ahead, words);
        pieces += DX * SEGMENT * words;
        if (i + 1 < turns)
          copy_ahead<STEPS>(ahead, words, pieces);
        else
          __pipeline_commit();
        uint32_t *out = slot + (DX > 0 ? 0 : SEGMENT - 1) * pitch + path.first_word;
        const uint32_t *from = slot + (DX > 0 ? STEPS : REST - STEPS) * pitch; /* the next unit */
#pragma unroll(K <= 2 ? 2 : 1)
        for (int n = 0; n < SEGMENT; n += STEPS) {
          penalties.load();
#pragma unroll
          for (int v = 0; v < STEPS; v++) {
            uint32_t next[K], sum[K];
            feed.template next<DX>(v, next);
            path.step(cost, penalties.of(v));
#pragma unroll
            for (int j = 0; j < K; j++)
              sum[j] = cost[j] * 3 + path.l[j];
            add_packed(sum, others[v], paths[v], path.first_word);
            sgm_store<K>(out, sum);
            out += DX * pitch;
            sgm_copy<K>(cost, next);
          }
          if (n < REST)
            load(from, pitch);
          from += DX * STEPS * pitch;
        }
        row.end_turn(pair);
      }
      __pipeline_wait_prior(0);
    }
    row.end_turn(pair);
  }

  /* Second half: adds the costs of this path and the sums of the other directions, which are loaded
   * one unit before use, to those in the slot. */
  __device__ void consume(int pair, Path &path) const {
    const int words = row.words(), shift = row.shift, from = DX > 0 ? 0 : SEGMENT - 1;
    int x = row.turn(pair, 0) * SEGMENT + from;
    const uint32_t *others_at =
        (const uint32_t *)row.row_sums() + (x - shift) * words + path.first_word;
    uint32_t others[STEPS][K] = {};
    /* Units end with the row, so only its start can be inside one. */
    const auto inside = [&] { return x - shift < row.a.scene.width ? x - shift : -SEGMENT; };
    const auto load = [&](int first, int v) {
      if (first >= -v * DX)
        sgm_load<K>(others[v], others_at + v * DX * words);
    };
    if (row.turns(pair) > 0) {
#pragma unroll
      for (int v = 0; v < STEPS; v++)
        load(inside(), v);
    }
    row.end_turn(pair);
    for (int i = 0; i < row.turns(pair); i++) {
      Penalties penalties(row, Start::first_unit(row.turn(pair, i)));
      uint32_t *out = row.slot(pair, i) + from * row.pitch() + path.first_word;
      const uint16_t *costs = row.cost_slot(pair, i) + from * words + path.first_word;
      uint32_t bytes[STEPS][(K + 1) / 2];
#pragma unroll
      for (int v = 0; v < STEPS; v++)
        sgm_load_bytes<K>(bytes[v], costs + v * DX * words);
#pragma unroll 1
      for (int n = 0; n < SEGMENT; n += STEPS) {
        uint32_t cost[K], sum[K] = {};
        penalties.load();
        costs += STEPS * DX * words, x += STEPS * DX, others_at += STEPS * DX * words;
        const int first = inside();
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          if (path.active) /* an idle lane would read what lane 0 writes */
            sgm_load<K>(sum, out);
          sgm_unpack_bytes<K>(cost, bytes[v]);
          if (n + STEPS < SEGMENT)
            sgm_load_bytes<K>(bytes[v], costs + v * DX * words);
          path.step(cost, penalties.of(v));
#pragma unroll
          for (int j = 0; j < K; j++)
            sum[j] += path.l[j] + others[v][j];
          load(first, v);
          if (path.active)
            sgm_store<K>(out, sum);
          out += DX * row.pitch();
        }
      }
      row.end_turn(pair);
    }
    row.end_turn(pair);
  }
};

/* Computes the path opposite to that of RowWalk, segment by segment from the saved states. */
template <int K, bool FULL, bool NARROW, typename Census, int DX> struct RowFill {
  typedef RowBlock<K, FULL, NARROW, Census> Row;
  typedef RowPathStart<K, FULL, NARROW, Census, DX> Start;
  typedef RowPenalties<Row, DX> Penalties;
  typedef typename Row::Path Path;
  enum { STEPS = Row::STEPS };
  const Row &row;

  /* Costs of this path into the slot, and those of the pixels, for the other two warps. */
  __device__ void fill(int pair, Path &path) const {
    const int from = DX > 0 ? 0 : SEGMENT - 1;
    typename Row::Feed feed;
    uint32_t cost[K];
    if (row.turns(pair) > 0)
      resume(row.turn(pair, 0), feed, path, cost);
    for (int i = 0; i < row.turns(pair); i++) {
      uint32_t *out = row.slot(pair, i) + from * row.pitch() + path.first_word;
      uint16_t *cost_out = row.cost_slot(pair, i) + from * row.words() + path.first_word;
      Penalties penalties(row, Start::first_unit(row.turn(pair, i)));
#pragma unroll 1
      for (int n = 0; n < SEGMENT; n += STEPS) {
        penalties.load();
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          uint32_t next[K];
          feed.template next<DX>(v, next);
          if (path.active)
            sgm_store_bytes<K>(cost_out, cost);
          path.step(cost, penalties.of(v));
          if (path.active)
            sgm_store<K>(out, path.l);
          out += DX * row.pitch(), cost_out += DX * row.words();
          sgm_copy<K>(cost, next);
        }
      }
      if (!row.a.both)
        clear(pair, i);
      if (i + 1 < row.turns(pair))
        resume(row.turn(pair, i + 1), feed, path, cost);
      row.end_turn(pair);
    }
    row.end_turn(pair);
    row.end_turn(pair);
  }

  /* The saved state of a segment, feed and costs of its first pixel. */
  __device__ __forceinline__ void resume(int segment, typename Row::Feed &feed, Path &path,
                                         uint32_t (&cost)[K]) const {
    prefetch(segment);
    if (row.a.both)
      path.resume(row.note_at(segment), row.a.narrow_notes);
    Start::start(row, feed, Start::first_unit(segment), path, cost);
  }

  /* No path from the right: L = 0. */
  __device__ void clear(int pair, int i) const {
    __syncwarp();
#pragma unroll 1
    for (int w = (int)threadIdx.x % 32; w < SEGMENT * row.pitch(); w += 32)
      row.slot(pair, i)[w] = Path::ONE;
  }

  /* Prefetches the sums of a segment to the L2 cache. */
  __device__ void prefetch(int s) const {
    enum { LINE = 128, SUM = Row::SUM };
    const int end = SEGMENT * 2 * SUM * row.words(),
              skip = (s * SEGMENT - row.shift) * 2 * SUM * row.words();
    const char *at = (const char *)row.row_sums() + skip;
#pragma unroll
    for (int n = 0; n < (SEGMENT * K + 31) / 32; n++) {
      const int b = LINE * ((int)threadIdx.x % 32 + 32 * n);
      if (b < end && skip + b >= 0)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(at + b));
    }
  }
};

/* --- The walk to the middle in another kernel (SgmCuda.approached) ---------------------------- */

/* From one end of a row, sums not packed: saves the states in memory. */
template <int K, bool FULL, typename Census, int DX>
static __device__ __forceinline__ void row_note_path(const RowBlock<K, FULL, false, Census> &row) {
  RowPath<K, FULL> path(row.a.scene);
  const RowWalk<K, FULL, false, Census, DX> walk{row};
  walk.template approach<false>(path);
  path.note(row.note_at(walk.middle_note()), 1);
}

/* A warp: every `walkers`-th half of a row from `first` on. memory: of RowShared::place_row. */
template <int K, bool FULL, typename Census>
static __device__ __forceinline__ void row_note_paths(const RowArgs &a, char *memory, int first,
                                                      int walkers) {
  for (int i = first; i < 2 * a.scene.height; i += walkers) {
    typedef RowBlock<K, FULL, false, Census> Row;
    Row row(a, memory, Row::COUNTS ? a.row_at(i / 2) : i / 2);
    row.m.notes = row.noted();
    row.prepare_path((int)threadIdx.x % 32, 32);
    __syncwarp();
    if (i % 2)
      row_note_path<K, FULL, Census, -1>(row);
    else
      row_note_path<K, FULL, Census, 1>(row);
    __syncwarp();
    if (Row::COUNTS && threadIdx.x % 32 == 0 && a.counts(row.y))
      a.finish(row.y);
  }
}

/* Four warps of a block, packed sums: store the paths of two rows from both ends, as
 * RowWalk::approach does. Shared memory: row_approach_bytes. */
enum { APPROACH_ROWS = 2, APPROACH_THREADS = 64 /* of a row */ };

template <typename Census> static inline size_t row_approach_bytes(const SgmScene &scene) {
  RowShared<Census> unused;
  return APPROACH_ROWS * RowShared<Census>::place_row(&unused, NULL, scene, 1);
}

/* COUNTS: rows count, RowArgs.finished. */
template <int K, typename Census, bool COUNTS>
static __device__ __forceinline__ void row_approach(const RowArgs &a, char *memory, int pair) {
  RowShared<Census> unused;
  const size_t bytes = RowShared<Census>::place_row(&unused, NULL, a.scene, 1);
  /* Uniform for the compiler. */
  const int warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0);
  const int n = warp / 2, number = pair * APPROACH_ROWS + n;
  const bool works = n < APPROACH_ROWS && number < a.scene.height;
  const int y = COUNTS ? a.row_at(works ? number : 0) : number;
  const RowBlock<K, true, true, Census> row(a, memory + n * bytes, y);
  if (works)
    row.prepare_path((int)threadIdx.x % APPROACH_THREADS, APPROACH_THREADS);
  __syncthreads();
  if (!works)
    return;
  RowPath<K, true> path(a.scene);
  if (warp % 2 == 0)
    RowWalk<K, true, true, Census, 1>{row}.template approach<true>(path);
  else
    RowWalk<K, true, true, Census, -1>{row}.template approach<true>(path);
  if constexpr (COUNTS) {
    __syncwarp();
    if (threadIdx.x % 32 == 0 && a.counts(y))
      a.finish(y);
  }
}

#endif
