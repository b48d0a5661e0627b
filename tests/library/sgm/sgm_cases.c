/* SPDX-License-Identifier: MIT */
/* sgm_cases.c: parity of semi-global matching: CPU engine = reference implementation, for every
 * instruction set and number of threads; CUDA engine = CPU engine, step by step and run(); stored
 * hashes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sgm/sgm_cpu.h"
#include "sgm/sgm_bench.h"
#include "sgm/sgm_hand_cases.h"
#include "sgm/sgm_probe.h"
#include "sgm/sgm_rules.h"
#include "sgm/sgm_state_cases.h"

/* --- Random configs and pairs ---------------------------------------------------------------- */

#define ONE_OF(random, list)                                                                       \
  (list)[rvc_range((random), 0, (int)(sizeof(list) / sizeof((list)[0])) - 1)]

static void random_sizes(RvRandom *random, int small, RvSgmConfig *c) {
  static const int widths[] = {1, 2, 3, 5, 16, 31, 33, 40, 63, 64, 65, 97, 130, 200};
  static const int heights[] = {1, 2, 3, 4, 5, 8, 13, 17, 24, 33};
  static const int ranges[] = {32, 32, 64, 64, 64, 96, 128, 128, 160, 256, 512};
  static const int firsts[] = {0, 0, 0, 1, 5, 33, 150, 3584};
  do {
    c->width = ONE_OF(random, widths);
    c->height = ONE_OF(random, heights);
    c->disparities = ONE_OF(random, ranges);
  } while (c->width * c->height * c->disparities > (small ? 60000 : 300000));
  c->min_disparity = ONE_OF(random, firsts);
}

/* Case `n` enumerates what must be covered in combination; the rest is random. */
static void random_config(RvRandom *random, int n, int small, RvSgmConfig *c) {
  static const int paths[] = {8, 4, 2}, medians[] = {0, 3, 5}, lr[] = {-1, 0, 1, 3, 512};
  static const int penalties[][2] = {{10, 120},  {0, 0},    {7, 40},
                                     {120, 120}, {30, 300}, {900, 8000}};
  static const int sizes[] = {0, 1, 2, 5, 20, 100, 100000};
  rv_sgm_config_init(c);
  random_sizes(random, small, c);
  c->paths = paths[n % 3];
  c->cost = (RvSgmCost)(n / 3 % 3); /* csct, census, mixed */
  c->confidence = n / 6 % 2;
  c->adaptive_p2 = n / 2 % 4 == 3;
  const int p = n % 4 == 0 ? 0 : rvc_range(random, 0, 5);
  c->p1 = penalties[p][0];
  c->p2 = penalties[p][1];
  c->p1_ground = rvc_range(random, 0, 2) ? rvc_range(random, 0, c->p1) : -1;
  c->max_cost = rvc_range(random, 0, 2) ? 0 : rvc_range(random, 1, 62);
  c->subpixel_fit = (RvSgmFit)(n / 9 % 3);
  c->p2_min = rvc_range(random, c->p1, c->p2);
  c->p2_gradient = rvc_range(random, 0, 3) ? rvc_range(random, 0, 9) : 255;
  c->subpixel = n % 5 != 4;
  c->uniqueness = n % 7 == 0 ? 0 : rvc_range(random, 0, n % 7 == 6 ? 99 : 15);
  c->max_lr_diff = ONE_OF(random, lr);
  c->median = ONE_OF(random, medians);
  c->speckle_size = ONE_OF(random, sizes);
  c->speckle_range = rvc_range(random, 0, 3) ? rvc_range(random, 0, 3) : 64;
  c->reject_sky = n % 4 > 1;
  c->fill = (RvSgmFill)(n / 2 % 3 == 1);
  c->threads = rvc_range(random, 1, 5);
}

/* A pair that matches somewhere: the right view is the left one shifted by a disparity that changes
 * with the row, with some noise; or two unrelated views. */
