/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_boxes.cu: components of runs, their boxes and order, the columns of the free
 * space. */
#include <stddef.h>

#include "obstacles/obstacles_cuda.cuh"

#define THREADS 1024
#define BOX_THREADS 128
#define BOX_BLOCKS 128
#define COLUMN_THREADS 256
#define COLUMN_WARPS (COLUMN_THREADS / 32)
#define LIMIT_WARPS 8 /* strips of a block beside the components */
#define HELD 4        /* runs per lane that stay in registers, of middling components */

/* --- Limits ---------------------------------------------------------------------------------- */

namespace {
/* The lanes of a warp on the pixels of a strip: the first ones take a row, the next ones the next
 * row, as many rows as fit; a lane stays in a column. */
struct StripLane {
  int x;              /* column of the image */
  int first, at_once; /* row, from the first one on; rows of the warp */
  bool is_used;
};
} // namespace

static_assert(RV_OBSTACLES_STRIP_MAX <= 32, "a lane per column");

static __device__ StripLane strip_lane(const RvObstaclesPlan &p, int strip) {
  const int row = rv_lane() / p.n, at_once = 32 / p.n;
  return {strip * p.n + rv_lane() - row * p.n, row, at_once, row < at_once};
}

/* The CPU engine's. */
static __device__ int has_holes(const ObstaclesCuda &w, const RvPlane &disparity, int strip,
                                int q) {
  const RvObstaclesPlan &p = w.plan;
  const StripLane lane = strip_lane(p, strip);
  const RvObstaclesRows rows = rv_obstacles_rows_at(&p, &w.depth[rv_obstacles_center(&p, 2 * q)],
                                                    w.column[strip * p.n + p.n / 2]);
  int holes = 0;
#pragma unroll 4
  for (int y = rows.first + lane.first; y <= rows.last; y += lane.at_once)
    holes += lane.is_used && rv_row<const uint16_t>(disparity, y)[lane.x] == 0;
  return rv_obstacles_has_holes(rv_warp_sum(holes), rv_max(rows.last - rows.first + 1, 0) * p.n);
}

/* The CPU engine's. */
static __device__ void look(const ObstaclesCuda &w, const ObstaclesArgs &a, int strip,
                            RvObstaclesLimit &limit) {
  const RvObstaclesPlan &p = w.plan;
  const int q = limit.q;
  if (!a.gray.data || !rv_obstacles_is_faint(&p, q, RV_OBSTACLES_FAINT_HANG))
    return;
  const StripLane lane = strip_lane(p, strip);
  const RvObstaclesRows rows =
      rv_obstacles_rows_near(&p, w.depth, w.column[strip * p.n + p.n / 2], q);
  int contrast = 0, votes = 0;
#pragma unroll 2
  for (int y = rows.first + lane.first; y <= rows.last; y += lane.at_once) {
    const int is_vote =
        lane.is_used &&
        rv_obstacles_votes_for(&p, w.depth, rv_row<const uint16_t>(a.disparity, y)[lane.x],
                               256 * y + w.column[lane.x], q);
    contrast += is_vote ? rv_obstacles_contrast(&a.gray, lane.x, y) : 0;
    votes += is_vote;
  }
  const int part = rv_obstacles_excess(contrast, votes, RV_OBSTACLES_COLUMN);
  int of_column = part;
  for (int k = 1; k < lane.at_once; k++)
    of_column += __shfl_sync(RV_WARP, part, (rv_lane() + k * p.n) % (lane.at_once * p.n));
  const int flat = __popc(__ballot_sync(RV_WARP, rv_lane() < p.n && of_column < 0));
  const int excess = rv_obstacles_excess(contrast, votes, RV_OBSTACLES_CONTRAST);
  rv_obstacles_look(&p, flat, rv_warp_sum(excess), &limit);
}

/* The CPU engine's, eight bins per lane: the nearest bin of ground with a gap behind it, which ends
 * before the next farther bin of ground and before q; the same without q. */
