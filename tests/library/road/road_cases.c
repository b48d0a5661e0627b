/* SPDX-License-Identifier: MIT */
/* road_cases.c: the scalar rules of road detection compared with hand-computed values and the
 * reference implementation, and each stage of the CPU engine with the reference implementation.
 * Complete frames: road_frame_cases.c; CPU = CUDA: road_parity_cases.c. */
#include <math.h>
#include <stdlib.h>

#include "road/road_frame_cases.h"
#include "road/road_inputs.h"
#include "road/road_parity_cases.h"
#include "road/road_reference.h"
#include "road/road_save_cases.h"

static RvRoadConfig small_config(int columns, int rows) {
  RvRoadConfig c;
  rv_road_config_init(&c);
  c.width = columns * c.patch_size;
  c.height = rows * c.patch_size;
  c.camera = (RvCamera){.focal = 200, .cx = c.width / 2.0, .cy = c.height / 3.0, .baseline = 0.5};
  c.threads = 2;
  return c;
}

/* --- Color ---------------------------------------------------------------------------------- */

static void check_color(RvCheck *check, const char *name, RvRandom *random) {
  static const int hand[][5] = {
      /* R G B, hue, saturation */
      {255, 0, 0, 0, 255}, {0, 255, 0, 60, 255},    {0, 0, 255, 120, 255},  {0, 0, 0, 0, 0},
      {77, 77, 77, 0, 0},  {200, 100, 100, 0, 128}, {255, 0, 128, 165, 255}};
  for (size_t i = 0; i < sizeof hand / sizeof *hand; i++) {
    const int *h = hand[i], hue = rv_road_hue(h[0], h[1], h[2]);
    const int saturation = rv_road_saturation(h[0], h[1], h[2]);
    rvc_true(check, name, hue == h[3] && saturation == h[4], "%d %d %d: hue %d, saturation %d",
             h[0], h[1], h[2], hue, saturation);
  }
  int wrong = 0;
  for (int bins = RV_ROAD_BINS_MIN; bins <= RV_ROAD_BINS_MAX; bins += 7)
    for (int c = 0; c < 1 << 24; c += 61) {
      const int r = c & 255, g = c >> 8 & 255, b = c >> 16;
      wrong += rv_road_cell(r, g, b, bins, 0, 0) != rv_road_reference_cell(r, g, b, bins);
    }
  rvc_true(check, name, wrong == 0, "%d colors are in another cell than by hue in double", wrong);
  /* {200, 100, 100}: saturation 128, value 200, hue 0; {0, 0, 90}: 255, 90, hue 120. */
  const int blue = rv_road_cell(0, 0, 90, 8, 0, 0), achromatic = rv_road_cell(0, 0, 90, 8, 0, 91);
  rvc_true(check, name,
           blue == 120 * 8 / 181 * 8 + 7 && achromatic == 7 &&
               blue == rv_road_cell(0, 0, 90, 8, 255, 90) &&
               rv_road_cell(100, 110, 120, 8, 60, 0) == 1,
           "limits of saturation and value: cells %d, %d", blue, achromatic);
  /* 2 px of value 10, one of 20, one of 30: 0, 127.5 rounded up, 255. */
  const int equal[] = {rv_road_equalized(2, 2, 4, 10), rv_road_equalized(3, 2, 4, 20),
                       rv_road_equalized(4, 2, 4, 30), rv_road_equalized(9, 9, 9, 42)};
  rvc_true(check, name, equal[0] == 0 && equal[1] == 128 && equal[2] == 255 && equal[3] == 42,
           "equalized: %d %d %d %d, expected 0 128 255 42", equal[0], equal[1], equal[2], equal[3]);
}

static void check_log(RvCheck *check, const char *name, RvRandom *random) {
  for (int i = 0; i < 100000; i++) {
    const double v = ldexp(1 + rvc_next(random) / 4294967296.0, rvc_range(random, -60, 60));
    const double error = fabs(rv_road_log(v) - log(v));
    if (!rvc_true(check, name, error <= 1e-9, "log %g is off by %g", v, error))
      return;
  }
}

/* --- Components ------------------------------------------------------------------------------ */

static int reference_largest(const uint8_t *set, int columns, int rows, uint8_t *reached) {
  int largest = -1, maximum = 0;
  memset(reached, 0, (size_t)columns * (size_t)rows);
  for (int i = 0; i < columns * rows; i++) {
    const int size =
        set[i] && !reached[i] ? rv_road_reference_flood(set, columns, rows, i, reached) : 0;
    if (size > maximum) {
      maximum = size;
      largest = i;
    }
  }
  return largest;
}

