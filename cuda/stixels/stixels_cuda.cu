/* SPDX-License-Identifier: MIT */
/* stixels_cuda.cu: the CUDA engine of stixels: memory, cells and rendering. */
#include "stixels/stixels_cuda.cuh"

/* --- Memory ---------------------------------------------------------------------------------- */

namespace {
/* Limits of the current device; without a device those of compute capability 7.5, for which the
 * workspace is an upper limit. */
struct Device {
  int major, processors;
  int shared_block, shared_sm; /* bytes */
};
} // namespace

static Device current_device(void) {
  int device = 0;
  Device d = {0, 0, 0, 0};
  RvCudaDevice limits = {};
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&d.major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      rv_cuda_device(NULL, &limits) == RV_OK &&
      cudaDeviceGetAttribute(&d.shared_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
          cudaSuccess &&
      cudaDeviceGetAttribute(&d.shared_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) ==
          cudaSuccess) {
    d.processors = limits.processors;
    return d;
  }
  (void)cudaGetLastError(); /* new() reports the error */
  return {7, 0, 65536, 65536};
}

static void choose(RvStixelsCuda *work, const RvStixelsPlan *plan) {
  const Device device = current_device();
  const bool is_constant = rv_stixels_cuda_is_constant(plan);
  work->is_chained = device.major >= 9;
  work->is_constant = is_constant;
  work->is_resident = is_constant && rv_stixels_cuda_is_resident(plan, device.shared_block);
  work->is_paired = work->is_resident && plan->columns > device.processors &&
                    rv_stixels_cuda_is_paired(plan, device.shared_sm);
  work->has_columns = !is_constant || plan->semantics > 0;
  const size_t across = rv_stixels_cuda_across(plan),
               shared = rv_stixels_cuda_columns_shared() + RV_STIXELS_SHARED_RESERVED;
  work->is_across = across > 0 && plan->columns <= 2 * device.processors &&
                    shared + work->scratch + across <= device.shared_sm / 2u;
  work->scratch += work->is_across ? across : 0;
  work->is_small =
      work->scratch <= RV_STIXELS_SHARED || shared + work->scratch <= device.shared_sm / 2u;
  work->is_narrow = work->is_small && plan->columns > 2 * device.processors &&
                    plan->columns <= 3 * device.processors &&
                    shared + work->scratch <= device.shared_sm / 3u;
}

static void layout(void *memory, const void *memory_plan, RvArena *arena) {
  RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = (const RvStixelsPlan *)memory_plan;
  const size_t columns = plan->columns, rows = plan->rows;
  work->bins = RV_STIXELS_BOTTOMS * plan->bottom_step + 2;
  work->scratch = (rv_stixels_cuda_scratch(plan) + 15) / 16 * 16;
  const uint32_t limit = (4u * RV_STIXELS_COST_STEPS) << 12;
  work->has_plain_penalties = plan->gravity[0].beta <= limit && plan->gravity[1].beta <= limit &&
                              plan->ordering.beta <= limit && plan->gravity[0].alpha == 0 &&
                              plan->gravity[1].alpha == 0;
  choose(work, plan);
  work->table = (int32_t *)rv_arena_take(arena, 3 * RV_STIXELS_TABLE * sizeof *work->table);
  work->state = (RvStixelsState *)rv_arena_take(arena, 2 * sizeof *work->state);
  work->cells = (RvStixelsCell *)rv_arena_take(arena, columns * rows * sizeof *work->cells);
  work->scores = (uint16_t *)rv_arena_take(arena, RV_STIXELS_SCORE_STEPS * sizeof *work->scores);
  work->cuts = (int32_t *)rv_arena_take(arena, RV_STIXELS_CUT_CODES * sizeof *work->cuts);
  work->network = plan->config.cuts == RV_STIXELS_CUTS_NETWORK
                      ? (RvStixelsNetwork *)rv_arena_take(arena, sizeof(RvStixelsNetwork))
                      : NULL;
  work->semantics =
      (uint16_t *)rv_arena_take(arena, columns * rows * plan->semantics * sizeof *work->semantics);
  work->own =
      rv_stixels_shares(plan)
          ? (uint16_t *)rv_arena_take(arena, columns * rows * plan->semantics * sizeof *work->own)
          : work->semantics;
  const size_t judged = rv_stixels_repairs(plan) ? columns * rows : 0;
  work->spots = judged ? (RvStixelsSpot *)rv_arena_take(arena, judged * sizeof *work->spots) : NULL;
  work->verdicts = judged ? (uint8_t *)rv_arena_take(arena, judged) : NULL;
  work->judged = judged ? (uint32_t *)rv_arena_take(arena, 2 * sizeof *work->judged) : NULL;
  work->below =
      (RvStixelsBelow *)rv_arena_take(arena, rows * (work->bins + 1) * sizeof *work->below);
  work->vote = (RvStixelsVote *)rv_arena_take(arena, sizeof *work->vote);
  work->votes = (uint16_t *)rv_arena_take(arena, rows * work->bins * sizeof *work->votes);
  work->queue = (unsigned long long *)rv_arena_take(arena, sizeof *work->queue);
  work->counts = (unsigned long long *)rv_arena_take(arena, columns * sizeof *work->counts);
  work->columns = work->has_columns && !work->is_small
                      ? (char *)rv_arena_take(arena, columns * work->scratch)
                      : NULL;
  work->kinds_scratch = plan->kinds ? rv_stixels_cuda_kinds_scratch(plan) : 0;
  work->kinds = plan->kinds ? (RvStixelsKinds *)rv_arena_take(arena, sizeof(RvStixelsKinds)) : NULL;
  work->kinds_columns =
      plan->kinds ? (char *)rv_arena_take(arena, columns * work->kinds_scratch) : NULL;
  const size_t steps = (size_t)rv_stixels_pitch(plan->rows) * (plan->config.max_disparity + 1);
  work->steps =
      plan->config.model == RV_STIXELS_CONSTANT && (work->has_columns || !work->is_resident)
          ? (int32_t *)rv_arena_take(arena, columns * steps * sizeof *work->steps)
          : NULL;
}

