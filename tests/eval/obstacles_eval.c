/* SPDX-License-Identifier: MIT */
/* obstacles_eval.c [free|cars|lead]: free space and obstacles on rendered streets against their ground
 * truth. Seeds from 11 on; lower ones were used for tuning.
 *
 *   free  per strip of columns with a true limit nearer than 40 m: fraction whose distance is within
 *         10 % of it, too far by more than 25 % (the dangerous kind), and too near by more than 25 %.
 *         True limit: the nearest pixel that is 0.3 to 2.2 m above the true ground.
 *   cars  cars of at least 600 visible px, from the labels, divided where the true disparity jumps:
 *         fraction with an obstacle of IoU > 0.5, by distance; its distance; and obstacles on the road
 *         whose pixels are road by more than half.
 *   lead  the car ahead in 40 frames at 20/s: found, number of ids, IoU, distance, speed after 1 s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval_finder.h"

#define SEED 11
#define CARS 64
#define CAR_PIXELS 600
#define NEAR_FACE 80 /* percentile of the true disparity of a car */

static void must(int good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "obstacles_eval: %s failed\n", what);
  exit(1);
}

/* --- Ground truth ----------------------------------------------------------------------------- */

static double true_disparity(const EvalFrame *f, int u, int v) {
  return *((const uint16_t *)(const void *)((const char *)f->truth.data + v * f->truth.stride) +
           u) /
         16.0;
}

static int label_of(const EvalFrame *f, int u, int v) {
  return ((const uint8_t *)f->labels.data)[v * f->labels.stride + u];
}

static double depth_of(const RvCamera *c, double d) {
  return d > 0 ? c->focal * c->baseline / d : 1e9;
}

/* Above the flat road, m. */
static double height_of(const RvCamera *c, double d, int v) {
  const double p = c->pitch * acos(-1) / 180, z = depth_of(c, d);
  return c->height - z * ((v - c->cy) / c->focal * cos(p) + sin(p));
}

/* --- Free space ------------------------------------------------------------------------------- */

typedef struct Space {
  int strips, good, far, near;
} Space;

/* The true limit of a strip: the disparity that 5 % of the pixels in the way exceed; 0: none. */
static double true_limit(const EvalFrame *f, int left, int width) {
  EvalValues values = {0};
  for (int v = 0; v < f->truth.height; v++)
    for (int u = left; u < left + width && u < f->truth.width; u++) {
      const double d = true_disparity(f, u, v), h = d > 0 ? height_of(&f->camera, d, v) : 0;
      if (h >= 0.3 && h <= 2.2)
        eval_add(&values, d);
    }
  const double limit = values.count >= 8 ? eval_percentile(&values, 95) : 0;
  eval_clear(&values);
  return limit;
}

static void score_space(const EvalFinder *finder, const EvalFrame *f, void *total) {
  Space *s = total;
  const RvCamera *c = &f->camera;
  for (int k = 0; k < finder->columns; k++) {
    const double limit = true_limit(f, k * finder->column_width, finder->column_width);
    const double truth = depth_of(c, limit);
    if (!(limit > 0) || truth > 40)
      continue;
    const double found = depth_of(c, finder->column[k].disparity / 16.0);
    s->strips++;
    s->good += fabs(found / truth - 1) <= 0.10;
    s->far += found > 1.25 * truth;
    s->near += found < 0.75 * truth;
  }
}

/* Finds obstacles in `frames` frames, each the `step`th, of `streets` streets; `score` evaluates
 * each. */
static void evaluate(int width, int height, uint32_t streets, uint64_t frames, uint64_t step,
                     EvalJudge *score, void *total) {
  for (uint32_t seed = SEED; seed < SEED + streets; seed++) {
    EvalScene *scene = eval_scene_new(RV_SCENE_STREET, width, height, seed, 2);
    eval_find(scene, frames, step, score, total);
    eval_scene_free(scene);
  }
}

static int judge_space(int width, int height, double good, double far, double near) {
  Space s = {0, 0, 0, 0};
  evaluate(width, height, 2, 4, 7, score_space, &s);
  char text[128];
  const double all = s.strips / 100.0;
  printf("street %dx%d: %d strips\n", width, height, s.strips);
  snprintf(text, sizeof text, "free space %dx%d, %% of strips within 10 %%", width, height);
  int failed = eval_at_least(text, s.good / all, good);
  snprintf(text, sizeof text, "free space %dx%d, %% of strips too far by > 25 %%", width, height);
  failed += eval_at_most(text, s.far / all, far);
  snprintf(text, sizeof text, "free space %dx%d, %% of strips too near by > 25 %%", width, height);
  return failed + eval_at_most(text, s.near / all, near);
}

/* --- Cars ------------------------------------------------------------------------------------- */

