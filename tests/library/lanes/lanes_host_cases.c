/* SPDX-License-Identifier: MIT */
/* lanes_host_cases.c: kinds, own lane, polylines and tracks on synthetic lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes_cases.h"
#include "lanes/lanes_inputs.h"

static RvLanesConfig config_of(RvCheck *check) {
  RvLanesConfig c;
  GROUND_INPUT_CONFIG(lanes, &c, 640, 400);
  c.log = rvc_log(check);
  return c;
}

/* A line that is covered from 6 to 30 m, except for gaps of `off` behind `on` slices. */
static RvLanesMark mark_of(double offset, double heading, int on, int off) {
  RvLanesMark mark = {.offset = offset,
                      .heading = heading,
                      .information = {4e4, 6e5, 6e6, 1.2e7, 1.3e8, 2e9},
                      .squares = 400000,
                      .weight = 1000,
                      .hits = 100,
                      .z_min = 600,
                      .z_max = 3000};
  for (int k = 12; k < 60; k++) {
    mark.seen[k / 32] |= 1u << (k % 32);
    if (off == 0 || (k - 12) % (on + off) < on) {
      mark.covered[k / 32] |= 1u << (k % 32);
      mark.length += 450;
    }
  }
  mark.spread[12] = 1000;
  return mark;
}

static RvLanesFound found_of(const RvLanesMark *marks, int count) {
  RvLanesFound found = {.score = 1000, .mean = 100, .hits = 500, .rows = 200};
  for (int i = 0; i < count; i++)
    found.lines[i] = marks[i];
  found.count = (uint32_t)count;
  return found;
}

static void check_kinds(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  RvLanesMark marks[7] = {mark_of(-6, 0, 1, 0),  mark_of(-4, 0, 6, 9),  mark_of(-2, 0, 1, 0),
                          mark_of(0.5, 0, 2, 6), mark_of(2.5, 0, 1, 0), mark_of(4.6, 0, 1, 0),
                          mark_of(6.03, 0, 1, 0)};
  marks[2].spread[7] = 900; /* a second maximum 0.25 m next to the first */
  marks[4].lefts = marks[4].rights = 100;
  marks[4].right_height = 12000; /* 0.12 m */
  marks[1].tints = 10;
  marks[1].tint = -4 * 30 * 10;
  marks[2].tints = 10;
  static const int want[] = {RV_LANE_LINE_SOLID, RV_LANE_LINE_DASHED, RV_LANE_LINE_DOUBLE,
                             RV_LANE_LINE_DOTS,  RV_LANE_LINE_CURB,   RV_LANE_LINE_RAIL,
                             RV_LANE_LINE_RAIL};
  const RvLanesFound found = found_of(marks, 7);
  RvLaneLine lines[RV_LANES_MAX];
  if (rvc_true(check, name, rv_lanes_measure(&c, &found, lines) == 7, "not 7 lines"))
    for (int i = 0; i < 7; i++)
      rvc_true(check, name, lines[i].kind == want[i], "line %d: kind %d, expected %d", i,
               lines[i].kind, want[i]);
  rvc_true(check, name,
           lines[0].color == RV_LANE_COLOR_UNKNOWN && lines[1].color == RV_LANE_COLOR_YELLOW &&
               lines[2].color == RV_LANE_COLOR_WHITE,
           "colors %d %d %d", lines[0].color, lines[1].color, lines[2].color);
  RvLanesFound none = found;
  none.mean = 900; /* no common direction */
  rvc_true(check, name, rv_lanes_measure(&c, &none, lines) == 0, "lines without direction");
  none = found;
  none.lines[0].hits = 0;      /* a fit that failed */
  none.lines[1].heading = 0.2; /* not of this road */
  memset(none.lines[2].covered, 0, sizeof none.lines[2].covered);
  none.lines[2].covered[0] = 31u << 12; /* 2.5 m */
  none.lines[3].offset = 6.2;           /* more than 1.75 lane widths away */
  none.lines[4].squares = 2100000;      /* 46 mm */
  none.lines[5].length = 48 * 220;      /* marks in less than half of the rows */
  none.lines[6].squares = 2100000;      /* the same, with marks on two lines and between them */
  none.lines[6].spread[12] = none.lines[6].spread[7] = 1000;
  for (int i = 13; i < 24; i++)
    none.lines[6].spread[i] = 100;
  rvc_true(check, name, rv_lanes_measure(&c, &none, lines) == 0, "lines that are none");
}