static void random_pair(RvRandom *random, const RvSgmConfig *c, uint8_t *left, uint8_t *right) {
  const int kind = rvc_range(random, 0, RVC_KINDS - 1), w = c->width;
  const int related = rvc_range(random, 0, 3), noise = rvc_range(random, 0, 6);
  rvc_fill_u8(random, kind, left, w, c->height, w);
  rvc_fill_u8(random, rvc_range(random, 0, RVC_KINDS - 1), right, w, c->height, w);
  for (int y = 0; y < c->height && related; y++)
    for (int x = 0; x < w; x++) {
      const int from = x + c->min_disparity % 200 + y % 20;
      const int gray = left[y * w + (from < w ? from : w - 1)] + rvc_range(random, -noise, noise);
      right[y * w + x] = (uint8_t)(gray < 0 ? 0 : gray > 255 ? 255 : gray);
    }
}

/* Bright cells without texture in both views: the candidates of the sky wind through the image, and
 * touch its top or not. */
static void add_flat_cells(RvRandom *random, const RvSgmConfig *c, uint8_t *left, uint8_t *right) {
  const int side = rvc_range(random, 9, 24), share = rvc_range(random, 35, 75);
  uint8_t flat[64][64];
  for (int i = 0; i < 64 * 64; i++)
    flat[i / 64][i % 64] = rvc_range(random, 0, 99) < share;
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++)
      if (flat[y / side % 64][x / side % 64])
        left[y * c->width + x] = right[y * c->width + x] = 240;
}

static const char *config_text(const RvSgmConfig *c, const char *extra, char *out, size_t size) {
  snprintf(out, size,
           "%dx%d D%d+%d p%d cost%d/%d P%d(%d)/%d%s(%d,%d) u%d lr%d sub%d.%d med%d spk%d/%d sky%d "
           "fill%d conf%d thr%d %s",
           c->width, c->height, c->min_disparity, c->disparities, c->paths, (int)c->cost,
           c->max_cost, c->p1, c->p1_ground, c->p2, c->adaptive_p2 ? "a" : "", c->p2_min,
           c->p2_gradient, c->uniqueness, c->max_lr_diff, c->subpixel, (int)c->subpixel_fit,
           c->median, c->speckle_size, c->speckle_range, c->reject_sky, (int)c->fill, c->confidence,
           c->threads, extra);
  return out;
}

/* --- One config ------------------------------------------------------------------------------ */

typedef struct Case {
  RvCheck *check;
  const char *name;
  RvSgmConfig config;
  uint8_t *left, *right; /* dense */
  RvSgmResults expected;
} Case;

static int case_open(Case *t) {
  const size_t n = (size_t)t->config.width * (size_t)t->config.height;
  t->left = malloc(n);
  t->right = malloc(n);
  return rvc_true(t->check, t->name,
                  rv_sgm_results_new(&t->expected, &t->config) && t->left && t->right,
                  "out of memory");
}

static void case_close(Case *t) {
  rv_sgm_results_free(&t->expected);
  free(t->left);
  free(t->right);
}

/* Compares the stages of an engine with t->expected. kernels NULL: as the engine chooses. */
static int stages_agree(const Case *t, RvEngine engine, int threads, const RvSgmKernels *kernels) {
  char text[256];
  RvSgm *sgm = NULL;
  RvSgmResults got = {0};
  RvSgmConfig config = t->config;
  config.threads = threads;
  config.log = rvc_log(t->check);
  int good = rvc_true(t->check, t->name, rv_sgm_new(&sgm, &config, engine) == RV_OK,
                      "no object of %s", config_text(&config, "", text, sizeof text));
  if (good && kernels)
    ((RvSgmCpu *)sgm->object.work)->kernels = kernels;
  config_text(&config,
              kernels             ? kernels->name
              : engine == RV_CUDA ? "cuda"
                                  : "",
              text, sizeof text);
  /* Twice: the previous run must have no effect. */
  for (int run = 0; good && run < 2; run++) {
    good = rv_sgm_results_new(&got, &config) &&
           rv_sgm_read_stages(t->check, t->name, sgm, t->left, t->right, &got) &&
           rv_sgm_compare(t->check, t->name, &config, &t->expected, &got, text);
    rv_sgm_results_free(&got);
  }
  rv_sgm_free(&sgm);
  return good;
}

