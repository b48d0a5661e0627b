/* SPDX-License-Identifier: MIT */
/* sgm_cuda_clean.cu: stages 8 and 9 and the output. A block takes a tile: median, regions of the
 * speckle filter in shared memory, output. What touches the tile's border and is not large enough
 * within the tile is written all the same and marked as pending; a second kernel unites regions
 * across borders, a third takes away what proved too small. */
#include "rv_launch.cuh"
#include "sgm/sgm_cuda_median.cuh"
#include "sgm/sgm_cuda_path.cuh"
#include "sgm/sgm_cuda_regions.cuh"

enum { WARPS = 8, ROWS = 2, THREADS = 32 * WARPS }; /* ROWS: of a warp; a lane has two columns */
enum { TILE_X = SGM_TILE_X, TILE_Y = WARPS * ROWS, TILE = TILE_X * TILE_Y };

struct CleanArgs {
  SgmRaster<uint16_t> in, out;                   /* the same raster for stages that work in place */
  SgmRaster<uint8_t> raw_confidence, confidence; /* confidence.data is NULL when not asked for */
  SgmNode *nodes;
  uint2 *pending; /* [y][tile]: pixels in even columns, in odd columns */
  int width, height, speckle_size, speckle_range;
};

/* Where a lane works: its columns x and x + 1, and the first of its warp's rows. */
struct Place {
  int lane, warp, x, y;
};

static __device__ __forceinline__ Place my_place() {
  Place p;
  p.lane = (int)threadIdx.x % 32;
  p.warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0); /* known to be the same for the warp */
  p.x = (int)blockIdx.x * TILE_X + 2 * p.lane;
  p.y = (int)blockIdx.y * TILE_Y + p.warp * ROWS;
  return p;
}

/* --- Median */

/* Two values, or one, or none, when so many columns are left; others count as missing. Starts at a
 * multiple of four bytes. */
static __device__ __forceinline__ uint32_t load_pair(const uint16_t *at, int columns) {
  return columns >= 2 ? *(const uint32_t *)at : columns == 1 ? *at : 0;
}

/* The pairs that start in columns x - R .. x + R; edge: the pair beyond the warp's columns. */
template <int R>
static __device__ __forceinline__ void shift_pairs(uint32_t own, uint32_t edge, int lane,
                                                   uint32_t (&pair)[2 * R + 1]) {
  pair[R] = own;
  if constexpr (R > 0) {
    const uint32_t before = __shfl_up_sync(SGM_WARP, own, 1);
    const uint32_t behind = __shfl_down_sync(SGM_WARP, own, 1);
    const uint32_t left = lane == 0 ? edge : before, right = lane == 31 ? edge : behind;
    pair[R - 1] = __byte_perm(left, own, 0x5432);
    pair[R + 1] = __byte_perm(own, right, 0x5432);
    if constexpr (R == 2)
      pair[0] = left, pair[2 * R] = right;
  }
}

template <int R>
static __device__ __forceinline__ void filter(const CleanArgs &a, const Place &p,
                                              uint32_t (&value)[ROWS]) {
  enum { SIDE = 2 * R + 1 };
  uint32_t window[ROWS + 2 * R][SIDE];
  const uint16_t *at = a.in.row(p.y - R) + p.x;
  const int columns = a.width - p.x, aside = p.lane ? 2 : -2;
  const bool outer = R > 0 && (p.lane == 31 || (p.lane == 0 && p.x > 0));
#pragma unroll
  for (int j = 0; j < ROWS + 2 * R; j++) {
    const bool inside = (unsigned)(p.y + j - R) < (unsigned)a.height;
    const uint32_t own = load_pair(at, inside ? columns : 0);
    const uint32_t edge = load_pair(at + aside, inside && outer ? columns - aside : 0);
    shift_pairs<R>(own, edge, p.lane, window[j]);
    at += a.in.stride;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    value[r] = window[r + R][R];
    if constexpr (R > 0) {
      uint32_t v[SIDE * SIDE];
#pragma unroll
      for (int i = 0; i < SIDE * SIDE; i++)
        v[i] = window[r + i / SIDE][i % SIDE];
      sgm_pad(v);
      value[r] = sgm_middle(v) & ~sgm_missing(value[r]);
    }
  }
}