static void check_lane(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  const RvLanesMark all[] = {mark_of(-5.3, 0.02, 6, 9), mark_of(-1.9, 0.02, 1, 0),
                             mark_of(1.6, 0.02, 6, 9), mark_of(5.1, 0.02, 1, 0)};
  RvLanesFound found = found_of(all, 4);
  RvLanesLane lane;
  rv_lanes_lane(&c, &found, NULL, &lane);
  rvc_true(check, name, lane.count == 4 && lane.left == 1 && lane.right == 2, "borders %d %d",
           lane.left, lane.right);
  rvc_true(check, name,
           lane.lines[0].position == -2 && lane.lines[1].position == -1 &&
               lane.lines[2].position == 1 && lane.lines[3].position == 2,
           "positions %d %d %d %d", lane.lines[0].position, lane.lines[1].position,
           lane.lines[2].position, lane.lines[3].position);
  rvc_true(check, name,
           fabs(lane.width - 3.5) < 1e-5 && fabs(lane.offset - 0.15) < 1e-5 &&
               fabs(lane.heading + 0.02) < 1e-6 && lane.confidence > 0.9,
           "width %g offset %g heading %g confidence %g", lane.width, lane.offset, lane.heading,
           lane.confidence);
  rvc_true(check, name,
           lane.left_source == RV_LANES_BORDER_SEEN && lane.right_source == RV_LANES_BORDER_SEEN,
           "sources %d %d", lane.left_source, lane.right_source);
  found = found_of(&all[2], 2); /* the left border is missing and stays so */
  rv_lanes_lane(&c, &found, NULL, &lane);
  rvc_true(check, name,
           lane.left == -1 && lane.right == 0 && lane.left_source == RV_LANES_BORDER_NONE &&
               fabs(lane.offset - 0.15) < 1e-5 && lane.confidence < 0.6,
           "one side: %d %d, offset %g, confidence %g", lane.left, lane.right, lane.offset,
           lane.confidence);
  found = found_of(all, 0);
  rv_lanes_lane(&c, &found, NULL, &lane);
  rvc_true(check, name, lane.left == -1 && lane.right == -1 && lane.confidence == 0, "no line");
}

/* The polyline lies where the line is painted. */
static void check_points(RvCheck *check, const char *name, RvRandom *random) {
  RvLanesConfig c = config_of(check);
  const RvGroundSurface ground = rv_ground_of_camera(&c.camera);
  const RvLanesMark mark = mark_of(-2, 0.05, 1, 0);
  const RvLanesFound found = found_of(&mark, 1);
  RvLaneLine lines[RV_LANES_MAX], line;
  float stereo[2 * RV_LANES_POINTS], mono[2 * RV_LANES_POINTS];
  rvc_true(check, name, rv_lanes_measure(&c, &found, lines) == 1, "not one line");
  line = lines[0];
  const int count = rv_lanes_points(&c, &ground, &found, &line, stereo);
  const double angle = c.camera.pitch * 3.14159265358979323846 / 180;
  const double horizon = c.camera.cy - c.camera.focal * tan(angle);
  RvLanesFound other = found;
  other.horizon = (int32_t)floor(horizon * 16 + 0.5);
  c.ground = RV_LANES_GROUND_CAMERA;
  rv_lanes_points(&c, NULL, &other, &line, mono);
  rvc_true(check, name, count == RV_LANES_POINTS, "%d points", count);
  for (int i = 0; i < count; i++) {
    const double z =
        c.camera.focal * c.camera.height / cos(angle) / ((double)stereo[2 * i + 1] - horizon);
    const double x = ((double)stereo[2 * i] - c.camera.cx) * z / c.camera.focal;
    rvc_true(check, name, fabs(x - (-2 + 0.05 * z)) < 0.01 && z > 5.9 && z < 30.1,
             "point %d: x %g at %g m", i, x, z);
    rvc_true(check, name,
             fabs((double)stereo[2 * i] - (double)mono[2 * i]) < 0.1 &&
                 fabs((double)stereo[2 * i + 1] - (double)mono[2 * i + 1]) < 0.1,
             "point %d: %g,%g and %g,%g", i, (double)stereo[2 * i], (double)stereo[2 * i + 1],
             (double)mono[2 * i], (double)mono[2 * i + 1]);
  }
  line.z_min = 0;
  rvc_true(check, name, rv_lanes_points(&c, NULL, &other, &line, mono) == 0, "points of no line");
}

