/* SPDX-License-Identifier: MIT */
/* ground_cases.c: the ground estimation against computed planes and the reference implementation,
 * CPU = CUDA, and fuzz input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ground/ground_bench.h"
#include "ground/ground_inputs.h"
#include "ground/ground_reference.h"

#define FRAMES_MAX 16

/* --- Runs ------------------------------------------------------------------------------------ */

/* A sequence of frames, and the ground of each. */
typedef struct Sequence {
  RvGroundConfig config;
  int count;
  RvPlane frames[FRAMES_MAX];
} Sequence;

static Sequence sequence_new(RvCheck *check, int width, int height, int count) {
  Sequence s = {.count = count};
  GROUND_INPUT_CASE_CONFIG(check, ground, &s.config, width, height);
  rvc_planes(s.frames, count, width, height, RV_U16);
  return s;
}

static void sequence_free(Sequence *s) {
  rvc_planes_free(s->frames, s->count);
}

static RvStatus run_cuda(RvCheck *check, RvGround *ground, const RvPlane *frame,
                         RvGroundSurface *out) {
  RvPlane device;
  void *result = NULL;
  if (!rvc_upload(check, &device, frame))
    return RV_ERR_CUDA;
  RvStatus status = rv_buffer_new(&result, sizeof *out, RV_CUDA);
  if (status == RV_OK)
    status = rv_ground_run(ground, &device, result, NULL);
  if (status == RV_OK)
    status = rv_copy_to_host(out, result, sizeof *out, NULL);
  rvc_device_free(&device);
  rv_buffer_free(&result, RV_CUDA);
  return status;
}

static int run_engine(RvCheck *check, const char *name, const Sequence *s, RvEngine engine,
                      RvGroundSurface *out) {
  RvGround *ground = NULL;
  RvStatus status = rv_ground_new(&ground, &s->config, engine);
  for (int i = 0; i < s->count && status == RV_OK; i++)
    status = engine == RV_CUDA ? run_cuda(check, ground, &s->frames[i], &out[i])
                               : rv_ground_run(ground, &s->frames[i], &out[i], NULL);
  rv_ground_free(&ground);
  return rvc_true(check, name, status == RV_OK, "engine %d: %s", engine, rv_status_text(status));
}

static void run_reference(const Sequence *s, RvGroundSurface *out) {
  RvGroundPlan plan = {.config = s->config};
  RvGroundState state;
  memset(&state, 0, sizeof state);
  rv_ground_make_plan(&plan);
  for (int i = 0; i < s->count; i++)
    ground_reference(&plan, &s->frames[i], &state, &out[i]);
}

static int same(RvCheck *check, const char *name, const RvGroundSurface *a,
                const RvGroundSurface *b, int i, const char *what) {
  int good =
      rvc_true(check, name, memcmp(a, b, offsetof(RvGroundSurface, profile)) == 0,
               "%s frame %d: slopes %.17g %.17g intercept %.17g height %.17g source %d age %d "
               "cells %d bins %d..%d, expected %.17g %.17g %.17g %.17g %d %d %d %d..%d",
               what, i, b->slope_x, b->slope_y, b->intercept, b->height, b->source, b->age,
               b->cells, b->first, b->last, a->slope_x, a->slope_y, a->intercept, a->height,
               a->source, a->age, a->cells, a->first, a->last);
  for (int k = 0; good && k < RV_GROUND_BINS; k++)
    good = rvc_true(check, name, a->profile[k] == b->profile[k],
                    "%s frame %d: profile[%d] is %d, expected %d", what, i, k, b->profile[k],
                    a->profile[k]);
  return good;
}

static void compare(RvCheck *check, const char *name, const RvGroundSurface *want,
                    const RvGroundSurface *got, int count, const char *what) {
  int i = 0;
  while (i < count && same(check, name, &want[i], &got[i], i, what))
    i++;
}

/* All engines against the reference implementation. */
static void check_sequence(RvCheck *check, const char *name, const Sequence *s) {
  RvGroundSurface want[FRAMES_MAX], got[FRAMES_MAX];
  run_reference(s, want);
  if (run_engine(check, name, s, RV_CPU, got))
    compare(check, name, want, got, s->count, "CPU");
  if (rvc_cuda(check) && run_engine(check, name, s, RV_CUDA, got))
    compare(check, name, want, got, s->count, "CUDA");
}

/* --- Known grounds --------------------------------------------------------------------------- */

