/* SPDX-License-Identifier: MIT */
/* lanes_cpu.c: the CPU engine of the lane lines: rows, marks, votes. */
#include "lanes/lanes_cpu.h"
#include "lanes/lanes_host.h"
#include "rv_openmp.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#  define ROW_LOOP __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#  define ROW_LOOP
#endif

#define CHUNK 256 /* marks whose bins are found together */

static void layout(void *work, const void *plan, RvArena *arena) {
  RvLanesCpu *cpu = work;
  const RvLanesPlan *p = plan;
  const size_t rows = (size_t)p->rows, hits = (size_t)p->hits;
  cpu->threads = rv_threads(p->config.threads);
  const size_t columns = (size_t)cpu->threads * (size_t)(p->columns + 16);
  cpu->state = rv_arena_take(arena, sizeof *cpu->state);
  cpu->rows = rv_arena_take(arena, rows * sizeof *cpu->rows);
  cpu->upto = rv_arena_take(arena, columns * sizeof *cpu->upto);
  cpu->response = rv_arena_take(arena, columns * sizeof *cpu->response);
  cpu->gray = rv_arena_take(arena, columns);
  cpu->place = rv_arena_take(arena, hits * sizeof *cpu->place);
  cpu->strength = rv_arena_take(arena, hits * sizeof *cpu->strength);
  cpu->found = rv_arena_take(arena, rows * sizeof *cpu->found);
  cpu->points = rv_arena_take(arena, (size_t)p->horizons * hits * sizeof *cpu->points);
  cpu->values = rv_arena_take(arena, (size_t)p->horizons * hits * sizeof *cpu->values);
  cpu->scores = rv_arena_take(arena, (size_t)p->spaces * sizeof *cpu->scores);
}

RV_CLEARED_STATE(RvLanesCpu, const RvLanesJob);

/* --- Rows ------------------------------------------------------------------------------------ */

/* q of a row in 1/256 px at the axis. */
static int q_of(const RvLanesCpu *cpu, const RvLanesJob *job, const int32_t *bin_rows, int row) {
  return rv_lanes_row_at(job->plan, &cpu->view, job->source.ground, bin_rows, row);
}

static RvStatus rows(void *work, const RvLanesJob *job) {
  RvLanesCpu *cpu = work;
  const RvLanesPlan *p = job->plan;
  int32_t bin_rows[RV_GROUND_BINS];
  cpu->view = rv_lanes_view(p, job->source.ground, cpu->state);
  for (int k = 0; k < RV_GROUND_BINS && !p->is_camera && cpu->view.height; k++)
    bin_rows[k] = rv_lanes_bin_row(p, job->source.ground, k);
  for (int y = 0; y < p->rows; y++) {
    const int at = 256 * y * p->stride, half = 128 * p->stride;
    if (cpu->view.height == 0)
      cpu->rows[y] = rv_lanes_row(p, 0, 0, 0);
    else
      cpu->rows[y] =
          rv_lanes_row(p, q_of(cpu, job, bin_rows, at), q_of(cpu, job, bin_rows, at - half),
                       q_of(cpu, job, bin_rows, at + half));
  }
  return RV_OK;
}

/* --- Marks ----------------------------------------------------------------------------------- */

/* Responses of the columns lo..hi; returns the sum of |C - L|. */
ROW_LOOP static uint32_t respond(const uint32_t *restrict upto, const RvLanesRow *row,
                                 int32_t *restrict out) {
  const int k = row->k, count = row->hi - row->lo + 1;
  const uint32_t *c = upto + row->lo - k / 2, *l = c - row->g - k, *r = c + k + row->g;
  int32_t *y = out + row->lo;
  uint32_t noise = 0;
#pragma omp simd reduction(+ : noise)
  for (int i = 0; i < count; i++) {
    const int32_t center = (int32_t)(c[i + k] - c[i]), left = (int32_t)(l[i + k] - l[i]);
    const int32_t right = (int32_t)(r[i + k] - r[i]), off = center - left;
    y[i] = center - (left > right ? left : right);
    noise += (uint32_t)(off < 0 ? -off : off);
  }
  return noise;
}