/* --- Speckle within the tile. A region is a forest of runs, a run is known by the place of its
 * first pixel (its head) in the tile. */

struct Runs {
  uint32_t even, odd; /* lanes whose pixel begins a run */
};

struct Forest {
  uint32_t label[TILE]; /* of a head: a head of the same region, smaller or the same */
  uint32_t count[TILE]; /* of a root: pixels, and above 16 bits runs at the border */
  uint16_t root[TILE];  /* of a head */
  uint32_t last[WARPS][32];
  Runs runs[WARPS]; /* of a warp's last row */
};

/* One row, as a lane sees it. */
struct Row {
  uint32_t value;
  Runs runs;
  int even, odd; /* heads of the two pixels' runs, columns of the tile */
};

/* rv_sgm_same_region of both halves: 0 in those that are joined. */
static __device__ __forceinline__ uint32_t parted(const CleanArgs &a, uint32_t p, uint32_t q) {
  const uint32_t low = __vminu2(p, q), most = (uint32_t)(RV_SGM_SCALE * a.speckle_range) * 0x10001u;
  return sgm_missing(low) | (__vmaxu2(__vmaxu2(p, q) - low, most) ^ most);
}

static __device__ __forceinline__ bool bit(uint32_t mask, int lane) {
  return mask >> lane & 1;
}

static __device__ __forceinline__ void find_heads(Row &row, int lane) {
  const uint32_t upto = 0xffffffffu >> (31 - lane);
  row.even = rv_max(2 * (31 - __clz((int)(row.runs.even & upto))),
                    2 * (31 - __clz((int)(row.runs.odd & upto >> 1))) + 1);
  row.odd = bit(row.runs.odd, lane) ? 2 * lane + 1 : row.even;
}

static __device__ __forceinline__ Row find_runs(const CleanArgs &a, uint32_t value, int lane) {
  Row row;
  row.value = value;
  const uint32_t before = __shfl_up_sync(SGM_WARP, value, 1);
  const uint32_t begins = parted(a, value, __byte_perm(before, value, 0x5432));
  row.runs.even = __ballot_sync(SGM_WARP, begins & 0xffff) | 1;
  row.runs.odd = __ballot_sync(SGM_WARP, begins >> 16);
  find_heads(row, lane);
  return row;
}

/* Nothing but atomic steps, so that reading never races with them. */
static __device__ void unite(uint32_t *label, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t above = min(a, b), below = max(a, b);
    const uint32_t old = atomicMin(&label[below], above);
    if (old == below)
      return;
    a = old, b = above; /* `below` hung elsewhere: those two belong together as well */
  }
}

/* Unites runs of a row that begins at `base` with those above it, each pair once: where the left
 * neighbours do it for the same two runs, they do. */
static __device__ __forceinline__ void unite_rows(const CleanArgs &a, Forest &f, const Row &row,
                                                  const Row &above, int lane, uint32_t base) {
  const uint32_t apart = parted(a, row.value, above.value);
  const bool even = !(apart & 0xffff), odd = !(apart >> 16);
  const bool before = __shfl_up_sync(SGM_WARP, (int)odd, 1);
  const Runs starts = {row.runs.even | above.runs.even, row.runs.odd | above.runs.odd};
  if (even && !(before && !bit(starts.even, lane)))
    unite(f.label, base + row.even, base - TILE_X + above.even);
  if (odd && !(even && !bit(starts.odd, lane)))
    unite(f.label, base + row.odd, base - TILE_X + above.odd);
}

/* Whether the tile has a neighbour beyond row y, which is its first or last one, or beyond the
 * lane's even or odd column. */
static __device__ __forceinline__ bool row_touches(const CleanArgs &a, int y) {
  return (y % TILE_Y == 0 && y > 0) || (y % TILE_Y == TILE_Y - 1 && y + 1 < a.height);
}
static __device__ __forceinline__ bool even_touches(const Place &p) {
  return p.lane == 0 && p.x > 0;
}
static __device__ __forceinline__ bool odd_touches(const CleanArgs &a, const Place &p) {
  return p.lane == 31 && p.x + 2 < a.width;
}

