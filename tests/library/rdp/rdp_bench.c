/* SPDX-License-Identifier: MIT */
/* rdp_bench.c: the timed rows, on the disparity images that the peers were timed on: a street
 * after a median filter, the same raw with 1 % of outliers, smooth ground, and noise. They are
 * rendered at 375 rows and scaled to 1024 as in section 5 of the paper, in float, and rounded to
 * 1/16 px (a 0 becomes 1: it is a value there). Each image says from where in the sequence of
 * random numbers it is made, and the FNV-1a hash of its values. */
#include "rdp/rdp_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdp/rdp_reference.h"

#define WIDTH 1242
#define ROWS 375 /* of the rendered image */

typedef struct Image {
  const char *name;
  uint64_t state;        /* of the generator, before this image */
  float sigma, outliers; /* px, share */
  int is_filtered, kind; /* kind 0 street, 1 ground, 2 noise */
  int height;
  uint64_t hash;
} Image;

#define MEDIAN(height) UINT64_C(0xc30da22f27866574), 0.6f, 0.004f, 1, 0, height
#define RAW(height) UINT64_C(0x882c60c987218b0f), 0.8f, 0.010f, 0, 0, height
#define SMOOTH(height) UINT64_C(0x908d935908334dfe), 0.15f, 0.f, 1, 1, height
#define NOISE(height) UINT64_C(0xc8d5f0dff507b6bc), 0.f, 0.f, 0, 2, height

/* Those without a hash are the same streets at other heights, for the study in docs/studies/rdp.md. */
static const Image images[] = {
    {"1242x1024-median", MEDIAN(1024), UINT64_C(0x1cb65b56f7e73214)},
    {"1242x1024-raw", RAW(1024), UINT64_C(0xfc4183f1f87cdd2b)},
    {"1242x1024-smooth", SMOOTH(1024), UINT64_C(0x64a958b247e9904e)},
    {"1242x1024-noise", NOISE(1024), UINT64_C(0x60602e9e7898b579)},
    {"1242x375-median", UINT64_C(0x84b194f2a557e905), 0.6f, 0.004f, 1, 0, 375,
     UINT64_C(0x5660c2e599740fba)},
    {"1242x256-median", MEDIAN(256), 0},
    {"1242x256-raw", RAW(256), 0},
    {"1242x256-smooth", SMOOTH(256), 0},
    {"1242x256-noise", NOISE(256), 0},
    {"1242x512-median", MEDIAN(512), 0},
    {"1242x512-raw", RAW(512), 0},
    {"1242x512-smooth", SMOOTH(512), 0},
    {"1242x512-noise", NOISE(512), 0},
    {"1242x2048-median", MEDIAN(2048), 0},
    {"1242x2048-raw", RAW(2048), 0},
    {"1242x2048-smooth", SMOOTH(2048), 0},
    {"1242x2048-noise", NOISE(2048), 0},
    {"1242x4096-median", MEDIAN(4096), 0},
    {"1242x4096-noise", NOISE(4096), 0},
};

static float *floats(size_t count) {
  float *memory = calloc(count, sizeof *memory);
  if (!memory)
    abort();
  return memory;
}

/* --- Images ---------------------------------------------------------------------------------- */

static void put_boxes(float *d, uint64_t *state, float horizon) {
  for (int k = 0; k < 70; k++) {
    const float u = rvc_uniform(state), v = rvc_uniform(state);
    const float base = horizon + 5 + u * v * ((float)ROWS - horizon - 10);
    const float near = 3 + (base - horizon) * (96.f / ((float)ROWS - horizon));
    const int x0 = (int)(rvc_uniform(state) * (float)WIDTH);
    const int wide = (int)(8 + near * (0.5f + 2.5f * rvc_uniform(state)));
    const int top = (int)fmaxf(0.f, base - near * (1.0f + 3.5f * rvc_uniform(state)));
    const float slope = (rvc_uniform(state) - 0.5f) * 0.10f;
    for (int x = x0; x < (WIDTH < x0 + wide ? WIDTH : x0 + wide); x++)
      for (int y = top; (float)y < base && y < ROWS; y++) {
        const float value = near + slope * (float)(x - x0);
        if (value > d[y * WIDTH + x])
          d[y * WIDTH + x] = value;
      }
  }
}

