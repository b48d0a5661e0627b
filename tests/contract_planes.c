/* SPDX-License-Identifier: MIT */
/* contract_planes.c: run() on planes with guard bytes before, after and between the rows: bad
 * planes are rejected and nothing is touched, nothing is written beside a plane, no memory is taken,
 * the guards inside the object stay whole, two objects in two threads do not disturb each other. */
#include "contract_run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 0xC3
#define MARGIN 256 /* bytes before and after a plane */

/* The planes of one run: on the host, and where the engine works. */
typedef struct Frame {
  int count;
  RvContractPlane rules[RV_CONTRACT_PLANES];
  size_t bytes[RV_CONTRACT_PLANES];
  ptrdiff_t stride[RV_CONTRACT_PLANES];
  uint8_t *host[RV_CONTRACT_PLANES];
  void *work[RV_CONTRACT_PLANES]; /* host's own on the CPU engine */
  RvEngine engine;
  RvStream stream;
} Frame;

static RvPlane frame_plane(const Frame *f, int i) {
  const RvContractPlane *rules = &f->rules[i];
  return (RvPlane){(uint8_t *)f->work[i] + MARGIN, f->stride[i], rules->width, rules->height,
                   rules->format};
}

static void fill_plane(Frame *f, int i, RvRandom *random) {
  const RvContractPlane *rules = &f->rules[i];
  uint8_t *data = f->host[i] + MARGIN;
  memset(f->host[i], GUARD, f->bytes[i]);
  if (rules->format == RV_U8) {
    const int kind = rules->is_input ? RVC_SMOOTH : RVC_ZERO;
    rvc_fill_u8(random, kind, data, rules->width, rules->height, f->stride[i]);
    return;
  }
  for (int y = 0; y < rules->height; y++) {
    for (int x = 0; x < rules->width; x++) {
      const uint32_t value = rules->is_input ? rvc_next(random) : 0;
      const uint16_t half = (uint16_t)(rules->limit ? value % (uint32_t)rules->limit : value);
      uint8_t *at = data + y * f->stride[i] + (size_t)x * rv_format_bytes(rules->format);
      if (rules->format == RV_U16)
        memcpy(at, &half, sizeof half);
      else
        memset(at, 0, 4);
    }
  }
}

static int frame_open(const Contract *c, Frame *f, const void *config, const char *seed) {
  RvRandom random = rvc_random(c->check, seed);
  *f = (Frame){.engine = c->engine};
  f->count = c->rules->planes(config, f->rules);
  int good = c->engine == RV_CPU || rv_stream_new(&f->stream) == RV_OK;
  for (int i = 0; i < f->count && good; i++) {
    const size_t row = rv_format_bytes(f->rules[i].format) * (size_t)f->rules[i].width;
    f->stride[i] = (ptrdiff_t)((row + 64 + 15) / 16 * 16);
    f->bytes[i] = (size_t)f->stride[i] * (size_t)f->rules[i].height + 2 * MARGIN;
    f->host[i] = malloc(f->bytes[i]);
    good = f->host[i] != NULL;
    if (good)
      fill_plane(f, i, &random);
    if (c->engine == RV_CPU)
      f->work[i] = f->host[i];
    else
      good = good && rv_buffer_new(&f->work[i], f->bytes[i], RV_CUDA) == RV_OK;
  }
  return rvc_true(c->check, c->name, good, "no memory for the planes of the test");
}

static void frame_close(Frame *f) {
  for (int i = 0; i < f->count; i++) {
    if (f->engine == RV_CUDA)
      rv_buffer_free(&f->work[i], RV_CUDA);
    free(f->host[i]);
  }
  rv_stream_free(&f->stream);
}

