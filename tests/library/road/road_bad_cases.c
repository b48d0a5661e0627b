/* SPDX-License-Identifier: MIT */
/* road_bad_cases.c: input that teaches nothing or is none: grey, black and white pictures, no
 * seeds, parameters that are not numbers, patches larger than the picture. */
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

/* Keeps the brightness of the picture alone. */
static void make_grey(const RvRoadDrive *d) {
  uint32_t *color = d->color.data;
  for (int i = 0; i < d->color.width * d->color.height; i++)
    color[i] = (color[i] >> 8 & 255) * 0x10101;
}

/* One frame by all engines of this run, which must agree; what the CPU made of it is in `r`. */
static void frame(const RvRoadDrive *d, RvRoad *const *roads, int engines, RvRoadResult *r,
                  const char *what) {
  RvRoadResult other;
  rv_road_drive_run(d, roads[0], 1, r);
  if (engines < 2)
    return;
  rv_road_result_open(&roads[1]->config, &other);
  rv_road_drive_run(d, roads[1], 1, &other);
  rv_road_result_same(d, r, &other, what);
  rv_road_result_close(&other);
}

static int open_roads(const RvRoadDrive *d, RvRoad **roads) {
  const int engines = rvc_cuda(d->check) ? 2 : 1;
  int good = 1;
  for (int i = 0; i < engines; i++) {
    roads[i] = rv_road_drive_new(d, &d->config, i ? RV_CUDA : RV_CPU);
    good = good && roads[i];
  }
  return good ? engines : 0;
}

/* All patches are alike: one model, distance 0 everywhere, so that the ground plane alone decides.
 */
static void check_grey(RvCheck *check, const char *name, int level) {
  const int is_small = rvc_small(check);
  if (!rvc_wants(check, name))
    return;
  RvRoadDrive d;
  RvRoad *roads[2] = {NULL, NULL};
  RvRoadResult r;
  rv_road_drive_open(check, name, &d, is_small ? 103 : 203, is_small ? 91 : 151);
  rv_road_result_open(&d.config, &r);
  const int engines = open_roads(&d, roads);
  for (int k = 0; k < (is_small ? 1 : 3) && engines; k++) {
    rv_road_drive_paint(&d, k);
    make_grey(&d);
    if (level >= 0)
      memset(d.color.data, level, (size_t)d.color.height * (size_t)d.color.stride);
    frame(&d, roads, engines, &r, "a picture without colour");
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
  rv_road_drive_close(&d);
  rvc_ok(check, name);
}

/* Frames whose disparity holds no ground: the library stays, and they are classified by it. */
static void check_seedless(RvCheck *check) {
  const char *name = "road/seedless";
  static const uint16_t flat[] = {0, 1, 160, 65535};
  const int is_small = rvc_small(check);
  if (!rvc_wants(check, name))
    return;
  RvRoadDrive d;
  RvRoad *roads[2] = {NULL, NULL};
  RvRoadResult r;
  rv_road_drive_open(check, name, &d, is_small ? 103 : 203, is_small ? 91 : 151);
  rv_road_result_open(&d.config, &r);
  const int engines = open_roads(&d, roads);
  for (int k = 0; k < (is_small ? 1 : 3) && engines; k++) {
    rv_road_drive_paint(&d, k);
    frame(&d, roads, engines, &r, "a frame that teaches");
  }
  const RvRoadReport before = r.report;
  for (int k = 0; k < 5 && engines; k += is_small ? 4 : 1) {
    rv_road_drive_paint(&d, 3);
    if (k < 4)
      fill_u16(&d.disparity, flat[k]);
    for (int i = 0; i < d.disparity.width * d.disparity.height && k == 4; i++)
      ((uint16_t *)d.disparity.data)[i] = (uint16_t)((unsigned)i * 2654435761u >> 16);
    frame(&d, roads, engines, &r, "a frame without seeds");
    rvc_true(check, name,
             before.models > 0 && r.report.seeds == 0 && r.report.learnt == 0 &&
                 r.report.updated == 0 && r.report.models == before.models &&
                 r.report.waiting == before.waiting && r.report.road > (is_small ? 10 : 100),
             "input %d: %d seeds, %d learnt, %d updated, models %d after %d, %d road", k,
             r.report.seeds, r.report.learnt, r.report.updated, r.report.models, before.models,
             r.report.road);
  }
  for (int i = 0; i < engines; i++)
    rv_road_free(&roads[i]);
  rv_road_result_close(&r);
  rv_road_drive_close(&d);
  rvc_ok(check, name);
}

/* Each parameter that is not a number, by the name that the log gives it. */
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
                {offsetof(RvRoadConfig, disparity_noise), "disparity_noise"},
                {offsetof(RvRoadConfig, max_roughness), "max_roughness"},
                {offsetof(RvRoadConfig, near_range), "near_range"},
                {offsetof(RvRoadConfig, near_width), "near_width"},
                {offsetof(RvRoadConfig, max_height), "max_height"},
                {offsetof(RvRoadConfig, ground_threshold_scale), "ground_threshold_scale"},
                {offsetof(RvRoadConfig, update_threshold), "update_threshold"},
                {offsetof(RvRoadConfig, classify_threshold), "classify_threshold"},
                {offsetof(RvRoadConfig, variance_floor), "variance_floor"}};
  static const double values[] = {NAN, INFINITY, -INFINITY};
  if (!rvc_wants(check, name))
    return;
  RvRoadDrive d;
  char text[RV_ROAD_NOTE];
  rv_road_drive_open(check, name, &d, 20, 20);
  d.config.log = rv_road_drive_note(text);
  RvRoad *road = rv_road_drive_new(&d, &d.config, RV_CPU), *other = NULL;
  for (size_t i = 0; road && i < sizeof fields / sizeof *fields; i++)
    for (int k = 0; k < 3; k++) {
      RvRoadConfig bad = d.config;
      memcpy((char *)&bad + fields[i].at, &values[k], sizeof values[k]);
      *text = 0;
      const int refused = rv_road_config_check(&bad) == RV_ERR_ARG && strstr(text, fields[i].word);
      rvc_true(check, name,
               refused && rv_road_new(&other, &bad, RV_CPU) == RV_ERR_ARG && !other &&
                   rv_road_set_config(road, &bad, NULL) == RV_ERR_ARG,
               "%s = %g was not refused: \"%s\"", fields[i].word, values[k], text);
    }
  for (int side = 0; side < 2; side++) { /* no room for one patch */
    RvRoadConfig bad = d.config;
    *(side ? &bad.height : &bad.width) = bad.patch_size - 1;
    *text = 0;
    rvc_true(check, name,
             rv_road_new(&other, &bad, RV_CPU) == RV_ERR_ARG &&
                 strstr(text, side ? "height is 4" : "width is 4"),
             "a patch larger than the picture was not refused: \"%s\"", text);
  }
  rv_road_free(&road);
  rv_road_drive_close(&d);
  rvc_ok(check, name);
}

void rv_road_bad_cases(RvCheck *check) {
  check_grey(check, "road/grey", -1);
  if (!rvc_small(check)) {
    check_grey(check, "road/black", 0);
    check_grey(check, "road/white", 255);
  }
  check_seedless(check);
  check_numbers(check);
}
