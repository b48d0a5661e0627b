/* SPDX-License-Identifier: MIT */
/* sgm_cuda_rows.cu: the horizontal paths and everything that ends a row, one block a row: the sums
 * of the other directions are read once, the whole sums never leave the chip.
 *
 * The row is cut in segments. One warp walks from the left to the middle, one from the right end to
 * the middle, both note their state before every segment. Then each goes on through the other's
 * half, adds its costs and the sums of the other directions to a slot, and has two more warps to
 * help: one, a turn ahead, walks the next segment the other way from the noted state and leaves
 * costs of pixels and path in the slot; one, a turn behind, finds the winners of the segment that
 * is done. So each path is exact and the row costs as many steps as it has pixels.
 *
 * Columns in here are those of the picture plus `shift`: the last segment ends with the row, and
 * the first starts with up to SEGMENT - 1 columns of padding that match everywhere at no cost. A
 * path that comes through them is as if it had just started, one that ends in them harms nothing,
 * so no step has to ask whether it is inside. */
#include "sgm/sgm_cuda_row_memory.cuh"
#include "sgm/sgm_cuda_row_path.cuh"
#include "sgm/sgm_cuda_winner.cuh"

/* Everything a warp needs to know about its row. FULL: no lane is idle, words = 32 K. NARROW: the
 * sums of the other directions are narrow, see sgm_cuda.cuh. */
