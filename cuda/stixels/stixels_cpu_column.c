/* SPDX-License-Identifier: MIT */
/* stixels_cpu_column.c: the dynamic programming over one column, CPU engine. */
#include <string.h>

#include "rv_internal.h"
#include "stixels/stixels_cpu.h"

static void sum_cells(RvStixelsColumn *c) {
  memset(&c->sums[0], 0, sizeof c->sums[0]);
  for (int v = 0; v < c->plan->rows; v++) {
    const RvStixelsSums *last = &c->sums[v];
    const RvStixelsSums s = rv_stixels_of_cell(c->cells[v], v, rv_stixels_expected(&c->ground, v));
    c->sums[v + 1] = (RvStixelsSums){
        .n = last->n + s.n,
        .w = last->w + s.w,
        .wv = last->wv + s.wv,
        .wvv = last->wvv + s.wvv,
        .wd = last->wd + s.wd,
        .wvd = last->wvd + s.wvd,
        .wdd = last->wdd + s.wdd,
        .wg = last->wg + s.wg,
        .wvg = last->wvg + s.wvg,
        .wgg = last->wgg + s.wgg,
    };
  }
}

static void sum_sky(const RvStixelsColumn *c) {
  c->sky[0] = 0;
  for (int v = 0; v < c->plan->rows; v++)
    c->sky[v + 1] = c->sky[v] + rv_stixels_cell_sky(c->plan, c->costs[RV_STIXEL_SKY], c->cells[v]);
}

static void sum_semantics(const RvStixelsColumn *c) {
  const size_t rows = (size_t)c->plan->rows, count = (size_t)c->plan->semantics;
  memset(c->keys, 0, count * sizeof *c->keys);
  for (size_t v = 0; v < rows; v++)
    for (size_t index = 0; index < count; index++)
      c->keys[(v + 1) * count + index] =
          c->keys[v * count + index] + 32u * c->semantics[index * rows + v];
}

/* Minimum cost of the semantic classes of a structural class, 1/256 nat; *semantic: its class. */
static uint32_t pick_semantic(const RvStixelsColumn *c, int structure, int bottom, int top,
                              uint8_t *semantic) {
  const RvStixelsPlan *plan = c->plan;
  const int first = plan->semantic_first[structure], end = plan->semantic_first[structure + 1];
  const uint32_t *below = c->keys + (size_t)bottom * (size_t)plan->semantics;
  const uint32_t *upto = c->keys + (size_t)(top + 1) * (size_t)plan->semantics;
  uint32_t least = UINT32_MAX;
  for (int index = first; index < end; index++) {
    const uint32_t key = rv_stixels_key(below[index], upto[index], index - first);
    least = key < least ? key : least;
  }
  *semantic = first < end ? plan->semantic_class[first + (int)(least % 32)] : RV_SEMANTIC_NONE;
  return first < end ? least / 32 : RV_STIXELS_SCORE_WORST * (uint32_t)(top + 1 - bottom);
}

static int32_t cell_cost(const RvStixelsColumn *c, int structure, int v, int mu) {
  return rv_stixels_cost_cell(c->plan, c->costs[structure], c->cells[v], mu);
}

/* The tables of `constant`: costs of planes that do not depend on the stixel. */
static void sum_costs(RvStixelsColumn *c) {
  const RvStixelsPlan *plan = c->plan;
  c->flat[0] = 0;
  for (int v = 0; v < plan->rows; v++) {
    const int ground = rv_stixels_value(&c->ground, v);
    c->flat[v + 1] = c->flat[v] + cell_cost(c, RV_STIXEL_GROUND, v, ground);
  }
  for (int px = 0; px <= plan->config.max_disparity; px++) {
    int32_t *sum = c->steps + (size_t)px * (size_t)(plan->rows + 1);
    sum[0] = 0;
    for (int v = 0; v < plan->rows; v++)
      sum[v + 1] = sum[v] + cell_cost(c, RV_STIXEL_OBJECT, v, 256 * px);
  }
}

