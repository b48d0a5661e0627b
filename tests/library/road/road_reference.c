/* SPDX-License-Identifier: MIT */
/* road_reference.c: see road_reference.h. Written from the thesis' formulas; shares no code with
 * the engines. */
#include "road/road_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int rv_road_reference_cell(int r, int g, int b, int bins) {
  const double most = fmax(r, fmax(g, b)), delta = most - fmin(r, fmin(g, b));
  double degrees = 0;
  if (delta > 0 && most == r)
    degrees = 60.0 * (g - b) / delta;
  else if (delta > 0 && most == g)
    degrees = 120 + 60.0 * (b - r) / delta;
  else if (delta > 0)
    degrees = 240 + 60.0 * (r - g) / delta;
  int hue = (int)floor(degrees / 2 + 0.5);
  if (hue < 0)
    hue += 180;
  const int saturation = most > 0 ? (int)floor(255 * delta / most + 0.5) : 0;
  return hue * bins / 181 * bins + saturation * bins / 256;
}

double rv_road_reference_distance(RvRoadDistance distance, const uint8_t *p, const double *mean,
                                  const double *variance, int cells, int area) {
  double sum = 0, most = 0;
  for (int i = 0; i < cells; i++) {
    const double x = (double)p[i] / area, m = mean[i] / area;
    const double off = fabs(x - m);
    most = fmax(most, off);
    if (distance == RV_ROAD_MAHALANOBIS)
      sum += off * off / (variance[i] / area / area);
    else if (distance == RV_ROAD_EUCLIDEAN)
      sum += off * off;
    else if (distance == RV_ROAD_HELLINGER)
      sum += sqrt(x * m);
    else if (distance == RV_ROAD_CHI_SQUARE)
      sum += x > 0 ? off * off / x : 0;
    else
      sum += off;
  }
  switch (distance) {
  case RV_ROAD_MAHALANOBIS:
  case RV_ROAD_EUCLIDEAN:
    return sqrt(sum);
  case RV_ROAD_HELLINGER:
    return sqrt(fmax(0, 1 - sum));
  case RV_ROAD_CHEBYSHEV:
    return most;
  default:
    return sum;
  }
}

/* The neighbors of patch i: left, right, up, down; -1 outside. */
static int neighbor(int i, int side, int columns, int rows) {
  const int x = i % columns, y = i / columns;
  switch (side) {
  case 0:
    return x > 0 ? i - 1 : -1;
  case 1:
    return x + 1 < columns ? i + 1 : -1;
  case 2:
    return y > 0 ? i - columns : -1;
  default:
    return y + 1 < rows ? i + columns : -1;
  }
}

int rv_road_reference_flood(const uint8_t *set, int columns, int rows, int start,
                            uint8_t *reached) {
  int *queue = malloc((size_t)columns * (size_t)rows * sizeof *queue);
  int done = 0, count = 0;
  if (!queue)
    return -1;
  reached[start] = 1;
  queue[count++] = start;
  while (done < count) {
    const int i = queue[done++];
    for (int side = 0; side < 4; side++) {
      const int j = neighbor(i, side, columns, rows);
      if (j >= 0 && set[j] && !reached[j]) {
        reached[j] = 1;
        queue[count++] = j;
      }
    }
  }
  free(queue);
  return count;
}

void rv_road_reference_grow(const uint8_t *near, int columns, int rows, uint8_t *road) {
  for (int grown = 1; grown;) {
    grown = 0;
    for (int i = 0; i < columns * rows; i++)
      for (int side = 0; side < 4 && !road[i] && near[i]; side++) {
        const int j = neighbor(i, side, columns, rows);
        if (j >= 0 && road[j])
          road[i] = 1, grown = 1;
      }
  }
}

void rv_road_reference_keep(const uint8_t *like, const uint8_t *before, const uint8_t *near,
                            int columns, int rows, uint8_t *road) {
  uint8_t *allowed = calloc((size_t)columns * (size_t)rows, 1);
  memset(road, 0, (size_t)columns * (size_t)rows);
  for (int i = 0; i < columns * rows && allowed; i++) {
    allowed[i] = like[i] && !near[i];
    for (int j = 0; j < columns * rows && like[i] && near[i]; j++)
      if (abs(j % columns - i % columns) <= 2 && abs(j / columns - i / columns) <= 2)
        allowed[i] |= before[j];
  }
  for (int i = 0; i < columns * rows && allowed; i++)
    if (allowed[i] && before[i] && !road[i])
      rv_road_reference_flood(allowed, columns, rows, i, road);
  free(allowed);
}

