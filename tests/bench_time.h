/* SPDX-License-Identifier: MIT */
/* bench_time.h: what programs that time runs share. */
#ifndef BENCH_TIME_H
#define BENCH_TIME_H

#include <time.h>

static inline double bench_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Order of two doubles, for qsort. */
static inline int bench_by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#endif
