/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_space.cu: the path of the free space, by one block, and at the same time the joins
 * of runs, by one block per strip. */
#include "obstacles/obstacles_cuda.cuh"

#define THREADS 256
#define EACH (RV_OBSTACLES_COARSE / 32) /* bins per lane: lane l has bins l EACH .. */
#define AHEAD 4                         /* strips whose data is read before it is needed */
#define PARTS (THREADS / 32)            /* of the path, one warp each */
#define WARM 24                         /* strips before a part that it begins with */
#define FAR (1 << 28)
#define REACH 3 /* lanes that a path crosses at most */
#define STRIPS_MAX (RV_MAX_SIDE / RV_OBSTACLES_STRIP_MAX)

static_assert(THREADS == RV_OBSTACLES_COARSE, "one thread per bin compares");
static_assert(EACH == 8, "data of a lane is one 16-byte word");
static_assert(REACH * EACH * RV_OBSTACLES_SLOPE > RV_OBSTACLES_JUMP, "no way is longer");
static_assert(PARTS <= 8, "parts of 311 strips are longer than WARM");

/* --- Path ------------------------------------------------------------------------------------ */

namespace {
struct Data {
  uint4 words; /* EACH int16 */
};
} // namespace

static __device__ __forceinline__ int value_of(const Data &d, int k) {
  const uint32_t word = k / 2 == 0   ? d.words.x
                        : k / 2 == 1 ? d.words.y
                        : k / 2 == 2 ? d.words.z
                                     : d.words.w;
  return (int16_t)(k % 2 ? word >> 16 : word);
}

/* Lowest cost, ties: nearest bin; every lane gets cost * 256 + (255 - bin). */
static __device__ __forceinline__ int best_of(const int *cost) {
  int best[2] = {INT32_MAX, INT32_MAX}; /* two chains, each half as long */
#pragma unroll
  for (int k = 0; k < EACH; k++)
    best[k % 2] = min(best[k % 2], cost[k] * 256 + (EACH - 1 - k));
  const int mine = min(best[0], best[1]) + (31 - rv_lane()) * EACH;
  return rv_warp_min(mine);
}

namespace {
/* What is added to what other lanes have, by their distance less one: the way there, or FAR where
 * there is no such lane. */
struct Rest {
  int near[REACH], far[REACH];
};
} // namespace

static __device__ __forceinline__ Rest rest_of(int lane) {
  Rest rest;
#pragma unroll
  for (int i = 0; i < REACH; i++) {
    const int way = i * EACH * RV_OBSTACLES_KEY;
    rest.near[i] = lane + i + 1 < 32 ? way : FAR;
    rest.far[i] = lane > i ? way : FAR;
    asm volatile("" : "+r"(rest.near[i]), "+r"(rest.far[i])); /* else found in each strip */
  }
  return rest;
}

/* Keys of the paths to each bin (rv_obstacles_here) from the costs of the strip before. Paths are
 * shorter than three lanes. */
static __device__ __forceinline__ void find_ways(const Rest &rest, const int *cost, int *key) {
  int near[EACH],
      far[EACH]; /* from nearer bins, which have larger indices, and from farther ones */
  int run = FAR;
#pragma unroll
  for (int k = EACH - 1; k >= 0; k--) {
    run = min(run + RV_OBSTACLES_KEY, rv_obstacles_here(cost[k]));
    near[k] = run;
  }
  run = FAR;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    far[k] = run; /* one operation on the way from bin to bin */
    run = min(run + RV_OBSTACLES_KEY, rv_obstacles_here(cost[k]) + (1 + RV_OBSTACLES_KEY));
  }
  /* what leaves the lane at its near end is `run`, at its far end near[0] */
  int from_near = FAR, from_far = FAR;
#pragma unroll
  for (int i = 0; i < REACH; i++) {
    from_near = min(from_near, __shfl_down_sync(RV_WARP, near[0], i + 1) + rest.near[i]);
    from_far = min(from_far, __shfl_up_sync(RV_WARP, run, i + 1) + rest.far[i]);
  }
#pragma unroll
  for (int k = 0; k < EACH; k++)
    key[k] = min(min(near[k], from_near + (EACH - k) * RV_OBSTACLES_KEY),
                 min(far[k], from_far + k * RV_OBSTACLES_KEY));
}

namespace {
/* Exchanged between warps: costs relative to the least of their strip. */
struct Space {
  int enter[PARTS][RV_OBSTACLES_COARSE]; /* of the strip before a part, found from where it began */
  int leave[PARTS][RV_OBSTACLES_COARSE]; /* of the last strip of a part */
  uint8_t source[STRIPS_MAX];            /* bin of the strip before from which a jump comes */
};
} // namespace

/* Strips of a part: `first` to `end` - 1. */
static __device__ __forceinline__ int first_of(const RvObstaclesPlan &p, int part) {
  return rv_min(part * rv_div_up(p.strips, PARTS), p.strips);
}

