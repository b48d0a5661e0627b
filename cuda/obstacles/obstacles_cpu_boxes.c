/* SPDX-License-Identifier: MIT */
/* obstacles_cpu_boxes.c: the CPU engine of obstacles: runs of a strip, components, boxes,
 * columns. */
#include <string.h>

#include "obstacles/obstacles_cpu.h"

/* --- Runs ------------------------------------------------------------------------------------ */

typedef struct Bits {
  uint8_t at[RV_OBSTACLES_FINE]; /* 0 or 1 */
} Bits;

/* Most votes of a bin of first..last. */
static int most_votes(const uint32_t *votes, int first, int last) {
  int most = 0;
  for (int k = rv_max(first, 0); k <= rv_min(last, RV_OBSTACLES_FINE - 1); k++)
    most = rv_max(most, (int)(votes[k] & 65535));
  return most;
}

/* Bins with enough votes in their window that do not separate two surfaces; single gaps are filled.
 */
static void find_bits(const RvObstaclesPlan *p, const uint32_t *votes, Bits *bits) {
  const RvObstaclesTables *t = p->tables;
  int below[RV_OBSTACLES_FINE + 1];
  uint8_t is_full[RV_OBSTACLES_FINE + 2]; /* one further on either side */
  below[0] = 0;
  is_full[0] = is_full[RV_OBSTACLES_FINE + 1] = 0;
  for (int k = 0; k < RV_OBSTACLES_FINE; k++)
    below[k + 1] = below[k] + (int)(votes[k] & 65535);
  for (int k = 0; k < RV_OBSTACLES_FINE; k++) {
    const int sum =
        below[rv_min(k + t->window[k] + 1, RV_OBSTACLES_FINE)] - below[rv_max(k - t->window[k], 0)];
    is_full[k + 1] = votes[k] != 0 && sum >= t->need[k] &&
                     !(k < p->split &&
                       rv_obstacles_is_valley((int)(votes[k] & 65535),
                                              most_votes(votes, k - RV_OBSTACLES_VALLEY, k - 1),
                                              most_votes(votes, k + 1, k + RV_OBSTACLES_VALLEY)));
  }
  for (int k = 0; k < RV_OBSTACLES_FINE; k++)
    bits->at[k] = is_full[k + 1] || (is_full[k] && is_full[k + 2]);
}

/* 1 when a bin of an overhanging run lies near a run on the ground. */
static int is_covered(const Bits *ground, int low, int high) {
  for (int k = rv_max(low - RV_OBSTACLES_COVER, 0);
       k <= rv_min(high + RV_OBSTACLES_COVER, RV_OBSTACLES_FINE - 1); k++)
    if (ground->at[k])
      return 1;
  return 0;
}

static RvObstaclesRun measure_run(const RvObstaclesPlan *p, const uint32_t *votes, int low,
                                  int high, int over) {
  RvObstaclesRun run = {.low = (uint16_t)low, .high = (uint16_t)high, .over = over};
  for (int k = low; k <= high; k++)
    run.votes += (int)(votes[k] & 65535);
  const int near = rv_obstacles_share(run.votes, RV_OBSTACLES_NEAR);
  const int far = rv_obstacles_share(run.votes, 100 - RV_OBSTACLES_NEAR);
  int below = 0;
  for (int k = low; k <= high; k++) {
    const int here = (int)(votes[k] & 65535);
    if (below < near && below + here >= near)
      run.near_d = rv_obstacles_quantile(p, k, near - below, here);
    if (below < far && below + here >= far)
      run.far_d = rv_obstacles_quantile(p, k, far - below, here);
    below += here;
  }
  return run;
}

/* Appends the runs of `bits`, from near to far; `map`: run of each bin and of its neighbors. */
static int add_runs(const RvObstaclesPlan *p, const uint32_t *votes, const Bits *bits,
                    const Bits *ground, RvObstaclesRun *runs, int count, uint8_t *map) {
  for (int k = RV_OBSTACLES_FINE - 1; k >= 0 && count < RV_OBSTACLES_RUNS; k--) {
    if (!bits->at[k])
      continue;
    const int high = k;
    while (k > 0 && bits->at[k - 1])
      k--;
    if (ground && is_covered(ground, k, high))
      continue;
    for (int i = rv_max(k - 1, 0); i <= rv_min(high + 1, RV_OBSTACLES_FINE - 1); i++)
      map[i] = map[i] == 255 ? (uint8_t)count : map[i];
    runs[count++] = measure_run(p, votes, k, high, ground != NULL);
  }
  return count;
}

