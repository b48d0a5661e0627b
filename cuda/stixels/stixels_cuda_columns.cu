/* SPDX-License-Identifier: MIT */
/* stixels_cuda_columns.cu: dynamic programming, backtracking and list, CUDA engine. One block per
 * column, which processes tiles of up to 32 top rows. Warp 0 resolves a tile: it visits its lowest
 * rows in order, one lane per top row. Meanwhile the other warps compute the stixels within the
 * next tile, without their predecessors, and try those that end there and start below both tiles.
 * Then all warps try those that start in the resolved tile. With few cuts, tiles are of the portions
 * of the column between two cuts instead of its rows: template parameter SPARSE. */
#include "stixels/stixels_cuda_network.cuh"
#include "stixels/stixels_cuda_penalties.cuh"
#include "stixels/stixels_cuda_tries.cuh"

/* --- Size ------------------------------------------------------------------------------------ */

static bool is_sparse(const RvStixelsPlan *plan) {
  return plan->config.cuts != RV_STIXELS_CUTS_ALL;
}

size_t rv_stixels_cuda_scratch(const RvStixelsPlan *plan) {
  const size_t n = plan->rows;
  const size_t past = rv_stixels_is_bounded(plan) ? n * sizeof(int4) : 0;
  const size_t sums = sizeof(int32_t) * (plan->config.model == RV_STIXELS_CONSTANT ? 2 : 1);
  const size_t packed =
      plan->config.model == RV_STIXELS_SLANTED ? (n + EXCESS_GROUP) * sizeof(uint32_t) : 0;
  return past + (n + 1) * (sizeof(RvStixelsSums) + sizeof(Begin) + sums) + n * sizeof(Ending) +
         (n + 1) * key_layout_of(plan).pitch * sizeof(uint32_t) + n * sizeof(uint32_t) + packed +
         (is_sparse(plan) ? (n + 1) * sizeof(uint16_t) : 0) + n + 1;
}

size_t rv_stixels_cuda_across(const RvStixelsPlan *plan) {
  const bool is_used = plan->config.model == RV_STIXELS_SLANTED_FAST && !is_sparse(plan) &&
                       plan->semantics == 0 && plan->rows > 32 && plan->rows <= 64;
  return is_used ? sizeof(Across) : 0;
}

static_assert(sizeof(ColumnsShared::tiles) >= RV_STIXELS_NETWORK_WORDS * sizeof(uint32_t),
              "the network works in the memory of the tiles");

size_t rv_stixels_cuda_columns_shared(void) {
  return sizeof(ColumnsShared);
}

/* --- Order ----------------------------------------------------------------------------------- */

/* The best of all warps for the top row of a lane; ties: the lower start row. */
static __device__ __forceinline__ Best gather(const ColumnsShared *shared) {
  const int lane = threadIdx.x % 32;
  Best best = nothing();
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
#pragma unroll
    for (int warp = 0; warp < WARPS; warp++) {
      const int32_t cost = shared->parts[warp][k][lane];
      const int32_t bottom = shared->parts[warp][RV_STIXELS_CLASSES + k][lane];
      if (cost > best.cost[k] || (cost == best.cost[k] && bottom >= best.bottom[k]))
        continue;
      best.cost[k] = cost;
      best.bottom[k] = bottom;
    }
  return best;
}

static __device__ __forceinline__ int32_t reachable(int32_t cost) {
  return cost < RV_STIXELS_INFINITE ? cost : OUT_OF_REACH;
}

namespace {
/* What a pair of stixels costs. In registers: constants would be loaded in each step. */
struct Pairs {
  Rates gap, gravity, ordering;
  int32_t transition[RV_STIXELS_CLASSES][RV_STIXELS_CLASSES];
};
} // namespace

