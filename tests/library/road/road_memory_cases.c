/* SPDX-License-Identifier: MIT */
/* road_memory_cases.c: what the library remembers: weights over frames, limits per effective
 * dimension, outliers, merged models, too few seeds, the mask over time. */
#include <math.h>
#include <string.h>

#include "road/road_cpu.h"
#include "road_inputs.h"
#include "road_reference.h"
#include "road_save_cases.h"

/* An object with a library of four models and other parameters as text; NULL after a failure. */
static RvRoadCpu *open_road(RvCheck *check, const char *name, const char *settings) {
  RvRoadConfig c;
  rv_road_config_init(&c);
  c.width = c.height = 10 * c.patch_size;
  c.camera = (RvCamera){.focal = 200, .cx = 25, .cy = 16, .baseline = 0.5};
  rvc_set(rv_road_params(), &c, "threads=2 library-size=4");
  rvc_set(rv_road_params(), &c, settings);
  return rv_road_bench_new(check, name, &c);
}

/* memory = 4: four samples of 25 px at distance 0.5 of model 0 (mean 24, variance 4, weight 0.25)
 * weigh 1/16 each: mean (0.25 * 24 + 0.25 * 25) / 0.5, variance (0.25 * 4 + 0.25 * 1) / 0.5. */
static void check_weights(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadCpu *w = open_road(check, name, "memory=4 merge-threshold=0");
  if (!w)
    return;
  const RvRoadModels *l = &w->library;
  rv_road_bench_two_models(w);
  rv_road_bench_seeds(w, 0, 4, 3, 25);
  rv_road_learn(w);
  rvc_true(check, name,
           rv_road_bench_about(l->mean[3], 24.5) && rv_road_bench_about(l->variance[3], 2.5) &&
               rv_road_bench_about(l->weight[0], 0.4) && rv_road_bench_about(l->weight[1], 0.6) &&
               w->report.samples_matched == 4,
           "mean %g variance %g weights %g %g", l->mean[3], l->variance[3], l->weight[0],
           l->weight[1]);
  /* 20 others make a model: weight 1/4 before the sum becomes 1. */
  rv_road_bench_seeds(w, 0, 20, 60, 25);
  rv_road_learn(w);
  rvc_true(check, name,
           l->count == 3 && rv_road_bench_about(l->weight[2], 0.2) &&
               rv_road_bench_about(l->weight[0], 0.32) && w->report.models_added == 1,
           "%d models, weights %g %g", l->count, l->weight[0], l->weight[2]);
  rv_road_bench_free(w);
}

/* Four cells vary: samples below a squared distance of 4 times the square of the threshold match.
 * Counts of 25 - k px in cell 0 and k in cell 1 about a mean of 25: k^2 (1/4 + 1/4). */
static void check_dimensions(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadCpu *w = open_road(check, name, "update-threshold=2 merge-threshold=0");
  if (!w)
    return;
  for (int k = 0; k < 10; k++) {
    w->library.count = 1;
    w->pending = 0;
    rv_road_bench_model(w, 0, 0, 25, 1, 4);
    rv_road_bench_seeds(w, 0, 3, 0, 25 - k);
    rv_road_learn(w);
    const int expected = k * k * 0.5 < 4 * 4 ? 3 : 0;
    rvc_true(check, name, w->report.samples_matched == expected, "%d px off: %d match, expected %d",
             k, w->report.samples_matched, expected);
  }
  rv_road_bench_free(w);
}

/* 25 of 100 samples are outliers for a share of 0.26, a model for one of 0.25. */
static void check_outliers(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < 2; round++) {
    RvRoadCpu *w = open_road(check, name, round ? "min-share=0.26" : "min-share=0.25");
    if (!w)
      return;
    w->library.count = 1;
    rv_road_bench_model(w, 0, 3, 25, 1, w->plan->cells);
    rv_road_bench_seeds(w, 0, 75, 3, 25);
    rv_road_bench_seeds(w, 75, 25, 50, 25);
    rv_road_learn(w);
    rvc_true(check, name,
             w->report.models_added == !round && w->report.samples_pending == 0 &&
                 w->report.samples_matched == 75 && w->library.count == 2 - round,
             "share %g: %d added, %d pending, %d matched", w->plan->config.min_share,
             w->report.models_added, w->report.samples_pending, w->report.samples_matched);
    rv_road_bench_free(w);
  }
}

