/* stixels_cuda_columns.cu: dynamic programming, backtracking and list, CUDA engine. One block takes
 * one column, 32 top rows at a time. First all warps try the stixels that begin below these rows:
 * what ends there is known. Then they work out the stixels within the 32 rows but for their
 * predecessors, and one warp, a lane a top row, goes through their lowest rows in order. */
#include "stixels_cuda_list.cuh"

#define WARPS 8 /* of a column's block */
#define THREADS (32 * WARPS)
#define STATE (int)(sizeof(Ending) / sizeof(int32_t))

/* What the block works on; the column's scratch follows. */
struct Desk {
  int32_t parts[WARPS][STATE][32];                 /* the warps' best, by top row */
  int32_t own[32][2 * RV_STIXELS_CLASSES + 1][32]; /* [bottom][cost, mu, next][top], of the tile */
};

/* Costs of three classes; mu and next of ground and object only. */
#define OWN_MU RV_STIXELS_CLASSES
#define OWN_NEXT (RV_STIXELS_CLASSES + 2)

size_t rv_stixels_cuda_scratch(const RvStixelsModel *m) {
  const size_t n = m->rows;
  const size_t flat = m->kind == RV_STIXELS_CONSTANT ? 2 * (n + 1) * sizeof(int32_t) : 0;
  return (n + 1) * sizeof(RvStixelsSums) + n * sizeof(Ending) + flat + n * sizeof(uint32_t) +
         (n + 1) * m->semantics * sizeof(uint32_t) + n + 1;
}

static __device__ __forceinline__ Ending nothing() {
  const Ending none = {
      {RV_STIXELS_INFINITE, RV_STIXELS_INFINITE, RV_STIXELS_INFINITE}, {0, 0}, {0, 0, 0}};
  return none;
}

/* Offers a stixel to the best of its top row (3.25, 4.9); last: what ends below it. */
static __device__ __forceinline__ void offer(const RvStixelsModel &m, Ending *best, int structure,
                                             const Own &own, int bottom, const Ending &last,
                                             bool is_legal) {
  int32_t from[RV_STIXELS_CLASSES];
#pragma unroll
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    from[k] = last.cost[k] +
              rv_stixels_pair(&m, structure, k, own.mu, k < RV_STIXEL_SKY ? last.next[k] : 0);
  const int32_t least = rv_min(rv_min(from[0], from[1]), from[2]);
  const int32_t cost = own.cost + (bottom > 0 ? least : 0);
  const uint32_t below = least == from[0] ? 0 : least == from[1] ? 1 : 2;
  const bool is_better = is_legal && cost < best->cost[structure];
  best->cost[structure] = is_better ? cost : best->cost[structure];
  best->link[structure] = is_better ? (uint32_t)bottom | below << 16 : best->link[structure];
  if (structure < RV_STIXEL_SKY)
    best->next[structure] = is_better ? own.next : best->next[structure];
}

/* Stixels that end in row `first` + lane and begin below `first`: each warp tries a range of lowest
 * rows, so that of equal costs that of the first warp wins. */
template <int KIND>
static __device__ void try_below(const RvStixelsModel &m, const Column &c, Desk *desk, int first) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, top = first + lane;
  Ending best = nothing();
  const RvStixelsSums upto = c.sums[rv_min(top, m.rows - 1) + 1];
  const int end = first * (warp + 1) / WARPS;
  for (int bottom = first * warp / WARPS; bottom < end; bottom++) {
    if (!c.cuts[bottom])
      continue;
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &upto);
    const Ending last = bottom > 0 ? c.ending[bottom - 1] : best;
    if (top >= m.rows || !c.cuts[top + 1])
      continue;
    offer(m, &best, 0, own_of<KIND>(m, c, 0, bottom, top, s), bottom, last, true);
    offer(m, &best, 1, own_of<KIND>(m, c, 1, bottom, top, s), bottom, last, true);
    if (rv_stixels_is_sky_row(&c.ground, bottom))
      offer(m, &best, 2, own_of<KIND>(m, c, 2, bottom, top, s), bottom, last, true);
  }
  const int32_t *state = (const int32_t *)&best;
#pragma unroll
  for (int k = 0; k < STATE; k++)
    desk->parts[warp][k][lane] = state[k];
}

