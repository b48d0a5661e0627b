/* SPDX-License-Identifier: MIT */
/* ground.c: host side of the ground estimation: parameters, plan, and run as the list of its
 * stages; the use of a ground. */
#include "ground/ground.h"

#include "ground/ground_stages.h"

#define PI 3.14159265358979323846

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvGround);

static const RvParam params[] = {
    RV_PARAM_SIZE_FROM(RV_GROUND_SIDE_MIN),
    RV_CHOICE("mode", mode, RV_GROUND_MODE_ESTIMATE, 0, NULL, NULL, "Origin of the ground plane",
              {RV_GROUND_MODE_ESTIMATE, "estimate", "from the disparity"},
              {RV_GROUND_MODE_CAMERA, "camera", "from the height and pitch of the camera"}),
    RV_INT("max-disparity", max_disparity, 16, 4096, 128, RV_PARAM_HIDDEN, "px", NULL,
           "Disparity range of the profile"),
    RV_REAL("min-camera-height", min_camera_height, 0, 100, 0.5, 0, "m", NULL,
            "Minimum height of the camera above an estimated ground"),
    RV_REAL("max-camera-height", max_camera_height, 0, 100, 3, 0, "m", NULL,
            "Maximum height of the camera above an estimated ground"),
    RV_REAL("near-width", near_width, 0, 1000, 3, RV_PARAM_ABOVE, "m", NULL,
            "Distance from the camera's axis within which the plane is fitted"),
    RV_REAL("profile-width", profile_width, 0, 1000, 5, RV_PARAM_ABOVE, "m", NULL,
            "Distance from the camera's axis within which the profile is estimated"),
    RV_SWITCH("profile", profile, 1, 0, NULL, NULL,
              "Estimate the deviation of the ground from its plane by distance"),
    RV_INT("memory", memory, 0, 1000, 10, 0, "frames", NULL,
           "Number of frames without ground in which the last plane is kept"),
    RV_PARAM_THREADS,
};
RV_PARAMS(ground)

/* --- Object ---------------------------------------------------------------------------------- */

RvGroundSurface rv_ground_of_camera(const RvCamera *camera) {
  RvGroundSurface surface = {
      .source = RV_GROUND_NONE, .first = -1, .last = -1, .bin = RV_GROUND_BIN_MIN};
  if (!(camera->focal > 0 && camera->baseline > 0 && camera->height > 0))
    return surface;
  const double angle = camera->pitch * PI / 180, scale = camera->baseline / camera->height;
  surface.slope_y = scale * cos(angle);
  surface.intercept =
      scale * (camera->focal * sin(angle) - camera->cy * cos(angle)) - camera->doffs;
  surface.height = camera->height;
  surface.source = RV_GROUND_CAMERA;
  return surface;
}

static void set_camera(RvGroundPlan *g, const RvCamera *camera) {
  const RvGroundSurface surface = rv_ground_of_camera(camera);
  g->is_metric = camera->focal > 0 && camera->baseline > 0;
  g->cx = g->is_metric ? camera->cx : 0.5 * (g->width - 1);
  g->cy = g->is_metric ? camera->cy : 0.5 * (g->height - 1);
  g->focal = g->is_metric ? camera->focal : 1;
  g->baseline = g->is_metric ? camera->baseline : 1;
  g->doffs = (int)floor(camera->doffs * 16 + 0.5);
  g->camera_height = surface.height;
  g->camera_slope = surface.slope_y;
  g->camera_intercept = surface.height > 0 ? surface.intercept + camera->doffs : 0;
}

