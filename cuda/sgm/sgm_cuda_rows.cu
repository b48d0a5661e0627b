/* sgm_cuda_rows.cu: the horizontal paths and everything that ends a row, one block a row: the sums
 * of the other directions are read once, the whole sums never leave the chip.
 *
 * The row is cut in segments. One warp walks from the left to the middle, one from the right end to
 * the middle, both note their state before every segment. Then each goes on through the other's
 * half, with two more warps to help: one, a turn ahead, walks the next segment the other way from
 * the noted state, adds the sums of the other directions and leaves the result in a slot; one, a
 * turn behind, finds the winners of the segment that is done. So each path is exact, the row costs
 * as many steps as it has pixels, and half of the costs are worked out twice instead of being
 * written and read. */
#include "sgm_cuda.h"
#include "sgm_cuda_cost.cuh"
#include "sgm_cuda_winner.cuh"

enum { GROUP = 32, BLOCK = 192, SEGMENT = 16, AHEAD = 4, SLOTS = 3 };
/* What a warp does; pair 0 (warps 0 to 2) works in the right half, pair 1 in the left one. */
enum { WALK = 0, FILL, JUDGE, ROLES };

struct RowArgs {
  SgmScene scene;
  const uint32_t *sums; /* of all other directions */
  SgmRaster<uint16_t> winner, right, found;
  SgmRaster<uint8_t> sureness;
  int both;         /* 0: left to right only */
  int narrow_notes; /* states fit 8 bits */
  int uniqueness, subpixel, confidence;
  int max_lr_diff;  /* -1: no left-right check */
  uint16_t *volume; /* tests: the whole sums, [y][x][k]; or NULL */
};

static __host__ __device__ int row_segments(int width) {
  return rv_div_up(width, SEGMENT);
}

/* The block's shared memory. A slot is the buffer of one segment. Rows are as long as all segments
 * together; steps beyond the picture are made, but their results are not used. Loads run one step
 * ahead, over the ends of a row into its neighbours here. */
template <typename Census> struct RowShared {
  void *notes;      /* [segment][words]: states, a word or (narrow) half a word each */
  uint32_t *buffer; /* [pair][slot][pixel][words] */
  uint32_t *keys;   /* [x - k + disparities - 1]: best key of a right pixel */
  Census *right;    /* [x - k + disparities - 1]: its descriptor */
  Census *left;     /* [x] */
  uint16_t *p2;     /* [x]: P2 between x - 1 and x; only one when it is not adaptive */

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
    m->keys = (uint32_t *)take(sizeof(uint32_t) * (row + 2 * s.words));
    m->right = (Census *)take(sizeof(Census) * (row + 2 * s.words + 1)) + 1;
    m->left = (Census *)take(sizeof(Census) * row);
    m->p2 = (uint16_t *)take(sizeof(uint16_t) * (s.adaptive ? row + 2 : 1));
    return used + 16;
  }
};

/* A path along the row. */
template <int K> struct RowPath {
  uint32_t l[K], floor2;

  __device__ __forceinline__ void start() {
#pragma unroll
    for (int j = 0; j < K; j++)
      l[j] = 0;
    floor2 = 0;
  }
  __device__ __forceinline__ void resume(const uint32_t *note, const uint16_t *narrow,
                                         const SgmLane &self) {
    uint32_t smallest = 0xffffffffu;
#pragma unroll
    for (int j = 0; j < K && self.active; j++) {
      l[j] =
          narrow ? __byte_perm(narrow[self.first_word + j], 0, 0x4140) : note[self.first_word + j];
      smallest = sgm_min2(smallest, l[j]);
    }
    floor2 = sgm_group_min<GROUP>(smallest);
  }
};

