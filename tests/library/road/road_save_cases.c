/* SPDX-License-Identifier: MIT */
/* road_save_cases.c: models saved and loaded, within an engine and across engines; parameters
 * changed between frames. The bytes: road_library_cases.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "road/road_inputs.h"
#include "road/road_save_cases.h"

/* Both objects on the next frames: identical results. The first one has seeds: where the road was
 * is not saved. */
static void same_future(const RvRoadInputs *d, RvRoad *a, RvRoad *b, const char *what) {
  RvRoadResult of_a, of_b;
  if (!a || !b)
    return;
  rv_road_result_open(&a->plan.config, &of_a);
  rv_road_result_open(&b->plan.config, &of_b);
  for (int k = rvc_small(d->check); k < (rvc_small(d->check) ? 2 : 4); k++) {
    rv_road_inputs_paint(d, 40 + 3 * k);
    rv_road_inputs_run(d, a, k != 2, &of_a);
    rv_road_inputs_run(d, b, k != 2, &of_b);
    rv_road_result_same(d, &of_a, &of_b, what);
  }
  rv_road_result_close(&of_a);
  rv_road_result_close(&of_b);
}

/* --- Round trips ------------------------------------------------------------------------------ */

/* Of the first frame. */
static int seeds_of(const RvRoadInputs *d) {
  RvRoad *road = rv_road_inputs_new(d, &d->config, RV_CPU);
  RvRoadResult r;
  rv_road_result_open(&d->config, &r);
  rv_road_inputs_paint(d, 0);
  rv_road_inputs_run(d, road, 1, &r);
  rv_road_free(&road);
  rv_road_result_close(&r);
  return r.report.seeds;
}

/* A library and pending samples, from one engine to another; then both give the same results. */
static void round_trip(const RvRoadInputs *d, RvEngine from, RvEngine to, const char *what) {
  RvRoadConfig c = d->config;
  c.min_samples = seeds_of(d) * 4 / 3; /* more than in one frame: some are pending */
  c.initial_models = rvc_small(d->check) ? 1 : 3;
  c.new_models = rvc_small(d->check) ? 1 : 2;
  RvRoad *one = rv_road_inputs_new(d, &c, from), *two = rv_road_inputs_new(d, &c, to);
  if (one && two) {
    int has_both = 0;
    for (int frame = 0; frame < 12 && !has_both; frame++) {
      RvRoadResult r;
      rv_road_result_open(&c, &r);
      rv_road_inputs_paint(d, frame);
      rv_road_inputs_run(d, one, 1, &r);
      has_both = r.report.models > 0 && r.report.samples_pending > 0;
      rv_road_result_close(&r);
    }
    rvc_true(d->check, d->name, has_both, "%s: no models or no pending samples", what);
    RvRoadSaved s = rv_road_inputs_save(d, one);
    rvc_true(d->check, d->name, rv_road_load(two, s.bytes, s.size, NULL) == RV_OK,
             "%s: load failed", what);
    rv_road_inputs_same(d, two, &s, what);
    same_future(d, one, two, what);
    rvc_true(d->check, d->name,
             rv_road_reset(two, NULL) == RV_OK && rv_road_load(two, s.bytes, s.size, NULL) == RV_OK,
             "%s: load after reset failed", what);
    rv_road_inputs_same(d, two, &s, what);
    free(s.bytes);
  }
  rv_road_free(&one);
  rv_road_free(&two);
}

static void check_round_trip(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadInputs d;
  rv_road_inputs_open(check, name, &d, rvc_small(check) ? 103 : 203, rvc_small(check) ? 91 : 151);
  const int step = rvc_small(check) ? RV_ROAD_DISTANCES : 1;
  for (int distance = 0; distance < RV_ROAD_DISTANCES; distance += step) {
    d.config.distance = (RvRoadDistance)distance;
    d.config.classify_threshold = distance == RV_ROAD_MAHALANOBIS ? 4 : 0.4;
    round_trip(&d, RV_CPU, RV_CPU, "cpu to cpu");
    if (!rvc_cuda(check))
      continue;
    if (!rvc_small(check))
      round_trip(&d, RV_CUDA, RV_CUDA, "cuda to cuda");
    round_trip(&d, RV_CPU, RV_CUDA, "cpu to cuda");
    round_trip(&d, RV_CUDA, RV_CPU, "cuda to cpu");
  }
  rv_road_inputs_close(&d);
}

