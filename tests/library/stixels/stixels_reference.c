/* SPDX-License-Identifier: MIT */
/* stixels_reference.c: plain sums, every segmentation, the recursion on the call stack, and the
 * energy by its formulas. */
#include "stixels/stixels_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

RvStixelsPlan stixels_plan_of(const RvStixelsConfig *config) {
  RvStixelsPlan plan = {.config = *config};
  rv_stixels_make_plan(&plan);
  return plan;
}

/* --- Column ---------------------------------------------------------------------------------- */

static int pixel(const RvPlane *plane, int x, int y) {
  const char *at = (const char *)plane->data + y * plane->stride;
  return plane->format == RV_U8 ? ((const uint8_t *)at)[x]
                                : ((const uint16_t *)(const void *)at)[x];
}

/* Confidence of a pixel relative to full_confidence, 0..255. */
static int plain_confidence(const RvStixelsConfig *c, const RvPlane *confidence, int x, int y) {
  if (!confidence)
    return 255;
  const double gain = floor(256 / c->full_confidence + 0.5) / 256;
  const int own = pixel(confidence, x, y);
  const double least = own > 0 ? floor(255 * c->min_confidence + 0.5) : 0;
  return (int)fmin(fmax(floor(own * gain + 0.5), least), 255);
}

/* Sums over the side of `middle` with more pixels; returns their number. */
static double plain_side(const RvStixelsConfig *c, const RvPlane *disparity,
                         const RvPlane *confidence, int column, int v, double middle, double *trust,
                         double *weighted) {
  double n[2] = {0, 0}, t[2] = {0, 0}, td[2] = {0, 0};
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++) {
      const int d = pixel(disparity, x, y);
      if (x / c->stixel_width != column || (c->height - 1 - y) / c->vertical_step != v || d == 0)
        continue;
      const int side = d > floor(middle), share = plain_confidence(c, confidence, x, y);
      n[side] += 1;
      t[side] += share;
      td[side] += (double)share * d;
    }
  const int side = n[1] >= n[0];
  *trust = t[side];
  *weighted = td[side];
  return n[side];
}

/* A pixel belongs to the cell at its distance from the left and from the bottom. */
static RvStixelsCell plain_cell(const RvStixelsConfig *c, const RvPlane *disparity,
                                const RvPlane *confidence, int column, int v) {
  double pixels = 0, valid = 0, trust = 0, weighted = 0, least = 65535, most = 0;
  for (int y = 0; y < c->height; y++)
    for (int x = column * c->stixel_width; x < c->width; x++) {
      if (x / c->stixel_width != column || (c->height - 1 - y) / c->vertical_step != v)
        continue;
      const int d = pixel(disparity, x, y);
      const int t = d == 0 ? 0 : plain_confidence(c, confidence, x, y);
      pixels += 1;
      valid += d != 0;
      trust += t;
      weighted += (double)t * d;
      least = d ? fmin(least, d) : least;
      most = fmax(most, d);
    }
  RvStixelsCell cell = {0, 0, 0};
  cell.confidence = valid * 4 < pixels && valid * 8 <= pixels;
  const double share = fmin(2 * valid / pixels, 1);
  if (valid * 4 < pixels || trust == 0)
    return cell;
  if (most - least > fmax(32, 8 * c->vertical_step))
    valid = plain_side(c, disparity, confidence, column, v, weighted / trust, &trust, &weighted);
  if (trust == 0)
    return cell;
  const int mean = (int)floor(floor(trust / valid + 0.5) * share + 1e-9);
  const int weight = (int)floor(mean * mean / 255.0 + 0.5);
  if (weight == 0)
    return cell;
  const double most_px = c->max_disparity ? c->max_disparity : 128;
  const double d = fmin(floor(weighted / trust + 0.5), 16.0 * most_px);
  return (RvStixelsCell){(uint16_t)d, (uint8_t)weight, (uint8_t)mean};
}

/* A cell that has no value, between columns that have one, continues the farther of them where the
 * gap is at most one column wider than their disparities differ; at the left edge the only one,
 * where it is at most one column wider than its disparity. */
