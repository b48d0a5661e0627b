/* SPDX-License-Identifier: MIT */
/* stixels_kinds_cases.c: priors of semantic classes compared with a solver. For each class of the
 * recursion the reference column is computed with a config in which it is the only class of its
 * structural class and has its sigma; then (4.9) with a state per class, by plain loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_inputs.h"
#include "stixels/stixels_reference.h"

/* One class: its structural and semantic class (-1: none), and the column with it. */
typedef struct Kind {
  int structure, semantic;
  StixelsReference column;
} Kind;

typedef struct Ending {
  int32_t cost;
  int bottom, below;
} Ending;

typedef struct Solver {
  const RvStixelsConfig *config;
  StixelsReference *plain; /* of the config without the priors: where stixels may be */
  Kind *kind;
  int kinds;
  Ending ending[REFERENCE_ROWS][RV_STIXELS_KINDS];
} Solver;

static void add_kind(Solver *solver, const RvStixelsGround *ground, const RvStixelsInput *input,
                     int column, int structure, int semantic) {
  RvStixelsConfig c = *solver->config;
  Kind *kind = &solver->kind[solver->kinds++];
  *kind = (Kind){.structure = structure, .semantic = semantic};
  for (int k = 0; k < c.semantics; k++)
    if (c.semantic_structure[k] == structure && k != semantic)
      c.semantic_structure[k] = (uint8_t)((structure + 1) % RV_STIXELS_CLASSES);
  if (semantic >= 0 && c.semantic_priors->sigma[semantic] > 0)
    c.sigma[structure] = c.semantic_priors->sigma[semantic];
  c.semantic_priors = NULL;
  c.cuts = RV_STIXELS_CUTS_ALL;
  stixels_reference_column(&kind->column, &c, ground, input, column);
}

/* Classes by structural class, then structural classes without any. */
static void add_kinds(Solver *solver, const RvStixelsGround *ground, const RvStixelsInput *input,
                      int column) {
  const RvStixelsConfig *c = solver->config;
  int has[RV_STIXELS_CLASSES] = {0, 0, 0};
  for (int structure = 0; structure < RV_STIXELS_CLASSES; structure++)
    for (int k = 0; k < c->semantics; k++)
      if (c->semantic_structure[k] == structure) {
        add_kind(solver, ground, input, column, structure, k);
        has[structure] = 1;
      }
  for (int structure = 0; structure < RV_STIXELS_CLASSES; structure++)
    if (!has[structure])
      add_kind(solver, ground, input, column, structure, -1);
}

static int32_t own(const Solver *solver, int kind, int bottom, int top) {
  const Kind *k = &solver->kind[kind];
  const int is_cut = solver->plain->own[bottom][top][RV_STIXEL_OBJECT] < RV_STIXELS_INFINITE;
  return is_cut ? k->column.own[bottom][top][k->structure] : RV_STIXELS_INFINITE;
}

static int32_t pair(const Solver *solver, int first, int bottom, int top, int kind, int below) {
  const Kind *k = &solver->kind[kind], *b = &solver->kind[below];
  const RvStixelsPlane upper = k->column.plane[bottom][top][k->structure];
  const RvStixelsPlane lower = b->column.plane[first][bottom - 1][b->structure];
  const double gamma = k->semantic < 0 || b->semantic < 0
                           ? 0
                           : solver->config->semantic_priors->transition[k->semantic][b->semantic];
  return rv_stixels_pair(&solver->plain->plan, k->structure, b->structure,
                         rv_stixels_value(&upper, 0), rv_stixels_value(&lower, bottom - first)) +
         (int32_t)floor(gamma * RV_STIXELS_COST_STEPS + 0.5) +
         solver->plain->tables.cuts[solver->plain->codes[bottom]];
}

static void solve(Solver *solver) {
  for (int top = 0; top < solver->plain->rows; top++)
    for (int kind = 0; kind < solver->kinds; kind++) {
      Ending best = {own(solver, kind, 0, top), 0, 0};
      for (int bottom = 1; bottom <= top; bottom++)
        for (int below = 0; below < solver->kinds; below++) {
          const Ending *last = &solver->ending[bottom - 1][below];
          const int32_t alone = own(solver, kind, bottom, top);
          if (alone >= RV_STIXELS_INFINITE || last->cost >= RV_STIXELS_INFINITE)
            continue;
          const int32_t cost =
              alone + pair(solver, last->bottom, bottom, top, kind, below) + last->cost;
          if (cost < best.cost)
            best = (Ending){cost, bottom, below};
        }
      solver->ending[top][kind] = best;
    }
}

