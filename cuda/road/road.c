/* SPDX-License-Identifier: MIT */
/* road.c: host side of road detection: parameters, plan, and run as the list of its stages. */
#include "road/road.h"

#include <stdio.h>

#include "road/road_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvRoadConfig Config;

static const RvParamValue distances[] = {
    {RV_ROAD_MAHALANOBIS, "mahalanobis", "sqrt sum (p - m)^2 / s^2"},
    {RV_ROAD_MANHATTAN, "manhattan", "sum |p - m|"},
    {RV_ROAD_EUCLIDEAN, "euclidean", "sqrt sum (p - m)^2"},
    {RV_ROAD_CHEBYSHEV, "chebyshev", "max |p - m|"},
    {RV_ROAD_HELLINGER, "hellinger", "sqrt(1 - sum sqrt(p m))"},
    {RV_ROAD_CHI_SQUARE, "chi-square", "sum (p - m)^2 / p"},
};
static const RvParamValue windows[] = {{.value = 0}, {.value = 3}, {.value = 5}};

/* From annotations and the element's own properties. */
#define CAMERA(name_, text_, unit_, from, to, field)                                               \
  {                                                                                                \
    .name = name_, .text = text_, .unit = unit_, RV_PARAM_REAL_RANGE(camera.field, from, to),      \
    .flags = RV_PARAM_REQUIRED | RV_PARAM_HIDDEN                                                   \
  }

