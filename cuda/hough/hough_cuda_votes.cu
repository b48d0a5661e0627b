/* SPDX-License-Identifier: MIT */
/* hough_cuda_votes.cu: the list of edge pixels, and their votes: the two stages of GPU-vote. */
#include "hough/hough_cuda_candidates.cuh"
#include "hough/hough_cuda.cuh"

#define LIST_THREADS 256
#define UNIT 16              /* pixels of one thread, in a row */
#define TILE_X 2             /* units of a warp in a row: a sector of memory each row */
#define TILE_Y (32 / TILE_X) /* rows of a warp */

/* --- Stage one: the list -------------------------------------------------------------------------
 */

namespace {
struct ListJob {
  HoughMap edges;
  uint8_t *weak;             /* the map of edges again when it may hold weak pixels, or NULL */
  const int *labels;         /* of weak pixels */
  int width, height, tiles;  /* px, px, tiles in a row */
  const uint32_t *gradients; /* NULL: binary edges */
  uint32_t *points, *values; /* values: NULL when votes do not need any */
  uint8_t *out;              /* edge map of the output, or NULL */
  ptrdiff_t out_stride;
  uint4 *clear; /* bins to be cleared meanwhile, or NULL */
  size_t quads;
};
} // namespace

/* Bit i: byte i of the word is not 0. */
static __device__ __forceinline__ unsigned bits_of(uint32_t word) {
  return ((__vcmpne4(word, 0) & 0x01010101u) * 0x01020408u) >> 24 & 15;
}

/* Weak pixels of a unit that begins at pixel p and lies in one tile of Canny's: those that become an
 * edge. Neighbors in a row are of one component. */
static __device__ __noinline__ unsigned settle(const int *labels, size_t p, unsigned weak) {
  unsigned edges = 0;
  while (weak) {
    const unsigned first = weak & -weak, run = weak & ~(weak + first);
    if (hough_root(labels, __ldcg(&labels[p + __ffs((int)first) - 1])) == 0)
      edges |= run;
    weak &= ~run;
  }
  return edges;
}

static __device__ __forceinline__ unsigned weak_of(uint32_t word) {
  return bits_of(__vcmpeq4(word, HOUGH_WEAK * 0x01010101u));
}

/* Bytes of the lowest four bits: HOUGH_EDGE or 0. */
static __device__ __forceinline__ uint32_t classes_of(unsigned bits) {
  return ((bits & 15) * 0x00204081u & 0x01010101u) * HOUGH_EDGE;
}

/* Bit i: pixel i of the unit at (x, y) is an edge. */
static __device__ __forceinline__ unsigned unit_bits(const ListJob &j, int x, int y) {
  const uint8_t *at = j.edges.data + y * j.edges.stride + x;
  if (x + UNIT <= j.width && (uintptr_t)at % 16 == 0) {
    const uint4 v = *(const uint4 *)at;
    unsigned bits = bits_of(v.x) | bits_of(v.y) << 4 | bits_of(v.z) << 8 | bits_of(v.w) << 12;
    if (!j.weak || !bits)
      return bits;
    const unsigned weak = weak_of(v.x) | weak_of(v.y) << 4 | weak_of(v.z) << 8 | weak_of(v.w) << 12;
    if (!weak)
      return bits;
    const size_t p = (size_t)y * j.width + x;
    bits = (bits & ~weak) | settle(j.labels, p, weak);
    *(uint4 *)(j.weak + p) = make_uint4(classes_of(bits), classes_of(bits >> 4),
                                        classes_of(bits >> 8), classes_of(bits >> 12));
    return bits;
  }
  unsigned bits = 0;
  for (int i = 0; i < UNIT && x + i < j.width; i++) {
    bool is_edge = at[i] != 0;
    if (j.weak && at[i] == HOUGH_WEAK) {
      const size_t p = (size_t)y * j.width + x + i;
      is_edge = settle(j.labels, p, 1) != 0;
      j.weak[p] = is_edge ? HOUGH_EDGE : 0;
    }
    bits |= (unsigned)is_edge << i;
  }
  return bits;
}

/* Points of a warp's tile follow one another: at any angle their bins are a few neighbors, which
 * lie in different banks of shared memory or are the same bin, and votes for that are merged.
 *
 * Where this thread's points go in the list: a sum over the threads before it in the block, and one
 * atomic for the block. The order of blocks is left open; votes are integers. */
