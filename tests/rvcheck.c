/* SPDX-License-Identifier: MIT */
/* rvcheck.c: what cases call: selection, random inputs, comparison, results, device copies. */
#include "rvcheck_run.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 when `whole` is `part` or continues with a slash after it. */
static int is_under(const char *whole, const char *part, size_t part_length) {
  return strncmp(whole, part, part_length) == 0 &&
         (whole[part_length] == '\0' || whole[part_length] == '/');
}

static int is_asked(const char *only, const char *name) {
  if (!only)
    return 1;
  for (const char *at = only; *at;) {
    const size_t length = strcspn(at, ",");
    char token[RVC_NAME];
    if (length > 0 && length < sizeof token) {
      memcpy(token, at, length);
      token[length] = '\0';
      if (is_under(name, token, length) || is_under(token, name, strlen(name)) ||
          fnmatch(token, name, 0) == 0)
        return 1;
    }
    at += length + (at[length] == ',');
  }
  return 0;
}

int rvc_wants(RvCheck *check, const char *name) {
  if (!is_asked(check->only, name))
    return 0;
  pthread_mutex_lock(&check->log_lock);
  snprintf(check->current, sizeof check->current, "%s", name);
  check->last_line[0] = '\0';
  pthread_mutex_unlock(&check->log_lock);
  return 1;
}

int rvc_cuda(const RvCheck *check) {
  return check->cuda;
}

int rvc_cpu(const RvCheck *check) {
  return check->cpu_timed;
}

int rvc_small(const RvCheck *check) {
  return check->small;
}

int rvc_model(const RvCheck *check) {
  return check->model;
}

static void log_line(void *user, const char *text) {
  RvCheck *check = user;
  pthread_mutex_lock(&check->log_lock); /* the library may log from any thread */
  snprintf(check->last_line, sizeof check->last_line, "%s", text);
  if (check->verbose)
    fprintf(stderr, "  log %s: %s\n", check->current, text);
  pthread_mutex_unlock(&check->log_lock);
}

RvLog rvc_log(RvCheck *check) {
  return (RvLog){log_line, check};
}

/* --- Random inputs -----------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t v) { /* the finaliser of splitmix64: every bit reaches every other */
  v = (v ^ (v >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  v = (v ^ (v >> 27)) * UINT64_C(0x94d049bb133111eb);
  return v ^ (v >> 31);
}

RvRandom rvc_random(RvCheck *check, const char *name) {
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
  for (const char *at = name; *at; at++)
    hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
  return (RvRandom){mix(hash) ^ mix(check->seed + UINT64_C(0x9e3779b97f4a7c15))};
}

uint32_t rvc_next(RvRandom *random) {
  random->state += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mix(random->state) >> 32);
}

int rvc_range(RvRandom *random, int low, int high) {
  const uint64_t span = (uint64_t)((int64_t)high - low + 1);
  return (int)(low + (int64_t)(((uint64_t)rvc_next(random) * span) >> 32));
}

/* Value noise: random bytes on a grid of 8 px, bilinear between. */
static uint8_t smooth_value(uint64_t base, int x, int y) {
  unsigned corner[4];
  for (int k = 0; k < 4; k++) {
    const uint64_t cell = (uint64_t)(x / 8 + k % 2) << 32 | (uint64_t)(y / 8 + k / 2);
    corner[k] = (unsigned)(mix(base ^ mix(cell)) & 255);
  }
  const unsigned fx = (unsigned)x % 8, fy = (unsigned)y % 8;
  const unsigned top = corner[0] * (8 - fx) + corner[1] * fx;
  const unsigned bottom = corner[2] * (8 - fx) + corner[3] * fx;
  return (uint8_t)((top * (8 - fy) + bottom * fy) / 64);
}

void rvc_set(const RvParams *params, void *config, const char *settings) {
  char name[64], value[64];
  for (int used = 0; sscanf(settings, " %63[^=]=%63s%n", name, value, &used) == 2; settings += used)
    if (rv_params_set(params, config, name, value) != RV_OK) {
      fprintf(stderr, "%s: %s=%s is not valid\n", params->name, name, value);
      abort();
    }
}

void rvc_fill_u8(RvRandom *random, int kind, uint8_t *out, int width, int height,
                 ptrdiff_t stride) {
  const uint64_t base = (uint64_t)rvc_next(random) << 32 | rvc_next(random);
  for (int y = 0; y < height; y++) {
    uint8_t *row = out + y * stride;
    for (int x = 0; x < width; x++) {
      switch (kind) {
      case RVC_ZERO:
        row[x] = 0;
        break;
      case RVC_ONES:
        row[x] = 255;
        break;
      case RVC_RAMP:
        row[x] = (uint8_t)(x + y);
        break;
      case RVC_CHECKER:
        row[x] = ((x ^ y) & 1) ? 255 : 0;
        break;
      case RVC_SMOOTH:
        row[x] = smooth_value(base, x, y);
        break;
      default:
        row[x] = (uint8_t)(rvc_next(random) >> 24);
      }
    }
  }
}

