/* SPDX-License-Identifier: MIT */
/* vote_cuda_device.cuh: voting straight from the input, as a kernel for any voting algorithm. Only
 * .cu files include it.
 *
 * A block votes in shared memory on its part of the input. Where one block has a vote space to
 * itself it writes the sums; else they are added to the result, which a small preceding kernel has
 * cleared meanwhile. */
#ifndef RV_VOTE_DEVICE_CUH
#define RV_VOTE_DEVICE_CUH

#include "rv_launch.cuh"
#include "vote/vote_stages.h"

#define RV_VOTE_THREADS 1024 /* of a block, at most */
#define RV_VOTE_PART 256     /* units that are worth a block */
#define RV_VOTE_STACK 4      /* rows that a thread takes together, of number votes */

/* How a launch is cut (eq. 8): grid (parts, spaces, passes). */
struct RvVoteShape {
  int parts;     /* the input of each space is split into */
  int part;      /* stacks of one */
  int passes;    /* over the input, each for pass_bins of the bins */
  int pass_bins; /* bins that fit into shared memory */
  int stretch;   /* copies of each bin there (eq. 3-6) */
};

/* Input in units of 16 bytes of a row; the last of a row may be cut short. Units one below the
 * other are a stack. */
struct RvVoteInput {
  const char *data;
  ptrdiff_t stride;
  int vectors;      /* rows are aligned to 16 bytes */
  int per_row;      /* units */
  uint64_t inverse; /* 2^40 / per_row, rounded up: exact for stacks < 2^14 rows * per_row <= 2^26 */
};

static __device__ __forceinline__ void rv_vote_add(uint32_t *bin, uint32_t value) {
  atomicAdd(bin, value);
}
static __device__ __forceinline__ void rv_vote_add(uint64_t *bin, uint64_t value) {
  atomicAdd((unsigned long long *)bin, (unsigned long long)value);
}

static __device__ __forceinline__ void rv_vote_store(uint32_t *row, int bin, uint32_t value) {
  row[bin] = value;
}
static __device__ __forceinline__ void rv_vote_store(uint32_t *row, int bin, uint64_t value) {
  row[2 * bin] = (uint32_t)value;
  row[2 * bin + 1] = (uint32_t)(value >> 32);
}

/* Adds to a bin of the result. Sums of 64 bits are two words there, aligned to one: what carries
 * out of the low word goes to the high one. */
static __device__ __forceinline__ void rv_vote_to_result(uint32_t *row, int bin, uint32_t value) {
  atomicAdd(&row[bin], value);
}
static __device__ __forceinline__ void rv_vote_to_result(uint32_t *row, int bin, uint64_t value) {
  const uint32_t low = (uint32_t)value, before = atomicAdd(&row[2 * bin], low);
  atomicAdd(&row[2 * bin + 1], (uint32_t)(value >> 32) + (before + low < low));
}

/* Vote space of one block: its bins of one pass, `stretch` copies of each, thread t using copy
 * t mod stretch (eq. 6). Number votes for the same bin in a row are added up in registers first.
 * PLAIN: one pass for all bins, and of unity votes one copy. */
template <class A, bool PLAIN> struct RvVoteSpace {
  typename A::Bin *bins; /* in shared memory */
  int first, count, stretch, copy;
  int held; /* bin that `sum` belongs to */
  typename A::Bin sum;

  __device__ __forceinline__ typename A::Bin *at(int bin) const {
    return &bins[PLAIN && A::UNITY ? bin : bin * stretch + copy];
  }
  __device__ __forceinline__ int held_bin() const { return PLAIN ? held : held + first; }
  __device__ __forceinline__ void flush() {
    if (sum)
      rv_vote_add(at(held), sum);
  }
  __device__ __forceinline__ void vote(int bin, typename A::Bin value) {
    const int b = PLAIN ? bin : bin - first;
    if (!PLAIN && (unsigned)b >= (unsigned)count)
      return;
    if (A::UNITY) {
      rv_vote_add(at(b), typename A::Bin(1));
      return;
    }
    if (b != held) {
      flush();
      held = b;
      sum = 0;
    }
    sum += value;
  }
  /* All threads of the block, after the last vote. A single bin is summed by warps. */
  __device__ __forceinline__ void end() {
    if (!A::UNITY && count == 1) {
      for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
      if (threadIdx.x % 32 == 0)
        rv_vote_add(&bins[copy], sum);
    } else if (!A::UNITY) {
      flush();
    }
  }
};