/* Random libraries of up to four models against the reference: which pair, and what it becomes. */
static void check_merging(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadCpu *w = open_road(check, name, "update-threshold=0.001 variance-floor=0.0008");
  if (!w)
    return;
  int merged = 0;
  for (int round = 0; round < 300; round++) {
    enum { CELLS = 64, MODELS = 4 };
    double mean[MODELS * CELLS], variance[MODELS * CELLS], weight[MODELS], sum = 0;
    const int models = rvc_range(random, 1, MODELS);
    for (int j = 0; j < models; j++) {
      weight[j] = rvc_range(random, 1, 100);
      sum += weight[j];
      for (int i = 0; i < CELLS; i++) {
        mean[j * CELLS + i] = rvc_range(random, 0, 4) ? 0 : rvc_range(random, 0, 2) * 0.5;
        variance[j * CELLS + i] = 0.5 * (1 << rvc_range(random, 0, 3));
      }
    }
    for (int j = 0; j < models; j++)
      weight[j] /= sum;
    memcpy(w->library.mean, mean, sizeof mean);
    memcpy(w->library.variance, variance, sizeof variance);
    memcpy(w->library.weight, weight, sizeof weight);
    w->library.count = models;
    w->pending = 0;
    rv_road_bench_seeds(w, 0, 1, 60, 25); /* far from all: pending */
    rv_road_learn(w);
    const int expected = rv_road_reference_merge(mean, variance, weight, models, CELLS, 0.5,
                                                 w->plan->config.merge_threshold);
    double worst = 0;
    for (int i = 0; i < expected * CELLS; i++)
      worst = fmax(worst, fmax(fabs(mean[i] - w->library.mean[i]),
                               fabs(variance[i] - w->library.variance[i])));
    for (int j = 0; j < expected; j++)
      worst = fmax(worst, fabs(weight[j] - w->library.weight[j]));
    merged += expected < models;
    rvc_true(check, name, w->library.count == expected && worst < 1e-9,
             "round %d: %d of %d models remain, expected %d; largest difference %g", round,
             w->library.count, models, expected, worst);
  }
  rvc_true(check, name, merged > 20, "merged in %d of 300 rounds", merged);
  rv_road_bench_free(w);
}

static void check_rules(RvCheck *check, const char *name, RvRandom *random) {
  rvc_true(check, name,
           rv_road_has_seeds(10, 100, 0.1) && !rv_road_has_seeds(9, 100, 0.1) &&
               rv_road_has_seeds(1, 1000, 0) && !rv_road_has_seeds(0, 0, 0),
           "seeds of a strip: wrong limit");
  /* persistence 0: the frame; 1: half of each frame before, so that one frame does not end what
   * lasted for several. */
  rvc_true(check, name,
           rv_road_persist(255, 0, 256) == 1 && rv_road_persist(1, 1, 256) == 255 &&
               rv_road_persist(0, 1, 64) == 255 && rv_road_persist(0, 0, 64) == 1,
           "one frame alone: %d %d %d %d", rv_road_persist(255, 0, 256), rv_road_persist(1, 1, 256),
           rv_road_persist(0, 1, 64), rv_road_persist(0, 0, 64));
  int low = 1, high = 255, frames = 0;
  for (; frames < 100 && (low < 128 || high >= 128); frames++) {
    low = low < 128 ? rv_road_persist(low, 1, 64) : low;
    high = high >= 128 ? rv_road_persist(high, 0, 64) : high;
  }
  rvc_true(check, name, frames == 3, "persistence 3 changes its mind after %d frames", frames);
  for (int k = 0, v = 1; k < 2000; k++) {
    v = rv_road_persist(v, k % 7 < 3, 1 + k % 256);
    rvc_true(check, name, v >= 1 && v <= 255, "frame %d: %d", k, v);
  }
}

