/* SPDX-License-Identifier: MIT */
/* stixels_cpu_refine.c: boundaries at rows of pixels, CPU engine. */
#include <stdint.h>

#include "stixels/stixels_cpu.h"

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

/* Misfit of row y to the lower minus the upper stixel, 1/16 px. */
static int lower_misfit(const RvStixelsPlan *plan, const RvStixelsInput *input,
                        const RvStixel *lower, const RvStixel *upper, int y) {
  const int width = plan->config.width;
  const uint16_t *d = row_of(&input->disparity, y);
  const int right = rv_min(lower->column + plan->config.stixel_width, width);
  const int low = rv_stixels_rendered(lower, y), high = rv_stixels_rendered(upper, y);
  int sum = 0;
  for (int x = lower->column; x < right; x++)
    sum += rv_stixels_residual(lower->structure, low, d[x]) -
           rv_stixels_residual(upper->structure, high, d[x]);
  if (!input->labels.data)
    return sum;
  const uint8_t *labels = row_of(&input->labels, y * input->labels.height / plan->config.height);
  for (int x = lower->column; x < right; x++) {
    const int label = labels[x * input->labels.width / width];
    sum += rv_stixels_label_residual(plan, lower, label);
    sum -= rv_stixels_label_residual(plan, upper, label);
  }
  return sum;
}

/* Moves the highest row of `lower`; is_last: `upper` ends in the top row. */
static void move_boundary(const RvStixelsPlan *plan, const RvStixelsInput *input, RvStixel *lower,
                          RvStixel *upper, int is_last) {
  const int boundary = lower->v_top;
  const int up = is_last ? rv_min(plan->reach, boundary - 1) : plan->reach;
  int best = boundary, least = 0, sum = 0;
  /* Rows added to the lower stixel, then rows removed from it. */
  for (int y = boundary - 1; y >= boundary - up; y--) {
    sum += lower_misfit(plan, input, lower, upper, y);
    if (sum < least) {
      least = sum;
      best = y;
    }
  }
  sum = 0;
  for (int y = boundary; y < boundary + plan->reach; y++) {
    sum -= lower_misfit(plan, input, lower, upper, y);
    if (sum < least || (sum == least && y + 1 - boundary < boundary - best)) {
      least = sum;
      best = y + 1;
    }
  }
  lower->v_top = (uint16_t)best;
  upper->v_bottom = (uint16_t)(best - 1);
}

void rv_stixels_cpu_refine(const RvStixelsJob *job, int threads) {
  const RvStixelsOutput *out = &job->output;
#pragma omp parallel for num_threads(threads)
  for (int x = 0; x < job->plan->columns; x++)
    for (uint32_t k = out->offsets[x] + 1; k < out->offsets[x + 1] && k < out->capacity; k++)
      move_boundary(job->plan, &job->input, &out->stixels[k - 1], &out->stixels[k],
                    k + 1 == out->offsets[x + 1]);
}
