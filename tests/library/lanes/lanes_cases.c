/* SPDX-License-Identifier: MIT */
/* lanes_cases.c: lane lines against painted ones and the reference implementation, CPU = CUDA, and
 * fuzz input. */
#include "lanes/lanes_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes_bench.h"
#include "lanes/lanes_inputs.h"
#include "lanes/lanes_reference.h"

#define FRAMES_MAX 6

/* A sequence of frames of one size; ground and disparity are optional. */
typedef struct Sequence {
  RvLanesConfig config;
  RvGroundSurface ground;
  int count;
  RvPlane gray[FRAMES_MAX], disparity, color;
} Sequence;

static Sequence sequence_new(RvCheck *check, int width, int height, int count) {
  Sequence s = {.count = count};
  GROUND_INPUT_CASE_CONFIG(check, lanes, &s.config, width, height);
  s.ground = rv_ground_of_camera(&s.config.camera);
  rvc_planes(s.gray, count, width, height, RV_U8);
  return s;
}

static void sequence_free(Sequence *s) {
  rvc_planes_free(s->gray, s->count);
  free(s->disparity.data);
  free(s->color.data);
}

/* --- Runs ------------------------------------------------------------------------------------ */

static RvStatus run_cuda(RvCheck *check, RvLanes *lanes, const RvLanesSource *host,
                         RvLanesFound *out) {
  RvLanesSource source = {0};
  void *ground = NULL, *found = NULL;
  const ptrdiff_t bytes = (ptrdiff_t)sizeof *host->ground;
  int is_ready = rvc_upload(check, &source.gray, &host->gray);
  if (is_ready && host->disparity.data)
    is_ready = rvc_upload(check, &source.disparity, &host->disparity);
  if (is_ready && host->color.data)
    is_ready = rvc_upload(check, &source.color, &host->color);
  RvStatus status = is_ready ? rv_buffer_new(&ground, sizeof *host->ground, RV_CUDA) : RV_ERR_CUDA;
  status = status == RV_OK ? rv_buffer_new(&found, sizeof *out, RV_CUDA) : status;
  if (status == RV_OK)
    status =
        rv_copy_rows(ground, bytes, RV_CUDA, host->ground, bytes, RV_CPU, (size_t)bytes, 1, NULL);
  source.ground = ground;
  status = status == RV_OK ? rv_lanes_run(lanes, &source, found, NULL) : status;
  status = status == RV_OK ? rv_copy_to_host(out, found, sizeof *out, NULL) : status;
  RvPlane *planes[] = {&source.gray, &source.disparity, &source.color};
  for (int k = 0; k < 3; k++)
    if (planes[k]->data)
      rvc_device_free(planes[k]);
  rv_buffer_free(&ground, RV_CUDA);
  rv_buffer_free(&found, RV_CUDA);
  return status;
}

static RvLanesSource source_of(const Sequence *s, int frame) {
  return (RvLanesSource){s->gray[frame], s->disparity, s->color, &s->ground};
}

static int run_engine(RvCheck *check, const char *name, const Sequence *s, RvEngine engine,
                      RvLanesFound *out) {
  RvLanes *lanes = NULL;
  RvStatus status = rv_lanes_new(&lanes, &s->config, engine);
  for (int i = 0; i < s->count && status == RV_OK; i++) {
    const RvLanesSource source = source_of(s, i);
    memset(&out[i], 77, sizeof out[i]);
    status = engine == RV_CUDA ? run_cuda(check, lanes, &source, &out[i])
                               : rv_lanes_run(lanes, &source, &out[i], NULL);
  }
  rv_lanes_free(&lanes);
  return rvc_true(check, name, status == RV_OK, "engine %d: %s", engine, rv_status_text(status));
}