void rv_road_reference_smooth(const uint8_t *set, int columns, int rows, int window, uint8_t *out) {
  const int reach = window / 2;
  for (int i = 0; i < columns * rows; i++) {
    int yes = 0, no = 0;
    for (int j = 0; j < columns * rows; j++)
      if (abs(j % columns - i % columns) <= reach && abs(j / columns - i / columns) <= reach) {
        yes += set[j] != 0;
        no += set[j] == 0;
      }
    out[i] = yes > no;
  }
}

static int compare_bytes(const void *a, const void *b) {
  return *(const uint8_t *)a - *(const uint8_t *)b;
}

void rv_road_reference_median(const uint8_t *score, int columns, int rows, int window,
                              uint8_t *out) {
  const int reach = window / 2;
  for (int i = 0; i < columns * rows; i++) {
    uint8_t all[25];
    size_t count = 0;
    for (int j = 0; j < columns * rows; j++)
      if (abs(j % columns - i % columns) <= reach && abs(j / columns - i / columns) <= reach)
        all[count++] = score[j];
    qsort(all, count, 1, compare_bytes);
    out[i] = all[(count - 1) / 2];
  }
}

double rv_road_reference_like(const RvRoadConfig *c, const RvPlane *disparity, int px, int py,
                              double a, double b, double intercept, double distance) {
  const int n = c->patch_size;
  double sum = 0, length, color = distance / (c->ground_threshold_scale * c->classify_threshold);
  int count = 0;
  for (int v = py * n; v < (py + 1) * n; v++)
    for (int u = px * n; u < (px + 1) * n; u++) {
      const uint16_t d =
          *(const uint16_t *)((const char *)disparity->data + v * disparity->stride + 2 * u);
      if (d == 0 || d / 16.0 + c->camera.doffs <= 0)
        continue;
      sum += d / 16.0 + c->camera.doffs;
      count++;
    }
  if (2 * count < n * n)
    return color * color + 0.75;
  const double z = c->camera.focal * c->camera.baseline / (sum / count);
  const double x = (px * n + (n - 1) / 2.0 - c->camera.cx) * z / c->camera.focal;
  const double y = (py * n + (n - 1) / 2.0 - c->camera.cy) * z / c->camera.focal;
  const double nz = (intercept + a * c->camera.cx + b * c->camera.cy) / c->camera.focal;
  length = sqrt(a * a + b * b + nz * nz);
  const double height = (c->camera.baseline - a * x - b * y - nz * z) / length;
  /* One px less is dz = z / disparity farther; the ray descends by the camera height over z. */
  const double above = c->max_height + 3 * c->disparity_noise * c->camera.baseline / length * z /
                                           (c->camera.focal * c->camera.baseline);
  const double limit = height > 0 ? above : 4 * above;
  return color * color + height / limit * (height / limit);
}

int rv_road_reference_strip(const RvRoadConfig *c, int px, int py, double a, double b,
                            double intercept, double *depth) {
  const double u = px * c->patch_size + (c->patch_size - 1) / 2.0;
  const double v = py * c->patch_size + (c->patch_size - 1) / 2.0;
  const double disparity = a * u + b * v + intercept + c->camera.doffs;
  *depth = c->camera.focal * c->camera.baseline / disparity;
  const double beside = (u - c->camera.cx) / c->camera.focal * *depth; /* m to the right */
  const double strip = floor(beside / (c->near_width / 12)) + RV_ROAD_REFERENCE_STRIPS / 2.0;
  const int is_ahead = disparity > 1 && strip >= 0 && strip < RV_ROAD_REFERENCE_STRIPS;
  return is_ahead ? (int)strip : -1;
}

void rv_road_reference_remember(RvRoadReferenceProfile *profile,
                                const RvRoadReferenceProfile *frame) {
  for (int k = 0; k < RV_ROAD_REFERENCE_STRIPS; k++) {
    const double old = profile->seen[k] > 0 ? 7.0 / 8 : 0;
    if (frame->seen[k] > 0) {
      profile->seen[k] = old * profile->seen[k] + (1 - old) * frame->seen[k];
      profile->road[k] = old * profile->road[k] + (1 - old) * frame->road[k];
    }
  }
}

double rv_road_reference_scale(const RvRoadReferenceProfile *profile, int strip, double most) {
  double seen = 0, road = 0;
  for (int k = 0; k < RV_ROAD_REFERENCE_STRIPS; k++)
    if (strip >= 0 && abs(k - strip) <= 2) {
      seen += profile->seen[k];
      road += profile->road[k];
    }
  if (seen < 16)
    return 1;
  const double share = road / seen;
  return share > 0.5 ? 1 + (most * most - 1) * (share - 0.5) / 0.5 : 0.25 + 0.75 * share / 0.5;
}

