/* SPDX-License-Identifier: MIT */
/* ground_cpu.c: the CPU engine of the ground estimation. */
#include <string.h>

#include "ground/ground_stages.h"
#include "rv_openmp.h"

typedef struct RvGroundCpu {
  int threads;
  RvGroundState *state;
  uint32_t *mean;     /* [cell]: 1/256 px, RV_GROUND_NO_CELL: invalid */
  uint32_t *votes;    /* [band][RV_GROUND_DEPTHS]: cells within 1 px */
  uint32_t *sums;     /* [thread][column of pixels]: disparities of one row of cells */
  uint16_t *valid;    /* [thread][column of pixels]: number of valid pixels */
  int32_t *histogram; /* [bin][RV_GROUND_OFFSETS]: cells */
  int32_t *score;     /* [bin][RV_GROUND_OFFSETS] */
  int32_t *best;      /* [bin of the bend][RV_GROUND_OFFSETS]: of the scores near an offset */
  int32_t *cost;      /* [bin][RV_GROUND_PLACES] */
  uint8_t *step;      /* [bin][RV_GROUND_PLACES]: rank of the step to the next nearer bin */
  int32_t *count;     /* [bin]: cells */
  int32_t *path;      /* [bin]: index of the offset */
  uint64_t line;      /* votes of the best line << 32 | complement of its index; 0: none */
  RvGroundPlane plane;
  int has_plane, on_plane;
} RvGroundCpu;

static void layout(void *work, const void *plan, RvArena *arena) {
  RvGroundCpu *cpu = work;
  const RvGroundPlan *g = plan;
  const size_t bins = RV_GROUND_BINS, offsets = RV_GROUND_BINS * RV_GROUND_OFFSETS;
  const size_t places = RV_GROUND_BINS * RV_GROUND_PLACES;
  cpu->threads = rv_min(rv_threads(g->config.threads), g->rows);
  const size_t pixels = (size_t)cpu->threads * (size_t)g->width;
  cpu->state = rv_arena_take(arena, sizeof *cpu->state);
  cpu->mean = rv_arena_take(arena, (size_t)g->cells * sizeof *cpu->mean);
  cpu->votes = rv_arena_take(arena, (size_t)g->bands * RV_GROUND_DEPTHS * sizeof *cpu->votes);
  cpu->sums = rv_arena_take(arena, pixels * sizeof *cpu->sums);
  cpu->valid = rv_arena_take(arena, pixels * sizeof *cpu->valid);
  cpu->histogram = rv_arena_take(arena, offsets * sizeof *cpu->histogram);
  cpu->score = rv_arena_take(arena, offsets * sizeof *cpu->score);
  cpu->best = rv_arena_take(arena, RV_GROUND_BEND_BINS * RV_GROUND_OFFSETS * sizeof *cpu->best);
  cpu->cost = rv_arena_take(arena, places * sizeof *cpu->cost);
  cpu->step = rv_arena_take(arena, places);
  cpu->count = rv_arena_take(arena, bins * sizeof *cpu->count);
  cpu->path = rv_arena_take(arena, bins * sizeof *cpu->path);
}

RV_CLEARED_STATE(RvGroundCpu, const RvGroundJob);

/* --- Cells ----------------------------------------------------------------------------------- */

/* Adds one row of pixels to the sums of its columns. */
static void add_row(const uint16_t *d, int width, int doffs, uint32_t *sums, uint16_t *valid) {
#pragma omp simd
  for (int u = 0; u < width; u++) {
    const int depth = d[u] + doffs, is_valid = d[u] != 0 && depth > 0;
    sums[u] += is_valid ? (uint32_t)depth : 0;
    valid[u] = (uint16_t)(valid[u] + is_valid);
  }
}

