/* SPDX-License-Identifier: MIT */
/* stixels_cpu_semantics.c: costs of the semantic classes in the cells, CPU engine. */
#include <string.h>

#include "rv_internal.h"
#include "stixels/stixels_cpu.h"

#define GROUP 512 /* px of the cells that are summed side by side; a cell has 64 at most */

/* Cells beside each other in a row of cells, and the size of the map that they read. */
typedef struct Group {
  int first, end;             /* columns of cells */
  int left, right, high, low; /* px of the frame; right and low are outside */
  int map_width, map_height;
} Group;

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

static int pixels_of(const RvStixelsPlan *plan, const Group *g, int x) {
  const int left = x * plan->config.stixel_width;
  return (rv_min(left + plan->config.stixel_width, plan->config.width) - left) * (g->low - g->high);
}

/* --- Scores ---------------------------------------------------------------------------------- */

/* Adds the scores of a row; a map of another width than the frame is read at the nearest px to the
 * left. */
RV_ROW_LOOP static void add_row(uint32_t *sums, const uint16_t *score, const Group *g, int width) {
  if (g->map_width == width)
    for (int x = g->left; x < g->right; x++)
      sums[x - g->left] += rv_stixels_score(score[x]);
  else
    for (int x = g->left; x < g->right; x++)
      sums[x - g->left] += rv_stixels_score(score[x * g->map_width / width]);
}

/* Sums of the scores of one class in the cells of a group. 64 scores of at most 2^23 fit in 32
 * bits, those of a cell in 64. */
static void sum_scores(const RvStixelsPlan *plan, const RvPlane *scores, const Group *g,
                       int semantic, uint64_t cells[GROUP]) {
  uint32_t sums[GROUP];
  memset(sums, 0, sizeof sums);
  for (int y = g->high; y < g->low; y++) {
    const int row = y * g->map_height / plan->config.height + semantic * g->map_height;
    add_row(sums, row_of(scores, row), g, plan->config.width);
  }
  for (int x = g->first; x < g->end; x++) {
    const int left = x * plan->config.stixel_width - g->left;
    const int right = rv_min(left + plan->config.stixel_width, g->right - g->left);
    cells[x - g->first] = 0;
    for (int k = left; k < right; k++)
      cells[x - g->first] += sums[k];
  }
}

/* --- Labels ---------------------------------------------------------------------------------- */

#define LABELS 33 /* up to 32 classes, then pixels of no class */

/* Pixels of each class in the cells of a group. */
static void count_labels(const RvStixelsPlan *plan, const RvPlane *labels, const Group *g,
                         uint16_t counts[GROUP][LABELS]) {
  memset(counts, 0, (size_t)(g->end - g->first) * sizeof counts[0]);
  for (int y = g->high; y < g->low; y++) {
    const uint8_t *label = row_of(labels, y * g->map_height / plan->config.height);
    for (int x = g->left; x < g->right; x++) {
      const int class = label[x * g->map_width / plan->config.width];
      const int cell = (x - g->left) / plan->config.stixel_width;
      counts[cell][class < plan->semantics ? class : LABELS - 1]++;
    }
  }
}

static uint64_t sum_labels(const RvStixelsPlan *plan, const uint16_t counts[LABELS], int pixels,
                           int semantic) {
  const uint64_t same = counts[semantic], unknown = counts[LABELS - 1];
  return same * plan->label_score[0] + ((uint64_t)pixels - same - unknown) * plan->label_score[1] +
         unknown * plan->label_score[2];
}

/* --- Costs ----------------------------------------------------------------------------------- */

/* Costs of the cells of a group; costs: [column][index][row]. */
static void write_costs(const RvStixelsJob *job, const Group *g, int v, const uint16_t *table,
                        uint16_t *costs) {
  const RvStixelsPlan *plan = job->plan;
  const int is_labels = job->input.labels.data != NULL;
  const size_t rows = (size_t)plan->rows, classes = (size_t)plan->semantics;
  uint16_t counts[GROUP][LABELS];
  uint64_t sums[GROUP];
  if (is_labels)
    count_labels(plan, &job->input.labels, g, counts);
  for (int index = 0; index < plan->semantics; index++) {
    const int semantic = plan->semantic_class[index];
    if (!is_labels)
      sum_scores(plan, &job->input.scores, g, semantic, sums);
    for (int x = g->first; x < g->end; x++) {
      const int pixels = pixels_of(plan, g, x), k = x - g->first;
      const uint64_t sum = is_labels ? sum_labels(plan, counts[k], pixels, semantic) : sums[k];
      costs[((size_t)x * classes + (size_t)index) * rows + (size_t)v] =
          table[rv_stixels_score_index(rv_stixels_score_mean(sum, pixels))];
    }
  }
}

