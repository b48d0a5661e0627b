/* SPDX-License-Identifier: MIT */
/* obstacles_cases.c: obstacles and free space against known scenes and the reference implementation,
 * CPU = CUDA, and fuzz input. */
#include "obstacles/obstacles_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ground/ground_inputs.h"
#include "obstacles/obstacles_reference.h"

#define RECORDS_MAX 4096

/* A frame in host memory. */
typedef struct Scene {
  RvObstaclesConfig config;
  RvPlane disparity, gray;
  RvGroundSurface ground;
  RvStixel *stixels;
  RvSegment *segments;
  uint32_t count;
  int has_gray;
} Scene;

static Scene scene_new(RvCheck *check, int width, int height) {
  Scene s = {.disparity = rvc_plane(width, height, RV_U16),
             .gray = rvc_plane(width, height, RV_U8),
             .stixels = rvc_memory(RECORDS_MAX * sizeof *s.stixels),
             .segments = rvc_memory(RECORDS_MAX * sizeof *s.segments)};
  GROUND_INPUT_CASE_CONFIG(check, obstacles, &s.config, width, height);
  return s;
}

static void scene_free(Scene *s) {
  free(s->disparity.data);
  free(s->gray.data);
  free(s->stixels);
  free(s->segments);
}

static RvObstaclesSource source_of(const Scene *s) {
  return (RvObstaclesSource){s->disparity, s->stixels, s->segments,
                             s->count,     &s->ground, s->has_gray ? s->gray : (RvPlane){0}};
}

/* --- Engines --------------------------------------------------------------------------------- */

static RvStatus run_cpu(const Scene *s, ObstaclesResult *result) {
  RvObstacles *obstacles = NULL;
  const RvObstaclesSource source = source_of(s);
  const RvObstaclesOutput output = {result->boxes, result->counts, result->columns};
  RvStatus status = rv_obstacles_new(&obstacles, &s->config, RV_CPU);
  for (int run = 0; run < 2 && status == RV_OK; run++) /* a second frame finds a used object */
    status = rv_obstacles_run(obstacles, &source, &output, NULL);
  rv_obstacles_free(&obstacles);
  return status;
}

/* Device copy of host memory. */
static void *upload(const void *host, size_t bytes) {
  void *device = NULL;
  if (rv_buffer_new(&device, bytes, RV_CUDA) != RV_OK ||
      rv_copy_to_device(device, host, bytes, NULL) != RV_OK)
    abort();
  return device;
}

static RvStatus run_cuda(RvCheck *check, const Scene *s, ObstaclesResult *result) {
  RvObstacles *obstacles = NULL;
  RvPlane disparity, gray;
  if (!rvc_upload(check, &disparity, &s->disparity))
    return RV_ERR_CUDA;
  if (!rvc_upload(check, &gray, &s->gray)) {
    rvc_device_free(&disparity);
    return RV_ERR_CUDA;
  }
  void *pieces[] = {upload(s->stixels, RECORDS_MAX * sizeof *s->stixels),
                    upload(s->segments, RECORDS_MAX * sizeof *s->segments),
                    upload(&s->ground, sizeof s->ground),
                    upload(result->boxes, sizeof result->boxes),
                    upload(result->counts, sizeof result->counts),
                    upload(result->columns, sizeof result->columns)};
  const RvObstaclesSource source = {disparity, pieces[0], pieces[1],
                                    s->count,  pieces[2], s->has_gray ? gray : (RvPlane){0}};
  const RvObstaclesOutput output = {pieces[3], pieces[4], pieces[5]};
  RvStatus status = rv_obstacles_new(&obstacles, &s->config, RV_CUDA);
  for (int run = 0; run < 2 && status == RV_OK; run++)
    status = rv_obstacles_run(obstacles, &source, &output, NULL);
  if (status == RV_OK)
    status = rv_copy_to_host(result->boxes, pieces[3], sizeof result->boxes, NULL);
  if (status == RV_OK)
    status = rv_copy_to_host(result->counts, pieces[4], sizeof result->counts, NULL);
  if (status == RV_OK)
    status = rv_copy_to_host(result->columns, pieces[5], sizeof result->columns, NULL);
  for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++)
    rv_buffer_free(&pieces[k], RV_CUDA);
  rvc_device_free(&disparity);
  rvc_device_free(&gray);
  rv_obstacles_free(&obstacles);
  return status;
}

