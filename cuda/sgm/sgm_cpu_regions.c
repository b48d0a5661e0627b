/* SPDX-License-Identifier: MIT */
/* sgm_cpu_regions.c: connected regions of the CPU engine, for the speckle filter, the sky and the ends
 * of filled runs. The runs of joined pixels of a row are the nodes of a forest, each at the position
 * of its first pixel; joining two rows merges trees. Threads take bands of rows, then one thread
 * joins the bands. Sizes are sums, so the order in which trees are merged does not affect the
 * result. */
#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"

static RvSgmRegion *root(RvSgmRegion *region) {
  while (region->parent != region) {
    region->parent = region->parent->parent;
    region = region->parent;
  }
  return region;
}

static void join(RvSgmRegion *a, RvSgmRegion *b) {
  a = root(a);
  b = root(b);
  if (a == b)
    return;
  RvSgmRegion *big = a->size >= b->size ? a : b, *small = big == a ? b : a;
  small->parent = big;
  big->size += small->size;
}

void rv_sgm_cpu_runs(const RvSgmCpu *cpu, int y, const uint16_t *disparity, int range, int counts) {
  uint16_t *first = rv_sgm_right_winners(cpu, y);
  RvSgmRegion *row = rv_sgm_regions(cpu, y);
  for (int x = 0; x < cpu->width;) {
    int end = x + 1;
    while (end < cpu->width && rv_sgm_same_region(disparity[end - 1], disparity[end], range))
      end++;
    row[x] = (RvSgmRegion){.parent = row + x, .size = counts ? (uint32_t)(end - x) : 0};
    for (int i = x; i < end; i++)
      first[i] = (uint16_t)x;
    x = end;
  }
}

void rv_sgm_cpu_join(const RvSgmCpu *cpu, int y, const uint16_t *here, const uint16_t *above,
                     int range) {
  const uint16_t *first = rv_sgm_right_winners(cpu, y),
                 *first_above = rv_sgm_right_winners(cpu, y - 1);
  RvSgmRegion *row = rv_sgm_regions(cpu, y), *row_above = rv_sgm_regions(cpu, y - 1);
  int last = -1, last_above = -1; /* the pair joined last: most pixels repeat it */
  for (int x = 0; x < cpu->width; x++) {
    if ((first[x] == last && first_above[x] == last_above) ||
        !rv_sgm_same_region(here[x], above[x], range))
      continue;
    last = first[x];
    last_above = first_above[x];
    join(row + last, row_above + last_above);
  }
}

uint32_t rv_sgm_cpu_run(const RvSgmCpu *cpu, int y, int x, int *end) {
  const uint16_t *first = rv_sgm_right_winners(cpu, y);
  const RvSgmRegion *region = rv_sgm_regions(cpu, y) + x;
  while (region->parent != region)
    region = region->parent; /* other threads read the same trees: no path compression */
  for (*end = x; *end < cpu->width && first[*end] == x; ++*end)
    continue;
  return region->size;
}