static void check_components(RvCheck *check, const char *name, RvRandom *random) {
  enum { COLUMNS = 37, ROWS = 23, ALL = COLUMNS * ROWS };
  const RvRoadConfig c = small_config(COLUMNS, ROWS);
  RvRoadCpu *w = rv_road_bench_new(check, name, &c);
  if (!w)
    return;
  for (int round = 0; round < 200; round++) {
    uint8_t set[ALL], reached[ALL], one[ALL];
    for (int i = 0; i < ALL; i++)
      set[i] = rvc_range(random, 0, 199) < round;
    rv_road_components(w, set);
    const int largest = rv_road_largest(w),
              reference = reference_largest(set, COLUMNS, ROWS, reached);
    if (!rvc_true(check, name, largest == reference, "round %d: largest %d, expected %d", round,
                  largest, reference))
      break;
    memset(one, 0, sizeof one);
    const int size = largest < 0 ? 0 : rv_road_reference_flood(set, COLUMNS, ROWS, largest, one);
    int wrong = 0;
    for (int i = 0; i < ALL; i++)
      wrong += one[i] != (largest >= 0 && w->parent[i] == largest);
    if (!rvc_true(check, name, wrong == 0 && (largest < 0 || w->size[largest] == size),
                  "round %d: %d patches of the largest component differ", round, wrong))
      break;
  }
  rv_road_bench_free(w);
}

/* Majority filter: more than half of the window inside the frame; and the median of the scores. */
static void check_smoothing(RvCheck *check, const char *name, RvRandom *random) {
  enum { COLUMNS = 23, ROWS = 17, ALL = COLUMNS * ROWS };
  for (int smoothing = 0; smoothing <= 5; smoothing += smoothing ? 2 : 3) {
    RvRoadConfig c = small_config(COLUMNS, ROWS);
    c.smoothing = smoothing;
    RvRoadCpu *w = rv_road_bench_new(check, name, &c);
    if (!w)
      return;
    for (int round = 0; round < 40; round++) {
      uint8_t reference[ALL], set[ALL];
      for (int i = 0; i < ALL; i++)
        w->like[i] =
            (uint8_t)(rvc_range(random, 0, 127) + (rvc_range(random, 0, 39) < round) * 128);
      for (int i = 0; i < ALL; i++)
        set[i] = w->like[i] >= RV_ROAD_LIKE;
      rv_road_reference_smooth(set, COLUMNS, ROWS, smoothing, reference);
      rv_road_smooth_patches(w);
      rvc_true(check, name, memcmp(reference, w->road, ALL) == 0, "window %d, round %d differs",
               smoothing, round);
      rv_road_reference_median(w->like, COLUMNS, ROWS, smoothing, reference);
      int wrong = 0;
      for (int y = 0; y < ROWS; y++) {
        rv_road_median_row(w, y, set);
        wrong += memcmp(set, reference + y * COLUMNS, COLUMNS) != 0;
        for (int x = 0; x < COLUMNS; x++)
          wrong += (set[x] >= RV_ROAD_LIKE) != w->road[y * COLUMNS + x];
      }
      rvc_true(check, name, wrong == 0, "window %d, round %d: the median differs", smoothing,
               round);
    }
    rv_road_bench_free(w);
  }
}

