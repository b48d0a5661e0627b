/* SPDX-License-Identifier: MIT */
/* stixels_cpu.c: the CPU engine of stixels: cells, ground plane, output and rendering. */
#include <omp.h>
#include <string.h>

#include "stixels/stixels_cpu.h"

typedef struct RvStixelsCpu {
  int threads;
  int bins; /* whole px of a row of votes */
  int32_t (*table)[RV_STIXELS_TABLE];
  RvStixelsState *state;
  RvStixelsCell *cells;    /* [column][row] */
  uint16_t *scores;        /* RvStixelsSetup.scores */
  uint16_t *semantics;     /* [column][place][row] */
  int32_t *votes, *near;   /* [row][bin]: cells; cells within a bin, at most cap */
  RvStixelsColumn *column; /* [thread] */
  RvStixel *made;          /* [column][row] */
  uint32_t *counts;        /* columns + 1: stixels; later those of all columns to the left */
} RvStixelsCpu;

/* --- Memory ---------------------------------------------------------------------------------- */

static void take_column(RvStixelsColumn *c, const RvStixelsModel *m, char *memory, size_t stride,
                        size_t *used) {
  const size_t rows = (size_t)m->rows;
  const int is_flat = m->kind == RV_STIXELS_CONSTANT;
  const size_t sums = (rows + 1) * sizeof *c->sums, best = rows * sizeof *c->best;
  const size_t bounds = rows * (sizeof *c->least + sizeof *c->past);
  const size_t costs = is_flat ? (rows + 1) * sizeof *c->steps : 0;
  const size_t px = (size_t)m->disparity_max + 1;
  const size_t keys = (size_t)m->semantics * (rows + 1) * sizeof *c->keys;
  *used = sums + best + bounds + keys + costs * (2 + px) + rows + 1;
  if (!memory || !stride)
    return;
  c->sums = (RvStixelsSums *)(void *)memory;
  c->best = (void *)(memory + sums);
  c->least = (void *)(memory + sums + best);
  c->past = c->least + rows;
  c->keys = (uint32_t *)(void *)(memory + sums + best + bounds);
  c->flat[0] = (int32_t *)(void *)(memory + sums + best + bounds + keys);
  c->flat[1] = c->flat[0] + costs / sizeof *c->steps;
  c->steps = c->flat[1] + costs / sizeof *c->steps;
  c->cuts = (uint8_t *)memory + *used - (rows + 1);
}

static void layout(void *work, const RvStixelsModel *m, int threads, RvArena *arena) {
  RvStixelsCpu *cpu = work;
  const size_t columns = (size_t)m->columns, rows = (size_t)m->rows;
  cpu->threads = rv_min(rv_threads(threads), m->columns);
  cpu->bins = RV_STIXELS_BOTTOMS * m->bottom_step + 2;
  cpu->table = rv_arena_take(arena, RV_STIXELS_CLASSES * sizeof *cpu->table);
  cpu->state = rv_arena_take(arena, sizeof *cpu->state);
  cpu->cells = rv_arena_take(arena, columns * rows * sizeof *cpu->cells);
  cpu->scores = rv_arena_take(arena, RV_STIXELS_SCORE_STEPS * sizeof *cpu->scores);
  cpu->semantics =
      rv_arena_take(arena, columns * rows * (size_t)m->semantics * sizeof *cpu->semantics);
  cpu->votes = rv_arena_take(arena, rows * (size_t)cpu->bins * sizeof *cpu->votes);
  cpu->near = rv_arena_take(arena, rows * (size_t)cpu->bins * sizeof *cpu->near);
  cpu->made = rv_arena_take(arena, columns * rows * sizeof *cpu->made);
  cpu->counts = rv_arena_take(arena, (columns + 1) * sizeof *cpu->counts);
  const size_t count = (size_t)cpu->threads;
  cpu->column = rv_arena_take(arena, count * sizeof *cpu->column);
  RvStixelsColumn none = {0};
  size_t used = 0;
  take_column(&none, m, NULL, 0, &used);
  const size_t stride = (used + 63) / 64 * 64;
  char *memory = rv_arena_take(arena, count * stride);
  for (size_t k = 0; memory && k < count; k++) {
    cpu->column[k] = (RvStixelsColumn){0};
    take_column(&cpu->column[k], m, memory + k * stride, stride, &used);
  }
}

static RvStatus open_cpu(void *work, const RvStixelsSetup *setup, const RvLog *log) {
  RvStixelsCpu *cpu = work;
  (void)log;
  memcpy(cpu->table, setup->table, sizeof setup->table);
  memcpy(cpu->scores, setup->scores, sizeof setup->scores);
  *cpu->state = setup->start;
  return RV_OK;
}

/* --- Cells ----------------------------------------------------------------------------------- */

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

/* A block of pixels. */
typedef struct Block {
  int left, right, high, low;
} Block;

