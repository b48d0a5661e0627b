/* SPDX-License-Identifier: MIT */
/* rdp_cases.c: column segmentation against hand-computed columns and the plain recursion, CPU =
 * CUDA, and fuzz input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdp/rdp_bench.h"
#include "rdp/rdp_cpu_column.h"
#include "rdp/rdp_render_cases.h"
#include "rdp/rdp_reference.h"

/* --- Inputs ---------------------------------------------------------------------------------- */

enum Kind {
  KIND_NOISE,
  KIND_NOISE_HOLES,
  KIND_SMOOTH,
  KIND_RAW, /* pieces of lines, noise, outliers, holes, as stereo matching gives them */
  KIND_CONSTANT,
  KIND_INVALID,
  KIND_OUTLIER,
  KIND_EXTREMES,
  KIND_BENT, /* one long arc: the deepest recursion */
  KIND_STEPS,
  KIND_RUNS, /* runs of one to four rows between gaps */
  KINDS
};

static const char *const kind_names[KINDS] = {
    "noise",   "noise with holes", "smooth", "raw",   "constant", "invalid",
    "outlier", "extremes",         "bent",   "steps", "runs"};

typedef struct Walk {
  int value, slope; /* 1/256 of a value */
} Walk;

static int next_value(RvRandom *random, int kind, int x, int y, int height, Walk *walk) {
  const int dice = rvc_range(random, 0, 999);
  switch (kind) {
  case KIND_NOISE:
    return rvc_range(random, 1, 2048);
  case KIND_NOISE_HOLES:
    return dice < 300 ? 0 : rvc_range(random, 1, 65535);
  case KIND_SMOOTH:
    return 16 + (y * 1500) / height + x % 7;
  case KIND_RAW:
    if (dice < 25)
      *walk = (Walk){rvc_range(random, 256, 1500 * 256), rvc_range(random, -800, 800)};
    walk->value += walk->slope;
    walk->value = walk->value < 256 ? 256 : walk->value > 2048 * 256 ? 2048 * 256 : walk->value;
    return dice > 985   ? rvc_range(random, 1, 2048)
           : dice > 940 ? 0
                        : walk->value / 256 + rvc_range(random, 0, 6);
  case KIND_CONSTANT:
    return 777;
  case KIND_INVALID:
    return 0;
  case KIND_OUTLIER:
    return y == height / 3 ? 60000 : 300;
  case KIND_EXTREMES:
    return dice < 480 ? 1 : dice < 960 ? 65535 : 0;
  case KIND_BENT:
    return 1 + (int)(65534.0 * y * y / ((double)height * height));
  case KIND_STEPS:
    return 200 + 160 * (y / (5 + x % 40) % 9);
  default:
    if (walk->value-- <= 0)
      walk->value = rvc_range(random, 1, 5);
    return walk->value == 0 ? 0 : rvc_range(random, 1, 900);
  }
}

static uint16_t *make_input(RvRandom *random, int kind, int width, int height) {
  uint16_t *source = malloc((size_t)width * (size_t)height * sizeof *source);
  if (!source)
    abort();
  for (int x = 0; x < width; x++) {
    Walk walk = {256 * 100, 200};
    for (int y = 0; y < height; y++)
      source[(size_t)y * (size_t)width + (size_t)x] =
          (uint16_t)next_value(random, kind, x, y, height, &walk);
  }
  return source;
}

static RvPlane plane_of(const uint16_t *source, int width, int height) {
  return (RvPlane){(void *)(uintptr_t)source, 2 * (ptrdiff_t)width, width, height, RV_U16};
}

/* --- Running the engines --------------------------------------------------------------------- */

static RvStatus run_cpu(const RvRdpConfig *config, const uint16_t *source,
                        const RvRdpOutput *output) {
  const RvPlane plane = plane_of(source, config->width, config->height);
  RvRdp *rdp = NULL;
  RvStatus status = rv_rdp_new(&rdp, config, RV_CPU);
  for (int run = 0; run < 2 && status == RV_OK; run++) /* a second frame finds a used object */
    status = rv_rdp_run(rdp, &plane, output, NULL);
  rv_rdp_free(&rdp);
  return status;
}

/* An output array on the device: `host` is copied there first and back afterwards. */
typedef struct Array {
  void *host, *device;
  size_t bytes;
} Array;

static int to_device(Array *array) {
  return array->bytes == 0 ||
         (rv_buffer_new(&array->device, array->bytes, RV_CUDA) == RV_OK &&
          rv_copy_to_device(array->device, array->host, array->bytes, NULL) == RV_OK);
}

