/* SPDX-License-Identifier: MIT */
/* sgm_cpu_refine.c: the CPU engine's refine stage: sky and dense filling, in the planes of the
 * job. */
#include <stdlib.h>
#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"
#include "rv_openmp.h"

/* --- Sky ------------------------------------------------------------------------------------- */

static int64_t sum_row(const RvPlane *view, int y) {
  const uint8_t *row = rv_sgm_plane_row(view, y);
  int64_t sum = 0;
  for (int x = 0; x < view->width; x++)
    sum += row[x];
  return sum;
}

/* Sums over the 7 rows around y of gradient and gray level, with RV_SGM_RADIUS_X more columns at
 * both ends. */
static void sum_columns(const RvPlane *view, int y, uint16_t *gradient, uint16_t *gray) {
  const int width = view->width, last = view->height - 1;
  gradient += RV_SGM_RADIUS_X, gray += RV_SGM_RADIUS_X;
  memset(gradient, 0, (size_t)width * sizeof *gradient);
  memset(gray, 0, (size_t)width * sizeof *gray);
  for (int j = -RV_SGM_RADIUS_Y; j <= RV_SGM_RADIUS_Y; j++) {
    const int at = rv_clamp(y + j, 0, last);
    const uint8_t *here = rv_sgm_plane_row(view, at);
    const uint8_t *below = rv_sgm_plane_row(view, rv_min(at + 1, last));
    for (int x = 0; x < width - 1; x++)
      gradient[x] = (uint16_t)(gradient[x] + rv_sgm_sky_gradient(here[x], here[x + 1], below[x]));
    const int end = width - 1;
    gradient[end] =
        (uint16_t)(gradient[end] + rv_sgm_sky_gradient(here[end], here[end], below[end]));
    for (int x = 0; x < width; x++)
      gray[x] = (uint16_t)(gray[x] + here[x]);
  }
  for (int i = 1; i <= RV_SGM_RADIUS_X; i++) {
    gradient[-i] = gradient[0], gray[-i] = gray[0];
    gradient[width - 1 + i] = gradient[width - 1], gray[width - 1 + i] = gray[width - 1];
  }
}

/* Row y of the candidates: 1, others 0. */
static void mark_row(const RvSgmCpu *cpu, const RvSgmJob *job, int y, int brightness) {
  const RvSgmScratch *own = rv_sgm_cpu_scratch(cpu, omp_get_thread_num());
  uint16_t *gradient = own->right_sum, *gray = own->right_k; /* 32 or more spare columns */
  const uint16_t *disparity = rv_sgm_plane_row(&job->disparity, y);
  uint16_t *out = rv_sgm_disparities(cpu, y);
  sum_columns(&job->left, y, gradient, gray);
  for (int x = 0; x < cpu->width; x++) {
    int texture = 0, sum = 0;
    for (int i = 0; i <= 2 * RV_SGM_RADIUS_X; i++)
      texture += gradient[x + i], sum += gray[x + i];
    out[x] = (uint16_t)rv_sgm_is_sky_like(disparity[x], texture, sum, brightness);
  }
}

/* Nodes of a band; the size of a region is not 0 when it has pixels in the top row. */
static void mark_band(const RvSgmCpu *cpu, const RvSgmJob *job, int band, int brightness) {
  const int first = RV_SGM_BAND * band, end = rv_min(first + RV_SGM_BAND, job->left.height);
  for (int y = first; y < end; y++) {
    mark_row(cpu, job, y, brightness);
    rv_sgm_cpu_runs(cpu, y, rv_sgm_disparities(cpu, y), 0, y == 0);
    if (y > first)
      rv_sgm_cpu_join(cpu, y, rv_sgm_disparities(cpu, y), rv_sgm_disparities(cpu, y - 1), 0);
  }
}

