/* SPDX-License-Identifier: MIT */
/* sgm_cpu_vec.h: one vector of 8-bit or 16-bit cells, for the instruction set this file is compiled
 * for: AVX-512 (BW, VBMI, BITALG), AVX2, or 16 bytes of GCC vectors anywhere else.
 *
 *   shl  lane k <- lane k - 1 of `here`, lane 0 <- the last lane of `before`
 *   shr  lane k <- lane k + 1 of `here`, the last lane <- lane 0 of `after`
 *   adds   addition that stops at the highest value
 *   merge  low and high half of the interleaved 16-bit lanes of `even` and `odd`
 *   equal  one bit per 16-bit lane, V_BIT bits apart
 *   mute   lanes with k - from in 0..span become 65535
 *   keep   lane-wise: where s <= *low, *low = s and *at = k */
#ifndef RV_SGM_VEC_H
#define RV_SGM_VEC_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512VBMI__) && defined(__AVX512BITALG__) && defined(__AVX512BW__)
#  include <immintrin.h>
#  define V_BYTES 64
#  define V_BIT 1
#  define V_OP(name) _mm512_##name
#  define V_ALL(name) _mm512_##name##_si512
typedef __m512i V;
#elif defined(__AVX2__)
#  include <immintrin.h>
#  define V_BYTES 32
#  define V_BIT 2
#  define V_OP(name) _mm256_##name
#  define V_ALL(name) _mm256_##name##_si256
typedef __m256i V;
#else
#  define V_BYTES 16
typedef uint8_t V __attribute__((vector_size(16)));
typedef uint16_t V16 __attribute__((vector_size(16)));
#endif

#if V_BYTES > 16
/* Instructions of both widths. */
static inline V v_load(const void *p) {
  return V_ALL(loadu)((const V *)p);
}
static inline void v_store(void *p, V a) {
  V_ALL(storeu)((V *)p, a);
}
static inline V v_ones(void) {
  return V_OP(set1_epi32)(-1);
}
static inline V v_set8(int a) {
  return V_OP(set1_epi8)((char)a);
}
static inline V v_set16(int a) {
  return V_OP(set1_epi16)((short)a);
}
static inline V v_even(V a) {
  return V_ALL(and)(a, v_set16(0xFF));
}
static inline V v_odd(V a) {
  return V_OP(srli_epi16)(a, 8);
}
#  define V_PAIR(name, instruction)                                                                \
    static inline V name(V a, V b) {                                                               \
      return instruction(a, b);                                                                    \
    }
V_PAIR(v_xor, V_ALL(xor))
V_PAIR(v_add8, V_OP(add_epi8))
V_PAIR(v_add16, V_OP(add_epi16))
V_PAIR(v_adds8, V_OP(adds_epu8))
V_PAIR(v_adds16, V_OP(adds_epu16))
V_PAIR(v_sub8, V_OP(sub_epi8))
V_PAIR(v_sub16, V_OP(sub_epi16))
V_PAIR(v_min8, V_OP(min_epu8))
V_PAIR(v_min16, V_OP(min_epu16))
#endif

#if V_BYTES == 64
static inline V v_widen(const uint8_t *p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p));
}
static inline V v_popcount8(V a) {
  return _mm512_popcnt_epi8(a);
}
static inline V v_iota8(int from) {
  const V k = _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928,
                               0x2726252423222120, 0x1f1e1d1c1b1a1918, 0x1716151413121110,
                               0x0f0e0d0c0b0a0908, 0x0706050403020100);
  return _mm512_add_epi8(k, v_set8(from));
}
static inline V v_iota16(int from) {
  const V k = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(v_iota8(0)));
  return _mm512_add_epi16(k, v_set16(from));
}
static inline V v_shl8(V before, V here) {
  const V from = _mm512_mask_mov_epi8(v_iota8(63), 1, v_set8(63));
  return _mm512_permutex2var_epi8(before, from, here);
}
static inline V v_shr8(V here, V after) {
  return _mm512_permutex2var_epi8(here, v_iota8(1), after);
}
static inline V v_shl16(V before, V here) {
  return _mm512_permutex2var_epi16(before, v_iota16(31), here);
}
static inline V v_shr16(V here, V after) {
  return _mm512_permutex2var_epi16(here, v_iota16(1), after);
}
static inline __m128i v_fold(V a, int wide) {
  const __m256i b = _mm512_castsi512_si256(a), c = _mm512_extracti64x4_epi64(a, 1);
  const __m256i d = wide ? _mm256_min_epu16(b, c) : _mm256_min_epu8(b, c);
  const __m128i e = _mm256_castsi256_si128(d), f = _mm256_extracti128_si256(d, 1);
  return wide ? _mm_min_epu16(e, f) : _mm_min_epu8(e, f);
}
static inline void v_merge(V even, V odd, V *low, V *high) {
  const V k = v_iota16(0), half = _mm512_srli_epi16(k, 1);
  const V from = _mm512_mask_add_epi16(half, 0xAAAAAAAA, half, v_set16(32));
  *low = _mm512_permutex2var_epi16(even, from, odd);
  *high = _mm512_permutex2var_epi16(even, _mm512_add_epi16(from, v_set16(16)), odd);
}
static inline uint64_t v_equal(V a, V b) {
  return _mm512_cmpeq_epi16_mask(a, b);
}
static inline V v_mute(V a, V k, V from, int span) {
  return _mm512_mask_mov_epi16(a, _mm512_cmple_epu16_mask(_mm512_sub_epi16(k, from), v_set16(span)),
                               v_ones());
}
static inline void v_keep(V s, V k, uint16_t *low, uint16_t *at) {
  const __mmask32 better = _mm512_cmple_epu16_mask(s, v_load(low));
  _mm512_mask_storeu_epi16(low, better, s);
  _mm512_mask_storeu_epi16(at, better, k);
}

