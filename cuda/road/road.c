/* SPDX-License-Identifier: MIT */
/* road.c: host side of road detection: defaults, checks, memory, tables, and run as a list of
 * stages. */
#include "road/road.h"

#include "road/road_stages.h"
#include "rv_object.h"

void rv_road_config_init(RvRoadConfig *config) {
  if (!config)
    return;
  *config = (RvRoadConfig){
      .patch_size = RV_ROAD_PATCH_DEFAULT,
      .bins = RV_ROAD_BINS_DEFAULT,
      .equalize = 1,
      .roughness = RV_ROAD_ROUGHNESS_DEFAULT,
      .disparity_noise = RV_ROAD_NOISE_DEFAULT,
      .max_roughness = RV_ROAD_MAX_ROUGHNESS_DEFAULT,
      .near_range = RV_ROAD_RANGE_DEFAULT,
      .near_width = RV_ROAD_WIDTH_DEFAULT,
      .max_height = RV_ROAD_MAX_HEIGHT_DEFAULT,
      .ground_threshold_scale = RV_ROAD_GROUND_SCALE_DEFAULT,
      .smoothing = RV_ROAD_SMOOTHING_DEFAULT,
      .initial_models = RV_ROAD_INITIAL_DEFAULT,
      .new_models = RV_ROAD_NEW_DEFAULT,
      .library_size = RV_ROAD_LIBRARY_DEFAULT,
      .estimate_models = RV_ROAD_ESTIMATE_DEFAULT,
      .min_samples = RV_ROAD_SAMPLES_DEFAULT,
      .update_threshold = RV_ROAD_UPDATE_DEFAULT,
      .classify_threshold = RV_ROAD_CLASSIFY_DEFAULT,
      .distance = RV_ROAD_MAHALANOBIS,
      .variance_floor = RV_ROAD_FLOOR_DEFAULT,
  };
}

static RvStatus in_interval(const RvLog *log, const char *name, double value, double low,
                            double high) {
  RV_REQUIRE(log, value >= low && value <= high, "road: %s is %g, must be %g to %g", name, value,
             low, high);
  return RV_OK;
}

static RvStatus positive(const RvLog *log, const char *name, double value, double high) {
  RV_REQUIRE(log, value > 0 && value <= high, "road: %s is %g, must be above 0, at most %g", name,
             value, high);
  return RV_OK;
}

static RvStatus check_camera(const RvLog *log, const RvCamera *camera) {
  RV_REQUIRE(log,
             camera->focal > 0 && camera->focal <= 1e6 && camera->baseline > 0 &&
                 camera->baseline <= 1e3,
             "road: focal length is %g px and baseline %g m; both must be known (above 0, at most "
             "1e6 px and 1000 m)",
             camera->focal, camera->baseline);
  RV_TRY(in_interval(log, "camera.cx (px)", camera->cx, -1e6, 1e6));
  RV_TRY(in_interval(log, "camera.cy (px)", camera->cy, -1e6, 1e6));
  return in_interval(log, "camera.doffs (px)", camera->doffs, -4096, 4096);
}

static RvStatus check_shape(const RvRoadConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(in_interval(log, "roughness (m^2)", c->roughness, 0, RV_ROAD_ROUGHNESS_MAX));
  RV_TRY(in_interval(log, "disparity_noise (px)", c->disparity_noise, 0, RV_ROAD_NOISE_MAX));
  RV_TRY(in_interval(log, "max_roughness (m^2)", c->max_roughness, 0, RV_ROAD_ROUGHNESS_MAX));
  RV_TRY(positive(log, "near_range (m)", c->near_range, RV_ROAD_RANGE_MAX));
  RV_TRY(in_interval(log, "near_width (m)", c->near_width, 0, RV_ROAD_WIDTH_MAX));
  RV_TRY(in_interval(log, "max_height (m)", c->max_height, 0, RV_ROAD_MAX_HEIGHT_MAX));
  RV_TRY(in_interval(log, "ground_threshold_scale", c->ground_threshold_scale, 1,
                     RV_ROAD_GROUND_SCALE_MAX));
  RV_REQUIRE(log, c->smoothing == 0 || c->smoothing == 3 || c->smoothing == 5,
             "road: smoothing is %d, must be 0 (off), 3 or 5 patches", c->smoothing);
  return RV_OK;
}

