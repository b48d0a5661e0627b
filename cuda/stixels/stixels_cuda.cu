/* stixels_cuda.cu: the CUDA engine of stixels: memory, cells, ground plane and rendering. */
#include "stixels_cuda.h"

/* --- Memory ---------------------------------------------------------------------------------- */

/* Does not ask the device: the workspace can be stated without one. */
static void layout(void *memory, const RvStixelsModel *m, int threads, RvArena *arena) {
  RvStixelsCuda *work = (RvStixelsCuda *)memory;
  const size_t columns = m->columns, rows = m->rows;
  (void)threads;
  work->bins = RV_STIXELS_BOTTOMS * m->bottom_step + 2;
  work->scratch = (rv_stixels_cuda_scratch(m->rows, m->semantics) + 15) / 16 * 16;
  work->is_small = work->scratch <= RV_STIXELS_SHARED;
  work->table = (int32_t *)rv_arena_take(arena, 3 * RV_STIXELS_TABLE * sizeof *work->table);
  work->state = (RvStixelsState *)rv_arena_take(arena, sizeof *work->state);
  work->cells = (RvStixelsCell *)rv_arena_take(arena, columns * rows * sizeof *work->cells);
  work->scores = (uint16_t *)rv_arena_take(arena, RV_STIXELS_SCORE_STEPS * sizeof *work->scores);
  work->semantics =
      (uint16_t *)rv_arena_take(arena, columns * rows * m->semantics * sizeof *work->semantics);
  work->poll = (RvStixelsPoll *)rv_arena_take(arena, sizeof *work->poll);
  work->votes = (int32_t *)rv_arena_take(arena, rows * work->bins * sizeof *work->votes);
  work->made = (RvStixel *)rv_arena_take(arena, columns * rows * sizeof *work->made);
  work->counts = (uint32_t *)rv_arena_take(arena, columns * sizeof *work->counts);
  work->columns = work->is_small ? NULL : (char *)rv_arena_take(arena, columns * work->scratch);
  const size_t steps = (rows + 1) * (m->disparity_max + 1);
  work->steps = m->kind == RV_STIXELS_CONSTANT
                    ? (int32_t *)rv_arena_take(arena, columns * steps * sizeof *work->steps)
                    : NULL;
}

static RvStatus open(void *memory, const RvStixelsSetup *setup, const RvLog *log) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  RV_CU(log, cudaMemcpy(work->table, setup->table, sizeof setup->table, cudaMemcpyHostToDevice));
  RV_CU(log, cudaMemcpy(work->state, &setup->start, sizeof setup->start, cudaMemcpyHostToDevice));
  RV_CU(log, cudaMemcpy(work->scores, setup->scores, sizeof setup->scores, cudaMemcpyHostToDevice));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* whichever stream run gets comes after */
  return rv_stixels_cuda_open_columns(work, &setup->model, log);
}

/* --- Cells ----------------------------------------------------------------------------------- */

/* A block of pixels. */
struct Block {
  int left, right, high, low;
};

/* Pixels of more than `above`; *least, *most: their disparities. */
static __device__ RvStixelsPixels sum_pixels(const char *disparity, ptrdiff_t d_stride,
                                             const uint8_t *confidence, ptrdiff_t c_stride,
                                             const Block &block, unsigned above, unsigned *least,
                                             unsigned *most) {
  RvStixelsPixels sum = {0, 0, 0};
  for (int y = block.high; y < block.low; y++) {
    const uint16_t *d = (const uint16_t *)(disparity + y * d_stride);
    const uint8_t *trust = confidence ? confidence + y * c_stride : NULL;
#pragma unroll 8
    for (int u = block.left; u < block.right; u++) {
      const unsigned value = d[u];
      const unsigned weight = value <= above ? 0 : trust ? trust[u] : 255;
      sum.n += value > above;
      sum.c += weight;
      sum.cd += weight * value;
      *least = min(*least, value > above ? value : 0xffffu);
      *most = max(*most, value);
    }
  }
  return sum;
}

