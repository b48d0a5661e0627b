/* SPDX-License-Identifier: MIT */
/* obstacles_cpu.c: the CPU engine of obstacles and free space: memory, rasters, votes, free space,
 * distances. */
#include "obstacles/obstacles_cpu.h"
#include "rv_openmp.h"

#include <string.h>

/* --- Memory ---------------------------------------------------------------------------------- */

static void layout(void *work, const void *plan, RvArena *arena) {
  RvObstaclesCpu *cpu = work;
  const RvObstaclesPlan *p = plan;
  const size_t strips = (size_t)p->strips, runs = strips * RV_OBSTACLES_RUNS;
  cpu->threads = rv_min(rv_threads(p->config.threads), rv_div_up(p->strips, RV_OBSTACLES_GROUP));
  cpu->words = rv_div_up(p->rows, 32);
  const size_t threads = (size_t)cpu->threads, words = (size_t)cpu->words;
  const size_t over = RV_OBSTACLES_GROUP * RV_OBSTACLES_FINE;
  const size_t pixels = RV_OBSTACLES_GROUP * (size_t)p->rows * (size_t)p->n;
  cpu->raster = p->config.input == RV_OBSTACLES_DISPARITY
                    ? NULL
                    : rv_arena_take(arena, (size_t)p->width * (size_t)p->height * 2);
  cpu->depth = rv_arena_take(arena, (size_t)p->depths * sizeof *cpu->depth);
  cpu->fine = rv_arena_take(arena, (size_t)p->depths * sizeof *cpu->fine);
  cpu->column = rv_arena_take(arena, (size_t)p->width * sizeof *cpu->column);
  cpu->group = rv_arena_take(arena, threads * sizeof *cpu->group);
  uint32_t *all_over = rv_arena_take(arena, threads * over * sizeof *all_over);
  uint32_t *all_pixels = rv_arena_take(arena, threads * pixels * sizeof *all_pixels);
  uint32_t *all_masks = rv_arena_take(arena, threads * RV_OBSTACLES_RUNS * words * 4);
  cpu->votes = rv_arena_take(arena, strips * RV_OBSTACLES_FINE * sizeof *cpu->votes);
  cpu->evidence = rv_arena_take(arena, strips * RV_OBSTACLES_COARSE);
  cpu->ground = rv_arena_take(arena, strips * RV_OBSTACLES_COARSE / 8);
  cpu->valid = rv_arena_take(arena, strips);
  cpu->runs = rv_arena_take(arena, runs * sizeof *cpu->runs);
  cpu->run_count = rv_arena_take(arena, strips);
  cpu->cost = rv_arena_take(arena, 2 * RV_OBSTACLES_COARSE * sizeof *cpu->cost);
  cpu->from = rv_arena_take(arena, strips * RV_OBSTACLES_COARSE);
  cpu->path = rv_arena_take(arena, strips);
  cpu->label = rv_arena_take(arena, runs * sizeof *cpu->label);
  cpu->order = rv_arena_take(arena, runs * sizeof *cpu->order);
  cpu->rank = rv_arena_take(arena, runs * sizeof *cpu->rank);
  cpu->components = rv_arena_take(arena, runs * sizeof *cpu->components);
  for (size_t k = 0; arena->memory && k < threads; k++)
    cpu->group[k] = (RvObstaclesGroup){all_over + k * over, all_pixels + k * pixels,
                                       all_masks + k * RV_OBSTACLES_RUNS * words};
}

static RvStatus open_cpu(void *work, const void *plan) {
  const RvObstaclesCpu *cpu = work;
  const RvObstaclesPlan *p = plan;
  for (int depth = 0; depth < p->depths; depth++)
    cpu->fine[depth] = (uint16_t)(depth / p->bin);
  return RV_OK;
}

static uint16_t *row_of(const RvPlane *plane, int y) {
  return (uint16_t *)(void *)((char *)plane->data + y * plane->stride);
}

/* --- Raster ---------------------------------------------------------------------------------- */

static void draw_stixel(const RvPlane *raster, const RvStixel *s, int width) {
  const int right = rv_min(s->column + width, raster->width);
  for (int y = s->v_top; y <= rv_min(s->v_bottom, raster->height - 1); y++) {
    uint16_t *row = row_of(raster, y);
    for (int x = s->column; x < right; x++)
      row[x] = rv_obstacles_stixel(s, y);
  }
}

