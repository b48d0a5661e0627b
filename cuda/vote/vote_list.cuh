/* vote_list.cuh: voting by place: votes of a list of elements into many vote spaces. Only .cu files
 * include it.
 *
 * A block holds `A` neighbouring spaces in shared memory, so that the list is read once for all of
 * them, and a part of the list. The parts of a group add up through distributed shared memory where
 * the GPU has clusters, else through atomics on bins that are 0 before. */
#ifndef RV_VOTE_LIST_CUH
#define RV_VOTE_LIST_CUH

#include <cooperative_groups.h>

#include "rv_cuda.h"
#include "rv_hd.h"

#define RV_VOTE_LIST_THREADS 1024
#define RV_VOTE_CLUSTER_MOST 8 /* blocks of a cluster that every GPU with clusters takes */

struct RvVoteList {
  const uint32_t *points, *values; /* values: NULL when votes do not need any */
  const unsigned *count;           /* on the device */
};

/* Grid (parts, groups of spaces, passes). */
struct RvVoteListShape {
  int spaces, bins;
  int group; /* spaces of a block: A of the kernel */
  int parts;
  int passes, pass_bins;
  int stretch;
  int is_cluster; /* the parts of a group are a cluster */
};

static inline size_t rv_vote_list_bytes(const RvVoteListShape &s) {
  return ((size_t)s.group * s.pass_bins * s.stretch * sizeof(uint32_t) + 15) / 16 * 16;
}

/* Word `w` of the group's bins in this pass, all copies added. */
static __device__ __forceinline__ uint32_t rv_vote_list_word(const uint32_t *bins, int w,
                                                             int stretch) {
  uint32_t sum = bins[w * stretch];
  for (int c = 1; c < stretch; c++)
    sum += bins[w * stretch + c];
  return sum;
}

/* Brings the group's bins to memory; every thread of the block calls it after the last vote. */
template <int A>
static __device__ void rv_vote_list_out(const uint32_t *bins, const RvVoteListShape &s, int base,
                                        int count, uint32_t *out) {
  const int first = (int)blockIdx.y * A, live = min(A, s.spaces - first) * count;
  uint32_t *rows = out + (size_t)first * s.bins + base;
#if __CUDA_ARCH__ >= 900
  if (s.is_cluster) {
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cluster.sync();
    const int step = (int)blockDim.x * s.parts;
    for (int w = (int)(blockIdx.x * blockDim.x + threadIdx.x); w < live; w += step) {
      uint32_t sum = 0;
      for (int r = 0; r < s.parts; r++)
        sum += rv_vote_list_word(cluster.map_shared_rank(bins, r), w, s.stretch);
      rows[(size_t)(w / count) * s.bins + w % count] = sum;
    }
    cluster.sync(); /* no block leaves while others read its bins */
    return;
  }
#endif
  __syncthreads();
  for (int w = threadIdx.x; w < live; w += blockDim.x) {
    const uint32_t sum = rv_vote_list_word(bins, w, s.stretch);
    uint32_t *to = &rows[(size_t)(w / count) * s.bins + w % count];
    if (s.parts == 1)
      *to = sum;
    else if (sum)
      atomicAdd(to, sum);
  }
}

/* F: `Space space(int index)`, and for an element and its value `bool test(space, value)`,
 * `int bin(space, element)`, `uint32_t value(space, value)`; UNITY: every vote is one; WHOLE: there
 * is one pass. */
template <class F, int A>
static __global__ void __launch_bounds__(RV_VOTE_LIST_THREADS)
    rv_vote_list_kernel(const F f, const RvVoteList list, const RvVoteListShape s, uint32_t *out) {
  extern __shared__ __align__(16) uint32_t rv_vote_list_bins[];
  uint32_t *bins = rv_vote_list_bins;
  const int base = F::WHOLE ? 0 : (int)blockIdx.z * s.pass_bins;
  const int count = F::WHOLE ? s.bins : min(s.pass_bins, s.bins - base);
  const int stretch = F::UNITY ? 1 : s.stretch;
  const int quads = (A * count * stretch + 3) / 4;
  for (int i = threadIdx.x; i < quads; i += blockDim.x)
    ((uint4 *)bins)[i] = make_uint4(0, 0, 0, 0);
  typename F::Space space[A];
#pragma unroll
  for (int a = 0; a < A; a++)
    space[a] = f.space(min((int)blockIdx.y * A + a, s.spaces - 1));
  const unsigned long long points = *list.count;
  const unsigned last = (unsigned)(points * (blockIdx.x + 1) / s.parts);
  unsigned i = (unsigned)(points * blockIdx.x / s.parts) + threadIdx.x;
  const int copy = (int)threadIdx.x % stretch;
  __syncthreads();
  for (; i < last; i += blockDim.x) {
    const uint32_t e = list.points[i];
    const uint32_t v = F::UNITY || !list.values ? 0 : list.values[i];
#pragma unroll
    for (int a = 0; a < A; a++) {
      if (!F::UNITY && !f.test(space[a], v))
        continue;
      const int b = f.bin(space[a], e) - base;
      if (F::WHOLE || (unsigned)b < (unsigned)count)
        atomicAdd(&bins[(a * count + b) * stretch + copy], F::UNITY ? 1u : f.value(space[a], v));
    }
  }
  rv_vote_list_out<A>(bins, s, base, count, out);
}

/* Attributes of one launch. */
struct RvVoteListLaunch {
  cudaLaunchConfig_t config;
  cudaLaunchAttribute cluster;

  RvVoteListLaunch(const RvVoteListShape &s, cudaStream_t stream) : config(), cluster() {
    config.gridDim =
        dim3((unsigned)s.parts, (unsigned)rv_div_up(s.spaces, s.group), (unsigned)s.passes);
    config.blockDim = dim3(RV_VOTE_LIST_THREADS);
    config.dynamicSmemBytes = rv_vote_list_bytes(s);
    config.stream = stream;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)s.parts;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = s.is_cluster ? 1 : 0;
  }
};

/* Allows the kernel its shared memory; with clusters, lowers the parts until all groups find room
 * on the GPU at once. */
template <class F, int A>
static RvStatus rv_vote_list_open(RvVoteListShape *s, int shared, const RvLog *log) {
  RV_CU(log, cudaFuncSetAttribute(rv_vote_list_kernel<F, A>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  while (s->is_cluster) {
    int clusters = 0;
    const RvVoteListLaunch launch(*s, NULL);
    RV_CU(log,
          cudaOccupancyMaxActiveClusters(&clusters, rv_vote_list_kernel<F, A>, &launch.config));
    if (clusters >= rv_div_up(s->spaces, s->group) * s->passes)
      break;
    s->parts--;
    s->is_cluster = s->parts > 1;
  }
  return RV_OK;
}

template <class F, int A>
static RvStatus rv_vote_list_launch(const F &f, const RvVoteList &list, const RvVoteListShape &s,
                                    uint32_t *out, cudaStream_t stream, const RvLog *log) {
  const RvVoteListLaunch launch(s, stream);
  RV_CU(log, cudaLaunchKernelEx(&launch.config, rv_vote_list_kernel<F, A>, f, list, s, out));
  return RV_OK;
}

#endif
