/* SPDX-License-Identifier: MIT */
/* obstacles_reference.c: see obstacles_reference.h. Votes are counted again for every question;
 * the free space tries all pairs of bins; labels spread until nothing changes; quantiles are taken
 * from sorted lists. */
#include "obstacles/obstacles_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvcheck.h"

typedef struct Frame {
  const RvObstaclesPlan *p;
  RvPlane disparity, gray;
  RvGroundSurface ground;
  uint32_t *votes[2];   /* [strip][fine]: on the ground, above the clearance */
  RvObstaclesRun *runs; /* all of them, strip by strip */
  int *strip, *number, *label, run_count;
  int *path; /* [strip] */
} Frame;

static int value_at(const RvPlane *plane, int x, int y) {
  return ((const uint16_t *)((const char *)plane->data + y * plane->stride))[x];
}

/* Class of a pixel; *depth: its D, 0 when it is ignored. */
static int class_at(const Frame *f, int x, int y, int *depth) {
  *depth = rv_obstacles_depth_of(f->p, value_at(&f->disparity, x, y));
  if (*depth == 0)
    return RV_OBSTACLES_NOTHING;
  const RvObstaclesDepthRow row = rv_obstacles_depth_row(f->p, &f->ground, *depth);
  return rv_obstacles_class(&row, 256 * y + rv_obstacles_column(&f->ground, x));
}

/* --- Records --------------------------------------------------------------------------------- */

static RvPlane draw(const RvObstaclesPlan *p, const RvObstaclesSource *source) {
  const RvPlane plane = {rvc_memory(2 * (size_t)p->width * (size_t)p->height), 2 * p->width,
                         p->width, p->height, RV_U16};
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (uint32_t k = 0; k < source->count; k++) {
        uint16_t *out = (uint16_t *)plane.data + y * p->width + x;
        const RvStixel *s = &source->stixels[k];
        const RvSegment *g = &source->segments[k];
        if (p->config.input == RV_OBSTACLES_STIXELS && x >= s->column &&
            x < s->column + p->config.stixel_width && y >= s->v_top && y <= s->v_bottom)
          *out = rv_obstacles_stixel(s, y);
        if (p->config.input == RV_OBSTACLES_SEGMENTS && x == g->column && y >= g->first &&
            y <= g->last)
          *out = rv_obstacles_segment(g, y);
      }
  return plane;
}

/* --- Votes ----------------------------------------------------------------------------------- */

static void count_votes(Frame *f) {
  const RvObstaclesPlan *p = f->p;
  for (int y = 0; y < p->height; y += p->stride)
    for (int x = 0; x < p->strips * p->n; x++) {
      int depth;
      const int class = class_at(f, x, y, &depth);
      const size_t at = (size_t)(x / p->n) * RV_OBSTACLES_FINE + (size_t)(depth / p->bin);
      if (class == RV_OBSTACLES_BODY_PX)
        f->votes[0][at] += rv_obstacles_vote(p, depth);
      if (class == RV_OBSTACLES_OVER_PX)
        f->votes[1][at] += rv_obstacles_vote(p, depth);
    }
}

/* Votes of the bins first..last of a strip. */
static int sum_votes(const uint32_t *votes, int first, int last) {
  int sum = 0;
  for (int k = rv_max(first, 0); k <= rv_min(last, RV_OBSTACLES_FINE - 1); k++)
    sum += (int)(votes[k] & 65535);
  return sum;
}

static int most_votes(const uint32_t *votes, int first, int last) {
  int most = 0;
  for (int k = rv_max(first, 0); k <= rv_min(last, RV_OBSTACLES_FINE - 1); k++)
    most = rv_max(most, (int)(votes[k] & 65535));
  return most;
}

/* --- Free space ------------------------------------------------------------------------------ */

static int evidence(const Frame *f, int strip, int q) {
  const RvObstaclesTables *t = f->p->tables;
  const uint32_t *votes = f->votes[0] + (size_t)strip * RV_OBSTACLES_FINE;
  return rv_obstacles_evidence(sum_votes(votes, 2 * q - t->spread[q], 2 * q + 1 + t->spread[q]),
                               t->full[q]);
}