static __device__ void known_until(const ObstaclesCuda &w, int strip, int q, int *known,
                                   int *through) {
  static_assert(RV_OBSTACLES_COARSE == 8 * 32, "eight bins per lane");
  static_assert(offsetof(RvObstaclesTables, gap_at) % sizeof(uint4) == 0, "read as uint4");
  const int lane = rv_lane();
  const uint4 gaps = ((const uint4 *)w.tables->gap_at)[lane]; /* eight int16 */
  uint32_t word = 0;
  if (lane < RV_OBSTACLES_COARSE / 32)
#pragma unroll
    for (int k = strip - 2; k <= strip + 2; k++)
      if (k >= 0 && k < w.plan.strips)
        word |= w.ground[k * RV_OBSTACLES_COARSE / 32 + lane];
  uint32_t mine = __shfl_sync(RV_WARP, word, lane / 4) >> (8 * (lane % 4)) & 255;
  int below = mine ? 8 * lane + 31 - __clz((int)mine) : -1; /* ground of lower lanes */
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(RV_WARP, below, step);
    below = lane >= step ? rv_max(below, other) : below;
  }
  below = __shfl_up_sync(RV_WARP, below, 1);
  below = lane == 0 ? -1 : below;
  mine |= lane == 31 ? 128u : 0; /* the nearest bin counts as ground */
  int until = -1, open = -1;
  const int farthest = rv_obstacles_farthest(&w.plan), end = rv_max(q, farthest);
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const uint32_t pair = k < 2 ? gaps.x : k < 4 ? gaps.y : k < 6 ? gaps.z : gaps.w;
    const int gap = (int16_t)(k % 2 ? pair >> 16 : pair), at = 8 * lane + k;
    if (mine >> k & 1) {
      until = gap > rv_max(below, end) ? at : until;
      open = gap > rv_max(below, farthest) ? at : open;
      below = at;
    }
  }
  until = rv_warp_max(until);
  open = rv_warp_max(open);
  *known = until < 0 ? q : until;
  *through = rv_max(open, 0);
}

/* All of the limit of a strip but its box, and the bin up to which ground is known without it; one
 * warp. */
static __device__ void find_limit(const ObstaclesCuda &w, const ObstaclesArgs &a, int strip) {
  const RvObstaclesPlan &p = w.plan;
  const int q = w.path[strip], k = rv_max(2 * q - 2, 0) + rv_lane();
  ObstaclesLimit found = {};
  RvObstaclesLimit &limit = found.limit;
  limit.q = q;
  known_until(w, strip, q, &limit.known, &found.through);
  if (q && k <= rv_min(2 * q + 3, RV_OBSTACLES_FINE - 1)) {
    const uint32_t votes = w.votes[(size_t)strip * RV_OBSTACLES_FINE + k];
    limit.count = votes & 65535;
    limit.sum = rv_obstacles_sum(&p, votes, k);
  }
  limit.count = rv_warp_sum(limit.count);
  limit.sum = rv_warp_sum(limit.sum);
  limit.valid = w.valid[strip];
  limit.evidence = q ? w.evidence[strip * RV_OBSTACLES_COARSE + q] : 0;
  limit.holes = q ? has_holes(w, a.disparity, strip, q) : 0;
  limit.obstacle = RV_OBSTACLE_NONE;
  look(w, a, strip, limit);
  if (rv_lane() == 0)
    w.limits[strip] = found;
}

/* --- Components ------------------------------------------------------------------------------ */

namespace {
/* In dynamic shared memory: the root of each run, and of each root the number of its runs, later
 * where the next one goes in `order`. */
struct Components {
  int32_t *count;
  uint16_t *label;
};
} // namespace

#define NO_RUN 65535
#define MAX_SLOTS 8192 /* RV_MAX_SIDE / RV_OBSTACLES_STRIP_MAX strips */
#define SLOT_BYTES ((int)(sizeof(int32_t) + sizeof(uint16_t)))
#define SLOTS_EACH (MAX_SLOTS / THREADS)

static_assert(MAX_SLOTS >= RV_MAX_SIDE / RV_OBSTACLES_STRIP_MAX * RV_OBSTACLES_RUNS, "runs");