static RvStixelsCell plain_or_one_view(const RvStixelsConfig *c, const RvStixelsInput *input,
                                       int column, int v) {
  const RvPlane *trust = input->confidence.data ? &input->confidence : NULL;
  const RvStixelsCell own = plain_cell(c, &input->disparity, trust, column, v), none = {0, 0, 0};
  const int confidence = (int)floor(255 * c->one_view_confidence + 0.5);
  const int columns = (c->width + c->stixel_width - 1) / c->stixel_width;
  if (own.weight || confidence == 0)
    return own;
  RvStixelsCell left = none, right = none;
  int first = column, end = column + 1;
  for (; first > 0 && !left.weight; first -= !left.weight)
    left = plain_cell(c, &input->disparity, trust, first - 1, v);
  for (; end < columns && !right.weight; end += !right.weight)
    right = plain_cell(c, &input->disparity, trust, end, v);
  const double gap = (end - first - 1) * c->stixel_width;
  if (!right.weight || gap > (right.disparity - left.disparity) / 16.0)
    return own;
  return (RvStixelsCell){left.weight ? left.disparity : right.disparity,
                         (uint8_t)floor(confidence * confidence / 255.0 + 0.5),
                         (uint8_t)confidence};
}

static void set_stixel(StixelsReference *t, int bottom, int top, int k) {
  const RvStixelsPlan *plan = &t->plan;
  RvStixelsSums s = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (int v = bottom; v <= top; v++) {
    const int64_t w = t->cells[v].weight, d = t->cells[v].disparity;
    const int64_t g = d - rv_stixels_expected(&t->ground, v);
    s.n += w > 0;
    s.w += w, s.wv += w * v, s.wvv += w * v * v;
    s.wd += w * d, s.wvd += w * d * v, s.wdd += w * d * d;
    s.wg += w * g, s.wvg += w * g * v, s.wgg += w * g * g;
  }
  const RvStixelsFit fit = rv_stixels_fit(plan, &t->ground, k, &s, bottom);
  t->plane[bottom][top][k] = fit.plane;
  t->semantic[bottom][top][k] = RV_SEMANTIC_NONE;
  if (k == RV_STIXEL_SKY) {
    int32_t sum = plan->fixed_cost[k];
    for (int v = bottom; v <= top; v++)
      sum += t->cells[v].weight       ? t->tables.costs[k][rv_stixels_index(t->cells[v], 0)]
             : t->cells[v].confidence ? plan->empty_sky
                                      : plan->invalid_cost;
    t->own[bottom][top][k] = sum;
    return;
  }
  if (plan->config.model == RV_STIXELS_SLANTED_FAST) {
    t->own[bottom][top][k] = rv_stixels_cost_fast(plan, k, &s, top + 1 - bottom, fit.error);
    return;
  }
  int64_t sum = 0;
  for (int v = bottom; v <= top; v++) {
    int mu = rv_stixels_value(&fit.plane, v - bottom);
    if (plan->config.model == RV_STIXELS_CONSTANT && k == RV_STIXEL_OBJECT)
      mu = 256 * rv_stixels_nearest(mu);
    sum += t->cells[v].weight ? t->tables.costs[k][rv_stixels_index(t->cells[v], mu)]
                              : plan->invalid_cost;
  }
  t->own[bottom][top][k] = rv_stixels_cost_sum(plan, k, sum, fit.prior);
}

double stixels_half_value(int half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double value = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
  if (half & 0x8000 || (exponent == 31 && mantissa))
    return 0;
  return fmin(value, 1);
}

/* Score of a class at a pixel of the image. */
static double pixel_score(const RvStixelsConfig *c, const RvStixelsInput *input, int x, int y,
                          int semantic) {
  const RvPlane *map = input->labels.data ? &input->labels : &input->scores;
  const int height = input->labels.data ? map->height : map->height / c->semantics;
  const int u = (int)floor((double)x * map->width / c->width);
  const int v = (int)floor((double)y * height / c->height);
  if (input->scores.data)
    return stixels_half_value(pixel(map, u, semantic * height + v));
  const int label = pixel(map, u, v);
  if (label >= c->semantics)
    return 1.0 / c->semantics;
  return c->semantics == 1 ? 1 : label == semantic ? 0.9 : 0.1 / (c->semantics - 1);
}

