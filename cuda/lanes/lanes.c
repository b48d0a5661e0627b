/* SPDX-License-Identifier: MIT */
/* lanes.c: host side of the lane lines: parameters, plan, and run as the list of its stages. */
#include "lanes/lanes.h"

#include <math.h>
#include <string.h>

#include "lanes/lanes_stages.h"

#define PI 3.14159265358979323846
#define PSI_STEP 0.0075         /* rad */
#define KAPPA_STEP 0.0005       /* 1/m */
#define KAPPA_STEP_CAMERA 0.001 /* 1/m */
#define HORIZON_SIGMA 2.0       /* steps: of the prior on the distance from the expected horizon */
#define HORIZON_STEP (0.15 * PI / 180) /* rad */

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvLanes);

static const RvParam params[] = {
    RV_PARAM_SIZE_FROM(RV_LANES_SIDE_MIN),
    RV_CHOICE(
        "ground", ground, RV_LANES_GROUND_ESTIMATE, 0, NULL, NULL, "Source of the ground",
        {RV_LANES_GROUND_ESTIMATE, "estimate", "RvGroundMeta, or an estimate from the disparity"},
        {RV_LANES_GROUND_CAMERA, "camera", "one camera of known height; the horizon is estimated"}),
    RV_REAL("max-distance", max_distance, 10, 60, 45, 0, "m", NULL,
            "Maximum distance at which markings are searched"),
    RV_REAL("mark-width", mark_width, 0.05, 0.5, 0.15, 0, "m", NULL, "Width of a marking"),
    RV_INT("min-contrast", min_contrast, 1, 255, 10, 0, "gray levels", NULL,
           "Minimum contrast of a marking to the road"),
    RV_REAL("lane-width", lane_width, 2, 6, 3.5, 0, "m", NULL,
            "Width of the lane until it has been measured"),
    RV_PARAM_THREADS,
};
RV_PARAMS(lanes)

/* --- Plan ------------------------------------------------------------------------------------ */

static int rounded(double x) {
  return (int)floor(x + 0.5);
}

static void fill_tables(RvLanesPlan *p) {
  p->psi_step = PSI_STEP;
  p->kappa_step = p->is_camera ? KAPPA_STEP_CAMERA : KAPPA_STEP;
  for (int i = 0; i < RV_LANES_PSIS; i++)
    p->psi[i] = rounded((i - RV_LANES_PSIS / 2) * PSI_STEP * 10 * 8192);
  for (int i = 0; i < p->kappas; i++) {
    const double kappa = (i - p->kappas / 2) * p->kappa_step, share = kappa / 0.004;
    p->kappa[i] = rounded(kappa * 0.05 * 1024 * 65536);
    p->prior[i] = (uint32_t)rounded(1024 * exp(-0.5 * share * share));
  }
}

/* A lower horizon makes every line longer in m, and so scores more, unless the pitch is known. */
static void fill_horizon_prior(RvLanesPlan *p) {
  const int is_known = p->is_camera && fabs(p->config.camera.pitch) > 0;
  for (int i = 0; i < p->horizons; i++) {
    const double share = (i - p->horizons / 2) / HORIZON_SIGMA;
    p->horizon_prior[i] = is_known ? (uint32_t)rounded(1024 * exp(-0.5 * share * share)) : 1024;
  }
}

