/* SPDX-License-Identifier: MIT */
/* rdp_cpu.c: the CPU engine: columns in tiles, each column by the recursion of rdp_cpu_column.c, then
 * the list. */
#include <string.h>

#include "rdp/rdp_cpu_column.h"
#include "rdp/rdp_stages.h"
#include "rv_openmp.h"

#define TILE 16      /* columns that are turned into contiguous ones at once */
#define WINDOW_MAX 5 /* rows of the largest median window */

/* Bits of the rows of one column: where pieces begin and end, and where they are cut. */
typedef struct Marks {
  uint32_t *cut, *first, *last;
} Marks;

typedef struct RvRdpCpu {
  int threads;
  int pitch; /* values of one column of a tile */
  int words; /* of 32 rows each */
  const RvRdpKernels *kernels;
  uint16_t *tiles;       /* [thread][TILE][pitch] */
  RvRdpPending *pending; /* [thread][height] */
  uint32_t *marks;       /* [column][3][words] */
  uint32_t *counts;      /* [column]: segments; later those of all columns to the left */
  uint16_t *filtered;
} RvRdpCpu;

RV_CPU_KERNELS(RvRdpKernels, rv_rdp_cpu_kernels, rv_rdp_kernels, RV_CPU_AVX512)

static void layout(void *work, const void *plan, RvArena *arena) {
  RvRdpCpu *cpu = work;
  const RvRdpConfig *c = plan;
  cpu->threads = rv_min(rv_threads(c->threads), rv_div_up(c->width, TILE));
  /* An odd number of cache lines apart, so that the columns of a tile share no cache set. */
  cpu->pitch = (rv_div_up(c->height + RV_RDP_OVERREAD, 32) | 1) * 32;
  cpu->words = rv_div_up(c->height, 32);
  const size_t width = (size_t)c->width, height = (size_t)c->height;
  const size_t threads = (size_t)cpu->threads;
  cpu->tiles = rv_arena_take(arena, threads * TILE * (size_t)cpu->pitch * sizeof *cpu->tiles);
  cpu->pending = rv_arena_take(arena, threads * height * sizeof *cpu->pending);
  cpu->marks = rv_arena_take(arena, width * 3 * (size_t)cpu->words * sizeof *cpu->marks);
  cpu->counts = rv_arena_take(arena, (width + 1) * sizeof *cpu->counts);
  if (c->median)
    cpu->filtered = rv_arena_take(arena, width * height * sizeof *cpu->filtered);
}

static RvStatus open_cpu(void *work, const void *plan) {
  RvRdpCpu *cpu = work;
  (void)plan;
  cpu->kernels = rv_rdp_cpu_kernels(0);
  memset(cpu->tiles, 0, (size_t)cpu->threads * TILE * (size_t)cpu->pitch * sizeof *cpu->tiles);
  return RV_OK;
}

static const uint16_t *row_of(const RvPlane *plane, int y) {
  return (const uint16_t *)((const char *)plane->data + y * plane->stride);
}

/* --- Median ---------------------------------------------------------------------------------- */

static uint16_t median_at(const RvPlane *plane, int x, int y, int reach) {
  uint16_t sorted[WINDOW_MAX * WINDOW_MAX];
  int count = 0;
  const int left = rv_max(x - reach, 0), right = rv_min(x + reach, plane->width - 1);
  const int top = rv_max(y - reach, 0), bottom = rv_min(y + reach, plane->height - 1);
  for (int v = top; v <= bottom; v++) {
    const uint16_t *row = row_of(plane, v);
    for (int u = left; u <= right; u++) {
      if (row[u] == 0)
        continue;
      int k = count++;
      for (; k > 0 && sorted[k - 1] > row[u]; k--)
        sorted[k] = sorted[k - 1];
      sorted[k] = row[u];
    }
  }
  return sorted[rv_rdp_median_rank(count)];
}