/* Mean over a cell in 1/2^23, of pixels in 1/2^23. */
static double plain_score(const RvStixelsConfig *c, const RvStixelsInput *input, int column, int v,
                          int semantic) {
  double sum = 0, pixels = 0;
  for (int y = 0; y < c->height; y++)
    for (int x = column * c->stixel_width; x < c->width; x++) {
      if (x / c->stixel_width != column || (c->height - 1 - y) / c->vertical_step != v)
        continue;
      sum += nearbyint(pixel_score(c, input, x, y, semantic) * RV_STIXELS_SCORE_ONE);
      pixels += 1;
    }
  return floor(sum / pixels + 0.5);
}

/* Tries every semantic class for a stixel. */
static void set_semantic(StixelsReference *t, const RvStixelsConfig *c, int bottom, int top,
                         int k) {
  uint32_t least = 4096u * (uint32_t)(top + 1 - bottom);
  int chosen = RV_SEMANTIC_NONE;
  for (int semantic = 0; semantic < c->semantics; semantic++) {
    uint32_t sum = 0;
    for (int v = bottom; v <= top; v++)
      sum += t->semantic_cost[semantic][v];
    if (c->semantic_structure[semantic] != k || (chosen != RV_SEMANTIC_NONE && sum >= least))
      continue;
    least = sum;
    chosen = semantic;
  }
  t->semantic[bottom][top][k] = (uint8_t)chosen;
  t->own[bottom][top][k] =
      rv_stixels_add(t->own[bottom][top][k], rv_stixels_semantic_cost(&t->plan, least));
}

/* Costs of each cell alone. */
static void set_own_semantics(StixelsReference *t, const RvStixelsConfig *c,
                              const RvStixelsInput *input, int column) {
  for (int semantic = 0; semantic < c->semantics; semantic++)
    for (int v = 0; v < t->rows; v++) {
      const double units = plain_score(c, input, column, v, semantic);
      t->score[semantic][v] = units / RV_STIXELS_SCORE_ONE;
      t->semantic_cost[semantic][v] = t->tables.scores[rv_stixels_score_index((uint32_t)units)];
    }
}

/* Adds the costs and weights of the cells of column `other` that are near enough. */
static void add_shares(const StixelsReference *t, const StixelsReference *other, int most_rows,
                       double sums[RV_STIXELS_SEMANTICS_MAX][REFERENCE_ROWS], double *weights) {
  for (int v = 0; v < t->rows; v++)
    for (int from = 0; from < t->rows; from++) {
      const double off = fabs(t->cells[v].disparity / 16.0 - other->cells[from].disparity / 16.0);
      if (abs(v - from) > most_rows || off >= 0.5)
        continue;
      weights[v] += 0.5 - off;
      for (int k = 0; k < t->plan.config.semantics; k++)
        sums[k][v] += (0.5 - off) * other->semantic_cost[k][from];
    }
}

/* Means over the cells within the radius, of like disparity. */
static void share_semantics(StixelsReference *t, const RvStixelsConfig *c,
                            const RvStixelsInput *input, int column) {
  double sums[RV_STIXELS_SEMANTICS_MAX][REFERENCE_ROWS] = {{0}}, weights[REFERENCE_ROWS] = {0};
  StixelsReference *other = malloc(sizeof *other);
  if (!other)
    abort();
  const int reach = c->semantic_radius / c->stixel_width, columns = rv_stixels_columns(c);
  other->rows = t->rows;
  other->tables = t->tables;
  for (int x = rv_max(column - reach, 0); x <= column + reach && x < columns; x++) {
    for (int v = 0; v < t->rows; v++)
      other->cells[v] = plain_or_one_view(c, input, x, v);
    set_own_semantics(other, c, input, x);
    add_shares(t, other, c->semantic_radius / c->vertical_step, sums, weights);
  }
  free(other);
  for (int k = 0; k < c->semantics; k++)
    for (int v = 0; v < t->rows; v++) {
      t->semantic_cost[k][v] = (uint16_t)floor(sums[k][v] / weights[v] + 0.5);
      t->score[k][v] = exp(-sums[k][v] / weights[v] / 256);
    }
}

