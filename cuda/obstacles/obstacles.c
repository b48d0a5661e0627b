/* SPDX-License-Identifier: MIT */
/* obstacles.c: host side of obstacles and free space: parameters, plan, and run as the list of its
 * stages. */
#include "obstacles/obstacles.h"

#include "obstacles/obstacles_stages.h"

struct RvObstacles {
  RvObject object;
  RvObstaclesPlan plan;
  RvObstaclesTables tables; /* the plan points here */
};

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvObstaclesConfig Config;

static const RvParam params[] = {
    RV_PARAM_SIZE_FROM(RV_OBSTACLES_SIDE_MIN),
    RV_CHOICE("input", input, RV_OBSTACLES_DISPARITY, 0, NULL, NULL,
              "Data that obstacles are made from",
              {RV_OBSTACLES_DISPARITY, "disparity", "every pixel of the disparity"},
              {RV_OBSTACLES_STIXELS, "stixels", "stixels of cudastixels"},
              {RV_OBSTACLES_SEGMENTS, "segments", "line segments of cudardp"}),
    RV_INT("max-disparity", max_disparity, 16, 4096, 128, RV_PARAM_HIDDEN, "px", NULL,
           "Disparity range"),
    RV_INT("stixel-width", stixel_width, 1, 256, 8, RV_PARAM_HIDDEN, "px", NULL,
           "Width of the stixels"),
    RV_REAL("min-height", min_height, 0.05, 2, 0.3, 0, "m", NULL,
            "Minimum height of obstacles above the ground"),
    RV_REAL("clearance", clearance, 0.5, 5, 2.2, 0, "m", NULL,
            "Height above which things are not in the way"),
    RV_REAL("max-distance", max_distance, 0, 1000, 0, 0, "m", "0 = to 2 px of disparity",
            "Maximum distance of obstacles and free space"),
    RV_REAL("path-width", path_width, 0, 10, 1.8, 0, "m", NULL,
            "Width of the corridor straight ahead"),
    RV_PARAM_THREADS,
};
RV_PARAMS(obstacles)

static RvStatus check_rules(const void *config) {
  const RvObstaclesConfig *c = config;
  RV_TRY(rv_check_camera(&c->log, "obstacles", &c->camera, 1));
  RV_TRY(rv_check_range(&c->log, "obstacles", "baseline", c->camera.baseline, 1e-3, 1e3, "m"));
  RV_REQUIRE(&c->log, c->min_height < c->clearance,
             "obstacles: min_height is %g m, must be below clearance = %g m", c->min_height,
             c->clearance);
  return RV_OK;
}

/* --- Plan ------------------------------------------------------------------------------------ */

/* `x` rounded down, as a table has it. */
static int entry(double x, int low, int high) {
  return x <= low ? low : x >= high ? high : (int)x;
}

static void fill_tables(const RvObstaclesPlan *p, RvObstaclesTables *t) {
  const double sampled = (double)p->n * 1.0, per_row = 1.0 / p->stride;
  for (int k = 0; k < RV_OBSTACLES_FINE; k++) {
    const double d = (k + 0.5) * p->bin / 16, rows = d / p->baseline; /* per m */
    const double half = 0.5 * rows > 4 * p->stride ? 0.5 * rows : 4 * p->stride;
    t->need[k] = entry(0.5 * sampled * half * per_row, 1, RV_OBSTACLES_PIXELS);
    t->window[k] = (uint8_t)entry(0.05 * (k + 0.5) / 2, 1, 255);
    t->mm[k] = entry(65536 * 1000.0 / (256 * rows) + 0.5, 1, INT32_MAX);
    t->gap[k] = (uint16_t)entry(0.4 * rows * per_row, rv_max(4 / p->stride, 1), p->rows);
    t->reach[k] = (uint8_t)entry(0.5 * rows / p->n, 1, RV_OBSTACLES_REACH_MAX);
    t->tolerance[k] = (uint8_t)entry(0.5 + 0.15 * d * d / p->metric * 16 / p->bin, 0, 255);
  }
  for (int q = 0; q < RV_OBSTACLES_COARSE; q++) {
    const double rows = (q + 0.5) * p->bin / 8 / p->baseline;
    const double whole = rows > 4 * p->stride ? rows : 4 * p->stride;
    t->full[q] = entry(sampled * whole * per_row, 1, RV_OBSTACLES_PIXELS);
    t->spread[q] = (uint8_t)entry(2 + 2 * (int)(0.01 * q), 2, 255);
    int k = q;
    while (k >= 0 && !rv_obstacles_is_gap(p, q, k))
      k--;
    t->gap_at[q] = (int16_t)k;
  }
}

static int strip_width(const RvObstaclesConfig *c) {
  return rv_clamp((c->width + 155) / 311, 2, RV_OBSTACLES_STRIP_MAX);
}

