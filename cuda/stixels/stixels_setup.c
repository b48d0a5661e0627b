/* SPDX-License-Identifier: MIT */
/* stixels_setup.c: the config in numbers the engines work with. Logarithms, exponentials and angles
 * are taken here, on the host, once. */
#include <math.h>

#include "stixels/stixels_stages.h"

#define PI 3.14159265358979323846

static int32_t steps(double nat) {
  return (int32_t)floor(nat * RV_STIXELS_COST_STEPS + 0.5);
}

static RvStixelsStep step_of(const RvStixelsPenalty *penalty) {
  return (RvStixelsStep){steps(penalty->alpha), (uint32_t)steps(penalty->beta) << 12};
}

/* Z_G of (3.9): the mass of the normal curve in [0, d_max]. Sky lies at its end, ground and objects
 * are taken as away from both ends. */
static double gauss_mass(const RvStixelsConfig *c, int structure) {
  const double whole = c->sigma[structure] * sqrt(2 * PI);
  return structure == RV_STIXEL_SKY
             ? whole * 0.5 * erf(c->max_disparity / (c->sigma[structure] * sqrt(2)))
             : whole;
}

/* A Gaussian prior of a plane parameter: its weight in the sums, and its log Z (3.22). */
static double ridge(double sigma, double noise, int *is_free, double *fixed) {
  *is_free = sigma > 0;
  if (sigma <= 0 || sigma >= RV_STIXELS_SIGMA_FREE)
    return 0;
  *fixed += RV_STIXELS_COST_STEPS * log(sigma * sqrt(2 * PI));
  return 255 * noise * noise / (sigma * sigma);
}

static void set_priors(const RvStixelsConfig *c, RvStixelsModel *m) {
  m->gravity[0] = step_of(&c->gravity_minus);
  m->gravity[1] = step_of(&c->gravity_plus);
  m->gap[0] = step_of(&c->gap_minus);
  m->gap[1] = step_of(&c->gap_plus);
  m->ordering = step_of(&c->ordering);
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    m->fixed[k] = c->complexity * RV_STIXELS_COST_STEPS;
    m->first[k] = steps(c->first[k]);
    for (int below = 0; below < RV_STIXELS_CLASSES; below++)
      m->transition[k][below] = steps(c->transition[k][below]);
  }
  if (c->model == RV_STIXELS_CONSTANT)
    return;
  const double ground = c->sigma[RV_STIXEL_GROUND], object = c->sigma[RV_STIXEL_OBJECT];
  const double step = c->vertical_step;
  double *fixed = &m->fixed[RV_STIXEL_GROUND];
  m->ridge_a = ridge(c->sigma_ground_a, ground, &m->free_a, fixed);
  m->ridge_b = ridge(c->sigma_ground_b, ground, &m->free_b, fixed) / (step * step);
  m->ridge_object = ridge(c->sigma_object_b, object, &m->free_object, &m->fixed[RV_STIXEL_OBJECT]) /
                    (step * step);
}

static uint32_t score(double value) {
  return (uint32_t)floor(value * RV_STIXELS_SCORE_ONE + 0.5);
}

static void set_semantics(const RvStixelsConfig *c, RvStixelsModel *m) {
  int place = 0;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    m->semantic_first[k] = place;
    for (int s = 0; s < c->semantics; s++)
      if (c->semantic_structure[s] == k)
        m->semantic_class[place++] = (uint8_t)s;
  }
  m->semantics = m->semantic_first[RV_STIXELS_CLASSES] = place;
  m->semantic_weight = (int32_t)floor(256 * c->semantic_weight + 0.5);
  m->label_score[0] = score(place > 1 ? 0.9 : 1);
  m->label_score[1] = place > 1 ? score(0.1 / (place - 1)) : 0;
  m->label_score[2] = place > 0 ? score(1.0 / place) : 0;
}

RvStixelsModel rv_stixels_model(const RvStixelsConfig *c) {
  RvStixelsModel m = {
      .width = c->width,
      .height = c->height,
      .cell_width = c->stixel_width,
      .step = c->vertical_step,
      .columns = rv_div_up(c->width, c->stixel_width),
      .rows = rv_div_up(c->height, c->vertical_step),
      .kind = (int)c->model,
      .disparity_max = c->max_disparity,
      .cuts = (int)c->cuts,
      .trust = (int)floor(256 / c->full_confidence + 0.5),
      .spread = rv_max(32, 8 * c->vertical_step),
      .reach = c->refine ? (c->vertical_step - 1) / 2 : 0,
      .estimate = c->ground == RV_STIXELS_GROUND_ESTIMATE,
      .bottom_step = rv_div_up(c->max_disparity, RV_STIXELS_BOTTOMS),
      .invalid = -RV_STIXELS_COST_STEPS * log(1 - c->p_val),
  };
  m.cap = rv_max(m.columns / 4, 1);
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    m.hit[k] = RV_STIXELS_COST_STEPS * (log(gauss_mass(c, k)) - log(c->p_val));
    m.scale[k] = RV_STIXELS_COST_STEPS / (2 * 255 * 256 * c->sigma[k] * c->sigma[k]);
  }
  set_priors(c, &m);
  set_semantics(c, &m);
  m.invalid_cost = (int32_t)floor(m.invalid + 0.5);
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    m.fixed_cost[k] = (int32_t)floor(m.fixed[k] + 0.5);
  return m;
}

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

/* Horizon at half the height, 3/8 of the largest disparity at row 0. */
static RvStixelsPlane usual_plane(const RvStixelsModel *m) {
  const int64_t at = ((int64_t)m->disparity_max << 24) * 3 / 8;
  return (RvStixelsPlane){at, -(2 * at / m->rows)};
}

/* -log of the middle of the scores that share an entry, as far as they are whole steps. */
static void set_scores(RvStixelsSetup *setup) {
  setup->scores[0] = RV_STIXELS_SCORE_WORST;
  for (int i = 1; i < RV_STIXELS_SCORE_STEPS; i++) {
    const int exponent = (i - 1) / 512;
    const double low = ldexp(1 + (i - 1) % 512 / 512.0, exponent);
    const double middle = low + (exponent > 9 ? (ldexp(1, exponent - 9) - 1) / 2 : 0);
    const double cost = floor(256 * log(RV_STIXELS_SCORE_ONE / middle) + 0.5);
    setup->scores[i] = (uint16_t)fmin(fmax(cost, 0), RV_STIXELS_SCORE_WORST);
  }
}

void rv_stixels_setup(const RvStixelsConfig *c, RvStixelsSetup *setup) {
  setup->model = rv_stixels_model(c);
  setup->start = (RvStixelsState){.ground = knows_ground(&c->camera) ? camera_plane(c)
                                                                     : usual_plane(&setup->model)};
  set_scores(setup);
  const double uniform = c->p_out / c->max_disparity;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    const double peak = (1 - c->p_out) / gauss_mass(c, k);
    for (int i = 0; i < RV_STIXELS_TABLE; i++) {
      const double x = i / (256 * c->sigma[k]);
      setup->table[k][i] = steps(-log(c->p_val * (uniform + peak * exp(-x * x / 2))));
    }
  }
}
