/* SPDX-License-Identifier: MIT */
/* sgm_cpu_match.c: memory and threads of the CPU engine's match stage (sgm_cpu_sweep.h has the loops).
 *
 * One sweep goes down, one up, each with half of the threads; where they meet, each goes on over
 * the rows that the other has left sums for. Two threads so hardly ever wait, share no path state,
 * and do not stop each other when the machine is busy. The threads of one sweep take its rows in
 * turn; each follows the row before at a distance of one block of columns, so that what a diagonal
 * needs is there. One thread goes down, then up. */
#include <omp.h>
#include <sched.h>
#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"

#define COLUMNS 32 /* done between two looks at the row before */
#define SPINS 200  /* looks before the processor is offered to others */

/* --- Instruction sets ---------------------------------------------------------------------------
 */

const RvSgmKernels *rv_sgm_cpu_kernels(int index) {
  const RvSgmKernels *found[4] = {NULL};
  int count = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bitalg"))
    found[count++] = &rv_sgm_kernels_avx512;
  if (__builtin_cpu_supports("avx2"))
    found[count++] = &rv_sgm_kernels_avx2;
#endif
  found[count++] = &rv_sgm_kernels_base;
  return index < count ? found[index] : NULL;
}

int rv_sgm_cpu_can(const RvSgmKernels *kernels, const RvSgmConfig *c, int cell) {
  return c->disparities * cell % kernels->vector_bytes == 0;
}

static const RvSgmKernels *choose(const RvSgmConfig *c, int cell) {
  for (int i = 0;; i++) {
    const RvSgmKernels *kernels = rv_sgm_cpu_kernels(i);
    if (kernels == &rv_sgm_kernels_base || rv_sgm_cpu_can(kernels, c, cell))
      return kernels;
  }
}

/* --- Memory -------------------------------------------------------------------------------------
 */

/* Takes `bytes` from a block, on its own cache lines. */
static void *carve(char *block, size_t *used, size_t bytes) {
  void *piece = block ? block + *used : NULL;
  *used += (bytes + 63) / 64 * 64;
  return piece;
}

/* Lays a thread's block out; returns its bytes. NULL only counts. */
static size_t scratch(const RvSgmConfig *c, char *block, RvSgmScratch *out) {
  const size_t width = (size_t)c->width, range = (size_t)c->disparities;
  size_t used = 0;
  carve(block, &used, sizeof *out);
  out->grey = carve(block, &used, 7 * (width + 2 * RV_SGM_RADIUS_X));
  out->bytes = carve(block, &used, width);
  out->left = carve(block, &used, RV_SGM_PLANES * width);
  out->right = carve(block, &used, RV_SGM_PLANES * (width + range + RV_SGM_LANES));
  out->chain = carve(block, &used, range * sizeof(uint16_t));
  out->chain_least = carve(block, &used, sizeof(uint16_t));
  out->right_sum = carve(block, &used, (width + range) * sizeof(uint16_t));
  out->right_k = carve(block, &used, (width + range) * sizeof(uint16_t));
  out->maps = carve(block, &used, width * RV_SGM_MAP_BYTES);
  return used;
}

static RvSgmScratch *scratch_of(const RvSgmCpu *cpu, int thread) {
  return (RvSgmScratch *)(cpu->scratch + cpu->scratch_bytes * (size_t)thread);
}

static void take_paths(const RvSgmConfig *c, int cell, size_t count, RvArena *arena,
                       RvSgmPaths *out) {
  out->cells = rv_arena_take(arena, count * (size_t)c->disparities * (size_t)cell);
  out->least = rv_arena_take(arena, count * (size_t)cell);
}

