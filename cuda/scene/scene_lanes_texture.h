/* SPDX-License-Identifier: MIT */
/* scene_lanes_texture.h: textures and painted patterns at several positions. */
#ifndef RV_SCENE_LANES_TEXTURE_H
#define RV_SCENE_LANES_TEXTURE_H

#include "scene/scene_lanes.h"

INLINE Words fetch(const uint32_t *cells, Words index) {
#if defined(__AVX512F__)
  return (Words)_mm256_i32gather_epi32((const int *)cells, (__m256i)index, 4);
#elif defined(__AVX2__)
  return (Words)_mm_i32gather_epi32((const int *)cells, (__m128i)index, 4);
#else
  Words v;
  for (int i = 0; i < LANES; i++)
    v[i] = cells[index[i]];
  return v;
#endif
}

/* u and v in 1/65536 texel of level 0. Their low 24 bits decide: a texture repeats after 256
 * texels. */
INLINE Floats bilinear(const uint32_t *cells, Words level, Words u, Words v) {
  const Words x = (u >> level) - 32768u, y = (v >> level) - 32768u;
  const Words side = 8u - level, mask = ((Words)i0 + 255u) >> level;
  const Floats a = ints_to_floats((Ints)(x & 65535u)) * (1.0f / 65536.0f);
  const Floats b = ints_to_floats((Ints)(y & 65535u)) * (1.0f / 65536.0f);
  const Words row = (y >> 16 & mask) << side, first = ((Words)i0 + 1u) << (side + side);
  const Words cell = fetch(cells, first + row + (x >> 16 & mask));
  const Ints p00 = (Ints)(cell & 255u), p01 = (Ints)(cell >> 8 & 255u);
  const Ints p10 = (Ints)(cell >> 16 & 255u), p11 = (Ints)(cell >> 24);
  const Floats top = ints_to_floats(p00) + a * ints_to_floats(p01 - p00);
  const Floats bottom = ints_to_floats(p10) + a * ints_to_floats(p11 - p10);
  return top + b * (bottom - top);
}

/* log2 for v >= 1, linear between powers of two: exact in floats, no library call. */
INLINE Floats log2_linear(Floats v) {
  const Words bits = (Words)v;
  const Ints exponent = (Ints)(bits >> 23) - 127;
  return ints_to_floats(exponent) + (Floats)((bits & 0x7FFFFFu) | 0x3F800000u) - 1.0f;
}

/* A position between two levels. */
typedef struct Level {
  const uint32_t *cells;
  Words fine;
  Floats k;                       /* weight of the coarser one */
  Ints only_coarse, only_fine;    /* where k is near its ends */
  int coarse_needed, fine_needed; /* of any lane */
} Level;

INLINE Floats trilinear(const Level *level, Words u, Words v) {
  const Floats fine = level->fine_needed ? bilinear(level->cells, level->fine, u, v) : f0;
  if (!level->coarse_needed)
    return fine;
  const Floats coarse = bilinear(level->cells, level->fine + 1u, u, v);
  const Floats both = choose_floats(level->only_fine, fine, fine + level->k * (coarse - fine));
  return choose_floats(level->only_coarse, coarse, both);
}

INLINE Words low_words(Doubles v) {
  return __builtin_convertvector((Bitmaps) __builtin_convertvector(v, Longs), Words);
}

/* Mean gray (0..1) of the rectangle of fu x fv m round (u, v) m, `texels` per m: up to three
 * samples along the longer side of the footprint. */
