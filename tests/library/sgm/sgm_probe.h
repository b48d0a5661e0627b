/* SPDX-License-Identifier: MIT */
/* sgm_probe.h: every intermediate result of an engine, for the tests. Reads the engine's own
 * memory; the library has no interface for it. S never is in memory as a whole, so the inner loops
 * (CPU) and the horizontal-path kernel (CUDA) are compiled a second time for the tests, with a
 * probe that shows it. */
#ifndef RV_SGM_PROBE_H
#define RV_SGM_PROBE_H

#include "rvcheck.h"
#include "sgm/sgm_reference.h"
#include "sgm/sgm_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the stages of an engine, also with the steps of the filter stage one at a time, and reads
 * everything back; views are dense host memory. */
int rv_sgm_read_stages(RvCheck *check, const char *name, RvSgm *sgm, const uint8_t *left,
                       const uint8_t *right, RvSgmResults *out);

/* Compares step by step; 0 after the first difference, which is printed. */
int rv_sgm_compare(RvCheck *check, const char *name, const RvSgmConfig *config,
                   const RvSgmResults *expected, const RvSgmResults *got, const char *what);

/* The CUDA engine (sgm_probe_cuda.cu); out is dense host memory. */
typedef enum RvSgmMap {
  RV_SGM_MAP_WINNER = 0,
  RV_SGM_MAP_RIGHT,
  RV_SGM_MAP_VALUES,
  RV_SGM_MAP_CONFIDENCE
} RvSgmMap;
RvStatus rv_sgm_cuda_probe_map(const void *work, const RvSgmPlan *plan, RvSgmMap map, void *out);
/* Descriptors of both views. Overwrites the maps. */
RvStatus rv_sgm_cuda_probe_census(const void *work, const RvSgmJob *job, uint64_t *left,
                                  uint64_t *right);
/* Runs match with the probe. */
RvStatus rv_sgm_cuda_probe_sums(void *work, RvSgmJob *job, uint16_t *out);

/* The kernels that an object on the GPU at hand uses; they depend on its size. */
enum {
  RV_SGM_USES_VERTICAL = 1,
  RV_SGM_USES_DIAGONAL = 2,
  RV_SGM_USES_BANDS = 4,
  RV_SGM_USES_ROWS = 8,
  RV_SGM_USES_LONG_ROWS = 16,
  RV_SGM_USES_ALL = 31
};
unsigned rv_sgm_cuda_uses(const RvSgm *sgm);

#ifdef __cplusplus
}
#endif
#endif
