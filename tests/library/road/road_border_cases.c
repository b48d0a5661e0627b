/* SPDX-License-Identifier: MIT */
/* road_border_cases.c: border and drivable distance of masks that are drawn by hand or at random,
 * compared with the geometry of a flat ground and with flood filling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_reference.h"
#include "road/road_save_cases.h"
#include "rvcheck.h"

enum { WIDTH = 323, HEIGHT = 241, N = 4, COLUMNS = WIDTH / N, ROWS = HEIGHT / N };
enum { PATCHES = COLUMNS * ROWS };

/* Camera 1.5 m above flat ground, horizon in row 60: disparity (v - 60) / 3 px, Z = 300 / (v - 60)
 * * 1.5 m. */
typedef struct Drawn {
  RvRoadConfig config;
  RvRoadReport report;
  uint8_t mask[PATCHES];
  RvRoadBorder border;
} Drawn;

static void open_drawn(Drawn *d) {
  memset(d, 0, sizeof *d);
  rv_road_config_init(&d->config);
  d->config.width = WIDTH;
  d->config.height = HEIGHT;
  d->config.patch_size = N;
  d->config.camera = (RvCamera){.focal = 300, .cx = 160, .cy = 60, .doffs = 2, .baseline = 0.5};
  d->report = (RvRoadReport){.slope_y = 1.0f / 3, .intercept = -22, .height = 1.5f};
}

static RvStatus find(Drawn *d, const RvGroundSurface *ground) {
  void *memory = malloc(rv_road_border_bytes(&d->config));
  const RvPlane mask = {d->mask, COLUMNS, COLUMNS, ROWS, RV_U8};
  const RvStatus status =
      memory ? rv_road_border(&d->config, &mask, &d->report, ground, memory, &d->border)
             : RV_ERR_NO_MEMORY;
  free(memory);
  return status;
}

/* Road from -left to right m, nearer than far m. */
static void draw(Drawn *d, double left, double right, double far) {
  for (int i = 0; i < PATCHES; i++) {
    const double u = i % COLUMNS * N + 0.5 * (N - 1), v = i / COLUMNS * N + 0.5 * (N - 1);
    const double z = v > 60 ? 450 / (v - 60) : 1e9, x = (u - 160) * z / 300;
    d->mask[i] = x >= -left && x <= right && z <= far ? 255 : 0;
  }
}

/* --- Geometry -------------------------------------------------------------------------------- */

/* Polygon: 1 when (x, y) is inside. */
static int is_inside(const RvRoadBorder *b, double x, double y) {
  int inside = 0;
  for (int i = 0, k = b->count - 1; i < b->count; k = i++) {
    const double ax = b->point[i].x, ay = b->point[i].y, bx = b->point[k].x, by = b->point[k].y;
    if ((ay > y) != (by > y) && x < ax + (bx - ax) * (y - ay) / (by - ay))
      inside = !inside;
  }
  return inside;
}

/* Distance of (x, y) to the polygon, px. */
static double gap(const RvRoadBorder *b, double x, double y) {
  double least = 1e9;
  for (int i = 0, k = b->count - 1; i < b->count; k = i++) {
    const double ax = b->point[k].x, ay = b->point[k].y;
    const double ux = b->point[i].x - ax, uy = b->point[i].y - ay, length = ux * ux + uy * uy;
    double t = length > 0 ? ((x - ax) * ux + (y - ay) * uy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    least = fmin(least, hypot(x - ax - t * ux, y - ay - t * uy));
  }
  return least;
}

static void check_straight(RvCheck *check, const char *name, RvRandom *random) {
  Drawn d;
  open_drawn(&d);
  draw(&d, 2.5, 3.5, 25);
  rvc_true(check, name, find(&d, NULL) == RV_OK && d.border.count >= 4, "no border");
  int wrong = 0, sides = 0;
  for (int i = 0; i < d.border.count; i++) {
    const RvRoadPoint *p = &d.border.point[i];
    wrong += fabs(p->distance - 450 / (p->y - 60)) > 0.01;
    wrong += fabs(p->lateral - (p->x - 160) * p->distance / 300) > 0.001;
  }
  rvc_true(check, name, wrong == 0, "%d wrong coordinates", wrong);
  for (int v = 90; v < 230; v += 5) {
    const double left = 160 - 2.5 * 300 * (v - 60) / 450, right = 160 + 3.5 * 300 * (v - 60) / 450;
    wrong += left > N && gap(&d.border, left, v) > N;
    wrong += right < WIDTH - 2 * N && gap(&d.border, right, v) > N;
    sides += (left > N) + (right < WIDTH - 2 * N);
  }
  rvc_true(check, name, wrong == 0 && sides > 20, "%d of %d places next to the border", wrong,
           sides);
  /* rows are 1 m deep at 25 m */
  rvc_true(check, name, fabs(d.border.drivable - 25) < 2, "drivable to %g m, expected 25",
           d.border.drivable);
  d.report.height = 0;
  rvc_true(check, name,
           find(&d, NULL) == RV_OK && d.border.count >= 4 && d.border.drivable == 0 &&
               d.border.point[0].distance == 0,
           "meters without a ground");
}

/* The road on a profile that lies 3 rows higher everywhere: as the plane 3 rows higher. */
static void check_profile(RvCheck *check, const char *name, RvRandom *random) {
  Drawn d;
  open_drawn(&d);
  draw(&d, 2.5, 3.5, 25);
  RvGroundSurface surface = {
      .slope_y = 1.0 / 3, .intercept = -22, .height = 1.5, .bin = 8, .first = 0, .last = 255};
  for (int i = 0; i < RV_GROUND_BINS; i++)
    surface.profile[i] = 3 * 16;
  const RvStatus status = find(&d, &surface);
  int wrong = 0;
  for (int i = 0; i < d.border.count; i++)
    wrong += fabs(d.border.point[i].distance - 450 / (d.border.point[i].y - 57)) > 0.01;
  rvc_true(check, name, status == RV_OK && d.border.count >= 4 && wrong == 0,
           "%d of %d vertices are not on the profile", wrong, d.border.count);
}

/* What blocks the corridor, and what does not. */
static void check_drivable(RvCheck *check, const char *name, RvRandom *random) {
  static const struct {
    double left, right, near, far, drivable; /* of what is no road, m */
    const char *what;
  } blocks[] = {{-0.5, 2, 9, 11, 9, "on the right of the corridor"},
                {-2, -1.3, 9, 11, 25, "0.2 m into the corridor"},
                {1.6, 3, 9, 11, 25, "next to the corridor"},
                {-2, 2, 9.5, 10.2, 25, "a gap of one row"},
                {-2, 2, 0, 3, 25, "the hood"},
                {-2, 2, 0, 12, 0, "nothing within near-range"}};
  for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
    Drawn d;
    open_drawn(&d);
    draw(&d, 2.5, 3.5, 25);
    for (int i = 0; i < PATCHES; i++) {
      const double u = i % COLUMNS * N + 0.5 * (N - 1), v = i / COLUMNS * N + 0.5 * (N - 1);
      const double z = v > 60 ? 450 / (v - 60) : 1e9, x = (u - 160) * z / 300;
      if (x >= blocks[k].left && x <= blocks[k].right && z >= blocks[k].near && z <= blocks[k].far)
        d.mask[i] = 0;
    }
    rvc_true(check, name,
             find(&d, NULL) == RV_OK && fabs(d.border.drivable - blocks[k].drivable) <
                                            fmax(0.01, 0.08 * blocks[k].drivable),
             "%s: drivable to %g m, expected %g", blocks[k].what, d.border.drivable,
             blocks[k].drivable);
  }
}

