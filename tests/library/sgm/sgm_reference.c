/* SPDX-License-Identifier: MIT */
/* sgm_reference.c: reference implementation of semi-global matching, which shares no code with the
 * engines. */
#include "sgm/sgm_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvcheck.h"

typedef struct Reference {
  const RvSgmConfig *c;
  const uint8_t *left, *right;
  RvSgmResults *out;
} Reference;

int rv_sgm_results_new(RvSgmResults *out, const RvSgmConfig *c) {
  const size_t n = (size_t)c->width * (size_t)c->height, range = (size_t)c->disparities;
  memset(out, 0, sizeof *out);
  out->width = c->width;
  out->height = c->height;
  out->disparities = c->disparities;
  out->census_left = calloc(n, 8);
  out->census_right = calloc(n, 8);
  out->volume = calloc(n * range, 2);
  uint16_t **maps[] = {&out->winner,   &out->right,   &out->matched, &out->checked,
                       &out->filtered, &out->cleaned, &out->smooth,  &out->disparity};
  int complete = out->census_left && out->census_right && out->volume;
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    complete = (*maps[i] = calloc(n, 2)) && complete;
  complete = (out->found = calloc(n, 1)) && complete;
  complete = (out->confidence = calloc(n, 1)) && complete;
  return complete;
}

void rv_sgm_results_free(RvSgmResults *r) {
  void *all[] = {r->census_left, r->census_right, r->volume,   r->winner,  r->right,
                 r->matched,     r->checked,      r->filtered, r->cleaned, r->smooth,
                 r->disparity,   r->confidence,   r->found};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    free(all[i]);
  memset(r, 0, sizeof *r);
}

static int inside(const RvSgmConfig *c, int x, int y) {
  return x >= 0 && y >= 0 && x < c->width && y < c->height;
}

/* Gray level, that of the nearest pixel outside the image. */
static int value(const RvSgmConfig *c, const uint8_t *view, int x, int y) {
  x = x < 0 ? 0 : x >= c->width ? c->width - 1 : x;
  y = y < 0 ? 0 : y >= c->height ? c->height - 1 : y;
  return view[y * c->width + x];
}

/* 16 pairs of eq. 2.1, then 16 neighbors compared with the mean of the 3x3 block: 9 I >= sum. */
static uint64_t describe_mixed(const RvSgmConfig *c, const uint8_t *p, int x, int y) {
  static const int pairs[16][2] = {{1, -2}, {1, 0},  {1, 2}, {2, -3}, {2, -1}, {2, 1},
                                   {2, 3},  {3, -2}, {3, 0}, {3, 2},  {4, -3}, {4, -1},
                                   {4, 1},  {4, 3},  {0, 1}, {0, 3}};
  static const int around[16][2] = {{-2, -2}, {0, -2}, {2, -2}, {-1, -1}, {1, -1}, {-2, 0},
                                    {2, 0},   {-1, 1}, {1, 1},  {-2, 2},  {0, 2},  {2, 2},
                                    {4, 0},   {-4, 0}, {0, 3},  {0, -3}};
  uint64_t bits = 0;
  int sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      sum += value(c, p, x + i, y + j);
  for (int n = 0; n < 16; n++) {
    const int i = pairs[n][0], j = pairs[n][1];
    if (value(c, p, x + i, y + j) >= value(c, p, x - i, y - j))
      bits |= (uint64_t)1 << n;
    if (9 * value(c, p, x + around[n][0], y + around[n][1]) >= sum)
      bits |= (uint64_t)1 << (16 + n);
  }
  return bits;
}

