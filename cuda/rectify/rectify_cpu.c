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

/* Channel at bit `shift` of a sample in words that hold it and, `tap` bits above, its neighbor. */
ALWAYS_INLINE uint32_t blend_word(uint32_t p, uint32_t q, int shift, int tap, uint32_t a,
                                  uint32_t b) {
  return rv_rectify_blend(p >> shift & 255, p >> (shift + tap) & 255, q >> shift & 255,
                          q >> (shift + tap) & 255, a, b);
}

/* Y of planar formats, gray. */
RV_ROW_LOOP static void run_1(const Run *run) {
  const Run r = *run;
  uint8_t *restrict out = r.out;
#pragma omp simd
  for (int k = 0; k < r.count; k++) {
    uint32_t a, b;
    const uint8_t *from = r.in + locate(&r, k, 1, &a, &b);
    const uint32_t p = *(const Word *)from, q = *(const Word *)(from + r.stride);
    out[k] = (uint8_t)blend_word(p, q, 0, 8, a, b);
  }
}

/* U and V of NV12. */
RV_ROW_LOOP static void run_2(const Run *run) {
  const Run r = *run;
  HalfWord *restrict out = (HalfWord *)r.out;
#pragma omp simd
  for (int k = 0; k < r.count; k++) {
    uint32_t a, b;
    const uint8_t *from = r.in + locate(&r, k, 2, &a, &b);
    const uint32_t p = *(const Word *)from, q = *(const Word *)(from + r.stride);
    out[k] = (uint16_t)(blend_word(p, q, 0, 16, a, b) | blend_word(p, q, 8, 16, a, b) << 8);
  }
}

/* Pixels of 4 bytes. */
RV_ROW_LOOP static void run_4(const Run *run) {
  const Run r = *run;
  Word *restrict out = (Word *)r.out;
#pragma omp simd
  for (int k = 0; k < r.count; k++) {
    uint32_t a, b, value = 0;
    const uint8_t *from = r.in + locate(&r, k, 4, &a, &b);
    const uint64_t p = *(const LongWord *)from, q = *(const LongWord *)(from + r.stride);
    const uint32_t p0 = (uint32_t)p, p1 = (uint32_t)(p >> 32);
    const uint32_t q0 = (uint32_t)q, q1 = (uint32_t)(q >> 32);
    for (int c = 0; c < 32; c += 8)
      value |= rv_rectify_blend(p0 >> c & 255, p1 >> c & 255, q0 >> c & 255, q1 >> c & 255, a, b)
               << c;
    out[k] = value;
  }
}

/* Samples that are not adjacent or not a word: vectorized into a block, then stored one by one. */
#define BLOCK 64

/* Pixels of 3 bytes; the words that are read are inside of the view by RV_RECTIFY_MARGIN. */
RV_ROW_LOOP static void run_3(const Run *run) {
  const Run r = *run;
  for (int from = 0; from < r.count; from += BLOCK) {
    const int n = rv_min(BLOCK, r.count - from);
    uint32_t block[BLOCK];
#pragma omp simd
    for (int k = 0; k < n; k++) {
      uint32_t a, b, value = 0;
      const uint8_t *in = r.in + locate(&r, from + k, 3, &a, &b);
      const uint64_t p = *(const LongWord *)in, q = *(const LongWord *)(in + r.stride);
      const uint32_t p0 = (uint32_t)p, p1 = (uint32_t)(p >> 24);
      const uint32_t q0 = (uint32_t)q, q1 = (uint32_t)(q >> 24);
      for (int c = 0; c < 24; c += 8)
        value |= rv_rectify_blend(p0 >> c & 255, p1 >> c & 255, q0 >> c & 255, q1 >> c & 255, a, b)
                 << c;
      block[k] = value;
    }
    uint8_t *out = r.out + 3 * from;
    for (int k = 0; k < n; k++, out += 3) {
      out[0] = (uint8_t)block[k];
      out[1] = (uint8_t)(block[k] >> 8);
      out[2] = (uint8_t)(block[k] >> 16);
    }
  }
}