static RvStatus check_models(const RvRoadConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "road: library_size", c->library_size, 1, RV_ROAD_LIBRARY_MAX));
  RV_TRY(rv_in_range(log, "road: initial_models", c->initial_models, 1, c->library_size));
  RV_TRY(rv_in_range(log, "road: new_models", c->new_models, 1, c->library_size));
  RV_TRY(rv_in_range(log, "road: estimate_models", c->estimate_models, 0, 1));
  RV_TRY(rv_in_range(log, "road: min_samples", c->min_samples, 1, RV_ROAD_SAMPLES_MAX));
  RV_TRY(positive(log, "update_threshold", c->update_threshold, RV_ROAD_THRESHOLD_MAX));
  RV_TRY(positive(log, "classify_threshold", c->classify_threshold, RV_ROAD_THRESHOLD_MAX));
  RV_TRY(rv_in_range(log, "road: distance", (int)c->distance, 0, RV_ROAD_DISTANCES - 1));
  return in_interval(log, "variance_floor", c->variance_floor, RV_ROAD_FLOOR_MIN,
                     RV_ROAD_FLOOR_MAX);
}

RvStatus rv_road_config_check(const RvRoadConfig *c) {
  if (!c)
    return RV_ERR_ARG;
  const RvLog *log = &c->log;
  RV_TRY(rv_in_range(log, "road: patch_size", c->patch_size, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX));
  RV_TRY(rv_in_range(log, "road: width", c->width, c->patch_size, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "road: height", c->height, c->patch_size, RV_MAX_SIDE));
  RV_TRY(check_camera(log, &c->camera));
  RV_TRY(rv_in_range(log, "road: bins", c->bins, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX));
  RV_TRY(rv_in_range(log, "road: equalize", c->equalize, 0, 1));
  RV_TRY(rv_in_range(log, "road: min_saturation", c->min_saturation, 0, 255));
  RV_TRY(rv_in_range(log, "road: min_value", c->min_value, 0, 255));
  RV_TRY(check_shape(c));
  RV_TRY(check_models(c));
  RV_REQUIRE(log, c->threads >= 0, "road: threads is %d, must be 0 (all) or more", c->threads);
  return RV_OK;
}

void rv_road_size(const RvRoadConfig *config, int *columns, int *rows) {
  const int legal = rv_road_config_check(config) == RV_OK;
  *columns = legal ? config->width / config->patch_size : 0;
  *rows = legal ? config->height / config->patch_size : 0;
}

static void vote_config(const RvRoadConfig *config, RvVoteConfig *vote) {
  rv_vote_config_init(vote);
  vote->kind = RV_VOTE_COLOR;
  vote->format = RV_U32;
  vote->width = config->width;
  vote->height = config->height;
  vote->threads = config->threads;
  vote->log = config->log;
}

size_t rv_road_workspace(const RvRoadConfig *config, RvEngine engine) {
  const RvRoadStages *stages = RV_STAGES_OF(road, engine);
  if (rv_road_config_check(config) != RV_OK || !stages)
    return 0;
  void *work = rv_memory_object(stages->work_bytes);
  if (!work)
    return 0;
  RvArena counted = {0};
  stages->layout(work, config, &counted);
  rv_memory_free(work, RV_CPU);
  RvVoteConfig vote;
  vote_config(config, &vote);
  return rv_arena_size(&counted) + (config->equalize ? rv_vote_workspace(&vote, engine) : 0);
}

