/* SPDX-License-Identifier: MIT */
/* road_cpu_stages.c: the CPU engine: its memory, its stages as run() calls them, and its
 * outputs. */
#include "road/road_cpu.h"

static void take_models(RvRoadModels *models, RvArena *arena, int cells, int count) {
  const size_t values = (size_t)cells * (size_t)count;
  models->mean = rv_arena_take(arena, values * sizeof *models->mean);
  models->variance = rv_arena_take(arena, values * sizeof *models->variance);
  models->weight = rv_arena_take(arena, (size_t)count * sizeof *models->weight);
}

static void layout(void *work, const void *plan_memory, RvArena *arena) {
  RvRoadCpu *w = work;
  const RvRoadPlan *plan = w->plan = plan_memory;
  const RvRoadConfig *c = &plan->config;
  w->threads = rv_min(rv_threads(c->threads), rv_max(1, plan->rows));
  const size_t patches = (size_t)plan->patches, cells = (size_t)plan->cells;
  const size_t samples = patches + (size_t)c->min_samples;
  w->histogram = rv_arena_take(arena, 768 * sizeof *w->histogram);
  w->equal = rv_arena_take(arena, 768);
  w->counts = rv_arena_take(arena, patches * cells);
  w->inverse = rv_arena_take(arena, RV_ROAD_INVERSE_SIZE * sizeof *w->inverse);
  w->depth = rv_arena_take(arena, patches * sizeof *w->depth);
  w->valid = rv_arena_take(arena, patches);
  w->lines = rv_arena_take(arena, (size_t)plan->rows * RV_ROAD_DEPTHS * sizeof *w->lines);
  w->sample = rv_arena_take(arena, patches);
  w->budget = rv_arena_take(arena, patches * sizeof *w->budget);
  w->lately = rv_arena_take(arena, patches);
  w->like = rv_arena_take(arena, patches);
  w->road = rv_arena_take(arena, patches);
  w->kept = rv_arena_take(arena, patches);
  w->strips = rv_arena_take(arena, RV_ROAD_STRIPS * sizeof *w->strips);
  w->votes = rv_arena_take(arena, RV_ROAD_STRIPS * sizeof *w->votes);
  w->lateral = rv_arena_take(arena, RV_ROAD_STRIPS * sizeof *w->lateral);
  w->least = rv_arena_take(arena, (size_t)plan->columns);
  w->count = rv_arena_take(arena, (size_t)plan->columns);
  w->parent = rv_arena_take(arena, patches * sizeof *w->parent);
  w->size = rv_arena_take(arena, patches * sizeof *w->size);
  w->features = rv_arena_take(arena, samples * cells);
  w->key = rv_arena_take(arena, samples * sizeof *w->key);
  w->rest = rv_arena_take(arena, samples * sizeof *w->rest);
  w->share = rv_arena_take(arena, samples * (size_t)plan->models * sizeof *w->share);
  w->cost = rv_arena_take(arena, (size_t)c->library_size * cells * (size_t)(plan->area + 1) *
                                     sizeof *w->cost);
  w->nearest = rv_arena_take(arena, patches * sizeof *w->nearest);
  w->exp = rv_arena_take(arena, RV_ROAD_EXP_SIZE * sizeof *w->exp);
  w->log = rv_arena_take(arena, RV_ROAD_LOG_SIZE * sizeof *w->log);
  w->prior = rv_arena_take(arena, (size_t)plan->models * sizeof *w->prior);
  w->clusters = c->estimate_models ? rv_arena_take(arena, sizeof *w->clusters) : NULL;
  take_models(&w->library, arena, plan->cells, c->library_size);
  take_models(&w->fresh, arena, plan->cells, plan->models);
}

static void forget(RvRoadCpu *w, int patches) {
  memset(w->lately, 0, (size_t)patches);
  memset(w->kept, 0, (size_t)patches);
  memset(w->strips, 0, RV_ROAD_STRIPS * sizeof *w->strips);
  memset(w->votes, 0, RV_ROAD_STRIPS * sizeof *w->votes);
}

static RvStatus open_cpu(void *work, const void *plan) {
  RvRoadCpu *w = work;
  forget(w, ((const RvRoadPlan *)plan)->patches);
  rv_road_inverse_table(&((const RvRoadPlan *)plan)->config, w->inverse);
  rv_road_exp_table(w->exp);
  rv_road_log_table(w->log);
  return RV_OK;
}

/* --- Stages ---------------------------------------------------------------------------------- */

/* The engine's memory, with the plan of this call: that of an object may move. */
static RvRoadCpu *begin(void *work, const RvRoadJob *job) {
  RvRoadCpu *w = work;
  w->plan = job->plan;
  return w;
}

