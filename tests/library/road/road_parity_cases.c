/* SPDX-License-Identifier: MIT */
/* road_parity_cases.c: the CUDA engine compared with the CPU engine, frame by frame. The outputs
 * of a frame cover every stage: the plane in the report, the samples in its counts, each model
 * of the library in the distances, and both labelings in the masks. */
#include "road/road_parity_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_sequence_inputs.h"
#include "rv_hd.h"

typedef struct Side {
  RvRoad *road;
  RvPlane color, disparity, mask, distance, seeds, score;
  RvRoadReport *report;
} Side;

/* Both engines and the copy of the GPU's results. */
typedef struct Pair {
  RvRoadConfig config;
  int models, matched, several; /* added; samples matched; frames that added several */
  Side cpu, cuda;
  RvPlane mask, distance, seeds, score;
  RvRoadReport cpu_report, cuda_report;
  RvGroundSurface surface; /* of every third frame */
  void *cuda_surface;
  char what[200];
} Pair;

static void close_pair(Pair *p) {
  RvPlane *host[] = {&p->cpu.color, &p->cpu.disparity, &p->cpu.mask, &p->cpu.distance,
                     &p->cpu.seeds, &p->cpu.score,     &p->mask,     &p->distance,
                     &p->seeds,     &p->score};
  RvPlane *device[] = {&p->cuda.color,    &p->cuda.disparity, &p->cuda.mask,
                       &p->cuda.distance, &p->cuda.seeds,     &p->cuda.score};
  for (size_t i = 0; i < sizeof host / sizeof *host; i++)
    free(host[i]->data);
  for (size_t i = 0; i < sizeof device / sizeof *device; i++)
    rvc_device_free(device[i]);
  void *report = p->cuda.report;
  rv_buffer_free(&report, RV_CUDA);
  rv_buffer_free(&p->cuda_surface, RV_CUDA);
  rv_road_free(&p->cpu.road);
  rv_road_free(&p->cuda.road);
}

static int open_pair(RvCheck *check, const char *name, Pair *p) {
  const RvRoadConfig *c = &p->config;
  int columns, rows;
  void *report = NULL;
  rv_road_size(c, &columns, &rows);
  snprintf(
      p->what, sizeof p->what,
      "%dx%d patch %d bins %d equalize %d models %d %d of %d (%d) samples %d update %g classify %g "
      "distance %d floor %g",
      c->width, c->height, c->patch_size, c->bins, c->equalize, c->initial_models, c->new_models,
      c->library_size, c->estimate_models, c->min_samples, c->update_threshold,
      c->classify_threshold, (int)c->distance, c->variance_floor);
  p->cpu.color = rvc_plane(c->width, c->height, RV_U32);
  p->cpu.disparity = rvc_plane(c->width, c->height, RV_U16);
  p->cpu.mask = rvc_plane(columns, rows, RV_U8);
  p->cpu.distance = rvc_plane(columns, rows, RV_F32);
  p->cpu.seeds = rvc_plane(columns, rows, RV_U8);
  p->cpu.score = rvc_plane(columns, rows, RV_U8);
  p->mask = rvc_plane(columns, rows, RV_U8);
  p->distance = rvc_plane(columns, rows, RV_F32);
  p->seeds = rvc_plane(columns, rows, RV_U8);
  p->score = rvc_plane(columns, rows, RV_U8);
  p->cpu.report = &p->cpu_report;
  const int made = rvc_upload(check, &p->cuda.mask, &p->mask) &&
                   rvc_upload(check, &p->cuda.distance, &p->distance) &&
                   rvc_upload(check, &p->cuda.seeds, &p->seeds) &&
                   rvc_upload(check, &p->cuda.score, &p->score) &&
                   rv_buffer_new(&report, sizeof(RvRoadReport), RV_CUDA) == RV_OK &&
                   rv_buffer_new(&p->cuda_surface, sizeof p->surface, RV_CUDA) == RV_OK &&
                   rv_road_new(&p->cpu.road, c, RV_CPU) == RV_OK &&
                   rv_road_new(&p->cuda.road, c, RV_CUDA) == RV_OK;
  p->cuda.report = report;
  return rvc_true(check, name, made, "%s: new failed", p->what);
}

static RvStatus run_side(const Side *s, int has_disparity, const RvGroundSurface *ground) {
  const RvRoadOutput output = {s->mask, s->distance, s->seeds, s->report, s->score};
  return rv_road_run_on(s->road, &s->color, has_disparity ? &s->disparity : NULL, ground, &output,
                        NULL);
}

/* Planes near that of the last fit, and others. */
static void make_surface(Pair *p, int frame) {
  const RvRoadReport *r = &p->cpu_report;
  p->surface = (RvGroundSurface){.slope_x = r->slope_x,
                                 .slope_y = r->slope_y * (frame % 2 ? 1.01 : 0.99),
                                 .intercept = r->intercept};
  if (frame % 9 == 8)
    p->surface.slope_y = -0.1;
}

