/* sgm_cpu.c: the CPU engine's memory, matching, left-right check and output. */
#include <string.h>

#include "sgm_cpu.h"
#include "sgm_rules.h"

static void layout(void *work, const RvSgmConfig *c, RvArena *arena) {
  RvSgmCpu *cpu = work;
  const size_t width = (size_t)c->width, height = (size_t)c->height;
  const size_t cells = width * (size_t)c->disparities;
  cpu->threads = rv_threads(c->threads);
  cpu->slot_bytes = cells * sizeof(uint16_t);
  cpu->slots = rv_arena_take(arena, cpu->slot_bytes * height);
  for (int i = 0; i < 2; i++) {
    cpu->state[i] = rv_arena_take(arena, cells * sizeof(uint16_t));
    cpu->census[i] = rv_arena_take(arena, width * height * sizeof(uint64_t));
  }
  cpu->rows = rv_arena_take(arena, width * RV_SGM_MAP_BYTES);
}

static int grey(const RvPlane *p, int x, int y) {
  x = rv_clamp(x, 0, p->width - 1);
  y = rv_clamp(y, 0, p->height - 1);
  return ((const uint8_t *)p->data)[y * p->stride + x];
}

static uint64_t descriptor(const RvPlane *p, RvSgmCost cost, int x, int y) {
  uint64_t bits = 0;
  int n = 0;
  if (cost == RV_SGM_CENSUS) {
    for (int j = -RV_SGM_RADIUS_Y; j <= RV_SGM_RADIUS_Y; j++)
      for (int i = -RV_SGM_RADIUS_X; i <= RV_SGM_RADIUS_X; i++)
        if (i || j)
          bits |= (uint64_t)(grey(p, x + i, y + j) >= grey(p, x, y)) << n++;
    return bits;
  }
  for (int i = 0; i <= RV_SGM_RADIUS_X; i++)
    for (int j = i ? -RV_SGM_RADIUS_Y : 1; j <= RV_SGM_RADIUS_Y; j++) {
      n = i ? 7 * (i - 1) + j + 3 : 28 + j - 1;
      bits |= (uint64_t)(grey(p, x + i, y + j) >= grey(p, x - i, y - j)) << n;
    }
  return bits;
}

static void census(const RvPlane *p, RvSgmCost cost, uint64_t *out, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      out[(size_t)y * (size_t)p->width + (size_t)x] = descriptor(p, cost, x, y);
}

/* L of one pixel from its predecessor's `before` (NULL at a path's start) into `here`; adds to S. */
static void step(const RvSgmCpu *cpu, const RvSgmConfig *c, const uint16_t *before, int p2,
                 uint16_t *here, int x, int y) {
  const size_t row = (size_t)y * (size_t)c->width;
  uint16_t *sums = rv_sgm_sums(cpu, y) + (size_t)x * (size_t)c->disparities;
  const uint64_t left = cpu->census[0][row + (size_t)x];
  int lowest = 65535;
  for (int k = 0; before && k < c->disparities; k++)
    lowest = rv_min(lowest, before[k]);
  for (int k = 0; k < c->disparities; k++) {
    const int xr = rv_max(x - c->min_disparity - k, 0);
    int l = __builtin_popcountll(left ^ cpu->census[1][row + (size_t)xr]);
    if (before) {
      int best = rv_min(before[k], lowest + p2);
      if (k > 0)
        best = rv_min(best, before[k - 1] + c->p1);
      if (k < c->disparities - 1)
        best = rv_min(best, before[k + 1] + c->p1);
      l += best - lowest;
    }
    here[k] = (uint16_t)l;
    sums[k] = (uint16_t)(sums[k] + l);
  }
}

static void aggregate(const RvSgmCpu *cpu, const RvSgmConfig *c, const RvPlane *left, int rx,
                      int ry) {
  const int up = ry < 0, back = rx < 0 || (rx == 0 && up);
  for (int i = 0; i < c->height; i++) {
    const int y = up ? c->height - 1 - i : i;
    uint16_t *here = cpu->state[i % 2];
    const uint16_t *past = ry ? cpu->state[(i + 1) % 2] : here;
    for (int j = 0; j < c->width; j++) {
      const int x = back ? c->width - 1 - j : j, xb = x - rx, yb = y - ry;
      const int inside = xb >= 0 && xb < c->width && yb >= 0 && yb < c->height;
      const int p2 = c->adaptive_p2 && inside
                         ? rv_sgm_adapted_p2(c->p2, c->p2_min, c->p2_gradient, grey(left, x, y),
                                             grey(left, xb, yb))
                         : c->p2;
      step(cpu, c, inside ? past + (size_t)xb * (size_t)c->disparities : NULL, p2,
           here + (size_t)x * (size_t)c->disparities, x, y);
    }
  }
}

static void pick(const RvSgmCpu *cpu, const RvSgmConfig *c, const uint16_t *sums, int x,
                 RvSgmCpu *row) {
  int best = 0, second = 1 << 30;
  for (int k = 1; k < c->disparities; k++)
    if (sums[k] < sums[best])
      best = k;
  for (int k = 0; k < c->disparities; k++)
    if (rv_abs(k - best) > 1)
      second = rv_min(second, sums[k]);
  const int inner = c->subpixel && best > 0 && best < c->disparities - 1;
  const int offset =
      inner ? rv_sgm_offset(sums[best - 1], sums[best], sums[best + 1]) : 0;
  rv_sgm_winners(row, c, 0)[x] = (uint16_t)best;
  rv_sgm_disparities(row, c, 0)[x] =
      rv_sgm_unique(sums[best], second, c->uniqueness)
          ? (uint16_t)rv_sgm_value(c->min_disparity, best, offset)
          : RV_SGM_INVALID;
  rv_sgm_confidences(row, c, 0)[x] = (uint8_t)rv_sgm_confidence(sums[best], second);
}

