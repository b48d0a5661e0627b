/* SPDX-License-Identifier: MIT */
/* road_cpu_learn.c: the CPU engine's library of color models: distances, updates, expectation
 * maximization. */
#include "road/road_cpu.h"

static const uint8_t *feature_of(const RvRoadCpu *w, int sample) {
  return w->features + (size_t)sample * w->plan->cells;
}

static size_t cell_of(const RvRoadCpu *w, int model, int cell) {
  return (size_t)model * w->plan->cells + cell;
}

void rv_road_tabulate(RvRoadCpu *w, const RvRoadModels *models, RvRoadDistance distance) {
  const int all = models->count * w->plan->cells;
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int i = 0; i < all; i++)
    for (int count = 0; count <= w->plan->area; count++)
      w->cost[(size_t)i * (w->plan->area + 1) + count] =
          rv_road_cost(distance, count, w->plan->area, models->mean[i], models->variance[i]);
}

static uint32_t cost_of(const RvRoadCpu *w, const uint8_t *feature, int model,
                        RvRoadDistance distance) {
  const uint32_t *cost = w->cost + cell_of(w, model, 0) * (w->plan->area + 1);
  uint32_t sum = 0, maximum = 0;
  for (int cell = 0; cell < w->plan->cells; cell++, cost += w->plan->area + 1) {
    const uint32_t v = cost[feature[cell]];
    sum += v;
    maximum = v > maximum ? v : maximum;
  }
  return rv_road_combined_cost(distance, distance == RV_ROAD_CHEBYSHEV ? maximum : sum);
}

uint32_t rv_road_nearest(const RvRoadCpu *w, const uint8_t *feature, int models,
                         RvRoadDistance distance, int *model) {
  uint32_t nearest = UINT32_MAX;
  *model = -1;
  for (int j = 0; j < models; j++) {
    const uint32_t cost = cost_of(w, feature, j, distance);
    if (cost < nearest) {
      nearest = cost;
      *model = j;
    }
  }
  return nearest;
}

/* --- Expectation maximization ---------------------------------------------------------------- */