static void set_semantics(StixelsReference *t, const RvStixelsConfig *c,
                          const RvStixelsInput *input, int column) {
  set_own_semantics(t, c, input, column);
  if (c->semantic_radius > 0)
    share_semantics(t, c, input, column);
  for (int bottom = 0; bottom < t->rows; bottom++)
    for (int top = bottom; top < t->rows; top++)
      for (int k = 0; k < RV_STIXELS_CLASSES; k++)
        set_semantic(t, c, bottom, top, k);
}

/* (3.4.1) as printed: row v is a left (step 1) or right (step -1) minimum or maximum of the
 * disparity in integer px. */
static int is_extreme(const StixelsReference *t, int v, int step) {
  int series[REFERENCE_ROWS], j = v;
  for (int i = 0; i < t->rows; i++)
    series[i] = t->cells[i].weight ? (t->cells[i].disparity + 8) / 16 : -1;
  const int last = v - step;
  if (last < 0 || last >= t->rows)
    return 0;
  while (j + step >= 0 && j + step < t->rows && series[j + step] == series[v])
    j += step;
  if (j + step < 0 || j + step >= t->rows)
    return 0;
  return (series[v] < series[last] && series[j] < series[j + step]) ||
         (series[v] > series[last] && series[j] > series[j + step]);
}

static int likeliest(const StixelsReference *t, const RvStixelsConfig *c, int v) {
  int best = -1;
  for (int structure = 0; structure < RV_STIXELS_CLASSES; structure++)
    for (int k = 0; k < c->semantics; k++)
      if (c->semantic_structure[k] == structure &&
          (best < 0 || t->semantic_cost[k][v] < t->semantic_cost[best][v]))
        best = k;
  return best;
}

/* Whether a stixel may start in row v and end below it, as RvStixelsOutput.cuts. */
static uint8_t cut_code(const StixelsReference *t, const RvStixelsConfig *c, int v) {
  if (c->cuts == RV_STIXELS_CUTS_ALL || v == 0 ||
      (t->is_semantic && likeliest(t, c, v) != likeliest(t, c, v - 1)))
    return 255;
  if (c->cuts == RV_STIXELS_CUTS_NETWORK)
    return t->codes[v];
  const RvStixelsCell *cell = &t->cells[v];
  const int is_step =
      !cell[-1].weight != !cell[0].weight || abs(cell[-1].disparity - cell[0].disparity) >= 16;
  return is_step || is_extreme(t, v, 1) || is_extreme(t, v - 1, -1) ? 255 : 0;
}

static void set_cuts(StixelsReference *t, const RvStixelsConfig *config) {
  if (config->cuts == RV_STIXELS_CUTS_NETWORK) {
    if (rv_stixels_make_network(config, &t->network) != RV_OK)
      abort();
    stixels_reference_network(&t->network, &t->ground, t->cells, t->rows, t->codes);
  }
  for (int v = 0; v < t->rows; v++)
    t->codes[v] = cut_code(t, config, v);
}

static int may_cut(const StixelsReference *t, int v) {
  return v == t->rows || t->codes[v];
}