static void draw_segment(const RvPlane *raster, const RvSegment *s) {
  if (s->column >= raster->width)
    return;
  for (int y = s->first; y <= rv_min(s->last, raster->height - 1); y++)
    row_of(raster, y)[s->column] = rv_obstacles_segment(s, y);
}

/* Threads share the records by their columns. */
static RvStatus raster(void *work, RvObstaclesJob *job) {
  const RvObstaclesCpu *cpu = work;
  const RvObstaclesPlan *p = job->plan;
  const RvObstaclesSource *source = &job->source;
  const ptrdiff_t stride = 2 * (ptrdiff_t)p->width;
  job->disparity = (RvPlane){cpu->raster, stride, p->width, p->height, RV_U16};
  memset(cpu->raster, 0, (size_t)stride * (size_t)p->height);
#pragma omp parallel for num_threads(cpu->threads) schedule(static, 1)
  for (int share = 0; share < cpu->threads; share++)
    for (uint32_t k = 0; k < source->count; k++) {
      const int is_stixel = p->config.input == RV_OBSTACLES_STIXELS;
      const int column = is_stixel ? source->stixels[k].column : source->segments[k].column;
      if (column * cpu->threads / p->width != share)
        continue;
      if (is_stixel)
        draw_stixel(&job->disparity, &source->stixels[k], p->config.stixel_width);
      else
        draw_segment(&job->disparity, &source->segments[k]);
    }
  return RV_OK;
}

/* --- Votes ----------------------------------------------------------------------------------- */

/* One group of strips while its rows are read. */
typedef struct Reader {
  const RvObstaclesCpu *cpu;
  const RvObstaclesPlan *plan;
  RvObstaclesGroup *group;
  int first, strips; /* of the group */
  int count[RV_OBSTACLES_GROUP];
  int valid[RV_OBSTACLES_GROUP], total[RV_OBSTACLES_GROUP];
} Reader;

static void read_strip(Reader *r, int k, int y, const uint16_t *d) {
  const RvObstaclesPlan *p = r->plan;
  const RvObstaclesCpu *cpu = r->cpu;
  const int strip = r->first + k, left = strip * p->n;
  uint32_t *votes = cpu->votes + (size_t)strip * RV_OBSTACLES_FINE;
  uint32_t *over = r->group->over + k * RV_OBSTACLES_FINE;
  uint32_t *ground = cpu->ground + strip * RV_OBSTACLES_COARSE / 32;
  RvObstaclesPixel *pixels = r->group->pixels + (size_t)k * (size_t)p->rows * (size_t)p->n;
  int valid = 0, count = r->count[k];
  const int32_t row = 256 * y * p->stride;
  for (int i = 0; i < p->n; i++) {
    const int depth = rv_obstacles_depth_of(p, d[left + i]);
    if (depth == 0)
      continue;
    valid++;
    const int class = rv_obstacles_class(&cpu->depth[depth], row + cpu->column[left + i]);
    if (class == RV_OBSTACLES_NOTHING)
      continue;
    const int bin = cpu->fine[depth];
    if (class == RV_OBSTACLES_GROUND) {
      ground[bin / 64] |= 1u << (bin / 2 % 32);
      continue;
    }
    if (class == RV_OBSTACLES_BODY_PX)
      votes[bin] += rv_obstacles_vote(p, depth);
    else if (class == RV_OBSTACLES_OVER_PX)
      over[bin] += rv_obstacles_vote(p, depth);
    pixels[count++] = (uint32_t)bin | (uint32_t)i << 9 |
                      (uint32_t)(class == RV_OBSTACLES_OVER_PX) << 14 | (uint32_t)y << 15;
  }
  r->count[k] = count;
  if (row + cpu->column[left + p->n / 2] >= cpu->depth[p->least].row) {
    r->valid[k] += valid;
    r->total[k] += p->n;
  }
}

static void find_evidence(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int strip) {
  const uint32_t *votes = cpu->votes + (size_t)strip * RV_OBSTACLES_FINE;
  uint8_t *evidence = cpu->evidence + (size_t)strip * RV_OBSTACLES_COARSE;
  int below[RV_OBSTACLES_FINE + 1];
  below[0] = 0;
  for (int k = 0; k < RV_OBSTACLES_FINE; k++)
    below[k + 1] = below[k] + (int)(votes[k] & 65535);
  for (int q = 0; q < RV_OBSTACLES_COARSE; q++) {
    const int spread = p->tables->spread[q];
    const int sum =
        below[rv_min(2 * q + 2 + spread, RV_OBSTACLES_FINE)] - below[rv_max(2 * q - spread, 0)];
    evidence[q] = (uint8_t)rv_obstacles_evidence(sum, p->tables->full[q]);
  }
}