template <bool NEAR> static __device__ __forceinline__ Pairs pairs_of(const RvStixelsPlan &plan) {
  Pairs p;
  p.gap = rates_of<NEAR>(plan.gap[0], plan.gap[1]);
  p.gravity = rates_of<NEAR>(plan.gravity[0], plan.gravity[1]);
  p.ordering = rates_of<NEAR>({0, 0}, plan.ordering);
#pragma unroll
  for (int i = 0; i < RV_STIXELS_CLASSES; i++)
#pragma unroll
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      p.transition[i][k] = held(plan.transition[i][k]);
  return p;
}

/* Whether no penalty is above 4 nats per px, and gravity has no constant part. */
static __device__ __forceinline__ bool has_plain_steps(const RvStixelsPlan &plan,
                                                       const RvStixelsCuda &work) {
  const uint32_t limit = (4u * RV_STIXELS_COST_STEPS) << 12;
  return work.has_plain_penalties && plan.gap[0].beta <= limit && plan.gap[1].beta <= limit;
}

/* Costs by class of the stixels of a step above the best ones below. */
template <bool NEAR>
static __device__ __forceinline__ void add_step(const Pairs &p, const Begin &begin,
                                                const Costs &step, int32_t sky, int32_t cost[3]) {
  cost[GROUND] = step.cost[GROUND] +
                 rv_min(begin.ground_ground + penalty_of<NEAR>(p.gap, step.mu[0] - begin.next[0]),
                        begin.ground);
  const int32_t above_ground =
      begin.object_ground + gravity_of<NEAR>(p.gravity, step.mu[1] - begin.next[0]);
  const int32_t above_object =
      begin.object_object + ordering_of<NEAR>(p.ordering, step.mu[1] - begin.next[1]);
  cost[OBJECT] = step.cost[OBJECT] + rv_min(rv_min(above_ground, begin.object), above_object);
  cost[SKY] = sky + begin.sky;
}

namespace {
/* What a lane knows while a tile is resolved: the best stixels that end in its row. */
struct Front {
  int32_t cost[RV_STIXELS_CLASSES];
  int from[RV_STIXELS_CLASSES]; /* lowest row in the tile; -1: below it */
  int next[2];
};
} // namespace

/* The best stixels that end in the row of a lane and start below the tile, with their planes. */
template <int KIND, int USUAL>
static __device__ __forceinline__ Best start_front(const RvStixelsPlan &plan, const Column &c,
                                                   const ColumnsShared *shared, int top,
                                                   Front *front, int mu[2]) {
  const Best best = gather(shared);
#pragma unroll
  for (int k = 0; k < SKY; k++) {
    const int bottom = best.bottom[k], at = 32 * bottom + (int)threadIdx.x % 32;
    if (KIND == RV_STIXELS_SLANTED_FAST && c.across) {
      mu[k] = c.across->costs[at].mu[k];
      front->next[k] = c.across->planes[at].next[k];
      continue;
    }
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
    assume_planes<KIND, USUAL>(plan);
    const RvStixelsPlane plane = rv_stixels_fit(&plan, &c.ground, k, &s, bottom).plane;
    mu[k] = rv_stixels_value(&plane, 0);
    front->next[k] = rv_stixels_value(&plane, top + 1 - bottom);
  }
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    front->cost[k] = best.cost[k];
  return best;
}

/* Visits the lowest portions of a tile in order. The stixels that end in a row are final after their
 * own row was the lowest one. */
