/* SPDX-License-Identifier: MIT */
/* sgm_reference.h: reference implementation of semi-global matching, written from the formulas of
 * sgm.h, slow and simple. */
#ifndef RV_SGM_REFERENCE_H
#define RV_SGM_REFERENCE_H

#include "sgm/sgm_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every intermediate result, dense, host memory. */
typedef struct RvSgmResults {
  int width, height, disparities;
  uint64_t *census_left, *census_right; /* [y][x] */
  uint16_t *volume;                     /* S[y][x][k] */
  uint16_t *winner, *right;
  uint16_t *matched, *checked;  /* disparity before and after the left-right check */
  uint16_t *filtered, *cleaned; /* checked after the median alone, the speckle filter alone */
  uint8_t *found;               /* margin of the confidence, before the checks */
  uint16_t *smooth;             /* after median and speckle filter */
  uint16_t *disparity;
  uint8_t *confidence;
} RvSgmResults;

int rv_sgm_results_new(RvSgmResults *out, const RvSgmConfig *config);
void rv_sgm_results_free(RvSgmResults *results);

/* Computes everything, confidence too; views are dense. Of the plan only the config and the table of
 * confidences are read. */
void rv_sgm_reference(const RvSgmPlan *plan, const uint8_t *left, const uint8_t *right,
                      RvSgmResults *out);

/* One step each, for cases with their own maps. */
void rv_sgm_reference_median(int width, int height, int size, const uint16_t *in, uint16_t *out);
void rv_sgm_reference_speckle(int width, int height, int size, int range, const uint16_t *in,
                              uint16_t *out);

#ifdef __cplusplus
}
#endif
#endif