#define GROUP 16 /* cells between two looks at the limit */

/* What the cells cost by (3.9) if all valid ones were on the plane: the least they can cost. */
static int64_t least_sum(const RvStixelsColumn *c, int structure, int bottom, int top) {
  const int valid = (int)(c->sums[top + 1].n - c->sums[bottom].n);
  return (int64_t)valid * c->costs[structure][0] +
         (int64_t)(top + 1 - bottom - valid) * c->plan->invalid_cost;
}

/* What the cells cost above that; more than `limit` as soon as it is certain. */
static int64_t excess_of(const RvStixelsCell *cells, const int32_t *table, int length,
                         const RvStixelsPlane *plane, int64_t limit) {
  int64_t sum = 0;
  for (int first = 0; first < length && sum <= limit; first += GROUP) {
    const int end = rv_min(first + GROUP, length);
    int32_t part = 0;
    for (int v = first; v < end; v++) {
      const int32_t cost = table[rv_stixels_index(cells[v], rv_stixels_value(plane, v))] - table[0];
      part += cells[v].weight ? cost : 0;
    }
    sum += part;
  }
  return sum;
}

/* Costs of the cells by (3.9), or more than `limit`. */
static int64_t sum_of(const RvStixelsColumn *c, int structure, int bottom, int top,
                      const RvStixelsPlane *plane, int64_t limit) {
  const RvStixelsPlan *plan = c->plan;
  if (plan->config.model == RV_STIXELS_CONSTANT) {
    const int px = rv_stixels_nearest(rv_stixels_value(plane, 0));
    const int32_t *sum =
        structure == RV_STIXEL_GROUND ? c->flat : c->steps + (size_t)px * (size_t)(plan->rows + 1);
    return sum[top + 1] - sum[bottom];
  }
  const int64_t least = least_sum(c, structure, bottom, top);
  return least +
         excess_of(c->cells + bottom, c->costs[structure], top + 1 - bottom, plane, limit - least);
}

#define NO_LIMIT (INT64_MAX / 2)
#define TOO_MUCH INT32_MAX /* a cost above the limit */

/* Cost of a stixel without its predecessor and its semantics, or TOO_MUCH; *plane: its plane. */
static int32_t depth_cost(const RvStixelsColumn *c, int structure, int bottom, int top,
                          int64_t limit, RvStixelsPlane *plane) {
  const RvStixelsPlan *plan = c->plan;
  if (structure == RV_STIXEL_SKY) {
    *plane = (RvStixelsPlane){0, 0};
    return rv_stixels_cost_sky(plan, c->sky[top + 1] - c->sky[bottom]);
  }
  const RvStixelsSums s = rv_stixels_between(&c->sums[bottom], &c->sums[top + 1]);
  const RvStixelsFit fit = rv_stixels_fit(plan, &c->ground, structure, &s, bottom);
  const int length = top + 1 - bottom;
  *plane = fit.plane;
  if (plan->config.model == RV_STIXELS_SLANTED_FAST)
    return rv_stixels_cost_fast(plan, structure, &s, length, fit.error);
  const int32_t rest = rv_stixels_cost_sum(plan, structure, 0, fit.prior);
  const int64_t sum = sum_of(c, structure, bottom, top, plane, limit - rest);
  return sum > limit - rest ? TOO_MUCH : rv_stixels_cost_sum(plan, structure, sum, fit.prior);
}

/* Cost of a stixel without its predecessor, or TOO_MUCH; *plane, *semantic: its plane and semantic
 * class. */
static int32_t own_cost(const RvStixelsColumn *c, int structure, int bottom, int top, int64_t limit,
                        RvStixelsPlane *plane, uint8_t *semantic) {
  const int32_t depth = depth_cost(c, structure, bottom, top, limit, plane);
  *semantic = RV_SEMANTIC_NONE;
  if (!c->semantics || depth == TOO_MUCH)
    return depth;
  const uint32_t sum = pick_semantic(c, structure, bottom, top, semantic);
  return rv_stixels_add(depth, rv_stixels_semantic_cost(c->plan, sum));
}