template <bool SPARSE, bool NEAR>
static __device__ __forceinline__ void visit(const RvStixelsPlan &plan, const Column &c,
                                             const Tile *own, int first, int count, int tile,
                                             Front *front) {
  const int lane = threadIdx.x % 32;
  const Pairs pairs = pairs_of<NEAR>(plan);
  Begin begin = c.begin[first];
  int slot = lane;
  Costs step = own->costs[slot];
  Planes planes = own->planes[slot];
  int32_t sky = own->sky[slot];
#pragma unroll 2
  for (int k = 0; k < count; k++) {
    slot += tile - 1 - k; /* loaded early, to hide its latency */
    const Costs next = own->costs[slot];
    const Planes next_planes = own->planes[slot];
    const int32_t next_sky = own->sky[slot];
    int32_t cost[RV_STIXELS_CLASSES], last[RV_STIXELS_CLASSES], last_next[2];
    add_step<NEAR>(pairs, begin, step, sky, cost);
#pragma unroll
    for (int i = 0; i < RV_STIXELS_CLASSES; i++) {
      const bool is_better = k <= lane && cost[i] < front->cost[i];
      front->cost[i] = is_better ? cost[i] : front->cost[i];
      front->from[i] = is_better ? k : front->from[i];
      last[i] = reachable(__shfl_sync(RV_WARP, front->cost[i], k));
      if (i == SKY)
        continue;
      front->next[i] = is_better ? planes.next[i] : front->next[i];
      last_next[i] = __shfl_sync(RV_WARP, front->next[i], k);
    }
    begin = begin_after(pairs.transition, last, last_next,
                        SPARSE ? cut_cost(plan, c, row_of<SPARSE>(c, first + k + 1)) : 0);
    c.begin[first + k + 1] = begin; /* the same in all lanes */
    step = next;
    planes = next_planes;
    sky = next_sky;
  }
}

/* One warp resolves the tile at `first`. */
template <int KIND, int USUAL, bool SPARSE>
static __device__ void resolve(const RvStixelsPlan &plan, const Column &c,
                               const ColumnsShared *shared, int first, int tile, bool is_plain) {
  const int lane = threadIdx.x % 32, count = rv_min(portions_of<SPARSE>(plan, c) - first, tile);
  const int top = row_of<SPARSE>(c, first + rv_min(lane, count - 1) + 1) - 1;
  const Tile *own = &shared->tiles[first / tile % 2];
  Best best = nothing();
  Front front = {{best.cost[0], best.cost[1], best.cost[2]}, {-1, -1, -1}, {0, 0}};
  int mu[2] = {0, 0};
  if (first > 0)
    best = start_front<KIND, USUAL>(plan, c, shared, top, &front, mu);
  __syncwarp();
  if (KIND == RV_STIXELS_SLANTED_FAST && USUAL && is_plain)
    visit<SPARSE, true>(plan, c, own, first, count, tile, &front);
  else
    visit<SPARSE, false>(plan, c, own, first, count, tile, &front);
  Ending ending = {{reachable(front.cost[0]), reachable(front.cost[1]), reachable(front.cost[2])},
                   {front.next[0], front.next[1]},
                   {0, 0, 0}};
  if (lane < count)
    c.ending[top] = ending;
  __syncwarp();
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    const int from = front.from[k];
    const int bottom = from < 0 ? best.bottom[k] : row_of<SPARSE>(c, first + from);
    const int own_mu = k < SKY ? own->costs[pair_of(rv_max(from, 0), lane, tile)].mu[k] : 0;
    ending.link[k] = link_to(plan, c, k, bottom, k == SKY ? 0 : from < 0 ? mu[k] : own_mu);
  }
  if (lane < count)
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      c.ending[top].link[k] = ending.link[k];
  __syncwarp();
}

namespace {
/* How the warps of a block work, with BLOCKS of them at once on an SM. In `slanted-fast`, and with
 * three blocks, the warp that resolves is alone on its scheduler; in `slanted` sums take longer. */
template <int KIND, int BLOCKS> struct Order {
  static const bool is_alone = KIND == RV_STIXELS_SLANTED_FAST || BLOCKS > 2;
  static const int workers = is_alone ? WARPS - WARPS / SCHEDULERS : WARPS - 1;

  /* Number of a warp. Those numbered 0 of two blocks on an SM, half of the columns apart, are on
   * different schedulers. */
  static __device__ __forceinline__ int warp(unsigned column) {
    const bool is_late = KIND == RV_STIXELS_SLANTED_FAST && BLOCKS == 2 && 2 * column >= gridDim.x;
    return ((int)threadIdx.x / 32 + (is_late ? WARPS - 1 : 0)) % WARPS;
  }

  /* Number among those that work while warp 0 resolves; -1: none of them. */
  static __device__ __forceinline__ int worker(int warp) {
    return !is_alone ? warp - 1 : warp % SCHEDULERS == 0 ? -1 : warp - warp / SCHEDULERS - 1;
  }
};
} // namespace