static void read_group(const RvObstaclesCpu *cpu, const RvObstaclesJob *job, int first,
                       RvObstaclesGroup *group) {
  const RvObstaclesPlan *p = job->plan;
  Reader r = {cpu, p, group, first, rv_min(RV_OBSTACLES_GROUP, p->strips - first), {0}, {0}, {0}};
  const size_t strips = (size_t)r.strips;
  memset(cpu->votes + (size_t)first * RV_OBSTACLES_FINE, 0, strips * RV_OBSTACLES_FINE * 4);
  memset(cpu->ground + first * RV_OBSTACLES_COARSE / 32, 0, strips * RV_OBSTACLES_COARSE / 8);
  memset(group->over, 0, strips * RV_OBSTACLES_FINE * 4);
  for (int y = 0; y < p->rows; y++) {
    const uint16_t *d = row_of(&job->disparity, y * p->stride);
    for (int k = 0; k < r.strips; k++)
      read_strip(&r, k, y, d);
  }
  for (int k = 0; k < r.strips; k++) {
    const int strip = first + k;
    cpu->valid[strip] = (uint8_t)(r.total[k] ? 255 * (int64_t)r.valid[k] / r.total[k] : 0);
    find_evidence(cpu, p, strip);
    rv_obstacles_cpu_runs(cpu, p, strip, group->over + k * RV_OBSTACLES_FINE,
                          group->pixels + (size_t)k * (size_t)p->rows * (size_t)p->n, r.count[k],
                          group->mask);
  }
}

static RvStatus strips(void *work, RvObstaclesJob *job) {
  const RvObstaclesCpu *cpu = work;
  const RvObstaclesPlan *p = job->plan;
  const RvGroundSurface *ground = job->source.ground;
  if (!(ground->slope_y > 0))
    return RV_OK;
  for (int depth = 1; depth < p->depths; depth++)
    cpu->depth[depth] = rv_obstacles_depth_row(p, ground, depth);
  for (int u = 0; u < p->width; u++)
    cpu->column[u] = rv_obstacles_column(ground, u);
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic)
  for (int first = 0; first < p->strips; first += RV_OBSTACLES_GROUP)
    read_group(cpu, job, first, &cpu->group[omp_get_thread_num()]);
  return RV_OK;
}

/* --- Free space ------------------------------------------------------------------------------ */

/* Costs of a strip's bins from those of the previous strip, NULL for the first. */
static void relax(const RvObstaclesCpu *cpu, int strip, const int32_t *before, int32_t *cost) {
  const uint8_t *evidence = cpu->evidence + (size_t)strip * RV_OBSTACLES_COARSE;
  uint8_t *from = cpu->from + (size_t)strip * RV_OBSTACLES_COARSE;
  int32_t key[RV_OBSTACLES_COARSE];
  int best = RV_OBSTACLES_COARSE - 1, nearer = 0;
  for (int q = RV_OBSTACLES_COARSE - 1; before && q >= 0; q--)
    best = before[q] < before[best] ? q : best;
  const int32_t jump = before ? rv_obstacles_jump(before[best]) : 0;
  int32_t run = jump;
  for (int q = RV_OBSTACLES_COARSE - 1; before && q >= 0; q--) { /* from nearer bins */
    const int32_t here = rv_obstacles_here(before[q]), on = run + RV_OBSTACLES_KEY;
    run = on < here ? on : here;
    key[q] = run < jump ? run : jump;
  }
  run = jump;
  for (int q = 0; before && q < RV_OBSTACLES_COARSE; q++) { /* from farther bins */
    key[q] = run < key[q] ? run : key[q];
    const int32_t here = rv_obstacles_here(before[q]) + 1;
    run = (here < run ? here : run) + RV_OBSTACLES_KEY;
  }
  for (int q = RV_OBSTACLES_COARSE - 1; q >= 0; q--) {
    cost[q] = nearer - (q ? evidence[q] : 0) + (before ? rv_obstacles_cost(key[q]) : 0);
    from[q] = (uint8_t)(before ? rv_obstacles_from(key[q], q, best) : q);
    nearer += evidence[q];
  }
}

