/* SPDX-License-Identifier: MIT */
/* stixels.c: host side of stixels: defaults, checks, memory, and run as a list of stages. */
#include "stixels/stixels.h"

#include "rv_object.h"
#include "stixels/stixels_stages.h"

struct RvStixels {
  RvStixelsConfig config;
  RvStixelsModel model;
  RvEngine engine;
  const RvStixelsStages *stages;
  RvArena arena;
  void *work;
};

void rv_stixels_config_init(RvStixelsConfig *config) {
  if (!config)
    return;
  *config = (RvStixelsConfig){
      .stixel_width = RV_STIXELS_CELL_DEFAULT,
      .vertical_step = RV_STIXELS_CELL_DEFAULT,
      .model = RV_STIXELS_SLANTED_FAST,
      .ground = RV_STIXELS_GROUND_ESTIMATE,
      .refine = 1,
      .max_disparity = RV_STIXELS_MAX_DISPARITY_DEFAULT,
      .full_confidence = 0.05,
      .p_val = 0.9,
      .p_out = 0.1,
      .sigma = {1, 1, 1},
      .sigma_ground_a = 8,
      .sigma_ground_b = 0.1,
      .complexity = 5,
      .gravity_minus = {0, 0.3},
      .gravity_plus = {0, 0.3},
      .ordering = {1, 0.5},
      .gap_minus = {1, 1},
      .gap_plus = {1, 1},
      .transition = {[RV_STIXEL_GROUND] = {0, 2, 20}, [RV_STIXEL_OBJECT] = {0, 0, 5}},
      .first = {0, 8, 8},
      .semantic_weight = 1,
  };
  for (int k = 0; k < RV_STIXELS_SEMANTICS_MAX; k++)
    config->semantic_structure[k] = RV_STIXEL_OBJECT;
}

/* --- Checks ---------------------------------------------------------------------------------- */

/* False for NaN too. */
static RvStatus within(const RvLog *log, const char *name, double value, double low, double high) {
  RV_REQUIRE(log, value >= low && value <= high, "stixels: %s is %g, must be %g to %g", name, value,
             low, high);
  return RV_OK;
}

static RvStatus check_penalty(const RvLog *log, const char *name, const RvStixelsPenalty *penalty) {
  RV_TRY(within(log, name, penalty->alpha, 0, RV_STIXELS_PRIOR_MAX));
  return within(log, name, penalty->beta, 0, RV_STIXELS_PRIOR_MAX);
}

static RvStatus check_priors(const RvStixelsConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(within(log, "full_confidence", c->full_confidence, RV_STIXELS_FULL_CONFIDENCE_MIN, 1));
  RV_TRY(within(log, "p_val", c->p_val, 0.01, 0.99));
  RV_TRY(within(log, "p_out", c->p_out, 0.001, 0.9));
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    RV_TRY(within(log, "sigma", c->sigma[k], RV_STIXELS_SIGMA_MIN, RV_STIXELS_SIGMA_MAX));
    RV_TRY(within(log, "first", c->first[k], 0, RV_STIXELS_PRIOR_MAX));
    for (int below = 0; below < RV_STIXELS_CLASSES; below++)
      RV_TRY(within(log, "transition", c->transition[k][below], 0, RV_STIXELS_PRIOR_MAX));
  }
  RV_TRY(within(log, "sigma_ground_a", c->sigma_ground_a, 0, RV_STIXELS_SIGMA_FREE));
  RV_TRY(within(log, "sigma_ground_b", c->sigma_ground_b, 0, RV_STIXELS_SIGMA_FREE));
  RV_TRY(within(log, "sigma_object_b", c->sigma_object_b, 0, RV_STIXELS_SIGMA_FREE));
  RV_TRY(within(log, "complexity", c->complexity, 0, RV_STIXELS_PRIOR_MAX));
  RV_TRY(check_penalty(log, "gravity_minus", &c->gravity_minus));
  RV_TRY(check_penalty(log, "gravity_plus", &c->gravity_plus));
  RV_TRY(check_penalty(log, "ordering", &c->ordering));
  RV_TRY(check_penalty(log, "gap_minus", &c->gap_minus));
  return check_penalty(log, "gap_plus", &c->gap_plus);
}

static RvStatus check_semantics(const RvStixelsConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "stixels: semantics", c->semantics, 0, RV_STIXELS_SEMANTICS_MAX));
  RV_TRY(within(log, "semantic_weight", c->semantic_weight, 0, RV_STIXELS_WEIGHT_MAX));
  for (int k = 0; k < c->semantics; k++)
    RV_TRY(rv_in_range(log, "stixels: semantic_structure", c->semantic_structure[k], 0,
                       RV_STIXEL_SKY));
  return RV_OK;
}