/* Barrier of the workers. */
template <typename O> static __device__ __forceinline__ void sync_workers() {
  asm volatile("bar.sync 1, %0;" ::"n"(32 * O::workers) : "memory");
}

/* What the bounds of the tile at `next` need, by the workers, above the tile at `first`. */
template <int KIND, int USUAL, typename O>
static __device__ __forceinline__ void compute_bounds(const RvStixelsPlan &plan, const Column &c,
                                                      ColumnsShared *shared, int first, int next,
                                                      int worker) {
  const int last = O::workers - 1;
  if (worker == last)
    compute_ahead<KIND, USUAL>(plan, c, shared, next);
  else if (worker == last - 1)
    compute_limit<KIND, USUAL>(plan, c, shared, first, next);
  else
    compute_past<KIND, USUAL>(plan, c, next, next, last - 2 - worker, last - 1);
  sync_workers<O>();
}

/* The same where only stixels that start below the tile at `first` have bounds. Their limits are the
 * best stixels that start in it, which are known when it is resolved. */
template <int KIND, int USUAL, typename O>
static __device__ __forceinline__ void compute_far(const RvStixelsPlan &plan, const Column &c,
                                                   ColumnsShared *shared, int first, int next,
                                                   int worker) {
  const int last = O::workers - 1;
  if (worker == last) {
    compute_ahead<KIND, USUAL>(plan, c, shared, next);
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      shared->limit[k][threadIdx.x % 32] = RV_STIXELS_INFINITE;
  } else {
    compute_past<KIND, USUAL>(plan, c, next, first, worker, last);
  }
  if (USUAL == WITH_CLASSES && worker == last - 1)
    copy_past(c, &shared->tiles[first / (next - first) % 2], first, next - first);
}

/* Tries those stixels; best: of the warp, of those that start in the tile. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void try_far(const RvStixelsPlan &plan, const Column &c,
                                               ColumnsShared *shared, const Tile *above, int first,
                                               int next, int tile, int warp, Best *best) {
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    atomicMin(&shared->limit[k][threadIdx.x % 32], best->cost[k]);
  __syncthreads();
  if (warp < first)
    try_bounded<KIND, USUAL>(plan, c, shared, above, next, tile, warp, first, WARPS, best);
}

/* Tries all stixels that start below the tile at `next`, with classes: those that start in the tile
 * at `first`, then those that start below it. One loop: the code is there once. */
template <int KIND, int USUAL>
static __device__ __forceinline__ void
try_near_and_far(const RvStixelsPlan &plan, const Column &c, ColumnsShared *shared,
                 const Tile *above, int first, int next, int tile, int warp, Best *best) {
#pragma unroll 1
  for (int part = 0; part < (first > 0 ? 2 : 1); part++) {
    if (part) {
      for (int k = 0; k < RV_STIXELS_CLASSES; k++)
        atomicMin(&shared->limit[k][threadIdx.x % 32], best->cost[k]);
      __syncthreads();
    }
    const int begin = part ? warp : first + warp, end = part ? first : next;
    if (begin < end)
      try_bounded<KIND, USUAL>(plan, c, shared, above, next, tile, begin, end, WARPS, best,
                               part > 0);
  }
}

