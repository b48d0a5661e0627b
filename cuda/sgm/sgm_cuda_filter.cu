/* SPDX-License-Identifier: MIT */
/* sgm_cuda_filter.cu: the filter stage: median, speckle filter and output. A block takes a tile:
 * median, regions of the speckle filter in shared memory, output. Regions that touch the boundary
 * of the tile and are not large enough within it are written and marked as pending. Of two
 * neighboring tiles the one that is finished last merges the regions across their boundary; a second
 * kernel invalidates those that are too small, or the first one of the sky (sgm_cuda_sky_removes).
 * Where rows say when their maps are complete, a tile starts as soon as its rows are. */
#include <string.h>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda_finished.cuh"
#include "sgm/sgm_cuda_median.cuh"
#include "sgm/sgm_cuda_path.cuh"
#include "sgm/sgm_cuda_regions.cuh"

namespace {

enum { TILE_X = SGM_TILE_X, TILE_Y = SGM_TILE_Y, TILE = TILE_X * TILE_Y };
/* ROWS: of a warp; a lane has two columns */
enum { ROWS = 2, WARPS = TILE_Y / ROWS, THREADS = 32 * WARPS };

struct FilterArgs {
  SgmFinished rows;
  SgmRaster<uint16_t> in, out;
  SgmRaster<uint8_t> raw_confidence, confidence; /* confidence.data is NULL when not asked for */
  SgmNode *nodes;
  uint2 *pending;
  uint32_t pitch, pending_pitch; /* of these, see SgmRegions */
  uint32_t *edges;               /* see sgm_cuda_regions.cuh */
  int width, height, speckle_size, speckle_range;
  int is_left;                /* 1: pending pixels are left to the sky */
  uint8_t confidence_of[256]; /* by rv_sgm_margin () */
};

/* Position of a lane: the row of tiles, its columns x and x + 1, and the first of its warp's rows. */
struct Place {
  int tile_y, lane, warp, x, y;
};

__device__ __forceinline__ Place my_place(const FilterArgs &a) {
  Place p;
  p.tile_y = a.rows.shown ? a.rows.nth((int)blockIdx.y, (int)gridDim.y) : (int)blockIdx.y;
  p.lane = (int)threadIdx.x % 32;
  p.warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0); /* uniform for the compiler */
  p.x = (int)blockIdx.x * TILE_X + 2 * p.lane;
  p.y = p.tile_y * TILE_Y + p.warp * ROWS;
  return p;
}

/* --- Median ---------------------------------------------------------------------------------- */

/* Two values, or one, or none, depending on the columns that remain; the others are invalid. Starts
 * at a multiple of four bytes, so after the last column of an odd width there is more of the row. No
 * branch, at whose end the next load would wait for this one. */
__device__ __forceinline__ uint32_t load_pair(const uint16_t *at, int columns, bool is_inside) {
  const uint32_t pair = is_inside && columns > 0 ? *(const uint32_t *)at : 0;
  return columns == 1 ? pair & 0xffffu : pair;
}

/* The pairs that start in columns x - R .. x + R; edge: the pair beyond the warp's columns. */
template <int R>
__device__ __forceinline__ void shift_pairs(uint32_t own, uint32_t edge, int lane,
                                            uint32_t (&pair)[2 * R + 1]) {
  pair[R] = own;
  if constexpr (R > 0) {
    const uint32_t before = __shfl_up_sync(SGM_WARP, own, 1);
    const uint32_t after = __shfl_down_sync(SGM_WARP, own, 1);
    const uint32_t left = lane == 0 ? edge : before, right = lane == 31 ? edge : after;
    pair[R - 1] = __byte_perm(left, own, 0x5432);
    pair[R + 1] = __byte_perm(own, right, 0x5432);
    if constexpr (R == 2)
      pair[0] = left, pair[2 * R] = right;
  }
}