static void find_path(Frame *f) {
  const int strips = f->p->strips, bins = RV_OBSTACLES_COARSE;
  int *cost = rvc_memory((size_t)(strips * bins) * sizeof *cost);
  int *from = rvc_memory((size_t)(strips * bins) * sizeof *from);
  for (int strip = 0; strip < strips; strip++) {
    int nearer = 0;
    for (int q = bins - 1; q >= 0; q--) {
      int best = 0, source = q, way = -1;
      for (int k = bins - 1; strip > 0 && k >= 0; k--) { /* nearer bins first */
        const int apart = abs(k - q), step = RV_OBSTACLES_SLOPE * apart;
        const int is_jump = step > RV_OBSTACLES_JUMP;
        const int sum = cost[(strip - 1) * bins + k] + (is_jump ? RV_OBSTACLES_JUMP : step);
        const int length = is_jump ? bins : apart; /* a jump comes last among equal ones */
        if (way < 0 || sum < best || (sum == best && length < way)) {
          best = sum;
          source = k;
          way = length;
        }
      }
      const int here = q ? evidence(f, strip, q) : 0;
      cost[strip * bins + q] = best + nearer - here;
      from[strip * bins + q] = source;
      nearer += evidence(f, strip, q);
    }
  }
  int q = bins - 1;
  for (int k = bins - 1; k >= 0; k--)
    q = cost[(strips - 1) * bins + k] < cost[(strips - 1) * bins + q] ? k : q;
  for (int strip = strips - 1; strip >= 0; strip--) {
    f->path[strip] = q;
    q = from[strip * bins + q];
  }
  free(cost);
  free(from);
}

/* --- Runs ------------------------------------------------------------------------------------ */

static int is_full(const Frame *f, int strip, int over, int k) {
  if (k < 0 || k >= RV_OBSTACLES_FINE)
    return 0;
  const RvObstaclesTables *t = f->p->tables;
  const uint32_t *votes = f->votes[over] + (size_t)strip * RV_OBSTACLES_FINE;
  const int is_valley =
      k < f->p->split && rv_obstacles_is_valley((int)(votes[k] & 65535),
                                                most_votes(votes, k - RV_OBSTACLES_VALLEY, k - 1),
                                                most_votes(votes, k + 1, k + RV_OBSTACLES_VALLEY));
  return votes[k] && !is_valley &&
         sum_votes(votes, k - t->window[k], k + t->window[k]) >= t->need[k];
}

static int is_set(const Frame *f, int strip, int over, int k) {
  return k >= 0 && k < RV_OBSTACLES_FINE &&
         (is_full(f, strip, over, k) ||
          (is_full(f, strip, over, k - 1) && is_full(f, strip, over, k + 1)));
}

/* The disparity that `percent` of a run's votes do not exceed. */
static int quantile(const Frame *f, const uint32_t *votes, const RvObstaclesRun *run, int percent) {
  const int want = rv_obstacles_share(run->votes, percent);
  int below = 0, k = run->low;
  while (below + (int)(votes[k] & 65535) < want)
    below += (int)(votes[k++] & 65535);
  return rv_obstacles_quantile(f->p, k, want - below, (int)(votes[k] & 65535));
}

/* The run that a pixel belongs to: the first of its strip that reaches its bin; -1: none. */
static int run_of(const Frame *f, int x, int y) {
  int depth;
  const int class = class_at(f, x, y, &depth), bin = depth / f->p->bin;
  if (class != RV_OBSTACLES_FOOT && class != RV_OBSTACLES_BODY_PX && class != RV_OBSTACLES_OVER_PX)
    return -1;
  for (int i = 0; i < f->run_count; i++)
    if (f->strip[i] == x / f->p->n && bin >= f->runs[i].low - 1 && bin <= f->runs[i].high + 1)
      return f->runs[i].over && class != RV_OBSTACLES_OVER_PX ? -1 : i;
  return -1;
}

static int row_has(const Frame *f, int i, int row) {
  for (int x = f->strip[i] * f->p->n; x < (f->strip[i] + 1) * f->p->n; x++)
    if (run_of(f, x, row * f->p->stride) == i)
      return 1;
  return 0;
}