static __device__ unsigned place(unsigned count, unsigned *points) {
  __shared__ unsigned warps[LIST_THREADS / 32];
  __shared__ unsigned base;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = count;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
    sum += lane >= (unsigned)d ? other : 0;
  }
  if (lane == 31)
    warps[warp] = sum;
  __syncthreads();
  unsigned before = 0, total = 0;
#pragma unroll
  for (unsigned w = 0; w < LIST_THREADS / 32; w++) {
    before += w < warp ? warps[w] : 0;
    total += warps[w];
  }
  if (threadIdx.x == 0 && total)
    base = atomicAdd(points, total);
  __syncthreads();
  return (total ? base : 0) + before + sum - count;
}

static __device__ __forceinline__ void copy_edges(const ListJob &j, int x, int y, unsigned bits) {
  uint8_t *to = j.out + y * j.out_stride + x;
  for (int i = 0; i < UNIT && x + i < j.width; i++)
    to[i] = bits >> i & 1 ? 255 : 0;
}

static __global__ void __launch_bounds__(LIST_THREADS)
    list_kernel(const ListJob j, HoughCounters *counters) {
  rv_launch_wait();
  rv_launch_next();
  const int tile = (int)(blockIdx.x * LIST_THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int y = tile / j.tiles * TILE_Y + lane % TILE_Y;
  const int x = (tile % j.tiles * TILE_X + lane / TILE_Y) * UNIT;
  const bool is_inside = x < j.width && y < j.height;
  unsigned bits = is_inside ? unit_bits(j, x, y) : 0;
  unsigned at = place(__popc(bits), &counters->points);
  if (j.out && is_inside)
    copy_edges(j, x, y, bits);
  for (; bits; bits &= bits - 1, at++) {
    const int u = x + __ffs((int)bits) - 1;
    j.points[at] = rv_hough_point(u, y);
    if (j.values)
      j.values[at] = j.gradients ? j.gradients[y * j.width + u]
                                 : rv_hough_pack(j.edges.data[y * j.edges.stride + u], 0);
  }
  if (j.clear)
    for (size_t i = blockIdx.x * (size_t)LIST_THREADS + threadIdx.x; i < j.quads;
         i += (size_t)gridDim.x * LIST_THREADS)
      j.clear[i] = make_uint4(0, 0, 0, 0);
}

/* --- Stage two: the votes ------------------------------------------------------------------------
 */

namespace {
/* Every vote is one, bins fit 32 bits and one pass. */
struct FastVotes {
  static constexpr bool UNITY = true, VALUED = false, WHOLE = true;
  struct Space {
    uint32_t c, s;
  };
  const RvHoughAngle *angles;
  uint32_t k; /* the same at every angle */
  int shift;
  HoughCandidates candidates;

  __device__ __forceinline__ Space space(int i) const {
    return {(uint32_t)angles[i].c, (uint32_t)angles[i].s};
  }
  __device__ __forceinline__ bool skips(const Space &, uint32_t) const { return false; }
  __device__ __forceinline__ bool test(const Space &, uint32_t) const { return true; }
  __device__ __forceinline__ int bin(const Space &a, uint32_t e) const {
    return (int)(((e & 0xffff) * a.c + (e >> 16) * a.s + k) >> shift);
  }
  __device__ __forceinline__ uint32_t value(const Space &, uint32_t) const { return 1; }
  __device__ __forceinline__ void sums(uint32_t word, uint4 v) const {
    hough_candidates(candidates, word, v, true);
  }
};

/* The same for pixels near whose gradient the normal lies. Most of the list votes at none of the A
 * angles of a block, which one comparison with their middle finds out. */
template <int A> struct DirectedVotes : FastVotes {
  static constexpr bool VALUED = true;
  struct Space : FastVotes::Space {
    RvHoughAngle angle;
    float x, y;  /* the middle */
    float limit; /* tangent of the largest angle between it and a gradient; below 0: 90 degrees */
  };
  int tangent, spaces;

  DirectedVotes(const FastVotes &fast, int tangent, int spaces)
      : FastVotes(fast), tangent(tangent), spaces(spaces) {}

  __device__ __forceinline__ Space space(int i) const {
    const int first = i / A * A, end = min(first + A, spaces);
    const RvHoughAngle middle = angles[(first + end) / 2];
    float spread = 0; /* tangent of the largest angle between the middle and one of the block */
    for (int k = first; k < end; k++) {
      const float x = angles[k].ux, y = angles[k].uy;
      const float dot = x * middle.ux + y * middle.uy, cross = x * middle.uy - y * middle.ux;
      spread = fmaxf(spread, dot > 0 ? fabsf(cross) / dot : 1e9f);
    }
    const float near = (float)tangent / (1 << RV_HOUGH_UNIT_LOG), below = 1 - near * spread;
    /* A thousandth more than it is, for rounding: what votes is decided by test. */
    const float limit = below > 0.01f ? (near + spread) / below * 1.001f + 0.001f : -1.0f;
    return {FastVotes::space(i), angles[i], (float)middle.ux, (float)middle.uy, limit};
  }
  __device__ __forceinline__ bool skips(const Space &a, uint32_t value) const {
    const float gx = (float)rv_hough_gx(value), gy = (float)rv_hough_gy(value);
    const float cross = fabsf(gx * a.y - gy * a.x), dot = fabsf(gx * a.x + gy * a.y);
    return a.limit >= 0 && cross > dot * a.limit;
  }
  __device__ __forceinline__ bool test(const Space &a, uint32_t value) const {
    return rv_hough_is_near(&a.angle, value, tangent);
  }
};

/* Everything else: 64 bits hold the bins of narrow plans too. */
struct AnyVotes {
  static constexpr bool UNITY = false, VALUED = true, WHOLE = false;
  typedef RvHoughAngle Space;
  const RvHoughAngle *angles;
  int shift, tangent, weighted;
  HoughCandidates candidates;

  __device__ __forceinline__ Space space(int i) const { return angles[i]; }
  __device__ __forceinline__ bool skips(const Space &, uint32_t) const { return false; }
  __device__ __forceinline__ bool test(const Space &a, uint32_t value) const {
    return tangent < 0 || rv_hough_is_near(&a, value, tangent);
  }
  __device__ __forceinline__ int bin(const Space &a, uint32_t e) const {
    return rv_hough_bin_wide(&a, e & 0xffff, e >> 16, shift);
  }
  __device__ __forceinline__ uint32_t value(const Space &, uint32_t value) const {
    return weighted ? (uint32_t)rv_hough_magnitude(value) : 1u;
  }
  __device__ __forceinline__ void sums(uint32_t word, uint4 v) const {
    hough_candidates(candidates, word, v, false);
  }
};
} // namespace

#define ANY_GROUP 4

/* Parts of the list for groups of `group` angles: as many blocks as the GPU holds at once. */
static void split(RvVoteListShape *s, int group, int processors, int has_clusters) {
  s->group = group;
  const int blocks = rv_div_up(s->spaces, group) * s->passes;
  s->parts = rv_clamp(processors / blocks, 1, RV_VOTE_CLUSTER_MAX);
  s->is_cluster = has_clusters && s->parts > 1;
}

/* Angles of a block: more read the list less often, if that leaves no SM idle. */
static RvVoteListShape fast_shape(const RvHoughSpace *p, int processors, int has_clusters,
                                  int shared) {
  static const int groups[] = {6, 3, 2, 1};
  const int stride = rv_vote_list_stride(p->bins);
  RvVoteListShape s = {p->angles, p->bins, stride, 1, 1, 1, stride, 1, 0};
  for (int i = 0; i < 4; i++) {
    split(&s, groups[i], processors, has_clusters);
    const int blocks = rv_div_up(s.spaces, s.group) * s.parts;
    if (rv_vote_list_bytes(s) <= (size_t)shared && 2 * blocks >= processors)
      break;
  }
  return s;
}

static RvVoteListShape any_shape(const RvHoughSpace *p, int processors, int has_clusters,
                                 int shared) {
  const int most = shared / (int)sizeof(uint32_t) / 4 * 4, stride = rv_vote_list_stride(p->bins);
  RvVoteListShape s = {p->angles, p->bins, stride, 1, 1, rv_div_up(stride, most), 0, 1, 0};
  s.pass_bins = rv_div_up(rv_div_up(stride, s.passes), 4) * 4;
  const int group = ANY_GROUP * s.pass_bins <= most ? ANY_GROUP : 1;
  split(&s, group, processors, has_clusters);
  /* Number votes that meet in one bin wait for one another: three copies of each (eq. 3-6). */
  s.stretch = 3 * group * s.pass_bins <= most ? 3 : 1;
  return s;
}

template <int A>
static RvStatus open_fast(RvVoteListShape *s, const RvHoughSpace *p, int shared, const RvLog *log) {
  return p->tangent < 0 ? rv_vote_list_open<FastVotes, A>(s, shared, log)
                        : rv_vote_list_open<DirectedVotes<A>, A>(s, shared, log);
}

RvStatus hough_cuda_votes_open(HoughCuda *work, const RvHoughPlan *plan) {
  const RvHoughSpace *p = &plan->space;
  const RvLog *log = &plan->config.log;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  const int shared = device.shared;
  work->processors = device.processors;
  work->is_early = device.overlaps;
  RvVoteListShape *s = &work->shape;
  work->is_fast = !p->is_wide && !p->weighted && work->stride <= shared / (int)sizeof(uint32_t);
  if (!work->is_fast) {
    *s = any_shape(p, work->processors, device.overlaps, shared);
    return s->group == 1 ? rv_vote_list_open<AnyVotes, 1>(s, shared, log)
                         : rv_vote_list_open<AnyVotes, ANY_GROUP>(s, shared, log);
  }
  *s = fast_shape(p, work->processors, device.overlaps, shared);
  return s->group == 6   ? open_fast<6>(s, p, shared, log)
         : s->group == 3 ? open_fast<3>(s, p, shared, log)
         : s->group == 2 ? open_fast<2>(s, p, shared, log)
                         : open_fast<1>(s, p, shared, log);
}

template <class F, int A>
static RvStatus cast(const HoughCuda *work, const F &f, const RvHoughJob *job) {
  const RvHoughSpace *p = &job->plan->space;
  const RvVoteList list = {work->points, work->values, &work->counters->points,
                           (unsigned)(p->width * p->height)};
  return rv_vote_list_launch<F, A>(f, list, work->shape, work->bins, job->stream, work->is_early,
                                   &job->plan->config.log);
}

template <int A>
static RvStatus cast_fast(const HoughCuda *work, const FastVotes &f, const RvHoughJob *job) {
  const RvHoughSpace *p = &job->plan->space;
  return p->tangent < 0
             ? cast<FastVotes, A>(work, f, job)
             : cast<DirectedVotes<A>, A>(work, DirectedVotes<A>(f, p->tangent, p->angles), job);
}

static RvStatus cast_votes(const HoughCuda *work, const RvHoughJob *job) {
  const RvHoughSpace *p = &job->plan->space;
  const HoughCandidates candidates = {work->candidates, &work->counters->candidates,
                                      (uint32_t)p->threshold};
  const int group = work->shape.group;
  if (!work->is_fast) {
    const AnyVotes f = {work->angles, p->shift, p->tangent, p->weighted, candidates};
    return group == 1 ? cast<AnyVotes, 1>(work, f, job) : cast<AnyVotes, ANY_GROUP>(work, f, job);
  }
  const uint32_t k = (uint32_t)(2 * p->rho_zero + 1) << (p->shift - 1);
  const FastVotes f = {work->angles, k, p->shift, candidates};
  return group == 6   ? cast_fast<6>(work, f, job)
         : group == 3 ? cast_fast<3>(work, f, job)
         : group == 2 ? cast_fast<2>(work, f, job)
                      : cast_fast<1>(work, f, job);
}

RvStatus hough_cuda_votes(void *memory, RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughSpace *p = &job->plan->space;
  const RvHoughConfig *c = &job->plan->config;
  ListJob j = {};
  j.edges = hough_cuda_map(work, job);
  if (c->edges == RV_HOUGH_CANNY)
    j.weak = work->classes, j.labels = work->labels;
  j.width = p->width, j.height = p->height, j.tiles = rv_div_up(p->width, UNIT * TILE_X);
  j.gradients = c->edges == RV_HOUGH_BINARY ? NULL : work->gradients;
  j.points = work->points, j.values = work->values;
  j.out = (uint8_t *)job->out.edges.data, j.out_stride = job->out.edges.stride;
  if (!rv_vote_list_is_whole(work->shape)) {
    j.clear = (uint4 *)work->bins;
    j.quads = (size_t)p->angles * work->stride / 4;
  }
  const int warps = j.tiles * rv_div_up(p->height, TILE_Y);
  const int blocks = rv_div_up(warps, LIST_THREADS / 32);
  /* Only Canny's kernels are part of the chain. */
  RV_TRY(rv_launch(&c->log, list_kernel, dim3((unsigned)blocks), dim3(LIST_THREADS), 0, job->stream,
                   work->is_early && c->edges == RV_HOUGH_CANNY, j, work->counters));
  RV_TRY(cast_votes(work, job));
  const RvPlane *out = &job->out.accumulator;
  if (out->data)
    RV_CU(&c->log, cudaMemcpy2DAsync(out->data, (size_t)out->stride, work->bins,
                                     (size_t)work->stride * 4, (size_t)p->bins * 4,
                                     (size_t)p->angles, cudaMemcpyDeviceToDevice, job->stream));
  return RV_OK;
}
