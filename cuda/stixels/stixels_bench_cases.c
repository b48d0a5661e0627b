/* stixels_bench_cases.c: the timed rows, on a rendered street: its true disparity with noise of up
 * to half a px and 2 % of outliers. Both engines must find the same stixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "stixels_input_cases.h"
#include "stixels_twin_cases.h"

typedef struct Row {
  const char *name;
  int width, height, stixel_width, step;
  RvStixelsModelKind model;
} Row;

static const Row rows[] = {
    {"1242x375-w8s8-fast", 1242, 375, 8, 8, RV_STIXELS_SLANTED_FAST},
    {"1242x375-w8s8-slanted", 1242, 375, 8, 8, RV_STIXELS_SLANTED},
    {"1242x375-w8s8-constant", 1242, 375, 8, 8, RV_STIXELS_CONSTANT},
    {"1242x375-w4s4-fast", 1242, 375, 4, 4, RV_STIXELS_SLANTED_FAST},
    {"1242x375-w4s4-slanted", 1242, 375, 4, 4, RV_STIXELS_SLANTED},
    {"1242x375-w5s1-constant", 1242, 375, 5, 1, RV_STIXELS_CONSTANT},
    {"2048x1024-w8s8-fast", 2048, 1024, 8, 8, RV_STIXELS_SLANTED_FAST},
};

/* NULL when the street cannot be rendered. */
static uint16_t *make(RvCheck *check, const char *name, const Row *row) {
  const size_t width = (size_t)row->width, pixels = width * (size_t)row->height;
  RvRandom random = rvc_random(check, name);
  RvSceneConfig config;
  rv_scene_config_init(&config);
  config.width = row->width;
  config.height = row->height;
  uint16_t *truth = calloc(pixels, sizeof *truth);
  uint8_t *grey = calloc(2 * pixels, 1);
  if (!truth || !grey)
    abort();
  const RvSceneTruth planes = {
      .disparity = {truth, 2 * (ptrdiff_t)width, row->width, row->height, RV_U16}};
  RvPicture picture = {.format = RV_PIXEL_GRAY8, .width = 2 * row->width, .height = row->height};
  picture.data[0] = grey;
  picture.stride[0] = 2 * (ptrdiff_t)width;
  RvScene *scene = NULL;
  const RvStatus status = rv_scene_new(&scene, &config) == RV_OK
                              ? rv_scene_render(scene, 0, &picture, &planes)
                              : RV_ERR_ARG;
  rvc_true(check, name, status == RV_OK, "scene: %s", rv_status_text(status));
  rv_scene_free(&scene);
  free(grey);
  for (size_t i = 0; i < pixels; i++) {
    const int dice = rvc_range(&random, 0, 99), noise = rvc_range(&random, -8, 8);
    if (dice < 2)
      truth[i] = (uint16_t)rvc_range(&random, 1, 2047);
    else if (truth[i])
      truth[i] = (uint16_t)(truth[i] + noise > 1 ? truth[i] + noise : 1);
    else
      truth[i] = (uint16_t)rvc_range(&random, 0, 8);
  }
  return truth;
}

typedef struct Bench {
  RvStixels *stixels;
  RvPlane source;
  RvStixelsOutput output;
} Bench;

static RvStatus run(void *user, RvStream stream) {
  const Bench *b = user;
  return rv_stixels_run(b->stixels, &b->source, NULL, &b->output, stream);
}

static void bench_cuda(RvCheck *check, const char *name, const RvStixelsConfig *c,
                       const RvPlane *host) {
  Bench b = {.output = {.capacity = rv_stixels_count_max(c)}};
  void *stixels = NULL, *offsets = NULL;
  if (rvc_upload(check, &b.source, host) &&
      rv_buffer_new(&stixels, b.output.capacity * sizeof(RvStixel), RV_CUDA) == RV_OK &&
      rv_buffer_new(&offsets, ((size_t)rv_stixels_columns(c) + 1) * 4, RV_CUDA) == RV_OK &&
      rv_stixels_new(&b.stixels, c, RV_CUDA) == RV_OK) {
    b.output.stixels = stixels;
    b.output.offsets = offsets;
    rvc_bench(check, name, RV_CUDA, run, &b);
  }
  rv_stixels_free(&b.stixels);
  rvc_device_free(&b.source);
  rv_buffer_free(&stixels, RV_CUDA);
  rv_buffer_free(&offsets, RV_CUDA);
}

static void bench_cpu(RvCheck *check, const char *name, const RvStixelsConfig *c,
                      const RvPlane *host) {
  StixelsResult r = stixels_result_new(c, rv_stixels_count_max(c));
  Bench b = {.source = *host, .output = stixels_result_output(&r)};
  if (rv_stixels_new(&b.stixels, c, RV_CPU) == RV_OK)
    rvc_bench(check, name, RV_CPU, run, &b);
  rv_stixels_free(&b.stixels);
  stixels_result_free(&r);
}

void stixels_bench(RvCheck *check) {
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    char name[64];
    snprintf(name, sizeof name, "stixels/%s", rows[k].name);
    if (!rvc_wants(check, name))
      continue;
    uint16_t *source = make(check, name, &rows[k]);
    RvStixelsConfig c;
    rv_stixels_config_init(&c);
    c.log = rvc_log(check);
    c.width = rows[k].width;
    c.height = rows[k].height;
    c.stixel_width = rows[k].stixel_width;
    c.vertical_step = rows[k].step;
    c.model = rows[k].model;
    const RvPlane host = {source, 2 * (ptrdiff_t)c.width, c.width, c.height, RV_U16};
    if (rvc_cpu(check))
      bench_cpu(check, name, &c, &host);
    if (rvc_cuda(check))
      bench_cuda(check, name, &c, &host);
    free(source);
  }
}
