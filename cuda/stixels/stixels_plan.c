/* SPDX-License-Identifier: MIT */
/* stixels_plan.c: the plan and the tables of stixels. Logarithms, exponentials and angles are
 * computed here, on the host, once. */
#include <math.h>

#include "stixels/stixels_stages.h"

#define PI 3.14159265358979323846

static int32_t steps(double nat) {
  return (int32_t)floor(nat * RV_STIXELS_COST_STEPS + 0.5);
}

static RvStixelsStep step_of(const RvStixelsPenalty *penalty) {
  return (RvStixelsStep){steps(penalty->alpha), (uint32_t)steps(penalty->beta) << 12};
}

/* Z_G of (3.9): the integral of the normal curve over [0, d_max]. Sky is at its end, ground and
 * objects are assumed to be away from both ends. */
static double gauss_mass(const RvStixelsConfig *c, int structure) {
  const double full = c->sigma[structure] * sqrt(2 * PI);
  return structure == RV_STIXEL_SKY
             ? full * 0.5 * erf(c->max_disparity / (c->sigma[structure] * sqrt(2)))
             : full;
}

/* A Gaussian prior of a plane parameter: its weight in the sums, and its log Z (3.22). */
static double ridge(double sigma, double noise, int *is_free, double *fixed) {
  *is_free = sigma > 0;
  if (sigma <= 0 || sigma >= RV_STIXELS_SIGMA_FREE)
    return 0;
  *fixed += RV_STIXELS_COST_STEPS * log(sigma * sqrt(2 * PI));
  return 255 * noise * noise / (sigma * sigma);
}

static void set_priors(RvStixelsPlan *plan) {
  const RvStixelsConfig *c = &plan->config;
  plan->gravity[0] = step_of(&c->gravity_minus);
  plan->gravity[1] = step_of(&c->gravity_plus);
  plan->gap[0] = step_of(&c->gap_minus);
  plan->gap[1] = step_of(&c->gap_plus);
  plan->ordering = step_of(&c->ordering);
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    plan->fixed[k] = c->complexity * RV_STIXELS_COST_STEPS;
    plan->at_bottom[k] = steps(c->at_bottom[k]);
    for (int below = 0; below < RV_STIXELS_CLASSES; below++)
      plan->transition[k][below] = steps(c->transition[k][below]);
  }
  if (c->model != RV_STIXELS_CONSTANT) {
    const double ground = c->sigma[RV_STIXEL_GROUND], object = c->sigma[RV_STIXEL_OBJECT];
    const double step = c->vertical_step;
    double *fixed = plan->fixed;
    plan->ridge_a = ridge(c->sigma_ground_a, ground, &plan->free_a, &fixed[RV_STIXEL_GROUND]);
    plan->ridge_b =
        ridge(c->sigma_ground_b, ground, &plan->free_b, &fixed[RV_STIXEL_GROUND]) / (step * step);
    plan->ridge_object =
        ridge(c->sigma_object_b, object, &plan->free_object, &fixed[RV_STIXEL_OBJECT]) /
        (step * step);
  }
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    plan->fixed_cost[k] = (int32_t)floor(plan->fixed[k] + 0.5);
}

static uint32_t score(double value) {
  return (uint32_t)floor(value * RV_STIXELS_SCORE_ONE + 0.5);
}