static int from_device(Array *array) {
  const int ok =
      array->bytes == 0 || rv_copy_to_host(array->host, array->device, array->bytes, NULL) == RV_OK;
  rv_buffer_free(&array->device, RV_CUDA);
  return ok;
}

/* Outputs that are NULL in `wanted` are omitted. */
static void run_cuda(RvCheck *check, const char *name, const RvRdpConfig *config,
                     const uint16_t *source, const RdpResult *got, const RvRdpOutput *wanted,
                     const char *what) {
  const RvPlane plane = plane_of(source, config->width, config->height);
  const RvRdpOutput host = rdp_result_output(got);
  RvRdpOutput output = host;
  RvPlane input = {0};
  Array arrays[3] = {{got->segments, NULL, got->room * sizeof(RvSegment)},
                     {got->offsets, NULL, ((size_t)got->width + 1) * sizeof(uint32_t)},
                     {got->columns, NULL, (size_t)got->width * sizeof(RvRdpColumn)}};
  if (!rvc_upload(check, &input, &plane) || !rvc_upload(check, &output.mask, &host.mask) ||
      !rvc_upload(check, &output.reconstruction, &host.reconstruction))
    return;
  int ok = to_device(&arrays[0]) && to_device(&arrays[1]) && to_device(&arrays[2]);
  output.segments = wanted->segments ? arrays[0].device : NULL;
  output.offsets = wanted->offsets ? arrays[1].device : NULL;
  output.columns = wanted->columns ? arrays[2].device : NULL;
  const RvRdpOutput made = output;
  if (!wanted->mask.data)
    output.mask.data = NULL;
  if (!wanted->reconstruction.data)
    output.reconstruction.data = NULL;
  RvRdp *rdp = NULL;
  RvStatus status = rv_rdp_new(&rdp, config, RV_CUDA);
  for (int run = rvc_small(check); run < 3 && status == RV_OK; run++)
    status = rv_rdp_run(rdp, &input, &output, NULL);
  if (status == RV_OK)
    status = rv_stream_wait(NULL);
  rvc_true(check, name, status == RV_OK, "%s: %s", what, rv_status_text(status));
  for (int k = 0; k < 3; k++)
    ok &= from_device(&arrays[k]);
  rvc_true(check, name, ok, "%s: copies to and from the device", what);
  output = made;
  rvc_download(check, &host.mask, &output.mask);
  rvc_download(check, &host.reconstruction, &output.reconstruction);
  rv_rdp_free(&rdp);
  rvc_device_free(&input);
  rvc_device_free(&output.mask);
  rvc_device_free(&output.reconstruction);
}

/* Both engines against the reference. */
static void check_input(RvCheck *check, const char *name, const RvRdpConfig *config,
                        const uint16_t *source, uint32_t room, const char *kind) {
  char what[240];
  snprintf(what, sizeof what,
           "%s %dx%d, epsilon %.4f, distance %d, invalid %d, median %d, levels %d, room %u", kind,
           config->width, config->height, config->epsilon, (int)config->distance,
           (int)config->invalid, config->median, config->max_levels, room);
  RdpResult want = rdp_result_new(config, room), got = rdp_result_new(config, room);
  rdp_reference(config, source, &want);
  RvRdpOutput output = rdp_result_output(&got);
  const RvStatus status = run_cpu(config, source, &output);
  if (rvc_true(check, name, status == RV_OK, "%s: %s", what, rv_status_text(status)))
    rdp_result_same(check, name, &want, &got, what);
  rdp_result_free(&got);
  if (rvc_cuda(check)) {
    char cuda[260];
    snprintf(cuda, sizeof cuda, "CUDA, %s", what);
    got = rdp_result_new(config, room);
    output = rdp_result_output(&got);
    run_cuda(check, name, config, source, &got, &output, cuda);
    rdp_result_same(check, name, &want, &got, cuda);
    rdp_result_free(&got);
  }
  rdp_result_free(&want);
}

static RvRdpConfig random_config(RvCheck *check, RvRandom *random, int width, int height) {
  static const double epsilons[] = {0, 1.0 / 4096, 0.25, 1, 4, 8, 100, 4095};
  RvRdpConfig c;
  rv_rdp_config_init(&c);
  c.log = rvc_log(check);
  c.width = width;
  c.height = height;
  c.epsilon = rvc_range(random, 0, 3) ? epsilons[rvc_range(random, 0, 7)]
                                      : rvc_range(random, 0, 40000) / 1000.0;
  c.distance = (RvRdpDistance)rvc_range(random, 0, 1);
  c.invalid = (RvRdpInvalid)rvc_range(random, 0, 1);
  c.median = rvc_range(random, 0, 2) ? 0 : 3 + 2 * rvc_range(random, 0, 1);
  c.max_levels = rvc_range(random, 0, 3) ? 0 : rvc_range(random, 1, 12);
  c.threads = rvc_range(random, 0, 3);
  return c;
}

