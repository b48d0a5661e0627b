/* SPDX-License-Identifier: MIT */
/* stixels_semantics_cases.c: semantic classes compared with hand-computed columns and plain
 * formulas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_inputs.h"
#include "stixels/stixels_reference.h"

/* Every half float, and every entry of the table of -log(score). */
static void check_scores(RvCheck *check, const char *name, RvRandom *random) {
  for (int half = 0; half < 65536; half++) {
    const double units = nearbyint(stixels_half_value(half) * RV_STIXELS_SCORE_ONE);
    rvc_true(check, name, rv_stixels_score((uint32_t)half) == (uint32_t)units,
             "half 0x%04x is %u, not %g", half, rv_stixels_score((uint32_t)half), units);
  }
  RvStixelsConfig c;
  rv_stixels_config_init(&c);
  c.width = c.height = 8;
  const RvStixelsPlan plan = stixels_plan_of(&c);
  RvStixelsTables *tables = malloc(sizeof *tables);
  if (!tables)
    abort();
  rv_stixels_make_tables(&plan, tables);
  for (uint32_t mean = 0; mean <= RV_STIXELS_SCORE_ONE; mean += 1 + mean / 97) {
    const double exact = fmin(-256 * log(mean / (double)RV_STIXELS_SCORE_ONE), 4096);
    const double off = tables->scores[rv_stixels_score_index(mean)] - exact;
    rvc_true(check, name, fabs(off) <= 0.75 + 1e-9, "score %u: cost off by %g", mean, off);
  }
  free(tables);
}

/* A wall of one depth: only labels divide it and select its classes. */
static void check_wall(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c = stixels_config(check, 3, 40, 1);
  c.ground = RV_STIXELS_GROUND_CAMERA;
  c.camera = (RvCamera){.focal = 100, .cy = 45, .baseline = 1, .height = 1}; /* no ground in view */
  c.semantics = 4;
  c.semantic_weight = 1;
  c.semantic_structure[0] = RV_STIXEL_GROUND;
  c.semantic_structure[3] = RV_STIXEL_SKY;
  StixelsInput *input = stixels_input_new(3, 40);
  for (int i = 0; i < STIXELS_SIDE * 40; i++)
    input->disparity[i] = 320;
  input->l = (RvPlane){input->labels, 4, 3, 20, RV_U8}; /* half as many rows as the image */
  for (int y = 0; y < 20; y++) {
    input->labels[4 * y] = y < 7 ? 2 : 1;
    input->labels[4 * y + 1] = 77;
    input->labels[4 * y + 2] = y == 5 ? 1 : 2; /* two rows of cells, more expensive as stixels */
  }
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  if (stixels_run_cpu(check, name, &c, input, 0, &r)) {
    const RvStixel *s = r.stixels;
    rvc_true(check, name,
             r.offsets[1] == 2 && s[0].semantic == 1 && s[1].semantic == 2 && s[0].v_top == 14 &&
                 s[1].v_bottom == 13,
             "two labels: %u stixels, the upper one from row %d", r.offsets[1], s[1].v_bottom);
    s += r.offsets[1];
    rvc_true(check, name, r.offsets[2] - r.offsets[1] == 1 && s->semantic == 1,
             "unknown labels: %u stixels of class %d", r.offsets[2] - r.offsets[1], s->semantic);
    s += r.offsets[2] - r.offsets[1];
    rvc_true(check, name, r.offsets[3] - r.offsets[2] == 1 && s->semantic == 2,
             "a spot: %u stixels of class %d", r.offsets[3] - r.offsets[2], s->semantic);
  }
  stixels_result_free(&r);
  free(input);
}

static int is_patched(int x) {
  return (x >= 5 && x < 10) || (x >= 20 && x < 25);
}

/* A wall in front of a farther one, with one class at each depth, and patches of a wrong class in
 * both, `reach` rows around row 20. The patches are there in the stixels, or not. */
