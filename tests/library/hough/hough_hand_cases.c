/* SPDX-License-Identifier: MIT */
/* hough_hand_cases.c: images whose lines can be told by thinking, and the tables against cos and
 * sin. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hough/hough_cases.h"
#include "hough/hough_stages.h"

#define SIDE_X 101
#define SIDE_Y 80
#define LINES 8

typedef struct Found {
  RvLine lines[LINES];
  uint32_t count;
} Found;

static RvHoughConfig plain(RvCheck *check) {
  RvHoughConfig c;
  rv_hough_config_init(&c);
  c.width = SIDE_X, c.height = SIDE_Y;
  c.edges = RV_HOUGH_BINARY;
  c.max_lines = LINES;
  c.threshold = 40;
  c.log = rvc_log(check);
  return c;
}

static RvStatus find(const RvHoughConfig *c, const uint8_t *pixels, Found *found) {
  RvHough *hough = NULL;
  RvStatus status = rv_hough_new(&hough, c, RV_CPU);
  const RvPlane input = {(void *)pixels, c->width, c->width, c->height, RV_U8};
  const RvHoughOutput out = {found->lines, &found->count, {0}, {0}, NULL};
  if (status == RV_OK)
    status = rv_hough_run(hough, &input, &out, NULL);
  rv_hough_free(&hough);
  return status;
}

/* A column and a row: rho is the very number, not half a step next to it, whether the number of
 * bins is odd or even. */
static void exact_rho(RvCheck *check, const char *name) {
  for (int wide = 0; wide < 2; wide++) {
    uint8_t pixels[(SIDE_X + 1) * SIDE_Y] = {0};
    RvHoughConfig c = plain(check);
    c.width += wide;
    c.threshold = 70; /* one step of theta beside them lie bins with up to 60 votes */
    for (int y = 0; y < SIDE_Y; y++)
      pixels[y * c.width + 37] = 1;
    for (int x = 0; x < c.width; x++)
      pixels[55 * c.width + x] = 1;
    Found f;
    int bins = 0;
    rv_hough_size(&c, &bins, NULL, NULL, NULL);
    const RvStatus status = find(&c, pixels, &f);
    if (!rvc_true(check, name, status == RV_OK && f.count == 2, "a column and a row: %u lines",
                  f.count))
      return;
    rvc_true(check, name,
             f.lines[0].rho == 55.0f && fabsf(f.lines[0].theta - 1.5707963f) < 1e-6f &&
                 f.lines[0].votes == (uint32_t)c.width,
             "row 55: rho %g theta %g votes %u, %d bins", (double)f.lines[0].rho,
             (double)f.lines[0].theta, f.lines[0].votes, bins);
    rvc_true(check, name,
             f.lines[1].rho == 37.0f && f.lines[1].theta == 0.0f && f.lines[1].votes == SIDE_Y,
             "column 37: rho %g theta %g votes %u, %d bins", (double)f.lines[1].rho,
             (double)f.lines[1].theta, f.lines[1].votes, bins);
  }
}

/* 41 pixels of a column: 41 votes at (0, 50), 29 at (179 degrees, -50), a maximum except for its
 * neighbor across the seam. From 90 degrees on there is no seam. */
static void seam(RvCheck *check, const char *name) {
  uint8_t pixels[SIDE_X * SIDE_Y] = {0};
  for (int y = 0; y < 41; y++)
    pixels[y * SIDE_X + 50] = 1;
  RvHoughConfig c = plain(check);
  c.threshold = 28;
  Found f = {.count = 0};
  RvStatus status = find(&c, pixels, &f);
  rvc_true(check, name,
           status == RV_OK && f.count == 1 && f.lines[0].theta == 0.0f && f.lines[0].rho == 50.0f &&
               f.lines[0].votes == 41,
           "a column is %u lines, the best at theta %g with %u votes", f.count,
           (double)f.lines[0].theta, f.lines[0].votes);
  c.min_theta = 90.0;
  status = find(&c, pixels, &f);
  rvc_true(check, name,
           status == RV_OK && f.count == 1 && f.lines[0].rho == -50.0f && f.lines[0].theta > 3.1f &&
               f.lines[0].votes == 29,
           "from 90 degrees on: %u lines, rho %g theta %g", f.count, (double)f.lines[0].rho,
           (double)f.lines[0].theta);
}