static RvStatus cells(void *work, const RvGroundJob *job) {
  const RvGroundPlan *g = job->plan;
  RvGroundCpu *cpu = work;
  const int n = g->n, width = g->columns * n;
#pragma omp parallel for num_threads(cpu->threads) schedule(static)
  for (int y = 0; y < g->rows; y++) {
    const size_t at = (size_t)omp_get_thread_num() * (size_t)g->width;
    uint32_t *sums = cpu->sums + at, *mean = cpu->mean + (size_t)y * (size_t)g->columns;
    uint16_t *valid = cpu->valid + at;
    memset(sums, 0, (size_t)width * sizeof *sums);
    memset(valid, 0, (size_t)width * sizeof *valid);
    for (int v = y * n; v < y * n + n; v++)
      add_row((const uint16_t *)((const char *)job->disparity.data + v * job->disparity.stride),
              width, g->doffs, sums, valid);
    for (int x = 0; x < g->columns; x++) {
      uint32_t sum = 0;
      int count = 0;
      for (int u = x * n; u < x * n + n; u++) {
        sum += sums[u];
        count += valid[u];
      }
      mean[x] = rv_ground_cell(sum, count, n * n);
    }
  }
  return RV_OK;
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* Histograms of the bands; then, in place, of each bin the sum with its neighbors. */
static void count_votes(const RvGroundCpu *cpu, const RvGroundPlan *g) {
  memset(cpu->votes, 0, (size_t)g->bands * RV_GROUND_DEPTHS * sizeof *cpu->votes);
  for (int y = 0; y < g->bands * g->band; y++) {
    uint32_t *votes = cpu->votes + (size_t)(y / g->band) * RV_GROUND_DEPTHS;
    const uint32_t *mean = cpu->mean + (size_t)y * (size_t)g->columns;
    for (int x = 0; x < g->columns; x++)
      if (mean[x] / 256 < RV_GROUND_DEPTHS &&
          rv_ground_within(g, rv_ground_center(x, g->n), mean[x], g->near))
        votes[mean[x] / 256]++;
  }
  for (int y = 0; y < g->bands; y++) {
    uint32_t *votes = cpu->votes + (size_t)y * RV_GROUND_DEPTHS, before = 0;
    for (int d = 0; d < RV_GROUND_DEPTHS; d++) {
      const uint32_t here = votes[d];
      votes[d] = before + here + (d + 1 < RV_GROUND_DEPTHS ? votes[d + 1] : 0);
      before = here;
    }
  }
}

static uint32_t votes_of(const RvGroundCpu *cpu, const RvGroundPlan *g, int index) {
  const int horizon = rv_ground_horizon(index / RV_GROUND_BOTTOMS, g->height);
  const int bottom = rv_line_bottom(index % RV_GROUND_BOTTOMS);
  uint32_t votes = 0;
  for (int y = g->bands - 1; y >= 0; y--) {
    const int d = rv_ground_line(rv_ground_band_row(g, y), horizon, bottom, g->height);
    if (d >= 0)
      votes += cpu->votes[(size_t)y * RV_GROUND_DEPTHS + (size_t)d];
    else if (rv_ground_band_row(g, y) <= horizon)
      break;
  }
  return votes;
}

static RvStatus lines(void *work, const RvGroundJob *job) {
  const RvGroundPlan *g = job->plan;
  RvGroundCpu *cpu = work;
  const RvGroundLimits limits = rv_ground_limits(g, cpu->state);
  uint64_t best = 0;
  count_votes(cpu, g);
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic, 256) reduction(max : best)
  for (int index = 0; index < RV_GROUND_LINES; index++) {
    const RvGroundPlane line = rv_ground_line_plane(index, g->height);
    if (!rv_ground_plausible(g, &limits, &line))
      continue;
    const uint64_t key = rv_ground_key(votes_of(cpu, g, index), index);
    best = key > best ? key : best;
  }
  cpu->line = best;
  return RV_OK;
}

/* --- Plane ----------------------------------------------------------------------------------- */

static RvPlaneSums sums_near(const RvGroundCpu *cpu, const RvGroundPlan *g,
                             const RvGroundPlane *plane, int round) {
  RvPlaneSums s = {0};
  for (int y = 0; y < g->rows; y++) {
    const uint32_t *mean = cpu->mean + (size_t)y * (size_t)g->columns;
    const double v = rv_ground_center(y, g->n);
    int64_t n = 0, sx = 0, sxx = 0, sd = 0, sxd = 0;
    for (int x = 0; x < g->columns; x++) {
      const double u = rv_ground_center(x, g->n);
      if (!rv_ground_takes(g, plane, u, v, mean[x], round))
        continue;
      const int64_t d = mean[x];
      n++, sx += x, sxx += (int64_t)x * x, sd += d, sxd += x * d;
    }
    s.n += n, s.x += sx, s.xx += sxx, s.d += sd, s.xd += sxd;
    s.y += y * n, s.yy += y * y * n, s.xy += y * sx, s.yd += y * sd;
  }
  return s;
}