static void compare(RvCheck *check, const char *name, const RvLanesFound *want,
                    const RvLanesFound *got, int count, const char *what) {
  for (int i = 0; i < count; i++) {
    const RvLanesFound *a = &want[i], *b = &got[i];
    if (!rvc_true(check, name, memcmp(a, b, offsetof(RvLanesFound, lines)) == 0,
                  "%s frame %d: score %llu mean %llu heading %g curvature %g horizon %d hits %u "
                  "rows %u count %u, expected %llu %llu %g %g %d %u %u %u",
                  what, i, (unsigned long long)b->score, (unsigned long long)b->mean, b->heading,
                  b->curvature, b->horizon, b->hits, b->rows, b->count,
                  (unsigned long long)a->score, (unsigned long long)a->mean, a->heading,
                  a->curvature, a->horizon, a->hits, a->rows, a->count))
      return;
    for (int k = 0; k < RV_LANES_MAX; k++) {
      const RvLanesMark *x = &a->lines[k], *y = &b->lines[k];
      if (!rvc_true(check, name, memcmp(x, y, sizeof *x) == 0,
                    "%s frame %d line %d: offset %.17g heading %.17g hits %d z %d..%d squares %lld "
                    "tint %d sides %d %d, expected %.17g %.17g %d %d..%d %lld %d %d %d",
                    what, i, k, y->offset, y->heading, y->hits, y->z_min, y->z_max,
                    (long long)y->squares, y->tint, y->left_height, y->right_height, x->offset,
                    x->heading, x->hits, x->z_min, x->z_max, (long long)x->squares, x->tint,
                    x->left_height, x->right_height))
        return;
    }
  }
}

/* All engines against the reference implementation. */
static void check_sequence(RvCheck *check, const char *name, const Sequence *s) {
  RvLanesFound want[FRAMES_MAX], got[FRAMES_MAX];
  RvLanesPlan plan = {.config = s->config};
  RvLanesState state = {0};
  rv_lanes_make_plan(&plan);
  for (int i = 0; i < s->count; i++) {
    RvLanesSource source = source_of(s, i);
    if (plan.is_camera)
      source.disparity.data = NULL;
    lanes_reference(&plan, &source, &state, &want[i]);
  }
  if (run_engine(check, name, s, RV_CPU, got))
    compare(check, name, want, got, s->count, "CPU");
  if (rvc_cuda(check) && run_engine(check, name, s, RV_CUDA, got))
    compare(check, name, want, got, s->count, "CUDA");
}

/* --- Painted roads --------------------------------------------------------------------------- */

/* Each painted line is found, and nothing else. */
static void expect_lines(RvCheck *check, const char *name, const Sequence *s, const LanesInput *in,
                         const RvLanesFound *found, double tolerance) {
  RvLaneLine lines[RV_LANES_MAX];
  const int count = rv_lanes_measure(&s->config, found, lines);
  rvc_true(check, name, count == in->count, "%d lines, expected %d", count, in->count);
  for (int i = 0; i < rv_min(count, in->count); i++)
    for (double z = 6; z <= 18; z += 6) {
      const LanesLine *line = &in->lines[i];
      const double x = line->offset + line->heading * z + line->curvature * z * z / 2;
      const double got = rv_lanes_line_x(&lines[i], z);
      rvc_true(check, name, fabs(got - x) < tolerance, "line %d: x %.3f at %g m, expected %.3f", i,
               got, z, x);
    }
}

static void check_known(RvCheck *check, const char *name, RvRandom *random) {
  for (int i = 0; i < 6; i++) {
    Sequence s = sequence_new(check, 640 + 120 * i, 400, 1);
    LanesInput in = lanes_input_road(&s.config.camera);
    for (int k = 0; k < in.count; k++) {
      in.lines[k].heading = 0.03 * (i - 3);
      in.lines[k].curvature = 0.001 * (i % 4 - 2);
    }
    s.color = rvc_plane(s.config.width, 400, RV_U32);
    lanes_input_paint(&in, random, &s.gray[0], &s.color);
    RvLanesFound got[1];
    if (run_engine(check, name, &s, RV_CPU, got)) {
      expect_lines(check, name, &s, &in, got, 0.06);
      RvLaneLine lines[RV_LANES_MAX];
      if (rv_lanes_measure(&s.config, got, lines) == 3) {
        rvc_true(check, name,
                 lines[0].kind == RV_LANE_LINE_SOLID && lines[1].kind == RV_LANE_LINE_DASHED &&
                     lines[2].kind == RV_LANE_LINE_SOLID,
                 "road %d: kinds %d %d %d", i, lines[0].kind, lines[1].kind, lines[2].kind);
        rvc_true(check, name,
                 lines[0].color == RV_LANE_COLOR_YELLOW && lines[1].color == RV_LANE_COLOR_WHITE,
                 "road %d: colors %d %d", i, lines[0].color, lines[1].color);
      }
    }
    check_sequence(check, name, &s);
    sequence_free(&s);
  }
}

#define SOLID(x, wide, gray, color)                                                                \
  { x, 0, 0, wide, 0, 0, 0, gray, color }
