/* SPDX-License-Identifier: MIT */
/* stixels_cuda_list.cuh: backtracking: from the best stixels of a column to its part of the list.
 * Not installed. */
#ifndef RV_STIXELS_CUDA_LIST_CUH
#define RV_STIXELS_CUDA_LIST_CUH

#include "stixels/stixels_cuda_column.cuh"
#include "stixels/stixels_cuda_refine.cuh"

namespace {
/* Output of the column kernels, and the pixels for moving boundaries. */
struct Output {
  RvStixelsOutput list;
  Pixels pixels;
  const RvGroundSurface *surface;
};
} // namespace

namespace {
/* The column and frame of a block. Blocks take columns in the order in which they start, so that
 * the blocks that a block waits for are running. The last one resets the counter for the next
 * frame. */
struct Turn {
  unsigned column, frame;
  const RvStixelsState *before; /* after the previous frame, in shared memory */
};
} // namespace

/* --- Ground ---------------------------------------------------------------------------------- */

/* The ground of the frame: that of the surface, which the block of the first column stores for the
 * next frame, or that of the frame before. Only until a road is known a frame waits for its own
 * vote. */
static __device__ RvStixelsState expect_ground(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                               const RvGroundSurface *surface, const Turn &turn) {
  __shared__ RvStixelsState state;
  const RvStixelsState known = *turn.before;
  const bool is_first = !surface && plan.estimate && known.found == 0;
  if (!surface && !is_first)
    return known;
  if (threadIdx.x == 0) {
    if (is_first)
      rv_launch_wait();
    state = is_first ? rv_stixels_state_of(work, turn.frame) : known;
    if (surface)
      rv_stixels_take(&plan, surface, &state);
    if (surface && turn.column == 0)
      work.state[turn.frame % 2] = state;
  }
  __syncthreads();
  return state;
}

/* --- List ------------------------------------------------------------------------------------ */

/* A column type C has the functions cost_of, link_of and semantic_key for the best stixels that end
 * in a row, and a member `links`. */

static __device__ __forceinline__ int32_t cost_of(const Column &c, int row, int structure) {
  return c.ending[row].cost[structure];
}

static __device__ __forceinline__ uint32_t link_of(const Column &c, int row, int structure) {
  return c.ending[row].link[structure];
}

static __device__ __forceinline__ uint32_t semantic_key(const RvStixelsPlan &plan, const Column &c,
                                                        int structure, int bottom, int top) {
  return c.keys ? least_key(plan, c, structure, bottom, top) : 0xffffffffu;
}

/* One thread follows the stored lowest rows down from the top. Returns the number of stixels. */
template <typename C>
static __device__ int follow(const RvStixelsPlan &plan, const C &c, int32_t *energy) {
  int structure = 0, n = 0;
  int32_t least = cost_of(c, plan.rows - 1, 0);
  for (int k = 1; k < RV_STIXELS_CLASSES; k++) {
    const int32_t cost = cost_of(c, plan.rows - 1, k);
    structure = cost < least ? k : structure;
    least = rv_min(cost, least);
  }
  if (energy)
    *energy = rv_min(least, RV_STIXELS_INFINITE);
  for (int top = plan.rows - 1; top >= 0; n++) {
    const uint32_t link = link_of(c, top, structure);
    c.links[n] = (link & 0xffff) | (uint32_t)structure << 16;
    top = (int)(link & 0xffff) - 1;
    structure = (int)(link >> 16);
  }
  return n;
}

/* The record of the k-th stixel from the top. plane_of(class, bottom, top): its plane. */
template <typename C, typename F>
static __device__ RvStixel record_of(const RvStixelsPlan &plan, const C &c, int x, int k,
                                     const F &plane_of) {
  const int bottom = (int)(c.links[k] & 0xffff), structure = (int)(c.links[k] >> 16);
  const int top = k == 0 ? plan.rows - 1 : (int)(c.links[k - 1] & 0xffff) - 1;
  const int below = (int)(link_of(c, top, structure) >> 16);
  const int32_t cost = rv_min(cost_of(c, top, structure), RV_STIXELS_INFINITE);
  const int32_t under = bottom > 0 ? rv_min(cost_of(c, bottom - 1, below), RV_STIXELS_INFINITE) : 0;
  const RvStixelsPlane plane = plane_of(structure, bottom, top);
  RvStixel record = rv_stixels_record(&plan, x, bottom, top, structure, &plane, cost - under);
  const uint32_t key = semantic_key(plan, c, structure, bottom, top);
  if (key != 0xffffffffu)
    record.semantic = plan.semantic_class[plan.semantic_first[structure] + key % 32];
  return record;
}

static __device__ Turn take_turn(const RvStixelsCuda &work) {
  const unsigned long long ticket = atomicAdd(work.queue, 1ull);
  const Turn turn = {(unsigned)ticket, (unsigned)(ticket >> 32) + 1, NULL};
  if (turn.column == gridDim.x - 1)
    atomicAdd(work.queue, (1ull << 32) - gridDim.x);
  return turn;
}

/* First call of all threads. Afterwards the cells are known. With an estimated ground, the vote of
 * this frame and its semantics are known only after rv_launch_wait, which finish calls. */