/* upto[first..last + 1]: sums of the columns from `first` on. */
static void sum_up(const RvLanesPlan *p, const uint8_t *gray, int first, int last, uint8_t *mean,
                   uint32_t *upto) {
  if (p->n > 1) {
    for (int u = first; u <= last; u++)
      mean[u] = rv_lanes_mean(gray + u * p->n, p->n);
    gray = mean;
  }
  uint32_t sum = 0;
  for (int u = first; u <= last; u++) {
    upto[u] = sum;
    sum += gray[u];
  }
  upto[last + 1] = sum;
}

/* First maximum within k columns. */
static int is_peak(const RvLanesRow *row, const int32_t *response, int u) {
  const int y = response[u];
  for (int i = rv_max(u - row->k, row->lo); i < u; i++)
    if (response[i] >= y)
      return 0;
  for (int i = u + 1; i <= rv_min(u + row->k, row->hi); i++)
    if (response[i] > y)
      return 0;
  return 1;
}

/* Position of the mark at column u, in 1/16 px. */
static int center_of(const RvLanesPlan *p, const RvLanesRow *row, const RvLanesSums *s,
                     const uint32_t *upto, int u) {
  const uint32_t *from = upto + u - row->k / 2 - row->g;
  const int base = rv_max(s->l, s->r) / row->k;
  int sum = 0, moment = 0;
  for (int i = 0; i < row->k + 2 * row->g; i++) {
    const int over = (int)(from[i + 1] - from[i]) - base;
    sum += over > 0 ? over : 0;
    moment += over > 0 ? over * i : 0;
  }
  return 16 * p->n * u + rv_lanes_shift(p, row, sum, moment);
}

/* 1 when the mark at column `u` (1/16 px) lies on the ground. */
static int is_on_ground(const RvLanesCpu *cpu, const RvLanesJob *job, int y, int u) {
  const RvPlane *d = &job->source.disparity;
  if (!d->data)
    return 1;
  const int q = rv_lanes_q_at(job->plan, &cpu->view, cpu->rows[y].q, u);
  const char *row = (const char *)d->data + (ptrdiff_t)y * job->plan->stride * d->stride;
  return !rv_lanes_is_near(job->plan, ((const uint16_t *)(const void *)row)[u / 16], q);
}

static void search_row(RvLanesCpu *cpu, const RvLanesJob *job, int y) {
  const RvLanesPlan *p = job->plan;
  const RvLanesRow *row = &cpu->rows[y];
  cpu->found[y] = 0;
  if (row->hi < row->lo)
    return;
  const size_t at = (size_t)omp_get_thread_num() * (size_t)(p->columns + 16);
  uint32_t *upto = cpu->upto + at;
  int32_t *response = cpu->response + at;
  const RvPlane *plane = &job->source.gray;
  const int first = row->lo - row->k / 2 - row->g - row->k;
  const int last = row->hi - row->k / 2 + 2 * row->k + row->g - 1;
  sum_up(p, (const uint8_t *)plane->data + (ptrdiff_t)y * p->stride * plane->stride, first, last,
         cpu->gray + at, upto);
  const uint32_t noise = respond(upto, row, response);
  for (int u = row->lo; u <= row->hi && cpu->found[y] < RV_LANES_ROW_HITS; u++) {
    if (!rv_lanes_is_mark(p, row, response[u], noise) || !is_peak(row, response, u))
      continue;
    const RvLanesSums sums = rv_lanes_sums(upto, row, u);
    if (!rv_lanes_is_balanced(row, &sums))
      continue;
    const int center = center_of(p, row, &sums, upto, u);
    if (!is_on_ground(cpu, job, y, center))
      continue;
    const int to = y * RV_LANES_ROW_HITS + cpu->found[y]++;
    cpu->place[to] = rv_lanes_place(y, center);
    cpu->strength[to] = response[u];
  }
}

