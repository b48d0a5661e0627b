/* SPDX-License-Identifier: MIT */
/* hough_cpu_edges.c: Sobel gradients, and edges by threshold or as Canny has them. */
#include "hough/hough_cpu.h"

#include <string.h>

#define WEAK 1
#define STRONG 2
#define EDGE 255

/* Gradients of one row from the rows above, at and below it. */
static void sobel_row(const uint8_t *restrict up, const uint8_t *restrict at,
                      const uint8_t *restrict down, uint32_t *restrict out, int width) {
  const int last = width - 1;
  for (int x = 0; x<width; x += last> 0 ? last : 1) { /* both ends */
    const int l = rv_max(x - 1, 0), r = rv_min(x + 1, last);
    out[x] = rv_hough_sobel(up[l], up[x], up[r], at[l], at[r], down[l], down[x], down[r]);
  }
#pragma omp simd
  for (int x = 1; x < last; x++)
    out[x] = rv_hough_sobel(up[x - 1], up[x], up[x + 1], at[x - 1], at[x + 1], down[x - 1], down[x],
                            down[x + 1]);
}

static const uint8_t *input_row(const RvHoughJob *job, int y, int height) {
  return (const uint8_t *)job->input.data + rv_clamp(y, 0, height - 1) * job->input.stride;
}

static int magnitude_at(const RvHoughCpu *cpu, const RvHoughSpace *p, int x, int y) {
  if (x < 0 || y < 0 || x >= p->width || y >= p->height)
    return 0;
  return rv_hough_magnitude(cpu->gradients[(size_t)y * (size_t)p->width + (size_t)x]);
}

/* Class of a pixel whose magnitude m is above edge_low: 0, WEAK or STRONG. */
static uint8_t thin(const RvHoughCpu *cpu, const RvHoughConfig *c, const RvHoughSpace *p, int x,
                    int y, int m) {
  const int sector = rv_hough_sector(cpu->gradients[(size_t)y * (size_t)p->width + (size_t)x]);
  const int dx = rv_hough_sector_x(sector), dy = rv_hough_sector_y(sector);
  if (m <= magnitude_at(cpu, p, x - dx, y - dy) || m < magnitude_at(cpu, p, x + dx, y + dy))
    return 0;
  return m > c->edge_high ? STRONG : WEAK;
}

static void classify_row(RvHoughCpu *cpu, const RvHoughConfig *c, const RvHoughSpace *p, int y) {
  const uint32_t *gradients = cpu->gradients + (size_t)y * (size_t)p->width;
  uint8_t *classes = cpu->classes + (size_t)y * (size_t)p->width;
  for (int x = 0; x < p->width; x++) {
    const int m = rv_hough_magnitude(gradients[x]);
    if (m <= c->edge_low)
      classes[x] = 0;
    else
      classes[x] = c->edges == RV_HOUGH_SOBEL ? EDGE : thin(cpu, c, p, x, y, m);
  }
}

/* Grows from strong pixels through weak ones; then pixels that are not reached are removed. The
 * list of points, which is made later, is the stack: a pixel is pushed once. */
static void follow(RvHoughCpu *cpu, const RvHoughSpace *p) {
  const size_t pixels = (size_t)p->width * (size_t)p->height;
  size_t depth = 0;
  for (size_t i = 0; i < pixels; i++)
    if (cpu->classes[i] == STRONG) {
      cpu->classes[i] = EDGE;
      cpu->points[depth++] =
          rv_hough_point((int)(i % (size_t)p->width), (int)(i / (size_t)p->width));
    }
  while (depth > 0) {
    const uint32_t point = cpu->points[--depth];
    const int x = (int)(point & 0xffff), y = (int)(point >> 16);
    for (int v = rv_max(y - 1, 0); v <= rv_min(y + 1, p->height - 1); v++)
      for (int u = rv_max(x - 1, 0); u <= rv_min(x + 1, p->width - 1); u++) {
        uint8_t *class = &cpu->classes[(size_t)v * (size_t)p->width + (size_t)u];
        if (*class == WEAK) {
          *class = EDGE;
          cpu->points[depth++] = rv_hough_point(u, v);
        }
      }
  }
  for (size_t i = 0; i < pixels; i++)
    cpu->classes[i] = cpu->classes[i] == EDGE ? EDGE : 0;
}

RvStatus rv_hough_cpu_edges(void *work, RvHoughJob *job) {
  RvHoughCpu *cpu = work;
  const RvHoughConfig *c = &job->plan->config;
  const RvHoughSpace *p = &job->plan->space;
#pragma omp parallel for num_threads(cpu->threads) schedule(static)
  for (int y = 0; y < p->height; y++)
    sobel_row(input_row(job, y - 1, p->height), input_row(job, y, p->height),
              input_row(job, y + 1, p->height), cpu->gradients + (size_t)y * (size_t)p->width,
              p->width);
#pragma omp parallel for num_threads(cpu->threads) schedule(static)
  for (int y = 0; y < p->height; y++)
    classify_row(cpu, c, p, y);
  if (c->edges == RV_HOUGH_CANNY)
    follow(cpu, p);
  return RV_OK;
}