static int64_t squared_between(const uint8_t *a, const uint8_t *b, int cells) {
  int64_t sum = 0;
  for (int i = 0; i < cells; i++)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/* Initial means: the first sample, then the sample farthest from those chosen (on a tie, the
 * first); fewer models when all other samples are equal to them. Initial variances: those of all
 * samples. share[] is each sample's squared distance to the nearest chosen one. */
static void start(RvRoadCpu *w, int samples, int k) {
  RvRoadModels *fresh = &w->fresh;
  const double floor_of_variance = w->plan->config.variance_floor * w->plan->area * w->plan->area;
  int chosen = 0;
  for (int j = 0; j < k; j++) {
    const uint8_t *mean = feature_of(w, w->rest[chosen]);
    for (int cell = 0; cell < w->plan->cells; cell++)
      fresh->mean[cell_of(w, j, cell)] = mean[cell];
    fresh->count = j + 1;
    int64_t farthest = 0;
    for (int i = 0; i < samples; i++) {
      const int64_t d = squared_between(mean, feature_of(w, w->rest[i]), w->plan->cells);
      if (j == 0 || d < w->share[i])
        w->share[i] = (uint32_t)d;
      if (w->share[i] > farthest) {
        farthest = w->share[i];
        chosen = i;
      }
    }
    if (farthest == 0)
      break;
  }
  for (int cell = 0; cell < w->plan->cells; cell++) {
    int64_t sum = 0, squares = 0;
    for (int i = 0; i < samples; i++) {
      const int64_t count = feature_of(w, w->rest[i])[cell];
      sum += count;
      squares += count * count;
    }
    const double mean = (double)sum / samples;
    const double variance = (double)squares / samples - mean * mean;
    for (int j = 0; j < fresh->count; j++)
      fresh->variance[cell_of(w, j, cell)] =
          variance > floor_of_variance ? variance : floor_of_variance;
  }
  for (int j = 0; j < fresh->count; j++)
    fresh->weight[j] = 1.0 / fresh->count;
}

static void set_priors(RvRoadCpu *w) {
  for (int j = 0; j < w->fresh.count; j++) {
    int64_t log_det = 0;
    for (int cell = 0; cell < w->plan->cells; cell++)
      log_det += rv_road_log_part(w->fresh.variance[cell_of(w, j, cell)]);
    w->prior[j] = rv_road_prior(w->fresh.weight[j], log_det);
  }
}

/* Responsibilities of one sample; returns its likelihood. */
static int64_t expect(const RvRoadCpu *w, const uint8_t *feature, uint32_t *share) {
  const int k = w->fresh.count;
  int64_t likelihood[RV_ROAD_LIBRARY_MAX], maximum = INT64_MIN;
  for (int j = 0; j < k; j++) {
    likelihood[j] = w->prior[j] - cost_of(w, feature, j, RV_ROAD_MAHALANOBIS);
    maximum = likelihood[j] > maximum ? likelihood[j] : maximum;
  }
  uint32_t sum = 0;
  for (int j = 0; j < k; j++) {
    const int64_t below = maximum - likelihood[j];
    share[j] = below < RV_ROAD_EXP_SIZE ? w->exp[below] : 0;
    sum += share[j];
  }
  for (int j = 0; j < k; j++)
    share[j] = (uint32_t)(((uint64_t)share[j] << 16) / sum);
  return maximum + w->log[sum / RV_ROAD_LOG_STEP];
}

static void maximize(RvRoadCpu *w, int samples) {
  RvRoadModels *fresh = &w->fresh;
  const int k = fresh->count;
  const double floor_of_variance = w->plan->config.variance_floor * w->plan->area * w->plan->area;
  int64_t total[RV_ROAD_LIBRARY_MAX] = {0};
  for (int i = 0; i < samples; i++)
    for (int j = 0; j < k; j++)
      total[j] += w->share[(size_t)i * k + j];
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int cell = 0; cell < w->plan->cells; cell++)
    for (int j = 0; j < k; j++) {
      if (total[j] == 0)
        continue;
      int64_t sum = 0, squares = 0;
      for (int i = 0; i < samples; i++) {
        const int64_t count = feature_of(w, w->rest[i])[cell];
        const int64_t part = w->share[(size_t)i * k + j] * count;
        sum += part;
        squares += part * count;
      }
      const double mean = (double)sum / (double)total[j];
      const double variance = (double)squares / (double)total[j] - mean * mean;
      fresh->mean[cell_of(w, j, cell)] = mean;
      fresh->variance[cell_of(w, j, cell)] =
          variance > floor_of_variance ? variance : floor_of_variance;
    }
  int64_t all = 0;
  for (int j = 0; j < k; j++)
    all += total[j];
  for (int j = 0; j < k; j++)
    fresh->weight[j] = (double)total[j] / (double)all;
}

int rv_road_em(RvRoadCpu *w, int samples, int k) {
  start(w, samples, k);
  int64_t before = 0;
  int iteration = 0;
  while (iteration < RV_ROAD_EM_ITERATIONS) {
    set_priors(w);
    rv_road_tabulate(w, &w->fresh, RV_ROAD_MAHALANOBIS);
    int64_t likelihood = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : likelihood)
    for (int i = 0; i < samples; i++)
      likelihood += expect(w, feature_of(w, w->rest[i]), w->share + (size_t)i * w->fresh.count);
    maximize(w, samples);
    iteration++;
    if (iteration > 1 && rv_road_em_converged(before, likelihood))
      break;
    before = likelihood;
  }
  return iteration;
}

/* --- Library --------------------------------------------------------------------------------- */

