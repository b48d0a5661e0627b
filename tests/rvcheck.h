/* SPDX-License-Identifier: MIT */
/* rvcheck.h: how an algorithm shows itself to parity, benchmark and fuzz (the checkasm idea). Every
 * tests/library/x/x_cases.c defines `const RvCases rv_x_cases`; cuda/algorithms.def lists the
 * names. */
#ifndef RVCHECK_H
#define RVCHECK_H

#include <stdint.h>

#include "rv.h"
#include "rv_params.h"

typedef struct RvCheck RvCheck;

typedef struct RvCases {
  const char *name;               /* "sgm" */
  void (*parity)(RvCheck *check); /* own proofs of the CPU engine, then CPU = CUDA */
  void (*bench)(RvCheck *check);  /* named sizes; NULL: nothing to time */
  void (*fuzz)(const uint8_t *bytes, size_t size); /* bytes -> config and pixels, RV_CPU; or NULL */
} RvCases;

/* What this run tests: rvc_wants(check, "sgm/census") is 0 when --only names others. */
int rvc_wants(RvCheck *check, const char *name);

/* 1 when the CUDA engine takes part in this run (device there, and not --engine cpu). */
int rvc_cuda(const RvCheck *check);

/* 1 when the CPU engine is to be timed (benchmarks; not --engine cuda). */
int rvc_cpu(const RvCheck *check);

/* 1 with --small (runs under a sanitizer, 100 times slower): leave out inputs above about 100 x 100
 * px, keep every kind of case. */
int rvc_small(const RvCheck *check);

/* 1 with --model: bench() is to fit and judge the algorithm's time model, if it has one. */
int rvc_model(const RvCheck *check);

/* Log to pass into configs; lines go to stderr with the case's name when --verbose, and the last
 * one is printed with a failure. */
RvLog rvc_log(RvCheck *check);

/* Reproducible random numbers from --seed; independent of the order of cases. */
typedef struct RvRandom {
  uint64_t state;
} RvRandom;
RvRandom rvc_random(RvCheck *check, const char *name);
uint32_t rvc_next(RvRandom *random);                /* 32 random bits */
int rvc_range(RvRandom *random, int low, int high); /* low..high inclusive */

/* Numbers of synthetic images, from one xorshift sequence: 32 bits, 0 to below 1, deviation 1. */
uint32_t rvc_xorshift(uint64_t *state);
float rvc_uniform(uint64_t *state);
float rvc_gauss(uint64_t *state);

/* Adds octaves of value noise to w x h numbers, in cells of `base` px and each half as large as the
 * one before, `gain` times as strong. 0 without memory. */
int rvc_add_noise(float *out, int w, int h, float gain, int base, uint64_t *state);

/* Orders for qsort: floats, and values with weights. */
typedef struct RvcWeighted {
  int key, weight;
} RvcWeighted;
int rvc_by_float(const void *a, const void *b);
int rvc_by_key(const void *a, const void *b);

/* Images for parity: random, all 0, all 255, ramp, checker, smooth noise. */
enum { RVC_RANDOM, RVC_ZERO, RVC_ONES, RVC_RAMP, RVC_CHECKER, RVC_SMOOTH, RVC_KINDS };
void rvc_fill_u8(RvRandom *random, int kind, uint8_t *out, int width, int height, ptrdiff_t stride);

/* A parity case: `run` receives its name and random numbers of its own; with --only it is omitted
 * when its name is not asked for. One that returns counts as a check. Or, with `group` alone, the
 * cases of another source. */
typedef struct RvCase {
  const char *name; /* "sgm/census" */
  void (*run)(RvCheck *check, const char *name, RvRandom *random);
  unsigned flags; /* RVC_LARGE, RVC_ON_CUDA */
  void (*group)(RvCheck *check);
} RvCase;
enum {
  RVC_LARGE = 1,  /* omitted with --small */
  RVC_ON_CUDA = 2 /* omitted where the CUDA engine is not used */
};
void rvc_cases(RvCheck *check, const RvCase *cases, size_t count);

#define RVC_CASE(its_name, function, its_flags)                                                    \
  { .name = its_name, .run = function, .flags = its_flags }

/* Defines a function that runs cases in turn, RVC_CASES (function, RVC_CASE ("sgm/sky", check_sky,
 * 0), {.group = others}), and that of an RvCases, static. */
