/* SPDX-License-Identifier: MIT */
/* stixels_cases.c: stixels compared with hand-computed columns, every segmentation of short
 * columns, the plain recursion and the formulas of the energy; rendering, ground plane, and fuzz
 * input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_draw.h"
#include "stixels/stixels_inputs.h"
#include "stixels/stixels_reference.h"

/* Every cell of every column belongs to exactly one stixel, in order. */
static int is_covered(const RvStixelsConfig *c, const StixelsResult *r, int column) {
  int row = c->height - 1;
  for (uint32_t k = r->offsets[column]; k < r->offsets[column + 1]; k++) {
    const RvStixel *s = &r->stixels[k];
    if (s->column != column * c->stixel_width || s->v_bottom != row || s->v_top > s->v_bottom ||
        s->structure >= RV_STIXELS_CLASSES ||
        (s->semantic != RV_SEMANTIC_NONE &&
         (s->semantic >= c->semantics || c->semantic_structure[s->semantic] != s->structure)))
      return 0;
    row = s->v_top - 1;
  }
  return row == -1;
}

/* --- Reference implementations --------------------------------------------------------------- */

typedef struct Tally {
  int columns, worse; /* columns; those above the minimum of all segmentations */
  double excess;      /* nat, maximum */
} Tally;

/* Compares one column of a result with all three reference implementations. */
static void compare_column(RvCheck *check, const char *name, const RvStixelsConfig *c,
                           const StixelsReference *reference, const RvStixelsInput *input,
                           const StixelsResult *r, int column, int coupled, Tally *tally) {
  const RvStixel *list = r->stixels + r->offsets[column];
  const uint32_t count = r->offsets[column + 1] - r->offsets[column];
  const int32_t energy = r->energies[column];
  RvStixel plain[REFERENCE_ROWS];
  int plain_count = 0;
  const int32_t recursion = stixels_reference_recursion(reference, column, plain, &plain_count);
  stixels_reference_refine(c, input, plain, plain_count);
  rvc_true(check, name, memcmp(reference->codes, r->cuts + column * r->rows, (size_t)r->rows) == 0,
           "column %d: the cuts are not those of the plain network", column);
  rvc_true(check, name, is_covered(c, r, column), "column %d is not covered once", column);
  rvc_true(check, name, energy == recursion && (int)count == plain_count,
           "column %d, model %d: energy %d in %u stixels, the plain recursion has %d in %d", column,
           (int)c->model, energy, count, recursion, plain_count);
  if ((int)count == plain_count)
    rvc_true(check, name, memcmp(list, plain, count * sizeof *list) == 0,
             "column %d, model %d: stixels are not those of the plain recursion", column,
             (int)c->model);
  double slack = 0, shares = 0;
  const double formula = stixels_reference_energy(reference, c, list, count, &slack);
  rvc_true(check, name, fabs(formula - energy / 1024.0) <= slack,
           "column %d, model %d: energy %.4f nat, by the formulas %.4f (may differ by %.4f)",
           column, (int)c->model, energy / 1024.0, formula, slack);
  for (uint32_t k = 0; k < count; k++)
    shares += list[k].cost;
  rvc_true(check, name, fabs(shares - energy / 1024.0) < 1e-3,
           "column %d: shares add up to %.4f, not %.4f", column, shares, energy / 1024.0);
  if (reference->rows > 7)
    return;
  const int32_t least = stixels_reference_minimum(reference);
  rvc_true(check, name, coupled ? energy >= least : energy == least,
           "column %d, model %d: energy %d, the minimum of all segmentations is %d", column,
           (int)c->model, energy, least);
  tally->columns++;
  tally->worse += energy > least;
  tally->excess = fmax(tally->excess, (energy - least) / 1024.0);
}

