/* SPDX-License-Identifier: MIT */
/* road_save.c: what was learnt, as bytes (road.h states the format), checked when they come back,
 * and fitted to the object that loads them. */
#include <errno.h>
#include <stdio.h>

#include "road/road_stages.h"

#define MAGIC "RvRoadL\n"
#define MAGIC_SIZE 8
#define VERSION 1
#define HEADER 32
#define CELLS_MAX (RV_ROAD_BINS_MAX * RV_ROAD_BINS_MAX)

/* --- Bytes ----------------------------------------------------------------------------------- */

static size_t size_of(int cells, int models, int waiting) {
  const size_t model = sizeof(double) * (1 + 2 * (size_t)cells);
  return HEADER + (size_t)models * model + (size_t)waiting * (size_t)cells + 4;
}

/* Of the polynomial 0xedb88320, four bits at a time. */
static uint32_t crc_of(const uint8_t *bytes, size_t size) {
  uint32_t table[16], crc = UINT32_MAX;
  for (uint32_t i = 0; i < 16; i++) {
    table[i] = i;
    for (int k = 0; k < 4; k++)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  }
  for (size_t i = 0; i < size; i++) {
    crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15];
    crc = crc >> 4 ^ table[(crc ^ bytes[i] >> 4) & 15];
  }
  return ~crc;
}

static uint8_t *put_u32(uint8_t *to, uint32_t v) {
  for (int k = 0; k < 4; k++)
    *to++ = (uint8_t)(v >> (8 * k));
  return to;
}

static uint32_t get_u32(const uint8_t *from) {
  uint32_t v = 0;
  for (int k = 0; k < 4; k++)
    v |= (uint32_t)from[k] << (8 * k);
  return v;
}

static uint8_t *put_doubles(uint8_t *to, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, values + i, sizeof bits);
    to = put_u32(to, (uint32_t)bits);
    to = put_u32(to, (uint32_t)(bits >> 32));
  }
  return to;
}

static const uint8_t *get_doubles(const uint8_t *from, double *values, size_t count) {
  for (size_t i = 0; i < count; i++, from += 8) {
    const uint64_t bits = get_u32(from) | (uint64_t)get_u32(from + 4) << 32;
    memcpy(values + i, &bits, sizeof bits);
  }
  return from;
}

static size_t write_all(uint8_t *to, const RvRoadLearnt *l) {
  const size_t cells = (size_t)l->bins * (size_t)l->bins, values = (size_t)l->count * cells;
  uint8_t *at = to + MAGIC_SIZE;
  memcpy(to, MAGIC, MAGIC_SIZE);
  at = put_u32(at, VERSION);
  at = put_u32(at, (uint32_t)l->bins);
  at = put_u32(at, (uint32_t)l->patch_size);
  at = put_u32(at, (uint32_t)l->places);
  at = put_u32(at, (uint32_t)l->count);
  at = put_u32(at, (uint32_t)l->waiting);
  at = put_doubles(at, l->weight, (size_t)l->count);
  at = put_doubles(at, l->mean, values);
  at = put_doubles(at, l->variance, values);
  memcpy(at, l->features, (size_t)l->waiting * cells);
  at += (size_t)l->waiting * cells;
  at = put_u32(at, crc_of(to, (size_t)(at - to)));
  return (size_t)(at - to);
}

/* --- Checks ---------------------------------------------------------------------------------- */

#define IO_REQUIRE(log, condition, ...)                                                            \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      rv_log((log), __VA_ARGS__);                                                                  \
      return RV_ERR_IO;                                                                            \
    }                                                                                              \
  } while (0)

static RvStatus header_range(const RvLog *log, const char *name, int64_t value, int low, int high) {
  IO_REQUIRE(log, value >= low && value <= high,
             "road: library says %s %lld, must be %d to %d: it is damaged", name, (long long)value,
             low, high);
  return RV_OK;
}