/* Eq. 2.1 in the bit order of sgm_rules.h, or each neighbor compared with the center. */
static uint64_t describe(const RvSgmConfig *c, const uint8_t *p, int x, int y) {
  uint64_t bits = 0, one = 1;
  if (c->cost == RV_SGM_MIXED)
    return describe_mixed(c, p, x, y);
  if (c->cost == RV_SGM_CENSUS) {
    for (int at = 0; at < 63; at++) {
      if (at == 31)
        continue;
      if (value(c, p, x + at % 9 - 4, y + at / 9 - 3) >= value(c, p, x, y))
        bits |= one;
      one <<= 1;
    }
    return bits;
  }
  for (int pair = 0; pair < 31; pair++, one <<= 1) {
    const int i = pair < 28 ? 1 + pair / 7 : 0;
    const int j = pair < 28 ? pair % 7 - 3 : pair - 27;
    if (value(c, p, x + i, y + j) >= value(c, p, x - i, y - j))
      bits |= one;
  }
  return bits;
}

static int limit_of(const RvSgmConfig *c) {
  const int bits = c->cost == RV_SGM_CSCT ? 31 : c->cost == RV_SGM_MIXED ? 32 : 62;
  const int limit = c->max_cost ? c->max_cost : c->cost == RV_SGM_MIXED ? 14 : bits;
  return limit < bits ? limit : bits;
}

/* In units of 4 paths and costs of at most 14. */
static int margin(const RvSgmConfig *c, int difference) {
  const int scale = 256 * 56 / (c->paths * limit_of(c)), scaled = difference * scale / 256;
  return scaled > 255 ? 255 : scaled;
}

static int cost(const Reference *t, int x, int y, int k) {
  const int d = t->c->min_disparity + k, xr = x - d > 0 ? x - d : 0;
  uint64_t differ =
      t->out->census_left[y * t->c->width + x] ^ t->out->census_right[y * t->c->width + xr];
  int count = 0;
  for (; differ; differ &= differ - 1)
    count++;
  const int limit = limit_of(t->c);
  return count < limit ? count : limit;
}

static int step_p2(const Reference *t, int x, int y, int xb, int yb) {
  const RvSgmConfig *c = t->c;
  if (!c->adaptive_p2)
    return c->p2;
  const int gradient = abs(value(c, t->left, x, y) - value(c, t->left, xb, yb));
  const int p2 = c->p2 - c->p2_gradient * gradient;
  return p2 < c->p2_min ? c->p2_min : p2;
}

/* P1 of a step down (ry > 0), up or along a row, from a disparity lower (change 1) or higher (-1) by
 * one: the ground's disparity grows downwards. */
static int step_p1(const Reference *t, int ry, int change) {
  const int ground = t->c->p1_ground >= 0         ? t->c->p1_ground
                     : t->c->cost == RV_SGM_MIXED ? t->c->p1 / 2
                                                  : t->c->p1;
  return ry == change ? ground : t->c->p1;
}

/* Follows one path through the image (eq. 2.3). */
static void walk(const Reference *t, int x, int y, int rx, int ry) {
  const int range = t->c->disparities;
  const int p1_up = step_p1(t, ry, 1), p1_down = step_p1(t, ry, -1);
  int past[RV_SGM_DISPARITIES_MAX] = {0}, here[RV_SGM_DISPARITIES_MAX] = {0};
  for (int steps = 0; inside(t->c, x, y); steps++, x += rx, y += ry) {
    uint16_t *sum = t->out->volume + (size_t)(y * t->c->width + x) * (size_t)range;
    int lowest = 1 << 30;
    for (int k = 0; steps && k < range; k++)
      lowest = past[k] < lowest ? past[k] : lowest;
    for (int k = 0; k < range; k++) {
      here[k] = cost(t, x, y, k);
      if (steps) {
        int best = lowest + step_p2(t, x, y, x - rx, y - ry);
        if (past[k] < best)
          best = past[k];
        if (k && past[k - 1] + p1_up < best)
          best = past[k - 1] + p1_up;
        if (k + 1 < range && past[k + 1] + p1_down < best)
          best = past[k + 1] + p1_down;
        here[k] += best - lowest;
      }
      sum[k] = (uint16_t)(sum[k] + here[k]);
    }
    memcpy(past, here, (size_t)range * sizeof *past);
  }
}