double rv_road_reference_roughness(const RvRoadConfig *c, const RvPlane *disparity, int px, int py,
                                   double a, double b, double intercept) {
  /* Normal of the plane: points with a u + b v + c = disparity satisfy normal * X = baseline. */
  const double nx = a, ny = b;
  const double nz = (intercept + a * c->camera.cx + b * c->camera.cy) / c->camera.focal;
  const double length = sqrt(nx * nx + ny * ny + nz * nz);
  double heights[15 * 15], mean = 0, sum = 0; /* largest patch */
  int count = 0;
  for (int v = py * c->patch_size; v < (py + 1) * c->patch_size; v++)
    for (int u = px * c->patch_size; u < (px + 1) * c->patch_size; u++) {
      const uint16_t d =
          *(const uint16_t *)((const char *)disparity->data + v * disparity->stride + 2 * u);
      const double full = d / 16.0 + c->camera.doffs;
      if (d == 0 || full <= 0)
        continue;
      const double z = c->camera.focal * c->camera.baseline / full;
      const double x = (u - c->camera.cx) * z / c->camera.focal;
      const double y = (v - c->camera.cy) * z / c->camera.focal;
      heights[count] = (c->camera.baseline - nx * x - ny * y - nz * z) / length;
      mean += heights[count++];
    }
  if (count < 2)
    return -1;
  mean /= count;
  for (int i = 0; i < count; i++)
    sum += (heights[i] - mean) * (heights[i] - mean);
  return sum / (count - 1);
}

/* log of weight times density, without the constant all models share. */
static double log_density(const uint8_t *x, int cells, const double *mean, const double *variance,
                          double weight) {
  double sum = log(weight);
  for (int i = 0; i < cells; i++)
    sum -= (x[i] - mean[i]) * (x[i] - mean[i]) / variance[i] / 2 + log(variance[i]) / 2;
  return sum;
}

static void expect(const uint8_t *features, int samples, int cells, int k, const double *mean,
                   const double *variance, const double *weight, double *share) {
  for (int i = 0; i < samples; i++) {
    double most = -INFINITY, sum = 0, *s = share + (size_t)i * k;
    for (int j = 0; j < k; j++) {
      s[j] = log_density(features + (size_t)i * cells, cells, mean + (size_t)j * cells,
                         variance + (size_t)j * cells, weight[j]);
      most = fmax(most, s[j]);
    }
    for (int j = 0; j < k; j++)
      sum += exp(s[j] - most);
    for (int j = 0; j < k; j++)
      s[j] = exp(s[j] - most) / sum;
  }
}

void rv_road_reference_em(const uint8_t *features, int samples, int cells, int k,
                          double floor_variance, int iterations, double *mean, double *variance,
                          double *weight) {
  double *share = malloc((size_t)samples * (size_t)k * sizeof *share);
  for (int round = 0; share && round < iterations; round++) {
    expect(features, samples, cells, k, mean, variance, weight, share);
    for (int j = 0; j < k; j++) {
      double total = 0;
      for (int i = 0; i < samples; i++)
        total += share[(size_t)i * k + j];
      for (int cell = 0; cell < cells; cell++) {
        double *m = mean + (size_t)j * cells + cell, *v = variance + (size_t)j * cells + cell;
        *m = *v = 0;
        for (int i = 0; i < samples; i++)
          *m += share[(size_t)i * k + j] * features[(size_t)i * cells + cell] / total;
        for (int i = 0; i < samples; i++)
          *v += share[(size_t)i * k + j] * pow(features[(size_t)i * cells + cell] - *m, 2) / total;
        *v = fmax(*v, floor_variance);
      }
      weight[j] = total / samples;
    }
  }
  free(share);
}

static double reference_gap(const double *mean, const double *variance, int cells, int i, int j,
                            double floor_variance) {
  double sum = 0, wide = 0;
  for (int cell = 0; cell < cells; cell++) {
    const double larger = fmax(variance[i * cells + cell], variance[j * cells + cell]);
    sum += pow(mean[i * cells + cell] - mean[j * cells + cell], 2) / larger;
    wide += larger > floor_variance;
  }
  return sqrt(sum / fmax(wide, 1));
}

