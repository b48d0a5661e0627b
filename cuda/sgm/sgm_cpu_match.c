/* SPDX-License-Identifier: MIT */
/* sgm_cpu_match.c: threads of the CPU engine's match stage (sgm_cpu_sweep.h has the loops).
 *
 * One sweep goes down, one up, each with half of the threads; where they meet, each continues over
 * the rows whose partial S the other has stored. So two threads hardly ever wait, share no path
 * state, and do not stop each other when the machine is busy. The threads of one sweep take its
 * rows alternately; each follows the previous row at a distance of one block of columns, so that
 * the predecessors of its diagonals are finished. A single thread goes down, then up. */
#include <sched.h>
#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"
#include "rv_openmp.h"

#define COLUMNS 32 /* processed between two checks of the previous row */
#define SPINS 200  /* checks before the thread yields its core */

/* --- One row --------------------------------------------------------------------------------- */

/* The 7 rows around y with the edge pixels repeated. */
static void pad_rows(const RvPlane *view, int y, uint8_t *out, const uint8_t **rows) {
  const size_t width = (size_t)view->width;
  for (int j = 0; j < 7; j++) {
    const int at = rv_clamp(y + j - RV_SGM_RADIUS_Y, 0, view->height - 1);
    const uint8_t *from = (const uint8_t *)view->data + at * view->stride;
    uint8_t *to = out + (size_t)j * (width + 2 * RV_SGM_RADIUS_X);
    memset(to, from[0], RV_SGM_RADIUS_X);
    memcpy(to + RV_SGM_RADIUS_X, from, width);
    memset(to + RV_SGM_RADIUS_X + width, from[width - 1], RV_SGM_RADIUS_X);
    rows[j] = to;
  }
}

void rv_sgm_cpu_describe(const RvSgmCpu *cpu, const RvSgmJob *job, int y, const RvSgmScratch *s,
                         RvSgmRow *r) {
  const RvSgmConfig *c = &job->plan->config;
  const int width = c->width;
  const size_t reach = (size_t)width + (size_t)c->disparities + RV_SGM_LANES;
  const uint8_t *rows[7];
  uint8_t *left[RV_SGM_PLANES], *right[RV_SGM_PLANES];
  r->planes = job->plan->descriptor_bytes;
  for (int p = 0; p < RV_SGM_PLANES; p++) {
    left[p] = s->left + (size_t)p * (size_t)width;
    right[p] = s->right + (size_t)p * reach;
    r->left[p] = left[p];
    r->right[p] = right[p];
  }
  pad_rows(&job->left, y, s->gray, rows);
  cpu->kernels->census(rows, width, c->cost, left);
  pad_rows(&job->right, y, s->gray, rows);
  cpu->kernels->census(rows, width, c->cost, right);
  for (int p = 0; p < r->planes; p++) {
    memcpy(s->bytes, right[p], (size_t)width);
    for (int x = 0; x < width; x++)
      right[p][x] = s->bytes[width - 1 - x];
    memset(right[p] + width, s->bytes[0], reach - (size_t)width);
  }
}

/* Maps of the current row, and the minima of the right view, all empty. */
static void open_maps(const RvSgmConfig *c, const RvSgmScratch *s, RvSgmRow *r) {
  const RvSgmCpu maps = {.slots = s->maps, .width = c->width};
  const size_t bytes = ((size_t)c->width + (size_t)c->disparities) * sizeof(uint16_t);
  r->winner = rv_sgm_winners(&maps, 0);
  r->disparity = rv_sgm_disparities(&maps, 0);
  r->confidence = rv_sgm_confidences(&maps, 0);
  r->right_sum = s->right_sum;
  r->right_k = s->right_k;
  memset(r->right_sum, 0xFF, bytes);
  memset(r->right_k, 0xFF, bytes); /* RV_SGM_NO_MATCH */
}

