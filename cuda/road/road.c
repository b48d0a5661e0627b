/* road.c: host side of road detection: defaults, checks, memory, tables, and run as a list of
 * stages. */
#include "road.h"

#include "road_stages.h"
#include "rv_config.h"
#include "vote/vote.h"

struct RvRoad {
  RvRoadWork work;
  RvArena arena;
  RvVote *vote; /* histograms of the three channels */
};

void rv_road_config_init(RvRoadConfig *config) {
  if (!config)
    return;
  *config = (RvRoadConfig){
      .patch_size = RV_ROAD_PATCH_DEFAULT,
      .bins = RV_ROAD_BINS_DEFAULT,
      .equalize = 1,
      .roughness = RV_ROAD_ROUGHNESS_DEFAULT,
      .disparity_noise = RV_ROAD_NOISE_DEFAULT,
      .near_range = RV_ROAD_RANGE_DEFAULT,
      .initial_models = RV_ROAD_INITIAL_DEFAULT,
      .new_models = RV_ROAD_NEW_DEFAULT,
      .library_size = RV_ROAD_LIBRARY_DEFAULT,
      .min_samples = RV_ROAD_SAMPLES_DEFAULT,
      .update_threshold = RV_ROAD_UPDATE_DEFAULT,
      .classify_threshold = RV_ROAD_CLASSIFY_DEFAULT,
      .distance = RV_ROAD_MAHALANOBIS,
      .variance_floor = RV_ROAD_FLOOR_DEFAULT,
  };
}

