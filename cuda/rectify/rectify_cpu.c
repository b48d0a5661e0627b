/* SPDX-License-Identifier: MIT */
/* rectify_cpu.c: CPU engine: rows go to threads; the part of a row whose source samples are all
 * inside is a vectorized loop per sample layout, the rest goes sample by sample. */
#include "rectify/rectify_maps.h"
#include "rectify/rectify_stages.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Words at any address. */
typedef uint32_t Word __attribute__((aligned(1), may_alias));
typedef uint64_t LongWord __attribute__((aligned(1), may_alias));
typedef uint16_t HalfWord __attribute__((aligned(1), may_alias));

/* Below this many output bytes a parallel region costs more than it gives. */
#define PARALLEL_BYTES (64 * 1024)

typedef struct RectifyCpu {
  void *map[RV_RECTIFY_GRIDS];
  RvRectifySpan *spans[RV_RECTIFY_GRIDS]; /* two per row */
  RvRectifySamples samples[RV_RECTIFY_SAMPLES_MAX];
  int kinds; /* of samples */
  int threads;
} RectifyCpu;

/* Part of a row of one view. */
typedef struct Run {
  uint8_t *out;                  /* first channel of its first sample */
  const uint8_t *in;             /* first byte of the view's sample (0, 0) */
  int stride;                    /* of `in`, bytes */
  const RvRectifyEntry *entries; /* of its first sample */
  int column, count;             /* its first sample in the view, and their number */
  int step_x;                    /* prediction of the column */
  int row;                       /* predicted source row, 1/32 */
} Run;

/* --- Source samples that are all inside -------------------------------------------------------- */

/* Offset of the source sample in bytes and its fractions. */
ALWAYS_INLINE int locate(const Run *r, int k, int step, uint32_t *a, uint32_t *b) {
  const int u = rv_rectify_predict(r->column + k, r->step_x) + r->entries[k].x;
  const int v = r->row + r->entries[k].y;
  *a = (uint32_t)u % RV_RECTIFY_ONE;
  *b = (uint32_t)v % RV_RECTIFY_ONE;
  return (v >> RV_RECTIFY_BITS) * r->stride + (u >> RV_RECTIFY_BITS) * step;
}

/* Sample k of a layout of `step` bytes per sample: `channels` channels of `bits` bits, `distance`
 * bits from one to the next; so is the result. Constant arguments decide how much is read. */
ALWAYS_INLINE uint32_t sample(const Run *r, int k, int step, int bits, int channels, int distance) {
  const uint32_t mask = bits == 8 ? 255 : 65535;
  const int tap = 8 * step, end = (channels - 1) * distance + bits;
  uint32_t a, b, p0, p1, q0, q1, value = 0;
  const uint8_t *from = r->in + locate(r, k, step, &a, &b);
  if (tap + end > 32) {
    const uint64_t p = *(const LongWord *)from, q = *(const LongWord *)(from + r->stride);
    p0 = (uint32_t)p, p1 = (uint32_t)(p >> tap);
    q0 = (uint32_t)q, q1 = (uint32_t)(q >> tap);
  } else {
    p0 = *(const Word *)from, p1 = p0 >> tap;
    q0 = *(const Word *)(from + r->stride), q1 = q0 >> tap;
  }
  for (int c = 0; c < end; c += distance)
    value |= rv_rectify_blend(p0 >> c & mask, p1 >> c & mask, q0 >> c & mask, q1 >> c & mask, a, b)
             << c;
  return value;
}

/* Layouts whose sample is a word of `step` bytes. */
ALWAYS_INLINE void run_words(const Run *run, int step, int bits, int channels, int distance) {
  const Run r = *run;
  uint8_t *restrict out = r.out;
#pragma omp simd
  for (int k = 0; k < r.count; k++) {
    const uint32_t value = sample(&r, k, step, bits, channels, distance);
    if (step == 1)
      out[k] = (uint8_t)value;
    else if (step == 2)
      ((HalfWord *)out)[k] = (uint16_t)value;
    else
      ((Word *)out)[k] = value;
  }
}

/* Others, of channels of a byte: vectorized into a block, then stored one by one. */
#define BLOCK 64
ALWAYS_INLINE void run_bytes(const Run *run, int step, int channels, int distance) {
  const Run r = *run;
  for (int from = 0; from < r.count; from += BLOCK) {
    const int n = rv_min(BLOCK, r.count - from);
    uint32_t block[BLOCK];
#pragma omp simd
    for (int k = 0; k < n; k++)
      block[k] = sample(&r, from + k, step, 8, channels, distance);
    uint8_t *out = r.out + step * from;
    for (int k = 0; k < n; k++, out += step)
      for (int c = 0; c < channels * distance; c += distance)
        out[c / 8] = (uint8_t)(block[k] >> c);
  }
}

