/* SPDX-License-Identifier: MIT */
/* eval_scene.c: see eval_scene.h. */
#include "eval_scene.h"

#include <stdio.h>
#include <stdlib.h>

#include "sgm/sgm.h"

struct EvalScene {
  RvScene *scene;
  RvSgm *sgm;
  double rate;
  RvPicture picture;
  EvalFrame frame;
  RvSceneFacts facts;
  float *free_space;
};

static void *memory(size_t bytes) {
  void *m = calloc(1, bytes);
  if (!m) {
    fprintf(stderr, "eval: out of memory\n");
    exit(1);
  }
  return m;
}

static void must(RvStatus status, const char *what) {
  if (status == RV_OK)
    return;
  fprintf(stderr, "eval: %s: %s\n", what, rv_status_text(status));
  exit(1);
}

static RvPlane plane(int width, int height, RvFormat format) {
  const size_t bytes = rv_format_bytes(format) * (size_t)width;
  return (RvPlane){memory(bytes * (size_t)height), (ptrdiff_t)bytes, width, height, format};
}

EvalScene *eval_scene_new(RvScenePattern pattern, int width, int height, uint32_t seed,
                          double rate) {
  return eval_scene_at(pattern, width, height, seed, rate, 8);
}

EvalScene *eval_scene_at(RvScenePattern pattern, int width, int height, uint32_t seed, double rate,
                         double speed) {
  EvalScene *s = memory(sizeof *s);
  RvSceneConfig scene;
  rv_scene_config_init(&scene);
  scene.pattern = pattern;
  scene.width = width;
  scene.height = height;
  scene.seed = seed;
  scene.frame_rate = rate;
  scene.speed = speed;
  must(rv_scene_new(&s->scene, &scene), "scene");
  RvSgmConfig sgm;
  rv_sgm_config_init(&sgm);
  sgm.width = width;
  sgm.height = height;
  must(rv_sgm_new(&s->sgm, &sgm, RV_CPU), "sgm");
  s->rate = rate;
  const RvPlane gray = plane(2 * width, height, RV_U8);
  s->picture = (RvPicture){.format = RV_PIXEL_GRAY8,
                           .width = 2 * width,
                           .height = height,
                           .data = {gray.data},
                           .stride = {gray.stride}};
  s->frame.disparity = plane(width, height, RV_U16);
  s->frame.truth = plane(width, height, RV_U16);
  s->frame.labels = plane(width, height, RV_U8);
  s->frame.objects = plane(width, height, RV_U16);
  s->free_space = memory((size_t)width * sizeof *s->free_space);
  s->frame.free_space = s->free_space;
  s->frame.facts = &s->facts;
  rv_scene_camera(s->scene, &s->frame.camera);
  return s;
}

const EvalFrame *eval_scene_frame(EvalScene *s, uint64_t frame) {
  EvalFrame *f = &s->frame;
  const RvSceneTruth truth = {.disparity = f->truth,
                              .labels = f->labels,
                              .objects = f->objects,
                              .free_space = s->free_space,
                              .facts = &s->facts};
  const int width = f->truth.width, height = f->truth.height;
  must(rv_scene_render(s->scene, frame, &s->picture, &truth), "render");
  const RvPlane left = {s->picture.data[0], s->picture.stride[0], width, height, RV_U8};
  const RvPlane right = {(uint8_t *)s->picture.data[0] + width, s->picture.stride[0], width, height,
                         RV_U8};
  must(rv_sgm_run(s->sgm, &left, &right, &f->disparity, NULL, NULL), "sgm");
  f->gray = left;
  f->time = (double)frame / s->rate;
  return f;
}

void eval_scene_free(EvalScene *s) {
  rv_scene_free(&s->scene);
  rv_sgm_free(&s->sgm);
  free(s->picture.data[0]);
  free(s->frame.disparity.data);
  free(s->frame.truth.data);
  free(s->frame.labels.data);
  free(s->frame.objects.data);
  free(s->free_space);
  free(s);
}

RvCamera eval_known_camera(const RvCamera *camera) {
  RvCamera known = *camera;
  known.height = known.pitch = 0;
  return known;
}

/* --- Statistics ------------------------------------------------------------------------------ */

void eval_add(EvalValues *v, double value) {
  if (v->count == v->room) {
    v->room = v->room ? 2 * v->room : 1024;
    double *values = realloc(v->values, v->room * sizeof *values);
    if (!values) {
      fprintf(stderr, "eval: out of memory\n");
      exit(1);
    }
    v->values = values;
  }
  v->values[v->count++] = value;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double eval_percentile(EvalValues *v, double p) {
  if (v->count == 0)
    return 0;
  qsort(v->values, v->count, sizeof *v->values, compare);
  const double at = p / 100 * (double)v->count;
  const size_t k = at < 1 ? 0 : (size_t)at < v->count ? (size_t)at : v->count - 1;
  return v->values[k];
}

void eval_clear(EvalValues *v) {
  free(v->values);
  *v = (EvalValues){0};
}

static int verdict(int holds, const char *text, double value, const char *relation, double limit) {
  printf("%s: %s: %.4g, must be %s %.4g\n", holds ? "ok" : "FAILED", text, value, relation, limit);
  return !holds;
}

int eval_at_most(const char *text, double value, double limit) {
  return verdict(value <= limit, text, value, "at most", limit);
}

int eval_at_least(const char *text, double value, double limit) {
  return verdict(value >= limit, text, value, "at least", limit);
}
