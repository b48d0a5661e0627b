/* SPDX-License-Identifier: MIT */
/* road_bench.c: the benchmark cases: a synthetic sequence of 64 frames, repeated, that starts
 * with an empty library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_parity_cases.h"
#include "road/road_sequence_inputs.h"

#define CPU_FRAMES 8 /* of the sequence, in the cases of the CPU engine */

typedef struct Sequence {
  RvRoadConfig config;
  RvRoad *road;
  RvPlane color[RV_ROAD_SEQUENCE_FRAMES], disparity[RV_ROAD_SEQUENCE_FRAMES];
  RvRoadOutput output;
  int frames, next;
  int is_reset; /* the library is cleared before every frame */
} Sequence;

static RvStatus run(void *user, RvStream stream) {
  Sequence *d = user;
  const int frame = d->next++ % d->frames;
  const RvStatus status = d->is_reset ? rv_road_reset(d->road, stream) : RV_OK;
  if (status != RV_OK)
    return status;
  return rv_road_run(d->road, &d->color[frame], &d->disparity[frame], &d->output, stream);
}

/* Paints the frames; with RV_CUDA they are moved to the GPU one by one. */
static int paint(RvCheck *check, Sequence *d, RvEngine engine) {
  const int width = d->config.width, height = d->config.height;
  RvPlane color = rvc_plane(width, height, RV_U32), disparity = rvc_plane(width, height, RV_U16);
  int good = 1;
  for (int i = 0; i < d->frames && good; i++) {
    rv_road_sequence_paint(&d->config, i, color.data, disparity.data);
    if (engine == RV_CUDA) {
      good = rvc_upload(check, &d->color[i], &color) &&
             rvc_upload(check, &d->disparity[i], &disparity);
      continue;
    }
    d->color[i] = rvc_plane(width, height, RV_U32);
    d->disparity[i] = rvc_plane(width, height, RV_U16);
    memcpy(d->color[i].data, color.data, (size_t)height * (size_t)color.stride);
    memcpy(d->disparity[i].data, disparity.data, (size_t)height * (size_t)disparity.stride);
  }
  free(color.data);
  free(disparity.data);
  return good;
}

static void drop(RvPlane *plane, RvEngine engine) {
  if (engine == RV_CUDA)
    rvc_device_free(plane);
  else
    free(plane->data);
  plane->data = NULL;
}

static int open_output(Sequence *d, RvEngine engine, RvCheck *check) {
  int columns, rows;
  void *report = NULL;
  rv_road_size(&d->config, &columns, &rows);
  RvPlane planes[3] = {rvc_plane(columns, rows, RV_U8), rvc_plane(columns, rows, RV_F32),
                       rvc_plane(columns, rows, RV_U8)};
  RvPlane *out[3] = {&d->output.mask, &d->output.distance, &d->output.seeds};
  int good = rv_buffer_new(&report, sizeof(RvRoadReport), engine) == RV_OK;
  d->output.report = report;
  for (int k = 0; k < 3; k++) {
    *out[k] = planes[k];
    if (engine != RV_CUDA)
      continue;
    *out[k] = (RvPlane){0};
    good = good && rvc_upload(check, out[k], &planes[k]);
    free(planes[k].data);
  }
  return good;
}

static void close_output(Sequence *d, RvEngine engine) {
  void *report = d->output.report;
  drop(&d->output.mask, engine);
  drop(&d->output.distance, engine);
  drop(&d->output.seeds, engine);
  rv_buffer_free(&report, engine);
}

/* One case: the library has `models` slots, filled by the first frame; 0 = the defaults. */
static void time_case(RvCheck *check, const char *name, Sequence *d, int models, RvEngine engine) {
  if (!rvc_wants(check, name))
    return;
  d->next = 0;
  rv_road_sequence_config(&d->config, d->config.width, d->config.height);
  if (models)
    d->config.library_size = d->config.initial_models = models;
  d->config.log = rvc_log(check);
  if (rvc_true(check, name,
               open_output(d, engine, check) && rv_road_new(&d->road, &d->config, engine) == RV_OK,
               "new failed"))
    rvc_bench_sequence(check, name, engine, d->frames, run, d);
  rv_road_free(&d->road);
  close_output(d, engine);
}

static void time_cases(RvCheck *check, int width, int height, RvEngine engine) {
  static const int models[] = {1, 2, 5, 10, 20, 35, 50};
  char name[64];
  Sequence d = {.frames = engine == RV_CUDA ? RV_ROAD_SEQUENCE_FRAMES : CPU_FRAMES};
  rv_road_sequence_config(&d.config, width, height);
  if (rvc_true(check, "road/bench", paint(check, &d, engine), "no memory for the frames")) {
    snprintf(name, sizeof name, "road/%dx%d", width, height);
    time_case(check, name, &d, 0, engine);
    for (size_t i = 0; i < sizeof models / sizeof *models && engine == RV_CUDA; i++) {
      snprintf(name, sizeof name, "road/%dx%d-k%d", width, height, models[i]);
      time_case(check, name, &d, models[i], engine);
    }
    d.is_reset = 1;
    snprintf(name, sizeof name, "road/%dx%d-first", width, height);
    time_case(check, name, &d, 0, engine);
  }
  for (int i = 0; i < d.frames; i++) {
    drop(&d.color[i], engine);
    drop(&d.disparity[i], engine);
  }
}

/* 1 when any case of this size is requested, for painting is slow. */
static int wants_cases(RvCheck *check, int width, int height) {
  static const char *const kinds[] = {"",     "-k1",  "-k2",  "-k5",   "-k10",
                                      "-k20", "-k35", "-k50", "-first"};
  int wants = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char name[64];
    snprintf(name, sizeof name, "road/%dx%d%s", width, height, kinds[i]);
    wants |= rvc_wants(check, name);
  }
  return wants;
}

void rv_road_bench_cases(RvCheck *check) {
  static const int sizes[][2] = {{640, 480}, {1920, 1080}};
  for (int i = 0; i < 2; i++) {
    if (!wants_cases(check, sizes[i][0], sizes[i][1]))
      continue;
    if (rvc_cpu(check))
      time_cases(check, sizes[i][0], sizes[i][1], RV_CPU);
    if (rvc_cuda(check))
      time_cases(check, sizes[i][0], sizes[i][1], RV_CUDA);
  }
}