/* A plane is found as it was painted, with roll, noise, holes and things on it. */
static void check_planes(RvCheck *check, const char *name, RvRandom *random) {
  for (int i = 0; i < 12; i++) {
    Sequence s = sequence_new(check, 320 + 7 * i, 200 + 5 * i, 1);
    GroundInput in = {.camera = s.config.camera, .noise = i % 3 * 0.2, .holes = i % 2 * 200};
    in.camera.height = 1 + 0.15 * i;
    in.camera.pitch = i - 4;
    in.camera.doffs = i % 4 - 1;
    in.roll = (i % 5 - 2) * 0.002;
    in.wall = i % 2 ? 30 : 0;
    in.box_count = 2;
    in.boxes[0] = (GroundBox){12, -2.5, 1.8, 1.5, 0};
    in.boxes[1] = (GroundBox){9, 1.5, 0.6, 1.7, 0};
    s.config.camera.doffs = in.camera.doffs;
    ground_input_paint(&in, random, &s.frames[0]);
    const RvGroundSurface truth = rv_ground_of_camera(&in.camera);
    RvGroundSurface got;
    if (run_engine(check, name, &s, RV_CPU, &got)) {
      const double scale = fabs(got.height / in.camera.height - 1);
      rvc_true(check, name,
               got.source == RV_GROUND_ESTIMATE && scale < 0.03 &&
                   fabs(got.slope_y / truth.slope_y - 1) < 0.03 &&
                   fabs(got.slope_x - in.roll) < 0.002,
               "plane %d: height %.3f of %.3f m, slopes %.4f %.4f of %.4f %.4f", i, got.height,
               in.camera.height, got.slope_x, got.slope_y, in.roll, truth.slope_y);
      const double z = 15, d = in.camera.focal * in.camera.baseline / z - in.camera.doffs;
      const double row = (d - truth.intercept) / truth.slope_y;
      const double height = rv_ground_height(&got, &s.config.camera, d, in.camera.cx, row);
      rvc_true(check, name, fabs(height) < 0.08, "plane %d: ground at 15 m is %.3f m high", i,
               height);
    }
    sequence_free(&s);
  }
}

/* On a hill the profile follows the ground where the plane does not. */
static void check_hills(RvCheck *check, const char *name, RvRandom *random) {
  static const double hills[] = {-2.5, -1, 1, 2.5};
  for (int i = 0; i < 4; i++) {
    Sequence s = sequence_new(check, 640, 400, 1);
    const GroundInput in = {.camera = s.config.camera, .hill = hills[i], .noise = 0.1};
    ground_input_paint(&in, random, &s.frames[0]);
    RvGroundSurface got;
    if (run_engine(check, name, &s, RV_CPU, &got))
      for (double z = 6; z <= 24; z += 3) {
        /* row where the painted ground has the depth z */
        const double angle = in.camera.pitch * 3.14159265358979323846 / 180;
        const double down = (in.camera.height - in.hill / 1600 * z * z) / z;
        const double v = in.camera.cy + in.camera.focal * (down - sin(angle)) / cos(angle);
        const double d = in.camera.focal * in.camera.baseline / z;
        const double height = rv_ground_height(&got, &s.config.camera, d, in.camera.cx, v);
        rvc_true(check, name, fabs(height) < 0.03 + 0.004 * z, "hill %g m at %g m: %.3f m", in.hill,
                 z, height);
      }
    sequence_free(&s);
  }
}

/* --- Reference implementation ---------------------------------------------------------------- */

static void check_reference(RvCheck *check, const char *name, RvRandom *random) {
  const int cases = rvc_small(check) ? 4 : 20;
  for (int i = 0; i < cases; i++) {
    const int width = rvc_range(random, RV_GROUND_SIDE_MIN, 120);
    Sequence s = sequence_new(check, width, rvc_range(random, RV_GROUND_SIDE_MIN, 90), 3);
    RvGroundConfig *c = &s.config;
    c->camera.doffs = rvc_range(random, -32, 32) / 16.0;
    c->max_disparity = rvc_range(random, 16, 300);
    c->near_width = rvc_range(random, 1, 12);
    c->profile_width = rvc_range(random, 1, 12);
    c->profile = i % 7 != 6;
    c->memory = i % 3;
    if (i % 4 == 1)
      c->camera.focal = 0;
    if (i % 4 == 2)
      c->camera.height = 0;
    if (i % 11 == 10) {
      c->mode = RV_GROUND_MODE_CAMERA;
      c->camera = ground_input_camera(c->width, c->height);
    }
    GroundInput in = {.camera = ground_input_camera(c->width, c->height),
                      .hill = rvc_range(random, -3, 3),
                      .noise = rvc_range(random, 0, 10) / 10.0,
                      .holes = rvc_range(random, 0, 600),
                      .outliers = rvc_range(random, 0, 300),
                      .box_count = 1,
                      .boxes = {{8, -1, 2, 1.5, 0}}};
    in.roll = rvc_range(random, -10, 10) / 1000.0;
    for (int k = 0; k < s.count; k++)
      ground_input_paint(&in, random, &s.frames[k]);
    if (i % 3 == 0)
      memset(s.frames[1].data, 0, 2 * (size_t)c->width * (size_t)c->height);
    check_sequence(check, name, &s);
    sequence_free(&s);
  }
}

