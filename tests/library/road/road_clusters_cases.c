/* SPDX-License-Identifier: MIT */
/* road_clusters_cases.c: the estimated number of models: hand-computed values, the naive reference
 * implementation, and inputs without clusters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_inputs.h"
#include "road/road_parity_cases.h"
#include "road/road_reference.h"
#include "road/road_sequence_inputs.h"

#define SAMPLES_MAX 900

static RvRoadCpu *open_bench(RvCheck *check, const char *name, int bins, int patch) {
  RvRoadConfig c;
  rv_road_sequence_config(&c, 32 * patch, 32 * patch);
  c.patch_size = patch;
  c.bins = bins;
  c.library_size = 50;
  c.estimate_models = 1;
  c.min_samples = 1;
  return rv_road_bench_new(check, name, &c);
}

/* The rows of features[] are the unmatched samples, their keys 0, 1, ... */
static int estimate(RvRoadCpu *w, int samples) {
  for (int i = 0; i < samples; i++) {
    w->rest[i] = i;
    w->key[i] = (uint32_t)i;
  }
  return rv_road_clusters(w, samples);
}

/* Points on a line: x of 25 px in one cell, the others in the next. */
static void set_line(RvRoadCpu *w, const int *x, int samples) {
  memset(w->features, 0, (size_t)samples * (size_t)w->plan->cells);
  for (int i = 0; i < samples; i++) {
    w->features[i * w->plan->cells] = (uint8_t)x[i];
    w->features[i * w->plan->cells + 1] = (uint8_t)(25 - x[i]);
  }
}

/* 0, 1, 10, 11, 25, distances times 2^0.5. {0 1} and {10 11} are merged first, then these two
 * (mean 10; to 25 it is 14.5). All pairs: 4052 / 5 = 810.4 about the mean; within clusters 1, 2,
 * 202. Pseudo-F of 4 clusters 809.4 / 3 = 269.8, of three 808.4 / 2 / (2 / 2) = 404.2, of two
 * 608.4 / (202 / 3) = 9.04. */
static void check_hand(RvCheck *check, const char *name, RvRandom *random) {
  static const int line[] = {0, 1, 10, 11, 25}, same[] = {7, 7, 7, 7, 7}, pairs[] = {3, 9, 3, 9, 9};
  RvRoadCpu *w = open_bench(check, name, 2, 5);
  if (!w)
    return;
  set_line(w, line, 5);
  const double f = rv_road_pseudo_f(810.4, 2, 5, 3);
  const int three = estimate(w, 5);
  rv_road_bench_config(w)->min_samples = 2;
  const int large = estimate(w, 5); /* {25} represents too few */
  rv_road_bench_config(w)->min_samples = 1;
  rv_road_bench_config(w)->library_size = 2;
  const int limited = estimate(w, 5);
  rv_road_bench_config(w)->library_size = 1;
  const int one = estimate(w, 5);
  rv_road_bench_config(w)->library_size = 50;
  set_line(w, same, 5);
  const int equal = estimate(w, 5);
  set_line(w, pairs, 5); /* both clusters without any spread */
  const int two = estimate(w, 5);
  const int few = estimate(w, 2), single = estimate(w, 1);
  rvc_true(check, name,
           fabs(f - 404.2) < 1e-9 && three == 3 && large == 2 && limited == 2 && one == 1 &&
               equal == 1 && two == 2 && few == 1 && single == 1,
           "F %g, models %d %d %d %d %d %d %d %d; expected 404.2, 3 2 2 1 1 2 1 1", f, three, large,
           limited, one, equal, two, few, single);
  /* 62 equal samples and one outlier: a fraction below 1/32 is not a model. */
  int samples[63] = {0};
  samples[20] = 25;
  set_line(w, samples, 63);
  const int outlier = estimate(w, 63);
  rvc_true(check, name, outlier == 1, "one outlier of 63 samples: %d models", outlier);
  rv_road_bench_free(w);
}

/* Samples around some centers, each px drawn from a few cells. */
static void fill(RvRoadCpu *w, RvRandom *random, int samples, int centers, int spread) {
  memset(w->features, 0, (size_t)samples * (size_t)w->plan->cells);
  for (int i = 0; i < samples; i++) {
    uint8_t *row = w->features + (size_t)i * (size_t)w->plan->cells;
    const int center = rvc_range(random, 0, centers - 1) * 5;
    for (int px = 0; px < w->plan->area; px++)
      row[(center + rvc_range(random, 0, spread)) % w->plan->cells]++;
  }
}

/* The rule of the buckets as specified, then the reference implementation. */
static int reference(const RvRoadCpu *w, int samples) {
  uint8_t *rows = malloc((size_t)RV_ROAD_EXEMPLARS * (size_t)w->plan->cells);
  int count = 0;
  if (!rows)
    abort();
  for (uint32_t bucket = 0; bucket < RV_ROAD_EXEMPLARS; bucket++)
    for (int i = 0; i < samples; i++)
      if (((uint64_t)i * 0x9e3779b1u % 4294967296u) / 33554432u == bucket) {
        memcpy(rows + count++ * w->plan->cells, w->features + (size_t)i * (size_t)w->plan->cells,
               (size_t)w->plan->cells);
        break;
      }
  const int models =
      rv_road_reference_clusters(rows, count, w->plan->cells, w->plan->config.library_size, samples,
                                 w->plan->config.min_samples);
  free(rows);
  return models;
}

static void check_reference(RvCheck *check, const char *name, RvRandom *random) {
  static const int shapes[][2] = {{2, 5}, {8, 5}, {16, 3}, {8, 15}};
  int seen = 0; /* numbers of models, a bit each */
  for (int round = 0; round < (rvc_small(check) ? 8 : 40); round++) {
    const int *shape = shapes[round % 4];
    RvRoadCpu *w = open_bench(check, name, shape[0], shape[1]);
    if (!w)
      return;
    const int samples = rvc_range(random, 1, rvc_small(check) ? 90 : SAMPLES_MAX);
    const int centers = rvc_range(random, 1, 6);
    rv_road_bench_config(w)->min_samples = rvc_range(random, 1, 40);
    rv_road_bench_config(w)->library_size = rvc_range(random, 1, 12);
    fill(w, random, samples, centers, rvc_range(random, 0, 4));
    const int got = estimate(w, samples), wanted = reference(w, samples);
    rvc_true(check, name, got == wanted, "%d samples around %d centers: %d models, expected %d",
             samples, centers, got, wanted);
    seen |= 1 << (got < 20 ? got : 20);
    rv_road_bench_free(w);
  }
  rvc_true(check, name, rvc_small(check) || ((seen & 2) && (seen & ~7)),
           "only %x models were found", (unsigned)seen);
}

/* Well separated kinds of samples are counted exactly. */
static void check_kinds(RvCheck *check, const char *name, RvRandom *random) {
  for (int kinds = 2; kinds <= 6; kinds++) {
    RvRoadCpu *w = open_bench(check, name, 8, 5);
    if (!w)
      return;
    const int samples = SAMPLES_MAX;
    fill(w, random, samples, kinds, 4); /* five cells each: see docs/notes/road.md */
    rv_road_bench_config(w)->min_samples = 20;
    const int got = estimate(w, samples);
    rvc_true(check, name, got == kinds, "%d kinds of samples: %d models", kinds, got);
    rv_road_bench_free(w);
  }
}

RVC_CASES(rv_road_clusters_cases, RVC_CASE("road/clusters", check_hand, 0),
          RVC_CASE("road/clusters-reference", check_reference, 0),
          RVC_CASE("road/clusters-kinds", check_kinds, 0));