/* Fills a cleared object; what it has taken is freed by the caller through rv_road_free. */
static RvStatus open_object(RvRoad *road) {
  const RvRoadConfig *config = &road->config;
  const RvLog *log = &config->log;
  road->work = rv_memory_object(road->stages->work_bytes);
  if (!road->work) {
    rv_log(log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  road->stages->layout(road->work, config, &road->arena);
  RV_TRY(rv_arena_open_for(&road->arena, road->engine, log, "road", "%d x %d pixels", config->width,
                           config->height));
  road->stages->layout(road->work, config, &road->arena);
  RV_TRY(road->stages->open(road->work, config));
  if (!config->equalize)
    return RV_OK;
  RvVoteConfig vote;
  vote_config(config, &vote);
  return rv_vote_new(&road->vote, &vote, road->engine);
}

RvStatus rv_road_new(RvRoad **out, const RvRoadConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_road_config_check(config));
  RV_TRY(rv_check_engine(&config->log, "road", engine));
  RvRoad *road = rv_memory_object(sizeof *road);
  if (!road) {
    rv_log(&config->log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  road->config = *config;
  road->engine = engine;
  road->stages = RV_STAGES_OF(road, engine);
  const RvStatus status = open_object(road);
  if (status != RV_OK) {
    rv_road_free(&road);
    return status;
  }
  *out = road;
  return RV_OK;
}

static RvStatus check_patches(const RvRoadConfig *c, int columns, int rows, const RvPlane *plane,
                              RvFormat format, const char *name) {
  RV_REQUIRE(&c->log, !plane->data || rv_plane_fits(plane, columns, rows, format),
             "road: plane %s must be %s of %d x %d patches with a stride that holds a row", name,
             format == RV_U8 ? "RV_U8" : "RV_F32", columns, rows);
  return RV_OK;
}

static RvStatus check_run(const RvRoadConfig *c, const RvPlane *color, const RvPlane *disparity,
                          const RvRoadOutput *output) {
  RV_REQUIRE(&c->log, rv_plane_fits(color, c->width, c->height, RV_U32),
             "road: plane color must be RV_U32 of %d x %d pixels with a stride that holds a row",
             c->width, c->height);
  RV_REQUIRE(&c->log, !disparity || rv_plane_fits(disparity, c->width, c->height, RV_U16),
             "road: plane disparity must be RV_U16 of %d x %d pixels with a stride that holds a "
             "row",
             c->width, c->height);
  RV_REQUIRE(&c->log, output != NULL, "road: output is NULL");
  int columns, rows;
  rv_road_size(c, &columns, &rows);
  RV_TRY(check_patches(c, columns, rows, &output->mask, RV_U8, "mask"));
  RV_TRY(check_patches(c, columns, rows, &output->distance, RV_F32, "distance"));
  RV_TRY(check_patches(c, columns, rows, &output->seeds, RV_U8, "seeds"));
  RV_REQUIRE(&c->log, (uintptr_t)output->report % 4 == 0,
             "road: report must be aligned to 4 bytes");
  return RV_OK;
}

RvStatus rv_road_run(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                     const RvRoadOutput *output, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvRoadStages *stages = road->stages;
  RV_TRY(check_run(&road->config, color, disparity, output));
  RvRoadJob job = {.color = *color, .output = *output, .stream = stream};
  if (disparity)
    job.disparity = *disparity;
  if (road->vote) {
    uint32_t *histogram = stages->histogram(road->work);
    const RvPlane votes = {histogram, 768 * sizeof *histogram, 768, 1, RV_U32};
    RV_TRY(rv_vote_run(road->vote, color, &votes, stream));
  }
  RV_TRY(stages->features(road->work, &job));
  RV_TRY(stages->ground(road->work, &job));
  RV_TRY(stages->seeds(road->work, &job));
  RV_TRY(stages->learn(road->work, &job));
  RV_TRY(stages->classify(road->work, &job));
  return stages->publish(road->work, &job);
}

RvStatus rv_road_reset(RvRoad *road, RvStream stream) {
  return road ? road->stages->reset(road->work, stream) : RV_ERR_ARG;
}

/* 1 when the parameters that decide about memory and tables are the same. */
static int same_memory(const RvRoadConfig *a, const RvRoadConfig *b) {
  return a->width == b->width && a->height == b->height && a->camera.doffs == b->camera.doffs &&
         a->patch_size == b->patch_size && a->bins == b->bins && a->equalize == b->equalize &&
         a->initial_models == b->initial_models && a->new_models == b->new_models &&
         a->library_size == b->library_size && a->estimate_models == b->estimate_models &&
         a->min_samples == b->min_samples && a->distance == b->distance &&
         a->variance_floor == b->variance_floor && a->threads == b->threads &&
         a->log.line == b->log.line && a->log.user == b->log.user;
}

/* What `from` has learnt, as far as it means anything to `to`. Waits. */
static RvStatus hand_over(const RvRoad *to, const RvRoad *from, RvStream stream) {
  const RvRoadConfig *c = &from->config;
  if (c->bins != to->config.bins)
    return from->engine == RV_CUDA ? rv_stream_wait(stream) : RV_OK;
  RvRoadLearnt *learnt = rv_road_learnt_new(c->bins, c->library_size, c->min_samples);
  if (!learnt) {
    rv_log(&c->log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  learnt->patch_size = c->patch_size;
  RvStatus status = from->stages->take(from->work, learnt, stream);
  if (status == RV_OK) {
    rv_road_learnt_fit(learnt, &to->config);
    status = to->stages->give(to->work, learnt, stream);
  }
  rv_memory_free(learnt, RV_CPU);
  return status;
}

RvStatus rv_road_set_config(RvRoad *road, const RvRoadConfig *config, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  RV_TRY(rv_road_config_check(config));
  if (same_memory(&road->config, config)) {
    road->config = *config;
    road->stages->configure(road->work, config);
    return RV_OK;
  }
  RvRoad *other;
  RV_TRY(rv_road_new(&other, config, road->engine));
  const RvStatus status = hand_over(other, road, stream);
  if (status == RV_OK) {
    const RvRoad old = *road;
    *road = *other;
    *other = old;
  }
  rv_road_free(&other);
  return status;
}

void rv_road_free(RvRoad **road) {
  if (!road || !*road)
    return;
  RvRoad *object = *road;
  rv_vote_free(&object->vote);
  rv_arena_close(&object->arena);
  rv_memory_free(object->work, RV_CPU);
  rv_memory_free(object, RV_CPU);
  *road = NULL;
}