/* Everything a warp needs to know about its row. */
template <int K, typename Census> struct Row {
  const RowArgs &a;
  RowShared<Census> m;
  SgmLane self;
  int y, segments, middle; /* FORWARD starts its second half with segment `middle` */

  __device__ Row(const RowArgs &args, char *base) : a(args) {
    RowShared<Census>::place(&m, base, a.scene, a.narrow_notes);
    self = sgm_lane<GROUP, K>(a.scene.words);
    y = (int)blockIdx.x;
    segments = row_segments(a.scene.width);
    middle = a.both ? segments / 2 : 0;
  }

  /* Descriptors, keys and P2; from then on the maps may take the place of the descriptors. */
  __device__ void prepare() const {
    const SgmScene &s = a.scene;
    const Census *left = (const Census *)s.left + (size_t)y * s.width;
    const Census *right = (const Census *)s.right + (size_t)y * s.width;
    const int row = segments * SEGMENT;
    for (int x = (int)threadIdx.x; x < row; x += BLOCK)
      m.left[x] = left[rv_min(x, s.width - 1)];
    for (int t = (int)threadIdx.x; t < row + 2 * s.words; t += BLOCK) {
      m.right[t] = right[rv_clamp(t - 2 * s.words + 1 - s.min_disparity, 0, s.width - 1)];
      m.keys[t] = 0xffffffffu;
    }
    for (int x = (int)threadIdx.x; x < (s.adaptive ? row + 2 : 1); x += BLOCK) {
      const int here = rv_clamp(x, 0, s.width - 1);
      m.p2[x] = (uint16_t)(s.adaptive ? rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient,
                                                          s.grey.row(y)[here],
                                                          s.grey.row(y)[rv_max(here - 1, 0)])
                                      : s.p2);
    }
  }

  __device__ int first(int segment) const { return segment * SEGMENT; }
  __device__ int count(int segment) const {
    return rv_min(SEGMENT, a.scene.width - first(segment));
  }
  /* Segment that pair 0 (right half) or 1 (left half) takes in turn i, -1 when there is none. */
  __device__ int turn(int pair, int i) const {
    const int segment = pair ? middle - 1 - i : middle + i;
    return i >= 0 && segment >= 0 && segment < segments ? segment : -1;
  }
  __device__ int turns() const { return rv_max(segments - middle, middle); }
  __device__ uint32_t *slot(int pair, int i) const {
    return m.buffer + (size_t)(SLOTS * pair + i % SLOTS) * SEGMENT * a.scene.words;
  }
  __device__ uint32_t *wide_note(int segment) const {
    return a.narrow_notes ? NULL : (uint32_t *)m.notes + (size_t)segment * a.scene.words;
  }
  __device__ uint16_t *narrow_note(int segment) const {
    return a.narrow_notes ? (uint16_t *)m.notes + (size_t)segment * a.scene.words : NULL;
  }
  __device__ void note(int segment, const RowPath<K> &path) const {
#pragma unroll
    for (int j = 0; j < K && self.active; j++)
      if (a.narrow_notes)
        narrow_note(segment)[self.first_word + j] = (uint16_t)__byte_perm(path.l[j], 0, 0x4420);
      else
        wide_note(segment)[self.first_word + j] = path.l[j];
  }

  /* Walks through a whole segment in direction DX; after each step calls body(x, l, sum). A path
   * from the right starts at the last pixel, wherever the last segment ends. With SUMS the sums of
   * the other directions are loaded AHEAD steps before they are needed. */
  template <int DX, bool SUMS, typename Body>
  __device__ __forceinline__ void walk(int segment, RowPath<K> &path, Body body) const {
    const SgmScene &s = a.scene;
    const int words = s.words, x0 = first(segment) + (DX > 0 ? 0 : SEGMENT - 1);
    const Census *left = m.left + x0;
    const Census *low = m.right + x0 + 2 * words - 1 - self.first_word, *high = low - words;
    const uint16_t *p2 = m.p2 + (s.adaptive ? x0 + (DX < 0) : 0);
    const int p2_step = s.adaptive ? DX : 0;
    const uint32_t *sums = a.sums + (size_t)y * s.width * words + self.first_word;
    uint32_t cost[K], penalty = *p2, sum[AHEAD][K];
#pragma unroll
    for (int j = 0; j < K; j++)
      cost[j] = sgm_hamming(*left, low[-j]) + (sgm_hamming(*left, high[-j]) << 16);
#pragma unroll
    for (int u = 0; SUMS && u < AHEAD; u++)
      if (self.active)
        sgm_load<K>(sum[u], sums + (size_t)rv_min(x0 + u * DX, s.width - 1) * words);
#pragma unroll 1
    for (int i = 0; i < SEGMENT; i += AHEAD) {
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int x = x0 + (i + u) * DX;
        left += DX, low += DX, high += DX, p2 += p2_step;
        const Census next = *left;
        Census next_low[K], next_high[K];
        const uint32_t next_penalty = *p2;
#pragma unroll
        for (int j = 0; j < K; j++)
          next_low[j] = low[-j], next_high[j] = high[-j];
        if (DX < 0 && x >= s.width - 1)
          path.start();
        sgm_path_step<GROUP, K>(path.l, path.floor2, cost, (uint32_t)s.p1 * 0x10001u,
                                penalty * 0x10001u, self);
        body(x, path.l, sum[u]);
        if (SUMS && i + AHEAD < SEGMENT && self.active)
          sgm_load<K>(sum[u], sums + (size_t)rv_min(x + AHEAD * DX, s.width - 1) * words);
#pragma unroll
        for (int j = 0; j < K; j++)
          cost[j] = sgm_hamming(next, next_low[j]) + (sgm_hamming(next, next_high[j]) << 16);
        penalty = next_penalty;
      }
    }
  }

  /* First half of the way: notes the state before every segment. */
  template <int DX> __device__ void approach(RowPath<K> &path) const {
    path.start();
    const int from = DX > 0 ? 0 : segments - 1, to = DX > 0 ? middle : middle - 1;
    for (int s = from; s != to; s += DX) {
      note(s, path);
      walk<DX, false>(s, path, [](int, const uint32_t(&)[K], const uint32_t(&)[K]) {});
    }
  }

  /* The other direction's costs plus the sums of all others, into the slot. */
  template <int DX> __device__ void fill(int pair, int i) const {
    const int s = turn(pair, i), words = a.scene.words;
    if (s < 0)
      return;
    ask_for(turn(pair, i + 1));
    uint32_t *out = slot(pair, i);
    if (!a.both) {
      const uint32_t *sums = a.sums + ((size_t)y * a.scene.width + first(s)) * words;
      for (int w = (int)threadIdx.x % GROUP; w < count(s) * words; w += GROUP)
        out[w] = sums[w];
      return;
    }
    RowPath<K> path;
    path.resume(wide_note(s), narrow_note(s), self);
    out += self.first_word - first(s) * words;
    walk<DX, true>(s, path, [&](int x, const uint32_t(&l)[K], const uint32_t(&sum)[K]) {
      uint32_t w[K];
#pragma unroll
      for (int j = 0; j < K; j++)
        w[j] = sum[j] + l[j];
      if (self.active)
        sgm_store<K>(out + x * words, w);
    });
  }

  /* Brings a segment's sums into the L2 cache. */
  __device__ void ask_for(int s) const {
    if (s < 0)
      return;
    const char *at =
        (const char *)(a.sums + ((size_t)y * a.scene.width + first(s)) * a.scene.words);
    const int bytes = count(s) * a.scene.words * (int)sizeof(uint32_t);
    for (int b = 128 * ((int)threadIdx.x % 32); b < bytes; b += 128 * 32)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(at + b));
  }

  /* Adds the costs of the walking warp. */
  template <int DX> __device__ void consume(int pair, int i, RowPath<K> &path) const {
    const int s = turn(pair, i), words = a.scene.words;
    if (s < 0)
      return;
    uint32_t *buffer = slot(pair, i) + self.first_word - first(s) * words;
    walk<DX, false>(s, path, [&](int x, const uint32_t(&l)[K], const uint32_t(&)[K]) {
      uint32_t w[K];
      if (!self.active)
        return;
      sgm_load<K>(w, buffer + x * words);
#pragma unroll
      for (int j = 0; j < K; j++)
        w[j] += l[j];
      sgm_store<K>(buffer + x * words, w);
    });
  }

  /* Winners of a segment whose sums are whole. */
  __device__ void judge(int pair, int i) const {
    const int s = turn(pair, i), words = a.scene.words, lane = (int)threadIdx.x % 32;
    if (s < 0)
      return;
    const uint32_t *buffer = slot(pair, i) + self.first_word;
    uint32_t *keys = m.keys + first(s) + 2 * words - 1 - self.first_word;
    const int pixels = count(s);
    uint32_t best = 0;
    int second = 0;
#pragma unroll 4
    for (int p = 0; p < SEGMENT; p++) {
      uint32_t w[K] = {};
      if (self.active) {
        sgm_load<K>(w, buffer + p * words);
        if (p < pixels)
          sgm_offer<K>(w, self, words, keys + p);
      }
      const uint32_t key = sgm_best_key<GROUP, K>(w, self, words);
      const int other = sgm_second_sum<GROUP, K>(w, self, words, (int)(key & 0xffffu));
      if (lane == p)
        best = key, second = other;
    }
    if (a.volume)
      show(pair, i);
    if (lane < pixels)
      write_pixel(first(s) + lane, slot(pair, i) + lane * words, best, second);
  }

  /* Tests: the sums of a segment. */
  __device__ void show(int pair, int i) const {
    const int s = turn(pair, i), words = a.scene.words;
    for (int w = (int)threadIdx.x % 32; w < count(s) * 2 * words; w += 32) {
      const uint16_t *sums = (const uint16_t *)(slot(pair, i) + w / (2 * words) * words);
      a.volume[((size_t)y * a.scene.width + first(s)) * 2 * words + w] =
          (uint16_t)sgm_half(sums, w % (2 * words), words);
    }
  }

  __device__ void write_pixel(int x, const uint32_t *at, uint32_t key, int second) const {
    const int k = (int)(key & 0xffffu), best = (int)(key >> 16), words = a.scene.words;
    const uint16_t *sums = (const uint16_t *)at;
    int offset = 0;
    if (a.subpixel && k > 0 && k < 2 * words - 1)
      offset = rv_sgm_offset(sgm_half(sums, k - 1, words), best, sgm_half(sums, k + 1, words));
    const bool valid = rv_sgm_unique(best, second, a.uniqueness);
    a.winner.row(y)[x] = (uint16_t)k;
    a.found.row(y)[x] =
        (uint16_t)(valid ? rv_sgm_value(a.scene.min_disparity, k, offset) : RV_SGM_INVALID);
    if (a.confidence)
      a.sureness.row(y)[x] = (uint8_t)rv_sgm_confidence(best, second);
  }

  /* Right disparities, RV_SGM_NO_MATCH where nothing was offered; left-right check. */
  __device__ void end() const {
    const SgmScene &s = a.scene;
    const uint32_t *keys = m.keys + s.min_disparity + 2 * s.words - 1; /* of right pixel 0 */
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

template <int K, typename Census>
static __global__ void __launch_bounds__(BLOCK) row_kernel(const RowArgs a) {
  extern __shared__ __align__(16) char memory[];
  const Row<K, Census> row(a, memory);
  row.prepare();
  __syncthreads();
  /* Known to be the same for the whole warp. */
  const int warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0);
  const int pair = warp / ROLES, role = warp % ROLES;
  RowPath<K> path;
  path.start();
  if (a.both && role == WALK) {
    if (pair == 0)
      row.template approach<1>(path);
    else
      row.template approach<-1>(path);
  }
  __syncthreads();
  for (int i = 0; i < row.turns() + 2; i++) {
    if (role == JUDGE)
      row.judge(pair, i - 2);
    else if (role == WALK && pair == 0)
      row.template consume<1>(pair, i - 1, path);
    else if (role == WALK)
      row.template consume<-1>(pair, i - 1, path);
    else if (pair == 0)
      row.template fill<-1>(pair, i);
    else
      row.template fill<1>(pair, i);
    __syncthreads();
  }
  row.end();
}

