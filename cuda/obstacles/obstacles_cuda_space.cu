/* SPDX-License-Identifier: MIT */
/* obstacles_cuda_space.cu: the path of the free space, by one block, and at the same time the joins
 * of runs, by one block per strip. */
#include "obstacles/obstacles_cuda.cuh"

#define THREADS 256
#define EACH (RV_OBSTACLES_COARSE / 32) /* bins per lane: lane l has bins l EACH .. */
#define AHEAD 4                         /* strips whose data is read before it is needed */
#define CHUNK 16                        /* strips of the path that one step goes back */
#define CHUNKS 32
#define FAR (1 << 28)

static_assert(THREADS == RV_OBSTACLES_COARSE, "one thread per bin goes back");
static_assert(EACH == 8, "data of a lane is one 16-byte word");
static_assert(3 * EACH * RV_OBSTACLES_SLOPE > RV_OBSTACLES_JUMP, "no way is longer than 3 lanes");
static_assert(CHUNK * CHUNKS >= 512, "RV_MAX_SIDE / RV_OBSTACLES_STRIP_MAX strips");

/* --- Path ------------------------------------------------------------------------------------ */

namespace {
struct Data {
  uint4 words; /* EACH int16 */
};
} // namespace

static __device__ __forceinline__ Data read_data(const ObstaclesCuda &w, int strip) {
  const uint4 *row = (const uint4 *)(w.data + (size_t)strip * RV_OBSTACLES_COARSE);
  return {strip < w.plan.strips ? row[rv_lane()] : make_uint4(0, 0, 0, 0)};
}

static __device__ __forceinline__ int value_of(const Data &d, int k) {
  const uint32_t word = k / 2 == 0   ? d.words.x
                        : k / 2 == 1 ? d.words.y
                        : k / 2 == 2 ? d.words.z
                                     : d.words.w;
  return (int16_t)(k % 2 ? word >> 16 : word);
}

/* Lowest cost, ties: nearest bin; every lane gets cost * 256 + (255 - bin). */
static __device__ __forceinline__ int best_of(const int *cost) {
  int best = INT32_MAX;
#pragma unroll
  for (int k = 0; k < EACH; k++)
    best = min(best, cost[k] * 256 + (RV_OBSTACLES_COARSE - 1 - (rv_lane() * EACH + k)));
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(RV_WARP, best);
#else
  return rv_warp_min(best);
#endif
}

/* Keys of the ways to each bin (rv_obstacles_here) from the costs of the strip before. Ways are
 * shorter than three lanes. */
static __device__ __forceinline__ void find_ways(const int *cost, int *key) {
  const int lane = rv_lane();
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
    far[k] = run;
    run = min(run, rv_obstacles_here(cost[k]) + 1) + RV_OBSTACLES_KEY;
  }
  /* what leaves the lane at its near end is `run`, at its far end near[0] */
  int from_near = FAR, from_far = FAR;
#pragma unroll
  for (int apart = 1; apart <= 3; apart++) {
    const int a = __shfl_down_sync(RV_WARP, near[0], apart);
    const int b = __shfl_up_sync(RV_WARP, run, apart);
    const int rest = (apart - 1) * EACH * RV_OBSTACLES_KEY;
    from_near = lane + apart < 32 ? min(from_near, a + rest) : from_near;
    from_far = lane >= apart ? min(from_far, b + rest) : from_far;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++)
    key[k] = min(min(near[k], from_near + (EACH - k) * RV_OBSTACLES_KEY),
                 min(far[k], from_far + k * RV_OBSTACLES_KEY));
}