static void aggregate(const Reference *t) {
  static const int ways[8][2] = {{1, 0}, {0, 1},   {-1, 0}, {0, -1},
                                 {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
  for (int way = 0; way < t->c->paths; way++)
    for (int y = 0; y < t->c->height; y++)
      for (int x = 0; x < t->c->width; x++)
        if (!inside(t->c, x - ways[way][0], y - ways[way][1]))
          walk(t, x, y, ways[way][0], ways[way][1]);
}

static double round_half_up(double v) {
  const double low = (double)(long)(v + 1000) - 1000; /* floor, v > -1000 */
  return v - low >= 0.5 ? low + 1 : low;
}

static void winner(const Reference *t, int x, int y) {
  const RvSgmConfig *c = t->c;
  const size_t at = (size_t)(y * c->width + x);
  const uint16_t *s = t->out->volume + at * (size_t)c->disparities;
  int best = 0, far = 1 << 30, unique = 1;
  for (int k = c->disparities - 1; k >= 0; k--)
    if (s[k] <= s[best] || k == c->disparities - 1)
      best = k;
  for (int k = 0; k < c->disparities; k++)
    if (abs(k - best) > 1) {
      unique = unique && !(s[k] * (100 - c->uniqueness) < 100 * s[best]);
    }
  for (int k = 0; k < c->disparities; k++)
    if (abs(k - best) > 4 && s[k] < far)
      far = s[k];
  double d = 16.0 * (c->min_disparity + best);
  if (c->subpixel && best > 0 && best < c->disparities - 1) {
    const double a = s[best - 1], b = s[best], e = s[best + 1];
    const int lines = c->subpixel_fit == RV_SGM_FIT_EQUIANGULAR ||
                      (c->subpixel_fit == RV_SGM_FIT_AUTO && c->cost == RV_SGM_MIXED);
    /* Minimum of two lines of opposite slope, or of the parabola, through three points. */
    const double curve = lines ? (a > e ? a : e) - b : a - 2 * b + e;
    if (curve > 0)
      d += round_half_up(16 * (a - e) / (2 * curve));
  }
  t->out->winner[at] = (uint16_t)best;
  t->out->matched[at] = !unique ? 0 : d < 1 ? 1 : (uint16_t)d;
  t->out->found[at] = (uint8_t)margin(c, far - s[best]);
}

static void right_winner(const Reference *t, int xr, int y) {
  const RvSgmConfig *c = t->c;
  int best = 0xFFFF, lowest = 1 << 30;
  for (int k = 0; k < c->disparities; k++) {
    const int x = xr + c->min_disparity + k;
    if (x >= c->width)
      break;
    const int s = t->out->volume[(size_t)(y * c->width + x) * (size_t)c->disparities + (size_t)k];
    if (s < lowest) {
      lowest = s;
      best = k;
    }
  }
  t->out->right[y * c->width + xr] = (uint16_t)best;
}

static void check_pixel(const Reference *t, int x, int y) {
  const RvSgmConfig *c = t->c;
  const int at = y * c->width + x, k = t->out->winner[at], xr = x - c->min_disparity - k;
  const int agrees = c->max_lr_diff < 0 ||
                     (xr >= 0 && abs(k - t->out->right[y * c->width + xr]) <= c->max_lr_diff);
  t->out->checked[at] = agrees ? t->out->matched[at] : 0;
}

static int ascending(const void *a, const void *b) {
  return *(const uint16_t *)a - *(const uint16_t *)b;
}

void rv_sgm_reference_median(int width, int height, int size, const uint16_t *in, uint16_t *out) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      uint16_t valid[25];
      int count = 0;
      for (int j = y - size / 2; j <= y + size / 2; j++)
        for (int i = x - size / 2; i <= x + size / 2; i++)
          if (j >= 0 && i >= 0 && j < height && i < width && in[j * width + i])
            valid[count++] = in[j * width + i];
      qsort(valid, (size_t)count, sizeof *valid, ascending);
      out[y * width + x] = in[y * width + x] && size ? valid[(count - 1) / 2] : in[y * width + x];
    }
}