/* --- Comparison ------------------------------------------------------------------------------ */

static void compare(RvCheck *check, const char *name, const Scene *s, const ObstaclesResult *want,
                    const ObstaclesResult *got, const char *what) {
  int strips, width;
  rv_obstacles_size(&s->config, &strips, &width);
  if (!rvc_true(check, name, want->counts[0] == got->counts[0] && want->counts[1] == got->counts[1],
                "%s %dx%d: %u of %u boxes, expected %u of %u", what, s->config.width,
                s->config.height, got->counts[0], got->counts[1], want->counts[0], want->counts[1]))
    return;
  for (uint32_t k = 0; k < want->counts[0]; k++) {
    const RvObstacleBox *a = &want->boxes[k], *b = &got->boxes[k];
    if (!rvc_true(check, name, memcmp(a, b, sizeof *a) == 0,
                  "%s box %u: %d..%d x %d..%d D %d..%d votes %d runs %d strips %d over %d label %d "
                  "valid %d, expected %d..%d x %d..%d D %d..%d %d %d %d %d %d %d",
                  what, k, b->left, b->right, b->top, b->bottom, b->near_d, b->far_d, b->votes,
                  b->runs, b->strips, b->over, b->label, b->valid, a->left, a->right, a->top,
                  a->bottom, a->near_d, a->far_d, a->votes, a->runs, a->strips, a->over, a->label,
                  a->valid))
      return;
  }
  for (int k = 0; k < strips; k++) {
    const RvFreeColumn *a = &want->columns[k], *b = &got->columns[k];
    if (!rvc_true(
            check, name, memcmp(a, b, sizeof *a) == 0,
            "%s column %d: row %d d %d kind %d confidence %d obstacle %d, expected %d %d %d %d "
            "%d",
            what, k, b->row, b->disparity, b->kind, b->confidence, b->obstacle, a->row,
            a->disparity, a->kind, a->confidence, a->obstacle))
      return;
  }
}

static void check_scene(RvCheck *check, const char *name, const Scene *s) {
  ObstaclesResult *want = rvc_memory(sizeof *want), *got = rvc_memory(sizeof *got);
  RvObstaclesTables *tables = rvc_memory(sizeof *tables);
  RvObstaclesPlan plan = {.config = s->config};
  const RvObstaclesSource source = source_of(s);
  rv_obstacles_make_plan(&plan, tables);
  obstacles_reference(&plan, &source, want);
  if (rvc_true(check, name, run_cpu(s, got) == RV_OK, "the CPU engine failed"))
    compare(check, name, s, want, got, "CPU");
  memset(got, 0, sizeof *got);
  if (rvc_cuda(check) &&
      rvc_true(check, name, run_cuda(check, s, got) == RV_OK, "the CUDA engine failed"))
    compare(check, name, s, want, got, "CUDA");
  free(want);
  free(got);
  free(tables);
}

/* --- Known scenes ---------------------------------------------------------------------------- */

typedef struct Expected {
  double z, x, width, height;
  int kind;
} Expected;

/* The obstacle near (z, x), NULL without one. */
static const RvObstacle *find(const RvObstacle *list, uint32_t count, double z, double x) {
  for (uint32_t k = 0; k < count; k++)
    if (fabs(list[k].distance - z) < 0.08 * z && fabs(list[k].lateral - x) < 0.4)
      return &list[k];
  return NULL;
}

