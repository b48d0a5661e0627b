/* SPDX-License-Identifier: MIT */
/* road.c: host side of road detection: parameters, plan, and run as the list of its stages. */
#include "road/road.h"

#include "road/road_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvRoadConfig Config;

/* From annotations and the element's own properties. */
#define CAMERA(name_, text_, unit_, from, to, field)                                               \
  {                                                                                                \
    .name = name_, .text = text_, .unit = unit_, RV_PARAM_REAL_RANGE(camera.field, from, to),      \
    .flags = RV_PARAM_REQUIRED | RV_PARAM_HIDDEN                                                   \
  }

static const RvParam params[] = {
    RV_PARAM_SIZE_FROM(RV_ROAD_PATCH_MIN),
    CAMERA("camera-focal", "Focal length of the camera", "px", 0, 1e6, focal),
    CAMERA("camera-cx", "Column of the principal point", "px", -1e6, 1e6, cx),
    CAMERA("camera-cy", "Row of the principal point", "px", -1e6, 1e6, cy),
    CAMERA("camera-doffs", "Difference of the principal points", "px", -4096, 4096, doffs),
    CAMERA("camera-baseline", "Baseline of the stereo camera", "m", 0, 1e3, baseline),
    RV_INT("patch-size", patch_size, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX, 5, 0, "px", NULL,
           "Side length of the classified patches; incomplete patches are ignored"),
    RV_INT("bins", bins, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX, 8, 0, NULL, NULL,
           "Bins of hue and of saturation in a patch's histogram; a change clears the models"),
    RV_SWITCH("equalize", equalize, 1, 0, NULL, NULL,
              "Equalize the histograms of R, G and B, against changes of illumination"),
    RV_REAL("roughness", roughness, 0, 1, 6e-5, RV_PARAM_LIVE, "m^2", NULL,
            "Maximum variance of height of smooth ground, without the noise of the disparity"),
    RV_REAL("disparity-noise", disparity_noise, 0, 4, 0.15, RV_PARAM_LIVE, "px", NULL,
            "Standard deviation of the disparity; the limits of roughness and height grow with it"),
    RV_REAL("max-roughness", max_roughness, 0, 1, 2.4e-4, RV_PARAM_LIVE, "m^2", NULL,
            "Upper bound of the limit of roughness, at any noise"),
    RV_REAL("near-range", near_range, 0, 1000, 10, RV_PARAM_ABOVE | RV_PARAM_LIVE, "m", NULL,
            "Maximum depth of training patches"),
    RV_REAL("near-width", near_width, 0, 1000, 3, RV_PARAM_LIVE, "m", "0 = unlimited",
            "Width of the training strip along the optical axis, about that of the vehicle"),
    RV_REAL("min-seeds", min_seeds, 0, 1, 0.1, RV_PARAM_LIVE, NULL, "0 = off",
            "Minimum share of the training strip that is seeds; with less, nothing is learned"),
    RV_REAL("max-height", max_height, 0, 10, 0.03, RV_PARAM_LIVE, "m", "0 = off",
            "Height tolerance of road above the ground plane, four times that below it"),
    RV_REAL("ground-threshold-scale", ground_threshold_scale, 1, 4, 1.5, RV_PARAM_LIVE, NULL, NULL,
            "Scale of classify-threshold for patches on the ground plane"),
    RV_NUMBERS("smoothing", smoothing, 5, 0, "patches", "0 = off",
               "Window size of the majority filter", {.value = 0}, {.value = 3}, {.value = 5}),
    RV_INT("min-saturation", min_saturation, 0, 255, 0, RV_PARAM_LIVE, NULL, NULL,
           "Saturation below which the hue of a pixel is ignored"),
    RV_INT("min-value", min_value, 0, 255, 0, RV_PARAM_LIVE, NULL, NULL,
           "Value (maximum of R, G and B) below which the hue of a pixel is ignored"),
    RV_INT("initial-models", initial_models, 1, RV_ROAD_LIBRARY_MAX, 2, 0, NULL, NULL,
           "Number of color models made for an empty library; at most library-size"),
    RV_INT("new-models", new_models, 1, RV_ROAD_LIBRARY_MAX, 1, 0, NULL, NULL,
           "Number of color models added per update, from unmatched samples; at most library-size"),
    RV_SWITCH("estimate-models", estimate_models, 0, 0, NULL, NULL,
              "Estimate the number of models by clustering; ignore initial-models and new-models"),
    RV_INT("library-size", library_size, 1, RV_ROAD_LIBRARY_MAX, 8, 0, NULL, NULL,
           "Maximum number of color models; lowest-weight models are replaced first"),
    RV_INT("min-samples", min_samples, 1, RV_ROAD_SAMPLES_MAX, 20, 0, NULL, NULL,
           "Minimum number of unmatched samples for new models; fewer are deferred"),
    RV_REAL("min-share", min_share, 0, 1, 0.03, RV_PARAM_LIVE, NULL, "fewer are outliers",
            "Minimum share of a frame's samples for new models, except the first ones"),
    RV_REAL("memory", memory, 1, 100000, 30, RV_PARAM_LIVE, "frames",
            "1 = the weights are halved in each frame",
            "Time constant of the weights of the models"),
    RV_REAL("merge-threshold", merge_threshold, 0, 10, 0.5, RV_PARAM_LIVE, NULL, "0 = off",
            "Distance of two models, scaled as for update-threshold, below which they are merged"),
    RV_REAL("lateral-scale", lateral_scale, 1, 4, 3, RV_PARAM_LIVE, NULL, "1 = off",
            "Scale of classify-threshold where, as far to the side, all near ground was road "
            "lately; down to 1/2 where none was"),
    RV_REAL("persistence", persistence, 0, 100, 0, RV_PARAM_LIVE, "frames", "0 = off",
            "Time constant of the filter over time of the road-like patches"),
    RV_REAL("update-threshold", update_threshold, 0, 1000, 2, RV_PARAM_ABOVE | RV_PARAM_LIVE, NULL,
            NULL,
            "Maximum Mahalanobis distance at which a sample updates its nearest model, divided by "
            "the square root of the number of cells that vary in the model"),
    RV_REAL("classify-threshold", classify_threshold, 0, 1000, 4, RV_PARAM_ABOVE | RV_PARAM_LIVE,
            NULL, NULL,
            "Maximum distance of road from the nearest model, in the unit of `distance`"),
    RV_CHOICE("distance", distance, RV_ROAD_MAHALANOBIS, 0, NULL, NULL,
              "Distance measure between a patch (p) and a model (mean m, variance s^2)",
              {RV_ROAD_MAHALANOBIS, "mahalanobis", "sqrt sum (p - m)^2 / s^2"},
              {RV_ROAD_MANHATTAN, "manhattan", "sum |p - m|"},
              {RV_ROAD_EUCLIDEAN, "euclidean", "sqrt sum (p - m)^2"},
              {RV_ROAD_CHEBYSHEV, "chebyshev", "max |p - m|"},
              {RV_ROAD_HELLINGER, "hellinger", "sqrt(1 - sum sqrt(p m))"},
              {RV_ROAD_CHI_SQUARE, "chi-square", "sum (p - m)^2 / p"}),
    RV_REAL("variance-floor", variance_floor, RV_ROAD_FLOOR_MIN, RV_ROAD_FLOOR_MAX, 1e-3, 0, NULL,
            NULL, "Minimum variance of a cell of a model, of histograms with the sum 1"),
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

RV_CLASS(RvRoad, road, .rules = check_rules, .plan = rv_road_make_plan, .open = open_vote,
         .close = close_vote, .extra = vote_workspace);

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
  RV_TRY(rv_check_optional_plane(log, "road", "score", &output->score, columns, rows, RV_U8));
  return rv_check_aligned(log, "road", "report", output->report, 4);
}

