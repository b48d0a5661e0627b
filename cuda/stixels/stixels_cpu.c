/* SPDX-License-Identifier: MIT */
/* stixels_cpu.c: the CPU engine of stixels: cells, ground plane, output and rendering. */
#include <string.h>

#include "stixels/stixels_cpu.h"
#include "rv_openmp.h"

typedef struct RvStixelsCpu {
  int threads;
  int bins; /* integer px of a row of votes */
  RvStixelsTables *tables;
  RvStixelsNetwork *network; /* NULL without it */
  RvStixelsState *state;     /* 2: after this frame, before its vote */
  RvStixelsCell *cells;      /* [column][row] */
  uint16_t *semantics;       /* [column][index][row] */
  uint16_t *own;             /* the same of each cell alone; `semantics` where nothing is shared */
  RvStixelsRepair repair;    /* NULL, NULL without it */
  int32_t *votes, *near;   /* [row][bin]: cells; with those of the neighboring bins, at most cap */
  RvStixelsColumn *column; /* [thread] */
  RvStixelsKinds *kinds;   /* NULL without semantic priors */
  RvStixel *made;          /* [column][row] */
  uint32_t *counts;        /* columns + 1: stixels per column */
} RvStixelsCpu;

/* --- Memory ---------------------------------------------------------------------------------- */

static void take_column(RvStixelsColumn *c, const RvStixelsPlan *plan, char *memory, size_t stride,
                        size_t *used) {
  const size_t rows = (size_t)plan->rows;
  const int is_flat = plan->config.model == RV_STIXELS_CONSTANT;
  const size_t sums = (rows + 1) * sizeof *c->sums, best = rows * sizeof *c->best;
  const size_t bounds = rows * (sizeof *c->least + sizeof *c->past);
  const size_t costs = is_flat ? (rows + 1) * sizeof *c->steps : 0;
  const size_t px = (size_t)plan->config.max_disparity + 1;
  const size_t keys = (size_t)plan->semantics * (rows + 1) * sizeof *c->keys;
  const size_t sky = (rows + 1) * sizeof *c->sky, kinds = rows * (size_t)plan->kinds;
  const size_t words = plan->config.cuts == RV_STIXELS_CUTS_NETWORK
                           ? 2 * RV_STIXELS_NETWORK_QUADS * rv_stixels_network_pitch(plan->rows)
                           : 0;
  const size_t tables = sums + best + bounds + keys + sky + costs * (1 + px);
  const size_t channels = tables + kinds * (sizeof *c->endings + sizeof *c->under);
  *used = channels + words * sizeof *c->channels + rows + 1;
  if (!memory || !stride)
    return;
  c->sums = (RvStixelsSums *)(void *)memory;
  c->best = (void *)(memory + sums);
  c->least = (void *)(memory + sums + best);
  c->past = c->least + rows;
  c->keys = (uint32_t *)(void *)(memory + sums + best + bounds);
  c->sky = (int32_t *)(void *)(memory + sums + best + bounds + keys);
  c->flat = c->sky + rows + 1;
  c->steps = c->flat + costs / sizeof *c->steps;
  c->endings = (RvStixelsBest *)(void *)(memory + tables);
  c->under = (int32_t *)(void *)(c->endings + kinds);
  c->cuts = (uint8_t *)memory + *used - (rows + 1);
  c->channels = (uint32_t *)(void *)(memory + channels);
}