/* --- Edges ----------------------------------------------------------------------------------- */

#define PATCH 5
#define PATCHES_X (640 / PATCH)
#define PATCHES_Y (400 / PATCH)

/* The patches of a road from `left` to `right` on the ground of a camera, up to 40 m: each patch
 * whose center is on it. From 14 m on, cars hide 1.8 m in the middle. */
static void paint_road(const RvLanesConfig *c, const RvLaneLine *left, const RvLaneLine *right,
                       int has_car, uint8_t *mask) {
  const RvGroundSurface ground = rv_ground_of_camera(&c->camera);
  for (int r = 0; r < PATCHES_Y; r++)
    for (int k = 0; k < PATCHES_X; k++) {
      const double v = PATCH * (r + 0.5) - 0.5, u = PATCH * (k + 0.5) - 0.5;
      const double d = ground.slope_y * v + ground.intercept;
      const double z = d > 0 ? c->camera.focal * c->camera.baseline / d : 1e9;
      const double x = (u - c->camera.cx) * z / c->camera.focal;
      const double from = rv_lanes_line_x(left, z), to = rv_lanes_line_x(right, z);
      const int is_hidden = has_car && z > 14 && fabs(x - (from + to) / 2) < 0.9;
      const int is_road = z < 40 && x > from && x < to;
      mask[r * PATCHES_X + k] = is_road && !is_hidden ? 255 : 0;
    }
}

static void check_edge(RvCheck *check, const char *name, const RvLanesMark *mark,
                       const RvLaneLine *want, const char *what) {
  for (double z = 6; z <= 20; z += 7) {
    const double x = mark->offset + mark->heading * z + mark->curvature * z * z / 2;
    rvc_true(check, name, fabs(x - rv_lanes_line_x(want, z)) < 0.16, "%s: %g m instead of %g at %g",
             what, x, rv_lanes_line_x(want, z), z);
  }
  rvc_true(check, name, mark->z_min < 800 && mark->z_max > 1200 && mark->z_max <= 4000,
           "%s: %d to %d cm", what, mark->z_min, mark->z_max);
}

static void check_edges(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  const RvGroundSurface ground = rv_ground_of_camera(&c.camera);
  const RvLanesFound nothing = found_of(NULL, 0);
  static uint8_t mask[PATCHES_X * PATCHES_Y];
  const RvLanesRoad road = {mask, PATCHES_X, PATCHES_X, PATCHES_Y, PATCH};
  for (int i = 0; i < 20; i++) {
    const float heading = (float)(rvc_range(random, -60, 60) / 1000.0);
    const float bend = (float)(rvc_range(random, -20, 20) / 1e4);
    const RvLaneLine left = {.offset = -1.7F, .heading = heading, .curvature = bend};
    const RvLaneLine right = {.offset = 2.1F, .heading = heading, .curvature = bend};
    RvLanesEdges edges = {.count = -1};
    RvLanesLane lane;
    paint_road(&c, &left, &right, i % 2, mask);
    const RvStatus status = rv_lanes_edges(&c, &ground, &nothing, &road, &edges);
    if (!rvc_true(check, name, status == RV_OK && edges.count == 2, "road %d: %d edges, status %d",
                  i, edges.count, status))
      continue;
    check_edge(check, name, &edges.line[0], &left, "left");
    check_edge(check, name, &edges.line[1], &right, "right");
    /* they are the borders of the lane where nothing is painted */
    rv_lanes_lane(&c, &nothing, &edges, &lane);
    rvc_true(check, name,
             lane.count == 2 && lane.left == 0 && lane.right == 1 &&
                 lane.lines[0].kind == RV_LANE_LINE_EDGE && lane.lines[1].position == 1 &&
                 fabs(lane.width - 3.8) < 0.2,
             "road %d: borders %d %d of %d, width %g", i, lane.left, lane.right, lane.count,
             lane.width);
    const RvLanesMark paint[] = {mark_of(-1.5, 0, 1, 0), mark_of(1.9, 0, 1, 0)};
    const RvLanesFound found = found_of(paint, 2);
    rv_lanes_lane(&c, &found, &edges, &lane);
    rvc_true(check, name,
             lane.count == 4 && lane.left >= 0 && lane.right >= 0 &&
                 lane.lines[lane.left].kind == RV_LANE_LINE_SOLID &&
                 lane.lines[lane.right].kind == RV_LANE_LINE_SOLID,
             "road %d: borders %d %d beside paint", i, lane.left, lane.right);
  }
}