static void check_known(RvCheck *check, const char *name, RvRandom *random) {
  static const Expected expected[] = {
      {9, -2.1, 1.8, 1.5, RV_OBSTACLE_OBJECT},
      {14, 2.4, 0.3, 1.9, RV_OBSTACLE_POLE},
      {20, -0.2, 1.6, 1.4, RV_OBSTACLE_OBJECT},
      {16, 6, 1, 2, RV_OBSTACLE_OBJECT},
  };
  for (int noise = 0; noise < 3; noise++) {
    Scene s = scene_new(check, 640, 400);
    GroundInput in = {.camera = s.config.camera,
                      .noise = 0.1 * noise,
                      .holes = 50 * noise,
                      .wall = 40,
                      .roll = 0.002 * (noise - 1)};
    for (int k = 0; k < 4; k++)
      in.boxes[k] = (GroundBox){expected[k].z, expected[k].x - expected[k].width / 2,
                                expected[k].width, expected[k].height, 0};
    in.boxes[4] = (GroundBox){12, -0.8, 2.5, 1, 3}; /* a bridge */
    in.box_count = 5;
    ground_input_paint(&in, random, &s.disparity);
    s.ground = rv_ground_of_camera(&in.camera);
    s.ground.slope_x = in.roll;
    s.ground.intercept -= in.roll * in.camera.cx;
    ObstaclesResult *r = rvc_memory(sizeof *r);
    RvObstacle list[RV_OBSTACLES_MAX];
    if (rvc_true(check, name, run_cpu(&s, r) == RV_OK, "run failed")) {
      for (uint32_t k = 0; k < r->counts[0]; k++)
        rv_obstacles_measure(&s.config, &s.ground, &r->boxes[k], &list[k]);
      for (int k = 0; k < 4; k++) {
        const Expected *e = &expected[k];
        const RvObstacle *o = find(list, r->counts[0], e->z, e->x);
        rvc_true(check, name,
                 o && o->kind == e->kind && fabs(o->width - e->width) < 0.3 &&
                     fabs(o->height - e->height) < 0.25 && o->bottom < 0.1,
                 "noise %d, box at %g m: found %d, kind %d, %g x %g m", noise, e->z, o != NULL,
                 o ? o->kind : -1, o ? o->width : 0, o ? o->height : 0);
      }
      const RvObstacle *bridge = find(list, r->counts[0], 12, 0.45);
      rvc_true(check, name, bridge && bridge->kind == RV_OBSTACLE_OVERHANG && bridge->bottom > 2.4,
               "noise %d: bridge found %d, kind %d, bottom %g m", noise, bridge != NULL,
               bridge ? bridge->kind : -1, bridge ? bridge->bottom : 0);
      /* straight ahead the way is free to the car at 20 m, below the bridge */
      const RvCamera *c = &s.config.camera;
      const RvFreeColumn *column = &r->columns[(int)c->cx / 2];
      const double z = column->disparity ? c->focal * c->baseline * 16 / column->disparity : 999;
      rvc_true(check, name,
               column->kind == RV_FREE_SPACE_OBJECT && fabs(z - 20) < 1 &&
                   column->obstacle < r->counts[0] && list[column->obstacle].distance > 18,
               "noise %d: the way ahead ends at %g m, kind %d, obstacle %d of %u", noise, z,
               column->kind, column->obstacle, r->counts[0]);
    }
    free(r);
    scene_free(&s);
  }
}

/* --- Reference implementation ---------------------------------------------------------------- */

