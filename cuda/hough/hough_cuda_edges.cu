/* SPDX-License-Identifier: MIT */
/* hough_cuda_edges.cu: Sobel gradients; edges by threshold, or as Canny has them: thinned, then the
 * components of the thin pixels that hold a strong one. Components are found by union-find. */
#include "hough/hough_cuda.cuh"

#define WEAK 1
#define STRONG 2
#define EDGE 255

namespace {
struct Size {
  int width, height;
};
} // namespace

static __device__ __forceinline__ bool at_pixel(const Size s, int *x, int *y, int *i) {
  *x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  *y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  *i = *y * s.width + *x;
  return *x < s.width && *y < s.height;
}

/* Gradient of every pixel; with a threshold (not negative) the edges above it too. */
static __global__ void gradient_kernel(const uint8_t *in, ptrdiff_t stride, const Size s,
                                       int threshold, uint32_t *gradients, uint8_t *classes) {
  int x, y, i;
  if (!at_pixel(s, &x, &y, &i))
    return;
  const uint8_t *up = in + max(y - 1, 0) * stride, *at = in + y * stride;
  const uint8_t *down = in + min(y + 1, s.height - 1) * stride;
  const int l = max(x - 1, 0), r = min(x + 1, s.width - 1);
  const uint32_t gradient =
      rv_hough_sobel(up[l], up[x], up[r], at[l], at[r], down[l], down[x], down[r]);
  gradients[i] = gradient;
  if (threshold >= 0)
    classes[i] = rv_hough_magnitude(gradient) > threshold ? EDGE : 0;
}

static __device__ __forceinline__ int magnitude_at(const uint32_t *gradients, const Size s, int x,
                                                   int y) {
  if (x < 0 || y < 0 || x >= s.width || y >= s.height)
    return 0;
  return rv_hough_magnitude(gradients[y * s.width + x]);
}

static __global__ void thin_kernel(const uint32_t *gradients, const Size s, int low, int high,
                                   uint8_t *classes, int *labels, uint8_t *alive) {
  int x, y, i;
  if (!at_pixel(s, &x, &y, &i))
    return;
  const uint32_t gradient = gradients[i];
  const int m = rv_hough_magnitude(gradient);
  uint8_t kind = 0;
  if (m > low) {
    const int sector = rv_hough_sector(gradient);
    const int dx = rv_hough_sector_x(sector), dy = rv_hough_sector_y(sector);
    if (m > magnitude_at(gradients, s, x - dx, y - dy) &&
        m >= magnitude_at(gradients, s, x + dx, y + dy))
      kind = m > high ? STRONG : WEAK;
  }
  classes[i] = kind;
  labels[i] = i;
  alive[i] = 0;
}

/* The least pixel known of the component. Other threads move labels towards smaller pixels of the
 * same component meanwhile; the loads go past L1, which is not kept coherent. */
static __device__ __forceinline__ int root_of(const int *labels, int i) {
  for (int next; (next = __ldcg(&labels[i])) != i;)
    i = next;
  return i;
}

/* Labels only ever fall, and a label that atomicMin did not change from its root value was moved by
 * another thread, with which the pair is then united. */
static __device__ void unite(int *labels, int a, int b) {
  for (;;) {
    a = root_of(labels, a);
    b = root_of(labels, b);
    if (a == b)
      return;
    const int low = min(a, b), high = max(a, b);
    const int before = atomicMin(&labels[high], low);
    if (before == high)
      return;
    a = before;
    b = low;
  }
}

static __global__ void unite_kernel(const uint8_t *classes, const Size s, int *labels) {
  int x, y, i;
  if (!at_pixel(s, &x, &y, &i) || !classes[i])
    return;
  if (x > 0 && classes[i - 1])
    unite(labels, i, i - 1);
  if (y == 0)
    return;
  for (int u = max(x - 1, 0); u <= min(x + 1, s.width - 1); u++)
    if (classes[(y - 1) * s.width + u])
      unite(labels, i, (y - 1) * s.width + u);
}

/* Several threads may store the same 1. */
static __global__ void revive_kernel(const uint8_t *classes, const Size s, const int *labels,
                                     uint8_t *alive) {
  int x, y, i;
  if (at_pixel(s, &x, &y, &i) && classes[i] == STRONG)
    alive[root_of(labels, i)] = 1;
}

static __global__ void keep_kernel(uint8_t *classes, const Size s, const int *labels,
                                   const uint8_t *alive) {
  int x, y, i;
  if (at_pixel(s, &x, &y, &i))
    classes[i] = classes[i] && alive[root_of(labels, i)] ? EDGE : 0;
}

RvStatus hough_cuda_edges(void *memory, RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughSpace *p = &job->plan->space;
  const RvHoughConfig *c = &job->plan->config;
  const Size size = {p->width, p->height};
  const dim3 block(32, 8);
  const dim3 grid((unsigned)rv_div_up(p->width, 32), (unsigned)rv_div_up(p->height, 8));
  const int is_sobel = c->edges == RV_HOUGH_SOBEL;
  gradient_kernel<<<grid, block, 0, job->stream>>>(
      (const uint8_t *)job->input.data, job->input.stride, size, is_sobel ? c->edge_low : -1,
      work->gradients, work->classes);
  RV_LAUNCHED(&c->log);
  if (is_sobel)
    return RV_OK;
  thin_kernel<<<grid, block, 0, job->stream>>>(work->gradients, size, c->edge_low, c->edge_high,
                                               work->classes, work->labels, work->alive);
  RV_LAUNCHED(&c->log);
  unite_kernel<<<grid, block, 0, job->stream>>>(work->classes, size, work->labels);
  RV_LAUNCHED(&c->log);
  revive_kernel<<<grid, block, 0, job->stream>>>(work->classes, size, work->labels, work->alive);
  RV_LAUNCHED(&c->log);
  keep_kernel<<<grid, block, 0, job->stream>>>(work->classes, size, work->labels, work->alive);
  RV_LAUNCHED(&c->log);
  return RV_OK;
}