static RvStatus plane(void *work, const RvGroundJob *job) {
  const RvGroundPlan *g = job->plan;
  RvGroundCpu *cpu = work;
  const RvGroundLimits limits = rv_ground_limits(g, cpu->state);
  cpu->has_plane = 0;
  if (g->config.mode == RV_GROUND_MODE_CAMERA || !rv_ground_votes(cpu->line))
    return RV_OK;
  cpu->plane = rv_ground_line_plane(rv_ground_index(cpu->line), g->height);
  for (int round = 0; round < RV_GROUND_FIT_ROUNDS; round++) {
    const RvPlaneSums sums = sums_near(cpu, g, &cpu->plane, round);
    cpu->on_plane = (int)sums.n;
    if (!rv_ground_solve(g, &sums, &cpu->plane))
      return RV_OK;
  }
  cpu->has_plane = rv_ground_plausible(g, &limits, &cpu->plane);
  return RV_OK;
}

/* --- Profile --------------------------------------------------------------------------------- */

static void count_offsets(const RvGroundCpu *cpu, const RvGroundPlan *g) {
  memset(cpu->histogram, 0, RV_GROUND_BINS * RV_GROUND_OFFSETS * sizeof *cpu->histogram);
  memset(cpu->count, 0, RV_GROUND_BINS * sizeof *cpu->count);
  for (int y = 0; y < g->rows; y++) {
    const uint32_t *mean = cpu->mean + (size_t)y * (size_t)g->columns;
    const double v = rv_ground_center(y, g->n);
    for (int x = 0; x < g->columns; x++) {
      const double u = rv_ground_center(x, g->n);
      const int bin = rv_ground_bin(g, mean[x]);
      if (bin < 0 || !rv_ground_within(g, u, mean[x], g->far))
        continue;
      const int offset = rv_ground_offset(g, &cpu->plane, u, v, mean[x]);
      if (offset < 0)
        continue;
      cpu->histogram[bin * RV_GROUND_OFFSETS + offset]++;
      cpu->count[bin]++;
    }
  }
}

static void score_bin(const RvGroundCpu *cpu, int bin) {
  const int32_t *cells = cpu->histogram + bin * RV_GROUND_OFFSETS;
  int32_t *score = cpu->score + bin * RV_GROUND_OFFSETS, most = 0, below = 0;
  const int last = RV_GROUND_OFFSETS - 1;
  for (int o = 0; o <= last; o++) { /* the cells on each offset first */
    score[o] = (o > 0 ? cells[o - 1] : 0) + cells[o] + (o < last ? cells[o + 1] : 0);
    most = rv_max(most, score[o]);
  }
  const RvGroundFull full = rv_ground_full(most);
  for (int o = 0; o <= last; o++) {
    below += o > 1 ? cells[o - 2] : 0;
    score[o] = rv_ground_score(&full, score[o], below);
  }
}

static void spread_scores(const RvGroundCpu *cpu, int bin) {
  const int32_t *score = cpu->score + bin * RV_GROUND_OFFSETS;
  int32_t *best = cpu->best + bin * RV_GROUND_OFFSETS;
  for (int o = 0; o < RV_GROUND_OFFSETS; o++) {
    best[o] = score[o];
    for (int k = rv_max(o - RV_GROUND_BEND_REACH, 0);
         k <= rv_min(o + RV_GROUND_BEND_REACH, RV_GROUND_OFFSETS - 1); k++)
      best[o] = rv_max(best[o], score[k]);
  }
}

static RvGroundBend find_bend(const RvGroundCpu *cpu, int first, int last) {
  const int count = rv_ground_bends(first, last);
  int best = 0, best_gain = 0;
  for (int bin = first; bin < rv_min(last, RV_GROUND_BEND_BINS); bin++)
    spread_scores(cpu, bin);
  for (int index = 1; index < count; index++) {
    const RvGroundBend bend = rv_ground_bend(index, first);
    int gain = -RV_GROUND_BEND_COST * rv_abs(bend.slope);
    for (int bin = first; bin < bend.knee; bin++) {
      const int32_t *score = cpu->best + bin * RV_GROUND_OFFSETS + RV_GROUND_REACH;
      gain += score[rv_ground_bend_at(&bend, bin)] - score[0];
    }
    if (gain > best_gain) {
      best_gain = gain;
      best = index;
    }
  }
  return rv_ground_bend(best, first);
}

