/* SPDX-License-Identifier: MIT */
/* stixels_cuda_kinds.cu: dynamic programming with priors of semantic classes, CUDA engine. One block
 * per column; for each top row its threads try all lowest rows and classes. Tables and scratch are
 * in global memory. Simple rather than fast: most frames have no such priors. */
#include "stixels/stixels_cuda_list.cuh"
#include "stixels/stixels_cuda_network.cuh"

#define WARPS 8 /* per block */
#define THREADS (32 * WARPS)

namespace {
/* A column, and by row and class of the recursion the best stixels that end there. Afterwards the
 * chosen stixels by top row: members `one_`. */
struct KindsColumn {
  Column c;
  const RvStixelsKinds *kinds;
  int count;       /* classes of the recursion */
  int32_t *cost;   /* [row][class] of the column up to here */
  int32_t *next;   /* [row][class] 1/256 px: plane in the row above */
  uint32_t *link;  /* [row][class] lowest row | class below << 16 */
  uint32_t *links; /* of the list */
  int32_t *one_cost;
  uint32_t *one_link; /* lowest row | class of the recursion below << 16 */
  uint8_t *one_kind;
};

/* --- List: of its type, so that the templates of the list find them ------------------------------ */

__device__ __forceinline__ int32_t cost_of(const KindsColumn &k, int row, int structure) {
  return k.kinds->structure[k.one_kind[row]] == structure ? k.one_cost[row] : OUT_OF_REACH;
}

__device__ __forceinline__ uint32_t link_of(const KindsColumn &k, int row, int) {
  const uint32_t link = k.one_link[row];
  return (link & 0xffff) | (uint32_t)k.kinds->structure[link >> 16] << 16;
}

__device__ __forceinline__ uint32_t semantic_key(const RvStixelsPlan &plan, const KindsColumn &k,
                                                 int structure, int, int top) {
  const int kind = k.one_kind[top];
  return kind < plan.semantics ? (uint32_t)(kind - plan.semantic_first[structure]) : 0xffffffffu;
}
} // namespace

/* --- Costs ----------------------------------------------------------------------------------- */

/* Slot of a semantic class in a row of keys; see class_in. */
static __device__ __forceinline__ int slot_of(const RvStixelsPlan &plan, const KeyLayout &p,
                                              int kind, int structure) {
  const int first = structure == 0 ? p.first[0] : structure == 1 ? p.first[1] : p.first[2];
  return 4 * first + kind - plan.semantic_first[structure];
}

static __device__ int32_t depth_cost(const KindsColumn &k, int kind, int bottom, int top,
                                     RvStixelsPlane *plane) {
  const RvStixelsPlan *plan = &k.kinds->plan[kind];
  const int32_t *table = k.kinds->costs[kind];
  const int structure = k.kinds->structure[kind];
  *plane = {0, 0};
  if (structure == RV_STIXEL_SKY) {
    int32_t sum = 0;
    for (int v = bottom; v <= top; v++)
      sum += rv_stixels_cell_sky(plan, table, k.c.cells[v]);
    return rv_stixels_cost_sky(plan, sum);
  }
  const RvStixelsSums s = rv_stixels_between(&k.c.sums[bottom], &k.c.sums[top + 1]);
  const RvStixelsFit fit = rv_stixels_fit(plan, &k.c.ground, structure, &s, bottom);
  *plane = fit.plane;
  if (plan->config.model == RV_STIXELS_SLANTED_FAST)
    return rv_stixels_cost_fast(plan, structure, &s, top + 1 - bottom, fit.error);
  const bool is_flat = plan->config.model == RV_STIXELS_CONSTANT && structure == RV_STIXEL_OBJECT;
  const int flat = is_flat ? 256 * rv_stixels_nearest(rv_stixels_value(plane, 0)) : 0;
  int64_t sum = 0;
  for (int v = bottom; v <= top; v++)
    sum += rv_stixels_cost_cell(plan, table, k.c.cells[v],
                                is_flat ? flat : rv_stixels_value(plane, v - bottom));
  return rv_stixels_cost_sum(plan, structure, sum, fit.prior);
}