/* Pixels of more than `above`; *least, *most: their disparities. */
static RvStixelsPixels sum_pixels(const RvStixelsModel *m, const RvStixelsJob *job,
                                  const Block *block, int above, int *least, int *most) {
  RvStixelsPixels sum = {0, 0, 0};
  for (int y = block->high; y < block->low; y++) {
    const uint16_t *d = row_of(&job->disparity, y);
    const uint8_t *trust = job->confidence.data ? row_of(&job->confidence, y) : NULL;
    for (int u = block->left; u < block->right; u++) {
      if (d[u] <= above)
        continue;
      const int weight = trust ? rv_stixels_confidence_weight(m, trust[u]) : 255;
      sum.n++;
      sum.c += weight;
      sum.cd += (int64_t)weight * d[u];
      *least = rv_min(*least, d[u]);
      *most = rv_max(*most, d[u]);
    }
  }
  return sum;
}

static RvStixelsCell make_cell(const RvStixelsModel *m, const RvStixelsJob *job, int x, int v) {
  const int left = x * m->cell_width, low = m->height - v * m->step;
  const Block block = {left, rv_min(left + m->cell_width, m->width), rv_max(low - m->step, 0), low};
  int least = UINT16_MAX, most = 0;
  const RvStixelsPixels all = sum_pixels(m, job, &block, 0, &least, &most);
  RvStixelsPixels side = all;
  if (all.c > 0 && rv_stixels_is_mixed(m, least, most)) {
    const RvStixelsPixels near = sum_pixels(m, job, &block, rv_stixels_middle(&all), &least, &most);
    side = rv_stixels_side(&all, &near);
  }
  const int pixels = (block.right - block.left) * (block.low - block.high);
  return rv_stixels_cell(pixels, all.n, &side, m->disparity_max);
}

static RvStatus cells(void *work, const RvStixelsModel *m, const RvStixelsJob *job,
                      const RvLog *log) {
  const RvStixelsCpu *cpu = work;
  (void)log;
#pragma omp parallel for num_threads(cpu->threads)
  for (int v = 0; v < m->rows; v++)
    for (int x = 0; x < m->columns; x++)
      cpu->cells[(size_t)x * (size_t)m->rows + (size_t)v] = make_cell(m, job, x, v);
  return RV_OK;
}

static RvStatus semantics(void *work, const RvStixelsModel *m, const RvStixelsJob *job,
                          const RvLog *log) {
  const RvStixelsCpu *cpu = work;
  (void)log;
  rv_stixels_cpu_semantics(m, job, cpu->scores, cpu->semantics, cpu->threads);
  return RV_OK;
}

/* --- Ground ---------------------------------------------------------------------------------- */

static void count_votes(const RvStixelsCpu *cpu, const RvStixelsModel *m) {
  const size_t bins = (size_t)cpu->bins, rows = (size_t)m->rows;
  memset(cpu->votes, 0, rows * bins * sizeof *cpu->votes);
  for (int x = 0; x < m->columns; x++)
    for (size_t v = 0; v < rows; v++) {
      const RvStixelsCell cell = cpu->cells[(size_t)x * rows + v];
      if (cell.weight)
        cpu->votes[v * bins + (size_t)rv_stixels_bin(cell.disparity)]++;
    }
  for (size_t v = 0; v < rows; v++) {
    const int32_t *votes = cpu->votes + v * bins;
    int32_t *near = cpu->near + v * bins;
    memset(near, 0, bins * sizeof *near);
    for (size_t k = 2; k + 1 < bins; k++)
      near[k] = rv_min(votes[k - 1] + votes[k] + votes[k + 1], m->cap);
  }
}

/* Votes of a line. Its px in each row is rv_stixels_line, here without a division: `left` is what
 * remains of the numerator. */
static int score_of(const RvStixelsCpu *cpu, const RvStixelsModel *m, int line) {
  const int64_t bottom = (line / RV_STIXELS_HORIZONS + 1) * (int64_t)m->bottom_step;
  const int64_t horizon =
      (int64_t)m->rows * (RV_STIXELS_HORIZON_FIRST + line % RV_STIXELS_HORIZONS);
  int64_t px = bottom, left = horizon / 2;
  int score = 0;
  for (int v = 0; v < m->rows && px >= 2; v++) {
    score += cpu->near[(size_t)v * (size_t)cpu->bins + (size_t)px];
    left -= 64 * bottom;
    for (; left < 0; left += horizon)
      px--;
  }
  return score;
}

static RvStixelsRoad sum_road(const RvStixelsCpu *cpu, const RvStixelsModel *m,
                              const RvStixelsPlane *line) {
  RvStixelsRoad r = {0, 0, 0, 0, 0};
  for (int x = 0; x < m->columns; x++)
    for (int v = 0; v < m->rows; v++) {
      const RvStixelsCell cell = cpu->cells[(size_t)x * (size_t)m->rows + (size_t)v];
      const RvStixelsBins on = rv_stixels_on_line(line, v, cpu->bins);
      const int bin = rv_stixels_bin(cell.disparity);
      if (cell.weight == 0 || bin < on.low || bin > on.high)
        continue;
      const int64_t row = v;
      r.n++;
      r.v += row;
      r.vv += row * row;
      r.d += cell.disparity;
      r.vd += row * cell.disparity;
    }
  return r;
}