static void compare_image(RvCheck *check, const char *name, RvRandom *random, RvStixelsConfig *c,
                          int coupled, Tally *tally) {
  StixelsInput *input = stixels_input_new(c->width, c->height);
  stixels_fill_street(random, input);
  stixels_fill_semantics(random, input, c->semantics);
  const int trusted = rvc_range(random, 0, 1);
  const RvStixelsInput in = stixels_input_of(input, trusted);
  StixelsResult r = stixels_result_new(c, rv_stixels_count_max(c));
  StixelsReference *reference = malloc(sizeof *reference);
  if (!reference)
    abort();
  if (stixels_run_cpu(check, name, c, input, trusted, &r))
    for (int x = 0; x < r.columns; x++) {
      stixels_reference_column(reference, c, r.ground, &in, x);
      compare_column(check, name, c, reference, &in, &r, x, coupled, tally);
    }
  free(reference);
  stixels_result_free(&r);
  free(input);
}

/* Compares short columns with every segmentation, with and without priors that couple planes. */
static void check_short(RvCheck *check, int model, int coupled) {
  static const char *const names[] = {"stixels/slanted-fast", "stixels/slanted",
                                      "stixels/constant"};
  char name[64];
  snprintf(name, sizeof name, "%s%s", names[model], coupled ? "-coupled" : "");
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, name);
  Tally tally = {0, 0, 0};
  for (int round = 0; round < (rvc_small(check) ? 6 : 100); round++) {
    RvStixelsConfig c = stixels_random_config(check, &random, model, coupled);
    c.width = rvc_range(&random, 1, 16);
    c.height = rvc_range(&random, 1, round % 5 == 0 ? 6 : 5);
    c.stixel_width = c.vertical_step = 1;
    compare_image(check, name, &random, &c, coupled, &tally);
  }
  if (coupled)
    printf("%s: %d of %d columns above the minimum of all segmentations, by at most %.3f nats\n",
           name, tally.worse, tally.columns, tally.excess);
  rvc_ok(check, name);
}

/* Cells of every size, longer columns: the plain recursion and the formulas. */
static void check_sizes(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < (rvc_small(check) ? 6 : 60); round++) {
    RvStixelsConfig c = stixels_random_config(check, random, round % 3, 1);
    c.stixel_width = rvc_range(random, 1, round % 4 ? 9 : 64);
    c.vertical_step = rvc_range(random, round % 2 ? 4 : 2, round % 4 ? 9 : 64);
    c.width = rvc_range(random, 1, 30);
    c.height = rvc_range(random, 1, 90);
    Tally tally = {0, 0, 0};
    compare_image(check, name, random, &c, 1, &tally);
  }
}

/* --- By hand --------------------------------------------------------------------------------- */

static void hand_config(RvCheck *check, RvStixelsConfig *c, int width, int height) {
  rv_stixels_config_init(c);
  c->log = rvc_log(check);
  c->width = width;
  c->height = height;
  c->stixel_width = c->vertical_step = 1;
  /* Five empty rows as sky are worth 5 ln 5 nats; a row that fits both is object. */
  c->complexity = 8;
  c->sigma[RV_STIXEL_GROUND] = 1;
  c->sigma[RV_STIXEL_OBJECT] = 0.7;
  c->gravity_minus.beta = c->gravity_plus.beta = 0.3;
  c->ground = RV_STIXELS_GROUND_CAMERA;
  /* d(y) = y - 9.5 for pitch 0: 2 px per row and m, half a meter above the ground */
  c->camera = (RvCamera){.focal = 100, .cy = 9.5, .baseline = 1, .height = 1};
}

/* The columns at the left that the right view does not see continue the first that it sees; without
 * `one-view-confidence` they are as invalid as before. Disparities are at least 5 px. */