static __device__ Turn begin_turn(const RvStixelsPlan &plan, const RvStixelsCuda &work) {
  __shared__ Turn turn;
  __shared__ RvStixelsState states[2];
  rv_launch_next();
  if (!plan.estimate)
    rv_launch_wait();
  if (threadIdx.x == 0)
    turn = take_turn(work);
  else if (threadIdx.x == 32 || threadIdx.x == 33) /* contended addresses, read at the same time */
    states[threadIdx.x % 2] = rv_stixels_state_of(work, threadIdx.x);
  __syncthreads();
  return {turn.column, turn.frame, &states[(turn.frame - 1) % 2]};
}

/* The count of the column of a thread among those to the left, perhaps of an earlier frame. */
static __device__ __forceinline__ unsigned long long count_early(const RvStixelsCuda &work,
                                                                 const Turn &turn) {
  const volatile unsigned long long *at = &work.counts[threadIdx.x];
  return threadIdx.x < turn.column ? *at : 0;
}

/* Number of stixels of the columns to the left, in every thread; waits until it is known. early:
 * from count_early, which hides the latency. */
template <int WARPS>
static __device__ uint32_t count_left(const RvStixelsCuda &work, const Turn &turn,
                                      unsigned long long early) {
  __shared__ uint32_t parts[WARPS];
  uint32_t sum = 0;
  for (unsigned k = threadIdx.x; k < turn.column; k += 32 * WARPS) {
    const volatile unsigned long long *at = &work.counts[k];
    unsigned long long count = k == threadIdx.x ? early : *at;
    while ((unsigned)(count >> 32) != turn.frame)
      count = *at;
    sum += (uint32_t)count;
  }
  sum = rv_warp_sum(sum);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int k = 0; k < WARPS; k++)
    sum += parts[k];
  return sum;
}

/* Moves all boundaries of the `count` records of a column, in order from the top. */
template <int WARPS, int LANES>
static __device__ __forceinline__ void
move_boundaries(const RvStixelsPlan &plan, const Pixels &pixels, int count, RvStixel *records) {
  const int each = 32 / LANES, lane = threadIdx.x % 32;
  for (int base = (int)threadIdx.x / 32 * each; base + 1 < count; base += WARPS * each) {
    const int at = base + lane / LANES, k = at + 1 < count ? at : base;
    move_boundary<LANES>(plan, pixels, &records[k + 1], &records[k], k == 0, k == at);
  }
}

/* Makes the records of a column in shared memory, with boundaries at rows of pixels. */
template <int WARPS, typename C, typename F>
static __device__ void make_records(const RvStixelsPlan &plan, const C &c, const Pixels &pixels,
                                    unsigned x, int count, RvStixel *records, const F &plane_of) {
  for (int k = threadIdx.x; k < count; k += 32 * WARPS)
    records[k] = record_of(plan, c, (int)x, k, plane_of);
  __syncthreads();
  if (2 * plan.reach <= 8)
    move_boundaries<WARPS, 8>(plan, pixels, count, records);
  else
    move_boundaries<WARPS, 32>(plan, pixels, count, records);
}

template <int WARPS, typename C, typename F>
static __device__ void write_list(const RvStixelsPlan &plan, const RvStixelsCuda &work, const C &c,
                                  const Output &out, const Turn &turn, uint32_t count,
                                  unsigned long long early, const RvStixelsState &state,
                                  RvStixel *records, const F &plane_of) {
  const uint32_t x = turn.column, first = count_left<WARPS>(work, turn, early);
  if (threadIdx.x == 0 && out.list.offsets) {
    out.list.offsets[x] = first;
    if (x + 1 == gridDim.x)
      out.list.offsets[x + 1] = first + count;
  }
  if (threadIdx.x == 0 && x == 0 && out.list.ground) {
    if (plan.estimate)
      rv_launch_wait();
    const RvStixelsState after = plan.estimate ? rv_stixels_state_of(work, turn.frame) : state;
    *out.list.ground = {state.ground.at, state.ground.slope, after.found, after.score};
  }
  for (uint32_t k = threadIdx.x; out.list.stixels && k < count; k += 32 * WARPS) {
    const uint32_t at = first + count - 1 - k;
    if (at >= out.list.capacity)
      continue;
    RvStixel record = records ? records[k] : record_of(plan, c, (int)x, (int)k, plane_of);
    if (records && k > 0 && at + 1 == out.list.capacity) /* the stixel above is not in the list */
      record.v_top = record_of(plan, c, (int)x, (int)k, plane_of).v_top;
    out.list.stixels[at] = record;
  }
}

/* Last call of all threads, when the best stixels of the column are known. records: one per row in
 * shared memory where boundaries are moved, or NULL. */
template <int WARPS, typename C, typename F>
static __device__ void finish(const RvStixelsPlan &plan, const RvStixelsCuda &work, const C &c,
                              const Output &out, const Turn &turn, const RvStixelsState &state,
                              RvStixel *records, const F &plane_of) {
  __shared__ int found;
  if (threadIdx.x == 0) {
    found = follow(plan, c, out.list.energies ? out.list.energies + turn.column : NULL);
    atomicExch(&work.counts[turn.column], (unsigned long long)turn.frame << 32 | (unsigned)found);
  }
  const unsigned long long early = count_early(work, turn);
  __syncthreads();
  if (records)
    make_records<WARPS>(plan, c, out.pixels, turn.column, found, records, plane_of);
  __syncthreads();
  write_list<WARPS>(plan, work, c, out, turn, (uint32_t)found, early, state, records, plane_of);
  rv_launch_wait(); /* the next frame begins after the vote of this one */
}

#endif
