/* sgm_cuda_post.cu: stages 6, 8 and 9: left-right check, median, speckle filter, and the output. */
#include "sgm_cuda.h"

enum { BLOCK = 256, TILE_X = 32, TILE_Y = 8 };

struct PostArgs {
  SgmRaster<uint16_t> in, out; /* values; the same raster for stages that work in place */
  SgmRaster<uint16_t> winner, right;
  SgmRaster<uint8_t> sureness, confidence; /* confidence.data is NULL when not asked for */
  uint32_t *labels, *sizes;
  int width, height;
  int min_disparity, max_lr_diff, speckle_size, speckle_range;
};

static dim3 tiles(const RvSgmConfig *config) {
  return dim3(rv_div_up(config->width, TILE_X), rv_div_up(config->height, TILE_Y));
}

static PostArgs post_args(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  PostArgs a = {};
  a.in = work->current, a.out = work->current;
  a.winner = work->winner, a.right = work->right, a.sureness = work->sureness;
  a.confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
  a.labels = work->labels, a.sizes = work->sizes;
  a.width = config->width, a.height = config->height;
  a.min_disparity = config->min_disparity, a.max_lr_diff = config->max_lr_diff;
  a.speckle_size = config->speckle_size, a.speckle_range = config->speckle_range;
  return a;
}

static __global__ void __launch_bounds__(BLOCK) check_kernel(const PostArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  if (x >= a.width || y >= a.height)
    return;
  const int k = a.winner.row(y)[x];
  const int match = rv_max(x - (a.min_disparity + k), 0);
  if (!rv_sgm_agrees(x, a.min_disparity, k, a.right.row(y)[match], a.max_lr_diff))
    a.out.row(y)[x] = RV_SGM_INVALID;
}

/* A valid value of the window, or NONE, which sorts behind all values. */
enum { NONE = 0x10000 };

template <int R>
static __device__ __forceinline__ int load_window(const PostArgs &a, int x, int y, int *value) {
  int valid = 0;
#pragma unroll
  for (int j = -R; j <= R; j++) {
#pragma unroll
    for (int i = -R; i <= R; i++) {
      const int u = x + i, v = y + j;
      const bool inside = u >= 0 && u < a.width && v >= 0 && v < a.height;
      const int d = inside ? a.in.row(v)[u] : RV_SGM_INVALID;
      value[(j + R) * (2 * R + 1) + i + R] = d == RV_SGM_INVALID ? NONE : d;
      valid += d != RV_SGM_INVALID;
    }
  }
  return valid;
}

static __device__ __forceinline__ void order(int &a, int &b) {
  const int low = min(a, b);
  b = max(a, b), a = low;
}

/* 3x3: sorts the nine values with a network of 25 exchanges; a rank is at most 4. */
static __device__ __forceinline__ int rank_of_9(int *v, int rank) {
  order(v[0], v[3]), order(v[1], v[7]), order(v[2], v[5]), order(v[4], v[8]);
  order(v[0], v[7]), order(v[2], v[4]), order(v[3], v[8]), order(v[5], v[6]);
  order(v[0], v[2]), order(v[1], v[3]), order(v[4], v[5]), order(v[7], v[8]);
  order(v[1], v[4]), order(v[3], v[6]), order(v[5], v[7]);
  order(v[0], v[1]), order(v[2], v[4]), order(v[3], v[5]), order(v[6], v[8]);
  order(v[2], v[3]), order(v[4], v[5]), order(v[6], v[7]);
  order(v[1], v[2]), order(v[3], v[4]), order(v[5], v[6]);
  return rank == 0 ? v[0] : rank == 1 ? v[1] : rank == 2 ? v[2] : rank == 3 ? v[3] : v[4];
}

/* 5x5: the value of a rank is the largest v with at most `rank` values below it. */
static __device__ __forceinline__ int rank_of_25(const int *v, int rank) {
  int found = 0;
  for (int bit = 1 << 15; bit > 0; bit >>= 1) {
    int below = 0;
#pragma unroll
    for (int i = 0; i < 25; i++)
      below += v[i] < found + bit;
    if (below <= rank)
      found += bit;
  }
  return found;
}

