/* SPDX-License-Identifier: MIT */
/* stixels_bench.c: the benchmark cases, on a rendered street: its ground-truth disparity with noise
 * of up to half a px and 2 % of outliers. Both engines must find the same stixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rv_object.h"
#include "rv_openmp.h"
#include "scene/scene.h"
#include "stixels/stixels_inputs.h"
#include "stixels/stixels_probe.h"
#include "stixels/stixels_reference.h"

typedef struct Row {
  const char *name;
  int width, height, stixel_width, step;
  RvStixelsModelKind model;
  int semantics; /* classes with score planes */
  RvStixelsCutsKind cuts;
  int threads; /* of the CPU engine, 0 = all */
  int radius;  /* semantic_radius; -1: semantic_repair */
} Row;

static const Row rows[] = {
    {"1242x375-w8s8-fast", 1242, 375, 8, 8, RV_STIXELS_SLANTED_FAST, 0, RV_STIXELS_CUTS_ALL, 0, 0},
    {"1242x375-w8s8-slanted", 1242, 375, 8, 8, RV_STIXELS_SLANTED, 0, RV_STIXELS_CUTS_ALL, 0, 0},
    {"1242x375-w8s8-constant", 1242, 375, 8, 8, RV_STIXELS_CONSTANT, 0, RV_STIXELS_CUTS_ALL, 0, 0},
    {"1242x375-w4s4-fast", 1242, 375, 4, 4, RV_STIXELS_SLANTED_FAST, 0, RV_STIXELS_CUTS_ALL, 0, 0},
    {"1242x375-w4s4-slanted", 1242, 375, 4, 4, RV_STIXELS_SLANTED, 0, RV_STIXELS_CUTS_ALL, 0, 0},
    {"1242x375-w4s4-slanted-cuts", 1242, 375, 4, 4, RV_STIXELS_SLANTED, 0,
     RV_STIXELS_CUTS_TIME_SERIES, 0, 0},
    {"1242x375-w5s1-constant", 1242, 375, 5, 1, RV_STIXELS_CONSTANT, 0, RV_STIXELS_CUTS_ALL, 0, 0},
    {"2048x1024-w8s8-fast", 2048, 1024, 8, 8, RV_STIXELS_SLANTED_FAST, 0, RV_STIXELS_CUTS_ALL, 0,
     0},
    {"2048x1024-w8s8-c19-fast", 2048, 1024, 8, 8, RV_STIXELS_SLANTED_FAST, 19, RV_STIXELS_CUTS_ALL,
     0, 0},
    /* What sharing semantics costs: small cells, as docs/semantics.md advises for it. */
    {"1242x375-w4s4-c19-fast", 1242, 375, 4, 4, RV_STIXELS_SLANTED_FAST, 19, RV_STIXELS_CUTS_ALL, 0,
     0},
    {"1242x375-w4s4-c19-fast-radius32", 1242, 375, 4, 4, RV_STIXELS_SLANTED_FAST, 19,
     RV_STIXELS_CUTS_ALL, 0, 32},
    {"1242x375-w4s4-c19-fast-repair", 1242, 375, 4, 4, RV_STIXELS_SLANTED_FAST, 19,
     RV_STIXELS_CUTS_ALL, 0, -1},
    {"2048x1024-w8s8-c19-fast-repair", 2048, 1024, 8, 8, RV_STIXELS_SLANTED_FAST, 19,
     RV_STIXELS_CUTS_ALL, 0, -1},
};

typedef struct Street {
  RvStixelsConfig config;
  RvStixelsInput input; /* in host memory */
  uint16_t *disparity, *scores;
  uint8_t *labels;
} Street;

/* Semantic classes are pairs of the scene's labels; the last one is never seen. */
static void set_classes(RvStixelsConfig *c) {
  for (int k = 0; k < c->semantics; k++)
    c->semantic_structure[k] = k / 2 < RV_LABEL_BUILDING ? RV_STIXEL_GROUND
                               : k / 2 == RV_LABEL_SKY   ? RV_STIXEL_SKY
                                                         : RV_STIXEL_OBJECT;
}

