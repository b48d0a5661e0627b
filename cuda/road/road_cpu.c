/* SPDX-License-Identifier: MIT */
/* road_cpu.c: the CPU engine of road detection: features, ground, seeds, components, classes. */
#include "road/road_cpu.h"

static const void *row_of(const RvPlane *plane, int y) {
  return (const char *)plane->data + y * plane->stride;
}

/* --- Color ---------------------------------------------------------------------------------- */

static void equalize(const RvRoadCpu *w) {
  const uint32_t total = (uint32_t)w->plan->config.width * (uint32_t)w->plan->config.height;
  for (int channel = 0; channel < 3; channel++) {
    const uint32_t *histogram = w->histogram + 256 * channel;
    uint32_t below = 0, first = 0;
    if (!w->plan->config.equalize) {
      for (int v = 0; v < 256; v++)
        w->equal[256 * channel + v] = (uint8_t)v;
      continue;
    }
    for (int v = 0; v < 256; v++) {
      below += histogram[v];
      if (first == 0)
        first = below;
      const int equal = below ? rv_road_equalized(below, first, total, v) : v;
      w->equal[256 * channel + v] = (uint8_t)equal;
    }
  }
}

void rv_road_features(RvRoadCpu *w, const RvPlane *color) {
  const int n = w->plan->config.patch_size, bins = w->plan->config.bins;
  equalize(w);
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int py = 0; py < w->plan->rows; py++) {
    uint8_t *counts = w->counts + (size_t)py * w->plan->columns * w->plan->cells;
    memset(counts, 0, (size_t)w->plan->columns * w->plan->cells);
    for (int y = 0; y < n; y++) {
      const uint32_t *row = row_of(color, py * n + y);
      for (int px = 0; px < w->plan->columns; px++)
        for (int x = 0; x < n; x++) {
          const uint32_t c = row[px * n + x];
          const int cell = rv_road_cell(w->equal[c & 255], w->equal[256 + (c >> 8 & 255)],
                                        w->equal[512 + (c >> 16 & 255)], bins,
                                        w->plan->config.min_saturation, w->plan->config.min_value);
          counts[(size_t)px * w->plan->cells + cell]++;
        }
    }
  }
}

/* --- Ground ---------------------------------------------------------------------------------- */

void rv_road_depths(RvRoadCpu *w, const RvPlane *disparity) {
  const int n = w->plan->config.patch_size;
  const int doffs = rv_road_doffs(&w->plan->config.camera);
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int py = 0; py < w->plan->rows; py++) {
    uint32_t *line = w->lines + (size_t)py * RV_ROAD_DEPTHS;
    memset(line, 0, RV_ROAD_DEPTHS * sizeof *line);
    for (int px = 0; px < w->plan->columns; px++) {
      uint32_t depth = 0;
      int valid = 0;
      for (int y = 0; y < n; y++) {
        const uint16_t *row = row_of(disparity, py * n + y);
        for (int x = 0; x < n; x++) {
          const uint16_t d = row[px * n + x];
          if (!rv_road_known(d, doffs))
            continue;
          valid++;
          depth += (uint32_t)(d + doffs);
        }
      }
      const size_t patch = (size_t)py * w->plan->columns + px;
      w->valid[patch] = (uint8_t)valid;
      w->depth[patch] = depth;
      if (2 * valid >= w->plan->area && depth / 16 / (unsigned)valid < RV_ROAD_DEPTHS &&
          rv_road_ahead(&w->plan->config.camera, px, n, depth, valid, w->plan->config.near_width))
        line[depth / 16 / (unsigned)valid]++;
    }
  }
}

static uint32_t votes_of(const RvRoadCpu *w, int horizon, int bottom) {
  const int n = w->plan->config.patch_size;
  uint32_t votes = 0;
  for (int py = 0; py < w->plan->rows; py++) {
    const int d = rv_road_line(py * n + n / 2, horizon, bottom, w->plan->config.height);
    if (d < 0)
      continue;
    const uint32_t *line = w->lines + (size_t)py * RV_ROAD_DEPTHS;
    votes += line[d - 1] + line[d] + (d + 1 < RV_ROAD_DEPTHS ? line[d + 1] : 0);
  }
  return votes;
}

/* Line of a pair of indices as a plane without roll. */
static RvRoadPlane line_plane(const RvRoadCpu *w, int index) {
  const int height = w->plan->config.height;
  const int horizon = rv_road_horizon(index / RV_ROAD_BOTTOMS, height);
  const double b =
      (double)rv_line_bottom(index % RV_ROAD_BOTTOMS) / rv_max(height - 1 - horizon, 1);
  return (RvRoadPlane){.b = b, .c = -b * horizon};
}