/* The first frame after load is classified with it, without training patches. */
static void check_first_frame(RvCheck *check, RvEngine engine) {
  const char *name = "road/save-first";
  RvRoadInputs d;
  if (!rvc_wants(check, name))
    return;
  const int is_small = rvc_small(check);
  rv_road_inputs_open(check, name, &d, is_small ? 103 : 203, is_small ? 91 : 151);
  d.config.initial_models = is_small ? 1 : 2;
  RvRoad *one = rv_road_inputs_new(&d, &d.config, engine),
         *two = rv_road_inputs_new(&d, &d.config, engine);
  if (one && two) {
    RvRoadResult blind, loaded;
    rv_road_result_open(&d.config, &blind);
    rv_road_result_open(&d.config, &loaded);
    rv_road_inputs_frames(&d, one, 0, 3);
    RvRoadSaved s = rv_road_inputs_save(&d, one);
    rv_road_inputs_paint(&d, 4);
    rv_road_inputs_run(&d, two, 0, &blind);
    rvc_true(check, name, rv_road_load(two, s.bytes, s.size, NULL) == RV_OK, "load failed");
    rv_road_inputs_run(&d, two, 0, &loaded);
    rvc_true(check, name,
             blind.report.road == 0 && loaded.report.seeds == 0 &&
                 loaded.report.road > (is_small ? 0 : 100),
             "without disparity: %d road before load, %d after", blind.report.road,
             loaded.report.road);
    rvc_true(check, name,
             rv_road_reset(one, NULL) == RV_OK && rv_road_load(one, s.bytes, s.size, NULL) == RV_OK,
             "load after reset failed");
    rv_road_inputs_run(&d, one, 0, &blind);
    rv_road_result_same(&d, &blind, &loaded, "first frame after load");
    free(s.bytes);
    rv_road_result_close(&blind);
    rv_road_result_close(&loaded);
  }
  rv_road_free(&one);
  rv_road_free(&two);
  rv_road_inputs_close(&d);
  rvc_ok(check, name);
}

static void check_file(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadInputs d;
  char folder[] = "/tmp/rv-road-XXXXXX", path[64], missing[64];
  if (!rvc_true(check, name, mkdtemp(folder) != NULL, "no folder to write to"))
    return;
  snprintf(path, sizeof path, "%s/library", folder);
  snprintf(missing, sizeof missing, "%s/none/library", folder);
  rv_road_inputs_open(check, name, &d, 103, 91);
  RvRoad *one = rv_road_inputs_new(&d, &d.config, RV_CPU),
         *two = rv_road_inputs_new(&d, &d.config, RV_CPU);
  if (one && two) {
    rv_road_inputs_frames(&d, one, 0, 1);
    const RvStatus saved = rv_road_save_file(one, path, NULL);
    const RvStatus again = rv_road_save_file(one, path, NULL);
    const RvStatus loaded = rv_road_load_file(two, path, NULL);
    rvc_true(check, name, saved == RV_OK && again == RV_OK && loaded == RV_OK,
             "save %d, over it %d, load %d", saved, again, loaded);
    RvRoadSaved s = rv_road_inputs_save(&d, one);
    rv_road_inputs_same(&d, two, &s, "through a file");
    free(s.bytes);
    rvc_true(check, name,
             rv_road_load_file(two, missing, NULL) == RV_ERR_IO &&
                 rv_road_save_file(two, missing, NULL) == RV_ERR_IO &&
                 rv_road_load_file(two, folder, NULL) == RV_ERR_IO &&
                 rv_road_load_file(two, "", NULL) == RV_ERR_ARG &&
                 rv_road_save_file(two, NULL, NULL) == RV_ERR_ARG,
             "missing or invalid files were accepted");
  }
  remove(path);
  rvc_true(check, name, rmdir(folder) == 0, "something is left in %s", folder);
  rv_road_free(&one);
  rv_road_free(&two);
  rv_road_inputs_close(&d);
}

/* --- Change of parameters -------------------------------------------------------------------- */

/* Changes one parameter; 0 past the last. */
static int change(RvRoadConfig *c, int which) {
  switch (which) {
  case 0:
    return c->update_threshold = 3, 1;
  case 1:
    return c->classify_threshold = 6, 1;
  case 2:
    return c->roughness = 3e-4, 1;
  case 3:
    return c->near_range = 7, c->near_width = 2, c->max_height = 0.1, 1;
  case 4:
    return c->ground_threshold_scale = 1, c->smoothing = 0, c->min_value = 20, 1;
  case 5:
    return c->camera.focal *= 1.1, c->camera.cx += 3, c->disparity_noise = 0.2, 1;
  case 6:
    return c->distance = RV_ROAD_HELLINGER, c->classify_threshold = 0.5, 1;
  case 7:
    return c->library_size = 2, 1;
  case 8:
    return c->library_size = 20, c->new_models = 3, 1;
  case 9:
    return c->patch_size = 4, 1;
  case 10:
    return c->min_samples = 5, c->variance_floor = 0.01, 1;
  case 11:
    return c->equalize = 0, c->threads = 1, 1;
  case 12:
    return c->camera.doffs = 0.5, 1;
  case 13:
    return c->max_height = 0, c->min_saturation = 30, c->max_roughness = 1, 1;
  default:
    return 0;
  }
}