/* The middles of the windows of the rows. */
__device__ __forceinline__ void find_middles(const uint32_t (&)[ROWS][1], uint32_t (&)[ROWS]) {}
__device__ __forceinline__ void find_middles(const uint32_t (&window)[ROWS + 2][3],
                                             uint32_t (&middle)[ROWS]) {
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    uint32_t v[9], high = 0;
#pragma unroll
    for (int i = 0; i < 9; i++)
      v[i] = window[r + i / 3][i % 3];
    sgm_pad(v, high);
    middle[r] = sgm_middle(v);
  }
}
__device__ __forceinline__ void find_middles(const uint32_t (&window)[ROWS + 4][5],
                                             uint32_t (&middle)[ROWS]) {
  static_assert(ROWS == 2, "rows 1 to 4 belong to both");
  uint32_t both[20], own[2][5], high = 0;
#pragma unroll
  for (int i = 0; i < 20; i++)
    both[i] = window[1 + i / 5][i % 5];
  sgm_pad(both, high);
#pragma unroll
  for (int n = 0; n < 2; n++) {
    uint32_t next = high;
#pragma unroll
    for (int i = 0; i < 5; i++)
      own[n][i] = window[5 * n][i];
    sgm_pad(own[n], next);
  }
  sgm_middles(both, own, middle);
}

template <int R>
__device__ __forceinline__ void filter(const FilterArgs &a, const Place &p,
                                       uint32_t (&value)[ROWS]) {
  enum { SIDE = 2 * R + 1 };
  uint32_t window[ROWS + 2 * R][SIDE];
  const uint16_t *at = a.in.row(p.y - R) + p.x;
  const int columns = a.width - p.x, aside = p.lane ? 2 : -2;
  const bool outer = R > 0 && (p.lane == 31 || (p.lane == 0 && p.x > 0));
  uint32_t own[ROWS + 2 * R], edge[ROWS + 2 * R]; /* loaded before the first is used */
#pragma unroll
  for (int j = 0; j < ROWS + 2 * R; j++, at += a.in.stride) {
    const bool inside = (unsigned)(p.y + j - R) < (unsigned)a.height;
    own[j] = load_pair(at, columns, inside);
    edge[j] = load_pair(at + aside, columns - aside, inside && outer);
  }
#pragma unroll
  for (int j = 0; j < ROWS + 2 * R; j++)
    shift_pairs<R>(own[j], edge[j], p.lane, window[j]);
  uint32_t middle[ROWS];
  find_middles(window, middle);
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    value[r] = window[r + R][R];
    if constexpr (R > 0)
      value[r] = middle[r] & ~sgm_invalid(value[r]);
  }
}

/* --- Speckle filter within the tile. A region is a forest of runs, a run is identified by the
 * position of its first pixel (its head) in the tile. */

struct Runs {
  uint32_t even, odd; /* lanes whose pixel starts a run */
};

struct Forest {
  uint32_t label[TILE]; /* of a head: a head of the same region, smaller or the same */
  uint32_t count[TILE]; /* of a root: pixels, and above 16 bits runs at the boundary */
  uint16_t root[TILE];  /* of a head */
  uint32_t last[WARPS][32];
  Runs runs[WARPS]; /* of a warp's last row */
  uint32_t second;  /* see sgm_meet */
};

/* One row, as a lane sees it. */
struct Row {
  uint32_t value;
  Runs runs;
  int even, odd; /* heads of the two pixels' runs, columns of the tile */
};

/* rv_sgm_same_region of both halves: 0 in those that belong to one region. */
__device__ __forceinline__ uint32_t parted(const FilterArgs &a, uint32_t p, uint32_t q) {
  const uint32_t low = __vminu2(p, q),
                 range = (uint32_t)(RV_SGM_SCALE * a.speckle_range) * 0x10001u;
  return sgm_invalid(low) | (__vmaxu2(__vmaxu2(p, q) - low, range) ^ range);
}

__device__ __forceinline__ bool bit(uint32_t mask, int lane) {
  return mask >> lane & 1;
}

__device__ __forceinline__ void find_heads(Row &row, int lane) {
  const uint32_t upto = 0xffffffffu >> (31 - lane);
  row.even = rv_max(2 * (31 - __clz((int)(row.runs.even & upto))),
                    2 * (31 - __clz((int)(row.runs.odd & upto >> 1))) + 1);
  row.odd = bit(row.runs.odd, lane) ? 2 * lane + 1 : row.even;
}

__device__ __forceinline__ Row find_runs(const FilterArgs &a, uint32_t value, int lane) {
  Row row;
  row.value = value;
  const uint32_t before = __shfl_up_sync(SGM_WARP, value, 1);
  const uint32_t begins = parted(a, value, __byte_perm(before, value, 0x5432));
  row.runs.even = __ballot_sync(SGM_WARP, begins & 0xffff) | 1;
  row.runs.odd = __ballot_sync(SGM_WARP, begins >> 16);
  find_heads(row, lane);
  return row;
}

