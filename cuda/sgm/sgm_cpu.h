/* sgm_cpu.h: memory of the CPU engine. Not installed.
 *
 * One slot per row of the picture holds that row's sums S[x][k] (u16). Once a row's winners are
 * known its sums are dead, and the slot holds the row of every map, so that the maps take no
 * memory of their own (25 bytes per pixel against 2 * disparities >= 64):
 *
 *   | winner u16 | right u16 | disparity u16 | spare u16 | region | confidence u8 |
 *
 * spare is the median's target, then the speckle filter's first column of each run. */
#ifndef RV_SGM_CPU_H
#define RV_SGM_CPU_H

#include "sgm_stages.h"

/* Node of the speckle filter's forest; a root is its own parent. */
typedef struct RvSgmRegion {
  struct RvSgmRegion *parent;
  uint32_t size; /* px, of the whole tree; kept at roots */
} RvSgmRegion;

typedef struct RvSgmCpu {
  int threads;
  char *slots;
  size_t slot_bytes;
  /* Path states, one pixel after the other. */
  uint16_t *state[2];
  uint64_t *census[2];
  char *rows; /* a row of the maps, per thread */
} RvSgmCpu;

static inline uint16_t *rv_sgm_sums(const RvSgmCpu *cpu, int y) {
  return (uint16_t *)(cpu->slots + cpu->slot_bytes * (size_t)y);
}
static inline uint16_t *rv_sgm_winners(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y);
}
static inline uint16_t *rv_sgm_rights(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y) + c->width;
}
static inline uint16_t *rv_sgm_disparities(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y) + 2 * (size_t)c->width;
}
static inline uint16_t *rv_sgm_spare(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y) + 3 * (size_t)c->width;
}
static inline RvSgmRegion *rv_sgm_regions(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return (RvSgmRegion *)(rv_sgm_sums(cpu, y) + 4 * (size_t)c->width);
}
static inline uint8_t *rv_sgm_confidences(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return (uint8_t *)(rv_sgm_regions(cpu, c, y) + c->width);
}
#define RV_SGM_MAP_BYTES (9 + sizeof(RvSgmRegion)) /* per pixel, of all maps */

RvStatus rv_sgm_cpu_median(void *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus rv_sgm_cpu_speckle(void *work, const RvSgmConfig *config, const RvSgmJob *job);

#endif