static void check_kinds(RvCheck *check) {
  static const int heights[] = {1,  2,  3,  4,  31, 32,  33,   34,  35,
                                63, 64, 65, 96, 97, 375, 1023, 1024};
  for (int kind = 0; kind < KINDS; kind++) {
    char name[64];
    snprintf(name, sizeof name, "rdp/%s", kind_names[kind]);
    if (!rvc_wants(check, name))
      continue;
    RvRandom random = rvc_random(check, name);
    for (size_t k = 0; k < sizeof heights / sizeof heights[0]; k++)
      for (int round = 0; round < 4; round++) {
        const int height = heights[k];
        if (rvc_small(check) && (height > 97 || round != (int)k % 4 || ((int)k + kind) % 3))
          continue;
        const int width = rvc_range(&random, 1, height > 100 ? 150 : 40);
        const RvRdpConfig c = random_config(check, &random, width, height);
        uint16_t *source = make_input(&random, kind, width, height);
        const uint32_t most = rv_rdp_segments_max(&c);
        const uint32_t room = round == 3 ? (uint32_t)rvc_range(&random, 0, (int)most) : most;
        check_input(check, name, &c, source, room, kind_names[kind]);
        free(source);
      }
  }
}

/* The size of the benchmark, defaults and both ways of dealing with holes; then the tallest columns
 * and the widest image. */
