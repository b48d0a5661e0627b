/* SPDX-License-Identifier: MIT */
/* road_save.c: models and pending samples as bytes (road.h specifies the format): written, checked
 * when read, and adapted to the object that loads them. */
#include <errno.h>
#include <stdio.h>

#include "road/road_stages.h"

#define MAGIC "RvRoadL\n"
#define MAGIC_SIZE 8
#define VERSION 1
#define HEADER 32
#define CELLS_MAX (RV_ROAD_BINS_MAX * RV_ROAD_BINS_MAX)

/* --- Bytes ----------------------------------------------------------------------------------- */

static size_t size_of(int cells, int models, int pending) {
  const size_t model = sizeof(double) * (1 + 2 * (size_t)cells);
  return HEADER + (size_t)models * model + (size_t)pending * (size_t)cells + 4;
}

/* CRC-32 with the polynomial 0xedb88320, four bits at a time. */
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

static size_t write_all(uint8_t *to, const RvRoadLearned *l) {
  const size_t cells = (size_t)l->bins * (size_t)l->bins, values = (size_t)l->count * cells;
  uint8_t *at = to + MAGIC_SIZE;
  memcpy(to, MAGIC, MAGIC_SIZE);
  at = put_u32(at, VERSION);
  at = put_u32(at, (uint32_t)l->bins);
  at = put_u32(at, (uint32_t)l->patch_size);
  at = put_u32(at, (uint32_t)l->slots);
  at = put_u32(at, (uint32_t)l->count);
  at = put_u32(at, (uint32_t)l->pending);
  at = put_doubles(at, l->weight, (size_t)l->count);
  at = put_doubles(at, l->mean, values);
  at = put_doubles(at, l->variance, values);
  memcpy(at, l->features, (size_t)l->pending * cells);
  at += (size_t)l->pending * cells;
  at = put_u32(at, crc_of(to, (size_t)(at - to)));
  return (size_t)(at - to);
}

/* --- Checks ---------------------------------------------------------------------------------- */

#define IO_REQUIRE(log, ...) RV_REQUIRE_OR(RV_ERR_IO, log, __VA_ARGS__)

static RvStatus header_range(const RvLog *log, const char *name, int64_t value, int low, int high) {
  IO_REQUIRE(log, value >= low && value <= high,
             "road: model file is corrupt: %s is %lld, must be %d to %d", name, (long long)value,
             low, high);
  return RV_OK;
}

/* Reads and checks the header, the size and the checksum. */
static RvStatus check_bytes(const RvRoadConfig *c, const uint8_t *from, size_t bytes,
                            RvRoadLearned *l) {
  const RvLog *log = &c->log;
  IO_REQUIRE(log, bytes >= MAGIC_SIZE && memcmp(from, MAGIC, MAGIC_SIZE) == 0,
             "road: not a file of road models (it does not start with \"RvRoadL\")");
  IO_REQUIRE(log, bytes >= HEADER + 4, "road: model file is truncated: %zu bytes, a header has %d",
             bytes, HEADER);
  IO_REQUIRE(log, get_u32(from + 8) == VERSION, "road: model file has version %u, must be %d",
             get_u32(from + 8), VERSION);
  const int64_t bins = get_u32(from + 12), patch = get_u32(from + 16), slots = get_u32(from + 20);
  const int64_t count = get_u32(from + 24), pending = get_u32(from + 28);
  RV_TRY(header_range(log, "bins", bins, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX));
  RV_TRY(header_range(log, "patch size", patch, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX));
  RV_TRY(header_range(log, "library size", slots, 1, RV_ROAD_LIBRARY_MAX));
  RV_TRY(header_range(log, "models", count, 0, (int)slots));
  RV_TRY(header_range(log, "pending samples", pending, 0, RV_ROAD_SAMPLES_MAX - 1));
  const size_t wanted = size_of((int)(bins * bins), (int)count, (int)pending);
  IO_REQUIRE(log, bytes == wanted, "road: model file is %s: %zu bytes, %zu according to its header",
             bytes < wanted ? "truncated" : "too long", bytes, wanted);
  IO_REQUIRE(log, get_u32(from + bytes - 4) == crc_of(from, bytes - 4),
             "road: model file is corrupt: wrong checksum");
  IO_REQUIRE(log, bins == c->bins, "road: model file has %d bins, this object %d: use bins=%d",
             (int)bins, c->bins, (int)bins);
  *l = (RvRoadLearned){.bins = (int)bins,
                       .patch_size = (int)patch,
                       .slots = (int)slots,
                       .count = (int)count,
                       .pending = (int)pending};
  return RV_OK;
}

/* 1 when mean and variance are possible for histograms of `area` px, up to rounding. */
static int is_plausible(const double *mean, const double *variance, int cells, double area) {
  const double above = 1 + 1e-6;
  double sum = 0;
  for (int i = 0; i < cells; i++) {
    if (!(mean[i] >= 0 && mean[i] <= area * above) ||
        !(variance[i] * above >= RV_ROAD_FLOOR_MIN * area * area &&
          variance[i] <= RV_ROAD_FLOOR_MAX * area * area * above))
      return 0;
    sum += mean[i];
  }
  return sum >= area * (1 - 1e-6) && sum <= area * above;
}

