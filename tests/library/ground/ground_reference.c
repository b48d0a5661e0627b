/* SPDX-License-Identifier: MIT */
/* ground_reference.c: see ground_reference.h. Cells are computed again wherever they are needed, each
 * line counts its votes cell by cell, and the profile is found by a recursion over all paths with
 * memory. */
#include "ground/ground_reference.h"

#include <stdlib.h>
#include <string.h>

static uint32_t cell(const RvGroundPlan *g, const RvPlane *d, int x, int y) {
  uint64_t sum = 0;
  int valid = 0;
  for (int i = 0; i < g->n * g->n; i++) {
    const int u = x * g->n + i % g->n, v = y * g->n + i / g->n;
    const uint16_t *row = (const uint16_t *)((const char *)d->data + v * d->stride);
    if (row[u] == 0 || row[u] + g->doffs <= 0)
      continue;
    sum += (uint64_t)(row[u] + g->doffs);
    valid++;
  }
  if (2 * valid < g->n * g->n)
    return RV_GROUND_NO_CELL;
  return (uint32_t)((sum * 16 + (uint64_t)valid / 2) / (uint64_t)valid);
}

static uint32_t *all_cells(const RvGroundPlan *g, const RvPlane *d) {
  uint32_t *cells = malloc((size_t)g->cells * sizeof *cells);
  if (!cells)
    abort();
  for (int i = 0; i < g->cells; i++)
    cells[i] = cell(g, d, i % g->columns, i / g->columns);
  return cells;
}

/* --- Plane ----------------------------------------------------------------------------------- */

/* A cell that votes. */
typedef struct Voter {
  int band, d; /* px */
} Voter;

static int find_voters(const RvGroundPlan *g, const uint32_t *cells, Voter *voters) {
  int count = 0;
  for (int i = 0; i < g->cells; i++) {
    const int band = i / g->columns / g->band;
    if (cells[i] != RV_GROUND_NO_CELL && cells[i] < 256 * RV_GROUND_DEPTHS && band < g->bands &&
        rv_ground_within(g, rv_ground_center(i % g->columns, g->n), cells[i], g->near))
      voters[count++] = (Voter){band, (int)(cells[i] / 256)};
  }
  return count;
}

static uint32_t votes_of(const RvGroundPlan *g, const Voter *voters, int count, int index) {
  const int horizon = rv_ground_horizon(index / RV_GROUND_BOTTOMS, g->height);
  const int bottom = rv_line_bottom(index % RV_GROUND_BOTTOMS);
  int line[RV_GROUND_BANDS_MAX];
  for (int band = 0; band < g->bands; band++)
    line[band] = rv_ground_line(rv_ground_band_row(g, band), horizon, bottom, g->height);
  uint32_t votes = 0;
  for (int i = 0; i < count; i++)
    votes += line[voters[i].band] >= 0 && abs(voters[i].d - line[voters[i].band]) <= 1;
  return votes;
}

static int find_plane(const RvGroundPlan *g, const uint32_t *cells, const RvGroundLimits *limits,
                      RvGroundPlane *plane, int *on_plane) {
  uint32_t best = 0;
  Voter *voters = malloc((size_t)g->cells * sizeof *voters);
  if (!voters)
    abort();
  const int count = find_voters(g, cells, voters);
  for (int index = 0; index < RV_GROUND_LINES; index++) {
    const RvGroundPlane line = rv_ground_line_plane(index, g->height);
    const uint32_t votes =
        rv_ground_plausible(g, limits, &line) ? votes_of(g, voters, count, index) : 0;
    if (votes <= best)
      continue;
    best = votes;
    *plane = line;
  }
  free(voters);
  for (int round = 0; best > 0 && round < RV_GROUND_FIT_ROUNDS; round++) {
    RvPlaneSums s = {0};
    for (int i = 0; i < g->cells; i++) {
      const int64_t x = i % g->columns, y = i / g->columns, d = cells[i];
      if (!rv_ground_takes(g, plane, rv_ground_center((int)x, g->n), rv_ground_center((int)y, g->n),
                           cells[i], round))
        continue;
      s.n++, s.x += x, s.y += y, s.d += d;
      s.xx += x * x, s.xy += x * y, s.yy += y * y, s.xd += x * d, s.yd += y * d;
    }
    *on_plane = (int)s.n;
    if (!rv_ground_solve(g, &s, plane))
      return 0;
  }
  return best > 0 && rv_ground_plausible(g, limits, plane);
}