static __device__ __forceinline__ void begin_costs(const Data &data, int *cost) {
#pragma unroll
  for (int k = 0; k < EACH; k++)
    cost[k] = value_of(data, k);
}

static __device__ __forceinline__ void keep_costs(const int *cost, int *kept) {
  const int least = best_of(cost) >> 8;
#pragma unroll
  for (int k = 0; k < EACH; k++)
    kept[rv_lane() * EACH + k] = cost[k] - least;
}

/* The low bytes of four keys. */
static __device__ __forceinline__ uint32_t low_bytes(const int *way) {
  const uint32_t low = __byte_perm((uint32_t)way[0], (uint32_t)way[1], 0x0040);
  const uint32_t high = __byte_perm((uint32_t)way[2], (uint32_t)way[3], 0x0040);
  return __byte_perm(low, high, 0x5410);
}

/* From the costs of one strip to those of the next. Of where its bins come from it writes the low
 * bytes of the keys: few are followed, see bin_before(). */
static __device__ __forceinline__ void step(const Rest &rest, const Data &data, int *cost,
                                            bool is_kept, uint2 *from, uint8_t *source) {
  int way[EACH];
  const int best = best_of(cost), jump = rv_obstacles_jump(best >> 8);
  find_ways(rest, cost, way);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    way[k] = min(way[k], jump);
    cost[k] = rv_obstacles_cost(way[k]) + value_of(data, k);
  }
  if (is_kept) {
    *from = make_uint2(low_bytes(way), low_bytes(way + 4));
    *source = (uint8_t)(RV_OBSTACLES_COARSE - 1 - (best & 255));
  }
}

/* The bin of the strip before from which the path comes to bin `at`. */
static __device__ __forceinline__ int bin_before(const Space &s, const uint8_t *from, int strip,
                                                 int at) {
  const int key = from[(size_t)strip * RV_OBSTACLES_COARSE + at];
  return rv_obstacles_from(key, at, s.source[strip]);
}

/* Strips `strip` to end - 1; those below `first` are not written. */
static __device__ void walk(const ObstaclesCuda &w, Space &s, int strip, int first, int end,
                            int *cost, uint8_t *from, int *enter) {
  const Rest rest = rest_of(rv_lane());
  const uint4 *row = (const uint4 *)(w.data + (ptrdiff_t)strip * RV_OBSTACLES_COARSE) + rv_lane();
  uint2 *to = (uint2 *)(from + (ptrdiff_t)strip * RV_OBSTACLES_COARSE) + rv_lane();
  asm volatile("" : "+l"(row), "+l"(to)); /* else found in each strip */
  Data data[AHEAD] = {};
#pragma unroll
  for (int i = 0; i < AHEAD; i++)
    if (strip + i < end)
      data[i].words = row[32 * i];
  for (; strip < end; strip += AHEAD, row += 32 * AHEAD, to += 32 * AHEAD)
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      const int at = strip + i;
      if (at >= end)
        break;
      if (at == first && enter)
        keep_costs(cost, enter);
      step(rest, data[i], cost, at >= first, to + 32 * i, &s.source[at]);
      if (at + AHEAD < end)
        data[i].words = row[32 * (i + AHEAD)];
    }
}

/* One warp per part. What comes before a part matters only for a few strips: bins differ by at most
 * RV_OBSTACLES_JUMP, and soon all ways come from one bin. A part begins WARM strips early, from any
 * costs; whether those of the strip before it were right is verified afterwards. */
static __device__ void find_part(const ObstaclesCuda &w, Space &s, int part, uint8_t *from) {
  const int first = first_of(w.plan, part), end = first_of(w.plan, part + 1);
  const int begin = rv_max(first - WARM, 0);
  int cost[EACH];
  if (first == end)
    return;
  begin_costs({((const uint4 *)(w.data + (ptrdiff_t)begin * RV_OBSTACLES_COARSE))[rv_lane()]},
              cost);
  walk(w, s, begin + 1, part ? first : 1, end, cost, from, part ? s.enter[part] : NULL);
  keep_costs(cost, s.leave[part]);
}

/* A part again, from the costs that its predecessor left; one warp. */
static __device__ void repeat_part(const ObstaclesCuda &w, Space &s, int part, uint8_t *from) {
  const int first = first_of(w.plan, part), end = first_of(w.plan, part + 1);
  int cost[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++)
    cost[k] = s.leave[part - 1][rv_lane() * EACH + k];
  walk(w, s, first, first, end, cost, from, NULL);
  keep_costs(cost, s.leave[part]);
}

/* The bins of a part from bin `at` of its last strip on; returns that of the strip before the part.
 */
static __device__ int trace_part(const ObstaclesCuda &w, const Space &s, int part, int at,
                                 const uint8_t *from) {
  const int first = first_of(w.plan, part);
  for (int strip = first_of(w.plan, part + 1) - 1; strip >= first; strip--) {
    w.path[strip] = (uint8_t)at;
    at = strip > 0 ? bin_before(s, from, strip, at) : at;
  }
  return at;
}

