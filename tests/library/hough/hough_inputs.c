/* SPDX-License-Identifier: MIT */
/* hough_inputs.c: sky, buildings with windows, textured ground, a road with lane marks, poles and
 * noise from one xorshift sequence; its largest gradients and its Canny edges. Single precision and
 * the order of the random numbers are part of the definition. */
#include "hough/hough_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvcheck.h"

typedef struct Canvas {
  int w, h;
  float *v;
  uint64_t *state;
} Canvas;

/* Fills a quadrilateral x0 y0 .. x3 y3 by scan lines. */
static void quad(const Canvas *im, const float *p, float value, float mix) {
  for (int y = 0; y < im->h; y++) {
    float xs[4];
    int n = 0;
    for (int i = 0; i < 4; i++) {
      const float ax = p[2 * i], ay = p[2 * i + 1];
      const float bx = p[(2 * i + 2) % 8], by = p[(2 * i + 3) % 8];
      if ((ay <= (float)y) != (by <= (float)y))
        xs[n++] = ax + ((float)y - ay) * (bx - ax) / (by - ay);
    }
    for (int i = 1; i < n; i++)
      for (int j = i; j > 0 && xs[j - 1] > xs[j]; j--) {
        const float swap = xs[j];
        xs[j] = xs[j - 1];
        xs[j - 1] = swap;
      }
    for (int i = 0; i + 1 < n; i += 2) {
      const int from = (int)xs[i] > 0 ? (int)xs[i] : 0;
      const int to = (int)xs[i + 1] < im->w - 1 ? (int)xs[i + 1] : im->w - 1;
      for (int x = from; x <= to; x++)
        im->v[y * im->w + x] = im->v[y * im->w + x] * (1 - mix) + value * mix;
    }
  }
}

static void buildings(const Canvas *im, float horizon) {
  const float w = (float)im->w, h = (float)im->h;
  uint64_t *s = im->state;
  for (int i = 0; i < 26; i++) {
    const float x0 = rvc_uniform(s) * w, bw = (0.02f + 0.09f * rvc_uniform(s)) * w;
    const float t = horizon * (0.15f + 0.7f * rvc_uniform(s)), v = 60 + 140 * rvc_uniform(s);
    const float top = t + 0.02f * h * rvc_uniform(s), foot = horizon + 0.05f * h;
    const float house[8] = {x0, t, x0 + bw, top, x0 + bw, foot, x0, foot};
    quad(im, house, v, 0.85f);
    const int nx = 2 + (int)(rvc_xorshift(s) % 6), ny = 2 + (int)(rvc_xorshift(s) % 6);
    for (int a = 0; a < nx; a++)
      for (int b = 0; b < ny; b++) {
        const float wx = x0 + bw * ((float)a + 0.25f) / (float)nx;
        const float wy = t + (horizon - t) * ((float)b + 0.25f) / (float)ny;
        const float rx = wx + bw * 0.5f / (float)nx, ry = wy + (horizon - t) * 0.5f / (float)ny;
        const float window[8] = {wx, wy, rx, wy, rx, ry, wx, ry};
        quad(im, window, v + (rvc_uniform(s) - 0.5f) * 160, 0.8f);
      }
  }
}

static void road(const Canvas *im, float horizon) {
  const float w = (float)im->w, h = (float)im->h, vx = 0.52f * w;
  const float street[8] = {vx, horizon, vx + 3, horizon, 0.95f * w, h, 0.02f * w, h};
  quad(im, street, 90, 0.7f);
  for (int k = 0; k < 4; k++) {
    const float b = (0.05f + 0.28f * (float)k) * w, d = 0.012f * w;
    for (int s = 0; s < 9; s++) {
      const float t0 = powf(0.62f, (float)s), t1 = t0 * 0.8f;
      const float y0 = horizon + (h - horizon) * t0, y1 = horizon + (h - horizon) * t1;
      const float mark[8] = {vx + (b - vx) * t0,     y0, vx + (b + d - vx) * t0, y0,
                             vx + (b + d - vx) * t1, y1, vx + (b - vx) * t1,     y1};
      quad(im, mark, 225, 0.9f);
    }
  }
}

static int scene(const Canvas *im) {
  const int w = im->w, h = im->h;
  const float horizon = 0.42f * (float)h;
  float *n = calloc((size_t)w * (size_t)h, sizeof *n);
  if (!n || !rvc_add_noise(n, w, h, 0.62f, w / 6, im->state)) {
    free(n);
    return 0;
  }
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      im->v[y * w + x] = (float)y < horizon ? 190 - 40 * ((float)y / horizon) + 10 * n[y * w + x]
                                            : 110 + 28 * n[y * w + x];
  free(n);
  buildings(im, horizon);
  road(im, horizon);
  for (int k = 0; k < 14; k++) {
    const float x = rvc_uniform(im->state) * (float)w,
                top = horizon * 0.3f * rvc_uniform(im->state);
    const float foot = horizon * 1.3f, pole[8] = {x, top, x + 3, 0.f, x + 4, foot, x, foot};
    quad(im, pole, 40, 0.9f);
  }
  for (int i = 0; i < w * h; i++)
    im->v[i] += 2.0f * rvc_gauss(im->state);
  return 1;
}