/* The stixels within rows first .. first + 31, but for their predecessors. */
template <int KIND>
static __device__ void work_out(const RvStixelsModel &m, const Column &c, Desk *desk, int first) {
  const int lane = threadIdx.x % 32, top = first + lane;
  for (int k = threadIdx.x / 32; k < 32; k += WARPS) {
    const int bottom = first + k;
    if (k > lane || top >= m.rows || !c.cuts[bottom] || !c.cuts[top + 1])
      continue;
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
    int32_t(*out)[32] = desk->own[k];
#pragma unroll
    for (int structure = 0; structure < RV_STIXELS_CLASSES; structure++) {
      const Own own = own_of<KIND>(m, c, structure, bottom, top, s);
      if (structure < RV_STIXEL_SKY) {
        out[OWN_MU + structure][lane] = own.mu;
        out[OWN_NEXT + structure][lane] = own.next;
      }
      out[structure][lane] = structure < RV_STIXEL_SKY || rv_stixels_is_sky_row(&c.ground, bottom)
                                 ? own.cost
                                 : OUT_OF_REACH;
    }
  }
}

/* The best of all warps for a lane's top row. */
static __device__ __forceinline__ Ending gather(const Desk *desk, int first) {
  const int lane = threadIdx.x % 32;
  Ending best = nothing();
  if (first == 0)
    return best;
#pragma unroll
  for (int warp = 0; warp < WARPS; warp++)
#pragma unroll
    for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
      const int32_t cost = desk->parts[warp][k][lane];
      if (cost >= best.cost[k])
        continue;
      best.cost[k] = cost;
      if (k < RV_STIXEL_SKY)
        best.next[k] = desk->parts[warp][RV_STIXELS_CLASSES + k][lane];
      best.link[k] = (uint32_t)desk->parts[warp][RV_STIXELS_CLASSES + 2 + k][lane];
    }
  return best;
}

/* One warp goes through the lowest rows first .. first + 31 in order; what a lane has is final when
 * its own row has been its stixels' lowest. */
static __device__ void settle(const RvStixelsModel &m, const Column &c, const Desk *desk,
                              int first) {
  const int lane = threadIdx.x, top = first + lane, count = rv_min(m.rows - first, 32);
  Ending best = gather(desk, first);
  Ending last = first > 0 ? c.ending[first - 1] : best;
  const unsigned cuts = __ballot_sync(0xffffffffu, lane < count && c.cuts[top]);
  const bool is_top = lane < count && c.cuts[top + 1];
#pragma unroll 2
  for (int k = 0; k < count; k++) {
    const int32_t(*own)[32] = desk->own[k];
    const bool is_legal = is_top && k <= lane && (cuts >> k & 1);
#pragma unroll
    for (int structure = 0; structure < RV_STIXELS_CLASSES; structure++) {
      const Own mine = {own[structure][lane],
                        structure < RV_STIXEL_SKY ? own[OWN_MU + structure][lane] : 0,
                        structure < RV_STIXEL_SKY ? own[OWN_NEXT + structure][lane] : 0};
      offer(m, &best, structure, mine, first + k, last, is_legal);
    }
#pragma unroll
    for (int i = 0; i < RV_STIXELS_CLASSES; i++) {
      const int32_t cost = __shfl_sync(0xffffffffu, best.cost[i], k);
      last.cost[i] = cost < RV_STIXELS_INFINITE ? cost : OUT_OF_REACH;
    }
    last.next[0] = __shfl_sync(0xffffffffu, best.next[0], k);
    last.next[1] = __shfl_sync(0xffffffffu, best.next[1], k);
  }
#pragma unroll
  for (int i = 0; i < RV_STIXELS_CLASSES; i++)
    best.cost[i] = best.cost[i] < RV_STIXELS_INFINITE ? best.cost[i] : OUT_OF_REACH;
  if (lane < count)
    c.ending[top] = best;
  __syncwarp();
}

/* --- Kernel ---------------------------------------------------------------------------------- */