static RvStatus check_learned(const RvLog *log, const RvRoadLearned *l) {
  const int cells = l->bins * l->bins, area = l->patch_size * l->patch_size;
  double weights = 0;
  for (int j = 0; j < l->count; j++) {
    IO_REQUIRE(log, l->weight[j] >= 0 && l->weight[j] <= 1 + 1e-6,
               "road: model file is corrupt: weight of model %d is %g, must be 0 to 1", j,
               l->weight[j]);
    IO_REQUIRE(log,
               is_plausible(l->mean + (size_t)j * (size_t)cells,
                            l->variance + (size_t)j * (size_t)cells, cells, area),
               "road: model file is corrupt: mean or variance of model %d is impossible for %d px",
               j, area);
    weights += l->weight[j];
  }
  IO_REQUIRE(log, l->count == 0 || (weights >= 1 - 1e-6 && weights <= 1 + 1e-6),
             "road: model file is corrupt: weights sum to %g, must be 1", weights);
  for (int i = 0; i < l->pending; i++) {
    int sum = 0;
    for (int cell = 0; cell < cells; cell++)
      sum += l->features[(size_t)i * (size_t)cells + (size_t)cell];
    IO_REQUIRE(log, sum == area,
               "road: model file is corrupt: pending sample %d has %d px, must be %d", i, sum,
               area);
  }
  return RV_OK;
}

/* --- In memory ------------------------------------------------------------------------------- */

RvRoadLearned *rv_road_learned_new(const RvLog *log, int bins, int models, int pending) {
  const size_t cells = (size_t)bins * (size_t)bins, values = (size_t)models * cells;
  const size_t doubles = 2 * values + (size_t)models;
  RvRoadLearned *l =
      rv_memory_alloc(sizeof *l + doubles * sizeof(double) + (size_t)pending * cells, RV_CPU);
  if (!l) {
    rv_log(log, "road: out of host memory");
    return NULL;
  }
  double *mean = (double *)(void *)(l + 1);
  *l = (RvRoadLearned){.bins = bins,
                       .slots = models,
                       .mean = mean,
                       .variance = mean + values,
                       .weight = mean + 2 * values,
                       .features = (uint8_t *)(mean + doubles)};
  return l;
}

/* Keeps the `maximum` models with the highest weight, in their order; on a tie, the first. */
static void keep_models(RvRoadLearned *l, int maximum) {
  const size_t cells = (size_t)l->bins * (size_t)l->bins;
  while (l->count > maximum) {
    int lowest = 0;
    for (int j = 1; j < l->count; j++)
      if (l->weight[j] <= l->weight[lowest])
        lowest = j;
    const size_t after = (size_t)(--l->count - lowest), at = (size_t)lowest * cells;
    memmove(l->weight + lowest, l->weight + lowest + 1, after * sizeof *l->weight);
    memmove(l->mean + at, l->mean + at + cells, after * cells * sizeof *l->mean);
    memmove(l->variance + at, l->variance + at + cells, after * cells * sizeof *l->variance);
  }
}

void rv_road_learned_fit(RvRoadLearned *l, const RvRoadConfig *c) {
  const size_t cells = (size_t)l->bins * (size_t)l->bins;
  const int area = c->patch_size * c->patch_size;
  if (l->count > c->library_size) {
    keep_models(l, c->library_size);
    rv_road_normalize(l->weight, l->count);
  }
  if (l->patch_size != c->patch_size) {
    const double scale = (double)area / (l->patch_size * l->patch_size);
    for (size_t i = 0; i < (size_t)l->count * cells; i++) {
      l->mean[i] = l->mean[i] * scale;
      l->variance[i] = l->variance[i] * scale * scale;
    }
    l->pending = 0;
  }
  const double floor = c->variance_floor * area * area;
  for (size_t i = 0; i < (size_t)l->count * cells; i++)
    l->variance[i] = l->variance[i] > floor ? l->variance[i] : floor;
  const int surplus = l->pending - (c->min_samples - 1);
  if (surplus > 0) {
    l->pending -= surplus;
    memmove(l->features, l->features + (size_t)surplus * cells, (size_t)l->pending * cells);
  }
  l->patch_size = c->patch_size;
  l->slots = c->library_size;
}

size_t rv_road_save_bytes(const RvRoadConfig *c) {
  if (rv_road_config_check(c) != RV_OK)
    return 0;
  return size_of(c->bins * c->bins, c->library_size, c->min_samples);
}

