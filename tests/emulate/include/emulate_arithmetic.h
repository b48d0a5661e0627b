/* SPDX-License-Identifier: MIT */
/* emulate_arithmetic.h: CUDA's functions of numbers, and of several in one word. */
#ifndef RV_EMULATE_ARITHMETIC_H
#define RV_EMULATE_ARITHMETIC_H

#include "emulate_machine.h"

/* --- As overloads of the global namespace ---------------------------------------------------- */

#define RV_EMULATE_MIN_MAX(a_type, b_type, type)                                                   \
  static inline type min(a_type a, b_type b) {                                                     \
    return (type)a < (type)b ? (type)a : (type)b;                                                  \
  }                                                                                                \
  static inline type max(a_type a, b_type b) {                                                     \
    return (type)a > (type)b ? (type)a : (type)b;                                                  \
  }
RV_EMULATE_MIN_MAX(int, int, int)
RV_EMULATE_MIN_MAX(unsigned, unsigned, unsigned)
RV_EMULATE_MIN_MAX(int, unsigned, unsigned)
RV_EMULATE_MIN_MAX(unsigned, int, unsigned)
RV_EMULATE_MIN_MAX(long, long, long)
RV_EMULATE_MIN_MAX(unsigned long, unsigned long, unsigned long)
RV_EMULATE_MIN_MAX(long long, long long, long long)
RV_EMULATE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
RV_EMULATE_MIN_MAX(float, float, float)
RV_EMULATE_MIN_MAX(double, double, double)
#undef RV_EMULATE_MIN_MAX

/* --- Bits ------------------------------------------------------------------------------------ */

static inline int __popc(unsigned v) {
  return __builtin_popcount(v);
}
static inline int __popcll(unsigned long long v) {
  return __builtin_popcountll(v);
}
static inline int __ffs(int v) {
  return __builtin_ffs(v);
}
static inline int __ffsll(long long v) {
  return __builtin_ffsll(v);
}
static inline int __clz(int v) {
  return v ? __builtin_clz((unsigned)v) : 32;
}
static inline int __clzll(long long v) {
  return v ? __builtin_clzll((unsigned long long)v) : 64;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = (uint64_t)y << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned pick = selector >> 4 * i & 15;
    unsigned byte = bytes >> 8 * (pick & 7) & 255;
    if (pick & 8) /* its sign */
      byte = byte & 128 ? 255 : 0;
    out |= byte << 8 * i;
  }
  return out;
}

/* --- Several numbers in a word --------------------------------------------------------------- */

namespace emulate {
/* One result per part of BITS of a, b, c. */
template <int BITS, class F>
inline unsigned by_parts(unsigned a, unsigned b, unsigned c, const F &f) {
  const unsigned mask = (1u << BITS) - 1;
  unsigned out = 0;
  for (int i = 0; i < 32; i += BITS)
    out |= (f(a >> i & mask, b >> i & mask, c >> i & mask) & mask) << i;
  return out;
}
} // namespace emulate

#define RV_EMULATE_PARTS(name, bits, result)                                                       \
  static inline unsigned name(unsigned x, unsigned y) {                                            \
    return emulate::by_parts<bits>(x, y, 0,                                                        \
                                   [](unsigned a, unsigned b, unsigned) { return result; });       \
  }
RV_EMULATE_PARTS(__vminu2, 16, a < b ? a : b)
RV_EMULATE_PARTS(__vmaxu2, 16, a > b ? a : b)
RV_EMULATE_PARTS(__vminu4, 8, a < b ? a : b)
RV_EMULATE_PARTS(__vmaxu4, 8, a > b ? a : b)
RV_EMULATE_PARTS(__vadd2, 16, a + b)
RV_EMULATE_PARTS(__vsetne4, 8, a != b ? 1u : 0u)
RV_EMULATE_PARTS(__vcmpne4, 8, a != b ? 255u : 0u)
RV_EMULATE_PARTS(__vcmpeq4, 8, a == b ? 255u : 0u)
RV_EMULATE_PARTS(__vcmpgtu4, 8, a > b ? 255u : 0u)
RV_EMULATE_PARTS(__vcmpgeu4, 8, a >= b ? 255u : 0u)
RV_EMULATE_PARTS(__vabsdiffu4, 8, a > b ? a - b : b - a)
#undef RV_EMULATE_PARTS

static inline unsigned __viaddmin_u16x2(unsigned x, unsigned y, unsigned z) {
  return emulate::by_parts<16>(x, y, z, [](unsigned a, unsigned b, unsigned c) {
    const unsigned sum = (a + b) & 0xffff;
    return sum < c ? sum : c;
  });
}
static inline unsigned __vimin3_u16x2(unsigned x, unsigned y, unsigned z) {
  return __vminu2(__vminu2(x, y), z);
}
static inline unsigned __vimin3_u32(unsigned x, unsigned y, unsigned z) {
  return min(min(x, y), z);
}
static inline unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
  for (int i = 0; i < 32; i += 8)
    sum += (x >> i & 255) * (y >> i & 255);
  return sum;
}
static inline int __dp4a(int x, int y, int sum) {
  for (int i = 0; i < 32; i += 8)
    sum += (int8_t)(x >> i & 255) * (int8_t)(y >> i & 255);
  return sum;
}

/* --- Floats ---------------------------------------------------------------------------------- */

static inline unsigned __float_as_uint(float v) {
  unsigned bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
static inline float __uint_as_float(unsigned bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
static inline float __uint2float_rn(unsigned v) {
  return (float)v;
}
static inline float __fadd_rn(float a, float b) {
  return a + b;
}
static inline float __fmul_rn(float a, float b) {
  return a * b;
}
static inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
static inline float __saturatef(float v) {
  return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}
/* Both saturate; NaN gives 0 and the least number. */
static inline double __fma_rn(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
static inline int __double2hiint(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return (int)(bits >> 32);
}
static inline double __hiloint2double(int high, int low) {
  const uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
static inline int __double2int_rd(double v) {
  return v != v              ? 0
         : v >= 2147483647.0 ? 2147483647
         : v < -2147483648.0 ? INT32_MIN
                             : (int)floor(v);
}
static inline long long __double2ll_rd(double v) {
  return v != v                       ? INT64_MIN
         : v >= 9223372036854775808.0 ? INT64_MAX
         : v < -9223372036854775808.0 ? INT64_MIN
                                      : (long long)floor(v);
}

namespace emulate {
/* v, or a neighbor up to `ulps` away: hardware's approximations are that good and no better, and
 * nothing may depend on which one it is. */
inline float approximate(float v, int ulps) {
  if (!(fabsf(v) > 1e-37f && fabsf(v) < 1e37f))
    return v;
  const int off = (int)(random_bits() % (unsigned)(2 * ulps + 1)) - ulps;
  return __uint_as_float(__float_as_uint(v) + (unsigned)off);
}
} // namespace emulate

static inline float __fdividef(float a, float b) {
  return emulate::approximate(a / b, 2);
}

/* What the compiler may take for granted is verified. */
static inline void emulate_assume(bool holds, emulate::Place at) {
  if (!holds)
    emulate::fail(at, "__builtin_assume does not hold");
}
#define __builtin_assume(condition) emulate_assume(condition, {__FILE__, __LINE__})

#endif
