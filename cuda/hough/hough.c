/* SPDX-License-Identifier: MIT */
/* hough.c: host side of the Hough transform: defaults, checks, memory. */
#include "hough/hough.h"

#include "hough/hough_stages.h"
#include "rv_object.h"

void rv_hough_config_init(RvHoughConfig *config) {
  if (!config)
    return;
  *config = (RvHoughConfig){
      .edges = RV_HOUGH_CANNY,
      .edge_low = RV_HOUGH_EDGE_LOW_DEFAULT,
      .edge_high = RV_HOUGH_EDGE_HIGH_DEFAULT,
      .theta_steps = RV_HOUGH_THETA_STEPS_DEFAULT,
      .rho_step = 1.0,
      .max_theta = 180.0,
      .threshold = RV_HOUGH_THRESHOLD_DEFAULT,
      .max_lines = RV_HOUGH_LINES_DEFAULT,
      .min_length = RV_HOUGH_MIN_LENGTH_DEFAULT,
      .max_gap = RV_HOUGH_MAX_GAP_DEFAULT,
  };
}

static RvStatus check_edges(const RvHoughConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "hough: edges", (int)c->edges, RV_HOUGH_SOBEL, RV_HOUGH_BINARY));
  RV_TRY(rv_in_range(log, "hough: edge_low", c->edge_low, 0, RV_HOUGH_EDGE_MAX));
  RV_TRY(rv_in_range(log, "hough: edge_high", c->edge_high, 0, RV_HOUGH_EDGE_MAX));
  RV_REQUIRE(log, c->edges != RV_HOUGH_CANNY || c->edge_high >= c->edge_low,
             "hough: edge_high is %d, must not be below edge_low = %d", c->edge_high, c->edge_low);
  RV_TRY(rv_in_range(log, "hough: direction", c->direction, 0, RV_HOUGH_DIRECTION_MAX));
  RV_REQUIRE(log, c->edges != RV_HOUGH_BINARY || c->direction == 0,
             "hough: direction is %d, must be 0 with binary edges, which have no gradient",
             c->direction);
  return rv_in_range(log, "hough: weighted", c->weighted, 0, 1);
}

static RvStatus check_space(const RvHoughConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "hough: theta_steps", c->theta_steps, RV_HOUGH_THETA_STEPS_MIN,
                     RV_HOUGH_THETA_STEPS_MAX));
  RV_REQUIRE(log, c->rho_step >= RV_HOUGH_RHO_STEP_MIN && c->rho_step <= RV_HOUGH_RHO_STEP_MAX,
             "hough: rho_step is %g px, must be %g to %g", c->rho_step, RV_HOUGH_RHO_STEP_MIN,
             RV_HOUGH_RHO_STEP_MAX);
  RV_REQUIRE(log, c->min_theta >= 0.0 && c->min_theta < 180.0,
             "hough: min_theta is %g degrees, must be from 0 to below 180", c->min_theta);
  RV_REQUIRE(log, c->max_theta > c->min_theta && c->max_theta <= 180.0,
             "hough: max_theta is %g degrees, must be above min_theta = %g and at most 180",
             c->max_theta, c->min_theta);
  RvHoughPlan plan;
  rv_hough_plan(c, &plan);
  RV_REQUIRE(log, plan.angles > 0,
             "hough: no angle lies in %g <= theta < %g degrees with steps of %g; widen the range "
             "or raise theta_steps",
             c->min_theta, c->max_theta, 180.0 / c->theta_steps);
  return RV_OK;
}

RvStatus rv_hough_config_check(const RvHoughConfig *config) {
  if (!config)
    return RV_ERR_ARG;
  const RvLog *log = &config->log;
  RV_TRY(rv_in_range(log, "hough: width", config->width, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "hough: height", config->height, 1, RV_MAX_SIDE));
  RV_TRY(check_edges(config));
  RV_TRY(check_space(config));
  RV_TRY(rv_in_range(log, "hough: threshold", config->threshold, 0, RV_HOUGH_THRESHOLD_MAX));
  RV_TRY(rv_in_range(log, "hough: max_lines", config->max_lines, 1, RV_HOUGH_LINES_MAX));
  RV_TRY(rv_in_range(log, "hough: segments", config->segments, 0, 1));
  RV_TRY(rv_in_range(log, "hough: min_length", config->min_length, 0, RV_HOUGH_LENGTH_MAX));
  RV_TRY(rv_in_range(log, "hough: max_gap", config->max_gap, 0, RV_HOUGH_LENGTH_MAX));
  RV_REQUIRE(log, config->threads >= 0, "hough: threads is %d, must be 0 (all) or more",
             config->threads);
  return RV_OK;
}