static void set_semantics(RvStixelsPlan *plan) {
  const RvStixelsConfig *c = &plan->config;
  int slot = 0;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    plan->semantic_first[k] = slot;
    for (int s = 0; s < c->semantics; s++)
      if (c->semantic_structure[s] == k)
        plan->semantic_class[slot++] = (uint8_t)s;
  }
  plan->semantics = plan->semantic_first[RV_STIXELS_CLASSES] = slot;
  plan->semantic_weight = (int32_t)floor(256 * c->semantic_weight + 0.5);
  plan->judge_columns = c->semantic_repair ? RV_STIXELS_SURFACE / c->stixel_width : 0;
  plan->judge_rows = c->semantic_repair ? RV_STIXELS_SURFACE / c->vertical_step : 0;
  plan->share_columns = c->semantic_radius / c->stixel_width;
  plan->share_rows = c->semantic_radius / c->vertical_step;
  plan->label_score[0] = score(slot > 1 ? 0.9 : 1);
  plan->label_score[1] = slot > 1 ? score(0.1 / (slot - 1)) : 0;
  plan->label_score[2] = slot > 0 ? score(1.0 / slot) : 0;
  plan->kinds = 0;
  if (c->semantic_priors && slot > 0) {
    plan->kinds = slot;
    for (int k = 0; k < RV_STIXELS_CLASSES; k++)
      plan->kinds += plan->semantic_first[k] == plan->semantic_first[k + 1];
  }
}

/* --- Ground ---------------------------------------------------------------------------------- */

static int knows_ground(const RvCamera *camera) {
  return camera->focal > 0 && camera->baseline > 0 && camera->height > 0;
}

/* A point of the ground is `height` below the camera: with row y and depth Z,
 * Z ((y - cy) cos(pitch) / focal + sin(pitch)) = height, and d = focal baseline / Z - doffs. */
static RvStixelsPlane camera_plane(const RvStixelsConfig *c) {
  const RvCamera *camera = &c->camera;
  const double pitch = camera->pitch * PI / 180, scale = camera->baseline / camera->height;
  const double row = c->height - (c->vertical_step + 1) / 2.0; /* of v = 0 */
  const double at =
      scale * ((row - camera->cy) * cos(pitch) + camera->focal * sin(pitch)) - camera->doffs;
  const double slope = -scale * cos(pitch) * c->vertical_step;
  return (RvStixelsPlane){rv_stixels_fixed(at * 16), rv_stixels_fixed(slope * 16)};
}

/* Horizon at half the height, 3/8 of the maximum disparity at row 0. */
static RvStixelsPlane default_plane(const RvStixelsPlan *plan) {
  const int64_t at = ((int64_t)plan->config.max_disparity << 24) * 3 / 8;
  return (RvStixelsPlane){at, -(2 * at / plan->rows)};
}

/* --- Plan and tables ------------------------------------------------------------------------- */

void rv_stixels_make_plan(void *memory) {
  RvStixelsPlan *plan = memory;
  const RvStixelsConfig *c = &plan->config;
  if (c->max_disparity == 0)
    plan->config.max_disparity = RV_STIXELS_RANGE;
  plan->columns = rv_div_up(c->width, c->stixel_width);
  plan->rows = rv_div_up(c->height, c->vertical_step);
  plan->estimate = c->ground == RV_STIXELS_GROUND_ESTIMATE;
  plan->confidence_scale = (int)floor(256 / c->full_confidence + 0.5);
  plan->confidence_least = (int)floor(255 * c->min_confidence + 0.5);
  plan->spread = rv_max(32, 8 * c->vertical_step);
  plan->reach = c->refine ? (c->vertical_step - 1) / 2 : 0;
  plan->bottom_step = rv_div_up(c->max_disparity, RV_STIXELS_BOTTOMS);
  plan->cap = rv_max(plan->columns / 4, 1);
  plan->invalid = -RV_STIXELS_COST_STEPS * log(1 - c->p_val);
  plan->invalid_cost = (int32_t)floor(plan->invalid + 0.5);
  plan->empty_sky = steps(-log(c->p_empty_sky));
  plan->one_view = (int)floor(255 * c->one_view_confidence + 0.5);
  for (int k = 0; k < RV_STIXEL_SKY; k++) {
    plan->hit[k] = RV_STIXELS_COST_STEPS * (log(gauss_mass(c, k)) - log(c->p_val));
    plan->scale[k] = RV_STIXELS_COST_STEPS / (2 * 255 * 256 * c->sigma[k] * c->sigma[k]);
  }
  plan->has_cut_costs = c->cuts == RV_STIXELS_CUTS_NETWORK && c->cut_penalty > 0;
  set_priors(plan);
  set_semantics(plan);
  plan->start.ground = knows_ground(&c->camera) ? camera_plane(c) : default_plane(plan);
}

