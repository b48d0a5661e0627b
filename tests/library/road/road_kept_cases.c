/* SPDX-License-Identifier: MIT */
/* road_kept_cases.c: frames without seeds keep what was road in the last frame with seeds: the rule
 * on hand-made and random masks, and sequences of frames, on both engines. */
#include <stdlib.h>
#include <string.h>

#include "road_inputs.h"
#include "road_reference.h"
#include "road_save_cases.h"

enum { COLUMNS = 10, ROWS = 9, ALL = COLUMNS * ROWS };

/* Row y of patches of 5 px is at v = 5 y + 2; the disparity is v - 17 px: rows 6 to 8 (15 px and
 * more) are nearer than 200 * 0.5 / 8 = 12.5 px. */
static const RvRoadPlane plane = {.b = 1, .c = -17, .height = 1};

static RvRoadCpu *open_rule(RvCheck *check, const char *name) {
  RvRoadConfig c;
  rv_road_config_init(&c);
  c.width = COLUMNS * c.patch_size;
  c.height = ROWS * c.patch_size;
  c.camera = (RvCamera){.focal = 200, .cx = 25, .cy = 17, .baseline = 0.5};
  c.near_range = 8;
  c.threads = 2;
  RvRoadCpu *w = rv_road_bench_new(check, name, &c);
  if (w)
    w->plane = plane;
  return w;
}

/* Patches that are '#' in a map: the first character of a line is in column 0. */
static void read_map(const char *const *map, uint8_t *set) {
  for (int i = 0; i < ALL; i++)
    set[i] = map[i / COLUMNS][i % COLUMNS] == '#';
}

/* The classified patches `like` in a frame with (1) or without seeds: the road. */
static void keep(RvRoadCpu *w, const uint8_t *like, int has_seeds) {
  memcpy(w->road, like, ALL);
  memset(w->sample, 0, ALL);
  w->report = (RvRoadReport){0};
  if (has_seeds) { /* in every classified patch: all of them are road */
    memcpy(w->sample, like, ALL);
    w->report.seeds = 1;
  }
  rv_road_keep_components(w);
}

/* What is left ahead is beside a van, and behind it; the rest is not road. */
static void check_masks(RvCheck *check, const char *name, RvRandom *random) {
  static const char *const before[] = {"..........", "....##....", "....##....",
                                       "...####...", "...####...", "...####...",
                                       "...####...", "...####...", "...####..."};
  static const char *const like[] = {"#.........", "#...##....", "#...##....",
                                     "#..####...", "#.........", "#........#",
                                     "#.##..####", "#.##..####", "#.##..####"};
  static const char *const wanted[] = {"..........", "....##....", "....##....",
                                       "...####...", "..........", "..........",
                                       "..##..###.", "..##..###.", "..##..###."};
  RvRoadCpu *w = open_rule(check, name);
  if (!w)
    return;
  uint8_t was[ALL], now[ALL], road[ALL];
  read_map(before, was), read_map(like, now), read_map(wanted, road);
  keep(w, now, 0);
  rvc_true(check, name, w->report.road == 13 && w->road[59] && w->road[89] && !w->road[0],
           "before any frame with seeds: %d road, not the largest component", w->report.road);
  keep(w, was, 1);
  rvc_true(check, name, memcmp(w->road, was, ALL) == 0, "with seeds: not the classified patches");
  for (int frame = 0; frame < 3; frame++) { /* what is kept does not change in such frames */
    keep(w, now, 0);
    rvc_true(check, name, memcmp(w->road, road, ALL) == 0 && w->report.road == 23,
             "without seeds, frame %d: %d road, expected 23", frame, w->report.road);
  }
  memset(now, 0, ALL);
  now[82] = 1; /* (2, 8) is next to what was road, but contains none of it */
  keep(w, now, 0);
  rvc_true(check, name, w->report.road == 0, "a component beside the road is road");
  rv_road_bench_free(w);
}

/* Random masks against the reference; without a plane nothing is near. */
static void check_random(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadCpu *w = open_rule(check, name);
  if (!w)
    return;
  int found = 0;
  for (int round = 0; round < 400; round++) {
    uint8_t was[ALL], like[ALL], near[ALL], road[ALL];
    const int share = rvc_range(random, 1, 30), dense = rvc_range(random, 20, 90);
    w->plane.height = round % 4 ? 1 : 0;
    for (int i = 0; i < ALL; i++) {
      was[i] = rvc_range(random, 0, 99) < share;
      like[i] = rvc_range(random, 0, 99) < dense;
      near[i] = round % 4 && i / COLUMNS >= 6;
    }
    keep(w, was, 1);
    keep(w, like, 0);
    rv_road_reference_keep(like, was, near, COLUMNS, ROWS, road);
    found += w->report.road;
    if (!rvc_true(check, name, memcmp(w->road, road, ALL) == 0, "round %d differs", round))
      break;
  }
  rvc_true(check, name, found > 400, "%d patches in all rounds", found);
  rv_road_bench_free(w);
}

/* --- Sequences -------------------------------------------------------------------------------- */

/* How a frame of a sequence has no seeds. */
typedef enum Kind { SEEDS, HIDDEN, NOISE, BLIND, RESET } Kind;