/* Flood filling from outside of the component: everything it reaches is outside of the border. */
static void compare_filled(RvCheck *check, const char *name, const Drawn *d, int round) {
  enum { ACROSS = COLUMNS + 2, DOWN = ROWS + 2 };
  static uint8_t one[PATCHES], best[PATCHES], rest[ACROSS * DOWN], outside[ACROSS * DOWN];
  int most = 0, wrong = 0;
  memset(best, 0, sizeof best);
  for (int i = 0; i < PATCHES; i++) {
    if (!d->mask[i])
      continue;
    memset(one, 0, sizeof one);
    const int size = rv_road_reference_flood(d->mask, COLUMNS, ROWS, i, one);
    if (size > most) {
      most = size;
      memcpy(best, one, sizeof best);
    }
  }
  memset(rest, 1, sizeof rest);
  memset(outside, 0, sizeof outside);
  for (int i = 0; i < PATCHES; i++)
    rest[(i / COLUMNS + 1) * ACROSS + i % COLUMNS + 1] = !best[i];
  rv_road_reference_flood(rest, ACROSS, DOWN, 0, outside);
  for (int i = 0; i < PATCHES; i++) {
    const double u = i % COLUMNS * N + 0.5 * (N - 1), v = i / COLUMNS * N + 0.5 * (N - 1);
    const int is_out = outside[(i / COLUMNS + 1) * ACROSS + i % COLUMNS + 1];
    if (gap(&d->border, u, v) > 1.3 * N) /* 3/4 patch, and half a patch to the middle */
      wrong += is_inside(&d->border, u, v) == is_out;
  }
  rvc_true(check, name, wrong == 0 && (d->border.count > 0) == (most > 0),
           "round %d: %d patches on the wrong side of %d vertices", round, wrong, d->border.count);
}

static void check_outline(RvCheck *check, const char *name, RvRandom *random) {
  Drawn d;
  for (int round = 0; round < 12; round++) {
    open_drawn(&d);
    for (int blob = rvc_range(random, round ? 1 : 0, round); blob > 0; blob--) {
      const int x = rvc_range(random, 0, COLUMNS - 1), y = rvc_range(random, 0, ROWS - 1);
      const int wide = rvc_range(random, 3, 30), is_road = blob % 3 != 0;
      for (int i = 0; i < PATCHES; i++)
        if (hypot(i % COLUMNS - x, 2 * (i / COLUMNS - y)) < wide)
          d.mask[i] = is_road ? 255 : 0;
    }
    rvc_true(check, name, find(&d, NULL) == RV_OK, "failed");
    compare_filled(check, name, &d, round);
  }
  /* more vertices than there is space for, and everything */
  open_drawn(&d);
  for (int i = 0; i < PATCHES; i++)
    d.mask[i] = i % COLUMNS % 2 == 0 || i / COLUMNS == ROWS / 2 ? 255 : 0;
  rvc_true(check, name,
           find(&d, NULL) == RV_OK && d.border.count >= 2 && d.border.count <= RV_ROAD_BORDER_MAX,
           "a comb has %d vertices", d.border.count);
  memset(d.mask, 255, sizeof d.mask);
  rvc_true(check, name, find(&d, NULL) == RV_OK && d.border.count >= 4 && d.border.count <= 8,
           "the complete image has %d vertices", d.border.count);
}

RVC_CASES(rv_road_border_cases, RVC_CASE("road/border-straight", check_straight, 0),
          RVC_CASE("road/border-profile", check_profile, 0),
          RVC_CASE("road/border-drivable", check_drivable, 0),
          RVC_CASE("road/border-outline", check_outline, 0));