#elif V_BYTES == 32
static inline V v_widen(const uint8_t *p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p));
}
static inline V v_popcount8(V a) {
  const V nibble = v_set8(15);
  const V count =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const V low = _mm256_shuffle_epi8(count, _mm256_and_si256(a, nibble));
  const V high = _mm256_shuffle_epi8(count, _mm256_and_si256(_mm256_srli_epi16(a, 4), nibble));
  return _mm256_add_epi8(low, high);
}
static inline V v_iota16(int from) {
  const V k = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm256_add_epi16(k, v_set16(from));
}
#  define V_SHIFTS(bits, bytes)                                                                    \
    static inline V v_shl##bits(V before, V here) {                                                \
      return _mm256_alignr_epi8(here, _mm256_permute2x128_si256(before, here, 0x21), 16 - bytes);  \
    }                                                                                              \
    static inline V v_shr##bits(V here, V after) {                                                 \
      return _mm256_alignr_epi8(_mm256_permute2x128_si256(here, after, 0x21), here, bytes);        \
    }
V_SHIFTS(8, 1)
V_SHIFTS(16, 2)
static inline __m128i v_fold(V a, int wide) {
  const __m128i e = _mm256_castsi256_si128(a), f = _mm256_extracti128_si256(a, 1);
  return wide ? _mm_min_epu16(e, f) : _mm_min_epu8(e, f);
}
static inline void v_merge(V even, V odd, V *low, V *high) {
  const V a = _mm256_unpacklo_epi16(even, odd), b = _mm256_unpackhi_epi16(even, odd);
  *low = _mm256_permute2x128_si256(a, b, 0x20);
  *high = _mm256_permute2x128_si256(a, b, 0x31);
}
static inline uint64_t v_equal(V a, V b) {
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(a, b));
}
static inline V v_mute(V a, V k, V from, int span) {
  const V t = _mm256_sub_epi16(k, from);
  return _mm256_or_si256(a, _mm256_cmpeq_epi16(_mm256_min_epu16(t, v_set16(span)), t));
}
static inline void v_keep(V s, V k, uint16_t *low, uint16_t *at) {
  const V old = v_load(low), m = _mm256_min_epu16(s, old), better = _mm256_cmpeq_epi16(m, s);
  v_store(low, m);
  v_store(at, _mm256_blendv_epi8(v_load(at), k, better));
}

#else
static inline V v_load(const void *p) {
  V a;
  memcpy(&a, p, sizeof a);
  return a;
}
static inline void v_store(void *p, V a) {
  memcpy(p, &a, sizeof a);
}
static inline V v_ones(void) {
  return ~(V){0};
}
static inline V v_set8(int a) {
  return (V){0} + (uint8_t)a;
}
static inline V v_set16(int a) {
  return (V)((V16){0} + (uint16_t)a);
}
static inline V v_xor(V a, V b) {
  return a ^ b;
}
static inline V v_add8(V a, V b) {
  return a + b;
}
static inline V v_add16(V a, V b) {
  return (V)((V16)a + (V16)b);
}
static inline V v_sub8(V a, V b) {
  return a - b;
}
static inline V v_sub16(V a, V b) {
  return (V)((V16)a - (V16)b);
}
static inline V v_pick(V mask, V a, V b) {
  return (a & mask) | (b & ~mask);
}
static inline V v_popcount8(V a) {
  /* Sums of bits in fields of 2, 4 and 8; no field overflows, so 16-bit shifts are masked. */
  const V two = v_set8(0x55), four = v_set8(0x33), eight = v_set8(0x0F);
  a = a - ((V)((V16)a >> 1) & two);
  a = (a & four) + ((V)((V16)a >> 2) & four);
  return (a + (V)((V16)a >> 4)) & eight;
}
static inline V v_even(V a) {
  return (V)((V16)a & 0xFF);
}
static inline V v_odd(V a) {
  return (V)((V16)a >> 8);
}
static inline V v_iota16(int from) {
  return (V)((V16){0, 1, 2, 3, 4, 5, 6, 7} + (uint16_t)from);
}
/* Lanes of a and b, numbered consecutively, in the given order: gcc and clang have different
 * functions for it. */