static void layout(void *work, const void *memory, RvArena *arena) {
  RvStixelsCpu *cpu = work;
  const RvStixelsPlan *plan = memory;
  const size_t columns = (size_t)plan->columns, rows = (size_t)plan->rows;
  cpu->threads = rv_min(rv_threads(plan->config.threads), plan->columns);
  cpu->bins = RV_STIXELS_BOTTOMS * plan->bottom_step + 2;
  cpu->tables = rv_arena_take(arena, sizeof *cpu->tables);
  cpu->state = rv_arena_take(arena, 2 * sizeof *cpu->state);
  cpu->network = plan->config.cuts == RV_STIXELS_CUTS_NETWORK
                     ? rv_arena_take(arena, sizeof *cpu->network)
                     : NULL;
  cpu->cells = rv_arena_take(arena, columns * rows * sizeof *cpu->cells);
  cpu->semantics =
      rv_arena_take(arena, columns * rows * (size_t)plan->semantics * sizeof *cpu->semantics);
  cpu->own = rv_stixels_shares(plan)
                 ? rv_arena_take(arena, columns * rows * (size_t)plan->semantics * sizeof *cpu->own)
                 : cpu->semantics;
  const size_t judged = rv_stixels_repairs(plan) ? columns * rows : 0;
  cpu->repair = (RvStixelsRepair){0};
  if (judged) {
    cpu->repair.spots = rv_arena_take(arena, judged * sizeof *cpu->repair.spots);
    cpu->repair.verdicts = rv_arena_take(arena, judged * sizeof *cpu->repair.verdicts);
  }
  cpu->votes = rv_arena_take(arena, rows * (size_t)cpu->bins * sizeof *cpu->votes);
  cpu->near = rv_arena_take(arena, rows * (size_t)cpu->bins * sizeof *cpu->near);
  cpu->made = rv_arena_take(arena, columns * rows * sizeof *cpu->made);
  cpu->counts = rv_arena_take(arena, (columns + 1) * sizeof *cpu->counts);
  cpu->kinds = plan->kinds ? rv_arena_take(arena, sizeof *cpu->kinds) : NULL;
  const size_t count = (size_t)cpu->threads;
  cpu->column = rv_arena_take(arena, count * sizeof *cpu->column);
  RvStixelsColumn none = {0};
  size_t used = 0;
  take_column(&none, plan, NULL, 0, &used);
  const size_t stride = (used + 63) / 64 * 64;
  char *columns_memory = rv_arena_take(arena, count * stride);
  for (size_t k = 0; columns_memory && k < count; k++) {
    cpu->column[k] = (RvStixelsColumn){0};
    take_column(&cpu->column[k], plan, columns_memory + k * stride, stride, &used);
  }
}

static RvStatus open(void *work, const void *memory) {
  RvStixelsCpu *cpu = work;
  const RvStixelsPlan *plan = memory;
  rv_stixels_make_tables(plan, cpu->tables);
  if (plan->kinds)
    rv_stixels_make_kinds(plan, cpu->kinds);
  cpu->state[0] = cpu->state[1] = plan->start;
  return cpu->network ? rv_stixels_make_network(&plan->config, cpu->network) : RV_OK;
}

/* --- Cells ----------------------------------------------------------------------------------- */

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

/* A block of pixels. */
typedef struct Block {
  int left, right, high, low;
} Block;

/* Sums over pixels above `above`; *low, *high: range of their disparities. */
static RvStixelsPixels sum_pixels(const RvStixelsJob *job, const Block *block, int above,
                                  int *least, int *most) {
  const RvPlane *confidence = &job->input.confidence;
  RvStixelsPixels sum = {0, 0, 0};
  for (int y = block->high; y < block->low; y++) {
    const uint16_t *d = row_of(&job->input.disparity, y);
    const uint8_t *c = confidence->data ? row_of(confidence, y) : NULL;
    for (int u = block->left; u < block->right; u++) {
      if (d[u] <= above)
        continue;
      const int weight = c ? rv_stixels_confidence_weight(job->plan, c[u]) : 255;
      sum.n++;
      sum.c += weight;
      sum.cd += (int64_t)weight * d[u];
      *least = rv_min(*least, d[u]);
      *most = rv_max(*most, d[u]);
    }
  }
  return sum;
}

static RvStixelsCell make_cell(const RvStixelsJob *job, int x, int v) {
  const RvStixelsPlan *plan = job->plan;
  const int left = x * plan->config.stixel_width,
            low = plan->config.height - v * plan->config.vertical_step;
  const Block block = {left, rv_min(left + plan->config.stixel_width, plan->config.width),
                       rv_max(low - plan->config.vertical_step, 0), low};
  int least = UINT16_MAX, most = 0;
  const RvStixelsPixels all = sum_pixels(job, &block, 0, &least, &most);
  RvStixelsPixels side = all;
  if (all.c > 0 && rv_stixels_is_mixed(plan, least, most)) {
    const RvStixelsPixels near = sum_pixels(job, &block, rv_stixels_middle(&all), &least, &most);
    side = rv_stixels_side(&all, &near);
  }
  const int pixels = (block.right - block.left) * (block.low - block.high);
  return rv_stixels_cell(pixels, all.n, &side, plan->config.max_disparity);
}

static RvStatus cells(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  const RvStixelsPlan *plan = job->plan;
#pragma omp parallel for num_threads(cpu->threads)
  for (int v = 0; v < plan->rows; v++)
    for (int x = 0; x < plan->columns; x++)
      cpu->cells[(size_t)x * (size_t)plan->rows + (size_t)v] = make_cell(job, x, v);
  return RV_OK;
}

static RvStatus semantics(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  rv_stixels_cpu_semantics(job, cpu->tables->scores, cpu->own, cpu->threads);
  return RV_OK;
}

/* --- Ground ---------------------------------------------------------------------------------- */