static RvStatus upload_tables(const RvStixelsCuda *work, const RvStixelsPlan *plan) {
  const RvLog *log = &plan->config.log;
  RvStixelsTables *tables =
      (RvStixelsTables *)rv_object_memory(log, "stixels", sizeof(RvStixelsTables));
  if (!tables)
    return RV_ERR_NO_MEMORY;
  rv_stixels_make_tables(plan, tables);
  RvStatus status = rv_copy_to_device(work->table, tables->costs, sizeof tables->costs, NULL);
  if (status == RV_OK)
    status = rv_copy_to_device(work->scores, tables->scores, sizeof tables->scores, NULL);
  if (status == RV_OK)
    status = rv_copy_to_device(work->cuts, tables->cuts, sizeof tables->cuts, NULL);
  rv_memory_free(tables, RV_CPU);
  return status;
}

static RvStatus upload_network(const RvStixelsCuda *work, const RvStixelsConfig *config) {
  RvStixelsNetwork network;
  RV_TRY(rv_stixels_make_network(config, &network));
  return rv_copy_to_device(work->network, &network, sizeof network, NULL);
}

static RvStatus open(void *memory, const void *memory_plan) {
  RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = (const RvStixelsPlan *)memory_plan;
  const RvLog *log = &plan->config.log;
  RV_TRY(upload_tables(work, plan));
  if (work->network)
    RV_TRY(upload_network(work, &plan->config));
  if (plan->kinds)
    RV_TRY(rv_stixels_cuda_open_kinds(work, plan));
  for (int k = 0; k < 2; k++)
    RV_CU(log,
          cudaMemcpy(work->state + k, &plan->start, sizeof plan->start, cudaMemcpyHostToDevice));
  RV_CU(log, cudaMemset(work->queue, 0, sizeof *work->queue));
  RV_CU(log, cudaMemset(work->counts, 0, plan->columns * sizeof *work->counts));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* whichever stream run gets comes after */
  if (work->is_constant)
    RV_TRY(rv_stixels_cuda_open_constant(work, plan));
  return work->has_columns ? rv_stixels_cuda_open_columns(work, plan) : RV_OK;
}

/* --- Cells ----------------------------------------------------------------------------------- */

#define CELL_LANES 8 /* maximum number of lanes per cell */

namespace {
/* Sums over pixels, and the range of their disparities. */
struct Part {
  unsigned n, c;
  unsigned long long cd;
  unsigned least, most;
};
} // namespace

