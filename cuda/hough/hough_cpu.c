/* SPDX-License-Identifier: MIT */
/* hough_cpu.c: the CPU engine of the Hough transform: list, votes, peaks, segments. */
#include "hough/hough_cpu.h"

#include <string.h>

/* The inner loop once per instruction set, chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__)
#  define BIN_LOOP __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#  define BIN_LOOP
#endif

#define COUNTER_MAX 65535 /* points of one angle that 16-bit counters can hold */

static size_t pixels_of(const RvHoughSpace *p) {
  return (size_t)p->width * (size_t)p->height;
}

static void layout(void *work, const void *plan, RvArena *arena) {
  RvHoughCpu *cpu = work;
  const RvHoughConfig *c = &((const RvHoughPlan *)plan)->config;
  const RvHoughSpace *p = &((const RvHoughPlan *)plan)->space;
  const size_t pixels = pixels_of(p);
  cpu->threads = rv_threads(c->threads);
  if (c->edges != RV_HOUGH_BINARY) {
    cpu->gradients = rv_arena_take(arena, pixels * sizeof *cpu->gradients);
    cpu->classes = rv_arena_take(arena, pixels);
  }
  cpu->points = rv_arena_take(arena, pixels * sizeof *cpu->points);
  if (p->weighted || p->tangent >= 0)
    cpu->values = rv_arena_take(arena, pixels * sizeof *cpu->values);
  cpu->bins = rv_arena_take(arena, (size_t)p->angles * (size_t)p->bins * sizeof *cpu->bins);
  cpu->counters =
      rv_arena_take(arena, (size_t)cpu->threads * 2 * (size_t)p->bins * sizeof *cpu->counters);
  cpu->keys = rv_arena_take(arena, rv_hough_peaks_max(p) * sizeof *cpu->keys);
  cpu->angles = rv_arena_take(arena, (size_t)p->angles * sizeof *cpu->angles);
}

static RvStatus open_cpu(void *work, const void *memory) {
  const RvHoughPlan *plan = memory;
  rv_hough_angles(&plan->config, &plan->space, ((RvHoughCpu *)work)->angles);
  return RV_OK;
}

/* --- List --------------------------------------------------------------------------------------
 */

static const uint8_t *edge_row(const RvHoughCpu *cpu, const RvHoughJob *job, int y) {
  const RvHoughConfig *c = &job->plan->config;
  return c->edges == RV_HOUGH_BINARY ? (const uint8_t *)job->input.data + y * job->input.stride
                                     : cpu->classes + (size_t)y * (size_t)c->width;
}

/* Rows of the list in order; also the edge map of the output. */
static void make_list(RvHoughCpu *cpu, const RvHoughJob *job) {
  const RvHoughConfig *c = &job->plan->config;
  const RvHoughSpace *p = &job->plan->space;
  size_t count = 0;
  for (int y = 0; y < p->height; y++) {
    const uint8_t *row = edge_row(cpu, job, y);
    const size_t first = count;
    int x = 0;
    for (; x + 8 <= p->width; x += 8) { /* most pixels are none: eight at a time */
      uint64_t eight;
      memcpy(&eight, row + x, sizeof eight);
      for (int i = 0; eight != 0 && i < 8; i++)
        if (row[x + i])
          cpu->points[count++] = rv_hough_point(x + i, y);
    }
    for (; x < p->width; x++)
      if (row[x])
        cpu->points[count++] = rv_hough_point(x, y);
    for (size_t i = first; cpu->values && i < count; i++) {
      const uint32_t u = cpu->points[i] & 0xffff;
      cpu->values[i] = c->edges == RV_HOUGH_BINARY
                           ? rv_hough_pack(row[u], 0)
                           : cpu->gradients[(size_t)y * (size_t)p->width + u];
    }
    if (job->out.edges.data) {
      uint8_t *out = (uint8_t *)job->out.edges.data + y * job->out.edges.stride;
      for (int u = 0; u < p->width; u++)
        out[u] = row[u] ? 255 : 0;
    }
  }
  cpu->point_count = count;
}

/* --- Votes -------------------------------------------------------------------------------------
 */

BIN_LOOP static void find_bins(const uint32_t *restrict points, int count, uint32_t c, uint32_t s,
                               uint32_t k, int shift, uint32_t *restrict out) {
#pragma omp simd
  for (int i = 0; i < count; i++)
    out[i] = ((points[i] & 0xffff) * c + (points[i] >> 16) * s + k) >> shift;
}

static void find_bins_wide(const uint32_t *points, int count, const RvHoughAngle *a, int shift,
                           uint32_t *out) {
  for (int i = 0; i < count; i++)
    out[i] = (uint32_t)rv_hough_bin_wide(a, points[i] & 0xffff, points[i] >> 16, shift);
}