static RvStatus ground(void *work, const RvStixelsModel *m, const RvStixelsJob *job,
                       const RvLog *log) {
  const RvStixelsCpu *cpu = work;
  (void)job;
  (void)log;
  if (!m->estimate)
    return RV_OK;
  count_votes(cpu, m);
  int best = -1, line = 0;
  for (int k = 0; k < RV_STIXELS_BOTTOMS * RV_STIXELS_HORIZONS; k++) {
    const int score = score_of(cpu, m, k);
    if (score > best) {
      best = score;
      line = k;
    }
  }
  const RvStixelsPlane plane = rv_stixels_line_plane(m, line);
  const RvStixelsRoad road = sum_road(cpu, m, &plane);
  rv_stixels_follow(m, line, best, &road, cpu->state);
  return RV_OK;
}

/* --- Columns --------------------------------------------------------------------------------- */

static void write_list(const RvStixelsCpu *cpu, const RvStixelsModel *m,
                       const RvStixelsOutput *out) {
  uint32_t sum = 0;
  for (int x = 0; x <= m->columns; x++) {
    const uint32_t count = x < m->columns ? cpu->counts[x] : 0;
    const RvStixel *made = cpu->made + (size_t)x * (size_t)m->rows;
    for (uint32_t k = 0; out->stixels && k < count && sum + k < out->capacity; k++)
      out->stixels[sum + k] = made[k];
    if (out->offsets)
      out->offsets[x] = sum;
    sum += count;
  }
}

static RvStatus columns(void *work, const RvStixelsModel *m, const RvStixelsJob *job,
                        const RvLog *log) {
  const RvStixelsCpu *cpu = work;
  const RvStixelsOutput *out = &job->output;
  (void)log;
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic)
  for (int x = 0; x < m->columns; x++) {
    RvStixelsColumn *c = &cpu->column[omp_get_thread_num()];
    const size_t at = (size_t)x * (size_t)m->rows;
    c->model = m;
    c->table = (const int32_t(*)[RV_STIXELS_TABLE])cpu->table;
    c->ground = cpu->state->ground;
    c->cells = cpu->cells + at;
    c->semantics =
        rv_stixels_has_semantics(job) ? cpu->semantics + at * (size_t)m->semantics : NULL;
    const int32_t energy = rv_stixels_solve(c, x, cpu->made + at, &cpu->counts[x]);
    if (out->energies)
      out->energies[x] = energy;
  }
  write_list(cpu, m, out);
  if (out->ground)
    *out->ground = (RvStixelsGround){cpu->state->ground.at, cpu->state->ground.slope,
                                     cpu->state->found, cpu->state->score};
  return RV_OK;
}

static RvStatus refine(void *work, const RvStixelsModel *m, const RvStixelsJob *job,
                       const RvLog *log) {
  const RvStixelsCpu *cpu = work;
  (void)log;
  rv_stixels_cpu_refine(m, job, cpu->threads);
  return RV_OK;
}

/* --- Rendering ------------------------------------------------------------------------------- */

static void clear_column(const RvPlane *plane, int left, int right, int byte) {
  const size_t size = rv_format_bytes(plane->format);
  for (int y = 0; plane->data && y < plane->height; y++)
    memset((char *)plane->data + y * plane->stride + (size_t)left * size, byte,
           (size_t)(right - left) * size);
}

static void draw(const RvStixelsDrawing *drawing, const RvStixel *s, int left, int right) {
  for (int y = s->v_top; y <= s->v_bottom; y++) {
    uint16_t *d =
        drawing->disparity.data ? (uint16_t *)(uintptr_t)row_of(&drawing->disparity, y) : NULL;
    const uint16_t value = rv_stixels_rendered(s, y);
    for (int x = left; d && x < right; x++)
      d[x] = value;
    if (drawing->classes.data)
      memset((char *)(uintptr_t)row_of(&drawing->classes, y) + left, s->structure,
             (size_t)(right - left));
  }
}

static RvStatus render(void *work, const RvStixelsModel *m, const RvStixelsDrawing *drawing,
                       const RvLog *log) {
  const RvStixelsCpu *cpu = work;
  (void)log;
#pragma omp parallel for num_threads(cpu->threads)
  for (int x = 0; x < m->columns; x++) {
    const int left = x * m->cell_width, right = rv_min(left + m->cell_width, m->width);
    clear_column(&drawing->disparity, left, right, 0);
    clear_column(&drawing->classes, left, right, 255);
    const uint32_t end = drawing->offsets[x + 1];
    for (uint32_t k = drawing->offsets[x]; k < end && k < drawing->capacity; k++) {
      RvStixel s = drawing->list[k];
      s.v_bottom = (uint16_t)rv_min(s.v_bottom, m->height - 1);
      draw(drawing, &s, left, right);
    }
  }
  return RV_OK;
}

const RvStixelsStages rv_stixels_stages_cpu = {
    .work_bytes = sizeof(RvStixelsCpu),
    .layout = layout,
    .open = open_cpu,
    .cells = cells,
    .semantics = semantics,
    .ground = ground,
    .columns = columns,
    .refine = refine,
    .render = render,
};
