/* SPDX-License-Identifier: MIT */
/* vote_kernels.cuh: voting by place: votes of a list of elements into many vote spaces. Only .cu
 * files include it.
 *
 * A block holds `A` neighboring spaces in shared memory, so that the list is read once for all of
 * them, and a part of the list. The parts of a group add up through distributed shared memory where
 * the GPU has clusters, else through atomics on bins that are 0 before. Sums leave four at a time;
 * where they are whole then, the voting algorithm sees them on their way. */
#ifndef RV_VOTE_KERNELS_CUH
#define RV_VOTE_KERNELS_CUH

#include "rv_group.cuh"
#include "rv_hd.h"
#include "rv_launch.cuh"

#define RV_VOTE_LIST_THREADS 1024
#define RV_VOTE_LIST_AHEAD 4  /* elements that a thread has on their way from memory */
#define RV_VOTE_CLUSTER_MAX 8 /* blocks of a cluster that every GPU with clusters takes */

struct RvVoteList {
  const uint32_t *points, *values; /* values: NULL when votes do not need any */
  const unsigned *count;           /* on the device */
  unsigned room;                   /* entries that may be read */
};

/* Grid (parts, groups of spaces, passes). Rows of bins are `stride` apart, complete uint4 with at
 * least one bin that nothing votes for at their end. */
struct RvVoteListShape {
  int spaces, bins, stride;
  int group; /* spaces of a block: A of the kernel */
  int parts;
  int passes, pass_bins; /* pass_bins: a multiple of uint4; the last pass ends at `stride` */
  int stretch;
  int is_cluster; /* the parts of a group are a cluster */
  int least;      /* bytes of shared memory that a block takes at least */
};

static inline int rv_vote_list_stride(int bins) {
  return bins / 4 * 4 + 4;
}

static inline size_t rv_vote_list_bytes(const RvVoteListShape &s) {
  const size_t bins = (size_t)s.group * s.pass_bins * s.stretch * sizeof(uint32_t);
  return bins < (size_t)s.least ? (size_t)s.least : bins;
}

/* The sums are complete: no chunk is added to them later. */
static inline int rv_vote_list_is_whole(const RvVoteListShape &s) {
  return s.parts == 1 || s.is_cluster;
}

/* Bins 4 q to 4 q + 3 of the block, all copies added. */
static __device__ __forceinline__ uint4 rv_vote_list_quad(const uint32_t *bins, int q,
                                                          int stretch) {
  const uint4 *at = (const uint4 *)bins + (size_t)q * stretch;
  if (stretch == 1)
    return *at;
  uint32_t sums[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++)
    for (int c = 0; c < stretch; c++)
      sums[i] += ((const uint32_t *)at)[i * stretch + c];
  return make_uint4(sums[0], sums[1], sums[2], sums[3]);
}

/* Brings the group's bins to memory; every thread of the block calls it after the last vote. */
template <class F, int A>
static __device__ void rv_vote_list_out(const F &f, const uint32_t *bins, const RvVoteListShape &s,
                                        int base, int count, uint32_t *out) {
  const int first = (int)blockIdx.y * A, row_quads = count / 4;
  const int quads = min(A, s.spaces - first) * row_quads;
  const int stretch = F::UNITY ? 1 : s.stretch;
  int start = 0, step = (int)blockDim.x;
#if __CUDA_ARCH__ >= 900
  if (s.is_cluster) {
    rv_cluster_sync();
    start = (int)blockIdx.x * step;
    step *= s.parts;
  } else
#endif
    __syncthreads();
  for (; start < quads; start += step) {
    const int q = start + (int)threadIdx.x;
    const bool is_live = q < quads;
    uint4 sum = make_uint4(0, 0, 0, 0);
    if (is_live && !s.is_cluster)
      sum = rv_vote_list_quad(bins, q, stretch);
#if __CUDA_ARCH__ >= 900
    if (is_live && s.is_cluster) {
#  pragma unroll 4
      for (int r = 0; r < s.parts; r++) {
        const uint4 v = rv_vote_list_quad(rv_cluster_shared(bins, r), q, stretch);
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
      }
    }
#endif
    const size_t word =
        (size_t)first * s.stride +
        (F::WHOLE ? 4 * q : (size_t)(q / row_quads) * s.stride + base + 4 * (q % row_quads));
    if (s.parts == 1 || s.is_cluster) {
      if (is_live)
        *(uint4 *)(out + word) = sum;
      f.sums((uint32_t)word, sum);
    } else if (is_live) {
      const uint32_t sums[4] = {sum.x, sum.y, sum.z, sum.w};
      for (int i = 0; i < 4; i++)
        if (sums[i])
          atomicAdd(out + word + i, sums[i]);
    }
  }
#if __CUDA_ARCH__ >= 900
  if (s.is_cluster)
    rv_cluster_sync(); /* no block ends while others read its bins */
#endif
}

/* The votes of element `e` with value `v`. */
template <class F, int A>
static __device__ __forceinline__ void
rv_vote_list_cast(const F &f, const typename F::Space (&space)[A], uint32_t e, uint32_t v,
                  uint32_t *bins, int base, int count, int stretch) {
  const int copy = (int)threadIdx.x % stretch;
  if (F::VALUED && f.skips(space[0], v))
    return;
#pragma unroll
  for (int a = 0; a < A; a++) {
    if (F::VALUED && !f.test(space[a], v))
      continue;
    const int b = f.bin(space[a], e) - base;
    if (F::WHOLE || (unsigned)b < (unsigned)count)
      atomicAdd(&bins[(a * count + b) * stretch + copy], F::UNITY ? 1u : f.value(space[a], v));
  }
}