static int has_row(const uint32_t *mask, int row) {
  return mask[row / 32] >> (row % 32) & 1;
}

/* Rows of a run: from its lowest pixel upwards to the first large gap. */
static void find_rows(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int strip,
                      const uint32_t *mask, RvObstaclesRun *run) {
  const int middle = rv_obstacles_middle(run), gap = p->tables->gap[middle];
  int row = p->rows - 1, misses = 0;
  while (row > 0 && !has_row(mask, row))
    row--;
  int top = row;
  run->bottom = (uint16_t)rv_obstacles_last_row(p, row);
  for (; row >= 0 && misses <= gap; row--) {
    const int is_set = has_row(mask, row);
    top = is_set ? row : top;
    misses = is_set ? 0 : misses + 1;
  }
  run->top = (uint16_t)(top * p->stride);
  const int32_t ground =
      cpu->depth[rv_obstacles_center(p, middle)].row - cpu->column[strip * p->n + p->n / 2];
  run->height = rv_obstacles_mm(p->tables->mm[middle], ground - 256 * run->top);
}

void rv_obstacles_cpu_runs(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int strip,
                           const uint32_t *over, const RvObstaclesPixel *pixels, int count,
                           uint32_t *mask) {
  const uint32_t *votes = cpu->votes + (size_t)strip * RV_OBSTACLES_FINE;
  RvObstaclesRun *runs = cpu->runs + strip * RV_OBSTACLES_RUNS;
  uint8_t map[RV_OBSTACLES_FINE];
  uint16_t columns[RV_OBSTACLES_RUNS][RV_OBSTACLES_STRIP_MAX] = {{0}};
  Bits ground, above;
  memset(map, 255, sizeof map);
  find_bits(p, votes, &ground);
  find_bits(p, over, &above);
  int found = add_runs(p, votes, &ground, NULL, runs, 0, map);
  found = add_runs(p, over, &above, &ground, runs, found, map);
  cpu->run_count[strip] = (uint8_t)found;
  memset(mask, 0, (size_t)found * (size_t)cpu->words * sizeof *mask);
  for (int k = 0; found && k < count; k++) {
    const int m = map[pixels[k] & 511], row = (int)(pixels[k] >> 15);
    if (m == 255 || (runs[m].over && !(pixels[k] >> 14 & 1)))
      continue;
    mask[m * cpu->words + row / 32] |= 1u << (row % 32);
    columns[m][pixels[k] >> 9 & 31]++;
  }
  for (int m = 0; m < found; m++) {
    find_rows(cpu, p, strip, mask + m * cpu->words, &runs[m]);
    for (int i = 0; i < p->n; i++)
      runs[m].columns |= (uint32_t)(columns[m][i] >= 2) << i;
  }
}

/* --- Components ------------------------------------------------------------------------------ */

static void join_strip(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int strip) {
  const RvObstaclesTables *t = p->tables;
  const RvObstaclesRun *runs = cpu->runs;
  for (int i = strip * RV_OBSTACLES_RUNS; i < strip * RV_OBSTACLES_RUNS + cpu->run_count[strip];
       i++) {
    const int last = rv_min(strip + t->reach[rv_obstacles_middle(&runs[i])], p->strips - 1);
    for (int other = strip + 1; other <= last; other++)
      for (int k = 0; k < cpu->run_count[other]; k++)
        if (rv_obstacles_joins(p, t, &runs[i], &runs[other * RV_OBSTACLES_RUNS + k], other - strip))
          rv_join(cpu->label, i, other * RV_OBSTACLES_RUNS + k);
  }
}