/* Stixels or segments of constant and slanted disparity, columns from left to right. */
static void make_records(RvRandom *random, Scene *s) {
  const RvObstaclesConfig *c = &s->config;
  const int step = c->input == RV_OBSTACLES_STIXELS ? c->stixel_width : 1;
  s->count = 0;
  for (int x = 0; x < c->width; x += step)
    for (int y = c->height - 1; y > 0 && s->count < RECORDS_MAX;) {
      const int top = rv_max(y - rvc_range(random, 3, 30), 0), d = rvc_range(random, 32, 900);
      s->stixels[s->count] = (RvStixel){.column = (uint16_t)x,
                                        .v_bottom = (uint16_t)y,
                                        .v_top = (uint16_t)top,
                                        .slope = (float)(rvc_range(random, -20, 20) / 100.0),
                                        .intercept = (float)(d / 16.0)};
      s->segments[s->count++] =
          (RvSegment){.column = (uint16_t)x,
                      .first = (uint16_t)top,
                      .last = (uint16_t)y,
                      .disparity_first = (uint16_t)d,
                      .disparity_last = (uint16_t)(d + rvc_range(random, -30, 30))};
      y = top - rvc_range(random, 1, 12);
    }
}

static void random_ground(RvRandom *random, Scene *s, const RvCamera *camera) {
  s->ground = rv_ground_of_camera(camera);
  s->ground.bin = rvc_range(random, 8, 20);
  s->ground.slope_x = rvc_range(random, -20, 20) / 1000.0;
  s->ground.intercept -= s->ground.slope_x * camera->cx;
  for (int k = 0; k < RV_GROUND_BINS; k++)
    s->ground.profile[k] = (int16_t)rvc_range(random, -12, 12);
}

/* Noise with about the contrast that decides, in some scenes with textured columns. */
static void random_gray(RvRandom *random, Scene *s, int index) {
  const int noise = rvc_range(random, 2, 12);
  s->has_gray = index % 6 != 5;
  for (int y = 0; y < s->gray.height; y++)
    for (int x = 0; x < s->gray.width; x++)
      ((uint8_t *)s->gray.data)[y * s->gray.stride + x] =
          (uint8_t)(100 + rvc_range(random, 0, noise) + (index % 2 && x / 16 % 2 ? x * 5 % 80 : 0));
}

static void random_scene(RvCheck *check, RvRandom *random, Scene *s, int index) {
  RvObstaclesConfig *c = &s->config;
  c->camera.doffs = index % 3 ? 0 : rvc_range(random, -40, 40) / 16.0;
  c->input = (RvObstaclesInput)(index % 5 < 3 ? 0 : index % 5 - 2);
  c->stixel_width = rvc_range(random, 1, 12);
  c->max_disparity = index % 4 == 3 ? rvc_range(random, 16, 600) : 128;
  c->min_height = rvc_range(random, 1, 8) / 10.0;
  c->clearance = rvc_range(random, 10, 30) / 10.0;
  c->max_distance = index % 4 == 2 ? rvc_range(random, 5, 60) : 0;
  GroundInput in = {.camera = c->camera,
                    .noise = rvc_range(random, 0, 8) / 10.0,
                    .holes = rvc_range(random, 0, 400),
                    .outliers = rvc_range(random, 0, index % 2 ? 300 : 30),
                    .wall = rvc_range(random, 0, 1) * 25,
                    .box_count = 6};
  for (int k = 0; k < 6; k++)
    in.boxes[k] = (GroundBox){rvc_range(random, 30, 250) / 10.0, rvc_range(random, -60, 50) / 10.0,
                              rvc_range(random, 2, 40) / 10.0, rvc_range(random, 3, 40) / 10.0,
                              k > 3 ? rvc_range(random, 0, 40) / 10.0 : 0};
  ground_input_paint(&in, random, &s->disparity);
  random_ground(random, s, &c->camera);
  make_records(random, s);
  random_gray(random, s, index);
}

static void check_reference(RvCheck *check, const char *name, RvRandom *random) {
  const int cases = rvc_small(check) ? 6 : 30;
  for (int i = 0; i < cases; i++) {
    Scene s = scene_new(check, rvc_range(random, RV_OBSTACLES_SIDE_MIN, 110),
                        rvc_range(random, RV_OBSTACLES_SIDE_MIN, 80));
    random_scene(check, random, &s, i);
    check_scene(check, name, &s);
    scene_free(&s);
  }
}