static RvStatus median(void *work, RvRdpJob *job) {
  const RvRdpCpu *cpu = work;
  const RvRdpConfig *c = &job->plan->config;
  const RvPlane plane = job->disparity;
#pragma omp parallel for num_threads(cpu->threads)
  for (int y = 0; y < c->height; y++) {
    const uint16_t *row = row_of(&plane, y);
    uint16_t *out = cpu->filtered + (size_t)y * (size_t)c->width;
    for (int x = 0; x < c->width; x++)
      out[x] = row[x] ? median_at(&plane, x, y, c->median / 2) : 0;
  }
  job->disparity = (RvPlane){cpu->filtered, (ptrdiff_t)c->width * 2, c->width, c->height, RV_U16};
  return RV_OK;
}

/* --- Columns --------------------------------------------------------------------------------- */

static Marks marks_of(const RvRdpCpu *cpu, int column) {
  uint32_t *cut = cpu->marks + (size_t)column * 3 * (size_t)cpu->words;
  return (Marks){cut, cut + cpu->words, cut + 2 * cpu->words};
}

static void mark(uint32_t *bits, int row) {
  bits[row >> 5] |= 1u << (row & 31);
}

static int is_marked(const uint32_t *bits, int row) {
  return bits[row >> 5] >> (row & 31) & 1;
}

/* Last row of the segment that begins at `row`. */
static int segment_end(const Marks *m, int row) {
  if (is_marked(m->last, row))
    return row;
  int word = row >> 5;
  uint32_t bits = (m->cut[word] | m->last[word]) & rv_rdp_after(row & 31);
  while (bits == 0) {
    word++;
    bits = m->cut[word] | m->last[word];
  }
  return word * 32 + __builtin_ctz(bits);
}

/* Marks the pieces of column d and cuts them. */
static void split_column(const RvRdpCpu *cpu, const RvRdpConfig *c, const RvRdpLimit *limit,
                         const uint16_t *d, RvRdpPending *pending, const Marks *m,
                         RvRdpColumn *column) {
  memset(m->cut, 0, 3 * (size_t)cpu->words * sizeof *m->cut);
  int levels = 0, points = 0;
  for (int begin = 0; begin < c->height; begin++) {
    if (d[begin] == 0)
      continue;
    int end = begin;
    for (int row = begin; row < c->height && (d[row] || c->invalid == RV_RDP_SKIP); row++) {
      points += d[row] != 0;
      end = d[row] ? row : end;
    }
    mark(m->first, begin);
    mark(m->last, end);
    levels = rv_max(levels, cpu->kernels->split(d, begin, end, limit, pending, m->cut));
    begin = c->invalid == RV_RDP_SKIP ? c->height : end;
  }
  uint32_t segments = 0;
  for (int k = 0; k < cpu->words; k++)
    segments += (uint32_t)__builtin_popcount(m->cut[k] | m->first[k]);
  *column =
      (RvRdpColumn){.segments = segments, .points = (uint32_t)points, .levels = (uint16_t)levels};
}

static void draw_mask(const RvRdpCpu *cpu, const RvPlane *mask, const Marks *m, int x) {
  uint8_t *column = (uint8_t *)mask->data + x;
  for (int k = 0; k < cpu->words; k++) {
    uint32_t bits = m->cut[k] | m->first[k] | m->last[k];
    for (; bits; bits &= bits - 1) {
      const int row = k * 32 + __builtin_ctz(bits);
      column[row * mask->stride] = is_marked(m->cut, row) ? RV_RDP_CUT : RV_RDP_END;
    }
  }
}

/* Writes one column of the reconstruction and measures it against the values. */
static void reconstruct(const RvRdpCpu *cpu, const RvPlane *plane, const uint16_t *d,
                        const Marks *m, int x, RvRdpColumn *column) {
  char *out = (char *)plane->data + 2 * x;
  for (int y = 0; y < plane->height; y++)
    *(uint16_t *)(void *)(out + y * plane->stride) = 0;
  for (int k = 0; k < cpu->words; k++) {
    uint32_t bits = m->cut[k] | m->first[k];
    for (; bits; bits &= bits - 1) {
      const int first = k * 32 + __builtin_ctz(bits), last = segment_end(m, first);
      for (int row = first; row <= last; row++) {
        const int value = rv_rdp_between(d[first], d[last], row - first, rv_max(last - first, 1));
        const int error = d[row] ? rv_abs(value - d[row]) : 0;
        *(uint16_t *)(void *)(out + row * plane->stride) = (uint16_t)value;
        column->error_sum += (uint32_t)error;
        column->error_max = (uint16_t)rv_max(column->error_max, error);
      }
    }
  }
}

