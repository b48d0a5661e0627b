/* vote_device.cuh: the two stages of GPU-vote as kernels for any voting algorithm. Only .cu files
 * include it. */
#ifndef RV_VOTE_DEVICE_CUH
#define RV_VOTE_DEVICE_CUH

#include "rv_cuda.h"
#include "vote/vote_stages.h"

#define RV_VOTE_THREADS 512
#define RV_VOTE_PASSES 16 /* at most: RV_VOTE_BINS_MAX bins of 8 bytes in passes of 40 KB */

/* How a launch is cut (eq. 8): grid (parts, spaces, passes). */
struct RvVoteShape {
  int parts;     /* the input of each space is split into */
  int passes;    /* over the input, each for pass_bins of the bins */
  int pass_bins; /* bins that fit into shared memory */
  int stretch;   /* copies of each bin there (eq. 3-6) */
};

static __device__ __forceinline__ void rv_vote_add(uint32_t *bin, uint32_t value) {
  atomicAdd(bin, value);
}
static __device__ __forceinline__ void rv_vote_add(uint64_t *bin, uint64_t value) {
  atomicAdd((unsigned long long *)bin, (unsigned long long)value);
}

/* Vote space of one block: its bins of one pass, `stretch` copies of each, thread t using copy
 * t mod stretch (eq. 6). Number votes for the same bin in a row are added up in registers first. */
template <class A> struct RvVoteSpace {
  typename A::Bin *bins; /* in shared memory */
  int first, count, stretch, copy;
  int held; /* bin that `sum` belongs to, -1: none */
  typename A::Bin sum;

  __device__ __forceinline__ void flush() {
    if (held >= 0)
      rv_vote_add(&bins[held * stretch + copy], sum);
  }
  __device__ __forceinline__ void vote(int bin, typename A::Bin value) {
    const int b = bin - first;
    if ((unsigned)b >= (unsigned)count)
      return;
    if (A::UNITY) {
      rv_vote_add(&bins[b * stretch + copy], typename A::Bin(1));
      return;
    }
    if (b != held) {
      flush();
      held = b;
      sum = 0;
    }
    sum += value;
  }
  __device__ __forceinline__ void element(const RvVotePlan &p, int x, int y,
                                          typename A::Element e) {
    if (!A::test(&p, x, y, e))
      return;
#pragma unroll
    for (int k = 0; k < A::VOTES; k++)
      vote(A::bin(&p, k, x, y, e), A::value(&p, k, x, y, e));
  }
};

/* Adds the copies of bin `b` of the block. */
template <class Bin>
static __device__ __forceinline__ Bin rv_vote_total(const Bin *bins, int b, int stretch) {
  Bin sum = 0;
  for (int c = 0; c < stretch; c++)
    sum += bins[b * stretch + c];
  return sum;
}

static __device__ __forceinline__ void rv_vote_store(uint32_t *row, int bin, uint32_t value) {
  row[bin] = value;
}
static __device__ __forceinline__ void rv_vote_store(uint32_t *row, int bin, uint64_t value) {
  row[2 * bin] = (uint32_t)value;
  row[2 * bin + 1] = (uint32_t)(value >> 32);
}

/* All votes of this block's share of its space. Elements are read 16 bytes at a time where
 * `vectors` says that all rows are aligned. */
template <class A>
static __device__ void rv_vote_share(RvVoteSpace<A> &space, const RvVotePlan &p, const char *in,
                                     ptrdiff_t stride, int vectors, int parts) {
  typedef typename A::Element Element;
  constexpr int WIDE = 16 / (int)sizeof(Element);
  const int step = vectors ? WIDE : 1;
  const int row0 = (int)blockIdx.y * p.space_rows;
  const int rows = min(p.space_rows, p.height - row0);
  const int per_row = (p.width + step - 1) / step;
  const long long units = (long long)rows * per_row;
  const int first = (int)(units * blockIdx.x / parts);
  const int last = (int)(units * (blockIdx.x + 1) / parts);
  for (int i = first + (int)threadIdx.x; i < last; i += (int)blockDim.x) {
    const int y = row0 + i / per_row, x = i % per_row * step;
    const Element *at = (const Element *)(in + y * stride) + x;
    if (vectors && x + WIDE <= p.width) {
      union {
        uint4 all;
        Element each[WIDE];
      } v;
      v.all = __ldg((const uint4 *)at);
#pragma unroll
      for (int j = 0; j < WIDE; j++)
        space.element(p, x + j, y, v.each[j]);
    } else {
      for (int j = 0; j < step && x + j < p.width; j++)
        space.element(p, x + j, y, at[j]);
    }
  }
}

/* Votes straight from the input (value-based algorithms need no list). `sums` and `tickets` are all
 * 0 before and after: the part that finishes last takes the sums over and clears them. */
