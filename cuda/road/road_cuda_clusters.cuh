/* SPDX-License-Identifier: MIT */
/* road_cuda_clusters.cuh: the number of models in the unmatched samples, by one block: see
 * road_cpu_clusters.c. Only .cu files include it. */
#ifndef RV_ROAD_CUDA_CLUSTERS_CUH
#define RV_ROAD_CUDA_CLUSTERS_CUH

#include "road/road_cuda_em.cuh"

#define EXEMPLARS RV_ROAD_EXEMPLARS
#define NO_LINK 0xffffffffu

namespace {

struct Exemplars {
  uint32_t first[EXEMPLARS]; /* [bucket]: smallest key */
  uint32_t key[EXEMPLARS];
  int count;
};

} // namespace

/* The first sample of each bucket, in the order of the buckets. */
static __device__ void choose_exemplars(const RoadCuda &w, const EmRun &r, Exemplars *e) {
  const int t = threadIdx.x;
  if (t < EXEMPLARS)
    e->first[t] = NO_LINK;
  __syncthreads();
  for (int i = t; i < r.samples; i += ROAD_GROUP_THREADS)
    atomicMin(&e->first[rv_road_bucket(w.left[i])], w.left[i]);
  __syncthreads();
  if (t < EXEMPLARS) {
    int before = 0;
    for (int b = 0; b < t; b++)
      before += e->first[b] != NO_LINK;
    if (e->first[t] != NO_LINK)
      e->key[before] = e->first[t];
    if (t == EXEMPLARS - 1)
      e->count = before + (e->first[t] != NO_LINK);
  }
  __syncthreads();
}

/* One cluster per exemplar; returns the sum of the squared distances of all pairs, for thread 0. */
static __device__ int64_t start_clusters(const RoadCuda &w, const EmRun &r, const Exemplars &e) {
  RvRoadClusters *c = w.clusters;
  int64_t all = 0;
  if (threadIdx.x < EXEMPLARS) {
    c->size[threadIdx.x] = threadIdx.x < e.count;
    c->within[threadIdx.x] = 0;
  }
  for (int i = threadIdx.x; i < e.count * EXEMPLARS; i += ROAD_GROUP_THREADS) {
    const int a = i / EXEMPLARS, b = i % EXEMPLARS;
    w.link[i] = NO_LINK;
    if (b >= e.count)
      continue;
    const uint32_t squared =
        squared_between(em_row(w, r, e.key[a]), em_row(w, r, e.key[b]), w.plan.pitch);
    c->squared[i] = squared;
    c->distance[i] = rv_road_sample_distance(squared);
    if (a >= b)
      continue;
    w.link[i] = rv_road_link(c->distance[i], 1, 1);
    all += squared;
  }
  return block_sum(r, all); /* and a barrier: the clusters are complete */
}

/* The nearest pair of clusters as link << 32 | a * EXEMPLARS + b, for all threads. */
static __device__ unsigned long long nearest_pair(const RoadCuda &w, const EmRun &r, int count) {
  unsigned long long key = ~0ull;
  for (int i = threadIdx.x; i < count * (EXEMPLARS / 4); i += ROAD_GROUP_THREADS) {
    const uint4 v = ((const uint4 *)w.link)[i];
    const uint32_t links[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++)
      key = min(key, (unsigned long long)links[k] << 32 | (unsigned)(4 * i + k));
  }
  key = rv_warp_min(key);
  if (threadIdx.x % 32 == 0)
    r.shared->keys[threadIdx.x / 32] = key;
  __syncthreads();
  for (int k = 0; k < ROAD_GROUP_WARPS; k++)
    key = min(key, r.shared->keys[k]);
  return key;
}

/* Merges b into a, a < b, with one thread per cluster; the sizes are written last, when no
 * thread reads them. */
static __device__ void merge(const RoadCuda &w, int count, int a, int b) {
  RvRoadClusters *c = w.clusters;
  const int k = threadIdx.x, size = c->size[a] + c->size[b];
  const bool is_other = k < count && k != a && k != b && c->size[k];
  if (is_other) {
    const uint32_t distance = c->distance[a * EXEMPLARS + k] + c->distance[b * EXEMPLARS + k];
    const uint32_t squared = c->squared[a * EXEMPLARS + k] + c->squared[b * EXEMPLARS + k];
    c->distance[a * EXEMPLARS + k] = c->distance[k * EXEMPLARS + a] = distance;
    c->squared[a * EXEMPLARS + k] = c->squared[k * EXEMPLARS + a] = squared;
    w.link[min(a, k) * EXEMPLARS + max(a, k)] = rv_road_link(distance, size, c->size[k]);
    w.link[min(b, k) * EXEMPLARS + max(b, k)] = NO_LINK;
  }
  if (k == a) {
    c->within[a] += c->within[b] + c->squared[a * EXEMPLARS + b];
    w.link[a * EXEMPLARS + b] = NO_LINK;
  }
  __syncthreads();
  if (k == a)
    c->size[a] = size;
  if (k == b)
    c->size[b] = 0;
  __syncthreads();
}

/* Number of models for the samples, 1 to library_size; for all threads of the block. */
static __device__ int clusters(const RoadCuda &w, const EmRun &r) {
  __shared__ Exemplars e;
  __shared__ double all;
  RvRoadClusters *c = w.clusters;
  choose_exemplars(w, r, &e);
  const int64_t pairs = start_clusters(w, r, e);
  if (threadIdx.x == 0)
    all = (double)pairs / e.count;
  __syncthreads();
  double within = 0, best = 0;
  int models = 1;
  for (int groups = e.count - 1; groups >= 2 && all > 0; groups--) {
    const unsigned long long key = nearest_pair(w, r, e.count);
    const int a = (int)(key & 0xffffffffu) / EXEMPLARS, b = (int)(key % EXEMPLARS);
    const double before = (double)c->within[a] / c->size[a] + (double)c->within[b] / c->size[b];
    __syncthreads();
    merge(w, e.count, a, b);
    within = within + ((double)c->within[a] / c->size[a] - before);
    const double f = rv_road_pseudo_f(all, within, e.count, groups);
    if (groups > w.plan.config.library_size || f < best)
      continue;
    best = f;
    const int size = threadIdx.x < e.count ? c->size[threadIdx.x] : 0;
    models = __syncthreads_count(
        size && rv_road_is_cluster_valid(size, e.count, r.samples, w.plan.config.min_samples));
  }
  return max(models, 1);
}

#endif
