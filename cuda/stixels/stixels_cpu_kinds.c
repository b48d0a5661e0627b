/* SPDX-License-Identifier: MIT */
/* stixels_cpu_kinds.c: the dynamic programming over one column with priors of semantic classes, CPU
 * engine. Every semantic class is a class of the recursion; a stixel is skipped when it cannot cost
 * less than the best so far without penalties. */
#include "stixels/stixels_cpu.h"

/* Sum of the costs of the cells by (3.9). */
static int64_t sum_of(const RvStixelsColumn *c, int kind, int bottom, int top,
                      const RvStixelsPlane *plane) {
  const RvStixelsPlan *plan = &c->kinds->plan[kind];
  const int32_t *table = c->kinds->costs[kind];
  const int is_flat =
      plan->config.model == RV_STIXELS_CONSTANT && c->kinds->structure[kind] == RV_STIXEL_OBJECT;
  const int flat = is_flat ? 256 * rv_stixels_nearest(rv_stixels_value(plane, 0)) : 0;
  int64_t sum = 0;
  for (int v = bottom; v <= top; v++)
    sum += rv_stixels_cost_cell(plan, table, c->cells[v],
                                is_flat ? flat : rv_stixels_value(plane, v - bottom));
  return sum;
}

static int32_t depth_cost(const RvStixelsColumn *c, int kind, int bottom, int top,
                          RvStixelsPlane *plane) {
  const RvStixelsPlan *plan = &c->kinds->plan[kind];
  const int structure = c->kinds->structure[kind];
  if (structure == RV_STIXEL_SKY) {
    int32_t sum = 0;
    for (int v = bottom; v <= top; v++)
      sum += rv_stixels_cell_sky(plan, c->kinds->costs[kind], c->cells[v]);
    *plane = (RvStixelsPlane){0, 0};
    return rv_stixels_cost_sky(plan, sum);
  }
  const RvStixelsSums s = rv_stixels_between(&c->sums[bottom], &c->sums[top + 1]);
  const RvStixelsFit fit = rv_stixels_fit(plan, &c->ground, structure, &s, bottom);
  *plane = fit.plane;
  if (plan->config.model == RV_STIXELS_SLANTED_FAST)
    return rv_stixels_cost_fast(plan, structure, &s, top + 1 - bottom, fit.error);
  return rv_stixels_cost_sum(plan, structure, sum_of(c, kind, bottom, top, plane), fit.prior);
}

/* Cost of a stixel without its predecessor. */
static int32_t own_cost(const RvStixelsColumn *c, int kind, int bottom, int top,
                        RvStixelsPlane *plane) {
  const size_t classes = (size_t)c->plan->semantics;
  const uint32_t *keys = c->keys + kind;
  const uint32_t sum =
      kind < c->plan->semantics
          ? (keys[(size_t)(top + 1) * classes] - keys[(size_t)bottom * classes]) / 32
          : RV_STIXELS_SCORE_WORST * (uint32_t)(top + 1 - bottom);
  return rv_stixels_add(depth_cost(c, kind, bottom, top, plane),
                        rv_stixels_semantic_cost(c->plan, sum));
}

/* When the best stixels that end below `bottom` are known. */
static void note_under(const RvStixelsColumn *c, int bottom) {
  const int kinds = c->plan->kinds;
  for (int kind = 0; kind < kinds; kind++) {
    const int structure = c->kinds->structure[kind];
    int32_t least = bottom > 0 ? RV_STIXELS_INFINITE : c->plan->at_bottom[structure];
    for (int below = 0; bottom > 0 && below < kinds; below++)
      least = rv_min(least, c->endings[(size_t)(bottom - 1) * (size_t)kinds + (size_t)below].cost +
                                c->kinds->transition[kind][below] + c->cut_cost[c->cuts[bottom]]);
    c->under[(size_t)bottom * (size_t)kinds + (size_t)kind] = least;
  }
}

/* Updates the best stixel that ends in `top` with bottom..top of a class; lowest rows ascend. */
static void offer(const RvStixelsColumn *c, int kind, int bottom, int top) {
  const size_t kinds = (size_t)c->plan->kinds;
  const int structure = c->kinds->structure[kind];
  RvStixelsBest *best = &c->endings[(size_t)top * kinds + (size_t)kind];
  RvStixelsPlane plane;
  const int32_t own = own_cost(c, kind, bottom, top, &plane);
  const int32_t bound = own + c->under[(size_t)bottom * kinds + (size_t)kind];
  const int32_t next = rv_stixels_value(&plane, top + 1 - bottom);
  if (bottom == 0) {
    if (bound <= best->cost)
      *best = (RvStixelsBest){.cost = bound, .next = next};
    return;
  }
  if (bound >= best->cost)
    return;
  const int32_t cut = c->cut_cost[c->cuts[bottom]];
  const int mu = rv_stixels_value(&plane, 0);
  const RvStixelsBest *last = &c->endings[(size_t)(bottom - 1) * kinds];
  for (int below = 0; below < (int)kinds; below++) {
    if (last[below].cost >= RV_STIXELS_INFINITE)
      continue;
    const int32_t cost =
        own + cut + last[below].cost + c->kinds->transition[kind][below] +
        rv_stixels_step(c->plan, structure, c->kinds->structure[below], mu, last[below].next);
    if (cost < best->cost)
      *best = (RvStixelsBest){cost, next, (uint16_t)bottom, (uint16_t)below};
  }
}

/* Follows the stored lowest rows down from the top. */
static uint32_t follow(const RvStixelsColumn *c, int x, int kind, RvStixel *made) {
  const size_t kinds = (size_t)c->plan->kinds;
  uint32_t count = 0;
  for (int top = c->plan->rows - 1; top >= 0;) {
    const RvStixelsBest *best = &c->endings[(size_t)top * kinds + (size_t)kind];
    const int bottom = best->bottom, below = best->below;
    const int32_t under =
        bottom > 0 ? c->endings[(size_t)(bottom - 1) * kinds + (size_t)below].cost : 0;
    RvStixelsPlane plane;
    (void)depth_cost(c, kind, bottom, top, &plane);
    made[count] = rv_stixels_record(c->plan, x, bottom, top, c->kinds->structure[kind], &plane,
                                    best->cost - under);
    if (kind < c->plan->semantics)
      made[count].semantic = c->plan->semantic_class[kind];
    count++;
    top = bottom - 1;
    kind = below;
  }
  rv_stixels_reverse(made, count);
  return count;
}

int32_t rv_stixels_solve_kinds(RvStixelsColumn *c, int x, RvStixel *made, uint32_t *count) {
  const int rows = c->plan->rows, kinds = c->plan->kinds;
  for (int top = 0; top < rows; top++) {
    RvStixelsBest *best = &c->endings[(size_t)top * (size_t)kinds];
    if (c->cuts[top])
      note_under(c, top);
    for (int kind = 0; kind < kinds; kind++)
      best[kind] = (RvStixelsBest){.cost = RV_STIXELS_INFINITE};
    for (int bottom = 0; bottom <= top && c->cuts[top + 1]; bottom++)
      for (int kind = 0; kind < kinds && c->cuts[bottom]; kind++)
        if (c->kinds->structure[kind] != RV_STIXEL_SKY || rv_stixels_is_sky_row(&c->ground, bottom))
          offer(c, kind, bottom, top);
  }
  const RvStixelsBest *last = &c->endings[(size_t)(rows - 1) * (size_t)kinds];
  const int kind = rv_stixels_cheapest(last, kinds);
  *count = follow(c, x, kind, made);
  return last[kind].cost;
}