/* The path that ends at bin `end`, one warp: one lane per part. The path comes from one bin soon,
 * wherever it ends: a lane begins WARM strips behind its part, at any bin. Then the bins where
 * parts meet are compared, and a part that began with another one is traced again. */
static __device__ void trace(const ObstaclesCuda &w, const Space &s, int last, int end,
                             const uint8_t *from) {
  const int part = rv_min(rv_lane(), last), behind = first_of(w.plan, part + 1);
  int begin = end;
  for (int strip = rv_min(behind + WARM, w.plan.strips) - 1; strip >= behind; strip--)
    begin = bin_before(s, from, strip, begin);
  int leave = rv_lane() <= last ? trace_part(w, s, part, begin, from) : 0;
  for (int k = last; k > 0; k--) { /* from part k to the one before */
    const int at = __shfl_sync(RV_WARP, leave, k);
    __syncwarp(); /* before its bins are written again */
    if (rv_lane() == k - 1 && begin != at)
      leave = trace_part(w, s, part, at, from);
  }
}

/* The path of the free space; `from` has a row of keys per strip. */
static __device__ void find_path(const ObstaclesCuda &w, Space &s, uint8_t *from) {
  const int strips = w.plan.strips, thread = threadIdx.x;
  int last = 0; /* part */
  find_part(w, s, thread / 32, from);
  __syncthreads();
  for (int part = 1; part < PARTS && first_of(w.plan, part) < strips; part++, last++) {
    const bool is_same = s.enter[part][thread] == s.leave[part - 1][thread];
    if (__syncthreads_and(is_same))
      continue;
    if (thread < 32)
      repeat_part(w, s, part, from);
    __syncthreads();
  }
  if (thread >= 32)
    return;
  int cost[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++)
    cost[k] = s.leave[last][thread * EACH + k];
  trace(w, s, last, RV_OBSTACLES_COARSE - 1 - (best_of(cost) & 255), from);
}

/* --- Joins ----------------------------------------------------------------------------------- */

/* The root; runs on the way are linked to their grandparents. Only roots change otherwise. */
static __device__ int root_of(int32_t *label, int i) {
  for (;;) {
    const int next = __ldcg(&label[i]);
    if (next == i)
      return i;
    const int after = __ldcg(&label[next]);
    if (after != next)
      __stcg(&label[i], after);
    i = after;
  }
}

static __device__ void join(int32_t *label, int a, int b) {
  for (;;) {
    a = root_of(label, a);
    b = root_of(label, b);
    if (a == b)
      return;
    const int high = max(a, b), low = min(a, b);
    if (atomicCAS(&label[high], high, low) == high)
      return;
  }
}

/* A strip's runs against those of the strips to its right; a thread takes one of these. */
static __device__ void join_strip(const ObstaclesCuda &w, int strip) {
  const int other = strip + 1 + threadIdx.x / RV_OBSTACLES_RUNS;
  const int k = threadIdx.x % RV_OBSTACLES_RUNS;
  if (other >= w.plan.strips || k >= w.run_count[other])
    return;
  const int b = other * RV_OBSTACLES_RUNS + k;
  const RvObstaclesRun theirs = w.runs[b];
  for (int i = 0; i < w.run_count[strip]; i++) {
    const int a = strip * RV_OBSTACLES_RUNS + i;
    const RvObstaclesRun mine = w.runs[a];
    if (rv_obstacles_joins(&w.plan, w.tables, &mine, &theirs, other - strip))
      join(w.label, a, b);
  }
}

static __global__ void __launch_bounds__(THREADS, 1)
    space_kernel(const __grid_constant__ ObstaclesCuda w, const __grid_constant__ ObstaclesArgs a) {
  static_assert(THREADS >= RV_OBSTACLES_REACH_MAX * RV_OBSTACLES_RUNS, "one thread per run");
  extern __shared__ __align__(16) char memory[];
  rv_launch_wait();
  rv_launch_next();
  if (!obstacles_has_ground(a))
    return;
  if (blockIdx.x > 0) {
    join_strip(w, blockIdx.x - 1);
    return;
  }
  Space &s = *(Space *)memory;
  find_path(w, s, w.is_shared ? (uint8_t *)(&s + 1) : w.from);
}

static size_t shared_bytes(const RvObstaclesPlan *p, int is_shared) {
  return sizeof(Space) + (is_shared ? (size_t)p->strips * RV_OBSTACLES_COARSE : 0);
}

RvStatus obstacles_cuda_open_space(ObstaclesCuda *w, int shared) {
  w->is_shared = shared_bytes(&w->plan, 1) <= (size_t)shared;
  RV_CU(&w->plan.config.log,
        cudaFuncSetAttribute(space_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  return RV_OK;
}

RvStatus obstacles_cuda_space(const ObstaclesCuda *w, const RvObstaclesJob *job) {
  return obstacles_launch(w, space_kernel, 1 + w->plan.strips, THREADS,
                          shared_bytes(&w->plan, w->is_shared), job->stream, *w,
                          obstacles_args(job));
}