/* A broken row: the longer part, gaps bridged up to max_gap, and dropped when too short. */
static void segments(RvCheck *check, const char *name) {
  uint8_t pixels[SIDE_X * SIDE_Y] = {0};
  for (int x = 5; x < 95; x++)
    if (x < 25 || (x > 27 && x < 60) || x > 66) /* gaps of 3 and 7 px */
      pixels[30 * SIDE_X + x] = 9;
  RvHoughConfig c = plain(check);
  c.segments = 1;
  c.max_lines = 1;
  static const int gaps[] = {2, 3, 6, 7}, first[] = {28, 5, 5, 5}, last[] = {59, 59, 59, 94};
  for (int i = 0; i < 4; i++) {
    Found f = {.count = 0};
    c.max_gap = gaps[i];
    const RvStatus status = find(&c, pixels, &f);
    rvc_true(check, name,
             status == RV_OK && f.count == 1 && f.lines[0].y0 == 30 && f.lines[0].y1 == 30 &&
                 f.lines[0].x0 == first[i] && f.lines[0].x1 == last[i],
             "gap %d: %u lines, %d..%d", gaps[i], f.count, f.lines[0].x0, f.lines[0].x1);
  }
  Found f = {.count = 7};
  c.min_length = 90;
  const RvStatus status = find(&c, pixels, &f);
  rvc_true(check, name, status == RV_OK && f.count == 0 && f.lines[0].votes == 0,
           "a run of 89 px is no segment of 90: %u lines", f.count);
}

/* Nothing to find, everything an edge, thresholds above any number of votes. */
static void extremes(RvCheck *check, const char *name) {
  static uint8_t pixels[SIDE_X * SIDE_Y];
  RvHoughConfig c = plain(check);
  Found f = {.count = 7};
  memset(pixels, 0, sizeof pixels);
  RvStatus status = find(&c, pixels, &f);
  rvc_true(check, name, status == RV_OK && f.count == 0, "black: %u lines", f.count);
  memset(pixels, 255, sizeof pixels);
  c.threshold = 1;
  status = find(&c, pixels, &f);
  rvc_true(check, name, status == RV_OK && f.count == LINES, "all edges: %u lines of at most %d",
           f.count, LINES);
  c.threshold = 2000000000;
  status = find(&c, pixels, &f);
  rvc_true(check, name, status == RV_OK && f.count == 0, "threshold above all: %u lines", f.count);
  c.width = c.height = 1;
  c.threshold = 0;
  status = find(&c, pixels, &f);
  rvc_true(check, name,
           status == RV_OK && f.count > 0 && f.lines[0].rho == 0.0f && f.lines[0].votes == 1,
           "one pixel: %u lines", f.count);
}

/* The bin of a pixel in 32 bits, as hough_rules.h has it in 64. */
static int bin_of(const RvHoughAngle *a, uint32_t x, uint32_t y, int shift) {
  return (int)((x * (uint32_t)a->c + y * (uint32_t)a->s + (uint32_t)a->k) >> shift);
}