/* A run's last pixel counts it. */
static __device__ __forceinline__ void count_run(Forest &f, uint32_t head, uint32_t last,
                                                 bool touches) {
  uint32_t root = head;
#pragma unroll 1
  for (uint32_t up = f.label[root]; up != root; up = f.label[root])
    root = up;
  f.root[head] = (uint16_t)root;
  atomicAdd(&f.count[root], last - head + 1 + (touches ? 0x10000u : 0u));
}

static __device__ __forceinline__ void count_runs(const CleanArgs &a, Forest &f, const Place &p,
                                                  const Row &row, int y, uint32_t base) {
  const bool touches = row_touches(a, y);
  const bool left = (int)blockIdx.x > 0, even_ends = bit(row.runs.odd, p.lane);
  const bool odd_ends = p.lane == 31 || bit(row.runs.even, p.lane + 1);
  if (even_ends && row.value & 0xffff)
    count_run(f, base + row.even, base + 2 * p.lane, touches || (left && row.even == 0));
  if (odd_ends && row.value >> 16)
    count_run(f, base + row.odd, base + 2 * p.lane + 1,
              touches || (left && row.odd == 0) || odd_touches(a, p));
}

enum RegionState { REGION_KEPT, REGION_REMOVED, REGION_UNDECIDED };

/* What becomes of a pixel with head `head`, `own` its place in the tile; writes its node where
 * other kernels may ask for it. */
static __device__ __forceinline__ RegionState classify_pixel(const CleanArgs &a, const Forest &f,
                                                             bool valid, bool border, uint32_t head,
                                                             uint32_t own, int x, int y) {
  if (x >= a.width || y >= a.height || !(valid || border))
    return REGION_KEPT;
  const uint32_t root = valid ? f.root[head] : 0, count = valid ? f.count[root] : 0;
  const int size = (int)(count & 0xffff);
  const bool enough = !valid || size >= a.speckle_size, pends = !enough && count >> 16;
  if (pends || border) {
    const uint32_t tile = blockIdx.y * TILE_Y * (uint32_t)a.width + blockIdx.x * TILE_X;
    const uint32_t number = tile + root / TILE_X * (uint32_t)a.width + root % TILE_X + 1;
    a.nodes[(size_t)y * a.width + x] =
        pends ? sgm_node(number, root == own ? (uint32_t)size : 0) : sgm_node(0, 0);
  }
  return enough ? REGION_KEPT : pends ? REGION_UNDECIDED : REGION_REMOVED;
}

static __device__ __forceinline__ uint32_t judge_row(const CleanArgs &a, const Forest &f,
                                                     const Place &p, const Row &row, int y,
                                                     uint32_t base) {
  const bool touches = row_touches(a, y);
  const uint32_t own = base + 2 * p.lane;
  const RegionState even = classify_pixel(a, f, row.value & 0xffff, touches || even_touches(p),
                                          base + row.even, own, p.x, y);
  const RegionState odd = classify_pixel(a, f, row.value >> 16, touches || odd_touches(a, p),
                                         base + row.odd, own + 1, p.x + 1, y);
  const uint2 pending = make_uint2(__ballot_sync(SGM_WARP, even == REGION_UNDECIDED),
                                   __ballot_sync(SGM_WARP, odd == REGION_UNDECIDED));
  if (p.lane == 0 && y < a.height)
    a.pending[(size_t)y * gridDim.x + blockIdx.x] = pending;
  return row.value & (even == REGION_REMOVED ? 0xffff0000u : ~0u) &
         (odd == REGION_REMOVED ? 0x0000ffffu : ~0u);
}