/* One thread a cell; cells that are valid vote for the ground. votes: NULL without an estimate. */
static __global__ void __launch_bounds__(128)
    cells_kernel(const __grid_constant__ RvStixelsModel m, const char *disparity,
                 ptrdiff_t d_stride, const uint8_t *confidence, ptrdiff_t c_stride,
                 RvStixelsCell *cells, int32_t *votes, int bins) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y;
  if (x >= m.columns)
    return;
  const int left = x * m.cell_width, low = m.height - v * m.step;
  const Block block = {left, rv_min(left + m.cell_width, m.width), rv_max(low - m.step, 0), low};
  unsigned least = 0xffff, most = 0;
  const RvStixelsPixels all =
      sum_pixels(disparity, d_stride, confidence, c_stride, block, 0, &least, &most);
  RvStixelsPixels side = all;
  if (all.c > 0 && rv_stixels_is_mixed(&m, (int)least, (int)most)) {
    const unsigned middle = (unsigned)rv_stixels_middle(&all);
    const RvStixelsPixels near =
        sum_pixels(disparity, d_stride, confidence, c_stride, block, middle, &least, &most);
    side = rv_stixels_side(&all, &near);
  }
  const int pixels = (block.right - block.left) * (block.low - block.high);
  const RvStixelsCell cell = rv_stixels_cell(pixels, all.n, &side, m.disparity_max);
  cells[(size_t)x * m.rows + v] = cell;
  if (votes && cell.weight)
    atomicAdd(&votes[(size_t)v * bins + ((cell.disparity + 8) >> 4)], 1);
}

static RvStatus cells(void *memory, const RvStixelsModel *m, const RvStixelsJob *job,
                      const RvLog *log) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  if (m->estimate) {
    RV_CU(log, cudaMemsetAsync(work->poll, 0, sizeof *work->poll, job->stream));
    RV_CU(log, cudaMemsetAsync(work->votes, 0, (size_t)m->rows * work->bins * sizeof *work->votes,
                               job->stream));
  }
  const dim3 grid(rv_div_up(m->columns, 128), m->rows);
  cells_kernel<<<grid, 128, 0, job->stream>>>(
      *m, (const char *)job->disparity.data, job->disparity.stride,
      (const uint8_t *)job->confidence.data, job->confidence.stride, work->cells,
      m->estimate ? work->votes : NULL, work->bins);
  RV_LAUNCHED(log);
  return RV_OK;
}

/* --- Ground ---------------------------------------------------------------------------------- */

#define LINES 128 /* of one block */

/* One thread a line: its px falls from row to row by a running division, as on the CPU engine. */
static __global__ void __launch_bounds__(LINES)
    vote_kernel(const __grid_constant__ RvStixelsModel m, const int32_t *votes, int bins,
                RvStixelsPoll *poll) {
  const int line = blockIdx.x * LINES + threadIdx.x;
  const int64_t bottom = (int64_t)(line / RV_STIXELS_HORIZONS + 1) * m.bottom_step;
  const int64_t horizon = (int64_t)m.rows * (RV_STIXELS_HORIZON_FIRST + line % RV_STIXELS_HORIZONS);
  const int64_t fall = 64 * bottom / horizon, rest = 64 * bottom - fall * horizon;
  int64_t px = bottom, left = horizon / 2;
  int score = 0;
  for (int v = 0; v < m.rows && px >= 2; v++) {
    const int32_t *row = votes + (size_t)v * bins + px;
    score += rv_min(row[-1] + row[0] + row[1], m.cap);
    left -= rest;
    px -= fall + (left < 0);
    left += left < 0 ? horizon : 0;
  }
  unsigned long long key = (unsigned long long)score << 32 | (0xffffffffu - (unsigned)line);
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_down_sync(0xffffffffu, key, step);
    key = other > key ? other : key;
  }
  if (threadIdx.x % 32 == 0)
    atomicMax(&poll->winner, key);
}

