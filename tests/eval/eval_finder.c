/* SPDX-License-Identifier: MIT */
/* eval_finder.c: see eval_finder.h. */
#include "eval_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "eval_finder: %s failed\n", what);
  exit(1);
}

static void finder_open(EvalFinder *f, const EvalFrame *frame) {
  RvGroundConfig ground;
  memset(f, 0, sizeof *f);
  rv_obstacles_config_init(&f->config);
  rv_ground_config_init(&ground);
  f->config.width = ground.width = frame->disparity.width;
  f->config.height = ground.height = frame->disparity.height;
  f->config.camera = ground.camera = eval_known_camera(&frame->camera);
  f->config.path_width = EVAL_PATH;
  must(rv_obstacles_new(&f->obstacles, &f->config, RV_CPU) == RV_OK &&
           rv_obstacles_tracks_new(&f->tracks, &f->config) == RV_OK &&
           rv_ground_new(&f->ground, &ground, RV_CPU) == RV_OK,
       "new");
  rv_obstacles_size(&f->config, &f->columns, &f->column_width);
  must(f->columns <= EVAL_STRIPS, "size");
}

static void finder_close(EvalFinder *f) {
  rv_obstacles_free(&f->obstacles);
  rv_obstacles_tracks_free(&f->tracks);
  rv_ground_free(&f->ground);
}

static void find(EvalFinder *f, const EvalFrame *frame) {
  static RvObstacleBox boxes[RV_OBSTACLES_MAX];
  uint32_t counts[2];
  const RvObstaclesSource source = {
      .disparity = frame->disparity, .gray = frame->gray, .ground = &f->surface};
  const RvObstaclesOutput output = {boxes, counts, f->column};
  must(rv_ground_run(f->ground, &frame->disparity, &f->surface, NULL) == RV_OK &&
           rv_obstacles_run(f->obstacles, &source, &output, NULL) == RV_OK,
       "run");
  for (uint32_t i = 0; i < counts[0]; i++)
    rv_obstacles_measure(&f->config, &f->surface, &boxes[i], &f->list[i]);
  must(rv_obstacles_track(f->tracks, frame->time, f->list, (int)counts[0],
                          RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS, &f->count, NULL) == RV_OK,
       "track");
}

void eval_find(EvalScene *scene, uint64_t frames, uint64_t step, EvalJudge *judge, void *data) {
  EvalFinder finder = {.count = 0};
  for (uint64_t k = 0; k < frames; k++) {
    const EvalFrame *frame = eval_scene_frame(scene, step * k);
    if (k == 0)
      finder_open(&finder, frame);
    find(&finder, frame);
    judge(&finder, frame, data);
  }
  finder_close(&finder);
}
