/* SPDX-License-Identifier: MIT */
/* vote_cases.c: the six users of voting but Hough (which has cases of its own) against counting
 * loops, CPU = CUDA, benchmark rows, fuzz. */
#include "vote/vote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hough/hough_cases.h"
#include "hough/hough_inputs.h"
#include "rv_config.h"
#include "rvcheck.h"
#include "vote/vote_baselines.h"

typedef struct Trial {
  RvVoteConfig config;
  RvPlane input, votes;
} Trial;

/* Input of rows padded by `pad` values, votes dense; 0 when memory is exhausted. */
static int trial_new(Trial *t, const RvVoteConfig *config, int pad) {
  int columns, rows;
  t->config = *config;
  rv_vote_size(config, &columns, &rows);
  const ptrdiff_t stride =
      (ptrdiff_t)rv_format_bytes(config->format) * (config->width + (ptrdiff_t)pad);
  t->input = (RvPlane){calloc((size_t)config->height, (size_t)stride), stride, config->width,
                       config->height, config->format};
  t->votes = (RvPlane){malloc((size_t)columns * (size_t)rows * 4), columns * (ptrdiff_t)4, columns,
                       rows, RV_U32};
  return t->input.data && t->votes.data;
}

static void trial_free(Trial *t) {
  free(t->input.data);
  free(t->votes.data);
}

/* Random words of a kind that suits the format: NaN, infinite and huge floats too. */
static void fill(Trial *t, RvRandom *random, int kind) {
  const int bytes = (int)rv_format_bytes(t->config.format) * t->config.width;
  rvc_fill_u8(random, kind, t->input.data, bytes, t->config.height, t->input.stride);
  if (t->config.format != RV_F32 || kind == RVC_RANDOM)
    return;
  for (int y = 0; y < t->config.height; y++) {
    float *row = (float *)((char *)t->input.data + y * t->input.stride);
    for (int x = 0; x < t->config.width; x++)
      row[x] = ldexpf((float)(int32_t)rvc_next(random), rvc_range(random, -50, 4));
  }
}

static uint32_t value_at(const Trial *t, int x, int y) {
  const char *row = (const char *)t->input.data + y * t->input.stride;
  switch (t->config.format) {
  case RV_U8:
    return ((const uint8_t *)row)[x];
  case RV_U16:
    return ((const uint16_t *)row)[x];
  default:
    return ((const uint32_t *)row)[x];
  }
}

/* The value of a float in a sum, by the words of vote.h and the C library's rounding. */
static int64_t fixed_at(const Trial *t, int x, int y) {
  const float e = ((const float *)((const char *)t->input.data + y * t->input.stride))[x];
  if (isnan(e))
    return 0;
  return (int64_t)nearbyint(fmin(fmax((double)e, -2147483648.0), 2147483648.0) * 65536.0);
}

/* The counting loop: one element after the other, written from vote.h alone. */
static void count(const Trial *t, uint32_t *out) {
  const RvVoteConfig *c = &t->config;
  int64_t sum = 0;
  memset(out, 0, 4 * (size_t)t->votes.width * (size_t)t->votes.height);
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++) {
      const uint32_t e = value_at(t, x, y), r = e & 255, g = e >> 8 & 255, b = e >> 16 & 255;
      if (c->kind == RV_VOTE_HISTOGRAM) {
        out[(uint64_t)e * (uint64_t)c->bins / (c->format == RV_U16 ? 65536 : 256)]++;
      } else if (c->kind == RV_VOTE_COLOR) {
        out[r]++, out[256 + g]++, out[512 + b]++;
      } else if (c->kind == RV_VOTE_CHROMA && r + g + b > 0) {
        const uint32_t i = 30 * r / (r + g + b), j = 30 * g / (r + g + b);
        out[30 * (i > 29 ? 29 : i) + (j > 29 ? 29 : j)]++;
      } else if (c->kind == RV_VOTE_SUM) {
        sum += c->format == RV_F32 ? fixed_at(t, x, y) : (int64_t)e;
      } else if (c->kind == RV_VOTE_SUBSAMPLE) {
        out[y / c->factor * t->votes.width + x / c->factor] += e;
      }
    }
  if (c->kind == RV_VOTE_SUM) {
    out[0] = (uint32_t)(uint64_t)sum;
    out[1] = (uint32_t)((uint64_t)sum >> 32);
  }
}

