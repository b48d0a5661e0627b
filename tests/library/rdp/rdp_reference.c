/* SPDX-License-Identifier: MIT */
/* rdp_reference.c: the plain recursion, and comparison of results. */
#include "rdp/rdp_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN 0xEE

/* --- Results --------------------------------------------------------------------------------- */

static void *filled(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory)
    abort();
  return memset(memory, PATTERN, bytes ? bytes : 1);
}

RdpResult rdp_result_new(const RvRdpConfig *config, uint32_t room) {
  const size_t width = (size_t)config->width, pixels = width * (size_t)config->height;
  return (RdpResult){config->width,
                     config->height,
                     room,
                     filled(pixels),
                     filled(pixels * sizeof(uint16_t)),
                     filled(room * sizeof(RvSegment)),
                     filled((width + 1) * sizeof(uint32_t)),
                     filled(width * sizeof(RvRdpColumn))};
}

void rdp_result_free(RdpResult *result) {
  free(result->mask);
  free(result->drawn);
  free(result->segments);
  free(result->offsets);
  free(result->columns);
}

RvRdpOutput rdp_result_output(const RdpResult *r) {
  return (RvRdpOutput){
      .mask = {r->mask, r->width, r->width, r->height, RV_U8},
      .reconstruction = {r->drawn, 2 * (ptrdiff_t)r->width, r->width, r->height, RV_U16},
      .segments = r->segments,
      .capacity = r->room,
      .offsets = r->offsets,
      .columns = r->columns,
  };
}

static int same(RvCheck *check, const char *name, const char *what, const char *part,
                const void *expected, const void *got, int width, int height, RvFormat format) {
  return rvc_same_dense(check, name, expected, got, width, height, format, what, part);
}

int rdp_result_same(RvCheck *check, const char *name, const RdpResult *expected,
                    const RdpResult *got, const char *what) {
  const int width = expected->width, height = expected->height;
  int ok =
      same(check, name, what, "offsets", expected->offsets, got->offsets, width + 1, 1, RV_U32);
  ok &= same(check, name, what, "mask", expected->mask, got->mask, width, height, RV_U8);
  ok &=
      same(check, name, what, "reconstruction", expected->drawn, got->drawn, width, height, RV_U16);
  ok &= same(check, name, what, "columns (segments, points, error sum, error max + levels)",
             expected->columns, got->columns, 4, width, RV_U32);
  if (expected->room)
    ok &= same(check, name, what, "segments (column, first, last, -, disparities)",
               expected->segments, got->segments, 6, (int)expected->room, RV_U16);
  return ok;
}

/* --- Reference ------------------------------------------------------------------------------------ */

__extension__ typedef __int128 Wide;

typedef struct Reference {
  const RvRdpConfig *config;
  const uint16_t *column;
  uint8_t *cut;
  int levels;
} Reference;

static int is_too_far(const RvRdpConfig *config, int64_t e, int64_t length, int64_t rise) {
  const int64_t epsilon = (int64_t)(config->epsilon * 4096 + 0.5);
  if (config->distance == RV_RDP_VERTICAL)
    return e * 256 > epsilon * length;
  return (Wide)e * e * 16777216 > (Wide)epsilon * epsilon * (256 * length * length + rise * rise);
}

static void recurse(Reference *reference, int first, int last, int level) {
  const uint16_t *d = reference->column;
  int64_t farthest = 0;
  int at = first;
  for (int i = first + 1; i < last; i++) {
    if (d[i] == 0)
      continue;
    const int64_t e = llabs((int64_t)(d[last] - d[first]) * (i - first) -
                            (int64_t)(d[i] - d[first]) * (last - first));
    if (e > farthest) {
      farthest = e;
      at = i;
    }
  }
  reference->levels = level > reference->levels ? level : reference->levels;
  const int limit = reference->config->max_levels;
  if ((limit && level >= limit) ||
      !is_too_far(reference->config, farthest, last - first, d[last] - d[first]))
    return;
  reference->cut[at] = 1;
  recurse(reference, first, at, level + 1);
  recurse(reference, at, last, level + 1);
}