void rv_lanes_make_plan(void *plan) {
  RvLanesPlan *p = plan;
  const RvLanesConfig *c = &p->config;
  const RvCamera *camera = &c->camera;
  p->width = c->width;
  p->height = c->height;
  p->n = rv_div_up(c->width, RV_LANES_COLUMNS);
  p->columns = c->width / p->n;
  p->stride = rv_max((c->height + 270) / 540, 1);
  p->rows = rv_div_up(c->height, p->stride);
  p->hits = p->rows * RV_LANES_ROW_HITS;
  p->is_camera = c->ground == RV_LANES_GROUND_CAMERA;
  p->horizons = p->is_camera ? RV_LANES_HORIZONS : 1;
  p->kappas = p->is_camera ? RV_LANES_KAPPAS_CAMERA : RV_LANES_KAPPAS;
  p->spaces = p->horizons * RV_LANES_PSIS * p->kappas;
  const double pitch = camera->pitch * PI / 180;
  const double base = p->is_camera ? camera->height / cos(pitch) : camera->baseline;
  p->doffs = rounded(camera->doffs * 16);
  p->cx = rounded(camera->cx * 16);
  p->horizon = p->is_camera ? rounded((camera->cy - camera->focal * tan(pitch)) * 16) : 0;
  p->horizon_step = rv_max(rounded(camera->focal * HORIZON_STEP * 16), 1);
  p->z_max = rounded(c->max_distance * 100);
  p->mark = rounded(c->mark_width * 1000);
  p->z_scale = (int64_t)floor(camera->focal * base * 25600 + 0.5);
  p->x_scale = (int64_t)floor(base * 256000 + 0.5);
  p->axis = camera->cx;
  p->baseline = base;
  fill_tables(p);
  fill_horizon_prior(p);
}

static RvStatus check_rules(const void *config) {
  const RvLanesConfig *c = config;
  const RvCamera *camera = &c->camera;
  RV_TRY(rv_check_camera(&c->log, "lanes", camera, 1));
  RV_TRY(rv_check_range(&c->log, "lanes", "pitch", camera->pitch, -45, 45, "degrees"));
  if (c->ground == RV_LANES_GROUND_CAMERA)
    return rv_check_range(&c->log, "lanes", "camera height of ground=camera", camera->height, 0.1,
                          100, "m");
  return rv_check_range(&c->log, "lanes", "baseline of ground=estimate", camera->baseline, 1e-3,
                        1e3, "m");
}

RV_CLASS(RvLanes, lanes, .rules = check_rules, .plan = rv_lanes_make_plan);

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_source(const RvLanesConfig *c, const RvLanesSource *source) {
  const RvLog *log = &c->log;
  RV_REQUIRE(log, source, "lanes: source is NULL");
  RV_TRY(rv_check_plane(log, "lanes", "gray", &source->gray, c->width, c->height, RV_U8));
  RV_TRY(rv_check_optional_plane(log, "lanes", "disparity", &source->disparity, c->width, c->height,
                                 RV_U16));
  RV_TRY(
      rv_check_optional_plane(log, "lanes", "color", &source->color, c->width, c->height, RV_U32));
  if (c->ground == RV_LANES_GROUND_CAMERA)
    return RV_OK;
  RV_REQUIRE(log, source->ground, "lanes: ground is NULL");
  return rv_check_aligned(log, "lanes", "ground", source->ground, 8);
}

RvStatus rv_lanes_run(RvLanes *lanes, const RvLanesSource *source, RvLanesFound *out,
                      RvStream stream) {
  if (!lanes)
    return RV_ERR_ARG;
  const RvLanesConfig *c = &lanes->plan.config;
  RV_TRY(check_source(c, source));
  RV_REQUIRE(&c->log, out, "lanes: out is NULL");
  RV_TRY(rv_check_aligned(&c->log, "lanes", "out", out, 8));
  const RvLanesStages *stages = (const RvLanesStages *)lanes->object.base;
  RvLanesJob job = {&lanes->plan, *source, out, stream};
  if (c->ground == RV_LANES_GROUND_CAMERA) /* disparity needs a baseline */
    job.source.disparity.data = NULL;
  void *work = lanes->object.work;
  RV_TRY(stages->rows(work, &job));
  RV_TRY(stages->marks(work, &job));
  RV_TRY(stages->votes(work, &job));
  return stages->lines(work, &job);
}

RV_OBJECT_RESET(RvLanes, lanes);