/* A line that is no paint, 0.4 m beside an edge, takes part; one of paint does not. */
static void check_edge_line(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  const RvGroundSurface ground = rv_ground_of_camera(&c.camera);
  static uint8_t mask[PATCHES_X * PATCHES_Y];
  const RvLanesRoad road = {mask, PATCHES_X, PATCHES_X, PATCHES_Y, PATCH};
  const RvLaneLine left = {.offset = -1.7F}, right = {.offset = 2.1F};
  const RvLanesMark line = mark_of(-2.1, 0, 1, 0);
  RvLanesFound found[3] = {found_of(NULL, 0), found_of(&line, 1), found_of(&line, 1)};
  RvLanesEdges edges[3];
  found[2].lines[0].squares = 4000000; /* it scatters by 63 mm */
  paint_road(&c, &left, &right, 0, mask);
  for (int i = 0; i < 3; i++)
    rvc_true(check, name,
             rv_lanes_edges(&c, &ground, &found[i], &road, &edges[i]) == RV_OK &&
                 edges[i].count == 2,
             "found %d: %d edges", i, edges[i].count);
  double x[3][2]; /* at 15 m */
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) {
      const RvLanesMark *edge = &edges[i].line[k];
      x[i][k] = edge->offset + 15 * edge->heading + 112.5 * edge->curvature;
    }
  rvc_true(check, name,
           fabs(x[1][0] - x[0][0]) < 0.05 && x[2][0] < x[0][0] - 0.1 && x[2][0] > -2.1 &&
               fabs(x[2][1] - x[0][1]) < 0.05,
           "left %g, %g, %g, right %g, %g", x[0][0], x[1][0], x[2][0], x[0][1], x[2][1]);
}

/* What is no edge, and what is no road. */
static void check_no_edges(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  RvGroundSurface ground = rv_ground_of_camera(&c.camera);
  const RvLanesFound nothing = found_of(NULL, 0);
  static uint8_t mask[PATCHES_X * PATCHES_Y];
  const RvLanesRoad road = {mask, PATCHES_X, PATCHES_X, PATCHES_Y, PATCH};
  const RvLanesRoad wrong[] = {{NULL, PATCHES_X, PATCHES_X, PATCHES_Y, PATCH},
                               {mask, PATCHES_X, 0, PATCHES_Y, PATCH},
                               {mask, PATCHES_X, PATCHES_X, 0, PATCH},
                               {mask, PATCHES_X, PATCHES_X, PATCHES_Y, 0}};
  RvLanesEdges edges;
  memset(mask, 255, sizeof mask); /* it ends at the borders of the image */
  rvc_true(check, name,
           rv_lanes_edges(&c, &ground, &nothing, &road, &edges) == RV_OK && edges.count == 0,
           "edges of the image");
  rvc_true(check, name,
           rv_lanes_edges(&c, NULL, &nothing, &road, &edges) == RV_OK && edges.count == 0,
           "edges without ground");
  for (int i = 0; i < 4; i++)
    rvc_true(check, name, rv_lanes_edges(&c, &ground, &nothing, &wrong[i], &edges) == RV_ERR_ARG,
             "wrong road %d", i);
  for (int i = 0; i < 200; i++) { /* anything: at most two edges, finite */
    for (int k = 0; k < RV_GROUND_BINS; k++)
      ground.profile[k] = (int16_t)rvc_range(random, i % 2 ? -32768 : -40, i % 2 ? 32767 : 40);
    ground.slope_x = rvc_range(random, -3000, 3000) / (i % 3 ? 1e5 : 1e3);
    for (int k = 0; k < PATCHES_X * PATCHES_Y; k++)
      mask[k] = rvc_range(random, 0, 9) < i % 10 ? 255 : 0;
    edges.count = -1;
    const RvStatus status = rv_lanes_edges(&c, &ground, &nothing, &road, &edges);
    rvc_true(check, name, status == RV_OK && edges.count >= 0 && edges.count <= 2, "%d edges",
             edges.count);
    for (int k = 0; k < edges.count; k++)
      rvc_true(check, name,
               isfinite(edges.line[k].offset) && isfinite(edges.line[k].heading) &&
                   edges.line[k].z_min >= 400 && edges.line[k].z_max <= 4500,
               "edge at %g m, %d to %d cm", edges.line[k].offset, edges.line[k].z_min,
               edges.line[k].z_max);
  }
}