static int by_value(const void *a, const void *b) {
  return *(const uint16_t *)a - *(const uint16_t *)b;
}

static uint16_t reference_value(const RvRdpConfig *c, const uint16_t *source, int x, int y) {
  const int reach = c->median / 2;
  if (reach == 0 || source[(size_t)y * (size_t)c->width + (size_t)x] == 0)
    return source[(size_t)y * (size_t)c->width + (size_t)x];
  uint16_t values[25];
  int count = 0;
  for (int v = y - reach; v <= y + reach; v++)
    for (int u = x - reach; u <= x + reach; u++)
      if (u >= 0 && u < c->width && v >= 0 && v < c->height &&
          source[(size_t)v * (size_t)c->width + (size_t)u])
        values[count++] = source[(size_t)v * (size_t)c->width + (size_t)u];
  qsort(values, (size_t)count, sizeof values[0], by_value);
  return values[(count - 1) / 2];
}

/* Value at row i of the segment, halves away from the first value. */
static int on_segment(const uint16_t *d, int first, int last, int i) {
  if (first == last)
    return d[first];
  const double exact = (double)(d[last] - d[first]) * (i - first) / (last - first);
  return d[first] + (int)(exact < 0 ? -(0.5 - exact) : exact + 0.5);
}

/* Writes one segment everywhere. */
static void emit(RdpResult *r, const uint16_t *d, int x, int first, int last, uint32_t *count) {
  if (*count < r->room)
    r->segments[*count] =
        (RvSegment){(uint16_t)x, (uint16_t)first, (uint16_t)last, 0, d[first], d[last]};
  ++*count;
  RvRdpColumn *column = &r->columns[x];
  column->segments++;
  for (int i = first; i <= last; i++) {
    const int value = on_segment(d, first, last, i);
    r->drawn[(size_t)i * (size_t)r->width + (size_t)x] = (uint16_t)value;
    if (d[i] == 0 || (i == first && r->mask[(size_t)i * (size_t)r->width + (size_t)x] == 255))
      continue; /* a cut is a value of the segment above it */
    const int error = abs(value - d[i]);
    column->error_sum += (uint32_t)error;
    column->error_max = (uint16_t)(error > column->error_max ? error : column->error_max);
  }
}

static void reference_piece(Reference *reference, RdpResult *r, int x, int first, int last,
                            uint32_t *count) {
  const uint16_t *d = reference->column;
  const size_t width = (size_t)r->width;
  recurse(reference, first, last, 1);
  r->mask[(size_t)first * width + (size_t)x] = 128;
  r->mask[(size_t)last * width + (size_t)x] = 128;
  int begin = first;
  for (int i = first + 1; i <= last; i++) {
    if (!reference->cut[i] && i != last)
      continue;
    if (reference->cut[i])
      r->mask[(size_t)i * width + (size_t)x] = 255;
    emit(r, d, x, begin, i, count);
    begin = i;
  }
  if (first == last)
    emit(r, d, x, first, last, count);
}

static void reference_column(Reference *reference, RdpResult *r, int x, uint32_t *count) {
  const int height = reference->config->height;
  const int skip = reference->config->invalid == RV_RDP_SKIP;
  memset(reference->cut, 0, (size_t)height);
  reference->levels = 0;
  for (int i = 0; i < height; i++) {
    if (reference->column[i] == 0)
      continue;
    int last = i;
    for (int k = i; k < height && (skip || reference->column[k]); k++)
      last = reference->column[k] ? k : last;
    reference_piece(reference, r, x, i, last, count);
    i = skip ? height : last;
  }
  for (int i = 0; i < height; i++)
    r->columns[x].points += reference->column[i] != 0;
  r->columns[x].levels = (uint16_t)reference->levels;
}