/* Runs twice on one object, so that what a run leaves behind shows. */
static void run_on(RvCheck *check, const char *name, const Trial *t, RvEngine engine,
                   const RvPlane *expected, const char *what) {
  RvVote *vote = NULL;
  RvPlane input = t->input, votes = t->votes;
  RvStatus status = rv_vote_new(&vote, &t->config, engine);
  if (engine == RV_CUDA) {
    RvPlane none = t->votes;
    none.data = NULL;
    if (!rvc_upload(check, &input, &t->input) || !rvc_upload(check, &votes, &none)) {
      rv_vote_free(&vote);
      return;
    }
  }
  for (int i = 0; i < 2 && status == RV_OK; i++)
    status = rv_vote_run(vote, &input, &votes, NULL);
  if (rvc_true(check, name, status == RV_OK, "%s: %s", what, rv_status_text(status)) &&
      (engine == RV_CPU || rvc_download(check, &t->votes, &votes)))
    rvc_same(check, name, expected, &t->votes, what);
  rv_vote_free(&vote);
  if (engine == RV_CUDA) {
    rvc_device_free(&input);
    rvc_device_free(&votes);
  }
}

static void trial(RvCheck *check, const char *name, const RvVoteConfig *config, RvRandom *random,
                  int kind) {
  Trial t;
  char what[160];
  snprintf(what, sizeof what, "%dx%d kind %d format %d bins %d factor %d stretch %d input %d",
           config->width, config->height, (int)config->kind, (int)config->format, config->bins,
           config->factor, config->stretch, kind);
  RvPlane expected = {0};
  if (trial_new(&t, config, rvc_range(random, 0, 40))) {
    expected = t.votes;
    expected.data = malloc((size_t)t.votes.width * (size_t)t.votes.height * 4);
  }
  if (rvc_true(check, name, expected.data != NULL, "out of memory")) {
    fill(&t, random, kind);
    count(&t, expected.data);
    run_on(check, name, &t, RV_CPU, &expected, what);
    if (rvc_cuda(check))
      run_on(check, name, &t, RV_CUDA, &expected, what);
  }
  free(expected.data);
  trial_free(&t);
}

typedef struct User {
  const char *name;
  RvVoteKind kind;
  RvFormat format;
} User;

static const User users[] = {
    {"vote/histogram8", RV_VOTE_HISTOGRAM, RV_U8},
    {"vote/histogram16", RV_VOTE_HISTOGRAM, RV_U16},
    {"vote/color", RV_VOTE_COLOR, RV_U32},
    {"vote/chroma", RV_VOTE_CHROMA, RV_U32},
    {"vote/sum8", RV_VOTE_SUM, RV_U8},
    {"vote/sum16", RV_VOTE_SUM, RV_U16},
    {"vote/sum32", RV_VOTE_SUM, RV_U32},
    {"vote/sumf", RV_VOTE_SUM, RV_F32},
    {"vote/subsample", RV_VOTE_SUBSAMPLE, RV_U8},
};
#define USERS (sizeof users / sizeof users[0])

static void parity_user(RvCheck *check, const User *user) {
  static const int sizes[][2] = {{1, 1}, {1, 97}, {97, 1}, {33, 7}, {100, 61}, {1920, 1080}};
  static const int bins[] = {256, 1, 7, 64, 1000, 65536};
  static const int factors[] = {2, 3, 4, 7, 16, 64};
  RvRandom random = rvc_random(check, user->name);
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    const int large = sizes[s][0] > 1000;
    if (large && rvc_small(check))
      continue;
    for (int kind = 0; kind < RVC_KINDS; kind++) {
      if (large && kind != RVC_RANDOM && kind != RVC_ONES && kind != RVC_SMOOTH)
        continue;
      RvVoteConfig config;
      rv_vote_config_init(&config);
      config.kind = user->kind;
      config.format = user->format;
      config.width = sizes[s][0];
      config.height = sizes[s][1];
      config.bins = bins[(s + (size_t)kind) % 6];
      config.factor = factors[(s + (size_t)kind) % 6];
      config.stretch = kind % 2 ? rvc_range(&random, 1, 64) : 0;
      config.threads = rvc_range(&random, 0, 3);
      config.log = rvc_log(check);
      trial(check, user->name, &config, &random, kind);
    }
  }
}

static void parity(RvCheck *check) {
  for (size_t i = 0; i < USERS; i++)
    if (rvc_wants(check, users[i].name))
      parity_user(check, &users[i]);
}

/* --- Benchmark ---------------------------------------------------------------------------------
 */

typedef struct Timed {
  RvVote *vote;
  RvPlane input, votes;
} Timed;

static RvStatus run_timed(void *user, RvStream stream) {
  Timed *t = user;
  return rv_vote_run(t->vote, &t->input, &t->votes, stream);
}