/* Reads and checks all but the models: what is in the header, size and checksum. */
static RvStatus check_bytes(const RvRoadConfig *c, const uint8_t *from, size_t bytes,
                            RvRoadLearnt *l) {
  const RvLog *log = &c->log;
  IO_REQUIRE(log, bytes >= MAGIC_SIZE && memcmp(from, MAGIC, MAGIC_SIZE) == 0,
             "road: not a library of road models (it does not begin with \"RvRoadL\")");
  IO_REQUIRE(log, bytes >= HEADER + 4, "road: library is truncated: %zu bytes, a header has %d",
             bytes, HEADER);
  IO_REQUIRE(log, get_u32(from + 8) == VERSION,
             "road: library is of version %u, this one reads version %d", get_u32(from + 8),
             VERSION);
  const int64_t bins = get_u32(from + 12), patch = get_u32(from + 16), places = get_u32(from + 20);
  const int64_t count = get_u32(from + 24), waiting = get_u32(from + 28);
  RV_TRY(header_range(log, "bins", bins, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX));
  RV_TRY(header_range(log, "patch size", patch, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX));
  RV_TRY(header_range(log, "library size", places, 1, RV_ROAD_LIBRARY_MAX));
  RV_TRY(header_range(log, "models", count, 0, (int)places));
  RV_TRY(header_range(log, "waiting samples", waiting, 0, RV_ROAD_SAMPLES_MAX - 1));
  const size_t wanted = size_of((int)(bins * bins), (int)count, (int)waiting);
  IO_REQUIRE(log, bytes == wanted, "road: library is %s: %zu bytes, its header says %zu",
             bytes < wanted ? "truncated" : "too long", bytes, wanted);
  IO_REQUIRE(log, get_u32(from + bytes - 4) == crc_of(from, bytes - 4),
             "road: library is damaged: its checksum is wrong");
  IO_REQUIRE(log, bins == c->bins, "road: library has %d bins, this object %d: use bins=%d",
             (int)bins, c->bins, (int)bins);
  *l = (RvRoadLearnt){.bins = (int)bins,
                      .patch_size = (int)patch,
                      .places = (int)places,
                      .count = (int)count,
                      .waiting = (int)waiting};
  return RV_OK;
}

/* 1 when mean and variance could be those of histograms of `area` px; rounding is forgiven. */
static int is_sound(const double *mean, const double *variance, int cells, double area) {
  const double more = 1 + 1e-6;
  double sum = 0;
  for (int i = 0; i < cells; i++) {
    if (!(mean[i] >= 0 && mean[i] <= area * more) ||
        !(variance[i] * more >= RV_ROAD_FLOOR_MIN * area * area &&
          variance[i] <= RV_ROAD_FLOOR_MAX * area * area * more))
      return 0;
    sum += mean[i];
  }
  return sum >= area * (1 - 1e-6) && sum <= area * more;
}

static RvStatus check_learnt(const RvLog *log, const RvRoadLearnt *l) {
  const int cells = l->bins * l->bins, area = l->patch_size * l->patch_size;
  double weights = 0;
  for (int j = 0; j < l->count; j++) {
    IO_REQUIRE(log, l->weight[j] >= 0 && l->weight[j] <= 1 + 1e-6,
               "road: model %d of the library has weight %g, must be 0 to 1", j, l->weight[j]);
    IO_REQUIRE(log,
               is_sound(l->mean + (size_t)j * (size_t)cells,
                        l->variance + (size_t)j * (size_t)cells, cells, area),
               "road: model %d of the library is not one of histograms of %d px", j, area);
    weights += l->weight[j];
  }
  IO_REQUIRE(log, l->count == 0 || (weights >= 1 - 1e-6 && weights <= 1 + 1e-6),
             "road: weights of the library sum to %g, must be 1", weights);
  for (int i = 0; i < l->waiting; i++) {
    int sum = 0;
    for (int cell = 0; cell < cells; cell++)
      sum += l->features[(size_t)i * (size_t)cells + (size_t)cell];
    IO_REQUIRE(log, sum == area, "road: waiting sample %d of the library has %d px, must be %d", i,
               sum, area);
  }
  return RV_OK;
}

