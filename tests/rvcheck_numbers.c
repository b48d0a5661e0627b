/* SPDX-License-Identifier: MIT */
/* rvcheck_numbers.c: numbers that inputs and references of several algorithms need. Single precision
 * and the order of the random numbers are part of what the inputs are. */
#include <math.h>
#include <stdlib.h>

#include "rvcheck.h"

uint32_t rvc_xorshift(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state >> 16);
}

float rvc_uniform(uint64_t *state) {
  return (float)(rvc_xorshift(state) & 0xffffff) / 16777216.f;
}

float rvc_gauss(uint64_t *state) {
  const float a = rvc_uniform(state), b = rvc_uniform(state);
  return sqrtf(-2 * logf(a < 1e-7f ? 1e-7f : a)) * cosf(6.2831853f * b);
}

static float smooth(float t) {
  return t * t * (3 - 2 * t);
}

int rvc_add_noise(float *out, int w, int h, float gain, int base, uint64_t *state) {
  float amplitude = 1;
  for (int c = base; c >= 2; c /= 2, amplitude *= gain) {
    const int gw = w / c + 3, gh = h / c + 3;
    float *g = malloc((size_t)gw * (size_t)gh * sizeof *g);
    if (!g)
      return 0;
    for (int i = 0; i < gw * gh; i++)
      g[i] = rvc_uniform(state) * 2 - 1;
    for (int y = 0; y < h; y++) {
      const float fy = (float)y / (float)c;
      const int iy = (int)fy;
      const float ty = smooth(fy - (float)iy);
      for (int x = 0; x < w; x++) {
        const float fx = (float)x / (float)c;
        const int ix = (int)fx;
        const float tx = smooth(fx - (float)ix);
        const float *p = g + iy * gw + ix;
        out[y * w + x] += amplitude * ((p[0] * (1 - tx) + p[1] * tx) * (1 - ty) +
                                       (p[gw] * (1 - tx) + p[gw + 1] * tx) * ty);
      }
    }
    free(g);
  }
  return 1;
}

int rvc_by_float(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

int rvc_by_key(const void *a, const void *b) {
  return ((const RvcWeighted *)a)->key - ((const RvcWeighted *)b)->key;
}
