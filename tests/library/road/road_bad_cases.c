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

/* Inputs, an object of each engine of this run, and the result of the CPU. */
typedef struct Case {
  RvRoadInputs inputs;
  RvRoad *roads[2];
  int engines, frames; /* 0 after a failure */
  RvRoadResult result;
} Case;

static void open_case(RvCheck *check, const char *name, Case *c) {
  const int is_small = rvc_small(check);
  *c = (Case){.engines = rvc_cuda(check) ? 2 : 1};
  rv_road_inputs_open(check, name, &c->inputs, is_small ? 103 : 203, is_small ? 91 : 151);
  rv_road_result_open(&c->inputs.config, &c->result);
  int good = 1;
  for (int i = 0; i < c->engines; i++) {
    c->roads[i] = rv_road_inputs_new(&c->inputs, &c->inputs.config, i ? RV_CUDA : RV_CPU);
    good = good && c->roads[i];
  }
  c->engines = good ? c->engines : 0;
  c->frames = !good ? 0 : is_small ? 1 : 3;
}

static void close_case(Case *c) {
  for (int i = 0; i < 2; i++)
    rv_road_free(&c->roads[i]);
  rv_road_result_close(&c->result);
  rv_road_inputs_close(&c->inputs);
}

/* Runs all engines on the frame and compares them. */
static void run_case(Case *c, const char *what) {
  RvRoadResult other;
  rv_road_inputs_run(&c->inputs, c->roads[0], 1, &c->result);
  if (c->engines < 2)
    return;
  rv_road_result_open(&c->inputs.config, &other);
  rv_road_inputs_run(&c->inputs, c->roads[1], 1, &other);
  rv_road_result_same(&c->inputs, &c->result, &other, what);
  rv_road_result_close(&other);
}

static void train_case(Case *c) {
  for (int k = 0; k < c->frames; k++) {
    rv_road_inputs_paint(&c->inputs, k);
    run_case(c, "a training frame");
  }
}

/* All patches look the same: one model, distance 0 everywhere; only the ground plane decides. */
static void check_gray(RvCheck *check, const char *name, int level) {
  if (!rvc_wants(check, name))
    return;
  Case c;
  open_case(check, name, &c);
  const RvRoadInputs *d = &c.inputs;
  const RvRoadReport *report = &c.result.report;
  for (int k = 0; k < c.frames; k++) {
    rv_road_inputs_paint(d, k);
    make_gray(d);
    if (level >= 0)
      memset(d->color.data, level, (size_t)d->color.height * (size_t)d->color.stride);
    run_case(&c, "a frame without color");
    const float *distance = c.result.distance.data;
    int far = 0;
    for (int i = 0; i < c.result.distance.width * c.result.distance.height; i++)
      far += distance[i] != 0;
    rvc_true(check, name,
             report->models == 1 && far == 0 && report->seeds > 0 &&
                 report->road >= report->seeds / 2,
             "frame %d: %d models, %d patches at a distance, %d seeds, %d road", k, report->models,
             far, report->seeds, report->road);
  }
  close_case(&c);
  rvc_ok(check, name);
}

/* Frames whose disparity contains no ground: they are classified, and the library is unchanged. */
static void check_seedless(RvCheck *check, const char *name, RvRandom *random) {
  static const uint16_t flat[] = {0, 1, 160, 65535};
  const int is_small = rvc_small(check);
  Case c;
  open_case(check, name, &c);
  train_case(&c);
  const RvRoadInputs *d = &c.inputs;
  const RvRoadReport *report = &c.result.report, before = *report;
  for (int k = 0; k < 5 && c.engines; k += is_small ? 4 : 1) {
    rv_road_inputs_paint(d, 3);
    if (k < 4)
      fill_u16(&d->disparity, flat[k]);
    for (int i = 0; i < d->disparity.width * d->disparity.height && k == 4; i++)
      ((uint16_t *)d->disparity.data)[i] = (uint16_t)((unsigned)i * 2654435761u >> 16);
    run_case(&c, "a frame without seeds");
    rvc_true(check, name,
             before.models > 0 && report->seeds == 0 && report->models_added == 0 &&
                 report->samples_matched == 0 && report->models == before.models &&
                 report->samples_pending == before.samples_pending &&
                 report->road > (is_small ? 10 : 100),
             "input %d: %d seeds, %d added, %d matched, models %d after %d, %d road", k,
             report->seeds, report->models_added, report->samples_matched, report->models,
             before.models, report->road);
  }
  close_case(&c);
}

/* Each real parameter as NaN and infinity, by its name in the log. */
static void check_numbers(RvCheck *check, const char *name, RvRandom *random) {
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
}

static void check_grays(RvCheck *check) {
  check_gray(check, "road/gray", -1);
  if (!rvc_small(check)) {
    check_gray(check, "road/black", 0);
    check_gray(check, "road/white", 255);
  }
}

RVC_CASES(rv_road_bad_cases, {.group = check_grays}, RVC_CASE("road/seedless", check_seedless, 0),
          RVC_CASE("road/numbers", check_numbers, 0));