/* Warp 0 resolves the tile at `first`, if any, while the workers compute the next. */
template <int KIND, int USUAL, bool SPARSE, typename O>
static __device__ __forceinline__ void resolve_all(const RvStixelsPlan &plan, const Column &c,
                                                   ColumnsShared *shared, unsigned column,
                                                   bool is_plain) {
  const int lane = threadIdx.x % 32, warp = O::warp(column), worker = O::worker(warp);
  const int portions = portions_of<SPARSE>(plan, c);
  const int tiles = rv_div_up(portions, 32), tile = rv_div_up(portions, tiles);
  const bool can_bound = KIND == RV_STIXELS_SLANTED_FAST && USUAL && !SPARSE;
  const bool has_bounds = can_bound && tiles >= BOUNDED_TILES;
  const bool is_near = USUAL == WITH_CLASSES; /* stixels that start in the tile have bounds too */
  const bool has_tables = KIND == RV_STIXELS_SLANTED_FAST && !SPARSE && c.across;
  if (threadIdx.x == 0)
    shared->taken = 0;
  for (int first = -tile; first < portions; first += tile) {
    const int next = first + tile, busy = first >= 0; /* warps that resolve */
    const bool has_far = can_bound && !has_bounds && (is_near || tiles >= FAR_TILES) &&
                         first > (is_near ? -1 : 0) && next < portions;
    Tile *above = &shared->tiles[next / tile % 2];
    Best best = nothing();
    if (warp < busy)
      resolve<KIND, USUAL, SPARSE>(plan, c, shared, first, tile, is_plain);
    else if (next < portions && (!busy || worker >= 0))
      compute_tile<KIND, USUAL, SPARSE>(plan, c, above, next, tile, busy ? worker : warp,
                                        busy ? O::workers : WARPS);
    __syncwarp();
    if (has_tables && busy && next < portions && (warp == 0 || worker >= 0))
      compute_across<KIND, USUAL>(plan, c, shared, next);
    if (KIND == RV_STIXELS_SLANTED && warp == WARPS - 1)
      for (int k = 0; k < 2; k++)
        shared->least[(next / tile + 1) % 2][k][lane] = RV_STIXELS_INFINITE;
    if (has_bounds && worker >= 0 && busy && next < portions)
      compute_bounds<KIND, USUAL, O>(plan, c, shared, first, next, worker);
    if (has_far && worker >= 0)
      compute_far<KIND, USUAL, O>(plan, c, shared, first, next, worker);
#pragma unroll 1
    for (int pass = 0; pass < 2 && busy; pass++) {
      const int begin = pass ? first + warp : worker, end = pass ? next : has_far ? 0 : first;
      const int step = pass ? WARPS : O::workers;
      const bool is_used = next < portions && begin >= 0 && begin < end && !(is_near && has_far);
      if (is_used && has_tables)
        try_across(plan, c, begin, end, step, &best);
      else if (is_used && has_bounds)
        try_bounded<KIND, USUAL>(plan, c, shared, pass ? above : NULL, next, tile, begin, end, step,
                                 &best);
      else if (is_used && KIND == RV_STIXELS_SLANTED)
        try_within<USUAL, SPARSE>(plan, c, shared->least[next / tile % 2], pass ? above : NULL,
                                  next, tile, begin, end, step, &best);
      else if (!is_near && is_used)
        try_below<KIND, USUAL, SPARSE>(plan, c, next, begin, end, step, &best);
      if (pass == 0)
        __syncthreads();
    }
    if (has_far && is_near)
      try_near_and_far<KIND, USUAL>(plan, c, shared, above, first, next, tile, warp, &best);
    else if (has_far)
      try_far<KIND, USUAL>(plan, c, shared, above, first, next, tile, warp, &best);
#pragma unroll
    for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
      shared->parts[warp][k][lane] = best.cost[k];
      shared->parts[warp][RV_STIXELS_CLASSES + k][lane] = best.bottom[k];
    }
    __syncthreads();
  }
}

/* --- Kernel ---------------------------------------------------------------------------------- */