/* Flat ground 1.5 m below, focal 100, baseline 0.5: disparity 1/3 px per row below the horizon. */
static void check_budget(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadConfig c = small_config(20, 20);
  const RvRoadPlane plane = {.b = 1.0 / 3, .c = -10, .height = 1.5}, none = {0};
  c.disparity_noise = 0.1;
  c.max_height = 0.09;
  c.ground_threshold_scale = 2;
  /* Patch (3, 12): center at row 62, ground 32/3 px. Seen at 10.975 px: 0.0421 m above, limit 0.09
   * + 0.3 * 1.5 / 10.975 = 0.131: 4 (1 - 0.1035) = 3.586 in 1/65536. At 10.3575 px: 0.0448 m below,
   * limit 4 (0.09 + 0.3 * 1.5 / 10.3575) = 0.534: 4 (1 - 0.0070) = 3.972. */
  const uint32_t high = rv_road_color_budget(&c, &plane, 3, 12, 25, 4390);
  const uint32_t low = rv_road_color_budget(&c, &plane, 3, 12, 25, 4143);
  rvc_true(check, name, high > 234950 && high < 235090, "0.042 m high: %u, expected 235017", high);
  rvc_true(check, name, low > 260200 && low < 260400, "0.045 m low: %u, expected 260300", low);
  rvc_true(check, name, rv_road_color_budget(&c, &plane, 3, 12, 12, 4390) == 65536,
           "unknown height: not a quarter of the squared threshold scale");
  rvc_true(check, name, rv_road_color_budget(&c, &plane, 3, 12, 25, 6000) == 0,
           "0.43 m high: not 0");
  rvc_true(check, name, rv_road_color_budget(&c, &none, 3, 12, 25, 4390) == RV_ROAD_BUDGET_ONE,
           "without plane");
  c.max_height = 0;
  rvc_true(check, name, rv_road_color_budget(&c, &plane, 3, 12, 25, 6000) == RV_ROAD_BUDGET_ONE,
           "without limit");
  /* Column 0 of 5 px: its center is 48 px left of cx = 50; at 16 px that is 48 * 0.5 / 16 = 1.5
   * m. */
  const RvCamera camera = c.camera;
  rvc_true(check, name,
           rv_road_ahead(&camera, 0, 5, 256 * 25, 25, 1.5) &&
               !rv_road_ahead(&camera, 0, 5, 256 * 25, 25, 1.49) &&
               rv_road_ahead(&camera, 0, 5, 16 * 25, 25, 0),
           "1.5 m from the optical axis");
  /* Variance 1e-4 h^2 and limits 5e-5 + (0.1 * 16 / 160)^2 = 1.5e-4 and 9e-5. */
  const int64_t height = 10486; /* 0.01 in 1/2^20 */
  rvc_true(check, name,
           rv_road_smooth(2, 0, height * height, 320, 5e-5, 0.1, 1) &&
               !rv_road_smooth(2, 0, height * height, 320, 5e-5, 0.1, 9e-5) &&
               !rv_road_smooth(2, 0, height * height, 640, 5e-5, 0.1, 1),
           "limit of roughness");
}

/* The score is the rule in numbers: 127.5 (2 - t), from 128 on exactly for t < 1. */
static void check_score(RvCheck *check, const char *name, RvRandom *random) {
  for (int d = 0; d < RV_ROAD_DISTANCES; d++)
    for (int round = 0; round < 500; round++) {
      const RvRoadDistance distance = (RvRoadDistance)d;
      const double scale = rvc_range(random, 100, 1600) / 100.0;
      const double limit = rv_road_limit(distance, 0.4);
      const uint32_t budget = (uint32_t)(scale * rvc_range(random, 0, RV_ROAD_BUDGET_ONE));
      const uint32_t cost = (uint32_t)(limit * rvc_range(random, 0, 5000) / 1000);
      const double share = rv_road_length(distance, cost) / 0.4;
      const double t = share * share / scale + 1 - budget / (scale * RV_ROAD_BUDGET_ONE);
      const int score = rv_road_score(rv_road_color(distance, cost, limit), budget, scale);
      const double wanted = t < 2 ? 127.5 * (2 - t) : 0;
      if (!rvc_true(check, name,
                    score >= 0 && score <= 255 && fabs(score - wanted) < 1.1 &&
                        (fabs(t - 1) < 1e-9 || (score >= RV_ROAD_LIKE) == (t < 1)),
                    "distance %d: %g gives %d, expected %g", d, t, score, wanted))
        return;
    }
}

/* --- Distances and models -------------------------------------------------------------------- */

/* A patch of `area` px over the first `used` cells. */
static void random_feature(RvRandom *random, uint8_t *feature, int cells, int used, int area) {
  memset(feature, 0, (size_t)cells);
  for (int i = 0; i < area; i++)
    feature[rvc_range(random, 0, used - 1)]++;
}