/* The plausible line with the most votes; on a tie, the first; 0 when none has a vote. */
static int first_plane(const RvRoadCpu *w, RvRoadPlane *plane) {
  uint64_t best = 0; /* votes, then the complement of the index; maximum */
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(max : best)
  for (int index = 0; index < RV_ROAD_HORIZONS * RV_ROAD_BOTTOMS; index++) {
    const RvRoadPlane line = line_plane(w, index);
    if (!rv_road_plausible(&line, &w->plan->config.camera))
      continue;
    const int horizon = rv_road_horizon(index / RV_ROAD_BOTTOMS, w->plan->config.height);
    const uint64_t votes = votes_of(w, horizon, rv_line_bottom(index % RV_ROAD_BOTTOMS));
    const uint64_t key = votes << 32 | (UINT32_MAX - (uint32_t)index);
    best = key > best ? key : best;
  }
  if (best >> 32 == 0)
    return 0;
  *plane = line_plane(w, (int)(UINT32_MAX - (uint32_t)best));
  return 1;
}

static RvPlaneSums sums_near(const RvRoadCpu *w, const RvRoadPlane *plane, int round) {
  RvPlaneSums s = {0};
  for (int y = 0; y < w->plan->rows; y++)
    for (int x = 0; x < w->plan->columns; x++) {
      const size_t patch = (size_t)y * w->plan->columns + x;
      const int64_t valid = w->valid[patch];
      if (2 * valid < w->plan->area ||
          !rv_road_ahead(&w->plan->config.camera, x, w->plan->config.patch_size, w->depth[patch],
                         (int)valid, w->plan->config.near_width))
        continue;
      const int64_t d = ((int64_t)w->depth[patch] * 16 + valid / 2) / valid;
      const double ground = rv_road_plane_at(plane, x, y, w->plan->config.patch_size);
      const double off = (double)d / 256 - ground;
      if (ground < RV_ROAD_DEPTH_MIN || (off < 0 ? -off : off) > rv_plane_reach(round, ground))
        continue;
      s.n++, s.x += x, s.y += y, s.d += d;
      s.xx += (int64_t)x * x, s.xy += (int64_t)x * y, s.yy += (int64_t)y * y;
      s.xd += x * d, s.yd += y * d;
    }
  return s;
}

void rv_road_ground(RvRoadCpu *w) {
  RvRoadPlane plane;
  w->plane = (RvRoadPlane){0};
  if (!first_plane(w, &plane))
    return;
  for (int round = 0; round < RV_ROAD_FIT_ROUNDS; round++) {
    const RvPlaneSums sums = sums_near(w, &plane, round);
    if (!rv_road_solve(&sums, w->plan->patches, w->plan->config.patch_size, &plane))
      return;
  }
  if (!rv_road_plausible(&plane, &w->plan->config.camera))
    return;
  plane.height = sqrt(rv_road_height_squared(&plane, &w->plan->config.camera));
  w->plane = plane;
}

/* --- Seeds ----------------------------------------------------------------------------------- */

static int is_sample(const RvRoadCpu *w, const RvPlane *disparity, int px, int py) {
  const RvRoadConfig *c = &w->plan->config;
  const size_t patch = (size_t)py * w->plan->columns + px;
  const int64_t valid = w->valid[patch];
  const double focal = c->camera.focal * c->camera.baseline;
  if (2 * valid < w->plan->area || valid < 2 || w->budget[patch] == 0 ||
      (double)w->depth[patch] * c->near_range <= focal * 16 * (double)valid ||
      !rv_road_ahead(&c->camera, px, c->patch_size, w->depth[patch], (int)valid, c->near_width / 2))
    return 0;
  const int n = c->patch_size;
  const double one = 1048576;
  const int64_t step = (int64_t)floor(w->plane.a * one + 0.5);
  int64_t sum = 0, squares = 0;
  for (int y = py * n; y < py * n + n; y++) {
    const uint16_t *row = row_of(disparity, y);
    int64_t ground =
        (int64_t)floor((w->plane.a * (px * n) + w->plane.b * y + w->plane.c) * one + 0.5);
    for (int x = px * n; x < px * n + n; x++, ground += step) {
      if (w->inverse[row[x]] == 0)
        continue;
      const int64_t rise = rv_road_relative_height(ground, w->inverse[row[x]]);
      sum += rise;
      squares += rise * rise;
    }
  }
  const double square = w->plane.height * w->plane.height;
  return rv_road_smooth(valid, sum, squares, w->depth[patch], c->roughness / square,
                        c->disparity_noise, c->max_roughness / square);
}