#  ifdef __clang__
#    define V_SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#  else
#    define V_SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#  endif
#  ifdef __SSE2__
/* Instructions that GCC does not generate by itself on x86-64 without AVX. */
#    include <emmintrin.h>
static inline V v_widen(const uint8_t *p) {
  return (V)_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}
static inline V v_adds8(V a, V b) {
  return (V)_mm_adds_epu8((__m128i)a, (__m128i)b);
}
static inline V v_adds16(V a, V b) {
  return (V)_mm_adds_epu16((__m128i)a, (__m128i)b);
}
static inline V v_min8(V a, V b) {
  return (V)_mm_min_epu8((__m128i)a, (__m128i)b);
}
static inline V v_min16(V a, V b) {
  return (V)_mm_sub_epi16((__m128i)a, _mm_subs_epu16((__m128i)a, (__m128i)b));
}
#    define V_SHIFTS(bits, bytes)                                                                  \
      static inline V v_shl##bits(V before, V here) {                                              \
        return (V)_mm_or_si128(_mm_slli_si128((__m128i)here, bytes),                               \
                               _mm_srli_si128((__m128i)before, 16 - bytes));                       \
      }                                                                                            \
      static inline V v_shr##bits(V here, V after) {                                               \
        return (V)_mm_or_si128(_mm_srli_si128((__m128i)here, bytes),                               \
                               _mm_slli_si128((__m128i)after, 16 - bytes));                        \
      }
V_SHIFTS(8, 1)
V_SHIFTS(16, 2)
static inline uint64_t v_equal(V a, V b) {
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16((__m128i)a, (__m128i)b));
}
#    define V_BIT 2
#  else
static inline V v_widen(const uint8_t *p) {
  V16 a = {0};
  for (int i = 0; i < 8; i++)
    a[i] = p[i];
  return (V)a;
}
static inline V v_adds8(V a, V b) {
  const V sum = a + b;
  return sum | (V)(sum < a);
}
static inline V v_adds16(V a, V b) {
  const V16 sum = (V16)a + (V16)b;
  return (V)(sum | (V16)(sum < (V16)a));
}
static inline V v_min8(V a, V b) {
  return v_pick((V)(a < b), a, b);
}
static inline V v_min16(V a, V b) {
  return v_pick((V)((V16)a < (V16)b), a, b);
}
static inline V v_shl8(V before, V here) {
  return V_SHUFFLE(V, before, here, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}
static inline V v_shr8(V here, V after) {
  return V_SHUFFLE(V, here, after, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}
static inline V v_shl16(V before, V here) {
  return (V)V_SHUFFLE(V16, (V16)before, (V16)here, 7, 8, 9, 10, 11, 12, 13, 14);
}
static inline V v_shr16(V here, V after) {
  return (V)V_SHUFFLE(V16, (V16)here, (V16)after, 1, 2, 3, 4, 5, 6, 7, 8);
}
static inline uint64_t v_equal(V a, V b) {
  const V16 same = (V16)((V16)a == (V16)b);
  uint64_t bits = 0;
  for (int i = 0; i < 8; i++)
    bits |= (uint64_t)(same[i] & 1) << i;
  return bits;
}
#    define V_BIT 1
#  endif

static inline void v_merge(V even, V odd, V *low, V *high) {
  *low = (V)V_SHUFFLE(V16, (V16)even, (V16)odd, 0, 8, 1, 9, 2, 10, 3, 11);
  *high = (V)V_SHUFFLE(V16, (V16)even, (V16)odd, 4, 12, 5, 13, 6, 14, 7, 15);
}
static inline V v_mute(V a, V k, V from, int span) {
  return a | (V)((V16)((V16)k - (V16)from) <= (uint16_t)span);
}
static inline void v_keep(V s, V k, uint16_t *low, uint16_t *at) {
  const V old = v_load(low), better = (V)((V16)s <= (V16)old);
  v_store(low, v_pick(better, s, old));
  v_store(at, v_pick(better, k, v_load(at)));
}
#endif

/* Smallest lane. */
#if V_BYTES > 16
static inline int v_min_of16(V a) {
  return _mm_extract_epi16(_mm_minpos_epu16(v_fold(a, 1)), 0);
}
static inline int v_min_of8(V a) {
  const __m128i b = v_fold(a, 0);
  return _mm_extract_epi16(_mm_minpos_epu16(_mm_min_epu8(b, _mm_srli_epi16(b, 8))), 0);
}
#else
static inline int v_min_of16(V a) {
  a = v_min16(a, (V)V_SHUFFLE(V16, (V16)a, (V16)a, 4, 5, 6, 7, 0, 1, 2, 3));
  a = v_min16(a, (V)V_SHUFFLE(V16, (V16)a, (V16)a, 2, 3, 0, 1, 6, 7, 4, 5));
  a = v_min16(a, (V)V_SHUFFLE(V16, (V16)a, (V16)a, 1, 0, 3, 2, 5, 4, 7, 6));
  return ((V16)a)[0];
}
static inline int v_min_of8(V a) {
  return v_min_of16(v_min16(v_even(a), v_odd(a)));
}
#endif

#endif