static void load_tile(const RvRdpCpu *cpu, const RvPlane *plane, int x, int columns,
                      uint16_t *tile) {
  const size_t pitch = (size_t)cpu->pitch;
  for (int y = 0; y < plane->height; y++) {
    const uint16_t *row = row_of(plane, y) + x;
    if (columns == TILE)
      for (int k = 0; k < TILE; k++)
        tile[(size_t)k * pitch + (size_t)y] = row[k];
    else
      for (int k = 0; k < columns; k++)
        tile[(size_t)k * pitch + (size_t)y] = row[k];
  }
}

static void work_on_tile(const RvRdpCpu *cpu, const RvRdpJob *job, int x0) {
  const RvRdpConfig *c = &job->plan->config;
  const size_t thread = (size_t)omp_get_thread_num();
  uint16_t *tile = cpu->tiles + thread * TILE * (size_t)cpu->pitch;
  RvRdpPending *pending = cpu->pending + thread * (size_t)c->height;
  const RvRdpOutput *out = &job->output;
  const int columns = rv_min(TILE, c->width - x0);
  load_tile(cpu, &job->disparity, x0, columns, tile);
  for (int y = 0; out->mask.data && y < c->height; y++)
    memset((char *)out->mask.data + y * out->mask.stride + x0, RV_RDP_NONE, (size_t)columns);
  for (int k = 0; k < columns; k++) {
    const uint16_t *d = tile + (size_t)k * (size_t)cpu->pitch;
    const Marks m = marks_of(cpu, x0 + k);
    RvRdpColumn column;
    split_column(cpu, c, &job->plan->limit, d, pending, &m, &column);
    if (out->mask.data)
      draw_mask(cpu, &out->mask, &m, x0 + k);
    if (out->reconstruction.data)
      reconstruct(cpu, &out->reconstruction, d, &m, x0 + k, &column);
    if (out->columns)
      out->columns[x0 + k] = column;
    cpu->counts[x0 + k] = column.segments;
  }
}

/* --- List ------------------------------------------------------------------------------------ */

static void list_column(const RvRdpCpu *cpu, const RvRdpJob *job, int x) {
  const RvRdpOutput *out = &job->output;
  const Marks m = marks_of(cpu, x);
  uint32_t at = cpu->counts[x];
  for (int k = 0; k < cpu->words; k++) {
    uint32_t bits = m.cut[k] | m.first[k];
    for (; bits && at < out->capacity; bits &= bits - 1, at++) {
      const int first = k * 32 + __builtin_ctz(bits), last = segment_end(&m, first);
      out->segments[at] = (RvSegment){
          .column = (uint16_t)x,
          .first = (uint16_t)first,
          .last = (uint16_t)last,
          .disparity_first = row_of(&job->disparity, first)[x],
          .disparity_last = row_of(&job->disparity, last)[x],
      };
    }
  }
}

static RvStatus segment(void *work, RvRdpJob *job) {
  const RvRdpCpu *cpu = work;
  const RvRdpConfig *c = &job->plan->config;
  const int tiles = rv_div_up(c->width, TILE);
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic)
  for (int t = 0; t < tiles; t++)
    work_on_tile(cpu, job, t * TILE);
  uint32_t sum = 0;
  for (int x = 0; x <= c->width; x++) {
    const uint32_t count = x < c->width ? cpu->counts[x] : 0;
    cpu->counts[x] = sum;
    sum += count;
  }
  if (job->output.offsets)
    memcpy(job->output.offsets, cpu->counts, ((size_t)c->width + 1) * sizeof *cpu->counts);
  if (!job->output.segments)
    return RV_OK;
#pragma omp parallel for num_threads(cpu->threads) schedule(static)
  for (int x = 0; x < c->width; x++)
    list_column(cpu, job, x);
  return RV_OK;
}

RV_ENGINE(RvRdp, rdp, cpu, RvRdpCpu, layout, open_cpu, NULL, .median = median, .segment = segment);