/* Images without a ground: nothing may depend on what is not there. */
static void check_extremes(RvCheck *check, const char *name, RvRandom *random) {
  static const int values[] = {0, 1, 64, 1600, 65535, -1};
  for (int i = 0; i < 6; i++) {
    Sequence s = sequence_new(check, 67, 53, 2);
    s.config.camera.doffs = i - 3;
    for (int k = 0; k < s.count; k++)
      for (int at = 0; at < 67 * 53; at++)
        ((uint16_t *)s.frames[k].data)[at] =
            (uint16_t)(values[i] < 0 ? rvc_range(random, 0, 65535) : values[i]);
    check_sequence(check, name, &s);
    sequence_free(&s);
  }
}

static char letter(const RvGroundSurface *surface) {
  return surface->source == RV_GROUND_ESTIMATE ? 'e'
         : surface->source == RV_GROUND_MEMORY ? 'm'
         : surface->source == RV_GROUND_CAMERA ? 'c'
                                               : '-';
}

/* A letter per frame. */
static void expect_sources(RvCheck *check, const char *name, const Sequence *s, const char *want) {
  RvGroundSurface got[FRAMES_MAX];
  if (run_engine(check, name, s, RV_CPU, got))
    for (int i = 0; i < s->count; i++)
      rvc_true(check, name, letter(&got[i]) == want[i], "%s, frame %d: source %c", want, i,
               letter(&got[i]));
  check_sequence(check, name, s);
}

/* Memory, then the camera's plane, then a new estimate; a height that jumps is not believed until
 * the memory has passed. */
static void check_track(RvCheck *check, const char *name, RvRandom *random) {
  Sequence s = sequence_new(check, 96, 64, 16);
  GroundInput in = {.camera = s.config.camera, .noise = 0.1};
  s.config.memory = 2;
  for (int i = 0; i < 16; i++) {
    in.camera.height = i < 12 ? 1.5 : 0.9;
    ground_input_paint(&in, random, &s.frames[i]);
    if (i == 8 || i == 9 || i == 10)
      memset(s.frames[i].data, 0, 2 * 96 * 64);
  }
  expect_sources(check, name, &s, "eeeeeeeemmceeeee");
  /* the height is known from frame 7 on: another one is believed after one frame of memory when it is
   * within 9/16 to 16/9, and a quite different one when memory has ended */
  static const char *const jumps[2] = {"eeeeeeeeeemeeeee", "eeeeeeeeeemmceee"};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 16; i++) {
      in.camera.height = i < 10 ? 1.5 : k ? 0.6 : 0.95;
      ground_input_paint(&in, random, &s.frames[i]);
    }
    expect_sources(check, name, &s, jumps[k]);
  }
  sequence_free(&s);
}

RVC_PARITY(RVC_CASE("ground/planes", check_planes, 0),
           RVC_CASE("ground/hills", check_hills, RVC_LARGE),
           RVC_CASE("ground/extremes", check_extremes, 0), RVC_CASE("ground/track", check_track, 0),
           RVC_CASE("ground/reference", check_reference, 0));

/* --- Fuzz ------------------------------------------------------------------------------------- */

static void fuzz(const uint8_t *bytes, size_t size) {
  static const RvFuzzField fields[] = {{"width", 0, 32, 1, 64},
                                       {"height", 1, 32, 1, 64},
                                       {"max-disparity", 6, 0, 4, 0},
                                       {"near-width", 7, 0, 0.125, 0},
                                       {"memory", 8, 0, 1, 4}};
  if (size < 12)
    return;
  RvGroundConfig c;
  GROUND_INPUT_FUZZ_CONFIG(ground, &c, fields, bytes);
  c.camera.focal = bytes[3] % 4 ? bytes[3] : 0;
  c.camera.height = bytes[4] / 32.0;
  c.camera.pitch = bytes[5] - 128;
  RvGround *ground = NULL;
  if (rv_ground_new(&ground, &c, RV_CPU) != RV_OK)
    return;
  RvPlane plane = rvc_plane(c.width, c.height, RV_U16);
  RvGroundPlan plan = {.config = c};
  RvGroundState state;
  memset(&state, 0, sizeof state);
  rv_ground_make_plan(&plan);
  for (int frame = 0; frame < 2; frame++) {
    uint16_t *values = plane.data;
    for (int i = 0; i < c.width * c.height; i++)
      values[i] = (uint16_t)(bytes[9 + (size_t)(i + 7 * frame) % (size - 9)] << (bytes[9] % 9));
    RvGroundSurface want, got;
    memset(&want, 0, sizeof want);
    memset(&got, 0, sizeof got);
    ground_reference(&plan, &plane, &state, &want);
    if (rv_ground_run(ground, &plane, &got, NULL) != RV_OK || memcmp(&want, &got, sizeof got) != 0)
      abort();
  }
  rv_ground_free(&ground);
  free(plane.data);
}

const RvCases rv_ground_cases = {"ground", parity, ground_bench, fuzz};