#define DASHED(x, gray)                                                                            \
  { x, 0, 0, 0.15, 3, 4.5, 1, gray, 0 }
#define BAR(x) /* of a zebra crossing from 9 to 12.5 m */                                          \
  { x, 0, 0, 0.5, 3.5, 996.5, 991, 190, 0 }

/* What is not a lane, and what is hard to see. Kinds from left to right; -1: no border. */
static const struct Painted {
  const char *what;
  LanesInput in;
  int count, kinds[4], left, right, left_color;
} painted[] = {
    {"tram rails in the lane",
     {.count = 4,
      .lines = {SOLID(-1.75, 0.15, 190, 0), SOLID(-0.72, 0.08, 170, 0), SOLID(0.72, 0.08, 170, 0),
                SOLID(1.75, 0.15, 190, 0)}},
     4,
     {RV_LANE_LINE_SOLID, RV_LANE_LINE_RAIL, RV_LANE_LINE_RAIL, RV_LANE_LINE_SOLID},
     0,
     3,
     RV_LANE_COLOR_WHITE},
    {"tram rails alone",
     {.count = 2, .lines = {SOLID(-0.72, 0.08, 170, 0), SOLID(0.72, 0.08, 170, 0)}},
     2,
     {RV_LANE_LINE_RAIL, RV_LANE_LINE_RAIL},
     -1,
     -1,
     0},
    {"a zebra crossing alone",
     {.count = 8,
      .lines = {BAR(-3.5), BAR(-2.5), BAR(-1.5), BAR(-0.5), BAR(0.5), BAR(1.5), BAR(2.5),
                BAR(3.5)}},
     0,
     {0},
     -1,
     -1,
     0},
    {"a double yellow line",
     {.count = 3,
      .lines = {SOLID(-1.87, 0.12, 160, 0xff30c0e0u), SOLID(-1.6, 0.12, 160, 0xff30c0e0u),
                SOLID(1.75, 0.15, 190, 0)}},
     2,
     {RV_LANE_LINE_DOUBLE, RV_LANE_LINE_SOLID},
     0,
     1,
     RV_LANE_COLOR_YELLOW},
    {"worn lines",
     {.noise = 10, .count = 2, .lines = {DASHED(-1.75, 135), SOLID(1.75, 0.15, 120, 0)}},
     2,
     {RV_LANE_LINE_DASHED, RV_LANE_LINE_SOLID},
     0,
     1,
     RV_LANE_COLOR_WHITE},
};

static void check_painted(RvCheck *check, const char *name, RvRandom *random) {
  for (size_t i = 0; i < 2 * sizeof painted / sizeof *painted; i++) {
    const struct Painted *p = &painted[i / 2];
    Sequence s = sequence_new(check, 800, 400, 1);
    LanesInput in = p->in;
    in.camera = s.config.camera;
    s.color = rvc_plane(800, 400, RV_U32);
    lanes_input_paint(&in, random, &s.gray[0], &s.color);
    RvLanesFound got[1];
    RvLanesLane lane = {0};
    if (run_engine(check, name, &s, RV_CPU, got) &&
        rvc_true(check, name, rv_lanes_lane(&s.config, got, NULL, &lane) == RV_OK, "no lane")) {
      int same = lane.count == p->count && lane.left == p->left && lane.right == p->right;
      for (int k = 0; k < rv_min(lane.count, 4); k++)
        same &= lane.lines[k].kind == p->kinds[k];
      same &= lane.left < 0 || lane.lines[lane.left].color == p->left_color;
      rvc_true(check, name, same, "%s: %d lines, kinds %d %d %d %d, borders %d %d, color %d",
               p->what, lane.count, lane.lines[0].kind, lane.lines[1].kind, lane.lines[2].kind,
               lane.lines[3].kind, lane.left, lane.right,
               lane.left < 0 ? 0 : lane.lines[lane.left].color);
    }
    sequence_free(&s);
  }
}

