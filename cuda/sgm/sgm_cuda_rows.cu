/* sgm_cuda_rows.cu: the horizontal paths and everything that ends a row, one block a row: the sums
 * of the other directions are read once, the whole sums never leave the chip.
 *
 * The row is cut in segments. One warp walks from the left to the middle, one from the right end to
 * the middle, both note their state before every segment. Then each goes on through the other's
 * half, with two more warps to help: one, a turn ahead, walks the next segment the other way from
 * the noted state and leaves costs of pixels and path in a slot; one, a turn behind, adds the sums
 * of the other directions and finds the winners of the segment that is done. So each path is exact
 * and the row costs as many steps as it has pixels.
 *
 * Columns in here are those of the picture plus `shift`: the last segment ends with the row, and
 * the first starts with up to SEGMENT - 1 columns of padding that match everywhere at no cost. A
 * path that comes through them is as if it had just started, one that ends in them harms nothing,
 * so no step has to ask whether it is inside. */
#include "sgm_cuda.h"
#include "sgm_cuda_cost.cuh"
#include "sgm_cuda_row_path.cuh"
#include "sgm_cuda_winner.cuh"

enum { GROUP = 32, BLOCK = 192, SEGMENT = 16, SLOTS = 3, COST_SLOTS = 2, PAD = 8 };
/* What a warp does; pair 0 (warps 0 to 2) works in the right half, pair 1 in the left one. */
enum { WALK = 0, FILL, JUDGE, ROLES };
/* The judge's lanes a pixel, pixels at once, times that in a segment, and turns after which every
 * lane has a pixel to write. */
enum { JUDGE_LANES = 8, JUDGED = 32 / JUDGE_LANES, GROUPS = SEGMENT / JUDGED };
enum { TOGETHER = JUDGE_LANES / GROUPS };

struct RowArgs {
  SgmScene scene;
  const uint32_t *sums; /* of all other directions */
  SgmRaster<uint16_t> winner, right, found;
  SgmRaster<uint8_t> sureness;
  int both;         /* 0: left to right only */
  int narrow_notes; /* states L + 1 fit 8 bits */
  int uniqueness, subpixel, confidence;
  int max_lr_diff;  /* -1: no left-right check */
  uint16_t *volume; /* tests: the whole sums, [y][x][k]; or NULL */
};

static __host__ __device__ int row_segments(int width) {
  return rv_div_up(width, SEGMENT);
}

/* The block's shared memory. A slot is the buffer of one segment. Descriptors are loaded up to PAD
 * columns ahead, over the ends of the row. */
template <typename Census> struct RowShared {
  void *notes;      /* [segment][words]: states, a word or (narrow) half a word each */
  uint32_t *buffer; /* [pair][slot][pixel][words] */
  uint16_t *costs;  /* [pair][cost slot][pixel][words]: a byte a candidate */
  uint32_t *keys;   /* [x - k + disparities - 1]: best key of a right pixel */
  Census *right;    /* [x - k + disparities]: its descriptor */
  Census *left;     /* [x] */
  uint16_t *p2;     /* [x]: P2 between x - 1 and x; none when it is not adaptive */

  static __host__ __device__ size_t place(RowShared *m, char *base, const SgmScene &s, int narrow) {
    const size_t segments = row_segments(s.width), row = segments * SEGMENT;
    size_t used = 0;
    const auto take = [&](size_t bytes) {
      char *at = base + used;
      used += (bytes + 15) & ~(size_t)15;
      return at;
    };
    m->notes = take((narrow ? sizeof(uint16_t) : sizeof(uint32_t)) * s.words * segments);
    m->buffer = (uint32_t *)take(sizeof(uint32_t) * s.words * SEGMENT * 2 * SLOTS);
    m->costs = (uint16_t *)take(sizeof(uint16_t) * s.words * SEGMENT * 2 * COST_SLOTS);
    m->keys = (uint32_t *)take(sizeof(uint32_t) * (row + 2 * s.words));
    m->right = (Census *)take(sizeof(Census) * (row + 2 * s.words + 2 * PAD)) + PAD;
    m->left = (Census *)take(sizeof(Census) * (row + 2 * PAD)) + PAD;
    m->p2 = (uint16_t *)take(sizeof(uint16_t) * (s.adaptive ? row + 2 : 0));
    return used;
  }
};

