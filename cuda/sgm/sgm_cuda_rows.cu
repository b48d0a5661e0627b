/* sgm_cuda_rows.cu: the horizontal paths and everything that ends a row, one block a row: sums of
 * the other directions are read once, the whole sums never leave the chip.
 *
 * The row is cut in segments. Warp FORWARD walks to the middle, warp BACKWARD from the right end
 * to the middle, both note their state before every segment. Then FORWARD goes on through the
 * right half and BACKWARD through the left half; ahead of each, a helper walks its next segment the
 * other way from the noted state, adds the sums of the other directions and leaves the result in a
 * shared buffer. So each path is exact, the row costs as many steps as it has pixels, and half of
 * the costs are worked out twice instead of being written and read. */
#include "sgm_cuda.h"
#include "sgm_cuda_cost.cuh"
#include "sgm_cuda_winner.cuh"

enum { GROUP = 32, BLOCK = 128, SEGMENT = 16, AHEAD = 4 };
enum { FORWARD = 0, FORWARD_HELPER, BACKWARD, BACKWARD_HELPER };

struct RowArgs {
  SgmScene scene;
  const uint32_t *sums; /* of all other directions */
  SgmRaster<uint16_t> winner, right, found;
  SgmRaster<uint8_t> sureness;
  int both; /* 0: left to right only */
  int uniqueness, subpixel, confidence;
  uint16_t *volume; /* tests: the whole sums, [y][x][k]; or NULL */
};

static __host__ __device__ int row_segments(int width) {
  return rv_div_up(width, SEGMENT);
}

/* The block's shared memory. A slot is the buffer of one segment. Rows are as long as all segments
 * together; steps beyond the picture are made, but their results are not used. Loads run one step
 * ahead, over the ends of a row into its neighbours here. */