/* Roots of all runs, and their numbers. */
static __device__ void find_roots(const ObstaclesCuda &w, const Components &s) {
  const int slots = obstacles_slots(w);
  for (int i = threadIdx.x; i < slots; i += THREADS) {
    const bool is_run = i % RV_OBSTACLES_RUNS < w.run_count[i / RV_OBSTACLES_RUNS];
    s.label[i] = is_run ? (uint16_t)w.label[i] : (uint16_t)NO_RUN;
    s.count[i] = 0;
  }
  __syncthreads();
  int roots[SLOTS_EACH];
#pragma unroll
  for (int k = 0; k < SLOTS_EACH; k++) {
    const int i = threadIdx.x + k * THREADS;
    roots[k] = i < slots ? s.label[i] : NO_RUN;
    if (roots[k] == NO_RUN)
      continue;
    for (int next = s.label[roots[k]]; next != roots[k]; next = s.label[next])
      roots[k] = next; /* the root is its own */
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < SLOTS_EACH; k++)
    if (roots[k] != NO_RUN) {
      const int i = threadIdx.x + k * THREADS;
      s.label[i] = (uint16_t)roots[k];
      w.label[i] = roots[k];
      atomicAdd(&s.count[roots[k]], 1);
    }
  __syncthreads();
}

/* Numbers the roots in the order of the runs, and places their runs; returns their count. Each
 * thread has consecutive runs; one scan sums roots (upper half) and runs. */
static __device__ int number_roots(const ObstaclesCuda &w, const Components &s) {
  __shared__ uint32_t scan[33];
  const int slots = obstacles_slots(w), each = rv_div_up(slots, THREADS);
  const int from = rv_min((int)threadIdx.x * each, slots), to = rv_min(from + each, slots);
  uint32_t mine = 0, total;
  for (int i = from; i < to; i++)
    mine += s.label[i] == i ? 1u << 16 | (uint32_t)s.count[i] : 0;
  uint32_t before = rv_block_scan(mine, THREADS, scan, &total) - mine;
  for (int i = from; i < to; i++) {
    if (s.label[i] != i)
      continue;
    const int count = s.count[i], first = (int)(before & 65535);
    w.components[before >> 16] = {i, first, count};
    s.count[i] = first;
    before += 1u << 16 | (uint32_t)count;
  }
  __syncthreads();
  return (int)(total >> 16);
}

/* 1 for the first run of its strip in its component. */
static __device__ int is_first(const Components &s, int i) {
  int first = 1;
  for (int k = i - i % RV_OBSTACLES_RUNS; k < i; k++)
    first &= s.label[k] != s.label[i];
  return first;
}

static __global__ void __launch_bounds__(THREADS, 1)
    components_kernel(const __grid_constant__ ObstaclesCuda w,
                      const __grid_constant__ ObstaclesArgs a) {
  extern __shared__ __align__(8) char memory[];
  rv_launch_wait();
  rv_launch_next();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    w.frame->components = w.frame->boxes = 0;
  if (!obstacles_has_ground(a))
    return;
  if (blockIdx.x > 0) {
    const int strip = (blockIdx.x - 1) * LIMIT_WARPS + threadIdx.x / 32;
    if (threadIdx.x < 32 * LIMIT_WARPS && strip < w.plan.strips && a.output.columns)
      find_limit(w, a, strip);
    return;
  }
  const int slots = obstacles_slots(w);
  Components s;
  s.count = (int32_t *)memory;
  s.label = (uint16_t *)(s.count + slots);
  find_roots(w, s);
  const int count = number_roots(w, s);
  for (int i = threadIdx.x; i < slots; i += THREADS)
    if (s.label[i] != NO_RUN) /* the runs of a component come in any order */
      w.order[atomicAdd(&s.count[s.label[i]], 1)] = 2 * i + is_first(s, i);
  if (threadIdx.x == 0)
    w.frame->components = count;
}

/* --- Boxes ----------------------------------------------------------------------------------- */

enum { KEY_NEAR, KEY_FAR, KEY_TOP, KEY_BOTTOM };

static __device__ __forceinline__ int key_of(const RvObstaclesRun &run, int key) {
  return key == KEY_NEAR  ? run.near_d
         : key == KEY_FAR ? run.far_d
         : key == KEY_TOP ? run.top
                          : run.bottom;
}

static __device__ __forceinline__ int weight_of(const RvObstaclesRun &run, int key) {
  return key == KEY_NEAR || key == KEY_FAR ? run.votes : 1;
}

