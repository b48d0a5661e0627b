/* SPDX-License-Identifier: MIT */
/* sgm_cpu.c: the CPU engine: its table, left-right check and output. */
#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"

void rv_sgm_cpu_check_row(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  const uint16_t *winner = rv_sgm_winners(cpu, c, y), *right = rv_sgm_right_winners(cpu, c, y);
  uint16_t *disparity = rv_sgm_disparities(cpu, c, y);
  for (int x = 0; x < c->width; x++) {
    const int k = winner[x], xr = x - c->min_disparity - k;
    if (!rv_sgm_passes_lr_check(x, c->min_disparity, k, right[rv_max(xr, 0)], c->max_lr_diff))
      disparity[x] = RV_SGM_INVALID;
  }
}

static RvStatus check(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
  (void)job;
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic, RV_SGM_ROWS)
  for (int y = 0; y < c->height; y++)
    rv_sgm_cpu_check_row(cpu, c, y);
  return RV_OK;
}

static void *plane_row(const RvPlane *plane, int y) {
  return (char *)plane->data + y * plane->stride;
}

void rv_sgm_cpu_output_row(const RvSgmCpu *cpu, const RvSgmConfig *c, const RvSgmJob *job, int y) {
  const uint16_t *disparity = rv_sgm_disparities(cpu, c, y);
  memcpy(plane_row(&job->disparity, y), disparity, (size_t)c->width * sizeof *disparity);
  if (!c->confidence)
    return;
  const uint8_t *found = rv_sgm_confidences(cpu, c, y);
  uint8_t *out = plane_row(&job->confidence, y);
  for (int x = 0; x < c->width; x++)
    out[x] = disparity[x] == RV_SGM_INVALID ? 0 : found[x];
}

static RvStatus output(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic, RV_SGM_ROWS)
  for (int y = 0; y < c->height; y++)
    rv_sgm_cpu_output_row(cpu, c, job, y);
  return RV_OK;
}

/* All stages with fewer meetings of the threads. */
static RvStatus whole(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  RvSgmCpu *cpu = work;
  cpu->checks = c->max_lr_diff >= 0;
  const RvStatus status = rv_sgm_cpu_match(work, c, job);
  cpu->checks = 0;
  return status == RV_OK ? rv_sgm_cpu_finish(work, c, job) : status;
}

static RvStatus read_map(void *work, const RvSgmConfig *c, RvSgmMap map, void *out,
                         RvStream stream) {
  const RvSgmCpu *cpu = work;
  const size_t bytes = (size_t)c->width * (map == RV_SGM_MAP_CONFIDENCE ? 1 : sizeof(uint16_t));
  (void)stream;
  for (int y = 0; y < c->height; y++) {
    const void *row = map == RV_SGM_MAP_WINNER      ? (const void *)rv_sgm_winners(cpu, c, y)
                      : map == RV_SGM_MAP_RIGHT     ? (const void *)rv_sgm_right_winners(cpu, c, y)
                      : map == RV_SGM_MAP_DISPARITY ? (const void *)rv_sgm_disparities(cpu, c, y)
                                                    : (const void *)rv_sgm_confidences(cpu, c, y);
    memcpy((char *)out + bytes * (size_t)y, row, bytes);
  }
  return RV_OK;
}

const RvSgmStages rv_sgm_stages_cpu = {
    .work_bytes = sizeof(RvSgmCpu),
    .layout = rv_sgm_cpu_layout,
    .match = rv_sgm_cpu_match,
    .check = check,
    .median = rv_sgm_cpu_median,
    .speckle = rv_sgm_cpu_speckle,
    .output = output,
    .whole = whole,
    .read = read_map,
};