/* After a change of parameters an object gives the same results as a new one with these parameters
 * that has loaded the saved library. */
static void check_flight(RvCheck *check, RvEngine engine, const char *name) {
  if (!rvc_wants(check, name))
    return;
  RvRoadInputs d;
  rv_road_inputs_open(check, name, &d, 103, 91);
  d.config.min_samples = 150;
  d.config.initial_models = rvc_small(check) ? 1 : 2;
  for (int which = 0;; which++) {
    RvRoadConfig c = d.config;
    char what[60];
    if (!change(&c, which))
      break;
    if (rvc_small(check) && engine == RV_CUDA && which != 6 && which != 9)
      continue; /* keeps: other tables, and other patches */
    snprintf(what, sizeof what, "change %d", which);
    RvRoad *road = rv_road_inputs_new(&d, &d.config, engine),
           *other = rv_road_inputs_new(&d, &c, engine);
    if (road && other) {
      rv_road_inputs_frames(&d, road, 0, rvc_small(check) ? 1 : 4);
      RvRoadSaved s = rv_road_inputs_save(&d, road);
      rvc_true(check, name,
               rv_road_set_config(road, &c, NULL) == RV_OK &&
                   rv_road_load(other, s.bytes, s.size, NULL) == RV_OK,
               "%s: failed", what);
      same_future(&d, road, other, what);
      free(s.bytes);
    }
    rv_road_free(&road);
    rv_road_free(&other);
  }
  rv_road_inputs_close(&d);
  rvc_ok(check, name);
}

/* Another frame size keeps the library, other bins clear it, invalid parameters change nothing. */
static void check_flight_rules(RvCheck *check, RvEngine engine, const char *name) {
  if (!rvc_wants(check, name))
    return;
  RvRoadInputs d, large;
  rv_road_inputs_open(check, name, &d, 103, 91);
  rv_road_inputs_open(check, name, &large, 151, 113);
  d.config.initial_models = large.config.initial_models = rvc_small(check) ? 1 : 2;
  RvRoad *road = rv_road_inputs_new(&d, &d.config, engine);
  if (road) {
    rv_road_inputs_frames(&d, road, 0, rvc_small(check) ? 0 : 2);
    RvRoadSaved before = rv_road_inputs_save(&d, road);
    RvRoadConfig bad = d.config;
    bad.roughness = NAN;
    rvc_true(check, name,
             rv_road_set_config(road, &bad, NULL) == RV_ERR_ARG &&
                 rv_road_set_config(road, NULL, NULL) == RV_ERR_ARG &&
                 rv_road_set_config(NULL, &d.config, NULL) == RV_ERR_ARG &&
                 road->plan.config.roughness == d.config.roughness,
             "invalid parameters were accepted");
    rv_road_inputs_same(&d, road, &before, "invalid parameters");
    rvc_true(check, name, rv_road_set_config(road, &large.config, NULL) == RV_OK, "other size");
    rv_road_inputs_same(&large, road, &before, "other size");
    rv_road_inputs_frames(&large, road, 3, rvc_small(check) ? 3 : 4);
    large.config.bins = 4;
    RvRoadResult r;
    rv_road_result_open(&large.config, &r);
    rvc_true(check, name, rv_road_set_config(road, &large.config, NULL) == RV_OK, "other bins");
    rv_road_inputs_paint(&large, 5);
    rv_road_inputs_run(&large, road, 0, &r);
    rvc_true(check, name, r.report.models == 0 && r.report.samples_pending == 0,
             "other bins: %d models, %d pending", r.report.models, r.report.samples_pending);
    rv_road_result_close(&r);
    free(before.bytes);
  }
  rv_road_free(&road);
  rv_road_inputs_close(&d);
  rv_road_inputs_close(&large);
  rvc_ok(check, name);
}

static void check_engines(RvCheck *check) {
  check_first_frame(check, RV_CPU);
  check_flight(check, RV_CPU, "road/flight");
  check_flight_rules(check, RV_CPU, "road/flight-rules");
  if (!rvc_cuda(check))
    return;
  check_first_frame(check, RV_CUDA);
  check_flight(check, RV_CUDA, "road/cuda-flight");
  check_flight_rules(check, RV_CUDA, "road/cuda-flight-rules");
}

RVC_CASES(rv_road_save_cases, RVC_CASE("road/save", check_round_trip, 0),
          RVC_CASE("road/save-file", check_file, 0), {.group = rv_road_library_cases},
          {.group = check_engines});
