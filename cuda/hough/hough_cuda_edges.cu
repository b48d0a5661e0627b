/* SPDX-License-Identifier: MIT */
/* hough_cuda_edges.cu: the edge stage: Sobel gradients and edges by threshold, or Canny's. */
#include "hough/hough_cuda.cuh"

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

/* Edges where the magnitude of the gradient is above the threshold; the gradients when asked for. */
static __global__ void threshold_kernel(const uint8_t *in, ptrdiff_t stride, const Size s,
                                        int threshold, uint32_t *gradients, uint8_t *classes) {
  int x, y, i;
  if (!at_pixel(s, &x, &y, &i))
    return;
  const uint8_t *up = in + max(y - 1, 0) * stride, *at = in + y * stride;
  const uint8_t *down = in + min(y + 1, s.height - 1) * stride;
  const int l = max(x - 1, 0), r = min(x + 1, s.width - 1);
  const uint32_t gradient =
      rv_hough_sobel(up[l], up[x], up[r], at[l], at[r], down[l], down[x], down[r]);
  if (gradients)
    gradients[i] = gradient;
  classes[i] = rv_hough_magnitude(gradient) > threshold ? HOUGH_EDGE : 0;
}

RvStatus hough_cuda_edges(void *memory, RvHoughJob *job) {
  HoughCuda *work = (HoughCuda *)memory;
  const RvHoughSpace *p = &job->plan->space;
  const RvHoughConfig *c = &job->plan->config;
  if (c->edges == RV_HOUGH_CANNY)
    return hough_cuda_canny(work, job);
  const Size size = {p->width, p->height};
  const dim3 block(32, 8);
  const dim3 grid((unsigned)rv_div_up(p->width, 32), (unsigned)rv_div_up(p->height, 8));
  return rv_launch(&c->log, threshold_kernel, grid, block, 0, job->stream, false,
                   (const uint8_t *)job->input.data, job->input.stride, size, c->edge_low,
                   work->values ? work->gradients : NULL, work->classes);
}