/* --- Results -----------------------------------------------------------------------------------
 */

#define RVC_SHOWN 40 /* failures printed in full; the rest is counted */

static void fail(RvCheck *check, const char *name, const char *text) {
  check->checks++;
  if (++check->failures > RVC_SHOWN) {
    if (check->failures == RVC_SHOWN + 1)
      printf("FAIL ... further failures are counted, not shown\n");
    return;
  }
  printf("FAIL %s: %s\n", name, text);
  if (check->last_line[0])
    printf("     the library's last words: %s\n", check->last_line);
  if (check->again)
    printf("     again: %s %s --seed %llu%s\n", check->again, name, (unsigned long long)check->seed,
           check->small ? " --small" : "");
  fflush(stdout);
}

void rvc_ok(RvCheck *check, const char *name) {
  check->checks++;
  if (check->verbose)
    fprintf(stderr, "  ok %s\n", name);
}

static void fail_with(RvCheck *check, const char *name, const char *format, va_list args) {
  char text[RVC_LINE];
  vsnprintf(text, sizeof text, format, args);
  fail(check, name, text);
}

void rvc_fail(RvCheck *check, const char *name, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail_with(check, name, format, args);
  va_end(args);
}

void rvc_cases(RvCheck *check, const RvCase *cases, size_t count) {
  for (size_t k = 0; k < count; k++) {
    const RvCase *c = &cases[k];
    if ((c->flags & RVC_LARGE && check->small) || (c->flags & RVC_ON_CUDA && !check->cuda))
      continue;
    if (c->group) {
      c->group(check);
    } else if (rvc_wants(check, c->name)) {
      RvRandom random = rvc_random(check, c->name);
      c->run(check, c->name, &random);
      rvc_ok(check, c->name);
    }
  }
}

int rvc_true(RvCheck *check, const char *name, int condition, const char *format, ...) {
  if (condition) {
    rvc_ok(check, name);
    return 1;
  }
  va_list args;
  va_start(args, format);
  fail_with(check, name, format, args);
  va_end(args);
  return 0;
}

static void value_text(char *out, size_t size, RvFormat format, const void *pixel) {
  uint32_t bits = 0;
  memcpy(&bits, pixel, rv_format_bytes(format));
  if (format == RV_F32) {
    float value;
    memcpy(&value, pixel, sizeof value);
    snprintf(out, size, "%.9g (0x%08x)", (double)value, bits);
  } else if (format == RV_U8) {
    snprintf(out, size, "%u", (unsigned)*(const uint8_t *)pixel);
  } else if (format == RV_U16) {
    uint16_t value;
    memcpy(&value, pixel, sizeof value);
    snprintf(out, size, "%u", (unsigned)value);
  } else {
    snprintf(out, size, "%u", bits);
  }
}

int rvc_same(RvCheck *check, const char *name, const RvPlane *expected, const RvPlane *got,
             const char *what) {
  if (expected->width != got->width || expected->height != got->height ||
      expected->format != got->format || !expected->data || !got->data) {
    rvc_fail(check, name, "%s: the rasters differ in kind: %dx%d format %d against %dx%d format %d",
             what, expected->width, expected->height, (int)expected->format, got->width,
             got->height, (int)got->format);
    return 0;
  }
  const size_t pixel = rv_format_bytes(expected->format);
  long wrong = 0;
  int first_x = 0, first_y = 0;
  for (int y = 0; y < expected->height; y++) {
    const char *a = (const char *)expected->data + y * expected->stride;
    const char *b = (const char *)got->data + y * got->stride;
    if (memcmp(a, b, pixel * (size_t)expected->width) == 0)
      continue;
    for (int x = 0; x < expected->width; x++) {
      if (memcmp(a + pixel * (size_t)x, b + pixel * (size_t)x, pixel) == 0)
        continue;
      if (wrong++ == 0) {
        first_x = x;
        first_y = y;
      }
    }
  }
  if (wrong == 0) {
    rvc_ok(check, name);
    return 1;
  }
  char want[48], have[48];
  value_text(want, sizeof want, expected->format,
             (const char *)expected->data + first_y * expected->stride + pixel * (size_t)first_x);
  value_text(have, sizeof have, got->format,
             (const char *)got->data + first_y * got->stride + pixel * (size_t)first_x);
  rvc_fail(check, name, "%s: %ld of %ld values differ, first at x=%d y=%d: expected %s, got %s",
           what, wrong, (long)expected->width * expected->height, first_x, first_y, want, have);
  return 0;
}