void rv_sgm_cpu_layout(void *work, const RvSgmConfig *c, RvArena *arena) {
  RvSgmCpu *cpu = work;
  RvSgmScratch counted;
  const size_t width = (size_t)c->width, height = (size_t)c->height;
  const size_t volume = width * height * (size_t)c->disparities;
  cpu->cell = rv_sgm_path_max(c->cost, c->p2) + c->p1 <= 255 ? 1 : 2;
  cpu->kernels = choose(c, cpu->cell);
  cpu->scratch_bytes = scratch(c, NULL, &counted);
  /* What threads keep stays below a twentieth of the volume's bytes, so that the promise of
   * rv_sgm_workspace holds on machines with many processors. */
  const size_t most = volume / 10 / cpu->scratch_bytes;
  const int limit = rv_min(c->height, most > 256 ? 256 : (int)most);
  cpu->threads = rv_clamp(rv_threads(c->threads), 1, rv_max(limit, 1));
  /* Two paths need no volume, only their first path; a row's maps fit there too. */
  const size_t bytes = c->paths == 2 ? (size_t)cpu->cell : sizeof(uint16_t);
  cpu->slot_bytes = (width * (size_t)c->disparities * bytes + 63) / 64 * 64;
  cpu->slots = rv_arena_take(arena, cpu->slot_bytes * height);
  /* A slot of a diagonal is taken again only when its old path has left the picture in every row
   * that may still be in work. */
  cpu->diagonals = c->width + cpu->threads;
  for (int way = 0; way < (c->paths == 2 ? 1 : 2); way++) {
    take_paths(c, cpu->cell, width, arena, &cpu->sweep[way].vertical);
    for (int i = 0; i < 2 && c->paths == 8; i++)
      take_paths(c, cpu->cell, (size_t)cpu->diagonals, arena, &cpu->sweep[way].diagonal[i]);
  }
  cpu->reached = rv_arena_take(arena, height * sizeof *cpu->reached);
  cpu->scratch = rv_arena_take(arena, cpu->scratch_bytes * (size_t)cpu->threads);
}

/* --- One row ------------------------------------------------------------------------------------
 */

/* The 7 rows round y with the edge pixels repeated. */
static void pad_rows(const RvPlane *picture, int y, uint8_t *out, const uint8_t **rows) {
  const size_t width = (size_t)picture->width;
  for (int j = 0; j < 7; j++) {
    const int at = rv_clamp(y + j - RV_SGM_RADIUS_Y, 0, picture->height - 1);
    const uint8_t *from = (const uint8_t *)picture->data + at * picture->stride;
    uint8_t *to = out + (size_t)j * (width + 2 * RV_SGM_RADIUS_X);
    memset(to, from[0], RV_SGM_RADIUS_X);
    memcpy(to + RV_SGM_RADIUS_X, from, width);
    memset(to + RV_SGM_RADIUS_X + width, from[width - 1], RV_SGM_RADIUS_X);
    rows[j] = to;
  }
}

/* Descriptors of row y of both pictures. */
static void describe(const RvSgmCpu *cpu, const RvSgmConfig *c, const RvSgmJob *job, int y,
                     const RvSgmScratch *s, RvSgmRow *r) {
  const int width = c->width;
  const size_t reach = (size_t)width + (size_t)c->disparities + RV_SGM_LANES;
  const uint8_t *rows[7];
  uint8_t *left[RV_SGM_PLANES], *right[RV_SGM_PLANES];
  r->planes = c->cost == RV_SGM_CENSUS ? 8 : 4;
  for (int p = 0; p < RV_SGM_PLANES; p++) {
    left[p] = s->left + (size_t)p * (size_t)width;
    right[p] = s->right + (size_t)p * reach;
    r->left[p] = left[p];
    r->right[p] = right[p];
  }
  pad_rows(&job->left, y, s->grey, rows);
  cpu->kernels->census(rows, width, c->cost, left);
  pad_rows(&job->right, y, s->grey, rows);
  cpu->kernels->census(rows, width, c->cost, right);
  for (int p = 0; p < r->planes; p++) {
    memcpy(s->bytes, right[p], (size_t)width);
    for (int x = 0; x < width; x++)
      right[p][x] = s->bytes[width - 1 - x];
    memset(right[p] + width, s->bytes[0], reach - (size_t)width);
  }
}

/* Tests: the descriptors of row y as numbers. */
static void show_census(const RvSgmConfig *c, const RvSgmJob *job, int y, const RvSgmRow *r) {
  for (int x = 0; x < c->width; x++) {
    uint64_t left = 0, right = 0;
    for (int p = 0; p < r->planes; p++) {
      left |= (uint64_t)r->left[p][x] << 8 * p;
      right |= (uint64_t)r->right[p][c->width - 1 - x] << 8 * p;
    }
    if (job->census_left)
      job->census_left[(size_t)y * (size_t)c->width + (size_t)x] = left;
    if (job->census_right)
      job->census_right[(size_t)y * (size_t)c->width + (size_t)x] = right;
  }
}

/* Where the maps of the current row are made, and the right picture's minima, all empty. */
static void open_maps(const RvSgmConfig *c, const RvSgmScratch *s, RvSgmRow *r) {
  const RvSgmCpu maps = {.slots = s->maps};
  const size_t bytes = ((size_t)c->width + (size_t)c->disparities) * sizeof(uint16_t);
  r->winner = rv_sgm_winners(&maps, c, 0);
  r->disparity = rv_sgm_disparities(&maps, c, 0);
  r->confidence = rv_sgm_confidences(&maps, c, 0);
  r->right_sum = s->right_sum;
  r->right_k = s->right_k;
  memset(r->right_sum, 0xFF, bytes);
  memset(r->right_k, 0xFF, bytes); /* RV_SGM_NO_MATCH */
}