static void winners(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  RvSgmCpu row = {.slots = cpu->rows};
  const uint16_t *sums = rv_sgm_sums(cpu, y);
  for (int x = 0; x < c->width; x++) {
    int best = 1 << 30, at = RV_SGM_NO_MATCH;
    for (int k = 0; k < c->disparities; k++) {
      const int xl = x + c->min_disparity + k;
      if (xl < c->width && sums[(size_t)xl * (size_t)c->disparities + (size_t)k] < best) {
        best = sums[(size_t)xl * (size_t)c->disparities + (size_t)k];
        at = k;
      }
    }
    rv_sgm_rights(&row, c, 0)[x] = (uint16_t)at;
    pick(cpu, c, sums + (size_t)x * (size_t)c->disparities, x, &row);
  }
  memcpy(rv_sgm_sums(cpu, y), cpu->rows, (size_t)c->width * RV_SGM_MAP_BYTES);
}

static RvStatus match(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  static const int directions[8][2] = {{1, 0}, {0, 1},  {-1, 0}, {0, -1},
                                       {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
  RvSgmCpu *cpu = work;
  const size_t pixels = (size_t)c->width * (size_t)c->height;
  census(&job->left, c->cost, cpu->census[0], cpu->threads);
  census(&job->right, c->cost, cpu->census[1], cpu->threads);
  memset(cpu->slots, 0, cpu->slot_bytes * (size_t)c->height);
  for (int i = 0; i < c->paths; i++)
    aggregate(cpu, c, &job->left, directions[i][0], directions[i][1]);
  if (job->census_left)
    memcpy(job->census_left, cpu->census[0], pixels * sizeof(uint64_t));
  if (job->census_right)
    memcpy(job->census_right, cpu->census[1], pixels * sizeof(uint64_t));
  if (job->volume)
    memcpy(job->volume, cpu->slots, cpu->slot_bytes * (size_t)c->height);
  for (int y = 0; y < c->height; y++)
    winners(cpu, c, y);
  return RV_OK;
}

static RvStatus check(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
  (void)job;
#pragma omp parallel for num_threads(cpu->threads)
  for (int y = 0; y < c->height; y++) {
    const uint16_t *winner = rv_sgm_winners(cpu, c, y), *right = rv_sgm_rights(cpu, c, y);
    uint16_t *disparity = rv_sgm_disparities(cpu, c, y);
    for (int x = 0; x < c->width; x++) {
      const int k = winner[x], xr = x - c->min_disparity - k;
      if (!rv_sgm_agrees(x, c->min_disparity, k, right[rv_max(xr, 0)], c->max_lr_diff))
        disparity[x] = RV_SGM_INVALID;
    }
  }
  return RV_OK;
}

static void *plane_row(const RvPlane *plane, int y) {
  return (char *)plane->data + y * plane->stride;
}

static RvStatus output(void *work, const RvSgmConfig *c, const RvSgmJob *job) {
  const RvSgmCpu *cpu = work;
#pragma omp parallel for num_threads(cpu->threads)
  for (int y = 0; y < c->height; y++) {
    const uint16_t *disparity = rv_sgm_disparities(cpu, c, y);
    memcpy(plane_row(&job->disparity, y), disparity, (size_t)c->width * sizeof *disparity);
    if (!c->confidence)
      continue;
    const uint8_t *found = rv_sgm_confidences(cpu, c, y);
    uint8_t *out = plane_row(&job->confidence, y);
    for (int x = 0; x < c->width; x++)
      out[x] = disparity[x] == RV_SGM_INVALID ? 0 : found[x];
  }
  return RV_OK;
}

static RvStatus read_map(void *work, const RvSgmConfig *c, RvSgmMap map, void *out,
                         RvStream stream) {
  const RvSgmCpu *cpu = work;
  const size_t bytes = (size_t)c->width * (map == RV_SGM_MAP_CONFIDENCE ? 1 : sizeof(uint16_t));
  (void)stream;
  for (int y = 0; y < c->height; y++) {
    const void *row = map == RV_SGM_MAP_WINNER      ? (const void *)rv_sgm_winners(cpu, c, y)
                      : map == RV_SGM_MAP_RIGHT     ? (const void *)rv_sgm_rights(cpu, c, y)
                      : map == RV_SGM_MAP_DISPARITY ? (const void *)rv_sgm_disparities(cpu, c, y)
                                                    : (const void *)rv_sgm_confidences(cpu, c, y);
    memcpy((char *)out + bytes * (size_t)y, row, bytes);
  }
  return RV_OK;
}

const RvSgmStages rv_sgm_stages_cpu = {
    .work_bytes = sizeof(RvSgmCpu),
    .layout = layout,
    .match = match,
    .check = check,
    .median = rv_sgm_cpu_median,
    .speckle = rv_sgm_cpu_speckle,
    .output = output,
    .read = read_map,
};