#define PAD 7 /* px next to each row of the planes given to run() */

/* run() itself on padded planes in host memory. The bytes next to the rows stay unchanged. */
static int run_agrees(const Case *t) {
  const RvSgmConfig *c = &t->config;
  const size_t pitch = (size_t)c->width + PAD, n = pitch * (size_t)c->height;
  uint8_t *left = malloc(n), *right = malloc(n), *confidence = malloc(n);
  uint16_t *disparity = malloc(2 * n);
  RvSgm *sgm = NULL;
  char text[256];
  config_text(c, "run", text, sizeof text);
  int good = left && right && confidence && disparity && rv_sgm_new(&sgm, c, RV_CPU) == RV_OK;
  if (good) {
    memset(left, 0x11, n), memset(right, 0x77, n), memset(confidence, 0xEE, n);
    memset(disparity, 0xEE, 2 * n);
    for (int y = 0; y < c->height; y++) {
      memcpy(left + (size_t)y * pitch, t->left + y * c->width, (size_t)c->width);
      memcpy(right + (size_t)y * pitch, t->right + y * c->width, (size_t)c->width);
    }
    const ptrdiff_t p = (ptrdiff_t)pitch;
    const RvPlane l = {left, p, c->width, c->height, RV_U8},
                  r = {right, p, c->width, c->height, RV_U8};
    const RvPlane d = {disparity, 2 * p, c->width, c->height, RV_U16};
    const RvPlane q = {confidence, p, c->width, c->height, RV_U8};
    good = rv_sgm_run(sgm, &l, &r, &d, c->confidence ? &q : NULL, NULL) == RV_OK;
    const RvPlane e = {t->expected.disparity, 2 * c->width, c->width, c->height, RV_U16};
    const RvPlane f = {t->expected.confidence, c->width, c->width, c->height, RV_U8};
    good = good && rvc_same(t->check, t->name, &e, &d, text) &&
           (!c->confidence || rvc_same(t->check, t->name, &f, &q, text));
    for (int y = 0; y < c->height; y++)
      for (size_t x = (size_t)c->width; x < pitch; x++)
        good = good && disparity[(size_t)y * pitch + x] == 0xEEEE &&
               confidence[(size_t)y * pitch + x] == 0xEE;
  }
  rvc_true(t->check, t->name, good, "%s", text);
  rv_sgm_free(&sgm);
  free(left), free(right), free(confidence), free(disparity);
  return good;
}

/* --- Reference ------------------------------------------------------------------------------- */

static int cpu_agrees(const Case *t) {
  const int cell = t->config.p1 + t->config.p2 + rv_sgm_cost_max(&t->config) > 255 ? 2 : 1;
  int good = 1;
  for (int i = 0; good && rv_sgm_cpu_kernels(i); i++)
    if (rv_sgm_cpu_can(rv_sgm_cpu_kernels(i), &t->config, cell))
      good = stages_agree(t, RV_CPU, t->config.threads, rv_sgm_cpu_kernels(i));
  return good && stages_agree(t, RV_CPU, 1, NULL) && run_agrees(t);
}

/* Opens a case of number n and compares what it gives; the caller closes it. */
typedef int Trial(Case *t, RvRandom *random, int n, const void *user);

static void check_trials(RvCheck *check, const char *name, int count, Trial *trial,
                         const void *user) {
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, name);
  int good = 1;
  for (int n = 0; good && n < count; n++) {
    Case t = {.check = check, .name = name};
    good = trial(&t, &random, n, user);
    case_close(&t);
  }
  if (good)
    rvc_ok(check, name);
}