template <int K, bool FULL, bool NARROW, typename Census> struct Row {
  typedef RowPath<K, FULL> Path;
  typedef RowFeed<K, Census> Feed;
  enum { STEPS = Feed::STEPS };
  enum { BATCH = K <= 4 ? 2 : 1 }; /* times WINNER_PIXELS pixels that are judged at once */

  const RowArgs &a;
  RowShared<Census> m;
  int y, segments, middle; /* the path from the left starts its second half with `middle` */
  int shift;

  __device__ Row(const RowArgs &args, char *base) : a(args) {
    RowShared<Census>::place(&m, base, a.scene, a.narrow_notes);
    /* From both ends inward: that is where the sweeps end, their last sums are in the cache. */
    y = blockIdx.x % 2 ? (int)(gridDim.x - 1 - blockIdx.x / 2) : (int)(blockIdx.x / 2);
    segments = row_segments(a.scene.width);
    middle = a.both ? segments / 2 : 0;
    shift = segments * SEGMENT - a.scene.width;
  }

  __device__ __forceinline__ int words() const { return FULL ? 32 * K : a.scene.words; }
  __device__ __forceinline__ int pitch() const { return words() + GAP; }

  /* Descriptors, keys and P2; from then on the maps may take the place of the descriptors. */
  __device__ void prepare() const {
    const SgmScene &s = a.scene;
    const Census *left = (const Census *)s.left + (size_t)y * s.width;
    const Census *right = (const Census *)s.right + (size_t)y * s.width;
    const int row = segments * SEGMENT, span = row + 2 * words();
    for (int x = (int)threadIdx.x - PAD; x < row + PAD; x += BLOCK)
      m.left[x] = x < shift ? right[0] : left[rv_min(x - shift, s.width - 1)];
    for (int t = (int)threadIdx.x - PAD; t < span + PAD; t += BLOCK)
      m.right[t] = right[rv_clamp(t - 2 * words() - shift - s.min_disparity, 0, s.width - 1)];
    for (int t = (int)threadIdx.x; t < span; t += BLOCK)
      m.keys[t] = 0xffffffffu;
    for (int x = (int)threadIdx.x; x < (s.adaptive ? row : PAD); x += BLOCK)
      m.p2[0][x] = penalty(x - 1, x), m.p2[1][x] = penalty(x, x + 1);
  }

  /* P2 between neighbouring columns, anything where one of them is not in the picture. */
  __device__ uint32_t penalty(int x0, int x1) const {
    const SgmScene &s = a.scene;
    const uint8_t *grey = s.grey.row(y);
    const int last = s.width - 1;
    return 0x10001u * (s.adaptive ? rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient,
                                                      grey[rv_clamp(x1 - shift, 0, last)],
                                                      grey[rv_clamp(x0 - shift, 0, last)])
                                  : s.p2);
  }

  /* Segment that pair 0 (right half) or 1 (left half) takes in turn i < turns(pair). */
  __device__ int turn(int pair, int i) const { return pair ? middle - 1 - i : middle + i; }
  __device__ int turns(int pair) const { return pair ? middle : segments - middle; }
  __device__ uint32_t *slot(int pair, int i) const {
    return m.buffer + (size_t)(SLOTS * pair + i % SLOTS) * SEGMENT * pitch();
  }
  __device__ uint16_t *cost_slot(int pair, int i) const {
    return m.costs + (size_t)(COST_SLOTS * pair + i % COST_SLOTS) * SEGMENT * words();
  }
  /* Ends a turn of the pair's three warps. They come from different places in the code, so it is
   * not bar.sync, which promises that all execute the same instruction. */
  static __device__ void end_turn(int pair) {
    if (pair)
      asm volatile("barrier.sync 2, %0;" ::"n"(ROLES * 32) : "memory");
    else
      asm volatile("barrier.sync 1, %0;" ::"n"(ROLES * 32) : "memory");
  }
  __device__ void *note_at(int segment) const {
    return (char *)m.notes + (size_t)segment * words() * (a.narrow_notes ? 2 : 4);
  }
  enum { SUM = NARROW ? 1 : 2 }; /* u16 of a word */
  __device__ const uint16_t *row_sums() const {
    return (const uint16_t *)a.sums + (size_t)y * a.scene.width * words() * SUM;
  }

  /* P2 of the steps into the units from x on in direction DX. */
  template <int DX> struct Penalties {
    const uint32_t *at;
    int step;
    uint32_t p2[STEPS];

    __device__ __forceinline__ Penalties(const Row &row, int x)
        : at(row.m.p2[DX < 0] + (row.a.scene.adaptive ? x : 0)),
          step(row.a.scene.adaptive ? DX * STEPS : 0) {
      sgm_row_load<STEPS>(p2, at);
    }
    __device__ __forceinline__ void load() {
      if (step)
        sgm_row_load<STEPS>(p2, at);
      at += step;
    }
    __device__ __forceinline__ uint32_t of(int v) const { return p2[DX > 0 ? v : STEPS - 1 - v]; }
  };

  template <int DX> static __device__ int first_unit(int segment) {
    return segment * SEGMENT + (DX > 0 ? 0 : SEGMENT - STEPS);
  }

  /* First half of the way: notes the state before every segment. */
  template <int DX> __device__ void approach(Path &path) const {
    const int from = DX > 0 ? 0 : segments - 1, to = DX > 0 ? middle : middle - 1;
    if (from == to)
      return;
    const int x = first_unit<DX>(from);
    Penalties<DX> penalties(*this, x);
    Feed feed;
    uint32_t cost[K];
    start<DX>(feed, x, path, cost);
    for (int s = from; s != to; s += DX) {
      path.note(note_at(s), a.narrow_notes);
#pragma unroll 1
      for (int i = 0; i < SEGMENT; i += STEPS) {
        penalties.load();
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          uint32_t next[K];
          feed.template next<DX>(v, next);
          path.step(cost, penalties.of(v));
          sgm_copy<K>(cost, next);
        }
      }
    }
  }

  /* The other direction: its costs into the slot, and those of the pixels. */
  template <int DX> __device__ void fill(int pair, Path &path) const {
    const int from = DX > 0 ? 0 : SEGMENT - 1;
    Feed feed;
    uint32_t cost[K];
    if (turns(pair) > 0)
      resume<DX>(turn(pair, 0), feed, path, cost);
    for (int i = 0; i < turns(pair); i++) {
      uint32_t *out = slot(pair, i) + from * pitch() + path.first_word;
      uint16_t *cost_out = cost_slot(pair, i) + from * words() + path.first_word;
      Penalties<DX> penalties(*this, first_unit<DX>(turn(pair, i)));
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
          out += DX * pitch(), cost_out += DX * words();
          sgm_copy<K>(cost, next);
        }
      }
      if (!a.both)
        clear(pair, i);
      if (i + 1 < turns(pair))
        resume<DX>(turn(pair, i + 1), feed, path, cost);
      end_turn(pair);
    }
    end_turn(pair);
    end_turn(pair);
  }

  /* Feed and costs of the first pixel of the unit at x. */
  template <int DX>
  __device__ __forceinline__ void start(Feed &feed, int x, const Path &path,
                                        uint32_t (&cost)[K]) const {
    feed.template start<DX>(m.left + x, m.right + x + 2 * words() - path.first_word, words(), cost);
  }
  /* The same for a segment that is walked from its noted state on. */
  template <int DX>
  __device__ __forceinline__ void resume(int segment, Feed &feed, Path &path,
                                         uint32_t (&cost)[K]) const {
    ask_for(segment);
    if (a.both)
      path.resume(note_at(segment), a.narrow_notes);
    start<DX>(feed, first_unit<DX>(segment), path, cost);
  }

  /* No path from the right: L = 0. */
  __device__ void clear(int pair, int i) const {
    __syncwarp();
#pragma unroll 1
    for (int w = (int)threadIdx.x % 32; w < SEGMENT * pitch(); w += 32)
      slot(pair, i)[w] = Path::ONE;
  }

  /* Brings a segment's sums into the L2 cache. */
  __device__ void ask_for(int s) const {
    enum { LINE = 128 };
    const int end = SEGMENT * 2 * SUM * words(), skip = (s * SEGMENT - shift) * 2 * SUM * words();
    const char *at = (const char *)row_sums() + skip;
#pragma unroll
    for (int n = 0; n < (SEGMENT * K + 31) / 32; n++) {
      const int b = LINE * ((int)threadIdx.x % 32 + 32 * n);
      if (b < end && skip + b >= 0)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(at + b));
    }
  }

  /* Sums of the other directions as they are in memory, and a word of them. */
  static __device__ __forceinline__ void load_others(uint32_t (&to)[NARROW ? (K + 1) / 2 : K],
                                                     const uint16_t *at) {
    if constexpr (NARROW)
      sgm_load_bytes<K>(to, at);
    else
      sgm_load<K>(to, (const uint32_t *)at);
  }
  static __device__ __forceinline__ uint32_t other(const uint32_t (&of)[NARROW ? (K + 1) / 2 : K],
                                                   const uint32_t (&cost)[K], int j) {
    if constexpr (NARROW)
      return __byte_perm(of[j / 2], 0, j % 2 ? 0x4342 : 0x4140) + 2 * cost[j];
    else
      return of[j];
  }

  /* Second half of the way: adds this path's costs and the sums of the other directions, which are
   * loaded a unit ahead, to those in the slot. */
  template <int DX> __device__ void consume(int pair, Path &path) const {
    const int words = this->words(), from = DX > 0 ? 0 : SEGMENT - 1;
    int x = turn(pair, 0) * SEGMENT + from;
    const uint16_t *others_at = row_sums() + ((x - shift) * words + path.first_word) * SUM;
    uint32_t others[STEPS][NARROW ? (K + 1) / 2 : K] = {};
    /* Units end with the row, so only its start can be within one. */
    const auto inside = [&] { return x - shift < a.scene.width ? x - shift : -SEGMENT; };
    const auto load = [&](int first, int v) {
      if (first >= -v * DX)
        load_others(others[v], others_at + v * DX * words * SUM);
    };
    if (turns(pair) > 0) {
#pragma unroll
      for (int v = 0; v < STEPS; v++)
        load(inside(), v);
    }
    end_turn(pair);
    for (int i = 0; i < turns(pair); i++) {
      Penalties<DX> penalties(*this, first_unit<DX>(turn(pair, i)));
      uint32_t *out = slot(pair, i) + from * pitch() + path.first_word;
      const uint16_t *costs = cost_slot(pair, i) + from * words + path.first_word;
      uint32_t bytes[STEPS][(K + 1) / 2];
#pragma unroll
      for (int v = 0; v < STEPS; v++)
        sgm_load_bytes<K>(bytes[v], costs + v * DX * words);
#pragma unroll 1
      for (int n = 0; n < SEGMENT; n += STEPS) {
        uint32_t cost[K], sum[K] = {};
        penalties.load();
        costs += STEPS * DX * words, x += STEPS * DX, others_at += STEPS * DX * words * SUM;
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
            sum[j] += path.l[j] + other(others[v], cost, j);
          load(first, v);
          if (path.active)
            sgm_store<K>(out, sum);
          out += DX * pitch();
        }
      }
      end_turn(pair);
    }
    end_turn(pair);
  }

  /* Sums in the slots are too large by the ones of two states, and still below 2^16 as p2 is at
   * most 8000: see sgm.h. */
  enum { BIAS = 2 };

  /* A select_winner's pixel; all of its lanes know the same. */
  struct PixelWinner {
    uint32_t key, beside; /* sums below and above the winner in the low and high half */
    uint32_t second;
  };

  /* Winners of the segments whose horizontal paths are done */
  __device__ void select_winner(int pair) const {
    const int lane = (int)threadIdx.x % 32, part = lane % WINNER_LANES;
    end_turn(pair);
    end_turn(pair);
    PixelWinner kept = {};
    for (int i = 0; i < turns(pair); i++) {
      int x = turn(pair, i) * SEGMENT + lane / WINNER_LANES, to = i % TOGETHER * GROUPS;
      uint32_t *at = slot(pair, i) + lane / WINNER_LANES * pitch();
#pragma unroll 1
      for (int g = 0; g < GROUPS; g += BATCH) {
        PixelWinner v[BATCH];
        uint4 sums[BATCH][K];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          take(sums[b], at + b * WINNER_PIXELS * pitch());
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          v[b].key = offer(sums[b], x + b * WINNER_PIXELS);
        find_keys(v);
        __syncwarp();
        if (a.volume)
          show(x, at);
        take_neighbours(v, (uint16_t *)at);
        __syncwarp();
        find_seconds(v, at);
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          if (part == to + b)
            kept = v[b];
        x += BATCH * WINNER_PIXELS, at += BATCH * WINNER_PIXELS * pitch(), to += BATCH;
      }
      if (i % TOGETHER == TOGETHER - 1 || i + 1 == turns(pair))
        write(pair, i, kept);
      end_turn(pair);
    }
  }

  /* Results of the last turns, a pixel a lane. */
  __device__ void write(int pair, int i, const PixelWinner &v) const {
    const int lane = (int)threadIdx.x % 32, part = lane % WINNER_LANES;
    const int of = i - i % TOGETHER + part / GROUPS; /* turn */
    const int x =
        turn(pair, of) * SEGMENT + part % GROUPS * WINNER_PIXELS + lane / WINNER_LANES - shift;
    if (of <= i && x >= 0)
      write_pixel(x, v);
  }

  __device__ __forceinline__ bool has_piece(int p) const {
    return FULL || 4 * ((int)threadIdx.x % WINNER_LANES) + 32 * p < words();
  }

  /* Lane's pieces of four words of a pixel's sums. */
  __device__ __forceinline__ void take(uint4 (&sums)[K], const uint32_t *at) const {
#pragma unroll
    for (int p = 0; p < K; p++)
      if (has_piece(p))
        sums[p] = ((const uint4 *)at)[(int)threadIdx.x % WINNER_LANES + 8 * p];
  }

  /* Offers the pixel's sums to the right pixels, finds this lane's best key. What pixels of the
   * padding offer goes to right pixels that do not exist. */
  __device__ __forceinline__ uint32_t offer(const uint4 (&sums)[K], int x) const {
    const int words = this->words(), q = 4 * ((int)threadIdx.x % WINNER_LANES);
    uint32_t *low = m.keys + x + 2 * words - 1 - q, *high = low - words;
    uint32_t key = 0xffffffffu;
#pragma unroll
    for (int p = 0; p < K; p++) {
      if (!has_piece(p))
        continue;
      const uint32_t w[4] = {sums[p].x, sums[p].y, sums[p].z, sums[p].w};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int n = 32 * p + j;
        const uint32_t low_key = sgm_low_key(w[j], q + n);
        const uint32_t high_key = sgm_high_key(w[j], q + words + n);
        atomicMin(&low[-n], low_key);
        atomicMin(&high[-n], high_key);
        key = __vimin3_u32(key, low_key, high_key);
      }
    }
    return key;
  }

  /* Best keys of the pixels from those of the lanes. */
  static __device__ __forceinline__ void find_keys(PixelWinner (&v)[BATCH]) {
#pragma unroll
    for (int o = WINNER_LANES / 2; o > 0; o /= 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        v[b].key = min(v[b].key, __shfl_xor_sync(SGM_WARP, v[b].key, o));
  }

  /* Takes the winner's sum and those beside it out of the slot. */
  __device__ __forceinline__ void take_neighbours(PixelWinner (&v)[BATCH], uint16_t *halves) const {
    const int words = this->words(), part = (int)threadIdx.x % WINNER_LANES;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int k = (int)(v[b].key & 0xffffu) + part - 1;
      uint16_t *at =
          halves + b * WINNER_PIXELS * 2 * pitch() + (k < words ? 2 * k : 2 * (k - words) + 1);
      uint32_t sum = 0;
      if (part < 3 && (unsigned)k < 2u * words)
        sum = *at, *at = 0xffff;
      v[b].beside = __byte_perm(__shfl_sync(SGM_WARP, sum, 0, WINNER_LANES),
                                __shfl_sync(SGM_WARP, sum, 2, WINNER_LANES), 0x5410);
    }
  }

  /* Smallest sums of those that are left. */
  __device__ __forceinline__ void find_seconds(PixelWinner (&v)[BATCH],
                                               const uint32_t *sums) const {
    uint32_t smallest[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++)
      v[b].second = 0xffffu;
    if (!a.uniqueness && !a.confidence)
      return; /* nobody asks */
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      smallest[b] = 0xffffffffu;
      uint4 w[K];
      take(w, sums + b * WINNER_PIXELS * pitch());
#pragma unroll
      for (int p = 0; p < K; p++) {
        if (!has_piece(p))
          continue;
        smallest[b] = __vimin3_u16x2(smallest[b], w[p].x, w[p].y);
        smallest[b] = __vimin3_u16x2(smallest[b], w[p].z, w[p].w);
      }
      smallest[b] = sgm_min2(smallest[b], sgm_swap2(smallest[b]));
    }