static void check_one_view(RvCheck *check, const char *name, RvRandom *random) {
  for (int is_used = 0; is_used < 2; is_used++) {
    RvStixelsConfig c;
    hand_config(check, &c, 9, 30);
    c.one_view_confidence = is_used;
    StixelsInput *input = stixels_input_new(9, 30);
    for (int y = 5; y < 30; y++)
      for (int x = 5; x < 9; x++)
        input->disparity[y * STIXELS_SIDE + x] = (uint16_t)(y > 15 ? 16 * y - 152 : 88);
    StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
    if (stixels_run_cpu(check, name, &c, input, 0, &r)) {
      const uint32_t count = r.offsets[6] - r.offsets[5];
      int same = r.offsets[1] == count;
      for (uint32_t k = 0; same && k < count; k++) {
        RvStixel seen = r.stixels[r.offsets[5] + k];
        seen.column = 0;
        same = memcmp(&seen, &r.stixels[k], sizeof seen) == 0;
      }
      rvc_true(check, name, count == 3 && same == is_used,
               "one-view-confidence=%d: %u stixels in column 0, %u in column 5", is_used,
               r.offsets[1], count);
    }
    stixels_result_free(&r);
    free(input);
  }
}

/* Ground up to row 16 of 30, then a wall of 5.5 px, then sky: three stixels with known planes. */
static void check_hand(RvCheck *check, const char *name, RvRandom *random) {
  for (int model = 0; model <= RV_STIXELS_CONSTANT; model++) {
    RvStixelsConfig c;
    hand_config(check, &c, 2, 30);
    c.model = (RvStixelsModelKind)model;
    StixelsInput *input = stixels_input_new(2, 30);
    for (int y = 0; y < 30; y++)
      input->disparity[y * STIXELS_SIDE] = (uint16_t)(y > 15 ? 16 * y - 152 : y > 4 ? 88 : 0);
    StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
    if (stixels_run_cpu(check, name, &c, input, 0, &r)) {
      const RvStixel *s = r.stixels;
      rvc_true(check, name,
               r.offsets[1] == 3 && s[0].structure == RV_STIXEL_GROUND &&
                   s[1].structure == RV_STIXEL_OBJECT && s[2].structure == RV_STIXEL_SKY,
               "model %d: %u stixels", model, r.offsets[1]);
      rvc_true(check, name, s[0].v_top == 16 && s[1].v_top == 5 && s[2].v_top == 0,
               "model %d: tops %d, %d, %d", model, s[0].v_top, s[1].v_top, s[2].v_top);
      rvc_true(check, name,
               fabsf(s[0].slope - 1) < 0.01f && fabsf(s[0].intercept + 9.5f) < 0.2f &&
                   s[1].slope == 0 && s[1].intercept == 5.5f && s[2].intercept == 0,
               "model %d: planes %g %g, %g %g", model, (double)s[0].slope, (double)s[0].intercept,
               (double)s[1].slope, (double)s[1].intercept);
      s += r.offsets[1];
      rvc_true(check, name,
               r.offsets[2] - r.offsets[1] == 2 && s[0].structure == RV_STIXEL_GROUND &&
                   s[1].structure == RV_STIXEL_SKY && s[1].v_bottom == 10,
               "model %d: an invalid column is ground and sky, not %u stixels", model,
               r.offsets[2] - r.offsets[1]);
    }
    stixels_result_free(&r);
    free(input);
  }
}

/* --- Ground plane ---------------------------------------------------------------------------- */

/* A road of `bottom` px at the lowest row and a horizon, between walls on the left and right. */
static void fill_road(StixelsInput *input, double bottom, double horizon, int road_from,
                      int road_to) {
  const int height = input->d.height;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < input->d.width; x++) {
      const double road = bottom * (1 - (height - 1 - y) / horizon);
      const double d = x >= road_from && x < road_to ? fmax(road, 0) : 20 + x % 7;
      input->disparity[y * STIXELS_SIDE + x] = (uint16_t)(d < 0.5 ? 0 : d * 16 + 0.5);
    }
}