/* --- Profile --------------------------------------------------------------------------------- */

typedef struct Search {
  int cells[RV_GROUND_BINS][RV_GROUND_OFFSETS];
  int first, last;
  RvGroundBend bend;
  int scores[RV_GROUND_BINS][RV_GROUND_OFFSETS];
  int is_known[RV_GROUND_BINS][RV_GROUND_PLACES];
  int cost[RV_GROUND_BINS][RV_GROUND_PLACES];
  int next[RV_GROUND_BINS][RV_GROUND_PLACES]; /* place in the next nearer bin */
} Search;

/* Cells of a bin within one step of an offset. */
static int near(const Search *s, int bin, int offset) {
  int on = 0;
  for (int o = rv_max(offset - 1, 0); o <= rv_min(offset + 1, RV_GROUND_OFFSETS - 1); o++)
    on += s->cells[bin][o];
  return on;
}

static void score_bin(Search *s, int bin) {
  int most = 0, below = 0;
  for (int o = 0; o < RV_GROUND_OFFSETS; o++)
    most = rv_max(most, near(s, bin, o));
  const int full = rv_max(most, RV_GROUND_VOTES_FULL);
  for (int o = 0; o < RV_GROUND_OFFSETS; o++) {
    below += o >= 2 ? s->cells[bin][o - 2] : 0;
    const int cost = rv_min(RV_GROUND_BELOW_COST * below / full, RV_GROUND_BELOW_MAX);
    s->scores[bin][o] = RV_GROUND_ON_SCORE * near(s, bin, o) / full - cost;
  }
}

/* Sum over the bins that may bend of the best score near a bend. */
static int bend_score(const Search *s, const RvGroundBend *bend) {
  int sum = -RV_GROUND_BEND_COST * abs(bend->slope);
  for (int bin = s->first; bin <= s->last && bin < RV_GROUND_BEND_BINS; bin++) {
    const int offset = rv_ground_bend_at(bend, bin) + RV_GROUND_REACH;
    int best = s->scores[bin][offset];
    for (int side = -RV_GROUND_BEND_REACH; side <= RV_GROUND_BEND_REACH; side++)
      if (offset + side >= 0 && offset + side < RV_GROUND_OFFSETS)
        best = rv_max(best, s->scores[bin][offset + side]);
    sum += best;
  }
  return sum;
}

static void find_bend(Search *s) {
  s->bend = (RvGroundBend){s->first, 0};
  for (int bin = 0; bin < RV_GROUND_BINS; bin++)
    score_bin(s, bin);
  int best = bend_score(s, &s->bend);
  for (int knee = s->first + 1; knee <= rv_min(s->last, RV_GROUND_BEND_BINS); knee++)
    for (int slope = -RV_GROUND_BEND_SLOPES; slope <= RV_GROUND_BEND_SLOPES; slope++) {
      const RvGroundBend bend = {knee, slope};
      const int sum = slope ? bend_score(s, &bend) : best;
      if (sum > best) {
        best = sum;
        s->bend = bend;
      }
    }
}

static int offset_of(const Search *s, int bin, int place) {
  return rv_ground_place(rv_ground_bend_at(&s->bend, bin), place);
}

/* Cost of the best path from the nearest bin to this place of this bin. */
static int cost_of(Search *s, int bin, int place) {
  if (s->is_known[bin][place])
    return s->cost[bin][place];
  int best = RV_GROUND_START_COST * abs(place - RV_GROUND_WINDOW), next = place;
  for (int distance = 0; bin < s->last && distance <= RV_GROUND_STEPS; distance++)
    for (int side = -1; side <= 1; side += 2) { /* the lower place first */
      const int from = place + side * distance;
      if (from < 0 || from >= RV_GROUND_PLACES || (distance == 0 && side > 0))
        continue;
      const int cost = cost_of(s, bin + 1, from) + RV_GROUND_STEP_COST * distance;
      if (distance == 0 || cost < best) {
        best = cost;
        next = from;
      }
    }
  s->is_known[bin][place] = 1;
  s->next[bin][place] = next;
  return s->cost[bin][place] =
             best - rv_ground_pulled(s->scores[bin][offset_of(s, bin, place)], place);
}