#pragma unroll
    for (int o = WINNER_LANES / 2; o > 0; o /= 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        smallest[b] = sgm_min2(smallest[b], __shfl_xor_sync(SGM_WARP, smallest[b], o));
#pragma unroll
    for (int b = 0; b < BATCH; b++)
      v[b].second = smallest[b] & 0xffffu;
  }

  /* Tests: the sums of a batch. */
  __device__ void show(int x, const uint32_t *sums) const {
    const int words = this->words();
#pragma unroll 1
    for (int i = (int)threadIdx.x % WINNER_LANES; i < BATCH * 2 * words; i += WINNER_LANES) {
      const int p = WINNER_PIXELS * (i / (2 * words)), k = i % (2 * words);
      if (x + p >= shift)
        a.volume[((size_t)y * a.scene.width + (x + p - shift)) * 2 * words + k] =
            (uint16_t)(sgm_half((const uint16_t *)(sums + p * pitch()), k, words) - BIAS);
    }
    __syncwarp();
  }

  /* rv_sgm_offset. Taken 8 up its quotient is 0 to 16 and both its terms are below 2^24, so a rough
   * division is off by one at most. */
  static __device__ __forceinline__ int offset(int below, int best, int above) {
    const int curve = below - 2 * best + above, up = 16 * (below - above) + 17 * curve;
    const int q = (int)__fdividef((float)up, (float)(2 * curve)), rest = up - 2 * curve * q;
    return curve > 0 ? q - 8 + (rest >= 2 * curve) - (rest < 0) : 0;
  }

  __device__ void write_pixel(int x, const PixelWinner &v) const {
    const int k = (int)(v.key & 0xffffu), best = (int)(v.key >> 16);
    int shifted = 0;
    if (a.subpixel && k > 0 && k < 2 * words() - 1)
      shifted = offset((int)(v.beside & 0xffffu), best, (int)(v.beside >> 16));
    const bool valid = rv_sgm_unique(best - BIAS, (int)v.second - BIAS, a.uniqueness);
    a.winner.row(y)[x] = (uint16_t)k;
    a.found.row(y)[x] =
        (uint16_t)(valid ? rv_sgm_value(a.scene.min_disparity, k, shifted) : RV_SGM_INVALID);
    if (a.confidence)
      a.raw_confidence.row(y)[x] = (uint8_t)rv_sgm_confidence(best - BIAS, (int)v.second - BIAS);
  }

  /* Right disparities, RV_SGM_NO_MATCH where nothing was offered; left-right check. */
  __device__ void end() const {
    const SgmScene &s = a.scene;
    const uint32_t *keys =
        m.keys + shift + s.min_disparity + 2 * words() - 1; /* of right pixel 0 */
    enum { AT_ONCE = 4 }; /* winners are asked for together: they come from the L2 cache */
    for (int x0 = (int)threadIdx.x; x0 < s.width; x0 += AT_ONCE * BLOCK) {
      int k[AT_ONCE];
#pragma unroll
      for (int n = 0; n < AT_ONCE; n++)
        k[n] = x0 + n * BLOCK < s.width ? a.winner.row(y)[x0 + n * BLOCK] : 0;
#pragma unroll
      for (int n = 0; n < AT_ONCE; n++)
        if (x0 + n * BLOCK < s.width)
          end_pixel(x0 + n * BLOCK, k[n], keys);
    }
  }
  __device__ __forceinline__ void end_pixel(int x, int k, const uint32_t *keys) const {
    const SgmScene &s = a.scene;
    const int match = x - (s.min_disparity + k);
    a.right.row(y)[x] =
        x + s.min_disparity < s.width ? (uint16_t)keys[x] : (uint16_t)RV_SGM_NO_MATCH;
    const int right_k = match < 0 ? 0 : (int)(keys[match] & 0xffffu);
    if (a.max_lr_diff >= 0 &&
        !rv_sgm_passes_lr_check(x, s.min_disparity, k, right_k, a.max_lr_diff))
      a.found.row(y)[x] = RV_SGM_INVALID;
  }
};