void stixels_reference_column(StixelsReference *t, const RvStixelsConfig *config,
                              const RvStixelsGround *ground, const RvStixelsInput *input,
                              int column) {
  t->plan = stixels_plan_of(config);
  rv_stixels_make_tables(&t->plan, &t->tables);
  t->ground = (RvStixelsPlane){ground->at, ground->slope};
  t->rows = rv_stixels_rows(config);
  if (t->rows > REFERENCE_ROWS)
    abort();
  for (int v = 0; v < t->rows; v++)
    t->cells[v] = plain_or_one_view(config, input, column, v);
  for (int bottom = 0; bottom < t->rows; bottom++)
    for (int top = bottom; top < t->rows; top++)
      for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
        set_stixel(t, bottom, top, k);
        if (k == RV_STIXEL_SKY && !rv_stixels_is_sky_row(&t->ground, bottom))
          t->own[bottom][top][k] = RV_STIXELS_INFINITE;
      }
  t->is_semantic = input->labels.data || input->scores.data;
  if (t->is_semantic)
    set_semantics(t, config, input, column);
  set_cuts(t, config);
  for (int bottom = 0; bottom < t->rows; bottom++)
    for (int top = bottom; top < t->rows; top++)
      for (int k = 0; k < RV_STIXELS_CLASSES; k++)
        if (!may_cut(t, bottom) || !may_cut(t, top + 1))
          t->own[bottom][top][k] = RV_STIXELS_INFINITE;
        else if (bottom > 0)
          t->own[bottom][top][k] =
              rv_stixels_add(t->own[bottom][top][k], t->tables.cuts[t->codes[bottom]]);
        else
          t->own[0][top][k] = rv_stixels_add(t->own[0][top][k], t->plan.at_bottom[k]);
}

/* Prior of stixel k from `bottom` to `top` above the one of class `below` that started at
 * `first`. */
static int32_t pair(const StixelsReference *t, int first, int bottom, int top, int k, int below) {
  return rv_stixels_pair(&t->plan, k, below, rv_stixels_value(&t->plane[bottom][top][k], 0),
                         rv_stixels_value(&t->plane[first][bottom - 1][below], bottom - first));
}

/* --- Every segmentation ---------------------------------------------------------------------- */

/* Minimum cost of rows `bottom`.. when the stixel below them started at `first` with class
 * `below`. */
static int32_t least_above(const StixelsReference *t, int first, int bottom, int below) {
  if (bottom == t->rows)
    return 0;
  int32_t least = RV_STIXELS_INFINITE;
  for (int top = bottom; top < t->rows; top++)
    for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
      int32_t cost = t->own[bottom][top][k];
      if (bottom > 0)
        cost = rv_stixels_add(cost, pair(t, first, bottom, top, k, below));
      cost = rv_stixels_add(cost, least_above(t, bottom, top + 1, k));
      least = rv_min(least, cost);
    }
  return least;
}

int32_t stixels_reference_minimum(const StixelsReference *t) {
  return least_above(t, 0, 0, 0);
}

/* --- Recursion ------------------------------------------------------------------------------- */

typedef struct Best {
  int32_t cost;
  int bottom, below;
} Best;

typedef struct Memory {
  Best best[REFERENCE_ROWS][RV_STIXELS_CLASSES];
  int known[REFERENCE_ROWS][RV_STIXELS_CLASSES];
} Memory;

/* Best stixel of class k that ends in row `top`. */
static Best ending(const StixelsReference *t, Memory *memory, int top, int k) {
  if (memory->known[top][k])
    return memory->best[top][k];
  Best best = {t->own[0][top][k], 0, 0};
  for (int bottom = 1; bottom <= top; bottom++)
    for (int below = 0; below < RV_STIXELS_CLASSES; below++) {
      const Best last = ending(t, memory, bottom - 1, below);
      if (last.cost >= RV_STIXELS_INFINITE || t->own[bottom][top][k] >= RV_STIXELS_INFINITE)
        continue;
      int32_t cost =
          rv_stixels_add(t->own[bottom][top][k], pair(t, last.bottom, bottom, top, k, below));
      cost = rv_stixels_add(cost, last.cost);
      if (cost < best.cost)
        best = (Best){cost, bottom, below};
    }
  memory->known[top][k] = 1;
  return memory->best[top][k] = best;
}