/* The scratch of a column, in shared or global memory. */
template <int KIND, int USUAL, bool SPARSE>
static __device__ __forceinline__ Column column_at(const RvStixelsPlan &plan,
                                                   const RvStixelsCuda &work, char *scratch,
                                                   size_t x, int is_semantic) {
  const size_t rows = plan.rows;
  Column c;
  c.layout = key_layout_of(&plan);
  const bool is_across = KIND == RV_STIXELS_SLANTED_FAST && !SPARSE && work.is_across;
  c.across = is_across ? (Across *)scratch : NULL;
  c.ending = (Ending *)(scratch + (is_across ? sizeof(Across) : 0));
  c.begin = (Begin *)(c.ending + rows);
  c.past = (int4 *)(c.begin + rows + 1);
  c.sums = (RvStixelsSums *)(c.past + (KIND == RV_STIXELS_SLANTED_FAST && USUAL ? rows : 0));
  uint32_t *keys = (uint32_t *)(c.sums + rows + 1);
  c.keys = is_semantic ? keys : NULL;
  c.links = keys + (rows + 1) * c.layout.pitch;
  c.sky = (int32_t *)(c.links + rows);
  c.flat = c.sky + rows + 1;
  c.packed = (uint32_t *)(c.flat + (KIND == RV_STIXELS_CONSTANT ? rows + 1 : 0));
  c.at = (uint16_t *)(c.packed + (KIND == RV_STIXELS_SLANTED ? rows + EXCESS_GROUP : 0));
  c.cuts = (uint8_t *)(c.at + (SPARSE ? rows + 1 : 0));
  c.cells = work.cells + x * rows;
  c.semantics = work.semantics + x * rows * plan.semantics;
  c.table = work.table;
  c.cut_cost = work.cuts;
  c.steps = work.steps + x * rv_stixels_pitch(plan.rows) * (plan.config.max_disparity + 1);
  return c;
}

/* The portions between cuts: their first rows in c.at. Returns their number, in all threads. */
static __device__ int find_portions(const RvStixelsPlan &plan, const Column &c) {
  const int lane = threadIdx.x % 32;
  int count = 0;
  for (int from = 0; from <= plan.rows; from += 32) {
    const int v = from + lane;
    const bool is_cut = v <= plan.rows && c.cuts[v];
    const unsigned cuts = __ballot_sync(RV_WARP, is_cut);
    if (threadIdx.x < 32 && is_cut)
      c.at[count + __popc(cuts & ((1u << lane) - 1))] = (uint16_t)v;
    count += __popc(cuts);
  }
  return count - 1;
}

/* BLOCKS: at once on an SM. */
template <int KIND, int USUAL, bool SPARSE, bool SMALL, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    columns_kernel(const __grid_constant__ RvStixelsPlan plan,
                   const __grid_constant__ RvStixelsCuda work, const __grid_constant__ Output out,
                   int is_semantic) {
  extern __shared__ __align__(16) char memory[];
  ColumnsShared *shared = (ColumnsShared *)memory;
  const Turn turn = begin_turn(plan, work);
  const size_t x = turn.column;
  Column c = column_at<KIND, USUAL, SPARSE>(
      plan, work, SMALL ? memory + sizeof(ColumnsShared) : work.columns + x * work.scratch, x,
      is_semantic);
  if (KIND == RV_STIXELS_SLANTED)
    pack_cells(plan, c);
  const RvStixelsState state = expect_ground(plan, work, out.surface, turn);
  c.ground = state.ground;
  sum_cells(plan, c);
  if (c.keys) {
    rv_launch_wait();
    sum_semantics(plan, c);
  }
  uint8_t *codes = out.list.cuts ? out.list.cuts + x * plan.rows : NULL;
  if (SPARSE)
    find_cuts(plan, work.network, c, (uint32_t *)shared->tiles, codes);
  else
    allow_all(plan, c, codes);
  if (KIND == RV_STIXELS_CONSTANT)
    sum_costs(plan, c);
  if (threadIdx.x == 0)
    c.begin[0] = begin_first(plan);
  __syncthreads();
  if (SPARSE) {
    c.portions = find_portions(plan, c);
    __syncthreads();
  }
  resolve_all<KIND, USUAL, SPARSE, Order<KIND, BLOCKS>>(plan, c, shared, turn.column,
                                                        has_plain_steps(plan, work));
  RvStixel *records = rv_stixels_has_records(&plan) && out.list.stixels ? (RvStixel *)shared : NULL;
  finish<WARPS>(plan, work, c, out, turn, state, records, [&](int structure, int bottom, int top) {
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
    assume_planes<KIND, USUAL>(plan);
    return rv_stixels_fit(&plan, &c.ground, structure, &s, bottom).plane;
  });
}