RvStatus rv_road_save(RvRoad *road, void *to, size_t capacity, size_t *bytes, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvRoadConfig *c = &road->plan.config;
  RV_REQUIRE(&c->log, to && bytes, "road: save: memory and bytes must not be NULL");
  RV_REQUIRE(&c->log, capacity >= rv_road_save_bytes(c),
             "road: save: capacity is %zu bytes, must be at least %zu (rv_road_save_bytes)",
             capacity, rv_road_save_bytes(c));
  RvRoadLearned *learned = rv_road_learned_new(&c->log, c->bins, c->library_size, c->min_samples);
  if (!learned)
    return RV_ERR_NO_MEMORY;
  learned->patch_size = c->patch_size;
  const RvStatus status = rv_road_take(road, learned, stream);
  if (status == RV_OK)
    *bytes = write_all(to, learned);
  rv_memory_free(learned, RV_CPU);
  return status;
}

RvStatus rv_road_load(RvRoad *road, const void *from, size_t bytes, RvStream stream) {
  if (!road)
    return RV_ERR_ARG;
  const RvRoadConfig *c = &road->plan.config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, from, "road: load: memory must not be NULL");
  RvRoadLearned head;
  RV_TRY(check_bytes(c, from, bytes, &head));
  RvRoadLearned *learned = rv_road_learned_new(log, head.bins, head.count, head.pending);
  if (!learned)
    return RV_ERR_NO_MEMORY;
  learned->patch_size = head.patch_size;
  learned->count = head.count;
  learned->pending = head.pending;
  const size_t cells = (size_t)head.bins * (size_t)head.bins, values = (size_t)head.count * cells;
  const uint8_t *at =
      get_doubles((const uint8_t *)from + HEADER, learned->weight, (size_t)head.count);
  at = get_doubles(at, learned->mean, values);
  at = get_doubles(at, learned->variance, values);
  memcpy(learned->features, at, (size_t)head.pending * cells);
  RvStatus status = check_learned(log, learned);
  if (status == RV_OK) {
    rv_road_learned_fit(learned, c);
    status = rv_road_give(road, learned, stream);
  }
  rv_memory_free(learned, RV_CPU);
  return status;
}

/* --- Files ----------------------------------------------------------------------------------- */

static RvStatus write_file(const RvLog *log, const char *path, const uint8_t *bytes, size_t size) {
  char name[4096];
  const int length = snprintf(name, sizeof name, "%s~", path);
  IO_REQUIRE(log, length > 0 && (size_t)length < sizeof name,
             "road: path of the model file is too long");
  FILE *file = fopen(name, "wb");
  IO_REQUIRE(log, file, "road: cannot write model file %s: %s", name, strerror(errno));
  const int is_written = fwrite(bytes, 1, size, file) == size;
  const int is_closed = fclose(file) == 0;
  if (is_written && is_closed && rename(name, path) == 0)
    return RV_OK;
  rv_log(log, "road: cannot write model file %s: %s", path, strerror(errno));
  remove(name);
  return RV_ERR_IO;
}

static RvStatus check_path(const RvRoad *road, const char *path, const char *action) {
  if (!road)
    return RV_ERR_ARG;
  RV_REQUIRE(&road->plan.config.log, path && *path, "road: %s: the file name must not be empty",
             action);
  return RV_OK;
}

RvStatus rv_road_save_file(RvRoad *road, const char *path, RvStream stream) {
  RV_TRY(check_path(road, path, "save"));
  const RvLog *log = &road->plan.config.log;
  const size_t capacity = rv_road_save_bytes(&road->plan.config);
  size_t size;
  uint8_t *bytes = rv_memory_alloc(capacity, RV_CPU);
  if (!bytes) {
    rv_log(log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  RvStatus status = rv_road_save(road, bytes, capacity, &size, stream);
  if (status == RV_OK)
    status = write_file(log, path, bytes, size);
  rv_memory_free(bytes, RV_CPU);
  return status;
}

RvStatus rv_road_load_file(RvRoad *road, const char *path, RvStream stream) {
  RV_TRY(check_path(road, path, "load"));
  const RvLog *log = &road->plan.config.log;
  FILE *file = fopen(path, "rb");
  IO_REQUIRE(log, file, "road: cannot read model file %s: %s", path, strerror(errno));
  const size_t capacity = size_of(CELLS_MAX, RV_ROAD_LIBRARY_MAX, RV_ROAD_SAMPLES_MAX) + 1;
  uint8_t *bytes = rv_memory_alloc(capacity, RV_CPU);
  const size_t size = bytes ? fread(bytes, 1, capacity, file) : 0;
  const int failed = bytes && ferror(file);
  const int reason = errno;
  fclose(file);
  RvStatus status = bytes ? RV_OK : RV_ERR_NO_MEMORY;
  if (!bytes) {
    rv_log(log, "road: out of host memory");
  } else if (failed) {
    rv_log(log, "road: cannot read model file %s: %s", path, strerror(reason));
    status = RV_ERR_IO;
  }
  if (status == RV_OK)
    status = rv_road_load(road, bytes, size, stream);
  rv_memory_free(bytes, RV_CPU);
  return status;
}