static void check_ground(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c;
  hand_config(check, &c, 160, 120);
  c.ground = RV_STIXELS_GROUND_ESTIMATE;
  c.camera = (RvCamera){0};
  c.stixel_width = c.vertical_step = 2;
  StixelsInput *input = stixels_input_new(160, 120);
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  const RvStixelsOutput output = stixels_result_output(&r);
  RvStixels *stixels = NULL;
  rvc_true(check, name, rv_stixels_new(&stixels, &c, RV_CPU) == RV_OK, "new");
  const RvStixelsInput in = stixels_input_of(input, 0);
  const double unit = ldexp(1, -24);
  rv_stixels_run(stixels, &in, &output, NULL);
  rvc_true(check, name,
           r.ground->found == 0 && r.ground->at == (INT64_C(48) << 24) && r.ground->slope < 0,
           "before a road: found %d, at %g", r.ground->found, (double)r.ground->at * unit);
  fill_road(input, 47, 71, 30, 130);
  rv_stixels_run(stixels, &in, &output, NULL);
  const double at = 47 * (1 - 0.5 / 71), slope = -2 * 47.0 / 71;
  rvc_true(check, name,
           r.ground->found == 1 && fabs((double)r.ground->at * unit - at) < 0.05 &&
               fabs((double)r.ground->slope * unit - slope) < 0.005,
           "road: found %d, at %g (%g), slope %g (%g)", r.ground->found,
           (double)r.ground->at * unit, at, (double)r.ground->slope * unit, slope);
  const RvStixelsGround before = *r.ground;
  memset(input->disparity, 0, sizeof input->disparity);
  rv_stixels_run(stixels, &in, &output, NULL);
  rvc_true(check, name, r.ground->at == before.at && r.ground->slope == before.slope,
           "an invalid frame moved the plane");
  fill_road(input, 51, 71, 30, 130);
  rv_stixels_run(stixels, &in, &output, NULL);
  rvc_true(check, name, r.ground->at == before.at && r.ground->found == 2,
           "a frame has the plane of its own road, not that of the frames before");
  for (int frame = 1; frame < 20; frame++)
    rv_stixels_run(stixels, &in, &output, NULL);
  rvc_true(check, name, fabs((double)r.ground->at * unit - 51 * (1 - 0.5 / 71)) < 0.06,
           "after 20 frames the plane is at %g", (double)r.ground->at * unit);
  fill_road(input, 51, 71, 0, 0);
  rv_stixels_run(stixels, &in, &output, NULL);
  rvc_true(check, name, r.ground->found == 21, "a wall was detected as a road: score %d",
           r.ground->score);
  rv_stixels_free(&stixels);
  stixels_result_free(&r);
  free(input);
}

/* A run gives the expected disparity of the plane in the bottom row. */
static void check_plane(RvCheck *check, const char *name, RvStixels *stixels,
                        const StixelsInput *input, const StixelsResult *r, int64_t expected,
                        const char *what) {
  const RvStixelsOutput output = stixels_result_output(r);
  const RvStixelsInput in = stixels_input_of(input, 0);
  rv_stixels_run(stixels, &in, &output, NULL);
  rvc_true(check, name, r->ground->at == expected, "%s", what);
}

/* With the surface of a camera the stixels are those of ground=camera; the plane follows at once, is
 * that of the center column, and stays in frames without one. */
