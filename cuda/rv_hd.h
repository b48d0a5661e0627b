/* SPDX-License-Identifier: MIT */
/* rv_hd.h: scalar helpers compiled by the C compiler and by nvcc alike. */
#ifndef RV_HD_H
#define RV_HD_H

#include <stdint.h>

#if defined(__CUDACC__)
#  define RV_HD static __host__ __device__ __forceinline__
#else
#  define RV_HD static inline
#endif

RV_HD int rv_min(int a, int b) {
  return a < b ? a : b;
}
RV_HD int rv_max(int a, int b) {
  return a > b ? a : b;
}
RV_HD int rv_clamp(int v, int lo, int hi) {
  return v < lo ? lo : (v > hi ? hi : v);
}
RV_HD int rv_abs(int v) {
  return v < 0 ? -v : v;
}
RV_HD int rv_div_up(int a, int b) {
  return (a + b - 1) / b;
}

/* Quotient rounded towards minus infinity; b > 0. */
RV_HD int rv_div_floor(int a, int b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* v / 255 rounded to nearest, exact for 0 <= v <= 65535. */
RV_HD int rv_div255(int v) {
  return (v + 128 + ((v + 128) >> 8)) >> 8;
}

#endif