/* user: RvEngine. */
static int trial_reference(Case *t, RvRandom *random, int n, const void *user) {
  const RvEngine *engine = user;
  random_config(random, n, rvc_small(t->check), &t->config);
  if (!case_open(t))
    return 0;
  random_pair(random, &t->config, t->left, t->right);
  RvSgmPlan plan = {.config = t->config};
  rv_sgm_make_plan(&plan);
  rv_sgm_reference(&plan, t->left, t->right, &t->expected);
  return *engine == RV_CUDA ? stages_agree(t, RV_CUDA, 0, NULL) : cpu_agrees(t);
}

static void check_random(RvCheck *check, const char *name, int count, RvEngine engine) {
  check_trials(check, name, count, trial_reference, &engine);
}

/* Sky and fill: images wider than a warp with many regions. */
static void check_sky(RvCheck *check, const char *name, int count, int cuda) {
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, name);
  int good = 1, sky = 0, filled = 0;
  for (int n = 0; good && n < count; n++) {
    Case t = {.check = check, .name = name};
    RvSgmConfig *c = &t.config;
    random_config(&random, n, 1, c);
    c->width = rvc_range(&random, 60, 220), c->height = rvc_range(&random, 40, 90);
    c->disparities = 32, c->min_disparity = n % 4 == 3 ? 9 : 0, c->paths = 2 << n % 2;
    c->reject_sky = n % 5 != 4, c->fill = (RvSgmFill)(n % 3 != 2), c->confidence = n % 2;
    c->speckle_size = n % 4 * 30;
    good = case_open(&t);
    if (good) {
      RvSgmPlan plan = {.config = *c};
      rv_sgm_make_plan(&plan);
      random_pair(&random, c, t.left, t.right);
      add_flat_cells(&random, c, t.left, t.right);
      rv_sgm_reference(&plan, t.left, t.right, &t.expected);
      good = cuda ? stages_agree(&t, RV_CUDA, 0, NULL) : cpu_agrees(&t);
      for (int at = 0; at < c->width * c->height; at++) {
        sky += t.expected.smooth[at] && !t.expected.disparity[at];
        filled += !t.expected.smooth[at] && t.expected.disparity[at];
      }
    }
    case_close(&t);
  }
  good = good && rvc_true(check, name, sky > 1000 && filled > 1000,
                          "%d pixels of sky and %d filled ones prove little", sky, filled);
  if (good)
    rvc_ok(check, name);
}

/* --- Hashes and larger images ---------------------------------------------------------------- */

/* A textured pair made of integers only: row y of the right view is shifted by its disparity. */
static void make_pair(int width, int height, int disparity_max, uint8_t *left, uint8_t *right) {
  uint32_t state = 12345;
  for (int y = 0; y < height; y++) {
    const int d = 2 + y * (disparity_max - 4) / height;
    uint8_t row[1024];
    int gray = 128;
    for (int x = 0; x < width + d; x++) {
      state = state * 1664525u + 1013904223u;
      gray += (int)(state >> 24) % 61 - 30;
      gray = gray < 0 ? -gray : gray > 255 ? 510 - gray : gray;
      row[x] = (uint8_t)gray;
    }
    memcpy(left + y * width, row, (size_t)width);
    memcpy(right + y * width, row + d, (size_t)width);
  }
}

