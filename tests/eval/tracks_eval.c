/* SPDX-License-Identifier: MIT */
/* tracks_eval.c [FRAMES [all | SCENE SEED]]: tracked obstacles on rendered roads against the list of things of the
 * renderer, 60 (or FRAMES) frames at 10/s; all: on nine further roads too; SCENE SEED: on this one
 * alone, street, highway or obstacle-course.
 *
 *   things  cars and persons at 5 to 25 m of at least 600 visible px; an obstacle of IoU > 0.5 is theirs,
 *           each of one thing (other objects are things too): first as in the frame before, then the
 *           pairs of highest IoU (Bernardin, Stiefelhagen 2008).
 *           MOTA = 1 - (misses + false + switches) / things; false are confirmed obstacles that are
 *           road by more than half and have nothing at their distance: what is narrower than the blur
 *           of the matcher fills less than half of its box; a switch: another id than that before.
 *           IDF1 = 2 IDTP / (things + found): one track for each thing for the whole drive.
 *   ttc     of all things whose true time to collision is below 4 s, half a second after the track
 *           began; in a path of 10 m, so that what passes counts too; none: an error of 100 %
 *   boxes   the distance that cudaobstacles gives the true boxes of things
 *   above   confirmed obstacles, other than overhanging ones, more than half of which is a bridge, a
 *           gantry or an overhanging sign; and columns that such a thing limits: none may be. Of
 *           these, those "near" are within 8 px of what stands there (an abutment, a post): the
 *           matcher compares windows of 9 px, and its paths widen edges further. "By it": most of
 *           the pixels that are measured there between min_height and the clearance are really of
 *           what spans the road; of the others, ground or sky has a wrong disparity
 *
 * Columns that a bridge or a sign limits are a known defect of the disparity, see docs/notes/obstacles.md.
 * Seeds 61 to 63 and 401 to 409 judge; 71 to 88, 201 to 209, 301 to 309, 501 to 569, 601 to 605, 701 to
 * 708, 800 to 829, 840 to 843, 860 to 863 and 1900 to 1930 were in view when the method was made;
 * street 9001 to 9024, highway 9031 to 9042 and obstacle-course 9051 to 9058 were measured once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval_finder.h"

#define RATE 10.0
#define PIXELS_LEAST 600
#define SUBSTANCE 0.2 /* of a box: as a person of 6 px in a box that is blurred by 12 px */
#define NEAR 8        /* px */
#define VOTE 12       /* 1/16 px of disparity from the limit of a strip */
#define IDS 65536
#define PAIRS 4096
#define TTC_MOST 4.0 /* s */
#define IDF1 0.77    /* at least */

typedef struct Road {
  const char *name;
  RvScenePattern pattern;
  uint32_t seed;
  double speed;
  double mota;  /* at least */
  int switches; /* at most */
  int limited;  /* columns that end where something spans the road, for the wrong disparity of what
                 * is behind and below it; not 0: a known defect */
  int is_more;  /* with `all` */
} Road;

static const Road roads[] = {
    {"street", RV_SCENE_STREET, 61, 8, 0.72, 0, 0, 0},
    {"highway", RV_SCENE_HIGHWAY, 62, 25, 0.78, 0, 75, 0},
    {"obstacle-course", RV_SCENE_COURSE, 63, 8, 0.87, 0, 30, 0},
    {"street", RV_SCENE_STREET, 401, 8, 0.67, 1, 0, 1},
    {"street", RV_SCENE_STREET, 402, 8, 0.82, 0, 0, 1},
    {"street", RV_SCENE_STREET, 403, 8, 0.77, 1, 0, 1},
    {"street", RV_SCENE_STREET, 404, 8, 0.64, 0, 0, 1},
    {"street", RV_SCENE_STREET, 405, 8, 0.67, 1, 0, 1},
    {"highway", RV_SCENE_HIGHWAY, 406, 25, 0.72, 0, 94, 1},
    {"highway", RV_SCENE_HIGHWAY, 407, 25, 0.86, 0, 40, 1},
    {"obstacle-course", RV_SCENE_COURSE, 408, 8, 0.97, 0, 32, 1},
    {"obstacle-course", RV_SCENE_COURSE, 409, 8, 0.93, 0, 50, 1},
};