/* Invalidates the sky in row y, and marks it in the map of winners. */
static void drop_sky(const RvSgmCpu *cpu, const RvSgmJob *job, int y) {
  uint16_t *disparity = rv_sgm_plane_row(&job->disparity, y);
  uint16_t *winner = rv_sgm_winners(cpu, y);
  const uint16_t *candidate = rv_sgm_disparities(cpu, y);
  for (int x = 0, end; x < cpu->width; x = end) {
    if (!rv_sgm_cpu_run(cpu, y, x, &end) || !candidate[x])
      continue;
    for (int i = x; i < end; i++) {
      disparity[i] = RV_SGM_INVALID;
      winner[i] = RV_SGM_NO_MATCH;
    }
    if (job->confidence.data)
      memset((uint8_t *)rv_sgm_plane_row(&job->confidence, y) + x, 0, (size_t)(end - x));
  }
}

static void reject_sky(const RvSgmCpu *cpu, const RvSgmJob *job) {
  const int width = job->left.width, height = job->left.height;
  const int bands = rv_div_up(height, RV_SGM_BAND);
  int64_t total = 0;
#pragma omp parallel num_threads(cpu->threads)
  {
#pragma omp for reduction(+ : total)
    for (int y = 0; y < height; y++)
      total += sum_row(&job->left, y);
#pragma omp for schedule(dynamic)
    for (int band = 0; band < bands; band++)
      mark_band(cpu, job, band, rv_sgm_sky_brightness(total, (int64_t)width * height));
#pragma omp single
    for (int y = RV_SGM_BAND; y < height; y += RV_SGM_BAND)
      rv_sgm_cpu_join(cpu, y, rv_sgm_disparities(cpu, y), rv_sgm_disparities(cpu, y - 1), 0);
#pragma omp for schedule(dynamic, RV_SGM_ROWS)
    for (int y = 0; y < height; y++)
      drop_sky(cpu, job, y);
  }
}

/* --- Fill ------------------------------------------------------------------------------------ */

static int is_sky(int winner) {
  return winner == RV_SGM_NO_MATCH;
}

/* Pixels of a row that can be ends of a run. */
static void mark_ends(const RvSgmCpu *cpu, const uint16_t *disparity, int y, uint8_t *is_end) {
  for (int x = 0, end; x < cpu->width; x = end) {
    const int large = rv_sgm_cpu_run(cpu, y, x, &end) >= RV_SGM_FILL_REGION;
    memset(is_end + x, large && disparity[x] != RV_SGM_INVALID, (size_t)(end - x));
  }
}

/* Values of a row before the weighted median, into the map of disparities. */
static void fill_row(const RvSgmCpu *cpu, const RvSgmJob *job, int y) {
  const int width = cpu->width, min_disparity = job->plan->config.min_disparity;
  uint8_t *is_end = rv_sgm_cpu_scratch(cpu, omp_get_thread_num())->bytes;
  const uint16_t *in = rv_sgm_plane_row(&job->disparity, y), *winner = rv_sgm_winners(cpu, y);
  uint16_t *out = rv_sgm_disparities(cpu, y);
  mark_ends(cpu, in, y, is_end);
  for (int x = 0, end; x < width; x = end) {
    for (end = x; end < width && !is_end[end]; end++)
      continue;
    const int l = x > 0 ? in[x - 1] : RV_SGM_INVALID, r = end < width ? in[end] : RV_SGM_INVALID;
    for (int i = x; i < end; i++)
      out[i] = in[i] != RV_SGM_INVALID ? in[i]
               : is_sky(winner[i])     ? RV_SGM_INVALID
                                       : (uint16_t)rv_sgm_fill_value(
                                             l, r, rv_sgm_value(min_disparity, winner[i], 0), end - x);
    for (; end < width && is_end[end]; end++)
      out[end] = in[end];
  }
}