/* Merges runs of a row that starts at `base` with those above it, each pair once: where the left
 * neighbors have the same two runs, they do it. */
__device__ __forceinline__ void merge_rows(const FilterArgs &a, Forest &f, const Row &row,
                                           const Row &above, int lane, uint32_t base) {
  const uint32_t apart = parted(a, row.value, above.value);
  const bool even = !(apart & 0xffff), odd = !(apart >> 16);
  const bool before = __shfl_up_sync(SGM_WARP, (int)odd, 1);
  const Runs starts = {row.runs.even | above.runs.even, row.runs.odd | above.runs.odd};
  if (even && !(before && !bit(starts.even, lane)))
    sgm_merge_labels(f.label, base + row.even, base - TILE_X + above.even);
  if (odd && !(even && !bit(starts.odd, lane)))
    sgm_merge_labels(f.label, base + row.odd, base - TILE_X + above.odd);
}

/* Whether the tile has a neighbor beyond row y, which is its first or last one, or beyond the
 * lane's even or odd column. */
__device__ __forceinline__ bool row_touches(const FilterArgs &a, int y) {
  return (y % TILE_Y == 0 && y > 0) || (y % TILE_Y == TILE_Y - 1 && y + 1 < a.height);
}
__device__ __forceinline__ bool even_touches(const Place &p) {
  return p.lane == 0 && p.x > 0;
}
__device__ __forceinline__ bool odd_touches(const FilterArgs &a, const Place &p) {
  return p.lane == 31 && p.x + 2 < a.width;
}

/* The last pixel of a run counts it. */
__device__ __forceinline__ void count_run(Forest &f, uint32_t head, uint32_t last, bool touches) {
  uint32_t root = head;
#pragma unroll 1
  for (uint32_t up = f.label[root]; up != root; up = f.label[root])
    root = up;
  f.root[head] = (uint16_t)root;
  atomicAdd(&f.count[root], last - head + 1 + (touches ? 0x10000u : 0u));
}

__device__ __forceinline__ void count_runs(const FilterArgs &a, Forest &f, const Place &p,
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

/* State of a pixel with head `head`, `own` its position in the tile; writes its node where other
 * kernels may read it. */
__device__ __forceinline__ RegionState classify_pixel(const FilterArgs &a, const Forest &f,
                                                      int tile_y, bool valid, bool boundary,
                                                      uint32_t head, uint32_t own, int x, int y) {
  if (x >= a.width || y >= a.height || !(valid || boundary))
    return REGION_KEPT;
  const uint32_t root = valid ? f.root[head] : 0, count = valid ? f.count[root] : 0;
  const int size = (int)(count & 0xffff);
  const bool enough = !valid || size >= a.speckle_size, pends = !enough && count >> 16;
  if (pends || boundary) {
    const uint32_t row = (uint32_t)tile_y * TILE_Y + root / TILE_X;
    const uint32_t number = row * a.pitch + blockIdx.x * TILE_X + root % TILE_X + 1;
    a.nodes[(size_t)y * a.pitch + x] =
        pends ? sgm_node(number, root == own ? (uint32_t)size : 0) : sgm_node(0, 0);
  }
  return enough ? REGION_KEPT : pends ? REGION_UNDECIDED : REGION_REMOVED;
}

__device__ __forceinline__ uint32_t classify_row(const FilterArgs &a, const Forest &f,
                                                 const Place &p, const Row &row, int y,
                                                 uint32_t base) {
  const bool touches = row_touches(a, y);
  const uint32_t own = base + 2 * p.lane;
  const RegionState even = classify_pixel(a, f, p.tile_y, row.value & 0xffff,
                                          touches || even_touches(p), base + row.even, own, p.x, y);
  const RegionState odd =
      classify_pixel(a, f, p.tile_y, row.value >> 16, touches || odd_touches(a, p), base + row.odd,
                     own + 1, p.x + 1, y);
  const uint2 pending = make_uint2(__ballot_sync(SGM_WARP, even == REGION_UNDECIDED),
                                   __ballot_sync(SGM_WARP, odd == REGION_UNDECIDED));
  if (p.lane == 0 && y < a.height)
    a.pending[(size_t)y * a.pending_pitch + blockIdx.x] = pending;
  return row.value & (even == REGION_REMOVED ? 0xffff0000u : ~0u) &
         (odd == REGION_REMOVED ? 0x0000ffffu : ~0u);
}

__device__ __forceinline__ void drop_small(const FilterArgs &a, Forest &f, const Place &p,
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
    merge_rows(a, f, row[0], above, p.lane, base);
  }
#pragma unroll
  for (int r = 1; r < ROWS; r++)
    merge_rows(a, f, row[r], row[r - 1], p.lane, base + r * TILE_X);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    count_runs(a, f, p, row[r], p.y + r, base + r * TILE_X);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    value[r] = classify_row(a, f, p, row[r], p.y + r, base + r * TILE_X);
}