void rv_hough_size(const RvHoughConfig *config, int *bins, int *angles, int *rho_zero, int *first) {
  RvHoughPlan plan = {0};
  if (rv_hough_config_check(config) == RV_OK)
    rv_hough_plan(config, &plan);
  if (bins)
    *bins = plan.bins;
  if (angles)
    *angles = plan.angles;
  if (rho_zero)
    *rho_zero = plan.rho_zero;
  if (first)
    *first = plan.first;
}

size_t rv_hough_workspace(const RvHoughConfig *config, RvEngine engine) {
  const RvHoughStages *stages = RV_STAGES_OF(hough, engine);
  if (rv_hough_config_check(config) != RV_OK || !stages)
    return 0;
  void *work = rv_memory_object(stages->work_bytes);
  if (!work)
    return 0;
  RvHoughPlan plan;
  rv_hough_plan(config, &plan);
  RvArena counted = {0};
  stages->layout(work, config, &plan, &counted);
  rv_memory_free(work, RV_CPU);
  return rv_arena_size(&counted);
}

/* Makes the tables and hands them to the engine. */
static RvStatus open_tables(RvHough *hough) {
  const RvHoughPlan *plan = &hough->plan;
  RvHoughAngle *angles = rv_memory_object((size_t)plan->angles * sizeof *angles);
  if (!angles) {
    rv_log(&hough->config.log, "hough: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  rv_hough_angles(&hough->config, plan, angles);
  const RvStatus status = hough->stages->open(hough->work, &hough->config, plan, angles);
  rv_memory_free(angles, RV_CPU);
  return status;
}

/* Fills a cleared object; what it has taken is freed by the caller through rv_hough_free. */
static RvStatus open_object(RvHough *hough) {
  const RvHoughConfig *config = &hough->config;
  rv_hough_plan(config, &hough->plan);
  hough->work = rv_memory_object(hough->stages->work_bytes);
  if (!hough->work) {
    rv_log(&config->log, "hough: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  hough->stages->layout(hough->work, config, &hough->plan, &hough->arena);
  RV_TRY(rv_arena_open_for(&hough->arena, hough->engine, &config->log, "hough",
                           "%d x %d pixels, %d angles and %d bins", config->width, config->height,
                           hough->plan.angles, hough->plan.bins));
  hough->stages->layout(hough->work, config, &hough->plan, &hough->arena);
  return open_tables(hough);
}

RvStatus rv_hough_new(RvHough **out, const RvHoughConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_hough_config_check(config));
  RV_TRY(rv_check_engine(&config->log, "hough", engine));
  RvHough *hough = rv_memory_object(sizeof *hough);
  if (!hough) {
    rv_log(&config->log, "hough: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  hough->config = *config;
  hough->engine = engine;
  hough->stages = RV_STAGES_OF(hough, engine);
  const RvStatus status = open_object(hough);
  if (status != RV_OK) {
    rv_hough_free(&hough);
    return status;
  }
  *out = hough;
  return RV_OK;
}

void rv_hough_free(RvHough **hough) {
  if (!hough || !*hough)
    return;
  RvHough *object = *hough;
  rv_arena_close(&object->arena);
  rv_memory_free(object->work, RV_CPU);
  rv_memory_free(object, RV_CPU);
  *hough = NULL;
}

RvStatus rv_hough_run(RvHough *hough, const RvPlane *input, const RvHoughOutput *out,
                      RvStream stream) {
  if (!hough)
    return RV_ERR_ARG;
  const RvHoughConfig *c = &hough->config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, rv_plane_fits(input, c->width, c->height, RV_U8),
             "hough: plane input must be RV_U8 of %d x %d pixels with a stride that holds a row",
             c->width, c->height);
  RV_REQUIRE(log, out && out->lines && out->count,
             "hough: lines and count must point to memory of the engine");
  RV_REQUIRE(log, (uintptr_t)out->lines % 4 == 0 && (uintptr_t)out->count % 4 == 0,
             "hough: lines and count must be aligned to 4 bytes");
  RV_REQUIRE(log, !out->edges.data || rv_plane_fits(&out->edges, c->width, c->height, RV_U8),
             "hough: plane edges must be RV_U8 of %d x %d pixels with a stride that holds a row",
             c->width, c->height);
  RV_REQUIRE(
      log,
      !out->accumulator.data ||
          rv_plane_fits(&out->accumulator, hough->plan.bins, hough->plan.angles, RV_U32),
      "hough: plane accumulator must be RV_U32 of %d x %d bins with a stride that holds a row",
      hough->plan.bins, hough->plan.angles);
  const RvHoughJob job = {*input, *out, stream};
  return hough->stages->run(hough->work, c, &hough->plan, &job);
}
