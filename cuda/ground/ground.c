/* SPDX-License-Identifier: MIT */
/* ground.c: host side of the ground estimation. */
#include "ground.h"

#include "ground_stages.h"
#include "rv_object.h"

#define PI 3.14159265358979323846

static RvGroundSurface camera_surface(const RvCamera *camera) {
  RvGroundSurface surface = {.first = -1, .last = -1};
  if (!(camera->focal > 0 && camera->baseline > 0 && camera->height > 0))
    return surface;
  const double angle = camera->pitch * PI / 180, scale = camera->baseline / camera->height;
  surface.slope_y = scale * cos(angle);
  surface.intercept =
      scale * (camera->focal * sin(angle) - camera->cy * cos(angle)) - camera->doffs;
  surface.height = camera->height;
  surface.source = RV_GROUND_FROM_CAMERA;
  return surface;
}

RvGroundPlan rv_ground_plan(const RvGroundConfig *c) {
  const RvCamera *camera = &c->camera;
  const int n = rv_clamp((c->width + 160) / 320, 3, 16);
  const int is_metric = camera->focal > 0 && camera->baseline > 0;
  RvGroundPlan g = {
      .width = c->width,
      .height = c->height,
      .n = n,
      .columns = c->width / n,
      .rows = c->height / n,
      .doffs = (int)floor(camera->doffs * 16 + 0.5),
      .mode = (int)c->mode,
      .profile = c->profile,
      .memory = c->memory,
      .is_metric = is_metric,
      .cx = is_metric ? camera->cx : 0.5 * (c->width - 1),
      .cy = is_metric ? camera->cy : 0.5 * (c->height - 1),
      .focal = is_metric ? camera->focal : 1,
      .baseline = is_metric ? camera->baseline : 1,
      .low = c->min_camera_height * c->min_camera_height,
      .high = c->max_camera_height * c->max_camera_height,
      .bin = rv_max(8, rv_div_up(16 * c->max_disparity, RV_GROUND_BINS)),
      .step = rv_max(16, c->width / 80),
      .camera = camera_surface(camera),
  };
  /* without metres 3 m are taken to be 8 baselines */
  const double across = is_metric ? 1 / camera->baseline : 8.0 / 3;
  g.near = c->near_width * across / 256;
  g.far = c->profile_width * across / 256;
  g.cells = g.columns * g.rows;
  g.band = rv_div_up(g.rows, RV_GROUND_BANDS_MAX);
  g.bands = g.rows / g.band;
  return g;
}