static void find(const RvHoughSpace *p, const RvHoughAngle *a, const uint32_t *points, int count,
                 uint32_t *out) {
  if (p->is_wide)
    find_bins_wide(points, count, a, p->shift, out);
  else
    find_bins(points, count, (uint32_t)a->c, (uint32_t)a->s, (uint32_t)a->k, p->shift, out);
}

/* Unity votes: two copies of each counter, used in turn, so that a vote need not wait for the one
 * before it in the same bin. */
static void count_votes(const RvHoughCpu *cpu, const RvHoughSpace *p, const RvHoughAngle *a,
                        size_t points, uint16_t *counters, uint32_t *bins) {
  uint16_t *odd = counters + p->bins;
  uint32_t found[RV_HOUGH_CHUNK];
  for (size_t first = 0; first < points; first += COUNTER_MAX) {
    const size_t last = points - first < COUNTER_MAX ? points : first + COUNTER_MAX;
    memset(counters, 0, 2 * (size_t)p->bins * sizeof *counters);
    for (size_t at = first; at < last; at += RV_HOUGH_CHUNK) {
      const int count = last - at < RV_HOUGH_CHUNK ? (int)(last - at) : RV_HOUGH_CHUNK;
      find(p, a, cpu->points + at, count, found);
      for (int i = 0; i + 1 < count; i += 2) {
        counters[found[i]]++;
        odd[found[i + 1]]++;
      }
      if (count % 2)
        counters[found[count - 1]]++;
    }
    for (int b = 0; b < p->bins; b++)
      bins[b] += (uint32_t)counters[b] + odd[b];
  }
}

/* Votes that are numbers, or limited to some angles. */
static void add_votes(const RvHoughCpu *cpu, const RvHoughSpace *p, const RvHoughAngle *a,
                      size_t points, uint32_t *bins) {
  uint32_t found[RV_HOUGH_CHUNK];
  for (size_t at = 0; at < points; at += RV_HOUGH_CHUNK) {
    const int count = points - at < RV_HOUGH_CHUNK ? (int)(points - at) : RV_HOUGH_CHUNK;
    find(p, a, cpu->points + at, count, found);
    for (int i = 0; i < count; i++) {
      const uint32_t value = cpu->values[at + (size_t)i];
      if (p->tangent >= 0 && !rv_hough_is_near(a, value, p->tangent))
        continue;
      bins[found[i]] += p->weighted ? (uint32_t)rv_hough_magnitude(value) : 1u;
    }
  }
}

static void vote(RvHoughCpu *cpu, const RvHoughSpace *p) {
  const size_t points = cpu->point_count;
  const int team = points * (size_t)p->angles < 100000 ? 1 : cpu->threads;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < team; t++) {
    uint16_t *counters = cpu->counters + (size_t)t * 2 * (size_t)p->bins;
    for (int row = (int)((int64_t)p->angles * t / team);
         row < (int)((int64_t)p->angles * (t + 1) / team); row++) {
      uint32_t *bins = cpu->bins + (size_t)row * (size_t)p->bins;
      memset(bins, 0, (size_t)p->bins * sizeof *bins);
      if (cpu->values)
        add_votes(cpu, p, &cpu->angles[row], points, bins);
      else
        count_votes(cpu, p, &cpu->angles[row], points, counters, bins);
    }
  }
}

static RvStatus votes(void *work, RvHoughJob *job) {
  RvHoughCpu *cpu = work;
  const RvHoughSpace *p = &job->plan->space;
  const RvPlane *out = &job->out.accumulator;
  make_list(cpu, job);
  vote(cpu, p);
  for (int row = 0; out->data && row < p->angles; row++)
    memcpy((char *)out->data + row * out->stride, cpu->bins + (size_t)row * (size_t)p->bins,
           (size_t)p->bins * sizeof *cpu->bins);
  return RV_OK;
}

/* --- Peaks and sort ----------------------------------------------------------------------------
 */

/* 1 when the neighbor (row, bin) comes after (votes, index) in the order of lines. */
static int is_behind(const RvHoughCpu *cpu, const RvHoughSpace *p, int row, int bin, uint64_t key) {
  const uint32_t index = (uint32_t)row * (uint32_t)p->bins + (uint32_t)bin;
  return rv_hough_key(cpu->bins[index], index) < key;
}

static int is_peak(const RvHoughCpu *cpu, const RvHoughSpace *p, int row, int bin, uint64_t key) {
  if (bin > 0 && !is_behind(cpu, p, row, bin - 1, key))
    return 0;
  if (bin + 1 < p->bins && !is_behind(cpu, p, row, bin + 1, key))
    return 0;
  for (int step = -1; step <= 1; step += 2) {
    int to_row, to_bin;
    if (rv_hough_beside(p, row, bin, step, &to_row, &to_bin) &&
        !is_behind(cpu, p, to_row, to_bin, key))
      return 0;
  }
  return 1;
}