static __device__ __forceinline__ void drop_small(const CleanArgs &a, Forest &f, const Place &p,
                                                  uint32_t (&value)[ROWS]) {
  const uint32_t base = (uint32_t)(p.warp * ROWS * TILE_X);
  Row row[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    row[r] = find_runs(a, value[r], p.lane);
    const uint32_t own = base + r * TILE_X + 2 * p.lane;
    *(uint2 *)&f.label[own] = make_uint2(own, own + 1);
    *(uint2 *)&f.count[own] = make_uint2(0, 0);
  }
  f.last[p.warp][p.lane] = value[ROWS - 1];
  if (p.lane == 0)
    f.runs[p.warp] = row[ROWS - 1].runs;
  __syncthreads();
  if (p.warp > 0) {
    Row above;
    above.value = f.last[p.warp - 1][p.lane];
    above.runs = f.runs[p.warp - 1];
    find_heads(above, p.lane);
    unite_rows(a, f, row[0], above, p.lane, base);
  }
#pragma unroll
  for (int r = 1; r < ROWS; r++)
    unite_rows(a, f, row[r], row[r - 1], p.lane, base + r * TILE_X);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    count_runs(a, f, p, row[r], p.y + r, base + r * TILE_X);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    value[r] = judge_row(a, f, p, row[r], p.y + r, base + r * TILE_X);
}

/* --- Output */

static __device__ __forceinline__ void store_rows(const CleanArgs &a, const Place &p,
                                                  const uint32_t (&value)[ROWS]) {
  uint16_t *to = a.out.row(p.y) + p.x;
  const uint8_t *raw_confidence = a.raw_confidence.row(p.y) + p.x;
  uint8_t *confidence = a.confidence.row(p.y) + p.x;
  const bool two = p.x + 1 < a.width;
  const int rows = p.x < a.width ? a.height - p.y : 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const uint32_t even = value[r] & 0xffff, odd = value[r] >> 16;
    if (r >= rows)
      break;
    if (two && (uintptr_t)to % 4 == 0) {
      *(uint32_t *)to = value[r];
    } else {
      to[0] = (uint16_t)even;
      if (two)
        to[1] = (uint16_t)odd;
    }
    to += a.out.stride;
    if (!a.confidence.data)
      continue;
    confidence[0] = even ? raw_confidence[0] : 0;
    if (two)
      confidence[1] = odd ? raw_confidence[1] : 0;
    raw_confidence += a.raw_confidence.stride, confidence += a.confidence.stride;
  }
}

/* R: radius of the median, 0 for none. */
template <int R, bool SPECKLE>
static __global__ void __launch_bounds__(THREADS) tile_kernel(const CleanArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const Place p = my_place();
  uint32_t value[ROWS];
  filter<R>(a, p, value);
  if (SPECKLE) {
    __shared__ Forest forest;
    drop_small(a, forest, p, value);
  }
  store_rows(a, p, value);
}

/* Two single values. */
static __device__ __forceinline__ bool joined(const CleanArgs &a, uint32_t p, uint32_t q) {
  return !(parted(a, p, q) & 0xffff);
}

/* Unites regions of neighbouring tiles: blockIdx.y counts the borders, the horizontal ones first,
 * threads take the pixels below or right of them. As above, each pair of runs once. */
static __global__ void __launch_bounds__(THREADS) border_kernel(const CleanArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const int horizontal = rv_div_up(a.height, TILE_Y) - 1;
  const bool level = (int)blockIdx.y < horizontal;
  const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
  const int x = level ? i : ((int)blockIdx.y - horizontal + 1) * TILE_X;
  const int y = level ? ((int)blockIdx.y + 1) * TILE_Y : i;
  const bool inside = level ? x < a.width : y < a.height;
  const int ux = level ? x : x - 1, uy = level ? y - 1 : y; /* beyond the border */
  uint32_t here = 0, there = 0;
  SgmNode node = 0, other = 0;
  if (inside) {
    here = a.out.row(y)[x], there = a.out.row(uy)[ux];
    node = *(volatile SgmNode *)&a.nodes[(size_t)y * a.width + x];
    other = *(volatile SgmNode *)&a.nodes[(size_t)uy * a.width + ux];
  }
  const uint32_t here_before = __shfl_up_sync(SGM_WARP, here, 1);
  const uint32_t there_before = __shfl_up_sync(SGM_WARP, there, 1);
  const bool begins = threadIdx.x % 32 == 0 || (!level && y % TILE_Y == 0);
  if (!joined(a, here, there) || !(sgm_parent(node) || sgm_parent(other)) ||
      (!begins && joined(a, here, here_before) && joined(a, there, there_before) &&
       joined(a, here_before, there_before)))
    return;
  sgm_unite(a.nodes, sgm_parent(node), sgm_parent(other), (uint32_t)a.speckle_size);
}

