/* SPDX-License-Identifier: MIT */
/* road_inputs.c: see road_inputs.h. */
#include "road/road_inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_sequence_inputs.h"

typedef struct Bench {
  RvRoadCpu work; /* first: what the tests hold */
  RvRoadPlan plan;
  RvArena arena;
} Bench;

RvRoadCpu *rv_road_bench_new(RvCheck *check, const char *name, const RvRoadConfig *config) {
  const RvEngineBase *base = &rv_road_stages_cpu.base;
  Bench *b = rvc_memory(sizeof *b);
  b->plan.config = *config;
  rv_road_make_plan(&b->plan);
  base->layout(&b->work, &b->plan, &b->arena);
  if (!rvc_true(check, name, rv_arena_open(&b->arena, RV_CPU) == RV_OK, "out of memory"))
    return free(b), NULL;
  base->layout(&b->work, &b->plan, &b->arena);
  if (rvc_true(check, name, base->open(&b->work, &b->plan) == RV_OK, "open failed"))
    return &b->work;
  rv_road_bench_free(&b->work);
  return NULL;
}

void rv_road_bench_free(RvRoadCpu *work) {
  Bench *b = (Bench *)(void *)work;
  if (b)
    rv_arena_close(&b->arena);
  free(b);
}

RvRoadConfig *rv_road_bench_config(RvRoadCpu *work) {
  return &((Bench *)(void *)work)->plan.config;
}

void rv_road_bench_model(RvRoadCpu *w, int j, int cell, double mean, double weight, int wide) {
  const double floor_of_variance = w->plan->config.variance_floor * w->plan->area * w->plan->area;
  for (int i = 0; i < w->plan->cells; i++) {
    w->library.mean[j * w->plan->cells + i] = i == cell ? mean : 0;
    w->library.variance[j * w->plan->cells + i] = i < wide ? 4 : floor_of_variance;
  }
  w->library.weight[j] = weight;
}

void rv_road_bench_two_models(RvRoadCpu *w) {
  w->library.count = 2;
  rv_road_bench_model(w, 0, 3, 24, 0.25, w->plan->cells);
  rv_road_bench_model(w, 1, 40, 24, 0.75, w->plan->cells);
}

void rv_road_bench_seeds(RvRoadCpu *w, int first, int count, int cell, int in) {
  if (first == 0) {
    memset(w->sample, 0, (size_t)w->plan->patches);
    memset(w->counts, 0, (size_t)w->plan->patches * (size_t)w->plan->cells);
    w->report = (RvRoadReport){0};
  }
  for (int i = first; i < first + count; i++) {
    w->sample[i] = 1;
    w->counts[(size_t)i * w->plan->cells + cell] = (uint8_t)in;
    w->counts[(size_t)i * w->plan->cells + cell + 1] = (uint8_t)(w->plan->area - in);
  }
  w->report.seeds += count;
}

int rv_road_bench_about(double a, double b) {
  return fabs(a - b) < 1e-12;
}

void rv_road_result_open(const RvRoadConfig *c, RvRoadResult *r) {
  int columns, rows;
  rv_road_size(c, &columns, &rows);
  *r = (RvRoadResult){.mask = rvc_plane(columns, rows, RV_U8),
                      .distance = rvc_plane(columns, rows, RV_F32),
                      .seeds = rvc_plane(columns, rows, RV_U8)};
}

void rv_road_result_close(RvRoadResult *r) {
  free(r->mask.data);
  free(r->distance.data);
  free(r->seeds.data);
}

void rv_road_inputs_open(RvCheck *check, const char *name, RvRoadInputs *d, int width, int height) {
  *d = (RvRoadInputs){.check = check, .name = name};
  rv_road_sequence_config(&d->config, width, height);
  d->config.roughness = 6e-4;
  d->config.max_roughness = 2.4e-3;
  d->config.lateral_scale = 1; /* is not saved */
  d->config.threads = 2;
  d->config.log = rvc_log(check);
  d->color = rvc_plane(width, height, RV_U32);
  d->disparity = rvc_plane(width, height, RV_U16);
}

void rv_road_inputs_close(RvRoadInputs *d) {
  free(d->color.data);
  free(d->disparity.data);
}

RvRoad *rv_road_inputs_new(const RvRoadInputs *d, const RvRoadConfig *config, RvEngine engine) {
  RvRoad *road = NULL;
  rvc_true(d->check, d->name, rv_road_new(&road, config, engine) == RV_OK, "new failed");
  return road;
}