/* What a stixel of the models that sum (3.9) may cost without its predecessor, to improve on the
 * best that ends in the same row: predecessors, transition and penalties cost `least` or more, as
 * do semantics, which cost 0 or more. Saturated costs have no limit. */
static int64_t limit_of(const RvStixelsColumn *c, int structure, int bottom, int top) {
  const int32_t best = c->best[top][structure].cost;
  return rv_stixels_can_improve(INT32_MAX, best) ? NO_LIMIT
                                                 : (int64_t)best - c->least[bottom][structure];
}

/* Updates the best stixel that ends in `top` with bottom..top of a class (3.25, 4.9). */
static void offer(RvStixelsColumn *c, int structure, int bottom, int top) {
  RvStixelsBest *best = &c->best[top][structure];
  RvStixelsPlane plane;
  uint8_t semantic;
  const int64_t limit = limit_of(c, structure, bottom, top);
  if (structure != RV_STIXEL_SKY && c->plan->config.model != RV_STIXELS_SLANTED_FAST &&
      least_sum(c, structure, bottom, top) + c->plan->fixed_cost[structure] > limit)
    return;
  const int32_t own = own_cost(c, structure, bottom, top, limit, &plane, &semantic);
  if (own == TOO_MUCH)
    return;
  const int mu = rv_stixels_value(&plane, 0);
  const int32_t next = rv_stixels_value(&plane, top + 1 - bottom);
  if (bottom == 0) {
    const int32_t cost = own + c->plan->at_bottom[structure];
    if (cost <= best->cost)
      *best = (RvStixelsBest){.cost = cost, .next = next};
    return;
  }
  const int32_t cut = c->cut_cost[c->cuts[bottom]];
  for (int below = 0; below < RV_STIXELS_CLASSES; below++) {
    const RvStixelsBest *last = &c->best[bottom - 1][below];
    if (last->cost >= RV_STIXELS_INFINITE)
      continue;
    const int32_t pair = cut + rv_stixels_pair(c->plan, structure, below, mu, last->next);
    const int32_t cost = own + pair + last->cost;
    if (cost < best->cost || (cost == best->cost && bottom < best->bottom))
      *best = (RvStixelsBest){cost, next, (uint16_t)bottom, (uint16_t)below};
  }
}

/* --- Bounds ---------------------------------------------------------------------------------- */

#define BLOCK 16 /* rows */

/* When the best stixels that end below `bottom` are known. */
static void note_least(RvStixelsColumn *c, int bottom) {
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    int32_t least = bottom > 0 ? RV_STIXELS_INFINITE : c->plan->at_bottom[k];
    for (int below = 0; bottom > 0 && below < RV_STIXELS_CLASSES; below++) {
      const int32_t cost = c->best[bottom - 1][below].cost;
      if (cost < RV_STIXELS_INFINITE)
        least = rv_min(least, cost + c->plan->transition[k][below] + c->cut_cost[c->cuts[bottom]]);
    }
    c->least[bottom][k] = least;
  }
}

/* Costs of the parts below the block that starts in row `first`. */
static void note_past(RvStixelsColumn *c, int first) {
  for (int bottom = 0; bottom < first; bottom++)
    for (int k = 0; k < RV_STIXELS_CLASSES && c->cuts[bottom]; k++) {
      RvStixelsPlane plane;
      uint8_t semantic;
      c->past[bottom][k] = own_cost(c, k, bottom, first - 1, NO_LIMIT, &plane, &semantic);
    }
}