typedef void (*Kernel)(const RvStixelsPlan, const RvStixelsCuda, const Output, int);

template <int USUAL, bool SPARSE, bool SMALL> static Kernel kernel_for(int kind) {
  return kind == RV_STIXELS_SLANTED_FAST
             ? columns_kernel<RV_STIXELS_SLANTED_FAST, USUAL, SPARSE, SMALL, 2>
         : kind == RV_STIXELS_SLANTED
             ? columns_kernel<RV_STIXELS_SLANTED, USUAL, SPARSE, SMALL, 2>
             : columns_kernel<RV_STIXELS_CONSTANT, !SPARSE, SPARSE, SMALL, 2>;
}

/* For as many columns as three blocks per SM. */
template <int USUAL, bool SPARSE> static Kernel narrow_kernel_for(int kind) {
  return kind == RV_STIXELS_SLANTED_FAST
             ? columns_kernel<RV_STIXELS_SLANTED_FAST, USUAL, SPARSE, true, 3>
             : columns_kernel<RV_STIXELS_SLANTED, USUAL, SPARSE, true, 3>;
}

static Kernel kernel_of(const RvStixelsCuda *work, const RvStixelsPlan *plan, bool is_semantic) {
  const RvStixelsModelKind kind = plan->config.model;
  const bool is_narrow = work->is_narrow && kind != RV_STIXELS_CONSTANT;
  if (is_sparse(plan))
    return is_narrow        ? narrow_kernel_for<false, true>(kind)
           : work->is_small ? kernel_for<false, true, true>(kind)
                            : kernel_for<false, true, false>(kind);
  if (is_usual(plan) && is_semantic && kind == RV_STIXELS_SLANTED_FAST)
    return is_narrow ? columns_kernel<RV_STIXELS_SLANTED_FAST, WITH_CLASSES, false, true, 3>
           : work->is_small
               ? columns_kernel<RV_STIXELS_SLANTED_FAST, WITH_CLASSES, false, true, 2>
               : columns_kernel<RV_STIXELS_SLANTED_FAST, WITH_CLASSES, false, false, 2>;
  if (is_usual(plan))
    return is_narrow        ? narrow_kernel_for<true, false>(kind)
           : work->is_small ? kernel_for<true, false, true>(kind)
                            : kernel_for<true, false, false>(kind);
  return work->is_small ? kernel_for<false, false, true>(kind)
                        : kernel_for<false, false, false>(kind);
}

static size_t shared_of(const RvStixelsCuda *work) {
  return sizeof(ColumnsShared) + (work->is_small ? work->scratch : 0);
}

RvStatus rv_stixels_cuda_open_columns(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  if (plan->semantics > 0)
    RV_TRY(rv_launch_allow_shared(&plan->config.log, kernel_of(work, plan, true)));
  return rv_launch_allow_shared(&plan->config.log, kernel_of(work, plan, false));
}

RvStatus rv_stixels_cuda_columns(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const int is_semantic = rv_stixels_has_semantics(job);
  if (rv_stixels_has_kinds(job))
    return rv_stixels_cuda_kinds(memory, job);
  if (work->is_constant && !is_semantic)
    return rv_stixels_cuda_constant(memory, job);
  return rv_launch(
      &plan->config.log, kernel_of(work, plan, is_semantic != 0), dim3(plan->columns),
      dim3(THREADS), shared_of(work), job->stream, work->is_chained, *plan, *work,
      Output{job->output, {job->input.disparity, job->input.labels}, job->input.surface},
      is_semantic);
}