/* Of all roads. */
typedef struct Totals {
  int things, found, switches;
  EvalValues ttc, boxes;
} Totals;

/* Frames in which a thing had a track. */
typedef struct EvalPair {
  int thing, frames;
  uint32_t id;
} EvalPair;

typedef struct Score {
  int frames, things, missed, wrong, switches, above, limited, near, by_it, pairs;
  EvalValues ttc, boxes; /* relative error */
  EvalPair pair[PAIRS];
  uint32_t id_of[IDS]; /* of the track that a thing had */
  int since[IDS];      /* frames that it had it */
} Score;

static double overlap(const RvSceneObject *t, const RvObstacle *o) {
  const double w = fmin(t->x + t->w, o->x + o->w) - fmax(t->x, o->x);
  const double h = fmin(t->y + t->h, o->y + o->h) - fmax(t->y, o->y);
  return w <= 0 || h <= 0 ? 0 : w * h / ((double)t->w * t->h + (double)o->w * o->h - w * h);
}

/* Share of the box that has one of the labels. */
static double share(const EvalFrame *f, const RvObstacle *o, int label) {
  int count = 0, all = 0;
  for (int v = o->y; v < o->y + o->h && v < f->labels.height; v++)
    for (int u = o->x; u < o->x + o->w && u < f->labels.width; u++, all++)
      count += ((const uint8_t *)f->labels.data)[v * f->labels.stride + u] == label;
  return all ? (double)count / all : 0;
}

/* Share of the box that is neither flat nor sky, within 15 % of the distance. */
static double substance(const EvalFrame *f, const RvObstacle *o) {
  const double fb = f->camera.focal * f->camera.baseline;
  int count = 0, all = 0;
  for (int v = o->y; v < o->y + o->h && v < f->labels.height; v++)
    for (int u = o->x; u < o->x + o->w && u < f->labels.width; u++, all++) {
      const int label = ((const uint8_t *)f->labels.data)[v * f->labels.stride + u];
      const int d = ((const uint16_t *)f->truth.data)[v * (f->truth.stride / 2) + u];
      count += label > RV_LABEL_GRASS && label != RV_LABEL_SKY && d > 0 &&
               fabs(16 * fb / d / (double)o->distance - 1) < 0.15;
    }
  return all ? (double)count / all : 0;
}

static int is_shown(const RvObstacle *o) {
  return o->id != 0 && o->state != RV_OBSTACLE_PREDICTED && o->kind != RV_OBSTACLE_OVERHANG;
}

/* --- Things and their tracks ------------------------------------------------------------------ */

/* Relative error of the time to collision, half a second after the track began. */
static void score_ttc(const RvSceneObject *t, const RvObstacle *o, int since, Score *s) {
  const double truth = t->velocity_z < -1 ? (double)(t->distance / -t->velocity_z) : 1e9;
  const double aside = fabs((double)t->lateral + (double)t->velocity_x * truth);
  if (truth < TTC_MOST && since >= RATE / 2 && aside <= 0.5 * (EVAL_PATH + (double)t->width))
    eval_add(&s->ttc, o->ttc > 0 ? fabs((double)o->ttc / truth - 1) : 1);
}

static int is_thing(const RvSceneObject *t) {
  return t->label != RV_LABEL_BRIDGE && t->distance >= 5 && t->distance <= 25 &&
         t->pixels >= PIXELS_LEAST;
}

static int is_counted(const RvSceneObject *t) {
  return t->label == RV_LABEL_CAR || t->label == RV_LABEL_PERSON;
}

/* Counts a frame in which a thing had a track. */
static void count_pair(Score *s, int thing, uint32_t id) {
  int k = 0;
  while (k < s->pairs && (s->pair[k].thing != thing || s->pair[k].id != id))
    k++;
  if (k == PAIRS)
    return;
  s->pairs = k == s->pairs ? k + 1 : s->pairs;
  s->pair[k].thing = thing;
  s->pair[k].id = id;
  s->pair[k].frames++;
}