#define RVC_CASES(function, ...)                                                                   \
  void function(RvCheck *check) {                                                                  \
    static const RvCase cases[] = {__VA_ARGS__};                                                   \
    rvc_cases(check, cases, sizeof cases / sizeof cases[0]);                                       \
  }                                                                                                \
  struct RvCases /* takes the semicolon */
#define RVC_PARITY(...) static RVC_CASES(parity, __VA_ARGS__)

/* Sets parameters of a config by name: "width=103 height=61 threads=2". Aborts the test program
 * where one of them does not exist or is not valid. */
void rvc_set(const RvParams *params, void *config, const char *settings);

/* Results. `what` says case and parameters; a failure prints once and is counted. */
void rvc_ok(RvCheck *check, const char *name);
void rvc_fail(RvCheck *check, const char *name, const char *format, ...) RV_PRINTF(3, 4);
/* Expression must hold. */
int rvc_true(RvCheck *check, const char *name, int condition, const char *format, ...)
    RV_PRINTF(4, 5);
/* Compares two rasters of host memory bit for bit; prints x, y, both values, `what`, the seed. */
int rvc_same(RvCheck *check, const char *name, const RvPlane *expected, const RvPlane *got,
             const char *what);

/* The same for dense rasters of that size, of which `what` is text and part. */
int rvc_same_dense(RvCheck *check, const char *name, const void *expected, const void *got,
                   int width, int height, RvFormat format, const char *what, const char *part);

/* Raster in host memory, dense and cleared, for free(); ends the program when there is none. */
RvPlane rvc_plane(int width, int height, RvFormat format);

/* The same for `count` rasters, and their end. */
void rvc_planes(RvPlane *planes, int count, int width, int height, RvFormat format);
void rvc_planes_free(RvPlane *planes, int count);

/* Host memory, cleared, for free(); ends the program when there is none. */
void *rvc_memory(size_t bytes);

/* Index of the first damaged guard of an object's memory; -1: all are intact, or the library was
 * built without RV_CANARIES. Synchronizes. */
struct RvArena;
int rvc_damaged_guard(const struct RvArena *arena);

/* A field of a config that bytes of a fuzzer set: low + step * (byte number `at` modulo `values`),
 * valid or not. values 0: the byte as it is. */
typedef struct RvFuzzField {
  const char *name; /* of the parameter */
  int at;
  double low, step;
  int values;
} RvFuzzField;

/* Defaults, the fields, and one thread. */
void rvc_fuzz_config(const RvParams *params, void *config, const RvFuzzField *fields, size_t count,
                     const uint8_t *bytes);
#define RVC_FUZZ_CONFIG(x, config, fields, bytes)                                                  \
  rvc_fuzz_config(rv_##x##_params(), config, fields, sizeof(fields) / sizeof(fields)[0], bytes)

/* Dense RV_U16 raster of width x height, for free(): the bytes in turn, shifted to the left. */
RvPlane rvc_fuzz_u16(int width, int height, const uint8_t *bytes, size_t size, int shift);

/* Device copies for tests: allocate with padded rows, upload, download; a failure is counted and 0
 * returned. rvc_upload fills in all of `device`, whatever it held; without host->data it only
 * allocates. */
int rvc_upload(RvCheck *check, RvPlane *device, const RvPlane *host);
int rvc_download(RvCheck *check, const RvPlane *host, const RvPlane *device);
void rvc_device_free(RvPlane *device);

/* Times `run(user, stream)`: warm-up, then the median and 95th percentile; for RV_CUDA events round
 * replays of a graph of eight runs, over eight, for RV_CPU the monotonic clock round single runs.
 * Prints `bench NAME ENGINE median_us=X p95_us=Y`. Does nothing when --only or --engine leaves the
 * row out. Returns the median in µs, 0 when nothing was timed. */
double rvc_bench(RvCheck *check, const char *name, RvEngine engine,
                 RvStatus (*run)(void *user, RvStream stream), void *user);

/* The same where run() takes the next frame of a sequence of `frames` (a multiple of 8, at most
 * RVC_SEQUENCE) at each call: graphs of eight frames follow one another through all of it. */
#define RVC_SEQUENCE 64
double rvc_bench_sequence(RvCheck *check, const char *name, RvEngine engine, int frames,
                          RvStatus (*run)(void *user, RvStream stream), void *user);

#endif