/* Adds the pixels above `above` in one row of a cell. */
static __device__ __forceinline__ void add_row(const RvStixelsPlan &plan, const uint16_t *d,
                                               const uint8_t *trust, int count, unsigned above,
                                               Part *part) {
  unsigned n = 0, c = 0, cd = 0; /* 64 x 255 x 65535 fits */
  if (!trust && count % 2 == 0 && (uintptr_t)d % 4 == 0) {
    const unsigned *pairs = (const unsigned *)d;
#pragma unroll 4
    for (int u = 0; u < count / 2; u++) {
      const unsigned pair = pairs[u];
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const unsigned value = k ? pair >> 16 : pair & 0xffff;
        n += value > above;
        cd += value > above ? value : 0;
        part->least = min(part->least, value > above ? value : 0xffffu);
        part->most = max(part->most, value);
      }
    }
    c = 255 * n;
    cd *= 255;
  } else {
#pragma unroll 4
    for (int u = 0; u < count; u++) {
      const unsigned value = d[u];
      const unsigned weight = value <= above ? 0
                              : trust        ? rv_stixels_confidence_weight(&plan, trust[u])
                                             : 255;
      n += value > above;
      c += weight;
      cd += weight * value;
      part->least = min(part->least, value > above ? value : 0xffffu);
      part->most = max(part->most, value);
    }
  }
  part->n += n;
  part->c += c;
  part->cd += cd;
}

/* Adds the pixels above `above` in rows of 8 px without confidences, aligned to 4 bytes: y,
 * y + step and so on. Two rows are loaded together. */
static __device__ __forceinline__ void add_eights(const char *data, ptrdiff_t stride, int y,
                                                  int end, int step, unsigned above, Part *part) {
  unsigned n = 0, cd = 0;
  for (; y < end; y += 2 * step) {
    const unsigned *a = (const unsigned *)(data + y * stride);
    const unsigned *b = (const unsigned *)(data + (y + step) * stride);
    unsigned pairs[8];
#pragma unroll
    for (int k = 0; k < 4; k++)
      pairs[k] = a[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
      pairs[4 + k] = y + step < end ? b[k] : 0;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const unsigned value = k % 2 ? pairs[k / 2] >> 16 : pairs[k / 2] & 0xffff;
      n += value > above;
      cd += value > above ? value : 0;
      part->least = min(part->least, value > above ? value : 0xffffu);
      part->most = max(part->most, value);
    }
  }
  part->n += n;
  part->c += 255 * n;
  part->cd += 255ull * cd;
}

/* Adds up the lanes of a cell. */
static __device__ __forceinline__ void add_lanes(Part *part, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) {
    part->n += __shfl_xor_sync(RV_WARP, part->n, step);
    part->c += __shfl_xor_sync(RV_WARP, part->c, step);
    part->cd += __shfl_xor_sync(RV_WARP, part->cd, step);
    part->least = min(part->least, __shfl_xor_sync(RV_WARP, part->least, step));
    part->most = max(part->most, __shfl_xor_sync(RV_WARP, part->most, step));
  }
}

namespace {
/* The input of the kernel. */
struct Pixels {
  const char *disparity;
  const uint8_t *confidence;
  ptrdiff_t d_stride, c_stride;
};
} // namespace

/* The cell of column x in rows high .. low - 1. All lanes of the warp call it. */
static __device__ RvStixelsCell make_cell(const RvStixelsPlan &plan, const Pixels &p, int x,
                                          int high, int low, int lane, int lanes) {
  const int left = x * plan.config.stixel_width,
            right = x < plan.columns ? rv_min(left + plan.config.stixel_width, plan.config.width)
                                     : left;
  const Part none = {0, 0, 0, 0xffff, 0};
  Part all = none, near = none;
  /* The last column can have 8 px from an odd one on. */
  const bool is_eight = right - left == 8 && left % 2 == 0 && !p.confidence &&
                        p.d_stride % 4 == 0 && (uintptr_t)p.disparity % 4 == 0;
  const auto add = [&](unsigned above, Part *part) {
    if (is_eight)
      add_eights(p.disparity + 2 * left, p.d_stride, high + lane, low, lanes, above, part);
    else
      for (int y = high + lane; y < low && left < right; y += lanes)
        add_row(plan, (const uint16_t *)(p.disparity + y * p.d_stride) + left,
                p.confidence ? p.confidence + y * p.c_stride + left : NULL, right - left, above,
                part);
  };
  add(0, &all);
  add_lanes(&all, lanes);
  const RvStixelsPixels whole = {all.c, (int64_t)all.cd, (int)all.n};
  RvStixelsPixels side = whole;
  const bool is_mixed = all.c > 0 && rv_stixels_is_mixed(&plan, (int)all.least, (int)all.most);
  if (__any_sync(RV_WARP, is_mixed)) {
    const unsigned middle = is_mixed ? (unsigned)rv_stixels_middle(&whole) : 0;
    if (is_mixed)
      add(middle, &near);
    add_lanes(&near, lanes);
    const RvStixelsPixels nearer = {near.c, (int64_t)near.cd, (int)near.n};
    if (is_mixed)
      side = rv_stixels_side(&whole, &nearer);
  }
  return rv_stixels_cell((right - left) * (low - high), whole.n, &side, plan.config.max_disparity);
}

