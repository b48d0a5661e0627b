/* SPDX-License-Identifier: MIT */
/* road_cuda_label.cu: 4-connected components of patches by union-find in global memory. Roots are
 * hooked to smaller ones by atomicMin, so that the root of a component is its smallest patch in any
 * order. */
#include "road/road_cuda.cuh"

/* Reads bypass the L1 cache, which is not coherent with writes of other SMs. */
static __device__ __forceinline__ int root_of(const int32_t *parent, int i) {
  for (int up = __ldcg(&parent[i]); up != i; up = __ldcg(&parent[i]))
    i = up;
  return i;
}

/* The same while trees are merged: every patch on the path is hooked to its parent's parent;
 * otherwise trees grow as deep as a component is high. A hook of another thread that is overwritten
 * thereby is not lost: that thread continues with the value it found. */
static __device__ __forceinline__ int root_of_hooking(int32_t *parent, int i) {
  int up = __ldcg(&parent[i]);
  while (up != i) {
    const int next = __ldcg(&parent[up]);
    if (next != up)
      __stcg(&parent[i], next);
    i = up;
    up = next;
  }
  return i;
}

static __device__ void join(int32_t *parent, int a, int b) {
  for (;;) {
    a = root_of_hooking(parent, a);
    b = root_of_hooking(parent, b);
    if (a == b)
      return;
    const int low = min(a, b), high = max(a, b);
    const int before = atomicMin(&parent[high], low);
    if (before == high)
      return;
    a = low; /* `high` was hooked already: its old parent is merged with the new one */
    b = before;
  }
}

/* Runs of 32 patches are labeled already. A patch is merged with its left neighbor across their
 * boundaries, and with the patch above unless its left neighbors do so. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    join_kernel(const __grid_constant__ RoadCuda w) {
  road_begin();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int columns = w.plan.columns;
  if (x >= columns || y >= w.plan.rows)
    return;
  const int i = y * columns + x;
  /* All at once: whether a patch is in the set does not change while others are merged. */
  const bool is_in = __ldcg(&w.parent[i]) >= 0;
  const bool has_left = x > 0 && __ldcg(&w.parent[i - 1]) >= 0;
  const bool has_above = y > 0 && __ldcg(&w.parent[i - columns]) >= 0;
  const bool has_corner = x > 0 && y > 0 && __ldcg(&w.parent[i - columns - 1]) >= 0;
  if (!is_in)
    return;
  if (has_left && x % 32 == 0)
    join(w.parent, i - 1, i);
  if (has_above && !(x % 32 != 0 && has_left && has_corner))
    join(w.parent, i - columns, i);
}

/* Roots, sizes, the largest component: a size only grows, so the maximum over all its intermediate
 * values is that of the final ones. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    root_kernel(const __grid_constant__ RoadCuda w, unsigned long long *largest, int marks_seeds) {
  road_begin();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int i = y * w.plan.columns + x;
  int root = -1;
  if (x < w.plan.columns && y < w.plan.rows && __ldcg(&w.parent[i]) >= 0) {
    root = root_of(w.parent, i);
    w.parent[i] = root;
    if (marks_seeds && road_is_mark(w.seed[i]))
      w.contains_seed[root] = 1;
  }
  const unsigned same = __match_any_sync(RV_WARP, root);
  if (root < 0 || __ffs((int)same) - 1 != (int)threadIdx.x)
    return;
  const int number = __popc(same);
  const unsigned size = (unsigned)(atomicAdd(&w.size[root], number) + number);
  atomicMax(largest, (unsigned long long)size << 32 | (unsigned)~root);
}

static RvStatus label(const RoadCuda *w, unsigned long long *largest, int marks_seeds,
                      RvStream stream) {
  const dim3 grid(rv_div_up(w->plan.columns, 32), rv_div_up(w->plan.rows, 8)), block(32, 8);
  RV_TRY(road_launch(w, join_kernel, grid, block, 0, stream, *w));
  return road_launch(w, root_kernel, grid, block, 0, stream, *w, largest, marks_seeds);
}

RvStatus road_cuda_label_seeds(const RoadCuda *w, RvStream stream) {
  return label(w, &w->frame->largest, 0, stream);
}

RvStatus road_cuda_label_road(const RoadCuda *w, RvStream stream) {
  return label(w, &w->frame->largest_road, 1, stream);
}