static const RvParam params[] = {
    RV_PARAM_WIDTH_FROM(RV_ROAD_PATCH_MIN),
    RV_PARAM_HEIGHT_FROM(RV_ROAD_PATCH_MIN),
    CAMERA("camera-focal", "Focal length of the camera", "px", 0, 1e6, focal),
    CAMERA("camera-cx", "Column of the principal point", "px", -1e6, 1e6, cx),
    CAMERA("camera-cy", "Row of the principal point", "px", -1e6, 1e6, cy),
    CAMERA("camera-doffs", "Difference of the principal points", "px", -4096, 4096, doffs),
    CAMERA("camera-baseline", "Baseline of the stereo camera", "m", 0, 1e3, baseline),
    {.name = "patch-size",
     .text = "Side length of the classified patches; incomplete patches are ignored",
     .unit = "px",
     RV_PARAM_INT_RANGE(patch_size, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX),
     .value = 5},
    {.name = "bins",
     .text = "Bins of hue and of saturation in a patch's histogram; a change clears the models",
     RV_PARAM_INT_RANGE(bins, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX),
     .value = 8},
    {.name = "equalize",
     .text = "Equalize the histograms of R, G and B, against changes of illumination",
     RV_PARAM_SWITCH(equalize),
     .value = 1},
    {.name = "roughness",
     .text = "Maximum variance of height of smooth ground, without the noise of the disparity",
     .unit = "m^2",
     RV_PARAM_REAL_RANGE(roughness, 0, 1),
     .flags = RV_PARAM_LIVE,
     .value = 6e-5},
    {.name = "disparity-noise",
     .text = "Standard deviation of the disparity; the limits of roughness and height grow with it",
     .unit = "px",
     RV_PARAM_REAL_RANGE(disparity_noise, 0, 4),
     .flags = RV_PARAM_LIVE,
     .value = 0.15},
    {.name = "max-roughness",
     .text = "Upper bound of the limit of roughness, at any noise",
     .unit = "m^2",
     RV_PARAM_REAL_RANGE(max_roughness, 0, 1),
     .flags = RV_PARAM_LIVE,
     .value = 2.4e-4},
    {.name = "near-range",
     .text = "Maximum depth of training patches",
     .unit = "m",
     RV_PARAM_REAL_RANGE(near_range, 0, 1000),
     .flags = RV_PARAM_ABOVE | RV_PARAM_LIVE,
     .value = 10},
    {.name = "near-width",
     .text = "Width of the training strip along the optical axis, about that of the vehicle",
     .unit = "m",
     .note = "0 = unlimited",
     RV_PARAM_REAL_RANGE(near_width, 0, 1000),
     .flags = RV_PARAM_LIVE,
     .value = 3},
    {.name = "min-seeds",
     .text = "Minimum share of the training strip that is seeds; with less, nothing is learned",
     .note = "0 = off",
     RV_PARAM_REAL_RANGE(min_seeds, 0, 1),
     .flags = RV_PARAM_LIVE,
     .value = 0.1},
    {.name = "max-height",
     .text = "Height tolerance of road above the ground plane, four times that below it",
     .unit = "m",
     .note = "0 = off",
     RV_PARAM_REAL_RANGE(max_height, 0, 10),
     .flags = RV_PARAM_LIVE,
     .value = 0.03},
    {.name = "ground-threshold-scale",
     .text = "Scale of classify-threshold for patches on the ground plane",
     RV_PARAM_REAL_RANGE(ground_threshold_scale, 1, 4),
     .flags = RV_PARAM_LIVE,
     .value = 1.5},
    {.name = "smoothing",
     .text = "Window size of the majority filter",
     .unit = "patches",
     .note = "0 = off",
     RV_PARAM_NUMBERS(smoothing, windows),
     .value = 5},
    {.name = "min-saturation",
     .text = "Saturation below which the hue of a pixel is ignored",
     RV_PARAM_INT_RANGE(min_saturation, 0, 255),
     .flags = RV_PARAM_LIVE,
     .value = 0},
    {.name = "min-value",
     .text = "Value (maximum of R, G and B) below which the hue of a pixel is ignored",
     RV_PARAM_INT_RANGE(min_value, 0, 255),
     .flags = RV_PARAM_LIVE,
     .value = 0},
    {.name = "initial-models",
     .text = "Number of color models made for an empty library; at most library-size",
     RV_PARAM_INT_RANGE(initial_models, 1, RV_ROAD_LIBRARY_MAX),
     .value = 2},
    {.name = "new-models",
     .text =
         "Number of color models added per update, from unmatched samples; at most library-size",
     RV_PARAM_INT_RANGE(new_models, 1, RV_ROAD_LIBRARY_MAX),
     .value = 1},
    {.name = "estimate-models",
     .text = "Estimate the number of models by clustering; ignore initial-models and new-models",
     RV_PARAM_SWITCH(estimate_models),
     .value = 0},
    {.name = "library-size",
     .text = "Maximum number of color models; lowest-weight models are replaced first",
     RV_PARAM_INT_RANGE(library_size, 1, RV_ROAD_LIBRARY_MAX),
     .value = 8},
    {.name = "min-samples",
     .text = "Minimum number of unmatched samples for new models; fewer are deferred",
     RV_PARAM_INT_RANGE(min_samples, 1, RV_ROAD_SAMPLES_MAX),
     .value = 20},
    {.name = "min-share",
     .text = "Minimum share of a frame's samples for new models, except the first ones",
     .note = "fewer are outliers",
     RV_PARAM_REAL_RANGE(min_share, 0, 1),
     .flags = RV_PARAM_LIVE,
     .value = 0.03},
    {.name = "memory",
     .text = "Time constant of the weights of the models",
     .unit = "frames",
     .note = "1 = the weights are halved in each frame",
     RV_PARAM_REAL_RANGE(memory, 1, 100000),
     .flags = RV_PARAM_LIVE,
     .value = 150},
    {.name = "merge-threshold",
     .text = "Distance of two models, scaled as for update-threshold, below which they are merged",
     .note = "0 = off",
     RV_PARAM_REAL_RANGE(merge_threshold, 0, 10),
     .flags = RV_PARAM_LIVE,
     .value = 0.4},
    {.name = "persistence",
     .text = "Time constant of the filter over time of the road-like patches",
     .unit = "frames",
     .note = "0 = off",
     RV_PARAM_REAL_RANGE(persistence, 0, 100),
     .flags = RV_PARAM_LIVE,
     .value = 0},
    {.name = "update-threshold",
     .text = "Maximum Mahalanobis distance at which a sample updates its nearest model, divided by "
             "the square root of the number of cells that vary in the model",
     RV_PARAM_REAL_RANGE(update_threshold, 0, 1000),
     .flags = RV_PARAM_ABOVE | RV_PARAM_LIVE,
     .value = 2},
    {.name = "classify-threshold",
     .text = "Maximum distance of road from the nearest model, in the unit of `distance`",
     RV_PARAM_REAL_RANGE(classify_threshold, 0, 1000),
     .flags = RV_PARAM_ABOVE | RV_PARAM_LIVE,
     .value = 4},
    {.name = "distance",
     .text = "Distance measure between a patch (p) and a model (mean m, variance s^2)",
     RV_PARAM_CHOICE(distance, distances),
     .value = RV_ROAD_MAHALANOBIS},
    {.name = "variance-floor",
     .text = "Minimum variance of a cell of a model, of histograms with the sum 1",
     RV_PARAM_REAL_RANGE(variance_floor, RV_ROAD_FLOOR_MIN, RV_ROAD_FLOOR_MAX),
     .value = 1e-3},
    RV_PARAM_THREADS,
};
RV_PARAMS(road)