static void count_votes(const RvStixelsCpu *cpu, const RvStixelsPlan *plan) {
  const size_t bins = (size_t)cpu->bins, rows = (size_t)plan->rows;
  memset(cpu->votes, 0, rows * bins * sizeof *cpu->votes);
  for (int x = 0; x < plan->columns; x++)
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
      near[k] = rv_min(votes[k - 1] + votes[k] + votes[k + 1], plan->cap);
  }
}

/* Votes of a line in the rows where it has at least 2 px. Its px in row v is the integer nearest to
 * bottom (horizon - 64 v) / horizon, here without a division: `left` is the remainder of the
 * numerator. */
static int score_of(const RvStixelsCpu *cpu, const RvStixelsPlan *plan, int line) {
  const int64_t bottom = (line / RV_STIXELS_HORIZONS + 1) * (int64_t)plan->bottom_step;
  const int64_t horizon =
      (int64_t)plan->rows * (RV_STIXELS_HORIZON_FIRST + line % RV_STIXELS_HORIZONS);
  int64_t px = bottom, left = horizon / 2;
  int score = 0;
  for (int v = 0; v < plan->rows && px >= 2; v++) {
    score += cpu->near[(size_t)v * (size_t)cpu->bins + (size_t)px];
    left -= 64 * bottom;
    for (; left < 0; left += horizon)
      px--;
  }
  return score;
}