static __device__ const RvObstaclesRun &run_at(const ObstaclesCuda &w, const ObstaclesComponent &c,
                                               int k) {
  return w.runs[w.order[c.first + k] / 2];
}

/* Bits of the keys: disparities in 1/256 px end at those of the last bin, rows at the height. */
static __device__ __forceinline__ int key_bits(const RvObstaclesPlan &p, int key) {
  return 32 - __clz(key == KEY_NEAR || key == KEY_FAR ? 16 * p.depths : p.height);
}

/* As the CPU engine's; weights of a component sum to less than 2^31. A lane keeps `Held` runs in
 * registers; `index` has their positions, -1: none. */
template <int Held>
static __device__ __forceinline__ int select_key(const ObstaclesCuda &w,
                                                 const ObstaclesComponent &c, const int *index,
                                                 int key, int64_t want) {
  int keys[Held], weights[Held];
#pragma unroll
  for (int i = 0; i < Held; i++) {
    keys[i] = index[i] >= 0 ? key_of(w.runs[index[i]], key) : INT32_MAX;
    weights[i] = index[i] >= 0 ? weight_of(w.runs[index[i]], key) : 0;
  }
  int found = 0;
  for (int bit = 1 << (key_bits(w.plan, key) - 1); bit > 0; bit /= 2) {
    int below = 0;
#pragma unroll
    for (int i = 0; i < Held; i++)
      below += keys[i] < found + bit ? weights[i] : 0;
    for (int k = rv_lane() + 32 * Held; k < c.count; k += 32)
      below += key_of(run_at(w, c, k), key) < found + bit ? weight_of(run_at(w, c, k), key) : 0;
    if (rv_warp_sum(below) < want)
      found += bit;
  }
  return found;
}

/* Votes, strips, columns. */
static __device__ void add_runs(const ObstaclesCuda &w, const ObstaclesComponent &c,
                                RvObstacleBox *box) {
  const RvObstaclesPlan &p = w.plan;
  int first = p.strips, last = 0;
  uint32_t left = 0, right = 0;
  for (int k = rv_lane(); k < c.count; k += 32) {
    const int code = w.order[c.first + k], strip = code / (2 * RV_OBSTACLES_RUNS);
    box->votes += w.runs[code / 2].votes;
    box->strips += code & 1;
    first = rv_min(first, strip);
    last = rv_max(last, strip);
  }
  first = rv_warp_min(first);
  last = rv_warp_max(last);
  for (int k = rv_lane(); k < c.count; k += 32) {
    const int code = w.order[c.first + k], strip = code / (2 * RV_OBSTACLES_RUNS);
    left |= strip == first ? w.runs[code / 2].columns : 0;
    right |= strip == last ? w.runs[code / 2].columns : 0;
  }
  for (int step = 16; step > 0; step /= 2) {
    left |= __shfl_xor_sync(RV_WARP, left, step);
    right |= __shfl_xor_sync(RV_WARP, right, step);
  }
  box->votes = rv_warp_sum(box->votes);
  box->strips = rv_warp_sum(box->strips);
  box->left = first * p.n + rv_obstacles_edge(left, p.n, 0);
  box->right = last * p.n + rv_obstacles_edge(right, p.n, 1);
}

/* One warp; every lane gets the box. */
template <int Held>
static __device__ __forceinline__ RvObstacleBox box_of(const ObstaclesCuda &w,
                                                       const ObstaclesComponent &c) {
  RvObstacleBox box = {};
  int index[Held];
#pragma unroll
  for (int i = 0; i < Held; i++) {
    const int k = rv_lane() + 32 * i;
    index[i] = k < c.count ? w.order[c.first + k] / 2 : -1;
  }
  add_runs(w, c, &box);
  box.runs = c.count;
  box.label = c.label;
  box.over = w.runs[c.label].over;
  box.near_d = select_key<Held>(w, c, index, KEY_NEAR, rv_obstacles_near_weight(box.votes));
  box.far_d = select_key<Held>(w, c, index, KEY_FAR, rv_obstacles_far_weight(box.votes));
  box.top = select_key<Held>(w, c, index, KEY_TOP, rv_obstacles_top_weight(c.count));
  box.bottom = select_key<Held>(w, c, index, KEY_BOTTOM, rv_obstacles_bottom_weight(c.count));
  return box;
}

