/* SPDX-License-Identifier: MIT */
/* road_cpu_stages.c: the CPU engine's memory, its stages as run() calls them, and what it hands
 * out. */
#include "road/road_stages.h"

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
  w->models_em = rv_road_models_max(c);
  const size_t patches = (size_t)w->patches, cells = (size_t)w->cells;
  const size_t samples = patches + (size_t)c->min_samples;
  w->histogram = rv_arena_take(arena, 768 * sizeof *w->histogram);
  w->equal = rv_arena_take(arena, 768);
  w->counts = rv_arena_take(arena, patches * cells);
  w->inverse = rv_arena_take(arena, RV_ROAD_INVERSE_SIZE * sizeof *w->inverse);
  w->depth = rv_arena_take(arena, patches * sizeof *w->depth);
  w->valid = rv_arena_take(arena, patches);
  w->lines = rv_arena_take(arena, (size_t)w->rows * RV_ROAD_DEPTHS * sizeof *w->lines);
  w->sample = rv_arena_take(arena, patches);
  w->room = rv_arena_take(arena, patches * sizeof *w->room);
  w->like = rv_arena_take(arena, patches);
  w->road = rv_arena_take(arena, patches);
  w->parent = rv_arena_take(arena, patches * sizeof *w->parent);
  w->size = rv_arena_take(arena, patches * sizeof *w->size);
  w->features = rv_arena_take(arena, samples * cells);
  w->key = rv_arena_take(arena, samples * sizeof *w->key);
  w->rest = rv_arena_take(arena, samples * sizeof *w->rest);
  w->share = rv_arena_take(arena, samples * (size_t)w->models_em * sizeof *w->share);
  w->cost = rv_arena_take(arena, (size_t)c->library_size * cells * (size_t)(w->area + 1) *
                                     sizeof *w->cost);
  w->nearest = rv_arena_take(arena, patches * sizeof *w->nearest);
  w->exp = rv_arena_take(arena, RV_ROAD_EXP_SIZE * sizeof *w->exp);
  w->log = rv_arena_take(arena, RV_ROAD_LOG_SIZE * sizeof *w->log);
  w->prior = rv_arena_take(arena, (size_t)w->models_em * sizeof *w->prior);
  w->clusters = c->estimate_models ? rv_arena_take(arena, sizeof *w->clusters) : NULL;
  take_models(&w->library, arena, w->cells, c->library_size);
  take_models(&w->fresh, arena, w->cells, w->models_em);
}

void rv_road_tables(RvRoadWork *w) {
  rv_road_inverse_table(&w->config, w->inverse);
  rv_road_exp_table(w->exp);
  rv_road_log_table(w->log);
}

static void layout(void *work, const RvRoadConfig *config, RvArena *arena) {
  rv_road_layout(work, config, arena);
}

static RvStatus open(void *work, const RvRoadConfig *config) {
  (void)config;
  rv_road_tables(work);
  return RV_OK;
}

static uint32_t *histogram(void *work) {
  return ((RvRoadWork *)work)->histogram;
}

static RvStatus features(void *work, const RvRoadJob *job) {
  RvRoadWork *w = work;
  w->report = (RvRoadReport){0};
  w->plane = (RvRoadPlane){0};
  rv_road_features(w, &job->color);
  if (job->disparity.data)
    rv_road_depths(w, &job->disparity);
  return RV_OK;
}

static RvStatus ground(void *work, const RvRoadJob *job) {
  RvRoadWork *w = work;
  if (job->disparity.data)
    rv_road_ground(w);
  if (w->plane.height > 0)
    rv_road_report_plane(&w->plane, w->config.camera.doffs, &w->report);
  return RV_OK;
}

static RvStatus seeds(void *work, const RvRoadJob *job) {
  rv_road_seeds(work, &job->disparity);
  return RV_OK;
}

static RvStatus learn(void *work, const RvRoadJob *job) {
  (void)job;
  rv_road_learn(work);
  return RV_OK;
}

static RvStatus classify(void *work, const RvRoadJob *job) {
  (void)job;
  rv_road_classify(work);
  return RV_OK;
}

static void *row_of(const RvPlane *plane, int y) {
  return plane->data ? (char *)plane->data + y * plane->stride : NULL;
}

static RvStatus publish(void *work, const RvRoadJob *job) {
  const RvRoadWork *w = work;
  const RvRoadOutput *output = &job->output;
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
                                       : RV_ROAD_NO_MODEL;
    }
  }
  if (output->report)
    *output->report = w->report;
  return RV_OK;
}

static RvStatus reset(void *work, RvStream stream) {
  RvRoadWork *w = work;
  (void)stream;
  w->library.count = 0;
  w->waiting = 0;
  return RV_OK;
}

static RvStatus take(void *work, RvRoadLearnt *learnt, RvStream stream) {
  const RvRoadWork *w = work;
  const size_t values = (size_t)w->library.count * (size_t)w->cells;
  (void)stream;
  learnt->count = w->library.count;
  learnt->waiting = w->waiting;
  memcpy(learnt->mean, w->library.mean, values * sizeof *learnt->mean);
  memcpy(learnt->variance, w->library.variance, values * sizeof *learnt->variance);
  memcpy(learnt->weight, w->library.weight, (size_t)learnt->count * sizeof *learnt->weight);
  memcpy(learnt->features, w->features, (size_t)w->waiting * (size_t)w->cells);
  return RV_OK;
}

static RvStatus give(void *work, const RvRoadLearnt *learnt, RvStream stream) {
  RvRoadWork *w = work;
  const size_t values = (size_t)learnt->count * (size_t)w->cells;
  (void)stream;
  w->library.count = learnt->count;
  w->waiting = learnt->waiting;
  memcpy(w->library.mean, learnt->mean, values * sizeof *learnt->mean);
  memcpy(w->library.variance, learnt->variance, values * sizeof *learnt->variance);
  memcpy(w->library.weight, learnt->weight, (size_t)learnt->count * sizeof *learnt->weight);
  memcpy(w->features, learnt->features, (size_t)w->waiting * (size_t)w->cells);
  return RV_OK;
}

static void configure(void *work, const RvRoadConfig *config) {
  ((RvRoadWork *)work)->config = *config;
}

const RvRoadStages rv_road_stages_cpu = {
    sizeof(RvRoadWork), layout,  open,  histogram, features, ground,    seeds, learn,
    classify,           publish, reset, take,      give,     configure,
};