static void print_report(const char *engine, const RvRoadReport *r) {
  fprintf(stderr,
          "  %s: samples %d seeds %d matched %d pending %d added %d iterations %d models %d road "
          "%d plane %.9g %.9g %.9g %.9g\n",
          engine, r->samples, r->seeds, r->samples_matched, r->samples_pending, r->models_added,
          r->iterations, r->models, r->road, r->slope_x, r->slope_y, r->intercept, r->height);
}

/* Both engines on the pair's frame; 0 when they differ. */
static int same_frame(RvCheck *check, const char *name, Pair *p, int frame, int has_disparity) {
  char what[260];
  snprintf(what, sizeof what, "frame %d of %s", frame, p->what);
  const int has_surface = frame % 3 == 2;
  make_surface(p, frame);
  const int ran =
      rvc_upload(check, &p->cuda.color, &p->cpu.color) &&
      rvc_upload(check, &p->cuda.disparity, &p->cpu.disparity) &&
      rv_copy_to_device(p->cuda_surface, &p->surface, sizeof p->surface, NULL) == RV_OK &&
      run_side(&p->cpu, has_disparity, has_surface ? &p->surface : NULL) == RV_OK &&
      run_side(&p->cuda, has_disparity, has_surface ? p->cuda_surface : NULL) == RV_OK &&
      rv_copy_to_host(&p->cuda_report, p->cuda.report, sizeof p->cuda_report, NULL) == RV_OK &&
      rvc_download(check, &p->mask, &p->cuda.mask) &&
      rvc_download(check, &p->distance, &p->cuda.distance) &&
      rvc_download(check, &p->seeds, &p->cuda.seeds) &&
      rvc_download(check, &p->score, &p->cuda.score);
  rvc_device_free(&p->cuda.color);
  rvc_device_free(&p->cuda.disparity);
  if (!rvc_true(check, name, ran, "%s: run failed", what))
    return 0;
  const int same_reports = memcmp(&p->cpu_report, &p->cuda_report, sizeof p->cpu_report) == 0;
  if (!rvc_true(check, name, same_reports, "%s: the reports differ", what)) {
    print_report("cpu ", &p->cpu_report);
    print_report("cuda", &p->cuda_report);
  }
  p->models += p->cpu_report.models_added;
  p->matched += p->cpu_report.samples_matched;
  p->several += p->cpu_report.models_added > 1;
  return rvc_same(check, name, &p->cpu.seeds, &p->seeds, what) &
         rvc_same(check, name, &p->cpu.score, &p->score, what) &
         rvc_same(check, name, &p->cpu.distance, &p->distance, what) &
         rvc_same(check, name, &p->cpu.mask, &p->mask, what) & same_reports;
}

/* Replaces a fraction of the pixels, in 1/256, by noise. */
static void add_noise(const Pair *p, RvRandom *random, int fraction) {
  const int pixels = p->config.width * p->config.height;
  for (int i = 0; i < pixels; i++) {
    const uint32_t r = rvc_next(random);
    if ((int)(r & 255) >= fraction)
      continue;
    ((uint32_t *)p->cpu.color.data)[i] = rvc_next(random);
    ((uint16_t *)p->cpu.disparity.data)[i] = (uint16_t)(r >> (16 + (r >> 8) % 8));
  }
}

/* The libraries and the pending samples, bit for bit. */
static void same_library(RvCheck *check, const char *name, const Pair *p) {
  const size_t capacity = rv_road_save_bytes(&p->config);
  uint8_t *cpu = malloc(2 * capacity), *cuda = cpu ? cpu + capacity : NULL;
  size_t cpu_size = 0, cuda_size = 0, at = 0;
  if (rvc_true(check, name,
               cpu && rv_road_save(p->cpu.road, cpu, capacity, &cpu_size, NULL) == RV_OK &&
                   rv_road_save(p->cuda.road, cuda, capacity, &cuda_size, NULL) == RV_OK,
               "%s: save failed", p->what)) {
    while (at < cpu_size && at < cuda_size && cpu[at] == cuda[at])
      at++;
    rvc_true(check, name, cpu_size == cuda_size && at == cpu_size,
             "%s: libraries of %zu and %zu bytes differ from byte %zu on", p->what, cpu_size,
             cuda_size, at);
  }
  free(cpu);
}

