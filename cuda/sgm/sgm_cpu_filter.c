/* SPDX-License-Identifier: MIT */
/* sgm_cpu_filter.c: the CPU engine's filter stage: median, speckle filter and output. */
#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"

#define BLOCK 64 /* px filtered at once; every inner loop is that long, so that it is vectorized */
#define WINDOW_MAX 25

/* Lower and higher of two rows of values, in place. */
static inline void order(uint16_t *restrict low, uint16_t *restrict high) {
  for (int i = 0; i < BLOCK; i++) {
    const uint16_t a = low[i], b = high[i];
    low[i] = a < b ? a : b;
    high[i] = a < b ? b : a;
  }
}

/* Invalid values become 0 and 65535 alternately, the first one 0: then the middle of all values is
 * the lower median of the valid ones. */
static void pad_invalid(uint16_t (*value)[BLOCK], int count) {
  uint16_t high[BLOCK] = {0};
  for (int n = 0; n < count; n++)
    for (int i = 0; i < BLOCK; i++) {
      const uint16_t none = value[n][i] == RV_SGM_INVALID ? 0xFFFF : 0;
      value[n][i] = (uint16_t)(value[n][i] | (none & high[i]));
      high[i] ^= none;
    }
}

/* The middle of an odd number of values: of count / 2 + 2 of them neither the lowest nor the
 * highest can be the middle of all; drop both, add the next one, and so on. Returns its row. */
static const uint16_t *middle(uint16_t (*value)[BLOCK], int count) {
  const int last = count / 2 + 1;
  for (int first = 0;; first++) {
    for (int n = first + 1; n <= last; n++)
      order(value[first], value[n]);
    for (int n = first + 1; n < last; n++)
      order(value[n], value[last]);
    if (last - first == 2)
      return value[first + 1];
    memcpy(value[last], value[last + 1 + first], sizeof value[last]);
  }
}

/* BLOCK values from column x of a row, 0 outside the image; row NULL is outside. */
static void take(const uint16_t *row, int width, int x, uint16_t *out) {
  if (row && x >= 0 && x + BLOCK <= width) {
    memcpy(out, row + x, BLOCK * sizeof *out);
    return;
  }
  for (int i = 0; i < BLOCK; i++)
    out[i] = row && x + i >= 0 && x + i < width ? row[x + i] : RV_SGM_INVALID;
}

static void median_row(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  const int radius = c->median / 2;
  const uint16_t *rows[5];
  for (int j = -radius; j <= radius; j++)
    rows[j + radius] = y + j >= 0 && y + j < c->height ? rv_sgm_disparities(cpu, y + j) : NULL;
  uint16_t *out = rv_sgm_filtered(cpu, y);
  for (int x = 0; x < c->width; x += BLOCK) {
    uint16_t value[WINDOW_MAX][BLOCK];
    int count = 0;
    for (int j = 0; j <= 2 * radius; j++)
      for (int i = -radius; i <= radius; i++)
        take(rows[j], c->width, x + i, value[count++]);
    pad_invalid(value, count);
    const uint16_t *median = middle(value, count);
    for (int i = 0; i < rv_min(BLOCK, c->width - x); i++)
      out[x + i] = rows[radius][x + i] == RV_SGM_INVALID ? RV_SGM_INVALID : median[i];
  }
}

/* Disparities of a row after the median. */
static uint16_t *values(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return c->median ? rv_sgm_filtered(cpu, y) : rv_sgm_disparities(cpu, y);
}

/* --- Speckle --------------------------------------------------------------------------------- */

static void drop_small(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  uint16_t *disparity = values(cpu, c, y);
  for (int x = 0, end; x < c->width; x = end)
    if (rv_sgm_cpu_run(cpu, y, x, &end) < (uint32_t)c->speckle_size)
      memset(disparity + x, 0, (size_t)(end - x) * sizeof *disparity); /* RV_SGM_INVALID */
}

/* --- Stage ----------------------------------------------------------------------------------- */

static void join_rows(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  rv_sgm_cpu_join(cpu, y, values(cpu, c, y), values(cpu, c, y - 1), c->speckle_range);
}

/* Median and forest of one band of rows. */
static void filter_band(const RvSgmCpu *cpu, const RvSgmConfig *c, int band) {
  const int first = RV_SGM_BAND * band, end = rv_min(first + RV_SGM_BAND, c->height);
  for (int y = first; c->median && y < end; y++)
    median_row(cpu, c, y);
  for (int y = first; c->speckle_size > 1 && y < end; y++) {
    rv_sgm_cpu_runs(cpu, y, values(cpu, c, y), c->speckle_range, 1);
    if (y > first)
      join_rows(cpu, c, y);
  }
}

static void output_row(const RvSgmCpu *cpu, const RvSgmJob *job, int y) {
  const RvSgmConfig *c = &job->plan->config;
  const uint16_t *disparity = values(cpu, c, y);
  memcpy(rv_sgm_plane_row(&job->disparity, y), disparity, (size_t)c->width * sizeof *disparity);
  if (!c->confidence)
    return;
  const uint8_t *raw = rv_sgm_confidences(cpu, y);
  uint8_t *out = rv_sgm_plane_row(&job->confidence, y);
  for (int x = 0; x < c->width; x++)
    out[x] = disparity[x] == RV_SGM_INVALID ? 0 : job->plan->confidence_of[raw[x]];
}

/* One parallel region with as few barriers as possible: each one waits for a preempted thread
 * for a time slice. A region of one pixel is never removed with speckle_size 0 or 1. */
RvStatus rv_sgm_cpu_filter(void *work, RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
  const RvSgmConfig *c = &job->plan->config;
  const int bands = rv_div_up(c->height, RV_SGM_BAND), speckle = c->speckle_size > 1;
#pragma omp parallel num_threads(cpu->threads)
  {
#pragma omp for schedule(dynamic)
    for (int band = 0; band < bands; band++)
      filter_band(cpu, c, band);
#pragma omp single
    for (int band = 1; speckle && band < bands; band++)
      join_rows(cpu, c, RV_SGM_BAND * band);
#pragma omp for schedule(dynamic, RV_SGM_ROWS)
    for (int y = 0; y < c->height; y++) {
      if (speckle)
        drop_small(cpu, c, y);
      output_row(cpu, job, y);
    }
  }
  return RV_OK;
}