int rv_road_reference_merge(double *mean, double *variance, double *weight, int models, int cells,
                            double floor_variance, double threshold) {
  int a = -1, b = -1;
  double least = threshold, total = 0;
  for (int i = 0; i < models; i++)
    for (int j = i + 1; j < models; j++)
      if (reference_gap(mean, variance, cells, i, j, floor_variance) < least) {
        least = reference_gap(mean, variance, cells, i, j, floor_variance);
        a = i, b = j;
      }
  for (int cell = 0; cell < cells && a >= 0; cell++) {
    double *m = mean + cell, *v = variance + cell;
    const double both = weight[a] + weight[b];
    const double first = (weight[a] * m[a * cells] + weight[b] * m[b * cells]) / both;
    const double second = (weight[a] * (v[a * cells] + m[a * cells] * m[a * cells]) +
                           weight[b] * (v[b * cells] + m[b * cells] * m[b * cells])) /
                          both;
    m[a * cells] = first;
    v[a * cells] = second - first * first;
    m[b * cells] = m[(models - 1) * cells];
    v[b * cells] = v[(models - 1) * cells];
  }
  if (a >= 0) {
    weight[a] += weight[b];
    weight[b] = weight[--models];
  }
  for (int j = 0; j < models; j++)
    total += weight[j];
  for (int j = 0; j < models; j++)
    weight[j] /= total;
  return models;
}

/* --- Clusters --------------------------------------------------------------------------------- */

/* Mean distance of two clusters in 1/2048, of pairs in 1/256. */
static long long reference_link(const uint8_t *rows, int count, int cells, const int *label, int a,
                                int b) {
  long long sum = 0, pairs = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++)
      if (label[i] == a && label[j] == b) {
        double squared = 0;
        for (int k = 0; k < cells; k++)
          squared += pow(rows[i * cells + k] - rows[j * cells + k], 2);
        sum += (long long)floor(sqrt(squared) * 256 + 0.5);
        pairs++;
      }
  return sum * 8 / pairs;
}

/* Squares about the mean of the members with this label; all of them for -1. */
static double reference_squares(const uint8_t *rows, int count, int cells, const int *label,
                                int wanted) {
  double sum = 0;
  for (int k = 0; k < cells; k++) {
    double mean = 0, members = 0;
    for (int i = 0; i < count; i++)
      if (wanted < 0 || label[i] == wanted) {
        mean += rows[i * cells + k];
        members++;
      }
    for (int i = 0; i < count; i++)
      if (wanted < 0 || label[i] == wanted)
        sum += pow(rows[i * cells + k] - mean / members, 2);
  }
  return sum;
}

static int reference_models(int count, const int *label, int samples, int min_samples) {
  int models = 0;
  for (int a = 0; a < count; a++) {
    int size = 0;
    for (int i = 0; i < count; i++)
      size += label[i] == a;
    models +=
        size >= 1 && size >= count / 32.0 && (double)size * samples / count >= min_samples - 1e-9;
  }
  return models > 1 ? models : 1;
}

/* Labels are smallest members. The links of unchanged pairs are kept, for speed. */
int rv_road_reference_clusters(const uint8_t *rows, int count, int cells, int limit, int samples,
                               int min_samples) {
  int *label = malloc((size_t)count * sizeof *label), models = 1;
  long long *link = malloc((size_t)count * (size_t)count * sizeof *link);
  double best = 0;
  for (int i = 0; i < count; i++)
    label[i] = i;
  for (int i = 0; i < count * count; i++)
    link[i] = reference_link(rows, count, cells, label, i / count, i % count);
  const double all = reference_squares(rows, count, cells, label, -1);
  for (int groups = count - 1; groups >= 2 && all > 1e-9; groups--) {
    int a = -1, b = -1;
    for (int i = 0; i < count; i++)
      for (int j = i + 1; j < count; j++)
        if (label[i] == i && label[j] == j && (a < 0 || link[i * count + j] < link[a * count + b]))
          a = i, b = j;
    for (int i = 0; i < count; i++)
      label[i] = label[i] == b ? a : label[i];
    for (int i = 0; i < count; i++)
      if (label[i] == i && i != a)
        link[i * count + a] = link[a * count + i] = reference_link(rows, count, cells, label, a, i);
    double within = 0;
    for (int i = 0; i < count && groups <= limit; i++)
      within += label[i] == i ? reference_squares(rows, count, cells, label, i) : 0;
    const double f =
        within > 1e-9 ? (all - within) / (groups - 1) / (within / (count - groups)) : 1e300;
    if (groups <= limit && f >= best * (1 - 1e-12)) {
      best = f;
      models = reference_models(count, label, samples, min_samples);
    }
  }
  free(label);
  free(link);
  return models;
}