static RvStatus locate(void *work, RvRoadJob *job) {
  uint32_t *histogram = begin(work, job)->histogram;
  job->votes = (RvPlane){histogram, 768 * sizeof *histogram, 768, 1, RV_U32};
  return RV_OK;
}

static RvStatus features(void *work, RvRoadJob *job) {
  RvRoadCpu *w = begin(work, job);
  w->report = (RvRoadReport){0};
  w->plane = (RvRoadPlane){0};
  rv_road_features(w, &job->color);
  if (job->disparity.data)
    rv_road_depths(w, &job->disparity);
  return RV_OK;
}

static RvStatus ground(void *work, RvRoadJob *job) {
  RvRoadCpu *w = begin(work, job);
  if (job->ground)
    w->plane = rv_road_plane_of(job->ground, &job->plan->config.camera);
  else if (job->disparity.data)
    rv_road_ground(w);
  if (w->plane.height > 0)
    rv_road_report_plane(&w->plane, job->plan->config.camera.doffs, &w->report);
  return RV_OK;
}

static RvStatus seeds(void *work, RvRoadJob *job) {
  rv_road_seeds(begin(work, job), &job->disparity);
  return RV_OK;
}

static RvStatus learn(void *work, RvRoadJob *job) {
  rv_road_learn(begin(work, job));
  return RV_OK;
}

static RvStatus classify(void *work, RvRoadJob *job) {
  rv_road_classify(begin(work, job));
  return RV_OK;
}

static void *row_of(const RvPlane *plane, int y) {
  return plane->data ? (char *)plane->data + y * plane->stride : NULL;
}

static RvStatus publish(void *work, RvRoadJob *job) {
  const RvRoadCpu *w = begin(work, job);
  const RvRoadPlan *plan = job->plan;
  const RvRoadOutput *output = &job->output;
  for (int y = 0; y < plan->rows; y++) {
    uint8_t *mask = row_of(&output->mask, y), *seed = row_of(&output->seeds, y);
    float *distance = row_of(&output->distance, y);
    uint8_t *score = row_of(&output->score, y);
    if (score)
      rv_road_median_row(w, y, score);
    for (int x = 0; x < plan->columns; x++) {
      const int i = y * plan->columns + x;
      if (mask)
        mask[x] = w->road[i] ? 255 : 0;
      if (seed)
        seed[x] = w->sample[i] ? 255 : 0;
      if (score && !w->road[i])
        score[x] = (uint8_t)rv_min(score[x], RV_ROAD_LIKE - 1);
      if (distance)
        distance[x] = w->library.count ? (float)rv_road_length(plan->config.distance, w->nearest[i])
                                       : RV_ROAD_NO_MODEL;
    }
  }
  if (output->report)
    *output->report = w->report;
  return RV_OK;
}

/* --- Models and pending samples -------------------------------------------------------------- */

static RvStatus reset(void *work, RvRoadJob *job) {
  RvRoadCpu *w = begin(work, job);
  w->library.count = 0;
  w->pending = 0;
  forget(w, job->plan->patches);
  return RV_OK;
}

static RvStatus take(void *work, RvRoadJob *job) {
  const RvRoadCpu *w = begin(work, job);
  RvRoadLearned *to = job->learned;
  const size_t cells = (size_t)job->plan->cells, values = (size_t)w->library.count * cells;
  to->count = w->library.count;
  to->pending = w->pending;
  memcpy(to->mean, w->library.mean, values * sizeof *to->mean);
  memcpy(to->variance, w->library.variance, values * sizeof *to->variance);
  memcpy(to->weight, w->library.weight, (size_t)to->count * sizeof *to->weight);
  memcpy(to->features, w->features, (size_t)w->pending * cells);
  return RV_OK;
}

static RvStatus give(void *work, RvRoadJob *job) {
  RvRoadCpu *w = begin(work, job);
  const RvRoadLearned *from = job->learned;
  const size_t cells = (size_t)job->plan->cells, values = (size_t)from->count * cells;
  w->library.count = from->count;
  w->pending = from->pending;
  memcpy(w->library.mean, from->mean, values * sizeof *from->mean);
  memcpy(w->library.variance, from->variance, values * sizeof *from->variance);
  memcpy(w->library.weight, from->weight, (size_t)from->count * sizeof *from->weight);
  memcpy(w->features, from->features, (size_t)from->pending * cells);
  return RV_OK;
}

RV_ENGINE(RvRoad, road, cpu, RvRoadCpu, layout, open_cpu, NULL, .locate = locate,
          .features = features, .ground = ground, .seeds = seeds, .learn = learn,
          .classify = classify, .publish = publish, .reset = reset, .take = take, .give = give);