int32_t stixels_reference_recursion(const StixelsReference *t, int column, RvStixel *list,
                                    int *count) {
  Memory memory;
  memset(&memory, 0, sizeof memory);
  int k = 0, top = t->rows - 1;
  for (int other = 1; other < RV_STIXELS_CLASSES; other++)
    if (ending(t, &memory, top, other).cost < ending(t, &memory, top, k).cost)
      k = other;
  const int32_t energy = ending(t, &memory, top, k).cost;
  RvStixel down[REFERENCE_ROWS];
  *count = 0;
  while (top >= 0) {
    const Best best = ending(t, &memory, top, k);
    const int32_t under =
        best.bottom > 0 ? ending(t, &memory, best.bottom - 1, best.below).cost : 0;
    down[*count] = rv_stixels_record(&t->plan, column, best.bottom, top, k,
                                     &t->plane[best.bottom][top][k], best.cost - under);
    down[(*count)++].semantic = t->semantic[best.bottom][top][k];
    top = best.bottom - 1;
    k = best.below;
  }
  for (int i = 0; i < *count; i++)
    list[i] = down[*count - 1 - i];
  return energy;
}

/* --- Formulas -------------------------------------------------------------------------------- */

typedef struct Line {
  double a, b; /* px at image row 0, px per row */
} Line;

static double at_row(const RvStixelsConfig *c, Line line, int v) {
  return line.a + line.b * (c->height - (c->vertical_step + 1) / 2.0 - v * c->vertical_step);
}

static double max_disparity(const RvStixelsConfig *c) {
  return c->max_disparity ? c->max_disparity : 128;
}

static double normal_mass(const RvStixelsConfig *c, int k) {
  const double whole = c->sigma[k] * sqrt(2 * acos(-1));
  return k == RV_STIXEL_SKY ? whole / 2 * erf(max_disparity(c) / c->sigma[k] / sqrt(2)) : whole;
}

/* (3.8) with (3.9), or for ground and objects of slanted-fast with (4.12). */
static double cell_energy(const StixelsReference *t, const RvStixelsConfig *c, int k, int v,
                          double mu) {
  const RvStixelsCell *cell = &t->cells[v];
  if (cell->weight == 0)
    return -log(cell->confidence && k == RV_STIXEL_SKY ? c->p_empty_sky : 1 - c->p_val);
  const double off = cell->disparity / 16.0 - mu, mass = normal_mass(c, k);
  if (c->model == RV_STIXELS_SLANTED_FAST && k != RV_STIXEL_SKY)
    return -log(c->p_val / mass) +
           cell->weight / 255.0 * off * off / (2 * c->sigma[k] * c->sigma[k]);
  const double x = fmin(fabs(off) * cell->confidence / 255, 4095 / 256.0) / c->sigma[k];
  return -log(c->p_val * (c->p_out / max_disparity(c) + (1 - c->p_out) / mass * exp(-x * x / 2)));
}

/* (4.3); no class: a score of 0. */
static double semantic_energy(const StixelsReference *t, const RvStixelsConfig *c, int semantic,
                              int v) {
  const double score = semantic == RV_SEMANTIC_NONE ? 0 : t->score[semantic][v];
  const double weight = floor(256 * c->semantic_weight + 0.5) / 256;
  return t->is_semantic ? weight * fmin(score > 0 ? -log(score) : 16, 16) : 0;
}

static double gauss_prior(double value, double sigma) {
  if (sigma <= 0 || sigma >= RV_STIXELS_SIGMA_FREE)
    return 0;
  return value * value / (2 * sigma * sigma) + log(sigma * sqrt(2 * acos(-1)));
}

static double plane_prior(const StixelsReference *t, const RvStixelsConfig *c, int k, Line line) {
  if (c->model == RV_STIXELS_CONSTANT || k == RV_STIXEL_SKY)
    return 0;
  if (k == RV_STIXEL_OBJECT)
    return gauss_prior(line.b, c->sigma_object_b);
  const double unit = ldexp(1, -24);
  const double a = at_row(c, line, 0) - (double)t->ground.at * unit;
  const double b = line.b + (double)t->ground.slope * unit / c->vertical_step;
  return gauss_prior(a, c->sigma_ground_a) + gauss_prior(b, c->sigma_ground_b);
}