/* --- Output ---------------------------------------------------------------------------------- */

__device__ __forceinline__ void store_rows(const FilterArgs &a, const Place &p,
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
    confidence[0] = even ? a.confidence_of[raw_confidence[0]] : 0;
    if (two)
      confidence[1] = odd ? a.confidence_of[raw_confidence[1]] : 0;
    raw_confidence += a.raw_confidence.stride, confidence += a.confidence.stride;
  }
}

/* --- Boundaries ------------------------------------------------------------------------------ */

/* Two single values. */
__device__ __forceinline__ bool joined(const FilterArgs &a, uint32_t p, uint32_t q) {
  return !(parted(a, p, q) & 0xffff);
}

/* Merges regions across the boundary between pixel (x, y) and (ux, uy), which is above or to the left
 * of it; all lanes of a warp, in the order of the pixels. As above, each pair of runs once. */
__device__ __forceinline__ void merge_across(const FilterArgs &a, int x, int y, int ux, int uy,
                                             bool inside) {
  uint32_t here = 0, there = 0;
  SgmNode node = 0, other = 0;
  if (inside) {
    here = *(const volatile uint16_t *)&a.out.row(y)[x];
    there = *(const volatile uint16_t *)&a.out.row(uy)[ux];
    node = *(const volatile SgmNode *)&a.nodes[(size_t)y * a.pitch + x];
    other = *(const volatile SgmNode *)&a.nodes[(size_t)uy * a.pitch + ux];
  }
  const uint32_t here_before = __shfl_up_sync(SGM_WARP, here, 1);
  const uint32_t there_before = __shfl_up_sync(SGM_WARP, there, 1);
  if (!joined(a, here, there) || !(sgm_parent(node) || sgm_parent(other)) ||
      (threadIdx.x % 32 != 0 && joined(a, here, here_before) && joined(a, there, there_before) &&
       joined(a, here_before, there_before)))
    return;
  sgm_merge(a.nodes, sgm_parent(node), sgm_parent(other), (uint32_t)a.speckle_size);
}

/* Merges regions across the tile's boundaries where the neighbor is finished, too. Two warps take a
 * level boundary, one an upright one. */
__device__ __forceinline__ void merge_tiles(const FilterArgs &a, Forest &f, const Place &p) {
  sgm_meet(a.edges, p.tile_y, &f.second);
  const int x0 = (int)blockIdx.x * TILE_X, y0 = p.tile_y * TILE_Y;
  const SgmEdge edge = p.warp < 2   ? SGM_EDGE_ABOVE
                       : p.warp < 4 ? SGM_EDGE_BELOW
                                    : (SgmEdge)(p.warp - 4 + SGM_EDGE_LEFT);
  if (p.warp >= 6 || !(f.second >> edge & 1))
    return;
  if (edge == SGM_EDGE_ABOVE || edge == SGM_EDGE_BELOW) {
    const int x = x0 + p.warp % 2 * 32 + p.lane, y = y0 + (edge == SGM_EDGE_BELOW ? TILE_Y : 0);
    merge_across(a, x, y, x, y - 1, x < a.width);
  } else {
    const int x = x0 + (edge == SGM_EDGE_RIGHT ? TILE_X : 0), y = y0 + p.lane;
    merge_across(a, x, y, x - 1, y, p.lane < TILE_Y && y < a.height);
  }
}