/* Uploads, runs on `planes` (NULL: the frame's own), waits, downloads. */
static RvStatus frame_run(const Contract *c, Frame *f, void *object, const RvPlane *planes) {
  RvPlane own[RV_CONTRACT_PLANES];
  RvStatus status = RV_OK;
  for (int i = 0; i < f->count; i++) {
    own[i] = frame_plane(f, i);
    if (c->engine == RV_CUDA && status == RV_OK)
      status = rv_copy_to_device(f->work[i], f->host[i], f->bytes[i], NULL);
  }
  if (status == RV_OK)
    status = c->rules->run(object, planes ? planes : own, f->stream);
  if (c->engine == RV_CUDA && status == RV_OK)
    status = rv_stream_wait(f->stream);
  for (int i = 0; i < f->count && c->engine == RV_CUDA && status == RV_OK; i++)
    status = rv_copy_to_host(f->host[i], f->work[i], f->bytes[i], NULL);
  return status;
}

/* Every byte that belongs to no pixel is as it was. */
static void check_guards(const Contract *c, const Frame *f) {
  for (int i = 0; i < f->count; i++) {
    const size_t row = rv_format_bytes(f->rules[i].format) * (size_t)f->rules[i].width;
    long damaged = -1;
    for (size_t at = 0; at < f->bytes[i] && damaged < 0; at++) {
      const size_t offset = at - MARGIN;
      const int inside =
          at >= MARGIN && at < f->bytes[i] - MARGIN && offset % (size_t)f->stride[i] < row;
      if (!inside && f->host[i][at] != GUARD)
        damaged = (long)at - MARGIN;
    }
    rvc_true(c->check, c->name, damaged < 0,
             "run wrote beside plane %s: byte %ld from its start, rows of %zu bytes, stride %ld",
             f->rules[i].name, damaged, row, (long)f->stride[i]);
  }
}

static int is_same_frame(const Frame *a, const Frame *b) {
  for (int i = 0; i < a->count; i++)
    if (memcmp(a->host[i], b->host[i], a->bytes[i]) != 0)
      return 0;
  return 1;
}

/* --- Planes that run must reject ----------------------------------------------------------------
 */

/* One wrong plane after the other: the object stays usable, nothing is written. */
static void test_bad_planes(const Contract *c, void *object, Lines *lines, Frame *f) {
  static const char *const wrongs[] = {"data is NULL", "width is one short", "height is one short",
                                       "stride is shorter than a row", "the format is another"};
  static const unsigned rules[] = {RV_RULE_DATA, RV_RULE_SIZE, RV_RULE_SIZE, RV_RULE_STRIDE,
                                   RV_RULE_FORMAT};
  for (int i = 0; i < f->count; i++) {
    for (int w = 0; w < 5; w++) {
      if (!(f->rules[i].rules & rules[w]))
        continue;
      RvPlane planes[RV_CONTRACT_PLANES];
      for (int k = 0; k < f->count; k++)
        planes[k] = frame_plane(f, k);
      RvPlane *bad = &planes[i];
      if (w == 0)
        bad->data = NULL;
      else if (w == 1)
        bad->width--;
      else if (w == 2)
        bad->height--;
      else if (w == 3)
        bad->stride = (ptrdiff_t)rv_format_bytes(bad->format) * (bad->width - 1);
      else
        bad->format = bad->format == RV_U8 ? RV_U16 : RV_U8;
      lines->count = 0;
      const RvStatus status = c->rules->run(object, planes, f->stream);
      rvc_true(c->check, c->name, status == RV_ERR_ARG, "plane %s, %s: status is \"%s\"",
               f->rules[i].name, wrongs[w], rv_status_text(status));
      rvc_true(c->check, c->name, lines->count == 1, "plane %s, %s: %d log lines, expected 1",
               f->rules[i].name, wrongs[w], lines->count);
    }
  }
}