static RvStatus marks(void *work, const RvLanesJob *job) {
  RvLanesCpu *cpu = work;
  const RvLanesPlan *p = job->plan;
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic, 16)
  for (int y = 0; y < p->rows; y++)
    search_row(cpu, job, y);
  cpu->hits = 0;
  for (int y = 0; y < p->rows; y++)
    for (int i = 0; i < cpu->found[y]; i++) {
      const uint32_t place = cpu->place[y * RV_LANES_ROW_HITS + i];
      const int strength = cpu->strength[y * RV_LANES_ROW_HITS + i];
      for (int j = 0; j < p->horizons; j++) {
        const RvLanesHit hit =
            rv_lanes_hit_at(p, &cpu->view, &cpu->rows[y], y, strength, rv_lanes_place_u(place), j);
        cpu->points[(size_t)j * (size_t)p->hits + (size_t)cpu->hits] = hit.point;
        cpu->values[(size_t)j * (size_t)p->hits + (size_t)cpu->hits] = hit.value;
      }
      cpu->place[cpu->hits++] = place; /* the writes never overtake the reads */
    }
  return RV_OK;
}

/* --- Votes ----------------------------------------------------------------------------------- */

/* Bins of `count` points; RV_LANES_BINS: none. */
ROW_LOOP static void find_bins(RvLanesSpace space, const uint32_t *restrict points, int count,
                               uint8_t *restrict bins) {
#pragma omp simd
  for (int i = 0; i < count; i++) {
    const int bin = rv_lanes_bin(space, points[i]);
    bins[i] = (uint8_t)(bin < 0 ? RV_LANES_BINS : bin);
  }
}

/* Votes of a space; votes[RV_LANES_BINS] becomes 0. */
static void vote(const RvLanesCpu *cpu, const RvLanesPlan *p, int index, uint32_t *votes) {
  const size_t first = (size_t)rv_lanes_space_horizon(p, index) * (size_t)p->hits;
  const uint32_t *points = cpu->points + first, *values = cpu->values + first;
  const RvLanesSpace space = rv_lanes_space(p, index);
  uint8_t bins[CHUNK];
  memset(votes, 0, (RV_LANES_BINS + 1) * sizeof *votes);
  for (int i = 0; i < cpu->hits; i += CHUNK) {
    const int count = rv_min(cpu->hits - i, CHUNK);
    find_bins(space, points + i, count, bins);
    for (int k = 0; k < count; k++)
      votes[bins[k]] += values[i + k];
  }
  votes[RV_LANES_BINS] = 0;
}

static RvStatus votes(void *work, const RvLanesJob *job) {
  RvLanesCpu *cpu = work;
  const RvLanesPlan *p = job->plan;
#pragma omp parallel for num_threads(cpu->threads) schedule(static)
  for (int s = 0; s < p->spaces; s++) {
    uint32_t v[RV_LANES_BINS + 1];
    uint64_t parts = 0;
    vote(cpu, p, s, v);
    for (int b = 0; b < RV_LANES_BINS; b++)
      parts += rv_lanes_part(v[b], v[b + 1]);
    cpu->scores[s] = rv_lanes_score(p, s, parts);
  }
  cpu->key = cpu->sum = 0;
  for (int s = 0; s < p->spaces; s++) {
    const uint64_t key = rv_lanes_key(p, s, cpu->scores[s]);
    cpu->key = key > cpu->key ? key : cpu->key;
    cpu->sum += cpu->scores[s];
  }
  vote(cpu, p, rv_lanes_key_index(p, cpu->key), cpu->votes);
  return RV_OK;
}

RV_ENGINE(RvLanes, lanes, cpu, RvLanesCpu, layout, open_cpu, NULL, .rows = rows, .marks = marks,
          .votes = votes, .lines = rv_lanes_cpu_lines, .reset = reset);
