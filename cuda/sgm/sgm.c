/* SPDX-License-Identifier: MIT */
/* sgm.c: host side of semi-global matching: parameters, plan, and run as the list of its stages. */
#include "sgm/sgm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sgm/sgm_rules.h"
#include "sgm/sgm_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvSgmConfig Config;

#define MIN_DISPARITY_MAX 3584 /* (3584 + 512) * RV_SGM_SCALE fits 16 bits */
#define PENALTY_MAX 8000

static const RvParam params[] = {
    RV_PARAM_SIZE,
    RV_STEPS("disparities", disparities, 32, RV_SGM_DISPARITIES_MAX, 32, 128, 0, "px", NULL,
             "Length of the disparity search range"),
    RV_INT("min-disparity", min_disparity, 0, MIN_DISPARITY_MAX, 0, 0, "px", "0 includes infinity",
           "Lowest disparity searched"),
    RV_NUMBERS("paths", paths, 4, 0, NULL, NULL,
               "Number of directions along which costs are aggregated; fewer are faster",
               {.value = 2}, {.value = 4}, {.value = 8}),
    RV_CHOICE("cost", cost, RV_SGM_MIXED, 0, NULL, NULL,
              "Census transform whose Hamming distance is the matching cost",
              {RV_SGM_CSCT, "csct", "center-symmetric census 9x7, 31 bits"},
              {RV_SGM_CENSUS, "census",
               "full census 9x7, 62 bits: each neighbor compared with the center"},
              {RV_SGM_MIXED, "mixed",
               "center-symmetric pairs and comparisons with a smoothed center, 32 bits"}),
    RV_INT("max-cost", max_cost, 0, RV_SGM_CENSUS_BITS, 0, 0, "bits",
           "0 = 14 with cost=mixed, otherwise none",
           "Limit of the matching cost of a pixel; lower is more robust against occlusions"),
    RV_INT("p1", p1, 0, PENALTY_MAX, 12, 0, NULL, "at most p2",
           "Penalty for a disparity change of 1 px between neighbors"),
    RV_INT("p2", p2, 0, PENALTY_MAX, 127, 0, NULL,
           "paths x (highest cost + p2) must not exceed 65535",
           "Penalty for larger disparity changes"),
    RV_INT("p1-ground", p1_ground, -1, PENALTY_MAX, -1, 0, NULL,
           "at most p1; -1 = half of p1 with cost=mixed, otherwise p1",
           "P1 where the disparity grows by 1 px downwards, as on the ground"),
    RV_SWITCH("adaptive-p2", adaptive_p2, 1, 0, NULL, NULL,
              "Reduce P2 at intensity edges: max(p2-min, p2 - p2-gradient x gray difference)"),
    RV_INT("p2-min", p2_min, 0, PENALTY_MAX, 40, 0, NULL, "p1 to p2",
           "Lower bound of P2 with adaptive-p2"),
    RV_INT("p2-gradient", p2_gradient, 0, 255, 4, 0, NULL, NULL,
           "Decrease of P2 per gray level with adaptive-p2"),
    RV_INT("uniqueness", uniqueness, 0, 99, 3, 0, "%", "0 = off",
           "Invalidate pixels whose second-best cost is within this margin of the best"),
    RV_INT("max-lr-diff", max_lr_diff, -1, 512, 1, 0, "px", "-1 = off",
           "Invalidate pixels whose left-right disparity difference is larger"),
    RV_SWITCH("subpixel", subpixel, 1, 0, NULL, NULL,
              "Interpolate the disparity to 1/16 px; otherwise integer px"),
    RV_CHOICE("subpixel-fit", subpixel_fit, RV_SGM_FIT_AUTO, 0, NULL, NULL,
              "Curve through the costs next to the best one whose lowest point is the disparity",
              {RV_SGM_FIT_AUTO, "auto", "equiangular with cost=mixed, else parabola"},
              {RV_SGM_FIT_PARABOLA, "parabola", "parabola through three costs"},
              {RV_SGM_FIT_EQUIANGULAR, "equiangular", "two lines of equal and opposite slope"}),
    RV_NUMBERS("median", median, 5, 0, "px", "0 = off",
               "Window size of the median filter of the disparity", {.value = 0}, {.value = 3},
               {.value = 5}),
    RV_INT("speckle-size", speckle_size, 0, 100000, 100, 0, "px", "0 = off",
           "Invalidate connected regions smaller than this"),
    RV_INT("speckle-range", speckle_range, 0, 64, 1, 0, "px", NULL,
           "Maximum disparity difference between neighbors of one region"),
    RV_SWITCH("reject-sky", reject_sky, 1, 0, NULL, NULL,
              "Invalidate bright regions without texture at the top of the image"),
    RV_CHOICE("fill", fill, RV_SGM_FILL_NONE, 0, NULL, NULL,
              "Values for pixels without a reliable match, from the background next to them",
              {RV_SGM_FILL_NONE, "none", "invalid pixels stay invalid"},
              {RV_SGM_FILL_DENSE, "dense",
               "a value for every pixel but rejected sky, flagged in the confidence"}),
    RV_SWITCH("confidence", confidence, 0, 0, NULL, "0 = invalid, 1 = filled",
              "Attach the probability that a disparity is right, 0 to 255"),
    RV_SWITCH("stage-times", stage_times, 0, 0, NULL, NULL,
              "Measure the stages; messages then contain match-us, filter-us and refine-us"),
    RV_PARAM_THREADS,
};
RV_PARAMS(sgm)