/* Adds the copies of bin `b` of the block. */
template <class Bin>
static __device__ __forceinline__ Bin rv_vote_total(const Bin *bins, int b, int stretch) {
  Bin sum = 0;
#pragma unroll 1
  for (int c = 0; c < stretch; c++)
    sum += bins[b * stretch + c];
  return sum;
}

/* One element of the input. */
template <class A, class Space>
static __device__ __forceinline__ void rv_vote_element(Space &space, const RvVoteGeometry &p, int x,
                                                       int y, typename A::Element e) {
  if (!A::test(&p, x, y, e))
    return;
#pragma unroll
  for (int k = 0; k < A::VOTES; k++)
    space.vote(A::bin(&p, k, x, y, e), A::value(&p, k, x, y, e));
}

template <class Element> union RvVoteWord {
  uint32_t all;
  Element each[4 / sizeof(Element)];
};

/* Words of one number vote an element, one below the other: a single vote where all are for the
 * same bin. Where bins do not depend on the row, the compiler computes those of one row only. */
template <class A, int ROWS, class Space>
static __device__ __forceinline__ void rv_vote_number(Space &space, const RvVoteGeometry &p, int x,
                                                      int y, const uint32_t (&words)[ROWS]) {
  typedef RvVoteWord<typename A::Element> Word;
  constexpr int COUNT = 4 / (int)sizeof(typename A::Element);
  int first = space.held_bin();
  typename A::Bin sum = 0;
  bool is_one = true, is_first = true;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const Word word = {words[r]};
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      if (!A::test(&p, x + k, y + r, word.each[k]))
        continue;
      const int bin = A::bin(&p, 0, x + k, y + r, word.each[k]);
      first = is_first ? bin : first;
      is_first = false;
      is_one = is_one && bin == first;
      sum += A::value(&p, 0, x + k, y + r, word.each[k]);
    }
  }
  if (is_one) {
    space.vote(first, sum);
    return;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    Word word = {words[r]};
#pragma unroll 1
    for (int k = 0; k < COUNT; k++, word.all >>= 8 * sizeof(typename A::Element) % 32)
      rv_vote_element<A>(space, p, x + k, y + r, word.each[0]);
  }
}

/* A stack of units on its way. Few instructions on purpose: a kernel of some microseconds spends
 * much of its time on fetching them. */