/* Bins are where cos and sin of the C library put them, except for a sixteenth of a bin. */
static void tables(RvCheck *check, const char *name) {
  static const int sides[][2] = {{1, 1}, {640, 480}, {1920, 1080}, {8192, 8192}, {16384, 16384}};
  static const double steps[] = {0.25, 1.0, 3.3, 64.0};
  RvRandom random = rvc_random(check, name);
  double worst = 0;
  for (int i = 0; i < 20; i++) {
    RvHoughConfig c = plain(check);
    c.width = sides[i % 5][0], c.height = sides[i % 5][1], c.rho_step = steps[i / 5];
    RvHoughSpace p;
    rv_hough_space(&c, &p);
    RvHoughAngle angles[180];
    rv_hough_angles(&c, &p, angles);
    for (int n = 0; n < 20000; n++) {
      const int corner = rvc_range(&random, 0, 7), k = rvc_range(&random, 0, 179);
      const int x = corner & 1 ? c.width - 1 : rvc_range(&random, 0, c.width - 1);
      const int y = corner & 2 ? c.height - 1 : rvc_range(&random, 0, c.height - 1);
      const int bin = p.is_wide ? rv_hough_bin_wide(&angles[k], (uint32_t)x, (uint32_t)y, p.shift)
                                : bin_of(&angles[k], (uint32_t)x, (uint32_t)y, p.shift);
      const double theta = k * 3.14159265358979323846 / 180;
      const double at = (x * cos(theta) + y * sin(theta)) / c.rho_step + p.rho_zero;
      worst = fmax(worst, fabs(bin - at) - 0.5);
      if (bin < 0 || bin >= p.bins || fabs(bin - at) > 0.5 + 1.0 / 16) {
        rvc_fail(check, name, "%dx%d rho %g: (%d, %d) at angle %d is in bin %d of %d, not %.3f",
                 c.width, c.height, c.rho_step, x, y, k, bin, p.bins, at);
        return;
      }
    }
  }
  rvc_true(check, name, worst < 1.0 / 16, "worst rounding %.4f of a bin", worst);
}

/* A range without an angle, and what else is rejected, says so. */
static void refusals(RvCheck *check, const char *name) {
  RvHoughConfig c = plain(check);
  c.theta_steps = 9;
  c.min_theta = 21.0, c.max_theta = 39.0;
  rvc_true(check, name, rv_hough_config_check(&c) == RV_ERR_ARG, "21..39 degrees in steps of 20");
  c.max_theta = 41.0;
  rvc_true(check, name, rv_hough_config_check(&c) == RV_OK, "21..41 degrees in steps of 20");
  c.direction = 5;
  rvc_true(check, name, rv_hough_config_check(&c) == RV_ERR_ARG, "direction of binary edges");
}

/* Ends of a row, of a column, of a diagonal and of a segment, on an image twice as wide. */
static void ends(RvCheck *check, const char *name) {
  static const struct {
    RvLine line;
    int has_segment, is_drawn, ends[4];
  } known[] = {
      {{10.0f, 1.57079633f, 9, 0, 0, 0, 0}, 0, 1, {3200, 168, 0, 168}},
      {{7.0f, 0.0f, 9, 0, 0, 0, 0}, 0, 1, {240, 0, 240, 800}},
      {{-60.0f, 3.0f, 9, 0, 0, 0, 0}, 0, 1, {0, 0, 0, 0}},
      {{500.0f, 1.57079633f, 9, 0, 0, 0, 0}, 0, 0, {0, 0, 0, 0}},
      {{500.0f, 0.7f, 9, 3, 4, 20, 49}, 1, 1, {112, 72, 656, 792}},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    int e[4] = {0, 0, 0, 0};
    const int drawn = rv_hough_ends(&known[i].line, known[i].has_segment, 100, 50, 200, 50, e);
    int fits = drawn == known[i].is_drawn;
    for (int k = 0; k < 4; k++) {
      const int side = k % 2 ? 800 : 3200;
      fits &= e[k] >= 0 && e[k] <= side;
      fits &= i == 2 || abs(e[k] - known[i].ends[k]) <= 1; /* 1/16 px: theta is a float */
    }
    rvc_true(check, name, fits, "ends of line %zu: %d, %d %d %d %d", i, drawn, e[0], e[1], e[2],
             e[3]);
  }
}

static void check_cases(RvCheck *check, const char *name, RvRandom *random) {
  exact_rho(check, name);
  seam(check, name);
  segments(check, name);
  extremes(check, name);
  tables(check, name);
  refusals(check, name);
  ends(check, name);
}

RVC_CASES(hough_hand_cases, RVC_CASE("hough/hand", check_cases, 0));