void rv_stixels_cpu_semantics(const RvStixelsJob *job, const uint16_t *table, uint16_t *costs,
                              int threads) {
  const RvStixelsPlan *plan = job->plan;
  const RvStixelsConfig *c = &plan->config;
  const int is_labels = job->input.labels.data != NULL;
  const RvPlane *map = is_labels ? &job->input.labels : &job->input.scores;
  const int planes = is_labels ? 1 : plan->semantics, step = GROUP / c->stixel_width;
#pragma omp parallel for num_threads(threads)
  for (int v = 0; v < plan->rows; v++)
    for (int first = 0; first < plan->columns; first += step) {
      const int end = rv_min(first + step, plan->columns), low = c->height - v * c->vertical_step;
      const Group g = {.first = first,
                       .end = end,
                       .left = first * c->stixel_width,
                       .right = rv_min(end * c->stixel_width, c->width),
                       .high = rv_max(low - c->vertical_step, 0),
                       .low = low,
                       .map_width = map->width,
                       .map_height = map->height / planes};
      write_costs(job, &g, v, table, costs);
    }
}

/* --- Sharing --------------------------------------------------------------------------------- */

#define CHUNK 64 /* rows of a column that are summed side by side */

/* Rows `first` to `end` - 1 of a column, and their sums so far. */
typedef struct Chunk {
  int first, end;
  uint32_t weights[CHUNK];
  uint32_t sums[RV_STIXELS_SEMANTICS_MAX][CHUNK];
} Chunk;

/* Weights of `others` for `cells`; returns 0 if all are. */
RV_ROW_LOOP static uint32_t weigh(const RvStixelsCell *cells, const RvStixelsCell *others,
                                  int count, uint32_t weights[CHUNK]) {
  uint32_t any = 0;
  for (int i = 0; i < count; i++) {
    weights[i] = rv_stixels_likeness(cells[i].disparity, others[i].disparity);
    any |= weights[i];
  }
  return any;
}

RV_ROW_LOOP static void add_costs(uint32_t *sums, const uint32_t *weights, const uint16_t *costs,
                                  int count) {
  for (int i = 0; i < count; i++)
    sums[i] += weights[i] * costs[i];
}

/* Adds column u to a chunk of column x. */
static void add_column(const RvStixelsPlan *plan, const RvStixelsCell *cells, const uint16_t *own,
                       int x, int u, Chunk *chunk) {
  const size_t rows = (size_t)plan->rows, classes = (size_t)plan->semantics;
  const RvStixelsCell *here = cells + (size_t)x * rows, *there = cells + (size_t)u * rows;
  const uint16_t *costs = own + (size_t)u * classes * rows;
  uint32_t weights[CHUNK];
  for (int up = -plan->share_rows; up <= plan->share_rows; up++) {
    const int first = rv_max(chunk->first, -up), end = rv_min(chunk->end, plan->rows - up);
    const int at = first - chunk->first, count = end - first;
    if (count <= 0 || !weigh(here + first, there + first + up, count, weights))
      continue;
    for (int i = 0; i < count; i++)
      chunk->weights[at + i] += weights[i];
    for (size_t k = 0; k < classes; k++)
      add_costs(chunk->sums[k] + at, weights, costs + k * rows + first + up, count);
  }
}

void rv_stixels_cpu_share(const RvStixelsPlan *plan, const RvStixelsCell *cells,
                          const uint16_t *own, uint16_t *costs, int threads) {
  const size_t rows = (size_t)plan->rows, classes = (size_t)plan->semantics;
#pragma omp parallel for num_threads(threads)
  for (int x = 0; x < plan->columns; x++)
    for (int v = 0; v < plan->rows; v += CHUNK) {
      Chunk chunk = {.first = v, .end = rv_min(v + CHUNK, plan->rows)};
      const int last = rv_min(x + plan->share_columns, plan->columns - 1);
      for (int u = rv_max(x - plan->share_columns, 0); u <= last; u++)
        add_column(plan, cells, own, x, u, &chunk);
      for (size_t k = 0; k < classes; k++)
        for (int i = 0; i < chunk.end - v; i++)
          costs[((size_t)x * classes + k) * rows + (size_t)(v + i)] =
              rv_stixels_shared(chunk.sums[k][i], chunk.weights[i]);
    }
}

/* --- Repair ---------------------------------------------------------------------------------- */

/* Adds the weights of `others` for `spots`, all of them and those of the same class. */
RV_ROW_LOOP static void judge(const RvStixelsSpot *spots, const RvStixelsSpot *others, int count,
                              uint32_t *own, uint32_t *total) {
  for (int i = 0; i < count; i++) {
    const uint32_t like = rv_stixels_alike(spots[i], others[i]);
    const uint32_t weight = others[i].label == RV_STIXELS_NO_LABEL ? 0 : like;
    total[i] += weight;
    own[i] += others[i].label == spots[i].label ? weight : 0;
  }
}

static int is_inside(const RvStixelsPlan *plan, const RvStixelsSpot *at, int x, int v) {
  const int rows = plan->rows;
  return (x == 0 || rv_stixels_alike(*at, at[-rows]) > 0) &&
         (x == plan->columns - 1 || rv_stixels_alike(*at, at[rows]) > 0) &&
         (v == 0 || rv_stixels_alike(*at, at[-1]) > 0) &&
         (v == rows - 1 || rv_stixels_alike(*at, at[1]) > 0);
}