static void check_sizes(RvCheck *check, const char *name, RvRandom *random) {
  static const int sizes[][2] = {{1242, 1024}, {1242, 375}, {2500, 64},
                                 {40, 4096},   {3, 16384},  {16384, 5}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (int round = 0; round < 4; round++) {
      static const int kinds[4] = {KIND_RAW, KIND_NOISE, KIND_RUNS, KIND_BENT};
      RvRdpConfig c = random_config(check, random, sizes[k][0], sizes[k][1]);
      c.epsilon = round == 3 ? 1 : 4;
      c.median = 0;
      c.max_levels = 0;
      c.invalid = round == 2 ? RV_RDP_BREAK : RV_RDP_SKIP;
      uint16_t *source = make_input(random, kinds[round], c.width, c.height);
      check_input(check, name, &c, source, rv_rdp_segments_max(&c), kind_names[kinds[round]]);
      free(source);
    }
}

/* --- Hand-worked columns ---------------------------------------------------------------------- */

typedef struct Worked {
  const char *what;
  int height;
  uint16_t d[12];
  double epsilon;
  RvRdpDistance distance;
  RvRdpInvalid invalid;
  int max_levels;
  const char *mask; /* . none, e end, c cut */
  int levels, segments;
  uint32_t error_sum;
} Worked;

#define UP RV_RDP_VERTICAL
#define ACROSS RV_RDP_PERPENDICULAR
#define SKIP RV_RDP_SKIP
#define BREAK RV_RDP_BREAK

/* clang-format off */
static const Worked worked[] = {
    {"a constant column is one segment, even at epsilon 0",
     6, {80, 80, 80, 80, 80, 80}, 0, UP, SKIP, 0, "e....e", 1, 1, 0},
    {"a deviation of epsilon is no cut: 16 at the middle of 0 to 0",
     3, {32, 48, 32}, 1, UP, SKIP, 0, "e.e", 1, 1, 16},
    {"one more is",
     3, {32, 49, 32}, 1, UP, SKIP, 0, "ece", 2, 2, 0},
    {"of two equal ones the upper is cut",
     6, {16, 16, 64, 64, 16, 16}, 1, UP, SKIP, 2, "e.c..e", 2, 2, 24 + 16 + 16},
    {"without the limit: the foot above too, those below lie just at epsilon",
     6, {16, 16, 64, 64, 16, 16}, 1, UP, SKIP, 0, "ecc..e", 3, 3, 16 + 16},
    {"invalid rows have no say and are bridged",
     7, {0, 10, 0, 0, 40, 50, 0}, 0, UP, SKIP, 0, ".e...e.", 1, 1, 0},
    {"invalid rows break",
     7, {0, 10, 0, 0, 40, 50, 0}, 0, UP, BREAK, 0, ".e..ee.", 1, 2, 0},
    {"nothing valid",
     4, {0, 0, 0, 0}, 1, UP, SKIP, 0, "....", 0, 0, 0},
    {"one valid row",
     4, {0, 0, 9, 0}, 1, UP, SKIP, 0, "..e.", 1, 1, 0},
    {"two rows",
     2, {9, 900}, 0, UP, BREAK, 0, "ee", 1, 1, 0},
    {"one row",
     1, {5}, 0, ACROSS, BREAK, 0, "e", 1, 1, 0},
    /* 0 to 60 px over 6 rows: row 3 lies 10 px above the line, but 10/sqrt(101) = 0.995 px off */
    {"vertically 10 px off",
     7, {16, 176, 336, 656, 656, 816, 976}, 9.9, UP, SKIP, 0, "e..c..e", 2, 2, 53 + 107 + 107 + 53},
    {"that is 0.995 px off the slanted line",
     7, {16, 176, 336, 656, 656, 816, 976}, 0.994, ACROSS, SKIP, 0, "e..c..e", 2, 2,
     53 + 107 + 107 + 53},
    {"and no more",
     7, {16, 176, 336, 656, 656, 816, 976}, 0.996, ACROSS, SKIP, 0, "e.....e", 1, 1, 160},
    {"one level: no cut at all",
     3, {16, 9000, 16}, 1, UP, SKIP, 1, "e.e", 1, 1, 8984},
};
/* clang-format on */

static void check_worked(RvCheck *check, const char *name, RvRandom *random) {
  for (size_t k = 0; k < sizeof worked / sizeof worked[0]; k++) {
    const Worked *w = &worked[k];
    RvRdpConfig c;
    rv_rdp_config_init(&c);
    c.log = rvc_log(check);
    c.width = 1;
    c.height = w->height;
    c.epsilon = w->epsilon;
    c.distance = w->distance;
    c.invalid = w->invalid;
    c.max_levels = w->max_levels;
    RdpResult got = rdp_result_new(&c, 12);
    const RvRdpOutput output = rdp_result_output(&got);
    const RvStatus status = run_cpu(&c, w->d, &output);
    char mask[16] = "";
    for (int y = 0; y < w->height; y++)
      mask[y] = got.mask[y] == RV_RDP_CUT ? 'c' : got.mask[y] == RV_RDP_END ? 'e' : '.';
    const RvRdpColumn *column = &got.columns[0];
    rvc_true(check, name,
             status == RV_OK && strcmp(mask, w->mask) == 0 && column->levels == w->levels &&
                 (int)column->segments == w->segments && column->error_sum == w->error_sum,
             "%s: mask %s levels %d segments %u error %u, expected %s %d %d %u", w->what, mask,
             column->levels, column->segments, column->error_sum, w->mask, w->levels, w->segments,
             w->error_sum);
    check_input(check, name, &c, w->d, 12, w->what);
    rdp_result_free(&got);
  }
}

/* --- Details ---------------------------------------------------------------------------------- */

/* Every instruction set of this machine cuts alike. */
static void check_instruction_sets(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < 200; round++) {
    const int height = rvc_range(random, 2, round % 2 ? 60 : 700);
    uint16_t d[700 + RV_RDP_OVERREAD] = {0};
    uint16_t *source = make_input(random, round % KINDS, 1, height);
    memcpy(d, source, (size_t)height * sizeof *d);
    free(source);
    if (d[0] == 0 || d[height - 1] == 0)
      d[0] = d[height - 1] = 500;
    const RvRdpLimit limit = {(uint32_t)rvc_range(random, 0, 20000), round % 3 == 0, 20};
    uint32_t cuts[2][22];
    RvRdpPending pending[700];
    const RvRdpKernels *base = &rv_rdp_kernels_base;
    memset(cuts, 0, sizeof cuts);
    const int levels = base->split(d, 0, height - 1, &limit, pending, cuts[0]);
    for (int k = 0; rv_rdp_cpu_kernels(k); k++) {
      memset(cuts[1], 0, sizeof cuts[1]);
      const int got = rv_rdp_cpu_kernels(k)->split(d, 0, height - 1, &limit, pending, cuts[1]);
      rvc_true(check, name, got == levels && memcmp(cuts[0], cuts[1], sizeof cuts[0]) == 0,
               "%s differs from base: %s, %d rows, levels %d and %d", rv_rdp_cpu_kernels(k)->name,
               kind_names[round % KINDS], height, got, levels);
    }
  }
}