/* Compares a column with the reference implementation. */
static void check_column(RvCheck *check, const char *name, Solver *solver, const StixelsResult *r,
                         const RvStixelsInput *input, int column) {
  int kind = 0, top = solver->plain->rows - 1, count = 0;
  for (int k = 1; k < solver->kinds; k++)
    if (solver->ending[top][k].cost < solver->ending[top][kind].cost)
      kind = k;
  rvc_true(check, name, r->energies[column] == solver->ending[top][kind].cost,
           "column %d: energy %d, not %d", column, r->energies[column],
           solver->ending[top][kind].cost);
  RvStixel list[REFERENCE_ROWS];
  while (top >= 0) {
    const Ending *e = &solver->ending[top][kind];
    const Kind *k = &solver->kind[kind];
    const int32_t under = e->bottom > 0 ? solver->ending[e->bottom - 1][e->below].cost : 0;
    RvStixel *s = &list[REFERENCE_ROWS - ++count];
    *s = rv_stixels_record(&solver->plain->plan, column, e->bottom, top, k->structure,
                           &k->column.plane[e->bottom][top][k->structure], e->cost - under);
    if (k->semantic >= 0)
      s->semantic = (uint8_t)k->semantic;
    kind = e->below;
    top = e->bottom - 1;
  }
  RvStixel *first = &list[REFERENCE_ROWS - count];
  stixels_reference_refine(solver->config, input, first, count);
  const uint32_t begin = r->offsets[column], made = r->offsets[column + 1] - begin;
  if (rvc_true(check, name, made == (uint32_t)count, "column %d: %u stixels, not %d", column, made,
               count))
    rvc_true(check, name, memcmp(first, r->stixels + begin, made * sizeof *first) == 0,
             "column %d: other stixels", column);
}

void stixels_random_priors(RvRandom *random, RvStixelsSemanticPriors *priors) {
  memset(priors, 0, sizeof *priors);
  for (int k = 0; k < RV_STIXELS_SEMANTICS_MAX; k++) {
    priors->sigma[k] = rvc_range(random, 0, 2) ? rvc_range(random, 10, 400) / 100.0 : 0;
    for (int below = 0; below < RV_STIXELS_SEMANTICS_MAX; below++)
      priors->transition[k][below] =
          rvc_range(random, 0, 2) ? rvc_range(random, 0, 1500) / 100.0 : 0;
  }
}

static void check_random(RvCheck *check, const char *name, RvRandom *random, int round) {
  RvStixelsSemanticPriors priors;
  RvStixelsConfig c = stixels_random_config(check, random, round % 3, round % 2);
  stixels_random_priors(random, &priors);
  c.semantic_priors = &priors;
  c.stixel_width = rvc_range(random, 1, 9);
  c.vertical_step = rvc_range(random, 1, 5);
  c.width = rvc_range(random, 1, 12);
  c.height = rvc_range(random, 1, 16) * c.vertical_step;
  c.semantics = rvc_range(random, 1, round % 5 ? 6 : 20);
  for (int k = 0; k < c.semantics; k++)
    c.semantic_structure[k] = (uint8_t)(round % 7 ? rvc_range(random, 0, 2) : 1);
  StixelsInput *input = stixels_input_new(c.width, c.height);
  stixels_fill_street(random, input);
  do
    stixels_fill_semantics(random, input, c.semantics);
  while (!input->l.data && !input->s.data);
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  const RvStixelsOutput output = stixels_result_output(&r);
  const RvStixelsInput in = stixels_input_of(input, round % 2);
  RvStixels *stixels = NULL;
  Solver *solver = calloc(1, sizeof *solver);
  if (!solver || !(solver->plain = calloc(1, sizeof *solver->plain)) ||
      !(solver->kind = calloc(RV_STIXELS_KINDS, sizeof *solver->kind)))
    abort();
  if (rvc_true(check, name,
               rv_stixels_new(&stixels, &c, RV_CPU) == RV_OK &&
                   rv_stixels_run(stixels, &in, &output, NULL) == RV_OK,
               "run"))
    for (int column = 0; column < r.columns; column++) {
      solver->config = &c;
      solver->kinds = 0;
      stixels_reference_column(solver->plain, &c, r.ground, &in, column);
      add_kinds(solver, r.ground, &in, column);
      solve(solver);
      check_column(check, name, solver, &r, &in, column);
    }
  rv_stixels_free(&stixels);
  stixels_result_free(&r);
  free(solver->plain);
  free(solver->kind);
  free(solver);
  free(input);
}