static size_t find_peaks(RvHoughCpu *cpu, const RvHoughSpace *p) {
  size_t count = 0;
  for (int row = 0; row < p->angles; row++)
    for (int bin = 0; bin < p->bins; bin++) {
      const uint32_t index = (uint32_t)row * (uint32_t)p->bins + (uint32_t)bin;
      const uint32_t votes = cpu->bins[index];
      if (votes <= (uint32_t)p->threshold)
        continue;
      const uint64_t key = rv_hough_key(votes, index);
      if (is_peak(cpu, p, row, bin, key))
        cpu->keys[count++] = key;
    }
  return count;
}

/* Restores the heap below `at`: no key is smaller than its two children. */
static void sift(uint64_t *keys, size_t count, size_t at) {
  const uint64_t key = keys[at];
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && keys[child + 1] > keys[child])
      child++;
    if (keys[child] <= key)
      break;
    keys[at] = keys[child];
    at = child;
  }
  keys[at] = key;
}

/* Takes the largest key off the heap. */
static uint64_t pop(uint64_t *keys, size_t count) {
  const uint64_t largest = keys[0];
  keys[0] = keys[count - 1];
  sift(keys, count - 1, 0);
  return largest;
}

/* The strongest of them, sorted by taking them off a heap. */
static RvStatus peaks(void *work, RvHoughJob *job) {
  RvHoughCpu *cpu = work;
  const RvHoughSpace *p = &job->plan->space;
  size_t left = cpu->key_count = find_peaks(cpu, p);
  for (size_t i = left / 2; i-- > 0;)
    sift(cpu->keys, left, i);
  int count = 0;
  for (; count < p->max_lines && left > 0; count++, left--) {
    const uint64_t key = pop(cpu->keys, left);
    cpu->keys[left - 1] = key; /* the position that the heap has just freed */
    job->out.lines[count] = rv_hough_line(p, key);
  }
  memset(job->out.lines + count, 0, (size_t)(p->max_lines - count) * sizeof *job->out.lines);
  *job->out.count = (uint32_t)count;
  return RV_OK;
}

/* --- Segments ----------------------------------------------------------------------------------
 */

/* The longest run of edges along a line; 0 when it is too short. hits: places with edges, or
 * NULL. */
static int find_segment(const RvHoughCpu *cpu, const RvHoughJob *job, uint64_t key, uint32_t *hits,
                        RvLine *line) {
  const RvHoughSpace *p = &job->plan->space;
  const uint32_t index = 0xffffffffu - (uint32_t)key;
  const RvHoughAngle *a = &cpu->angles[index / (uint32_t)p->bins];
  const int offset = (int)(index % (uint32_t)p->bins) - p->rho_zero;
  const int majors = a->is_steep ? p->height : p->width;
  const int minors = a->is_steep ? p->width : p->height;
  RvHoughRun run = {0, -1, 0, 0, 0};
  for (int major = 0; major < majors; major++) {
    const int middle = rv_hough_minor(a, offset, major);
    int hit = 0;
    for (int m = middle - 1; m <= middle + 1; m++)
      if (m >= 0 && m < minors)
        hit |= a->is_steep ? edge_row(cpu, job, major)[m] : edge_row(cpu, job, m)[major];
    if (hit)
      rv_hough_run_hit(&run, major, p->max_gap);
    if (hit && hits)
      hits[major / 32] |= 1u << (major % 32);
  }
  rv_hough_run_close(&run);
  return rv_hough_run_end(&run, a, p, offset, line);
}

static RvStatus segments(void *work, RvHoughJob *job) {
  const RvHoughCpu *cpu = work;
  const uint32_t found = *job->out.count;
  const int words = 1 + rv_div_up(rv_max(job->plan->space.width, job->plan->space.height), 32);
  uint32_t count = 0;
  for (uint32_t i = 0; i < found; i++) {
    const uint64_t key = cpu->keys[cpu->key_count - 1 - i];
    RvLine line = rv_hough_line(&job->plan->space, key);
    uint32_t *hits = job->out.hits ? job->out.hits + (size_t)i * (size_t)words : NULL;
    if (hits)
      memset(hits, 0, (size_t)words * sizeof *hits);
    const int is_long = find_segment(cpu, job, key, hits ? hits + 1 : NULL, &line);
    if (hits)
      hits[0] = (uint32_t)is_long;
    if (is_long)
      job->out.lines[count++] = line;
  }
  memset(job->out.lines + count, 0, (found - count) * sizeof *job->out.lines);
  *job->out.count = count;
  if (job->out.hits)
    memset(job->out.hits + (size_t)found * (size_t)words, 0,
           ((size_t)job->plan->space.max_lines - found) * (size_t)words * sizeof *job->out.hits);
  return RV_OK;
}

RV_ENGINE(RvHough, hough, cpu, RvHoughCpu, layout, open_cpu, NULL, .edges = rv_hough_cpu_edges,
          .votes = votes, .peaks = peaks, .segments = segments);
