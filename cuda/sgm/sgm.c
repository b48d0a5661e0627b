/* SPDX-License-Identifier: MIT */
/* sgm.c: host side of semi-global matching: defaults, checks, memory, and run as a list of
 * stages. */
#include "sgm/sgm.h"

#include "rv_object.h"
#include "sgm/sgm_rules.h"
#include "sgm/sgm_stages.h"

void rv_sgm_config_init(RvSgmConfig *config) {
  if (!config)
    return;
  *config = (RvSgmConfig){
      .disparities = RV_SGM_DISPARITIES_DEFAULT,
      .min_disparity = RV_SGM_MIN_DISPARITY_DEFAULT,
      .paths = RV_SGM_PATHS_DEFAULT,
      .cost = RV_SGM_CSCT,
      .p1 = RV_SGM_P1_DEFAULT,
      .p2 = RV_SGM_P2_DEFAULT,
      .p2_min = RV_SGM_P2_MIN_DEFAULT,
      .p2_gradient = RV_SGM_P2_GRADIENT_DEFAULT,
      .uniqueness = RV_SGM_UNIQUENESS_DEFAULT,
      .max_lr_diff = RV_SGM_LR_DIFF_DEFAULT,
      .subpixel = 1,
      .median = RV_SGM_MEDIAN_DEFAULT,
      .speckle_size = RV_SGM_SPECKLE_SIZE_DEFAULT,
      .speckle_range = RV_SGM_SPECKLE_RANGE_DEFAULT,
  };
}

static RvStatus check_penalties(const RvSgmConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "sgm: p2", c->p2, 0, RV_SGM_PENALTY_MAX));
  RV_REQUIRE(log, c->p1 >= 0 && c->p1 <= c->p2, "sgm: p1 is %d, must be 0 to p2 = %d", c->p1,
             c->p2);
  const int most = rv_sgm_path_max(c->cost, c->p2);
  RV_REQUIRE(
      log, c->paths * most <= 65535,
      "sgm: sums of %d paths of up to %d + p2 = %d do not fit 16 bits, p2 must be at most %d",
      c->paths, rv_sgm_bits(c->cost), most, 65535 / c->paths - rv_sgm_bits(c->cost));
  RV_TRY(rv_in_range(log, "sgm: adaptive_p2", c->adaptive_p2, 0, 1));
  if (!c->adaptive_p2)
    return RV_OK;
  RV_REQUIRE(log, c->p2_min >= c->p1 && c->p2_min <= c->p2,
             "sgm: p2_min is %d, must be p1 = %d to p2 = %d", c->p2_min, c->p1, c->p2);
  return rv_in_range(log, "sgm: p2_gradient", c->p2_gradient, 0, RV_SGM_P2_GRADIENT_MAX);
}

static RvStatus check_cleaning(const RvSgmConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "sgm: uniqueness", c->uniqueness, 0, RV_SGM_UNIQUENESS_MAX));
  RV_TRY(rv_in_range(log, "sgm: max_lr_diff", c->max_lr_diff, -1, RV_SGM_LR_DIFF_MAX));
  RV_TRY(rv_in_range(log, "sgm: subpixel", c->subpixel, 0, 1));
  RV_REQUIRE(log, c->median == 0 || c->median == 3 || c->median == 5,
             "sgm: median is %d, must be 0, 3 or 5", c->median);
  RV_TRY(rv_in_range(log, "sgm: speckle_size", c->speckle_size, 0, RV_SGM_SPECKLE_SIZE_MAX));
  RV_TRY(rv_in_range(log, "sgm: speckle_range", c->speckle_range, 0, RV_SGM_SPECKLE_RANGE_MAX));
  return rv_in_range(log, "sgm: confidence", c->confidence, 0, 1);
}

RvStatus rv_sgm_config_check(const RvSgmConfig *config) {
  if (!config)
    return RV_ERR_ARG;
  const RvLog *log = &config->log;
  RV_TRY(rv_in_range(log, "sgm: width", config->width, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "sgm: height", config->height, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "sgm: disparities", config->disparities, RV_SGM_DISPARITIES_MIN,
                     RV_SGM_DISPARITIES_MAX));
  RV_REQUIRE(log, config->disparities % RV_SGM_DISPARITIES_STEP == 0,
             "sgm: disparities is %d, must be a multiple of %d", config->disparities,
             RV_SGM_DISPARITIES_STEP);
  RV_TRY(
      rv_in_range(log, "sgm: min_disparity", config->min_disparity, 0, RV_SGM_MIN_DISPARITY_MAX));
  RV_REQUIRE(log, config->paths == 2 || config->paths == 4 || config->paths == 8,
             "sgm: paths is %d, must be 2, 4 or 8", config->paths);
  RV_REQUIRE(log, config->cost == RV_SGM_CSCT || config->cost == RV_SGM_CENSUS,
             "sgm: cost is %d, must be RV_SGM_CSCT (0) or RV_SGM_CENSUS (1)", (int)config->cost);
  RV_TRY(check_penalties(config));
  RV_TRY(check_cleaning(config));
  RV_REQUIRE(log, config->threads >= 0, "sgm: threads is %d, must be 0 (all) or more",
             config->threads);
  return RV_OK;
}