static void check_walls(RvCheck *check, const char *name, const RvStixelsConfig *c, int reach,
                        int has_patches) {
  StixelsInput *input = stixels_input_new(40, 40);
  input->l = (RvPlane){input->labels, STIXELS_SIDE, 40, 40, RV_U8};
  for (int y = 0; y < 40; y++)
    for (int x = 0; x < 40; x++) {
      const int is_near = x >= 15 && x < 30;
      const int is_patch = y > 20 - reach && y < 20 + reach && is_patched(x);
      input->disparity[y * STIXELS_SIDE + x] = is_near ? 352 : 320;
      input->labels[y * STIXELS_SIDE + x] = (uint8_t)(is_patch ? 2 : is_near);
    }
  StixelsResult r = stixels_result_new(c, rv_stixels_count_max(c));
  if (stixels_run_cpu(check, name, c, input, 0, &r))
    for (int x = 0; x < 40; x++) {
      const uint32_t count = r.offsets[x + 1] - r.offsets[x];
      rvc_true(
          check, name,
          count == (has_patches && is_patched(x) ? 3 : 1) &&
              r.stixels[r.offsets[x]].semantic == (x >= 15 && x < 30),
          "radius %d, repair %d, patches of %d rows, column %d: %u stixels, the lowest of class %d",
          c->semantic_radius, c->semantic_repair, 2 * reach - 1, x, count,
          r.stixels[r.offsets[x]].semantic);
    }
  stixels_result_free(&r);
  free(input);
}

static RvStixelsConfig walls_config(RvCheck *check) {
  RvStixelsConfig c = stixels_config(check, 40, 40, 1);
  c.ground = RV_STIXELS_GROUND_CAMERA;
  c.camera = (RvCamera){.focal = 100, .cy = 45, .baseline = 1, .height = 1};
  c.semantics = 3;
  c.refine = 0;
  return c;
}

/* Neighbors of the same depth outvote the patches, and the walls keep their classes. */
static void check_shared(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c = walls_config(check);
  c.semantic_weight = 2;
  check_walls(check, name, &c, 3, 1);
  c.semantic_radius = 8;
  check_walls(check, name, &c, 3, 0);
}

/* Patches are repaired where they are more than 1 in 20 of the cells inside walls. */
static void check_repaired(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c = walls_config(check);
  check_walls(check, name, &c, 3, 1);
  check_walls(check, name, &c, 7, 1);
  c.semantic_repair = 1;
  check_walls(check, name, &c, 3, 1);
  check_walls(check, name, &c, 7, 0);
}

/* Invalid semantics are rejected, and a frame may have none. */
static void check_given(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c;
  rv_stixels_config_init(&c);
  c.width = c.height = 16;
  c.semantics = 3;
  StixelsInput *input = stixels_input_new(16, 16);
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  const RvStixelsOutput output = stixels_result_output(&r);
  const RvPlane labels = {input->labels, 16, 16, 16, RV_U8};
  const RvPlane scores = {input->scores, 32, 16, 48, RV_U16};
  RvPlane uneven = scores, narrow = labels;
  uneven.height = 47;
  narrow.stride = 15;
  const RvPlane none = {NULL, 0, 0, 0, RV_U8};
  const struct {
    RvPlane labels, scores;
    RvStatus status;
    const char *what;
  } tries[] = {{none, none, RV_OK, "neither"},           {labels, none, RV_OK, "labels"},
               {none, scores, RV_OK, "scores"},          {labels, scores, RV_ERR_ARG, "both"},
               {none, uneven, RV_ERR_ARG, "47 rows"},    {narrow, none, RV_ERR_ARG, "short rows"},
               {scores, none, RV_ERR_ARG, "u16 labels"}, {none, labels, RV_ERR_ARG, "u8 scores"}};
  RvStixels *stixels = NULL, *plain = NULL;
  rvc_true(check, name, rv_stixels_new(&stixels, &c, RV_CPU) == RV_OK, "new");
  c.semantics = 0;
  rvc_true(check, name, rv_stixels_new(&plain, &c, RV_CPU) == RV_OK, "new without classes");
  for (size_t k = 0; k < sizeof tries / sizeof tries[0]; k++) {
    const RvStixelsInput in = {
        .disparity = input->d, .labels = tries[k].labels, .scores = tries[k].scores};
    rvc_true(check, name, rv_stixels_run(stixels, &in, &output, NULL) == tries[k].status, "%s",
             tries[k].what);
    rvc_true(check, name, (rv_stixels_run(plain, &in, &output, NULL) == RV_OK) == (k == 0),
             "%s without classes", tries[k].what);
  }
  rv_stixels_free(&stixels);
  rv_stixels_free(&plain);
  stixels_result_free(&r);
  free(input);
}

RVC_CASES(stixels_check_semantics, RVC_CASE("stixels/scores", check_scores, 0),
          RVC_CASE("stixels/labels", check_wall, 0), RVC_CASE("stixels/shared", check_shared, 0),
          RVC_CASE("stixels/repaired", check_repaired, 0),
          RVC_CASE("stixels/given", check_given, 0));