/* Entry `i` of points or values, the last one of the room when there is none. */
static __device__ __forceinline__ uint32_t rv_vote_list_at(const RvVoteList &list,
                                                           const uint32_t *entries, unsigned i) {
  return __ldcg(&entries[min(i, list.room - 1)]);
}

/* F: `Space space(int index)`, and for an element and its value `bool test(space, value)`,
 * `int bin(space, element)`, `uint32_t value(space, value)`, `bool skips(space, value)`: it has no
 * vote in the group of A spaces that this one is in; UNITY: every vote is one; VALUED: values are
 * read and elements tested; WHOLE: there is one pass; `sums(word, uint4)` sees four sums that start
 * at `word` of `out`, or 0 behind the end, with all 32 lanes of the warp on quads in a row.
 * The list is dealt to the parts in hands of a block's threads, so that the first elements can be
 * asked for before their number is known. */
template <class F, int A>
static __global__ void __launch_bounds__(RV_VOTE_LIST_THREADS)
    rv_vote_list_kernel(const F f, const RvVoteList list, const RvVoteListShape s, uint32_t *out) {
  extern __shared__ __align__(16) uint32_t rv_vote_list_bins[];
  uint32_t *bins = rv_vote_list_bins;
  const int base = F::WHOLE ? 0 : (int)blockIdx.z * s.pass_bins;
  const int count = F::WHOLE ? s.stride : min(s.pass_bins, s.stride - base);
  const int stretch = F::UNITY ? 1 : s.stretch;
  const int quads = A * count / 4 * stretch;
  for (int i = threadIdx.x; i < quads; i += blockDim.x)
    ((uint4 *)bins)[i] = make_uint4(0, 0, 0, 0);
  typename F::Space space[A];
#pragma unroll
  for (int a = 0; a < A; a++)
    space[a] = f.space(min((int)blockIdx.y * A + a, s.spaces - 1));
  const unsigned step = blockDim.x * (unsigned)s.parts;
  rv_launch_wait();
  rv_launch_next();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t *values = F::VALUED ? list.values : NULL;
  uint32_t ahead[RV_VOTE_LIST_AHEAD], valued[RV_VOTE_LIST_AHEAD];
#pragma unroll
  for (unsigned n = 0; n < RV_VOTE_LIST_AHEAD; n++) {
    ahead[n] = rv_vote_list_at(list, list.points, i + n * step);
    valued[n] = values ? rv_vote_list_at(list, values, i + n * step) : 0;
  }
  const unsigned points = __ldcg(list.count);
  __syncthreads();
  /* Rounds in which every thread of the block has RV_VOTE_LIST_AHEAD elements, then the rest. */
  unsigned rounds = points / step;
  for (rounds /= RV_VOTE_LIST_AHEAD; rounds > 0; rounds--) {
#pragma unroll
    for (unsigned n = 0; n < RV_VOTE_LIST_AHEAD; n++, i += step) {
      const uint32_t e = ahead[n], v = valued[n];
      ahead[n] = rv_vote_list_at(list, list.points, i + RV_VOTE_LIST_AHEAD * step);
      valued[n] = values ? rv_vote_list_at(list, values, i + RV_VOTE_LIST_AHEAD * step) : 0;
      rv_vote_list_cast<F, A>(f, space, e, v, bins, base, count, stretch);
    }
  }
#pragma unroll
  for (unsigned n = 0; n < RV_VOTE_LIST_AHEAD; n++)
    if (i + n * step < points)
      rv_vote_list_cast<F, A>(f, space, ahead[n], valued[n], bins, base, count, stretch);
  rv_vote_list_out<F, A>(f, bins, s, base, count, out);
}

static inline void rv_vote_list_attributes(RvLaunch *launch, const RvVoteListShape &s,
                                           int is_early) {
  if (s.is_cluster)
    launch->cluster(s.parts);
  if (is_early)
    launch->early();
}

static inline dim3 rv_vote_list_grid(const RvVoteListShape &s) {
  return dim3((unsigned)s.parts, (unsigned)rv_div_up(s.spaces, s.group), (unsigned)s.passes);
}

/* Allows the kernel its shared memory; with clusters, lowers the parts until all groups fit
 * on the GPU at once. Blocks of clusters take more than half of an SM's shared memory: two would
 * else share one SM while others have none. */
template <class F, int A>
static RvStatus rv_vote_list_open(RvVoteListShape *s, int shared, const RvLog *log) {
  RV_CU(log, cudaFuncSetAttribute(rv_vote_list_kernel<F, A>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  while (s->is_cluster) {
    int clusters = 0;
    s->least = shared / 2 + 1024;
    RvLaunch launch(rv_vote_list_grid(*s), RV_VOTE_LIST_THREADS, rv_vote_list_bytes(*s), NULL);
    rv_vote_list_attributes(&launch, *s, 0);
    RV_CU(log,
          cudaOccupancyMaxActiveClusters(&clusters, rv_vote_list_kernel<F, A>, &launch.config));
    if (clusters >= rv_div_up(s->spaces, s->group) * s->passes)
      break;
    s->parts--;
    s->is_cluster = s->parts > 1;
  }
  return RV_OK;
}

/* is_early: the preceding kernel in the stream calls rv_launch_next(). */
template <class F, int A>
static RvStatus rv_vote_list_launch(const F &f, const RvVoteList &list, const RvVoteListShape &s,
                                    uint32_t *out, cudaStream_t stream, int is_early,
                                    const RvLog *log) {
  RvLaunch launch(rv_vote_list_grid(s), RV_VOTE_LIST_THREADS, rv_vote_list_bytes(s), stream);
  rv_vote_list_attributes(&launch, s, is_early);
  return launch.run(log, rv_vote_list_kernel<F, A>, f, list, s, out);
}

#endif