static __device__ void add_over_warp(RvStixelsRoad *r) {
  for (int step = 16; step > 0; step /= 2) {
    r->n += __shfl_down_sync(0xffffffffu, r->n, step);
    r->v += __shfl_down_sync(0xffffffffu, r->v, step);
    r->vv += __shfl_down_sync(0xffffffffu, r->vv, step);
    r->d += __shfl_down_sync(0xffffffffu, r->d, step);
    r->vd += __shfl_down_sync(0xffffffffu, r->vd, step);
  }
}

/* One block: sums over the cells on the winning line, then the new plane. */
static __global__ void __launch_bounds__(1024)
    road_kernel(const __grid_constant__ RvStixelsModel m, const RvStixelsCell *cells,
                const RvStixelsPoll *poll, RvStixelsState *state) {
  __shared__ RvStixelsRoad parts[32];
  const unsigned long long winner = poll->winner;
  const int line = (int)(0xffffffffu - (unsigned)winner), score = (int)(winner >> 32);
  const RvStixelsPlane plane = rv_stixels_line_plane(&m, line);
  RvStixelsRoad r = {0, 0, 0, 0, 0};
  const long long count = (long long)m.columns * m.rows;
  for (long long i = threadIdx.x; i < count; i += 1024) {
    const RvStixelsCell cell = cells[i];
    const int v = (int)(i % m.rows);
    if (!rv_stixels_on_line(&plane, cell, v))
      continue;
    const int64_t row = v;
    r.n++;
    r.v += row;
    r.vv += row * row;
    r.d += cell.disparity;
    r.vd += row * cell.disparity;
  }
  add_over_warp(&r);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = r;
  __syncthreads();
  if (threadIdx.x >= 32)
    return;
  r = parts[threadIdx.x];
  add_over_warp(&r);
  if (threadIdx.x == 0) {
    RvStixelsState next = *state;
    rv_stixels_follow(&m, line, score, &r, &next);
    *state = next;
  }
}

static RvStatus ground(void *memory, const RvStixelsModel *m, const RvStixelsJob *job,
                       const RvLog *log) {
  const RvStixelsCuda *work = (RvStixelsCuda *)memory;
  if (!m->estimate)
    return RV_OK;
  const int lines = RV_STIXELS_BOTTOMS * RV_STIXELS_HORIZONS;
  vote_kernel<<<lines / LINES, LINES, 0, job->stream>>>(*m, work->votes, work->bins, work->poll);
  RV_LAUNCHED(log);
  road_kernel<<<1, 1024, 0, job->stream>>>(*m, work->cells, work->poll, work->state);
  RV_LAUNCHED(log);
  return RV_OK;
}

/* --- Rendering ------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(256)
    render_kernel(const __grid_constant__ RvStixelsModel m, const RvStixel *list, uint32_t capacity,
                  const uint32_t *offsets, RvPlane disparity, RvPlane classes) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= m.width || y >= m.height)
    return;
  const int column = x / m.cell_width;
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

static RvStatus render(void *memory, const RvStixelsModel *m, const RvStixelsDrawing *drawing,
                       const RvLog *log) {
  (void)memory;
  const dim3 grid(rv_div_up(m->width, 32), rv_div_up(m->height, 8)), block(32, 8);
  render_kernel<<<grid, block, 0, drawing->stream>>>(
      *m, drawing->list, drawing->capacity, drawing->offsets, drawing->disparity, drawing->classes);
  RV_LAUNCHED(log);
  return RV_OK;
}

static RvStatus semantics(void *memory, const RvStixelsModel *m, const RvStixelsJob *job,
                          const RvLog *log) {
  return rv_stixels_cuda_semantics((RvStixelsCuda *)memory, m, job, log);
}

static RvStatus columns(void *memory, const RvStixelsModel *m, const RvStixelsJob *job,
                        const RvLog *log) {
  return rv_stixels_cuda_columns((RvStixelsCuda *)memory, m, job, log);
}

static RvStatus refine(void *memory, const RvStixelsModel *m, const RvStixelsJob *job,
                       const RvLog *log) {
  (void)memory;
  return rv_stixels_cuda_refine(m, job, log);
}

extern "C" const RvStixelsStages rv_stixels_stages_cuda = {
    sizeof(RvStixelsCuda), layout, open, cells, semantics, ground, columns, refine, render,
};