/* Labels of the speckle filter: one warp takes 32 pixels of a row, a run of joined pixels starts
 * with the label of its first. The whole warp takes part. */
static __device__ __forceinline__ void label_runs(const PostArgs &a, int x, int y, int d) {
  const int lane = (int)threadIdx.x;
  const int left = __shfl_up_sync(0xffffffffu, d, 1);
  const bool joined = lane > 0 && rv_sgm_joined(d, left, a.speckle_range);
  const uint32_t starts = __ballot_sync(0xffffffffu, !joined) & (0xffffffffu >> (31 - lane));
  if (x >= a.width || y >= a.height)
    return;
  const size_t p = (size_t)y * a.width + x;
  a.labels[p] = (uint32_t)(p - lane + (31 - __clz((int)starts)));
  a.sizes[p] = 0;
}

template <int R, bool RUNS>
static __global__ void __launch_bounds__(BLOCK) median_kernel(const PostArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  int median = RV_SGM_INVALID;
  if (x < a.width && y < a.height) {
    int value[(2 * R + 1) * (2 * R + 1)];
    const int valid = load_window<R>(a, x, y, value);
    if (a.in.row(y)[x] != RV_SGM_INVALID) {
      const int rank = rv_sgm_median_rank(valid);
      median = R == 1 ? rank_of_9(value, rank) : rank_of_25(value, rank);
    }
    a.out.row(y)[x] = (uint16_t)median;
  }
  if (RUNS)
    label_runs(a, x, y, median);
}

/* --- Speckle: a forest of labels; a label is the index of a pixel of the same region with a
 * smaller or equal index, the root's is its own. The roots do not depend on the order of work. */

static __device__ uint32_t root_of(const volatile uint32_t *labels, uint32_t p) {
  for (uint32_t up = labels[p]; up != p; up = labels[p])
    p = up;
  return p;
}

static __device__ void unite(uint32_t *labels, uint32_t p, uint32_t q) {
  for (;;) {
    p = root_of(labels, p);
    q = root_of(labels, q);
    if (p == q)
      return;
    const uint32_t above = min(p, q), below = max(p, q);
    const uint32_t old = atomicMin(&labels[below], above);
    if (old == below)
      return;
    p = old, q = above; /* someone hung `below` elsewhere: those two belong together as well */
  }
}

static __global__ void __launch_bounds__(BLOCK) speckle_runs_kernel(const PostArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  const bool inside = x < a.width && y < a.height;
  label_runs(a, x, y, inside ? a.in.row(y)[x] : RV_SGM_INVALID);
}

static __global__ void __launch_bounds__(BLOCK) speckle_unite_kernel(const PostArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  if (x >= a.width || y >= a.height)
    return;
  const int range = a.speckle_range, d = a.in.row(y)[x];
  const uint32_t p = (uint32_t)((size_t)y * a.width + x);
  const bool left = x > 0 && rv_sgm_joined(d, a.in.row(y)[x - 1], range);
  if (left && threadIdx.x == 0)
    unite(a.labels, p, p - 1);
  if (y == 0 || !rv_sgm_joined(d, a.in.row(y - 1)[x], range))
    return;
  /* The left neighbour does it when the two rows run in parallel. */
  if (left && threadIdx.x > 0 && rv_sgm_joined(a.in.row(y - 1)[x], a.in.row(y - 1)[x - 1], range) &&
      rv_sgm_joined(a.in.row(y)[x - 1], a.in.row(y - 1)[x - 1], range))
    return;
  unite(a.labels, p, p - (uint32_t)a.width);
}

/* Counting stops once a region is large enough: only that is asked. */
static __global__ void __launch_bounds__(BLOCK) speckle_count_kernel(const PostArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  const bool wanted = x < a.width && y < a.height && a.in.row(y)[x] != RV_SGM_INVALID;
  const uint32_t p = wanted ? (uint32_t)((size_t)y * a.width + x) : 0;
  const uint32_t root = wanted ? root_of(a.labels, p) : 0xffffffffu;
  const uint32_t left = __shfl_up_sync(0xffffffffu, root, 1);
  const uint32_t starts = __ballot_sync(0xffffffffu, threadIdx.x == 0 || left != root);
  if (!wanted)
    return;
  a.labels[p] = root;
  if (!(starts >> threadIdx.x & 1))
    return;
  const uint32_t later = threadIdx.x == 31 ? 0 : starts >> (threadIdx.x + 1);
  const uint32_t run = later ? (uint32_t)__ffs((int)later) : 32 - threadIdx.x;
  if (*(volatile uint32_t *)&a.sizes[root] < (uint32_t)a.speckle_size)
    atomicAdd(&a.sizes[root], run);
}