/* Half floats: 0.5 to 0.94 for the class of the label, 1/128 to 1/32 for all others. */
static void make_scores(RvRandom *random, Street *street) {
  const size_t pixels = (size_t)street->config.width * (size_t)street->config.height;
  const size_t classes = (size_t)street->config.semantics;
  street->scores = malloc(2 * pixels * classes + 1);
  if (!street->scores)
    abort();
  for (size_t k = 0; k < classes; k++)
    for (size_t i = 0; i < pixels; i++)
      street->scores[k * pixels + i] =
          (uint16_t)(street->labels[i] * 2u + i % 2 == k ? rvc_range(random, 0x3800, 0x3b80)
                                                         : rvc_range(random, 0x2000, 0x2800));
}

static void make(RvCheck *check, const char *name, const Row *row, Street *street) {
  const size_t width = (size_t)row->width, pixels = width * (size_t)row->height;
  RvRandom random = rvc_random(check, name);
  RvSceneConfig config;
  rv_scene_config_init(&config);
  config.width = row->width;
  config.height = row->height;
  uint16_t *truth = street->disparity = calloc(pixels, sizeof *truth);
  street->labels = calloc(pixels, 1);
  uint8_t *gray = calloc(2 * pixels, 1);
  if (!truth || !street->labels || !gray)
    abort();
  const RvSceneTruth planes = {
      .disparity = {truth, 2 * (ptrdiff_t)width, row->width, row->height, RV_U16},
      .labels = {street->labels, (ptrdiff_t)width, row->width, row->height, RV_U8}};
  RvPicture picture = {.format = RV_PIXEL_GRAY8, .width = 2 * row->width, .height = row->height};
  picture.data[0] = gray;
  picture.stride[0] = 2 * (ptrdiff_t)width;
  RvScene *scene = NULL;
  const RvStatus status = rv_scene_new(&scene, &config) == RV_OK
                              ? rv_scene_render(scene, 0, &picture, &planes)
                              : RV_ERR_ARG;
  rvc_true(check, name, status == RV_OK, "scene: %s", rv_status_text(status));
  rv_scene_free(&scene);
  free(gray);
  for (size_t i = 0; i < pixels; i++) {
    const int dice = rvc_range(&random, 0, 99), noise = rvc_range(&random, -8, 8);
    if (dice < 2)
      truth[i] = (uint16_t)rvc_range(&random, 1, 2047);
    else if (truth[i])
      truth[i] = (uint16_t)(truth[i] + noise > 1 ? truth[i] + noise : 1);
    else
      truth[i] = (uint16_t)rvc_range(&random, 0, 8);
  }
  RvStixelsConfig *c = &street->config;
  rv_stixels_config_init(c);
  c->log = rvc_log(check);
  c->width = row->width;
  c->height = row->height;
  c->stixel_width = row->stixel_width;
  c->vertical_step = row->step;
  c->model = row->model;
  c->threads = row->threads;
  c->semantics = row->semantics;
  c->cuts = row->cuts;
  c->semantic_radius = rv_max(row->radius, 0);
  c->semantic_repair = row->radius < 0;
  set_classes(c);
  make_scores(&random, street);
  street->input = (RvStixelsInput){.disparity = planes.disparity};
  if (c->semantics)
    street->input.scores = (RvPlane){street->scores, 2 * (ptrdiff_t)width, row->width,
                                     row->height * row->semantics, RV_U16};
}

typedef struct Bench {
  RvStixels *stixels;
  RvStixelsInput input;
  RvStixelsOutput output;
} Bench;

static RvStatus run(void *user, RvStream stream) {
  const Bench *b = user;
  return rv_stixels_run(b->stixels, &b->input, &b->output, stream);
}

static void bench_cuda(RvCheck *check, const char *name, const Street *street) {
  const RvStixelsConfig *c = &street->config;
  Bench b = {.output = {.capacity = rv_stixels_count_max(c)}};
  void *stixels = NULL, *offsets = NULL;
  if (rvc_upload(check, &b.input.disparity, &street->input.disparity) &&
      (!c->semantics || rvc_upload(check, &b.input.scores, &street->input.scores)) &&
      rv_buffer_new(&stixels, b.output.capacity * sizeof(RvStixel), RV_CUDA) == RV_OK &&
      rv_buffer_new(&offsets, ((size_t)rv_stixels_columns(c) + 1) * 4, RV_CUDA) == RV_OK &&
      rv_stixels_new(&b.stixels, c, RV_CUDA) == RV_OK) {
    b.output.stixels = stixels;
    b.output.offsets = offsets;
    rvc_bench(check, name, RV_CUDA, run, &b);
  }
  rv_stixels_free(&b.stixels);
  rvc_device_free(&b.input.disparity);
  rvc_device_free(&b.input.scores);
  rv_buffer_free(&stixels, RV_CUDA);
  rv_buffer_free(&offsets, RV_CUDA);
}