RvStatus rv_road_run_on(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                        const RvGroundSurface *ground, const RvRoadOutput *output,
                        RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  RV_TRY(check_run(&road->plan, color, disparity, output));
  RV_TRY(rv_check_aligned(&road->plan.config.log, "road", "ground", ground, 8));
  const RvRoadStages *stages = stages_of(road);
  void *work = road->object.work;
  RvRoadJob job = {.plan = &road->plan,
                   .color = *color,
                   .output = *output,
                   .stream = stream,
                   .color_stream = stream};
  if (disparity) {
    job.disparity = *disparity;
    job.ground = ground;
  }
  if (road->vote) {
    RV_TRY(stages->locate(work, &job));
    RV_TRY(rv_vote_run(road->vote, color, &job.votes, job.color_stream));
  }
  RV_TRY(stages->features(work, &job));
  RV_TRY(stages->ground(work, &job));
  RV_TRY(stages->seeds(work, &job));
  RV_TRY(stages->learn(work, &job));
  RV_TRY(stages->classify(work, &job));
  return stages->publish(work, &job);
}

RvStatus rv_road_run(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                     const RvRoadOutput *output, RvStream stream) {
  return rv_road_run_on(road, color, disparity, NULL, output, stream);
}

RV_OBJECT_RESET(RvRoad, road);

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