/* R: radius of the median, 0 = off. */
template <int R, bool SPECKLE>
__global__ void __launch_bounds__(THREADS) tile_kernel(const __grid_constant__ FilterArgs a) {
  const Place p = my_place(a);
  const int first = p.tile_y * TILE_Y;
  a.rows.wait_for_maps(rv_max(first - R, 0), rv_min(first + TILE_Y + R, a.height) - 1);
  rv_launch_next();
  uint32_t value[ROWS];
  filter<R>(a, p, value);
  if (!SPECKLE) {
    store_rows(a, p, value);
  } else {
    __shared__ Forest forest;
    drop_small(a, forest, p, value);
    store_rows(a, p, value);
    merge_tiles(a, forest, p);
  }
}

/* The pending pixels, now that their regions are complete; one warp per row of a tile. */
__global__ void __launch_bounds__(THREADS) pending_kernel(const FilterArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const int lane = (int)threadIdx.x % 32;
  const int y = (int)(blockIdx.y * WARPS + threadIdx.x / 32);
  if (y >= a.height)
    return;
  const uint2 pending = a.pending[(size_t)y * a.pending_pitch + blockIdx.x];
  const int x0 = (int)blockIdx.x * TILE_X + 2 * lane;
  const size_t pixel[2] = {(size_t)y * a.pitch + x0, (size_t)y * a.pitch + x0 + 1};
  bool small[2] = {bit(pending.x, lane), bit(pending.y, lane)};
  sgm_find_small(a.nodes, pixel, (uint32_t)a.speckle_size, small);
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int x = x0 + i;
    if (!small[i])
      continue;
    a.out.row(y)[x] = RV_SGM_INVALID;
    if (a.confidence.data)
      a.confidence.row(y)[x] = 0;
  }
}

/* --- Launches -------------------------------------------------------------------------------- */

void (*tile_kernel_of(int median, int speckle_size))(FilterArgs) {
  const bool speckle = speckle_size > 1;
  if (median == 5)
    return speckle ? tile_kernel<2, true> : tile_kernel<2, false>;
  if (median == 3)
    return speckle ? tile_kernel<1, true> : tile_kernel<1, false>;
  return speckle ? tile_kernel<0, true> : tile_kernel<0, false>;
}

/* A region of one pixel is never removed with speckle_size 0 or 1. early: the first kernel may start
 * before the preceding one ends. */
RvStatus run_filter(const SgmCuda *work, const RvSgmJob *job, const SgmRegions &regions,
                    FilterArgs a, int median, bool early) {
  const RvSgmConfig *config = &job->plan->config;
  const RvLog *log = &config->log;
  a.edges = work->edges;
  a.width = config->width, a.height = config->height, a.speckle_range = config->speckle_range;
  a.nodes = regions.nodes, a.pitch = regions.node_pitch;
  a.pending = regions.pending, a.pending_pitch = regions.pending_pitch;
  const dim3 tiles(rv_div_up(a.width, TILE_X), rv_div_up(a.height, TILE_Y));
  const dim3 rows(tiles.x, rv_div_up(a.height, WARPS));
  RvLaunch launch(tiles, THREADS, 0, job->stream);
  if (early) {
    launch.early();
    launch.prefer_shared(); /* as the kernels before, and so that the one after has room beside */
  }
  RV_TRY(launch.run(log, tile_kernel_of(median, a.speckle_size), a));
  if (a.speckle_size <= 1 || tiles.x * tiles.y == 1 || a.is_left)
    return RV_OK;
  return rv_launch(log, pending_kernel, rows, THREADS, 0, job->stream, work->early, a);
}

} // namespace

RvStatus sgm_cuda_filter(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  FilterArgs a = {};
  a.in = work->maps.values, a.raw_confidence = work->maps.raw_confidence;
  a.out = {(uint16_t *)job->disparity.data, job->disparity.stride / 2};
  a.confidence = {(uint8_t *)job->confidence.data, job->confidence.stride};
  a.speckle_size = config->speckle_size;
  memcpy(a.confidence_of, job->plan->confidence_of, sizeof a.confidence_of);
  a.rows = sgm_finished(work, config->height);
  a.is_left = sgm_cuda_sky_removes(config);
  return run_filter(work, job, sgm_cuda_regions(work, config), a, config->median, work->early);
}

RvStatus sgm_cuda_large_regions(const SgmCuda *work, const RvSgmJob *job,
                                const SgmRaster<uint16_t> &in, const SgmRaster<uint16_t> &out,
                                int size) {
  FilterArgs a = {};
  a.in = in, a.out = out, a.speckle_size = size;
  return run_filter(work, job, work->regions, a, 0, false);
}
