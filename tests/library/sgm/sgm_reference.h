/* SPDX-License-Identifier: MIT */
/* sgm_reference.h: semi-global matching written straight from the formulas of sgm.h, slow and simple, to
 * prove the engines against; and the results of single stages of an engine. For tests only. */
#ifndef RV_SGM_TWIN_H
#define RV_SGM_TWIN_H

#include "rvcheck.h"
#include "sgm/sgm.h"

/* Every intermediate result, dense, host memory. */
typedef struct RvSgmResults {
  int width, height, disparities;
  uint64_t *census_left, *census_right; /* [y][x] */
  uint16_t *volume;                     /* S[y][x][k] */
  uint16_t *winner, *right;
  uint16_t *matched, *checked, *filtered, *cleaned; /* disparity after each stage */
  uint8_t *found;                                   /* confidence before the checks */
  uint16_t *disparity;
  uint8_t *confidence;
} RvSgmResults;

int rv_sgm_results_new(RvSgmResults *out, const RvSgmConfig *config);
void rv_sgm_results_free(RvSgmResults *results);

/* The reference; confidence is always found. Pictures are dense. */
void rv_sgm_reference(const RvSgmConfig *config, const uint8_t *left, const uint8_t *right,
                      RvSgmResults *out);

/* One stage each, for cases that bring their own maps. */
void rv_sgm_reference_median(int width, int height, int size, const uint16_t *in, uint16_t *out);
void rv_sgm_reference_speckle(int width, int height, int size, int range, const uint16_t *in,
                              uint16_t *out);

/* Runs an engine's stages one by one and reads everything back; pictures are dense host memory. */
int rv_sgm_read_stages(RvCheck *check, const char *name, RvSgm *sgm, const uint8_t *left,
                       const uint8_t *right, RvSgmResults *out);

/* Compares stage by stage; 0 after the first difference, which is printed. */
int rv_sgm_compare(RvCheck *check, const char *name, const RvSgmConfig *config,
                   const RvSgmResults *expected, const RvSgmResults *got, const char *what);

/* Cases of sgm_hand_cases.c and sgm_bench.c. */
void rv_sgm_hand_cases(RvCheck *check);
void rv_sgm_bench(RvCheck *check);

#endif