static uint64_t fnv(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

/* Stored results: 240 x 96, disparities and, as far as these are valid, margins. */
static void check_hashes(RvCheck *check, const char *name, RvRandom *random) {
  static const struct {
    int paths, disparities, min_disparity, cost, p1, p2, adaptive, median;
    uint64_t hash;
  } rows[] = {
      {8, 128, 0, RV_SGM_CSCT, 10, 120, 0, 3, 0x5134db90f5fc0d70},
      {4, 64, 3, RV_SGM_CENSUS, 10, 160, 0, 5, 0x0ecd414fc8a88e40},
      {2, 96, 0, RV_SGM_CSCT, 10, 120, 1, 3, 0x595d54faeb82721b},
      {8, 64, 0, RV_SGM_CENSUS, 10, 1000, 1, 0, 0x81b274ad4343e7a0},
      {4, 128, 0, RV_SGM_MIXED, 12, 127, 1, 5, 0xb618a539220e0d96},
      {8, 64, 2, RV_SGM_MIXED, 12, 127, 0, 3, 0x0f8037591bff1191},
  };
  int good = 1;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    Case t = {.check = check, .name = name};
    rv_sgm_config_init(&t.config);
    t.config.width = 240;
    t.config.height = 96;
    t.config.paths = rows[i].paths;
    t.config.disparities = rows[i].disparities;
    t.config.min_disparity = rows[i].min_disparity;
    t.config.cost = (RvSgmCost)rows[i].cost;
    t.config.p1 = rows[i].p1;
    t.config.p2 = rows[i].p2;
    t.config.adaptive_p2 = rows[i].adaptive;
    t.config.p2_min = 60;
    t.config.p2_gradient = 1;
    t.config.median = rows[i].median;
    t.config.confidence = 1;
    t.config.reject_sky = 0;
    RvSgm *sgm = NULL;
    if (case_open(&t) && rv_sgm_new(&sgm, &t.config, RV_CPU) == RV_OK) {
      make_pair(240, 96, 60, t.left, t.right);
      const size_t n = 240 * 96;
      good = rv_sgm_read_stages(check, name, sgm, t.left, t.right, &t.expected) && good;
      for (size_t at = 0; at < n; at++)
        t.expected.found[at] = t.expected.disparity[at] ? t.expected.found[at] : 0;
      const uint64_t hash =
          fnv(fnv(0xcbf29ce484222325u, t.expected.disparity, 2 * n), t.expected.found, n);
      good = rvc_true(check, name, hash == rows[i].hash, "row %zu: hash 0x%016llx", i,
                      (unsigned long long)hash) &&
             good;
    } else {
      good = 0;
    }
    rv_sgm_free(&sgm);
    case_close(&t);
  }
}

/* Size and search range; paths 0: cost and paths at random. */
typedef struct Shape {
  int width, height, disparities, cost, paths;
} Shape;

/* Few disparities: where S is small compared with the descriptors. The first few are small, the last
 * ones have rows too long for the shared memory of a block. */
static const Shape windows[] = {
    {16, 75, 32, RV_SGM_CENSUS, 8},    {11, 111, 32, RV_SGM_CSCT, 8},
    {8, 95, 32, RV_SGM_CENSUS, 4},     {7, 100, 32, RV_SGM_CENSUS, 2},
    {9, 177, 32, RV_SGM_CSCT, 2},      {40, 150, 64, RV_SGM_CENSUS, 8},
    {30, 243, 96, RV_SGM_CENSUS, 8},   {33, 250, 64, RV_SGM_CSCT, 8},
    {320, 301, 32, RV_SGM_CENSUS, 8},  {321, 240, 32, RV_SGM_CSCT, 8},
    {10600, 56, 32, RV_SGM_CENSUS, 8}, {16384, 112, 32, RV_SGM_CSCT, 8},
};
enum { WINDOWS = (int)(sizeof windows / sizeof windows[0]), SMALL_WINDOWS = 4 };

static void random_shaped(RvRandom *random, int n, int small, const Shape *shape, RvSgmConfig *c) {
  random_config(random, n, small, c);
  c->width = shape->width;
  c->height = shape->height;
  c->disparities = shape->disparities;
  if (!shape->paths)
    return;
  c->cost = (RvSgmCost)shape->cost;
  c->paths = shape->paths;
}

typedef struct Shapes {
  const Shape *list;
  int count;
} Shapes;