static void measure(Frame *f, int i) {
  const RvObstaclesPlan *p = f->p;
  RvObstaclesRun *run = &f->runs[i];
  const int middle = (run->low + run->high) / 2, gap = p->tables->gap[middle];
  int row = p->rows - 1;
  while (row > 0 && !row_has(f, i, row))
    row--;
  run->bottom = (uint16_t)rv_obstacles_last_row(p, row);
  int top = row;
  for (; row >= 0 && top - row <= gap + 1; row--)
    top = row_has(f, i, row) ? row : top;
  run->top = (uint16_t)(top * p->stride);
  const RvObstaclesDepthRow d =
      rv_obstacles_depth_row(p, &f->ground, rv_obstacles_center(p, middle));
  const int32_t column = rv_obstacles_column(&f->ground, f->strip[i] * p->n + p->n / 2);
  run->height = rv_obstacles_mm(p->tables->mm[middle], d.row - column - 256 * run->top);
  for (int k = 0; k < p->n; k++) {
    int rows = 0;
    for (int y = 0; y < p->height; y += p->stride)
      rows += run_of(f, f->strip[i] * p->n + k, y) == i;
    run->columns |= (uint32_t)(rows >= 2) << k;
  }
}

static void find_runs(Frame *f, int strip) {
  const int first = f->run_count;
  for (int over = 0; over < 2; over++)
    for (int k = RV_OBSTACLES_FINE - 1; k >= 0; k--) {
      const uint32_t *votes = f->votes[over] + (size_t)strip * RV_OBSTACLES_FINE;
      if (!is_set(f, strip, over, k) || is_set(f, strip, over, k + 1))
        continue;
      int low = k, covered = 0;
      while (is_set(f, strip, over, low - 1))
        low--;
      for (int i = low - RV_OBSTACLES_COVER; i <= k + RV_OBSTACLES_COVER; i++)
        covered |= over && is_set(f, strip, 0, i);
      if (covered || f->run_count - first == RV_OBSTACLES_RUNS)
        continue;
      RvObstaclesRun *run = &f->runs[f->run_count];
      *run = (RvObstaclesRun){.low = (uint16_t)low, .high = (uint16_t)k, .over = over};
      run->votes = sum_votes(votes, low, k);
      run->near_d = quantile(f, votes, run, RV_OBSTACLES_NEAR);
      run->far_d = quantile(f, votes, run, 100 - RV_OBSTACLES_NEAR);
      f->strip[f->run_count] = strip;
      f->number[f->run_count] = strip * RV_OBSTACLES_RUNS + f->run_count - first;
      f->run_count++;
    }
  for (int i = first; i < f->run_count; i++)
    measure(f, i);
}

/* --- Boxes ----------------------------------------------------------------------------------- */

static void find_labels(Frame *f) {
  for (int i = 0; i < f->run_count; i++)
    f->label[i] = i;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < f->run_count; i++)
      for (int k = i + 1; k < f->run_count; k++) {
        if (f->label[i] == f->label[k] || f->strip[i] == f->strip[k] ||
            !rv_obstacles_joins(f->p, f->p->tables, &f->runs[i], &f->runs[k],
                                f->strip[k] - f->strip[i]))
          continue;
        f->label[i] = f->label[k] = rv_min(f->label[i], f->label[k]);
        changed = 1;
      }
  }
}

/* Least key up to which the weights sum to `want`. */
static int least_key(RvcWeighted *list, int count, int64_t want) {
  int64_t sum = 0;
  qsort(list, (size_t)count, sizeof *list, rvc_by_key);
  for (int i = 0; i < count; i++) {
    sum += list[i].weight;
    if (sum >= want)
      return list[i].key;
  }
  return list[count - 1].key;
}