static void bench_cpu(RvCheck *check, const char *name, const Street *street) {
  const RvStixelsConfig *c = &street->config;
  StixelsResult r = stixels_result_new(c, rv_stixels_count_max(c));
  Bench b = {.input = street->input, .output = stixels_result_output(&r)};
  if (rv_stixels_new(&b.stixels, c, RV_CPU) == RV_OK)
    rvc_bench(check, name, RV_CPU, run, &b);
  rv_stixels_free(&b.stixels);
  stixels_result_free(&r);
}

/* One stage alone: that of the dynamic programming on the cells and the ground of one frame, or, on
 * the GPU, the cells or the network of cuts. */
typedef struct Columns {
  const RvStixelsStages *stages;
  RvEngine engine;
  RvStixelsPlan plan;
  void *work;
  RvArena arena;
  RvStixelsJob job;
  uint8_t *codes; /* of the cuts, for the network alone on the GPU */
} Columns;

/* Memory of the engine, and the stages that come before the columns. */
static RvStatus open_columns(Columns *c) {
  const RvStixelsStages *stages = c->stages;
  c->work = rv_memory_object(stages->base.work_size);
  if (!c->work)
    return RV_ERR_NO_MEMORY;
  stages->base.layout(c->work, &c->plan, &c->arena);
  RV_TRY(rv_arena_open(&c->arena, c->engine));
  stages->base.layout(c->work, &c->plan, &c->arena);
  RV_TRY(stages->base.open(c->work, &c->plan));
  RV_TRY(stages->cells(c->work, &c->job));
  RV_TRY(stages->ground(c->work, &c->job));
  return c->engine == RV_CUDA ? rv_stream_wait(NULL) : RV_OK;
}

static void close_columns(Columns *c) {
  rv_arena_close(&c->arena);
  rv_memory_free(c->work, RV_CPU);
}

static RvStatus run_stage(Columns *c, RvStixelsStage *stage, RvStream stream) {
  c->job.stream = stream;
  return stage(c->work, &c->job);
}

static RvStatus run_columns(void *user, RvStream stream) {
  return run_stage(user, ((Columns *)user)->stages->columns, stream);
}

static void columns_cpu(RvCheck *check, const char *name, const Street *street) {
  const RvStixelsConfig *config = &street->config;
  StixelsResult r = stixels_result_new(config, rv_stixels_count_max(config));
  Columns c = {.stages = &rv_stixels_stages_cpu, .engine = RV_CPU, .plan = stixels_plan_of(config)};
  c.job = (RvStixelsJob){.plan = &c.plan,
                         .input = {.disparity = street->input.disparity},
                         .output = stixels_result_output(&r)};
  if (rvc_true(check, name, open_columns(&c) == RV_OK, "memory"))
    rvc_bench(check, name, RV_CPU, run_columns, &c);
  close_columns(&c);
  stixels_result_free(&r);
}

#if RV_HAVE_CUDA
static RvStatus run_probe(void *user, RvStream stream) {
  const Columns *c = user;
  return stixels_probe_network(c->work, &c->plan, c->codes, stream);
}

static RvStatus run_cells(void *user, RvStream stream) {
  return run_stage(user, ((Columns *)user)->stages->cells, stream);
}

/* time: one of the above. */
static void stage_cuda(RvCheck *check, const char *name, const Street *street,
                       RvStatus (*time)(void *user, RvStream stream)) {
  const RvStixelsConfig *config = &street->config;
  Columns c = {
      .stages = &rv_stixels_stages_cuda, .engine = RV_CUDA, .plan = stixels_plan_of(config)};
  c.job = (RvStixelsJob){.plan = &c.plan, .output = {.capacity = rv_stixels_count_max(config)}};
  void *stixels = NULL, *offsets = NULL, *codes = NULL;
  if (rvc_upload(check, &c.job.input.disparity, &street->input.disparity) &&
      rvc_true(
          check, name,
          rv_buffer_new(&stixels, c.job.output.capacity * sizeof(RvStixel), RV_CUDA) == RV_OK &&
              rv_buffer_new(&offsets, ((size_t)c.plan.columns + 1) * 4, RV_CUDA) == RV_OK &&
              rv_buffer_new(&codes, (size_t)c.plan.columns * (size_t)c.plan.rows, RV_CUDA) == RV_OK,
          "memory")) {
    c.job.output.stixels = stixels;
    c.job.output.offsets = offsets;
    c.codes = codes;
    if (rvc_true(check, name, open_columns(&c) == RV_OK, "stages")) {
      stixels_probe_unchain(c.work);
      rvc_bench(check, name, RV_CUDA, time, &c);
    }
  }
  close_columns(&c);
  rvc_device_free(&c.job.input.disparity);
  rv_buffer_free(&stixels, RV_CUDA);
  rv_buffer_free(&offsets, RV_CUDA);
  rv_buffer_free(&codes, RV_CUDA);
}