/* A layout: run_words or run_bytes with its numbers. */
#define RUN(name, run, ...)                                                                        \
  RV_ROW_LOOP static void name(const Run *r) {                                                     \
    run(r, __VA_ARGS__);                                                                           \
  }
RUN(run_1, run_words, 1, 8, 1, 8)             /* Y of planar formats, gray */
RUN(run_2, run_words, 2, 8, 2, 8)             /* U and V of NV12 */
RUN(run_4, run_words, 4, 8, 4, 8)             /* pixels of 4 bytes */
RUN(run_wide, run_words, 2, 16, 1, 16)        /* Y of P010, gray of 16 bits */
RUN(run_wide_chroma, run_words, 4, 16, 2, 16) /* U and V of P010 */
/* Pixels of 3 bytes; the words that are read are inside of the view by RV_RECTIFY_MARGIN. */
RUN(run_3, run_bytes, 3, 3, 8)
/* YUY2 and UYVY: `in` is that of the first Y, or of the first U. */
RUN(run_packed_luma, run_bytes, 2, 1, 8)
RUN(run_packed_chroma, run_bytes, 4, 2, 16)

static void run_inside(const Run *run, const RvRectifySamples *s) {
  if (s->wide)
    (s->channels == 2 ? run_wide_chroma : run_wide)(run);
  else if (s->step == 1)
    run_1(run);
  else if (s->step == 3)
    run_3(run);
  else if (s->channels == 4)
    run_4(run);
  else if (s->step == 4)
    run_packed_chroma(run);
  else
    (s->channels == 2 ? run_2 : run_packed_luma)(run);
}

/* --- Any source samples ------------------------------------------------------------------------ */

typedef struct Row {
  const RvRectifyGrid *grid;
  const RvRectifySamples *samples;
  const RvRectifyWindow *window; /* of the input view */
  const uint8_t *in;             /* first channel of the view's sample (0, 0) */
  ptrdiff_t stride;
  const void *entries; /* of the view's row */
  uint8_t *out;        /* first channel of the view's row */
  int border;
  int row; /* predicted source row, 1/32 */
} Row;

static uint32_t sample_at(const Row *r, int x, int y, int channel) {
  if (x < 0 || y < 0 || x >= r->window->width || y >= r->window->height)
    return (uint32_t)r->border;
  const RvRectifySamples *s = r->samples;
  const uint8_t *at = r->in + y * r->stride + x * s->step + channel * s->distance;
  return s->wide ? *(const HalfWord *)at : *at;
}

static void store(const RvRectifySamples *s, uint8_t *at, uint32_t value) {
  if (s->wide)
    *(HalfWord *)at = (uint16_t)value;
  else
    *at = (uint8_t)value;
}

static void sample_any(const Row *r, int column) {
  const RvRectifySamples *s = r->samples;
  uint8_t *out = r->out + (ptrdiff_t)column * s->step;
  int dx, dy, is_outside;
  if (r->grid->wide) {
    const RvRectifyWideEntry *e = (const RvRectifyWideEntry *)r->entries + column;
    dx = e->x;
    dy = e->y;
    is_outside = dx == RV_RECTIFY_OUTSIDE_WIDE;
  } else {
    const RvRectifyEntry *e = (const RvRectifyEntry *)r->entries + column;
    dx = e->x;
    dy = e->y;
    is_outside = dx == RV_RECTIFY_OUTSIDE;
  }
  if (is_outside) {
    for (int c = 0; c < s->channels; c++)
      store(s, out + c * s->distance, (uint32_t)r->border);
    return;
  }
  const int u = rv_rectify_predict(column, r->grid->step_x) + dx, v = r->row + dy;
  const int x = u >> RV_RECTIFY_BITS, y = v >> RV_RECTIFY_BITS;
  const uint32_t a = (uint32_t)u % RV_RECTIFY_ONE, b = (uint32_t)v % RV_RECTIFY_ONE;
  for (int c = 0; c < s->channels; c++)
    store(s, out + c * s->distance,
          rv_rectify_blend(sample_at(r, x, y, c), sample_at(r, x + 1, y, c),
                           sample_at(r, x, y + 1, c), sample_at(r, x + 1, y + 1, c), a, b));
}