static RvStatus in_range(const RvLog *log, const char *name, int value, int low, int high) {
  RV_REQUIRE(log, value >= low && value <= high, "road: %s is %d, must be %d to %d", name, value,
             low, high);
  return RV_OK;
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

static RvStatus check_models(const RvRoadConfig *c) {
  const RvLog *log = &c->log;
  RV_TRY(in_range(log, "library_size", c->library_size, 1, RV_ROAD_LIBRARY_MAX));
  RV_TRY(in_range(log, "initial_models", c->initial_models, 1, c->library_size));
  RV_TRY(in_range(log, "new_models", c->new_models, 1, c->library_size));
  RV_TRY(in_range(log, "min_samples", c->min_samples, 1, RV_ROAD_SAMPLES_MAX));
  RV_TRY(positive(log, "update_threshold", c->update_threshold, RV_ROAD_THRESHOLD_MAX));
  RV_TRY(positive(log, "classify_threshold", c->classify_threshold, RV_ROAD_THRESHOLD_MAX));
  RV_TRY(in_range(log, "distance", (int)c->distance, 0, RV_ROAD_DISTANCES - 1));
  return in_interval(log, "variance_floor", c->variance_floor, RV_ROAD_FLOOR_MIN,
                     RV_ROAD_FLOOR_MAX);
}

RvStatus rv_road_config_check(const RvRoadConfig *c) {
  if (!c)
    return RV_ERR_ARG;
  const RvLog *log = &c->log;
  RV_TRY(in_range(log, "patch_size", c->patch_size, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX));
  RV_TRY(in_range(log, "width", c->width, c->patch_size, RV_MAX_SIDE));
  RV_TRY(in_range(log, "height", c->height, c->patch_size, RV_MAX_SIDE));
  RV_TRY(check_camera(log, &c->camera));
  RV_TRY(in_range(log, "bins", c->bins, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX));
  RV_TRY(in_range(log, "equalize", c->equalize, 0, 1));
  RV_TRY(in_interval(log, "roughness (m^2)", c->roughness, 0, RV_ROAD_ROUGHNESS_MAX));
  RV_TRY(in_interval(log, "disparity_noise (px)", c->disparity_noise, 0, RV_ROAD_NOISE_MAX));
  RV_TRY(positive(log, "near_range (m)", c->near_range, RV_ROAD_RANGE_MAX));
  RV_TRY(check_models(c));
  RV_REQUIRE(log, c->threads >= 0, "road: threads is %d, must be 0 (all) or more", c->threads);
  return RV_OK;
}

void rv_road_size(const RvRoadConfig *config, int *columns, int *rows) {
  const int legal = rv_road_config_check(config) == RV_OK;
  *columns = legal ? config->width / config->patch_size : 0;
  *rows = legal ? config->height / config->patch_size : 0;
}

static void take_models(RvRoadModels *models, RvArena *arena, int cells, int count) {
  const size_t values = (size_t)cells * (size_t)count;
  models->mean = rv_arena_take(arena, values * sizeof *models->mean);
  models->variance = rv_arena_take(arena, values * sizeof *models->variance);
  models->weight = rv_arena_take(arena, (size_t)count * sizeof *models->weight);
}

void rv_road_layout(RvRoadWork *w, const RvRoadConfig *c, RvArena *arena) {
  w->config = *c;
  rv_road_size(c, &w->columns, &w->rows);
  w->patches = w->columns * w->rows;
  w->cells = c->bins * c->bins;
  w->area = c->patch_size * c->patch_size;
  w->threads = rv_min(rv_threads(c->threads), rv_max(1, w->rows));
  w->models_em = rv_max(c->initial_models, c->new_models);
  const size_t patches = (size_t)w->patches, cells = (size_t)w->cells;
  const size_t samples = patches + (size_t)c->min_samples;
  w->histogram = rv_arena_take(arena, 768 * sizeof *w->histogram);
  w->equal = rv_arena_take(arena, 768);
  w->counts = rv_arena_take(arena, patches * cells);
  w->inverse = rv_arena_take(arena, 65536 * sizeof *w->inverse);
  w->depth = rv_arena_take(arena, patches * sizeof *w->depth);
  w->valid = rv_arena_take(arena, patches);
  w->lines = rv_arena_take(arena, (size_t)w->rows * RV_ROAD_DEPTHS * sizeof *w->lines);
  w->sample = rv_arena_take(arena, patches);
  w->road = rv_arena_take(arena, patches);
  w->parent = rv_arena_take(arena, patches * sizeof *w->parent);
  w->size = rv_arena_take(arena, patches * sizeof *w->size);
  w->features = rv_arena_take(arena, samples * cells);
  w->rest = rv_arena_take(arena, samples * sizeof *w->rest);
  w->share = rv_arena_take(arena, samples * (size_t)w->models_em * sizeof *w->share);
  w->cost = rv_arena_take(arena, (size_t)c->library_size * cells * (size_t)(w->area + 1) *
                                     sizeof *w->cost);
  w->nearest = rv_arena_take(arena, patches * sizeof *w->nearest);
  w->exp = rv_arena_take(arena, RV_ROAD_EXP_SIZE * sizeof *w->exp);
  w->log = rv_arena_take(arena, RV_ROAD_LOG_SIZE * sizeof *w->log);
  w->prior = rv_arena_take(arena, (size_t)w->models_em * sizeof *w->prior);
  take_models(&w->library, arena, w->cells, c->library_size);
  take_models(&w->fresh, arena, w->cells, w->models_em);
}

void rv_road_tables(RvRoadWork *w) {
  const int doffs = (int)floor(w->config.camera.doffs * 16 + 0.5);
  for (int d = 0; d < 65536; d++) {
    const int64_t whole = d + doffs;
    const uint64_t inverse =
        d && whole > 0 ? ((1ull << 32) + (uint64_t)whole / 2) / (uint64_t)whole : 0;
    w->inverse[d] = inverse > UINT32_MAX ? UINT32_MAX : (uint32_t)inverse;
  }
  for (int i = 0; i < RV_ROAD_EXP_SIZE; i++)
    w->exp[i] = (uint32_t)(65536 * exp(-(double)i / RV_ROAD_NAT) + 0.5);
  for (int i = 0; i < RV_ROAD_LOG_SIZE; i++) {
    const double sum = rv_max(i, 64) * (double)RV_ROAD_LOG_STEP / 65536; /* never below one */
    w->log[i] = (uint32_t)(log(sum) * RV_ROAD_NAT + 0.5);
  }
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
  if (rv_road_config_check(config) != RV_OK || engine != RV_CPU)
    return 0;
  RvVoteConfig vote;
  vote_config(config, &vote);
  RvRoadWork work;
  RvArena counted = {0};
  rv_road_layout(&work, config, &counted);
  return rv_arena_size(&counted) + rv_vote_workspace(&vote, engine);
}

static RvStatus open_object(RvRoad *road) {
  RvRoadWork *work = &road->work;
  const RvLog *log = &work->config.log;
  rv_road_layout(work, &work->config, &road->arena);
  const size_t bytes = rv_arena_size(&road->arena);
  const RvStatus status = rv_arena_open(&road->arena, RV_CPU);
  if (status != RV_OK) {
    rv_log(log, "road: cannot take %.1f MiB of host memory for %d x %d pixels",
           (double)bytes / 1048576, work->config.width, work->config.height);
    return status;
  }
  rv_road_layout(work, &work->config, &road->arena);
  rv_road_tables(work);
  RvVoteConfig vote;
  vote_config(&work->config, &vote);
  return rv_vote_new(&road->vote, &vote, RV_CPU);
}

RvStatus rv_road_new(RvRoad **out, const RvRoadConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_road_config_check(config));
  const RvLog *log = &config->log;
  RV_REQUIRE(log, engine == RV_CPU || engine == RV_CUDA,
             "road: engine is %d, must be RV_CPU (0) or RV_CUDA (1)", (int)engine);
  if (engine == RV_CUDA) {
    rv_log(log, "road: road detection has no CUDA engine in this version; use RV_CPU");
    return RV_ERR_NO_DEVICE;
  }
  RvRoad *road = rv_memory_object(sizeof *road);
  if (!road) {
    rv_log(log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  road->work.config = *config;
  const RvStatus status = open_object(road);
  if (status != RV_OK) {
    rv_road_free(&road);
    return status;
  }
  *out = road;
  return RV_OK;
}

static RvStatus check_patches(const RvRoadWork *w, const RvPlane *plane, RvFormat format,
                              const char *name) {
  RV_REQUIRE(&w->config.log, !plane->data || rv_plane_fits(plane, w->columns, w->rows, format),
             "road: plane %s must be %s of %d x %d patches with a stride that holds a row", name,
             format == RV_U8 ? "RV_U8" : "RV_F32", w->columns, w->rows);
  return RV_OK;
}

static RvStatus check_run(const RvRoadWork *w, const RvPlane *color, const RvPlane *disparity,
                          const RvRoadOutput *output) {
  const RvRoadConfig *c = &w->config;
  RV_REQUIRE(&c->log, rv_plane_fits(color, c->width, c->height, RV_U32),
             "road: plane color must be RV_U32 of %d x %d pixels with a stride that holds a row",
             c->width, c->height);
  RV_REQUIRE(&c->log, !disparity || rv_plane_fits(disparity, c->width, c->height, RV_U16),
             "road: plane disparity must be RV_U16 of %d x %d pixels with a stride that holds a "
             "row",
             c->width, c->height);
  RV_REQUIRE(&c->log, output != NULL, "road: output is NULL");
  RV_TRY(check_patches(w, &output->mask, RV_U8, "mask"));
  RV_TRY(check_patches(w, &output->distance, RV_F32, "distance"));
  RV_TRY(check_patches(w, &output->seeds, RV_U8, "seeds"));
  RV_REQUIRE(&c->log, (uintptr_t)output->report % 4 == 0,
             "road: report must be aligned to 4 bytes");
  return RV_OK;
}

static void *row_of(const RvPlane *plane, int y) {
  return plane->data ? (char *)plane->data + y * plane->stride : NULL;
}

static void publish(const RvRoadWork *w, const RvRoadOutput *output) {
  for (int y = 0; y < w->rows; y++) {
    uint8_t *mask = row_of(&output->mask, y), *seeds = row_of(&output->seeds, y);
    float *distance = row_of(&output->distance, y);
    for (int x = 0; x < w->columns; x++) {
      const int i = y * w->columns + x;
      if (mask)
        mask[x] = w->road[i] ? 255 : 0;
      if (seeds)
        seeds[x] = w->sample[i] ? 255 : 0;
      if (distance)
        distance[x] = w->library.count ? (float)rv_road_length(w->config.distance, w->nearest[i])
                                       : RV_ROAD_FAR;
    }
  }
  if (output->report)
    *output->report = w->report;
}

RvStatus rv_road_run(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                     const RvRoadOutput *output, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  RvRoadWork *w = &road->work;
  RV_TRY(check_run(w, color, disparity, output));
  const RvPlane votes = {w->histogram, 768 * sizeof *w->histogram, 768, 1, RV_U32};
  RV_TRY(rv_vote_run(road->vote, color, &votes, stream));
  w->report = (RvRoadReport){0};
  w->plane = (RvRoadPlane){0};
  rv_road_features(w, color);
  if (disparity) {
    rv_road_depths(w, disparity);
    rv_road_ground(w);
  }
  rv_road_seeds(w, disparity);
  if (w->plane.height > 0) {
    w->report.slope_x = (float)w->plane.a;
    w->report.slope_y = (float)w->plane.b;
    w->report.intercept = (float)(w->plane.c - w->config.camera.doffs);
    w->report.height = (float)w->plane.height;
  }
  rv_road_learn(w);
  rv_road_classify(w);
  publish(w, output);
  return RV_OK;
}

RvStatus rv_road_reset(RvRoad *road, RvStream stream) {
  (void)stream;
  if (!road)
    return RV_ERR_ARG;
  road->work.library.count = 0;
  road->work.waiting = 0;
  return RV_OK;
}

void rv_road_free(RvRoad **road) {
  if (!road || !*road)
    return;
  RvRoad *object = *road;
  rv_vote_free(&object->vote);
  rv_arena_close(&object->arena);
  rv_memory_free(object, RV_CPU);
  *road = NULL;
}