/* Marks the region around `start` in `region` and lists its pixels; returns their number. */
static int flood(int width, int height, int range, const uint16_t *in, int start, uint8_t *region,
                 int *list) {
  int count = 1;
  list[0] = start;
  region[start] = 1;
  for (int n = 0; n < count; n++) {
    const int at = list[n], x = at % width, y = at / width;
    const int next[4] = {x > 0 ? at - 1 : -1, x + 1 < width ? at + 1 : -1, y > 0 ? at - width : -1,
                         y + 1 < height ? at + width : -1};
    for (int i = 0; i < 4; i++)
      if (next[i] >= 0 && !region[next[i]] && in[next[i]] &&
          abs(in[next[i]] - in[at]) <= 16 * range) {
        region[next[i]] = 1;
        list[count++] = next[i];
      }
  }
  return count;
}

void rv_sgm_reference_speckle(int width, int height, int size, int range, const uint16_t *in,
                              uint16_t *out) {
  const int n = width * height;
  uint8_t *region = calloc((size_t)n, 1);
  int *list = calloc((size_t)n, sizeof *list);
  memcpy(out, in, (size_t)n * sizeof *out);
  for (int at = 0; region && list && at < n; at++) {
    if (!in[at] || region[at])
      continue;
    const int count = flood(width, height, range, in, at, region, list);
    for (int i = 0; count < size && i < count; i++)
      out[list[i]] = 0;
  }
  free(region);
  free(list);
}

/* --- Sky and fill ---------------------------------------------------------------------------- */

/* Texture and gray level of the 9x7 window around a pixel. */
static void look_around(const RvSgmConfig *c, const uint8_t *view, int x, int y, int *texture,
                        int64_t *gray) {
  *texture = 0, *gray = 0;
  for (int j = y - 3; j <= y + 3; j++)
    for (int i = x - 4; i <= x + 4; i++) {
      const int u = i < 0 ? 0 : i >= c->width ? c->width - 1 : i;
      const int v = j < 0 ? 0 : j >= c->height ? c->height - 1 : j;
      const int here = value(c, view, u, v);
      *texture += abs(value(c, view, u + 1, v) - here) + abs(value(c, view, u, v + 1) - here);
      *gray += here;
    }
}

/* Marks the sky: 2 = candidate, 1 = sky. */
static void find_sky(const RvSgmConfig *c, const uint8_t *left, const uint16_t *disparity,
                     uint8_t *sky) {
  const int n = c->width * c->height;
  int64_t total = 0;
  for (int at = 0; at < n; at++)
    total += left[at];
  for (int at = 0; at < n; at++) {
    int texture;
    int64_t gray;
    look_around(c, left, at % c->width, at / c->width, &texture, &gray);
    sky[at] = disparity[at] <= 8 * 16 && texture < 384 && gray * n >= 63 * total ? 2 : 0;
    if (at < c->width && sky[at])
      sky[at] = 1;
  }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int at = 0; at < n; at++) {
      const int x = at % c->width, y = at / c->width;
      if (sky[at] == 2 &&
          ((x > 0 && sky[at - 1] == 1) || (x + 1 < c->width && sky[at + 1] == 1) ||
           (y > 0 && sky[at - c->width] == 1) || (y + 1 < c->height && sky[at + c->width] == 1)))
        sky[at] = 1, changed = 1;
    }
  }
}

/* A hole between ends: the next pixels of large regions on both sides, 0 = none. */
static int fill_hole(const RvSgmConfig *c, const uint16_t *ends, int winner, int x, int y) {
  const uint16_t *row = ends + y * c->width;
  int before = x, after = x;
  while (before >= 0 && !row[before])
    before--;
  while (after < c->width && !row[after])
    after++;
  const int l = before >= 0 ? row[before] : 0, r = after < c->width ? row[after] : 0;
  const int raw = c->min_disparity + winner ? 16 * (c->min_disparity + winner) : 1;
  if (!l && !r)
    return raw;
  if (!l || !r)
    return l + r;
  const int low = l < r ? l : r, high = l + r - low;
  if (raw >= low - 16 && raw <= high + 16 && (high - low) / 16.0 <= (after - before - 1) / 2.0)
    return raw;
  return low;
}