template <class A, int ROWS> struct RvVoteStack {
  typedef typename A::Element Element;
  static constexpr int WIDE = 16 / (int)sizeof(Element);
  uint4 v[ROWS];
  int x, y; /* of its first element */

  __device__ __forceinline__ const Element *at(const RvVoteInput &in, int row) const {
    return (const Element *)(in.data + (y + row) * in.stride) + x;
  }
  __device__ __forceinline__ bool is_whole(const RvVoteGeometry &p, const RvVoteInput &in,
                                           int end) const {
    return in.vectors && x + WIDE <= p.width && (ROWS == 1 || y + ROWS <= end);
  }
  __device__ __forceinline__ void load(const RvVoteGeometry &p, const RvVoteInput &in, int row0,
                                       int end, int i) {
    const int row = (int)((uint64_t)(uint32_t)i * in.inverse >> 40);
    x = (i - row * in.per_row) * WIDE;
    y = row0 + row * ROWS;
    if (is_whole(p, in, end))
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        v[r] = __ldg((const uint4 *)at(in, r));
  }
  /* One number vote an element. */
  template <class Space>
  __device__ __forceinline__ void vote_numbers(Space &space, const RvVoteGeometry &p) const {
    uint4 rest[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      rest[r] = v[r];
#pragma unroll 1
    for (int j = 0; j < WIDE; j += WIDE / 4) {
      uint32_t words[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        words[r] = rest[r].x;
        rest[r] = make_uint4(rest[r].y, rest[r].z, rest[r].w, 0);
      }
      rv_vote_number<A, ROWS>(space, p, x + j, y, words);
    }
  }
  template <class Space>
  __device__ __forceinline__ void vote(Space &space, const RvVoteGeometry &p, const RvVoteInput &in,
                                       int end) const {
    if (!is_whole(p, in, end)) {
#pragma unroll 1
      for (int r = 0; r < ROWS && y + r < end; r++)
#pragma unroll 1
        for (int j = 0; j < WIDE && x + j < p.width; j++)
          rv_vote_element<A>(space, p, x + j, y + r, at(in, r)[j]);
    } else if constexpr (!A::UNITY && A::VOTES == 1) {
      vote_numbers(space, p);
    } else {
      const uint32_t words[4] = {v[0].x, v[0].y, v[0].z, v[0].w};
#pragma unroll
      for (int j = 0; j < WIDE; j++) {
        const RvVoteWord<Element> word = {words[4 * j / WIDE]};
        rv_vote_element<A>(space, p, x + j, y, word.each[j % (WIDE / 4)]);
      }
    }
  }
};

/* A block's share of its space: every thread has AHEAD stacks at hand and as many on their way. */
template <class A, int ROWS> struct RvVoteShare {
  static constexpr int AHEAD = ROWS == 1 ? (int)sizeof(typename A::Element) : 1;
  RvVoteStack<A, ROWS> stack[AHEAD];
  int row0, end; /* rows of the space */
  int i, last;

  __device__ __forceinline__ void load(const RvVoteGeometry &p, const RvVoteInput &in, int from) {
#pragma unroll
    for (int n = 0; n < AHEAD; n++)
      if (from + n * (int)blockDim.x < last)
        stack[n].load(p, in, row0, end, from + n * (int)blockDim.x);
  }
  /* Asks for the first stacks. */
  __device__ __forceinline__ void begin(const RvVoteGeometry &p, const RvVoteInput &in, int part) {
    row0 = (int)blockIdx.y * p.space_rows;
    end = min(row0 + p.space_rows, p.height);
    const int first = (int)blockIdx.x * part;
    last = min(first + part, (end - row0 + ROWS - 1) / ROWS * in.per_row);
    i = first + (int)threadIdx.x;
    load(p, in, i);
  }
  template <class Space>
  __device__ __forceinline__ void vote(Space &space, const RvVoteGeometry &p,
                                       const RvVoteInput &in) {
#pragma unroll 1
    while (i < last) {
      const RvVoteShare<A, ROWS> now = *this;
      i += AHEAD * (int)blockDim.x;
      load(p, in, i);
#pragma unroll
      for (int n = 0; n < AHEAD; n++)
        if (now.i + n * (int)blockDim.x < last)
          now.stack[n].vote(space, p, in, end);
    }
  }
};

static __global__ void rv_vote_clear_kernel(uint32_t *out, ptrdiff_t stride, int words) {
  rv_launch_next();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < words)
    ((uint32_t *)((char *)out + blockIdx.y * stride))[i] = 0;
}

/* Sums of several parts are added to a result that the preceding kernel clears. */
template <class A, bool PLAIN, int ROWS>
static __global__ void __launch_bounds__(RV_VOTE_THREADS)
    rv_vote_kernel(const RvVoteGeometry p, const RvVoteShape shape, const RvVoteInput in, char *out,
                   ptrdiff_t out_stride) {
  typedef typename A::Bin Bin;
  extern __shared__ __align__(16) char rv_vote_shared[];
  Bin *bins = (Bin *)rv_vote_shared;
  RvVoteShare<A, ROWS> share;
  share.begin(p, in, shape.part);
  const int base = PLAIN ? 0 : (int)blockIdx.z * shape.pass_bins;
  const int count = PLAIN ? p.bins : min(shape.pass_bins, p.bins - base);
  const int stretch = PLAIN && A::UNITY ? 1 : shape.stretch;
#pragma unroll 1
  for (int i = threadIdx.x; i < count * stretch; i += blockDim.x)
    bins[i] = 0;
  __syncthreads();
  RvVoteSpace<A, PLAIN> space = {bins, base, count, stretch, (int)threadIdx.x % stretch, 0, Bin(0)};
  share.vote(space, p, in);
  space.end();
  __syncthreads();
  rv_launch_wait();
  uint32_t *row = (uint32_t *)(out + blockIdx.y * out_stride);
#pragma unroll 1
  for (int b = threadIdx.x; b < count; b += blockDim.x) {
    const Bin sum = rv_vote_total(bins, b, stretch);
    if (shape.parts == 1)
      rv_vote_store(row, base + b, sum);
    else if (sum)
      rv_vote_to_result(row, base + b, sum);
  }
}

/* The engine: what it may use of the device. */
struct RvVoteCuda {
  int processors;
  int shared;   /* bytes of shared memory per block */
  int is_early; /* kernels may start before their predecessor ends */
};