/* Cost of a stixel without its predecessor. */
static __device__ int32_t own_cost(const RvStixelsPlan &plan, const KindsColumn &k, int kind,
                                   int bottom, int top, RvStixelsPlane *plane) {
  uint32_t sum = RV_STIXELS_SCORE_WORST * (uint32_t)(top + 1 - bottom);
  if (kind < plan.semantics) {
    const uint32_t *keys = k.c.keys + slot_of(plan, k.c.layout, kind, k.kinds->structure[kind]);
    sum = (keys[(top + 1) * k.c.layout.pitch] - keys[bottom * k.c.layout.pitch]) / 32;
  }
  return rv_stixels_add(depth_cost(k, kind, bottom, top, plane),
                        rv_stixels_semantic_cost(&plan, sum));
}

/* --- Dynamic programming --------------------------------------------------------------------- */

#define NONE 0xffffffffffffffffull

/* A candidate: the minimum is the least cost; ties: the lowest row, then the first class below. */
static __device__ __forceinline__ unsigned long long candidate_of(int32_t cost, int bottom,
                                                                  int below) {
  return (unsigned long long)((uint32_t)cost ^ 0x80000000u) << 32 | (uint32_t)bottom << 8 |
         (uint32_t)below;
}

/* The best stixel of a class from `bottom` to `top`, over its predecessors. */
static __device__ unsigned long long best_of(const RvStixelsPlan &plan, const KindsColumn &k,
                                             int kind, int bottom, int top) {
  const int structure = k.kinds->structure[kind];
  RvStixelsPlane plane;
  const int32_t own = own_cost(plan, k, kind, bottom, top, &plane);
  if (bottom == 0) {
    const int32_t cost = own + plan.at_bottom[structure];
    return cost <= RV_STIXELS_INFINITE ? candidate_of(cost, 0, 0) : NONE;
  }
  const int mu = rv_stixels_value(&plane, 0);
  const int32_t cut = cut_cost(plan, k.c, bottom);
  const size_t last = (size_t)(bottom - 1) * k.count;
  unsigned long long best = NONE;
  for (int below = 0; below < k.count; below++) {
    const int32_t under = k.cost[last + below];
    if (under >= RV_STIXELS_INFINITE)
      continue;
    const int32_t cost =
        own + cut + under + k.kinds->transition[kind][below] +
        rv_stixels_step(&plan, structure, k.kinds->structure[below], mu, k.next[last + below]);
    if (cost < RV_STIXELS_INFINITE)
      best = min(best, candidate_of(cost, bottom, below));
  }
  return best;
}

/* All stixels that end in `top`. */
static __device__ void solve_row(const RvStixelsPlan &plan, const KindsColumn &k, int top,
                                 unsigned long long *best) {
  const int kind = (int)threadIdx.x;
  if (kind < k.count)
    best[kind] = NONE;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < (top + 1) * k.count && k.c.cuts[top + 1]; i += THREADS) {
    const int of = i % k.count, bottom = i / k.count;
    if (k.c.cuts[bottom] &&
        (k.kinds->structure[of] != RV_STIXEL_SKY || rv_stixels_is_sky_row(&k.c.ground, bottom))) {
      const unsigned long long key = best_of(plan, k, of, bottom, top);
      if (key != NONE)
        atomicMin(&best[of], key);
    }
  }
  __syncthreads();
  if (kind < k.count) {
    const unsigned long long key = best[kind];
    const size_t at = (size_t)top * k.count + kind;
    const int bottom = key == NONE ? 0 : (int)((uint32_t)key >> 8);
    RvStixelsPlane plane = {0, 0};
    if (key != NONE)
      (void)depth_cost(k, kind, bottom, top, &plane);
    k.cost[at] = key == NONE ? RV_STIXELS_INFINITE : (int32_t)((uint32_t)(key >> 32) ^ 0x80000000u);
    k.next[at] = rv_stixels_value(&plane, top + 1 - bottom);
    k.link[at] = key == NONE ? 0u : (uint32_t)bottom | ((uint32_t)key & 0xffu) << 16;
  }
  __syncthreads();
}

/* One thread follows the stored lowest rows down from the top. */
static __device__ void choose(const RvStixelsPlan &plan, const KindsColumn &k) {
  int top = plan.rows - 1, kind = 0;
  const int32_t *last = k.cost + (size_t)top * k.count;
  for (int other = 1; other < k.count; other++)
    kind = last[other] < last[kind] ? other : kind;
  while (top >= 0) {
    const size_t at = (size_t)top * k.count + kind;
    k.one_cost[top] = k.cost[at];
    k.one_link[top] = k.link[at];
    k.one_kind[top] = (uint8_t)kind;
    top = (int)(k.link[at] & 0xffff) - 1;
    kind = (int)(k.link[at] >> 16);
  }
}