void rv_ground_make_plan(void *plan) {
  RvGroundPlan *g = plan;
  const RvGroundConfig *c = &g->config;
  g->width = c->width;
  g->height = c->height;
  g->n = rv_clamp((c->width + 160) / 320, RV_GROUND_CELL_MIN, RV_GROUND_CELL_MAX);
  g->columns = c->width / g->n;
  g->rows = c->height / g->n;
  g->cells = g->columns * g->rows;
  g->band = rv_div_up(g->rows, RV_GROUND_BANDS_MAX);
  g->bands = g->rows / g->band;
  set_camera(g, &c->camera);
  /* without a baseline in meters, 3 m are assumed to be 8 baselines */
  const double across = g->is_metric ? 1 / c->camera.baseline : 8.0 / 3;
  g->near = c->near_width * across / 256;
  g->far = c->profile_width * across / 256;
  g->low = c->min_camera_height * c->min_camera_height;
  g->high = c->max_camera_height * c->max_camera_height;
  g->bin = rv_max(RV_GROUND_BIN_MIN, rv_div_up(16 * c->max_disparity, RV_GROUND_BINS));
  g->step = rv_max(16, c->width / 80);
}

static RvStatus check_rules(const void *config) {
  const RvGroundConfig *c = config;
  const RvLog *log = &c->log;
  const RvCamera *camera = &c->camera;
  RV_TRY(rv_check_camera(log, "ground", camera, 0));
  RV_TRY(rv_check_range(log, "ground", "baseline", camera->baseline, 0, 1e3, "m"));
  RV_TRY(rv_check_range(log, "ground", "camera height", camera->height, 0, 1e3, "m"));
  RV_TRY(rv_check_range(log, "ground", "pitch", camera->pitch, -89, 89, "degrees"));
  RV_REQUIRE(log,
             c->mode != RV_GROUND_MODE_CAMERA ||
                 (camera->focal > 0 && camera->baseline > 0 && camera->height > 0),
             "ground: mode camera requires focal length, baseline and camera height");
  RV_REQUIRE(log, c->min_camera_height <= c->max_camera_height,
             "ground: min_camera_height is %g m, must be at most max_camera_height = %g m",
             c->min_camera_height, c->max_camera_height);
  return RV_OK;
}

RV_CLASS(RvGround, ground, .rules = check_rules, .plan = rv_ground_make_plan);

/* --- Run ------------------------------------------------------------------------------------- */

RvStatus rv_ground_run(RvGround *ground, const RvPlane *disparity, RvGroundSurface *out,
                       RvStream stream) {
  if (!ground)
    return RV_ERR_ARG;
  const RvGroundConfig *c = &ground->plan.config;
  RV_TRY(rv_check_plane(&c->log, "ground", "disparity", disparity, c->width, c->height, RV_U16));
  RV_REQUIRE(&c->log, out, "ground: out is NULL");
  RV_TRY(rv_check_aligned(&c->log, "ground", "out", out, 8));
  const RvGroundStages *stages = (const RvGroundStages *)ground->object.base;
  const RvGroundJob job = {&ground->plan, *disparity, out, stream};
  void *work = ground->object.work;
  if (c->mode == RV_GROUND_MODE_ESTIMATE) {
    RV_TRY(stages->cells(work, &job));
    RV_TRY(stages->lines(work, &job));
    RV_TRY(stages->plane(work, &job));
  }
  return stages->profile(work, &job);
}

RV_OBJECT_RESET(RvGround, ground);

/* --- Use ------------------------------------------------------------------------------------- */

double rv_ground_row(const RvGroundSurface *ground, const RvCamera *camera, double d, double u) {
  if (!(ground->slope_y > 0))
    return 0;
  const double bin = (d + camera->doffs) * 16 / rv_max(ground->bin, 1);
  const int k = bin < 0 ? 0 : bin < RV_GROUND_BINS ? (int)bin : RV_GROUND_BINS - 1;
  return (d - ground->intercept - ground->slope_x * u) / ground->slope_y -
         ground->profile[k] / 16.0;
}

double rv_ground_height(const RvGroundSurface *ground, const RvCamera *camera, double d, double u,
                        double v) {
  const double depth = d + camera->doffs;
  if (!(ground->slope_y > 0) || !(camera->baseline > 0) || !(depth > 0))
    return 0;
  return (rv_ground_row(ground, camera, d, u) - v) * camera->baseline / depth;
}
