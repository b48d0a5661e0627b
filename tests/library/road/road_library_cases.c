/* SPDX-License-Identifier: MIT */
/* road_library_cases.c: the bytes of a saved library: a hand-made one, all kinds of invalid
 * contents, adaptation to another config, and arbitrary bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_inputs.h"
#include "road/road_save_cases.h"
#include "road/road_sequence_inputs.h"

static void put_u32(uint8_t *at, uint32_t v) {
  for (int k = 0; k < 4; k++)
    at[k] = (uint8_t)(v >> (8 * k));
}

/* CRC-32 bit by bit, by its definition. */
static void seal(uint8_t *bytes, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size - 4; i++)
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ ((crc ^ bytes[i] >> k) & 1 ? 0xedb88320u : 0);
  put_u32(bytes + size - 4, ~crc);
}

/* Hand-made: two bins, a patch of 2 x 2 px, one model, one pending sample. */
enum { HAND = 32 + 8 + 32 + 32 + 4 + 4, HAND_WEIGHT = 32, HAND_MEAN = 40, HAND_VARIANCE = 72 };

static void put_double(uint8_t *at, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  put_u32(at, (uint32_t)bits);
  put_u32(at + 4, (uint32_t)(bits >> 32));
}

static void make_hand(uint8_t *bytes) {
  static const uint32_t header[] = {1, 2, 2, 3, 1, 1};
  static const double mean[] = {2.5, 1.5, 0, 0};
  memcpy(bytes, "RvRoadL\n", 8);
  for (int i = 0; i < 6; i++)
    put_u32(bytes + 8 + 4 * i, header[i]);
  put_double(bytes + HAND_WEIGHT, 1);
  for (int i = 0; i < 4; i++) {
    put_double(bytes + HAND_MEAN + 8 * i, mean[i]);
    put_double(bytes + HAND_VARIANCE + 8 * i, 0.25 * (i + 1));
    bytes[HAND_VARIANCE + 32 + i] = i < 2 ? 2 : 0;
  }
  seal(bytes, HAND);
}

/* Loads invalid bytes: an error with `word` in the log, and the library is unchanged. */
static void rejected(const RvRoadInputs *d, RvRoad *road, const uint8_t *bytes, size_t size,
                     const RvRoadSaved *before, const char *word) {
  char *text = road->plan.config.log.user;
  *text = 0;
  const RvStatus status = rv_road_load(road, bytes, size, NULL);
  rvc_true(d->check, d->name, status == RV_ERR_IO && strstr(text, word),
           "%s: status %d, log \"%s\"", word, status, text);
  rv_road_inputs_same(d, road, before, word);
}

static void rejected_value(const RvRoadInputs *d, RvRoad *road, int at, double value,
                           const RvRoadSaved *before, const char *word) {
  uint8_t bytes[HAND];
  make_hand(bytes);
  put_double(bytes + at, value);
  seal(bytes, HAND);
  rejected(d, road, bytes, HAND, before, word);
}

static void rejected_header(const RvRoadInputs *d, RvRoad *road, int field, uint32_t value,
                            const RvRoadSaved *before, const char *word) {
  uint8_t bytes[HAND];
  make_hand(bytes);
  put_u32(bytes + 8 + 4 * field, value);
  seal(bytes, HAND);
  rejected(d, road, bytes, HAND, before, word);
}

static void reject_values(const RvRoadInputs *d, RvRoad *road, const RvRoadSaved *before) {
  static const double none[] = {NAN, INFINITY, -INFINITY, -1e-9, 1e300};
  for (int i = 0; i < 5; i++) {
    rejected_value(d, road, HAND_WEIGHT, none[i], before, "weight");
    for (int cell = 0; cell < 4; cell++) {
      rejected_value(d, road, HAND_MEAN + 8 * cell, none[i], before, "model 0");
      rejected_value(d, road, HAND_VARIANCE + 8 * cell, none[i], before, "model 0");
    }
  }
  rejected_value(d, road, HAND_WEIGHT, 0.5, before, "sum to 0.5");
  rejected_value(d, road, HAND_MEAN, 2.6, before, "model 0"); /* the sum is 4.1 px of 4 */
  rejected_value(d, road, HAND_VARIANCE, 0, before, "model 0");
  rejected_value(d, road, HAND_VARIANCE, 1.59e-5, before, "model 0"); /* 1e-6 of 4 px squared */
  rejected_value(d, road, HAND_VARIANCE, 16.1, before, "model 0");
  rejected_header(d, road, 0, 2, before, "version");
  rejected_header(d, road, 1, 3, before, "truncated");
  rejected_header(d, road, 1, 0x80000001u, before, "bins");
  rejected_header(d, road, 2, 16, before, "patch size");
  rejected_header(d, road, 2, 3, before, "model 0");
  rejected_header(d, road, 3, 0, before, "library size");
  rejected_header(d, road, 3, 51, before, "library size");
  rejected_header(d, road, 4, 4, before, "models");
  rejected_header(d, road, 4, 2, before, "truncated");
  rejected_header(d, road, 4, 0, before, "too long");
  rejected_header(d, road, 5, 4096, before, "pending");
}