/* Weighted median around a pixel. */
static uint16_t weighted_median(const RvSgmCpu *cpu, const RvSgmJob *job, int x, int y) {
  enum { SIDE = 2 * RV_SGM_FILL_RADIUS + 1, MOST = SIDE * SIDE + 7 };
  const int left = rv_max(x - RV_SGM_FILL_RADIUS, 0);
  const int right = rv_min(x + RV_SGM_FILL_RADIUS, cpu->width - 1);
  const int top = rv_max(y - RV_SGM_FILL_RADIUS, 0);
  const int bottom = rv_min(y + RV_SGM_FILL_RADIUS, job->left.height - 1);
  const uint8_t *gray = rv_sgm_plane_row(&job->left, y), *weight_of = job->plan->weight_of;
  uint16_t value[MOST] = {0}, weight[MOST] = {0};
  const int center = gray[x];
  int count = 0, total = 0;
  for (int j = top; j <= bottom; j++) {
    const uint16_t *row = rv_sgm_disparities(cpu, j);
    gray = rv_sgm_plane_row(&job->left, j);
    for (int i = left; i <= right; i++, count++) {
      value[count] = row[i];
      weight[count] = row[i] == RV_SGM_INVALID ? 0 : weight_of[rv_abs(gray[i] - center)];
      total += weight[count];
    }
  }
  int low = 0, high = 65535; /* the result is in low + 1 .. high */
  while (high - low > 1) {
    const uint16_t middle = (uint16_t)((low + high) / 2);
    uint16_t sum = 0; /* at most 121 * 64 */
    for (int i = 0; i < MOST; i++)
      sum = (uint16_t)(sum + (value[i] <= middle ? weight[i] : 0));
    if (2 * sum >= total)
      high = middle;
    else
      low = middle;
  }
  return (uint16_t)high;
}

static void smooth_row(const RvSgmCpu *cpu, const RvSgmJob *job, int y) {
  uint16_t *out = rv_sgm_plane_row(&job->disparity, y);
  const uint16_t *filled = rv_sgm_disparities(cpu, y);
  uint8_t *confidence =
      job->confidence.data ? (uint8_t *)rv_sgm_plane_row(&job->confidence, y) : NULL;
  for (int x = 0; x < cpu->width; x++) {
    if (out[x] != RV_SGM_INVALID || filled[x] == RV_SGM_INVALID)
      continue;
    out[x] = weighted_median(cpu, job, x, y);
    if (confidence)
      confidence[x] = RV_SGM_FILLED;
  }
}

static void link_band(const RvSgmCpu *cpu, const RvSgmJob *job, int band) {
  const int first = RV_SGM_BAND * band, end = rv_min(first + RV_SGM_BAND, job->left.height);
  const int range = job->plan->config.speckle_range;
  for (int y = first; y < end; y++) {
    rv_sgm_cpu_runs(cpu, y, rv_sgm_plane_row(&job->disparity, y), range, 1);
    if (y > first)
      rv_sgm_cpu_join(cpu, y, rv_sgm_plane_row(&job->disparity, y),
                      rv_sgm_plane_row(&job->disparity, y - 1), range);
  }
}

static void fill(const RvSgmCpu *cpu, const RvSgmJob *job) {
  const int height = job->left.height, bands = rv_div_up(height, RV_SGM_BAND);
#pragma omp parallel num_threads(cpu->threads)
  {
#pragma omp for schedule(dynamic)
    for (int band = 0; band < bands; band++)
      link_band(cpu, job, band);
#pragma omp single
    for (int y = RV_SGM_BAND; y < height; y += RV_SGM_BAND)
      rv_sgm_cpu_join(cpu, y, rv_sgm_plane_row(&job->disparity, y),
                      rv_sgm_plane_row(&job->disparity, y - 1), job->plan->config.speckle_range);
#pragma omp for schedule(dynamic, RV_SGM_ROWS)
    for (int y = 0; y < height; y++)
      fill_row(cpu, job, y);
#pragma omp for schedule(dynamic, RV_SGM_ROWS)
    for (int y = 0; y < height; y++)
      smooth_row(cpu, job, y);
  }
}

RvStatus rv_sgm_cpu_refine(void *work, RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
  if (job->plan->config.reject_sky)
    reject_sky(cpu, job);
  if (job->plan->config.fill == RV_SGM_FILL_DENSE)
    fill(cpu, job);
  return RV_OK;
}