static RvStixelsRoad sum_road(const RvStixelsCpu *cpu, const RvStixelsPlan *plan,
                              const RvStixelsPlane *line) {
  RvStixelsRoad r = {0, 0, 0, 0, 0};
  for (int x = 0; x < plan->columns; x++)
    for (int v = 0; v < plan->rows; v++) {
      const RvStixelsCell cell = cpu->cells[(size_t)x * (size_t)plan->rows + (size_t)v];
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

static RvStatus ground(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  const RvStixelsPlan *plan = job->plan;
  count_votes(cpu, plan);
  int best = -1, line = 0;
  for (int k = 0; k < RV_STIXELS_BOTTOMS * RV_STIXELS_HORIZONS; k++) {
    const int score = score_of(cpu, plan, k);
    if (score > best) {
      best = score;
      line = k;
    }
  }
  const RvStixelsPlane plane = rv_stixels_line_plane(plan, line);
  const RvStixelsRoad road = sum_road(cpu, plan, &plane);
  cpu->state[1] = cpu->state[0];
  rv_stixels_follow(plan, line, best, &road, cpu->state);
  return RV_OK;
}

/* --- Cells after the vote -------------------------------------------------------------------- */

/* Cells of a row that only the left view sees. */
static void fill_row(const RvStixelsCpu *cpu, const RvStixelsPlan *plan, int v) {
  const size_t rows = (size_t)plan->rows;
  RvStixelsCell *row = cpu->cells + v;
  int left = -1, d_left = 0;
  for (int x = 0; x < plan->columns; x++) {
    const RvStixelsCell right = row[(size_t)x * rows];
    if (right.weight == 0)
      continue;
    if (rv_stixels_is_one_view(plan, left, x, d_left, right.disparity))
      for (int k = left + 1; k < x; k++)
        row[(size_t)k * rows] = rv_stixels_one_view(plan, left, d_left, right.disparity);
    left = x;
    d_left = right.disparity;
  }
}

/* Before the first stage behind the vote, which does not count these cells. */
static void fill_rows(const RvStixelsCpu *cpu, const RvStixelsPlan *plan) {
#pragma omp parallel for num_threads(cpu->threads)
  for (int v = 0; v < plan->rows; v++)
    if (plan->one_view > 0)
      fill_row(cpu, plan, v);
}

/* The expected ground of the frame, after the vote; a surface sets the state. */
static RvStixelsPlane ground_of(const RvStixelsPlan *plan, const RvStixelsInput *input,
                                const RvStixelsState *before, RvStixelsState *state) {
  if (input->surface)
    rv_stixels_take(plan, input->surface, state);
  return plan->estimate ? rv_stixels_voted(before, state) : state->ground;
}

static RvStatus repair(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  RvStixelsState state = cpu->state[0]; /* that of the columns is taken later */
  const RvStixelsPlane plane = ground_of(job->plan, &job->input, &cpu->state[1], &state);
  fill_rows(cpu, job->plan);
  rv_stixels_cpu_repair(job->plan, &plane, cpu->cells, &cpu->repair, cpu->own, cpu->threads);
  return RV_OK;
}

static RvStatus share(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  if (!rv_stixels_is_repaired(job))
    fill_rows(cpu, job->plan);
  rv_stixels_cpu_share(job->plan, cpu->cells, cpu->own, cpu->semantics, cpu->threads);
  return RV_OK;
}

/* --- Columns --------------------------------------------------------------------------------- */

static void write_list(const RvStixelsCpu *cpu, const RvStixelsPlan *plan,
                       const RvStixelsOutput *out) {
  uint32_t sum = 0;
  for (int x = 0; x <= plan->columns; x++) {
    const uint32_t count = x < plan->columns ? cpu->counts[x] : 0;
    const RvStixel *made = cpu->made + (size_t)x * (size_t)plan->rows;
    for (uint32_t k = 0; out->stixels && k < count && sum + k < out->capacity; k++)
      out->stixels[sum + k] = made[k];
    if (out->offsets)
      out->offsets[x] = sum;
    sum += count;
  }
}

static RvStatus columns(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  const RvStixelsPlan *plan = job->plan;
  const RvStixelsOutput *out = &job->output;
  const RvStixelsNetworkKernel *kernel = rv_stixels_network_kernel(0);
  const RvStixelsPlane ground = ground_of(plan, &job->input, &cpu->state[1], cpu->state);
  if (!rv_stixels_is_shared(job) && !rv_stixels_is_repaired(job))
    fill_rows(cpu, plan);
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic)
  for (int x = 0; x < plan->columns; x++) {
    RvStixelsColumn *c = &cpu->column[omp_get_thread_num()];
    const size_t at = (size_t)x * (size_t)plan->rows;
    c->plan = plan;
    c->costs = (const int32_t(*)[RV_STIXELS_TABLE])cpu->tables->costs;
    c->cut_cost = cpu->tables->cuts;
    c->kernel = kernel;
    c->network = cpu->network;
    c->ground = ground;
    c->cells = cpu->cells + at;
    c->semantics =
        rv_stixels_has_semantics(job) ? cpu->semantics + at * (size_t)plan->semantics : NULL;
    c->kinds = rv_stixels_has_kinds(job) ? cpu->kinds : NULL;
    const int32_t energy = rv_stixels_solve(c, x, cpu->made + at, &cpu->counts[x]);
    if (out->energies)
      out->energies[x] = energy;
    if (out->cuts)
      memcpy(out->cuts + at, c->cuts, (size_t)plan->rows);
  }
  write_list(cpu, plan, out);
  if (out->ground)
    *out->ground = (RvStixelsGround){ground.at, ground.slope, cpu->state->found, cpu->state->score};
  return RV_OK;
}

static RvStatus refine(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  rv_stixels_cpu_refine(job, cpu->threads);
  return RV_OK;
}

/* --- Rendering ------------------------------------------------------------------------------- */

static void clear_column(const RvPlane *plane, int left, int right, int byte) {
  const size_t size = rv_format_bytes(plane->format);
  for (int y = 0; plane->data && y < plane->height; y++)
    memset((char *)plane->data + y * plane->stride + (size_t)left * size, byte,
           (size_t)(right - left) * size);
}

static void draw(const RvStixelsMaps *maps, const RvStixel *s, int left, int right) {
  for (int y = s->v_top; y <= s->v_bottom; y++) {
    uint16_t *d = maps->disparity.data ? (uint16_t *)(uintptr_t)row_of(&maps->disparity, y) : NULL;
    const uint16_t value = rv_stixels_rendered(s, y);
    for (int x = left; d && x < right; x++)
      d[x] = value;
    if (maps->classes.data)
      memset((char *)(uintptr_t)row_of(&maps->classes, y) + left, s->structure,
             (size_t)(right - left));
  }
}

static RvStatus render(void *work, RvStixelsJob *job) {
  const RvStixelsCpu *cpu = work;
  const RvStixelsPlan *plan = job->plan;
  const RvStixelsConfig *config = &plan->config;
  const RvStixelsMaps *maps = &job->maps;
#pragma omp parallel for num_threads(cpu->threads)
  for (int x = 0; x < plan->columns; x++) {
    const int left = x * config->stixel_width;
    const int right = rv_min(left + config->stixel_width, config->width);
    clear_column(&maps->disparity, left, right, 0);
    clear_column(&maps->classes, left, right, 255);
    const uint32_t end = maps->offsets[x + 1];
    for (uint32_t k = maps->offsets[x]; k < end && k < maps->capacity; k++) {
      RvStixel s = maps->list[k];
      s.v_bottom = (uint16_t)rv_min(s.v_bottom, config->height - 1);
      draw(maps, &s, left, right);
    }
  }
  return RV_OK;
}

RV_ENGINE(RvStixels, stixels, cpu, RvStixelsCpu, layout, open, NULL, .cells = cells,
          .ground = ground, .semantics = semantics, .repair = repair, .share = share,
          .columns = columns, .refine = refine, .render = render);