/* Everything a warp needs to know about its row. FULL: no lane is idle, words = 32 K. */
template <int K, bool FULL, typename Census> struct Row {
  typedef RowPath<K, FULL> Path;
  typedef RowFeed<K, Census> Feed;
  enum { STEPS = Feed::STEPS };
  enum { BATCH = K <= 4 ? 2 : 1 }; /* times JUDGED pixels that are judged at once */

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
    for (int x = (int)threadIdx.x; x < (s.adaptive ? row + 2 : 0); x += BLOCK) {
      const int here = rv_clamp(x - shift, 0, s.width - 1);
      m.p2[x] = (uint16_t)rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient, s.grey.row(y)[here],
                                            s.grey.row(y)[rv_max(here - 1, 0)]);
    }
  }

  /* Segment that pair 0 (right half) or 1 (left half) takes in turn i < turns(pair). */
  __device__ int turn(int pair, int i) const { return pair ? middle - 1 - i : middle + i; }
  __device__ int turns(int pair) const { return pair ? middle : segments - middle; }
  __device__ uint32_t *slot(int pair, int i) const {
    return m.buffer + (size_t)(SLOTS * pair + i % SLOTS) * SEGMENT * words();
  }
  __device__ uint16_t *cost_slot(int pair, int i) const {
    return m.costs + (size_t)(COST_SLOTS * pair + i % COST_SLOTS) * SEGMENT * words();
  }
  /* Ends a turn of the pair's three warps. */
  static __device__ void end_turn(int pair) {
    if (pair)
      asm volatile("bar.sync 2, %0;" ::"n"(ROLES * 32) : "memory");
    else
      asm volatile("bar.sync 1, %0;" ::"n"(ROLES * 32) : "memory");
  }
  __device__ void *note_at(int segment) const {
    return (char *)m.notes + (size_t)segment * words() * (a.narrow_notes ? 2 : 4);
  }
  __device__ uint32_t sums_offset(int x) const { return (uint32_t)((x - shift) * words()); }
  __device__ const uint32_t *row_sums() const {
    return a.sums + (size_t)y * a.scene.width * words();
  }

  /* P2 of the steps into the STEPS columns from x on in direction DX. */
  template <int DX> __device__ __forceinline__ void penalties(int x, uint32_t (&p2)[STEPS]) const {
#pragma unroll
    for (int u = 0; u < STEPS; u++)
      p2[u] = (uint32_t)a.scene.p2 * 0x10001u;
    if (a.scene.adaptive) {
#pragma unroll
      for (int u = 0; u < STEPS; u++)
        p2[u] = m.p2[x + u + (DX < 0)] * 0x10001u;
    }
  }

  template <int DX> static __device__ int first_unit(int segment) {
    return segment * SEGMENT + (DX > 0 ? 0 : SEGMENT - STEPS);
  }

  /* First half of the way: notes the state before every segment. */
  template <int DX> __device__ void approach(Path &path) const {
    const int from = DX > 0 ? 0 : segments - 1, to = DX > 0 ? middle : middle - 1;
    if (from == to)
      return;
    int x = first_unit<DX>(from);
    Feed feed;
    uint32_t cost[K];
    start<DX>(feed, x, path, cost);
    for (int s = from; s != to; s += DX) {
      path.note(note_at(s), a.narrow_notes);
#pragma unroll 1
      for (int i = 0; i < SEGMENT; i += STEPS, x += DX * STEPS) {
        uint32_t p2[STEPS];
        penalties<DX>(x, p2);
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          const int u = DX > 0 ? v : STEPS - 1 - v;
          uint32_t next[K];
          feed.template next<DX>(v, next);
          path.step(cost, p2[u]);
          sgm_copy<K>(cost, next);
        }
      }
    }
  }

  /* The other direction: its costs into the slot, and those of the pixels. */
  template <int DX> __device__ void fill(int pair, Path &path) const {
    const int words = this->words(), at = (DX > 0 ? 0 : SEGMENT - 1) * words + path.first_word;
    Feed feed;
    uint32_t cost[K];
    if (turns(pair) > 0)
      resume<DX>(turn(pair, 0), feed, path, cost);
    for (int i = 0; i < turns(pair); i++) {
      uint32_t *out = slot(pair, i) + at;
      uint16_t *cost_out = cost_slot(pair, i) + at;
      int x = first_unit<DX>(turn(pair, i));
#pragma unroll 1
      for (int n = 0; n < SEGMENT; n += STEPS, x += DX * STEPS) {
        uint32_t p2[STEPS];
        penalties<DX>(x, p2);
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          uint32_t next[K];
          feed.template next<DX>(v, next);
          if (path.active)
            sgm_store_bytes<K>(cost_out, cost);
          path.step(cost, p2[DX > 0 ? v : STEPS - 1 - v]);
          if (path.active)
            sgm_store<K>(out, path.l);
          out += DX * words, cost_out += DX * words;
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
    for (int w = (int)threadIdx.x % 32; w < SEGMENT * words(); w += 32)
      slot(pair, i)[w] = Path::ONE;
  }

  /* Brings a segment's sums into the L2 cache. */
  __device__ void ask_for(int s) const {
    const int first = rv_max(s * SEGMENT, shift), bytes = 4 * words();
    const char *at = (const char *)(row_sums() + sums_offset(first));
#pragma unroll 1
    for (int b = 128 * ((int)threadIdx.x % 32); b < ((s + 1) * SEGMENT - first) * bytes;
         b += 128 * 32)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(at + b));
  }

  /* Second half of the way: adds this path's costs to those in the slot. */
  template <int DX> __device__ void consume(int pair, Path &path) const {
    const int words = this->words();
    end_turn(pair);
    for (int i = 0; i < turns(pair); i++) {
      int x = first_unit<DX>(turn(pair, i));
      const int at = (DX > 0 ? 0 : SEGMENT - 1) * words + path.first_word;
      uint32_t *out = slot(pair, i) + at;
      const uint16_t *costs = cost_slot(pair, i) + at;
      uint32_t bytes[STEPS][(K + 1) / 2];
#pragma unroll
      for (int v = 0; v < STEPS; v++)
        sgm_load_bytes<K>(bytes[v], costs + v * DX * words);
#pragma unroll 1
      for (int n = 0; n < SEGMENT; n += STEPS, x += DX * STEPS) {
        uint32_t p2[STEPS], cost[K], sum[K];
        penalties<DX>(x, p2);
        costs += STEPS * DX * words;
#pragma unroll
        for (int v = 0; v < STEPS; v++) {
          sgm_load<K>(sum, out);
          sgm_unpack_bytes<K>(cost, bytes[v]);
          if (n + STEPS < SEGMENT)
            sgm_load_bytes<K>(bytes[v], costs + v * DX * words);
          path.step(cost, p2[DX > 0 ? v : STEPS - 1 - v]);
#pragma unroll
          for (int j = 0; j < K; j++)
            sum[j] += path.l[j];
          if (path.active)
            sgm_store<K>(out, sum);
          out += DX * words;
        }
      }
      end_turn(pair);
    }
    end_turn(pair);
  }

  /* A judge's pixel; all of its lanes know the same. */
  struct Verdict {
    uint32_t key, beside; /* sums below and above the winner in the low and high half */
    uint32_t second;
  };

  /* Winners of the segments whose horizontal paths are done */
  __device__ void judge(int pair) const {
    const int words = this->words(), lane = (int)threadIdx.x % 32, part = lane % JUDGE_LANES;
    JudgeFeed feed(*this, pair);
    end_turn(pair);
    feed.load();
    end_turn(pair);
    Verdict kept = {};
    for (int i = 0; i < turns(pair); i++) {
      int x = turn(pair, i) * SEGMENT + lane / JUDGE_LANES, to = i % TOGETHER * GROUPS;
      uint32_t *at = slot(pair, i) + lane / JUDGE_LANES * words;
#pragma unroll 1
      for (int g = 0; g < GROUPS; g += BATCH) {
        Verdict v[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
          v[b].key = complete(x + b * JUDGED, at + b * JUDGED * words, feed.sum[b]);
        feed.advance(g + BATCH == GROUPS);
        feed.load();
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
        x += BATCH * JUDGED, at += BATCH * JUDGED * words, to += BATCH;
      }
      if (i % TOGETHER == TOGETHER - 1 || i + 1 == turns(pair))
        write(pair, i, kept);
      end_turn(pair);
    }
  }

  /* Results of the last turns, a pixel a lane. */
  __device__ void write(int pair, int i, const Verdict &v) const {
    const int lane = (int)threadIdx.x % 32, part = lane % JUDGE_LANES;
    const int of = i - i % TOGETHER + part / GROUPS; /* turn */
    const int x = turn(pair, of) * SEGMENT + part % GROUPS * JUDGED + lane / JUDGE_LANES - shift;
    if (of <= i && x >= 0)
      write_pixel(x, v);
  }

  /* Lane's pieces of four words of the sums of the other directions, a batch ahead. */
  struct JudgeFeed {
    const Row &row;
    const uint32_t *from;
    int x, turn_step; /* column in the picture; from one segment's end to the next one's start */
    uint4 sum[BATCH][K] = {};

    __device__ __forceinline__ JudgeFeed(const Row &r, int pair) : row(r) {
      const int lane = (int)threadIdx.x % 32;
      x = row.turn(pair, 0) * SEGMENT + lane / JUDGE_LANES - row.shift;
      from = row.row_sums() + x * row.words() + 4 * (lane % JUDGE_LANES);
      turn_step = pair ? -2 * SEGMENT : 0;
    }
    __device__ __forceinline__ void advance(bool turn_ends) {
      const int step = BATCH * JUDGED + (turn_ends ? turn_step : 0);
      x += step, from += step * row.words();
    }
    __device__ __forceinline__ void load() {
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        if ((unsigned)(x + b * JUDGED) < (unsigned)row.a.scene.width)
#pragma unroll
          for (int p = 0; p < K; p++)
            if (row.has_piece(p))
              sum[b][p] = __ldcs((const uint4 *)(from + b * JUDGED * row.words()) + 8 * p);
    }
  };

  static __device__ __forceinline__ uint4 plus(uint4 v, uint4 w) {
    constexpr uint32_t ONES = 2 * Path::ONE; /* states are L + 1 */
    return make_uint4(v.x + w.x - ONES, v.y + w.y - ONES, v.z + w.z - ONES, v.w + w.w - ONES);
  }
  __device__ __forceinline__ bool has_piece(int p) const {
    return FULL || 4 * ((int)threadIdx.x % JUDGE_LANES) + 32 * p < words();
  }

  /* Completes the pixel's sums, offers them to the right pixels, finds this lane's best key. What
   * pixels of the padding offer goes to right pixels that do not exist. */
  __device__ __forceinline__ uint32_t complete(int x, uint32_t *sums,
                                               const uint4 (&others)[K]) const {
    const int words = this->words(), q = 4 * ((int)threadIdx.x % JUDGE_LANES);
    uint32_t *low = m.keys + x + 2 * words - 1 - q, *high = low - words;
    uint32_t key = 0xffffffffu;
#pragma unroll
    for (int p = 0; p < K; p++) {
      if (!has_piece(p))
        continue;
      uint4 *at = (uint4 *)(sums + q) + 8 * p;
      const uint4 all = plus(*at, others[p]);
      const uint32_t w[4] = {all.x, all.y, all.z, all.w};
      *at = all;
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
  static __device__ __forceinline__ void find_keys(Verdict (&v)[BATCH]) {
#pragma unroll
    for (int o = JUDGE_LANES / 2; o > 0; o /= 2)
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        v[b].key = min(v[b].key, __shfl_xor_sync(SGM_WARP, v[b].key, o));
  }

  /* Takes the winner's sum and those beside it out of the slot. */
  __device__ __forceinline__ void take_neighbours(Verdict (&v)[BATCH], uint16_t *halves) const {
    const int words = this->words(), part = (int)threadIdx.x % JUDGE_LANES;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int k = (int)(v[b].key & 0xffffu) + part - 1;
      uint16_t *at = halves + b * JUDGED * 2 * words + (k < words ? 2 * k : 2 * (k - words) + 1);
      uint32_t sum = 0;
      if (part < 3 && (unsigned)k < 2u * words)
        sum = *at, *at = 0xffff;
      v[b].beside = __byte_perm(__shfl_sync(SGM_WARP, sum, 0, JUDGE_LANES),
                                __shfl_sync(SGM_WARP, sum, 2, JUDGE_LANES), 0x5410);
    }
  }

  /* Smallest sums of those that are left. */
  __device__ __forceinline__ void find_seconds(Verdict (&v)[BATCH], const uint32_t *sums) const {
    uint32_t smallest[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++)
      v[b].second = 0xffffu;
    if (!a.uniqueness && !a.confidence)
      return; /* nobody asks */
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      smallest[b] = 0xffffffffu;
#pragma unroll
      for (int p = 0; p < K; p++) {
        if (!has_piece(p))
          continue;
        const uint4 w =
            ((const uint4 *)(sums + b * JUDGED * words()))[(int)threadIdx.x % JUDGE_LANES + 8 * p];
        smallest[b] = __vimin3_u16x2(smallest[b], w.x, w.y);
        smallest[b] = __vimin3_u16x2(smallest[b], w.z, w.w);
      }
      smallest[b] = sgm_min2(smallest[b], sgm_swap2(smallest[b]));
    }
#pragma unroll
    for (int o = JUDGE_LANES / 2; o > 0; o /= 2)
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
    for (int i = (int)threadIdx.x % JUDGE_LANES; i < BATCH * 2 * words; i += JUDGE_LANES) {
      const int p = JUDGED * (i / (2 * words)), k = i % (2 * words);
      if (x + p >= shift)
        a.volume[((size_t)y * a.scene.width + (x + p - shift)) * 2 * words + k] =
            (uint16_t)sgm_half((const uint16_t *)(sums + p * words), k, words);
    }
    __syncwarp();
  }

  __device__ void write_pixel(int x, const Verdict &v) const {
    const int k = (int)(v.key & 0xffffu), best = (int)(v.key >> 16);
    int offset = 0;
    if (a.subpixel && k > 0 && k < 2 * words() - 1)
      offset = rv_sgm_offset((int)(v.beside & 0xffffu), best, (int)(v.beside >> 16));
    const bool valid = rv_sgm_unique(best, (int)v.second, a.uniqueness);
    a.winner.row(y)[x] = (uint16_t)k;
    a.found.row(y)[x] =
        (uint16_t)(valid ? rv_sgm_value(a.scene.min_disparity, k, offset) : RV_SGM_INVALID);
    if (a.confidence)
      a.sureness.row(y)[x] = (uint8_t)rv_sgm_confidence(best, (int)v.second);
  }

  /* Right disparities, RV_SGM_NO_MATCH where nothing was offered; left-right check. */
  __device__ void end() const {
    const SgmScene &s = a.scene;
    const uint32_t *keys =
        m.keys + shift + s.min_disparity + 2 * words() - 1; /* of right pixel 0 */
    for (int x = (int)threadIdx.x; x < s.width; x += BLOCK) {
      a.right.row(y)[x] =
          x + s.min_disparity < s.width ? (uint16_t)keys[x] : (uint16_t)RV_SGM_NO_MATCH;
      if (a.max_lr_diff < 0)
        continue;
      const int k = a.winner.row(y)[x], match = x - (s.min_disparity + k);
      const int right_k = match < 0 ? 0 : (int)(keys[match] & 0xffffu);
      if (!rv_sgm_agrees(x, s.min_disparity, k, right_k, a.max_lr_diff))
        a.found.row(y)[x] = RV_SGM_INVALID;
    }
  }
};

/* Four blocks an SM where registers allow it: rows of 640 pixels need no more memory. */
template <int K, bool FULL, typename Census>
static __global__ void __launch_bounds__(BLOCK, K <= 2 ? 4 : 1) row_kernel(const RowArgs a) {
  extern __shared__ __align__(16) char memory[];
  const Row<K, FULL, Census> row(a, memory);
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
  if (role == JUDGE)
    row.judge(pair);
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

template <int K, typename Census> static void (*kernel_for(int words))(const RowArgs) {
  return words == 32 * K ? row_kernel<K, true, Census> : row_kernel<K, false, Census>;
}

template <int K, typename Census> static RvStatus allow_shared(const RvSgmConfig *config) {
  RV_CU(&config->log, cudaFuncSetAttribute(kernel_for<K, Census>(config->disparities / 2),
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
  SGM_FOR_WORDS(a.scene.words, GROUP, K, const auto kernel = kernel_for<K, Census>(a.scene.words);
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
  a.found = work->found, a.sureness = work->sureness;
  a.both = config->paths > 2, a.narrow_notes = narrow_notes(config);
  a.uniqueness = config->uniqueness, a.subpixel = config->subpixel;
  a.confidence = config->confidence;
  a.max_lr_diff = check ? config->max_lr_diff : -1;
  a.volume = job->volume;
  return config->cost == RV_SGM_CENSUS ? launch<uint64_t>(config, a, job->stream)
                                       : launch<uint32_t>(config, a, job->stream);
}