static RvObstacleBox box_of(const Frame *f, int label) {
  RvObstacleBox box = {.label = f->number[label], .over = f->runs[label].over};
  RvcWeighted *list[4];
  uint32_t left = 0, right = 0;
  int first = f->p->strips, last = -1;
  for (int k = 0; k < 4; k++)
    list[k] = rvc_memory((size_t)f->run_count * sizeof *list[k]);
  for (int i = 0; i < f->run_count; i++) {
    const RvObstaclesRun *run = &f->runs[i];
    if (f->label[i] != label)
      continue;
    box.strips += f->strip[i] != last;
    first = rv_min(first, f->strip[i]);
    last = f->strip[i];
    box.votes += run->votes;
    list[0][box.runs] = (RvcWeighted){run->near_d, run->votes};
    list[1][box.runs] = (RvcWeighted){run->far_d, run->votes};
    list[2][box.runs] = (RvcWeighted){run->top, 1};
    list[3][box.runs++] = (RvcWeighted){run->bottom, 1};
  }
  for (int i = 0; i < f->run_count; i++) {
    left |= f->label[i] == label && f->strip[i] == first ? f->runs[i].columns : 0;
    right |= f->label[i] == label && f->strip[i] == last ? f->runs[i].columns : 0;
  }
  box.near_d = least_key(list[0], box.runs, rv_obstacles_near_weight(box.votes));
  box.far_d = least_key(list[1], box.runs, rv_obstacles_far_weight(box.votes));
  box.top = least_key(list[2], box.runs, rv_obstacles_top_weight(box.runs));
  box.bottom = least_key(list[3], box.runs, rv_obstacles_bottom_weight(box.runs));
  box.left = first * f->p->n + rv_obstacles_edge(left, f->p->n, 0);
  box.right = last * f->p->n + rv_obstacles_edge(right, f->p->n, 1);
  for (int k = 0; k < 4; k++)
    free(list[k]);
  const int across = (box.right - box.left + RV_OBSTACLES_SAMPLES) / RV_OBSTACLES_SAMPLES;
  const int down = (box.bottom - box.top + RV_OBSTACLES_SAMPLES) / RV_OBSTACLES_SAMPLES;
  uint32_t valid = 0, samples = 0;
  for (int y = box.top; y <= box.bottom; y++)
    for (int x = box.left; x <= box.right; x++)
      if ((y - box.top) % down == 0 && (x - box.left) % across == 0) {
        valid += value_at(&f->disparity, x, y) != 0;
        samples++;
      }
  box.valid = rv_obstacles_fraction(valid, (int)samples, 1);
  return box;
}

/* Index of the box of a label number, RV_OBSTACLE_NONE without one. */
static int index_of(const ObstaclesResult *result, int number) {
  for (uint32_t k = 0; k < result->counts[0]; k++)
    if (result->boxes[k].label == number)
      return (int)k;
  return RV_OBSTACLE_NONE;
}

static int compare_boxes(const void *a, const void *b) {
  const RvObstacleBox *x = a, *y = b;
  const uint64_t i = rv_obstacles_order(x->near_d, x->label);
  const uint64_t k = rv_obstacles_order(y->near_d, y->label);
  return i > k ? -1 : i < k;
}

/* Its top is at least min_height and 8 px above the ground. */
static int is_high(const Frame *f, const RvObstacleBox *box) {
  const RvObstaclesPlan *p = f->p;
  const int depth = rv_clamp(box->near_d / 16, 1, p->depths - 1);
  const int32_t row = rv_obstacles_depth_row(p, &f->ground, depth).row -
                      rv_obstacles_column(&f->ground, (box->left + box->right) / 2);
  const int32_t mm = p->tables->mm[rv_obstacles_fine(p, box->near_d)];
  return box->over ||
         (row - 256 * box->top >= 256 * 8 &&
          rv_obstacles_mm(mm, row - 256 * box->top) >= (int32_t)(1000 * p->config.min_height));
}

static int is_large(const Frame *f, const RvObstacleBox *box) {
  const int32_t rows = 256 * (box->bottom - box->top + 1);
  const int32_t mm = f->p->tables->mm[rv_obstacles_fine(f->p, box->near_d)];
  return box->strips >= 3 || rv_obstacles_mm(mm, rows) >= 1000;
}