/* CUDA = CPU where the reference is too slow. user: Shapes. */
static int trial_shape(Case *t, RvRandom *random, int n, const void *user) {
  const Shapes *shapes = user;
  random_shaped(random, n, 0, &shapes->list[n % shapes->count], &t->config);
  t->config.min_disparity = n % 3;
  if (!case_open(t))
    return 0;
  random_pair(random, &t->config, t->left, t->right);
  t->config.threads = 0;
  RvSgm *cpu = NULL;
  const int good =
      rvc_true(t->check, t->name, rv_sgm_new(&cpu, &t->config, RV_CPU) == RV_OK, "no CPU object") &&
      rv_sgm_read_stages(t->check, t->name, cpu, t->left, t->right, &t->expected) &&
      stages_agree(t, RV_CUDA, 0, NULL);
  rv_sgm_free(&cpu);
  return good;
}

/* Images with many blocks, every number of disparities. */
static void check_large(RvCheck *check) {
  static const Shape shapes[] = {
      {641, 240, 128, 0, 0}, {333, 177, 64, 0, 0},  {500, 100, 256, 0, 0},
      {300, 60, 512, 0, 0},  {257, 129, 96, 0, 0},  {1242, 64, 128, 0, 0},
      {97, 400, 192, 0, 0},  {1000, 33, 160, 0, 0}, {480, 270, 32, 0, 0}};
  const Shapes large = {shapes, 9}, small = {windows, WINDOWS};
  if (!rvc_small(check))
    check_trials(check, "sgm/engines", 18, trial_shape, &large);
  check_trials(check, "sgm/windows", rvc_small(check) ? SMALL_WINDOWS : WINDOWS, trial_shape,
               &small);
}

/* Regions of all sizes that wind through many tiles of the speckle filter: few disparities, no
 * checks before it. */
static void winding_regions(RvRandom *random, int n, RvSgmConfig *c) {
  static const int medians[] = {0, 3, 5}, sizes[] = {3, 30, 100, 400, 3000, 100000};
  random_config(random, n, 0, c);
  c->width = rvc_range(random, 190, 330), c->height = rvc_range(random, 60, 130);
  c->disparities = 32, c->uniqueness = 0;
  c->max_lr_diff = n % 4 ? -1 : 3;
  c->median = medians[n % 3];
  c->speckle_size = ONE_OF(random, sizes);
  c->speckle_range = rvc_range(random, 0, 9);
}

/* Compares run() of the CUDA engine with that of the CPU engine, so many times. A smaller object is
 * made after it and remains, since limits of a kernel must not be those of the last object. */
static int runs_agree(Case *t, RvRandom *random, int runs) {
  RvCheck *check = t->check;
  const char *name = t->name;
  RvSgm *cpu = NULL, *cuda = NULL, *smaller = NULL;
  RvPlane l = {0}, r = {0}, d = {0}, q = {0};
  char text[256];
  int good = case_open(t);
  if (good) {
    const RvSgmConfig *c = &t->config;
    RvSgmConfig less = *c;
    less.width = rv_div_up(c->width, 4), less.height = rv_div_up(c->height, 4);
    random_pair(random, c, t->left, t->right);
    const RvPlane hl = {t->left, c->width, c->width, c->height, RV_U8};
    const RvPlane hr = {t->right, c->width, c->width, c->height, RV_U8};
    RvPlane hd = {t->expected.disparity, 2 * c->width, c->width, c->height, RV_U16};
    RvPlane hq = {t->expected.confidence, c->width, c->width, c->height, RV_U8};
    RvPlane gd = hd, gq = hq;
    gd.data = t->expected.checked; /* free space of the same kind */
    gq.data = t->expected.found;
    good = rvc_upload(check, &l, &hl) && rvc_upload(check, &r, &hr) && rvc_upload(check, &d, &hd) &&
           rvc_upload(check, &q, &hq) && rv_sgm_new(&cpu, c, RV_CPU) == RV_OK &&
           rv_sgm_new(&cuda, c, RV_CUDA) == RV_OK &&
           rv_sgm_new(&smaller, &less, RV_CUDA) == RV_OK &&
           rv_sgm_run(cpu, &hl, &hr, &hd, c->confidence ? &hq : NULL, NULL) == RV_OK;
    for (int run = 0; good && run < runs; run++)
      good = rvc_true(check, name,
                      rv_sgm_run(cuda, &l, &r, &d, c->confidence ? &q : NULL, NULL) == RV_OK,
                      "run failed") &&
             rvc_download(check, &gd, &d) && rvc_download(check, &gq, &q) &&
             rvc_same(check, name, &hd, &gd, config_text(c, "cuda run", text, sizeof text)) &&
             (!c->confidence || rvc_same(check, name, &hq, &gq, text));
  }
  rvc_device_free(&l), rvc_device_free(&r), rvc_device_free(&d), rvc_device_free(&q);
  rv_sgm_free(&cpu), rv_sgm_free(&cuda), rv_sgm_free(&smaller);
  case_close(t);
  return good;
}

