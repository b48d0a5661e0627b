/* SPDX-License-Identifier: MIT */
/* sgm_cuda_regions.cuh: the regions of the speckle filter that cross the boundaries of tiles, a
 * union-find forest in global memory. Device code only.
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

/* Whether the pixel's region is large enough, once all are merged. */
static __device__ __forceinline__ bool sgm_is_kept(const SgmNode *nodes, size_t pixel,
                                                   uint32_t enough) {
  SgmNode word = 0;
  return !sgm_root(nodes, sgm_parent(nodes[pixel]), enough, &word);
}

#endif