static void check_twin(RvCheck *check, const char *name, RvRandom *random) {
  const int rounds = rvc_small(check) ? 20 : 120;
  for (int round = 0; round < rounds; round++)
    check_random(check, name, random, round);
}

/* Labels of a wall of one depth: class 1, above it class 2 for `rows` rows, and class 1 again. The
 * number of stixels with a cost of the transitions between the two. */
static uint32_t count_wall(RvCheck *check, const char *name, double gamma, int *upper) {
  RvStixelsSemanticPriors priors;
  RvStixelsConfig c;
  memset(&priors, 0, sizeof priors);
  priors.transition[2][1] = priors.transition[2][0] = gamma; /* no detour over class 0 */
  rv_stixels_config_init(&c);
  c.log = rvc_log(check);
  c.width = c.stixel_width = c.vertical_step = 1;
  c.height = 40;
  c.ground = RV_STIXELS_GROUND_CAMERA;
  c.camera = (RvCamera){.focal = 100, .cy = 45, .baseline = 1, .height = 1}; /* no ground in view */
  c.semantics = 3;
  c.semantic_weight = 1;
  c.complexity = 8;
  c.semantic_priors = &priors;
  StixelsInput *input = stixels_input_new(1, 40);
  for (int i = 0; i < STIXELS_SIDE * 40; i++)
    input->disparity[i] = 320;
  input->l = (RvPlane){input->labels, 1, 1, 40, RV_U8};
  for (int y = 0; y < 40; y++)
    input->labels[y] = y >= 10 && y < 20 ? 2 : 1;
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  stixels_run_cpu(check, name, &c, input, 0, &r);
  const uint32_t count = r.offsets[1];
  *upper = count > 1 ? r.stixels[1].semantic : -1;
  stixels_result_free(&r);
  free(input);
  return count;
}

/* Ten rows of another class are worth 10 ln(0.9 / 0.05) = 28.9 nats; two more stixels cost 8 nats
 * each, less 0.7 of the prior of their slopes, and the transition. */
static void check_wall(RvCheck *check, const char *name, RvRandom *random) {
  int upper;
  rvc_true(check, name, count_wall(check, name, 0, &upper) == 3 && upper == 2, "free transition");
  rvc_true(check, name, count_wall(check, name, 12, &upper) == 3 && upper == 2, "cheap transition");
  rvc_true(check, name, count_wall(check, name, 16, &upper) == 1, "expensive transition");
}

/* Values outside the ranges of classes that exist are rejected. */
static void check_refused(RvCheck *check, const char *name, RvRandom *random) {
  static const double bad[] = {-1, 0.05, 4.5, NAN, INFINITY, 1001};
  RvStixelsSemanticPriors priors;
  RvStixelsConfig c;
  rv_stixels_config_init(&c);
  c.width = c.height = 16;
  c.semantics = 3;
  c.semantic_priors = &priors;
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    memset(&priors, 0, sizeof priors);
    priors.sigma[2] = bad[k];
    rvc_true(check, name, rv_stixels_config_check(&c) == RV_ERR_ARG, "sigma %g", bad[k]);
    priors.sigma[2] = 0;
    priors.sigma[3] = priors.transition[3][0] = bad[k];
    rvc_true(check, name, rv_stixels_config_check(&c) == RV_OK, "no such class");
    priors.transition[1][2] = bad[k];
    const int is_good = bad[k] >= 0 && bad[k] <= 1000;
    rvc_true(check, name, (rv_stixels_config_check(&c) == RV_OK) == is_good, "transition %g",
             bad[k]);
  }
}

RVC_CASES(stixels_check_kinds, RVC_CASE("stixels/priors", check_twin, 0),
          RVC_CASE("stixels/transition", check_wall, 0),
          RVC_CASE("stixels/priors-refused", check_refused, 0));