/* One camera whose pitch is wrong: the horizon is found within some frames. */
static void check_camera(RvCheck *check, const char *name, RvRandom *random) {
  static const double wrong[] = {-0.4, 0, 0.5};
  for (int i = 0; i < 3; i++) {
    Sequence s = sequence_new(check, 800, 420, FRAMES_MAX);
    const LanesInput in = lanes_input_road(&s.config.camera);
    for (int k = 0; k < s.count; k++)
      lanes_input_paint(&in, random, &s.gray[k], NULL);
    const double pitch = s.config.camera.pitch * 3.14159265358979323846 / 180;
    const double horizon = s.config.camera.cy - s.config.camera.focal * tan(pitch);
    s.config.ground = RV_LANES_GROUND_CAMERA;
    s.config.camera.baseline = 0;
    s.config.camera.pitch += wrong[i];
    RvLanesFound got[FRAMES_MAX];
    if (run_engine(check, name, &s, RV_CPU, got)) {
      const double off = got[s.count - 1].horizon / 16.0 - horizon;
      rvc_true(check, name, fabs(off) < 1.5, "pitch off by %g: horizon off by %.2f rows", wrong[i],
               off);
      expect_lines(check, name, &s, &in, &got[s.count - 1], 0.2);
    }
    check_sequence(check, name, &s);
    sequence_free(&s);
  }
}

/* Objects hide lines: marks on them do not count, and covered slices are not gaps. */
static void check_objects(RvCheck *check, const char *name, RvRandom *random) {
  Sequence s = sequence_new(check, 800, 400, 1);
  LanesInput in = lanes_input_road(&s.config.camera);
  const GroundInput ground = {
      .camera = s.config.camera, .noise = 0.1, .box_count = 1, .boxes = {{10, 0.2, 2, 1.6, 0}}};
  s.disparity = rvc_plane(800, 400, RV_U16);
  lanes_input_paint(&in, random, &s.gray[0], NULL);
  ground_input_paint(&ground, random, &s.disparity);
  RvLanesFound got[1];
  if (run_engine(check, name, &s, RV_CPU, got)) {
    expect_lines(check, name, &s,
                 &(LanesInput){.count = 3, .lines = {in.lines[0], in.lines[1], in.lines[2]}}, got,
                 0.08);
    for (int i = 0; i < (int)got->count; i++) {
      const RvLanesMark *mark = &got->lines[i];
      const int is_hidden = fabs(mark->offset - 1.7) < 0.3;
      const int seen = mark->seen[1] & 1; /* 16 m: behind the box, if at all */
      rvc_true(check, name, seen == !is_hidden, "line at %.2f m: seen %d at 16 m", mark->offset,
               seen);
      rvc_true(check, name, !is_hidden || mark->z_max < 1100, "marks up to %d cm behind the box",
               mark->z_max);
    }
  }
  check_sequence(check, name, &s);
  sequence_free(&s);
}

/* --- Reference ------------------------------------------------------------------------------- */

static void check_reference(RvCheck *check, const char *name, RvRandom *random) {
  for (int i = 0; i < (rvc_small(check) ? 8 : 24); i++) {
    const int is_big = i % 8 == 5 && !rvc_small(check);
    const int width = is_big ? 5000 : rvc_range(random, 32, 200);
    const int height = is_big ? 40 : i % 8 == 6 ? 900 : rvc_range(random, 32, 120);
    Sequence s = sequence_new(check, i % 8 == 6 ? 40 : width, height, i % 3 ? 1 : 3);
    RvLanesConfig *c = &s.config;
    c->camera.doffs = rvc_range(random, -20, 20) / 7.0;
    c->ground = i % 4 == 3 ? RV_LANES_GROUND_CAMERA : RV_LANES_GROUND_ESTIMATE;
    c->max_distance = rvc_range(random, 10, 60);
    c->mark_width = rvc_range(random, 5, 50) / 100.0;
    c->min_contrast = rvc_range(random, 1, 30);
    s.ground = rv_ground_of_camera(&c->camera);
    s.ground.slope_x = rvc_range(random, -50, 50) / 5000.0;
    s.ground.bin = rvc_range(random, 8, 40);
    for (int k = 0; k < RV_GROUND_BINS; k++)
      s.ground.profile[k] = (int16_t)rvc_range(random, -20, 20);
    LanesInput in = lanes_input_road(&c->camera);
    const GroundInput ground = {.camera = c->camera, .noise = 0.5, .holes = 100, .outliers = 100};
    s.disparity = rvc_plane(c->width, height, RV_U16);
    s.color = rvc_plane(c->width, height, RV_U32);
    ground_input_paint(&ground, random, &s.disparity);
    in.noise = rvc_range(random, 0, 60);
    for (int k = 0; k < s.count; k++) {
      lanes_input_paint(&in, random, &s.gray[k], &s.color);
      if (i % 5 == 4)
        rvc_fill_u8(random, i % RVC_KINDS, s.gray[k].data, c->width, height, c->width);
    }
    if (i % 2)
      s.disparity.data = (free(s.disparity.data), NULL);
    if (i % 3 == 1)
      s.color.data = (free(s.color.data), NULL);
    check_sequence(check, name, &s);
    sequence_free(&s);
  }
}