static void check_distance(RvCheck *check, const char *name, RvRandom *random) {
  const RvRoadConfig c = small_config(8, 8);
  RvRoadCpu *w = rv_road_bench_new(check, name, &c);
  if (!w)
    return;
  w->library.count = 3;
  for (int round = 0; round < 300; round++) {
    uint8_t feature[RV_ROAD_BINS_MAX * RV_ROAD_BINS_MAX];
    for (int i = 0; i < 3 * w->plan->cells; i++) {
      w->library.mean[i] = round % 5 ? rvc_range(random, 0, 2000) / 1000.0 : 0;
      w->library.variance[i] = rvc_range(random, 625, 90000) / 1000.0;
    }
    random_feature(random, feature, w->plan->cells, rvc_range(random, 1, w->plan->cells),
                   w->plan->area);
    for (int d = 0; d < RV_ROAD_DISTANCES; d++) {
      int model, reference_model = -1;
      double nearest = INFINITY;
      rv_road_tabulate(w, &w->library, (RvRoadDistance)d);
      const uint32_t cost = rv_road_nearest(w, feature, 3, (RvRoadDistance)d, &model);
      const double got = rv_road_length((RvRoadDistance)d, cost);
      for (int j = 0; j < 3; j++) {
        const double reference = rv_road_reference_distance(
            (RvRoadDistance)d, feature, w->library.mean + j * w->plan->cells,
            w->library.variance + j * w->plan->cells, w->plan->cells, w->plan->area);
        if (reference < nearest) {
          nearest = reference;
          reference_model = j;
        }
      }
      /* Unit of the summed numbers: each cell is rounded. */
      static const double unit[] = {1 / 256.0,   1 / 65536.0,    1 / 16777216.0,
                                    1 / 65536.0, 1 / 16777216.0, 1 / 65536.0};
      const int squared =
          d == RV_ROAD_MAHALANOBIS || d == RV_ROAD_EUCLIDEAN || d == RV_ROAD_HELLINGER;
      const double error = squared ? fabs(got * got - nearest * nearest) : fabs(got - nearest);
      if (!rvc_true(check, name, error <= (w->plan->cells / 2 + 1) * unit[d],
                    "distance %d: %g to model %d, expected %g to model %d", d, got, model, nearest,
                    reference_model))
        break;
    }
  }
  rv_road_bench_free(w);
}

/* Two overlapping kinds of samples, so that weights and determinants decide. */
static void fill_samples(RvRoadCpu *w, RvRandom *random, int samples) {
  for (int i = 0; i < samples; i++) {
    random_feature(random, w->features + (size_t)i * w->plan->cells, w->plan->cells, i % 4 ? 4 : 6,
                   w->plan->area);
    w->rest[i] = i;
  }
}

enum { EM_SAMPLES = 60, EM_CELLS = 8 * 8 }; /* default bins */

/* Initial values of two models: first sample, farthest sample, variance of all. */
static void reference_start(const RvRoadCpu *w, double floor_of_variance, double *mean,
                            double *variance) {
  int farthest = 0, maximum = -1;
  for (int i = 0; i < EM_SAMPLES; i++) {
    int sum = 0;
    for (int cell = 0; cell < EM_CELLS; cell++) {
      const int off = w->features[i * EM_CELLS + cell] - w->features[cell];
      sum += off * off;
    }
    if (sum > maximum) {
      maximum = sum;
      farthest = i;
    }
  }
  for (int cell = 0; cell < EM_CELLS; cell++) {
    double sum = 0, squares = 0;
    for (int i = 0; i < EM_SAMPLES; i++) {
      sum += w->features[i * EM_CELLS + cell];
      squares += pow(w->features[i * EM_CELLS + cell], 2);
    }
    mean[cell] = w->features[cell];
    mean[EM_CELLS + cell] = w->features[farthest * EM_CELLS + cell];
    variance[cell] = variance[EM_CELLS + cell] =
        fmax(squares / EM_SAMPLES - pow(sum / EM_SAMPLES, 2), floor_of_variance);
  }
}

static void check_em(RvCheck *check, const char *name, RvRandom *random) {
  const RvRoadConfig c = small_config(10, 10);
  RvRoadCpu *w = rv_road_bench_new(check, name, &c);
  if (!w)
    return;
  fill_samples(w, random, EM_SAMPLES);
  const double floor_of_variance = c.variance_floor * w->plan->area * w->plan->area;
  for (int k = 1; k <= 2; k++) {
    double mean[2 * EM_CELLS], variance[2 * EM_CELLS], weight[2] = {1.0 / k, 1.0 / k}, worst = 0;
    const int iterations = rv_road_em(w, EM_SAMPLES, k);
    reference_start(w, floor_of_variance, mean, variance);
    rv_road_reference_em(w->features, EM_SAMPLES, EM_CELLS, k, floor_of_variance, iterations, mean,
                         variance, weight);
    for (int i = 0; i < k * EM_CELLS; i++)
      worst = fmax(
          worst, fmax(fabs(mean[i] - w->fresh.mean[i]), fabs(variance[i] - w->fresh.variance[i])));
    for (int j = 0; j < k; j++)
      worst = fmax(worst, fabs(weight[j] - w->fresh.weight[j]));
    rvc_true(check, name, w->fresh.count == k && iterations >= 2 && worst < 1e-2,
             "%d models, %d iterations: off by %g from the reference in double", k, iterations,
             worst);
  }
  for (int i = 0; i < EM_SAMPLES; i++)
    memcpy(w->features + i * EM_CELLS, w->features, EM_CELLS);
  rv_road_em(w, EM_SAMPLES, 2);
  rvc_true(check, name,
           w->fresh.count == 1 && w->fresh.weight[0] == 1 &&
               w->fresh.variance[0] == floor_of_variance,
           "equal samples must be one model, not %d", w->fresh.count);
  rv_road_bench_free(w);
}