static RvStatus check_camera(const RvStixelsConfig *c) {
  const RvCamera *camera = &c->camera;
  const RvLog *log = &c->log;
  RV_TRY(within(log, "focal", camera->focal, 0, 1e6));
  RV_TRY(within(log, "cy", camera->cy, -1e6, 1e6));
  RV_TRY(within(log, "doffs", camera->doffs, -1e4, 1e4));
  RV_TRY(within(log, "baseline", camera->baseline, 0, 1e3));
  RV_TRY(within(log, "camera height", camera->height, 0, 1e3));
  RV_TRY(within(log, "pitch", camera->pitch, -89, 89));
  RV_REQUIRE(log,
             c->ground == RV_STIXELS_GROUND_ESTIMATE ||
                 (camera->focal > 0 && camera->baseline > 0 && camera->height > 0),
             "stixels: ground from the camera needs its focal length, baseline and height; set "
             "them, or let the ground be estimated");
  return RV_OK;
}

RvStatus rv_stixels_config_check(const RvStixelsConfig *config) {
  if (!config)
    return RV_ERR_ARG;
  const RvLog *log = &config->log;
  RV_TRY(rv_in_range(log, "stixels: width", config->width, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "stixels: height", config->height, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "stixels: stixel_width", config->stixel_width, 1, RV_STIXELS_CELL_MAX));
  RV_TRY(rv_in_range(log, "stixels: vertical_step", config->vertical_step, 1, RV_STIXELS_CELL_MAX));
  RV_TRY(rv_in_range(log, "stixels: model", (int)config->model, 0, RV_STIXELS_CONSTANT));
  RV_TRY(rv_in_range(log, "stixels: ground", (int)config->ground, 0, RV_STIXELS_GROUND_CAMERA));
  RV_TRY(rv_in_range(log, "stixels: refine", config->refine, 0, 1));
  RV_TRY(rv_in_range(log, "stixels: cuts", (int)config->cuts, 0, RV_STIXELS_CUTS_TIME_SERIES));
  RV_TRY(rv_in_range(log, "stixels: max_disparity", config->max_disparity, 1,
                     RV_STIXELS_MAX_DISPARITY_MAX));
  RV_REQUIRE(log, config->threads >= 0, "stixels: threads is %d, must be 0 (all) or more",
             config->threads);
  RV_TRY(check_priors(config));
  RV_TRY(check_semantics(config));
  return check_camera(config);
}

/* --- Sizes ----------------------------------------------------------------------------------- */

size_t rv_stixels_workspace(const RvStixelsConfig *config, RvEngine engine) {
  const RvStixelsStages *stages = RV_STAGES_OF(stixels, engine);
  if (rv_stixels_config_check(config) != RV_OK || !stages)
    return 0;
  void *work = rv_memory_object(stages->work_bytes);
  if (!work)
    return 0;
  const RvStixelsModel model = rv_stixels_model(config);
  RvArena counted = {0};
  stages->layout(work, &model, config->threads, &counted);
  rv_memory_free(work, RV_CPU);
  return rv_arena_size(&counted);
}

int rv_stixels_columns(const RvStixelsConfig *config) {
  return rv_stixels_config_check(config) == RV_OK ? rv_stixels_model(config).columns : 0;
}

int rv_stixels_rows(const RvStixelsConfig *config) {
  return rv_stixels_config_check(config) == RV_OK ? rv_stixels_model(config).rows : 0;
}

uint32_t rv_stixels_count_max(const RvStixelsConfig *config) {
  return (uint32_t)rv_stixels_columns(config) * (uint32_t)rv_stixels_rows(config);
}

/* --- Object ---------------------------------------------------------------------------------- */