static void run_pair(RvCheck *check, const char *name, Pair *p, RvRandom *random, int frames) {
  int good = open_pair(check, name, p);
  for (int frame = 0; frame < frames && good; frame++) {
    rv_road_sequence_paint(&p->config, 3 * frame, p->cpu.color.data, p->cpu.disparity.data);
    if (frame > 2)
      add_noise(p, random, rvc_range(random, 0, frame % 3 ? 20 : 256));
    if (frame % 7 == 5)
      good = rvc_true(check, name,
                      rv_road_reset(p->cpu.road, NULL) == RV_OK &&
                          rv_road_reset(p->cuda.road, NULL) == RV_OK,
                      "reset failed");
    good = good && same_frame(check, name, p, frame, frame % 7 != 4);
  }
  if (good)
    same_library(check, name, p);
  close_pair(p);
}

static void random_shape(RvRoadConfig *c, RvRandom *random) {
  static const double width[] = {0, 0.8, 3, 3, 10}, height[] = {0, 0.01, 0.03, 0.03, 0.5};
  static const int smoothing[] = {0, 3, 5};
  c->near_width = width[rvc_range(random, 0, 4)];
  c->max_height = height[rvc_range(random, 0, 4)];
  c->ground_threshold_scale = rvc_range(random, 10, 40) / 10.0;
  c->smoothing = smoothing[rvc_range(random, 0, 2)];
  c->max_roughness = rvc_range(random, 0, 3) ? c->roughness * 4 : c->roughness / 2;
  c->max_roughness = c->max_roughness > 1 ? 1 : c->max_roughness;
  c->min_saturation = rvc_range(random, 0, 2) ? 0 : rvc_range(random, 0, 255);
  c->min_value = rvc_range(random, 0, 2) ? 0 : rvc_range(random, 0, 255);
}

/* Under a sanitizer: few cells and models, and noise as ground, so that there are seeds. */
static void make_small(RvRoadConfig *c) {
  c->bins = rv_min(c->bins, 8);
  c->library_size = rv_min(c->library_size, 9);
  c->initial_models = rv_min(c->initial_models, 2);
  c->new_models = rv_min(c->new_models, 2);
  c->roughness = c->max_roughness = 1;
  c->near_width = 10;
}

static RvRoadConfig random_config(RvCheck *check, RvRandom *random) {
  static const double update[] = {0.05, 0.5, 1, 1, 3, 1000}, classify[] = {0.02, 0.5, 4, 4, 20};
  static const int sizes[] = {2, 3, 5, 5, 8, 15}, bins[] = {2, 3, 8, 8, 11, 16};
  RvRoadConfig c;
  const int n = sizes[rvc_range(random, 0, 5)], is_small = rvc_small(check);
  const int minimum = is_small ? 80 / n : 1;
  const int columns = rvc_range(random, minimum, (is_small ? 105 : 600) / n);
  const int rows = rvc_range(random, minimum, (is_small ? 95 : 400) / n);
  rv_road_sequence_config(&c, columns * n + rvc_range(random, 0, n - 1),
                          rows * n + rvc_range(random, 0, n - 1));
  c.patch_size = n;
  c.bins = bins[rvc_range(random, 0, 5)];
  c.camera.doffs = rvc_range(random, 0, 3) ? 0 : rvc_range(random, -30, 30) / 10.0;
  c.equalize = rvc_range(random, 0, 3) != 0;
  c.roughness = rvc_range(random, 0, 3) ? 6e-4 : 1;
  c.library_size = rvc_range(random, 0, 2) ? rvc_range(random, 1, 8) : rvc_range(random, 1, 50);
  c.initial_models = rvc_range(random, 1, c.library_size);
  c.new_models = rvc_range(random, 1, rv_min(3, c.library_size));
  c.estimate_models = rvc_range(random, 0, 3) == 0;
  c.min_samples = rvc_range(random, 0, 2) ? rvc_range(random, 1, 40) : rvc_range(random, 1, 1000);
  c.update_threshold = update[rvc_range(random, 0, 5)];
  c.memory = rvc_range(random, 1, 200);
  c.min_share = rvc_range(random, 0, 1) ? 0.03 : rvc_range(random, 0, 10) / 10.0;
  c.merge_threshold = rvc_range(random, 0, 30) / 10.0;
  c.min_seeds = rvc_range(random, 0, 4) / 10.0;
  c.persistence = rvc_range(random, 0, 5);
  c.lateral_scale = rvc_range(random, 2, 8) / 2.0;
  c.classify_threshold = classify[rvc_range(random, 0, 4)];
  c.distance = (RvRoadDistance)rvc_range(random, 0, RV_ROAD_DISTANCES - 1);
  c.variance_floor = rvc_range(random, 0, 2) ? 1e-3 : 1e-5;
  random_shape(&c, random);
  if (rvc_small(check))
    make_small(&c);
  c.threads = 2;
  c.log = rvc_log(check);
  return c;
}