/* Outputs that are not asked for are not touched, the others are the same. */
static void check_one_missing(RvCheck *check, const char *name, const RvRdpConfig *c,
                              const uint16_t *source, int missing, RvEngine engine) {
  const uint32_t room = rv_rdp_segments_max(c);
  char what[80];
  snprintf(what, sizeof what, "%s, %dx%d, outputs omitted: %d", engine == RV_CUDA ? "CUDA" : "CPU",
           c->width, c->height, missing);
  RdpResult want = rdp_result_new(c, room), got = rdp_result_new(c, room);
  RdpResult untouched = rdp_result_new(c, room);
  rdp_reference(c, source, &want);
  RvRdpOutput out = rdp_result_output(&got);
#define LEAVE_OUT(bit, pointer, member)                                                            \
  if (missing & (bit)) {                                                                           \
    out.pointer = NULL;                                                                            \
    void *keep = want.member;                                                                      \
    want.member = untouched.member;                                                                \
    untouched.member = keep;                                                                       \
  }
  LEAVE_OUT(1, mask.data, mask)
  LEAVE_OUT(2, segments, segments)
  LEAVE_OUT(4, offsets, offsets)
  LEAVE_OUT(8, columns, columns)
  LEAVE_OUT(16, reconstruction.data, drawn)
#undef LEAVE_OUT
  for (int x = 0; (missing & 16) && !(missing & 8) && x < c->width; x++)
    want.columns[x].error_sum = want.columns[x].error_max = 0;
  if (engine == RV_CUDA)
    run_cuda(check, name, c, source, &got, &out, what);
  else
    rvc_true(check, name, run_cpu(c, source, &out) == RV_OK, "%s", what);
  rdp_result_same(check, name, &want, &got, what);
  rdp_result_free(&want);
  rdp_result_free(&got);
  rdp_result_free(&untouched);
}

static void check_missing(RvCheck *check, const char *name, RvRandom *random) {
  for (int missing = 0; missing < 32; missing++) {
    static const int kinds[] = {KIND_RAW, KIND_NOISE_HOLES, KIND_OUTLIER, KIND_SMOOTH};
    const RvRdpConfig c = random_config(check, random, 36 + missing % 3, 90 + missing % 2);
    uint16_t *source = make_input(random, kinds[missing % 4], c.width, c.height);
    check_one_missing(check, name, &c, source, missing, RV_CPU);
    if (rvc_cuda(check))
      check_one_missing(check, name, &c, source, missing, RV_CUDA);
    free(source);
  }
}

RVC_PARITY(RVC_CASE("rdp/worked", check_worked, 0),
           RVC_CASE("rdp/instruction-sets", check_instruction_sets, 0),
           RVC_CASE("rdp/missing", check_missing, 0), {.group = check_kinds},
           RVC_CASE("rdp/sizes", check_sizes, RVC_LARGE), {.group = rdp_render_parity});

/* --- Fuzz ------------------------------------------------------------------------------------- */

static void fuzz(const uint8_t *bytes, size_t size) {
  static const RvFuzzField fields[] = {{"width", 0, 1, 1, 20},       {"height", 1, 1, 1, 0},
                                       {"epsilon", 2, -1, 0.125, 0}, {"distance", 3, 0, 1, 3},
                                       {"invalid", 4, 0, 1, 3},      {"median", 5, 0, 1, 6},
                                       {"max-levels", 6, -1, 1, 0}};
  if (size < 9)
    return;
  RvRdpConfig c;
  RVC_FUZZ_CONFIG(rdp, &c, fields, bytes);
  if (rv_rdp_config_check(&c) != RV_OK)
    return;
  const size_t pixels = (size_t)c.width * (size_t)c.height;
  uint16_t *source = rvc_fuzz_u16(c.width, c.height, bytes + 7, size - 7, bytes[7] % 9).data;
  RdpResult want = rdp_result_new(&c, bytes[7] * 8u), got = rdp_result_new(&c, bytes[7] * 8u);
  const RvRdpOutput output = rdp_result_output(&got);
  rdp_reference(&c, source, &want);
  if (run_cpu(&c, source, &output) != RV_OK || memcmp(want.mask, got.mask, pixels) != 0 ||
      memcmp(want.segments, got.segments, want.room * sizeof *want.segments) != 0 ||
      memcmp(want.columns, got.columns, (size_t)c.width * sizeof *want.columns) != 0)
    abort();
  rdp_result_free(&want);
  rdp_result_free(&got);
  free(source);
}

const RvCases rv_rdp_cases = {"rdp", parity, rdp_bench, fuzz};