static int narrow_notes(const RvSgmConfig *config) {
  return rv_sgm_path_max(config->cost, config->p2) <= 255;
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

template <int K, typename Census> static RvStatus allow_shared(const RvSgmConfig *config) {
  RV_CU(&config->log,
        cudaFuncSetAttribute(row_kernel<K, Census>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)sgm_cuda_rows_shared(config)));
  return RV_OK;
}

RvStatus sgm_cuda_rows_open(const RvSgmConfig *config) {
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_WORDS(config->disparities / 2, GROUP, K, return (allow_shared<K, uint64_t>(config)));
  else
    SGM_FOR_WORDS(config->disparities / 2, GROUP, K, return (allow_shared<K, uint32_t>(config)));
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
  const size_t shared = sgm_cuda_rows_shared(config);
  if (config->cost == RV_SGM_CENSUS)
    SGM_FOR_WORDS(a.scene.words, GROUP, K,
                  row_kernel<K, uint64_t><<<config->height, BLOCK, shared, job->stream>>>(a));
  else
    SGM_FOR_WORDS(a.scene.words, GROUP, K,
                  row_kernel<K, uint32_t><<<config->height, BLOCK, shared, job->stream>>>(a));
  RV_LAUNCHED(&config->log);
  return RV_OK;
}