/* Values, with SPECKLE without those of small regions; confidence where it is wanted. */
template <bool SPECKLE>
static __global__ void __launch_bounds__(BLOCK) output_kernel(const PostArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  if (x >= a.width || y >= a.height)
    return;
  int d = a.in.row(y)[x];
  if (SPECKLE && d != RV_SGM_INVALID &&
      a.sizes[a.labels[(size_t)y * a.width + x]] < (uint32_t)a.speckle_size)
    d = RV_SGM_INVALID;
  a.out.row(y)[x] = (uint16_t)d;
  if (a.confidence.data)
    a.confidence.row(y)[x] = d == RV_SGM_INVALID ? 0 : a.sureness.row(y)[x];
}

RvStatus sgm_cuda_check(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  const PostArgs a = post_args(work, config, job);
  check_kernel<<<tiles(config), dim3(TILE_X, TILE_Y), 0, job->stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

static RvStatus launch_median(const PostArgs &a, const RvSgmConfig *config, RvStream stream,
                              bool runs) {
  const dim3 grid = tiles(config), block(TILE_X, TILE_Y);
  if (config->median == 5 && runs)
    median_kernel<2, true><<<grid, block, 0, stream>>>(a);
  else if (config->median == 5)
    median_kernel<2, false><<<grid, block, 0, stream>>>(a);
  else if (runs)
    median_kernel<1, true><<<grid, block, 0, stream>>>(a);
  else
    median_kernel<1, false><<<grid, block, 0, stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

static RvStatus launch_runs(const PostArgs &a, const RvSgmConfig *config, RvStream stream) {
  speckle_runs_kernel<<<tiles(config), dim3(TILE_X, TILE_Y), 0, stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

/* Regions and their sizes, once the runs have their labels. */
static RvStatus launch_regions(const PostArgs &a, const RvSgmConfig *config, RvStream stream) {
  const dim3 grid = tiles(config), block(TILE_X, TILE_Y);
  speckle_unite_kernel<<<grid, block, 0, stream>>>(a);
  RV_LAUNCHED(&config->log);
  speckle_count_kernel<<<grid, block, 0, stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

static RvStatus launch_output(const PostArgs &a, const RvSgmConfig *config, RvStream stream,
                              bool speckle) {
  if (speckle)
    output_kernel<true><<<tiles(config), dim3(TILE_X, TILE_Y), 0, stream>>>(a);
  else
    output_kernel<false><<<tiles(config), dim3(TILE_X, TILE_Y), 0, stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

RvStatus sgm_cuda_median(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  PostArgs a = post_args(work, config, job);
  a.out = work->median;
  return launch_median(a, config, job->stream, false);
}

RvStatus sgm_cuda_speckle(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  PostArgs a = post_args(work, config, job);
  a.confidence.data = NULL;
  RV_TRY(launch_runs(a, config, job->stream));
  RV_TRY(launch_regions(a, config, job->stream));
  return launch_output(a, config, job->stream, true);
}

RvStatus sgm_cuda_output(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  PostArgs a = post_args(work, config, job);
  a.out = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  return launch_output(a, config, job->stream, false);
}

RvStatus sgm_cuda_clean(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  const bool speckle = config->speckle_size > 1;
  PostArgs a = post_args(work, config, job);
  if (config->median) {
    a.out = work->median;
    RV_TRY(launch_median(a, config, job->stream, speckle));
    a.in = a.out;
  } else if (speckle) {
    RV_TRY(launch_runs(a, config, job->stream));
  }
  if (speckle)
    RV_TRY(launch_regions(a, config, job->stream));
  a.out = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  return launch_output(a, config, job->stream, speckle);
}