/* Fills a cleared object; what it has taken is freed by the caller through rv_stixels_free. */
static RvStatus open_object(RvStixels *s, RvStixelsSetup *setup) {
  const RvLog *log = &s->config.log;
  rv_stixels_setup(&s->config, setup);
  s->model = setup->model;
  s->work = rv_memory_object(s->stages->work_bytes);
  if (!s->work) {
    rv_log(log, "stixels: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  s->stages->layout(s->work, &s->model, s->config.threads, &s->arena);
  RV_TRY(rv_arena_open_for(&s->arena, s->engine, log, "stixels", "%d x %d cells", s->model.columns,
                           s->model.rows));
  s->stages->layout(s->work, &s->model, s->config.threads, &s->arena);
  return s->stages->open(s->work, setup, log);
}

RvStatus rv_stixels_new(RvStixels **out, const RvStixelsConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_stixels_config_check(config));
  RV_TRY(rv_check_engine(&config->log, "stixels", engine));
  RvStixels *s = rv_memory_object(sizeof *s);
  RvStixelsSetup *setup = rv_memory_object(sizeof *setup);
  RvStatus status = RV_ERR_NO_MEMORY;
  if (s && setup) {
    s->config = *config;
    s->engine = engine;
    s->stages = RV_STAGES_OF(stixels, engine);
    status = open_object(s, setup);
  } else {
    rv_log(&config->log, "stixels: out of host memory");
  }
  rv_memory_free(setup, RV_CPU);
  if (status != RV_OK)
    rv_stixels_free(&s);
  *out = s;
  return status;
}

void rv_stixels_free(RvStixels **stixels) {
  if (!stixels || !*stixels)
    return;
  RvStixels *object = *stixels;
  rv_arena_close(&object->arena);
  rv_memory_free(object->work, RV_CPU);
  rv_memory_free(object, RV_CPU);
  *stixels = NULL;
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_plane(const RvStixelsConfig *c, const RvPlane *plane, RvFormat format,
                            const char *name) {
  RV_REQUIRE(&c->log, rv_plane_fits(plane, c->width, c->height, format),
             "stixels: plane %s must be %s of %d x %d pixels with a stride that holds a row", name,
             format == RV_U8 ? "RV_U8" : "RV_U16", c->width, c->height);
  return RV_OK;
}

static RvStatus check_output(const RvStixelsConfig *c, const RvStixelsOutput *output) {
  if (!output) {
    rv_log(&c->log, "stixels: output is NULL");
    return RV_ERR_ARG;
  }
  RV_REQUIRE(
      &c->log,
      ((uintptr_t)output->stixels | (uintptr_t)output->offsets | (uintptr_t)output->energies) % 4 ==
              0 &&
          (uintptr_t)output->ground % 8 == 0,
      "stixels: stixels, offsets and energies must be aligned to 4 bytes, ground to 8");
  RV_REQUIRE(&c->log, !output->stixels || output->offsets,
             "stixels: a list of stixels needs offsets");
  return RV_OK;
}

/* A map of any size; scores: `planes` of it one below the other. */
static RvStatus check_map(const RvStixelsConfig *c, const RvPlane *map, RvFormat format, int planes,
                          const char *name) {
  RV_REQUIRE(&c->log,
             planes > 0 && map->width > 0 && map->width <= RV_MAX_SIDE && map->height > 0 &&
                 map->height % planes == 0 && map->height / planes <= RV_MAX_SIDE &&
                 rv_plane_fits(map, map->width, map->height, format),
             "stixels: plane %s must be %s with a height that is a multiple of %d", name,
             format == RV_U8 ? "RV_U8" : "RV_U16", planes);
  return RV_OK;
}

static RvStatus check_input(const RvStixelsConfig *c, const RvStixelsInput *input) {
  if (!input) {
    rv_log(&c->log, "stixels: input is NULL");
    return RV_ERR_ARG;
  }
  RV_TRY(check_plane(c, &input->disparity, RV_U16, "disparity"));
  if (input->confidence.data)
    RV_TRY(check_plane(c, &input->confidence, RV_U8, "confidence"));
  const int given = (input->labels.data != NULL) + (input->scores.data != NULL);
  RV_REQUIRE(&c->log, given == 0 || (given == 1 && c->semantics > 0),
             "stixels: give either labels or scores, to an object with semantic classes");
  if (input->labels.data)
    RV_TRY(check_map(c, &input->labels, RV_U8, 1, "labels"));
  return input->scores.data ? check_map(c, &input->scores, RV_U16, c->semantics, "scores") : RV_OK;
}

RvStatus rv_stixels_run(RvStixels *stixels, const RvStixelsInput *input,
                        const RvStixelsOutput *output, RvStream stream) {
  if (!stixels)
    return RV_ERR_ARG;
  const RvStixelsConfig *c = &stixels->config;
  const RvStixelsStages *stages = stixels->stages;
  RV_TRY(check_input(c, input));
  RV_TRY(check_output(c, output));
  const RvStixelsJob job = {.disparity = input->disparity,
                            .confidence = input->confidence,
                            .labels = input->labels,
                            .scores = input->scores,
                            .output = *output,
                            .stream = stream};
  RV_TRY(stages->cells(stixels->work, &stixels->model, &job, &c->log));
  RV_TRY(stages->ground(stixels->work, &stixels->model, &job, &c->log));
  if (rv_stixels_has_semantics(&job))
    RV_TRY(stages->semantics(stixels->work, &stixels->model, &job, &c->log));
  RV_TRY(stages->columns(stixels->work, &stixels->model, &job, &c->log));
  return stixels->model.reach > 0 && job.output.stixels
             ? stages->refine(stixels->work, &stixels->model, &job, &c->log)
             : RV_OK;
}

RvStatus rv_stixels_render(RvStixels *stixels, const RvStixel *list, uint32_t capacity,
                           const uint32_t *offsets, const RvPlane *disparity,
                           const RvPlane *classes, RvStream stream) {
  if (!stixels)
    return RV_ERR_ARG;
  const RvStixelsConfig *c = &stixels->config;
  RV_REQUIRE(&c->log, list && offsets && ((uintptr_t)list | (uintptr_t)offsets) % 4 == 0,
             "stixels: list and offsets must be given, aligned to 4 bytes");
  RvStixelsDrawing drawing = {
      .list = list, .capacity = capacity, .offsets = offsets, .stream = stream};
  if (disparity && disparity->data) {
    RV_TRY(check_plane(c, disparity, RV_U16, "disparity"));
    drawing.disparity = *disparity;
  }
  if (classes && classes->data) {
    RV_TRY(check_plane(c, classes, RV_U8, "classes"));
    drawing.classes = *classes;
  }
  return stixels->stages->render(stixels->work, &stixels->model, &drawing, &c->log);
}