typedef struct Car {
  int left, right, top, bottom, pixels;
  double z; /* near face, m */
} Car;

typedef struct Flood {
  int *stack;
  uint8_t *seen;
  EvalValues depths;
} Flood;

/* The 4-connected car pixels from one on, whose disparities differ by less than 1 px. */
static Car flood_car(const EvalFrame *f, Flood *flood, int start) {
  const int width = f->truth.width, height = f->truth.height;
  Car car = {width, 0, height, 0, 0, 0};
  int depth = 0;
  flood->stack[depth++] = start;
  flood->seen[start] = 1;
  while (depth > 0) {
    const int i = flood->stack[--depth], u = i % width, v = i / width;
    const double d = true_disparity(f, u, v);
    car.pixels++;
    car.left = u < car.left ? u : car.left;
    car.right = u > car.right ? u : car.right;
    car.top = v < car.top ? v : car.top;
    car.bottom = v > car.bottom ? v : car.bottom;
    eval_add(&flood->depths, d);
    for (int k = 0; k < 4; k++) {
      const int x = u + (k == 0) - (k == 1), y = v + (k == 2) - (k == 3), at = y * width + x;
      if (x < 0 || y < 0 || x >= width || y >= height || flood->seen[at] ||
          label_of(f, x, y) != RV_LABEL_CAR || fabs(true_disparity(f, x, y) - d) >= 1)
        continue;
      flood->seen[at] = 1;
      flood->stack[depth++] = at;
    }
  }
  car.z = depth_of(&f->camera, eval_percentile(&flood->depths, NEAR_FACE));
  eval_clear(&flood->depths);
  return car;
}

static int true_cars(const EvalFrame *f, Car *cars) {
  const int pixels = f->truth.width * f->truth.height;
  Flood flood = {malloc((size_t)pixels * sizeof(int)), calloc((size_t)pixels, 1), {0}};
  int count = 0;
  must(flood.stack && flood.seen, "memory");
  for (int i = 0; i < pixels && count < CARS; i++) {
    if (flood.seen[i] || label_of(f, i % f->truth.width, i / f->truth.width) != RV_LABEL_CAR)
      continue;
    const Car car = flood_car(f, &flood, i);
    if (car.pixels >= CAR_PIXELS)
      cars[count++] = car;
  }
  free(flood.stack);
  free(flood.seen);
  return count;
}

static double overlap(const Car *car, const RvObstacle *o) {
  const double w = fmin(car->right + 1, o->x + o->w) - fmax(car->left, o->x);
  const double h = fmin(car->bottom + 1, o->y + o->h) - fmax(car->top, o->y);
  if (w <= 0 || h <= 0)
    return 0;
  const double a = (car->right + 1.0 - car->left) * (car->bottom + 1.0 - car->top);
  return w * h / (a + (double)o->w * o->h - w * h);
}

/* Of the obstacle that overlaps most; NULL without any. */
static const RvObstacle *best_of(const EvalFinder *f, const Car *car, double *most) {
  const RvObstacle *best = NULL;
  *most = 0;
  for (int i = 0; i < f->count; i++)
    if (f->list[i].state != RV_OBSTACLE_PREDICTED && overlap(car, &f->list[i]) > *most) {
      *most = overlap(car, &f->list[i]);
      best = &f->list[i];
    }
  return best;
}

/* 1 for an obstacle in which most pixels are road. */
static int is_false(const EvalFrame *f, const RvObstacle *o) {
  int road = 0, all = 0;
  if (o->kind == RV_OBSTACLE_OVERHANG || o->state == RV_OBSTACLE_PREDICTED)
    return 0;
  for (int v = o->y; v < o->y + o->h && v < f->truth.height; v++)
    for (int u = o->x; u < o->x + o->w && u < f->truth.width; u++) {
      road += label_of(f, u, v) == RV_LABEL_ROAD;
      all++;
    }
  return 2 * road > all;
}

typedef struct Bands {
  int cars[3], found[3], frames, wrong;
  EvalValues distance; /* of cars at 10 to 20 m: relative error */
} Bands;

static void score_cars(const EvalFinder *finder, const EvalFrame *f, void *total) {
  Bands *b = total;
  Car cars[CARS];
  const int count = true_cars(f, cars);
  for (int i = 0; i < count; i++) {
    const int band = cars[i].z < 10 ? 0 : cars[i].z < 20 ? 1 : cars[i].z < 30 ? 2 : -1;
    double most;
    const RvObstacle *o = best_of(finder, &cars[i], &most);
    if (band < 0)
      continue;
    b->cars[band]++;
    b->found[band] += most > 0.5;
    if (band == 1 && most > 0.5)
      eval_add(&b->distance, fabs(o->distance / cars[i].z - 1));
  }
  for (int i = 0; i < finder->count; i++)
    b->wrong += is_false(f, &finder->list[i]);
  b->frames++;
}