/* (4), (5), (6) for all samples of a model at once, relative to the model before the frame. */
static void update(RvRoadCpu *w, int model, int samples) {
  RvRoadModels *library = &w->library;
  const double floor_of_variance = w->plan->config.variance_floor * w->plan->area * w->plan->area;
  int64_t matched = 0;
  for (int i = 0; i < samples; i++)
    matched += w->rest[i] == model;
  if (matched == 0)
    return;
  const double weight = library->weight[model];
  const double gain = 1.0 / (w->plan->config.memory * samples);
  const double total = weight + gain * (double)matched;
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int cell = 0; cell < w->plan->cells; cell++) {
    int64_t sum = 0, squares = 0;
    for (int i = 0; i < samples; i++) {
      const int64_t count = w->rest[i] == model ? feature_of(w, i)[cell] : 0;
      sum += count;
      squares += count * count;
    }
    double *mean = library->mean + cell_of(w, model, cell);
    double *variance = library->variance + cell_of(w, model, cell);
    const double spread =
        (double)squares - 2 * *mean * (double)sum + *mean * *mean * (double)matched;
    const double next = (weight * *variance + gain * spread) / total;
    *variance = next > floor_of_variance ? next : floor_of_variance;
    *mean = (weight * *mean + gain * (double)sum) / total;
  }
  library->weight[model] = total;
}

/* An empty slot, or that of the model with the lowest weight, except those made in this frame,
 * whose slots are in taken[]. On a tie, the first. */
static int slot_of(const RvRoadModels *library, int size, const uint8_t *taken) {
  if (library->count < size)
    return library->count;
  int lowest = -1;
  for (int j = 0; j < library->count; j++)
    if (!taken[j] && (lowest < 0 || library->weight[j] < library->weight[lowest]))
      lowest = j;
  return lowest;
}

static void insert(RvRoadCpu *w, double fraction) {
  RvRoadModels *library = &w->library;
  uint8_t taken[RV_ROAD_LIBRARY_MAX] = {0};
  for (int j = 0; j < w->fresh.count; j++) {
    const int slot = slot_of(library, w->plan->config.library_size, taken);
    const size_t bytes = (size_t)w->plan->cells * sizeof(double);
    taken[slot] = 1;
    memcpy(library->mean + cell_of(w, slot, 0), w->fresh.mean + cell_of(w, j, 0), bytes);
    memcpy(library->variance + cell_of(w, slot, 0), w->fresh.variance + cell_of(w, j, 0), bytes);
    library->weight[slot] = w->fresh.weight[j] * fraction / w->plan->config.memory;
    library->count = rv_max(library->count, slot + 1);
  }
}

static double floor_of_variance(const RvRoadCpu *w) {
  return w->plan->config.variance_floor * w->plan->area * w->plan->area;
}

static int dimensions_of(const RvRoadCpu *w, int model) {
  int dimensions = 0;
  for (int cell = 0; cell < w->plan->cells; cell++)
    dimensions +=
        rv_road_is_dimension(w->library.variance[cell_of(w, model, cell)], floor_of_variance(w));
  return dimensions;
}

static uint64_t gap_between(const RvRoadCpu *w, int i, int j) {
  const double *variance = w->library.variance, *mean = w->library.mean;
  uint32_t sum = 0;
  int dimensions = 0;
  for (int cell = 0; cell < w->plan->cells; cell++) {
    const size_t a = cell_of(w, i, cell), b = cell_of(w, j, cell);
    const double larger = variance[a] > variance[b] ? variance[a] : variance[b];
    sum += rv_road_gap_part(mean[a], mean[b], larger);
    dimensions += rv_road_is_dimension(larger, floor_of_variance(w));
  }
  return rv_road_gap_key(sum, dimensions, i, j);
}

/* Model i becomes both; the last model moves to j. */
static void unite(RvRoadCpu *w, int i, int j) {
  RvRoadModels *l = &w->library;
  const double u = l->weight[i], v = l->weight[j];
  const int last = --l->count;
  for (int cell = 0; cell < w->plan->cells; cell++) {
    const size_t a = cell_of(w, i, cell), b = cell_of(w, j, cell), c = cell_of(w, last, cell);
    const RvRoadMoments one = {l->mean[a], l->variance[a]}, two = {l->mean[b], l->variance[b]};
    const RvRoadMoments both = u + v > 0 ? rv_road_unite(one, u, two, v, w->plan->area) : one;
    l->mean[a] = both.mean;
    l->variance[a] = both.variance;
    l->mean[b] = l->mean[c];
    l->variance[b] = l->variance[c];
  }
  l->weight[i] = u + v;
  l->weight[j] = l->weight[last];
}