/* Sorts the runs by component, keeping their order, and lists the components. */
static int list_components(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p) {
  int count = 0, place = 0;
  for (int strip = 0; strip < p->strips; strip++)
    for (int i = strip * RV_OBSTACLES_RUNS; i < strip * RV_OBSTACLES_RUNS + cpu->run_count[strip];
         i++) {
      cpu->label[i] = rv_root_of(cpu->label, i);
      if (cpu->label[i] == i) { /* a root comes before its members */
        cpu->rank[i] = count;
        cpu->components[count++] = (RvObstaclesComponent){.label = i};
      }
      cpu->components[cpu->rank[cpu->label[i]]].count++;
    }
  for (int k = 0; k < count; k++) {
    cpu->components[k].first = place;
    place += cpu->components[k].count;
    cpu->components[k].count = 0;
  }
  for (int strip = 0; strip < p->strips; strip++)
    for (int i = strip * RV_OBSTACLES_RUNS; i < strip * RV_OBSTACLES_RUNS + cpu->run_count[strip];
         i++) {
      RvObstaclesComponent *c = &cpu->components[cpu->rank[cpu->label[i]]];
      cpu->order[c->first + c->count++] = i;
    }
  return count;
}

/* --- Boxes ----------------------------------------------------------------------------------- */

enum { KEY_NEAR, KEY_FAR, KEY_TOP, KEY_BOTTOM };

static int key_of(const RvObstaclesRun *run, int key) {
  return key == KEY_NEAR  ? run->near_d
         : key == KEY_FAR ? run->far_d
         : key == KEY_TOP ? run->top
                          : run->bottom;
}

/* Least key such that runs of a weight of at least `want` have none larger; weights: votes for
 * disparities, else 1. */
static int select_key(const RvObstaclesCpu *cpu, const RvObstaclesComponent *c, int key,
                      int64_t want) {
  int found = 0;
  for (int bit = 1 << 24; bit > 0; bit /= 2) {
    int64_t below = 0; /* weight of the keys below found + bit */
    for (int k = 0; k < c->count; k++) {
      const RvObstaclesRun *run = &cpu->runs[cpu->order[c->first + k]];
      if (key_of(run, key) < found + bit)
        below += key == KEY_NEAR || key == KEY_FAR ? run->votes : 1;
    }
    if (below < want)
      found += bit;
  }
  return found;
}

/* First or last px column of a strip's runs in a component; the complete strip without any. */
static int edge_of(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p,
                   const RvObstaclesComponent *c, int strip, int is_right) {
  uint32_t columns = 0;
  for (int k = 0; k < c->count; k++)
    if (cpu->order[c->first + k] / RV_OBSTACLES_RUNS == strip)
      columns |= cpu->runs[cpu->order[c->first + k]].columns;
  return strip * p->n + rv_obstacles_edge(columns, p->n, is_right);
}

static RvObstacleBox box_of(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p,
                            const RvObstaclesComponent *c) {
  RvObstacleBox box = {.label = c->label, .runs = c->count, .over = cpu->runs[c->label].over};
  int last = -1, first_strip = p->strips;
  for (int k = 0; k < c->count; k++) {
    const int i = cpu->order[c->first + k], strip = i / RV_OBSTACLES_RUNS;
    box.votes += cpu->runs[i].votes;
    box.strips += strip != last;
    first_strip = rv_min(first_strip, strip);
    last = strip;
  }
  box.near_d = select_key(cpu, c, KEY_NEAR, rv_obstacles_near_weight(box.votes));
  box.far_d = select_key(cpu, c, KEY_FAR, rv_obstacles_far_weight(box.votes));
  box.top = select_key(cpu, c, KEY_TOP, rv_obstacles_top_weight(c->count));
  box.bottom = select_key(cpu, c, KEY_BOTTOM, rv_obstacles_bottom_weight(c->count));
  box.left = edge_of(cpu, p, c, first_strip, 0);
  box.right = edge_of(cpu, p, c, last, 1);
  return box;
}

/* Nearest first; the root's rank becomes the index of its box, or -1. */
static int sort_boxes(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int components,
                      RvObstacleBox *out, uint32_t *found) {
  *found = 0;
  for (int k = 0; k < components; k++) {
    RvObstaclesComponent *c = &cpu->components[k];
    c->box = box_of(cpu, p, c);
    const int32_t ground = cpu->depth[rv_obstacles_near(p, &c->box)].row -
                           cpu->column[rv_obstacles_center_column(&c->box)];
    c->count = rv_obstacles_is_box(p, p->tables, &c->box, ground);
    *found += (uint32_t)c->count;
  }
  for (int k = 0; k < components; k++) {
    const RvObstaclesComponent *c = &cpu->components[k];
    int rank = 0;
    for (int i = 0; i < components; i++)
      rank += cpu->components[i].count &&
              rv_obstacles_order(cpu->components[i].box.near_d, cpu->components[i].label) >
                  rv_obstacles_order(c->box.near_d, c->label);
    cpu->rank[c->label] = c->count && rank < RV_OBSTACLES_MAX ? rank : -1;
    if (cpu->rank[c->label] >= 0 && out)
      out[rank] = c->box;
  }
  return rv_min((int)*found, RV_OBSTACLES_MAX);
}