static RvStatus run_cuda(const RvRoadInputs *d, RvRoad *road, int has_disparity, RvRoadResult *r) {
  RvPlane color, disparity, mask, distance, seeds;
  void *report = NULL;
  const int good =
      rvc_upload(d->check, &color, &d->color) & rvc_upload(d->check, &disparity, &d->disparity) &
      rvc_upload(d->check, &mask, &r->mask) & rvc_upload(d->check, &distance, &r->distance) &
      rvc_upload(d->check, &seeds, &r->seeds);
  RvStatus status = rv_buffer_new(&report, sizeof r->report, RV_CUDA);
  const RvRoadOutput output = {mask, distance, seeds, report, {0}};
  if (good && status == RV_OK)
    status = rv_road_run(road, &color, has_disparity ? &disparity : NULL, &output, NULL);
  if (good && status == RV_OK) {
    status = rv_copy_to_host(&r->report, report, sizeof r->report, NULL);
    rvc_download(d->check, &r->mask, &mask);
    rvc_download(d->check, &r->distance, &distance);
    rvc_download(d->check, &r->seeds, &seeds);
  }
  RvPlane *device[] = {&color, &disparity, &mask, &distance, &seeds};
  for (int i = 0; i < 5; i++)
    rvc_device_free(device[i]);
  rv_buffer_free(&report, RV_CUDA);
  return good ? status : RV_ERR_CUDA;
}

void rv_road_inputs_run(const RvRoadInputs *d, RvRoad *road, int has_disparity, RvRoadResult *r) {
  RvStatus status = RV_ERR_ARG;
  if (road && road->object.engine == RV_CUDA) {
    status = run_cuda(d, road, has_disparity, r);
  } else if (road) {
    const RvRoadOutput output = {r->mask, r->distance, r->seeds, &r->report, {0}};
    status = rv_road_run(road, &d->color, has_disparity ? &d->disparity : NULL, &output, NULL);
  }
  rvc_true(d->check, d->name, status == RV_OK, "run failed");
}

void rv_road_inputs_paint(const RvRoadInputs *d, int frame) {
  rv_road_sequence_paint(&d->config, frame, d->color.data, d->disparity.data);
}

void rv_road_inputs_frames(const RvRoadInputs *d, RvRoad *road, int first, int last) {
  RvRoadResult r;
  rv_road_result_open(&road->plan.config, &r);
  for (int frame = first; frame <= last; frame++) {
    rv_road_inputs_paint(d, frame);
    rv_road_inputs_run(d, road, 1, &r);
  }
  rv_road_result_close(&r);
}

void rv_road_result_same(const RvRoadInputs *d, const RvRoadResult *a, const RvRoadResult *b,
                         const char *what) {
  rvc_same(d->check, d->name, &a->mask, &b->mask, what);
  rvc_same(d->check, d->name, &a->distance, &b->distance, what);
  rvc_same(d->check, d->name, &a->seeds, &b->seeds, what);
  rvc_true(d->check, d->name, memcmp(&a->report, &b->report, sizeof a->report) == 0,
           "%s: the reports differ", what);
}

RvRoadSaved rv_road_inputs_save(const RvRoadInputs *d, RvRoad *road) {
  RvRoadSaved s = {.size = 0};
  const size_t room = road ? rv_road_save_bytes(&road->plan.config) : 0;
  s.bytes = malloc(room + 1);
  if (!s.bytes)
    abort();
  rvc_true(d->check, d->name, road && rv_road_save(road, s.bytes, room, &s.size, NULL) == RV_OK,
           "save failed");
  rvc_true(d->check, d->name, s.size > 0 && s.size <= room, "%zu bytes of %zu", s.size, room);
  return s;
}

void rv_road_inputs_same(const RvRoadInputs *d, RvRoad *road, const RvRoadSaved *wanted,
                         const char *what) {
  RvRoadSaved s = rv_road_inputs_save(d, road);
  rvc_true(d->check, d->name, s.size == wanted->size && memcmp(s.bytes, wanted->bytes, s.size) == 0,
           "%s: saved again, the bytes differ", what);
  free(s.bytes);
}

static void note(void *user, const char *text) {
  snprintf(user, RV_ROAD_NOTE, "%s", text);
}

RvLog rv_road_inputs_note(char *text) {
  *text = 0;
  return (RvLog){note, text};
}