static void filter(float *d) {
  float *from = floats(WIDTH * ROWS);
  memcpy(from, d, WIDTH * ROWS * sizeof *from);
  for (int y = 1; y < ROWS - 1; y++)
    for (int x = 1; x < WIDTH - 1; x++) {
      float window[9];
      for (int k = 0; k < 9; k++)
        window[k] = from[(y + k / 3 - 1) * WIDTH + x + k % 3 - 1];
      qsort(window, 9, sizeof window[0], rvc_by_float);
      d[y * WIDTH + x] = window[4];
    }
  free(from);
}

static float *render(const Image *image) {
  uint64_t state = image->state;
  float *d = floats(WIDTH * ROWS);
  const float horizon = 0.40f * (float)ROWS;
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < WIDTH; x++)
      d[y * WIDTH + x] =
          (float)y > horizon ? 3 + ((float)y - horizon) * (96.f / ((float)ROWS - horizon)) : 0.5f;
  if (image->kind == 0)
    put_boxes(d, &state, horizon);
  float *rough = floats(WIDTH * ROWS);
  if (!rvc_add_noise(rough, WIDTH, ROWS, 0.6f, 24, &state)) /* cells of 24, 12, 6 and 3 px */
    abort();
  for (int i = 0; i < WIDTH * ROWS; i++) {
    d[i] += image->sigma * rvc_gauss(&state) + image->sigma * 1.5f * rough[i];
    if (rvc_uniform(&state) < image->outliers)
      d[i] = rvc_uniform(&state) * 128;
    if (d[i] < 0)
      d[i] = 0;
  }
  free(rough);
  if (image->is_filtered)
    filter(d);
  return d;
}

static uint16_t to_value(float px) {
  const int value = (int)(px * 16 + 0.5f);
  return (uint16_t)(value > 0 ? value : 1);
}

static uint16_t *make(const Image *image) {
  const int height = image->height;
  uint16_t *out = malloc((size_t)WIDTH * (size_t)height * sizeof *out);
  if (!out)
    abort();
  if (image->kind == 2) {
    uint64_t state = image->state;
    for (int i = 0; i < WIDTH * height; i++)
      out[i] = to_value(rvc_uniform(&state) * 128);
    return out;
  }
  float *d = render(image);
  for (int y = 0; y < height; y++) {
    float fy = ((float)y + 0.5f) * (float)ROWS / (float)height - 0.5f;
    fy = fmaxf(0.f, fminf((float)ROWS - 1.001f, fy));
    const int row = (int)fy, next = row + 1 < ROWS ? row + 1 : ROWS - 1;
    const float t = fy - (float)row;
    for (int x = 0; x < WIDTH; x++)
      out[y * WIDTH + x] = to_value(d[row * WIDTH + x] * (1 - t) + d[next * WIDTH + x] * t);
  }
  free(d);
  return out;
}

static uint64_t hash_of(const uint16_t *values, size_t count) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ values[i]) * UINT64_C(1099511628211);
  return hash;
}

/* --- Rows ------------------------------------------------------------------------------------ */

typedef struct Bench {
  RvRdpConfig config;
  RvRdp *rdp;
  RvPlane source;
  RvRdpOutput output;
  uint16_t *rows; /* of the plain recursion */
} Bench;

static RvStatus run(void *user, RvStream stream) {
  const Bench *bench = user;
  return rv_rdp_run(bench->rdp, &bench->source, &bench->output, stream);
}

static RvStatus run_plain(void *user, RvStream stream) {
  const Bench *bench = user;
  (void)stream;
  rdp_plain_recursion(&bench->config, &bench->source, bench->rows, &bench->output);
  return RV_OK;
}

/* Fills `result`, which the other ways are compared with. */
static void bench_cpu(RvCheck *check, const char *name, Bench *bench, RdpResult *result) {
  bench->output = rdp_result_output(result);
  bench->output.reconstruction.data = NULL;
  bench->output.columns = NULL;
  const int ok =
      rv_rdp_new(&bench->rdp, &bench->config, RV_CPU) == RV_OK && run(bench, NULL) == RV_OK;
  rvc_true(check, name, ok, "the CPU engine fails");
  if (ok && rvc_cpu(check))
    rvc_bench(check, name, RV_CPU, run, bench);
  rv_rdp_free(&bench->rdp);
}