static void find_boxes(const Frame *f, ObstaclesResult *result) {
  RvObstacleBox *all = rvc_memory((size_t)f->run_count * sizeof *all);
  for (int i = 0; i < f->run_count; i++)
    if (f->label[i] == i) {
      all[result->counts[1]] = box_of(f, i);
      const RvObstacleBox *box = &all[result->counts[1]];
      result->counts[1] += (uint32_t)(is_high(f, box) && is_large(f, box));
    }
  qsort(all, result->counts[1], sizeof *all, compare_boxes);
  result->counts[0] = result->counts[1] < RV_OBSTACLES_MAX ? result->counts[1] : RV_OBSTACLES_MAX;
  memcpy(result->boxes, all, result->counts[0] * sizeof *all);
  free(all);
}

/* --- Columns --------------------------------------------------------------------------------- */

static int sees_ground(const Frame *f, int strip, int q) {
  const RvObstaclesPlan *p = f->p;
  for (int s = rv_max(strip - 2, 0); s <= rv_min(strip + 2, p->strips - 1); s++)
    for (int y = 0; y < p->height; y += p->stride)
      for (int x = s * p->n; x < (s + 1) * p->n; x++) {
        int depth;
        if (class_at(f, x, y, &depth) == RV_OBSTACLES_GROUND && depth / (2 * p->bin) == q)
          return 1;
      }
  return 0;
}

static int known_until(const Frame *f, int strip, int q) {
  int seen = RV_OBSTACLES_COARSE - 1;
  const int last = f->p->least / (2 * f->p->bin); /* nothing votes for farther ones */
  for (int k = RV_OBSTACLES_COARSE - 1; k > q && k > last; k--) {
    seen = sees_ground(f, strip, k) ? k : seen;
    if (rv_obstacles_is_gap(f->p, seen, k))
      return seen;
  }
  return q;
}

static int valid_of(const Frame *f, int strip) {
  const RvObstaclesPlan *p = f->p;
  const RvObstaclesDepthRow far = rv_obstacles_depth_row(p, &f->ground, p->least);
  int valid = 0, total = 0;
  for (int y = 0; y < p->height; y += p->stride) {
    if (256 * y + rv_obstacles_column(&f->ground, strip * p->n + p->n / 2) < far.row)
      continue;
    for (int x = strip * p->n; x < (strip + 1) * p->n; x++)
      valid += rv_obstacles_depth_of(p, value_at(&f->disparity, x, y)) != 0;
    total += p->n;
  }
  return total ? 255 * valid / total : 0;
}

/* 1 when there is a run above the clearance within `reach` strips, as far as bin q but
 * for 1 / (part + 1). */
static int hangs(const Frame *f, int strip, int q, int reach, int part) {
  const double at = 2 * q + 1;
  for (int i = 0; i < f->run_count; i++)
    if (f->runs[i].over && f->strip[i] >= strip - reach && f->strip[i] <= strip + reach &&
        f->runs[i].low <= at * (part + 1) / part && f->runs[i].high >= at * part / (part + 1))
      return 1;
  return 0;
}

/* The rows of a strip from the clearance down to min_height at a D in 1/16 px. */
static void rows_in_the_way(const Frame *f, int strip, int depth, double *top, double *foot) {
  const RvObstaclesPlan *p = f->p;
  const RvObstaclesDepthRow d = rv_obstacles_depth_row(p, &f->ground, depth);
  const double ground = (d.row - rv_obstacles_column(&f->ground, strip * p->n + p->n / 2)) / 256.0;
  *top = floor(ground - d.clear / 256.0);
  *foot = floor(ground - d.low / 256.0);
}

/* 1 when more than 5 % of the strip's pixels, from min_height to the clearance at bin q, are invalid. */
static int has_holes(const Frame *f, int strip, int q) {
  const RvObstaclesPlan *p = f->p;
  double top, foot;
  rows_in_the_way(f, strip, rv_obstacles_center(p, 2 * q), &top, &foot);
  int invalid = 0, all = 0;
  for (int y = 0; y < p->height; y++)
    for (int x = strip * p->n; y >= top && y <= foot && x < (strip + 1) * p->n; x++) {
      invalid += value_at(&f->disparity, x, y) == 0;
      all++;
    }
  return 20 * invalid > all;
}