static void columns_cuda(RvCheck *check, const char *name, const Street *street) {
  stage_cuda(check, name, street, run_columns);
}

static void network_cuda(RvCheck *check, const char *name, const Street *street) {
  stage_cuda(check, name, street, run_probe);
}

static void cells_cuda(RvCheck *check, const char *name, const Street *street) {
  stage_cuda(check, name, street, run_cells);
}
#else
static void columns_cuda(RvCheck *check, const char *name, const Street *street) {
  (void)check, (void)name, (void)street;
}

static void network_cuda(RvCheck *check, const char *name, const Street *street) {
  columns_cuda(check, name, street);
}

static void cells_cuda(RvCheck *check, const char *name, const Street *street) {
  columns_cuda(check, name, street);
}
#endif

/* Times an engine on a street. */
typedef void Timing(RvCheck *check, const char *name, const Street *street);

/* suffix: of the name of the case. cpu NULL: on the GPU only. */
static void time_street(RvCheck *check, const Row *row, const char *suffix, Timing *cpu,
                        Timing *cuda) {
  char name[64];
  snprintf(name, sizeof name, "stixels/%s%s", row->name, suffix);
  if (!rvc_wants(check, name))
    return;
  Street street = {0};
  make(check, name, row, &street);
  if (cpu && rvc_cpu(check))
    cpu(check, name, &street);
  if (rvc_cuda(check))
    cuda(check, name, &street);
  free(street.disparity);
  free(street.labels);
  free(street.scores);
}

/* The network of cuts alone, CPU engine, all threads. */
typedef struct Network {
  RvStixelsNetwork network;
  const RvStixelsNetworkKernel *kernel;
  int threads, columns, rows;
  RvStixelsPlane ground;
  RvStixelsCell *cells; /* [column][row] */
  uint32_t *buffers;    /* [column] of what a column needs */
  uint8_t *codes;
} Network;

static RvStatus run_network(void *user, RvStream stream) {
  const Network *n = user;
  const size_t words = 2 * RV_STIXELS_NETWORK_QUADS * rv_stixels_network_pitch(n->rows);
  (void)stream;
#pragma omp parallel for num_threads(n->threads) schedule(dynamic)
  for (int x = 0; x < n->columns; x++)
    rv_stixels_network_cpu(
        n->kernel, &n->network, &n->ground, n->cells + (size_t)x * (size_t)n->rows, n->rows,
        n->buffers + (size_t)omp_get_thread_num() * words, n->codes + (size_t)x * (size_t)n->rows);
  return RV_OK;
}

static void network_cpu(RvCheck *check, const char *name, const Street *street) {
  const RvStixelsConfig *c = &street->config;
  Network n = {
      .threads = rv_threads(0), .columns = rv_stixels_columns(c), .rows = rv_stixels_rows(c)};
  const size_t cells = (size_t)n.columns * (size_t)n.rows;
  const size_t words = 2 * RV_STIXELS_NETWORK_QUADS * rv_stixels_network_pitch(n.rows);
  n.cells = calloc(cells, sizeof *n.cells);
  n.buffers = calloc((size_t)rv_threads(0) * words, sizeof *n.buffers);
  n.codes = calloc(cells, 1);
  if (!n.cells || !n.buffers || !n.codes || rv_stixels_make_network(c, &n.network) != RV_OK)
    abort();
  for (size_t i = 0; i < cells; i++) { /* a pixel of each cell */
    const size_t x = i / (size_t)n.rows * (size_t)c->stixel_width;
    const size_t y = (size_t)(c->height - 1) - i % (size_t)n.rows * (size_t)c->vertical_step;
    const uint16_t d = street->disparity[y * (size_t)c->width + x];
    n.cells[i] = (RvStixelsCell){d, d ? 255 : 0, d ? 255 : RV_STIXELS_EMPTY};
  }
  for (int k = 0; (n.kernel = rv_stixels_network_kernel(k)) != NULL; k++) {
    char each[80];
    snprintf(each, sizeof each, "%s%s", name, k == 0 ? "" : k == 1 ? "-narrower" : "-base");
    rvc_bench(check, each, RV_CPU, run_network, &n);
  }
  free(n.cells);
  free(n.buffers);
  free(n.codes);
}