static void check_cuda_run(RvCheck *check, const char *name, RvRandom *random) {
  int good = 1;
  const int regions = rvc_small(check) ? 2 : 24;
  for (int n = 0; good && n < 24 + SMALL_WINDOWS + regions; n++) {
    Case t = {.check = check, .name = name};
    if (n >= 24 + SMALL_WINDOWS)
      winding_regions(random, n, &t.config);
    else if (n < 24)
      random_config(random, n, rvc_small(check), &t.config);
    else
      random_shaped(random, n, rvc_small(check), &windows[n - 24], &t.config);
    good = runs_agree(&t, random, 2);
  }
  rvc_true(check, name, good, "see above");
}

/* Images of camera size, repeatedly: the order in which blocks and warps wait for each other
 * differs every time. */
static void check_again(RvCheck *check, const char *name, RvRandom *random) {
  static const Shape shapes[] = {
      {1242, 375, 128, RV_SGM_CSCT, 8},  {1242, 375, 128, RV_SGM_CSCT, 4},
      {1301, 403, 96, RV_SGM_CENSUS, 8}, {777, 301, 160, RV_SGM_CSCT, 8},
      {1920, 541, 128, RV_SGM_CSCT, 8},  {640, 480, 64, RV_SGM_CSCT, 8},
      {650, 290, 256, RV_SGM_CSCT, 8},   {1283, 333, 128, RV_SGM_CENSUS, 4}};
  int good = 1;
  for (int n = 0; good && n < (int)(sizeof shapes / sizeof *shapes); n++) {
    Case t = {.check = check, .name = name};
    random_shaped(random, n, 0, &shapes[n], &t.config);
    t.config.threads = 0;
    good = runs_agree(&t, random, 40);
  }
  rvc_true(check, name, good, "see above");
}

static void check_on_cpu(RvCheck *check) {
  check_random(check, "sgm/reference", rvc_small(check) ? 60 : 240, RV_CPU);
  check_sky(check, "sgm/sky", rvc_small(check) ? 5 : 10, 0);
}

static void check_on_cuda(RvCheck *check) {
  check_random(check, "sgm/cuda", 60, RV_CUDA);
  check_sky(check, "sgm/sky-cuda", 24, 1);
  check_large(check);
}

RVC_PARITY({.group = rv_sgm_hand_cases}, {.group = rv_sgm_state_cases}, {.group = check_on_cpu},
           RVC_CASE("sgm/hash", check_hashes, 0), {.group = check_on_cuda, .flags = RVC_ON_CUDA},
           RVC_CASE("sgm/run", check_cuda_run, RVC_ON_CUDA),
           RVC_CASE("sgm/again", check_again, RVC_LARGE | RVC_ON_CUDA));

/* --- Fuzz: bytes become a config, once unchanged, then reduced to valid ranges, and pixels. --- */

static int next_value(const uint8_t **bytes, const uint8_t *end) {
  int v = 0;
  for (int i = 0; i < 2 && *bytes < end; i++)
    v = v << 8 | *(*bytes)++;
  return v;
}