static __global__ void __launch_bounds__(BOX_THREADS)
    boxes_kernel(const __grid_constant__ ObstaclesCuda w) {
  rv_launch_wait();
  rv_launch_next();
  const int warp = (blockIdx.x * BOX_THREADS + threadIdx.x) / 32;
  for (int k = warp; k < w.frame->components; k += BOX_BLOCKS * BOX_THREADS / 32) {
    const ObstaclesComponent c = w.components[k];
    const RvObstacleBox box = c.count <= 32          ? box_of<1>(w, c)
                              : c.count <= 32 * HELD ? box_of<HELD>(w, c)
                                                     : box_of<4 * HELD>(w, c);
    const int32_t ground =
        w.depth[rv_obstacles_near(&w.plan, &box)].row - w.column[rv_obstacles_center_column(&box)];
    const bool is_box = rv_obstacles_is_box(&w.plan, w.tables, &box, ground);
    if (rv_lane() == 0) {
      w.boxes[k] = box;
      w.keys[k] = is_box ? rv_obstacles_order(box.near_d, box.label) : 0;
    }
  }
}

/* --- Order ----------------------------------------------------------------------------------- */

/* Boxes with larger keys than `mine`; one warp. */
static __device__ int rank_of(const ObstaclesCuda &w, uint64_t mine, int count) {
  int rank = 0;
#pragma unroll 4
  for (int i = rv_lane(); i < count; i += 32)
    rank += w.keys[i] > mine;
  return rv_warp_sum(rank);
}

static __global__ void __launch_bounds__(BOX_THREADS)
    sort_kernel(const __grid_constant__ ObstaclesCuda w, const __grid_constant__ ObstaclesArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const int warp = (blockIdx.x * BOX_THREADS + threadIdx.x) / 32, count = w.frame->components;
  for (int k = warp; k < count; k += BOX_BLOCKS * BOX_THREADS / 32) {
    const uint64_t mine = w.keys[k];
    const int rank = mine ? rank_of(w, mine, count) : RV_OBSTACLES_MAX;
    const bool is_written = rank < RV_OBSTACLES_MAX;
    if (rv_lane() != 0)
      continue;
    w.rank[w.components[k].label] = is_written ? rank : -1;
    if (is_written && a.output.boxes)
      a.output.boxes[rank] = w.boxes[k];
  }
  if (warp != 0)
    return;
  const int found = rank_of(w, 0, count);
  if (rv_lane() == 0) {
    w.frame->boxes = rv_min(found, RV_OBSTACLES_MAX);
    if (a.output.counts) {
      a.output.counts[0] = (uint32_t)rv_min(found, RV_OBSTACLES_MAX);
      a.output.counts[1] = (uint32_t)found;
    }
  }
}

/* --- Columns --------------------------------------------------------------------------------- */

static __device__ void find_valid(const RvPlane &plane, RvObstacleBox *box) {
  __shared__ unsigned count;
  const int w = box->right - box->left + 1, h = box->bottom - box->top + 1;
  const int across = rv_obstacles_sample_step(w), down = rv_obstacles_sample_step(h);
  const int columns = rv_div_up(w, across), rows = rv_div_up(h, down);
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  int mine = 0;
  for (int i = threadIdx.x; i < columns * rows; i += COLUMN_THREADS) {
    const int y = i / columns, x = i - y * columns;
    mine += rv_row<const uint16_t>(plane, box->top + y * down)[box->left + x * across] != 0;
  }
  mine = rv_warp_sum(mine);
  if (rv_lane() == 0)
    atomicAdd(&count, (unsigned)mine);
  __syncthreads();
  if (threadIdx.x == 0)
    box->valid = rv_obstacles_fraction(count, columns, rows);
}