static void test_runs(const Contract *c) {
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  void *object = NULL;
  Frame first, fresh;
  const int made =
      frame_open(c, &first, config, "contract") & frame_open(c, &fresh, config, "contract");
  const RvStatus status = c->rules->create(&object, config, c->engine);
  if (made && rvc_true(c->check, c->name, status == RV_OK, "new: %s", rv_status_text(status))) {
    rvc_true(c->check, c->name, c->rules->run(NULL, NULL, NULL) == RV_ERR_ARG,
             "run on a NULL object is not refused");
    test_bad_planes(c, object, &lines, &first);
    if (!c->rules->is_several)
      rvc_true(c->check, c->name, is_same_frame(&first, &fresh), "a refused run wrote to a plane");

    lines.count = 0;
    rvc_true(c->check, c->name, frame_run(c, &first, object, NULL) == RV_OK, "run: %s", lines.last);
    check_guards(c, &first);
    char text[160];
    const char *damage = alloc_tracker_damage(text, sizeof text);
    rvc_true(c->check, c->name, !damage, "after run, %s", damage ? damage : "");

    /* Once more, now that threads and modules are there: nothing is taken, nobody waits. */
    RvPlane planes[RV_CONTRACT_PLANES];
    for (int i = 0; i < fresh.count; i++)
      planes[i] = frame_plane(&first, i);
    alloc_tracker_clear();
    const RvStatus again = c->rules->run(object, planes, first.stream);
    const AllocTracker tracker = alloc_tracker_read();
    rvc_true(c->check, c->name, again == RV_OK, "second run: %s", lines.last);
    rvc_true(c->check, c->name, tracker.bytes[0] + tracker.bytes[1] == 0, "run took %zu bytes",
             tracker.bytes[0] + tracker.bytes[1]);
    if (c->engine == RV_CPU)
      rvc_true(c->check, c->name, tracker.calls == 0, "run called malloc %ld times", tracker.calls);
    else
      rvc_true(c->check, c->name, tracker.waits == 0, "run waited or took GPU memory %ld times",
               tracker.waits);
    rvc_true(c->check, c->name, lines.count == 0, "a good run logged: %s", lines.last);
    if (c->engine == RV_CUDA)
      rv_stream_wait(first.stream);
  }
  c->rules->destroy(&object);
  frame_close(&first);
  frame_close(&fresh);
  free(config);
}

/* --- Two objects at once ------------------------------------------------------------------------
 */

typedef struct Worker {
  const Contract *c;
  const char *seed;
  int runs;
  Frame frame;
  RvStatus status;
} Worker;

/* Makes an object, runs it on fresh inputs `runs` times; the frame keeps the last result. */
static void *work(void *user) {
  Worker *w = user;
  const Contract *c = w->c;
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  void *object = NULL;
  w->status = c->engine == RV_CUDA ? rv_cuda_use_device(0) : RV_OK;
  if (w->status == RV_OK)
    w->status = c->rules->create(&object, config, c->engine);
  for (int i = 0; i < w->runs && w->status == RV_OK; i++) {
    RvRandom random = rvc_random(c->check, w->seed);
    for (int k = 0; k < w->frame.count; k++)
      fill_plane(&w->frame, k, &random);
    w->status = frame_run(c, &w->frame, object, NULL);
  }
  c->rules->destroy(&object);
  free(config);
  return NULL;
}

static void test_two_at_once(const Contract *c) {
  Worker alone[2], together[2];
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  int good = 1;
  for (int i = 0; i < 2; i++) {
    const char *seed = i ? "second" : "first";
    alone[i] = (Worker){.c = c, .seed = seed, .runs = 1};
    together[i] = (Worker){.c = c, .seed = seed, .runs = 6};
    good &= frame_open(c, &alone[i].frame, config, seed);
    good &= frame_open(c, &together[i].frame, config, seed);
  }
  if (good) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
      work(&alone[i]);
    for (int i = 0; i < 2; i++)
      good &= pthread_create(&threads[i], NULL, work, &together[i]) == 0;
    for (int i = 0; i < 2 && good; i++)
      pthread_join(threads[i], NULL);
    for (int i = 0; i < 2 && good; i++) {
      rvc_true(c->check, c->name, alone[i].status == RV_OK && together[i].status == RV_OK,
               "two objects at once: %s, %s", rv_status_text(alone[i].status),
               rv_status_text(together[i].status));
      rvc_true(c->check, c->name, is_same_frame(&alone[i].frame, &together[i].frame),
               "two objects at once: the %s gives other bits than alone", together[i].seed);
    }
  }
  for (int i = 0; i < 2; i++) {
    frame_close(&alone[i].frame);
    frame_close(&together[i].frame);
  }
  free(config);
}

void contract_planes(const Contract *c) {
  test_runs(c);
  test_two_at_once(c);
}