/* Every length, every bit, every kind of value. */
static void damage(const RvRoadInputs *d, RvRoad *road, const RvRoadSaved *before) {
  uint8_t bytes[HAND + 1] = {0};
  make_hand(bytes);
  for (size_t size = 0; size < HAND; size++)
    rejected(d, road, bytes, size, before, size < 8 ? "not a file" : "truncated");
  rejected(d, road, bytes, HAND + 1, before, "too long");
  for (int bit = 0; bit < 8 * HAND; bit++) {
    make_hand(bytes);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    rejected(d, road, bytes, HAND, before,
             bit < 64 ? "not a file" : (bit < 256 ? "model file" : "checksum"));
  }
  reject_values(d, road, before);
  make_hand(bytes);
  bytes[HAND - 8] = 3;
  seal(bytes, HAND);
  rejected(d, road, bytes, HAND, before, "pending sample 0");
}

static void check_calls(const RvRoadInputs *d, RvRoad *road) {
  uint8_t bytes[HAND];
  size_t size;
  rvc_true(d->check, d->name,
           rv_road_save(road, bytes, HAND, &size, NULL) == RV_ERR_ARG &&
               rv_road_save(road, NULL, 1u << 20, &size, NULL) == RV_ERR_ARG &&
               rv_road_save(road, bytes, 1u << 20, NULL, NULL) == RV_ERR_ARG &&
               rv_road_load(road, NULL, HAND, NULL) == RV_ERR_ARG &&
               rv_road_load(NULL, bytes, HAND, NULL) == RV_ERR_ARG &&
               rv_road_save(NULL, bytes, HAND, &size, NULL) == RV_ERR_ARG,
           "invalid arguments of save and load were accepted");
}

static void check_damage(RvCheck *check, const char *name, RvRandom *random) {
  char text[RV_ROAD_NOTE];
  RvRoadInputs d;
  uint8_t bytes[HAND];
  rv_road_inputs_open(check, name, &d, 20, 20);
  d.config.patch_size = d.config.bins = 2;
  d.config.log = rv_road_inputs_note(text);
  d.config.variance_floor = RV_ROAD_FLOOR_MIN;
  RvRoad *road = rv_road_inputs_new(&d, &d.config, RV_CPU);
  make_hand(bytes);
  if (road && rvc_true(check, name, rv_road_load(road, bytes, HAND, NULL) == RV_OK, "%s", text)) {
    const RvRoadCpu *w = road->object.work;
    rvc_true(check, name,
             w->library.count == 1 && w->library.mean[1] == 1.5 && w->library.variance[3] == 1 &&
                 w->library.weight[0] == 1 && w->pending == 1 && w->features[1] == 2,
             "hand-made library: %d models, mean %g, variance %g", w->library.count,
             w->library.mean[1], w->library.variance[3]);
    RvRoadSaved before = rv_road_inputs_save(&d, road);
    damage(&d, road, &before);
    check_calls(&d, road);
    free(before.bytes);
  }
  rv_road_free(&road);
  d.config.bins = 4;
  road = rv_road_inputs_new(&d, &d.config, RV_CPU);
  if (road) {
    RvRoadSaved before = rv_road_inputs_save(&d, road);
    rejected(&d, road, bytes, HAND, &before, "bins");
    free(before.bytes);
  }
  rv_road_free(&road);
  rv_road_inputs_close(&d);
}

/* --- Another config -------------------------------------------------------------------------- */