/* -log of the middle of the scores that share an entry, as far as they are integer steps. */
static void make_scores(uint16_t scores[RV_STIXELS_SCORE_STEPS]) {
  scores[0] = RV_STIXELS_SCORE_WORST;
  for (int i = 1; i < RV_STIXELS_SCORE_STEPS; i++) {
    const int exponent = (i - 1) / 512;
    const double low = ldexp(1 + (i - 1) % 512 / 512.0, exponent);
    const double middle = low + (exponent > 9 ? (ldexp(1, exponent - 9) - 1) / 2 : 0);
    const double cost = floor(256 * log(RV_STIXELS_SCORE_ONE / middle) + 0.5);
    scores[i] = (uint16_t)fmin(fmax(cost, 0), RV_STIXELS_SCORE_WORST);
  }
}

static void make_costs(const RvStixelsPlan *plan, int structure, int32_t costs[RV_STIXELS_TABLE]) {
  const RvStixelsConfig *c = &plan->config;
  const double uniform = c->p_out / c->max_disparity;
  const double peak = (1 - c->p_out) / gauss_mass(c, structure);
  for (int i = 0; i < RV_STIXELS_TABLE; i++) {
    const double x = i / (256 * c->sigma[structure]);
    costs[i] = steps(-log(c->p_val * (uniform + peak * exp(-x * x / 2))));
  }
}

void rv_stixels_make_tables(const RvStixelsPlan *plan, RvStixelsTables *tables) {
  make_scores(tables->scores);
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    make_costs(plan, k, tables->costs[k]);
  tables->cuts[0] = tables->cuts[RV_STIXELS_CUT_SURE] = 0;
  for (int code = 1; code < RV_STIXELS_CUT_SURE; code++) /* -log of the logistic of the score */
    tables->cuts[code] = steps(plan->config.cut_penalty * log1p(exp((128 - code) / 16.0)));
}

/* --- Semantic priors ------------------------------------------------------------------------- */

/* The semantic class at an index, or none, and its structural class. */
static int semantic_at(const RvStixelsPlan *plan, int kind, int *structure) {
  if (kind < plan->semantics) {
    *structure = plan->config.semantic_structure[plan->semantic_class[kind]];
    return plan->semantic_class[kind];
  }
  int left = kind - plan->semantics;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    if (plan->semantic_first[k] == plan->semantic_first[k + 1] && left-- == 0)
      *structure = k;
  return -1;
}

/* The plan and the costs of a class with its own sigma. */
static void make_kind(RvStixelsPlan *plan, int structure, double sigma, int32_t *costs) {
  if (sigma > 0)
    plan->config.sigma[structure] = sigma;
  plan->config.semantic_priors = NULL;
  rv_stixels_make_plan(plan);
  make_costs(plan, structure, costs);
}

void rv_stixels_make_kinds(const RvStixelsPlan *plan, RvStixelsKinds *kinds) {
  const RvStixelsSemanticPriors *priors = plan->config.semantic_priors;
  for (int kind = 0; kind < plan->kinds; kind++) {
    int structure = RV_STIXEL_GROUND;
    const int semantic = semantic_at(plan, kind, &structure);
    kinds->structure[kind] = structure;
    kinds->plan[kind] = *plan;
    make_kind(&kinds->plan[kind], structure, semantic < 0 ? 0 : priors->sigma[semantic],
              kinds->costs[kind]);
    for (int below = 0; below < plan->kinds; below++) {
      int under = RV_STIXEL_GROUND;
      const int lower = semantic_at(plan, below, &under);
      kinds->transition[kind][below] =
          plan->transition[structure][under] +
          (semantic < 0 || lower < 0 ? 0 : steps(priors->transition[semantic][lower]));
    }
  }
}
