/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_boxes.cu: components of runs, their boxes and order, the columns of the free
 * space. */
#include "obstacles/obstacles_cuda.cuh"
#include "obstacles/obstacles_cuda_limits.cuh"

#define THREADS 1024
#define BOX_THREADS 128
#define BOX_BLOCKS 128
#define COLUMN_THREADS 256
#define COLUMN_WARPS (COLUMN_THREADS / 32)
#define LIMIT_WARPS 8 /* strips of a block beside the components */
#define HELD 4        /* runs per lane that stay in registers, of middling components */

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