APART Floats texel(const RvScene *scene, int texture, Doubles u, Doubles v, Floats fu, Floats fv,
                   float texels) {
  fu *= texels;
  fv *= texels;
  const Ints wide = fu > fv;
  const Floats major = choose_floats(wide, fu, fv), minor = choose_floats(wide, fv, fu);
  const Ints several = (major > 1.5f) & (major > 1.5f * minor);
  const Ints three = several & (major > 3.0f * minor), two = several & ~three;
  const Floats part =
      choose_floats(three, major * (1.0f / 3.0f), choose_floats(two, 0.5f * major, major));
  const Floats footprint = choose_floats(part > minor, part, minor);
  const Floats lod = choose_floats(footprint > 1.0f, log2_linear(footprint), f0);
  const Ints level = __builtin_convertvector(lod, Ints), beyond = level >= TEXTURE_LEVELS - 1;
  if (!any_ints(~beyond))
    return f0 + 0.5f;
  Level at = {.cells = scene->texture[texture].cells, .fine = (Words)(~beyond & level)};
  at.k = lod - ints_to_floats(level);
  at.only_coarse = at.k > 0.92f;
  at.only_fine = at.k < 0.08f;
  at.coarse_needed = any_ints(~(at.only_fine | beyond));
  at.fine_needed = any_ints(~(at.only_coarse | beyond));
  const double scale = 65536.0 * (double)texels;
  const Words u0 = low_words(u * scale), v0 = low_words(v * scale);
  Floats value = f0;
  if (any_ints(~two))
    value = trilinear(&at, u0, v0);
  Floats mean = value * (1.0f / 255.0f);
  if (any_ints(several)) {
    const Words step = (Words) __builtin_convertvector(part * 65536.0f, Ints) & (Words)several;
    const Words apart = ((Words)three & step) | (~(Words)three & step >> 1);
    const Words du = (Words)wide & apart, dv = ~(Words)wide & apart;
    const Floats before = trilinear(&at, u0 - du, v0 - dv);
    const Floats after = trilinear(&at, u0 + du, v0 + dv);
    mean = choose_floats(two, (before + after) * (0.5f / 255.0f), mean);
    mean = choose_floats(three, (before + value + after) * (1.0f / 765.0f), mean);
  }
  return choose_floats(beyond, f0 + 0.5f, mean);
}

/* texel () of a position without extent. */
APART Floats sharp_texel(const RvScene *scene, int texture, Doubles u, Doubles v, float texels) {
  const double scale = 65536.0 * (double)texels;
  return bilinear(scene->texture[texture].cells, (Words)i0, low_words(u * scale),
                  low_words(v * scale)) *
         (1.0f / 255.0f);
}

INLINE Doubles at_least_little(Floats f) {
  return choose(widen(f > 1e-4f), to_doubles(f), d0 + 1e-4);
}

/* Fraction of [x - f/2, x + f/2] inside [a, b]. */
INLINE Floats bands(Doubles x, Floats f, Doubles a, Doubles b) {
  const Doubles width = at_least_little(f), lo = x - 0.5 * width, hi = x + 0.5 * width;
  const Doubles from = choose(lo > a, lo, a), to = choose(hi < b, hi, b);
  const Longs in = to > from;
  return any(in) ? to_floats(choose(in, (to - from) / width, d0)) : f0;
}
INLINE Floats band(Doubles x, Floats f, double a, double b) {
  return bands(x, f, d0 + a, d0 + b);
}

/* Integral of the pulse train from 0 to x, for 0 <= a < b <= p. */
INLINE Doubles pulse_sums(Doubles x, Doubles a, Doubles b, Doubles p) {
  const Doubles n = ints_to_doubles(floor_ints(x / p)), rest = x - n * p;
  return n * (b - a) + choose(rest < a, d0, choose(rest > b, b - a, rest - a));
}

/* The same fraction of a pattern with period p. */
APART Floats pulses(Doubles x, Floats f, Doubles a, Doubles b, Doubles p) {
  const Doubles width = at_least_little(f), lo = x - 0.5 * width, hi = x + 0.5 * width;
  return to_floats((pulse_sums(hi, a, b, p) - pulse_sums(lo, a, b, p)) / width);
}
INLINE Floats pulse(Doubles x, Floats f, double a, double b, double p) {
  return pulses(x, f, d0 + a, d0 + b, d0 + p);
}

#endif