void rv_road_seeds(RvRoadCpu *w, const RvPlane *disparity) {
  memset(w->sample, 0, (size_t)w->plan->patches);
  if (!(w->plane.height > 0)) {
    for (int i = 0; i < w->plan->patches; i++)
      w->budget[i] = RV_ROAD_BUDGET_ONE;
    return;
  }
  int samples = 0, strip = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : samples, strip)
  for (int py = 0; py < w->plan->rows; py++)
    for (int px = 0; px < w->plan->columns; px++) {
      const size_t patch = (size_t)py * w->plan->columns + px;
      w->budget[patch] = rv_road_color_budget(&w->plan->config, &w->plane, px, py, w->valid[patch],
                                              w->depth[patch]);
      const int found = is_sample(w, disparity, px, py);
      w->sample[(size_t)py * w->plan->columns + px] = (uint8_t)found;
      samples += found;
      strip += rv_road_is_strip(&w->plan->config, &w->plane, px, py);
    }
  rv_road_components(w, w->sample);
  const int largest = rv_road_largest(w);
  const int seeds = largest >= 0 ? w->size[largest] : 0;
  const int has_seeds = rv_road_has_seeds(seeds, strip, w->plan->config.min_seeds);
  for (int i = 0; i < w->plan->patches; i++)
    w->sample[i] = has_seeds && w->parent[i] == largest;
  w->report.samples = samples;
  w->report.seeds = has_seeds ? seeds : 0;
}

/* --- Components ------------------------------------------------------------------------------ */

void rv_road_components(RvRoadCpu *w, const uint8_t *set) {
  for (int i = 0; i < w->plan->patches; i++) {
    w->parent[i] = set[i] ? i : -1;
    w->size[i] = 0;
    if (!set[i])
      continue;
    if (i % w->plan->columns != 0 && set[i - 1])
      rv_join(w->parent, i - 1, i);
    if (i >= w->plan->columns && set[i - w->plan->columns])
      rv_join(w->parent, i - w->plan->columns, i);
  }
  for (int i = 0; i < w->plan->patches; i++)
    if (set[i]) {
      w->parent[i] = rv_root_of(w->parent, i);
      w->size[w->parent[i]]++;
    }
}

int rv_road_largest(const RvRoadCpu *w) {
  int largest = -1;
  for (int i = 0; i < w->plan->patches; i++)
    if (w->parent[i] == i && (largest < 0 || w->size[i] > w->size[largest]))
      largest = i;
  return largest;
}

/* --- Road ------------------------------------------------------------------------------------ */

/* 1 when the majority of the patches of the window around (x, y) inside the frame are road-like. */
static uint8_t majority(const RvRoadCpu *w, int x, int y, int radius) {
  const int left = rv_max(x - radius, 0), right = rv_min(x + radius, w->plan->columns - 1);
  const int top = rv_max(y - radius, 0), bottom = rv_min(y + radius, w->plan->rows - 1);
  int votes = 0;
  for (int v = top; v <= bottom; v++)
    for (int u = left; u <= right; u++)
      votes += w->like[(size_t)v * w->plan->columns + u] >= RV_ROAD_LIKE;
  return 2 * votes > (right - left + 1) * (bottom - top + 1);
}

/* The patches that the median counts where the window is shifted by (u, v): `count` is increased
 * where the shifted patch has at least `least`. */
static void count_shifted(const uint8_t *like, int u, int columns, const uint8_t *least,
                          uint8_t *count) {
  const int first = rv_max(0, -u), last = rv_min(columns, columns - u);
  for (int x = first; x < last; x++)
    count[x] = (uint8_t)(count[x] + (like[x + u] >= least[x]));
}

void rv_road_median_row(const RvRoadCpu *w, int y, uint8_t *row) {
  const int columns = w->plan->columns, radius = w->plan->config.smoothing / 2;
  const int top = rv_max(y - radius, 0), bottom = rv_min(y + radius, w->plan->rows - 1);
  memset(row, 0, (size_t)columns);
  for (int bit = 128; bit; bit /= 2) {
    for (int x = 0; x < columns; x++)
      w->least[x] = (uint8_t)(row[x] | bit);
    memset(w->count, 0, (size_t)columns);
    for (int v = top; v <= bottom; v++)
      for (int u = -radius; u <= radius; u++)
        count_shifted(w->like + (size_t)v * (size_t)columns, u, columns, w->least, w->count);
    for (int x = 0; x < columns; x++) {
      const int wide = rv_min(x + radius, columns - 1) - rv_max(x - radius, 0) + 1;
      row[x] = 2 * w->count[x] > wide * (bottom - top + 1) ? w->least[x] : row[x];
    }
  }
}

void rv_road_smooth_patches(RvRoadCpu *w) {
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int y = 0; y < w->plan->rows; y++)
    for (int x = 0; x < w->plan->columns; x++)
      w->road[(size_t)y * w->plan->columns + x] = majority(w, x, y, w->plan->config.smoothing / 2);
}