/* --- Library --------------------------------------------------------------------------------- */

static void check_learning(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadConfig c = small_config(10, 10);
  c.library_size = 2;
  c.memory = 1;
  RvRoadCpu *w = rv_road_bench_new(check, name, &c);
  if (!w)
    return;
  const RvRoadModels *l = &w->library;
  /* Four samples of 25 counts at distance 0.5 of model 0 (mean 24, variance 4, weight 0.25; w_i =
   * 1/4): mean (0.25 * 24 + 25) / 1.25 = 24.8, variance (0.25 * 4 + 4 * 0.25 * 1) / 1.25 = 1.6,
   * empty cells (0.25 * 4) / 1.25 = 0.8, weights 1.25 and 0.75 over 2. */
  rv_road_bench_two_models(w);
  rv_road_bench_seeds(w, 0, 4, 3, w->plan->area);
  rv_road_learn(w);
  rvc_true(check, name,
           rv_road_bench_about(l->mean[3], 24.8) && rv_road_bench_about(l->variance[3], 1.6) &&
               rv_road_bench_about(l->variance[4], 0.8) &&
               rv_road_bench_about(l->weight[0], 0.625) &&
               rv_road_bench_about(l->weight[1], 0.375) && w->report.samples_matched == 4,
           "update: mean %g variance %g, %g, weights %g %g", l->mean[3], l->variance[3],
           l->variance[4], l->weight[0], l->weight[1]);
  /* 12 unmatched samples are pending; with 8 more, 20: one new model replaces that of lower
   * weight. */
  rv_road_bench_seeds(w, 0, 12, 60, w->plan->area);
  rv_road_learn(w);
  rvc_true(check, name,
           w->report.samples_pending == 12 && w->report.models_added == 0 && l->count == 2,
           "%d pending, %d models added; expected 12 and 0", w->report.samples_pending,
           w->report.models_added);
  rv_road_bench_seeds(w, 0, 8, 60, w->plan->area);
  rv_road_learn(w);
  rvc_true(check, name,
           w->report.samples_pending == 0 && w->report.models_added == 1 && l->count == 2 &&
               rv_road_bench_about(l->mean[w->plan->cells + 60], 25) &&
               rv_road_bench_about(l->mean[3], 24.8) &&
               rv_road_bench_about(l->weight[1], 1 / 1.625),
           "the model with the lowest weight was not replaced: mean %g, weight %g",
           l->mean[w->plan->cells + 60], l->weight[1]);
  rv_road_bench_free(w);
}

RVC_PARITY(RVC_CASE("road/color", check_color, 0), RVC_CASE("road/log", check_log, 0),
           RVC_CASE("road/components", check_components, 0),
           RVC_CASE("road/smoothing", check_smoothing, 0), RVC_CASE("road/budget", check_budget, 0),
           RVC_CASE("road/score", check_score, 0), {.group = rv_road_border_cases},
           RVC_CASE("road/distance", check_distance, 0), RVC_CASE("road/em", check_em, 0),
           RVC_CASE("road/learning", check_learning, 0), {.group = rv_road_memory_cases},
           {.group = rv_road_kept_cases}, {.group = rv_road_frame_cases},
           {.group = rv_road_save_cases}, {.group = rv_road_bad_cases},
           {.group = rv_road_clusters_cases}, {.group = rv_road_parity_cases});

static void fuzz(const uint8_t *bytes, size_t size) {
  rv_road_fuzz(bytes, size);
}

const RvCases rv_road_cases = {
    .name = "road",
    .parity = parity,
    .bench = rv_road_bench_cases,
    .fuzz = fuzz,
};