/* Y of YUY2 and UYVY; `in` is that of the first Y. */
RV_ROW_LOOP static void run_packed_luma(const Run *run) {
  const Run r = *run;
  for (int from = 0; from < r.count; from += BLOCK) {
    const int n = rv_min(BLOCK, r.count - from);
    uint8_t block[BLOCK];
#pragma omp simd
    for (int k = 0; k < n; k++) {
      uint32_t a, b;
      const uint8_t *in = r.in + locate(&r, from + k, 2, &a, &b);
      const uint32_t p = *(const Word *)in, q = *(const Word *)(in + r.stride);
      block[k] = (uint8_t)blend_word(p, q, 0, 16, a, b);
    }
    for (int k = 0; k < n; k++)
      r.out[2 * (from + k)] = block[k];
  }
}

/* U and V of YUY2 and UYVY; `in` is that of the first U. */
RV_ROW_LOOP static void run_packed_chroma(const Run *run) {
  const Run r = *run;
  for (int from = 0; from < r.count; from += BLOCK) {
    const int n = rv_min(BLOCK, r.count - from);
    uint32_t block[BLOCK];
#pragma omp simd
    for (int k = 0; k < n; k++) {
      uint32_t a, b;
      const uint8_t *in = r.in + locate(&r, from + k, 4, &a, &b);
      const uint64_t p = *(const LongWord *)in, q = *(const LongWord *)(in + r.stride);
      const uint32_t p0 = (uint32_t)p, p1 = (uint32_t)(p >> 32);
      const uint32_t q0 = (uint32_t)q, q1 = (uint32_t)(q >> 32);
      block[k] =
          rv_rectify_blend(p0 & 255, p1 & 255, q0 & 255, q1 & 255, a, b) |
          rv_rectify_blend(p0 >> 16 & 255, p1 >> 16 & 255, q0 >> 16 & 255, q1 >> 16 & 255, a, b)
              << 16;
    }
    for (int k = 0; k < n; k++) {
      r.out[4 * (from + k)] = (uint8_t)block[k];
      r.out[4 * (from + k) + 2] = (uint8_t)(block[k] >> 16);
    }
  }
}

/* Samples of 16 bits: Y of P010, gray. */
RV_ROW_LOOP static void run_wide(const Run *run) {
  const Run r = *run;
  HalfWord *restrict out = (HalfWord *)r.out;
#pragma omp simd
  for (int k = 0; k < r.count; k++) {
    uint32_t a, b;
    const uint8_t *from = r.in + locate(&r, k, 2, &a, &b);
    const uint32_t p = *(const Word *)from, q = *(const Word *)(from + r.stride);
    out[k] = (uint16_t)rv_rectify_blend(p & 65535, p >> 16, q & 65535, q >> 16, a, b);
  }
}

/* U and V of P010. */
RV_ROW_LOOP static void run_wide_chroma(const Run *run) {
  const Run r = *run;
  Word *restrict out = (Word *)r.out;
#pragma omp simd
  for (int k = 0; k < r.count; k++) {
    uint32_t a, b;
    const uint8_t *from = r.in + locate(&r, k, 4, &a, &b);
    const uint64_t p = *(const LongWord *)from, q = *(const LongWord *)(from + r.stride);
    const uint32_t p0 = (uint32_t)p, p1 = (uint32_t)(p >> 32);
    const uint32_t q0 = (uint32_t)q, q1 = (uint32_t)(q >> 32);
    out[k] = rv_rectify_blend(p0 & 65535, p1 & 65535, q0 & 65535, q1 & 65535, a, b) |
             rv_rectify_blend(p0 >> 16, p1 >> 16, q0 >> 16, q1 >> 16, a, b) << 16;
  }
}

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

const RvRectifyStages rv_rectify_stages_cpu = {
    .base = {.work_size = sizeof(RectifyCpu), .layout = layout, .open = open_cpu},
    .remap = remap,
};