/* Binomial 5 x 5. */
static void blur(const float *in, float *temp, float *out, int w, int h) {
  static const float k[5] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};
  for (int pass = 0; pass < 2; pass++) {
    const float *from = pass ? temp : in;
    float *to = pass ? out : temp;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float s = 0;
        for (int d = -2; d <= 2; d++) {
          const int u = pass ? x : (x + d < 0 ? 0 : (x + d >= w ? w - 1 : x + d));
          const int v = pass ? (y + d < 0 ? 0 : (y + d >= h ? h - 1 : y + d)) : y;
          s += k[d + 2] * from[v * w + u];
        }
        to[y * w + x] = s;
      }
  }
}

typedef struct Gradients {
  float *m, *gx, *gy;
} Gradients;

static void sobel(const float *g, const Gradients *out, int w, int h) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      const float *p = &g[y * w + x];
      const float a = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
      const float b = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
      out->gx[y * w + x] = a;
      out->gy[y * w + x] = b;
      out->m[y * w + x] = sqrtf(a * a + b * b);
    }
}

/* Thin pixels above `low`, grown from those above `high`. `stack` has room for every pixel. */
static void canny(const Gradients *g, uint8_t *out, int *stack, int w, int h, float low,
                  float high) {
  int depth = 0;
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      const int i = y * w + x;
      const float m = g->m[i], ax = fabsf(g->gx[i]), ay = fabsf(g->gy[i]);
      if (m < low)
        continue;
      int before = -w + 1, after = w - 1;
      if (ax > 2.414f * ay)
        before = -1, after = 1;
      else if (ay > 2.414f * ax)
        before = -w, after = w;
      else if (g->gx[i] * g->gy[i] > 0)
        before = -w - 1, after = w + 1;
      if (!(m > g->m[i + before] && m >= g->m[i + after]))
        continue;
      out[i] = m >= high ? 255 : 1;
      if (m >= high)
        stack[depth++] = i;
    }
  while (depth > 0) {
    const int i = stack[--depth];
    for (int d = 0; d < 9; d++) {
      const int j = i + (d / 3 - 1) * w + d % 3 - 1;
      if (out[j] == 1) {
        out[j] = 255;
        stack[depth++] = j;
      }
    }
  }
  for (int i = 0; i < w * h; i++)
    out[i] = out[i] == 255 ? 255 : 0;
}

static void threshold_maps(HoughImages *p, const Gradients *g, float *sorted, int *stack) {
  const size_t pixels = (size_t)p->width * (size_t)p->height;
  memcpy(sorted, g->m, pixels * sizeof *sorted);
  qsort(sorted, pixels, sizeof *sorted, rvc_by_float);
  const float t90 = sorted[(size_t)(0.90 * (double)(pixels - 1))];
  const float t96 = sorted[(size_t)(0.96 * (double)(pixels - 1))];
  for (size_t i = 0; i < pixels; i++)
    p->p10[i] = g->m[i] > t90 ? 255 : 0;
  canny(g, p->canny, stack, p->width, p->height, t90, t96);
}

static int fill(HoughImages *p, uint64_t *state) {
  const size_t pixels = (size_t)p->width * (size_t)p->height;
  float *memory = calloc(6 * pixels, sizeof *memory);
  int *stack = malloc(pixels * sizeof *stack);
  const Canvas im = {p->width, p->height, memory, state};
  int done = memory && stack && scene(&im);
  if (done) {
    const Gradients g = {memory + 3 * pixels, memory + 4 * pixels, memory + 5 * pixels};
    blur(im.v, memory + pixels, memory + 2 * pixels, p->width, p->height);
    sobel(memory + 2 * pixels, &g, p->width, p->height);
    for (size_t i = 0; i < pixels; i++)
      p->gray[i] = (uint8_t)fminf(255.f, fmaxf(0.f, im.v[i]));
    threshold_maps(p, &g, memory + pixels, stack);
    for (size_t i = 0; i < pixels; i++) /* a map of noise comes next in the sequence */
      (void)rvc_uniform(state);
  }
  free(memory);
  free(stack);
  return done;
}

static int make(HoughImages *p, int width, int height, uint64_t *state) {
  const size_t pixels = (size_t)width * (size_t)height;
  *p = (HoughImages){width, height, malloc(pixels), malloc(pixels), calloc(pixels, 1)};
  return p->gray && p->p10 && p->canny && fill(p, state);
}

int hough_images_new(HoughImages *pictures, int is_small) {
  uint64_t state = UINT64_C(88172645463325252);
  if (!make(pictures, 1920, 1080, &state))
    return 0;
  if (!is_small)
    return 1;
  hough_images_free(pictures); /* the small images come after the large ones */
  return make(pictures, 640, 480, &state);
}

void hough_images_free(HoughImages *pictures) {
  free(pictures->gray);
  free(pictures->p10);
  free(pictures->canny);
  *pictures = (HoughImages){0, 0, NULL, NULL, NULL};
}

long hough_images_count(const HoughImages *pictures, const uint8_t *map) {
  long count = 0;
  for (long i = 0; i < (long)pictures->width * pictures->height; i++)
    count += map[i] != 0;
  return count;
}