static int weighted_median(const RvSgmConfig *c, const uint8_t *left, const uint16_t *values, int x,
                           int y) {
  RvcWeighted taps[121];
  int count = 0, last = 0;
  double total = 0, sum = 0;
  for (int j = y - 5; j <= y + 5; j++)
    for (int i = x - 5; i <= x + 5; i++) {
      if (!inside(c, i, j) || !values[j * c->width + i])
        continue;
      const int step = abs(left[j * c->width + i] - left[y * c->width + x]);
      taps[count] =
          (RvcWeighted){values[j * c->width + i], (int)floor(64 * exp(-step / 16.0) + 0.5)};
      total += taps[count++].weight;
    }
  qsort(taps, (size_t)count, sizeof *taps, rvc_by_key);
  for (; last < count && sum < total / 2; last++)
    sum += taps[last].weight;
  return taps[last - 1].key;
}

/* t->out->smooth to t->out->disparity and confidence. */
static void refine(const Reference *t, const RvSgmPlan *plan) {
  const RvSgmConfig *c = t->c;
  const int n = c->width * c->height;
  uint8_t *sky = calloc((size_t)n, 1);
  uint16_t *ends = calloc((size_t)n, sizeof *ends), *values = calloc((size_t)n, sizeof *values);
  uint16_t *out = t->out->disparity;
  if (sky && ends && values) {
    if (c->reject_sky)
      find_sky(c, t->left, t->out->smooth, sky);
    for (int at = 0; at < n; at++)
      out[at] = values[at] = sky[at] == 1 ? 0 : t->out->smooth[at];
    rv_sgm_reference_speckle(c->width, c->height, 200, c->speckle_range, out, ends);
    for (int at = 0; c->fill && at < n; at++)
      if (!out[at] && sky[at] != 1)
        values[at] = (uint16_t)fill_hole(c, ends, t->out->winner[at], at % c->width, at / c->width);
    for (int at = 0; at < n; at++) {
      const int filled = values[at] && !out[at];
      t->out->confidence[at] = filled    ? RV_SGM_FILLED
                               : out[at] ? plan->confidence_of[t->out->found[at]]
                                         : 0;
      if (filled)
        ends[at] = (uint16_t)weighted_median(c, t->left, values, at % c->width, at / c->width);
      else
        ends[at] = out[at];
    }
    memcpy(out, ends, (size_t)n * sizeof *out);
  }
  free(sky);
  free(ends);
  free(values);
}

void rv_sgm_reference(const RvSgmPlan *plan, const uint8_t *left, const uint8_t *right,
                      RvSgmResults *out) {
  const RvSgmConfig *c = &plan->config;
  const Reference reference = {c, left, right, out};
  const int n = c->width * c->height;
  memset(out->volume, 0, (size_t)n * (size_t)c->disparities * sizeof *out->volume);
  for (int at = 0; at < n; at++) {
    out->census_left[at] = describe(c, left, at % c->width, at / c->width);
    out->census_right[at] = describe(c, right, at % c->width, at / c->width);
  }
  aggregate(&reference);
  for (int at = 0; at < n; at++) {
    winner(&reference, at % c->width, at / c->width);
    right_winner(&reference, at % c->width, at / c->width);
  }
  for (int at = 0; at < n; at++)
    check_pixel(&reference, at % c->width, at / c->width);
  rv_sgm_reference_median(c->width, c->height, c->median, out->checked, out->filtered);
  rv_sgm_reference_speckle(c->width, c->height, c->speckle_size, c->speckle_range, out->checked,
                           out->cleaned);
  rv_sgm_reference_speckle(c->width, c->height, c->speckle_size, c->speckle_range, out->filtered,
                           out->smooth);
  refine(&reference, plan);
}
