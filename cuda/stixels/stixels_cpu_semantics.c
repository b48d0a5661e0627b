/* SPDX-License-Identifier: MIT */
/* stixels_cpu_semantics.c: costs of the semantic classes in the cells, CPU engine. */
#include "stixels/stixels_cpu.h"

/* A cell's pixels, and the rows and columns of the map that they read. */
typedef struct Cell {
  int left, right, low, high; /* px of the picture; low is the row below the lowest */
  int map_width, map_height;
} Cell;

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

/* Sum of the scores of one class. */
static uint64_t sum_scores(const RvStixelsModel *m, const RvPlane *scores, const Cell *cell,
                           int semantic) {
  const int is_same = cell->map_width == m->width;
  uint64_t sum = 0;
  for (int y = cell->high; y < cell->low; y++) {
    const int row = y * cell->map_height / m->height + semantic * cell->map_height;
    const uint16_t *score = row_of(scores, row);
    uint32_t part = 0;
    for (int x = cell->left; x < cell->right; x++)
      part += rv_stixels_score(score[is_same ? x : x * cell->map_width / m->width]);
    sum += part;
  }
  return sum;
}

static uint64_t sum_labels(const RvStixelsModel *m, const RvPlane *labels, const Cell *cell,
                           int semantic) {
  uint64_t sum = 0;
  for (int y = cell->high; y < cell->low; y++) {
    const uint8_t *label = row_of(labels, y * cell->map_height / m->height);
    for (int x = cell->left; x < cell->right; x++)
      sum += rv_stixels_label(m, label[x * cell->map_width / m->width], semantic);
  }
  return sum;
}

void rv_stixels_cpu_semantics(const RvStixelsModel *m, const RvStixelsJob *job,
                              const uint16_t *table, uint16_t *costs, int threads) {
  const RvPlane *map = job->labels.data ? &job->labels : &job->scores;
  const int planes = job->labels.data ? 1 : m->semantics;
  const size_t rows = (size_t)m->rows, places = (size_t)m->semantics;
#pragma omp parallel for num_threads(threads)
  for (int v = 0; v < m->rows; v++)
    for (int place = 0; place < m->semantics; place++)
      for (int x = 0; x < m->columns; x++) {
        const int left = x * m->cell_width, low = m->height - v * m->step;
        const Cell cell = {left,       rv_min(left + m->cell_width, m->width),
                           low,        rv_max(low - m->step, 0),
                           map->width, map->height / planes};
        const int semantic = m->semantic_class[place];
        const uint64_t sum = job->labels.data ? sum_labels(m, map, &cell, semantic)
                                              : sum_scores(m, map, &cell, semantic);
        const int pixels = (cell.right - cell.left) * (cell.low - cell.high);
        const uint32_t mean = rv_stixels_score_mean(sum, pixels);
        costs[((size_t)x * places + (size_t)place) * rows + (size_t)v] =
            table[rv_stixels_score_index(mean)];
      }
}
