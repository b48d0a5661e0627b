/* SPDX-License-Identifier: MIT */
/* stixels_cpu_semantics.c: costs of the semantic classes in the cells, CPU engine. */
#include "stixels/stixels_cpu.h"

/* The pixels of a cell, and the size of the map that they read. */
typedef struct Cell {
  int left, right, low, high; /* px of the frame; low is the row below the lowest */
  int map_width, map_height;
} Cell;

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

/* Sum of the scores of one class. */
static uint64_t sum_scores(const RvStixelsPlan *plan, const RvPlane *scores, const Cell *cell,
                           int semantic) {
  const int is_same = cell->map_width == plan->config.width;
  uint64_t sum = 0;
  for (int y = cell->high; y < cell->low; y++) {
    const int row = y * cell->map_height / plan->config.height + semantic * cell->map_height;
    const uint16_t *score = row_of(scores, row);
    uint32_t part = 0;
    for (int x = cell->left; x < cell->right; x++)
      part += rv_stixels_score(score[is_same ? x : x * cell->map_width / plan->config.width]);
    sum += part;
  }
  return sum;
}

static uint64_t sum_labels(const RvStixelsPlan *plan, const RvPlane *labels, const Cell *cell,
                           int semantic) {
  uint64_t sum = 0;
  for (int y = cell->high; y < cell->low; y++) {
    const uint8_t *label = row_of(labels, y * cell->map_height / plan->config.height);
    for (int x = cell->left; x < cell->right; x++)
      sum += rv_stixels_label(plan, label[x * cell->map_width / plan->config.width], semantic);
  }
  return sum;
}

void rv_stixels_cpu_semantics(const RvStixelsJob *job, const uint16_t *table, uint16_t *costs,
                              int threads) {
  const RvStixelsPlan *plan = job->plan;
  const int is_labels = job->input.labels.data != NULL;
  const RvPlane *map = is_labels ? &job->input.labels : &job->input.scores;
  const int planes = is_labels ? 1 : plan->semantics;
  const size_t rows = (size_t)plan->rows, classes = (size_t)plan->semantics;
#pragma omp parallel for num_threads(threads)
  for (int v = 0; v < plan->rows; v++)
    for (int index = 0; index < plan->semantics; index++)
      for (int x = 0; x < plan->columns; x++) {
        const int left = x * plan->config.stixel_width,
                  low = plan->config.height - v * plan->config.vertical_step;
        const Cell cell = {left,       rv_min(left + plan->config.stixel_width, plan->config.width),
                           low,        rv_max(low - plan->config.vertical_step, 0),
                           map->width, map->height / planes};
        const int semantic = plan->semantic_class[index];
        const uint64_t sum = is_labels ? sum_labels(plan, map, &cell, semantic)
                                       : sum_scores(plan, map, &cell, semantic);
        const int pixels = (cell.right - cell.left) * (cell.low - cell.high);
        const uint32_t mean = rv_stixels_score_mean(sum, pixels);
        costs[((size_t)x * classes + (size_t)index) * rows + (size_t)v] =
            table[rv_stixels_score_index(mean)];
      }
}