static void check_fit(RvCheck *check, const char *name, RvRandom *random) {
  RvRoadConfig c;
  rv_road_sequence_config(&c, 100, 100);
  RvRoadLearned *l = rv_road_learned_new(NULL, 2, 4, 6);
  if (!rvc_true(check, name, l != NULL, "out of memory"))
    return;
  static const double weight[] = {0.125, 0.375, 0.125, 0.375};
  l->patch_size = 2;
  l->count = 4;
  l->pending = 6;
  for (int i = 0; i < 16; i++) {
    l->mean[i] = i / 4 == 1 ? 1 : 0.5 * (i % 4);
    l->variance[i] = 0.01 * (i + 1);
  }
  memcpy(l->weight, weight, sizeof weight);
  for (int i = 0; i < 24; i++)
    l->features[i] = (uint8_t)(i / 4);
  /* Three slots of patches of 2 x 2: of the two of 0.125 the last is removed, 0.125 / 0.875 is
   * left. */
  c.patch_size = c.bins = 2;
  c.library_size = 3;
  c.min_samples = 4;
  c.variance_floor = 0.05 / 16;
  rv_road_learned_fit(l, &c);
  rvc_true(check, name,
           l->count == 3 && l->weight[0] == 0.125 / 0.875 && l->weight[2] == 0.375 / 0.875 &&
               l->mean[4] == 1 && l->mean[9] == 0.5 && l->variance[0] == 0.05 / 16 * 4 * 4 &&
               fabs(l->variance[11] - 0.16) < 1e-15,
           "%d models, weights %g %g, variances %g %g", l->count, l->weight[0], l->weight[2],
           l->variance[0], l->variance[11]);
  rvc_true(check, name, l->pending == 3 && l->features[0] == 3 && l->features[11] == 5,
           "%d pending, the oldest is %d; expected the newest three", l->pending, l->features[0]);
  /* 4 px become 16: means times 4, variances times 16; the floor of 0.05 / 16 becomes 0.8. */
  c.patch_size = 4;
  rv_road_learned_fit(l, &c);
  rvc_true(check, name,
           l->pending == 0 && l->mean[4] == 4 && l->variance[0] == 0.8 &&
               fabs(l->variance[11] - 2.56) < 1e-13,
           "other patches: mean %g, variances %g %g", l->mean[4], l->variance[0], l->variance[11]);
  rv_memory_free(l, RV_CPU);
}

RVC_CASES(rv_road_library_cases, RVC_CASE("road/save-damage", check_damage, 0),
          RVC_CASE("road/save-fit", check_fit, 0));

/* --- Fuzz ------------------------------------------------------------------------------------- */

/* The bytes unchanged, then with a valid header and checksum. An accepted library must classify
 * a frame and must be accepted again after saving. */
void rv_road_fuzz_library(const uint8_t *bytes, size_t size) {
  RvRoadConfig c;
  rv_road_config_init(&c);
  c.width = c.height = 12;
  c.patch_size = 4;
  c.bins = 2;
  c.camera = (RvCamera){.focal = 20, .cx = 6, .cy = 4, .baseline = 0.5};
  c.threads = 1;
  RvRoad *road = NULL;
  uint8_t *copy = malloc(size + 1), *saved = malloc(rv_road_save_bytes(&c));
  if (!copy || !saved || rv_road_new(&road, &c, RV_CPU) != RV_OK)
    abort();
  for (int pass = 0; pass < 2; pass++) {
    static uint32_t color[144];
    const RvPlane frame = {color, 48, 12, 12, RV_U32};
    const RvRoadOutput output = {.report = NULL};
    if (size)
      memcpy(copy, bytes, size);
    if (pass == 1 && size >= 36) {
      memcpy(copy, "RvRoadL\n", 8);
      put_u32(copy + 8, 1);
      put_u32(copy + 12, 2);
      seal(copy, size);
    }
    size_t length = 0;
    if (rv_road_load(road, copy, size, NULL) != RV_OK)
      continue;
    if (rv_road_run(road, &frame, NULL, &output, NULL) != RV_OK ||
        rv_road_save(road, saved, rv_road_save_bytes(&c), &length, NULL) != RV_OK ||
        rv_road_load(road, saved, length, NULL) != RV_OK)
      abort();
  }
  rv_road_free(&road);
  free(copy);
  free(saved);
}