/* 1 when a patch within RV_ROAD_KEPT_REACH of (x, y) was road in the last frame with seeds. */
static int was_road(const RvRoadCpu *w, int x, int y) {
  const int reach = RV_ROAD_KEPT_REACH;
  const int left = rv_max(x - reach, 0), right = rv_min(x + reach, w->plan->columns - 1);
  const int top = rv_max(y - reach, 0), bottom = rv_min(y + reach, w->plan->rows - 1);
  int found = 0;
  for (int v = top; v <= bottom; v++)
    for (int u = left; u <= right; u++)
      found |= w->kept[(size_t)v * (size_t)w->plan->columns + (size_t)u] & RV_ROAD_KEPT_ROAD;
  return found != 0;
}

/* Near the camera only what was road, or is next to it, remains. */
static void drop_near(RvRoadCpu *w) {
  for (int i = 0; i < w->plan->patches; i++) {
    const int x = i % w->plan->columns, y = i / w->plan->columns;
    if (w->road[i] && rv_road_is_near(&w->plan->config, &w->plane, x, y) && !was_road(w, x, y))
      w->road[i] = 0;
  }
}

void rv_road_keep_components(RvRoadCpu *w) {
  const int has_seeds = w->report.seeds != 0, is_known = w->kept[0] != 0; /* all or none */
  if (!has_seeds && is_known)
    drop_near(w);
  rv_road_components(w, w->road);
  const int largest = has_seeds || is_known ? -1 : rv_road_largest(w);
  if (largest < 0) { /* size becomes 0 for components that contain no marked patch */
    for (int i = 0; i < w->plan->patches; i++)
      w->size[i] = 0;
    for (int i = 0; i < w->plan->patches; i++)
      if (w->parent[i] >= 0 && (has_seeds ? w->sample[i] : w->kept[i] & RV_ROAD_KEPT_ROAD))
        w->size[w->parent[i]] = 1;
  }
  int road = 0;
  for (int i = 0; i < w->plan->patches; i++) {
    const int root = w->parent[i];
    w->road[i] = root >= 0 && (largest < 0 ? w->size[root] != 0 : root == largest);
    road += w->road[i];
    if (has_seeds)
      w->kept[i] = rv_road_kept(w->road[i]);
  }
  w->report.road = road;
}

/* The profile with the votes of the last frame, and the scales of this one. */
static void update_strips(RvRoadCpu *w) {
  for (int k = 0; k < RV_ROAD_STRIPS; k++) {
    w->strips[k] = rv_road_strip_next(w->strips[k], w->votes[k]);
    w->votes[k] = 0;
  }
  for (int k = 0; k < RV_ROAD_STRIPS; k++)
    w->lateral[k] = rv_road_strip_scale(w->strips, k, w->plan->config.lateral_scale);
}

/* Of patch i with a nearest model; adds its vote to its strip. */
static int score_of(RvRoadCpu *w, int i, double limit, double scale) {
  const RvRoadConfig *c = &w->plan->config;
  const int x = i % w->plan->columns, y = i / w->plan->columns;
  const int strip = rv_road_strip_of(c, &w->plane, x, y);
  const double color = rv_road_color(c->distance, w->nearest[i], limit);
  uint32_t budget = w->budget[i];
  if (strip >= 0 && w->report.seeds) {
    const uint64_t vote = rv_road_strip_vote(c, &w->plane, x, y, color, budget, w->sample[i]);
#pragma omp atomic
    w->votes[strip] += vote;
  }
  if (strip >= 0)
    budget = rv_road_strip_budget(budget, w->lateral[strip]);
  return w->sample[i] ? 255 : rv_road_score(color, budget, scale);
}

void rv_road_classify(RvRoadCpu *w) {
  const RvRoadDistance distance = w->plan->config.distance;
  const double limit = rv_road_limit(distance, w->plan->config.classify_threshold);
  const int models = w->library.count;
  const double scale = rv_road_budget_scale(&w->plan->config, w->plane.height);
  update_strips(w);
  rv_road_tabulate(w, &w->library, distance);
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int i = 0; i < w->plan->patches; i++) {
    int model;
    w->nearest[i] =
        rv_road_nearest(w, w->counts + (size_t)i * w->plan->cells, models, distance, &model);
    const int score = models ? score_of(w, i, limit, scale) : w->sample[i] ? 255 : 0;
    const int lately = rv_road_persist(w->lately[i], score >= RV_ROAD_LIKE, w->plan->rate);
    w->lately[i] = (uint8_t)lately;
    w->like[i] = (uint8_t)(w->plan->rate < 256 ? lately : score);
  }
  rv_road_smooth_patches(w);
  rv_road_keep_components(w);
}
