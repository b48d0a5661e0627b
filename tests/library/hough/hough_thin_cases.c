/* SPDX-License-Identifier: MIT */
/* hough_thin_cases.c: one segment per dash of a rendered road, and no near-duplicates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hough/hough_cases.h"

enum { WIDTH = 640, HEIGHT = 480, DASHES = 12, LINES = 300 };

/* Camera 2.5 m above a flat road, focal length 1000 px, horizon in row 160. */
typedef struct Dash {
  double x, near, far; /* m */
} Dash;

typedef struct Road {
  uint8_t pixels[WIDTH * HEIGHT];
  Dash dashes[DASHES];
  int count;
  RvLine lines[LINES], thin[LINES];
  int found, kept;
} Road;

static void project(const Dash *d, double z, double *u, double *v) {
  *u = 320 + 1000 * d->x / z;
  *v = 160 + 2500 / z;
}

static double length_of(const Dash *d) {
  double u0, v0, u1, v1;
  project(d, d->near, &u0, &v0);
  project(d, d->far, &u1, &v1);
  return hypot(u1 - u0, v1 - v0);
}

/* Lines of dashes 3 m long, 7.5 m apart, 0.12 m wide, from 8 m on; those that are too short for a
 * segment are not counted. */
static void render(Road *road, RvRandom *random) {
  static const double lateral[] = {-2.6, -1.5, -0.5, 0.6, 1.7};
  memset(road, 0, sizeof *road);
  for (int v = 0; v < HEIGHT; v++)
    for (int u = 0; u < WIDTH; u++) {
      int value = v > 160 ? 90 : 130;
      for (int i = 0; v > 160 && i < 5; i++) {
        const double z = 2500.0 / (v - 160), x = (u - 320) * z / 1000, at = z - 8 - 2.5 * i;
        if (fabs(x - lateral[i]) <= 0.06 && at >= 0 && z < 40 && fmod(at, 7.5) <= 3)
          value = 210;
      }
      road->pixels[v * WIDTH + u] = (uint8_t)(value + rvc_range(random, -4, 4));
    }
  for (int i = 0; i < 5; i++)
    for (double z = 8 + 2.5 * i; z < 37 && road->count < DASHES; z += 7.5) {
      const Dash dash = {lateral[i], z, z + 3};
      if (length_of(&dash) >= 24)
        road->dashes[road->count++] = dash;
    }
}

static int find(RvCheck *check, const char *name, const RvHoughConfig *c, const uint8_t *pixels,
                RvLine *lines, int *found, RvLine *thin) {
  const size_t words = (size_t)rv_hough_hit_words(c);
  RvHough *hough = NULL;
  uint32_t count = 0, *hits = malloc(words * (size_t)c->max_lines * sizeof *hits);
  void *memory = malloc(rv_hough_thin_bytes(c));
  const RvPlane input = {(void *)pixels, c->width, c->width, c->height, RV_U8};
  const RvHoughOutput out = {lines, &count, {0}, {0}, hits};
  int kept = 0;
  if (rvc_true(check, name,
               hits && memory && rv_hough_new(&hough, c, RV_CPU) == RV_OK &&
                   rv_hough_run(hough, &input, &out, NULL) == RV_OK,
               "run failed"))
    kept = rv_hough_thin(c, lines, (int)count, hits, memory, thin);
  *found = (int)count;
  rv_hough_free(&hough);
  free(hits);
  free(memory);
  return kept;
}

static RvHoughConfig config_of(RvCheck *check, int width, int height) {
  RvHoughConfig c;
  rv_hough_config_init(&c);
  c.width = width;
  c.height = height;
  c.segments = 1;
  c.threshold = 40;
  c.direction = 25; /* the rendered edges are not smoothed */
  c.log = rvc_log(check);
  return c;
}

/* Segments that lie on a dash: their middle within 9 px of its line, and within its length. */
static int segments_on(const Road *road, const Dash *dash, const RvLine *lines, int count,
                       double *covered) {
  double u0, v0, u1, v1;
  int on = 0;
  project(dash, dash->near, &u0, &v0);
  project(dash, dash->far, &u1, &v1);
  const double length = hypot(u1 - u0, v1 - v0);
  *covered = 0;
  for (int i = 0; i < count; i++) {
    const double x = 0.5 * (lines[i].x0 + lines[i].x1) - u0;
    const double y = 0.5 * (lines[i].y0 + lines[i].y1) - v0;
    const double along = (x * (u1 - u0) + y * (v1 - v0)) / length;
    const double across = (x * (v1 - v0) - y * (u1 - u0)) / length;
    if (fabs(across) > 9 || along < 0 || along > length)
      continue;
    on++;
    *covered = hypot(lines[i].x1 - lines[i].x0, lines[i].y1 - lines[i].y0) / length;
  }
  (void)road;
  return on;
}