static void time_row(RvCheck *check, const Row *row) {
  time_street(check, row, "", bench_cpu, bench_cuda);
}

static void time_columns(RvCheck *check, const Row *row) {
  time_street(check, row, "-columns", columns_cpu, columns_cuda);
}

/* All kinds of cuts, and the network alone, at the sizes of the study of cuts. */
static void time_cuts(RvCheck *check) {
  static const int sizes[][3] = {{1242, 375, 4}, {2048, 1024, 8}, {1242, 375, 8}};
  static const char *const kinds[] = {"all", "time-series", "network"};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    const int *size = sizes[k];
    char name[40];
    Row row = {name, size[0], size[1], size[2], size[2], RV_STIXELS_SLANTED, 0, RV_STIXELS_CUTS_ALL,
               0,    0};
    for (int kind = 0; kind <= RV_STIXELS_CUTS_NETWORK; kind++) {
      row.cuts = (RvStixelsCutsKind)kind;
      snprintf(name, sizeof name, "cuts-%s-%dx%d-s%d", kinds[kind], size[0], size[1], size[2]);
      time_row(check, &row);
      time_columns(check, &row);
    }
    snprintf(name, sizeof name, "network-%dx%d-s%d", size[0], size[1], size[2]);
    time_street(check, &row, "", network_cpu, network_cuda);
  }
}

/* --model: time against the rows of a column, 128 columns of cells of 8 x 4 px; the same for the
 * dynamic programming alone, and for that at the sizes of figure 4.7 of the thesis; one core. */
static void time_heights(RvCheck *check) {
  static const int heights[] = {24, 48, 96, 192, 384};
  static const char *const models[] = {"fast", "slanted", "constant"};
  for (int kind = 0; kind < 3; kind++)
    for (size_t k = 0; k < sizeof heights / sizeof heights[0]; k++) {
      char name[40];
      snprintf(name, sizeof name, "rows%d-%s", heights[k], models[kind]);
      const Row row = {
          name, 1024, 4 * heights[k], 8, 4, (RvStixelsModelKind)kind, 0, RV_STIXELS_CUTS_ALL, 1, 0};
      time_row(check, &row);
      time_columns(check, &row);
    }
  for (int cell = 8; cell >= 4; cell -= 4)
    for (int kind = 0; kind < 2; kind++) {
      char name[40];
      snprintf(name, sizeof name, "2048x1024-w%ds%d-%s-one", cell, cell, models[kind]);
      const Row row = {
          name, 2048, 1024, cell, cell, (RvStixelsModelKind)kind, 0, RV_STIXELS_CUTS_ALL, 1, 0};
      time_row(check, &row);
      time_columns(check, &row);
    }
}

/* Figures 4.6 and 4.7 of the thesis on the GPU: all stages, the dynamic programming and the cells; the
 * CPU engine has them under --model. */
static void time_stages(RvCheck *check) {
  static const char *const models[] = {"fast", "slanted"};
  for (int cell = 8; cell >= 4 && rvc_cuda(check); cell -= 4)
    for (int kind = 0; kind < 2; kind++) {
      char name[40];
      snprintf(name, sizeof name, "2048x1024-w%ds%d-%s", cell, cell, models[kind]);
      const Row row = {
          name, 2048, 1024, cell, cell, (RvStixelsModelKind)kind, 0, RV_STIXELS_CUTS_ALL, 0, 0};
      if (cell == 4 || kind > 0) /* the other one is in `rows` */
        time_street(check, &row, "", NULL, bench_cuda);
      time_street(check, &row, "-columns", NULL, columns_cuda);
      if (kind == 0)
        time_street(check, &row, "-cells", NULL, cells_cuda);
    }
}

void stixels_bench(RvCheck *check) {
  if (rvc_model(check)) {
    time_heights(check);
    return;
  }
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
    time_row(check, &rows[k]);
  time_cuts(check);
  time_stages(check);
}