/* --- In memory ------------------------------------------------------------------------------- */

RvRoadLearnt *rv_road_learnt_new(int bins, int models, int waiting) {
  const size_t cells = (size_t)bins * (size_t)bins, values = (size_t)models * cells;
  const size_t doubles = 2 * values + (size_t)models;
  RvRoadLearnt *l =
      rv_memory_alloc(sizeof *l + doubles * sizeof(double) + (size_t)waiting * cells, RV_CPU);
  if (!l)
    return NULL;
  double *mean = (double *)(void *)(l + 1);
  *l = (RvRoadLearnt){.bins = bins,
                      .places = models,
                      .mean = mean,
                      .variance = mean + values,
                      .weight = mean + 2 * values,
                      .features = (uint8_t *)(mean + doubles)};
  return l;
}

/* The heaviest `most` models, of equal ones the first, in their order. */
static void keep_heaviest(RvRoadLearnt *l, int most) {
  const size_t cells = (size_t)l->bins * (size_t)l->bins;
  while (l->count > most) {
    int lightest = 0;
    for (int j = 1; j < l->count; j++)
      if (l->weight[j] <= l->weight[lightest])
        lightest = j;
    const size_t after = (size_t)(--l->count - lightest), at = (size_t)lightest * cells;
    memmove(l->weight + lightest, l->weight + lightest + 1, after * sizeof *l->weight);
    memmove(l->mean + at, l->mean + at + cells, after * cells * sizeof *l->mean);
    memmove(l->variance + at, l->variance + at + cells, after * cells * sizeof *l->variance);
  }
}

static void normalise(RvRoadLearnt *l) {
  double sum = 0;
  for (int j = 0; j < l->count; j++)
    sum = sum + l->weight[j];
  for (int j = 0; j < l->count && sum > 0; j++)
    l->weight[j] = l->weight[j] / sum;
}

void rv_road_learnt_fit(RvRoadLearnt *l, const RvRoadConfig *c) {
  const size_t cells = (size_t)l->bins * (size_t)l->bins;
  const int area = c->patch_size * c->patch_size;
  if (l->count > c->library_size) {
    keep_heaviest(l, c->library_size);
    normalise(l);
  }
  if (l->patch_size != c->patch_size) {
    const double scale = (double)area / (l->patch_size * l->patch_size);
    for (size_t i = 0; i < (size_t)l->count * cells; i++) {
      l->mean[i] = l->mean[i] * scale;
      l->variance[i] = l->variance[i] * scale * scale;
    }
    l->waiting = 0;
  }
  const double least = c->variance_floor * area * area;
  for (size_t i = 0; i < (size_t)l->count * cells; i++)
    l->variance[i] = l->variance[i] > least ? l->variance[i] : least;
  const int surplus = l->waiting - (c->min_samples - 1);
  if (surplus > 0) {
    l->waiting -= surplus;
    memmove(l->features, l->features + (size_t)surplus * cells, (size_t)l->waiting * cells);
  }
  l->patch_size = c->patch_size;
  l->places = c->library_size;
}

size_t rv_road_save_bytes(const RvRoadConfig *c) {
  if (rv_road_config_check(c) != RV_OK)
    return 0;
  return size_of(c->bins * c->bins, c->library_size, c->min_samples);
}