/* The peer on the same input, timed when its votes are ours, which took `us`. */
static void bench_peer(RvCheck *check, const char *name, const Timed *timed, const Trial *t,
                       double us) {
#if RV_HAVE_CUDA && !defined(RV_EMULATED) /* the emulator has no CUB */
  char row[64];
  RvVoteBaseline *peer = rv_vote_baseline_new(&t->config, &timed->input);
  const RvPlane ours = t->votes;
  RvPlane theirs = ours;
  theirs.data = malloc((size_t)ours.stride * (size_t)ours.height);
  if (rvc_true(check, name, peer && theirs.data, "the peer cannot be set up")) {
    snprintf(row, sizeof row, "%s-%s", name, rv_vote_baseline_name(peer));
    if (rvc_true(check, row,
                 rv_vote_run(timed->vote, &timed->input, &timed->votes, NULL) == RV_OK &&
                     rvc_download(check, &ours, &timed->votes) &&
                     rv_vote_baseline_run(peer, NULL) == RV_OK &&
                     rv_vote_baseline_votes(peer, theirs.data) == RV_OK,
                 "the run failed") &&
        rvc_same(check, row, &ours, &theirs, "the peer's votes")) {
      const double its = rvc_bench(check, row, RV_CUDA, rv_vote_baseline_run, peer);
      if (us > 0 && its > 0)
        printf("ratio %s %.2f of %s\n", name, us / its, rv_vote_baseline_name(peer));
    }
  }
  free(theirs.data);
  rv_vote_baseline_free(peer);
#else
  (void)check, (void)name, (void)timed, (void)t, (void)us;
#endif
}

static void bench_row(RvCheck *check, const char *name, const RvVoteConfig *config,
                      const HoughImages *pictures, RvEngine engine) {
  if (!rvc_wants(check, name) || (engine == RV_CUDA ? !rvc_cuda(check) : !rvc_cpu(check)))
    return;
  Trial t;
  Timed timed = {NULL, {0}, {0}};
  if (trial_new(&t, config, 0) && rv_vote_new(&timed.vote, config, engine) == RV_OK) {
    RvRandom random = rvc_random(check, "vote/bench");
    fill(&t, &random, RVC_SMOOTH);
    if (pictures->width == config->width && config->format == RV_U8)
      memcpy(t.input.data, pictures->gray, (size_t)config->width * (size_t)config->height);
    timed.input = t.input;
    timed.votes = t.votes;
    RvPlane none = t.votes;
    none.data = NULL;
    if (engine == RV_CPU) {
      rvc_bench(check, name, engine, run_timed, &timed);
    } else if (rvc_upload(check, &timed.input, &t.input) &&
               rvc_upload(check, &timed.votes, &none)) {
      const double us = rvc_bench(check, name, engine, run_timed, &timed);
      bench_peer(check, name, &timed, &t, us);
      rvc_device_free(&timed.input);
      rvc_device_free(&timed.votes);
    }
  } else {
    rvc_fail(check, name, "cannot be set up");
  }
  rv_vote_free(&timed.vote);
  trial_free(&t);
}

static void bench(RvCheck *check) {
  static const char *const names[] = {
      "vote/hist256-1080p", "vote/hist65536-1080p", "vote/color-1080p",
      "vote/chroma-1080p",  "vote/sum8-1080p",      "vote/sum16-1080p",
      "vote/sum32-1080p",   "vote/sumf-1080p",      "vote/subsample-1080p"};
  if (rvc_model(check)) {
    hough_model(check);
    return;
  }
  HoughImages pictures = {0}; /* 8-bit rows take the street of the peers' benchmark */
  if (!rvc_small(check) && !hough_images_new(&pictures, 0))
    rvc_fail(check, "vote", "out of memory");
  for (size_t i = 0; i < USERS; i++) {
    RvVoteConfig config;
    rv_vote_config_init(&config);
    config.kind = users[i].kind;
    config.format = users[i].format;
    config.bins = users[i].format == RV_U16 ? 65536 : 256;
    config.width = rvc_small(check) ? 320 : 1920;
    config.height = rvc_small(check) ? 180 : 1080;
    config.log = rvc_log(check);
    bench_row(check, names[i], &config, &pictures, RV_CPU);
    bench_row(check, names[i], &config, &pictures, RV_CUDA);
  }
  hough_images_free(&pictures);
}

/* --- Fuzz --------------------------------------------------------------------------------------
 */

static void fuzz(const uint8_t *bytes, size_t size) {
  if (size < 8)
    return;
  RvVoteConfig config;
  rv_vote_config_init(&config);
  config.kind = (RvVoteKind)(bytes[0] % (RV_VOTE_KINDS + 1));
  config.format = (RvFormat)(bytes[1] % 5);
  config.width = bytes[2] % 80;
  config.height = bytes[3] % 60;
  config.bins = bytes[4] * 257;
  config.factor = bytes[5] % 70;
  config.stretch = bytes[6] % 70;
  config.threads = bytes[7] % 3;
  RvVote *vote = NULL;
  Trial t = {.input = {0}};
  if (rv_vote_new(&vote, &config, RV_CPU) == RV_OK && trial_new(&t, &config, 0)) {
    const size_t room = (size_t)t.input.stride * (size_t)t.input.height;
    memcpy(t.input.data, bytes + 8, size - 8 < room ? size - 8 : room);
    (void)rv_vote_run(vote, &t.input, &t.votes, NULL);
  }
  rv_vote_free(&vote);
  trial_free(&t);
}

const RvCases rv_vote_cases = {"vote", parity, bench, fuzz};