static void score_match(const RvSceneObject *t, const RvObstacle *o, Score *s) {
  const int is_other = s->id_of[t->id] && s->id_of[t->id] != o->id;
  s->since[t->id] = is_other ? 0 : s->since[t->id] + 1;
  s->id_of[t->id] = o->id;
  score_ttc(t, o, s->since[t->id], s);
  if (is_counted(t)) {
    s->switches += is_other;
    count_pair(s, t->id, o->id);
  }
}

/* Takes the pair with the highest overlap; 0: there is none. With `is_kept`, only of things with
 * the tracks they had. */
static int match_one(const EvalFinder *finder, const EvalFrame *f, int is_kept, int *track_of,
                     int *thing_of, const Score *s) {
  double most = 0.5;
  int thing = -1, track = -1;
  for (int i = 0; i < f->facts->objects; i++)
    for (int k = 0; track_of[i] < 0 && is_thing(&f->facts->object[i]) && k < finder->count; k++) {
      const RvObstacle *o = &finder->list[k];
      const double share = overlap(&f->facts->object[i], o);
      if (thing_of[k] >= 0 || !is_shown(o) || share <= most ||
          (is_kept && s->id_of[f->facts->object[i].id] != o->id))
        continue;
      most = share;
      thing = i;
      track = k;
    }
  if (thing < 0)
    return 0;
  track_of[thing] = track;
  thing_of[track] = thing;
  return 1;
}