static RvStatus space(void *work, RvObstaclesJob *job) {
  const RvObstaclesCpu *cpu = work;
  const RvObstaclesPlan *p = job->plan;
  if (!(job->source.ground->slope_y > 0))
    return RV_OK;
  int32_t *cost = cpu->cost, *before = NULL;
  for (int strip = 0; strip < p->strips; strip++) {
    relax(cpu, strip, before, cost);
    before = cost;
    cost = cpu->cost + (strip % 2 ? 0 : RV_OBSTACLES_COARSE);
  }
  int q = RV_OBSTACLES_COARSE - 1;
  for (int k = q; k >= 0; k--)
    q = before[k] < before[q] ? k : q;
  for (int strip = p->strips - 1; strip >= 0; strip--) {
    cpu->path[strip] = (uint8_t)q;
    q = cpu->from[(size_t)strip * RV_OBSTACLES_COARSE + (size_t)q];
  }
  return RV_OK;
}

static RvStatus boxes(void *work, RvObstaclesJob *job) {
  rv_obstacles_cpu_boxes(work, job);
  return RV_OK;
}

/* --- Distances ------------------------------------------------------------------------------- */

/* The inner half of a box, and the boxes that hide parts of it. */
typedef struct Inner {
  RvObstaclesRect part;
  const RvObstaclesRect *hiding[RV_OBSTACLES_BOXES];
  int count;
} Inner;

static int is_hidden(const Inner *inner, int x, int y) {
  for (int k = 0; k < inner->count; k++)
    if (rv_obstacles_contains(inner->hiding[k], x, y))
      return 1;
  return 0;
}

/* Counts the values that are not hidden: their upper halves, or the lower halves of those whose upper
 * half is `high`. Returns their number. */
static uint32_t count_values(const RvPlane *plane, const Inner *inner, int high,
                             uint32_t *histogram) {
  const RvObstaclesRect *part = &inner->part;
  uint32_t count = 0;
  memset(histogram, 0, 256 * sizeof *histogram);
  for (int y = part->y; y < part->y + part->h; y++) {
    const uint16_t *row = row_of(plane, y);
    for (int x = part->x; x < part->x + part->w; x++)
      if (row[x] && (high < 0 || row[x] >> 8 == high) && !is_hidden(inner, x, y)) {
        histogram[high < 0 ? row[x] >> 8 : row[x] & 255]++;
        count++;
      }
  }
  return count;
}

/* The value of that rank; *rank becomes its rank among equal ones. */
static int find_rank(const uint32_t *histogram, uint32_t *rank) {
  int k = 0;
  for (; k < 255 && histogram[k] <= *rank; k++)
    *rank -= histogram[k];
  return k;
}

static RvObstaclesDepth depth_of(const RvPlane *plane, const RvObstaclesRects *rects, int k) {
  const RvObstaclesRect *box = &rects->list[k];
  Inner inner = {.part = rv_obstacles_inner(box, plane)};
  uint32_t histogram[256];
  const uint32_t all = count_values(plane, &inner, -1, histogram);
  if (all == 0)
    return (RvObstaclesDepth){0, 0, 0};
  for (int i = 0; i < rects->count; i++)
    if (rv_obstacles_hides(&rects->list[i], box, &inner.part))
      inner.hiding[inner.count++] = &rects->list[i];
  uint32_t count = count_values(plane, &inner, -1, histogram);
  if (rv_obstacles_is_hidden(count, all)) {
    inner.count = 0;
    count = count_values(plane, &inner, -1, histogram);
  }
  uint32_t rank = rv_obstacles_rank(count);
  const int high = find_rank(histogram, &rank);
  count_values(plane, &inner, high, histogram);
  const int low = find_rank(histogram, &rank);
  return (RvObstaclesDepth){(uint16_t)(high << 8 | low),
                            rv_obstacles_fraction(all, inner.part.w, inner.part.h), 0};
}

static RvStatus distances(void *work, RvObstaclesJob *job) {
  const RvObstaclesCpu *cpu = work;
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic)
  for (int k = 0; k < job->rects.count; k++)
    job->rects.depths[k] = depth_of(&job->disparity, &job->rects, k);
  return RV_OK;
}

RV_ENGINE(RvObstacles, obstacles, cpu, RvObstaclesCpu, layout, open_cpu, NULL, .raster = raster,
          .strips = strips, .space = space, .boxes = boxes, .distances = distances);
