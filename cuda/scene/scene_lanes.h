/* SPDX-License-Identifier: MIT */
/* scene_lanes.h: several pixels at once, for the instruction set this is compiled for.
 *
 * A lane computes what one pixel needs with the same IEEE operations in the same order, whatever
 * the instruction set and whatever the other lanes do; where pixels take different branches,
 * both sides are computed and `choose` keeps the right one. So all instruction sets give the
 * same bits. Lanes without a pixel repeat one that is there. A mask has all bits of its active
 * lanes set. */
#ifndef RV_SCENE_LANES_H
#define RV_SCENE_LANES_H

#include "scene/scene_internal.h"
#include "scene/scene_kernels.h"

#include <string.h>

#if defined(__SSE2__)
#  include <immintrin.h>
#endif

/* As many doubles as a register holds: GCC takes wider vectors apart into scalars. */
#if defined(__AVX512F__)
#  define LANES 8
#  define IOTA                                                                                     \
    { 0, 1, 2, 3, 4, 5, 6, 7 }
#elif defined(__AVX2__)
#  define LANES 4
#  define IOTA                                                                                     \
    { 0, 1, 2, 3 }
#else
#  define LANES 2
#  define IOTA                                                                                     \
    { 0, 1 }
#endif
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline)) /* large, called in many places */

typedef double Doubles __attribute__((vector_size(8 * LANES)));
typedef int64_t Longs __attribute__((vector_size(8 * LANES))); /* and masks of Doubles */
typedef uint64_t Bitmaps __attribute__((vector_size(8 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES))); /* and masks of Floats */
typedef uint32_t Words __attribute__((vector_size(4 * LANES)));

typedef struct Vecs {
  Doubles x, y, z;
} Vecs;

typedef struct Colors {
  Floats r, g, b;
} Colors;

static const Doubles d0 = {0};
static const Floats f0 = {0};
static const Longs l0 = {0};
static const Ints i0 = {0};

/* --- Conversions and masks ------------------------------------------------------------------- */

INLINE Floats to_floats(Doubles v) {
  return __builtin_convertvector(v, Floats);
}
INLINE Doubles to_doubles(Floats v) {
  return __builtin_convertvector(v, Doubles);
}
INLINE Doubles ints_to_doubles(Ints v) {
  return __builtin_convertvector(v, Doubles);
}
INLINE Floats ints_to_floats(Ints v) {
  return __builtin_convertvector(v, Floats);
}
INLINE Ints narrow(Longs v) {
  return __builtin_convertvector(v, Ints);
}
INLINE Longs widen(Ints v) {
  return __builtin_convertvector(v, Longs);
}

/* Towards zero. */
INLINE Ints to_ints(Doubles v) {
#if defined(__AVX512F__)
  return (Ints)_mm512_cvttpd_epi32((__m512d)v);
#elif defined(__AVX2__)
  return (Ints)_mm256_cvttpd_epi32((__m256d)v);
#else
  return __builtin_convertvector(v, Ints);
#endif
}

INLINE Ints floor_ints(Doubles v) {
  const Ints i = to_ints(v);
  const Words less = (Words)narrow((Longs)(v < ints_to_doubles(i))); /* -1 where true */
  return (Ints)((Words)i + less);
}

/* Masks, as GCC makes blends of them: on AVX-512 in mask registers. */
INLINE Longs mask_of(Longs mask) {
#if defined(__AVX512F__)
  return mask != 0;
#else
  return mask;
#endif
}
INLINE Ints ints_mask_of(Ints mask) {
#if defined(__AVX512F__)
  return mask != 0;
#else
  return mask;
#endif
}

INLINE Longs choose_longs(Longs mask, Longs yes, Longs no) {
  mask = mask_of(mask);
  return (mask & yes) | (~mask & no);
}
INLINE Doubles choose(Longs mask, Doubles yes, Doubles no) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  return (Doubles)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)mask);
#else
  return (Doubles)choose_longs(mask, (Longs)yes, (Longs)no);
#endif
}
INLINE Floats choose_floats(Ints mask, Floats yes, Floats no) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  return (Floats)_mm_blendv_ps((__m128)no, (__m128)yes, (__m128)mask);
#else
  mask = ints_mask_of(mask);
  return (Floats)((mask & (Ints)yes) | (~mask & (Ints)no));
#endif
}
INLINE Colors choose_colors(Ints mask, Colors yes, Colors no) {
  const Colors c = {choose_floats(mask, yes.r, no.r), choose_floats(mask, yes.g, no.g),
                    choose_floats(mask, yes.b, no.b)};
  return c;
}