/* Rules that join several parameters. */
static RvStatus check_rules(const void *config) {
  const RvSgmConfig *c = config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, c->p1 <= c->p2, "sgm: p1 is %d, must be 0 to p2 = %d", c->p1, c->p2);
  RV_REQUIRE(log, c->p1_ground <= c->p1, "sgm: p1_ground is %d, must be -1 to p1 = %d",
             c->p1_ground, c->p1);
  const int cost = rv_sgm_cost_max(c), highest = rv_sgm_path_max(c);
  RV_REQUIRE(log, c->paths * highest <= RV_SGM_SUM_MAX,
             "sgm: S of %d paths of up to %d + p2 = %d exceeds 16 bits, p2 must be at most %d",
             c->paths, cost, highest, RV_SGM_SUM_MAX / c->paths - cost);
  RV_REQUIRE(log, !c->adaptive_p2 || (c->p2_min >= c->p1 && c->p2_min <= c->p2),
             "sgm: p2_min is %d, must be p1 = %d to p2 = %d", c->p2_min, c->p1, c->p2);
  return RV_OK;
}

/* --- Object ---------------------------------------------------------------------------------- */

/* 255 times the probability by the margin, linear between the knots. */
static int confidence(int margin) {
  static const struct {
    int margin, value;
  } knots[] = {{0, 172},   {6, 175},   {12, 179},  {20, 189},  {28, 196},
               {36, 203},  {44, 211},  {56, 222},  {72, 233},  {88, 239},
               {112, 246}, {144, 251}, {180, 253}, {228, 254}, {255, 255}};
  int i = 1;
  while (knots[i].margin < margin)
    i++;
  const int from = knots[i - 1].margin, span = knots[i].margin - from;
  return knots[i - 1].value + (knots[i].value - knots[i - 1].value) * (margin - from) / span;
}

void rv_sgm_make_plan(void *memory) {
  RvSgmPlan *plan = memory;
  const RvSgmConfig *c = &plan->config;
  plan->descriptor_bytes = rv_sgm_descriptor_bytes(c->cost);
  plan->path_max = rv_sgm_path_max(c);
  plan->cost_max = rv_sgm_cost_max(c);
  plan->limits_costs = c->cost == RV_SGM_MIXED || plan->cost_max < rv_sgm_bits(c->cost);
  plan->p1_ground = rv_sgm_p1_ground(c);
  plan->equiangular = rv_sgm_is_equiangular(c);
  plan->margin_scale = rv_sgm_margin_scale(c);
  for (int i = 0; i < 256; i++)
    plan->confidence_of[i] = (uint8_t)rv_max(RV_SGM_MEASURED, confidence(i));
  for (int i = 0; i < 256; i++)
    plan->weight_of[i] = (uint8_t)floor(64 * exp(-i / 16.0) + 0.5);
  for (int i = 0; i < 256; i++)
    plan->p2_of[i] =
        (uint16_t)(c->adaptive_p2 ? rv_sgm_adapted_p2(c->p2, c->p2_min, c->p2_gradient, i, 0)
                                  : c->p2);
}

static void describe(const void *plan, char *text, size_t size) {
  const RvSgmConfig *c = plan;
  snprintf(text, size, "%d x %d pixels and %d disparities", c->width, c->height, c->disparities);
}

static RvStatus open_timer(void *object) {
  RvSgm *sgm = object;
  const RvLog *log = &sgm->plan.config.log;
  if (!sgm->plan.config.stage_times)
    return RV_OK;
  const RvStatus status = rv_timer_new(&sgm->timer, RV_SGM_STAGES + 1, sgm->object.engine);
  if (status != RV_OK)
    rv_log(log, "sgm: failed to make the timer of the stages: %s", rv_status_text(status));
  return status;
}

static void close_timer(void *object) {
  RvSgm *sgm = object;
  rv_timer_free(&sgm->timer);
}

RV_CLASS(RvSgm, sgm, .rules = check_rules, .plan = rv_sgm_make_plan, .describe = describe,
         .open = open_timer, .close = close_timer);

/* --- Run ------------------------------------------------------------------------------------- */

RvStatus rv_sgm_run(RvSgm *sgm, const RvPlane *left, const RvPlane *right, const RvPlane *disparity,
                    const RvPlane *confidence, RvStream stream) {
  if (!sgm)
    return RV_ERR_ARG;
  const RvSgmConfig *c = &sgm->plan.config;
  const RvLog *log = &c->log;
  RV_TRY(rv_check_plane(log, "sgm", "left", left, c->width, c->height, RV_U8));
  RV_TRY(rv_check_plane(log, "sgm", "right", right, c->width, c->height, RV_U8));
  RV_TRY(rv_check_plane(log, "sgm", "disparity", disparity, c->width, c->height, RV_U16));
  if (c->confidence)
    RV_TRY(rv_check_plane(log, "sgm", "confidence", confidence, c->width, c->height, RV_U8));
  const RvSgmStages *stages = (const RvSgmStages *)sgm->object.base;
  RvSgmJob job = {&sgm->plan, *left, *right, *disparity, {0}, stream};
  if (c->confidence)
    job.confidence = *confidence;
  RV_TRY(rv_timer_mark(sgm->timer, 0, stream));
  RV_TRY(stages->match(sgm->object.work, &job));
  RV_TRY(rv_timer_mark(sgm->timer, 1, stream));
  RV_TRY(stages->filter(sgm->object.work, &job));
  RV_TRY(rv_timer_mark(sgm->timer, 2, stream));
  RV_TRY(stages->refine(sgm->object.work, &job));
  return rv_timer_mark(sgm->timer, 3, stream);
}

RvStatus rv_sgm_stage_times(const RvSgm *sgm, double us[RV_SGM_STAGES]) {
  if (!sgm || !us)
    return RV_ERR_ARG;
  const RvLog *log = &sgm->plan.config.log;
  RV_REQUIRE(log, sgm->timer, "sgm: the times of the stages need stage_times = 1");
  return rv_timer_spans(sgm->timer, us);
}
