/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_boxes.cu: components of runs, their boxes and order, the columns of the free
 * space. */
#include "obstacles/obstacles_cuda.cuh"

#define THREADS 1024
#define BOX_THREADS 128
#define BOX_BLOCKS 128
#define COLUMN_THREADS 256
#define KEY_BITS 25 /* of the CPU engine's select_key */
#define HELD 4      /* runs per lane that stay in registers */

/* --- Components ------------------------------------------------------------------------------ */

namespace {
struct Components {
  uint32_t scan[33];
  uint32_t total;
};
} // namespace

static __device__ int root_of(const int32_t *label, int i) {
  for (int next = __ldcg(&label[i]); next != i; next = __ldcg(&label[i]))
    i = next;
  return i;
}

static __device__ __forceinline__ bool is_run(const ObstaclesCuda &w, int i) {
  return i % RV_OBSTACLES_RUNS < w.run_count[i / RV_OBSTACLES_RUNS];
}

/* Gives every root the next number, in the order of the runs; returns their count. */
static __device__ int number_roots(const ObstaclesCuda &w, Components &s) {
  int base = 0;
  for (int start = 0; start < obstacles_slots(w); start += THREADS) {
    const int i = start + threadIdx.x;
    const bool is_root = i < obstacles_slots(w) && is_run(w, i) && w.label[i] == i;
    uint32_t total;
    __syncthreads();
    const uint32_t upto = rv_block_scan((uint32_t)is_root, THREADS, s.scan, &total);
    if (is_root) {
      const int k = base + (int)upto - 1;
      w.rank[i] = k;
      w.components[k] = {i, 0, 0};
    }
    base += (int)total;
  }
  __syncthreads();
  return base;
}

/* Where the runs of each component begin in `order`. */
static __device__ void place_components(const ObstaclesCuda &w, Components &s, int count) {
  uint32_t base = 0;
  for (int start = 0; start < count; start += THREADS) {
    const int k = start + threadIdx.x;
    const uint32_t size = k < count ? (uint32_t)w.components[k].count : 0;
    uint32_t total;
    __syncthreads();
    const uint32_t upto = rv_block_scan(size, THREADS, s.scan, &total);
    if (k < count) {
      w.components[k].first = (int)(base + upto - size);
      w.components[k].count = 0;
    }
    base += total;
  }
  __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    components_kernel(const __grid_constant__ ObstaclesCuda w,
                      const __grid_constant__ ObstaclesArgs a) {
  __shared__ Components s;
  rv_launch_wait();
  rv_launch_next();
  const bool has_ground = obstacles_has_ground(a);
  if (threadIdx.x == 0)
    w.frame->components = w.frame->boxes = 0;
  if (!has_ground)
    return;
  const int slots = obstacles_slots(w);
  for (int i = threadIdx.x; i < slots; i += THREADS)
    if (is_run(w, i))
      w.label[i] = root_of(w.label, i); /* others may see the run or its root: both lead there */
  __syncthreads();
  const int count = number_roots(w, s);
  for (int i = threadIdx.x; i < slots; i += THREADS)
    if (is_run(w, i))
      atomicAdd(&w.components[w.rank[w.label[i]]].count, 1);
  __syncthreads();
  place_components(w, s, count);
  for (int i = threadIdx.x; i < slots; i += THREADS)
    if (is_run(w, i)) {
      ObstaclesComponent *c = &w.components[w.rank[w.label[i]]];
      w.order[c->first + atomicAdd(&c->count, 1)] = i; /* in any order */
    }
  if (threadIdx.x == 0)
    w.frame->components = count;
}

/* --- Boxes ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ int sum_of(int v) {
#if __CUDA_ARCH__ >= 800
  return (int)__reduce_add_sync(RV_WARP, (unsigned)v);
#else
  return rv_warp_sum(v);
#endif
}

namespace {
/* Keys and weights of a component's runs, those of a lane. */
struct Keys {
  int key[HELD], weight[HELD];
};
} // namespace

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
  return w.runs[w.order[c.first + k]];
}