/* Disparity v - 16 px, 0.25 m per strip. Row 7 is at v = 37: 21 px. */
static void check_strips(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadConfig c;
  rv_road_config_init(&c);
  c.camera = (RvCamera){.focal = 200, .cx = 25, .cy = 16, .baseline = 0.5};
  const RvRoadPlane plane = {.b = 1, .c = -16, .height = 1};
  const int right = rv_road_strip_of(&c, &plane, 9, 7), left = rv_road_strip_of(&c, &plane, 0, 7);
  rvc_true(check, name, right == 34 && left == 29, "0.52 m right, 0.55 m left: strips %d, %d",
           right, left);
  const uint64_t both = 1 | (uint64_t)1 << 32;
  rvc_true(check, name,
           rv_road_strip_vote(&c, &plane, 9, 7, 26214, 65536, 0) == both &&
               rv_road_strip_vote(&c, &plane, 9, 7, 26215, 65536, 0) == 1 &&
               rv_road_strip_vote(&c, &plane, 9, 7, 65535, 65536, 1) == both &&
               rv_road_strip_vote(&c, &plane, 9, 7, 0, 0, 0) == 0 &&
               rv_road_strip_vote(&c, &plane, 9, 4, 0, 65536, 0) == 0,
           "votes of road, another color, a seed, a wall, 17 m ahead");
  rvc_true(check, name,
           rv_road_strip_of(&c, &plane, 9, 4) == 39 && rv_road_strip_of(&c, &plane, 9, 3) == -1,
           "1.8 m right, above the horizon");
  c.lateral_scale = 1;
  rvc_true(check, name, rv_road_strip_of(&c, &plane, 9, 7) == -1, "not off");
  RvRoadStrip strip = rv_road_strip_next((RvRoadStrip){0, 0}, 10 | (uint64_t)4 << 32);
  rvc_true(check, name, strip.seen == 2560 && strip.road == 1024, "first frame: %u of %u",
           strip.road, strip.seen);
  strip = rv_road_strip_next(strip, 2 | (uint64_t)2 << 32);
  strip = rv_road_strip_next(strip, 0);
  rvc_true(check, name, strip.seen == 2304 && strip.road == 960, "next ones: %u of %u", strip.road,
           strip.seen);
}

/* 16 patches on one strip, of which 0, 4, 8, 12 and 16 are road: 1/4, 5/8, 1, 5/2, 4. */
static void check_strip_scales(RvCheck *check, const char *name, RvRandom *random) {
  static const uint32_t wanted[] = {64, 160, 256, 640, 1024};
  for (int k = 0; k <= 4; k++) {
    RvRoadStrip strips[RV_ROAD_STRIPS] = {{0, 0}};
    strips[30] = (RvRoadStrip){4096, 1024 * (uint32_t)k};
    const uint32_t own = rv_road_strip_scale(strips, 30, 2);
    rvc_true(check, name,
             own == wanted[k] && rv_road_strip_scale(strips, 32, 2) == own &&
                 rv_road_strip_scale(strips, 28, 2) == own &&
                 rv_road_strip_scale(strips, 33, 2) == 256 &&
                 rv_road_strip_scale(strips, 27, 2) == 256 &&
                 rv_road_strip_budget(100, own) == 100 * wanted[k] / 256,
             "%d of 4: %u, expected %u", k, own, wanted[k]);
    strips[30].seen = 4095;
    rvc_true(check, name, rv_road_strip_scale(strips, 30, 2) == 256, "too little was seen");
  }
}

RVC_CASES(rv_road_memory_cases, RVC_CASE("road/memory", check_weights, 0),
          RVC_CASE("road/dimensions", check_dimensions, 0),
          RVC_CASE("road/outliers", check_outliers, 0), RVC_CASE("road/merging", check_merging, 0),
          RVC_CASE("road/memory-rules", check_rules, 0), RVC_CASE("road/strips", check_strips, 0),
          RVC_CASE("road/strip-scales", check_strip_scales, 0));
