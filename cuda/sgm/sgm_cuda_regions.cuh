/* SPDX-License-Identifier: MIT */
/* sgm_cuda_regions.cuh: which of two neighboring blocks ends last, and the regions of the speckle
 * filter that cross the boundaries of tiles, a union-find forest in global memory. Device code
 * only.
 *
 * A node is a pixel; its number is index + 1, and 0 stands for "large enough". The pixel's word
 * contains the number of its parent in the upper and the number of pixels of its region in the
 * lower half; the latter is valid at roots, which are their own parents. As both change in one
 * atomic step, no pixel is lost when one thread counts while another merges the root. Parents have
 * smaller numbers than children. Which regions are large enough does not depend on the order of
 * work. */
#ifndef RV_SGM_CUDA_REGIONS_CUH
#define RV_SGM_CUDA_REGIONS_CUH

#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_path.cuh"

/* Boundaries of a block of a grid in two dimensions. */
enum SgmEdge { SGM_EDGE_ABOVE, SGM_EDGE_BELOW, SGM_EDGE_LEFT, SGM_EDGE_RIGHT };

/* The word of boundary e of the block in column blockIdx.x and row y of a grid, or NULL. edges:
 * [row][column][below, right]. It is 0 until the first of both blocks has been there, and between
 * launches. */
static __device__ __forceinline__ uint32_t *sgm_edge(uint32_t *edges, int y, int e) {
  const int x = (int)blockIdx.x;
  const bool exists = e == SGM_EDGE_ABOVE   ? y > 0
                      : e == SGM_EDGE_BELOW ? y + 1 < (int)gridDim.y
                      : e == SGM_EDGE_LEFT  ? x > 0
                                            : e == SGM_EDGE_RIGHT && x + 1 < (int)gridDim.x;
  const int of = (y - (e == SGM_EDGE_ABOVE)) * (int)gridDim.x + x - (e == SGM_EDGE_LEFT);
  return exists ? &edges[2 * of + e / 2] : nullptr;
}

/* What the other block of a boundary left if it has been there before, else 0. This one leaves
 * `left`: 1, or 2 if it has no regions. */
static __device__ __forceinline__ uint32_t sgm_leave(uint32_t *edge, uint32_t left) {
  const uint32_t before = atomicAdd(edge, left);
  if (before)
    *edge = 0;
  return before;
}

/* All threads of a block, once what they wrote is complete: bits of the boundaries beyond which the
 * neighbor has been here before and has regions, whose results are then visible. The other
 * boundaries are left to the neighbors. */
static __device__ __forceinline__ void sgm_meet(uint32_t *edges, int y, uint32_t *second) {
  __syncthreads();
  if (threadIdx.x < 32) {
    uint32_t *const edge = sgm_edge(edges, y, (int)threadIdx.x);
    bool is_second = false;
    if (edge) {
      __threadfence();
      is_second = sgm_leave(edge, 1) == 1;
      __threadfence();
    }
    const uint32_t seconds = __ballot_sync(SGM_WARP, is_second);
    if (threadIdx.x == 0)
      *second = seconds;
  }
  __syncthreads();
}

/* Instead, a block without regions. */
static __device__ __forceinline__ void sgm_pass(uint32_t *edges, int y) {
  uint32_t *const edge = threadIdx.x < 32 ? sgm_edge(edges, y, (int)threadIdx.x) : nullptr;
  if (edge)
    sgm_leave(edge, 2);
}

/* Joins the regions of a and b in a forest of labels in shared memory, where none is larger than
 * its index. Only atomic steps, so that no read races with them. */
static __device__ __forceinline__ void sgm_merge_labels(uint32_t *label, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t above = min(a, b), below = max(a, b);
    const uint32_t old = atomicMin(&label[below], above);
    if (old == below)
      return;
    a = old, b = above; /* `below` had another parent: those two belong together as well */
  }
}

static __device__ __forceinline__ SgmNode sgm_node(uint32_t parent, uint32_t size) {
  return (SgmNode)parent << 32 | size;
}

static __device__ __forceinline__ uint32_t sgm_parent(SgmNode node) {
  return (uint32_t)(node >> 32);
}

/* Root above `number` with its word, or 0 where that is large enough. */
static __device__ uint32_t sgm_root(const SgmNode *nodes, uint32_t number, uint32_t enough,
                                    SgmNode *word) {
  while (number) {
    *word = *(const volatile SgmNode *)&nodes[number - 1];
    if (sgm_parent(*word) == number)
      return (uint32_t)*word < enough ? number : 0;
    number = sgm_parent(*word);
  }
  return 0;
}

static __device__ void sgm_merge(SgmNode *nodes, uint32_t a, uint32_t b, uint32_t enough) {
  for (;;) {
    SgmNode word_a = 0, word_b = 0;
    a = sgm_root(nodes, a, enough, &word_a);
    b = sgm_root(nodes, b, enough, &word_b);
    if (a == b)
      return;
    const uint32_t above = min(a, b), below = max(a, b);
    const SgmNode seen = below == a ? word_a : word_b;
    if (atomicCAS(&nodes[below - 1], seen, sgm_node(above, 0)) != seen)
      continue;
    /* Adds the pixels of `below` to a root; counts left at other nodes are never read. */
    const uint32_t size = (uint32_t)seen;
    for (uint32_t to = above; to;) {
      const uint32_t parent = sgm_parent(atomicAdd(&nodes[to - 1], (SgmNode)size));
      if (parent == to)
        return;
      to = parent;
    }
    return;
  }
}

/* Which pixels of a lane are in regions that are too small, once all are merged: asked for, then
 * answered. Their searches for the root take turns, so that each waits for the loads of all. */
template <int N>
static __device__ __forceinline__ void
sgm_find_small(const SgmNode *nodes, const size_t (&pixel)[N], uint32_t enough, bool (&small)[N]) {
  uint32_t number[N], any = 0;
#pragma unroll
  for (int i = 0; i < N; i++)
    number[i] = small[i] ? sgm_parent(nodes[pixel[i]]) : 0;
#pragma unroll
  for (int i = 0; i < N; i++)
    small[i] = false, any |= number[i];
  while (any) {
    SgmNode word[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      word[i] = number[i] ? nodes[number[i] - 1] : 0;
    any = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      const bool is_root = number[i] && sgm_parent(word[i]) == number[i];
      small[i] = small[i] || (is_root && (uint32_t)word[i] < enough);
      number[i] = is_root ? 0 : sgm_parent(word[i]);
      any |= number[i];
    }
  }
}

#endif