static int gray_at(const Frame *f, int x, int y) {
  const int u = x < 0 ? 0 : x >= f->p->width ? f->p->width - 1 : x;
  const int v = y < 0 ? 0 : y >= f->p->height ? f->p->height - 1 : y;
  return ((const uint8_t *)f->gray.data)[v * f->gray.stride + u];
}

/* Adds the contrasts of the pixels of column x that vote for bin q, in the rows in which one of its
 * nearest or one of its farthest D can. */
static void add_contrasts(const Frame *f, int q, int x, double *sum, double *votes) {
  const RvObstaclesPlan *p = f->p;
  const int near = rv_min((2 * q + 4) * p->bin, p->depths) - 1;
  double top[2], foot[2];
  rows_in_the_way(f, x / p->n, near, &top[0], &foot[0]);
  rows_in_the_way(f, x / p->n, rv_clamp((2 * q - 2) * p->bin, 1, near), &top[1], &foot[1]);
  for (int y = 0; y < p->height; y++) {
    int depth;
    if (y < fmin(top[0], top[1]) || y > fmax(foot[0], foot[1]) ||
        class_at(f, x, y, &depth) != RV_OBSTACLES_BODY_PX || depth / p->bin < 2 * q - 2 ||
        depth / p->bin > 2 * q + 3)
      continue;
    int contrast = 0;
    for (int v = y - 1; v <= y + 1; v++)
      contrast += gray_at(f, x + 2, v) - gray_at(f, x - 2, v);
    *sum += abs(contrast);
    *votes += 1;
  }
}

/* 1 when the mean contrast of the pixels that vote for bin q is, below 8 px, less than 6, or less than
 * 5.5 in half of the columns; the latter below 12 px near something overhanging, too. */
static int is_smooth(const Frame *f, int strip, int q) {
  const RvObstaclesPlan *p = f->p;
  const double d = (2 * q + 1) * p->bin / 16.0;
  double sum = 0, votes = 0;
  int low = 0, high = 0; /* columns */
  if (!f->gray.data || d >= 12)
    return 0;
  for (int x = strip * p->n; x < (strip + 1) * p->n; x++) {
    double column[2] = {0, 0};
    add_contrasts(f, q, x, &column[0], &column[1]);
    sum += column[0];
    votes += column[1];
    if (column[1] > 0 && column[0] / column[1] < 5.5)
      low++;
    else
      high++;
  }
  return (d < 8 && (low >= high || (votes > 0 && sum / votes < 6))) ||
         (low >= high && hangs(f, strip, q, 20, 3));
}

/* 1 when the evidence at bin q is that of something overhanging. */
static int is_smeared(const Frame *f, int strip, int q, int obstacle) {
  return (has_holes(f, strip, q) && hangs(f, strip, q, 20, 12)) ||
         (obstacle == RV_OBSTACLE_NONE && hangs(f, strip, q, 4, 3));
}

static RvFreeColumn column_of(const Frame *f, const ObstaclesResult *result, int strip) {
  const RvObstaclesPlan *p = f->p;
  const uint32_t *votes = f->votes[0] + (size_t)strip * RV_OBSTACLES_FINE;
  const int q = f->path[strip];
  RvObstaclesLimit limit = {.q = q, .obstacle = RV_OBSTACLE_NONE};
  limit.known = known_until(f, strip, q);
  limit.valid = valid_of(f, strip);
  limit.evidence = q ? evidence(f, strip, q) : 0;
  for (int k = 2 * q - 2; q && k <= 2 * q + 3; k++)
    if (k >= 0 && k < RV_OBSTACLES_FINE) {
      limit.count += votes[k] & 65535;
      limit.sum += rv_obstacles_sum(p, votes[k], k);
    }
  for (int i = f->run_count - 1; q && i >= 0; i--)
    if (f->strip[i] == strip && rv_obstacles_meets(&f->runs[i], q)) {
      const int index = index_of(result, f->number[f->label[i]]);
      limit.obstacle = index == RV_OBSTACLE_NONE ? limit.obstacle : index;
    }
  const int through = known_until(f, strip, 0), smooth = q && is_smooth(f, strip, q);
  if (smooth ||
      (q && through < q && (limit.evidence == 0 || is_smeared(f, strip, q, limit.obstacle))))
    limit =
        (RvObstaclesLimit){.known = through, .valid = limit.valid, .obstacle = RV_OBSTACLE_NONE};
  const int depth = rv_obstacles_limit_depth(p, &limit);
  const RvObstaclesDepthRow row = rv_obstacles_depth_row(p, &f->ground, depth);
  return rv_obstacles_free_column(
      p, &limit, depth, row.row - rv_obstacles_column(&f->ground, strip * p->n + p->n / 2));
}