/* Costs of a bin from those of the next nearer one, NULL for the nearest. */
static void relax(const RvGroundCpu *cpu, int bin, int base, const int32_t *nearer) {
  const int32_t *score = cpu->score + bin * RV_GROUND_OFFSETS;
  int32_t *cost = cpu->cost + bin * RV_GROUND_PLACES;
  for (int place = 0; place < RV_GROUND_PLACES; place++) {
    int32_t best = rv_ground_start(place);
    for (int rank = 0; nearer && rank <= 2 * RV_GROUND_STEPS; rank++) {
      const int from = place + rv_ground_step(rank);
      const int32_t sum = from < 0 || from >= RV_GROUND_PLACES
                              ? RV_GROUND_INFINITE
                              : rv_ground_reached(nearer[from], rank);
      best = rank == 0 || sum < best ? sum : best;
    }
    cpu->step[bin * RV_GROUND_PLACES + place] = (uint8_t)rv_ground_rank_of(best);
    cost[place] =
        rv_ground_cost_of(best) - rv_ground_pulled(score[rv_ground_place(base, place)], place);
  }
}

static void trace(const RvGroundCpu *cpu, const RvGroundBend *bend, int first, int last) {
  const int32_t *cost = cpu->cost + first * RV_GROUND_PLACES;
  int best = 0;
  for (int place = 1; place < RV_GROUND_PLACES; place++)
    if (rv_ground_end(cost[place], place) < rv_ground_end(cost[best], best))
      best = place;
  for (int bin = first; bin <= last; bin++) {
    cpu->path[bin] = rv_ground_place(rv_ground_bend_at(bend, bin), best);
    best += rv_ground_step(cpu->step[bin * RV_GROUND_PLACES + best]);
  }
}

/* Mean offset from the bend of the cells on the path near a bin; a bin without such cells counts as
 * one on it. */
static int smooth(const RvGroundCpu *cpu, const RvGroundPlan *g, const RvGroundBend *bend, int bin,
                  int first, int last) {
  int sum = 0, count = 0;
  for (int k = rv_max(bin - RV_GROUND_SMOOTH, first); k <= rv_min(bin + RV_GROUND_SMOOTH, last);
       k++) {
    const int32_t *cells = cpu->histogram + k * RV_GROUND_OFFSETS;
    const int path = cpu->path[k], before = count;
    const int base = rv_ground_bend_at(bend, k) + RV_GROUND_REACH;
    for (int o = rv_max(path - 1, 0); o <= rv_min(path + 1, RV_GROUND_OFFSETS - 1); o++) {
      sum += cells[o] * (o - base);
      count += cells[o];
    }
    if (count == before) {
      sum += path - base;
      count++;
    }
  }
  return rv_ground_mean(g, rv_ground_bend_at(bend, bin), sum, count);
}

static void make_profile(const RvGroundCpu *cpu, const RvGroundPlan *g, RvGroundSurface *surface) {
  int first = -1, last = -1;
  count_offsets(cpu, g);
  for (int bin = 0; bin < RV_GROUND_BINS; bin++)
    if (cpu->count[bin] >= RV_GROUND_VOTES_MIN) {
      first = first < 0 ? bin : first;
      last = bin;
    }
  surface->first = first;
  surface->last = last;
  if (first < 0) {
    memset(surface->profile, 0, sizeof surface->profile);
    return;
  }
  for (int bin = first; bin <= last; bin++)
    score_bin(cpu, bin);
  const RvGroundBend bend = find_bend(cpu, first, last);
  for (int bin = last; bin >= first; bin--)
    relax(cpu, bin, rv_ground_bend_at(&bend, bin),
          bin < last ? cpu->cost + (bin + 1) * RV_GROUND_PLACES : NULL);
  trace(cpu, &bend, first, last);
  for (int bin = 0; bin < RV_GROUND_BINS; bin++)
    surface->profile[bin] = (int16_t)smooth(cpu, g, &bend, rv_clamp(bin, first, last), first, last);
}

static RvStatus profile(void *work, const RvGroundJob *job) {
  const RvGroundPlan *g = job->plan;
  RvGroundCpu *cpu = work;
  RvGroundSurface *last = &cpu->state->last;
  const int change =
      rv_ground_follow(g, cpu->has_plane ? &cpu->plane : NULL, cpu->on_plane, cpu->state);
  last->bin = g->bin;
  if (change > 0) {
    make_profile(cpu, g, last);
  } else if (change < 0) {
    memset(last->profile, 0, sizeof last->profile);
    last->first = last->last = -1;
  }
  *job->out = *last;
  job->out->intercept = rv_ground_intercept(g, last);
  return RV_OK;
}

RV_ENGINE(RvGround, ground, cpu, RvGroundCpu, layout, open_cpu, NULL, .cells = cells,
          .lines = lines, .plane = plane, .profile = profile, .reset = reset);