/* The class with most weight in the surface of a cell. */
static size_t class_around(const RvStixelsPlan *plan, const RvStixelsSpot *spots, int x, int v) {
  const RvStixelsSpot own = spots[(size_t)x * (size_t)plan->rows + (size_t)v];
  const int left = rv_max(x - plan->judge_columns, 0), low = rv_max(v - plan->judge_rows, 0);
  const int right = rv_min(x + plan->judge_columns, plan->columns - 1);
  const int high = rv_min(v + plan->judge_rows, plan->rows - 1);
  uint32_t weights[RV_STIXELS_SEMANTICS_MAX] = {0};
  size_t best = 0;
  for (int u = left; u <= right; u++)
    for (int t = low; t <= high; t++) {
      const RvStixelsSpot other = spots[(size_t)u * (size_t)plan->rows + (size_t)t];
      if (other.label != RV_STIXELS_NO_LABEL)
        weights[other.label] += rv_stixels_alike(own, other);
    }
  for (size_t k = 1; k < (size_t)plan->semantics; k++)
    if (weights[k] > weights[best])
      best = k;
  return best;
}

/* Counts the cells of a chunk of column x that are inside, and those that are contradicted. */
static void judge_chunk(const RvStixelsPlan *plan, const RvStixelsRepair *repair, int x, int first,
                        int end, uint32_t *inside, uint32_t *contradicted) {
  const size_t rows = (size_t)plan->rows;
  const RvStixelsSpot *spots = repair->spots + (size_t)x * rows;
  uint32_t own[CHUNK] = {0}, total[CHUNK] = {0};
  const int right = rv_min(x + plan->judge_columns, plan->columns - 1);
  for (int u = rv_max(x - plan->judge_columns, 0); u <= right; u++)
    for (int up = -plan->judge_rows; up <= plan->judge_rows; up++) {
      const int low = rv_max(first, -up), high = rv_min(end, plan->rows - up);
      if (low < high)
        judge(spots + low, repair->spots + (size_t)u * rows + low + up, high - low,
              own + low - first, total + low - first);
    }
  for (int v = first; v < end; v++) {
    const uint32_t same = own[v - first], all = total[v - first];
    const int has_label = spots[v].label != RV_STIXELS_NO_LABEL;
    const int is_in = has_label && is_inside(plan, spots + v, x, v);
    const uint8_t verdict = has_label ? rv_stixels_verdict(same, all, is_in) : RV_STIXELS_AGREED;
    repair->verdicts[(size_t)x * rows + (size_t)v] = verdict;
    *inside += is_in ? 1 : 0;
    *contradicted += verdict == RV_STIXELS_CONTRADICTED ? 1 : 0;
  }
}

/* costs: [index][row] of a column. */
static void exchange(const RvStixelsPlan *plan, const RvStixelsRepair *repair, int x, int v,
                     uint16_t *costs) {
  const size_t rows = (size_t)plan->rows, at = (size_t)x * rows + (size_t)v;
  if (!rv_stixels_is_wrong(plan, repair->spots, repair->verdicts, x, v))
    return;
  uint16_t *one = costs + class_around(plan, repair->spots, x, v) * rows + v;
  uint16_t *other = costs + repair->spots[at].label * rows + v;
  const uint16_t cost = *one;
  *one = *other;
  *other = cost;
}

void rv_stixels_cpu_repair(const RvStixelsPlan *plan, const RvStixelsPlane *ground,
                           const RvStixelsCell *cells, const RvStixelsRepair *repair,
                           uint16_t *costs, int threads) {
  const size_t rows = (size_t)plan->rows, classes = (size_t)plan->semantics;
  uint32_t inside = 0, contradicted = 0;
#pragma omp parallel for num_threads(threads)
  for (int x = 0; x < plan->columns; x++)
    for (size_t v = 0; v < rows; v++) {
      const size_t at = (size_t)x * rows + v;
      repair->spots[at] =
          rv_stixels_spot(cells[at], rv_stixels_expected(ground, (int)v),
                          costs + (size_t)x * classes * rows + v, rows, plan->semantics);
    }
#pragma omp parallel for num_threads(threads) reduction(+ : inside, contradicted)
  for (int x = 0; x < plan->columns; x++)
    for (int v = 0; v < plan->rows; v += CHUNK)
      judge_chunk(plan, repair, x, v, rv_min(v + CHUNK, plan->rows), &inside, &contradicted);
  if (!rv_stixels_is_doubtful(contradicted, inside))
    return;
#pragma omp parallel for num_threads(threads)
  for (int x = 0; x < plan->columns; x++)
    for (int v = 0; v < plan->rows; v++)
      exchange(plan, repair, x, v, costs + (size_t)x * classes * rows);
}