void rv_obstacles_make_plan(RvObstaclesPlan *p, RvObstaclesTables *tables) {
  const RvObstaclesConfig *c = &p->config;
  p->width = c->width;
  p->height = c->height;
  p->n = strip_width(c);
  p->strips = c->width / p->n;
  p->stride =
      rv_max(rv_max((c->height + 270) / 540, 1), rv_div_up(p->n * c->height, RV_OBSTACLES_PIXELS));
  p->rows = rv_div_up(c->height, p->stride);
  p->bin = rv_max(4, rv_div_up(16 * c->max_disparity, RV_OBSTACLES_FINE));
  p->depths = p->bin * RV_OBSTACLES_FINE;
  p->split = rv_min(RV_OBSTACLES_SPLIT * 16 / p->bin, RV_OBSTACLES_FINE);
  p->doffs = (int)floor(c->camera.doffs * 16 + 0.5);
  p->baseline = c->camera.baseline;
  p->metric = c->camera.focal * c->camera.baseline;
  const double farthest = c->max_distance > 0 ? 16 * p->metric / c->max_distance : 0;
  p->least = rv_min(rv_max(RV_OBSTACLES_DEPTH_MIN, entry(farthest, 0, p->depths)), p->depths - 1);
  p->tables = tables;
  fill_tables(p, tables);
}

/* The plan is the first member of what the class sees; the tables follow it. */
static void make_plan(void *plan) {
  RvObstaclesPlan *p = plan;
  RvObstacles *object = (RvObstacles *)(void *)((char *)plan - offsetof(RvObstacles, plan));
  rv_obstacles_make_plan(p, &object->tables);
}

RV_CLASS(RvObstacles, obstacles, .rules = check_rules, .plan = make_plan);

void rv_obstacles_size(const RvObstaclesConfig *config, int *columns, int *column_width) {
  const int is_valid = rv_obstacles_config_check(config) == RV_OK;
  *column_width = is_valid ? strip_width(config) : 0;
  *columns = is_valid ? config->width / *column_width : 0;
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_source(const RvObstaclesConfig *c, const RvObstaclesSource *source) {
  const RvLog *log = &c->log;
  RV_REQUIRE(log, source, "obstacles: source is NULL");
  RV_REQUIRE(log, source->ground, "obstacles: ground is NULL");
  RV_TRY(rv_check_aligned(log, "obstacles", "ground", source->ground, 8));
  if (source->gray.data)
    RV_TRY(rv_check_plane(log, "obstacles", "gray", &source->gray, c->width, c->height, RV_U8));
  if (c->input == RV_OBSTACLES_DISPARITY)
    return rv_check_plane(log, "obstacles", "disparity", &source->disparity, c->width, c->height,
                          RV_U16);
  const void *records = c->input == RV_OBSTACLES_STIXELS ? (const void *)source->stixels
                                                         : (const void *)source->segments;
  RV_REQUIRE(log, records || source->count == 0, "obstacles: the records of the input are NULL");
  RV_REQUIRE(log, source->count <= INT32_MAX, "obstacles: %u records, must be at most 2^31 - 1",
             source->count);
  return rv_check_aligned(log, "obstacles", "records", records, 4);
}

static RvStatus check_output(const RvObstaclesConfig *c, const RvObstaclesOutput *output) {
  RV_REQUIRE(&c->log, output, "obstacles: output is NULL");
  RV_TRY(rv_check_aligned(&c->log, "obstacles", "boxes", output->boxes, 4));
  RV_TRY(rv_check_aligned(&c->log, "obstacles", "counts", output->counts, 4));
  return rv_check_aligned(&c->log, "obstacles", "columns", output->columns, 2);
}

RvStatus rv_obstacles_run(RvObstacles *obstacles, const RvObstaclesSource *source,
                          const RvObstaclesOutput *output, RvStream stream) {
  if (!obstacles)
    return RV_ERR_ARG;
  const RvObstaclesConfig *c = &obstacles->plan.config;
  RV_TRY(check_source(c, source));
  RV_TRY(check_output(c, output));
  const RvObstaclesStages *stages = (const RvObstaclesStages *)obstacles->object.base;
  RvObstaclesJob job = {.plan = &obstacles->plan,
                        .disparity = source->disparity,
                        .source = *source,
                        .output = *output,
                        .stream = stream};
  void *work = obstacles->object.work;
  if (c->input != RV_OBSTACLES_DISPARITY)
    RV_TRY(stages->raster(work, &job));
  RV_TRY(stages->strips(work, &job));
  RV_TRY(stages->space(work, &job));
  return stages->boxes(work, &job);
}

RvStatus rv_obstacles_distances(RvObstacles *obstacles, const RvPlane *disparity,
                                const RvObstaclesRect *rects, uint32_t count,
                                RvObstaclesDepth *depths, RvStream stream) {
  if (!obstacles)
    return RV_ERR_ARG;
  const RvObstaclesConfig *c = &obstacles->plan.config;
  RV_TRY(rv_check_plane(&c->log, "obstacles", "disparity", disparity, c->width, c->height, RV_U16));
  RV_REQUIRE(&c->log, count <= RV_OBSTACLES_BOXES, "obstacles: %u boxes, must be at most %d", count,
             RV_OBSTACLES_BOXES);
  RV_REQUIRE(&c->log, count == 0 || (rects && depths), "obstacles: rects or depths is NULL");
  RV_TRY(rv_check_aligned(&c->log, "obstacles", "rects", rects, 4));
  RV_TRY(rv_check_aligned(&c->log, "obstacles", "depths", depths, 4));
  if (count == 0)
    return RV_OK;
  const RvObstaclesStages *stages = (const RvObstaclesStages *)obstacles->object.base;
  RvObstaclesJob job = {.plan = &obstacles->plan,
                        .disparity = *disparity,
                        .rects = {rects, depths, (int)count},
                        .stream = stream};
  return stages->distances(obstacles->object.work, &job);
}