static void check_dashes(RvCheck *check, const char *name, RvRandom *random) {
  static Road road;
  for (int round = 0; round < 4; round++) {
    render(&road, random);
    RvHoughConfig c = config_of(check, WIDTH, HEIGHT);
    c.max_lines = LINES;
    c.theta_steps = 360;
    c.threshold = 20;
    c.min_length = 18;
    c.min_distance = 14; /* both sides of the paint at 8 m */
    int wrong = 0, before = 0;
    double covered;
    road.kept = find(check, name, &c, road.pixels, road.lines, &road.found, road.thin);
    for (int i = 0; i < road.count; i++) {
      before += segments_on(&road, &road.dashes[i], road.lines, road.found, &covered) == 1;
      const int on = segments_on(&road, &road.dashes[i], road.thin, road.kept, &covered);
      wrong += on != 1 || covered < 0.75 || covered > 1.25;
    }
    rvc_true(check, name,
             road.count >= 5 && wrong == 0 && before < road.count && road.kept <= road.count + 3,
             "round %d: %d of %d dashes without exactly one segment, %d segments", round, wrong,
             road.count, road.kept);
  }
}

/* --- Near-duplicates ------------------------------------------------------------------------- */

/* 1 when both ends of `b` are within `gap` of line `a`, and its middle is beside the segment or less
 * than `gap` beyond. */
static int are_near(const RvLine *a, const RvLine *b, double gap) {
  const double nx = cos((double)a->theta), ny = sin((double)a->theta), rho = (double)a->rho;
  const double x = 0.5 * (b->x0 + b->x1) - a->x0, y = 0.5 * (b->y0 + b->y1) - a->y0;
  const double dx = a->x1 - a->x0, dy = a->y1 - a->y0, length = hypot(dx, dy);
  const double along = length > 0 ? (x * dx + y * dy) / length : hypot(x, y);
  return fabs(nx * b->x0 + ny * b->y0 - rho) < gap && fabs(nx * b->x1 + ny * b->y1 - rho) < gap &&
         along > -gap && along < length + gap;
}

static void check_duplicates(RvCheck *check, const char *name, RvRandom *random) {
  enum { SIDE = 200 };
  static uint8_t pixels[SIDE * SIDE];
  static RvLine lines[LINES], thin[LINES];
  int less = 0;
  for (int round = 0; round < 12; round++) {
    RvHoughConfig c = config_of(check, SIDE, SIDE);
    memset(pixels, 60, sizeof pixels);
    for (int n = rvc_range(random, 1, 6); n > 0; n--) {
      const int x = rvc_range(random, 0, SIDE - 1), y = rvc_range(random, 0, SIDE - 1);
      const double turn = rvc_range(random, 0, 314) / 100.0, wide = rvc_range(random, 2, 14);
      for (int i = 0; i < SIDE * SIDE; i++)
        if (fabs((i % SIDE - x) * cos(turn) + (i / SIDE - y) * sin(turn)) < wide / 2)
          pixels[i] = 200;
    }
    c.max_lines = LINES;
    c.dashes = round % 2;
    c.min_distance = rvc_range(random, 3, 20);
    int found, wrong = 0;
    const int kept = find(check, name, &c, pixels, lines, &found, thin);
    less += kept < found;
    for (int i = 0; i < kept; i++)
      for (int k = 0; k < kept; k++) {
        const double longer = hypot(thin[i].x1 - thin[i].x0, thin[i].y1 - thin[i].y0);
        const double shorter = hypot(thin[k].x1 - thin[k].x0, thin[k].y1 - thin[k].y0);
        wrong += longer > shorter && are_near(&thin[i], &thin[k], c.min_distance - 1);
      }
    rvc_true(check, name, wrong == 0 && kept <= found * 20 && (kept > 0) == (found > 0),
             "round %d: %d of %d pairs are nearer than %g px", round, wrong, kept, c.min_distance);
    c.dashes = 0;
    c.min_distance = 0;
    const int same = find(check, name, &c, pixels, lines, &found, thin);
    rvc_true(check, name, same == found && memcmp(lines, thin, (size_t)found * sizeof *lines) == 0,
             "round %d: %d of %d lines with everything off", round, same, found);
  }
  rvc_true(check, name, less > 6, "only %d of 12 images have less lines", less);
}

/* Whole lines: the distance at the middle of what is inside the image. */
static void check_lines(RvCheck *check, const char *name, RvRandom *random) {
  static const RvLine lines[] = {{50, 0, 90, 0, 0, 0, 0},      /* column 50 */
                                 {-53, 3.13f, 80, 0, 0, 0, 0}, /* column 53, the other way round */
                                 {59, 0, 70, 0, 0, 0, 0},      /* 9 px off */
                                 {52, 0.1f, 60, 0, 0, 0, 0},   /* 6 degrees */
                                 {80, 1.5707964f, 50, 0, 0, 0, 0}, /* row 80 */
                                 {84, 1.56f, 40, 0, 0, 0, 0}};
  RvLine thin[6];
  RvHoughConfig c = config_of(check, 100, 100);
  c.segments = 0;
  c.max_lines = 6;
  void *memory = malloc(rv_hough_thin_bytes(&c));
  const int kept = memory ? rv_hough_thin(&c, lines, 6, NULL, memory, thin) : 0;
  rvc_true(check, name,
           kept == 4 && thin[0].votes == 90 && thin[1].votes == 70 && thin[2].votes == 60 &&
               thin[3].votes == 50,
           "%d lines are left", kept);
  free(memory);
}

RVC_CASES(hough_thin_cases, RVC_CASE("hough/dashes", check_dashes, 0),
          RVC_CASE("hough/duplicates", check_duplicates, 0),
          RVC_CASE("hough/lines-thin", check_lines, 0));