/* A lane per run. Slots without a run are read too, and not used. */
static __device__ int obstacle_at(const ObstaclesCuda &w, int strip, int q) {
  const int lane = rv_lane(), i = strip * RV_OBSTACLES_RUNS + lane % RV_OBSTACLES_RUNS;
  const RvObstaclesRun run = w.runs[i];
  const int label = w.label[i];
  int rank = -1;
  if (lane < w.run_count[strip] && rv_obstacles_meets(&run, q))
    rank = w.rank[label];
  const unsigned found = __ballot_sync(RV_WARP, rank >= 0);
  const int box = __shfl_sync(RV_WARP, rank, found ? __ffs((int)found) - 1 : 0);
  return found ? box : RV_OBSTACLE_NONE;
}

/* 1 when something overhanging is the cause of a strip's evidence; a lane per run, two strips at a
 * time. */
static __device__ int is_smeared(const ObstaclesCuda &w, int strip, const RvObstaclesLimit &limit) {
  const int reach = rv_obstacles_smear_reach(&limit), slot = rv_lane() % RV_OBSTACLES_RUNS;
  const int last = rv_min(strip + reach, w.plan.strips - 1);
  int smears = 0;
#pragma unroll 4
  for (int s = rv_max(strip - reach, 0) + rv_lane() / RV_OBSTACLES_RUNS; s <= last;
       s += 32 / RV_OBSTACLES_RUNS) {
    const RvObstaclesRun run = w.runs[s * RV_OBSTACLES_RUNS + slot]; /* if there is one */
    smears |= (slot < w.run_count[s]) & rv_obstacles_smears(&limit, &run, s - strip);
  }
  return __any_sync(RV_WARP, smears);
}

/* One warp per column. */
static __device__ RvFreeColumn column_of(const ObstaclesCuda &w, int strip) {
  const RvObstaclesPlan &p = w.plan;
  const ObstaclesLimit found = w.limits[strip];
  RvObstaclesLimit limit = found.limit;
  if (limit.q)
    limit.obstacle = obstacle_at(w, strip, limit.q);
  rv_obstacles_bridge(&limit, is_smeared(w, strip, limit));
  rv_obstacles_pass(&limit, limit.is_bridged ? found.through : limit.q);
  const int depth = rv_obstacles_limit_depth(&p, &limit);
  return rv_obstacles_free_column(&p, &limit, depth,
                                  w.depth[depth].row - w.column[strip * p.n + p.n / 2]);
}

static __global__ void __launch_bounds__(COLUMN_THREADS)
    columns_kernel(const __grid_constant__ ObstaclesCuda w,
                   const __grid_constant__ ObstaclesArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const int block = blockIdx.x;
  if (block < RV_OBSTACLES_MAX) {
    if (block < w.frame->boxes && a.output.boxes)
      find_valid(a.disparity, &a.output.boxes[block]);
    return;
  }
  const int strip = (block - RV_OBSTACLES_MAX) * COLUMN_WARPS + threadIdx.x / 32;
  if (strip >= w.plan.strips || !a.output.columns)
    return;
  const RvFreeColumn column =
      obstacles_has_ground(a) ? column_of(w, strip) : rv_obstacles_no_column(&w.plan);
  if (rv_lane() == 0)
    a.output.columns[strip] = column;
}

RvStatus obstacles_cuda_open_boxes(const RvLog *log) {
  RV_CU(log, cudaFuncSetAttribute(components_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  MAX_SLOTS * SLOT_BYTES));
  return RV_OK;
}

RvStatus obstacles_cuda_boxes(const ObstaclesCuda *w, const RvObstaclesJob *job) {
  const ObstaclesArgs args = obstacles_args(job);
  const size_t slots = (size_t)w->plan.strips * RV_OBSTACLES_RUNS;
  const int others = rv_div_up(w->plan.strips, LIMIT_WARPS);
  RV_TRY(obstacles_launch(w, components_kernel, 1 + others, THREADS, slots * SLOT_BYTES,
                          job->stream, *w, args));
  RV_TRY(obstacles_launch(w, boxes_kernel, BOX_BLOCKS, BOX_THREADS, 0, job->stream, *w));
  RV_TRY(obstacles_launch(w, sort_kernel, BOX_BLOCKS, BOX_THREADS, 0, job->stream, *w, args));
  const int blocks = RV_OBSTACLES_MAX + rv_div_up(w->plan.strips, COLUMN_WARPS);
  return obstacles_launch(w, columns_kernel, blocks, COLUMN_THREADS, 0, job->stream, *w, args);
}