void rdp_reference(const RvRdpConfig *config, const uint16_t *source, RdpResult *r) {
  const size_t width = (size_t)r->width, height = (size_t)r->height;
  uint16_t *column = filled(height * sizeof *column);
  Reference reference = {config, column, filled(height), 0};
  uint32_t count = 0;
  memset(r->mask, 0, width * height);
  memset(r->drawn, 0, width * height * sizeof *r->drawn);
  memset(r->columns, 0, width * sizeof *r->columns);
  for (int x = 0; x < r->width; x++) {
    for (int y = 0; y < r->height; y++)
      column[y] = reference_value(config, source, x, y);
    r->offsets[x] = count;
    reference_column(&reference, r, x, &count);
  }
  r->offsets[r->width] = count;
  free(column);
  free(reference.cut);
}

/* --- Plain recursion as programs have it ------------------------------------------------------ */

typedef struct Plain {
  const uint16_t *d;
  int64_t epsilon; /* 1/4096 px */
  uint16_t *rows;  /* where segments end */
  int count;
} Plain;

static void plain_recurse(Plain *p, int first, int last) {
  const uint16_t *d = p->d;
  const int rise = d[last] - d[first], length = last - first, base = d[first];
  int farthest = 0, at = first;
  for (int k = 1; k < length; k++) {
    const int e = abs(rise * k - (d[first + k] - base) * length);
    if (e > farthest) {
      farthest = e;
      at = first + k;
    }
  }
  if ((int64_t)farthest * 256 > p->epsilon * length) {
    plain_recurse(p, first, at);
    plain_recurse(p, at, last);
  } else {
    p->rows[p->count++] = (uint16_t)last;
  }
}

static void plain_column(const RvRdpConfig *c, const RvPlane *source, uint16_t *column,
                         uint16_t *rows, const RvRdpOutput *out, int x) {
  const char *from = (const char *)source->data + 2 * x;
  for (int y = 0; y < c->height; y++)
    column[y] = *(const uint16_t *)(const void *)(from + y * source->stride);
  Plain plain = {column, (int64_t)(c->epsilon * 4096 + 0.5), rows, 0};
  plain_recurse(&plain, 0, c->height - 1);
  uint8_t *mask = (uint8_t *)out->mask.data + x;
  for (int y = 0; y < c->height; y++)
    mask[y * out->mask.stride] = 0;
  mask[0] = mask[(c->height - 1) * out->mask.stride] = RV_RDP_END;
  for (int k = 0; k + 1 < plain.count; k++)
    mask[rows[k] * out->mask.stride] = RV_RDP_CUT;
  out->offsets[x] = (uint32_t)plain.count;
}

void rdp_plain_recursion(const RvRdpConfig *c, const RvPlane *source, uint16_t *rows,
                         const RvRdpOutput *out) {
  const size_t height = (size_t)c->height;
#pragma omp parallel
  {
    uint16_t *column = filled(height * sizeof *column);
#pragma omp for schedule(dynamic, 16)
    for (int x = 0; x < c->width; x++)
      plain_column(c, source, column, rows + (size_t)x * height, out, x);
    free(column);
  }
  uint32_t sum = 0;
  for (int x = 0; x <= c->width; x++) {
    const uint32_t count = x < c->width ? out->offsets[x] : 0;
    out->offsets[x] = sum;
    sum += count;
  }
#pragma omp parallel for
  for (int x = 0; x < c->width; x++) {
    const char *from = (const char *)source->data + 2 * x;
    int first = 0;
    for (uint32_t k = out->offsets[x]; k < out->offsets[x + 1]; k++) {
      const int last = rows[(size_t)x * height + (k - out->offsets[x])];
      out->segments[k] =
          (RvSegment){(uint16_t)x,
                      (uint16_t)first,
                      (uint16_t)last,
                      0,
                      *(const uint16_t *)(const void *)(from + first * source->stride),
                      *(const uint16_t *)(const void *)(from + last * source->stride)};
      first = last;
    }
  }
}
