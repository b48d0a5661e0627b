/* SPDX-License-Identifier: MIT */
/* road_bad_cases.c: degenerate and invalid input: gray, black and white frames, no seeds,
 * parameters that are not numbers, patches larger than the frame. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_inputs.h"
#include "road/road_save_cases.h"

static void fill_u16(const RvPlane *plane, uint16_t value) {
  for (int i = 0; i < plane->width * plane->height; i++)
    ((uint16_t *)plane->data)[i] = value;
}

/* Removes the color of the frame. */
static void make_gray(const RvRoadInputs *d) {
  uint32_t *color = d->color.data;
  for (int i = 0; i < d->color.width * d->color.height; i++)
    color[i] = (color[i] >> 8 & 255) * 0x10101;
}

/* Runs all engines on the frame and compares them; `r` is the result of the CPU. */
static void frame(const RvRoadInputs *d, RvRoad *const *roads, int engines, RvRoadResult *r,
                  const char *what) {
  RvRoadResult other;
  rv_road_inputs_run(d, roads[0], 1, r);
  if (engines < 2)
    return;
  rv_road_result_open(&roads[1]->plan.config, &other);
  rv_road_inputs_run(d, roads[1], 1, &other);
  rv_road_result_same(d, r, &other, what);
  rv_road_result_close(&other);
}

static int open_roads(const RvRoadInputs *d, RvRoad **roads) {
  const int engines = rvc_cuda(d->check) ? 2 : 1;
  int good = 1;
  for (int i = 0; i < engines; i++) {
    roads[i] = rv_road_inputs_new(d, &d->config, i ? RV_CUDA : RV_CPU);
    good = good && roads[i];
  }
  return good ? engines : 0;
}

/* All patches look the same: one model, distance 0 everywhere; only the ground plane decides. */
static void check_gray(RvCheck *check, const char *name, int level) {
  const int is_small = rvc_small(check);
  if (!rvc_wants(check, name))
    return;
  RvRoadInputs d;
  RvRoad *roads[2] = {NULL, NULL};
  RvRoadResult r;
  rv_road_inputs_open(check, name, &d, is_small ? 103 : 203, is_small ? 91 : 151);
  rv_road_result_open(&d.config, &r);
  const int engines = open_roads(&d, roads);
  for (int k = 0; k < (is_small ? 1 : 3) && engines; k++) {
    rv_road_inputs_paint(&d, k);
    make_gray(&d);
    if (level >= 0)
      memset(d.color.data, level, (size_t)d.color.height * (size_t)d.color.stride);
    frame(&d, roads, engines, &r, "a frame without color");
    const float *distance = r.distance.data;
    int far = 0;
    for (int i = 0; i < r.distance.width * r.distance.height; i++)
      far += distance[i] != 0;
    rvc_true(check, name,
             r.report.models == 1 && far == 0 && r.report.seeds > 0 &&
                 r.report.road >= r.report.seeds / 2,
             "frame %d: %d models, %d patches at a distance, %d seeds, %d road", k, r.report.models,
             far, r.report.seeds, r.report.road);
  }
  for (int i = 0; i < engines; i++)
    rv_road_free(&roads[i]);
  rv_road_result_close(&r);
  rv_road_inputs_close(&d);
  rvc_ok(check, name);
}

/* Frames whose disparity contains no ground: they are classified, and the library is unchanged. */
static void check_seedless(RvCheck *check) {
  const char *name = "road/seedless";
  static const uint16_t flat[] = {0, 1, 160, 65535};
  const int is_small = rvc_small(check);
  if (!rvc_wants(check, name))
    return;
  RvRoadInputs d;
  RvRoad *roads[2] = {NULL, NULL};
  RvRoadResult r;
  rv_road_inputs_open(check, name, &d, is_small ? 103 : 203, is_small ? 91 : 151);
  rv_road_result_open(&d.config, &r);
  const int engines = open_roads(&d, roads);
  for (int k = 0; k < (is_small ? 1 : 3) && engines; k++) {
    rv_road_inputs_paint(&d, k);
    frame(&d, roads, engines, &r, "a training frame");
  }
  const RvRoadReport before = r.report;
  for (int k = 0; k < 5 && engines; k += is_small ? 4 : 1) {
    rv_road_inputs_paint(&d, 3);
    if (k < 4)
      fill_u16(&d.disparity, flat[k]);
    for (int i = 0; i < d.disparity.width * d.disparity.height && k == 4; i++)
      ((uint16_t *)d.disparity.data)[i] = (uint16_t)((unsigned)i * 2654435761u >> 16);
    frame(&d, roads, engines, &r, "a frame without seeds");
    rvc_true(check, name,
             before.models > 0 && r.report.seeds == 0 && r.report.models_added == 0 &&
                 r.report.samples_matched == 0 && r.report.models == before.models &&
                 r.report.samples_pending == before.samples_pending &&
                 r.report.road > (is_small ? 10 : 100),
             "input %d: %d seeds, %d added, %d matched, models %d after %d, %d road", k,
             r.report.seeds, r.report.models_added, r.report.samples_matched, r.report.models,
             before.models, r.report.road);
  }
  for (int i = 0; i < engines; i++)
    rv_road_free(&roads[i]);
  rv_road_result_close(&r);
  rv_road_inputs_close(&d);
  rvc_ok(check, name);
}

