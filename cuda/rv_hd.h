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

/* Union-find with path halving; the root of a set is its lowest index. */
RV_HD int rv_root_of(int32_t *parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}
RV_HD void rv_join(int32_t *parent, int a, int b) {
  a = rv_root_of(parent, a);
  b = rv_root_of(parent, b);
  parent[rv_max(a, b)] = rv_min(a, b);
}

/* v / 255 rounded to nearest, exact for 0 <= v <= 65535. */
RV_HD int rv_div255(int v) {
  return (v + 128 + ((v + 128) >> 8)) >> 8;
}

#endif