template <typename Census> struct RowShared {
  uint32_t *notes;  /* [segment][words]: states */
  uint32_t *buffer; /* [pair][slot][pixel][words] */
  uint2 *result;    /* [pair][slot][pixel]: key of the best sum, second sum */
  uint32_t *keys;   /* [x - k + disparities - 1]: best key of a right pixel */
  Census *right;    /* [x - k + disparities - 1]: its descriptor */
  Census *left;     /* [x] */
  uint16_t *p2;     /* [x]: P2 between x - 1 and x; only one when it is not adaptive */

  static __host__ __device__ size_t place(RowShared *m, char *base, const SgmScene &s) {
    const size_t segments = row_segments(s.width), row = segments * SEGMENT;
    size_t used = 0;
    const auto take = [&](size_t bytes) {
      char *at = base + used;
      used += (bytes + 15) & ~(size_t)15;
      return at;
    };
    m->notes = (uint32_t *)take(sizeof(uint32_t) * s.words * segments);
    m->buffer = (uint32_t *)take(sizeof(uint32_t) * s.words * SEGMENT * 4);
    m->result = (uint2 *)take(sizeof(uint2) * SEGMENT * 4);
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
  __device__ __forceinline__ void resume(const uint32_t *note, const SgmLane &self) {
    uint32_t smallest = 0xffffffffu;
    if (self.active) {
      sgm_load<K>(l, note + self.first_word);
#pragma unroll
      for (int j = 0; j < K; j++)
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
    RowShared<Census>::place(&m, base, a.scene);
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
    return m.buffer + (size_t)(2 * pair + (i & 1)) * SEGMENT * a.scene.words;
  }
  __device__ uint2 *results(int pair, int i) const {
    return m.result + (2 * pair + (i & 1)) * SEGMENT;
  }
  __device__ void note(int segment, const RowPath<K> &path) const {
    if (self.active)
      sgm_store<K>(m.notes + (size_t)segment * a.scene.words + self.first_word, path.l);
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

  /* Helper of a pair: the other direction's costs plus the sums of all others, into the slot. */
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
    path.resume(m.notes + (size_t)s * words, self);
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

  /* FORWARD or BACKWARD: adds its own costs, finds the winners. */
  template <int DX> __device__ void consume(int pair, int i, RowPath<K> &path) const {
    const int s = turn(pair, i), words = a.scene.words;
    if (s < 0)
      return;
    uint32_t *buffer = slot(pair, i) + self.first_word - first(s) * words;
    uint2 *out = results(pair, i) - first(s);
    uint32_t *keys = m.keys + 2 * words - 1 - self.first_word;
    walk<DX, false>(s, path, [&](int x, const uint32_t(&l)[K], const uint32_t(&)[K]) {
      uint32_t w[K] = {};
      if (self.active) {
        sgm_load<K>(w, buffer + x * words);
#pragma unroll
        for (int j = 0; j < K; j++)
          w[j] += l[j];
        sgm_store<K>(buffer + x * words, w);
        if (x < a.scene.width)
          sgm_offer<K>(w, self, words, keys + x);
      }
      const uint32_t key = sgm_best_key<GROUP, K>(w, self, words);
      const int second = sgm_second_sum<GROUP, K>(w, self, words, (int)(key & 0xffffu));
      if (self.first)
        out[x] = make_uint2(key, (uint32_t)second);
    });
  }

  /* Tests: the sums of a consumed segment. */
  __device__ void show(int pair, int i) const {
    const int s = turn(pair, i), words = a.scene.words;
    for (int w = (int)threadIdx.x % 32; w < count(s) * 2 * words; w += 32) {
      const uint16_t *sums = (const uint16_t *)(slot(pair, i) + w / (2 * words) * words);
      a.volume[((size_t)y * a.scene.width + first(s)) * 2 * words + w] =
          (uint16_t)sgm_half(sums, w % (2 * words), words);
    }
  }

  /* Helper: values of a consumed segment, a lane a pixel. */
  __device__ void finish(int pair, int i) const {
    const int s = turn(pair, i);
    if (s < 0)
      return;
    const int words = a.scene.words;
    if (a.volume)
      show(pair, i);
    const int p = (int)threadIdx.x % 32;
    if (p >= count(s))
      return;
    const uint2 r = results(pair, i)[p];
    const int k = (int)(r.x & 0xffffu), best = (int)(r.x >> 16), second = (int)r.y;
    const uint16_t *sums = (const uint16_t *)(slot(pair, i) + p * words);
    int offset = 0;
    if (a.subpixel && k > 0 && k < 2 * words - 1)
      offset = rv_sgm_offset(sgm_half(sums, k - 1, words), best, sgm_half(sums, k + 1, words));
    const bool valid = rv_sgm_unique(best, second, a.uniqueness);
    const int x = first(s) + p;
    a.winner.row(y)[x] = (uint16_t)k;
    a.found.row(y)[x] =
        (uint16_t)(valid ? rv_sgm_value(a.scene.min_disparity, k, offset) : RV_SGM_INVALID);
    if (a.confidence)
      a.sureness.row(y)[x] = (uint8_t)rv_sgm_confidence(best, second);
  }

  /* Right disparities; RV_SGM_NO_MATCH where nothing was offered. */
  __device__ void write_right() const {
    const SgmScene &s = a.scene;
    for (int x = (int)threadIdx.x; x < s.width; x += BLOCK) {
      const int t = x + s.min_disparity + 2 * s.words - 1;
      a.right.row(y)[x] = t < s.width + 2 * s.words - 1 ? (uint16_t)m.keys[t] : RV_SGM_NO_MATCH;
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
  RowPath<K> path;
  path.start();
  if (a.both && warp == FORWARD)
    row.template approach<1>(path);
  if (a.both && warp == BACKWARD)
    row.template approach<-1>(path);
  __syncthreads();
  for (int i = 0; i < row.turns() + 2; i++) {
    if (warp == FORWARD)
      row.template consume<1>(0, i - 1, path);
    if (warp == BACKWARD)
      row.template consume<-1>(1, i - 1, path);
    if (warp == FORWARD_HELPER || warp == BACKWARD_HELPER) {
      row.finish(warp / 2, i - 2);
      __syncwarp();
    }
    if (warp == FORWARD_HELPER)
      row.template fill<-1>(0, i);
    if (warp == BACKWARD_HELPER)
      row.template fill<1>(1, i);
    __syncthreads();
  }
  row.write_right();
}

size_t sgm_cuda_rows_shared(const RvSgmConfig *config) {
  SgmScene scene = {};
  scene.width = config->width, scene.words = config->disparities / 2;
  scene.adaptive = config->adaptive_p2;
  RowShared<uint32_t> narrow;
  RowShared<uint64_t> wide;
  return config->cost == RV_SGM_CENSUS ? RowShared<uint64_t>::place(&wide, NULL, scene)
                                       : RowShared<uint32_t>::place(&narrow, NULL, scene);
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

RvStatus sgm_cuda_rows(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  RowArgs a = {};
  a.scene = sgm_cuda_scene(work, config, job);
  a.sums = work->sums;
  a.winner = work->winner, a.right = work->right;
  a.found = work->found, a.sureness = work->sureness;
  a.both = config->paths > 2;
  a.uniqueness = config->uniqueness, a.subpixel = config->subpixel;
  a.confidence = config->confidence;
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