static void fill_search(const RvGroundPlan *g, const uint32_t *cells, const RvGroundPlane *plane,
                        Search *s) {
  for (int i = 0; i < g->cells; i++) {
    const double u = rv_ground_center(i % g->columns, g->n);
    const double v = rv_ground_center(i / g->columns, g->n);
    const int bin = rv_ground_bin(g, cells[i]);
    const int offset = bin >= 0 && rv_ground_within(g, u, cells[i], g->far)
                           ? rv_ground_offset(g, plane, u, v, cells[i])
                           : -1;
    if (offset >= 0)
      s->cells[bin][offset]++;
  }
}

/* First bin at or after `bin` in direction `step` that has enough cells; -1: none. */
static int find_bin(const Search *s, int bin, int step) {
  for (; bin >= 0 && bin < RV_GROUND_BINS; bin += step) {
    int count = 0;
    for (int o = 0; o < RV_GROUND_OFFSETS; o++)
      count += s->cells[bin][o];
    if (count >= RV_GROUND_VOTES_MIN)
      return bin;
  }
  return -1;
}

static int smooth(const RvGroundPlan *g, const Search *s, const int *path, int bin) {
  int sum = 0, count = 0;
  for (int k = s->first; k <= s->last; k++) {
    int here = 0;
    for (int o = 0; o < RV_GROUND_OFFSETS && abs(k - bin) <= RV_GROUND_SMOOTH; o++) {
      const int cells = abs(o - path[k]) <= 1 ? s->cells[k][o] : 0;
      sum += cells * (o - RV_GROUND_REACH - rv_ground_bend_at(&s->bend, k));
      here += cells;
    }
    if (abs(k - bin) <= RV_GROUND_SMOOTH && here == 0) {
      sum += path[k] - RV_GROUND_REACH - rv_ground_bend_at(&s->bend, k);
      here = 1;
    }
    count += here;
  }
  return rv_ground_mean(g, rv_ground_bend_at(&s->bend, bin), sum, count);
}

static void find_profile(const RvGroundPlan *g, const uint32_t *cells, const RvGroundPlane *plane,
                         RvGroundSurface *surface) {
  Search *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  fill_search(g, cells, plane, s);
  s->first = find_bin(s, 0, 1);
  s->last = find_bin(s, RV_GROUND_BINS - 1, -1);
  surface->first = s->first;
  surface->last = s->last;
  memset(surface->profile, 0, sizeof surface->profile);
  if (s->first >= 0) {
    int path[RV_GROUND_BINS], best = RV_GROUND_WINDOW;
    find_bend(s);
    for (int distance = 1; distance <= RV_GROUND_WINDOW; distance++)
      for (int side = -1; side <= 1; side += 2)
        if (cost_of(s, s->first, RV_GROUND_WINDOW + side * distance) < cost_of(s, s->first, best))
          best = RV_GROUND_WINDOW + side * distance;
    for (int bin = s->first; bin <= s->last; bin++) {
      path[bin] = offset_of(s, bin, best);
      best = s->next[bin][best];
    }
    for (int bin = 0; bin < RV_GROUND_BINS; bin++)
      surface->profile[bin] = (int16_t)smooth(g, s, path, rv_clamp(bin, s->first, s->last));
  }
  free(s);
}

/* --- Frame ----------------------------------------------------------------------------------- */

void ground_reference(const RvGroundPlan *g, const RvPlane *disparity, RvGroundState *state,
                      RvGroundSurface *out) {
  uint32_t *cells = all_cells(g, disparity);
  const RvGroundLimits limits = rv_ground_limits(g, state);
  RvGroundPlane plane = {0, 0, 0};
  int on_plane = 0;
  const int has_plane =
      g->config.mode == RV_GROUND_MODE_ESTIMATE && find_plane(g, cells, &limits, &plane, &on_plane);
  const int change = rv_ground_follow(g, has_plane ? &plane : NULL, on_plane, state);
  state->last.bin = g->bin;
  if (change > 0) {
    find_profile(g, cells, &plane, &state->last);
  } else if (change < 0) {
    memset(state->last.profile, 0, sizeof state->last.profile);
    state->last.first = state->last.last = -1;
  }
  *out = state->last;
  out->intercept = rv_ground_intercept(g, &state->last);
  free(cells);
}