/* Nothing but one value, noise, no ground, strange grounds. */
static void check_extremes(RvCheck *check, const char *name, RvRandom *random) {
  static const int values[] = {0, 1, 31, 32, 400, 2047, 65535, -1};
  for (int i = 0; i < 12; i++) {
    Scene s = scene_new(check, 64 + i, 47);
    for (int at = 0; at < s.config.width * 47; at++)
      ((uint16_t *)s.disparity.data)[at] =
          (uint16_t)(values[i % 8] < 0 ? rvc_range(random, 0, 65535) : values[i % 8]);
    random_ground(random, &s, &s.config.camera);
    random_gray(random, &s, i);
    if (i == 8)
      s.ground = (RvGroundSurface){.source = RV_GROUND_NONE};
    if (i == 9)
      s.ground.intercept = 1e300; /* the camera is upside down, or below the ground */
    if (i == 10)
      s.ground.slope_y = 1e-300;
    if (i == 11)
      s.ground.slope_x = NAN;
    check_scene(check, name, &s);
    scene_free(&s);
  }
}

/* Gray levels of columns: of none, of all, of every second one, no image. */
enum { SMOOTH, TEXTURE, HALF, NO_IMAGE };

/* A box straight ahead that hides the ground behind it. */
typedef struct Contrast {
  double d; /* px: distance */
  int image;
  int hangs;  /* something overhanging beside the box */
  int exists; /* it is in the way; else not known to be free */
} Contrast;

static void paint_contrast(RvRandom *random, const Contrast *c, Scene *s) {
  GroundInput in = {.camera = s->config.camera, .box_count = 1 + c->hangs};
  const double z = in.camera.focal * in.camera.baseline / c->d;
  in.boxes[0] = (GroundBox){z, -0.6, 1.2, 2.4, 0};
  in.boxes[1] = (GroundBox){z, 0.8, 3, 1, 2.5};
  ground_input_paint(&in, random, &s->disparity);
  s->ground = rv_ground_of_camera(&in.camera);
  for (int y = 0; y < s->gray.height; y++)
    for (int x = 0; x < s->gray.width; x++) { /* contrast compares x - 2 with x + 2 */
      const int is_textured = c->image == TEXTURE || (c->image == HALF && x % 2 == 0);
      ((uint8_t *)s->gray.data)[y * s->gray.stride + x] =
          (uint8_t)(100 + (is_textured && x / 4 % 2 ? 10 : 0));
    }
  s->has_gray = c->image != NO_IMAGE;
}

/* A far box is in the way when the image shows it, and not when the image has no contrast there, or in
 * half of the columns; from 8 px on only something overhanging makes it doubtful. */
static void check_contrast(RvCheck *check, const char *name, RvRandom *random) {
  static const Contrast cases[] = {
      {6, SMOOTH, 0, 0},   {6, TEXTURE, 0, 1},  {6, HALF, 0, 0},
      {6, NO_IMAGE, 0, 1}, {10, SMOOTH, 0, 1},  {10, SMOOTH, 1, 0},
      {10, HALF, 1, 0},    {10, TEXTURE, 1, 1}, {14, SMOOTH, 1, 1},
  };
  Scene s = scene_new(check, 640, 400);
  ObstaclesResult *r = rvc_memory(sizeof *r);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    paint_contrast(random, &cases[k], &s);
    const int middle = (int)s.config.camera.cx / 2;
    if (rvc_true(check, name, run_cpu(&s, r) == RV_OK, "run failed"))
      rvc_true(check, name,
               r->columns[middle].kind ==
                   (cases[k].exists ? RV_FREE_SPACE_OBJECT : RV_FREE_SPACE_UNKNOWN),
               "case %d: column of kind %d", (int)k, r->columns[middle].kind);
    if (k % 3 == 2) /* the reference is slow */
      check_scene(check, name, &s);
  }
  free(r);
  scene_free(&s);
}