static const uint16_t *row_of(const RvPlane *plane, int y) {
  return (const uint16_t *)((const char *)plane->data + y * plane->stride);
}

static uint8_t valid_of(const RvPlane *plane, const RvObstacleBox *box) {
  const int w = box->right - box->left + 1, h = box->bottom - box->top + 1;
  const int across = rv_obstacles_sample_step(w), down = rv_obstacles_sample_step(h);
  uint32_t count = 0;
  for (int y = box->top; y <= box->bottom; y += down) {
    const uint16_t *row = row_of(plane, y);
    for (int x = box->left; x <= box->right; x += across)
      count += row[x] != 0;
  }
  return rv_obstacles_fraction(count, rv_div_up(w, across), rv_div_up(h, down));
}

/* --- Columns --------------------------------------------------------------------------------- */

/* Box of the nearest run near the path that belongs to one. */
static int obstacle_at(const RvObstaclesCpu *cpu, int strip, int q) {
  const RvObstaclesRun *runs = cpu->runs + strip * RV_OBSTACLES_RUNS;
  for (int k = 0; k < cpu->run_count[strip]; k++) {
    const int rank = cpu->rank[cpu->label[strip * RV_OBSTACLES_RUNS + k]];
    if (rank >= 0 && rv_obstacles_meets(&runs[k], q))
      return rank;
  }
  return RV_OBSTACLE_NONE;
}

/* 1 when something overhanging is the cause of a strip's evidence. */
static int is_smeared(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int strip,
                      const RvObstaclesLimit *limit) {
  const int reach = rv_obstacles_smear_reach(limit), last = rv_min(strip + reach, p->strips - 1);
  for (int s = rv_max(strip - reach, 0); s <= last; s++)
    for (int k = 0; k < cpu->run_count[s]; k++)
      if (rv_obstacles_smears(limit, &cpu->runs[s * RV_OBSTACLES_RUNS + k], s - strip))
        return 1;
  return 0;
}

/* The farthest bin up to which ground is seen without a gap of RV_OBSTACLES_FREE_GAP, q when there is
 * none before q or the farthest bin. */
static int known_until(const RvObstaclesCpu *cpu, const RvObstaclesPlan *p, int strip, int q) {
  uint32_t ground[RV_OBSTACLES_COARSE / 32] = {0};
  for (int k = rv_max(strip - 2, 0); k <= rv_min(strip + 2, p->strips - 1); k++)
    for (int i = 0; i < RV_OBSTACLES_COARSE / 32; i++)
      ground[i] |= cpu->ground[k * RV_OBSTACLES_COARSE / 32 + i];
  int seen = RV_OBSTACLES_COARSE - 1;
  for (int k = RV_OBSTACLES_COARSE - 1; k > rv_max(q, rv_obstacles_farthest(p)); k--) {
    seen = ground[k / 32] >> (k % 32) & 1 ? k : seen;
    if (rv_obstacles_is_gap(p, seen, k))
      return seen;
  }
  return q;
}

/* 1 when many pixels of a strip have no disparity where something at bin q is in the way. */
static int has_holes(const RvObstaclesCpu *cpu, const RvObstaclesJob *job, int strip, int q) {
  const RvObstaclesPlan *p = job->plan;
  const int left = strip * p->n;
  const RvObstaclesRows rows = rv_obstacles_rows_at(p, &cpu->depth[rv_obstacles_center(p, 2 * q)],
                                                    cpu->column[left + p->n / 2]);
  int holes = 0, pixels = 0;
  for (int y = rows.first; y <= rows.last; y++) {
    const uint16_t *row = row_of(&job->disparity, y);
    for (int i = 0; i < p->n; i++, pixels++)
      holes += row[left + i] == 0;
  }
  return rv_obstacles_has_holes(holes, pixels);
}