/* --- Frame ----------------------------------------------------------------------------------- */

void obstacles_reference(const RvObstaclesPlan *p, const RvObstaclesSource *source,
                         ObstaclesResult *result) {
  memset(result, 0, sizeof *result);
  if (!(source->ground->slope_y > 0)) {
    for (int strip = 0; strip < p->strips; strip++)
      result->columns[strip] = rv_obstacles_no_column(p);
    return;
  }
  const int is_raster = p->config.input == RV_OBSTACLES_DISPARITY;
  const size_t bins = (size_t)p->strips * RV_OBSTACLES_FINE;
  const size_t runs = (size_t)p->strips * RV_OBSTACLES_RUNS;
  Frame f = {.p = p,
             .disparity = is_raster ? source->disparity : draw(p, source),
             .gray = source->gray,
             .ground = *source->ground,
             .votes = {rvc_memory(bins * 4), rvc_memory(bins * 4)},
             .runs = rvc_memory(runs * sizeof *f.runs),
             .strip = rvc_memory(runs * sizeof *f.strip),
             .number = rvc_memory(runs * sizeof *f.number),
             .label = rvc_memory(runs * sizeof *f.label),
             .path = rvc_memory((size_t)p->strips * sizeof *f.path)};
  count_votes(&f);
  for (int strip = 0; strip < p->strips; strip++)
    find_runs(&f, strip);
  find_path(&f);
  find_labels(&f);
  find_boxes(&f, result);
  for (int strip = 0; strip < p->strips; strip++)
    result->columns[strip] = column_of(&f, result, strip);
  void *all[] = {f.votes[0], f.votes[1], f.runs, f.strip, f.number, f.label, f.path};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
    free(all[k]);
  if (!is_raster)
    free(f.disparity.data);
}

/* 1 when a box whose foot is lower than that of box k covers a pixel. */
static int is_hidden(const RvObstaclesRect *rects, int count, int k, int x, int y) {
  const double foot = (double)rects[k].y + rv_max(rects[k].h, 0);
  for (int i = 0; i < count; i++) {
    const double left = rects[i].x, top = rects[i].y, right = left + rects[i].w,
                 bottom = top + rects[i].h;
    if (bottom > foot && x >= left && x < right && y >= top && y < bottom)
      return 1;
  }
  return 0;
}

RvObstaclesDepth obstacles_reference_depth(const RvPlane *disparity, const RvObstaclesRect *rects,
                                           int boxes, int k) {
  const RvObstaclesRect inner = rv_obstacles_inner(&rects[k], disparity);
  const size_t pixels = (size_t)(inner.w * inner.h);
  RvcWeighted *values = rvc_memory(2 * pixels * sizeof *values), *clear = values + pixels;
  int count = 0, visible = 0;
  for (int y = inner.y; y < inner.y + inner.h; y++)
    for (int x = inner.x; x < inner.x + inner.w; x++) {
      const RvcWeighted value = {value_at(disparity, x, y), 1};
      if (!value.key)
        continue;
      values[count++] = value;
      if (!is_hidden(rects, boxes, k, x, y))
        clear[visible++] = value;
    }
  const int all = count;
  if (10 * visible >= count) {
    memcpy(values, clear, (size_t)visible * sizeof *values);
    count = visible;
  }
  qsort(values, (size_t)count, sizeof *values, rvc_by_key);
  const RvObstaclesDepth depth = {
      (uint16_t)(count ? values[(size_t)(count - 1) * 65 / 100].key : 0),
      rv_obstacles_fraction((uint32_t)all, inner.w, inner.h), 0};
  free(values);
  return depth;
}