static void check_surface(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c;
  hand_config(check, &c, 61, 64);
  c.stixel_width = c.vertical_step = 2;
  StixelsInput *input = stixels_input_new(61, 64);
  stixels_fill_street(random, input);
  StixelsResult want = stixels_result_new(&c, rv_stixels_count_max(&c));
  StixelsResult got = stixels_result_new(&c, rv_stixels_count_max(&c));
  input->has_surface = 0;
  int ok = stixels_run_cpu(check, name, &c, input, 0, &want);
  input->surface = rv_ground_of_camera(&c.camera);
  input->has_surface = 1;
  c.ground = RV_STIXELS_GROUND_ESTIMATE;
  ok = ok && stixels_run_cpu(check, name, &c, input, 0, &got);
  const uint32_t count = ok ? want.offsets[want.columns] : 0;
  rvc_true(check, name,
           count > 0 && got.offsets[got.columns] == count &&
               memcmp(want.stixels, got.stixels, count * sizeof *want.stixels) == 0,
           "the surface of the camera gives other stixels");
  rvc_true(check, name, ok && got.ground->found == 1 && got.ground->score == 0, "found");
  RvStixels *stixels = NULL;
  rvc_true(check, name, rv_stixels_new(&stixels, &c, RV_CPU) == RV_OK, "new");
  const int64_t center = want.ground->at + (INT64_C(15) << 24);
  input->surface.slope_x = 0.5;
  check_plane(check, name, stixels, input, &got, center, "center column");
  input->surface.slope_y = 0;
  check_plane(check, name, stixels, input, &got, center, "no plane");
  rv_stixels_free(&stixels);
  stixels_result_free(&want);
  stixels_result_free(&got);
  free(input);
}

/* The camera's plane is the projection of a point of the ground. */
static void check_camera(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c;
  hand_config(check, &c, 8, 100);
  c.camera = (RvCamera){.focal = 80, .cy = 45, .baseline = 0.5, .height = 1.5, .pitch = 4};
  const RvStixelsPlan plan = stixels_plan_of(&c);
  for (double ahead = 2; ahead < 40; ahead *= 1.7) {
    const double p = 4 * acos(-1) / 180; /* point: `ahead` m forward on the ground */
    const double z = ahead * cos(p) + 1.5 * sin(p), down = 1.5 * cos(p) - ahead * sin(p);
    const double y = 45 + 80 * down / z, d = 80 * 0.5 / z;
    const double v = 99 - y, unit = ldexp(1, -24);
    const double plane =
        ((double)plan.start.ground.at + (double)plan.start.ground.slope * v) * unit;
    rvc_true(check, name, fabs(plane - d) < 1e-4, "%g m ahead: %g px, not %g", ahead, plane, d);
  }
}

/* --- Rendering ------------------------------------------------------------------------------- */

/* Stixels of a random street, rendered. */
typedef struct Rendered {
  RvStixelsConfig config;
  StixelsResult result;
  uint32_t capacity;  /* that rendering may read */
  StixelsInput *maps; /* disparity, and classes as confidence */
} Rendered;

static Rendered render_street(RvCheck *check, const char *name, RvRandom *random, int round) {
  Rendered r = {.config = stixels_random_config(check, random, round % 3, 1)};
  RvStixelsConfig *c = &r.config;
  c->stixel_width = rvc_range(random, 1, 9);
  c->vertical_step = rvc_range(random, 1, 9);
  c->width = rvc_range(random, 1, 60);
  c->height = rvc_range(random, 1, 60);
  StixelsInput *input = stixels_input_new(c->width, c->height);
  r.maps = stixels_input_new(c->width, c->height);
  stixels_fill_street(random, input);
  stixels_fill_semantics(random, input, c->semantics);
  r.result = stixels_result_new(c, rv_stixels_count_max(c));
  const RvStixelsInput in = stixels_input_of(input, 0);
  const RvStixelsOutput output = stixels_result_output(&r.result);
  RvStixels *stixels = NULL;
  rvc_true(check, name, rv_stixels_new(&stixels, c, RV_CPU) == RV_OK, "new");
  rv_stixels_run(stixels, &in, &output, NULL);
  r.capacity = round == 7 ? r.result.offsets[r.result.columns] / 2 : r.result.room;
  rvc_true(check, name,
           rv_stixels_render(stixels, r.result.stixels, r.capacity, r.result.offsets, &r.maps->d,
                             &r.maps->c, NULL) == RV_OK,
           "render");
  rv_stixels_free(&stixels);
  free(input);
  return r;
}

static void free_rendered(Rendered *r) {
  stixels_result_free(&r->result);
  free(r->maps);
}