/* --- Device copies -----------------------------------------------------------------------------
 */

void *rvc_memory(size_t bytes) {
  void *memory = calloc(1, bytes ? bytes : 1);
  if (!memory)
    abort();
  return memory;
}

/* Any value: rv_params_set accepts valid ones only. */
static void set_field(const RvParam *p, void *config, double value) {
  char *at = (char *)config + p->offset;
  const int whole = (int)value;
  if (p->type == RV_PARAM_DOUBLE)
    memcpy(at, &value, sizeof value);
  else
    memcpy(at, &whole, sizeof whole);
}

void rvc_fuzz_config(const RvParams *params, void *config, const RvFuzzField *fields, size_t count,
                     const uint8_t *bytes) {
  rv_params_defaults(params, config);
  for (size_t k = 0; k < count; k++) {
    const RvFuzzField *f = &fields[k];
    const int byte = f->values ? bytes[f->at] % f->values : bytes[f->at];
    set_field(rv_params_find(params, f->name), config, f->low + f->step * byte);
  }
  set_field(rv_params_find(params, "threads"), config, 1);
}

RvPlane rvc_fuzz_u16(int width, int height, const uint8_t *bytes, size_t size, int shift) {
  const RvPlane plane = rvc_plane(width, height, RV_U16);
  for (int i = 0; i < width * height; i++)
    ((uint16_t *)plane.data)[i] = (uint16_t)(bytes[(size_t)i % size] << shift);
  return plane;
}

RvPlane rvc_plane(int width, int height, RvFormat format) {
  const size_t stride = (size_t)width * rv_format_bytes(format);
  const RvPlane plane = {calloc((size_t)height, stride), (ptrdiff_t)stride, width, height, format};
  if (!plane.data)
    abort(); /* the test's own memory */
  return plane;
}

int rvc_same_dense(RvCheck *check, const char *name, const void *expected, const void *got,
                   int width, int height, RvFormat format, const char *what, const char *part) {
  char text[512];
  snprintf(text, sizeof text, "%s, %s", what, part);
  const ptrdiff_t stride = width * (ptrdiff_t)rv_format_bytes(format);
  const RvPlane a = {(void *)(uintptr_t)expected, stride, width, height, format};
  const RvPlane b = {(void *)(uintptr_t)got, stride, width, height, format};
  return rvc_same(check, name, &a, &b, text);
}

void rvc_planes(RvPlane *planes, int count, int width, int height, RvFormat format) {
  for (int i = 0; i < count; i++)
    planes[i] = rvc_plane(width, height, format);
}

void rvc_planes_free(RvPlane *planes, int count) {
  for (int i = 0; i < count; i++)
    free(planes[i].data);
}

int rvc_upload(RvCheck *check, RvPlane *device, const RvPlane *host) {
  /* Rows are padded, as GStreamer's CUDA memory has them: a kernel that takes width for stride
   * is found out. */
  const size_t row = rv_format_bytes(host->format) * (size_t)host->width;
  const size_t stride = (row + 511) / 512 * 512;
  const RvPlane from = *host; /* may be the same struct as *device */
  *device = from;
  device->data = NULL;
  device->stride = (ptrdiff_t)stride;
  RvStatus status = rv_buffer_new(&device->data, stride * (size_t)from.height, RV_CUDA);
  if (status == RV_OK && from.data)
    status = rv_copy_rows(device->data, device->stride, RV_CUDA, from.data, from.stride, RV_CPU,
                          row, from.height, NULL);
  if (status == RV_OK)
    return 1;
  rvc_device_free(device);
  rvc_fail(check, check->current, "upload of %dx%d: %s", from.width, from.height,
           rv_status_text(status));
  return 0;
}

int rvc_download(RvCheck *check, const RvPlane *host, const RvPlane *device) {
  const size_t row = rv_format_bytes(host->format) * (size_t)host->width;
  const int fits = host->width == device->width && host->height == device->height &&
                   host->format == device->format && host->data && device->data;
  const RvStatus status = fits ? rv_copy_rows(host->data, host->stride, RV_CPU, device->data,
                                              device->stride, RV_CUDA, row, host->height, NULL)
                               : RV_ERR_ARG;
  if (status == RV_OK)
    return 1;
  rvc_fail(check, check->current, "download of %dx%d: %s", host->width, host->height,
           rv_status_text(status));
  return 0;
}

void rvc_device_free(RvPlane *device) {
  rv_buffer_free(&device->data, RV_CUDA);
}