/* As the CPU engine's; weights of a component sum to less than 2^31. */
static __device__ int select_key(const ObstaclesCuda &w, const ObstaclesComponent &c, int key,
                                 int64_t want) {
  Keys keys;
  for (int i = 0; i < HELD; i++) {
    const int k = rv_lane() + 32 * i;
    keys.key[i] = k < c.count ? key_of(run_at(w, c, k), key) : INT32_MAX;
    keys.weight[i] = k < c.count ? weight_of(run_at(w, c, k), key) : 0;
  }
  int found = 0;
  for (int bit = 1 << (KEY_BITS - 1); bit > 0; bit /= 2) {
    int below = 0;
#pragma unroll
    for (int i = 0; i < HELD; i++)
      below += keys.key[i] < found + bit ? keys.weight[i] : 0;
    for (int k = rv_lane() + 32 * HELD; k < c.count; k += 32)
      below += key_of(run_at(w, c, k), key) < found + bit ? weight_of(run_at(w, c, k), key) : 0;
    if (sum_of(below) < want)
      found += bit;
  }
  return found;
}

/* 1 for the first run of its strip in its component. */
static __device__ bool is_first(const ObstaclesCuda &w, int i) {
  for (int k = i - i % RV_OBSTACLES_RUNS; k < i; k++)
    if (w.label[k] == w.label[i])
      return false;
  return true;
}

/* One warp; every lane gets the box. */
static __device__ RvObstacleBox box_of(const ObstaclesCuda &w, const ObstaclesComponent &c) {
  const RvObstaclesPlan &p = w.plan;
  RvObstacleBox box = {};
  int first = p.strips, last = 0;
  uint32_t left = 0, right = 0;
  for (int k = rv_lane(); k < c.count; k += 32) {
    const int i = w.order[c.first + k], strip = i / RV_OBSTACLES_RUNS;
    box.votes += w.runs[i].votes;
    box.strips += is_first(w, i);
    first = rv_min(first, strip);
    last = rv_max(last, strip);
  }
  first = rv_warp_min(first);
  last = rv_warp_max(last);
  for (int k = rv_lane(); k < c.count; k += 32) {
    const int i = w.order[c.first + k], strip = i / RV_OBSTACLES_RUNS;
    left |= strip == first ? w.runs[i].columns : 0;
    right |= strip == last ? w.runs[i].columns : 0;
  }
  for (int step = 16; step > 0; step /= 2) {
    left |= __shfl_xor_sync(RV_WARP, left, step);
    right |= __shfl_xor_sync(RV_WARP, right, step);
  }
  box.votes = sum_of(box.votes);
  box.strips = sum_of(box.strips);
  box.runs = c.count;
  box.label = c.label;
  box.over = w.runs[c.label].over;
  box.near_d = select_key(w, c, KEY_NEAR, rv_obstacles_near_weight(box.votes));
  box.far_d = select_key(w, c, KEY_FAR, rv_obstacles_far_weight(box.votes));
  box.top = select_key(w, c, KEY_TOP, rv_obstacles_top_weight(c.count));
  box.bottom = select_key(w, c, KEY_BOTTOM, rv_obstacles_bottom_weight(c.count));
  box.left = first * p.n + rv_obstacles_edge(left, p.n, 0);
  box.right = last * p.n + rv_obstacles_edge(right, p.n, 1);
  return box;
}

static __global__ void __launch_bounds__(BOX_THREADS)
    boxes_kernel(const __grid_constant__ ObstaclesCuda w) {
  rv_launch_wait();
  rv_launch_next();
  const int warp = (blockIdx.x * BOX_THREADS + threadIdx.x) / 32;
  for (int k = warp; k < w.frame->components; k += BOX_BLOCKS * BOX_THREADS / 32) {
    RvObstacleBox box = box_of(w, w.components[k]);
    if (!rv_obstacles_is_box(&w.plan, w.tables, &box))
      box.runs = 0;
    if (rv_lane() == 0)
      w.boxes[k] = box;
  }
}

/* --- Order ----------------------------------------------------------------------------------- */

/* Boxes with larger keys than that of box k; one warp. */
static __device__ int rank_of(const ObstaclesCuda &w, int k, int count) {
  const uint64_t mine = rv_obstacles_order(w.boxes[k].near_d, w.boxes[k].label);
  int rank = 0;
  for (int i = rv_lane(); i < count; i += 32)
    rank += w.boxes[i].runs > 0 && rv_obstacles_order(w.boxes[i].near_d, w.boxes[i].label) > mine;
  return sum_of(rank);
}