INLINE int any(Longs mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
  int64_t bits = 0;
  for (int i = 0; i < LANES; i++)
    bits |= mask[i];
  return bits != 0;
#endif
}

INLINE int any_ints(Ints mask) {
#if defined(__AVX512F__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#elif defined(__AVX2__)
  return !_mm_testz_si128((__m128i)mask, (__m128i)mask);
#else
  int32_t bits = 0;
  for (int i = 0; i < LANES; i++)
    bits |= mask[i];
  return bits != 0;
#endif
}

INLINE int all_same(Ints v) {
  return !any_ints(v ^ v[0]);
}

/* --- Arithmetic ------------------------------------------------------------------------------ */

INLINE Doubles root(Doubles v) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_sqrt_pd((__m512d)v);
#elif defined(__AVX2__)
  return (Doubles)_mm256_sqrt_pd((__m256d)v);
#else
  for (int i = 0; i < LANES; i++)
    v[i] = __builtin_sqrt(v[i]);
  return v;
#endif
}

INLINE Doubles magnitude(Doubles v) {
  return choose(v < 0.0, -v, v);
}

INLINE Floats clamp01s(Floats v) {
  return choose_floats(v < 0.0f, f0, choose_floats(v > 1.0f, f0 + 1.0f, v));
}

INLINE Vecs vecs(Doubles x, Doubles y, Doubles z) {
  const Vecs v = {x, y, z};
  return v;
}
INLINE Vecs vecs_of(Vec v) {
  return vecs(d0 + v.x, d0 + v.y, d0 + v.z);
}
INLINE Vecs vecs_add(Vecs a, Vecs b) {
  return vecs(a.x + b.x, a.y + b.y, a.z + b.z);
}
INLINE Vecs vecs_sub(Vecs a, Vecs b) {
  return vecs(a.x - b.x, a.y - b.y, a.z - b.z);
}
INLINE Vecs vecs_mul(Vecs a, Doubles k) {
  return vecs(a.x * k, a.y * k, a.z * k);
}
INLINE Doubles dots(Vecs a, Vecs b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
INLINE Vecs choose_vecs(Longs mask, Vecs yes, Vecs no) {
  return vecs(choose(mask, yes.x, no.x), choose(mask, yes.y, no.y), choose(mask, yes.z, no.z));
}

INLINE Colors colors(Floats r, Floats g, Floats b) {
  const Colors c = {r, g, b};
  return c;
}
INLINE Colors colors_of(float r, float g, float b) {
  return colors(f0 + r, f0 + g, f0 + b);
}
INLINE Colors colors_mix(Colors a, Colors b, Floats k) {
  return colors(a.r + (b.r - a.r) * k, a.g + (b.g - a.g) * k, a.b + (b.b - a.b) * k);
}
INLINE Colors colors_mul(Colors a, Floats k) {
  return colors(a.r * k, a.g * k, a.b * k);
}

/* scene_hash of every lane. */
INLINE Words hashes(Words a, Words b, Words c) {
  SCENE_HASH(Words, a, b, c);
}

/* --- Pixels ---------------------------------------------------------------------------------- */

/* What a ray met: depth in m, and the id: object + 2 | material | face | shadow. The object is
 * -1 for the sky, -2 for the ground. */
typedef struct Hits {
  Doubles t;
  Longs id;
} Hits;

#define ID(object, material, face)                                                                 \
  ((int64_t)((object) + 2) << 10 | (int64_t)(material) << 5 | (int64_t)(face) << 1)

/* Directions of the rays through positions (x, y) of either view; pixel centers are integers. The
 * length is 1 along the optical axis: t is the depth in m. */
INLINE Vecs directions(const RvScene *scene, Doubles x, Doubles y) {
  const World *world = scene->work->world;
  const Doubles u = (x - scene->plan.camera.cx) / scene->plan.camera.focal;
  const Doubles v = (y - scene->plan.camera.cy) / scene->plan.camera.focal;
  return vecs_add(vecs_add(vecs_mul(vecs_of(world->right), u), vecs_mul(vecs_of(world->down), v)),
                  vecs_of(world->ahead));
}

/* Calls for each object that the bitmaps of the lanes name, front to back:
 * for (Marks m = marks_of (...); marks_next (&m);) ... m.rank, m.lanes */
typedef struct Marks {
  const Bits *bits[LANES];
  int same, words, word, rank;
  uint64_t left; /* of the word: those to come */
  Bitmaps mine;
  Longs lanes; /* whose bitmap names `rank` */
} Marks;

INLINE Marks marks_of(const World *world, const Bits *table, Ints index) {
  Marks m;
  m.words = (world->objects + 63) >> 6;
  m.word = -1;
  m.left = 0;
  m.mine = (Bitmaps)l0;
  m.same = all_same(index);
  for (int i = 0; i < LANES; i++)
    m.bits[i] = table + index[i];
  return m;
}

INLINE int marks_next(Marks *m) {
  while (!m->left) {
    if (++m->word >= m->words)
      return 0;
    m->left = m->bits[0]->word[m->word];
    m->mine = (Bitmaps)(l0 + (int64_t)m->left);
    for (int i = 1; i < LANES && !m->same; i++) {
      m->mine[i] = m->bits[i]->word[m->word];
      m->left |= m->mine[i];
    }
  }
  const int bit = __builtin_ctzll(m->left);
  m->left &= m->left - 1;
  m->rank = 64 * m->word + bit;
  m->lanes = -(Longs)(m->mine >> (uint64_t)bit & 1u);
  return 1;
}

INLINE Longs rect_holds(const Rect *rect, Doubles x, Doubles y) {
  return (x >= rect->x0) & (x <= rect->x1) & (y >= rect->y0) & (y <= rect->y1);
}

/* The ground's profile and height (scene_profile, scene_ground_y). */
INLINE Doubles profile_place(Doubles z) {
  const Doubles at = (z - HEIGHT_Z0) * (1.0 / HEIGHT_STEP), last = d0 + (HEIGHTS - 1.001);
  /* In a lane that is not used it may be NaN, but still a valid index. */
  return choose(at >= 0.0, choose(at > HEIGHTS - 1.001, last, at), d0);
}

/* Indexes of a profile, 0..HEIGHTS - 2; those of neighbors mostly are within eight samples. */
typedef struct Places {
  Ints index;
  int base, close; /* index - base is within 0..7 in all lanes, close = 1 */
} Places;

INLINE Places places_of(Ints index) {
  Places p = {.index = index, .base = rv_clamp(index[0] - 3, 1, HEIGHTS - 12)};
#if defined(__AVX512F__)
  p.close = !any_ints((index - p.base) & ~7);
#else
  p.close = all_same(index);
#endif
  return p;
}

INLINE Doubles gather(const double *values, const Places *p) {
#if defined(__AVX512F__)
  if (p->close)
    return (Doubles)_mm512_permutexvar_pd((__m512i)widen(p->index - p->base),
                                          _mm512_loadu_pd(values + p->base));
  return (Doubles)_mm512_i32gather_pd((__m256i)p->index, values, 8);
#else
  if (p->close)
    return d0 + values[p->index[0]];
  Doubles v;
  for (int i = 0; i < LANES; i++)
    v[i] = values[p->index[i]];
  return v;
#endif
}

INLINE Doubles profiles(const double *values, Doubles z) {
  const Doubles at = profile_place(z);
  const Ints i = to_ints(at);
  const Places p = places_of(i);
  const Doubles here = gather(values, &p);
  return here + (at - ints_to_doubles(i)) * (gather(values + 1, &p) - here);
}

INLINE Doubles ground_height(const World *world, Doubles x, Doubles z) {
  if (world->flat)
    return d0;
  const Doubles at = profile_place(z);
  const Ints i = to_ints(at);
  const Places p = places_of(i);
  const Doubles here = gather(world->climb, &p) + x * gather(world->bank, &p);
  const Doubles next = gather(world->climb + 1, &p) + x * gather(world->bank + 1, &p);
  return here + (at - ints_to_doubles(i)) * (next - here);
}

INLINE void ground_slopes(const World *world, Doubles x, Doubles z, Doubles *right,
                          Doubles *ahead) {
  Ints i = to_ints((z - HEIGHT_Z0) * (1.0 / HEIGHT_STEP));
  i = ((i < 1) & 1) | (~(i < 1) & i);
  i = ((i > HEIGHTS - 3) & (HEIGHTS - 3)) | (~(i > HEIGHTS - 3) & i);
  const double k = 1.0 / (3.0 * HEIGHT_STEP);
  const Places p = places_of(i - 1);
  *right = gather(world->bank + 1, &p);
  *ahead = k * (gather(world->climb + 3, &p) - gather(world->climb, &p) +
                x * (gather(world->bank + 3, &p) - gather(world->bank, &p)));
}

#endif