/* Looks whether the image has contrast where a strip votes for its limit. */
static void look(const RvObstaclesCpu *cpu, const RvObstaclesJob *job, int strip,
                 RvObstaclesLimit *limit) {
  const RvObstaclesPlan *p = job->plan;
  const RvPlane *gray = &job->source.gray;
  const int left = strip * p->n, q = limit->q;
  if (!gray->data || !rv_obstacles_is_faint(p, q, RV_OBSTACLES_FAINT_HANG))
    return;
  const RvObstaclesRows rows =
      rv_obstacles_rows_near(p, cpu->depth, cpu->column[left + p->n / 2], q);
  int flat = 0, excess = 0;
  for (int x = left; x < left + p->n; x++) {
    int contrast = 0, votes = 0;
    for (int y = rows.first; y <= rows.last; y++) {
      if (!rv_obstacles_votes_for(p, cpu->depth, row_of(&job->disparity, y)[x],
                                  256 * y + cpu->column[x], q))
        continue;
      contrast += rv_obstacles_contrast(gray, x, y);
      votes++;
    }
    flat += rv_obstacles_excess(contrast, votes, RV_OBSTACLES_COLUMN) < 0;
    excess += rv_obstacles_excess(contrast, votes, RV_OBSTACLES_CONTRAST);
  }
  rv_obstacles_look(p, flat, excess, limit);
}

static RvFreeColumn column_of(const RvObstaclesCpu *cpu, const RvObstaclesJob *job, int strip) {
  const RvObstaclesPlan *p = job->plan;
  const uint32_t *votes = cpu->votes + (size_t)strip * RV_OBSTACLES_FINE;
  const int q = cpu->path[strip], known = known_until(cpu, p, strip, q);
  int64_t count = 0, sum = 0;
  for (int k = rv_max(2 * q - 2, 0); q && k <= rv_min(2 * q + 3, RV_OBSTACLES_FINE - 1); k++) {
    count += votes[k] & 65535;
    sum += rv_obstacles_sum(p, votes[k], k);
  }
  RvObstaclesLimit limit = {.q = q,
                            .known = known,
                            .count = count,
                            .sum = sum,
                            .valid = cpu->valid[strip],
                            .evidence = q ? cpu->evidence[strip * RV_OBSTACLES_COARSE + q] : 0,
                            .holes = q ? has_holes(cpu, job, strip, q) : 0,
                            .obstacle = q ? obstacle_at(cpu, strip, q) : RV_OBSTACLE_NONE};
  look(cpu, job, strip, &limit);
  rv_obstacles_bridge(&limit, is_smeared(cpu, p, strip, &limit));
  rv_obstacles_pass(&limit, limit.is_bridged ? known_until(cpu, p, strip, 0) : q);
  const int depth = rv_obstacles_limit_depth(p, &limit);
  return rv_obstacles_free_column(p, &limit, depth,
                                  cpu->depth[depth].row - cpu->column[strip * p->n + p->n / 2]);
}

void rv_obstacles_cpu_boxes(const RvObstaclesCpu *cpu, const RvObstaclesJob *job) {
  const RvObstaclesPlan *p = job->plan;
  const RvObstaclesOutput *out = &job->output;
  const int has_ground = job->source.ground->slope_y > 0;
  uint32_t counts[2] = {0, 0};
  if (has_ground) {
    for (int i = 0; i < p->strips * RV_OBSTACLES_RUNS; i++)
      cpu->label[i] = i;
    for (int strip = 0; strip < p->strips; strip++)
      join_strip(cpu, p, strip);
    const int components = list_components(cpu, p);
    counts[0] = (uint32_t)sort_boxes(cpu, p, components, out->boxes, &counts[1]);
  }
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic)
  for (int k = 0; k < (out->boxes ? (int)counts[0] : 0); k++)
    out->boxes[k].valid = valid_of(&job->disparity, &out->boxes[k]);
  if (out->counts)
    memcpy(out->counts, counts, sizeof counts);
  for (int strip = 0; out->columns && strip < p->strips; strip++)
    out->columns[strip] = has_ground ? column_of(cpu, job, strip) : rv_obstacles_no_column(p);
}