/* Left-right check of one row. */
static void check_row(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  const uint16_t *winner = rv_sgm_winners(cpu, y), *right = rv_sgm_right_winners(cpu, y);
  uint16_t *disparity = rv_sgm_disparities(cpu, y);
  for (int x = 0; x < c->width; x++) {
    const int k = winner[x], xr = x - c->min_disparity - k;
    if (!rv_sgm_passes_lr_check(x, c->min_disparity, k, right[rv_max(xr, 0)], c->max_lr_diff))
      disparity[x] = RV_SGM_INVALID;
  }
}

/* S of the row is not needed anymore: its slot stores the maps. */
static void close_maps(const RvSgmCpu *cpu, const RvSgmConfig *c, int y, const RvSgmRow *r) {
  const size_t width = (size_t)c->width;
  memcpy(rv_sgm_winners(cpu, y), r->winner, width * sizeof(uint16_t));
  memcpy(rv_sgm_disparities(cpu, y), r->disparity, width * sizeof(uint16_t));
  if (c->confidence)
    memcpy(rv_sgm_confidences(cpu, y), r->confidence, width);
  uint16_t *right = rv_sgm_right_winners(cpu, y);
  for (size_t x = 0; x < width; x++)
    right[x] = r->right_k[width - 1 - x];
  if (c->max_lr_diff >= 0)
    check_row(cpu, c, y);
}

/* --- Sweeps ---------------------------------------------------------------------------------- */

/* Progress of a row. */
enum { UNTOUCHED = 0, IN_WORK, HAS_SUMS };

/* The portion of one sweep that one thread works on. */
typedef struct Sweep {
  const RvSgmCpu *cpu;
  const RvSgmConfig *config;
  const RvSgmJob *job;
  int up;
  RvSgmScratch *own;
  const RvSgmScratch *before; /* of the thread with the previous row, NULL: the same thread */
} Sweep;

static void pause_or_yield(int spins) {
#if defined(__x86_64__)
  if (spins < SPINS)
    __builtin_ia32_pause();
  else
#endif
    sched_yield();
}

/* Waits until another thread's counter has reached the value. */
static void wait_for(const int64_t *counter, int64_t value) {
  for (int spins = 0; __atomic_load_n(counter, __ATOMIC_ACQUIRE) < value; spins++)
    pause_or_yield(spins);
}

/* Pass over a row: the sweep that reaches it first stores partial S, the other one finishes it. A
 * sweep claims its rows in order. So the rows that it reaches first are those up to the meeting
 * point, and work on them waits for rows of the same sweep only: no cycle of waits is possible. */
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
    if (sweep->before && r->row) /* one more column: the diagonal's predecessor at from - 1 */
      wait_for(&sweep->before->done, base - width + rv_min(width - from + 1, width));
    sweep->cpu->kernels->columns[sweep->cpu->cell - 1](r, pass, from, end);
    __atomic_store_n(&sweep->own->done, base + width - from, __ATOMIC_RELEASE);
  }
}

/* The first path of a row, and the start of the one back. */
static void begin_row(const Sweep *sweep, const RvSgmRow *r) {
  const RvSgmCpu *cpu = sweep->cpu;
  cpu->kernels->first[cpu->cell - 1](r);
  memset(r->chain.cells, 0, (size_t)sweep->config->disparities * (size_t)cpu->cell);
  memset(r->chain.minima, 0, (size_t)cpu->cell);
}

