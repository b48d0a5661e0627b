/* SPDX-License-Identifier: MIT */
/* hough_model_bench.c: the time model of GPU-vote (section 5) on this GPU: fitted on half of a set of
 * runs, evaluated on the other half. rvcheck --model vote
 *
 * T1 (eq. 7) and T2 (eq. 10) are timed together, for the second starts before the first has ended:
 *   T = a E + b nE + e nE F + g A N + h P + c + f
 * E pixels, nE edges, N bins of an angle. A block holds A angles, which takes the place of one
 * space a block: its time for an element is one load and A votes, and A is the same in all runs.
 * Of P parts of the list it has one:
 *   W = ceil(ceil(G / A) passes P / SMs),  F = W / P (eq. 8 and 9, G angles)
 * d is not fitted: votes of one are not stretched, S' = 1, so its term is that of e. g is clearing
 * and writing the bins of a block, h meeting the other parts of its angles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hough/hough_cases.h"
#include "hough/hough_probe.h"
#include "rvcheck_run.h"

#define TERMS 6
#define RUNS 280

typedef struct Sample {
  double terms[TERMS]; /* in thousands */
  double us;
} Sample;

static RvStatus run_timed(void *user, RvStream stream) {
  return hough_run(user, 0, stream);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median of some runs; 0 after a failure. */
static double time_of(HoughRun *r) {
  double us[64];
  RvStatus status = RV_OK;
  const int runs = rvc_time_cuda(us, 64, 0.02, &status, run_timed, r);
  qsort(us, (size_t)(runs > 0 ? runs : 0), sizeof us[0], by_value);
  return runs > 0 ? us[runs / 2] : 0;
}

static void terms_of(Sample *s, const RvHoughSpace *p, const HoughShape *shape, double edges) {
  const int blocks = rv_div_up(p->angles, shape->group) * shape->passes * shape->parts;
  const double waves = rv_div_up(blocks, shape->processors);
  const double terms[TERMS] = {(double)p->width * p->height, edges,
                               edges * waves / shape->parts, (double)shape->group * p->bins,
                               1000.0 * shape->parts,        1000.0};
  for (int i = 0; i < TERMS; i++)
    s->terms[i] = terms[i] / 1000.0;
}

/* One run: noise of `share` edges in a hundred. */
static int sample(RvCheck *check, Sample *s, const RvHoughConfig *c, int share, RvRandom *random) {
  const size_t pixels = (size_t)c->width * (size_t)c->height;
  uint8_t *map = malloc(pixels);
  if (!map)
    return 0;
  double edges = 0;
  for (size_t i = 0; i < pixels; i++)
    edges += map[i] = rvc_next(random) % 100 < (uint32_t)share;
  const RvPlane input = {map, c->width, c->width, c->height, RV_U8};
  HoughRun r;
  int done = 0;
  if (hough_run_new(check, &r, c, &input, RV_CUDA)) {
    HoughShape shape;
    RvHoughSpace space;
    hough_probe_shape(r.hough, &shape);
    rv_hough_space(c, &space);
    terms_of(s, &space, &shape, edges);
    s->us = time_of(&r);
    done = s->us > 0;
    if (check->verbose)
      printf("run %dx%d edges=%.0f angles=%d bins=%d group=%d parts=%d passes=%d us=%.3f\n",
             c->width, c->height, edges, space.angles, space.bins, shape.group, shape.parts,
             shape.passes, s->us);
  }
  hough_run_free(&r);
  free(map);
  return done;
}

/* Least squares of the relative error: normal equations, Gauss with pivots. 0 when singular. */
static int fit(const Sample *samples, int count, double x[TERMS]) {
  double m[TERMS][TERMS + 1] = {{0}};
  for (int n = 0; n < count; n += 2) /* every other run; the rest is for evaluation */
    for (int i = 0; i < TERMS; i++)
      for (int j = 0; j <= TERMS; j++) {
        const double other = j < TERMS ? samples[n].terms[j] : samples[n].us;
        m[i][j] += samples[n].terms[i] * other / (samples[n].us * samples[n].us);
      }
  for (int i = 0; i < TERMS; i++) {
    int pivot = i;
    for (int k = i; k < TERMS; k++)
      if (fabs(m[k][i]) > fabs(m[pivot][i]))
        pivot = k;
    if (fabs(m[pivot][i]) < 1e-30)
      return 0;
    for (int j = 0; j <= TERMS; j++) {
      const double swap = m[i][j];
      m[i][j] = m[pivot][j];
      m[pivot][j] = swap;
    }
    for (int k = 0; k < TERMS; k++)
      for (int j = TERMS; k != i && j >= i; j--)
        m[k][j] -= m[i][j] * m[k][i] / m[i][i];
  }
  for (int i = 0; i < TERMS; i++)
    x[i] = m[i][TERMS] / m[i][i];
  return 1;
}

static void judge(RvCheck *check, const char *name, const Sample *samples, int count,
                  const double x[TERMS]) {
  double sum = 0, worst = 0;
  int judged = 0, near = 0;
  for (int n = 1; n < count; n += 2, judged++) {
    double guess = 0;
    for (int i = 0; i < TERMS; i++)
      guess += x[i] * samples[n].terms[i];
    const double error = fabs(guess / samples[n].us - 1.0);
    sum += error;
    worst = fmax(worst, error);
    near += error <= 0.10;
  }
  const double mean = 100.0 * sum / judged, share = 100.0 * near / judged;
  printf("model %s ns a=%.5f b=%.5f e=%.5f g=%.5f us h=%.3f c+f=%.3f\n", name, x[0], x[1], x[2],
         x[3], x[4], x[5]);
  printf("model %s runs=%d mean_error=%.2f%% within_10%%=%.1f%% worst=%.1f%%\n", name, judged, mean,
         share, 100.0 * worst);
  rvc_true(check, name, mean <= 5.0, "the mean error is %.2f %%, more than 5", mean);
  rvc_true(check, name, share >= 95.0, "only %.1f %% of the runs are within 10 %%", share);
}

void hough_model(RvCheck *check) {
  static const int sizes[][2] = {{640, 480}, {1280, 720}, {1920, 1080}, {2560, 1440}};
  static const int shares[] = {1, 3, 10, 20, 35}, steps[] = {60, 90, 120, 180, 240, 360, 720};
  static Sample samples[RUNS];
  const char *name = "vote";
  RvRandom random = rvc_random(check, "hough/model");
  int count = 0;
  if (!rvc_true(check, name, rvc_cuda(check), "the time model needs a GPU"))
    return;
  for (int i = 0; i < RUNS; i++) {
    RvHoughConfig c;
    rv_hough_config_init(&c);
    c.edges = RV_HOUGH_BINARY;
    c.width = sizes[i % 4][0], c.height = sizes[i % 4][1];
    c.theta_steps = steps[i / 4 % 7];
    c.rho_step = i / 140 ? 2.0 : 1.0;
    c.threshold = 2000000000; /* noise has no lines */
    c.log = rvc_log(check);
    count += sample(check, &samples[count], &c, shares[i / 28 % 5], &random);
  }
  for (int i = count - 1; i > 0; i--) { /* both halves see every kind */
    const int k = rvc_range(&random, 0, i);
    const Sample swap = samples[i];
    samples[i] = samples[k];
    samples[k] = swap;
  }
  double x[TERMS] = {0};
  if (rvc_true(check, name, count == RUNS && fit(samples, count, x), "%d of %d runs", count, RUNS))
    judge(check, name, samples, count, x);
}