/* --- Stage ----------------------------------------------------------------------------------- */

/* Row `y` of a plane: the part of view `second`. */
static void remap_view(const RectifyCpu *cpu, const RvRectifyJob *job, const RvRectifySamples *s,
                       int y, int second) {
  const RvRectifyPlan *plan = job->plan;
  const RvRectifyGrid *grid = &plan->grid[s->grid];
  const RvRectifyWindow *out = &grid->out[second], *in = &grid->in[second];
  if (y < out->y || y >= out->y + out->height)
    return;
  const size_t entry = grid->wide ? sizeof(RvRectifyWideEntry) : sizeof(RvRectifyEntry);
  const size_t first = (size_t)y * (size_t)grid->pitch + (size_t)out->x;
  const ptrdiff_t stride = job->in.stride[s->plane];
  const Row row = {
      .grid = grid,
      .samples = s,
      .window = in,
      .in = (const uint8_t *)job->in.data[s->plane] + in->y * stride + in->x * s->step + s->offset,
      .stride = stride,
      .entries = (const char *)cpu->map[s->grid] + first * entry,
      .out = (uint8_t *)job->out.data[s->plane] + y * job->out.stride[s->plane] + out->x * s->step +
             s->offset,
      .border = plan->border[s->grid] << (8 * s->wide),
      .row = rv_rectify_predict(y - out->y, grid->step_y),
  };
  RvRectifySpan inside = {0, 0};
  if (!grid->wide)
    inside = cpu->spans[s->grid][2 * y + second];
  for (int k = 0; k < inside.first; k++)
    sample_any(&row, k);
  if (inside.last > inside.first) {
    const Run run = {.out = row.out + (ptrdiff_t)inside.first * s->step,
                     .in = row.in,
                     .stride = (int)stride,
                     .entries = (const RvRectifyEntry *)row.entries + inside.first,
                     .column = inside.first,
                     .count = inside.last - inside.first,
                     .step_x = grid->step_x,
                     .row = row.row};
    run_inside(&run, s);
  }
  for (int k = inside.last; k < out->width; k++)
    sample_any(&row, k);
  const int last = grid->width - 1;
  if (s->repeats && last % 2 == 0 && out->x + out->width == last + 1)
    row.out[(last - out->x + 1) * s->step] = row.out[(last - out->x) * s->step];
}

static RvStatus remap(void *work, const RvRectifyJob *job) {
  const RectifyCpu *cpu = work;
  const RvRectifyGrid *luma = &job->plan->grid[RV_RECTIFY_LUMA];
  const size_t pixels = (size_t)luma->width * (size_t)luma->height;
  const int threads = pixels < PARALLEL_BYTES ? 1 : cpu->threads;
  int rows = 0;
  for (int i = 0; i < cpu->kinds; i++)
    rows += job->plan->grid[cpu->samples[i].grid].height;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
  for (int n = 0; n < rows; n++) {
    const RvRectifySamples *s = cpu->samples;
    int y = n;
    for (; y >= job->plan->grid[s->grid].height; s++)
      y -= job->plan->grid[s->grid].height;
    remap_view(cpu, job, s, y, 0);
    remap_view(cpu, job, s, y, 1);
  }
  return RV_OK;
}

/* --- Memory ---------------------------------------------------------------------------------- */

static void layout(void *work, const void *memory, RvArena *arena) {
  RectifyCpu *cpu = work;
  const RvRectifyPlan *plan = memory;
  for (int g = 0; g < plan->grids; g++) {
    cpu->map[g] = rv_arena_take(arena, rv_rectify_map_bytes(&plan->grid[g]));
    cpu->spans[g] = rv_arena_take(arena, 2 * (size_t)plan->grid[g].height * sizeof *cpu->spans[g]);
  }
}

static RvStatus open_cpu(void *work, const void *memory) {
  RectifyCpu *cpu = work;
  const RvRectifyPlan *plan = memory;
  cpu->threads = rv_threads(plan->config.threads);
  cpu->kinds = rv_rectify_samples(plan->config.format, cpu->samples);
  for (int g = 0; g < plan->grids; g++)
    rv_rectify_make_map(plan, g, cpu->map[g], cpu->spans[g]);
  return RV_OK;
}

RV_ENGINE(RvRectify, rectify, cpu, RectifyCpu, layout, open_cpu, NULL, .remap = remap);