static RvStatus check_rules(const void *config) {
  const RvRoadConfig *c = config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, c->width >= c->patch_size && c->height >= c->patch_size,
             "road: width is %d and height is %d px, must be at least patch-size = %d", c->width,
             c->height, c->patch_size);
  RV_REQUIRE(log, c->camera.focal > 0 && c->camera.baseline > 0,
             "road: camera-focal is %g px and camera-baseline %g m; both must be known (above 0)",
             c->camera.focal, c->camera.baseline);
  RV_REQUIRE(log, c->initial_models <= c->library_size,
             "road: initial-models is %d, must be at most library-size = %d", c->initial_models,
             c->library_size);
  RV_REQUIRE(log, c->new_models <= c->library_size,
             "road: new-models is %d, must be at most library-size = %d", c->new_models,
             c->library_size);
  return RV_OK;
}

/* --- Object ---------------------------------------------------------------------------------- */

void rv_road_make_plan(void *memory) {
  RvRoadPlan *plan = memory;
  const RvRoadConfig *c = &plan->config;
  plan->columns = c->width / c->patch_size;
  plan->rows = c->height / c->patch_size;
  plan->patches = plan->columns * plan->rows;
  plan->area = c->patch_size * c->patch_size;
  plan->cells = c->bins * c->bins;
  plan->rate = (int)floor(256 / (1 + c->persistence) + 0.5);
  plan->models = c->estimate_models ? c->library_size : rv_max(c->initial_models, c->new_models);
}

static void describe(const void *plan, char *text, size_t size) {
  const RvRoadConfig *c = plan;
  snprintf(text, size, "%d x %d pixels", c->width, c->height);
}

static RvVoteConfig vote_config(const RvRoadConfig *c) {
  RvVoteConfig vote;
  rv_vote_config_init(&vote);
  vote.kind = RV_VOTE_COLOR;
  vote.format = RV_U32;
  vote.width = c->width;
  vote.height = c->height;
  vote.threads = c->threads;
  vote.log = c->log;
  return vote;
}

static size_t vote_workspace(const void *plan, RvEngine engine) {
  const RvRoadConfig *c = plan;
  const RvVoteConfig vote = vote_config(c);
  return c->equalize ? rv_vote_workspace(&vote, engine) : 0;
}

static RvStatus open_vote(void *object) {
  RvRoad *road = object;
  if (!road->plan.config.equalize)
    return RV_OK;
  const RvVoteConfig vote = vote_config(&road->plan.config);
  return rv_vote_new(&road->vote, &vote, road->object.engine);
}

static void close_vote(void *object) {
  rv_vote_free(&((RvRoad *)object)->vote);
}

static const RvClass klass = {
    .params = rv_road_params,
    .object_size = sizeof(RvRoad),
    .plan_offset = offsetof(RvRoad, plan),
    .rules = check_rules,
    .plan = rv_road_make_plan,
    .describe = describe,
    .open = open_vote,
    .close = close_vote,
    .extra = vote_workspace,
    .engines = RV_ENGINES(road),
};
RV_OBJECT(RvRoad, road, klass);

void rv_road_size(const RvRoadConfig *config, int *columns, int *rows) {
  RvRoadPlan plan = {.columns = 0};
  if (rv_road_config_check(config) == RV_OK) {
    plan.config = *config;
    rv_road_make_plan(&plan);
  }
  *columns = plan.columns;
  *rows = plan.rows;
}