/* Bins of a pass, copies and parts for this GPU. A space is `stacks` of `rows`. */
template <class A>
static RvVoteShape rv_vote_shape(const RvVoteCuda *work, const RvVotePlan *plan, long long stacks,
                                 int rows) {
  const RvVoteGeometry &p = plan->geometry;
  const int asked = plan->config.stretch;
  const int most = work->shared / (int)sizeof(typename A::Bin);
  RvVoteShape shape = {1, (int)stacks, 1, rv_min(p.bins, most), 1};
  shape.passes = rv_div_up(p.bins, shape.pass_bins);
  shape.pass_bins = rv_div_up(p.bins, shape.passes);
  /* Number votes run into one another when they meet in a bank; unity votes are merged by the
   * hardware. An odd number of copies spreads them over all banks (eq. 5). */
  const long long elements = (long long)p.width * p.space_rows;
  const int room = most / shape.pass_bins;
  const int wanted = asked                                ? asked
                     : A::UNITY || elements < 64 * p.bins ? 1
                                                          : rv_clamp(4096 / shape.pass_bins, 1, 33);
  shape.stretch = rv_max(rv_min(wanted, room), 1);
  if (!asked && shape.stretch % 2 == 0)
    shape.stretch--;
  const int needed = (int)(stacks * rows / RV_VOTE_PART) + 1;
  shape.parts = rv_clamp(work->processors / (p.spaces * shape.passes), 1, needed); /* (8) */
  shape.part = rv_div_up((int)stacks, shape.parts);
  return shape;
}

template <class A, int ROWS>
static RvStatus rv_vote_launch_rows(const RvVoteCuda *work, const RvVoteJob *job) {
  const RvVoteGeometry &p = job->plan->geometry;
  const RvLog *log = &job->plan->config.log;
  const int per_row = rv_div_up(p.width, RvVoteStack<A, ROWS>::WIDE);
  const RvVoteInput in = {(const char *)job->input.data, job->input.stride,
                          (uintptr_t)job->input.data % 16 == 0 && job->input.stride % 16 == 0,
                          per_row, (1ull << 40) / (unsigned)per_row + 1};
  const long long stacks = (long long)per_row * rv_div_up(p.space_rows, ROWS);
  const RvVoteShape shape = rv_vote_shape<A>(work, job->plan, stacks, ROWS);
  const int hands = rv_div_up(shape.part, RvVoteShare<A, ROWS>::AHEAD);
  const int threads = rv_min(rv_div_up(hands, 32) * 32, RV_VOTE_THREADS);
  RvLaunch launch(dim3((unsigned)shape.parts, (unsigned)p.spaces, (unsigned)shape.passes),
                  (unsigned)threads,
                  (size_t)shape.pass_bins * shape.stretch * sizeof(typename A::Bin), job->stream);
  if (shape.parts > 1) {
    const dim3 grid((unsigned)rv_div_up(job->votes.width, 256), (unsigned)job->votes.height);
    RV_TRY(rv_launch(log, rv_vote_clear_kernel, grid, dim3(256), 0, job->stream, false,
                     (uint32_t *)job->votes.data, job->votes.stride, job->votes.width));
    if (work->is_early)
      launch.early();
  }
  const int is_plain = shape.passes == 1 && (!A::UNITY || shape.stretch == 1);
  return launch.run(log, is_plain ? rv_vote_kernel<A, true, ROWS> : rv_vote_kernel<A, false, ROWS>,
                    p, shape, in, (char *)job->votes.data, job->votes.stride);
}

/* Votes of one run. Stacks are useful for number votes, if spaces consist of complete ones. */
template <class A> static RvStatus rv_vote_launch(const RvVoteCuda *work, const RvVoteJob *job) {
  const int rows = job->plan->geometry.space_rows;
  if constexpr (!A::UNITY && A::VOTES == 1)
    if (rows % RV_VOTE_STACK == 0 || rows > 4 * RV_VOTE_STACK)
      return rv_vote_launch_rows<A, RV_VOTE_STACK>(work, job);
  return rv_vote_launch_rows<A, 1>(work, job);
}

/* Allows the kernels all shared memory. */
template <class A, int ROWS> static RvStatus rv_vote_allow(const RvLog *log, int shared) {
  RV_CU(log, cudaFuncSetAttribute(rv_vote_kernel<A, false, ROWS>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  RV_CU(log, cudaFuncSetAttribute(rv_vote_kernel<A, true, ROWS>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  return RV_OK;
}

template <class A> static RvStatus rv_vote_open(const RvLog *log, int shared) {
  RV_TRY((rv_vote_allow<A, 1>(log, shared)));
  if constexpr (!A::UNITY && A::VOTES == 1)
    RV_TRY((rv_vote_allow<A, RV_VOTE_STACK>(log, shared)));
  return RV_OK;
}

#endif