static void sweep_row(const Sweep *sweep, int row) {
  const RvSgmCpu *cpu = sweep->cpu;
  const RvSgmConfig *c = sweep->config;
  const RvPlane *left = &sweep->job->left;
  const int y = sweep->up ? c->height - 1 - row : row;
  RvSgmRow r = {.config = c,
                .row = row,
                .cost_max = sweep->job->plan->cost_max,
                .p1_below = sweep->up ? c->p1 : sweep->job->plan->p1_ground,
                .p1_above = sweep->up ? sweep->job->plan->p1_ground : c->p1,
                .equiangular = sweep->job->plan->equiangular,
                .margin_scale = sweep->job->plan->margin_scale,
                .p2_of = c->adaptive_p2 ? sweep->job->plan->p2_of : NULL,
                .gray = (const uint8_t *)left->data + y * left->stride,
                .slot = rv_sgm_sums(cpu, y),
                .chain = {sweep->own->chain, sweep->own->chain_min},
                .vertical = cpu->sweep[sweep->up].vertical,
                .diagonal = {cpu->sweep[sweep->up].diagonal[0], cpu->sweep[sweep->up].diagonal[1]},
                .diagonals = cpu->diagonals,
                .diagonal_at = {(cpu->diagonals - row % cpu->diagonals) % cpu->diagonals,
                                row % cpu->diagonals}};
  if (row > 0)
    r.gray_before = r.gray + (sweep->up ? left->stride : -left->stride);
  const RvSgmPass pass = claim(sweep, row, y);
  const int first = pass != RV_SGM_FINAL8 && pass != RV_SGM_FINAL4;
  const int last = pass != RV_SGM_PARTIAL8 && pass != RV_SGM_PARTIAL4;
  rv_sgm_cpu_describe(cpu, sweep->job, y, sweep->own, &r);
  if (first)
    begin_row(sweep, &r);
  if (last)
    open_maps(c, sweep->own, &r);
  sweep_columns(sweep, &r, pass);
  if (last)
    close_maps(cpu, c, y, &r);
  else
    __atomic_store_n(cpu->reached + y, HAS_SUMS, __ATOMIC_RELEASE);
}

static void clear_paths(const RvSgmCpu *cpu, const RvSgmConfig *c, int way) {
  const size_t state = (size_t)c->disparities * (size_t)cpu->cell;
  memset(cpu->sweep[way].vertical.cells, 0, (size_t)c->width * state);
  memset(cpu->sweep[way].vertical.minima, 0, (size_t)c->width * (size_t)cpu->cell);
  for (int i = 0; i < 2 && c->paths == 8; i++) {
    memset(cpu->sweep[way].diagonal[i].cells, 0, (size_t)cpu->diagonals * state);
    memset(cpu->sweep[way].diagonal[i].minima, 0, (size_t)cpu->diagonals * (size_t)cpu->cell);
  }
}

/* Thread `me` of `team`: every other thread goes up when there are two sweeps to share. */
static void run_thread(const RvSgmCpu *cpu, const RvSgmJob *job, int me, int team) {
  const RvSgmConfig *c = &job->plan->config;
  const int ways = c->paths == 2 ? 1 : 2, shared = rv_min(ways, team);
  const int place = me / shared, members = (team - me % shared + shared - 1) / shared;
  const int before = (place + members - 1) % members * shared + me % shared;
  for (int way = 0; way < ways; way++) {
    if (shared == 2 && way != me % 2)
      continue;
    Sweep sweep = {
        .cpu = cpu, .config = c, .job = job, .up = way, .own = rv_sgm_cpu_scratch(cpu, me)};
    if (before != me)
      sweep.before = rv_sgm_cpu_scratch(cpu, before);
    for (int row = place; row < c->height; row += members)
      sweep_row(&sweep, row);
  }
}

RvStatus rv_sgm_cpu_match(void *work, RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
  const RvSgmConfig *c = &job->plan->config;
  for (int way = 0; way < (c->paths == 2 ? 1 : 2); way++)
    clear_paths(cpu, c, way);
  memset(cpu->reached, 0, (size_t)c->height * sizeof *cpu->reached); /* UNTOUCHED */
  for (int i = 0; i < cpu->threads; i++) {
    RvSgmScratch *own = rv_sgm_cpu_scratch(cpu, i);
    own->done = own->claimed = 0;
  }
#pragma omp parallel num_threads(cpu->threads)
  run_thread(cpu, job, omp_get_thread_num(), omp_get_num_threads());
  return RV_OK;
}