RvStatus rv_road_save(RvRoad *road, void *to, size_t room, size_t *bytes, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvRoadConfig *c = &road->config;
  RV_REQUIRE(&c->log, to && bytes, "road: save: memory and bytes must not be NULL");
  RV_REQUIRE(&c->log, room >= rv_road_save_bytes(c),
             "road: save: room for %zu bytes, must be %zu (rv_road_save_bytes)", room,
             rv_road_save_bytes(c));
  RvRoadLearnt *learnt = rv_road_learnt_new(c->bins, c->library_size, c->min_samples);
  if (!learnt) {
    rv_log(&c->log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  learnt->patch_size = c->patch_size;
  const RvStatus status = road->stages->take(road->work, learnt, stream);
  if (status == RV_OK)
    *bytes = write_all(to, learnt);
  rv_memory_free(learnt, RV_CPU);
  return status;
}

RvStatus rv_road_load(RvRoad *road, const void *from, size_t bytes, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvRoadConfig *c = &road->config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, from, "road: load: memory must not be NULL");
  RvRoadLearnt head;
  RV_TRY(check_bytes(c, from, bytes, &head));
  RvRoadLearnt *learnt = rv_road_learnt_new(head.bins, head.count, head.waiting);
  if (!learnt) {
    rv_log(log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  learnt->patch_size = head.patch_size;
  learnt->count = head.count;
  learnt->waiting = head.waiting;
  const size_t cells = (size_t)head.bins * (size_t)head.bins, values = (size_t)head.count * cells;
  const uint8_t *at =
      get_doubles((const uint8_t *)from + HEADER, learnt->weight, (size_t)head.count);
  at = get_doubles(at, learnt->mean, values);
  at = get_doubles(at, learnt->variance, values);
  memcpy(learnt->features, at, (size_t)head.waiting * cells);
  RvStatus status = check_learnt(log, learnt);
  if (status == RV_OK) {
    rv_road_learnt_fit(learnt, c);
    status = road->stages->give(road->work, learnt, stream);
  }
  rv_memory_free(learnt, RV_CPU);
  return status;
}

/* --- Files ----------------------------------------------------------------------------------- */

static RvStatus write_file(const RvLog *log, const char *path, const uint8_t *bytes, size_t size) {
  char name[4096];
  const int length = snprintf(name, sizeof name, "%s~", path);
  IO_REQUIRE(log, length > 0 && (size_t)length < sizeof name, "road: name of the library too long");
  FILE *file = fopen(name, "wb");
  IO_REQUIRE(log, file, "road: cannot write library %s: %s", name, strerror(errno));
  const int is_written = fwrite(bytes, 1, size, file) == size;
  const int is_closed = fclose(file) == 0;
  if (is_written && is_closed && rename(name, path) == 0)
    return RV_OK;
  rv_log(log, "road: cannot write library %s: %s", path, strerror(errno));
  remove(name);
  return RV_ERR_IO;
}

RvStatus rv_road_save_file(RvRoad *road, const char *path, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvLog *log = &road->config.log;
  RV_REQUIRE(log, path && *path, "road: save: a file name is needed");
  const size_t room = rv_road_save_bytes(&road->config);
  size_t size;
  uint8_t *bytes = rv_memory_alloc(room, RV_CPU);
  if (!bytes) {
    rv_log(log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  RvStatus status = rv_road_save(road, bytes, room, &size, stream);
  if (status == RV_OK)
    status = write_file(log, path, bytes, size);
  rv_memory_free(bytes, RV_CPU);
  return status;
}

RvStatus rv_road_load_file(RvRoad *road, const char *path, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvLog *log = &road->config.log;
  RV_REQUIRE(log, path && *path, "road: load: a file name is needed");
  FILE *file = fopen(path, "rb");
  IO_REQUIRE(log, file, "road: cannot read library %s: %s", path, strerror(errno));
  const size_t room = size_of(CELLS_MAX, RV_ROAD_LIBRARY_MAX, RV_ROAD_SAMPLES_MAX) + 1;
  uint8_t *bytes = rv_memory_alloc(room, RV_CPU);
  const size_t size = bytes ? fread(bytes, 1, room, file) : 0;
  const int failed = bytes && ferror(file);
  const int reason = errno;
  fclose(file);
  RvStatus status = bytes ? RV_OK : RV_ERR_NO_MEMORY;
  if (!bytes) {
    rv_log(log, "road: out of host memory");
  } else if (failed) {
    rv_log(log, "road: cannot read library %s: %s", path, strerror(reason));
    status = RV_ERR_IO;
  }
  if (status == RV_OK)
    status = rv_road_load(road, bytes, size, stream);
  rv_memory_free(bytes, RV_CPU);
  return status;
}