template <class A>
static __global__ void __launch_bounds__(RV_VOTE_THREADS)
    rv_vote_kernel(const RvVotePlan p, const RvVoteShape shape, const char *in, ptrdiff_t stride,
                   int vectors, typename A::Bin *sums, unsigned *tickets, char *out,
                   ptrdiff_t out_stride) {
  typedef typename A::Bin Bin;
  extern __shared__ __align__(16) char rv_vote_shared[];
  __shared__ int is_last;
  Bin *bins = (Bin *)rv_vote_shared;
  const int base = (int)blockIdx.z * shape.pass_bins;
  const int count = min(shape.pass_bins, p.bins - base);
  for (int i = threadIdx.x; i < count * shape.stretch; i += blockDim.x)
    bins[i] = 0;
  __syncthreads();
  RvVoteSpace<A> space = {bins, base,  count, shape.stretch, (int)threadIdx.x % shape.stretch,
                          -1,   Bin(0)};
  rv_vote_share<A>(space, p, in, stride, vectors, shape.parts);
  space.flush();
  __syncthreads();
  uint32_t *row = (uint32_t *)(out + blockIdx.y * out_stride);
  if (shape.parts == 1) {
    for (int b = threadIdx.x; b < count; b += blockDim.x)
      rv_vote_store(row, base + b, rv_vote_total(bins, b, shape.stretch));
    return;
  }
  Bin *mine = sums + (size_t)blockIdx.y * p.bins + base;
  for (int b = threadIdx.x; b < count; b += blockDim.x) {
    const Bin sum = rv_vote_total(bins, b, shape.stretch);
    if (sum)
      rv_vote_add(&mine[b], sum);
  }
  __threadfence();
  __syncthreads();
  unsigned *ticket = tickets + blockIdx.y * RV_VOTE_PASSES + blockIdx.z;
  if (threadIdx.x == 0)
    is_last = atomicAdd(ticket, 1u) == (unsigned)shape.parts - 1;
  __syncthreads();
  if (!is_last)
    return;
  __threadfence();
  for (int b = threadIdx.x; b < count; b += blockDim.x) {
    rv_vote_store(row, base + b, __ldcg(&mine[b]));
    mine[b] = 0;
  }
  if (threadIdx.x == 0)
    *ticket = 0;
}

/* Bins of a pass, copies and parts for this GPU. */
template <class A> static RvVoteShape rv_vote_shape(const RvVoteJob *job) {
  const RvVotePlan &p = job->plan;
  const int most = job->shared / (int)sizeof(typename A::Bin);
  RvVoteShape shape = {1, 1, rv_min(p.bins, most), 1};
  shape.passes = rv_div_up(p.bins, shape.pass_bins);
  shape.pass_bins = rv_div_up(p.bins, shape.passes);
  /* Number votes run into one another when they meet in a bank; unity votes are merged by the
   * hardware. An odd number of copies spreads them over all banks (eq. 5). */
  const int room = most / shape.pass_bins;
  const int wanted = job->stretch ? job->stretch
                     : A::UNITY   ? 1
                                  : rv_clamp(4096 / shape.pass_bins, 1, 33);
  shape.stretch = rv_max(rv_min(wanted, room), 1);
  if (!job->stretch && shape.stretch % 2 == 0)
    shape.stretch--;
  const long long elements = (long long)p.width * p.space_rows;
  const int needed = (int)((elements + RV_VOTE_THREADS * 16 - 1) / (RV_VOTE_THREADS * 16));
  const size_t bytes = (size_t)shape.pass_bins * shape.stretch * sizeof(typename A::Bin);
  const int slots = job->processors * (2 * bytes <= (size_t)job->shared ? 2 : 1);
  shape.parts = rv_clamp(slots / (p.spaces * shape.passes), 1, rv_max(needed, 1)); /* (8) */
  return shape;
}

/* Votes of one run, in one kernel. */
template <class A> static RvStatus rv_vote_launch(const RvVoteJob *job) {
  const RvVotePlan &p = job->plan;
  const RvVoteShape shape = rv_vote_shape<A>(job);
  const size_t bytes = (size_t)shape.pass_bins * shape.stretch * sizeof(typename A::Bin);
  const int vectors = (uintptr_t)job->input.data % 16 == 0 && job->input.stride % 16 == 0;
  typename A::Bin *sums = (typename A::Bin *)job->work;
  unsigned *tickets = (unsigned *)(sums + (size_t)p.spaces * p.bins);
  const dim3 grid((unsigned)shape.parts, (unsigned)p.spaces, (unsigned)shape.passes);
  rv_vote_kernel<A><<<grid, RV_VOTE_THREADS, bytes, job->stream>>>(
      p, shape, (const char *)job->input.data, job->input.stride, vectors, sums, tickets,
      (char *)job->votes.data, job->votes.stride);
  RV_LAUNCHED(job->log);
  return RV_OK;
}

/* Bytes of `work`: sums of every space, and tickets. */
template <class A> static size_t rv_vote_bytes(const RvVotePlan *p) {
  return (size_t)p->spaces *
         ((size_t)p->bins * sizeof(typename A::Bin) + RV_VOTE_PASSES * sizeof(unsigned));
}

/* Asks the device for its sizes and clears `work`. */
template <class A> static RvStatus rv_vote_open(RvVoteJob *job) {
  int device = 0;
  RV_CU(job->log, cudaGetDevice(&device));
  RV_CU(job->log, cudaDeviceGetAttribute(&job->processors, cudaDevAttrMultiProcessorCount, device));
  RV_CU(job->log,
        cudaDeviceGetAttribute(&job->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  job->shared -= 1024; /* static shared memory of the kernel, and the system's */
  RV_CU(job->log, cudaFuncSetAttribute(rv_vote_kernel<A>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, job->shared));
  RV_CU(job->log, cudaMemset(job->work, 0, rv_vote_bytes<A>(&job->plan)));
  return rv_stream_wait(NULL);
}

#endif