/* Costs of the last strip's bins; one warp. */
static __device__ void find_costs(const ObstaclesCuda &w, int *cost) {
  const int lane = rv_lane(), strips = w.plan.strips;
  Data data[AHEAD];
#pragma unroll
  for (int i = 0; i < AHEAD; i++)
    data[i] = read_data(w, 1 + i);
  const Data first = read_data(w, 0);
#pragma unroll
  for (int k = 0; k < EACH; k++)
    cost[k] = value_of(first, k);
  for (int strip = 1; strip < strips; strip += AHEAD)
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      if (strip + i >= strips)
        break;
      int key[EACH];
      uint32_t from[2] = {0, 0};
      const int best = best_of(cost), source = RV_OBSTACLES_COARSE - 1 - (best & 255);
      const int jump = rv_obstacles_jump(best >> 8);
      find_ways(cost, key);
#pragma unroll
      for (int k = 0; k < EACH; k++) {
        const int way = min(key[k], jump), q = lane * EACH + k;
        from[k / 4] |= (uint32_t)rv_obstacles_from(way, q, source) << (8 * (k % 4));
        cost[k] = rv_obstacles_cost(way) + value_of(data[i], k);
      }
      uint2 *out = (uint2 *)(w.from + (size_t)(strip + i) * RV_OBSTACLES_COARSE);
      out[lane] = make_uint2(from[0], from[1]);
      data[i] = read_data(w, strip + i + AHEAD);
    }
}

namespace {
struct Space {
  uint8_t back[CHUNKS]
              [RV_OBSTACLES_COARSE]; /* bin at a chunk's first strip, from that of the next */
  uint8_t start[CHUNKS];             /* bin at the last strip of a chunk */
};
} // namespace

/* The path: chunks of strips are composed first, in parallel. */
static __device__ void find_path(const ObstaclesCuda &w, Space &s, int last) {
  const int strips = w.plan.strips, chunks = rv_div_up(strips, CHUNK), q = threadIdx.x;
  for (int c = 1; c < chunks; c++) {
    int at = q;
    for (int strip = rv_min(c * CHUNK + CHUNK, strips) - 1; strip >= c * CHUNK; strip--)
      at = __ldcg(&w.from[(size_t)strip * RV_OBSTACLES_COARSE + at]);
    s.back[c][q] = (uint8_t)at;
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int c = chunks - 1; c >= 0; c--) {
      s.start[c] = (uint8_t)last;
      last = c > 0 ? s.back[c][last] : last;
    }
  __syncthreads();
  if ((int)threadIdx.x >= chunks)
    return;
  const int c = threadIdx.x;
  int at = s.start[c];
  for (int strip = rv_min(c * CHUNK + CHUNK, strips) - 1; strip >= c * CHUNK; strip--) {
    w.path[strip] = (uint8_t)at;
    if (strip > c * CHUNK)
      at = __ldcg(&w.from[(size_t)strip * RV_OBSTACLES_COARSE + at]);
  }
}

/* --- Joins ----------------------------------------------------------------------------------- */

static __device__ int root_of(const int32_t *label, int i) {
  for (int next = __ldcg(&label[i]); next != i; next = __ldcg(&label[i]))
    i = next;
  return i;
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

static __global__ void __launch_bounds__(THREADS)
    space_kernel(const __grid_constant__ ObstaclesCuda w, const __grid_constant__ ObstaclesArgs a) {
  static_assert(THREADS >= RV_OBSTACLES_REACH_MAX * RV_OBSTACLES_RUNS, "one thread per run");
  __shared__ Space s;
  __shared__ int last;
  rv_launch_wait();
  rv_launch_next();
  if (!obstacles_has_ground(a))
    return;
  if (blockIdx.x > 0) {
    join_strip(w, blockIdx.x - 1);
    return;
  }
  if (threadIdx.x < 32) {
    int cost[EACH];
    find_costs(w, cost);
    const int best = best_of(cost);
    if (threadIdx.x == 0)
      last = RV_OBSTACLES_COARSE - 1 - (best & 255);
    __threadfence(); /* `from` is read past the first-level cache */
  }
  __syncthreads();
  find_path(w, s, last);
}

RvStatus obstacles_cuda_space(const ObstaclesCuda *w, const RvObstaclesJob *job) {
  return obstacles_launch(w, false, space_kernel, 1 + w->plan.strips, THREADS, 0, job->stream, *w,
                          obstacles_args(job));
}