namespace {
/* A row of the histogram, in shared memory: cells and their disparities by bin. */
struct Votes {
  int *n;
  uint32_t *d;
  RvStixelsBelow *totals; /* per 32 bins */
};
} // namespace

/* Writes the votes of each bin and its neighbors, and the prefix sums by bin. */
static __device__ void write_votes(const RvStixelsCuda &work, const Votes &votes, int v, int cap) {
  const int lane = threadIdx.x % 32, bins = work.bins, end = rv_div_up(bins + 1, 32) * 32;
  uint16_t *near = work.votes + (size_t)v * bins;
  RvStixelsBelow *below = work.below + (size_t)v * (bins + 1);
  for (int pass = 0; pass < 2; pass++) {
    for (int k = threadIdx.x; k < end; k += blockDim.x) {
      const RvStixelsBelow own = {k < bins ? (uint32_t)votes.n[k] : 0, k < bins ? votes.d[k] : 0};
      RvStixelsBelow sum = {rv_warp_scan(own.n), rv_warp_scan(own.d)};
      if (pass == 0) {
        if (lane == 31)
          votes.totals[k / 32] = sum;
        continue;
      }
      for (int part = 0; part < k / 32; part++) {
        sum.n += votes.totals[part].n;
        sum.d += votes.totals[part].d;
      }
      if (k <= bins)
        below[k] = {sum.n - own.n, sum.d - own.d};
      if (k < bins)
        near[k] = (uint16_t)(k < 2 || k + 1 == bins
                                 ? 0
                                 : rv_min(votes.n[k - 1] + votes.n[k] + votes.n[k + 1], cap));
    }
    __syncthreads();
  }
}

/* Cells of a row that only the left view sees; valid: a bit per column, of the others. */
static __device__ void fill_row(const RvStixelsPlan &plan, const RvStixelsCuda &work,
                                const uint32_t *valid, int v) {
  for (int x = threadIdx.x; x < plan.columns; x += blockDim.x) {
    if (valid[x / 32] >> x % 32 & 1)
      continue;
    const int left = rv_stixels_set_below(valid, x),
              right = rv_stixels_set_above(valid, x, plan.columns);
    const int d_left = left >= 0 ? work.cells[(size_t)left * plan.rows + v].disparity : 0;
    const int d_right =
        right < plan.columns ? work.cells[(size_t)right * plan.rows + v].disparity : 0;
    if (rv_stixels_is_one_view(&plan, left, right, d_left, d_right))
      work.cells[(size_t)x * plan.rows + v] = rv_stixels_one_view(&plan, left, d_left, d_right);
  }
}