/* A row of thin boxes gives more components than there are boxes. */
static void check_many(RvCheck *check, const char *name, RvRandom *random) {
  Scene s = scene_new(check, 1800, 60);
  RvCamera camera = s.config.camera;
  camera.height = 8;
  s.ground = rv_ground_of_camera(&camera);
  s.config.clearance = 5;
  for (int y = 0; y < 60; y++)
    for (int x = 0; x < 1800; x++)
      ((uint16_t *)s.disparity.data)[y * 1800 + x] =
          (uint16_t)(x / 6 % 2 ? 0 : 64 + x / 12 % 7 * 40 + y / 30 * 400 + rvc_range(random, 0, 3));
  check_scene(check, name, &s);
  scene_free(&s);
}

/* --- Other boxes ----------------------------------------------------------------------------- */

static RvStatus distances_of(RvCheck *check, const Scene *s, RvEngine engine,
                             const RvObstaclesRect *rects, int count, RvObstaclesDepth *depths) {
  RvObstacles *obstacles = NULL;
  RvPlane device = {0};
  RvStatus status = rv_obstacles_new(&obstacles, &s->config, engine);
  const size_t bytes = (size_t)count * sizeof *depths;
  if (status == RV_OK && engine == RV_CPU)
    status = rv_obstacles_distances(obstacles, &s->disparity, rects, (uint32_t)count, depths, NULL);
  if (status == RV_OK && engine == RV_CUDA && rvc_upload(check, &device, &s->disparity)) {
    void *in = upload(rects, (size_t)count * sizeof *rects), *out = upload(depths, bytes);
    status = rv_obstacles_distances(obstacles, &device, in, (uint32_t)count, out, NULL);
    if (status == RV_OK)
      status = rv_copy_to_host(depths, out, bytes, NULL);
    rv_buffer_free(&in, RV_CUDA);
    rv_buffer_free(&out, RV_CUDA);
    rvc_device_free(&device);
  }
  rv_obstacles_free(&obstacles);
  return status;
}

/* The first `count` of the boxes on both engines. */
static void compare_distances(RvCheck *check, const char *name, const Scene *s,
                              const RvObstaclesRect *rects, int count) {
  RvObstaclesDepth got[RV_OBSTACLES_BOXES];
  for (int engine = RV_CPU; engine <= (rvc_cuda(check) ? RV_CUDA : RV_CPU); engine++) {
    memset(got, 0, sizeof got);
    if (!rvc_true(check, name, distances_of(check, s, (RvEngine)engine, rects, count, got) == RV_OK,
                  "engine %d failed", engine))
      continue;
    for (int k = 0; k < count; k++) {
      const RvObstaclesDepth want = obstacles_reference_depth(&s->disparity, rects, count, k);
      rvc_true(check, name, want.disparity == got[k].disparity && want.valid == got[k].valid,
               "engine %d, box %d of %d, %d,%d %dx%d: %d (%d), expected %d (%d)", engine, k, count,
               rects[k].x, rects[k].y, rects[k].w, rects[k].h, got[k].disparity, got[k].valid,
               want.disparity, want.valid);
    }
  }
}