/* The row's sums are dead: its slot takes the maps. */
static void close_maps(const RvSgmCpu *cpu, const RvSgmConfig *c, int y, const RvSgmRow *r) {
  const size_t width = (size_t)c->width;
  memcpy(rv_sgm_winners(cpu, c, y), r->winner, width * sizeof(uint16_t));
  memcpy(rv_sgm_disparities(cpu, c, y), r->disparity, width * sizeof(uint16_t));
  if (c->confidence)
    memcpy(rv_sgm_confidences(cpu, c, y), r->confidence, width);
  uint16_t *right = rv_sgm_right_winners(cpu, c, y);
  for (size_t x = 0; x < width; x++)
    right[x] = r->right_k[width - 1 - x];
  if (cpu->checks)
    rv_sgm_cpu_check_row(cpu, c, y);
}

/* --- Sweeps -------------------------------------------------------------------------------------
 */

/* How far a row is. */
enum { UNTOUCHED = 0, IN_WORK, HAS_SUMS };

/* One thread's part of one sweep. */
typedef struct Sweep {
  const RvSgmCpu *cpu;
  const RvSgmConfig *config;
  const RvSgmJob *job;
  int up;
  RvSgmScratch *own;
  const RvSgmScratch *before; /* of the thread that has the row before, NULL: the same thread */
} Sweep;

static void pause_or_yield(int spins) {
#if defined(__x86_64__)
  if (spins < SPINS)
    __builtin_ia32_pause();
  else
#endif
    sched_yield();
}

/* Waits until another thread's counter has come that far. */
static void wait_for(const int64_t *counter, int64_t value) {
  for (int spins = 0; __atomic_load_n(counter, __ATOMIC_ACQUIRE) < value; spins++)
    pause_or_yield(spins);
}

/* What is to be done with a row: the sweep that comes first leaves sums, the other one finishes.
 * A sweep claims its rows in order. So the rows it is first to are those up to the meeting point,
 * and work on them waits for rows of the same sweep only: there is no circle of waiting. */
static RvSgmPass claim(const Sweep *sweep, int row, int y) {
  const int paths = sweep->config->paths;
  int *reached = sweep->cpu->reached + y, untouched = UNTOUCHED;
  if (sweep->before)
    wait_for(&sweep->before->claimed, row);
  const int first = __atomic_compare_exchange_n(reached, &untouched, IN_WORK, 0, __ATOMIC_ACQUIRE,
                                                __ATOMIC_ACQUIRE);
  __atomic_store_n(&sweep->own->claimed, row + 1, __ATOMIC_RELEASE);
  if (paths == 2)
    return RV_SGM_ONLY2;
  if (first)
    return paths == 8 ? RV_SGM_PARTIAL8 : RV_SGM_PARTIAL4;
  for (int spins = 0; __atomic_load_n(reached, __ATOMIC_ACQUIRE) != HAS_SUMS; spins++)
    pause_or_yield(spins);
  return paths == 8 ? RV_SGM_FINAL8 : RV_SGM_FINAL4;
}

static void sweep_columns(const Sweep *sweep, const RvSgmRow *r, RvSgmPass pass) {
  const int width = sweep->config->width;
  const int64_t base = (int64_t)r->row * width;
  for (int end = width; end > 0; end -= COLUMNS) {
    const int from = rv_max(end - COLUMNS, 0);
    if (sweep->before && r->row) /* a column more: the diagonal's predecessor at from - 1 */
      wait_for(&sweep->before->done, base - width + rv_min(width - from + 1, width));
    sweep->cpu->kernels->columns[sweep->cpu->cell - 1](r, pass, from, end);
    __atomic_store_n(&sweep->own->done, base + width - from, __ATOMIC_RELEASE);
  }
}

/* The first pass of all over a row: what only it does. */
static void begin_row(const Sweep *sweep, int y, const RvSgmRow *r) {
  const RvSgmCpu *cpu = sweep->cpu;
  if (sweep->job->census_left || sweep->job->census_right)
    show_census(sweep->config, sweep->job, y, r);
  cpu->kernels->first[cpu->cell - 1](r);
  memset(r->chain.cells, 0, (size_t)sweep->config->disparities * (size_t)cpu->cell);
  memset(r->chain.least, 0, (size_t)cpu->cell);
}