static int is_same_list(const RdpResult *a, const RdpResult *b) {
  return memcmp(a->offsets, b->offsets, (WIDTH + 1) * sizeof *a->offsets) == 0 &&
         memcmp(a->segments, b->segments, a->offsets[WIDTH] * sizeof *a->segments) == 0;
}

/* What the CPU engine is compared with; both must find the same. */
static void bench_plain(RvCheck *check, const char *name, Bench *bench, const RdpResult *result) {
  RdpResult other = rdp_result_new(&bench->config, rv_rdp_segments_max(&bench->config));
  bench->output = rdp_result_output(&other);
  bench->rows = malloc((size_t)WIDTH * (size_t)bench->config.height * sizeof *bench->rows);
  if (bench->rows && run_plain(bench, NULL) == RV_OK)
    rvc_bench(check, name, RV_CPU, run_plain, bench);
  free(bench->rows);
  rvc_true(check, name, is_same_list(result, &other), "engine and plain recursion differ");
  rdp_result_free(&other);
}

static void bench_cuda(RvCheck *check, const char *name, Bench *bench, const RdpResult *result) {
  RdpResult got = rdp_result_new(&bench->config, rv_rdp_segments_max(&bench->config));
  RvPlane host = bench->source, mask = {NULL, WIDTH, WIDTH, host.height, RV_U8};
  void *segments = NULL, *offsets = NULL;
  const uint32_t room = rv_rdp_segments_max(&bench->config);
  if (rvc_upload(check, &bench->source, &host) && rvc_upload(check, &bench->output.mask, &mask) &&
      rv_buffer_new(&segments, room * sizeof(RvSegment), RV_CUDA) == RV_OK &&
      rv_buffer_new(&offsets, (WIDTH + 1) * sizeof(uint32_t), RV_CUDA) == RV_OK &&
      rv_rdp_new(&bench->rdp, &bench->config, RV_CUDA) == RV_OK) {
    bench->output.segments = segments;
    bench->output.capacity = room;
    bench->output.offsets = offsets;
    rvc_bench(check, name, RV_CUDA, run, bench);
    rvc_true(check, name,
             run(bench, NULL) == RV_OK &&
                 rv_copy_to_host(got.offsets, offsets, (WIDTH + 1) * sizeof(uint32_t), NULL) ==
                     RV_OK &&
                 rv_copy_to_host(got.segments, segments, room * sizeof(RvSegment), NULL) == RV_OK &&
                 rv_stream_wait(NULL) == RV_OK && is_same_list(result, &got),
             "the engines differ");
  }
  rdp_result_free(&got);
  rv_rdp_free(&bench->rdp);
  rvc_device_free(&bench->source);
  rvc_device_free(&bench->output.mask);
  rv_buffer_free(&segments, RV_CUDA);
  rv_buffer_free(&offsets, RV_CUDA);
}

void rdp_bench(RvCheck *check) {
  for (size_t k = 0; k < sizeof images / sizeof images[0]; k++) {
    const Image *image = &images[k];
    char name[64], group[96];
    snprintf(name, sizeof name, "rdp/%s", image->name);
    snprintf(group, sizeof group, "%s-recursion", name);
    if (!rvc_wants(check, name) && !rvc_wants(check, group))
      continue;
    uint16_t *source = make(image);
    const uint64_t hash = hash_of(source, (size_t)WIDTH * (size_t)image->height);
    rvc_true(check, name, image->hash == 0 || hash == image->hash,
             "the input is not the peers': its hash is %016llx, not %016llx",
             (unsigned long long)hash, (unsigned long long)image->hash);
    Bench bench = {.source = {source, 2 * WIDTH, WIDTH, image->height, RV_U16}};
    rv_rdp_config_init(&bench.config);
    bench.config.width = WIDTH;
    bench.config.height = image->height;
    bench.config.epsilon = 4;
    bench.config.log = rvc_log(check);
    RdpResult result = rdp_result_new(&bench.config, rv_rdp_segments_max(&bench.config));
    bench_cpu(check, name, &bench, &result);
    if (rvc_cpu(check) && image->hash)
      bench_plain(check, group, &bench, &result);
    memset(&bench.output, 0, sizeof bench.output);
    if (rvc_cuda(check))
      bench_cuda(check, name, &bench, &result);
    rdp_result_free(&result);
    free(source);
  }
}