static const RvRoadStages *stages_of(const RvRoad *road) {
  return (const RvRoadStages *)road->object.base;
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_run(const RvRoadPlan *plan, const RvPlane *color, const RvPlane *disparity,
                          const RvRoadOutput *output) {
  const RvRoadConfig *c = &plan->config;
  const RvLog *log = &c->log;
  const int columns = plan->columns, rows = plan->rows;
  RV_TRY(rv_check_plane(log, "road", "color", color, c->width, c->height, RV_U32));
  if (disparity)
    RV_TRY(rv_check_plane(log, "road", "disparity", disparity, c->width, c->height, RV_U16));
  RV_REQUIRE(log, output, "road: output is NULL");
  RV_TRY(rv_check_optional_plane(log, "road", "mask", &output->mask, columns, rows, RV_U8));
  RV_TRY(
      rv_check_optional_plane(log, "road", "distance", &output->distance, columns, rows, RV_F32));
  RV_TRY(rv_check_optional_plane(log, "road", "seeds", &output->seeds, columns, rows, RV_U8));
  return rv_check_aligned(log, "road", "report", output->report, 4);
}

RvStatus rv_road_run(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                     const RvRoadOutput *output, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  RV_TRY(check_run(&road->plan, color, disparity, output));
  const RvRoadStages *stages = stages_of(road);
  void *work = road->object.work;
  RvRoadJob job = {.plan = &road->plan, .color = *color, .output = *output, .stream = stream};
  if (disparity)
    job.disparity = *disparity;
  if (road->vote) {
    RV_TRY(stages->locate(work, &job));
    RV_TRY(rv_vote_run(road->vote, color, &job.votes, stream));
  }
  RV_TRY(stages->features(work, &job));
  RV_TRY(stages->ground(work, &job));
  RV_TRY(stages->seeds(work, &job));
  RV_TRY(stages->learn(work, &job));
  RV_TRY(stages->classify(work, &job));
  return stages->publish(work, &job);
}

RvStatus rv_road_reset(RvRoad *road, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  RvRoadJob job = {.plan = &road->plan, .stream = stream};
  return stages_of(road)->reset(road->object.work, &job);
}

/* --- New parameters -------------------------------------------------------------------------- */

RvStatus rv_road_take(const RvRoad *road, RvRoadLearned *learned, RvStream stream) {
  RvRoadJob job = {.plan = &road->plan, .learned = learned, .stream = stream};
  return stages_of(road)->take(road->object.work, &job);
}

RvStatus rv_road_give(RvRoad *road, RvRoadLearned *learned, RvStream stream) {
  RvRoadJob job = {.plan = &road->plan, .learned = learned, .stream = stream};
  return stages_of(road)->give(road->object.work, &job);
}

/* 1 when the parameters that decide about memory and tables are the same. */
static int has_same_memory(const RvRoadConfig *a, const RvRoadConfig *b) {
  return a->width == b->width && a->height == b->height && a->camera.doffs == b->camera.doffs &&
         a->patch_size == b->patch_size && a->bins == b->bins && a->equalize == b->equalize &&
         a->initial_models == b->initial_models && a->new_models == b->new_models &&
         a->library_size == b->library_size && a->estimate_models == b->estimate_models &&
         a->min_samples == b->min_samples && a->distance == b->distance &&
         a->variance_floor == b->variance_floor && a->threads == b->threads &&
         a->log.line == b->log.line && a->log.user == b->log.user;
}

/* Copies models and pending samples, adapted to the config of `to`. Waits. */
static RvStatus hand_over(RvRoad *to, const RvRoad *from, RvStream stream) {
  const RvRoadConfig *c = &from->plan.config;
  if (c->bins != to->plan.config.bins)
    return from->object.engine == RV_CUDA ? rv_stream_wait(stream) : RV_OK;
  RvRoadLearned *learned = rv_road_learned_new(&c->log, c->bins, c->library_size, c->min_samples);
  if (!learned)
    return RV_ERR_NO_MEMORY;
  learned->patch_size = c->patch_size;
  RvStatus status = rv_road_take(from, learned, stream);
  if (status == RV_OK) {
    rv_road_learned_fit(learned, &to->plan.config);
    status = rv_road_give(to, learned, stream);
  }
  rv_memory_free(learned, RV_CPU);
  return status;
}

/* Nothing in an object points to the object itself: the contents of two can be swapped. */
RvStatus rv_road_set_config(RvRoad *road, const RvRoadConfig *config, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  RV_TRY(rv_road_config_check(config));
  if (has_same_memory(&road->plan.config, config)) {
    road->plan.config = *config;
    rv_road_make_plan(&road->plan);
    return RV_OK;
  }
  RvRoad *other;
  RV_TRY(rv_road_new(&other, config, road->object.engine));
  const RvStatus status = hand_over(other, road, stream);
  if (status == RV_OK) {
    const RvRoad old = *road;
    *road = *other;
    *other = old;
  }
  rv_road_free(&other);
  return status;
}
