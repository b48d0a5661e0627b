/* SPDX-License-Identifier: MIT */
/* rv_openmp.h: OpenMP, or what replaces it in a build without: one thread. Internal. */
#ifndef RV_OPENMP_H
#define RV_OPENMP_H

#ifdef _OPENMP
#  include <omp.h>
#else
static inline int omp_get_num_procs(void) {
  return 1;
}

static inline int omp_get_num_threads(void) {
  return 1;
}

static inline int omp_get_thread_num(void) {
  return 0;
}
#endif

#endif