/* Frames without anything, grounds that are none, extreme cameras. */
static void check_extremes(RvCheck *check, const char *name, RvRandom *random) {
  for (int i = 0; i < 13; i++) {
    Sequence s = sequence_new(check, 96, 64, 1);
    rvc_fill_u8(random, i < RVC_KINDS ? i : RVC_RANDOM, s.gray[0].data, 96, 64, 96);
    s.config.min_contrast = 1;
    s.ground.slope_y = i == 6 ? 0 : i == 7 ? NAN : i == 8 ? -0.2 : s.ground.slope_y;
    s.ground.slope_x = i == 9 ? NAN : 0;
    s.config.camera.focal = i == 10 ? 1e6 : i == 11 ? 1e-3 : s.config.camera.focal;
    s.config.camera.baseline = i == 10 ? 1000 : i == 11 ? 1e-3 : s.config.camera.baseline;
    s.config.camera.cx = i == 12 ? -1e6 : s.config.camera.cx;
    RvLanesFound got[1];
    if (i >= 6 && i <= 9 && run_engine(check, name, &s, RV_CPU, got))
      rvc_true(check, name, got->count == 0 && got->rows == 0 && got->hits == 0,
               "ground %d: %u lines of %u marks in %u rows", i, got->count, got->hits, got->rows);
    check_sequence(check, name, &s);
    sequence_free(&s);
  }
}

RVC_PARITY({.group = lanes_host_parity}, RVC_CASE("lanes/known", check_known, RVC_LARGE),
           RVC_CASE("lanes/painted", check_painted, RVC_LARGE),
           RVC_CASE("lanes/camera", check_camera, RVC_LARGE),
           RVC_CASE("lanes/objects", check_objects, RVC_LARGE),
           RVC_CASE("lanes/extremes", check_extremes, 0),
           RVC_CASE("lanes/reference", check_reference, 0));

/* --- Fuzz ------------------------------------------------------------------------------------- */

static void fuzz(const uint8_t *bytes, size_t size) {
  static const RvFuzzField fields[] = {{"width", 0, 32, 1, 48},
                                       {"height", 1, 32, 1, 32},
                                       {"mark-width", 5, 0.05, 1 / 600.0, 0},
                                       {"min-contrast", 6, 1, 1, 20}};
  if (size < 16)
    return;
  RvLanesConfig c;
  GROUND_INPUT_FUZZ_CONFIG(lanes, &c, fields, bytes);
  c.camera.height = bytes[3] / 32.0;
  c.ground = bytes[4] % 4 == 3 ? RV_LANES_GROUND_CAMERA : RV_LANES_GROUND_ESTIMATE;
  RvLanes *lanes = NULL;
  if (rv_lanes_new(&lanes, &c, RV_CPU) != RV_OK)
    return;
  const RvGroundSurface ground = ground_input_surface(&c.camera, bytes + 7, size - 7);
  RvLanesSource source = {.gray = rvc_plane(c.width, c.height, RV_U8),
                          .disparity = rvc_plane(c.width, c.height, RV_U16),
                          .ground = &ground};
  for (int i = 0; i < c.width * c.height; i++) {
    ((uint8_t *)source.gray.data)[i] = bytes[8 + (size_t)i % (size - 8)];
    ((uint16_t *)source.disparity.data)[i] = (uint16_t)(bytes[8 + (size_t)i % (size - 8)] << 3);
  }
  RvLanesPlan plan = {.config = c};
  RvLanesState state = {0};
  RvLanesFound want, got;
  RvLanesLane lane;
  rv_lanes_make_plan(&plan);
  RvLanesSource seen = source;
  if (plan.is_camera)
    seen.disparity.data = NULL;
  lanes_reference(&plan, &seen, &state, &want);
  if (rv_lanes_run(lanes, &source, &got, NULL) != RV_OK || memcmp(&want, &got, sizeof got) != 0 ||
      rv_lanes_lane(&c, &got, NULL, &lane) != RV_OK)
    abort();
  rv_lanes_free(&lanes);
  free(source.gray.data);
  free(source.disparity.data);
}

const RvCases rv_lanes_cases = {"lanes", parity, lanes_bench, fuzz};