/* Four blocks an SM where registers allow it: rows of 640 pixels need no more memory. */
template <int K, bool FULL, bool NARROW, typename Census>
static __global__ void __launch_bounds__(BLOCK, K <= 2 ? 4 : 1) row_kernel(const RowArgs a) {
  extern __shared__ __align__(16) char memory[];
  const Row<K, FULL, NARROW, Census> row(a, memory);
  row.prepare();
  __syncthreads();
  /* Known to be the same for the whole warp. */
  const int warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0);
  const int pair = warp / ROLES, role = warp % ROLES;
  RowPath<K, FULL> path(a.scene);
  if (a.both && role == WALK) {
    if (pair == 0)
      row.template approach<1>(path);
    else
      row.template approach<-1>(path);
  }
  __syncthreads();
  if (role == ROLE_WINNER)
    row.select_winner(pair);
  else if (role == WALK && pair == 0)
    row.template consume<1>(pair, path);
  else if (role == WALK)
    row.template consume<-1>(pair, path);
  else if (pair == 0)
    row.template fill<-1>(pair, path);
  else
    row.template fill<1>(pair, path);
  __syncthreads();
  row.end();
}

static int narrow_notes(const RvSgmConfig *config) {
  return rv_sgm_path_max(config->cost, config->p2) < 255;
}