static double own_energy(const StixelsReference *t, const RvStixelsConfig *c, const RvStixel *s,
                         int bottom, int top) {
  const Line line = {s->intercept, s->slope};
  double sum = c->complexity + plane_prior(t, c, s->structure, line);
  for (int v = bottom; v <= top; v++) {
    double mu = at_row(c, line, v);
    if (c->model == RV_STIXELS_CONSTANT && s->structure == RV_STIXEL_OBJECT)
      mu = floor((floor(mu * 256 + 0.5) + 128) / 256);
    /* The expected plane is rounded to 1/16 px where residuals against it are summed. */
    if (c->model == RV_STIXELS_SLANTED_FAST && s->structure == RV_STIXEL_GROUND) {
      const double exact = ldexp((double)(t->ground.at + t->ground.slope * v), -24);
      mu += floor(exact * 16 + 0.5) / 16 - exact;
    }
    sum += cell_energy(t, c, s->structure, v, mu) + semantic_energy(t, c, s->semantic, v);
  }
  return sum;
}

static double penalty(const RvStixelsPenalty *minus, const RvStixelsPenalty *plus, double delta,
                      double *slack) {
  const RvStixelsPenalty *p = delta < 0 ? minus : plus;
  *slack += p->beta / 128 + fabs(delta) / 2048; /* beta is stored in 1/1024 nat */
  if (fabs(delta) < 1.0 / 256)
    *slack += minus->alpha + plus->alpha;
  return delta == 0 ? 0 : p->alpha + p->beta * fabs(delta);
}

static double pair_energy(const RvStixelsConfig *c, const RvStixel *s, const RvStixel *last,
                          int bottom, double *slack) {
  static const RvStixelsPenalty none = {0, 0};
  const double delta = at_row(c, (Line){s->intercept, s->slope}, bottom) -
                       at_row(c, (Line){last->intercept, last->slope}, bottom);
  double sum = c->transition[s->structure][last->structure];
  if (s->structure == RV_STIXEL_OBJECT && last->structure == RV_STIXEL_GROUND)
    sum += penalty(&c->gravity_minus, &c->gravity_plus, delta, slack);
  if (s->structure == RV_STIXEL_OBJECT && last->structure == RV_STIXEL_OBJECT)
    sum += penalty(&none, &c->ordering, delta, slack);
  if (s->structure == RV_STIXEL_GROUND && last->structure == RV_STIXEL_GROUND)
    sum += penalty(&c->gap_minus, &c->gap_plus, delta, slack);
  return sum;
}

/* Row of cells above the nearest boundary of cells. */
static int boundary_row(const RvStixelsConfig *c, int first) {
  return (c->height - first + c->vertical_step / 2) / c->vertical_step;
}

double stixels_reference_energy(const StixelsReference *t, const RvStixelsConfig *c,
                                const RvStixel *list, uint32_t count, double *slack) {
  double sum = 0;
  *slack = 0;
  for (uint32_t k = 0; k < count; k++) {
    const int bottom = boundary_row(c, list[k].v_bottom + 1);
    const int top = list[k].v_top > 0 ? boundary_row(c, list[k].v_top) - 1 : t->rows - 1;
    sum += own_energy(t, c, &list[k], bottom, top);
    /* A table's entry is up to 1/256 px off, where (3.9) rises by up to 3 / sigma. */
    const double cell = c->model == RV_STIXELS_SLANTED_FAST && list[k].structure != RV_STIXEL_SKY
                            ? 0.0005
                            : 0.012 / c->sigma[list[k].structure];
    *slack += 0.002 + cell * (top - bottom + 1);
    *slack += t->is_semantic ? 0.004 * c->semantic_weight * (top - bottom + 1) : 0;
    sum += k > 0 ? pair_energy(c, &list[k], &list[k - 1], bottom, slack) +
                       stixels_reference_cut_energy(t, c, bottom)
                 : c->at_bottom[list[0].structure];
  }
  return sum;
}