static void fuzz_config(const uint8_t **at, const uint8_t *end, RvSgmConfig *c) {
  c->width = 1 + next_value(at, end) % 70;
  c->height = 1 + next_value(at, end) % 24;
  c->disparities = 32 * (1 + next_value(at, end) % 4);
  c->min_disparity = next_value(at, end) % 3585;
  c->paths = 2 << next_value(at, end) % 3;
  c->cost = (RvSgmCost)(next_value(at, end) % 3);
  c->max_cost = next_value(at, end) % 63;
  c->p2 = next_value(at, end) % 8001;
  c->p1 = next_value(at, end) % (c->p2 + 1);
  c->p1_ground = next_value(at, end) % (c->p1 + 2) - 1;
  c->adaptive_p2 = next_value(at, end) % 2;
  c->p2_min = c->p1 + next_value(at, end) % (c->p2 - c->p1 + 1);
  c->p2_gradient = next_value(at, end) % 256;
  c->uniqueness = next_value(at, end) % 100;
  c->max_lr_diff = next_value(at, end) % 514 - 1;
  c->subpixel = next_value(at, end) % 2;
  c->subpixel_fit = (RvSgmFit)(next_value(at, end) % 3);
  c->median = "\0\3\5"[next_value(at, end) % 3];
  c->speckle_size = next_value(at, end);
  c->speckle_range = next_value(at, end) % 65;
  c->reject_sky = next_value(at, end) % 2;
  c->fill = (RvSgmFill)(next_value(at, end) % 2);
  c->confidence = next_value(at, end) % 2;
  c->threads = 1 + next_value(at, end) % 3;
  c->stage_times = next_value(at, end) % 2;
}

static void fuzz(const uint8_t *bytes, size_t size) {
  const uint8_t *at = bytes, *end = bytes + size;
  RvSgmConfig c;
  rv_sgm_config_init(&c);
  int *fields = &c.width; /* the numbers of the config, from width to threads */
  for (size_t i = 0; i < offsetof(RvSgmConfig, threads) / sizeof(int); i++)
    fields[i] = (int16_t)(i * 2 + 1 < size ? bytes[2 * i] << 8 | bytes[2 * i + 1] : 7 * (int)i);
  if (rv_sgm_config_check(&c) == RV_OK && rv_sgm_workspace(&c, RV_CPU) == 0)
    abort();
  fuzz_config(&at, end, &c);
  const size_t n = (size_t)c.width * (size_t)c.height;
  uint8_t *pixels = calloc(n, 5);
  RvSgm *sgm = NULL;
  if (rv_sgm_config_check(&c) != RV_OK || !pixels || rv_sgm_new(&sgm, &c, RV_CPU) != RV_OK)
    abort();
  for (size_t i = 0; i < 2 * n; i++)
    pixels[i] = (uint8_t)(at < end ? *at++ : i * 37 >> (i & 7));
  const RvPlane left = {pixels, c.width, c.width, c.height, RV_U8};
  const RvPlane right = {pixels + n, c.width, c.width, c.height, RV_U8};
  uint16_t *values = calloc(n, sizeof *values);
  const RvPlane disparity = {values, 2 * c.width, c.width, c.height, RV_U16};
  const RvPlane confidence = {pixels + 4 * n, c.width, c.width, c.height, RV_U8};
  if (!values || rv_sgm_run(sgm, &left, &right, &disparity, &confidence, NULL) != RV_OK)
    abort();
  const int highest = RV_SGM_SCALE * (c.min_disparity + c.disparities);
  for (size_t i = 0; i < n; i++)
    if (values[i] > highest || (c.confidence && !values[i] && pixels[4 * n + i]))
      abort();
  rv_sgm_free(&sgm);
  free(values);
  free(pixels);
}

const RvCases rv_sgm_cases = {"sgm", parity, rv_sgm_bench, fuzz};