static void check_distances(RvCheck *check, const char *name, RvRandom *random) {
  Scene s = scene_new(check, 90, 70);
  uint16_t *values = s.disparity.data;
  for (int i = 0; i < 90 * 70; i++)
    values[i] = (uint16_t)(rvc_range(random, 0, 2) ? rvc_range(random, 0, 65535) : 0);
  RvObstaclesRect rects[RV_OBSTACLES_BOXES];
  for (int count = 2; count <= RV_OBSTACLES_BOXES; count *= 2) { /* 256 cover all of each other */
    for (int k = 0; k < count; k++)
      rects[k] = (RvObstaclesRect){rvc_range(random, -60, 120), rvc_range(random, -60, 120),
                                   rvc_range(random, -2, 90), rvc_range(random, 0, 90)};
    if (count > 4) {
      rects[0] = (RvObstaclesRect){INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
      rects[1] = (RvObstaclesRect){INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX};
      rects[2] = (RvObstaclesRect){0, 0, 90, 70};
    }
    compare_distances(check, name, &s, rects, count);
  }
  scene_free(&s);
}

/* A near box before the right half of a far one, and before all of another one. */
static void check_hidden(RvCheck *check, const char *name, RvRandom *random) {
  static const RvObstaclesRect rects[] = {{8, 10, 40, 40}, {28, 12, 40, 44}, {36, 20, 16, 16}};
  static const int wanted[] = {160, 480, 480};
  Scene s = scene_new(check, 90, 70);
  uint16_t *values = s.disparity.data;
  (void)random;
  for (int i = 0; i < 90 * 70; i++)
    values[i] = i % 90 < 28 ? 160 : 480;
  RvObstaclesDepth got[3] = {{0, 0, 0}};
  rvc_true(check, name, distances_of(check, &s, RV_CPU, rects, 3, got) == RV_OK, "failed");
  for (int k = 0; k < 3; k++)
    rvc_true(check, name, got[k].disparity == wanted[k] && got[k].valid == 255,
             "box %d: %d (%d), expected %d (255)", k, got[k].disparity, got[k].valid, wanted[k]);
  rvc_true(check, name, distances_of(check, &s, RV_CPU, rects, 1, got) == RV_OK, "failed");
  rvc_true(check, name, got[0].disparity == 480, "alone: %d, expected 480", got[0].disparity);
  compare_distances(check, name, &s, rects, 3);
  scene_free(&s);
}

RVC_PARITY({.group = obstacles_host_parity}, RVC_CASE("obstacles/known", check_known, RVC_LARGE),
           RVC_CASE("obstacles/distances", check_distances, 0),
           RVC_CASE("obstacles/hidden", check_hidden, 0),
           RVC_CASE("obstacles/extremes", check_extremes, 0),
           RVC_CASE("obstacles/contrast", check_contrast, RVC_LARGE),
           RVC_CASE("obstacles/many", check_many, RVC_LARGE),
           RVC_CASE("obstacles/reference", check_reference, 0));

/* --- Fuzz ------------------------------------------------------------------------------------- */

static void fuzz(const uint8_t *bytes, size_t size) {
  static const RvFuzzField fields[] = {
      {"width", 0, 32, 1, 48},          {"height", 1, 32, 1, 48},
      {"max-disparity", 3, 16, 4, 0},   {"min-height", 4, 0, 1 / 64.0, 0},
      {"clearance", 5, 0, 1 / 32.0, 0}, {"max-distance", 6, 0, 1, 0}};
  if (size < 16)
    return;
  RvObstaclesConfig c;
  GROUND_INPUT_FUZZ_CONFIG(obstacles, &c, fields, bytes);
  RvObstacles *obstacles = NULL;
  if (rv_obstacles_new(&obstacles, &c, RV_CPU) != RV_OK)
    return;
  const RvGroundSurface ground = ground_input_surface(&c.camera, bytes + 7, size - 7);
  const RvPlane plane = rvc_fuzz_u16(c.width, c.height, bytes + 8, size - 8, bytes[8] % 9);
  ObstaclesResult *want = rvc_memory(sizeof *want), *got = rvc_memory(sizeof *got);
  RvObstaclesTables *tables = rvc_memory(sizeof *tables);
  RvObstaclesPlan plan = {.config = c};
  const RvObstaclesSource source = {.disparity = plane, .ground = &ground};
  const RvObstaclesOutput output = {got->boxes, got->counts, got->columns};
  rv_obstacles_make_plan(&plan, tables);
  obstacles_reference(&plan, &source, want);
  if (rv_obstacles_run(obstacles, &source, &output, NULL) != RV_OK ||
      memcmp(want, got, sizeof *got) != 0)
    abort();
  rv_obstacles_free(&obstacles);
  free(want);
  free(got);
  free(tables);
  free(plane.data);
}

const RvCases rv_obstacles_cases = {"obstacles", parity, obstacles_bench, fuzz};