/* Costs of the parts from row `first` to `top`. */
static void find_upper(const RvStixelsColumn *c, int first, int top,
                       int32_t upper[RV_STIXELS_CLASSES]) {
  const RvStixelsPlan *plan = c->plan;
  const RvStixelsSums s = rv_stixels_between(&c->sums[first], &c->sums[top + 1]);
  const double errors[] = {0, rv_stixels_free_error(plan, &s, first)};
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    uint8_t semantic;
    int32_t cost = k == RV_STIXEL_SKY
                       ? rv_stixels_cost_sky(plan, c->sky[top + 1] - c->sky[first])
                       : rv_stixels_cost_fast(plan, k, &s, top + 1 - first, errors[k]);
    if (c->semantics) {
      const uint32_t sum = pick_semantic(c, k, first, top, &semantic);
      cost = rv_stixels_add(cost, rv_stixels_semantic_cost(plan, sum));
    }
    upper[k] = rv_stixels_upper_part(plan, k, cost);
  }
}

/* All stixels that end in `top`, from the nearest lowest row on, which is the most likely. */
RV_ROW_LOOP __attribute__((flatten)) static void offer_all(RvStixelsColumn *c, int top) {
  const int first = rv_stixels_is_bounded(c->plan) ? top / BLOCK * BLOCK : 0;
  int32_t upper[RV_STIXELS_CLASSES] = {0, 0, 0};
  if (first > 0)
    find_upper(c, first, top, upper);
  for (int bottom = top; bottom >= 0; bottom--) {
    if (!c->cuts[bottom])
      continue;
    for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
      if (k == RV_STIXEL_SKY && !rv_stixels_is_sky_row(&c->ground, bottom))
        continue;
      if (bottom >= first ||
          rv_stixels_can_improve(c->least[bottom][k] + c->past[bottom][k] + upper[k],
                                 c->best[top][k].cost))
        offer(c, k, bottom, top);
    }
  }
}

/* --- Column ---------------------------------------------------------------------------------- */

int rv_stixels_cheapest(const RvStixelsBest *best, int count) {
  int at = 0;
  for (int k = 1; k < count; k++)
    if (best[k].cost < best[at].cost)
      at = k;
  return at;
}

void rv_stixels_reverse(RvStixel *made, uint32_t count) {
  for (uint32_t k = 0; k < count / 2; k++) {
    const RvStixel swapped = made[k];
    made[k] = made[count - 1 - k];
    made[count - 1 - k] = swapped;
  }
}

/* Follows the stored lowest rows down from the top and reverses the list. */
static uint32_t follow(const RvStixelsColumn *c, int x, int structure, RvStixel *made) {
  uint32_t count = 0;
  for (int top = c->plan->rows - 1; top >= 0;) {
    const RvStixelsBest *best = &c->best[top][structure];
    const int bottom = best->bottom, below = best->below;
    const int32_t under = bottom > 0 ? c->best[bottom - 1][below].cost : 0;
    RvStixelsPlane plane;
    uint8_t semantic;
    own_cost(c, structure, bottom, top, NO_LIMIT, &plane, &semantic);
    made[count] = rv_stixels_record(c->plan, x, bottom, top, structure, &plane, best->cost - under);
    made[count++].semantic = semantic;
    top = bottom - 1;
    structure = below;
  }
  rv_stixels_reverse(made, count);
  return count;
}

int32_t rv_stixels_solve(RvStixelsColumn *c, int x, RvStixel *made, uint32_t *count) {
  const RvStixelsPlan *plan = c->plan;
  sum_cells(c);
  sum_sky(c);
  if (c->semantics)
    sum_semantics(c);
  if (plan->config.model == RV_STIXELS_CONSTANT)
    sum_costs(c);
  rv_stixels_cpu_cuts(c);
  if (c->kinds)
    return rv_stixels_solve_kinds(c, x, made, count);
  for (int top = 0; top < plan->rows; top++) {
    if (c->cuts[top])
      note_least(c, top);
    if (top % BLOCK == 0 && rv_stixels_is_bounded(plan))
      note_past(c, top);
    if (!c->cuts[top + 1])
      continue;
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      c->best[top][k] = (RvStixelsBest){.cost = RV_STIXELS_INFINITE};
    offer_all(c, top);
  }
  const RvStixelsBest *last = c->best[plan->rows - 1];
  const int structure = rv_stixels_cheapest(last, RV_STIXELS_CLASSES);
  *count = follow(c, x, structure, made);
  return last[structure].cost;
}
