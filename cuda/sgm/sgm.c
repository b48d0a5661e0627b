/* SPDX-License-Identifier: MIT */
/* sgm.c: host side of semi-global matching: parameters, plan, and run as the list of its stages. */
#include "sgm/sgm.h"

#include <stdio.h>

#include "sgm/sgm_rules.h"
#include "sgm/sgm_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvSgmConfig Config;

#define MIN_DISPARITY_MAX 3584 /* (3584 + 512) * RV_SGM_SCALE fits 16 bits */
#define PENALTY_MAX 8000

static const RvParamValue path_counts[] = {{.value = 2}, {.value = 4}, {.value = 8}};
static const RvParamValue costs[] = {
    {RV_SGM_CSCT, "csct", "center-symmetric census 9x7, 31 bits"},
    {RV_SGM_CENSUS, "census", "full census 9x7, 62 bits: each neighbor compared with the center"},
};
static const RvParamValue medians[] = {{.value = 0}, {.value = 3}, {.value = 5}};

static const RvParam params[] = {
    RV_PARAM_WIDTH,
    RV_PARAM_HEIGHT,
    RV_STEPS("disparities", disparities, 32, RV_SGM_DISPARITIES_MAX, 32, 128, 0, "px", NULL,
             "Length of the disparity search range"),
    RV_INT("min-disparity", min_disparity, 0, MIN_DISPARITY_MAX, 0, 0, "px", "0 includes infinity",
           "Lowest disparity searched"),
    RV_NUMBERS("paths", paths, path_counts, 8, 0, NULL, NULL,
               "Number of directions along which costs are aggregated; fewer are faster"),
    RV_CHOICE("cost", cost, costs, RV_SGM_CSCT, 0, NULL, NULL,
              "Census transform whose Hamming distance is the matching cost"),
    RV_INT("p1", p1, 0, PENALTY_MAX, 10, 0, NULL, "at most p2",
           "Penalty for a disparity change of 1 px between neighbors"),
    RV_INT("p2", p2, 0, PENALTY_MAX, 120, 0, NULL,
           "paths x (bits of the cost + p2) must not exceed 65535",
           "Penalty for larger disparity changes"),
    RV_SWITCH("adaptive-p2", adaptive_p2, 0, 0, NULL, NULL,
              "Reduce P2 at intensity edges: max(p2-min, p2 - p2-gradient x gray difference)"),
    RV_INT("p2-min", p2_min, 0, PENALTY_MAX, 60, 0, NULL, "p1 to p2",
           "Lower bound of P2 with adaptive-p2"),
    RV_INT("p2-gradient", p2_gradient, 0, 255, 1, 0, NULL, NULL,
           "Decrease of P2 per gray level with adaptive-p2"),
    RV_INT("uniqueness", uniqueness, 0, 99, 3, 0, "%", "0 = off",
           "Invalidate pixels whose second-best cost is within this margin of the best"),
    RV_INT("max-lr-diff", max_lr_diff, -1, 512, 1, 0, "px", "-1 = off",
           "Invalidate pixels whose left-right disparity difference is larger"),
    RV_SWITCH("subpixel", subpixel, 1, 0, NULL, NULL,
              "Interpolate the disparity to 1/16 px; otherwise integer px"),
    RV_NUMBERS("median", median, medians, 3, 0, "px", "0 = off",
               "Window size of the median filter of the disparity"),
    RV_INT("speckle-size", speckle_size, 0, 100000, 100, 0, "px", "0 = off",
           "Invalidate connected regions smaller than this"),
    RV_INT("speckle-range", speckle_range, 0, 64, 1, 0, "px", NULL,
           "Maximum disparity difference between neighbors of one region"),
    RV_SWITCH("confidence", confidence, 0, 0, NULL, NULL,
              "Attach a confidence of 0 to 255 per pixel"),
    RV_PARAM_THREADS,
};
RV_PARAMS(sgm)

/* Rules that join several parameters. */
static RvStatus check_rules(const void *config) {
  const RvSgmConfig *c = config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, c->p1 <= c->p2, "sgm: p1 is %d, must be 0 to p2 = %d", c->p1, c->p2);
  const int bits = rv_sgm_cost_max(c->cost), highest = rv_sgm_path_max(c->cost, c->p2);
  RV_REQUIRE(log, c->paths * highest <= RV_SGM_SUM_MAX,
             "sgm: S of %d paths of up to %d + p2 = %d exceeds 16 bits, p2 must be at most %d",
             c->paths, bits, highest, RV_SGM_SUM_MAX / c->paths - bits);
  RV_REQUIRE(log, !c->adaptive_p2 || (c->p2_min >= c->p1 && c->p2_min <= c->p2),
             "sgm: p2_min is %d, must be p1 = %d to p2 = %d", c->p2_min, c->p1, c->p2);
  return RV_OK;
}

/* --- Object ---------------------------------------------------------------------------------- */

static void make_plan(void *memory) {
  RvSgmPlan *plan = memory;
  const RvSgmConfig *c = &plan->config;
  plan->descriptor_bytes = rv_sgm_descriptor_bytes(c->cost);
  plan->path_max = rv_sgm_path_max(c->cost, c->p2);
  for (int i = 0; i < 256; i++)
    plan->p2_of[i] =
        (uint16_t)(c->adaptive_p2 ? rv_sgm_adapted_p2(c->p2, c->p2_min, c->p2_gradient, i, 0)
                                  : c->p2);
}

static void describe(const void *plan, char *text, size_t size) {
  const RvSgmConfig *c = plan;
  snprintf(text, size, "%d x %d pixels and %d disparities", c->width, c->height, c->disparities);
}

RV_CLASS(RvSgm, sgm, .rules = check_rules, .plan = make_plan, .describe = describe);

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
  RV_TRY(stages->match(sgm->object.work, &job));
  return stages->filter(sgm->object.work, &job);
}