static void check_maps(RvCheck *check, const char *name, const Rendered *r) {
  const RvStixelsConfig *c = &r->config;
  const uint32_t count = r->result.offsets[r->result.columns];
  for (int x = 0; x < c->width; x++)
    for (int y = 0; y < c->height; y++) {
      int d = 0, k = 255;
      for (uint32_t i = 0; i < r->capacity && i < count; i++) {
        const RvStixel *s = &r->result.stixels[i];
        if (s->column != x / c->stixel_width * c->stixel_width || y < s->v_top || y > s->v_bottom)
          continue;
        const double value = floor(((double)s->slope * y + (double)s->intercept) * 16 + 0.5);
        d = (int)fmin(fmax(value, 1), 65535);
        k = s->structure;
      }
      const int at = y * STIXELS_SIDE + x;
      rvc_true(check, name, r->maps->disparity[at] == d && r->maps->confidence[at] == k,
               "pixel %d, %d: %d of class %d, not %d of %d", x, y, r->maps->disparity[at],
               r->maps->confidence[at], d, k);
    }
}

/* Compares every pixel of the maps with the records. */
static void check_render(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < 8; round++) {
    Rendered r = render_street(check, name, random, round);
    check_maps(check, name, &r);
    free_rendered(&r);
  }
}

/* Compares each pixel of `drawn` with the rendered maps and the list itself. */
static void check_drawn(RvCheck *check, const char *name, const RvStixelsConfig *c,
                        const StixelsResult *r, const StixelsInput *maps,
                        const StixelsInput *drawn) {
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++) {
      const int at = y * STIXELS_SIDE + x;
      int mark = x % c->stixel_width == 0, semantic = RV_SEMANTIC_NONE;
      for (uint32_t k = 0; k < r->offsets[r->columns]; k++)
        if (r->stixels[k].column / c->stixel_width == x / c->stixel_width) {
          mark |= r->stixels[k].v_top == y;
          if (r->stixels[k].v_top <= y && r->stixels[k].v_bottom >= y)
            semantic = r->stixels[k].semantic;
        }
      const int structure = maps->confidence[at], sky = structure == RV_STIXEL_SKY;
      const int value = sky || semantic == RV_SEMANTIC_NONE ? 1 + structure : 4 + semantic;
      const int stripe = sky ? 0 : maps->disparity[at] / 64 % 2 * 36;
      rvc_true(check, name, drawn->labels[at] == value + stripe, "pixel %d, %d: class %d, not %d",
               x, y, drawn->labels[at], value + stripe);
      rvc_true(check, name,
               drawn->disparity[at] == (sky ? 0 : maps->disparity[at]) &&
                   drawn->confidence[at] == (sky || !mark ? 0 : 255),
               "pixel %d, %d: %d, outline %d", x, y, drawn->disparity[at], drawn->confidence[at]);
    }
}

static void check_foreign(RvCheck *check, const char *name) {
  const float nan = nanf("");
  const RvStixel foreign[] = {{60000, 9, 0, 0, 0, 1, 1, 0},
                              {3, 60000, 0, 1, 0, 1, 1, 0},
                              {3, 2, 9, 1, 0, 1, 1, 0},
                              {3, 9, 0, 1, 0, nan, INFINITY, 0}};
  StixelsInput *drawn = stixels_input_new(10, 10);
  const RvStixelsRasters depth = {.disparity = drawn->d}, wrong = {.disparity = drawn->c},
                         edges = {.outline = drawn->c};
  RvStixelsRasters other = {.disparity = drawn->d, .classes = drawn->c};
  other.classes.width = 9;
  rvc_true(check, name,
           rv_stixels_draw(foreign, 4, 64, &depth, RV_CPU, NULL, NULL) == RV_OK &&
               drawn->disparity[2] == 0 && drawn->disparity[3] == 1 && drawn->disparity[10] == 0,
           "a foreign list");
  rvc_true(check, name,
           rv_stixels_draw(NULL, 1, 8, &depth, RV_CPU, NULL, NULL) == RV_ERR_ARG &&
               rv_stixels_draw(foreign, 4, 0, &depth, RV_CPU, NULL, NULL) == RV_ERR_ARG &&
               rv_stixels_draw(foreign, 4, 8, &wrong, RV_CPU, NULL, NULL) == RV_ERR_ARG &&
               rv_stixels_draw(foreign, 4, 8, &edges, RV_CPU, NULL, NULL) == RV_ERR_ARG &&
               rv_stixels_draw(foreign, 4, 8, &other, RV_CPU, NULL, NULL) == RV_ERR_ARG &&
               rv_stixels_draw(foreign, 4, 8, NULL, RV_CPU, NULL, NULL) == RV_ERR_ARG,
           "bad arguments");
  free(drawn);
}

