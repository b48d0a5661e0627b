/* SPDX-License-Identifier: MIT */
/* rvcheck_list.c: the cases of all algorithms, in the order of cuda/algorithms.def. */
#include "rvcheck_run.h"

#define RV_ALGORITHM(name) extern const RvCases rv_##name##_cases;
#define RV_FUNCTIONS RV_ALGORITHM
#include "algorithms.def"
#undef RV_ALGORITHM
#undef RV_FUNCTIONS

static const RvCases *const algorithms[] = {
#define RV_ALGORITHM(name) &rv_##name##_cases,
#define RV_FUNCTIONS RV_ALGORITHM
#include "algorithms.def"
#undef RV_ALGORITHM
#undef RV_FUNCTIONS
};

const RvCases *rvc_algorithm(size_t index) {
  return index < sizeof algorithms / sizeof *algorithms ? algorithms[index] : NULL;
}