/* One block per row of cells, `lanes` lanes per cell; valid cells vote for the ground. */
static __global__ void __launch_bounds__(1024)
    cells_kernel(const __grid_constant__ RvStixelsPlan plan,
                 const __grid_constant__ RvStixelsCuda work, const Pixels pixels, int lanes) {
  extern __shared__ __align__(8) char shared[];
  __shared__ RvStixelsBelow totals[(RV_STIXELS_BOTTOMS * 8 + 2) / 32 + 1];
  __shared__ uint32_t valid[RV_MAX_SIDE / 32]; /* columns of the row */
  const Votes votes = {(int *)shared, (uint32_t *)shared + work.bins, totals};
  const int v = blockIdx.x;
  for (int k = threadIdx.x; k < rv_div_up(plan.columns, 32); k += blockDim.x)
    valid[k] = 0;
  for (int k = threadIdx.x; k < 2 * work.bins; k += blockDim.x)
    votes.n[k] = 0;
  __syncthreads();
  rv_launch_wait();
  rv_launch_next(); /* the previous frame has ended when the next kernel starts */
  if (v == 0 && threadIdx.x == 0)
    *work.vote = {0, 0, (unsigned)(__ldcg(work.queue) >> 32) + 1};
  const int low = plan.config.height - v * plan.config.vertical_step,
            high = rv_max(low - plan.config.vertical_step, 0);
  const int items = rv_div_up(plan.columns * lanes, 32) * 32;
  for (int i = threadIdx.x; i < items; i += blockDim.x) {
    const int x = i / lanes;
    const RvStixelsCell cell = make_cell(plan, pixels, x, high, low, i % lanes, lanes);
    if (i % lanes != 0 || x >= plan.columns)
      continue;
    work.cells[(size_t)x * plan.rows + v] = cell;
    if (cell.weight)
      atomicOr(&valid[x / 32], 1u << x % 32);
    if (plan.estimate && cell.weight) {
      atomicAdd(&votes.n[rv_stixels_bin(cell.disparity)], 1);
      atomicAdd(&votes.d[rv_stixels_bin(cell.disparity)], (uint32_t)cell.disparity);
    }
  }
  __syncthreads();
  if (plan.one_view > 0)
    fill_row(plan, work, valid, v);
  if (plan.estimate)
    write_votes(work, votes, v, plan.cap);
}

static RvStatus cells(void *memory, RvStixelsJob *job) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const RvStixelsPlan *plan = job->plan;
  const RvPlane *disparity = &job->input.disparity, *confidence = &job->input.confidence;
  int lanes = 1;
  while (lanes < plan->config.vertical_step && lanes < CELL_LANES &&
         2 * lanes * plan->columns <= 1024)
    lanes *= 2;
  const int threads = rv_min(rv_div_up(plan->columns * lanes, 32) * 32, 1024);
  const Pixels pixels = {(const char *)disparity->data, (const uint8_t *)confidence->data,
                         disparity->stride, confidence->stride};
  return rv_launch(&plan->config.log, cells_kernel, dim3(plan->rows), dim3(threads),
                   2 * work->bins * sizeof(int), job->stream, work->is_chained, *plan, *work,
                   pixels, lanes);
}

/* --- Rendering ------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(256)
    render_kernel(const __grid_constant__ RvStixelsPlan plan, const RvStixel *list,
                  uint32_t capacity, const uint32_t *offsets, RvPlane disparity, RvPlane classes) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= plan.config.width || y >= plan.config.height)
    return;
  const int column = x / plan.config.stixel_width;
  const uint32_t end = offsets[column + 1];
  int value = 0, structure = 255;
  for (uint32_t k = offsets[column]; k < end && k < capacity; k++) {
    const RvStixel s = list[k];
    if (y < s.v_top || y > s.v_bottom)
      continue;
    value = rv_stixels_rendered(&s, y);
    structure = s.structure;
  }
  if (disparity.data)
    ((uint16_t *)((char *)disparity.data + y * disparity.stride))[x] = (uint16_t)value;
  if (classes.data)
    ((uint8_t *)classes.data + y * classes.stride)[x] = (uint8_t)structure;
}

static RvStatus render(void *, RvStixelsJob *job) {
  const RvStixelsPlan *plan = job->plan;
  const RvStixelsMaps *maps = &job->maps;
  const dim3 grid(rv_div_up(plan->config.width, 32), rv_div_up(plan->config.height, 8));
  return rv_launch(&plan->config.log, render_kernel, grid, dim3(32, 8), 0, job->stream, false,
                   *plan, maps->list, maps->capacity, maps->offsets, maps->disparity,
                   maps->classes);
}

RV_ENGINE(RvStixels, stixels, cuda, RvStixelsCuda, layout, open, nullptr, cells,
          rv_stixels_cuda_ground, rv_stixels_cuda_semantics, rv_stixels_cuda_repair,
          rv_stixels_cuda_share, rv_stixels_cuda_columns, rv_stixels_cuda_refine, render);