size_t rv_sgm_workspace(const RvSgmConfig *config, RvEngine engine) {
  const RvSgmStages *stages = RV_STAGES_OF(sgm, engine);
  if (rv_sgm_config_check(config) != RV_OK || !stages)
    return 0;
  void *work = rv_memory_object(stages->work_bytes);
  if (!work)
    return 0;
  RvArena counted = {0};
  stages->layout(work, config, &counted);
  rv_memory_free(work, RV_CPU);
  return rv_arena_size(&counted);
}

/* Fills a cleared object; what it has taken is freed by the caller through rv_sgm_free. */
static RvStatus open_object(RvSgm *sgm) {
  const RvLog *log = &sgm->config.log;
  sgm->work = rv_memory_object(sgm->stages->work_bytes);
  if (!sgm->work) {
    rv_log(log, "sgm: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  sgm->stages->layout(sgm->work, &sgm->config, &sgm->arena);
  RV_TRY(rv_arena_open_for(&sgm->arena, sgm->engine, log, "sgm",
                           "%d x %d pixels and %d disparities", sgm->config.width,
                           sgm->config.height, sgm->config.disparities));
  sgm->stages->layout(sgm->work, &sgm->config, &sgm->arena);
  return sgm->stages->open ? sgm->stages->open(sgm->work, &sgm->config) : RV_OK;
}

RvStatus rv_sgm_new(RvSgm **out, const RvSgmConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_sgm_config_check(config));
  RV_TRY(rv_check_engine(&config->log, "sgm", engine));
  RvSgm *sgm = rv_memory_object(sizeof *sgm);
  if (!sgm) {
    rv_log(&config->log, "sgm: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  sgm->config = *config;
  sgm->engine = engine;
  sgm->stages = RV_STAGES_OF(sgm, engine);
  const RvStatus status = open_object(sgm);
  if (status != RV_OK) {
    rv_sgm_free(&sgm);
    return status;
  }
  *out = sgm;
  return RV_OK;
}

RvStatus rv_sgm_run_stages(const RvSgmStages *stages, void *work, const RvSgmConfig *config,
                           const RvSgmJob *job) {
  RV_TRY(stages->match(work, config, job));
  if (config->max_lr_diff >= 0)
    RV_TRY(stages->check(work, config, job));
  if (config->median)
    RV_TRY(stages->median(work, config, job));
  if (config->speckle_size > 1)
    RV_TRY(stages->speckle(work, config, job));
  return stages->output(work, config, job);
}

static RvStatus check_plane(const RvSgmConfig *c, const RvPlane *plane, RvFormat format,
                            const char *name) {
  RV_REQUIRE(&c->log, rv_plane_fits(plane, c->width, c->height, format),
             "sgm: plane %s must be %s of %d x %d pixels with a stride that holds a row", name,
             format == RV_U8 ? "RV_U8" : "RV_U16", c->width, c->height);
  return RV_OK;
}

RvStatus rv_sgm_run(RvSgm *sgm, const RvPlane *left, const RvPlane *right, const RvPlane *disparity,
                    const RvPlane *confidence, RvStream stream) {
  if (!sgm)
    return RV_ERR_ARG;
  const RvSgmConfig *config = &sgm->config;
  RV_TRY(check_plane(config, left, RV_U8, "left"));
  RV_TRY(check_plane(config, right, RV_U8, "right"));
  RV_TRY(check_plane(config, disparity, RV_U16, "disparity"));
  if (config->confidence)
    RV_TRY(check_plane(config, confidence, RV_U8, "confidence"));
  RvSgmJob job = {.left = *left, .right = *right, .disparity = *disparity, .stream = stream};
  if (config->confidence)
    job.confidence = *confidence;
  if (sgm->stages->whole)
    return sgm->stages->whole(sgm->work, config, &job);
  return rv_sgm_run_stages(sgm->stages, sgm->work, config, &job);
}

void rv_sgm_free(RvSgm **sgm) {
  if (!sgm || !*sgm)
    return;
  RvSgm *object = *sgm;
  if (object->work && object->stages->close)
    object->stages->close(object->work);
  rv_arena_close(&object->arena);
  rv_memory_free(object->work, RV_CPU);
  rv_memory_free(object, RV_CPU);
  *sgm = NULL;
}
