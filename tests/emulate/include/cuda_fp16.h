/* SPDX-License-Identifier: MIT */
/* cuda_fp16.h: numbers of 16 bits. */
#ifndef RV_EMULATE_CUDA_FP16_H
#define RV_EMULATE_CUDA_FP16_H

#include "cuda_runtime.h"

struct __half {
  uint16_t bits;
};
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
};

static inline float __half2float(__half h) {
  const unsigned sign = (h.bits & 0x8000u) << 16, exponent = h.bits >> 10 & 31,
                 part = h.bits & 1023;
  if (exponent == 0) { /* zero, or less than normal */
    const float v = ldexpf((float)part, -24);
    return sign ? -v : v;
  }
  return __uint_as_float(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | part << 13);
}
static inline float2 __half22float2(__half2 h) {
  return {__half2float(h.x), __half2float(h.y)};
}
/* The sum with 0, limited to 0 .. 1. */
static inline __half2 __hadd2_sat(__half2 a, __half2 zeros) {
  const auto limited = [](__half h) {
    const float v = __half2float(h);
    return __half{(uint16_t)(v >= 1.0f ? 0x3c00 : v > 0.0f ? h.bits : 0)};
  };
  if (zeros.x.bits || zeros.y.bits)
    abort();
  return {limited(a.x), limited(a.y)};
}
/* 0xffff where a >= b. */
static inline unsigned __hge2_mask(__half2 a, __half2 b) {
  return (__half2float(a.x) >= __half2float(b.x) ? 0xffffu : 0u) |
         (__half2float(a.y) >= __half2float(b.y) ? 0xffff0000u : 0u);
}

#endif