/* HIDDEN: the near ground is rough, and all of it has the color of the road. NOISE: no ground. */
static void hide(const RvRoadInputs *d, Kind kind) {
  uint16_t *disparity = d->disparity.data;
  uint32_t *color = d->color.data;
  const int width = d->disparity.width;
  for (int i = 0; i < width * d->disparity.height; i++) {
    const int u = i % width, v = i / width;
    if (kind == NOISE)
      disparity[i] = (uint16_t)((unsigned)i * 2654435761u >> 20);
    if (kind != HIDDEN || 2 * v < d->disparity.height)
      continue;
    disparity[i] = (uint16_t)rv_max(disparity[i] + ((u + v) % 2 ? 24 : -24), 0);
    if (u < width / 2 || u >= width / 2 + 8)
      color[i] = color[v * width + width / 2 + u % 8];
  }
}

/* Compares the mask of the CPU engine's last frame with the reference; returns how many patches are
 * no road only because they are near. */
static int same_reference(const RvRoadInputs *d, RvRoad *road, const uint8_t *before,
                          const RvRoadResult *r, int frame) {
  const RvRoadCpu *w = (const RvRoadCpu *)road->object.work;
  const RvRoadPlan *plan = &road->plan;
  uint8_t *set = rvc_memory(4 * (size_t)plan->patches), *like = set + plan->patches;
  uint8_t *near = like + plan->patches, *kept = near + plan->patches;
  for (int i = 0; i < plan->patches; i++) {
    const int x = i % plan->columns, y = i / plan->columns;
    double depth = 1e9;
    set[i] = w->like[i] >= RV_ROAD_LIKE;
    if (w->plane.height > 0)
      (void)rv_road_reference_strip(&plan->config, x, y, w->plane.a, w->plane.b,
                                    w->plane.c - plan->config.camera.doffs, &depth);
    near[i] = depth > 0 && depth < plan->config.near_range;
  }
  rv_road_reference_smooth(set, plan->columns, plan->rows, plan->config.smoothing, like);
  rv_road_reference_keep(like, before, near, plan->columns, plan->rows, kept);
  int wrong = 0, road_like = 0;
  for (int i = 0; i < plan->patches; i++)
    wrong += (((const uint8_t *)r->mask.data)[i] != 0) != kept[i];
  rvc_true(d->check, d->name, wrong == 0 && (rvc_small(d->check) || r->report.road > 0),
           "frame %d: %d patches differ from the reference, %d road", frame, wrong, r->report.road);
  memset(near, 0, (size_t)plan->patches);
  rv_road_reference_keep(like, before, near, plan->columns, plan->rows, kept);
  for (int i = 0; i < plan->patches; i++)
    road_like += kept[i];
  free(set);
  return road_like - r->report.road;
}

/* One engine on the frames of a sequence; the CPU is compared with the reference. Returns the sum of
 * same_reference. */
static int run_frames(const RvRoadInputs *d, RvRoad *road, const Kind *kinds, int frames,
                      RvRoadResult *results) {
  const int is_cpu = road->object.engine == RV_CPU;
  const uint8_t *before = NULL;
  int dropped = 0;
  for (int k = 0; k < frames; k++) {
    rv_road_inputs_paint(d, k);
    hide(d, kinds[k]);
    if (kinds[k] == RESET) {
      rvc_true(d->check, d->name, rv_road_reset(road, NULL) == RV_OK, "reset failed");
      before = NULL;
    }
    rv_road_inputs_run(d, road, kinds[k] != BLIND, &results[k]);
    const RvRoadReport *r = &results[k].report;
    rvc_true(d->check, d->name, (kinds[k] == SEEDS || kinds[k] == RESET) == (r->seeds > 0),
             "frame %d: %d seeds", k, r->seeds);
    if (is_cpu && r->seeds == 0 && before)
      dropped += same_reference(d, road, before, &results[k], k);
    if (r->seeds)
      before = results[k].mask.data;
  }
  return dropped;
}

static void check_frames(RvCheck *check, const char *name, RvRandom *random) {
  static const Kind kinds[] = {SEEDS, SEEDS,  HIDDEN, HIDDEN, NOISE, BLIND,
                               SEEDS, HIDDEN, RESET,  BLIND,  HIDDEN};
  enum { FRAMES = sizeof kinds / sizeof *kinds };
  const int is_small = rvc_small(check), engines = rvc_cuda(check) ? 2 : 1;
  RvRoadInputs d;
  RvRoadResult results[2][FRAMES];
  rv_road_inputs_open(check, name, &d, is_small ? 103 : 203, is_small ? 91 : 151);
  d.config.initial_models = is_small ? 1 : 2;
  d.config.equalize = 0;   /* the colors of hidden frames are those of the others */
  d.config.near_width = 2; /* the track, without grass */
  for (int k = 0; k < 2 * FRAMES; k++)
    rv_road_result_open(&d.config, &results[k / FRAMES][k % FRAMES]);
  for (int i = 0; i < engines; i++) {
    RvRoad *road = rv_road_inputs_new(&d, &d.config, i ? RV_CUDA : RV_CPU);
    const int dropped = road ? run_frames(&d, road, kinds, FRAMES, results[i]) : 0;
    rvc_true(check, name, i || is_small || dropped > 0, "nothing near was dropped");
    rv_road_free(&road);
  }
  for (int k = 0; k < FRAMES && engines == 2; k++)
    rv_road_result_same(&d, &results[0][k], &results[1][k], "a sequence with frames without seeds");
  for (int k = 0; k < 2 * FRAMES; k++)
    rv_road_result_close(&results[k / FRAMES][k % FRAMES]);
  rv_road_inputs_close(&d);
}

RVC_CASES(rv_road_kept_cases, RVC_CASE("road/kept", check_masks, 0),
          RVC_CASE("road/kept-random", check_random, 0),
          RVC_CASE("road/kept-frames", check_frames, 0));