/* --- Tracks ---------------------------------------------------------------------------------- */

static void check_tracks(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  RvLanesTracks *tracks = NULL;
  RvLanesLane lane = {0};
  if (!rvc_true(check, name, rv_lanes_tracks_new(&tracks, &c) == RV_OK, "no tracks"))
    return;
  uint32_t left = 0, right = 0;
  for (int i = 0; i < 60; i++) {
    const double drift = 0.005 * i; /* to the left in the lane */
    RvLanesMark marks[2] = {mark_of(-1.8 + drift, 0, 1, 0), mark_of(1.8 + drift, 0, 6, 9)};
    for (int k = 0; k < 2; k++)
      marks[k].offset += rvc_range(random, -30, 30) / 1000.0;
    /* the right line is missing from frame 30 to 39 */
    const RvLanesFound found = found_of(marks, i >= 30 && i < 40 ? 1 : 2);
    rv_lanes_track(tracks, 0.05 * i, &found, NULL, &lane);
    if (!rvc_true(check, name, lane.count == 2 && lane.left == 0 && lane.right == 1,
                  "frame %d: %d lines, borders %d %d", i, lane.count, lane.left, lane.right))
      break;
    rvc_true(check, name, i < 5 || fabs(lane.offset + drift) < 0.08, "frame %d: offset %g of %g", i,
             lane.offset, -drift);
    const int is_memory = i >= 30 && i < 40;
    rvc_true(check, name,
             lane.right_source == (is_memory ? RV_LANES_BORDER_MEMORY : RV_LANES_BORDER_SEEN),
             "frame %d: source %d", i, lane.right_source);
    left = i == 10 ? lane.lines[0].id : left;
    right = i == 10 ? lane.lines[1].id : right;
    rvc_true(check, name, i < 10 || (lane.lines[0].id == left && lane.lines[1].id == right),
             "frame %d: ids %u %u, were %u %u", i, lane.lines[0].id, lane.lines[1].id, left, right);
    rvc_true(check, name, (i >= 2) == (lane.lines[0].id != 0), "frame %d: id %u", i,
             lane.lines[0].id);
  }
  rvc_true(check, name, left != 0 && right != 0 && fabs(lane.width - 3.6) < 0.03, "width %g",
           lane.width);
  rvc_true(check, name,
           lane.lines[0].kind == RV_LANE_LINE_SOLID && lane.lines[1].kind == RV_LANE_LINE_DASHED,
           "kinds %d %d", lane.lines[0].kind, lane.lines[1].kind);
  const RvLanesFound nothing = found_of(NULL, 0);
  for (int i = 60; i < 90; i++)
    rv_lanes_track(tracks, 0.05 * i, &nothing, NULL, &lane);
  rvc_true(check, name, lane.count == 0 && lane.left == -1, "%d lines after 1.5 s", lane.count);
  rv_lanes_tracks_free(&tracks);
}