template <int KIND, bool SMALL>
static __global__ void __launch_bounds__(THREADS, 2)
    columns_kernel(const __grid_constant__ RvStixelsModel m,
                   const __grid_constant__ RvStixelsCuda work, const __grid_constant__ Output out,
                   int is_semantic) {
  extern __shared__ __align__(16) char shared[];
  __shared__ Turn turn;
  Desk *desk = (Desk *)shared;
  rv_stixels_let_others_start();
  rv_stixels_wait_for_others();
  if (threadIdx.x == 0)
    turn = take_turn(work);
  __syncthreads();
  const RvStixelsState state = follow_road<WARPS>(m, work, turn.column, turn.frame);
  const size_t x = turn.column, rows = m.rows;
  Column c;
  char *scratch = SMALL ? shared + sizeof(Desk) : work.columns + x * work.scratch;
  c.ending = (Ending *)scratch;
  c.sums = (RvStixelsSums *)(c.ending + rows);
  c.links = (uint32_t *)(c.sums + rows + 1);
  c.flat = (int32_t *)(c.links + rows);
  c.keys = is_semantic ? c.links + rows + (KIND == RV_STIXELS_CONSTANT ? 2 * (rows + 1) : 0) : NULL;
  c.cuts = (uint8_t *)(c.links + rows + (KIND == RV_STIXELS_CONSTANT ? 2 * (rows + 1) : 0) +
                       (rows + 1) * m.semantics);
  c.cells = work.cells + x * rows;
  c.semantics = work.semantics + x * rows * m.semantics;
  c.table = work.table;
  c.steps = work.steps + x * rv_stixels_pitch(m.rows) * (m.disparity_max + 1);
  c.ground = state.ground;
  sum_cells(m, c);
  if (c.keys)
    sum_semantics(m, c);
  find_cuts(m, c);
  if (KIND == RV_STIXELS_CONSTANT)
    sum_costs(m, c);
  for (int first = 0; first < m.rows; first += 32) {
    __syncthreads();
    if (first > 0)
      try_below<KIND>(m, c, desk, first);
    work_out<KIND>(m, c, desk, first);
    __syncthreads();
    if (threadIdx.x < 32)
      settle(m, c, desk, first);
  }
  RvStixel *records = rv_stixels_has_records(&m) && out.list.stixels ? (RvStixel *)desk : NULL;
  finish<WARPS>(m, work, c, out, turn, state, records, [&](int structure, int bottom, int top) {
    const RvStixelsSums s = rv_stixels_between(&c.sums[bottom], &c.sums[top + 1]);
    return rv_stixels_fit(&m, &c.ground, structure, &s, bottom).plane;
  });
}

typedef void (*Kernel)(const RvStixelsModel, const RvStixelsCuda, const Output, int);

template <bool SMALL> static Kernel kernel_for(int kind) {
  return kind == RV_STIXELS_SLANTED_FAST ? columns_kernel<RV_STIXELS_SLANTED_FAST, SMALL>
         : kind == RV_STIXELS_SLANTED    ? columns_kernel<RV_STIXELS_SLANTED, SMALL>
                                         : columns_kernel<RV_STIXELS_CONSTANT, SMALL>;
}

static Kernel kernel_of(const RvStixelsCuda *work, int kind) {
  return work->is_small ? kernel_for<true>(kind) : kernel_for<false>(kind);
}

static size_t shared_of(const RvStixelsCuda *work) {
  return sizeof(Desk) + (work->is_small ? work->scratch : 0);
}

RvStatus rv_stixels_cuda_open_columns(RvStixelsCuda *work, const RvStixelsModel *m,
                                      const RvLog *log) {
  if (rv_stixels_cuda_is_plain(m))
    RV_TRY(rv_stixels_cuda_open_constant(work, m, log));
  RV_CU(log,
        cudaFuncSetAttribute(kernel_of(work, m->kind), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_of(work)));
  return RV_OK;
}

RvStatus rv_stixels_cuda_columns(const RvStixelsCuda *work, const RvStixelsModel *m,
                                 const RvStixelsJob *job, const RvLog *log) {
  if (rv_stixels_cuda_is_plain(m) && !rv_stixels_has_semantics(job))
    return rv_stixels_cuda_constant(work, m, job, log);
  return rv_stixels_launch(work, kernel_of(work, m->kind), dim3(m->columns), THREADS,
                           shared_of(work), job->stream, log, *m, *work,
                           Output{job->output, job->disparity}, rv_stixels_has_semantics(job));
}