static void sweep_row(const Sweep *sweep, int row) {
  const RvSgmCpu *cpu = sweep->cpu;
  const RvSgmConfig *c = sweep->config;
  const RvPlane *left = &sweep->job->left;
  const int y = sweep->up ? c->height - 1 - row : row;
  RvSgmRow r = {.config = c,
                .row = row,
                .p2_of = c->adaptive_p2 ? cpu->p2_of : NULL,
                .grey = (const uint8_t *)left->data + y * left->stride,
                .slot = rv_sgm_sums(cpu, y),
                .chain = {sweep->own->chain, sweep->own->chain_least},
                .vertical = cpu->sweep[sweep->up].vertical,
                .diagonal = {cpu->sweep[sweep->up].diagonal[0], cpu->sweep[sweep->up].diagonal[1]},
                .diagonals = cpu->diagonals,
                .diagonal_at = {(cpu->diagonals - row % cpu->diagonals) % cpu->diagonals,
                                row % cpu->diagonals}};
  if (row > 0)
    r.grey_before = r.grey + (sweep->up ? left->stride : -left->stride);
  const RvSgmPass pass = claim(sweep, row, y);
  const int first = pass != RV_SGM_FINAL8 && pass != RV_SGM_FINAL4;
  const int last = pass != RV_SGM_PARTIAL8 && pass != RV_SGM_PARTIAL4;
  describe(cpu, c, sweep->job, y, sweep->own, &r);
  if (first)
    begin_row(sweep, y, &r);
  if (last) {
    open_maps(c, sweep->own, &r);
    if (sweep->job->volume)
      r.volume = sweep->job->volume + (size_t)y * (size_t)c->width * (size_t)c->disparities;
  }
  sweep_columns(sweep, &r, pass);
  if (last)
    close_maps(cpu, c, y, &r);
  else
    __atomic_store_n(cpu->reached + y, HAS_SUMS, __ATOMIC_RELEASE);
}

static void clear_paths(const RvSgmCpu *cpu, const RvSgmConfig *c, int way) {
  const size_t state = (size_t)c->disparities * (size_t)cpu->cell;
  memset(cpu->sweep[way].vertical.cells, 0, (size_t)c->width * state);
  memset(cpu->sweep[way].vertical.least, 0, (size_t)c->width * (size_t)cpu->cell);
  for (int i = 0; i < 2 && c->paths == 8; i++) {
    memset(cpu->sweep[way].diagonal[i].cells, 0, (size_t)cpu->diagonals * state);
    memset(cpu->sweep[way].diagonal[i].least, 0, (size_t)cpu->diagonals * (size_t)cpu->cell);
  }
}

/* Thread `me` of `team`: every other thread goes up when there are two sweeps to share. */
static void run_thread(const RvSgmCpu *cpu, const RvSgmConfig *c, const RvSgmJob *job, int me,
                       int team) {
  const int ways = c->paths == 2 ? 1 : 2, shared = rv_min(ways, team);
  const int place = me / shared, members = (team - me % shared + shared - 1) / shared;
  const int before = (place + members - 1) % members * shared + me % shared;
  for (int way = 0; way < ways; way++) {
    if (shared == 2 && way != me % 2)
      continue;
    Sweep sweep = {.cpu = cpu, .config = c, .job = job, .up = way, .own = scratch_of(cpu, me)};
    if (before != me)
      sweep.before = scratch_of(cpu, before);
    for (int row = place; row < c->height; row += members)
      sweep_row(&sweep, row);
  }
}

RvStatus rv_sgm_cpu_match(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  RvSgmCpu *cpu = work;
  cpu->turned = 0;
  for (int i = 0; i < 256; i++)
    cpu->p2_of[i] = (uint16_t)rv_sgm_adapted_p2(c->p2, c->p2_min, c->p2_gradient, i, 0);
  for (int way = 0; way < (c->paths == 2 ? 1 : 2); way++)
    clear_paths(cpu, c, way);
  memset(cpu->reached, 0, (size_t)c->height * sizeof *cpu->reached); /* UNTOUCHED */
  for (int i = 0; i < cpu->threads; i++) {
    RvSgmScratch *own = scratch_of(cpu, i);
    scratch(c, (char *)own, own);
    own->done = own->claimed = 0;
  }
#pragma omp parallel num_threads(cpu->threads)
  run_thread(cpu, c, job, omp_get_thread_num(), omp_get_num_threads());
  return RV_OK;
}