/* Each real parameter as NaN and infinity, by its name in the log. */
static void check_numbers(RvCheck *check) {
  const char *name = "road/numbers";
  static const struct {
    size_t at;
    const char *word;
  } fields[] = {{offsetof(RvRoadConfig, camera.focal), "focal"},
                {offsetof(RvRoadConfig, camera.baseline), "baseline"},
                {offsetof(RvRoadConfig, camera.cx), "cx"},
                {offsetof(RvRoadConfig, camera.cy), "cy"},
                {offsetof(RvRoadConfig, camera.doffs), "doffs"},
                {offsetof(RvRoadConfig, roughness), "roughness"},
                {offsetof(RvRoadConfig, disparity_noise), "disparity-noise"},
                {offsetof(RvRoadConfig, max_roughness), "max-roughness"},
                {offsetof(RvRoadConfig, near_range), "near-range"},
                {offsetof(RvRoadConfig, near_width), "near-width"},
                {offsetof(RvRoadConfig, max_height), "max-height"},
                {offsetof(RvRoadConfig, ground_threshold_scale), "ground-threshold-scale"},
                {offsetof(RvRoadConfig, update_threshold), "update-threshold"},
                {offsetof(RvRoadConfig, classify_threshold), "classify-threshold"},
                {offsetof(RvRoadConfig, variance_floor), "variance-floor"}};
  static const double values[] = {NAN, INFINITY, -INFINITY};
  if (!rvc_wants(check, name))
    return;
  RvRoadInputs d;
  char text[RV_ROAD_NOTE];
  rv_road_inputs_open(check, name, &d, 20, 20);
  d.config.log = rv_road_inputs_note(text);
  RvRoad *road = rv_road_inputs_new(&d, &d.config, RV_CPU), *other = NULL;
  for (size_t i = 0; road && i < sizeof fields / sizeof *fields; i++)
    for (int k = 0; k < 3; k++) {
      RvRoadConfig bad = d.config;
      memcpy((char *)&bad + fields[i].at, &values[k], sizeof values[k]);
      *text = 0;
      const int is_rejected =
          rv_road_config_check(&bad) == RV_ERR_ARG && strstr(text, fields[i].word);
      rvc_true(check, name,
               is_rejected && rv_road_new(&other, &bad, RV_CPU) == RV_ERR_ARG && !other &&
                   rv_road_set_config(road, &bad, NULL) == RV_ERR_ARG,
               "%s = %g was accepted: \"%s\"", fields[i].word, values[k], text);
    }
  for (int side = 0; side < 2; side++) { /* smaller than a patch */
    RvRoadConfig bad = d.config;
    *(side ? &bad.height : &bad.width) = bad.patch_size - 1;
    *text = 0;
    rvc_true(check, name,
             rv_road_new(&other, &bad, RV_CPU) == RV_ERR_ARG &&
                 strstr(text, side ? "height is 4" : "width is 4"),
             "a patch larger than the frame was accepted: \"%s\"", text);
  }
  rv_road_free(&road);
  rv_road_inputs_close(&d);
  rvc_ok(check, name);
}

void rv_road_bad_cases(RvCheck *check) {
  check_gray(check, "road/gray", -1);
  if (!rvc_small(check)) {
    check_gray(check, "road/black", 0);
    check_gray(check, "road/white", 255);
  }
  check_seedless(check);
  check_numbers(check);
}
