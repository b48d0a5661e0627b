/* SPDX-License-Identifier: MIT */
/* road_cpu_clusters.c: the number of models in a set of samples, by agglomerative clustering of
 * exemplars (mean distance, eq. 9) and the pseudo-F statistic (eq. 10). */
#include "road/road_cpu.h"

#define E RV_ROAD_EXEMPLARS

/* Samples that represent all of `rest`, in the order of their buckets; returns their number. */
static int choose_exemplars(const RvRoadCpu *w, int samples, int32_t *exemplar) {
  int32_t first[E];
  int count = 0;
  for (int b = 0; b < E; b++)
    first[b] = -1;
  for (int i = 0; i < samples; i++) { /* keys increase with i */
    const int b = rv_road_bucket(w->key[w->rest[i]]);
    if (first[b] < 0)
      first[b] = w->rest[i];
  }
  for (int b = 0; b < E; b++)
    if (first[b] >= 0)
      exemplar[count++] = first[b];
  return count;
}

static uint32_t squared_between(const uint8_t *a, const uint8_t *b, int cells) {
  uint32_t sum = 0;
  for (int i = 0; i < cells; i++)
    sum += (uint32_t)((a[i] - b[i]) * (a[i] - b[i]));
  return sum;
}

/* One cluster per exemplar; returns the sum of the squared distances of all pairs. */
static uint64_t start(const RvRoadCpu *w, const int32_t *exemplar, int count) {
  RvRoadClusters *c = w->clusters;
  uint64_t all = 0;
  for (int i = 0; i < count; i++) {
    c->size[i] = 1;
    c->within[i] = 0;
    for (int j = 0; j < i; j++) {
      const uint32_t squared =
          squared_between(w->features + (size_t)exemplar[i] * w->plan->cells,
                          w->features + (size_t)exemplar[j] * w->plan->cells, w->plan->cells);
      c->squared[i * E + j] = c->squared[j * E + i] = squared;
      c->distance[i * E + j] = c->distance[j * E + i] = rv_road_sample_distance(squared);
      all += squared;
    }
  }
  return all;
}

/* The nearest two clusters, *a < *b; on a tie, the first pair. */
static void nearest_pair(const RvRoadClusters *c, int count, int *a, int *b) {
  uint32_t nearest = UINT32_MAX;
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count && c->size[i]; j++) {
      const uint32_t link =
          c->size[j] ? rv_road_link(c->distance[i * E + j], c->size[i], c->size[j]) : UINT32_MAX;
      if (link < nearest) {
        nearest = link;
        *a = i;
        *b = j;
      }
    }
}

/* Merges b into a; returns the sum of squares within clusters after it. */
static double merge(RvRoadClusters *c, int count, int a, int b, double within) {
  const double before = (double)c->within[a] / c->size[a] + (double)c->within[b] / c->size[b];
  c->within[a] += c->within[b] + c->squared[a * E + b];
  c->size[a] += c->size[b];
  c->size[b] = 0;
  for (int k = 0; k < count; k++) {
    if (k == a || c->size[k] == 0)
      continue;
    c->distance[a * E + k] = c->distance[k * E + a] =
        c->distance[a * E + k] + c->distance[b * E + k];
    c->squared[a * E + k] = c->squared[k * E + a] = c->squared[a * E + k] + c->squared[b * E + k];
  }
  return within + ((double)c->within[a] / c->size[a] - before);
}

/* Number of clusters that are large enough to be models. */
static int models_of(const RvRoadCpu *w, int count, int samples) {
  int models = 0;
  for (int i = 0; i < count; i++)
    models += w->clusters->size[i] && rv_road_is_cluster_valid(w->clusters->size[i], count, samples,
                                                               w->plan->config.min_samples);
  return rv_max(models, 1);
}

int rv_road_clusters(RvRoadCpu *w, int samples) {
  int32_t exemplar[E];
  const int count = choose_exemplars(w, samples, exemplar);
  const uint64_t pairs = start(w, exemplar, count);
  const double all = (double)pairs / count;
  double within = 0, best = 0;
  int models = 1;
  for (int groups = count - 1; groups >= 2 && pairs; groups--) {
    int a = 0, b = 1;
    nearest_pair(w->clusters, count, &a, &b);
    within = merge(w->clusters, count, a, b, within);
    const double f = rv_road_pseudo_f(all, within, count, groups);
    if (groups > w->plan->config.library_size || f < best)
      continue;
    best = f;
    models = models_of(w, count, samples);
  }
  return models;
}