/* Drawing gives the same as rendering, except for the sky, with the first row and column of each
 * stixel marked; invalid lists are harmless. */
static void check_draw(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < 6; round++) {
    Rendered r = render_street(check, name, random, round);
    const RvStixelsConfig *c = &r.config;
    StixelsInput *drawn = stixels_input_new(c->width, c->height);
    const RvStixelsRasters rasters = {
        drawn->d, {drawn->labels, STIXELS_SIDE, c->width, c->height, RV_U8}, drawn->c};
    rvc_true(check, name,
             rv_stixels_draw(r.result.stixels, r.result.offsets[r.result.columns], c->stixel_width,
                             &rasters, RV_CPU, NULL, NULL) == RV_OK,
             "draw");
    check_drawn(check, name, c, &r.result, r.maps, drawn);
    free_rendered(&r);
    free(drawn);
  }
  check_foreign(check, name);
}

/* A list with less capacity than stixels: the rest is counted, nothing is written past the end. */
static void check_room(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c = stixels_random_config(check, random, 0, 0);
  c.width = 20;
  c.height = 40;
  c.stixel_width = c.vertical_step = 2;
  c.complexity = 0;
  StixelsInput *input = stixels_input_new(20, 40);
  stixels_fill_street(random, input);
  StixelsResult all = stixels_result_new(&c, rv_stixels_count_max(&c));
  StixelsResult part = stixels_result_new(&c, 5);
  stixels_run_cpu(check, name, &c, input, 1, &all);
  stixels_run_cpu(check, name, &c, input, 1, &part);
  rvc_true(check, name, all.offsets[10] > 5 && all.offsets[10] == part.offsets[10],
           "%u stixels, %u with little capacity", all.offsets[10], part.offsets[10]);
  rvc_true(check, name, memcmp(all.stixels, part.stixels, 5 * sizeof(RvStixel)) == 0,
           "the first five differ");
  rvc_true(check, name, ((uint8_t *)(part.stixels + 5))[0] == 0xEE, "written past the end");
  stixels_result_free(&all);
  stixels_result_free(&part);
  free(input);
}

static void check_models(RvCheck *check) {
  for (int model = 0; model <= RV_STIXELS_CONSTANT; model++)
    for (int coupled = 0; coupled < 2; coupled++)
      check_short(check, model, coupled);
}

RVC_PARITY(RVC_CASE("stixels/hand", check_hand, 0), RVC_CASE("stixels/one-view", check_one_view, 0),
           RVC_CASE("stixels/camera", check_camera, 0), RVC_CASE("stixels/ground", check_ground, 0),
           RVC_CASE("stixels/surface", check_surface, 0), {.group = check_models},
           RVC_CASE("stixels/sizes", check_sizes, 0), RVC_CASE("stixels/render", check_render, 0),
           RVC_CASE("stixels/draw", check_draw, 0), RVC_CASE("stixels/room", check_room, 0),
           {.group = stixels_check_semantics}, {.group = stixels_check_kinds},
           {.group = stixels_check_network}, {.group = stixels_parity});