/* An edge beside a painted line keeps a track of its own. */
static void check_edge_tracks(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  RvLanesTracks *tracks = NULL;
  RvLanesLane lane = {0};
  uint32_t ids[2] = {0, 0};
  if (!rvc_true(check, name, rv_lanes_tracks_new(&tracks, &c) == RV_OK, "no tracks"))
    return;
  for (int i = 0; i < 40; i++) {
    const RvLanesMark paint = mark_of(-1.8, 0, 1, 0);
    const double noise = rvc_range(random, -100, 100) / 1000.0;
    const RvLanesEdges edges = {1, {mark_of(-2.0 + noise, 0, 1, 0)}};
    /* the paint is missing from frame 20 to 24 */
    const RvLanesFound found = found_of(&paint, i >= 20 && i < 25 ? 0 : 1);
    rv_lanes_track(tracks, 0.05 * i, &found, &edges, &lane);
    if (!rvc_true(check, name, lane.count == 2, "frame %d: %d lines", i, lane.count))
      break;
    const int edge = lane.lines[0].kind == RV_LANE_LINE_EDGE ? 0 : 1;
    rvc_true(check, name,
             lane.lines[edge].kind == RV_LANE_LINE_EDGE && lane.lines[edge].missed == 0 &&
                 lane.lines[1 - edge].kind == RV_LANE_LINE_SOLID &&
                 (lane.lines[1 - edge].missed > 0) == (i >= 20 && i < 25),
             "frame %d: kinds %d %d", i, lane.lines[0].kind, lane.lines[1].kind);
    rvc_true(check, name, lane.left == 1 - edge, "frame %d: left border %d", i, lane.left);
    for (int k = 0; k < 2; k++) {
      const uint32_t id = lane.lines[k == 0 ? edge : 1 - edge].id;
      rvc_true(check, name, i < 3 || (id != 0 && (ids[k] == 0 || id == ids[k])), "frame %d: id %u",
               i, id);
      ids[k] = id;
    }
  }
  rv_lanes_tracks_free(&tracks);
}

/* Time that goes back, pauses, and motion. */
static void check_time(RvCheck *check, const char *name, RvRandom *random) {
  const RvLanesConfig c = config_of(check);
  RvLanesTracks *tracks = NULL;
  RvLanesLane lane;
  if (!rvc_true(check, name, rv_lanes_tracks_new(&tracks, &c) == RV_OK, "no tracks"))
    return;
  const RvLanesMark mark = mark_of(-1.8, 0, 1, 0);
  const RvLanesFound found = found_of(&mark, 1), nothing = found_of(NULL, 0);
  static const double leaps[] = {60, -5, NAN, INFINITY};
  uint32_t last = 0;
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 5; i++)
      rv_lanes_track(tracks, i * 0.05, &found, NULL, &lane);
    rvc_true(check, name, lane.count == 1 && lane.lines[0].id > last, "leap %g: id %u after %u",
             leaps[k], lane.lines[0].id, last);
    last = lane.lines[0].id;
    rv_lanes_track(tracks, leaps[k], &found, NULL, &lane);
    rvc_true(check, name, lane.count == 1 && lane.lines[0].id == 0 && lane.lines[0].age == 0,
             "leap %g: id %u", leaps[k], lane.lines[0].id);
  }
  /* 20 m without a mark end a track where the speed is known */
  rv_lanes_tracks_reset(tracks);
  rv_lanes_tracks_set_motion(tracks, 30, 0, 1);
  for (int i = 0; i < 24; i++) {
    rv_lanes_track(tracks, i * 0.05, i < 10 ? &found : &nothing, NULL, &lane);
    rvc_true(check, name, lane.count == (i < 9 + 14), "frame %d: %d lines", i, lane.count);
  }
  /* a turn to the right moves the lane to the left */
  rv_lanes_tracks_reset(tracks);
  for (int i = 0; i < 5; i++)
    rv_lanes_track(tracks, i * 0.05, &found, NULL, &lane);
  const double before = (double)lane.lines[0].heading;
  rv_lanes_tracks_set_motion(tracks, 10, 0.2, 1);
  rv_lanes_track(tracks, 0.25, &nothing, NULL, &lane);
  rvc_true(check, name,
           lane.count == 1 && fabs((double)lane.lines[0].heading - before + 0.01) < 1e-4,
           "heading %g after %g", (double)lane.lines[0].heading, before);
  rv_lanes_tracks_free(&tracks);
}

RVC_CASES(lanes_host_parity, RVC_CASE("lanes/kinds", check_kinds, 0),
          RVC_CASE("lanes/lane", check_lane, 0), RVC_CASE("lanes/points", check_points, 0),
          RVC_CASE("lanes/edges", check_edges, 0), RVC_CASE("lanes/edge-line", check_edge_line, 0),
          RVC_CASE("lanes/no-edges", check_no_edges, 0), RVC_CASE("lanes/tracks", check_tracks, 0),
          RVC_CASE("lanes/edge-tracks", check_edge_tracks, 0),
          RVC_CASE("lanes/time", check_time, 0));