/* Unites the two models that are most alike, when they are alike enough: one pair per frame. */
static void merge(RvRoadCpu *w) {
  const double threshold = w->plan->config.merge_threshold;
  uint64_t least = UINT64_MAX;
  for (int j = 1; j < w->library.count && threshold > 0; j++)
    for (int i = 0; i < j; i++) {
      const uint64_t key = gap_between(w, i, j);
      least = key < least ? key : least;
    }
  if (least != UINT64_MAX && rv_road_is_alike(least, threshold))
    unite(w, (int)(least & 255), (int)(least >> 8 & 255));
}

/* The samples of this frame: the pending ones, then the seeds from the top left; returns their
 * number. */
static int gather(RvRoadCpu *w) {
  int samples = w->pending;
  for (int i = 0; i < samples; i++)
    w->key[i] = (uint32_t)i;
  for (int i = 0; i < w->plan->patches; i++)
    if (w->sample[i]) {
      w->key[samples] = (uint32_t)(w->pending + i);
      memcpy(w->features + (size_t)samples++ * w->plan->cells,
             w->counts + (size_t)i * w->plan->cells, (size_t)w->plan->cells);
    }
  return samples;
}

/* Updates the models; the unmatched samples become rest[0 .. result - 1]. */
static int update_all(RvRoadCpu *w, int samples) {
  const double limit = rv_road_limit(RV_ROAD_MAHALANOBIS, w->plan->config.update_threshold);
  const int models = w->library.count;
  double limits[RV_ROAD_LIBRARY_MAX];
  for (int j = 0; j < models; j++)
    limits[j] = rv_road_update_limit(limit, dimensions_of(w, j));
  rv_road_tabulate(w, &w->library, RV_ROAD_MAHALANOBIS);
#pragma omp parallel for num_threads(w->threads) schedule(static)
  for (int i = 0; i < samples; i++) {
    int model;
    const uint32_t cost = rv_road_nearest(w, feature_of(w, i), models, RV_ROAD_MAHALANOBIS, &model);
    w->rest[i] = model >= 0 && cost < limits[model] ? model : -1;
  }
  for (int j = 0; j < models; j++)
    update(w, j, samples);
  int left = 0;
  for (int i = 0; i < samples; i++)
    if (w->rest[i] < 0)
      w->rest[left++] = i;
  return left;
}

void rv_road_learn(RvRoadCpu *w) {
  RvRoadReport *report = &w->report;
  if (report->seeds) {
    const int samples = gather(w), left = update_all(w, samples);
    report->samples_matched = samples - left;
    const int is_enough = left >= w->plan->config.min_samples;
    if (is_enough && w->library.count &&
        rv_road_are_outliers(left, samples, w->plan->config.min_share)) {
      w->pending = 0;
    } else if (is_enough) {
      const int given =
          w->library.count ? w->plan->config.new_models : w->plan->config.initial_models;
      const int k = w->plan->config.estimate_models ? rv_road_clusters(w, left) : given;
      report->iterations = rv_road_em(w, left, k);
      report->models_added = w->fresh.count;
      insert(w, (double)left / samples);
      w->pending = 0;
    } else {
      for (int i = 0; i < left; i++) /* rest[i] >= i: rows are moved to the front */
        memmove(w->features + (size_t)i * w->plan->cells, feature_of(w, w->rest[i]),
                (size_t)w->plan->cells);
      w->pending = left;
    }
    merge(w);
    rv_road_normalize(w->library.weight, w->library.count);
  }
  report->samples_pending = w->pending;
  report->models = w->library.count;
}