/* --- Fuzz ------------------------------------------------------------------------------------ */

static void fuzz(const uint8_t *bytes, size_t size) {
  static const RvFuzzField fields[] = {{"width", 0, 1, 1, 40},
                                       {"height", 1, 1, 1, 100},
                                       {"stixel-width", 2, 0, 1, 12},
                                       {"vertical-step", 3, 0, 1, 12},
                                       {"model", 4, 0, 1, 4},
                                       {"max-disparity", 5, 0, 4, 0},
                                       {"sigma-ground-a", 6, 0, 0.125, 0},
                                       {"complexity", 9, -1, 1, 0},
                                       {"semantic-weight", 11, 0, 0.125, 0},
                                       {"semantic-radius", 8, 0, 1, 66},
                                       {"semantic-repair", 7, 0, 1, 2}};
  if (size < 12)
    return;
  RvStixelsConfig c;
  RVC_FUZZ_CONFIG(stixels, &c, fields, bytes);
  c.sigma_ground_b = bytes[7] < 128 ? bytes[7] / 100.0 : RV_STIXELS_SIGMA_FREE;
  c.sigma_object_b = bytes[8] < 128 ? bytes[8] / 100.0 : RV_STIXELS_SIGMA_FREE;
  c.cuts = bytes[11] & 16  ? RV_STIXELS_CUTS_NETWORK
           : bytes[11] & 8 ? RV_STIXELS_CUTS_TIME_SERIES
                           : RV_STIXELS_CUTS_ALL;
  c.semantics = bytes[11] & 6 ? 1 + bytes[10] % 33 : 0;
  for (int k = 0; k < c.semantics && k < RV_STIXELS_SEMANTICS_MAX; k++)
    c.semantic_structure[k] = (uint8_t)(bytes[(size_t)k % size] % 3);
  if (rv_stixels_config_check(&c) != RV_OK)
    return;
  StixelsInput *input = stixels_input_new(c.width, c.height);
  for (int y = 0; y < c.height; y++)
    for (int x = 0; x < c.width; x++) {
      const size_t i = 10 + (size_t)(y * c.width + x) % (size - 10);
      input->disparity[y * STIXELS_SIDE + x] = (uint16_t)(bytes[i] << (bytes[10] % 9));
      input->confidence[y * STIXELS_SIDE + x] = bytes[i];
      input->labels[y * STIXELS_SIDE + x] = bytes[i] % 9;
      for (int k = 0; k < c.semantics; k++)
        input->scores[(k * c.height + y) * STIXELS_SIDE + x] =
            (uint16_t)(bytes[i] << 8 | bytes[10 + (i + (size_t)k) % (size - 10)]);
    }
  if (bytes[11] & 6)
    input->l = (RvPlane){input->labels, STIXELS_SIDE, c.width, c.height, RV_U8};
  if ((bytes[11] & 6) == 4) {
    input->l.data = NULL;
    input->s = (RvPlane){input->scores, 2 * STIXELS_SIDE, c.width, c.height * c.semantics, RV_U16};
  }
  const RvStixelsInput in = stixels_input_of(input, bytes[11] & 1);
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  const RvStixelsOutput output = stixels_result_output(&r);
  RvStixels *stixels = NULL;
  if (rv_stixels_new(&stixels, &c, RV_CPU) != RV_OK ||
      rv_stixels_run(stixels, &in, &output, NULL) != RV_OK)
    abort();
  for (int x = 0; x < r.columns; x++)
    if (!is_covered(&c, &r, x))
      abort();
  if (rv_stixels_render(stixels, r.stixels, r.room, r.offsets, &input->d, &input->c, NULL) != RV_OK)
    abort();
  rv_stixels_free(&stixels);
  stixels_result_free(&r);
  free(input);
}

const RvCases rv_stixels_cases = {"stixels", parity, stixels_bench, fuzz};