static __global__ void __launch_bounds__(BOX_THREADS)
    sort_kernel(const __grid_constant__ ObstaclesCuda w, const __grid_constant__ ObstaclesArgs a) {
  rv_launch_wait();
  rv_launch_next();
  const int warp = (blockIdx.x * BOX_THREADS + threadIdx.x) / 32, count = w.frame->components;
  for (int k = warp; k < count; k += BOX_BLOCKS * BOX_THREADS / 32) {
    const RvObstacleBox box = w.boxes[k];
    const int rank = box.runs > 0 ? rank_of(w, k, count) : RV_OBSTACLES_MAX;
    const bool is_written = rank < RV_OBSTACLES_MAX;
    if (rv_lane() != 0)
      continue;
    w.rank[box.label] = is_written ? rank : -1;
    if (is_written && a.output.boxes)
      a.output.boxes[rank] = box;
  }
  if (warp != 0)
    return;
  int found = 0;
  for (int k = rv_lane(); k < count; k += 32)
    found += w.boxes[k].runs > 0;
  found = sum_of(found);
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

static __device__ int obstacle_at(const ObstaclesCuda &w, int strip, int q) {
  for (int k = 0; k < w.run_count[strip]; k++) {
    const int i = strip * RV_OBSTACLES_RUNS + k, rank = w.rank[w.label[i]];
    if (rank >= 0 && rv_obstacles_meets(&w.runs[i], q))
      return rank;
  }
  return RV_OBSTACLE_NONE;
}

static __device__ int known_until(const ObstaclesCuda &w, int strip, int q) {
  const RvObstaclesPlan &p = w.plan;
  uint32_t ground[RV_OBSTACLES_COARSE / 32] = {};
  for (int k = rv_max(strip - 2, 0); k <= rv_min(strip + 2, p.strips - 1); k++)
    for (int i = 0; i < RV_OBSTACLES_COARSE / 32; i++)
      ground[i] |= w.ground[k * RV_OBSTACLES_COARSE / 32 + i];
  int seen = RV_OBSTACLES_COARSE - 1;
#pragma unroll
  for (int i = RV_OBSTACLES_COARSE / 32 - 1; i >= 0; i--)
    for (int bit = 31; bit >= 0; bit--) {
      const int k = 32 * i + bit;
      if (k <= q)
        return q;
      seen = ground[i] >> bit & 1 ? k : seen;
      if (rv_obstacles_is_gap(&p, seen, k))
        return seen;
    }
  return q;
}

/* One thread per column. */
static __device__ RvFreeColumn column_of(const ObstaclesCuda &w, int strip) {
  const RvObstaclesPlan &p = w.plan;
  const uint32_t *votes = w.votes + (size_t)strip * RV_OBSTACLES_FINE;
  const int q = w.path[strip];
  RvObstaclesLimit limit = {};
  limit.q = q;
  limit.known = known_until(w, strip, q);
  for (int k = rv_max(2 * q - 2, 0); q && k <= rv_min(2 * q + 3, RV_OBSTACLES_FINE - 1); k++) {
    limit.count += votes[k] & 65535;
    limit.sum += rv_obstacles_sum(&p, votes[k], k);
  }
  limit.valid = w.valid[strip];
  limit.evidence = q ? w.evidence[strip * RV_OBSTACLES_COARSE + q] : 0;
  limit.obstacle = q ? obstacle_at(w, strip, q) : RV_OBSTACLE_NONE;
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
  const int strip = (block - RV_OBSTACLES_MAX) * 32 + threadIdx.x; /* few per block: long chains */
  if (threadIdx.x < 32 && strip < w.plan.strips && a.output.columns)
    a.output.columns[strip] =
        obstacles_has_ground(a) ? column_of(w, strip) : rv_obstacles_no_column(&w.plan);
}

RvStatus obstacles_cuda_boxes(const ObstaclesCuda *w, const RvObstaclesJob *job) {
  const ObstaclesArgs args = obstacles_args(job);
  RV_TRY(obstacles_launch(w, false, components_kernel, 1, THREADS, 0, job->stream, *w, args));
  RV_TRY(obstacles_launch(w, false, boxes_kernel, BOX_BLOCKS, BOX_THREADS, 0, job->stream, *w));
  RV_TRY(
      obstacles_launch(w, false, sort_kernel, BOX_BLOCKS, BOX_THREADS, 0, job->stream, *w, args));
  const int blocks = RV_OBSTACLES_MAX + rv_div_up(w->plan.strips, 32);
  return obstacles_launch(w, false, columns_kernel, blocks, COLUMN_THREADS, 0, job->stream, *w,
                          args);
}