static int judge_cars(void) {
  static const double musts[] = {0.60, 0.65, 0.35};
  static const char *const names[] = {"nearer than 10 m", "at 10 to 20 m", "at 20 to 30 m"};
  Bands b;
  int failed = 0;
  memset(&b, 0, sizeof b);
  evaluate(1242, 375, 3, 5, 5, score_cars, &b);
  for (int k = 0; k < 3; k++) {
    char text[96];
    snprintf(text, sizeof text, "fraction of %d cars %s with IoU > 0.5", b.cars[k], names[k]);
    failed += eval_at_least(text, b.cars[k] ? (double)b.found[k] / b.cars[k] : 0, musts[k]);
  }
  failed += eval_at_most("distance of cars at 10 to 20 m, p90 of the error in %",
                         100 * eval_percentile(&b.distance, 90), 3);
  failed += eval_at_most("obstacles that are road, per frame", (double)b.wrong / b.frames, 0.1);
  eval_clear(&b.distance);
  return failed;
}

/* --- Lead car --------------------------------------------------------------------------------- */

#define LEAD_FRAMES 40
#define LEAD_RATE 20.0

/* The car that covers the middle of the image at 10 to 25 m. */
static const Car *lead_of(const EvalFrame *f, const Car *cars, int count) {
  const Car *best = NULL;
  for (int i = 0; i < count; i++)
    if (cars[i].left < f->camera.cx && cars[i].right > f->camera.cx && cars[i].z > 8 &&
        cars[i].z < 25 && (!best || cars[i].z < best->z))
      best = &cars[i];
  return best;
}

typedef struct Lead {
  int next; /* frame */
  int frames, found, ids;
  uint32_t id;
  double z[LEAD_FRAMES], speed[LEAD_FRAMES]; /* true distance; measured speed; z 0: no car */
  EvalValues overlap, distance;
} Lead;

static void score_lead(const EvalFinder *finder, const EvalFrame *f, void *total) {
  Lead *lead = total;
  const int k = lead->next++;
  Car cars[CARS];
  double most;
  const Car *car = lead_of(f, cars, true_cars(f, cars));
  if (!car)
    return;
  const RvObstacle *o = best_of(finder, car, &most);
  lead->frames++;
  lead->z[k] = car->z;
  lead->speed[k] = NAN;
  if (!o || most <= 0.5)
    return;
  lead->found++;
  lead->ids += o->id != 0 && o->id != lead->id;
  lead->id = o->id ? o->id : lead->id;
  lead->speed[k] = o->velocity_z;
  eval_add(&lead->overlap, most);
  eval_add(&lead->distance, fabs(o->distance - car->z));
}

static int judge_lead(void) {
  Lead lead;
  EvalValues speed = {0};
  memset(&lead, 0, sizeof lead);
  EvalScene *scene = eval_scene_new(RV_SCENE_STREET, 1242, 375, SEED, LEAD_RATE);
  eval_find(scene, LEAD_FRAMES, 1, score_lead, &lead);
  eval_scene_free(scene);
  for (int k = (int)LEAD_RATE; k + 5 < LEAD_FRAMES; k++) /* the truth: slope over half a second */
    if (lead.z[k - 5] > 0 && lead.z[k + 5] > 0 && !isnan(lead.speed[k]))
      eval_add(&speed, fabs(lead.speed[k] - (lead.z[k + 5] - lead.z[k - 5]) * LEAD_RATE / 10));
  printf("lead car: %d frames\n", lead.frames);
  int failed = eval_at_least("lead car, frames with a true one", lead.frames, LEAD_FRAMES * 3 / 4);
  failed += eval_at_least("lead car, % of frames found",
                          lead.frames ? 100.0 * lead.found / lead.frames : 0, 98);
  failed += eval_at_most("lead car, ids", lead.ids, 1);
  failed += eval_at_least("lead car, median IoU", eval_percentile(&lead.overlap, 50), 0.75);
  failed += eval_at_most("lead car, distance p90 in m", eval_percentile(&lead.distance, 90), 0.4);
  failed += eval_at_most("lead car, speed p90 in m/s", eval_percentile(&speed, 90), 0.6);
  eval_clear(&lead.overlap);
  eval_clear(&lead.distance);
  eval_clear(&speed);
  return failed;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int failed = 0;
  if (!*what || strcmp(what, "free") == 0)
    failed += judge_space(1242, 375, 88, 5, 5) + judge_space(640, 480, 83, 7, 7);
  if (!*what || strcmp(what, "cars") == 0)
    failed += judge_cars();
  if (!*what || strcmp(what, "lead") == 0)
    failed += judge_lead();
  return failed ? 1 : 0;
}