size_t sgm_cuda_rows_shared(const RvSgmConfig *config) {
  SgmScene scene = {};
  scene.width = config->width, scene.words = config->disparities / 2;
  scene.adaptive = config->adaptive_p2;
  const int narrow = narrow_notes(config);
  RowShared<uint32_t> csct;
  RowShared<uint64_t> census;
  return config->cost == RV_SGM_CENSUS ? RowShared<uint64_t>::place(&census, NULL, scene, narrow)
                                       : RowShared<uint32_t>::place(&csct, NULL, scene, narrow);
}

template <int K, typename Census>
static void (*kernel_for(const RvSgmConfig *config))(const RowArgs) {
  if (sgm_cuda_narrow_sums(config))
    return row_kernel<K, true, true, Census>;
  return config->disparities == 64 * K ? row_kernel<K, true, false, Census>
                                       : row_kernel<K, false, false, Census>;
}

template <int K, typename Census> static RvStatus allow_shared(const RvSgmConfig *config) {
  RV_CU(&config->log, cudaFuncSetAttribute(kernel_for<K, Census>(config),
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)sgm_cuda_rows_shared(config)));
  return RV_OK;
}

RvStatus sgm_cuda_rows_open(const RvSgmConfig *config) {
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_WORDS(config->disparities / 2, GROUP, K, return (allow_shared<K, uint64_t>(config)));
  else
    SGM_FOR_WORDS(config->disparities / 2, GROUP, K, return (allow_shared<K, uint32_t>(config)));
}

template <typename Census>
static RvStatus launch(const RvSgmConfig *config, const RowArgs &a, RvStream stream) {
  const size_t shared = sgm_cuda_rows_shared(config);
  SGM_FOR_WORDS(a.scene.words, GROUP, K, const auto kernel = kernel_for<K, Census>(config);
                kernel<<<config->height, BLOCK, shared, stream>>>(a));
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

RvStatus sgm_cuda_rows(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                       int check) {
  RowArgs a = {};
  a.scene = sgm_cuda_scene(work, config, job);
  a.sums = work->sums;
  a.winner = work->winner, a.right = work->right;
  a.found = work->found, a.raw_confidence = work->raw_confidence;
  a.both = config->paths > 2, a.narrow_notes = narrow_notes(config);
  a.uniqueness = config->uniqueness, a.subpixel = config->subpixel;
  a.confidence = config->confidence;
  a.max_lr_diff = check ? config->max_lr_diff : -1;
  a.volume = job->volume;
  return config->cost == RV_SGM_CENSUS ? launch<uint64_t>(config, a, job->stream)
                                       : launch<uint32_t>(config, a, job->stream);
}