static void score_things(const EvalFinder *finder, const EvalFrame *f, Score *s) {
  int track_of[RV_SCENE_OBJECTS], thing_of[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
  for (int i = 0; i < RV_SCENE_OBJECTS; i++)
    track_of[i] = -1;
  for (int k = 0; k < finder->count; k++)
    thing_of[k] = -1;
  while (match_one(finder, f, 1, track_of, thing_of, s) ||
         match_one(finder, f, 0, track_of, thing_of, s))
    ;
  for (int i = 0; i < f->facts->objects; i++) {
    const RvSceneObject *t = &f->facts->object[i];
    if (!is_thing(t))
      continue;
    s->things += is_counted(t);
    if (track_of[i] >= 0)
      score_match(t, &finder->list[track_of[i]], s);
    else
      s->missed += is_counted(t);
  }
}

static int more_frames(const void *a, const void *b) {
  const EvalPair *x = a, *y = b;
  return (x->frames < y->frames) - (x->frames > y->frames);
}

/* Each thing with one track for the whole drive, the pairs of most frames first: at most what the best
 * pairs would give. */
static double idf1(Score *s) {
  static uint8_t is_taken[2][IDS];
  int right = 0;
  memset(is_taken, 0, sizeof is_taken);
  qsort(s->pair, (size_t)s->pairs, sizeof *s->pair, more_frames);
  for (int k = 0; k < s->pairs; k++) {
    uint8_t *thing = &is_taken[0][s->pair[k].thing], *track = &is_taken[1][s->pair[k].id % IDS];
    if (*thing || *track)
      continue;
    right += s->pair[k].frames;
    *thing = *track = 1;
  }
  const int found = s->things - s->missed + s->wrong;
  return s->things + found ? 2.0 * right / (s->things + found) : 0;
}

/* Distances of the true boxes, as a detector would give them. */
static void score_boxes(const EvalFinder *finder, const EvalFrame *f, Score *s) {
  RvObstaclesRect rects[RV_SCENE_OBJECTS] = {{0}};
  RvObstaclesDepth depths[RV_SCENE_OBJECTS];
  double truth[RV_SCENE_OBJECTS] = {0};
  uint32_t count = 0;
  for (int i = 0; i < f->facts->objects; i++) {
    const RvSceneObject *t = &f->facts->object[i];
    if (!is_counted(t) || !is_thing(t))
      continue;
    truth[count] = t->distance;
    rects[count++] = (RvObstaclesRect){t->x, t->y, t->w, t->h};
  }
  if (rv_obstacles_distances(finder->obstacles, &f->disparity, rects, count, depths, NULL) != RV_OK)
    exit(1);
  for (uint32_t k = 0; k < count; k++) {
    const double z = rv_obstacles_depth(&finder->config, &rects[k], &depths[k], NULL);
    eval_add(&s->boxes, fabs(z / truth[k] - 1));
  }
}

/* --- What spans the road ---------------------------------------------------------------------- */

/* 1 when the limit of a strip is at what spans the road, and the truth is farther away. */
static int is_limited(const EvalFinder *finder, const EvalFrame *f, int k) {
  const RvFreeColumn *c = &finder->column[k];
  const double fb = f->camera.focal * f->camera.baseline,
               z = c->disparity ? 16 * fb / c->disparity : 0;
  const int left = k * finder->column_width;
  if (c->kind != 1 || !(z > 0))
    return 0;
  for (int u = left; u < left + finder->column_width && u < f->truth.width; u++)
    if (f->free_space[u] > 0 && (double)f->free_space[u] < 1.25 * z)
      return 0;
  for (int u = left; u < left + finder->column_width && u < f->truth.width; u++)
    for (int v = 0; v < f->truth.height; v++) {
      const int d = ((const uint16_t *)f->truth.data)[v * (f->truth.stride / 2) + u];
      if (((const uint8_t *)f->labels.data)[v * f->labels.stride + u] == RV_LABEL_BRIDGE && d &&
          fabs(16 * fb / d / z - 1) < 0.1)
        return 1;
    }
  return 0;
}

/* 1 when what stands at the limit of a strip, 0.3 to 2.2 m above the ground, is within NEAR px. */
static int is_near(const EvalFinder *finder, const EvalFrame *f, int k) {
  const double fb = f->camera.focal * f->camera.baseline, z = 16 * fb / finder->column[k].disparity;
  const int left = k * finder->column_width - NEAR;
  const int end = (k + 1) * finder->column_width + NEAR;
  for (int u = left < 0 ? 0 : left; u < end && u < f->truth.width; u++)
    if (f->free_space[u] > 0 && fabs((double)f->free_space[u] / z - 1) < 0.1)
      return 1;
  return 0;
}

/* 1 when most of the pixels that limit a strip are of what spans the road. */
static int is_by_it(const EvalFinder *finder, const EvalFrame *f, int k) {
  const RvObstaclesConfig *c = &finder->config;
  int all = 0, spanning = 0;
  for (int u = k * finder->column_width; u < (k + 1) * finder->column_width; u++)
    for (int v = 0; v < f->disparity.height; v++) {
      const int d = ((const uint16_t *)f->disparity.data)[v * (f->disparity.stride / 2) + u];
      const double height = rv_ground_height(&finder->surface, &c->camera, d / 16.0, u, v);
      if (abs(d - finder->column[k].disparity) > VOTE || height < c->min_height ||
          height >= c->clearance)
        continue;
      all++;
      spanning += ((const uint8_t *)f->labels.data)[v * f->labels.stride + u] == RV_LABEL_BRIDGE;
    }
  return 2 * spanning > all;
}

static void score_frame(const EvalFinder *finder, const EvalFrame *f, void *score) {
  Score *s = score;
  s->frames++;
  score_things(finder, f, s);
  score_boxes(finder, f, s);
  for (int k = 0; k < finder->count; k++) {
    const RvObstacle *o = &finder->list[k];
    if (!is_shown(o))
      continue;
    s->wrong += share(f, o, RV_LABEL_ROAD) > 0.5 && substance(f, o) < SUBSTANCE;
    s->above += share(f, o, RV_LABEL_BRIDGE) > 0.5;
  }
  for (int k = 0; k < finder->columns; k++)
    if (is_limited(finder, f, k)) {
      s->limited++;
      s->near += is_near(finder, f, k);
      s->by_it += is_by_it(finder, f, k);
    }
}

static int judge(const Road *road, int frames, Totals *totals) {
  Score *s = calloc(1, sizeof *s);
  if (!s)
    return 1;
  EvalScene *scene = eval_scene_at(road->pattern, 1242, 375, road->seed, RATE, road->speed);
  eval_find(scene, (uint64_t)frames, 1, score_frame, s);
  eval_scene_free(scene);
  const double mota = s->things ? 1 - (double)(s->missed + s->wrong + s->switches) / s->things : 0;
  char text[128];
  int failed = 0;
  printf(
      "%s %u: %d frames, %d things: MOTA %.2f, IDF1 %.2f, %d missed, %d false, %d switches; ttc of "
      "%zu; above: %d obstacles, %d columns, of them %d near, %d by it\n",
      road->name, (unsigned)road->seed, s->frames, s->things, mota, idf1(s), s->missed, s->wrong,
      s->switches, s->ttc.count, s->above, s->limited, s->near, s->by_it);
  snprintf(text, sizeof text, "%s: MOTA", road->name);
  failed += eval_at_least(text, mota, road->mota);
  snprintf(text, sizeof text, "%s: IDF1", road->name);
  failed += eval_at_least(text, idf1(s), IDF1);
  snprintf(text, sizeof text, "%s: id switches", road->name);
  failed += eval_at_most(text, s->switches, road->switches);
  snprintf(text, sizeof text, "%s: false obstacles per frame", road->name);
  failed += eval_at_most(text, (double)s->wrong / s->frames, 0.1);
  snprintf(text, sizeof text, "%s: obstacles that span the road", road->name);
  failed += eval_at_most(text, s->above, 0);
  snprintf(text, sizeof text, "%s: columns that such a one limits", road->name);
  failed += eval_at_most(text, s->limited, road->limited);
  snprintf(text, sizeof text, "%s: columns that pixels of such a one limit", road->name);
  failed += eval_at_most(text, s->by_it, 0);
  totals->things += s->things;
  totals->found += s->things - s->missed;
  totals->switches += s->switches;
  for (size_t k = 0; k < s->ttc.count; k++)
    eval_add(&totals->ttc, s->ttc.values[k]);
  for (size_t k = 0; k < s->boxes.count; k++)
    eval_add(&totals->boxes, s->boxes.values[k]);
  eval_clear(&s->boxes);
  eval_clear(&s->ttc);
  free(s);
  return failed;
}

int main(int argc, char **argv) {
  const int frames = argc > 1 ? atoi(argv[1]) : 60;
  const int is_all = argc == 3 && strcmp(argv[2], "all") == 0;
  Totals totals = {0};
  int failed = 0, judged = 0;
  const uint32_t seed = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  for (size_t k = 0; k < sizeof roads / sizeof *roads; k++) {
    Road road = roads[k];
    if (argc > 3 ? road.is_more || strcmp(argv[2], road.name) != 0 : !is_all && road.is_more)
      continue;
    road.seed = argc > 3 ? seed : road.seed;
    failed += judge(&road, frames > 0 ? frames : 60, &totals);
    judged++;
  }
  if (!judged) {
    fprintf(stderr, "tracks_eval: no scene %s: street, highway or obstacle-course\n", argv[2]);
    return 2;
  }
  printf("all: %d things, %d frames of a track, %d id switches; ttc of %zu\n", totals.things,
         totals.found, totals.switches, totals.ttc.count);
  failed += eval_at_most("id switches per 300 frames of a track",
                         300.0 * totals.switches / (totals.found ? totals.found : 1), 1);
  failed += eval_at_most("time to collision below 4 s, median of the relative error",
                         eval_percentile(&totals.ttc, 50), 0.10);
  failed += eval_at_most("time to collision below 4 s, p90 of the relative error",
                         eval_percentile(&totals.ttc, 90), 0.30);
  printf("boxes of others: %zu\n", totals.boxes.count);
  failed += eval_at_most("distance of true boxes, median of the relative error",
                         eval_percentile(&totals.boxes, 50), 0.03);
  failed += eval_at_most("distance of true boxes, p90 of the relative error",
                         eval_percentile(&totals.boxes, 90), 0.15);
  eval_clear(&totals.ttc);
  eval_clear(&totals.boxes);
  return failed ? 1 : 0;
}