/* --- Kernel ---------------------------------------------------------------------------------- */

static size_t sums_bytes(const RvStixelsPlan *plan) {
  return (size_t)(plan->rows + 1) * sizeof(RvStixelsSums);
}

size_t rv_stixels_cuda_kinds_scratch(const RvStixelsPlan *plan) {
  const size_t n = plan->rows;
  const size_t words = (n + 1) * (key_layout_of(plan).pitch + 1) + 3 * n * plan->kinds + 3 * n;
  return (sums_bytes(plan) + words * sizeof(uint32_t) + 2 * n + 1 + 15) / 16 * 16;
}

/* The scratch of column x. */
static __device__ KindsColumn column_at(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                        size_t x) {
  const size_t rows = plan.rows, each = rows * plan.kinds;
  char *scratch = work.kinds_columns + x * work.kinds_scratch;
  KindsColumn k;
  k.c.layout = key_layout_of(&plan);
  k.c.sums = (RvStixelsSums *)scratch;
  k.c.keys = (uint32_t *)(k.c.sums + rows + 1);
  k.c.sky = (int32_t *)(k.c.keys + (rows + 1) * k.c.layout.pitch);
  k.cost = k.c.sky + rows + 1;
  k.next = k.cost + each;
  k.link = (uint32_t *)(k.next + each);
  k.links = k.link + each;
  k.one_link = k.links + rows;
  k.one_cost = (int32_t *)(k.one_link + rows);
  k.one_kind = (uint8_t *)(k.one_cost + rows);
  k.c.cuts = k.one_kind + rows;
  k.c.cells = work.cells + x * rows;
  k.c.semantics = work.semantics + x * rows * plan.semantics;
  k.c.table = work.table;
  k.c.cut_cost = work.cuts;
  k.kinds = work.kinds;
  k.count = plan.kinds;
  return k;
}

static __global__ void __launch_bounds__(THREADS)
    kinds_kernel(const __grid_constant__ RvStixelsPlan plan,
                 const __grid_constant__ RvStixelsCuda work, const __grid_constant__ Output out) {
  extern __shared__ __align__(16) char memory[];
  __shared__ unsigned long long best[RV_STIXELS_KINDS];
  const Turn turn = begin_turn(plan, work);
  KindsColumn k = column_at(plan, work, turn.column);
  const RvStixelsState state = expect_ground(plan, work, out.surface, turn);
  k.c.ground = state.ground;
  sum_cells(plan, k.c);
  rv_launch_wait();
  sum_semantics(plan, k.c);
  find_cuts(plan, work.network, k.c, (uint32_t *)memory,
            out.list.cuts ? out.list.cuts + turn.column * plan.rows : NULL);
  __syncthreads();
  for (int top = 0; top < plan.rows; top++)
    solve_row(plan, k, top, best);
  if (threadIdx.x == 0)
    choose(plan, k);
  __syncthreads();
  RvStixel *records = rv_stixels_has_records(&plan) && out.list.stixels ? (RvStixel *)memory : NULL;
  finish<WARPS>(plan, work, k, out, turn, state, records, [&](int, int bottom, int top) {
    RvStixelsPlane plane;
    (void)depth_cost(k, k.one_kind[top], bottom, top, &plane);
    return plane;
  });
}

RvStatus rv_stixels_cuda_open_kinds(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  const RvLog *log = &plan->config.log;
  RvStixelsKinds *kinds =
      (RvStixelsKinds *)rv_object_memory(log, "stixels", sizeof(RvStixelsKinds));
  if (!kinds)
    return RV_ERR_NO_MEMORY;
  rv_stixels_make_kinds(plan, kinds);
  const RvStatus status = rv_copy_to_device(work->kinds, kinds, sizeof *kinds, NULL);
  rv_memory_free(kinds, RV_CPU);
  return status;
}

RvStatus rv_stixels_cuda_kinds(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const size_t records = rv_stixels_has_records(plan) ? plan->rows * sizeof(RvStixel) : 0;
  const size_t words = work->network ? RV_STIXELS_NETWORK_WORDS * sizeof(uint32_t) : 0;
  const size_t shared = records > words ? records : words;
  return rv_launch(
      &plan->config.log, kinds_kernel, dim3(plan->columns), dim3(THREADS), shared, job->stream,
      work->is_chained, *plan, *work,
      Output{job->output, {job->input.disparity, job->input.labels}, job->input.surface});
}
