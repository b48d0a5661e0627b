/* SPDX-License-Identifier: MIT */
/* emulate_types.h: CUDA's qualifiers and vector types for a C++ compiler. */
#ifndef RV_EMULATE_TYPES_H
#define RV_EMULATE_TYPES_H

/* The standard library's headers use names that become macros below: they come first. */
#include <algorithm>
#include <cmath>
#include <limits>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __CUDACC__ 1
#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
/* __shared__ stays: rewrite.py replaces the declarations. */

#define RV_EMULATE_VECTORS(type, name, align2, align4)                                             \
  struct name##1 {                                                                                 \
    type x;                                                                                        \
  };                                                                                               \
  struct __attribute__((aligned(align2))) name##2 {                                                \
    type x, y;                                                                                     \
  };                                                                                               \
  struct name##3 {                                                                                 \
    type x, y, z;                                                                                  \
  };                                                                                               \
  struct __attribute__((aligned(align4))) name##4 {                                                \
    type x, y, z, w;                                                                               \
  };                                                                                               \
  static inline name##2 make_##name##2(type x, type y) {                                           \
    return name##2 {x, y};                                                                         \
  }                                                                                                \
  static inline name##3 make_##name##3(type x, type y, type z) {                                   \
    return name##3 {x, y, z};                                                                      \
  }                                                                                                \
  static inline name##4 make_##name##4(type x, type y, type z, type w) {                           \
    return name##4 {x, y, z, w};                                                                   \
  }
RV_EMULATE_VECTORS(signed char, char, 2, 4)
RV_EMULATE_VECTORS(unsigned char, uchar, 2, 4)
RV_EMULATE_VECTORS(short, short, 4, 8)
RV_EMULATE_VECTORS(unsigned short, ushort, 4, 8)
RV_EMULATE_VECTORS(int, int, 8, 16)
RV_EMULATE_VECTORS(unsigned, uint, 8, 16)
RV_EMULATE_VECTORS(long long, longlong, 16, 16)
RV_EMULATE_VECTORS(unsigned long long, ulonglong, 16, 16)
RV_EMULATE_VECTORS(float, float, 8, 16)
RV_EMULATE_VECTORS(double, double, 16, 16)
#undef RV_EMULATE_VECTORS

#endif