/* The pending pixels, now that their regions are whole; a warp takes one row of a tile. */
static __global__ void __launch_bounds__(THREADS) pending_kernel(const CleanArgs a) {
  rv_launch_wait();
  const int lane = (int)threadIdx.x % 32;
  const int y = (int)(blockIdx.y * WARPS + threadIdx.x / 32);
  if (y >= a.height)
    return;
  const uint2 pending = a.pending[(size_t)y * gridDim.x + blockIdx.x];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int x = (int)blockIdx.x * TILE_X + 2 * lane + i;
    if (!bit(i ? pending.y : pending.x, lane) ||
        sgm_stays(a.nodes, (size_t)y * a.width + x, (uint32_t)a.speckle_size))
      continue;
    a.out.row(y)[x] = RV_SGM_INVALID;
    if (a.confidence.data)
      a.confidence.row(y)[x] = 0;
  }
}

/* --- Launches */

static CleanArgs clean_args(const SgmCuda *work, const RvSgmConfig *config) {
  CleanArgs a = {};
  a.in = work->current, a.out = work->current;
  a.raw_confidence = work->raw_confidence;
  a.nodes = work->nodes, a.pending = work->pending;
  a.width = config->width, a.height = config->height;
  a.speckle_size = config->speckle_size, a.speckle_range = config->speckle_range;
  return a;
}

static void to_planes(CleanArgs *a, const RvSgmJob *job) {
  a->out = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  a->confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
}

static RvStatus launch(const CleanArgs &a, const RvSgmConfig *config, RvStream stream, bool early,
                       dim3 grid, void (*kernel)(CleanArgs)) {
  RvLaunch launch(grid, THREADS, 0, stream);
  if (early)
    launch.early();
  RV_CU(&config->log, cudaLaunchKernelEx(&launch.config, kernel, a));
  return RV_OK;
}

static RvStatus clean(const CleanArgs &a, const RvSgmConfig *config, RvStream stream, bool early,
                      int median, bool speckle) {
  const dim3 tiles(rv_div_up(a.width, TILE_X), rv_div_up(a.height, TILE_Y));
  void (*const kernel)(CleanArgs) =
      median == 5   ? speckle ? tile_kernel<2, true> : tile_kernel<2, false>
        : median == 3 ? speckle ? tile_kernel<1, true> : tile_kernel<1, false>
        : speckle ? tile_kernel<0, true>
                    : tile_kernel<0, false>;
  RV_TRY(launch(a, config, stream, early, tiles, kernel));
  if (!speckle)
    return RV_OK;
  const dim3 borders(rv_div_up(rv_max(a.width, a.height), THREADS), tiles.x + tiles.y - 2);
  if (borders.y)
    RV_TRY(launch(a, config, stream, early, borders, border_kernel));
  const dim3 rows(tiles.x, rv_div_up(a.height, WARPS));
  return borders.y ? launch(a, config, stream, early, rows, pending_kernel) : RV_OK;
}

RvStatus sgm_cuda_median(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  CleanArgs a = clean_args(work, config);
  a.out = work->median;
  return clean(a, config, job->stream, false, config->median, false);
}

RvStatus sgm_cuda_speckle(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  const CleanArgs a = clean_args(work, config);
  return clean(a, config, job->stream, false, 0, true);
}

RvStatus sgm_cuda_output(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  CleanArgs a = clean_args(work, config);
  to_planes(&a, job);
  return clean(a, config, job->stream, false, 0, false);
}

RvStatus sgm_cuda_clean(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  CleanArgs a = clean_args(work, config);
  to_planes(&a, job);
  return clean(a, config, job->stream, work->early, config->median, config->speckle_size > 1);
}