static void check_random(RvCheck *check, const char *name, RvRandom *random) {
  const int rounds = rvc_small(check) ? 2 : 60;
  int models = 0;
  for (int round = 0; round < rounds; round++) {
    Pair p = {.config = random_config(check, random)};
    run_pair(check, name, &p, random, rvc_small(check) ? 6 : 12);
    models += p.models;
  }
  rvc_true(check, name, rvc_small(check) || models > 0, "no models were added in %d rounds",
           rounds);
}

/* Each distance; all kinds of learning: one model, several at once, updates. */
static void check_distances(RvCheck *check, const char *name, RvRandom *random) {
  const int is_small = rvc_small(check);
  for (int d = 0; d < RV_ROAD_DISTANCES; d++) {
    const int several = !is_small || d == RV_ROAD_MAHALANOBIS;
    Pair p = {0};
    rv_road_sequence_config(&p.config, is_small ? 103 : 203, is_small ? 91 : 151);
    p.config.distance = (RvRoadDistance)d;
    p.config.classify_threshold = d == RV_ROAD_MAHALANOBIS ? 4 : 0.4;
    p.config.update_threshold = d % 2 ? 1 : 4;
    p.config.initial_models = several ? 2 : 1;
    p.config.roughness = 6e-4;
    p.config.max_roughness = 2.4e-3;
    p.config.log = rvc_log(check);
    run_pair(check, name, &p, random, is_small ? 2 : 3);
    rvc_true(check, name, p.models > several && (d % 2 || p.matched > 0) && p.several == several,
             "distance %d: %d models, %d matched, several at once in %d frames", d, p.models,
             p.matched, p.several);
  }
}

/* A quarter of a million patches. */
static void check_fine(RvCheck *check, const char *name, RvRandom *random) {
  Pair p = {0};
  rv_road_sequence_config(&p.config, 1280, 800);
  p.config.patch_size = 2;
  p.config.near_width = 10;
  p.config.roughness = p.config.max_roughness = 1e-3;
  p.config.log = rvc_log(check);
  run_pair(check, name, &p, random, 4);
}

/* The estimated number of models, of few and of many samples; often more than one. */
static void check_estimates(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < (rvc_small(check) ? 2 : 6); round++) {
    Pair p = {0};
    rv_road_sequence_config(&p.config, rvc_small(check) ? 83 : 203 + 80 * round,
                            rvc_small(check) ? 77 : 151);
    p.config.roughness = round % 2 ? 1 : 6e-4;
    p.config.max_roughness = 1;
    p.config.patch_size = round == 4 ? 3 : 5;
    p.config.bins = round == 5 ? 16 : 8;
    p.config.estimate_models = 1;
    p.config.library_size = 3 + 4 * round;
    p.config.min_samples = round == 3 ? 1 : 20;
    if (rvc_small(check)) { /* each merge of two of their samples lasts 0.1 s in a race check */
      p.config.near_width = 1.2;
      p.config.min_samples = 4;
    }
    p.config.log = rvc_log(check);
    run_pair(check, name, &p, random, rvc_small(check) ? 1 : 8);
    rvc_true(check, name, p.models > 0, "round %d: no models were added", round);
  }
}

/* The frames of the benchmark cases; they must match samples and add models. */
static void check_sequence(RvCheck *check, const char *name, int width, int height, int frames,
                           double update_threshold) {
  if (!rvc_wants(check, name) || rvc_small(check))
    return;
  Pair p = {0};
  rv_road_sequence_config(&p.config, width, height);
  p.config.update_threshold = update_threshold;
  p.config.log = rvc_log(check);
  int matched = 0, added = 0;
  int good = open_pair(check, name, &p);
  for (int frame = 0; frame < frames && good; frame++) {
    rv_road_sequence_paint(&p.config, frame, p.cpu.color.data, p.cpu.disparity.data);
    good = same_frame(check, name, &p, frame, 1);
    matched += p.cpu_report.samples_matched;
    added += p.cpu_report.models_added;
  }
  if (good)
    same_library(check, name, &p);
  rvc_true(check, name, !good || (added >= 2 && (update_threshold <= 1 || matched > 100 * frames)),
           "%d samples matched, %d models added", matched, added);
  close_pair(&p);
  rvc_ok(check, name);
}

static void check_sequences(RvCheck *check) {
  check_sequence(check, "road/cuda-sequence", 640, 480, RV_ROAD_SEQUENCE_FRAMES, 1);
  check_sequence(check, "road/cuda-large", 1920, 1080, 4, 4);
}

RVC_CASES(rv_road_parity_cases, RVC_CASE("road/cuda", check_random, RVC_ON_CUDA),
          RVC_CASE("road/cuda-distances", check_distances, RVC_ON_CUDA),
          RVC_CASE("road/cuda-clusters", check_estimates, RVC_ON_CUDA),
          RVC_CASE("road/cuda-fine", check_fine, RVC_LARGE | RVC_ON_CUDA),
          {.group = check_sequences, .flags = RVC_ON_CUDA});
