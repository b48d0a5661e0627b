/* SPDX-License-Identifier: MIT */
/* scene_texture_reference.c: textures and painted patterns at one place. */
#include "scene/scene_reference.h"

#include <string.h>

#define MASK (TEXTURE_SIDE - 1)

/* u and v in 1/65536 texel of level 0. */
static float bilinear(const Texture *texture, int level, int64_t u, int64_t v) {
  const int mask = MASK >> level, shift = 8 - level;
  const int64_t x = (u >> level) - 32768, y = (v >> level) - 32768;
  const int ix = (int)(x >> 16), iy = (int)(y >> 16);
  const float a = (float)(int)(x & 65535) * (1.0f / 65536.0f);
  const float b = (float)(int)(y & 65535) * (1.0f / 65536.0f);
  const uint8_t *t = texture->level[level];
  const uint8_t *r0 = t + ((iy & mask) << shift), *r1 = t + (((iy + 1) & mask) << shift);
  const int x0 = ix & mask, x1 = (ix + 1) & mask;
  const float top = (float)r0[x0] + a * (float)(r0[x1] - r0[x0]);
  const float bottom = (float)r1[x0] + a * (float)(r1[x1] - r1[x0]);
  return top + b * (bottom - top);
}

/* log2 for v >= 1, linear between powers of two: exact in floats, no library call. */
static float log2_linear(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  const int exponent = (int)(bits >> 23) - 127;
  bits = (bits & 0x7FFFFFu) | 0x3F800000u;
  memcpy(&v, &bits, sizeof v);
  return (float)exponent + v - 1.0f;
}

static float trilinear(const Texture *texture, int64_t u, int64_t v, int level, float k) {
  if (k > 0.92f)
    return bilinear(texture, level + 1, u, v);
  const float fine = bilinear(texture, level, u, v);
  return k < 0.08f ? fine : fine + k * (bilinear(texture, level + 1, u, v) - fine);
}

/* Up to three samples along the longer side of the footprint. */
float scene_texel(const RvScene *scene, int texture, double u, double v, float fu, float fv,
                  float texels) {
  const Texture *t = &scene->texture[texture];
  fu *= texels;
  fv *= texels;
  const float major = fu > fv ? fu : fv, minor = fu > fv ? fv : fu;
  int samples = 1;
  if (major > 1.5f && major > 1.5f * minor)
    samples = major > 3.0f * minor ? 3 : 2;
  const float part = samples == 3 ? major * (1.0f / 3.0f) : samples == 2 ? 0.5f * major : major;
  const float footprint = part > minor ? part : minor;
  const float lod = footprint > 1.0f ? log2_linear(footprint) : 0.0f;
  const int level = (int)lod;
  if (level >= TEXTURE_LEVELS - 1)
    return 0.5f;
  const float k = lod - (float)level;
  const double scale = 65536.0 * (double)texels;
  const int64_t u0 = (int64_t)(u * scale), v0 = (int64_t)(v * scale);
  if (samples == 1)
    return trilinear(t, u0, v0, level, k) * (1.0f / 255.0f);
  const int64_t step = (int64_t)(part * 65536.0f);
  const int64_t du = fu > fv ? step : 0, dv = fu > fv ? 0 : step;
  if (samples == 2)
    return (trilinear(t, u0 - du / 2, v0 - dv / 2, level, k) +
            trilinear(t, u0 + du / 2, v0 + dv / 2, level, k)) *
           (0.5f / 255.0f);
  return (trilinear(t, u0 - du, v0 - dv, level, k) + trilinear(t, u0, v0, level, k) +
          trilinear(t, u0 + du, v0 + dv, level, k)) *
         (1.0f / 765.0f);
}

float scene_band(double x, float f, double a, double b) {
  const double width = f > 1e-4f ? (double)f : 1e-4, lo = x - 0.5 * width, hi = x + 0.5 * width;
  const double from = lo > a ? lo : a, to = hi < b ? hi : b;
  return to > from ? (float)((to - from) / width) : 0.0f;
}

/* Integral of the pulse train from 0 to x, for 0 <= a < b <= p. */
static double pulse_sum(double x, double a, double b, double p) {
  const int n = floor_int(x / p);
  const double rest = x - n * p;
  const double in = rest < a ? 0.0 : rest > b ? b - a : rest - a;
  return n * (b - a) + in;
}

float scene_pulse(double x, float f, double a, double b, double p) {
  const double width = f > 1e-4f ? (double)f : 1e-4;
  const double lo = x - 0.5 * width, hi = x + 0.5 * width;
  return (float)((pulse_sum(hi, a, b, p) - pulse_sum(lo, a, b, p)) / width);
}
